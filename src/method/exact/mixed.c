/*
 * mixed: linear, logistic and Poisson regression with a random intercept, and a random slope, of each person
 * or of each party, from sums of likelihoods that are computed where the rows are (Laird & Ware 1982; Bates
 * et al. 2015; Wang 2018, 1.2: MIDDLE).
 *
 *   all:          y | b with predictor X beta + Z b; b ~ N(0, phi L L^T) for each cluster
 *   round:        coordinator sends theta, the entries of L, and for others than linear beta; party k answers
 *                 the sum over its clusters of the marginal log-likelihood and its derivatives
 *                 (mixed_cluster.h):
 *     linear      log|V| and (X, y)^T V^-1 (X, y), with their first derivatives by theta, in closed form
 *     others      by adaptive Gauss-Hermite quadrature, or Laplace's approximation with a slope, with Hessian
 *   coordinator:  linear: beta and phi follow; BFGS on the profiled deviance (or the REML criterion) of theta
 *                 others: Newton on (beta, theta), with a ridge where curvature is missing
 *
 * Equal to R's lme4. theta may have any sign, so that a variance of 0 is an ordinary stationary point. No
 * noise: nothing here is differentially private (price: an infinite epsilon).
 */
#include "method/exact/mixed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "method/methods.h"
#include "model/report/report.h"
#include "num/special.h"
#include "session/session.h"

static const mixed_settings defaults = { .slope = "none", .nodes = 25, .level = 0.95 };

static const tacit_parameter parameters[] = {
    TACIT_CHOICE(mixed_settings, family, "family", MIXED_FAMILIES,
                 "auto: logistic for two classes, linear for a number, poisson for a count"),
    TACIT_CHOICE(mixed_settings, group, "group", "person|party",
                 "whose rows belong together: those of the schema's person, or of a party"),
    TACIT_TEXT(mixed_settings, slope, "slope",
               "a column whose effect differs between groups, as their intercepts do; or none"),
    TACIT_CHOICE(mixed_settings, likelihood, "likelihood", "ML|REML",
                 "REML: variances of a linear model free of the bias by its coefficients"),
    TACIT_COUNT(mixed_settings, nodes, "nodes", 1, MIXED_NODES,
                "of the quadrature, as nAGQ in R's glmer; with a slope it is Laplace's, 1"),
    TACIT_NUMBER(mixed_settings, level, "level", 0.5, 0.999999, "of the confidence intervals"),
    MISSING_SUM_SETTING(mixed_settings, missing),
    TACIT_SETTINGS_END,
};

/* With group=party, whether a fit can end before its parties refuse (mixed_party.c): what few ends after
 * fewer rounds than these are models of which a variance is 0. A simulation declares no minimum, and nobody
 * in it refuses. */
static tacit_status check_parties(const tacit_plan *plan, const mixed_design *design, tacit_error *error) {
    enum { LINEAR = 10, LINEAR_SLOPE = 14, OTHERS = 7, OTHERS_SLOPE = 10 };
    const bool slope = design->terms > 1;
    const uint64_t rounds =
        design->family->quadratic ? (slope ? LINEAR_SLOPE : LINEAR) : (slope ? OTHERS_SLOPE : OTHERS);
    const double opened = mixed_opened(design, rounds - 1), colluders = (double)tacit_plan_colluders(plan);
    if (mixed_settings_of(plan)->group != MIXED_BY_PARTY || plan->minimum_parties < 2 ||
        opened < (double)plan->minimum_parties - colluders)
        return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "method mixed with group: party opens at least %.0f numbers of each kind, which "
                      "determine as many parties' own: have a minimum of %.0f parties or more, or let sites "
                      "show theirs (method meta with forest: yes)",
                      opened, opened + 1 + colluders);
}

static tacit_status check_design(const mixed_design *design, const tacit_plan *plan, tacit_error *error) {
    const size_t width = design->columns.width;
    const bool linear = design->family->quadratic, constant = design->columns.intercept != SIZE_MAX,
               beside = tacit_design_has_beside(&design->columns);
    if (!linear && mixed_settings_of(plan)->likelihood == MIXED_REML)
        return tacit_fail(error, TACIT_USAGE, "likelihood=REML is of linear models: leave it out");
    if (!constant || beside)
        return tacit_fail(error, TACIT_USAGE,
                          "method mixed takes terms with an intercept, and without offset and weights");
    if (mixed_settings_of(plan)->group == MIXED_BY_PERSON && plan->schema->person == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "group=person needs a schema that says whose row it is: person: COLUMN");
    if (width <= MIXED_MOST_WIDTH) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE, "method mixed takes at most %d columns, and there are %zu",
                      MIXED_MOST_WIDTH, width);
}

