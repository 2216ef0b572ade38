/* The owner's word: signed definitions, amended ones, consenting to them, and leaving. */
#include <dirent.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "net/identity.h"
#include "privacy/gate.h"
#include "privacy/ledger/ledger.h"
#include "session/wire/wire.h"
#include "site/site_parts.h"
#include "study/home.h"
#include "tacit.pb-c.h"

enum { LEAVE_MS = 10000 };

static tacit_status check_signed(const tacit_buffer *authority, const void *text, size_t length,
                                 const void *signature, size_t signature_length, tacit_error *error) {
    tacit_error why = TACIT_ERROR_INIT;
    tacit_status status = tacit_authority_check(authority->bytes, authority->length, TACIT_STUDY_PURPOSE,
                                                text, length, signature, signature_length, &why);
    if (status != TACIT_REFUSED) return tacit_fail(error, status, "%s", why.text);
    return tacit_fail(error, TACIT_REFUSED,
                      "the study's definition is not signed by the coordinator that sent the invitation "
                      "(%s): ask the coordinator for a new invitation",
                      why.text);
}

tacit_status site_check_signed(const tacit_site *site, const char *text, size_t length, const void *signature,
                               size_t signature_length, tacit_error *error) {
    return check_signed(&site->authority, text, length, signature, signature_length, error);
}

tacit_status site_check_kept(const tacit_site *site, const tacit_buffer *text, const tacit_buffer *signature,
                             tacit_error *error) {
    return check_signed(&site->every, text->bytes, text->length, signature->bytes, signature->length, error);
}

tacit_status site_check_signature(const tacit_site *site, tacit_error *error) {
    return site_check_kept(site, &site->study->canonical, &site->signature, error);
}

tacit_status site_keep_amended(tacit_site *site, const char *definition, const uint8_t *signature,
                               size_t signature_length, tacit_error *error) {
    tacit_study *study = NULL;
    const size_t length = strlen(definition);
    tacit_status status;
    TACIT_CHECK(site_check_signed(site, definition, length, signature, signature_length, error));
    TACIT_CHECK(tacit_study_parse(&study, definition, length, "the amended study", error));
    if (strcmp(study->name, site->study->name) != 0)
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "study '%s' was amended into another, '%s'",
                               site->study->name, study->name));
    TACIT_CHECK(site_write_kept(site, SITE_AMENDED_SIGNATURE_FILE, signature, signature_length, error));
    TACIT_CHECK(site_write_kept(site, SITE_AMENDED_FILE, (const uint8_t *)definition, length, error));
cleanup:
    tacit_study_free(study);
    return status;
}

/* ---- consenting to an amended study ---- */

tacit_status site_read_amended(const tacit_site *site, tacit_study **out, tacit_buffer *signature,
                               tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_STUDY_BYTES_LIMIT);
    tacit_study *study = NULL;
    tacit_status status;
    TACIT_CHECK(site_read_file(site, SITE_AMENDED_FILE, &text, error));
    TACIT_CHECK(site_read_file(site, SITE_AMENDED_SIGNATURE_FILE, signature, error));
    TACIT_CHECK(site_check_kept(site, &text, signature, error));
    TACIT_CHECK(tacit_study_parse(&study, tacit_buffer_text(&text), text.length, SITE_AMENDED_FILE, error));
    *out = study;
    study = NULL;
cleanup:
    tacit_study_free(study);
    tacit_buffer_clear(&text);
    return status;
}

/* A newer version than the one that was last consented to is kept. */
static tacit_status keep_newer(tacit_site *site, const Tacit__Wire__Amended *amended, tacit_error *error) {
    uint8_t hash[TACIT_HASH_BYTES];
    crypto_generichash(hash, sizeof hash, (const uint8_t *)amended->definition, strlen(amended->definition),
                       NULL, 0);
    if (memcmp(hash, site->study->hash, sizeof hash) == 0) return TACIT_OK;
    return site_keep_amended(site, amended->definition, amended->signature.data, amended->signature.len,
                             error);
}

/* A study may have been amended, which no party that has withdrawn, or left when it ended, hears of by
 * itself: its coordinator is asked once. Nothing is said of consent, which is not given yet. False: it could
 * not be asked. */
