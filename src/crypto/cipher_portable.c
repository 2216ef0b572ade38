/*
 * Constant-time AES without tables: four blocks are 64 bytes, whose bits are sliced into eight words; the
 * S-box is inversion in GF(256) as a tower over GF(16), done on all 64 bytes at once with AND and XOR. Rows
 * and columns are mixed on the bytes.
 */
#include <string.h>

#include "crypto/cipher_parts.h"
#include "crypto/field128_parts.h"
#include "crypto/transpose_parts.h"

/* In each byte place, an 8 x 8 transposition of word index and bit index; its own inverse. */
static void slice(uint64_t word[8]) {
    static const uint64_t masks[3] = { UINT64_C(0x5555555555555555), UINT64_C(0x3333333333333333),
                                       UINT64_C(0x0f0f0f0f0f0f0f0f) };
    for (unsigned k = 0; k < 3; k++)
        for (unsigned i = 0; i < 8; i++) {
            unsigned step = 1u << k, j = i | step;
            if (j == i) continue;
            uint64_t moved = ((word[i] >> step) ^ word[j]) & masks[k];
            word[j] ^= moved;
            word[i] ^= moved << step;
        }
}

/* Bits of 64 elements of GF(16) = GF(2)[z] / (z^4 + z + 1). */
typedef struct nibbles {
    uint64_t z[4];
} nibbles;

static nibbles add(nibbles a, nibbles b) {
    return (nibbles){ { a.z[0] ^ b.z[0], a.z[1] ^ b.z[1], a.z[2] ^ b.z[2], a.z[3] ^ b.z[3] } };
}

static nibbles multiply(nibbles a, nibbles b) {
    uint64_t sum[7] = { 0 };
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) sum[i + j] ^= a.z[i] & b.z[j];
    /* z^4 = z + 1, z^5 = z^2 + z, z^6 = z^3 + z^2 */
    return (
        nibbles){ { sum[0] ^ sum[4], sum[1] ^ sum[4] ^ sum[5], sum[2] ^ sum[5] ^ sum[6], sum[3] ^ sum[6] } };
}

static nibbles square(nibbles a) { return (nibbles){ { a.z[0] ^ a.z[2], a.z[2], a.z[1] ^ a.z[3], a.z[3] } }; }

/* x^14 = x^2 x^4 x^8, which is 0 for 0. */
static nibbles invert(nibbles a) {
    nibbles two = square(a), four = square(two);
    return multiply(multiply(two, four), square(four));
}

/*
 * The S-box of 64 bytes. GF(256) of FIPS 197 is GF(16)(Y) with z = 0x5d, Y = 0x1f, Y^2 + Y = n = z^3 + z^2 +
 * z. The first lines below write a byte as aY + b, the last ones go back and apply the affine map (5.1.1). In
 * between,
 *     1/(aY + b) = (a / N) Y + (a + b) / N,   N = n a^2 + ab + b^2.
 */
static void substitute(uint64_t x[8]) {
    slice(x);
    nibbles b = { { x[0] ^ x[1] ^ x[6], x[2] ^ x[3] ^ x[6] ^ x[7], x[2] ^ x[4] ^ x[7],
                    x[1] ^ x[2] ^ x[6] ^ x[7] } };
    nibbles a = { { x[1] ^ x[2] ^ x[3] ^ x[5] ^ x[7], x[1] ^ x[4] ^ x[5] ^ x[6], x[2] ^ x[3], x[5] ^ x[7] } };
    nibbles scaled = { { a.z[1] ^ a.z[2], a.z[0], a.z[0] ^ a.z[1] ^ a.z[3], a.z[0] ^ a.z[1] } }; /* n a^2 */
    nibbles norm = invert(add(scaled, add(multiply(a, b), square(b))));
    nibbles low = multiply(add(a, b), norm), high = multiply(a, norm);
    const uint64_t *u = low.z, *v = high.z;
    x[0] = ~(u[0] ^ u[1] ^ v[1] ^ v[2]);
    x[1] = ~(u[0] ^ v[3]);
    x[2] = u[0] ^ u[1] ^ u[2] ^ v[0] ^ v[1];
    x[3] = u[0] ^ u[1];
    x[4] = u[0] ^ u[2] ^ u[3] ^ v[0] ^ v[3];
    x[5] = ~(u[1] ^ u[2] ^ u[3] ^ v[3]);
    x[6] = ~(v[0] ^ v[1] ^ v[3]);
    x[7] = u[1] ^ u[2] ^ v[3];
    slice(x);
}

/* Row r of a block moves r columns to the left; byte r + 4c of a block is row r, column c. */
static void shift_rows(uint64_t block[2]) {
    uint32_t column[4] = { (uint32_t)block[0], (uint32_t)(block[0] >> 32), (uint32_t)block[1],
                           (uint32_t)(block[1] >> 32) };
    uint32_t to[4];
    for (unsigned c = 0; c < 4; c++)
        to[c] = (column[c] & 0xffu) | (column[(c + 1) % 4] & 0xff00u) | (column[(c + 2) % 4] & 0xff0000u) |
                (column[(c + 3) % 4] & 0xff000000u);
    block[0] = to[0] | (uint64_t)to[1] << 32;
    block[1] = to[2] | (uint64_t)to[3] << 32;
}

