#include "party.h"

static void a_release_is_charged_logged_and_let_out(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_release release = sample_release(1);
    assert_int_equal(tacit_buffer_append(&self.out, "before:", 7, NULL), TACIT_OK);
    CHECK_OK(party_release(&self, &release), self.error);
    assert_int_equal(self.out.length, 7 + release.payload_length);
    assert_memory_equal(self.out.bytes + 7, release.payload, release.payload_length);
    CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), 0.25, 0);
    CHECK_NEAR(party_spent(&self, STUDY, TACIT_UNIT_RECORD), 0.25, 0);
    CHECK_NEAR(party_spent(&self, "other", TACIT_UNIT_RECORD), 0, 0);
    log_summary log = party_log(&self);
    assert_int_equal(log.kinds[TACIT_ENTRY_CHARGE], 1);
    assert_int_equal(log.noise, TACIT_NOISE_EXACT);
    party_verifies(&self, 3);
    party_end(&self);
}

static void without_a_limit_nothing_real_leaves(void **state) {
    (void)state;
    party self = party_new();
    party_open(&self, TACIT_LEDGER_CREATE);
    tacit_release release = sample_release(1);
    CHECK_OK(tacit_ledger_consent(self.ledger, STUDY, release.study_hash, &self.error), self.error);
    party_refuses(&self, &release, TACIT_REFUSED, "no privacy limit per record is set for " SOURCE);
    const tacit_price study_limit = { TACIT_UNIT_RECORD, 5, 0 };
    CHECK_OK(tacit_ledger_set_limit(self.ledger, STUDY, &study_limit, &self.error), self.error);
    party_refuses(&self, &release, TACIT_REFUSED, "no privacy limit"); /* of one study is not enough */
    const tacit_price party_limit = { TACIT_UNIT_PARTY, 5, 0 };
    CHECK_OK(tacit_ledger_set_limit(self.ledger, NULL, &party_limit, &self.error), self.error);
    party_refuses(&self, &release, TACIT_REFUSED, "no privacy limit"); /* does not bound a record charge */
    release.price.unit = TACIT_UNIT_PARTY;
    CHECK_OK(party_release(&self, &release), self.error);
    party_end(&self);
}

static void beyond_the_limit_is_refused_with_the_figures(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    const tacit_price limit = { TACIT_UNIT_RECORD, 1, 0 };
    CHECK_OK(tacit_ledger_set_limit(self.ledger, NULL, &limit, &self.error), self.error);
    for (int i = 0; i < 4; i++) {
        tacit_release release = sample_release(i);
        CHECK_OK(party_release(&self, &release), self.error); /* 4 x 0.25 is exactly the limit */
    }
    tacit_release release = sample_release(4);
    party_refuses(&self, &release, TACIT_REFUSED, "limit of ward-7 is epsilon 1, delta 0, per record");
    assert_non_null(strstr(self.error.text, "spent is epsilon 1,"));
    assert_non_null(strstr(self.error.text, "another 0.25, delta 0, would make it 1.25, by basic"));
    const tacit_price higher = { TACIT_UNIT_RECORD, 2, 1e-5 };
    CHECK_OK(tacit_ledger_set_limit(self.ledger, NULL, &higher, &self.error), self.error);
    release.price.delta = 2e-5;
    party_refuses(&self, &release, TACIT_REFUSED, "delta 2e-05, leaves nothing that is proved");
    release.price.delta = 2e-6; /* where no more than a price is known, a quarter of delta is taken */
    CHECK_OK(party_release(&self, &release), self.error);
    const tacit_price lower = { TACIT_UNIT_RECORD, 0.5, 1e-5 };
    CHECK_OK(tacit_ledger_set_limit(self.ledger, NULL, &lower, &self.error), self.error);
    release = sample_release(5);
    party_refuses(&self, &release, TACIT_REFUSED, "epsilon 0.5");
    party_verifies(&self, 0);
    party_end(&self);
}

