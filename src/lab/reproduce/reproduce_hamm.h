/* What the figures of Hamm, Cao and Belkin 2016 have in common. */
#pragma once

#include "lab/reproduce/reproduce.h"

/* The methods as printed, at the printed lambda; then ours, each at a lambda chosen from the public
 * points. */
extern const tacit_variant tacit_hamm_curves[];
