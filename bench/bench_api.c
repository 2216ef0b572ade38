/*
 * What the library's frames cost beside the fit itself: rows in memory, encoded and fitted through
 * tacit/tacit.h, against the solver on rows that are encoded already.
 *
 *     bench_api [ROWS] [COLUMNS]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "method/methods.h"
#include "site/fit.h"
#include "tacit/tacit.h"

static double seconds_now(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void check(tacit_status status, const tacit_error *error) {
    if (status == TACIT_OK) return;
    fprintf(stderr, "%s\n", error->text);
    exit(1);
}

typedef struct rows {
    size_t count, columns;
    double *value;
    int32_t *label;
    double *low, *high;
} rows;

static rows make_rows(size_t count, size_t columns) {
    rows made = { count,
                  columns,
                  malloc(count * columns * sizeof(double)),
                  malloc(count * sizeof(int32_t)),
                  malloc(columns * sizeof(double)),
                  malloc(columns * sizeof(double)) };
    if (made.value == NULL || made.label == NULL || made.low == NULL || made.high == NULL) exit(1);
    srand(1);
    for (size_t j = 0; j < columns; j++) {
        made.low[j] = -1;
        made.high[j] = 3;
    }
    for (size_t i = 0; i < count; i++) {
        double score = 0;
        for (size_t j = 0; j < columns; j++) {
            double value = 4.0 * rand() / RAND_MAX - 1;
            made.value[i * columns + j] = value;
            score += j % 2 == 0 ? value : -value;
        }
        made.label[i] = score + 4.0 * rand() / RAND_MAX > 2;
    }
    return made;
}

/* Encode and fit through the header. */
static void through_library(const rows *from, const char *threads) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = NULL;
    tacit_options *options = NULL;
    tacit_model *model = NULL;
    ptrdiff_t row = (ptrdiff_t)(from->columns * sizeof(double));
    check(tacit_frame_dense(&frame, from->value, TACIT_NUMBER_DOUBLE, from->count, from->columns, row,
                            sizeof(double), &error),
          &error);
    check(tacit_frame_set_bounds(frame, from->low, from->high, true, &error), &error);
    check(tacit_frame_set_classes(frame, from->label, 2, NULL, &error), &error);
    check(tacit_options_create(&options, &error), &error);
    check(tacit_options_set(options, "method", "output", &error), &error);
    check(tacit_options_set(options, "epsilon", "1", &error), &error);
    check(tacit_options_set(options, "threads", threads, &error), &error);
    check(tacit_frame_fit(&model, frame, options, NULL, NULL, &error), &error);
    tacit_model_free(model);
    tacit_options_free(options);
    tacit_frame_free(frame);
}

/* The same rows, encoded beforehand, through what the program calls. */
static void inside(const tacit_dataset *data, const tacit_schema *schema, tacit_pool *pool) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_plan plan = { .method = &tacit_method_output, .epsilon = 1, .lambda = 0.01 };
    tacit_fit_job job = { .rows = data, .schema = schema, .plan = &plan, .pool = pool };
    tacit_fit_result result = TACIT_FIT_RESULT_INIT;
    check(tacit_fit_rows(&result, &job, &error), &error);
    tacit_fit_result_clear(&result);
}

static tacit_schema *make_schema(const rows *from) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = NULL;
    check(tacit_schema_create(&schema, &error), &error);
    for (size_t j = 0; j < from->columns; j++) {
        char name[32];
        tacit_schema_column *column;
        snprintf(name, sizeof name, "x%zu", j + 1);
        check(tacit_schema_add_column(schema, &column, name, TACIT_SCHEMA_NUMBER, &error), &error);
        column->low = from->low[j];
        column->high = from->high[j];
    }
    schema->label = tacit_copy_text("label");
    check(tacit_levels_add(&schema->classes, "0", 1, NULL, &error), &error);
    check(tacit_levels_add(&schema->classes, "1", 1, NULL, &error), &error);
    return schema;
}

static tacit_dataset *encode(const rows *from, const tacit_schema *schema) {
    static const char *const classes[] = { "0", "1" };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_dataset *data = NULL;
    tacit_encode_counts counts = { 0 };
    double inside_ball = tacit_schema_intercept_value(schema),
           factor = tacit_schema_column_factor(schema, tacit_schema_reach(schema), 0, &counts) * inside_ball;
    check(tacit_dataset_create(&data, from->count, from->columns + 1, classes, 2, &error), &error);
    for (size_t i = 0; i < from->count; i++) {
        double *to = data->dense.values + i * (from->columns + 1);
        for (size_t j = 0; j < from->columns; j++) {
            tacit_scale scale = tacit_scale_of(&schema->columns[j]);
            to[j] = tacit_scale_number(&scale, from->value[i * from->columns + j], &counts) * factor;
        }
        to[from->columns] = inside_ball;
        data->label[i] = from->label[i];
    }
    return data;
}

int main(int count, char **words) {
    rows made = make_rows(count > 1 ? strtoul(words[1], NULL, 10) : 200000,
                          count > 2 ? strtoul(words[2], NULL, 10) : 100);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = make_schema(&made);
    tacit_dataset *data = encode(&made, schema);
    double best[2][2] = { { INFINITY, INFINITY }, { INFINITY, INFINITY } };
    const clockid_t clocks[2] = { CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID };
    tacit_pool *pool = NULL;
    check(tacit_pool_create(&pool, 2, &error), &error);
    for (int run = 0; run < 10; run++)
        for (int way = 0; way < 2; way++) {
            double start[2] = { seconds_now(clocks[0]), seconds_now(clocks[1]) };
            if (way == 0)
                inside(data, schema, pool);
            else
                through_library(&made, "2");
            for (int c = 0; c < 2; c++) best[way][c] = fmin(best[way][c], seconds_now(clocks[c]) - start[c]);
        }
    printf("%zu x %zu, output perturbation, 2 threads, best of 10\n", made.count, made.columns);
    printf("encoded rows      %.3f s, processor %.3f s\n", best[0][0], best[0][1]);
    printf("through the frame %.3f s, processor %.3f s: %.2f times\n", best[1][0], best[1][1],
           best[1][0] / best[0][0]);
    tacit_pool_free(pool);
    tacit_dataset_free(data);
    tacit_schema_free(schema);
    free(made.value);
    free(made.label);
    free(made.low);
    free(made.high);
    return 0;
}
