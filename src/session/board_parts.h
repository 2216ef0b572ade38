/* The board's inside, for its files. */
#pragma once

#include <pthread.h>
#include <time.h>

#include "session/board.h"

typedef enum seat_state { SEAT_SILENT, SEAT_ANSWERED, SEAT_REFUSED } seat_state;

typedef struct seat {
    char party[TACIT_ID_SIZE];
    seat_state state;    /* in the open round */
    tacit_answer answer; /* of its own, unless a sum is asked for */
} seat;

/* Who has which place in masked sums. */
typedef struct masked_places {
    uint32_t count;
    char (*names)[TACIT_ID_SIZE];
    uint8_t (*keys)[TACIT_SIGNING_KEY_BYTES];
} masked_places;

typedef struct masked_round masked_round; /* board_masked.c */

struct tacit_board {
    tacit_board_settings settings;
    char study[TACIT_ID_SIZE];
    pthread_mutex_t mutex; /* guards everything below */
    pthread_cond_t moved;  /* an answer came, a party was admitted, or the end is near */
    seat *seats;
    size_t seat_count;
    bool open, cancelled;
    size_t only;             /* the seat that the question is for; SIZE_MAX: all */
    tacit_question question; /* its message is borrowed from the asking thread while open */
    uint64_t *total;
    size_t answered, refused;
    char first_refusal[TACIT_ERROR_TEXT_SIZE];
    masked_places places;
    tacit_board_steps steps;
    masked_round *masked; /* the open masked sum; NULL: none */
};

seat *board_find_seat(tacit_board *board, const char *party);
void board_answer_id(const tacit_board *board, const char *party, uint64_t round,
                     uint8_t out[TACIT_ANSWER_ID_BYTES]);
struct timespec board_deadline(unsigned milliseconds);
void board_note_refusal(tacit_board *board, const char *reason);

/* Masked sums; the lock is held in all but the last. */
bool board_masked_waits_for(const tacit_board *board, const char *party);
tacit_status board_masked_question(tacit_board *board, const char *party, tacit_buffer *out,
                                   tacit_error *error);
tacit_status board_masked_take(tacit_board *board, const char *party, const tacit_answer *answer,
                               tacit_error *error);
const char *board_masked_step(const tacit_board *board);
tacit_status board_masked_sum(tacit_board *board, const tacit_question *question, uint64_t *total,
                              size_t *parties, tacit_error *error);
