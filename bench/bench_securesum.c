/*
 * The cost of a secure sum, on one thread.
 *
 *   bench_securesum sum  PARTIES LENGTH    one sum, a tenth of the parties vanishing before they send their vector
 *   bench_securesum mask LENGTH REPEATS    masks beside the bare ChaCha20 key stream
 *   bench_securesum draw PARTIES           drawing the graph, once a version of a study
 *   bench_securesum paillier PARTIES LENGTH BITS    one encrypted sum, a tenth of the parties vanishing likewise
 *
 * Prints one JSON line; fails when a sum is wrong.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "crypto/paillier/paillier_sum.h"
#include "crypto/sum/drawing.h"
#include "crypto/sum/mask.h"
#include "crypto/sum/securesum.h"
#include "rand/stream.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- masks ---- */

static int masks(size_t length, int repeats) {
    enum { MASKS = 100 };
    static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES] = { 0 };
    uint64_t *values = TACIT_NEW(uint64_t, length);
    tacit_mask *mask = TACIT_NEW(tacit_mask, MASKS);
    double masked = INFINITY, bare = INFINITY;
    if (values == NULL || mask == NULL) return 1;
    for (int m = 0; m < MASKS; m++) mask[m].seed[0] = (uint8_t)m;
    for (int r = 0; r < repeats; r++) {
        double start = now();
        if (tacit_mask_apply(values, length, mask, MASKS, NULL, NULL) != TACIT_OK) return 1;
        masked = fmin(masked, now() - start);
        start = now();
        for (int m = 0; m < MASKS; m++)
            crypto_stream_chacha20((uint8_t *)values, length * sizeof *values, nonce, mask[m].seed);
        bare = fmin(bare, now() - start);
    }
    double bytes = (double)length * sizeof *values * MASKS;
    printf("{\"masked\": %.6g, \"bare\": %.6g}\n", bytes / masked, bytes / bare);
    free(values);
    free(mask);
    return 0;
}

/* ---- sums ---- */

typedef struct work {
    uint32_t parties;
    size_t length;
    uint8_t (*shown)[crypto_sign_PUBLICKEYBYTES];
    uint8_t (*secret)[crypto_sign_SECRETKEYBYTES];
    tacit_signing_roster roster;
    tacit_securesum_terms terms;
    tacit_securesum *sum;
    tacit_securesum_party **party;
    tacit_securesum_server *server;
    int64_t *values; /* the same for all, and so is what they must add up to */
    double party_seconds[TACIT_SUM_OPENED], server_seconds;
    size_t asked[TACIT_SUM_OPENED], sent, received; /* bytes from and to parties */
} work;

static tacit_status begin(work *self, tacit_error *error) {
    const uint32_t n = self->parties;
    tacit_stream stream = tacit_stream_from_seed(1);
    tacit_graph_assumption given = tacit_graph_assumption_default(n);
    self->shown = tacit_allocate(n, sizeof *self->shown);
    self->secret = tacit_allocate(n, sizeof *self->secret);
    self->party = tacit_allocate(n, sizeof(void *));
    self->values = TACIT_NEW(int64_t, self->length);
    if (self->shown == NULL || self->secret == NULL || self->party == NULL || self->values == NULL)
        return tacit_fail_memory(error);
    for (uint32_t i = 0; i < n; i++) crypto_sign_keypair(self->shown[i], self->secret[i]);
    tacit_stream_bytes(&stream, self->values, self->length * sizeof *self->values);
    self->roster = (tacit_signing_roster){ n, (const uint8_t(*)[crypto_sign_PUBLICKEYBYTES])self->shown };
    self->terms = (tacit_securesum_terms){ .study = "bench", .length = self->length };
    TACIT_TRY(tacit_graph_plan(&self->terms.shape, &given, error));
    tacit_securesum_roster roster = tacit_securesum_ed25519_roster(&self->roster);
    TACIT_TRY(tacit_securesum_create(&self->sum, &self->terms, &roster, error));
    for (uint32_t i = 0; i < n; i++) {
        uint8_t seed[TACIT_SUM_SEED_BYTES];
        tacit_securesum_signer signer = tacit_securesum_ed25519_signer(self->secret[i]);
        tacit_stream_bytes(&stream, seed, sizeof seed);
        TACIT_TRY(tacit_securesum_party_create(&self->party[i], self->sum, i, seed, &signer, error));
    }
    return tacit_securesum_server_create(&self->server, self->sum, NULL, error);
}

static void end(work *self) {
    for (uint32_t i = 0; self->party != NULL && i < self->parties; i++)
        tacit_securesum_party_free(self->party[i]);
    tacit_securesum_server_free(self->server);
    tacit_securesum_free(self->sum);
    free(self->shown);
    free(self->secret);
    free(self->party);
    free(self->values);
}

