/*
 * Times of the certified solver.
 *
 *   bench_glm fit   X LABELS ROWS COLS LAMBDA THREADS REPEATS WEIGHTS
 *   bench_glm many  X LABELS ROWS COLS LAMBDA THREADS REPEATS WEIGHTS FITS STORED-ROWS
 *   bench_glm dgemm THREADS
 *
 * X holds doubles, row by row, LABELS 32-bit classes. `many` makes FITS separate fits of ROWS rows each,
 * taken one after the other (and around again) from X, and writes the weights of the first 100.
 */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/memory.h"
#include "model/family/family.h"
#include "num/blas.h"
#include "num/glm/glm.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int complain(const tacit_error *error) {
    fprintf(stderr, "bench_glm: %s\n", error->text);
    return 1;
}

typedef struct input {
    tacit_matrix x;
    int32_t *label;
    size_t rows, cols;
    double lambda;
    unsigned threads;
    int repeats;
    const char *weights_path;
} input;

static tacit_status read_numbers(const char *path, void *out, size_t bytes, tacit_error *error) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return tacit_fail_errno(error, "opening", path);
    size_t got = fread(out, 1, bytes, file);
    fclose(file);
    return got == bytes ? TACIT_OK
                        : tacit_fail(error, TACIT_INPUT, "%s holds fewer than %zu bytes", path, bytes);
}

static tacit_status read_input(input *in, char **argument, size_t stored, tacit_error *error) {
    in->rows = strtoull(argument[2], NULL, 10);
    in->cols = strtoull(argument[3], NULL, 10);
    in->lambda = strtod(argument[4], NULL);
    in->threads = (unsigned)strtoul(argument[5], NULL, 10);
    in->repeats = atoi(argument[6]);
    in->weights_path = argument[7];
    if (stored == 0) stored = in->rows;
    TACIT_TRY(tacit_matrix_create(&in->x, stored, in->cols, error));
    in->label = TACIT_NEW(int32_t, stored);
    if (in->label == NULL) return tacit_fail_memory(error);
    TACIT_TRY(read_numbers(argument[0], in->x.values, stored * in->cols * sizeof(double), error));
    return read_numbers(argument[1], in->label, stored * sizeof(int32_t), error);
}

static tacit_status fit_large(const input *in, tacit_pool *pool, tacit_error *error) {
    tacit_glm_problem problem = { .loss = &tacit_family_logistic.loss,
                                  .x = tacit_rows_of_matrix(&in->x),
                                  .label = in->label,
                                  .classes = 2,
                                  .lambda = in->lambda };
    tacit_glm_settings settings = tacit_glm_defaults();
    settings.pool = pool;
    double *w = TACIT_NEW(double, in->cols);
    if (w == NULL) return tacit_fail_memory(error);
    tacit_glm_fit fit = { 0 };
    tacit_status status = TACIT_OK;
    printf("{\"seconds\": [");
    for (int r = 0; r < in->repeats && status == TACIT_OK; r++) {
        memset(w, 0, in->cols * sizeof *w);
        double begin = now();
        status = tacit_glm_solve(&problem, &settings, w, &fit, error);
        printf("%s%.6f", r > 0 ? ", " : "", now() - begin);
    }
    printf("], \"bound\": %.3g, \"iterations\": %d}\n", fit.gradient_bound, fit.iterations);
    if (status == TACIT_OK) status = tacit_file_write(in->weights_path, w, in->cols * sizeof *w, 0644, error);
    free(w);
    return status;
}

typedef struct many {
    const input *in;
    double *weights; /* kept of the first KEPT fits */
} many;

enum { KEPT = 100 };

