/* A program's own allocator is asked for every byte of the library, and may say no. */
#include <stdio.h>

#include "library.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

static long asked, refused_at = -1, held; /* one thread alone */

static bool refuses(void) { return asked++ == refused_at; }

void *malloc(size_t size) {
    void *memory = refuses() ? NULL : __libc_malloc(size);
    held += memory != NULL;
    return memory;
}

void *calloc(size_t count, size_t size) {
    void *memory = refuses() ? NULL : __libc_calloc(count, size);
    held += memory != NULL;
    return memory;
}

void *realloc(void *before, size_t size) {
    void *memory = refuses() ? NULL : __libc_realloc(before, size);
    held += before == NULL && memory != NULL;
    return memory;
}

void free(void *memory) {
    held -= memory != NULL;
    __libc_free(memory);
}

static tacit_status make_table(tacit_error *error) {
    static const double age[3] = { 30, 40, 50 };
    static const int8_t ward[3] = { 0, 1, -1 };
    static const char *const wards[] = { "A", "B" };
    tacit_frame *frame = NULL;
    tacit_status status = tacit_frame_table(&frame, 3, error);
    if (status == TACIT_OK)
        status = tacit_frame_add_numbers(frame, "age", age, TACIT_VALUE_DOUBLE, 0, NULL, error);
    if (status == TACIT_OK)
        status = tacit_frame_add_categories(frame, "ward", ward, TACIT_VALUE_INT8, 0, 0, wards, 2, error);
    tacit_frame_free(frame);
    return status;
}

static void the_library_asks_the_programs_allocator(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    const long before = asked, kept = held;
    CHECK_OK(make_table(&error), error);
    assert_true(asked - before > 5);
    assert_int_equal(held, kept);
}

/* One allocation after the other is refused, until none is left to refuse. */
static void a_refused_allocation_is_a_status_and_no_loss(void **state) {
    (void)state;
    for (long k = 0;; k++) {
        tacit_error error = TACIT_ERROR_INIT;
        const long kept = held;
        refused_at = asked + k;
        const tacit_status status = make_table(&error);
        const bool came = asked > refused_at;
        refused_at = -1;
        assert_int_equal(held, kept);
        if (!came) {
            assert_int_equal(status, TACIT_OK);
            assert_true(k > 5);
            break;
        }
        assert_int_equal(status, TACIT_NO_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_asks_the_programs_allocator),
        cmocka_unit_test(a_refused_allocation_is_a_status_and_no_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
