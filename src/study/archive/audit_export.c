#include "study/archive/audit_export.h"

#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "net/clock.h"
#include "net/handover.h"
#include "net/identity.h"
#include "net/rotation.h"
#include "study/archive/audit_archive_parts.h"
#include "study/home.h"
#include "study/json_value.h"
#include "study/registry_parts.h"
#include "study/round_log.h"
#include "study/study.h"

enum { ANSWERS_BYTES_MOST = 1 << 28 };

void audit_chain(uint8_t hash[TACIT_HASH_BYTES], const void *record, size_t length) {
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, TACIT_HASH_BYTES);
    crypto_generichash_update(&state, hash, TACIT_HASH_BYTES);
    crypto_generichash_update(&state, record, length);
    crypto_generichash_final(&state, hash, TACIT_HASH_BYTES);
}

typedef struct writing {
    tacit_buffer *out;
    uint8_t hash[TACIT_HASH_BYTES];
    size_t lines;
} writing;

static tacit_status put_text(writing *self, const char *record, size_t length, tacit_error *error) {
    char hex[2 * TACIT_HASH_BYTES + 1];
    audit_chain(self->hash, record, length);
    sodium_bin2hex(hex, sizeof hex, self->hash, sizeof self->hash);
    TACIT_TRY(tacit_buffer_print(self->out, error, AUDIT_FIRST "%s" AUDIT_MIDDLE, hex));
    TACIT_TRY(tacit_buffer_append(self->out, record, length, error));
    self->lines++;
    return tacit_buffer_append(self->out, AUDIT_LAST, strlen(AUDIT_LAST), error);
}

/* Takes the record over; NULL stands for lack of memory. */
static tacit_status put(writing *self, json_t *record, tacit_error *error) {
    char *text = record != NULL ? json_dumps(record, JSON_COMPACT) : NULL;
    json_decref(record);
    if (text == NULL) return tacit_fail_memory(error);
    tacit_status status = put_text(self, text, strlen(text), error);
    free(text);
    return status;
}

static const char *hex_of(char out[2 * TACIT_HASH_BYTES + 1], const void *bytes, size_t length) {
    uint8_t hash[TACIT_HASH_BYTES];
    crypto_generichash(hash, sizeof hash, bytes, length, NULL, 0);
    return sodium_bin2hex(out, 2 * TACIT_HASH_BYTES + 1, hash, sizeof hash);
}

/* ---- of a study ---- */

/* Every row's one column is a record. Bound is the study's name. */
static tacit_status put_rows(writing *self, tacit_registry *registry, const char *study, const char *sql,
                             tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_statement *list = NULL;
    const char *text;
    tacit_status status;
    TACIT_CHECK(
        tacit_statement_open(&list, registry->store, sql, TACIT_VALUES(tacit_sql_text(study)), error));
    while (tacit_statement_next(list, &status, error)) {
        TACIT_CHECK(tacit_column_text(&text, list, 0, 1 << 20, error));
        TACIT_CHECK(put_text(self, text, strlen(text), error));
    }
cleanup:
    tacit_statement_free(list);
    tacit_registry_unlock(registry);
    return status;
}

/* A version of the definition, with the price that parties consented to. */
static tacit_status put_definition(writing *self, const tacit_authority *authority, int64_t version,
                                   int64_t replaced, const char *text, tacit_error *error) {
    tacit_study *study = NULL;
    tacit_prices prices = { .event = { .count = 0 } };
    tacit_buffer signature = TACIT_BUFFER_LIMITED(TACIT_SIGNATURE_BYTES_MAX);
    char hash[2 * TACIT_HASH_BYTES + 1], hex[2 * TACIT_SIGNATURE_BYTES_MAX + 1];
    tacit_status status;
    TACIT_CHECK(tacit_authority_sign(&signature, authority, TACIT_STUDY_PURPOSE, text, strlen(text), error));
    TACIT_CHECK(tacit_study_parse(&study, text, strlen(text), "the definition", error));
    TACIT_CHECK(tacit_plan_price(&study->plan, &prices, error));
    TACIT_CHECK(put(self,
                    json_pack("{s:s,s:I,s:s,s:s,s:o,s:s,s:s,s:I,s:o,s:o}", "kind", "definition", "version",
                              (json_int_t)version, "hash", hex_of(hash, text, strlen(text)), "signature",
                              sodium_bin2hex(hex, sizeof hex, signature.bytes, signature.length), "replaced",
                              replaced != 0 ? json_integer((json_int_t)replaced) : json_null(), "method",
                              study->plan.method->name, "text", text, "parties",
                              (json_int_t)study->plan.parties, "charged", tacit_json_price(&prices.charged),
                              "claimed", tacit_json_price(&prices.claimed)),
                    error));
cleanup:
    tacit_study_free(study);
    tacit_buffer_clear(&signature);
    return status;
}

