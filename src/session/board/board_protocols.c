/* The two protocols of secure sums, as the board sees them. */
#include <stdlib.h>

#include "base/memory.h"
#include "session/board/board_parts.h"

/* What board_protocol asks of a server, by the functions of its kind: NAME_expects and so on ask
 * calls_expects of self->server. */
#define SERVER_FUNCTIONS(name, type, calls)                                                                  \
    static unsigned name##_step(const void *self) { return calls##_step(((const type *)self)->server); }     \
    static bool name##_expects(const void *self, uint32_t place) {                                           \
        return calls##_expects(((const type *)self)->server, place);                                         \
    }                                                                                                        \
    static bool name##_has(const void *self, uint32_t place) {                                               \
        return calls##_has(((const type *)self)->server, place);                                             \
    }                                                                                                        \
    static tacit_status name##_receive(void *self, uint32_t place, const uint8_t *answer, size_t length,     \
                                       tacit_error *error) {                                                 \
        return calls##_receive(((type *)self)->server, place, answer, length, error);                        \
    }                                                                                                        \
    static tacit_status name##_close(void *self, tacit_error *error) {                                       \
        return calls##_close(((type *)self)->server, error);                                                 \
    }                                                                                                        \
    static const int64_t *name##_sum(const void *self) { return calls##_sum(((const type *)self)->server); } \
    static bool name##_survived(const void *self, uint32_t place) {                                          \
        return calls##_survived(((const type *)self)->server, place);                                        \
    }

#define SERVER_ENTRIES(name)                                                                                 \
    .create = name##_create, .free = name##_free, .step = name##_step, .needed = name##_needed,              \
    .with_roster = name##_with_roster, .expects = name##_expects, .has = name##_has,                         \
    .question = name##_question, .receive = name##_receive, .answer_most = name##_answer_most,               \
    .close = name##_close, .sum = name##_sum, .survived = name##_survived

/* ---- masks ---- */

/* What one party says of another is shorter: keys, sealed shares, openings, signatures. */
enum { BYTES_PER_PARTY = 512, BYTES_BESIDE = 8192 };

typedef struct mask_server {
    size_t length;
    tacit_graph_shape shape;
    const board_graph *graph;
    tacit_securesum *sum;
    tacit_securesum_server *server;
} mask_server;

SERVER_FUNCTIONS(mask, mask_server, tacit_securesum_server)

static void mask_free(void *server) {
    mask_server *self = server;
    tacit_securesum_server_free(self->server);
    tacit_securesum_free(self->sum);
    free(self);
}

static tacit_status mask_create(void **out, const tacit_board *board, const tacit_question *question,
                                const masked_round *round, tacit_error *error) {
    mask_server *self = TACIT_NEW(mask_server, 1);
    tacit_status status = TACIT_OK;
    if (self == NULL) return tacit_fail_memory(error);
    self->length = question->sum.length;
    self->graph = &board->graph;
    TACIT_CHECK(tacit_masked_shape(&self->shape, board->settings.masked, error));
    tacit_securesum_terms terms = tacit_masked_terms(&self->shape, question, round->id, round->digest,
                                                     board->graph.is_drawn ? board->graph.seed : NULL);
    tacit_securesum_roster signers = tacit_securesum_ed25519_roster(&round->roster);
    TACIT_CHECK(tacit_securesum_create(&self->sum, &terms, &signers, error));
    TACIT_CHECK(tacit_securesum_server_create(&self->server, self->sum, board->settings.pool, error));
    *out = self;
    self = NULL;
cleanup:
    if (self != NULL) mask_free(self);
    return status;
}

/* Consent and unmasking take as many as open a secret; in a sparse graph nobody can say beforehand which, so
 * that all who may be missing are counted. */
static size_t mask_needed(const void *server) {
    const tacit_graph_shape *shape = &((const mask_server *)server)->shape;
    bool complete = shape->degree + 1 == shape->parties;
    return complete && mask_step(server) >= TACIT_SUM_CONSENT ? shape->threshold : shape->minimum;
}

static bool mask_with_roster(unsigned step) { return step == TACIT_SUM_ADVERTISE; }

