/*
 * Method cox after the fit, the party's half (cox_after.c says what the sums are for).
 *
 * What it guards against. Means, steps of the hazard and functions of time come from the coordinator and may
 * be lies. A real party answers each question for one choice of these numbers only, and
 *
 *   - means are those of rows in the unit ball; steps are not negative, and the events that they make its own
 *     rows expect are no more than there are in all;
 *   - the effective number of rows (or of persons) in the squared scores, (sum |U|^2)^2/sum |U|^4, is at
 *     least its owner's minimum;
 *   - a function of time lies within [-1, 1], never falls within a stratum, and weighs the events so that
 *     (sum |g|)^2/sum g^2 is at least four times the minimum: of a step function between k events and all the
 *     others it is about 4 k, so none singles out fewer events than the owner's minimum.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/persons.h"
#include "method/time/cox.h"

enum { EXPECTED = COX_LOOKS, SQUARES, SQUARES_SQUARED, COUNTS };

typedef struct look {
    const tacit_party *party;
    time_design design;
    cox_partition partition;
    person_places persons;
    bool clustered;
    const double *w, *steps, *time;
    double shift;
    double *total; /* of each group the sums of 1/z and x/z up to it, in its stratum: 1 + width numbers */
    double *row, *x, *score, *person; /* person: persons x width */
    double *out;                      /* what leaves */
    double count[COUNTS];
} look;

static void end_look(look *self) {
    free(self->total);
    free(self->row);
    free(self->person);
    person_places_clear(&self->persons);
    cox_partition_clear(&self->partition);
}

static tacit_status begin_look(look *self, const tacit_party *party, const tacit_question *question,
                               tacit_error *error) {
    *self = (look){ .party = party, .clustered = cox_settings_of(party->plan)->errors == COX_ERRORS_CLUSTER };
    TACIT_TRY(time_check_rows(party, error));
    TACIT_TRY(tacit_party_prepared(party, &self->design, error));
    const size_t width = self->design.columns.width;
    self->row = TACIT_NEW(double, party->plan->features + 2 * width);
    if (self->row == NULL) return tacit_fail_memory(error);
    self->x = self->row + party->plan->features;
    self->score = self->x + width;
    TACIT_TRY(cox_partition_read(&self->partition, &self->design, question->message, error));
    if (!cox_is_real(party)) return TACIT_OK;
    return cox_check_groups(party, &self->partition, cox_settings_of(party->plan)->ties == COX_EFRON, error);
}

static tacit_status no_use(tacit_error *error) {
    return tacit_fail(error, TACIT_REFUSED, "the coordinator asks for sums that the study has no use for");
}

/* ---- squared scores ---- */

static bool within(const double *sums, double total, size_t width) {
    for (size_t j = 0; j < width; j++)
        if (!(fabs(sums[j]) <= total * (1 + 1e-9) + 1e-12)) return false;
    return total >= 0 && isfinite(total);
}

/* Steps that some rows in the unit ball have, added up within each stratum. */
static tacit_status add_up(look *self, tacit_error *error) {
    const size_t width = self->design.columns.width, groups = self->partition.groups;
    self->total = TACIT_NEW(double, groups *(1 + width));
    if (self->total == NULL) return tacit_fail_memory(error);
    for (size_t g = 0, stratum = 0; g < groups; g++) {
        const double *step = self->steps + g * tacit_cox_steps(width), *mean = step + 1 + width,
                     *died = mean + width;
        double *total = self->total + g * (1 + width);
        if (!within(step + 1, step[0], width) || !within(mean, 1, width) ||
            !within(died + 1, died[0], width) || !(died[0] <= step[0] * (1 + 1e-9)))
            return tacit_fail(error, TACIT_REFUSED,
                              "the coordinator's means or hazards are none that rows within the schema's "
                              "bounds have");
        bool first = g == 0 || g == self->partition.end[stratum];
        stratum += g > 0 && first;
        for (size_t j = 0; j <= width; j++) total[j] = step[j] + (first ? 0 : total[j - 1 - width]);
    }
    return TACIT_OK;
}