static tacit_status put_definitions(writing *self, tacit_registry *registry, const tacit_authority *authority,
                                    const char *study, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_statement *list = NULL;
    const char *text;
    tacit_status status;
    TACIT_CHECK(
        tacit_statement_open(&list, registry->store,
                             "SELECT version, replaced, definition FROM earlier_version WHERE study = ?1"
                             " UNION ALL SELECT version, 0, definition FROM study WHERE name = ?1 ORDER BY 1",
                             TACIT_VALUES(tacit_sql_text(study)), error));
    while (tacit_statement_next(list, &status, error)) {
        TACIT_CHECK(tacit_column_text(&text, list, 2, 1 << 28, error));
        TACIT_CHECK(put_definition(self, authority, tacit_column_integer(list, 0),
                                   tacit_column_integer(list, 1), text, error));
    }
cleanup:
    tacit_statement_free(list);
    tacit_registry_unlock(registry);
    return status;
}

/* {"3": ["party-...", ...]}: who answered in which round. A line may be there twice, or cut off at the
 * end. */
static tacit_status read_answers(json_t **out, const char *folder, const char *study, tacit_error *error) {
    char path[PATH_MAX], key[24];
    tacit_buffer text = TACIT_BUFFER_LIMITED(ANSWERS_BYTES_MOST);
    json_t *rounds = json_object();
    tacit_status status;
    TACIT_CHECK(tacit_rounds_answers_path(path, sizeof path, folder, study, error));
    if (access(path, F_OK) == 0) TACIT_CHECK(tacit_file_read(path, &text, error));
    const char *end;
    for (const char *at = tacit_buffer_text(&text); (end = strchr(at, '\n')) != NULL; at = end + 1) {
        json_t *line = json_loadb(at, (size_t)(end - at), 0, NULL);
        const char *party = json_string_value(json_object_get(line, "party"));
        snprintf(key, sizeof key, "%lld", (long long)json_integer_value(json_object_get(line, "round")));
        json_t *who = json_object_get(rounds, key);
        if (party != NULL && who == NULL) json_object_set_new(rounds, key, who = json_object());
        if (party != NULL) json_object_set_new(who, party, json_true());
        json_decref(line);
    }
    *out = rounds;
    rounds = NULL;
cleanup:
    json_decref(rounds);
    tacit_buffer_clear(&text);
    return status;
}

static json_t *names_of(const json_t *who) {
    json_t *list = json_array(), *value;
    const char *name;
    json_object_foreach((json_t *)(uintptr_t)who, name, value) list =
        tacit_json_append(list, json_string(name));
    return list;
}

static tacit_status put_rounds(writing *self, const char *folder, const char *study, tacit_error *error) {
    json_t *written = NULL, *answers = NULL, *each;
    char key[24];
    size_t i;
    tacit_status status;
    TACIT_CHECK(tacit_rounds_read(&written, folder, study, error));
    TACIT_CHECK(read_answers(&answers, folder, study, error));
    json_array_foreach(json_object_get(written, "rounds"), i, each) {
        snprintf(key, sizeof key, "%lld", (long long)json_integer_value(json_object_get(each, "round")));
        json_t *record =
            json_pack("{s:s,s:o}", "kind", "round", "answered", names_of(json_object_get(answers, key)));
        if (record != NULL) json_object_update(record, each);
        TACIT_CHECK(put(self, record, error));
    }
    json_array_foreach(json_object_get(written, "published"), i, each) {
        json_t *record = json_pack("{s:s}", "kind", "release");
        if (record != NULL) json_object_update(record, each);
        TACIT_CHECK(put(self, record, error));
    }
cleanup:
    json_decref(written);
    json_decref(answers);
    return status;
}

