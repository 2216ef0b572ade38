/*
 * What several exact sums tell together. A sum over a set of parties, or of rows, is a linear form in what
 * each of them gave; whoever has the sums over several sets has all linear combinations of them. One of these
 * that is about few parties, or few rows, gives them away.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { TACIT_SETS_MOST = 31 }; /* different sets at a time: up to here ranks are exact (differences.c) */

/* Sets of `width` things, a byte each, 0 or 1. *out: whether the sum over `now`, combined with those over the
 * `count` sets of `past` in any way, gives a form in at least one and at most `most` of the things that the
 * past sums alone do not give. Also true where that is too much to find out: more than TACIT_SETS_MOST
 * different sets, or very many small groups. */
tacit_status tacit_sets_isolate(bool *out, const uint8_t *const *past, size_t count, const uint8_t *now,
                                size_t width, size_t most, tacit_error *error);

/* The same of sets of rows, ascending lists of their hashes with repetitions: whether the sum over `now`
 * gives, together with the past ones, a form in at least one and at most `most` rows that these alone do
 * not. */
typedef struct tacit_row_list {
    const uint64_t *hashes;
    size_t count;
} tacit_row_list;
tacit_status tacit_rows_isolate(bool *out, const tacit_row_list *past, size_t count, tacit_row_list now,
                                size_t most, tacit_error *error);

/* How many things are in one of two sets only. Sets of rows are ascending lists of their hashes, with
 * repetitions. */
size_t tacit_rows_difference(const uint64_t *first, size_t first_count, const uint64_t *second,
                             size_t second_count);
