/*
 * The board of one deployed study: the study's thread pins a question to it and waits; parties, over
 * whatever connection, come by to read it and hand in their answers. Knows nothing of HTTP.
 *
 * A round closes when every admitted party has answered or refused, or when its patience has run out and at
 * least the minimum has answered; with fewer it stays open, so that a party that vanished can come back. It
 * fails as soon as so many have refused that the minimum cannot be reached any more. A question for one
 * party, by the order of admission, closes with its answer, or without when it refuses or is silent beyond
 * patience, unless the study needs it. Contributions to a sum are checked, added, and not kept.
 *
 * With `masked` set a sum is one of secure summation: the five steps are pinned one after the other, each as
 * a question of its own to the parties that it still concerns. What came in is kept, under its masks, when a
 * step closes, so that a board made again goes on with the same sum; nothing of a sum is ever asked under
 * other terms.
 *
 * With `masked` set to the plan of a method without a center, rounds between neighbours are possible too: the
 * board carries sealed words (mail.h) and keeps the last one of every party. Such a round waits for everybody
 * who is present in it; there is no going on without a word that others count on. Once patience has run out,
 * `changed` is called again, and the state says who is late. What the board holds is kept when the round
 * closes.
 *
 * Every function may be called from any thread.
 */
#pragma once

#include "base/shared_bytes.h"
#include "session/masked/masked.h"
#include "session/session.h"

typedef struct tacit_board tacit_board;

/* Where the answers to the closed steps of a masked sum are kept, and the words of a closed round between
 * neighbours, durable when `write` returns. Writing the first record of a round may drop those of earlier
 * rounds. A long record is kept in parts, so that it is nowhere in memory whole: each but the last goes to
 * `append`, and `write` of the last makes the record. Until then there is none to read, and what a program
 * appended that ended before it wrote is dropped by the `first` part that is appended again, or by the
 * record. Only records of one round (below) come in parts. */
enum { TACIT_BOARD_CARDS = 16, TACIT_BOARD_WORDS }; /* steps beside those of masked sums */
/* From here on records are written once, under round 0, and to be kept until the study ends or is amended:
 * who is in all exact sums of a study, and the two steps in which the graph was drawn (masked.h). */
enum { TACIT_BOARD_SET = 18 };
typedef struct tacit_board_steps {
    tacit_status (*read)(void *context, uint64_t round, unsigned step, bool *found, tacit_buffer *out,
                         tacit_error *error);
    tacit_status (*write)(void *context, uint64_t round, unsigned step, const uint8_t *bytes, size_t length,
                          tacit_error *error);
    tacit_status (*append)(void *context, uint64_t round, unsigned step, bool first, const uint8_t *bytes,
                           size_t length, tacit_error *error); /* NULL: records come whole */
    void *context;
} tacit_board_steps;

typedef struct tacit_board_settings {
    const char *study;
    uint8_t version[TACIT_HASH_BYTES]; /* hash of its definition */
    size_t minimum_parties;
    unsigned patience_ms;           /* how long a round waits for stragglers once the minimum has answered */
    tacit_stream secret;            /* answer ids come from here: the same after a restart */
    const tacit_plan *plan;         /* whose method says which answers it can use; borrowed; NULL: any */
    const tacit_plan *masked;       /* sums are masked, as this plan says; borrowed; NULL: in clear */
    const tacit_board_steps *steps; /* copied; NULL: an unfinished masked sum does not outlive the board */
    size_t record_part; /* of a step's record, how much is in memory before it is appended; 0: 1 MiB */
    tacit_pool *pool;   /* for opening masked sums; may be NULL */
    /* News for whoever holds waiting connections: a question was pinned or the study ended. Called without
     * locks. */
    void (*changed)(void *context);
    void *context;
} tacit_board_settings;

tacit_status tacit_board_create(tacit_board **out, const tacit_board_settings *settings, tacit_error *error);
tacit_board *tacit_board_free(tacit_board *board);

/* A party takes part from now on; again is fine. */
tacit_status tacit_board_admit(tacit_board *board, const char *party, tacit_error *error);
size_t tacit_board_admitted(tacit_board *board);

/* The party takes this place, and whoever sat there its own: before the first question, for those who take
 * turns count places, and must come to the same ones when the study is resumed. */
void tacit_board_place(tacit_board *board, const char *party, size_t place);

/* A party has left: nothing more is asked of it, and no round waits for it, until it is admitted again. An
 * answer that it has handed in to the open round counts. A round fails when too few are left; one between
 * neighbours fails at once, for they count on every word. */
void tacit_board_dismiss(tacit_board *board, const char *party);

/* The next place of the roster for masked sums is this party's, with this signing key; again is fine. All
 * places must be taken before the first sum. */
tacit_status tacit_board_enlist(tacit_board *board, const char *party,
                                const uint8_t key[TACIT_SIGNING_KEY_BYTES], tacit_error *error);

/* For the study's thread. */
tacit_transport tacit_board_transport(tacit_board *board);

/* Make the study's thread return TACIT_CANCELLED from what it waits for. */
void tacit_board_cancel(tacit_board *board);

/* What is there for this party now? TACIT_OK with *pending true and the encoded question appended to `out`,
 * or with *pending false. TACIT_NOT_FOUND when the party was not admitted. */
tacit_status tacit_board_read(tacit_board *board, const char *party, bool *pending, tacit_buffer *out,
                              tacit_error *error);

/* The same in two parts: what the board asks others too is long, and lent as *rest, which follows `out` and
 * is for the caller to free; NULL: all is in `out`. */
tacit_status tacit_board_read_parts(tacit_board *board, const char *party, bool *pending, tacit_buffer *out,
                                    tacit_shared_bytes **rest, tacit_error *error);

/* The most bytes that an honest answer of this party to the open question has; 0 when nothing is asked of
 * anybody. */
size_t tacit_board_answer_most(tacit_board *board, const char *party);

/* Whether the open question waits for this party. */
bool tacit_board_awaits(tacit_board *board, const char *party);

/* Hand in an answer. TACIT_PROTOCOL: not what was asked (it counts for nothing, and the party may try again);
 * TACIT_NOT_FOUND: the round is closed, or not this party's. An answer handed in twice is taken once. */
tacit_status tacit_board_answer(tacit_board *board, const char *party, const uint8_t *bytes, size_t length,
                                tacit_error *error);

/* Who has answered the open question, for a status page. */
typedef struct tacit_board_state {
    bool open;
    uint64_t round;
    char question[TACIT_ID_SIZE];
    const char *step; /* of a masked sum; NULL when there is none */
    size_t admitted, answered, refused;
    size_t late; /* of a round between neighbours whose patience has run out: how many it waits for */
    char late_one[TACIT_ID_SIZE]; /* the first of them */
} tacit_board_state;

void tacit_board_look(tacit_board *board, tacit_board_state *out);
