/* Every allocation of ours fails once while a network is set up and passes over rows: the call fails cleanly,
 * and nothing leaks. */
#include "classes.h"
#include "failing.h"

#include "model/clipped_batch.h"
#include "model/network.h"

enum { ROWS = 12, FEATURES = 3, SIZE = 4 * 5 + 6 * 3 };

static tacit_network small_network(void) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_network network;
    CHECK_OK(tacit_network_parse(&network, "5", "", TACIT_ACTIVATION_TANH, FEATURES, 3, &error), error);
    assert_int_equal(tacit_network_size(&network), SIZE);
    return network;
}

static tacit_status pass_in_single(const tacit_network *network, const tacit_view *rows, tacit_error *error) {
    static const double weight[] = { 1, 2, 3 }, parameters[SIZE] = { 0.5, -0.5, 0.25 };
    double out[SIZE + ROWS * 3];
    tacit_batch *batch = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_batch_create(&batch, network, weight, NULL, error));
    tacit_batch_load(batch, parameters);
    TACIT_CHECK(tacit_batch_sum(batch, rows, 1, out, error));
    TACIT_CHECK(tacit_batch_sum_clamped(batch, rows, 1, out, error));
    TACIT_CHECK(tacit_batch_sum_plain(batch, rows, out, error));
cleanup:
    tacit_batch_free(batch);
    return status;
}

static tacit_status pass_in_double(const tacit_network *network, const tacit_view *rows, tacit_error *error) {
    static const double parameters[SIZE] = { 0.5, -0.5, 0.25 };
    double gradient[SIZE] = { 0 };
    tacit_network_space *space = NULL;
    TACIT_TRY(tacit_network_space_create(&space, network, error));
    tacit_network_backward(network, parameters, rows, space, gradient);
    tacit_network_space_free(space);
    return TACIT_OK;
}

static void passes_survive_each_failure(void **state) {
    (void)state;
    typedef tacit_status pass(const tacit_network *network, const tacit_view *rows, tacit_error *error);
    static pass *const passes[] = { pass_in_single, pass_in_double };
    tacit_network network = small_network();
    for (size_t k = 0; k < 2; k++)
        for (int sparse = 0; sparse < 2; sparse++) {
            classes_set set = classes_clouds(ROWS, FEATURES, 3, 0.5, 41);
            tacit_view rows = classes_view(&set, sparse);
            long at = 1;
            for (bool failed = true; failed; at++) {
                tacit_error error = TACIT_ERROR_INIT;
                fail_allocation(at);
                tacit_status status = passes[k](&network, &rows, &error);
                failed = allocation_failed();
                if (status != (failed ? TACIT_NO_MEMORY : TACIT_OK))
                    fail_msg("pass %zu, allocation %ld: %s", k, at, error.text);
            }
            assert_true(at > 5);
            classes_clear(&set);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(passes_survive_each_failure) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
