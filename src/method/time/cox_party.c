/* The party's half of method cox: sums over its rows (cox.c says what they are for). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/time/cox.h"
#include "num/kernel/tiles.h"

/* ---- passes over the rows ---- */

enum { BLOCK = 8192 };

/* Sums of one kind under way, of each group: risks, and in tiles (num/kernel/tiles.h) risks times x x^T. */
typedef struct group_sums {
    double *first; /* risk and risk times x: 1 + width numbers */
    double *tiles;
} group_sums;

typedef struct pass {
    const tacit_party *party;
    time_design design;
    cox_partition partition;
    bool efron;
    const double *w;
    double shift;
    double *row, *x; /* all features of a row, and those with a coefficient of each row of a block */
    group_sums leaving, died, entering;
    const tacit_kernels *kernels;
    double *risk, *packing;                /* of the rows of a block; room of the tiles */
    size_t *group, *entry, *order, *start; /* entry: the group from which on a row is at risk, or none */
    bool *event;
    const double **picked;
    double *weight;
    double look[COX_LOOKS];
} pass;

static tacit_status begin_pass(pass *self, const tacit_party *party, tacit_error *error) {
    *self = (pass){ .party = party,
                    .efron = cox_settings_of(party->plan)->ties == COX_EFRON,
                    .kernels = tacit_kernels_choose() };
    TACIT_TRY(time_check_rows(party, error));
    TACIT_TRY(tacit_party_prepared(party, &self->design, error));
    self->row = TACIT_NEW(double, party->plan->features);
    self->x = TACIT_NEW(double, BLOCK * self->design.columns.width);
    if (self->row == NULL || self->x == NULL) {
        free(self->row);
        free(self->x);
        return tacit_fail_memory(error);
    }
    return TACIT_OK;
}

static void end_pass(pass *self) {
    free(self->row);
    free(self->x);
    free(self->leaving.first);
    free(self->leaving.tiles);
    free(self->died.first);
    free(self->died.tiles);
    free(self->entering.first);
    free(self->entering.tiles);
    free(self->risk);
    free(self->packing);
    free(self->group);
    free(self->event);
    free(self->picked);
    cox_partition_clear(&self->partition);
}

static bool make_sums(group_sums *out, size_t groups, size_t width) {
    size_t length = groups * tacit_tiles_length(width);
    out->first = TACIT_NEW(double, groups *(1 + width));
    out->tiles = tacit_allocate_aligned(length, sizeof *out->tiles);
    if (out->tiles != NULL) memset(out->tiles, 0, length * sizeof *out->tiles);
    return out->first != NULL && out->tiles != NULL;
}

/* Room for the sums of all groups, once these are known. */
static tacit_status make_room(pass *self, tacit_error *error) {
    size_t groups = self->partition.groups, width = self->design.columns.width;
    self->risk = TACIT_NEW(double, 2 * BLOCK);
    self->packing = tacit_allocate_aligned(tacit_tiles_room(width), sizeof *self->packing);
    self->group = TACIT_NEW(size_t, 3 * BLOCK + groups + 2);
    self->event = TACIT_NEW(bool, BLOCK);
    self->picked = TACIT_NEW(const double *, BLOCK);
    if (self->risk == NULL || self->packing == NULL || self->group == NULL || self->event == NULL ||
        self->picked == NULL || !make_sums(&self->leaving, groups, width) ||
        (self->efron && !make_sums(&self->died, groups, width)) ||
        (self->design.entries && !make_sums(&self->entering, groups, width)))
        return tacit_fail_memory(error);
    self->weight = self->risk + BLOCK;
    self->entry = self->group + BLOCK;
    self->order = self->entry + BLOCK;
    self->start = self->order + BLOCK;
    return TACIT_OK;
}

/* Columns, group, event and risk of each row of a block. */
static void take_rows(pass *self, const tacit_view *block) {
    const size_t width = self->design.columns.width;
    for (size_t i = 0; i < block->rows.count; i++) {
        double *x = self->x + i * width;
        time_row one = time_take_row(&self->design, block, i, self->row, x);
        const cox_partition *groups = &self->partition;
        size_t entry = one.entry < one.place ? one.entry : one.place;
        self->group[i] = groups->of_cell[one.place];
        self->entry[i] =
            cox_enters_later(groups, &self->design, entry) ? groups->of_cell[entry] : groups->groups;
        self->event[i] = one.event > 0;
        double score = time_offset(&self->design, self->row) - self->shift;
        for (size_t j = 0; j < width; j++) score += self->w[j] * x[j];
        self->risk[i] = cox_look_at(self->look, score);
    }
}

