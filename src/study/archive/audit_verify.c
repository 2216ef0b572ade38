/* Checking an archive (study/archive/audit_export.h) without anything but its own bytes. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "net/handover.h"
#include "study/archive/audit_archive_parts.h"
#include "study/study.h"

enum { ARCHIVE_BYTES_MOST = 1 << 30 };

typedef struct reading {
    const char *path;
    tacit_audit_verdict *verdict;
    uint8_t hash[TACIT_HASH_BYTES];   /* of the archive so far */
    uint8_t ledger[TACIT_HASH_BYTES]; /* and of the ledger in it */
    tacit_buffer authority;
    tacit_handovers chain; /* that leads to it; may be empty */
    uint64_t entries;
    bool ended;
} reading;

static tacit_status wrong(const reading *self, const char *what, tacit_error *error) {
    return tacit_fail(error, TACIT_CORRUPT, "line %zu of %s %s: it is not the archive that was made",
                      self->verdict->lines + 1, self->path, what);
}

static const char *text_of(const json_t *record, const char *key) {
    const char *text = json_string_value(json_object_get(record, key));
    return text != NULL ? text : "";
}

static bool has_hash(const json_t *record, const char *key, const char *text) {
    uint8_t hash[TACIT_HASH_BYTES];
    char hex[2 * TACIT_HASH_BYTES + 1];
    crypto_generichash(hash, sizeof hash, (const uint8_t *)text, strlen(text), NULL, 0);
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    return strcmp(text_of(record, key), hex) == 0;
}

/* `what` is said of the line unless the authority has signed the text. */
static tacit_status check_signed(const reading *self, const char *purpose, const char *text, const char *hex,
                                 const char *what, tacit_error *error) {
    uint8_t signature[TACIT_SIGNATURE_BYTES_MAX];
    size_t length = 0;
    const char *end = NULL;
    if (sodium_hex2bin(signature, sizeof signature, hex, strlen(hex), NULL, &length, &end) != 0 ||
        *end != 0 || length == 0)
        return wrong(self, what, error);
    tacit_status status = tacit_authority_check(self->authority.bytes, self->authority.length, purpose, text,
                                                strlen(text), signature, length, NULL);
    if (status == TACIT_NO_MEMORY) return tacit_fail_memory(error);
    return status == TACIT_OK ? TACIT_OK : wrong(self, what, error);
}

static tacit_status read_first(reading *self, const json_t *record, tacit_error *error) {
    tacit_audit_verdict *verdict = self->verdict;
    const char *pem = text_of(record, "authority");
    tacit_certificate_info info;
    if (json_integer_value(json_object_get(record, "format")) != AUDIT_FORMAT)
        return wrong(self, "is of another format", error);
    snprintf(verdict->kind, sizeof verdict->kind, "%s", text_of(record, "kind"));
    if (strcmp(verdict->kind, "ledger") == 0) return TACIT_OK;
    if (strcmp(verdict->kind, "study") != 0) return wrong(self, "is no beginning", error);
    snprintf(verdict->name, sizeof verdict->name, "%s", text_of(record, "study"));
    TACIT_TRY(tacit_buffer_append(&self->authority, pem, strlen(pem), error));
    tacit_status status = tacit_certificate_inspect(&info, pem, strlen(pem), NULL);
    if (status == TACIT_NO_MEMORY) return tacit_fail_memory(error);
    if (status != TACIT_OK) return wrong(self, "has no authority's certificate", error);
    memcpy(verdict->authority, info.fingerprint, sizeof info.fingerprint);
    const char *statements = text_of(record, "handovers");
    status = tacit_handovers_read(&self->chain, statements, strlen(statements), NULL);
    if (status == TACIT_NO_MEMORY) return tacit_fail_memory(error);
    const size_t count = self->chain.count;
    if (status != TACIT_OK ||
        (count > 0 && strcmp(self->chain.entries[count - 1].new.fingerprint, info.fingerprint) != 0))
        return wrong(self, "has hand-over statements that do not lead to its authority", error);
    return TACIT_OK;
}

/* The words must be what the bytes say, and the bytes what the ledger's chain says. */
static tacit_status read_entry(reading *self, const json_t *record, tacit_error *error) {
    const char *encoded = text_of(record, "body"), *end = NULL;
    size_t room = strlen(encoded) + 1, length = 0;
    uint8_t *body = TACIT_NEW(uint8_t, room);
    json_t *again = NULL;
    tacit_entry entry;
    bool no_memory = false;
    if (body == NULL) return tacit_fail_memory(error);
    bool fine = sodium_base642bin(body, room, encoded, strlen(encoded), NULL, &length, &end,
                                  sodium_base64_VARIANT_ORIGINAL) == 0 &&
                *end == 0 && tacit_ledger_read_body(&entry, body, length, NULL) == TACIT_OK;
    if (fine) {
        entry.number = ++self->entries;
        tacit_ledger_chain(self->ledger, body, length);
        again = audit_entry(&entry, body, length, self->ledger);
        no_memory = again == NULL;
        fine = json_equal(again, record);
    }
    json_decref(again);
    free(body);
    if (no_memory) return tacit_fail_memory(error);
    return fine ? TACIT_OK : wrong(self, "is not an entry of this ledger", error);
}

