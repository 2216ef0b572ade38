/*
 * histogram: an M-estimator from noisy counts of cells (Lei 2011; Wang 2018, 2.3.4, equations 2.19 and 2.20),
 * for at most four columns.
 *
 *   all:          a public grid (histogram_grid.h): m equal cells along each number, a cell for each level of
 *                 a category (and one for none); of the label its classes, or cells between its bounds
 *   party k:      n_rk = how many of its rows lie in cell r of columns and label
 *   coordinator:  n_r = sum_k n_rk;  publishes n_r + z_r,  z_r discrete Laplace of scale 2/epsilon
 *                 w = argmin (1/N) sum_r c_r loss(w; x_r, y_r) + (lambda/2)|w|^2,  x_r and y_r the center,
 *                                                            c_r >= 0 made of n_r + z_r, N their sum
 *
 * The loss is the label's: logistic or softmax of classes, half the square of a number's residual,
 * Poisson's of a count; with loss=huber one of bounded slope, so that rows that noise made up, or that lie
 * far away, pull no harder than others: Huber's hinge of two classes, the clipped residuals of
 * method/bounded_label.h of numbers (Huber 1964) and counts.
 *
 * Proof note. Adjacency: replace one row of a party (unit record), label and all. Whatever its label, a row
 *   lies in exactly one cell of columns and label: a value beyond the bounds, or none, is in an outer one. So
 *   one count falls by 1 and one rises by 1, and the vector of counts moves by at most 2 in L1 norm, whatever
 *   the number of parties, cells and rows. Discrete Laplace noise of scale 2/epsilon on each count makes it
 *   epsilon-DP (integer.h; the paper's Laplace noise has density (epsilon/4) exp(-epsilon |z|/2), the same
 *   scale). Counts are integers, so nothing is rounded. What becomes of negative counts, the loss and the fit
 *   see only what is published: post-processing, which needs no bound on any slope. The grid depends on the
 *   schema and on declared numbers alone.
 *
 * noise=shares: each party adds to its counts Polya shares of that noise, and only the sum is seen
 * (privacy/mechanism/shares.h). At least
 *   m = survivors - colluders of the shares in it are unknown to whoever looks, and m of them add up to
 *   discrete Laplace noise of scale 2/epsilon exactly: epsilon-DP. With all n parties in it the variance is
 *   n/m times that.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/bounded_label.h"
#include "method/tables/histogram_grid.h"
#include "privacy/mechanism/shares.h"
#include "session/party.h"
#include "session/session.h"

static const double MOST_ROWS = 4294967296.0; /* of one party */

static const histogram_settings defaults = { .noise = HISTOGRAM_BY_COORDINATOR,
                                             .negative = HISTOGRAM_PROJECT,
                                             .minimised = BOUNDED_CHOICE_DEFAULT };

static const tacit_parameter parameters[] = {
    TACIT_OPEN_COUNT(histogram_settings, cells, "cells", 1000, "along each number",
                     "from epsilon, the declared rows and the number of columns"),
    TACIT_CHOICE(histogram_settings, noise, "noise", "coordinator|shares",
                 "who adds it: a coordinator entrusted with the counts, or each party a share, which secure "
                 "summation adds up"),
    TACIT_CHOICE(
        histogram_settings, negative, "negative", "project|clip",
        "counts below 0 by noise: taken off the others so that the total stays, or set to 0 as in the paper"),
    TACIT_LATER_OPEN_COUNT(
        histogram_settings, label_cells, "label_cells", 1000000, "0",
        "over a label that is a number, or a count, which has one for each value at most",
        "one for each value of a count of few values, else as many as are chosen along a number"),
    BOUNDED_CHOICE_PARAMETERS(
        histogram_settings, minimised,
        "what is minimised: by the label (logistic, softmax, squares for numbers, Poisson "
        "for counts), or what makes outliers count for less (Huber's hinge for two classes, "
        "clipped residuals of numbers and counts)"),
    TACIT_SETTINGS_END,
};

static const histogram_settings *settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(histogram_settings, plan);
}

