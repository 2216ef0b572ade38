#include "data/graph/round_schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

tacit_round_schedule *tacit_round_schedule_free(tacit_round_schedule *schedule) {
    if (schedule == NULL) return NULL;
    free(schedule->order);
    free(schedule->said);
    tacit_changes_clear(&schedule->changes);
    tacit_mixing_clear(&schedule->mixing);
    tacit_topology_free(schedule->graph);
    free(schedule);
    return NULL;
}

tacit_status tacit_round_schedule_create(tacit_round_schedule **out, const tacit_round_schedule_plan *plan,
                                         tacit_error *error) {
    tacit_stream stream = tacit_stream_from_seed(plan->draw);
    tacit_round_schedule *made = TACIT_NEW(tacit_round_schedule, 1);
    tacit_status status;
    if (made == NULL) return tacit_fail_memory(error);
    made->draw = plan->draw;
    made->rounds = plan->rounds;
    made->in_pairs = plan->in_pairs;
    made->most_pairs = plan->most_pairs;
    TACIT_CHECK(tacit_topology_make(&made->graph, &plan->graph, plan->nodes, &stream, error));
    TACIT_CHECK(tacit_mixing_create(&made->mixing, made->graph, error));
    TACIT_CHECK(tacit_changes_create(&made->changes, made->graph, plan->link_probability,
                                     plan->leave_probability, plan->rounds_away, error));
    made->order = TACIT_NEW(size_t, plan->nodes);
    made->said = TACIT_NEW(uint64_t, plan->nodes);
    if (made->order == NULL || made->said == NULL) TACIT_CHECK(tacit_fail_memory(error));
    tacit_mixing_metropolis(&made->mixing, made->graph, &made->changes);
    *out = made;
    made = NULL;
cleanup:
    tacit_round_schedule_free(made);
    return status;
}

static void leave_all(tacit_mixing *mixing) {
    memset(mixing->present, 0, mixing->nodes * sizeof *mixing->present);
    memset(mixing->start, 0, (mixing->nodes + 1) * sizeof *mixing->start);
}

void tacit_round_schedule_advance(tacit_round_schedule *schedule) {
    if (tacit_round_schedule_over(schedule)) return;
    for (size_t i = 0; i < schedule->graph->nodes; i++)
        if (schedule->mixing.present[i]) schedule->said[i] = schedule->round;
    schedule->round++;
    if (tacit_round_schedule_over(schedule)) {
        leave_all(&schedule->mixing);
        return;
    }
    tacit_stream seed = tacit_stream_from_seed(schedule->draw);
    tacit_stream stream = tacit_stream_fork(&seed, "links", schedule->round, 0);
    tacit_changes_draw(&schedule->changes, schedule->graph, schedule->round, &stream);
    if (schedule->in_pairs)
        tacit_mixing_pairs(&schedule->mixing, schedule->graph, &schedule->changes, schedule->most_pairs,
                           schedule->order, &stream);
    else
        tacit_mixing_metropolis(&schedule->mixing, schedule->graph, &schedule->changes);
}
