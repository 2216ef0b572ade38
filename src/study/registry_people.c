/* The registry's part in arms, receipts and contact details. */
#include <string.h>
#include <time.h>

#include "study/registry_parts.h"

/* ---- arms ---- */

void tacit_arm_group_clear(tacit_arm_group *group) {
    tacit_buffer_clear(&group->keys);
    tacit_buffer_clear(&group->shares);
    *group = (tacit_arm_group){ .group = 0 };
}

tacit_status tacit_registry_arm_register(tacit_registry *registry, const char *party, const char *study,
                                         const uint8_t key[TACIT_VRF_KEY_BYTES], tacit_error *error) {
    tacit_registry_lock(registry);
    bool same = false;
    tacit_status status;
    TACIT_CHECK(tacit_store_put(
        registry->store, "INSERT OR IGNORE INTO arm (party, study, key) VALUES (?1, ?2, ?3)",
        TACIT_VALUES(tacit_sql_text(party), tacit_sql_text(study), tacit_sql_blob(key, TACIT_VRF_KEY_BYTES)),
        error));
    TACIT_CHECK(tacit_store_has(
        &same, registry->store, "SELECT 1 FROM arm WHERE party = ?1 AND study = ?2 AND key = ?3",
        TACIT_VALUES(tacit_sql_text(party), tacit_sql_text(study), tacit_sql_blob(key, TACIT_VRF_KEY_BYTES)),
        error));
    if (!same)
        status = tacit_fail(
            error, TACIT_REFUSED,
            "a key for the arm was registered before, or is somebody else's: the first one counts");
cleanup:
    tacit_registry_unlock(registry);
    return status;
}

static tacit_status read_members(tacit_registry *registry, const char *study, tacit_arm_group *out,
                                 tacit_error *error) {
    tacit_statement *list = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(
        &list, registry->store,
        "SELECT key, coalesce(share, x'') FROM arm WHERE study = ?1 AND grp = ?2 ORDER BY key",
        TACIT_VALUES(tacit_sql_text(study), tacit_sql_integer(out->group)), error));
    while (tacit_statement_next(list, &status, error)) {
        const uint8_t *share;
        size_t length;
        uint8_t key[TACIT_VRF_KEY_BYTES];
        TACIT_CHECK(tacit_column_bytes(key, sizeof key, list, 0, error));
        TACIT_CHECK(tacit_buffer_append(&out->keys, key, sizeof key, error));
        TACIT_CHECK(tacit_column_blob(&share, &length, list, 1, TACIT_VRF_PROOF_BYTES, error));
        if (length == TACIT_VRF_PROOF_BYTES) {
            TACIT_CHECK(tacit_buffer_append(&out->shares, share, length, error));
            out->shared++;
        }
        out->count++;
    }
    if (status != TACIT_OK) goto cleanup;
    if (out->shared < out->count) out->shares.length = 0;
cleanup:
    tacit_statement_free(list);
    return status;
}

/* With the lock held. */
static tacit_status read_group(tacit_registry *registry, const char *study, uint32_t group,
                               tacit_arm_group *out, tacit_error *error) {
    tacit_statement *get = NULL;
    bool row = false;
    tacit_status status;
    tacit_arm_group_clear(out);
    if (group == 0) return TACIT_OK;
    TACIT_CHECK(tacit_statement_open(&get, registry->store,
                                     "SELECT draw FROM arm_group WHERE study = ?1 AND grp = ?2",
                                     TACIT_VALUES(tacit_sql_text(study), tacit_sql_integer(group)), error));
    TACIT_CHECK(tacit_statement_step(&row, get, error));
    if (!row) goto cleanup;
    out->group = group;
    out->draw = (uint32_t)tacit_column_integer(get, 0);
    TACIT_CHECK(read_members(registry, study, out, error));
cleanup:
    tacit_statement_free(get);
    return status;
}

