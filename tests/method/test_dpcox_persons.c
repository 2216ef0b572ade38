/*
 * dpcox with persons of several rows, (start, stop] each: whatever rows one person has, and however many, no
 * answer moves beyond what is declared, while rows that count one by one would; a row that is cut into pieces says
 * what it said whole; columns that change have the coefficients of cox; late comers are not at risk before; what
 * it needs to know of persons is asked for.
 *
 * Seeds are fixed, so the outcome is always the same.
 */
#include "check.h"

#include <math.h>
#include <string.h>

#include "method/time/dpcox.h"
#include "parties.h"

enum { COLUMNS = 3, WIDTH = COLUMNS + DPCOX_CLOCK, CELLS = 20, PERSONS = 40 };
enum { COUNTS = DPCOX_HEAD + 3 * CELLS, SCORES = WIDTH + WIDTH * (WIDTH + 1) / 2 };

#define COLUMNS_TEXT                                                                                         \
    "columns:\n"                                                                                             \
    "  - {name: age, kind: number, low: 0, high: 1}\n"                                                       \
    "  - {name: arm, kind: category, levels: [a, b, c]}\n"                                                   \
    "intercept: yes\n"

static const char since_text[] = "label: {name: [since, weeks, ill], kind: time, low: 0, high: 60}\n"
                                 "person: who\n" COLUMNS_TEXT;
static const char whole_text[] = "label: {name: [weeks, ill], kind: time, low: 0, high: 60}\n"
                                 "person: who\n" COLUMNS_TEXT;
static const char nobody_text[] =
    "label: {name: [since, weeks, ill], kind: time, low: 0, high: 60}\n" COLUMNS_TEXT;

static tacit_schema *schema_of(const char *text) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = NULL;
    CHECK_OK(tacit_schema_parse(&schema, text, strlen(text), "test", &error), error);
    return schema;
}

/* ---- rows ---- */

static void begin(tacit_buffer *out) {
    tacit_error error = TACIT_ERROR_INIT;
    *out = (tacit_buffer)TACIT_BUFFER_INIT;
    CHECK_OK(tacit_buffer_print(out, &error, "who,age,arm,since,weeks,ill\n"), error);
}

static void add_row(tacit_buffer *out, size_t who, double age, size_t arm, double since, double until,
                    bool ill) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_buffer_print(out, &error, "%zu,%.17g,%c,%.17g,%.17g,%d\n", who, age, "abc"[arm], since,
                                until, ill),
             error);
}

static void read_rows(parties *out, tacit_buffer *text, const tacit_schema *schema,
                      const tacit_method *method) {
    parties_read(out, text, schema, 1, method);
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(&out->plan, "width", "3", &error), error);
    if (method == &tacit_method_dpcox)
        CHECK_OK(tacit_plan_set(&out->plan, "noise", "coordinator", &error), error);
    out->plan.minimum_rows = 1;
    out->plan.epsilon = 1;
}

/* ---- sums ---- */

typedef struct question {
    double weights[WIDTH], hazard[CELLS], clock[CELLS];
} question;

static question draw_question(tacit_stream *stream, uint64_t kind) {
    static const double size[] = { 0, 2, 40, 1e9, 1e308 };
    question out;
    for (size_t j = 0; j < WIDTH; j++) out.weights[j] = (tacit_stream_unit(stream) - 0.5) * size[kind % 5];
    for (size_t c = 0; c < CELLS; c++) {
        out.hazard[c] = tacit_stream_unit(stream) * (kind % 2 == 0 ? 0.05 : 3);
        out.clock[c] = tacit_stream_unit(stream);
    }
    return out;
}

/* Of all rows at one party; with `rows` each row counts as a person, which it is not. */
static dpcox_design sums_of(parties *self, const question *at, bool rows, double *counts, double *scores) {
    tacit_error error = TACIT_ERROR_INIT;
    dpcox_design design;
    dpcox_baseline baseline = { at->hazard, at->clock };
    tacit_party party = { .plan = &self->plan,
                          .rows = tacit_dataset_view(self->data),
                          .total_rows = self->data->rows };
    CHECK_OK(dpcox_describe(&self->plan, &design, &error), error);
    assert_true(design.persons);
    assert_int_equal(design.scores.length, SCORES);
    CHECK_OK(dpcox_count(&party, &design, counts, &error), error);
    design.persons = !rows;
    CHECK_OK(dpcox_add_up(&party, &design, &baseline, at->weights, scores, &error), error);
    dpcox_clear(&design);
    return design;
}

static double distance(const double *a, const double *b, size_t count) {
    double square = 0;
    for (size_t j = 0; j < count; j++) square += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(square);
}

/* ---- sensitivity ---- */

