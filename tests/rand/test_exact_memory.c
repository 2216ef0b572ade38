/* Every allocation fails once: the call fails cleanly, the vector is empty and usable again. And GMP and MPFR
 * never allocate, since they would end the process if they could not. */
#include "check.h"

#include "failing.h"

#include <gmp.h>
#include <stdlib.h>

#include "source.h"

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

/* At a tiny scale, which takes long numbers. */
static const double values[] = { 0.5, 1.5, -2.5, 0.25, 3.5, -4.5, 0.5, 6.5 };
static const int64_t wholes[] = { 1, -1, 0, 5, 2, 3, -7, 8 };
enum { VALUES = 8 };

static tacit_exact_request request_of(tacit_law noise) {
    tacit_exact_request request = noise >= TACIT_LAW_GEOMETRIC
                                      ? whole_request(noise, wholes, VALUES, 1e-100)
                                      : real_request(noise, values, VALUES, 1e-300, 0);
    request.parts = 3;
    return request;
}

static tacit_status fill_new(tacit_exact_vector **out, tacit_law noise, tacit_error *error) {
    source from;
    tacit_exact_request request = request_of(noise);
    source_begin(&from, 3, NULL, 0);
    TACIT_TRY(tacit_exact_vector_create(out, error));
    return tacit_exact_fill(*out, &request, &from.bits, error);
}

static void each_law_survives_each_failure(void **state) {
    (void)state;
    for (int noise = TACIT_LAW_UNIFORM; noise <= TACIT_LAW_POLYA; noise++) {
        long at = 1;
        for (bool failed = true; failed; at++) {
            tacit_exact_vector *vector = NULL;
            tacit_error error = TACIT_ERROR_INIT;
            fail_allocation(at);
            tacit_status status = fill_new(&vector, (tacit_law)noise, &error);
            failed = allocation_failed();
            assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
            if (vector != NULL) assert_int_equal(tacit_exact_vector_count(vector), failed ? 0 : VALUES);
            if (vector != NULL && failed) {
                source from;
                tacit_exact_request request = request_of((tacit_law)noise);
                source_begin(&from, 3, NULL, 0);
                CHECK_OK(tacit_exact_fill(vector, &request, &from.bits, NULL), error);
            }
            tacit_exact_vector_free(vector);
        }
        assert_true(at > 3);
    }
}

/* Noise that needs 64 digits: memory grows many times. */
static tacit_status fill_slowly(tacit_exact_vector **out) {
    source from;
    const double half = 0.5;
    tacit_exact_request request = real_request(TACIT_LAW_UNIFORM, &half, 1, 1, 0);
    source_begin(&from, 3, slow_words, sizeof slow_words / sizeof *slow_words);
    TACIT_TRY(tacit_exact_vector_create(out, NULL));
    return tacit_exact_fill(*out, &request, &from.bits, NULL);
}

static void adding_digits_survives_each_failure(void **state) {
    (void)state;
    long at = 1;
    for (bool failed = true; failed; at++) {
        tacit_exact_vector *vector = NULL;
        fail_allocation(at);
        tacit_status status = fill_slowly(&vector);
        failed = allocation_failed();
        assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
        if (vector != NULL) assert_int_equal(tacit_exact_vector_count(vector), failed ? 0 : 1);
        if (!failed) assert_int_equal(vector->space.refinements, 5); /* 2, 4, 8, 16, 32, 64 digits */
        tacit_exact_vector_free(vector);
    }
    assert_true(at > 10);
}

static void coins_survive_each_failure(void **state) {
    (void)state;
    /* A rival of 1/3 that agrees with the digits drawn for long (the first word ends the run that accepts
     * them), so that the race needs more of them. */
    const uint64_t third = UINT64_C(0x5555555555555555);
    const uint64_t words[] = { UINT64_MAX, third, third, third, third, third, UINT64_MAX };
    long at = 1;
    for (bool failed = true; failed; at++) {
        source from;
        tacit_space space = { .limbs = NULL };
        bool out = false;
        source_begin(&from, 1, words, sizeof words / sizeof *words);
        fail_allocation(at);
        tacit_status status = tacit_exact_race(&out, &space, 1, 3, &from.bits, NULL);
        failed = allocation_failed();
        assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
        assert_int_equal(out, !failed); /* the digit after the thirds is above that of 1/3 */
        tacit_space_clear(&space);
    }
    assert_true(at > 4);
}

static void the_big_number_library_takes_no_memory(void **state) {
    (void)state;
    gmp_allocations = 0;
    for (int noise = TACIT_LAW_UNIFORM; noise <= TACIT_LAW_POLYA; noise++) {
        tacit_exact_vector *vector = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(fill_new(&vector, (tacit_law)noise, &error), error);
        tacit_exact_vector_free(vector);
    }
    tacit_exact_vector *vector = NULL;
    assert_int_equal(fill_slowly(&vector), TACIT_OK);
    tacit_exact_vector_free(vector);
    assert_int_equal(gmp_allocations, 0);
    mpz_t control; /* the counter does count */
    mpz_init_set_ui(control, 1);
    mpz_mul_2exp(control, control, 1000);
    mpz_clear(control);
    assert_true(gmp_allocations > 0);
}

int main(void) {
    mp_set_memory_functions(gmp_malloc, gmp_realloc, gmp_free);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_law_survives_each_failure),
        cmocka_unit_test(adding_digits_survives_each_failure),
        cmocka_unit_test(coins_survive_each_failure),
        cmocka_unit_test(the_big_number_library_takes_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
