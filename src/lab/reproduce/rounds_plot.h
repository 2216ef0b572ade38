/* The figure of an experiment whose x-axis is rounds: distances on a logarithmic axis. */
#pragma once

#include "lab/reproduce/reproduce.h"

tacit_status tacit_rounds_plot(const tacit_reproduction *reproduction, const char *note, tacit_buffer *out,
                               tacit_error *error);
