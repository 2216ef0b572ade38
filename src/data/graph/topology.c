#include "data/graph/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/growing.h"
#include "base/memory.h"
#include "data/schema/text.h"

enum {
    MOST_NODES = 1 << 20,
    MOST_EDGES = 1 << 26,
    MOST_PAIRED = 1 << 15, /* nodes of a family that looks at every pair */
    MOST_FILE_BYTES = 1 << 28,
    MOST_DRAWS = 100, /* of a random graph until one is connected */
};

tacit_topology *tacit_topology_free(tacit_topology *graph) {
    if (graph == NULL) return NULL;
    free(graph->start);
    free(graph->neighbour);
    free(graph->edge);
    free(graph);
    return NULL;
}

/* ---- from a list of edges ---- */

static int compare_edges(const void *a, const void *b) {
    const tacit_edge *first = a, *second = b;
    if (first->from != second->from) return first->from < second->from ? -1 : 1;
    return (first->to > second->to) - (first->to < second->to);
}

/* Every edge once, the smaller node first, in rising order. */
static tacit_status sort_edges(tacit_edge *sorted, size_t *count, size_t nodes, tacit_error *error) {
    size_t kept = 0;
    for (size_t e = 0; e < *count; e++) {
        tacit_edge *one = &sorted[e];
        if (one->from >= nodes || one->to >= nodes)
            return tacit_fail(error, TACIT_INPUT, "an edge leads to node %u and there are %zu nodes",
                              (one->from > one->to ? one->from : one->to) + 1, nodes);
        if (one->from == one->to)
            return tacit_fail(error, TACIT_INPUT, "an edge leads from node %u to itself", one->from + 1);
        if (one->from > one->to) *one = (tacit_edge){ one->to, one->from };
    }
    if (*count > 0) qsort(sorted, *count, sizeof *sorted, compare_edges);
    for (size_t e = 0; e < *count; e++)
        if (kept == 0 || compare_edges(&sorted[e], &sorted[kept - 1]) != 0) sorted[kept++] = sorted[e];
    *count = kept;
    return TACIT_OK;
}

/* In rising order of edges, each node meets its neighbours in rising order too: first the smaller ones, as
 * the other end of their edges, then the larger ones. */
static void fill(tacit_topology *graph, const tacit_edge *sorted, size_t *next) {
    for (size_t e = 0; e < graph->edges; e++) {
        graph->start[sorted[e].from + 1]++;
        graph->start[sorted[e].to + 1]++;
    }
    for (size_t i = 0; i < graph->nodes; i++) graph->start[i + 1] += graph->start[i];
    memcpy(next, graph->start, graph->nodes * sizeof *next);
    for (size_t e = 0; e < graph->edges; e++) {
        uint32_t from = sorted[e].from, to = sorted[e].to;
        graph->neighbour[next[from]] = to;
        graph->edge[next[from]++] = (uint32_t)e;
        graph->neighbour[next[to]] = from;
        graph->edge[next[to]++] = (uint32_t)e;
    }
}

tacit_status tacit_topology_create(tacit_topology **out, size_t nodes, const tacit_edge *edges, size_t count,
                                   tacit_error *error) {
    if (nodes == 0 || nodes > MOST_NODES || count > MOST_EDGES)
        return tacit_fail(error, TACIT_LIMIT,
                          "a graph has 1 to %d nodes and at most %d edges, not %zu and %zu", MOST_NODES,
                          MOST_EDGES, nodes, count);
    tacit_edge *sorted = TACIT_NEW(tacit_edge, count);
    size_t *next = TACIT_NEW(size_t, nodes);
    tacit_topology *graph = TACIT_NEW(tacit_topology, 1);
    tacit_status status = TACIT_OK;
    if (sorted == NULL || next == NULL || graph == NULL) TACIT_CHECK(tacit_fail_memory(error));
    if (count > 0) memcpy(sorted, edges, count * sizeof *sorted);
    TACIT_CHECK(sort_edges(sorted, &count, nodes, error));
    graph->nodes = nodes;
    graph->edges = count;
    graph->start = TACIT_NEW(size_t, nodes + 1);
    graph->neighbour = TACIT_NEW(uint32_t, 2 * count);
    graph->edge = TACIT_NEW(uint32_t, 2 * count);
    if (graph->start == NULL || graph->neighbour == NULL || graph->edge == NULL)
        TACIT_CHECK(tacit_fail_memory(error));
    fill(graph, sorted, next);
    *out = graph;
    graph = NULL;
cleanup:
    tacit_topology_free(graph);
    free(next);
    free(sorted);
    return status;
}

