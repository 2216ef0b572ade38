/*
 * The coordinator's end of envelopes: for every site that has joined by one, the requests that it posted are
 * served as if it had connected, and what it would have heard is written to a file. What was done follows
 * from the files alone, so that a coordinator that is started again goes on where it was.
 */
#include <dirent.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "coordinator/coordinator_envelopes.h"
#include "net/clock.h"
#include "session/carrier/carrier_files.h"
#include "session/party.h"
#include "tacit.pb-c.h"

enum { LOOK_EVERY_MS = 300 };

/* One site of one study. */
typedef struct courier {
    coordinator *owner;
    const char *study;
    char key[ENVELOPES_KEY_TEXT];
    char party[TACIT_ID_SIZE];
    tacit_buffer joined;            /* the reply to its joining */
    tacit_envelope_address address; /* of what it is told next */
    char label[48];                 /* of that, in the file's name */
} courier;

static tacit_status path_of(const courier *self, const char *name, char out[PATH_MAX], tacit_error *error) {
    return envelopes_path(out, self->owner->settings.folder, self->study, name, error);
}

static bool is_there(const courier *self, const char *name) {
    char path[PATH_MAX];
    return path_of(self, name, path, NULL) == TACIT_OK && access(path, F_OK) == 0;
}

static tacit_status read_one(const courier *self, const char *name, tacit_buffer *out, tacit_error *error) {
    char path[PATH_MAX];
    TACIT_TRY(path_of(self, name, path, error));
    return tacit_file_read(path, out, error);
}

static tacit_status write_one(const courier *self, const char *name, const void *bytes, size_t length,
                              tacit_error *error) {
    char path[PATH_MAX];
    TACIT_TRY(path_of(self, name, path, error));
    return tacit_file_write(path, bytes, length, 0600, error);
}

/* Serve a request that the site has posted as a file; NULL: without a body. */
static tacit_status run(const courier *self, tacit_endpoint endpoint, const char *party, const char *name,
                        coordinator_reply *out, tacit_error *error) {
    tacit_buffer body = TACIT_BUFFER_LIMITED(TACIT_ENVELOPE_MOST);
    tacit_status status = name != NULL ? read_one(self, name, &body, error) : TACIT_OK;
    *out = (coordinator_reply){ .result = TACIT_RESULT_DONE };
    if (status == TACIT_OK) status = coordinator_serve(self->owner, endpoint, party, &body, out, error);
    tacit_buffer_clear(&body);
    return status;
}

/* ---- joining ---- */

static tacit_status know_party(courier *self, tacit_error *error) {
    Tacit__Wire__JoinReply *reply = NULL;
    unsigned version;
    TACIT_TRY(tacit_wire_hear((void **)&reply, &tacit__wire__join_reply__descriptor, &self->joined, &version,
                              error));
    snprintf(self->party, sizeof self->party, "%s", reply->party);
    tacit_wire_free(reply);
    return TACIT_OK;
}

static tacit_status join(courier *self, tacit_error *error) {
    char party[ENVELOPES_NAME_SIZE], body[ENVELOPES_NAME_SIZE];
    coordinator_reply reply = { .result = TACIT_RESULT_DONE };
    tacit_status status = TACIT_OK;
    envelopes_name(party, self->key, "party");
    envelopes_name(body, self->key, "join");
    if (!is_there(self, party)) {
        TACIT_CHECK(run(self, TACIT_ENDPOINT_JOIN, NULL, body, &reply, error));
        TACIT_CHECK(write_one(self, party, reply.bytes.bytes, reply.bytes.length, error));
    }
    TACIT_CHECK(read_one(self, party, &self->joined, error));
    TACIT_CHECK(know_party(self, error));
cleanup:
    tacit_buffer_clear(&reply.bytes);
    return status;
}

/* ---- what is told ---- */

/* Where the study is, for the outside of the envelope: the round and step of a question, or that it was
 * amended or has ended. */
