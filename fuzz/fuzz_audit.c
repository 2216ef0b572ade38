/* An archive of what happened, as somebody hands it over. The first byte says what the rest is: 'w' the whole
 * file; 's' records of a study, one a line, and 'l' of a ledger, to which the right hashes and a right end
 * are added; 'e' an entry's body, which is told in words and must then be found sound. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "outside.h"
#include "study/archive/audit_archive_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

typedef struct archive {
    tacit_buffer text;
    uint8_t hash[TACIT_HASH_BYTES];
    size_t lines;
} archive;

static void add_line(archive *self, const void *record, size_t length) {
    char hex[2 * TACIT_HASH_BYTES + 1];
    audit_chain(self->hash, record, length);
    sodium_bin2hex(hex, sizeof hex, self->hash, sizeof self->hash);
    outside_must(tacit_buffer_print(&self->text, NULL, AUDIT_FIRST "%s" AUDIT_MIDDLE, hex));
    outside_must(tacit_buffer_append(&self->text, record, length, NULL));
    outside_must(tacit_buffer_append(&self->text, AUDIT_LAST, strlen(AUDIT_LAST), NULL));
    self->lines++;
}

static void add_record(archive *self, json_t *record) {
    char *text = json_dumps(record, JSON_COMPACT);
    if (text == NULL) abort();
    add_line(self, text, strlen(text));
    free(text);
    json_decref(record);
}

static void begin_archive(archive *self, bool of_ledger) {
    if (of_ledger)
        add_record(self, json_pack("{s:s,s:i}", "kind", "ledger", "format", AUDIT_FORMAT));
    else
        add_record(self, json_pack("{s:s,s:i,s:s,s:s}", "kind", "study", "format", AUDIT_FORMAT, "study",
                                   "study", "authority", tacit_authority_pem(outside_authority())));
}

static void end_archive(archive *self, const uint8_t *head) {
    char hex[2 * TACIT_HASH_BYTES + 1], signature[OUTSIDE_HEX_SIZE];
    tacit_buffer text = TACIT_BUFFER_INIT;
    sodium_bin2hex(hex, sizeof hex, head != NULL ? head : self->hash, TACIT_HASH_BYTES);
    outside_must(tacit_buffer_print(&text, NULL, "%s %zu", hex, self->lines + 1));
    outside_sign(signature, AUDIT_PURPOSE, text.bytes, text.length);
    add_record(self, json_pack("{s:s,s:I,s:s,s:s}", "kind", "end", "lines", (json_int_t)self->lines + 1,
                               "head", hex, "signature", signature));
    tacit_buffer_clear(&text);
}

/* True: the archive must be found sound. */
static bool make_archive(archive *self, const uint8_t *bytes, size_t length) {
    const uint8_t *at = bytes + 1, *end = bytes + length, *feed;
    uint8_t head[TACIT_HASH_BYTES] = { 0 };
    tacit_entry entry;
    begin_archive(self, bytes[0] != 's');
    if (bytes[0] != 'e') {
        for (; at < end && (feed = memchr(at, '\n', (size_t)(end - at))) != NULL; at = feed + 1)
            add_line(self, at, (size_t)(feed - at));
        if (at < end) add_line(self, at, (size_t)(end - at));
        end_archive(self, bytes[0] == 'l' ? head : NULL);
        return false;
    }
    if (tacit_ledger_read_body(&entry, at, (size_t)(end - at), NULL) != TACIT_OK) return false;
    entry.number = 1;
    tacit_ledger_chain(head, at, (size_t)(end - at));
    add_record(self, audit_entry(&entry, at, (size_t)(end - at), head));
    end_archive(self, head);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    archive made = { .text = TACIT_BUFFER_INIT };
    tacit_audit_verdict verdict;
    tacit_error error = TACIT_ERROR_INIT;
    bool sound = false;
    if (length == 0) return 0;
    if (bytes[0] == 'w')
        outside_must(tacit_buffer_append(&made.text, bytes + 1, length - 1, NULL));
    else
        sound = make_archive(&made, bytes, length);
    const char *path = outside_file("fuzz.jsonl", made.text.bytes, made.text.length);
    tacit_status status = tacit_audit_verify(path, NULL, &verdict, &error);
    outside_explained(status, &error);
    if (sound && status != TACIT_OK) abort();
    tacit_buffer_clear(&made.text);
    return 0;
}