/* ---- what can be said of a graph ---- */

size_t tacit_topology_pieces(const tacit_topology *graph) {
    uint32_t *stack = TACIT_NEW(uint32_t, graph->nodes);
    bool *seen = TACIT_NEW(bool, graph->nodes);
    size_t pieces = 0, height = 0;
    for (size_t first = 0; stack != NULL && seen != NULL && first < graph->nodes; first++) {
        if (seen[first]) continue;
        pieces++;
        seen[first] = true;
        stack[height++] = (uint32_t)first;
        while (height > 0) {
            uint32_t node = stack[--height];
            for (size_t e = graph->start[node]; e < graph->start[node + 1]; e++) {
                uint32_t other = graph->neighbour[e];
                if (seen[other]) continue;
                seen[other] = true;
                stack[height++] = other;
            }
        }
    }
    free(stack);
    free(seen);
    return pieces;
}

size_t tacit_topology_largest_degree(const tacit_topology *graph) {
    size_t most = 0;
    for (size_t i = 0; i < graph->nodes; i++) {
        size_t degree = graph->start[i + 1] - graph->start[i];
        if (degree > most) most = degree;
    }
    return most;
}

/* ---- a growing list of edges ---- */

typedef struct edge_list {
    tacit_edge *edges;
    size_t count, capacity;
} edge_list;

static tacit_status add_edge(edge_list *list, size_t from, size_t to, tacit_error *error) {
    if (list->count == MOST_EDGES)
        return tacit_fail(error, TACIT_LIMIT, "a graph has at most %d edges", MOST_EDGES);
    tacit_edge *grown = tacit_grow_by_one(list->edges, list->count, &list->capacity, 64, sizeof *grown);
    if (grown == NULL) return tacit_fail_memory(error);
    list->edges = grown;
    list->edges[list->count++] = (tacit_edge){ (uint32_t)from, (uint32_t)to };
    return TACIT_OK;
}

/* ---- families ---- */

static tacit_status ring(edge_list *list, size_t nodes, tacit_error *error) {
    for (size_t i = 0; nodes > 1 && i < nodes; i++) TACIT_TRY(add_edge(list, i, (i + 1) % nodes, error));
    return TACIT_OK;
}

static tacit_status grid(edge_list *list, size_t nodes, tacit_error *error) {
    size_t across = (size_t)ceil(sqrt((double)nodes));
    for (size_t i = 0; i < nodes; i++) {
        if ((i + 1) % across != 0 && i + 1 < nodes) TACIT_TRY(add_edge(list, i, i + 1, error));
        if (i + across < nodes) TACIT_TRY(add_edge(list, i, i + across, error));
    }
    return TACIT_OK;
}

/* Each pair by itself; ln(n)/n is where such graphs become connected, and twice that is safe. */
static tacit_status pairs(edge_list *list, size_t nodes, double chance, tacit_stream *stream,
                          tacit_error *error) {
    for (size_t i = 0; i < nodes; i++)
        for (size_t j = i + 1; j < nodes; j++)
            if (chance >= 1 || tacit_stream_unit(stream) < chance) TACIT_TRY(add_edge(list, i, j, error));
    return TACIT_OK;
}

/* A disc around a point holds pi r^2 n others; the graph becomes connected where that is ln(n) (Gupta and
 * Kumar 1999).
 */
static tacit_status geometric(edge_list *list, size_t nodes, double radius, tacit_stream *stream,
                              tacit_error *error) {
    double *point = TACIT_NEW(double, 2 * nodes);
    tacit_status status = TACIT_OK;
    if (point == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < 2 * nodes; i++) point[i] = tacit_stream_unit(stream);
    for (size_t i = 0; i < nodes; i++)
        for (size_t j = i + 1; j < nodes; j++) {
            double x = point[2 * i] - point[2 * j], y = point[2 * i + 1] - point[2 * j + 1];
            if (x * x + y * y <= radius * radius) TACIT_CHECK(add_edge(list, i, j, error));
        }
cleanup:
    free(point);
    return status;
}

static double default_probability(size_t nodes) {
    return nodes > 1 ? fmin(1, 2 * log((double)nodes) / (double)nodes + 0.1 / (double)nodes) : 1;
}

static double default_radius(size_t nodes) {
    return sqrt(2 * log((double)nodes + 1) / (M_PI * (double)nodes));
}