/* Person 0 has one to twelve rows of any times, also such as overlap; the others have two each. */
static void draw_rows(parties *out, const tacit_schema *schema, tacit_stream *stream) {
    tacit_stream others = tacit_stream_from_seed(8);
    tacit_buffer text;
    begin(&text);
    size_t rows = 1 + tacit_stream_below(stream, 12);
    bool late = tacit_stream_below(stream, 4) == 0, early = tacit_stream_below(stream, 4) == 0;
    for (size_t k = 0; k < rows; k++) {
        double since = late ? 57.5 : 60 * tacit_stream_unit(stream) * (k > 0), until = 60;
        if (!late) until = since + (60 - since) * tacit_stream_unit(stream) * (early ? 0.04 : 1);
        add_row(&text, 0, (double)tacit_stream_below(stream, 2), tacit_stream_below(stream, 3), since, until,
                tacit_stream_below(stream, 3) == 0);
    }
    for (size_t i = 1; i < PERSONS; i++) {
        double age = tacit_stream_unit(&others), middle = 1 + 20 * tacit_stream_unit(&others);
        add_row(&text, i, age, 0, 0, middle, false);
        add_row(&text, i, age, 1, middle, 2 * middle, i % 2 == 0);
    }
    read_rows(out, &text, schema, &tacit_method_dpcox);
}

static void no_person_moves_an_answer_beyond_what_is_declared_whatever_its_rows(void **state) {
    enum { NEIGHBOURS = 400 };
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(29);
    tacit_schema *schema = schema_of(since_text);
    double most[2] = { 0 }, control = 0;
    for (uint64_t i = 0; i < NEIGHBOURS; i++) {
        double counts[2][COUNTS], scores[2][SCORES], apart[2][SCORES];
        question at = draw_question(&stream, i);
        dpcox_design design;
        for (int side = 0; side < 2; side++) {
            parties self;
            draw_rows(&self, schema, &stream);
            sums_of(&self, &at, true, counts[side], apart[side]);
            design = sums_of(&self, &at, false, counts[side], scores[side]);
            parties_end(&self);
            assert_true(counts[side][0] == 0 && counts[side][1] == (double)DPCOX_ROWS_WEIGHT * PERSONS);
        }
        const double declared = design.release[1].mechanism.sensitivity;
        most[0] =
            fmax(most[0], distance(counts[0], counts[1], COUNTS) / design.release[0].mechanism.sensitivity);
        most[1] = fmax(most[1], distance(scores[0], scores[1], SCORES) / declared);
        control = fmax(control, distance(apart[0], apart[1], SCORES) / declared);
    }
    print_message("# counts %.4f, scores %.4f of what is declared; scores of rows one by one %.2f\n", most[0],
                  most[1], control);
    assert_true(most[0] <= 1 && most[0] > 0.75); /* who comes late does not leave early: 1 is not reached */
    assert_true(most[1] <= 1 && most[1] > 0.9);
    assert_true(control > 2);
    tacit_schema_free(schema);
}

/* ---- what rows say ---- */

/* Everybody's time in one row, or cut into up to five pieces at any places, and in any order. */
static void cut_rows(parties *out, const tacit_schema *schema, bool cut) {
    tacit_stream stream = tacit_stream_from_seed(5);
    tacit_buffer text;
    begin(&text);
    for (size_t i = 0; i < PERSONS; i++) {
        double age = tacit_stream_unit(&stream), until = 60 * tacit_stream_unit(&stream), at = until;
        size_t arm = tacit_stream_below(&stream, 3), pieces = tacit_stream_below(&stream, 5);
        bool ill = tacit_stream_below(&stream, 2) > 0;
        for (size_t k = 0; k < pieces; k++) {
            double since = at * tacit_stream_unit(&stream);
            if (cut) add_row(&text, i, age, arm, since, at, ill && at == until);
            if (cut) at = since;
        }
        add_row(&text, i, age, arm, 0, at, ill && at == until);
    }
    read_rows(out, &text, schema, &tacit_method_dpcox);
}

static void a_row_that_is_cut_into_pieces_says_what_it_said_whole(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(4);
    tacit_schema *since = schema_of(since_text), *from_zero = schema_of(whole_text);
    parties pieces, whole, two;
    cut_rows(&pieces, since, true);
    cut_rows(&whole, since, false);
    cut_rows(&two, from_zero, false);
    assert_true(pieces.data->rows > whole.data->rows + PERSONS);
    for (uint64_t i = 0; i < 3; i++) {
        double counts[3][COUNTS], scores[3][SCORES];
        question at = draw_question(&stream, i);
        sums_of(&pieces, &at, false, counts[0], scores[0]);
        sums_of(&whole, &at, false, counts[1], scores[1]);
        sums_of(&two, &at, true, counts[2], scores[2]); /* one row each: without asking whose it is */
        CHECK_NEAR(distance(counts[0], counts[1], COUNTS), 0, 1e-9);
        CHECK_NEAR(distance(counts[1], counts[2], DPCOX_HEAD + 2 * CELLS), 0, 1e-9);
        CHECK_NEAR(distance(scores[0], scores[1], SCORES), 0, 1e-9);
        CHECK_NEAR(distance(scores[1], scores[2], SCORES), 0, 1e-9);
    }
    parties_end(&pieces);
    parties_end(&whole);
    parties_end(&two);
    tacit_schema_free(since);
    tacit_schema_free(from_zero);
}

/* ---- estimates ---- */

/* Hazards exp(1.2 age + .8 [arm b])/60, the arm of one in two changing on a boundary of cells; one in three comes
 * late. */