static bool hear_amended(tacit_site *site) {
    Tacit__Wire__PollRequest request = TACIT__WIRE__POLL_REQUEST__INIT;
    Tacit__Wire__PollReply *reply = NULL;
    tacit_carried carried = { .reply = TACIT_BUFFER_LIMITED(TACIT_WIRE_LIMIT) };
    tacit_carrier *carrier = NULL;
    unsigned version;
    request.study = site->study->name;
    request.wait_ms = 1;
    bool heard = site_carrier(site, true, NULL, &carrier, NULL) == TACIT_OK &&
                 site_send(carrier, TACIT_ENDPOINT_POLL, &request, LEAVE_MS, &carried, NULL) == TACIT_OK;
    if (heard && carried.result == TACIT_RESULT_DONE)
        heard = tacit_wire_hear((void **)&reply, &tacit__wire__poll_reply__descriptor, &carried.reply,
                                &version, NULL) == TACIT_OK;
    if (reply != NULL && reply->event_case == TACIT__WIRE__POLL_REPLY__EVENT_AMENDED)
        heard = keep_newer(site, reply->amended, NULL) == TACIT_OK;
    tacit_wire_free(reply);
    tacit_carrier_free(carrier);
    tacit_buffer_clear(&carried.reply);
    return heard;
}

/* In place of the definition that was consented to before. What the ledger and the folder keep for the study
 * belongs to one version, so this one has an id of its own: its price is counted beside that of the
 * earlier. */
static tacit_status take_amended(tacit_site *site, tacit_error *error) {
    tacit_study *study = NULL;
    char version[9];
    site->signature.length = 0;
    TACIT_TRY(site_read_amended(site, &study, &site->signature, error));
    tacit_study_free(site->study);
    site->study = study;
    sodium_bin2hex(version, sizeof version, study->hash, 4);
    memcpy(site->earlier, site->id, sizeof site->earlier);
    site->id[strcspn(site->id, "+")] = 0;
    size_t used = strlen(site->id);
    snprintf(site->id + used, sizeof site->id - used, "+%s", version);
    return TACIT_OK;
}

/* An amended study may say otherwise what columns are: the owner names a file that agrees, or has it
 * written. */
static tacit_status take_schema(tacit_site *site, const char *path, tacit_error *error) {
    char *copy = tacit_copy_text(path);
    if (copy == NULL) return tacit_fail_memory(error);
    free(site->schema_path);
    site->schema_path = copy;
    return access(path, F_OK) == 0 ? TACIT_OK : tacit_study_write_schema(site->study, path, error);
}

/* A method without roles takes none; the one of before is then no more. */
static tacit_status take_word(tacit_site *site, const tacit_site_word *word, tacit_error *error) {
    char *role = NULL;
    if (word == NULL) return TACIT_OK;
    site->allow_entrusted = site->allow_entrusted || word->allow_entrusted;
    site->allow_exact = site->allow_exact || word->allow_exact;
    site->allow_difference = site->allow_difference || word->allow_difference;
    site->allow_neighbours = site->allow_neighbours || word->allow_neighbours;
    site->allow_site = site->allow_site || word->allow_site;
    site->allow_reuse = site->allow_reuse || word->allow_reuse;
    if (word->schema != NULL) TACIT_TRY(take_schema(site, word->schema, error));
    if (word->role == NULL && site->study->plan.method->roles != NULL) return TACIT_OK;
    if (word->role != NULL && (role = tacit_copy_text(word->role)) == NULL) return tacit_fail_memory(error);
    free(site->role);
    site->role = role;
    return role != NULL ? site_check_role(site, error) : TACIT_OK;
}

tacit_status tacit_site_review(tacit_site **out, tacit_site_version *found, const char *home,
                               const char *study, const tacit_site_word *word,
                               const tacit_site_callbacks *callbacks, tacit_error *error) {
    tacit_site *site = NULL;
    tacit_status status;
    TACIT_CHECK(site_open_folder(&site, home, study, error));
    site->callbacks = *callbacks;
    const bool asks = !site_goes_by_files(site) && (word != NULL || site_file_exists(site, SITE_ENDED_FILE));
    const bool heard = asks && !site_file_exists(site, SITE_AMENDED_FILE) && hear_amended(site);
    const bool amended = site_file_exists(site, SITE_AMENDED_FILE);
    *found = amended ? TACIT_SITE_AMENDED : heard ? TACIT_SITE_UNCHANGED : TACIT_SITE_UNASKED;
    if (amended) TACIT_CHECK(take_amended(site, error));
    TACIT_CHECK(take_word(site, word, error));
    if (amended && site_check_role(site, NULL) != TACIT_OK)
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED,
                               "study '%s' was amended to method %s, in which this party has no role: say "
                               "which of %s it is (tacit consent %s --role ROLE)",
                               site->study->name, site->study->plan.method->name,
                               site->study->plan.method->roles, site->study->name));
    TACIT_CHECK(site_load_rows(site, error));
    TACIT_CHECK(site_compare_schemas(site, error));
    *out = site;
    site = NULL;
