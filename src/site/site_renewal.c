/*
 * Renewing a party's certificate. Key and certificate are two files, and a killed process must never leave a
 * pair that does not fit. So the next pair is made beside the present one: next.key and next.csr first, then
 * the coordinator's next.crt, which makes the pair whole; only then they are moved, the key first. Whoever
 * opens the folder and finds next.crt ends what was begun: with next.key it moves both, without it the key
 * has been moved and the certificate is left.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "net/certificate.h"
#include "net/identity.h"
#include "session/wire/wire.h"
#include "site/site_parts.h"
#include "tacit.pb-c.h"

enum { REQUEST_MS = 30000 };

static tacit_status inspect(const tacit_site *site, tacit_certificate_info *out, tacit_error *error) {
    tacit_buffer pem = TACIT_BUFFER_LIMITED(TACIT_CERTIFICATE_BYTES_MAX);
    tacit_status status = site_read_file(site, SITE_CERTIFICATE_FILE, &pem, error);
    if (status == TACIT_OK) status = tacit_certificate_inspect(out, pem.bytes, pem.length, error);
    tacit_buffer_clear(&pem);
    return status;
}

tacit_status site_renewal_time(const tacit_site *site, int64_t *out, tacit_error *error) {
    tacit_certificate_info info;
    TACIT_TRY(inspect(site, &info, error));
    *out = tacit_certificate_renewal(&info);
    return TACIT_OK;
}

/* ---- the party's number ---- */

tacit_status site_number(const tacit_site *site, size_t *out, tacit_error *error) {
    char digits[17] = "";
    tacit_certificate_info info;
    tacit_buffer kept = TACIT_BUFFER_LIMITED(16);
    tacit_status status = TACIT_OK;
    if (site_file_exists(site, SITE_NUMBER_FILE)) {
        TACIT_CHECK(site_read_file(site, SITE_NUMBER_FILE, &kept, error));
        snprintf(digits, sizeof digits, "%s", tacit_buffer_text(&kept));
    } else {
        TACIT_CHECK(inspect(site, &info, error));
        snprintf(digits, sizeof digits, "%.16s", info.fingerprint);
    }
    *out = (size_t)strtoull(digits, NULL, 16);
cleanup:
    tacit_buffer_clear(&kept);
    return status;
}

static tacit_status keep_number(const tacit_site *site, tacit_error *error) {
    tacit_certificate_info info;
    char path[PATH_MAX];
    if (site_file_exists(site, SITE_NUMBER_FILE)) return TACIT_OK;
    TACIT_TRY(inspect(site, &info, error));
    TACIT_TRY(site_path(site, SITE_NUMBER_FILE, path, error));
    return tacit_file_write(path, info.fingerprint, 16, 0600, error);
}

/* ---- moving ---- */

/* Another process that opened the folder may have been faster. */
static tacit_status move(const tacit_site *site, const char *from, const char *to, tacit_error *error) {
    char old[PATH_MAX], new[PATH_MAX];
    TACIT_TRY(site_path(site, from, old, error));
    TACIT_TRY(site_path(site, to, new, error));
    if (rename(old, new) != 0 && errno != ENOENT) return tacit_fail_errno(error, "renaming", old);
    return tacit_folder_sync_of(new, error);
}

tacit_status site_finish_renewal(const tacit_site *site, tacit_error *error) {
    char path[PATH_MAX];
    if (!site_file_exists(site, SITE_NEXT_CERTIFICATE_FILE)) return TACIT_OK;
    TACIT_TRY(move(site, SITE_NEXT_KEY_FILE, SITE_KEY_FILE, error));
    TACIT_TRY(move(site, SITE_NEXT_CERTIFICATE_FILE, SITE_CERTIFICATE_FILE, error));
    TACIT_TRY(site_path(site, SITE_NEXT_REQUEST_FILE, path, error));
    unlink(path);
    return TACIT_OK;
}

/* ---- asking ---- */

/* The request of an attempt that failed is sent again: the coordinator may have answered it. */
static tacit_status next_request(const tacit_site *site, tacit_buffer *out, tacit_error *error) {
    char key[PATH_MAX], path[PATH_MAX];
    TACIT_TRY(site_path(site, SITE_NEXT_KEY_FILE, key, error));
    TACIT_TRY(site_path(site, SITE_NEXT_REQUEST_FILE, path, error));
    bool whole = site_file_exists(site, SITE_NEXT_KEY_FILE) && site_file_exists(site, SITE_NEXT_REQUEST_FILE);
    if (whole) return tacit_file_read(path, out, error);
    unlink(key);
    TACIT_TRY(tacit_key_create(key, error));
    TACIT_TRY(tacit_key_request(out, key, "party", error));
    return tacit_file_write(path, out->bytes, out->length, 0600, error);
}

