/*
 * Messages of a secure sum of three parties, at either end and in any step. The first byte says where the
 * rest goes: bits 0 to 2 the step (5: the saved state; 6 and 7: the drawing of a graph, to the coordinator in
 * its first and second step, or to a party as a list and as a proof), bit 3 to a party and not to the
 * coordinator, bit 4 behind a right header. A refusal must have a sentence and leave no answer.
 */
#include <stdlib.h>
#include <string.h>

#include "crypto/sum/drawing.h"
#include "crypto/sum/securesum_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { PARTIES = 3, LENGTH = 2 };

static uint8_t shown[PARTIES][crypto_sign_PUBLICKEYBYTES], secret[PARTIES][crypto_sign_SECRETKEYBYTES];
static const tacit_signing_roster signers = { PARTIES, (const uint8_t (*)[crypto_sign_PUBLICKEYBYTES])shown };
static const int64_t values[LENGTH] = { 5, -7 };
static tacit_securesum *sum;
static tacit_securesum_server *servers[TACIT_SUM_OPENED]; /* one waiting in each step */
static tacit_buffer saved[TACIT_SUM_OPENED];              /* party 0 before each step */

static void must(tacit_status status) {
    if (status != TACIT_OK) abort();
}

static tacit_status answer(tacit_securesum_party *party, int step, const uint8_t *bytes, size_t length,
                           tacit_buffer *out, tacit_error *error) {
    switch (step) {
    case TACIT_SUM_ADVERTISE: return tacit_securesum_party_advertise(party, out, error);
    case TACIT_SUM_SHARE: return tacit_securesum_party_share(party, bytes, length, out, error);
    case TACIT_SUM_MASK: return tacit_securesum_party_mask(party, bytes, length, values, out, error);
    case TACIT_SUM_CONSENT: return tacit_securesum_party_consent(party, bytes, length, out, error);
    default: return tacit_securesum_party_unmask(party, bytes, length, out, error);
    }
}

static void take_step(tacit_securesum_server *server, tacit_securesum_party **party) {
    int step = (int)tacit_securesum_server_step(server);
    for (uint32_t i = 0; i < PARTIES; i++) {
        tacit_buffer question = TACIT_BUFFER_INIT, out = TACIT_BUFFER_INIT;
        must(tacit_securesum_server_question(server, i, &question, NULL));
        must(answer(party[i], step, question.bytes, question.length, &out, NULL));
        must(tacit_securesum_server_receive(server, i, out.bytes, out.length, NULL));
        tacit_buffer_clear(&question);
        tacit_buffer_clear(&out);
    }
    must(tacit_securesum_server_close(server, NULL));
}

/* A coordinator that waits in `step`; party 0 as it then is goes to saved[step]. */
static void prepare(int step) {
    tacit_securesum_party *party[PARTIES];
    tacit_securesum_server_free(servers[step]);
    must(tacit_securesum_server_create(&servers[step], sum, NULL, NULL));
    for (uint32_t i = 0; i < PARTIES; i++) {
        const uint8_t seed[TACIT_SUM_SEED_BYTES] = { (uint8_t)i };
        tacit_securesum_signer signer = tacit_securesum_ed25519_signer(secret[i]);
        must(tacit_securesum_party_create(&party[i], sum, i, seed, &signer, NULL));
    }
    while ((int)tacit_securesum_server_step(servers[step]) < step) take_step(servers[step], party);
    tacit_buffer_clear(&saved[step]);
    must(tacit_securesum_party_save(party[0], &saved[step], NULL));
    for (uint32_t i = 0; i < PARTIES; i++) tacit_securesum_party_free(party[i]);
}

static void begin(void) {
    tacit_securesum_roster roster = tacit_securesum_ed25519_roster(&signers);
    tacit_securesum_terms terms = { .study = "study", .length = LENGTH, .shape = { PARTIES, 2, 2, 0, 2 } };
    if (sodium_init() < 0) abort();
    for (uint32_t i = 0; i < PARTIES; i++) {
        const uint8_t seed[crypto_sign_SEEDBYTES] = { (uint8_t)i };
        crypto_sign_seed_keypair(shown[i], secret[i], seed);
    }
    tacit_securesum_roster_digest(terms.roster, &signers);
    must(tacit_securesum_create(&sum, &terms, &roster, NULL));
    for (int step = 0; step < TACIT_SUM_OPENED; step++) prepare(step);
}

static void to_party(int step, const tacit_buffer *message) {
    tacit_securesum_signer signer = tacit_securesum_ed25519_signer(secret[0]);
    tacit_securesum_party *party;
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    must(tacit_securesum_party_restore(&party, sum, saved[step].bytes, saved[step].length, &signer, NULL));
    tacit_status status = answer(party, step, message->bytes, message->length, &out, &error);
    if (status != TACIT_OK && (error.text[0] == 0 || out.length != 0)) abort();
    if (status == TACIT_OK && out.length == 0) abort();
    tacit_buffer_clear(&out);
    tacit_securesum_party_free(party);
}

