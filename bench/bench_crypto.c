/*
 * Time of Paillier's operations, on one thread.
 *
 *   bench_crypto BITS REPEATS    a new key of BITS bits
 *
 * Prints one JSON line: processor seconds an operation, the best of the repeats, after checking that what was
 * computed decrypts to what it should.
 */
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "crypto/paillier/multiexp.h"
#include "crypto/paillier/paillier.h"
#include "crypto/paillier/slots.h"

enum { BATCH = 16, ROWS = 2, COLUMNS = 64, VALUES = 60, FACTOR_BITS = 48 };

typedef struct work {
    tacit_paillier_secret *secret;
    tacit_paillier_public *public;
    const tacit_paillier_public *key;
    tacit_entropy *entropy;
    tacit_buffer bytes;
    tacit_plaintexts *plain, *back, *packed;
    tacit_ciphertexts *c, *sum, *matrix, *row, *product, *packed_c, *packed_sum;
    tacit_slots slots;
    int64_t factor[COLUMNS], value[VALUES], out[VALUES];
} work;

/* Of the processor, so that other programs at work on the machine do not count. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef tacit_status step(work *self, tacit_error *error);

static tacit_status read_public(work *self, tacit_error *error) {
    tacit_paillier_public_free(self->public);
    self->public = NULL;
    return tacit_paillier_public_read(&self->public, self->bytes.bytes, self->bytes.length, error);
}

static tacit_status encrypt_short(work *self, tacit_error *error) {
    return tacit_paillier_encrypt(self->c, self->plain, TACIT_PAILLIER_SHORT, self->entropy, NULL, error);
}

static tacit_status encrypt_classic(work *self, tacit_error *error) {
    return tacit_paillier_encrypt(self->c, self->plain, TACIT_PAILLIER_CLASSIC, self->entropy, NULL, error);
}

static tacit_status decrypt(work *self, tacit_error *error) {
    return tacit_paillier_decrypt(self->back, self->secret, self->c, NULL, error);
}

static tacit_status add(work *self, tacit_error *error) {
    return tacit_paillier_add(self->sum, self->sum, self->c, NULL, error);
}

static tacit_status add_plain(work *self, tacit_error *error) {
    return tacit_paillier_add_plain(self->sum, self->sum, self->plain, NULL, error);
}

static tacit_status multiply(work *self, tacit_error *error) {
    return tacit_paillier_multiply(self->product, self->c, self->factor, FACTOR_BITS, NULL, error);
}

static tacit_status write_and_read(work *self, tacit_error *error) {
    tacit_ciphertexts *read = NULL;
    self->bytes.length = 0;
    TACIT_TRY(tacit_ciphertexts_write(self->c, &self->bytes, error));
    TACIT_TRY(tacit_ciphertexts_read(&read, self->key, self->bytes.bytes, self->bytes.length, BATCH, error));
    tacit_ciphertexts_free(read);
    return TACIT_OK;
}

static tacit_status rows_secret(work *self, tacit_error *error) {
    return tacit_paillier_multiply_matrix(self->row, self->matrix, self->factor, COLUMNS, FACTOR_BITS,
                                          TACIT_FACTORS_SECRET, NULL, error);
}

static tacit_status rows_public(work *self, tacit_error *error) {
    return tacit_paillier_multiply_matrix(self->row, self->matrix, self->factor, COLUMNS, FACTOR_BITS,
                                          TACIT_FACTORS_PUBLIC, NULL, error);
}

/* Each ciphertext times its factor, then added up: what the shared squarings save. */
static tacit_status rows_naive(work *self, tacit_error *error) {
    tacit_ciphertexts *scaled = NULL, *one = NULL;
    int64_t factors[ROWS * COLUMNS];
    tacit_status status;
    for (size_t i = 0; i < ROWS * COLUMNS; i++) factors[i] = self->factor[i % COLUMNS];
    TACIT_CHECK(tacit_ciphertexts_create(&scaled, self->key, ROWS * COLUMNS, error));
    TACIT_CHECK(tacit_paillier_multiply(scaled, self->matrix, factors, FACTOR_BITS, NULL, error));
    TACIT_CHECK(tacit_ciphertexts_create(&one, self->key, ROWS * COLUMNS, error));
    TACIT_CHECK(tacit_paillier_add(one, one, scaled, NULL, error));
cleanup:
    tacit_ciphertexts_free(one);
    tacit_ciphertexts_free(scaled);
    return status;
}

