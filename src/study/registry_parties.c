/* The registry's invitations, parties and journals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/memory.h"
#include "study/registry_parts.h"

/* An invitation as stored. */
typedef struct invitation {
    char study[TACIT_ID_SIZE];
    bool used;
    uint8_t request_hash[TACIT_HASH_BYTES];
    char party[TACIT_ID_SIZE];
} invitation;

/* Called with the lock held. Unknown and expired tokens look alike to a guesser except for the sentence,
 * which helps an honest holder; a token has 256 bits, so there is nothing to guess. */
static tacit_status find_invitation(tacit_registry *registry, const uint8_t *token_hash, int64_t now,
                                    invitation *out, tacit_error *error) {
    tacit_statement *get = NULL;
    const char *text;
    bool row = false;
    tacit_status status;
    TACIT_CHECK(
        tacit_statement_open(&get, registry->store,
                             "SELECT i.study, i.expires, i.party, i.request_hash, s.state FROM invitation i"
                             " JOIN study s ON s.name = i.study WHERE token_hash = ?1",
                             TACIT_VALUES(tacit_sql_blob(token_hash, TACIT_TOKEN_HASH_BYTES)), error));
    TACIT_CHECK(tacit_statement_step(&row, get, error));
    if (!row) TACIT_CHECK(tacit_registry_say_unknown(registry, token_hash, error));
    *out = (invitation){ .used = false };
    TACIT_CHECK(tacit_column_text(&text, get, 0, TACIT_ID_SIZE - 1, error));
    memcpy(out->study, text, strlen(text) + 1);
    if (tacit_column_integer(get, 4) >= TACIT_STUDY_DONE)
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED, "study '%s' has ended", out->study));
    if (tacit_column_text(&text, get, 2, TACIT_ID_SIZE - 1, NULL) == TACIT_OK) {
        memcpy(out->party, text, strlen(text) + 1);
        out->used = true;
        TACIT_CHECK(tacit_column_bytes(out->request_hash, sizeof out->request_hash, get, 3, error));
    } else if (tacit_column_integer(get, 1) <= now) {
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED, "this invitation has expired; ask for a new one"));
    } else if (tacit_column_integer(get, 4) == TACIT_STUDY_PAUSED) {
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED, "study '%s' is paused and takes no new parties now",
                               out->study));
    } else if (tacit_column_integer(get, 4) != TACIT_STUDY_RECRUITING) {
        TACIT_CHECK(
            tacit_fail(error, TACIT_REFUSED, "study '%s' has begun and takes no new parties", out->study));
    }
cleanup:
    tacit_statement_free(get);
    return status;
}

tacit_status tacit_registry_look(tacit_registry *registry, const uint8_t token_hash[TACIT_TOKEN_HASH_BYTES],
                                 int64_t now, char study[TACIT_ID_SIZE], tacit_error *error) {
    invitation found;
    tacit_registry_lock(registry);
    tacit_status status = find_invitation(registry, token_hash, now, &found, error);
    tacit_registry_unlock(registry);
    if (status == TACIT_OK) memcpy(study, found.study, TACIT_ID_SIZE);
    return status;
}

static tacit_status mark_used(tacit_registry *registry, const uint8_t *token_hash,
                              const uint8_t *request_hash, const char *party, tacit_error *error) {
    return tacit_store_put(
        registry->store, "UPDATE invitation SET request_hash = ?2, party = ?3 WHERE token_hash = ?1",
        TACIT_VALUES(tacit_sql_blob(token_hash, TACIT_TOKEN_HASH_BYTES),
                     tacit_sql_blob(request_hash, TACIT_HASH_BYTES), tacit_sql_text(party)),
        error);
}

/* Is there room for one more? Called inside the transaction that takes the seat. Whoever left before the
 * study was amended, or looked again, holds none: consenting to the new version takes one, if there is
 * one. */
