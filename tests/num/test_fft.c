#include "check.h"

#include <complex.h>
#include <stdbool.h>

#include "num/fft.h"

static bool refuse_memory;
void *__wrap_tacit_allocate(size_t count, size_t size);
void *__real_tacit_allocate(size_t count, size_t size);
static int allowed;

void *__wrap_tacit_allocate(size_t count, size_t size) {
    if (refuse_memory && allowed-- == 0) return NULL;
    return __real_tacit_allocate(count, size);
}

static uint64_t mixer = 1;

static double uniform(void) {
    mixer = mixer * 6364136223846793005u + 1442695040888963407u;
    return (double)(mixer >> 11) * 0x1p-53;
}

/* The definition, in extended precision. */
static void slow_transform(long double complex *out, const tacit_complex *in, size_t n) {
    for (size_t k = 0; k < n; k++) {
        out[k] = 0;
        for (size_t j = 0; j < n; j++) {
            long double angle =
                -2 * 3.14159265358979323846264338327950288L * (long double)(j * k % n) / (long double)n;
            out[k] += ((long double)in[j].re + (long double)in[j].im * I) * (cosl(angle) + sinl(angle) * I);
        }
    }
}

/* Every output keeps the promised distance from the definition, and is not much more accurate than promised:
 * the bound means something. */
static void transforms_keep_their_error_bound(void **state) {
    (void)state;
    for (size_t n = 1; n <= 1024; n *= 2) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_fft *fft = NULL;
        tacit_complex x[1024], original[1024];
        long double complex exact[1024];
        double norm = 0, worst = 0;
        CHECK_OK(tacit_fft_create(&fft, n, &error), error);
        for (size_t i = 0; i < n; i++) {
            original[i] = x[i] = (tacit_complex){ uniform() - 0.5, uniform() - 0.5 };
            norm += hypot(x[i].re, x[i].im);
        }
        slow_transform(exact, original, n);
        tacit_fft_forward(fft, x);
        for (size_t k = 0; k < n; k++)
            worst = fmax(worst, (double)cabsl(exact[k] - ((long double)x[k].re + (long double)x[k].im * I)));
        assert_true(worst <= tacit_fft_error(fft) * norm);
        tacit_fft_inverse(fft, x);
        for (size_t k = 0; k < n; k++) {
            CHECK_NEAR(x[k].re, original[k].re, 3e-15 * 11);
            CHECK_NEAR(x[k].im, original[k].im, 3e-15 * 11);
        }
        assert_true(tacit_fft_error(fft) < 1e-14);
        tacit_fft_free(fft);
    }
}

/* Negative control: a twiddle factor wrong in the 12th digit would be noticed by the check above. */
static void an_error_of_one_part_in_a_trillion_exceeds_the_bound(void **state) {
    (void)state;
    tacit_fft *fft = NULL;
    assert_int_equal(tacit_fft_create(&fft, 1024, NULL), TACIT_OK);
    assert_true(1e-12 > tacit_fft_error(fft) * 4);
    tacit_fft_free(fft);
}

static void lengths_that_are_no_power_of_two_are_refused(void **state) {
    (void)state;
    static const size_t wrong[] = { 0, 3, 12, 1000, ((size_t)1 << 26) + 1, (size_t)1 << 27, SIZE_MAX };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tacit_fft *fft = NULL;
        assert_int_equal(tacit_fft_create(&fft, wrong[i], NULL), TACIT_USAGE);
        assert_null(fft);
    }
    assert_null(tacit_fft_free(NULL));
}

static void each_failed_allocation_is_reported(void **state) {
    (void)state;
    tacit_fft *fft = NULL;
    tacit_status status = TACIT_NO_MEMORY;
    for (int at = 0; status != TACIT_OK; at++) {
        allowed = at;
        refuse_memory = true;
        status = tacit_fft_create(&fft, 8, NULL);
        refuse_memory = false;
        assert_true(status == TACIT_OK || status == TACIT_NO_MEMORY);
        assert_true(at < 10);
    }
    tacit_fft_free(fft);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transforms_keep_their_error_bound),
        cmocka_unit_test(an_error_of_one_part_in_a_trillion_exceeds_the_bound),
        cmocka_unit_test(lengths_that_are_no_power_of_two_are_refused),
        cmocka_unit_test(each_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
