/*
 * Rates of the samplers, on one thread.
 *
 *   bench_rand fast   COUNT REPEATS            fast normals
 *   bench_rand exact  DIMENSION GRID REPEATS   vectors of each exact law
 *
 * Prints one JSON line: the best rate of the repeats, and the variance seen, so that a fast but wrong sampler
 * shows.
 */
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "rand/exact.h"
#include "rand/fast.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int complain(const tacit_error *error) {
    fprintf(stderr, "bench_rand: %s\n", error->text);
    return 1;
}

static int fast_normals(size_t count, int repeats) {
    tacit_stream stream = tacit_stream_from_seed(1);
    double *values = TACIT_NEW(double, count), best = 0, variance = 0;
    if (values == NULL) return 1;
    for (int r = 0; r < repeats; r++) {
        double start = now();
        tacit_fast_normals(&stream, values, count);
        best = fmax(best, (double)count / (now() - start));
        for (size_t i = 0; i < count; i++) variance += values[i] * values[i] / (double)count / repeats;
    }
    printf("{\"rate\": %.6g, \"variance\": %.6g}\n", best, variance);
    free(values);
    return 0;
}

typedef struct law {
    const char *name;
    tacit_law noise;
    double scale, variance; /* of a coordinate; 0: (d + 1) s^2 */
} law;

static const law laws[] = {
    { "uniform", TACIT_LAW_UNIFORM, 1, 1.0 / 3 },
    { "Laplace", TACIT_LAW_LAPLACE, 1, 2 },
    { "Gaussian", TACIT_LAW_GAUSSIAN, 1, 1 },
    { "gamma-norm", TACIT_LAW_GAMMA_NORM, 1, 0 },
    { "discrete Laplace", TACIT_LAW_DISCRETE_LAPLACE, 100, 2e4 },
    { "discrete Gaussian", TACIT_LAW_DISCRETE_GAUSSIAN, 100, 1e4 },
};

typedef struct work {
    tacit_entropy *entropy;
    tacit_exact_vector *vector;
    double *value;
    int64_t *whole;
    size_t dimension;
    int grid;
} work;

static tacit_status draw(work *self, const law *which, tacit_error *error) {
    if (which->noise >= TACIT_LAW_GEOMETRIC)
        return tacit_exact_add_integer(self->vector, self->entropy, which->noise, self->whole,
                                       self->dimension, which->scale, 0, error);
    return tacit_exact_add(self->vector, self->entropy, which->noise, self->value, self->dimension,
                           which->scale, self->grid, error);
}

/* The best rate over pieces of a tenth of a second, and the mean square over all. */
static tacit_status measure(work *self, const law *which, int repeats, bool last, tacit_error *error) {
    double best = 0, squares = 0, vectors = 0;
    for (int r = 0; r < repeats; r++) {
        double start = now(), done = 0;
        do {
            TACIT_TRY(draw(self, which, error));
            const int64_t *steps = tacit_exact_vector_steps(self->vector);
            int grid = tacit_exact_vector_grid_bits(self->vector);
            for (size_t i = 0; i < self->dimension; i++) squares += pow(ldexp((double)steps[i], -grid), 2);
            done++;
        } while (now() - start < 0.1);
        best = fmax(best, done / (now() - start));
        vectors += done;
    }
    double expected = which->variance > 0 ? which->variance : (double)self->dimension + 1;
    printf("\"%s\": {\"rate\": %.6g, \"variance\": %.6g, \"expected\": %.6g}%s", which->name, best,
           squares / vectors / (double)self->dimension, expected, last ? "}\n" : ", ");
    return TACIT_OK;
}

static int exact_vectors(size_t dimension, int grid, int repeats) {
    work self = { .dimension = dimension, .grid = grid };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_entropy_create(&self.entropy, &error));
    TACIT_CHECK(tacit_exact_vector_create(&self.vector, &error));
    self.value = TACIT_NEW(double, dimension);
    self.whole = TACIT_NEW(int64_t, dimension);
    if (self.value == NULL || self.whole == NULL) TACIT_CHECK(tacit_fail_memory(&error));
    printf("{");
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++)
        TACIT_CHECK(measure(&self, &laws[k], repeats, k + 1 == sizeof laws / sizeof *laws, &error));
cleanup:
    free(self.value);
    free(self.whole);
    tacit_exact_vector_free(self.vector);
    tacit_entropy_free(self.entropy);
    return status == TACIT_OK ? 0 : complain(&error);
}

int main(int count, char **argument) {
    if (sodium_init() < 0)
        return 1; /* picks the vector instructions of this processor, as the program does */
    if (count == 4 && strcmp(argument[1], "fast") == 0)
        return fast_normals(strtoull(argument[2], NULL, 10), atoi(argument[3]));
    if (count == 5 && strcmp(argument[1], "exact") == 0)
        return exact_vectors(strtoull(argument[2], NULL, 10), atoi(argument[3]), atoi(argument[4]));
    fprintf(stderr, "usage: bench_rand fast COUNT REPEATS | exact DIMENSION GRID REPEATS\n");
    return 2;
}
