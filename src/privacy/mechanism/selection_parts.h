/*
 * What the mechanisms that choose share: coins from either source of noise, the public grid of scores, and
 * the result. For this folder and its tests only: who includes it can claim any grade.
 */
#pragma once

#include <stdbool.h>

#include "privacy/mechanism/selection.h"

struct tacit_selected {
    tacit_noise grade;
    size_t count;
    size_t *indices;
};

/* Zeros, of grade TACIT_NOISE_NONE. */
tacit_status tacit_selected_create(tacit_selected **out, size_t count, tacit_error *error);

/* The price is one, and an infinite epsilon is for simulations only. */
tacit_status tacit_selection_price_check(const tacit_noise_source *source, const tacit_price *price,
                                         tacit_error *error);

/* What a choice at this price is worth: that of the source, or NONE for an infinite epsilon. */
tacit_noise tacit_selection_grade(const tacit_noise_source *source, const tacit_price *price);

/* Uniform on {0, ..., bound - 1}; bound > 0. */
tacit_status tacit_coin_below(size_t *out, const tacit_noise_source *source, size_t bound,
                              tacit_error *error);

/* True with probability exp(-a/b): of the real quotient when the source is exact. a >= 0, b >= 0; b = 0
 * stands for the limit: true only for a = 0. */
tacit_status tacit_coin_exp(bool *out, const tacit_noise_source *source, double a, double b,
                            tacit_error *error);

/* A grid for scores, from their public sensitivity alone: in its steps of 2^-bits the sensitivity lies in
 * [2^20, 2^21], rounded up to a whole number. */
typedef struct tacit_score_grid {
    int bits;
    int64_t sensitivity;
} tacit_score_grid;

tacit_score_grid tacit_score_grid_for(double sensitivity); /* positive and finite */

/* The largest whole number of steps that is not above the score, and within 2^61 either way. */
int64_t tacit_score_steps(double score, const tacit_score_grid *grid);
