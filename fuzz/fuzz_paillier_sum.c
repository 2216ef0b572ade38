/*
 * Messages of an encrypted sum of three parties under a key of 2048 bits. The first byte says where the rest
 * goes: to the coordinator in step 0 to 2, or ('k', 'd') to a party as the key or to the key holder as what
 * is to be decrypted; with 32 taken from it, an honest message with the changes that follow (outside.h).
 * Signatures are taken for good, so that what is behind them is reached; 'b' puts the bytes into a box that
 * opens, and 'B' changed ciphertexts, so that what is behind the seal is too.
 */
#include <stdlib.h>
#include <string.h>

#include "crypto/paillier/paillier_sum_parts.h"
#include "outside.h"
#include "session/center/center_servers.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { PARTIES = 3, LENGTH = 2, BITS = 2048 };

static tacit_paillier_secret *secret;
static tacit_paillier_sum_terms terms;
static tacit_paillier_sum_key public_key;
static tacit_buffer key, contribution, boxes, decrypted; /* honest messages */
static tacit_buffer ciphertexts;                         /* in the honest box */
static size_t box_text;                                  /* its length */

static bool believe(const void *self, uint32_t party, const uint8_t signature[TACIT_SIGNATURE_BYTES],
                    const uint8_t *message, size_t length) {
    (void)self, (void)signature, (void)message, (void)length;
    return party < PARTIES;
}

static tacit_status sign(const void *self, uint8_t signature[TACIT_SIGNATURE_BYTES], const uint8_t *message,
                         size_t length, tacit_error *error) {
    (void)self, (void)message, (void)length, (void)error;
    memset(signature, 7, TACIT_SIGNATURE_BYTES);
    return TACIT_OK;
}

static const tacit_securesum_roster roster = { believe, NULL };
static const tacit_securesum_signer signer = { sign, NULL };

/* A coordinator that waits in `step`, with a real contribution when that comes after it. */
static tacit_paillier_sum_server *waiting_in(int step) {
    tacit_paillier_sum_server *server = NULL;
    outside_must(tacit_paillier_sum_server_create(&server, &terms, &roster, NULL, NULL));
    if (step > TACIT_PAILLIER_SUM_KEY) {
        outside_must(tacit_paillier_sum_server_receive(server, 0, key.bytes, key.length, NULL));
        outside_must(tacit_paillier_sum_server_close(server, NULL));
    }
    if (step > TACIT_PAILLIER_SUM_ENCRYPT) {
        outside_must(
            tacit_paillier_sum_server_receive(server, 1, contribution.bytes, contribution.length, NULL));
        outside_must(tacit_paillier_sum_server_close(server, NULL));
    }
    return server;
}

/* The seed that both ends of the honest box of party 1 agree on. */
static void box_seed(uint8_t seed[TACIT_KEY_BYTES], uint8_t context[TACIT_DIGEST_BYTES]) {
    tacit_key_pair sealing;
    tacit_paillier_sum_context(context, &terms, public_key.numbers);
    outside_must(tacit_paillier_sum_sealing(&sealing, secret, NULL));
    outside_must(tacit_agree(seed, &sealing, contribution.bytes + TACIT_PAILLIER_ANSWER_HEADER, context,
                             TACIT_PAILLIER_BOX_PURPOSE, NULL));
}

static void open_honest_box(uint8_t *text) {
    uint8_t seed[TACIT_KEY_BYTES], context[TACIT_DIGEST_BYTES];
    box_seed(seed, context);
    const tacit_seal_route route = { context, 1, terms.holder };
    outside_must(tacit_seal_open(text, box_text,
                                 contribution.bytes + TACIT_PAILLIER_ANSWER_HEADER + TACIT_KEY_BYTES, seed,
                                 &route, NULL));
}

