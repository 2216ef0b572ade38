/*
 * Whom a party trusts as its coordinator. Trust begins with the authority of the invitation (ca.crt);
 * handover.txt has the statements by which it was handed on since, all of them checked (net/handover.h). This
 * one file says all: it is replaced in one step, and whatever else is needed is made of it. stolen.txt is a
 * chain that goes on with "the key was stolen": from then on nobody is trusted, until the owner has confirmed
 * the fingerprint of another authority.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "net/clock.h"
#include "site/site_parts.h"

enum { REQUEST_MS = 30000 };

#define ASK_PEOPLE                                                                                           \
    "ask the coordinator's people for the fingerprint of the present one, by telephone or in person, and "   \
    "say it with: tacit follow FINGERPRINT"

/* ---- whom to trust ---- */

tacit_status site_apply_trust(tacit_site *site, tacit_error *error) {
    tacit_buffer trusted = TACIT_BUFFER_INIT, every = TACIT_BUFFER_INIT;
    int64_t changes = 0, now = tacit_clock_wall_seconds() - TACIT_HANDOVER_SKEW;
    tacit_status status;
    TACIT_CHECK(tacit_handovers_trusted(&site->chain, &site->anchor, now, &trusted, &changes, error));
    TACIT_CHECK(tacit_handovers_all(&site->chain, &site->anchor, &every, error));
    tacit_buffer_clear(&site->authority);
    tacit_buffer_clear(&site->every);
    site->authority = trusted;
    site->every = every;
    site->trust_changes = changes != 0 ? changes + TACIT_HANDOVER_SKEW : 0;
    return TACIT_OK;
cleanup:
    tacit_buffer_clear(&trusted);
    tacit_buffer_clear(&every);
    return status;
}

static tacit_status read_chain(const tacit_site *site, const char *name, tacit_handovers *out,
                               tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_HANDOVERS_BYTES_MAX);
    if (!site_file_exists(site, name)) return TACIT_OK;
    tacit_status status = site_read_file(site, name, &text, error);
    if (status == TACIT_OK)
        status = tacit_fail_in(error, tacit_handovers_read(out, text.bytes, text.length, error), "%s/%s",
                               site->folder, name);
    tacit_buffer_clear(&text);
    return status;
}

/* A statement that goes on from where we are, and says so; not one that was overtaken by the owner's word. */
static tacit_status look_for_theft(tacit_site *site, tacit_error *error) {
    tacit_handovers heard = { .count = 0 };
    tacit_following result = TACIT_FOLLOWING_NOTHING;
    TACIT_TRY(read_chain(site, SITE_STOLEN_FILE, &heard, error));
    tacit_status status = tacit_handovers_follow(&site->chain, &site->anchor, &heard,
                                                 tacit_clock_wall_seconds(), NULL, &result, NULL);
    site->distrusted = status == TACIT_OK && result == TACIT_FOLLOWING_STOLEN;
    tacit_handovers_clear(&heard);
    return status == TACIT_NO_MEMORY ? tacit_fail_memory(error) : TACIT_OK;
}

tacit_status site_load_trust(tacit_site *site, tacit_error *error) {
    TACIT_TRY(site_read_file(site, SITE_AUTHORITY_FILE, &site->anchor, error));
    TACIT_TRY(read_chain(site, SITE_HANDOVER_FILE, &site->chain, error));
    if (site_file_exists(site, SITE_STOLEN_FILE)) TACIT_TRY(look_for_theft(site, error));
    return site_apply_trust(site, error);
}

static tacit_status say_stolen(const tacit_site *site, tacit_error *error) {
    return tacit_fail(
        error, TACIT_REFUSED,
        "the coordinator of study '%s' says that its authority's key was stolen, and that another one takes "
        "over. Whoever has the key could say who that is, so nothing leaves until you do: " ASK_PEOPLE,
        site->study != NULL ? site->study->name : site->id);
}

