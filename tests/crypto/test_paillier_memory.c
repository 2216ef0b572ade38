/* Every allocation fails once: the call fails cleanly. GMP never allocates: it would end the process if it
 * could not, and keep what it had been given. And no freed memory holds a prime or a plaintext. */
#include "failing.h"
#include "keys.h"

#include <malloc.h>
#include <sodium.h>

#include "crypto/paillier/multiexp.h"
#include "crypto/paillier/slots.h"

static long gmp_allocations;

static void *gmp_malloc(size_t size) {
    gmp_allocations++;
    return __real_malloc(size);
}

static void *gmp_realloc(void *block, size_t old_size, size_t size) {
    (void)old_size;
    gmp_allocations++;
    return __real_realloc(block, size);
}

static void gmp_free(void *block, size_t size) {
    (void)size;
    free(block);
}

/* free() goes through here too: does the block still hold one of the watched secrets? */
typedef struct watched {
    const void *bytes;
    size_t length;
} watched;

static watched watch_list[3];
static long freed_secrets;

void __real_free(void *block);
void __wrap_free(void *block);

void __wrap_free(void *block) {
    for (size_t i = 0; block != NULL && i < sizeof watch_list / sizeof *watch_list; i++)
        if (watch_list[i].bytes != NULL &&
            memmem(block, malloc_usable_size(block), watch_list[i].bytes, watch_list[i].length) != NULL)
            freed_secrets++;
    __real_free(block);
}

typedef struct trip {
    tacit_paillier_secret *secret, *again;
    tacit_paillier_public *public;
    tacit_plaintexts *plain;
    tacit_ciphertexts *c, *read, *row;
    tacit_entropy *entropy;
    tacit_buffer bytes, secret_bytes;
} trip;

static void end_trip(trip *self) {
    tacit_buffer_clear(&self->bytes);
    tacit_buffer_clear(&self->secret_bytes);
    tacit_entropy_free(self->entropy);
    tacit_ciphertexts_free(self->row);
    tacit_ciphertexts_free(self->read);
    tacit_ciphertexts_free(self->c);
    tacit_plaintexts_free(self->plain);
    tacit_paillier_public_free(self->public);
    tacit_paillier_secret_free(self->again);
    tacit_paillier_secret_free(self->secret);
}

static tacit_status keys_and_bytes(trip *self, unsigned bits, tacit_error *error) {
    TACIT_TRY(tacit_paillier_generate_sized(&self->secret, bits, 128, NULL, error));
    TACIT_TRY(tacit_paillier_public_write(tacit_paillier_public_of(self->secret), &self->bytes, error));
    TACIT_TRY(
        tacit_paillier_public_read_sized(&self->public, self->bytes.bytes, self->bytes.length, 128, error));
    TACIT_TRY(tacit_paillier_secret_write(self->secret, &self->secret_bytes, error));
    return tacit_paillier_secret_read_sized(&self->again, self->secret_bytes.bytes, self->secret_bytes.length,
                                            128, error);
}

static tacit_status numbers_and_sums(trip *self, tacit_error *error) {
    const int64_t values[4] = { 1, 2, -3, 4 };
    int64_t out[4];
    tacit_slots layout;
    TACIT_TRY(tacit_entropy_create(&self->entropy, error));
    TACIT_TRY(tacit_slots_plan(&layout, self->public, 4, 0, 8, 4, error));
    TACIT_TRY(tacit_plaintexts_create(&self->plain, self->public, 1, error));
    TACIT_TRY(tacit_slots_pack(self->plain, &layout, values, 4, error));
    TACIT_TRY(tacit_ciphertexts_create(&self->c, self->public, 1, error));
    TACIT_TRY(tacit_paillier_encrypt(self->c, self->plain, TACIT_PAILLIER_SHORT, self->entropy, NULL, error));
    TACIT_TRY(tacit_paillier_rerandomise(self->c, TACIT_PAILLIER_CLASSIC, self->entropy, NULL, error));
    TACIT_TRY(tacit_paillier_multiply(self->c, self->c, &values[1], 8, NULL, error));
    TACIT_TRY(tacit_ciphertexts_create(&self->row, self->public, 1, error));
    TACIT_TRY(tacit_paillier_multiply_matrix(self->row, self->c, &values[2], 1, 8, TACIT_FACTORS_PUBLIC, NULL,
                                             error));
    self->bytes.length = 0;
    TACIT_TRY(tacit_ciphertexts_write(self->row, &self->bytes, error));
    TACIT_TRY(
        tacit_ciphertexts_read(&self->read, self->public, self->bytes.bytes, self->bytes.length, 1, error));
    TACIT_TRY(tacit_paillier_decrypt(self->plain, self->again, self->read, NULL, error));
    TACIT_TRY(tacit_slots_unpack_integers(out, &layout, 4, self->plain, error));
    for (size_t i = 0; i < 4; i++) assert_int_equal(out[i], values[i] * 2 * -3);
    return TACIT_OK;
}

