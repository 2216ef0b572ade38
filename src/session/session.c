#include "session/session.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "privacy/mechanism/integer.h"

void tacit_answers_clear(tacit_answers *answers) {
    if (answers == NULL) return;
    for (size_t i = 0; i < answers->count; i++) tacit_answer_clear(&answers->answer[i]);
    free(answers->answer);
    *answers = (tacit_answers)TACIT_ANSWERS_INIT;
}

void tacit_sum_clear(tacit_sum *sum) {
    if (sum == NULL) return;
    free(sum->values);
    *sum = (tacit_sum)TACIT_SUM_INIT;
}

static tacit_status make_question(tacit_question *out, const tacit_session *session, const char *name,
                                  const tacit_message *message, tacit_error *error) {
    if (strlen(name) >= TACIT_ID_SIZE)
        return tacit_fail(error, TACIT_INTERNAL, "question name too long: %s", name);
    *out = (tacit_question){ .method_version = session->plan->method->version,
                             .round = session->round,
                             .message = message };
    memcpy(out->study, session->plan->study, sizeof out->study);
    memcpy(out->method, session->plan->method->name, strlen(session->plan->method->name) + 1);
    memcpy(out->name, name, strlen(name) + 1);
    return TACIT_OK;
}

/* The encoded question without an answer id; its hash ties a journal record to what was asked. */
static tacit_status fingerprint(const tacit_question *question, uint8_t hash[TACIT_HASH_BYTES], size_t *bytes,
                                tacit_error *error) {
    tacit_buffer encoded = TACIT_BUFFER_INIT;
    tacit_status status = tacit_question_encode(question, &encoded, error);
    if (status == TACIT_OK) {
        crypto_generichash(hash, TACIT_HASH_BYTES, encoded.bytes, encoded.length, NULL, 0);
        *bytes = encoded.length;
    }
    tacit_buffer_clear(&encoded);
    return status;
}

/* ---- journal records: hash of the question, then the result ---- */

static tacit_status read_record(const tacit_session *session, uint64_t number,
                                const uint8_t hash[TACIT_HASH_BYTES], bool *found, tacit_buffer *record,
                                tacit_cursor *cursor, tacit_error *error) {
    *found = false;
    if (session->journal == NULL) return TACIT_OK;
    TACIT_TRY(session->journal->read(session->journal->context, number, found, record, error));
    if (!*found) return TACIT_OK;
    uint8_t stored[TACIT_HASH_BYTES];
    *cursor = tacit_cursor_over(record->bytes, record->length);
    if (!tacit_cursor_read(cursor, stored, sizeof stored))
        return tacit_fail(error, TACIT_CORRUPT, "the journal's record of round %llu is damaged",
                          (unsigned long long)session->round);
    if (memcmp(stored, hash, sizeof stored) != 0)
        return tacit_fail(error, TACIT_CORRUPT,
                          "the journal holds another question in round %llu: program or study changed since "
                          "it was asked; start a new study",
                          (unsigned long long)session->round);
    return TACIT_OK;
}

static tacit_status write_record(const tacit_session *session, uint64_t number, const tacit_buffer *record,
                                 tacit_error *error) {
    if (session->journal == NULL) return TACIT_OK;
    return session->journal->write(session->journal->context, number, record->bytes, record->length, error);
}

static tacit_status damaged(const tacit_session *session, tacit_error *error) {
    return tacit_fail(error, TACIT_CORRUPT, "the journal's record of round %llu is damaged",
                      (unsigned long long)session->round);
}

static tacit_status pack_sum(tacit_buffer *record, const uint8_t hash[TACIT_HASH_BYTES],
                             const uint64_t *total, size_t length, size_t parties, tacit_error *error) {
    TACIT_TRY(tacit_buffer_append(record, hash, TACIT_HASH_BYTES, error));
    TACIT_TRY(tacit_buffer_append_u64(record, parties, error));
    for (size_t j = 0; j < length; j++) TACIT_TRY(tacit_buffer_append_u64(record, total[j], error));
    return TACIT_OK;
}

static tacit_status unpack_sum(const tacit_session *session, tacit_cursor *cursor, uint64_t *total,
                               size_t length, size_t *parties, tacit_error *error) {
    uint64_t count;
    if (!tacit_cursor_read_u64(cursor, &count) || cursor->left != 8 * length) return damaged(session, error);
    for (size_t j = 0; j < length; j++)
        if (!tacit_cursor_read_u64(cursor, &total[j])) return damaged(session, error);
    *parties = (size_t)count;
    return TACIT_OK;
}

