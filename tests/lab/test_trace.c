/* Traces: what they say of each round is what the nodes' words and the pooled optimum give, and a run that is
 * watched is the run that is not. */
#include "check.h"

#include "failing.h"
#include "lab/simulate.h"
#include "lab/trace.h"
#include "parties.h"

enum { PARTIES = 12, ROWS_EACH = 6, FEATURES = 4 };

static void make(parties *self, const tacit_method *method, const char *rounds) {
    parties_make(self, ball(PARTIES * ROWS_EACH, FEATURES, 3), PARTIES, NULL);
    self->plan.method = method;
    assert_int_equal(tacit_plan_set(&self->plan, "graph", "ring", NULL), TACIT_OK);
    assert_int_equal(tacit_plan_set(&self->plan, "rounds", rounds, NULL), TACIT_OK);
}

static void run(parties *self, tacit_trace *trace, double *weights) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_tracer *tracer = NULL;
    tacit_session session = parties_begin(self, 1);
    if (trace != NULL) {
        CHECK_OK(tacit_tracer_create(&tracer, trace, self->local, &self->plan, self->data, self->split, NULL,
                                     &error),
                 error);
        session.round_watch = tacit_tracer_watch(tracer);
    }
    CHECK_OK(self->plan.method->coordinate(&session, &outcome, &error), error);
    memcpy(weights, outcome.models[0]->weights, FEATURES * sizeof *weights);
    tacit_outcome_clear(&outcome);
    tacit_tracer_free(tracer);
}

static void a_trace_has_every_round_and_changes_nothing(void **state) {
    (void)state;
    tacit_trace trace = TACIT_TRACE_INIT;
    double seen[FEATURES], unseen[FEATURES];
    parties world;
    make(&world, &tacit_method_extra, "600");
    run(&world, &trace, seen);
    run(&world, NULL, unseen);
    assert_memory_equal(seen, unseen, sizeof seen);
    assert_int_equal(trace.count, 601);
    for (size_t i = 0; i < trace.count; i++) {
        assert_int_equal(trace.points[i].round, i);
        assert_string_equal(trace.points[i].curve, "extra");
    }
    const tacit_trace_point *end = &trace.points[600];
    assert_true(trace.points[0].disagreement == 0 && trace.points[0].distance > 0.1);
    assert_true(end->distance < 1e-11 && end->disagreement < 1e-11 && end->gap < 1e-14);
    /* Linear: each level takes about as many rounds as the one before. */
    double first = (double)tacit_trace_reached(end, 1e-4), second = (double)tacit_trace_reached(end, 1e-7),
           third = (double)tacit_trace_reached(end, 1e-10);
    assert_true(first > 10 && third <= 600);
    CHECK_NEAR((third - second) / (second - first), 1, 0.3);
    assert_true(tacit_trace_reached(end, 1e-30) == 601);
    assert_true(tacit_trace_reached(end, 1e30) == 0);
    parties_end(&world);
    tacit_trace_clear(&trace);
}

/* With weigh=parties an unequal split has another optimum, and with rows that change it jumps: the trace
 * knows. */
static void the_optimum_is_that_of_the_plan(void **state) {
    (void)state;
    static const struct {
        const char *name, *value;
    } settings[] = { { "weigh", "parties" }, { "drift", "2" } };
    for (size_t i = 0; i < 2; i++) {
        tacit_trace trace = TACIT_TRACE_INIT;
        double weights[FEATURES];
        parties world;
        make(&world, &tacit_method_extra, "1500");
        world.split->start[1] = 3;
        world.plan.minimum_rows = 3;
        assert_int_equal(tacit_plan_set(&world.plan, settings[i].name, settings[i].value, NULL), TACIT_OK);
        run(&world, &trace, weights);
        assert_true(trace.points[1500].distance < 1e-10);
        if (i == 1) /* just before and after the rows change */
            assert_true(trace.points[500].distance < 1e-6 && trace.points[501].distance > 1e-4);
        parties_end(&world);
        tacit_trace_clear(&trace);
    }
}

