/*
 * Rajkumar and Agarwal 2012, sections 3.2 and 3.3: what somebody learns who sees the answers of many rounds.
 *
 * The game is that of differential privacy. All rows are known but one, which is one of two: (s, c) or (s, -c), of the class
 * that the weights asked about take for wrong, so that its gradient is almost (s, c) or (s, -c). A coin decides which. The
 * attacker puts T questions to the parties, who answer by the very code of a study, and says which row it was: he is wrong half
 * of the time when he knows nothing.
 *
 *   averaging (3.2):   T answers at one w; noise drawn anew in each averages out.
 *   differences (3.3): answers at w and -w by turns; noise drawn once cancels in their difference, what is drawn anew averages out.
 *
 * Both reduce the answers to one vector and take the nearer of the two that the rows would give without noise. If all T
 * answers together are (epsilon, delta)-private, no attacker is wrong less often than (1 - delta)/(1 + e^epsilon).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/generate.h"
#include "lab/replay.h"
#include "lab/reproduce.h"
#include "method/gradient.h"

enum { DIMENSION = 2, ROWS = 101, TEST_ROWS = 1 };

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

/* ---- the two worlds ---- */

typedef struct game {
    tacit_dataset *data[2];
    tacit_local *local[2];
    tacit_plan plan;
    tacit_sum_spec spec;
    double rows;
    bool by_differences;
    double expected[2][DIMENSION]; /* what the attacker looks at, without noise */
} game;

/* Confidently wrong at w = (FAR, 0), confidently right at -w. */
static const double SINE = 0.2, FAR = 100;

static tacit_status make_worlds(game *self, const tacit_simulation *simulation, tacit_error *error) {
    size_t target = simulation->split->index[0];
    for (int world = 0; world < 2; world++) {
        TACIT_TRY(tacit_pair_copy(&self->data[world], simulation->dataset, error));
        double cosine = sqrt(1 - SINE * SINE) * (1 - 1e-12);
        self->data[world]->dense.values[target * DIMENSION] = SINE;
        self->data[world]->dense.values[target * DIMENSION + 1] = world == 0 ? cosine : -cosine;
        self->data[world]->label[target] = 0;
        TACIT_TRY(tacit_local_create(&self->local[world], self->data[world], simulation->split, NULL, error));
    }
    return TACIT_OK;
}

static void game_clear(game *self) {
    for (int world = 0; world < 2; world++) {
        tacit_local_free(self->local[world]);
        tacit_dataset_free(self->data[world]);
    }
}

static tacit_status set_plan(game *self, const tacit_simulation *simulation, const tacit_variant *curve,
                             double epsilon, const char *rounds, tacit_error *error) {
    const tacit_split *split = simulation->split;
    self->rows = (double)split->start[split->parts];
    self->plan = (tacit_plan){ .method = tacit_method_find(curve->method),
                               .study = "attack",
                               .epsilon = epsilon,
                               .delta = curve->delta,
                               .lambda = curve->lambda,
                               .features = DIMENSION,
                               .classes = 2,
                               .parties = split->parts,
                               .minimum_parties = split->parts,
                               .minimum_rows = tacit_local_smallest_party(self->local[0]) };
    for (size_t i = 0; i < TACIT_VARIANT_SETTINGS && curve->settings[i].name != NULL; i++)
        TACIT_TRY(tacit_plan_set(&self->plan, curve->settings[i].name, curve->settings[i].value, error));
    TACIT_TRY(tacit_plan_set(&self->plan, "rounds", rounds, error));
    TACIT_TRY(tacit_plan_check(&self->plan, error));
    return self->plan.method == &tacit_method_psgd ? psgd_sum(&self->plan, &self->spec, error)
                                                   : dpgd_sum(&self->plan, &self->spec, error);
}

/* ---- the attacker ---- */

