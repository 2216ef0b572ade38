/*
 * Who hears whom in one round of a method without a center, and with which weight. The weights of a round are
 * a symmetric, doubly stochastic matrix W: what a node says counts as much to its neighbour as the other way
 * round, and a node's own word takes the rest, so that mixing keeps the mean of all nodes.
 *
 * Graphs change: a link may be down in a round, and a node may leave and come back. A node that is away hears
 * nothing, says nothing and computes nothing; W has a 1 on its diagonal.
 */
#pragma once

#include "data/graph/topology.h"

/* The neighbours that node i hears are neighbour[start[i]] up to neighbour[start[i + 1]]. */
typedef struct tacit_mixing {
    size_t nodes;
    bool *present;
    size_t *start;
    uint32_t *neighbour;
    double *weight; /* of each neighbour's word */
    double *own;    /* of a node's own word: 1 - the sum of the others */
} tacit_mixing;

#define TACIT_MIXING_INIT                                                                                    \
    { 0, NULL, NULL, NULL, NULL, NULL }

/* Room for the rounds of a graph; nobody is present. */
tacit_status tacit_mixing_create(tacit_mixing *out, const tacit_topology *graph, tacit_error *error);
void tacit_mixing_clear(tacit_mixing *mixing);

/* What a round finds: who is there, and which links are up. */
typedef struct tacit_changes {
    double link_probability;  /* that a link is up in a round */
    double leave_probability; /* that a node that is there leaves in a round */
    size_t rounds_away;       /* after which it comes back, at least 1 */
    bool *present;            /* one a node */
    bool *is_up;              /* one an edge */
    uint64_t *back;           /* the round in which each node that left is back */
} tacit_changes;

/* All nodes present and all links up until the first round is drawn. TACIT_USAGE unless the chances are
 * chances. */
tacit_status tacit_changes_create(tacit_changes *out, const tacit_topology *graph, double link_probability,
                                  double leave_probability, size_t rounds_away, tacit_error *error);
void tacit_changes_clear(tacit_changes *changes);

/* Draw the next round; rounds are counted by the caller and rise. */
void tacit_changes_draw(tacit_changes *changes, const tacit_topology *graph, uint64_t round,
                        tacit_stream *stream);

/* Metropolis weights among those present over the links that are up (Xiao, Boyd and Kim 2007):
 * a_ij = 1/(1 + max(d_i, d_j)), d the degrees in this round. No knowledge beyond the neighbours' degrees is
 * needed. */
void tacit_mixing_metropolis(tacit_mixing *mixing, const tacit_topology *graph, const tacit_changes *changes);

/* Pairs that call each other, with weight 1/2 (Boyd et al. 2006): nodes wake in random order, and one that is
 * still free calls a free neighbour, any with the same chance; up to `most` pairs, 0: as many as come about.
 * Only those that have found somebody are present. `order` is room for one number a node. */
void tacit_mixing_pairs(tacit_mixing *mixing, const tacit_topology *graph, const tacit_changes *changes,
                        size_t most, size_t *order, tacit_stream *stream);

/* The smallest eigenvalue of W, and the largest in size except for the 1 of the mean: each round brings the
 * nodes nearer to each other by that factor. Takes (nodes)^3 operations; TACIT_LIMIT beyond
 * TACIT_MOST_SPECTRUM nodes. */
enum { TACIT_MOST_SPECTRUM = 2048 };
tacit_status tacit_mixing_spectrum(const tacit_mixing *mixing, double *least, double *second,
                                   tacit_error *error);
