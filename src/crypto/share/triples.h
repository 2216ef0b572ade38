/*
 * Products of shared numbers from oblivious transfer (Gilboa, CRYPTO 1999), for two servers that both hold
 * shares modulo 2^128 (share.h): a shared number times a shared vector costs 128 correlated transfers each
 * way, whatever the length of the vector, and 96 blocks of 16 bytes each way for every entry.
 *
 * (x_A + x_B)(u_A + u_B) has two terms that each server computes alone. Of x_A u_B, server A is the receiver,
 * and bit b of x_A its choice c; B has the correlated labels q and q ^ delta, A has t = q ^ c delta. For each
 * entry, with H the hash of garbling under a tweak of its own,
 *     B sends y = H(q) + 2^b u_B - H(q ^ delta), and keeps -H(q);     A keeps H(t) + c y.
 * These add up to c 2^b u_B. y is masked by H(q ^ delta) for c = 0 and by H(q) for c = 1: whichever A cannot
 * compute.
 *
 * Security: as that of the transfers (ot.h) and the hash (cipher_parts.h), semi-honest, 128 bits.
 * No branch and no address depends on shares, choices or labels.
 */
#pragma once

#include "crypto/engine.h"
#include "crypto/garble/circuit.h"
#include "crypto/share/share.h"
#include "net/channel.h"
#include "rand/stream.h"

typedef struct tacit_triples tacit_triples;

/* Runs the base transfers, both ways. Channel and stream are borrowed. */
tacit_status tacit_triples_create(tacit_triples **out, tacit_role role, tacit_channel *channel,
                                  tacit_stream *stream, tacit_engine engine, tacit_error *error);
tacit_triples *tacit_triples_free(tacit_triples *triples);

/* out[i * out_step] += x u[i * u_step] for i < length. Outputs are no inputs. */
typedef struct tacit_product {
    const tacit_share *x, *u;
    size_t u_step, length;
    tacit_share *out;
    size_t out_step;
} tacit_product;

tacit_status tacit_triples_multiply(tacit_triples *triples, const tacit_product *products, size_t count,
                                    tacit_error *error);

/* Give `mine` to the other server and get `theirs`. */
tacit_status tacit_exchange(void *theirs, const void *mine, size_t length, tacit_role role,
                            tacit_channel *channel, tacit_error *error);
