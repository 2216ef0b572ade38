#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "lab/plan_parts.h"

static const plan_effort THOROUGH = { 2e5, 5000, 3000, 3, 2 }, BRIEF = { 8e5, 12000, 3000, 3, 3 };
enum { MOST_WORLDS = 12 };

static tacit_status went_on(plan_looking *self, const char *stage, tacit_error *error) {
    const tacit_progress *progress = self->request->progress;
    if (tacit_progress_cancelled(progress)) return tacit_fail(error, TACIT_CANCELLED, "interrupted");
    self->done += self->done < self->steps;
    tacit_progress_report(progress, stage, self->done, self->steps);
    return TACIT_OK;
}

/* ---- methods ---- */

/* A failure that ends everything, and not only what one method was tried for. */
static bool is_fatal(tacit_status status) {
    return status == TACIT_CANCELLED || status == TACIT_NO_MEMORY || status == TACIT_INTERNAL;
}

static tacit_status refuse(tacit_outlook *out, const tacit_method *method, const tacit_error *why,
                           tacit_error *error) {
    tacit_outlook_refusal *more = tacit_grow(out->refused, out->refusals + 1, sizeof *more);
    if (more == NULL) return tacit_fail_memory(error);
    out->refused = more;
    more[out->refusals].method = method;
    snprintf(more[out->refusals++].why, sizeof more->why, "%s", why->text);
    return TACIT_OK;
}

static bool is_wanted(const tacit_outlook_request *request, const tacit_method *method) {
    if (request->method_count == 0) return !method->noise_free && method->reports == NULL;
    for (size_t m = 0; m < request->method_count; m++)
        if (request->methods[m] == method) return true;
    return false;
}

static tacit_status price_of(tacit_outlook_method *one, tacit_error *error) {
    tacit_prices prices = { .event = { .count = 0 } };
    TACIT_TRY(tacit_plan_price(&one->plan, &prices, error));
    one->charged = prices.charged;
    return TACIT_OK;
}

static tacit_status choose_methods(const plan_looking *self, tacit_outlook *out, tacit_error *error) {
    size_t all = 0;
    while (tacit_methods[all] != NULL) all++;
    out->methods = TACIT_NEW(tacit_outlook_method, all);
    if (out->methods == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < all; i++) {
        tacit_outlook_method *one = &out->methods[out->count];
        tacit_error why = TACIT_ERROR_INIT;
        if (!is_wanted(self->request, tacit_methods[i])) continue;
        *one = (tacit_outlook_method){ .pays_from = NAN };
        tacit_status status = tacit_outlook_plan(&one->plan, self->request, tacit_methods[i], &why);
        if (status == TACIT_OK) status = price_of(one, &why);
        if (is_fatal(status)) {
            if (error != NULL) *error = why;
            return status;
        }
        if (status == TACIT_OK)
            out->count++;
        else
            TACIT_TRY(refuse(out, tacit_methods[i], &why, error));
    }
    return TACIT_OK;
}

/* Whether lambda may be another than what the method chose. */
static bool is_open(const tacit_outlook_request *request, const tacit_plan *plan) {
    bool told = request->study != NULL && request->study->method == plan->method && !request->lambda_open;
    return !told && !plan->method->lambda_may_vanish && !tacit_plan_lambda_after(plan);
}

/* A smaller lambda, by tens, as long as each is better by more than chance: the rows are of belief, so the
 * choice is free. */
static tacit_status choose_lambda(plan_looking *self, const tacit_world *world, tacit_outlook_method *one,
                                  tacit_error *error) {
    static const double BETTER = 0.99, LEAST = 1e-8;
    tacit_plan *plan = &one->plan;
    const double usual = plan->lambda;
    tacit_run run;
    if (!is_open(self->request, plan)) return TACIT_OK;
    TACIT_TRY(plan_play(self, world, plan, 1, 0, &run, error));
    for (int step = 0; step < 5 && plan->lambda > 10 * LEAST; step++) {
        tacit_plan tried = *plan;
        double before = plan_loss_of_run(&run);
        tried.lambda = plan->lambda / 10;
        tacit_status status = tacit_plan_check(&tried, NULL);
        if (status == TACIT_OK) status = plan_play(self, world, &tried, 1, 0, &run, error);
        if (is_fatal(status)) return status;
        if (status != TACIT_OK || !(plan_loss_of_run(&run) < BETTER * before)) break;
        *plan = tried;
    }
    if (error != NULL) *error = (tacit_error)TACIT_ERROR_INIT;
    return plan->lambda != usual ? price_of(one, error) : TACIT_OK;
}

