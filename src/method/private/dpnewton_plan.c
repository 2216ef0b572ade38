/*
 * What follows from dpnewton's plan: how rows are scaled, how many steps there are, which share of the budget
 * each question has, and the noise that makes of it. All from public numbers, before anything is asked.
 */
#include <math.h>

#include "method/one_release.h"
#include "method/private/dpnewton.h"
#include "method/private/dpnewton_inference.h"
#include "num/noisy/noisy_moments.h"
#include "privacy/account/gaussian.h"

const dpnewton_settings dpnewton_defaults = { .noise = DPNEWTON_BY_SHARES,
                                              .person_rows = 4,
                                              .fold_seed = 1,
                                              .line = DPNEWTON_LINE_ASKED,
                                              .widths = DPNEWTON_NARROW_WIDTHS,
                                              .missing_counts = 0.02 };

const tacit_parameter dpnewton_parameters[] = {
    TACIT_OPEN_COUNT(dpnewton_settings, rounds, "rounds", DPNEWTON_MOST_ROUNDS,
                     "Newton steps, each a question to every party, after the one for the moments",
                     "chosen from public numbers"),
    TACIT_OPEN_COUNT(
        dpnewton_settings, rows, "rows", 1e12,
        "how many rows all parties have together, as everybody expects: steps and ridge are chosen for it",
        "as the study expects, or the parties times the least rows of each"),
    TACIT_CHOICE(
        dpnewton_settings, noise, "noise", "coordinator|party|shares",
        "who adds it: a coordinator entrusted with the sums, each party itself (more noise, no trust), or "
        "each party a share, which secure summation adds up to little more than the coordinator's"),
    TACIT_CHOICE(dpnewton_settings, unit, "unit", "record|person",
                 "what is protected: a row, or all rows of a person at a party; the schema says which column "
                 "names persons (person: COLUMN)"),
    TACIT_COUNT(dpnewton_settings, person_rows, "person-rows", 1, 1e6,
                "with unit=person: rows of a person that count in full; those of a person with more count "
                "less, and noise grows with it"),
    TACIT_CHOICE(dpnewton_settings, purpose, "purpose", "prediction|inference",
                 "what the model is for: prediction, or inference, that is coefficients with standard errors "
                 "that include the noise"),
    TACIT_LATER_CHOICE(dpnewton_settings, moments, "moments", "new|reused", "new",
                       "the second moments of the columns: asked for, or those that an earlier study of them "
                       "released with its model, at no price: all of it then buys better steps"),
    TACIT_LATER_COUNT(dpnewton_settings, folds, "folds", 0, TACIT_FOLDS_MOST, "0",
                      "of cross-validation, at the same price: a model is made without each fold of the "
                      "parties' rows and evaluated on it, and the result is their mean; 0: none"),
    TACIT_LATER_COUNT(dpnewton_settings, fold_seed, "fold_seed", 0, 1e9, "1",
                      "public seed by which parties deal their rows out to folds"),
    TACIT_LATER_CHOICE(
        dpnewton_settings, line, "line", "steps|asked", "steps",
        "for two classes, how scores become chances: by what the steps released, or, where rows are few for "
        "so many columns, by one more question about all rows too, at 4% of the budget (not with unit=person "
        "or folds)"),
    TACIT_LATER_CHOICE(
        dpnewton_settings, widths, "widths", "former|narrow", "former",
        "with purpose=inference and a number for a label: the scale of rows, by which long ones "
        "count less, as it was or for narrower intervals"),
    MISSING_COUNTS_SETTING(dpnewton_settings, missing_counts),
    TACIT_SETTINGS_END,
};

static const double UNITS = 1000;   /* of the budget */
static const double HELD_OUT = 200; /* of them for the scores of held-out rows, where there are folds */
static const double LINE = 40;      /* of them for the last question, where it is asked */

/* Of any method whose questions are Gaussian releases. */
static bool by_party(const tacit_plan *plan) {
    return plan->method->release_kind(plan) == TACIT_RELEASE_CHARGED;
}

double dpnewton_rows(const tacit_plan *plan) {
    double set = (double)dpnewton_settings_of(plan)->rows;
    if (set > 0) return set;
    double rows = tacit_plan_expected_rows(plan); /* of persons, where these are protected */
    return dpnewton_settings_of(plan)->unit == DPNEWTON_PER_PERSON && plan->expected_rows == 0
               ? rows * (double)dpnewton_settings_of(plan)->person_rows
               : rows;
}

