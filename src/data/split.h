/*
 * Dealing rows out to parties, and holding some back for testing. Every split is one array of stored row
 * numbers and the offsets of its parts, so that 20,000 parties cost 20,000 offsets.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "data/dataset.h"
#include "rand/stream.h"

typedef struct tacit_split {
    size_t parts;
    size_t *start;   /* parts + 1 offsets into index */
    uint32_t *index; /* stored row numbers */
    /* index begins with this offset: of parts before it, and behind its end, only the sizes are known */
    size_t skipped;
} tacit_split;

static inline size_t tacit_split_count(const tacit_split *split, size_t part) {
    return split->start[part + 1] - split->start[part];
}

/* Rows 0 to rows - 1 in their order, in parts as even as can be. */
tacit_status tacit_split_in_order(tacit_split **out, size_t parts, size_t rows, tacit_error *error);

tacit_split *tacit_split_free(tacit_split *split);

/* The rows of one part. Borrowed. */
tacit_view tacit_split_view(const tacit_split *split, const tacit_dataset *dataset, size_t part);

typedef enum tacit_split_kind {
    TACIT_SPLIT_EVEN,      /* sizes differ by at most one */
    TACIT_SPLIT_DIRICHLET, /* sizes from a symmetric Dirichlet, at least one row each */
    TACIT_SPLIT_FRACTIONS, /* sizes as given, at least one row each */
    TACIT_SPLIT_GROUPS,    /* one party a value of a column */
    TACIT_SPLIT_LABELS,    /* of each class, shares from a symmetric Dirichlet; at least one row each */
} tacit_split_kind;

typedef struct tacit_split_plan {
    tacit_split_kind kind;
    double concentration;
    double *fraction;
    size_t fractions;
    char *column;
} tacit_split_plan;

/* Read the text of `--split`: even, dirichlet:A, labels:A, 0.1,0.2,0.7 or by:COLUMN. TACIT_USAGE says what is
 * wrong. */
tacit_status tacit_split_plan_parse(tacit_split_plan **out, const char *text, tacit_error *error);
tacit_split_plan *tacit_split_plan_free(tacit_split_plan *plan);

/* Deal the view's rows out to `parties`; 0 takes the number from the plan (fractions, groups). Rows are put
 * in random order first, except that groups keep theirs; groups that have no row in the view are left out
 * (the group of a part is that of its first row). TACIT_USAGE when the plan and `parties` disagree,
 * TACIT_INPUT when there are fewer rows than parties. */
tacit_status tacit_split_make(tacit_split **out, const tacit_split_plan *plan, const tacit_view *view,
                              size_t groups, size_t parties, tacit_stream *stream, tacit_error *error);

/* Put each part's rows into the order in which they are stored, as they would lie at a party that had read
 * them itself: memory gives rows in order faster than scattered ones. Which rows a part has stays. Of a whole
 * split (skipped 0). */
void tacit_split_sort(tacit_split *split);

enum { TACIT_PART_TRAIN, TACIT_PART_TEST, TACIT_PART_AUX };

/* Three parts in random order, not stratified: train, test, aux. A fraction of 0 leaves a part empty; a
 * positive one gives it at least one row; the training part is never empty. */
tacit_status tacit_split_holdout(tacit_split **out, size_t rows, double test_fraction, double aux_fraction,
                                 tacit_stream *stream, tacit_error *error);