static tacit_outlook_verdict verdict_of(const tacit_outlook *out, const tacit_outlook_metrics *expected) {
    if (tacit_outlook_score(&out->pooled) > TACIT_OUTLOOK_SURE) return TACIT_OUTLOOK_NONE;
    return tacit_outlook_score(expected) > tacit_outlook_score(&out->alone) ? TACIT_OUTLOOK_PAYS
                                                                            : TACIT_OUTLOOK_DOES_NOT;
}

const char *tacit_outlook_verdict_text(tacit_outlook_verdict verdict) {
    static const char *const texts[] = { "joining pays", "joining does not pay", "no verdict" };
    return texts[verdict];
}

bool tacit_outlook_inestimable(const tacit_outlook_method *method) { return method->not_estimable >= 0.9; }

bool tacit_outlook_hopeless(const tacit_outlook *outlook, const tacit_outlook_method *method) {
    static const double GUESSING = 0.55, CHANCE = 0.5, NOTHING = 0.01; /* as AUCs, and explained */
    const tacit_outlook_figure *here = tacit_outlook_main(&method->expected),
                               *site = tacit_outlook_main(&outlook->alone);
    double guessed = outlook->response != TACIT_RESPONSE_CLASS ? NOTHING : GUESSING;
    if (tacit_outlook_inestimable(method)) return true;
    if (here->high < site->low) return true;
    if (here == &method->expected.figure[TACIT_BELIEF_AUC] && here->low < CHANCE && here->mean < site->mean)
        return true;
    return here != &method->expected.figure[TACIT_BELIEF_ACCURACY] && here->mean < fmin(guessed, site->mean);
}

/* Log-loss of each class's share for everybody. */
static double base_loss(const tacit_outlook *outlook) {
    const double p = outlook->positives;
    return -p * log(p) - (1 - p) * log(1 - p);
}

/* Whether probabilities are expected to be worse than each class's share. Only of two classes is that told:
 * what a number or a count is compared by is its gain already. */
static bool loses(const tacit_outlook *outlook, const tacit_outlook_method *method) {
    const bool two = method->plan.classes == 2 && outlook->positives > 0 && outlook->positives < 1;
    return two && method->expected.figure[TACIT_BELIEF_LOG_LOSS].mean >= base_loss(outlook);
}

bool tacit_outlook_doubtful(const tacit_outlook *outlook, const tacit_outlook_method *method,
                            char out[TACIT_REMARK_SIZE]) {
    out[0] = 0;
    if (method->not_estimable >= 0.1)
        tacit_format(out, TACIT_REMARK_SIZE,
                     "expect no table of coefficients in %.0f%% of such studies, since they are not "
                     "estimable at this price: that needs about %.0f rows, or epsilon %.2g",
                     100 * method->not_estimable, tacit_two_digits(method->needs_rows),
                     method->needs_epsilon);
    else if (loses(outlook, method))
        tacit_format(out, TACIT_REMARK_SIZE,
                     "at this price expect no gain over the base rate: a log-loss of %.4f, and each class's "
                     "share for everybody has %.4f",
                     method->expected.figure[TACIT_BELIEF_LOG_LOSS].mean, base_loss(outlook));
    else if (method->noise_share > 0.5)
        tacit_format(out, TACIT_REMARK_SIZE,
                     "noise is expected to make about %.0f%% of what the model says: with a weaker signal "
                     "than believed here, expect no gain over the base rate at this price",
                     100 * method->noise_share);
    return out[0] != 0;
}

/* ---- all worlds ---- */

/* What its runs say of themselves, in the mean over worlds; needs only over those that have some. */
static void add_means(tacit_outlook_method *one, const tacit_run *run, double worlds) {
    const double before = one->not_estimable * (worlds - 1), with = before + run->not_estimable;
    one->noise_share += (run->noise_share - one->noise_share) / worlds;
    one->not_estimable = with / worlds;
    if (!(run->not_estimable > 0)) return;
    one->needs_rows += (run->needs_rows - one->needs_rows) * run->not_estimable / with;
    one->needs_epsilon += (run->needs_epsilon - one->needs_epsilon) * run->not_estimable / with;
}

