/* Frames: however rows lie, they are the same rows; what cannot be is said with row and column. */
#include "library.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static sample made;
static char *expected; /* the model of the sample, rows first, doubles */

static int make(void **state) {
    (void)state;
    sample_make(&made);
    tacit_frame *frame = bounded_frame(&made);
    tacit_model *model = fit_seeded(frame);
    expected = model_text(model);
    tacit_model_free(model);
    tacit_frame_free(frame);
    return 0;
}

static int unmake(void **state) {
    (void)state;
    tacit_string_free(expected);
    return 0;
}

static tacit_frame *frame_of(const void *values, tacit_number_type type, ptrdiff_t row, ptrdiff_t column) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = NULL;
    CHECK_OK(tacit_frame_dense(&frame, values, type, ROWS, COLUMNS, row, column, &error), error);
    CHECK_OK(tacit_frame_set_classes(frame, made.label, 2, NULL, &error), error);
    CHECK_OK(tacit_frame_set_bounds(frame, made.low, made.high, true, &error), error);
    return frame;
}

static void every_layout_gives_the_same_model(void **state) {
    (void)state;
    static double columns_first[COLUMNS][ROWS], padded[ROWS][COLUMNS + 3], backwards[ROWS][COLUMNS];
    static float single[ROWS][COLUMNS], single_columns[COLUMNS][ROWS];
    static char unaligned[sizeof made.value + 1];
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++) {
            double value = made.value[i][j];
            columns_first[j][i] = padded[i][j] = backwards[ROWS - 1 - i][COLUMNS - 1 - j] = value;
            single[i][j] = single_columns[j][i] = (float)value;
        }
    memcpy(unaligned + 1, made.value, sizeof made.value);
    const ptrdiff_t one = sizeof(double), few = sizeof(float);
    check_same_model(frame_of(columns_first, TACIT_NUMBER_DOUBLE, one, ROWS * one), expected);
    check_same_model(frame_of(padded, TACIT_NUMBER_DOUBLE, sizeof padded[0], one), expected);
    check_same_model(frame_of(&backwards[ROWS - 1][COLUMNS - 1], TACIT_NUMBER_DOUBLE, -COLUMNS * one, -one),
                     expected);
    check_same_model(frame_of(single, TACIT_NUMBER_FLOAT, COLUMNS * few, few), expected);
    check_same_model(frame_of(single_columns, TACIT_NUMBER_FLOAT, few, ROWS * few), expected);
    check_same_model(frame_of(unaligned + 1, TACIT_NUMBER_DOUBLE, COLUMNS * one, one), expected);
}

/* ---- sparse rows ---- */

typedef struct compressed {
    double value[ROWS * COLUMNS];
    int32_t column32[ROWS * COLUMNS], start32[ROWS + 1];
    int64_t column64[ROWS * COLUMNS], start64[ROWS + 1];
} compressed;

/* Every third cell is zero and left out; columns of a row in descending order when `reversed`. */
static void compress(compressed *out, double dense[ROWS][COLUMNS], bool reversed) {
    int32_t used = 0;
    for (size_t i = 0; i < ROWS; i++) {
        out->start32[i] = used;
        out->start64[i] = used;
        for (size_t k = 0; k < COLUMNS; k++) {
            size_t j = reversed ? COLUMNS - 1 - k : k;
            dense[i][j] = (i + j) % 3 == 0 ? 0 : made.value[i][j];
            if (dense[i][j] == 0) continue;
            out->value[used] = dense[i][j];
            out->column64[used] = out->column32[used] = (int32_t)j;
            used++;
        }
    }
    out->start64[ROWS] = out->start32[ROWS] = used;
}

static tacit_frame *sparse_frame(const compressed *from, tacit_index_type type) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = NULL;
    bool small = type == TACIT_INDEX_INT32;
    CHECK_OK(tacit_frame_sparse(&frame, from->value, small ? (const void *)from->column32 : from->column64,
                                small ? (const void *)from->start32 : from->start64, type, ROWS, COLUMNS,
                                &error),
             error);
    CHECK_OK(tacit_frame_set_classes(frame, made.label, 2, NULL, &error), error);
    return frame;
}

