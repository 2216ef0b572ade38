#include "data/meetings.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

tacit_meetings *tacit_meetings_free(tacit_meetings *meetings) {
    if (meetings == NULL) return NULL;
    free(meetings->order);
    free(meetings->said);
    tacit_changes_clear(&meetings->changes);
    tacit_mixing_clear(&meetings->mixing);
    tacit_topology_free(meetings->graph);
    free(meetings);
    return NULL;
}

tacit_status tacit_meetings_create(tacit_meetings **out, const tacit_meetings_plan *plan,
                                   tacit_error *error) {
    tacit_stream stream = tacit_stream_from_seed(plan->draw);
    tacit_meetings *made = TACIT_NEW(tacit_meetings, 1);
    tacit_status status;
    if (made == NULL) return tacit_fail_memory(error);
    made->draw = plan->draw;
    made->rounds = plan->rounds;
    made->in_pairs = plan->in_pairs;
    made->most_pairs = plan->most_pairs;
    TACIT_CHECK(tacit_topology_make(&made->graph, &plan->graph, plan->nodes, &stream, error));
    TACIT_CHECK(tacit_mixing_create(&made->mixing, made->graph, error));
    TACIT_CHECK(tacit_changes_create(&made->changes, made->graph, plan->link_chance, plan->leave_chance,
                                     plan->rounds_away, error));
    made->order = TACIT_NEW(size_t, plan->nodes);
    made->said = TACIT_NEW(uint64_t, plan->nodes);
    if (made->order == NULL || made->said == NULL) TACIT_CHECK(tacit_fail_memory(error));
    tacit_mixing_metropolis(&made->mixing, made->graph, &made->changes);
    *out = made;
    made = NULL;
cleanup:
    tacit_meetings_free(made);
    return status;
}

static void leave_all(tacit_mixing *mixing) {
    memset(mixing->present, 0, mixing->nodes * sizeof *mixing->present);
    memset(mixing->start, 0, (mixing->nodes + 1) * sizeof *mixing->start);
}

void tacit_meetings_advance(tacit_meetings *meetings) {
    if (tacit_meetings_over(meetings)) return;
    for (size_t i = 0; i < meetings->graph->nodes; i++)
        if (meetings->mixing.present[i]) meetings->said[i] = meetings->round;
    meetings->round++;
    if (tacit_meetings_over(meetings)) {
        leave_all(&meetings->mixing);
        return;
    }
    tacit_stream seed = tacit_stream_from_seed(meetings->draw);
    tacit_stream stream = tacit_stream_fork(&seed, "links", meetings->round, 0);
    tacit_changes_draw(&meetings->changes, meetings->graph, meetings->round, &stream);
    if (meetings->in_pairs)
        tacit_mixing_pairs(&meetings->mixing, meetings->graph, &meetings->changes, meetings->most_pairs,
                           meetings->order, &stream);
    else
        tacit_mixing_metropolis(&meetings->mixing, meetings->graph, &meetings->changes);
}
