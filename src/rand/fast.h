/*
 * Double-precision samplers, for simulations and generators. Their rounding can leak what exact noise
 * would hide (Mironov 2012), so nothing drawn here is fit for a release by a real party.
 */
#pragma once

#include "rand/stream.h"

double tacit_fast_normal(tacit_stream *stream);

/* The same numbers as `count` calls of tacit_fast_normal. */
void tacit_fast_normals(tacit_stream *stream, double *out, size_t count);

double tacit_fast_exponential(tacit_stream *stream);

/* Gamma(shape, 1), shape > 0 (Marsaglia and Tsang 2000). */
double tacit_fast_gamma(tacit_stream *stream, double shape);

/* G(d, s) of density proportional to exp(-|b|/s): uniform direction, radius Gamma(d, s). */
void tacit_fast_gamma_norm(tacit_stream *stream, double *out, size_t dimension, double scale);

/* Dirichlet with equal concentration: a point of the simplex. */
void tacit_fast_dirichlet(tacit_stream *stream, double *out, size_t count, double concentration);
