/*
 * The second moments of a study's rows as it released them, noise inside: what dpnewton asks first, and what
 * a later model of the same columns can be built on at no price, since it is public already. They travel in
 * the file of the study's model.
 *
 * A = sum v^2 x x^T over rows x, x = (u, 1)/radius with u as the schema encodes a row before it is brought
 * into the ball, or the encoded row itself where `radius` is 0; v = min(1, 1/|x|). Packed as
 * num/noisy/noisy_moments.h says, in whole steps of `step`.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"
#include "privacy/account/release.h"

typedef struct tacit_released_moments {
    size_t width;     /* d, the intercept included */
    size_t parties;   /* whose rows are in it */
    double rows;      /* as they were counted */
    double deviation; /* of the noise on one packed number */
    double radius;
    double step;
    double *values; /* d (d + 1)/2 */
} tacit_released_moments;

/* Larger ones are not kept: a definition could not hold them. */
enum { TACIT_RELEASED_COLUMNS = 256 };

/* All zeros. TACIT_USAGE for more columns. */
tacit_status tacit_released_moments_create(tacit_released_moments **out, size_t width, tacit_error *error);
tacit_released_moments *tacit_released_moments_free(tacit_released_moments *moments);

/* Take `values`, of noise `deviation`, in steps that are small against it: the numbers that all others
 * see. */
void tacit_released_moments_round(tacit_released_moments *moments, const double *values, double deviation);

/* NULL when memory runs out. A reader checks every number; `features` are those of the model beside it. */
json_t *tacit_released_moments_to_json(const tacit_released_moments *moments);
tacit_status tacit_released_moments_from_json(tacit_released_moments **out, const json_t *object,
                                              size_t features, tacit_error *error);

/* BLAKE2b-256 of all that is above. */
void tacit_released_moments_hash(const tacit_released_moments *moments, uint8_t out[TACIT_HASH_BYTES]);
