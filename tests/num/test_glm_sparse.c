/* Sparse rows of many columns, as texts have them: the descent on margins, its copies and its memory. */
#include "problems.h"

#include "failing.h"
#include "num/glm/glm.h"

typedef struct texts {
    tacit_csr csr;
    int32_t *label;
    tacit_glm_problem problem;
} texts;

/* `entries` words a row, the frequent ones among the first columns, rows of norm 1 times `scale`; the classes
 * differ in the words they like. */
static void make_texts(texts *out, const tacit_loss *loss, size_t rows, size_t cols, size_t entries,
                       double scale, uint64_t seed) {
    uint64_t state = seed;
    *out = (texts){ 0 };
    assert_int_equal(tacit_csr_create(&out->csr, rows, cols, rows * entries, NULL), TACIT_OK);
    out->label = TACIT_NEW(int32_t, rows);
    assert_non_null(out->label);
    size_t classes = loss == &tacit_family_softmax.loss ? 3 : 2;
    for (size_t i = 0; i < rows; i++) {
        uint32_t column = 0;
        double score[3] = { 0 };
        for (size_t k = i * entries; k < (i + 1) * entries; k++) {
            size_t left = cols - column - (entries - (k - i * entries)); /* so that the rest still fits */
            column += (uint32_t)(pow(uniform(&state), 3) * (double)left / (double)(entries / 2)) +
                      (k > i * entries);
            out->csr.column[k] = column;
            out->csr.value[k] = scale * (0.5 + uniform(&state)) / sqrt((double)entries);
            score[column % classes] += out->csr.value[k] / scale;
        }
        out->csr.start[i + 1] = (i + 1) * entries;
        for (size_t c = 1; c < classes; c++)
            if (score[c] + 0.3 * roughly_normal(&state) > score[out->label[i]]) out->label[i] = (int32_t)c;
    }
    out->problem = (tacit_glm_problem){ .loss = loss,
                                        .x = tacit_rows_of_csr(&out->csr),
                                        .label = out->label,
                                        .classes = classes,
                                        .lambda = 1e-3 * scale * scale };
}

static void unmake_texts(texts *out) {
    tacit_csr_clear(&out->csr);
    free(out->label);
}

/* Solve, and look at the result with a certificate of its own. Returns the iterations. */
static int solve(const texts *t, double tolerance, double *w) {
    tacit_glm_settings settings = tacit_glm_defaults();
    settings.gradient_tolerance = tolerance;
    tacit_glm_fit fit, again;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_glm_solve(&t->problem, &settings, w, &fit, &error), error);
    CHECK_OK(tacit_glm_certify(&t->problem, NULL, w, NULL, &again, &error), error);
    assert_true(fit.gradient_bound <= tolerance);
    assert_true(again.gradient_bound == fit.gradient_bound && again.objective == fit.objective);
    return fit.iterations;
}

static void texts_are_solved(void **state) {
    (void)state;
    static const tacit_loss *const losses[] = { &tacit_family_logistic.loss, &tacit_family_huber.loss,
                                                &tacit_family_softmax.loss };
    for (size_t l = 0; l < 3; l++) {
        texts t;
        make_texts(&t, losses[l], 1200, 3000, 30, 1, 1);
        double *w = TACIT_NEW(double, tacit_glm_size(&t.problem));
        assert_true(solve(&t, 1e-8, w) > 1);
        assert_true(solve(&t, 1e-8, w) == 0); /* from the minimiser */
        assert_true(solve(&t, 1e-11, w) > 0); /* what single precision cannot see */
        memset(w, 0, tacit_glm_size(&t.problem) * sizeof *w);
        solve(&t, 1e-11, w);
        free(w);
        unmake_texts(&t);
    }
}

static void any_lambda_and_scale_is_solved(void **state) {
    (void)state;
    static const double scales[] = { 1, 1e5, 1e-5, 1e-30, 1e30 }; /* the squares of the last are no floats */
    for (size_t s = 0; s < 5; s++)
        for (int power = 0; power <= 6; power += 3) {
            texts t;
            make_texts(&t, &tacit_family_logistic.loss, 600, 2500, 40, scales[s], 2);
            t.problem.lambda = pow(10, -power) * scales[s] * scales[s];
            double *w = TACIT_NEW(double, t.csr.cols);
            solve(&t, 1e-9 * scales[s], w);
            free(w);
            unmake_texts(&t);
        }
}

/* Numbers no float holds: the copy is useless, the fit is not. */
static void features_beyond_single_precision_are_solved(void **state) {
    (void)state;
    static const double scales[] = { 1e-60, 1e60 };
    for (size_t s = 0; s < 2; s++) {
        texts t;
        make_texts(&t, &tacit_family_logistic.loss, 600, 2500, 40, scales[s], 3);
        double *w = TACIT_NEW(double, t.csr.cols);
        solve(&t, 1e-9 * scales[s], w);
        free(w);
        unmake_texts(&t);
    }
}

static void columns_beyond_16_bits_are_solved(void **state) {
    (void)state;
    texts t;
    make_texts(&t, &tacit_family_logistic.loss, 9000, 70000, 50, 1, 4);
    double *w = TACIT_NEW(double, t.csr.cols);
    solve(&t, 1e-9, w);
    free(w);
    unmake_texts(&t);
}