/* Ask at (sign FAR, 0) and add `weight` times the answer. */
static tacit_status ask(const game *self, tacit_session *session, double sign, double weight, double *into,
                        tacit_error *error) {
    const double at[DIMENSION] = { sign * FAR, 0 };
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", at, DIMENSION, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &self->rows, 1, error));
    TACIT_CHECK(tacit_ask_sum(session, "gradient", &message, &self->spec, &sum, error));
    for (size_t j = 0; j < DIMENSION; j++) into[j] += weight * sum.values[j];
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

/* What `answers` answers come to. */
static tacit_status look(const game *self, tacit_session *session, size_t answers, double *out,
                         tacit_error *error) {
    memset(out, 0, DIMENSION * sizeof *out);
    if (!self->by_differences || answers == 1) {
        for (size_t t = 0; t < answers; t++)
            TACIT_TRY(ask(self, session, 1, 1 / (double)answers, out, error));
        return TACIT_OK;
    }
    size_t pairs = answers / 2;
    for (size_t t = 0; t < pairs; t++) {
        TACIT_TRY(ask(self, session, 1, 1 / (double)pairs, out, error));
        TACIT_TRY(ask(self, session, -1, -1 / (double)pairs, out, error));
    }
    return TACIT_OK;
}

/* Without noise as many answers tell no more than one, or two. */
static tacit_status expect(game *self, size_t answers, tacit_error *error) {
    tacit_plan exact = self->plan;
    exact.epsilon = INFINITY;
    game without = *self;
    tacit_stream seed = tacit_stream_from_seed(0);
    tacit_session session;
    without.plan = exact;
    TACIT_TRY(exact.method == &tacit_method_psgd ? psgd_sum(&exact, &without.spec, error)
                                                 : dpgd_sum(&exact, &without.spec, error));
    for (int world = 0; world < 2; world++) {
        TACIT_TRY(tacit_local_begin(self->local[world], &exact, &seed, NULL, &session, error));
        TACIT_TRY(look(&without, &session, answers > 2 ? 2 : answers, self->expected[world], error));
    }
    return TACIT_OK;
}

static int nearer(const game *self, const double *seen) {
    double distance[2] = { 0, 0 };
    for (int world = 0; world < 2; world++)
        for (size_t j = 0; j < DIMENSION; j++) distance[world] += pow(seen[j] - self->expected[world][j], 2);
    return distance[1] < distance[0];
}

/* One curve at one T: how often the guess is right. */
static tacit_status play(game *self, const tacit_simulation *simulation, size_t answers, uint64_t stream,
                         tacit_run *out, tacit_error *error) {
    tacit_stream root = tacit_stream_from_seed(simulation->seed);
    tacit_session session;
    size_t right = 0;
    double seen[DIMENSION];
    TACIT_TRY(expect(self, answers, error));
    for (size_t trial = 0; trial < simulation->trials; trial++) {
        tacit_stream seed = tacit_stream_fork(&root, "attack", stream, trial);
        tacit_stream coin = tacit_stream_fork(&seed, "coin", 0, 0);
        int world = (int)tacit_stream_below(&coin, 2);
        if (tacit_progress_cancelled(simulation->progress))
            return tacit_fail(error, TACIT_CANCELLED, "interrupted");
        tacit_progress_report(simulation->progress, out->label, trial, simulation->trials);
        TACIT_TRY(tacit_local_begin(self->local[world], &self->plan, &seed, NULL, &session, error));
        TACIT_TRY(look(self, &session, answers, seen, error));
        right += nearer(self, seen) == world;
    }
    double n = (double)simulation->trials, p = (double)right / n;
    out->accuracy = (tacit_spread){ p, n > 1 ? sqrt(p * (1 - p) * n / (n - 1)) : 0 };
    return TACIT_OK;
}

/* What no attacker can beat, by what is claimed of psgd or charged for it. */
static tacit_status bound(const game *self, bool claimed, tacit_run *out, tacit_error *error) {
    tacit_prices prices = { .event = { .count = 0 } };
    TACIT_TRY(self->plan.method->price(&self->plan, &prices, error));
    tacit_price price = claimed ? prices.claimed : prices.charged;
    out->accuracy = (tacit_spread){ 1 - (1 - price.delta) / (1 + exp(price.epsilon)), 0 };
    return TACIT_OK;
}

static tacit_status attack(const tacit_simulation *simulation, const tacit_setup *setup, tacit_run *runs,
                           tacit_error *error) {
    game self = { .rows = 0 };
    const char *rounds = strrchr(setup->name, ' ') + 1;
    size_t answers = (size_t)strtoull(rounds, NULL, 10);
    tacit_status status;
    TACIT_CHECK(make_worlds(&self, simulation, error));
    for (size_t c = 0; curves[c].method != NULL; c++) {
        tacit_run *run = &runs[c];
        const char *label = curves[c].label;
        *run = (tacit_run){ .label = label, .lambda = LAMBDA, .trials = simulation->trials };
        TACIT_CHECK(set_plan(&self, simulation, &curves[c], epsilons[0], rounds, error));
        self.by_differences =
            tacit_plan_is(&self.plan, "noise", "fixed") || tacit_plan_is(&self.plan, "noise", "both");
        if (strcmp(label, CLAIMED) == 0 || strcmp(label, CHARGED) == 0)
            TACIT_CHECK(bound(&self, strcmp(label, CLAIMED) == 0, run, error));
        else
            TACIT_CHECK(play(&self, simulation, answers, c, run, error));
    }
cleanup:
    game_clear(&self);
    return status;
}

static tacit_status generate(tacit_material *out, const tacit_reading_context *context, tacit_error *error) {
    tacit_stream stream = context->stream;
    return tacit_generate_ball(&out->train, ROWS, DIMENSION, NULL, &stream, error);
}

const tacit_experiment tacit_experiment_rajkumar_attack = {
    .id = "rajkumar-attack",
    .paper = "Rajkumar and Agarwal 2012",
    .figure = "sections 3.2 and 3.3",
    .title = "How often somebody who sees T answers errs about one row, of two that it may be",
    .differs = "The paper describes the two attacks in words. Ours asks two parties of 50 rows at chosen "
               "weights, as a "
               "coordinator can; epsilon is 1 and delta 1e-5. The bounds are what (epsilon, delta)-privacy "
               "leaves to any "
               "attacker: (1 - delta)/(1 + e^epsilon).",
    .says =
        "With noise drawn in each round only, the third party can converge to the true minimiser; with "
        "noise drawn once only, it cancels in the difference of two answers. With both, the paper claims "
        "(epsilon, delta) for any number of rounds. The same two attacks together refute that: what is drawn "
        "once cancels, and what is drawn anew averages out.",
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
    .quick = { 1, 400, 0 },
    .full = { 5, 2000, 0 },
    .read = generate,
    .run = attack,
};
