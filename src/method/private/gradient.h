/*
 * What psgd and dpgd share: a party's part of the gradient of
 *
 *   F(w) = (1/N) sum_i loss(w; x_i, y_i) + (lambda/2)|w|^2,   |x_i| <= 1,
 *
 * logistic for two classes (or Huber's hinge of width h, where the setting says so), softmax for more; and,
 * where a method takes numeric labels, residuals that are clipped, which makes a convex loss of bounded
 * slope of each (M-estimators; Wang 2018, 2.1):
 *
 *   number  r = clip(t - y/s, 1/2), s the largest |y| that the schema allows: Huber's loss (1964). L = 1/2, c
 *           = 1; the model's weights are s w
 *   count   r = clip((exp(t) - y)/sqrt(H), 1), H the largest count: Poisson's loss over sqrt(H). L = 1, and c
 *           = sqrt(H) + 1, because exp(t) < H + sqrt(H) wherever r is not clipped
 *
 * A slope that never decreases in t is that of a convex loss, and clipping keeps it so. Without clipping
 * neither has a bound on its slope, at weights that somebody else chooses.
 *
 * Sensitivity. The gradient of one row is r x, with |r| <= L: 1 for the logistic loss and the hinge,
 * sqrt(2) for softmax (p - e_y). So replacing a row moves the sum over rows by at most 2L, whatever the
 * weights. That holds for the computed terms too: a row's r follows from that row and the weights alone and
 * lies in the same range, whatever the margin's rounding. What remains is the rounding of the sum: a chain
 * of at most GRADIENT_SLICE rows, then of slices, errs by less than (GRADIENT_SLICE + 2^8 + 16) u times the
 * sum of the terms' norms, in all below GRADIENT_ROUNDING for GRADIENT_MOST_ROWS rows (Higham 2002, section
 * 4.2). It may have either sign on either side, so twice as much belongs to the sensitivity.
 */
#pragma once

#include "method/bounded_label.h"
#include "privacy/mechanism/erm.h"
#include "session/party.h"
#include "session/session.h"

enum { GRADIENT_SLICE = 1 << 16, GRADIENT_MOST_ROWS = 1 << 24 };

/* A bound on the rounding of a sum, per party: 2^24 (2^16 + 2^8 + 16) 2^-53 L < 2^-12. */
#define GRADIENT_ROUNDING 0x1p-12

/* TACIT_USAGE for a label that has no loss here, or not the one that is asked for. */
tacit_status gradient_check_label(const tacit_plan *plan, tacit_error *error);

/* How many weights a model of the plan has, the largest norm L of a row's gradient, and the largest curvature
 * of the loss: 1/4, 1/(2h) for the hinge, or 1/2 for softmax, whose Hessian is (diag(p) - p p^T) (x) x
 * x^T. */
size_t gradient_size(const tacit_plan *plan);
double gradient_norm(const tacit_plan *plan);
double gradient_curvature(const tacit_plan *plan);

/* The curvature that rows in the middle of their range have, for choosing rounds: no promise. */
double gradient_usual_curvature(const tacit_plan *plan);

/* No minimiser of F is longer, whatever the rows: its gradient term has norm at most L, and lambda |w|^2 =
 * -mean of t r(t) is at most m: W((K-1)/e) of classes and what a hinge has (avg.c); 1/4 of numbers, where t
 * r < 0 only for t between 0 and y/s; of counts max(log H, 1/e), because r < 0 < t only for t < log y, and
 * |t| exp(t)/sqrt(H) <= 1/e where r > 0 > t. */
double gradient_radius(const tacit_plan *plan);

/* The sum over the party's rows of the loss's gradient at `weights`, in all holders. */
tacit_status gradient_sum(tacit_party *party, const double *weights, double *out, tacit_error *error);

/* TACIT_REFUSED beyond GRADIENT_MOST_ROWS rows. */
tacit_status gradient_check_rows(const tacit_party *party, tacit_error *error);

/* TACIT_REFUSED when the coordinator asks for another sum than the plan defines. */
tacit_status gradient_check_sum(const tacit_question *question, const tacit_sum_spec *spec,
                                tacit_error *error);

/* The question "rows": how many rows there are, as a sum, and a party's answer. */
tacit_status gradient_rows_spec(const tacit_plan *plan, tacit_sum_spec *out, tacit_error *error);
tacit_status gradient_answer_rows(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error);

/* ---- the coordinator's state: weights after `steps` steps ---- */

typedef struct gradient_state {
    double *weights; /* gradient_size of them */
    uint64_t steps;
    size_t parties; /* that answered the last question */
    double rows;    /* of all parties, where it is asked once; 0: not yet */
} gradient_state;

#define GRADIENT_STATE_INIT                                                                                  \
    { .weights = NULL }

/* Zero weights, or the state of the latest checkpoint. */
tacit_status gradient_resume(tacit_session *session, gradient_state *out, tacit_error *error);
tacit_status gradient_checkpoint(tacit_session *session, const gradient_state *state, tacit_error *error);

/* Hand over the weights as the outcome's only model. */
tacit_status gradient_finish(tacit_session *session, const gradient_state *state, tacit_outcome *out,
                             tacit_error *error);
void gradient_state_clear(gradient_state *state);

/* ---- for whoever plays the coordinator of a method ---- */

/* Both begin with what they minimise; psgd has no choice. */
typedef struct dpgd_settings {
    bounded_choice minimised;
    uint64_t rounds;
    enum { DPGD_BY_COORDINATOR, DPGD_BY_PARTY, DPGD_BY_SHARES } noise;
    tacit_unit unit;
    double missing_counts;                      /* of the budget */
    enum { DPGD_EVEN, DPGD_ADAPTIVE } schedule; /* of the budget over the rounds */
} dpgd_settings;

typedef struct psgd_settings {
    bounded_choice minimised;
    uint64_t rounds;
    enum { PSGD_BOTH, PSGD_FRESH, PSGD_FIXED } noise;
    tacit_calibration calibration;                          /* of the fixed noise */
    enum { PSGD_FIXED_SHARED, PSGD_FIXED_OWN } fixed_noise; /* a part by each, or by each for its own rows */
    enum { PSGD_EVEN, PSGD_HALVING } schedule;              /* of epsilon over the rounds */
} psgd_settings;

/* The sum that every question "gradient" asks for. */
tacit_status dpgd_sum(const tacit_plan *plan, tacit_sum_spec *out, tacit_error *error);
tacit_status psgd_sum(const tacit_plan *plan, tacit_sum_spec *out, tacit_error *error);
