#include "data/graph/mixing.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/blas.h"

tacit_status tacit_mixing_create(tacit_mixing *out, const tacit_topology *graph, tacit_error *error) {
    tacit_mixing made = { .nodes = graph->nodes,
                          .present = TACIT_NEW(bool, graph->nodes),
                          .start = TACIT_NEW(size_t, graph->nodes + 1),
                          .neighbour = TACIT_NEW(uint32_t, 2 * graph->edges),
                          .weight = TACIT_NEW(double, 2 * graph->edges),
                          .own = TACIT_NEW(double, graph->nodes) };
    if (made.present == NULL || made.start == NULL || made.neighbour == NULL || made.weight == NULL ||
        made.own == NULL) {
        tacit_mixing_clear(&made);
        return tacit_fail_memory(error);
    }
    for (size_t i = 0; i < graph->nodes; i++) made.own[i] = 1;
    *out = made;
    return TACIT_OK;
}

void tacit_mixing_clear(tacit_mixing *mixing) {
    if (mixing == NULL) return;
    free(mixing->present);
    free(mixing->start);
    free(mixing->neighbour);
    free(mixing->weight);
    free(mixing->own);
    *mixing = (tacit_mixing)TACIT_MIXING_INIT;
}

/* ---- changes ---- */

tacit_status tacit_changes_create(tacit_changes *out, const tacit_topology *graph, double link_probability,
                                  double leave_probability, size_t rounds_away, tacit_error *error) {
    if (!(link_probability > 0 && link_probability <= 1))
        return tacit_fail(error, TACIT_USAGE,
                          "the probability that a link is up is above 0 and at most 1, not %g",
                          link_probability);
    if (!(leave_probability >= 0 && leave_probability < 1))
        return tacit_fail(error, TACIT_USAGE,
                          "the chance that a node leaves is at least 0 and below 1, not %g",
                          leave_probability);
    if (rounds_away == 0)
        return tacit_fail(error, TACIT_USAGE, "a node that leaves stays away for at least one round");
    tacit_changes made = { link_probability,
                           leave_probability,
                           rounds_away,
                           TACIT_NEW(bool, graph->nodes),
                           TACIT_NEW(bool, graph->edges),
                           TACIT_NEW(uint64_t, graph->nodes) };
    if (made.present == NULL || made.is_up == NULL || made.back == NULL) {
        tacit_changes_clear(&made);
        return tacit_fail_memory(error);
    }
    for (size_t i = 0; i < graph->nodes; i++) made.present[i] = true;
    for (size_t e = 0; e < graph->edges; e++) made.is_up[e] = true;
    *out = made;
    return TACIT_OK;
}

void tacit_changes_clear(tacit_changes *changes) {
    if (changes == NULL) return;
    free(changes->present);
    free(changes->is_up);
    free(changes->back);
    *changes = (tacit_changes){ .present = NULL };
}

void tacit_changes_draw(tacit_changes *changes, const tacit_topology *graph, uint64_t round,
                        tacit_stream *stream) {
    for (size_t i = 0; changes->leave_probability > 0 && i < graph->nodes; i++) {
        bool leaves = tacit_stream_unit(stream) < changes->leave_probability;
        if (!changes->present[i]) {
            changes->present[i] = round >= changes->back[i];
        } else if (leaves) {
            changes->present[i] = false;
            changes->back[i] = round + changes->rounds_away;
        }
    }
    for (size_t e = 0; changes->link_probability < 1 && e < graph->edges; e++)
        changes->is_up[e] = tacit_stream_unit(stream) < changes->link_probability;
}

static bool can_talk(const tacit_topology *graph, const tacit_changes *changes, size_t node, size_t slot) {
    return changes->present[node] && changes->present[graph->neighbour[slot]] &&
           changes->is_up[graph->edge[slot]];
}

/* ---- weights ---- */

