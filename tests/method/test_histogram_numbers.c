/*
 * histogram on numbers and counts, and with robust losses: rows are counted in the cells of columns and label, one
 * replaced row moves two counts by 1; on rows that lie on the grid the model solves the equation of its loss, written
 * out here, and does so without a solver's tricks; with noise it says more than the mean, and nothing where there is
 * nothing to say.
 *
 * Chance: seeds are fixed.
 */
#include "check.h"

#include "lab/replay.h"
#include "method/tables/histogram_grid.h"
#include "parties.h"

enum { FEATURES = 2 };

typedef enum kind { SQUARES, POISSON, ROBUST_NUMBERS, ROBUST_COUNTS, HINGE } kind;

static bool is_count(kind what) { return what == POISSON || what == ROBUST_COUNTS; }

static tacit_schema *schema_of(const char *label) {
    char text[512];
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    int used = snprintf(text, sizeof text,
                        "label: %s\nintercept: no\ncolumns:\n  - {name: a, kind: number, low: -1, high: 1}\n"
                        "  - {name: b, kind: number, low: -1, high: 1}\n",
                        label);
    CHECK_OK(tacit_schema_parse(&schema, text, (size_t)used, "schema", &error), error);
    return schema;
}

static const char *label_of(kind what) {
    return what == HINGE    ? "{name: y, classes: ['0', '1']}"
           : is_count(what) ? "{name: y, kind: count, low: 0, high: 9}"
                            : "{name: y, kind: number, low: -20, high: 20}";
}

static void set(parties *self, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(&self->plan, name, value, &error), error);
}

/* `respond` makes a response of a row and a uniform draw. A feature within [-reach, reach] as the schema encodes it. */
static void make(parties *self, const tacit_schema *schema, size_t rows, size_t nodes,
                 double (*respond)(const double *x, double chance)) {
    tacit_dataset *data = ball(rows, FEATURES, 3);
    tacit_stream stream = tacit_stream_from_seed(4);
    if (respond != NULL) {
        data->response = TACIT_NEW(double, rows);
        data->response_columns = 1;
        assert_non_null(data->response);
        for (size_t i = 0; i < rows; i++)
            data->response[i] = respond(data->dense.values + i * FEATURES, tacit_stream_unit(&stream));
        free(data->label);
        data->label = NULL;
        tacit_levels_clear(&data->classes);
    }
    parties_make(self, data, nodes, NULL);
    self->plan.method = &tacit_method_histogram;
    self->plan.schema = schema;
    if (respond != NULL) self->plan.classes = 0;
}

static double a_number(const double *x, double chance) {
    return fmin(20, fmax(-20, 12 * x[0] - 9 * x[1] + 8 * (chance - 0.5)));
}

static double a_count(const double *x, double chance) {
    return fmin(9, floor(exp(1.5 * x[0] + 0.5) + chance));
}

static double anything(const double *x, double chance) {
    (void)x;
    return 40 * chance - 20;
}

/* ---- counts ---- */

static void published(parties *self, double **out, size_t *length) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream seed = tacit_stream_from_seed(1);
    CHECK_OK(tacit_pair_run(out, length, self->local, &self->plan, TACIT_STATISTIC_PUBLISHED, &seed, &error),
             error);
}

/* The encoded reach of a feature is that of two numbers, 1/sqrt(2). */
static size_t place(double x, size_t cells) {
    return (size_t)fmin(fmax(floor((x * sqrt(2) + 1) / 2 * (double)cells), 0), (double)cells - 1);
}

static void counts_are_those_of_columns_and_label(void **state) {
    (void)state;
    enum { ROWS = 90, CELLS = 3, LABELS = 5 };
    for (int counts = 0; counts < 2; counts++) {
        tacit_schema *schema = schema_of(label_of(counts ? POISSON : SQUARES));
        parties self;
        double *found = NULL, expected[CELLS * CELLS * LABELS] = { 0 };
        size_t length = 0;
        make(&self, schema, ROWS, 3, counts ? a_count : a_number);
        set(&self, "cells", "3");
        set(&self, "label_cells", "5");
        self.data->response[0] = counts ? 1e9 : -1e9; /* beyond the bounds: an outer cell */
        self.data->response[1] = NAN;
        for (size_t i = 0; i < ROWS; i++) {
            const double *x = self.data->dense.values + FEATURES * i, y = self.data->response[i];
            size_t label = counts ? (size_t)(y / 2) : (size_t)fmin((y + 20) / 8, 4); /* {0, 1}, {2, 3}, ... */
            if (i == 0) label = counts ? 4 : 0;
            if (i == 1) label = 0;
            expected[(place(x[0], CELLS) * CELLS + place(x[1], CELLS)) * LABELS + label]++;
        }
        published(&self, &found, &length);
        assert_int_equal(length, CELLS * CELLS * LABELS);
        for (size_t r = 0; r < length; r++) CHECK_NEAR(found[r], expected[r], 0);
        free(found);
        parties_end(&self);
        tacit_schema_free(schema);
    }
}

