/* What the figures of Hamm, Cao and Belkin 2016 have in common. */
#pragma once

#include "lab/reproduce/reproduce.h"

/* The methods as printed, at the printed lambda; then ours, each at a lambda chosen from the public
 * points. */
extern const tacit_variant tacit_hamm_curves[];

/* Why the printed curves fall where the text has them stay. */
#define TACIT_HAMM_PRINTED_IS_CHANCE                                                                         \
    "with the printed lambda, 1e-4, the noise of the proof is many times the weights, and the model is at "  \
    "chance; soft-stat and pate, at the lambda chosen for their noise, are as good as the text says"

#define TACIT_HAMM_NOT_WORSE(text, curve_, epsilon_, setup_, beside, slack, because)                         \
    .says = text, .above = { curve_, epsilon_, setup_, slack }, .below = { beside, INFINITY, setup_, 0 },    \
    .why = because
