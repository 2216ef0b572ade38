/*
 * dpstgd under audit: the sound price holds and is nearly used up; the printed one is broken. Seeds are
 * fixed. For a change that draws other numbers: the sound price is called broken with probability at most
 * 1e-10.
 */
#include "check.h"

#include "lab/audit/audit.h"

static tacit_audit_result audited(const char *name, double epsilon, size_t runs, double confidence,
                                  uint64_t seed, const tacit_setting_value *settings, size_t count) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_audit audit = {
        .setup = { .epsilon = epsilon, .settings = settings, .setting_count = count },
        .runs = runs,
        .confidence = confidence,
        .seed = seed,
    };
    tacit_audit_result result;
    CHECK_OK(tacit_auditable_require(&audit.subject, name, &error), error);
    CHECK_OK(tacit_audit_run(&result, &audit, &error), error);
    print_message("# %s, charged %g: at least %.4f\n", name, result.charged.epsilon, result.epsilon_lower);
    return result;
}

static void the_sound_price_holds_and_is_nearly_used_up(void **state) {
    (void)state;
    static const tacit_setting_value turns[] = { { "rounds", "3" } };
    tacit_audit_result one = audited("dpstgd", 3, 5000, 1 - 1e-10, 5, NULL, 0),
                       three = audited("dpstgd", 3, 5000, 1 - 1e-10, 5, turns, 1);
    assert_true(one.charged.epsilon == 3 && three.charged.epsilon == 3);
    assert_false(one.broken || three.broken);
    assert_true(one.epsilon_lower > 1.5 && three.epsilon_lower > 0.8);
}

static void the_printed_price_is_broken(void **state) {
    (void)state;
    tacit_audit_result claim = audited("dpstgd-claim", 2, 16000, 0.95, 8, NULL, 0);
    CHECK_NEAR(claim.charged.epsilon, 40 * log(1 + 0.004 * expm1(2)), 1e-9);
    assert_true(claim.broken);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sound_price_holds_and_is_nearly_used_up),
        cmocka_unit_test(the_printed_price_is_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