static tacit_status replace_row(void *context, size_t number, tacit_pair *out, tacit_error *error) {
    const parties *self = context;
    const size_t rows = self->data->rows;
    tacit_stream stream = tacit_stream_from_seed(number);
    out->plan = self->plan;
    out->plan.epsilon = 1;
    out->statistic = TACIT_STATISTIC_PUBLISHED;
    out->split = split_in_blocks(rows, 3);
    for (int side = 0; side < 2; side++) TACIT_TRY(tacit_pair_copy(&out->data[side], self->data, error));
    size_t row = tacit_stream_below(&stream, rows), other = tacit_stream_below(&stream, rows);
    if (number % 3 > 0) /* else the label alone is another */
        memcpy(out->data[1]->dense.values + FEATURES * row, self->data->dense.values + FEATURES * other,
               FEATURES * sizeof(double));
    if (number % 2 > 0) out->data[1]->response[row] = 60 * (tacit_stream_unit(&stream) - 0.5);
    return TACIT_OK;
}

/* Whatever row, label and loss; and all of what is declared by some. */
static void one_row_moves_two_counts(void **state) {
    (void)state;
    for (int robust = 0; robust < 2; robust++) {
        tacit_schema *schema = schema_of(label_of(SQUARES));
        tacit_error error = TACIT_ERROR_INIT;
        tacit_replay replay;
        parties self;
        make(&self, schema, 60, 3, a_number);
        set(&self, "cells", "4");
        set(&self, "loss", robust ? "huber" : "auto");
        CHECK_OK(tacit_replay_run(&replay, replace_row, &self, 200, 1, NULL, &error), error);
        CHECK_NEAR(replay.ratio, 1, 1e-12);
        parties_end(&self);
        tacit_schema_free(schema);
    }
}

/* ---- what is fitted ---- */

/* l' of the loss in the model's own units, and what weights are divided by for it. */
static double slope_of(kind what, double y, double t) {
    const double robust = (exp(t) - y) / 3, gap = 1.5 - (2 * y - 1) * t;
    switch (what) {
    case SQUARES: return t - y;
    case POISSON: return exp(t) - y;
    case ROBUST_NUMBERS: return 20 * fmin(fmax((t - y) / 20, -0.5), 0.5);
    case ROBUST_COUNTS: return fmin(fmax(robust, -1), 1);
    case HINGE: return -(2 * y - 1) * fmin(fmax(gap, 0), 1);
    }
    return NAN;
}

static double gradient_left(kind what, const parties *self, const double *w) {
    double gradient[FEATURES] = { 0 }, square = 0;
    const size_t rows = self->data->rows;
    for (size_t i = 0; i < rows; i++) {
        const double *x = self->data->dense.values + i * FEATURES;
        const double y = what == HINGE ? self->data->label[i] : self->data->response[i];
        const double slope = slope_of(what, y, w[0] * x[0] + w[1] * x[1]);
        for (size_t j = 0; j < FEATURES; j++) gradient[j] += slope * x[j] / (double)rows;
    }
    for (size_t j = 0; j < FEATURES; j++) square += pow(gradient[j] + self->plan.lambda * w[j], 2);
    return sqrt(square);
}

/* Move rows to the centers of their cells: then cells lose nothing. */
static void put_on_grid(parties *self, size_t cells, size_t labels, bool numbers) {
    for (size_t i = 0; i < self->data->rows; i++) {
        for (size_t j = 0; j < FEATURES; j++) {
            double *x = self->data->dense.values + i * FEATURES + j;
            *x = ((2 * (double)place(*x, cells) + 1) / (double)cells - 1) / sqrt(2) * (1 - 1e-9);
        }
        if (!numbers) continue;
        double *y = self->data->response + i;
        *y = -20 +
             40 * (floor(fmin((*y + 20) / 40 * (double)labels, (double)labels - 1)) + 0.5) / (double)labels;
    }
}

