/* Methods and yardsticks on the rows of one world. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "lab/plan_parts.h"
#include "lab/plan_response.h"
#include "privacy/account/gaussian.h"

enum { MOST_SETTINGS = 32, SITES = 5 };

/* ---- figures ---- */

static void plan_add_one(plan_tally *self, const double value[TACIT_BELIEF_FIGURES]) {
    self->count++;
    for (int k = 0; k < TACIT_BELIEF_FIGURES; k++) {
        self->sum[k] += value[k];
        self->square[k] += value[k] * value[k];
    }
}

/* What a figure is with `factor` times as many rows: what it lacks of the law's own is so much less. */
static double unthinned(double value, double limit, double factor) {
    return factor > 1 && !isnan(limit) ? limit - (limit - value) / factor : value;
}

double plan_loss_of_run(const tacit_run *run) {
    return isnan(run->log_loss.mean) ? run->deviance.mean : run->log_loss.mean;
}

/* All trials of a run, of which mean and standard deviation are known, moved by what thinning took. */
void plan_add_run(plan_tally *self, const tacit_run *run, const tacit_world *world,
                  const double moved[TACIT_BELIEF_FIGURES]) {
    const double null = world->null_deviance;
    const tacit_spread share = { 1 - run->deviance.mean / null, run->deviance.sd / null };
    const tacit_spread *spread[] = { &run->accuracy, &run->auc, &run->log_loss, &share, &run->deviance };
    double trials = (double)run->trials;
    self->count += trials;
    for (int k = 0; k < TACIT_BELIEF_FIGURES; k++) {
        double mean = spread[k]->mean + moved[k];
        self->sum[k] += trials * mean;
        self->square[k] += trials * mean * mean + (trials - 1) * spread[k]->sd * spread[k]->sd;
    }
}

static void plan_add_tally(plan_tally *self, const plan_tally *more) {
    self->count += more->count;
    for (int k = 0; k < TACIT_BELIEF_FIGURES; k++) {
        self->sum[k] += more->sum[k];
        self->square[k] += more->square[k];
    }
}

static tacit_outlook_figure figure_of(const plan_tally *self, int k) {
    static const double NINE_IN_TEN = 1.645, LEAST[TACIT_BELIEF_FIGURES] = { 0, 0, 0, -INFINITY, 0 },
                        MOST[TACIT_BELIEF_FIGURES] = { 1, 1, INFINITY, 1, INFINITY };
    double mean = self->sum[k] / self->count;
    double variance = self->count > 1 ? (self->square[k] - self->count * mean * mean) / (self->count - 1) : 0;
    double reach = NINE_IN_TEN * sqrt(fmax(variance, 0));
    if (isnan(mean)) return (tacit_outlook_figure){ NAN, NAN, NAN };
    return (tacit_outlook_figure){ mean, fmax(mean - reach, LEAST[k]), fmin(mean + reach, MOST[k]) };
}

tacit_outlook_metrics plan_metrics_of(const plan_tally *self) {
    tacit_outlook_metrics made;
    for (int k = 0; k < TACIT_BELIEF_FIGURES; k++) made.figure[k] = figure_of(self, k);
    return made;
}

const tacit_outlook_figure *tacit_outlook_main(const tacit_outlook_metrics *metrics) {
    static const tacit_belief_figure order[] = { TACIT_BELIEF_AUC, TACIT_BELIEF_SHARE };
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (!isnan(metrics->figure[order[i]].mean)) return &metrics->figure[order[i]];
    return &metrics->figure[TACIT_BELIEF_ACCURACY];
}

const char *tacit_outlook_main_name(const tacit_outlook *outlook) {
    if (outlook->response == TACIT_RESPONSE_NUMBER) return "R^2";
    if (outlook->response == TACIT_RESPONSE_COUNT) return "share of the deviance";
    return isnan(outlook->pooled.figure[TACIT_BELIEF_AUC].mean) ? "accuracy" : "AUC";
}

