/*
 * cox-servers: Cox regression between nodes and two center servers, so that nobody sees a sum. Ties by
 * Breslow 1974.
 *
 *   nodes    once n_i; then in each iteration, encrypted, to server A, over their rows: of each cell of time
 *            c the number of events e_c and, over the rows at risk in it, S0_c = sum r, S1_c = sum r z, S2_c
 *            = sum r z z^T, with r = exp(z.beta_k); and Z, the sum of z over events
 *   servers  as shares, of the totals:
 *              1/S0_c                                 in garbled circuits
 *              h_c = e_c/S0_c,  m_c = S1_c/S0_c       the hazard's step, the mean at risk
 *              U = Z - sum e_c m_c                    the score
 *              I = sum h_c S2_c - sum e_c m_c m_c^T   the information
 *              h_c S0_c = e_c?                        one bit is opened, and is 1 unless the run ends with an
 *                                                     error
 *              s = -(I + ridge)^-1 (U - ridge beta_k) as in newton, and checked as there (logit_solve.c)
 *              beta_(k+1) = beta_k - s                opened
 *
 * until a step is below 2^-20 in each coordinate. Opened besides: the variances of the coefficients, and
 * the log partial likelihood at 0 and at the end, sum over cells of e_c log S0_c on shares
 * (crypto/linear/secure_functions.c).
 *
 * Cells that few rows leave need not be put together, as in cox: of no cell is anything opened. A cell
 * with nobody at risk has e, S0, S1 and S2 all 0, exactly, since nodes' sums are whole numbers on the
 * grid: what a circuit makes of 1/0 is some number of 64 bits, and 0 times it, dropped, is 0 (share.h: the
 * two halves are then the same). The same where S0_c is too small for 1/S0_c to have room and e_c is 0.
 * Where e_c is above 0, the bit says it: with 1/S0 off by d, h S0 - e is e S0 d and a few units; SPARE
 * units in all.
 *
 * How exact. A cell's S0, S1 and S2 are off by half a unit, 2^-f/2, for each node, and m_c by (1 + S)
 * times that over S0_c. The score has it e_c times, and e_c/S0_c is the cell's hazard: together some 2^-f
 * times a cumulative hazard, and coefficients by that over the least eigenvalue of I. Tests see 1e-8 and
 * less beside coxph.
 */
#include "method/secure/cox_servers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

enum { MOST_ITERATIONS = 40, CLOSE_BITS = 20, SPARE_BITS = 16 };

static const double MOST_STEP = 1; /* of a coefficient at once: further out, a whole step may go too far */

static const cox_servers_settings defaults = {
    .cox = { .time = { .strata = "none" }, .ties = COX_BRESLOW, .least = 1, .level = 0.95 },
    .engine = TACIT_SECURE_SHARES,
};

/* Those of cox are where its own table has them: they come first. */
static const tacit_parameter parameters[] = {
    TIME_SETTING_WIDTH(cox_settings),
    TACIT_CHOICE(cox_settings, ties, "ties", "efron|breslow",
                 "events in the same cell, as in R's coxph; between two servers breslow alone"),
    TACIT_TEXT(cox_settings, time.strata, "strata",
               "a category whose levels have baselines of their own, instead of a coefficient; or none"),
    TACIT_NUMBER(cox_settings, level, "level", 0.5, 0.999999, "of the confidence intervals"),
    TIME_SETTING_UNIT(cox_settings),
    TACIT_CHOICE(cox_servers_settings, engine, "engine", "yao|shares",
                 "what the center servers compute with: garbled circuits, or shares, which are much faster"),
    TACIT_SETTINGS_END,
};

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    if (plan->schema != NULL && cox_settings_of(plan)->ties == COX_EFRON)
        return tacit_fail(error, TACIT_USAGE,
                          "method cox-servers has ties=breslow alone: by Efron's way the servers would have "
                          "to see how many events each cell has; choose a smaller width, or method cox");
    return TACIT_OK;
}

