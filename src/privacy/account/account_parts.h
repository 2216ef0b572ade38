/* Shared by the accountants; not for others. */
#pragma once

#include "privacy/account/accountant.h"

/* Unit roundoff. */
#define TACIT_ROUND 0x1p-53

/*
 * Which ordered pair of output distributions is compared. With (P0, Q0) the pair of the mechanism without
 * sampling and q the sampling probability (Zhu, Dong and Wang 2022, amplification by Poisson sampling of any
 * dominating pair):
 *   REMOVE     (1-q) Q0 + q P0   against   Q0              the row is there, then not
 *   ADD        P0                against   (1-q) P0 + q Q0 the row is not there, then is
 *   EITHER     replacement under sampling. Gaussian: (1-q) N(0) + q N(1) against (1-q) N(0) + q N(-1), which
 *              is tight.
 *              Otherwise: losses above 0 as in REMOVE, below 0 as in ADD, the rest at 0, with (P0, Q0) the
 *              pair under replacement. Proofs in account_event.c.
 */
typedef enum tacit_direction { TACIT_REMOVED, TACIT_ADDED, TACIT_EITHER } tacit_direction;

/* An event brought to the accountant's adjacency. */
typedef struct tacit_step {
    tacit_event_kind kind;
    double parameter, delta, sampling;
    uint64_t count;
    bool either; /* compare by TACIT_EITHER, once; else both other directions */
} tacit_step;

typedef struct tacit_steps {
    tacit_step *items;
    size_t count;
} tacit_steps;

struct tacit_accountant {
    tacit_adjacency adjacency;
    tacit_event *events;
    size_t count, capacity;
    uint64_t runs; /* counts of all events */
};

/* Add an event that has no equal among those added, or need not be counted with it. */
tacit_status tacit_accountant_append(tacit_accountant *accountant, const tacit_event *event,
                                     tacit_error *error);

/* Whether any event speaks of a replaced row. Such a one has no removed and no added half, so that group
 * privacy over remove, then add, cannot take it. */
bool tacit_accountant_replaces(const tacit_accountant *accountant);

/* TACIT_USAGE for an accountant that composes losses, when of some event only zCDP is known. */
tacit_status tacit_accountant_refuse_concentrated(const tacit_accountant *accountant, tacit_error *error);

/* The accountant's events as steps, unsampled Gaussians merged into one: T Gaussians of sigma are one of
 * sigma/sqrt(T). Freed with free(out->items). */
tacit_status tacit_steps_make(tacit_steps *out, const tacit_accountant *accountant, tacit_adjacency adjacency,
                              tacit_error *error);

/* Epsilon of a step that is pure or Laplace, sampling included, or of an approximate one with its delta;
 * false for a Gaussian or concentrated one. Rounded up. */
bool tacit_step_pure(const tacit_step *step, double *epsilon, double *delta);

/* Privacy loss after sampling of an unsampled loss t, and the t that becomes `loss`; infinite where there is
 * none. */
double tacit_sampled_loss(double sampling, tacit_direction direction, double t);
double tacit_unsampled_loss(double sampling, tacit_direction direction, double loss);

/* A point mass of the loss: probability under the first distribution of the pair, loss perhaps infinite. */
typedef struct tacit_atom {
    double loss, mass;
} tacit_atom;

enum { TACIT_ATOMS_MOST = 4 };

/* The point masses of a step in direction REMOVED or ADDED, rounded up in loss and mass; how many. */
size_t tacit_step_atoms(tacit_atom out[TACIT_ATOMS_MOST], const tacit_step *step, tacit_direction direction);

/* Probability that the *unsampled* loss of the continuous part is in (low, high), under P0 and Q0, and
 * absolute error. */
typedef struct tacit_slice {
    double p, q, p_error, q_error;
} tacit_slice;

tacit_slice tacit_step_slice(const tacit_step *step, double low, double high);

/* An interval of unsampled loss outside which the continuous part has at most `tail` on each side, under the
 * measure that `direction` looks at; low > high when there is no continuous part. */
void tacit_step_reach(double *low, double *high, const tacit_step *step, tacit_direction direction,
                      double tail);

/* The pair EITHER of a sampled Gaussian in terms of z, the value over its standard deviation: the loss at z;
 * the z of a loss, right for one within `slack` of it; the probabilities of an interval of z under both of
 * the pair; and an interval outside which the first has about `tail`. */
double tacit_opposed_loss(const tacit_step *step, double z);
double tacit_opposed_place(double *slack, const tacit_step *step, double loss);
tacit_slice tacit_opposed_slice(const tacit_step *step, double low, double high);
void tacit_opposed_reach(double *low, double *high, const tacit_step *step, double tail);

/* log E_P (P/Q)^(order - 1) of that pair, for an order above 1; rounded up. */
double tacit_opposed_moment(const tacit_step *step, double order);

/* The Renyi divergence of the composition at an order above 1, rounded up; `extra` receives what the
 * approximate events among them give away with their deltas, on top. */
tacit_status tacit_renyi_at(double *divergence, double *extra, const tacit_accountant *accountant,
                            double order, tacit_error *error);

/* account_gdp.c, all under replacement and rounded up. The mu of any epsilon-DP mechanism. The squared mu of
 * an event's runs, each on its own: infinite where nothing is known. The squared mu of a block of runs whose
 * number was fixed before the first, which holds except for a probability `spare` of giving all away; the
 * same as before, and without `spare`, for all but sampled Gaussians. */
double tacit_pure_mu(double epsilon);
tacit_status tacit_gdp_of(double *mu_squared, const tacit_event *event, tacit_error *error);
tacit_status tacit_gdp_of_block(double *mu_squared, const tacit_event *event, double spare,
                                tacit_error *error);

/* Each accountant: epsilon at delta, delta at epsilon. TACIT_USAGE when it does not apply. Arguments are
 * checked. */
typedef tacit_status tacit_account_epsilon(double *out, const tacit_accountant *accountant, double delta,
                                           tacit_error *error);
typedef tacit_status tacit_account_delta(double *out, const tacit_accountant *accountant, double epsilon,
                                         tacit_error *error);

#define TACIT_ACCOUNTANT_DECLARE_(NUMBER, name, function)                                                    \
    tacit_account_epsilon tacit_##function##_epsilon;                                                        \
    tacit_account_delta tacit_##function##_delta;
TACIT_ACCOUNTANTS(TACIT_ACCOUNTANT_DECLARE_)
#undef TACIT_ACCOUNTANT_DECLARE_

/* Smallest epsilon in [0, high] whose delta is at most `delta`, for a decreasing curve; `high` must do, and
 * is returned if nothing smaller does. */
typedef double tacit_delta_curve(const void *context, double epsilon);
double tacit_solve_epsilon(tacit_delta_curve *curve, const void *context, double delta, double high);

/* Group privacy for replace = remove, then add: if a step pair has delta_r and delta_a at epsilon/2,
 * replacement has delta_r + e^(epsilon/2) delta_a at epsilon: P <= e^(epsilon/2) M + delta_r and M <=
 * e^(epsilon/2) Q + delta_a. */
double tacit_group_delta(double removed, double added, double epsilon);
