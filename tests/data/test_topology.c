/* Graphs and their mixing weights: the families are what they are called, a file's mistakes have a line, W is
 * doubly stochastic in every round whatever is down, and the same seed gives the same graph. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/graph/mixing.h"
#include "scratch.h"

static tacit_topology *make(const char *text, size_t nodes, uint64_t seed) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_topology_plan plan;
    tacit_topology *graph = NULL;
    tacit_stream stream = tacit_stream_from_seed(seed);
    CHECK_OK(tacit_topology_plan_parse(&plan, text, &error), error);
    CHECK_OK(tacit_topology_make(&graph, &plan, nodes, &stream, &error), error);
    return graph;
}

/* Neighbours ascend, nobody is its own, and both ends agree on the edge. */
static void check_graph(const tacit_topology *graph) {
    assert_int_equal(graph->start[graph->nodes], 2 * graph->edges);
    for (size_t i = 0; i < graph->nodes; i++)
        for (size_t slot = graph->start[i]; slot < graph->start[i + 1]; slot++) {
            size_t j = graph->neighbour[slot];
            bool back = false;
            assert_true(j < graph->nodes && j != i && graph->edge[slot] < graph->edges);
            if (slot > graph->start[i]) assert_true(graph->neighbour[slot - 1] < j);
            for (size_t other = graph->start[j]; other < graph->start[j + 1]; other++)
                back = back || (graph->neighbour[other] == i && graph->edge[other] == graph->edge[slot]);
            assert_true(back);
        }
    assert_int_equal(tacit_topology_pieces(graph), 1);
}

static void every_family_is_what_it_is_called(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t nodes, edges, degree;
    } known[] = { { "ring", 100, 100, 2 },  { "ring", 2, 1, 1 },      { "ring", 1, 0, 0 },
                  { "grid", 100, 180, 4 },  { "grid", 7, 8, 3 },      { "grid", 1, 0, 0 },
                  { "complete", 6, 15, 5 }, { "random:1", 5, 10, 4 }, { "geometric:2", 9, 36, 8 },
                  { "complete", 2, 1, 1 } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        tacit_topology *graph = make(known[i].text, known[i].nodes, 1);
        check_graph(graph);
        assert_int_equal(graph->edges, known[i].edges);
        assert_int_equal(tacit_topology_largest_degree(graph), known[i].degree);
        tacit_topology_free(graph);
    }
}

static void random_graphs_are_connected_and_follow_from_the_seed(void **state) {
    (void)state;
    static const char *const families[] = { "geometric", "random" };
    for (size_t f = 0; f < 2; f++)
        for (size_t nodes = 1; nodes <= 200; nodes += 33) {
            tacit_topology *graph = make(families[f], nodes, 7), *again = make(families[f], nodes, 7);
            check_graph(graph);
            assert_int_equal(graph->edges, again->edges);
            if (graph->edges > 0)
                assert_memory_equal(graph->neighbour, again->neighbour,
                                    2 * graph->edges * sizeof *graph->neighbour);
            tacit_topology_free(graph);
            tacit_topology_free(again);
        }
}

static void what_is_no_graph_is_refused_with_the_forms(void **state) {
    (void)state;
    static const char *const wrong[] = { "rings",       "",          "ring:3",     "geometric:",
                                         "geometric:0", "random:-1", "random:1.5", "geometric:x1",
                                         "file",        "file:" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_topology_plan plan;
        if (tacit_topology_plan_parse(&plan, wrong[i], &error) != TACIT_USAGE)
            fail_msg("'%s' passes", wrong[i]);
        assert_true(strlen(error.text) > 20);
    }
}

static void a_graph_that_cannot_be_connected_says_so(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_topology_plan plan;
    tacit_topology *graph = NULL;
    tacit_stream stream = tacit_stream_from_seed(1);
    CHECK_OK(tacit_topology_plan_parse(&plan, "random:0.001", &error), error);
    assert_int_equal(tacit_topology_make(&graph, &plan, 50, &stream, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "pieces"));
    assert_non_null(strstr(error.text, "larger chance"));
    assert_null(graph);
    error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(tacit_topology_plan_parse(&plan, "complete", &error), error);
    assert_int_equal(tacit_topology_make(&graph, &plan, 100000, &stream, &error), TACIT_LIMIT);
    assert_non_null(strstr(error.text, "a ring, a grid"));
}