tacit_status tacit_registry_arm_group(tacit_registry *registry, const char *study, uint32_t group,
                                      tacit_arm_group *out, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status = read_group(registry, study, group, out, error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_arm_of_party(tacit_registry *registry, const char *party, tacit_arm_group *out,
                                         tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_statement *get = NULL;
    const char *study = "";
    bool row = false;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(&get, registry->store, "SELECT study, grp FROM arm WHERE party = ?1",
                                     TACIT_VALUES(tacit_sql_text(party)), error));
    TACIT_CHECK(tacit_statement_step(&row, get, error));
    if (row) TACIT_CHECK(tacit_column_text(&study, get, 0, TACIT_ID_SIZE - 1, error));
    TACIT_CHECK(read_group(registry, study, row ? (uint32_t)tacit_column_integer(get, 1) : 0, out, error));
cleanup:
    tacit_statement_free(get);
    tacit_registry_unlock(registry);
    return status;
}

/* The group that is not complete; 0: there is none. And the largest number so far. */
static tacit_status find_open(tacit_registry *registry, const char *study, uint32_t *open, uint32_t *largest,
                              tacit_error *error) {
    bool row = false;
    int64_t found[2];
    TACIT_TRY(tacit_store_ask(
        &row, found, 2, registry->store,
        "SELECT coalesce((SELECT min(grp) FROM arm WHERE study = ?1 AND grp > 0 AND share IS NULL), 0),"
        " coalesce((SELECT max(grp) FROM arm_group WHERE study = ?1), 0)",
        TACIT_VALUES(tacit_sql_text(study)), error));
    *open = (uint32_t)found[0];
    *largest = (uint32_t)found[1];
    return TACIT_OK;
}

static tacit_status run_for_group(tacit_registry *registry, const char *sql, const char *study,
                                  uint32_t group, tacit_error *error) {
    return tacit_store_put(registry->store, sql,
                           TACIT_VALUES(tacit_sql_text(study), tacit_sql_integer(group)), error);
}

/* A list that is closed again loses who gave no share or was revoked, and all shares: they were to another
 * list. */
static tacit_status close_again(tacit_registry *registry, const char *study, uint32_t group,
                                tacit_error *error) {
    TACIT_TRY(run_for_group(registry,
                            "UPDATE arm SET grp = 0, share = NULL WHERE study = ?1 AND grp = ?2 AND (share IS"
                            " NULL OR party IN (SELECT name FROM party WHERE study = ?1 AND revoked = 1))",
                            study, group, error));
    TACIT_TRY(run_for_group(registry, "UPDATE arm SET share = NULL, told = 0 WHERE study = ?1 AND grp = ?2",
                            study, group, error));
    return run_for_group(registry, "UPDATE arm_group SET draw = draw + 1 WHERE study = ?1 AND grp = ?2",
                         study, group, error);
}

static tacit_status close_new(tacit_registry *registry, const char *study, uint32_t group,
                              tacit_error *error) {
    TACIT_TRY(run_for_group(registry,
                            "UPDATE arm SET grp = ?2, told = 0 WHERE study = ?1 AND grp = 0"
                            " AND party IN (SELECT name FROM party WHERE study = ?1 AND revoked = 0)",
                            study, group, error));
    return run_for_group(registry, "INSERT INTO arm_group VALUES (?1, ?2, 1)", study, group, error);
}

tacit_status tacit_registry_arm_close(tacit_registry *registry, const char *study, bool again,
                                      uint32_t *group, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_arm_group made = { .group = 0 };
    uint32_t open = 0, largest = 0;
    tacit_status status;
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    TACIT_CHECK(find_open(registry, study, &open, &largest, error));
    if (open > 0 && !again)
        TACIT_CHECK(tacit_fail(
            error, TACIT_USAGE,
            "group %u of study '%s' waits for shares of its parties: wait, or close its list again "
            "without those who gave none (tacit arm close --again)",
            open, study));
    *group = open > 0 ? open : largest + 1;
    TACIT_CHECK((open > 0 ? close_again : close_new)(registry, study, *group, error));
    TACIT_CHECK(read_group(registry, study, *group, &made, error));
    if (made.count == 0)
        TACIT_CHECK(tacit_fail(error, TACIT_NOT_FOUND, "nobody in study '%s' waits for an arm%s", study,
                               open > 0 ? " who gave a share" : ""));
cleanup:
    tacit_arm_group_clear(&made);
    status = tacit_registry_finish(registry, status, error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_arm_share(tacit_registry *registry, const char *party, uint32_t group,
                                      uint32_t draw, const uint8_t share[TACIT_VRF_PROOF_BYTES],
                                      bool *complete, tacit_error *error) {
    tacit_registry_lock(registry);
    bool row = false;
    int64_t all;
    tacit_status status;
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    TACIT_CHECK(tacit_store_put(
        registry->store,
        "UPDATE arm SET share = ?2, told = 0 WHERE party = ?1 AND grp = ?4 AND EXISTS (SELECT 1"
        " FROM arm_group g WHERE g.study = arm.study AND g.grp = arm.grp AND g.draw = ?3)",
        TACIT_VALUES(tacit_sql_text(party), tacit_sql_blob(share, TACIT_VRF_PROOF_BYTES),
                     tacit_sql_integer(draw), tacit_sql_integer(group)),
        error));
    TACIT_CHECK(tacit_store_ask(
        &row, &all, 1, registry->store,
        "SELECT NOT EXISTS (SELECT 1 FROM arm o JOIN arm m ON m.party = ?1 AND o.study = m.study"
        " AND o.grp = m.grp WHERE o.share IS NULL)",
        TACIT_VALUES(tacit_sql_text(party)), error));
    *complete = all != 0;
cleanup:
    status = tacit_registry_finish(registry, status, error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_arm_standing(tacit_registry *registry, const char *study, tacit_arm_standing *out,
                                         tacit_error *error) {
    tacit_registry_lock(registry);
    bool row = false;
    int64_t found[5];
    tacit_status status = tacit_store_ask(
        &row, found, 5, registry->store,
        "SELECT count(*), count(*) - count(a.key), count(*) FILTER (WHERE a.grp = 0),"
        " count(*) FILTER (WHERE a.grp > 0 AND EXISTS (SELECT 1 FROM arm o WHERE o.study = a.study"
        " AND o.grp = a.grp AND o.share IS NULL)),"
        " (SELECT coalesce(sum(draw * 1000003 + grp), 0) FROM arm_group WHERE study = ?1) * 1000003"
        " + count(a.share) * 1009 + count(a.key)"
        " FROM party p LEFT JOIN arm a ON a.party = p.name WHERE p.study = ?1 AND p.revoked = 0"
        " AND p.version = (SELECT version FROM study WHERE name = ?1)",
        TACIT_VALUES(tacit_sql_text(study)), error);
    if (status == TACIT_OK)
        *out = (tacit_arm_standing){ (size_t)found[0], (size_t)found[1], (size_t)found[2], (size_t)found[3],
                                     (uint64_t)found[4] };
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_arm_is_due(tacit_registry *registry, const char *party, bool *due,
                                       tacit_error *error) {
    tacit_registry_lock(registry);
    *due = false;
    tacit_status status = tacit_store_has(
        due, registry->store,
        "SELECT 1 FROM arm a WHERE party = ?1 AND grp > 0 AND (share IS NULL OR (told = 0 AND NOT EXISTS"
        " (SELECT 1 FROM arm o WHERE o.study = a.study AND o.grp = a.grp AND o.share IS NULL)))",
        TACIT_VALUES(tacit_sql_text(party)), error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_arm_told(tacit_registry *registry, const char *party, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status =
        registry_run_for(registry, "UPDATE arm SET told = 1 WHERE party = ?1", party, error);
    tacit_registry_unlock(registry);
    return status;
}

/* ---- who has completed ---- */

tacit_status tacit_registry_note_round(tacit_registry *registry, const char *study, const char *party,
                                       unsigned version, uint64_t round, bool *counted, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_statement *put = NULL;
    bool row = false;
    tacit_status status;
    *counted = false;
    /* A round of several steps has several answers, and counts once. */
    TACIT_CHECK(tacit_statement_open(
        &put, registry->store,
        "INSERT INTO answered VALUES (?1, ?3, ?2, ?4, ?4, 1) ON CONFLICT (party, version)"
        " DO UPDATE SET rounds = rounds + 1, last = ?4 WHERE last < ?4 RETURNING 1",
        TACIT_VALUES(tacit_sql_text(party), tacit_sql_text(study), tacit_sql_integer(version),
                     tacit_sql_integer((int64_t)round)),
        error));
    TACIT_CHECK(tacit_statement_step(&row, put, error));
    *counted = row;
    if (row) TACIT_CHECK(tacit_statement_step(&row, put, error)); /* to its end: then it is durable */
cleanup:
    tacit_statement_free(put);
    tacit_registry_unlock(registry);
    return status;
}

static tacit_status run_for_round(tacit_registry *registry, const char *sql, const char *party,
                                  unsigned version, uint64_t round, tacit_error *error) {
    return tacit_store_put(
        registry->store, sql,
        TACIT_VALUES(tacit_sql_text(party), tacit_sql_integer(version), tacit_sql_integer((int64_t)round)),
        error);
}

tacit_status tacit_registry_drop_round(tacit_registry *registry, const char *party, unsigned version,
                                       uint64_t round, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status;
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    TACIT_CHECK(run_for_round(
        registry, "DELETE FROM answered WHERE party = ?1 AND version = ?2 AND last = ?3 AND rounds = 1",
        party, version, round, error));
    TACIT_CHECK(run_for_round(registry,
                              "UPDATE answered SET rounds = rounds - 1, last = last - 1"
                              " WHERE party = ?1 AND version = ?2 AND last = ?3",
                              party, version, round, error));
cleanup:
    status = tacit_registry_finish(registry, status, error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_has_completed(tacit_registry *registry, const char *study, const char *party,
                                          bool *out, tacit_error *error) {
    tacit_registry_lock(registry);
    *out = false;
    tacit_status status = tacit_store_has(
        out, registry->store,
        "SELECT 1 FROM answered a JOIN study s ON s.name = ?2 AND a.version = s.version"
        " WHERE a.party = ?1 AND a.study = ?2 AND a.first + a.rounds >= coalesce((SELECT max(round) + 1"
        " FROM journal WHERE study = ?2 AND round < (1 << 62)), 0)",
        TACIT_VALUES(tacit_sql_text(party), tacit_sql_text(study)), error);
    tacit_registry_unlock(registry);
    return status;
}

/* ---- receipts ---- */

tacit_status tacit_registry_find_receipt(tacit_registry *registry, const char *party, const void *asked,
                                         size_t length, tacit_buffer *given, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_statement *get = NULL;
    const uint8_t *before;
    size_t size;
    bool row = false;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(&get, registry->store,
                                     "SELECT given, asked FROM receipt WHERE party = ?1",
                                     TACIT_VALUES(tacit_sql_text(party)), error));
    TACIT_CHECK(registry_take_bytes(get, &row, given, error));
    if (!row) goto cleanup;
    TACIT_CHECK(tacit_column_blob(&before, &size, get, 1, 4096, error));
    if (size != length || memcmp(before, asked, length) != 0)
        status = tacit_fail(error, TACIT_REFUSED,
                            "a receipt was given for this participation already: there is one for each");
cleanup:
    tacit_statement_free(get);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_keep_receipt(tacit_registry *registry, const char *study, const char *party,
                                         const void *asked, size_t length, const tacit_buffer *given,
                                         tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status = tacit_store_put(
        registry->store, "INSERT OR IGNORE INTO receipt VALUES (?1, ?2, ?3, ?4)",
        TACIT_VALUES(tacit_sql_text(party), tacit_sql_text(study), tacit_sql_blob(asked, length),
                     tacit_sql_blob(given->bytes, given->length)),
        error);
    tacit_registry_unlock(registry);
    return status;
}

static tacit_status say_redeemed(tacit_statement *get, tacit_error *error) {
    time_t at = (time_t)tacit_column_integer(get, 0);
    struct tm utc = { 0 };
    char day[32];
    gmtime_r(&at, &utc);
    strftime(day, sizeof day, "%Y-%m-%d at %H:%M", &utc);
    return tacit_fail(error, TACIT_REFUSED, "this receipt was redeemed on %s UTC: each is good once", day);
}

tacit_status tacit_registry_redeem_receipt(tacit_registry *registry, const char *study,
                                           const uint8_t receipt[TACIT_HASH_BYTES], int64_t now,
                                           tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_statement *get = NULL;
    bool row = false;
    tacit_status status;
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    TACIT_CHECK(tacit_statement_open(
        &get, registry->store, "SELECT at FROM redeemed WHERE study = ?1 AND receipt = ?2",
        TACIT_VALUES(tacit_sql_text(study), tacit_sql_blob(receipt, TACIT_HASH_BYTES)), error));
    TACIT_CHECK(tacit_statement_step(&row, get, error));
    if (row) TACIT_CHECK(say_redeemed(get, error));
    TACIT_CHECK(tacit_store_put(registry->store, "INSERT INTO redeemed VALUES (?1, ?2, ?3)",
                                TACIT_VALUES(tacit_sql_text(study), tacit_sql_blob(receipt, TACIT_HASH_BYTES),
                                             tacit_sql_integer(now)),
                                error));
cleanup:
    tacit_statement_free(get);
    status = tacit_registry_finish(registry, status, error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_count_receipts(tacit_registry *registry, const char *study, size_t *given,
                                           size_t *redeemed, tacit_error *error) {
    tacit_registry_lock(registry);
    bool row = false;
    int64_t found[2];
    tacit_status status = tacit_store_ask(&row, found, 2, registry->store,
                                          "SELECT (SELECT count(*) FROM receipt WHERE study = ?1),"
                                          " (SELECT count(*) FROM redeemed WHERE study = ?1)",
                                          TACIT_VALUES(tacit_sql_text(study)), error);
    tacit_registry_unlock(registry);
    if (status != TACIT_OK) return status;
    *given = (size_t)found[0];
    *redeemed = (size_t)found[1];
    return TACIT_OK;
}

/* ---- contact ---- */

tacit_status tacit_registry_keep_contact(tacit_registry *registry, const char *study, const char *party,
                                         const void *sealed, size_t length, int64_t now, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status =
        tacit_store_put(registry->store, "REPLACE INTO contact VALUES (?1, ?2, ?3, ?4)",
                        TACIT_VALUES(tacit_sql_text(party), tacit_sql_text(study),
                                     tacit_sql_blob(sealed, length), tacit_sql_integer(now)),
                        error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_contacts(tacit_registry *registry, const char *study, tacit_contact_visit *visit,
                                     void *context, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_statement *list = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(&list, registry->store,
                                     "SELECT sealed, at FROM contact WHERE study = ?1 ORDER BY at, sealed",
                                     TACIT_VALUES(tacit_sql_text(study)), error));
    while (tacit_statement_next(list, &status, error)) {
        const uint8_t *sealed;
        size_t length;
        TACIT_CHECK(tacit_column_blob(&sealed, &length, list, 0, 65536, error));
        TACIT_CHECK(visit(context, sealed, length, tacit_column_integer(list, 1), error));
    }
cleanup:
    tacit_statement_free(list);
    tacit_registry_unlock(registry);
    return status;
}
