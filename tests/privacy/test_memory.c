/* Every allocation, ours and SQLite's, fails once: the call fails cleanly and nothing is lost or doubled. */
#include "party.h"

#include "failing.h"

#include <sqlite3.h>

static sqlite3_mem_methods sqlite_memory;

static void *sqlite_malloc(int size) { return allocation_due() ? NULL : sqlite_memory.xMalloc(size); }
static void *sqlite_realloc(void *block, int size) {
    return allocation_due() ? NULL : sqlite_memory.xRealloc(block, size);
}

static void wrap_sqlite_memory(void) {
    sqlite3_mem_methods wrapped;
    sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0); /* no allocation hides in a pool */
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_memory);
    wrapped = sqlite_memory;
    wrapped.xMalloc = sqlite_malloc;
    wrapped.xRealloc = sqlite_realloc;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &wrapped);
}

static void a_simulated_party_survives_each_failure(void **state) {
    (void)state;
    tacit_policy policy = tacit_policy_none();
    tacit_release release = sample_release(1);
    bool failed = true;
    for (long at = 1; failed; at++) {
        tacit_ledger *ledger = NULL;
        tacit_buffer out = TACIT_BUFFER_INIT;
        tacit_gate gate = { NULL, NULL, TACIT_GATE_SIMULATED };
        tacit_account account = { .spent_epsilon = 0 };
        fail_allocation(at);
        tacit_status status = tacit_ledger_create(&ledger, NULL);
        if (status == TACIT_OK) status = tacit_gate_init(&gate, ledger, &policy, TACIT_GATE_SIMULATED, NULL);
        if (status == TACIT_OK) status = tacit_gate_release(&gate, &release, &out, NULL);
        failed = allocation_failed();
        assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
        if (ledger != NULL)
            assert_int_equal(tacit_ledger_account(&account, ledger, NULL, TACIT_UNIT_RECORD, NULL), TACIT_OK);
        CHECK_NEAR(account.spent_epsilon, failed ? 0 : 0.25, 0);
        assert_int_equal(out.length, failed ? 0 : release.payload_length);
        tacit_ledger_free(ledger);
        tacit_buffer_clear(&out);
    }
}

/* There are hundreds or thousands of allocations in these, and a charge, a new file or a whole verification
 * for each. */
enum { STRIDE = 7 };

static double sum_of(party *self) {
    tacit_account account;
    assert_int_equal(tacit_ledger_account(&account, self->ledger, NULL, TACIT_UNIT_RECORD, NULL), TACIT_OK);
    return account.sum_epsilon;
}

static void release_under_failures(const tacit_price *limit, tacit_event event, tacit_price price) {
    party self;
    party_ready(&self);
    CHECK_OK(tacit_ledger_set_limit(self.ledger, NULL, limit, &self.error), self.error);
    int number = 0;
    for (bool failed = true; failed; number++) {
        tacit_release release = sample_release(number);
        bool stored = false;
        release.price = price;
        release.event = event;
        tacit_buffer_clear(&self.out);
        fail_allocation(STRIDE * number + 1);
        tacit_status status = party_release(&self, &release);
        failed = allocation_failed();
        if (status != TACIT_OK) assert_int_equal(status, TACIT_NO_MEMORY);
        assert_int_equal(self.out.length, status == TACIT_OK ? release.payload_length : 0);
        assert_true(failed || status == TACIT_OK);
        CHECK_OK(tacit_gate_has_answer(&stored, &self.gate, release.answer_id, release.question_hash, NULL),
                 self.error);
        if (status == TACIT_OK) assert_true(stored); /* SQLite can do without some of its allocations */
        CHECK_NEAR(sum_of(&self), price.epsilon * (number + stored), 0);
        tacit_buffer_clear(&self.out);
        CHECK_OK(party_release(&self, &release), self.error); /* asking again gives the answer */
        assert_int_equal(self.out.length, release.payload_length);
        CHECK_NEAR(sum_of(&self), price.epsilon * (number + 1), 0);
    }
    assert_true(number > 20);
    party_verifies(&self, 3 + (uint64_t)number);
    party_end(&self);
}

