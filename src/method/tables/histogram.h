/* The settings of histogram, also for its audit. */
#pragma once

#include "session/method.h"

typedef struct histogram_settings {
    uint64_t cells; /* along each number; 0: chosen */
    enum { HISTOGRAM_BY_COORDINATOR, HISTOGRAM_BY_SHARES } noise;
    enum { HISTOGRAM_PROJECT, HISTOGRAM_CLIP } negative;
} histogram_settings;
