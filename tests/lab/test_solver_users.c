/*
 * No method tells rows apart by giving up on some. Every method of the table of audits is run, noise and all,
 * on rows that are identical, collinear, of one class, vanishing or at the edge of the ball, under
 * regularisers from 1e-8 to 1e4: it must answer. TACIT_METHOD_INPUTS in the environment says on how many
 * inputs each (40).
 */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/audit/audit_parts.h"
#include "method/ensemble/ensemble.h"
#include "rand/fast.h"

static uint64_t from_environment(const char *name, uint64_t usual) {
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : usual;
}

/* Move the rows of a data set to degenerate places. */
static void degrade(tacit_dataset *data, tacit_stream *stream) {
    unsigned kind = (unsigned)(tacit_stream_unit(stream) * 6);
    double line[64];
    assert_true(data->features <= 64);
    for (size_t j = 0; j < data->features; j++) line[j] = tacit_fast_normal(stream);
    for (size_t i = 0; i < data->rows; i++) {
        double *x = data->dense.values + i * data->features, square = 0, length = 1 - 1e-12;
        for (size_t j = 0; j < data->features; j++) {
            x[j] = kind <= 2 ? line[j] : kind == 3 ? 0 : tacit_fast_normal(stream);
            square += x[j] * x[j];
        }
        if (kind == 1) length *= 2 * tacit_stream_unit(stream) - 1;
        if (kind == 4) length *= pow(10, -310 * tacit_stream_unit(stream));
        for (size_t j = 0; j < data->features; j++) x[j] *= square > 0 ? length / sqrt(square) : 0;
        if (data->label == NULL) continue;
        bool same = kind % 2 == 0;
        data->label[i] = same ? 0 : (int32_t)(tacit_stream_unit(stream) * (double)data->classes.count);
    }
}

static tacit_status run_degraded(const tacit_auditable *subject, const char *loss, double lambda,
                                 tacit_stream *stream, tacit_error *error) {
    tacit_setting_value choice = { .name = "loss", .value = loss };
    tacit_audit_setup setup = { .epsilon = 1, .delta = 1e-5, .lambda = lambda };
    char text[TACIT_AUDIT_TEXT];
    tacit_pair pair = TACIT_PAIR_INIT;
    tacit_local *local = NULL;
    double *values = NULL;
    size_t length = 0;
    tacit_status status;
    if (loss != NULL) setup.settings = &choice;
    setup.setting_count = loss != NULL;
    TACIT_CHECK(subject->pair(&pair, text, &setup, error));
    for (int side = 0; side < 2; side++) {
        if (pair.data[side] != NULL) degrade(pair.data[side], stream);
        if (pair.auxiliary[side] != NULL) degrade(pair.auxiliary[side], stream);
    }
    TACIT_CHECK(tacit_pair_ready(&pair, error));
    tacit_plan plan = tacit_pair_plan(&pair, 0);
    TACIT_CHECK(tacit_local_create(&local, pair.data[0], pair.split, NULL, error));
    TACIT_CHECK(tacit_pair_run(&values, &length, local, &plan, pair.statistic, stream, error));
cleanup:
    free(values);
    tacit_local_free(local);
    tacit_pair_clear(&pair);
    return status;
}

static void every_method_answers_on_degenerate_rows(void **state) {
    (void)state;
    static const double lambdas[] = { 1e-8, 1e-5, 1e-3, 0.1, 10, 1e4 };
    uint64_t count = from_environment("TACIT_METHOD_INPUTS", 40), failed = 0, all = 0;
    tacit_stream root = tacit_stream_from_seed(from_environment("TACIT_METHOD_SEED", 1));
    for (size_t a = 0; tacit_auditables[a] != NULL; a++) {
        const tacit_auditable *subject = tacit_auditables[a];
        bool perturbs = strcmp(subject->name, "output") == 0 || strcmp(subject->name, "plr") == 0 ||
                        strcmp(subject->name, "gop") == 0;
        if (subject->pair == NULL) continue;
        for (uint64_t i = 0; i < count; i++) {
            tacit_stream stream = tacit_stream_fork(&root, "input", a, i);
            tacit_error error = TACIT_ERROR_INIT;
            const char *loss = !perturbs ? NULL : i % 2 == 0 ? "huber" : "logistic";
            tacit_status status = run_degraded(subject, loss, lambdas[i % 6], &stream, &error);
            all++;
            if (status == TACIT_OK) continue;
            failed++;
            fprintf(stderr, "# %s, input %llu, lambda %g: %s\n", subject->name, (unsigned long long)i,
                    lambdas[i % 6], error.text);
        }
    }
    printf("# %llu runs, %llu without an answer\n", (unsigned long long)all, (unsigned long long)failed);
    assert_int_equal(failed, 0);
}

/* The fit of vote and soft to `points` points in one place, `share` of the parties for the last class. */
static bool fits_identical_points(size_t points, size_t features, size_t classes, double lambda, double share,
                                  uint64_t seed) {
    tacit_stream stream = tacit_stream_from_seed(seed);
    double x[8], statistic[4 * 8] = { 0 }, square = 0;
    tacit_matrix rows = TACIT_MATRIX_INIT;
    tacit_model *model = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_matrix_create(&rows, points, features, &error), error);
    for (size_t j = 0; j < features; j++) x[j] = tacit_fast_normal(&stream);
    for (size_t j = 0; j < features; j++) square += x[j] * x[j];
    for (size_t i = 0; i < points; i++)
        for (size_t j = 0; j < features; j++) rows.values[i * features + j] = x[j] / sqrt(square);
    for (size_t i = 0; i < points; i++)
        for (size_t j = 0; j < features; j++) {
            double part = rows.values[i * features + j] / (double)points;
            if (classes > 2) statistic[j] += (1 - share) * part;
            statistic[(classes > 2 ? classes - 1 : 0) * features + j] += share * part;
        }
    tacit_rows view = tacit_rows_of_matrix(&rows);
    tacit_linear_fit fit = { .lambda = lambda, .gradient_tolerance = 1e-9 };
    tacit_status status = tacit_model_fit_statistic(&model, &view, classes, statistic, &fit, &error);
    tacit_model_free(model);
    tacit_matrix_clear(&rows);
    return status == TACIT_OK;
}

/* 4,000 pairs of neighbours: nobody or everybody says the last class. The tolerance is reached on both sides
 * of each. */
static void identical_points_are_solved_whatever_the_votes(void **state) {
    (void)state;
    size_t pairs = 4000, alone = 0, neither = 0;
    for (size_t pair = 0; pair < pairs; pair++) {
        size_t classes = 2 + pair % 3, points = 1 + pair % 37, features = 1 + pair / 37 % 6;
        double lambda = pow(10, -(double)(pair % 5));
        bool solved[2];
        for (int side = 0; side < 2; side++)
            solved[side] = fits_identical_points(points, features, classes, lambda, side, pair);
        alone += solved[0] != solved[1];
        neither += !solved[0] && !solved[1];
    }
    printf("# %zu pairs: %zu told apart, %zu given up on both sides\n", pairs, alone, neither);
    assert_int_equal(alone + neither, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_answers_on_degenerate_rows),
        cmocka_unit_test(identical_points_are_solved_whatever_the_votes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
