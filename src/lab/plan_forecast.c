#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/planning.h"
#include "privacy/account/gaussian.h"

enum { MOST_SETTINGS = 32, SITES = 5 };

/* How much is played: cells of a world, rows to test on, worlds, draws of noise in each. */
typedef struct effort {
    double cells;
    size_t most_rows, tests, worlds, trials;
} effort;

static const effort THOROUGH = { 1.5e6, 30000, 4000, 4, 3 }, BRIEF = { 8e5, 12000, 3000, 3, 3 };
enum { MOST_WORLDS = 12 };

/* What the work needs everywhere. */
typedef struct looking {
    const tacit_outlook_request *request;
    tacit_belief belief;
    effort effort;
    tacit_progress cancelling; /* asks whether to go on, and reports nothing */
    uint64_t done, steps;
} looking;

static tacit_status went_on(looking *self, const char *stage, tacit_error *error) {
    const tacit_progress *progress = self->request->progress;
    if (tacit_progress_cancelled(progress)) return tacit_fail(error, TACIT_CANCELLED, "interrupted");
    self->done += self->done < self->steps;
    tacit_progress_report(progress, stage, self->done, self->steps);
    return TACIT_OK;
}

/* ---- figures ---- */

/* Sums over draws of accuracy, AUC and log-loss. */
typedef struct tally {
    double count, sum[3], square[3];
} tally;

static void add_one(tally *self, const double value[3]) {
    self->count++;
    for (int k = 0; k < 3; k++) {
        self->sum[k] += value[k];
        self->square[k] += value[k] * value[k];
    }
}

/* What a figure is with `factor` times as many rows: what it lacks of the law's own is so much less. */
static double unthinned(double value, double limit, double factor) {
    return factor > 1 && !isnan(limit) ? limit - (limit - value) / factor : value;
}

/* All trials of a run, of which mean and standard deviation are known, moved by what thinning took. */
static void add_run(tally *self, const tacit_run *run, const double moved[3]) {
    const tacit_spread *spread[] = { &run->accuracy, &run->auc, &run->log_loss };
    double trials = (double)run->trials;
    self->count += trials;
    for (int k = 0; k < 3; k++) {
        double mean = spread[k]->mean + moved[k];
        self->sum[k] += trials * mean;
        self->square[k] += trials * mean * mean + (trials - 1) * spread[k]->sd * spread[k]->sd;
    }
}

static void add_tally(tally *self, const tally *more) {
    self->count += more->count;
    for (int k = 0; k < 3; k++) {
        self->sum[k] += more->sum[k];
        self->square[k] += more->square[k];
    }
}

static tacit_outlook_figure figure_of(const tally *self, int k, double least, double most) {
    static const double NINE_IN_TEN = 1.645;
    double mean = self->sum[k] / self->count;
    double variance = self->count > 1 ? (self->square[k] - self->count * mean * mean) / (self->count - 1) : 0;
    double reach = NINE_IN_TEN * sqrt(fmax(variance, 0));
    if (isnan(mean)) return (tacit_outlook_figure){ NAN, NAN, NAN };
    return (tacit_outlook_figure){ mean, fmax(mean - reach, least), fmin(mean + reach, most) };
}

static tacit_outlook_metrics metrics_of(const tally *self) {
    return (tacit_outlook_metrics){ figure_of(self, 0, 0, 1), figure_of(self, 1, 0, 1),
                                    figure_of(self, 2, 0, INFINITY) };
}

double tacit_outlook_score(const tacit_outlook_metrics *metrics) {
    return isnan(metrics->auc.mean) ? metrics->accuracy.mean : metrics->auc.mean;
}

/* ---- one world ---- */

tacit_status tacit_outlook_thin(double *out, double epsilon, double delta, double factor, bool gaussian,
                                tacit_error *error) {
    double sigma;
    *out = epsilon * factor;
    if (factor <= 1 || !gaussian || !(delta > 0)) return TACIT_OK;
    TACIT_TRY(tacit_gaussian_sigma(&sigma, epsilon, delta, 1, error));
    return tacit_gaussian_epsilon(out, sigma / factor, delta, error);
}

/* How many of so many rows are played. */
static size_t played(const looking *self, size_t rows, size_t parties) {
    double features = (double)tacit_schema_features(self->belief.schema);
    double most = fmin((double)self->effort.most_rows, self->effort.cells / features);
    most = fmax(most, fmax(500, 20 * (double)parties));
    return (double)rows > most ? (size_t)most : rows;
}

