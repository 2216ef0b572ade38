/*
 * extra: exact gradient descent without a center, with a fixed step (Shi, Ling, Wu and Yin 2015; Wang 2018,
 * 2.1.1).
 *
 *   node i, round t:  m_i = sum_j a_ij w_j
 *                     w_i <- m_i - s grad f_i(w_i) - p_i
 *                     p_i <- p_i + (w_i - m_i)/2,  with the w_i that was mixed;  p_i = 0 at first
 *
 * This is their method as a sum of all earlier corrections, with W~ = (I + W)/2: subtracting one round from
 * the next gives their recursion w'' = (I + W) w' - W~ w - s (grad f(w') - grad f(w)). Here p_i is kept
 * instead of the gradient of the round before, and the difference matters when graphs change. In any graph
 * the p_i add up to 0, because W is doubly stochastic, and at the optimum p_i = -s grad f_i stands still
 * whatever W is: links may fail, and a node that is away is represented by its p_i, its last gradient, until
 * it is back. Objectives may drift, because p_i follows them.
 *
 * Convergence in a graph that stands still: to the minimiser of the mean of the f_i for a step below
 * 2 lambda_min(W~)/L = (1 + lambda_min(W))/L, linear where that is strongly convex and the step short enough
 * (their bound for it is mu/L of this one; tests find the rate without). For changing graphs there is no such
 * theorem; tests show it.
 *
 * Privacy: none, as in consensus.c.
 */
#include "method/neighbours/neighbours.h"

static const tacit_neighbour_settings defaults = { TACIT_NEIGHBOUR_DEFAULTS };

static const tacit_parameter parameters[] = {
    TACIT_NEIGHBOUR_PARAMETERS,
    TACIT_NEIGHBOUR_LOSS,
    TACIT_NEIGHBOUR_DELAY,
    TACIT_SETTINGS_END,
};

/* The party's half: it keeps w_i and p_i. */
static tacit_status take_step(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                              tacit_error *error) {
    tacit_node node;
    const tacit_plan *plan = party->plan;
    size_t weights = tacit_family_scores(tacit_neighbours_family(plan), plan->classes) * plan->features;
    TACIT_TRY(tacit_node_open(&node, party, question, weights, error));
    double *correction = node.kept;
    tacit_status status = tacit_node_gradient(&node, node.weights, error);
    for (size_t j = 0; status == TACIT_OK && j < node.count; j++) {
        double mixed = node.mixed[j], before = node.weights[j];
        node.weights[j] = mixed - node.step * node.gradient[j] - correction[j];
        correction[j] += (before - mixed) / 2;
    }
    if (status == TACIT_OK) status = tacit_node_say(&node, reply, error);
    tacit_node_close(&node);
    return status;
}

static const tacit_handler_entry handlers[] = {
    { .question = "step", .answer = take_step, .to_neighbours = true }, TACIT_NEIGHBOUR_HANDLERS
};

const tacit_method tacit_method_extra = {
    .name = "extra",
    .title = "exact gradient descent among neighbours, no center, no privacy",
    .reference = "Shi et al. 2015; Wang 2018, 2.1.1",
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
                  "connected and rows lie in the unit ball",
    .theorem = "none on privacy. Convergence: linear to the exact optimum with a fixed step below (1 + least "
               "eigenvalue)/L (Shi et al. 2015)",
    .claim = "none: the paper promises no privacy either",
    .caveats = "the theorem is for a graph that stands still; links that fail and parties that leave want a "
               "shorter step, which step=auto takes",
    .check = tacit_neighbours_check,
    .price = tacit_nonprivate_price,
    .release_kind = tacit_neighbours_kind,
    .coordinate = TACIT_CENTER_HALF(tacit_neighbours_coordinate),
    .schedule = tacit_neighbours_schedule,
    .first_scheduled_round = TACIT_FIRST_SCHEDULED_ROUND,
    .scheduled_rounds = tacit_neighbours_rounds,
    .handlers = handlers,
};
