/*
 * The journal: a coordinator's half that is run again is fed what was answered before, asks nobody twice,
 * ends with the same model, and notices when it asks something else.
 */
#include "check.h"

#include "parties.h"

#include "session/run.h"

enum { MOST_RECORDS = 16 };

/* A journal in memory that outlives sessions, and can fail at a chosen write. */
typedef struct memory_journal {
    tacit_buffer records[MOST_RECORDS];
    bool kept[MOST_RECORDS];
    tacit_buffer checkpoint;
    bool has_checkpoint;
    uint64_t checkpoint_round;
    size_t writes, reads;
    size_t fail_at; /* the write, counted from 1, that fails; 0: none */
} memory_journal;

/* Rounds fill the first half, what was published the second. */
static uint64_t place_of(uint64_t round) {
    if (round >= TACIT_RELEASE_RECORDS)
        round += MOST_RECORDS / 2 - TACIT_RELEASE_RECORDS;
    else
        assert_true(round < MOST_RECORDS / 2);
    assert_true(round < MOST_RECORDS);
    return round;
}

static tacit_status read_record(void *context, uint64_t round, bool *found, tacit_buffer *out,
                                tacit_error *error) {
    memory_journal *self = context;
    round = place_of(round);
    self->reads++;
    *found = self->kept[round];
    if (!*found) return TACIT_OK;
    return tacit_buffer_append(out, self->records[round].bytes, self->records[round].length, error);
}

static tacit_status write_record(void *context, uint64_t round, const uint8_t *bytes, size_t length,
                                 tacit_error *error) {
    memory_journal *self = context;
    round = place_of(round);
    assert_false(self->kept[round]); /* a record is written once */
    if (++self->writes == self->fail_at) return tacit_fail(error, TACIT_IO, "the disk is full");
    TACIT_TRY(tacit_buffer_append(&self->records[round], bytes, length, error));
    self->kept[round] = true;
    return TACIT_OK;
}

static tacit_status read_checkpoint(void *context, bool *found, uint64_t *round, tacit_buffer *out,
                                    tacit_error *error) {
    memory_journal *self = context;
    *found = self->has_checkpoint;
    if (!*found) return TACIT_OK;
    *round = self->checkpoint_round;
    return tacit_buffer_append(out, self->checkpoint.bytes, self->checkpoint.length, error);
}

static tacit_status write_checkpoint(void *context, uint64_t round, const uint8_t *bytes, size_t length,
                                     tacit_error *error) {
    memory_journal *self = context;
    tacit_buffer_clear(&self->checkpoint);
    self->has_checkpoint = true;
    self->checkpoint_round = round;
    return tacit_buffer_append(&self->checkpoint, bytes, length, error);
}

static void memory_journal_clear(memory_journal *self) {
    for (size_t i = 0; i < MOST_RECORDS; i++) tacit_buffer_clear(&self->records[i]);
    tacit_buffer_clear(&self->checkpoint);
}

/* Parties, their journal, and a transport that counts how often they are asked. */
typedef struct study {
    parties world;
    memory_journal memory;
    tacit_journal journal;
    tacit_transport inner;
    tacit_transport counted;
    size_t asked;
} study;

static tacit_status count_ask(void *context, const tacit_question *question, tacit_answers *out,
                              tacit_error *error) {
    study *self = context;
    self->asked++;
    return self->inner.ask(self->inner.context, question, out, error);
}

static tacit_status count_ask_sum(void *context, const tacit_question *question, uint64_t *total,
                                  size_t *count, tacit_error *error) {
    study *self = context;
    self->asked++;
    return self->inner.ask_sum(self->inner.context, question, total, count, error);
}

static void study_open(study *self, const tacit_method *method) {
    *self = (study){ .asked = 0 };
    parties_make(&self->world, ball(120, 4, 9), 6, NULL);
    self->world.plan.method = method;
    self->world.plan.epsilon = method->noise_free ? INFINITY : 1;
    self->journal =
        (tacit_journal){ read_record, write_record, read_checkpoint, write_checkpoint, &self->memory };
}

static void study_close(study *self) {
    memory_journal_clear(&self->memory);
    parties_end(&self->world);
}

/* A new process: the same secret, the same journal. */
static tacit_session study_session(study *self) {
    tacit_session session = parties_begin(&self->world, 77);
    self->inner = session.transport;
    session.transport = (tacit_transport){
        .ask = count_ask, .ask_sum = count_ask_sum, .pooled = session.transport.pooled, .context = self
    };
    session.journal = &self->journal;
    return session;
}

static tacit_status study_run(study *self, tacit_outcome *out, tacit_error *error) {
    tacit_session session = study_session(self);
    return tacit_run_coordinate(&session, out, error);
}