static void a_study_is_held_to_its_own_limit(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    const tacit_price limit = { TACIT_UNIT_RECORD, 0.3, 0 };
    tacit_release release = sample_release(1);
    CHECK_OK(tacit_ledger_set_limit(self.ledger, STUDY, &limit, &self.error), self.error);
    CHECK_OK(tacit_ledger_consent(self.ledger, "lungs", release.study_hash, &self.error), self.error);
    CHECK_OK(party_release(&self, &release), self.error);
    release = sample_release(2);
    party_refuses(&self, &release, TACIT_REFUSED, "limit of ward-7 for study heart");
    release.study = "lungs"; /* has no limit of its own: the total holds */
    CHECK_OK(party_release(&self, &release), self.error);
    CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), 0.5, 0);
    CHECK_NEAR(party_spent(&self, STUDY, TACIT_UNIT_RECORD), 0.25, 0);
    CHECK_NEAR(party_spent(&self, "lungs", TACIT_UNIT_RECORD), 0.25, 0);
    party_end(&self);
}

/* The owner's rule on one study is kept through the limit that the ledger holds it to. */
static void a_study_without_a_small_enough_limit_is_refused(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_price limit = { TACIT_UNIT_RECORD, 3, 0 };
    const tacit_release release = sample_release(1);
    self.policy.most_study_epsilon = 2;
    party_refuses(&self, &release, TACIT_REFUSED,
                  "may take epsilon inf, more than the owner's 2 for one study");
    CHECK_OK(tacit_ledger_set_limit(self.ledger, STUDY, &limit, &self.error), self.error);
    party_refuses(&self, &release, TACIT_REFUSED, "may take epsilon 3");
    limit.epsilon = 2;
    CHECK_OK(tacit_ledger_set_limit(self.ledger, STUDY, &limit, &self.error), self.error);
    CHECK_OK(party_release(&self, &release), self.error);
    party_end(&self);
}

/* A guarantee per party is one per record; not the other way round. */
static void party_charges_count_for_records_too(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_release release = sample_release(1);
    CHECK_OK(party_release(&self, &release), self.error);
    release = sample_release(2);
    release.price = (tacit_price){ TACIT_UNIT_PARTY, 1, 0 };
    CHECK_OK(party_release(&self, &release), self.error);
    CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), 1.25, 0);
    CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_PARTY), 1, 0);
    release = sample_release(3);
    release.price =
        (tacit_price){ TACIT_UNIT_PARTY, 9, 0 }; /* fits no party limit, but passes the record's */
    party_refuses(&self, &release, TACIT_REFUSED, "per record");
    const tacit_price limit = { TACIT_UNIT_PARTY, 1.5, 0 };
    CHECK_OK(tacit_ledger_set_limit(self.ledger, NULL, &limit, &self.error), self.error);
    release.price.epsilon = 1;
    party_refuses(&self, &release, TACIT_REFUSED, "per party");
    release.price.unit = TACIT_UNIT_RECORD;
    CHECK_OK(party_release(&self, &release), self.error);
    party_verifies(&self, 0);
    party_end(&self);
}

static void asking_again_sends_the_stored_bytes_free_of_charge(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_release release = sample_release(1);
    bool stored = true;
    CHECK_OK(tacit_gate_has_answer(&stored, &self.gate, release.answer_id, release.question_hash, NULL),
             self.error);
    assert_false(stored);
    CHECK_OK(party_release(&self, &release), self.error);
    tacit_ledger_free(self.ledger);
    party_open(&self, TACIT_LEDGER_EXISTING); /* also after a restart */
    CHECK_OK(tacit_gate_has_answer(&stored, &self.gate, release.answer_id, release.question_hash, NULL),
             self.error);
    assert_true(stored);
    tacit_release again = release;
    again.payload = (const uint8_t *)"other noise, drawn again"; /* a handler that ran twice */
    again.payload_length = 10;
    tacit_buffer_clear(&self.out);
    CHECK_OK(party_release(&self, &again), self.error);
    again.payload = NULL, again.payload_length = 0; /* or did not run at all */
    CHECK_OK(party_release(&self, &again), self.error);
    assert_int_equal(self.out.length, 2 * release.payload_length);
    assert_memory_equal(self.out.bytes, release.payload, release.payload_length);
    assert_memory_equal(self.out.bytes + release.payload_length, release.payload, release.payload_length);
    CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), 0.25, 0);
    assert_int_equal(party_log(&self).kinds[TACIT_ENTRY_CHARGE], 1);
    const tacit_price limit = { TACIT_UNIT_RECORD, 0, 0 }; /* what is paid for needs no budget */
    CHECK_OK(tacit_ledger_set_limit(self.ledger, NULL, &limit, &self.error), self.error);
    CHECK_OK(party_release(&self, &release), self.error);
    party_end(&self);
}

