/* Certificates that are renewed before they end, the coordinator's own and its parties'; and those that count
 * no more. */
#include <limits.h>
#include <sodium.h>
#include <string.h>

#include "coordinator/coordinator_parts.h"
#include "net/clock.h"
#include "net/revocations.h"
#include "tacit.pb-c.h"

enum { DEFAULT_LIFE = 365 * 86400 };

tacit_validity coordinator_validity(const coordinator *self, int64_t now) {
    return tacit_validity_seconds(now, self->settings.certificate_life > 0 ? self->settings.certificate_life
                                                                           : DEFAULT_LIFE);
}

/* ---- the server's own ---- */

tacit_status coordinator_note_identity(coordinator *self, const tacit_server_identity *identity,
                                       tacit_error *error) {
    tacit_certificate_info info;
    TACIT_TRY(tacit_certificate_inspect(&info, identity->certificate, strlen(identity->certificate), error));
    int64_t now = tacit_clock_wall_seconds(), half = now + (info.valid_until - now) / 2;
    bool first = self->server_renewal == 0;
    self->server_renewal = tacit_certificate_renewal(&info);
    /* Where a life is shorter than the hour allowed for clocks, a third is left from the start: once is
     * enough. */
    if (!first && self->server_renewal < half) self->server_renewal = half;
    return TACIT_OK;
}

/* New connections must see the new certificate, and the server takes none while it runs: it is started again
 * at the same port. Polls that wait end with "try again", which parties do. */
void coordinator_renew_server(coordinator *self) {
    if (tacit_clock_wall_seconds() < self->server_renewal) return;
    coordinator_restart_server(self, "the server's certificate was renewed",
                               "the server's certificate could not be renewed");
}

/* ---- a party's ---- */

static tacit_status issue(coordinator *self, const char *party, const char *request,
                          const uint8_t hash[TACIT_HASH_BYTES], tacit_buffer *certificate,
                          tacit_error *error) {
    int64_t now = tacit_clock_wall_seconds();
    tacit_buffer first = TACIT_BUFFER_INIT;
    tacit_certificate_info info;
    tacit_status status;
    TACIT_CHECK(tacit_registry_certificate(self->registry, party, &first, error));
    TACIT_CHECK(tacit_certificate_inspect(&info, first.bytes, first.length, error));
    /* For what the first was made, and for no more. */
    TACIT_CHECK((info.server_use ? tacit_authority_issue_listener : tacit_authority_issue_client)(
        certificate, coordinator_issuer(self), request, strlen(request), party,
        coordinator_validity(self, now), error));
    TACIT_CHECK(tacit_certificate_inspect(&info, certificate->bytes, certificate->length, error));
    TACIT_CHECK(tacit_registry_keep_renewal(self->registry, party, hash, tacit_buffer_text(certificate),
                                            info.fingerprint, info.valid_until, now, error));
    if (tacit_registry_revoked(self->registry, info.fingerprint)) /* a moment ago */
        TACIT_CHECK(coordinator_say_revoked(error));
    char shown[COORDINATOR_SHOWN_SIZE];
    coordinator_mention(self, party, "the certificate of %s was renewed",
                        coordinator_shown(self, party, shown));
cleanup:
    tacit_buffer_clear(&first);
    return status;
}

/* One that was issued before the authority was replaced is of no use to whoever asks now. */
static bool is_present(coordinator *self, const tacit_buffer *certificate) {
    const char *pem = tacit_authority_pem(coordinator_issuer(self));
    return tacit_certificate_is_from(certificate->bytes, certificate->length, pem, strlen(pem));
}

tacit_status coordinator_renew(coordinator *self, const char *party, const tacit_buffer *body,
                               coordinator_reply *out, tacit_error *error) {
    Tacit__Wire__RenewRequest *request = NULL;
    Tacit__Wire__RenewReply reply = TACIT__WIRE__RENEW_REPLY__INIT;
    tacit_buffer certificate = TACIT_BUFFER_INIT;
    uint8_t hash[TACIT_HASH_BYTES];
    unsigned version;
    tacit_status status;
    TACIT_CHECK(
        tacit_wire_hear((void **)&request, &tacit__wire__renew_request__descriptor, body, &version, error));
    const char *signing = request->signing_request;
    crypto_generichash(hash, sizeof hash, (const uint8_t *)signing, strlen(signing), NULL, 0);
    TACIT_CHECK(tacit_registry_find_renewal(self->registry, party, hash, tacit_clock_wall_seconds(),
                                            &certificate, error));
    if (certificate.length > 0 && !is_present(self, &certificate)) certificate.length = 0;
    if (certificate.length == 0) TACIT_CHECK(issue(self, party, signing, hash, &certificate, error));
    reply.certificate = (char *)certificate.bytes;
    TACIT_CHECK(tacit_wire_say(&out->bytes, &reply, version, error));
cleanup:
    tacit_buffer_clear(&certificate);
    tacit_wire_free(request);
    return status;
}

/* ---- revoked ones ---- */

static tacit_status dismiss(void *context, const char *party, bool away, tacit_error *error) {
    (void)away;
    (void)error;
    tacit_board_dismiss(context, party);
    return TACIT_OK;
}

/* No round waits for a party that was revoked, and none of its polls that wait now is told anything more. */
tacit_status coordinator_apply_revocations(coordinator *self, tacit_error *error) {
    uint64_t count = 0;
    TACIT_TRY(tacit_registry_revocation_count(self->registry, &count, error));
    if (count == self->revocations) return TACIT_OK;
    self->revocations = count;
    for (hosted *host = self->studies; host != NULL; host = host->next) {
        TACIT_TRY(
            tacit_registry_revoked_parties(self->registry, host->study->name, dismiss, host->board, error));
        coordinator_wake(self, host->study->name);
    }
    return TACIT_OK;
}

tacit_status coordinator_revocations(coordinator *self, const char *study, tacit_buffer *out,
                                     tacit_error *error) {
    TACIT_TRY(tacit_registry_revocations(self->registry, study, out, error));
    return tacit_revocations_sign(out, coordinator_signer(self), error);
}
