/* An envelope that somebody carried. The first byte says how: 'r', the bytes are the file; 'c', an honest file is
 * changed as they say; 'm', its record is changed so, and gets a checksum that fits: what is then taken must be the
 * honest one. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "net/envelope.h"
#include "outside.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static tacit_buffer honest, record;
static uint8_t receiver[32];
static const uint8_t receiver_secret[32] = { 7 };

static void make_honest(void) {
    tacit_envelope made = { .address = { .kind = TACIT_ENVELOPE_ANSWER, .study = "trial", .round = 1 } };
    uint8_t seed[crypto_sign_SEEDBYTES] = { 1 }, secret[crypto_sign_SECRETKEYBYTES];
    size_t read = 0;
    if (honest.length > 0) return;
    crypto_scalarmult_base(receiver, receiver_secret);
    crypto_sign_seed_keypair(made.address.party, secret, seed);
    memcpy(made.address.receiver, receiver, sizeof receiver);
    outside_must(tacit_envelope_put(&made, 3, "poll", 4, NULL));
    outside_must(tacit_envelope_put(&made, 4, "answer", 6, NULL));
    const tacit_envelope_sender sender = { .secret_key = secret, .seed = seed };
    outside_must(tacit_envelope_write(&made, &sender, &honest, NULL));
    const char *begin = strchr(tacit_buffer_text(&honest), '\n') + 1, *end = strstr(begin, "-----END");
    uint8_t *at;
    outside_must(tacit_buffer_reserve(&record, (size_t)(end - begin), &at, NULL));
    if (sodium_base642bin(at, (size_t)(end - begin), begin, (size_t)(end - begin), "\n", &read, NULL,
                          sodium_base64_VARIANT_ORIGINAL) != 0)
        abort();
    record.length = read;
    tacit_envelope_clear(&made);
}

static void armour(tacit_buffer *out, tacit_buffer *changed) {
    static const char label[] = "tacit envelope checksum";
    uint8_t sum[32];
    if (changed->length < 8) return;
    crypto_generichash(sum, sizeof sum, changed->bytes, changed->length - 8, (const uint8_t *)label,
                       strlen(label));
    memcpy(changed->bytes + changed->length - 8, sum, 8);
    const size_t size = sodium_base64_encoded_len(changed->length, sodium_base64_VARIANT_ORIGINAL);
    char *encoded = malloc(size);
    if (encoded == NULL) abort();
    sodium_bin2base64(encoded, size, changed->bytes, changed->length, sodium_base64_VARIANT_ORIGINAL);
    outside_must(tacit_buffer_print(
        out, NULL, "-----BEGIN TACIT ENVELOPE-----\n%s\n-----END TACIT ENVELOPE-----\n", encoded));
    free(encoded);
}

static void take(const tacit_buffer *text, bool forged) {
    tacit_envelope read = TACIT_ENVELOPE_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    const char *pem = tacit_authority_pem(outside_authority());
    tacit_status status = tacit_envelope_read(&read, tacit_buffer_text(text), text->length, &error);
    outside_explained(status, &error);
    if (status != TACIT_OK) return;
    if (tacit_envelope_check_authority(&read, pem, strlen(pem), &error) == TACIT_OK) abort();
    status = tacit_envelope_check_party(&read, &error);
    outside_explained(status, &error);
    if (status == TACIT_OK) status = tacit_envelope_open(&read, receiver, receiver_secret, &error);
    outside_explained(status, &error);
    if (status == TACIT_OK && forged) {
        const tacit_buffer *poll = tacit_envelope_find(&read, 3);
        if (read.address.round != 1 || strcmp(read.address.study, "trial") != 0 || poll == NULL ||
            strcmp(tacit_buffer_text(poll), "poll") != 0)
            abort();
    }
    tacit_envelope_clear(&read);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_buffer text = TACIT_BUFFER_INIT, changed = TACIT_BUFFER_INIT;
    make_honest();
    if (length == 0) return 0;
    if (bytes[0] == 'm') {
        outside_must(tacit_buffer_append(&changed, record.bytes, record.length, NULL));
        outside_change(&changed, bytes + 1, length - 1);
        armour(&text, &changed);
    } else if (bytes[0] == 'c') {
        outside_must(tacit_buffer_append(&text, honest.bytes, honest.length, NULL));
        outside_change(&text, bytes + 1, length - 1);
    } else {
        outside_must(tacit_buffer_append(&text, bytes + 1, length - 1, NULL));
    }
    take(&text, bytes[0] != 'r');
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&changed);
    return 0;
}
