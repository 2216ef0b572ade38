/*
 * dpiw: private importance weights (Ji and Elkan 2013; Wang 2018, Algorithm 5). Each party tells its rows X
 * from the public points P by a logistic regression, and adds noise to its weights; the odds make P look like
 * X.
 *
 *   party k:      beta_k = argmin (1/N_X) sum_X log(1 + exp(-beta.x)) + (1/N_P) sum_P log(1 + exp(beta.x))
 *                          + (lambda_IW/2)|beta|^2
 *                 answers beta_k + b_k,  b_k ~ G(d, S/epsilon) or N(0, s^2)
 *   coordinator:  the mean of the answers; w(x) = N_P exp(beta.x)/Z for each x in P
 *
 * Proof note. Adjacency: one row of X is replaced; N_X stays, P is public. The objective is lambda-strongly
 * convex, and at any beta the gradients of the two objectives differ by (1/N_X)(a x - a' x') with a, a' in
 * (0, 1), the logistic slopes. The norm of that is convex in (a, a'), so at most max(|x|, |x'|, |x - x'|) =:
 * c, and the minimisers differ by c/(N_X lambda):
 *
 *     |x| <= 1 (every schema)                       c = 2
 *     and no feature negative: x.x' >= 0            c = sqrt(2)     |x - x'|^2 = |x|^2 + |x'|^2 - 2 x.x'
 *     with an intercept, x = (u, 1)/sqrt(2):        |x - x'| = |u - u'|/sqrt(2) while |x| <= 1, so c =
 *                                                   sqrt(2) and 1
 *     features in [0, 1], any norm (`paper`)        c = sqrt(d)
 *
 * project=public:P mixes signs, so c = 2 there. `paper` takes sqrt(d), or the smallest of the above where
 * that is less than proved. No minimiser is longer than w_max: lambda |beta|^2 = -beta.gradient <= 2 max_t
 * t/(1 + e^t) = 2 W(1/e) (both sides are averages), and |beta| <= 2/lambda; so S = min(c/(N_X lambda), 2
 * w_max) + 2g/lambda, g the gradient norm that the solver certifies on every input. The weights w are
 * post-processing of beta_k + b_k and P.
 *
 * Deviations from the box: c as proved for the schema instead of sqrt(d) (calibration=paper), the bound
 * w_max, Gaussian noise as a choice (law), project=public:P, and the certified solver.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/transfer/transfer.h"
#include "num/special.h"
#include "session/prepared.h"

static const transfer_settings defaults = TRANSFER_DEFAULTS;
static const tacit_parameter parameters[] = { TRANSFER_PARAMETERS, TACIT_SETTINGS_END };

static double lambda_of(const tacit_plan *plan) { return transfer_settings_of(plan)->lambda_iw; }

/* c of the proof note, the smallest that the schema proves. */
static double reach(const tacit_plan *plan) {
    const tacit_schema *schema = plan->schema;
    bool projected =
        transfer_size(plan) != plan->features || strcmp(transfer_settings_of(plan)->project, "none") != 0;
    double c = 2;
    if (!projected && schema != NULL) {
        if (tacit_schema_nonnegative(schema)) c = M_SQRT2;
        if (schema->intercept) c = fmax(1, c * M_SQRT1_2);
    }
    if (transfer_calibration(plan) == TACIT_CALIBRATION_PAPER) c = fmax(c, sqrt((double)transfer_size(plan)));
    return c;
}

static double largest(const tacit_plan *plan) {
    double lambda = lambda_of(plan), pull = 2 * tacit_lambert_w(1 / M_E) * (1 + 1e-12);
    return fmin(2 / lambda, sqrt(pull / lambda)) * (1 + 1e-12);
}

/* g: public, and reached on every input. Rows and points each have the weight 1. */
static double tolerance(const tacit_plan *plan) {
    return tacit_fit_tolerance(transfer_size(plan), 2, 0.25, 2, 0, largest(plan));
}

