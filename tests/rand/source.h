/* Sources of bits that the library does not have: a reproducible one, and one that says given words first. */
#pragma once

#include <string.h>

#include "rand/exact_parts.h"
#include "rand/stream.h"

typedef struct source {
    tacit_bits bits;
    tacit_stream stream;
    const uint64_t *given;
    size_t given_count;
} source;

static inline void source_fill(void *context, uint64_t *words, size_t count) {
    source *self = context;
    for (size_t i = 0; i < count; i++) {
        if (self->given_count > 0) {
            words[i] = *self->given++;
            self->given_count--;
        } else {
            words[i] = tacit_stream_u64(&self->stream);
        }
    }
}

/* The words of `seed`'s stream after `given_count` words of the caller's. */
static inline void source_begin(source *self, uint64_t seed, const uint64_t *given, size_t given_count) {
    self->stream = tacit_stream_from_seed(seed);
    self->given = given;
    self->given_count = given_count;
    tacit_bits_init(&self->bits, source_fill, self);
}

/* Noise words under which uniform noise of scale 1 needs 64 digits beside the value 0.5: negative, and then
 * forty digits of zeros. */
static const uint64_t slow_words[41] = { 1 };

static inline tacit_exact_vector *new_vector(void) {
    tacit_exact_vector *vector = NULL;
    assert_int_equal(tacit_exact_vector_create(&vector, NULL), TACIT_OK);
    return vector;
}

static inline tacit_exact_request real_request(tacit_law noise, const double *value, size_t count,
                                               double scale, int grid_bits) {
    return (tacit_exact_request){ noise, value, NULL, count, scale, grid_bits, 0 };
}

static inline tacit_exact_request whole_request(tacit_law noise, const int64_t *value, size_t count,
                                                double scale) {
    return (tacit_exact_request){ noise, NULL, value, count, scale, 0, 0 };
}