static tacit_status check_seats(tacit_registry *registry, const char *study, size_t seats,
                                tacit_error *error) {
    bool row = false;
    int64_t taken;
    TACIT_TRY(tacit_store_ask(
        &row, &taken, 1, registry->store,
        "SELECT (SELECT count(*) FROM invitation WHERE study = ?1 AND party IS NOT NULL)"
        " - (SELECT count(*) FROM party p INDEXED BY party_gone CROSS JOIN invitation i ON i.party = p.name"
        " WHERE p.study = ?1 AND i.study = ?1 AND (p.revoked <> 0 OR p.away <> 0)"
        " AND (p.revoked <> 0"
        " OR p.version < (SELECT version FROM study WHERE name = ?1)))",
        TACIT_VALUES(tacit_sql_text(study)), error));
    if ((uint64_t)taken < seats) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED, "study '%s' has all its %zu parties", study, seats);
}

static tacit_status stored_certificate(tacit_registry *registry, const char *party, tacit_buffer *out,
                                       tacit_error *error) {
    tacit_statement *get = NULL;
    const char *text;
    bool row = false;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(&get, registry->store, "SELECT certificate FROM party WHERE name = ?1",
                                     TACIT_VALUES(tacit_sql_text(party)), error));
    TACIT_CHECK(tacit_statement_step(&row, get, error));
    if (row) {
        TACIT_CHECK(tacit_column_text(&text, get, 0, 1 << 20, error));
        TACIT_CHECK(tacit_buffer_append(out, text, strlen(text), error));
    }
cleanup:
    tacit_statement_free(get);
    return status;
}

tacit_status tacit_registry_redeem(tacit_registry *registry, const uint8_t token_hash[TACIT_TOKEN_HASH_BYTES],
                                   const uint8_t request_hash[TACIT_HASH_BYTES], int64_t now, size_t seats,
                                   char party[TACIT_ID_SIZE], tacit_buffer *certificate, tacit_error *error) {
    invitation found;
    tacit_registry_lock(registry);
    tacit_status status;
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    TACIT_CHECK(find_invitation(registry, token_hash, now, &found, error));
    if (found.used && sodium_memcmp(found.request_hash, request_hash, TACIT_HASH_BYTES) != 0)
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED, "this invitation has been used; ask for a new one"));
    if (found.used) {
        TACIT_CHECK(stored_certificate(registry, found.party, certificate, error));
    } else {
        uint8_t random[6];
        char suffix[2 * sizeof random + 1];
        TACIT_CHECK(check_seats(registry, found.study, seats, error));
        randombytes_buf(random, sizeof random);
        sodium_bin2hex(suffix, sizeof suffix, random, sizeof random);
        snprintf(found.party, sizeof found.party, "party-%s", suffix);
        TACIT_CHECK(mark_used(registry, token_hash, request_hash, found.party, error));
    }
    memcpy(party, found.party, TACIT_ID_SIZE);
