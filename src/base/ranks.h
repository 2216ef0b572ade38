/*
 * Several processes that work as one program, each a rank, counted from 0: started together, each with a
 * share of the rows, they meet in the calls below. Every rank makes the same calls in the same order. NULL
 * stands for a process that is alone: its calls return at once.
 *
 * No rank waits for one that has failed: each call begins with a short round in which a failure is told, and
 * then all of them fail with the same words, those of the first rank that did. A rank that fails between two
 * calls tells it with tacit_ranks_agree, which meets whatever call the others are in.
 *
 * The processes speak through a tacit_link, which may come from a library that only some programs load
 * (cli/process/mpi.c).
 */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"

/* What carries values between the ranks. All lengths are the same on all ranks, unless stated otherwise. */
typedef struct tacit_link {
    size_t rank, count;
    size_t beside; /* ranks on this machine, this one among them */
    void *context;
    /* The largest of each value over the ranks, to all of them. */
    tacit_status (*most)(void *context, uint64_t *values, size_t count, tacit_error *error);
    /* The sums: of numbers to all ranks, the same bits on each; of integers modulo 2^64 to rank 0. */
    tacit_status (*sum)(void *context, double *values, size_t count, tacit_error *error);
    tacit_status (*sum_integers)(void *context, uint64_t *values, size_t count, tacit_error *error);
    /* The bytes of one rank to all others. */
    tacit_status (*spread)(void *context, void *bytes, size_t length, size_t from, tacit_error *error);
    /* Bytes of one rank to rank 0. */
    tacit_status (*hand_in)(void *context, const void *bytes, size_t length, tacit_error *error);
    tacit_status (*take)(void *context, size_t from, void *bytes, size_t length, tacit_error *error);
} tacit_link;

typedef struct tacit_ranks {
    tacit_link link;
    bool failed; /* all ranks know of a failure, and do not meet again before tacit_ranks_go_on */
    tacit_status status;
    char text[TACIT_ERROR_TEXT_SIZE];
} tacit_ranks;

static inline size_t tacit_ranks_own(const tacit_ranks *ranks) {
    return ranks != NULL ? ranks->link.rank : 0;
}
static inline size_t tacit_ranks_count(const tacit_ranks *ranks) {
    return ranks != NULL ? ranks->link.count : 1;
}

/* TACIT_OK when every rank comes with that; else the failure of the first rank that has one, on all. */
tacit_status tacit_ranks_agree(tacit_ranks *ranks, tacit_status status, tacit_error *error);

/* After a failure that does not end the program: the ranks meet again. All of them call it. */
void tacit_ranks_go_on(tacit_ranks *ranks);

/* Sums over the ranks, in place: of numbers on all of them, the same bits on each; of integers modulo 2^64 on
 * rank 0. */
tacit_status tacit_ranks_sum(tacit_ranks *ranks, double *values, size_t count, tacit_error *error);
tacit_status tacit_ranks_sum_integers(tacit_ranks *ranks, uint64_t *values, size_t count, tacit_error *error);

/* Rank 0's bytes, on all ranks; what others held in the buffer goes. */
tacit_status tacit_ranks_spread(tacit_ranks *ranks, tacit_buffer *bytes, tacit_error *error);

/* The bytes of all ranks, on rank 0: one buffer a rank, `out` having that many; elsewhere it is not looked
 * at. */
tacit_status tacit_ranks_gather(tacit_ranks *ranks, const tacit_buffer *own, tacit_buffer *out,
                                tacit_error *error);

/* Threads for each rank, when nobody says how many: those of the machine shared by the ranks on it, or the
 * processors that this rank is bound to. 0, as many as there are, without ranks. */
unsigned tacit_ranks_threads(const tacit_ranks *ranks);

/* Threads for what rank 0 does while the others wait, when each rank has `threads`: those of all ranks on its
 * machine, as far as there are processors that it may run on. */
unsigned tacit_ranks_leader_threads(const tacit_ranks *ranks, unsigned threads);
