/* Killed, failing and competing processes: the ledger never counts too little and never loses an answer. */
#include "party.h"

#include <signal.h>

#include "fault.h"
#include "privacy/account/gaussian.h"

enum { PER_CHILD = 3 };

/* In a child: release answers first..first+count-1, and report each number through the pipe once its bytes
 * are out. Everything is under the fault. */
static void release_and_report(const folder *place, int report, int first, int count) {
    party self = { .place = *place, .policy = tacit_policy_default() };
    if (tacit_ledger_open(&self.ledger, place->file, SOURCE, TACIT_LEDGER_EXISTING, NULL) != TACIT_OK)
        _exit(1);
    if (tacit_gate_init(&self.gate, self.ledger, &self.policy, TACIT_GATE_REAL, NULL) != TACIT_OK) _exit(1);
    for (int i = first; i < first + count; i++) {
        tacit_release release = sample_release(i);
        if (tacit_gate_release(&self.gate, &release, &self.out, NULL) != TACIT_OK) _exit(1);
        if (write(report, &i, sizeof i) != sizeof i) _exit(1);
    }
    tacit_ledger_free(self.ledger);
    tacit_buffer_clear(&self.out);
    _exit(0);
}

static int read_reports(int report, bool *released, int most) {
    int number, count = 0;
    while (read(report, &number, sizeof number) == sizeof number) {
        assert_in_range(number, 0, most - 1);
        released[number] = true;
        count++;
    }
    close(report);
    return count;
}

/* After a crash: the chain holds, what was reported is charged, at most one release more is charged than was
 * reported, and asking again for what was reported gives the same bytes free of charge. */
static void check_after_crash(const folder *place, const bool *released, int reported) {
    party self = { .place = *place, .policy = tacit_policy_default() };
    party_open(&self, TACIT_LEDGER_EXISTING);
    party_verifies(&self, 0);
    int charges = party_log(&self).kinds[TACIT_ENTRY_CHARGE];
    assert_in_range(charges, reported, reported + 1);
    CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), 0.25 * charges, 0);
    for (int i = 0; i < PER_CHILD; i++) {
        tacit_release release = sample_release(i);
        bool stored = false;
        CHECK_OK(tacit_gate_has_answer(&stored, &self.gate, release.answer_id, release.question_hash, NULL),
                 self.error);
        assert_true(stored || !released[i]);
        tacit_buffer_clear(&self.out);
        CHECK_OK(party_release(&self, &release), self.error); /* the study goes on where it was */
        assert_int_equal(self.out.length, release.payload_length);
        assert_memory_equal(self.out.bytes, release.payload, release.payload_length);
    }
    CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), 0.25 * PER_CHILD, 0);
    party_verifies(&self, 2 + PER_CHILD);
    tacit_ledger_free(self.ledger);
    tacit_buffer_clear(&self.out);
}

/* A child whose writing goes wrong at the given step, and the state it leaves; true once the child got
 * through before coming to that step. */
