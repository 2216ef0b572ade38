/* Damaged ledgers: a bit turned anywhere in the file, or any value of any table changed, lets nothing out
 * that an undamaged ledger would keep. */
#include "party.h"

#include <sqlite3.h>

#include "rand/stream.h"

enum { SEED = 20240612, CHARGES = 4, FLIPS = 400 };

/* All of the budget is spent: an undamaged ledger refuses whatever comes next. */
static void party_spent_up(party *self) {
    party_ready(self);
    const tacit_price limit = { TACIT_UNIT_RECORD, 0.25 * CHARGES, 0 },
                      party_limit = { TACIT_UNIT_PARTY, 0.5, 0 }, study = { TACIT_UNIT_RECORD, 5, 0 };
    CHECK_OK(tacit_ledger_set_limit(self->ledger, NULL, &limit, &self->error), self->error);
    CHECK_OK(tacit_ledger_set_limit(self->ledger, NULL, &party_limit, &self->error), self->error);
    CHECK_OK(tacit_ledger_set_limit(self->ledger, STUDY, &study, &self->error), self->error);
    for (int i = 0; i < CHARGES; i++) {
        tacit_release release = sample_release(i);
        if (i == 0) release.price.unit = TACIT_UNIT_PARTY;
        if (i == 1) release.event = tacit_event_replaced(tacit_event_laplace(4, 1));
        CHECK_OK(party_release(self, &release), self->error);
    }
    tacit_release release = sample_release(CHARGES);
    party_refuses(self, &release, TACIT_REFUSED, "limit");
    tacit_buffer_clear(&self->out);
    self->error = (tacit_error)TACIT_ERROR_INIT;
    self->ledger = tacit_ledger_free(self->ledger);
}

/* Try to get something out: new answers, and stored ones, which must come as they were or not at all. How
 * many attempts met a failure other than the refusal that was due. */
static int attack(party *self) {
    int failures = 0;
    self->error = (tacit_error)TACIT_ERROR_INIT;
    tacit_status status =
        tacit_ledger_open(&self->ledger, self->place.file, SOURCE, TACIT_LEDGER_EXISTING, &self->error);
    if (status == TACIT_OK)
        status = tacit_gate_init(&self->gate, self->ledger, &self->policy, TACIT_GATE_REAL, &self->error);
    if (status != TACIT_OK) {
        assert_true(strlen(self->error.text) > 20);
        return 1;
    }
    for (int i = 0; i < 2 * CHARGES; i++) {
        tacit_release release = sample_release(i);
        if (i >= CHARGES) release.price.epsilon = 0.01;
        tacit_buffer_clear(&self->out);
        status = party_release(self, &release);
        if (status == TACIT_OK) {
            if (i >= CHARGES) fail_msg("answer %d left a ledger with nothing to spend", i);
            assert_int_equal(self->out.length, release.payload_length);
            assert_memory_equal(self->out.bytes, release.payload, release.payload_length);
        } else {
            assert_int_equal(self->out.length, 0);
            assert_true(strlen(self->error.text) > 20);
            failures += status != TACIT_REFUSED;
        }
    }
    return failures;
}

static void a_bit_turned_anywhere_lets_nothing_out(void **state) {
    (void)state;
    print_message("# seed %d\n", SEED);
    party self;
    party_spent_up(&self);
    FILE *file = fopen(self.place.file, "rb");
    static uint8_t image[1 << 20];
    assert_non_null(file);
    size_t length = fread(image, 1, sizeof image, file);
    fclose(file);
    assert_in_range(length, 4096, sizeof image - 1);
    assert_int_equal(attack(&self), 0); /* undamaged */
    self.ledger = tacit_ledger_free(self.ledger);
    tacit_stream stream = tacit_stream_from_seed(SEED);
    int noticed = 0;
    for (int i = 0; i < FLIPS; i++) {
        size_t at = (size_t)(tacit_stream_unit(&stream) * (double)length);
        uint8_t bit = (uint8_t)(1u << (int)(tacit_stream_unit(&stream) * 8));
        folder_remove(&self.place);
        self.place = folder_make();
        image[at] ^= bit;
        file = fopen(self.place.file, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(image, 1, length, file), length);
        fclose(file);
        image[at] ^= bit;
        noticed += attack(&self) > 0;
        self.ledger = tacit_ledger_free(self.ledger);
    }
    assert_true(noticed > FLIPS / 50); /* most of the file is empty space */
    party_end(&self);
}

/* One changed value, and what it would buy. */
static const char *const changes[] = {
    "UPDATE spending SET epsilon = 0.0",
    "UPDATE spending SET delta = -1.0",
    "UPDATE spending SET source = 'ward-8'",
    "UPDATE spending SET study = 'x' WHERE study = ''",
    "UPDATE spending SET unit = unit + 2",
    "DELETE FROM spending",
    "UPDATE limits SET epsilon = 1000.0",
    "UPDATE limits SET delta = 0.9",
    "UPDATE limits SET study = 'x' WHERE study = ''",
    "INSERT OR REPLACE INTO limits VALUES ('ward-7', '', 0, 100.0, 0.1)",
    "UPDATE event SET runs = 1",
    "UPDATE event SET runs = -5",
    "UPDATE event SET parameter = 1e-9 WHERE kind = 2",
    "UPDATE event SET parameter = 1e6 WHERE kind = 1",
    "UPDATE event SET delta = 0.5",
    "UPDATE event SET sampling = 1e-9",
    "UPDATE event SET kind = 77",
    "UPDATE event SET replaced = 1 - replaced",
    "UPDATE event SET unit = 1 - unit WHERE study = 'heart' AND kind = 1",
    "UPDATE event SET study = 'x'",
    "UPDATE event SET source = 'x'",
    "DELETE FROM event",
    "UPDATE balance SET epsilon = 0.0",
    "UPDATE balance SET delta = 0.5",
    "UPDATE balance SET accountant = 77",
    "UPDATE balance SET study = 'x' WHERE study = ''",
    "DELETE FROM balance",
    "UPDATE consent SET given = 1 - given",
    "UPDATE consent SET study_hash = zeroblob(32)",
    "UPDATE consent SET study_hash = zeroblob(99)",
    "DELETE FROM consent",
    "UPDATE seal SET hash = zeroblob(32)",
    "UPDATE seal SET hash = x'00'",
    "DELETE FROM seal",
    "UPDATE head SET entries = entries - 1",
    "UPDATE head SET hash = zeroblob(32)",
    "DELETE FROM head",
    "UPDATE log SET hash = zeroblob(32) WHERE entry = (SELECT max(entry) FROM log)",
    "UPDATE answer SET payload = x'00'",
};

static void a_changed_value_is_noticed_before_anything_leaves(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        party self;
        tacit_verdict verdict;
        sqlite3 *connection = NULL;
        char *message = NULL;
        party_spent_up(&self);
        assert_int_equal(sqlite3_open(self.place.file, &connection), SQLITE_OK);
        if (sqlite3_exec(connection, changes[i], NULL, NULL, &message) != SQLITE_OK)
            fail_msg("%s: %s", changes[i], message);
        assert_true(sqlite3_total_changes(connection) > 0);
        sqlite3_close(connection);
        if (attack(&self) == 0) fail_msg("not noticed: %s", changes[i]);
        assert_int_equal(tacit_ledger_verify(&verdict, self.ledger, NULL), TACIT_CORRUPT);
        party_end(&self);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bit_turned_anywhere_lets_nothing_out),
        cmocka_unit_test(a_changed_value_is_noticed_before_anything_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