/* How much larger the noise in a sum of all parties is than it need be. */
static double surplus(const tacit_plan *plan) {
    double parties = (double)plan->parties;
    if (tacit_plan_shares_noise(plan)) return sqrt(parties / (double)tacit_plan_noise_shares(plan));
    return by_party(plan) ? sqrt(parties) : 1;
}

/* The smallest relative noise for all together, and a hair more for the roundings of those who add it up. */
static tacit_status total_noise(const tacit_plan *plan, double *out, tacit_error *error) {
    TACIT_TRY(tacit_gaussian_sigma(out, plan->epsilon, plan->delta, 1, error));
    *out *= 1 + 1e-9;
    return TACIT_OK;
}

static tacit_status strength_of(const tacit_plan *plan, double *out, tacit_error *error) {
    double sigma = 0;
    *out = INFINITY;
    if (isinf(plan->epsilon)) return TACIT_OK;
    TACIT_TRY(total_noise(plan, &sigma, error));
    *out = 1 / (sigma * surplus(plan));
    return TACIT_OK;
}

/* R^2 = (1 + G)/8, G the square of the longest row of features that the schema permits: most rows are
 * shortened, which costs little and makes the others count. Rows that are not scaled by their bound, or have
 * no intercept to tell how much they were shortened, stay as they are. */
static dpnewton_scaling scaling_of(const tacit_plan *plan) {
    const tacit_schema *schema = plan->schema;
    dpnewton_scaling out = { .feature = 1, .intercept = 1, .longest = 1 };
    if (schema == NULL || !schema->intercept) return out;
    out.encoded = tacit_schema_intercept_value(schema);
    double reach = tacit_schema_reach(schema), radius = sqrt((1 + reach) / 8);
    if (schema->rows != TACIT_ROWS_BOUND || schema->sparse > 0 || !(reach > 0)) return out;
    out.intercept = 1 / (radius * out.encoded);
    out.feature = sqrt(reach) * out.intercept;
    out.longest = sqrt(1 + reach) / radius;
    return out;
}

static size_t choose_rounds(const tacit_plan *plan, const dpnewton_family *family, double strength) {
    size_t set = (size_t)dpnewton_settings_of(plan)->rounds;
    return set > 0 ? set : family->rounds(plan, strength);
}

/* The moments first, unless they were released before; then shares that grow from step to step. In whole
 * thousandths, so that a ledger can hold a study as this many runs of one event, of which each question takes
 * its number. */
static void set_shares_of_budget(dpnewton_design *out, double missing) {
    const double first = out->reuses ? 0 : out->family->moments;
    const double kept = UNITS - missing;
    const double last = kept - (out->folds.count > 0 ? HELD_OUT : 0) - (out->asks_line ? LINE : 0);
    double ratio = 1 + out->family->growth / (double)out->rounds, sum = 0, weight = 0, before = first,
           left = last - before;
    for (size_t t = 1; t <= out->rounds; t++) sum += pow(ratio, (double)t);
    out->release[0].share = before / UNITS;
    for (size_t t = 1; t <= out->rounds; t++) {
        weight += pow(ratio, (double)t);
        double until = t == out->rounds ? last : first + round(left * weight / sum);
        out->release[t].share = (until - before) / UNITS;
        before = until;
    }
    *(out->asks_line ? &out->release[out->rounds + 1].share : &out->held_out.share) = (kept - last) / UNITS;
}

/* An event of a question, whose noise is `sigma` times its sensitivity, in units of the study's. */
static tacit_event event_of(const dpnewton_release *release, double sigma) {
    double units = release->runs > 0 ? (double)release->runs : round(release->share * UNITS);
    return tacit_event_replaced(tacit_event_gaussian(sigma * sqrt(units) * (1 + 1e-13), (uint64_t)units));
}

double dpnewton_tail(const dpnewton_design *design, size_t step) {
    size_t tail = (size_t)fmax(1, round(design->family->tail * (double)design->rounds));
    return step + tail > design->rounds ? design->release[step].share : 0;
}

/* The price of a release whose noise is `sigma` times its sensitivity, at its part of delta: what that noise
 * buys, a hair less for the roundings, so that noise calibrated to the price, *found times the sensitivity,
 * is not below `sigma`. */
static tacit_status price_of(tacit_price *price, double sigma, double *found, tacit_error *error) {
    for (double spare = 1e-10; spare < 1e-3; spare *= 10) {
        TACIT_TRY(tacit_gaussian_epsilon(&price->epsilon, sigma * (1 + spare), price->delta, error));
        TACIT_TRY(tacit_gaussian_sigma(found, price->epsilon, price->delta, 1, error));
        if (*found >= sigma) return TACIT_OK;
    }
    return tacit_fail(error, TACIT_INTERNAL, "no price found for a release with noise %g", sigma);
}

