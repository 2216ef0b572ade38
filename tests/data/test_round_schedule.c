/* Whoever knows the public numbers finds the same rounds, and in them who said what last. */
#include "check.h"

#include <string.h>

#include "data/graph/round_schedule.h"

enum { NODES = 9, ROUNDS = 40 };

static tacit_round_schedule *make(bool in_pairs, uint64_t draw) {
    tacit_round_schedule *schedule = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_round_schedule_plan plan = { .graph = { .kind = TACIT_TOPOLOGY_GRID },
                                       .nodes = NODES,
                                       .draw = draw,
                                       .rounds = ROUNDS,
                                       .link_probability = 0.7,
                                       .leave_probability = 0.2,
                                       .rounds_away = 3,
                                       .in_pairs = in_pairs };
    CHECK_OK(tacit_round_schedule_create(&schedule, &plan, &error), error);
    return schedule;
}

static bool same_mixing(const tacit_mixing *first, const tacit_mixing *second) {
    size_t used = first->start[NODES];
    return memcmp(first->present, second->present, NODES * sizeof *first->present) == 0 &&
           memcmp(first->start, second->start, (NODES + 1) * sizeof *first->start) == 0 &&
           memcmp(first->neighbour, second->neighbour, used * sizeof *first->neighbour) == 0 &&
           memcmp(first->weight, second->weight, used * sizeof *first->weight) == 0;
}

static void check_rounds(bool in_pairs) {
    tacit_round_schedule *one = make(in_pairs, 1), *two = make(in_pairs, 1), *other = make(in_pairs, 2);
    uint64_t said[NODES] = { 0 }; /* everybody in round 0 */
    bool differs = false;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        tacit_round_schedule_advance(one);
        tacit_round_schedule_advance(two);
        tacit_round_schedule_advance(other);
        assert_int_equal(one->round, round);
        assert_true(same_mixing(&one->mixing, &two->mixing));
        differs = differs || !same_mixing(&one->mixing, &other->mixing);
        assert_memory_equal(one->said, said, sizeof said);
        for (size_t i = 0; i < NODES; i++)
            if (one->mixing.present[i]) said[i] = round;
    }
    assert_true(differs);
    for (int more = 0; more < 2; more++) tacit_round_schedule_advance(one);
    assert_true(tacit_round_schedule_over(one));
    for (size_t i = 0; i < NODES; i++) assert_false(one->mixing.present[i]);
    assert_int_equal(one->mixing.start[NODES], 0);
    tacit_round_schedule_free(one);
    tacit_round_schedule_free(two);
    tacit_round_schedule_free(other);
}

static void the_rounds_follow_from_public_numbers(void **state) {
    (void)state;
    check_rounds(false);
    check_rounds(true);
    tacit_round_schedule_free(NULL);
}

static void edges_on_a_line_are_those_of_a_file(void **state) {
    (void)state;
    tacit_topology_plan plan;
    tacit_topology *graph = NULL;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_topology_plan_parse(&plan, "edges:3-1,2-3,3-2", &error), error);
    CHECK_OK(tacit_topology_make(&graph, &plan, 3, NULL, &error), error);
    CHECK_OK(tacit_topology_print(graph, &text, &error), error);
    assert_string_equal(tacit_buffer_text(&text), "1-3,2-3");
    tacit_buffer_clear(&text);
    tacit_topology_free(graph);
    CHECK_OK(tacit_topology_plan_parse(&plan, "edges:1-2", &error), error);
    assert_int_equal(tacit_topology_make(&graph, &plan, 3, NULL, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "not connected"));
    CHECK_OK(tacit_topology_plan_parse(&plan, "edges:1-2,2-4", &error), error);
    assert_int_equal(tacit_topology_make(&graph, &plan, 3, NULL, &error), TACIT_INPUT);
    assert_int_equal(tacit_topology_plan_parse(&plan, "edges:", &error), TACIT_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rounds_follow_from_public_numbers),
        cmocka_unit_test(edges_on_a_line_are_those_of_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