static tacit_status answer(work *self, uint32_t i, tacit_securesum_step step, const tacit_buffer *question,
                           tacit_buffer *out, tacit_error *error) {
    tacit_securesum_party *party = self->party[i];
    switch (step) {
    case TACIT_SUM_ADVERTISE: return tacit_securesum_party_advertise(party, out, error);
    case TACIT_SUM_SHARE:
        return tacit_securesum_party_share(party, question->bytes, question->length, out, error);
    case TACIT_SUM_MASK:
        return tacit_securesum_party_mask(party, question->bytes, question->length, self->values, out, error);
    case TACIT_SUM_CONSENT:
        return tacit_securesum_party_consent(party, question->bytes, question->length, out, error);
    default: return tacit_securesum_party_unmask(party, question->bytes, question->length, out, error);
    }
}

static tacit_status ask(work *self, uint32_t i, tacit_securesum_step step, tacit_error *error) {
    tacit_buffer question = TACIT_BUFFER_INIT, out = TACIT_BUFFER_INIT;
    tacit_status status;
    double start = now();
    TACIT_CHECK(tacit_securesum_server_question(self->server, i, &question, error));
    double asked = now();
    TACIT_CHECK(answer(self, i, step, &question, &out, error));
    double answered = now();
    TACIT_CHECK(tacit_securesum_server_receive(self->server, i, out.bytes, out.length, error));
    self->party_seconds[step] += answered - asked;
    self->server_seconds += now() - answered + asked - start;
    self->asked[step]++;
    self->received += question.length;
    self->sent += out.length;
cleanup:
    tacit_buffer_clear(&question);
    tacit_buffer_clear(&out);
    return status;
}

static tacit_status run(work *self, tacit_error *error) {
    while (tacit_securesum_server_step(self->server) < TACIT_SUM_OPENED) {
        tacit_securesum_step step = tacit_securesum_server_step(self->server);
        for (uint32_t i = 0; i < self->parties; i++) {
            bool gone = step >= TACIT_SUM_MASK && i % 10 == 3;
            if (!gone && tacit_securesum_server_expects(self->server, i))
                TACIT_TRY(ask(self, i, step, error));
        }
        double start = now();
        TACIT_TRY(tacit_securesum_server_close(self->server, error));
        self->server_seconds += now() - start;
    }
    uint64_t survivors = 0;
    for (uint32_t i = 0; i < self->parties; i++)
        survivors += tacit_securesum_server_survived(self->server, i);
    const int64_t *sum = tacit_securesum_server_sum(self->server);
    for (size_t j = 0; j < self->length; j++)
        if ((uint64_t)sum[j] != survivors * (uint64_t)self->values[j])
            return tacit_fail(error, TACIT_INTERNAL, "the sum is wrong at %zu", j);
    return TACIT_OK;
}

static int sums(uint32_t parties, size_t length) {
    work self = { .parties = parties, .length = length };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = begin(&self, &error);
    if (status == TACIT_OK) status = run(&self, &error);
    if (status == TACIT_OK) {
        printf("{\"degree\": %lu, \"threshold\": %lu, \"server\": %.6g, \"sent\": %.6g, \"received\": %.6g, "
               "\"party\": {",
               (unsigned long)self.terms.shape.degree, (unsigned long)self.terms.shape.threshold,
               self.server_seconds, (double)self.sent / (double)self.asked[TACIT_SUM_UNMASK],
               (double)self.received / (double)self.asked[TACIT_SUM_UNMASK]);
        for (int step = 0; step < TACIT_SUM_OPENED; step++)
            printf("\"%s\": %.6g%s", tacit_securesum_step_name((tacit_securesum_step)step),
                   self.party_seconds[step] / (double)self.asked[step],
                   step + 1 < TACIT_SUM_OPENED ? ", " : "}}\n");
    } else {
        fprintf(stderr, "bench_securesum: %s\n", error.text);
    }
    end(&self);
    return status == TACIT_OK ? 0 : 1;
}

/* ---- encrypted sums ---- */

typedef struct encrypted {
    work common; /* keys, roster and values */
    tacit_paillier_sum_terms terms;
    tacit_securesum_roster signers;
    tacit_paillier_secret *secret;
    tacit_paillier_sum_server *server;
    tacit_entropy *entropy;
    tacit_paillier_sum_key key;
    double key_seconds, check_seconds, party_seconds, holder_seconds, server_seconds;
    size_t sent, received, holder_received;
} encrypted;