/* Sums of 2^-12 are exact, and many fit the limit. */
static void a_real_party_survives_each_failure(void **state) {
    (void)state;
    const tacit_event none = { .count = 0 };
    const tacit_price limit = { TACIT_UNIT_RECORD, 10, 0 };
    release_under_failures(&limit, none, (tacit_price){ TACIT_UNIT_RECORD, 0x1p-12, 0 });
}

static void composing_survives_each_failure(void **state) {
    (void)state;
    const tacit_price limit = { TACIT_UNIT_RECORD, 10, 1e-5 };
    release_under_failures(&limit, tacit_event_replaced(tacit_event_gaussian(2e4, 1)),
                           (tacit_price){ TACIT_UNIT_RECORD, 0x1p-12, 1e-9 });
}

static void refusing_survives_each_failure(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_release release = sample_release(1);
    release.rows = 1;
    long at = 1;
    for (bool failed = true; failed; at++) {
        fail_allocation(at);
        tacit_status status = party_release(&self, &release);
        failed = allocation_failed();
        assert_int_equal(status, TACIT_REFUSED);
        assert_non_null(strstr(self.error.text, "1 rows"));
        assert_int_equal(self.out.length, 0);
    }
    party_verifies(&self, 0);
    party_end(&self);
}

static void opening_and_verifying_survive_each_failure(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_release release = sample_release(1);
    CHECK_OK(party_release(&self, &release), self.error);
    self.ledger = tacit_ledger_free(self.ledger);
    long at = 1;
    for (bool failed = true; failed; at += STRIDE) {
        tacit_verdict verdict = { .entries = 0 };
        tacit_error error = TACIT_ERROR_INIT;
        fail_allocation(at);
        tacit_status status =
            tacit_ledger_open(&self.ledger, self.place.file, SOURCE, TACIT_LEDGER_EXISTING, &error);
        if (status == TACIT_OK) status = tacit_ledger_verify(&verdict, self.ledger, &error);
        failed = allocation_failed();
        if (status != TACIT_OK && status != TACIT_NO_MEMORY) fail_msg("allocation %ld: %s", at, error.text);
        if (status == TACIT_OK) assert_int_equal(verdict.entries, 3);
        self.ledger = tacit_ledger_free(self.ledger);
    }
    party_open(&self, TACIT_LEDGER_EXISTING);
    party_verifies(&self, 3);
    party_end(&self);
}

static void making_a_ledger_survives_each_failure(void **state) {
    (void)state;
    long at = 1;
    for (bool failed = true; failed; at += STRIDE) {
        party self = party_new();
        const tacit_price limit = { TACIT_UNIT_RECORD, 1, 0 };
        tacit_error error = TACIT_ERROR_INIT;
        fail_allocation(at);
        tacit_status status =
            tacit_ledger_open(&self.ledger, self.place.file, SOURCE, TACIT_LEDGER_CREATE, &error);
        if (status == TACIT_OK) status = tacit_ledger_set_limit(self.ledger, NULL, &limit, &error);
        failed = allocation_failed();
        if (status != TACIT_OK && status != TACIT_NO_MEMORY) fail_msg("allocation %ld: %s", at, error.text);
        self.ledger = tacit_ledger_free(self.ledger);
        party_open(&self, TACIT_LEDGER_CREATE);
        party_verifies(&self, status == TACIT_OK);
        party_end(&self);
    }
}

int main(void) {
    wrap_sqlite_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_simulated_party_survives_each_failure),
        cmocka_unit_test(a_real_party_survives_each_failure),
        cmocka_unit_test(composing_survives_each_failure),
        cmocka_unit_test(refusing_survives_each_failure),
        cmocka_unit_test(opening_and_verifying_survive_each_failure),
        cmocka_unit_test(making_a_ledger_survives_each_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