static tacit_status prepare(const tacit_plan *plan, void *out, tacit_error *error) {
    TACIT_TRY(time_prepare(plan, out, error));
    if (plan->schema == NULL) return TACIT_OK; /* nothing is known of the rows yet */
    const cox_servers_layout layout = cox_servers_layout_of(out);
    if (layout.width > 0 && layout.length <= COX_SERVERS_MOST_NUMBERS) return TACIT_OK;
    time_clear_prepared(out);
    if (layout.width == 0)
        return tacit_fail(error, TACIT_USAGE, "method cox-servers needs a column at least");
    return tacit_fail(error, TACIT_USAGE,
                      "%zu cells of time and %zu columns make %zu numbers to encrypt, and there may be "
                      "%d: choose a larger width, or fewer columns",
                      layout.cells, layout.width, layout.length, COX_SERVERS_MOST_NUMBERS);
}

static tacit_status choose_lambda(const tacit_plan *plan, double *out, tacit_error *error) {
    (void)plan;
    (void)error;
    *out = 0; /* maximum likelihood */
    return TACIT_OK;
}

static bool infers(const tacit_plan *plan) {
    (void)plan;
    return true;
}

/* ---- the two servers' half: each function is run by both ---- */

typedef struct servers {
    tacit_logit logit; /* beta, gradient and matrix, and what is done with them */
    cox_servers_layout layout;
    double divisor;                          /* N */
    tacit_share *sums;                       /* of all nodes, as cox_servers_layout says */
    tacit_share *inverse, *means, *weighted; /* 1/S0; h and m of each cell; e m of each cell */
    tacit_share *across, *checked;           /* room: the columns of e m by rows; h S0 - e */
    tacit_share *second;                     /* sums of m e m^T */
} servers;

static bool is_a(const servers *self) { return self->logit.center->role == TACIT_GARBLER; }

static void end(servers *self) {
    free(self->sums);
    free(self->inverse);
    tacit_logit_end(&self->logit);
}

static tacit_status make_room(servers *self, tacit_error *error) {
    const size_t cells = self->layout.cells, d = self->layout.width;
    self->sums = TACIT_NEW(tacit_share, self->layout.length);
    self->inverse = TACIT_NEW(tacit_share, cells * (3 + 3 * d) + d * d);
    if (self->sums == NULL || self->inverse == NULL) return tacit_fail_memory(error);
    self->means = self->inverse + cells;
    self->weighted = self->means + cells * (1 + d);
    self->across = self->weighted + cells * d;
    self->checked = self->across + cells * d;
    self->second = self->checked + cells;
    return tacit_logit_make_room(&self->logit, 0, error);
}

static tacit_status begin(servers *self, tacit_center_server *center, tacit_error *error) {
    tacit_logit *logit = &self->logit;
    tacit_secure_settings settings = tacit_secure_defaults();
    time_design design;
    *self = (servers){ .logit = { .center = center,
                                  .plan = center->plan,
                                  .bits = 64,
                                  .scale = tacit_logit_schema_scale(center->plan) } };
    TACIT_TRY(time_design_create(&design, center->plan, error));
    self->layout = cox_servers_layout_of(&design);
    logit->design = design.columns; /* and is cleared with it */
    logit->width = self->layout.width;
    logit->triangle = self->layout.triangle;
    logit->trace = logit->scale * logit->scale; /* variances among those at risk */
    TACIT_TRY(make_room(self, error));
    TACIT_TRY(tacit_paillier_public_write(center->key, &logit->key, error));
    tacit_logit_be_patient(logit);
    TACIT_TRY(tacit_logit_count_rows(logit, error));
    self->divisor = cox_servers_divisor(logit->n);
    logit->fraction = cox_servers_fraction(logit->n);
    logit->ridge = center->plan->lambda * logit->scale * logit->scale * logit->n / self->divisor;
    TACIT_TRY(cox_servers_slots(&logit->slots, center->plan, center->key, logit->n, error));
    settings.engine = TACIT_SETTINGS(cox_servers_settings, center->plan)->engine;
    settings.format = (tacit_fixed){ logit->bits, logit->fraction };
    settings.pool = center->pool;
    return tacit_secure_create(&logit->secure, center->role, center->channel, &settings, error);
}

