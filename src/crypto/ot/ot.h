/*
 * Oblivious transfer: of two messages the receiver gets the one of its choice; the sender does not learn
 * which, the receiver nothing of the other.
 *
 * Base. Masny and Rindal ("Endemic oblivious transfer", CCS 2019) with Diffie-Hellman on ristretto255: the
 * receiver with choice c draws a scalar a and a group element R_{1-c}, and sends R_0, R_1 with R_c = aG -
 * Hash_c(R_{1-c}); the sender draws b, sends B = bG, and has the keys Hash(b (R_k + Hash_k(R_{1-k}))) for k =
 * 0, 1, of which the receiver computes Hash(aB). The pair R_0, R_1 is uniform whatever c is: the choice is
 * hidden perfectly. Since the receiver must fix one of the R before the hash of it is known, it knows the
 * discrete logarithm of one sum at most, so the other key is hidden under the computational Diffie-Hellman
 * assumption with random oracles. They prove it against malicious parties as well; of "simplest OT" (Chou and
 * Orlandi 2015) the published proof has gaps. Each transfer has scalars of its own, as in their proof. Group
 * elements are checked; ristretto255 has no small subgroup.
 *
 * Extension. Roy ("SoftSpokenOT", CRYPTO 2022) with k = 4: 128 base transfers in the other direction, from
 * which 32 trees of 16 seeds are grown, all but one of each known to the sender; then any number with AES
 * alone, 4 bytes each, a quarter of those of Ishai, Kilian, Nissim and Petrank (CRYPTO 2003). Its consistency
 * checks, of the trees and of each batch by a universal hash, are made non-interactive. A receiver that grows
 * trees which depend on who looks, or uses different choices with different trees, and so could learn bits of
 * the sender's delta, is caught except with a chance of 2^-c for c bits (the proofs are in ot_trees.c and
 * ot_extension.c): TACIT_PROTOCOL, before the sender has used a transfer of that batch. Of Keller, Orsini and
 * Scholl (2015) the published proof has a gap; this check is not theirs.
 *
 * Correlated: the sender's messages are Z and Z xor delta with one secret delta for all. These are labels of
 * wires, as free XOR wants them; delta is odd, so that colours differ.
 *
 * Choices are bytes 0 or 1 (only the lowest bit counts). Both ends make their objects at the same time and
 * then call the same functions with the same counts; what a peer sends is of known length. No branch and no
 * address depends on choices, messages or delta.
 */
#pragma once

#include "crypto/engine.h"
#include "crypto/label.h"
#include "net/channel.h"
#include "rand/stream.h"

/* ---- base ---- */

/* Out: `count` pairs of random messages; pairs[2k] and pairs[2k + 1]. */
tacit_status tacit_ot_base_send(tacit_wire *pairs, size_t count, tacit_channel *channel, tacit_stream *stream,
                                tacit_error *error);
/* Out: of each pair the one chosen. */
tacit_status tacit_ot_base_receive(tacit_wire *chosen, const uint8_t *choices, size_t count,
                                   tacit_channel *channel, tacit_stream *stream, tacit_error *error);

/* ---- extension ---- */

typedef struct tacit_ot_sender tacit_ot_sender;
typedef struct tacit_ot_receiver tacit_ot_receiver;

/* Run the 128 base transfers. The channel is borrowed. */
tacit_status tacit_ot_sender_create(tacit_ot_sender **out, tacit_channel *channel, tacit_stream *stream,
                                    tacit_engine engine, tacit_error *error);
tacit_status tacit_ot_receiver_create(tacit_ot_receiver **out, tacit_channel *channel, tacit_stream *stream,
                                      tacit_engine engine, tacit_error *error);
tacit_ot_sender *tacit_ot_sender_free(tacit_ot_sender *sender);
tacit_ot_receiver *tacit_ot_receiver_free(tacit_ot_receiver *receiver);

tacit_wire tacit_ot_delta(const tacit_ot_sender *sender);

/* Correlated. Out: zero[k]; and at the receiver zero[k] xor choices[k] delta. */
tacit_status tacit_ot_send_correlated(tacit_wire *zero, size_t count, tacit_ot_sender *sender,
                                      tacit_error *error);
tacit_status tacit_ot_receive_correlated(tacit_wire *chosen, const uint8_t *choices, size_t count,
                                         tacit_ot_receiver *receiver, tacit_error *error);

/* Messages of the sender's choice: messages[2k] and messages[2k + 1]. */
tacit_status tacit_ot_send(const tacit_wire *messages, size_t count, tacit_ot_sender *sender,
                           tacit_error *error);
tacit_status tacit_ot_receive(tacit_wire *chosen, const uint8_t *choices, size_t count,
                              tacit_ot_receiver *receiver, tacit_error *error);
