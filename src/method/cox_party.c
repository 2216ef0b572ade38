/* The party's half of method cox: sums over its rows (cox.c says what they are for). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/cox.h"

/* ---- replies ---- */

static tacit_status begin_reply(const tacit_party *party, const tacit_question *question,
                                const tacit_sum_spec *spec, tacit_reply *reply, tacit_error *error) {
    tacit_prices prices;
    if (!question->wants_sum || !tacit_sum_spec_equal(&question->sum, spec))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for another sum than the study defines");
    TACIT_TRY(tacit_design_check_rows(party->plan->schema, &party->rows, error));
    TACIT_TRY(tacit_nonprivate_price(party->plan, &prices, error));
    reply->kind = cox_kind(party->plan);
    reply->noise = TACIT_NOISE_NONE;
    reply->price = prices.charged;
    reply->contribution = TACIT_NEW(double, spec->length);
    return reply->contribution != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status add_over_holders(const tacit_party *party, double *values, size_t count,
                                     tacit_error *error) {
    if (party->reducer == NULL) return TACIT_OK;
    return party->reducer->sum(party->reducer->context, values, count, error);
}

/* The head, the sum over all who hold this party's rows, and the bound. */
static tacit_status finish_reply(const tacit_party *party, const tacit_sum_spec *spec, tacit_reply *reply,
                                 tacit_error *error) {
    double *values = reply->contribution;
    TACIT_TRY(add_over_holders(party, values + COX_HEAD, spec->length - COX_HEAD, error));
    values[0] = (double)party->total_rows;
    for (size_t j = 0; j < spec->length; j++) values[j] = fmax(-spec->bound, fmin(spec->bound, values[j]));
    return TACIT_OK;
}

static tacit_status answer_rows(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                tacit_error *error) {
    tacit_sum_spec spec = cox_sum_of_rows();
    TACIT_TRY(begin_reply(party, question, &spec, reply, error));
    reply->contribution[0] = (double)party->total_rows;
    return TACIT_OK;
}

/* n of the question, believed only within what it can be. */
static tacit_status read_total(const tacit_party *party, const tacit_question *question, double *n,
                               tacit_error *error) {
    const double *total;
    TACIT_TRY(tacit_message_numbers(question->message, "rows", 1, &total, error));
    if (!(*total >= (double)party->total_rows &&
          *total <= cox_sum_of_rows().bound * (double)party->plan->parties))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator speaks of %g rows in all and this party has %zu", *total,
                          party->total_rows);
    *n = *total;
    return TACIT_OK;
}

/* ---- passes over the rows ---- */

enum { FAR, RISKS, RISKS_SQUARED, LOOKS };

typedef struct pass {
    const tacit_party *party;
    cox_design design;
    cox_partition partition;
    bool efron;
    const double *w;
    double shift;
    double *row, *x; /* all features of a row, and those with a coefficient */
    double *leaving, *died, *event_x, *counts;
    double look[LOOKS];
} pass;

static tacit_status begin_pass(pass *self, const tacit_party *party, tacit_error *error) {
    *self = (pass){ .party = party, .efron = cox_settings_of(party->plan)->ties == COX_EFRON };
    if (party->rows.response == NULL || tacit_view_columns(&party->rows) != 2)
        return tacit_fail(error, TACIT_INPUT, "the rows have no time and event");
    TACIT_TRY(cox_design_create(&self->design, party->plan, error));
    self->row = TACIT_NEW(double, party->plan->features + self->design.columns.width);
    if (self->row == NULL) {
        cox_design_clear(&self->design);
        return tacit_fail_memory(error);
    }
    self->x = self->row + party->plan->features;
    return TACIT_OK;
}

static void end_pass(pass *self) {
    free(self->row);
    cox_partition_clear(&self->partition);
    cox_design_clear(&self->design);
}

/* Row i of a block: its columns into self->x, its place, and whether it has an event. */
static size_t take_row(pass *self, const tacit_view *block, size_t i, bool *event) {
    const double *y = tacit_view_responses(block, i);
    tacit_rows_copy(&block->rows, i, self->row);
    for (size_t j = 0; j < self->design.columns.width; j++)
        self->x[j] = self->row[self->design.columns.kept[j]];
    *event = y[1] > 0;
    return cox_place(&self->design, y[0], self->row);
}

static tacit_status count_block(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    pass *self = context;
    (void)first, (void)error;
    for (size_t i = 0; i < block->rows.count; i++) {
        bool event;
        size_t place = take_row(self, block, i, &event);
        self->counts[2 * place]++;
        if (!event) continue;
        self->counts[2 * place + 1]++;
        for (size_t j = 0; j < self->design.columns.width; j++) self->event_x[j] += self->x[j];
    }
    return TACIT_OK;
}

static tacit_status answer_cells(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                 tacit_error *error) {
    pass self;
    double n;
    TACIT_TRY(read_total(party, question, &n, error));
    TACIT_TRY(begin_pass(&self, party, error));
    tacit_sum_spec spec = cox_sum(party->plan, n, 0, cox_length_of_cells(&self.design));
    tacit_status status;
    TACIT_CHECK(begin_reply(party, question, &spec, reply, error));
    self.counts = reply->contribution + COX_HEAD;
    self.event_x = self.counts + 2 * self.design.strata * self.design.cells;
    TACIT_CHECK(tacit_dataset_map(&party->rows, 0, count_block, &self, error));
    TACIT_CHECK(finish_reply(party, &spec, reply, error));
cleanup:
    end_pass(&self);
    return status;
}

