/* A model of one owner's rows: charged once, whatever fails on the way. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "failing.h"
#include "folder.h"
#include "method/methods.h"
#include "site/fit.h"

typedef struct owner {
    folder place;
    char data[96], schema[96];
    tacit_plan plan;
} owner;

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static owner owner_make(double limit) {
    tacit_error error = TACIT_ERROR_INIT;
    owner self = { .place = folder_make(),
                   .plan = { .method = &tacit_method_plr, .epsilon = 0.5, .delta = 1e-6, .lambda = 0.1 } };
    char ledger_path[96], rows[1024] = "age,dose,sick\n";
    snprintf(self.data, sizeof self.data, "%s/rows.csv", self.place.path);
    snprintf(self.schema, sizeof self.schema, "%s/schema.yaml", self.place.path);
    snprintf(ledger_path, sizeof ledger_path, "%s/ledger.db", self.place.path);
    for (int i = 0; i < 30; i++) {
        char row[32];
        snprintf(row, sizeof row, "0.%d,0.%d,%s\n", i % 10, (i * 7) % 10, i % 10 > 4 ? "yes" : "no");
        strcat(rows, row);
    }
    write_text(self.data, rows);
    write_text(self.schema, "label: {name: sick, classes: [\"no\", \"yes\"]}\n"
                            "columns:\n"
                            "  - {name: age, kind: number, low: 0, high: 1}\n"
                            "  - {name: dose, kind: number, low: 0, high: 1}\n");
    if (limit > 0) {
        tacit_ledger *ledger = NULL;
        tacit_price price = { TACIT_UNIT_RECORD, limit, 1e-5 };
        CHECK_OK(tacit_ledger_open(&ledger, ledger_path, "rows", TACIT_LEDGER_CREATE, &error), error);
        CHECK_OK(tacit_ledger_set_limit(ledger, NULL, &price, &error), error);
        tacit_ledger_free(ledger);
    }
    return self;
}

static tacit_status fit(const owner *self, tacit_fit_result *out, tacit_error *error) {
    tacit_fit_settings settings = { .home = self->place.path,
                                    .data = self->data,
                                    .schema = self->schema,
                                    .source = "rows",
                                    .plan = &self->plan };
    return tacit_fit(out, &settings, error);
}

static void each_method_is_charged_and_says_what_it_guarantees(void **state) {
    (void)state;
    owner self = owner_make(2);
    double before = 0;
    const tacit_method *methods[] = { &tacit_method_output, &tacit_method_plr, &tacit_method_gop };
    for (size_t m = 0; m < 3; m++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_fit_result result = TACIT_FIT_RESULT_INIT;
        self.plan.method = methods[m];
        CHECK_OK(fit(&self, &result, &error), error);
        const tacit_guarantee *guarantee = &result.model->guarantee;
        assert_true(guarantee->is_private && guarantee->noise == TACIT_NOISE_EXACT && !result.again);
        assert_string_equal(guarantee->method, methods[m]->name);
        CHECK_NEAR(guarantee->charged.epsilon, 0.5, 0);
        CHECK_NEAR(guarantee->charged.delta, m == 2 ? 1e-6 : 0, 0);
        assert_true(result.account.sum_epsilon > before &&
                    result.account.sum_epsilon <= 0.5 * (double)(m + 1));
        before = result.account.sum_epsilon;
        assert_non_null(result.model->schema);
        assert_int_equal(result.rows, 30);
        tacit_fit_result_clear(&result);
    }
    folder_remove(&self.place);
}

static void the_same_request_gives_the_same_model_and_another_a_new_charge(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    owner self = owner_make(1);
    tacit_fit_result first = TACIT_FIT_RESULT_INIT, again = TACIT_FIT_RESULT_INIT,
                     other = TACIT_FIT_RESULT_INIT;
    CHECK_OK(fit(&self, &first, &error), error);
    CHECK_OK(fit(&self, &again, &error), error);
    assert_true(again.again && again.account.sum_epsilon == 0.5);
    assert_memory_equal(first.model->weights, again.model->weights,
                        tacit_model_size(first.model) * sizeof(double));
    self.plan.lambda = 0.2;
    CHECK_OK(fit(&self, &other, &error), error);
    assert_true(!other.again && other.account.sum_epsilon == 1);
    tacit_fit_result_clear(&other);
    self.plan.lambda = 0.3; /* nothing is left */
    assert_int_equal(fit(&self, &other, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "raise the limit"));
    self.plan.lambda = 0.1; /* what was paid for is still there */
    tacit_fit_result_clear(&again);
    CHECK_OK(fit(&self, &again, &error), error);
    tacit_fit_result_clear(&first);
    tacit_fit_result_clear(&again);
    folder_remove(&self.place);
}

