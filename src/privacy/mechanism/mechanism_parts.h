/* What the mechanisms that give a tacit_noised share. For this folder only: who includes it can claim any
 * grade. */
#pragma once

#include "privacy/mechanism/mechanism.h"

struct tacit_noised {
    tacit_noise grade;
    int grid_bits;
    size_t count;
    int64_t *steps;
    tacit_price price; /* of the mechanism, with its event */
    tacit_event event;
};

/* Zeros, of grade TACIT_NOISE_NONE. */
tacit_status tacit_noised_create(tacit_noised **out, size_t count, int grid_bits, tacit_error *error);

/* The price is one, epsilon finite, the sensitivity positive and finite. */
tacit_status tacit_mechanism_check(const tacit_mechanism *mechanism, tacit_error *error);
