/* Verdicts on printed numbers and claims. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "lab/reproduce/verdict.h"

static tacit_finding finding(double printed, double mean, double sd, size_t trials) {
    return (tacit_finding){
        .curve = "a", .epsilon = 1, .printed = printed, .mean = mean, .sd = sd, .trials = trials
    };
}

static tacit_paper_verdict verdict(const tacit_experiment *experiment, double printed, double mean, double sd,
                                   size_t trials) {
    tacit_finding one = finding(printed, mean, sd, trials);
    return tacit_finding_verdict(experiment, &one);
}

static void a_printed_number_is_met_beaten_or_missed(void **state) {
    static const tacit_experiment accuracy = { .id = "a" }, error = { .id = "e", .shows_errors = true },
                                  seconds = { .id = "s", .own_rows = true, .less_is_better = true };
    (void)state;
    assert_int_equal(verdict(&accuracy, NAN, 0.9, 0, 1), TACIT_PAPER_NONE);
    assert_int_equal(verdict(&accuracy, 0.9, NAN, 0, 0), TACIT_PAPER_NOT_RUN);
    assert_int_equal(verdict(&accuracy, 0.9, 0.885, 0, 1), TACIT_PAPER_PRINTED);
    assert_int_equal(verdict(&accuracy, 0.9, 0.87, 0, 1), TACIT_PAPER_OTHERWISE);
    assert_int_equal(verdict(&accuracy, 0.9, 0.87, 0.016, 5), TACIT_PAPER_PRINTED);
    assert_int_equal(verdict(&accuracy, 0.9, 0.84, 0.2, 2),
                     TACIT_PAPER_OTHERWISE); /* draws far apart excuse little */
    assert_int_equal(verdict(&accuracy, 0.9, 0.93, 0, 1), TACIT_PAPER_BETTER);
    assert_int_equal(verdict(&error, 0.1, 0.13, 0, 1), TACIT_PAPER_OTHERWISE);
    assert_int_equal(verdict(&error, 0.1, 0.07, 0, 1), TACIT_PAPER_BETTER);
    assert_int_equal(verdict(&seconds, 13, 13, 0, 1), TACIT_PAPER_PRINTED);
    assert_int_equal(verdict(&seconds, 13, 12, 0, 1), TACIT_PAPER_BETTER);
    assert_int_equal(verdict(&seconds, 13, 14, 0, 1), TACIT_PAPER_OTHERWISE);
}

/* ---- claims: curves a and b in two setups at two epsilons, and c without noise ---- */

static const tacit_setup setups[] = { { "one", NULL, 2, "even" }, { "two", NULL, 4, "even" } };
static const double epsilons[] = { 1, 3 };
static const tacit_experiment experiment = {
    .id = "x", .setups = setups, .setup_count = 2, .epsilons = epsilons, .epsilon_count = 2
};

static tacit_claim_outcome check(const tacit_claim *claim) {
    tacit_finding findings[] = {
        { .setup = 0, .curve = "a", .epsilon = 1, .mean = 0.7, .trials = 1 },
        { .setup = 0, .curve = "a", .epsilon = 3, .mean = 0.8, .trials = 1 },
        { .setup = 1, .curve = "a", .epsilon = 1, .mean = 0.5, .trials = 1 },
        { .setup = 1, .curve = "a", .epsilon = 3, .mean = 0.9, .trials = 1 },
        { .setup = 0, .curve = "b", .epsilon = 1, .mean = 0.6, .trials = 1 },
        { .setup = 0, .curve = "b", .epsilon = 3, .mean = 0.7, .trials = 1 },
        { .setup = 1, .curve = "b", .epsilon = 1, .mean = 0.6, .trials = 1 },
        { .setup = 1, .curve = "b", .epsilon = 3, .mean = NAN, .trials = 0 },
        { .setup = 0, .curve = "c", .epsilon = INFINITY, .mean = 0.75, .trials = 1, .is_alone = true },
        { .setup = 1, .curve = "c", .epsilon = INFINITY, .mean = 0.4, .trials = 1, .is_alone = true },
    };
    tacit_reproduction result = { .experiment = &experiment,
                                  .findings = findings,
                                  .count = sizeof findings / sizeof *findings };
    return tacit_claim_check(&result, claim);
}

