/* What the two halves of dphtl share: what a source answers, and on which grids. */
#pragma once

#include "method/transfer/transfer.h"

typedef struct dphtl_grids {
    tacit_sum_spec hypothesis, density;
    /* Of a hypothesis that the fewest rows make: the noise in each number, and how far a row moves it. */
    double variance, sensitivity;
} dphtl_grids;

static inline const dphtl_settings *dphtl_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(dphtl_settings, plan);
}

/* Whether sources and target may have rows without a label: then nobody knows beforehand how many have
 * one. */
static inline bool dphtl_is_mixed(const tacit_plan *plan) {
    return plan->schema != NULL && tacit_schema_keeps_unlabelled(plan->schema);
}

/* dphtl_grids, from public numbers (tacit_method.prepare). */
tacit_status dphtl_prepare(const tacit_plan *plan, void *prepared, tacit_error *error);

/* What an answer says; the arrays are the message's. */
typedef struct dphtl_answer {
    const int64_t *theta, *beta; /* on the grids */
    double variance;             /* of the noise in each number of theta */
    bool has_hypothesis;         /* else no row of the source has a label, and theta says nothing */
} dphtl_answer;

/* TACIT_PROTOCOL for an answer that is none. */
tacit_status dphtl_take_apart(const tacit_plan *plan, const tacit_message *message, dphtl_answer *out,
                              tacit_error *error);

/* The target's half (dphtl_target.c). */
tacit_status dphtl_coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error);