/* The sums of all nodes at beta, as shares. */
static tacit_status gather(servers *self, tacit_error *error) {
    tacit_logit *logit = &self->logit;
    tacit_answers answers = TACIT_ANSWERS_INIT;
    tacit_ciphertexts *sum = NULL;
    tacit_status status = TACIT_OK;
    tacit_logit_be_patient(logit);
    if (is_a(self)) {
        size_t count = tacit_slots_plaintexts(&logit->slots.slots, self->layout.length);
        TACIT_CHECK(tacit_logit_ask(logit, "sums", TACIT_WEIGH_CURVATURE, NULL, &answers, error));
        TACIT_CHECK(tacit_logit_add_up(logit, &answers, "sums", count, &sum, error));
    }
    TACIT_CHECK(tacit_secure_from_ciphertexts(logit->secure, self->sums, self->layout.length, &logit->slots,
                                              sum, logit->center->secret, 0, error));
cleanup:
    tacit_answers_clear(&answers);
    tacit_ciphertexts_free(sum);
    return status;
}

/* h S0 = e in each cell: one bit. */
static tacit_status check_hazards(servers *self, const tacit_share *hazard, tacit_error *error) {
    tacit_secure *secure = self->logit.secure;
    const size_t cells = self->layout.cells;
    bool good = false;
    TACIT_TRY(tacit_secure_scale_rows(secure, self->checked, hazard, self->sums + self->layout.risk, cells, 1,
                                      error));
    tacit_shares_subtract(self->checked, self->checked, self->sums + self->layout.events, cells);
    const tacit_secure_range range = { self->checked, cells, SPARE_BITS, 64 };
    TACIT_TRY(tacit_secure_all_within(secure, &good, &range, 1, error));
    if (good) return TACIT_OK;
    return tacit_fail(error, TACIT_LIMIT,
                      "in some cell of time the hazards of those at risk are too small for the numbers of "
                      "the center servers: leave columns out, narrow their ranges in the schema, or give a "
                      "lambda above 0");
}

/* h and m of each cell, with h in `inverse` afterwards. */
static tacit_status find_means(servers *self, tacit_error *error) {
    const cox_servers_layout *at = &self->layout;
    tacit_secure *secure = self->logit.secure;
    const size_t d = at->width;
    TACIT_TRY(tacit_secure_reciprocals(secure, self->inverse, self->sums + at->risk, at->cells, error));
    for (size_t c = 0; c < at->cells; c++) {
        self->means[c * (1 + d)] = self->sums[at->events + c];
        memcpy(self->means + c * (1 + d) + 1, self->sums + at->first + c * d, d * sizeof *self->means);
    }
    TACIT_TRY(
        tacit_secure_scale_rows(secure, self->means, self->inverse, self->means, at->cells, 1 + d, error));
    for (size_t c = 0; c < at->cells; c++) { /* in order: what is written has been read */
        self->inverse[c] = self->means[c * (1 + d)];
        memmove(self->means + c * d, self->means + c * (1 + d) + 1, d * sizeof *self->means);
    }
    return check_hazards(self, self->inverse, error);
}

/* The gradient of -l/N and its matrix, regularised, at the sums of the moment. */
static tacit_status evaluate(servers *self, tacit_error *error) {
    const cox_servers_layout *at = &self->layout;
    tacit_logit *logit = &self->logit;
    const size_t d = at->width, cells = at->cells;
    TACIT_TRY(find_means(self, error));
    TACIT_TRY(tacit_secure_scale_rows(logit->secure, self->weighted, self->sums + at->events, self->means,
                                      cells, d, error));
    for (size_t j = 0; j < d; j++) {
        logit->gradient[j] = -self->sums[j];
        for (size_t c = 0; c < cells; c++) {
            self->across[j * cells + c] = self->weighted[c * d + j];
            logit->gradient[j] += self->weighted[c * d + j];
        }
    }
    TACIT_TRY(tacit_secure_multiply(logit->secure, logit->matrix, self->inverse, self->sums + at->second, 1,
                                    cells, at->triangle, error));
    TACIT_TRY(
        tacit_secure_multiply(logit->secure, self->second, self->across, self->means, d, cells, d, error));
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) logit->matrix[tacit_triangle(i, j)] -= self->second[i * d + j];
    tacit_logit_regularise(logit, true, true);
    return TACIT_OK;
}