/* ---- files ---- */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* The next number of a line, or false; *at moves behind it. */
static bool next_node(const char **at, const char *end, size_t *out) {
    while (*at < end && (is_space(**at) || **at == ',')) (*at)++;
    const char *first = *at;
    size_t value = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; (*at)++)
        if (value <= MOST_NODES) value = 10 * value + (size_t)(**at - '0');
    *out = value;
    return *at > first && (*at == end || is_space(**at) || **at == ',' || **at == '#');
}

static bool is_blank(const char *at, const char *end) {
    while (at < end && is_space(*at)) at++;
    return at == end || *at == '#';
}

static tacit_status read_line(edge_list *list, size_t nodes, const char *at, const char *end,
                              const char *path, size_t line, tacit_error *error) {
    size_t pair[2];
    if (is_blank(at, end)) return TACIT_OK;
    for (int side = 0; side < 2; side++) {
        if (!next_node(&at, end, &pair[side]))
            return tacit_fail(error, TACIT_INPUT,
                              "%s:%zu: an edge is two numbers of nodes, such as '3 7'; # begins a comment",
                              path, line);
        if (pair[side] == 0 || pair[side] > nodes)
            return tacit_fail(error, TACIT_INPUT,
                              "%s:%zu: nodes are numbered from 1 to %zu, one a party, and this one is %zu",
                              path, line, nodes, pair[side]);
    }
    if (!is_blank(at, end))
        return tacit_fail(error, TACIT_INPUT, "%s:%zu: more than two nodes on one line", path, line);
    if (pair[0] == pair[1])
        return tacit_fail(error, TACIT_INPUT, "%s:%zu: node %zu is named as its own neighbour", path, line,
                          pair[0]);
    return add_edge(list, pair[0] - 1, pair[1] - 1, error);
}

static tacit_status parse_edges(edge_list *list, size_t nodes, const char *text, size_t length,
                                const char *name, tacit_error *error) {
    if (length == 0) return TACIT_OK; /* no text may be NULL */
    const char *at = text, *end = text + length;
    for (size_t line = 1; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL) stop = end;
        TACIT_TRY(read_line(list, nodes, at, stop, name, line, error));
        at = stop < end ? stop + 1 : end;
    }
    return TACIT_OK;
}

static tacit_status read_edges(edge_list *list, size_t nodes, const char *path, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_LIMITED(MOST_FILE_BYTES);
    tacit_status status = tacit_file_read(path, &text, error);
    if (status == TACIT_OK)
        status = parse_edges(list, nodes, (const char *)text.bytes, text.length, path, error);
    tacit_buffer_clear(&text);
    return status;
}

tacit_status tacit_topology_parse(tacit_topology **out, size_t nodes, const void *text, size_t length,
                                  const char *name, tacit_error *error) {
    edge_list list = { NULL, 0, 0 };
    tacit_status status = parse_edges(&list, nodes, text, length, name, error);
    if (status == TACIT_OK) status = tacit_topology_create(out, nodes, list.edges, list.count, error);
    free(list.edges);
    return status;
}

/* A list on one line becomes lines of a file. */
static tacit_status list_named(edge_list *list, size_t nodes, const char *text, tacit_error *error) {
    char *lines = tacit_copy_text(text);
    if (lines == NULL) return tacit_fail_memory(error);
    for (char *at = lines; *at != 0; at++) {
        if (*at == ',') *at = '\n';
        if (*at == '-') *at = ' ';
    }
    tacit_status status = parse_edges(list, nodes, lines, strlen(lines), "edges", error);
    free(lines);
    return status;
}

tacit_status tacit_topology_print(const tacit_topology *graph, tacit_buffer *out, tacit_error *error) {
    const char *comma = "";
    for (size_t i = 0; i < graph->nodes; i++)
        for (size_t slot = graph->start[i]; slot < graph->start[i + 1]; slot++) {
            if (graph->neighbour[slot] < i) continue;
            TACIT_TRY(tacit_buffer_print(out, error, "%s%zu-%lu", comma, i + 1,
                                         (unsigned long)graph->neighbour[slot] + 1));
            comma = ",";
        }
    return TACIT_OK;
}

/* ---- by name ---- */

static const struct {
    const char *name;
    tacit_topology_kind kind;
    bool takes_number;
} families[] = {
    { "ring", TACIT_TOPOLOGY_RING, false },         { "grid", TACIT_TOPOLOGY_GRID, false },
    { "complete", TACIT_TOPOLOGY_COMPLETE, false }, { "geometric", TACIT_TOPOLOGY_GEOMETRIC, true },
    { "random", TACIT_TOPOLOGY_RANDOM, true },      { "file", TACIT_TOPOLOGY_FILE, false },
    { "edges", TACIT_TOPOLOGY_EDGES, false },
};

