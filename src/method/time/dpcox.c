/*
 * dpcox: Cox regression under differential privacy, by the model of hazards in discrete time (ours; Prentice
 * and Gloeckler 1978 for the model, Berndt, Hall, Hall and Hausman 1974 for the steps).
 *
 *   all:          a public grid over time; a person leaves in a cell, with an event or without. It has one
 *                 row, or, where the schema names persons, any number of them, (start, stop] each, with
 *                 columns that change (dpcox_rows.c has which row a cell is of)
 *   model:        in each cell j a person who is still there has the event with chance 1 - exp(-A_j),
 *                 A_j = h_j exp(z_j.w),   z_j = (x_j, 1, c_j)/R,   h the baseline, c its clock
 *   score:        U = sum over the cells of a person of q_j r_j z_j;   r_j = -A_j without the event,
 *                 A_j/(exp(A_j) - 1) with it;   q_j = 1 until the sum of A_j has come to L, then 0, in the
 *                 cell in which it does the part that is left.   U <- U min(1, L/|U|)
 *   once:         counts of who leaves in each cell, with an event and without, as method survival
 *                 releases them, and where rows have a start, of who comes in each (share .05 of the budget);
 *                 from them h and c (num/noisy/noisy_hazard.h)
 *   6 times:      g = -sum U,  B = sum U U^T at w, in one question (.95 together):  w <- w - (B + lift)^-1 g
 *   the end:      theta = w - (B + rho)^-1 g with its covariance, noise included
 *
 * The complementary log-log link makes exp of a coefficient the hazard ratio of times as they are before
 * they are put on the grid, which the logistic link does not. q_j depends on what is known of a person
 * before cell j, so that U is a sum of terms with mean 0 at the model's coefficients, wherever it stops:
 * bounding a person's contribution in this way does not bias it, as shortening would. The first event ends it
 * for the same reason. For one row a person |U| <= L already, except for rounding; columns that change can
 * make it longer, at most L + 1, and then it is shortened. L = sqrt(n mu/(2500 d)) from 1 to 5, all public:
 * where noise rules nobody counts for more than one event; where it does not, this becomes maximum
 * likelihood. Noise in B grows with L^2, so L grows late.
 *
 * Proof note. Adjacency: replace one person of one party by another, with all rows of either, however many
 *   these are; without names of persons a row is one, and one row is replaced. The numbers of persons and of
 *   parties stay as they are, that of rows need not.
 *   counts: a person is one unit in one cell of the two histograms of leaving; num/noisy/noisy_life.h has why
 *   the vector of both as encoded moves by at most 1 then. With a start it is also one unit in one cell of
 *   the histogram of coming, which likewise moves by at most 1: sqrt(2) together. The number of persons in
 *   front does not move. Rounding as in survival_private.c.
 *   scores: a person's part is (V, V V^T packed), V = U/L, |V| <= 1 whatever w, h and c the question has,
 *   and whatever its rows are and however many: U is shortened after all of them have been added up. Two
 *   persons' with |V| = a, |V'| = b and cosine -r:
 *     S^2 = a^2 + b^2 + 2 a b r + a^4 + b^4 - 2 a^2 b^2 r^2
 *   Where r <= 0 that is at most a^2 + b^2 + a^4 + b^4 <= 4. Where r > 0 its derivative in a is 2 (q + a + 2
 *   a^3 - 2 a q^2), 0 <= q = b r <= 1: concave in q, so least at q = 0, a + 2 a^3 >= 0, or at q = 1, 1 - a +
 *   2 a^3 > 0. So it rises in a, and likewise in b, and a = b = 1 is worst: 4 + 2 r - 2 r^2 <= 4.5, at r =
 *   1/2. S = sqrt(4.5): squares cost .12 beside the sums, whose S is 2 alone.
 *   Computed and rounded: that + 2 (GRADIENT_ROUNDING + the grid's rounding). Each question has its share of
 *   mu^2 with Gaussian noise, and all together, each asked in view of the answers before, are
 *   mu-Gaussian-DP: noise, composition, shares of noise and their proof are those of dpnewton.c. A party
 *   counts the rounds itself. Baseline, steps, errors are post-processing. Counts of missing values come last
 *   and take their share off those above (private/dpnewton_missing.c).
 */
