/*
 * Times of a private fit through the public interface, from numbers in memory to a model.
 *
 *   bench_fit wall|processor X LABELS ROWS COLS METHOD EPSILON LAMBDA THREADS REPEATS [LOW HIGH]
 *
 * X holds doubles, row by row, LABELS 32-bit classes of two. With LOW and HIGH columns have these bounds and
 * there is an intercept; without, rows lie in the unit ball and are used where they lie. Noise is exact and
 * drawn again each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tacit/tacit.h"

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *read_all(const char *path, size_t bytes) {
    FILE *file = fopen(path, "rb");
    void *out = malloc(bytes);
    if (file == NULL || out == NULL || fread(out, 1, bytes, file) != bytes) {
        fprintf(stderr, "bench_fit: cannot read %zu bytes of %s\n", bytes, path);
        exit(1);
    }
    fclose(file);
    return out;
}

static void check(tacit_status status, const tacit_error *error) {
    if (status == TACIT_OK) return;
    fprintf(stderr, "bench_fit: %s\n", error->text);
    exit(tacit_status_exit_code(status));
}

typedef struct rows {
    double *values, *low, *high; /* bounds NULL: the unit ball */
    int32_t *label;
    size_t count, columns;
} rows;

/* The seconds of all that a program must do, from its numbers to the model. */
static double fit(const rows *data, const tacit_options *options, clockid_t clock) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = NULL;
    tacit_model *model = NULL;
    double begin = now(clock);
    check(tacit_frame_dense(&frame, data->values, TACIT_NUMBER_DOUBLE, data->count, data->columns,
                            (ptrdiff_t)(data->columns * sizeof(double)), sizeof(double), &error),
          &error);
    check(tacit_frame_set_classes(frame, data->label, 2, NULL, &error), &error);
    if (data->low != NULL)
        check(tacit_frame_set_bounds(frame, data->low, data->high, true, &error), &error);
    else
        check(tacit_frame_set_norm(frame, 1, false, &error), &error);
    check(tacit_frame_fit(&model, frame, options, NULL, NULL, &error), &error);
    double seconds = now(clock) - begin;
    tacit_model_free(model);
    tacit_frame_free(frame);
    return seconds;
}

static double *repeated(double value, size_t count) {
    double *out = calloc(count, sizeof *out);
    if (out == NULL) exit(1);
    for (size_t j = 0; j < count; j++) out[j] = value;
    return out;
}

int main(int count, char **argument) {
    static const char *const names[] = { "method", "epsilon", "lambda", "threads" };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_options *options = NULL;
    if (count != 11 && count != 13) {
        fprintf(stderr, "usage: bench_fit wall|processor X LABELS ROWS COLS METHOD EPSILON LAMBDA THREADS "
                        "REPEATS [LOW HIGH]\n");
        return 2;
    }
    clockid_t clock = strcmp(argument[1], "processor") == 0 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    rows data = { .count = strtoull(argument[4], NULL, 10), .columns = strtoull(argument[5], NULL, 10) };
    data.values = read_all(argument[2], data.count * data.columns * sizeof(double));
    data.label = read_all(argument[3], data.count * sizeof(int32_t));
    if (count == 13) {
        data.low = repeated(strtod(argument[11], NULL), data.columns);
        data.high = repeated(strtod(argument[12], NULL), data.columns);
    }
    check(tacit_options_create(&options, &error), &error);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check(tacit_options_set(options, names[i], argument[6 + i], &error), &error);
    printf("{\"seconds\": [");
    for (int r = 0, repeats = atoi(argument[10]); r < repeats; r++)
        printf("%s%.6f", r > 0 ? ", " : "", fit(&data, options, clock));
    printf("]}\n");
    tacit_options_free(options);
    free(data.values);
    free(data.label);
    free(data.low);
    free(data.high);
    return 0;
}
