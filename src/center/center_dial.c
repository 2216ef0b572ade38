/* How server A finds server B, and what they say to each other before they compute (center/center.h). */
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "center/center_parts.h"
#include "net/clock.h"
#include "net/rotation.h"
#include "net/socket.h"

enum { DIAL_MS = 10000, IDENTITY_DAYS = 3650 };

#define IDENTITY_KEY "center.key"
#define IDENTITY_CERTIFICATE "center.crt"

/* ---- what is said first ---- */

static const char magic[8] = { 't', 'a', 'c', 'i', 't', '-', 'c', '4' };

typedef struct reply_head {
    uint32_t refused, length;
} reply_head;

static tacit_status send_reply(tacit_channel *channel, bool refused, const void *bytes, size_t length,
                               tacit_error *error) {
    reply_head head = { refused, (uint32_t)length };
    TACIT_TRY(tacit_channel_send(channel, &head, sizeof head, error));
    TACIT_TRY(tacit_channel_send(channel, bytes, length, error));
    return tacit_channel_flush(channel, error);
}

/* B: is this a study for this server? */
static tacit_status examine(const tacit_study *study, const tacit_paillier_secret *secret,
                            tacit_error *error) {
    const uint8_t *mine = tacit_paillier_fingerprint(tacit_paillier_public_of(secret));
    if (study->plan.method->compute == NULL)
        return tacit_fail(error, TACIT_REFUSED, "method %s has no center servers", study->plan.method->name);
    if (memcmp(study->plan.center_key, mine, TACIT_PAILLIER_FINGERPRINT_BYTES) != 0)
        return tacit_fail(error, TACIT_REFUSED, "study '%s' names another center server's key", study->name);
    return TACIT_OK;
}

/* A length, and this many bytes. */
static tacit_status receive_bytes(tacit_channel *channel, uint32_t most, tacit_buffer *out,
                                  tacit_error *error) {
    uint32_t length;
    uint8_t *room;
    TACIT_TRY(tacit_channel_receive(channel, &length, sizeof length, error));
    if (length > most)
        return tacit_fail(error, TACIT_PROTOCOL, "the caller is no center server of this version");
    if (length == 0) return TACIT_OK;
    TACIT_TRY(tacit_buffer_reserve(out, length, &room, error));
    TACIT_TRY(tacit_channel_receive(channel, room, length, error));
    out->length = length;
    return TACIT_OK;
}

tacit_status center_welcome(tacit_study **out, tacit_channel *channel, const tacit_paillier_secret *secret,
                            center_hear *hear, center_check *check, center_look *look, void *context,
                            tacit_error *error) {
    char start[sizeof magic];
    tacit_buffer revocations = TACIT_BUFFER_LIMITED(TACIT_REVOCATIONS_BYTES_MAX);
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_STUDY_BYTES_LIMIT), key = TACIT_BUFFER_INIT;
    tacit_buffer signature = TACIT_BUFFER_LIMITED(TACIT_SIGNATURE_BYTES_MAX);
    tacit_buffer chain = TACIT_BUFFER_LIMITED(TACIT_HANDOVERS_BYTES_MAX);
    tacit_study *study = NULL;
    tacit_error said = TACIT_ERROR_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_channel_receive(channel, start, sizeof start, &said));
    if (memcmp(start, magic, sizeof magic) != 0)
        TACIT_CHECK(tacit_fail(&said, TACIT_PROTOCOL, "the caller is no center server of this version"));
    TACIT_CHECK(receive_bytes(channel, TACIT_STUDY_BYTES_LIMIT, &text, &said));
    TACIT_CHECK(receive_bytes(channel, TACIT_REVOCATIONS_BYTES_MAX, &revocations, &said));
    TACIT_CHECK(receive_bytes(channel, TACIT_SIGNATURE_BYTES_MAX, &signature, &said));
    TACIT_CHECK(receive_bytes(channel, TACIT_HANDOVERS_BYTES_MAX, &chain, &said));
    status = hear(context, &chain, &said);
    if (status == TACIT_OK) status = check(context, &text, &signature, &said);
    if (status == TACIT_OK)
        status = tacit_study_parse(&study, tacit_buffer_text(&text), text.length, "the study", &said);
    if (status == TACIT_OK) status = examine(study, secret, &said);
    if (status == TACIT_OK) status = look(context, study, &revocations, &said);
    if (status != TACIT_OK) {
        /* its reason is reported in any case */
        send_reply(channel, true, said.text, strlen(said.text), NULL);
        goto cleanup;
    }
    TACIT_CHECK(tacit_paillier_public_write(tacit_paillier_public_of(secret), &key, &said));
    TACIT_CHECK(send_reply(channel, false, key.bytes, key.length, &said));
    *out = study;
    study = NULL;