#include "method/time/dpcox.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/encode.h"
#include "num/noisy/noisy_hazard.h"
#include "num/noisy/noisy_moments.h"
#include "rand/fast.h"
#include "session/session.h"

/* Of the budget, in thousandths: counts, then steps. */
static const double UNITS[DPCOX_STEPS + 1] = { 50, 80, 80, 80, 104, 128, 478 };

static const dpcox_settings defaults = {
    .engine = { .noise = DPNEWTON_BY_SHARES, .person_rows = 1, .missing_counts = 0.02 },
    .time = { .strata = "none" },
    .level = 0.95
};

static const tacit_parameter parameters[] = {
    TACIT_CHOICE(
        dpcox_settings, engine.noise, "noise", "coordinator|party|shares",
        "who adds it: a coordinator entrusted with the sums, each party itself (more noise, no trust), or "
        "each party a share, which secure summation adds up to little more than the coordinator's"),
    TIME_SETTING_WIDTH(dpcox_settings),
    TACIT_NUMBER(dpcox_settings, level, "level", 0.5, 0.999999, "of the confidence intervals"),
    TACIT_OPEN_COUNT(dpcox_settings, engine.rows, "rows", 1e12,
                     "how many rows all parties have together, or persons where the schema names them, as "
                     "everybody expects: how much one person may count follows from it",
                     "as the study expects, or the parties times the least rows of each"),
    TIME_SETTING_UNIT(dpcox_settings),
    MISSING_COUNTS_SETTING(dpcox_settings, engine.missing_counts),
    TACIT_SETTINGS_END,
};

static bool by_party(const tacit_plan *plan) {
    return dpcox_settings_of(plan)->engine.noise == DPNEWTON_BY_PARTY;
}

static bool by_shares(const tacit_plan *plan) {
    return dpcox_settings_of(plan)->engine.noise == DPNEWTON_BY_SHARES;
}

/* ---- what follows from the plan ---- */

static const double CLOCK_REACH = 0.25; /* the square of the clock's column, times R^2 */

static tacit_status check_time(const tacit_plan *plan, const dpcox_design *design, tacit_error *error) {
    const tacit_schema *schema = plan->schema;
    if (design->time.entries && !design->persons)
        return tacit_fail(
            error, TACIT_USAGE,
            "method dpcox protects persons, and rows that begin at '%s' may be several of one: name the "
            "column that says whose they are in the schema (person: COLUMN)",
            schema->entry);
    if (design->time.strata > 1)
        return tacit_fail(
            error, TACIT_USAGE,
            "method dpcox has one baseline: leave strata() out of the terms, or choose method cox");
    if (design->time.columns.weights != SIZE_MAX)
        return tacit_fail(error, TACIT_USAGE,
                          "method dpcox takes no weights of rows: leave 'weights' out of the terms");
    if (schema->rows != TACIT_ROWS_BOUND)
        return tacit_fail(error, TACIT_USAGE,
                          "coefficients per unit of a column need rows as they are: write rows: bound in the "
                          "schema");
    if (design->time.cells > DPCOX_MOST_CELLS)
        return tacit_fail(
            error, TACIT_USAGE,
            "method dpcox has at most %d cells of time, and cells of width %g make %zu: choose a "
            "larger width",
            DPCOX_MOST_CELLS, design->time.width, design->time.cells);
    if (design->columns == 0 || design->columns > DPCOX_MOST_COLUMNS)
        return tacit_fail(error, TACIT_USAGE, "method dpcox has %zu columns: have at least 1 and at most %d",
                          design->columns, DPCOX_MOST_COLUMNS);
    return TACIT_OK;
}

