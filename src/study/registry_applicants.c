/* People who ask to join a study that takes strangers, what was decided about them, and who may be asked
 * again. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "study/registry_parts.h"

/* How far back the rate looks, and how long an accepted applicant has time to join. */
enum { MINUTE_S = 60, ACCEPTED_S = 7 * 86400 };

const char *tacit_applicant_state_name(tacit_applicant_state state) {
    static const char *const names[] = { "waiting", "accepted", "declined" };
    return names[state];
}

static tacit_status find_state(tacit_registry *registry, const uint8_t *token_hash, bool *found,
                               tacit_applicant_state *out, tacit_error *error) {
    int64_t state;
    TACIT_TRY(tacit_store_ask(found, &state, 1, registry->store,
                              "SELECT state FROM applicant WHERE token_hash = ?1",
                              TACIT_VALUES(tacit_sql_blob(token_hash, TACIT_TOKEN_HASH_BYTES)), error));
    if (*found) *out = (tacit_applicant_state)state;
    return TACIT_OK;
}

tacit_status tacit_registry_say_unknown(tacit_registry *registry, const uint8_t *token_hash,
                                        tacit_error *error) {
    tacit_applicant_state state = TACIT_APPLICANT_WAITING;
    bool found = false;
    TACIT_TRY(find_state(registry, token_hash, &found, &state, error));
    if (!found)
        return tacit_fail(error, TACIT_REFUSED, "this invitation is not known here; ask for a new one");
    return tacit_fail(error, TACIT_REFUSED,
                      state == TACIT_APPLICANT_DECLINED
                          ? "the researchers have declined this application"
                          : "the researchers have not answered this application yet: try again later");
}

static tacit_status count_applicants(tacit_registry *registry, const char *query, const char *study,
                                     int64_t since, uint64_t *out, tacit_error *error) {
    bool row = false;
    int64_t found = 0;
    TACIT_TRY(tacit_store_ask(&row, &found, 1, registry->store, query,
                              TACIT_VALUES(tacit_sql_text(study), tacit_sql_integer(since)), error));
    *out = (uint64_t)found;
    return TACIT_OK;
}

/* The rate is counted in the file, so that restarting the program buys nobody a second helping. */
static tacit_status check_room(tacit_registry *registry, const tacit_application *application, int64_t now,
                               tacit_error *error) {
    uint64_t lately = 0, waiting = 0;
    TACIT_TRY(count_applicants(registry, "SELECT count(*) FROM applicant WHERE study = ?1 AND asked > ?2",
                               application->study, now - MINUTE_S, &lately, error));
    if (application->per_minute > 0 && lately >= application->per_minute)
        return tacit_fail(
            error, TACIT_REFUSED,
            "%zu people have asked to join study '%s' in the last minute, and no more are taken "
            "at a time: try again in a minute",
            application->per_minute, application->study);
    if (application->share > 0)
        return tacit_fail(
            error, TACIT_REFUSED,
            "%zu people have asked to join study '%s' from your address in the last minute, and others are "
            "to have a turn: try again in a minute",
            application->share, application->study);
    if (application->at_once) return TACIT_OK; /* nobody waits */
    TACIT_TRY(count_applicants(registry,
                               "SELECT count(*) FROM applicant WHERE study = ?1 AND state = 0 AND asked > ?2",
                               application->study, 0, &waiting, error));
    if (waiting < TACIT_APPLICANTS_WAITING) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED, "%d people wait for an answer of study '%s': try again later",
                      TACIT_APPLICANTS_WAITING, application->study);
}

static tacit_status check_recruits(tacit_registry *registry, const char *study, tacit_error *error) {
    bool row = false;
    int64_t found;
    TACIT_TRY(tacit_store_ask(&row, &found, 1, registry->store, "SELECT state FROM study WHERE name = ?1",
                              TACIT_VALUES(tacit_sql_text(study)), error));
    const tacit_study_state state = (tacit_study_state)found;
    if (!row || state == TACIT_STUDY_DRAFT) /* of a draft a stranger hears nothing */
        return tacit_fail(error, TACIT_REFUSED, "there is no study '%.40s' that takes strangers", study);
    if (state != TACIT_STUDY_RECRUITING)
        return tacit_fail(error, TACIT_REFUSED, "study '%s' is %s and takes no new parties", study,
                          tacit_study_state_name(state));
    return TACIT_OK;
}

