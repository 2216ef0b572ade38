/* The forest plot of a meta-analysis: of each coefficient the sites' estimates with their intervals, and under
 * them the pooled ones. */
#pragma once

#include "base/buffer.h"
#include "model/report/report.h"

/* Append an SVG of a report of kind meta. TACIT_USAGE where it is of another kind, or shows no sites. */
tacit_status tacit_forest_plot(const tacit_report *report, tacit_buffer *out, tacit_error *error);