cleanup:
    status = tacit_registry_finish(registry, status, error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_admit(tacit_registry *registry, const uint8_t token_hash[TACIT_TOKEN_HASH_BYTES],
                                  const char *certificate, const char *fingerprint, int64_t now,
                                  tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status = tacit_store_put(
        registry->store,
        "INSERT OR IGNORE INTO party (name, study, fingerprint, certificate, joined, version, called)"
        " SELECT i.party, i.study, ?2, ?3, ?4, s.version, i.called FROM invitation i"
        " JOIN study s ON s.name = i.study WHERE token_hash = ?1",
        TACIT_VALUES(tacit_sql_blob(token_hash, TACIT_TOKEN_HASH_BYTES), tacit_sql_text(fingerprint),
                     tacit_sql_text(certificate), tacit_sql_integer(now)),
        error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_parties(tacit_registry *registry, const char *study, tacit_party_visit *visit,
                                    void *context, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_statement *list = NULL;
    const char *name;
    tacit_status status;
    TACIT_CHECK(
        tacit_statement_open(&list, registry->store,
                             "SELECT name, away FROM party WHERE study = ?1 AND revoked = 0"
                             " AND version = (SELECT version FROM study WHERE name = ?1) ORDER BY number",
                             TACIT_VALUES(tacit_sql_text(study)), error));
    while (tacit_statement_next(list, &status, error)) {
        TACIT_CHECK(tacit_column_text(&name, list, 0, TACIT_ID_SIZE - 1, error));
        TACIT_CHECK(visit(context, name, tacit_column_integer(list, 1) != 0, error));
    }
cleanup:
    tacit_statement_free(list);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_party_study(tacit_registry *registry, const char *party,
                                        char study[TACIT_ID_SIZE], tacit_error *error) {
    char found[TACIT_ID_SIZE];
    bool row = false;
    tacit_registry_lock(registry);
    tacit_status status = registry_find_text(registry, "SELECT study FROM party WHERE name = ?1", party, &row,
                                             found, sizeof found, error);
    tacit_registry_unlock(registry);
    if (status != TACIT_OK) return status;
    if (!row) return tacit_fail(error, TACIT_NOT_FOUND, "party %s takes no part here", party);
    memcpy(study, found, sizeof found);
    return TACIT_OK;
}

/* ---- journals ---- */

typedef struct study_journal {
    tacit_registry *registry;
    char study[TACIT_ID_SIZE];
} study_journal;

static tacit_status read_blob(study_journal *journal, const char *sql, uint64_t round, bool *found,
                              uint64_t *number, tacit_buffer *out, tacit_error *error) {
    tacit_registry_lock(journal->registry);
    tacit_statement *get = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(
        &get, journal->registry->store, sql,
        TACIT_VALUES(tacit_sql_text(journal->study), tacit_sql_integer((int64_t)round)), error));
    TACIT_CHECK(registry_take_bytes(get, found, out, error));
    if (*found && number != NULL) *number = (uint64_t)tacit_column_integer(get, 1);
cleanup:
    tacit_statement_free(get);
    tacit_registry_unlock(journal->registry);
    return status;
}

static tacit_status write_blob(study_journal *journal, const char *sql, uint64_t round, const uint8_t *bytes,
                               size_t length, tacit_error *error) {
    tacit_registry_lock(journal->registry);
    tacit_status status =
        tacit_store_put(journal->registry->store, sql,
                        TACIT_VALUES(tacit_sql_text(journal->study), tacit_sql_integer((int64_t)round),
                                     tacit_sql_blob(bytes, length)),
                        error);
    tacit_registry_unlock(journal->registry);
    return status;
}

static tacit_status read_round(void *context, uint64_t round, bool *found, tacit_buffer *out,
                               tacit_error *error) {
    return read_blob(context, "SELECT record FROM journal WHERE study = ?1 AND round = ?2", round, found,
                     NULL, out, error);
}

static tacit_status write_round(void *context, uint64_t round, const uint8_t *bytes, size_t length,
                                tacit_error *error) {
    return write_blob(context, "INSERT INTO journal (study, round, record) VALUES (?1, ?2, ?3)", round, bytes,
                      length, error);
}

static tacit_status read_checkpoint(void *context, bool *found, uint64_t *round, tacit_buffer *out,
                                    tacit_error *error) {
    return read_blob(context, "SELECT state, round FROM checkpoint WHERE study = ?1 AND round >= ?2", 0,
                     found, round, out, error);
}

static tacit_status write_checkpoint(void *context, uint64_t round, const uint8_t *bytes, size_t length,
                                     tacit_error *error) {
    return write_blob(context, "REPLACE INTO checkpoint (study, round, state) VALUES (?1, ?2, ?3)", round,
                      bytes, length, error);
}

tacit_status tacit_registry_journal(tacit_registry *registry, const char *study, tacit_journal *out,
                                    tacit_error *error) {
    study_journal *journal = TACIT_NEW(study_journal, 1);
    if (journal == NULL) return tacit_fail_memory(error);
    journal->registry = registry;
    snprintf(journal->study, sizeof journal->study, "%s", study);
    *out = (tacit_journal){ read_round, write_round, read_checkpoint, write_checkpoint, journal };
    return TACIT_OK;
}