double tacit_outlook_score(const tacit_outlook_metrics *metrics) { return tacit_outlook_main(metrics)->mean; }

/* ---- one world ---- */

tacit_status tacit_outlook_thin(double *out, double epsilon, double delta, double factor, bool gaussian,
                                tacit_error *error) {
    double sigma;
    *out = epsilon * factor;
    if (factor > 1 && gaussian && delta > 0) {
        TACIT_TRY(tacit_gaussian_sigma(&sigma, epsilon, delta, 1, error));
        TACIT_TRY(tacit_gaussian_epsilon(out, sigma / factor, delta, error));
    }
    *out = fmin(*out, fmax(epsilon, TACIT_OUTLOOK_MOST_EPSILON));
    return TACIT_OK;
}

/* How many of this many rows are played. */
static size_t played(const plan_looking *self, size_t rows, size_t parties) {
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

/* Thinned rows at a price that thinning would have made larger still are no study of the same shape: its
 * rounds and bytes are those of the plan itself, whose public numbers decide about them. */
static tacit_status count_rounds(const tacit_simulation *played, const tacit_plan *plan, tacit_run *run,
                                 tacit_error *error) {
    tacit_simulation itself = *played;
    tacit_run found;
    itself.epsilons = &plan->epsilon;
    itself.expected_rows = plan->expected_rows;
    itself.trials = 1;
    TACIT_TRY(tacit_simulate(&itself, &found, NULL, error));
    run->rounds = found.rounds;
    run->bytes_per_party = found.bytes_per_party;
    return TACIT_OK;
}

/* A plan played on a world, its rows dealt out evenly. */
tacit_status plan_play(plan_looking *self, const tacit_world *world, const tacit_plan *plan, size_t trials,
                       size_t draw, tacit_run *run, tacit_error *error) {
    tacit_prices prices = { .event = { .count = 0 } };
    tacit_setting_value settings[MOST_SETTINGS];
    char text[MOST_SETTINGS][TACIT_SETTING_SIZE];
    size_t count = 0;
    tacit_split split;
    double factor = (double)plan->expected_rows / (double)world->train, epsilon;
    size_t each = world->train / plan->parties, least = (size_t)fmax(1, (double)plan->minimum_rows / factor);
    TACIT_TRY(tacit_plan_price(plan, &prices, error));
    TACIT_TRY(
        tacit_outlook_thin(&epsilon, plan->epsilon, plan->delta, factor, prices.charged.delta > 0, error));
    for (const tacit_parameter *one = plan->method->parameters;
         one != NULL && one->name != NULL && count < MOST_SETTINGS; one++, count++)
        settings[count] = (tacit_setting_value){ one->name, tacit_plan_print(plan, one, text[count]) };
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
    if (status == TACIT_OK && epsilon >= TACIT_OUTLOOK_MOST_EPSILON && epsilon > plan->epsilon)
        status = count_rounds(&simulation, plan, run, error);
    run->needs_rows *= factor;
    run->needs_epsilon *= plan->epsilon / epsilon;
    part_clear(&split);
    return status;
}

/* Models of `sites` sites of `rows` rows each, without noise, by one ridge. */
static tacit_status fit_sites(const plan_looking *self, const tacit_world *world, size_t rows, size_t sites,
                              double ridge, plan_tally *out, tacit_error *error) {
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
        TACIT_TRY(plan_fit(&model, &train, self->belief.schema, &how, error));
        tacit_status status = tacit_model_evaluate(model, &tests, self->request->pool, &found, error);
        tacit_model_free(model);
        TACIT_TRY(status);
        double value[TACIT_BELIEF_FIGURES];
        tacit_belief_measure(value, &found, world->null_deviance);
        plan_add_one(out, value);
    }
    return TACIT_OK;
}

