/* Passwords in the name of a source: it is written to ledger, figures and backups, where they have no
 * place. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "data/source/source.h"

static bool is_gap(char at) { return at == ' ' || at == '\t' || at == '\n'; }

static bool is_odbc(const char *source) { return strncmp(source, "odbc:", 5) == 0; }

/* Where the value of "password = value" begins, for ODBC also that of "pwd = value"; NULL when `at` is no
 * such key. sslpassword ends in the same letters. */
static const char *value_of(const char *at, bool odbc) {
    static const char key[] = "password", short_key[] = "pwd";
    if (strncasecmp(at, key, sizeof key - 1) == 0)
        at += sizeof key - 1;
    else if (odbc && strncasecmp(at, short_key, sizeof short_key - 1) == 0)
        at += sizeof short_key - 1;
    else
        return NULL;
    while (is_gap(*at)) at++;
    if (*at != '=') return NULL;
    do {
        at++;
    } while (is_gap(*at));
    return at;
}

/* The end of a value: of quotes, or before what ends a word, an argument or the connection. */
static const char *end_of(const char *at, bool odbc) {
    if (odbc) return at + strcspn(at, *at == '{' ? "}" : ";?");
    if (*at != '\'') return at + strcspn(at, " \t\n&?");
    for (at++; *at != 0 && *at != '\''; at++)
        if (*at == '\\' && at[1] != 0) at++;
    return *at == '\'' ? at + 1 : at;
}

/* The next password of a database's connection from `at` on, which the query's question mark ends: where it
 * begins and ends; false: there is none. */
static bool next_password(const char *at, bool odbc, const char **from, const char **to) {
    for (; *at != 0 && *at != '?'; at++) {
        const char *value = value_of(at, odbc);
        if (value != NULL && end_of(value, odbc) > value) {
            *from = value;
            *to = end_of(value, odbc);
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

static bool is_database(const char *source) { return strncmp(source, "postgres", 8) == 0 || is_odbc(source); }

tacit_status tacit_source_check(const char *source, tacit_error *error) {
    const char *from, *to;
    if (!is_database(source) || !next_password(source, is_odbc(source), &from, &to)) return TACIT_OK;
    return tacit_fail(
        error, TACIT_USAGE,
        "the data source holds a password, which would be read in ledger, figures and backups: leave it out, "
        "and keep it in %s",
        is_odbc(source) ? "odbc.ini, under a name (odbc:DSN=NAME?QUERY)"
                        : "~/.pgpass or a service file (postgres:service=NAME?QUERY)");
}

const char *tacit_source_shown(char out[TACIT_SOURCE_SHOWN_SIZE], const char *source) {
    static const char mask[] = "***";
    size_t used = 0;
    const char *at = source, *from, *to;
    while (is_database(source) && next_password(at, is_odbc(source), &from, &to)) {
        used += (size_t)snprintf(out + used, TACIT_SOURCE_SHOWN_SIZE - used, "%.*s%s", (int)(from - at), at,
                                 mask);
        at = to;
        if (used >= TACIT_SOURCE_SHOWN_SIZE - 1) return out;
    }
    snprintf(out + used, TACIT_SOURCE_SHOWN_SIZE - used, "%s", at);
    return out;
}
