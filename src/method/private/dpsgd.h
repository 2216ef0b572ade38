/* What dpsgd's two files share: all that follows from its plan. */
#pragma once

#include "model/clipped_batch.h"
#include "model/optimiser.h"
#include "privacy/mechanism/erm.h"
#include "session/party.h"
#include "session/session.h"

/* Settings of the network, also dpstgd's, which begin the struct of both. */
typedef struct network_settings {
    char hidden[TACIT_SETTING_SIZE];
    tacit_activation activation;
    double scale;
    char shape[TACIT_SETTING_SIZE];
} network_settings;

/* The network that the plan describes: a tacit_method.network. */
tacit_status network_of_plan(tacit_network *out, const tacit_plan *plan, tacit_error *error);
double network_scale(const tacit_plan *plan); /* what rows are multiplied by */

typedef enum dpsgd_noise { DPSGD_BY_COORDINATOR, DPSGD_BY_SHARES, DPSGD_BY_PARTY } dpsgd_noise;

typedef struct dpsgd_settings {
    network_settings network;
    double epochs, sampling, clip;
    dpsgd_noise noise;
    tacit_rule optimiser;
    double rate, momentum; /* clip and rate: 0 to be chosen */
    enum {
        DPSGD_CONSTANT = TACIT_SCHEDULE_CONSTANT,
        DPSGD_LINEAR = TACIT_SCHEDULE_LINEAR,
        DPSGD_COSINE = TACIT_SCHEDULE_COSINE,
        DPSGD_ROOT = TACIT_SCHEDULE_ROOT,
        DPSGD_CHOSEN_SCHEDULE,
    } schedule;
    char weights[TACIT_SETTING_SIZE];
    double keep, patience;
    enum { DPSGD_FULL, DPSGD_TERNARY } upload;
} dpsgd_settings;

typedef struct dpstgd_settings {
    network_settings network;
    uint64_t rounds;
    double sampling, keep, clip, rate;
    tacit_schedule schedule;
    tacit_calibration calibration;
} dpstgd_settings;

size_t dpstgd_kept(const tacit_plan *plan, size_t size); /* of a network's parameters */

extern const dpsgd_settings dpsgd_defaults;
extern const tacit_parameter dpsgd_parameters[];

static inline const dpsgd_settings *dpsgd_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(dpsgd_settings, plan);
}

/* A struct without pointers, for tacit_party_derive. */
typedef struct dpsgd_setup {
    tacit_network network;
    size_t size; /* of its parameters */
    double clip, scale, sampling;
    double keep; /* share of the numbers */
    bool signs, compressed;
    dpsgd_noise noise;
    tacit_optimiser optimiser; /* with the number of steps */
    double patience;
    tacit_sum_spec spec; /* of clipped gradients */
    double row_shift;    /* what a row that comes or goes moves, at most: 1 and the roundings */
    /* 0 without noise: */
    double sigma;             /* of the event: noise over row_shift, at least */
    tacit_event event;        /* of one step */
    tacit_price price;        /* of one step */
    tacit_mechanism gaussian; /* whose scale is the noise of a step */
    double noise_scale;
    uint64_t shares;    /* that hide the rest */
    double share_scale; /* of each, in steps of the sum's grid */
} dpsgd_setup;

/* Read the plan and find the noise: the least that keeps within the plan's price (`sigma` 0), or a given one,
 * refused (TACIT_REFUSED) when all steps would cost more with it. */
tacit_status dpsgd_setup_make(const tacit_plan *plan, double sigma, dpsgd_setup *out, tacit_error *error);

/* lambda from public numbers: none with hidden layers; without, as much as the noise calls for. */
tacit_status dpsgd_lambda(const tacit_plan *plan, double *out, tacit_error *error);

/* The clip, rate and schedule that the plan leaves open. */
tacit_status dpsgd_settle(tacit_plan *plan, tacit_error *error);

/* The same without looking for noise: quick. */
tacit_status dpsgd_setup_read(const tacit_plan *plan, dpsgd_setup *out, tacit_error *error);

/* The weights of the classes, plan->classes of them, freed by the caller; NULL when all are 1. */
tacit_status dpsgd_class_weights(const tacit_plan *plan, double **out, tacit_error *error);

/* What a compressed answer says: a sign for each parameter, `size` of them, and sizes of those that are not
 * 0, or one for all. */
tacit_status dpsgd_small_read(const dpsgd_setup *setup, const tacit_message *answer, int8_t *signs,
                              const double **sizes, tacit_error *error);
size_t dpsgd_small_numbers(const tacit_plan *plan);
tacit_status dpsgd_small_usable(const tacit_plan *plan, const tacit_message *answer, tacit_error *error);

/* Whether parties answer so, each for itself, instead of with a sum. */
bool dpsgd_answers_small(const tacit_plan *plan);