static void clear_prepared(void *prepared) { mixed_design_clear(prepared); }

static tacit_status prepare(const tacit_plan *plan, void *out, tacit_error *error) {
    mixed_design *design = out;
    *design = (mixed_design){ .family = NULL };
    if (plan->schema == NULL) return TACIT_OK; /* nothing is known of the rows yet */
    TACIT_TRY(mixed_design_create(design, plan, error));
    tacit_status status = check_design(design, plan, error);
    if (status != TACIT_OK) mixed_design_clear(design);
    return status;
}

/* Before anybody is asked; parties count for themselves. */
static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    mixed_design design;
    if (plan->schema == NULL) return TACIT_OK;
    TACIT_TRY(mixed_design_create(&design, plan, error));
    tacit_status status = check_parties(plan, &design, error);
    mixed_design_clear(&design);
    return status;
}

static tacit_counted counts_missing(const tacit_plan *plan) {
    return missing_sum_counted(plan, mixed_settings_of(plan)->missing);
}

static tacit_status choose_lambda(const tacit_plan *plan, double *out, tacit_error *error) {
    (void)plan;
    (void)error;
    *out = 0; /* maximum likelihood */
    return TACIT_OK;
}

/* ---- back to the raw columns ---- */

/* The map from weights to raw coefficients, in the order of the table, and what else is needed of it. */
typedef struct raw_map {
    double *row;            /* width x width, by places */
    double log_determinant; /* of its absolute value */
    double effects[4];      /* the same of random effects: of a constant, and of the slope's feature */
} raw_map;

static double log_determinant(double *a, size_t width) {
    double sum = 0;
    for (size_t k = 0; k < width; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < width; i++)
            if (fabs(a[i * width + k]) > fabs(a[pivot * width + k])) pivot = i;
        for (size_t j = 0; j < width; j++) {
            double other = a[k * width + j];
            a[k * width + j] = a[pivot * width + j];
            a[pivot * width + j] = other;
        }
        sum += log(fabs(a[k * width + k]));
        for (size_t i = k + 1; i < width; i++) {
            double factor = a[i * width + k] / a[k * width + k];
            for (size_t j = k; j < width; j++) a[i * width + j] -= factor * a[k * width + j];
        }
    }
    return sum;
}

static tacit_status make_map(raw_map *out, const mixed_design *design, tacit_error *error) {
    const tacit_design *columns = &design->columns;
    const size_t width = columns->width, constant = columns->intercept;
    double *copy = TACIT_NEW(double, width *width);
    tacit_status status = TACIT_OK;
    *out = (raw_map){ .row = TACIT_NEW(double, width *width) };
    if (copy == NULL || out->row == NULL) status = tacit_fail_memory(error);
    for (size_t place = 0; place < width && status == TACIT_OK; place++) {
        size_t at = tacit_design_at(columns, place);
        double *row = out->row + place * width;
        status = tacit_design_raw_row(columns, at, row, error);
        if (at == constant) {
            out->effects[0] = row[constant] / columns->intercept_value;
            if (design->terms > 1) out->effects[1] = row[design->slope];
        } else if (design->terms > 1 && at == design->slope)
            out->effects[3] = row[design->slope];
    }
    if (status == TACIT_OK) {
        memcpy(copy, out->row, width * width * sizeof *copy);
        out->log_determinant = log_determinant(copy, width);
    }
    free(copy);
    return status;
}

/* The covariance of the random effects: phi E L L^T E^T. */
static void random_covariance(const mixed_fit *fit, const raw_map *map, double out[4]) {
    double factor[4], moved[4];
    const double *e = map->effects,
                 scale = fit->residual * fit->design.columns.half * fit->design.columns.half;
    mixed_factor(fit->design.terms, fit->theta, factor);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) moved[2 * i + j] = e[2 * i] * factor[j] + e[2 * i + 1] * factor[2 + j];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            out[2 * i + j] = scale * (moved[2 * i] * moved[2 * j] + moved[2 * i + 1] * moved[2 * j + 1]);
}

/* ---- the report ---- */

