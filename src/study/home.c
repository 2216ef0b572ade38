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
        return tacit_fail(error, TACIT_REFUSED,
                          "%s belongs to another user, who could change ledger, keys and consent: run this "
                          "as its owner, or chown it",
                          folder);
    if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return tacit_fail(
            error, TACIT_REFUSED,
            "%s can be written by others, who could change ledger, keys and consent: chmod 700 %s", folder,
            folder);
    return TACIT_OK;
}

/* ---- names ---- */

/* Of a person's store all sources are one: they are of the same person, and so is the budget. */
static char *store_of(const char *text) {
    static const char prefix[] = "store:";
    char *id = NULL, *path = NULL, *real = NULL;
    if (strncmp(text, prefix, sizeof prefix - 1) != 0) return NULL;
    text += sizeof prefix - 1;
    path = strndup(text, strcspn(text, "?"));
    real = path != NULL ? realpath(path, NULL) : NULL;
    if (path != NULL && asprintf(&id, "%s%s", prefix, real != NULL ? real : path) < 0) id = NULL;
    free(path);
    free(real);
    return id;
}

tacit_status tacit_source_id(char *out, size_t size, const char *text, tacit_error *error) {
    char *real = store_of(text);
    if (real == NULL) real = realpath(text, NULL);
    const char *id = real != NULL ? real : text;
    tacit_status status = TACIT_OK;
    if (strlen(id) > TACIT_NAME_MOST || strlen(id) >= size)
        status = tacit_fail(error, TACIT_LIMIT,
                            "a ledger's data source is called by at most %d bytes, and %s has %zu: move the "
                            "file to a shorter path",
                            TACIT_NAME_MOST, id, strlen(id));
    else
        memcpy(out, id, strlen(id) + 1);
    free(real);
    return status;
}
