/* Honest fits by method estimate through real gates: what parties refuse of a liar's weights does not stand
 * in their way. */
#include "secure_bench.h"

#include <math.h>

#include "data/generate.h"
#include "method/methods.h"
#include "session/masked/masked_parts.h"
#include "session/run.h"

enum { GROUP = 5, FEATURES = 4 };

/* ---- parties with one table between them ---- */

typedef struct table {
    tacit_dataset *data;
    uint32_t *index;
    tacit_schema *schema;
} table;

static void make_table(table *out, tacit_response response, size_t rows, const char *label) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(7);
    char text[200];
    if (response == TACIT_RESPONSE_CLASS)
        CHECK_OK(tacit_generate_logistic(&out->data, GROUP * rows, FEATURES, NULL, &stream, &error), error);
    else
        CHECK_OK(tacit_generate_response(&out->data, GROUP * rows, FEATURES, response, NULL, &stream, &error),
                 error);
    out->index = calloc(GROUP * rows, sizeof *out->index);
    assert_non_null(out->index);
    for (size_t i = 0; i < GROUP * rows; i++) out->index[i] = (uint32_t)i;
    snprintf(text, sizeof text, "label: {name: y, %s}\nsparse: %d\nintercept: no\nrows: {clip: 1}\n", label,
             FEATURES);
    CHECK_OK(tacit_schema_parse(&out->schema, text, strlen(text), "test", &error), error);
}

/* Classes that a direction tells apart, except for `wrong` rows in each hundred. */
static void sharpen(table *self, size_t wrong) {
    for (size_t i = 0; i < self->data->rows; i++) {
        const double *x = self->data->dense.values + i * FEATURES;
        self->data->label[i] = (x[0] + x[1] > 0) != (i % 100 < wrong);
    }
}

static bench *study_with(table *rows, const char *family, const char *optimiser) {
    bench *self = bench_of(TACIT_SUMS_MASKED, GROUP, 3);
    tacit_error error = TACIT_ERROR_INIT;
    const size_t each = rows->data->rows / GROUP;
    self->plan.method = &tacit_method_estimate;
    self->plan.epsilon = INFINITY;
    self->plan.features = FEATURES;
    self->plan.classes = rows->data->classes.count;
    self->plan.schema = rows->schema;
    CHECK_OK(tacit_plan_set(&self->plan, "family", family, &error), error);
    CHECK_OK(tacit_plan_set(&self->plan, "optimiser", optimiser, &error), error);
    for (size_t k = 0; k < GROUP; k++) {
        self->sites[k].party.rows = tacit_dataset_subset(rows->data, rows->index + k * each, each);
        self->sites[k].party.total_rows = each;
        self->sites[k].policy.allow_exact = true;
    }
    return self;
}

static void clear_table(table *self) {
    tacit_dataset_free(self->data);
    tacit_schema_free(self->schema);
    free(self->index);
}

/* ---- the coordinator's half over their gates ---- */

static tacit_status ask_sum(void *context, const tacit_question *question, uint64_t *total, size_t *parties,
                            tacit_error *error) {
    bench *self = context;
    tacit_question asked = *question;
    memcpy(asked.answer_id, &question->round, sizeof question->round);
    for (size_t k = 0; k < self->parties; k++)
        TACIT_TRY(tacit_party_contribute(&self->sites[k].party, &asked, total, error));
    *parties = self->parties;
    return TACIT_OK;
}

static tacit_status fit_with(table *rows, const char *family, const char *optimiser, const char *bias,
                             tacit_error *error) {
    bench *self = study_with(rows, family, optimiser);
    CHECK_OK(tacit_plan_set(&self->plan, "bias", bias, error), *error);
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    self->session =
        (tacit_session){ .plan = &self->plan, .transport = { .ask_sum = ask_sum, .context = self } };
    tacit_status status = tacit_run_coordinate(&self->session, &outcome, error);
    tacit_outcome_clear(&outcome);
    bench_close(self);
    return status;
}

static tacit_status fit(table *rows, const char *family, const char *optimiser, tacit_error *error) {
    return fit_with(rows, family, optimiser, "none", error);
}

