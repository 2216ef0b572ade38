/*
 * Audits: sound mechanisms stay below their epsilon and near it, broken ones are caught.
 *
 * Chance. Every seed is fixed, so nothing here fails by chance on the same code. For a change that draws
 * other numbers: a sound subject is called broken with probability at most 1e-10, which is what the
 * confidence says. The checks of power ("above half", "broken") have four or more standard deviations of the
 * counted frequencies to spare, beyond the six that the bounds themselves allow for: below 1e-4 each.
 */
#include "check.h"

#include <string.h>

#include "lab/audit/audit.h"

enum { RUNS = 40000, FEWER = 8000 }; /* of a mechanism, of a method */

static tacit_pool *pool; /* one thread a processor */

static const double SURE = 1 - 1e-10;

static tacit_audit audit_of(const tacit_auditable *subject, double epsilon) {
    return (tacit_audit){ .subject = subject,
                          .setup = { .epsilon = epsilon },
                          .runs = RUNS,
                          .confidence = SURE,
                          .seed = 11,
                          .pool = pool };
}

static const tacit_auditable *find(const char *name) {
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_auditable *subject = NULL;
    CHECK_OK(tacit_auditable_require(&subject, name, &error), error);
    return subject;
}

static tacit_audit_result run(const tacit_audit *audit) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_audit_result result;
    CHECK_OK(tacit_audit_run(&result, audit, &error), error);
    print_message("# %s, charged %g: at least %.4f, %s\n", audit->subject->name, result.charged.epsilon,
                  result.epsilon_lower, result.broken ? "broken" : "holds");
    return result;
}

/* Below epsilon, and above `least` of it. */
static void check_tight(const char *name, const tacit_setting_value *settings, size_t count, size_t runs,
                        double least) {
    static const double epsilons[] = { 0.5, 1, 3 };
    for (size_t e = 0; e < 3; e++) {
        tacit_audit audit = audit_of(find(name), epsilons[e]);
        audit.setup.settings = settings;
        audit.setup.setting_count = count;
        audit.runs = epsilons[e] < 1 ? 2 * runs : runs; /* small losses take longer to see */
        tacit_audit_result result = run(&audit);
        CHECK_NEAR(result.charged.epsilon, epsilons[e], 0);
        assert_false(result.broken);
        assert_true(result.epsilon_lower <= epsilons[e]);
        assert_true(result.epsilon_lower > least * epsilons[e]);
        assert_int_equal(result.counted, audit.runs / 2);
    }
}

static void laplace_holds_and_is_tight(void **state) {
    (void)state;
    check_tight("laplace", NULL, 0, RUNS, 0.5);
}

static void gamma_norm_holds_and_is_tight(void **state) {
    (void)state;
    check_tight("gamma-norm", (tacit_setting_value[]){ { "dimension", "1" } }, 1, RUNS, 0.5);
    check_tight("gamma-norm", NULL, 0, RUNS, 0.5);
}

static void avg_holds_and_is_tight_for_a_party(void **state) {
    (void)state;
    check_tight("avg", (tacit_setting_value[]){ { "unit", "party" } }, 1, FEWER, 0.5);
    check_tight("avg", (tacit_setting_value[]){ { "unit", "party" }, { "noise", "party" } }, 2, FEWER, 0.5);
}

/* The known pair uses 86% of the declared sensitivity, in two dimensions. */
static void avg_holds_for_a_record(void **state) {
    (void)state;
    check_tight("avg", NULL, 0, FEWER / 2, 0);
    check_tight("avg", (tacit_setting_value[]){ { "noise", "party" } }, 1, FEWER / 2, 0);
}

static void a_lambda_of_ones_own_is_used(void **state) {
    (void)state;
    tacit_audit audit = audit_of(find("avg"), 1);
    audit.setup.lambda = 0.5;
    audit.runs = 1000;
    tacit_audit_result result = run(&audit);
    assert_non_null(strstr(result.pair, "lambda 0.5"));
    assert_true(result.reach > 0.2 && result.reach <= 1);
}

/* ---- broken on purpose ---- */

