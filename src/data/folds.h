/*
 * Folds of cross-validation: a party's rows in this many parts of equal size, the same ones whoever deals,
 * whenever, and in whatever order the rows lie.
 *
 * Rows are put in order by class and then by a hash of what is in them (their identity in the source where
 * it is known, else the encoded row) under the public seed, and dealt out one after the other: sizes differ
 * by at most one, every fold has its share of each class, and equal rows are spread over the folds. Rows of
 * one person stay together: persons are put in order by the smallest hash of their rows, and dealt out.
 */
#pragma once

#include "data/dataset.h"

enum { TACIT_FOLDS_MOST = 20 };

typedef struct tacit_fold_plan {
    size_t count; /* 0: there are none */
    uint64_t seed;
} tacit_fold_plan;

typedef struct tacit_folds {
    size_t count;
    uint8_t *fold;                      /* of each row of the view */
    uint32_t *index;                    /* stored rows, fold after fold */
    size_t start[TACIT_FOLDS_MOST + 1]; /* of each fold in index */
    uint32_t *others;                   /* stored rows outside the fold that was asked for last */
} tacit_folds;

tacit_status tacit_folds_assign(tacit_folds *out, const tacit_view *rows, tacit_fold_plan plan,
                                tacit_error *error);

/* The same by each row's place in the view under the seed, whatever is in the rows: replacing one leaves
 * every row in its fold, which is what a promise about single rows needs. */
tacit_status tacit_folds_assign_places(tacit_folds *out, const tacit_view *rows, tacit_fold_plan plan,
                                       tacit_error *error);
void tacit_folds_clear(tacit_folds *folds);

/* TACIT_REFUSED where the smallest fold has fewer rows than `minimum`: exact sums of all rows, less those
 * outside a fold, are the fold's. */
tacit_status tacit_folds_admit(const tacit_folds *folds, uint64_t minimum, tacit_error *error);

/* The rows of a fold, and all others; the latter borrowed until the next call. */
tacit_view tacit_folds_inside(const tacit_folds *folds, const tacit_view *rows, size_t fold);
tacit_view tacit_folds_outside(tacit_folds *folds, const tacit_view *rows, size_t fold);
