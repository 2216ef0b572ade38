/* A secure sum in one process: parties, coordinator, and a driver that carries the messages. */
#pragma once

#include "check.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/sum/securesum.h"
#include "rand/stream.h"

enum { STAYS = TACIT_SUM_OPENED }; /* never vanishes */

typedef struct world {
    uint32_t parties;
    size_t length;
    tacit_securesum_terms terms;
    tacit_securesum *sum;
    tacit_signing_roster roster;
    uint8_t (*shown)[crypto_sign_PUBLICKEYBYTES];
    uint8_t (*secret)[crypto_sign_SECRETKEYBYTES];
    tacit_securesum_party **party;
    tacit_securesum_server *server;
    int *vanishes; /* the first step that a party does not answer */
    int64_t *values;
    tacit_pool *pool;
    tacit_stream stream;
    tacit_buffer *answers;
    tacit_error error;
} world;

/* A ring for a few dozen parties, whose numbers are not of a plan. */
static inline tacit_graph_shape small_ring(uint32_t parties) {
    return (tacit_graph_shape){ parties, 12, 8, 2, parties / 2 };
}

static inline tacit_graph_shape small_complete(uint32_t parties) {
    return (tacit_graph_shape){ parties, parties - 1, parties / 2 + 1, 0, parties / 2 + 1 };
}

/* Everything from a seed; without values of its own when the test makes them. */
static inline void world_begin_with(world *self, tacit_graph_shape shape, size_t length, uint64_t seed,
                                    tacit_pool *pool, bool with_values) {
    memset(self, 0, sizeof *self);
    self->pool = pool;
    assert_true(sodium_init() >= 0);
    const uint32_t n = self->parties = shape.parties;
    self->length = length;
    self->stream = tacit_stream_from_seed(seed);
    self->shown = calloc(n, sizeof *self->shown);
    self->secret = calloc(n, sizeof *self->secret);
    self->party = calloc(n, sizeof *self->party);
    self->vanishes = calloc(n, sizeof *self->vanishes);
    self->answers = calloc(n, sizeof *self->answers);
    const size_t value_bytes = with_values ? n * length * sizeof *self->values : 0;
    self->values = malloc(value_bytes + 1);
    for (uint32_t i = 0; i < n; i++) {
        uint8_t key_seed[crypto_sign_SEEDBYTES];
        tacit_stream_bytes(&self->stream, key_seed, sizeof key_seed);
        crypto_sign_seed_keypair(self->shown[i], self->secret[i], key_seed);
        self->vanishes[i] = STAYS;
    }
    tacit_stream_bytes(&self->stream, self->values, value_bytes);
    self->roster = (tacit_signing_roster){ n, (const uint8_t(*)[crypto_sign_PUBLICKEYBYTES])self->shown };
    self->terms = (tacit_securesum_terms){ .study = "study", .round = 3, .length = length, .shape = shape };
    tacit_stream_bytes(&self->stream, self->terms.id, sizeof self->terms.id);
    tacit_stream_bytes(&self->stream, self->terms.graph_seed, sizeof self->terms.graph_seed);
    tacit_securesum_roster_digest(self->terms.roster, &self->roster);
    tacit_securesum_roster roster = tacit_securesum_ed25519_roster(&self->roster);
    CHECK_OK(tacit_securesum_create(&self->sum, &self->terms, &roster, &self->error), self->error);
    for (uint32_t i = 0; i < n; i++) {
        uint8_t party_seed[TACIT_SUM_SEED_BYTES];
        tacit_stream_bytes(&self->stream, party_seed, sizeof party_seed);
        tacit_securesum_signer signer = tacit_securesum_ed25519_signer(self->secret[i]);
        CHECK_OK(
            tacit_securesum_party_create(&self->party[i], self->sum, i, party_seed, &signer, &self->error),
            self->error);
    }
    CHECK_OK(tacit_securesum_server_create(&self->server, self->sum, self->pool, &self->error), self->error);
}

static inline void world_begin(world *self, tacit_graph_shape shape, size_t length, uint64_t seed) {
    world_begin_with(self, shape, length, seed, NULL, true);
}

static inline void world_end(world *self) {
    for (uint32_t i = 0; i < self->parties; i++) {
        tacit_securesum_party_free(self->party[i]);
        tacit_buffer_clear(&self->answers[i]);
    }
    tacit_securesum_server_free(self->server);
    tacit_securesum_free(self->sum);
    free(self->shown);
    free(self->secret);
    free(self->party);
    free(self->vanishes);
    free(self->answers);
    free(self->values);
}

/* What party i answers to `question` in `step`. */
static inline tacit_status world_answer(world *self, uint32_t i, tacit_securesum_step step,
                                        const tacit_buffer *question, tacit_buffer *answer,
                                        tacit_error *error) {
    tacit_securesum_party *party = self->party[i];
    const uint8_t *bytes = question->bytes;
    const size_t length = question->length;
    switch (step) {
    case TACIT_SUM_ADVERTISE: return tacit_securesum_party_advertise(party, answer, error);
    case TACIT_SUM_SHARE: return tacit_securesum_party_share(party, bytes, length, answer, error);
    case TACIT_SUM_MASK:
        return tacit_securesum_party_mask(party, bytes, length, self->values + i * self->length, answer,
                                          error);
    case TACIT_SUM_CONSENT: return tacit_securesum_party_consent(party, bytes, length, answer, error);
    default: return tacit_securesum_party_unmask(party, bytes, length, answer, error);
    }
}

/* Ask party i for the present step and keep its answer in answers[i]. */
static inline void world_ask(world *self, uint32_t i) {
    tacit_buffer question = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer_clear(&self->answers[i]);
    CHECK_OK(tacit_securesum_server_question(self->server, i, &question, &error), error);
    CHECK_OK(world_answer(self, i, tacit_securesum_server_step(self->server), &question, &self->answers[i],
                          &error),
             error);
    tacit_buffer_clear(&question);
}

static inline bool world_due(const world *self, uint32_t i) {
    return tacit_securesum_server_expects(self->server, i) &&
           (int)tacit_securesum_server_step(self->server) < self->vanishes[i];
}

static inline void world_collect(world *self) {
    for (uint32_t i = 0; i < self->parties; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        if (!world_due(self, i)) continue;
        world_ask(self, i);
        CHECK_OK(tacit_securesum_server_receive(self->server, i, self->answers[i].bytes,
                                                self->answers[i].length, &error),
                 error);
    }
}

/* Take all steps before `until`; the status is that of the first step that could not be ended. */
static inline tacit_status world_run(world *self, tacit_securesum_step until) {
    self->error = (tacit_error)TACIT_ERROR_INIT;
    while (tacit_securesum_server_step(self->server) < until) {
        world_collect(self);
        TACIT_TRY(tacit_securesum_server_close(self->server, &self->error));
    }
    return TACIT_OK;
}

/* The opened sum is that of those who survived. */
static inline void world_check_sum(const world *self) {
    const int64_t *sum = tacit_securesum_server_sum(self->server);
    assert_non_null(sum);
    uint64_t *expected = calloc(self->length, sizeof *expected);
    for (uint32_t i = 0; i < self->parties; i++) {
        if (!tacit_securesum_server_survived(self->server, i)) continue;
        for (size_t j = 0; j < self->length; j++) expected[j] += (uint64_t)self->values[i * self->length + j];
    }
    assert_memory_equal(sum, expected, self->length * sizeof *expected);
    free(expected);
}
