#include "study/people/receipt.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "tacit-receipt-1."
#define TAG "tacit receipt 1"

enum { BODY = TACIT_RECEIPT_NONCE + TACIT_VOPRF_BYTES };

size_t tacit_receipt_input(const tacit_receipt *receipt, uint8_t out[TACIT_RECEIPT_INPUT]) {
    size_t name = strlen(receipt->study) + 1; /* with its NUL: no two studies give the same bytes */
    memcpy(out, TAG, sizeof TAG);
    memcpy(out + sizeof TAG, receipt->study, name);
    memcpy(out + sizeof TAG + name, receipt->nonce, sizeof receipt->nonce);
    return sizeof TAG + name + sizeof receipt->nonce;
}

void tacit_receipt_id(const tacit_receipt *receipt, uint8_t out[TACIT_HASH_BYTES]) {
    uint8_t input[TACIT_RECEIPT_INPUT];
    size_t length = tacit_receipt_input(receipt, input);
    crypto_generichash(out, TACIT_HASH_BYTES, input, length, NULL, 0);
}

char *tacit_receipt_print(const tacit_receipt *receipt, char out[TACIT_RECEIPT_TEXT]) {
    uint8_t body[BODY];
    char text[sodium_base64_ENCODED_LEN(BODY, sodium_base64_VARIANT_URLSAFE_NO_PADDING)];
    memcpy(body, receipt->nonce, TACIT_RECEIPT_NONCE);
    memcpy(body + TACIT_RECEIPT_NONCE, receipt->value, TACIT_VOPRF_BYTES);
    sodium_bin2base64(text, sizeof text, body, sizeof body, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    snprintf(out, TACIT_RECEIPT_TEXT, PREFIX "%s.%s", receipt->study, text);
    return out;
}

tacit_status tacit_receipt_parse(tacit_receipt *out, const char *text, tacit_error *error) {
    static const char wrong[] = "this is no receipt: one begins with " PREFIX " and is one line";
    uint8_t body[BODY];
    size_t length = 0;
    text += strspn(text, " \t\r\n");
    size_t whole = strcspn(text, " \t\r\n");
    if (strncmp(text, PREFIX, strlen(PREFIX)) != 0 || whole >= TACIT_RECEIPT_TEXT)
        return tacit_fail(error, TACIT_INPUT, "%s", wrong);
    const char *name = text + strlen(PREFIX), *end = memchr(name, '.', whole - strlen(PREFIX));
    if (end == NULL || end == name || (size_t)(end - name) >= sizeof out->study)
        return tacit_fail(error, TACIT_INPUT, "%s", wrong);
    const char *coded = end + 1;
    if (sodium_base642bin(body, sizeof body, coded, (size_t)(text + whole - coded), NULL, &length, NULL,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
        length != sizeof body)
        return tacit_fail(error, TACIT_INPUT, "the receipt is not whole: copy all of its line");
    memset(out->study, 0, sizeof out->study);
    memcpy(out->study, name, (size_t)(end - name));
    memcpy(out->nonce, body, TACIT_RECEIPT_NONCE);
    memcpy(out->value, body + TACIT_RECEIPT_NONCE, TACIT_VOPRF_BYTES);
    return TACIT_OK;
}
