/* The registry's certificates: further ones of a party, and those that count no more. */
#include <stdio.h>
#include <string.h>

#include "net/certificate.h"
#include "study/registry_parts.h"

enum { CERTIFICATES_MOST = 16 /* of one party that are valid at once: a party renews one at a time */ };

/* The integer that a query with one text parameter finds; `otherwise` when it finds none. Called with the
 * lock held. */
static tacit_status find_integer(tacit_registry *registry, const char *sql, const char *text,
                                 int64_t otherwise, int64_t *out, tacit_error *error) {
    bool row = false;
    tacit_status status =
        tacit_store_ask(&row, out, 1, registry->store, sql,
                        &(tacit_sql_value){ .kind = TACIT_SQL_TEXT, .bytes = text }, text != NULL, error);
    if (status != TACIT_OK || !row) *out = otherwise;
    return status;
}

bool tacit_registry_revoked(tacit_registry *registry, const char *fingerprint) {
    int64_t good = 0;
    tacit_registry_lock(registry);
    tacit_status status =
        find_integer(registry,
                     "SELECT (EXISTS (SELECT 1 FROM party WHERE fingerprint = ?1 AND revoked = 0)"
                     " OR EXISTS (SELECT 1 FROM renewal r JOIN party p ON p.name = r.party"
                     "   WHERE r.fingerprint = ?1 AND p.revoked = 0))"
                     " AND NOT EXISTS (SELECT 1 FROM revocation WHERE fingerprint = ?1)",
                     fingerprint, 0, &good, NULL);
    tacit_registry_unlock(registry);
    return status != TACIT_OK || good == 0;
}

bool tacit_registry_party_revoked(tacit_registry *registry, const char *party) {
    int64_t revoked = 1;
    tacit_registry_lock(registry);
    tacit_status status =
        find_integer(registry, "SELECT revoked FROM party WHERE name = ?1", party, 1, &revoked, NULL);
    tacit_registry_unlock(registry);
    return status != TACIT_OK || revoked != 0;
}

tacit_status tacit_registry_revocation_count(tacit_registry *registry, uint64_t *count, tacit_error *error) {
    int64_t found = 0;
    tacit_registry_lock(registry);
    tacit_status status =
        find_integer(registry, "SELECT coalesce(max(number), 0) FROM revocation", NULL, 0, &found, error);
    tacit_registry_unlock(registry);
    *count = (uint64_t)found;
    return status;
}

