/*
 * Times of the certified solver on sparse rows.
 *
 *   bench_text START COLUMNS VALUES LABELS ROWS COLS LAMBDA TOLERANCE THREADS REPEATS WEIGHTS
 *
 * START holds ROWS + 1 64-bit offsets, COLUMNS 32-bit column numbers, VALUES doubles, LABELS 32-bit classes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/file.h"
#include "base/memory.h"
#include "model/family/family.h"
#include "num/blas.h"
#include "num/glm/glm.h"

/* On one thread the processor's time, which a busy machine does not spoil. */
static double now(unsigned threads) {
    struct timespec t;
    clock_gettime(threads > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int complain(const tacit_error *error) {
    fprintf(stderr, "bench_text: %s\n", error->text);
    return 1;
}

static long peak_kilobytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

int main(int count, char **argument) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer file[4] = { TACIT_BUFFER_INIT, TACIT_BUFFER_INIT, TACIT_BUFFER_INIT, TACIT_BUFFER_INIT };
    if (count != 12) {
        fprintf(stderr, "usage: bench_text START COLUMNS VALUES LABELS ROWS COLS LAMBDA TOLERANCE THREADS "
                        "REPEATS WEIGHTS\n");
        return 2;
    }
    for (int i = 0; i < 4; i++)
        if (tacit_file_read(argument[1 + i], &file[i], &error) != TACIT_OK) return complain(&error);
    size_t rows = strtoull(argument[5], NULL, 10), cols = strtoull(argument[6], NULL, 10);
    tacit_csr csr = { rows, cols, (size_t *)(void *)file[0].bytes, (uint32_t *)(void *)file[1].bytes,
                      (double *)(void *)file[2].bytes };
    tacit_glm_problem problem = { .loss = &tacit_family_logistic.loss,
                                  .x = tacit_rows_of_csr(&csr),
                                  .label = (const int32_t *)(const void *)file[3].bytes,
                                  .classes = 2,
                                  .lambda = strtod(argument[7], NULL) };
    tacit_glm_settings settings = tacit_glm_defaults();
    settings.gradient_tolerance = strtod(argument[8], NULL);
    unsigned threads = (unsigned)strtoul(argument[9], NULL, 10);
    double *weights = TACIT_NEW(double, cols);
    if (weights == NULL) return 1;
    tacit_blas_one_thread();
    if (threads > 1 && tacit_pool_create(&settings.pool, threads, &error) != TACIT_OK)
        return complain(&error);
    long before = peak_kilobytes();
    tacit_glm_fit fit = { 0 };
    printf("{\"seconds\": [");
    for (int r = 0; r < atoi(argument[10]); r++) {
        memset(weights, 0, cols * sizeof *weights);
        double begin = now(threads);
        if (tacit_glm_solve(&problem, &settings, weights, &fit, &error) != TACIT_OK) return complain(&error);
        printf("%s%.6f", r > 0 ? ", " : "", now(threads) - begin);
    }
    printf("], \"bound\": %.3g, \"iterations\": %d, \"kilobytes\": %ld}\n", fit.gradient_bound,
           fit.iterations, peak_kilobytes() - before);
    if (tacit_file_write(argument[11], weights, cols * sizeof *weights, 0600, &error) != TACIT_OK)
        return complain(&error);
    tacit_pool_free(settings.pool);
    free(weights);
    for (int i = 0; i < 4; i++) tacit_buffer_clear(&file[i]);
    return 0;
}