static void on_gridded_rows_the_model_is_that_of_the_rows(void **state) {
    (void)state;
    static const char *const families[] = { "linear", "poisson", "linear", "poisson", "huber" };
    static const double lambdas[] = { 0.1, 1e-5 };
    for (kind what = SQUARES; what <= HINGE; what++)
        for (int l = 0; l < 2; l++) {
            static const double nowhere[FEATURES] = { 0 };
            tacit_schema *schema = schema_of(label_of(what));
            parties self;
            make(&self, schema, 400, 4, what == HINGE ? NULL : is_count(what) ? a_count : a_number);
            self.plan.lambda = lambdas[l];
            set(&self, "cells", "8");
            set(&self, "label_cells", is_count(what) ? "10" : "16");
            if (what >= ROBUST_NUMBERS) set(&self, "loss", "huber");
            put_on_grid(&self, 8, 16, what != HINGE && !is_count(what));
            tacit_model *model = parties_run(&self, 1, NULL);
            assert_string_equal(model->family->name, families[what]);
            double left = gradient_left(what, &self, model->weights) / gradient_left(what, &self, nowhere);
            print_message("# %d, lambda %g: %.2g of the first gradient is left\n", what, lambdas[l], left);
            assert_true(left < 1e-6);
            tacit_model_free(model);
            parties_end(&self);
            tacit_schema_free(schema);
        }
}

/* Some rows far away move the fit of squares more than the robust one. */
static void robust_losses_heed_outliers_less(void **state) {
    (void)state;
    static const char text[] = "{name: y, kind: number, low: -1000, high: 1000}";
    double moved[2];
    for (int robust = 0; robust < 2; robust++) {
        double at[2][FEATURES];
        for (int outliers = 0; outliers < 2; outliers++) {
            tacit_schema *schema = schema_of(text);
            parties self;
            make(&self, schema, 1000, 2, a_number);
            self.plan.lambda = 1e-4;
            set(&self, "cells", "30");
            set(&self, "label_cells", "500");
            set(&self, "loss", robust ? "huber" : "auto");
            for (size_t i = 0; outliers && i < 40; i++) self.data->response[i] = 999;
            tacit_model *model = parties_run(&self, 1, NULL);
            memcpy(at[outliers], model->weights, sizeof at[outliers]);
            tacit_model_free(model);
            parties_end(&self);
            tacit_schema_free(schema);
        }
        moved[robust] = hypot(at[1][0] - at[0][0], at[1][1] - at[0][1]);
    }
    print_message("# moved by %.2f, and robustly by %.2f\n", moved[0], moved[1]);
    assert_true(moved[0] > 1.5 * moved[1]);
}

/* ---- with noise ---- */

static double spread_of(const tacit_view *rows) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < rows->rows.count; i++)
        mean += tacit_view_response(rows, i) / (double)rows->rows.count;
    for (size_t i = 0; i < rows->rows.count; i++) square += pow(tacit_view_response(rows, i) - mean, 2);
    return sqrt(square / (double)rows->rows.count);
}

/* The error at epsilon 1, over that of the mean. */
static double error_of(const char *label, const char *loss, double (*respond)(const double *, double)) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = schema_of(label);
    tacit_metrics metrics;
    parties self;
    make(&self, schema, 5000, 5, respond);
    self.plan.epsilon = 1;
    self.plan.lambda = 0.01;
    set(&self, "loss", loss);
    tacit_model *model = parties_run(&self, 4, NULL);
    tacit_view rows = tacit_dataset_view(self.data);
    CHECK_OK(tacit_model_evaluate(model, &rows, NULL, &metrics, &error), error);
    double ratio = metrics.rmse / spread_of(&rows);
    print_message("# epsilon 1, %s, loss=%s: %.3f of the error of the mean\n", model->family->name, loss,
                  ratio);
    tacit_model_free(model);
    parties_end(&self);
    tacit_schema_free(schema);
    return ratio;
}

static void with_noise_it_says_more_than_the_mean(void **state) {
    (void)state;
    static const char *const losses[] = { "auto", "huber" };
    for (int l = 0; l < 2; l++) {
        assert_true(error_of(label_of(SQUARES), losses[l], a_number) < 0.75);
        assert_true(error_of(label_of(POISSON), losses[l], a_count) < 0.95);
        assert_true(error_of(label_of(SQUARES), losses[l], anything) > 0.98); /* there is nothing to say */
    }
}

