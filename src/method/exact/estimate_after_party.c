/*
 * The party's half of the last look at an optimum (estimate.h): sums of squared gradients, leverages and
 * residuals at weights, and with an inverse of the Hessian, that the coordinator sends.
 *
 * What it guards against. The weights and the inverse may be lies. With an inverse of somebody's choice the
 * leverage of one row could be moved close to 1, and 1/(1 - h)^2 would single it out; with weights of
 * somebody's choice one residual could. So a real party asks the same as of every other round
 * (estimate_bounds.c), and
 *
 *   - the effective number of rows (or of persons) in the sum of squared gradients, (sum v)^2/sum v^2 with v
 *     = |g|^2/(1 - h)^k, is at least its owner's minimum, of every family: a linear response too, for its
 *     squared residuals are no quadratic of X^T X and X^T y;
 *   - leverages are those of a Hessian of more rows than its own: none is below 0, and they add up to at most
 *     the number of weights. With one above .99 HC2 and HC3 have no value: the party says so, and weighs the
 *     row as one with .99;
 *   - residuals and leverages of which few rows have almost all are held back, as 0 and with the party
 *     counted, and so is a number of rows with a large Cook's distance that is below the minimum, and not 0.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "method/exact/estimate.h"
#include "method/persons.h"

static const double MOST_LEVERAGE = 0.99;

/* Sums over rows that add up over all who hold them: those that leave, and those that are looked at. */
enum {
    SQUARES2 = TACIT_REACHES, /* of the squared gradients' squares */
    PEARSON2,                 /* of the squared residuals' squares */
    LEVERAGES,                /* of leverages, asked for or not */
    HIGH,                     /* rows with a leverage above MOST_LEVERAGE */
    WRONG,                    /* rows with one that no Hessian gives */
    COUNTS
};

typedef struct look {
    tacit_estimate_pass pass;
    const tacit_estimate_settings *settings;
    const double *w, *inverse, *terms;
    double n, dispersion;
    size_t width;
    double *full, *x, *gradient; /* of the row under way */
    double *all; /* of several scores a row: the weights of each, and room for as much; else NULL */
    double count[COUNTS];
    double *matrix;        /* lower triangle, packed; NULL in "reach" */
    person_places persons; /* with clustered errors */
    double *cluster;       /* persons x width */
} look;

static void end_look(look *self) {
    free(self->full);
    free(self->x);
    free(self->all);
    person_places_clear(&self->persons);
    free(self->cluster);
    tacit_estimate_end_pass(&self->pass);
}

static bool weighs(const look *self) {
    return self->settings->errors == TACIT_ERRORS_HC2 || self->settings->errors == TACIT_ERRORS_HC3;
}

static bool clustered(const look *self) { return tacit_estimate_clustered(self->settings); }

static tacit_status gather(look *self, const tacit_party *party, tacit_error *error) {
    TACIT_TRY(person_places_make(&self->persons, party, error));
    self->cluster = TACIT_NEW(double, (self->persons.count + 1) * self->width);
    return self->cluster != NULL ? TACIT_OK : tacit_fail_memory(error);
}

/* ---- rows ---- */

static double product(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t j = 0; j < count; j++) sum += a[j] * b[j];
    return sum;
}

/* z.A^-1 z, A^-1 packed. */
static double inverse_form(const look *self, const double *z) {
    const double *entry = self->inverse;
    double sum = 0;
    for (size_t i = 0; i < self->width; i++) {
        double partial = product(entry, z, i) + 0.5 * entry[i] * z[i];
        sum += 2 * z[i] * partial;
        entry += i + 1;
    }
    return sum;
}

/* matrix += weight g g^T */
static void add_square(look *self, double weight, const double *g) {
    double *entry = self->matrix;
    for (size_t i = 0; i < self->width; i++) {
        double scaled = weight * g[i];
        for (size_t j = 0; j <= i && scaled != 0; j++) entry[j] += scaled * g[j];
        entry += i + 1;
    }
}

/* Of one row with several scores: its gradient. */
static void take_several(look *self, double y) {
    const tacit_several_shape *shape = &self->pass.design.shape;
    double score[TACIT_SEVERAL_SCORES], slope[TACIT_SEVERAL_SCORES], value;
    double curvature[TACIT_SEVERAL_SCORES * TACIT_SEVERAL_SCORES];
    double *all = self->all + shape->scores * shape->base;
    for (size_t k = 0; k < shape->scores; k++)
        score[k] = product(self->x, self->all + k * shape->base, shape->base);
    self->pass.family->loss.several(shape->scores, y, score, &value, slope, curvature);
    for (size_t k = 0; k < shape->scores; k++)
        for (size_t j = 0; j < shape->base; j++) all[k * shape->base + j] = slope[k] * self->x[j];
    tacit_several_gather(shape, all, self->gradient);
}

