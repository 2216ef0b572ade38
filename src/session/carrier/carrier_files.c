#include "session/carrier/carrier_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "net/invitation.h"

typedef struct files_carrier {
    tacit_carrier carrier;
    tacit_envelope_pair *envelopes;
} files_carrier;

void tacit_envelope_pair_clear(tacit_envelope_pair *envelopes) {
    tacit_envelope_clear(&envelopes->in);
    tacit_envelope_clear(&envelopes->out);
    envelopes->polled = false;
}

static tacit_status files_open(tacit_carrier **out, const tacit_carrier_settings *settings,
                               tacit_error *error) {
    files_carrier *self = TACIT_NEW(files_carrier, 1);
    if (self == NULL) return tacit_fail_memory(error);
    self->carrier.kind = &tacit_files_carrier;
    self->envelopes = settings->envelopes;
    *out = &self->carrier;
    return TACIT_OK;
}

static void files_free(tacit_carrier *carrier) { free(carrier); }

/* What was said of the same kind before is said otherwise now. */
static tacit_status post(tacit_envelope *out, tacit_endpoint endpoint, const tacit_buffer *body,
                         tacit_error *error) {
    for (size_t i = 0; i < out->count; i++)
        if (out->enclosures[i].endpoint == (uint32_t)endpoint) {
            out->enclosures[i].bytes.length = 0;
            return tacit_buffer_append(&out->enclosures[i].bytes, body->bytes, body->length, error);
        }
    return tacit_envelope_put(out, endpoint, body->bytes, body->length, error);
}

static tacit_status files_send(tacit_carrier *carrier, tacit_endpoint endpoint, const tacit_buffer *body,
                               unsigned timeout_ms, tacit_carried *out, tacit_error *error) {
    tacit_envelope_pair *envelopes = ((files_carrier *)carrier)->envelopes;
    (void)timeout_ms;
    if (envelopes == NULL)
        return tacit_fail(
            error, TACIT_NETWORK,
            "this study goes by files that people carry: answer with tacit envelope answer FILE");
    out->result = TACIT_RESULT_NOTHING;
    if (endpoint == TACIT_ENDPOINT_POLL && envelopes->polled)
        return tacit_fail(error, TACIT_CANCELLED, "all that is in the envelope is answered");
    if (body != NULL && (endpoint == TACIT_ENDPOINT_JOIN || endpoint == TACIT_ENDPOINT_POLL ||
                         endpoint == TACIT_ENDPOINT_ANSWER))
        TACIT_TRY(post(&envelopes->out, endpoint, body, error));
    if (endpoint == TACIT_ENDPOINT_POLL) envelopes->polled = true;
    if (endpoint == TACIT_ENDPOINT_ANSWER) out->result = TACIT_RESULT_DONE;
    const tacit_buffer *reply = tacit_envelope_find(&envelopes->in, endpoint);
    if (reply == NULL) return TACIT_OK;
    TACIT_TRY(tacit_buffer_append(&out->reply, reply->bytes, reply->length, error));
    out->result = TACIT_RESULT_DONE;
    return TACIT_OK;
}

static tacit_status files_bring(tacit_carrier *carrier, const tacit_buffer *word, unsigned timeout_ms,
                                tacit_carried *out, tacit_error *error) {
    (void)carrier, (void)word, (void)timeout_ms, (void)out;
    return tacit_fail(error, TACIT_NETWORK, "there are no neighbours where people carry files");
}

static tacit_carrier_failure files_failure(const tacit_carrier *carrier) {
    (void)carrier;
    return TACIT_FAILURE_OTHER;
}

static int64_t files_clock(const tacit_carrier *carrier) {
    (void)carrier;
    return 0;
}

const tacit_carrier_kind tacit_files_carrier = { .scheme = TACIT_FILES_ADDRESS,
                                                 .open = files_open,
                                                 .free = files_free,
                                                 .send = files_send,
                                                 .bring = files_bring,
                                                 .failure = files_failure,
                                                 .clock = files_clock };
