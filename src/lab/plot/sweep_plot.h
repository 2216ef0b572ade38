/* The chart of a sweep: accuracy against 1/epsilon, as Hamm 2016 draws it. */
#pragma once

#include "base/buffer.h"
#include "lab/simulate.h"

/* Append an SVG of `runs`, in the order in which tacit_simulate gives them. A method without noise is a
 * dashed horizontal line; error bars are one standard deviation. `note` (may be NULL) stands under the
 * title. */
tacit_status tacit_sweep_plot(const tacit_run *runs, size_t count, const char *note, tacit_buffer *out,
                              tacit_error *error);
