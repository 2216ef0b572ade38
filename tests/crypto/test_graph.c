#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/sum/graph.h"
#include "rand/stream.h"

static const uint8_t seed[TACIT_GRAPH_SEED_BYTES] = { 42 };

static tacit_graph *make(tacit_graph_shape shape) {
    tacit_graph *graph = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_graph_create(&graph, &shape, seed, &error), error);
    return graph;
}

static void check_slots(const tacit_graph *graph) {
    const tacit_graph_shape *shape = tacit_graph_shape_of(graph);
    for (uint32_t i = 0; i < shape->parties; i++) {
        uint32_t neighbours = 0, slot;
        for (uint32_t j = 0; j < shape->parties; j++) {
            uint32_t back;
            bool beside = tacit_graph_slot(graph, i, j, &slot);
            assert_int_equal(beside, tacit_graph_slot(graph, j, i, &back));
            if (beside) assert_int_equal(tacit_graph_neighbour(graph, i, slot), j);
            neighbours += beside && i != j;
        }
        assert_int_equal(neighbours, shape->degree);
        assert_true(tacit_graph_slot(graph, i, i, &slot) && slot == shape->degree);
        assert_false(tacit_graph_slot(graph, i, shape->parties, &slot));
    }
}

static void neighbourhoods_are_symmetric_and_of_the_right_size(void **state) {
    (void)state;
    const tacit_graph_shape shapes[] = {
        { 2, 1, 2, 0, 2 }, { 7, 6, 4, 0, 4 }, { 60, 8, 5, 1, 30 }, { 61, 20, 11, 3, 31 }, { 10, 8, 5, 1, 5 }
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        tacit_graph *graph = make(shapes[i]);
        check_slots(graph);
        tacit_graph_free(graph);
    }
}

static void shapes_that_protect_nothing_are_refused(void **state) {
    (void)state;
    const tacit_graph_shape shapes[] = { { 1, 0, 1, 0, 1 },   { 60, 60, 40, 1, 30 }, { 60, 9, 6, 1, 30 },
                                         { 60, 8, 4, 1, 30 }, { 60, 8, 10, 1, 30 },  { 60, 8, 5, 0, 30 },
                                         { 60, 8, 5, 5, 30 }, { 60, 8, 5, 1, 61 },   { 60, 8, 5, 1, 1 },
                                         { 7, 6, 4, 1, 4 },   { 70000, 8, 5, 1, 30 } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        tacit_graph *graph = NULL;
        assert_int_equal(tacit_graph_create(&graph, &shapes[i], seed, NULL), TACIT_USAGE);
        assert_null(graph);
    }
}

/* By counting all subsets of `drawn` out of `total`, in whole numbers. */
static double counted_tail(uint32_t total, uint32_t marked, uint32_t drawn, uint32_t x) {
    double above = 0, all = 0;
    for (uint32_t set = 0; set < 1U << total; set++) {
        if (__builtin_popcount(set) != (int)drawn) continue;
        all++;
        above += __builtin_popcount(set & ((1U << marked) - 1)) > (int)x;
    }
    return above / all;
}

static void tails_are_those_of_counting_rounded_up(void **state) {
    (void)state;
    for (uint32_t marked = 0; marked <= 12; marked += 3)
        for (uint32_t drawn = 1; drawn <= 12; drawn += 2)
            for (uint32_t x = 0; x <= 12; x++) {
                double counted = counted_tail(12, marked, drawn, x);
                double bound = exp2(tacit_graph_log2_tail(12, marked, drawn, x));
                if (counted == 0 ? bound != 0
                                 : !(bound >= counted * (1 - 1e-15) && bound <= counted * 1.00001))
                    fail_msg("P(X > %u) of %u in %u drawn is %g, not %g", x, marked, drawn, counted, bound);
            }
}

static void check_promises(const tacit_graph_shape *shape, const tacit_graph_assumption *given) {
    const uint32_t n = shape->parties, k = shape->degree, h = k / 2;
    const uint32_t colluding = (uint32_t)ceil(given->colluders * n),
                   missing = (uint32_t)ceil(given->dropouts * n);
    assert_true(shape->minimum >= colluding + 2);
    if (k == n - 1) {
        assert_true(2 * shape->threshold > n + colluding);
        assert_true(n - missing >= shape->threshold);
        return;
    }
    /* The most colluders for which the threshold is sound, and the chance of more. */
    uint32_t sound = 2 * shape->threshold - (k + 1) - 1;
    double both = tacit_graph_log2_tail(n - 1, colluding, k, sound);
    double apart = tacit_graph_log2_tail(n, colluding, h, shape->window_least - 1);
    double fails = tacit_graph_log2_tail(n - 1, missing, k, k - shape->threshold);
    double thin = tacit_graph_log2_tail(n, missing, h, h - shape->window_least);
    assert_true(n * (exp2(both) + exp2(apart)) <= exp2(-(double)given->security_bits));
    assert_true(n * (exp2(fails) + exp2(thin)) <= exp2(-(double)given->failure_bits));
}