void tacit_mixing_metropolis(tacit_mixing *mixing, const tacit_topology *graph,
                             const tacit_changes *changes) {
    size_t used = 0;
    for (size_t i = 0; i < graph->nodes; i++) {
        mixing->present[i] = changes->present[i];
        mixing->start[i] = used;
        for (size_t slot = graph->start[i]; slot < graph->start[i + 1]; slot++)
            if (can_talk(graph, changes, i, slot)) mixing->neighbour[used++] = graph->neighbour[slot];
    }
    mixing->start[graph->nodes] = used;
    for (size_t i = 0; i < graph->nodes; i++) {
        double others = 0;
        size_t degree = mixing->start[i + 1] - mixing->start[i];
        for (size_t slot = mixing->start[i]; slot < mixing->start[i + 1]; slot++) {
            size_t j = mixing->neighbour[slot], theirs = mixing->start[j + 1] - mixing->start[j];
            mixing->weight[slot] = 1 / (1 + (double)(degree > theirs ? degree : theirs));
            others += mixing->weight[slot];
        }
        mixing->own[i] = 1 - others;
    }
}

/* Any of the free neighbours that can be reached, or the node itself when there is none. */
static size_t call_somebody(const tacit_topology *graph, const tacit_changes *changes, const bool *is_taken,
                            size_t node, tacit_stream *stream) {
    size_t chosen = node, free_ones = 0;
    for (size_t slot = graph->start[node]; slot < graph->start[node + 1]; slot++) {
        if (is_taken[graph->neighbour[slot]] || !can_talk(graph, changes, node, slot)) continue;
        free_ones++;
        if (tacit_stream_below(stream, free_ones) == 0) chosen = graph->neighbour[slot];
    }
    return chosen;
}

void tacit_mixing_pairs(tacit_mixing *mixing, const tacit_topology *graph, const tacit_changes *changes,
                        size_t most, size_t *order, tacit_stream *stream) {
    size_t nodes = graph->nodes, pairs = 0, used = 0;
    /* until everybody has called; a place is read before it is used otherwise */
    size_t *partner = mixing->start;
    tacit_stream_permutation(stream, order, nodes);
    memset(mixing->present, 0, nodes * sizeof *mixing->present);
    for (size_t i = 0; i < nodes; i++) partner[i] = SIZE_MAX;
    for (size_t k = 0; k < nodes && (most == 0 || pairs < most); k++) {
        size_t node = order[k], other;
        if (mixing->present[node] || !changes->present[node]) continue;
        other = call_somebody(graph, changes, mixing->present, node, stream);
        if (other == node) continue;
        mixing->present[node] = mixing->present[other] = true;
        partner[node] = other;
        partner[other] = node;
        pairs++;
    }
    for (size_t i = 0; i < nodes; i++) {
        size_t other = partner[i];
        mixing->start[i] = used;
        mixing->own[i] = other != SIZE_MAX ? 0.5 : 1;
        if (other == SIZE_MAX) continue;
        mixing->weight[used] = 0.5;
        mixing->neighbour[used++] = (uint32_t)other;
    }
    mixing->start[nodes] = used;
}

tacit_status tacit_mixing_spectrum(const tacit_mixing *mixing, double *least, double *second,
                                   tacit_error *error) {
    size_t n = mixing->nodes;
    if (n > TACIT_MOST_SPECTRUM)
        return tacit_fail(error, TACIT_LIMIT, "eigenvalues are computed for at most %d nodes, not %zu",
                          TACIT_MOST_SPECTRUM, n);
    double *matrix = TACIT_NEW(double, n *n), *values = TACIT_NEW(double, n);
    tacit_status status = TACIT_OK;
    if (matrix == NULL || values == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t i = 0; i < n; i++) {
        matrix[i * n + i] = mixing->own[i];
        for (size_t slot = mixing->start[i]; slot < mixing->start[i + 1]; slot++)
            matrix[i * n + mixing->neighbour[slot]] = mixing->weight[slot];
    }
    tacit_blas_one_thread();
    lapack_int info = LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', (lapack_int)n, matrix, (lapack_int)n, values);
    if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR)
        TACIT_CHECK(tacit_fail_memory(error));
    if (info != 0)
        TACIT_CHECK(
            tacit_fail(error, TACIT_INTERNAL, "the eigenvalues of the mixing weights were not found"));
    *least = values[0];
    *second = n > 1 ? fmax(fabs(values[0]), fabs(values[n - 2])) : 0;
cleanup:
    free(matrix);
    free(values);
    return status;
}