static void to_server(int step, const tacit_buffer *message) {
    tacit_error error = TACIT_ERROR_INIT;
    if (tacit_securesum_server_receive(servers[step], 0, message->bytes, message->length, &error) ==
        TACIT_OK) {
        if (!tacit_securesum_server_has(servers[step], 0)) abort();
        prepare(step);
    } else if (error.text[0] == 0 || tacit_securesum_server_has(servers[step], 0)) {
        abort();
    }
}

/* ---- drawing a graph ---- */

static void draw_step(const tacit_drawing *drawing, tacit_drawing_server *server) {
    const tacit_buffer *said = tacit_drawing_server_question(server);
    const uint8_t bytes[TACIT_DRAWING_SECRET_BYTES] = { 3 };
    tacit_drawing_list list = { .count = 0 };
    const bool opening = tacit_drawing_server_step(server) == TACIT_DRAWING_OPENING;
    if (opening) must(tacit_drawing_read_list(&list, drawing, said->bytes, said->length, NULL));
    for (uint32_t i = 1; i < PARTIES; i++) { /* the other answer is the fuzzer's */
        const tacit_securesum_signer signer = tacit_securesum_ed25519_signer(secret[i]);
        tacit_buffer out = TACIT_BUFFER_INIT;
        must(opening ? tacit_drawing_open(drawing, i, bytes, &list, &signer, &out, NULL)
                     : tacit_drawing_commit(drawing, i, bytes, &signer, &out, NULL));
        must(tacit_drawing_server_receive(server, i, out.bytes, out.length, NULL));
        tacit_buffer_clear(&out);
    }
}

static void to_drawing(bool second, bool party, const tacit_buffer *message) {
    tacit_drawing drawing = { .study = "study", .parties = PARTIES, .least = PARTIES - 1 };
    tacit_drawing_server *server = NULL;
    tacit_drawing_list list;
    uint8_t seed[TACIT_GRAPH_SEED_BYTES];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status;
    tacit_securesum_roster_digest(drawing.roster, &signers);
    drawing.signers = tacit_securesum_ed25519_roster(&signers);
    if (party) {
        status =
            second ? tacit_drawing_read_proof(seed, &list, &drawing, message->bytes, message->length, &error)
                   : tacit_drawing_read_list(&list, &drawing, message->bytes, message->length, &error);
    } else {
        must(tacit_drawing_server_create(&server, &drawing, NULL));
        draw_step(&drawing, server);
        if (second) {
            must(tacit_drawing_server_close(server, NULL));
            draw_step(&drawing, server);
        }
        status =
            tacit_drawing_server_receive(server, second ? 1 : 0, message->bytes, message->length, &error);
        if (!second && (status == TACIT_OK) != tacit_drawing_server_has(server, 0)) abort();
        must(tacit_drawing_server_close(server, NULL));
        tacit_drawing_server_free(server);
    }
    if (status != TACIT_OK && error.text[0] == 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static const tacit_sum_kind asked[] = { TACIT_SUM_KEYS, TACIT_SUM_KEY_LIST, TACIT_SUM_DEALT_LIST,
                                            TACIT_SUM_SURVIVORS, TACIT_SUM_CONSENTS };
    static const tacit_sum_kind answered[] = { TACIT_SUM_KEYS, TACIT_SUM_DEALT, TACIT_SUM_VECTOR,
                                               TACIT_SUM_CONSENTED, TACIT_SUM_OPENINGS };
    if (sum == NULL) begin();
    if (length == 0) return 0;
    int step = bytes[0] & 7;
    bool party = (bytes[0] & 8) != 0;
    tacit_buffer message = TACIT_BUFFER_INIT;
    if (step < TACIT_SUM_OPENED && (bytes[0] & 16) != 0)
        must(tacit_sum_write_header(&message, sum, party ? asked[step] : answered[step], 0, NULL));
    must(tacit_buffer_append(&message, bytes + 1, length - 1, NULL));
    if (step < TACIT_SUM_OPENED && party) to_party(step, &message);
    if (step < TACIT_SUM_OPENED && !party) to_server(step, &message);
    if (step > TACIT_SUM_OPENED) to_drawing(step == 7, party, &message);
    if (step == TACIT_SUM_OPENED) {
        tacit_securesum_signer signer = tacit_securesum_ed25519_signer(secret[0]);
        tacit_securesum_party *restored = NULL;
        if (tacit_securesum_party_restore(&restored, sum, message.bytes, message.length, &signer, NULL) ==
            TACIT_OK)
            tacit_securesum_party_free(restored);
    }
    tacit_buffer_clear(&message);
    return 0;
}
