/*
 * What a coordinator does for people beside asking: it keeps the list of arms and gives its share in their
 * drawing (crypto/prf/arms.h), gives receipts (crypto/prf/voprf.h) and redeems them, and keeps sealed contact
 * details.
 */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "coordinator/coordinator_parts.h"
#include "net/clock.h"
#include "study/people/arm_record.h"
#include "study/people/receipt.h"
#include "tacit.pb-c.h"

/* ---- keys ---- */

typedef struct people_keys {
    uint8_t arm_seed[TACIT_VRF_SEED_BYTES], receipt_secret[TACIT_VOPRF_KEY_BYTES];
    uint8_t arm_key[TACIT_VRF_KEY_BYTES];
    tacit_voprf_element receipt_key;
} people_keys;

/* Linked into place: of two who make it at once the first one's counts, for both. */
static tacit_status make_secret(const char *path, tacit_error *error) {
    char temporary[PATH_MAX];
    uint8_t secret[32];
    int needed = snprintf(temporary, sizeof temporary, "%s.new-%d", path, (int)getpid());
    if (needed < 0 || (size_t)needed >= sizeof temporary)
        return tacit_fail(error, TACIT_LIMIT, "path too long: %s", path);
    randombytes_buf(secret, sizeof secret);
    tacit_status status = tacit_file_write(temporary, secret, sizeof secret, 0600, error);
    sodium_memzero(secret, sizeof secret);
    if (status != TACIT_OK) return status;
    if (link(temporary, path) != 0 && errno != EEXIST) status = tacit_fail_errno(error, "creating", path);
    unlink(temporary);
    return status == TACIT_OK ? tacit_folder_sync_of(path, error) : status;
}