cleanup:
    tacit_site_free(site);
    return status;
}

/* Files that outlast an amendment. All others are of the rounds of an earlier version. */
static bool stays(const char *name) {
    static const char *const kept[] = {
        SITE_AUTHORITY_FILE,   SITE_HANDOVER_FILE,     SITE_STOLEN_FILE,
        SITE_TRUST_FILE,       SITE_KEY_FILE,          SITE_REQUEST_FILE,
        SITE_CERTIFICATE_FILE, SITE_DEFINITION_FILE,   SITE_SIGNATURE_FILE,
        SITE_DOCUMENT_FILE,    SITE_AMENDED_FILE,      SITE_AMENDED_SIGNATURE_FILE,
        SITE_SETTINGS_FILE,    SITE_SUM_KEY_FILE,      SITE_NUMBER_FILE,
        SITE_NEXT_KEY_FILE,    SITE_NEXT_REQUEST_FILE, SITE_NEXT_CERTIFICATE_FILE,
        SITE_LOCK_FILE,        SITE_REVOKED_FILE,      SITE_BOX_FILE,
        SITE_BY_PAGE_FILE
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (strcmp(name, kept[i]) == 0) return true;
    return name[0] == '.';
}

static tacit_status clear_rounds(const tacit_site *site, tacit_error *error) {
    char path[PATH_MAX];
    tacit_status status = TACIT_OK;
    DIR *folder = opendir(site->folder);
    if (folder == NULL) return tacit_fail_errno(error, "reading", site->folder);
    for (const struct dirent *entry; status == TACIT_OK && (entry = readdir(folder)) != NULL;) {
        if (stays(entry->d_name)) continue;
        status = site_path(site, entry->d_name, path, error);
        if (status == TACIT_OK && unlink(path) != 0) status = tacit_fail_errno(error, "removing", path);
    }
    closedir(folder);
    return status;
}

/* The amended files go last: until then everything here is done again by the same call, and nothing is
 * answered (site_is_adopting). */
static tacit_status adopt_amended(tacit_site *site, tacit_error *error) {
    char amended[PATH_MAX], signature[PATH_MAX];
    TACIT_TRY(site_path(site, SITE_AMENDED_FILE, amended, error));
    TACIT_TRY(site_path(site, SITE_AMENDED_SIGNATURE_FILE, signature, error));
    TACIT_TRY(clear_rounds(site, error));
    TACIT_TRY(site_save(site, error));
    if (unlink(amended) != 0) return tacit_fail_errno(error, "removing", amended);
    unlink(signature);
    return TACIT_OK;
}

bool site_is_adopting(const tacit_site *site) {
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_STUDY_BYTES_LIMIT);
    uint8_t hash[TACIT_HASH_BYTES];
    bool same = false;
    if (site_file_exists(site, SITE_AMENDED_FILE) &&
        site_read_file(site, SITE_AMENDED_FILE, &text, NULL) == TACIT_OK) {
        crypto_generichash(hash, sizeof hash, text.bytes, text.length, NULL, 0);
        same = memcmp(hash, site->study->hash, sizeof hash) == 0;
    }
    tacit_buffer_clear(&text);
    return same;
}

tacit_status tacit_site_consent(tacit_site *site, tacit_error *error) {
    TACIT_TRY(site_record_consent(site, error));
    if (!site_file_exists(site, SITE_AMENDED_FILE)) return site_save_settings(site, error);
    /* who consents to an amended condition tells that it holds */
    TACIT_TRY(site_state_eligible(site, error));
    return adopt_amended(site, error);
}

const char *tacit_site_id(const tacit_site *site) { return site->id; }

/* ---- joining ---- */

static bool is_named(const tacit_site *site, const char *name) {
    return strncmp(name, site->id, strlen(name)) == 0 && site->id[strlen(name)] == '@';
}