/* Every method on the worlds; those that fail are moved to the refusals. */
static tacit_status play_all(plan_looking *self, tacit_outlook *out, const tacit_world *world, size_t draw,
                             const double moved[TACIT_BELIEF_FIGURES], plan_tally *tallies,
                             tacit_error *error) {
    for (size_t m = 0; m < out->count; m++) {
        tacit_outlook_method *one = &out->methods[m];
        tacit_error why = TACIT_ERROR_INIT;
        tacit_run run;
        tacit_status status = TACIT_OK;
        /* Where it is close, more worlds are for the leader alone. */
        if (one->behind || (draw >= self->effort.worlds && m != out->recommended)) continue;
        if (draw == 0) status = choose_lambda(self, world, one, &why);
        if (status == TACIT_OK)
            status = plan_play(self, world, &one->plan, self->effort.trials, draw, &run, &why);
        if (is_fatal(status)) {
            if (error != NULL) *error = why;
            return status;
        }
        TACIT_TRY(went_on(self, one->plan.method->name, error));
        if (status != TACIT_OK) {
            TACIT_TRY(refuse(out, one->plan.method, &why, error));
            memmove(one, one + 1, (out->count - m - 1) * sizeof *one);
            memmove(tallies + m, tallies + m + 1, (out->count - m - 1) * sizeof *tallies);
            out->count--;
            m--;
            continue;
        }
        plan_add_run(&tallies[m], &run, world, moved);
        one->rounds = run.rounds;
        add_means(one, &run, (double)(draw + 1));
        one->bytes_per_party = run.bytes_per_party;
        one->handovers = tacit_plan_handovers(&one->plan, self->request->exchanges, run.rounds);
    }
    return TACIT_OK;
}

static void note_expected(tacit_outlook *out, const plan_tally *tallies) {
    for (size_t m = 0; m < out->count; m++) out->methods[m].expected = plan_metrics_of(&tallies[m]);
}

/* Those that cannot win any more are left as they are: their time is better spent on the others. A model that
 * gains on the base rate is not left behind for one that does not, however that ranks rows; where none gains,
 * losses are compared. */
static void leave_behind(tacit_outlook *out) {
    static const double FAR = 0.02;
    double best = -INFINITY, gaining = -INFINITY, least = INFINITY;
    for (size_t m = 0; m < out->count; m++) {
        const tacit_outlook_method *one = &out->methods[m];
        const double score = tacit_outlook_score(&one->expected);
        best = fmax(best, score);
        if (!loses(out, one)) gaining = fmax(gaining, score);
        least = fmin(least, one->expected.figure[TACIT_BELIEF_LOG_LOSS].mean);
    }
    for (size_t m = 0; m < out->count; m++) {
        tacit_outlook_method *one = &out->methods[m];
        const double score = tacit_outlook_score(&one->expected);
        if (!loses(out, one))
            one->behind |= score < gaining - FAR;
        else if (gaining > -INFINITY)
            one->behind |= score < best - FAR;
        else
            one->behind |= one->expected.figure[TACIT_BELIEF_LOG_LOSS].mean > least + FAR;
    }
}

/* How far the leader is ahead of a site alone, world by world. */
typedef struct lead {
    double worlds, sum, square;
} lead;

/* Whether more worlds would hardly change the sign. */
static bool is_clear(const lead *self) {
    static const double CLEAR = 3;
    double mean = self->sum / self->worlds,
           variance = (self->square - self->worlds * mean * mean) / (self->worlds - 1);
    return mean * mean * self->worlds > CLEAR * CLEAR * variance;
}

static double score_of(const plan_tally *self) {
    tacit_outlook_metrics metrics = plan_metrics_of(self);
    return tacit_outlook_score(&metrics);
}

/* Some methods cost more than the epsilon that their paper claims for them. */
static bool within_price(const tacit_outlook *out, const tacit_outlook_method *one) {
    return one->charged.epsilon <= out->epsilon * (1 + 1e-6);
}

