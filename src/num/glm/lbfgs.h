/*
 * Limited-memory BFGS (Nocedal 1980): a direction of descent from the last few steps and the changes of the
 * gradient along them, without a Hessian. Plain numbers, so that a state can be written down and taken up
 * again.
 */
#pragma once

#include <stddef.h>

#include "base/error.h"

enum { TACIT_LBFGS_PAIRS = 10 };

typedef struct tacit_lbfgs {
    size_t width, pairs;
    double *step, *change; /* TACIT_LBFGS_PAIRS x width, oldest first */
} tacit_lbfgs;

tacit_status tacit_lbfgs_create(tacit_lbfgs *out, size_t width, tacit_error *error);
void tacit_lbfgs_clear(tacit_lbfgs *memory);

/* Remember a step and the gradient's change; a pair without positive curvature is left out. */
void tacit_lbfgs_keep(tacit_lbfgs *memory, const double *step, const double *change);

/* out = -H gradient by the two loops; the plain negative gradient without any pair. */
void tacit_lbfgs_direction(const tacit_lbfgs *memory, const double *gradient, double *out);
