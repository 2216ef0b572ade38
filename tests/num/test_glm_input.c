/* What a caller gets wrong is said in one sentence; memory that runs out and a cancelled fit harm nothing. */
#include "problems.h"

/* The linker sends the library's allocations here (--wrap), to fail at a chosen one. */
static long allocations_left = -1;
void *__real_tacit_allocate(size_t count, size_t size);
void *__real_tacit_allocate_aligned(size_t count, size_t size);
void *__wrap_tacit_allocate(size_t count, size_t size);
void *__wrap_tacit_allocate_aligned(size_t count, size_t size);

static bool memory_is_out(void) { return allocations_left >= 0 && allocations_left-- == 0; }

void *__wrap_tacit_allocate(size_t count, size_t size) {
    return memory_is_out() ? NULL : __real_tacit_allocate(count, size);
}

void *__wrap_tacit_allocate_aligned(size_t count, size_t size) {
    return memory_is_out() ? NULL : __real_tacit_allocate_aligned(count, size);
}

static made m;
static double w[64];

static int set_up(void **state) {
    (void)state;
    recipe r = { .loss = &tacit_family_logistic.loss,
                 .rows = 30,
                 .cols = 4,
                 .classes = 2,
                 .weighted = true,
                 .linear = true,
                 .prior = true,
                 .lambda = 0.1 };
    make(&m, &r, 1);
    memset(w, 0, sizeof w);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    unmake(&m);
    return 0;
}

static void expect(tacit_status status, const char *words) {
    tacit_glm_settings settings = tacit_glm_defaults();
    tacit_glm_fit fit = { .iterations = -7 };
    tacit_error error = TACIT_ERROR_INIT;
    double before[64];
    memcpy(before, w, sizeof w);
    assert_int_equal(tacit_glm_solve(&m.problem, &settings, w, &fit, &error), status);
    if (strstr(error.text, words) == NULL) fail_msg("\"%s\" does not mention \"%s\"", error.text, words);
    assert_int_equal(fit.iterations, -7);
    assert_memory_equal(before, w, sizeof w);
}

static void a_bad_lambda_is_refused(void **state) {
    (void)state;
    static const double bad[] = { 0, -1, NAN, INFINITY };
    for (size_t i = 0; i < 4; i++) {
        m.problem.lambda = bad[i];
        expect(TACIT_USAGE, "lambda");
    }
    m.problem.lambda = 1;
    double each[] = { 1, 1, 0, 1 };
    m.problem.lambda_each = each;
    expect(TACIT_USAGE, "lambda_each 2");
}

static void bad_numbers_are_refused(void **state) {
    (void)state;
    m.label[3] = 2;
    expect(TACIT_INPUT, "label of row 3");
    m.label[3] = -1;
    expect(TACIT_INPUT, "label of row 3");
    m.label[3] = 0;
    m.weight[5] = -0.5;
    expect(TACIT_INPUT, "weight of row 5");
    m.weight[5] = NAN;
    expect(TACIT_INPUT, "weight of row 5");
    m.weight[5] = 1;
    m.linear[1] = INFINITY;
    expect(TACIT_INPUT, "linear term 1");
    m.linear[1] = 0;
    m.prior[2] = NAN;
    expect(TACIT_INPUT, "prior 2");
    m.prior[2] = 0;
    w[0] = NAN;
    tacit_glm_settings settings = tacit_glm_defaults();
    assert_int_equal(tacit_glm_solve(&m.problem, &settings, w, NULL, NULL), TACIT_INPUT);
    assert_int_equal(tacit_glm_certify(&m.problem, NULL, w, NULL, NULL, NULL), TACIT_INPUT);
}

static void features_that_are_not_finite_are_refused(void **state) {
    (void)state;
    static const double bad[] = { NAN, INFINITY, 1e200 };
    for (size_t i = 0; i < 3; i++) {
        m.dense.values[7] = bad[i];
        m.problem.x.count = 30;
        expect(TACIT_INPUT, "feature");
        assert_int_equal(tacit_glm_certify(&m.problem, NULL, w, NULL, NULL, NULL), TACIT_INPUT);
        m.problem.x.count = 3; /* the path for few rows */
        expect(TACIT_INPUT, "feature");
    }
}