bool tacit_outlook_better(const tacit_outlook *outlook, const tacit_outlook_method *a,
                          const tacit_outlook_method *b) {
    static const double NEARLY = 0.002, CLEARLY = 0.01; /* a score; a log-loss */
    const int loss =
        isnan(a->expected.figure[TACIT_BELIEF_LOG_LOSS].mean) ? TACIT_BELIEF_DEVIANCE : TACIT_BELIEF_LOG_LOSS;
    const bool cheap = within_price(outlook, a), losing = loses(outlook, a);
    const double less = b->expected.figure[loss].mean - a->expected.figure[loss].mean,
                 more = tacit_outlook_score(&a->expected) - tacit_outlook_score(&b->expected);
    if (cheap != within_price(outlook, b)) return cheap;
    if (losing != loses(outlook, b)) return !losing;
    if (losing && fabs(less) > CLEARLY) return less > 0;
    return fabs(more) > NEARLY ? more > 0 : less > 0;
}

/* The best so far; out->count: there is none. */
static size_t leader_of(const tacit_outlook *out) {
    size_t best = out->count;
    for (size_t m = 0; m < out->count; m++)
        if (best == out->count || tacit_outlook_better(out, &out->methods[m], &out->methods[best])) best = m;
    return best;
}

/* What one world adds to two tallies, as a difference of scores. */
static double difference(const plan_tally *a, const plan_tally *a_before, const plan_tally *b,
                         const plan_tally *b_before) {
    plan_tally one = *a, other = *b;
    one.count -= a_before->count;
    other.count -= b_before->count;
    for (int k = 0; k < TACIT_BELIEF_FIGURES; k++) {
        one.sum[k] -= a_before->sum[k];
        one.square[k] -= a_before->square[k];
        other.sum[k] -= b_before->sum[k];
        other.square[k] -= b_before->square[k];
    }
    return score_of(&one) - score_of(&other);
}

typedef struct yardsticks {
    plan_tally alone, pooled;
} yardsticks;

static tacit_status play_world(plan_looking *self, tacit_outlook *out, size_t draw, yardsticks *beside,
                               plan_tally *tallies, tacit_error *error) {
    const tacit_outlook_request *request = self->request;
    tacit_world world = TACIT_WORLD_INIT;
    double moved[TACIT_BELIEF_FIGURES];
    tacit_status status;
    TACIT_CHECK(plan_make_world(self, &world, request->rows, request->parties, draw, error));
    out->simulated = world.train;
    TACIT_CHECK(plan_look_at_pooled(self, &world, request->rows, &beside->pooled, moved, error));
    TACIT_CHECK(went_on(self, "pooled", error));
    TACIT_CHECK(plan_look_at_alone(self, &world, request->rows / request->parties, &beside->alone, error));
    TACIT_CHECK(went_on(self, "alone", error));
    TACIT_CHECK(play_all(self, out, &world, draw, moved, tallies, error));
cleanup:
    tacit_world_clear(&world);
    return status;
}

/* A few worlds, and more where it is close. */
static tacit_status play_worlds(plan_looking *self, tacit_outlook *out, plan_tally *tallies,
                                tacit_error *error) {
    yardsticks beside = { { .count = 0 }, { .count = 0 } };
    lead ahead = { 0, 0, 0 };
    for (size_t draw = 0; draw < MOST_WORLDS; draw++) {
        if (draw >= self->effort.worlds && (out->count == 0 || is_clear(&ahead))) break;
        size_t leader = draw > 0 && out->count > 0 ? leader_of(out) : 0;
        out->recommended = leader;
        plan_tally before = tallies[leader], alone = beside.alone;
        TACIT_TRY(play_world(self, out, draw, &beside, tallies, error));
        note_expected(out, tallies);
        leave_behind(out);
        if (out->count == 0) continue;
        if (draw == 0) leader = leader_of(out);
        if (draw == 0) before = (plan_tally){ .count = 0 };
        double here = difference(&tallies[leader], &before, &beside.alone, &alone);
        ahead.worlds++;
        ahead.sum += here;
        ahead.square += here * here;
    }
    out->alone = plan_metrics_of(&beside.alone);
    out->pooled = plan_metrics_of(&beside.pooled);
    return TACIT_OK;
}

static void conclude(tacit_outlook *out, const plan_tally *tallies) {
    note_expected(out, tallies);
    out->recommended = leader_of(out);
    for (size_t m = 0; m < out->count; m++)
        out->methods[m].verdict = verdict_of(out, &out->methods[m].expected);
}

/* ---- other numbers ---- */

