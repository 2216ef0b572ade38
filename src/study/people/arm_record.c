#include "study/people/arm_record.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY = TACIT_VRF_KEY_BYTES, PROOF = TACIT_VRF_PROOF_BYTES };

void tacit_arm_record_clear(tacit_arm_record *record) {
    tacit_buffer_clear(&record->keys);
    tacit_buffer_clear(&record->shares);
    sodium_memzero(record, sizeof *record);
}

void tacit_arm_record_begin(tacit_arm_record *record, const tacit_study *study) {
    *record = (tacit_arm_record){ .arms = study->arms.count };
    snprintf(record->study, sizeof record->study, "%s", study->name);
    memcpy(record->coordinator, study->arms.key, KEY);
    for (size_t i = 0; i < record->arms; i++) {
        record->weights[i] = study->arms.weights[i];
        snprintf(record->names[i], sizeof record->names[i], "%s", tacit_study_arm_name(study, i));
    }
}

tacit_arm_list tacit_arm_record_list(const tacit_arm_record *record) {
    return (tacit_arm_list){ record->study, record->coordinator, record->group,
                             record->draw,  record->keys.bytes,  record->keys.length / KEY };
}

static tacit_status find_randomness(const tacit_arm_record *record, uint8_t out[TACIT_DIGEST_BYTES],
                                    tacit_error *error) {
    const tacit_arm_list list = tacit_arm_record_list(record);
    if (record->keys.length % KEY != 0 || record->shares.length != list.count * PROOF)
        return tacit_fail(error, TACIT_REFUSED, "the list of arms of study '%s' has not a share for each key",
                          record->study);
    return tacit_arm_randomness(out, &list, record->own, record->shares.bytes, error);
}

/* The own key is on the list: who is not has no arm of this group. */
static tacit_status check_listed(const tacit_arm_record *record, tacit_error *error) {
    const tacit_arm_list list = tacit_arm_record_list(record);
    if (tacit_arm_list_find(&list, record->key) < list.count) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED, "the key is not on the list of group %u of study '%s'",
                      record->group, record->study);
}

tacit_status tacit_arm_record_prove(tacit_arm_record *record, const uint8_t seed[TACIT_VRF_SEED_BYTES],
                                    tacit_error *error) {
    uint8_t randomness[TACIT_DIGEST_BYTES];
    TACIT_TRY(find_randomness(record, randomness, error));
    tacit_vrf_public(record->key, seed);
    TACIT_TRY(check_listed(record, error));
    TACIT_TRY(tacit_arm_prove(record->proof, seed, randomness, error));
    record->of_participant = true;
    return tacit_arm_of(&record->arm, record->key, randomness, record->proof, record->weights, record->arms,
                        error);
}

tacit_status tacit_arm_record_verify(tacit_arm_record *record, tacit_error *error) {
    uint8_t randomness[TACIT_DIGEST_BYTES];
    TACIT_TRY(find_randomness(record, randomness, error));
    if (!record->of_participant) return TACIT_OK;
    TACIT_TRY(check_listed(record, error));
    return tacit_fail_in(error,
                         tacit_arm_of(&record->arm, record->key, randomness, record->proof, record->weights,
                                      record->arms, error),
                         "the arm");
}

/* ---- JSON ---- */

static json_t *hex_text(const uint8_t *bytes, size_t length) {
    char hex[2 * PROOF + 1];
    return json_string(sodium_bin2hex(hex, sizeof hex, bytes, length));
}

