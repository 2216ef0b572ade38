/* Tokens of programs: made, checked, listed, revoked. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "net/clock.h"
#include "study/passes.h"
#include "study/registry_parts.h"
#include "study/study.h"

enum { ID_BYTES = 8, SECRET_BYTES = 32, ID_DIGITS = 2 * ID_BYTES };

#define PREFIX "tacit."

const char *tacit_scope_name(tacit_scope scope) { return scope == TACIT_SCOPE_MANAGE ? "manage" : "read"; }

static void hash_token(uint8_t out[TACIT_HASH_BYTES], const char *token) {
    crypto_generichash(out, TACIT_HASH_BYTES, (const uint8_t *)token, strlen(token), NULL, 0);
}

static void draw_token(char id[TACIT_PASS_ID_SIZE], char token[TACIT_PASS_SIZE]) {
    uint8_t raw[SECRET_BYTES];
    char secret[2 * SECRET_BYTES + 1];
    randombytes_buf(raw, ID_BYTES);
    sodium_bin2hex(id, TACIT_PASS_ID_SIZE, raw, ID_BYTES);
    randombytes_buf(raw, sizeof raw);
    sodium_bin2hex(secret, sizeof secret, raw, sizeof raw);
    snprintf(token, TACIT_PASS_SIZE, PREFIX "%s.%s", id, secret);
    sodium_memzero(raw, sizeof raw);
    sodium_memzero(secret, sizeof secret);
}

tacit_status tacit_registry_issue_pass(tacit_registry *registry, tacit_pass *pass,
                                       char token[TACIT_PASS_SIZE], tacit_error *error) {
    tacit_study_state unused;
    uint8_t hash[TACIT_HASH_BYTES];
    char made[TACIT_PASS_SIZE];
    tacit_status status;
    if (pass->called[0] != 0) TACIT_TRY(tacit_party_name_check(pass->called, error));
    if (pass->study[0] != 0) TACIT_TRY(tacit_registry_state(registry, pass->study, &unused, error));
    pass->created = tacit_clock_wall_seconds();
    pass->revoked = false;
    draw_token(pass->id, made);
    hash_token(hash, made);
    tacit_registry_lock(registry);
    TACIT_CHECK(tacit_store_put(registry->store,
                                "INSERT INTO pass (id, hash, scope, study, called, created, expires)"
                                " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                                TACIT_VALUES(tacit_sql_text(pass->id), tacit_sql_blob(hash, sizeof hash),
                                             tacit_sql_integer(pass->scope), tacit_sql_text(pass->study),
                                             tacit_sql_text(pass->called), tacit_sql_integer(pass->created),
                                             tacit_sql_integer(pass->expires)),
                                error));
    memcpy(token, made, sizeof made);
cleanup:
    tacit_registry_unlock(registry);
    sodium_memzero(made, sizeof made);
    return status;
}

#define COLUMNS "id, scope, study, called, created, expires, revoked, hash"

static tacit_status read_pass(tacit_pass *out, tacit_statement *get, tacit_error *error) {
    const char *id, *study, *called;
    TACIT_TRY(tacit_column_text(&id, get, 0, sizeof out->id - 1, error));
    snprintf(out->id, sizeof out->id, "%s", id);
    TACIT_TRY(tacit_column_text(&study, get, 2, sizeof out->study - 1, error));
    snprintf(out->study, sizeof out->study, "%s", study);
    TACIT_TRY(tacit_column_text(&called, get, 3, sizeof out->called - 1, error));
    snprintf(out->called, sizeof out->called, "%s", called);
    out->scope = tacit_column_integer(get, 1) == TACIT_SCOPE_MANAGE ? TACIT_SCOPE_MANAGE : TACIT_SCOPE_READ;
    out->created = tacit_column_integer(get, 4);
    out->expires = tacit_column_integer(get, 5);
    out->revoked = tacit_column_integer(get, 6) != 0;
    return TACIT_OK;
}

/* The pass that a token's id names, with its hash; *row is false where there is none. */
static tacit_status find_pass(tacit_registry *registry, const char *id, bool *row, tacit_pass *out,
                              uint8_t hash[TACIT_HASH_BYTES], tacit_error *error) {
    tacit_statement *get = NULL;
    tacit_status status;
    tacit_registry_lock(registry);
    TACIT_CHECK(
        tacit_statement_prepare(&get, registry->store, "SELECT " COLUMNS " FROM pass WHERE id = ?1", error));
    tacit_bind_text(get, 1, id);
    TACIT_CHECK(tacit_statement_step(row, get, error));
    if (*row) TACIT_CHECK(read_pass(out, get, error));
    if (*row) TACIT_CHECK(tacit_column_bytes(hash, TACIT_HASH_BYTES, get, 7, error));
cleanup:
    tacit_statement_free(get);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_check_pass(tacit_registry *registry, const char *token, int64_t now,
                                       tacit_pass *out, tacit_error *error) {
    static const char unknown[] = "this token is not one of this coordinator's";
    char id[TACIT_PASS_ID_SIZE], when[TACIT_TIME_TEXT];
    uint8_t hash[TACIT_HASH_BYTES], given[TACIT_HASH_BYTES];
    tacit_pass pass;
    bool row = false;
    if (strlen(token) != TACIT_PASS_SIZE - 1 || strncmp(token, PREFIX, strlen(PREFIX)) != 0)
        return tacit_fail(error, TACIT_REFUSED, "%s", unknown);
    memcpy(id, token + strlen(PREFIX), ID_DIGITS);
    id[ID_DIGITS] = 0;
    TACIT_TRY(find_pass(registry, id, &row, &pass, hash, error));
    hash_token(given, token);
    if (!row || sodium_memcmp(hash, given, sizeof hash) != 0)
        return tacit_fail(error, TACIT_REFUSED, "%s", unknown);
    if (pass.revoked) return tacit_fail(error, TACIT_REFUSED, "this token was revoked");
    if (pass.expires <= now)
        return tacit_fail(error, TACIT_REFUSED, "this token expired at %s; `tacit study token` makes another",
                          tacit_study_time_text(when, pass.expires));
    *out = pass;
    return TACIT_OK;
}

tacit_status tacit_registry_revoke_pass(tacit_registry *registry, const char *id, tacit_error *error) {
    uint8_t unused[TACIT_HASH_BYTES];
    tacit_pass pass;
    bool row = false;
    tacit_status status;
    TACIT_TRY(find_pass(registry, id, &row, &pass, unused, error));
    if (!row) return tacit_fail(error, TACIT_NOT_FOUND, "there is no token '%s'", id);
    if (pass.revoked) return tacit_fail(error, TACIT_USAGE, "the token '%s' was revoked before", id);
    tacit_registry_lock(registry);
    TACIT_CHECK(tacit_store_put(registry->store, "UPDATE pass SET revoked = 1 WHERE id = ?1",
                                TACIT_VALUES(tacit_sql_text(id)), error));
cleanup:
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_passes(tacit_registry *registry, tacit_pass_visit *visit, void *context,
                                   tacit_error *error) {
    tacit_statement *get = NULL;
    tacit_status status;
    tacit_registry_lock(registry);
    TACIT_CHECK(tacit_statement_prepare(&get, registry->store,
                                        "SELECT " COLUMNS " FROM pass ORDER BY created, id", error));
    while (tacit_statement_next(get, &status, error)) {
        tacit_pass pass;
        TACIT_CHECK(read_pass(&pass, get, error));
        TACIT_CHECK(visit(context, &pass, error));
    }
cleanup:
    tacit_statement_free(get);
    tacit_registry_unlock(registry);
    return status;
}
