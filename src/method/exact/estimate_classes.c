/*
 * Several classes in method estimate: multinomial (each class but the first has weights of its own) and
 * ordinal (proportional odds). Both need the numbers of rows of all classes, which are asked for in place of
 * the sums of a response, in the question "classes": a fit starts from the model without columns, and its
 * deviance follows from them.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "method/exact/estimate.h"

tacit_status tacit_estimate_begin_classes(const tacit_design *design, double lambda, const double *counts,
                                          double terms[TACIT_ESTIMATE_TERMS], double *w, tacit_error *error) {
    const tacit_several_shape *shape = &design->shape;
    double n = 0, fewest = INFINITY, loss = 0, below = 0;
    for (size_t k = 0; k <= shape->scores; k++) {
        n += counts[k];
        fewest = fmin(fewest, counts[k]);
        if (!(counts[k] > 0))
            return tacit_fail(error, TACIT_INPUT,
                              "no row of any party is of class '%s', and so there is no estimate of it: "
                              "leave it out of the schema's classes",
                              design->schema->classes.text[k]);
    }
    for (size_t k = 0; k <= shape->scores; k++) loss -= counts[k] * log(counts[k] / n);
    terms[0] = (double)shape->scores + 1;
    terms[1] = n / fewest;
    terms[2] = loss;
    for (size_t k = 0; k < shape->scores; k++) {
        below += counts[k];
        if (shape->parallel)
            w[shape->base - 1 + k] = log(below / (n - below)) / design->intercept_value;
        else if (lambda == 0)
            w[k * shape->base + design->intercept] = log(counts[k + 1] / counts[0]) / design->intercept_value;
    }
    return TACIT_OK;
}

/* A multinomial model has a score of each class, that of the first being 0; an ordinal one those between two
 * classes, and a last one that is not used. */
tacit_status tacit_estimate_class_weights(const tacit_design *design, const double *w, double *weights,
                                          tacit_error *error) {
    const tacit_several_shape *shape = &design->shape;
    double *all = TACIT_NEW(double, shape->scores * shape->base);
    if (all == NULL) return tacit_fail_memory(error);
    tacit_several_expand(shape, w, all);
    for (size_t k = 0; k < shape->scores; k++)
        for (size_t j = 0; j < shape->base; j++)
            weights[(k + !shape->parallel) * design->features + design->kept[j]] = all[k * shape->base + j];
    free(all);
    return TACIT_OK;
}

/* ---- the party's half ---- */

/* Rows of each class, as they are weighted. */
typedef struct counted_classes {
    const tacit_design *design;
    double *counts;
} counted_classes;

static tacit_status count_classes(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    const counted_classes *self = context;
    (void)first;
    (void)error;
    for (size_t i = 0; i < block->rows.count; i++)
        self->counts[tacit_view_label(block, i)] += tacit_row_weight_of(self->design, &block->rows, i);
    return TACIT_OK;
}

tacit_status tacit_estimate_answer_classes(tacit_party *party, const tacit_question *question,
                                           tacit_reply *reply, tacit_error *error) {
    tacit_sum_spec spec;
    tacit_estimate_pass self;
    TACIT_TRY(tacit_estimate_begin_pass(&self, party, error));
    tacit_status status = TACIT_OK;
    if (self.design.shape.scores == 0)
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED,
                               "the coordinator asks for classes, which family %s has no use for",
                               self.family->name));
    TACIT_CHECK(tacit_estimate_begin_sum(party, question, NULL, party->plan->classes, &spec, reply, error));
    counted_classes counted = { &self.design, reply->contribution + TACIT_ESTIMATE_HEAD };
    TACIT_CHECK(tacit_dataset_map(&party->rows, 0, count_classes, &counted, error));
    TACIT_CHECK(tacit_estimate_finish_reply(party, &spec, reply, error));
cleanup:
    tacit_estimate_end_pass(&self);
    return status;
}