/* Worlds on which prices are looked for, and what a site alone scores there. */
enum { PRICE_WORLDS = 2 };
typedef struct market {
    tacit_world world[PRICE_WORLDS];
    double alone; /* mean score of a site, less what thinning takes from the others */
} market;

static void market_clear(market *self) {
    for (size_t w = 0; w < PRICE_WORLDS; w++) tacit_world_clear(&self->world[w]);
}

static tacit_status market_open(plan_looking *self, market *out, tacit_error *error) {
    const tacit_outlook_request *request = self->request;
    *out = (market){ .alone = 0 };
    for (size_t w = 0; w < PRICE_WORLDS; w++) {
        plan_tally alone = { .count = 0 }, pooled = { .count = 0 };
        double moved[TACIT_BELIEF_FIGURES];
        TACIT_TRY(plan_make_world(self, &out->world[w], request->rows, request->parties, w, error));
        TACIT_TRY(plan_look_at_alone(self, &out->world[w], request->rows / request->parties, &alone, error));
        TACIT_TRY(plan_look_at_pooled(self, &out->world[w], request->rows, &pooled, moved, error));
        tacit_outlook_metrics site = plan_metrics_of(&alone);
        out->alone +=
            (tacit_outlook_score(&site) - moved[tacit_outlook_main(&site) - site.figure]) / PRICE_WORLDS;
    }
    return TACIT_OK;
}

/* The score of a method at another epsilon. */
static tacit_status score_at(plan_looking *self, const market *at, const tacit_outlook_method *one,
                             double epsilon, double *out, tacit_error *error) {
    tacit_outlook_request other = *self->request;
    tacit_plan plan;
    *out = 0;
    other.epsilon = epsilon;
    TACIT_TRY(tacit_outlook_plan(&plan, &other, one->plan.method, error));
    for (size_t w = 0; w < PRICE_WORLDS; w++) {
        tacit_run run;
        TACIT_TRY(plan_play(self, &at->world[w], &plan, 1, w, &run, error));
        plan_tally here = { .count = 0 };
        plan_add_run(&here, &run, &at->world[w], (const double[TACIT_BELIEF_FIGURES]){ 0 });
        *out += score_of(&here) / PRICE_WORLDS;
    }
    return TACIT_OK;
}

/* By halving a list of epsilons: what a method scores grows with epsilon. What the verdict says of the price
 * that was asked for rests on more worlds, and holds. */
static tacit_status find_price(plan_looking *self, const market *at, tacit_outlook_method *one,
                               tacit_error *error) {
    static const double prices[] = { 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 8, 12, 20 };
    const double asked = self->request->epsilon;
    size_t low = 0, count = sizeof prices / sizeof *prices, high = count;
    if (one->verdict == TACIT_OUTLOOK_DOES_NOT)
        while (low < count && prices[low] <= asked) low++;
    if (one->verdict == TACIT_OUTLOOK_PAYS)
        while (high > 0 && prices[high - 1] >= asked) high--;
    while (low < high) {
        size_t middle = (low + high) / 2;
        double score = 0;
        tacit_status status = score_at(self, at, one, prices[middle], &score, error);
        if (is_fatal(status)) return status;
        if (status == TACIT_OK && score > at->alone)
            high = middle;
        else
            low = middle + 1;
    }
    one->pays_from = low < count ? prices[low] : NAN;
    if (one->verdict == TACIT_OUTLOOK_PAYS && !(one->pays_from < asked)) one->pays_from = asked;
    if (error != NULL) *error = (tacit_error)TACIT_ERROR_INIT;
    return went_on(self, "price", error);
}

static tacit_status find_prices(plan_looking *self, tacit_outlook *out, tacit_error *error) {
    market at;
    tacit_status status;
    TACIT_CHECK(market_open(self, &at, error));
    TACIT_CHECK(find_price(self, &at, &out->methods[out->recommended], error));
cleanup:
    market_clear(&at);
    return status;
}

