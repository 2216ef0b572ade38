#include "net/identity.h"

#include <arpa/inet.h>
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "net/clock.h"
#include "net/rotation.h"
#include "net/x509.h"

enum { AUTHORITY_DAYS = 3652, SERIAL_BYTES = 16, DAY_SECONDS = 86400, CLOCK_SKEW_SECONDS = 3600 };

struct tacit_authority {
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t certificate;
    tacit_buffer pem;
    tacit_certificate_info info;
};

tacit_validity tacit_validity_seconds(int64_t now, int64_t seconds) {
    return (tacit_validity){ now - CLOCK_SKEW_SECONDS, now + seconds };
}

tacit_validity tacit_validity_days(int64_t now, unsigned days) {
    return tacit_validity_seconds(now, (int64_t)days * DAY_SECONDS);
}

static tacit_status check_name(const char *name, tacit_error *error) {
    size_t length = strlen(name);
    bool fits = length > 0 && length < TACIT_NAME_SIZE;
    for (size_t i = 0; fits && i < length; i++) fits = name[i] >= 0x20 && name[i] < 0x7f;
    if (!fits)
        return tacit_fail(error, TACIT_USAGE,
                          "a certificate's name must have 1 to %d printable ASCII characters",
                          TACIT_NAME_SIZE - 1);
    return TACIT_OK;
}

static bool exists(const char *path) { return access(path, F_OK) == 0; }

/* ---- making certificates ---- */

/* What all our certificates have: version 3, a random positive serial, name, times, key identifier. */
static tacit_status begin_certificate(gnutls_x509_crt_t *out, const char *name, gnutls_pubkey_t key,
                                      tacit_validity validity, tacit_error *error) {
    TACIT_TRY(check_name(name, error));
    if (validity.until <= validity.from)
        return tacit_fail(error, TACIT_USAGE, "a certificate must end after it begins");
    gnutls_x509_crt_t certificate;
    int code = gnutls_x509_crt_init(&certificate);
    if (code < 0) return tacit_x509_fail(error, "making a certificate", code);
    uint8_t serial[SERIAL_BYTES], key_id[20];
    size_t key_id_size = sizeof key_id;
    code = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof serial);
    serial[0] = (uint8_t)((serial[0] & 0x3f) | 0x40); /* positive, and always of the same length */
    if (code >= 0) code = gnutls_x509_crt_set_version(certificate, 3);
    if (code >= 0) code = gnutls_x509_crt_set_serial(certificate, serial, sizeof serial);
    if (code >= 0)
        code = gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                             (unsigned)strlen(name));
    if (code >= 0) code = gnutls_x509_crt_set_pubkey(certificate, key);
    if (code >= 0) code = gnutls_x509_crt_set_activation_time(certificate, (time_t)validity.from);
    if (code >= 0) code = gnutls_x509_crt_set_expiration_time(certificate, (time_t)validity.until);
    if (code >= 0) code = gnutls_pubkey_get_key_id(key, GNUTLS_KEYID_USE_SHA1, key_id, &key_id_size);
    if (code >= 0) code = gnutls_x509_crt_set_subject_key_id(certificate, key_id, key_id_size);
    if (code < 0) {
        gnutls_x509_crt_deinit(certificate);
        return tacit_x509_fail(error, "making a certificate", code);
    }
    *out = certificate;
    return TACIT_OK;
}