/* Parts of equal numbers of rows, one after the other, and over again where they are used up. */
static tacit_status part_rows(tacit_split *out, size_t parts, size_t rows, size_t each, tacit_error *error) {
    *out = (tacit_split){ parts, TACIT_NEW(size_t, parts + 1), NULL, 0 };
    size_t all = each > 0 ? parts * each : rows;
    out->index = TACIT_NEW(uint32_t, all);
    if (out->start == NULL || out->index == NULL) {
        free(out->start);
        free(out->index);
        return tacit_fail_memory(error);
    }
    for (size_t k = 0; k <= parts; k++) out->start[k] = each > 0 ? k * each : rows * k / parts;
    for (size_t i = 0; i < all; i++) out->index[i] = (uint32_t)(i % rows);
    return TACIT_OK;
}

static void part_clear(tacit_split *split) {
    free(split->start);
    free(split->index);
}

static tacit_view tests_of(const tacit_world *world) {
    tacit_view all = tacit_dataset_view(world->data);
    return tacit_view_slice(&all, world->train, world->tests);
}

/* A plan played on a world, its rows dealt out evenly. */
static tacit_status play(looking *self, const tacit_world *world, const tacit_plan *plan, size_t trials,
                         size_t draw, tacit_run *run, tacit_error *error) {
    tacit_prices prices = { .event = { .count = 0 } };
    tacit_choice settings[MOST_SETTINGS];
    char text[MOST_SETTINGS][TACIT_SETTING_SIZE];
    size_t count = 0;
    tacit_split split;
    double factor = (double)plan->expected_rows / (double)world->train, epsilon;
    size_t each = world->train / plan->parties, least = (size_t)fmax(1, (double)plan->minimum_rows / factor);
    TACIT_TRY(plan->method->price(plan, &prices, error));
    TACIT_TRY(
        tacit_outlook_thin(&epsilon, plan->epsilon, plan->delta, factor, prices.charged.delta > 0, error));
    for (const tacit_parameter *one = plan->method->parameters;
         one != NULL && one->name != NULL && count < MOST_SETTINGS; one++, count++)
        settings[count] = (tacit_choice){ one->name, tacit_plan_print(plan, one, text[count]) };
    TACIT_TRY(part_rows(&split, plan->parties, world->train, 0, error));
    tacit_simulation simulation = { .dataset = world->data,
                                    .schema = plan->schema,
                                    .split = &split,
                                    .test = tests_of(world),
                                    .methods = &plan->method,
                                    .method_count = 1,
                                    .epsilons = &epsilon,
                                    .epsilon_count = 1,
                                    .delta = plan->delta,
                                    .lambda = plan->lambda,
                                    .settings = settings,
                                    .setting_count = count,
                                    .trials = trials,
                                    .minimum_parties = plan->minimum_parties,
                                    .minimum_rows = least < each ? least : each,
                                    .dropouts = plan->dropouts,
                                    .colluders = plan->colluders,
                                    .seed = self->request->seed + 1000003 * (draw + 1),
                                    .pool = self->request->pool,
                                    .progress = &self->cancelling };
    if (plan->points != NULL) simulation.auxiliary.rows = plan->points->rows;
    tacit_status status = tacit_simulate(&simulation, run, NULL, error);
    part_clear(&split);
    return status;
}

/* Models of `sites` sites of `rows` rows each, without noise, by one ridge. */
static tacit_status fit_sites(const looking *self, const tacit_world *world, size_t rows, size_t sites,
                              double ridge, tally *out, tacit_error *error) {
    tacit_view all = tacit_dataset_view(world->data), tests = tests_of(world);
    for (size_t s = 0; s < sites && (s == 0 || (s + 1) * rows <= world->train); s++) {
        tacit_view train = tacit_view_slice(&all, s * rows, rows);
        tacit_linear_fit how = { .lambda = ridge / (double)rows,
                                 .gradient_tolerance = 1e-5,
                                 .best_effort = true,
                                 .pool = self->request->pool,
                                 .progress = &self->cancelling };
        tacit_model *model = NULL;
        tacit_metrics found = TACIT_METRICS_NONE;
        TACIT_TRY(tacit_model_fit_linear(&model, &train, &how, error));
        tacit_status status = tacit_model_evaluate(model, &tests, self->request->pool, &found, error);
        tacit_model_free(model);
        TACIT_TRY(status);
        add_one(out, (double[]){ found.accuracy, found.auc, found.log_loss });
    }
    return TACIT_OK;
}

