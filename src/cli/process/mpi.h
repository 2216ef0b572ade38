/* The module that brings ranks over MPI: cli/process/mpi_loader.c looks its two functions up by name. */
#pragma once

#include "base/ranks.h"

/* All ranks call them once, in the thread that makes all calls through the link. */
__attribute__((visibility("default"))) tacit_status tacit_mpi_start(tacit_link *out, tacit_error *error);
__attribute__((visibility("default"))) void tacit_mpi_end(void);