static tacit_status put_model(writing *self, tacit_registry *registry, const tacit_study_record *record,
                              tacit_error *error) {
    tacit_buffer model = TACIT_BUFFER_INIT;
    char hash[2 * TACIT_HASH_BYTES + 1];
    tacit_status status = TACIT_OK;
    if (record->state == TACIT_STUDY_DONE) {
        TACIT_CHECK(tacit_registry_model(registry, record->name, &model, error));
        TACIT_CHECK(put(self,
                        json_pack("{s:s,s:s,s:s}", "kind", "model", "hash",
                                  hex_of(hash, model.bytes, model.length), "text", tacit_buffer_text(&model)),
                        error));
    }
    TACIT_CHECK(put(self,
                    json_pack("{s:s,s:s,s:s,s:I,s:I}", "kind", "state", "state",
                              tacit_study_state_name(record->state), "reason", record->reason, "version",
                              (json_int_t)record->version, "rounds", (json_int_t)record->rounds),
                    error));
cleanup:
    tacit_buffer_clear(&model);
    return status;
}

/* The hash before the end, and the number of lines, are what is signed. */
static tacit_status put_signed_end(writing *self, const tacit_authority *authority, tacit_error *error) {
    tacit_buffer signature = TACIT_BUFFER_LIMITED(TACIT_SIGNATURE_BYTES_MAX);
    char text[2 * TACIT_HASH_BYTES + 32], hash[2 * TACIT_HASH_BYTES + 1],
        hex[2 * TACIT_SIGNATURE_BYTES_MAX + 1];
    sodium_bin2hex(hash, sizeof hash, self->hash, sizeof self->hash);
    int length = snprintf(text, sizeof text, "%s %zu", hash, self->lines + 1);
    tacit_status status =
        tacit_authority_sign(&signature, authority, AUDIT_PURPOSE, text, (size_t)length, error);
    if (status == TACIT_OK)
        status =
            put(self,
                json_pack("{s:s,s:I,s:s}", "kind", "end", "lines", (json_int_t)self->lines + 1, "signature",
                          sodium_bin2hex(hex, sizeof hex, signature.bytes, signature.length)),
                error);
    tacit_buffer_clear(&signature);
    return status;
}

tacit_status tacit_audit_study(const char *folder, const char *study, tacit_buffer *out, tacit_error *error) {
    tacit_registry *registry = NULL;
    tacit_authority *authority = NULL;
    tacit_handovers chain = { .count = 0 };
    tacit_study_record record;
    char name[TACIT_ID_SIZE];
    writing self = { .out = out };
    tacit_status status;
    TACIT_CHECK(tacit_registry_open(&registry, folder, false, error));
    TACIT_CHECK(tacit_registry_study(registry, study, &record, NULL, error));
    TACIT_CHECK(tacit_registry_get(registry, "name", name, sizeof name, error));
    TACIT_CHECK(tacit_authority_load(&authority, folder, error));
    TACIT_CHECK(tacit_handovers_load(&chain, folder, error));
    TACIT_CHECK(
        put(&self,
            json_pack("{s:s,s:s*,s:i,s:s,s:s,s:I,s:s}", "kind", "study", "handovers",
                      chain.count > 0 ? tacit_buffer_text(&chain.text) : NULL, "format", AUDIT_FORMAT,
                      "study", study, "coordinator", name, "made", (json_int_t)tacit_clock_wall_seconds(),
                      "authority", tacit_authority_pem(authority)),
            error));
    TACIT_CHECK(put_definitions(&self, registry, authority, study, error));
    TACIT_CHECK(put_rows(
        &self, registry, study,
        "SELECT json_object('kind', 'consent', 'party', name, 'called', nullif(called, ''), 'version',"
        " version, 'joined', joined, 'left', json(iif(away, 'true', 'false')), 'revoked', json(iif(revoked, "
        "'true', 'false')), 'certificate',"
        " fingerprint) FROM party WHERE study = ?1 ORDER BY number",
        error));
    TACIT_CHECK(put_rounds(&self, folder, study, error));
    TACIT_CHECK(
        put_rows(&self, registry, study,
                 "SELECT json_object('kind', 'revocation', 'party', party, 'certificate', fingerprint, 'at',"
                 " revoked) FROM revocation WHERE study = ?1 ORDER BY number",
                 error));
    TACIT_CHECK(put_model(&self, registry, &record, error));
    TACIT_CHECK(put_signed_end(&self, authority, error));
cleanup:
    tacit_authority_free(authority);
    tacit_handovers_clear(&chain);
    tacit_registry_close(registry);
    return status;
}