/* Who has no proof of how the graph was drawn gets it with the first step. */
static tacit_status mask_question(const void *server, uint32_t place, tacit_buffer *out, tacit_error *error) {
    const mask_server *self = server;
    TACIT_TRY(tacit_securesum_server_question(self->server, place, out, error));
    return mask_step(server) == TACIT_SUM_ADVERTISE ? board_graph_show(self->graph, place, out, error)
                                                    : TACIT_OK;
}

static unsigned mask_group(const void *server, uint32_t place) {
    const mask_server *self = server;
    if (mask_step(server) != TACIT_SUM_ADVERTISE) return BOARD_ALONE;
    return board_graph_shows(self->graph, place);
}

static size_t mask_answer_most(const void *server) {
    const mask_server *self = server;
    size_t numbers = mask_step(server) == TACIT_SUM_MASK ? self->length : 0;
    return numbers * sizeof(uint64_t) + (size_t)self->shape.parties * BYTES_PER_PARTY + BYTES_BESIDE;
}

const board_protocol board_mask_protocol = {
    .contributing = TACIT_SUM_MASK,
    .opened = TACIT_SUM_OPENED,
    SERVER_ENTRIES(mask),
    .group = mask_group,
    .prepare = board_draw_graph,
    .answered = board_graph_shown,
};

/* ---- Paillier ---- */

typedef struct paillier_server {
    tacit_paillier_sum_terms terms;
    tacit_paillier_sum_server *server;
} paillier_server;

SERVER_FUNCTIONS(paillier, paillier_server, tacit_paillier_sum_server)

static void paillier_free(void *server) {
    paillier_server *self = server;
    tacit_paillier_sum_server_free(self->server);
    free(self);
}

static tacit_status paillier_create(void **out, const tacit_board *board, const tacit_question *question,
                                    const masked_round *round, tacit_error *error) {
    tacit_paillier_sum_terms terms;
    TACIT_TRY(
        tacit_encrypted_terms(&terms, board->settings.masked, question, round->id, round->digest, error));
    paillier_server *self = TACIT_NEW(paillier_server, 1);
    if (self == NULL) return tacit_fail_memory(error);
    self->terms = terms;
    tacit_securesum_roster signers = tacit_securesum_ed25519_roster(&round->roster);
    tacit_status status =
        tacit_paillier_sum_server_create(&self->server, &terms, &signers, board->settings.pool, error);
    if (status != TACIT_OK) {
        free(self);
        return status;
    }
    *out = self;
    return TACIT_OK;
}

/* Nothing goes on without the key holder. */
static size_t paillier_needed(const void *server) {
    return paillier_step(server) == TACIT_PAILLIER_SUM_ENCRYPT
               ? ((const paillier_server *)server)->terms.minimum
               : 1;
}

static bool paillier_with_roster(unsigned step) { return step <= TACIT_PAILLIER_SUM_ENCRYPT; }

static tacit_status paillier_question(const void *server, uint32_t place, tacit_buffer *out,
                                      tacit_error *error) {
    return tacit_paillier_sum_server_question(((const paillier_server *)server)->server, place, out, error);
}

/* At the worst a ciphertext for each number, of twice the key's bits. */
static size_t paillier_answer_most(const void *server) {
    const tacit_paillier_sum_terms *terms = &((const paillier_server *)server)->terms;
    size_t numbers = paillier_step(server) == TACIT_PAILLIER_SUM_KEY ? 0 : terms->length;
    return numbers * (terms->key_bits / 4 + 8) + (size_t)terms->parties * BYTES_PER_PARTY + BYTES_BESIDE;
}

unsigned board_group_nobody(const void *server, uint32_t place) {
    (void)server;
    (void)place;
    return BOARD_ALONE;
}

tacit_status board_prepare_nothing(tacit_board *board, const tacit_question *question, tacit_error *error) {
    (void)board, (void)question, (void)error;
    return TACIT_OK;
}

void board_note_nothing(tacit_board *board, uint32_t place) { (void)board, (void)place; }

const board_protocol board_paillier_protocol = {
    .contributing = TACIT_PAILLIER_SUM_ENCRYPT,
    .opened = TACIT_PAILLIER_SUM_OPENED,
    SERVER_ENTRIES(paillier),
    .group = board_group_nobody,
    .prepare = board_prepare_nothing,
    .answered = board_note_nothing,
};