static void a_claim_is_checked_wherever_both_sides_were_run(void **state) {
    (void)state;
    tacit_claim claim = { .above = { "a", 0, NULL, 0 }, .below = { "b", 0, NULL, 0 } };
    tacit_claim_outcome found = check(&claim);
    assert_int_equal(found.cases, 3);
    assert_int_equal(found.held, 2);
    assert_int_equal(found.verdict, TACIT_PAPER_OTHERWISE);
    assert_float_equal(found.above, 0.5, 0);
    assert_float_equal(found.below, 0.6, 0);
    claim.mostly = true;
    assert_int_equal(check(&claim).verdict, TACIT_PAPER_PRINTED);
    claim.mostly = false;
    claim.above.plus = 0.11;
    found = check(&claim);
    assert_int_equal(found.verdict, TACIT_PAPER_PRINTED);
    assert_float_equal(found.above, 0.7, 0); /* as measured, without what is added to compare */
    claim.ours = true;
    assert_int_equal(check(&claim).verdict, TACIT_PAPER_HOLDS);
    claim.above.plus = 0;
    assert_int_equal(check(&claim).verdict, TACIT_PAPER_FAILS);
}

static void sides_may_name_setup_and_epsilon_or_be_a_number(void **state) {
    (void)state;
    tacit_claim setups_apart = { .above = { "a", 3, "two", 0 }, .below = { "a", 3, "one", 0 } };
    tacit_claim_outcome found = check(&setups_apart);
    assert_int_equal(found.cases, 1);
    assert_int_equal(found.verdict, TACIT_PAPER_PRINTED);
    tacit_claim without_noise = { .above = { "a", 1, NULL, 0 }, .below = { "c", INFINITY, NULL, 0 } };
    found = check(&without_noise);
    assert_int_equal(found.cases, 2);
    assert_int_equal(found.held, 1);
    tacit_claim number = { .above = { NULL, 0, NULL, 0.8 }, .below = { "a", 3, NULL, 0 } };
    found = check(&number);
    assert_int_equal(found.cases, 2);
    assert_int_equal(found.held, 1);
    assert_float_equal(found.below, 0.9, 0);
    tacit_claim unknown = { .above = { "a", 10, NULL, 0 }, .below = { "b", 10, NULL, 0 } };
    assert_int_equal(check(&unknown).verdict, TACIT_PAPER_NOT_RUN);
}

/* A claim about a curve, setup or epsilon that is not there would never be checked. */
static bool has_side(const tacit_experiment *one, const tacit_claim_side *side) {
    bool curve = side->curve == NULL, setup = side->setup == NULL, epsilon = side->epsilon == 0;
    for (const tacit_variant *each = one->curves; side->curve != NULL && each->method != NULL; each++) {
        if (strcmp(each->label != NULL ? each->label : each->method, side->curve) != 0) continue;
        curve = true;
        double only = tacit_variant_epsilon(tacit_method_find(each->method), each);
        epsilon = epsilon || only == side->epsilon;
    }
    for (size_t s = 0; s < one->setup_count && !setup; s++)
        setup = strcmp(tacit_setup_name(&one->setups[s]), side->setup) == 0;
    for (size_t e = 0; e < one->epsilon_count; e++) epsilon = epsilon || one->epsilons[e] == side->epsilon;
    return curve && setup && epsilon;
}

static void every_claim_is_about_what_the_experiment_runs(void **state) {
    size_t claims = 0;
    (void)state;
    for (size_t i = 0; tacit_experiments[i] != NULL; i++) {
        const tacit_experiment *one = tacit_experiments[i];
        for (size_t c = 0; c < one->claim_count; c++, claims++)
            if (!has_side(one, &one->claims[c].above) || !has_side(one, &one->claims[c].below))
                fail_msg("%s has nothing to check '%s' on", one->id, one->claims[c].says);
        if (one->says != NULL && one->claim_count == 0) fail_msg("no claim of %s is checked", one->id);
        if (one->printed_count > 0 && one->why == NULL)
            fail_msg("%s does not say why numbers may be worse than printed", one->id);
    }
    assert_true(claims > 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_printed_number_is_met_beaten_or_missed),
        cmocka_unit_test(a_claim_is_checked_wherever_both_sides_were_run),
        cmocka_unit_test(sides_may_name_setup_and_epsilon_or_be_a_number),
        cmocka_unit_test(every_claim_is_about_what_the_experiment_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
