/* An invitation as pasted by somebody; what is accepted must survive being written and read again. */
#include <stdlib.h>
#include <string.h>

#include "net/certificate.h"
#include "net/invitation.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* The checksum would stop nearly all mutations, so a first byte of 0 means: here are the members, encode them
 * first. */
static void from_members(const uint8_t *bytes, size_t length) {
    tacit_invitation made = { .expires = 1 }, read;
    tacit_buffer text = TACIT_BUFFER_INIT;
    size_t url = length < TACIT_INVITATION_URL_MAX ? length : TACIT_INVITATION_URL_MAX;
    memcpy(made.url, bytes, url);
    memcpy(made.study, bytes, length < TACIT_INVITATION_STUDY_MAX ? length : TACIT_INVITATION_STUDY_MAX);
    memcpy(made.called, bytes, length < TACIT_PARTY_NAME_MOST ? length : TACIT_PARTY_NAME_MOST);
    if (tacit_party_name_check(made.called, NULL) != TACIT_OK) made.called[0] = 0;
    made.authority_length = length < sizeof made.authority ? length : sizeof made.authority;
    memcpy(made.authority, bytes, made.authority_length);
    if (tacit_invitation_encode(&text, &made, NULL) == TACIT_OK) {
        if (tacit_invitation_parse(&read, tacit_buffer_text(&text), text.length, NULL) != TACIT_OK) abort();
        if (strcmp(read.url, made.url) != 0 || strcmp(read.study, made.study) != 0 ||
            strcmp(read.called, made.called) != 0)
            abort();
        if (read.authority_length != made.authority_length) abort();
    }
    tacit_buffer_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_invitation read;
    tacit_certificate_info authority;
    tacit_error error = TACIT_ERROR_INIT;
    if (length > 0 && bytes[0] == 0) {
        from_members(bytes + 1, length - 1);
        return 0;
    }
    if (tacit_invitation_parse(&read, (const char *)bytes, length, &error) != TACIT_OK) {
        if (error.text[0] == 0) abort();
        return 0;
    }
    if (strncmp(read.url, "https://", 8) != 0 && strcmp(read.url, TACIT_FILES_ADDRESS) != 0) abort();
    if (read.study[0] == 0) abort();
    if (read.called[0] != 0 && tacit_party_name_check(read.called, NULL) != TACIT_OK) abort();
    tacit_certificate_inspect(&authority, read.authority, read.authority_length, NULL);
    tacit_invitation_wipe(&read);
    return 0;
}