static void an_answer_id_serves_one_question(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_release release = sample_release(1);
    CHECK_OK(party_release(&self, &release), self.error);
    release.question_hash[31] ^= 1;
    bool stored = true;
    CHECK_OK(tacit_gate_has_answer(&stored, &self.gate, release.answer_id, release.question_hash, NULL),
             self.error);
    assert_false(stored);
    party_refuses(&self, &release, TACIT_REFUSED, "used for another question");
    release = sample_release(2);
    release.payload_length = 0;
    party_refuses(&self, &release, TACIT_INPUT, "no answer to question weights is stored");
    party_end(&self);
}

static void consent_is_needed_matched_and_withdrawn(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_consent consent;
    tacit_release release = sample_release(1), unknown = sample_release(2);
    unknown.study = "lungs";
    party_refuses(&self, &unknown, TACIT_REFUSED, "has not consented to study lungs");
    CHECK_OK(party_release(&self, &release), self.error);
    tacit_release changed = sample_release(3);
    changed.study_hash[0] ^= 1;
    party_refuses(&self, &changed, TACIT_REFUSED, "has changed since");
    CHECK_OK(tacit_ledger_consent(self.ledger, STUDY, changed.study_hash, &self.error), self.error);
    CHECK_OK(party_release(&self, &changed), self.error);
    CHECK_OK(tacit_ledger_withdraw(self.ledger, STUDY, &self.error), self.error);
    CHECK_OK(tacit_ledger_consent_state(&consent, self.ledger, STUDY, &self.error), self.error);
    assert_int_equal(consent, TACIT_CONSENT_WITHDRAWN);
    party_refuses(&self, &changed, TACIT_REFUSED, "has withdrawn"); /* not even what was sent before */
    CHECK_OK(tacit_ledger_consent_state(&consent, self.ledger, "lungs", &self.error), self.error);
    assert_int_equal(consent, TACIT_CONSENT_NONE);
    CHECK_OK(tacit_ledger_consent(self.ledger, STUDY, changed.study_hash, &self.error), self.error);
    CHECK_OK(tacit_ledger_consent_state(&consent, self.ledger, STUDY, &self.error), self.error);
    assert_int_equal(consent, TACIT_CONSENT_GIVEN);
    CHECK_OK(party_release(&self, &changed), self.error);
    party_verifies(&self, 0);
    party_end(&self);
}

/* A word that the study spells out: on the disk before it is said, and by consent to this very definition alone. */
static void a_statement_needs_consent_to_the_definition_and_is_logged(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_release about = sample_release(1);
    about.question = "eligible";
    CHECK_OK(tacit_gate_state_fact(&self.gate, &about, &self.error), self.error);
    assert_int_equal(party_log(&self).kinds[TACIT_ENTRY_STATEMENT], 1);
    CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), 0, 0);
    party_verifies(&self, 0);
    about.study_hash[0] ^= 1; /* amended since */
    assert_int_equal(tacit_gate_state_fact(&self.gate, &about, &self.error), TACIT_REFUSED);
    assert_non_null(strstr(self.error.text, "has not consented to the study as it is"));
    about.study_hash[0] ^= 1;
    CHECK_OK(tacit_ledger_withdraw(self.ledger, STUDY, &self.error), self.error);
    assert_int_equal(tacit_gate_state_fact(&self.gate, &about, &self.error), TACIT_REFUSED);
    log_summary log = party_log(&self);
    assert_int_equal(log.kinds[TACIT_ENTRY_STATEMENT], 1);
    assert_int_equal(log.kinds[TACIT_ENTRY_REFUSAL], 2);
    party_verifies(&self, 0);
    party_end(&self);
}

static void nothing_simulated_passes_a_real_gate(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_release release = sample_release(1);
    release.noise = TACIT_NOISE_SIMULATED;
    party_refuses(&self, &release, TACIT_REFUSED, "simulated noise");
    release.noise = TACIT_NOISE_NONE;
    release.price.epsilon = INFINITY;
    party_refuses(&self, &release, TACIT_REFUSED, "infinite epsilon");
    release.noise = TACIT_NOISE_EXACT;
    party_refuses(&self, &release, TACIT_REFUSED, "infinite epsilon");
    tacit_ledger *memory = NULL;
    tacit_gate gate;
    CHECK_OK(tacit_ledger_create(&memory, &self.error), self.error);
    assert_int_equal(tacit_gate_init(&gate, memory, &self.policy, TACIT_GATE_REAL, NULL), TACIT_USAGE);
    assert_int_equal(tacit_gate_init(&gate, self.ledger, &self.policy, TACIT_GATE_SIMULATED, NULL),
                     TACIT_USAGE);
    tacit_ledger_free(memory);
    party_end(&self);
}