/* The same with the best of a few ridges: generous to whoever would rather not join. */
static tacit_status fit_exactly(const looking *self, const tacit_world *world, size_t rows, size_t sites,
                                tally *out, tacit_error *error) {
    static const double ridges[] = { 0.01, 0.1, 1, 10 };
    *out = (tally){ .count = 0 };
    for (size_t r = 0; r < sizeof ridges / sizeof *ridges; r++) {
        tally here = { .count = 0 };
        TACIT_TRY(fit_sites(self, world, rows, sites, ridges[r], &here, error));
        if (out->count == 0 || here.sum[2] / here.count < out->sum[2] / out->count) *out = here;
    }
    return TACIT_OK;
}

/* A site alone, of `each` rows or, where these are more than the world has, what that many would do. */
static tacit_status look_at_alone(const looking *self, const tacit_world *world, size_t each, tally *alone,
                                  tacit_error *error) {
    size_t rows = each < world->train ? each : world->train;
    double factor = (double)each / (double)rows;
    tally raw, moved = { .count = 0 };
    TACIT_TRY(fit_exactly(self, world, rows, SITES, &raw, error));
    double mean[3];
    for (int k = 0; k < 3; k++) mean[k] = unthinned(raw.sum[k] / raw.count, world->limit[k], factor);
    if (factor > 1)
        add_one(&moved, mean);
    else
        moved = raw;
    add_tally(alone, &moved);
    return TACIT_OK;
}

/* All rows pooled, and by how much the figures of `all` rows differ from those of the world's. */
static tacit_status look_at_pooled(const looking *self, const tacit_world *world, size_t all, tally *pooled,
                                   double moved[3], tacit_error *error) {
    double factor = (double)all / (double)world->train, value[3];
    tally raw;
    TACIT_TRY(fit_exactly(self, world, world->train, 1, &raw, error));
    for (int k = 0; k < 3; k++) {
        value[k] = unthinned(raw.sum[k], world->limit[k], factor);
        moved[k] = isnan(value[k]) ? 0 : value[k] - raw.sum[k];
    }
    add_one(pooled, value);
    return TACIT_OK;
}

/* What endless rows would score where the labels' law is not known: the rest of the error goes with one over the rows. */
static tacit_status find_limit(const looking *self, tacit_world *world, tacit_error *error) {
    tally half, whole;
    TACIT_TRY(fit_exactly(self, world, world->train / 2, 2, &half, error));
    TACIT_TRY(fit_exactly(self, world, world->train, 1, &whole, error));
    for (int k = 0; k < 3; k++) world->limit[k] = 2 * whole.sum[k] - half.sum[k] / half.count;
    return TACIT_OK;
}

static tacit_status make_world(const looking *self, tacit_world *out, size_t rows, size_t parties,
                               size_t draw, tacit_error *error) {
    size_t train = played(self, rows, parties), tests = self->effort.tests;
    const tacit_dataset *given = self->belief.rows;
    /* Of given rows as many are tested on as are left over, if that is enough to tell. */
    if (given != NULL && !tacit_belief_has(&self->belief, train, tests) &&
        tacit_belief_has(&self->belief, train, 300))
        tests = given->rows - train;
    TACIT_TRY(tacit_world_make(out, &self->belief, train, tests, self->request->seed, draw, error));
    return train < rows && isnan(out->limit[2]) ? find_limit(self, out, error) : TACIT_OK;
}

/* ---- methods ---- */

/* A failure that ends everything, and not only what one method was tried for. */
static bool is_fatal(tacit_status status) {
    return status == TACIT_CANCELLED || status == TACIT_NO_MEMORY || status == TACIT_INTERNAL;
}

static tacit_status refuse(tacit_outlook *out, const tacit_method *method, const tacit_error *why,
                           tacit_error *error) {
    tacit_outlook_refusal *more = tacit_grow(out->refused, out->refusals + 1, sizeof *more);
    if (more == NULL) return tacit_fail_memory(error);
    out->refused = more;
    more[out->refusals].method = method;
    snprintf(more[out->refusals++].why, sizeof more->why, "%s", why->text);
    return TACIT_OK;
}

