/* What every method must bring, whatever it computes. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "method/methods.h"
#include "session/prepared.h"
#include "setting.h"

static tacit_plan plan_for(const tacit_method *method, double epsilon) {
    tacit_plan plan = { .method = method,
                        .study = "test",
                        .epsilon = method->noise_free ? INFINITY : epsilon,
                        .delta = 1e-5, /* pure methods have no use for it */
                        .lambda = 0.1,
                        .features = method->most_columns > 0 ? method->most_columns : 7,
                        .classes = 2,
                        .parties = 10,
                        .minimum_parties = 2,
                        .minimum_rows = 50 };
    if (method == &tacit_method_meta) plan.minimum_parties = 10; /* two sites hide nothing */
    const tacit_parameter *rounds = tacit_setting_find(method->parameters, "rounds");
    if (rounds != NULL && rounds->type == TACIT_SETTING_COUNT)
        assert_int_equal(tacit_plan_set(&plan, "rounds", "4", NULL), TACIT_OK);
    return plan;
}

static void every_method_says_who_learns_what(void **state) {
    (void)state;
    for (size_t i = 0; tacit_methods[i] != NULL; i++) {
        const tacit_method *method = tacit_methods[i];
        const char *texts[] = { method->name,    method->title,   method->reference, method->units,
                                method->leaves,  method->seen_by, method->guarantee, method->assumption,
                                method->theorem, method->claim,   method->caveats };
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            if (texts[t] == NULL || texts[t][0] == 0) fail_msg("method %zu lacks text %zu", i, t);
        assert_non_null(method->price);
        assert_non_null(method->coordinate);
        assert_non_null(method->release_kind);
        assert_true(method->version > 0);
        assert_true(method->noise_free == (method->noise == NULL));
        assert_ptr_equal(tacit_method_find(method->name), method);
    }
}

static void half_the_epsilon_means_more_noise_and_is_what_is_charged(void **state) {
    (void)state;
    for (size_t i = 0; tacit_methods[i] != NULL; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_plan whole = plan_for(tacit_methods[i], 1), half = plan_for(tacit_methods[i], 0.5);
        tacit_prices prices;
        tacit_noise_law loud, quiet;
        CHECK_OK(tacit_plan_check(&half, &error), error);
        CHECK_OK(tacit_plan_price(&half, &prices, &error), error);
        /* dpstgd's is what the paper would print of the noise that this price needs: less. */
        if (half.method == &tacit_method_dpstgd)
            assert_true(prices.claimed.epsilon < half.epsilon);
        else
            assert_true(prices.claimed.epsilon == half.epsilon);
        /* psgd's claim is of its limit only: all its rounds are charged. */
        if (half.method == &tacit_method_psgd)
            assert_true(prices.charged.epsilon > prices.claimed.epsilon);
        else
            assert_true(prices.charged.epsilon == half.epsilon);
        if (half.method->noise == NULL) continue;
        CHECK_OK(tacit_plan_noise(&half, &loud, &error), error);
        CHECK_OK(tacit_plan_noise(&whole, &quiet, &error), error);
        /* A pure method needs at least twice the noise; a Gaussian may spend delta instead. */
        assert_true(loud.scale / quiet.scale > (prices.charged.delta > 0 ? 1 : 2 - 1e-6));
        assert_true(quiet.sensitivity > 0 && quiet.mean_norm > 0 && quiet.dimension > 0);
    }
}

/* Well-formed, and of no use: fields that nobody asks for, and those that the methods ask for with a length
 * that none has. */
static void answers_of_no_use_are_told_from_others(void **state) {
    (void)state;
    static const char *const names[] = { "nothing", "weights", "hypothesis", "density", "variance", "signs",
                                         "sizes",   "rows",    "sums",       "counts",  "site" };
    static const double numbers[2];
    static const int64_t integers[2];
    size_t checked = 0;
    for (size_t i = 0; tacit_methods[i] != NULL; i++) {
        tacit_plan plan = plan_for(tacit_methods[i], 1);
        for (const tacit_handler_entry *entry = plan.method->handlers;
             entry != NULL && entry->question != NULL; entry++) {
            if (entry->usable == NULL) continue;
            for (size_t kind = 0; kind < 3; kind++) {
                tacit_message message = TACIT_MESSAGE_INIT;
                for (size_t n = 0; n < sizeof names / sizeof *names; n++)
                    assert_int_equal(
                        kind == 0 ? tacit_message_add_numbers(&message, names[n], numbers, 2, NULL)
                        : kind == 1
                            ? tacit_message_add_integers(&message, names[n], integers, 2, NULL)
                            : tacit_message_add_bytes(&message, names[n], (const uint8_t *)"ab", 2, NULL),
                        TACIT_OK);
                assert_int_equal(entry->usable(&plan, &message, NULL), TACIT_PROTOCOL);
                tacit_message_clear(&message);
            }
            checked++;
        }
    }
    /* dphtl, dpsgd, dpstgd, meta, members of pst-s, pst-h of sources and of targets, rows of newton, privlogit-hessian and -local and cox-servers,
     * and figures of sites in describe, describe-exact, evaluate and evaluate-exact */
    assert_int_equal(checked, 15);
}

