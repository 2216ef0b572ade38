/* Honest fits by method estimate through real gates: what parties refuse of a liar's weights does not stand
 * in their way. */
#include "secure_bench.h"

#include <math.h>

#include "data/generate.h"
#include "method/methods.h"
#include "session/masked_parts.h"

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
    tacit_status status = self->plan.method->coordinate(&self->session, &outcome, error);
    tacit_outcome_clear(&outcome);
    bench_close(self);
    return status;
}

static tacit_status fit(table *rows, const char *family, const char *optimiser, tacit_error *error) {
    return fit_with(rows, family, optimiser, "none", error);
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

static tacit_status price_of_rounds(const tacit_plan *plan, tacit_prices *out, tacit_error *error) {
    (void)plan;
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
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
