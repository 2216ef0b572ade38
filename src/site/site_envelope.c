/*
 * A site without a connection. Everything is as with one: the same requests, whose replies are in an
 * envelope that somebody brought, and the bodies go into one that somebody takes away
 * (session/carrier_files.h). What is here is who may have written an envelope, for whom, and when; consent,
 * ledger, gate and the stored answers know nothing of it.
 */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "net/invitation.h"
#include "session/carrier/carrier_files.h"
#include "site/site_parts.h"
#include "tacit.pb-c.h"

#define ROSTER_NAME "roster" /* session/masked_party.c keeps it */

bool site_goes_by_files(const tacit_site *site) { return strcmp(site->url, TACIT_FILES_ADDRESS) == 0; }

/* ---- looking and joining ---- */

static tacit_status check_invitation(tacit_envelope *envelope, tacit_invitation *read, tacit_error *error) {
    const tacit_buffer *line = tacit_envelope_find(envelope, TACIT_ENCLOSED_INVITATION),
                       *key = tacit_envelope_find(envelope, TACIT_ENCLOSED_BOX_KEY);
    if (envelope->address.kind != TACIT_ENVELOPE_INVITATION || line == NULL || key == NULL ||
        key->length != TACIT_ENVELOPE_KEY_BYTES)
        return tacit_fail(error, TACIT_REFUSED, "the envelope holds no invitation");
    TACIT_TRY(tacit_invitation_parse(read, tacit_buffer_text(line), line->length, error));
    TACIT_TRY(tacit_envelope_check_authority(envelope, read->authority, read->authority_length, error));
    const tacit_envelope_expected expected = { .kind = TACIT_ENVELOPE_INVITATION, .study = read->study };
    return tacit_envelope_expect(envelope, &expected, error);
}

tacit_status tacit_site_look_envelope(tacit_site **out, const char *text, size_t length,
                                      const tacit_site_settings *settings,
                                      const tacit_site_callbacks *callbacks, tacit_error *error) {
    tacit_envelope_pair *envelopes = callbacks->envelopes;
    tacit_invitation invitation = { .expires = 0 };
    tacit_site *site = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_envelope_read(&envelopes->in, text, length, error));
    TACIT_CHECK(check_invitation(&envelopes->in, &invitation, error));
    const tacit_buffer *line = tacit_envelope_find(&envelopes->in, TACIT_ENCLOSED_INVITATION);
    TACIT_CHECK(tacit_site_look(&site, tacit_buffer_text(line), line->length, settings, callbacks, error));
    const tacit_envelope_expected expected = { .kind = TACIT_ENVELOPE_INVITATION,
                                               .study = site->study->name,
                                               .version = site->study->hash };
    TACIT_CHECK(tacit_envelope_expect(&envelopes->in, &expected, error));
    memcpy(site->box_key, tacit_envelope_find(&envelopes->in, TACIT_ENCLOSED_BOX_KEY)->bytes,
           sizeof site->box_key);
    *out = site;
    site = NULL;
cleanup:
    tacit_site_free(site);
    tacit_invitation_wipe(&invitation);
    return status;
}

/* What a poll says of the owner's will. */
static tacit_status post_poll(tacit_site *site, tacit_error *error) {
    Tacit__Wire__PollRequest request = TACIT__WIRE__POLL_REQUEST__INIT;
    tacit_buffer body = TACIT_BUFFER_INIT;
    tacit_status status;
    request.study = site->study->name;
    request.consented = (ProtobufCBinaryData){ sizeof site->study->hash, site->study->hash };
    TACIT_CHECK(tacit_wire_say(&body, &request, 0, error));
    TACIT_CHECK(tacit_envelope_put(&site->callbacks.envelopes->out, TACIT_ENDPOINT_POLL, body.bytes,
                                   body.length, error));
cleanup:
    tacit_buffer_clear(&body);
    return status;
}