static void sparse_rows_are_dense_rows(void **state) {
    (void)state;
    static compressed ascending, descending;
    static double dense[ROWS][COLUMNS];
    tacit_error error = TACIT_ERROR_INIT;
    compress(&ascending, dense, false);
    compress(&descending, dense, true);
    tacit_frame *same = frame_of(dense, TACIT_NUMBER_DOUBLE, sizeof dense[0], sizeof(double));
    tacit_model *model = fit_seeded(same);
    char *text = model_text(model);
    for (int k = 0; k < 4; k++) {
        tacit_frame *frame = sparse_frame(k < 2 ? &ascending : &descending,
                                          k % 2 == 0 ? TACIT_INDEX_INT32 : TACIT_INDEX_INT64);
        CHECK_OK(tacit_frame_set_bounds(frame, made.low, made.high, true, &error), error);
        check_same_model(frame, text);
    }
    tacit_string_free(text);
    tacit_model_free(model);
    tacit_frame_free(same);
}

/* The coefficients that a frame with this norm gets; frees the frame. */
static void coefficients_of(tacit_frame *frame, double norm, bool intercept, double out[COLUMNS + 1]) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_frame_set_norm(frame, norm, intercept, &error), error);
    tacit_model *model = fit_seeded(frame);
    CHECK_OK(tacit_model_coefficients(out, COLUMNS + 1, model, &error), error);
    tacit_model_free(model);
    tacit_frame_free(frame);
}

/* Except for the last bits: rows that are used where they lie miss the factor that rounds towards the ball's
 * inside. */
static void check_close(const double *actual, const double *wanted) {
    for (size_t j = 0; j <= COLUMNS; j++) CHECK_NEAR(actual[j], wanted[j], 1e-9 * (1 + fabs(wanted[j])));
}

/* With a norm sparse rows stay sparse: scaled, with a constant, or (norm 1, rows short enough) where they
 * lie. */
static void sparse_rows_stay_sparse(void **state) {
    (void)state;
    static compressed way[2];
    static double dense[ROWS][COLUMNS];
    double wanted[COLUMNS + 1], out[COLUMNS + 1];
    for (int in_place = 0; in_place < 2; in_place++) {
        for (int reversed = 0; reversed < 2; reversed++) {
            compress(&way[reversed], dense, reversed == 1);
            for (size_t e = 0; in_place == 1 && e < ROWS * COLUMNS; e++) way[reversed].value[e] /= 16;
        }
        double norm = in_place == 1 ? 1 : 2;
        coefficients_of(sparse_frame(&way[0], TACIT_INDEX_INT32), norm, in_place == 0, wanted);
        for (int k = 1; k < 4; k++) {
            coefficients_of(sparse_frame(&way[k / 2], k % 2 == 0 ? TACIT_INDEX_INT32 : TACIT_INDEX_INT64),
                            norm, in_place == 0, out);
            check_close(out, wanted);
        }
    }
}

/* The rows from the second hundred on, of a frame of all: offsets that do not begin at 0. */
static void a_slice_of_sparse_rows_is_a_frame(void **state) {
    (void)state;
    static compressed all;
    static double dense[ROWS][COLUMNS];
    enum { FIRST = 100 };
    compress(&all, dense, false);
    for (size_t e = 0; e < ROWS * COLUMNS; e++) all.value[e] /= 16;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++) dense[i][j] /= 16;
    for (int norm = 1; norm < 3; norm++) {
        tacit_error error = TACIT_ERROR_INIT;
        double out[3][COLUMNS + 1];
        for (int k = 0; k < 3; k++) {
            tacit_frame *frame = NULL;
            if (k == 2)
                CHECK_OK(tacit_frame_dense(&frame, dense[FIRST], TACIT_NUMBER_DOUBLE, ROWS - FIRST, COLUMNS,
                                           sizeof dense[0], sizeof(double), &error),
                         error);
            else
                CHECK_OK(tacit_frame_sparse(
                             &frame, all.value, k == 0 ? (const void *)all.column32 : all.column64,
                             k == 0 ? (const void *)(all.start32 + FIRST) : all.start64 + FIRST,
                             k == 0 ? TACIT_INDEX_INT32 : TACIT_INDEX_INT64, ROWS - FIRST, COLUMNS, &error),
                         error);
            CHECK_OK(tacit_frame_set_classes(frame, made.label + FIRST, 2, NULL, &error), error);
            coefficients_of(frame, norm, false, out[k]);
        }
        check_close(out[0], out[2]);
        check_close(out[1], out[2]);
    }
}

