#include "rand/exact.h"

#include <math.h>
#include <sodium.h>

#include "base/memory.h"
#include "rand/exact_parts.h"

/* Beyond this a candidate of a law of integers would leave the range of steps too often to be of use. */
static const double WIDEST_INTEGER_SCALE = 0x1p50;
static const uint64_t MOST_PARTS = UINT64_C(1) << 32;

tacit_status tacit_exact_vector_create(tacit_exact_vector **out, tacit_error *error) {
    tacit_exact_vector *vector = TACIT_NEW(tacit_exact_vector, 1);
    if (vector == NULL) return tacit_fail_memory(error);
    *out = vector;
    return TACIT_OK;
}

tacit_exact_vector *tacit_exact_vector_free(tacit_exact_vector *vector) {
    if (vector == NULL) return NULL;
    tacit_space_clear(&vector->space);
    free(vector->steps);
    free(vector->lazy); /* its digits were wiped when the call that drew them ended */
    free(vector);
    return NULL;
}

tacit_law tacit_exact_vector_law(const tacit_exact_vector *vector) { return vector->noise; }
double tacit_exact_vector_scale(const tacit_exact_vector *vector) { return vector->scale; }
int tacit_exact_vector_grid_bits(const tacit_exact_vector *vector) { return vector->grid_bits; }
size_t tacit_exact_vector_count(const tacit_exact_vector *vector) { return vector->count; }
const int64_t *tacit_exact_vector_steps(const tacit_exact_vector *vector) { return vector->steps; }

static bool of_integers(tacit_law noise) {
    return noise == TACIT_LAW_GEOMETRIC || noise == TACIT_LAW_DISCRETE_LAPLACE ||
           noise == TACIT_LAW_DISCRETE_GAUSSIAN || noise == TACIT_LAW_POLYA;
}

static bool of_reals(tacit_law noise) {
    return noise == TACIT_LAW_UNIFORM || noise == TACIT_LAW_EXPONENTIAL || noise == TACIT_LAW_LAPLACE ||
           noise == TACIT_LAW_GAUSSIAN || noise == TACIT_LAW_GAMMA_NORM;
}

static tacit_status check_request(const tacit_exact_request *request, tacit_error *error) {
    if (request->count == 0 || (request->value == NULL && request->whole == NULL))
        return tacit_fail(error, TACIT_USAGE, "there is no value to add noise to");
    if (request->value != NULL ? !of_reals(request->noise) : !of_integers(request->noise))
        return tacit_fail(error, TACIT_USAGE, "noise %d is not a law of %s", (int)request->noise,
                          request->value != NULL ? "real numbers" : "integers");
    if (!isfinite(request->scale) || !(request->scale > 0))
        return tacit_fail(error, TACIT_INPUT, "the scale of noise must be finite and above 0, not %g",
                          request->scale);
    if (request->whole != NULL && request->scale > WIDEST_INTEGER_SCALE)
        return tacit_fail(error, TACIT_INPUT, "the scale of integer noise is at most 2^50 steps, not %g",
                          request->scale);
    if (request->noise == TACIT_LAW_POLYA && (request->parts < 1 || request->parts > MOST_PARTS))
        return tacit_fail(error, TACIT_USAGE, "noise is shared among 1 to 2^32 parts, not %llu",
                          (unsigned long long)request->parts);
    if (request->grid_bits < -TACIT_GRID_BITS_MOST || request->grid_bits > TACIT_GRID_BITS_MOST)
        return tacit_fail(error, TACIT_USAGE, "grid bits lie between -%d and %d, not at %d",
                          TACIT_GRID_BITS_MOST, TACIT_GRID_BITS_MOST, request->grid_bits);
    for (size_t i = 0; request->value != NULL && i < request->count; i++)
        if (!isfinite(request->value[i]))
            return tacit_fail(error, TACIT_INPUT, "value %zu to be released is not a finite number", i);
    return TACIT_OK;
}

static void make_empty(tacit_exact_vector *vector) {
    vector->noise = TACIT_LAW_NONE;
    vector->scale = 0;
    vector->grid_bits = 0;
    vector->count = 0;
}

static tacit_status make_room(tacit_exact_vector *vector, const tacit_exact_request *request,
                              tacit_error *error) {
    if (request->count > vector->room) {
        int64_t *steps = tacit_grow(vector->steps, request->count, sizeof *steps);
        if (steps == NULL) return tacit_fail_memory(error);
        vector->steps = steps;
        vector->room = request->count;
    }
    if (request->noise == TACIT_LAW_GAMMA_NORM && request->count > vector->lazy_room) {
        if (request->count > SIZE_MAX / 2) return tacit_fail_memory(error);
        tacit_lazy *lazy = TACIT_NEW(tacit_lazy, 2 * request->count);
        if (lazy == NULL) return tacit_fail_memory(error);
        free(vector->lazy);
        vector->lazy = lazy;
        vector->lazy_room = request->count;
    }
    return TACIT_OK;
}

