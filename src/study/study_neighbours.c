/* Studies without a center: what they need, and the graph that becomes part of their definition. */
#include <limits.h>

#include "data/round_schedule.h"
#include "data/topology.h"
#include "method/neighbours.h"
#include "study/study_parts.h"

/* A method without a center has every party as a node, and gives the coordinator no weights but in a masked sum. */
tacit_status study_check_neighbours(reading *r, const yaml_node_t *parties, const yaml_node_t *sum) {
    const tacit_plan *plan = &r->study->plan;
    enum {
        MOST_NODES = 1000
    }; /* whoever reads the definition makes the graph, and a random one up to a hundred times */
    if (plan->method->schedule == NULL) return TACIT_OK;
    if (plan->parties > MOST_NODES)
        return tacit_yaml_fail(&r->yaml, parties, r->error,
                               "method %s has no center: a study of it has at most %d parties",
                               plan->method->name, MOST_NODES);
    if (plan->minimum_parties != plan->parties)
        return tacit_yaml_fail(&r->yaml, parties, r->error,
                               "method %s has no center, and each party is a node of its graph: leave out "
                               "'minimum', or make it %zu",
                               plan->method->name, plan->parties);
    if (plan->sums != TACIT_SUMS_MASKED)
        return tacit_yaml_fail(
            &r->yaml, sum, r->error,
            "method %s has no center, and its last sum is masked: with 'sum: clear' the coordinator would "
            "see every party's weights, and with 'sum: paillier' a party would be the center; leave it out",
            plan->method->name);
    return TACIT_OK;
}

/* The graph of a file becomes part of the definition, edge by edge: parties find their neighbours there and nowhere else. */
tacit_status study_read_graph(reading *r, const yaml_node_t *set) {
    tacit_plan *plan = &r->study->plan;
    tacit_topology_plan about, file;
    tacit_topology *graph = NULL;
    tacit_round_schedule *schedule = NULL;
    tacit_buffer text = TACIT_BUFFER_INIT;
    char path[PATH_MAX];
    tacit_status status;
    if (plan->method->schedule == NULL) return TACIT_OK;
    TACIT_CHECK(tacit_topology_plan_parse(&about, tacit_neighbour_settings_of(plan)->graph, r->error));
    if (about.kind == TACIT_TOPOLOGY_FILE) {
        TACIT_CHECK(study_find_file(r, set, about.path, path));
        file = (tacit_topology_plan){ .kind = TACIT_TOPOLOGY_FILE, .path = path };
        TACIT_CHECK(tacit_topology_make(&graph, &file, plan->parties, NULL, r->error));
        TACIT_CHECK(tacit_buffer_print(&text, r->error, "edges:"));
        TACIT_CHECK(tacit_topology_print(graph, &text, r->error));
        if (text.length >= TACIT_SETTING_SIZE)
            TACIT_CHECK(tacit_fail(
                r->error, TACIT_USAGE,
                "the graph in %s has %zu edges, too many for a definition: choose one of the families", path,
                graph->edges));
        TACIT_CHECK(tacit_plan_set(plan, "graph", tacit_buffer_text(&text), r->error));
    }
    TACIT_CHECK(
        plan->method->schedule(&schedule, plan, r->error)); /* a graph that cannot be made is found here */
cleanup:
    tacit_round_schedule_free(schedule);
    tacit_topology_free(graph);
    tacit_buffer_clear(&text);
    return status == TACIT_OK ? TACIT_OK : tacit_fail_in(r->error, status, "%s", r->yaml.name);
}
