/*
 * Accountants: what many releases on the same rows cost together, as (epsilon, delta) differential privacy.
 *
 * An event is one kind of release with a count. Its noise is relative to the sensitivity, so that sensitivity
 * is 1 here. Releases may depend on earlier answers; kinds and counts may not (docs/accounting.md says what
 * holds when they do).
 *
 * Adjacency. Inside, rows are added or removed: sensitivity is the largest change when one row (or one party)
 * comes or goes. The accountant of a study that counts replacements is made with TACIT_REPLACE, and converts:
 * without sampling the sensitivity doubles; with sampling see docs/accounting.md. An event whose sensitivity
 * (or guarantee) is known under replacement directly, and that does not sample, says so by
 * tacit_event_replaced and is taken as it is.
 *
 * Every epsilon and delta returned is an upper bound on the true one, with all discretisation, truncation and
 * rounding errors added; noise is rounded up. Wrong arguments give TACIT_USAGE and no result.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "privacy/account/price.h"

typedef enum tacit_event_kind {
    TACIT_EVENT_GAUSSIAN,    /* parameter: standard deviation over L2 sensitivity */
    TACIT_EVENT_LAPLACE,     /* parameter: scale over L1 sensitivity */
    TACIT_EVENT_PURE,        /* any epsilon-DP mechanism; parameter: epsilon */
    TACIT_EVENT_APPROXIMATE, /* any (epsilon, delta)-DP mechanism; parameter: epsilon, and delta */
    /* any rho-zCDP mechanism, without sampling; parameter: rho. By zCDP and RDP only */
    TACIT_EVENT_CONCENTRATED
} tacit_event_kind;

typedef struct tacit_event {
    tacit_event_kind kind;
    double parameter;
    double delta; /* APPROXIMATE: in (0, 1); else 0 */
    /* the probability, in (0, 1], with which each row takes part, independently (Poisson sampling) */
    double sampling;
    uint64_t count; /* how many times; 1 to TACIT_EVENT_COUNT_MOST */
    /* the parameter is about a replaced row already: for TACIT_REPLACE only, without sampling */
    bool replaced;
} tacit_event;

/* Epsilon of a pure or approximate event is at most TACIT_EVENT_EPSILON_MOST; sigma and scale are 1e-3 to
 * 1e6, and rho is that of such a sigma, 5e-13 to 5e5. */
#define TACIT_EVENT_COUNT_MOST ((uint64_t)1000000000)
#define TACIT_EVENT_EPSILON_MOST 500.0

tacit_event tacit_event_gaussian(double sigma, uint64_t count);
tacit_event tacit_event_laplace(double scale, uint64_t count);
tacit_event tacit_event_pure(double epsilon, uint64_t count);
tacit_event tacit_event_approximate(double epsilon, double delta, uint64_t count);
tacit_event tacit_event_concentrated(double rho, uint64_t count);

/* The same event on a Poisson sample. */
tacit_event tacit_event_sampled(tacit_event event, double probability);

/* The same event, its sensitivity or guarantee being that under replacement. */
tacit_event tacit_event_replaced(tacit_event event);

tacit_status tacit_event_check(const tacit_event *event, tacit_error *error);

/* "Gaussian", "Laplace", "pure", "approximate", "zCDP". */
const char *tacit_event_kind_name(tacit_event_kind kind);

typedef enum tacit_adjacency { TACIT_ADD_OR_REMOVE, TACIT_REPLACE } tacit_adjacency;

typedef struct tacit_accountant tacit_accountant;

tacit_status tacit_accountant_create(tacit_accountant **out, tacit_adjacency adjacency, tacit_error *error);
tacit_accountant *tacit_accountant_free(tacit_accountant *accountant);
tacit_status tacit_accountant_add(tacit_accountant *accountant, const tacit_event *event, tacit_error *error);

/* The accountants: ACCOUNTANT(its number, how it is called, its functions tacit_NAME_epsilon and
 * tacit_NAME_delta). A new one is a line at the end, for ledgers keep the numbers, and a file
 * account_NAME.c. */
/* clang-format off */
#define TACIT_ACCOUNTANTS(ACCOUNTANT)                                                                \
    ACCOUNTANT(BASIC, "basic", basic)          /* epsilons and deltas add; no concentrated events */ \
    ACCOUNTANT(ADVANCED, "advanced", advanced) /* pure, approximate and Laplace events */            \
    ACCOUNTANT(ZCDP, "zCDP", zcdp)             /* no sampled Gaussian or Laplace */                  \
    ACCOUNTANT(RDP, "RDP", rdp)                                                                      \
    ACCOUNTANT(GAUSSIAN, "Gaussian", exact)    /* unsampled Gaussians only; exact */                 \
    ACCOUNTANT(PLD, "PLD", pld)                /* no concentrated events */
/* clang-format on */

#define TACIT_ACCOUNTANT_NUMBER_(NUMBER, name, function) TACIT_COMPOSITION_##NUMBER,
typedef enum tacit_composition {
    TACIT_ACCOUNTANTS(TACIT_ACCOUNTANT_NUMBER_) TACIT_COMPOSITIONS
} tacit_composition;
#undef TACIT_ACCOUNTANT_NUMBER_

/* "basic", "advanced", "zCDP", "RDP", "Gaussian", "PLD". */
const char *tacit_composition_name(tacit_composition composition);

typedef struct tacit_spending {
    double epsilon, delta;
    tacit_composition by; /* the accountant that gave it */
} tacit_spending;

/* The smallest epsilon that any applicable accountant proves at delta; delta in [0, 1), where 0 needs pure or
 * Laplace events only. At least one event. Epsilon may be 0 when delta alone covers the events. Accountants
 * that cannot win are not asked: none but the exact one about unsampled Gaussians only, none after the
 * optimal one (advanced) about one kind of pure or approximate event, and neither RDP nor PLD about more than
 * 64 kinds other than unsampled Gaussians. */
tacit_status tacit_accountant_epsilon(tacit_spending *out, const tacit_accountant *accountant, double delta,
                                      tacit_error *error);

/* The smallest delta at epsilon >= 0. */
tacit_status tacit_accountant_delta(tacit_spending *out, const tacit_accountant *accountant, double epsilon,
                                    tacit_error *error);

/* The same by one accountant. TACIT_USAGE when it does not apply to the events; infinite epsilon, or delta 1,
 * when it applies and proves nothing. */
tacit_status tacit_accountant_epsilon_by(double *out, const tacit_accountant *accountant,
                                         tacit_composition composition, double delta, tacit_error *error);
tacit_status tacit_accountant_delta_by(double *out, const tacit_accountant *accountant,
                                       tacit_composition composition, double epsilon, tacit_error *error);

/* Parallel composition: the accounts of releases on disjoint sets of rows, at the same delta; the largest
 * epsilon is that of all together (McSherry 2009, on parallel composition). When rows are put into the sets
 * by their *values* and the adjacency is replacement, a replaced row can leave one set and enter another: say
 * so by `by_value`, and the two largest epsilons add, and delta doubles. */
tacit_status tacit_accountant_parallel(tacit_spending *out, const tacit_accountant *const *accountants,
                                       size_t count, bool by_value, double delta, tacit_error *error);

/* The smallest parameter of a Gaussian or Laplace event like `event` (its kind, sampling and count; its
 * parameter is ignored) that keeps within (epsilon, delta), rounded up by at most one part in 1e5; or, for a
 * pure event, the largest epsilon of each of its `count` runs, rounded down. */
tacit_status tacit_noise_for(double *out, const tacit_event *event, tacit_adjacency adjacency, double epsilon,
                             double delta, tacit_error *error);
