/* What the two halves of method cox share. */
#pragma once

#include "method/time_cells.h"
#include "num/partial_likelihood.h"

enum { COX_MOST_COLUMNS = 500, COX_MOST_LENGTH = 1 << 25, COX_MOST_ROUNDS = 60 };

static const double COX_MOST_SCORE = 30; /* x.w from the shift: hazards within exp(60) of each other */

typedef struct cox_settings {
    time_settings time;
    enum { COX_EFRON, COX_BRESLOW } ties;
    uint64_t least;
    double level;
} cox_settings;

static inline const cox_settings *cox_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(cox_settings, plan);
}

/* Cells put together: cells of one stratum, next to each other. Public, from sums that all may know. */
typedef struct cox_partition {
    size_t groups;
    size_t *end;              /* strata: one past a stratum's last group */
    size_t *of_cell;          /* strata x cells: the group of each */
    int64_t *last;            /* of each group its last cell */
    double *leaving, *events; /* of each group */
} cox_partition;

/* Whether exact sums over a group say too much of single rows. By Efron's way there are sums over its
 * events, unless it has only one. */
bool cox_too_small(double leaving, double events, double least, bool efron);

/* A group begins at a cell with events, so that who is at risk at an event stays as it is, and goes on while
 * it is too small. `counts` has of each cell the rows that leave and the events. */
tacit_status cox_partition_make(cox_partition *out, const time_design *design, const double *counts,
                                double least, bool efron, tacit_error *error);

/* The same from what a coordinator says of groups. TACIT_PROTOCOL where they do not cover all cells in
 * order. */
tacit_status cox_partition_read(cox_partition *out, const time_design *design, const tacit_message *message,
                                tacit_error *error);
tacit_status cox_partition_write(const cox_partition *partition, tacit_message *message, tacit_error *error);
void cox_partition_clear(cox_partition *partition);

/* Of the sums of groups. */
size_t cox_length_of_groups(const tacit_plan *plan, const time_design *design,
                            const cox_partition *partition);

extern const tacit_handler_entry cox_handlers[];