double dpiw_sensitivity(const tacit_plan *plan, size_t rows) {
    double shift = reach(plan) / ((double)rows * lambda_of(plan));
    if (transfer_calibration(plan) == TACIT_CALIBRATION_TIGHT) shift = fmin(shift, 2 * largest(plan));
    return (shift + 2 * tolerance(plan) / lambda_of(plan)) * (1 + 1e-12);
}

static tacit_mechanism mechanism(const tacit_plan *plan, size_t rows) {
    bool gaussian = transfer_gaussian(plan);
    return (tacit_mechanism){ gaussian ? TACIT_LAW_GAUSSIAN : TACIT_LAW_GAMMA_NORM,
                              dpiw_sensitivity(plan, rows),
                              { TACIT_UNIT_RECORD, plan->epsilon, gaussian ? plan->delta : 0 } };
}

static tacit_status grid_for(const tacit_plan *plan, const tacit_mechanism *used, size_t parties,
                             tacit_sum_spec *out, tacit_error *error) {
    double noise = 0, most = largest(plan) + tolerance(plan) / lambda_of(plan);
    TACIT_TRY(tacit_mechanism_reach(&noise, used, transfer_size(plan), error));
    return tacit_sum_spec_for(out, transfer_size(plan), 2 * (most + noise), parties, error);
}

tacit_status dpiw_grid(const tacit_plan *plan, size_t rows, size_t parties, tacit_sum_spec *out,
                       tacit_error *error) {
    const tacit_mechanism used = mechanism(plan, rows);
    return grid_for(plan, &used, parties, out, error);
}

tacit_status dpiw_release(tacit_noised **out, tacit_party *party, const tacit_projection *space,
                          const tacit_rows *rows, const tacit_sum_spec *grid, tacit_error *error) {
    const tacit_plan *plan = party->plan;
    tacit_mechanism used = mechanism(plan, rows->count);
    double *beta = TACIT_NEW(double, grid->length);
    tacit_status status = TACIT_OK;
    if (beta == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(transfer_density(beta, space, rows, &plan->points->rows, lambda_of(plan), tolerance(plan),
                                 party->pool, error));
    TACIT_CHECK(tacit_mechanism_release(out, &party->noise, &used, beta, grid->length, grid->grid_bits,
                                        grid->bound, error));
cleanup:
    free(beta);
    return status;
}

/* The sum that is asked for, and the noise of a party with the fewest rows. */
typedef struct answering {
    tacit_sum_spec spec;
    tacit_mechanism fewest;
} answering;

static tacit_status prepare(const tacit_plan *plan, void *prepared, tacit_error *error) {
    answering *out = prepared;
    out->fewest = mechanism(plan, plan->minimum_rows);
    return grid_for(plan, &out->fewest, plan->parties, &out->spec, error);
}

static tacit_status price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                          tacit_error *error) {
    answering how;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &how, error));
    out->charged = out->claimed = how.fewest.price;
    return isinf(plan->epsilon) ? TACIT_OK : tacit_mechanism_event(&out->event, &how.fewest, error);
}

static tacit_release_kind release_kind(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_CHARGED;
}

static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    answering how;
    double scale, d = (double)transfer_size(plan), square = transfer_gaussian(plan) ? d : d * (d + 1);
    TACIT_TRY(tacit_prepared_take(prepared, plan, &how, error));
    TACIT_TRY(tacit_mechanism_scale(&scale, &how.fewest, error));
    *out = (tacit_noise_law){
        .law = transfer_gaussian(plan) ? "Gaussian N(0, s^2)" : "gamma-norm G(d, s)",
        .added_to = "each party's density ratio",
        .dimension = transfer_size(plan),
        .sensitivity = how.fewest.sensitivity,
        .scale = scale,
        .mean_norm = sqrt(square / (double)plan->parties) * scale,
        .of_fewest = true,
    };
    return TACIT_OK;
}