/* Say what an end certificate is for, sign it, append it to `pem`. */
static tacit_status finish_certificate(tacit_buffer *pem, gnutls_x509_crt_t certificate,
                                       const tacit_authority *authority, const char *const purposes[2],
                                       tacit_error *error) {
    uint8_t key_id[64];
    size_t key_id_size = sizeof key_id;
    int code = gnutls_x509_crt_set_basic_constraints(certificate, 0, -1);
    if (code >= 0) code = gnutls_x509_crt_set_key_usage(certificate, GNUTLS_KEY_DIGITAL_SIGNATURE);
    for (size_t i = 0; i < 2 && code >= 0 && purposes[i] != NULL; i++)
        code = gnutls_x509_crt_set_key_purpose_oid(certificate, purposes[i], 0);
    if (code >= 0)
        code = gnutls_x509_crt_get_subject_key_id(authority->certificate, key_id, &key_id_size, NULL);
    if (code >= 0) code = gnutls_x509_crt_set_authority_key_id(certificate, key_id, key_id_size);
    if (code >= 0)
        code =
            gnutls_x509_crt_sign2(certificate, authority->certificate, authority->key, GNUTLS_DIG_SHA256, 0);
    gnutls_datum_t text = { NULL, 0 };
    if (code >= 0) code = gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &text);
    if (code < 0) return tacit_x509_fail(error, "signing a certificate", code);
    return tacit_x509_take(pem, &text, false, error);
}

static tacit_status public_half(gnutls_pubkey_t *out, gnutls_x509_privkey_t key, tacit_error *error) {
    gnutls_privkey_t abstract = NULL;
    gnutls_pubkey_t public_key = NULL;
    int code = gnutls_privkey_init(&abstract);
    if (code >= 0) code = gnutls_privkey_import_x509(abstract, key, 0);
    if (code >= 0) code = gnutls_pubkey_init(&public_key);
    if (code >= 0) code = gnutls_pubkey_import_privkey(public_key, abstract, 0, 0);
    if (abstract != NULL) gnutls_privkey_deinit(abstract);
    if (code < 0) {
        if (public_key != NULL) gnutls_pubkey_deinit(public_key);
        return tacit_x509_fail(error, "taking the public half of a key", code);
    }
    *out = public_key;
    return TACIT_OK;
}

/* ---- the authority ---- */

static tacit_status self_sign(tacit_buffer *pem, gnutls_x509_privkey_t key, const char *name,
                              tacit_error *error) {
    gnutls_pubkey_t public_key = NULL;
    gnutls_x509_crt_t certificate = NULL;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(public_half(&public_key, key, error));
    TACIT_CHECK(begin_certificate(&certificate, name, public_key,
                                  tacit_validity_days(tacit_clock_wall_seconds(), AUTHORITY_DAYS), error));
    gnutls_datum_t text = { NULL, 0 };
    /* Path length 0: whoever steals a party's certificate cannot issue further ones. */
    int code = gnutls_x509_crt_set_basic_constraints(certificate, 1, 0);
    if (code >= 0) code = gnutls_x509_crt_set_key_usage(certificate, GNUTLS_KEY_KEY_CERT_SIGN);
    if (code >= 0) code = gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0);
    if (code >= 0) code = gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &text);
    status = code < 0 ? tacit_x509_fail(error, "signing the authority's certificate", code)
                      : tacit_x509_take(pem, &text, false, error);
cleanup:
    if (certificate != NULL) gnutls_x509_crt_deinit(certificate);
    if (public_key != NULL) gnutls_pubkey_deinit(public_key);
    return status;
}

tacit_status tacit_authority_create(tacit_authority **out, const char *folder, const char *name,
                                    tacit_error *error) {
    char key_path[PATH_MAX], certificate_path[PATH_MAX];
    TACIT_TRY(check_name(name, error));
    TACIT_TRY(tacit_folder_make(folder, error));
    TACIT_TRY(tacit_path_join(key_path, sizeof key_path, folder, TACIT_AUTHORITY_KEY_FILE, error));
    TACIT_TRY(tacit_path_join(certificate_path, sizeof certificate_path, folder,
                              TACIT_AUTHORITY_CERTIFICATE_FILE, error));
    /* The certificate is written last: a key without one was never used and may be replaced. */
    if (exists(certificate_path))
        return tacit_fail(error, TACIT_USAGE, "%s already holds an authority", folder);
    tacit_buffer key_pem = TACIT_BUFFER_INIT, pem = TACIT_BUFFER_INIT;
    gnutls_x509_privkey_t key = NULL;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_x509_new_key(&key, &key_pem, error));
    TACIT_CHECK(self_sign(&pem, key, name, error));
    TACIT_CHECK(tacit_file_write(key_path, key_pem.bytes, key_pem.length, 0600, error));
    TACIT_CHECK(tacit_file_write(certificate_path, pem.bytes, pem.length, 0644, error));
    TACIT_CHECK(tacit_authority_load(out, folder, error));