static tacit_status share_noise(const tacit_plan *plan, dpnewton_release *out, const tacit_sum_spec *spec,
                                double sigma, tacit_error *error) {
    double step = ldexp(1, -spec->grid_bits), counted = 0, parties = (double)plan->parties;
    TACIT_TRY(
        one_release_shares(&out->shared, plan, out->mechanism.sensitivity / step, sigma, &counted, error));
    out->event = event_of(out, counted);
    out->scale = out->shared.scale * step;
    out->deviation = out->scale * sqrt(parties);
    return TACIT_OK;
}

/* The noise of one release, `sensitivity` before roundings. */
static tacit_status set_noise(const tacit_plan *plan, dpnewton_release *out, const tacit_sum_spec *spec,
                              double sensitivity, double all, tacit_error *error) {
    double shift = (sensitivity + 2 * (GRADIENT_ROUNDING + tacit_sum_rounding(spec))) * (1 + 1e-12);
    bool noisy = isfinite(plan->epsilon);
    out->mechanism = (tacit_mechanism){
        TACIT_LAW_GAUSSIAN, shift, { TACIT_UNIT_RECORD, plan->epsilon, noisy ? plan->delta * out->share : 0 }
    };
    out->shared = (tacit_shared_noise){ .law = TACIT_LAW_DISCRETE_GAUSSIAN,
                                        .price = out->mechanism.price,
                                        .shares = 1,
                                        .length = spec->length,
                                        .runs = 1 };
    if (!noisy) return TACIT_OK;
    double sigma = all / sqrt(out->share), found = 0;
    TACIT_TRY(price_of(&out->mechanism.price, sigma, &found, error));
    out->shared.price = out->mechanism.price;
    if (tacit_plan_shares_noise(plan)) return share_noise(plan, out, spec, sigma, error);
    out->scale = found * shift * (1 + 1e-12);
    out->deviation = out->scale * surplus(plan);
    out->event = event_of(out, found);
    return tacit_event_check(&out->event, error);
}

static tacit_status set_all_noise(const tacit_plan *plan, dpnewton_design *out, tacit_error *error) {
    double all = 0;
    if (isfinite(plan->epsilon)) TACIT_TRY(total_noise(plan, &all, error));
    if (out->reuses) out->release[0].share = out->family->moments / UNITS; /* what it would have */
    TACIT_TRY(set_noise(plan, &out->release[0], &out->moments, M_SQRT2, all, error));
    if (out->reuses) out->release[0] = (dpnewton_release){ .deviation = out->release[0].deviation };
    for (size_t t = 1; t <= out->rounds; t++)
        TACIT_TRY(set_noise(plan, &out->release[t], &out->gradient, dpnewton_gradient_sensitivity(out), all,
                            error));
    if (out->folds.count > 0)
        TACIT_TRY(
            set_noise(plan, &out->held_out, &out->counts, dpnewton_counts_sensitivity(out), all, error));
    if (out->asks_line) TACIT_TRY(set_noise(plan, &out->release[out->rounds + 1], &out->line, 1, all, error));
    if (isfinite(plan->epsilon))
        out->all = tacit_event_replaced(tacit_event_gaussian(all * sqrt(UNITS), (uint64_t)UNITS));
    return TACIT_OK;
}

/* The sums' bounds, with room for noise that is inside: of moments, gradients, counts and the line. */
static tacit_status set_sums(const tacit_plan *plan, dpnewton_design *out, const double room[4],
                             tacit_error *error) {
    const double rows = GRADIENT_MOST_ROWS;
    if (out->folds.count > 0)
        TACIT_TRY(tacit_sum_spec_for(&out->counts, tacit_tally_length(&out->tally), rows + room[2],
                                     plan->parties, error));
    if (out->asks_line)
        TACIT_TRY(tacit_sum_spec_for(&out->line, 2, rows * (0.5 + GRADIENT_ROUNDING) + room[3], plan->parties,
                                     error));
    TACIT_TRY(tacit_sum_spec_for(&out->moments, tacit_moments_length(out->width) + 1,
                                 rows * (1 + GRADIENT_ROUNDING) + room[0], plan->parties, error));
    return tacit_sum_spec_for(&out->gradient, out->models * out->scores * out->width,
                              rows * (0.5 + GRADIENT_ROUNDING) + room[1], plan->parties, error);
}

/* The largest noise that a release may have, twice over. */
static tacit_status room_for(const dpnewton_release *release, size_t length, double *out,
                             tacit_error *error) {
    TACIT_TRY(tacit_mechanism_reach(out, &release->mechanism, length, error));
    *out *= 2;
    return TACIT_OK;
}

