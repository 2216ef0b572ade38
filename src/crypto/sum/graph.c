#include "crypto/sum/graph.h"

#include <stdlib.h>

#include "base/memory.h"
#include "rand/stream.h"

struct tacit_graph {
    tacit_graph_shape shape;
    bool complete;
    uint32_t *order; /* who stands at a place of the ring; NULL in a complete graph */
    uint32_t *place; /* where a party stands */
};

static tacit_status check_shape(const tacit_graph_shape *shape, tacit_error *error) {
    const uint32_t n = shape->parties, k = shape->degree;
    if (n < 2 || n > TACIT_GRAPH_PARTIES_MOST)
        return tacit_fail(error, TACIT_USAGE, "a secure sum takes 2 to %d parties, not %lu",
                          TACIT_GRAPH_PARTIES_MOST, (unsigned long)n);
    bool complete = k == n - 1;
    if (k >= n || k < 1 || (!complete && k % 2 != 0))
        return tacit_fail(error, TACIT_USAGE, "%lu parties cannot have %lu neighbours each", (unsigned long)n,
                          (unsigned long)k);
    /* 2 threshold > K, or two sets of holders that share nobody could open both secrets. */
    if (shape->threshold > k + 1 || 2 * (uint64_t)shape->threshold <= k + 1)
        return tacit_fail(error, TACIT_USAGE, "%lu shares of %lu are no sound threshold of a secure sum",
                          (unsigned long)shape->threshold, (unsigned long)k + 1);
    if (shape->minimum > n || shape->minimum < 2)
        return tacit_fail(error, TACIT_USAGE,
                          "at least %lu of %lu parties is no sound minimum of a secure sum",
                          (unsigned long)shape->minimum, (unsigned long)n);
    if (complete ? shape->window_least != 0 : shape->window_least < 1 || shape->window_least > k / 2)
        return tacit_fail(error, TACIT_USAGE, "the survivors in a row of a secure sum do not fit its graph");
    return TACIT_OK;
}

static tacit_status draw_order(tacit_graph *graph, const uint8_t seed[TACIT_GRAPH_SEED_BYTES],
                               tacit_error *error) {
    const uint32_t n = graph->shape.parties;
    size_t *order = TACIT_NEW(size_t, n);
    graph->order = TACIT_NEW(uint32_t, n);
    graph->place = TACIT_NEW(uint32_t, n);
    if (order == NULL || graph->order == NULL || graph->place == NULL) {
        free(order);
        return tacit_fail_memory(error);
    }
    tacit_stream stream = tacit_stream_from_key(seed);
    tacit_stream_permutation(&stream, order, n);
    for (uint32_t i = 0; i < n; i++) {
        graph->order[i] = (uint32_t)order[i];
        graph->place[order[i]] = i;
    }
    free(order);
    return TACIT_OK;
}

tacit_status tacit_graph_create(tacit_graph **out, const tacit_graph_shape *shape,
                                const uint8_t seed[TACIT_GRAPH_SEED_BYTES], tacit_error *error) {
    TACIT_TRY(check_shape(shape, error));
    tacit_graph *graph = TACIT_NEW(tacit_graph, 1);
    if (graph == NULL) return tacit_fail_memory(error);
    graph->shape = *shape;
    graph->complete = shape->degree == shape->parties - 1;
    tacit_status status = graph->complete ? TACIT_OK : draw_order(graph, seed, error);
    if (status != TACIT_OK) {
        tacit_graph_free(graph);
        return status;
    }
    *out = graph;
    return TACIT_OK;
}

tacit_graph *tacit_graph_free(tacit_graph *graph) {
    if (graph == NULL) return NULL;
    free(graph->order);
    free(graph->place);
    free(graph);
    return NULL;
}

const tacit_graph_shape *tacit_graph_shape_of(const tacit_graph *graph) { return &graph->shape; }

/* Slots 0 .. h - 1 are the places before a party from the farthest on, h .. 2h - 1 those after it. */
uint32_t tacit_graph_neighbour(const tacit_graph *graph, uint32_t party, uint32_t slot) {
    const uint32_t n = graph->shape.parties, k = graph->shape.degree, h = k / 2;
    if (slot == k) return party;
    if (graph->complete) return slot < party ? slot : slot + 1;
    uint32_t ahead = slot < h ? n - h + slot : slot - h + 1;
    return graph->order[((uint64_t)graph->place[party] + ahead) % n];
}

bool tacit_graph_slot(const tacit_graph *graph, uint32_t party, uint32_t other, uint32_t *slot) {
    const uint32_t n = graph->shape.parties, k = graph->shape.degree, h = k / 2;
    if (party >= n || other >= n) return false;
    if (party == other) {
        *slot = k;
        return true;
    }
    if (graph->complete) {
        *slot = other < party ? other : other - 1;
        return true;
    }
    uint32_t ahead = (uint32_t)(((uint64_t)graph->place[other] + n - graph->place[party]) % n);
    if (ahead <= h)
        *slot = h + ahead - 1;
    else if (ahead >= n - h)
        *slot = ahead - (n - h);
    else
        return false;
    return true;
}

static uint32_t alive(const uint8_t *survivors, uint32_t party) {
    return survivors[party / 8] >> party % 8 & 1;
}

tacit_status tacit_graph_check_survivors(const tacit_graph *graph, const uint8_t *survivors,
                                         tacit_error *error) {
    const tacit_graph_shape *shape = &graph->shape;
    uint32_t count = 0, inside = 0, h = shape->degree / 2;
    for (uint32_t i = 0; i < shape->parties; i++) count += alive(survivors, i);
    if (count < shape->minimum)
        return tacit_fail(error, TACIT_REFUSED,
                          "%lu parties are left of a secure sum that opens for at least %lu",
                          (unsigned long)count, (unsigned long)shape->minimum);
    if (graph->complete) return TACIT_OK;
    for (uint32_t i = 0; i < h; i++) inside += alive(survivors, graph->order[i]);
    for (uint32_t first = 0; first < shape->parties; first++) { /* the row of places first .. first + h - 1 */
        if (inside < shape->window_least)
            return tacit_fail(error, TACIT_REFUSED,
                              "%lu parties are left in a row of %lu places of a secure sum that needs %lu",
                              (unsigned long)inside, (unsigned long)h, (unsigned long)shape->window_least);
        inside -= alive(survivors, graph->order[first]);
        inside += alive(survivors, graph->order[((uint64_t)first + h) % shape->parties]);
    }
    return TACIT_OK;
}