/* R, so that no z is longer than 1, and L of the head. */
static void set_scale(const tacit_plan *plan, dpcox_design *out) {
    static const double LARGEST = 5;
    double reach = plan->schema != NULL ? tacit_schema_reach(plan->schema) : 1;
    double inside = plan->schema != NULL ? tacit_schema_intercept_value(plan->schema) : 1;
    out->radius = sqrt(1 + reach + CLOCK_REACH);
    out->feature = sqrt(reach > 0 ? reach : 1) / inside / out->radius;
    out->most = LARGEST;
    if (isfinite(out->strength))
        out->most =
            fmin(fmax(sqrt(dpnewton_rows(plan) * out->strength / (2500 * (double)out->width)), 1), LARGEST);
}

static tacit_status set_release(const tacit_plan *plan, dpnewton_release *release, tacit_sum_spec *spec,
                                size_t length, double largest, double sensitivity, tacit_error *error) {
    return dpnewton_set_release(plan, release, spec, length,
                                GRADIENT_MOST_ROWS * (largest + GRADIENT_ROUNDING), sensitivity, error);
}

/* In whole thousandths: counts of missing values are paid for by the steps. */
static void set_shares_of_budget(const tacit_plan *plan, dpcox_design *out) {
    const double all = 1000, missing = dpnewton_missing_units(plan);
    double left = all - missing;
    for (size_t i = 0; i < DPCOX_STEPS; i++) {
        const double units = round(UNITS[i] * (1 - missing / all));
        out->release[i].share = units / all;
        left -= units;
    }
    out->release[DPCOX_STEPS].share = left / all;
}

static tacit_status set_releases(const tacit_plan *plan, dpcox_design *out, tacit_error *error) {
    const double apart = sqrt(4.5) * (1 + 1e-14), rounding = 0x1p-10, /* of encoded histograms, both sides */
        moved = out->time.entries ? M_SQRT2 : 1;
    const size_t length = out->width + tacit_moments_length(out->width);
    set_shares_of_budget(plan, out);
    TACIT_TRY(set_release(plan, &out->release[0], &out->counts,
                          DPCOX_HEAD + dpcox_histograms(out) * out->time.cells, 1, moved * (1 + rounding),
                          error));
    /* The first has the most noise, and all steps its grid. */
    TACIT_TRY(set_release(plan, &out->release[1], &out->scores, length, M_SQRT2, apart, error));
    for (size_t t = 2; t <= DPCOX_STEPS; t++)
        TACIT_TRY(dpnewton_calibrate(plan, &out->release[t], &out->scores, apart, error));
    return dpnewton_set_missing(plan, &out->missing, DPCOX_STEPS + 1, error);
}

tacit_status dpcox_describe(const tacit_plan *plan, dpcox_design *out, tacit_error *error) {
    enum { USUAL_CELLS = 100 };
    *out = (dpcox_design){ .columns = plan->features,
                           .time = { .cells = USUAL_CELLS, .strata = 1, .causes = 1 } };
    tacit_status status = TACIT_OK;
    if (plan->schema != NULL) {
        TACIT_TRY(time_design_create_as(&out->time, plan, &dpcox_settings_of(plan)->time, error));
        out->columns = out->time.columns.width;
        out->persons = plan->schema->person != NULL;
        TACIT_CHECK(check_time(plan, out, error));
    }
    out->width = out->columns + DPCOX_CLOCK;
    TACIT_CHECK(dpnewton_strength(plan, &out->strength, error));
    set_scale(plan, out);
    status = set_releases(plan, out, error);
cleanup:
    if (status != TACIT_OK) dpcox_clear(out);
    return status;
}

void dpcox_clear(dpcox_design *design) { time_design_clear(&design->time); }

static tacit_status prepare(const tacit_plan *plan, void *out, tacit_error *error) {
    return dpcox_describe(plan, out, error);
}

static void clear_prepared(void *prepared) { dpcox_clear(prepared); }

static tacit_release_kind release_kind(const tacit_plan *plan) {
    return dpnewton_kind(&dpcox_settings_of(plan)->engine);
}