/* ---- the grid ---- */

static size_t cells_of(const char *label, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_noise_law law;
    tacit_schema *schema = schema_of(label);
    tacit_plan plan = { .method = &tacit_method_histogram,
                        .study = "test",
                        .epsilon = 1,
                        .lambda = 0.1,
                        .features = 2,
                        .parties = 10,
                        .minimum_parties = 1,
                        .minimum_rows = 100,
                        .schema = schema };
    if (name != NULL) CHECK_OK(tacit_plan_set(&plan, name, value, &error), error);
    CHECK_OK(tacit_plan_check(&plan, &error), error);
    CHECK_OK(tacit_plan_noise(&plan, &law, &error), error);
    tacit_schema_free(schema);
    return law.dimension;
}

static void the_grid_follows_public_numbers(void **state) {
    (void)state;
    static const char many[] = "{name: y, kind: count, low: 0, high: 500}";
    /* d = 3: h = (2 sqrt 2 sqrt(log 1000)/1000)^(2/5) = 0.141: 8 cells each */
    assert_int_equal(cells_of(label_of(SQUARES), NULL, NULL), 8 * 8 * 8);
    assert_int_equal(cells_of(many, NULL, NULL), 8 * 8 * 8);
    /* a count of three values is no third number: d = 2 and h = 0.0862 */
    assert_int_equal(cells_of("{name: y, kind: count, low: 2, high: 4}", NULL, NULL), 12 * 12 * 3);
    assert_int_equal(cells_of(label_of(SQUARES), "cells", "5"), 5 * 5 * 8);
    assert_int_equal(cells_of(label_of(SQUARES), "label_cells", "5"), 8 * 8 * 5);
    assert_int_equal(cells_of("{name: y, kind: count, low: 2, high: 4}", "label_cells", "99"), 12 * 12 * 3);
}

/* Every value of a count lies in the run whose mean is the center, whatever the number of runs. */
static void runs_of_counts_have_their_means_as_centers(void **state) {
    (void)state;
    for (size_t values = 1; values <= 40; values++)
        for (size_t labels = 1; labels <= values; labels++) {
            const histogram_grid grid = {
                .cells = 1, .labels = labels, .low = 3, .high = 2 + (double)values, .values = (double)values
            };
            double sums[40] = { 0 }, counts[40] = { 0 };
            for (size_t j = 0; j < values; j++) {
                size_t cell = histogram_label_cell(&grid, 3 + (double)j);
                assert_true(cell < labels);
                sums[cell] += 3 + (double)j;
                counts[cell]++;
            }
            for (size_t c = 0; c < labels; c++) {
                assert_true(counts[c] > 0);
                CHECK_NEAR(histogram_label_center(&grid, c), sums[c] / counts[c], 1e-12);
            }
        }
}

static void mistakes_are_told(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *times = schema_of("{name: [t, e], kind: time, low: 0, high: 9}"),
                 *three = schema_of("{name: y, classes: [a, b, c]}"), *numbers = schema_of(label_of(SQUARES));
    parties self;
    make(&self, times, 30, 3, a_number);
    assert_int_equal(tacit_plan_check(&self.plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "takes a label of kind class, number or count, and 't' is a time"));
    self.plan.schema = NULL;
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_plan_check(&self.plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "give a schema"));
    self.plan.schema = three;
    self.plan.classes = 3;
    CHECK_OK(tacit_plan_check(&self.plan, &error), error);
    set(&self, "loss", "huber");
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_plan_check(&self.plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "is for two classes, and the label has 3: choose loss=auto"));
    self.plan.schema = numbers;
    self.plan.classes = 0;
    CHECK_OK(tacit_plan_check(&self.plan, &error), error);
    set(&self, "label_cells", "1000000");
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_plan_check(&self.plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "have fewer cells, label_cells"));
    parties_end(&self);
    tacit_schema_free(times);
    tacit_schema_free(three);
    tacit_schema_free(numbers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_columns_and_label),
        cmocka_unit_test(one_row_moves_two_counts),
        cmocka_unit_test(on_gridded_rows_the_model_is_that_of_the_rows),
        cmocka_unit_test(robust_losses_heed_outliers_less),
        cmocka_unit_test(with_noise_it_says_more_than_the_mean),
        cmocka_unit_test(the_grid_follows_public_numbers),
        cmocka_unit_test(runs_of_counts_have_their_means_as_centers),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
