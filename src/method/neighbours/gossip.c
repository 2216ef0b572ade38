/*
 * gossip: neighbours meet in random pairs (Boyd et al. 2006; with gradients, Ram, Nedic and Veeravalli 2009).
 *
 *   nodes i and j meet:  v = (w_i + w_j)/2;  w_i <- v - s(G_i) grad f_i(v),  w_j <- v - s(G_j) grad f_j(v)
 *
 * G_i counts the meetings that node i has had. A node with many neighbours meets often; steps that diminish
 * with its own count, s(G) = s/(1 + s lambda G/2), keep it from pulling the others towards its own rows. In a
 * round as many pairs meet as find each other (pairs=0), or one (pairs=1, as printed).
 *
 * Privacy: none, as in consensus.c; a word goes to one neighbour at a time.
 */
#include <math.h>

#include "method/neighbours/neighbours.h"

static const tacit_neighbour_settings defaults = { TACIT_NEIGHBOUR_DEFAULTS, .in_pairs = true };

static const tacit_parameter parameters[] = {
    TACIT_NEIGHBOUR_PARAMETERS,
    TACIT_CHOICE(
        tacit_neighbour_settings, schedule, "schedule", "diminishing|fixed",
        "steps that grow shorter with a party's own meetings, or a fixed one that stops near the optimum"),
    TACIT_OPEN_COUNT(tacit_neighbour_settings, pairs, "pairs", 1e6, "the most pairs that meet in a round",
                     "as many as find each other"),
    TACIT_NEIGHBOUR_LOSS,
    TACIT_NEIGHBOUR_DELAY,
    TACIT_SETTINGS_END,
};

/* The party's half: it keeps its weights and the number of its meetings. */
static tacit_status meet(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                         tacit_error *error) {
    tacit_node node;
    TACIT_TRY(tacit_node_open(&node, party, question, 1, error));
    double *meetings = node.kept;
    bool fixed = tacit_neighbour_settings_of(party->plan)->schedule == TACIT_STEPS_FIXED;
    double step = fixed ? node.step : tacit_node_diminished(&node, *meetings);
    tacit_status status = tacit_node_gradient(&node, node.mixed, error);
    for (size_t j = 0; status == TACIT_OK && j < node.count; j++)
        node.weights[j] = node.mixed[j] - step * node.gradient[j];
    if (status == TACIT_OK) status = tacit_node_say(&node, reply, error);
    *meetings += 1;
    tacit_node_close(&node);
    return status;
}

static const tacit_handler_entry handlers[] = { { .question = "step", .answer = meet, .to_neighbours = true },
                                                TACIT_NEIGHBOUR_HANDLERS };

const tacit_method tacit_method_gossip = {
    .name = "gossip",
    .title = "gradient descent in random pairs of neighbours, no center, no privacy",
    .reference = "Boyd et al. 2006; Ram, Nedic & Veeravalli 2009; Wang 2018, 2.1.1",
    .version = 1,
    .units = "record",
    .noise_free = true,
    .takes_numbers = true,
    TACIT_SETTINGS_OF(parameters, defaults),
    .leaves = "whenever the party meets a neighbour, its current weights; its number of rows and, at the "
              "end, its weights in a sum, to the coordinator",
    .seen_by =
        "each neighbour that the party meets sees its exact weights, and can work out gradients of its rows "
        "from several meetings; the coordinator sees each party's number of rows, and of the weights at the "
        "end [sees=sum: only the sum][sees=each: each party's]; everybody sees the mean",
    .guarantee = "no differential privacy: what neighbours see is exact. Besides the neighbours, nobody sees "
                 "what a party sends them",
    .assumption = "neighbours keep what they see to themselves (entrusted); for convergence, the graph is "
                  "connected over time and rows lie in the unit ball",
    .theorem = "none on privacy. Convergence: every node reaches the optimum almost surely with steps of one "
               "over its own meetings (Ram, Nedic and Veeravalli 2009)",
    .claim = "none: the papers promise no privacy either",
    .caveats =
        "slow: one neighbour a round; with a fixed step, parties that meet often count more than others",
    .check = tacit_neighbours_check,
    .price = tacit_nonprivate_price,
    .release_kind = tacit_neighbours_kind,
    .coordinate = TACIT_CENTER_HALF(tacit_neighbours_coordinate),
    .schedule = tacit_neighbours_schedule,
    .first_scheduled_round = TACIT_FIRST_SCHEDULED_ROUND,
    .scheduled_rounds = tacit_neighbours_rounds,
    .handlers = handlers,
};
