/* Times until an event on a public grid, for methods that need only who leaves in which cell: a row leaves
 * in the cell of its time, with an event or without. What cox.c and survival.c share, of both halves. */
#pragma once

#include "method/missing_sum.h"
#include "model/report/estimates.h"
#include "model/report/report.h"
#include "num/life_table.h"
#include "session/party.h"

enum {
    TIME_MOST_CELLS = 200000, /* of all strata */
    TIME_HEAD = 1             /* the number of rows, before anything else in a contribution */
};

/* What the settings of such a method begin with. */
typedef struct time_settings {
    double width; /* of a cell; 0: a hundredth of the range, or one unit */
    char strata[TACIT_SETTING_SIZE];
    enum { TIME_UNIT_LABEL, TIME_UNIT_DAY, TIME_UNIT_WEEK, TIME_UNIT_MONTH, TIME_UNIT_YEAR } unit;
} time_settings;

#define TIME_SETTING_WIDTH(S)                                                                                \
    TACIT_OPEN_NUMBER(                                                                                       \
        S, time.width, "width", 1e12,                                                                        \
        "of a cell of time, in the unit of the label: 30.4375 for months where times are days",              \
        "a hundredth of the label's range")

#define TIME_SETTING_UNIT(S)                                                                                 \
    TACIT_LATER_CHOICE(                                                                                      \
        S, time.unit, "unit", "label|day|week|month|year", "label",                                          \
        "of width: the label's, or where that is days, 1, 7, 30.4375 or 365.25 of them; width is then 1 by " \
        "default")

/* What follows from the plan alone. Time t of the schema's [low, high] is in cell ceil((t - low)/width), the
 * first being 1; here cells count from 0. */
typedef struct time_design {
    tacit_design columns;              /* those with a coefficient: neither the intercept nor the strata's */
    size_t strata, cells;              /* cells of one stratum */
    size_t causes;                     /* of the event: 1 unless the schema has several */
    size_t first_level;                /* the strata's column begins with this feature */
    const tacit_schema_column *column; /* the strata's; NULL: there is one stratum */
    double low, width;
    bool entries; /* rows are at risk from some cell on, not from the first */
} time_design;

tacit_status time_design_create(time_design *out, const tacit_plan *plan, tacit_error *error);

/* The same where a method's settings do not begin with those of time. */
tacit_status time_design_create_as(time_design *out, const tacit_plan *plan, const time_settings *settings,
                                   tacit_error *error);
void time_design_clear(time_design *design);

/* The same as what a method prepares; nothing as long as nothing is known of the rows. */
tacit_status time_prepare(const tacit_plan *plan, void *out, tacit_error *error);
void time_clear_prepared(void *prepared);

/* When a row leaves, as stratum * cells + cell, and the first such cell in which it is at risk: one after
 * that of its entry. A row that leaves in the cell in which it enters has it after the last. */
typedef struct time_row {
    size_t place, entry;
    size_t event; /* 0: none, or the number of its cause from 1 */
} time_row;

/* What is added to the score of a row with all its features; 0 without offset(). */
double time_offset(const time_design *design, const double *features);

/* x.w of a row whose columns, or R's columns of the terms, are all 0. */
tacit_status time_score_of_zeros(const time_design *design, const tacit_plan *plan, const double *w,
                                 double *out, tacit_error *error);

/* The end of a cell, in the label's unit. */
double time_of_cell(const time_design *design, const tacit_plan *plan, size_t cell);

/* "all" without strata; rows without a level are "(none)". */
const char *time_stratum_name(const time_design *design, size_t stratum);

/* A table of the share of a stratum's rows with an event of each cause by each of `count` times; curves of
 * causes begin `stride` apart. */
tacit_status time_add_incidence(tacit_report *report, const time_design *design, const tacit_plan *plan,
                                size_t stratum, const tacit_life_incidence *curves, size_t stride,
                                const double *time, size_t count, tacit_error *error);

/* A table of hazard ratios of strata against `first`, where logarithms are known, with intervals. */
tacit_status time_add_ratios(tacit_report *report, const time_design *design, size_t first,
                             const double *log_ratio, const double *errors, double level, tacit_error *error);

/* The sums: of all rows' number; of numbers that are at most n 2^room each. */
tacit_sum_spec time_sum_of_rows(void);
/* The same with missing values behind it, where the method counts them (missing_sum.h). */
tacit_sum_spec time_first_sum(const tacit_plan *plan);
tacit_sum_spec time_sum(const tacit_plan *plan, double n, int room, size_t length);

/* Of each cell the rows that leave and the events of each cause, then the sums over events of x, the columns
 * with a coefficient, and of the offset, where there is one; then, with entries, of each cell the rows that
 * are at risk from it on. */
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

/* Row i of a block, all its features into `row` and those with a coefficient into `x`. */
time_row time_take_row(const time_design *design, const tacit_view *block, size_t i, double *row, double *x);

/* To `counts` add of each cell the rows that leave and the events of each cause, to `event_x` the sums over
 * events, and to `entering` the rows that are at risk from each cell on; the last two as time_length_of_cells
 * says, and NULL where it has none of them. */
tacit_status time_count(const tacit_party *party, const time_design *design, double *counts, double *event_x,
                        double *entering, tacit_error *error);

tacit_status time_check_rows(const tacit_party *party, tacit_error *error);
/* For methods whose promise is about a row that is a person with all of its time: TACIT_INPUT where the
 * schema names persons and one of them has several rows, or where real rows do not say whose they are;
 * TACIT_USAGE where that cannot be seen because several hold them. */
tacit_status time_check_one_row_each(const tacit_party *party, tacit_error *error);
tacit_status time_answer_rows(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                              tacit_error *error);
tacit_status time_answer_cells(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                               tacit_error *error);

tacit_release_kind time_kind(const tacit_plan *plan);
