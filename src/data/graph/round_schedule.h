/*
 * Who meets whom in the rounds of a run without a center: the graph, which links are up, who is there, which
 * pairs find each other. All of it follows from public numbers, so that whoever knows them, coordinator or
 * party, finds the same rounds and need not be told.
 *
 * In round 0 everybody is there and says its first word. In a later round those present hear each other's
 * last words, with the weights of the mixing, and say their next ones.
 */
#pragma once

#include "data/graph/mixing.h"

typedef struct tacit_round_schedule_plan {
    tacit_topology_plan graph;
    size_t nodes;
    uint64_t draw;            /* the seed of all chance in it */
    uint64_t rounds;          /* after round 0 */
    double link_probability;  /* as in tacit_changes */
    double leave_probability; /* */
    size_t rounds_away;       /* */
    bool in_pairs;            /* else everybody present hears all neighbours */
    size_t most_pairs;        /* 0: as many as come about */
} tacit_round_schedule_plan;

typedef struct tacit_round_schedule {
    tacit_topology *graph;
    tacit_mixing mixing; /* of this round; nobody is present once all rounds are over */
    uint64_t round, rounds;
    uint64_t *said; /* the round of each node's last word before this one */
    tacit_changes changes;
    uint64_t draw;
    bool in_pairs;
    size_t most_pairs;
    size_t *order;
} tacit_round_schedule;

/* At round 0. TACIT_USAGE or TACIT_INPUT for a graph that cannot be made. */
tacit_status tacit_round_schedule_create(tacit_round_schedule **out, const tacit_round_schedule_plan *plan,
                                         tacit_error *error);
tacit_round_schedule *tacit_round_schedule_free(tacit_round_schedule *schedule);

/* On to the next round. */
void tacit_round_schedule_advance(tacit_round_schedule *schedule);

static inline bool tacit_round_schedule_over(const tacit_round_schedule *schedule) {
    return schedule->round > schedule->rounds;
}
