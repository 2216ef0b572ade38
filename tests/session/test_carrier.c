/* What carries a party's errands: chosen by the coordinator's address, and with a place for every errand. */
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
    tacit_carried carried = { .fate = TACIT_FATE_WRONG, .reply = TACIT_BUFFER_LIMITED(1024) };
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_carrier_open(&carrier, &settings, &error), error);
    assert_int_equal(tacit_carrier_send(carrier, TACIT_ERRAND_POLL, NULL, 60000, &carried, &error),
                     TACIT_NETWORK);
    assert_int_equal(tacit_carrier_trouble(carrier), TACIT_TROUBLE_AWAY);
    assert_int_equal(carried.reply.length, 0);
    tacit_carrier_free(carrier);
}

static void every_errand_has_a_path_of_its_own(void **state) {
    (void)state;
    for (int i = 0; i < TACIT_ERRANDS; i++) {
        const tacit_https_errand *errand = &tacit_https_errands[i];
        assert_true(errand->path != NULL && errand->method != NULL);
        assert_int_equal(tacit_https_errand_at(errand->path), i);
    }
    assert_int_equal(tacit_https_errand_at("/v1/nothing"), TACIT_ERRANDS);
    assert_int_equal(tacit_https_errand_at(""), TACIT_ERRANDS);
    /* What needs no certificate: whoever has none yet, or cannot know whom to trust. */
    const tacit_errand open[] = { TACIT_ERRAND_LOOK, TACIT_ERRAND_JOIN, TACIT_ERRAND_CATALOGUE,
                                  TACIT_ERRAND_ENROL, TACIT_ERRAND_AUTHORITY };
    size_t count = 0;
    for (int i = 0; i < TACIT_ERRANDS; i++) count += (tacit_errand_rules(i) & TACIT_ERRAND_IS_OPEN);
    assert_int_equal(count, sizeof open / sizeof *open);
    for (size_t i = 0; i < count; i++) assert_true(tacit_errand_rules(open[i]) & TACIT_ERRAND_IS_OPEN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_that_no_carrier_knows_is_refused),
        cmocka_unit_test(a_coordinator_that_is_away_is_worth_another_try),
        cmocka_unit_test(every_errand_has_a_path_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
