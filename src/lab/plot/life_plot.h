/* The curves of a report of survival as standalone SVG: a step curve with its interval for each group, and how many
 * of each are at risk under the axis. The same report gives the same bytes everywhere, in any locale. */
#pragma once

#include "base/buffer.h"
#include "model/report/report.h"

/* TACIT_USAGE where the report has no curves. */
tacit_status tacit_life_plot(const tacit_report *report, tacit_buffer *out, tacit_error *error);
