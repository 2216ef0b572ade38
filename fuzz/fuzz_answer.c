/* An answer as the coordinator receives it: decoded, then handed in to a board where nothing is asked. */
#include <stdlib.h>
#include <string.h>

#include "session/board/board.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void check_again(const tacit_answer *answer) {
    tacit_buffer first = TACIT_BUFFER_INIT, second = TACIT_BUFFER_INIT;
    tacit_answer again = TACIT_ANSWER_INIT;
    if (tacit_answer_encode(answer, &first, NULL) != TACIT_OK) abort();
    if (tacit_answer_decode(&again, first.bytes, first.length, NULL) != TACIT_OK) abort();
    if (tacit_answer_encode(&again, &second, NULL) != TACIT_OK) abort();
    if (first.length != second.length || memcmp(first.bytes, second.bytes, first.length) != 0) abort();
    if ((answer->contribution == NULL) != (again.contribution == NULL)) abort();
    if (answer->words.count != again.words.count) abort();
    tacit_answer_clear(&again);
    tacit_buffer_clear(&first);
    tacit_buffer_clear(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_answer answer = TACIT_ANSWER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_board *board = NULL;
    tacit_board_settings settings = { .study = "study", .minimum_parties = 1, .patience_ms = 1 };
    if (tacit_answer_decode(&answer, bytes, length, &error) == TACIT_OK)
        check_again(&answer);
    else if (error.text[0] == 0)
        abort();
    tacit_answer_clear(&answer);
    /* Nothing is asked, so nothing may be taken, whatever it says. */
    if (tacit_board_create(&board, &settings, NULL) != TACIT_OK) return 0;
    if (tacit_board_admit(board, "party", NULL) != TACIT_OK) abort();
    if (tacit_board_answer(board, "party", bytes, length, NULL) == TACIT_OK) abort();
    tacit_board_free(board);
    return 0;
}