/* Three classes that follow from a column, with chance in between; the last feature is the intercept. */
static void make_classes(table *out) {
    tacit_error error = TACIT_ERROR_INIT;
    const char text[] = "label: {name: y, classes: [a, b, c]}\ncolumns:\n"
                        "  - {name: u, kind: number, low: -1, high: 1}\n"
                        "  - {name: v, kind: number, low: -1, high: 1}\n"
                        "  - {name: w, kind: number, low: -1, high: 1}\n";
    make_table(out, TACIT_RESPONSE_CLASS, 100, "classes: [a, b]");
    tacit_schema_free(out->schema);
    CHECK_OK(tacit_schema_parse(&out->schema, text, strlen(text), "test", &error), error);
    tacit_levels_clear(&out->data->classes);
    for (int32_t k = 0, code; k < 3; k++)
        CHECK_OK(
            tacit_levels_add(&out->data->classes, (const char *[]){ "a", "b", "c" }[k], 1, &code, &error),
            error);
    for (size_t i = 0; i < out->data->rows; i++) {
        double *x = out->data->dense.values + i * FEATURES;
        x[FEATURES - 1] = 0.5;
        out->data->label[i] = (int32_t)(((x[0] > 0) + i) % 3);
    }
}

/* ---- the last look at an optimum ---- */

/* Tells parties a larger inverse than the Hessian has. */
static tacit_status ask_with_a_lie(void *context, const tacit_question *question, uint64_t *total,
                                   size_t *parties, tacit_error *error) {
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_question asked = *question;
    tacit_status status = TACIT_OK;
    if (strcmp(question->name, "reach") != 0) return ask_sum(context, question, total, parties, error);
    static const struct {
        const char *name;
        size_t count;
    } field[] = { { "rows", 1 },
                  { "weights", FEATURES },
                  { "response", 3 },
                  { "inverse", FEATURES * (FEATURES + 1) / 2 },
                  { "dispersion", 1 } };
    for (size_t k = 0; k < sizeof field / sizeof *field && status == TACIT_OK; k++) {
        const double *values;
        double changed[FEATURES * (FEATURES + 1) / 2];
        status = tacit_message_numbers(question->message, field[k].name, field[k].count, &values, error);
        for (size_t j = 0; status == TACIT_OK && j < field[k].count; j++)
            changed[j] = strcmp(field[k].name, "inverse") == 0 ? 20 * values[j] : values[j];
        if (status == TACIT_OK)
            status = tacit_message_add_numbers(&message, field[k].name, changed, field[k].count, error);
    }
    asked.message = &message;
    if (status == TACIT_OK) status = ask_sum(context, &asked, total, parties, error);
    tacit_message_clear(&message);
    return status;
}

static tacit_status look(table *rows, const char *family, const char *errors, const char *influence,
                         bool lies, tacit_influence *out, tacit_error *error) {
    bench *self = study_with(rows, family, "newton");
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    CHECK_OK(tacit_plan_set(&self->plan, "errors", errors, error), *error);
    CHECK_OK(tacit_plan_set(&self->plan, "influence", influence, error), *error);
    self->session =
        (tacit_session){ .plan = &self->plan,
                         .transport = { .ask_sum = lies ? ask_with_a_lie : ask_sum, .context = self } };
    tacit_status status = tacit_run_coordinate(&self->session, &outcome, error);
    if (status == TACIT_OK) *out = outcome.models[0]->estimates->influence;
    tacit_outcome_clear(&outcome);
    bench_close(self);
    return status;
}

static void test_honest_robust_errors_and_summaries_of_influence_are_answered(void **state) {
    (void)state;
    table rows = { .data = NULL };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_influence influence;
    make_table(&rows, TACIT_RESPONSE_CLASS, 100, "classes: [a, b]");
    sharpen(&rows, 30);
    for (int kind = 0; kind < 4; kind++) {
        const char *errors[] = { "HC0", "HC1", "HC2", "HC3" };
        CHECK_OK(look(&rows, "logistic", errors[kind], "yes", false, &influence, &error), error);
    }
    assert_true(influence.known && influence.pearson > 0);
    CHECK_NEAR(influence.leverage, FEATURES, 1e-9);
    clear_table(&rows);
    make_table(&rows, TACIT_RESPONSE_NUMBER, 100, "kind: number, low: -4, high: 4");
    CHECK_OK(look(&rows, "linear", "HC3", "yes", false, &influence, &error), error);
    CHECK_NEAR(influence.leverage, FEATURES, 1e-9);
    clear_table(&rows);
}

/* With twenty times the inverse leverages add up to more than there are weights. */
static void test_an_inverse_that_no_hessian_has_is_refused(void **state) {
    (void)state;
    table rows = { .data = NULL };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_influence influence;
    make_table(&rows, TACIT_RESPONSE_CLASS, 100, "classes: [a, b]");
    assert_int_equal(look(&rows, "logistic", "HC3", "no", true, &influence, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "no Hessian"));
    CHECK_OK(look(&rows, "logistic", "HC3", "no", false, &influence, &error), error);
    clear_table(&rows);
}

