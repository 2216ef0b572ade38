/* What a method says about itself, as it holds for one plan. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "failing.h"
#include "method/methods.h"
#include "session/plan/wording.h"

static tacit_plan plan_for(const tacit_method *method) {
    return (tacit_plan){ .method = method,
                         .study = "test",
                         .epsilon = method->noise_free ? INFINITY : 1,
                         .delta = 1e-5,
                         .lambda = 0.1,
                         .features = method->most_columns > 0 ? method->most_columns : 7,
                         .classes = 2,
                         .parties = 10,
                         .minimum_parties = 2,
                         .minimum_rows = 50 };
}

static void check_text(const tacit_plan *plan, const char *text, const char *expected) {
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_wording_text(&out, text, plan, &error), error);
    assert_string_equal(tacit_buffer_text(&out), expected);
    tacit_buffer_clear(&out);
}

static void clauses_are_kept_where_the_settings_are_as_they_say(void **state) {
    (void)state;
    tacit_plan plan = plan_for(&tacit_method_dpgd);
    check_text(&plan, "", "");
    check_text(&plan, "no clause", "no clause");
    check_text(&plan, "[noise=coordinator: kept][noise=party: dropped]", "kept");
    check_text(&plan, "a[noise!=coordinator: b]c[noise!=party: d]e", "acde");
    check_text(&plan, "[noise=party|coordinator: either]", "either");
    check_text(&plan, "[noise=coordinator,unit=record: both][noise=coordinator,unit=party: one]", "both");
    check_text(&plan, "[sees=sum: sums][sees=each: singles]", "sums");
    check_text(&plan, "[rounds=0: numbers are equal as numbers][rounds!=0.0: not]",
               "numbers are equal as numbers");
    check_text(&plan, "in [-B, B] or [0, 1]: brackets", "in [-B, B] or [0, 1]: brackets");
    plan.sums = TACIT_SUMS_CLEAR;
    assert_int_equal(tacit_plan_set(&plan, "noise", "party", NULL), TACIT_OK);
    check_text(&plan, "[sees=sum: sums][sees=each: singles] [noise=party: p]", "singles p");
}

static void a_law_left_open_is_the_one_it_comes_to(void **state) {
    (void)state;
    tacit_plan plan = plan_for(&tacit_method_dpiw);
    check_text(&plan, "[law=pure: pure][law=gaussian: gaussian]", "gaussian");
    plan.delta = 0;
    check_text(&plan, "[law=pure: pure][law=gaussian: gaussian]", "pure");
}

static void rows_of_one_person_count_as_one_where_the_schema_names_persons(void **state) {
    (void)state;
    static char who[] = "who";
    tacit_schema schema = { .person = who };
    tacit_plan plan = plan_for(&tacit_method_dpcox);
    check_text(&plan, "[protects=record: rows][protects=person: persons]", "rows");
    plan.schema = &schema;
    check_text(&plan, "[protects=record: rows][protects=person: persons]", "persons");
}

static void missing_values_are_counted_where_the_schema_speaks_of_them(void **state) {
    (void)state;
    static const char text[] =
        "[counts=nothing: nothing][counts=perhaps: perhaps {missing_counts%}, so][counts=missing: "
        "{missing_counts%} for it]";
    static char name[] = "age";
    tacit_schema_column column = {
        .name = name, .kind = TACIT_SCHEMA_NUMBER, .high = 1, .missing = TACIT_MISSING_FILL
    };
    tacit_schema schema = { .cols = 1, .columns = &column };
    tacit_plan plan = plan_for(&tacit_method_dpnewton);
    check_text(&plan, text, "perhaps 2%, so");
    plan.schema = &schema;
    check_text(&plan, text, "2% for it");
    assert_int_equal(tacit_plan_set(&plan, "missing_counts", "0.125", NULL), TACIT_OK);
    check_text(&plan, text, "12.5% for it");
    column.missing = TACIT_MISSING_ERROR;
    check_text(&plan, text, "nothing");
    plan.method = &tacit_method_dpgd;
    check_text(&plan, "[counts=nothing: nothing][counts=missing: missing]", "nothing");
}

static void what_no_setting_can_be_is_an_error(void **state) {
    (void)state;
    static const char *const wrong[] = { "[nothing=x: a]",
                                         "[noise=nobody: a]",
                                         "[noise=party|nobody: a]",
                                         "[sees=all: a]",
                                         "[protects=nobody: a]",
                                         "[noise=party: a",
                                         "[noise=party]",
                                         "[noise=coordinator: {noise%}]",
                                         "[noise=coordinator: {nothing%}]" };
    tacit_plan plan = plan_for(&tacit_method_dpgd);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tacit_buffer out = TACIT_BUFFER_INIT;
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(tacit_wording_text(&out, wrong[i], &plan, &error), TACIT_INTERNAL);
        assert_non_null(strstr(error.text, "dpgd"));
        tacit_buffer_clear(&out);
    }
}

/* No text is empty, and none speaks of a setting where it should speak of what the setting does. */
static void check_words(const tacit_plan *plan) {
    static const char *const left_over[] = { "noise=",     "unit=", "sees=", "law=pure", "dp=",
                                             "inference=", "  ",    " .",    " ,",       "]" };
    tacit_wording words = TACIT_WORDING_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_wording_make(&words, plan, &error), error);
    const char *texts[] = { words.leaves, words.seen_by, words.guarantee, words.assumption, words.caveats };
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        assert_true(texts[t][0] != 0 && texts[t][0] != ' ' && texts[t][0] != ',' && texts[t][0] != '.');
        for (size_t i = 0; i < sizeof left_over / sizeof *left_over; i++)
            if (strstr(texts[t], left_over[i]) != NULL && strstr(texts[t], "[-B, B]") == NULL)
                fail_msg("%s says '%s' in: %s", plan->method->name, left_over[i], texts[t]);
    }
    tacit_wording_clear(&words);
}