cleanup:
    if (key != NULL) gnutls_x509_privkey_deinit(key);
    tacit_x509_wipe(&key_pem);
    tacit_buffer_clear(&pem);
    return status;
}

tacit_status tacit_authority_read(tacit_authority **out, const char *key_path, const void *certificate,
                                  size_t length, tacit_error *error) {
    tacit_authority *authority = TACIT_NEW(tacit_authority, 1);
    if (authority == NULL) return tacit_fail_memory(error);
    authority->pem.limit = TACIT_CERTIFICATE_BYTES_MAX;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_certificate_to_pem(&authority->pem, certificate, length, error));
    const tacit_buffer *pem = &authority->pem;
    TACIT_CHECK(tacit_x509_certificate(&authority->certificate, pem->bytes, pem->length, error));
    TACIT_CHECK(tacit_certificate_inspect(&authority->info, pem->bytes, pem->length, error));
    TACIT_CHECK(tacit_x509_private_key(&authority->key, key_path, error));
    TACIT_CHECK(tacit_certificate_check_key(pem->bytes, pem->length, key_path, error));
    if (!authority->info.authority) {
        status = tacit_fail(error, TACIT_INPUT, "the certificate of %s is not an authority's", key_path);
        goto cleanup;
    }
    *out = authority;
    authority = NULL;
cleanup:
    tacit_authority_free(authority);
    return status;
}

tacit_status tacit_authority_load(tacit_authority **out, const char *folder, tacit_error *error) {
    char key_path[PATH_MAX], certificate_path[PATH_MAX];
    TACIT_TRY(tacit_authority_settle(folder, error));
    TACIT_TRY(tacit_path_join(key_path, sizeof key_path, folder, TACIT_AUTHORITY_KEY_FILE, error));
    TACIT_TRY(tacit_path_join(certificate_path, sizeof certificate_path, folder,
                              TACIT_AUTHORITY_CERTIFICATE_FILE, error));
    if (!exists(certificate_path)) return tacit_fail(error, TACIT_NOT_FOUND, "%s holds no authority", folder);
    tacit_buffer pem = TACIT_BUFFER_LIMITED(TACIT_CERTIFICATE_BYTES_MAX);
    tacit_status status = tacit_file_read(certificate_path, &pem, error);
    if (status == TACIT_OK) status = tacit_authority_read(out, key_path, pem.bytes, pem.length, error);
    tacit_buffer_clear(&pem);
    return status;
}

tacit_authority *tacit_authority_free(tacit_authority *authority) {
    if (authority == NULL) return NULL;
    if (authority->key != NULL) gnutls_x509_privkey_deinit(authority->key);
    if (authority->certificate != NULL) gnutls_x509_crt_deinit(authority->certificate);
    tacit_buffer_clear(&authority->pem);
    free(authority);
    return NULL;
}

const char *tacit_authority_pem(const tacit_authority *authority) {
    return tacit_buffer_text(&authority->pem);
}

const tacit_certificate_info *tacit_authority_info(const tacit_authority *authority) {
    return &authority->info;
}

/* ---- the server's certificate ---- */

static tacit_status add_host(gnutls_x509_crt_t certificate, const char *name, tacit_error *error) {
    uint8_t address[sizeof(struct in6_addr)];
    unsigned size = 0;
    if (inet_pton(AF_INET, name, address) == 1) size = sizeof(struct in_addr);
    if (size == 0 && inet_pton(AF_INET6, name, address) == 1) size = sizeof(struct in6_addr);
    int code;
    if (size != 0)
        code = gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_IPADDRESS, address, size,
                                                    GNUTLS_FSAN_APPEND);
    else
        code = gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_DNSNAME, name,
                                                    (unsigned)strlen(name), GNUTLS_FSAN_APPEND);
    return code < 0 ? tacit_x509_fail(error, "naming a server", code) : TACIT_OK;
}

