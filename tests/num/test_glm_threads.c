/* The same bits for any number of threads; many fits at once; rows spread over holders. */
#include "problems.h"

#include <pthread.h>

static const tacit_loss *const losses[] = { &tacit_family_logistic.loss, &tacit_family_huber.loss,
                                            &tacit_family_softmax.loss };

static void same_bits(const recipe *r, uint64_t seed) {
    made m;
    make(&m, r, seed);
    size_t size = tacit_glm_size(&m.problem);
    double *first = TACIT_NEW(double, size), *w = TACIT_NEW(double, size);
    tacit_glm_fit fit_first, fit;
    tacit_error error = TACIT_ERROR_INIT;
    for (unsigned threads = 1; threads <= 3; threads++) {
        tacit_pool *pool = NULL;
        CHECK_OK(tacit_pool_create(&pool, threads, &error), error);
        tacit_glm_settings settings = tacit_glm_defaults();
        settings.pool = pool;
        memset(w, 0, size * sizeof *w);
        CHECK_OK(tacit_glm_solve(&m.problem, &settings, w, &fit, &error), error);
        if (threads == 1) {
            memcpy(first, w, size * sizeof *w);
            fit_first = fit;
        }
        assert_memory_equal(first, w, size * sizeof *w);
        assert_true(fit.objective == fit_first.objective && fit.gradient_bound == fit_first.gradient_bound);
        tacit_pool_free(pool);
    }
    free(first);
    free(w);
    unmake(&m);
}

static void results_do_not_depend_on_threads(void **state) {
    (void)state;
    for (size_t l = 0; l < 3; l++)
        for (int sparse = 0; sparse < 2; sparse++) {
            size_t classes = losses[l] == &tacit_family_softmax.loss ? 3 : 2;
            recipe tall = { .loss = losses[l],
                            .rows = 9000,
                            .cols = 11,
                            .classes = classes,
                            .lambda = 1e-4,
                            .sparse = sparse };
            same_bits(&tall, 1);
            recipe sampled = { .loss = losses[l],
                               .rows = 36000,
                               .cols = 5,
                               .classes = classes,
                               .lambda = 1e-4,
                               .sparse = sparse };
            same_bits(&sampled, 2);
            recipe small = { .loss = losses[l],
                             .rows = 20,
                             .cols = 90,
                             .classes = classes,
                             .lambda = 1e-4,
                             .sparse = sparse };
            same_bits(&small, 3);
        }
    recipe wide = {
        .loss = &tacit_family_softmax.loss, .rows = 1500, .cols = 80, .classes = 5, .lambda = 1e-4
    };
    same_bits(&wide, 4); /* conjugate gradients */
}

/* --- many fits inside a pool's tasks --- */

enum { FITS = 64 };

typedef struct party_fits {
    const made *m;
    tacit_pool *pool;
    double (*w)[40];
} party_fits;

static tacit_status fit_parties(void *context, size_t begin, size_t end, unsigned worker,
                                tacit_error *error) {
    party_fits *all = context;
    (void)worker;
    for (size_t f = begin; f < end; f++) {
        tacit_glm_problem problem = all->m->problem;
        problem.x = tacit_rows_slice(&problem.x, 8 * f, f % 2 ? 8 : 60); /* both paths */
        tacit_glm_settings settings = tacit_glm_defaults();
        settings.pool = all->pool;
        TACIT_TRY(tacit_glm_solve(&problem, &settings, all->w[f], NULL, error));
    }
    return TACIT_OK;
}

static void fits_inside_tasks_are_the_fits_outside(void **state) {
    (void)state;
    recipe r = {
        .loss = &tacit_family_logistic.loss, .rows = 8 * FITS + 60, .cols = 40, .classes = 2, .lambda = 1e-2
    };
    made m;
    make(&m, &r, 6);
    static double alone[FITS][40], shared[FITS][40];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_pool *pool = NULL;
    CHECK_OK(tacit_pool_create(&pool, 4, &error), error);
    party_fits all = { &m, NULL, alone };
    CHECK_OK(tacit_pool_for(NULL, FITS, 1, fit_parties, &all, &error), error);
    all = (party_fits){ &m, pool, shared };
    CHECK_OK(tacit_pool_for(pool, FITS, 1, fit_parties, &all, &error), error);
    assert_memory_equal(alone, shared, sizeof alone);
    tacit_pool_free(pool);
    unmake(&m);
}

/* --- rows spread over holders --- */

