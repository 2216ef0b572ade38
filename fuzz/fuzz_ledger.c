/* The bytes of a ledger's entry, from a file or from an archive that somebody hands over: an entry that is
 * accepted is written the same again, and can be told in words. */
#include <stdlib.h>
#include <string.h>

#include "outside.h"
#include "privacy/ledger/ledger_log_parts.h"
#include "study/archive/audit_archive_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_entry entry, again;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer written = TACIT_BUFFER_INIT, twice = TACIT_BUFFER_INIT;
    uint8_t hash[TACIT_HASH_BYTES] = { 0 };
    if (tacit_ledger_read_body(&entry, bytes, length, &error) != TACIT_OK) {
        if (error.text[0] == 0) abort();
        return 0;
    }
    outside_must(tacit_entry_encode(&written, &entry, NULL));
    outside_must(tacit_ledger_read_body(&again, written.bytes, written.length, NULL));
    outside_must(tacit_entry_encode(&twice, &again, NULL));
    /* An entry of the first version is written as one of the present. */
    if (written.length != twice.length || memcmp(written.bytes, twice.bytes, written.length) != 0) abort();
    tacit_ledger_chain(hash, bytes, length);
    json_t *words = audit_entry(&entry, bytes, length, hash);
    if (words == NULL) abort();
    json_decref(words);
    tacit_buffer_clear(&written);
    tacit_buffer_clear(&twice);
    return 0;
}