tacit_status site_trust_file(const tacit_site *site, char path[PATH_MAX], tacit_error *error) {
    tacit_buffer before = TACIT_BUFFER_LIMITED(TACIT_HANDOVERS_BYTES_MAX);
    if (site->distrusted) return say_stolen(site, error);
    if (site->chain.count == 0) return site_path(site, SITE_AUTHORITY_FILE, path, error);
    TACIT_TRY(site_path(site, SITE_TRUST_FILE, path, error));
    const tacit_buffer *now = &site->authority;
    bool same = tacit_file_read(path, &before, NULL) == TACIT_OK && before.length == now->length &&
                memcmp(before.bytes, now->bytes, now->length) == 0;
    tacit_buffer_clear(&before);
    return same ? TACIT_OK : tacit_file_write(path, now->bytes, now->length, 0600, error);
}

bool site_is_from_present(const tacit_site *site) {
    tacit_buffer pem = TACIT_BUFFER_LIMITED(TACIT_CERTIFICATE_BYTES_MAX);
    bool from =
        site->chain.count == 0 ||
        (site_read_file(site, SITE_CERTIFICATE_FILE, &pem, NULL) == TACIT_OK &&
         tacit_certificate_is_from(pem.bytes, pem.length, site->authority.bytes, site->authority.length));
    tacit_buffer_clear(&pem);
    return from;
}

static void day_of(int64_t seconds, char out[16]) {
    struct tm parts;
    time_t time = (time_t)seconds;
    gmtime_r(&time, &parts);
    strftime(out, 16, "%Y-%m-%d", &parts);
}

void site_describe_trust(const tacit_site *site, char *out, size_t size) {
    char day[16];
    out[0] = 0;
    if (site->chain.count == 0) return;
    const tacit_handover *last = &site->chain.entries[site->chain.count - 1];
    day_of(last->until, day);
    snprintf(out, size, "the present authority is %s; the one before it is trusted %s %s",
             last->new.fingerprint, site->trust_changes != 0 ? "until" : "no longer, since", day);
}

/* ---- hearing ---- */

/* A coordinator of an earlier version has nothing to say. */
static tacit_status hear(const tacit_site *site, tacit_carrier *carrier, tacit_handovers *out,
                         tacit_error *error) {
    tacit_carried carried = { .result = TACIT_RESULT_WRONG,
                              .reply = TACIT_BUFFER_LIMITED(TACIT_HANDOVERS_BYTES_MAX) };
    const tacit_carrier_settings settings = { .address = site->url,
                                              .unverified = true,
                                              .proxy = site->proxy,
                                              .cancelled = site->callbacks.cancelled,
                                              .cancelled_context = site->callbacks.context,
                                              .paused = site->callbacks.paused,
                                              .paused_context = site->callbacks.paused_context,
                                              .envelopes = site->callbacks.envelopes };
    tacit_carrier *anybody = NULL;
    tacit_status status = TACIT_OK;
    if (carrier == NULL) TACIT_CHECK(tacit_carrier_open(&anybody, &settings, error));
    tacit_carrier *asked = carrier != NULL ? carrier : anybody;
    tacit_error problem = TACIT_ERROR_INIT;
    status = tacit_carrier_send(asked, TACIT_ENDPOINT_AUTHORITY, NULL, REQUEST_MS, &carried, &problem);
    if (status != TACIT_OK && tacit_carrier_last_failure(asked) == TACIT_FAILURE_REFUSED) status = TACIT_OK;
    if (status != TACIT_OK) TACIT_CHECK(tacit_fail(error, status, "%s", problem.text));
    if (carried.result == TACIT_RESULT_DONE)
        TACIT_CHECK(tacit_handovers_read(out, carried.reply.bytes, carried.reply.length, error));
cleanup:
    tacit_carrier_free(anybody);
    tacit_buffer_clear(&carried.reply);
    return status;
}

static tacit_status keep_chain(tacit_site *site, tacit_error *error) {
    TACIT_TRY(
        site_write_kept(site, SITE_HANDOVER_FILE, site->chain.text.bytes, site->chain.text.length, error));
    return site_apply_trust(site, error);
}

static tacit_status say_late(const tacit_handovers *heard, size_t known, tacit_error *error) {
    char day[16];
    day_of(heard->entries[known < heard->count ? known : heard->count - 1].until, day);
    return tacit_fail(error, TACIT_REFUSED,
                      "the coordinator's authority was replaced, and the one that this party knows was "
                      "trusted until %s only: " ASK_PEOPLE,
                      day);
}

