/* A scenario in which each allocation fails once: it must say so and leak nothing. In one file of a program
 * that is linked with failing_link_args. */
#pragma once

#include "check.h"
#include "failing.h"

#include <string.h>

#include "base/error.h"

typedef tacit_status scenario(tacit_error *error);

/* Fail the first allocation, then the second, ... until the call gets through. */
static void survive(scenario *run) {
    for (long at = 1;; at++) {
        tacit_error error = TACIT_ERROR_INIT;
        fail_allocation(at);
        tacit_status status = run(&error);
        if (!allocation_failed()) {
            assert_int_equal(status, TACIT_OK);
            assert_true(at > 1);
            return;
        }
        assert_int_equal(status, TACIT_NO_MEMORY);
        assert_non_null(strstr(error.text, "out of memory"));
    }
}

#define SURVIVES(name)                                                                                       \
    static void name##_survives_any_failed_allocation(void **state) {                                        \
        (void)state;                                                                                         \
        survive(name);                                                                                       \
    }
