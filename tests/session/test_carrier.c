/* What carries a party's endpoints: chosen by the coordinator's address, and with a place for every endpoint. */
#include "check.h"

#include <string.h>

#include "session/carrier/carrier_https.h"

static void an_address_that_no_carrier_knows_is_refused(void **state) {
    (void)state;
    const char *const addresses[] = { "", "http://127.0.0.1:1", "file:/media/stick", "https:/",
                                      "127.0.0.1:443" };
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        const tacit_carrier_settings settings = { .address = addresses[i], .unverified = true };
        tacit_carrier *carrier = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(tacit_carrier_open(&carrier, &settings, &error), TACIT_USAGE);
        assert_null(carrier);
        assert_non_null(strstr(error.text, "https://"));
    }
    tacit_carrier_free(NULL);
}

/* Nobody is there, and that is said as what can pass. */
static void a_coordinator_that_is_away_is_worth_another_try(void **state) {
    (void)state;
    const tacit_carrier_settings settings = { .address = "https://127.0.0.1:1",
                                              .unverified = true,
                                              .proxy = "" };
    tacit_carrier *carrier = NULL;
    tacit_carried carried = { .result = TACIT_RESULT_WRONG, .reply = TACIT_BUFFER_LIMITED(1024) };
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_carrier_open(&carrier, &settings, &error), error);
    assert_int_equal(tacit_carrier_send(carrier, TACIT_ENDPOINT_POLL, NULL, 60000, &carried, &error),
                     TACIT_NETWORK);
    assert_int_equal(tacit_carrier_last_failure(carrier), TACIT_FAILURE_AWAY);
    assert_int_equal(carried.reply.length, 0);
    tacit_carrier_free(carrier);
}

static void every_endpoint_has_a_path_of_its_own(void **state) {
    (void)state;
    for (int i = 0; i < TACIT_ENDPOINTS; i++) {
        const tacit_https_endpoint *endpoint = &tacit_https_endpoints[i];
        assert_true(endpoint->path != NULL && endpoint->method != NULL);
        assert_int_equal(tacit_https_endpoint_at(endpoint->path), i);
    }
    assert_int_equal(tacit_https_endpoint_at("/v1/nothing"), TACIT_ENDPOINTS);
    assert_int_equal(tacit_https_endpoint_at(""), TACIT_ENDPOINTS);
    /* What needs no certificate: whoever has none yet, or cannot know whom to trust. */
    const tacit_endpoint open[] = { TACIT_ENDPOINT_LOOK, TACIT_ENDPOINT_JOIN, TACIT_ENDPOINT_CATALOGUE,
                                    TACIT_ENDPOINT_ENROL, TACIT_ENDPOINT_AUTHORITY };
    size_t count = 0;
    for (int i = 0; i < TACIT_ENDPOINTS; i++) count += (tacit_endpoint_rules(i) & TACIT_ENDPOINT_IS_OPEN);
    assert_int_equal(count, sizeof open / sizeof *open);
    for (size_t i = 0; i < count; i++) assert_true(tacit_endpoint_rules(open[i]) & TACIT_ENDPOINT_IS_OPEN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_that_no_carrier_knows_is_refused),
        cmocka_unit_test(a_coordinator_that_is_away_is_worth_another_try),
        cmocka_unit_test(every_endpoint_has_a_path_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