cleanup:
    tacit_study_free(study);
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&revocations);
    tacit_buffer_clear(&signature);
    tacit_buffer_clear(&chain);
    tacit_buffer_clear(&key);
    return status == TACIT_OK ? TACIT_OK : tacit_fail(error, status, "%s", said.text);
}

tacit_status center_greet(tacit_paillier_public **out, tacit_channel *channel, const tacit_study *study,
                          const tacit_buffer *signature, const tacit_buffer *revocations,
                          const tacit_buffer *chain, tacit_error *error) {
    const uint32_t signed_bytes = (uint32_t)signature->length, chained = (uint32_t)chain->length;
    uint32_t length = (uint32_t)study->canonical.length, listed = (uint32_t)revocations->length;
    reply_head head;
    uint8_t bytes[TACIT_ERROR_TEXT_SIZE + TACIT_PAILLIER_BITS_MOST / 4];
    tacit_paillier_public *key = NULL;
    TACIT_TRY(tacit_channel_send(channel, magic, sizeof magic, error));
    TACIT_TRY(tacit_channel_send(channel, &length, sizeof length, error));
    TACIT_TRY(tacit_channel_send(channel, study->canonical.bytes, length, error));
    TACIT_TRY(tacit_channel_send(channel, &listed, sizeof listed, error));
    if (listed > 0) TACIT_TRY(tacit_channel_send(channel, revocations->bytes, listed, error));
    TACIT_TRY(tacit_channel_send(channel, &signed_bytes, sizeof signed_bytes, error));
    if (signed_bytes > 0) TACIT_TRY(tacit_channel_send(channel, signature->bytes, signed_bytes, error));
    TACIT_TRY(tacit_channel_send(channel, &chained, sizeof chained, error));
    if (chained > 0) TACIT_TRY(tacit_channel_send(channel, chain->bytes, chained, error));
    TACIT_TRY(tacit_channel_receive(channel, &head, sizeof head, error));
    if (head.length == 0 || head.length >= sizeof bytes)
        return tacit_fail(error, TACIT_PROTOCOL, "center server B answers with something other than agreed");
    TACIT_TRY(tacit_channel_receive(channel, bytes, head.length, error));
    if (head.refused != 0)
        return tacit_fail(error, TACIT_REFUSED, "center server B refuses the study: %.*s", (int)head.length,
                          (const char *)bytes);
    TACIT_TRY(tacit_paillier_public_read(&key, bytes, head.length, error));
    if (memcmp(tacit_paillier_fingerprint(key), study->plan.center_key, TACIT_PAILLIER_FINGERPRINT_BYTES) ==
        0) {
        *out = key;
        return TACIT_OK;
    }
    tacit_paillier_public_free(key);
    return tacit_fail(error, TACIT_REFUSED,
                      "center server B has another key than the one that study '%s' names", study->name);
}

/* ---- dialling ---- */

/* There, and not to be renewed yet; a renewed one is for the same key. */
static bool is_fresh(const char *certificate, const tacit_authority *authority) {
    tacit_buffer pem = TACIT_BUFFER_LIMITED(TACIT_CERTIFICATE_BYTES_MAX);
    tacit_certificate_info info;
    bool fresh = tacit_file_read(certificate, &pem, NULL) == TACIT_OK &&
                 tacit_certificate_inspect(&info, pem.bytes, pem.length, NULL) == TACIT_OK &&
                 tacit_clock_wall_seconds() < tacit_certificate_renewal(&info) &&
                 strcmp(info.issuer_id, tacit_authority_info(authority)->key_id) == 0;
    tacit_buffer_clear(&pem);
    return fresh;
}

tacit_status tacit_center_forget_identity(const char *folder, tacit_registry *registry, tacit_error *error) {
    char key[PATH_MAX], certificate[PATH_MAX];
    tacit_buffer pem = TACIT_BUFFER_LIMITED(TACIT_CERTIFICATE_BYTES_MAX);
    tacit_certificate_info info;
    tacit_status status;
    TACIT_CHECK(tacit_path_join(key, sizeof key, folder, IDENTITY_KEY, error));
    TACIT_CHECK(tacit_path_join(certificate, sizeof certificate, folder, IDENTITY_CERTIFICATE, error));
    if (access(certificate, F_OK) != 0)
        TACIT_CHECK(tacit_fail(error, TACIT_NOT_FOUND, "%s has no identity as center server A", folder));
    TACIT_CHECK(tacit_file_read(certificate, &pem, error));
    TACIT_CHECK(tacit_certificate_inspect(&info, pem.bytes, pem.length, error));
    TACIT_CHECK(tacit_registry_revoke_other(registry, TACIT_CENTER_A, info.fingerprint, error));
    unlink(certificate);
    unlink(key);
cleanup:
    tacit_buffer_clear(&pem);
    return status;
}

