/* What passes between the steps of a secure sum, and the owner's rules at their edges. */
#include "party.h"

#include <stdlib.h>

enum { SHORT = 64 };

/* A step of a secure sum: nothing of the rows in it. */
static tacit_release sample_message(void) {
    tacit_release message = sample_release(1);
    message.kind = TACIT_RELEASE_SEALED;
    message.noise = TACIT_NOISE_NONE;
    message.assumption = "masked sum";
    message.price = (tacit_price){ TACIT_UNIT_RECORD, 0, 0 };
    message.parameters = 0;
    return message;
}

static tacit_status party_pass(party *self, const tacit_release *message, size_t most) {
    self->error = (tacit_error)TACIT_ERROR_INIT;
    return tacit_gate_pass(&self->gate, message, most, &self->out, &self->error);
}

static void check_not_passed(party *self, const tacit_release *message, size_t most, const char *sentence) {
    const size_t length = self->out.length;
    const int refusals = party_log(self).kinds[TACIT_ENTRY_REFUSAL];
    assert_int_equal(party_pass(self, message, most), TACIT_REFUSED);
    if (strstr(self->error.text, sentence) == NULL)
        fail_msg("'%s' does not say '%s'", self->error.text, sentence);
    assert_int_equal(self->out.length, length);
    assert_int_equal(party_log(self).kinds[TACIT_ENTRY_REFUSAL], refusals + 1);
}

static void a_message_between_steps_passes_uncharged(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    const tacit_release message = sample_message();
    CHECK_OK(party_pass(&self, &message, message.payload_length), self.error); /* the longest that may */
    assert_int_equal(self.out.length, message.payload_length);
    CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), 0, 0);
    party_end(&self);
}

static void a_message_between_steps_carries_nothing_of_the_rows(void **state) {
    (void)state;
    static const char sentence[] = "a message between steps may carry nothing of the rows";
    party self;
    party_ready(&self);
    tacit_release message = sample_message();
    check_not_passed(&self, &message, message.payload_length - 1, sentence);
    message.parameters = 1;
    check_not_passed(&self, &message, SHORT, sentence);
    message = sample_message();
    message.price.epsilon = 0.25;
    message.noise = TACIT_NOISE_EXACT;
    check_not_passed(&self, &message, SHORT, sentence);
    message = sample_message();
    message.kind = TACIT_RELEASE_CHARGED;
    message.price.epsilon = 0.25;
    message.noise = TACIT_NOISE_EXACT;
    check_not_passed(&self, &message, SHORT, sentence);
    party_end(&self);
}

static void a_message_between_steps_needs_consent(void **state) {
    (void)state;
    party self = party_new();
    party_open(&self, TACIT_LEDGER_CREATE);
    const tacit_release message = sample_message();
    check_not_passed(&self, &message, SHORT, "has not consented");
    CHECK_OK(tacit_ledger_consent(self.ledger, STUDY, message.study_hash, &self.error), self.error);
    CHECK_OK(party_pass(&self, &message, SHORT), self.error);
    CHECK_OK(tacit_ledger_withdraw(self.ledger, STUDY, &self.error), self.error);
    check_not_passed(&self, &message, SHORT, "has withdrawn");
    party_end(&self);
}

static void only_methods_that_the_owner_names_answer(void **state) {
    (void)state;
    static const char *const methods[] = { "dpgd", "gop" };
    party self;
    party_ready(&self);
    self.policy.methods = methods;
    self.policy.method_count = 2;
    tacit_release release = sample_release(1);
    party_refuses(&self, &release, TACIT_REFUSED, "method avg is not among those the owner allows");
    release.method = "gop";
    CHECK_OK(party_release(&self, &release), self.error);
    party_end(&self);
}

static void minima_hold_to_the_last_row_party_and_number(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    self.policy.minimum_rows = 100;
    self.policy.minimum_parties = 3;
    self.policy.most_parameters_per_row = 0.31;
    tacit_release release = sample_release(1); /* 100 rows, 3 parties, 31 numbers */
    CHECK_OK(party_release(&self, &release), self.error);
    release = sample_release(2);
    release.rows = 99;
    party_refuses(&self, &release, TACIT_REFUSED, "rests on 99 rows, fewer than the owner's minimum of 100");
    release = sample_release(3);
    release.parties_minimum = 2;
    party_refuses(&self, &release, TACIT_REFUSED, "from 2 parties, fewer than the owner's minimum of 3");
    release = sample_release(4);
    release.parameters = 32;
    party_refuses(&self, &release, TACIT_REFUSED, "holds 32 numbers from 100 rows");
    party_end(&self);
}

static void a_finite_price_needs_noise(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_release release = sample_release(1);
    release.noise = TACIT_NOISE_NONE;
    party_refuses(&self, &release, TACIT_INPUT, "priced at epsilon 0.25 but has no noise");
    party_end(&self);
}

/* An event of 0.3 at a price of 0.25, by a hair or by much, is not what was paid for. */
static void an_event_costs_no_more_than_its_price(void **state) {
    (void)state;
    static const double more[] = { 1 + 1e-9, 1.2, 4 };
    party self;
    party_ready(&self);
    tacit_release release = sample_release(1);
    release.event = tacit_event_replaced(tacit_event_pure(0.25, 1));
    CHECK_OK(party_release(&self, &release), self.error);
    for (int i = 0; i < 3; i++) {
        release = sample_release(2 + i);
        release.event = tacit_event_replaced(tacit_event_pure(0.25 * more[i], 1));
        party_refuses(&self, &release, TACIT_INPUT, "the answer's noise does not buy its price");
    }
    party_end(&self);
}

static void an_answer_has_a_largest_length(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_release release = sample_release(1);
    uint8_t *payload = calloc(1, (size_t)TACIT_PAYLOAD_MOST + 1);
    assert_non_null(payload);
    release.payload = payload;
    release.payload_length = (size_t)TACIT_PAYLOAD_MOST + 1;
    party_refuses(&self, &release, TACIT_INPUT, "is longer than the allowed");
    free(payload);
    party_end(&self);
}

static void the_usual_rules_want_ten_rows_and_two_parties(void **state) {
    (void)state;
    const tacit_policy usual = tacit_policy_default();
    assert_int_equal(usual.minimum_rows, 10);
    assert_int_equal(usual.minimum_parties, 2);
    assert_false(usual.allow_entrusted || usual.allow_exact || usual.allow_neighbours || usual.allow_site);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_between_steps_passes_uncharged),
        cmocka_unit_test(a_message_between_steps_carries_nothing_of_the_rows),
        cmocka_unit_test(a_message_between_steps_needs_consent),
        cmocka_unit_test(only_methods_that_the_owner_names_answer),
        cmocka_unit_test(minima_hold_to_the_last_row_party_and_number),
        cmocka_unit_test(a_finite_price_needs_noise),
        cmocka_unit_test(an_event_costs_no_more_than_its_price),
        cmocka_unit_test(an_answer_has_a_largest_length),
        cmocka_unit_test(the_usual_rules_want_ten_rows_and_two_parties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