static tacit_status add_fixed(const mixed_fit *fit, const raw_map *map, tacit_report *report,
                              tacit_error *error) {
    static const char *const names[] = { "estimate", "error", "z", "p", "low", "high", NULL };
    const tacit_design *columns = &fit->design.columns;
    const size_t width = columns->width;
    const double level = mixed_settings_of(fit->session->plan)->level,
                 reach = tacit_normal_tail_quantile(log((1 - level) / 2));
    tacit_report_table *table;
    tacit_buffer name = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_report_add_table(report, &table, "fixed", "Fixed effects", names, error));
    for (size_t place = 0; place < width; place++) {
        const double *row = map->row + place * width;
        double estimate = 0, variance = 0;
        size_t at = tacit_design_at(columns, place);
        for (size_t i = 0; i < width; i++) {
            estimate += row[i] * fit->beta[i];
            for (size_t j = 0; j < width; j++) variance += row[i] * row[j] * fit->covariance[i * width + j];
        }
        estimate = columns->half * estimate + (at == columns->intercept ? columns->middle : 0);
        double spread = columns->half * sqrt(fmax(0, variance));
        double values[] = { estimate,
                            spread,
                            estimate / spread,
                            2 * tacit_normal_tail(fabs(estimate / spread)),
                            estimate - reach * spread,
                            estimate + reach * spread };
        tacit_buffer_clear(&name);
        TACIT_CHECK(tacit_design_name(columns, at, &name, error));
        TACIT_CHECK(tacit_report_add_row(table, tacit_buffer_text(&name), values, NULL, error));
    }
cleanup:
    tacit_buffer_clear(&name);
    return status;
}

static tacit_status add_random(const mixed_fit *fit, const raw_map *map, tacit_report *report,
                               tacit_error *error) {
    static const char *const names[] = { "variance", "sd", "correlation", NULL };
    const double half = fit->design.columns.half;
    double covariance[4];
    tacit_report_table *table;
    random_covariance(fit, map, covariance);
    TACIT_TRY(tacit_report_add_table(report, &table, "random", "Random effects", names, error));
    TACIT_TRY(tacit_report_add_row(table, "(Intercept)",
                                   (double[]){ covariance[0], sqrt(covariance[0]), NAN }, NULL, error));
    if (fit->design.terms > 1) {
        double both = sqrt(covariance[0] * covariance[3]);
        TACIT_TRY(tacit_report_add_row(
            table, fit->design.slope_name,
            (double[]){ covariance[3], sqrt(covariance[3]), both > 0 ? covariance[1] / both : NAN }, NULL,
            error));
    }
    if (!fit->design.family->quadratic) return TACIT_OK;
    return tacit_report_add_row(table, "residual",
                                (double[]){ fit->residual * half * half, sqrt(fit->residual) * half, NAN },
                                NULL, error);
}

/* The deviance of the response as it is: the scaled one is half as wide, and with REML the columns'
 * scales count too. */
static double raw_deviance(const mixed_fit *fit, const raw_map *map) {
    const double half = fit->design.columns.half;
    if (!fit->design.family->quadratic) return fit->deviance;
    if (mixed_settings_of(fit->session->plan)->likelihood == MIXED_ML)
        return fit->deviance + 2 * fit->n * log(half);
    return fit->deviance + 2 * (fit->n - (double)fit->design.columns.width) * log(half) -
           2 * map->log_determinant;
}

static bool is_singular(const mixed_fit *fit) {
    static const double TINY = 1e-4;
    return fabs(fit->theta[0]) < TINY || (fit->design.terms > 1 && fabs(fit->theta[2]) < TINY);
}

static tacit_status add_facts(const mixed_fit *fit, const raw_map *map, tacit_report *report,
                              tacit_error *error) {
    const mixed_settings *settings = mixed_settings_of(fit->session->plan);
    const double deviance = raw_deviance(fit, map);
    const bool linear = fit->design.family->quadratic;
    const double count = (double)(fit->design.columns.width + fit->design.theta) + (linear ? 1 : 0);
    const bool reml = settings->likelihood == MIXED_REML;
    TACIT_TRY(tacit_report_add_fact(report, "family", NAN, fit->design.family->name, error));
    TACIT_TRY(tacit_report_add_fact(report, "groups", fit->clusters,
                                    settings->group == MIXED_BY_PARTY ? "parties" : "persons", error));
    TACIT_TRY(tacit_report_add_fact(report, "likelihood", NAN, reml ? "REML" : "ML", error));
    if (!linear)
        TACIT_TRY(tacit_report_add_fact(report, "nodes", fit->design.terms > 1 ? 1 : (double)settings->nodes,
                                        NULL, error));
    TACIT_TRY(tacit_report_add_fact(report, reml ? "REML criterion" : "deviance", deviance, NULL, error));
    TACIT_TRY(tacit_report_add_fact(report, "log-likelihood", -deviance / 2, NULL, error));
    TACIT_TRY(tacit_report_add_fact(report, "AIC", deviance + 2 * count, NULL, error));
    TACIT_TRY(tacit_report_add_fact(report, "rounds", (double)fit->session->round, NULL, error));
    if (!is_singular(fit)) return TACIT_OK;
    return tacit_report_add_fact(report, "singular", NAN,
                                 "a variance is 0: leave the random slope out, or all random effects", error);
}

