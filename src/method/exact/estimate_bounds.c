/*
 * What a party looks at before its sums at weights of somebody else's choice leave. Under some weights few
 * rows make up almost all of an exact sum: with p near 0 and 1 for all rows but one, the Hessian is that
 * row's x x^T; with exp(x.w) led by one row, so is everything. A party cannot redo the coordinator's step,
 * for it does not know the sums of the others; it can see what the weights do to its own rows:
 *
 *   scores      |x.w| <= 100 in every row (logistic, poisson). Honest fits of columns that tell the classes
 *               almost apart reach 60;
 *   rows        the effective number (sum v)^2 / sum v^2 of what multiplies x in the gradient, v = |l'|, and
 *               in the matrix, v = l'' or l'^2, is at least the owner's minimum of rows. It is n for equal v,
 *               and 1 if one row has all;
 *   adjusted    with bias=firth the same number of what the coordinator's inverse adds to a gradient, by
 *               itself and with the gradient (estimate_firth.c): an inverse that is large for one row only
 *               adds that row;
 *   rounds      no more than the optimiser takes.
 *
 * With l'' it is asked of logistic and poisson in every round, matrix or not: the gradients at two close
 * points differ by the Hessian. A hinge has rows with l'' = 0 or 1/(2h) only, and may have few of them on its
 * way: its matrix counts where it is asked for. Of a linear response nothing is asked, since every sum is the
 * same quadratic of X^T X, X^T y and y^T y whatever w is.
 *
 * Within these bounds weights can still be chosen (SECURITY.md).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/exact/estimate.h"

static const double MOST_SCORE = 100;

enum { ROUNDS_NEWTON = 300, ROUNDS_LBFGS = 1500, ROUNDS_TERM = 30 };

/* Sums over rows, which add up over all who hold rows. */
enum {
    FAR,
    SLOPES,
    SLOPES_SQUARED,
    CURVATURES,
    CURVATURES_SQUARED,
    MIDDLES_SQUARED,
    FIRTH,
    COUNTS = FIRTH + TACIT_FIRTH_SIZES
};

typedef struct looking {
    const tacit_row_sums *how;
    double *weights; /* of all features, of each score */
    double count[COUNTS];
} looking;

static void count_one(looking *self, double score, double slope, double curvature) {
    self->count[FAR] += !(fabs(score) <= MOST_SCORE);
    self->count[SLOPES] += fabs(slope);
    self->count[SLOPES_SQUARED] += slope * slope;
    self->count[CURVATURES] += curvature;
    self->count[CURVATURES_SQUARED] += curvature * curvature;
    self->count[MIDDLES_SQUARED] += slope * slope * slope * slope;
}

static tacit_status look_at(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    enum { PIECE = 64 };
    looking *self = context;
    const tacit_row_sums *how = self->how;
    const tacit_loss *of = &how->family->loss;
    double y[PIECE * TACIT_RESPONSE_COLUMNS], score[PIECE], loss[PIECE], slope[PIECE], curvature[PIECE];
    (void)first;
    (void)error;
    for (size_t at = 0; at < block->rows.count; at += PIECE) {
        size_t count = block->rows.count - at < PIECE ? block->rows.count - at : PIECE;
        for (size_t i = 0; i < count; i++) {
            how->response(how->context, block, at + i, y + i * of->columns);
            score[i] = tacit_rows_dot(&block->rows, at + i, self->weights);
        }
        of->rows(tacit_kernels_choose(), of->shape_default, count, y, score, loss, slope, curvature);
        for (size_t i = 0; i < count; i++) {
            double weight = tacit_row_weight_of(how->design, &block->rows, at + i);
            count_one(self, score[i], weight * slope[i], weight * curvature[i]);
        }
    }
    return TACIT_OK;
}

/* The same of several scores a row: the largest score, and the sums of absolute slopes and of curvatures on
 * the diagonal. */
static tacit_status look_at_several(void *context, const tacit_view *block, size_t first,
                                    tacit_error *error) {
    looking *self = context;
    const tacit_row_sums *how = self->how;
    size_t m = how->several->scores;
    double score[TACIT_SEVERAL_SCORES], slope[TACIT_SEVERAL_SCORES], y;
    double curvature[TACIT_SEVERAL_SCORES * TACIT_SEVERAL_SCORES];
    (void)first;
    (void)error;
    for (size_t i = 0; i < block->rows.count; i++) {
        double loss, most = 0, slopes = 0, curvatures = 0;
        how->response(how->context, block, i, &y);
        for (size_t k = 0; k < m; k++)
            score[k] = tacit_rows_dot(&block->rows, i, self->weights + k * block->rows.cols);
        how->family->loss.several(m, y, score, &loss, slope, curvature);
        for (size_t k = 0; k < m; k++) {
            most = fabs(score[k]) <= most ? most : fabs(score[k]);
            slopes += fabs(slope[k]);
            curvatures += curvature[k * m + k];
        }
        const double weight = tacit_row_weight_of(how->design, &block->rows, i);
        count_one(self, most, weight * slopes, weight * curvatures);
    }
    return TACIT_OK;
}

static tacit_status spread_several(looking *self, const tacit_party *party, tacit_error *error) {
    const tacit_row_sums *how = self->how;
    const tacit_several_shape *shape = how->several;
    double *all = TACIT_NEW(double, shape->scores * shape->base);
    self->weights = TACIT_NEW(double, shape->scores * party->plan->features);
    if (self->weights == NULL || all == NULL) {
        free(all);
        return tacit_fail_memory(error);
    }
    tacit_several_expand(shape, how->w, all);
    for (size_t k = 0; k < shape->scores; k++)
        for (size_t j = 0; j < shape->base; j++)
            self->weights[k * party->plan->features + (how->kept != NULL ? how->kept[j] : j)] =
                all[k * shape->base + j];
    free(all);
    return tacit_dataset_map(&party->rows, 0, look_at_several, self, error);
}

