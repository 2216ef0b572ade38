/*
 * A list of distinct texts, each with its position as code: the levels of a category, class names, column
 * names. Lookup by hash; order of insertion.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct tacit_levels {
    size_t count, capacity;
    char **text;     /* NUL-terminated, owned */
    uint32_t *slots; /* open addressing; 0 is empty, else code + 1 */
    size_t slot_count;
} tacit_levels;

#define TACIT_LEVELS_INIT                                                                                    \
    { 0, 0, NULL, NULL, 0 }

/* The code of a text, or -1. */
int32_t tacit_levels_find(const tacit_levels *levels, const char *text, size_t length);

/* Two texts, of `a` and of `b`, that differ in upper and lower case (of ASCII) alone; false where there are
 * none. The two lists may be one. */
bool tacit_levels_differ_in_case(const tacit_levels *a, const tacit_levels *b, const char **first,
                                 const char **second);

/* The code of a text, added when new. */
tacit_status tacit_levels_add(tacit_levels *levels, const char *text, size_t length, int32_t *code,
                              tacit_error *error);

tacit_status tacit_levels_copy(tacit_levels *out, const tacit_levels *levels, tacit_error *error);

/* Accepts NULL; leaves an empty list. */
void tacit_levels_clear(tacit_levels *levels);

/* Texts that stand for one of a list: level to[i] for the text from.text[i]. */
typedef struct tacit_recode {
    tacit_levels from;
    int32_t *to;
} tacit_recode;

/* The level that a text stands for, or -1. */
static inline int32_t tacit_recode_find(const tacit_recode *recode, const char *text, size_t length) {
    const int32_t code = recode->from.count > 0 ? tacit_levels_find(&recode->from, text, length) : -1;
    return code >= 0 ? recode->to[code] : -1;
}

/* A text that is none of them yet. */
tacit_status tacit_recode_add(tacit_recode *recode, const char *text, size_t length, int32_t level,
                              tacit_error *error);
void tacit_recode_clear(tacit_recode *recode);