static tacit_status whole_trip(trip *self, unsigned bits, tacit_error *error) {
    TACIT_TRY(keys_and_bytes(self, bits, error));
    return numbers_and_sums(self, error);
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    long at = 1;
    for (bool failed = true; failed; at++) {
        trip self = { 0 };
        tacit_error error = TACIT_ERROR_INIT;
        fail_allocation(at);
        tacit_status status = whole_trip(&self, 128, &error);
        failed = allocation_failed();
        assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
        end_trip(&self);
    }
    assert_true(at > 30);
}

static void gmp_never_allocates(void **state) {
    (void)state;
    static const unsigned sizes[] = { 128, 512, 1024 };
    mp_set_memory_functions(gmp_malloc, gmp_realloc, gmp_free);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        trip self = { 0 };
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(whole_trip(&self, sizes[i], &error), error);
        end_trip(&self);
    }
    trip full = { .again = stored_key(FULL_KEY) };
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_paillier_public_write(tacit_paillier_public_of(full.again), &full.bytes, &error), error);
    CHECK_OK(tacit_paillier_public_read(&full.public, full.bytes.bytes, full.bytes.length, &error), error);
    CHECK_OK(numbers_and_sums(&full, &error), error);
    end_trip(&full);
    assert_int_equal(gmp_allocations, 0);
    mp_set_memory_functions(NULL, NULL, NULL);
}

static void what_is_freed_holds_no_secret(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_secret *secret = stored_key(SHORT_KEY), *again = NULL;
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    uint8_t *room, number[32], primes[2][16];
    tacit_entropy *entropy = new_entropy();
    tacit_plaintexts *plain = new_plaintexts(key, 1);
    tacit_ciphertexts *c = new_ciphertexts(key, 1);
    /* The same read backwards, as it may be kept, and unlike any filling of malloc's. */
    for (size_t i = 0; i < sizeof number / 2; i++)
        number[i] = number[sizeof number - 1 - i] = (11 + 37 * i) & 0x3f;
    memcpy(primes[0], secret->p.p.m, 16);
    memcpy(primes[1], secret->q.p.m, 16);
    watch_list[0] = (watched){ primes[0], 16 };
    watch_list[1] = (watched){ primes[1], 16 };
    watch_list[2] = (watched){ number, sizeof number };
    CHECK_OK(tacit_buffer_reserve(&bytes, 4096, &room, &error), error);
    CHECK_OK(tacit_paillier_secret_write(secret, &bytes, &error), error);
    CHECK_OK(tacit_paillier_secret_read_sized(&again, bytes.bytes, bytes.length, 256, &error), error);
    sodium_memzero(bytes.bytes, bytes.length);
    CHECK_OK(tacit_plaintexts_set_bytes(plain, 0, number, sizeof number, &error), error);
    CHECK_OK(tacit_paillier_encrypt(c, plain, TACIT_PAILLIER_SHORT, entropy, NULL, &error), error);
    CHECK_OK(tacit_paillier_decrypt(plain, again, c, NULL, &error), error);
    tacit_buffer_clear(&bytes);
    tacit_ciphertexts_free(c);
    tacit_plaintexts_free(plain);
    tacit_entropy_free(entropy);
    tacit_paillier_secret_free(again);
    tacit_paillier_secret_free(secret);
    assert_int_equal(freed_secrets, 0);
    uint8_t *control = malloc(64); /* the watch does see one */
    memcpy(control + 7, number, sizeof number);
    __wrap_free(control);
    assert_int_equal(freed_secrets, 1);
    memset(watch_list, 0, sizeof watch_list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failed_allocation_is_survived),
        cmocka_unit_test(gmp_never_allocates),
        cmocka_unit_test(what_is_freed_holds_no_secret),
    };
    return cmocka_run_group_tests_name("Paillier memory", tests, NULL, NULL);
}
