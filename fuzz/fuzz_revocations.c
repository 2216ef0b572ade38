/* The list of revoked certificates that a coordinator hands out and a party keeps. Nobody but the authority
 * may have signed it: so the first byte says whether it signs what follows, or the bytes are all there is. */
#include <stdlib.h>
#include <string.h>

#include "net/revocations.h"
#include "outside.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_revocations list = { .serial = 0 };
    tacit_buffer text = TACIT_BUFFER_INIT, authority = TACIT_BUFFER_INIT;
    bool newer = false;
    if (length == 0) return 0;
    const char *pem = tacit_authority_pem(outside_authority());
    outside_must(tacit_buffer_append(&authority, pem, strlen(pem), NULL));
    outside_must(tacit_buffer_append(&text, bytes + 1, length - 1, NULL));
    if (bytes[0] == 's') outside_must(tacit_revocations_sign(&text, outside_authority(), NULL));
    tacit_status status =
        tacit_revocations_take(&list, &newer, &authority, "study", text.bytes, text.length, &error);
    outside_explained(status, &error);
    if (newer != (list.serial > 0) || (status != TACIT_OK && newer)) abort();
    for (size_t i = 0; i < list.count; i++)
        if (!tacit_revocations_certificate(&list, list.entries[i].fingerprint) ||
            !tacit_revocations_party(&list, list.entries[i].party))
            abort();
    tacit_revocations_clear(&list);
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&authority);
    return 0;
}