/* The same with the best of a few ridges: generous to whoever would rather not join. */
static tacit_status fit_exactly(const plan_looking *self, const tacit_world *world, size_t rows, size_t sites,
                                plan_tally *out, tacit_error *error) {
    static const double ridges[] = { 0.01, 0.1, 1, 10 };
    const int loss = isnan(world->null_deviance) ? TACIT_BELIEF_LOG_LOSS : TACIT_BELIEF_DEVIANCE;
    *out = (plan_tally){ .count = 0 };
    for (size_t r = 0; r < sizeof ridges / sizeof *ridges; r++) {
        plan_tally here = { .count = 0 };
        TACIT_TRY(fit_sites(self, world, rows, sites, ridges[r], &here, error));
        if (out->count == 0 || here.sum[loss] / here.count < out->sum[loss] / out->count) *out = here;
    }
    return TACIT_OK;
}

/* A site alone, of `each` rows or, where these are more than the world has, what that many would do. */
tacit_status plan_look_at_alone(const plan_looking *self, const tacit_world *world, size_t each,
                                plan_tally *alone, tacit_error *error) {
    size_t rows = each < world->train ? each : world->train;
    double factor = (double)each / (double)rows;
    plan_tally raw, moved = { .count = 0 };
    TACIT_TRY(fit_exactly(self, world, rows, SITES, &raw, error));
    double mean[TACIT_BELIEF_FIGURES];
    for (int k = 0; k < TACIT_BELIEF_FIGURES; k++)
        mean[k] = unthinned(raw.sum[k] / raw.count, world->limit[k], factor);
    if (factor > 1)
        plan_add_one(&moved, mean);
    else
        moved = raw;
    plan_add_tally(alone, &moved);
    return TACIT_OK;
}

/* All rows pooled, and by how much the figures of `all` rows differ from those of the world's. */
tacit_status plan_look_at_pooled(const plan_looking *self, const tacit_world *world, size_t all,
                                 plan_tally *pooled, double moved[TACIT_BELIEF_FIGURES], tacit_error *error) {
    double factor = (double)all / (double)world->train, value[TACIT_BELIEF_FIGURES];
    plan_tally raw;
    TACIT_TRY(fit_exactly(self, world, world->train, 1, &raw, error));
    for (int k = 0; k < TACIT_BELIEF_FIGURES; k++) {
        value[k] = unthinned(raw.sum[k], world->limit[k], factor);
        moved[k] = isnan(value[k]) ? 0 : value[k] - raw.sum[k];
    }
    plan_add_one(pooled, value);
    return TACIT_OK;
}

/* What endless rows would score where the labels' law is not known: the rest of the error goes with one over
 * the rows. */
static tacit_status find_limit(const plan_looking *self, tacit_world *world, tacit_error *error) {
    plan_tally half, whole;
    TACIT_TRY(fit_exactly(self, world, world->train / 2, 2, &half, error));
    TACIT_TRY(fit_exactly(self, world, world->train, 1, &whole, error));
    for (int k = 0; k < TACIT_BELIEF_FIGURES; k++)
        world->limit[k] = 2 * whole.sum[k] - half.sum[k] / half.count;
    return TACIT_OK;
}

tacit_status plan_make_world(const plan_looking *self, tacit_world *out, size_t rows, size_t parties,
                             size_t draw, tacit_error *error) {
    size_t train = played(self, rows, parties), tests = self->effort.tests;
    const tacit_dataset *given = self->belief.rows;
    /* Of given rows as many are tested on as are left over, if that is enough to tell. */
    if (given != NULL && !tacit_belief_has(&self->belief, train, tests) &&
        tacit_belief_has(&self->belief, train, 300))
        tests = given->rows - train;
    TACIT_TRY(tacit_world_make(out, &self->belief, train, tests, self->request->seed, draw, error));
    bool known = !isnan(out->limit[TACIT_BELIEF_LOG_LOSS]) || !isnan(out->limit[TACIT_BELIEF_DEVIANCE]);
    return train < rows && !known ? find_limit(self, out, error) : TACIT_OK;
}