static tacit_status load_secret(uint8_t out[32], const char *folder, bool make, tacit_error *error) {
    char path[PATH_MAX];
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(32);
    tacit_status status;
    TACIT_CHECK(tacit_path_join(path, sizeof path, folder, TACIT_PEOPLE_KEY_FILE, error));
    if (make && access(path, F_OK) != 0) TACIT_CHECK(make_secret(path, error));
    TACIT_CHECK(tacit_file_read(path, &bytes, error));
    if (bytes.length != 32)
        TACIT_CHECK(tacit_fail(error, TACIT_CORRUPT, "%s is damaged: restore it from a backup", path));
    memcpy(out, bytes.bytes, 32);
cleanup:
    if (bytes.bytes != NULL) sodium_memzero(bytes.bytes, bytes.capacity);
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status derive_keys(people_keys *out, const char *folder, const char *study, bool make,
                                tacit_error *error) {
    uint8_t secret[32];
    char info[TACIT_ID_SIZE + 32];
    tacit_digest digest;
    TACIT_TRY(load_secret(secret, folder, make, error));
    tacit_digest_begin(&digest, "tacit arms key 1", secret);
    tacit_digest_text(&digest, study);
    tacit_digest_end(&digest, out->arm_seed);
    tacit_vrf_public(out->arm_key, out->arm_seed);
    snprintf(info, sizeof info, "tacit receipts 1 %s", study);
    tacit_status status = tacit_voprf_derive(out->receipt_secret, &out->receipt_key, secret, info, error);
    sodium_memzero(secret, sizeof secret);
    return status;
}

/* The keys of a study, which must be those of its definition: with others, devices would refuse what they are
 * given, and the desk good receipts. */
static tacit_status load_keys(people_keys *out, const char *folder, const tacit_study *study,
                              tacit_error *error) {
    TACIT_TRY(derive_keys(out, folder, study->name, false, error));
    if ((!study->arms.has_key || memcmp(out->arm_key, study->arms.key, sizeof out->arm_key) == 0) &&
        (!study->has_receipts ||
         memcmp(out->receipt_key.bytes, study->receipt_key, sizeof study->receipt_key) == 0))
        return TACIT_OK;
    sodium_memzero(out, sizeof *out);
    return tacit_fail(error, TACIT_CORRUPT,
                      "%s/" TACIT_PEOPLE_KEY_FILE
                      " is not the one that study '%s' was made with: restore it from a backup",
                      folder, study->name);
}

tacit_status tacit_coordinator_settle_keys(const char *folder, tacit_study *study, tacit_error *error) {
    people_keys keys;
    if (study->arms.count == 0 && study->compensation[0] == 0) return TACIT_OK;
    TACIT_TRY(derive_keys(&keys, folder, study->name, true, error));
    tacit_status status = tacit_study_set_keys(study, keys.arm_key, &keys.receipt_key, error);
    sodium_memzero(&keys, sizeof keys);
    return status;
}

/* ---- arms ---- */

static tacit_arm_list list_of(const tacit_study *study, const tacit_arm_group *group) {
    return (tacit_arm_list){ study->name, study->arms.key,   group->group,
                             group->draw, group->keys.bytes, group->count };
}

/* Everybody who is to take part has registered: the list is closed by itself. Later ones are closed by
 * people. */
tacit_status coordinator_tend_arms(coordinator *self, hosted *host, const tacit_study_record *record,
                                   bool *due, tacit_error *error) {
    const tacit_study *study = host->study;
    tacit_arm_standing standing;
    uint32_t group = 0;
    if (study->arms.count == 0) return TACIT_OK;
    TACIT_TRY(tacit_registry_arm_standing(self->registry, study->name, &standing, error));
    if (standing.stamp != host->arms_stamp) coordinator_wake(self, study->name);
    host->arms_stamp = standing.stamp;
    if (record->joined >= study->plan.parties && standing.unregistered == 0 && standing.ungrouped > 0 &&
        standing.open == 0) {
        TACIT_TRY(tacit_registry_arm_close(self->registry, study->name, false, &group, error));
        coordinator_news(self, "study %s: the list of group %u is closed, and its arms are being drawn",
                         study->name, group);
        coordinator_wake(self, study->name);
    }
    if (record->state == TACIT_STUDY_RUNNING) return TACIT_OK; /* who takes part is settled */
    *due = *due && standing.unregistered == 0 && standing.ungrouped == 0 && standing.open == 0;
    return TACIT_OK;
}

bool coordinator_arm_is_due(coordinator *self, const hosted *host, const char *party) {
    bool due = false;
    return host->study->arms.count > 0 &&
           tacit_registry_arm_is_due(self->registry, party, &due, NULL) == TACIT_OK && due;
}

/* A share counts for the list as it is, and by the party's own key. */
static tacit_status take_share(coordinator *self, const tacit_study *study, const char *party,
                               const Tacit__Wire__ArmRequest *request, const tacit_arm_group *group,
                               tacit_error *error) {
    bool complete = false;
    if (request->share.len == 0 || group->group == 0 || request->draw != group->draw) return TACIT_OK;
    if (group->shared == group->count) return TACIT_OK; /* drawn: nothing changes, and nobody is woken */
    const tacit_arm_list list = list_of(study, group);
    if (request->share.len != TACIT_VRF_PROOF_BYTES)
        return tacit_fail(error, TACIT_PROTOCOL, "a share has the wrong length");
    TACIT_TRY(tacit_arm_share_check(request->key.data, &list, request->share.data, error));
    TACIT_TRY(tacit_registry_arm_share(self->registry, party, group->group, group->draw, request->share.data,
                                       &complete, error));
    if (!complete)
        coordinator_mention(self, NULL, "study %s: %zu of %zu shares in the arms of group %u are there",
                            study->name, group->shared + 1, group->count, group->group);
    if (!complete) return TACIT_OK;
    coordinator_news(self, "study %s: the arms of group %u are drawn, in drawing %u", study->name,
                     group->group, group->draw);
    coordinator_wake(self, study->name);
    coordinator_wake_loop(self);
    return TACIT_OK;
}

static tacit_status reply_arm(coordinator *self, const tacit_study *study, const char *party,
                              const tacit_arm_group *group, unsigned version, tacit_buffer *out,
                              tacit_error *error) {
    Tacit__Wire__ArmReply reply = TACIT__WIRE__ARM_REPLY__INIT;
    uint8_t own[TACIT_VRF_PROOF_BYTES];
    people_keys keys;
    reply.group = group->group;
    reply.draw = group->draw;
    reply.keys = (ProtobufCBinaryData){ group->keys.length, group->keys.bytes };
    if (group->count > 0 && group->shared == group->count) {
        const tacit_arm_list list = list_of(study, group);
        TACIT_TRY(load_keys(&keys, self->settings.folder, study, error));
        tacit_status status = tacit_arm_share(own, keys.arm_seed, &list, error);
        sodium_memzero(&keys, sizeof keys);
        if (status != TACIT_OK) return status;
        reply.shares = (ProtobufCBinaryData){ group->shares.length, group->shares.bytes };
        reply.own = (ProtobufCBinaryData){ sizeof own, own };
        TACIT_TRY(tacit_registry_arm_told(self->registry, party, error));
    }
    return tacit_wire_say(out, &reply, version, error);
}

tacit_status coordinator_arm(coordinator *self, const char *party, const tacit_buffer *body,
                             coordinator_reply *out, tacit_error *error) {
    Tacit__Wire__ArmRequest *request = NULL;
    tacit_arm_group group = { .group = 0 };
    unsigned version;
    tacit_status status;
    TACIT_CHECK(
        tacit_wire_hear((void **)&request, &tacit__wire__arm_request__descriptor, body, &version, error));
    TACIT_CHECK(tacit_registry_party_study(self->registry, party, out->study, error));
    hosted *host = coordinator_find(self, out->study);
    if (host == NULL) { /* added a moment ago, paused, or ended */
        out->result = TACIT_RESULT_LATER;
        TACIT_CHECK(tacit_buffer_print(&out->bytes, error, "the study is not served now"));
        goto cleanup;
    }
    if (host->study->arms.count == 0)
        TACIT_CHECK(tacit_fail(error, TACIT_NOT_FOUND, "study '%s' has no arms", out->study));
    if (request->key.len != TACIT_VRF_KEY_BYTES || !tacit_vrf_key_is_valid(request->key.data))
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "the key of the arm is none"));
    TACIT_CHECK(tacit_registry_arm_register(self->registry, party, out->study, request->key.data, error));
    TACIT_CHECK(tacit_registry_arm_of_party(self->registry, party, &group, error));
    TACIT_CHECK(take_share(self, host->study, party, request, &group, error));
    TACIT_CHECK(tacit_registry_arm_of_party(self->registry, party, &group, error));
    TACIT_CHECK(reply_arm(self, host->study, party, &group, version, &out->bytes, error));
    coordinator_wake_loop(self);
