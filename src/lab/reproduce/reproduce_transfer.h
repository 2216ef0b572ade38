/* What the experiments on transfer (Wang 2018, chapter 4) have in common. */
#pragma once

#include "lab/reproduce/mixture.h"
#include "lab/reproduce/reproduce.h"

extern const tacit_mixture_sizes tacit_transfer_news, tacit_transfer_amazon;

/* Accuracies of all variants at all epsilons, for a target that mixes the domains so. Only the first
 * `sources` of them have a source. */
tacit_status tacit_transfer_run(const tacit_simulation *base, const tacit_mixture_sizes *how, size_t sources,
                                const double *mixture, tacit_run *runs, tacit_error *error);

/* Curves whose label ends so are run along the public documents' first 50 directions. */
#define TACIT_TRANSFER_NARROW ", p = 50"