static void exact_sums_pass_with_the_owners_word_and_count_as_infinite(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_release release = sample_release(1);
    release.noise = TACIT_NOISE_NONE;
    release.price.epsilon = INFINITY;
    self.policy.allow_exact = true;
    party_refuses(&self, &release, TACIT_REFUSED, "infinite epsilon"); /* an answer of its own is no sum */
    release.kind = TACIT_RELEASE_ENTRUSTED;
    self.policy.allow_entrusted = true;
    CHECK_OK(party_release(&self, &release), self.error);
    tacit_account account;
    CHECK_OK(tacit_ledger_account(&account, self.ledger, NULL, TACIT_UNIT_RECORD, &self.error), self.error);
    assert_true(isinf(account.spent_epsilon));
    tacit_release later = sample_release(2); /* what promises privacy may not follow */
    assert_int_equal(party_release(&self, &later), TACIT_REFUSED);
    party_verifies(&self, 0);
    party_end(&self);
}

static void figures_of_one_site_have_a_rule_of_their_own(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_release release = sample_release(1);
    release.of_one_site = true;
    self.policy.allow_exact = self.policy.allow_entrusted = self.policy.allow_neighbours = true;
    party_refuses(&self, &release, TACIT_REFUSED, "the option 'allow-site'");
    self.policy.allow_site = true;
    CHECK_OK(party_release(&self, &release), self.error);
    party_end(&self);
}

static void words_to_neighbours_have_a_rule_of_their_own(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_release release = sample_release(1);
    release.noise = TACIT_NOISE_NONE;
    release.price.epsilon = INFINITY;
    release.kind = TACIT_RELEASE_ENTRUSTED;
    release.without_center = true;
    self.policy.allow_exact = self.policy.allow_entrusted = true;
    party_refuses(&self, &release, TACIT_REFUSED, "the option 'allow-neighbours'");
    self.policy = tacit_policy_default();
    self.policy.allow_neighbours = true;
    CHECK_OK(party_release(&self, &release), self.error);
    tacit_release other = sample_release(2); /* and the rule is for no other method */
    other.noise = TACIT_NOISE_NONE;
    other.price.epsilon = INFINITY;
    other.kind = TACIT_RELEASE_ENTRUSTED;
    assert_int_equal(party_release(&self, &other), TACIT_REFUSED);
    assert_non_null(strstr(self.error.text, "infinite epsilon"));
    party_end(&self);
}

static void check_state(party *self, const char *expected) {
    tacit_buffer kept = TACIT_BUFFER_INIT;
    bool found = false;
    CHECK_OK(tacit_gate_state(&found, &self->gate, STUDY, &kept, &self->error), self->error);
    assert_int_equal(found, expected != NULL);
    if (expected != NULL) assert_string_equal(tacit_buffer_text(&kept), expected);
    tacit_buffer_clear(&kept);
}

/* State goes with the charge: both are there or neither. */
static void state_is_kept_with_the_charge(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_release release = sample_release(1);
    check_state(&self, NULL);
    release.state = (const uint8_t *)"first";
    release.state_length = strlen("first");
    release.price.epsilon = 11;
    party_refuses(&self, &release, TACIT_REFUSED, "11");
    check_state(&self, NULL);
    release.price.epsilon = 0.25;
    CHECK_OK(party_release(&self, &release), self.error);
    check_state(&self, "first");
    release.state = (const uint8_t *)"other"; /* asked again: what was charged for stays */
    CHECK_OK(party_release(&self, &release), self.error);
    check_state(&self, "first");
    tacit_release next = sample_release(2); /* of a method that keeps none */
    CHECK_OK(party_release(&self, &next), self.error);
    check_state(&self, "first");
    tacit_release last = sample_release(3);
    last.state = (const uint8_t *)"second";
    last.state_length = strlen("second");
    CHECK_OK(party_release(&self, &last), self.error);
    tacit_ledger_free(self.ledger);
    party_open(&self, TACIT_LEDGER_EXISTING);
    check_state(&self, "second");
    party_verifies(&self, 0);
    party_end(&self);
}