static bool by_shares(const tacit_plan *plan) { return settings_of(plan)->noise == HISTOGRAM_BY_SHARES; }

static tacit_status prepare(const tacit_plan *plan, void *grid, tacit_error *error) {
    if (plan->minimum_rows == 0)
        return tacit_fail(error, TACIT_USAGE,
                          "method histogram needs the minimum rows of a party, at least 1");
    return histogram_make_grid(grid, plan, error);
}

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    return bounded_check_choice(plan, settings_of(plan)->minimised, error);
}

/* The noise does not depend on lambda, so that it need not be large; on the grid of docs/methods/histogram.md
 * less than this changes little. Classes keep the usual one. */
static tacit_status choose_lambda(const tacit_plan *plan, double *out, tacit_error *error) {
    (void)error;
    if (plan->classes == 0) *out = 1e-4;
    return TACIT_OK;
}

static tacit_mechanism mechanism(const tacit_plan *plan) {
    return (tacit_mechanism){ TACIT_LAW_DISCRETE_LAPLACE, 2, { TACIT_UNIT_RECORD, plan->epsilon, 0 } };
}

static tacit_shared_noise shared_noise(const tacit_plan *plan, size_t length) {
    const tacit_mechanism whole = mechanism(plan);
    return (tacit_shared_noise){ .law = TACIT_LAW_POLYA,
                                 .sensitivity = whole.sensitivity,
                                 .price = whole.price,
                                 .shares = tacit_plan_noise_shares(plan),
                                 .length = length,
                                 .runs = 1 };
}

static tacit_sum_spec sum_spec(const histogram_grid *grid) {
    return (tacit_sum_spec){ histogram_counts(grid), MOST_ROWS, 0 };
}

static tacit_status price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                          tacit_error *error) {
    (void)prepared;
    (void)error;
    out->charged = out->claimed = (tacit_price){ TACIT_UNIT_RECORD, plan->epsilon, 0 };
    return TACIT_OK;
}

static tacit_release_kind release_kind(const tacit_plan *plan) {
    return by_shares(plan) ? TACIT_RELEASE_SEALED : TACIT_RELEASE_ENTRUSTED;
}

/* Discrete Laplace of scale s has variance 2p/(1 - p)^2, p = exp(-1/s). The norm is that of the noise on the
 * counts; n parties add n shares of which m would do. */
static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    histogram_grid grid;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &grid, error));
    double scale = 2 / plan->epsilon, p = exp(-1 / scale), counts = (double)histogram_counts(&grid);
    bool shares = by_shares(plan);
    if (shares) counts *= (double)plan->parties / (double)tacit_plan_noise_shares(plan);
    *out = (tacit_noise_law){
        .law = shares ? "Polya shares, of which enough for discrete Laplace of scale s are in the sum"
                      : "discrete Laplace of scale s",
        .added_to = "each count",
        .dimension = histogram_counts(&grid),
        .sensitivity = sqrt(2), /* in L2 norm; 2 in L1 norm, which the scale is for */
        .scale = scale,
        .mean_norm = sqrt(counts * 2 * p) / (1 - p),
        .norm_in = "the counts",
    };
    return TACIT_OK;
}

/* ---- the party's half ---- */

typedef struct counting {
    const histogram_grid *grid;
    bool numeric; /* the label */
    double *row, *counts;
} counting;

static tacit_status count_block(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    const counting *self = context;
    (void)first;
    (void)error;
    for (size_t i = 0; i < block->rows.count; i++) {
        tacit_rows_copy(&block->rows, i, self->row);
        const size_t label = self->numeric ? histogram_label_cell(self->grid, tacit_view_response(block, i))
                                           : (size_t)tacit_view_label(block, i);
        self->counts[histogram_cell_of(self->grid, self->row) * self->grid->labels + label]++;
    }
    return TACIT_OK;
}

