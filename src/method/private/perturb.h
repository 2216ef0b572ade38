/*
 * What output, plr and gop share: their settings, the loss, and a coordinator's half that takes the mean of
 * the parties' private models. A party's noise is inside its answer, so the mean is post-processing; with one
 * party it is that party's model itself.
 */
#pragma once

#include "privacy/mechanism/erm.h"
#include "session/party.h"
#include "session/session.h"

/* Also of plr and of stacks, which may choose among candidates (private_tuning.h). */
typedef struct perturb_settings {
    enum { PERTURB_LOGISTIC, PERTURB_HUBER } loss;
    double width;
    tacit_calibration calibration;
    char candidates[TACIT_SETTING_SIZE], select[TACIT_SETTING_SIZE];
} perturb_settings;

#define PERTURB_DEFAULTS                                                                                     \
    { .loss = PERTURB_LOGISTIC, .width = 0.5, .candidates = "none", .select = "none" }
extern const perturb_settings perturb_defaults;

static inline const perturb_settings *perturb_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(perturb_settings, plan);
}

#define PERTURB_LOSS_PARAMETERS(S, about)                                                                    \
    TACIT_CHOICE(S, loss, "loss", "logistic|huber", about),                                                  \
        TACIT_NUMBER(S, width, "width", 0.01, 1, "half the width of the rounded corner of loss=huber"),      \
        TACIT_CHOICE(S, calibration, "calibration", "tight|paper",                                           \
                     "how much noise: what the proof needs, or the constants that the paper prints")

#define PERTURB_PARAMETERS                                                                                   \
    PERTURB_LOSS_PARAMETERS(                                                                                 \
        perturb_settings,                                                                                    \
        "what is minimised: the logistic loss (softmax for more than two classes), or the Huberised hinge")

/* loss, width, calibration. */
extern const tacit_parameter perturb_parameters[];

/* What is minimised, of as many classes as the plan has; the loss's shape, 0 where it has none; and its c. */
const tacit_family *perturb_family(const tacit_plan *plan);
double perturb_shape(const tacit_plan *plan);
double perturb_curvature(const tacit_plan *plan);
tacit_calibration perturb_calibration(const tacit_plan *plan);

/* How many weights a model of the plan has. */
size_t perturb_size(const tacit_plan *plan);

/* TACIT_USAGE for no rows, or Huber with more than two classes. */
tacit_status perturb_check(const tacit_plan *plan, tacit_error *error);

/* What the methods below choose for a lambda, at most 1: from the fewest rows n of a party, the parties M, d
 * weights and the price. Without noise .1/n. */
double perturb_lambda(const tacit_plan *plan, double times);

/* ---- perturbed objectives: plr and gop ---- */

/* The noise under a plan for a party of `rows` rows. */
tacit_status perturb_objective_noise(tacit_objective_noise *out, const tacit_plan *plan, tacit_law law,
                                     size_t rows, tacit_error *error);
tacit_status perturb_objective_check(const tacit_plan *plan, tacit_law law, tacit_error *error);
/* The grid of the sum; the party's half has it as what its method prepares. */
tacit_status perturb_objective_prepare(const tacit_plan *plan, tacit_law law, tacit_sum_spec *out,
                                       tacit_error *error);
tacit_status perturb_objective_law(const tacit_plan *plan, tacit_law law, tacit_noise_law *out,
                                   tacit_error *error);

/* The party's half: calibrate, draw b, fit, release. */
tacit_status perturb_objective_answer(tacit_party *party, const tacit_question *question, tacit_law law,
                                      tacit_reply *reply, tacit_error *error);
tacit_status perturb_objective_coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error);

/* What the two have alike: their noise, and a party's answer. */
#define PERTURB_OBJECTIVE_HALVES(law)                                                                        \
    static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,   \
                                  tacit_error *error) {                                                      \
        (void)prepared;                                                                                      \
        return perturb_objective_law(plan, law, out, error);                                                 \
    }                                                                                                        \
    static tacit_status answer_weights(tacit_party *party, const tacit_question *question,                   \
                                       tacit_reply *reply, tacit_error *error) {                             \
        return perturb_objective_answer(party, question, law, reply, error);                                 \
    }                                                                                                        \
    _Static_assert(true, "")

/* ---- for all three ---- */

/* The grid of the sum for answers of norm at most `largest`. */
tacit_status perturb_sum(const tacit_plan *plan, double largest, tacit_sum_spec *out, tacit_error *error);

/* TACIT_REFUSED when the coordinator asks for another sum than the plan defines. */
tacit_status perturb_check_sum(const tacit_question *question, const tacit_sum_spec *spec,
                               tacit_error *error);

/* The mean of the answers to "weights", as the outcome's model. */
tacit_status perturb_mean(tacit_session *session, const tacit_sum_spec *spec, tacit_outcome *out,
                          tacit_error *error);

tacit_release_kind perturb_release_kind(const tacit_plan *plan);