static bool crash_at(fault_kind kind, long step) {
    party self;
    party_ready(&self);
    tacit_ledger_free(self.ledger); /* no connection is carried across the fork */
    int report[2];
    assert_int_equal(pipe(report), 0);
    pid_t child = fork();
    if (child == 0) {
        close(report[0]);
        fault_at(kind, step, false);
        release_and_report(&self.place, report[1], 0, PER_CHILD);
    }
    close(report[1]);
    bool released[PER_CHILD] = { false };
    int status = 0, reported = read_reports(report[0], released, PER_CHILD);
    assert_int_equal(waitpid(child, &status, 0), child);
    check_after_crash(&self.place, released, reported);
    folder_remove(&self.place);
    if (WIFSIGNALED(status)) assert_int_equal(WTERMSIG(status), SIGKILL);
    if (WIFEXITED(status) && kind == FAULT_KILL) assert_int_equal(WEXITSTATUS(status), 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 && reported == PER_CHILD;
}

static void killed_before_each_step_nothing_is_lost(void **state) {
    (void)state;
    long step = 1;
    while (!crash_at(FAULT_KILL, step)) step++;
    assert_true(step > 3 * PER_CHILD); /* there were steps to die at: writes and syncs of each commit */
}

/* A write is cut in half; a step that is not a write fails instead (while closing, without consequence). */
static void killed_within_each_write_nothing_is_lost(void **state) {
    (void)state;
    for (long step = 1; step <= 8 * PER_CHILD; step++) crash_at(FAULT_TEAR, step);
}

/* Not by step but between: right after the bytes are out, with the file still open. */
static void killed_after_a_release_the_charge_is_there(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    tacit_ledger_free(self.ledger);
    int report[2];
    assert_int_equal(pipe(report), 0);
    pid_t child = fork();
    if (child == 0) {
        close(report[0]);
        party mine = { .place = self.place, .policy = tacit_policy_default() };
        tacit_release release = sample_release(0);
        int number = 0;
        if (tacit_ledger_open(&mine.ledger, self.place.file, SOURCE, TACIT_LEDGER_EXISTING, NULL) !=
                TACIT_OK ||
            tacit_gate_init(&mine.gate, mine.ledger, &mine.policy, TACIT_GATE_REAL, NULL) != TACIT_OK ||
            tacit_gate_release(&mine.gate, &release, &mine.out, NULL) != TACIT_OK)
            _exit(1);
        if (write(report[1], &number, sizeof number) == sizeof number) raise(SIGKILL);
        _exit(1);
    }
    close(report[1]);
    bool released[PER_CHILD] = { false };
    int status = 0, reported = read_reports(report[0], released, PER_CHILD);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(reported, 1);
    check_after_crash(&self.place, released, reported);
    folder_remove(&self.place);
}

static void killed_while_making_the_ledger_leaves_none_or_a_whole_one(void **state) {
    (void)state;
    bool alive = false;
    for (long step = 1; !alive; step++) {
        party self = party_new();
        pid_t child = fork();
        if (child == 0) {
            tacit_ledger *ledger = NULL;
            fault_at(FAULT_KILL, step, false);
            tacit_status status =
                tacit_ledger_open(&ledger, self.place.file, SOURCE, TACIT_LEDGER_CREATE, NULL);
            _exit(status == TACIT_OK ? 0 : 1);
        }
        alive = child_succeeded(child);
        party_open(&self, TACIT_LEDGER_CREATE);
        party_verifies(&self, 0);
        party_end(&self);
    }
}

/* Each write and sync fails in turn, once or from then on: a clear error, nothing let out that is not
 * charged, and the same answer id gets its bytes once the disk is well. */
static void fail_each_step(fault_kind kind, bool again) {
    bool through = false;
    for (long step = 1; !through; step++) {
        party self;
        party_ready(&self);
        tacit_release release = sample_release(0);
        fault_at(kind, step, again);
        tacit_status status = party_release(&self, &release);
        through = fault_steps() < step;
        fault_at(FAULT_NONE, 0, false);
        if (status != TACIT_OK) {
            assert_int_equal(status, TACIT_IO);
            assert_int_equal(self.out.length, 0);
            assert_non_null(strstr(self.error.text, self.place.file));
            assert_non_null(strstr(self.error.text, kind == FAULT_FULL ? "disk" : "check the disk"));
        } else {
            CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), 0.25, 0);
        }
        tacit_buffer_clear(&self.out);
        CHECK_OK(party_release(&self, &release), self.error);
        CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), 0.25, 0);
        assert_int_equal(self.out.length, release.payload_length);
        party_verifies(&self, 3);
        party_end(&self);
    }
}

static void a_failing_disk_lets_nothing_out_uncharged(void **state) {
    (void)state;
    fail_each_step(FAULT_BROKEN, false);
    fail_each_step(FAULT_BROKEN, true);
    fail_each_step(FAULT_FULL, false);
    fail_each_step(FAULT_FULL, true);
}

static void a_release_is_on_the_disk_before_it_is_out(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    for (int i = 0; i < 8; i++) {
        tacit_release release = sample_release(i);
        fault_at(FAULT_NONE, 0, false);
        CHECK_OK(party_release(&self, &release), self.error);
        assert_true(fault_steps() >= 2);
        assert_false(fault_log_is_unsynced());
    }
    party_end(&self);
}

