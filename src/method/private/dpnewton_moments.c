/*
 * Second moments that an earlier dpnewton study released with its model, used again: for another response, or
 * for some of the same columns. They are public, so nobody is asked and nothing is charged, and the whole
 * budget goes to the steps. The promise of this study does not rest on them: a party's answers are bounded
 * whatever weights it is asked about, so that moments of other rows, or invented ones, cost accuracy only.
 *
 *   x = (u, 1)/R then, x' = (u', 1)/R' now, u' some of u:   A' = (R/R')^2 times the rows and columns of A
 *                                                           that are left
 *   V' = V tr Q/tr Q', Q = A/(n V): shorter rows are shortened less
 *
 * and all is multiplied by the share of the parties that take part again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/private/dpnewton.h"
#include "num/noisy/noisy_moments.h"

double dpnewton_shortening(double moment, double rows, double noise, double intercept, double longest) {
    double square = rows * intercept * intercept, least = 1 / (longest * longest);
    if (!(least < 1)) return 1;
    double unsure = noise / square / 0.2, trust = 1 / (1 + unsure * unsure);
    double found = trust * moment / square + (1 - trust) * sqrt(least);
    return sqrt(fmin(fmax(found, least), 1));
}

static const double LONGEST = 2.8284271247461903; /* norm of a row that is scaled by R */

/* R; 0: rows are taken as they are. */
static double radius_of(const dpnewton_scaling *by) {
    return by->longest > 1 ? 1 / (by->encoded * by->intercept) : 0;
}

tacit_status dpnewton_keep_moments(const dpnewton_design *design, const double *values, double rows,
                                   size_t parties, tacit_released_moments **out, tacit_error *error) {
    double unit = design->unit > 0 ? design->unit : 1;
    double noise = unit * design->release[0].deviation;
    if (!(noise > 0) || design->width > TACIT_RELEASED_COLUMNS) return TACIT_OK;
    TACIT_TRY(tacit_released_moments_create(out, design->width, error));
    (*out)->parties = parties;
    (*out)->rows = rows;
    (*out)->radius = radius_of(&design->scaling);
    tacit_released_moments_round(*out, values, noise);
    return TACIT_OK;
}

/* ---- used again ---- */

static bool same_levels(const tacit_levels *a, const tacit_levels *b) {
    if (a->count != b->count) return false;
    for (size_t k = 0; k < a->count; k++)
        if (strcmp(a->text[k], b->text[k]) != 0) return false;
    return true;
}

/* What becomes of a missing value: the column's word, or its schema's. */
static bool same_missing(const tacit_schema *a, const tacit_schema_column *one, const tacit_schema *b,
                         const tacit_schema_column *other) {
    if (one->missing != other->missing) return false;
    if (one->missing != TACIT_MISSING_DEFAULT)
        return one->fill == other->fill && one->fill_level == other->fill_level;
    return a->missing_is_error == b->missing_is_error && a->complete_case == b->complete_case &&
           a->imputes == b->imputes;
}

/* What a cell is taken for: the day of an age, texts that stand for levels. */
static bool same_reading(const tacit_schema_column *one, const tacit_schema_column *other) {
    const tacit_recode *a = &one->recode, *b = &other->recode;
    if ((one->date_at == NULL) != (other->date_at == NULL)) return false;
    if (one->date_at != NULL && strcmp(one->date_at, other->date_at) != 0) return false;
    return same_levels(&a->from, &b->from) &&
           (a->from.count == 0 || memcmp(a->to, b->to, a->from.count * sizeof *a->to) == 0);
}

static bool same_column(const tacit_schema *a, const tacit_schema_column *one, const tacit_schema *b,
                        const tacit_schema_column *other) {
    return one->kind == other->kind && one->kind != TACIT_SCHEMA_TEXT && one->low == other->low &&
           one->high == other->high && one->mean == other->mean && one->sd == other->sd &&
           memcmp(&one->date, &other->date, sizeof one->date) == 0 && one->others == other->others &&
           same_reading(one, other) && one->effect == other->effect &&
           same_levels(&one->levels, &other->levels) && same_missing(a, one, b, other);
}

static const tacit_schema_column *find_column(const tacit_schema *schema, const char *name) {
    for (size_t c = 0; c < schema->cols; c++)
        if (strcmp(schema->columns[c].name, name) == 0) return &schema->columns[c];
    return NULL;
}