tacit_status site_check_name(tacit_site *site, tacit_error *error) {
    const tacit_study *study = site->study;
    if (is_named(site, study->name)) return TACIT_OK;
    if (study->validates[0] == 0 || !is_named(site, study->validates))
        return tacit_fail(error, TACIT_PROTOCOL,
                          "the invitation is to study '%s', but the coordinator offers '%s'", site->id,
                          study->name);
    char fingerprint[TACIT_SITE_ID_SIZE];
    snprintf(fingerprint, sizeof fingerprint, "%s", strchr(site->id, '@') + 1);
    return site_set_id(site, study->name, fingerprint, error);
}

tacit_status site_check_newcomer(const tacit_site *site, tacit_error *error) {
    const char *validates = site->study->validates, *at = strchr(site->id, '@');
    tacit_site *earlier = NULL;
    char id[TACIT_SITE_ID_SIZE];
    if (validates[0] == 0 || at == NULL || snprintf(id, sizeof id, "%s%s", validates, at) >= (int)sizeof id ||
        site_open_folder(&earlier, site->home, id, NULL) != TACIT_OK)
        return TACIT_OK;
    tacit_site_free(earlier);
    return tacit_fail(
        error, TACIT_REFUSED,
        "you took part in study '%s', and this one tries its model on people who did not: there is "
        "nothing more to do for you",
        validates);
}

/* That this party is eligible, which was found out here (tacit_site_check), passes the gate before it is
 * said. */
tacit_status site_state_eligible(const tacit_site *site, tacit_error *error) {
    tacit_ledger *ledger = NULL;
    tacit_gate gate;
    site_rules owner;
    char path[PATH_MAX];
    tacit_release about = { .study = site->id,
                            .coordinator = site->coordinator,
                            .method = site->study->plan.method->name,
                            .question = "eligible" };
    tacit_status status;
    if (site->study->eligible == NULL) return TACIT_OK;
    memcpy(about.study_hash, site->study->hash, sizeof about.study_hash);
    TACIT_CHECK(site_read_rules(site, &owner, error));
    TACIT_CHECK(tacit_path_join(path, sizeof path, site->home, TACIT_LEDGER_NAME, error));
    TACIT_CHECK(tacit_ledger_open(&ledger, path, site->source, TACIT_LEDGER_EXISTING, error));
    TACIT_CHECK(tacit_gate_init(&gate, ledger, &owner.policy, TACIT_GATE_REAL, error));
    TACIT_CHECK(tacit_gate_state_fact(&gate, &about, error));
cleanup:
    tacit_ledger_free(ledger);
    return status;
}

/* ---- leaving ---- */

tacit_status site_notify_leaving(const tacit_site *site, tacit_error *error) {
    Tacit__Wire__PollRequest request = TACIT__WIRE__POLL_REQUEST__INIT;
    tacit_carried carried = { .reply = TACIT_BUFFER_LIMITED(1 << 20) };
    tacit_carrier *carrier = NULL;
    tacit_status status;
    request.study = site->study->name;
    request.leaving = true;
    TACIT_CHECK(site_carrier(site, true, NULL, &carrier, error));
    TACIT_CHECK(site_send(carrier, TACIT_ENDPOINT_POLL, &request, LEAVE_MS, &carried, error));
    if (carried.result != TACIT_RESULT_NOTHING) status = site_said_no(&carried, error);
cleanup:
    tacit_carrier_free(carrier);
    tacit_buffer_clear(&carried.reply);
    return status;
}

tacit_status tacit_site_withdraw(const char *home, const char *study, const tacit_site_callbacks *callbacks,
                                 char id[TACIT_SITE_ID_SIZE], bool *told, tacit_error *error) {
    tacit_site *site = NULL;
    tacit_ledger *ledger = NULL;
    char path[PATH_MAX];
    tacit_status status;
    TACIT_CHECK(site_open_folder(&site, home, study, error));
    TACIT_CHECK(tacit_path_join(path, sizeof path, home, TACIT_LEDGER_NAME, error));
    TACIT_CHECK(tacit_ledger_open(&ledger, path, site->source, TACIT_LEDGER_EXISTING, error));
    TACIT_CHECK(tacit_ledger_withdraw(ledger, site->id, error));
    if (callbacks != NULL) tacit_site_set_paused(site, callbacks->paused, callbacks->paused_context);
    *told = site_notify_leaving(site, NULL) == TACIT_OK;
    memcpy(id, site->id, sizeof site->id);
cleanup:
    tacit_ledger_free(ledger);
    tacit_site_free(site);
    return status;
}