static void a_trace_is_written_as_csv(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_trace_point points[] = { { "extra, all", 0, 0, 2.5, 0.125 }, { "extra, all", 1, 1e-9, 1, 0 } };
    tacit_trace trace = { points, 2, 2 };
    tacit_buffer text = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_trace_csv(&trace, &text, &error), error);
    assert_string_equal(tacit_buffer_text(&text), "curve,round,disagreement,distance,gap\n"
                                                  "\"extra, all\",0,0,2.5,0.125\n"
                                                  "\"extra, all\",1,1e-09,1,0\n");
    tacit_buffer_clear(&text);
}

static void a_simulation_traces_only_methods_without_a_center(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_trace trace = TACIT_TRACE_INIT;
    parties world;
    make(&world, &tacit_method_extra, "1");
    const tacit_method *methods[] = { &tacit_method_batch, &tacit_method_gossip, &tacit_method_extra };
    const tacit_setting_value settings[] = { { "rounds", "5" } };
    tacit_run runs[3];
    tacit_simulation simulation = { .dataset = world.data,
                                    .split = world.split,
                                    .test = tacit_split_view(world.split, world.data, 0),
                                    .methods = methods,
                                    .method_count = 3,
                                    .lambda = 0.1,
                                    .settings = settings,
                                    .setting_count = 1,
                                    .trials = 1,
                                    .seed = 4,
                                    .trace = &trace };
    CHECK_OK(tacit_simulate(&simulation, runs, NULL, &error), error);
    assert_int_equal(trace.count, 12);
    assert_string_equal(trace.points[0].curve, "gossip");
    assert_string_equal(trace.points[6].curve, "extra");
    parties_end(&world);
    tacit_trace_clear(&trace);
}

/* A short run with its trace, each allocation failing once. */
static void a_traced_run_survives_any_failed_allocation(void **state) {
    (void)state;
    const tacit_method *methods[] = { &tacit_method_consensus, &tacit_method_gossip, &tacit_method_extra };
    for (size_t m = 0; m < 3; m++) {
        parties world;
        make(&world, methods[m], "2");
        bool failed = true;
        for (long at = 1; failed; at++) {
            tacit_error error = TACIT_ERROR_INIT;
            tacit_trace trace = TACIT_TRACE_INIT;
            tacit_buffer text = TACIT_BUFFER_INIT;
            tacit_run result;
            const tacit_setting_value settings[] = { { "rounds", "2" }, { "graph", "ring" } };
            tacit_simulation simulation = { .dataset = world.data,
                                            .split = world.split,
                                            .test = tacit_split_view(world.split, world.data, 0),
                                            .methods = &methods[m],
                                            .method_count = 1,
                                            .lambda = 0.1,
                                            .settings = settings,
                                            .setting_count = 2,
                                            .trials = 1,
                                            .trace = &trace };
            fail_allocation(at);
            tacit_status status = tacit_simulate(&simulation, &result, NULL, &error);
            if (status == TACIT_OK) status = tacit_trace_csv(&trace, &text, &error);
            failed = allocation_failed();
            /* protobuf-c cannot tell a failed allocation from a damaged message */
            bool as_due = failed ? status == TACIT_NO_MEMORY || status == TACIT_PROTOCOL : status == TACIT_OK;
            if (!as_due) fail_msg("%s, allocation %ld: %s", methods[m]->name, at, error.text);
            tacit_trace_clear(&trace);
            tacit_buffer_clear(&text);
        }
        parties_end(&world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_has_every_round_and_changes_nothing),
        cmocka_unit_test(the_optimum_is_that_of_the_plan),
        cmocka_unit_test(a_trace_is_written_as_csv),
        cmocka_unit_test(a_simulation_traces_only_methods_without_a_center),
        cmocka_unit_test(a_traced_run_survives_any_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