static tacit_status check_host(const char *name, tacit_error *error) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.:*";
    size_t length = strlen(name);
    if (length == 0 || length > 253 || strspn(name, allowed) != length)
        return tacit_fail(error, TACIT_USAGE, "\"%.80s\" is neither a host name nor a numeric address", name);
    return TACIT_OK;
}

tacit_status tacit_authority_issue_server(const tacit_authority *authority, const char *folder,
                                          const char *const *names, size_t name_count,
                                          tacit_validity validity, tacit_error *error) {
    char key_path[PATH_MAX], certificate_path[PATH_MAX];
    if (name_count == 0)
        return tacit_fail(error, TACIT_USAGE, "a server certificate needs at least one host name or address");
    for (size_t i = 0; i < name_count; i++) TACIT_TRY(check_host(names[i], error));
    TACIT_TRY(tacit_folder_make(folder, error));
    TACIT_TRY(tacit_path_join(key_path, sizeof key_path, folder, TACIT_SERVER_KEY_FILE, error));
    TACIT_TRY(tacit_path_join(certificate_path, sizeof certificate_path, folder,
                              TACIT_SERVER_CERTIFICATE_FILE, error));
    tacit_buffer key_pem = TACIT_BUFFER_INIT, pem = TACIT_BUFFER_INIT;
    gnutls_x509_privkey_t key = NULL;
    gnutls_pubkey_t public_key = NULL;
    gnutls_x509_crt_t certificate = NULL;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_x509_new_key(&key, &key_pem, error));
    TACIT_CHECK(public_half(&public_key, key, error));
    TACIT_CHECK(begin_certificate(&certificate, "tacit coordinator", public_key, validity, error));
    for (size_t i = 0; i < name_count; i++) TACIT_CHECK(add_host(certificate, names[i], error));
    TACIT_CHECK(finish_certificate(&pem, certificate, authority,
                                   (const char *[2]){ GNUTLS_KP_TLS_WWW_SERVER }, error));
    TACIT_CHECK(tacit_file_write(key_path, key_pem.bytes, key_pem.length, 0600, error));
    TACIT_CHECK(tacit_file_write(certificate_path, pem.bytes, pem.length, 0644, error));
cleanup:
    if (certificate != NULL) gnutls_x509_crt_deinit(certificate);
    if (public_key != NULL) gnutls_pubkey_deinit(public_key);
    if (key != NULL) gnutls_x509_privkey_deinit(key);
    tacit_x509_wipe(&key_pem);
    tacit_buffer_clear(&pem);
    return status;
}

static tacit_status read_private_text(char **out, const char *path, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    TACIT_TRY(tacit_x509_read_private(&text, path, error));
    *out = tacit_copy_text(tacit_buffer_text(&text));
    tacit_x509_wipe(&text);
    return *out == NULL ? tacit_fail_memory(error) : TACIT_OK;
}

static tacit_status read_text(char **out, const char *path, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_CERTIFICATE_BYTES_MAX);
    tacit_status status = tacit_file_read(path, &text, error);
    if (status == TACIT_OK) {
        *out = tacit_copy_text(tacit_buffer_text(&text));
        if (*out == NULL) status = tacit_fail_memory(error);
    }
    tacit_buffer_clear(&text);
    return status;
}

