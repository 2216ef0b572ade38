/* Masked sums of one exchange or two, as the board sees them (crypto/sum/pairs.h). */
#include <stdlib.h>

#include "base/memory.h"
#include "session/board/board_parts.h"

enum { BYTES_PER_PARTY = 128, BYTES_BESIDE = 8192 };

static unsigned pairs_step(const void *self) { return tacit_pairs_server_step(self); }
static bool pairs_expects(const void *self, uint32_t place) {
    return tacit_pairs_server_expects(self, place);
}
static bool pairs_has(const void *self, uint32_t place) { return tacit_pairs_server_has(self, place); }
static size_t pairs_needed(const void *self) { return tacit_pairs_server_needed(self); }
static bool pairs_with_roster(unsigned step) { return step == TACIT_PAIRS_MASK; }
static const int64_t *pairs_sum(const void *self) { return tacit_pairs_server_sum(self); }
static bool pairs_survived(const void *self, uint32_t place) {
    return tacit_pairs_server_survived(self, place);
}
static void pairs_free(void *self) { tacit_pairs_server_free(self); }
static tacit_status pairs_question(const void *self, uint32_t place, tacit_buffer *out, tacit_error *error) {
    return tacit_pairs_server_question(self, place, out, error);
}
static tacit_status pairs_receive(void *self, uint32_t place, const uint8_t *answer, size_t length,
                                  tacit_error *error) {
    return tacit_pairs_server_receive(self, place, answer, length, error);
}
static tacit_status pairs_close(void *self, tacit_error *error) {
    return tacit_pairs_server_close(self, error);
}

static tacit_status pairs_create(void **out, const tacit_board *board, const tacit_question *question,
                                 const masked_round *round, tacit_error *error) {
    tacit_pairs_terms terms;
    tacit_pairs_server *server = NULL;
    TACIT_TRY(tacit_pairs_terms_of(&terms, board->settings.masked, question, round->id,
                                   board->settings.version, &round->roster, error));
    TACIT_TRY(tacit_pairs_server_create(&server, &terms, board->settings.pool, error));
    *out = server;
    return TACIT_OK;
}

static size_t pairs_answer_most(const void *self) {
    const tacit_pairs_terms *terms = tacit_pairs_server_terms(self);
    size_t numbers = pairs_step(self) == TACIT_PAIRS_MASK ? terms->length : 0;
    return numbers * sizeof(uint64_t) + (size_t)terms->roster.parties * BYTES_PER_PARTY + BYTES_BESIDE;
}

const board_protocol board_pairs_protocol = {
    .contributing = TACIT_PAIRS_MASK,
    .opened = TACIT_PAIRS_OPENED,
    .create = pairs_create,
    .free = pairs_free,
    .step = pairs_step,
    .needed = pairs_needed,
    .with_roster = pairs_with_roster,
    .expects = pairs_expects,
    .has = pairs_has,
    .question = pairs_question,
    .group = board_group_nobody,
    .receive = pairs_receive,
    .answer_most = pairs_answer_most,
    .close = pairs_close,
    .sum = pairs_sum,
    .survived = pairs_survived,
    .prepare = board_prepare_nothing,
    .answered = board_note_nothing,
};
