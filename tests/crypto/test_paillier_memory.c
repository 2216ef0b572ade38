/* Every allocation fails once: the call fails cleanly. And GMP never allocates: it would end the process if it could
 * not, and keep what it had been given. */
#include "failing.h"
#include "keys.h"

#include "crypto/multiexp.h"
#include "crypto/slots.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failed_allocation_is_survived),
        cmocka_unit_test(gmp_never_allocates),
    };
    return cmocka_run_group_tests_name("Paillier memory", tests, NULL, NULL);
}
