/*
 * Linear algebra between two servers: oblivious transfer, garbled tables, multiplication triples, opened
 * numbers. What one server says in an honest run is recorded once; then the other one hears it with changes
 * (outside.h). The first byte says who listens and with which engine. Such changes cannot always be noticed
 * (crypto/linear/secure.h), but nothing may be read that was not sent, and a refusal has a sentence.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/linear/secure.h"
#include "outside.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static tacit_status compute(tacit_secure *secure, tacit_factored **factor, tacit_error *error) {
    static const int64_t values[3] = { 16, 3, 16 };
    bool first = tacit_secure_role(secure) == TACIT_GARBLER, less;
    tacit_share matrix[3], vector[2];
    int64_t opened[2];
    TACIT_TRY(tacit_secure_input(secure, matrix, TACIT_GARBLER, first ? values : NULL, 3, error));
    TACIT_TRY(tacit_secure_factor(secure, factor, matrix, 2, error));
    TACIT_TRY(tacit_secure_solve(secure, vector, *factor, matrix, error));
    TACIT_TRY(tacit_secure_multiply(secure, vector, matrix, vector, 1, 2, 1, error));
    TACIT_TRY(tacit_secure_all_less(secure, &less, vector, matrix, 1, error));
    return tacit_secure_open(secure, opened, vector, 1, error);
}

static tacit_status play(tacit_role role, tacit_secure_engine engine, tacit_channel *channel,
                         tacit_error *error) {
    tacit_secure_settings settings = tacit_secure_defaults();
    tacit_stream stream = tacit_stream_from_seed(role);
    tacit_secure *secure = NULL;
    tacit_factored *factor = NULL;
    settings.engine = engine;
    settings.format = (tacit_fixed){ 12, 5 };
    settings.garble.stream = &stream;
    tacit_status status = tacit_secure_create(&secure, role, channel, &settings, error);
    if (status == TACIT_OK) status = compute(secure, &factor, error);
    tacit_factored_free(factor);
    tacit_secure_free(secure);
    return status;
}

/* ---- the honest run ---- */

/* Over a channel of its own kind that hands on to one in memory and keeps what came. */
typedef struct recorder {
    tacit_channel common;
    tacit_channel *inner;
    tacit_buffer *heard;
} recorder;

static tacit_status pass_on(tacit_channel *channel, const uint8_t *bytes, size_t length, tacit_error *error) {
    recorder *self = (recorder *)channel;
    TACIT_TRY(tacit_channel_send(self->inner, bytes, length, error));
    return tacit_channel_flush(self->inner, error);
}

static tacit_status hear(size_t *got, tacit_channel *channel, uint8_t *out, size_t most, tacit_error *error) {
    recorder *self = (recorder *)channel;
    (void)most;
    *got = 1; /* what the peer has sent so far is not known, so a byte at a time */
    TACIT_TRY(tacit_channel_receive(self->inner, out, 1, error));
    return tacit_buffer_append(self->heard, out, 1, error);
}

static void end_recording(tacit_channel *channel, bool goodbye) {
    (void)goodbye;
    tacit_channel_free(((recorder *)channel)->inner);
}

typedef struct player {
    tacit_role role;
    tacit_secure_engine engine;
    tacit_channel *channel;
} player;

static void *player_main(void *argument) {
    player *self = argument;
    outside_must(play(self->role, self->engine, self->channel, NULL));
    tacit_channel_free(self->channel);
    return NULL;
}

static tacit_channel *recorded(tacit_channel *inner, tacit_buffer *heard) {
    static const tacit_channel_kind kind = { .write = pass_on, .read = hear, .close = end_recording };
    recorder *self = calloc(1, sizeof *self);
    if (self == NULL) abort();
    self->inner = inner;
    self->heard = heard;
    outside_must(tacit_channel_start(&self->common, &kind, outside_nothing(), NULL));
    return &self->common;
}

/* What each role hears; by engine. */
static tacit_buffer heard[2][2];

static void record(tacit_secure_engine engine) {
    tacit_channel *first = NULL, *second = NULL;
    pthread_t thread;
    outside_must(tacit_channel_memory_pair(&first, &second, NULL));
    player other = { TACIT_EVALUATOR, engine, recorded(second, &heard[engine][1]) };
    if (pthread_create(&thread, NULL, player_main, &other) != 0) abort();
    player_main(&(player){ TACIT_GARBLER, engine, recorded(first, &heard[engine][0]) });
    pthread_join(thread, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_buffer said = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    if (length == 0) return 0;
    if (heard[0][0].length == 0) {
        record(TACIT_SECURE_YAO);
        record(TACIT_SECURE_SHARES);
    }
    tacit_secure_engine engine = bytes[0] & 1 ? TACIT_SECURE_SHARES : TACIT_SECURE_YAO;
    bool garbler = (bytes[0] & 2) != 0;
    const tacit_buffer *honest = &heard[engine][garbler ? 0 : 1];
    outside_must(tacit_buffer_append(&said, honest->bytes, honest->length, NULL));
    outside_change(&said, bytes + 1, length - 1);
    tacit_channel *channel = outside_channel(said.bytes, said.length);
    tacit_status status = play(garbler ? TACIT_GARBLER : TACIT_EVALUATOR, engine, channel, &error);
    outside_explained(status, &error);
    if (length == 1 && status != TACIT_OK) abort(); /* what was recorded is what was said */
    tacit_channel_free(channel);
    tacit_buffer_clear(&said);
    return 0;
}
