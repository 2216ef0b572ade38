/*
 * What the nodes of newton and its like encrypt, read with a key of simulations: for replays of sensitivity
 * and for audits, which must see the sums before noise. In a study nobody can.
 */
#pragma once

#include "method/secure/logit.h"
#include "session/local/local.h"

/* The sum over all nodes of what they answer at beta, tacit_logit_length(width, weight) whole numbers in
 * units of 2^-f: positive rows, log-likelihood, gradient, triangle. Deterministic. The secret is that of
 * tacit_center_simulated_key. */
tacit_status tacit_logit_decrypt_sum(int64_t *out, tacit_local *local, const tacit_plan *plan,
                                     const tacit_paillier_secret *secret, double n, const double *beta,
                                     size_t width, tacit_row_weight weight, tacit_error *error);

/* The same of the gradients that nodes of privlogit-local multiply the inverse with, `width` numbers in units
 * of 2^-tacit_logit_gradient_bits: the answers to "step" where the inverse is that of the identity. */
tacit_status tacit_logit_decrypt_gradient(int64_t *out, tacit_local *local, const tacit_plan *plan,
                                          const tacit_paillier_secret *secret, double n, const double *beta,
                                          size_t width, tacit_error *error);
