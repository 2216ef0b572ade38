/* The two clocks: wall time for what is written down, monotonic time for deadlines. */
#pragma once

#include <stdint.h>
#include <time.h>

/* Seconds since 1970, for certificates and invitations. May jump when the clock is set. */
static inline int64_t tacit_clock_wall_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec;
}

/* Milliseconds since some fixed moment; never jumps. */
static inline int64_t tacit_clock_monotonic_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
