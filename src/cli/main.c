/* The process around the program: standard streams, signals, libraries that must be started. */
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/process/interrupt.h"
#include "cli/process/mpi_loader.h"
#include "cli/program.h"
#include "num/blas.h"

/* A program started with a standard stream closed would open its next file in the stream's place and
 * print into it. The stand-in is opened so that using it fails. */
static bool hold_standard_streams(void) {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) >= 0) continue;
        if (open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) != stream) return false;
    }
    return true;
}

/* Alone, or as one of the ranks that mpirun has started: the first of them speaks, and the exit code is
 * its. */
static int run(const char *const *words, size_t count) {
    tacit_mpi_loader loader;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_mpi_loader_start(&loader, &error);
    if (status != TACIT_OK) {
        const char *rank = getenv("OMPI_COMM_WORLD_RANK"); /* all ranks come here: one tells it */
        if (rank == NULL || strcmp(rank, "0") == 0) fprintf(stderr, "tacit: %s\n", error.text);
        return tacit_status_exit_code(status);
    }
    tacit_ranks *ranks = loader.started ? &loader.ranks : NULL;
    bool speaks = tacit_ranks_own(ranks) == 0;
    FILE *nowhere = speaks ? NULL : fopen("/dev/null", "we");
    int code = 1;
    if (speaks)
        code = tacit_program_run_on(ranks, tacit_commands, words, count, stdout, stderr);
    else if (nowhere != NULL)
        tacit_program_run_on(ranks, tacit_commands, words, count, nowhere, nowhere), code = 0;
    if (nowhere != NULL) fclose(nowhere);
    tacit_mpi_loader_end(&loader);
    return code;
}

int main(int argc, char **argv) {
    if (!hold_standard_streams()) return 1;
    tacit_interrupt_install();
    if (sodium_init() < 0) {
        fputs("tacit: the random generator of this system cannot be used\n", stderr);
        return 1;
    }
    tacit_error error = TACIT_ERROR_INIT;
    if (tacit_blas_check_room(&error) != TACIT_OK) {
        fprintf(stderr, "tacit: %s\n", error.text);
        _exit(1);
    }
    tacit_blas_end_threads(); /* parallel work is ours to divide */
    size_t words = argc > 0 ? (size_t)argc - 1 : 0;
    int code = run((const char *const *)argv + 1, words);
    /* A network file system may report a full disk only now. */
    if (fclose(stdout) != 0 && code == 0) {
        fputs("tacit: standard output could not be written\n", stderr);
        code = 1;
    }
    return code;
}
