#include "session/carrier/carrier_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "net/invitation.h"

typedef struct files_carrier {
    tacit_carrier carrier;
    tacit_pouch *pouch;
} files_carrier;

void tacit_pouch_clear(tacit_pouch *pouch) {
    tacit_envelope_clear(&pouch->in);
    tacit_envelope_clear(&pouch->out);
    pouch->polled = false;
}

static tacit_status files_open(tacit_carrier **out, const tacit_carrier_settings *settings,
                               tacit_error *error) {
    files_carrier *self = TACIT_NEW(files_carrier, 1);
    if (self == NULL) return tacit_fail_memory(error);
    self->carrier.kind = &tacit_files_carrier;
    self->pouch = settings->pouch;
    *out = &self->carrier;
    return TACIT_OK;
}

static void files_free(tacit_carrier *carrier) { free(carrier); }

/* What was said of the same kind before is said otherwise now. */
static tacit_status post(tacit_envelope *out, tacit_errand errand, const tacit_buffer *body,
                         tacit_error *error) {
    for (size_t i = 0; i < out->count; i++)
        if (out->enclosures[i].errand == (uint32_t)errand) {
            out->enclosures[i].bytes.length = 0;
            return tacit_buffer_append(&out->enclosures[i].bytes, body->bytes, body->length, error);
        }
    return tacit_envelope_put(out, errand, body->bytes, body->length, error);
}

static tacit_status files_send(tacit_carrier *carrier, tacit_errand errand, const tacit_buffer *body,
                               unsigned timeout_ms, tacit_carried *out, tacit_error *error) {
    tacit_pouch *pouch = ((files_carrier *)carrier)->pouch;
    (void)timeout_ms;
    if (pouch == NULL)
        return tacit_fail(
            error, TACIT_NETWORK,
            "this study goes by files that people carry: answer with tacit envelope answer FILE");
    out->fate = TACIT_FATE_NOTHING;
    if (errand == TACIT_ERRAND_POLL && pouch->polled)
        return tacit_fail(error, TACIT_CANCELLED, "all that is in the envelope is answered");
    if (body != NULL &&
        (errand == TACIT_ERRAND_JOIN || errand == TACIT_ERRAND_POLL || errand == TACIT_ERRAND_ANSWER))
        TACIT_TRY(post(&pouch->out, errand, body, error));
    if (errand == TACIT_ERRAND_POLL) pouch->polled = true;
    if (errand == TACIT_ERRAND_ANSWER) out->fate = TACIT_FATE_DONE;
    const tacit_buffer *reply = tacit_envelope_find(&pouch->in, errand);
    if (reply == NULL) return TACIT_OK;
    TACIT_TRY(tacit_buffer_append(&out->reply, reply->bytes, reply->length, error));
    out->fate = TACIT_FATE_DONE;
    return TACIT_OK;
}

static tacit_status files_bring(tacit_carrier *carrier, const tacit_buffer *word, unsigned timeout_ms,
                                tacit_carried *out, tacit_error *error) {
    (void)carrier, (void)word, (void)timeout_ms, (void)out;
    return tacit_fail(error, TACIT_NETWORK, "there are no neighbours where people carry files");
}

static tacit_trouble files_trouble(const tacit_carrier *carrier) {
    (void)carrier;
    return TACIT_TROUBLE_OTHER;
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
                                                 .trouble = files_trouble,
                                                 .clock = files_clock };