/* One party's VALUES numbers: packed, encrypted and added to the sum. */
static tacit_status packed_party(work *self, tacit_error *error) {
    TACIT_TRY(tacit_slots_pack(self->packed, &self->slots, self->value, VALUES, error));
    TACIT_TRY(tacit_paillier_encrypt(self->packed_c, self->packed, TACIT_PAILLIER_SHORT, self->entropy, NULL,
                                     error));
    return tacit_paillier_add(self->packed_sum, self->packed_sum, self->packed_c, NULL, error);
}

static tacit_status packed_open(work *self, tacit_error *error) {
    TACIT_TRY(tacit_paillier_decrypt(self->packed, self->secret, self->packed_sum, NULL, error));
    return tacit_slots_unpack_integers(self->out, &self->slots, VALUES, self->packed, error);
}

static tacit_status measure(work *self, const char *name, step *run, double operations, int repeats,
                            tacit_error *error) {
    double best = INFINITY;
    for (int r = 0; r < repeats; r++) {
        double start = now();
        TACIT_TRY(run(self, error));
        best = fmin(best, (now() - start) / operations);
    }
    printf(", \"%s\": %.6g", name, best);
    return TACIT_OK;
}

static tacit_status prepare(work *self, unsigned bits, tacit_error *error) {
    double start = now();
    TACIT_TRY(tacit_paillier_generate(&self->secret, bits, NULL, error));
    printf("{\"key generation\": %.6g", now() - start);
    self->key = tacit_paillier_public_of(self->secret);
    TACIT_TRY(tacit_entropy_create(&self->entropy, error));
    TACIT_TRY(tacit_slots_plan(&self->slots, self->key, 0x1p20, 40, 48, 1000, error));
    TACIT_TRY(tacit_plaintexts_create(&self->plain, self->key, BATCH, error));
    TACIT_TRY(tacit_plaintexts_create(&self->back, self->key, BATCH, error));
    TACIT_TRY(tacit_ciphertexts_create(&self->c, self->key, BATCH, error));
    TACIT_TRY(tacit_ciphertexts_create(&self->sum, self->key, BATCH, error));
    TACIT_TRY(tacit_ciphertexts_create(&self->product, self->key, BATCH, error));
    TACIT_TRY(tacit_ciphertexts_create(&self->matrix, self->key, ROWS * COLUMNS, error));
    TACIT_TRY(tacit_ciphertexts_create(&self->row, self->key, ROWS, error));
    size_t packed = tacit_slots_plaintexts(&self->slots, VALUES);
    TACIT_TRY(tacit_plaintexts_create(&self->packed, self->key, packed, error));
    TACIT_TRY(tacit_ciphertexts_create(&self->packed_c, self->key, packed, error));
    TACIT_TRY(tacit_ciphertexts_create(&self->packed_sum, self->key, packed, error));
    for (int i = 0; i < BATCH; i++) tacit_plaintexts_set(self->plain, (size_t)i, i * 1000003 - 7777777);
    for (int j = 0; j < COLUMNS; j++) self->factor[j] = (j % 2 ? 1 : -1) * (((int64_t)1 << 46) - 12345 * j);
    for (int i = 0; i < VALUES; i++) self->value[i] = (i % 2 ? 1 : -1) * (((int64_t)1 << 59) - i);
    TACIT_TRY(tacit_paillier_public_write(self->key, &self->bytes, error));
    tacit_plaintexts *seven = NULL;
    tacit_status status = tacit_plaintexts_create(&seven, self->key, ROWS * COLUMNS, error);
    for (size_t i = 0; status == TACIT_OK && i < ROWS * COLUMNS; i++) tacit_plaintexts_set(seven, i, 7);
    if (status == TACIT_OK)
        status =
            tacit_paillier_encrypt(self->matrix, seven, TACIT_PAILLIER_SHORT, self->entropy, NULL, error);
    tacit_plaintexts_free(seven);
    return status;
}