static tacit_status set_unit(const tacit_plan *plan, dpnewton_design *out, tacit_error *error) {
    const dpnewton_settings *settings = dpnewton_settings_of(plan);
    if (settings->unit != DPNEWTON_PER_PERSON) return TACIT_OK;
    /* Without a schema, as for an explanation, it is the rows that have to say it (dpnewton_rows.c). */
    if (plan->schema != NULL && plan->schema->person == NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "unit=person needs to know whose rows are whose: name the column in the schema (person: COLUMN)");
    out->unit = (double)settings->person_rows;
    out->strength /= out->unit; /* of the noise, in rows */
    return TACIT_OK;
}

/* The family that the response asks for, and how its response is scaled: a number to [-1, 1], about 0 where
 * no intercept could hold its middle. */
static tacit_status set_family(const tacit_plan *plan, dpnewton_design *out, tacit_error *error) {
    const tacit_schema *schema = plan->schema;
    tacit_response response = plan->classes > 0 || schema == NULL ? TACIT_RESPONSE_CLASS : schema->response;
    out->classes = plan->classes;
    out->half = 1;
    out->family = response == TACIT_RESPONSE_CLASS && plan->classes < 2
                      ? NULL
                      : dpnewton_family_of(response, plan->classes);
    if (out->family == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "method dpnewton takes a label of two or more classes, or of kind number or count "
                          "with low and high in the schema");
    if (plan->classes > DPNEWTON_MOST_CLASSES)
        return tacit_fail(
            error, TACIT_USAGE,
            "method dpnewton takes at most %d classes, and there are %zu; for more use dpgd or dpsgd",
            DPNEWTON_MOST_CLASSES, plan->classes);
    out->scores = tacit_family_scores(out->family->family, plan->classes);
    if (out->family->family->quadratic && out->scaling.encoded > 0) {
        out->half = (schema->high - schema->low) / 2;
        out->middle = schema->low + out->half;
    } else if (out->family->family->quadratic) {
        out->half = fmax(fabs(schema->low), fabs(schema->high));
    }
    out->most = response == TACIT_RESPONSE_COUNT ? schema->high : 0;
    out->clip = out->family->clip(out);
    return TACIT_OK;
}

/* One model without each fold; the noise in its sums is that of the sensitivity of all models together. */
static void set_folds(const tacit_plan *plan, dpnewton_design *out) {
    const dpnewton_settings *settings = dpnewton_settings_of(plan);
    out->models = 1;
    out->part = 1;
    if (settings->folds < 2) return;
    double folds = (double)settings->folds;
    out->folds = (tacit_fold_plan){ (size_t)settings->folds, settings->fold_seed };
    out->models = out->folds.count;
    out->part = (folds - 1) / folds;
    out->strength /= sqrt(folds - 1);
}

static tacit_status set_all_sums(const tacit_plan *plan, dpnewton_design *out, tacit_error *error) {
    double room[4] = { 0 };
    TACIT_TRY(set_sums(plan, out, room, error));
    TACIT_TRY(set_all_noise(plan, out, error));
    if (!by_party(plan) || isinf(plan->epsilon)) return TACIT_OK;
    /* The first step has the smallest share, and so the most noise. */
    if (!out->reuses) TACIT_TRY(room_for(&out->release[0], out->moments.length, &room[0], error));
    TACIT_TRY(room_for(&out->release[1], out->gradient.length, &room[1], error));
    if (out->folds.count > 0) TACIT_TRY(room_for(&out->held_out, out->counts.length, &room[2], error));
    if (out->asks_line)
        TACIT_TRY(room_for(&out->release[out->rounds + 1], out->line.length, &room[3], error));
    TACIT_TRY(set_sums(plan, out, room, error));
    return set_all_noise(plan, out, error);
}

tacit_status dpnewton_describe(const tacit_plan *plan, dpnewton_design *out, tacit_error *error) {
    double strength = 0;
    TACIT_TRY(strength_of(plan, &strength, error));
    *out = (dpnewton_design){ .kernels = tacit_kernels_choose(),
                              .width = plan->features,
                              .reuses = dpnewton_settings_of(plan)->moments == DPNEWTON_REUSED_MOMENTS,
                              .scaling = scaling_of(plan),
                              .strength = strength };
    TACIT_TRY(set_family(plan, out, error));
    TACIT_TRY(set_unit(plan, out, error));
    set_folds(plan, out);
    out->rounds = choose_rounds(plan, out->family, out->part * out->strength);
    out->asks_line = dpnewton_asks_line(plan, out);
    set_shares_of_budget(out, dpnewton_missing_units(plan));
    TACIT_TRY(dpnewton_set_tally(plan, out, strength * sqrt(out->held_out.share), error));
    TACIT_TRY(dpnewton_set_missing(
        plan, &out->missing, !out->reuses + out->rounds + (out->folds.count > 0) + out->asks_line, error));
    return set_all_sums(plan, out, error);
}