static tacit_status pack_answers(tacit_buffer *record, const uint8_t hash[TACIT_HASH_BYTES],
                                 const tacit_answers *answers, tacit_error *error) {
    TACIT_TRY(tacit_buffer_append(record, hash, TACIT_HASH_BYTES, error));
    TACIT_TRY(tacit_buffer_append_u64(record, answers->count, error));
    for (size_t i = 0; i < answers->count; i++) {
        tacit_buffer one = TACIT_BUFFER_INIT;
        tacit_status status = tacit_answer_encode(&answers->answer[i], &one, error);
        if (status == TACIT_OK) status = tacit_buffer_append_u64(record, one.length, error);
        if (status == TACIT_OK) status = tacit_buffer_append(record, one.bytes, one.length, error);
        tacit_buffer_clear(&one);
        TACIT_TRY(status);
    }
    return TACIT_OK;
}

static tacit_status unpack_answers(const tacit_session *session, tacit_cursor *cursor, tacit_answers *out,
                                   tacit_error *error) {
    uint64_t count, length;
    tacit_answers answers = TACIT_ANSWERS_INIT;
    tacit_status status = TACIT_OK;
    if (!tacit_cursor_read_u64(cursor, &count) || count > cursor->left) return damaged(session, error);
    answers.answer = TACIT_NEW(tacit_answer, (size_t)count);
    if (answers.answer == NULL) return tacit_fail_memory(error);
    for (; answers.count < count; answers.count++) {
        const uint8_t *bytes;
        if (!tacit_cursor_read_u64(cursor, &length) || !tacit_cursor_skip(cursor, &bytes, (size_t)length)) {
            status = damaged(session, error);
            goto cleanup;
        }
        TACIT_CHECK(tacit_answer_decode(&answers.answer[answers.count], bytes, (size_t)length, error));
    }
    *out = answers;
cleanup:
    if (status != TACIT_OK) tacit_answers_clear(&answers);
    return status;
}

/* ---- asking ---- */

static tacit_status enough(const tacit_session *session, size_t parties, tacit_error *error) {
    size_t needed = tacit_plan_survivors(session->plan);
    if (parties >= needed) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED, "%zu parties answered and the study needs at least %zu", parties,
                      needed);
}

tacit_status tacit_ask_sum(tacit_session *session, const char *name, const tacit_message *message,
                           const tacit_sum_spec *spec, tacit_sum *out, tacit_error *error) {
    uint64_t *total = TACIT_NEW(uint64_t, spec->length);
    tacit_sum sum = { TACIT_NEW(double, spec->length), spec->length, 0 };
    tacit_buffer record = TACIT_BUFFER_INIT;
    tacit_cursor cursor;
    tacit_question question;
    uint8_t hash[TACIT_HASH_BYTES];
    size_t question_bytes = 0;
    bool found = false;
    tacit_status status = total != NULL && sum.values != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(make_question(&question, session, name, message, error));
    question.wants_sum = true;
    question.sum = *spec;
    TACIT_CHECK(fingerprint(&question, hash, &question_bytes, error));
    TACIT_CHECK(read_record(session, session->round, hash, &found, &record, &cursor, error));
    if (found) {
        TACIT_CHECK(unpack_sum(session, &cursor, total, spec->length, &sum.parties, error));
    } else {
        tacit_transport *transport = &session->transport;
        TACIT_CHECK(transport->ask_sum(transport->context, &question, total, &sum.parties, error));
        TACIT_CHECK(enough(session, sum.parties, error));
        TACIT_CHECK(pack_sum(&record, hash, total, spec->length, sum.parties, error));
        TACIT_CHECK(write_record(session, session->round, &record, error));
    }
    for (size_t j = 0; j < spec->length; j++) sum.values[j] = tacit_sum_value(spec, (int64_t)total[j]);
    session->round++;
    session->bytes_per_party += question_bytes + 8 * spec->length;
    *out = sum;
    sum.values = NULL;
cleanup:
    free(sum.values);
    free(total);
    tacit_buffer_clear(&record);
    return status;
}

