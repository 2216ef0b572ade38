/*
 * The folder envelopes/STUDY of a coordinator, in which whoever takes an envelope and the coordinator that
 * serves meet. Names begin with the key of a site, KEY:
 *
 *   PARTY.round-1.mask.tacit   for the courier: an envelope to a site
 *   .KEY.join, .KEY.poll       what the site said last when it joined, and of its owner's will
 *   .KEY.party                 the reply to its joining
 *   .KEY.ASKED.asked           it was asked this; ASKED is version, round and step
 *   .KEY.ASKED.answer          its answer; removed when the study ends
 *   .KEY.refused               why its joining was refused
 *
 * Every file is written whole, and says one thing: whatever is killed, what is there is right.
 */
#pragma once

#include <limits.h>

#include "coordinator/coordinator_parts.h"
#include "net/envelope.h"

#define ENVELOPES_FOLDER "envelopes"

enum { ENVELOPES_KEY_TEXT = 2 * TACIT_ENVELOPE_KEY_BYTES + 1, ENVELOPES_NAME_SIZE = 200 };

/* The secret of the coordinator: it opens what sites have sealed for it, and ephemeral keys follow from it.
 * Made where there is none and `make`. */
typedef struct envelopes_key {
    uint8_t secret[TACIT_ENVELOPE_KEY_BYTES], shown[TACIT_ENVELOPE_KEY_BYTES];
} envelopes_key;
tacit_status envelopes_load_key(envelopes_key *out, const char *folder, bool make, tacit_error *error);

tacit_status envelopes_path(char out[PATH_MAX], const char *folder, const char *study, const char *name,
                            tacit_error *error);

/* ".KEY.KIND", or ".KEY.VERSION.ROUND.STEP.KIND". */
void envelopes_name(char out[ENVELOPES_NAME_SIZE], const char *key, const char *kind);
void envelopes_asked_name(char out[ENVELOPES_NAME_SIZE], const char *key,
                          const tacit_envelope_address *address, const char *kind);