static bool is_wanted(const tacit_outlook_request *request, const tacit_method *method) {
    if (request->method_count == 0) return !method->noise_free;
    for (size_t m = 0; m < request->method_count; m++)
        if (request->methods[m] == method) return true;
    return false;
}

static tacit_status choose_methods(const looking *self, tacit_outlook *out, tacit_error *error) {
    size_t all = 0;
    while (tacit_methods[all] != NULL) all++;
    out->methods = TACIT_NEW(tacit_outlook_method, all);
    if (out->methods == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < all; i++) {
        tacit_outlook_method *one = &out->methods[out->count];
        tacit_error why = TACIT_ERROR_INIT;
        if (!is_wanted(self->request, tacit_methods[i])) continue;
        *one = (tacit_outlook_method){ .pays_from = NAN };
        tacit_status status = tacit_outlook_plan(&one->plan, self->request, tacit_methods[i], &why);
        if (status == TACIT_OK)
            out->count++;
        else
            TACIT_TRY(refuse(out, tacit_methods[i], &why, error));
    }
    return TACIT_OK;
}

/* Whether lambda may be another than what the method chose. */
static bool is_open(const tacit_outlook_request *request, const tacit_plan *plan) {
    bool told = request->study != NULL && request->study->method == plan->method && !request->lambda_open;
    return !told && !plan->method->lambda_may_vanish;
}

/* A smaller lambda, by tens, as long as each is better by more than chance: the rows are of belief, so the choice is free. */
static tacit_status choose_lambda(looking *self, const tacit_world *world, tacit_plan *plan,
                                  tacit_error *error) {
    static const double BETTER = 0.99, LEAST = 1e-8;
    tacit_run run;
    if (!is_open(self->request, plan)) return TACIT_OK;
    TACIT_TRY(play(self, world, plan, 2, 0, &run, error));
    for (int step = 0; step < 5 && plan->lambda > 10 * LEAST; step++) {
        tacit_plan tried = *plan;
        double before = run.log_loss.mean;
        tried.lambda = plan->lambda / 10;
        tacit_status status = tacit_plan_check(&tried, NULL);
        if (status == TACIT_OK) status = play(self, world, &tried, 2, 0, &run, error);
        if (is_fatal(status)) return status;
        if (status != TACIT_OK || !(run.log_loss.mean < BETTER * before)) break;
        *plan = tried;
    }
    if (error != NULL) *error = (tacit_error)TACIT_ERROR_INIT;
    return TACIT_OK;
}

static uint64_t handovers_of(const tacit_plan *plan, uint64_t rounds) {
    enum { STEPS_OF_A_MASKED_SUM = 5 };
    bool masked = tacit_plan_hearing(plan) == TACIT_HEARS_SUMS && plan->sums == TACIT_SUMS_MASKED;
    return masked ? rounds * STEPS_OF_A_MASKED_SUM : rounds;
}

static tacit_outlook_verdict verdict_of(const tacit_outlook *out, const tacit_outlook_metrics *expected) {
    if (tacit_outlook_score(&out->pooled) > TACIT_OUTLOOK_SURE) return TACIT_OUTLOOK_NONE;
    return tacit_outlook_score(expected) > tacit_outlook_score(&out->alone) ? TACIT_OUTLOOK_PAYS
                                                                            : TACIT_OUTLOOK_DOES_NOT;
}

const char *tacit_outlook_verdict_text(tacit_outlook_verdict verdict) {
    static const char *const texts[] = { "joining pays", "joining does not pay", "no verdict" };
    return texts[verdict];
}

bool tacit_outlook_hopeless(const tacit_outlook *outlook, const tacit_outlook_method *method) {
    static const double GUESSING = 0.55;
    return tacit_outlook_score(&outlook->pooled) > GUESSING + 0.05 &&
           tacit_outlook_score(&outlook->alone) > tacit_outlook_score(&method->expected) &&
           !isnan(method->expected.auc.mean) && method->expected.auc.mean < GUESSING;
}

/* ---- all worlds ---- */

