/* The registry's part in masked sums: keys, rosters, and the steps of an unfinished sum. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "study/registry_parts.h"

/* With the lock held. A key in two places of a study's roster would be one party that counts as two. */
static tacit_status check_unused(tacit_registry *registry, const char *party,
                                 const uint8_t key[TACIT_SIGNING_KEY_BYTES], tacit_error *error) {
    bool used = false;
    tacit_status status;
    TACIT_CHECK(tacit_store_has(
        &used, registry->store,
        "SELECT 1 FROM signer s CROSS JOIN invitation o ON o.party = s.party"
        " CROSS JOIN invitation m ON m.party = ?2 AND m.study = o.study LEFT JOIN party p ON p.name = s.party"
        " WHERE s.key = ?1 AND s.party <> ?2 AND coalesce(p.revoked, 0) = 0",
        TACIT_VALUES(tacit_sql_blob(key, TACIT_SIGNING_KEY_BYTES), tacit_sql_text(party)), error));
    if (used)
        status = tacit_fail(error, TACIT_REFUSED,
                            "another party of the study has joined with the same key for secure sums: join "
                            "from a home folder of your own, or have the earlier party revoked");
cleanup:
    return status;
}

tacit_status tacit_registry_set_signer(tacit_registry *registry, const char *party,
                                       const uint8_t key[TACIT_SIGNING_KEY_BYTES], tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status;
    TACIT_CHECK(check_unused(registry, party, key, error));
    TACIT_CHECK(tacit_store_put(
        registry->store, "INSERT OR IGNORE INTO signer VALUES (?1, ?2)",
        TACIT_VALUES(tacit_sql_text(party), tacit_sql_blob(key, TACIT_SIGNING_KEY_BYTES)), error));
cleanup:
    tacit_registry_unlock(registry);
    return status;
}

/* Called inside a transaction. */
static tacit_status fix_roster(tacit_registry *registry, const char *study, tacit_error *error) {
    return tacit_store_put(
        registry->store,
        "INSERT INTO roster (study, place, party, key)"
        " SELECT p.study, row_number() OVER (ORDER BY p.number) - 1, p.name, s.key FROM party p"
        " JOIN signer s ON s.party = p.name WHERE p.study = ?1 AND p.revoked = 0"
        " AND p.version = (SELECT version FROM study WHERE name = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM roster WHERE study = ?1)",
        TACIT_VALUES(tacit_sql_text(study)), error);
}

static tacit_status visit_roster(tacit_registry *registry, const char *study, tacit_place_visit *visit,
                                 void *context, tacit_error *error) {
    tacit_statement *list = NULL;
    uint8_t key[TACIT_SIGNING_KEY_BYTES];
    const char *party;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(&list, registry->store,
                                     "SELECT party, key FROM roster WHERE study = ?1 ORDER BY place",
                                     TACIT_VALUES(tacit_sql_text(study)), error));
    while (tacit_statement_next(list, &status, error)) {
        TACIT_CHECK(tacit_column_text(&party, list, 0, TACIT_ID_SIZE - 1, error));
        TACIT_CHECK(tacit_column_bytes(key, sizeof key, list, 1, error));
        TACIT_CHECK(visit(context, party, key, error));
    }
cleanup:
    tacit_statement_free(list);
    return status;
}

tacit_status tacit_registry_roster(tacit_registry *registry, const char *study, tacit_place_visit *visit,
                                   void *context, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status;
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    status = tacit_registry_finish(registry, fix_roster(registry, study, error), error);
    if (status == TACIT_OK) status = visit_roster(registry, study, visit, context, error);
cleanup:
    tacit_registry_unlock(registry);
    return status;
}

/* ---- steps ---- */

typedef struct study_steps {
    tacit_registry *registry;
    char study[TACIT_ID_SIZE];
    uint64_t round; /* of the step that is being appended to, with its pieces so far */
    unsigned step;
    size_t pieces;
} study_steps;

/* The record of thousands of parties has hundreds of megabytes, of which SQLite would make a copy: it is
 * written in pieces. Piece k of a step is under step - 64 k; a step that outlives its round has one. Pieces
 * that are appended while a step is open begin with number 1, so that there is no record to read until number
 * 0 is written with the last of them. */
enum { PIECE_BYTES = 4 << 20, PIECE_STRIDE = 64 };

static int64_t piece_number(unsigned step, size_t piece) {
    return (int64_t)step - (int64_t)(PIECE_STRIDE * piece);
}

static tacit_status read_piece(const study_steps *self, uint64_t round, int64_t number, bool *found,
                               tacit_buffer *out, tacit_error *error) {
    tacit_statement *get = NULL;
    tacit_status status;
    TACIT_CHECK(
        tacit_statement_open(&get, self->registry->store,
                             "SELECT record FROM masked_step WHERE study = ?1 AND round = ?2 AND step = ?3",
                             TACIT_VALUES(tacit_sql_text(self->study), tacit_sql_integer((int64_t)round),
                                          tacit_sql_integer(number)),
                             error));
    TACIT_CHECK(registry_take_bytes(get, found, out, error));
cleanup:
    tacit_statement_free(get);
    return status;
}

static tacit_status read_step(void *context, uint64_t round, unsigned step, bool *found, tacit_buffer *out,
                              tacit_error *error) {
    study_steps *self = context;
    tacit_registry_lock(self->registry);
    tacit_status status = read_piece(self, round, step, found, out, error);
    bool more = *found && step < TACIT_BOARD_SET;
    for (size_t piece = 1; status == TACIT_OK && more; piece++)
        status = read_piece(self, round, piece_number(step, piece), &more, out, error);
    tacit_registry_unlock(self->registry);
    return status;
}

