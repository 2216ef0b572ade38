#include "net/x509.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/certificate.h"
#include "net/identity.h"

enum { KEY_FILE_BYTES_MAX = 16384 };

tacit_status tacit_x509_fail(tacit_error *error, const char *doing, int code) {
    if (code == GNUTLS_E_MEMORY_ERROR) return tacit_fail_memory(error);
    return tacit_fail(error, TACIT_INTERNAL, "%s: %s", doing, gnutls_strerror(code));
}

gnutls_x509_crt_fmt_t tacit_x509_format(const void *bytes, size_t length) {
    static const char mark[] = "-----BEGIN";
    return memmem(bytes, length, mark, sizeof mark - 1) != NULL ? GNUTLS_X509_FMT_PEM : GNUTLS_X509_FMT_DER;
}

tacit_status tacit_x509_certificate(gnutls_x509_crt_t *out, const void *bytes, size_t length,
                                    tacit_error *error) {
    if (length == 0) return tacit_fail(error, TACIT_INPUT, "the certificate is empty");
    if (length > TACIT_CERTIFICATE_BYTES_MAX)
        return tacit_fail(error, TACIT_LIMIT, "a certificate of %zu bytes is larger than the allowed %d",
                          length, TACIT_CERTIFICATE_BYTES_MAX);
    gnutls_x509_crt_t certificate;
    if (gnutls_x509_crt_init(&certificate) < 0) return tacit_fail_memory(error);
    /* GnuTLS takes a pointer to non-const bytes but only reads them. */
    gnutls_datum_t datum = { (unsigned char *)(uintptr_t)bytes, (unsigned)length };
    int code = gnutls_x509_crt_import(certificate, &datum, tacit_x509_format(bytes, length));
    if (code < 0) {
        gnutls_x509_crt_deinit(certificate);
        return tacit_fail(error, TACIT_INPUT, "not an X.509 certificate: %s", gnutls_strerror(code));
    }
    *out = certificate;
    return TACIT_OK;
}

tacit_status tacit_x509_take(tacit_buffer *out, gnutls_datum_t *taken, bool secret, tacit_error *error) {
    tacit_status status = tacit_buffer_append(out, taken->data, taken->size, error);
    if (secret) gnutls_memset(taken->data, 0, taken->size);
    gnutls_free(taken->data);
    taken->data = NULL;
    taken->size = 0;
    return status;
}

void tacit_x509_wipe(tacit_buffer *buffer) {
    if (buffer->bytes != NULL) gnutls_memset(buffer->bytes, 0, buffer->capacity);
    tacit_buffer_clear(buffer);
}

static tacit_status check_private(const struct stat *about, const char *path, tacit_error *error) {
    if (!S_ISREG(about->st_mode)) return tacit_fail(error, TACIT_INPUT, "%s is not a file", path);
    if ((about->st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return tacit_fail(error, TACIT_REFUSED,
                          "the private key %s can be read by others (mode %04o); run: chmod 600 %s", path,
                          (unsigned)about->st_mode & 07777u, path);
    return TACIT_OK;
}

tacit_status tacit_key_check_private(const char *path, tacit_error *error) {
    struct stat about;
    if (stat(path, &about) != 0) return tacit_fail_errno(error, "looking at the private key", path);
    return check_private(&about, path, error);
}

/* The mode is checked on the opened file, so that it cannot be swapped in between. */
tacit_status tacit_x509_read_private(tacit_buffer *out, const char *path, tacit_error *error) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return tacit_fail_errno(error, "opening the private key", path);
    struct stat about;
    tacit_status status = TACIT_OK;
    if (fstat(file, &about) != 0)
        status = tacit_fail_errno(error, "looking at the private key", path);
    else
        status = check_private(&about, path, error);
    uint8_t bytes[KEY_FILE_BYTES_MAX + 1];
    size_t length = 0;
    while (status == TACIT_OK && length < sizeof bytes) {
        ssize_t got = read(file, bytes + length, sizeof bytes - length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) status = tacit_fail_errno(error, "reading the private key", path);
        if (got <= 0) break;
        length += (size_t)got;
    }
    close(file);
    if (status == TACIT_OK && length > KEY_FILE_BYTES_MAX)
        status = tacit_fail(error, TACIT_LIMIT, "%s is too large for a private key", path);
    if (status == TACIT_OK) status = tacit_buffer_append(out, bytes, length, error);
    gnutls_memset(bytes, 0, sizeof bytes);
    return status;
}

tacit_status tacit_x509_private_key(gnutls_x509_privkey_t *out, const char *path, tacit_error *error) {
    tacit_buffer pem = TACIT_BUFFER_INIT;
    gnutls_x509_privkey_t key = NULL;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_x509_read_private(&pem, path, error));
    int code = gnutls_x509_privkey_init(&key);
    if (code < 0) {
        status = tacit_x509_fail(error, "reading a private key", code);
        goto cleanup;
    }
    gnutls_datum_t datum = { pem.bytes, (unsigned)pem.length };
    code = gnutls_x509_privkey_import2(key, &datum, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN);
    if (code < 0) {
        status = tacit_fail(error, TACIT_INPUT, "%s is not a private key: %s", path, gnutls_strerror(code));
        goto cleanup;
    }
    *out = key;
    key = NULL;
cleanup:
    if (key != NULL) gnutls_x509_privkey_deinit(key);
    tacit_x509_wipe(&pem);
    return status;
}

tacit_status tacit_x509_new_key(gnutls_x509_privkey_t *out, tacit_buffer *pem, tacit_error *error) {
    gnutls_x509_privkey_t key;
    gnutls_datum_t text = { NULL, 0 };
    int code = gnutls_x509_privkey_init(&key);
    if (code < 0) return tacit_x509_fail(error, "making a private key", code);
    code = gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
                                        GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    /* PKCS #8 is the one form that every TLS library reads. */
    if (code >= 0)
        code = gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN, &text);
    tacit_status status = code < 0 ? tacit_x509_fail(error, "making a private key", code)
                                   : tacit_x509_take(pem, &text, true, error);
    if (status != TACIT_OK) {
        gnutls_x509_privkey_deinit(key);
        return status;
    }
    *out = key;
    return TACIT_OK;
}
