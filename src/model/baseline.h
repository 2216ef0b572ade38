/* The hazard of a row with all columns at 0, as a Cox regression leaves it: a step at the end of each group
 * of cells of time that has events, in each stratum. Part of its table of estimates. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct tacit_baseline_step {
    size_t stratum;         /* from 0 */
    double time;            /* the end of the group, in the label's unit */
    double leaving, events; /* rows, those with an event among them */
    double hazard;          /* by how much the cumulative hazard rises; 0 without events */
} tacit_baseline_step;

typedef struct tacit_baseline {
    size_t count;
    tacit_baseline_step *step; /* of each stratum in order of time */
} tacit_baseline;

tacit_status tacit_baseline_create(tacit_baseline **out, size_t count, tacit_error *error);
tacit_baseline *tacit_baseline_free(tacit_baseline *baseline);

double tacit_baseline_events(const tacit_baseline *baseline);

/* [stratum, time, leaving, events, hazard] of each step, and back; false where it is damaged. */
json_t *tacit_baseline_to_json(const tacit_baseline *baseline);
bool tacit_baseline_from_json(tacit_baseline **out, const json_t *list);