static tacit_status address_of(courier *self, const coordinator_reply *said, bool *asks, tacit_error *error) {
    Tacit__Wire__PollReply *reply = NULL;
    tacit_received received = TACIT_RECEIVED_INIT;
    const hosted *host = coordinator_find(self->owner, self->study);
    unsigned version;
    tacit_status status;
    self->address = (tacit_envelope_address){ .kind = TACIT_ENVELOPE_QUESTION };
    snprintf(self->address.study, sizeof self->address.study, "%s", self->study);
    if (host != NULL) {
        memcpy(self->address.version, host->study->hash, sizeof self->address.version);
        memcpy(self->address.roster, host->roster, sizeof self->address.roster);
    }
    TACIT_CHECK(tacit_wire_hear((void **)&reply, &tacit__wire__poll_reply__descriptor, &said->bytes, &version,
                                error));
    *asks = reply->event_case == TACIT__WIRE__POLL_REPLY__EVENT_QUESTION;
    if (*asks) {
        TACIT_CHECK(tacit_question_decode(&received, reply->question.data, reply->question.len, error));
        const tacit_question *question = &received.question;
        const char *step = host != NULL ? tacit_question_step(&host->study->plan, question) : NULL;
        self->address.round = question->round;
        self->address.step = question->kind == TACIT_ROUND_SECURE ? question->masked->step : 0;
        snprintf(self->label, sizeof self->label, "round-%llu%s%s", (unsigned long long)question->round + 1,
                 step != NULL ? "." : "", step != NULL ? step : "");
    } else {
        char hex[9];
        if (reply->event_case == TACIT__WIRE__POLL_REPLY__EVENT_AMENDED) /* nobody may host it yet */
            crypto_generichash(self->address.version, sizeof self->address.version,
                               (const uint8_t *)reply->amended->definition,
                               strlen(reply->amended->definition), NULL, 0);
        sodium_bin2hex(hex, sizeof hex, self->address.version, 4);
        snprintf(self->label, sizeof self->label, "%s.%s",
                 reply->event_case == TACIT__WIRE__POLL_REPLY__EVENT_AMENDED ? "amended" : "end", hex);
    }
cleanup:
    tacit_received_clear(&received);
    tacit_wire_free(reply);
    return status;
}

static tacit_status enclose(const courier *self, tacit_endpoint endpoint, tacit_envelope *out,
                            tacit_error *error) {
    coordinator_reply reply = { .result = TACIT_RESULT_DONE };
    tacit_status status;
    TACIT_CHECK(run(self, endpoint, self->party, NULL, &reply, error));
    const tacit_buffer *bytes = reply.lent != NULL ? reply.lent : &reply.bytes;
    TACIT_CHECK(tacit_envelope_put(out, endpoint, bytes->bytes, bytes->length, error));
cleanup:
    tacit_buffer_clear(&reply.bytes);
    return status;
}

static tacit_status write_envelope(courier *self, const envelopes_key *key, const coordinator_reply *said,
                                   const char *file, tacit_error *error) {
    tacit_envelope envelope = { .address = self->address };
    tacit_buffer text = TACIT_BUFFER_INIT;
    const hosted *host = coordinator_find(self->owner, self->study);
    const tacit_envelope_sender sender = { .authority = coordinator_signer(self->owner),
                                           .seed = key->secret };
    size_t length = 0;
    tacit_status status;
    sodium_hex2bin(envelope.address.party, sizeof envelope.address.party, self->key, strlen(self->key), NULL,
                   &length, NULL);
    TACIT_CHECK(tacit_envelope_box_key(envelope.address.receiver, envelope.address.party, error));
    TACIT_CHECK(
        tacit_envelope_put(&envelope, TACIT_ENDPOINT_JOIN, self->joined.bytes, self->joined.length, error));
    TACIT_CHECK(enclose(self, TACIT_ENDPOINT_AUTHORITY, &envelope, error));
    if (host != NULL && host->study->point_count > 0 && !said->is_end)
        TACIT_CHECK(enclose(self, TACIT_ENDPOINT_POINTS, &envelope, error));
    TACIT_CHECK(
        tacit_envelope_put(&envelope, TACIT_ENDPOINT_POLL, said->bytes.bytes, said->bytes.length, error));
    TACIT_CHECK(tacit_envelope_write(&envelope, &sender, &text, error));
    TACIT_CHECK(write_one(self, file, text.bytes, text.length, error));
    char shown[COORDINATOR_SHOWN_SIZE];
    coordinator_news(self->owner, "study %s: an envelope for %s is in %s/%s/%s", self->study,
                     coordinator_shown(self->owner, self->party, shown), ENVELOPES_FOLDER, self->study, file);
cleanup:
    tacit_buffer_clear(&text);
    tacit_envelope_clear(&envelope);
    return status;
}

/* An answer that the board does not take counts for nothing, and the site may send another. */
static tacit_status hand_in(courier *self, const char *name, tacit_error *error) {
    coordinator_reply reply;
    tacit_error why = TACIT_ERROR_INIT;
    char path[PATH_MAX], shown[COORDINATOR_SHOWN_SIZE];
    tacit_status status = run(self, TACIT_ENDPOINT_ANSWER, self->party, name, &reply, &why);
    tacit_buffer_clear(&reply.bytes);
    if (status == TACIT_OK) return TACIT_OK;
    TACIT_TRY(path_of(self, name, path, error));
    unlink(path);
    coordinator_warn(self->owner, self->party, "study %s: the answer of %s was not taken: %s", self->study,
                     coordinator_shown(self->owner, self->party, shown), why.text);
    return TACIT_OK;
}

/* Answers are of no use any more once the study has ended. */
static void forget_answers(const courier *self) {
    char path[PATH_MAX];
    if (path_of(self, "", path, NULL) != TACIT_OK) return;
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        const char *name = entry->d_name, *end = strrchr(name, '.');
        if (name[0] == '.' && strncmp(name + 1, self->key, strlen(self->key)) == 0 &&
            strcmp(end, ".answer") == 0 && path_of(self, name, path, NULL) == TACIT_OK)
            unlink(path);
    }
    if (folder != NULL) closedir(folder);
}

