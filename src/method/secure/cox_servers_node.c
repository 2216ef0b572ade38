/* A node's half of cox-servers, and what all sides derive from the plan (cox_servers.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/secure/cox_servers.h"

/* ---- what follows from the plan ---- */

cox_servers_layout cox_servers_layout_of(const time_design *design) {
    const size_t width = design->columns.width, cells = design->strata * design->cells;
    cox_servers_layout out = { .width = width, .cells = cells, .triangle = width * (width + 1) / 2 };
    out.events = width;
    out.risk = out.events + cells;
    out.first = out.risk + cells;
    out.second = out.first + cells * width;
    out.length = out.second + cells * out.triangle;
    return out;
}

double cox_servers_range(const tacit_plan *plan) {
    const double scale = tacit_logit_schema_scale(plan);
    return 0x1p10 * fmax(1, scale * scale);
}

double cox_servers_divisor(double rows) { return exp2(ceil(log2(rows))); }

unsigned cox_servers_fraction(double rows) {
    return (unsigned)fmin(40, fmax(36, 51 - log2(cox_servers_divisor(rows))));
}

tacit_status cox_servers_slots(tacit_masked_slots *out, const tacit_plan *plan,
                               const tacit_paillier_public *key, double rows, tacit_error *error) {
    return tacit_masked_slots_plan(out, key, cox_servers_range(plan), cox_servers_fraction(rows), 0,
                                   plan->parties, error);
}

/* Slots have at most 127 bits: 16 of them at least are in a ciphertext of 2048 bits. */
size_t cox_servers_answer_numbers(const tacit_plan *plan) {
    enum { LEAST_SLOTS = 15, CIPHERTEXT = TACIT_PAILLIER_BITS_MOST / 4 / sizeof(double) + 1 };
    time_design design;
    if (plan->schema == NULL || time_design_create(&design, plan, NULL) != TACIT_OK) return CIPHERTEXT;
    size_t length = cox_servers_layout_of(&design).length;
    time_design_clear(&design);
    return (length / LEAST_SLOTS + 2) * CIPHERTEXT;
}

/* ---- answers ---- */

static tacit_status begin_reply(const tacit_party *party, tacit_reply *reply, tacit_error *error) {
    tacit_prices prices = { .event = { .count = 0 } };
    TACIT_TRY(time_check_rows(party, error));
    TACIT_TRY(tacit_design_check_rows(party->plan->schema, &party->rows, error));
    TACIT_TRY(tacit_party_price(party, &prices, error));
    reply->kind = TACIT_RELEASE_SEALED;
    reply->assumption = tacit_logit_assumption;
    reply->price = prices.charged;
    reply->noise = TACIT_NOISE_NONE;
    return tacit_message_add_integers(&reply->message, "rows", &(int64_t){ (int64_t)party->total_rows }, 1,
                                      error);
}

tacit_status cox_servers_answer_rows(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                     tacit_error *error) {
    (void)question;
    return begin_reply(party, reply, error);
}

typedef struct pass {
    time_design design;
    cox_servers_layout layout;
    double *w, *counts, *entries, *leaving, *entering; /* one block of memory */
    double *values;                                    /* what is encrypted */
    int64_t *grid;
    double look[COX_LOOKS];
    double n; /* of all parties */
} pass;

static void end_pass(pass *self) {
    free(self->w);
    free(self->values);
    free(self->grid);
}

static tacit_status begin_pass(pass *self, const tacit_party *party, tacit_error *error) {
    *self = (pass){ .w = NULL };
    TACIT_TRY(tacit_party_prepared(party, &self->design, error));
    self->layout = cox_servers_layout_of(&self->design);
    const size_t cells = self->layout.cells, sums = cells * tacit_risk_length(self->layout.width);
    self->w = TACIT_NEW(double, self->layout.width + 3 * cells + 2 * sums);
    self->values = TACIT_NEW(double, self->layout.length);
    self->grid = TACIT_NEW(int64_t, self->layout.length);
    if (self->w == NULL || self->values == NULL || self->grid == NULL) return tacit_fail_memory(error);
    self->counts = self->w + self->layout.width;
    self->entries = self->counts + 2 * cells;
    self->leaving = self->entries + cells;
    self->entering = self->leaving + sums;
    return TACIT_OK;
}

