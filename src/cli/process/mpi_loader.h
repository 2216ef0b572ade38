/*
 * The ranks of this program, when mpirun has started several of it. A program that was started alone has
 * none, and MPI is neither loaded nor started.
 */
#pragma once

#include "base/ranks.h"

typedef struct tacit_mpi_loader {
    tacit_ranks ranks;
    bool started;
    void *module;
} tacit_mpi_loader;

/* *out->started says whether there are ranks. TACIT_USAGE when mpirun has started several processes and MPI
 * was left out when this program was built, or does not know of them all. */
tacit_status tacit_mpi_loader_start(tacit_mpi_loader *out, tacit_error *error);
void tacit_mpi_loader_end(tacit_mpi_loader *loader);
