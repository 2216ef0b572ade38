/* Envelopes made and taken in the coordinator's folder, whether it serves or not. */
#include "coordinator/coordinator_envelopes.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "net/clock.h"
#include "session/carrier/carrier_files.h"
#include "tacit.pb-c.h"

#define KEY_NAME "envelope.key"

tacit_status envelopes_load_key(envelopes_key *out, const char *folder, bool make, tacit_error *error) {
    char path[PATH_MAX];
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(sizeof out->secret);
    tacit_status status;
    TACIT_CHECK(tacit_path_join(path, sizeof path, folder, KEY_NAME, error));
    if (access(path, F_OK) != 0) {
        if (!make)
            TACIT_CHECK(tacit_fail(error, TACIT_NOT_FOUND,
                                   "no site was invited by an envelope yet (tacit envelope invite)"));
        randombytes_buf(out->secret, sizeof out->secret);
        TACIT_CHECK(tacit_file_write(path, out->secret, sizeof out->secret, 0600, error));
    }
    TACIT_CHECK(tacit_file_read(path, &bytes, error));
    if (bytes.length != sizeof out->secret)
        TACIT_CHECK(tacit_fail(error, TACIT_CORRUPT, "%s is damaged: sites must be invited again", path));
    memcpy(out->secret, bytes.bytes, sizeof out->secret);
    crypto_scalarmult_base(out->shown, out->secret);
cleanup:
    if (bytes.bytes != NULL) sodium_memzero(bytes.bytes, bytes.capacity);
    tacit_buffer_clear(&bytes);
    return status;
}

tacit_status envelopes_path(char out[PATH_MAX], const char *folder, const char *study, const char *name,
                            tacit_error *error) {
    char all[PATH_MAX], one[PATH_MAX];
    TACIT_TRY(tacit_path_join(all, sizeof all, folder, ENVELOPES_FOLDER, error));
    if (name == NULL) return tacit_path_join(out, PATH_MAX, all, study, error);
    TACIT_TRY(tacit_path_join(one, sizeof one, all, study, error));
    return tacit_path_join(out, PATH_MAX, one, name, error);
}

void envelopes_name(char out[ENVELOPES_NAME_SIZE], const char *key, const char *kind) {
    snprintf(out, ENVELOPES_NAME_SIZE, ".%s.%s", key, kind);
}

void envelopes_asked_name(char out[ENVELOPES_NAME_SIZE], const char *key,
                          const tacit_envelope_address *address, const char *kind) {
    char version[17];
    sodium_bin2hex(version, sizeof version, address->version, 8);
    snprintf(out, ENVELOPES_NAME_SIZE, ".%s.%s.%llu.%lu.%s", key, version, (unsigned long long)address->round,
             (unsigned long)address->step, kind);
}

/* ---- inviting ---- */

/* What a coordinator that is asked says of the study behind an invitation. */
static tacit_status put_look(tacit_envelope *envelope, tacit_registry *registry,
                             const tacit_authority *signer, const char *study, tacit_error *error) {
    Tacit__Wire__LookReply reply = TACIT__WIRE__LOOK_REPLY__INIT;
    tacit_buffer definition = TACIT_BUFFER_INIT, signature = TACIT_BUFFER_INIT, bytes = TACIT_BUFFER_INIT;
    tacit_study *read = NULL;
    tacit_study_record record;
    char name[TACIT_ID_SIZE];
    tacit_status status;
    TACIT_CHECK(tacit_registry_study(registry, study, &record, &definition, error));
    TACIT_CHECK(tacit_study_parse(&read, tacit_buffer_text(&definition), definition.length, study, error));
    if (!read->by_files)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "study '%s' needs connections: write transport: files in its definition, and "
                               "amend it (tacit study amend)",
                               study));
    memcpy(envelope->address.version, read->hash, sizeof envelope->address.version);
    TACIT_CHECK(tacit_authority_sign(&signature, signer, TACIT_STUDY_PURPOSE, definition.bytes,
                                     definition.length, error));
    TACIT_CHECK(tacit_registry_get(registry, "name", name, sizeof name, error));
    reply.study = record.name;
    reply.coordinator = name;
    reply.definition = (char *)definition.bytes;
    reply.signature = (ProtobufCBinaryData){ signature.length, signature.bytes };
    TACIT_CHECK(tacit_wire_say(&bytes, &reply, 0, error));
    TACIT_CHECK(tacit_envelope_put(envelope, TACIT_ENDPOINT_LOOK, bytes.bytes, bytes.length, error));
cleanup:
    tacit_study_free(read);
    tacit_buffer_clear(&definition);
    tacit_buffer_clear(&signature);
    tacit_buffer_clear(&bytes);
    return status;
}

