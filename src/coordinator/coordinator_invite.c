/* Invitations, made in the coordinator's folder whether it serves or not. */
#include <stdio.h>
#include <string.h>

#include "coordinator/coordinator_parts.h"
#include "net/certificate.h"

tacit_status tacit_coordinator_invite(const char *folder, const char *study, const char *url, int64_t expires,
                                      const char *called, tacit_buffer *out, tacit_error *error) {
    tacit_registry *registry = NULL;
    tacit_authority *authority = NULL;
    tacit_invitation invitation = { .expires = expires };
    tacit_study_record record;
    tacit_buffer der = TACIT_BUFFER_LIMITED(sizeof invitation.authority);
    uint8_t hash[TACIT_TOKEN_HASH_BYTES];
    tacit_status status;
    if (called != NULL) TACIT_CHECK(tacit_party_name_check(called, error));
    if (called != NULL) memcpy(invitation.called, called, strlen(called) + 1);
    TACIT_CHECK(tacit_registry_open(&registry, folder, false, error));
    TACIT_CHECK(tacit_registry_brief(registry, study, &record, NULL, error));
    if (record.state != TACIT_STUDY_RECRUITING)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "study '%s' is %s and takes no new parties", study,
                               tacit_study_state_name(record.state)));
    TACIT_CHECK(tacit_authority_load(&authority, folder, error));
    if (url != NULL && strlen(url) >= sizeof invitation.url)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "the address parties use is longer than %d bytes",
                               TACIT_INVITATION_URL_MAX));
    if (url != NULL)
        memcpy(invitation.url, url, strlen(url) + 1);
    else
        TACIT_CHECK(tacit_registry_get(registry, "url", invitation.url, sizeof invitation.url, error));
    if (invitation.url[0] == 0)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "the coordinator's address is not known yet: start `tacit coordinator %s` "
                               "first, or give the option 'url'",
                               folder));
    snprintf(invitation.study, sizeof invitation.study, "%s", study);
    const char *pem = tacit_authority_pem(authority);
    TACIT_CHECK(tacit_certificate_to_der(&der, pem, strlen(pem), error));
    memcpy(invitation.authority, der.bytes, der.length);
    invitation.authority_length = der.length;
    tacit_token_create(invitation.token);
    tacit_token_hash(hash, invitation.token);
    TACIT_CHECK(tacit_registry_invite(registry, study, hash, expires, invitation.called, error));
    TACIT_CHECK(tacit_invitation_encode(out, &invitation, error));
cleanup:
    tacit_invitation_wipe(&invitation);
    tacit_buffer_clear(&der);
    tacit_authority_free(authority);
    tacit_registry_close(registry);
    return status;
}