/* -l/N, which both servers get: of e and S0 over N, sum e_c (log S0_c + log N) - Z.beta. */
static tacit_status open_likelihood(servers *self, int64_t *out, tacit_error *error) {
    const cox_servers_layout *at = &self->layout;
    tacit_logit *logit = &self->logit;
    tacit_share value[2] = { 0 }; /* with logarithms; products with public numbers */
    TACIT_TRY(tacit_secure_logarithms(logit->secure, self->inverse, self->sums + at->risk, at->cells, error));
    TACIT_TRY(tacit_secure_multiply(logit->secure, value, self->sums + at->events, self->inverse, 1,
                                    at->cells, 1, error));
    const int64_t rows = llrint(ldexp(log(self->divisor), (int)logit->fraction));
    for (size_t c = 0; c < at->cells; c++) value[1] += self->sums[at->events + c] * tacit_share_of(rows);
    for (size_t j = 0; j < at->width; j++) value[1] -= self->sums[j] * tacit_share_of(logit->beta[j]);
    tacit_shares_drop(value + 1, logit->fraction, 1, logit->center->role);
    value[0] += value[1];
    return tacit_secure_open(logit->secure, out, value, 1, error);
}

/* The same at 0, once. */
static tacit_status first_likelihood(servers *self, int64_t *out, tacit_error *error) {
    bool known = false;
    TACIT_TRY(tacit_center_known(self->logit.center, &known, out, 1, error));
    if (known) return TACIT_OK;
    TACIT_TRY(open_likelihood(self, out, error));
    return tacit_center_keep(self->logit.center, out, 1, error);
}

static tacit_status runs_away(size_t iteration, tacit_error *error) {
    return tacit_fail(error, TACIT_NOT_CONVERGED,
                      "there is no finite estimate after %zu iterations: %s; leave columns out, or give a "
                      "lambda above 0",
                      iteration, tacit_family_of(TACIT_RESPONSE_TIME, 0)->unbounded);
}

/* beta less the step, or as much of it as MOST_STEP allows; what is opened is the step. */
static tacit_status move(servers *self, tacit_error *error) {
    tacit_logit *logit = &self->logit;
    int64_t *step = TACIT_NEW(int64_t, logit->width);
    tacit_status status = step != NULL ? TACIT_OK : tacit_fail_memory(error);
    double most = 0;
    if (status != TACIT_OK) return status;
    TACIT_CHECK(tacit_secure_open(logit->secure, step, logit->step, logit->width, error));
    for (size_t j = 0; j < logit->width; j++)
        most = fmax(most, fabs(ldexp((double)step[j], -(int)logit->fraction)));
    for (size_t j = 0; j < logit->width; j++) {
        int64_t part = most <= MOST_STEP ? step[j] : llrint((double)step[j] * (MOST_STEP / most));
        logit->beta[j] -= part; /* 40 steps of 1 are far from the end of 64 bits */
    }
    TACIT_CHECK(tacit_center_keep(logit->center, logit->beta, logit->width, error));
    tacit_logit_report(logit);
cleanup:
    free(step);
    return status;
}

