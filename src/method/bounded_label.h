/*
 * What avg, dpgd and output minimise: a loss whose slope has a bound, for labels of every kind that has one.
 * Classes have the logistic loss or softmax, or with loss=huber the Huberised hinge of two; numbers and
 * counts the clipped loss of their family, in units of the largest label that the public schema allows:
 *
 *   number  l' = clip(t - y/s, 1/2), s the largest |y|: Huber's loss. L = 1/2, c = 1; a model's weights are
 *           s w
 *   count   l' = clip((exp(t) - y)/sqrt(H), 1), H the largest count. L = 1, c = sqrt(H) + 1
 *
 * A slope that never decreases in t is that of a convex loss, and clipping keeps it so. Without clipping
 * neither slope is bounded, and one row could move a minimiser by any amount. These are robust losses
 * already, so that loss=huber changes nothing for numbers and counts.
 */
#pragma once

#include "session/method.h"

const tacit_family *bounded_family(const tacit_plan *plan);
double bounded_shape(const tacit_plan *plan); /* of its loss; 0 for classes */

/* What a method's settings say of the loss; `width`: h of the hinge. */
typedef enum bounded_loss { BOUNDED_OF_LABEL, BOUNDED_HUBER } bounded_loss;
typedef struct bounded_choice {
    bounded_loss loss;
    double width;
} bounded_choice;

/* Two lines of a method's table, for a bounded_choice of its settings. */
#define BOUNDED_CHOICE_PARAMETERS(S, member, about)                                                          \
    TACIT_LATER_CHOICE(S, member.loss, "loss", "auto|huber", "auto", about),                                 \
        TACIT_LATER_NUMBER(S, member.width, "width", 0.01, 1, "0.5",                                         \
                           "half the width of the rounded corner of loss=huber")
#define BOUNDED_CHOICE_DEFAULT                                                                               \
    { .loss = BOUNDED_OF_LABEL, .width = 0.5 }

const tacit_family *bounded_family_by(const tacit_plan *plan, bounded_choice choice);
double bounded_shape_by(const tacit_plan *plan, bounded_choice choice);

/* TACIT_USAGE for a hinge of more than two classes, besides what bounded_check_label refuses. */
tacit_status bounded_check_choice(const tacit_plan *plan, bounded_choice choice, tacit_error *error);

/* A lambda that suits classes at this price, made one for the label: weights of numbers are in units of the
 * largest, where noise counts for more, and l^(2/3) is larger. From the grid of docs/methods/output.md. */
double bounded_lambda(const tacit_plan *plan, double of_classes);

/* TACIT_USAGE for a label without such a loss: a time. */
tacit_status bounded_check_label(const tacit_plan *plan, tacit_error *error);

/* The outcome's model: the mean of a sum of parties' weights, in the label's own units. */
tacit_status bounded_add_mean(tacit_outcome *out, const tacit_plan *plan, bounded_choice choice,
                              const double *sum, size_t parties, tacit_error *error);

/* What a model is called that minimises this: the family of the label, or of the hinge with its width; and by
 * what its weights are multiplied to be in the label's units. */
tacit_status bounded_model(tacit_model **out, const tacit_plan *plan, bounded_choice choice, double *unit,
                           tacit_error *error);
