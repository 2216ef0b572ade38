/* Certificates, requests for one, signatures and private keys, PEM or DER, from joining parties, invitations
 * and files. The first byte says what the rest is. */
#include <stdlib.h>
#include <string.h>

#include "net/x509.h"
#include "outside.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* A certificate says the same in both forms. */
static void try_certificate(const uint8_t *bytes, size_t length) {
    tacit_certificate_info info, again;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer der = TACIT_BUFFER_INIT, pem = TACIT_BUFFER_INIT;
    tacit_status status = tacit_certificate_inspect(&info, bytes, length, &error);
    outside_explained(status, &error);
    if (status == TACIT_OK) {
        if (memchr(info.name, 0, sizeof info.name) == NULL || strlen(info.fingerprint) != 64) abort();
        outside_must(tacit_certificate_to_der(&der, bytes, length, NULL));
        outside_must(tacit_certificate_to_pem(&pem, der.bytes, der.length, NULL));
        outside_must(tacit_certificate_inspect(&again, pem.bytes, pem.length, NULL));
        if (strcmp(info.fingerprint, again.fingerprint) != 0 || strcmp(info.name, again.name) != 0) abort();
    }
    tacit_buffer_clear(&der);
    tacit_buffer_clear(&pem);
}

/* Whatever a request says of itself, the certificate has the name that was asked for, and cannot sign
 * others. */
static void try_request(const uint8_t *bytes, size_t length) {
    const tacit_validity validity = { 1, INT32_MAX };
    tacit_certificate_info info;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer issued = TACIT_BUFFER_INIT;
    tacit_status status =
        tacit_authority_issue_client(&issued, outside_authority(), bytes, length, "party", validity, &error);
    outside_explained(status, &error);
    if (status == TACIT_OK) {
        outside_must(tacit_certificate_inspect(&info, issued.bytes, issued.length, NULL));
        if (strcmp(info.name, "party") != 0 || !info.client_use || info.server_use || info.authority) abort();
    } else if (issued.length != 0) {
        abort();
    }
    tacit_buffer_clear(&issued);
}

/* Nobody signed this. */
static void try_signature(const uint8_t *bytes, size_t length) {
    const char *authority = tacit_authority_pem(outside_authority());
    if (tacit_authority_check(authority, strlen(authority), "fuzz", "text", 4, bytes, length, NULL) ==
        TACIT_OK)
        abort();
}

static void try_key(const uint8_t *bytes, size_t length) {
    gnutls_x509_privkey_t key = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_x509_private_key(&key, outside_file("fuzz.key", bytes, length), &error);
    outside_explained(status, &error);
    if (status == TACIT_OK) gnutls_x509_privkey_deinit(key);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    if (length == 0) return 0;
    switch (bytes[0]) {
    case 'r': try_request(bytes + 1, length - 1); break;
    case 's': try_signature(bytes + 1, length - 1); break;
    case 'k': try_key(bytes + 1, length - 1); break;
    default: try_certificate(bytes + 1, length - 1); break;
    }
    return 0;
}