void tacit_center_drop_identity(const char *folder) {
    char path[PATH_MAX];
    if (tacit_path_join(path, sizeof path, folder, IDENTITY_CERTIFICATE, NULL) == TACIT_OK) unlink(path);
    if (tacit_path_join(path, sizeof path, folder, IDENTITY_KEY, NULL) == TACIT_OK) unlink(path);
}

tacit_status tacit_center_identity(const char *folder, tacit_error *error) {
    char key[PATH_MAX], certificate[PATH_MAX];
    tacit_authority_keys *keys = NULL;
    tacit_buffer request = TACIT_BUFFER_INIT, issued = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_path_join(key, sizeof key, folder, IDENTITY_KEY, error));
    TACIT_CHECK(tacit_path_join(certificate, sizeof certificate, folder, IDENTITY_CERTIFICATE, error));
    TACIT_CHECK(tacit_authority_keys_load(&keys, folder, tacit_clock_wall_seconds(), error));
    if (is_fresh(certificate, keys->shown)) goto cleanup;
    if (access(key, F_OK) != 0) TACIT_CHECK(tacit_key_create(key, error));
    TACIT_CHECK(tacit_key_request(&request, key, TACIT_CENTER_A, error));
    TACIT_CHECK(
        tacit_authority_issue_client(&issued, keys->shown, request.bytes, request.length, TACIT_CENTER_A,
                                     tacit_validity_days(tacit_clock_wall_seconds(), IDENTITY_DAYS), error));
    TACIT_CHECK(tacit_file_write(certificate, issued.bytes, issued.length, 0644, error));
cleanup:
    tacit_authority_keys_free(keys);
    tacit_buffer_clear(&request);
    tacit_buffer_clear(&issued);
    return status;
}

/* "host:port", "[::1]:port" */
tacit_status center_split_address(const char *text, char *host, size_t size, uint16_t *port,
                                  tacit_error *error) {
    const char *colon = strrchr(text, ':');
    bool bracket = text[0] == '[';
    char *end = NULL;
    long number = colon != NULL ? strtol(colon + 1, &end, 10) : 0;
    size_t length = colon != NULL ? (size_t)(colon - text) : 0;
    if (bracket && length > 2 && text[length - 1] == ']') {
        text++;
        length -= 2;
    }
    if (length == 0 || length >= size || end == colon + 1 || *end != 0 || number < 1 || number > 65535)
        return tacit_fail(error, TACIT_INPUT, "a center server's address is HOST:PORT, not '%.80s'", text);
    memcpy(host, text, length);
    host[length] = 0;
    *port = (uint16_t)number;
    return TACIT_OK;
}

tacit_status tacit_center_dial(tacit_channel **channel, tacit_paillier_public **key, int *socket_out,
                               const tacit_study *study, const char *folder, const tacit_buffer *signature,
                               const tacit_buffer *revocations, const tacit_buffer *chain,
                               tacit_error *error) {
    char name[TACIT_ID_SIZE + 16], host[256], authority[PATH_MAX], certificate[PATH_MAX], private[PATH_MAX];
    uint16_t port;
    int socket = -1;
    tacit_channel *made = NULL;
    int64_t deadline = tacit_clock_monotonic_ms() + DIAL_MS;
    snprintf(name, sizeof name, "%s.center.crt", study->name);
    TACIT_TRY(tacit_path_join(authority, sizeof authority, folder, name, error));
    TACIT_TRY(tacit_path_join(certificate, sizeof certificate, folder, IDENTITY_CERTIFICATE, error));
    TACIT_TRY(tacit_path_join(private, sizeof private, folder, IDENTITY_KEY, error));
    TACIT_TRY(tacit_file_write(authority, study->center_certificate.bytes, study->center_certificate.length,
                               0644, error));
    TACIT_TRY(center_split_address(study->center_address, host, sizeof host, &port, error));
    TACIT_TRY(tacit_socket_connect(&socket, host, port, deadline, error));
    tacit_channel_tls_settings settings = {
        .authority_file = authority, .certificate_file = certificate, .key_file = private, .host = host
    };
    TACIT_TRY(tacit_channel_tls(&made, NULL, socket, &settings, deadline, error));
    tacit_channel_set_deadline(made, deadline);
    tacit_status status = center_greet(key, made, study, signature, revocations, chain, error);
    if (status != TACIT_OK) {
        tacit_channel_free(made);
        return status;
    }
    *channel = made;
    *socket_out = socket;
    return TACIT_OK;
}
