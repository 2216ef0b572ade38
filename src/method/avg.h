/* The settings of avg, also for the audit that plays its coordinator. */
#pragma once

#include "method/bounded_label.h"
#include "privacy/mechanism/erm.h"
#include "session/method.h"

typedef struct avg_settings {
    enum { AVG_BY_COORDINATOR, AVG_BY_PARTY } noise;
    tacit_unit unit;
    tacit_calibration calibration;
    enum { AVG_GAMMA_NORM, AVG_LAPLACE } law;
    bounded_choice minimised;
} avg_settings;