/* Close the envelopes for the coordinator. */
static tacit_status write_out(const tacit_site *site, tacit_envelope_kind kind,
                              const uint8_t receiver[TACIT_ENVELOPE_KEY_BYTES], tacit_buffer *text,
                              tacit_error *error) {
    tacit_envelope_pair *envelopes = site->callbacks.envelopes;
    tacit_envelope_address *address = &envelopes->out.address;
    uint8_t secret_key[crypto_sign_SECRETKEYBYTES], seed[TACIT_ENVELOPE_KEY_BYTES];
    tacit_envelope_sender sender = { .secret_key = secret_key, .seed = seed };
    *address = envelopes->in.address; /* round, step, roster and version are those that it answers */
    address->kind = kind;
    snprintf(address->study, sizeof address->study, "%s", site->study->name);
    memcpy(address->version, site->study->hash, sizeof address->version);
    memcpy(address->receiver, receiver, sizeof address->receiver);
    tacit_status status = site_sum_key(site, address->party, secret_key, error);
    tacit_envelope_box_secret(seed, secret_key);
    if (status == TACIT_OK) status = tacit_envelope_write(&envelopes->out, &sender, text, error);
    sodium_memzero(secret_key, sizeof secret_key);
    sodium_memzero(seed, sizeof seed);
    return status;
}

tacit_status tacit_site_join_envelope(tacit_site *site, tacit_buffer *text, tacit_error *error) {
    if (site_file_exists(site, SITE_BOX_FILE)) TACIT_TRY(site_check_source(site, error));
    TACIT_TRY(tacit_site_join(site, error));
    TACIT_TRY(post_poll(site, error));
    TACIT_TRY(site_write_kept(site, SITE_BOX_FILE, site->box_key, sizeof site->box_key, error));
    return write_out(site, TACIT_ENVELOPE_JOIN, site->box_key, text, error);
}

/* ---- a question ---- */

/* It is from the coordinator of this study, for this site; then its enclosures are in clear. */
static tacit_status open_for_site(tacit_site *site, tacit_envelope *envelope, tacit_error *error) {
    uint8_t own[TACIT_SIGNING_KEY_BYTES], secret_key[crypto_sign_SECRETKEYBYTES],
        box[TACIT_ENVELOPE_KEY_BYTES], box_secret[TACIT_ENVELOPE_KEY_BYTES];
    const tacit_envelope_expected expected = { .kind = TACIT_ENVELOPE_QUESTION,
                                               .study = site->study->name,
                                               .party = own };
    tacit_status status;
    TACIT_CHECK(site_sum_key(site, own, secret_key, error));
    TACIT_CHECK(
        tacit_envelope_check_authority(envelope, site->authority.bytes, site->authority.length, error));
    TACIT_CHECK(tacit_envelope_expect(envelope, &expected, error));
    TACIT_CHECK(tacit_envelope_box_key(box, own, error));
    tacit_envelope_box_secret(box_secret, secret_key);
    TACIT_CHECK(tacit_envelope_open(envelope, box, box_secret, error));
cleanup:
    sodium_memzero(secret_key, sizeof secret_key);
    sodium_memzero(box_secret, sizeof box_secret);
    return status;
}

/* The roster that this site goes by, once it has one. */
static tacit_status check_roster(tacit_site *site, const tacit_envelope *envelope, tacit_error *error) {
    tacit_buffer keys = TACIT_BUFFER_INIT;
    uint8_t digest[TACIT_DIGEST_BYTES];
    bool found = false;
    tacit_status status;
    TACIT_CHECK(site_read_kept(site, ROSTER_NAME, &found, &keys, error));
    if (!found) goto cleanup;
    const tacit_signing_roster roster = { (uint32_t)(keys.length / TACIT_SIGNING_KEY_BYTES),
                                          (const uint8_t(*)[TACIT_SIGNING_KEY_BYTES])keys.bytes };
    tacit_securesum_roster_digest(digest, &roster);
    const tacit_envelope_expected expected = { .kind = TACIT_ENVELOPE_QUESTION, .roster = digest };
    TACIT_CHECK(tacit_envelope_expect(envelope, &expected, error));
cleanup:
    tacit_buffer_clear(&keys);
    return status;
}

