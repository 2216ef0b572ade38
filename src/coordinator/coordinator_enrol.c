/*
 * People who ask to join. An applicant draws a token and tells its hash; once the study accepts, the token is
 * an invitation like any other, so that all that follows (looking, consenting, joining, one certificate for
 * one key) is what it always was. Nobody can take an applicant's place who does not know the token, the
 * coordinator's own folder included.
 */
#include <string.h>

#include "coordinator/coordinator_parts.h"
#include "net/clock.h"
#include "tacit.pb-c.h"

tacit_status coordinator_check_eligible(const tacit_study *study, bool said_so, tacit_error *error) {
    if (study->eligible == NULL || said_so) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "study '%s' is for those who are eligible, and this party did not say that it is",
                      study->name);
}

tacit_status coordinator_offers(coordinator *self, const tacit_study *study, const char *party, bool *out,
                                tacit_error *error) {
    *out = false;
    if (party == NULL || !study->offer_earlier) return TACIT_OK;
    return tacit_registry_may_ask(self->registry, party, study->derived_from, out, error);
}

/* Whether the study takes this stranger, or earlier participant, and whether at once. */
static tacit_status find_terms(coordinator *self, const char *name, const char *party, tacit_application *out,
                               tacit_error *error) {
    const hosted *host = coordinator_find(self, name);
    bool offered = false;
    if (host != NULL) TACIT_TRY(coordinator_offers(self, host->study, party, &offered, error));
    if (host == NULL || (host->study->enrolment == TACIT_ENROL_INVITED && !offered))
        return tacit_fail(
            error, TACIT_REFUSED,
            "there is no study '%.40s' here that takes whoever asks: ask its researchers for an "
            "invitation",
            name);
    out->at_once = offered || host->study->enrolment == TACIT_ENROL_ANYBODY;
    out->per_minute = host->study->enrolments_per_minute;
    return TACIT_OK;
}

tacit_status coordinator_enrol(coordinator *self, const char *party, const tacit_buffer *body,
                               coordinator_reply *out, tacit_error *error) {
    Tacit__Wire__EnrolRequest *request = NULL;
    Tacit__Wire__EnrolReply reply = TACIT__WIRE__ENROL_REPLY__INIT;
    tacit_application application = { .study = NULL };
    tacit_applicant_state state = TACIT_APPLICANT_WAITING;
    unsigned version;
    tacit_status status;
    TACIT_CHECK(
        tacit_wire_hear((void **)&request, &tacit__wire__enrol_request__descriptor, body, &version, error));
    if (request->token_hash.len != sizeof application.token_hash)
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "the token's hash has the wrong length"));
    TACIT_CHECK(tacit_name_check("the study's name", request->study, TACIT_ID_SIZE - 1, error));
    memcpy(application.token_hash, request->token_hash.data, sizeof application.token_hash);
    application.study = request->study;
    application.words = request->words;
    TACIT_CHECK(find_terms(self, request->study, party, &application, error));
    TACIT_CHECK(
        tacit_registry_apply(self->registry, &application, tacit_clock_wall_seconds(), &state, error));
    coordinator_mention(self, "enrol", "somebody asked to join study %s: %s", request->study,
                        tacit_applicant_state_name(state));
    reply.state = (char *)tacit_applicant_state_name(state);
    TACIT_CHECK(tacit_wire_say(&out->bytes, &reply, version, error));
cleanup:
    tacit_wire_free(request);
    return status;
}
