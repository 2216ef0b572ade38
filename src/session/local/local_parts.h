/* Simulated parties, those of this process and those of other ranks. For local*.c only. */
#pragma once

#include <pthread.h>

#include "session/local/local.h"

typedef struct local_reach local_reach;

struct tacit_local {
    const local_reach *reach;
    const tacit_dataset *dataset;
    const tacit_split *split;
    tacit_pool *pool;
    tacit_pool *leader; /* of the coordinator's half; NULL: pool */
    size_t parties;
    tacit_ranks *ranks;    /* NULL: all parties are here */
    size_t first, own;     /* the parties that are here */
    tacit_view all;        /* their rows */
    tacit_reducer reducer; /* over the ranks */
    tacit_memo *memos;     /* one for each that is here */
    tacit_common common;
    tacit_result_cache *cache;
    tacit_ledger **ledgers; /* the same */
    tacit_answer *words,
        *next_words; /* the last word of each party to its neighbours, and those of this round */
    size_t *word_bytes;
    tacit_policy policy;
    const tacit_plan *plan;
    tacit_stream seed;
    tacit_entropy *entropy; /* of exact noise; this and the next two NULL until it is asked for */
    tacit_keep *keeps;      /* of each party that is here: where it keeps noise for the run */
    tacit_buffer *kept;
    bool exactly;
    const tacit_progress *progress;
    pthread_mutex_t mutex; /* guards what follows */
    size_t refusals;
    size_t first_refused;
    char refusal[TACIT_ERROR_TEXT_SIZE];
};

/* What parties have kept of a run with exact noise, if anything. */
void tacit_local_forget_exact(tacit_local *local);

/* The sum over the parties that are here, added to `total`; with `known` everybody passes the gate for a sum
 * that is known, and nothing is added. */
tacit_status tacit_local_sum_here(tacit_local *local, const tacit_question *question, bool known,
                                  uint64_t *total, size_t *parties, tacit_error *error);

/* The answers of those that are here, in order, without those that refused. */
tacit_status tacit_local_ask_here(tacit_local *local, const tacit_question *question, tacit_answers *out,
                                  tacit_error *error);

/* One party's, which is here: *answered false when it refuses. */
tacit_status tacit_local_ask_party(tacit_local *local, size_t k, const tacit_question *asked,
                                   tacit_answer *out, bool *answered, tacit_error *error);

/* What those here who are present say next, into next_words. */
tacit_status tacit_local_exchange_here(tacit_local *local, const tacit_question *question,
                                       const tacit_mixing *mixing, tacit_error *error);

/* The words of this round become the last ones. */
void tacit_local_say_words(tacit_local *local, const tacit_mixing *mixing);

/* In which way those of all ranks are reached: local.c has that of one process, local_ranks.c that of
 * several, where rank 0 asks and all others answer in tacit_local_serve. `charged` is the largest of what
 * parties were charged, on rank 0, where `here` is this rank's and `status` says how it came about. */
struct local_reach {
    tacit_status (*sum)(tacit_local *local, const tacit_question *question, bool known, uint64_t *total,
                        size_t *parties, tacit_error *error);
    tacit_status (*ask)(tacit_local *local, const tacit_question *question, tacit_answers *out,
                        tacit_error *error);
    tacit_status (*ask_party)(tacit_local *local, size_t k, const tacit_question *asked, tacit_answer *out,
                              bool *answered, tacit_error *error);
    tacit_status (*exchange)(tacit_local *local, const tacit_question *question, const tacit_mixing *mixing,
                             tacit_error *error);
    tacit_status (*charged)(const tacit_local *local, tacit_status status, const tacit_account *here,
                            tacit_account *out, tacit_error *error);
};

extern const local_reach tacit_local_ranks_reach;