static void malformed_problems_are_refused(void **state) {
    (void)state;
    tacit_glm_problem good = m.problem;
    m.problem.x.count = 0;
    expect(TACIT_INPUT, "no rows");
    m.problem = good;
    m.problem.x.cols = 0;
    expect(TACIT_INPUT, "no columns");
    m.problem = good;
    m.problem.classes = 3;
    expect(TACIT_USAGE, "softmax");
    m.problem.loss = &tacit_family_softmax.loss;
    m.problem.classes = 1;
    expect(TACIT_USAGE, "at least 2");
    m.problem = good;
    m.problem.loss = &tacit_family_huber.loss;
    m.problem.shape = 1.5;
    expect(TACIT_USAGE, "huber_width");
    m.problem = good;
    m.problem.label = NULL;
    expect(TACIT_USAGE, "labels");
    m.problem = good;
    m.problem.total_rows = 10;
    expect(TACIT_USAGE, "total_rows");
    m.problem = good;
    tacit_glm_settings settings = tacit_glm_defaults();
    settings.gradient_tolerance = 0;
    assert_int_equal(tacit_glm_solve(&m.problem, &settings, w, NULL, NULL), TACIT_USAGE);
}

static void an_unreachable_tolerance_is_said(void **state) {
    (void)state;
    for (size_t rows = 3; rows <= 30; rows += 27) { /* both paths */
        m.problem.x.count = rows;
        tacit_glm_settings settings = tacit_glm_defaults();
        settings.gradient_tolerance = 1e-30;
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(tacit_glm_solve(&m.problem, &settings, w, NULL, &error), TACIT_NOT_CONVERGED);
        assert_non_null(strstr(error.text, "raise the tolerance"));
        settings = tacit_glm_defaults();
        settings.max_iterations = 1;
        memset(w, 0, sizeof w);
        assert_int_equal(tacit_glm_solve(&m.problem, &settings, w, NULL, NULL), TACIT_NOT_CONVERGED);
    }
}

static bool at_once(void *context) {
    (void)context;
    return true;
}

static void a_fit_can_be_cancelled(void **state) {
    (void)state;
    tacit_progress progress = { .cancelled = at_once };
    tacit_glm_settings settings = tacit_glm_defaults();
    settings.progress = &progress;
    for (size_t rows = 3; rows <= 30; rows += 27) {
        m.problem.x.count = rows;
        assert_int_equal(tacit_glm_solve(&m.problem, &settings, w, NULL, NULL), TACIT_CANCELLED);
    }
}

static void fail_each_allocation(size_t size) {
    tacit_glm_settings settings = tacit_glm_defaults();
    for (long at = 0;; at++) {
        assert_true(at < 1000);
        memset(w, 0, size * sizeof *w);
        tacit_error error = TACIT_ERROR_INIT;
        allocations_left = at;
        tacit_status status = tacit_glm_solve(&m.problem, &settings, w, NULL, &error);
        bool untouched = allocations_left >= 0;
        allocations_left = -1;
        if (untouched) {
            assert_int_equal(status, TACIT_OK);
            break;
        }
        assert_int_equal(status, TACIT_NO_MEMORY);
    }
}

static void running_out_of_memory_is_survived(void **state) {
    (void)state;
    fail_each_allocation(4);
    m.problem.x.count = 3;
    fail_each_allocation(4);
    unmake(&m);
    recipe sampled = {
        .loss = &tacit_family_softmax.loss, .rows = 36000, .cols = 3, .classes = 3, .lambda = 1e-2
    };
    make(&m, &sampled, 2);
    fail_each_allocation(9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_bad_lambda_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_numbers_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(features_that_are_not_finite_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(malformed_problems_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unreachable_tolerance_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_fit_can_be_cancelled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(running_out_of_memory_is_survived, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
