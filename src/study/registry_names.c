/* The registry's names for people: what parties and invited ones are called, and how each stands. */
#include <stdio.h>
#include <string.h>

#include "study/registry_parts.h"

/* Not of the name that another one has in the study, however its letters are written. The name of an
 * invitation that nobody used in time is free again, and so is that of a party that was revoked. Called
 * inside the transaction that gives the name. */
static tacit_status claim_name(tacit_registry *registry, const char *study, const char *called,
                               tacit_error *error) {
    tacit_statement *get = NULL;
    bool row = false;
    tacit_status status;
    TACIT_CHECK(tacit_store_put(
        registry->store,
        "DELETE FROM invitation WHERE study = ?1 AND called = ?2 COLLATE NOCASE AND party IS NULL"
        " AND expires <= unixepoch()",
        TACIT_VALUES(tacit_sql_text(study), tacit_sql_text(called)), error));
    TACIT_CHECK(
        tacit_statement_open(&get, registry->store,
                             "SELECT i.party IS NULL FROM invitation i LEFT JOIN party p ON p.name = i.party"
                             " WHERE i.study = ?1 AND i.called = ?2 COLLATE NOCASE"
                             " AND coalesce(p.revoked, 0) = 0",
                             TACIT_VALUES(tacit_sql_text(study), tacit_sql_text(called)), error));
    TACIT_CHECK(tacit_statement_step(&row, get, error));
    if (row && tacit_column_integer(get, 0) != 0)
        status = tacit_fail(error, TACIT_USAGE,
                            "'%s' has an invitation to study '%s' already: let that one be used, or take it "
                            "back with `tacit revoke DIR '%s'` and invite again",
                            called, study, called);
    else if (row)
        status = tacit_fail(error, TACIT_USAGE,
                            "study '%s' has a party called '%s' already: give another name, or refuse that "
                            "party first with `tacit revoke DIR '%s'`",
                            study, called, called);
cleanup:
    tacit_statement_free(get);
    return status;
}

