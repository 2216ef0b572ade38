/*
 * The arm of a party, drawn here (crypto/prf/arms.h). The secret key is made when the study is joined and
 * never leaves. A share is given to a closed list that has our key on it, to one list for each drawing, and
 * to TACIT_ARM_DRAWS_MOST in all: what was given is on the disk before it is sent. With everybody's shares
 * the arm is drawn, proved, and written down with the whole record; from then on it stays what it is,
 * whatever the coordinator says.
 */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "session/wire/wire.h"
#include "site/site_parts.h"
#include "study/people/arm_record.h"
#include "tacit.pb-c.h"

enum { REQUEST_MS = 60000, KEY = TACIT_VRF_KEY_BYTES, PROOF = TACIT_VRF_PROOF_BYTES };

/* A line of what was given: group, drawing, hash of the list. */
enum { GIVEN_LINE = 2 * TACIT_DIGEST_BYTES + 40, GIVEN_BYTES = GIVEN_LINE * (TACIT_ARM_DRAWS_MOST + 1) };

const char *site_arm_column(const tacit_site *site) {
    const tacit_study *study = site->study;
    return study != NULL && study->arms.count > 0 ? study->schema->columns[study->arms.column].name : NULL;
}

const char *site_arm_value(const tacit_site *site) {
    if (site_arm_column(site) == NULL) return NULL;
    return tacit_study_arm_name(site->study, site->has_arm ? site->arm : 0);
}

static tacit_status load_seed(const tacit_site *site, uint8_t out[TACIT_VRF_SEED_BYTES], tacit_error *error) {
    char path[PATH_MAX];
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(TACIT_VRF_SEED_BYTES);
    tacit_status status;
    TACIT_CHECK(site_path(site, SITE_ARM_KEY_FILE, path, error));
    if (!site_file_exists(site, SITE_ARM_KEY_FILE)) {
        randombytes_buf(out, TACIT_VRF_SEED_BYTES);
        TACIT_CHECK(tacit_file_write(path, out, TACIT_VRF_SEED_BYTES, 0600, error));
    }
    TACIT_CHECK(tacit_file_read(path, &bytes, error));
    if (bytes.length != TACIT_VRF_SEED_BYTES)
        TACIT_CHECK(
            tacit_fail(error, TACIT_CORRUPT, "%s is damaged: join again with a new invitation", path));
    memcpy(out, bytes.bytes, TACIT_VRF_SEED_BYTES);
cleanup:
    if (bytes.bytes != NULL) sodium_memzero(bytes.bytes, bytes.capacity);
    tacit_buffer_clear(&bytes);
    return status;
}

/* The record of a drawing must be of this study: its arms, its weights, the coordinator's key that was
 * consented to. */
static tacit_status check_record(const tacit_site *site, const tacit_arm_record *record, tacit_error *error) {
    tacit_arm_record expected;
    tacit_arm_record_begin(&expected, site->study);
    bool same = strcmp(record->study, expected.study) == 0 && record->arms == expected.arms &&
                memcmp(record->coordinator, expected.coordinator, KEY) == 0;
    for (size_t i = 0; same && i < record->arms; i++)
        same = record->weights[i] == expected.weights[i] && strcmp(record->names[i], expected.names[i]) == 0;
    if (same) return TACIT_OK;
    return tacit_fail(
        error, TACIT_REFUSED,
        "your arm of study '%s' was drawn among other arms than the study has now, and an arm is drawn once: "
        "ask the people who run the study to begin a new one",
        site->study->name);
}

tacit_status site_load_arm(tacit_site *site, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_ARM_RECORD_BYTES);
    tacit_arm_record record = { .arms = 0 };
    tacit_status status = TACIT_OK;
    site->has_arm = false;
    if (site_arm_column(site) == NULL || !site_file_exists(site, SITE_ARM_FILE)) return TACIT_OK;
    TACIT_CHECK(site_read_file(site, SITE_ARM_FILE, &text, error));
    TACIT_CHECK(tacit_arm_record_parse(&record, tacit_buffer_text(&text), text.length, SITE_ARM_FILE, error));
    TACIT_CHECK(check_record(site, &record, error));
    TACIT_CHECK(tacit_arm_record_verify(&record, error));
    site->arm = record.arm;
    site->has_arm = record.of_participant;
cleanup:
    tacit_arm_record_clear(&record);
    tacit_buffer_clear(&text);
    return status;
}