/* Every method on the worlds; those that fail are moved to the refusals. */
static tacit_status play_all(looking *self, tacit_outlook *out, const tacit_world *world, size_t draw,
                             const double moved[3], tally *tallies, tacit_error *error) {
    for (size_t m = 0; m < out->count; m++) {
        tacit_outlook_method *one = &out->methods[m];
        tacit_error why = TACIT_ERROR_INIT;
        tacit_run run;
        tacit_status status = TACIT_OK;
        if (one->behind) continue;
        if (draw == 0) status = choose_lambda(self, world, &one->plan, &why);
        if (status == TACIT_OK) status = play(self, world, &one->plan, self->effort.trials, draw, &run, &why);
        if (is_fatal(status)) {
            if (error != NULL) *error = why;
            return status;
        }
        TACIT_TRY(went_on(self, one->plan.method->name, error));
        if (status != TACIT_OK) {
            TACIT_TRY(refuse(out, one->plan.method, &why, error));
            memmove(one, one + 1, (out->count - m - 1) * sizeof *one);
            memmove(tallies + m, tallies + m + 1, (out->count - m - 1) * sizeof *tallies);
            out->count--;
            m--;
            continue;
        }
        add_run(&tallies[m], &run, moved);
        one->rounds = run.rounds;
        one->bytes_per_party = run.bytes_per_party;
        one->handovers = handovers_of(&one->plan, run.rounds);
    }
    return TACIT_OK;
}

/* Those that cannot win any more are left as they are: their time is better spent on the others. */
static void leave_behind(tacit_outlook *out, const tally *tallies) {
    static const double FAR = 0.03;
    double best = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t m = 0; m < out->count; m++) {
            tacit_outlook_metrics here = metrics_of(&tallies[m]);
            double score = tacit_outlook_score(&here);
            if (pass == 0) best = fmax(best, score);
            if (pass == 1 && score < best - FAR) out->methods[m].behind = true;
        }
}

/* How far the leader is ahead of a site alone, world by world. */
typedef struct lead {
    double worlds, sum, square;
} lead;

/* Whether more worlds would hardly change the sign. */
static bool is_clear(const lead *self) {
    static const double CLEAR = 3;
    double mean = self->sum / self->worlds,
           variance = (self->square - self->worlds * mean * mean) / (self->worlds - 1);
    return mean * mean * self->worlds > CLEAR * CLEAR * variance;
}

static double score_of(const tally *self) {
    tacit_outlook_metrics metrics = metrics_of(self);
    return tacit_outlook_score(&metrics);
}

/* The best so far. */
static size_t leader_of(const tacit_outlook *out, const tally *tallies) {
    size_t best = 0;
    for (size_t m = 1; m < out->count; m++)
        if (score_of(&tallies[m]) > score_of(&tallies[best])) best = m;
    return best;
}

/* What one world adds to two tallies, as a difference of scores. */
static double difference(const tally *a, const tally *a_before, const tally *b, const tally *b_before) {
    tally one = *a, other = *b;
    one.count -= a_before->count;
    other.count -= b_before->count;
    for (int k = 0; k < 3; k++) {
        one.sum[k] -= a_before->sum[k];
        one.square[k] -= a_before->square[k];
        other.sum[k] -= b_before->sum[k];
        other.square[k] -= b_before->square[k];
    }
    return score_of(&one) - score_of(&other);
}

typedef struct yardsticks {
    tally alone, pooled;
} yardsticks;

static tacit_status play_world(looking *self, tacit_outlook *out, size_t draw, yardsticks *beside,
                               tally *tallies, tacit_error *error) {
    const tacit_outlook_request *request = self->request;
    tacit_world world = TACIT_WORLD_INIT;
    double moved[3];
    tacit_status status;
    TACIT_CHECK(make_world(self, &world, request->rows, request->parties, draw, error));
    out->simulated = world.train;
    TACIT_CHECK(look_at_pooled(self, &world, request->rows, &beside->pooled, moved, error));
    TACIT_CHECK(went_on(self, "pooled", error));
    TACIT_CHECK(look_at_alone(self, &world, request->rows / request->parties, &beside->alone, error));
    TACIT_CHECK(went_on(self, "alone", error));
    TACIT_CHECK(play_all(self, out, &world, draw, moved, tallies, error));
cleanup:
    tacit_world_clear(&world);
    return status;
}