/* U of a row. */
static void score_row(look *self, const time_row *one, double risk) {
    const size_t width = self->design.columns.width, exit = self->partition.of_cell[one->place];
    const size_t entry = one->entry < one->place ? one->entry : one->place;
    const double *until = self->total + exit * (1 + width), *before = NULL;
    const double *step = self->steps + exit * tacit_cox_steps(width), *mean = step + 1 + width,
                 *died = mean + width;
    if (cox_enters_later(&self->partition, &self->design, entry))
        before = self->total + (self->partition.of_cell[entry] - 1) * (1 + width);
    double hazard = until[0] - (before != NULL ? before[0] : 0);
    if (one->event) hazard += died[0] - step[0];
    for (size_t j = 0; j < width; j++) {
        double sum = until[1 + j] - (before != NULL ? before[1 + j] : 0);
        if (one->event) sum += died[1 + j] - step[1 + j];
        self->score[j] = (one->event ? self->x[j] - mean[j] : 0) - risk * (self->x[j] * hazard - sum);
    }
    self->count[EXPECTED] += risk * hazard;
}

static void add_square(look *self, const double *score) {
    const size_t width = self->design.columns.width;
    double *entry = self->out + 1, square = 0;
    for (size_t i = 0; i < width; i++) {
        for (size_t j = 0; j <= i; j++) *entry++ += score[i] * score[j];
        square += score[i] * score[i];
    }
    self->count[SQUARES] += square;
    self->count[SQUARES_SQUARED] += square * square;
}

static tacit_status score_block(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    look *self = context;
    const size_t width = self->design.columns.width;
    (void)first, (void)error;
    for (size_t i = 0; i < block->rows.count; i++) {
        time_row one = time_take_row(&self->design, block, i, self->row, self->x);
        double score = time_offset(&self->design, self->row) - self->shift;
        for (size_t j = 0; j < width; j++) score += self->w[j] * self->x[j];
        score_row(self, &one, cox_look_at(self->count, score));
        if (!self->clustered) {
            add_square(self, self->score);
            continue;
        }
        double *person = self->person + person_place(&self->persons, block, i) * width;
        for (size_t j = 0; j < width; j++) person[j] += self->score[j];
    }
    return TACIT_OK;
}

static tacit_status gather(look *self, tacit_error *error) {
    if (!self->clustered) return TACIT_OK;
    TACIT_TRY(person_places_make(&self->persons, self->party, error));
    self->person = TACIT_NEW(double, (self->persons.count + 1) * self->design.columns.width);
    return self->person != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status check_scores(const look *self, tacit_error *error) {
    const double *count = self->count, minimum = (double)self->party->gate->policy->minimum_rows;
    double events = 0;
    for (size_t g = 0; g < self->partition.groups; g++) events += self->partition.events[g];
    if (!(count[EXPECTED] <= events * (1 + 1e-6)))
        return tacit_fail(error, TACIT_REFUSED,
                          "by the coordinator's hazards this party's rows would have more events than there "
                          "are in all");
    double squares = count[SQUARES], effective = squares * squares / count[SQUARES_SQUARED];
    if (count[SQUARES_SQUARED] == 0 || effective >= minimum) return TACIT_OK;
    return tacit_fail(
        error, TACIT_REFUSED,
        "%.3g %s make up almost all of this party's squared scores, fewer than the owner's "
        "minimum of %.0f: exact sums would reveal them. Ask for model errors, or lower the minimum "
        "(tacit rules)",
        effective, self->clustered ? "persons" : "rows", minimum);
}

static tacit_status read_scores(look *self, const tacit_question *question, tacit_error *error) {
    const size_t width = self->design.columns.width, groups = self->partition.groups;
    const double *shift;
    TACIT_TRY(tacit_message_numbers(question->message, "shift", 1, &shift, error));
    TACIT_TRY(tacit_message_numbers(question->message, "weights", width, &self->w, error));
    TACIT_TRY(tacit_message_numbers(question->message, "steps", groups * tacit_cox_steps(width), &self->steps,
                                    error));
    self->shift = *shift;
    const double *const chosen[] = { self->w, shift, self->steps, self->partition.leaving, NULL };
    const size_t counts[] = { width, 1, groups * tacit_cox_steps(width), groups };
    return tacit_party_asked_once(self->party, "cox-scores", chosen, counts, error);
}

tacit_status cox_answer_scores(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                               tacit_error *error) {
    look self;
    const int64_t *room;
    double n;
    if (cox_settings_of(party->plan)->errors == COX_ERRORS_MODEL) return no_use(error);
    TACIT_TRY(time_read_total(party, question, &n, error));
    tacit_status status;
    TACIT_CHECK(begin_look(&self, party, question, error));
    const size_t width = self.design.columns.width;
    TACIT_CHECK(tacit_message_integers(question->message, "room", 1, &room, error));
    if (*room < 0 || *room > 40)
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "the coordinator asks for a sum with no room"));
    TACIT_CHECK(read_scores(&self, question, error));
    TACIT_CHECK(add_up(&self, error));
    TACIT_CHECK(gather(&self, error));
    tacit_sum_spec spec = time_sum(party->plan, n, (int)*room, 1 + width * (width + 1) / 2);
    TACIT_CHECK(time_begin_reply(party, question, &spec, reply, error));
    self.out = reply->contribution + TIME_HEAD;
    TACIT_CHECK(tacit_dataset_map(&party->rows, 0, score_block, &self, error));
    self.out[0] = (double)self.persons.count;
    for (size_t p = 0; p < self.persons.count; p++) add_square(&self, self.person + p * width);
    TACIT_CHECK(time_finish_reply(party, &spec, reply, error));
    if (party->reducer != NULL)
        TACIT_CHECK(party->reducer->sum(party->reducer->context, self.count, COUNTS, error));
    if (cox_is_real(party)) {
        TACIT_CHECK(cox_check_weights(party, question, self.count, error));
        TACIT_CHECK(check_scores(&self, error));
    }