static tacit_status check_question(tacit_site *site, const tacit_envelope *envelope,
                                   const ProtobufCBinaryData *bytes, tacit_site_asked *asked,
                                   tacit_error *error) {
    const site_received *received;
    TACIT_TRY(site_receive(site, bytes->data, bytes->len, &received, error));
    const tacit_question *question = &received->read.question;
    const tacit_envelope_expected expected = { .kind = TACIT_ENVELOPE_QUESTION,
                                               .version = site->study->hash,
                                               .round = &question->round };
    TACIT_TRY(tacit_envelope_expect(envelope, &expected, error));
    TACIT_TRY(check_roster(site, envelope, error));
    const char *step = tacit_question_step(&site->study->plan, question);
    asked->round = question->round;
    snprintf(asked->question, sizeof asked->question, "%s", question->name);
    snprintf(asked->step, sizeof asked->step, "%s", step != NULL ? step : "");
    return TACIT_OK;
}

static tacit_status read_asked(tacit_site *site, const tacit_envelope *envelope, tacit_site_asked *asked,
                               tacit_error *error) {
    const tacit_buffer *letter = tacit_envelope_find(envelope, TACIT_ENDPOINT_POLL);
    Tacit__Wire__PollReply *reply = NULL;
    unsigned version;
    tacit_status status;
    *asked = (tacit_site_asked){ .round = 0 };
    if (letter == NULL) return tacit_fail(error, TACIT_REFUSED, "the envelope asks nothing");
    TACIT_CHECK(
        tacit_wire_hear((void **)&reply, &tacit__wire__poll_reply__descriptor, letter, &version, error));
    if (reply->event_case == TACIT__WIRE__POLL_REPLY__EVENT_QUESTION) {
        snprintf(asked->event, sizeof asked->event, "question");
        TACIT_CHECK(check_question(site, envelope, &reply->question, asked, error));
    } else if (reply->event_case == TACIT__WIRE__POLL_REPLY__EVENT_AMENDED) {
        snprintf(asked->event, sizeof asked->event, "amended");
    } else {
        snprintf(asked->event, sizeof asked->event, "finished");
    }
cleanup:
    tacit_wire_free(reply);
    return status;
}

/* With the first envelope after joining comes what a connection would have brought at once. */
static tacit_status take_certificate(const tacit_site *site, const tacit_envelope *envelope,
                                     tacit_error *error) {
    const tacit_buffer *letter = tacit_envelope_find(envelope, TACIT_ENDPOINT_JOIN);
    Tacit__Wire__JoinReply *reply = NULL;
    char key[PATH_MAX], path[PATH_MAX];
    unsigned version;
    tacit_status status;
    if (site_file_exists(site, SITE_CERTIFICATE_FILE)) return TACIT_OK;
    if (letter == NULL)
        return tacit_fail(error, TACIT_REFUSED, "the envelope does not say that this site has joined");
    TACIT_CHECK(
        tacit_wire_hear((void **)&reply, &tacit__wire__join_reply__descriptor, letter, &version, error));
    const size_t length = strlen(reply->certificate);
    TACIT_CHECK(site_path(site, SITE_KEY_FILE, key, error));
    TACIT_CHECK(tacit_certificate_check_key(reply->certificate, length, key, error));
    TACIT_CHECK(site_path(site, SITE_CERTIFICATE_FILE, path, error));
    TACIT_CHECK(tacit_file_write(path, reply->certificate, length, 0600, error));
cleanup:
    tacit_wire_free(reply);
    return status;
}

tacit_status tacit_site_open_envelope(tacit_site **out, const char *home, const char *text, size_t length,
                                      const tacit_site_callbacks *callbacks, tacit_site_asked *asked,
                                      tacit_error *error) {
    tacit_envelope_pair *envelopes = callbacks->envelopes;
    tacit_site *site = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_envelope_read(&envelopes->in, text, length, error));
    if (envelopes->in.address.kind == TACIT_ENVELOPE_INVITATION)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "the envelope holds an invitation: join with tacit envelope join FILE"));
    TACIT_CHECK(site_open_folder(&site, home, envelopes->in.address.study, error));
    site->callbacks = *callbacks;
    TACIT_CHECK(open_for_site(site, &envelopes->in, error));
    TACIT_CHECK(read_asked(site, &envelopes->in, asked, error));
    *out = site;
    site = NULL;
