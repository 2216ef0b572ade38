/* Method meta through real gates: an honest analysis is answered; a coordinator that asks for more sums than hide a site, out of turn, in other units, or for a
 * site's own estimates, is refused. */
#include "lying.h"

#include <math.h>

#include "method/exact/meta.h"
#include "method/methods.h"
#include "model/report/report.h"

enum { GROUP = 5, EACH = 60 };

static const char SCHEMA[] = "label: {name: y, kind: number, low: -5, high: 5}\n"
                             "columns:\n"
                             "  - {name: x, kind: number, low: -1, high: 1}\n";

/* Slopes of 1 + k/2 at site k; the first has residuals `sharper` times smaller. */
static void make_table(table *out, double sharper) {
    uint64_t state = 5;
    char path[] = "/tmp/tacit-meta-XXXXXX.csv";
    FILE *file = fdopen(mkstemps(path, 4), "w");
    assert_non_null(file);
    fprintf(file, "x,y\n");
    for (size_t i = 0; i < GROUP * EACH; i++) {
        double x = next_uniform(&state), residual = next_uniform(&state);
        size_t at = i / EACH;
        fprintf(file, "%.6f,%.6f\n", x, (1 + (double)at / 2) * x + residual / (at == 0 ? sharper : 1));
    }
    read_table(out, file, path, SCHEMA);
}

typedef struct world_setup {
    lie *lie;
    const char *tau;
    size_t minimum; /* of parties, as the study says */
    double sharper;
} world_setup;

static tacit_status analyse(const world_setup *how, double *slope, tacit_error *error) {
    world self = { .lie = how->lie };
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    make_table(&self.rows, how->sharper > 0 ? how->sharper : 1);
    tacit_plan *plan = open_world(&self, &tacit_method_meta, GROUP, how->minimum > 0 ? how->minimum : GROUP);
    if (how->tau != NULL) CHECK_OK(tacit_plan_set(plan, "tau", how->tau, error), *error);
    tacit_status status = tacit_run_coordinate(&self.bench->session, &outcome, error);
    if (status == TACIT_OK && slope != NULL) {
        const tacit_report *report = outcome.models[0]->report;
        *slope = tacit_report_value(tacit_report_find(report, "random"), "x", "estimate");
    }
    tacit_outcome_clear(&outcome);
    close_world(&self);
    return status;
}

static void test_an_honest_analysis_is_answered(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    double slope = 0;
    CHECK_OK(analyse(&(world_setup){ .lie = NULL }, &slope, &error), error);
    assert_true(slope > 1.8 && slope < 2.2);
}

static void expect_refused(const world_setup *how, tacit_status expected, const char *says) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = analyse(how, NULL, &error);
    if (status != expected || strstr(error.text, says) == NULL)
        fail_msg("'%s' expected, %s: %s", says, tacit_status_name(status), error.text);
}

/* The coordinator's half checks its plan before it asks; these parties are asked by one that does not. */
static void test_parties_count_the_sums_themselves(void **state) {
    (void)state;
    expect_refused(&(world_setup){ .tau = "PM" }, TACIT_REFUSED,
                   "8 sums of each coefficient would determine");
    expect_refused(&(world_setup){ .minimum = 4 }, TACIT_REFUSED, "would open 7 numbers");
    expect_refused(&(world_setup){ .minimum = 3 }, TACIT_REFUSED, "would open 5 numbers");
}

static void test_a_site_that_would_be_nearly_the_whole_sum_refuses(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    double slope;
    CHECK_OK(analyse(&(world_setup){ .sharper = 3 }, &slope, &error), error);
    expect_refused(&(world_setup){ .sharper = 30 }, TACIT_REFUSED, "more than 0.9 of the weight");
}

static void ask_again(tacit_question *question) {
    if (strcmp(question->name, "weights") == 0) {
        question->round = 3;
        memcpy(question->answer_id, &question->round, sizeof question->round);
    }
}

static void ask_early(tacit_question *question) {
    if (strcmp(question->name, "weights") == 0) question->round = 1;
}

static void ask_late(tacit_question *question) {
    if (strcmp(question->name, "scale") == 0) question->round = 2;
}

static void ask_for_a_site(tacit_question *question) {
    if (strcmp(question->name, "moments") != 0) return;
    memcpy(question->name, "site", sizeof "site");
    question->round = 0;
    question->wants_sum = false;
}

static void ask_in_other_units(tacit_question *question) {
    tacit_field *units = field(question, "means");
    if (units != NULL) units->value.numbers[0] -= 8;
}

static void ask_in_no_units(tacit_question *question) {
    tacit_field *units = field(question, "means");
    if (units != NULL) units->value.numbers[0] = NAN;
}

static void ask_below_zero(tacit_question *question) {
    tacit_field *tau2 = field(question, "tau2");
    if (tau2 != NULL) tau2->value.numbers[1] = -1e-9;
}

static void ask_for_more(tacit_question *question) {
    if (strcmp(question->name, "weights") == 0) question->sum.length++;
}

static void test_lies_are_refused(void **state) {
    (void)state;
    expect_refused(&(world_setup){ .lie = ask_again }, TACIT_REFUSED, "would open 9 numbers");
    expect_refused(&(world_setup){ .lie = ask_early }, TACIT_REFUSED, "not its turn");
    expect_refused(&(world_setup){ .lie = ask_late }, TACIT_REFUSED, "not its turn");
    expect_refused(&(world_setup){ .lie = ask_for_a_site }, TACIT_REFUSED, "which the study does not define");
    expect_refused(&(world_setup){ .lie = ask_in_other_units }, TACIT_REFUSED, "of the weight of all sites");
    expect_refused(&(world_setup){ .lie = ask_in_no_units }, TACIT_PROTOCOL, "not finite");
    expect_refused(&(world_setup){ .lie = ask_below_zero }, TACIT_PROTOCOL, "below 0");
    expect_refused(&(world_setup){ .lie = ask_for_more }, TACIT_REFUSED, "another sum");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_honest_analysis_is_answered),
        cmocka_unit_test(test_parties_count_the_sums_themselves),
        cmocka_unit_test(test_a_site_that_would_be_nearly_the_whole_sum_refuses),
        cmocka_unit_test(test_lies_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