cleanup:
    tacit_arm_group_clear(&group);
    tacit_wire_free(request);
    return status;
}

/* The record of a group as the registry has it. */
static tacit_status fill_record(tacit_arm_record *record, const tacit_study *study, tacit_arm_group *group,
                                const people_keys *keys, tacit_error *error) {
    const tacit_arm_list list = list_of(study, group);
    if (group->count == 0 || group->shared < group->count)
        return tacit_fail(
            error, TACIT_NOT_FOUND,
            "the arms of group %u of study '%s' are not drawn yet: %zu of %zu parties have given a share",
            group->group, study->name, group->shared, group->count);
    tacit_arm_record_begin(record, study);
    record->group = group->group;
    record->draw = group->draw;
    TACIT_TRY(tacit_arm_share(record->own, keys->arm_seed, &list, error));
    TACIT_TRY(tacit_buffer_append(&record->keys, group->keys.bytes, group->keys.length, error));
    return tacit_buffer_append(&record->shares, group->shares.bytes, group->shares.length, error);
}

/* The definition of a study in a folder. */
static tacit_status load_study(tacit_study **out, tacit_registry *registry, const char *name,
                               tacit_error *error) {
    tacit_buffer definition = TACIT_BUFFER_INIT;
    tacit_study_record record;
    tacit_status status = tacit_registry_study(registry, name, &record, &definition, error);
    if (status == TACIT_OK)
        status = tacit_study_parse(out, tacit_buffer_text(&definition), definition.length, name, error);
    tacit_buffer_clear(&definition);
    return status;
}

tacit_status tacit_coordinator_arm_record(const char *folder, const char *study, uint32_t number,
                                          tacit_buffer *out, tacit_error *error) {
    tacit_registry *registry = NULL;
    tacit_study *read = NULL;
    tacit_arm_group group = { .group = 0 };
    tacit_arm_record record = { .arms = 0 };
    people_keys keys;
    tacit_status status;
    TACIT_CHECK(tacit_registry_open(&registry, folder, false, error));
    TACIT_CHECK(load_study(&read, registry, study, error));
    if (read->arms.count == 0) TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "study '%s' has no arms", study));
    TACIT_CHECK(load_keys(&keys, folder, read, error));
    TACIT_CHECK(tacit_registry_arm_group(registry, study, number, &group, error));
    if (group.group == 0)
        TACIT_CHECK(
            tacit_fail(error, TACIT_NOT_FOUND, "study '%s' has no group %u of arms yet", study, number));
    TACIT_CHECK(fill_record(&record, read, &group, &keys, error));
    TACIT_CHECK(tacit_arm_record_print(&record, out, error));
