#include "net/certificate.h"

#include <string.h>

#include "net/x509.h"

static void to_hex(char *out, const uint8_t *bytes, size_t length) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < length; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * length] = 0;
}

/* A certificate without a name is legal; one whose name is too long or hides bytes behind a NUL is not. */
static tacit_status read_name(char name[TACIT_NAME_SIZE], gnutls_x509_crt_t certificate, tacit_error *error) {
    size_t size = TACIT_NAME_SIZE;
    int code = gnutls_x509_crt_get_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, &size);
    if (code == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE) {
        name[0] = 0;
        return TACIT_OK;
    }
    if (code < 0 || size >= TACIT_NAME_SIZE || memchr(name, 0, size) != NULL)
        return tacit_fail(error, TACIT_INPUT, "the certificate's common name cannot be used: %s",
                          code < 0 ? gnutls_strerror(code) : "wrong length");
    name[size] = 0;
    return TACIT_OK;
}

/* Which purposes the certificate names; one that names none is fit for none here. */
static void read_uses(tacit_certificate_info *info, gnutls_x509_crt_t certificate) {
    for (unsigned i = 0; i < 16; i++) {
        char purpose[64];
        size_t size = sizeof purpose;
        unsigned critical;
        if (gnutls_x509_crt_get_key_purpose_oid(certificate, i, purpose, &size, &critical) < 0) break;
        if (strcmp(purpose, GNUTLS_KP_TLS_WWW_CLIENT) == 0) info->client_use = true;
        if (strcmp(purpose, GNUTLS_KP_TLS_WWW_SERVER) == 0) info->server_use = true;
    }
    unsigned critical;
    info->authority = gnutls_x509_crt_get_ca_status(certificate, &critical) > 0;
}

static void read_key_ids(tacit_certificate_info *info, gnutls_x509_crt_t certificate) {
    uint8_t id[(TACIT_KEY_ID_SIZE - 1) / 2];
    size_t size = sizeof id;
    unsigned critical;
    if (gnutls_x509_crt_get_subject_key_id(certificate, id, &size, &critical) >= 0)
        to_hex(info->key_id, id, size);
    size = sizeof id;
    if (gnutls_x509_crt_get_authority_key_id(certificate, id, &size, &critical) >= 0)
        to_hex(info->issuer_id, id, size);
}

static tacit_status inspect(tacit_certificate_info *info, gnutls_x509_crt_t certificate, tacit_error *error) {
    TACIT_TRY(read_name(info->name, certificate, error));
    uint8_t digest[32], serial[(TACIT_SERIAL_SIZE - 1) / 2];
    size_t size = sizeof digest;
    int code = gnutls_x509_crt_get_fingerprint(certificate, GNUTLS_DIG_SHA256, digest, &size);
    if (code < 0) return tacit_x509_fail(error, "computing a fingerprint", code);
    to_hex(info->fingerprint, digest, size);
    size = sizeof serial;
    if (gnutls_x509_crt_get_serial(certificate, serial, &size) < 0)
        return tacit_fail(error, TACIT_INPUT, "the certificate's serial number cannot be used");
    to_hex(info->serial, serial, size);
    info->valid_from = gnutls_x509_crt_get_activation_time(certificate);
    info->valid_until = gnutls_x509_crt_get_expiration_time(certificate);
    if (info->valid_from == -1 || info->valid_until == -1)
        return tacit_fail(error, TACIT_INPUT, "the certificate does not say when it is valid");
    read_uses(info, certificate);
    read_key_ids(info, certificate);
    return TACIT_OK;
}

tacit_status tacit_certificate_inspect(tacit_certificate_info *out, const void *bytes, size_t length,
                                       tacit_error *error) {
    gnutls_x509_crt_t certificate;
    TACIT_TRY(tacit_x509_certificate(&certificate, bytes, length, error));
    tacit_certificate_info info = { .name = "" };
    tacit_status status = inspect(&info, certificate, error);
    gnutls_x509_crt_deinit(certificate);
    if (status == TACIT_OK) *out = info;
    return status;
}

bool tacit_certificate_is_from(const void *bytes, size_t length, const void *authority,
                               size_t authority_length) {
    gnutls_x509_crt_t certificate = NULL, issuer = NULL;
    unsigned problems = 0;
    bool from =
        tacit_x509_certificate(&certificate, bytes, length, NULL) == TACIT_OK &&
        tacit_x509_certificate(&issuer, authority, authority_length, NULL) == TACIT_OK &&
        gnutls_x509_crt_verify(certificate, &issuer, 1, GNUTLS_VERIFY_DISABLE_TIME_CHECKS, &problems) >= 0 &&
        problems == 0;
    if (certificate != NULL) gnutls_x509_crt_deinit(certificate);
    if (issuer != NULL) gnutls_x509_crt_deinit(issuer);
    return from;
}

static tacit_status convert(tacit_buffer *out, const void *bytes, size_t length, gnutls_x509_crt_fmt_t format,
                            tacit_error *error) {
    gnutls_x509_crt_t certificate;
    TACIT_TRY(tacit_x509_certificate(&certificate, bytes, length, error));
    gnutls_datum_t converted = { NULL, 0 };
    int code = gnutls_x509_crt_export2(certificate, format, &converted);
    gnutls_x509_crt_deinit(certificate);
    if (code < 0) return tacit_x509_fail(error, "converting a certificate", code);
    return tacit_x509_take(out, &converted, false, error);
}

tacit_status tacit_certificate_to_der(tacit_buffer *out, const void *bytes, size_t length,
                                      tacit_error *error) {
    return convert(out, bytes, length, GNUTLS_X509_FMT_DER, error);
}

tacit_status tacit_certificate_to_pem(tacit_buffer *out, const void *bytes, size_t length,
                                      tacit_error *error) {
    return convert(out, bytes, length, GNUTLS_X509_FMT_PEM, error);
}

tacit_status tacit_certificate_check_key(const void *bytes, size_t length, const char *key_path,
                                         tacit_error *error) {
    gnutls_x509_crt_t certificate = NULL;
    gnutls_x509_privkey_t key = NULL;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_x509_certificate(&certificate, bytes, length, error));
    TACIT_CHECK(tacit_x509_private_key(&key, key_path, error));
    uint8_t ours[32], theirs[32];
    size_t our_size = sizeof ours, their_size = sizeof theirs;
    int code = gnutls_x509_privkey_get_key_id(key, GNUTLS_KEYID_USE_SHA256, ours, &our_size);
    if (code >= 0)
        code = gnutls_x509_crt_get_key_id(certificate, GNUTLS_KEYID_USE_SHA256, theirs, &their_size);
    if (code < 0)
        status = tacit_x509_fail(error, "comparing a key with a certificate", code);
    else if (our_size != their_size || memcmp(ours, theirs, our_size) != 0)
        status =
            tacit_fail(error, TACIT_INPUT, "the certificate was not made for the private key %s", key_path);
cleanup:
    if (key != NULL) gnutls_x509_privkey_deinit(key);
    if (certificate != NULL) gnutls_x509_crt_deinit(certificate);
    return status;
}