/* lambda = l/n. */
tacit_status dpnewton_lambda(const tacit_plan *plan, double *out, tacit_error *error) {
    dpnewton_design design;
    TACIT_TRY(dpnewton_describe(plan, &design, error));
    double rows = design.part * dpnewton_rows(plan);
    *out = design.family->ridge(&design, rows, design.strength) / rows;
    return TACIT_OK;
}

tacit_noise_law dpnewton_noise_law(const tacit_plan *plan, const dpnewton_design *design) {
    const dpnewton_release *last = &design->release[design->rounds];
    double rows = design->part * dpnewton_rows(plan), d = (double)design->width, tail = 0,
           size = d * (double)design->scores;
    for (size_t t = 1; t <= design->rounds; t++) tail += dpnewton_tail(design, t);
    return (tacit_noise_law){
        .law = tacit_plan_shares_noise(plan)
                   ? "discrete Gaussian in shares, together near N(0, s^2), in every step; s of "
                     "the last, smallest"
                   : "Gaussian N(0, s^2), in every step; s of the last, smallest",
        .added_to = by_party(plan) ? "each party's gradient" : "the sum of the parties' gradients",
        .dimension = design->gradient.length,
        .sensitivity = last->mechanism.sensitivity,
        .scale = tacit_plan_shares_noise(plan) ? last->deviation : last->scale,
        .mean_norm = 2 * design->clip * dpnewton_units(design) * sqrt(size) * last->deviation *
                     sqrt(last->share / tail / (double)design->models) /
                     (rows / (4 * d) + rows * plan->lambda),
    };
}

tacit_status dpnewton_settle(tacit_plan *plan, tacit_error *error) {
    dpnewton_design design;
    if (dpnewton_infers(plan)) return TACIT_OK; /* it has rounds of its own */
    TACIT_TRY(dpnewton_describe(plan, &design, error));
    return tacit_plan_settle_number(plan, "rounds", (double)design.rounds, error);
}

/* ---- for inference (dpnewton_inference.c) ---- */

tacit_status dpnewton_strength(const tacit_plan *plan, double *out, tacit_error *error) {
    return strength_of(plan, out, error);
}

tacit_status dpnewton_calibrate(const tacit_plan *plan, dpnewton_release *out, const tacit_sum_spec *spec,
                                double sensitivity, tacit_error *error) {
    double all = 0;
    if (isfinite(plan->epsilon)) TACIT_TRY(total_noise(plan, &all, error));
    return set_noise(plan, out, spec, sensitivity, all, error);
}

tacit_status dpnewton_set_release(const tacit_plan *plan, dpnewton_release *out, tacit_sum_spec *spec,
                                  size_t length, double bound, double sensitivity, tacit_error *error) {
    double room = 0;
    TACIT_TRY(tacit_sum_spec_for(spec, length, bound, plan->parties, error));
    TACIT_TRY(dpnewton_calibrate(plan, out, spec, sensitivity, error));
    if (!by_party(plan) || isinf(plan->epsilon)) return TACIT_OK;
    TACIT_TRY(room_for(out, length, &room, error));
    TACIT_TRY(tacit_sum_spec_for(spec, length, bound + room, plan->parties, error));
    return dpnewton_calibrate(plan, out, spec, sensitivity, error);
}

tacit_status dpnewton_whole_event(const tacit_plan *plan, tacit_event *out, tacit_error *error) {
    double all = 0;
    *out = (tacit_event){ .count = 0 };
    if (isinf(plan->epsilon)) return TACIT_OK;
    TACIT_TRY(total_noise(plan, &all, error));
    *out = tacit_event_replaced(tacit_event_gaussian(all * sqrt(UNITS), (uint64_t)UNITS));
    return TACIT_OK;
}

tacit_status dpnewton_whole_price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                                  tacit_error *error) {
    (void)prepared;
    TACIT_TRY(dpnewton_whole_event(plan, &out->event, error));
    out->charged = out->claimed =
        (tacit_price){ TACIT_UNIT_RECORD, plan->epsilon, isfinite(plan->epsilon) ? plan->delta : 0 };
    return TACIT_OK;
}