/* A few worlds, and more where it is close. */
static tacit_status play_worlds(looking *self, tacit_outlook *out, tally *tallies, tacit_error *error) {
    yardsticks beside = { { .count = 0 }, { .count = 0 } };
    lead ahead = { 0, 0, 0 };
    for (size_t draw = 0; draw < MOST_WORLDS; draw++) {
        if (draw >= self->effort.worlds && (out->count == 0 || is_clear(&ahead))) break;
        size_t leader = draw > 0 && out->count > 0 ? leader_of(out, tallies) : 0;
        tally before = tallies[leader], alone = beside.alone;
        TACIT_TRY(play_world(self, out, draw, &beside, tallies, error));
        leave_behind(out, tallies);
        if (out->count == 0) continue;
        if (draw == 0) leader = leader_of(out, tallies);
        if (draw == 0) before = (tally){ .count = 0 };
        double here = difference(&tallies[leader], &before, &beside.alone, &alone);
        ahead.worlds++;
        ahead.sum += here;
        ahead.square += here * here;
    }
    out->alone = metrics_of(&beside.alone);
    out->pooled = metrics_of(&beside.pooled);
    return TACIT_OK;
}

/* Whether the first is the better of two: by their score, and where that is nearly the same by log-loss. */
static bool is_better(const tacit_outlook_method *a, const tacit_outlook_method *b) {
    static const double NEARLY = 0.002;
    double apart = tacit_outlook_score(&a->expected) - tacit_outlook_score(&b->expected);
    if (fabs(apart) > NEARLY) return apart > 0;
    return a->expected.log_loss.mean < b->expected.log_loss.mean;
}

static tacit_status conclude(tacit_outlook *out, const tally *tallies, tacit_error *error) {
    out->recommended = out->count;
    for (size_t m = 0; m < out->count; m++) {
        tacit_outlook_method *one = &out->methods[m];
        tacit_prices prices = { .event = { .count = 0 } };
        TACIT_TRY(one->plan.method->price(&one->plan, &prices, error));
        one->charged = prices.charged;
        one->expected = metrics_of(&tallies[m]);
        one->verdict = verdict_of(out, &one->expected);
        if (out->recommended == out->count || is_better(one, &out->methods[out->recommended]))
            out->recommended = m;
    }
    return TACIT_OK;
}

/* ---- other numbers ---- */

/* The score of a method at another epsilon, on one world. */
static tacit_status score_at(looking *self, const tacit_world *world, const tacit_outlook_method *one,
                             double epsilon, double *out, tacit_error *error) {
    tacit_outlook_request other = *self->request;
    tacit_plan plan;
    tacit_run run;
    other.epsilon = epsilon;
    TACIT_TRY(tacit_outlook_plan(&plan, &other, one->plan.method, error));
    TACIT_TRY(play(self, world, &plan, self->effort.trials, 0, &run, error));
    *out = isnan(run.auc.mean) ? run.accuracy.mean : run.auc.mean;
    return TACIT_OK;
}

/* By halving a list of epsilons: what a method scores grows with epsilon. */
static tacit_status find_price(looking *self, const tacit_world *world, double alone,
                               tacit_outlook_method *one, tacit_error *error) {
    static const double prices[] = { 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 8, 12, 20 };
    size_t low = 0, high = sizeof prices / sizeof *prices;
    while (low < high) {
        size_t middle = (low + high) / 2;
        double score = 0;
        tacit_status status = score_at(self, world, one, prices[middle], &score, error);
        if (is_fatal(status)) return status;
        if (status == TACIT_OK && score > alone)
            high = middle;
        else
            low = middle + 1;
    }
    one->pays_from = low < sizeof prices / sizeof *prices ? prices[low] : NAN;
    if (error != NULL) *error = (tacit_error)TACIT_ERROR_INIT;
    return went_on(self, "price", error);
}

static tacit_status find_prices(looking *self, tacit_outlook *out, tacit_error *error) {
    const tacit_outlook_request *request = self->request;
    tacit_world world = TACIT_WORLD_INIT;
    tally alone = { .count = 0 }, pooled = { .count = 0 };
    double moved[3];
    tacit_status status;
    TACIT_CHECK(make_world(self, &world, request->rows, request->parties, 0, error));
    TACIT_CHECK(look_at_alone(self, &world, request->rows / request->parties, &alone, error));
    TACIT_CHECK(look_at_pooled(self, &world, request->rows, &pooled, moved, error));
    tacit_outlook_metrics site = metrics_of(&alone);
    for (size_t m = 0; m < out->count; m++)
        if (!out->methods[m].behind)
            TACIT_CHECK(find_price(self, &world,
                                   tacit_outlook_score(&site) - moved[isnan(site.auc.mean) ? 0 : 1],
                                   &out->methods[m], error));
cleanup:
    tacit_world_clear(&world);
    return status;
}