/* One row far off: the sum of squared gradients is that row's, and so is the sum of squared residuals. */
static void test_a_sum_of_squares_that_is_one_row_s_does_not_leave(void **state) {
    (void)state;
    table rows = { .data = NULL };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_influence influence;
    make_table(&rows, TACIT_RESPONSE_NUMBER, 100, "kind: number, low: -4, high: 4");
    for (size_t i = 0; i < rows.data->rows; i++) rows.data->response[i] *= 0.2;
    rows.data->response[7] = 4;
    assert_int_equal(look(&rows, "linear", "HC0", "no", false, &influence, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "squared gradients"));
    CHECK_OK(look(&rows, "linear", "model", "yes", false, &influence, &error), error);
    assert_true(influence.known && isnan(influence.pearson) && isnan(influence.leverage));
    assert_true(influence.cook_held >= 1);
    clear_table(&rows);
}

/* ---- intercepts of each party's own ---- */

typedef enum apart_lie {
    HONEST,
    NOT_SAID,
    OUT_OF_RANGE,
    STEEP,
    OTHER_INTERCEPT,
    UNASKED,
    FROM_THE_START
} apart_lie;

typedef struct teller {
    bench *bench;
    apart_lie lie;
} teller;

/* The coordinator's question about sums, with one thing changed. */
static tacit_status ask_apart(void *context, const tacit_question *question, uint64_t *total, size_t *parties,
                              tacit_error *error) {
    const teller *self = context;
    const apart_lie lie = self->lie;
    const double *rows, *weights, *response;
    const int64_t *matrix, *apart = NULL;
    double changed[FEATURES];
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_question asked = *question;
    tacit_status status;
    if (lie == HONEST || strcmp(question->name, "sums") != 0)
        return ask_sum(self->bench, question, total, parties, error);
    TACIT_CHECK(tacit_message_numbers(question->message, "rows", 1, &rows, error));
    TACIT_CHECK(tacit_message_integers(question->message, "matrix", 1, &matrix, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "weights", FEATURES, &weights, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "response", 3, &response, error));
    if (lie != UNASKED) TACIT_CHECK(tacit_message_integers(question->message, "apart", 1, &apart, error));
    int64_t said = lie == UNASKED || lie == FROM_THE_START ? 1 : lie == OUT_OF_RANGE ? 7 : *apart;
    memcpy(changed, weights, sizeof changed);
    if (said == 1 && lie == STEEP)
        for (size_t j = 0; j < 2; j++) changed[j] = 60;
    if (said == 1 && lie == OTHER_INTERCEPT) changed[FEATURES - 1] += 40;
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", rows, 1, error));
    TACIT_CHECK(tacit_message_add_integers(&message, "matrix", matrix, 1, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", changed, FEATURES, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "response", response, 3, error));
    if (lie != NOT_SAID) TACIT_CHECK(tacit_message_add_integers(&message, "apart", &said, 1, error));
    asked.message = &message;
    status = ask_sum(self->bench, &asked, total, parties, error);
cleanup:
    tacit_message_clear(&message);
    return status;
}

static tacit_status fit_apart(table *rows, const char *intercepts, apart_lie lie, double weights[FEATURES],
                              tacit_error *error) {
    bench *self = study_with(rows, "logistic", "newton");
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    teller context = { self, lie };
    CHECK_OK(tacit_plan_set(&self->plan, "intercepts", intercepts, error), *error);
    for (size_t k = 0; k < GROUP; k++) self->sites[k].policy.minimum_rows = 20;
    self->session =
        (tacit_session){ .plan = &self->plan, .transport = { .ask_sum = ask_apart, .context = &context } };
    tacit_status status = tacit_run_coordinate(&self->session, &outcome, error);
    if (status == TACIT_OK) memcpy(weights, outcome.models[0]->weights, FEATURES * sizeof *weights);
    tacit_outcome_clear(&outcome);
    bench_close(self);
    return status;
}

static void make_sites(table *out) {
    tacit_error error = TACIT_ERROR_INIT;
    const char text[] = "label: {name: y, classes: [a, b]}\ncolumns:\n"
                        "  - {name: u, kind: number, low: -1, high: 1}\n"
                        "  - {name: v, kind: number, low: -1, high: 1}\n"
                        "  - {name: w, kind: number, low: -1, high: 1}\n";
    make_table(out, TACIT_RESPONSE_CLASS, 100, "classes: [a, b]");
    sharpen(out, 30);
    tacit_schema_free(out->schema);
    CHECK_OK(tacit_schema_parse(&out->schema, text, strlen(text), "test", &error), error);
    for (size_t i = 0; i < out->data->rows; i++) out->data->dense.values[i * FEATURES + FEATURES - 1] = 0.5;
}

/* Whatever a coordinator says of intercepts, a party looks at what its own intercept makes of its rows, and
 * the one that the coordinator sends counts for nothing. */
static void test_a_lie_about_intercepts_gets_nothing_more(void **state) {
    (void)state;
    table rows = { .data = NULL };
    tacit_error error = TACIT_ERROR_INIT;
    double honest[FEATURES], other[FEATURES];
    make_sites(&rows);
    CHECK_OK(fit_apart(&rows, "party", HONEST, honest, &error), error);
    assert_int_equal(fit_apart(&rows, "party", NOT_SAID, other, &error), TACIT_PROTOCOL);
    assert_int_equal(fit_apart(&rows, "party", OUT_OF_RANGE, other, &error), TACIT_PROTOCOL);
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(fit_apart(&rows, "party", STEEP, other, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "rows make up almost all of this party's"));
    error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(fit_apart(&rows, "party", OTHER_INTERCEPT, other, &error), error);
    assert_memory_equal(other, honest, (FEATURES - 1) * sizeof *other);
    CHECK_OK(fit_apart(&rows, "party", FROM_THE_START, other, &error), error);
    for (size_t j = 0; j + 1 < FEATURES; j++) CHECK_NEAR(other[j], honest[j], 1e-6);
    CHECK_OK(fit_apart(&rows, "common", HONEST, honest, &error), error);
    CHECK_OK(fit_apart(&rows, "common", UNASKED, other, &error), error);
    assert_memory_equal(other, honest, sizeof other);
    clear_table(&rows);
}

/* ---- one choice of numbers ---- */

typedef struct shelf {
    uint8_t bytes[256];
    size_t length;
} shelf;

static tacit_status take(void *context, const char *name, bool *found, tacit_buffer *out,
                         tacit_error *error) {
    const shelf *self = context;
    assert_string_equal(name, "last-look");
    *found = self->length > 0;
    return tacit_buffer_append(out, self->bytes, self->length, error);
}

static tacit_status put(void *context, const char *name, const uint8_t *bytes, size_t length,
                        tacit_error *error) {
    shelf *self = context;
    assert_string_equal(name, "last-look");
    (void)error;
    assert_true(length <= sizeof self->bytes);
    memcpy(self->bytes, bytes, length);
    self->length = length;
    return TACIT_OK;
}

/* Again after a restart, but never at other numbers in the same version of a study. */
static void test_a_party_is_asked_at_one_choice_of_numbers(void **state) {
    (void)state;
    shelf kept = { .length = 0 };
    const tacit_keep keep = { take, put, &kept };
    tacit_party party = { .keep = &keep, .study_hash = { 1 } };
    double w[] = { 1, 2, 3 }, inverse[] = { 4, 5 };
    const double *const values[] = { w, inverse, NULL };
    const size_t counts[] = { 3, 2 };
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_party_asked_once(&party, "last-look", values, counts, &error), error);
    CHECK_OK(tacit_party_asked_once(&party, "last-look", values, counts, &error), error);
    inverse[1] += 1e-12;
    assert_int_equal(tacit_party_asked_once(&party, "last-look", values, counts, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "asks again at other numbers"));
    party.study_hash[0] = 2; /* the owner has consented to another version */
    CHECK_OK(tacit_party_asked_once(&party, "last-look", values, counts, &error), error);
    inverse[0] = 0;
    assert_int_equal(tacit_party_asked_once(&party, "last-look", values, counts, &error), TACIT_REFUSED);
    party.keep = NULL; /* a simulation */
    CHECK_OK(tacit_party_asked_once(&party, "last-look", values, counts, &error), error);
}

static void fits(table *rows, const char *family) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(fit(rows, family, "newton", &error), error);
    CHECK_OK(fit(rows, family, "lbfgs", &error), error);
}

