/*
 * People who ask to join. An applicant draws a token and tells its hash; once the study accepts, the token is
 * an invitation like any other, so that all that follows (looking, consenting, joining, one certificate for
 * one key) is what it always was. Nobody can take an applicant's place who does not know the token, the
 * coordinator's own folder included.
 */
#include <arpa/inet.h>
#include <sodium.h>
#include <stdio.h>
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

/* ---- a share for each address ---- */

/* One place may take a quarter of what a study takes in a minute, and some in any case: a household, a
 * practice. */
enum { SHARE_OF = 4, SHARE_LEAST = 5, MINUTE_MS = 60000 };

/* A place by the network that somebody can change addresses in: of IPv6 the first half. */
static void name_place(const char *address, char out[64]) {
    uint8_t six[16];
    char shown[INET6_ADDRSTRLEN];
    snprintf(out, 64, "%s", address);
    if (inet_pton(AF_INET6, address, six) != 1) return;
    if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)six)) {
        snprintf(out, 64, "%u.%u.%u.%u", six[12], six[13], six[14], six[15]);
        return;
    }
    memset(six + 8, 0, 8);
    if (inet_ntop(AF_INET6, six, shown, sizeof shown) != NULL) snprintf(out, 64, "%s", shown);
}

/* Whoever asks about this study: an earlier participant by the certificate, others by where they are. */
static uint64_t hash_asker(const coordinator *self, const char *study, const char *party,
                           const char *address) {
    char place[64], text[TACIT_ID_SIZE + TACIT_NAME_SIZE + 2];
    uint8_t bytes[crypto_shorthash_BYTES];
    uint64_t who;
    if (party == NULL) name_place(address, place);
    int length = snprintf(text, sizeof text, "%s\n%s", study, party != NULL ? party : place);
    crypto_shorthash(bytes, (const uint8_t *)text,
                     (size_t)length < sizeof text ? (size_t)length : sizeof text, self->asked_key);
    memcpy(&who, bytes, sizeof who);
    return who;
}

/* Take a turn now, so that requests at once count each other, and give it back where it was none. Where more
 * than COORDINATOR_ASKED have asked in a minute the first are forgotten. *used: how many were taken, where
 * that is the share; else 0. */
static size_t take_turn(coordinator *self, uint64_t who, size_t per_minute, size_t *used) {
    const int64_t now = tacit_clock_monotonic_ms();
    size_t count = 0, share = per_minute / SHARE_OF;
    if (share < SHARE_LEAST) share = SHARE_LEAST;
    pthread_mutex_lock(&self->mutex);
    for (size_t i = 0; i < COORDINATOR_ASKED; i++)
        count += self->asked[i].who == who && self->asked[i].until > now;
    const size_t at = self->asked_next;
    self->asked[at] = (coordinator_asked){ who, now + MINUTE_MS };
    self->asked_next = (at + 1) % COORDINATOR_ASKED;
    pthread_mutex_unlock(&self->mutex);
    *used = per_minute > 0 && count >= share ? share : 0;
    return at;
}

static void return_turn(coordinator *self, uint64_t who, size_t at) {
    pthread_mutex_lock(&self->mutex);
    if (self->asked[at].who == who) self->asked[at].until = 0;
    pthread_mutex_unlock(&self->mutex);
}

static tacit_status apply(coordinator *self, const char *party, const char *address,
                          tacit_application *application, tacit_applicant_state *state, tacit_error *error) {
    bool fresh = false;
    const uint64_t who = hash_asker(self, application->study, party, address != NULL ? address : "");
    const size_t turn = take_turn(self, who, application->per_minute, &application->share);
    const tacit_status status =
        tacit_registry_apply(self->registry, application, tacit_clock_wall_seconds(), state, &fresh, error);
    if (!fresh) return_turn(self, who, turn);
    return status;
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
    TACIT_CHECK(apply(self, party, out->address, &application, &state, error));
    coordinator_mention(self, "enrol", "somebody asked to join study %s: %s", request->study,
                        tacit_applicant_state_name(state));
    reply.state = (char *)tacit_applicant_state_name(state);
    TACIT_CHECK(tacit_wire_say(&out->bytes, &reply, version, error));
cleanup:
    tacit_wire_free(request);
    return status;
}