static tacit_status draw(tacit_exact_vector *vector, const tacit_exact_request *request, tacit_bits *bits,
                         tacit_error *error) {
    if (request->noise == TACIT_LAW_GAMMA_NORM)
        TACIT_TRY(tacit_exact_gamma_norm(vector, request, bits, error));
    else if (of_integers(request->noise))
        TACIT_TRY(tacit_exact_integers(vector, request, bits, error));
    else
        TACIT_TRY(tacit_exact_coordinates(vector, request, bits, error));
    for (size_t i = 0; i < request->count; i++)
        if (vector->steps[i] <= -TACIT_STEPS_END || vector->steps[i] >= TACIT_STEPS_END)
            return tacit_fail(error, TACIT_LIMIT,
                              "a noisy sum lies beyond 2^62 steps of the grid; use fewer grid bits");
    return TACIT_OK;
}

tacit_status tacit_exact_fill(tacit_exact_vector *vector, const tacit_exact_request *request,
                              tacit_bits *bits, tacit_error *error) {
    make_empty(vector);
    TACIT_TRY(check_request(request, error));
    TACIT_TRY(make_room(vector, request, error));
    tacit_status status = draw(vector, request, bits, error);
    tacit_space_wipe(&vector->space); /* the sums and the noise, which would tell the values */
    if (status != TACIT_OK) {
        sodium_memzero(vector->steps, request->count * sizeof *vector->steps);
        return status;
    }
    vector->noise = request->noise;
    vector->scale = request->scale;
    vector->grid_bits = request->grid_bits;
    vector->count = request->count;
    return TACIT_OK;
}

/* Coordinate by coordinate: a real number is drawn, placed, and forgotten once its step is certain. */
static void draw_noise(tacit_lazy *x, tacit_law noise, tacit_bits *bits) {
    switch (noise) {
    case TACIT_LAW_UNIFORM: tacit_lazy_uniform(x, bits); break;
    case TACIT_LAW_EXPONENTIAL: tacit_lazy_exponential(x, bits); break;
    case TACIT_LAW_LAPLACE: tacit_lazy_laplace(x, bits); break;
    default: tacit_lazy_normal(x, bits); break;
    }
}

tacit_status tacit_exact_coordinates(tacit_exact_vector *vector, const tacit_exact_request *request,
                                     tacit_bits *bits, tacit_error *error) {
    tacit_space *space = &vector->space;
    tacit_lazy x = { 0 };
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < request->count; i++) {
        TACIT_CHECK(tacit_space_start(space, request->scale, request->grid_bits, error));
        draw_noise(&x, request->noise, bits);
        for (;;) {
            tacit_interval *noise = &space->noise;
            tacit_interval_of(noise, &x, space, bits);
            if (bits->failed) {
                status = tacit_fail_memory(error);
                goto cleanup;
            }
            tacit_interval_scale(noise, request->scale);
            if (x.negative) tacit_interval_negate(noise);
            tacit_interval_place(noise, request->value[i], request->grid_bits);
            if (tacit_interval_floor(&vector->steps[i], noise, space)) break;
            TACIT_CHECK(tacit_space_refine(space, error));
        }
    }
cleanup:
    tacit_lazy_reset(&x);
    sodium_memzero(&x, sizeof x);
    return status;
}

tacit_status tacit_exact_add(tacit_exact_vector *vector, tacit_entropy *entropy, tacit_law noise,
                             const double *value, size_t count, double scale, int grid_bits,
                             tacit_error *error) {
    tacit_exact_request request = { noise, value, NULL, count, scale, grid_bits, 0 };
    tacit_bits *bits;
    make_empty(vector);
    TACIT_TRY(tacit_entropy_bits(&bits, entropy, error));
    return tacit_exact_fill(vector, &request, bits, error);
}

tacit_status tacit_exact_add_integer(tacit_exact_vector *vector, tacit_entropy *entropy, tacit_law noise,
                                     const int64_t *value, size_t count, double scale, int grid_bits,
                                     tacit_error *error) {
    tacit_exact_request request = { noise, NULL, value, count, scale, grid_bits, 0 };
    tacit_bits *bits;
    make_empty(vector);
    TACIT_TRY(tacit_entropy_bits(&bits, entropy, error));
    return tacit_exact_fill(vector, &request, bits, error);
}

tacit_status tacit_exact_add_polya(tacit_exact_vector *vector, tacit_entropy *entropy, const int64_t *value,
                                   size_t count, double scale, uint64_t parts, int grid_bits,
                                   tacit_error *error) {
    tacit_exact_request request = { TACIT_LAW_POLYA, NULL, value, count, scale, grid_bits, parts };
    tacit_bits *bits;
    make_empty(vector);
    TACIT_TRY(tacit_entropy_bits(&bits, entropy, error));
    return tacit_exact_fill(vector, &request, bits, error);
}
