/*
 * histogram: an M-estimator from noisy counts of cells (Lei 2011; Wang 2018, 2.3.4, equations 2.19 and 2.20),
 * for at most four columns.
 *
 *   all:          a public grid: m equal cells along each number, a cell for each level of a category (and
 *                 one for none)
 *   party k:      n_rk = how many of its rows of each class lie in cell r
 *   coordinator:  n_r = sum_k n_rk;  publishes n_r + z_r,  z_r discrete Laplace of scale 2/epsilon
 *                 w = argmin (1/N) sum_r c_r loss(w; x_r) + (lambda/2)|w|^2,  x_r the center, c_r >= 0 made
 *                                                                             of n_r + z_r,
 *                 N their sum
 *
 * Proof note. Adjacency: replace one row of a party (unit record). One count falls by 1 and one rises by 1,
 * so the vector
 *   of counts over cells and classes moves by at most 2 in L1 norm, whatever the number of parties, cells and
 *   rows. Discrete Laplace noise of scale 2/epsilon on each count makes it epsilon-DP (integer.h; the paper's
 *   Laplace noise has density (epsilon/4) exp(-epsilon |z|/2), the same scale). Counts are integers, so
 *   nothing is rounded. What becomes of negative counts, and the fit, see only what is published:
 *   post-processing. The grid depends on the schema and on declared numbers alone.
 *
 * noise=shares: each party adds to its counts Polya shares of that noise, and only the sum is seen
 * (privacy/mechanism/shares.h). At least
 *   m = survivors - colluders of the shares in it are unknown to whoever looks, and m of them add up to
 *   discrete Laplace noise of scale 2/epsilon exactly: epsilon-DP. With all n parties in it the variance is
 *   n/m times that.
 *
 * Cells. A cell of width h moves a row by up to h, and the noise of the h^-d cells, each of standard
 * deviation near
 *   2 sqrt(2)/epsilon, adds up to h^(-d/2) times that over n in the objective. They balance at the paper's
 *   rate (2.21),
 *     h = (c sqrt(log n)/n)^(2/(2 + d)),
 *   n = parties x minimum rows, d the number of columns that are numbers; the paper leaves c open, and here
 *   it is max(1, 2 sqrt(2)/epsilon). m = ceil(1/h), fewer where the grid would have more than 2^20 counts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/encode.h"
#include "method/tables/histogram.h"
#include "privacy/mechanism/shares.h"
#include "session/party.h"
#include "session/session.h"

enum { MOST_AXES = 4, MOST_COUNTS = 1 << 20 };

static const double MOST_ROWS = 4294967296.0; /* of one party */

static const histogram_settings defaults = { .noise = HISTOGRAM_BY_COORDINATOR,
                                             .negative = HISTOGRAM_PROJECT };

static const tacit_parameter parameters[] = {
    TACIT_OPEN_COUNT(histogram_settings, cells, "cells", 1000, "along each number",
                     "from epsilon, the declared rows and the number of columns"),
    TACIT_CHOICE(histogram_settings, noise, "noise", "coordinator|shares",
                 "who adds it: a coordinator entrusted with the counts, or each party a share, which secure "
                 "summation adds up"),
    TACIT_CHOICE(
        histogram_settings, negative, "negative", "project|clip",
        "counts below 0 by noise: taken off the others so that the total stays, or set to 0 as in the paper"),
    TACIT_SETTINGS_END,
};

static const histogram_settings *settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(histogram_settings, plan);
}

static bool by_shares(const tacit_plan *plan) { return settings_of(plan)->noise == HISTOGRAM_BY_SHARES; }

/* A column of the grid: features from `first`; a number within [-reach, reach], or a category. */
typedef struct axis {
    size_t first, cells;
    bool number;
    double reach; /* of a number; of a level, its value */
} axis;

typedef struct cell_grid {
    size_t axes, cells; /* cells: of all axes together */
    axis axis[MOST_AXES];
    double intercept; /* the last feature's value; 0: none */
    size_t along;     /* cells along a number */
} cell_grid;