static void check_same_outcome(const tacit_outcome *a, const tacit_outcome *b) {
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->parties, b->parties);
    for (size_t i = 0; i < a->count; i++)
        assert_memory_equal(a->models[i]->weights, b->models[i]->weights,
                            tacit_model_size(a->models[i]) * sizeof(double));
}

static void check_replay(const tacit_method *method) {
    study self;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_outcome first = TACIT_OUTCOME_INIT, again = TACIT_OUTCOME_INIT;
    study_open(&self, method);
    CHECK_OK(study_run(&self, &first, &error), error);
    assert_int_equal(self.asked, 1);
    CHECK_OK(study_run(&self, &again, &error), error);
    assert_int_equal(self.asked, 1); /* fed from the journal */
    check_same_outcome(&first, &again);
    tacit_outcome_clear(&first);
    tacit_outcome_clear(&again);
    study_close(&self);
}

static void a_second_run_asks_nobody_and_ends_with_the_same_model(void **state) {
    (void)state;
    check_replay(&tacit_method_avg);   /* a sum */
    check_replay(&tacit_method_indiv); /* answers */
}

static void a_question_whose_record_was_lost_is_asked_again_with_the_same_result(void **state) {
    (void)state;
    study self;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_outcome lost = TACIT_OUTCOME_INIT, again = TACIT_OUTCOME_INIT, whole = TACIT_OUTCOME_INIT;
    study_open(&self, &tacit_method_avg);
    self.memory.fail_at = 1;
    assert_int_equal(study_run(&self, &lost, &error), TACIT_IO);
    assert_int_equal(lost.count, 0);
    error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(study_run(&self, &again, &error), error);
    assert_int_equal(self.asked, 2);
    CHECK_OK(study_run(&self, &whole, &error), error);
    assert_int_equal(self.asked, 2);
    check_same_outcome(&again, &whole);
    tacit_outcome_clear(&again);
    tacit_outcome_clear(&whole);
    study_close(&self);
}

static void a_changed_question_is_noticed(void **state) {
    (void)state;
    study self;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_outcome out = TACIT_OUTCOME_INIT;
    study_open(&self, &tacit_method_avg);
    CHECK_OK(study_run(&self, &out, &error), error);
    tacit_outcome_clear(&out);
    self.world.plan.lambda *= 2; /* another bound, so another sum is asked for */
    assert_int_equal(study_run(&self, &out, &error), TACIT_CORRUPT);
    assert_non_null(strstr(error.text, "another question in round 0"));
    assert_int_equal(self.asked, 1);
    study_close(&self);
}

static void a_damaged_record_is_noticed(void **state) {
    (void)state;
    const tacit_method *const methods[] = { &tacit_method_avg, &tacit_method_indiv };
    for (size_t m = 0; m < 2; m++) {
        study self;
        tacit_error error = TACIT_ERROR_INIT;
        tacit_outcome out = TACIT_OUTCOME_INIT;
        study_open(&self, methods[m]);
        CHECK_OK(study_run(&self, &out, &error), error);
        tacit_outcome_clear(&out);
        for (size_t length = 0; length < self.memory.records[0].length; length += 7) {
            size_t whole = self.memory.records[0].length;
            self.memory.records[0].length = length;
            error = (tacit_error)TACIT_ERROR_INIT;
            tacit_status status = study_run(&self, &out, &error);
            if (status != TACIT_CORRUPT) fail_msg("cut to %zu bytes: %d", length, (int)status);
            self.memory.records[0].length = whole;
        }
        assert_int_equal(self.asked, 1);
        study_close(&self);
    }
}

static void too_few_answers_are_not_journalled(void **state) {
    (void)state;
    study self;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_outcome out = TACIT_OUTCOME_INIT;
    study_open(&self, &tacit_method_avg);
    self.world.plan.minimum_rows = 1000; /* all refuse */
    assert_int_equal(study_run(&self, &out, &error), TACIT_REFUSED);
    assert_int_equal(self.memory.writes, 0);
    study_close(&self);
}

/* Three questions with a checkpoint after the second, as a long method would do it. */
static tacit_status ask_three(tacit_session *session, double *out, bool *resumed, tacit_error *error) {
    tacit_message state = TACIT_MESSAGE_INIT;
    tacit_sum_spec spec;
    tacit_status status;
    double total = 0;
    uint64_t round = 0;
    TACIT_CHECK(tacit_sum_spec_for(&spec, 1, 1, session->plan->parties, error));
    TACIT_CHECK(tacit_resume(session, resumed, &state, error));
    if (*resumed) {
        const double *kept = NULL;
        TACIT_CHECK(tacit_message_numbers(&state, "total", 1, &kept, error));
        total = kept[0];
        round = session->round;
    }
    for (; round < 3; round++) {
        tacit_sum sum = TACIT_SUM_INIT;
        TACIT_CHECK(tacit_ask_sum(session, "half", NULL, &spec, &sum, error));
        tacit_stream noise = tacit_session_stream(session, "noise");
        total += sum.values[0] + tacit_stream_unit(&noise);
        tacit_sum_clear(&sum);
        if (round != 1) continue;
        tacit_message_clear(&state);
        TACIT_CHECK(tacit_message_add_numbers(&state, "total", &total, 1, error));
        TACIT_CHECK(tacit_checkpoint(session, &state, error));
    }
    *out = total;
cleanup:
    tacit_message_clear(&state);
    return status;
}