/* All start together, each asks for more than its share; some answer ids are asked by every process. */
static void compete(tacit_event event, tacit_price price, tacit_price limit) {
    enum { CHILDREN = 4, EACH = 15, LIMIT = 40, SHARED = 5 };
    party self;
    party_ready(&self);
    CHECK_OK(tacit_ledger_set_limit_counted(self.ledger, NULL, &limit,
                                            limit.delta > 0 ? TACIT_COUNT_GDP : TACIT_COUNT_SUM, &self.error),
             self.error);
    tacit_ledger_free(self.ledger);
    int start[2], report[2];
    pid_t child[CHILDREN];
    assert_int_equal(pipe(start), 0);
    assert_int_equal(pipe(report), 0);
    for (int c = 0; c < CHILDREN; c++) {
        child[c] = fork();
        if (child[c] != 0) continue;
        close(start[1]);
        close(report[0]);
        party mine = { .place = self.place, .policy = tacit_policy_default() };
        char byte;
        if (tacit_ledger_open(&mine.ledger, self.place.file, SOURCE, TACIT_LEDGER_EXISTING, NULL) !=
                TACIT_OK ||
            tacit_gate_init(&mine.gate, mine.ledger, &mine.policy, TACIT_GATE_REAL, NULL) != TACIT_OK ||
            read(start[0], &byte, 1) != 0)
            _exit(1);
        for (int i = 0; i < SHARED + EACH; i++) {
            int number = i < SHARED ? i : SHARED + c * EACH + i;
            tacit_release release = sample_release(number);
            release.event = event;
            release.price = price;
            tacit_status status = tacit_gate_release(&mine.gate, &release, &mine.out, NULL);
            if (status != TACIT_OK && status != TACIT_REFUSED) _exit(1);
            if (status == TACIT_OK && write(report[1], &number, sizeof number) != sizeof number) _exit(1);
        }
        tacit_ledger_free(mine.ledger);
        tacit_buffer_clear(&mine.out);
        _exit(0);
    }
    close(start[0]);
    close(start[1]);
    close(report[1]);
    bool released[SHARED + (CHILDREN + 1) * EACH + SHARED] = { false }, all = true;
    int answers = read_reports(report[0], released, SHARED + (CHILDREN + 1) * EACH + SHARED), distinct = 0;
    for (int c = 0; c < CHILDREN; c++) all = child_succeeded(child[c]) && all;
    assert_true(all);
    for (size_t i = 0; i < sizeof released; i++) distinct += released[i];
    assert_int_equal(distinct, LIMIT); /* all of the budget, and no more */
    assert_int_equal(answers, LIMIT + (CHILDREN - 1) * SHARED);
    party_open(&self, TACIT_LEDGER_EXISTING);
    CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), limit.epsilon, 1e-9);
    log_summary log = party_log(&self);
    assert_int_equal(log.kinds[TACIT_ENTRY_CHARGE], LIMIT);
    assert_int_equal(log.kinds[TACIT_ENTRY_REFUSAL], CHILDREN * EACH + SHARED - LIMIT);
    party_verifies(&self, 0);
    party_end(&self);
}

static void processes_at_once_cannot_overspend(void **state) {
    (void)state; /* epsilon 10 at 0.25 each */
    const tacit_event none = { .count = 0 };
    compete(none, (tacit_price){ TACIT_UNIT_RECORD, 0.25, 0 }, (tacit_price){ TACIT_UNIT_RECORD, 10, 0 });
}

/* The limit is met by composition, at twice the sum of the prices and more. */
static void processes_at_once_cannot_overspend_what_composes(void **state) {
    (void)state;
    double sigma;
    assert_int_equal(tacit_gaussian_sigma(&sigma, 1, 1e-5, 1, NULL), TACIT_OK);
    compete(tacit_event_replaced(tacit_event_gaussian(sigma * sqrt(40), 1)),
            (tacit_price){ TACIT_UNIT_RECORD, 0.25, 1e-5 }, (tacit_price){ TACIT_UNIT_RECORD, 1, 1e-5 });
}

static void killed_while_updating_an_old_ledger_loses_nothing(void **state) {
    (void)state;
    bool alive = false;
    long step = 1;
    for (; !alive; step++) {
        party self = party_new();
        make_old_ledger(self.place.file);
        pid_t child = fork();
        if (child == 0) {
            tacit_ledger *ledger = NULL;
            fault_at(FAULT_KILL, step, false);
            _exit(tacit_ledger_open(&ledger, self.place.file, SOURCE, TACIT_LEDGER_EXISTING, NULL) == TACIT_OK
                      ? 0
                      : 1);
        }
        alive = child_succeeded(child);
        party_open(&self, TACIT_LEDGER_EXISTING);
        party_verifies(&self, 10);
        assert_true(party_spent(&self, NULL, TACIT_UNIT_RECORD) > 1.9);
        party_end(&self);
    }
    assert_true(step > 4);
}

int main(void) {
    fault_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_before_each_step_nothing_is_lost),
        cmocka_unit_test(killed_within_each_write_nothing_is_lost),
        cmocka_unit_test(killed_after_a_release_the_charge_is_there),
        cmocka_unit_test(killed_while_making_the_ledger_leaves_none_or_a_whole_one),
        cmocka_unit_test(a_failing_disk_lets_nothing_out_uncharged),
        cmocka_unit_test(a_release_is_on_the_disk_before_it_is_out),
        cmocka_unit_test(processes_at_once_cannot_overspend),
        cmocka_unit_test(processes_at_once_cannot_overspend_what_composes),
        cmocka_unit_test(killed_while_updating_an_old_ledger_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
