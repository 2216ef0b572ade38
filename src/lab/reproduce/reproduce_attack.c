/* Rajkumar and Agarwal 2012, sections 3.2 and 3.3: how often the attacks of lab/audit/attack.h err, beside
 * what the paper's claim and the ledger's charge leave to any attacker. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/generate.h"
#include "lab/audit/attack.h"
#include "lab/reproduce/reproduce.h"

enum { DIMENSION = TACIT_ATTACK_DIMENSION, ROWS = 101, TEST_ROWS = 1 };

#define LAMBDA 0.01
#define DELTA 1e-5
#define CLAIMED "least by the claim"
#define CHARGED "least by psgd's charge"

static const tacit_variant curves[] = {
    { .method = "psgd",
      .label = "fresh noise (3.2)",
      .settings = { { "noise", "fresh" } },
      .delta = DELTA,
      .lambda = LAMBDA },
    { .method = "psgd",
      .label = "fixed noise (3.3)",
      .settings = { { "noise", "fixed" } },
      .delta = DELTA,
      .lambda = LAMBDA },
    { .method = "psgd", .label = "both (psgd)", .delta = DELTA, .lambda = LAMBDA },
    { .method = "dpgd",
      .label = "dpgd",
      .settings = { { "noise", "party" } },
      .delta = DELTA,
      .lambda = LAMBDA },
    { .method = "psgd", .label = CLAIMED, .delta = DELTA, .lambda = LAMBDA },
    { .method = "psgd", .label = CHARGED, .delta = DELTA, .lambda = LAMBDA },
    { .method = NULL },
};

static const tacit_setup setups[] = {
    { "answers seen", "T = 1", 2, "even" },    { "answers seen", "T = 2", 2, "even" },
    { "answers seen", "T = 10", 2, "even" },   { "answers seen", "T = 100", 2, "even" },
    { "answers seen", "T = 1000", 2, "even" },
};
static const double epsilons[] = { 1 };

static tacit_status plan_for(tacit_plan *out, const tacit_variant *curve, tacit_error *error) {
    *out = (tacit_plan){ .method = tacit_method_find(curve->method),
                         .study = "attack",
                         .epsilon = epsilons[0],
                         .delta = curve->delta,
                         .lambda = curve->lambda };
    for (size_t i = 0; i < TACIT_VARIANT_SETTINGS && curve->settings[i].name != NULL; i++)
        TACIT_TRY(tacit_plan_set(out, curve->settings[i].name, curve->settings[i].value, error));
    return TACIT_OK;
}

/* How often the guess is right, a coin having chosen the world. The bars of the figure are to show how sure
 * that is, so all games of one draw of the rows count as one trial. */
static tacit_status play(tacit_attack *attack, const tacit_simulation *simulation, uint64_t curve,
                         tacit_run *out, tacit_error *error) {
    tacit_stream root = tacit_stream_from_seed(simulation->seed);
    size_t right = 0;
    for (size_t trial = 0; trial < simulation->trials; trial++) {
        tacit_stream seed = tacit_stream_fork(&root, "attack", curve, trial);
        tacit_stream coin = tacit_stream_fork(&seed, "coin", 0, 0);
        int world = (int)tacit_stream_below(&coin, 2);
        double seen[DIMENSION];
        if (tacit_progress_cancelled(simulation->progress))
            return tacit_fail(error, TACIT_CANCELLED, "interrupted");
        tacit_progress_report(simulation->progress, out->label, trial, simulation->trials);
        TACIT_TRY(tacit_attack_look(attack, world, &seed, seen, error));
        right += tacit_attack_guess(attack, seen) == world;
    }
    out->accuracy.mean = (double)right / (double)simulation->trials;
    return TACIT_OK;
}

/* What no attacker can beat, by what is claimed of psgd or charged for it. */
static tacit_status bound(const tacit_plan *plan, bool claimed, tacit_run *out, tacit_error *error) {
    tacit_prices prices = { .event = { .count = 0 } };
    TACIT_TRY(tacit_plan_price(plan, &prices, error));
    tacit_price price = claimed ? prices.claimed : prices.charged;
    out->accuracy.mean = 1 - (1 - price.delta) / (1 + exp(price.epsilon));
    return TACIT_OK;
}