/* Counts are whole numbers; a share is one too. */
static tacit_status add_share(tacit_party *party, const tacit_sum_spec *spec, tacit_reply *reply,
                              tacit_error *error) {
    const tacit_shared_noise noise = shared_noise(party->plan, spec->length);
    int64_t *steps = TACIT_NEW(int64_t, spec->length);
    if (steps == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_sum_quantise(spec, reply->contribution, steps, error);
    if (status == TACIT_OK)
        status = tacit_share_add(&reply->noised, &party->noise, &noise, steps, spec->grid_bits, error);
    free(steps);
    free(reply->contribution);
    reply->contribution = NULL;
    reply->assumption = "secure summation: only the sum is seen, with enough shares of the noise in it";
    return status;
}

static tacit_status answer_counts(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    const tacit_plan *plan = party->plan;
    const int64_t *along;
    histogram_grid grid;
    TACIT_TRY(tacit_party_prepared(party, &grid, error));
    tacit_sum_spec spec = sum_spec(&grid);
    TACIT_TRY(tacit_message_integers(question->message, "cells", 1, &along, error));
    if (!question->wants_sum || !tacit_sum_spec_equal(&question->sum, &spec) || *along != (int64_t)grid.along)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for another grid than the study defines");
    reply->kind = release_kind(plan);
    reply->noise = isinf(plan->epsilon) ? TACIT_NOISE_NONE : tacit_noise_source_grade(&party->noise);
    reply->price = mechanism(plan).price;
    reply->contribution = TACIT_NEW(double, spec.length);
    counting self = { &grid, plan->classes == 0, TACIT_NEW(double, plan->features), reply->contribution };
    tacit_status status = self.row != NULL && self.counts != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK) status = tacit_dataset_map(&party->rows, 0, count_block, &self, error);
    if (status == TACIT_OK && party->reducer != NULL)
        status = party->reducer->sum(party->reducer->context, reply->contribution, spec.length, error);
    free(self.row);
    if (status == TACIT_OK && by_shares(plan)) status = add_share(party, &spec, reply, error);
    return status;
}

/* ---- the coordinator's half ---- */

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The nearest counts >= 0 of the same total, max(0, c_r - t): setting counts below 0 to 0 alone adds rows
 * that nobody has, spread over all empty cells. t is found from the largest counts on. */
static tacit_status project(double *counts, size_t length, tacit_error *error) {
    double *sorted = TACIT_NEW(double, length), total = 0, sum = 0, shift = 0;
    if (sorted == NULL) return tacit_fail_memory(error);
    for (size_t r = 0; r < length; r++) total += sorted[r] = counts[r];
    total = fmax(1, total);
    qsort(sorted, length, sizeof *sorted, descending);
    for (size_t r = 0; r < length; r++) {
        sum += sorted[r];
        double candidate = (sum - total) / (double)(r + 1);
        if (sorted[r] > candidate) shift = candidate;
    }
    for (size_t r = 0; r < length; r++) counts[r] = fmax(0, counts[r] - shift);
    free(sorted);
    return TACIT_OK;
}

/* The cells whose count is above 0, as rows: their centers, labels, and shares of all. */
typedef struct centers {
    tacit_matrix x;
    int32_t *label;
    double *response; /* of a label that is no class */
    double *weight;
    size_t count;
} centers;

static void centers_clear(centers *self) {
    tacit_matrix_clear(&self->x);
    free(self->label);
    free(self->response);
    free(self->weight);
}

/* None at all where no count is above 0. */
static tacit_status centers_make(centers *out, const tacit_plan *plan, const histogram_grid *grid,
                                 const double *counts, tacit_error *error) {
    const size_t length = histogram_counts(grid), labels = grid->labels;
    double total = 0;
    for (size_t r = 0; r < length; r++) {
        out->count += counts[r] > 0;
        total += fmax(0, counts[r]);
    }
    if (out->count == 0) return TACIT_OK;
    out->weight = TACIT_NEW(double, out->count);
    if (plan->classes > 0)
        out->label = TACIT_NEW(int32_t, out->count);
    else
        out->response = TACIT_NEW(double, out->count);
    if (out->weight == NULL || (out->label == NULL && out->response == NULL)) return tacit_fail_memory(error);
    TACIT_TRY(tacit_matrix_create(&out->x, out->count, plan->features, error));
    for (size_t r = 0, at = 0; r < length; r++) {
        if (!(counts[r] > 0)) continue;
        histogram_center_of(grid, r / labels, plan->features, out->x.values + at * plan->features);
        if (out->label != NULL)
            out->label[at] = (int32_t)(r % labels);
        else
            out->response[at] = histogram_label_center(grid, r % labels);
        out->weight[at++] = counts[r] / total;
    }
    return TACIT_OK;
}

