#include "study/home.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "privacy/account/release.h"

/* A variable that is set and not empty. */
static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] != 0 ? value : NULL;
}

static tacit_status join(char *out, size_t size, const char *folder, const char *below, const char *name,
                         tacit_error *error) {
    int needed = snprintf(out, size, "%s%s%s%s", folder, below, name[0] != 0 ? "/" : "", name);
    if (needed < 0 || (size_t)needed >= size)
        return tacit_fail(error, TACIT_LIMIT, "path too long: %s%s/%s", folder, below, name);
    return TACIT_OK;
}

static tacit_status find(char *out, size_t size, const char *name, tacit_error *error) {
    const char *ours = variable("TACIT_HOME"), *data = variable("XDG_DATA_HOME"), *home = variable("HOME");
    if (ours != NULL) return join(out, size, ours, "", name, error);
    /* The XDG rules: a path that is not absolute is to be ignored. */
    if (data != NULL && data[0] == '/') return join(out, size, data, "/tacit", name, error);
    if (home != NULL) return join(out, size, home, "/.local/share/tacit", name, error);
    return tacit_fail(error, TACIT_USAGE,
                      "no folder to keep the ledger in: set TACIT_HOME (HOME is not set either)");
}

tacit_status tacit_home_path(char *out, size_t size, const char *name, tacit_error *error) {
    TACIT_TRY(find(out, size, "", error));
    TACIT_TRY(tacit_home_check(out, error));
    return find(out, size, name, error);
}

tacit_status tacit_home_check(const char *folder, tacit_error *error) {
    struct stat found;
    if (stat(folder, &found) != 0) return TACIT_OK; /* whoever uses it says what is wrong */
    if (found.st_uid != geteuid())
        return tacit_fail(
            error, TACIT_REFUSED,
            "%s belongs to another user, who could change ledger, keys and consent: run this as "
            "its owner, or chown it",
            folder);
    if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return tacit_fail(
            error, TACIT_REFUSED,
            "%s can be written by others, who could change ledger, keys and consent: chmod 700 %s", folder,
            folder);
    return TACIT_OK;
}

/* ---- passwords ---- */

static bool is_gap(char at) { return at == ' ' || at == '\t' || at == '\n'; }

/* Where the value of "password = value" begins; NULL when `at` is no such key. sslpassword ends in the same letters. */
static const char *value_of(const char *at) {
    static const char key[] = "password";
    if (strncasecmp(at, key, sizeof key - 1) != 0) return NULL;
    at += sizeof key - 1;
    while (is_gap(*at)) at++;
    if (*at != '=') return NULL;
    do {
        at++;
    } while (is_gap(*at));
    return at;
}

/* The end of a value: of quotes, or before what ends a word, an argument or the connection. */
static const char *end_of(const char *at) {
    if (*at != '\'') return at + strcspn(at, " \t\n&?");
    for (at++; *at != 0 && *at != '\''; at++)
        if (*at == '\\' && at[1] != 0) at++;
    return *at == '\'' ? at + 1 : at;
}

/* The next password of a database's connection from `at` on, which the query's question mark ends: where it begins and ends;
 * false: there is none. */
static bool next_password(const char *at, const char **from, const char **to) {
    for (; *at != 0 && *at != '?'; at++) {
        const char *value = value_of(at);
        if (value != NULL && end_of(value) > value) {
            *from = value;
            *to = end_of(value);
            return true;
        }
        if (strncmp(at, "://", 3) != 0) continue;
        size_t host = strcspn(at + 3, "/?"), user = strcspn(at + 3, ":@");
        const char *sign = memchr(at + 3, '@', host);
        if (sign == NULL || at[3 + user] != ':' || sign == at + 4 + user) continue;
        *from = at + 4 + user;
        *to = sign;
        return true;
    }
    return false;
}

static bool is_database(const char *source) { return strncmp(source, "postgres", 8) == 0; }

tacit_status tacit_source_check(const char *source, tacit_error *error) {
    const char *from, *to;
    if (!is_database(source) || !next_password(source, &from, &to)) return TACIT_OK;
    return tacit_fail(
        error, TACIT_USAGE,
        "the data source holds a password, which would be read in ledger, figures and backups: "
        "leave it out, and keep it in ~/.pgpass or a service file (postgres:service=NAME?QUERY)");
}

const char *tacit_source_shown(char out[TACIT_SOURCE_SHOWN_SIZE], const char *source) {
    static const char mask[] = "***";
    size_t used = 0;
    const char *at = source, *from, *to;
    while (is_database(source) && next_password(at, &from, &to)) {
        used += (size_t)snprintf(out + used, TACIT_SOURCE_SHOWN_SIZE - used, "%.*s%s", (int)(from - at), at,
                                 mask);
        at = to;
        if (used >= TACIT_SOURCE_SHOWN_SIZE - 1) return out;
    }
    snprintf(out + used, TACIT_SOURCE_SHOWN_SIZE - used, "%s", at);
    return out;
}

/* ---- names ---- */

tacit_status tacit_source_id(char *out, size_t size, const char *text, tacit_error *error) {
    char *real = realpath(text, NULL);
    const char *id = real != NULL ? real : text;
    tacit_status status = TACIT_OK;
    if (strlen(id) > TACIT_NAME_MOST || strlen(id) >= size)
        status =
            tacit_fail(error, TACIT_LIMIT,
                       "a ledger's data source is called by at most %d bytes, and %s has %zu: move the file "
                       "to a shorter path",
                       TACIT_NAME_MOST, id, strlen(id));
    else
        memcpy(out, id, strlen(id) + 1);
    free(real);
    return status;
}