cleanup:
    end_look(&self);
    return status;
}

/* ---- events by a function of time ---- */

static tacit_status trend_block(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    look *self = context;
    (void)first, (void)error;
    for (size_t i = 0; i < block->rows.count; i++) {
        time_row one = time_take_row(&self->design, block, i, self->row, self->x);
        if (!one.event) continue;
        double time = self->time[self->partition.of_cell[one.place]];
        for (size_t j = 0; j < self->design.columns.width; j++) self->out[j] += time * self->x[j];
    }
    return TACIT_OK;
}

static tacit_status check_time(const look *self, tacit_error *error) {
    const cox_partition *groups = &self->partition;
    const double minimum = (double)self->party->gate->policy->minimum_rows;
    double sum = 0, squares = 0, last = -INFINITY;
    bool rises = true;
    for (size_t g = 0, stratum = 0; g < groups->groups; g++) {
        double events = groups->events[g], time = self->time[g];
        bool first = g == 0 || g == groups->end[stratum];
        stratum += g > 0 && first;
        if (first) last = -INFINITY;
        rises = rises && fabs(time) <= 1 + 1e-9;
        if (events > 0) {
            rises = rises && time >= last - 1e-9;
            last = time;
        }
        sum += events * fabs(time);
        squares += events * time * time;
    }
    if (!rises)
        return tacit_fail(error, TACIT_REFUSED, "the coordinator's function of time is none: it falls");
    if (sum * sum >= 4 * minimum * squares) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "the coordinator's function of time weighs few events: %.3g of them, where the owner's "
                      "minimum is %.0f; set proportional=none",
                      sum * sum / squares / 4, minimum);
}

tacit_status cox_answer_trend(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                              tacit_error *error) {
    look self;
    double n;
    if (cox_settings_of(party->plan)->proportional == COX_TREND_NONE) return no_use(error);
    TACIT_TRY(time_read_total(party, question, &n, error));
    tacit_status status;
    TACIT_CHECK(begin_look(&self, party, question, error));
    const size_t width = self.design.columns.width, groups = self.partition.groups;
    TACIT_CHECK(tacit_message_numbers(question->message, "time", groups, &self.time, error));
    const double *const chosen[] = { self.time, self.partition.leaving, self.partition.events, NULL };
    const size_t counts[] = { groups, groups, groups };
    TACIT_CHECK(tacit_party_asked_once(party, "cox-trend", chosen, counts, error));
    if (cox_is_real(party)) TACIT_CHECK(check_time(&self, error));
    tacit_sum_spec spec = time_sum(party->plan, n, 0, width);
    TACIT_CHECK(time_begin_reply(party, question, &spec, reply, error));
    self.out = reply->contribution + TIME_HEAD;
    TACIT_CHECK(tacit_dataset_map(&party->rows, 0, trend_block, &self, error));
    TACIT_CHECK(time_finish_reply(party, &spec, reply, error));
cleanup:
    end_look(&self);
    return status;
}