/* Every choice of every setting, one at a time, in all ways of adding up. */
static void every_method_has_words_for_every_setting(void **state) {
    (void)state;
    for (size_t i = 0; tacit_methods[i] != NULL; i++) {
        const tacit_method *method = tacit_methods[i];
        for (tacit_sum_way way = TACIT_SUMS_MASKED; way <= TACIT_SUMS_PAILLIER; way++) {
            tacit_plan plan = plan_for(method);
            plan.sums = way;
            check_words(&plan);
            for (const tacit_parameter *one = method->parameters; one != NULL && one->name != NULL; one++) {
                char choices[256];
                if (one->choices == NULL || one->choices[0] == 0) continue;
                snprintf(choices, sizeof choices, "%s", one->choices);
                char *rest = NULL;
                for (char *value = strtok_r(choices, "|", &rest); value != NULL;
                     value = strtok_r(NULL, "|", &rest)) {
                    tacit_plan changed = plan;
                    assert_int_equal(tacit_plan_set(&changed, one->name, value, NULL), TACIT_OK);
                    check_words(&changed);
                }
            }
        }
    }
}

static void who_adds_the_noise_agrees_with_how_values_leave(void **state) {
    (void)state;
    static const struct {
        const char *noise, *added, *how;
    } cases[] = { { "coordinator", "by the coordinator", "entrusted: masked" },
                  { "party", "by each party", "charged: " },
                  { "shares", "by all parties together", "sealed: masked" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_plan plan = plan_for(&tacit_method_dpgd);
        tacit_price charged = { TACIT_UNIT_RECORD, 1, 1e-5 };
        assert_int_equal(tacit_plan_set(&plan, "noise", cases[i].noise, NULL), TACIT_OK);
        assert_ptr_equal(strstr(tacit_wording_noise(&plan, &charged), cases[i].added),
                         tacit_wording_noise(&plan, &charged));
        assert_ptr_equal(strstr(tacit_wording_release(&plan, &charged), cases[i].how),
                         tacit_wording_release(&plan, &charged));
        charged.epsilon = INFINITY;
        assert_non_null(strstr(tacit_wording_noise(&plan, &charged), "none"));
        assert_null(strstr(tacit_wording_release(&plan, &charged), "add noise"));
    }
}

static void secure_sums_say_how_many_and_others_nothing(void **state) {
    (void)state;
    char text[TACIT_WORDING_SUMS_SIZE];
    tacit_plan plan = plan_for(&tacit_method_dpgd);
    plan.colluders = 0.2;
    assert_true(tacit_wording_sums(text, &plan));
    assert_non_null(strstr(text, "of 10 parties"));
    assert_non_null(strstr(text, "withstands 2 of the parties"));
    plan.sums = TACIT_SUMS_CLEAR;
    assert_false(tacit_wording_sums(text, &plan));
    plan = plan_for(&tacit_method_newton);
    assert_false(tacit_wording_sums(text, &plan));
}

static tacit_status make_words(void) {
    tacit_plan plan = plan_for(&tacit_method_dpgd);
    tacit_wording words = TACIT_WORDING_INIT;
    tacit_status status = tacit_wording_make(&words, &plan, NULL);
    if (status != TACIT_OK) assert_null(words.leaves);
    tacit_wording_clear(&words);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    bool failed = true;
    for (long at = 1; failed; at++) {
        fail_allocation(at);
        tacit_status status = make_words();
        failed = allocation_failed();
        assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clauses_are_kept_where_the_settings_are_as_they_say),
        cmocka_unit_test(a_law_left_open_is_the_one_it_comes_to),
        cmocka_unit_test(rows_of_one_person_count_as_one_where_the_schema_names_persons),
        cmocka_unit_test(missing_values_are_counted_where_the_schema_speaks_of_them),
        cmocka_unit_test(what_no_setting_can_be_is_an_error),
        cmocka_unit_test(every_method_has_words_for_every_setting),
        cmocka_unit_test(who_adds_the_noise_agrees_with_how_values_leave),
        cmocka_unit_test(secure_sums_say_how_many_and_others_nothing),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("wording", tests, NULL, NULL);
}
