/* A study's life before it ends: draft, recruiting, running, paused; versions of its definition, and who has
 * consented to which. */
#include <sodium.h>
#include <string.h>
#include <time.h>

#include "study/registry_parts.h"

/* TACIT_USAGE unless the study is in an allowed state, which `what` names; called with the lock held, inside
 * a transaction. */
static tacit_status expect(tacit_registry *registry, const char *name,
                           bool (*allowed)(tacit_study_state state), const char *what, tacit_study_state *out,
                           tacit_error *error) {
    TACIT_TRY(registry_state(registry, name, out, error));
    if (allowed(*out)) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE, "study '%s' is %s: only a study that is %s", name,
                      tacit_study_state_name(*out), what);
}

static bool is_draft(tacit_study_state state) { return state == TACIT_STUDY_DRAFT; }
static bool is_paused(tacit_study_state state) { return state == TACIT_STUDY_PAUSED; }
static bool is_under_way(tacit_study_state state) {
    return state == TACIT_STUDY_RECRUITING || state == TACIT_STUDY_RUNNING;
}
static bool is_at_rest(tacit_study_state state) {
    return state == TACIT_STUDY_DRAFT || state == TACIT_STUDY_RECRUITING || state == TACIT_STUDY_PAUSED ||
           state == TACIT_STUDY_FAILED;
}

static tacit_status move(tacit_registry *registry, const char *name, bool (*allowed)(tacit_study_state state),
                         const char *what, const char *sql, tacit_error *error) {
    tacit_study_state before;
    tacit_registry_lock(registry);
    tacit_status status;
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    status = expect(registry, name, allowed, what, &before, error);
    if (status == TACIT_OK) status = registry_run_for(registry, sql, name, error);
    status = tacit_registry_finish(registry, status, error);
cleanup:
    tacit_registry_unlock(registry);
    return status;
}

/* The numbers are those of tacit_study_state. */
tacit_status tacit_registry_open_draft(tacit_registry *registry, const char *name, tacit_error *error) {
    return move(registry, name, is_draft, "a draft can be opened",
                "UPDATE study SET state = 0 WHERE name = ?1", error);
}

tacit_status tacit_registry_pause(tacit_registry *registry, const char *name, tacit_error *error) {
    return move(registry, name, is_under_way, "recruiting or running can be paused",
                "UPDATE study SET resumes = state, state = -1 WHERE name = ?1", error);
}

tacit_status tacit_registry_resume(tacit_registry *registry, const char *name, tacit_error *error) {
    return move(registry, name, is_paused, "paused can be resumed",
                "UPDATE study SET state = resumes, resumes = 0 WHERE name = ?1", error);
}

/* TACIT_USAGE unless the study is still in this state and of this version. Inside a transaction. */
static tacit_status expect_version(tacit_registry *registry, const char *name, tacit_study_state state,
                                   unsigned version, tacit_error *error) {
    tacit_statement *get = NULL;
    bool same = false;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(
        &get, registry->store, "SELECT 1 FROM study WHERE name = ?1 AND state = ?2 AND version = ?3",
        TACIT_VALUES(tacit_sql_text(name), tacit_sql_integer(state), tacit_sql_integer(version)), error));
    TACIT_CHECK(tacit_statement_step(&same, get, error));
    tacit_statement_reset(get);
    if (!same) status = tacit_fail(error, TACIT_USAGE, "study '%s' was changed meanwhile", name);
cleanup:
    tacit_statement_free(get);
    return status;
}

tacit_status tacit_registry_start(tacit_registry *registry, const char *name, unsigned version,
                                  tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status;
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    TACIT_CHECK(expect_version(registry, name, TACIT_STUDY_RECRUITING, version, error));
    TACIT_CHECK(registry_run_for(registry, "UPDATE study SET state = 1 WHERE name = ?1", name, error));
cleanup:
    status = tacit_registry_finish(registry, status, error);
    tacit_registry_unlock(registry);
    return status;
}

/* ---- amending ---- */

static tacit_status check_changed(tacit_registry *registry, const char *name, const char *definition,
                                  tacit_error *error) {
    bool same = false;
    tacit_status status;
    TACIT_CHECK(tacit_store_has(&same, registry->store,
                                "SELECT 1 FROM study WHERE name = ?1 AND definition = ?2",
                                TACIT_VALUES(tacit_sql_text(name), tacit_sql_text(definition)), error));
    if (same)
        status = tacit_fail(
            error, TACIT_USAGE,
            "study '%s' says that already: nothing to amend. To run a study again that has failed, "
            "change its title as well",
            name);
cleanup:
    return status;
}

