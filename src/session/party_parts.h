/* What the party runtime's files share. */
#pragma once

#include "session/party.h"

/* Run the handler and check that it answered what was asked. */
tacit_status tacit_party_compute(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                 tacit_error *error);

/* A contribution on the grid of its sum: noise is in it already, or it is rounded now. */
tacit_status tacit_party_grid_steps(const tacit_question *question, const tacit_reply *reply, int64_t *out,
                                    tacit_error *error);

/* What the gate must know of an answer that will not be computed: it is stored and was paid for (the owner's
 * rules, which may have changed, are asked again), or a simulation knows it already. */
tacit_status tacit_party_stored_reply(const tacit_party *party, const tacit_question *question,
                                      tacit_reply *reply, tacit_error *error);

tacit_release tacit_party_describe(const tacit_party *party, const tacit_question *question,
                                   const tacit_reply *reply, const uint8_t *question_hash);

/* A kind of round at a party: in clear (party.c), a step of a secure sum (masked_party.c), between neighbours
 * (mail_party.c). */
typedef struct party_round {
    tacit_status (*answer)(tacit_party *party, const tacit_question *question,
                           const uint8_t question_hash[TACIT_HASH_BYTES], tacit_buffer *out,
                           tacit_error *error);
    const char *(*step)(const tacit_plan *plan, const tacit_question *question);
} party_round;

extern const party_round party_secure_round, party_mail_round;

/* Bring back what this party goes on from, if a process before has left it. */
tacit_status tacit_party_restore(tacit_party *party, tacit_error *error);

/* What masked sums and words between neighbours share: who is who. The first roster that is taken is the
 * study's, for good: TACIT_REFUSED for another. */
typedef struct tacit_membership {
    const tacit_signing_roster *roster;
    const uint8_t *digest;
    const uint8_t *secret_key;
    uint32_t place; /* this party's */
} tacit_membership;
tacit_status tacit_masks_take_roster(tacit_masks *masks, const tacit_buffer *bytes, tacit_error *error);
bool tacit_masks_membership(const tacit_masks *masks, tacit_membership *out); /* false before the roster */
const tacit_masks_store *tacit_masks_store_of(const tacit_masks *masks);

/* A message that says nothing of the rows: what the gate is told of it, and of a refusal. */
tacit_release tacit_party_describe_message(const tacit_party *party, const tacit_question *question,
                                           const uint8_t *question_hash, const char *assumption);

/* What the coordinator got wrong is in the owner's log; the status and sentence of `said` are handed on. */
tacit_status tacit_party_log_problem(const tacit_party *party, const tacit_release *release,
                                     tacit_status status, const tacit_error *said, tacit_error *error);

/* An answer of one field of bytes. */
tacit_status tacit_party_encode_bytes(const tacit_question *question, const char *field,
                                      const tacit_buffer *body, tacit_buffer *out, tacit_error *error);