/* Of one row its gradient and, with one score, that and l''. */
static void take_row(look *self, const tacit_view *block, size_t i, double *y, double *score,
                     double *curvature) {
    const tacit_loss *loss = &self->pass.family->loss;
    double value, slope;
    tacit_rows_copy(&block->rows, i, self->full);
    size_t base = self->all != NULL ? self->pass.design.shape.base : self->width;
    for (size_t j = 0; j < base; j++) self->x[j] = self->full[self->pass.design.kept[j]];
    tacit_estimate_response(&self->pass, block, i, y);
    *score = *curvature = 0;
    const double weight = tacit_row_weight_of(&self->pass.design, &block->rows, i);
    if (self->all != NULL) {
        take_several(self, *y);
        for (size_t j = 0; j < self->width; j++) self->gradient[j] *= weight;
        return;
    }
    *score = product(self->x, self->w, self->width) + tacit_row_offset(&self->pass.design, &block->rows, i);
    loss->rows(tacit_kernels_choose(), loss->shape_default, 1, y, score, &value, &slope, curvature);
    *curvature *= weight;
    for (size_t j = 0; j < self->width; j++) self->gradient[j] = weight * slope * self->x[j];
}

/* Pearson's residual, what it does, and what it explains. */
static void add_residual(look *self, double y, double score, double h) {
    const tacit_family *family = self->pass.family;
    double mean = family->mean(score), variance = family->variance(mean), off = y - mean;
    double square = off == 0 ? 0 : off * off / variance, left = 1 - h;
    double *count = self->count;
    count[TACIT_REACH_PEARSON] += square;
    count[PEARSON2] += square * square;
    count[TACIT_REACH_LEVERAGE] += h;
    count[TACIT_REACH_LEVERAGE2] += h * h;
    if (family->loss.of_classes) count[TACIT_REACH_EXPLAINED] += y * mean;
    double cook = square * h / (left * left * self->dispersion * (double)self->width);
    count[TACIT_REACH_COOK] += square > 0 && !(cook <= 4 / self->n);
}

static tacit_status look_at(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    look *self = context;
    (void)first;
    (void)error;
    for (size_t i = 0; i < block->rows.count; i++) {
        double y[TACIT_RESPONSE_COLUMNS], score, curvature, h = 0, weight = 1;
        take_row(self, block, i, y, &score, &curvature);
        if (weighs(self) || self->settings->influence) h = curvature * inverse_form(self, self->x);
        self->count[WRONG] += !(h >= -1e-9 && h <= 1 + 1e-6);
        self->count[HIGH] += weighs(self) && !(h <= MOST_LEVERAGE);
        self->count[LEVERAGES] += h;
        h = fmin(fmax(h, 0), 1);
        if (weighs(self))
            weight = pow(1 - fmin(h, MOST_LEVERAGE), self->settings->errors == TACIT_ERRORS_HC3 ? -2 : -1);
        if (self->settings->influence) add_residual(self, *y, score, h);
        if (clustered(self)) {
            size_t place = person_place(&self->persons, block, i);
            for (size_t j = 0; j < self->width; j++)
                self->cluster[place * self->width + j] += self->gradient[j];
            continue;
        }
        double square = weight * product(self->gradient, self->gradient, self->width);
        self->count[TACIT_REACH_SQUARES] += square;
        self->count[SQUARES2] += square * square;
        if (self->matrix != NULL) add_square(self, weight, self->gradient);
    }
    return TACIT_OK;
}

static void look_at_clusters(look *self) {
    self->count[TACIT_REACH_CLUSTERS] = (double)self->persons.count;
    for (size_t c = 0; c < self->persons.count; c++) {
        const double *g = self->cluster + c * self->width;
        double square = product(g, g, self->width);
        self->count[TACIT_REACH_SQUARES] += square;
        self->count[SQUARES2] += square * square;
        if (self->matrix != NULL) add_square(self, 1, g);
    }
}

/* ---- what may leave ---- */

static const tacit_policy *rules_of(const tacit_party *party) {
    bool real = !party->follows && party->gate != NULL && party->gate->mode == TACIT_GATE_REAL;
    return real ? party->gate->policy : NULL;
}

