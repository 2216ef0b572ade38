/* Every allocation of the accountants fails once: the call says so, leaves its output alone and leaks
 * nothing. */
#include "check.h"

#include "failing.h"
#include "privacy/account/accountant.h"

static tacit_status whole_use(double *epsilon, double *delta, tacit_adjacency adjacency) {
    tacit_accountant *accountant = NULL;
    tacit_spending spending;
    tacit_event events[] = { tacit_event_sampled(tacit_event_gaussian(3, 4), 0.2),
                             tacit_event_approximate(0.1, 1e-9, 1) };
    tacit_status status = tacit_accountant_create(&accountant, adjacency, NULL);
    for (int i = 0; i < 2 && status == TACIT_OK; i++)
        status = tacit_accountant_add(accountant, &events[i], NULL);
    if (status == TACIT_OK) status = tacit_accountant_epsilon(&spending, accountant, 1e-5, NULL);
    if (status == TACIT_OK) *epsilon = spending.epsilon;
    if (status == TACIT_OK) status = tacit_accountant_delta(&spending, accountant, 1, NULL);
    if (status == TACIT_OK) *delta = spending.delta;
    tacit_accountant_free(accountant);
    return status;
}

static void each_failure_is_reported(void **state) {
    (void)state;
    for (int adjacency = 0; adjacency < 2; adjacency++) {
        long at = 1;
        for (bool failed = true; failed;
             at += adjacency == TACIT_REPLACE ? 5 : 1) { /* hundreds, each a whole account */
            double epsilon = -1, delta = -1;
            fail_allocation(at);
            tacit_status status = whole_use(&epsilon, &delta, (tacit_adjacency)adjacency);
            failed = allocation_failed();
            assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
            if (failed) CHECK_NEAR(delta, -1, 0);
        }
        assert_true(at > 20);
    }
}

static void finding_noise_reports_each_failure(void **state) {
    (void)state;
    tacit_event event = tacit_event_sampled(tacit_event_laplace(1, 1), 0.5);
    for (long at = 1; at < 60; at += 7) {
        double scale = -1;
        fail_allocation(at);
        tacit_status status = tacit_noise_for(&scale, &event, TACIT_ADD_OR_REMOVE, 1, 1e-5, NULL);
        bool failed = allocation_failed();
        assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
        if (status != TACIT_OK) CHECK_NEAR(scale, -1, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_failure_is_reported),
        cmocka_unit_test(finding_noise_reports_each_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