static void a_malformed_release_is_refused_and_logged(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    static const double bad_epsilon[] = { NAN, -1, 0, -INFINITY };
    static const double bad_delta[] = { NAN, -1e-9, 1, INFINITY };
    for (int i = 0; i < 4; i++) {
        tacit_release release = sample_release(i);
        release.price.epsilon = bad_epsilon[i];
        party_refuses(&self, &release, TACIT_INPUT, "epsilon is");
        release = sample_release(i);
        release.price.delta = bad_delta[i];
        party_refuses(&self, &release, TACIT_INPUT, "delta is");
    }
    tacit_release release = sample_release(9);
    release.study = "\x1b]0;evil\x07";
    party_refuses(&self, &release, TACIT_INPUT, "control character");
    release.study = release.method = release.question = release.coordinator = NULL;
    release.kind = (tacit_release_kind)77;
    party_refuses(&self, &release, TACIT_INPUT, "not a kind of release");
    assert_int_equal(tacit_gate_release(&self.gate, &release, &self.out, NULL), TACIT_INPUT);
    party_verifies(&self, 0);
    party_end(&self);
}

/* A coordinator can ask for what is refused as often as it likes. */
static void refusals_do_not_fill_the_disk(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_release release = sample_release(1);
    release.rows = 3;
    for (int i = 0; i < 200; i++) assert_int_equal(party_release(&self, &release), TACIT_REFUSED);
    assert_int_equal(party_log(&self).kinds[TACIT_ENTRY_REFUSAL], 32);
    party_verifies(&self, 0);
    /* They count over a restart, and keep nothing else from being charged and logged. */
    tacit_ledger_free(self.ledger);
    party_open(&self, TACIT_LEDGER_EXISTING);
    assert_int_equal(party_release(&self, &release), TACIT_REFUSED);
    assert_int_equal(party_log(&self).kinds[TACIT_ENTRY_REFUSAL], 32);
    release = sample_release(2);
    CHECK_OK(party_release(&self, &release), self.error);
    assert_int_equal(party_log(&self).kinds[TACIT_ENTRY_CHARGE], 1);
    party_verifies(&self, 0);
    party_end(&self);
}

static void the_policy_is_asked_before_the_budget(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_release release = sample_release(1);
    release.rows = 3;
    party_refuses(&self, &release, TACIT_REFUSED, "3 rows");
    release = sample_release(1);
    release.kind = TACIT_RELEASE_ENTRUSTED;
    party_refuses(&self, &release, TACIT_REFUSED, "uni-hospital");
    self.policy.allow_entrusted = true;
    CHECK_OK(party_release(&self, &release), self.error);
    CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), 0.25, 0);
    release = sample_release(2);
    release.kind = TACIT_RELEASE_SEALED;
    release.assumption = "at most 2 of 5 parties collude";
    release.price = (tacit_price){ TACIT_UNIT_RECORD, 0, 0 };
    release.noise = TACIT_NOISE_NONE;
    CHECK_OK(party_release(&self, &release), self.error);
    CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), 0.25, 0);
    assert_int_equal(party_log(&self).kinds[TACIT_ENTRY_CHARGE], 2);
    party_end(&self);
}

static void a_buffer_without_room_costs_nothing(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_release release = sample_release(1);
    self.out.limit = 5;
    assert_int_equal(party_release(&self, &release), TACIT_LIMIT);
    CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), 0, 0);
    party_end(&self);
}

static void thousands_of_simulated_parties_keep_their_sums(void **state) {
    (void)state;
    enum { PARTIES = 20000 };
    static tacit_ledger *ledger[PARTIES];
    tacit_policy policy = tacit_policy_none();
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_release release = sample_release(1);
    release.noise = TACIT_NOISE_SIMULATED;
    release.price = (tacit_price){ TACIT_UNIT_PARTY, 1, 1e-6 };
    const tacit_price limit = { TACIT_UNIT_RECORD, 1, 1e-5 };
    tacit_account account;
    for (int i = 0; i < PARTIES; i++) CHECK_OK(tacit_ledger_create(&ledger[i], &error), error);
    for (int i = 0; i < PARTIES; i++) {
        tacit_gate gate;
        CHECK_OK(tacit_gate_init(&gate, ledger[i], &policy, TACIT_GATE_SIMULATED, &error), error);
        if (i % 2 == 0) CHECK_OK(tacit_ledger_set_limit(ledger[i], NULL, &limit, &error), error);
        CHECK_OK(tacit_gate_release(&gate, &release, &out, &error), error);
        tacit_status second = tacit_gate_release(&gate, &release, &out, NULL);
        assert_int_equal(second, i % 2 == 0 ? TACIT_REFUSED : TACIT_OK);
        CHECK_OK(tacit_ledger_account(&account, ledger[i], NULL, TACIT_UNIT_RECORD, &error), error);
        CHECK_NEAR(account.sum_epsilon, i % 2 == 0 ? 1 : 2, 0);
        assert_true(account.spent_epsilon <= account.sum_epsilon);
        CHECK_NEAR(account.spent_epsilon, account.sum_epsilon, 1e-4);
        assert_int_equal(account.limited, i % 2 == 0);
    }
    assert_int_equal(out.length, release.payload_length * PARTIES * 3 / 2);
    for (int i = 0; i < PARTIES; i++) assert_null(tacit_ledger_free(ledger[i]));
    tacit_buffer_clear(&out);
}

