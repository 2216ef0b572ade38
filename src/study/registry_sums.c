/* The registry's part in masked sums: keys, rosters, and the steps of an unfinished sum. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "study/registry_parts.h"

/* With the lock held. A key in two places of a study's roster would be one party that counts as two. */
static tacit_status check_unused(tacit_registry *registry, const char *party,
                                 const uint8_t key[TACIT_SIGNING_KEY_BYTES], tacit_error *error) {
    tacit_statement *get = NULL;
    bool used = false;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(
        &get, registry->store,
        "SELECT 1 FROM signer s JOIN invitation o ON o.party = s.party"
        " JOIN invitation m ON m.party = ?2 AND m.study = o.study LEFT JOIN party p ON p.name = s.party"
        " WHERE s.key = ?1 AND s.party <> ?2 AND coalesce(p.revoked, 0) = 0",
        error));
    tacit_bind_blob(get, 1, key, TACIT_SIGNING_KEY_BYTES);
    tacit_bind_text(get, 2, party);
    TACIT_CHECK(tacit_statement_step(&used, get, error));
    if (used)
        status = tacit_fail(error, TACIT_REFUSED,
                            "another party of the study has joined with the same key for secure sums: join "
                            "from a home folder of your own, or have the earlier party revoked");
cleanup:
    tacit_statement_free(get);
    return status;
}

tacit_status tacit_registry_set_signer(tacit_registry *registry, const char *party,
                                       const uint8_t key[TACIT_SIGNING_KEY_BYTES], tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_statement *put = NULL;
    tacit_status status;
    TACIT_CHECK(check_unused(registry, party, key, error));
    TACIT_CHECK(tacit_statement_prepare(&put, registry->store, "INSERT OR IGNORE INTO signer VALUES (?1, ?2)",
                                        error));
    tacit_bind_text(put, 1, party);
    tacit_bind_blob(put, 2, key, TACIT_SIGNING_KEY_BYTES);
    TACIT_CHECK(tacit_statement_run(put, error));
cleanup:
    tacit_statement_free(put);
    tacit_registry_unlock(registry);
    return status;
}

/* Called inside a transaction. */
static tacit_status fix_roster(tacit_registry *registry, const char *study, tacit_error *error) {
    tacit_statement *put = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(
        &put, registry->store,
        "INSERT INTO roster (study, place, party, key)"
        " SELECT p.study, row_number() OVER (ORDER BY p.number) - 1, p.name, s.key FROM party p"
        " JOIN signer s ON s.party = p.name WHERE p.study = ?1 AND p.revoked = 0"
        " AND p.version = (SELECT version FROM study WHERE name = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM roster WHERE study = ?1)",
        error));
    tacit_bind_text(put, 1, study);
    TACIT_CHECK(tacit_statement_run(put, error));
cleanup:
    tacit_statement_free(put);
    return status;
}

static tacit_status visit_roster(tacit_registry *registry, const char *study, tacit_place_visit *visit,
                                 void *context, tacit_error *error) {
    tacit_statement *list = NULL;
    uint8_t key[TACIT_SIGNING_KEY_BYTES];
    const char *party;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(
        &list, registry->store, "SELECT party, key FROM roster WHERE study = ?1 ORDER BY place", error));
    tacit_bind_text(list, 1, study);
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
} study_steps;

/* The record of thousands of parties has hundreds of megabytes, of which SQLite would make a copy: it is
 * written in pieces, all in one transaction. Piece k of a step is under step - 64 k; a step that outlives its
 * round has one. */
enum { PIECE_BYTES = 4 << 20, PIECE_STRIDE = 64 };

static int64_t piece_number(unsigned step, size_t piece) {
    return (int64_t)step - (int64_t)(PIECE_STRIDE * piece);
}

static tacit_status read_piece(const study_steps *self, uint64_t round, int64_t number, bool *found,
                               tacit_buffer *out, tacit_error *error) {
    tacit_statement *get = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(
        &get, self->registry->store,
        "SELECT record FROM masked_step WHERE study = ?1 AND round = ?2 AND step = ?3", error));
    tacit_bind_text(get, 1, self->study);
    tacit_bind_integer(get, 2, (int64_t)round);
    tacit_bind_integer(get, 3, number);
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
    tacit_statement *drop = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(
        &drop, self->registry->store, "DELETE FROM masked_step WHERE study = ?1 AND round < ?2 AND step < ?3",
        error));
    tacit_bind_text(drop, 1, self->study);
    tacit_bind_integer(drop, 2, (int64_t)round);
    tacit_bind_integer(drop, 3, TACIT_BOARD_SET);
    TACIT_CHECK(tacit_statement_run(drop, error));
cleanup:
    tacit_statement_free(drop);
    return status;
}

static tacit_status write_piece(const study_steps *self, uint64_t round, int64_t number, const uint8_t *bytes,
                                size_t length, tacit_error *error) {
    tacit_statement *put = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(
        &put, self->registry->store,
        "INSERT INTO masked_step (study, round, step, record) VALUES (?1, ?2, ?3, ?4)", error));
    tacit_bind_text(put, 1, self->study);
    tacit_bind_integer(put, 2, (int64_t)round);
    tacit_bind_integer(put, 3, number);
    tacit_bind_blob(put, 4, bytes, length);
    TACIT_CHECK(tacit_statement_run(put, error));
cleanup:
    tacit_statement_free(put);
    return status;
}

static tacit_status write_step(void *context, uint64_t round, unsigned step, const uint8_t *bytes,
                               size_t length, tacit_error *error) {
    study_steps *self = context;
    const size_t most = step < TACIT_BOARD_SET ? PIECE_BYTES : SIZE_MAX;
    size_t written = 0, piece = 0;
    tacit_registry_lock(self->registry);
    tacit_status status;
    TACIT_CHECK(tacit_store_begin(self->registry->store, error));
    TACIT_CHECK(drop_earlier(self, round, error));
    do {
        const size_t part = length - written < most ? length - written : most;
        TACIT_CHECK(write_piece(self, round, piece_number(step, piece), part > 0 ? bytes + written : bytes,
                                part, error));
        written += part;
        piece++;
    } while (written < length);
cleanup:
    status = tacit_registry_finish(self->registry, status, error);
    tacit_registry_unlock(self->registry);
    return status;
}

tacit_status tacit_registry_steps(tacit_registry *registry, const char *study, tacit_board_steps *out,
                                  tacit_error *error) {
    study_steps *self = TACIT_NEW(study_steps, 1);
    if (self == NULL) return tacit_fail_memory(error);
    self->registry = registry;
    snprintf(self->study, sizeof self->study, "%s", study);
    *out = (tacit_board_steps){ read_step, write_step, self };
    return TACIT_OK;
}