/* A method that adds the noise of twice its epsilon. */
static tacit_status halved_coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    tacit_plan plan = *session->plan;
    plan.epsilon *= 2;
    const tacit_plan *promised = session->plan;
    session->plan = &plan;
    tacit_status status = tacit_method_avg.coordinate(session, out, error);
    session->plan = promised;
    return status;
}

static tacit_method halved_avg;

static tacit_status halved_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_audit_setup *setup,
                                tacit_error *error) {
    TACIT_TRY(find("avg")->pair(out, text, setup, error));
    out->plan.method = &halved_avg;
    return TACIT_OK;
}

static void halved_noise_is_caught(void **state) {
    (void)state;
    static const double epsilons[] = { 0.5, 1, 3 };
    tacit_auditable broken = *find("avg");
    tacit_setting_value setting = { "unit", "party" };
    halved_avg = tacit_method_avg;
    halved_avg.coordinate = halved_coordinate;
    broken.name = "avg with half its noise";
    broken.pair = halved_pair;
    for (size_t e = 0; e < 3; e++) {
        tacit_audit audit = audit_of(&broken, epsilons[e]);
        audit.setup.settings = &setting;
        audit.setup.setting_count = 1;
        audit.runs = e == 2 ? 2 * FEWER : FEWER; /* e^-6 is rare */
        tacit_audit_result result = run(&audit);
        assert_true(result.broken && result.epsilon_lower > epsilons[e]);
        audit = audit_of(find("laplace-halved"), epsilons[e]);
        assert_true(run(&audit).broken);
    }
    tacit_audit record = audit_of(&broken, 1);
    record.runs = 4 * FEWER;
    assert_true(run(&record).broken);
}

/* The low bits of double-precision noise depend on what it was added to, which is why the scores of audits
 * are rounded and why no real party lets such noise out. Magnified, they give the data set away whatever the
 * scale of the noise. */
static double lowest_bits(const tacit_audit_case *subject, const double *release, const double *const at[2]) {
    return ldexp(tacit_score_distance(subject, release, at) - 1, 40);
}

static void low_bits_of_simulated_noise_are_a_leak_that_an_audit_can_find(void **state) {
    (void)state;
    tacit_auditable magnified = *find("avg");
    tacit_setting_value setting = { "unit", "party" };
    magnified.name = "avg, low bits of simulated noise";
    magnified.score = lowest_bits;
    tacit_audit audit = audit_of(&magnified, 0.5);
    audit.runs = 2 * FEWER;
    audit.setup.settings = &setting;
    audit.setup.setting_count = 1;
    assert_true(run(&audit).broken);
}

/* Randomised response that tells the truth once in 50: (0, 0.02)-private, and far from (epsilon, 0). */
static tacit_status open_leaky(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    (void)setup;
    (void)error;
    out->length = 1;
    return TACIT_OK;
}

static tacit_status draw_leaky(tacit_audit_case *subject, int side, const tacit_stream *stream, double *out,
                               tacit_error *error) {
    (void)subject;
    (void)error;
    tacit_stream own = stream != NULL ? *stream : tacit_stream_from_seed(0);
    *out = stream == NULL || tacit_stream_unit(&own) < 0.02 ? side : 0.5;
    return TACIT_OK;
}

static void close_leaky(tacit_audit_case *subject) { (void)subject; }

static void a_promised_delta_is_taken_off(void **state) {
    (void)state;
    tacit_auditable leaky = { .name = "leaky", .open = open_leaky, .draw = draw_leaky, .close = close_leaky };
    tacit_audit audit = audit_of(&leaky, 1);
    assert_true(run(&audit).broken);
    audit.setup.delta = 0.03;
    tacit_audit_result result = run(&audit);
    assert_false(result.broken);
    CHECK_NEAR(result.epsilon_lower, 0, 0);
    CHECK_NEAR(result.charged.delta, 0.03, 0);
}

/* ---- one seed, any number of threads ---- */

