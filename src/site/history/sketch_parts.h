/* Shared by the files that sketch data sources. */
#pragma once

#include <sodium.h>

#include "site/history/sketch.h"

enum {
    SKETCH_MOST = 8192, /* hashes of a view */
    SKETCH_GROUPS = 4,  /* of columns */
    SKETCH_SINGLE = 8,  /* columns of a narrow table, each of which is left out once */
    SKETCH_ROW_VIEWS = 2 + SKETCH_GROUPS + SKETCH_SINGLE,
    SKETCH_KEYS = 8, /* columns that look like keys, at most */
    SKETCH_VIEWS = SKETCH_ROW_VIEWS + SKETCH_KEYS
};

/* The least hashes of a set. The last bit of each says that it came more than once. */
typedef struct sketch_least {
    size_t most, count, capacity;
    uint64_t below; /* what is not below it was never in, or was put out */
    uint64_t *items;
} sketch_least;

tacit_status sketch_add(sketch_least *self, uint64_t hash, tacit_error *error);
void sketch_settle(sketch_least *self); /* ascending, each once */

typedef struct sketch_view {
    char *name; /* "cells", "rows", "rows but 0", ..., "rows without 0", ..., "key NAME" */
    bool declared;
    sketch_least least;
} sketch_view;

typedef struct sketch_table {
    size_t rows, distinct;    /* distinct rows as far as they are kept */
    uint64_t digest, ordered; /* of all rows, in any order and in theirs */
    size_t count;
    sketch_view views[SKETCH_VIEWS];
} sketch_table;

tacit_status sketch_make(sketch_table *out, const tacit_sketch_source *about,
                         const uint8_t key[crypto_shorthash_KEYBYTES], tacit_error *error);
void sketch_clear(sketch_table *table);

/* What two settled views have in common; false when it may be chance. *part is of the smaller one. */
bool sketch_is_common(const sketch_least *one, const sketch_least *other, double *part);