static tacit_status sum_block(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    pass *self = context;
    const size_t width = self->design.columns.width, length = tacit_risk_length(width);
    (void)first, (void)error;
    for (size_t i = 0; i < block->rows.count; i++) {
        bool event;
        size_t group = self->partition.of_cell[take_row(self, block, i, &event)];
        double score = -self->shift;
        for (size_t j = 0; j < width; j++) score += self->w[j] * self->x[j];
        double risk = exp(fmin(score, 700));
        tacit_risk_add(self->leaving + group * length, width, risk, self->x);
        if (self->efron && event && self->partition.events[group] > 1)
            tacit_risk_add(self->died + group * length, width, risk, self->x);
        self->look[FAR] += !(fabs(score) <= COX_MOST_SCORE);
        self->look[RISKS] += risk;
        self->look[RISKS_SQUARED] += risk * risk;
    }
    return TACIT_OK;
}

/* ---- what a party looks at before exact sums leave ---- */

/* A party cannot see how many rows of others leave in a group: it holds the coordinator to what it says, and to
 * the owner's minimum. */
static tacit_status check_groups(const tacit_party *party, const cox_partition *groups, bool efron,
                                 tacit_error *error) {
    double minimum = (double)party->gate->policy->minimum_rows;
    for (size_t g = 0; g < groups->groups; g++) {
        double leaving = groups->leaving[g], events = groups->events[g];
        if (leaving == 0 || !cox_too_small(leaving, events, minimum, efron)) continue;
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for sums over %.0f rows with %.0f events that leave at the "
                          "same time, and the owner's minimum is %.0f: the study should set `least` to that",
                          leaving, events, minimum);
    }
    return TACIT_OK;
}

static tacit_status check_weights(const pass *self, const tacit_question *question, tacit_error *error) {
    const double *look = self->look, minimum = (double)self->party->gate->policy->minimum_rows;
    if (question->round >= COX_MOST_ROUNDS)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks in round %llu, and an honest fit takes fewer than %d",
                          (unsigned long long)question->round, COX_MOST_ROUNDS);
    if (look[FAR] > 0)
        return tacit_fail(error, TACIT_REFUSED,
                          "at the coordinator's weights %.0f rows of this party have scores beyond %g: there "
                          "is no finite estimate, or the weights are intended to single rows out. Ask for a "
                          "lambda above 0 or fewer columns",
                          look[FAR], COX_MOST_SCORE);
    if (!(look[RISKS] * look[RISKS] >= minimum * look[RISKS_SQUARED]))
        return tacit_fail(error, TACIT_REFUSED,
                          "at the coordinator's weights %.3g rows make up almost all of this party's sums, "
                          "fewer than the owner's minimum of %.0f: exact sums would reveal these rows. Ask "
                          "for a lambda above 0 or fewer columns, or lower the minimum (tacit rules)",
                          look[RISKS] * look[RISKS] / look[RISKS_SQUARED], minimum);
    return TACIT_OK;
}

static tacit_status answer_sums(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                tacit_error *error) {
    pass self;
    const int64_t *room;
    const double *shift;
    double n;
    TACIT_TRY(read_total(party, question, &n, error));
    TACIT_TRY(begin_pass(&self, party, error));
    const size_t width = self.design.columns.width;
    bool real = !party->follows && party->gate != NULL && party->gate->mode == TACIT_GATE_REAL;
    tacit_status status;
    TACIT_CHECK(tacit_message_integers(question->message, "room", 1, &room, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "shift", 1, &shift, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "weights", width, &self.w, error));
    TACIT_CHECK(cox_partition_read(&self.partition, &self.design, question->message, error));
    if (*room < 0 || *room > 40)
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "the coordinator asks for a sum with no room"));
    if (real) TACIT_CHECK(check_groups(party, &self.partition, self.efron, error));
    size_t length = cox_length_of_groups(party->plan, &self.design, &self.partition);
    tacit_sum_spec spec = cox_sum(party->plan, n, (int)*room, length);
    TACIT_CHECK(begin_reply(party, question, &spec, reply, error));
    self.shift = *shift;
    self.leaving = reply->contribution + COX_HEAD;
    self.died = self.leaving + self.partition.groups * tacit_risk_length(width);
    TACIT_CHECK(tacit_dataset_map(&party->rows, 0, sum_block, &self, error));
    TACIT_CHECK(finish_reply(party, &spec, reply, error));
    TACIT_CHECK(add_over_holders(party, self.look, LOOKS, error));
    if (real) TACIT_CHECK(check_weights(&self, question, error));
cleanup:
    end_pass(&self);
    return status;
}

const tacit_handler_entry cox_handlers[] = {
    { .question = "rows", .answer = answer_rows },
    { .question = "cells", .answer = answer_cells },
    { .question = "sums", .answer = answer_sums },
    { .question = NULL },
};