static tacit_status fit_range(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    const many *all = context;
    const input *in = all->in;
    tacit_glm_settings settings = tacit_glm_defaults();
    double *w = TACIT_NEW(double, in->cols);
    if (w == NULL) return tacit_fail_memory(error);
    tacit_status status = TACIT_OK;
    (void)worker;
    for (size_t f = begin; f < end && status == TACIT_OK; f++) {
        tacit_rows rows = tacit_rows_of_matrix(&in->x);
        size_t first = f * in->rows % (in->x.rows - in->rows + 1);
        tacit_glm_problem problem = { .loss = &tacit_family_logistic.loss,
                                      .x = tacit_rows_slice(&rows, first, in->rows),
                                      .label = in->label,
                                      .classes = 2,
                                      .lambda = in->lambda };
        memset(w, 0, in->cols * sizeof *w);
        status = tacit_glm_solve(&problem, &settings, w, NULL, error);
        if (f < KEPT) memcpy(all->weights + f * in->cols, w, in->cols * sizeof *w);
    }
    free(w);
    return status;
}

static tacit_status fit_many(const input *in, size_t fits, tacit_pool *pool, tacit_error *error) {
    many all = { in, TACIT_NEW(double, KEPT * in->cols) };
    if (all.weights == NULL) return tacit_fail_memory(error);
    tacit_status status = TACIT_OK;
    printf("{\"seconds\": [");
    for (int r = 0; r < in->repeats && status == TACIT_OK; r++) {
        double begin = now();
        status = tacit_pool_for(pool, fits, 0, fit_range, &all, error);
        printf("%s%.6f", r > 0 ? ", " : "", now() - begin);
    }
    printf("]}\n");
    if (status == TACIT_OK)
        status =
            tacit_file_write(in->weights_path, all.weights, KEPT * in->cols * sizeof(double), 0644, error);
    free(all.weights);
    return status;
}

/* The machine's peak as its BLAS sees it: billions of additions and multiplications a second. */
static int dgemm_rate(int threads) {
    enum { N = 1500 };
    tacit_matrix a, b, c;
    tacit_error error = TACIT_ERROR_INIT;
    if (tacit_matrix_create(&a, N, N, &error) != TACIT_OK ||
        tacit_matrix_create(&b, N, N, &error) != TACIT_OK ||
        tacit_matrix_create(&c, N, N, &error) != TACIT_OK)
        return complain(&error);
    for (size_t i = 0; i < (size_t)N * N; i++) a.values[i] = b.values[i] = (double)(i % 7) - 3;
    openblas_set_num_threads(threads);
    double best = 1e9;
    for (int r = 0; r < 7; r++) {
        double begin = now();
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1, a.values, N, b.values, N, 0,
                    c.values, N);
        double took = now() - begin;
        best = took < best ? took : best;
    }
    printf("{\"gflops\": %.1f}\n", 2e-9 * N * N * N / best);
    tacit_matrix_clear(&a);
    tacit_matrix_clear(&b);
    tacit_matrix_clear(&c);
    return 0;
}

int main(int count, char **argument) {
    if (count == 3 && strcmp(argument[1], "dgemm") == 0) return dgemm_rate(atoi(argument[2]));
    bool large = count == 10 && strcmp(argument[1], "fit") == 0;
    bool small = count == 12 && strcmp(argument[1], "many") == 0;
    if (!large && !small) {
        fprintf(stderr,
                "usage: bench_glm fit X LABELS ROWS COLS LAMBDA THREADS REPEATS WEIGHTS\n"
                "       bench_glm many ... WEIGHTS FITS STORED-ROWS\n       bench_glm dgemm THREADS\n");
        return 2;
    }
    tacit_error error = TACIT_ERROR_INIT;
    input in = { .x = TACIT_MATRIX_INIT };
    tacit_pool *pool = NULL;
    tacit_status status;
    TACIT_CHECK(read_input(&in, argument + 2, small ? strtoull(argument[11], NULL, 10) : 0, &error));
    TACIT_CHECK(tacit_pool_create(&pool, in.threads, &error));
    status =
        large ? fit_large(&in, pool, &error) : fit_many(&in, strtoull(argument[10], NULL, 10), pool, &error);
cleanup:
    tacit_pool_free(pool);
    tacit_matrix_clear(&in.x);
    free(in.label);
    return status == TACIT_OK ? 0 : complain(&error);
}