static tacit_status read_end(reading *self, const json_t *record, const uint8_t before[TACIT_HASH_BYTES],
                             tacit_error *error) {
    char hex[2 * TACIT_HASH_BYTES + 1], text[2 * TACIT_HASH_BYTES + 32];
    size_t lines = self->verdict->lines + 1;
    if ((size_t)json_integer_value(json_object_get(record, "lines")) != lines)
        return wrong(self, "counts other lines", error);
    if (strcmp(self->verdict->kind, "ledger") == 0) {
        sodium_bin2hex(hex, sizeof hex, self->ledger, sizeof self->ledger);
        if (strcmp(text_of(record, "head"), hex) != 0) return wrong(self, "has another head", error);
        memcpy(self->verdict->head, hex, sizeof hex);
    } else {
        sodium_bin2hex(hex, sizeof hex, before, TACIT_HASH_BYTES);
        snprintf(text, sizeof text, "%s %zu", hex, lines);
        TACIT_TRY(check_signed(self, AUDIT_PURPOSE, text, text_of(record, "signature"),
                               "is not signed by the authority", error));
        memcpy(self->verdict->head, hex, sizeof hex);
    }
    self->ended = true;
    return TACIT_OK;
}

static tacit_status read_record(reading *self, const json_t *record, const uint8_t before[TACIT_HASH_BYTES],
                                tacit_error *error) {
    const char *kind = text_of(record, "kind");
    if (self->verdict->lines == 0) return read_first(self, record, error);
    if (strcmp(kind, "end") == 0) return read_end(self, record, before, error);
    if (strcmp(self->verdict->kind, "ledger") == 0) return read_entry(self, record, error);
    if (strcmp(kind, "definition") == 0 && !has_hash(record, "hash", text_of(record, "text")))
        return wrong(self, "has a definition that was not signed so", error);
    if (strcmp(kind, "definition") == 0)
        return check_signed(self, TACIT_STUDY_PURPOSE, text_of(record, "text"), text_of(record, "signature"),
                            "has a definition that was not signed so", error);
    if (strcmp(kind, "model") == 0 && !has_hash(record, "hash", text_of(record, "text")))
        return wrong(self, "has another model", error);
    return TACIT_OK;
}

/* One line without its line feed. */
static tacit_status read_line(reading *self, const char *line, size_t length, tacit_error *error) {
    const size_t head = strlen(AUDIT_FIRST), middle = strlen(AUDIT_MIDDLE), hex = 2 * TACIT_HASH_BYTES;
    char expected[2 * TACIT_HASH_BYTES + 1];
    uint8_t before[TACIT_HASH_BYTES];
    if (self->ended) return wrong(self, "comes after the end", error);
    if (length < head + hex + middle + 3 || memcmp(line, AUDIT_FIRST, head) != 0 ||
        memcmp(line + head + hex, AUDIT_MIDDLE, middle) != 0 || line[length - 1] != '}')
        return wrong(self, "is no record", error);
    const char *text = line + head + hex + middle;
    size_t size = length - (size_t)(text - line) - 1;
    memcpy(before, self->hash, sizeof before);
    audit_chain(self->hash, text, size);
    sodium_bin2hex(expected, sizeof expected, self->hash, sizeof self->hash);
    if (memcmp(expected, line + head, hex) != 0)
        return wrong(self, "was changed, or one before it was removed", error);
    json_error_t problem;
    json_t *record = json_loadb(text, size, 0, &problem);
    if (record == NULL && json_error_code(&problem) == json_error_out_of_memory)
        return tacit_fail_memory(error);
    tacit_status status = json_is_object(record) ? read_record(self, record, before, error)
                                                 : wrong(self, "is no record", error);
    json_decref(record);
    if (status == TACIT_OK) self->verdict->lines++;
    return status;
}

static tacit_status check_signer(const reading *self, const char *file, tacit_error *error) {
    tacit_buffer pem = TACIT_BUFFER_LIMITED(TACIT_CERTIFICATE_BYTES_MAX);
    tacit_certificate_info info;
    tacit_status status;
    TACIT_CHECK(tacit_file_read(file, &pem, error));
    TACIT_CHECK(tacit_certificate_inspect(&info, pem.bytes, pem.length, error));
    if (strcmp(info.fingerprint, self->verdict->authority) != 0 &&
        !tacit_handovers_lead(&self->chain, info.fingerprint, self->verdict->authority))
        status =
            tacit_fail(error, TACIT_REFUSED, "%s is not signed by the authority of %s", self->path, file);
cleanup:
    tacit_buffer_clear(&pem);
    return status;
}

tacit_status tacit_audit_verify(const char *path, const char *authority, tacit_audit_verdict *out,
                                tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_LIMITED(ARCHIVE_BYTES_MOST);
    reading self = { .path = path, .verdict = out };
    tacit_status status;
    *out = (tacit_audit_verdict){ .lines = 0 };
    TACIT_CHECK(tacit_file_read(path, &text, error));
    const char *at = tacit_buffer_text(&text), *end = at + text.length, *feed;
    for (; at < end && (feed = memchr(at, '\n', (size_t)(end - at))) != NULL; at = feed + 1)
        TACIT_CHECK(read_line(&self, at, (size_t)(feed - at), error));
    if (at < end || !self.ended) TACIT_CHECK(wrong(&self, at < end ? "is cut off" : "is missing", error));
    if (authority != NULL) TACIT_CHECK(check_signer(&self, authority, error));
cleanup:
    tacit_buffer_clear(&self.authority);
    tacit_handovers_clear(&self.chain);
    tacit_buffer_clear(&text);
    return status;
}
