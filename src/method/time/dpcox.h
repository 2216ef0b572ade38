/* What the two halves of method dpcox share: the plan (dpcox.c), a party's sums (dpcox_rows.c) and what the
 * coordinator makes of them (num/noisy/noisy_hazard.h). */
#pragma once

#include "method/private/dpnewton.h"
#include "method/time/time_cells.h"

enum {
    DPCOX_STEPS = 6,
    DPCOX_CLOCK = 2, /* columns of the baseline: a constant, and the clock */
    DPCOX_HEAD = 2,  /* the number of persons, in units of DPCOX_ROWS_UNIT and what is left */
    DPCOX_ROWS_UNIT = 1 << 12,
    DPCOX_ROWS_WEIGHT = 1 << 12,
    DPCOX_MOST_CELLS = 1024,
    DPCOX_MOST_COLUMNS = 100
};

/* Noise and declared rows are those of dpnewton, whose functions read them. */
typedef struct dpcox_settings {
    dpnewton_settings engine;
    time_settings time;
    double level;
} dpcox_settings;

static inline const dpcox_settings *dpcox_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(dpcox_settings, plan);
}

/* What follows from the plan alone. */
typedef struct dpcox_design {
    time_design time;
    bool persons;          /* the schema names them: one has any number of rows; else each row is one */
    size_t columns, width; /* p, and d = p + DPCOX_CLOCK */
    double radius;         /* R */
    double feature;        /* what an encoded feature is multiplied by to be a part of x */
    double most;           /* L */
    double strength;       /* mu of all noise that there is */
    tacit_sum_spec counts, scores;
    dpnewton_counting missing; /* the last question, where missing values are counted */
    dpnewton_release release[DPCOX_STEPS + 1];
} dpcox_design;

tacit_status dpcox_describe(const tacit_plan *plan, dpcox_design *out, tacit_error *error);
void dpcox_clear(dpcox_design *design);

/* The baseline that a question is about, over the cells of time. */
typedef struct dpcox_baseline {
    const double *hazard; /* of each cell */
    const double *clock;  /* of each cell, from 0 to 1 */
} dpcox_baseline;

/* How many histograms over cells are counted: of persons who leave without an event, with one, and where some
 * may come late, of the cells from which on they are at risk. */
static inline size_t dpcox_histograms(const dpcox_design *design) { return design->time.entries ? 3 : 2; }

/* The party's counts by cell, encoded, with its number of persons before them; the sum of its persons' scores
 * U/L at `weights` and of their squares, packed. In all holders. */
tacit_status dpcox_count(tacit_party *party, const dpcox_design *design, double *out, tacit_error *error);
tacit_status dpcox_add_up(tacit_party *party, const dpcox_design *design, const dpcox_baseline *baseline,
                          const double *weights, double *out, tacit_error *error);

/* The clock's column of a cell. */
double dpcox_clock_column(const dpcox_design *design, double clock);
