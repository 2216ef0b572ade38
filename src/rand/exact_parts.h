/* What the files of the exact samplers share, and the tests use to run them on fixed bits. For this folder
 * and its tests only. */
#pragma once

#include "rand/exact.h"
#include "rand/interval_parts.h"

struct tacit_exact_vector {
    tacit_law noise;
    double scale;
    int grid_bits;
    size_t count, room;
    int64_t *steps;
    tacit_space space;
    tacit_lazy *lazy; /* gamma-norm: `count` normals, then `count` exponentials */
    size_t lazy_room;
};

/* What to add to: `value` for laws of real numbers, `whole` for laws of integers. */
typedef struct tacit_exact_request {
    tacit_law noise;
    const double *value;
    const int64_t *whole;
    size_t count;
    double scale;
    int grid_bits;
    uint64_t parts; /* TACIT_LAW_POLYA only */
} tacit_exact_request;

/* As the public functions, on any source of bits. */
tacit_status tacit_exact_fill(tacit_exact_vector *vector, const tacit_exact_request *request,
                              tacit_bits *bits, tacit_error *error);
tacit_status tacit_exact_race(bool *out, tacit_space *space, double a, double b, tacit_bits *bits,
                              tacit_error *error);

/* One sampler each; `vector` has room for all steps, and is filled as far as they get. A step beyond the
 * range is left at +-TACIT_STEPS_END for the caller to find. */
tacit_status tacit_exact_coordinates(tacit_exact_vector *vector, const tacit_exact_request *request,
                                     tacit_bits *bits, tacit_error *error);
tacit_status tacit_exact_gamma_norm(tacit_exact_vector *vector, const tacit_exact_request *request,
                                    tacit_bits *bits, tacit_error *error);
tacit_status tacit_exact_geometric(int64_t *out, tacit_space *space, double scale, tacit_bits *bits,
                                   tacit_error *error);
tacit_status tacit_exact_polya(int64_t *out, tacit_space *space, double scale, uint64_t parts,
                               tacit_bits *bits, tacit_error *error);
tacit_status tacit_exact_integers(tacit_exact_vector *vector, const tacit_exact_request *request,
                                  tacit_bits *bits, tacit_error *error);

/* Bounds of scale T/|Z| in space->factor, from `count` normals and then `count` exponentials. */
void tacit_exact_norm_factor(tacit_space *space, tacit_lazy *lazy, size_t count, double scale,
                             tacit_bits *bits);

/* Bounds of (|Y| - s^2/t)^2/(2 s^2), t = floor(s) + 1, in space->factor, for |Y| = candidate; uses all
 * numbers but space->noise. */
void tacit_exact_gaussian_exponent(tacit_space *space, double scale, int64_t candidate);