/* ---- the public grid ---- */

static tacit_status too_many(size_t columns, tacit_error *error) {
    return tacit_fail(error, TACIT_USAGE,
                      "method histogram counts cells and works for at most %d columns, and there are %zu: "
                      "skip some in the schema, or choose another method",
                      MOST_AXES, columns);
}

static tacit_status axes_of_schema(cell_grid *out, const tacit_schema *schema, tacit_error *error) {
    size_t features = tacit_schema_features(schema), columns = 0;
    if (schema->sparse > 0) return too_many(schema->sparse, error);
    for (size_t i = 0; i < schema->cols; i++) columns += schema->columns[i].kind != TACIT_SCHEMA_SKIP;
    if (columns > MOST_AXES) return too_many(columns, error);
    tacit_feature *feature = TACIT_NEW(tacit_feature, features);
    if (feature == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_schema_linear(schema, feature, error);
    for (size_t j = 0; j < features && status == TACIT_OK; j++) {
        const tacit_feature *one = &feature[j];
        if (one->column == SIZE_MAX) {
            out->intercept = one->scale;
            continue;
        }
        const tacit_schema_column *column = &schema->columns[one->column];
        if (column->sd > 0)
            status = tacit_fail(error, TACIT_USAGE,
                                "method histogram cuts the range from low to high into cells of equal width: "
                                "column '%s' must have no mean and sd",
                                column->name);
        if (one->missing)
            status = tacit_fail(error, TACIT_USAGE,
                                "method histogram has no cell for missing numbers: give column '%s' another "
                                "missing than indicator",
                                column->name);
        if (one->level == SIZE_MAX)
            out->axis[out->axes++] =
                (axis){ .first = j, .number = true, .reach = one->scale * (column->high - column->low) / 2 };
        else if (one->level == 0)
            out->axis[out->axes++] = (axis){ j, tacit_schema_column_levels(column) + 1, false, one->scale };
    }
    free(feature);
    return status;
}

/* Rows without a schema: every feature is a number in [-1, 1]. */
static tacit_status axes_of_features(cell_grid *out, size_t features, tacit_error *error) {
    if (features > MOST_AXES) return too_many(features, error);
    for (size_t j = 0; j < features; j++)
        out->axis[out->axes++] = (axis){ .first = j, .number = true, .reach = 1 };
    return TACIT_OK;
}

/* m of the header. */
static size_t cells_along(const tacit_plan *plan, size_t numbers, double room) {
    double n = fmax(2, tacit_plan_expected_rows(plan)), d = (double)numbers;
    if (settings_of(plan)->cells > 0) return settings_of(plan)->cells;
    double width = pow(fmax(1, 2 * sqrt(2) / plan->epsilon) * sqrt(log(n)) / n, 2 / (2 + d));
    return (size_t)fmax(1, fmin(ceil(1 / width), floor(pow(room, 1 / fmax(1, d)) * (1 + 1e-12))));
}

static tacit_status make_grid(cell_grid *out, const tacit_plan *plan, tacit_error *error) {
    *out = (cell_grid){ .axes = 0 };
    if (plan->schema != NULL)
        TACIT_TRY(axes_of_schema(out, plan->schema, error));
    else
        TACIT_TRY(axes_of_features(out, plan->features, error));
    size_t numbers = 0;
    double total = (double)plan->classes;
    for (size_t a = 0; a < out->axes; a++) {
        numbers += out->axis[a].number;
        if (!out->axis[a].number) total *= (double)out->axis[a].cells;
    }
    out->along = cells_along(plan, numbers, MOST_COUNTS / total);
    for (size_t a = 0; a < out->axes; a++) {
        if (!out->axis[a].number) continue;
        out->axis[a].cells = out->along;
        total *= (double)out->along;
    }
    if (total > MOST_COUNTS)
        return tacit_fail(error, TACIT_USAGE,
                          "the grid has %.0f counts, more than the %d that method histogram takes: have "
                          "fewer cells, levels or columns",
                          total, MOST_COUNTS);
    out->cells = (size_t)total / plan->classes;
    return TACIT_OK;
}

/* Which cell an encoded row lies in. */
static size_t cell_of(const cell_grid *grid, const double *x) {
    size_t cell = 0;
    for (size_t a = 0; a < grid->axes; a++) {
        const axis *one = &grid->axis[a];
        size_t at = one->cells - 1; /* of a category: no level */
        if (one->number) {
            double place = (x[one->first] / one->reach + 1) / 2 * (double)one->cells;
            at = (size_t)fmin(fmax(place, 0), (double)at);
        } else {
            for (size_t k = 0; k + 1 < one->cells; k++)
                if (x[one->first + k] > 0) at = k;
        }
        cell = cell * one->cells + at;
    }
    return cell;
}

/* The encoded center of a cell. */
static void center_of(const cell_grid *grid, size_t cell, size_t features, double *x) {
    memset(x, 0, features * sizeof *x);
    for (size_t a = grid->axes; a-- > 0;) {
        const axis *one = &grid->axis[a];
        size_t at = cell % one->cells;
        cell /= one->cells;
        if (one->number)
            x[one->first] = one->reach * ((2 * (double)at + 1) / (double)one->cells - 1);
        else if (at + 1 < one->cells)
            x[one->first + at] = one->reach;
    }
    if (grid->intercept > 0) x[features - 1] = grid->intercept;
}

static tacit_status prepare(const tacit_plan *plan, void *grid, tacit_error *error) {
    if (plan->minimum_rows == 0)
        return tacit_fail(error, TACIT_USAGE,
                          "method histogram needs the minimum rows of a party, at least 1");
    return make_grid(grid, plan, error);
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

static tacit_sum_spec sum_spec(const cell_grid *grid, const tacit_plan *plan) {
    return (tacit_sum_spec){ grid->cells * plan->classes, MOST_ROWS, 0 };
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
    cell_grid grid;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &grid, error));
    double scale = 2 / plan->epsilon, p = exp(-1 / scale), counts = (double)(grid.cells * plan->classes);
    bool shares = by_shares(plan);
    if (shares) counts *= (double)plan->parties / (double)tacit_plan_noise_shares(plan);
    *out = (tacit_noise_law){
        .law = shares ? "Polya shares, of which enough for discrete Laplace of scale s are in the sum"
                      : "discrete Laplace of scale s",
        .added_to = "each count",
        .dimension = grid.cells * plan->classes,
        .sensitivity = sqrt(2), /* in L2 norm; 2 in L1 norm, which the scale is for */
        .scale = scale,
        .mean_norm = sqrt(counts * 2 * p) / (1 - p),
        .norm_in = "the counts",
    };
    return TACIT_OK;
}

