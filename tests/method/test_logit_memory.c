/*
 * Allocations of newton, privlogit-hessian and privlogit-local fail, at nodes and at both servers: nothing
 * crashes or leaks, nobody waits, and the run says that memory is out. A run makes thousands, so each test
 * run lets others fail; the seed is printed.
 */
#include "logit_world.h"

#include "failing.h"

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
                  tacit_plan_is(&world->parties.plan, "engine", "yao") ? "yao" : "shares", refused, RUNS,
                  made);
    assert_true(refused > RUNS / 2);
}

static void all_methods_survive_allocations_that_fail(void **state) {
    (void)state;
    static const tacit_method *const methods[] = { &tacit_method_newton, &tacit_method_privlogit_hessian,
                                                   &tacit_method_privlogit_local };
    tacit_stream stream = printed_stream();
    logit_world world;
    world_make(&world, methods[0]);
    for (size_t m = 0; m < 3; m++) {
        world_use(&world, methods[m]);
        world_set(&world, "engine", m == 1 ? "yao" : "shares");
        if (m == 0) world_set(&world, "inference", "yes");
        if (m == 1) world_set(&world, "dp", "200");
        if (m == 1) world_set(&world, "dp-iterations", "2");
        if (m == 2) world.parties.plan.lambda = 100; /* few iterations */
        an_allocation_that_fails_ends_the_run(&world, &stream);
    }
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(all_methods_survive_allocations_that_fail) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
