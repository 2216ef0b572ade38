/* The party's half of method estimate: sums over its rows (estimate.c says what they are for). */
#include "method/exact/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/methods.h"
#include "method/row_sums.h"

/* ---- what both halves know ---- */

const tacit_family *tacit_estimate_family(const tacit_plan *plan) {
    char name[TACIT_SETTING_SIZE];
    const unsigned family = tacit_estimate_settings_of(plan)->family;
    tacit_response response = plan->schema != NULL ? plan->schema->response : TACIT_RESPONSE_NUMBER;
    if (family != TACIT_ESTIMATE_AUTO)
        return tacit_family_find(tacit_setting_word(TACIT_ESTIMATE_FAMILIES, family, name));
    return plan->classes > 0 ? tacit_family_for(plan->classes) : tacit_family_of(response, 0);
}

/* The sum of `length` numbers over n rows. */
tacit_sum_spec tacit_estimate_sum(const tacit_plan *plan, double n, const double *terms, size_t length) {
    double high = plan->schema != NULL ? plan->schema->high : 0;
    const tacit_family *family = tacit_estimate_family(plan);
    tacit_design scale;
    tacit_design_scale(&scale, family, plan->schema);
    /* as if rows stood repeatedly */
    double rows = fmax(1, n) * (scale.weights != SIZE_MAX ? scale.weights_reach : 1);
    double bound = scale.offset != SIZE_MAX ? family->offset_bound(rows, high, scale.offset_reach, terms)
                                            : family->bound(rows, high, terms);
    int bound_bits, party_bits;
    frexp(bound, &bound_bits);
    frexp((double)plan->parties, &party_bits);
    return (tacit_sum_spec){ TACIT_ESTIMATE_HEAD + length, bound, 62 - bound_bits - party_bits };
}

tacit_release_kind tacit_estimate_kind(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_ENTRUSTED;
}

tacit_sum_spec tacit_estimate_rows(void) {
    static const double MOST_ROWS = 4294967296.0; /* of one party */
    return (tacit_sum_spec){ 1, MOST_ROWS, 0 };
}

/* Weights of all features, those left out being 0, whose score is the mean of a linear response as it is. */
tacit_status tacit_estimate_model(tacit_model **out, const tacit_plan *plan, const tacit_design *design,
                                  const double *w, tacit_error *error) {
    tacit_model *model = NULL;
    TACIT_TRY(tacit_model_create(&model, tacit_estimate_family(plan), plan->features, plan->classes, error));
    if (design->shape.scores > 0 &&
        tacit_estimate_class_weights(design, w, model->weights, error) != TACIT_OK) {
        tacit_model_free(model);
        return TACIT_NO_MEMORY;
    }
    for (size_t j = 0; design->shape.scores == 0 && j < design->width; j++)
        model->weights[design->kept[j]] =
            design->half * w[j] + (j == design->intercept ? design->middle / design->intercept_value : 0);
    if (design->offset != SIZE_MAX) model->weights[design->offset] = design->half * design->offset_weight;
    *out = model;
    return TACIT_OK;
}

/* ---- the party's half ---- */

/* A whole number below 2^20 that sets parties apart (the finaliser of splitmix64). */
static double token_of(const tacit_party *party) {
    uint64_t z = party->number + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 44);
}