static void follow_people(parties *out, const tacit_schema *schema, const tacit_method *method) {
    enum { MANY = 3000 };
    tacit_stream stream = tacit_stream_from_seed(12);
    tacit_buffer text;
    begin(&text);
    for (size_t i = 0; i < MANY; i++) {
        double age = tacit_stream_unit(&stream), since = 0, seen = 10 + 50 * tacit_stream_unit(&stream);
        if (tacit_stream_below(&stream, 3) == 0) since = 3 * (double)tacit_stream_below(&stream, 3);
        for (double until; since < seen; since = until) {
            size_t arm = tacit_stream_below(&stream, 3);
            until = fmin(seen, since + 3 * (double)(1 + tacit_stream_below(&stream, 8)));
            double time = since - log(tacit_stream_unit(&stream)) * 60 / exp(1.2 * age + 0.8 * (arm == 1));
            add_row(&text, i, age, arm, since, fmin(time, until), time <= until);
            if (time <= until) break;
        }
    }
    read_rows(out, &text, schema, method);
}

static tacit_model *fit(const tacit_schema *schema, const tacit_method *method, double epsilon) {
    tacit_error error = TACIT_ERROR_INIT;
    parties self;
    follow_people(&self, schema, method);
    self.plan.epsilon = epsilon;
    if (method == &tacit_method_cox) CHECK_OK(tacit_plan_set(&self.plan, "least", "1", &error), error);
    tacit_model *model = parties_run(&self, 4, NULL);
    parties_end(&self);
    return model;
}

static double rise(const tacit_model *model, double until) {
    const tacit_baseline *baseline = model->estimates->baseline;
    double sum = 0;
    for (size_t k = 0; k < baseline->count && baseline->step[k].time <= until; k++)
        sum += baseline->step[k].hazard;
    return sum;
}

static void columns_that_change_have_the_coefficients_of_cox(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(since_text);
    tacit_model *exact = fit(schema, &tacit_method_cox, INFINITY),
                *same = fit(schema, &tacit_method_dpcox, INFINITY),
                *noisy = fit(schema, &tacit_method_dpcox, 8);
    CHECK_NEAR(same->estimates->rows, 3000, 0);
    for (size_t k = 0; k < COLUMNS; k++) {
        const tacit_coefficient *one = &same->estimates->coefficient[k],
                                *theirs = &exact->estimates->coefficient[k],
                                *drawn = &noisy->estimates->coefficient[k];
        print_message("# %s: %.4f (%.4f), cox %.4f (%.4f), with noise %.4f (%.4f)\n", one->name,
                      one->estimate, one->error, theirs->estimate, theirs->error, drawn->estimate,
                      drawn->error);
        assert_string_equal(one->name, theirs->name);
        assert_true(fabs(one->estimate - theirs->estimate) < 0.25 * theirs->error);
        assert_true(fabs(one->error / theirs->error - 1) < 0.1);
        assert_true(fabs(drawn->estimate - theirs->estimate) < 4 * drawn->error);
    }
    print_message("# baseline until 45: %.4f, cox %.4f\n", rise(same, 45), rise(exact, 45));
    assert_true(fabs(rise(same, 45) / rise(exact, 45) - 1) < 0.05);
    tacit_model_free(exact);
    tacit_model_free(same);
    tacit_model_free(noisy);
    tacit_schema_free(schema);
}

/* ---- refusals ---- */

static void it_must_know_whose_rows_are_whose_and_have_enough_persons(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(2);
    tacit_schema *schema = schema_of(since_text), *nobody = schema_of(nobody_text);
    question at = draw_question(&stream, 1);
    double counts[COUNTS], scores[SCORES];
    parties self;
    cut_rows(&self, schema, true);
    dpcox_design design = sums_of(&self, &at, false, counts, scores);
    CHECK_OK(dpcox_describe(&self.plan, &design, &error), error);
    tacit_party party = { .plan = &self.plan,
                          .rows = tacit_dataset_view(self.data),
                          .total_rows = self.data->rows };
    self.plan.minimum_rows = PERSONS;
    CHECK_OK(dpcox_count(&party, &design, counts, &error), error);
    self.plan.minimum_rows = PERSONS + 1; /* there are more rows */
    assert_int_equal(dpcox_count(&party, &design, counts, &error), TACIT_REFUSED);
    self.plan.minimum_rows = 1;
    party.rows.persons = false;
    assert_int_equal(dpcox_count(&party, &design, counts, &error), TACIT_INPUT);
    dpcox_clear(&design);
    self.plan.schema = nobody;
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_plan_check(&self.plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "(person: COLUMN)"));
    parties_end(&self);
    tacit_schema_free(schema);
    tacit_schema_free(nobody);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_person_moves_an_answer_beyond_what_is_declared_whatever_its_rows),
        cmocka_unit_test(a_row_that_is_cut_into_pieces_says_what_it_said_whole),
        cmocka_unit_test(columns_that_change_have_the_coefficients_of_cox),
        cmocka_unit_test(it_must_know_whose_rows_are_whose_and_have_enough_persons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
