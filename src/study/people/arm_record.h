/*
 * The record of a group's arms (crypto/prf/arms.h) as JSON: the published list, everybody's shares, and, in
 * the hands of a participant, the proof of the own arm. Whoever has it can check all of it without anybody's
 * help:
 *
 *   {"study", "arms": [{"name", "weight"}], "coordinator": KEY, "group", "draw", "keys": [KEY], "shares":
 *   [PROOF],
 *    "own": PROOF, "key": KEY, "proof": PROOF, "arm": NAME}      the last three are a participant's
 */
#pragma once

#include <jansson.h>

#include "study/study.h"

typedef struct tacit_arm_record {
    char study[TACIT_ID_SIZE];
    size_t arms;
    unsigned weights[TACIT_ARMS_MOST];
    char names[TACIT_ARMS_MOST][TACIT_TITLE_SIZE];
    uint8_t coordinator[TACIT_VRF_KEY_BYTES], own[TACIT_VRF_PROOF_BYTES];
    uint32_t group, draw;
    tacit_buffer keys, shares; /* of all, in the order of the list */
    bool of_participant;
    uint8_t key[TACIT_VRF_KEY_BYTES], proof[TACIT_VRF_PROOF_BYTES];
    size_t arm; /* as the proof shows, after tacit_arm_record_verify */
} tacit_arm_record;

enum { TACIT_ARM_RECORD_BYTES = 64 << 20 };

void tacit_arm_record_clear(tacit_arm_record *record);

/* What the definition says: name, arms, the coordinator's key. */
void tacit_arm_record_begin(tacit_arm_record *record, const tacit_study *study);
tacit_arm_list tacit_arm_record_list(const tacit_arm_record *record);

/* Prove the own arm, once all shares are there. */
tacit_status tacit_arm_record_prove(tacit_arm_record *record, const uint8_t seed[TACIT_VRF_SEED_BYTES],
                                    tacit_error *error);

/* TACIT_REFUSED, with what is wrong, unless every share is right, and the key is on the list and the proof
 * its own. */
tacit_status tacit_arm_record_verify(tacit_arm_record *record, tacit_error *error);

tacit_status tacit_arm_record_print(const tacit_arm_record *record, tacit_buffer *out, tacit_error *error);
tacit_status tacit_arm_record_parse(tacit_arm_record *out, const char *text, size_t length, const char *name,
                                    tacit_error *error);