static void indexes_are_checked(void **state) {
    (void)state;
    const double value[] = { 1, 2 };
    const int32_t high[] = { 0, 4 }, below[] = { 0, -1 }, twice[] = { 1, 1 }, fine[] = { 0, 1 };
    const int32_t start[] = { 0, 2 }, falling[] = { 2, 0 }, negative[] = { -1, 2 };
    tacit_frame *frame = NULL;
    const tacit_index_type type = TACIT_INDEX_INT32;
    CHECK_FAILS(tacit_frame_sparse(&frame, value, high, start, type, 1, 4, failed), TACIT_INPUT,
                "row 1 names column 4");
    CHECK_FAILS(tacit_frame_sparse(&frame, value, below, start, type, 1, 4, failed), TACIT_INPUT,
                "column -1");
    CHECK_FAILS(tacit_frame_sparse(&frame, value, twice, start, type, 1, 4, failed), TACIT_INPUT, "twice");
    CHECK_FAILS(tacit_frame_sparse(&frame, value, fine, falling, type, 1, 4, failed), TACIT_INPUT, "ascend");
    CHECK_FAILS(tacit_frame_sparse(&frame, value, fine, negative, type, 1, 4, failed), TACIT_INPUT,
                "below 0");
    /* A start beyond what there is, before one that falls: nothing there may be read. */
    const int32_t far[] = { 0, INT32_MAX, 2 }, back[] = { 0, 5, 0 };
    CHECK_FAILS(tacit_frame_sparse(&frame, value, fine, far, type, 2, 4, failed), TACIT_INPUT, "ascend");
    CHECK_FAILS(tacit_frame_sparse(&frame, NULL, NULL, back, type, 2, 4, failed), TACIT_INPUT, "ascend");
    CHECK_FAILS(tacit_frame_sparse(&frame, NULL, NULL, start, type, 1, 4, failed), TACIT_USAGE, "values");
    assert_null(frame);
}

/* ---- cells that are no numbers ---- */

static void an_infinite_cell_is_named(void **state) {
    (void)state;
    static sample bad;
    tacit_model *model = NULL;
    bad = made;
    bad.value[41][2] = -INFINITY;
    tacit_frame *frame = bounded_frame(&bad);
    tacit_options *options = OPTIONS("method", "output", "epsilon", "1");
    CHECK_FAILS(tacit_frame_fit(&model, frame, options, NULL, NULL, failed), TACIT_INPUT,
                "row 42, column x3");
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_frame_set_norm(frame, 1, false, &error), error);
    CHECK_FAILS(tacit_frame_fit(&model, frame, options, NULL, NULL, failed), TACIT_INPUT,
                "row 42, column x3");
    CHECK_OK(tacit_frame_set_bounds_from_data(frame, true, &error), error);
    CHECK_FAILS(tacit_frame_fit(&model, frame, options, NULL, NULL, failed), TACIT_INPUT,
                "row 42, column x3");
    assert_null(model);
    tacit_options_free(options);
    tacit_frame_free(frame);
}

static void a_missing_cell_is_the_middle_and_one_outside_is_moved(void **state) {
    (void)state;
    static sample holes, filled;
    holes = filled = made;
    for (size_t i = 0; i < ROWS; i += 7) {
        holes.value[i][i % COLUMNS] = NAN;
        filled.value[i][i % COLUMNS] = 1; /* the middle of -1 and 3 */
        holes.value[i + 1 < ROWS ? i + 1 : 0][0] = 17;
        filled.value[i + 1 < ROWS ? i + 1 : 0][0] = 3;
    }
    tacit_frame *frame = bounded_frame(&filled);
    tacit_model *model = fit_seeded(frame);
    char *text = model_text(model);
    check_same_model(bounded_frame(&holes), text);
    tacit_string_free(text);
    tacit_model_free(model);
    tacit_frame_free(frame);
}