/* The recommended method with other numbers of parties and rows. */
static tacit_status look_at_other(plan_looking *self, const tacit_method *method, size_t parties, size_t rows,
                                  tacit_outlook_other *out, tacit_error *error) {
    tacit_outlook_request other = *self->request;
    plan_tally expected = { .count = 0 }, alone = { .count = 0 }, pooled = { .count = 0 };
    tacit_plan plan;
    double moved[TACIT_BELIEF_FIGURES];
    tacit_status status = TACIT_OK;
    other.parties = parties;
    other.rows = rows;
    other.minimum_rows = 0;
    TACIT_TRY(tacit_outlook_plan(&plan, &other, method, error));
    for (size_t draw = 0; status == TACIT_OK && draw < (self->effort.worlds + 1) / 2; draw++) {
        tacit_world world = TACIT_WORLD_INIT;
        tacit_run run;
        status = plan_make_world(self, &world, rows, parties, draw, error);
        if (status == TACIT_OK) status = plan_look_at_alone(self, &world, rows / parties, &alone, error);
        if (status == TACIT_OK) status = plan_look_at_pooled(self, &world, rows, &pooled, moved, error);
        if (status == TACIT_OK)
            status = plan_play(self, &world, &plan, self->effort.trials, draw, &run, error);
        if (status == TACIT_OK) plan_add_run(&expected, &run, &world, moved);
        tacit_world_clear(&world);
    }
    TACIT_TRY(status);
    *out = (tacit_outlook_other){ parties, rows, plan_metrics_of(&expected), plan_metrics_of(&alone) };
    return went_on(self, "more rows", error);
}

static tacit_status look_further(plan_looking *self, tacit_outlook *out, tacit_error *error) {
    if (self->request->brief || out->count == 0) return TACIT_OK;
    const tacit_method *best = out->methods[out->recommended].plan.method;
    size_t parties = self->request->parties, rows = self->request->rows;
    TACIT_TRY(find_prices(self, out, error));
    TACIT_TRY(look_at_other(self, best, 2 * parties, 2 * rows, &out->more_parties, error));
    return look_at_other(self, best, parties, 2 * rows, &out->more_rows, error);
}

/* ---- the whole ---- */

static tacit_status check_request(const tacit_outlook_request *request, tacit_error *error) {
    if (request->parties == 0 || request->rows < request->parties)
        return tacit_fail(error, TACIT_USAGE, "%zu rows are too few for %zu parties", request->rows,
                          request->parties);
    const bool exact = request->study != NULL && request->study->method->noise_free;
    if (!(request->epsilon > 0) || (isinf(request->epsilon) && !exact))
        return tacit_fail(error, TACIT_USAGE, "epsilon must be above 0 and finite, not %g", request->epsilon);
    return TACIT_OK;
}

static bool is_cancelled(void *context) { return tacit_progress_cancelled(context); }

tacit_status tacit_outlook_make(tacit_outlook *out, const tacit_outlook_request *request,
                                tacit_error *error) {
    plan_looking self = { .request = request,
                          .belief = request->belief,
                          .effort = request->brief ? BRIEF : THOROUGH,
                          .cancelling = { NULL, is_cancelled, (void *)request->progress } };
    plan_tally *tallies = NULL;
    tacit_outlook made = TACIT_OUTLOOK_INIT;
    tacit_status status;
    TACIT_CHECK(check_request(request, error));
    TACIT_CHECK(tacit_belief_settle(&self.belief, request->pool, error));
    made.rows = request->rows;
    made.parties = request->parties;
    made.features = tacit_schema_features(request->belief.schema);
    made.response = request->belief.schema->response;
    made.epsilon = request->epsilon;
    made.delta = request->delta;
    made.signal = self.belief.signal;
    made.positives = self.belief.positives;
    TACIT_CHECK(choose_methods(&self, &made, error));
    self.steps = self.effort.worlds * (made.count + 2) + (request->brief ? 0 : 3);
    tallies = TACIT_NEW(plan_tally, made.count + 1);
    if (tallies == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(play_worlds(&self, &made, tallies, error));
    conclude(&made, tallies);
    TACIT_CHECK(look_further(&self, &made, error));
    for (size_t m = 0; m < made.count; m++) TACIT_CHECK(tacit_plan_settle(&made.methods[m].plan, error));
    *out = made;
    made = (tacit_outlook)TACIT_OUTLOOK_INIT;
cleanup:
    free(tallies);
    tacit_belief_clear(&self.belief);
    tacit_outlook_clear(&made);
    return status;
}

void tacit_outlook_clear(tacit_outlook *outlook) {
    free(outlook->methods);
    free(outlook->refused);
    *outlook = (tacit_outlook)TACIT_OUTLOOK_INIT;
}