static json_t *hex_list(const tacit_buffer *bytes, size_t size) {
    json_t *list = json_array();
    for (size_t at = 0; list != NULL && at + size <= bytes->length; at += size)
        if (json_array_append_new(list, hex_text(bytes->bytes + at, size)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *arms_list(const tacit_arm_record *record) {
    json_t *list = json_array();
    for (size_t i = 0; i < record->arms; i++)
        json_array_append_new(
            list, json_pack("{s:s,s:i}", "name", record->names[i], "weight", (int)record->weights[i]));
    return list;
}

tacit_status tacit_arm_record_print(const tacit_arm_record *record, tacit_buffer *out, tacit_error *error) {
    json_t *document =
        json_pack("{s:s,s:o,s:o,s:i,s:i,s:o,s:o,s:o}", "study", record->study, "arms", arms_list(record),
                  "coordinator", hex_text(record->coordinator, KEY), "group", (int)record->group, "draw",
                  (int)record->draw, "keys", hex_list(&record->keys, KEY), "shares",
                  hex_list(&record->shares, PROOF), "own", hex_text(record->own, PROOF));
    bool whole = document != NULL;
    if (whole && record->of_participant)
        whole = json_object_set_new(document, "key", hex_text(record->key, KEY)) == 0 &&
                json_object_set_new(document, "proof", hex_text(record->proof, PROOF)) == 0 &&
                json_object_set_new(document, "arm", json_string(record->names[record->arm])) == 0;
    char *text = whole ? json_dumps(document, JSON_INDENT(1)) : NULL;
    json_decref(document);
    if (text == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_buffer_append(out, text, strlen(text), error);
    if (status == TACIT_OK) status = tacit_buffer_append(out, "\n", 1, error);
    free(text);
    return status;
}

static bool read_hex(uint8_t *out, size_t size, const json_t *from) {
    const char *text = json_string_value(from);
    size_t length = 0;
    return text != NULL && sodium_hex2bin(out, size, text, strlen(text), NULL, &length, NULL) == 0 &&
           length == size && strlen(text) == 2 * size;
}

static bool read_list(tacit_buffer *out, size_t size, const json_t *from) {
    uint8_t one[PROOF];
    if (!json_is_array(from) || json_array_size(from) > TACIT_ARM_LIST_MOST) return false;
    for (size_t i = 0; i < json_array_size(from); i++)
        if (!read_hex(one, size, json_array_get(from, i)) ||
            tacit_buffer_append(out, one, size, NULL) != TACIT_OK)
            return false;
    return true;
}

static bool read_number(uint32_t *out, const json_t *from) {
    json_int_t value = json_integer_value(from);
    *out = (uint32_t)value;
    return value > 0 && value <= TACIT_ARM_NUMBER_MOST;
}

static bool read_arms(tacit_arm_record *out, const json_t *from) {
    out->arms = json_array_size(from);
    if (out->arms < 2 || out->arms > TACIT_ARMS_MOST) return false;
    for (size_t i = 0; i < out->arms; i++) {
        const json_t *one = json_array_get(from, i);
        const char *name = json_string_value(json_object_get(one, "name"));
        uint32_t weight = 0;
        if (tacit_name_check("name", name, sizeof out->names[i] - 1, NULL) != TACIT_OK ||
            !read_number(&weight, json_object_get(one, "weight")) || weight > TACIT_ARM_WEIGHT_MOST)
            return false;
        out->weights[i] = weight;
        snprintf(out->names[i], sizeof out->names[i], "%s", name);
    }
    return true;
}

static bool read_record(tacit_arm_record *out, const json_t *from) {
    const char *study = json_string_value(json_object_get(from, "study"));
    if (tacit_name_check("study", study, sizeof out->study - 1, NULL) != TACIT_OK) return false;
    snprintf(out->study, sizeof out->study, "%s", study);
    out->of_participant = json_object_get(from, "proof") != NULL;
    return read_arms(out, json_object_get(from, "arms")) &&
           read_hex(out->coordinator, KEY, json_object_get(from, "coordinator")) &&
           read_number(&out->group, json_object_get(from, "group")) &&
           read_number(&out->draw, json_object_get(from, "draw")) &&
           read_list(&out->keys, KEY, json_object_get(from, "keys")) &&
           read_list(&out->shares, PROOF, json_object_get(from, "shares")) &&
           read_hex(out->own, PROOF, json_object_get(from, "own")) &&
           (!out->of_participant || (read_hex(out->key, KEY, json_object_get(from, "key")) &&
                                     read_hex(out->proof, PROOF, json_object_get(from, "proof"))));
}

tacit_status tacit_arm_record_parse(tacit_arm_record *out, const char *text, size_t length, const char *name,
                                    tacit_error *error) {
    tacit_arm_record read = { .arms = 0 };
    json_t *document = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    bool whole = document != NULL && read_record(&read, document);
    json_decref(document);
    if (!whole) {
        tacit_arm_record_clear(&read);
        return tacit_fail(error, TACIT_INPUT,
                          "%s is no record of arms (tacit arm show and tacit arm record write one)", name);
    }
    *out = read;
    return TACIT_OK;
}