static void plans_keep_their_promises(void **state) {
    (void)state;
    const uint32_t sizes[] = { 2, 3, 5, 20, 50, 51, 100, 200, 500, 1000, 10000, 65535 };
    uint32_t last = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tacit_graph_assumption given = tacit_graph_assumption_default(sizes[i]);
        if (sizes[i] < 5) given.dropouts = given.colluders = 0;
        tacit_graph_shape shape;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_graph_plan(&shape, &given, &error), error);
        check_promises(&shape, &given);
        tacit_graph_free(make(shape));
        if (sizes[i] >= 1000) assert_true(shape.degree < 250);
        if (sizes[i] > 1000) assert_true(shape.degree < last + 60); /* grows with the logarithm */
        last = shape.degree;
        given.complete = true;
        CHECK_OK(tacit_graph_plan(&shape, &given, &error), error);
        assert_int_equal(shape.degree, sizes[i] - 1);
        check_promises(&shape, &given);
    }
}

static void three_parties_survive_the_loss_of_one(void **state) {
    (void)state;
    tacit_graph_assumption given = tacit_graph_assumption_default(3);
    tacit_graph_shape shape;
    given.dropouts = 1.0 / 3;
    given.colluders = 0;
    given.minimum = 2;
    assert_int_equal(tacit_graph_plan(&shape, &given, NULL), TACIT_OK);
    assert_int_equal(shape.threshold, 2);
    assert_int_equal(shape.minimum, 2);
}

static void impossible_assumptions_are_refused(void **state) {
    (void)state;
    tacit_graph_shape shape;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_graph_assumption given = tacit_graph_assumption_default(20);
    given.dropouts = 0.5;
    assert_int_equal(tacit_graph_plan(&shape, &given, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "too few"));
    given = tacit_graph_assumption_default(1000);
    given.dropouts = given.colluders = 0.4;
    assert_int_equal(tacit_graph_plan(&shape, &given, NULL), TACIT_USAGE);
    given = tacit_graph_assumption_default(1);
    assert_int_equal(tacit_graph_plan(&shape, &given, NULL), TACIT_USAGE);
    given = tacit_graph_assumption_default(20);
    given.colluders = NAN;
    assert_int_equal(tacit_graph_plan(&shape, &given, NULL), TACIT_USAGE);
    given = tacit_graph_assumption_default(20);
    given.minimum = 21;
    assert_int_equal(tacit_graph_plan(&shape, &given, NULL), TACIT_USAGE);
    given = tacit_graph_assumption_default(20);
    given.security_bits = 0;
    assert_int_equal(tacit_graph_plan(&shape, &given, NULL), TACIT_USAGE);
}

/* A row of the ring without survivors is found wherever it lies. */
static void a_gap_in_the_ring_is_refused(void **state) {
    (void)state;
    tacit_graph *graph = make((tacit_graph_shape){ 40, 8, 5, 1, 20 });
    for (uint32_t first = 0; first < 40; first++) {
        uint8_t survivors[5];
        uint32_t party = first;
        memset(survivors, 255, sizeof survivors);
        for (int i = 0; i < 3; i++) { /* three in a row leave a survivor in any four places */
            survivors[party / 8] &= (uint8_t) ~(1 << party % 8);
            party = tacit_graph_neighbour(graph, party, 4); /* the next on the ring */
        }
        assert_int_equal(tacit_graph_check_survivors(graph, survivors, NULL), TACIT_OK);
        survivors[party / 8] &= (uint8_t) ~(1 << party % 8);
        assert_int_equal(tacit_graph_check_survivors(graph, survivors, NULL), TACIT_REFUSED);
    }
    uint8_t few[5] = { 255, 255, 7 };
    assert_int_equal(tacit_graph_check_survivors(graph, few, NULL), TACIT_REFUSED);
    tacit_graph_free(graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbourhoods_are_symmetric_and_of_the_right_size),
        cmocka_unit_test(shapes_that_protect_nothing_are_refused),
        cmocka_unit_test(tails_are_those_of_counting_rounded_up),
        cmocka_unit_test(plans_keep_their_promises),
        cmocka_unit_test(three_parties_survive_the_loss_of_one),
        cmocka_unit_test(impossible_assumptions_are_refused),
        cmocka_unit_test(a_gap_in_the_ring_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
