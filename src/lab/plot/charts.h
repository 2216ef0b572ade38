/* Charts of results as standalone SVG, made of plot.h: the same results give the same bytes everywhere, in
 * any locale. Each function appends one. */
#pragma once

#include "base/buffer.h"
#include "lab/simulate.h"
#include "model/report/report.h"

/* The forest plot of a meta-analysis: of each coefficient the sites' estimates with their intervals, and
 * under them the pooled ones. TACIT_USAGE where the report is of another kind, or shows no sites. */
tacit_status tacit_forest_plot(const tacit_report *report, tacit_buffer *out, tacit_error *error);

/* The curves of a report of survival: a step curve with its interval for each group, and how many of each are
 * at risk under the axis. TACIT_USAGE where the report has no curves. */
tacit_status tacit_life_plot(const tacit_report *report, tacit_buffer *out, tacit_error *error);

/* A sweep: accuracy against 1/epsilon, as Hamm 2016 draws it. `runs` are in the order in which tacit_simulate
 * gives them. A method without noise is a dashed horizontal line; error bars are one standard deviation.
 * `note` (may be NULL) stands under the title. */
tacit_status tacit_sweep_plot(const tacit_run *runs, size_t count, const char *note, tacit_buffer *out,
                              tacit_error *error);
