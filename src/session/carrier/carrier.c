#include "session/carrier/carrier.h"

#include <string.h>

static const tacit_carrier_kind *const kinds[] = { &tacit_https_carrier, &tacit_files_carrier };

static tacit_status open_kind(tacit_carrier **out, const tacit_carrier_kind *kind,
                              const tacit_carrier_settings *settings, tacit_error *error) {
    TACIT_TRY(kind->open(out, settings, error));
    (*out)->paused = settings->paused;
    (*out)->paused_context = settings->paused_context;
    (*out)->held = false;
    return TACIT_OK;
}

/* Nothing goes out while whoever owns this side has it paused, whatever is asked. */
static tacit_status check_pause(tacit_carrier *carrier, tacit_error *error) {
    carrier->held = carrier->paused != NULL && carrier->paused(carrier->paused_context);
    return carrier->held ? tacit_fail(error, TACIT_NETWORK, "paused on this side: nothing is sent")
                         : TACIT_OK;
}

tacit_status tacit_carrier_open(tacit_carrier **out, const tacit_carrier_settings *settings,
                                tacit_error *error) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(settings->address, kinds[i]->scheme, strlen(kinds[i]->scheme)) == 0)
            return open_kind(out, kinds[i], settings, error);
    return tacit_fail(error, TACIT_USAGE, "'%.80s' is not the address of a coordinator, which begins with %s",
                      settings->address, kinds[0]->scheme);
}

tacit_carrier *tacit_carrier_free(tacit_carrier *carrier) {
    if (carrier != NULL) carrier->kind->free(carrier);
    return NULL;
}

tacit_status tacit_carrier_send(tacit_carrier *carrier, tacit_endpoint endpoint, const tacit_buffer *body,
                                unsigned timeout_ms, tacit_carried *out, tacit_error *error) {
    TACIT_TRY(check_pause(carrier, error));
    return carrier->kind->send(carrier, endpoint, body, timeout_ms, out, error);
}

tacit_status tacit_carrier_bring(tacit_carrier *carrier, const tacit_buffer *word, unsigned timeout_ms,
                                 tacit_carried *out, tacit_error *error) {
    TACIT_TRY(check_pause(carrier, error));
    return carrier->kind->bring(carrier, word, timeout_ms, out, error);
}

tacit_carrier_failure tacit_carrier_last_failure(const tacit_carrier *carrier) {
    return carrier->held ? TACIT_FAILURE_PAUSED : carrier->kind->failure(carrier);
}

int64_t tacit_carrier_clock(const tacit_carrier *carrier) { return carrier->kind->clock(carrier); }

tacit_status tacit_listener_open(tacit_listener **out, const tacit_listener_settings *settings,
                                 tacit_error *error) {
    size_t i = 0;
    while (kinds[i]->listen == NULL) i++; /* https has it */
    return kinds[i]->listen(out, settings, error);
}

tacit_listener *tacit_listener_free(tacit_listener *listener) {
    if (listener != NULL) listener->stop(listener);
    return NULL;
}

unsigned tacit_endpoint_rules(tacit_endpoint endpoint) {
#define RULES(NAME, name, METHOD, rules, help) [TACIT_ENDPOINT_##NAME] = (rules),
    static const unsigned all[TACIT_ENDPOINTS + 1] = { TACIT_ENDPOINT_TABLE(RULES) };
    return all[endpoint];
}