/* Newton's step, or the one of a run that died. */
static tacit_status iterate(servers *self, bool *close, tacit_error *error) {
    tacit_logit *logit = &self->logit;
    tacit_factored *factor = NULL;
    bool known = false;
    tacit_status status = tacit_logit_known(logit, &known, error);
    if (status == TACIT_OK && !known) {
        TACIT_CHECK(evaluate(self, error));
        TACIT_CHECK(tacit_logit_factor(logit, &factor, error));
        TACIT_CHECK(tacit_logit_solve(logit, factor, true, logit->step, error));
        TACIT_CHECK(move(self, error));
    }
    *close = true;
    for (size_t j = 0; j < logit->width; j++)
        *close &= llabs(logit->beta[j] - logit->before[j]) >> (logit->fraction - CLOSE_BITS) == 0;
cleanup:
    tacit_factored_free(factor);
    return status;
}

/* ---- the end ---- */

/* Opened together: d variances, and -l/N. */
static tacit_status open_inference(servers *self, int64_t *opened, double *largest, tacit_error *error) {
    tacit_logit *logit = &self->logit;
    tacit_factored *factor = NULL;
    tacit_share *inverse = TACIT_NEW(tacit_share, logit->triangle);
    bool known = false;
    tacit_status status = inverse != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    TACIT_CHECK(tacit_center_known(logit->center, &known, opened, logit->width + 1, error));
    if (known) goto cleanup;
    TACIT_CHECK(evaluate(self, error));
    TACIT_CHECK(tacit_logit_factor(logit, &factor, error));
    TACIT_CHECK(tacit_logit_invert(logit, factor, inverse, error));
    TACIT_CHECK(tacit_logit_open_variances(logit, inverse, opened, largest, error));
    TACIT_CHECK(open_likelihood(self, opened + logit->width, error));
    TACIT_CHECK(tacit_center_keep(logit->center, opened, logit->width + 1, error));
cleanup:
    tacit_factored_free(factor);
    free(inverse);
    return status;
}

static tacit_status infer(const servers *self, const int64_t *opened, int64_t first, const double *weights,
                          double *variance, tacit_estimates **out, tacit_error *error) {
    const tacit_logit *logit = &self->logit;
    const size_t d = logit->width;
    const double unit = ldexp(1, -(int)logit->fraction);
    double *row = TACIT_NEW(double, d);
    tacit_status status = row != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t k = 0; k < d && status == TACIT_OK; k++) {
        double largest = 0;
        status = tacit_design_raw_row(&logit->design, k, row, error);
        for (size_t j = 0; j < d; j++) largest = fmax(largest, fabs(row[j]));
        variance[k] = (double)opened[k] * unit / self->divisor * pow(logit->scale * largest, 2);
    }
    free(row);
    TACIT_TRY(status);
    const double null = self->divisor * (double)first * unit;
    tacit_optimum optimum = { .family = tacit_family_of(TACIT_RESPONSE_TIME, 0),
                              .rows = logit->n,
                              .lambda = logit->plan->lambda,
                              .level = cox_settings_of(logit->plan)->level,
                              .w = weights,
                              .objective = self->divisor * (double)opened[d] * unit,
                              .variance = variance,
                              .response = { null },
                              .null_objective = null,
                              .iterations = logit->iteration };
    TACIT_TRY(tacit_estimates_infer(out, &logit->design, &optimum, error));
    tacit_format((*out)->optimiser, sizeof(*out)->optimiser, "newton");
    (*out)->rounds = (size_t)logit->center->session->round;
    return TACIT_OK;
}

static tacit_status finish(servers *self, int64_t first, tacit_outcome *out, tacit_error *error) {
    const tacit_logit *logit = &self->logit;
    const size_t d = logit->width;
    int64_t *opened = TACIT_NEW(int64_t, d + 1);
    double *weights = TACIT_NEW(double, 3 * d);
    tacit_estimates *estimates = NULL;
    tacit_status status = opened != NULL && weights != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    for (size_t j = 0; j < d; j++)
        weights[j] = logit->scale * ldexp((double)logit->beta[j], -(int)logit->fraction);
    TACIT_CHECK(open_inference(self, opened, weights + d, error));
    if (!is_a(self)) goto cleanup;
    TACIT_CHECK(infer(self, opened, first, weights, weights + 2 * d, &estimates, error));
    TACIT_CHECK(tacit_logit_publish(logit, tacit_family_of(TACIT_RESPONSE_TIME, 0), 0, weights, &estimates,
                                    out, error));
cleanup:
    tacit_estimates_free(estimates);
    free(opened);
    free(weights);
    return status;
}