/* Every column that features are made of now was declared in the same way then. */
static tacit_status check_columns(const tacit_schema *now, const tacit_schema *then, tacit_error *error) {
    for (size_t c = 0; c < now->cols; c++) {
        const tacit_schema_column *one = &now->columns[c], *other = find_column(then, one->name);
        if (one->kind == TACIT_SCHEMA_SKIP || !tacit_schema_uses(now, c)) continue;
        if (other == NULL || !same_column(now, one, then, other))
            return tacit_fail(error, TACIT_USAGE,
                              "the moments to be reused are not of column '%s' as this schema declares it",
                              one->name);
    }
    return TACIT_OK;
}

/* Which feature of the released moments each feature is, by name. */
static tacit_status match_features(const tacit_plan *plan, size_t *place, tacit_error *error) {
    const tacit_schema *then = plan->model->schema;
    char **ours = NULL, **theirs = NULL;
    size_t count = tacit_schema_features(plan->schema), others = tacit_schema_features(then);
    tacit_status status;
    TACIT_CHECK(tacit_schema_feature_names(&ours, plan->schema, error));
    TACIT_CHECK(tacit_schema_feature_names(&theirs, then, error));
    for (size_t j = 0; j < count; j++) {
        size_t k = 0;
        while (k < others && strcmp(ours[j], theirs[k]) != 0) k++;
        if (k == others)
            TACIT_CHECK(
                tacit_fail(error, TACIT_USAGE, "the moments to be reused have no column '%s'", ours[j]));
        place[j] = k;
    }
cleanup:
    tacit_feature_names_free(ours, count);
    tacit_feature_names_free(theirs, others);
    return status;
}

static tacit_status check_source(const tacit_plan *plan, const dpnewton_design *design, tacit_error *error) {
    const tacit_model *model = plan->model;
    if (model == NULL || model->moments == NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "moments=reused needs the model of an earlier dpnewton study, with the moments that "
            "it released%s",
            model == NULL ? "" : ": this one has none");
    const tacit_schema *now = plan->schema, *then = model->schema;
    if (now == NULL || then == NULL || now->sparse > 0 || then->sparse > 0 ||
        (now->formula == NULL) != (then->formula == NULL) ||
        (model->moments->radius > 0) != (radius_of(&design->scaling) > 0))
        return tacit_fail(error, TACIT_USAGE,
                          "the moments to be reused are of rows that were encoded in another way");
    TACIT_TRY(check_columns(now, then, error));
    if (radius_of(&design->scaling) > 0 || design->width == model->moments->width) return TACIT_OK;
    return tacit_fail(
        error, TACIT_USAGE,
        "rows that are scaled one by one have other moments with other columns: use the columns of "
        "the earlier study, all of them");
}

tacit_status dpnewton_check_moments(const tacit_plan *plan, tacit_error *error) {
    dpnewton_design design;
    TACIT_TRY(dpnewton_describe(plan, &design, error));
    TACIT_TRY(check_source(plan, &design, error));
    size_t *place = TACIT_NEW(size_t, design.width);
    if (place == NULL) return tacit_fail_memory(error);
    tacit_status status = match_features(plan, place, error);
    free(place);
    return status;
}

static double trace(const double *matrix, size_t d) {
    double sum = 0;
    for (size_t j = 0; j < d; j++) sum += matrix[j * d + j];
    return sum;
}

/* All of A then, into what is left of it now. */
static void select_moments(const tacit_released_moments *from, const double *whole, const size_t *place,
                           double factor, double *out, size_t d) {
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) out[i * d + j] = factor * whole[place[i] * from->width + place[j]];
}

/* sqrt(V') in place of sqrt(V), and A as rows that are shortened so would have it. */
static void shorten_less(double were, size_t d, dpnewton_state *state, double *noise) {
    double are = trace(state->room, d), before = state->shortening;
    if (!(were > 0) || !(are > 0)) return;
    state->shortening = fmin(fmax(before * sqrt(were / are), 1 / LONGEST), 1);
    double factor = state->shortening / before * (state->shortening / before);
    for (size_t i = 0; i < d * d; i++) state->room[i] *= factor;
    *noise *= factor;
}