static void the_result_is_the_same_on_any_number_of_threads(void **state) {
    (void)state;
    static const char *const names[] = { "gamma-norm", "avg" };
    for (size_t i = 0; i < 2; i++) {
        tacit_audit audit = audit_of(find(names[i]), 1);
        audit.runs = 2001;
        audit.pool = NULL;
        tacit_audit_result alone = run(&audit);
        for (unsigned threads = 1; threads <= 3; threads++) {
            tacit_error error = TACIT_ERROR_INIT;
            CHECK_OK(tacit_pool_create(&audit.pool, threads, &error), error);
            tacit_audit_result shared = run(&audit);
            assert_memory_equal(&shared.epsilon_lower, &alone.epsilon_lower, sizeof(double));
            assert_int_equal(shared.hits, alone.hits);
            assert_int_equal(shared.other_hits, alone.other_hits);
            tacit_pool_free(audit.pool);
            audit.pool = NULL;
        }
        audit.seed++;
        tacit_audit_result other = run(&audit);
        assert_true(other.hits != alone.hits || other.other_hits != alone.other_hits);
    }
}

/* ---- input ---- */

static void refuse(tacit_audit audit, const char *says) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_audit_result result;
    tacit_status status = tacit_audit_run(&result, &audit, &error);
    assert_true(status == TACIT_USAGE || status == TACIT_INPUT);
    if (strstr(error.text, says) == NULL) fail_msg("'%s' does not say '%s'", error.text, says);
}

static void bad_input_is_refused(void **state) {
    (void)state;
    tacit_audit good = audit_of(find("laplace"), 1), bad;
    static const double epsilons[] = { 0, -1, NAN, INFINITY }, deltas[] = { -0.1, 1, NAN, 0.1 },
                        confidences[] = { 0, 1, NAN };
    for (size_t i = 0; i < 4; i++) {
        refuse(audit_of(good.subject, epsilons[i]), "epsilon");
        bad = good;
        bad.setup.delta = deltas[i];
        refuse(bad, "delta");
    }
    for (size_t i = 0; i < 3; i++) {
        bad = good;
        bad.confidence = confidences[i];
        refuse(bad, "confidence");
    }
    bad = good;
    bad.runs = TACIT_AUDIT_LEAST_RUNS - 1;
    refuse(bad, "runs");
    bad = audit_of(find("avg"), 1);
    bad.setup.lambda = -1;
    refuse(bad, "lambda");
    static const tacit_setting_value settings[] = { { "dimension", "0" },   { "dimension", "65" },
                                                    { "dimension", "1.5" }, { "dimension", "two" },
                                                    { "colour", "red" },    { "unit", "row" } };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        bad = audit_of(find(i == 5 ? "avg" : "gamma-norm"), 1);
        bad.setup.settings = &settings[i];
        bad.setup.setting_count = 1;
        refuse(bad, settings[i].name);
    }
}

static void an_unknown_name_lists_what_there_is(void **state) {
    (void)state;
    const tacit_auditable *subject = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_auditable_require(&subject, "average", &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "laplace, gamma-norm, gaussian, avg"));
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_auditable_require(&subject, "batch", &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "no noise"));
}

static bool stop_at_once(void *context) {
    (void)context;
    return true;
}

static void an_audit_can_be_interrupted(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_progress progress = { .cancelled = stop_at_once };
    tacit_audit audit = audit_of(find("laplace"), 1);
    tacit_audit_result result;
    audit.progress = &progress;
    assert_int_equal(tacit_audit_run(&result, &audit, &error), TACIT_CANCELLED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laplace_holds_and_is_tight),
        cmocka_unit_test(gamma_norm_holds_and_is_tight),
        cmocka_unit_test(avg_holds_and_is_tight_for_a_party),
        cmocka_unit_test(avg_holds_for_a_record),
        cmocka_unit_test(a_lambda_of_ones_own_is_used),
        cmocka_unit_test(halved_noise_is_caught),
        cmocka_unit_test(low_bits_of_simulated_noise_are_a_leak_that_an_audit_can_find),
        cmocka_unit_test(a_promised_delta_is_taken_off),
        cmocka_unit_test(the_result_is_the_same_on_any_number_of_threads),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(an_unknown_name_lists_what_there_is),
        cmocka_unit_test(an_audit_can_be_interrupted),
    };
    if (tacit_pool_create(&pool, 0, NULL) != TACIT_OK) return 1;
    int failed = cmocka_run_group_tests_name("audit", tests, NULL, NULL);
    tacit_pool_free(pool);
    return failed;
}
