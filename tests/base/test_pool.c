#include "check.h"

#include <stdatomic.h>

#include "base/memory.h"
#include "base/pool.h"

typedef struct visit {
    atomic_int *seen;
    size_t fail_at; /* SIZE_MAX: never */
    tacit_pool *nested;
    unsigned threads;
} visit;

static tacit_status count_visit(void *context, size_t begin, size_t end, unsigned worker,
                                tacit_error *error) {
    visit *all = context;
    if (worker >= all->threads) return tacit_fail(error, TACIT_INTERNAL, "worker %u out of range", worker);
    for (size_t i = begin; i < end; i++) {
        if (i >= all->fail_at) return tacit_fail(error, TACIT_INPUT, "index %zu failed", i);
        atomic_fetch_add(&all->seen[i], 1);
    }
    return TACIT_OK;
}

static void every_index_is_visited_once(void **state) {
    (void)state;
    for (unsigned threads = 1; threads <= 5; threads++) {
        tacit_pool *pool = NULL;
        assert_int_equal(tacit_pool_create(&pool, threads, NULL), TACIT_OK);
        for (size_t count = 0; count < 300; count += 37) {
            for (size_t grain = 0; grain < 20; grain += 3) {
                atomic_int seen[300] = { 0 };
                visit all = { seen, SIZE_MAX, NULL, threads };
                assert_int_equal(tacit_pool_for(pool, count, grain, count_visit, &all, NULL), TACIT_OK);
                for (size_t i = 0; i < 300; i++) assert_int_equal(seen[i], i < count);
            }
        }
        assert_null(tacit_pool_free(pool));
    }
}

static void the_lowest_failure_is_reported(void **state) {
    (void)state;
    tacit_pool *pool = NULL;
    assert_int_equal(tacit_pool_create(&pool, 4, NULL), TACIT_OK);
    for (int repeat = 0; repeat < 50; repeat++) {
        atomic_int seen[1000] = { 0 };
        visit all = { seen, 700, NULL, 4 };
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(tacit_pool_for(pool, 1000, 1000, count_visit, &all, &error), TACIT_INPUT);
        assert_string_equal(error.text, "index 700 failed");
    }
    tacit_pool_free(pool);
}

static tacit_status nest(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    visit *all = context;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        visit inner = { all->seen + 10 * i, SIZE_MAX, NULL, all->threads };
        TACIT_TRY(tacit_pool_for(all->nested, 10, 1, count_visit, &inner, error));
    }
    return TACIT_OK;
}

static void a_nested_loop_runs_inline(void **state) {
    (void)state;
    tacit_pool *pool = NULL;
    assert_int_equal(tacit_pool_create(&pool, 3, NULL), TACIT_OK);
    atomic_int seen[500] = { 0 };
    visit all = { seen, SIZE_MAX, pool, 3 };
    assert_int_equal(tacit_pool_for(pool, 50, 1, nest, &all, NULL), TACIT_OK);
    for (size_t i = 0; i < 500; i++) assert_int_equal(seen[i], 1);
    tacit_pool_free(pool);
}

static void no_pool_means_the_calling_thread(void **state) {
    (void)state;
    atomic_int seen[20] = { 0 };
    visit all = { seen, SIZE_MAX, NULL, 1 };
    assert_int_equal(tacit_pool_threads(NULL), 1);
    assert_int_equal(tacit_pool_for(NULL, 20, 3, count_visit, &all, NULL), TACIT_OK);
    for (size_t i = 0; i < 20; i++) assert_int_equal(seen[i], 1);
    assert_null(tacit_pool_free(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_is_visited_once),
        cmocka_unit_test(the_lowest_failure_is_reported),
        cmocka_unit_test(a_nested_loop_runs_inline),
        cmocka_unit_test(no_pool_means_the_calling_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
