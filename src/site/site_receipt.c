/*
 * Receipts and contact details, both by an act of the owner.
 *
 * A receipt (study/people/receipt.h): a random number is blinded and sent with our certificate, so that the
 * coordinator knows who asks, once; what comes back is checked against the key that was consented to, and
 * unblinded. The number and the blind are on the disk before they are sent: after a crash the same is asked
 * again.
 *
 * Contact details are sealed with the researchers' key, so that only they can read them; that something was
 * sent is an entry of the ledger's log, before it leaves.
 */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "session/wire/wire.h"
#include "site/site_parts.h"
#include "study/home.h"
#include "study/people/receipt.h"
#include "tacit.pb-c.h"

enum { REPLY_MOST = 65536, DETAILS_MOST = 4096 };

typedef struct asked {
    uint8_t nonce[TACIT_RECEIPT_NONCE], blind[32];
} asked;

/* What a receipt is asked with: made once. */
static tacit_status load_asked(const tacit_site *site, asked *out, tacit_error *error) {
    char path[PATH_MAX];
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(sizeof *out);
    tacit_status status;
    TACIT_CHECK(site_path(site, SITE_RECEIPT_ASKED_FILE, path, error));
    if (!site_file_exists(site, SITE_RECEIPT_ASKED_FILE)) {
        randombytes_buf(out->nonce, sizeof out->nonce);
        crypto_core_ristretto255_scalar_random(out->blind);
        TACIT_CHECK(tacit_file_write(path, out, sizeof *out, 0600, error));
    }
    TACIT_CHECK(tacit_file_read(path, &bytes, error));
    if (bytes.length != sizeof *out)
        TACIT_CHECK(
            tacit_fail(error, TACIT_CORRUPT, "%s is damaged: ask the people who run the study", path));
    memcpy(out, bytes.bytes, sizeof *out);
cleanup:
    if (bytes.bytes != NULL) sodium_memzero(bytes.bytes, bytes.capacity);
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status ask_receipt(const tacit_site *site, const asked *with, tacit_receipt *receipt,
                                tacit_error *error) {
    Tacit__Wire__ReceiptRequest request = TACIT__WIRE__RECEIPT_REQUEST__INIT;
    Tacit__Wire__ReceiptReply *reply = NULL;
    tacit_carrier *carrier = NULL;
    tacit_voprf_element key, blinded, evaluated;
    uint8_t input[TACIT_RECEIPT_INPUT], blind[32];
    const size_t length = tacit_receipt_input(receipt, input);
    tacit_status status;
    TACIT_CHECK(tacit_voprf_blind(blind, &blinded, input, length, with->blind, error));
    request.blinded = (ProtobufCBinaryData){ sizeof blinded.bytes, blinded.bytes };
    TACIT_CHECK(site_carrier(site, true, NULL, &carrier, error));
    TACIT_CHECK(site_ask(carrier, TACIT_ENDPOINT_RECEIPT, &request, REPLY_MOST,
                         &tacit__wire__receipt_reply__descriptor, (void **)&reply, error));
    if (reply->evaluated.len != sizeof evaluated.bytes || reply->proof.len != TACIT_VOPRF_PROOF_BYTES)
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "the receipt that came is not whole"));
    memcpy(evaluated.bytes, reply->evaluated.data, sizeof evaluated.bytes);
    memcpy(key.bytes, site->study->receipt_key, sizeof key.bytes);
    /* A key of its own for each of us would tell us apart when we redeem. */
    TACIT_CHECK(tacit_fail_in(error,
                              tacit_voprf_check(&key, &blinded, &evaluated, 1, reply->proof.data, error),
                              "the receipt of study '%s' is refused", site->study->name));
    TACIT_CHECK(tacit_voprf_finish(receipt->value, input, length, blind, &evaluated, error));
cleanup:
    sodium_memzero(blind, sizeof blind);
    tacit_carrier_free(carrier);
    tacit_wire_free(reply);
    return status;
}

static tacit_status get_receipt(const tacit_site *site, char text[TACIT_SITE_RECEIPT_TEXT], const char *path,
                                tacit_error *error) {
    tacit_receipt receipt = { .study = "" };
    asked with;
    tacit_buffer line = TACIT_BUFFER_INIT;
    tacit_status status;
    snprintf(receipt.study, sizeof receipt.study, "%s", site->study->name);
    TACIT_CHECK(load_asked(site, &with, error));
    memcpy(receipt.nonce, with.nonce, sizeof receipt.nonce);
    TACIT_CHECK(ask_receipt(site, &with, &receipt, error));
    tacit_receipt_print(&receipt, text);
    TACIT_CHECK(tacit_buffer_print(&line, error, "%s\n", text));
    TACIT_CHECK(tacit_file_write(path, line.bytes, line.length, 0600, error));
cleanup:
    sodium_memzero(&with, sizeof with);
    tacit_buffer_clear(&line);
    return status;
}

