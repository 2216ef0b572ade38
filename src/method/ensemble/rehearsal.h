/* Choosing lambda for an ensemble method without looking at anything private: the method is rehearsed. */
#pragma once

#include "method/ensemble/ensemble.h"

/*
 * The lambda under which `learn` does best on pretended votes. Some points, drawn at random, become
 * prototypes of the classes, equally many for each or fewer for one; every point belongs to that of the
 * nearest; of the declared parties a fixed part votes for that class and the others spread over the rest. On
 * these votes the method learns with its own noise, and the model is scored by how much it gets right of what
 * the most frequent class gets wrong, as a mean over several choices of prototypes and draws of noise. Of a
 * grid of lambdas the largest that is nearly as good as the best is taken. Everything here is public or
 * pretended, so nothing is paid for it, and it is the same at every call.
 */
tacit_status tacit_ensemble_rehearse(const tacit_plan *plan, tacit_ensemble_learner *learn, double *lambda,
                                     tacit_error *error);