static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    dpcox_design design;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &design, error));
    const dpnewton_release *last = &design.release[DPCOX_STEPS];
    *out = (tacit_noise_law){
        .law = by_shares(plan)
                   ? "discrete Gaussian in shares, together near N(0, s^2), in every question; s of the last"
                   : "Gaussian N(0, s^2), in every question; s of the last",
        .added_to = by_party(plan) ? "each party's sums of scores" : "the sums of scores over all parties",
        .dimension = design.scores.length,
        .sensitivity = last->mechanism.sensitivity,
        .scale = by_shares(plan) ? last->deviation : last->scale,
        .mean_norm = last->deviation * sqrt((double)design.scores.length),
        .norm_in = "the vector of sums",
    };
    return TACIT_OK;
}

static bool per_person(const tacit_plan *plan) {
    return plan->schema != NULL && plan->schema->person != NULL;
}

static bool infers(const tacit_plan *plan) {
    (void)plan;
    return true;
}

/* ---- the party's half ---- */

/* Whether this is the question that the study has in this place. */
static tacit_status check_place(const tacit_question *question, const dpcox_design *design, bool counts,
                                tacit_error *error) {
    const uint64_t round = question->round;
    TACIT_TRY(gradient_check_sum(question, counts ? &design->counts : &design->scores, error));
    if (counts ? round == 0 : round >= 1 && round <= DPCOX_STEPS) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED, "round %llu of this study is not one for %s",
                      (unsigned long long)round, question->name);
}

static tacit_status answer_counts(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    dpcox_design design;
    TACIT_TRY(tacit_party_prepared(party, &design, error));
    double *values = TACIT_NEW(double, design.counts.length);
    tacit_status status = values != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK) status = check_place(question, &design, true, error);
    if (status == TACIT_OK) status = gradient_check_rows(party, error);
    if (status == TACIT_OK) status = dpcox_count(party, &design, values, error);
    if (status == TACIT_OK)
        status = dpnewton_give(party, &design.release[0], &design.counts, &values, reply, error);
    free(values);
    return status;
}