tacit_status tacit_site_receipt(const char *home, const char *study, const tacit_site_callbacks *callbacks,
                                char text[TACIT_SITE_RECEIPT_TEXT], char path[4096], tacit_error *error) {
    tacit_site *site = NULL;
    tacit_buffer kept = TACIT_BUFFER_LIMITED(TACIT_SITE_RECEIPT_TEXT);
    tacit_receipt receipt;
    tacit_status status;
    TACIT_CHECK(site_open_folder(&site, home, study, error));
    if (callbacks != NULL) site->callbacks = *callbacks;
    if (!site->study->has_receipts)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "study '%s' gives no receipts: its definition has no compensation",
                               site->study->name));
    TACIT_CHECK(site_path(site, SITE_RECEIPT_FILE, path, error));
    if (!site_file_exists(site, SITE_RECEIPT_FILE)) {
        TACIT_CHECK(get_receipt(site, text, path, error));
    } else {
        TACIT_CHECK(tacit_file_read(path, &kept, error));
        TACIT_CHECK(
            tacit_fail_in(error, tacit_receipt_parse(&receipt, tacit_buffer_text(&kept), error), "%s", path));
        tacit_receipt_print(&receipt, text);
    }
cleanup:
    tacit_buffer_clear(&kept);
    tacit_site_free(site);
    return status;
}

/* ---- contact ---- */

/* In the log first: nothing leaves that it does not record. */
static tacit_status log_contact(const tacit_site *site, const tacit_buffer *sealed, tacit_error *error) {
    tacit_ledger *ledger = NULL;
    tacit_consent consent = TACIT_CONSENT_NONE;
    uint8_t hash[TACIT_HASH_BYTES];
    char path[PATH_MAX];
    tacit_status status;
    crypto_generichash(hash, sizeof hash, sealed->bytes, sealed->length, NULL, 0);
    TACIT_CHECK(tacit_path_join(path, sizeof path, site->home, TACIT_LEDGER_NAME, error));
    TACIT_CHECK(tacit_ledger_open(&ledger, path, site->source, TACIT_LEDGER_EXISTING, error));
    TACIT_CHECK(tacit_ledger_consent_state(&consent, ledger, site->id, error));
    if (consent != TACIT_CONSENT_GIVEN)
        TACIT_CHECK(tacit_fail(
            error, TACIT_REFUSED,
            "you have withdrawn from study '%s', and nothing leaves for it: tacit consent %s to take part "
            "again",
            site->study->name, site->study->name));
    TACIT_CHECK(tacit_ledger_note_contact(ledger, site->id, hash, error));
cleanup:
    tacit_ledger_free(ledger);
    return status;
}

static tacit_status send_contact(const tacit_site *site, const tacit_buffer *sealed, tacit_error *error) {
    Tacit__Wire__ContactRequest request = TACIT__WIRE__CONTACT_REQUEST__INIT;
    Tacit__Wire__ContactReply *reply = NULL;
    tacit_carrier *carrier = NULL;
    tacit_status status;
    request.sealed = (ProtobufCBinaryData){ sealed->length, sealed->bytes };
    TACIT_CHECK(site_carrier(site, true, NULL, &carrier, error));
    TACIT_CHECK(site_ask(carrier, TACIT_ENDPOINT_CONTACT, &request, REPLY_MOST,
                         &tacit__wire__contact_reply__descriptor, (void **)&reply, error));
cleanup:
    tacit_carrier_free(carrier);
    tacit_wire_free(reply);
    return status;
}

tacit_status tacit_site_contact(const char *home, const char *study, const char *details,
                                const tacit_site_callbacks *callbacks, tacit_error *error) {
    tacit_site *site = NULL;
    tacit_buffer sealed = TACIT_BUFFER_INIT;
    uint8_t bytes[DETAILS_MOST + crypto_box_SEALBYTES];
    const size_t length = strlen(details);
    tacit_status status;
    TACIT_CHECK(site_open_folder(&site, home, study, error));
    if (callbacks != NULL) site->callbacks = *callbacks;
    if (!site->study->has_contact)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "study '%s' takes no contact details: its definition has no contact key",
                               site->study->name));
    if (length == 0 || length > DETAILS_MOST)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "contact details have from 1 to %d bytes", DETAILS_MOST));
    if (crypto_box_seal(bytes, (const uint8_t *)details, length, site->study->contact_key) != 0)
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT,
                               "the researchers' key in the definition of study '%s' is none",
                               site->study->name));
    TACIT_CHECK(tacit_buffer_append(&sealed, bytes, length + crypto_box_SEALBYTES, error));
    TACIT_CHECK(log_contact(site, &sealed, error));
    TACIT_CHECK(send_contact(site, &sealed, error));
cleanup:
    tacit_buffer_clear(&sealed);
    tacit_site_free(site);
    return status;
}