/* ---- files ---- */

static tacit_status read_text(scratch *place, const char *text, size_t nodes, tacit_topology **out,
                              tacit_error *error) {
    char form[600];
    tacit_topology_plan plan;
    scratch_write(place, "graph", text, strlen(text));
    snprintf(form, sizeof form, "file:%s", place->path);
    tacit_status status = tacit_topology_plan_parse(&plan, form, error);
    if (status == TACIT_OK) status = tacit_topology_make(out, &plan, nodes, NULL, error);
    unlink(place->path);
    return status;
}

static void a_file_gives_its_edges_and_its_mistakes_have_a_line(void **state) {
    scratch *place = *state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_topology *graph = NULL;
    CHECK_OK(read_text(place, "# four in a row\n1 2\r\n\n2,3 # again below\n3\t2\n 4 3", 4, &graph, &error),
             error);
    check_graph(graph);
    assert_int_equal(graph->edges, 3);
    graph = tacit_topology_free(graph);
    static const struct {
        const char *text, *says;
    } wrong[] = { { "1 2\n3\n", ":2: an edge is two numbers" }, { "1 x\n", ":1: an edge is two numbers" },
                  { "1 2\n\n2 5\n", ":3: nodes are numbered" }, { "0 1\n", ":1: nodes are numbered" },
                  { "1 2 3\n", ":1: more than two" },           { "1 2\n2 2\n", ":2: node 2" },
                  { "99999999999999999999 1\n", ":1: nodes" },  { "1 -2\n", ":1: an edge" } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        error = (tacit_error)TACIT_ERROR_INIT;
        assert_int_equal(read_text(place, wrong[i].text, 4, &graph, &error), TACIT_INPUT);
        if (strstr(error.text, wrong[i].says) == NULL) fail_msg("'%s' lacks '%s'", error.text, wrong[i].says);
    }
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(read_text(place, "1 2\n3 4\n", 4, &graph, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "2 pieces"));
}

/* ---- weights ---- */

/* W as a dense matrix, from the lists. */
static double *dense(const tacit_mixing *mixing) {
    size_t n = mixing->nodes;
    double *matrix = TACIT_NEW(double, n *n);
    assert_non_null(matrix);
    for (size_t i = 0; i < n; i++) {
        matrix[i * n + i] = mixing->own[i];
        for (size_t slot = mixing->start[i]; slot < mixing->start[i + 1]; slot++) {
            assert_true(mixing->present[i] && mixing->present[mixing->neighbour[slot]]);
            matrix[i * n + mixing->neighbour[slot]] += mixing->weight[slot];
        }
    }
    return matrix;
}

static void check_doubly_stochastic(const tacit_mixing *mixing) {
    size_t n = mixing->nodes;
    double *matrix = dense(mixing);
    for (size_t i = 0; i < n; i++) {
        double row = 0, column = 0;
        for (size_t j = 0; j < n; j++) {
            assert_true(matrix[i * n + j] >= 0);
            assert_true(matrix[i * n + j] == matrix[j * n + i]);
            row += matrix[i * n + j];
            column += matrix[j * n + i];
        }
        CHECK_NEAR(row, 1, 1e-14);
        CHECK_NEAR(column, 1, 1e-14);
        if (!mixing->present[i]) assert_true(mixing->own[i] == 1);
    }
    free(matrix);
}