tacit_status tacit_registry_revoke(tacit_registry *registry, const char *party, tacit_error *error) {
    int64_t known = 0;
    tacit_registry_lock(registry);
    tacit_status status;
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    TACIT_CHECK(find_integer(registry, "SELECT 1 FROM party WHERE name = ?1", party, 0, &known, error));
    if (known == 0) TACIT_CHECK(tacit_fail(error, TACIT_NOT_FOUND, "no party is called '%s'", party));
    TACIT_CHECK(registry_run_for(registry, "UPDATE party SET revoked = 1 WHERE name = ?1", party, error));
    TACIT_CHECK(
        registry_run_for(registry,
                         "INSERT OR IGNORE INTO revocation (fingerprint, party, study, revoked)"
                         " SELECT fingerprint, name, study, unixepoch() FROM party WHERE name = ?1"
                         " UNION ALL SELECT r.fingerprint, p.name, p.study, unixepoch() FROM renewal r"
                         " JOIN party p ON p.name = r.party WHERE r.party = ?1",
                         party, error));
cleanup:
    status = tacit_registry_finish(registry, status, error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_revoke_other(tacit_registry *registry, const char *name, const char *fingerprint,
                                         tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status =
        tacit_store_put(registry->store,
                        "INSERT OR IGNORE INTO revocation (fingerprint, party, revoked)"
                        " VALUES (?1, ?2, unixepoch())",
                        TACIT_VALUES(tacit_sql_text(fingerprint), tacit_sql_text(name)), error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_revoked_parties(tacit_registry *registry, const char *study,
                                            tacit_party_visit *visit, void *context, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_statement *list = NULL;
    const char *name;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(
        &list, registry->store, "SELECT name FROM party WHERE study = ?1 AND revoked = 1 ORDER BY number",
        TACIT_VALUES(tacit_sql_text(study)), error));
    while (tacit_statement_next(list, &status, error)) {
        TACIT_CHECK(tacit_column_text(&name, list, 0, TACIT_ID_SIZE - 1, error));
        TACIT_CHECK(visit(context, name, true, error));
    }
cleanup:
    tacit_statement_free(list);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_revocations(tacit_registry *registry, const char *study, tacit_buffer *out,
                                        tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_statement *list = NULL;
    const char *fingerprint, *party;
    size_t start = out->length;
    int64_t serial = 0;
    tacit_status status;
    TACIT_CHECK(find_integer(registry, "SELECT max(number) FROM revocation WHERE study = ?1 OR study IS NULL",
                             study, 0, &serial, error));
    if (serial == 0) goto cleanup;
    TACIT_CHECK(tacit_buffer_print(out, error, "tacit revocations 1\nstudy %s\nserial %lld\n", study,
                                   (long long)serial));
    TACIT_CHECK(tacit_statement_open(&list, registry->store,
                                     "SELECT fingerprint, party FROM revocation WHERE number <= ?2"
                                     " AND (study = ?1 OR study IS NULL) ORDER BY number",
                                     TACIT_VALUES(tacit_sql_text(study), tacit_sql_integer(serial)), error));
    while (tacit_statement_next(list, &status, error)) {
        TACIT_CHECK(tacit_column_text(&fingerprint, list, 0, TACIT_ID_SIZE, error));
        TACIT_CHECK(tacit_column_text(&party, list, 1, TACIT_ID_SIZE - 1, error));
        TACIT_CHECK(tacit_buffer_print(out, error, "%s %s\n", fingerprint, party));
    }
cleanup:
    if (status != TACIT_OK) out->length = start;
    tacit_statement_free(list);
    tacit_registry_unlock(registry);
    return status;
}

/* ---- an authority that was replaced ---- */

static bool is_from(const char *certificate, const char *key_id) {
    tacit_certificate_info info;
    return tacit_certificate_inspect(&info, certificate, strlen(certificate), NULL) == TACIT_OK &&
           strcmp(info.issuer_id, key_id) == 0;
}

/* Every party has one row for each of its certificates, one after another. */
tacit_status tacit_registry_followers(tacit_registry *registry, const char *study, const char *key_id,
                                      tacit_party_visit *visit, void *context, tacit_error *error) {
    static const char sql[] =
        "SELECT p.name, c.certificate FROM party p JOIN study s ON s.name = p.study JOIN"
        " (SELECT name AS party, certificate FROM party UNION ALL SELECT party, certificate FROM renewal) c"
        " ON c.party = p.name WHERE p.revoked = 0 AND s.state < ?2 AND (?1 IS NULL OR p.study = ?1)"
        " ORDER BY p.name";
    tacit_registry_lock(registry);
    tacit_statement *list = NULL;
    const char *name, *certificate;
    char last[TACIT_ID_SIZE] = "";
    bool row = true, followed = false;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(&list, registry->store, sql, error));
    if (study != NULL) tacit_bind_text(list, 1, study);
    tacit_bind_integer(list, 2, TACIT_STUDY_DONE);
    while (row) {
        TACIT_CHECK(tacit_statement_step(&row, list, error));
        name = "";
        if (row) TACIT_CHECK(tacit_column_text(&name, list, 0, TACIT_ID_SIZE - 1, error));
        if (strcmp(name, last) != 0) {
            if (last[0] != 0) TACIT_CHECK(visit(context, last, !followed, error));
            memcpy(last, name, strlen(name) + 1);
            followed = false;
        }
        if (!row) break;
        TACIT_CHECK(tacit_column_text(&certificate, list, 1, TACIT_CERTIFICATE_BYTES_MAX, error));
        followed = followed || is_from(certificate, key_id);
    }
cleanup:
    tacit_statement_free(list);
    tacit_registry_unlock(registry);
    return status;
}

/* ---- renewals ---- */

/* A text of the one row that `find` has, appended; nothing when it has none. */
static tacit_status take_text(tacit_statement *find, tacit_buffer *out, tacit_error *error) {
    const char *text;
    bool row = false;
    TACIT_TRY(tacit_statement_step(&row, find, error));
    if (!row) return TACIT_OK;
    TACIT_TRY(tacit_column_text(&text, find, 0, 1 << 20, error));
    return tacit_buffer_append(out, text, strlen(text), error);
}

tacit_status tacit_registry_certificate(tacit_registry *registry, const char *party, tacit_buffer *out,
                                        tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_statement *get = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(&get, registry->store, "SELECT certificate FROM party WHERE name = ?1",
                                     TACIT_VALUES(tacit_sql_text(party)), error));
    TACIT_CHECK(take_text(get, out, error));
cleanup:
    tacit_statement_free(get);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_find_renewal(tacit_registry *registry, const char *party,
                                         const uint8_t request_hash[TACIT_HASH_BYTES], int64_t now,
                                         tacit_buffer *certificate, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_statement *get = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(
        &get, registry->store,
        "SELECT certificate FROM renewal WHERE party = ?1 AND request_hash = ?2 AND until > ?3"
        " ORDER BY until DESC",
        TACIT_VALUES(tacit_sql_text(party), tacit_sql_blob(request_hash, TACIT_HASH_BYTES),
                     tacit_sql_integer(now)),
        error));
    TACIT_CHECK(take_text(get, certificate, error));
cleanup:
    tacit_statement_free(get);
    tacit_registry_unlock(registry);
    return status;
}

/* Called inside a transaction. */
static tacit_status make_room(tacit_registry *registry, const char *party, int64_t now, tacit_error *error) {
    int64_t left = 0;
    tacit_status status;
    TACIT_CHECK(tacit_store_put(registry->store, "DELETE FROM renewal WHERE party = ?1 AND until <= ?2",
                                TACIT_VALUES(tacit_sql_text(party), tacit_sql_integer(now)), error));
    TACIT_CHECK(
        find_integer(registry, "SELECT count(*) FROM renewal WHERE party = ?1", party, 0, &left, error));
    if (left >= CERTIFICATES_MOST)
        status = tacit_fail(error, TACIT_REFUSED,
                            "%s has %d certificates that are good already; the oldest must end first", party,
                            CERTIFICATES_MOST);
cleanup:
    return status;
}

tacit_status tacit_registry_keep_renewal(tacit_registry *registry, const char *party,
                                         const uint8_t request_hash[TACIT_HASH_BYTES],
                                         const char *certificate, const char *fingerprint, int64_t until,
                                         int64_t now, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status;
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    TACIT_CHECK(make_room(registry, party, now, error));
    TACIT_CHECK(tacit_store_put(
        registry->store,
        "INSERT INTO renewal (fingerprint, party, request_hash, certificate, until)"
        " SELECT ?3, name, ?2, ?4, ?5 FROM party WHERE name = ?1 AND revoked = 0",
        TACIT_VALUES(tacit_sql_text(party), tacit_sql_blob(request_hash, TACIT_HASH_BYTES),
                     tacit_sql_text(fingerprint), tacit_sql_text(certificate), tacit_sql_integer(until)),
        error));
cleanup:
    status = tacit_registry_finish(registry, status, error);
    tacit_registry_unlock(registry);
    return status;
}