static tacit_status make_report(const mixed_fit *fit, tacit_report **out, tacit_error *error) {
    tacit_report *report = NULL;
    raw_map map = { .row = NULL };
    tacit_status status;
    TACIT_CHECK(make_map(&map, &fit->design, error));
    TACIT_CHECK(tacit_report_create(&report, "mixed", false, fit->n, error));
    TACIT_CHECK(add_facts(fit, &map, report, error));
    TACIT_CHECK(add_fixed(fit, &map, report, error));
    TACIT_CHECK(add_random(fit, &map, report, error));
    TACIT_CHECK(missing_sum_add_table(report, fit->session->plan->schema, fit->missing, 0, error));
    *out = report;
    report = NULL;
cleanup:
    free(map.row);
    tacit_report_free(report);
    return status;
}

static tacit_status begin_fit(mixed_fit *self, tacit_session *session, tacit_error *error) {
    *self = (mixed_fit){ .session = session };
    TACIT_TRY(tacit_session_prepared(session, &self->design, error));
    size_t width = self->design.columns.width;
    self->squares = TACIT_NEW(double, mixed_squares_length(&self->design));
    self->beta = TACIT_NEW(double, width);
    self->covariance = TACIT_NEW(double, width *width);
    return self->squares != NULL && self->beta != NULL && self->covariance != NULL ? TACIT_OK
                                                                                   : tacit_fail_memory(error);
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    mixed_fit self;
    tacit_report *report = NULL;
    tacit_model *model = NULL;
    tacit_status status;
    TACIT_CHECK(begin_fit(&self, session, error));
    TACIT_CHECK(mixed_fit_run(&self, error));
    TACIT_CHECK(make_report(&self, &report, error));
    TACIT_CHECK(tacit_model_create_report(&model, report, plan->features, plan->classes, error));
    out->parties = self.parties;
    status = tacit_outcome_add(out, model, error);
cleanup:
    free(self.missing);
    free(self.squares);
    free(self.beta);
    free(self.covariance);
    return status;
}

const tacit_method tacit_method_mixed = {
    .name = "mixed",
    .title = "regression with random effects of persons or parties, from sums alone, no noise",
    .reference = "Laird & Ware 1982; Bates et al. 2015; Wang 2018, 1.2",
    .version = 1,
    .units = "record",
    .noise_free = true,
    .terms = TACIT_TERMS_CONSTANT,
    .takes_numbers = true,
    .takes_random = true,
    .lambda_may_vanish = true,
    .stops_early = true,
    .reports = "mixed",
    TACIT_SETTINGS_OF(parameters, defaults),
    .leaves = "in each round the sum over the party's [group=person: persons][group=party: rows, which are "
              "one group,] of the likelihood and its derivatives, as one contribution to a sum; once, for a "
              "linear model, the sums of products of its columns; its number of rows[group=person:  and of "
              "persons], and the sum of its responses" MISSING_SUM_LEAVE,
    .seen_by =
        "[sees=sum: the coordinator sees the exact totals of all parties' sums in every round, and no single "
        "party's][sees=each: the coordinator sees each party's exact sums in every round]. Everybody sees "
        "the parameters of every round, the final coefficients, and the variances of random "
        "effects" MISSING_SUM_SEEN,
    .guarantee = "no differential privacy: the sums are exact, and no noise is added. No row leaves as it "
                 "is; what leaves are sums over [group=person: persons][group=party: rows], and from exact "
                 "sums something about single ones may be inferred",
    .assumption = "the coordinator keeps the [sees=sum: totals][sees=each: sums] to itself and does not try "
                  "to infer [group=person: persons][group=party: parties' means] from them",
    .theorem = "no privacy theorem applies. The likelihood of independent groups is the product of theirs, "
               "so its logarithm and derivatives are sums, and integers add up without rounding",
    .claim = "the same",
    .caveats =
        "[group=person: a person's term depends on how many rows that person has, and each round weighs "
        "these terms otherwise: with as many rounds as persons of different numbers of rows the sums can be "
        "solved for single ones. Parties refuse where they have fewer persons than their owner's "
        "minimum][group=party: each round weighs the parties' terms otherwise, and with as many rounds as "
        "parties these can be solved for: parties refuse a round beyond that, so it takes some thirty to "
        "thirty-five parties for a linear model, more with a slope, and some ten to twenty for others]. A "
        "coordinator that departs from the protocol can choose parameters; parties refuse those under which "
        "few rows count, and a liar can steer within that. The same parties must answer in every round",
    .check = check,
    .prepare = prepare,
    .clear_prepared = clear_prepared,
    .prepared_size = sizeof(mixed_design),
    .needs_schema = true,
    .price = tacit_nonprivate_price,
    .choose_lambda = choose_lambda,
    .counts_missing = counts_missing,
    .release_kind = tacit_estimate_kind,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = mixed_handlers,
};