/* ---- giving a share ---- */

/* May a share be given to this list? The same one may be asked for again; another one of the same drawing
 * never. */
static tacit_status note_given(const tacit_site *site, const tacit_arm_list *list, tacit_error *error) {
    tacit_buffer given = TACIT_BUFFER_LIMITED(GIVEN_BYTES);
    uint8_t hash[TACIT_DIGEST_BYTES];
    char hex[2 * TACIT_DIGEST_BYTES + 1], line[GIVEN_LINE], begins[32], path[PATH_MAX];
    tacit_status status = TACIT_OK;
    size_t count = 0;
    tacit_arm_list_hash(hash, list);
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    snprintf(begins, sizeof begins, "%u %u ", list->group, list->draw);
    snprintf(line, sizeof line, "%s%s\n", begins, hex);
    if (site_file_exists(site, SITE_ARM_GIVEN_FILE))
        TACIT_CHECK(site_read_file(site, SITE_ARM_GIVEN_FILE, &given, error));
    const char *text = given.length > 0 ? tacit_buffer_text(&given) : "";
    if (strstr(text, line) != NULL) goto cleanup;
    for (const char *at = text; *at != 0; at += strcspn(at, "\n"), at += *at != 0, count++)
        if (strncmp(at, begins, strlen(begins)) == 0)
            TACIT_CHECK(tacit_fail(
                error, TACIT_REFUSED,
                "the coordinator shows two lists of one drawing of arms, and one was enough: nothing is "
                "given to the second. Tell the people who run study '%s'",
                list->study));
    if (count >= TACIT_ARM_DRAWS_MOST)
        TACIT_CHECK(tacit_fail(
            error, TACIT_REFUSED,
            "the arms of study '%s' were to be drawn %d times, and each time again is a chance to wait for "
            "a wanted one: we take part in no more",
            list->study, TACIT_ARM_DRAWS_MOST));
    TACIT_CHECK(tacit_buffer_append(&given, line, strlen(line), error));
    TACIT_CHECK(site_path(site, SITE_ARM_GIVEN_FILE, path, error));
    TACIT_CHECK(tacit_file_write(path, given.bytes, given.length, 0600, error));
cleanup:
    tacit_buffer_clear(&given);
    return status;
}

/* ---- asking ---- */

typedef struct arm_asking {
    uint8_t seed[TACIT_VRF_SEED_BYTES], key[KEY], share[PROOF];
    uint32_t draw; /* of the share; 0: none */
    tacit_arm_record record;
    bool complete;
    tacit_request_result result;
} arm_asking;

static tacit_status take_reply(const tacit_site *site, arm_asking *self, const Tacit__Wire__ArmReply *reply,
                               tacit_error *error) {
    tacit_arm_record_clear(&self->record);
    tacit_arm_record_begin(&self->record, site->study);
    self->complete = false;
    if (reply->group == 0) return TACIT_OK;
    if (reply->keys.len == 0 || reply->keys.len % KEY != 0)
        return tacit_fail(error, TACIT_PROTOCOL, "the list of arms has a part of a key");
    self->record.group = reply->group;
    self->record.draw = reply->draw;
    TACIT_TRY(tacit_buffer_append(&self->record.keys, reply->keys.data, reply->keys.len, error));
    const tacit_arm_list list = tacit_arm_record_list(&self->record);
    TACIT_TRY(tacit_arm_list_check(&list, error));
    if (tacit_arm_list_find(&list, self->key) == list.count)
        return tacit_fail(error, TACIT_PROTOCOL, "our key is not on the list of arms that came");
    if (reply->shares.len == 0) return TACIT_OK;
    if (reply->own.len != PROOF)
        return tacit_fail(error, TACIT_PROTOCOL, "the coordinator's share is missing");
    memcpy(self->record.own, reply->own.data, PROOF);
    TACIT_TRY(tacit_buffer_append(&self->record.shares, reply->shares.data, reply->shares.len, error));
    self->complete = true;
    return TACIT_OK;
}