/* A party's half for it: one half, in clear. */
static tacit_status answer_half(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                tacit_error *error) {
    (void)party;
    reply->contribution = TACIT_NEW(double, question->sum.length);
    if (reply->contribution == NULL) return tacit_fail_memory(error);
    reply->contribution[0] = 0.5;
    reply->kind = TACIT_RELEASE_ENTRUSTED;
    reply->price = (tacit_price){ TACIT_UNIT_RECORD, INFINITY, 0 };
    return TACIT_OK;
}

static const tacit_handler_entry half_handlers[] = { { .question = "half", .answer = answer_half },
                                                     { .question = NULL } };
static const tacit_method halves = {
    .name = "halves", .version = 1, .units = "record", .noise_free = true, .handlers = half_handlers
};

static double run_halves(study *self, bool *resumed) {
    tacit_error error = TACIT_ERROR_INIT;
    double total = NAN;
    tacit_session session = study_session(self);
    CHECK_OK(ask_three(&session, &total, resumed, &error), error);
    assert_int_equal(session.round, 3);
    return total;
}

static void a_checkpoint_brings_state_round_and_noise_back(void **state) {
    (void)state;
    study self;
    bool resumed;
    study_open(&self, &halves);
    double first = run_halves(&self, &resumed);
    assert_false(resumed);
    assert_int_equal(self.asked, 3);
    size_t reads = self.memory.reads;
    double again = run_halves(&self, &resumed);
    assert_true(resumed);
    assert_int_equal(self.memory.reads, reads + 1); /* only the round after the checkpoint */
    assert_int_equal(self.asked, 3);
    assert_memory_equal(&first, &again, sizeof first);
    self.memory.kept[0] = self.memory.kept[1] = false; /* records before a checkpoint may go */
    again = run_halves(&self, &resumed);
    assert_memory_equal(&first, &again, sizeof first);
    self.memory.kept[2] = false; /* stopped right after the checkpoint */
    tacit_buffer_clear(&self.memory.records[2]);
    again = run_halves(&self, &resumed);
    assert_int_equal(self.asked, 4);
    assert_memory_equal(&first, &again, sizeof first);
    study_close(&self);
}

static void a_stop_at_any_question_changes_nothing(void **state) {
    (void)state;
    study self;
    bool resumed;
    study_open(&self, &halves);
    double whole = run_halves(&self, &resumed);
    study_close(&self);
    for (size_t stop = 1; stop <= 3; stop++) {
        double total = 0;
        study_open(&self, &halves);
        self.memory.fail_at = stop;
        tacit_session session = study_session(&self);
        assert_int_equal(ask_three(&session, &total, &resumed, NULL), TACIT_IO);
        double again = run_halves(&self, &resumed);
        assert_int_equal(resumed, stop == 3);
        assert_int_equal(self.asked, 4); /* the interrupted question twice, the others once */
        assert_memory_equal(&whole, &again, sizeof whole);
        study_close(&self);
    }
}

static void without_a_journal_nothing_is_kept_and_nothing_is_missed(void **state) {
    (void)state;
    study self;
    bool resumed = true;
    double total;
    tacit_error error = TACIT_ERROR_INIT;
    study_open(&self, &halves);
    tacit_session session = study_session(&self);
    session.journal = NULL;
    CHECK_OK(ask_three(&session, &total, &resumed, &error), error);
    assert_false(resumed);
    assert_int_equal(self.memory.writes, 0);
    study_close(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_run_asks_nobody_and_ends_with_the_same_model),
        cmocka_unit_test(a_question_whose_record_was_lost_is_asked_again_with_the_same_result),
        cmocka_unit_test(a_changed_question_is_noticed),
        cmocka_unit_test(a_damaged_record_is_noticed),
        cmocka_unit_test(too_few_answers_are_not_journalled),
        cmocka_unit_test(a_checkpoint_brings_state_round_and_noise_back),
        cmocka_unit_test(a_stop_at_any_question_changes_nothing),
        cmocka_unit_test(without_a_journal_nothing_is_kept_and_nothing_is_missed),
    };
    return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
