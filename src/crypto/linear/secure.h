/*
 * Linear algebra between two servers on numbers that neither sees. A method is written with these calls and
 * shares (share.h); which engine does the work is a setting:
 *
 *  - TACIT_SECURE_YAO: everything but sums in garbled circuits (circuits_linear.h), as in Wang 2018, chapter
 *    5.
 *  - TACIT_SECURE_SHARES: products on shares with multiplication triples from oblivious transfer (triples.h),
 *    garbled circuits for reciprocals and comparisons. Same results up to a few units in the last place; much
 *    less work.
 *
 *     tacit_secure_from_ciphertexts(secure, hessian, ...);         the sum of what nodes sent
 *     tacit_secure_factor(secure, &factor, hessian, d, &error);    Cholesky, once or at each step
 *     tacit_secure_solve(secure, step, factor, gradient, &error);  H^-1 g
 *     tacit_secure_open(secure, values, step, d, &error);
 *
 * Numbers are signed fixed point of settings.format, 32 bits behind the point and 64 in all unless stated
 * otherwise; a value that does not fit is meaningless (tacit_fixed_check_range says beforehand whether a
 * problem fits). Garbled circuits multiply fewer bits where a caller proves that fewer hold the numbers
 * (circuits_linear.h); shares do not care. Symmetric matrices are lower triangles by rows, tacit_triangle(i,
 * j). Both servers make the same calls with the same sizes in the same order. What each sees: uniform or
 * masked numbers, garbled tables, ciphertexts, and what is opened; both are taken to follow the protocol and
 * not to show each other what they see (SECURITY.md). A peer that is gone, late, short or wrong:
 * TACIT_NETWORK or TACIT_PROTOCOL, and the object is of no more use. Used by one thread.
 */
#pragma once

#include <stdbool.h>

#include "crypto/garble/circuits_linear.h"
#include "crypto/garble/garble.h"
#include "crypto/linear/convert.h"
#include "crypto/share/share.h"

typedef enum tacit_secure_engine { TACIT_SECURE_YAO, TACIT_SECURE_SHARES } tacit_secure_engine;

/* "yao", "shares" */
const char *tacit_secure_engine_name(tacit_secure_engine engine);

typedef struct tacit_secure_settings {
    tacit_secure_engine engine;
    tacit_fixed format;           /* width at most 64 */
    size_t factor_width;          /* bits that hold all but 1 / D in factoring, and L^-1; 0: format.width */
    size_t solution_width;        /* bits that hold all but 1 / D in solving; 0: format.width */
    tacit_garble_settings garble; /* its stream is where masks come from, too */
    tacit_pool *pool;             /* for Paillier; may be NULL */
} tacit_secure_settings;

tacit_secure_settings tacit_secure_defaults(void);

typedef struct tacit_secure tacit_secure;

/* Server A is TACIT_GARBLER, server B, who has the nodes' Paillier key, TACIT_EVALUATOR. The channel is
 * borrowed. */
tacit_status tacit_secure_create(tacit_secure **out, tacit_role role, tacit_channel *channel,
                                 const tacit_secure_settings *settings, tacit_error *error);
tacit_secure *tacit_secure_free(tacit_secure *secure);
tacit_role tacit_secure_role(const tacit_secure *secure);

typedef struct tacit_secure_costs {
    uint64_t gates;    /* AND */
    uint64_t products; /* of shares */
    double prepared;   /* seconds spent before the numbers were needed: triples */
    double online;     /* seconds in all other calls */
    tacit_channel_counts channel;
} tacit_secure_costs;

tacit_secure_costs tacit_secure_cost(const tacit_secure *secure);

/* ---- in and out ---- */

/* Numbers of one server, in units of 2^-f; the other passes NULL. Adding such numbers of each server is also
 * how noise gets in: each adds a whole draw, so that what is opened is private against the other server,
 * too. */
tacit_status tacit_secure_input(tacit_secure *secure, tacit_share *out, tacit_role owner,
                                const int64_t *values, size_t count, tacit_error *error);

