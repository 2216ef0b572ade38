/* What every test program includes: cmocka with the headers it wants first, and two shorthands. */
#pragma once

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <math.h>

#include "base/error.h"

/* The call must succeed; on failure its own sentence is shown. Expects a fresh `tacit_error *error` use:
 * CHECK_OK(tacit_something(..., &error), error). */
#define CHECK_OK(call, error)                                                                                \
    do {                                                                                                     \
        tacit_status check_status_ = (call);                                                                 \
        if (check_status_ != TACIT_OK)                                                                       \
            fail_msg("%s: %s: %s", #call, tacit_status_name(check_status_), (error).text);                   \
    } while (0)

#define CHECK_NEAR(actual, expected, tolerance)                                                              \
    do {                                                                                                     \
        double check_actual_ = (actual), check_expected_ = (expected);                                       \
        if (!(fabs(check_actual_ - check_expected_) <= (tolerance)))                                         \
            fail_msg("%s is %.17g, expected %.17g within %g", #actual, check_actual_, check_expected_,       \
                     (double)(tolerance));                                                                   \
    } while (0)