/* ---- of a party ---- */

json_t *audit_entry(const tacit_entry *entry, const uint8_t *body, size_t length,
                    const uint8_t hash[TACIT_HASH_BYTES]) {
    const tacit_release *about = &entry->about;
    char hex[2 * TACIT_HASH_BYTES + 1], definition[2 * TACIT_HASH_BYTES + 1],
        payload[2 * TACIT_HASH_BYTES + 1];
    size_t size = sodium_base64_ENCODED_LEN(length, sodium_base64_VARIANT_ORIGINAL);
    char *encoded = TACIT_NEW(char, size);
    if (encoded == NULL) return NULL;
    sodium_bin2base64(encoded, size, body, length, sodium_base64_VARIANT_ORIGINAL);
    json_t *record = json_pack(
        "{s:s,s:I,s:s,s:I,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:o,s:o,s:s,s:s,s:s,s:s}", "kind", "entry", "number",
        (json_int_t)entry->number, "entry", tacit_entry_kind_name(entry->kind), "time_ms",
        (json_int_t)entry->time, "source", tacit_json_escaped(entry->source), "coordinator",
        tacit_json_escaped(about->coordinator), "study", tacit_json_escaped(about->study), "method",
        tacit_json_escaped(about->method), "question", tacit_json_escaped(about->question), "round",
        (json_int_t)about->round, "rows", (json_int_t)about->rows, "price", tacit_json_price(&about->price),
        "reason", tacit_json_escaped(entry->reason), "definition",
        sodium_bin2hex(definition, sizeof definition, about->study_hash, sizeof about->study_hash), "payload",
        sodium_bin2hex(payload, sizeof payload, entry->payload_hash, sizeof entry->payload_hash), "body",
        encoded, "ledger", sodium_bin2hex(hex, sizeof hex, hash, TACIT_HASH_BYTES));
    free(encoded);
    return record;
}

static tacit_status put_entry(void *context, const tacit_entry *entry, const uint8_t *body, size_t length,
                              tacit_error *error) {
    return put(context, audit_entry(entry, body, length, entry->hash), error);
}

tacit_status tacit_audit_home(const char *home, tacit_buffer *out, tacit_error *error) {
    char path[PATH_MAX], head[2 * TACIT_HASH_BYTES + 1];
    tacit_ledger *ledger = NULL;
    tacit_verdict verdict;
    writing self = { .out = out };
    tacit_status status;
    TACIT_CHECK(tacit_path_join(path, sizeof path, home, TACIT_LEDGER_NAME, error));
    TACIT_CHECK(tacit_ledger_open(&ledger, path, "-", TACIT_LEDGER_READING, error));
    TACIT_CHECK(tacit_ledger_verify(&verdict, ledger, error)); /* a damaged one is not passed on as sound */
    TACIT_CHECK(put(&self,
                    json_pack("{s:s,s:i,s:I}", "kind", "ledger", "format", AUDIT_FORMAT, "made",
                              (json_int_t)tacit_clock_wall_seconds()),
                    error));
    TACIT_CHECK(tacit_ledger_bodies(ledger, put_entry, &self, error));
    TACIT_CHECK(put(&self,
                    json_pack("{s:s,s:I,s:s}", "kind", "end", "lines", (json_int_t)self.lines + 1, "head",
                              sodium_bin2hex(head, sizeof head, verdict.head, sizeof verdict.head)),
                    error));
cleanup:
    tacit_ledger_free(ledger);
    return status;
}