static size_t largest_answer(const tacit_answers *answers) {
    size_t most = 0;
    for (size_t i = 0; i < answers->count; i++) {
        size_t bytes = 0;
        for (size_t f = 0; f < answers->answer[i].message.count; f++) {
            const tacit_field *field = &answers->answer[i].message.fields[f];
            bytes += field->count * (field->kind <= TACIT_FIELD_INTEGERS ? 8 : 1);
        }
        if (bytes > most) most = bytes;
    }
    return most;
}

/* Whom a question is for: everybody, or the party in one place. */
typedef struct asked {
    bool one, needed;
    size_t place;
} asked;

static tacit_status put(tacit_session *session, const tacit_question *question, const asked *whom,
                        tacit_answers *out, tacit_error *error) {
    const tacit_transport *transport = &session->transport;
    if (!whom->one) {
        TACIT_TRY(transport->ask(transport->context, question, out, error));
        return enough(session, out->count, error);
    }
    if (transport->ask_one == NULL)
        return tacit_fail(error, TACIT_REFUSED, "method %s asks one party at a time, and here nobody can",
                          session->plan->method->name);
    return transport->ask_one(transport->context, question, whom->place, whom->needed, out, error);
}

static tacit_status ask(tacit_session *session, const char *name, const tacit_message *message,
                        const asked *whom, tacit_answers *out, tacit_error *error) {
    tacit_answers answers = TACIT_ANSWERS_INIT;
    tacit_buffer record = TACIT_BUFFER_INIT;
    tacit_cursor cursor;
    tacit_question question;
    uint8_t hash[TACIT_HASH_BYTES];
    size_t question_bytes = 0;
    bool found = false;
    tacit_status status;
    TACIT_CHECK(make_question(&question, session, name, message, error));
    TACIT_CHECK(fingerprint(&question, hash, &question_bytes, error));
    TACIT_CHECK(read_record(session, session->round, hash, &found, &record, &cursor, error));
    if (found) {
        TACIT_CHECK(unpack_answers(session, &cursor, &answers, error));
    } else {
        TACIT_CHECK(put(session, &question, whom, &answers, error));
        if (session->journal != NULL) TACIT_CHECK(pack_answers(&record, hash, &answers, error));
        TACIT_CHECK(write_record(session, session->round, &record, error));
    }
    session->round++;
    if (!whom->one || whom->place == 0) /* what is said to others is no bytes of this party's */
        session->bytes_per_party += question_bytes + largest_answer(&answers);
    *out = answers;
    answers = (tacit_answers)TACIT_ANSWERS_INIT;
cleanup:
    tacit_answers_clear(&answers);
    tacit_buffer_clear(&record);
    return status;
}

tacit_status tacit_session_prepared(tacit_session *session, void *out, tacit_error *error) {
    return tacit_common_prepared(session->common, &session->prepared, session->plan, out, error);
}

tacit_status tacit_session_noise(tacit_session *session, tacit_noise_law *out, tacit_error *error) {
    return tacit_common_noise(session->common, &session->prepared, session->plan, out, error);
}

tacit_status tacit_ask(tacit_session *session, const char *name, const tacit_message *message,
                       tacit_answers *out, tacit_error *error) {
    const asked everybody = { .one = false };
    return ask(session, name, message, &everybody, out, error);
}

tacit_status tacit_ask_one(tacit_session *session, const char *name, const tacit_message *message,
                           size_t place, bool needed, tacit_answers *out, tacit_error *error) {
    const asked whom = { true, needed, place };
    return ask(session, name, message, &whom, out, error);
}

/* Words are the transport's to keep; the journal says that the round is over. */
static tacit_status exchange_or_skip(tacit_session *session, const tacit_question *question,
                                     const uint8_t hash[TACIT_HASH_BYTES], const tacit_mixing *mixing,
                                     size_t *bytes, tacit_error *error) {
    tacit_transport *transport = &session->transport;
    tacit_buffer record = TACIT_BUFFER_INIT;
    tacit_cursor cursor;
    uint64_t heard = 0;
    bool found = false;
    tacit_status status;
    TACIT_CHECK(read_record(session, session->round, hash, &found, &record, &cursor, error));
    if (found) {
        if (!tacit_cursor_read_u64(&cursor, &heard) || cursor.left != 0) TACIT_CHECK(damaged(session, error));
        *bytes = (size_t)heard;
        goto cleanup;
    }
    TACIT_CHECK(transport->exchange(transport->context, question, mixing, bytes, error));
    TACIT_CHECK(tacit_buffer_append(&record, hash, TACIT_HASH_BYTES, error));
    TACIT_CHECK(tacit_buffer_append_u64(&record, *bytes, error));
    TACIT_CHECK(write_record(session, session->round, &record, error));
cleanup:
    tacit_buffer_clear(&record);
    return status;
}

