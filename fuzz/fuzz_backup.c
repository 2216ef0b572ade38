/* A coordinator's backup that is to be restored. The first byte says what the rest is: the whole file; or,
 * behind a right signature and right hashes, an end of the list of files and the files themselves,
 * "NAME\nBYTES" with 0xff between. */
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "outside.h"
#include "study/backup.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { FILES_MOST = 8 };

static void add_file(json_t *files, tacit_buffer *contents, const char *name, size_t name_length,
                     const uint8_t *bytes, size_t length) {
    uint8_t hash[crypto_generichash_BYTES];
    char hex[2 * sizeof hash + 1];
    json_t *text = json_stringn(name, name_length);
    if (text == NULL) text = json_string("plain"); /* no UTF-8 */
    crypto_generichash(hash, sizeof hash, bytes, length, NULL, 0);
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    json_array_append_new(
        files, json_pack("{s:o,s:I,s:s}", "name", text, "length", (json_int_t)length, "hash", hex));
    outside_must(tacit_buffer_append(contents, bytes, length, NULL));
}

/* A list of files with what the input says of the rest, and everything signed. */
static const char *sign_backup(const uint8_t *bytes, size_t length) {
    tacit_buffer whole = TACIT_BUFFER_INIT, contents = TACIT_BUFFER_INIT, line = TACIT_BUFFER_INIT;
    char signature[OUTSIDE_HEX_SIZE];
    json_t *files = json_array();
    const uint8_t *end = bytes + length, *head = memchr(bytes, 0xff, length);
    const char *pem = tacit_authority_pem(outside_authority());
    add_file(files, &contents, TACIT_AUTHORITY_CERTIFICATE_FILE, strlen(TACIT_AUTHORITY_CERTIFICATE_FILE),
             (const uint8_t *)pem, strlen(pem));
    size_t head_length = head != NULL ? (size_t)(head - bytes) : length;
    for (const uint8_t *at = head; at != NULL && json_array_size(files) < FILES_MOST;) {
        const uint8_t *next = memchr(at + 1, 0xff, (size_t)(end - at - 1));
        const uint8_t *stop = next != NULL ? next : end,
                      *feed = memchr(at + 1, '\n', (size_t)(stop - at - 1));
        if (feed != NULL)
            add_file(files, &contents, (const char *)at + 1, (size_t)(feed - at - 1), feed + 1,
                     (size_t)(stop - feed - 1));
        at = next;
    }
    char *list = json_dumps(files, JSON_COMPACT);
    outside_must(
        tacit_buffer_print(&line, NULL, "{\"files\":%s,%.*s}", list, (int)head_length, (const char *)bytes));
    outside_sign(signature, "tacit backup", line.bytes, line.length);
    outside_must(tacit_buffer_print(&whole, NULL, "tacit backup 1\n%s\nsignature %s\n",
                                    tacit_buffer_text(&line), signature));
    if (contents.length > 0) outside_must(tacit_buffer_append(&whole, contents.bytes, contents.length, NULL));
    const char *path = outside_file("fuzz.backup", whole.bytes, whole.length);
    free(list);
    json_decref(files);
    tacit_buffer_clear(&whole);
    tacit_buffer_clear(&contents);
    tacit_buffer_clear(&line);
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_backup_about about;
    tacit_error error = TACIT_ERROR_INIT;
    char folder[4096];
    if (length == 0) return 0;
    const char *path = bytes[0] == 's' || bytes[0] == 'r'
                           ? sign_backup(bytes + 1, length - 1)
                           : outside_file("fuzz.backup", bytes + 1, length - 1);
    snprintf(folder, sizeof folder, "%s/restored", outside_folder());
    outside_remove(folder);
    tacit_status status = tacit_backup_restore(path, bytes[0] == 'r' ? folder : NULL, NULL, &about, &error);
    outside_explained(status, &error);
    if (status == TACIT_OK && memchr(about.coordinator, 0, sizeof about.coordinator) == NULL) abort();
    if (access(outside_path("escaped"), F_OK) == 0) abort(); /* files stay in their folder */
    return 0;
}