static void begin(void) {
    static const int64_t values[LENGTH] = { 5, -7 };
    tacit_entropy *entropy = NULL;
    outside_must(tacit_center_simulated_key(&secret, NULL));
    terms = (tacit_paillier_sum_terms){
        .study = "study", .length = LENGTH, .parties = PARTIES, .minimum = 1, .key_bits = BITS
    };
    outside_must(tacit_entropy_create(&entropy, NULL));
    outside_must(tacit_paillier_sum_write_key(&key, &terms, secret, &signer, NULL));
    outside_must(tacit_paillier_sum_read_key(&public_key, &terms, &roster, key.bytes, key.length, NULL));
    outside_must(tacit_paillier_sum_encrypt(&contribution, &terms, &public_key, 1, values, &signer, entropy,
                                            NULL, NULL));
    tacit_entropy_free(entropy);
    tacit_paillier_sum_server *server = waiting_in(TACIT_PAILLIER_SUM_DECRYPT);
    outside_must(tacit_paillier_sum_server_question(server, 0, &boxes, NULL));
    outside_must(tacit_paillier_sum_decrypt(&decrypted, &terms, secret, &roster, boxes.bytes, boxes.length,
                                            NULL, NULL));
    tacit_paillier_sum_server_free(server);
    tacit_paillier_sum_layout layout;
    outside_must(tacit_paillier_sum_lay_out(&layout, &terms, NULL));
    box_text = layout.box_bytes - TACIT_KEY_BYTES - TACIT_SEAL_BYTES;
    uint8_t *room;
    outside_must(tacit_buffer_reserve(&ciphertexts, box_text, &room, NULL));
    open_honest_box(room);
    ciphertexts.length = box_text;
}

static void to_coordinator(int step, const uint8_t *bytes, size_t length) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_sum_server *server = waiting_in(step);
    tacit_status status = tacit_paillier_sum_server_receive(server, 0, bytes, length, &error);
    outside_explained(status, &error);
    if (tacit_paillier_sum_server_has(server, 0) != (status == TACIT_OK)) abort();
    if (status == TACIT_OK) outside_must(tacit_paillier_sum_server_close(server, NULL));
    tacit_paillier_sum_server_free(server);
}

static void to_party(const uint8_t *bytes, size_t length) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_sum_key read = { .numbers = NULL };
    outside_explained(tacit_paillier_sum_read_key(&read, &terms, &roster, bytes, length, &error), &error);
    tacit_paillier_sum_key_clear(&read);
}

static void to_key_holder(const uint8_t *bytes, size_t length) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_status status =
        tacit_paillier_sum_decrypt(&out, &terms, secret, &roster, bytes, length, NULL, &error);
    outside_explained(status, &error);
    if (out.length != (status == TACIT_OK ? tacit_paillier_sum_decrypted_bytes(&terms) : 0)) abort();
    tacit_buffer_clear(&out);
}

/* A box that opens on these bytes, cut or filled up to the length that a box has. */
static void into_box(const uint8_t *bytes, size_t length) {
    uint8_t seed[TACIT_KEY_BYTES], context[TACIT_DIGEST_BYTES];
    uint8_t *text = calloc(1, box_text);
    tacit_buffer question = TACIT_BUFFER_INIT;
    if (text == NULL) abort();
    if (length > 0) memcpy(text, bytes, length < box_text ? length : box_text);
    outside_must(tacit_buffer_append(&question, boxes.bytes, boxes.length, NULL));
    box_seed(seed, context);
    const tacit_seal_route route = { context, 1, terms.holder };
    tacit_seal(question.bytes + 4 + TACIT_PAILLIER_WITNESS_BYTES + TACIT_KEY_BYTES, text, box_text, seed,
               &route);
    to_key_holder(question.bytes, question.length);
    tacit_buffer_clear(&question);
    free(text);
}

static void deliver(int to, const uint8_t *bytes, size_t length) {
    switch (to) {
    case 'k': to_party(bytes, length); break;
    case 'd': to_key_holder(bytes, length); break;
    case 'b': into_box(bytes, length); break;
    default: to_coordinator(to % TACIT_PAILLIER_SUM_OPENED, bytes, length); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static const tacit_buffer *const honest[] = { &key, &contribution, &decrypted };
    tacit_buffer message = TACIT_BUFFER_INIT;
    if (secret == NULL) begin();
    if (length == 0) return 0;
    const tacit_buffer *meant = bytes[0] == 'K'   ? &key
                                : bytes[0] == 'B' ? &ciphertexts
                                : bytes[0] == 'D' ? &boxes
                                : bytes[0] < 32   ? honest[(bytes[0] + 32) % TACIT_PAILLIER_SUM_OPENED]
                                                  : NULL;
    if (meant == NULL) {
        deliver(bytes[0], bytes + 1, length - 1);
        return 0;
    }
    outside_must(tacit_buffer_append(&message, meant->bytes, meant->length, NULL));
    outside_change(&message, bytes + 1, length - 1);
    deliver(bytes[0] + 32, message.bytes, message.length);
    tacit_buffer_clear(&message);
    return 0;
}
