/*
 * One vector of sums with Gaussian noise, for methods that ask once: describe and survival. A row moves the
 * vector by at most 1 in L2 norm; computed and rounded to the grid, S = 1 + 2 (the rounding of the party's
 * sums + the grid's).
 *
 * In shares each party adds a discrete Gaussian one, and the m = survivors - colluders that nobody who looks
 * knows are as private as a Gaussian of sigma S, sigma = AG(epsilon, delta; 1), except for 1e-87 of delta
 * (tacit_share_gaussian); else each party adds a Gaussian of sigma S itself.
 */
#pragma once

#include "privacy/mechanism/shares.h"
#include "session/party.h"

typedef struct one_release {
    bool shared_out; /* noise in shares */
    tacit_sum_spec spec;
    tacit_mechanism mechanism;
    tacit_shared_noise shared;
    tacit_event event;
    double deviation; /* of the noise on one number of the sum; 0: none */
    double sensitivity;
} one_release;

/* `bound`: of a party's numbers; `rounding`: of its sums as computed, in L2 norm. */
tacit_status one_release_make(one_release *out, const tacit_plan *plan, bool shared_out, size_t length,
                              double bound, double rounding, tacit_error *error);

/* Shares of discrete Gaussian noise that are together as private as a Gaussian of `sigma` times the
 * sensitivity (privacy/mechanism/shares.h); `counted`: the sigma that they amount to, at least that. */
tacit_status one_release_shares(tacit_shared_noise *out, const tacit_plan *plan, double sensitivity,
                                double sigma, double *counted, tacit_error *error);

/* The law of the noise, in words about each number. */
tacit_noise_law one_release_law(const one_release *release);

/* The party's answer: its values with noise. */
tacit_status one_release_give(tacit_party *party, const one_release *release, double *values,
                              tacit_reply *reply, tacit_error *error);