tacit_status tacit_server_identity_read(tacit_server_identity *out, const char *key_file,
                                        const char *certificate_file, const char *authority_file,
                                        tacit_error *error) {
    tacit_server_identity identity = { NULL, NULL, NULL };
    tacit_status status = TACIT_OK;
    TACIT_CHECK(read_private_text(&identity.key, key_file, error));
    TACIT_CHECK(read_text(&identity.certificate, certificate_file, error));
    TACIT_CHECK(read_text(&identity.authority, authority_file, error));
    /* A crash while the pair was being replaced leaves a key and a certificate that do not match. */
    TACIT_CHECK(
        tacit_certificate_check_key(identity.certificate, strlen(identity.certificate), key_file, error));
    *out = identity;
    return TACIT_OK;
cleanup:
    tacit_server_identity_clear(&identity);
    return status;
}

tacit_status tacit_server_identity_load(tacit_server_identity *out, const char *folder, tacit_error *error) {
    char key[PATH_MAX], certificate[PATH_MAX], authority[PATH_MAX];
    TACIT_TRY(tacit_path_join(key, sizeof key, folder, TACIT_SERVER_KEY_FILE, error));
    TACIT_TRY(tacit_path_join(certificate, sizeof certificate, folder, TACIT_SERVER_CERTIFICATE_FILE, error));
    TACIT_TRY(tacit_path_join(authority, sizeof authority, folder, TACIT_AUTHORITY_CERTIFICATE_FILE, error));
    return tacit_server_identity_read(out, key, certificate, authority, error);
}

void tacit_server_identity_clear(tacit_server_identity *identity) {
    if (identity == NULL) return;
    if (identity->key != NULL) gnutls_memset(identity->key, 0, strlen(identity->key));
    free(identity->key);
    free(identity->certificate);
    free(identity->authority);
    *identity = (tacit_server_identity){ NULL, NULL, NULL };
}

/* ---- parties: keys, requests, certificates ---- */

tacit_status tacit_key_create(const char *path, tacit_error *error) {
    if (exists(path))
        return tacit_fail(error, TACIT_USAGE, "%s already exists; a key is never overwritten", path);
    tacit_buffer pem = TACIT_BUFFER_INIT;
    gnutls_x509_privkey_t key = NULL;
    tacit_status status = tacit_x509_new_key(&key, &pem, error);
    if (status == TACIT_OK) status = tacit_file_write(path, pem.bytes, pem.length, 0600, error);
    if (key != NULL) gnutls_x509_privkey_deinit(key);
    tacit_x509_wipe(&pem);
    return status;
}

tacit_status tacit_key_request(tacit_buffer *out, const char *key_path, const char *name,
                               tacit_error *error) {
    TACIT_TRY(check_name(name, error));
    gnutls_x509_privkey_t key = NULL;
    gnutls_privkey_t signer = NULL;
    gnutls_x509_crq_t request = NULL;
    gnutls_datum_t text = { NULL, 0 };
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_x509_private_key(&key, key_path, error));
    int code = gnutls_x509_crq_init(&request);
    if (code >= 0) code = gnutls_privkey_init(&signer);
    if (code >= 0) code = gnutls_privkey_import_x509(signer, key, 0);
    if (code >= 0) code = gnutls_x509_crq_set_version(request, 1);
    if (code >= 0)
        code = gnutls_x509_crq_set_dn_by_oid(request, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                             (unsigned)strlen(name));
    if (code >= 0) code = gnutls_x509_crq_set_key(request, key);
    if (code >= 0) code = gnutls_x509_crq_privkey_sign(request, signer, GNUTLS_DIG_SHA256, 0);
    if (code >= 0) code = gnutls_x509_crq_export2(request, GNUTLS_X509_FMT_PEM, &text);
    status = code < 0 ? tacit_x509_fail(error, "making a certificate request", code)
                      : tacit_x509_take(out, &text, false, error);
cleanup:
    if (signer != NULL) gnutls_privkey_deinit(signer);
    if (request != NULL) gnutls_x509_crq_deinit(request);
    if (key != NULL) gnutls_x509_privkey_deinit(key);
    return status;
}

