/* The messages of joining, enrolling, polling, renewing and leaving, of arms, receipts and contact, at either end. The first byte says which; what is
 * accepted must be whole. */
#include <protobuf-c/protobuf-c.h>
#include <stdlib.h>
#include <string.h>

#include "session/wire/wire.h"
#include "tacit.pb-c.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static const ProtobufCMessageDescriptor *const types[] = {
    &tacit__wire__look_request__descriptor,      &tacit__wire__look_reply__descriptor,
    &tacit__wire__catalogue_request__descriptor, &tacit__wire__catalogue_reply__descriptor,
    &tacit__wire__join_request__descriptor,      &tacit__wire__join_reply__descriptor,
    &tacit__wire__renew_request__descriptor,     &tacit__wire__renew_reply__descriptor,
    &tacit__wire__poll_request__descriptor,      &tacit__wire__poll_reply__descriptor,
    &tacit__wire__enrol_request__descriptor,     &tacit__wire__enrol_reply__descriptor,
    &tacit__wire__arm_request__descriptor,       &tacit__wire__arm_reply__descriptor,
    &tacit__wire__receipt_request__descriptor,   &tacit__wire__receipt_reply__descriptor,
    &tacit__wire__contact_request__descriptor,   &tacit__wire__contact_reply__descriptor,
};

enum { TYPES = sizeof types / sizeof types[0] };

/* Only who speaks a version that we do is heard; else it is told both ranges. */
static void check_versions(const ProtobufCMessageDescriptor *type, const tacit_buffer *bytes) {
    const tacit_versions own = tacit_versions_spoken();
    tacit_error error = TACIT_ERROR_INIT;
    void *message = NULL;
    unsigned version = 0;
    if (tacit_wire_hear(&message, type, bytes, &version, &error) == TACIT_OK) {
        if (message == NULL || version < own.lowest || version > own.highest) abort();
    } else if (message != NULL || strstr(error.text, "protocol version") == NULL) {
        abort();
    }
    tacit_wire_free(message);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer packed = TACIT_BUFFER_INIT;
    void *message = NULL;
    if (length == 0) return 0;
    const ProtobufCMessageDescriptor *type = types[bytes[0] % TYPES];
    if (tacit_wire_parse(&message, type, bytes + 1, length - 1, &error) != TACIT_OK) {
        if (error.text[0] == 0 || message != NULL) abort();
        return 0;
    }
    if (!protobuf_c_message_check(message) || tacit_wire_pack(&packed, message, NULL) != TACIT_OK) abort();
    tacit_wire_free(message);
    /* As they came: unknown fields that protobuf-c reads, of number 0 for one, it does not always write so that it
     * reads them again, and nobody here passes any on. */
    packed.length = 0;
    if (tacit_buffer_append(&packed, bytes + 1, length - 1, NULL) == TACIT_OK) check_versions(type, &packed);
    tacit_buffer_clear(&packed);
    return 0;
}