tacit_status site_follow(tacit_site *site, tacit_carrier *carrier, bool *followed, tacit_error *error) {
    tacit_handovers heard = { .count = 0 };
    tacit_following result = TACIT_FOLLOWING_NOTHING;
    tacit_status status;
    *followed = false;
    TACIT_CHECK(hear(site, carrier, &heard, error));
    TACIT_CHECK(tacit_handovers_follow(&site->chain, &site->anchor, &heard, tacit_clock_wall_seconds(), NULL,
                                       &result, error));
    if (result == TACIT_FOLLOWING_DONE) {
        TACIT_CHECK(keep_chain(site, error));
        *followed = true;
    } else if (result == TACIT_FOLLOWING_STOLEN) {
        TACIT_CHECK(site_write_kept(site, SITE_STOLEN_FILE, heard.text.bytes, heard.text.length, error));
        site->distrusted = true;
        status = say_stolen(site, error);
    } else if (result == TACIT_FOLLOWING_LATE) {
        status = say_late(&heard, site->chain.count, error);
    }
cleanup:
    tacit_handovers_clear(&heard);
    return status;
}

tacit_status site_examine_trust(const tacit_site *site, bool *planned, tacit_error *error) {
    tacit_handovers heard = { .count = 0 }, known = { .count = 0 };
    tacit_following result = TACIT_FOLLOWING_NOTHING;
    tacit_status status;
    *planned = false;
    if (site->distrusted) return say_stolen(site, error);
    TACIT_CHECK(hear(site, NULL, &heard, error));
    TACIT_CHECK(tacit_handovers_read(&known, site->chain.text.bytes, site->chain.text.length, error));
    TACIT_CHECK(tacit_handovers_follow(&known, &site->anchor, &heard, tacit_clock_wall_seconds(), NULL,
                                       &result, error));
    if (result == TACIT_FOLLOWING_STOLEN) status = say_stolen(site, error);
    if (result == TACIT_FOLLOWING_LATE) status = say_late(&heard, site->chain.count, error);
    *planned = result == TACIT_FOLLOWING_DONE;
cleanup:
    tacit_handovers_clear(&heard);
    tacit_handovers_clear(&known);
    return status;
}

/* ---- joining ---- */

static tacit_status write_trust(const tacit_site *site, const char *path, tacit_error *error) {
    return tacit_file_write(path, site->authority.bytes, site->authority.length, 0600, error);
}

/* An invitation of an earlier authority serves as long as that is trusted; one of the present authority, from
 * the first moment. */
static tacit_status follow_invitation(tacit_site *site, tacit_carrier *carrier, bool *followed,
                                      tacit_error *error) {
    tacit_handovers heard = { .count = 0 };
    tacit_following result = TACIT_FOLLOWING_NOTHING;
    tacit_error problem = TACIT_ERROR_INIT;
    tacit_status status = hear(site, carrier, &heard, &problem);
    bool stranger = status == TACIT_NETWORK && tacit_carrier_last_failure(carrier) == TACIT_FAILURE_STRANGER;
    if (stranger) status = hear(site, NULL, &heard, NULL);
    if (stranger && heard.count == 0) status = TACIT_NETWORK;
    if (status != TACIT_OK) TACIT_CHECK(tacit_fail(error, status, "%s", problem.text));
    TACIT_CHECK(tacit_handovers_follow(&site->chain, &site->anchor, &heard, tacit_clock_wall_seconds(), NULL,
                                       &result, error));
    if (result == TACIT_FOLLOWING_LATE || result == TACIT_FOLLOWING_STOLEN)
        TACIT_CHECK(tacit_fail(
            error, TACIT_REFUSED,
            "this invitation is of an authority that has been replaced: ask the coordinator for a new one"));
    *followed = result == TACIT_FOLLOWING_DONE;
cleanup:
    tacit_handovers_clear(&heard);
    return status;
}

