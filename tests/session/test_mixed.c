/* Method mixed through real gates: an honest fit is answered; a coordinator that asks about few persons, on and on, or with parameters that single rows out, is
 * refused. */
#include "lying.h"

#include <math.h>

#include "method/exact/mixed.h"
#include "method/methods.h"
#include "model/report/report.h"

enum { GROUP = 5, PERSONS = 12, VISITS = 5, EACH = PERSONS * VISITS };

static const char SCHEMA[] = "label: {name: y, kind: count, low: 0, high: 60}\n"
                             "person: who\n"
                             "columns:\n"
                             "  - {name: x, kind: number, low: -1, high: 1}\n"
                             "  - {name: z, kind: skip}\n";

static const char NUMBERS[] = "label: {name: z, kind: number, low: 0, high: 60}\n"
                              "person: who\n"
                              "columns:\n"
                              "  - {name: x, kind: number, low: -1, high: 1}\n"
                              "  - {name: y, kind: skip}\n";

static void make_table(table *out, bool numbers) {
    uint64_t state = 5;
    char path[] = "/tmp/tacit-mixed-XXXXXX.csv";
    FILE *file = fdopen(mkstemps(path, 4), "w");
    double level = 0;
    assert_non_null(file);
    fprintf(file, "who,x,z,y\n");
    for (size_t i = 0; i < GROUP * EACH; i++) {
        double x = next_uniform(&state), residual = next_uniform(&state), person = next_uniform(&state);
        if (i % VISITS == 0) level = 1 + person;
        double mean = exp(level + 0.5 * x);
        fprintf(file, "p%zu,%.6f,%.6f,%d\n", i / VISITS, x, fmin(60, 2 * mean + residual),
                (int)fmin(60, floor(mean + residual + 0.5)));
    }
    read_table(out, file, path, numbers ? NUMBERS : SCHEMA);
}

typedef struct world_setup {
    lie *lie;
    bool numbers;
    const char *setting, *value;
    uint64_t minimum; /* the owners' */
} world_setup;

static tacit_status fit(const world_setup *how, double *variance, tacit_error *error) {
    world self = { .lie = how->lie };
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    make_table(&self.rows, how->numbers);
    tacit_plan *plan = open_world(&self, &tacit_method_mixed, GROUP, GROUP);
    if (how->setting != NULL) CHECK_OK(tacit_plan_set(plan, how->setting, how->value, error), *error);
    for (size_t k = 0; how->minimum > 0 && k < GROUP; k++)
        self.bench->sites[k].policy.minimum_rows = how->minimum;
    tacit_status status = tacit_run_coordinate(&self.bench->session, &outcome, error);
    if (status == TACIT_OK && variance != NULL) {
        const tacit_report *report = outcome.models[0]->report;
        *variance = tacit_report_value(tacit_report_find(report, "random"), "(Intercept)", "variance");
    }
    tacit_outcome_clear(&outcome);
    close_world(&self);
    return status;
}

static void test_an_honest_fit_is_answered(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    double variance = 0;
    CHECK_OK(fit(&(world_setup){ .lie = NULL }, &variance, &error), error);
    assert_true(variance > 0.1 && variance < 1);
    CHECK_OK(fit(&(world_setup){ .setting = "slope", .value = "x" }, &variance, &error), error);
    CHECK_OK(fit(&(world_setup){ .numbers = true }, &variance, &error), error);
    CHECK_OK(
        fit(&(world_setup){ .numbers = true, .setting = "likelihood", .value = "REML" }, &variance, &error),
        error);
}

static void expect_refused(const world_setup *how, tacit_status expected, const char *says) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = fit(how, NULL, &error);
    if (status != expected || strstr(error.text, says) == NULL)
        fail_msg("'%s' expected, %s: %s", says, tacit_status_name(status), error.text);
}

static void test_few_persons_and_few_parties_are_not_summed_up(void **state) {
    (void)state;
    expect_refused(&(world_setup){ .minimum = PERSONS + 1 }, TACIT_REFUSED,
                   "fewer persons than its owner's minimum of 13");
    expect_refused(&(world_setup){ .setting = "group", .value = "party" }, TACIT_REFUSED,
                   "one term for each party");
    expect_refused(&(world_setup){ .setting = "group", .value = "party", .numbers = true }, TACIT_REFUSED,
                   "one term for each party");
}

static void single_rows_out(tacit_question *question) {
    tacit_field *weights = field(question, "weights");
    if (weights != NULL) weights->value.numbers[0] = 1e4;
}

static void lead_by_few(tacit_question *question) {
    tacit_field *weights = field(question, "weights");
    if (weights != NULL) weights->value.numbers[0] = 25;
}

static void spread_far(tacit_question *question) {
    tacit_field *theta = field(question, "theta");
    if (theta != NULL) theta->value.numbers[0] = 1e5;
}

static void go_on(tacit_question *question) {
    if (strcmp(question->name, "sums") == 0) question->round = MIXED_MOST_ROUNDS;
}

static void ask_for_more_room(tacit_question *question) {
    tacit_field *room = field(question, "room");
    if (room != NULL) room->value.integers[0] = 62;
}

static void say_fewer_rows(tacit_question *question) {
    tacit_field *rows = field(question, "rows");
    if (rows != NULL) rows->value.numbers[0] = EACH - 1;
}

static void ask_for_squares(tacit_question *question) {
    if (strcmp(question->name, "sums") == 0) memcpy(question->name, "squares", sizeof "squares");
}

static void test_lies_are_refused(void **state) {
    (void)state;
    expect_refused(&(world_setup){ .lie = single_rows_out }, TACIT_REFUSED, "scores beyond 30");
    expect_refused(&(world_setup){ .lie = lead_by_few }, TACIT_REFUSED, "make up almost all");
    expect_refused(&(world_setup){ .lie = spread_far }, TACIT_REFUSED, "beyond 10000");
    expect_refused(&(world_setup){ .lie = go_on }, TACIT_REFUSED, "an honest fit takes fewer");
    expect_refused(&(world_setup){ .lie = ask_for_more_room }, TACIT_PROTOCOL, "no room");
    expect_refused(&(world_setup){ .lie = say_fewer_rows }, TACIT_REFUSED, "rows in all");
    expect_refused(&(world_setup){ .lie = ask_for_squares }, TACIT_REFUSED, "has no use for");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_honest_fit_is_answered),
        cmocka_unit_test(test_few_persons_and_few_parties_are_not_summed_up),
        cmocka_unit_test(test_lies_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
