/*
 * What avg and output minimise: a loss whose slope has a bound, for labels of every kind that has one.
 * Classes have the logistic loss or softmax; numbers and counts the clipped loss of their family, in units of
 * the largest label that the public schema allows:
 *
 *   number  l' = clip(t - y/s, 1/2), s the largest |y|: Huber's loss. L = 1/2, c = 1; a model's weights are
 *           s w
 *   count   l' = clip((exp(t) - y)/sqrt(H), 1), H the largest count. L = 1, c = sqrt(H) + 1
 *
 * A slope that never decreases in t is that of a convex loss, and clipping keeps it so. Without clipping
 * neither slope is bounded, and one row could move a minimiser by any amount.
 */
#pragma once

#include "session/method.h"

const tacit_family *bounded_family(const tacit_plan *plan);
double bounded_shape(const tacit_plan *plan); /* of its loss; 0 for classes */

/* A lambda that suits classes at this price, made one for the label: weights of numbers are in units of the
 * largest, where noise counts for more, and l^(2/3) is larger. From the grid of docs/methods/output.md. */
double bounded_lambda(const tacit_plan *plan, double of_classes);

/* TACIT_USAGE for a label without such a loss: a time. */
tacit_status bounded_check_label(const tacit_plan *plan, tacit_error *error);

/* The outcome's model: the mean of a sum of parties' weights, in the label's own units. */
tacit_status bounded_add_mean(tacit_outcome *out, const tacit_plan *plan, const double *sum, size_t parties,
                              tacit_error *error);