static uint64_t rotate_rows(uint64_t x) {
    return (x >> 8 & UINT64_C(0x00ffffff00ffffff)) | (x << 24 & UINT64_C(0xff000000ff000000));
}

static uint64_t double_bytes(uint64_t x) {
    uint64_t carry = x >> 7 & UINT64_C(0x0101010101010101);
    return (x << 1 & UINT64_C(0xfefefefefefefefe)) ^ carry * 0x1b;
}

static uint64_t mix_columns(uint64_t x) {
    uint64_t one = rotate_rows(x), two = rotate_rows(one), three = rotate_rows(two);
    return double_bytes(x ^ one) ^ one ^ two ^ three;
}

/* Four keys at once. */
static void expand4(tacit_aes_key *const out[4], const tacit_wire key[4]) {
    uint64_t constant = 1;
    for (int k = 0; k < 4; k++) out[k]->round[0] = key[k];
    for (int r = 1; r <= TACIT_AES_ROUNDS; r++) {
        uint64_t word[8] = { 0 };
        for (int k = 0; k < 4; k++) word[k] = rotate_rows(out[k]->round[r - 1].half[1]) >> 32;
        substitute(word);
        for (int k = 0; k < 4; k++) {
            tacit_wire last = out[k]->round[r - 1];
            uint64_t low = last.half[0] ^ last.half[0] << 32, high = last.half[1] ^ last.half[1] << 32;
            uint64_t mixed = (word[k] ^ constant) & UINT32_MAX;
            low ^= mixed | mixed << 32;
            uint64_t column = low >> 32;
            high ^= column | column << 32;
            out[k]->round[r] = (tacit_wire){ { low, high } };
        }
        constant = double_bytes(constant);
    }
}

static void encrypt4(tacit_wire block[4], const tacit_aes_key *const key[4]) {
    uint64_t word[8];
    for (int k = 0; k < 8; k++) word[k] = block[k / 2].half[k % 2] ^ key[k / 2]->round[0].half[k % 2];
    for (int r = 1; r <= TACIT_AES_ROUNDS; r++) {
        substitute(word);
        for (int k = 0; k < 4; k++) shift_rows(word + 2 * k);
        for (int k = 0; k < 8; k++) {
            if (r < TACIT_AES_ROUNDS) word[k] = mix_columns(word[k]);
            word[k] ^= key[k / 2]->round[r].half[k % 2];
        }
    }
    for (int k = 0; k < 8; k++) block[k / 2].half[k % 2] = word[k];
}

static void portable_expand_key(tacit_aes_key *out, tacit_wire key) {
    tacit_aes_key expanded[4];
    tacit_aes_key *const all[4] = { &expanded[0], &expanded[1], &expanded[2], &expanded[3] };
    const tacit_wire keys[4] = { key, key, key, key };
    expand4(all, keys);
    *out = expanded[0];
}

static void portable_counter(tacit_wire *out, const tacit_aes_key *key, uint64_t counter, size_t blocks) {
    const tacit_aes_key *const keys[4] = { key, key, key, key };
    for (size_t at = 0; at < blocks; at += 4) {
        tacit_wire block[4];
        for (size_t k = 0; k < 4; k++) block[k] = (tacit_wire){ { counter + at + k, 0 } };
        encrypt4(block, keys);
        for (size_t k = 0; k < 4 && at + k < blocks; k++) out[at + k] = block[k];
    }
}

/* H of four values under their tweaks. */
static void hash4(tacit_wire out[4], const tacit_wire in[4], const tacit_hash_key *key,
                  const uint64_t tweak[4]) {
    tacit_wire fed[4], block[4];
    if (key->is_fixed) {
        const tacit_aes_key *const keys[4] = { &key->fixed, &key->fixed, &key->fixed, &key->fixed };
        memcpy(fed, in, sizeof fed);
        encrypt4(fed, keys);
        for (int k = 0; k < 4; k++) block[k] = tacit_wire_xor(fed[k], (tacit_wire){ { tweak[k], 0 } });
        encrypt4(block, keys);
    } else {
        tacit_aes_key expanded[4];
        tacit_aes_key *const to[4] = { &expanded[0], &expanded[1], &expanded[2], &expanded[3] };
        const tacit_aes_key *const keys[4] = { &expanded[0], &expanded[1], &expanded[2], &expanded[3] };
        tacit_wire start[4];
        for (int k = 0; k < 4; k++) {
            start[k] = tacit_tweaked(key->start, tweak[k]);
            fed[k] = block[k] = tacit_orthomorphism(in[k]);
        }
        expand4(to, start);
        encrypt4(block, keys);
    }
    for (int k = 0; k < 4; k++) out[k] = tacit_wire_xor(block[k], fed[k]);
}

