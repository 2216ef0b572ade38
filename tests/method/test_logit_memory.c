/*
 * Allocations of newton, privlogit-hessian, privlogit-local and cox-servers fail, at nodes and at both servers: nothing
 * crashes or leaks, nobody waits, and the run says that memory is out. A run makes thousands, so each test
 * run lets others fail; the seed is printed.
 */
#include "logit_world.h"

#include "failing.h"
#include "setting.h"

enum { RUNS = 4 };

static tacit_status run_failing(logit_world *world, long at, bool *failed) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_session session = world_begin(world);
    fail_allocation(at);
    tacit_status status = world->parties.plan.method->coordinate(&session, &outcome, &error);
    *failed = allocation_failed();
    assert_true(status == TACIT_OK || error.text[0] != 0);
    assert_int_equal(outcome.count, status == TACIT_OK);
    tacit_outcome_clear(&outcome);
    return status;
}

/* How many a whole run makes. */
static long count_allocations(logit_world *world) {
    const long most = 1L << 40;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_session session = world_begin(world);
    fail_allocation(most);
    CHECK_OK(world->parties.plan.method->coordinate(&session, &outcome, &error), error);
    long made = most - atomic_load(&allocations_until_failure);
    allocation_failed();
    tacit_outcome_clear(&outcome);
    return made;
}

static void an_allocation_that_fails_ends_the_run(logit_world *world, tacit_stream *stream) {
    long made = count_allocations(world);
    size_t refused = 0;
    for (int run = 0; run < RUNS; run++) {
        bool failed = false;
        long at = 1 + (long)((uint64_t)run * (uint64_t)made / RUNS) +
                  (long)tacit_stream_below(stream, (uint64_t)made / RUNS + 1);
        tacit_status status = run_failing(world, at, &failed);
        if (status != TACIT_OK && status != TACIT_NO_MEMORY && status != TACIT_REFUSED)
            fail_msg("%s, allocation %ld of %ld: %s", world->parties.plan.method->name, at, made,
                     tacit_status_name(status));
        if (!failed) assert_int_equal(status, TACIT_OK);
        refused += status != TACIT_OK;
    }
    print_message("# %s, %s: %zu of %d failures among %ld allocations ended the run\n",
                  world->parties.plan.method->name,
                  setting_is(&world->parties.plan, "engine", "yao") ? "yao" : "shares", refused, RUNS, made);
    assert_true(refused > RUNS / 2);
}

static void all_methods_survive_allocations_that_fail(void **state) {
    (void)state;
    static const tacit_method *const methods[] = { &tacit_method_newton, &tacit_method_privlogit_hessian,
                                                   &tacit_method_privlogit_local,
                                                   &tacit_method_privlogit_local };
    tacit_stream stream = printed_stream();
    logit_world world;
    world_make(&world, methods[0]);
    for (size_t m = 0; m < 4; m++) {
        world_use(&world, methods[m]);
        world_set(&world, "engine", m == 1 ? "yao" : "shares");
        if (m == 0) world_set(&world, "inference", "yes");
        if (m == 1 || m == 3) world_set(&world, "dp", "200");
        if (m == 1 || m == 3) world_set(&world, "dp-iterations", "2");
        if (m == 2) world.parties.plan.lambda = 100; /* few iterations */
        an_allocation_that_fails_ends_the_run(&world, &stream);
    }
    world_end(&world);
}

/* Four columns, as the world has. */
static void times_until_an_event_do_too(void **state) {
    (void)state;
    static const char text_of[] = "label: {name: [since, weeks, ill], kind: time, low: 0, high: 60}\n"
                                  "columns:\n"
                                  "  - {name: age, kind: number, low: 0, high: 1}\n"
                                  "  - {name: arm, kind: category, levels: [a, b]}\n"
                                  "  - {name: site, kind: category, levels: [x, y, z]}\n";
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = printed_stream(), rows = tacit_stream_from_seed(8);
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_schema *schema = NULL;
    logit_world world = { .count = 0 };
    CHECK_OK(tacit_schema_parse(&schema, text_of, sizeof text_of - 1, "test", &error), error);
    CHECK_OK(tacit_buffer_print(&text, &error, "age,arm,site,since,weeks,ill\n"), error);
    for (int i = 0; i < 90; i++)
        CHECK_OK(tacit_buffer_print(&text, &error, "%.3f,%c,%c,0,%.3f,%d\n", tacit_stream_unit(&rows),
                                    "ab"[tacit_stream_below(&rows, 2)], "xyz"[i % 3],
                                    1 + 58 * tacit_stream_unit(&rows), (int)tacit_stream_below(&rows, 2)),
                 error);
    parties_read(&world.parties, &text, schema, NODES, &tacit_method_cox_servers);
    world.watch = (tacit_watch){ hear_beta, &world };
    world_set(&world, "width", "20");
    an_allocation_that_fails_ends_the_run(&world, &stream);
    world_end(&world);
    tacit_schema_free(schema);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(all_methods_survive_allocations_that_fail),
                                        cmocka_unit_test(times_until_an_event_do_too) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
