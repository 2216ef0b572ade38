/*
 * All leaves but one (Roy, "SoftSpokenOT", CRYPTO 2022, section 5; after Goldreich, Goldwasser and Micali's
 * trees). The nodes of level 1 are the two messages of a base transfer; a node's children are AES under it of
 * 0 and 1. Of level l + 1 the receiver of the extension adds up the left children, and the right ones, and
 * sends both sums under the messages of one more base transfer each. The sender, whose path to the leaf d
 * turns a_1, ..., a_k, chooses the other turn in each: it has the sibling of the path at level 1, and at
 * level l + 1 the sum that the path's sibling is in, all other terms of which it can compute.
 *
 * Whoever sends wrong sums makes leaves depend on d. So each leaf x says t_x = AES under it of four blocks
 * that columns never use. The sum of a tree's t_x is sent, from which the one that is missing follows, and a
 * digest of all t_x of all trees. Claim. There is one set of leaves s such that for every delta that passes,
 * the sender's leaves are those of s. For the digest has one preimage t (collisions of BLAKE2b apart), and a
 * leaf has one t_x: two keys that agree on four blocks are there with a chance of 2^-256 (AES as an ideal
 * cipher). So who deviates splits the deltas into those that pass, A, and others; it is caught except with a
 * chance of |A| / 2^128, and knows after that what it had guessed: that delta is in A.
 * The sender learns nothing more of the missing leaf than AES of four blocks under it.
 */
#include <sodium.h>
#include <string.h>

#include "crypto/digest.h"
#include "crypto/ot/ot.h"
#include "crypto/ot/ot_parts.h"

enum { CHECKED = 4, SUMS = 2 * (OT_BITS - 1) };
#define CHECK_COUNTER (UINT64_C(1) << 63) /* columns count from 0 */

/* What is said of one tree: sums of the left and the right children of each level, then of all t_x. */
typedef struct tree_word {
    tacit_wire sum[SUMS], checks[CHECKED];
} tree_word;

typedef struct tree_check {
    tacit_wire block[CHECKED];
} tree_check;

static void add(tacit_wire *to, tacit_wire more) { *to = tacit_wire_xor(*to, more); }

static void swap_if(void *a, void *b, size_t wires, unsigned bit) {
    tacit_wire *left = a, *right = b;
    for (size_t i = 0; i < wires; i++) {
        tacit_wire moved = tacit_wire_if(bit, tacit_wire_xor(left[i], right[i]));
        add(&left[i], moved);
        add(&right[i], moved);
    }
}

static void expand(tacit_wire children[2], tacit_wire node, const tacit_cipher *cipher) {
    tacit_aes_key key;
    cipher->expand_key(&key, node);
    cipher->counter(children, &key, 0, 2);
    sodium_memzero(&key, sizeof key);
}

static void say_leaf(tree_check *out, tacit_wire leaf, const tacit_cipher *cipher) {
    tacit_aes_key key;
    cipher->expand_key(&key, leaf);
    cipher->counter(out->block, &key, CHECK_COUNTER, CHECKED);
    sodium_memzero(&key, sizeof key);
}

/* Of level `level` (from 1 on): the base transfer whose choice is the path's turn there, the highest bit of a
 * leaf's number first. */
static size_t transfer_of(size_t tree, size_t level) { return tree * OT_BITS + OT_BITS - level; }

/* ---- who has all ---- */

static void grow(tacit_wire leaves[OT_LEAVES], tree_word *word, tacit_digest *digest, const tacit_wire *pairs,
                 size_t tree, const tacit_cipher *cipher) {
    tree_check check[OT_LEAVES];
    memset(word, 0, sizeof *word);
    memcpy(leaves, pairs + 2 * transfer_of(tree, 1), 2 * sizeof *leaves);
    for (size_t level = 1; level < OT_BITS; level++) {
        const tacit_wire *mask = pairs + 2 * transfer_of(tree, level + 1);
        tacit_wire *sum = word->sum + 2 * (level - 1);
        for (size_t j = (size_t)1 << level; j-- > 0;) {
            expand(leaves + 2 * j, leaves[j], cipher); /* backwards: what is overwritten was read */
            for (size_t side = 0; side < 2; side++) add(&sum[side], leaves[2 * j + side]);
        }
        for (size_t side = 0; side < 2; side++) add(&sum[side], mask[side]);
    }
    for (size_t x = 0; x < OT_LEAVES; x++) {
        say_leaf(&check[x], leaves[x], cipher);
        for (size_t i = 0; i < CHECKED; i++) add(&word->checks[i], check[x].block[i]);
    }
    tacit_digest_bytes(digest, check, sizeof check);
    sodium_memzero(check, sizeof check);
}