cleanup:
    sodium_memzero(&keys, sizeof keys);
    tacit_arm_record_clear(&record);
    tacit_arm_group_clear(&group);
    tacit_study_free(read);
    tacit_registry_close(registry);
    return status;
}

/* ---- receipts ---- */

tacit_status coordinator_note_round(coordinator *self, const hosted *host, const char *party, uint64_t round,
                                    bool *counted, tacit_error *error) {
    *counted = false;
    if (!host->study->has_receipts) return TACIT_OK;
    return tacit_registry_note_round(self->registry, host->study->name, party, host->version, round, counted,
                                     error);
}

void coordinator_drop_round(coordinator *self, const hosted *host, const char *party, uint64_t round) {
    tacit_error error = TACIT_ERROR_INIT;
    if (tacit_registry_drop_round(self->registry, party, host->version, round, &error) != TACIT_OK)
        coordinator_warn(self, party, "study %s: %s", host->study->name, error.text);
}

/* Whoever answered in every round since the first, of a study that has ended. */
static tacit_status check_completed(coordinator *self, const char *party, const char *study,
                                    tacit_error *error) {
    tacit_study_state state;
    bool completed = false;
    TACIT_TRY(tacit_registry_state(self->registry, study, &state, error));
    if (state < TACIT_STUDY_DONE)
        return tacit_fail(error, TACIT_REFUSED, "study '%s' goes on: receipts are given when it has ended",
                          study);
    TACIT_TRY(tacit_registry_has_completed(self->registry, study, party, &completed, error));
    if (completed) return TACIT_OK;
    return tacit_fail(
        error, TACIT_REFUSED,
        "a receipt is for those who have answered all that study '%s' asked them, and answers are missing: "
        "write to the people who run it",
        study);
}

static tacit_status make_receipt(coordinator *self, const tacit_study *study, ProtobufCBinaryData blinded,
                                 unsigned version, tacit_buffer *out, tacit_error *error) {
    Tacit__Wire__ReceiptReply reply = TACIT__WIRE__RECEIPT_REPLY__INIT;
    tacit_voprf_element asked, evaluated;
    uint8_t proof[TACIT_VOPRF_PROOF_BYTES];
    people_keys keys;
    memcpy(asked.bytes, blinded.data, sizeof asked.bytes);
    TACIT_TRY(load_keys(&keys, self->settings.folder, study, error));
    tacit_status status =
        tacit_voprf_evaluate(&evaluated, proof, keys.receipt_secret, &asked, 1, NULL, error);
    sodium_memzero(&keys, sizeof keys);
    if (status != TACIT_OK) return status;
    reply.evaluated = (ProtobufCBinaryData){ sizeof evaluated.bytes, evaluated.bytes };
    reply.proof = (ProtobufCBinaryData){ sizeof proof, proof };
    return tacit_wire_say(out, &reply, version, error);
}

/* A party's request about its own study. */
static tacit_status hear_of_study(coordinator *self, const char *party, const tacit_buffer *body,
                                  const ProtobufCMessageDescriptor *descriptor, void **request,
                                  unsigned *version, tacit_study **study, coordinator_reply *out,
                                  tacit_error *error) {
    TACIT_TRY(tacit_wire_hear(request, descriptor, body, version, error));
    TACIT_TRY(tacit_registry_party_study(self->registry, party, out->study, error));
    return load_study(study, self->registry, out->study, error);
}