static void check_missing_is_refused(tacit_frame *frame, const tacit_model *model, const char *place) {
    static double scores[ROWS * 2];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_options *options = OPTIONS("method", "output", "epsilon", "1");
    tacit_model *none = NULL;
    CHECK_OK(tacit_frame_refuse_missing(frame, &error), error);
    CHECK_FAILS(tacit_frame_fit(&none, frame, options, NULL, NULL, failed), TACIT_INPUT, place);
    CHECK_FAILS(tacit_model_predict(scores, ROOM(scores), NULL, 0, model, frame, 1, failed), TACIT_INPUT,
                place);
    assert_null(none);
    tacit_options_free(options);
    tacit_frame_free(frame);
}

static void a_missing_cell_is_refused_where_that_is_wished(void **state) {
    (void)state;
    static sample holes;
    static compressed entries;
    static double dense[ROWS][COLUMNS];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *whole = bounded_frame(&made);
    CHECK_OK(tacit_frame_refuse_missing(whole, &error), error);
    tacit_model *model = fit_seeded(whole); /* nothing is missing */
    holes = made;
    holes.value[41][2] = holes.value[50][0] = NAN;
    check_missing_is_refused(bounded_frame(&holes), model, "row 42, column x3: NaN");
    tacit_frame *lying = sample_frame(&holes); /* would be used where it lies */
    CHECK_OK(tacit_frame_set_norm(lying, 1, false, &error), error);
    check_missing_is_refused(lying, model, "row 42, column x3: NaN");
    compress(&entries, dense, false);
    for (int kept = 0; kept < 2; kept++) {
        tacit_frame *sparse = sparse_frame(&entries, TACIT_INDEX_INT32);
        entries.value[entries.start32[10]] = NAN; /* of columns 0 to 3 in row 11, the second is left out */
        CHECK_OK(kept ? tacit_frame_set_norm(sparse, 1, false, &error)
                      : tacit_frame_set_bounds(sparse, made.low, made.high, true, &error),
                 error);
        check_missing_is_refused(sparse, model, "row 11, column x1: NaN");
    }
    tacit_model_free(model);
    tacit_frame_free(whole);
}

/* A model of two columns of the example with gaps, the second of which says what becomes of them. */
static tacit_model *model_with_gaps(const char *rule) {
    char schema[] = "/tmp/tacit-frames-XXXXXX", path[512];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = NULL;
    int file = mkstemp(schema);
    assert_true(file >= 0);
    dprintf(file,
            "label: {name: death, classes: [\"no\", \"yes\"]}\ncolumns:\n"
            "  - {name: age, kind: number, low: 20, high: 90}\n"
            "  - {name: chol, kind: number, low: 0, high: 2000, missing: %s}\n",
            rule);
    close(file);
    tacit_options *reading = OPTIONS("schema", schema);
    snprintf(path, sizeof path, "%s/pbc.csv", getenv("TACIT_EXAMPLES"));
    CHECK_OK(tacit_frame_load(&frame, path, reading, NULL, &error), error);
    tacit_model *model = fit_seeded(frame);
    tacit_options_free(reading);
    tacit_frame_free(frame);
    unlink(schema);
    return model;
}

static void a_model_says_what_becomes_of_missing_cells_in_memory(void **state) {
    (void)state;
    static const double holes[2][2] = { { 50, NAN }, { 60, 400 } },
                        filled[2][2] = { { 50, 300 }, { 60, 400 } };
    static const char *const refused[][2] = { { "complete-case", "leaves such rows out" },
                                              { "error", "missing values are refused here" } };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *with = NULL, *without = NULL;
    double scores[2][4];
    CHECK_OK(tacit_frame_dense(&with, holes, TACIT_NUMBER_DOUBLE, 2, 2, 16, 8, &error), error);
    CHECK_OK(tacit_frame_dense(&without, filled, TACIT_NUMBER_DOUBLE, 2, 2, 16, 8, &error), error);
    tacit_model *model = model_with_gaps("{fill: 300}");
    CHECK_OK(tacit_model_predict(scores[0], 4, NULL, 0, model, with, 1, &error), error);
    CHECK_OK(tacit_model_predict(scores[1], 4, NULL, 0, model, without, 1, &error), error);
    assert_memory_equal(scores[0], scores[1], 2 * sizeof(double));
    tacit_model_free(model);
    for (size_t i = 0; i < 2; i++) {
        /* nothing may be missing where it is an error, so the file is read with another rule */
        model = model_with_gaps(i == 1 ? "{fill: 300}" : refused[i][0]);
        if (i == 1) CHECK_OK(tacit_frame_refuse_missing(with, &error), error);
        CHECK_FAILS(tacit_model_predict(scores[0], 4, NULL, 0, model, with, 1, failed), TACIT_INPUT,
                    refused[i][1]);
        tacit_model_free(model);
        tacit_frame_free(with);
        CHECK_OK(tacit_frame_dense(&with, holes, TACIT_NUMBER_DOUBLE, 2, 2, 16, 8, &error), error);
    }
    model = model_with_gaps("indicator"); /* one feature more, which a row without a gap does not have */
    CHECK_OK(tacit_model_predict(scores[0], 4, NULL, 0, model, with, 1, &error), error);
    CHECK_OK(tacit_model_predict(scores[1], 4, NULL, 0, model, without, 1, &error), error);
    assert_true(scores[0][1] != scores[1][1]);
    assert_true(scores[0][3] == scores[1][3]);
    tacit_model_free(model);
    tacit_frame_free(with);
    tacit_frame_free(without);
}

