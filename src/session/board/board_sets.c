/*
 * The board's side of one set for all exact sums (masked_sets.c has the parties'): parties open no other, so
 * a sum that would lack one of them is not begun for nothing. It waits for who is silent, for as long as it
 * takes; who has left may come back within the study's patience; and who refuses ends it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/board/board_parts.h"

static tacit_status read_set(tacit_board *board, bool *found, tacit_buffer *out, tacit_error *error) {
    const tacit_board_steps *steps = &board->steps;
    *found = false;
    return steps->read != NULL ? steps->read(steps->context, 0, TACIT_BOARD_SET, found, out, error)
                               : TACIT_OK;
}

static tacit_status take_set(tacit_board *board, const uint8_t *bytes, size_t length, tacit_error *error) {
    const size_t places = board->places.count;
    if (length != places)
        return tacit_fail(error, TACIT_CORRUPT, "the record of who is in the sums is damaged");
    bool *held = TACIT_NEW(bool, places);
    if (held == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < places; i++) held[i] = bytes[i] != 0;
    pthread_mutex_lock(&board->mutex);
    board->held = held;
    pthread_mutex_unlock(&board->mutex);
    return TACIT_OK;
}

tacit_status board_sets_begin(tacit_board *board, bool *refused, tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    bool found = false;
    tacit_status status = TACIT_OK;
    if (!tacit_plan_holds_set(board->settings.masked)) return TACIT_OK;
    if (board->held == NULL) TACIT_CHECK(read_set(board, &found, &bytes, error));
    if (found) TACIT_CHECK(take_set(board, bytes.bytes, bytes.length, error));
    for (uint32_t i = 0; board->held != NULL && i < board->places.count; i++) refused[i] = !board->held[i];
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}

tacit_status board_sets_keep(tacit_board *board, const masked_round *round, tacit_error *error) {
    const tacit_board_steps *steps = &board->steps;
    const size_t places = board->places.count;
    if (!tacit_plan_holds_set(board->settings.masked) || board->held != NULL) return TACIT_OK;
    uint8_t *set = TACIT_NEW(uint8_t, places);
    if (set == NULL) return tacit_fail_memory(error);
    tacit_status status = TACIT_OK;
    for (uint32_t i = 0; i < places; i++) set[i] = round->protocol->survived(round->server, i);
    if (steps->write != NULL)
        TACIT_CHECK(steps->write(steps->context, 0, TACIT_BOARD_SET, set, places, error));
    TACIT_CHECK(take_set(board, set, places, error));
cleanup:
    free(set);
    return status;
}

bool board_sets_needs(const tacit_board *board, uint32_t place) {
    const masked_round *round = board->masked;
    return board->held != NULL && board->held[place] &&
           round->protocol->step(round->server) <= round->protocol->contributing &&
           round->protocol->expects(round->server, place);
}

tacit_status board_sets_lost(const tacit_board *board, const char *refusing, const char *leaving,
                             tacit_error *error) {
    return tacit_fail(error, TACIT_REFUSED,
                      "%s %s%s%s. Exact sums of one study are all over the same parties, for the difference "
                      "of two would show what one gave: amend the study to go on without it (tacit study "
                      "amend), which the others are asked to consent to",
                      refusing != NULL ? refusing : leaving,
                      refusing != NULL ? "refused" : "has left the study and did not come back",
                      refusing != NULL && board->first_refusal[0] != 0 ? ": " : "",
                      refusing != NULL ? board->first_refusal : "");
}
