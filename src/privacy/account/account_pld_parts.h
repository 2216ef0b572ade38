/*
 * Privacy-loss distributions: parts of the PLD accountant, shared by its files and its tests.
 *
 * A loss distribution says, for an ordered pair (P, Q), which values log(P/Q) takes under P. It gives
 * delta(epsilon) = E_P (1 - e^(epsilon - loss))_+, and independent losses add under composition.
 */
#pragma once

#include "num/fft.h"
#include "privacy/account/account_parts.h"

/* Masses on the losses (first + i) step, i < count, and on infinity. Dominates the pair it was made from. */
typedef struct tacit_losses {
    double step;
    long first;
    size_t count;
    double *mass;
    double infinite;
} tacit_losses;

/* Discretise one run of a step; losses with less than `tail` above them become infinite. Freed with
 * free(out->mass). */
tacit_status tacit_losses_make(tacit_losses *out, const tacit_step *step, tacit_direction direction,
                               double grid, double tail, tacit_error *error);

/* How to compute: chosen from an approximate picture of the losses. Any plan gives upper bounds; a good one,
 * close ones. */
typedef struct tacit_pld_plan {
    double tilt;    /* theta of the exponential tilting */
    double spread;  /* standard deviation of the tilted, composed loss */
    double epsilon; /* Chernoff's epsilon for the delta, or the epsilon asked about */
    double window;  /* length of the ring in units of loss */
    double used;    /* how much of it, above epsilon, is summed */
    double grid;    /* step of the grid */
    double tail;    /* for tacit_losses_make */
    size_t length;  /* points of the ring: a power of two */
    bool stopped;   /* the losses are bounded and the tilt was stopped at a limit */
} tacit_pld_plan;

/* For delta > 0 and the epsilon that belongs to it, or, with delta = 0, for `epsilon`; `far` sets the limit
 * on the tilt a hundred times higher. */
tacit_status tacit_pld_plan_make(tacit_pld_plan *out, const tacit_steps *steps, tacit_direction direction,
                                 double delta, double epsilon, bool far, tacit_error *error);

/* The composed, tilted losses on a ring, with what is needed to bound every error. */
typedef struct tacit_composed tacit_composed;

tacit_status tacit_compose(tacit_composed **out, const tacit_steps *steps, tacit_direction direction,
                           const tacit_pld_plan *plan, tacit_error *error);
tacit_composed *tacit_composed_free(tacit_composed *composed);

/* An upper bound on delta at epsilon >= 0. */
double tacit_composed_delta(const tacit_composed *composed, double epsilon);

/* The part of it that no epsilon removes: infinite losses. */
double tacit_composed_infinite(const tacit_composed *composed);
