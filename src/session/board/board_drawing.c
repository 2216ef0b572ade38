/*
 * The board's side of drawing the graph of masked sums (crypto/sum/drawing.h): two steps before the first sum
 * of a version, kept like those of a sum, but until the study ends or is amended. Whoever has committed must
 * open, so the second step waits for all of them, and the study fails when one refuses or leaves: who could
 * go on without could choose among graphs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/board/board_parts.h"

static tacit_status drawing_create(void **out, const tacit_board *board, const tacit_question *question,
                                   const masked_round *round, tacit_error *error) {
    const tacit_drawing drawing = tacit_masked_drawing(
        board->settings.masked, question->study, board->settings.version, round->digest, &round->roster);
    tacit_drawing_server *server = NULL;
    TACIT_TRY(tacit_drawing_server_create(&server, &drawing, error));
    *out = server;
    return TACIT_OK;
}

static void drawing_free(void *server) { tacit_drawing_server_free(server); }

static unsigned drawing_step(const void *server) {
    return TACIT_MASKED_DRAW + (unsigned)tacit_drawing_server_step(server);
}

static size_t drawing_needed(const void *server) { return tacit_drawing_server_needs(server); }

static bool drawing_with_roster(unsigned step) { return step == TACIT_MASKED_DRAW; }

static bool drawing_expects(const void *server, uint32_t place) {
    return tacit_drawing_server_expects(server, place);
}

static bool drawing_has(const void *server, uint32_t place) {
    return tacit_drawing_server_has(server, place);
}

static tacit_status drawing_question(const void *server, uint32_t place, tacit_buffer *out,
                                     tacit_error *error) {
    const tacit_buffer *said = tacit_drawing_server_question(server);
    (void)place;
    return tacit_buffer_append(out, said->bytes, said->length, error);
}

static unsigned drawing_group(const void *server, uint32_t place) {
    (void)server;
    (void)place;
    return 0;
}

static tacit_status drawing_receive(void *server, uint32_t place, const uint8_t *answer, size_t length,
                                    tacit_error *error) {
    return tacit_drawing_server_receive(server, place, answer, length, error);
}

static size_t drawing_answer_most(const void *server) {
    (void)server;
    return TACIT_DRAWING_OPENING_BYTES + 1024;
}

static tacit_status drawing_close(void *server, tacit_error *error) {
    return tacit_drawing_server_close(server, error);
}

static const int64_t *drawing_sum(const void *server) {
    (void)server;
    return NULL;
}

static bool drawing_survived(const void *server, uint32_t place) {
    (void)server;
    (void)place;
    return true;
}

const board_protocol board_drawing_protocol = {
    .contributing = TACIT_MASKED_DRAWN, /* in none of its steps */
    .opened = TACIT_MASKED_DRAWN,
    .create = drawing_create,
    .free = drawing_free,
    .step = drawing_step,
    .needed = drawing_needed,
    .with_roster = drawing_with_roster,
    .expects = drawing_expects,
    .has = drawing_has,
    .question = drawing_question,
    .group = drawing_group,
    .receive = drawing_receive,
    .answer_most = drawing_answer_most,
    .close = drawing_close,
    .sum = drawing_sum,
    .survived = drawing_survived,
    .answered = board_note_nothing,
};

/* The proof is checked like any party checks it, which gives the seed. */
static tacit_status take_proof(tacit_board *board, const tacit_question *question, const masked_round *round,
                               tacit_error *error) {
    const tacit_drawing drawing = tacit_masked_drawing(
        board->settings.masked, question->study, board->settings.version, round->digest, &round->roster);
    const tacit_buffer *proof = tacit_drawing_server_question(round->server);
    board_graph *graph = &board->graph;
    tacit_drawing_list list;
    tacit_status status = TACIT_OK;
    bool *has_proof = TACIT_NEW(bool, round->roster.parties);
    if (has_proof == NULL) return tacit_fail_memory(error);
    TACIT_CHECK(tacit_drawing_read_proof(graph->seed, &list, &drawing, proof->bytes, proof->length, error));
    pthread_mutex_lock(&board->mutex);
    tacit_buffer_clear(&graph->proof);
    status = tacit_buffer_append(&graph->proof, proof->bytes, proof->length, error);
    if (status == TACIT_OK) {
        graph->has_proof = has_proof;
        graph->is_drawn = true;
        has_proof = NULL;
    }
    pthread_mutex_unlock(&board->mutex);
cleanup:
    free(has_proof);
    return status;
}

tacit_status board_draw_graph(tacit_board *board, const tacit_question *question, tacit_error *error) {
    const tacit_plan *plan = board->settings.masked;
    masked_round round = { .record = TACIT_BUFFER_INIT };
    tacit_question drawn = *question;
    tacit_graph_shape shape;
    tacit_status status;
    if (board->graph.is_drawn) return TACIT_OK;
    TACIT_TRY(tacit_masked_shape(&shape, plan, error));
    if (!tacit_masked_draws(&shape)) return TACIT_OK;
    drawn.round = 0;
    TACIT_CHECK(board_masked_places(board, &round, error));
    TACIT_CHECK(board_masked_run(board, &board_drawing_round, &drawn, &round, error));
    TACIT_CHECK(take_proof(board, question, &round, error));
cleanup:
    board_masked_clear(&round);
    return status;
}

bool board_graph_shows(const board_graph *graph, uint32_t place) {
    return graph->is_drawn && !graph->has_proof[place];
}

tacit_status board_graph_show(const board_graph *graph, uint32_t place, tacit_buffer *out,
                              tacit_error *error) {
    if (!board_graph_shows(graph, place)) return TACIT_OK;
    return tacit_buffer_append(out, graph->proof.bytes, graph->proof.length, error);
}

void board_graph_shown(tacit_board *board, uint32_t place) {
    if (board->graph.is_drawn) board->graph.has_proof[place] = true;
}