tacit_status tacit_registry_invite(tacit_registry *registry, const char *study,
                                   const uint8_t token_hash[TACIT_TOKEN_HASH_BYTES], int64_t expires,
                                   const char *called, tacit_error *error) {
    tacit_status status;
    if (called[0] != 0) TACIT_TRY(tacit_party_name_check(called, error));
    tacit_registry_lock(registry);
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    if (called[0] != 0) TACIT_CHECK(claim_name(registry, study, called, error));
    TACIT_CHECK(tacit_store_put(
        registry->store,
        "INSERT INTO invitation (token_hash, study, expires, called) VALUES (?1, ?2, ?3, ?4)",
        TACIT_VALUES(tacit_sql_blob(token_hash, TACIT_TOKEN_HASH_BYTES), tacit_sql_text(study),
                     tacit_sql_integer(expires), tacit_sql_text(called)),
        error));
cleanup:
    status = tacit_registry_finish(registry, status, error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_take_back(tacit_registry *registry, const char *study, const char *called,
                                      tacit_error *error) {
    bool row = false;
    tacit_status status;
    tacit_registry_lock(registry);
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    TACIT_CHECK(tacit_store_has(&row, registry->store,
                                "SELECT 1 FROM invitation WHERE study = ?1 AND party IS NULL"
                                " AND called = ?2 COLLATE NOCASE AND called <> ''",
                                TACIT_VALUES(tacit_sql_text(study), tacit_sql_text(called)), error));
    if (!row)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "no unused invitation to study '%s' is for '%s': if it was used a moment ago, "
                               "revoke the party",
                               study, called));
    TACIT_CHECK(tacit_store_put(registry->store,
                                "DELETE FROM invitation WHERE study = ?1 AND party IS NULL"
                                " AND called = ?2 COLLATE NOCASE",
                                TACIT_VALUES(tacit_sql_text(study), tacit_sql_text(called)), error));
cleanup:
    status = tacit_registry_finish(registry, status, error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_called(tacit_registry *registry, const char *party,
                                   char out[TACIT_PARTY_NAME_SIZE], tacit_error *error) {
    bool row = false;
    tacit_registry_lock(registry);
    tacit_status status = registry_find_text(registry, "SELECT called FROM party WHERE name = ?1", party,
                                             &row, out, TACIT_PARTY_NAME_SIZE, error);
    tacit_registry_unlock(registry);
    return status;
}

/* ---- everybody ---- */

const char *tacit_party_standing_name(tacit_party_standing standing) {
    static const char *const names[] = { "joined", "outdated", "away", "revoked", "invited", "expired" };
    return names[standing];
}

/* Name, study, what it is called, since when, and how it stands, of parties in the order they joined, then of
 * invitations by name. */
#define PEOPLE                                                                                               \
    "SELECT p.name, p.study, p.called, p.joined, CASE WHEN p.revoked THEN 3 WHEN p.away THEN 2"              \
    "   WHEN p.version < s.version THEN 1 ELSE 0 END AS standing, p.number AS place"                         \
    "  FROM party p JOIN study s ON s.name = p.study"                                                        \
    " UNION ALL SELECT '', study, called, expires, iif(expires > unixepoch(), 4, 5), 1 << 62"                \
    "  FROM invitation WHERE party IS NULL AND called <> ''"

static tacit_status read_person(tacit_person *out, tacit_statement *list, tacit_error *error) {
    const char *text;
    TACIT_TRY(tacit_column_text(&text, list, 0, TACIT_ID_SIZE - 1, error));
    snprintf(out->name, sizeof out->name, "%s", text);
    TACIT_TRY(tacit_column_text(&text, list, 1, TACIT_ID_SIZE - 1, error));
    snprintf(out->study, sizeof out->study, "%s", text);
    TACIT_TRY(tacit_column_text(&text, list, 2, TACIT_PARTY_NAME_MOST, error));
    snprintf(out->called, sizeof out->called, "%s", text);
    out->time = tacit_column_integer(list, 3);
    out->standing = (tacit_party_standing)tacit_column_integer(list, 4);
    return TACIT_OK;
}

tacit_status tacit_registry_people(tacit_registry *registry, const char *study, size_t most,
                                   tacit_person_visit *visit, void *context, tacit_error *error) {
    tacit_statement *list = NULL;
    tacit_person person;
    tacit_status status;
    tacit_registry_lock(registry);
    TACIT_CHECK(tacit_statement_prepare(
        &list, registry->store, "SELECT * FROM (" PEOPLE ") WHERE study = ?1 ORDER BY place, called LIMIT ?2",
        error));
    tacit_bind_text(list, 1, study);
    tacit_bind_integer(list, 2, most < INT64_MAX ? (int64_t)most : INT64_MAX);
    while (tacit_statement_next(list, &status, error)) {
        TACIT_CHECK(read_person(&person, list, error));
        TACIT_CHECK(visit(context, &person, error));
    }
cleanup:
    tacit_statement_free(list);
    tacit_registry_unlock(registry);
    return status;
}

/* The one intended: by the random name, else by what people call it, among those that are not revoked and
 * invitations that can still be used. */
static tacit_status find_person(tacit_registry *registry, const char *who, const char *study,
                                tacit_person *out, size_t *found, tacit_error *error) {
    tacit_statement *list = NULL;
    tacit_status status;
    *found = 0;
    TACIT_CHECK(tacit_statement_prepare(
        &list, registry->store,
        "SELECT * FROM (" PEOPLE ") AS one WHERE (?2 = '' OR one.study = ?2) AND (one.name = ?1"
        " OR (one.called = ?1 COLLATE NOCASE AND one.called <> '' AND one.standing NOT IN (3, 5)))",
        error));
    tacit_bind_text(list, 1, who);
    tacit_bind_text(list, 2, study != NULL ? study : "");
    while (tacit_statement_next(list, &status, error)) {
        TACIT_CHECK(read_person(out, list, error));
        *found += 1;
    }
cleanup:
    tacit_statement_free(list);
    return status;
}

tacit_status tacit_registry_find(tacit_registry *registry, const char *who, const char *study,
                                 tacit_person *out, tacit_error *error) {
    tacit_person person = { .name = "" };
    size_t found = 0;
    tacit_registry_lock(registry);
    tacit_status status = who[0] != 0 ? find_person(registry, who, study, &person, &found, error) : TACIT_OK;
    tacit_registry_unlock(registry);
    if (status != TACIT_OK) return status;
    if (found > 1)
        return tacit_fail(
            error, TACIT_USAGE,
            "'%s' is in %zu studies, as another party in each: name one with the option 'study'", who, found);
    if (found == 0)
        return tacit_fail(error, TACIT_NOT_FOUND, "no party is called '%s': tacit study status lists them",
                          who);
    *out = person;
    return TACIT_OK;
}
