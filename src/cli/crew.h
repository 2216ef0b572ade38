/*
 * The ranks of this program, when mpirun has started several of it. A program that was started alone has none, and MPI is
 * neither loaded nor started.
 */
#pragma once

#include "base/ranks.h"

typedef struct tacit_crew {
    tacit_ranks ranks;
    bool started;
    void *module;
} tacit_crew;

/* *out->started says whether there are ranks. TACIT_USAGE when mpirun has started several processes and MPI was left out when
 * this program was built, or does not know of them all. */
tacit_status tacit_crew_start(tacit_crew *out, tacit_error *error);
void tacit_crew_end(tacit_crew *crew);