/* Run by both center servers at the same time. */
static tacit_status compute(tacit_center_server *center, tacit_outcome *out, tacit_error *error) {
    servers self;
    int64_t first = 0;
    bool close = false;
    tacit_status status;
    TACIT_CHECK(begin(&self, center, error));
    TACIT_CHECK(gather(&self, error));
    TACIT_CHECK(first_likelihood(&self, &first, error));
    while (!close) {
        if (self.logit.iteration >= MOST_ITERATIONS) TACIT_CHECK(runs_away(self.logit.iteration, error));
        TACIT_CHECK(iterate(&self, &close, error));
        TACIT_CHECK(gather(&self, error));
    }
    TACIT_CHECK(finish(&self, first, out, error));
cleanup:
    end(&self);
    return status;
}

static const tacit_handler_entry handlers[] = {
    { .question = "rows", .answer = cox_servers_answer_rows, .usable = tacit_logit_rows_usable },
    { .question = "sums", .answer = cox_servers_answer_sums, .answer_numbers = cox_servers_answer_numbers },
    { .question = NULL },
};

const tacit_method tacit_method_cox_servers = {
    .name = "cox-servers",
    .title = "Cox regression of a time until an event between two center servers, sums encrypted",
    .reference = "Cox 1972; Breslow 1974; Wang 2018, 5.2.1 and 5.3",
    .version = 1,
    .units = "record",
    .spreads = true,
    .noise_free = true,
    .takes_times = true,
    .takes_strata = true,
    .terms = TACIT_TERMS_FEATURES,
    .lambda_may_vanish = true,
    TACIT_SETTINGS_OF(parameters, defaults),
    .leaves =
        "its number of rows; in each iteration, for each cell of time (and stratum), the number of events, "
        "and sums of hazards, of columns and of their products over its rows at risk, encrypted under center "
        "server B's key and sent to server A",
    .seen_by =
        "neither server sees a party's sums or their total, nor how many rows or events a cell of time has: "
        "A has ciphertexts and shares, B masked values and shares. Both servers see the step of every "
        "iteration, and they and all parties the exact coefficients beta_k that it leads to, each party's "
        "number of rows, the numbers of columns, cells and iterations; also the variance of each "
        "coefficient, the log partial likelihood at the beginning and at the end; and one bit each time the "
        "servers ask whether hazards are in range, or the equations have a solution",
    .guarantee = "no differential privacy: the coefficients beta_k are exact. The computation between "
                 "parties and servers reveals nothing beyond what is listed under 'seen by'",
    .assumption = TACIT_LOGIT_ASSUMPTION,
    .theorem = "the estimate is that of all rows pooled on the same grid of times, ties by Breslow's way. "
               "Masked values: statistical distance 2^-40 (crypto/linear/convert.h); shares are uniform; "
               "Yao's protocol: semi-honest simulation (crypto/garble/garble.h)",
    .claim = "the same",
    .caveats = "the coefficients of each iteration are exact and public: with few rows, or two runs over "
               "rows that differ in one, they can reveal a row (use dpcox). A server that departs from the "
               "protocol can spoil the result or learn more. The same parties must answer in every round. "
               "Times are rounded up to the end of their cell; at a tie, rows without an event count as at "
               "risk. With lambda above 0, standard errors are those of the penalised likelihood",
    .prepare = prepare,
    .clear_prepared = time_clear_prepared,
    .prepared_size = sizeof(time_design),
    .needs_schema = true,
    .check = check,
    .infers = infers,
    .price = tacit_nonprivate_price,
    .choose_lambda = choose_lambda,
    .release_kind = tacit_logit_kind,
    .coordinate = TACIT_CENTER_HALF(tacit_center_coordinate),
    .compute = TACIT_CENTER_HALF(compute),
    .handlers = handlers,
};