static void a_simulated_party_may_be_noise_free_but_not_malformed(void **state) {
    (void)state;
    tacit_ledger *ledger = NULL;
    tacit_gate gate;
    tacit_policy policy = tacit_policy_none();
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_account account;
    bool stored = true;
    tacit_release release = sample_release(1);
    CHECK_OK(tacit_ledger_create(&ledger, &error), error);
    CHECK_OK(tacit_gate_init(&gate, ledger, &policy, TACIT_GATE_SIMULATED, &error), error);
    release.noise = TACIT_NOISE_NONE;
    release.price.epsilon = INFINITY;
    CHECK_OK(tacit_gate_release(&gate, &release, &out, &error), error);
    CHECK_OK(tacit_ledger_account(&account, ledger, NULL, TACIT_UNIT_RECORD, &error), error);
    assert_true(isinf(account.spent_epsilon));
    release.price.epsilon = NAN;
    assert_int_equal(tacit_gate_release(&gate, &release, &out, NULL), TACIT_INPUT);
    release.price.epsilon = INFINITY;
    release.payload_length = 0;
    assert_int_equal(tacit_gate_release(&gate, &release, &out, NULL), TACIT_INPUT);
    CHECK_OK(tacit_gate_has_answer(&stored, &gate, release.answer_id, release.question_hash, &error), error);
    assert_false(stored);
    assert_int_equal(tacit_ledger_account(&account, ledger, "s", TACIT_UNIT_RECORD, NULL), TACIT_USAGE);
    assert_int_equal(tacit_ledger_consent(ledger, "s", release.study_hash, NULL), TACIT_USAGE);
    assert_int_equal(tacit_ledger_list(ledger, 0, NULL, NULL, NULL), TACIT_USAGE);
    tacit_ledger_free(ledger);
    tacit_buffer_clear(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_release_is_charged_logged_and_let_out),
        cmocka_unit_test(without_a_limit_nothing_real_leaves),
        cmocka_unit_test(beyond_the_limit_is_refused_with_the_figures),
        cmocka_unit_test(a_study_is_held_to_its_own_limit),
        cmocka_unit_test(a_study_without_a_small_enough_limit_is_refused),
        cmocka_unit_test(party_charges_count_for_records_too),
        cmocka_unit_test(asking_again_sends_the_stored_bytes_free_of_charge),
        cmocka_unit_test(an_answer_id_serves_one_question),
        cmocka_unit_test(consent_is_needed_matched_and_withdrawn),
        cmocka_unit_test(a_statement_needs_consent_to_the_definition_and_is_logged),
        cmocka_unit_test(nothing_simulated_passes_a_real_gate),
        cmocka_unit_test(exact_sums_pass_with_the_owners_word_and_count_as_infinite),
        cmocka_unit_test(figures_of_one_site_have_a_rule_of_their_own),
        cmocka_unit_test(words_to_neighbours_have_a_rule_of_their_own),
        cmocka_unit_test(state_is_kept_with_the_charge),
        cmocka_unit_test(a_malformed_release_is_refused_and_logged),
        cmocka_unit_test(refusals_do_not_fill_the_disk),
        cmocka_unit_test(the_policy_is_asked_before_the_budget),
        cmocka_unit_test(a_buffer_without_room_costs_nothing),
        cmocka_unit_test(thousands_of_simulated_parties_keep_their_sums),
        cmocka_unit_test(a_simulated_party_may_be_noise_free_but_not_malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