tacit_status tacit_ask_neighbours(tacit_session *session, const char *name, const tacit_message *message,
                                  const tacit_mixing *mixing, tacit_error *error) {
    tacit_question question;
    uint8_t hash[TACIT_HASH_BYTES];
    size_t question_bytes = 0, words_bytes = 0;
    if (session->transport.exchange == NULL)
        return tacit_fail(error, TACIT_REFUSED,
                          "method %s has no center, and the parties of this session cannot hear each other",
                          session->plan->method->name);
    TACIT_TRY(make_question(&question, session, name, message, error));
    TACIT_TRY(fingerprint(&question, hash, &question_bytes, error));
    TACIT_TRY(exchange_or_skip(session, &question, hash, mixing, &words_bytes, error));
    session->round++;
    session->bytes_per_party += question_bytes + words_bytes;
    const tacit_round_watch *watch = session->round_watch;
    return watch != NULL ? watch->over(watch->context, error) : TACIT_OK;
}

/* ---- publishing ---- */

/* Ties a journal record to what the noise was added to. */
static void release_fingerprint(uint8_t hash[TACIT_HASH_BYTES], const tacit_mechanism *mechanism,
                                const double *values, size_t count, int grid_bits, double bound) {
    double numbers[] = { mechanism->law,         mechanism->sensitivity, mechanism->price.epsilon,
                         mechanism->price.delta, (double)grid_bits,      bound,
                         (double)count };
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, TACIT_HASH_BYTES);
    crypto_generichash_update(&state, (const uint8_t *)numbers, sizeof numbers);
    crypto_generichash_update(&state, (const uint8_t *)values, count * sizeof *values);
    crypto_generichash_final(&state, hash, TACIT_HASH_BYTES);
}

/* Integer noise on counts, which come as doubles like every sum. */
static tacit_status add_integer_noise(tacit_noised **out, const tacit_noise_source *source,
                                      const tacit_mechanism *mechanism, const double *values, size_t count,
                                      double bound, tacit_error *error) {
    int64_t *counts = TACIT_NEW(int64_t, count);
    if (counts == NULL) return tacit_fail_memory(error);
    for (size_t j = 0; j < count; j++) counts[j] = llrint(values[j]);
    tacit_status status = tacit_integer_release(out, source, mechanism, counts, count, (int64_t)bound, error);
    free(counts);
    return status;
}

static tacit_status draw(tacit_session *session, const tacit_mechanism *mechanism, const double *values,
                         size_t count, int grid_bits, double bound, uint64_t *steps, tacit_error *error) {
    tacit_stream stream = tacit_stream_fork(&session->secret, "published noise", session->releases, 0);
    tacit_noise_source source = { session->entropy, session->entropy == NULL ? &stream : NULL };
    tacit_noised *noised = NULL;
    bool integers =
        mechanism->law == TACIT_LAW_DISCRETE_LAPLACE || mechanism->law == TACIT_LAW_DISCRETE_GAUSSIAN;
    tacit_status status =
        integers
            ? add_integer_noise(&noised, &source, mechanism, values, count, bound, error)
            : tacit_mechanism_release(&noised, &source, mechanism, values, count, grid_bits, bound, error);
    if (status == TACIT_OK) memcpy(steps, tacit_noised_steps(noised), count * sizeof *steps);
    tacit_noised_free(noised);
    tacit_stream_wipe(&stream);
    return status;
}

