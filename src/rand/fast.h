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

/* Integers of weight exp(-|k|/scale), of weight exp(-k^2/(2 scale^2)), and shares of which `parts` add up to
 * the first (rand/exact_integer.c and rand/exact_polya.c have the methods). */
int64_t tacit_fast_discrete_laplace(tacit_stream *stream, double scale);
int64_t tacit_fast_discrete_gaussian(tacit_stream *stream, double scale);
int64_t tacit_fast_polya(tacit_stream *stream, double scale, uint64_t parts);

/* Dirichlet with equal concentration: a point of the simplex. */
void tacit_fast_dirichlet(tacit_stream *stream, double *out, size_t count, double concentration);