static tacit_status check_counts(const look *self, const tacit_party *party, tacit_error *error) {
    const double *count = self->count;
    const tacit_policy *rules = rules_of(party);
    if (rules == NULL) return TACIT_OK;
    if (count[WRONG] > 0 || !(count[LEVERAGES] <= (double)self->width * (1 + 1e-6)))
        return tacit_fail(
            error, TACIT_REFUSED,
            "the coordinator's inverse gives leverages that no Hessian of this party's and other rows has");
    double squares = count[TACIT_REACH_SQUARES], effective = squares * squares / count[SQUARES2];
    if (self->settings->errors == TACIT_ERRORS_MODEL || count[SQUARES2] == 0 ||
        effective >= (double)rules->minimum_rows)
        return TACIT_OK;
    return tacit_fail(
        error, TACIT_REFUSED,
        "%.3g %s make up almost all of this party's squared gradients, fewer than the owner's minimum of "
        "%llu: exact sums would reveal them. Ask for model errors, or lower the minimum (tacit rules set "
        "--minimum-rows)",
        effective, clustered(self) ? "persons" : "rows", (unsigned long long)rules->minimum_rows);
}

/* Of a real party: what few rows make up is 0, and the party is counted. */
static void hold_back(look *self, const tacit_party *party) {
    double *count = self->count;
    const tacit_policy *rules = rules_of(party);
    if (rules == NULL || !self->settings->influence) return;
    double minimum = (double)rules->minimum_rows;
    if (count[TACIT_REACH_COOK] > 0 && count[TACIT_REACH_COOK] < minimum) {
        count[TACIT_REACH_COOK] = 0;
        count[TACIT_REACH_COOK_HELD] = 1;
    }
    double pearson = count[TACIT_REACH_PEARSON], leverage = count[TACIT_REACH_LEVERAGE];
    bool few = count[PEARSON2] > 0 && !(pearson * pearson / count[PEARSON2] >= minimum);
    bool high = leverage > 0 && !(leverage * leverage / count[TACIT_REACH_LEVERAGE2] >= minimum);
    if (!few && !high) return;
    count[TACIT_REACH_PEARSON] = count[TACIT_REACH_LEVERAGE] = count[TACIT_REACH_LEVERAGE2] = 0;
    count[TACIT_REACH_EXPLAINED] = 0;
    count[TACIT_REACH_HELD] = 1;
}

/* ---- questions ---- */

static tacit_status begin_look(look *self, const tacit_party *party, const tacit_question *question,
                               tacit_error *error) {
    const tacit_message *message = question->message;
    const double *dispersion;
    *self = (look){ .settings = tacit_estimate_settings_of(party->plan) };
    TACIT_TRY(tacit_estimate_begin_pass(&self->pass, party, error));
    if (!tacit_estimate_looks_again(party->plan))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for squared gradients or residuals, which the "
                          "study has no use for");
    size_t width = self->width = self->pass.design.width;
    TACIT_TRY(tacit_estimate_read_total(party, question, &self->n, error));
    TACIT_TRY(tacit_message_numbers(message, "weights", width, &self->w, error));
    TACIT_TRY(tacit_message_numbers(message, "response", TACIT_ESTIMATE_TERMS, &self->terms, error));
    TACIT_TRY(tacit_message_numbers(message, "inverse", width * (width + 1) / 2, &self->inverse, error));
    TACIT_TRY(tacit_message_numbers(message, "dispersion", 1, &dispersion, error));
    if (self->pass.family->dispersed ? !(*dispersion >= 0) : *dispersion != 1)
        return tacit_fail(error, TACIT_REFUSED, "the coordinator's dispersion is none that family %s has",
                          self->pass.family->name);
    self->dispersion = *dispersion;
    const double *const chosen[] = { self->w, self->inverse, dispersion, NULL };
    const size_t counts[] = { width, width * (width + 1) / 2, 1 };
    char name[40] = "last-look"; /* of each completed set */
    const int64_t *set;
    if (tacit_estimate_sets(party->plan) > 0) {
        TACIT_TRY(tacit_message_integers(message, "set", 1, &set, error));
        if (*set < 0 || (size_t)*set >= tacit_estimate_sets(party->plan))
            return tacit_fail(error, TACIT_PROTOCOL, "the coordinator asks for an unknown set");
        if (*set > 0) tacit_format(name, sizeof name, "last-look-%d", (int)*set);
    }
    TACIT_TRY(tacit_party_asked_once(party, name, chosen, counts, error));
    self->full = TACIT_NEW(double, party->plan->features);
    self->x = TACIT_NEW(double, 2 * width);
    if (self->full == NULL || self->x == NULL) return tacit_fail_memory(error);
    self->gradient = self->x + width;
    const tacit_several_shape *shape = &self->pass.design.shape;
    if (shape->scores > 0) {
        self->all = TACIT_NEW(double, 2 * shape->scores * shape->base);
        if (self->all == NULL) return tacit_fail_memory(error);
        tacit_several_expand(shape, self->w, self->all);
    }
    return clustered(self) ? gather(self, party, error) : TACIT_OK;
}