/* Whether a residual is beyond what a clipped loss leaves as it is. */
static bool clips(const centers *self, const tacit_glm_problem *problem, bool counts, const double *weights) {
    for (size_t i = 0; i < self->count; i++) {
        const double t = tacit_rows_dot(&problem->x, i, weights), y = self->response[i];
        if (counts ? fabs(exp(t) - y) > sqrt(problem->shape) : fabs(t - y / problem->shape) > 0.5)
            return true;
    }
    return false;
}

/* Squares and Poisson's loss have no bound on their slope, which the solver wants. Their clipped forms, in
 * units of a scale s or divided by sqrt(H), have one and are the same loss up to where they clip: at an s
 * or H so large that no residual at their minimum is clipped this is the minimum of the loss itself, which
 * is convex and, with lambda, has no other. */
static tacit_status fit_unclipped(const centers *self, tacit_glm_problem *problem,
                                  const tacit_glm_settings *settings, double most, tacit_model *model,
                                  tacit_error *error) {
    enum { MOST_TRIES = 12 };
    const bool counts = !model->family->quadratic;
    const double lambda = problem->lambda;
    const size_t size = tacit_model_size(model);
    tacit_glm_fit fit;
    problem->shape = counts ? 4 * (most + 1) * (most + 1) : 4 * most;
    for (int tries = 0; tries < MOST_TRIES; tries++, problem->shape *= 16) {
        memset(model->weights, 0, size * sizeof *model->weights);
        problem->lambda = counts ? lambda / sqrt(problem->shape) : lambda;
        TACIT_TRY(tacit_glm_solve(problem, settings, model->weights, &fit, error));
        if (!clips(self, problem, counts, model->weights)) break;
    }
    for (size_t j = 0; !counts && j < size; j++) model->weights[j] *= problem->shape;
    return TACIT_OK;
}

/* The weighted fit at the centers. */
static tacit_status fit_centers(tacit_session *session, const centers *self, tacit_model *model, double unit,
                                tacit_error *error) {
    const tacit_plan *plan = session->plan;
    const bounded_choice choice = settings_of(plan)->minimised;
    const size_t size = tacit_model_size(model);
    tacit_glm_problem problem = { .loss = &bounded_family_by(plan, choice)->loss,
                                  .x = tacit_rows_of_matrix(&self->x),
                                  .label = self->label,
                                  .response = self->response,
                                  .weight = self->weight,
                                  .classes = plan->classes,
                                  .shape = bounded_shape_by(plan, choice),
                                  .lambda = plan->lambda };
    tacit_glm_settings settings = tacit_glm_defaults();
    tacit_glm_fit fit;
    settings.best_effort = true; /* post-processing: no theorem rests on it */
    settings.pool = session->pool;
    settings.progress = session->progress;
    if (self->count == 0) return TACIT_OK; /* only the regulariser is left, and weights of 0 */
    if (plan->classes == 0) settings.gradient_tolerance = 1e-10; /* of scaled losses */
    if (plan->classes == 0 && choice.loss == BOUNDED_OF_LABEL)
        return fit_unclipped(self, &problem, &settings, bounded_shape(plan), model, error);
    TACIT_TRY(tacit_glm_solve(&problem, &settings, model->weights, &fit, error));
    for (size_t j = 0; j < size; j++) model->weights[j] *= unit;
    return TACIT_OK;
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_mechanism discrete_laplace = mechanism(plan);
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_model *model = NULL;
    centers made = { .count = 0 };
    histogram_grid grid;
    double unit = 1;
    tacit_status status;
    TACIT_CHECK(tacit_session_prepared(session, &grid, error));
    tacit_sum_spec spec = sum_spec(&grid);
    TACIT_CHECK(tacit_message_add_integers(&message, "cells", &(int64_t){ (int64_t)grid.along }, 1, error));
    TACIT_CHECK(tacit_ask_sum(session, "counts", &message, &spec, &sum, error));
    if (by_shares(plan))
        tacit_session_notify(session, sum.values, spec.length);
    else
        TACIT_CHECK(tacit_session_release(session, &discrete_laplace, sum.values, spec.length, 0, 0x1p61,
                                          sum.values, error));
    TACIT_CHECK(bounded_model(&model, plan, settings_of(plan)->minimised, &unit, error));
    if (settings_of(plan)->negative == HISTOGRAM_PROJECT)
        TACIT_CHECK(project(sum.values, spec.length, error));
    TACIT_CHECK(centers_make(&made, plan, &grid, sum.values, error));
    TACIT_CHECK(fit_centers(session, &made, model, unit, error));
    out->parties = sum.parties;
    status = tacit_outcome_add(out, model, error);
    model = NULL;
cleanup:
    centers_clear(&made);
    tacit_model_free(model);
    tacit_message_clear(&message);
    tacit_sum_clear(&sum);
    return status;
}