tacit_status tacit_topology_plan_parse(tacit_topology_plan *out, const char *text, tacit_error *error) {
    const char *colon = strchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        if (strlen(families[f].name) != length || strncmp(families[f].name, text, length) != 0) continue;
        tacit_topology_plan plan = { .kind = families[f].kind };
        bool is_file = plan.kind == TACIT_TOPOLOGY_FILE || plan.kind == TACIT_TOPOLOGY_EDGES;
        if (is_file && colon != NULL && colon[1] != 0) plan.path = colon + 1;
        if (is_file != (plan.path != NULL) || (colon != NULL && !is_file && !families[f].takes_number)) break;
        double most = plan.kind == TACIT_TOPOLOGY_RANDOM ? 1 : 2;
        if (families[f].takes_number && colon != NULL &&
            (!tacit_text_to_number(colon + 1, strlen(colon + 1), &plan.parameter) ||
             !(plan.parameter > 0 && plan.parameter <= most)))
            return tacit_fail(error, TACIT_USAGE, "the number after %s: is above 0 and at most %g, not '%s'",
                              families[f].name, most, colon + 1);
        *out = plan;
        return TACIT_OK;
    }
    return tacit_fail(error, TACIT_USAGE, "a graph is one of %s, not '%s'", TACIT_TOPOLOGY_FORMS, text);
}

static tacit_status list_edges(edge_list *list, const tacit_topology_plan *plan, size_t nodes,
                               tacit_stream *stream, tacit_error *error) {
    switch (plan->kind) {
    case TACIT_TOPOLOGY_RING: return ring(list, nodes, error);
    case TACIT_TOPOLOGY_GRID: return grid(list, nodes, error);
    case TACIT_TOPOLOGY_GEOMETRIC:
        return geometric(list, nodes, plan->parameter > 0 ? plan->parameter : default_radius(nodes), stream,
                         error);
    case TACIT_TOPOLOGY_RANDOM:
        return pairs(list, nodes, plan->parameter > 0 ? plan->parameter : default_probability(nodes), stream,
                     error);
    case TACIT_TOPOLOGY_FILE: return read_edges(list, nodes, plan->path, error);
    case TACIT_TOPOLOGY_EDGES: return list_named(list, nodes, plan->path, error);
    case TACIT_TOPOLOGY_COMPLETE:
    default: return pairs(list, nodes, 1, stream, error);
    }
}

static tacit_status not_connected(const tacit_topology_plan *plan, size_t pieces, tacit_error *error) {
    if (plan->kind == TACIT_TOPOLOGY_FILE || plan->kind == TACIT_TOPOLOGY_EDGES)
        return tacit_fail(error, TACIT_USAGE,
                          "the graph of %s is not connected: it falls into %zu pieces that would never hear "
                          "of each other; add edges between them",
                          plan->path, pieces);
    return tacit_fail(
        error, TACIT_USAGE,
        "none of %d random graphs was connected, the last fell into %zu pieces: ask for a larger %s",
        MOST_DRAWS, pieces, plan->kind == TACIT_TOPOLOGY_GEOMETRIC ? "radius" : "chance");
}

tacit_status tacit_topology_make(tacit_topology **out, const tacit_topology_plan *plan, size_t nodes,
                                 tacit_stream *stream, tacit_error *error) {
    bool is_random = plan->kind == TACIT_TOPOLOGY_GEOMETRIC || plan->kind == TACIT_TOPOLOGY_RANDOM;
    if ((is_random || plan->kind == TACIT_TOPOLOGY_COMPLETE) && nodes > MOST_PAIRED)
        return tacit_fail(
            error, TACIT_LIMIT,
            "random and complete graphs have at most %d nodes, not %zu: take a ring, a grid or a file",
            MOST_PAIRED, nodes);
    size_t pieces = 0;
    for (int draw = 0; draw < (is_random ? MOST_DRAWS : 1); draw++) {
        edge_list list = { NULL, 0, 0 };
        tacit_topology *graph = NULL;
        tacit_status status = list_edges(&list, plan, nodes, stream, error);
        if (status == TACIT_OK) status = tacit_topology_create(&graph, nodes, list.edges, list.count, error);
        free(list.edges);
        TACIT_TRY(status);
        pieces = tacit_topology_pieces(graph);
        if (pieces == 1) {
            *out = graph;
            return TACIT_OK;
        }
        tacit_topology_free(graph);
        if (pieces == 0) return tacit_fail_memory(error);
    }
    return not_connected(plan, pieces, error);
}
