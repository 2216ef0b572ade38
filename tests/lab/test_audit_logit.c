/*
 * Audits of dp in newton, privlogit-hessian and privlogit-local. Seeds are fixed. For a change that draws other numbers: a
 * sound subject is called broken with probability at most 1e-10.
 */
#include "check.h"

#include "lab/audit/audit.h"

static tacit_audit_result audited(const char *name, double epsilon, double delta, const char *iterations) {
    tacit_setting_value settings[] = { { "dp-iterations", iterations } };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_audit audit = {
        .setup = { .epsilon = epsilon, .delta = delta, .settings = settings, .setting_count = 1 },
        .runs = 12000,
        .confidence = 1 - 1e-10,
        .seed = 5
    };
    tacit_audit_result result;
    CHECK_OK(tacit_auditable_require(&audit.subject, name, &error), error);
    CHECK_OK(tacit_audit_run(&result, &audit, &error), error);
    print_message("# %s, charged %g, reach %.3f: at least %.4f\n", name, result.charged.epsilon, result.reach,
                  result.epsilon_lower);
    assert_true(result.charged.epsilon == epsilon && result.charged.delta == delta);
    return result;
}

static void audits_find_dp_sound(void **state) {
    (void)state;
    tacit_audit_result newton = audited("newton", 3, 0.05, "1"), many = audited("newton", 3, 0.05, "8"),
                       hessian = audited("privlogit-hessian", 3, 0.05, "8"),
                       local = audited("privlogit-local", 3, 0.05, "8");
    assert_false(newton.broken || many.broken || hessian.broken || local.broken);
    assert_true(local.epsilon_lower > 0.9 && local.reach > 0.93 && local.reach <= 1);
    assert_true(newton.epsilon_lower > 0.8 && many.epsilon_lower > 0.8 && hessian.epsilon_lower > 0.9);
    assert_true(newton.reach > 0.85 && newton.reach <= 1);
    assert_true(hessian.reach > 0.93 && hessian.reach <= 1);
}

static void noise_that_is_not_divided_is_found_broken(void **state) {
    (void)state;
    assert_true(audited("newton-undivided", 1, 1e-5, "32").epsilon_lower > 2);
}

static void without_a_delta_that_of_the_method_is_charged(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_auditable *subject = NULL;
    tacit_audit_setup setup = { .epsilon = 1 };
    tacit_audit_case one;
    CHECK_OK(tacit_auditable_require(&subject, "newton", &error), error);
    CHECK_OK(tacit_audit_open(&one, subject, &setup, &error), error);
    assert_true(one.charged.delta == 1e-6);
    tacit_audit_close(&one, subject);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(audits_find_dp_sound),
        cmocka_unit_test(noise_that_is_not_divided_is_found_broken),
        cmocka_unit_test(without_a_delta_that_of_the_method_is_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