/* The block's rows by their groups, in their order: those of group g from start[g] to start[g + 1]; those of
 * none are last. */
static void order_rows(pass *self, const size_t *group, size_t count) {
    size_t groups = self->partition.groups, *start = self->start;
    memset(start, 0, (groups + 2) * sizeof *start);
    for (size_t i = 0; i < count; i++) start[group[i] + 1]++;
    for (size_t g = 0; g <= groups; g++) start[g + 1] += start[g];
    for (size_t i = 0; i < count; i++) self->order[start[group[i]]++] = i;
    memmove(start + 1, start, (groups + 1) * sizeof *start);
    start[0] = 0;
}

/* The rows of a group in the block, or those with an event. */
static void add_group(pass *self, group_sums *sums, size_t g, bool events) {
    const size_t width = self->design.columns.width;
    double *first = sums->first + g * (1 + width);
    size_t count = 0;
    for (size_t k = self->start[g]; k < self->start[g + 1]; k++) {
        size_t i = self->order[k];
        if (events && !self->event[i]) continue;
        const double *x = self->x + i * width;
        first[0] += self->risk[i];
        for (size_t j = 0; j < width; j++) first[1 + j] += self->risk[i] * x[j];
        self->picked[count] = x;
        self->weight[count++] = self->risk[i];
    }
    tacit_tiles_add(self->kernels, self->picked, self->weight, count, width, self->packing,
                    sums->tiles + g * tacit_tiles_length(width));
}

static tacit_status sum_block(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    pass *self = context;
    (void)first, (void)error;
    take_rows(self, block);
    order_rows(self, self->group, block->rows.count);
    for (size_t g = 0; g < self->partition.groups; g++) {
        if (self->start[g] == self->start[g + 1]) continue;
        add_group(self, &self->leaving, g, false);
        if (self->efron && self->partition.events[g] > 1) add_group(self, &self->died, g, true);
    }
    if (!self->design.entries) return TACIT_OK;
    order_rows(self, self->entry, block->rows.count);
    for (size_t g = 0; g < self->partition.groups; g++)
        if (self->start[g] < self->start[g + 1]) add_group(self, &self->entering, g, false);
    return TACIT_OK;
}

/* As num/partial_likelihood.h has a group's numbers. */
static double *pack(const pass *self, const group_sums *sums, double *out) {
    const size_t width = self->design.columns.width;
    for (size_t g = 0; g < self->partition.groups; g++) {
        const double *tiles = sums->tiles + g * tacit_tiles_length(width);
        memcpy(out, sums->first + g * (1 + width), (1 + width) * sizeof *out);
        out += 1 + width;
        for (size_t i = 0; i < width; i++)
            for (size_t j = 0; j <= i; j++) *out++ = tacit_tiles_at(tiles, width, i, j);
    }
    return out;
}

/* ---- what a party looks at before exact sums leave ---- */

/* A party cannot see how many rows of others leave in a group: it holds the coordinator to what it says, and
 * to the owner's minimum. */
tacit_status cox_check_groups(const tacit_party *party, const cox_partition *groups, bool efron,
                              tacit_error *error) {
    double minimum = (double)party->gate->policy->minimum_rows;
    for (size_t g = 0, stratum = 0; g < groups->groups; g++) {
        bool first = g == 0 || g == groups->end[stratum];
        stratum += g > 0 && first;
        double leaving = groups->leaving[g], entering = first ? 0 : groups->entering[g];
        if ((leaving == 0 && entering == 0) || !cox_too_small(groups, g, first, minimum, efron)) continue;
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for sums over %.0f rows with %.0f events that leave at the "
                          "same time, or %.0f that enter, and the owner's minimum is %.0f: the study should "
                          "set `least` to that",
                          leaving, groups->events[g], entering, minimum);
    }
    return TACIT_OK;
}

double cox_look_at(double *look, double score) {
    double risk = exp(fmin(score, 700));
    look[COX_FAR] += !(fabs(score) <= COX_MOST_SCORE);
    look[COX_RISKS] += risk;
    look[COX_RISKS_SQUARED] += risk * risk;
    return risk;
}

bool cox_is_real(const tacit_party *party) {
    return !party->follows && party->gate != NULL && party->gate->mode == TACIT_GATE_REAL;
}

