/*
 * Methods without a center, round by round, as nobody inside can see them: how far the nodes are from each
 * other and from what pooling all rows would give. For simulations, where the optimum is known.
 */
#pragma once

#include "base/buffer.h"
#include "data/split.h"
#include "session/local/local.h"

typedef struct tacit_trace_point {
    const char *curve;   /* the method, or the label of its variant */
    uint64_t round;      /* 0: before the first */
    double disagreement; /* max_i |w_i - mean| over the nodes, also those that are away */
    double distance;     /* |mean - w*|, w* the pooled optimum of the rows in use in this round */
    double gap;          /* F(mean) - F(w*), F the pooled objective; 0 where rounding hides it */
} tacit_trace_point;

typedef struct tacit_trace {
    tacit_trace_point *points;
    size_t count, capacity;
} tacit_trace;

#define TACIT_TRACE_INIT                                                                                     \
    { NULL, 0, 0 }

void tacit_trace_clear(tacit_trace *trace);

/* Append it as CSV: curve,round,disagreement,distance,gap. */
tacit_status tacit_trace_csv(const tacit_trace *trace, tacit_buffer *out, tacit_error *error);

/* From which round on every node stays within `reach` of the optimum, by the triangle's inequality: distance
 * and disagreement together. `end` is the last point of a curve, in its trace; a round after it means
 * never. */
uint64_t tacit_trace_reached(const tacit_trace_point *end, double reach);

/* Whether a method has rounds between neighbours. */
bool tacit_trace_applies(const tacit_method *method);

/* Watches one run: give its watch to the session. Everything is borrowed until it is freed. */
typedef struct tacit_tracer tacit_tracer;
tacit_status tacit_tracer_create(tacit_tracer **out, tacit_trace *trace, const tacit_local *local,
                                 const tacit_plan *plan, const tacit_dataset *dataset,
                                 const tacit_split *split, tacit_pool *pool, tacit_error *error);
tacit_tracer *tacit_tracer_free(tacit_tracer *tracer);
const tacit_round_watch *tacit_tracer_watch(const tacit_tracer *tracer);