static tacit_status same_sum(const tacit_question *question, const tacit_sum_spec *spec, tacit_error *error) {
    if (question->wants_sum && tacit_sum_spec_equal(&question->sum, spec)) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED, "the coordinator asks for another sum than the study defines");
}

/* Over all rows, wherever they are held; all holders have the totals then, and the one with the gate
 * decides. */
static tacit_status look_over(look *self, tacit_party *party, const tacit_question *question,
                              tacit_error *error) {
    TACIT_TRY(tacit_dataset_map(&party->rows, 0, look_at, self, error));
    if (clustered(self)) look_at_clusters(self);
    if (party->reducer != NULL)
        TACIT_TRY(party->reducer->sum(party->reducer->context, self->count, COUNTS, error));
    tacit_row_sums how = { .family = self->pass.family,
                           .several = self->all != NULL ? &self->pass.design.shape : NULL,
                           .weight = TACIT_WEIGH_NONE,
                           .width = self->width,
                           .w = self->w,
                           .kept = self->pass.design.kept,
                           .design = &self->pass.design,
                           .response = tacit_estimate_response,
                           .context = &self->pass,
                           .pool = party->pool };
    TACIT_TRY(tacit_estimate_bounds(party, question, &how, error));
    return check_counts(self, party, error);
}

tacit_status tacit_estimate_answer_reach(tacit_party *party, const tacit_question *question,
                                         tacit_reply *reply, tacit_error *error) {
    tacit_sum_spec spec = tacit_estimate_reach_sum(party->plan);
    tacit_estimate_completed complete = { .label = NULL };
    double most[TACIT_REACHES];
    look self;
    tacit_status status;
    TACIT_CHECK(begin_look(&self, party, question, error));
    TACIT_CHECK(tacit_estimate_choose_rows(party, question, &complete, &party, error));
    TACIT_CHECK(same_sum(question, &spec, error));
    TACIT_CHECK(tacit_estimate_begin_reply(party, spec.length, reply, error));
    TACIT_CHECK(look_over(&self, party, question, error));
    hold_back(&self, party);
    self.count[TACIT_REACH_HIGH] = self.count[HIGH] > 0;
    if (self.settings->errors == TACIT_ERRORS_MODEL) self.count[TACIT_REACH_SQUARES] = 0; /* of no use */
    tacit_estimate_most(party->plan, self.n, self.terms, self.width, most);
    for (size_t k = 0; k < TACIT_REACHES; k++)
        reply->contribution[TACIT_ESTIMATE_HEAD + k] = self.count[k] / most[k];
    tacit_estimate_seal(party, &spec, reply->contribution);
cleanup:
    tacit_estimate_completed_clear(&complete);
    end_look(&self);
    return status;
}

tacit_status tacit_estimate_answer_middle(tacit_party *party, const tacit_question *question,
                                          tacit_reply *reply, tacit_error *error) {
    tacit_estimate_completed complete = { .label = NULL };
    const double *squares;
    look self;
    tacit_status status;
    TACIT_CHECK(begin_look(&self, party, question, error));
    TACIT_CHECK(tacit_estimate_choose_rows(party, question, &complete, &party, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "squares", 1, &squares, error));
    if (!(*squares > 0 && isfinite(*squares)) || self.settings->errors == TACIT_ERRORS_MODEL)
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED,
                               "the coordinator asks for a middle that the study has no use for"));
    tacit_sum_spec spec = tacit_estimate_middle_sum(party->plan, *squares, self.width);
    TACIT_CHECK(same_sum(question, &spec, error));
    TACIT_CHECK(tacit_estimate_begin_reply(party, spec.length, reply, error));
    self.matrix = reply->contribution + TACIT_ESTIMATE_HEAD;
    TACIT_CHECK(look_over(&self, party, question, error));
    if (party->reducer != NULL)
        TACIT_CHECK(party->reducer->sum(party->reducer->context, self.matrix,
                                        spec.length - TACIT_ESTIMATE_HEAD, error));
    tacit_estimate_seal(party, &spec, reply->contribution);
cleanup:
    tacit_estimate_completed_clear(&complete);
    end_look(&self);
    return status;
}
