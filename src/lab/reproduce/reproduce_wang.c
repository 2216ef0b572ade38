/* Wang 2018, section 2.1.1: gradient methods without a center, on the simulated data of section 5.4.1. The
 * thesis surveys them and prints no figure; what it says of each is what is to be seen. */
#include <math.h>

#include "data/generate.h"
#include "lab/reproduce/reproduce.h"

enum { DIMENSION = 10, ROWS_EACH = 20, PARTIES = 100, TEST_ROWS = 500 };
#define LAMBDA 0.05
#define ROUNDS "2000"

static tacit_status generate(tacit_material *out, const tacit_reading_context *context, tacit_error *error) {
    tacit_stream stream = context->stream;
    return tacit_generate_logistic(&out->train, (size_t)PARTIES * ROWS_EACH + TEST_ROWS, DIMENSION, NULL,
                                   &stream, error);
}

static const tacit_variant curves[] = {
    { .method = "consensus",
      .label = "consensus, fixed step",
      .settings = { { "rounds", ROUNDS }, { "schedule", "fixed" } },
      .lambda = LAMBDA },
    { .method = "consensus",
      .label = "consensus, diminishing",
      .settings = { { "rounds", ROUNDS } },
      .lambda = LAMBDA },
    { .method = "gossip", .settings = { { "rounds", ROUNDS } }, .lambda = LAMBDA },
    { .method = "extra", .settings = { { "rounds", ROUNDS } }, .lambda = LAMBDA },
    { .method = "extra",
      .label = "extra, parties leave",
      .settings = { { "rounds", ROUNDS }, { "links", "0.8" }, { "leave", "0.01" } },
      .lambda = LAMBDA },
    { .method = "consensus",
      .label = "consensus, asynchronous",
      .settings = { { "rounds", ROUNDS }, { "delay", "2" } },
      .lambda = LAMBDA },
    { .method = "extra",
      .label = "extra, asynchronous",
      .settings = { { "rounds", ROUNDS }, { "delay", "2" } },
      .lambda = LAMBDA },
    { .method = NULL },
};
static const tacit_setup setups[] = { { "100 nodes", NULL, PARTIES, "even" } };
static const double epsilons[] = { INFINITY };

#define DISTANCE(text, curve_a, number_a, curve_b, number_b)                                                 \
    {                                                                                                        \
        .says = text, .above = { curve_a, 0, NULL, number_a }, .below = { curve_b, 0, NULL, number_b }       \
    }
static const tacit_claim claims[] = {
    DISTANCE("a constant step converges to a neighbourhood only: it stays 1e-3 away", "consensus, fixed step",
             0, NULL, 1e-3),
    DISTANCE("diminishing steps come nearer than a constant one", "consensus, fixed step", 0,
             "consensus, diminishing", 0),
    DISTANCE("EXTRA converges to the exact solution with a fixed step (1e-10)", NULL, 1e-10, "extra", 0),
    DISTANCE("so it does while participants leave and return (1e-10)", NULL, 1e-10, "extra, parties leave",
             0),
    { .says = "ours: so it does with asynchronous updates, by gradients up to two steps old (1e-10)",
      .above = { NULL, 0, NULL, 1e-10 },
      .below = { "extra, asynchronous", 0, NULL, 0 },
      .ours = true },
};

const tacit_experiment tacit_experiment_wang_consensus = {
    .id = "wang-consensus",
    .paper = "Wang 2018",
    .figure = "section 2.1.1",
    .title = "No center: consensus, gossip and EXTRA among 100 neighbours",
    .differs =
        "The thesis surveys these methods and prints no figure. Ours: the simulated rows of its "
        "section 5.4.1 in 10 dimensions, 20 a party; a random geometric graph of 100 nodes with "
        "Metropolis weights, the same for all curves; steps from public constants "
        "(docs/methods/extra.md). Where parties leave, 80 % of the links are up in a round, and a "
        "party leaves with a chance of 1 % and is back after 10 rounds. Asynchronous: a party moves by "
        "a gradient that is 0 to 2 of its own steps old, by chance.",
    .says = "With diminishing steps gradient methods converge; with a constant step they converge to a "
            "neighbourhood of the optimum. EXTRA converges to the exact solution with a fixed step, linearly "
            "for strongly convex objectives. A participant that is off the network has no neighbours for the "
            "time, and the methods still apply.",
    .source = "generated here from the seed",
    .curves = curves,
    .setups = setups,
    .setup_count = 1,
    .epsilons = epsilons,
    .epsilon_count = 1,
    .rows_each = ROWS_EACH,
    .held_out_rows = TEST_ROWS,
    .is_in_ball = true,
    .is_generated = true,
    .by_round = true,
    .quick = { 1, 1, 0 },
    .full = { 1, 1, 0 },
    .claims = claims,
    .claim_count = sizeof claims / sizeof *claims,
    .read = generate,
};
