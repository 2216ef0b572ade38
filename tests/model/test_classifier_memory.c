/* Every allocation of ours fails once while classifiers are trained and used: the call fails cleanly, leaves
 * the labels alone, and nothing leaks. */
#include "classes.h"
#include "failing.h"

static void training_and_predicting_survive_each_failure(void **state) {
    (void)state;
    static const char *const kinds[] = { "logistic",  "svm", "tree",  "bayes",
                                         "bernoulli", "knn", "mlp:2", "exec:/bin/cat" };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (int sparse = 0; sparse < 2; sparse++) {
            classes_set set = classes_clouds(9, 3, 3, 0.5, 41);
            tacit_view rows = classes_view(&set, sparse);
            tacit_training training = classes_training();
            bool is_exec = strncmp(kinds[k], "exec", 4) == 0; /* its labels are unusable here */
            long at = 1;
            for (bool failed = true; failed; at++) {
                tacit_classifier *classifier = NULL;
                tacit_error error = TACIT_ERROR_INIT;
                int32_t labels[9] = { -7 };
                fail_allocation(at);
                tacit_status status = tacit_classifier_train(&classifier, kinds[k], &rows, &training, &error);
                assert_true((status == TACIT_OK) == (classifier != NULL));
                if (status == TACIT_OK)
                    status = tacit_classifier_predict(classifier, &rows.rows, labels, &error);
                failed = allocation_failed();
                if (status != (failed ? TACIT_NO_MEMORY : is_exec ? TACIT_INPUT : TACIT_OK))
                    fail_msg("%s, allocation %ld: %s", kinds[k], at, error.text);
                assert_true((labels[0] == -7) == (failed || is_exec));
                tacit_classifier_free(classifier);
            }
            assert_true(at > 2);
            classes_clear(&set);
        }
}

static void settling_a_list_survives_each_failure(void **state) {
    (void)state;
    for (long at = 1, failed = 1; failed; at++) {
        tacit_buffer out = TACIT_BUFFER_INIT;
        tacit_error error = TACIT_ERROR_INIT;
        fail_allocation(at);
        tacit_status status = tacit_classifier_settle("tree,exec:sh -c 'echo 1'", &out, &error);
        failed = allocation_failed();
        assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
        tacit_buffer_clear(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_and_predicting_survive_each_failure),
        cmocka_unit_test(settling_a_list_survives_each_failure),
    };
    return cmocka_run_group_tests_name("classifier memory", tests, NULL, NULL);
}
