/* A file of edges into a graph of neighbours. */
#include <stdlib.h>

#include "data/graph/topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    enum { NODES = 50 };
    tacit_topology *graph = NULL;
    if (tacit_topology_parse(&graph, NODES, bytes, length, "fuzz.edges", NULL) != TACIT_OK) return 0;
    if (graph->start[NODES] != 2 * graph->edges) abort();
    for (size_t i = 0; i < NODES; i++)
        for (size_t slot = graph->start[i]; slot < graph->start[i + 1]; slot++) {
            if (graph->neighbour[slot] >= NODES || graph->neighbour[slot] == i) abort();
            if (slot > graph->start[i] && graph->neighbour[slot] <= graph->neighbour[slot - 1]) abort();
        }
    if (tacit_topology_pieces(graph) == 0) abort();
    tacit_topology_free(graph);
    return 0;
}
