/*
 * The board of one deployed study: the study's thread pins a question to it and waits; parties, over
 * whatever connection, come by to read it and hand in their answers. Knows nothing of HTTP.
 *
 * A round closes when every admitted party has answered or refused, or when its patience has run out and at
 * least the minimum has answered; with fewer it stays open, so that a party that vanished can come back. It
 * fails as soon as so many have refused that the minimum cannot be reached any more.
 * Contributions to a sum are checked, added, and not kept.
 *
 * Every function may be called from any thread.
 */
#pragma once

#include "session/session.h"

typedef struct tacit_board tacit_board;

typedef struct tacit_board_settings {
    const char *study;
    size_t minimum_parties;
    unsigned patience_ms; /* how long a round waits for stragglers once the minimum has answered */
    tacit_stream secret;  /* answer ids come from here: the same after a restart */
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

/* For the study's thread. */
tacit_transport tacit_board_transport(tacit_board *board);

/* Make the study's thread return TACIT_CANCELLED from what it waits for. */
void tacit_board_cancel(tacit_board *board);

/* What is there for this party now? TACIT_OK with *pending true and the encoded question appended to `out`,
 * or with *pending false. TACIT_NOT_FOUND when the party was not admitted. */
tacit_status tacit_board_read(tacit_board *board, const char *party, bool *pending, tacit_buffer *out,
                              tacit_error *error);

/* Hand in an answer. TACIT_PROTOCOL: not what was asked (it counts for nothing, and the party may try again);
 * TACIT_NOT_FOUND: the round is closed, or not this party's. An answer handed in twice is taken once. */
tacit_status tacit_board_answer(tacit_board *board, const char *party, const uint8_t *bytes, size_t length,
                                tacit_error *error);

/* Who has answered the open question, for a status page. */
typedef struct tacit_board_state {
    bool open;
    uint64_t round;
    char question[TACIT_ID_SIZE];
    size_t admitted, answered, refused;
} tacit_board_state;

void tacit_board_look(tacit_board *board, tacit_board_state *out);
