/* The settings of histogram, also for its audit. */
#pragma once

#include "method/bounded_label.h"

typedef struct histogram_settings {
    uint64_t cells; /* along each number; 0: chosen */
    enum { HISTOGRAM_BY_COORDINATOR, HISTOGRAM_BY_SHARES } noise;
    enum { HISTOGRAM_PROJECT, HISTOGRAM_CLIP } negative;
    uint64_t label_cells; /* over a label that is a number or a count; 0: chosen */
    bounded_choice minimised;
} histogram_settings;
