/*
 * Who is whose neighbour: undirected graphs without loops, for methods without a center. The families of the
 * literature, drawn from a stream where there is chance in them, or the edges of a file.
 */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"
#include "rand/stream.h"

/* The neighbours of node i are neighbour[start[i]] up to neighbour[start[i + 1]], ascending; edge[] names the
 * edge that leads there, the same from both ends. */
typedef struct tacit_topology {
    size_t nodes, edges;
    size_t *start; /* nodes + 1 offsets */
    uint32_t *neighbour;
    uint32_t *edge;
} tacit_topology;

tacit_topology *tacit_topology_free(tacit_topology *graph);

/* Two nodes each, from 0; an edge named twice, in either direction, counts once. TACIT_INPUT for a loop or a
 * node that does not exist. */
typedef struct tacit_edge {
    uint32_t from, to;
} tacit_edge;
tacit_status tacit_topology_create(tacit_topology **out, size_t nodes, const tacit_edge *edges, size_t count,
                                   tacit_error *error);

typedef enum tacit_topology_kind {
    TACIT_TOPOLOGY_RING,
    TACIT_TOPOLOGY_GRID,      /* as square as it goes; the last row may be shorter */
    TACIT_TOPOLOGY_COMPLETE,  /* everybody with everybody */
    TACIT_TOPOLOGY_GEOMETRIC, /* uniform points of the unit square, neighbours within a radius */
    TACIT_TOPOLOGY_RANDOM,    /* each edge by itself with a given chance (Erdos and Renyi) */
    TACIT_TOPOLOGY_FILE,      /* lines of two nodes, numbered from 1; # begins a comment */
    TACIT_TOPOLOGY_EDGES,     /* the same on one line, e.g. 1-2,2-3: for a definition that may name no file */
} tacit_topology_kind;

typedef struct tacit_topology_plan {
    tacit_topology_kind kind;
    double parameter; /* radius or chance; 0: one at which almost every draw is connected */
    const char *path; /* or the edges themselves; borrowed from the text that was read */
} tacit_topology_plan;

#define TACIT_TOPOLOGY_FORMS                                                                                 \
    "ring, grid, complete, geometric[:RADIUS], random[:CHANCE], file:PATH or edges:1-2,2-3"

/* Read a text of one of TACIT_TOPOLOGY_FORMS. TACIT_USAGE says what is wrong; no file is opened. */
tacit_status tacit_topology_plan_parse(tacit_topology_plan *out, const char *text, tacit_error *error);

/* Make a connected graph. A random one is drawn again while it is not, up to a hundred times; then, and for a
 * file's graph, TACIT_USAGE says in how many pieces it falls and what to do. A mistake in a file is
 * TACIT_INPUT with its line.
 */
tacit_status tacit_topology_make(tacit_topology **out, const tacit_topology_plan *plan, size_t nodes,
                                 tacit_stream *stream, tacit_error *error);

/* The edges of a file's text, connected or not; `name` stands for the file in errors. */
tacit_status tacit_topology_parse(tacit_topology **out, size_t nodes, const void *text, size_t length,
                                  const char *name, tacit_error *error);

/* Append the edges as edges: takes them, "1-2,2-3". */
tacit_status tacit_topology_print(const tacit_topology *graph, tacit_buffer *out, tacit_error *error);

/* How many pieces it falls into: 1 when it is connected. 0: out of memory. */
size_t tacit_topology_pieces(const tacit_topology *graph);

size_t tacit_topology_largest_degree(const tacit_topology *graph);