/* Nothing of the rounds of an earlier version is left, neither sums nor who was in them. */
static tacit_status forget_rounds(tacit_registry *registry, const char *name, tacit_error *error) {
    static const char *const tables[] = { "DELETE FROM journal WHERE study = ?1",
                                          "DELETE FROM checkpoint WHERE study = ?1",
                                          "DELETE FROM masked_step WHERE study = ?1",
                                          "DELETE FROM roster WHERE study = ?1",
                                          "DELETE FROM points WHERE study = ?1" };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        TACIT_TRY(registry_run_for(registry, tables[i], name, error));
    return TACIT_OK;
}

static tacit_status put_definition(tacit_registry *registry, const char *name, const char *definition,
                                   bool draft, tacit_error *error) {
    uint8_t secret[TACIT_STREAM_KEY_BYTES];
    tacit_status status;
    randombytes_buf(secret, sizeof secret);
    if (!draft)
        TACIT_CHECK(
            registry_run_for(registry,
                             "INSERT INTO earlier_version (study, version, definition, replaced)"
                             " SELECT name, version, definition, unixepoch() FROM study WHERE name = ?1",
                             name, error));
    TACIT_CHECK(
        tacit_store_put(registry->store,
                        "UPDATE study SET definition = ?2, secret = ?3, version = version + ?4,"
                        " resumes = 0 WHERE name = ?1",
                        TACIT_VALUES(tacit_sql_text(name), tacit_sql_text(definition),
                                     tacit_sql_blob(secret, sizeof secret), tacit_sql_integer(draft ? 0 : 1)),
                        error));
cleanup:
    sodium_memzero(secret, sizeof secret);
    return status;
}

/* It failed, as when a party that its sums need was lost, and begins again with whoever consents. How it
 * ended will have to be told again. */
static tacit_status recruit_again(tacit_registry *registry, const char *name, tacit_error *error) {
    TACIT_TRY(registry_run_for(
        registry, "UPDATE study SET state = 0, reason = '', model = NULL WHERE name = ?1", name, error));
    return registry_run_for(registry, "DELETE FROM setting WHERE key = 'told ' || ?1", name, error);
}

tacit_status tacit_registry_amend(tacit_registry *registry, const char *name, const char *definition,
                                  const tacit_buffer *points, tacit_error *error) {
    tacit_study_state state;
    tacit_registry_lock(registry);
    tacit_status status;
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    TACIT_CHECK(expect(registry, name, is_at_rest, "a draft, recruiting, paused or failed can be amended",
                       &state, error));
    TACIT_CHECK(check_changed(registry, name, definition, error));
    TACIT_CHECK(forget_rounds(registry, name, error));
    TACIT_CHECK(put_definition(registry, name, definition, state == TACIT_STUDY_DRAFT, error));
    if (state == TACIT_STUDY_FAILED) TACIT_CHECK(recruit_again(registry, name, error));
    if (points != NULL && points->length > 0) TACIT_CHECK(registry_put_points(registry, name, points, error));
cleanup:
    status = tacit_registry_finish(registry, status, error);
    tacit_registry_unlock(registry);
    return status;
}

/* As an amendment, but of a study that runs, which recruits again. */
tacit_status tacit_registry_next_look(tacit_registry *registry, const char *name, unsigned version,
                                      const char *definition, const tacit_buffer *points,
                                      tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status;
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    TACIT_CHECK(expect_version(registry, name, TACIT_STUDY_RUNNING, version, error));
    TACIT_CHECK(forget_rounds(registry, name, error));
    TACIT_CHECK(put_definition(registry, name, definition, false, error));
    TACIT_CHECK(registry_run_for(registry, "UPDATE study SET state = 0 WHERE name = ?1", name, error));
    if (points->length > 0) TACIT_CHECK(registry_put_points(registry, name, points, error));
cleanup:
    status = tacit_registry_finish(registry, status, error);
    tacit_registry_unlock(registry);
    return status;
}

/* ---- who takes part ---- */

tacit_status tacit_registry_presence(tacit_registry *registry, const char *party, tacit_presence *out,
                                     tacit_error *error) {
    tacit_registry_lock(registry);
    bool row = false;
    int64_t found[2];
    tacit_status status = tacit_store_ask(&row, found, 2, registry->store,
                                          "SELECT p.version = s.version, p.away FROM party p"
                                          " JOIN study s ON s.name = p.study WHERE p.name = ?1",
                                          TACIT_VALUES(tacit_sql_text(party)), error);
    tacit_registry_unlock(registry);
    if (status != TACIT_OK) return status;
    if (!row) return tacit_fail(error, TACIT_NOT_FOUND, "party %s takes no part here", party);
    *out = (tacit_presence){ found[0] != 0, found[1] != 0 };
    return TACIT_OK;
}

