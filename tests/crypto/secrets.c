/*
 * Run under valgrind, which follows every bit that is not initialised: secrets are declared such, and a
 * branch or an address that depends on one is an error. Without an argument the inner loops run; with "leak"
 * a branch on a secret, which must be found, or the check is worth nothing. (valgrind does not know VAES; its
 * file has no branch but on counts.)
 */
#include <stdio.h>
#include <string.h>
#include <valgrind/memcheck.h>

#include "crypto/cipher_parts.h"

enum { COUNT = 11, COLUMNS = 512 };

static tacit_wire a[COUNT], b[COUNT], out[COLUMNS], delta = { { 1, 2 } };
static uint8_t table[COUNT * TACIT_GATE_BYTES], rows[128 * COLUMNS / 8];

static void run(const tacit_cipher *cipher, int is_fixed) {
    tacit_hash_key hash = { .start = { { 5, 6 } }, .is_fixed = is_fixed };
    tacit_aes_key key;
    tacit_wire seed = { { 7, 8 } };
    cipher->expand_key(&hash.fixed, hash.start); /* public */
    VALGRIND_MAKE_MEM_UNDEFINED(&seed, sizeof seed);
    VALGRIND_MAKE_MEM_UNDEFINED(&delta, sizeof delta);
    VALGRIND_MAKE_MEM_UNDEFINED(a, sizeof a);
    VALGRIND_MAKE_MEM_UNDEFINED(b, sizeof b);
    VALGRIND_MAKE_MEM_UNDEFINED(rows, sizeof rows);
    cipher->expand_key(&key, seed);
    cipher->counter(out, &key, 3, COUNT);
    cipher->hash(out, a, &hash, 4, COUNT);
    cipher->garble(out, table, a, b, delta, &hash, 9, COUNT);
    cipher->evaluate(out, table, a, b, &hash, 9, COUNT);
    cipher->transpose(out, rows, COLUMNS / 8, COLUMNS);
    const tacit_wire power[4] = { { { 1, 2 } }, { { 3, 4 } }, { { 5, 6 } }, { { 7, 8 } } }; /* public */
    out[0] = cipher->polynomial(power, a, COUNT / 4 * 4);
    tacit_wire chosen = tacit_wire_xor(a[0], tacit_wire_if(b[0].half[0], delta));
    VALGRIND_MAKE_MEM_DEFINED(&chosen, sizeof chosen);
}

int main(int count, char **argument) {
    if (count == 2 && strcmp(argument[1], "leak") == 0) {
        VALGRIND_MAKE_MEM_UNDEFINED(a, sizeof a);
        volatile int seen = 0;
        if (tacit_wire_colour(a[0]) != 0) seen = 1;
        return seen;
    }
    for (tacit_engine engine = 0; engine < TACIT_ENGINES; engine++)
        if (tacit_engine_available(engine))
            for (int is_fixed = 0; is_fixed < 2; is_fixed++) run(tacit_cipher_of(engine), is_fixed);
    puts("1..1\nok 1 - no branch and no address depends on a secret");
    return 0;
}