static tacit_status put_applicant(tacit_registry *registry, const tacit_application *application, int64_t now,
                                  tacit_applicant_state state, tacit_error *error) {
    return tacit_store_put(
        registry->store,
        "INSERT INTO applicant (token_hash, study, words, asked, state) VALUES (?1, ?2, ?3, ?4, ?5)",
        TACIT_VALUES(tacit_sql_blob(application->token_hash, TACIT_TOKEN_HASH_BYTES),
                     tacit_sql_text(application->study), tacit_sql_text(application->words),
                     tacit_sql_integer(now), tacit_sql_integer(state)),
        error);
}

/* From an applicant's token an invitation. */
static tacit_status put_invitation(tacit_registry *registry, const uint8_t *token_hash, const char *study,
                                   int64_t now, tacit_error *error) {
    return tacit_store_put(registry->store,
                           "INSERT INTO invitation (token_hash, study, expires) VALUES (?1, ?2, ?3)",
                           TACIT_VALUES(tacit_sql_blob(token_hash, TACIT_TOKEN_HASH_BYTES),
                                        tacit_sql_text(study), tacit_sql_integer(now + ACCEPTED_S)),
                           error);
}

/* Whoever was accepted and did not come in time asks again, with another token. */
static tacit_status check_in_time(tacit_registry *registry, const uint8_t *token_hash, int64_t now,
                                  tacit_error *error) {
    bool late = false;
    tacit_status status;
    TACIT_CHECK(tacit_store_has(
        &late, registry->store,
        "SELECT 1 FROM invitation WHERE token_hash = ?1 AND party IS NULL AND expires <= ?2",
        TACIT_VALUES(tacit_sql_blob(token_hash, TACIT_TOKEN_HASH_BYTES), tacit_sql_integer(now)), error));
    if (late)
        TACIT_CHECK(
            tacit_fail(error, TACIT_REFUSED,
                       "this application was accepted, and the seven days to join have passed: remove "
                       "its invitation, and ask again"));
cleanup:
    return status;
}