tacit_status cox_check_weights(const tacit_party *party, const tacit_question *question, const double *look,
                               tacit_error *error) {
    const double minimum = (double)party->gate->policy->minimum_rows;
    if (question->round >= COX_MOST_ROUNDS)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks in round %llu, and an honest fit takes fewer than %d",
                          (unsigned long long)question->round, COX_MOST_ROUNDS);
    if (look[COX_FAR] > 0)
        return tacit_fail(error, TACIT_REFUSED,
                          "at the coordinator's weights %.0f rows of this party have scores beyond %g: there "
                          "is no finite estimate, or the weights are intended to single rows out. Ask for a "
                          "lambda above 0 or fewer columns",
                          look[COX_FAR], COX_MOST_SCORE);
    if (!(look[COX_RISKS] * look[COX_RISKS] >= minimum * look[COX_RISKS_SQUARED]))
        return tacit_fail(error, TACIT_REFUSED,
                          "at the coordinator's weights %.3g rows make up almost all of this party's sums, "
                          "fewer than the owner's minimum of %.0f: exact sums would reveal these rows. Ask "
                          "for a lambda above 0 or fewer columns, or lower the minimum (tacit rules)",
                          look[COX_RISKS] * look[COX_RISKS] / look[COX_RISKS_SQUARED], minimum);
    return TACIT_OK;
}

static tacit_status answer_sums(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                tacit_error *error) {
    pass self;
    const int64_t *room;
    const double *shift;
    double n;
    TACIT_TRY(time_read_total(party, question, &n, error));
    TACIT_TRY(begin_pass(&self, party, error));
    const size_t width = self.design.columns.width;
    bool real = cox_is_real(party);
    tacit_status status;
    TACIT_CHECK(tacit_message_integers(question->message, "room", 1, &room, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "shift", 1, &shift, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "weights", width, &self.w, error));
    TACIT_CHECK(cox_partition_read(&self.partition, &self.design, question->message, error));
    if (*room < 0 || *room > 40)
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "the coordinator asks for a sum with no room"));
    if (real) TACIT_CHECK(cox_check_groups(party, &self.partition, self.efron, error));
    size_t length = cox_length_of_groups(party->plan, &self.design, &self.partition);
    tacit_sum_spec spec = time_sum(party->plan, n, (int)*room, length);
    TACIT_CHECK(time_begin_reply(party, question, &spec, reply, error));
    self.shift = *shift;
    TACIT_CHECK(make_room(&self, error));
    TACIT_CHECK(tacit_dataset_map(&party->rows, BLOCK, sum_block, &self, error));
    double *after = pack(&self, &self.leaving, reply->contribution + TIME_HEAD);
    if (self.efron) after = pack(&self, &self.died, after);
    if (self.design.entries) pack(&self, &self.entering, after);
    TACIT_CHECK(time_finish_reply(party, &spec, reply, error));
    if (party->reducer != NULL)
        TACIT_CHECK(party->reducer->sum(party->reducer->context, self.look, COX_LOOKS, error));
    if (real) TACIT_CHECK(cox_check_weights(party, question, self.look, error));
cleanup:
    end_pass(&self);
    return status;
}

tacit_status cox_sum_cells(const tacit_party *party, const double *w, double *leaving, double *entering,
                           double *look, tacit_error *error) {
    pass self;
    TACIT_TRY(begin_pass(&self, party, error));
    const size_t length =
        self.design.strata * self.design.cells * tacit_risk_length(self.design.columns.width);
    tacit_status status;
    self.w = w;
    TACIT_CHECK(cox_partition_cells(&self.partition, &self.design, error));
    TACIT_CHECK(make_room(&self, error));
    TACIT_CHECK(tacit_dataset_map(&party->rows, BLOCK, sum_block, &self, error));
    pack(&self, &self.leaving, leaving);
    if (self.design.entries) pack(&self, &self.entering, entering);
    memcpy(look, self.look, sizeof self.look);
    if (party->reducer == NULL) goto cleanup;
    TACIT_CHECK(party->reducer->sum(party->reducer->context, leaving, length, error));
    if (self.design.entries)
        TACIT_CHECK(party->reducer->sum(party->reducer->context, entering, length, error));
    TACIT_CHECK(party->reducer->sum(party->reducer->context, look, COX_LOOKS, error));
cleanup:
    end_pass(&self);
    return status;
}

const tacit_handler_entry cox_handlers[] = {
    { .question = "rows", .answer = time_answer_rows },
    { .question = "cells", .answer = time_answer_cells },
    { .question = "sums", .answer = answer_sums },
    { .question = "scores", .answer = cox_answer_scores },
    { .question = "trend", .answer = cox_answer_trend },
    { .question = "ranks", .answer = cox_answer_ranks },
    { .question = NULL },
};