/* Earlier rounds are in the journal by the time that a later one begins; who is in the study's exact sums is
 * not, nor is the graph. */
static tacit_status drop_earlier(study_steps *self, uint64_t round, tacit_error *error) {
    return tacit_store_put(self->registry->store,
                           "DELETE FROM masked_step WHERE study = ?1 AND round < ?2 AND step < ?3",
                           TACIT_VALUES(tacit_sql_text(self->study), tacit_sql_integer((int64_t)round),
                                        tacit_sql_integer(TACIT_BOARD_SET)),
                           error);
}

static tacit_status write_piece(const study_steps *self, uint64_t round, int64_t number, const uint8_t *bytes,
                                size_t length, tacit_error *error) {
    return tacit_store_put(self->registry->store,
                           "INSERT INTO masked_step (study, round, step, record) VALUES (?1, ?2, ?3, ?4)",
                           TACIT_VALUES(tacit_sql_text(self->study), tacit_sql_integer((int64_t)round),
                                        tacit_sql_integer(number), tacit_sql_blob(bytes, length)),
                           error);
}

/* Pieces of a program that ended while the step was open. Those who sent them send them again. */
static tacit_status drop_pieces(const study_steps *self, uint64_t round, unsigned step, tacit_error *error) {
    tacit_statement *drop = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(&drop, self->registry->store,
                                        "DELETE FROM masked_step WHERE study = ?1 AND round = ?2"
                                        " AND step < ?3 AND (?3 - step) % ?4 = 0",
                                        error));
    tacit_bind_text(drop, 1, self->study);
    tacit_bind_integer(drop, 2, (int64_t)round);
    tacit_bind_integer(drop, 3, step);
    tacit_bind_integer(drop, 4, PIECE_STRIDE);
    TACIT_CHECK(tacit_statement_run(drop, error));
cleanup:
    tacit_statement_free(drop);
    return status;
}

/* Write pieces from number *piece on, which moves behind them. */
static tacit_status write_pieces(const study_steps *self, uint64_t round, unsigned step, size_t *piece,
                                 const uint8_t *bytes, size_t length, tacit_error *error) {
    const size_t most = step < TACIT_BOARD_SET ? PIECE_BYTES : SIZE_MAX;
    size_t written = 0;
    do {
        const size_t part = length - written < most ? length - written : most;
        TACIT_TRY(write_piece(self, round, piece_number(step, *piece), part > 0 ? bytes + written : bytes,
                              part, error));
        written += part;
        ++*piece;
    } while (written < length);
    return TACIT_OK;
}

static bool is_appended(const study_steps *self, uint64_t round, unsigned step) {
    return self->pieces > 0 && self->round == round && self->step == step;
}

static tacit_status append_step(void *context, uint64_t round, unsigned step, bool first,
                                const uint8_t *bytes, size_t length, tacit_error *error) {
    study_steps *self = context;
    const bool begins = first || !is_appended(self, round, step);
    size_t piece = begins ? 1 : self->pieces + 1;
    tacit_registry_lock(self->registry);
    tacit_status status;
    TACIT_CHECK(tacit_store_begin(self->registry->store, error));
    if (begins) TACIT_CHECK(drop_earlier(self, round, error));
    if (begins) TACIT_CHECK(drop_pieces(self, round, step, error));
    TACIT_CHECK(write_pieces(self, round, step, &piece, bytes, length, error));
cleanup:
    status = tacit_registry_finish(self->registry, status, error);
    tacit_registry_unlock(self->registry);
    if (status != TACIT_OK) return status;
    self->round = round;
    self->step = step;
    self->pieces = piece - 1;
    return TACIT_OK;
}

static tacit_status write_step(void *context, uint64_t round, unsigned step, const uint8_t *bytes,
                               size_t length, tacit_error *error) {
    static const uint8_t nothing[1];
    study_steps *self = context;
    const bool appended = is_appended(self, round, step);
    size_t piece = appended ? self->pieces + 1 : 0, closing = 0;
    tacit_registry_lock(self->registry);
    tacit_status status;
    TACIT_CHECK(tacit_store_begin(self->registry->store, error));
    if (!appended) TACIT_CHECK(drop_earlier(self, round, error));
    if (!appended && step < TACIT_BOARD_SET) TACIT_CHECK(drop_pieces(self, round, step, error));
    if (!appended || length > 0) TACIT_CHECK(write_pieces(self, round, step, &piece, bytes, length, error));
    if (appended) TACIT_CHECK(write_pieces(self, round, step, &closing, nothing, 0, error));
cleanup:
    status = tacit_registry_finish(self->registry, status, error);
    tacit_registry_unlock(self->registry);
    if (status == TACIT_OK) self->pieces = 0;
    return status;
}

tacit_status tacit_registry_steps(tacit_registry *registry, const char *study, tacit_board_steps *out,
                                  tacit_error *error) {
    study_steps *self = TACIT_NEW(study_steps, 1);
    if (self == NULL) return tacit_fail_memory(error);
    self->registry = registry;
    snprintf(self->study, sizeof self->study, "%s", study);
    *out = (tacit_board_steps){ read_step, write_step, append_step, self };
    return TACIT_OK;
}