tacit_status tacit_registry_apply(tacit_registry *registry, const tacit_application *application, int64_t now,
                                  tacit_applicant_state *out, bool *fresh, tacit_error *error) {
    bool found = false;
    tacit_status status;
    *fresh = false;
    if (application->words[0] != 0)
        TACIT_TRY(tacit_name_check("what you say to the researchers", application->words,
                                   TACIT_APPLICANT_WORDS, error));
    tacit_registry_lock(registry);
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    TACIT_CHECK(find_state(registry, application->token_hash, &found, out, error));
    if (found) TACIT_CHECK(check_in_time(registry, application->token_hash, now, error));
    if (!found) {
        *out = application->at_once ? TACIT_APPLICANT_ACCEPTED : TACIT_APPLICANT_WAITING;
        TACIT_CHECK(check_recruits(registry, application->study, error));
        TACIT_CHECK(check_room(registry, application, now, error));
        TACIT_CHECK(put_applicant(registry, application, now, *out, error));
        if (application->at_once)
            TACIT_CHECK(put_invitation(registry, application->token_hash, application->study, now, error));
        *fresh = true;
    }
cleanup:
    status = tacit_registry_finish(registry, status, error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_applicants(tacit_registry *registry, const char *study,
                                       tacit_applicant_visit *visit, void *context, tacit_error *error) {
    tacit_statement *list = NULL;
    uint8_t hash[TACIT_TOKEN_HASH_BYTES];
    tacit_status status;
    tacit_registry_lock(registry);
    TACIT_CHECK(tacit_statement_open(
        &list, registry->store,
        "SELECT token_hash, words, asked, state FROM applicant WHERE study = ?1 ORDER BY asked, token_hash",
        TACIT_VALUES(tacit_sql_text(study)), error));
    while (tacit_statement_next(list, &status, error)) {
        tacit_applicant each;
        TACIT_CHECK(tacit_column_bytes(hash, sizeof hash, list, 0, error));
        sodium_bin2hex(each.id, sizeof each.id, hash, (TACIT_APPLICANT_ID_SIZE - 1) / 2);
        TACIT_CHECK(tacit_column_text(&each.words, list, 1, TACIT_APPLICANT_WORDS, error));
        each.asked = tacit_column_integer(list, 2);
        each.state = (tacit_applicant_state)tacit_column_integer(list, 3);
        TACIT_CHECK(visit(context, &each, error));
    }
cleanup:
    tacit_statement_free(list);
    tacit_registry_unlock(registry);
    return status;
}

/* ---- deciding ---- */

static tacit_status set_state(tacit_registry *registry, const uint8_t *token_hash,
                              tacit_applicant_state state, tacit_error *error) {
    return tacit_store_put(
        registry->store, "UPDATE applicant SET state = ?2 WHERE token_hash = ?1",
        TACIT_VALUES(tacit_sql_blob(token_hash, TACIT_TOKEN_HASH_BYTES), tacit_sql_integer(state)), error);
}

static tacit_status find_applicant(tacit_registry *registry, const char *study, const char *id,
                                   uint8_t token_hash[TACIT_TOKEN_HASH_BYTES], tacit_applicant_state *state,
                                   tacit_error *error) {
    tacit_statement *get = NULL;
    bool row = false;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(&get, registry->store,
                                     "SELECT token_hash, state FROM applicant WHERE study = ?1"
                                     " AND lower(hex(substr(token_hash, 1, 8))) = ?2",
                                     TACIT_VALUES(tacit_sql_text(study), tacit_sql_text(id)), error));
    TACIT_CHECK(tacit_statement_step(&row, get, error));
    if (!row)
        TACIT_CHECK(
            tacit_fail(error, TACIT_NOT_FOUND,
                       "nobody with the number '%.20s' has asked to join study '%s': see `tacit study "
                       "applicants`",
                       id, study));
    TACIT_CHECK(tacit_column_bytes(token_hash, TACIT_TOKEN_HASH_BYTES, get, 0, error));
    *state = (tacit_applicant_state)tacit_column_integer(get, 1);
cleanup:
    tacit_statement_free(get);
    return status;
}

tacit_status tacit_registry_decide(tacit_registry *registry, const char *study, const char *id, bool accept,
                                   int64_t now, tacit_error *error) {
    uint8_t hash[TACIT_TOKEN_HASH_BYTES];
    tacit_applicant_state state = TACIT_APPLICANT_WAITING;
    tacit_status status;
    tacit_registry_lock(registry);
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    TACIT_CHECK(find_applicant(registry, study, id, hash, &state, error));
    if (state != TACIT_APPLICANT_WAITING)
        TACIT_CHECK(
            tacit_fail(error, TACIT_USAGE, "'%s' was %s before", id, tacit_applicant_state_name(state)));
    if (accept) TACIT_CHECK(check_recruits(registry, study, error));
    TACIT_CHECK(
        set_state(registry, hash, accept ? TACIT_APPLICANT_ACCEPTED : TACIT_APPLICANT_DECLINED, error));
    if (accept) TACIT_CHECK(put_invitation(registry, hash, study, now, error));
cleanup:
    status = tacit_registry_finish(registry, status, error);
    tacit_registry_unlock(registry);
    return status;
}

/* ---- who may be asked again ---- */

tacit_status tacit_registry_set_ask_again(tacit_registry *registry, const char *party, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status = tacit_store_put(registry->store, "UPDATE party SET ask_again = 1 WHERE name = ?1",
                                          TACIT_VALUES(tacit_sql_text(party)), error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_may_ask(tacit_registry *registry, const char *party, const char *archived,
                                    bool *out, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status =
        tacit_store_has(out, registry->store,
                        "SELECT 1 FROM party p JOIN archived a ON a.study = p.study"
                        " WHERE p.name = ?1 AND a.id = ?2 AND p.ask_again = 1 AND p.revoked = 0",
                        TACIT_VALUES(tacit_sql_text(party), tacit_sql_text(archived)), error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_move_invitations(tacit_registry *registry, const char *from, const char *to,
                                             tacit_error *error) {
    static const char *const moves[] = {
        "UPDATE invitation SET study = ?2 WHERE study = ?1 AND party IS NULL",
        "UPDATE applicant SET study = ?2 WHERE study = ?1 AND state = 0"
    };
    tacit_statement *put = NULL;
    tacit_status status;
    tacit_registry_lock(registry);
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        TACIT_CHECK(tacit_statement_open(&put, registry->store, moves[i],
                                         TACIT_VALUES(tacit_sql_text(from), tacit_sql_text(to)), error));
        TACIT_CHECK(tacit_statement_run(put, error));
        put = tacit_statement_free(put);
    }
cleanup:
    tacit_statement_free(put);
    status = tacit_registry_finish(registry, status, error);
    tacit_registry_unlock(registry);
    return status;
}