/* The party's half. */
static tacit_status answer_density(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                   tacit_error *error) {
    const tacit_plan *plan = party->plan;
    tacit_projection space = TACIT_PROJECTION_INIT;
    answering how;
    tacit_status status;
    TACIT_CHECK(tacit_party_prepared(party, &how, error));
    if (!question->wants_sum || !tacit_sum_spec_equal(&question->sum, &how.spec))
        TACIT_CHECK(
            tacit_fail(error, TACIT_REFUSED, "the coordinator asks for another sum than the study defines"));
    TACIT_CHECK(transfer_space(&space, plan, error));
    reply->kind = TACIT_RELEASE_CHARGED;
    reply->price = how.fewest.price;
    TACIT_CHECK(dpiw_release(&reply->noised, party, &space, &party->rows.rows, &how.spec, error));
cleanup:
    tacit_projection_clear(&space);
    return status;
}

/* The coordinator's half: the mean density ratio, as a model whose score is log-odds of being a party's
 * row. */
static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_projection space = TACIT_PROJECTION_INIT;
    answering how;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_model *model = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_session_prepared(session, &how, error));
    const tacit_sum_spec spec = how.spec;
    TACIT_CHECK(transfer_space(&space, plan, error));
    TACIT_CHECK(tacit_model_create(&model, &tacit_family_logistic, plan->features, 2, error));
    TACIT_CHECK(tacit_ask_sum(session, "density", NULL, &spec, &sum, error));
    for (size_t j = 0; j < spec.length; j++) sum.values[j] /= (double)sum.parties;
    for (size_t j = 0; space.dimensions == 0 && j < spec.length; j++) model->weights[j] = sum.values[j];
    if (space.dimensions > 0) tacit_projection_back(&space, sum.values, model->weights);
    out->parties = sum.parties;
    status = tacit_outcome_add(out, model, error);
    model = NULL;
cleanup:
    tacit_model_free(model);
    tacit_sum_clear(&sum);
    tacit_projection_clear(&space);
    return status;
}

static const tacit_handler_entry handlers[] = { { .question = "density", .answer = answer_density },
                                                { .question = NULL } };

const tacit_method tacit_method_dpiw = {
    .name = "dpiw",
    .title = "private importance weights: what makes public points look like the parties' rows",
    .reference = "Ji & Elkan 2013; Wang 2018, Algorithm 5",
    .version = 1,
    .units = "record",
    .needs_points = true,
    .takes_unlabelled = true,
    TACIT_SETTINGS_OF(parameters, defaults),
    .leaves = "the weights of a logistic regression that tells the party's rows from the public points, with "
              "the party's own noise inside; labels are not used",
    .seen_by = "[sees=sum: the coordinator sees the sum of all parties' answers, and no single "
               "one][sees=each: the coordinator sees each party's answer], and publishes their mean. Every "
               "answer carries its party's own noise, so at the price charged it may be shown to anybody",
    .guarantee =
        "[law=pure: epsilon-differential privacy (delta = 0)][law=gaussian: (epsilon, delta)-differential "
        "privacy] for replacing one row of a party, towards everybody, the coordinator included",
    .assumption = "every row lies in the unit ball (the schema's encoding ensures it); the points are "
                  "public; the number of a party's rows is no secret",
    .theorem = "gamma-norm noise of scale S/epsilon, or Gaussian noise by the analytic calibration, on "
               "weights of L2 sensitivity S = c/(n lambda_iw) + 2g/lambda_iw: c = 2 for rows in the unit "
               "ball, sqrt(2) where the schema has texts and categories only, sqrt(2) and 1 with an "
               "intercept; 2 under project=public:P; at most 4 sqrt(W(1/e)/(2 lambda_iw)), W Lambert's "
               "function; g the solver's certified gradient norm",
    .claim = "the same epsilon with c = sqrt(d) (calibration=paper), right for features in [0, 1] but up to "
             "sqrt(d/2) times what normalised texts need",
    .caveats = "the model it ends with says how much a row looks like the parties' and not which class it "
               "has: accuracy is not its measure",
    .prepare = prepare,
    .prepared_size = sizeof(answering),
    .check = transfer_check,
    .price = price,
    .noise = noise_law,
    .release_kind = release_kind,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
