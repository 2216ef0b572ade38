/*
 * Audits of what is really released: exact noise through a real party's gate, runs that end without an
 * answer, and pairs that are searched for. Where a control must be found broken, the audit's own confidence,
 * 1 - 1e-6, bounds the false alarms of its opposite.
 */
#include "check.h"

#include <math.h>
#include <string.h>

#include "lab/audit/audit_parts.h"
#include "method/methods.h"
#include "rand/fast.h"

static tacit_audit_result audit_of(const tacit_auditable *subject, tacit_audit audit) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_audit_result result;
    audit.subject = subject;
    audit.confidence = 1 - 1e-6;
    if (audit.setup.epsilon == 0) audit.setup.epsilon = 1;
    CHECK_OK(tacit_audit_run(&result, &audit, &error), error);
    return result;
}

static const tacit_auditable *named(const char *name) {
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_auditable *subject = NULL;
    CHECK_OK(tacit_auditable_require(&subject, name, &error), error);
    return subject;
}

static void exact_noise_holds_and_half_of_it_does_not(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double delta;
    } sound[] = { { "laplace", 0 },       { "avg", 0 },         { "output", 0 },      { "plr", 0 },
                  { "vote", 0 },          { "soft-stat", 0 },   { "histogram", 0 },   { "dpgd", 0.01 },
                  { "dpstgd", 0 },        { "newton", 0.01 },   { "describe", 0.01 }, { "evaluate", 0 },
                  { "evaluate", 0.01 },   { "survival", 0.01 }, { "dpcox", 0.01 },    { "dptree", 0.01 },
                  { "pst-s-trees", 0.01 } };
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++) {
        tacit_audit_result result =
            audit_of(named(sound[i].name),
                     (tacit_audit){ .runs = 400,
                                    .seed = 3,
                                    .setup = { .epsilon = 1, .delta = sound[i].delta, .exactly = true } });
        assert_false(result.broken);
        assert_true(result.aborted[0] + result.aborted[1] == 0);
    }
    assert_true(audit_of(named("laplace-halved"),
                         (tacit_audit){ .runs = 6000, .seed = 3, .setup = { .exactly = true } })
                    .broken);
}

/* ---- runs without an answer ---- */

static tacit_status open_failing(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    (void)setup;
    (void)error;
    out->length = 1;
    return TACIT_OK;
}

/* The same number on both sides; but every fourth run on the neighbour gives up, and none on the other. */
static tacit_status draw_failing(tacit_audit_case *subject, int side, const tacit_stream *stream, double *out,
                                 tacit_error *error) {
    (void)subject;
    tacit_stream own = stream != NULL ? *stream : tacit_stream_from_seed(0);
    *out = stream == NULL ? side : tacit_fast_normal(&own);
    if (stream != NULL && side == 1 && tacit_stream_unit(&own) < 0.25)
        return tacit_fail(error, TACIT_NOT_CONVERGED, "the solver gave up");
    return TACIT_OK;
}

static void close_failing(tacit_audit_case *subject) { (void)subject; }

static void a_run_that_gives_up_is_an_event_like_any_other(void **state) {
    (void)state;
    static const tacit_auditable failing = {
        .name = "failing", .title = "", .open = open_failing, .draw = draw_failing, .close = close_failing
    };
    tacit_audit_result result = audit_of(&failing, (tacit_audit){ .runs = 2000, .seed = 1 });
    assert_true(result.broken && result.aborted[0] == 0 && result.aborted[1] > 100);
    print_message("# at least %.3f; %zu and %zu hits\n", result.epsilon_lower, (size_t)result.hits,
                  (size_t)result.other_hits);
    assert_true(result.exchanged && result.other_hits < 10);
}

/* ---- searches ---- */

/* Neighbours that hardly differ: a search must find better ones. */
static tacit_status near_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_audit_setup *setup,
                              tacit_error *error) {
    out->statistic = TACIT_STATISTIC_MODEL;
    TACIT_TRY(tacit_audit_plan(&out->plan, &tacit_method_output, setup, error));
    if (out->plan.lambda == 0) out->plan.lambda = 0.1;
    TACIT_TRY(audit_start_pair(out, 2, 1, 5, error));
    for (int side = 0; side < 2; side++) {
        out->data[side]->dense.values[0] = side == 0 ? 0.1 : 0.11;
        out->data[side]->dense.values[2] = 0.5;
    }
    snprintf(text, TACIT_AUDIT_TEXT, "two rows that hardly differ");
    return TACIT_OK;
}

static const tacit_auditable near = {
    .name = "near", .title = "", .score = tacit_score_distance, .pair = near_pair
};

static void a_search_finds_a_worse_pair_and_the_promise_holds_there(void **state) {
    (void)state;
    tacit_audit audit = { .runs = 40000, .seed = 5 };
    double before = audit_of(&near, audit).reach;
    audit.search = 80;
    tacit_audit_result after = audit_of(&near, audit);
    print_message("# reach %.3f, after a search %.3f; at least %.3f of 1\n", before, after.reach,
                  after.epsilon_lower);
    assert_true(before < 0.01 && after.reach > 0.3 && after.reach <= 1);
    assert_true(!after.broken && after.epsilon_lower > 0.05 && after.searched == 80);
}

static void what_a_search_finds_are_neighbours_in_the_ball(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        tacit_audit audit = { .subject = &near, .setup = { .epsilon = 1 }, .search = 30, .seed = seed };
        tacit_audit_rows *found = NULL;
        CHECK_OK(tacit_audit_search(&found, &audit, &error), error);
        assert_non_null(found);
        for (int side = 0; side < 2; side++)
            for (size_t i = 0; i < 2; i++) {
                const double *x = found->values[0][side] + 2 * i;
                assert_true(x[0] * x[0] + x[1] * x[1] <= 1);
            }
        assert_memory_equal(found->values[0][0] + 2, found->values[0][1] + 2, 2 * sizeof(double));
        assert_int_equal(found->label[0][1], found->label[1][1]);
        tacit_audit_rows_free(found);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_noise_holds_and_half_of_it_does_not),
        cmocka_unit_test(a_run_that_gives_up_is_an_event_like_any_other),
        cmocka_unit_test(a_search_finds_a_worse_pair_and_the_promise_holds_there),
        cmocka_unit_test(what_a_search_finds_are_neighbours_in_the_ball),
    };
    return cmocka_run_group_tests_name("audit_search", tests, NULL, NULL);
}