/* One party's answer in the open step, in processor time. */
static tacit_status ask_encrypted(encrypted *self, uint32_t i, tacit_error *error) {
    const tacit_paillier_sum_step step = tacit_paillier_sum_server_step(self->server);
    tacit_securesum_signer signer = tacit_securesum_ed25519_signer(self->common.secret[i]);
    tacit_buffer question = TACIT_BUFFER_INIT, out = TACIT_BUFFER_INIT;
    tacit_status status;
    const double start = now();
    TACIT_CHECK(tacit_paillier_sum_server_question(self->server, i, &question, error));
    const double questioned = now();
    double asked = questioned;
    if (step == TACIT_PAILLIER_SUM_ENCRYPT && self->key.numbers == NULL) {
        TACIT_CHECK(tacit_paillier_sum_read_key(&self->key, &self->terms, &self->signers, question.bytes,
                                                question.length, error));
        self->check_seconds = now() - asked;
        asked = now();
    }
    if (step == TACIT_PAILLIER_SUM_KEY)
        TACIT_CHECK(tacit_paillier_sum_write_key(&out, &self->terms, self->secret, &signer, error));
    else if (step == TACIT_PAILLIER_SUM_ENCRYPT)
        TACIT_CHECK(tacit_paillier_sum_encrypt(&out, &self->terms, &self->key, i, self->common.values,
                                               &signer, self->entropy, NULL, error));
    else
        TACIT_CHECK(tacit_paillier_sum_decrypt(&out, &self->terms, self->secret, &self->signers,
                                               question.bytes, question.length, NULL, error));
    double answered = now();
    TACIT_CHECK(tacit_paillier_sum_server_receive(self->server, i, out.bytes, out.length, error));
    self->server_seconds += now() - answered + questioned - start;
    if (step == TACIT_PAILLIER_SUM_ENCRYPT) {
        self->party_seconds += answered - asked;
        self->sent = out.length;
        self->received = question.length;
    } else {
        self->holder_seconds += answered - asked;
        self->holder_received += question.length;
    }
cleanup:
    tacit_buffer_clear(&question);
    tacit_buffer_clear(&out);
    return status;
}

static tacit_status run_encrypted(encrypted *self, unsigned bits, tacit_error *error) {
    work *common = &self->common;
    TACIT_TRY(begin(common, error));
    for (size_t j = 0; j < common->length; j++) common->values[j] >>= 21; /* what adds up to less than 2^61 */
    double start = now();
    TACIT_TRY(tacit_paillier_generate(&self->secret, bits, NULL, error));
    self->key_seconds = now() - start;
    TACIT_TRY(tacit_entropy_create(&self->entropy, error));
    self->signers = tacit_securesum_ed25519_roster(&common->roster);
    self->terms = (tacit_paillier_sum_terms){ .study = "bench",
                                              .length = common->length,
                                              .parties = common->parties,
                                              .minimum = common->parties / 2,
                                              .key_bits = bits };
    TACIT_TRY(tacit_paillier_sum_server_create(&self->server, &self->terms, &self->signers, NULL, error));
    while (tacit_paillier_sum_server_step(self->server) < TACIT_PAILLIER_SUM_OPENED) {
        for (uint32_t i = 0; i < common->parties; i++)
            if (i % 10 != 3 && tacit_paillier_sum_server_expects(self->server, i))
                TACIT_TRY(ask_encrypted(self, i, error));
        start = now();
        TACIT_TRY(tacit_paillier_sum_server_close(self->server, error));
        self->server_seconds += now() - start;
    }
    int64_t survivors = 0;
    for (uint32_t i = 0; i < common->parties; i++)
        survivors += tacit_paillier_sum_server_survived(self->server, i);
    self->party_seconds /= (double)survivors;
    const int64_t *sum = tacit_paillier_sum_server_sum(self->server);
    for (size_t j = 0; j < common->length; j++)
        if (sum[j] != survivors * common->values[j])
            return tacit_fail(error, TACIT_INTERNAL, "the sum is wrong at %zu", j);
    return TACIT_OK;
}

static int encrypted_sums(uint32_t parties, size_t length, unsigned bits) {
    encrypted self = { .common = { .parties = parties, .length = length } };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = run_encrypted(&self, bits, &error);
    if (status == TACIT_OK)
        printf("{\"key\": %.6g, \"check\": %.6g, \"party\": %.6g, \"holder\": %.6g, \"server\": %.6g, "
               "\"sent\": %zu, "
               "\"received\": %zu, \"holder_received\": %zu}\n",
               self.key_seconds, self.check_seconds, self.party_seconds, self.holder_seconds,
               self.server_seconds, self.sent, self.received, self.holder_received);
    else
        fprintf(stderr, "bench_securesum: %s\n", error.text);
    tacit_paillier_sum_server_free(self.server);
    tacit_paillier_sum_key_clear(&self.key);
    tacit_paillier_secret_free(self.secret);
    tacit_entropy_free(self.entropy);
    end(&self.common);
    return status == TACIT_OK ? 0 : 1;
}