/* Checked and taken in one statement, for others may consent, or the study be amended, at the same time. */
tacit_status tacit_registry_enter(tacit_registry *registry, const char *party, unsigned version, size_t seats,
                                  bool *changed, tacit_error *error) {
    bool row = false, consented = false;
    tacit_registry_lock(registry);
    tacit_statement *get = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_store_put(
        registry->store,
        "UPDATE party SET away = 0, version = ?3"
        " WHERE name = ?1 AND ?3 = (SELECT version FROM study s WHERE s.name = party.study)"
        " AND (version = ?3 OR (SELECT count(*) FROM party q WHERE q.study = party.study"
        " AND q.revoked = 0 AND q.version = ?3) < ?2)",
        TACIT_VALUES(tacit_sql_text(party), tacit_sql_integer((int64_t)seats), tacit_sql_integer(version)),
        error));
    TACIT_CHECK(tacit_statement_open(&get, registry->store,
                                     "SELECT p.version = ?2, s.version <> ?2 FROM party p"
                                     " JOIN study s ON s.name = p.study WHERE p.name = ?1",
                                     TACIT_VALUES(tacit_sql_text(party), tacit_sql_integer(version)), error));
    TACIT_CHECK(tacit_statement_step(&row, get, error));
    if (!row) TACIT_CHECK(tacit_fail(error, TACIT_NOT_FOUND, "party %s takes no part here", party));
    consented = tacit_column_integer(get, 0) != 0;
    *changed = tacit_column_integer(get, 1) != 0;
    tacit_statement_reset(get);
    if (!consented && !*changed)
        status = tacit_fail(error, TACIT_REFUSED, "the study has all its %zu parties", seats);
cleanup:
    tacit_statement_free(get);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_leave(tacit_registry *registry, const char *party, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status =
        registry_run_for(registry, "UPDATE party SET away = 1 WHERE name = ?1", party, error);
    tacit_registry_unlock(registry);
    return status;
}

/* ---- the archive ---- */

tacit_status tacit_registry_archive(tacit_registry *registry, const tacit_archived *about,
                                    const tacit_buffer *bytes, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status = tacit_store_put(
        registry->store,
        "INSERT OR IGNORE INTO archived (id, study, title, published, bytes)"
        " VALUES (?1, ?2, ?3, ?4, ?5)",
        TACIT_VALUES(tacit_sql_text(about->id), tacit_sql_text(about->study), tacit_sql_text(about->title),
                     tacit_sql_integer(about->published), tacit_sql_blob(bytes->bytes, bytes->length)),
        error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_archive_list(tacit_registry *registry, tacit_archived_visit *visit, void *context,
                                         tacit_error *error) {
    tacit_statement *list = NULL;
    tacit_status status;
    tacit_registry_lock(registry);
    TACIT_CHECK(tacit_statement_prepare(
        &list, registry->store, "SELECT id, study, title, published FROM archived ORDER BY published, id",
        error));
    while (tacit_statement_next(list, &status, error)) {
        tacit_archived one;
        TACIT_CHECK(tacit_column_text(&one.id, list, 0, 2 * TACIT_HASH_BYTES, error));
        TACIT_CHECK(tacit_column_text(&one.study, list, 1, TACIT_ID_SIZE - 1, error));
        TACIT_CHECK(tacit_column_text(&one.title, list, 2, 1 << 12, error));
        one.published = tacit_column_integer(list, 3);
        TACIT_CHECK(visit(context, &one, error));
    }
cleanup:
    tacit_statement_free(list);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_archive_bytes(tacit_registry *registry, const char *id, tacit_buffer *out,
                                          tacit_error *error) {
    tacit_statement *get = NULL;
    bool found = false;
    tacit_status status;
    tacit_registry_lock(registry);
    TACIT_CHECK(tacit_statement_open(&get, registry->store, "SELECT bytes FROM archived WHERE id = ?1",
                                     TACIT_VALUES(tacit_sql_text(id)), error));
    TACIT_CHECK(registry_take_bytes(get, &found, out, error));
    if (!found)
        TACIT_CHECK(tacit_fail(error, TACIT_NOT_FOUND, "no study is archived here under the id '%.70s'", id));
cleanup:
    tacit_statement_free(get);
    tacit_registry_unlock(registry);
    return status;
}
