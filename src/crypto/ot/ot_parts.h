/*
 * Trees of seeds, shared by the files of oblivious transfer only. The receiver of the extension has OT_GROUPS
 * trees of OT_LEAVES seeds each; the sender gets all leaves of a tree but one, whose number is OT_BITS bits
 * of its delta.
 */
#pragma once

#include "crypto/cipher_parts.h"
#include "net/channel.h"
#include "rand/stream.h"

enum {
    OT_WIDTH = 128, /* bits of delta, and base transfers */
    OT_BITS = 4,    /* of delta to a tree: k of SoftSpokenOT */
    OT_LEAVES = 1 << OT_BITS,
    OT_GROUPS = OT_WIDTH / OT_BITS
};

/* Bits i, i + 1, ... of delta that belong to tree g begin at i = g OT_BITS. */
static inline unsigned ot_bit(tacit_wire delta, size_t i) {
    return (unsigned)(delta.half[i / 64] >> i % 64 & 1);
}

/* Out: all leaves, OT_LEAVES to a tree. */
tacit_status ot_trees_send(tacit_wire *leaves, tacit_channel *channel, tacit_stream *stream,
                           const tacit_cipher *cipher, tacit_error *error);

/* Out: at leaves[y] of tree g its leaf y xor d, where d are the bits of delta that belong to it; leaves[0],
 * which nobody here knows, is zero. TACIT_PROTOCOL when the trees are not of one set of leaves. No branch and
 * no address depends on delta. */
tacit_status ot_trees_receive(tacit_wire *leaves, tacit_wire delta, tacit_channel *channel,
                              tacit_stream *stream, const tacit_cipher *cipher, tacit_error *error);