/* dpsgd begins at random weights, and every later question is about weights that follow from them. */
static void a_method_of_many_rounds_run_twice_is_one_release_or_pays_for_two(void **state) {
    (void)state;
    const tacit_method *methods[] = { &tacit_method_dpsgd, &tacit_method_dpgd };
    for (size_t m = 0; m < 2; m++) {
        tacit_error error = TACIT_ERROR_INIT;
        owner self = owner_make(1.2);
        tacit_fit_result first = TACIT_FIT_RESULT_INIT, again = TACIT_FIT_RESULT_INIT;
        self.plan.method = methods[m];
        self.plan.delta = 1e-6;
        CHECK_OK(tacit_plan_set(&self.plan, "noise", "party", &error), error);
        if (m == 0) CHECK_OK(tacit_plan_set(&self.plan, "epochs", "0.2", &error), error);
        CHECK_OK(fit(&self, &first, &error), error);
        CHECK_OK(fit(&self, &again, &error), error);
        assert_true(!first.again && again.again);
        assert_true(again.account.sum_epsilon == first.account.sum_epsilon);
        assert_memory_equal(first.model->weights, again.model->weights,
                            tacit_model_size(first.model) * sizeof(double));
        tacit_fit_result_clear(&again);
        self.plan.lambda = 0.2;
        CHECK_OK(fit(&self, &again, &error), error);
        assert_true(!again.again && again.account.sum_epsilon > first.account.sum_epsilon);
        tacit_fit_result_clear(&first);
        tacit_fit_result_clear(&again);
        folder_remove(&self.place);
    }
}

static void without_a_limit_nothing_is_released(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_fit_result result = TACIT_FIT_RESULT_INIT;
    owner self = owner_make(0);
    self.plan.method = &tacit_method_gop;
    assert_int_equal(fit(&self, &result, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "tacit ledger limit --source rows --epsilon 0.5 --delta 1e-06"));
    assert_null(result.model);
    folder_remove(&self.place);
}

static void a_method_that_is_not_for_one_owner_is_refused(void **state) {
    (void)state;
    owner self = owner_make(1);
    const tacit_method *methods[] = { &tacit_method_batch, &tacit_method_avg, &tacit_method_dpiw };
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_fit_result result = TACIT_FIT_RESULT_INIT;
        self.plan.method = methods[m];
        assert_int_equal(fit(&self, &result, &error), TACIT_USAGE);
        assert_non_null(strstr(
            error.text, "pst-s or pst-f (or avg, dpnewton, dpgd, dptree, dpsgd or dpcox with noise=party)"));
    }
    folder_remove(&self.place);
}

/* The request stays the same, so that one charge must do however often memory ran out, before it or after
 * it. */
static void a_fit_survives_each_failed_allocation_and_is_charged_once(void **state) {
    (void)state;
    owner self = owner_make(1);
    long at = 1;
    for (bool failed = true; failed; at++) {
        tacit_fit_result result = TACIT_FIT_RESULT_INIT;
        tacit_error error = TACIT_ERROR_INIT;
        fail_allocation(at);
        tacit_status status = fit(&self, &result, &error);
        failed = allocation_failed();
        /* A parser that gets no memory cannot tell that from a damaged message. */
        if (status != TACIT_OK && !(failed && (status == TACIT_NO_MEMORY || status == TACIT_PROTOCOL)))
            fail_msg("allocation %ld: %s: %s", at, tacit_status_name(status), error.text);
        assert_true((status == TACIT_OK) == (result.model != NULL));
        if (status == TACIT_OK) CHECK_NEAR(result.account.sum_epsilon, 0.5, 0);
        tacit_fit_result_clear(&result);
    }
    assert_true(at > 50);
    folder_remove(&self.place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_method_is_charged_and_says_what_it_guarantees),
        cmocka_unit_test(the_same_request_gives_the_same_model_and_another_a_new_charge),
        cmocka_unit_test(a_method_of_many_rounds_run_twice_is_one_release_or_pays_for_two),
        cmocka_unit_test(without_a_limit_nothing_is_released),
        cmocka_unit_test(a_method_that_is_not_for_one_owner_is_refused),
        cmocka_unit_test(a_fit_survives_each_failed_allocation_and_is_charged_once),
    };
    return cmocka_run_group_tests_name("fit", tests, NULL, NULL);
}