static void test_honest_fits_of_every_family_are_answered(void **state) {
    (void)state;
    table rows = { .data = NULL };
    tacit_error error = TACIT_ERROR_INIT;
    make_table(&rows, TACIT_RESPONSE_CLASS, 100, "classes: [a, b]");
    fits(&rows, "logistic");
    CHECK_OK(fit_with(&rows, "logistic", "newton", "firth", &error), error);
    fits(&rows, "huber");
    clear_table(&rows);
    make_classes(&rows);
    fits(&rows, "multinomial");
    fits(&rows, "ordinal");
    clear_table(&rows);
    make_table(&rows, TACIT_RESPONSE_COUNT, 400, "kind: count, low: 0, high: 200");
    fits(&rows, "poisson");
    CHECK_OK(fit_with(&rows, "poisson", "newton", "firth", &error), error);
    clear_table(&rows);
    make_table(&rows, TACIT_RESPONSE_NUMBER, 100, "kind: number, low: -4, high: 4");
    fits(&rows, "linear");
    clear_table(&rows);
}

/* Ten wrong in a hundred are enough to rest on; with none there is no estimate, and the sentence says what to
 * do. */
static void test_classes_almost_told_apart_are_fitted_or_refused_with_a_sentence(void **state) {
    (void)state;
    table rows = { .data = NULL };
    tacit_error error = TACIT_ERROR_INIT;
    make_table(&rows, TACIT_RESPONSE_CLASS, 100, "classes: [a, b]");
    sharpen(&rows, 10);
    fits(&rows, "logistic");
    sharpen(&rows, 0);
    assert_int_equal(fit(&rows, "logistic", "newton", &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "nearly tell the classes apart"));
    assert_non_null(strstr(error.text, "bias: firth"));
    assert_non_null(strstr(error.text, "lambda above 0"));
    clear_table(&rows);
}

