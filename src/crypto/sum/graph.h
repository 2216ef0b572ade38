/*
 * Who masks with whom. Up to TACIT_GRAPH_COMPLETE_MOST parties each masks with every other one (Bonawitz et
 * al. 2017). Beyond, each has `degree` neighbours (Bell et al. 2020), so that the cost of a sum grows as n
 * log n: the parties stand on a ring in a random order given by a public seed, and a party's neighbours are
 * the degree/2 on either side (a Harary graph on a random permutation).
 *
 * What the numbers of a shape are for; K = degree + 1 parties hold the shares of a party's secrets, its
 * neighbours and itself:
 *
 *  - No party's two secrets open. Whoever holds both the self-mask and the masking key of a party can read
 *    its vector. Each honest holder gives a share of one of the two, once; c colluding holders give both. So
 *    both open only if 2 threshold <= K + c, and the threshold is chosen above that for the most colluders
 *    that any neighbourhood holds.
 *  - The honest survivors hang together. A part of them without an unopened mask to the rest would be summed
 *    alone. If among any degree/2 places in a row there are more survivors than colluders, then an honest
 *    survivor stands within reach of the last one all around the ring. Each party checks this for the
 *    survivors that it is told of (`window_least`), so it does not rest on how the missing ones were chosen.
 *  - The sum opens although parties vanish: enough holders, and enough survivors in any row, are left.
 *
 * Colluders and missing parties are sets fixed before the seed, so that their number in a neighbourhood or in
 * a row of degree/2 places is hypergeometric. The union bound over all parties and rows is kept below
 * 2^-security_bits for the first two, 2^-failure_bits for the third; tails are computed numerically and
 * rounded up. In a complete graph nothing is left to chance.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { TACIT_GRAPH_SEED_BYTES = 32, TACIT_GRAPH_COMPLETE_MOST = 50, TACIT_GRAPH_PARTIES_MOST = 65535 };

typedef struct tacit_graph_assumption {
    uint32_t parties;
    double dropouts;  /* the largest fraction that vanishes, in [0, 1) */
    double colluders; /* the largest fraction that shares what it sees with the coordinator, in [0, 1) */
    uint32_t minimum; /* fewer survivors open nothing; 0: all but the dropouts */
    unsigned security_bits; /* 1 to 100 */
    unsigned failure_bits;  /* 1 to 100 */
    bool complete;          /* a complete graph whatever the number of parties */
} tacit_graph_assumption;

/* 10% of either, 2^-40 and 2^-30. */
tacit_graph_assumption tacit_graph_assumption_default(uint32_t parties);

typedef struct tacit_graph_shape {
    uint32_t parties;
    uint32_t degree;       /* parties - 1, or an even number */
    uint32_t threshold;    /* shares that open a secret; also the consents that a party wants to see */
    uint32_t window_least; /* survivors among any degree/2 places in a row; 0 in a complete graph */
    uint32_t minimum;      /* survivors in all */
} tacit_graph_shape;

/* The shape of the smallest degree that keeps the promises above. TACIT_USAGE when none does: too few parties
 * for this many colluders and dropouts. */
tacit_status tacit_graph_plan(tacit_graph_shape *out, const tacit_graph_assumption *assumption,
                              tacit_error *error);

/* log2 of P(X > x), rounded up, for the number X of marked ones among `drawn` of `total` of which `marked`
 * are marked; -INFINITY when it cannot happen. */
double tacit_graph_log2_tail(uint32_t total, uint32_t marked, uint32_t drawn, uint32_t x);

/* A shape with an order of the parties. May be read from several threads at once. */
typedef struct tacit_graph tacit_graph;

/* TACIT_USAGE when the shape does not hang together. */
tacit_status tacit_graph_create(tacit_graph **out, const tacit_graph_shape *shape,
                                const uint8_t seed[TACIT_GRAPH_SEED_BYTES], tacit_error *error);
tacit_graph *tacit_graph_free(tacit_graph *graph);

const tacit_graph_shape *tacit_graph_shape_of(const tacit_graph *graph);

/* Neighbours are numbered by slots 0 .. degree - 1; a party is in its own slot `degree`. */
uint32_t tacit_graph_neighbour(const tacit_graph *graph, uint32_t party, uint32_t slot);

/* The slot of `other` at `party`; false when they are not neighbours. */
bool tacit_graph_slot(const tacit_graph *graph, uint32_t party, uint32_t other, uint32_t *slot);

/* TACIT_REFUSED unless the survivors (bit i of byte i/8: party i) are as many as the minimum and, among any
 * degree/2 places in a row, as many as window_least. */
tacit_status tacit_graph_check_survivors(const tacit_graph *graph, const uint8_t *survivors,
                                         tacit_error *error);
