/*
 * Method cox with concordance=yes: Harrell's concordance from counts, both halves. Of two rows of which one
 * is known to have had the event first, how often did it have the higher score x.w?
 *
 *   parties:      once, of each group of cells, how many rows with and without an event have a score in each
 *                 of COX_BINS bins of one length, over [-|w|, |w|]: rows are in the unit ball, so that is
 *                 where scores are;
 *                 where rows may enter late, also how many are at risk from each group on
 *   coordinator:  adds up from the last group on: an event is compared with all rows that leave later, and
 *                 with those that leave in its group without an event, as R's concordance does on these
 *                 times; who enters after an event was not at risk at it
 *
 * Two rows in one bin count half. Whatever their order, the concordance of the scores themselves is within
 * half of the share of such pairs: that is the bound. With an offset scores may lie outside; they are counted
 * in the outer bins.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/time/cox.h"

enum { COX_BINS = 200 };

/* Of each group: rows without an event, with one, and with entries those that come. */
static size_t kinds_of(const time_design *design) { return 2 + design->entries; }

static size_t length_of(const time_design *design, const cox_partition *partition) {
    return partition->groups * kinds_of(design) * COX_BINS;
}

/* ---- the party's half ---- */

typedef struct ranks {
    time_design design;
    cox_partition partition;
    const double *w;
    double shift, reach;
    double *row, *x;
    double *out; /* of each group and kind COX_BINS */
    double look[COX_LOOKS];
} ranks;

static void end_ranks(ranks *self) {
    free(self->row);
    cox_partition_clear(&self->partition);
}

static tacit_status begin_ranks(ranks *self, const tacit_party *party, const tacit_question *question,
                                tacit_error *error) {
    const double *shift;
    *self = (ranks){ .row = NULL };
    TACIT_TRY(time_check_rows(party, error));
    TACIT_TRY(tacit_party_prepared(party, &self->design, error));
    const size_t width = self->design.columns.width;
    TACIT_TRY(tacit_message_numbers(question->message, "shift", 1, &shift, error));
    TACIT_TRY(tacit_message_numbers(question->message, "weights", width, &self->w, error));
    TACIT_TRY(cox_partition_read(&self->partition, &self->design, question->message, error));
    self->shift = *shift;
    for (size_t j = 0; j < width; j++) self->reach += self->w[j] * self->w[j];
    self->reach = sqrt(self->reach);
    self->row = TACIT_NEW(double, 2 * party->plan->features);
    if (self->row == NULL) return tacit_fail_memory(error);
    self->x = self->row + party->plan->features;
    const double *const chosen[] = { self->w, shift, self->partition.leaving, NULL };
    const size_t counts[] = { width, 1, self->partition.groups };
    return tacit_party_asked_once(party, "cox-ranks", chosen, counts, error);
}

static size_t bin_of(const ranks *self, double score) {
    double place = self->reach > 0 ? (score / self->reach + 1) / 2 * COX_BINS : 0;
    return (size_t)fmin(fmax(place, 0), COX_BINS - 1);
}

static double *bins_of(const ranks *self, size_t group, size_t kind) {
    return self->out + (kinds_of(&self->design) * group + kind) * COX_BINS;
}

static tacit_status rank_block(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    ranks *self = context;
    (void)first, (void)error;
    for (size_t i = 0; i < block->rows.count; i++) {
        time_row one = time_take_row(&self->design, block, i, self->row, self->x);
        double score = time_offset(&self->design, self->row);
        for (size_t j = 0; j < self->design.columns.width; j++) score += self->w[j] * self->x[j];
        size_t bin = bin_of(self, score), entry = one.entry < one.place ? one.entry : one.place;
        bins_of(self, self->partition.of_cell[one.place], one.event > 0)[bin]++;
        if (self->design.entries && cox_enters_later(&self->partition, &self->design, entry))
            bins_of(self, self->partition.of_cell[entry], 2)[bin]++;
        cox_look_at(self->look, score - self->shift);
    }
    return TACIT_OK;
}

tacit_status cox_answer_ranks(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                              tacit_error *error) {
    ranks self;
    double n;
    if (cox_settings_of(party->plan)->concordance == COX_NO_CONCORDANCE)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for ranks, and the study needs none (concordance: no)");
    TACIT_TRY(time_read_total(party, question, &n, error));
    tacit_status status = begin_ranks(&self, party, question, error);
    if (status != TACIT_OK) goto cleanup;
    if (cox_is_real(party)) TACIT_CHECK(cox_check_groups(party, &self.partition, false, error));
    tacit_sum_spec spec = time_sum(party->plan, n, 0, length_of(&self.design, &self.partition));
    TACIT_CHECK(time_begin_reply(party, question, &spec, reply, error));
    self.out = reply->contribution + TIME_HEAD;
    TACIT_CHECK(tacit_dataset_map(&party->rows, 0, rank_block, &self, error));
    TACIT_CHECK(time_finish_reply(party, &spec, reply, error));
    if (party->reducer != NULL)
        TACIT_CHECK(party->reducer->sum(party->reducer->context, self.look, COX_LOOKS, error));
    if (cox_is_real(party)) TACIT_CHECK(cox_check_weights(party, question, self.look, error));
cleanup:
    end_ranks(&self);
    return status;
}

/* ---- the coordinator's half ---- */

typedef struct pairs {
    double ordered, alike, all; /* the event has the higher score; both are in one bin */
} pairs;

/* The events of a group with those who were at risk at them and seen after them. `entering` NULL: nobody
 * comes. */
static void compare_group(pairs *out, const double *without, const double *events, const double *entering,
                          double *later) {
    double below = 0, had = 0;
    for (size_t b = 0; b < COX_BINS; b++) {
        double others = later[b] + without[b];
        out->ordered += events[b] * below;
        out->alike += events[b] * others;
        below += others;
        had += events[b];
        later[b] += without[b] + events[b] - (entering != NULL ? entering[b] : 0);
    }
    out->all += had * below;
}

tacit_status cox_ask_concordance(cox_fit *self, tacit_estimates *estimates, tacit_error *error) {
    const cox_partition *groups = &self->partition;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    pairs found = { 0, 0, 0 };
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &self->n, 1, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "shift", &self->here.shift, 1, error));
    TACIT_CHECK(
        tacit_message_add_numbers(&message, "weights", self->here.w, self->design.columns.width, error));
    TACIT_CHECK(cox_partition_write(groups, &self->design, &message, error));
    TACIT_CHECK(cox_ask_all(self, "ranks", &message, 0, length_of(&self->design, groups), &sum, error));
    for (size_t s = 0; s < self->design.strata; s++) {
        double later[COX_BINS] = { 0 };
        for (size_t g = groups->end[s]; g-- > (s > 0 ? groups->end[s - 1] : 0);) {
            const double *without = sum.values + TIME_HEAD + kinds_of(&self->design) * g * COX_BINS,
                         *events = without + COX_BINS;
            compare_group(&found, without, events, self->design.entries ? events + COX_BINS : NULL, later);
        }
    }
    if (found.all > 0) {
        estimates->concordance = (found.ordered + found.alike / 2) / found.all;
        estimates->concordance_bound = found.alike / 2 / found.all;
    }
cleanup:
    tacit_message_clear(&message);
    tacit_sum_clear(&sum);
    return status;
}
