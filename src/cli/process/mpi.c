/*
 * Ranks over MPI: a module that `tacit` loads when mpirun has started it, and that nothing else links to.
 *
 * A rank that waits lets others work: it tests, gives way, and after a while sleeps between tests. MPI's own
 * waiting would keep a processor busy, for hours when a party waits for its next question.
 */
#include "cli/process/mpi.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "base/memory.h"

/* A count in MPI is an int; longer values go in pieces. */
enum { PIECE = 1 << 24, BYTES_PIECE = 1 << 28, TAG = 1 };

static tacit_status told(int code, tacit_error *error) {
    char text[MPI_MAX_ERROR_STRING] = "unknown";
    int length = 0;
    if (code == MPI_SUCCESS) return TACIT_OK;
    MPI_Error_string(code, text, &length);
    return tacit_fail(error, TACIT_NETWORK, "MPI: %.300s", text);
}

static tacit_status settle(MPI_Request *request, tacit_error *error) {
    const long longest_ns = 2000000;
    const unsigned patience = 2000; /* tests before the first sleep: about a millisecond */
    struct timespec pause = { 0, 20000 };
    for (unsigned tests = 0;; tests++) {
        int done = 0;
        TACIT_TRY(told(MPI_Test(request, &done, MPI_STATUS_IGNORE), error));
        if (done) return TACIT_OK;
        if (tests < patience) {
            sched_yield();
            continue;
        }
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < longest_ns) pause.tv_nsec += pause.tv_nsec / 4;
    }
}

static tacit_status most(void *context, uint64_t *values, size_t count, tacit_error *error) {
    MPI_Request request;
    (void)context;
    TACIT_TRY(told(
        MPI_Iallreduce(MPI_IN_PLACE, values, (int)count, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD, &request),
        error));
    return settle(&request, error);
}

/* Into rank 0 alone, and from there: then all ranks have the same bits, whatever order MPI adds in. */
static tacit_status reduce(void *values, size_t count, MPI_Datatype type, tacit_error *error) {
    MPI_Request request;
    int rank = 0;
    TACIT_TRY(told(MPI_Comm_rank(MPI_COMM_WORLD, &rank), error));
    TACIT_TRY(told(MPI_Ireduce(rank == 0 ? MPI_IN_PLACE : values, values, (int)count, type, MPI_SUM, 0,
                               MPI_COMM_WORLD, &request),
                   error));
    return settle(&request, error);
}

static tacit_status spread(void *context, void *bytes, size_t length, size_t from, tacit_error *error) {
    uint8_t *at = bytes;
    (void)context;
    while (length > 0) {
        size_t piece = length < BYTES_PIECE ? length : BYTES_PIECE;
        MPI_Request request;
        TACIT_TRY(told(MPI_Ibcast(at, (int)piece, MPI_BYTE, (int)from, MPI_COMM_WORLD, &request), error));
        TACIT_TRY(settle(&request, error));
        at += piece;
        length -= piece;
    }
    return TACIT_OK;
}

static tacit_status sum(void *context, double *values, size_t count, tacit_error *error) {
    for (size_t at = 0; at < count; at += PIECE)
        TACIT_TRY(reduce(values + at, count - at < PIECE ? count - at : PIECE, MPI_DOUBLE, error));
    return spread(context, values, count * sizeof *values, 0, error);
}

static tacit_status sum_integers(void *context, uint64_t *values, size_t count, tacit_error *error) {
    (void)context;
    for (size_t at = 0; at < count; at += PIECE)
        TACIT_TRY(reduce(values + at, count - at < PIECE ? count - at : PIECE, MPI_UINT64_T, error));
    return TACIT_OK;
}

static tacit_status hand_in(void *context, const void *bytes, size_t length, tacit_error *error) {
    const uint8_t *at = bytes;
    (void)context;
    while (length > 0) {
        size_t piece = length < BYTES_PIECE ? length : BYTES_PIECE;
        MPI_Request request;
        TACIT_TRY(told(MPI_Isend(at, (int)piece, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request), error));
        TACIT_TRY(settle(&request, error));
        at += piece;
        length -= piece;
    }
    return TACIT_OK;
}

static tacit_status take(void *context, size_t from, void *bytes, size_t length, tacit_error *error) {
    uint8_t *at = bytes;
    (void)context;
    while (length > 0) {
        size_t piece = length < BYTES_PIECE ? length : BYTES_PIECE;
        MPI_Request request;
        TACIT_TRY(told(MPI_Irecv(at, (int)piece, MPI_BYTE, (int)from, TAG, MPI_COMM_WORLD, &request), error));
        TACIT_TRY(settle(&request, error));
        at += piece;
        length -= piece;
    }
    return TACIT_OK;
}

static tacit_status count_beside(int *out, tacit_error *error) {
    MPI_Comm beside;
    TACIT_TRY(
        told(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &beside), error));
    tacit_status status = told(MPI_Comm_size(beside, out), error);
    MPI_Comm_free(&beside);
    return status;
}

tacit_status tacit_mpi_start(tacit_link *out, tacit_error *error) {
    int rank = 0, count = 1, beside = 1, given = 0;
    /* One thread calls, whichever loops other threads work on. */
    TACIT_TRY(told(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given), error));
    TACIT_TRY(told(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), error));
    TACIT_TRY(told(MPI_Comm_rank(MPI_COMM_WORLD, &rank), error));
    TACIT_TRY(told(MPI_Comm_size(MPI_COMM_WORLD, &count), error));
    TACIT_TRY(count_beside(&beside, error));
    *out = (tacit_link){ .rank = (size_t)rank,
                         .count = (size_t)count,
                         .beside = (size_t)beside,
                         .most = most,
                         .sum = sum,
                         .sum_integers = sum_integers,
                         .spread = spread,
                         .hand_in = hand_in,
                         .take = take };
    return TACIT_OK;
}

void tacit_mpi_end(void) { MPI_Finalize(); }