static void portable_hash(tacit_wire *out, const tacit_wire *in, const tacit_hash_key *key, uint64_t tweak,
                          size_t count) {
    for (size_t at = 0; at < count; at += 4) {
        size_t part = count - at < 4 ? count - at : 4;
        tacit_wire block[4] = { { { 0, 0 } } };
        memcpy(block, in + at, part * sizeof *in);
        uint64_t base = tweak + at, tweaks[4] = { base, base + 1, base + 2, base + 3 };
        hash4(block, block, key, tweaks);
        memcpy(out + at, block, part * sizeof *out);
    }
}

/* One gate: its two table entries; the label of zero is returned. */
static tacit_wire garble_gate(tacit_wire table[2], tacit_wire a, tacit_wire b, tacit_wire delta,
                              const tacit_hash_key *key, uint64_t tweak) {
    const tacit_wire in[4] = { a, tacit_wire_xor(a, delta), b, tacit_wire_xor(b, delta) };
    const uint64_t tweaks[4] = { tweak, tweak, tweak + 1, tweak + 1 };
    tacit_wire h[4];
    hash4(h, in, key, tweaks);
    uint8_t pa = tacit_wire_colour(a), pb = tacit_wire_colour(b);
    tacit_wire both = tacit_wire_xor(h[2], h[3]); /* TE ^ A0 */
    table[0] = tacit_wire_xor(tacit_wire_xor(h[0], h[1]), tacit_wire_if(pb, delta));
    table[1] = tacit_wire_xor(both, a);
    return tacit_wire_xor(tacit_wire_xor(h[0], tacit_wire_if(pa, table[0])),
                          tacit_wire_xor(h[2], tacit_wire_if(pb, both)));
}

static void portable_garble(tacit_wire *out, uint8_t *table, const tacit_wire *a, const tacit_wire *b,
                            tacit_wire delta, const tacit_hash_key *key, uint64_t tweak, size_t count) {
    for (size_t at = 0; at < count; at += 4) {
        size_t part = count - at < 4 ? count - at : 4;
        for (size_t k = 0; k < part; k++) {
            tacit_wire row[2];
            out[at + k] = garble_gate(row, a[at + k], b[at + k], delta, key, tweak + 2 * (at + k));
            memcpy(table + TACIT_GATE_BYTES * at + 16 * k, &row[0], 16);
            memcpy(table + TACIT_GATE_BYTES * at + 16 * (part + k), &row[1], 16);
        }
    }
}

/* Two gates, their hashes together. */
static void evaluate_pair(tacit_wire out[2], const tacit_wire row[4], const tacit_wire a[2],
                          const tacit_wire b[2], const tacit_hash_key *key, uint64_t tweak) {
    const tacit_wire in[4] = { a[0], b[0], a[1], b[1] };
    const uint64_t tweaks[4] = { tweak, tweak + 1, tweak + 2, tweak + 3 };
    tacit_wire h[4];
    hash4(h, in, key, tweaks);
    for (int k = 0; k < 2; k++) {
        tacit_wire half = tacit_wire_xor(h[2 * k], tacit_wire_if(tacit_wire_colour(a[k]), row[2 * k]));
        tacit_wire rest = tacit_wire_if(tacit_wire_colour(b[k]), tacit_wire_xor(row[2 * k + 1], a[k]));
        out[k] = tacit_wire_xor(half, tacit_wire_xor(h[2 * k + 1], rest));
    }
}

static void portable_evaluate(tacit_wire *out, const uint8_t *table, const tacit_wire *a, const tacit_wire *b,
                              const tacit_hash_key *key, uint64_t tweak, size_t count) {
    for (size_t at = 0; at < count; at += 2) {
        size_t part = count - at < 2 ? count - at : 2, group = at / 4 * 4;
        size_t in_group = count - group < 4 ? count - group : 4;
        tacit_wire row[4] = { { { 0, 0 } } }, left[2] = { { { 0, 0 } } }, right[2] = { { { 0, 0 } } };
        for (size_t k = 0; k < part; k++) {
            const uint8_t *from = table + TACIT_GATE_BYTES * group + 16 * (at + k - group);
            memcpy(&row[2 * k], from, 16);
            memcpy(&row[2 * k + 1], from + 16 * in_group, 16);
            left[k] = a[at + k];
            right[k] = b[at + k];
        }
        evaluate_pair(left, row, left, right, key, tweak + 2 * at);
        memcpy(out + at, left, part * sizeof *out);
    }
}

static void portable_transpose(tacit_wire *out, const uint8_t *rows, size_t stride, size_t columns) {
    tacit_transpose_rows(out, rows, stride, columns);
}

static tacit_wire portable_polynomial(const tacit_wire power[4], const tacit_wire *x, size_t blocks) {
    tacit_wire sum = { { 0, 0 } };
    for (size_t k = 0; k < blocks; k++) sum = tacit_wire_xor(tacit_field_multiply(sum, power[0]), x[k]);
    return sum;
}

const tacit_cipher tacit_cipher_portable = { portable_expand_key, portable_counter,  portable_hash,
                                             portable_garble,     portable_evaluate, portable_transpose,
                                             portable_polynomial };