cleanup:
    tacit_site_free(site);
    return status;
}

/* Has the owner consented to the version in the envelope? Then there is nothing to ask any
 * more. */
static bool has_consented(const tacit_site *site) {
    return memcmp(site->callbacks.envelopes->in.address.version, site->study->hash,
                  sizeof site->study->hash) == 0 &&
           !site_is_adopting(site);
}

static tacit_status serve(tacit_site *site, tacit_site_result *result, tacit_error *error) {
    tacit_error said = TACIT_ERROR_INIT;
    tacit_status status = tacit_site_serve(site, result, &said);
    if (status == TACIT_CANCELLED && site->callbacks.envelopes->polled) return TACIT_OK; /* all is answered */
    return status == TACIT_OK ? TACIT_OK : tacit_fail(error, status, "%s", said.text);
}

tacit_status tacit_site_answer_envelope(tacit_site *site, tacit_site_result *result, tacit_buffer *text,
                                        tacit_error *error) {
    tacit_envelope_pair *envelopes = site->callbacks.envelopes;
    tacit_buffer box = TACIT_BUFFER_LIMITED(TACIT_ENVELOPE_KEY_BYTES);
    tacit_site_asked asked;
    tacit_status status, answered = TACIT_OK;
    *result = (tacit_site_result){ .model = TACIT_BUFFER_INIT };
    TACIT_CHECK(site_read_file(site, SITE_BOX_FILE, &box, error));
    if (box.length != TACIT_ENVELOPE_KEY_BYTES)
        TACIT_CHECK(
            tacit_fail(error, TACIT_CORRUPT, "%s/%s is damaged: join again", site->folder, SITE_BOX_FILE));
    TACIT_CHECK(read_asked(site, &envelopes->in, &asked, error));
    TACIT_CHECK(take_certificate(site, &envelopes->in, error));
    if (strcmp(asked.event, "amended") == 0 && has_consented(site)) {
        TACIT_CHECK(post_poll(site, error));
    } else {
        TACIT_CHECK(site_load_rows(site, error));
        answered = serve(site, result, error);
    }
    /* A refusal is told as well, and so is that the owner has withdrawn. */
    const bool answers = tacit_envelope_find(&envelopes->out, TACIT_ENDPOINT_ANSWER) != NULL;
    const bool refused = answered == TACIT_REFUSED && strcmp(asked.event, "question") == 0;
    if (strcmp(asked.event, "finished") != 0 &&
        tacit_envelope_find(&envelopes->out, TACIT_ENDPOINT_POLL) != NULL &&
        (answered == TACIT_OK || answers || refused))
        TACIT_CHECK(write_out(site, TACIT_ENVELOPE_ANSWER, box.bytes, text, error));
    status = answered;
cleanup:
    tacit_buffer_clear(&box);
    return status;
}

/* ---- for people ---- */

tacit_status tacit_site_words(const tacit_site *site, char own[TACIT_SITE_WORDS_SIZE],
                              char coordinator[TACIT_SITE_WORDS_SIZE], tacit_error *error) {
    uint8_t key[TACIT_SIGNING_KEY_BYTES], secret_key[crypto_sign_SECRETKEYBYTES];
    tacit_certificate_info info;
    _Static_assert((int)TACIT_SITE_WORDS_SIZE >= (int)TACIT_WORDS_SIZE, "words fit");
    TACIT_TRY(site_sum_key(site, key, secret_key, error));
    sodium_memzero(secret_key, sizeof secret_key);
    TACIT_TRY(tacit_certificate_inspect(&info, site->authority.bytes, site->authority.length, error));
    tacit_envelope_words(own, key, sizeof key);
    tacit_envelope_words(coordinator, info.fingerprint, strlen(info.fingerprint));
    return TACIT_OK;
}