static tacit_status ask(tacit_carrier *carrier, const tacit_buffer *signing, tacit_buffer *certificate,
                        tacit_error *error) {
    Tacit__Wire__RenewRequest request = TACIT__WIRE__RENEW_REQUEST__INIT;
    Tacit__Wire__RenewReply *reply = NULL;
    tacit_status status;
    request.signing_request = (char *)signing->bytes;
    TACIT_CHECK(site_ask(carrier, TACIT_ENDPOINT_RENEW, &request, 1 << 20,
                         &tacit__wire__renew_reply__descriptor, (void **)&reply, error));
    TACIT_CHECK(tacit_buffer_append(certificate, reply->certificate, strlen(reply->certificate), error));
cleanup:
    tacit_wire_free(reply);
    return status;
}

/* For the new key, and the same party: a coordinator that mixes up two would have us answer in another's
 * place. */
static tacit_status check(const tacit_site *site, const tacit_buffer *certificate, int64_t *ends,
                          tacit_error *error) {
    char key[PATH_MAX];
    tacit_certificate_info before, after;
    TACIT_TRY(inspect(site, &before, error));
    TACIT_TRY(tacit_certificate_inspect(&after, certificate->bytes, certificate->length, error));
    if (strcmp(before.name, after.name) != 0)
        return tacit_fail(error, TACIT_PROTOCOL, "the coordinator's certificate is for %s, and we are %s",
                          after.name, before.name);
    *ends = after.valid_until;
    TACIT_TRY(site_path(site, SITE_NEXT_KEY_FILE, key, error));
    return tacit_certificate_check_key(certificate->bytes, certificate->length, key, error);
}

tacit_status site_renew(const tacit_site *site, tacit_carrier *carrier, int64_t *ends, tacit_error *error) {
    tacit_buffer signing = TACIT_BUFFER_LIMITED(TACIT_REQUEST_BYTES_MAX), certificate = TACIT_BUFFER_INIT;
    char path[PATH_MAX];
    tacit_status status;
    TACIT_CHECK(next_request(site, &signing, error));
    TACIT_CHECK(ask(carrier, &signing, &certificate, error));
    TACIT_CHECK(check(site, &certificate, ends, error));
    TACIT_CHECK(keep_number(site, error));
    TACIT_CHECK(site_path(site, SITE_NEXT_CERTIFICATE_FILE, path, error));
    TACIT_CHECK(tacit_file_write(path, certificate.bytes, certificate.length, 0600, error));
    TACIT_CHECK(site_finish_renewal(site, error));
cleanup:
    tacit_buffer_clear(&signing);
    tacit_buffer_clear(&certificate);
    return status;
}

/* ---- beginning again ---- */

bool site_is_refused(const tacit_site *site) {
    tacit_carrier *carrier = NULL;
    tacit_carried carried = { .reply = TACIT_BUFFER_LIMITED(1 << 16) };
    bool refused = false;
    /* Whoever is let in is not understood, for a request without a word in it. */
    if (site_carrier(site, true, NULL, &carrier, NULL) == TACIT_OK)
        refused =
            tacit_carrier_send(carrier, TACIT_ENDPOINT_RENEW, NULL, REQUEST_MS, &carried, NULL) != TACIT_OK &&
            tacit_carrier_last_failure(carrier) == TACIT_FAILURE_REFUSED;
    tacit_carrier_free(carrier);
    tacit_buffer_clear(&carried.reply);
    return refused;
}

/* The certificate goes last: until then the next call does the same. */
tacit_status site_forget_identity(const tacit_site *site, tacit_error *error) {
    static const char *const names[] = { SITE_KEY_FILE,        SITE_REQUEST_FILE,   SITE_SUM_KEY_FILE,
                                         SITE_NUMBER_FILE,     SITE_NEXT_KEY_FILE,  SITE_NEXT_REQUEST_FILE,
                                         SITE_REVOKED_FILE,    TACIT_MAIL_KEY_NAME, SITE_ARM_KEY_FILE,
                                         SITE_ARM_GIVEN_FILE,  SITE_ARM_FILE,       SITE_RECEIPT_ASKED_FILE,
                                         SITE_CERTIFICATE_FILE };
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        TACIT_TRY(site_path(site, names[i], path, error));
        if (unlink(path) != 0 && errno != ENOENT) return tacit_fail_errno(error, "removing", path);
    }
    return TACIT_OK;
}