static void threads_and_order_of_views_change_nothing(void **state) {
    (void)state;
    texts t;
    make_texts(&t, &tacit_family_logistic.loss, 3000, 2500, 40, 1, 5);
    uint32_t *index = TACIT_NEW(uint32_t, t.csr.rows);
    double *first = TACIT_NEW(double, t.csr.cols), *w = TACIT_NEW(double, t.csr.cols);
    for (size_t i = 0; i < t.csr.rows; i++) index[i] = (uint32_t)i;
    for (unsigned threads = 0; threads <= 4; threads++) {
        tacit_glm_settings settings = tacit_glm_defaults();
        tacit_error error = TACIT_ERROR_INIT;
        if (threads > 0) CHECK_OK(tacit_pool_create(&settings.pool, threads, &error), error);
        tacit_rows all = tacit_rows_of_csr(&t.csr);
        t.problem.x = threads == 4 ? tacit_rows_select(&all, index, t.csr.rows) : all;
        memset(w, 0, t.csr.cols * sizeof *w);
        CHECK_OK(tacit_glm_solve(&t.problem, &settings, w, NULL, &error), error);
        if (threads == 0) memcpy(first, w, t.csr.cols * sizeof *w);
        assert_memory_equal(first, w, t.csr.cols * sizeof *w);
        tacit_pool_free(settings.pool);
    }
    free(index);
    free(first);
    free(w);
    unmake_texts(&t);
}

static bool third_time(void *context) {
    int *asked = context;
    return ++*asked == 3;
}

static void a_descent_can_be_cancelled(void **state) {
    (void)state;
    texts t;
    int asked = 0;
    tacit_progress progress = { .cancelled = third_time, .context = &asked };
    tacit_glm_settings settings = tacit_glm_defaults();
    settings.progress = &progress;
    make_texts(&t, &tacit_family_logistic.loss, 1200, 3000, 30, 1, 6);
    double *w = TACIT_NEW(double, t.csr.cols);
    assert_int_equal(tacit_glm_solve(&t.problem, &settings, w, NULL, NULL), TACIT_CANCELLED);
    assert_int_equal(asked, 3);
    for (size_t j = 0; j < t.csr.cols; j++) assert_true(w[j] == 0);
    free(w);
    unmake_texts(&t);
}

static void a_limit_of_iterations_holds(void **state) {
    (void)state;
    texts t;
    make_texts(&t, &tacit_family_logistic.loss, 1200, 3000, 30, 1, 6);
    double *w = TACIT_NEW(double, t.csr.cols);
    tacit_glm_settings settings = tacit_glm_defaults();
    settings.max_iterations = 3;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_glm_solve(&t.problem, &settings, w, NULL, &error), TACIT_NOT_CONVERGED);
    assert_non_null(strstr(error.text, "after 3 iterations"));
    free(w);
    unmake_texts(&t);
}

static void running_out_of_memory_is_survived(void **state) {
    (void)state;
    texts t;
    make_texts(&t, &tacit_family_logistic.loss, 400, 2500, 40, 1, 7);
    double *w = TACIT_NEW(double, t.csr.cols);
    tacit_glm_settings settings = tacit_glm_defaults();
    bool failed = true;
    long at = 1;
    for (; failed; at++) {
        memset(w, 0, t.csr.cols * sizeof *w);
        tacit_error error = TACIT_ERROR_INIT;
        fail_allocation(at);
        tacit_status status = tacit_glm_solve(&t.problem, &settings, w, NULL, &error);
        failed = allocation_failed();
        assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
        for (size_t j = 0; failed && j < t.csr.cols; j++) assert_true(w[j] == 0);
    }
    assert_true(at > 20);
    free(w);
    unmake_texts(&t);
}

/* Everything a fit ever allocates, also what it has freed again, against what holds the problem: never rows *
 * columns, and of the columns only this many vectors. */
static void memory_grows_with_entries(void **state) {
    (void)state;
    static const size_t shapes[][3] = { { 2000, 1000000, 50 }, { 20000, 65536, 60 }, { 4000, 2500, 400 } };
    for (size_t s = 0; s < 3; s++) {
        texts t;
        make_texts(&t, &tacit_family_logistic.loss, shapes[s][0], shapes[s][1], shapes[s][2], 1, 8);
        t.problem.lambda = 0.1;
        double *w = TACIT_NEW(double, t.csr.cols);
        size_t before = bytes_allocated();
        solve(&t, 1e-6, w);
        size_t taken = bytes_allocated() - before, entries = t.csr.start[t.csr.rows];
        size_t most = 32 * entries + 8 * (24 * t.csr.cols + 16 * t.csr.rows) + (1 << 20);
        if (taken > most) fail_msg("%zu bytes for %zu entries, more than %zu", taken, entries, most);
        free(w);
        unmake_texts(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_solved),
        cmocka_unit_test(any_lambda_and_scale_is_solved),
        cmocka_unit_test(features_beyond_single_precision_are_solved),
        cmocka_unit_test(columns_beyond_16_bits_are_solved),
        cmocka_unit_test(threads_and_order_of_views_change_nothing),
        cmocka_unit_test(a_descent_can_be_cancelled),
        cmocka_unit_test(a_limit_of_iterations_holds),
        cmocka_unit_test(running_out_of_memory_is_survived),
        cmocka_unit_test(memory_grows_with_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
