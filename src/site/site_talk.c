/* What a site says to its coordinator, and hears. */
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
                                              .pouch = site->callbacks.pouch };
    return tacit_carrier_open(out, &settings, error);
}

tacit_status site_send(tacit_carrier *carrier, tacit_errand errand, void *message, unsigned timeout_ms,
                       tacit_carried *out, tacit_error *error) {
    tacit_buffer body = TACIT_BUFFER_INIT;
    tacit_status status = tacit_wire_say(&body, message, 0, error);
    if (status == TACIT_OK) status = tacit_carrier_send(carrier, errand, &body, timeout_ms, out, error);
    tacit_buffer_clear(&body);
    return status;
}

tacit_status site_said_no(const tacit_carried *carried, tacit_error *error) {
    if (carried->fate == TACIT_FATE_DONE) return TACIT_OK;
    return tacit_fail(error, carried->fate == TACIT_FATE_REFUSED ? TACIT_REFUSED : TACIT_NETWORK,
                      "the coordinator answered %u: %.300s", carried->code,
                      carried->reply.length > 0 ? tacit_buffer_text(&carried->reply) : "nothing");
}

tacit_status site_ask(tacit_carrier *carrier, tacit_errand errand, void *request, size_t most,
                      const ProtobufCMessageDescriptor *type, void **reply, tacit_error *error) {
    tacit_carried carried = { .reply = TACIT_BUFFER_LIMITED(most) };
    unsigned version;
    tacit_status status;
    TACIT_CHECK(site_send(carrier, errand, request, REQUEST_MS, &carried, error));
    TACIT_CHECK(site_said_no(&carried, error));
    TACIT_CHECK(tacit_wire_hear(reply, type, &carried.reply, &version, error));
cleanup:
    tacit_buffer_clear(&carried.reply);
    return status;
}