/* Who is at risk in a cell: those who leave in it or later, less those who enter later. */
static void add_backwards(pass *self) {
    const size_t length = tacit_risk_length(self->layout.width), each = self->design.cells;
    for (size_t c = self->layout.cells; c-- > 0;) {
        double *here = self->leaving + c * length, *entering = self->entering + c * length;
        if ((c + 1) % each != 0)
            for (size_t k = 0; k < length; k++) here[k] += here[length + k] - entering[length + k];
    }
}

static void place_sums(pass *self, double scale) {
    const double n = cox_servers_divisor(self->n);
    const cox_servers_layout *at = &self->layout;
    const size_t length = tacit_risk_length(at->width);
    for (size_t j = 0; j < at->width; j++) self->values[j] *= scale / n;
    for (size_t c = 0; c < at->cells; c++) {
        const double *sums = self->leaving + c * length;
        self->values[at->events + c] = self->counts[2 * c + 1] / n;
        self->values[at->risk + c] = sums[0] / n;
        for (size_t j = 0; j < at->width; j++)
            self->values[at->first + c * at->width + j] = sums[1 + j] * scale / n;
        for (size_t k = 0; k < at->triangle; k++)
            self->values[at->second + c * at->triangle + k] = sums[1 + at->width + k] * scale * scale / n;
    }
}

static tacit_status check_range(const pass *self, double range, tacit_error *error) {
    for (size_t k = 0; k < self->layout.length; k++)
        if (!(fabs(self->values[k]) <= range))
            return tacit_fail(error, TACIT_REFUSED,
                              "hazards at these coefficients are too large for the numbers of the center "
                              "servers: there is no finite estimate, or columns lie far from the middle of "
                              "their ranges in the schema; choose narrower ranges, or a lambda above 0");
    return TACIT_OK;
}

static tacit_status make_sums(pass *self, tacit_party *party, const tacit_question *question,
                              tacit_error *error) {
    const double scale = tacit_logit_schema_scale(party->plan), *beta;
    TACIT_TRY(time_read_total(party, question, &self->n, error));
    TACIT_TRY(tacit_message_numbers(question->message, "weights", self->layout.width, &beta, error));
    for (size_t j = 0; j < self->layout.width; j++) self->w[j] = scale * beta[j];
    TACIT_TRY(time_count(party, &self->design, self->counts, self->values, self->entries, error));
    if (party->reducer != NULL) {
        TACIT_TRY(party->reducer->sum(party->reducer->context, self->counts, 2 * self->layout.cells, error));
        TACIT_TRY(party->reducer->sum(party->reducer->context, self->values, self->layout.width, error));
    }
    TACIT_TRY(cox_sum_cells(party, self->w, self->leaving, self->entering, self->look, error));
    if (cox_is_real(party)) TACIT_TRY(cox_check_weights(party, question, self->look, error));
    add_backwards(self);
    place_sums(self, scale);
    return check_range(self, cox_servers_range(party->plan), error);
}

tacit_status cox_servers_answer_sums(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                     tacit_error *error) {
    const tacit_paillier_public *key = NULL;
    tacit_paillier_public *owned = NULL;
    tacit_masked_slots slots;
    pass self = { .w = NULL };
    tacit_status status;
    TACIT_CHECK(tacit_party_center_key(party, question, &key, &owned, error));
    TACIT_CHECK(begin_reply(party, reply, error));
    TACIT_CHECK(begin_pass(&self, party, error));
    TACIT_CHECK(make_sums(&self, party, question, error));
    TACIT_CHECK(cox_servers_slots(&slots, party->plan, key, self.n, error));
    TACIT_CHECK(
        tacit_logit_seal(reply, self.values, self.grid, self.layout.length, &slots, key, party->pool, error));
cleanup:
    end_pass(&self);
    tacit_paillier_public_free(owned);
    return status;
}