static tacit_status ask_once(const tacit_site *site, tacit_carrier *carrier, arm_asking *self,
                             tacit_error *error) {
    Tacit__Wire__ArmRequest request = TACIT__WIRE__ARM_REQUEST__INIT;
    Tacit__Wire__ArmReply *reply = NULL;
    tacit_carried carried = { .reply = TACIT_BUFFER_LIMITED(TACIT_ARM_LIST_MOST * (KEY + PROOF) + 65536) };
    unsigned version;
    tacit_status status;
    request.key = (ProtobufCBinaryData){ KEY, self->key };
    request.draw = self->draw;
    if (self->draw > 0) request.share = (ProtobufCBinaryData){ PROOF, self->share };
    TACIT_CHECK(site_send(carrier, TACIT_ENDPOINT_ARM, &request, REQUEST_MS, &carried, error));
    self->result = carried.result;
    if (carried.result == TACIT_RESULT_LATER) goto cleanup;
    TACIT_CHECK(site_said_no(&carried, error));
    TACIT_CHECK(tacit_wire_hear((void **)&reply, &tacit__wire__arm_reply__descriptor, &carried.reply,
                                &version, error));
    TACIT_CHECK(take_reply(site, self, reply, error));
cleanup:
    tacit_wire_free(reply);
    tacit_buffer_clear(&carried.reply);
    return status;
}

static tacit_status keep_drawn(tacit_site *site, arm_asking *self, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    char path[PATH_MAX];
    tacit_status status;
    TACIT_CHECK(tacit_arm_record_prove(&self->record, self->seed, error));
    TACIT_CHECK(tacit_arm_record_print(&self->record, &text, error));
    TACIT_CHECK(site_path(site, SITE_ARM_FILE, path, error));
    TACIT_CHECK(tacit_file_write(path, text.bytes, text.length, 0600, error));
    site->arm = self->record.arm;
    site->has_arm = true;
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

tacit_status site_ask_arm(tacit_site *site, tacit_carrier *carrier, bool *drawn, bool *changed,
                          tacit_request_result *result, tacit_error *error) {
    arm_asking self = { .draw = 0 };
    tacit_status status;
    *changed = false;
    *result = TACIT_RESULT_DONE;
    *drawn = site_arm_column(site) == NULL || site->has_arm;
    if (*drawn) return TACIT_OK;
    if (!site->study->arms.has_key)
        return tacit_fail(error, TACIT_REFUSED,
                          "study '%s' has arms, and its definition has no key to draw them with",
                          site->study->name);
    TACIT_CHECK(load_seed(site, self.seed, error));
    tacit_vrf_public(self.key, self.seed);
    TACIT_CHECK(ask_once(site, carrier, &self, error));
    if (self.record.group > 0 && !self.complete) {
        const tacit_arm_list list = tacit_arm_record_list(&self.record);
        TACIT_CHECK(note_given(site, &list, error));
        TACIT_CHECK(tacit_arm_share(self.share, self.seed, &list, error));
        self.draw = list.draw;
        TACIT_CHECK(ask_once(site, carrier, &self, error));
    }
    if (self.complete) TACIT_CHECK(keep_drawn(site, &self, error));
    *drawn = *changed = self.complete;
    *result = self.result;
cleanup:
    tacit_arm_record_clear(&self.record);
    sodium_memzero(&self, sizeof self);
    return status;
}

/* The key of the arm is there from the day of joining: before the list is closed, and whatever serves later.
 * A coordinator that is not ready for it is asked again by whoever serves. */
tacit_status site_register_arm(tacit_site *site, tacit_error *error) {
    tacit_carrier *carrier = NULL;
    bool drawn, changed;
    tacit_request_result result;
    if (site_arm_column(site) == NULL) return TACIT_OK;
    tacit_status status = site_carrier(site, true, NULL, &carrier, error);
    if (status == TACIT_OK) status = site_ask_arm(site, carrier, &drawn, &changed, &result, error);
    if (status == TACIT_OK && changed) status = site_load_rows(site, error);
    tacit_carrier_free(carrier);
    return status;
}

/* ---- for the owner ---- */

tacit_status tacit_site_arm(const char *home, const char *study, tacit_site_arm_shown *out,
                            tacit_error *error) {
    tacit_site *site = NULL;
    tacit_status status;
    TACIT_CHECK(site_open_folder(&site, home, study, error));
    if (site_arm_column(site) == NULL)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "study '%s' has no arms", site->study->name));
    TACIT_CHECK(site_load_arm(site, error));
    snprintf(out->study, sizeof out->study, "%s", site->study->name);
    snprintf(out->arm, sizeof out->arm, "%s", site->has_arm ? site_arm_value(site) : "");
    TACIT_CHECK(site_path(site, SITE_ARM_FILE, out->path, error));
cleanup:
    tacit_site_free(site);
    return status;
}