/* ---- the party's half ---- */

typedef struct counting {
    const cell_grid *grid;
    size_t classes;
    double *row, *counts;
} counting;

static tacit_status count_block(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    const counting *self = context;
    (void)first;
    (void)error;
    for (size_t i = 0; i < block->rows.count; i++) {
        tacit_rows_copy(&block->rows, i, self->row);
        self->counts[cell_of(self->grid, self->row) * self->classes + (size_t)tacit_view_label(block, i)]++;
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
    cell_grid grid;
    TACIT_TRY(tacit_party_prepared(party, &grid, error));
    tacit_sum_spec spec = sum_spec(&grid, plan);
    TACIT_TRY(tacit_message_integers(question->message, "cells", 1, &along, error));
    if (!question->wants_sum || !tacit_sum_spec_equal(&question->sum, &spec) || *along != (int64_t)grid.along)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for another grid than the study defines");
    reply->kind = release_kind(plan);
    reply->noise = isinf(plan->epsilon) ? TACIT_NOISE_NONE : tacit_noise_source_grade(&party->noise);
    reply->price = mechanism(plan).price;
    reply->contribution = TACIT_NEW(double, spec.length);
    counting self = { &grid, plan->classes, TACIT_NEW(double, plan->features), reply->contribution };
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

/* The weighted fit at the centers of the cells whose noisy count is above 0. */
static tacit_status fit_centers(tacit_session *session, const cell_grid *grid, const double *counts,
                                tacit_model *model, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    size_t length = grid->cells * plan->classes, used = 0;
    double total = 0;
    for (size_t r = 0; r < length; r++) {
        used += counts[r] > 0;
        total += fmax(0, counts[r]);
    }
    if (used == 0) return TACIT_OK; /* only the regulariser is left, and weights of 0 */
    tacit_matrix centers = TACIT_MATRIX_INIT;
    int32_t *label = TACIT_NEW(int32_t, used);
    double *weight = TACIT_NEW(double, used);
    tacit_status status = label != NULL && weight != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(tacit_matrix_create(&centers, used, plan->features, error));
    for (size_t r = 0, at = 0; r < length; r++) {
        if (!(counts[r] > 0)) continue;
        center_of(grid, r / plan->classes, plan->features, centers.values + at * plan->features);
        label[at] = (int32_t)(r % plan->classes);
        weight[at++] = counts[r] / total;
    }
    tacit_glm_problem problem = { .loss = &model->family->loss,
                                  .x = tacit_rows_of_matrix(&centers),
                                  .label = label,
                                  .weight = weight,
                                  .classes = plan->classes,
                                  .lambda = plan->lambda };
    tacit_glm_settings settings = tacit_glm_defaults();
    settings.best_effort = true; /* post-processing: no theorem rests on it */
    settings.pool = session->pool;
    settings.progress = session->progress;
    tacit_glm_fit fit;
    TACIT_CHECK(tacit_glm_solve(&problem, &settings, model->weights, &fit, error));
cleanup:
    tacit_matrix_clear(&centers);
    free(label);
    free(weight);
    return status;
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_mechanism discrete_laplace = mechanism(plan);
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_model *model = NULL;
    cell_grid grid;
    tacit_status status;
    TACIT_CHECK(tacit_session_prepared(session, &grid, error));
    tacit_sum_spec spec = sum_spec(&grid, plan);
    TACIT_CHECK(tacit_message_add_integers(&message, "cells", &(int64_t){ (int64_t)grid.along }, 1, error));
    TACIT_CHECK(tacit_ask_sum(session, "counts", &message, &spec, &sum, error));
    if (by_shares(plan))
        tacit_session_notify(session, sum.values, spec.length);
    else
        TACIT_CHECK(tacit_session_release(session, &discrete_laplace, sum.values, spec.length, 0, 0x1p61,
                                          sum.values, error));
    TACIT_CHECK(
        tacit_model_create(&model, tacit_family_for(plan->classes), plan->features, plan->classes, error));
    if (settings_of(plan)->negative == HISTOGRAM_PROJECT)
        TACIT_CHECK(project(sum.values, spec.length, error));
    TACIT_CHECK(fit_centers(session, &grid, sum.values, model, error));
    out->parties = sum.parties;
    status = tacit_outcome_add(out, model, error);
    model = NULL;
cleanup:
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
    .title = "a classifier from noisy counts of rows in cells, for at most four columns",
    .reference = "Lei 2011; Wang 2018, 2.3.4",
    .version = 1,
    .units = "record",
    .spreads = true,
    .most_columns = MOST_AXES,
    .terms = TACIT_TERMS_NONE,
    TACIT_SETTINGS_OF(parameters, defaults),
    .shares_noise = by_shares,
    .leaves = "how many of the party's rows of each class lie in each cell of a public grid[noise=shares: , "
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
               "n^(-2/(2 + d)). With negative=clip empty cells are favoured, which pulls the weights towards "
               "0 where cells are many and rows few",
    .prepare = prepare,
    .prepared_size = sizeof(cell_grid),
    .price = price,
    .noise = noise_law,
    .release_kind = release_kind,
    .exchanges = tacit_one_exchange,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
