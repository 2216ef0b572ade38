/*
 * What the server makes of a sum of gradients: steps of SGD, with momentum, or of Adam (Kingma and Ba 2015),
 * at a rate that follows a schedule. Its input is published already, so nothing here costs any privacy.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef enum tacit_rule { TACIT_RULE_SGD, TACIT_RULE_ADAM } tacit_rule;

/* The rate at step t of T: as it is; falling on a line, or on half a cosine, to zero; or over sqrt(1 + t). */
typedef enum tacit_schedule {
    TACIT_SCHEDULE_CONSTANT,
    TACIT_SCHEDULE_LINEAR,
    TACIT_SCHEDULE_COSINE,
    TACIT_SCHEDULE_ROOT,
} tacit_schedule;

typedef struct tacit_optimiser {
    tacit_rule rule;
    tacit_schedule schedule;
    double rate;
    double momentum; /* of SGD, or the first moment's of Adam; in [0, 1) */
    uint64_t steps;  /* planned, for schedules that end */
} tacit_optimiser;

/* How many numbers of memory a rule keeps for `size` parameters, zeros at the start: the caller's, to save
 * and restore. */
size_t tacit_optimiser_memory(const tacit_optimiser *optimiser, size_t size);

/* The rate of step `step`, from 0. */
double tacit_optimiser_rate(const tacit_optimiser *optimiser, uint64_t step);

/* Move the parameters against the gradient, as step `step` of all. */
void tacit_optimiser_step(const tacit_optimiser *optimiser, uint64_t step, const double *gradient,
                          double *memory, double *parameters, size_t size);