/* ---- drawing the graph ---- */

static tacit_status draw_step(const work *self, const tacit_drawing *drawing, tacit_drawing_server *server,
                              tacit_error *error) {
    const tacit_buffer *list = tacit_drawing_server_question(server);
    const uint8_t secret[TACIT_DRAWING_SECRET_BYTES] = { 1 };
    tacit_drawing_list read = { .count = 0 };
    tacit_status status = TACIT_OK;
    const bool opening = tacit_drawing_server_step(server) == TACIT_DRAWING_OPENING;
    if (opening) TACIT_TRY(tacit_drawing_read_list(&read, drawing, list->bytes, list->length, error));
    for (uint32_t i = 0; i < self->parties && status == TACIT_OK; i++) {
        const tacit_securesum_signer signer = tacit_securesum_ed25519_signer(self->secret[i]);
        tacit_buffer said = TACIT_BUFFER_INIT;
        status = opening ? tacit_drawing_open(drawing, i, secret, &read, &signer, &said, error)
                         : tacit_drawing_commit(drawing, i, secret, &signer, &said, error);
        if (status == TACIT_OK)
            status = tacit_drawing_server_receive(server, i, said.bytes, said.length, error);
        tacit_buffer_clear(&said);
    }
    return status == TACIT_OK ? tacit_drawing_server_close(server, error) : status;
}

/* Every party does the same, so one is timed, and checks the list and the proof. */
static tacit_status draw(work *self, tacit_error *error) {
    tacit_drawing drawing = { .study = "bench",
                              .parties = self->parties,
                              .least = tacit_drawing_least(self->parties, self->parties / 10),
                              .signers = tacit_securesum_ed25519_roster(&self->roster) };
    tacit_drawing_server *server = NULL;
    uint8_t seed[TACIT_GRAPH_SEED_BYTES];
    tacit_drawing_list list;
    tacit_status status;
    TACIT_CHECK(tacit_drawing_server_create(&server, &drawing, error));
    double start = now();
    while (tacit_drawing_server_step(server) != TACIT_DRAWING_DONE)
        TACIT_CHECK(draw_step(self, &drawing, server, error));
    const double both = now() - start;
    const tacit_buffer *proof = tacit_drawing_server_question(server);
    const size_t listed = 4 + (size_t)self->parties * TACIT_DRAWING_ENTRY_BYTES;
    start = now();
    TACIT_CHECK(tacit_drawing_read_list(&list, &drawing, proof->bytes, listed, error));
    TACIT_CHECK(tacit_drawing_read_proof(seed, &list, &drawing, proof->bytes, proof->length, error));
    printf("{\"party\": %.6g, \"sent\": %d, \"received\": %zu, \"server\": %.6g}\n", now() - start,
           2 * TACIT_DRAWING_OPENING_BYTES, listed + proof->length, both);
cleanup:
    tacit_drawing_server_free(server);
    return status;
}

static int drawings(uint32_t parties) {
    work self = { .parties = parties, .length = 1 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = begin(&self, &error);
    if (status == TACIT_OK) status = draw(&self, &error);
    if (status != TACIT_OK) fprintf(stderr, "bench_securesum: %s\n", error.text);
    end(&self);
    return status == TACIT_OK ? 0 : 1;
}

int main(int count, char **argument) {
    if (sodium_init() < 0) return 1;
    if (count == 4 && strcmp(argument[1], "sum") == 0)
        return sums((uint32_t)strtoul(argument[2], NULL, 10), strtoull(argument[3], NULL, 10));
    if (count == 3 && strcmp(argument[1], "draw") == 0)
        return drawings((uint32_t)strtoul(argument[2], NULL, 10));
    if (count == 4 && strcmp(argument[1], "mask") == 0)
        return masks(strtoull(argument[2], NULL, 10), atoi(argument[3]));
    if (count == 5 && strcmp(argument[1], "paillier") == 0)
        return encrypted_sums((uint32_t)strtoul(argument[2], NULL, 10), strtoull(argument[3], NULL, 10),
                              (unsigned)strtoul(argument[4], NULL, 10));
    fprintf(stderr, "usage: bench_securesum sum PARTIES LENGTH | draw PARTIES | mask LENGTH REPEATS | "
                    "paillier PARTIES LENGTH BITS\n");
    return 2;
}