/* The registry keeps what was given before it leaves: who lost it asks again, and gets the same. */
tacit_status coordinator_receipt(coordinator *self, const char *party, const tacit_buffer *body,
                                 coordinator_reply *out, tacit_error *error) {
    Tacit__Wire__ReceiptRequest *request = NULL;
    tacit_study *study = NULL;
    unsigned version;
    tacit_status status;
    TACIT_CHECK(hear_of_study(self, party, body, &tacit__wire__receipt_request__descriptor, (void **)&request,
                              &version, &study, out, error));
    if (!study->has_receipts)
        TACIT_CHECK(tacit_fail(error, TACIT_NOT_FOUND, "study '%s' gives no receipts", out->study));
    const ProtobufCBinaryData blinded = request->blinded;
    if (blinded.len != TACIT_VOPRF_ELEMENT_BYTES)
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "the blinded element has the wrong length"));
    TACIT_CHECK(
        tacit_registry_find_receipt(self->registry, party, blinded.data, blinded.len, &out->bytes, error));
    if (out->bytes.length > 0) goto cleanup;
    TACIT_CHECK(check_completed(self, party, out->study, error));
    TACIT_CHECK(make_receipt(self, study, blinded, version, &out->bytes, error));
    TACIT_CHECK(tacit_registry_keep_receipt(self->registry, out->study, party, blinded.data, blinded.len,
                                            &out->bytes, error));
    out->bytes.length = 0; /* of two requests at once the first counts */
    TACIT_CHECK(
        tacit_registry_find_receipt(self->registry, party, blinded.data, blinded.len, &out->bytes, error));
    coordinator_mention(self, party, "study %s: a receipt was given", out->study);
cleanup:
    tacit_study_free(study);
    tacit_wire_free(request);
    return status;
}

tacit_status tacit_coordinator_redeem(const char *folder, const char *text, char study[TACIT_ID_SIZE],
                                      tacit_error *error) {
    tacit_registry *registry = NULL;
    tacit_study *read = NULL;
    tacit_receipt receipt;
    people_keys keys;
    uint8_t input[TACIT_RECEIPT_INPUT], value[TACIT_VOPRF_BYTES], id[TACIT_HASH_BYTES];
    tacit_status status;
    TACIT_CHECK(tacit_receipt_parse(&receipt, text, error));
    memcpy(study, receipt.study, TACIT_ID_SIZE);
    TACIT_CHECK(tacit_registry_open(&registry, folder, false, error));
    TACIT_CHECK(load_study(&read, registry, study, error));
    if (!read->has_receipts)
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED, "study '%s' gives no receipts", study));
    TACIT_CHECK(load_keys(&keys, folder, read, error));
    TACIT_CHECK(
        tacit_voprf_value(value, keys.receipt_secret, input, tacit_receipt_input(&receipt, input), error));
    if (sodium_memcmp(value, receipt.value, sizeof value) != 0)
        TACIT_CHECK(tacit_fail(
            error, TACIT_REFUSED,
            "this receipt was not made by this coordinator, or was changed: it cannot be redeemed"));
    tacit_receipt_id(&receipt, id);
    TACIT_CHECK(tacit_registry_redeem_receipt(registry, study, id, tacit_clock_wall_seconds(), error));
cleanup:
    sodium_memzero(&keys, sizeof keys);
    tacit_study_free(read);
    tacit_registry_close(registry);
    return status;
}

/* ---- contact ---- */

enum { CONTACT_MOST = 8192 };

tacit_status coordinator_contact(coordinator *self, const char *party, const tacit_buffer *body,
                                 coordinator_reply *out, tacit_error *error) {
    Tacit__Wire__ContactRequest *request = NULL;
    Tacit__Wire__ContactReply reply = TACIT__WIRE__CONTACT_REPLY__INIT;
    tacit_study *study = NULL;
    unsigned version;
    tacit_status status;
    TACIT_CHECK(hear_of_study(self, party, body, &tacit__wire__contact_request__descriptor, (void **)&request,
                              &version, &study, out, error));
    if (!study->has_contact)
        TACIT_CHECK(tacit_fail(error, TACIT_NOT_FOUND, "study '%s' takes no contact details", out->study));
    if (request->sealed.len <= crypto_box_SEALBYTES || request->sealed.len > CONTACT_MOST)
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "sealed contact details have the wrong length"));
    TACIT_CHECK(tacit_registry_keep_contact(self->registry, out->study, party, request->sealed.data,
                                            request->sealed.len, tacit_clock_wall_seconds(), error));
    coordinator_mention(self, party, "study %s: sealed contact details came", out->study);
    TACIT_CHECK(tacit_wire_say(&out->bytes, &reply, version, error));
cleanup:
    tacit_study_free(study);
    tacit_wire_free(request);
    return status;
}