/* The recommended method with other numbers of parties and rows. */
static tacit_status look_at_other(looking *self, const tacit_method *method, size_t parties, size_t rows,
                                  tacit_outlook_other *out, tacit_error *error) {
    tacit_outlook_request other = *self->request;
    tally expected = { .count = 0 }, alone = { .count = 0 }, pooled = { .count = 0 };
    tacit_plan plan;
    double moved[3];
    tacit_status status = TACIT_OK;
    other.parties = parties;
    other.rows = rows;
    other.minimum_rows = 0;
    TACIT_TRY(tacit_outlook_plan(&plan, &other, method, error));
    for (size_t draw = 0; status == TACIT_OK && draw < (self->effort.worlds + 1) / 2; draw++) {
        tacit_world world = TACIT_WORLD_INIT;
        tacit_run run;
        status = make_world(self, &world, rows, parties, draw, error);
        if (status == TACIT_OK) status = look_at_alone(self, &world, rows / parties, &alone, error);
        if (status == TACIT_OK) status = look_at_pooled(self, &world, rows, &pooled, moved, error);
        if (status == TACIT_OK) status = play(self, &world, &plan, self->effort.trials, draw, &run, error);
        if (status == TACIT_OK) add_run(&expected, &run, moved);
        tacit_world_clear(&world);
    }
    TACIT_TRY(status);
    *out = (tacit_outlook_other){ parties, rows, metrics_of(&expected), metrics_of(&alone) };
    return went_on(self, "more rows", error);
}

static tacit_status look_further(looking *self, tacit_outlook *out, tacit_error *error) {
    if (self->request->brief || out->count == 0) return TACIT_OK;
    const tacit_method *best = out->methods[out->recommended].plan.method;
    size_t parties = self->request->parties, rows = self->request->rows;
    TACIT_TRY(find_prices(self, out, error));
    TACIT_TRY(look_at_other(self, best, 2 * parties, 2 * rows, &out->more_parties, error));
    return look_at_other(self, best, parties, 2 * rows, &out->more_rows, error);
}

/* ---- the whole ---- */

static tacit_status check_request(const tacit_outlook_request *request, tacit_error *error) {
    if (request->parties == 0 || request->rows < request->parties)
        return tacit_fail(error, TACIT_USAGE, "%zu rows are too few for %zu parties", request->rows,
                          request->parties);
    if (!(request->epsilon > 0) || isinf(request->epsilon))
        return tacit_fail(error, TACIT_USAGE, "epsilon must be above 0 and finite, not %g", request->epsilon);
    return TACIT_OK;
}

static bool is_cancelled(void *context) { return tacit_progress_cancelled(context); }

tacit_status tacit_outlook_make(tacit_outlook *out, const tacit_outlook_request *request,
                                tacit_error *error) {
    looking self = { .request = request,
                     .belief = request->belief,
                     .effort = request->brief ? BRIEF : THOROUGH,
                     .cancelling = { NULL, is_cancelled, (void *)request->progress } };
    tally *tallies = NULL;
    tacit_outlook made = TACIT_OUTLOOK_INIT;
    tacit_status status;
    TACIT_CHECK(check_request(request, error));
    TACIT_CHECK(tacit_belief_settle(&self.belief, request->pool, error));
    made.rows = request->rows;
    made.parties = request->parties;
    made.features = tacit_schema_features(request->belief.schema);
    made.epsilon = request->epsilon;
    made.delta = request->delta;
    made.signal = self.belief.signal;
    made.positives = self.belief.positives;
    TACIT_CHECK(choose_methods(&self, &made, error));
    self.steps = self.effort.worlds * (made.count + 2) + (request->brief ? 0 : made.count + 2);
    tallies = TACIT_NEW(tally, made.count + 1);
    if (tallies == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(play_worlds(&self, &made, tallies, error));
    TACIT_CHECK(conclude(&made, tallies, error));
    TACIT_CHECK(look_further(&self, &made, error));
    *out = made;
    made = (tacit_outlook)TACIT_OUTLOOK_INIT;
cleanup:
    free(tallies);
    tacit_belief_clear(&self.belief);
    tacit_outlook_clear(&made);
    return status;
}

void tacit_outlook_clear(tacit_outlook *outlook) {
    free(outlook->methods);
    free(outlook->refused);
    *outlook = (tacit_outlook)TACIT_OUTLOOK_INIT;
}