static tacit_release_kind kind_of_noise(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_CHARGED;
}

/* What a coordinator is to add the noise to has none yet, whatever its price. */
static void test_sums_are_exact_where_no_party_adds_noise(void **state) {
    (void)state;
    tacit_method noised = method;
    tacit_plan plan = { .method = &method, .epsilon = 1, .sums = TACIT_SUMS_MASKED };
    noised.release_kind = kind_of_noise;
    assert_true(tacit_plan_is_exact(&plan) && tacit_plan_holds_set(&plan));
    plan.method = &noised;
    assert_false(tacit_plan_is_exact(&plan) || tacit_plan_holds_set(&plan));
    plan.epsilon = INFINITY;
    assert_true(tacit_plan_is_exact(&plan) && tacit_plan_holds_set(&plan));
    plan.sums = TACIT_SUMS_CLEAR; /* each is seen anyway */
    assert_true(tacit_plan_is_exact(&plan) && !tacit_plan_holds_set(&plan));
}

enum { PAID = 10 };

static tacit_status price_of_rounds(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                                    tacit_error *error) {
    (void)plan;
    (void)prepared;
    (void)error;
    out->charged = out->claimed = (tacit_price){ TACIT_UNIT_RECORD, 1, 0 };
    out->event = tacit_event_pure(0.1, PAID);
    return TACIT_OK;
}

static bool starts(const tacit_method *of, uint64_t last, uint64_t round) {
    tacit_plan plan = { .method = of, .epsilon = 1, .sums = TACIT_SUMS_MASKED };
    tacit_masks masks = { .plan = &plan };
    tacit_question question = { .round = round };
    const stepping self = { .masks = &masks, .question = &question };
    return masked_check_next(&self, &last, NULL) == TACIT_OK;
}

/* Never one that is over; with noise a later one, as long as the price pays for it; else the next. */
static void test_a_sum_is_of_the_next_round_or_where_it_carries_noise_of_a_later_one(void **state) {
    (void)state;
    tacit_method noised = method;
    noised.release_kind = kind_of_noise;
    noised.price = price_of_rounds;
    assert_true(starts(&noised, 5, 6) && starts(&noised, 5, 8) && starts(&noised, 5, PAID));
    assert_false(starts(&noised, 5, 5) || starts(&noised, 5, 0) || starts(&noised, 5, PAID + 1));
    assert_true(starts(&method, 5, 6));
    assert_false(starts(&method, 5, 7) || starts(&method, 5, 5));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_exact_where_no_party_adds_noise),
        cmocka_unit_test(test_a_sum_is_of_the_next_round_or_where_it_carries_noise_of_a_later_one),
        cmocka_unit_test(test_honest_fits_of_every_family_are_answered),
        cmocka_unit_test(test_classes_almost_told_apart_are_fitted_or_refused_with_a_sentence),
        cmocka_unit_test(test_honest_robust_errors_and_summaries_of_influence_are_answered),
        cmocka_unit_test(test_an_inverse_that_no_hessian_has_is_refused),
        cmocka_unit_test(test_a_lie_about_intercepts_gets_nothing_more),
        cmocka_unit_test(test_a_party_is_asked_at_one_choice_of_numbers),
        cmocka_unit_test(test_a_sum_of_squares_that_is_one_row_s_does_not_leave),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