static const tacit_handler_entry handlers[] = {
    { .question = "counts", .answer = answer_counts, .repeatable = true },
    { .question = NULL },
};

const tacit_method tacit_method_histogram = {
    .name = "histogram",
    .title = "a model from noisy counts of rows in cells, for at most four columns",
    .reference = "Lei 2011; Wang 2018, 2.3.4",
    .version = 1,
    .units = "record",
    .takes_numbers = true,
    .spreads = true,
    .most_columns = HISTOGRAM_MOST_AXES,
    .terms = TACIT_TERMS_NONE,
    TACIT_SETTINGS_OF(parameters, defaults),
    .shares_noise = by_shares,
    .leaves =
        "how many of the party's rows lie in each cell of a public grid of columns and label[noise=shares: , "
        "with the party's share of the noise added], as one contribution to a sum",
    .seen_by =
        "[noise=coordinator,sees=sum: the coordinator sees the exact counts of all parties' rows together, "
        "and no single party's][noise=coordinator,sees=each: the coordinator sees each party's exact "
        "counts][noise=shares: the coordinator sees the counts of all parties' rows together, with the noise "
        "in them, and no single party's]. Everybody sees the final model, and may see the noisy counts",
    .guarantee =
        "epsilon-differential privacy (delta = 0) for replacing one row of a party, towards everybody who "
        "sees the noisy counts or the model[noise=shares: , the coordinator included][noise=coordinator: . "
        "There is no such guarantee towards the coordinator, which sees exact counts]",
    .assumption =
        "[noise=coordinator: the coordinator adds the noise, publishes only noisy results and keeps the "
        "exact counts to itself][noise=shares: secure summation, and that no more parties vanish from the "
        "sum or collude than the study declares]; the grid comes from the public schema and declared numbers",
    .theorem = "discrete Laplace noise of scale 2/epsilon on each count: replacing a row moves two counts by "
               "1 each, 2 in L1 norm (Ghosh, Roughgarden and Sundararajan 2009), or Polya shares of it "
               "(Goryczka and Xiong 2017); negative counts and fit are post-processing",
    .claim = "the same epsilon, with continuous Laplace noise of the same scale",
    .caveats = "the error of the grid shrinks slowly with more rows and the faster the fewer the columns: "
               "n^(-2/(2 + d)), d the columns that are numbers, and one more where the label is cut up like "
               "them. With negative=clip empty cells are favoured, which pulls the weights towards "
               "0 where cells are many and rows few",
    .prepare = prepare,
    .check = check,
    .choose_lambda = choose_lambda,
    .lambda_rule = ".01 for classes and .0001 for numbers and counts: the noise does not depend on it",
    .prepared_size = sizeof(histogram_grid),
    .price = price,
    .noise = noise_law,
    .release_kind = release_kind,
    .exchanges = tacit_one_exchange,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
