#include "session/center/center_servers.h"

#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "net/clock.h"

/* ---- what both servers do ---- */

void tacit_center_set_timeout(tacit_center_server *center, int64_t milliseconds) {
    tacit_channel_set_deadline(center->channel, tacit_clock_monotonic_ms() + milliseconds);
}

tacit_status tacit_center_share_public(tacit_center_server *center, int64_t *values, size_t count,
                                       tacit_error *error) {
    if (center->role == TACIT_EVALUATOR)
        return tacit_channel_receive(center->channel, values, count * sizeof *values, error);
    TACIT_TRY(tacit_channel_send(center->channel, values, count * sizeof *values, error));
    return tacit_channel_flush(center->channel, error);
}

tacit_status tacit_center_known(tacit_center_server *center, bool *known, int64_t *values, size_t count,
                                tacit_error *error) {
    int64_t flag = 0;
    if (center->role == TACIT_GARBLER) {
        TACIT_TRY(tacit_session_opened(center->session, known, values, count, error));
        flag = *known;
    }
    TACIT_TRY(tacit_center_share_public(center, &flag, 1, error));
    if (flag != 0 && flag != 1)
        return tacit_fail(error, TACIT_PROTOCOL, "the other center server sent something other than agreed");
    *known = flag == 1;
    return *known ? tacit_center_share_public(center, values, count, error) : TACIT_OK;
}

tacit_status tacit_center_keep(tacit_center_server *center, const int64_t *values, size_t count,
                               tacit_error *error) {
    return center->session != NULL ? tacit_session_keep_opened(center->session, values, count, error)
                                   : TACIT_OK;
}

/* ---- server B ---- */

static tacit_status assist(tacit_center_server *self, tacit_error *error) {
    tacit_outcome unused = TACIT_OUTCOME_INIT;
    tacit_status status = tacit_entropy_create(&self->entropy, error);
    if (status == TACIT_OK) {
        if (self->noise.stream == NULL) self->noise.entropy = self->entropy;
        status = self->plan->method->compute(self, &unused, error);
    }
    tacit_entropy_free(self->entropy);
    tacit_outcome_clear(&unused);
    return status;
}

tacit_status tacit_center_assist(const tacit_plan *plan, tacit_channel *channel,
                                 const tacit_paillier_secret *secret, tacit_pool *pool, tacit_error *error) {
    tacit_center_server self = { .role = TACIT_EVALUATOR,
                                 .plan = plan,
                                 .channel = channel,
                                 .key = tacit_paillier_public_of(secret),
                                 .secret = secret,
                                 .pool = pool };
    return assist(&self, error);
}

/* ---- server B as a thread ---- */

typedef struct companion {
    tacit_center_server center;
    tacit_stream stream;
    tacit_paillier_secret *secret;
    pthread_t thread;
    bool started;
    tacit_status status;
    tacit_error error;
} companion;

static void *companion_main(void *argument) {
    companion *self = argument;
    self->status = assist(&self->center, &self->error);
    self->center.channel = tacit_channel_free(self->center.channel); /* A must not wait for more */
    return NULL;
}

static tacit_status start_companion(companion *self, tacit_session *session, tacit_channel **end,
                                    tacit_error *error) {
    *self = (companion){ .status = TACIT_OK, .error = TACIT_ERROR_INIT };
    TACIT_TRY(tacit_center_simulated_key(&self->secret, error));
    self->center = (tacit_center_server){ .role = TACIT_EVALUATOR,
                                          .plan = session->plan,
                                          .key = tacit_paillier_public_of(self->secret),
                                          .secret = self->secret };
    self->stream = tacit_stream_fork(&session->secret, "centre B", 0, 0);
    self->center.noise.stream = &self->stream;
    TACIT_TRY(tacit_pool_create(&self->center.pool, 0, error));
    TACIT_TRY(tacit_channel_memory_pair(end, &self->center.channel, error));
    self->started = pthread_create(&self->thread, NULL, companion_main, self) == 0;
    return self->started ? TACIT_OK
                         : tacit_fail(error, TACIT_NO_MEMORY, "starting a thread: the system allows no more");
}

