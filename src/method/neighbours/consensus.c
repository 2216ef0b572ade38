/*
 * consensus: gradient descent without a center (Nedic and Ozdaglar 2009; Wang 2018, equation 2.2).
 *
 *   node i, round t:  w_i <- sum_j a_ij w_j - s_t grad f_i(w_i)
 *
 * a_ij are Metropolis weights over the links of the round. With a step that diminishes, s_t = s/(1 + s lambda
 * t/2), all nodes reach the minimiser of the mean of the f_i, slowly. With a fixed step they stop where
 * mixing and gradients balance: within a distance of the order of s/(1 - second eigenvalue of W) of it,
 * linearly (Yuan, Ling and Yin 2016).
 *
 * Privacy: none. What a node says is its weights in clear; differences of words tell gradients of its rows.
 * Entrusted to the neighbours, at an infinite price.
 */
#include <math.h>

#include "method/neighbours/neighbours.h"

static const tacit_neighbour_settings defaults = { TACIT_NEIGHBOUR_DEFAULTS };

static const tacit_parameter parameters[] = {
    TACIT_NEIGHBOUR_PARAMETERS,
    TACIT_CHOICE(
        tacit_neighbour_settings, schedule, "schedule", "diminishing|fixed",
        "steps that grow shorter and reach the optimum slowly, or a fixed one that stops near it soon"),
    TACIT_NEIGHBOUR_LOSS,
    TACIT_NEIGHBOUR_DELAY,
    TACIT_SETTINGS_END,
};

/* The party's half: equation 2.2. */
static tacit_status take_step(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                              tacit_error *error) {
    tacit_node node;
    TACIT_TRY(tacit_node_open(&node, party, question, 0, error));
    bool fixed = tacit_neighbour_settings_of(party->plan)->schedule == TACIT_STEPS_FIXED;
    double step = fixed ? node.step : tacit_node_diminished(&node, (double)(node.round - 1));
    tacit_status status = tacit_node_gradient(&node, node.weights, error);
    for (size_t j = 0; status == TACIT_OK && j < node.count; j++)
        node.weights[j] = node.mixed[j] - step * node.gradient[j];
    if (status == TACIT_OK) status = tacit_node_say(&node, reply, error);
    tacit_node_close(&node);
    return status;
}

static const tacit_handler_entry handlers[] = {
    { .question = "step", .answer = take_step, .to_neighbours = true }, TACIT_NEIGHBOUR_HANDLERS
};

const tacit_method tacit_method_consensus = {
    .name = "consensus",
    .title = "gradient descent among neighbours, no center, no privacy",
    .reference = "Nedic & Ozdaglar 2009; Wang 2018, (2.2)",
    .version = 1,
    .units = "record",
    .noise_free = true,
    .takes_numbers = true,
    TACIT_SETTINGS_OF(parameters, defaults),
    .leaves = "in every round the party's current weights, to its neighbours in the graph; its number of "
              "rows and, at the end, its weights in a sum, to the coordinator",
    .seen_by =
        "neighbours see the party's exact weights, round by round, and can work out gradients of its rows "
        "from their differences; the coordinator sees each party's number of rows, and of the weights at the "
        "end [sees=sum: only the sum][sees=each: each party's]; everybody sees the mean",
    .guarantee = "no differential privacy: what neighbours see is exact. Besides the neighbours, nobody sees "
                 "what a party sends them",
    .assumption = "neighbours keep what they see to themselves (entrusted); for convergence, the graph is "
                  "connected over time and rows lie in the unit ball",
    .theorem = "none on privacy. Convergence: doubly stochastic weights and convex f_i (Nedic and Ozdaglar "
               "2009); with a fixed step below (1 + least eigenvalue)/L to a neighbourhood of the optimum "
               "(Yuan, Ling and Yin 2016)",
    .claim = "none: the paper promises no privacy either",
    .caveats = "a fixed step stops at a distance that grows with the step and with how unlike the parties "
               "are; extra is exact",
    .check = tacit_neighbours_check,
    .price = tacit_nonprivate_price,
    .release_kind = tacit_neighbours_kind,
    .coordinate = TACIT_CENTER_HALF(tacit_neighbours_coordinate),
    .schedule = tacit_neighbours_schedule,
    .first_scheduled_round = TACIT_FIRST_SCHEDULED_ROUND,
    .scheduled_rounds = tacit_neighbours_rounds,
    .handlers = handlers,
};