tacit_status ot_trees_send(tacit_wire *leaves, tacit_channel *channel, tacit_stream *stream,
                           const tacit_cipher *cipher, tacit_error *error) {
    tacit_wire pairs[2 * OT_WIDTH];
    tree_word words[OT_GROUPS];
    uint8_t all[TACIT_DIGEST_BYTES];
    tacit_digest digest;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_ot_base_send(pairs, OT_WIDTH, channel, stream, error));
    tacit_digest_begin(&digest, "tacit OT extension leaves", NULL);
    for (size_t g = 0; g < OT_GROUPS; g++) grow(leaves + g * OT_LEAVES, &words[g], &digest, pairs, g, cipher);
    tacit_digest_end(&digest, all);
    TACIT_CHECK(tacit_channel_send(channel, words, sizeof words, error));
    TACIT_CHECK(tacit_channel_send(channel, all, sizeof all, error));
    TACIT_CHECK(tacit_channel_flush(channel, error));
cleanup:
    sodium_memzero(pairs, sizeof pairs);
    return status;
}

/* ---- who has all but one ---- */

/* Nodes are numbered relative to the path: node y of a level is number y xor the path's. Those of y > 0 are
 * known. */
static void regrow(tacit_wire leaves[OT_LEAVES], const tree_word *word, const tacit_wire *chosen, size_t tree,
                   tacit_wire delta, const tacit_cipher *cipher) {
    memset(leaves, 0, OT_LEAVES * sizeof *leaves);
    leaves[1] = chosen[transfer_of(tree, 1)];
    for (size_t level = 1; level < OT_BITS; level++) {
        const size_t transfer = transfer_of(tree, level + 1);
        const unsigned turn = ot_bit(delta, transfer);
        const tacit_wire *sum = word->sum + 2 * (level - 1);
        tacit_wire sibling = chosen[transfer];
        /* The sum of the side that the path does not take. */
        add(&sibling, tacit_wire_xor(sum[1], tacit_wire_if(turn, tacit_wire_xor(sum[0], sum[1]))));
        for (size_t y = ((size_t)1 << level) - 1; y > 0; y--) {
            expand(leaves + 2 * y, leaves[y], cipher);
            swap_if(&leaves[2 * y], &leaves[2 * y + 1], 1, turn);
            add(&sibling, leaves[2 * y + 1]);
        }
        leaves[0] = (tacit_wire){ { 0, 0 } };
        leaves[1] = sibling;
    }
}

/* Add what all leaves say to the digest, in the order of their own numbers. */
static void hear_leaves(tacit_digest *digest, const tacit_wire leaves[OT_LEAVES], const tree_word *word,
                        size_t tree, tacit_wire delta, const tacit_cipher *cipher) {
    tree_check check[OT_LEAVES];
    memcpy(&check[0], word->checks, sizeof check[0]);
    for (size_t y = 1; y < OT_LEAVES; y++) {
        say_leaf(&check[y], leaves[y], cipher);
        for (size_t i = 0; i < CHECKED; i++) add(&check[0].block[i], check[y].block[i]);
    }
    for (size_t b = 0; b < OT_BITS; b++)
        for (size_t y = 0; y < OT_LEAVES; y++)
            if ((y >> b & 1) == 0)
                swap_if(&check[y], &check[y | (size_t)1 << b], CHECKED, ot_bit(delta, tree * OT_BITS + b));
    tacit_digest_bytes(digest, check, sizeof check);
    sodium_memzero(check, sizeof check);
}

tacit_status ot_trees_receive(tacit_wire *leaves, tacit_wire delta, tacit_channel *channel,
                              tacit_stream *stream, const tacit_cipher *cipher, tacit_error *error) {
    tacit_wire chosen[OT_WIDTH];
    uint8_t bits[OT_WIDTH], said[TACIT_DIGEST_BYTES], all[TACIT_DIGEST_BYTES];
    tree_word words[OT_GROUPS];
    tacit_digest digest;
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < OT_WIDTH; i++) bits[i] = (uint8_t)(1 ^ ot_bit(delta, i));
    TACIT_CHECK(tacit_ot_base_receive(chosen, bits, OT_WIDTH, channel, stream, error));
    TACIT_CHECK(tacit_channel_receive(channel, words, sizeof words, error));
    TACIT_CHECK(tacit_channel_receive(channel, said, sizeof said, error));
    tacit_digest_begin(&digest, "tacit OT extension leaves", NULL);
    for (size_t g = 0; g < OT_GROUPS; g++) {
        regrow(leaves + g * OT_LEAVES, &words[g], chosen, g, delta, cipher);
        hear_leaves(&digest, leaves + g * OT_LEAVES, &words[g], g, delta, cipher);
    }
    tacit_digest_end(&digest, all);
    if (sodium_memcmp(all, said, sizeof all) != 0)
        status = tacit_fail(error, TACIT_PROTOCOL,
                            "the peer cheats in oblivious transfer: its seeds are not of one set of trees");
cleanup:
    sodium_memzero(chosen, sizeof chosen);
    sodium_memzero(bits, sizeof bits);
    return status;
}