static tacit_status attack_all(const tacit_simulation *simulation, const tacit_setup *setup, tacit_run *runs,
                               tacit_error *error) {
    tacit_attack *attack = NULL;
    size_t rounds = (size_t)strtoull(strrchr(setup->name, ' '), NULL, 10);
    tacit_status status;
    TACIT_CHECK(tacit_attack_create(&attack, simulation->dataset, simulation->split, error));
    for (size_t c = 0; curves[c].method != NULL; c++) {
        const char *label = curves[c].label;
        tacit_plan plan;
        runs[c] = (tacit_run){ .label = label, .lambda = LAMBDA, .trials = 1 };
        TACIT_CHECK(plan_for(&plan, &curves[c], error));
        TACIT_CHECK(tacit_attack_aim(attack, &plan, rounds, error));
        if (strcmp(label, CLAIMED) == 0 || strcmp(label, CHARGED) == 0)
            TACIT_CHECK(bound(tacit_attack_plan(attack), strcmp(label, CLAIMED) == 0, &runs[c], error));
        else
            TACIT_CHECK(play(attack, simulation, c, &runs[c], error));
    }
cleanup:
    tacit_attack_free(attack);
    return status;
}

static tacit_status generate(tacit_material *out, const tacit_reading_context *context, tacit_error *error) {
    tacit_stream stream = context->stream;
    return tacit_generate_ball(&out->train, ROWS, DIMENSION, NULL, &stream, error);
}

static const tacit_claim claims[] = {
    { .says = "with noise drawn in each round only the attacker comes to know the row (T = 1000)",
      .above = { NULL, 0, NULL, 0.1 },
      .below = { "fresh noise (3.2)", 0, "T = 1000", 0 } },
    { .says = "with noise drawn once only the attacker comes to know the row (T = 2)",
      .above = { NULL, 0, NULL, 0.1 },
      .below = { "fixed noise (3.3)", 0, "T = 2", 0 } },
    { .says = "with both the attacker errs at least as often as (epsilon, delta) leaves it, for any T",
      .above = { "both (psgd)", 0, NULL, 0.02 },
      .below = { CLAIMED, 0, NULL, 0 },
      .why = "what is drawn once cancels in differences of answers, and what is drawn again averages out: "
             "the two attacks together refute the claim" },
    { .says = "what the ledger charges for psgd is never beaten",
      .above = { "both (psgd)", 0, NULL, 0.02 },
      .below = { CHARGED, 0, NULL, 0 } },
};

const tacit_experiment tacit_experiment_rajkumar_attack = {
    .id = "rajkumar-attack",
    .paper = "Rajkumar and Agarwal 2012",
    .figure = "sections 3.2 and 3.3",
    .title = "How often somebody who sees T answers errs about one row, of two that it may be",
    .differs = "The paper describes the two attacks in words. Ours asks two parties of 50 rows at chosen "
               "weights, as a coordinator can; epsilon is 1 and delta 1e-5. The bounds are what (epsilon, "
               "delta)-privacy leaves to any attacker: (1 - delta)/(1 + e^epsilon).",
    .says = "With noise drawn in each round only, the third party can converge to the true minimiser; with "
            "noise drawn once only, it cancels in the difference of two answers. With both, the paper claims "
            "(epsilon, delta) for any number of rounds. The same two attacks together refute that: what is "
            "drawn once cancels, and what is drawn again averages out.",
    .source = "generated here from the seed",
    .measures = "error of the attacker",
    .by_setup = true,
    .shows_errors = true,
    .is_in_ball = true,
    .is_generated = true,
    .curves = curves,
    .setups = setups,
    .setup_count = sizeof setups / sizeof *setups,
    .epsilons = epsilons,
    .epsilon_count = 1,
    .held_out_rows = TEST_ROWS,
    .quick = { 5, 50, 0 },
    .full = { 10, 500, 0 },
    .claims = claims,
    .claim_count = sizeof claims / sizeof *claims,
    .read = generate,
    .run = attack_all,
};