tacit_status site_meet(tacit_site *site, const tacit_invitation *invitation, char path[PATH_MAX],
                       tacit_carrier **carrier, tacit_error *error) {
    bool followed = false;
    if (snprintf(path, PATH_MAX, "%s/invitation-%ld.crt", site->home, (long)getpid()) >= PATH_MAX)
        return tacit_fail(error, TACIT_LIMIT, "path too long: %s", site->home);
    TACIT_TRY(
        tacit_certificate_to_pem(&site->anchor, invitation->authority, invitation->authority_length, error));
    TACIT_TRY(site_apply_trust(site, error));
    TACIT_TRY(write_trust(site, path, error));
    TACIT_TRY(site_carrier(site, false, path, carrier, error));
    TACIT_TRY(follow_invitation(site, *carrier, &followed, error));
    if (!followed) return TACIT_OK;
    TACIT_TRY(site_apply_trust(site, error));
    TACIT_TRY(write_trust(site, path, error));
    *carrier = tacit_carrier_free(*carrier);
    TACIT_TRY(site_set_id(site, invitation->study, site->chain.entries[0].old.fingerprint, error));
    return site_carrier(site, false, path, carrier, error);
}

/* ---- the owner's word ---- */

typedef struct confirming {
    const char *home, *study, *fingerprint;
    const tacit_site_callbacks *callbacks;
    size_t asked, followed;
    tacit_error problem; /* of the last study that did not */
} confirming;

static tacit_status confirm(tacit_site *site, const char *fingerprint, tacit_error *error) {
    tacit_handovers heard = { .count = 0 };
    tacit_following result = TACIT_FOLLOWING_NOTHING;
    char path[PATH_MAX];
    tacit_status status;
    TACIT_CHECK(hear(site, NULL, &heard, error));
    TACIT_CHECK(tacit_handovers_follow(&site->chain, &site->anchor, &heard, tacit_clock_wall_seconds(),
                                       fingerprint, &result, error));
    TACIT_CHECK(keep_chain(site, error));
    TACIT_CHECK(site_path(site, SITE_STOLEN_FILE, path, error));
    unlink(path);
cleanup:
    tacit_handovers_clear(&heard);
    return status;
}

static tacit_status confirm_one(void *context, const tacit_site_summary *joined, tacit_error *error) {
    confirming *self = context;
    tacit_site *site = NULL;
    char line[TACIT_ERROR_TEXT_SIZE + TACIT_SITE_ID_SIZE + 64];
    if (joined->ended || (self->study != NULL && strcmp(joined->id, self->study) != 0 &&
                          strcmp(joined->study->name, self->study) != 0))
        return TACIT_OK;
    TACIT_TRY(site_open_folder(&site, self->home, joined->id, error));
    site->callbacks = *self->callbacks;
    self->asked++;
    self->problem = (tacit_error)TACIT_ERROR_INIT;
    tacit_status status = confirm(site, self->fingerprint, &self->problem);
    self->followed += status == TACIT_OK;
    snprintf(line, sizeof line, "%s: %s", joined->id,
             status == TACIT_OK ? "trusts the authority with this fingerprint from now on"
                                : self->problem.text);
    if (self->callbacks->news != NULL) self->callbacks->news(self->callbacks->context, line);
    tacit_site_free(site);
    return TACIT_OK;
}

tacit_status tacit_site_confirm(const char *home, const char *study, const char *fingerprint,
                                const tacit_site_callbacks *callbacks, size_t *followed, tacit_error *error) {
    char read[TACIT_FINGERPRINT_SIZE];
    confirming self = { .home = home, .study = study, .fingerprint = read, .callbacks = callbacks };
    TACIT_TRY(tacit_fingerprint_read(read, fingerprint, error));
    TACIT_TRY(tacit_site_list(home, confirm_one, &self, error));
    if (self.asked == 0)
        return tacit_fail(error, TACIT_NOT_FOUND, "no joined study %s%s goes on",
                          study != NULL ? "called " : "", study != NULL ? study : "of this home");
    if (self.followed == 0)
        return tacit_fail(error, TACIT_REFUSED, "nothing was changed: %s", self.problem.text);
    *followed = self.followed;
    return TACIT_OK;
}