/* What the last runs left behind is right. */
static tacit_status check(work *self, tacit_error *error) {
    int64_t expected = 0, seen;
    tacit_plaintexts *rows = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_plaintexts_create(&rows, self->key, ROWS, error));
    TACIT_CHECK(tacit_paillier_decrypt(rows, self->secret, self->row, NULL, error));
    for (int j = 0; j < COLUMNS; j++) expected += 7 * self->factor[j];
    for (size_t i = 0; i < ROWS; i++) {
        TACIT_CHECK(tacit_plaintexts_get(&seen, rows, i, error));
        if (seen != expected) TACIT_CHECK(tacit_fail(error, TACIT_INTERNAL, "a weighted sum is wrong"));
    }
    for (size_t i = 0; i < BATCH; i++) {
        TACIT_CHECK(tacit_plaintexts_get(&seen, self->back, i, error));
        if (seen != (int64_t)i * 1000003 - 7777777)
            TACIT_CHECK(tacit_fail(error, TACIT_INTERNAL, "a number did not come back"));
    }
cleanup:
    tacit_plaintexts_free(rows);
    return status;
}

static tacit_status run_all(work *self, unsigned bits, int repeats, tacit_error *error) {
    TACIT_TRY(prepare(self, bits, error));
    TACIT_TRY(measure(self, "public key, read and prepared", read_public, 1, repeats, error));
    TACIT_TRY(measure(self, "encryption", encrypt_short, BATCH, repeats, error));
    TACIT_TRY(measure(self, "encryption, classic", encrypt_classic, BATCH, repeats, error));
    TACIT_TRY(measure(self, "decryption", decrypt, BATCH, repeats, error));
    TACIT_TRY(measure(self, "addition", add, BATCH, repeats, error));
    TACIT_TRY(measure(self, "addition of a plain number", add_plain, BATCH, repeats, error));
    TACIT_TRY(measure(self, "product by 48 bits", multiply, BATCH, repeats, error));
    TACIT_TRY(measure(self, "written and read", write_and_read, BATCH, repeats, error));
    double terms = ROWS * COLUMNS;
    TACIT_TRY(measure(self, "weighted sum, term by term", rows_naive, terms, repeats, error));
    TACIT_TRY(measure(self, "weighted sum, public weights", rows_public, terms, repeats, error));
    TACIT_TRY(measure(self, "weighted sum, secret weights", rows_secret, terms, repeats, error));
    TACIT_TRY(measure(self, "packed sum, a party's number", packed_party, VALUES, repeats, error));
    TACIT_TRY(measure(self, "packed sum, a number opened", packed_open, VALUES, repeats, error));
    TACIT_TRY(check(self, error));
    printf(", \"slots\": %u, \"slot bits\": %u}\n", self->slots.slots, self->slots.slot_bits);
    return TACIT_OK;
}

static void end(work *self) {
    tacit_buffer_clear(&self->bytes);
    tacit_plaintexts_free(self->plain);
    tacit_plaintexts_free(self->back);
    tacit_plaintexts_free(self->packed);
    tacit_ciphertexts *all[] = { self->c,       self->sum,      self->matrix,    self->row,
                                 self->product, self->packed_c, self->packed_sum };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tacit_ciphertexts_free(all[i]);
    tacit_entropy_free(self->entropy);
    tacit_paillier_public_free(self->public);
    tacit_paillier_secret_free(self->secret);
}

int main(int count, char **argument) {
    if (count != 3 || sodium_init() < 0) {
        fprintf(stderr, "usage: bench_crypto BITS REPEATS\n");
        return 2;
    }
    work self = { 0 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = run_all(&self, (unsigned)atoi(argument[1]), atoi(argument[2]), &error);
    if (status != TACIT_OK) fprintf(stderr, "bench_crypto: %s\n", error.text);
    end(&self);
    return status == TACIT_OK ? 0 : 1;
}