static tacit_status answer_scores(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    dpcox_design design;
    dpcox_baseline baseline;
    const double *weights;
    double *values = NULL;
    tacit_status status;
    TACIT_TRY(tacit_party_prepared(party, &design, error));
    TACIT_CHECK(check_place(question, &design, false, error));
    const size_t cells = design.time.cells;
    TACIT_CHECK(tacit_message_numbers(question->message, "weights", design.width, &weights, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "hazard", cells, &baseline.hazard, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "clock", cells, &baseline.clock, error));
    values = TACIT_NEW(double, design.scores.length);
    if (values == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(dpcox_add_up(party, &design, &baseline, weights, values, error));
    status = dpnewton_give(party, &design.release[question->round], &design.scores, &values, reply, error);
cleanup:
    free(values);
    return status;
}

static tacit_status answer_missing(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                   tacit_error *error) {
    dpcox_design design;
    TACIT_TRY(tacit_party_prepared(party, &design, error));
    return dpnewton_give_missing(party, question, &design.missing, reply, error);
}

/* ---- the coordinator's half ---- */

typedef struct fit {
    tacit_session *session;
    dpcox_design design;
    double rows, *hazard, *clock; /* of cells */
    size_t parties;
    tacit_hazard_approach approach;
    tacit_noisy_result life;
    tacit_noisy_estimate found;
} fit;

static void end_fit(fit *self) {
    tacit_noisy_estimate_clear(&self->found);
    tacit_noisy_result_clear(&self->life);
    tacit_hazard_clear(&self->approach);
    free(self->hazard);
}

static void draw_normals(void *context, double *out, size_t count) {
    tacit_fast_normals(context, out, count);
}

/* The curve of all rows from counts with noise in them. */
static tacit_status draw_curve(fit *self, const double *released, tacit_error *error) {
    enum { SEED = 1978 }; /* of simulations of its errors, which nothing rests on */
    const dpcox_design *design = &self->design;
    const size_t cells = design->time.cells;
    tacit_stream stream = tacit_stream_from_seed(SEED);
    double *time = TACIT_NEW(double, cells);
    if (time == NULL) return tacit_fail_memory(error);
    for (size_t c = 0; c < cells; c++) time[c] = time_of_cell(&design->time, self->session->plan, c);
    tacit_noisy_life life = { .cells = cells,
                              .groups = 1,
                              .kinds = 2,
                              .rows = self->rows,
                              .deviation = design->release[0].deviation,
                              .released = released,
                              .time = time,
                              .from = design->time.low,
                              .level = dpcox_settings_of(self->session->plan)->level,
                              .source = { draw_normals, &stream } };
    tacit_status status = tacit_noisy_life_fit(&self->life, &life, error);
    free(time);
    return status;
}

static tacit_status ask_counts(fit *self, tacit_error *error) {
    const dpcox_design *design = &self->design;
    const size_t cells = design->time.cells;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(dpnewton_ask(self->session, "counts", &message, &design->counts, &design->release[0],
                             design->counts.length, &sum, error));
    self->rows = fmax(1, DPCOX_ROWS_UNIT * round(sum.values[0] / DPCOX_ROWS_WEIGHT) +
                             round(sum.values[1] / DPCOX_ROWS_WEIGHT));
    self->hazard = TACIT_NEW(double, 2 * cells);
    if (self->hazard == NULL) TACIT_CHECK(tacit_fail_memory(error));
    self->clock = self->hazard + cells;
    TACIT_CHECK(draw_curve(self, sum.values + DPCOX_HEAD, error));
    if (design->time.entries)
        tacit_hazard_await(&self->life.curve[0], sum.values + DPCOX_HEAD + 2 * cells, cells, self->rows,
                           design->release[0].deviation);
    tacit_hazard_baseline(self->hazard, self->clock, &self->life.curve[0], cells);
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

/* Question t, at the weights of the approach. */
static tacit_status ask_scores(fit *self, size_t t, tacit_error *error) {
    const dpcox_design *design = &self->design;
    const dpnewton_release *release = &design->release[t];
    const double most = design->most;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", self->approach.w, design->width, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "hazard", self->hazard, design->time.cells, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "clock", self->clock, design->time.cells, error));
    TACIT_CHECK(dpnewton_ask(self->session, "scores", &message, &design->scores, release,
                             design->scores.length, &sum, error));
    for (size_t j = 0; j < sum.length; j++) sum.values[j] *= j < design->width ? most : most * most;
    tacit_hazard_take(&self->approach, sum.values, release->share, most * release->deviation,
                      most * most * release->deviation);
    self->parties = sum.parties;
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

static tacit_status climb(fit *self, tacit_error *error) {
    const double radius = self->design.radius;
    /* Coefficients of columns that run from -1 to 1. Noise must not lead far; where little of it lets L grow,
     * rows whose columns have wide bounds may. */
    static const double LONGEST = 6, USUAL = 1;
    TACIT_TRY(
        tacit_hazard_begin(&self->approach, LONGEST * self->design.most * radius, self->design.width, error));
    for (size_t t = 1; t <= DPCOX_STEPS; t++) {
        bool last = t + 1 == DPCOX_STEPS;
        tacit_progress_report(self->session->progress, "steps", t, DPCOX_STEPS + 1);
        TACIT_TRY(ask_scores(self, t, error));
        if (t == DPCOX_STEPS) break;
        TACIT_TRY(tacit_hazard_step(&self->approach, t + 3 > DPCOX_STEPS ? self->design.release[t].share : 0,
                                    last, error));
    }
    return tacit_hazard_end(&self->found, &self->approach, USUAL * radius, error);
}

/* ---- what comes out ---- */

/* The hazard where all columns are 0: of each piece of the curve, which is as fine as is known. */
static tacit_status make_baseline(const fit *self, const double *w, tacit_baseline **out,
                                  tacit_error *error) {
    const dpcox_design *design = &self->design;
    const tacit_noisy_curve *curve = &self->life.curve[0];
    const double *at = self->found.theta + design->columns;
    double moved, left = self->rows;
    if (curve->count == 0) return TACIT_OK;
    TACIT_TRY(time_score_of_zeros(&design->time, self->session->plan, w, &moved, error));
    TACIT_TRY(tacit_baseline_create(out, curve->count, error));
    for (size_t c = 0; c < curve->count; c++) {
        double score = at[0] / design->radius + at[1] * dpcox_clock_column(design, self->clock[c]);
        double next = c + 1 < curve->count ? curve->steps[c + 1].at_risk : curve->steps[c].at_risk,
               leaving = fmax(0, left - next), events = fmax(0, curve->steps[c].events);
        (*out)->step[c] = (tacit_baseline_step){ .time = curve->steps[c].time,
                                                 .leaving = fmax(leaving, events),
                                                 .events = events,
                                                 .hazard = self->hazard[c] * exp(fmin(score + moved, 700)) };
        left = next;
    }
    return TACIT_OK;
}

/* From x to encoded columns: the first of theta, and of both covariances, side by side in `out`. */
static void rescale(const fit *self, double *out) {
    const dpcox_design *design = &self->design;
    const size_t p = design->columns, d = design->width;
    const double by = design->feature;
    for (size_t i = 0; i < p; i++) {
        out[i] = self->found.theta[i] * by;
        for (size_t j = 0; j < p; j++) {
            out[p + i * p + j] = self->found.covariance[i * d + j] * by * by;
            out[p + p * p + i * p + j] = self->found.sampling[i * d + j] * by * by;
        }
    }
}

static tacit_status make_model(fit *self, tacit_model **out, tacit_error *error) {
    const tacit_plan *plan = self->session->plan;
    const tacit_design *columns = &self->design.time.columns;
    const tacit_family *family = tacit_family_of(TACIT_RESPONSE_TIME, 0);
    const size_t p = self->design.columns;
    tacit_model *model = NULL;
    double *w = TACIT_NEW(double, p + 2 * p * p);
    tacit_status status = w != NULL ? TACIT_OK : tacit_fail_memory(error);
    TACIT_CHECK(status);
    rescale(self, w);
    tacit_optimum optimum = { .family = family,
                              .rows = self->rows,
                              .level = dpcox_settings_of(plan)->level,
                              .w = w,
                              .covariance = w + p,
                              .sampling = w + p + p * p,
                              .dispersion = 1,
                              .iterations = DPCOX_STEPS };
    TACIT_CHECK(tacit_model_create(&model, family, plan->features, 0, error));
    for (size_t j = 0; j < p; j++) model->weights[columns->kept[j]] = w[j];
    if (columns->offset != SIZE_MAX) model->weights[columns->offset] = columns->offset_weight;
    TACIT_CHECK(tacit_estimates_infer(&model->estimates, columns, &optimum, error));
    tacit_format(model->estimates->optimiser, sizeof model->estimates->optimiser, "newton");
    TACIT_CHECK(dpnewton_ask_missing(self->session, &self->design.missing, self->rows, model, error));
    model->estimates->rounds = (size_t)self->session->round;
    TACIT_CHECK(make_baseline(self, w, &model->estimates->baseline, error));
    *out = model;
    model = NULL;
cleanup:
    tacit_model_free(model);
    free(w);
    return status;
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    fit self = { .session = session };
    tacit_model *model = NULL;
    tacit_status status;
    TACIT_TRY(tacit_session_prepared(session, &self.design, error));
    TACIT_CHECK(ask_counts(&self, error));
    TACIT_CHECK(climb(&self, error));
    TACIT_CHECK(make_model(&self, &model, error));
    out->parties = self.parties;
    status = tacit_outcome_add(out, model, error);
cleanup:
    end_fit(&self);
    return status;
}

static const tacit_handler_entry handlers[] = { { .question = "counts", .answer = answer_counts },
                                                { .question = "scores", .answer = answer_scores },
                                                { .question = "missing", .answer = answer_missing },
                                                { .question = NULL } };

const tacit_method tacit_method_dpcox = {
    .name = "dpcox",
    .title = "Cox regression of a time until an event, with noise",
    .reference = "Prentice & Gloeckler 1978; Berndt et al. 1974; docs/methods/dpcox.md",
    .version = 1,
    .units = "record|person",
    .spreads = true,
    .per_person = per_person,
    .counts_missing = dpnewton_counts_missing,
    .takes_times = true,
    .needs_delta = true,
    .terms = TACIT_TERMS_ALL,
    .lambda_may_vanish = true,
    .most_columns = DPCOX_MOST_COLUMNS,
    .fits_alone_by_party = true,
    TACIT_SETTINGS_OF(parameters, defaults),
    .shares_noise = by_shares,
    .leaves =
        "once, how many [protects=record: rows][protects=person: persons] the party has, and weighed sums of "
        "how many of them leave in each cell of time, without an event and with one[protects=person: , and "
        "where rows have a start, of how many come]; then, in six rounds, the sum over its [protects=record: "
        "rows][protects=person: persons] of scores, each of bounded length[protects=person: , a person's "
        "rows together], and of their squares, at coefficients that all parties know" MISSING_COUNTS_LEAVE
        "[noise=party: , each with the party's own noise added][noise=shares: , each with the party's share "
        "of the noise added], as contributions to sums",
    .seen_by = "[noise=coordinator,sees=sum: the coordinator sees the exact sums over all parties, and no "
               "single party's][noise=coordinator,sees=each: the coordinator sees each party's exact counts "
               "and sums of scores][noise=party,sees=sum: the coordinator sees the sums of all parties' "
               "noisy numbers, and no single party's][noise=party,sees=each: the coordinator sees each "
               "party's noisy numbers][noise=shares: the coordinator sees the sums over all parties, with "
               "the noise in them, and no single party's]. Everybody sees the baseline and the coefficients "
               "of every round; the number of [protects=record: rows][protects=person: persons] of all "
               "parties together is in the table as it is" MISSING_COUNTS_SEEN,
    .guarantee =
        "(epsilon, delta)-differential privacy of all rounds together, for replacing [protects=record: one "
        "row of a party, which is a person with all of its time,][protects=person: all rows of one person of "
        "a party, however many,] towards everybody who sees all steps[noise=party|shares: , the coordinator "
        "included][noise=coordinator: . There is no such guarantee towards the coordinator, which sees exact "
        "values]",
    .assumption =
        "[protects=record: a person is one row; the number of a party's rows is no secret][protects=person: "
        "a person's rows are all at one party, and its column of persons tells them apart; the number of a "
        "party's persons is no secret]; the range of times and of columns comes from the public "
        "schema[noise=coordinator: ; the coordinator adds the noise, publishes only noisy results and keeps "
        "the exact values to itself][noise=shares: ; secure summation, and that no more parties vanish from "
        "a sum or collude than the study declares]",
    .theorem =
        "Gaussian noise on counts of L2 sensitivity 1[protects=person:  (1.42 where rows have a start)] and "
        "on six sums of scores with their squares, of sensitivity 2.12" MISSING_COUNTS_BOUND
        ", each with its share of mu^2, mu the largest Gaussian-DP parameter that (epsilon, "
        "delta) allows (Balle and Wang 2018); shares add up to 1, also when adaptive (Dong, Roth and Su "
        "2022)[noise=shares: ; the noise in shares of discrete Gaussians on a grid so fine that their sum "
        "counts as one Gaussian]",
    .claim = "no paper's",
    .caveats =
        "seven questions" MISSING_COUNTS_MORE
        ": every party must stay connected. Standard errors include the noise; where rows at this price say "
        "little of a coefficient it is drawn towards 0, and its error grows by what log hazard ratios of 1 "
        "would be drawn by. A person counts until its expected number of events is about 1: where hazards "
        "are not proportional, early times count for more than in cox.[protects=person:  It counts until its "
        "first event; later ones do not.] Times are rounded up to the end of their cell",
    .prepare = prepare,
    .clear_prepared = clear_prepared,
    .prepared_size = sizeof(dpcox_design),
    .needs_schema = true,
    .infers = infers,
    .price = dpnewton_whole_price,
    .choose_lambda = tacit_plan_no_lambda,
    .noise = noise_law,
    .release_kind = release_kind,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
