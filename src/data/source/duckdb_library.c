#include "data/source/duckdb_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool duckdb_library_path(char out[DUCKDB_PATH_SIZE]) {
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int length = -1;
    if (data != NULL && data[0] == '/')
        length = snprintf(out, DUCKDB_PATH_SIZE, "%s/tacit/libduckdb.so", data);
    else if (home != NULL && home[0] == '/')
        length = snprintf(out, DUCKDB_PATH_SIZE, "%s/.local/share/tacit/libduckdb.so", home);
    return length > 0 && length < DUCKDB_PATH_SIZE;
}

/* It registers things that run at exit, so it stays. */
static void *load(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); }

/* The one that TACIT_DUCKDB names and no other; else the system's, else the user's own. */
static void *find_library(void) {
    char path[DUCKDB_PATH_SIZE];
    const char *named = getenv("TACIT_DUCKDB");
    if (named != NULL && named[0] != 0) return load(named);
    void *handle = load("libduckdb.so");
    if (handle == NULL && duckdb_library_path(path)) handle = load(path);
    return handle;
}

tacit_status duckdb_library_load(duckdb_library *out, const char *what, tacit_error *error) {
    *out = (duckdb_library){ .handle = find_library() };
    if (out->handle == NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "%s is read by DuckDB, and there is no libduckdb.so: run script/setup with the option 'duckdb', "
            "or name one in TACIT_DUCKDB",
            what);
    const char *missing = NULL;
    void *found;
#define FIND(result, name, parameters)                                                                       \
    found = dlsym(out->handle, "duckdb_" #name);                                                             \
    if (found == NULL) missing = "duckdb_" #name;                                                            \
    memcpy(&out->name, &found, sizeof found);
    DUCKDB_FUNCTIONS(FIND)
#undef FIND
    if (missing == NULL) return TACIT_OK;
    dlclose(out->handle);
    return tacit_fail(
        error, TACIT_USAGE,
        "the libduckdb.so that was found has no function %s: Tacit needs DuckDB 1.0 or later, and knows 1.5",
        missing);
}