/* A's end of the channel is gone by now, so B comes to an end too. */
static void end_companion(companion *self) {
    if (self->started) pthread_join(self->thread, NULL);
    tacit_channel_free(self->center.channel);
    tacit_pool_free(self->center.pool);
    tacit_paillier_secret_free(self->secret);
    tacit_stream_wipe(&self->stream);
}

/* ---- server A ---- */

static tacit_status coordinate(tacit_session *session, tacit_channel *channel,
                               const tacit_paillier_public *key, tacit_outcome *out, tacit_error *error) {
    tacit_stream stream = tacit_stream_fork(&session->secret, "centre A", 0, 0);
    tacit_center_server self = { .role = TACIT_GARBLER,
                                 .plan = session->plan,
                                 .session = session,
                                 .channel = channel,
                                 .key = key,
                                 .noise = { session->entropy, session->entropy == NULL ? &stream : NULL },
                                 .pool = session->pool };
    tacit_status status = tacit_entropy_create(&self.entropy, error);
    if (status == TACIT_OK) status = session->plan->method->compute(&self, out, error);
    if (session->center_report != NULL) *session->center_report = self.report;
    tacit_entropy_free(self.entropy);
    tacit_stream_wipe(&stream);
    return status;
}

tacit_status tacit_center_coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    if (session->center != NULL)
        return coordinate(session, session->center->channel, session->center->key, out, error);
    companion b;
    tacit_channel *channel = NULL;
    tacit_error said = TACIT_ERROR_INIT;
    tacit_status status = start_companion(&b, session, &channel, &said);
    if (status == TACIT_OK) status = coordinate(session, channel, b.center.key, out, &said);
    tacit_channel_free(channel);
    end_companion(&b);
    /* A heard only that B is gone: what B says of it is the reason. */
    if (status == TACIT_NETWORK && b.status != TACIT_OK && b.status != TACIT_NETWORK)
        return tacit_fail(error, b.status, "%s", b.error.text);
    return status == TACIT_OK ? TACIT_OK : tacit_fail(error, status, "%s", said.text);
}

/* ---- a node's side ---- */

static tacit_status check_key(const tacit_party *party, const tacit_paillier_public *key,
                              tacit_error *error) {
    const uint8_t *wanted = party->plan->center_key;
    if (sodium_is_zero(wanted, sizeof party->plan->center_key) && party->gate->mode == TACIT_GATE_SIMULATED)
        return TACIT_OK;
    if (sodium_memcmp(wanted, tacit_paillier_fingerprint(key), TACIT_PAILLIER_FINGERPRINT_BYTES) == 0)
        return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "the coordinator hands out another key than that of the center server which the study "
                      "names: nothing is encrypted with it");
}

tacit_status tacit_party_center_key(tacit_party *party, const tacit_question *question,
                                    const tacit_paillier_public **out, tacit_paillier_public **owned,
                                    tacit_error *error) {
    const uint8_t *bytes;
    size_t length;
    uint8_t hash[TACIT_PAILLIER_FINGERPRINT_BYTES];
    tacit_memo *memo = party->memo;
    tacit_paillier_public *key = NULL;
    TACIT_TRY(tacit_message_bytes(question->message, "key", &bytes, &length, error));
    crypto_generichash(hash, sizeof hash, bytes, length, NULL, 0);
    if (memo != NULL && memo->center_key != NULL &&
        memcmp(hash, tacit_paillier_fingerprint(memo->center_key), sizeof hash) == 0) {
        *out = memo->center_key;
        return check_key(party, *out, error);
    }
    TACIT_TRY(tacit_paillier_public_read(&key, bytes, length, error));
    tacit_status status = check_key(party, key, error);
    if (status != TACIT_OK) {
        tacit_paillier_public_free(key);
        return status;
    }
    if (memo != NULL) {
        tacit_paillier_public_free(memo->center_key);
        memo->center_key = key;
    } else {
        *owned = key;
    }
    *out = key;
    return TACIT_OK;
}
