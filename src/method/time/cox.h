/* What the two halves of method cox share. */
#pragma once

#include "method/time/time_cells.h"
#include "num/partial_likelihood.h"
#include "session/session.h"

enum { COX_MOST_COLUMNS = 500, COX_MOST_LENGTH = 1 << 25, COX_MOST_ROUNDS = 60 };

static const double COX_MOST_SCORE = 30; /* x.w from the shift: hazards within exp(60) of each other */

typedef struct cox_settings {
    time_settings time;
    enum { COX_EFRON, COX_BRESLOW } ties;
    uint64_t least;
    double level;
    enum { COX_ERRORS_MODEL, COX_ERRORS_ROBUST, COX_ERRORS_CLUSTER } errors;
    enum { COX_TREND_NONE, COX_TREND_KM, COX_TREND_IDENTITY, COX_TREND_LOG, COX_TREND_RANK } proportional;
    enum { COX_NO_CONCORDANCE, COX_CONCORDANCE } concordance;
    missing_sum_setting missing;
} cox_settings;

#define COX_ERRORS "model|robust|cluster"
#define COX_TRENDS "none|km|identity|log|rank"

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
    double *entering; /* of each group the rows at risk from it on, which in a stratum's first nobody asks */
} cox_partition;

/* Whether exact sums over a group say too much of single rows. By Efron's way there are sums over its
 * events, unless it has only one; with entries, over the rows that enter, unless it is a stratum's first. */
bool cox_too_small(const cox_partition *partition, size_t group, bool first, double least, bool efron);

/* A group begins at a cell with events, or with entries after some, so that who is at risk at an event stays
 * as it is, and goes on while it is too small. `counts` has of each cell the rows that leave and the events,
 * `entering` the rows at risk from it on (NULL: nobody enters later). */
tacit_status cox_partition_make(cox_partition *out, const time_design *design, const double *counts,
                                const double *entering, double least, bool efron, tacit_error *error);

/* Each cell by itself; nothing is known of how many rows it has. */
tacit_status cox_partition_cells(cox_partition *out, const time_design *design, tacit_error *error);

/* The same from what a coordinator says of groups. TACIT_PROTOCOL where they do not cover all cells in
 * order. */
tacit_status cox_partition_read(cox_partition *out, const time_design *design, const tacit_message *message,
                                tacit_error *error);
tacit_status cox_partition_write(const cox_partition *partition, const time_design *design,
                                 tacit_message *message, tacit_error *error);
void cox_partition_clear(cox_partition *partition);

/* Of the sums of groups. */
size_t cox_length_of_groups(const tacit_plan *plan, const time_design *design,
                            const cox_partition *partition);

/* Of a row of a party: its group, that from which on it is at risk, and whether that is later than the
 * first. */
static inline bool cox_enters_later(const cox_partition *partition, const time_design *design, size_t entry) {
    return partition->of_cell[entry] != partition->of_cell[entry / design->cells * design->cells];
}

/* ---- the coordinator's half ---- */

typedef struct cox_point {
    double *w;
    tacit_cox_point at; /* without the regulariser */
    double shift;       /* that its sums were asked with */
    double objective;   /* -l + (n lambda/2)|w|^2 */
} cox_point;

typedef struct cox_fit {
    tacit_session *session;
    time_design design;
    cox_partition partition;
    double n, events, shift, first; /* first: -l at w = 0 */
    double event_offset;            /* the sum of offsets over events */
    double *time;                   /* of each group a function of time, where trends are tested; else NULL */
    int room;
    size_t parties, iterations;
    double *missing; /* how many values are missing (missing_sum.h); NULL: not counted */
    double *event_x, *direction, *scale, *factor;
    bool *deficient;
    cox_point here, there;
} cox_fit;

/* Ask for a sum, and see that those answer who answered first. */
tacit_status cox_ask_all(cox_fit *self, const char *question, const tacit_message *message, int room,
                         size_t length, tacit_sum *sum, tacit_error *error);

/* Whether some party's contribution may have been moved to the bound: then the sum shows half of it at
 * least. */
bool cox_needs_room(const cox_fit *self, const tacit_sum *sum);

/* After the fit (cox_after.c). The function of time of each group, from counts as cox_partition_make has
 * them; the sum of squared scores, width x width; the tests of proportional hazards. */
tacit_status cox_choose_time(cox_fit *self, const double *counts, const double *entering, tacit_error *error);
tacit_status cox_ask_scores(cox_fit *self, double **middle, double *persons, tacit_error *error);
tacit_status cox_ask_concordance(cox_fit *self, tacit_estimates *estimates, tacit_error *error);
tacit_status cox_test_trends(cox_fit *self, tacit_estimates *estimates, tacit_error *error);

/* ---- the party's half ---- */

/* What a party looks at before exact sums leave: rows far from the shift, sums of risks and of their
 * squares. */
enum { COX_FAR, COX_RISKS, COX_RISKS_SQUARED, COX_LOOKS };

double cox_look_at(double *look, double score); /* the row's risk */
bool cox_is_real(const tacit_party *party);

/* Of each cell by itself the sums over all rows that leave in it and, with entries, over those at risk from
 * it on; tacit_risk_length numbers a cell. Settings are those of a method whose settings begin with cox's,
 * ties by Breslow. */
tacit_status cox_sum_cells(const tacit_party *party, const double *w, double *leaving, double *entering,
                           double *look, tacit_error *error);

tacit_status cox_check_groups(const tacit_party *party, const cox_partition *groups, bool efron,
                              tacit_error *error);
tacit_status cox_check_weights(const tacit_party *party, const tacit_question *question, const double *look,
                               tacit_error *error);

tacit_status cox_answer_scores(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                               tacit_error *error);
tacit_status cox_answer_trend(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                              tacit_error *error);

tacit_status cox_answer_ranks(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                              tacit_error *error);

extern const tacit_handler_entry cox_handlers[];