/* ---- used where they lie ---- */

/* That they are not copied is shown in test_memory.c. */
static void rows_inside_the_ball_are_used_where_they_lie(void **state) {
    (void)state;
    static sample inside;
    double wanted[COLUMNS + 1], out[COLUMNS + 1];
    inside = made;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++) inside.value[i][j] /= 7;
    coefficients_of(sample_frame(&inside), 1, false, out);
    coefficients_of(sample_frame(&inside), 1 + 1e-15, false, wanted);
    check_close(out, wanted);
}

static void longer_rows_are_shortened(void **state) {
    (void)state;
    static sample shorter;
    double wanted[COLUMNS + 1], out[COLUMNS + 1];
    shorter = made;
    for (size_t i = 0; i < ROWS; i++) {
        double norm = 0;
        for (size_t j = 0; j < COLUMNS; j++) norm += made.value[i][j] * made.value[i][j];
        norm = sqrt(norm);
        for (size_t j = 0; norm > 1 && j < COLUMNS; j++) shorter.value[i][j] /= norm;
    }
    coefficients_of(sample_frame(&made), 1, true, out);
    coefficients_of(sample_frame(&shorter), 1, true, wanted);
    check_close(out, wanted);
}

/* ---- what is said about them ---- */

static void wrong_words_are_refused(void **state) {
    (void)state;
    tacit_frame *frame = sample_frame(&made), *none = NULL;
    const int32_t three[ROWS] = { 0, 2 };
    const double low[COLUMNS] = { 0, 0, 5, 0 }, high[COLUMNS] = { 1, 1, 5, 1 };
    const char *const names[COLUMNS] = { "a", "b", "c", "a" };
    const char *const same[] = { "x", "x" };
    tacit_options *options = OPTIONS("method", "output", "epsilon", "1");
    tacit_model *model = NULL;
    CHECK_FAILS(tacit_frame_dense(&none, NULL, TACIT_NUMBER_DOUBLE, 1, 1, 8, 8, failed), TACIT_USAGE,
                "values");
    CHECK_FAILS(tacit_frame_dense(&none, low, TACIT_NUMBER_DOUBLE, 0, 1, 8, 8, failed), TACIT_USAGE, "rows");
    CHECK_FAILS(tacit_frame_fit(&model, frame, options, NULL, NULL, failed), TACIT_USAGE, "set bounds");
    CHECK_FAILS(tacit_frame_set_classes(frame, three, 2, NULL, failed), TACIT_INPUT, "row 2 has class 2");
    CHECK_FAILS(tacit_frame_set_classes(frame, three, 1, NULL, failed), TACIT_USAGE, "classes");
    CHECK_FAILS(tacit_frame_set_classes(frame, made.label, 2, same, failed), TACIT_USAGE, "two classes");
    CHECK_FAILS(tacit_frame_set_bounds(frame, low, high, true, failed), TACIT_USAGE, "column x3");
    CHECK_FAILS(tacit_frame_set_names(frame, names, failed), TACIT_USAGE, "'a'");
    CHECK_FAILS(tacit_frame_set_norm(frame, -1, true, failed), TACIT_USAGE, "norm");
    CHECK_FAILS(tacit_frame_set_response(frame, made.response, 1, 1, false, failed), TACIT_USAGE, "bounds");
    CHECK_FAILS(tacit_frame_set_parties(frame, made.label, 1, failed), TACIT_INPUT, "party 1");
    tacit_options_free(options);
    tacit_frame_free(frame);
}