static bool is_p256(gnutls_pubkey_t key) {
    gnutls_ecc_curve_t curve = GNUTLS_ECC_CURVE_INVALID;
    gnutls_datum_t x = { NULL, 0 }, y = { NULL, 0 };
    if (gnutls_pubkey_get_pk_algorithm(key, NULL) != GNUTLS_PK_ECDSA) return false;
    if (gnutls_pubkey_export_ecc_raw(key, &curve, &x, &y) < 0) return false;
    gnutls_free(x.data);
    gnutls_free(y.data);
    return curve == GNUTLS_ECC_CURVE_SECP256R1;
}

/* The public key of a stranger's request, once its signature has proved that the stranger holds the key.
 * Nothing else is taken from it. */
static tacit_status key_of_request(gnutls_pubkey_t *out, const void *bytes, size_t length,
                                   tacit_error *error) {
    if (length == 0) return tacit_fail(error, TACIT_INPUT, "the certificate request is empty");
    if (length > TACIT_REQUEST_BYTES_MAX)
        return tacit_fail(error, TACIT_LIMIT,
                          "a certificate request of %zu bytes is larger than the allowed %d", length,
                          TACIT_REQUEST_BYTES_MAX);
    gnutls_x509_crq_t request = NULL;
    gnutls_pubkey_t key = NULL;
    tacit_status status = TACIT_OK;
    if (gnutls_x509_crq_init(&request) < 0 || gnutls_pubkey_init(&key) < 0) {
        status = tacit_fail_memory(error);
        goto cleanup;
    }
    gnutls_datum_t datum = { (unsigned char *)(uintptr_t)bytes, (unsigned)length };
    int code = gnutls_x509_crq_import(request, &datum, tacit_x509_format(bytes, length));
    if (code < 0) {
        status = tacit_fail(error, TACIT_INPUT, "not a certificate request: %s", gnutls_strerror(code));
        goto cleanup;
    }
    if (gnutls_pubkey_import_x509_crq(key, request, 0) < 0 || !is_p256(key)) {
        status = tacit_fail(error, TACIT_INPUT, "the certificate request must be for an ECDSA key on P-256");
        goto cleanup;
    }
    if (gnutls_x509_crq_verify(request, 0) < 0) {
        status = tacit_fail(error, TACIT_INPUT, "the certificate request's own signature is wrong");
        goto cleanup;
    }
    *out = key;
    key = NULL;
cleanup:
    if (key != NULL) gnutls_pubkey_deinit(key);
    if (request != NULL) gnutls_x509_crq_deinit(request);
    return status;
}

static tacit_status issue_party(tacit_buffer *certificate, const tacit_authority *authority,
                                const void *request, size_t request_length, const char *name,
                                tacit_validity validity, bool listens, tacit_error *error) {
    const char *const purposes[2] = { GNUTLS_KP_TLS_WWW_CLIENT, listens ? GNUTLS_KP_TLS_WWW_SERVER : NULL };
    char host[TACIT_NAME_SIZE + sizeof TACIT_LISTENER_HOST];
    gnutls_pubkey_t key = NULL;
    gnutls_x509_crt_t issued = NULL;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(key_of_request(&key, request, request_length, error));
    TACIT_CHECK(begin_certificate(&issued, name, key, validity, error));
    snprintf(host, sizeof host, TACIT_LISTENER_HOST, name);
    if (listens) TACIT_CHECK(check_host(host, error));
    if (listens) TACIT_CHECK(add_host(issued, host, error));
    TACIT_CHECK(finish_certificate(certificate, issued, authority, purposes, error));
cleanup:
    if (issued != NULL) gnutls_x509_crt_deinit(issued);
    if (key != NULL) gnutls_pubkey_deinit(key);
    return status;
}

tacit_status tacit_authority_issue_client(tacit_buffer *certificate, const tacit_authority *authority,
                                          const void *request, size_t request_length, const char *name,
                                          tacit_validity validity, tacit_error *error) {
    return issue_party(certificate, authority, request, request_length, name, validity, false, error);
}