/* An empty contribution with its head, and how it leaves. */
tacit_status tacit_estimate_begin_reply(const tacit_party *party, size_t length, tacit_reply *reply,
                                        tacit_error *error) {
    tacit_prices prices;
    TACIT_TRY(tacit_party_price(party, &prices, error));
    reply->kind = tacit_estimate_kind(party->plan);
    reply->noise = TACIT_NOISE_NONE;
    reply->price = prices.charged;
    reply->contribution = TACIT_NEW(double, length);
    return reply->contribution != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status answer_rows(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                tacit_error *error) {
    tacit_sum_spec spec = tacit_estimate_rows();
    if (!question->wants_sum || !tacit_sum_spec_equal(&question->sum, &spec))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for another sum than the study defines");
    TACIT_TRY(tacit_design_check_rows(party->plan->schema, &party->rows, error));
    TACIT_TRY(tacit_estimate_admit_folds(party, error));
    TACIT_TRY(tacit_estimate_begin_reply(party, 1, reply, error));
    if (tacit_estimate_sets(party->plan) > 0) tacit_party_forget(party); /* sets of an earlier run */
    reply->contribution[0] = (double)party->total_rows;
    return TACIT_OK;
}

typedef tacit_estimate_pass pass;

void tacit_estimate_response(const void *context, const tacit_view *rows, size_t i, double *y) {
    const pass *self = context;
    if (self->family->loss.of_classes) {
        *y = tacit_view_label(rows, i);
        return;
    }
    memcpy(y, tacit_view_responses(rows, i), self->family->loss.columns * sizeof *y);
    *y = (*y - self->design.middle) / self->design.half;
}

/* What of a row's response counts as often as the row. Two families have no third number of their own, and
 * use it for sums of weights: of logistic the weights, of linear their logarithms. */
static void weigh_terms(const pass *self, const tacit_view *rows, size_t i,
                        double terms[TACIT_ESTIMATE_TERMS]) {
    double weight = self->design.weights_scale * tacit_rows_cell(&rows->rows, i, self->design.weights);
    for (int k = 0; k < TACIT_ESTIMATE_TERMS; k++) terms[k] *= weight;
    if (self->family->loss.of_classes) terms[2] = weight;
    if (self->family->quadratic) terms[2] = log(weight);
}

static tacit_status add_terms(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    pass *self = context;
    (void)first;
    (void)error;
    for (size_t i = 0; i < block->rows.count; i++) {
        double terms[TACIT_ESTIMATE_TERMS];
        double y[TACIT_RESPONSE_COLUMNS];
        tacit_estimate_response(self, block, i, y);
        tacit_family_terms(self->family, y, terms);
        if (self->design.weights != SIZE_MAX) weigh_terms(self, block, i, terms);
        for (int k = 0; k < TACIT_ESTIMATE_TERMS; k++) self->terms[k] += terms[k];
    }
    return TACIT_OK;
}

tacit_status tacit_estimate_begin_pass(pass *self, const tacit_party *party, tacit_error *error) {
    *self = (pass){ .plan = party->plan, .family = tacit_estimate_family(party->plan) };
    const tacit_view *rows = &party->rows;
    bool classes = self->family->loss.of_classes;
    if (!classes && rows->response != NULL && tacit_view_columns(rows) != self->family->loss.columns)
        return tacit_fail(error, TACIT_INPUT, "family %s takes %zu columns of a label, and the rows have %zu",
                          self->family->name, self->family->loss.columns, tacit_view_columns(rows));
    if (classes ? rows->label == NULL : rows->response == NULL)
        return tacit_fail(error, TACIT_INPUT, "the rows have no %s", classes ? "classes" : "response");
    TACIT_TRY(tacit_design_check_rows(party->plan->schema, rows, error));
    return tacit_design_create(&self->design, self->family, party->plan->schema, party->plan->features,
                               error);
}

void tacit_estimate_end_pass(pass *self) { tacit_design_clear(&self->design); }

/* n of the question, believed only within what it can be: not fewer rows than this party has. */
tacit_status tacit_estimate_read_total(const tacit_party *party, const tacit_question *question, double *n,
                                       tacit_error *error) {
    return tacit_party_read_total(party, question, tacit_estimate_rows().bound, n, error);
}

void tacit_estimate_seal(const tacit_party *party, const tacit_sum_spec *spec, double *values) {
    values[0] = ldexp((double)party->total_rows, -spec->grid_bits); /* whole steps: exact on any grid */
    values[1] = ldexp(token_of(party), -spec->grid_bits);
    for (size_t j = 0; j < spec->length; j++) values[j] = fmax(-spec->bound, fmin(spec->bound, values[j]));
}

/* Add up over the holders of this party's rows, fill the head, and keep to the bound. */
tacit_status tacit_estimate_finish_reply(const tacit_party *party, const tacit_sum_spec *spec,
                                         tacit_reply *reply, tacit_error *error) {
    double *values = reply->contribution;
    if (party->reducer != NULL)
        TACIT_TRY(party->reducer->sum(party->reducer->context, values + TACIT_ESTIMATE_HEAD,
                                      spec->length - TACIT_ESTIMATE_HEAD, error));
    tacit_estimate_seal(party, spec, values);
    return TACIT_OK;
}

tacit_status tacit_estimate_begin_sum(const tacit_party *party, const tacit_question *question,
                                      const double *terms, size_t length, tacit_sum_spec *spec,
                                      tacit_reply *reply, tacit_error *error) {
    double n = 0;
    TACIT_TRY(tacit_estimate_read_total(party, question, &n, error));
    *spec = tacit_estimate_sum(party->plan, n, terms, length);
    if (!question->wants_sum || !tacit_sum_spec_equal(&question->sum, spec))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for another sum than the study defines");
    return tacit_estimate_begin_reply(party, spec->length, reply, error);
}

static tacit_status answer_response(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                    tacit_error *error) {
    tacit_sum_spec spec;
    pass self;
    TACIT_TRY(tacit_estimate_begin_pass(&self, party, error));
    tacit_status status;
    TACIT_CHECK(tacit_estimate_begin_sum(party, question, NULL, TACIT_ESTIMATE_TERMS, &spec, reply, error));
    TACIT_CHECK(tacit_dataset_map(&party->rows, 0, add_terms, &self, error));
    memcpy(reply->contribution + TACIT_ESTIMATE_HEAD, self.terms, sizeof self.terms);
    TACIT_CHECK(tacit_estimate_finish_reply(party, &spec, reply, error));
cleanup:
    tacit_estimate_end_pass(&self);
    return status;
}

tacit_status tacit_estimate_choose_rows(tacit_party *party, const tacit_question *question,
                                        tacit_estimate_completed *complete, tacit_party **out,
                                        tacit_error *error) {
    const int64_t *set;
    *out = party;
    if (tacit_estimate_sets(party->plan) == 0) return TACIT_OK;
    TACIT_TRY(tacit_message_integers(question->message, "set", 1, &set, error));
    TACIT_TRY(tacit_estimate_complete(complete, party, (size_t)*set, error));
    *out = &complete->party;
    return TACIT_OK;
}

/* Whether the party's own intercept is to be in the sums. */
static tacit_status read_apart(const tacit_party *party, const tacit_question *question, bool *out,
                               tacit_error *error) {
    const int64_t *apart;
    *out = false;
    if (!tacit_estimate_apart_wanted(party->plan)) return TACIT_OK;
    TACIT_TRY(tacit_message_integers(question->message, "apart", 1, &apart, error));
    if (*apart != 0 && *apart != 1)
        return tacit_fail(
            error, TACIT_PROTOCOL,
            "the coordinator says neither whether intercepts are common nor whether they are apart");
    *out = *apart == 1;
    if (*out && party->reducer != NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "intercepts=party needs all rows of a party in one place, and here several hold them");
    return TACIT_OK;
}

static tacit_status answer_sums(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                tacit_error *error) {
    const int64_t *weight;
    tacit_estimate_completed complete = { .label = NULL };
    tacit_party *chosen = party;
    const double *w, *terms, *inverse;
    double sizes[TACIT_FIRTH_SIZES], *own = NULL;
    bool apart;
    tacit_sum_spec spec;
    pass self;
    TACIT_TRY(tacit_estimate_begin_pass(&self, party, error));
    tacit_status status;
    size_t width = self.design.width;
    TACIT_CHECK(tacit_message_integers(question->message, "matrix", 1, &weight, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "weights", width, &w, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "response", TACIT_ESTIMATE_TERMS, &terms, error));
    if (*weight < TACIT_WEIGH_NONE || *weight > TACIT_WEIGH_ONE ||
        (*weight == TACIT_WEIGH_SLOPE && self.design.shape.scores > 0))
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "the coordinator asks for an unknown matrix"));
    tacit_row_weight kind = (tacit_row_weight)*weight;
    TACIT_CHECK(tacit_estimate_begin_sum(party, question, terms, tacit_sums_length(kind, width), &spec, reply,
                                         error));
    TACIT_CHECK(tacit_estimate_choose_rows(party, question, &complete, &chosen, error));
    tacit_row_sums how = { .family = self.family,
                           .several = self.design.shape.scores > 0 ? &self.design.shape : NULL,
                           .weight = kind,
                           .width = width,
                           .w = w,
                           .kept = self.design.kept,
                           .design = &self.design,
                           .response = tacit_estimate_response,
                           .context = &self,
                           .pool = party->pool };
    const bool firth = tacit_firth_wanted(party->plan) && kind == TACIT_WEIGH_CURVATURE;
    TACIT_CHECK(read_apart(party, question, &apart, error));
    if (apart) {
        own = TACIT_NEW(double, width);
        if (own == NULL) TACIT_CHECK(tacit_fail_memory(error));
        TACIT_CHECK(tacit_estimate_apart(reply->contribution + TACIT_ESTIMATE_HEAD, &how, own, &self.design,
                                         &chosen->rows, error));
    } else {
        TACIT_CHECK(
            tacit_row_sums_make(reply->contribution + TACIT_ESTIMATE_HEAD, &how, &chosen->rows, error));
    }
    if (firth) {
        TACIT_CHECK(tacit_message_numbers(question->message, "inverse", tacit_firth_triangle(width), &inverse,
                                          error));
        TACIT_CHECK(tacit_firth_adjust(reply->contribution + TACIT_ESTIMATE_HEAD + 1, sizes, &how, inverse,
                                       &chosen->rows, error));
        how.adjusted = sizes;
    }
    TACIT_CHECK(tacit_estimate_finish_reply(party, &spec, reply, error));
    TACIT_CHECK(tacit_estimate_bounds(chosen, question, &how, error));
cleanup:
    free(own);
    tacit_estimate_completed_clear(&complete);
    tacit_estimate_end_pass(&self);
    return status;
}

const tacit_handler_entry tacit_estimate_handlers[] = {
    { .question = "rows", .answer = answer_rows },
    { .question = "response", .answer = answer_response },
    { .question = "classes", .answer = tacit_estimate_answer_classes },
    { .question = "sums", .answer = answer_sums },
    { .question = "reach", .answer = tacit_estimate_answer_reach },
    { .question = "middle", .answer = tacit_estimate_answer_middle },
    { .question = "missing", .answer = tacit_estimate_answer_missing },
    { .question = "folds", .answer = tacit_estimate_answer_folds },
    { .question = "held-out", .answer = tacit_estimate_answer_held_out },
    { .question = NULL },
};