static tacit_status spread_one(looking *self, const tacit_party *party, tacit_error *error) {
    const tacit_row_sums *how = self->how;
    self->weights = TACIT_NEW(double, party->plan->features);
    if (self->weights == NULL) return tacit_fail_memory(error);
    for (size_t j = 0; j < how->width; j++) self->weights[how->kept != NULL ? how->kept[j] : j] = how->w[j];
    if (how->design != NULL && how->design->offset != SIZE_MAX)
        self->weights[how->design->offset] = how->design->offset_weight;
    return tacit_dataset_map(&party->rows, 0, look_at, self, error);
}

static tacit_status count_rows(looking *self, const tacit_party *party, tacit_error *error) {
    TACIT_TRY((self->how->several != NULL ? spread_several : spread_one)(self, party, error));
    if (party->reducer == NULL) return TACIT_OK;
    return party->reducer->sum(party->reducer->context, self->count, COUNTS, error);
}

/* Nothing at all is no row's; NaN is refused. */
static tacit_status enough(double sum, double squares, uint64_t minimum, const char *what,
                           tacit_error *error) {
    if (squares == 0 || sum * sum / squares >= (double)minimum) return TACIT_OK;
    return tacit_fail(
        error, TACIT_REFUSED,
        "at the coordinator's weights %.3g rows make up almost all of this party's %s, fewer than the "
        "owner's minimum of %llu: exact sums would reveal these rows. If the study is an honest one, its "
        "columns nearly tell the classes apart or a few rows lead: ask for bias: firth, a lambda above 0 or "
        "fewer columns, or lower the minimum (tacit rules set --minimum-rows)",
        sum * sum / squares, what, (unsigned long long)minimum);
}

static tacit_status check_rounds(const tacit_party *party, const tacit_question *question,
                                 tacit_error *error) {
    const bool lbfgs = tacit_estimate_settings_of(party->plan)->optimiser == TACIT_ESTIMATE_LBFGS;
    const size_t sets = tacit_estimate_sets(party->plan);
    const tacit_schema *schema = party->plan->schema;
    uint64_t most = (lbfgs ? ROUNDS_LBFGS : ROUNDS_NEWTON) * (sets > 1 ? sets : 1);
    if (tacit_estimate_wants_ratios(party->plan) && schema != NULL)
        most += ROUNDS_TERM * (schema->formula != NULL ? tacit_formula_terms(schema->formula) : schema->cols);
    if (tacit_estimate_folds(party->plan).count > 0) most += ROUNDS_NEWTON;
    if (question->round < most) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "the coordinator asks in round %llu, and an honest fit takes fewer than %llu",
                      (unsigned long long)question->round + 1, (unsigned long long)most);
}

static tacit_status check_counts(const tacit_party *party, const looking *self, tacit_error *error) {
    const tacit_family *family = self->how->family;
    const double *count = self->count;
    const uint64_t minimum = party->gate->policy->minimum_rows;
    const tacit_row_weight weight = self->how->weight;
    if (family->likelihood && !(count[FAR] == 0))
        return tacit_fail(error, TACIT_REFUSED,
                          "at the coordinator's weights %.0f rows of this party have scores beyond %g: there "
                          "is no finite estimate, or the weights are intended to single rows out. Ask for "
                          "bias: firth, a lambda above 0 or fewer columns",
                          count[FAR], MOST_SCORE);
    TACIT_TRY(enough(count[SLOPES], count[SLOPES_SQUARED], minimum, "gradient", error));
    if (family->likelihood || weight == TACIT_WEIGH_CURVATURE)
        TACIT_TRY(enough(count[CURVATURES], count[CURVATURES_SQUARED], minimum, "second moments", error));
    if (weight == TACIT_WEIGH_SLOPE)
        TACIT_TRY(enough(count[SLOPES_SQUARED], count[MIDDLES_SQUARED], minimum, "squared gradients", error));
    const double *firth = count + FIRTH;
    TACIT_TRY(enough(firth[TACIT_FIRTH_ADJUSTED], firth[TACIT_FIRTH_ADJUSTED_SQUARED], minimum,
                     "adjustments of the gradient", error));
    return enough(firth[TACIT_FIRTH_SLOPES], firth[TACIT_FIRTH_SLOPES_SQUARED], minimum, "adjusted gradient",
                  error);
}

/* Of those who hold a party's rows the one with the gate refuses; all of them add up first. */
tacit_status tacit_estimate_bounds(const tacit_party *party, const tacit_question *question,
                                   const tacit_row_sums *how, tacit_error *error) {
    looking self = { .how = how };
    if (how->adjusted != NULL)
        memcpy(self.count + FIRTH, how->adjusted, TACIT_FIRTH_SIZES * sizeof *how->adjusted);
    const bool linear = how->family->quadratic;
    tacit_status status = TACIT_OK;
    if (!linear) status = count_rows(&self, party, error);
    free(self.weights);
    if (status != TACIT_OK || party->follows || party->gate == NULL) return status;
    if (party->gate->mode != TACIT_GATE_REAL) return TACIT_OK;
    TACIT_TRY(check_rounds(party, question, error));
    if (how->weight == TACIT_WEIGH_SLOPE && how->family->likelihood)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for squared gradients, which family %s has no use for",
                          how->family->name);
    return linear ? TACIT_OK : check_counts(party, &self, error);
}
