/* Times until an event on a public grid, for methods that need only who leaves in which cell: a row leaves
 * in the cell of its time, with an event or without. What cox.c and survival.c share, of both halves. */
#pragma once

#include "model/estimates.h"
#include "model/report.h"
#include "num/life_table.h"
#include "session/party.h"

enum {
    TIME_MOST_CELLS = 200000, /* of all strata */
    TIME_HEAD = 1             /* the number of rows, before anything else in a contribution */
};

/* What the settings of such a method begin with. */
typedef struct time_settings {
    double width; /* of a cell; 0: a hundredth of the range */
    char strata[TACIT_SETTING_SIZE];
} time_settings;

#define TIME_SETTING_WIDTH(S)                                                                                \
    TACIT_OPEN_NUMBER(                                                                                       \
        S, time.width, "width", 1e12,                                                                        \
        "of a cell of time, in the unit of the label: 30.4375 for months where times are days",              \
        "a hundredth of the label's range")

/* What follows from the plan alone. Time t of the schema's [low, high] is in cell ceil((t - low)/width), the
 * first being 1; here cells count from 0. */
typedef struct time_design {
    tacit_design columns;              /* those with a coefficient: neither the intercept nor the strata's */
    size_t strata, cells;              /* cells of one stratum */
    size_t causes;                     /* of the event: 1 unless the schema has several */
    size_t first_level;                /* the strata's column begins with this feature */
    const tacit_schema_column *column; /* the strata's; NULL: there is one stratum */
    double low, width;
} time_design;

tacit_status time_design_create(time_design *out, const tacit_plan *plan, tacit_error *error);
void time_design_clear(time_design *design);

/* stratum * cells + cell of a row with all its features. */
size_t time_place(const time_design *design, double time, const double *features);

/* The end of a cell, in the label's unit. */
double time_of_cell(const time_design *design, const tacit_plan *plan, size_t cell);

/* "all" without strata; rows without a level are "(none)". */
const char *time_stratum_name(const time_design *design, size_t stratum);

/* A table of the share of a stratum's rows with an event of each cause by each of `count` times; curves of causes
 * begin `stride` apart. */
tacit_status time_add_incidence(tacit_report *report, const time_design *design, const tacit_plan *plan,
                                size_t stratum, const tacit_life_incidence *curves, size_t stride,
                                const double *time, size_t count, tacit_error *error);

/* A table of hazard ratios of strata against `first`, where logarithms are known, with intervals. */
tacit_status time_add_ratios(tacit_report *report, const time_design *design, size_t first,
                             const double *log_ratio, const double *errors, double level, tacit_error *error);

/* The sums: of all rows' number; of numbers that are at most n 2^room each. */
tacit_sum_spec time_sum_of_rows(void);
tacit_sum_spec time_sum(const tacit_plan *plan, double n, int room, size_t length);

/* Of each cell the rows that leave and the events of each cause, then the sum over events of x, the columns with a
 * coefficient. */
size_t time_length_of_cells(const time_design *design);

/* ---- the party's half ---- */

/* An empty contribution to an exact sum, and how it leaves; TACIT_REFUSED where another sum is asked for. */
tacit_status time_begin_reply(const tacit_party *party, const tacit_question *question,
                              const tacit_sum_spec *spec, tacit_reply *reply, tacit_error *error);

/* The head, the sum over all who hold this party's rows, and the bound. */
tacit_status time_finish_reply(const tacit_party *party, const tacit_sum_spec *spec, tacit_reply *reply,
                               tacit_error *error);

/* n of the question, believed only within what it can be. */
tacit_status time_read_total(const tacit_party *party, const tacit_question *question, double *n,
                             tacit_error *error);

/* Row i of a block, all its features into `row` and those with a coefficient into `x`: its place, and
 * its event: 0 for none, or the number of its cause from 1. */
size_t time_take_row(const time_design *design, const tacit_view *block, size_t i, double *row, double *x,
                     size_t *event);

/* To `counts` add of each cell the rows that leave and the events of each cause, to `event_x` the sum of x over events. */
tacit_status time_count(const tacit_party *party, const time_design *design, double *counts, double *event_x,
                        tacit_error *error);

tacit_status time_check_rows(const tacit_party *party, tacit_error *error);
tacit_status time_answer_rows(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                              tacit_error *error);
tacit_status time_answer_cells(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                               tacit_error *error);

tacit_release_kind time_kind(const tacit_plan *plan);
