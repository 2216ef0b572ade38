#include "net/revocations.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define PURPOSE "tacit revocations"
#define HEADER "tacit revocations 1\n"
#define SIGNATURE "signature "

tacit_status tacit_revocations_sign(tacit_buffer *text, const tacit_authority *authority,
                                    tacit_error *error) {
    tacit_buffer signature = TACIT_BUFFER_LIMITED(TACIT_SIGNATURE_BYTES_MAX);
    char hex[2 * TACIT_SIGNATURE_BYTES_MAX + 1];
    if (text->length == 0) return TACIT_OK;
    tacit_status status =
        tacit_authority_sign(&signature, authority, PURPOSE, text->bytes, text->length, error);
    if (status == TACIT_OK) {
        sodium_bin2hex(hex, sizeof hex, signature.bytes, signature.length);
        status = tacit_buffer_print(text, error, SIGNATURE "%s\n", hex);
    }
    tacit_buffer_clear(&signature);
    return status;
}

/* Where the last line, the signature, begins; NULL when there is none. `text` ends with NUL. */
static const char *last_line(const char *text, size_t length) {
    if (length == 0 || text[length - 1] != '\n') return NULL;
    const char *at = text + length - 1;
    while (at > text && at[-1] != '\n') at--;
    return strncmp(at, SIGNATURE, strlen(SIGNATURE)) == 0 ? at : NULL;
}

static tacit_status check_signature(const char *text, const char *line, const tacit_buffer *authority,
                                    tacit_error *error) {
    uint8_t signature[TACIT_SIGNATURE_BYTES_MAX];
    size_t length = 0;
    const char *hex = line + strlen(SIGNATURE), *end = NULL;
    if (sodium_hex2bin(signature, sizeof signature, hex, strlen(hex) - 1, NULL, &length, &end) != 0 ||
        *end != '\n')
        return tacit_fail(error, TACIT_PROTOCOL, "the list of revoked certificates is damaged");
    return tacit_fail_in(error,
                         tacit_authority_check(authority->bytes, authority->length, PURPOSE, text,
                                               (size_t)(line - text), signature, length, error),
                         "the list of revoked certificates");
}

/* "FINGERPRINT PARTY\n"; moves on. */
static bool read_entry(const char **at, tacit_revocation *out) {
    const char *space = strchr(*at, ' '), *end = strchr(*at, '\n');
    if (space == NULL || end == NULL || space > end || space - *at != TACIT_FINGERPRINT_SIZE - 1 ||
        end - space - 1 < 1 || end - space - 1 >= TACIT_NAME_SIZE)
        return false;
    memcpy(out->fingerprint, *at, TACIT_FINGERPRINT_SIZE - 1);
    memcpy(out->party, space + 1, (size_t)(end - space - 1));
    *at = end + 1;
    return true;
}

/* The signed lines from `text` to `end`. */
static tacit_status read_list(tacit_revocations *out, const char *text, const char *end, const char *study,
                              tacit_error *error) {
    char named[TACIT_NAME_SIZE];
    unsigned long long serial = 0;
    int used = 0;
    size_t lines = 0;
    if (strncmp(text, HEADER, strlen(HEADER)) != 0 ||
        sscanf(text + strlen(HEADER), "study %63s\nserial %llu%n", named, &serial, &used) != 2 ||
        text[strlen(HEADER) + (size_t)used] != '\n')
        return tacit_fail(error, TACIT_PROTOCOL, "the list of revoked certificates is not of this version");
    if (study != NULL && strcmp(study, named) != 0)
        return tacit_fail(error, TACIT_REFUSED, "the list of revoked certificates is of study '%s'", named);
    const char *at = text + strlen(HEADER) + (size_t)used + 1;
    for (const char *each = at; each < end; each++) lines += *each == '\n';
    out->entries = TACIT_NEW(tacit_revocation, lines > 0 ? lines : 1);
    if (out->entries == NULL) return tacit_fail_memory(error);
    out->serial = serial;
    while (at < end)
        if (!read_entry(&at, &out->entries[out->count++]))
            return tacit_fail(error, TACIT_PROTOCOL, "the list of revoked certificates has a damaged line");
    return TACIT_OK;
}

tacit_status tacit_revocations_take(tacit_revocations *out, bool *newer, const tacit_buffer *authority,
                                    const char *study, const void *bytes, size_t length, tacit_error *error) {
    tacit_buffer copy = TACIT_BUFFER_LIMITED(TACIT_REVOCATIONS_BYTES_MAX);
    tacit_revocations read = { .serial = 0 };
    tacit_status status;
    *newer = false;
    TACIT_CHECK(tacit_buffer_append(&copy, bytes, length, error));
    const char *text = tacit_buffer_text(&copy), *line = NULL;
    if (strlen(text) == length) line = last_line(text, length);
    if (line == NULL)
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "the list of revoked certificates is not signed"));
    TACIT_CHECK(check_signature(text, line, authority, error));
    TACIT_CHECK(read_list(&read, text, line, study, error));
    if (read.serial > out->serial) {
        tacit_revocations_clear(out);
        *out = read;
        read = (tacit_revocations){ .serial = 0 };
        *newer = true;
    }
cleanup:
    tacit_revocations_clear(&read);
    tacit_buffer_clear(&copy);
    return status;
}

void tacit_revocations_clear(tacit_revocations *list) {
    free(list->entries);
    *list = (tacit_revocations){ .serial = 0 };
}

bool tacit_revocations_certificate(const tacit_revocations *list, const char *fingerprint) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->entries[i].fingerprint, fingerprint) == 0) return true;
    return false;
}

bool tacit_revocations_party(const tacit_revocations *list, const char *party) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->entries[i].party, party) == 0) return true;
    return false;
}