tacit_status dpnewton_reuse_moments(const tacit_plan *plan, const dpnewton_design *design,
                                    dpnewton_state *state, double *noise, tacit_error *error) {
    tacit_status status;
    double *whole = NULL;
    size_t *place = NULL, d = design->width;
    TACIT_CHECK(check_source(plan, design, error));
    const tacit_released_moments *from = plan->model->moments;
    place = TACIT_NEW(size_t, d);
    whole = TACIT_NEW(double, from->width * from->width);
    if (place == NULL || whole == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(match_features(plan, place, error));
    tacit_moments_unpack(whole, from->values, from->width);
    const double before = from->radius, now = radius_of(&design->scaling);
    double ratio = before > 0 ? before / now : 1,
           again = fmin(1, (double)plan->parties / (double)from->parties);
    size_t last = from->width - 1;
    double shortened = before > 0 ? dpnewton_shortening(whole[last * from->width + last], from->rows,
                                                        from->deviation, 1 / before, LONGEST)
                                  : 1;
    select_moments(from, whole, place, ratio * ratio * again, state->room, d);
    state->rows = from->rows * again;
    state->shortening = shortened;
    *noise = from->deviation * ratio * ratio * again;
    if (before > 0) shorten_less(trace(whole, from->width) * again, d, state, noise);
cleanup:
    free(whole);
    free(place);
    return status;
}

/* ---- of this study, or of the earlier one ---- */

/* H and Q of moments in state->room, with `noise` on one number of them. What is added damps steps, whose own
 * noise is that of this study: it is never less than with moments of this study. */
static tacit_status take_moments(const dpnewton_design *design, double noise, dpnewton_state *state,
                                 tacit_error *error) {
    size_t d = design->width;
    const dpnewton_family *family = design->family;
    double op = sqrt(2 * (double)d),
           damped = op * fmax(noise, dpnewton_units(design) * design->release[0].deviation);
    double lift[] = { family->lift * damped, damped / 10 }, least[] = { family->least * damped, 0 };
    double *both[] = { state->curvature, state->law };
    TACIT_TRY(tacit_moments_lift(both, least, lift, 2, state->room, d, error));
    double by = state->shortening, square = by * by * state->rows;
    if (family->watch != NULL) {
        double *values = state->spare;
        TACIT_TRY(tacit_moments_clean(state->likely, values, noise, state->room, d, error));
        for (size_t k = 0; k < d; k++) {
            state->noise.curvature[k] = (fmax(values[k], least[0]) + lift[0]) / by;
            state->noise.steep[k] = values[d + k] / by;
        }
    }
    for (size_t i = 0; i < d * d; i++) {
        state->curvature[i] /= by;
        state->law[i] /= square;
        state->likely[i] /= square;
    }
    return TACIT_OK;
}

static tacit_status ask_moments(tacit_session *session, const dpnewton_design *design, dpnewton_state *state,
                                double *noise, tacit_error *error) {
    const dpnewton_scaling *by = &design->scaling;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    size_t length = tacit_moments_length(design->width);
    tacit_status status;
    TACIT_CHECK(dpnewton_ask(session, "moments", &message, &design->moments, &design->release[0], length,
                             &sum, error));
    for (size_t j = 0; j < length; j++) sum.values[j] *= dpnewton_units(design);
    /* The number of rows, or of persons, is no secret where one is replaced; it may carry noise. */
    state->rows =
        dpnewton_units(design) *
        fmax(sum.values[length], (double)sum.parties * fmax(1, (double)session->plan->minimum_rows));
    *noise = dpnewton_units(design) * design->release[0].deviation;
    state->shortening = dpnewton_shortening(sum.values[length - 1], state->rows, *noise,
                                            by->encoded * by->intercept, by->longest);
    tacit_moments_unpack(state->room, sum.values, design->width);
    TACIT_CHECK(dpnewton_keep_moments(design, sum.values, state->rows, sum.parties, &state->released, error));
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

tacit_status dpnewton_find_moments(tacit_session *session, const dpnewton_design *design,
                                   dpnewton_state *state, tacit_error *error) {
    double noise = 0;
    if (design->reuses)
        TACIT_TRY(dpnewton_reuse_moments(session->plan, design, state, &noise, error));
    else
        TACIT_TRY(ask_moments(session, design, state, &noise, error));
    return take_moments(design, noise, state, error);
}