tacit_status tacit_session_release(tacit_session *session, const tacit_mechanism *mechanism,
                                   const double *values, size_t count, int grid_bits, double bound,
                                   double *out, tacit_error *error) {
    uint64_t *steps = TACIT_NEW(uint64_t, count);
    tacit_buffer record = TACIT_BUFFER_INIT;
    tacit_cursor cursor;
    uint8_t hash[TACIT_HASH_BYTES];
    size_t one = 1;
    bool found = false;
    tacit_status status = steps != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    release_fingerprint(hash, mechanism, values, count, grid_bits, bound);
    TACIT_CHECK(read_record(session, TACIT_RELEASE_RECORDS + session->releases, hash, &found, &record,
                            &cursor, error));
    if (found) {
        TACIT_CHECK(unpack_sum(session, &cursor, steps, count, &one, error));
    } else {
        TACIT_CHECK(draw(session, mechanism, values, count, grid_bits, bound, steps, error));
        TACIT_CHECK(pack_sum(&record, hash, steps, count, one, error));
        TACIT_CHECK(write_record(session, TACIT_RELEASE_RECORDS + session->releases, &record, error));
    }
    for (size_t j = 0; j < count; j++) out[j] = ldexp((double)(int64_t)steps[j], -grid_bits);
    session->releases++;
    tacit_session_notify(session, out, count);
cleanup:
    free(steps);
    tacit_buffer_clear(&record);
    return status;
}

tacit_status tacit_session_publish(tacit_session *session, const tacit_mechanism *mechanism,
                                   const double *values, size_t count, double bound, double *out,
                                   tacit_error *error) {
    double reach;
    int bits;
    TACIT_TRY(tacit_mechanism_reach(&reach, mechanism, count, error));
    bound += reach;
    frexp(bound, &bits);
    return tacit_session_release(session, mechanism, values, count, 61 - bits, bound, out, error);
}

void tacit_session_notify(const tacit_session *session, const double *values, size_t count) {
    if (session->watch != NULL) session->watch->published(session->watch->context, values, count);
}

/* Ties a record to its place: what is opened there is not known beforehand. */
static void opening_fingerprint(const tacit_session *session, size_t count, uint8_t hash[TACIT_HASH_BYTES]) {
    uint64_t numbers[] = { session->round, session->releases, count };
    crypto_generichash(hash, TACIT_HASH_BYTES, (const uint8_t *)numbers, sizeof numbers, NULL, 0);
}

tacit_status tacit_session_opened(tacit_session *session, bool *found, int64_t *values, size_t count,
                                  tacit_error *error) {
    tacit_buffer record = TACIT_BUFFER_INIT;
    tacit_cursor cursor;
    uint8_t hash[TACIT_HASH_BYTES];
    size_t one = 1;
    tacit_status status;
    opening_fingerprint(session, count, hash);
    TACIT_CHECK(read_record(session, TACIT_RELEASE_RECORDS + session->releases, hash, found, &record, &cursor,
                            error));
    if (!*found) goto cleanup;
    TACIT_CHECK(unpack_sum(session, &cursor, (uint64_t *)values, count, &one, error));
    session->releases++;
cleanup:
    tacit_buffer_clear(&record);
    return status;
}

tacit_status tacit_session_keep_opened(tacit_session *session, const int64_t *values, size_t count,
                                       tacit_error *error) {
    tacit_buffer record = TACIT_BUFFER_INIT;
    uint8_t hash[TACIT_HASH_BYTES];
    tacit_status status;
    opening_fingerprint(session, count, hash);
    TACIT_CHECK(pack_sum(&record, hash, (const uint64_t *)values, count, 1, error));
    TACIT_CHECK(write_record(session, TACIT_RELEASE_RECORDS + session->releases, &record, error));
    session->releases++;
cleanup:
    tacit_buffer_clear(&record);
    return status;
}

tacit_stream tacit_session_stream(const tacit_session *session, const char *purpose) {
    return tacit_stream_fork(&session->secret, purpose, session->round, 0);
}

tacit_status tacit_checkpoint(tacit_session *session, const tacit_message *state, tacit_error *error) {
    if (session->journal == NULL) return TACIT_OK;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status = tacit_checkpoint_encode(state, session->releases, &bytes, error);
    if (status == TACIT_OK)
        status = session->journal->write_checkpoint(session->journal->context, session->round, bytes.bytes,
                                                    bytes.length, error);
    tacit_buffer_clear(&bytes);
    return status;
}

tacit_status tacit_resume(tacit_session *session, bool *found, tacit_message *state, tacit_error *error) {
    *found = false;
    if (session->journal == NULL) return TACIT_OK;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    uint64_t round = 0, releases = 0;
    bool stored = false;
    tacit_status status;
    TACIT_CHECK(session->journal->read_checkpoint(session->journal->context, &stored, &round, &bytes, error));
    if (!stored) goto cleanup;
    TACIT_CHECK(tacit_checkpoint_decode(state, &releases, &bytes, error));
    session->round = round;
    session->releases = releases;
    *found = true;
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}