/* As tacit_shares_from_ciphertexts and tacit_shares_to_ciphertexts. */
tacit_status tacit_secure_from_ciphertexts(tacit_secure *secure, tacit_share *out, size_t count,
                                           const tacit_masked_slots *layout,
                                           const tacit_ciphertexts *ciphertexts,
                                           const tacit_paillier_secret *secret, unsigned drop,
                                           tacit_error *error);
tacit_status tacit_secure_to_ciphertexts(tacit_secure *secure, tacit_ciphertexts *out,
                                         const tacit_paillier_public *key, const tacit_masked_slots *layout,
                                         const tacit_share *shares, size_t count, tacit_error *error);

/* To both; TACIT_LIMIT when a number does not fit 64 bits. */
tacit_status tacit_secure_open(tacit_secure *secure, int64_t *out, const tacit_share *shares, size_t count,
                               tacit_error *error);

/* Opens one bit to both: whether a[k] < b[k] for all k. */
tacit_status tacit_secure_all_less(tacit_secure *secure, bool *out, const tacit_share *a,
                                   const tacit_share *b, size_t count, tacit_error *error);

/* Numbers that should lie in [-2^bits, 2^bits), taken modulo 2^width; bits + 1 < width <= 128. */
typedef struct tacit_secure_range {
    const tacit_share *values;
    size_t count;
    unsigned bits, width;
} tacit_secure_range;

/* Opens one bit to both: whether all numbers of all ranges do. 2 width AND gates or less a number. */
tacit_status tacit_secure_all_within(tacit_secure *secure, bool *out, const tacit_secure_range *ranges,
                                     size_t count, tacit_error *error);

/* ---- linear algebra ---- */

/* out = a b, a of rows x inner and b of inner x columns, by rows; with `format` fractions dropped. */
tacit_status tacit_secure_multiply(tacit_secure *secure, tacit_share *out, const tacit_share *a,
                                   const tacit_share *b, size_t rows, size_t inner, size_t columns,
                                   tacit_error *error);

/* Row i of out = factors[i] times row i of b, of rows x columns; in place where out is b. */
tacit_status tacit_secure_scale_rows(tacit_secure *secure, tacit_share *out, const tacit_share *factors,
                                     const tacit_share *b, size_t rows, size_t columns, tacit_error *error);

/* 1 / a[k] and log a[k] for numbers above 0; of others some number. Reciprocals are rounded down, logarithms
 * off by 32 units of the format at most. `out` may be a. */
tacit_status tacit_secure_reciprocals(tacit_secure *secure, tacit_share *out, const tacit_share *a,
                                      size_t count, tacit_error *error);
tacit_status tacit_secure_logarithms(tacit_secure *secure, tacit_share *out, const tacit_share *a,
                                     size_t count, tacit_error *error);

typedef struct tacit_factored tacit_factored;

/* A positive definite, its triangle. */
tacit_status tacit_secure_factor(tacit_secure *secure, tacit_factored **out, const tacit_share *triangle,
                                 size_t order, tacit_error *error);
tacit_factored *tacit_factored_free(tacit_factored *factor);

/* A^-1 b, and the triangle of A^-1. */
tacit_status tacit_secure_solve(tacit_secure *secure, tacit_share *out, tacit_factored *factor,
                                const tacit_share *b, tacit_error *error);
tacit_status tacit_secure_inverse(tacit_secure *secure, tacit_share *out, tacit_factored *factor,
                                  tacit_error *error);

/* ---- ahead of time ---- */

/* With TACIT_SECURE_SHARES: make now what one factorisation of this order and `solves` solutions will use:
 * one takes d^3/6 products, more take an inverse, and d^3/2. Without it they make it themselves. With
 * TACIT_SECURE_YAO nothing happens. */
tacit_status tacit_secure_prepare(tacit_secure *secure, size_t order, size_t solves, tacit_error *error);
