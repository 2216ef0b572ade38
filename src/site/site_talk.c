/* What a site says to its coordinator, and hears. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/wire/wire.h"
#include "site/site_parts.h"
#include "tacit.pb-c.h"

enum { REQUEST_MS = 30000 };

tacit_status site_carrier(const tacit_site *site, bool joined, const char *authority, tacit_carrier **out,
                          tacit_error *error) {
    char authority_file[PATH_MAX], key[PATH_MAX], certificate[PATH_MAX];
    if (authority == NULL) TACIT_TRY(site_trust_file(site, authority_file, error));
    TACIT_TRY(site_path(site, SITE_KEY_FILE, key, error));
    TACIT_TRY(site_path(site, SITE_CERTIFICATE_FILE, certificate, error));
    const tacit_carrier_settings settings = { .address = site->url,
                                              .authority_file =
                                                  authority != NULL ? authority : authority_file,
                                              .certificate_file = joined ? certificate : NULL,
                                              .key_file = joined ? key : NULL,
                                              .proxy = site->proxy,
                                              .cancelled = site->callbacks.cancelled,
                                              .cancelled_context = site->callbacks.context,
                                              .paused = site->callbacks.paused,
                                              .paused_context = site->callbacks.paused_context,
                                              .envelopes = site->callbacks.envelopes };
    return tacit_carrier_open(out, &settings, error);
}

tacit_status site_send(tacit_carrier *carrier, tacit_endpoint endpoint, void *message, unsigned timeout_ms,
                       tacit_carried *out, tacit_error *error) {
    tacit_buffer body = TACIT_BUFFER_INIT;
    tacit_status status = tacit_wire_say(&body, message, 0, error);
    if (status == TACIT_OK) status = tacit_carrier_send(carrier, endpoint, &body, timeout_ms, out, error);
    tacit_buffer_clear(&body);
    return status;
}

void site_drop_received(tacit_site *site) {
    if (site->received == NULL) return;
    tacit_received_clear(&site->received->read);
    free(site->received);
    site->received = NULL;
}

tacit_status site_receive(tacit_site *site, const uint8_t *bytes, size_t length, const site_received **out,
                          tacit_error *error) {
    uint8_t hash[TACIT_HASH_BYTES];
    crypto_generichash(hash, sizeof hash, bytes, length, NULL, 0);
    if (site->received == NULL || memcmp(site->received->hash, hash, sizeof hash) != 0) {
        site_received *made = TACIT_NEW(site_received, 1);
        if (made == NULL) return tacit_fail_memory(error);
        memcpy(made->hash, hash, sizeof hash);
        tacit_status status = tacit_question_decode(&made->read, bytes, length, error);
        if (status != TACIT_OK) {
            free(made);
            return status;
        }
        site_drop_received(site);
        site->received = made;
    }
    *out = site->received;
    return TACIT_OK;
}

tacit_status site_said_no(const tacit_carried *carried, tacit_error *error) {
    if (carried->result == TACIT_RESULT_DONE) return TACIT_OK;
    return tacit_fail(error, carried->result == TACIT_RESULT_REFUSED ? TACIT_REFUSED : TACIT_NETWORK,
                      "the coordinator answered %u: %.300s", carried->code,
                      carried->reply.length > 0 ? tacit_buffer_text(&carried->reply) : "nothing");
}

tacit_status site_ask(tacit_carrier *carrier, tacit_endpoint endpoint, void *request, size_t most,
                      const ProtobufCMessageDescriptor *type, void **reply, tacit_error *error) {
    tacit_carried carried = { .reply = TACIT_BUFFER_LIMITED(most) };
    unsigned version;
    tacit_status status;
    TACIT_CHECK(site_send(carrier, endpoint, request, REQUEST_MS, &carried, error));
    TACIT_CHECK(site_said_no(&carried, error));
    TACIT_CHECK(tacit_wire_hear(reply, type, &carried.reply, &version, error));
cleanup:
    tacit_buffer_clear(&carried.reply);
    return status;
}
