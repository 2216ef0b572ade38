/*
 * The exponential mechanism, by which plr and the stacks choose lambda on private rows. The worst known pair:
 * one row held out for the choice is an error of every candidate but the first, or of the first alone. Scores
 * move by 1 in opposite directions, and with many candidates the probability of the first changes by nearly
 * exp(epsilon).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "lab/audit/audit_methods.h"
#include "privacy/mechanism/selection.h"

enum { CANDIDATES = 32 };

typedef struct selection_case {
    tacit_selection rule;
    double scores[2][CANDIDATES];
} selection_case;

static tacit_status open_choice(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    if (setup->setting_count > 0) return tacit_fail(error, TACIT_USAGE, "exponential has no settings");
    selection_case *self = TACIT_NEW(selection_case, 1);
    if (self == NULL) return tacit_fail_memory(error);
    out->charged.delta = 0;
    self->rule = (tacit_selection){ .rule = TACIT_SELECT_EXPONENTIAL,
                                    .choices = 1,
                                    .sensitivity = 1,
                                    .price = { TACIT_UNIT_RECORD, setup->epsilon, 0 } };
    for (size_t i = 0; i < CANDIDATES; i++) {
        self->scores[0][i] = i == 0 ? 0 : -1;
        self->scores[1][i] = i == 0 ? -1 : 0;
    }
    snprintf(out->pair, sizeof out->pair,
             "one row is an error of all but the first of %d candidates, or of it alone", (int)CANDIDATES);
    out->length = 1;
    out->state = self;
    return TACIT_OK;
}

/* Whether the first was chosen. Without noise it is, where it is best. */
static tacit_status draw_choice(tacit_audit_case *subject, int side, const tacit_stream *stream, double *out,
                                tacit_error *error) {
    const selection_case *self = subject->state;
    tacit_selected *selected = NULL;
    if (stream == NULL) {
        *out = side == 0;
        return TACIT_OK;
    }
    tacit_stream own = *stream;
    tacit_noise_source source = tacit_audit_source(subject, &own);
    TACIT_TRY(
        tacit_selection_release(&selected, &source, &self->rule, self->scores[side], CANDIDATES, error));
    *out = tacit_selected_indices(selected)[0] == 0;
    tacit_selected_free(selected);
    return TACIT_OK;
}

static void close_choice(tacit_audit_case *subject) { free(subject->state); }

const tacit_auditable tacit_audit_exponential = {
    .name = "exponential",
    .title = "the exponential mechanism, by which lambda is chosen on private rows",
    .open = open_choice,
    .draw = draw_choice,
    .close = close_choice,
};