enum { HOLDERS = 3 };

typedef struct meeting {
    pthread_barrier_t barrier;
    double *offered[HOLDERS];
} meeting;

typedef struct holder {
    meeting *place;
    size_t number;
    tacit_glm_problem problem;
    double *w;
    tacit_glm_fit fit;
    tacit_status status;
    tacit_error error;
} holder;

static tacit_status sum_over_holders(void *context, double *values, size_t count, tacit_error *error) {
    holder *self = context;
    double *sum = TACIT_NEW(double, count);
    (void)error;
    self->place->offered[self->number] = values;
    pthread_barrier_wait(&self->place->barrier);
    for (size_t h = 0; h < HOLDERS; h++)
        for (size_t i = 0; i < count; i++) sum[i] += self->place->offered[h][i];
    pthread_barrier_wait(&self->place->barrier);
    memcpy(values, sum, count * sizeof *sum);
    free(sum);
    return TACIT_OK;
}

static void *hold(void *argument) {
    holder *self = argument;
    tacit_reducer reducer = { sum_over_holders, self };
    tacit_glm_settings settings = tacit_glm_defaults();
    self->problem.reducer = &reducer;
    self->status = tacit_glm_solve(&self->problem, &settings, self->w, &self->fit, &self->error);
    return NULL;
}

static void run_holders(const made *m, size_t size, holder *holders) {
    static const size_t share[HOLDERS + 1] = { 0, 1, 7, 10 }; /* tenths of the rows */
    meeting place;
    pthread_t thread[HOLDERS];
    pthread_barrier_init(&place.barrier, NULL, HOLDERS);
    size_t rows = m->problem.x.count;
    for (size_t h = 0; h < HOLDERS; h++) {
        size_t begin = rows * share[h] / 10, end = rows * share[h + 1] / 10;
        holders[h] =
            (holder){ .place = &place, .number = h, .problem = m->problem, .w = TACIT_NEW(double, size) };
        holders[h].problem.total_rows = rows;
        holders[h].problem.x = tacit_rows_slice(&m->problem.x, begin, end - begin);
    }
    for (size_t h = 0; h < HOLDERS; h++) pthread_create(&thread[h], NULL, hold, &holders[h]);
    for (size_t h = 0; h < HOLDERS; h++) pthread_join(thread[h], NULL);
    pthread_barrier_destroy(&place.barrier);
}

static void holders_find_the_minimiser_of_all_rows(void **state) {
    (void)state;
    for (size_t l = 0; l < 3; l++)
        for (size_t size_step = 0; size_step < 2; size_step++) {
            recipe r = { .loss = losses[l],
                         .rows = size_step ? 40000 : 300,
                         .cols = 6,
                         .lambda = 1e-3,
                         .classes = losses[l] == &tacit_family_softmax.loss ? 3 : 2,
                         .linear = true };
            made m;
            make(&m, &r, 12);
            size_t size = tacit_glm_size(&m.problem);
            holder holders[HOLDERS];
            run_holders(&m, size, holders);
            for (size_t h = 0; h < HOLDERS; h++) {
                CHECK_OK(holders[h].status, holders[h].error);
                assert_memory_equal(holders[0].w, holders[h].w, size * sizeof(double));
                assert_true(holders[h].fit.gradient_bound <= 1e-8);
            }
            assert_true(reference_norm(&m, holders[0].w) <= holders[0].fit.gradient_bound);
            for (size_t h = 0; h < HOLDERS; h++) free(holders[h].w);
            unmake(&m);
        }
}

static void one_holder_with_bad_rows_stops_all(void **state) {
    (void)state;
    recipe r = { .loss = &tacit_family_logistic.loss, .rows = 100, .cols = 6, .lambda = 1e-3, .classes = 2 };
    made m;
    make(&m, &r, 13);
    m.label[50] = 2; /* the second holder's */
    holder holders[HOLDERS];
    run_holders(&m, 6, holders);
    for (size_t h = 0; h < HOLDERS; h++) {
        assert_int_equal(holders[h].status, TACIT_INPUT);
        assert_non_null(strstr(holders[h].error.text, h == 1 ? "label of row 50" : "another holder"));
        free(holders[h].w);
    }
    unmake(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(fits_inside_tasks_are_the_fits_outside),
        cmocka_unit_test(holders_find_the_minimiser_of_all_rows),
        cmocka_unit_test(one_holder_with_bad_rows_stops_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