tacit_status tacit_coordinator_invite_envelope(const char *folder, const char *study, int64_t expires,
                                               const char *called, tacit_buffer *text,
                                               char words[TACIT_COORDINATOR_WORDS_SIZE], tacit_error *error) {
    tacit_registry *registry = NULL;
    tacit_authority_keys *keys = NULL;
    tacit_envelope envelope = { .address = { .kind = TACIT_ENVELOPE_INVITATION } };
    tacit_buffer line = TACIT_BUFFER_INIT;
    envelopes_key key;
    tacit_status status;
    TACIT_CHECK(tacit_registry_open(&registry, folder, false, error));
    TACIT_CHECK(tacit_authority_keys_load(&keys, folder, tacit_clock_wall_seconds(), error));
    TACIT_CHECK(put_look(&envelope, registry, keys->shown, study, error));
    TACIT_CHECK(envelopes_load_key(&key, folder, true, error));
    TACIT_CHECK(tacit_coordinator_invite(folder, study, TACIT_FILES_ADDRESS, expires, called, &line, error));
    snprintf(envelope.address.study, sizeof envelope.address.study, "%s", study);
    TACIT_CHECK(tacit_envelope_put(&envelope, TACIT_ENCLOSED_INVITATION, line.bytes, line.length, error));
    TACIT_CHECK(tacit_envelope_put(&envelope, TACIT_ENCLOSED_BOX_KEY, key.shown, sizeof key.shown, error));
    TACIT_CHECK(tacit_envelope_put(&envelope, TACIT_ENDPOINT_AUTHORITY, keys->chain.text.bytes,
                                   keys->chain.text.length, error));
    const tacit_envelope_sender sender = { .authority = keys->present, .seed = key.secret };
    TACIT_CHECK(tacit_envelope_write(&envelope, &sender, text, error));
    const char *fingerprint = tacit_authority_info(keys->present)->fingerprint;
    tacit_envelope_words(words, fingerprint, strlen(fingerprint));
cleanup:
    if (line.bytes != NULL) sodium_memzero(line.bytes, line.capacity);
    tacit_buffer_clear(&line);
    sodium_memzero(&key, sizeof key);
    tacit_envelope_clear(&envelope);
    tacit_authority_keys_free(keys);
    tacit_registry_close(registry);
    return status;
}

/* ---- taking ---- */

/* One that is read, checked and open, and where what is in it goes. */
typedef struct taking {
    const char *folder;
    tacit_envelope envelope;
    char key[ENVELOPES_KEY_TEXT];
} taking;

static bool is_there(const taking *self, const char *name) {
    char path[PATH_MAX];
    return envelopes_path(path, self->folder, self->envelope.address.study, name, NULL) == TACIT_OK &&
           access(path, F_OK) == 0;
}

static tacit_status keep(const taking *self, const char *name, const tacit_buffer *bytes,
                         tacit_error *error) {
    char path[PATH_MAX];
    TACIT_TRY(envelopes_path(path, self->folder, self->envelope.address.study, name, error));
    return tacit_file_write(path, bytes->bytes, bytes->length, 0600, error);
}

static tacit_status keep_poll(const taking *self, tacit_error *error) {
    const tacit_buffer *poll = tacit_envelope_find(&self->envelope, TACIT_ENDPOINT_POLL);
    char name[ENVELOPES_NAME_SIZE];
    if (poll == NULL)
        return tacit_fail(error, TACIT_REFUSED, "the envelope does not say what its owner consents to");
    envelopes_name(name, self->key, "poll");
    return keep(self, name, poll, error);
}

static tacit_status take_joining(const taking *self, tacit_error *error) {
    const tacit_buffer *join = tacit_envelope_find(&self->envelope, TACIT_ENDPOINT_JOIN);
    char name[ENVELOPES_NAME_SIZE], path[PATH_MAX];
    if (join == NULL) return tacit_fail(error, TACIT_REFUSED, "the envelope joins nothing");
    envelopes_name(name, self->key, "party");
    if (is_there(self, name))
        return tacit_fail(error, TACIT_REFUSED, "this site has joined study '%s' before: nothing has changed",
                          self->envelope.address.study);
    TACIT_TRY(envelopes_path(path, self->folder, self->envelope.address.study, NULL, error));
    TACIT_TRY(tacit_folder_make(path, error));
    envelopes_name(name, self->key, "refused");
    TACIT_TRY(envelopes_path(path, self->folder, self->envelope.address.study, name, error));
    envelopes_name(name, self->key, "join");
    TACIT_TRY(keep(self, name, join, error));
    TACIT_TRY(keep_poll(self, error)); /* from here on it is worked on */
    unlink(path);
    return TACIT_OK;
}