/* Say what there is to say, once; then hand in what the site has answered to it. */
static tacit_status hand_over(courier *self, const envelopes_key *key, const coordinator_reply *said,
                              tacit_error *error) {
    char file[ENVELOPES_NAME_SIZE], asked[ENVELOPES_NAME_SIZE], given[ENVELOPES_NAME_SIZE];
    bool asks = false;
    TACIT_TRY(address_of(self, said, &asks, error));
    char version[9];
    sodium_bin2hex(version, sizeof version, self->address.version, 4);
    snprintf(file, sizeof file, "%s.%s%s%s.tacit", self->party, asks ? version : "", asks ? "." : "",
             self->label);
    envelopes_asked_name(asked, self->key, &self->address, "asked");
    envelopes_asked_name(given, self->key, &self->address, "answer");
    /* What was asked comes before the question, so that an answer can be taken while no coordinator runs. */
    if (asks && !is_there(self, asked))
        TACIT_TRY(write_one(self, asked, self->address.roster, sizeof self->address.roster, error));
    if (!is_there(self, file)) TACIT_TRY(write_envelope(self, key, said, file, error));
    if (said->is_end) {
        coordinator_told_end(self->owner, self->study, self->party);
        forget_answers(self);
    }
    return asks && is_there(self, given) ? hand_in(self, given, error) : TACIT_OK;
}

/* ---- all of them ---- */

static tacit_status serve_site(courier *self, const envelopes_key *key, tacit_error *error) {
    coordinator_reply said = { .result = TACIT_RESULT_NOTHING };
    char poll[ENVELOPES_NAME_SIZE];
    tacit_status status;
    TACIT_CHECK(join(self, error));
    envelopes_name(poll, self->key, "poll");
    TACIT_CHECK(run(self, TACIT_ENDPOINT_POLL, self->party, poll, &said, error));
    if (said.result == TACIT_RESULT_DONE) TACIT_CHECK(hand_over(self, key, &said, error));
cleanup:
    tacit_buffer_clear(&said.bytes);
    return status;
}

/* Trouble is told once, and remembered beside what caused it; posting again removes it. */
static void tend_site(coordinator *self, const char *study, const char *key_text, const envelopes_key *key) {
    courier site = { .owner = self, .study = study };
    tacit_error error = TACIT_ERROR_INIT;
    char refused[ENVELOPES_NAME_SIZE];
    snprintf(site.key, sizeof site.key, "%s", key_text);
    envelopes_name(refused, site.key, "refused");
    if (is_there(&site, refused)) return;
    tacit_status status = serve_site(&site, key, &error);
    if (status != TACIT_OK && site.party[0] == 0 && status != TACIT_IO && status != TACIT_NO_MEMORY) {
        (void)write_one(&site, refused, error.text, strlen(error.text), NULL);
        coordinator_warn(self, NULL, "study %s: a site that joins by an envelope is refused: %s", study,
                         error.text);
    } else if (status != TACIT_OK && status != TACIT_NOT_FOUND) {
        coordinator_warn(self, site.party, "study %s: an envelope could not be dealt with: %s", study,
                         error.text);
    }
    tacit_buffer_clear(&site.joined);
}

static int is_poll(const struct dirent *entry) {
    const char *end = strrchr(entry->d_name, '.');
    return entry->d_name[0] == '.' && end != NULL && strcmp(end, ".poll") == 0 &&
           end - entry->d_name == ENVELOPES_KEY_TEXT;
}

static void tend_folder(coordinator *self, const char *study, const char *path, const envelopes_key *key) {
    struct dirent **found = NULL;
    char text[ENVELOPES_KEY_TEXT];
    int count = scandir(path, &found, is_poll, alphasort);
    for (int i = 0; i < count; i++) {
        memcpy(text, found[i]->d_name + 1, sizeof text - 1);
        text[sizeof text - 1] = 0;
        tend_site(self, study, text, key);
        free(found[i]);
    }
    free(found);
}

void coordinator_tend_envelopes(coordinator *self) {
    char all[PATH_MAX], one[PATH_MAX];
    envelopes_key key;
    DIR *folder = NULL;
    const int64_t now = tacit_clock_monotonic_ms();
    if (now - self->envelopes_at < LOOK_EVERY_MS) return;
    self->envelopes_at = now;
    if (tacit_path_join(all, sizeof all, self->settings.folder, ENVELOPES_FOLDER, NULL) != TACIT_OK ||
        (folder = opendir(all)) == NULL)
        return;
    if (envelopes_load_key(&key, self->settings.folder, false, NULL) == TACIT_OK)
        for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
            if (entry->d_name[0] != '.' && strlen(entry->d_name) < TACIT_ID_SIZE &&
                tacit_path_join(one, sizeof one, all, entry->d_name, NULL) == TACIT_OK)
                tend_folder(self, entry->d_name, one, &key);
    sodium_memzero(&key, sizeof key);
    closedir(folder);
}
