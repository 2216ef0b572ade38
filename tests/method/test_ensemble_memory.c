/* An ensemble method that runs out of memory says so, or does without; what it returns then is what it always
 * returns. */
#include "check.h"

#include "failing.h"
#include "votes.h"

static const tacit_method *const ensemble[] = { &tacit_method_vote, &tacit_method_soft,
                                                &tacit_method_soft_stat, &tacit_method_pate };

static tacit_status run(voters *self, tacit_outcome *outcome) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_session session;
    tacit_stream root = tacit_stream_from_seed(1);
    TACIT_TRY(tacit_local_begin(self->all.local, &self->all.plan, &root, NULL, &session, &error));
    return self->all.plan.method->coordinate(&session, outcome, &error);
}

static void every_failing_allocation_of_a_run_is_survived(void **state) {
    (void)state;
    for (size_t m = 0; m < 4; m++)
        for (size_t classes = 2; classes <= 3; classes++) {
            voters whole;
            voters_make(&whole, ensemble[m], 3, classes, false, NULL);
            whole.all.plan.epsilon = 1;
            voters_set(&whole, "local", "logistic,tree");
            tacit_model *expected = parties_run(&whole.all, 1, NULL);
            bool failed = true;
            long at = 1;
            for (; failed; at += 3) {
                voters self;
                tacit_outcome outcome = TACIT_OUTCOME_INIT;
                voters_make(&self, ensemble[m], 3, classes, false, NULL);
                self.all.plan.epsilon = 1;
                voters_set(&self, "local", "logistic,tree");
                fail_allocation(at);
                tacit_status status = run(&self, &outcome);
                failed = allocation_failed();
                if (!failed || status != TACIT_NO_MEMORY) {
                    assert_int_equal(status, TACIT_OK);
                    assert_memory_equal(outcome.models[0]->weights, expected->weights,
                                        tacit_model_size(expected) * sizeof(double));
                }
                tacit_outcome_clear(&outcome);
                /* What the failed run left behind does not show in the next. */
                tacit_model *again = parties_run(&self.all, 1, NULL);
                assert_memory_equal(again->weights, expected->weights,
                                    tacit_model_size(expected) * sizeof(double));
                tacit_model_free(again);
                voters_end(&self);
            }
            assert_true(at > 20);
            tacit_model_free(expected);
            voters_end(&whole);
        }
}

static void every_failing_allocation_of_a_rehearsal_is_survived(void **state) {
    (void)state;
    for (size_t m = 0; m < 4; m++) {
        voters self;
        voters_make(&self, ensemble[m], 3, 2, false, NULL);
        self.all.plan.epsilon = 1;
        tacit_plan plan = self.all.plan;
        plan.lambda = 0;
        assert_int_equal(tacit_plan_choose_lambda(&plan, NULL), TACIT_OK);
        double expected = plan.lambda;
        bool failed = true;
        for (long at = 1; failed; at += at < 60 ? 1 : 37) {
            tacit_error error = TACIT_ERROR_INIT;
            plan.lambda = 0;
            fail_allocation(at);
            tacit_status status = tacit_plan_choose_lambda(&plan, &error);
            failed = allocation_failed();
            if (status == TACIT_OK)
                CHECK_NEAR(plan.lambda, expected, 0);
            else
                assert_true(failed && status == TACIT_NO_MEMORY);
        }
        voters_end(&self);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failing_allocation_of_a_run_is_survived),
        cmocka_unit_test(every_failing_allocation_of_a_rehearsal_is_survived),
    };
    return cmocka_run_group_tests_name("ensemble_memory", tests, NULL, NULL);
}
