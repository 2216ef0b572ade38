/* What the party runtime's files share. */
#pragma once

#include "session/party.h"

/* Run the handler and check that it answered what was asked. */
tacit_status tacit_party_compute(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                 tacit_error *error);

/* A contribution on the grid of its sum: noise is in it already, or it is rounded now. */
tacit_status tacit_party_grid_steps(const tacit_question *question, const tacit_reply *reply, int64_t *out,
                                    tacit_error *error);

/* What the gate must know of an answer that will not be computed: it is stored and was paid for (the owner's rules,
 * which may have changed, are asked again), or a simulation knows it already. */
tacit_status tacit_party_recall(const tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                tacit_error *error);

tacit_release tacit_party_describe(const tacit_party *party, const tacit_question *question,
                                   const tacit_reply *reply, const uint8_t *question_hash);

/* The answer to a question that is a step of a masked sum (masked_party.c). */
tacit_status tacit_party_answer_step(tacit_party *party, const tacit_question *question,
                                     const uint8_t question_hash[TACIT_HASH_BYTES], tacit_buffer *out,
                                     tacit_error *error);