static void weights_are_doubly_stochastic_whatever_is_down(void **state) {
    (void)state;
    enum { NODES = 40, ROUNDS = 60 };
    static const char *const families[] = { "ring", "grid", "geometric", "random", "complete" };
    for (size_t f = 0; f < 5; f++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_stream stream = tacit_stream_from_seed(f);
        tacit_topology *graph = make(families[f], NODES, 3);
        tacit_mixing mixing;
        tacit_changes changes;
        size_t order[NODES], away = 0, met = 0;
        CHECK_OK(tacit_mixing_create(&mixing, graph, &error), error);
        CHECK_OK(tacit_changes_create(&changes, graph, 0.7, 0.05, 4, &error), error);
        tacit_mixing_metropolis(&mixing, graph, &changes);
        check_doubly_stochastic(&mixing);
        for (uint64_t t = 1; t <= ROUNDS; t++) {
            tacit_changes_draw(&changes, graph, t, &stream);
            tacit_mixing_metropolis(&mixing, graph, &changes);
            check_doubly_stochastic(&mixing);
            for (size_t i = 0; i < NODES; i++) away += !mixing.present[i];
            tacit_mixing_pairs(&mixing, graph, &changes, 0, order, &stream);
            check_doubly_stochastic(&mixing);
            for (size_t i = 0; i < NODES; i++) {
                assert_int_equal(mixing.start[i + 1] - mixing.start[i], mixing.present[i] ? 1 : 0);
                met += mixing.present[i];
            }
            tacit_mixing_pairs(&mixing, graph, &changes, 1, order, &stream);
            assert_true(mixing.start[NODES] <= 2);
        }
        assert_true(away > 0 && met > 0);
        tacit_changes_clear(&changes);
        tacit_mixing_clear(&mixing);
        tacit_topology_free(graph);
    }
}

static void a_node_that_leaves_is_back_after_its_rounds(void **state) {
    (void)state;
    enum { NODES = 30, AWAY = 5 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(2);
    tacit_topology *graph = make("ring", NODES, 1);
    tacit_changes changes;
    size_t gone[NODES] = { 0 }, left = 0;
    CHECK_OK(tacit_changes_create(&changes, graph, 1, 0.02, AWAY, &error), error);
    for (uint64_t t = 1; t <= 200; t++) {
        tacit_changes_draw(&changes, graph, t, &stream);
        for (size_t i = 0; i < NODES; i++) {
            if (changes.present[i]) {
                assert_true(gone[i] == 0 || gone[i] == AWAY);
                left += gone[i] == AWAY;
                gone[i] = 0;
            } else {
                gone[i]++;
            }
        }
    }
    assert_true(left > 10);
    tacit_changes_clear(&changes);
    assert_int_equal(tacit_changes_create(&changes, graph, 0, 0, 1, NULL), TACIT_USAGE);
    assert_int_equal(tacit_changes_create(&changes, graph, 1, 1, 1, NULL), TACIT_USAGE);
    assert_int_equal(tacit_changes_create(&changes, graph, 1, 0, 0, NULL), TACIT_USAGE);
    tacit_topology_free(graph);
}

/* A ring's W is circulant with 1/3 on three diagonals: its eigenvalues are (1 + 2 cos(2 pi k/n))/3. A
 * complete graph's is all 1/n: 1 and zeros. */
static void the_spectrum_is_that_of_the_textbook(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t nodes;
        double least, second;
    } known[] = { { "ring", 100, -1.0 / 3, 0 }, { "complete", 20, 0, 0 }, { "ring", 1, 1, 0 } };
    for (size_t i = 0; i < 3; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_topology *graph = make(known[i].text, known[i].nodes, 1);
        tacit_mixing mixing;
        tacit_changes changes;
        double least, second, expected = i == 0 ? (1 + 2 * cos(2 * M_PI / 100)) / 3 : known[i].second;
        CHECK_OK(tacit_mixing_create(&mixing, graph, &error), error);
        CHECK_OK(tacit_changes_create(&changes, graph, 1, 0, 1, &error), error);
        tacit_mixing_metropolis(&mixing, graph, &changes);
        CHECK_OK(tacit_mixing_spectrum(&mixing, &least, &second, &error), error);
        CHECK_NEAR(least, known[i].least, 1e-12);
        CHECK_NEAR(second, expected, 1e-12);
        tacit_changes_clear(&changes);
        tacit_mixing_clear(&mixing);
        tacit_topology_free(graph);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family_is_what_it_is_called),
        cmocka_unit_test(random_graphs_are_connected_and_follow_from_the_seed),
        cmocka_unit_test(what_is_no_graph_is_refused_with_the_forms),
        cmocka_unit_test(a_graph_that_cannot_be_connected_says_so),
        cmocka_unit_test_setup_teardown(a_file_gives_its_edges_and_its_mistakes_have_a_line, scratch_open,
                                        scratch_close),
        cmocka_unit_test(weights_are_doubly_stochastic_whatever_is_down),
        cmocka_unit_test(a_node_that_leaves_is_back_after_its_rounds),
        cmocka_unit_test(the_spectrum_is_that_of_the_textbook),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