/* ---- times ---- */

static void make_times(double *time, int32_t *event, double *entry) {
    for (size_t i = 0; i < ROWS; i++) {
        time[i] = floor(20 + 5 * made.value[i][0] + 30 * (double)(i * 7 % 10));
        event[i] = i % 3 != 0;
        entry[i] = (double)(i % 4);
    }
}

static char *cox_of(tacit_frame *frame) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_model *model = NULL;
    char *json = NULL;
    tacit_options *options =
        OPTIONS("method", "cox", "parties", "1", "seed", "1", "set", "width=1", "set", "least=1");
    CHECK_OK(tacit_frame_set_bounds(frame, made.low, made.high, true, &error), error);
    CHECK_OK(tacit_frame_simulate(&json, &model, frame, frame, NULL, NULL, options, NULL, &error), error);
    char *text = model_text(model);
    tacit_string_free(json);
    tacit_model_free(model);
    tacit_options_free(options);
    tacit_frame_free(frame);
    return text;
}

/* With entries of 0 the same as without; with others not. */
static void times_until_an_event_are_labels(void **state) {
    (void)state;
    static double time[ROWS], entry[ROWS], zero[ROWS];
    static int32_t event[ROWS];
    tacit_error error = TACIT_ERROR_INIT;
    make_times(time, event, entry);
    tacit_frame *frame = sample_frame(&made);
    CHECK_OK(tacit_frame_set_times(frame, time, event, NULL, 0, 400, &error), error);
    char *plain = cox_of(frame);
    assert_non_null(strstr(plain, "\"cox\""));
    frame = sample_frame(&made);
    CHECK_OK(tacit_frame_set_times(frame, time, event, entry, 0, 400, &error), error);
    char *late = cox_of(frame);
    assert_string_not_equal(plain, late);
    frame = sample_frame(&made);
    CHECK_FAILS(tacit_frame_set_times(frame, time, NULL, NULL, 0, 400, failed), TACIT_USAGE, "events");
    CHECK_FAILS(tacit_frame_set_times(frame, time, event, NULL, 400, 0, failed), TACIT_USAGE, "bounds");
    CHECK_FAILS(tacit_frame_set_times(frame, time, event, time, 0, 400, failed), TACIT_INPUT, "row 1");
    event[4] = 2;
    CHECK_FAILS(tacit_frame_set_times(frame, time, event, zero, 0, 400, failed), TACIT_INPUT,
                "row 5: the event is 2");
    tacit_string_free(plain);
    tacit_string_free(late);
    tacit_frame_free(frame);
}

static void sizes_are_told(void **state) {
    (void)state;
    tacit_frame *frame = sample_frame(&made);
    assert_int_equal(tacit_frame_rows(frame), ROWS);
    assert_int_equal(tacit_frame_columns(frame), COLUMNS);
    assert_null(tacit_frame_free(frame));
    assert_null(tacit_frame_free(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_gives_the_same_model),
        cmocka_unit_test(sparse_rows_are_dense_rows),
        cmocka_unit_test(sparse_rows_stay_sparse),
        cmocka_unit_test(a_slice_of_sparse_rows_is_a_frame),
        cmocka_unit_test(indexes_are_checked),
        cmocka_unit_test(an_infinite_cell_is_named),
        cmocka_unit_test(a_missing_cell_is_the_middle_and_one_outside_is_moved),
        cmocka_unit_test(a_missing_cell_is_refused_where_that_is_wished),
        cmocka_unit_test(a_model_says_what_becomes_of_missing_cells_in_memory),
        cmocka_unit_test(rows_inside_the_ball_are_used_where_they_lie),
        cmocka_unit_test(longer_rows_are_shortened),
        cmocka_unit_test(wrong_words_are_refused),
        cmocka_unit_test(times_until_an_event_are_labels),
        cmocka_unit_test(sizes_are_told),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