/* The envelope answers a question that this site was sent, and is the first that does; again is none. */
static tacit_status take_answer(const taking *self, tacit_error *error) {
    const tacit_envelope_address *address = &self->envelope.address;
    const tacit_buffer *answer = tacit_envelope_find(&self->envelope, TACIT_ENDPOINT_ANSWER);
    char asked[ENVELOPES_NAME_SIZE], given[ENVELOPES_NAME_SIZE];
    const unsigned long long round = (unsigned long long)address->round + 1;
    envelopes_asked_name(asked, self->key, address, "asked");
    envelopes_asked_name(given, self->key, address, "answer");
    if (answer != NULL && !is_there(self, asked))
        return tacit_fail(error, TACIT_REFUSED,
                          "this site was asked nothing in round %llu of this version of study '%s'", round,
                          address->study);
    if (answer != NULL && is_there(self, given))
        return tacit_fail(error, TACIT_REFUSED,
                          "an answer of this site in round %llu was taken before: nothing has changed",
                          round);
    if (answer != NULL) TACIT_TRY(keep(self, given, answer, error));
    return keep_poll(self, error);
}

/* The roster that the questions of this version had: the address of an answer repeats it. */
static tacit_status check_roster(const taking *self, tacit_error *error) {
    const tacit_envelope_address *address = &self->envelope.address;
    tacit_buffer roster = TACIT_BUFFER_LIMITED(TACIT_DIGEST_BYTES);
    char name[ENVELOPES_NAME_SIZE], path[PATH_MAX];
    tacit_status status = TACIT_OK;
    envelopes_asked_name(name, self->key, address, "asked");
    if (!is_there(self, name)) return TACIT_OK;
    TACIT_CHECK(envelopes_path(path, self->folder, address->study, name, error));
    TACIT_CHECK(tacit_file_read(path, &roster, error));
    const tacit_envelope_expected expected = { .kind = TACIT_ENVELOPE_ANSWER, .roster = roster.bytes };
    if (roster.length == TACIT_DIGEST_BYTES)
        TACIT_CHECK(tacit_envelope_expect(&self->envelope, &expected, error));
cleanup:
    tacit_buffer_clear(&roster);
    return status;
}

static tacit_status check_study(const taking *self, tacit_error *error) {
    tacit_registry *registry = NULL;
    tacit_study_record record;
    tacit_buffer definition = TACIT_BUFFER_INIT;
    uint8_t hash[TACIT_HASH_BYTES];
    tacit_status status;
    TACIT_CHECK(tacit_registry_open(&registry, self->folder, false, error));
    TACIT_CHECK(tacit_registry_study(registry, self->envelope.address.study, &record, &definition, error));
    if (record.state >= TACIT_STUDY_DONE && record.state != TACIT_STUDY_FAILED)
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED, "study '%s' is %s: nothing more is taken", record.name,
                               tacit_study_state_name(record.state)));
    crypto_generichash(hash, sizeof hash, definition.bytes, definition.length, NULL, 0);
    const tacit_envelope_expected expected = { .kind = self->envelope.address.kind,
                                               .study = record.name,
                                               .version = hash };
    TACIT_CHECK(tacit_envelope_expect(&self->envelope, &expected, error));
cleanup:
    tacit_buffer_clear(&definition);
    tacit_registry_close(registry);
    return status;
}

tacit_status tacit_coordinator_take(const char *folder, const char *text, size_t length, tacit_taken *out,
                                    tacit_error *error) {
    taking self = { .folder = folder, .envelope = TACIT_ENVELOPE_INIT };
    const tacit_envelope_address *address = &self.envelope.address;
    envelopes_key key;
    tacit_status status;
    TACIT_CHECK(envelopes_load_key(&key, folder, false, error));
    TACIT_CHECK(tacit_envelope_read(&self.envelope, text, length, error));
    TACIT_CHECK(tacit_envelope_check_party(&self.envelope, error));
    TACIT_CHECK(tacit_envelope_open(&self.envelope, key.shown, key.secret, error));
    TACIT_CHECK(check_study(&self, error));
    sodium_bin2hex(self.key, sizeof self.key, address->party, sizeof address->party);
    *out = (tacit_taken){ .joins = address->kind == TACIT_ENVELOPE_JOIN, .round = address->round };
    snprintf(out->study, sizeof out->study, "%s", address->study);
    tacit_envelope_words(out->words, address->party, sizeof address->party);
    if (out->joins) {
        TACIT_CHECK(take_joining(&self, error));
    } else {
        TACIT_CHECK(check_roster(&self, error));
        TACIT_CHECK(take_answer(&self, error));
    }
cleanup:
    sodium_memzero(&key, sizeof key);
    tacit_envelope_clear(&self.envelope);
    return status;
}