static void an_unknown_method_gets_the_list(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_method *method = NULL;
    assert_int_equal(tacit_method_require(&method, "magic", &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "avg"));
    assert_null(method);
}

static void settings_are_checked_against_the_table(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_plan plan = plan_for(tacit_method_find("avg"), 1);
    assert_true(setting_is(&plan, "noise", "coordinator"));
    CHECK_OK(tacit_plan_set(&plan, "noise", "party", &error), error);
    assert_true(setting_is(&plan, "noise", "party"));
    assert_int_equal(tacit_plan_set(&plan, "noise", "part", &error), TACIT_USAGE);
    assert_string_equal(error.text, "setting noise of method avg is one of coordinator|party, not 'part'");
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_plan_set(&plan, "colour", "red", &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "it has: noise, unit"));
    assert_int_equal(tacit_plan_set(&plan, "noise", "", NULL), TACIT_USAGE);
}

static void impossible_plans_are_refused(void **state) {
    (void)state;
    tacit_plan good = plan_for(tacit_method_find("avg"), 1), bad;
    assert_int_equal(tacit_plan_check(&good, NULL), TACIT_OK);
    const double wrong[] = { 0, -1, NAN };
    for (size_t i = 0; i < 3; i++) {
        bad = good;
        bad.epsilon = wrong[i];
        assert_int_equal(tacit_plan_check(&bad, NULL), TACIT_USAGE);
        bad = good;
        bad.lambda = wrong[i];
        assert_int_equal(tacit_plan_check(&bad, NULL), TACIT_USAGE);
    }
    bad = good;
    bad.delta = 1;
    assert_int_equal(tacit_plan_check(&bad, NULL), TACIT_USAGE);
    bad = good;
    bad.minimum_parties = 11;
    assert_int_equal(tacit_plan_check(&bad, NULL), TACIT_USAGE);
    bad = good;
    bad.minimum_rows = 0;
    assert_int_equal(tacit_plan_check(&bad, NULL), TACIT_USAGE);
    bad = good;
    bad.parties = bad.minimum_parties = 0;
    assert_int_equal(tacit_plan_check(&bad, NULL), TACIT_USAGE);
}

/* Who asks for the wrong method is told at once which methods and families there are for which labels. */
static void a_label_that_a_method_does_not_take_gets_the_list(void **state) {
    (void)state;
    static const char *const sentences[] = {
        "is of kind class, which method",
        "kind number or count goes with avg, output, dpnewton, dpgd, dpsgd, estimate, histogram, consensus, "
        "gossip, extra, newton, privlogit-hessian (no counts) and privlogit-local (no counts) (family linear "
        "or poisson)",
        "kind number or count goes with avg, output, dpnewton, dpgd, dpsgd, estimate, histogram, consensus, "
        "gossip, extra, newton, privlogit-hessian (no counts) and privlogit-local (no counts) (family linear "
        "or poisson)",
        "kind time goes with cox, dpcox, survival, survival-exact and cox-servers (family hazard)"
    };
    for (size_t i = 0; tacit_methods[i] != NULL; i++)
        for (int kind = 0; kind < TACIT_RESPONSES; kind++) {
            char label[] = "months_until_relapse";
            tacit_schema schema = { .label = label, .response = (tacit_response)kind };
            tacit_plan plan = plan_for(tacit_methods[i], 1);
            tacit_error error = TACIT_ERROR_INIT;
            plan.schema = &schema;
            bool takes = tacit_method_takes_label(tacit_methods[i], (tacit_response)kind);
            tacit_status status = tacit_methods_check_label(&plan, &error);
            assert_int_equal(status, takes ? TACIT_OK : TACIT_USAGE);
            if (takes) continue;
            if (strstr(error.text, sentences[kind]) == NULL ||
                strstr(error.text, "most methods take classes") == NULL ||
                strstr(error.text, "as another kind in the schema") == NULL) /* it is told to the end */
                fail_msg("%s", error.text);
            const char *why = kind == TACIT_RESPONSE_COUNT ? tacit_methods[i]->no_counts : NULL;
            if (why != NULL) assert_non_null(strstr(error.text, why));
            plan.classes = 0; /* nor does the plan pass without that sentence */
            assert_int_equal(tacit_plan_check(&plan, NULL), TACIT_USAGE);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_says_who_learns_what),
        cmocka_unit_test(half_the_epsilon_means_more_noise_and_is_what_is_charged),
        cmocka_unit_test(answers_of_no_use_are_told_from_others),
        cmocka_unit_test(an_unknown_method_gets_the_list),
        cmocka_unit_test(a_label_that_a_method_does_not_take_gets_the_list),
        cmocka_unit_test(settings_are_checked_against_the_table),
        cmocka_unit_test(impossible_plans_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