tacit_status tacit_authority_issue_listener(tacit_buffer *certificate, const tacit_authority *authority,
                                            const void *request, size_t request_length, const char *name,
                                            tacit_validity validity, tacit_error *error) {
    return issue_party(certificate, authority, request, request_length, name, validity, true, error);
}
/* ---- signed documents ---- */

/* What is signed can be no certificate, which begins with another byte than any purpose, and no document of
 * another purpose. */
static tacit_status signed_text(tacit_buffer *out, const char *purpose, const void *bytes, size_t length,
                                tacit_error *error) {
    TACIT_TRY(tacit_buffer_print(out, error, "%s\n", purpose));
    return tacit_buffer_append(out, bytes, length, error);
}

tacit_status tacit_authority_sign(tacit_buffer *out, const tacit_authority *authority, const char *purpose,
                                  const void *bytes, size_t length, tacit_error *error) {
    gnutls_privkey_t key = NULL;
    gnutls_datum_t signature = { NULL, 0 };
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(signed_text(&text, purpose, bytes, length, error));
    gnutls_datum_t datum = { text.bytes, (unsigned)text.length };
    int code = gnutls_privkey_init(&key);
    if (code >= 0) code = gnutls_privkey_import_x509(key, authority->key, 0);
    if (code >= 0) code = gnutls_privkey_sign_data2(key, GNUTLS_SIGN_ECDSA_SHA256, 0, &datum, &signature);
    status = code < 0 ? tacit_x509_fail(error, "signing a document", code)
                      : tacit_x509_take(out, &signature, false, error);
cleanup:
    if (key != NULL) gnutls_privkey_deinit(key);
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status check_one(const void *authority, size_t authority_length, const gnutls_datum_t *text,
                              const gnutls_datum_t *signature, tacit_error *error) {
    gnutls_x509_crt_t certificate = NULL;
    gnutls_pubkey_t key = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_x509_certificate(&certificate, authority, authority_length, error));
    int code = gnutls_pubkey_init(&key);
    if (code >= 0) code = gnutls_pubkey_import_x509(key, certificate, 0);
    if (code < 0) {
        status = tacit_x509_fail(error, "reading the authority's key", code);
        goto cleanup;
    }
    if (gnutls_pubkey_verify_data2(key, GNUTLS_SIGN_ECDSA_SHA256, 0, text, signature) < 0)
        status = tacit_fail(error, TACIT_REFUSED, "the signature is not the authority's");
cleanup:
    if (certificate != NULL) gnutls_x509_crt_deinit(certificate);
    if (key != NULL) gnutls_pubkey_deinit(key);
    return status;
}

/* The length of the first certificate of several in PEM, with what comes before the next. */
static size_t first_of(const char *bytes, size_t length) {
    static const char begin[] = "-----BEGIN CERTIFICATE-----";
    const char *next = length > 1 ? memmem(bytes + 1, length - 1, begin, sizeof begin - 1) : NULL;
    return next != NULL ? (size_t)(next - bytes) : length;
}

tacit_status tacit_authority_check(const void *authority, size_t authority_length, const char *purpose,
                                   const void *bytes, size_t length, const void *signature,
                                   size_t signature_length, tacit_error *error) {
    const char *at = authority;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    if (signature_length == 0 || signature_length > TACIT_SIGNATURE_BYTES_MAX)
        return tacit_fail(error, TACIT_REFUSED, "there is no signature of a possible length");
    TACIT_CHECK(signed_text(&text, purpose, bytes, length, error));
    gnutls_datum_t datum = { text.bytes, (unsigned)text.length },
                   sign = { (unsigned char *)(uintptr_t)signature, (unsigned)signature_length };
    bool pem = authority_length > 0 && at[0] == '-';
    do {
        size_t part = pem ? first_of(at, authority_length) : authority_length;
        status = check_one(at, part, &datum, &sign, error);
        at += part;
        authority_length -= part;
    } while (status == TACIT_REFUSED && authority_length > 0);
cleanup:
    tacit_buffer_clear(&text);
    return status;
}
