/*
 * Filters: what may still be asked when kinds of noise, and whether there is a next question at all, depend
 * on earlier answers.
 *
 * Proof notes. Fix two data sets that differ in one row (or party). P and Q are the laws of everything that
 * leaves, over adaptively chosen answers up to a time T at which nothing more is asked; L_t is the privacy
 * loss log dP/dQ up to time t. What is promised is that delta(epsilon) = E_P (1 - e^(epsilon - L_T))_+ is at
 * most delta.
 *
 * A. Stopping. 1 - e^epsilon dQ/dP is a martingale under P and its positive part a submartingale: whoever
 * stops earlier has lost no
 *    more. So it is enough to bound the state in which the most has been asked.
 *
 * B. RDP. Let D_i(a) bound the Renyi divergence of answer i at order a, given what went before. For each a >
 * 1, M_t(a) =
 *    exp((a-1)(L_t - sum D_i(a))) is a supermartingale from 1 (Feldman and Zrnic 2021; Lecuyer 2021; also
 *    with answers of several studies interleaved). Take orders a_j and weights w_j fixed in advance that add
 *    up to 1, and ask on as long as *some* order, whichever it turns out to be, has
 *        sum D_i(a) + (log c_a - log(w_a d))/(a - 1) <= epsilon,   c_a = (1 - 1/a)^(a-1)/a.
 *    (1 - e^(epsilon - L))_+ <= c_a e^((a-1)(L - epsilon)) for every L (Canonne, Kamath and Steinke 2020), so
 *    at the end it is at most w_a d M_T(a) <= d sum_j w_j M_T(a_j), whose mean is at most d. Choosing the
 *    order after the fact is paid for by its weight. An approximate event gives all away with probability
 *    d_i, and is else pure. The d_i add up, and have a part of delta of their own, the pool, fixed in
 *    advance; the filters have the rest.
 *
 * C. GDP. Each answer is mu_i-GDP given what went before: by Blackwell it can be made from a draw of N(0, 1)
 * or N(mu_i, 1), that is, from the
 *    increment over a time mu_i^2 of a Brownian motion whose drift is 0 under one data set and 1 under the
 *    other. Answers asked one after the other use up stretches of one path, and if sum mu_i^2 <= m^2 always
 *    holds, all of them are made from the path up to the time m^2, of which the end point says all: N(0, 1)
 *    against N(m, 1) (Smith and Thakurta 2022 have this for Gaussians). A block is made from one draw when it
 *    begins, and its answers from that, one by one, in between those of others; so its number of runs counts
 *    in full once it has begun. A block that is mu-GDP except for a spare probability takes this from the
 *    pool.
 *
 * D. Two filters, at d1 and d2, of which either may let pass: at the end one of them holds. Where the first
 * does, everything up to the
 *    end is within its budget, and the loss on those outcomes is at most that of the same run stopped where
 *    its budget ends: d1. So d1 + d2 in all.
 *
 * E. Free of charge beside them: (1) as long as all that was asked is pure, the loss is at most the sum of
 * the epsilons, with certainty; it
 *    adds nothing to delta; with approximate events no more than the pool has. (2) The first block, as long
 *    as it is the only one, costs what any accountant proves about it: it was chosen in view of nothing. If
 *    it is within the filter, then by A this case adds nothing to what the filter bounds; if not, nothing may
 *    follow it, and its own guarantee is all there is. The same of a single loose answer.
 *    (3) If the first is an approximate event with more delta than the pool, prices add up from then on
 *        (Rogers et al. 2016): what decides
 *    is the first, which was chosen in view of nothing.
 */
#include "privacy/account/counting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/growing.h"
#include "privacy/account/account_parts.h"
#include "privacy/account/gaussian.h"

const char *tacit_count_name(tacit_count count) {
    static const char *const names[TACIT_COUNTS] = { "least", "sum", "rdp", "gdp", "both" };
    return (unsigned)count < TACIT_COUNTS ? names[count] : "unknown";
}

/* ---- blocks ---- */

/* Of such a study a price is known, and no number of answers. */
static bool is_priced(const tacit_event *event) {
    return event->count == 1 && (event->kind == TACIT_EVENT_PURE || event->kind == TACIT_EVENT_APPROXIMATE) &&
           event->sampling == 1;
}

static bool no_less_noise(const tacit_event *event, const tacit_event *held) {
    bool noise = held->kind == TACIT_EVENT_GAUSSIAN || held->kind == TACIT_EVENT_LAPLACE;
    return event->kind == held->kind && event->replaced == held->replaced && event->delta <= held->delta &&
           event->sampling <= held->sampling &&
           (noise ? event->parameter >= held->parameter : event->parameter <= held->parameter);
}

bool tacit_block_covers(const tacit_block *block, const tacit_event *event, const tacit_price *price) {
    if (!block->open || price->unit != block->price.unit) return false;
    if (!is_priced(&block->event))
        return no_less_noise(event, &block->event) && event->count <= block->event.count - block->used;
    return tacit_amount_within(tacit_add_up(block->charged.epsilon, price->epsilon), block->price.epsilon) &&
           tacit_amount_within(tacit_add_up(block->charged.delta, price->delta), block->price.delta);
}

static bool begun(const tacit_block *block) {
    return block->open || block->used > 0 || block->charged.epsilon > 0 || block->charged.delta > 0;
}

/* What counts: all of an open block, or `whole`; else what it has used. Answers of a price together are no
 * worse than one of their sum. */
static tacit_event counted(const tacit_block *block, bool whole) {
    tacit_event event = block->event;
    if (whole || block->open) return event;
    event.count = is_priced(&event) ? 1 : block->used;
    if (!is_priced(&block->event)) return event;
    event.parameter = fmin(event.parameter, block->charged.epsilon);
    event.delta = fmin(event.delta, block->charged.delta);
    if (event.kind == TACIT_EVENT_APPROXIMATE && event.delta == 0) event.kind = TACIT_EVENT_PURE;
    if (!(event.parameter > 0)) event.count = 0;
    return event;
}

static tacit_price block_sum(const tacit_block *block) {
    bool pure = block->price.delta == 0 && block->charged.epsilon <= block->price.epsilon;
    return block->open || !pure ? block->price : block->charged;
}

tacit_status tacit_holding_add(tacit_holding *holding, const tacit_block *block, tacit_error *error) {
    if (!begun(block)) return TACIT_OK;
    tacit_block *grown =
        tacit_grow_by_one(holding->blocks, holding->count, &holding->capacity, 4, sizeof *grown);
    if (grown == NULL) return tacit_fail_memory(error);
    holding->blocks = grown;
    holding->blocks[holding->count++] = *block;
    return TACIT_OK;
}

void tacit_holding_clear(tacit_holding *holding) {
    tacit_charges_clear(&holding->loose);
    free(holding->blocks);
    *holding = (tacit_holding)TACIT_HOLDING_INIT;
}

static tacit_price summed(const tacit_holding *holding, tacit_unit unit) {
    tacit_price sum = holding->loose_sum;
    sum.unit = unit;
    for (size_t i = 0; i < holding->count; i++) {
        tacit_price one = block_sum(&holding->blocks[i]);
        sum.epsilon = tacit_add_up(sum.epsilon, one.epsilon);
        sum.delta = tacit_add_up(sum.delta, one.delta);
    }
    return sum;
}

/* Everything as charges of the unit. */
static tacit_status flatten(tacit_charges *out, const tacit_holding *holding, tacit_unit unit, bool whole,
                            tacit_error *error) {
    for (size_t i = 0; i < holding->loose.count; i++) {
        const tacit_charge *item = i == 0 ? &holding->loose.first : &holding->loose.more[i - 1];
        TACIT_TRY(tacit_charges_add(out, &item->event, unit, error));
    }
    for (size_t i = 0; i < holding->count; i++) {
        tacit_event event = counted(&holding->blocks[i], whole);
        TACIT_TRY(tacit_charges_add(out, &event, unit, error));
    }
    return TACIT_OK;
}

/* ---- RDP ---- */

enum { ORDERS = 7 };

static const double weights[ORDERS] = {
    1.0 / 30, 1.0 / 15, 2.0 / 15, 8.0 / 15, 2.0 / 15, 1.0 / 15, 1.0 / 30
};

/* The part of delta that is for what gives all away: approximate events, and what blocks are not Gaussian by.
 * The filters have the rest; in BOTH each has half of it. */
static const double POOL = 1.0 / 4;

static double part_of(tacit_count count) {
    return count == TACIT_COUNT_GDP ? 1 : count == TACIT_COUNT_BOTH ? (1 - POOL) / 2 : 1 - POOL;
}

static double order_at(double middle, int j) { return 1 + ldexp(middle - 1, j - ORDERS / 2); }

/* (log c_a - log(weight delta))/(a - 1). */
static double overhead(double order, double weight, double delta) {
    return (order - 1) > 0 ? log1p(-1 / order) - (log(order) + log(weight * delta)) / (order - 1) : INFINITY;
}

tacit_counting tacit_counting_for(tacit_count count, double epsilon, double delta) {
    tacit_counting counting = { count, 0 };
    double best = -INFINITY, share = part_of(count);
    if (count != TACIT_COUNT_RDP && count != TACIT_COUNT_BOTH) return counting;
    for (int i = -60; i <= 220; i++) {
        double order = 1 + exp(0.05 * i);
        double rho = (epsilon - overhead(order, weights[ORDERS / 2], share * delta)) / order;
        if (rho <= best) continue;
        best = rho;
        counting.order = order;
    }
    return counting;
}

static tacit_status by_rdp(double *out, const tacit_accountant *accountant, double delta, double middle,
                           tacit_error *error) {
    *out = INFINITY;
    for (int j = 0; j < ORDERS; j++) {
        double order = order_at(middle, j), divergence, extra;
        if (!(order > 1)) continue;
        TACIT_TRY(tacit_renyi_at(&divergence, &extra, accountant, order, error));
        double epsilon = (divergence + overhead(order, weights[j], delta)) * (1 + 1e-12) + 1e-12;
        *out = fmin(*out, fmax(epsilon, 0));
    }
    return TACIT_OK;
}

/* ---- GDP ---- */

/* What a block may be not Gaussian by, as a part of delta, and for how many. */
static const double SPARE = 1.0 / 512;
enum { SPARE_PARTS = 64 };

static bool takes_spare(const tacit_block *block) {
    return block->event.sampling < 1 && block->event.kind == TACIT_EVENT_GAUSSIAN;
}

static double spare_parts(const tacit_holding *holding) {
    size_t parts = 0;
    for (size_t i = 0; i < holding->count; i++) parts += takes_spare(&holding->blocks[i]);
    return fmin((double)parts, SPARE_PARTS);
}

/* `pooled`: what an approximate event gives away is counted elsewhere. */
static tacit_status add_mu(double *sum, const tacit_event *event, bool pooled, tacit_error *error) {
    double one = 0;
    tacit_event rest = *event;
    if (event->count == 0) return TACIT_OK;
    if (pooled && rest.kind == TACIT_EVENT_APPROXIMATE) rest.kind = TACIT_EVENT_PURE, rest.delta = 0;
    TACIT_TRY(tacit_gdp_of(&one, &rest, error));
    *sum += one * (1 + 4 * TACIT_ROUND);
    return TACIT_OK;
}

/* The sum of the squared mus. `spare` 0: no block is taken for more Gaussian than it is. */
static tacit_status sum_mus(double *out, const tacit_holding *holding, double spare, tacit_error *error) {
    int parts = 0;
    *out = 0;
    for (size_t i = 0; i < holding->loose.count; i++)
        TACIT_TRY(add_mu(out, i == 0 ? &holding->loose.first.event : &holding->loose.more[i - 1].event,
                         spare > 0, error));
    for (size_t i = 0; i < holding->count; i++) {
        const tacit_block *block = &holding->blocks[i];
        tacit_event event = counted(block, false);
        double one = 0;
        if (spare == 0 || !takes_spare(block) || parts == SPARE_PARTS) {
            TACIT_TRY(add_mu(out, &event, spare > 0, error));
            continue;
        }
        parts++;
        TACIT_TRY(tacit_gdp_of_block(&one, &block->event, spare, error));
        *out += one * (1 + 4 * TACIT_ROUND);
    }
    return TACIT_OK;
}

static tacit_status by_gdp(double *out, const tacit_holding *holding, double delta, double spare,
                           tacit_error *error) {
    double squared = 0;
    *out = INFINITY;
    TACIT_TRY(sum_mus(&squared, holding, spare, error));
    if (!(squared < 1e6)) return TACIT_OK;
    return tacit_gaussian_epsilon(out, 1 / sqrt(fmax(squared, 1e-12)) * (1 - 16 * TACIT_ROUND), delta, error);
}

/* ---- all together ---- */

/* Whether the loss is at most the sum of the epsilons, with certainty, except for what approximate events
 * give away. */
static bool all_of_prices(const tacit_charges *charges) {
    for (size_t i = 0; i < charges->count; i++) {
        tacit_event_kind kind = i == 0 ? charges->first.event.kind : charges->more[i - 1].event.kind;
        if (kind == TACIT_EVENT_GAUSSIAN || kind == TACIT_EVENT_CONCENTRATED) return false;
    }
    return true;
}

static bool alone(const tacit_holding *holding) {
    if (holding->count == 1) return holding->loose.count == 0;
    return holding->count == 0 && holding->loose.count == 1 && holding->loose.first.event.count == 1;
}

static bool is_large(const tacit_event *event, double delta) {
    return event->kind == TACIT_EVENT_APPROXIMATE && event->delta > POOL * delta;
}

bool tacit_holding_is_summed(const tacit_holding *holding, double delta) {
    bool large = false;
    for (size_t i = 0; i < holding->loose.count; i++)
        large = large ||
                is_large(i == 0 ? &holding->loose.first.event : &holding->loose.more[i - 1].event, delta);
    for (size_t i = 0; i < holding->count; i++) large = large || is_large(&holding->blocks[i].event, delta);
    return large;
}

static void take(tacit_spending *best, double epsilon, tacit_composition by) {
    if (epsilon < best->epsilon) *best = (tacit_spending){ epsilon, best->delta, by };
}

static tacit_status by_filters(tacit_spending *best, const tacit_holding *holding,
                               const tacit_charges *charges, tacit_unit unit, double sum, double delta,
                               const tacit_counting *counting, tacit_error *error) {
    bool both = counting->count == TACIT_COUNT_BOTH, whole = false;
    double share = part_of(counting->count) * delta, rdp = INFINITY, gdp = INFINITY, unused, given = 0;
    tacit_accountant *accountant = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_accountant_create(&accountant, TACIT_REPLACE, error));
    TACIT_CHECK(tacit_charges_gather(&whole, accountant, charges, unit, error));
    if (!whole || accountant->count == 0) goto cleanup; /* beyond what accountants take */
    if (counting->count == TACIT_COUNT_GDP) {
        TACIT_CHECK(by_gdp(&gdp, holding, share, 0, error));
        take(best, gdp, TACIT_COMPOSITION_GAUSSIAN);
        goto cleanup;
    }
    TACIT_CHECK(tacit_renyi_at(&unused, &given, accountant, 2, error));
    if (both) given += spare_parts(holding) * SPARE * delta;
    if (given * (1 + 1e-12) > POOL * delta) goto cleanup;
    if (all_of_prices(charges)) take(best, sum, TACIT_COMPOSITION_BASIC);
    TACIT_CHECK(by_rdp(&rdp, accountant, share, counting->order, error));
    if (both) TACIT_CHECK(by_gdp(&gdp, holding, share, SPARE * delta, error));
    take(best, rdp, TACIT_COMPOSITION_RDP);
    take(best, gdp, TACIT_COMPOSITION_GAUSSIAN);
cleanup:
    tacit_accountant_free(accountant);
    return status;
}

tacit_status tacit_holding_spent(tacit_spending *out, const tacit_holding *holding, tacit_unit unit,
                                 double delta, const tacit_counting *counting, tacit_error *error) {
    tacit_charges charges = TACIT_CHARGES_INIT;
    tacit_price sum = summed(holding, unit);
    tacit_spending best = { INFINITY, delta, TACIT_COMPOSITION_BASIC };
    bool single = alone(holding), least = counting->count == TACIT_COUNT_LEAST;
    tacit_status status;
    TACIT_CHECK(flatten(&charges, holding, unit, single, error));
    if (sum.epsilon == 0 && sum.delta == 0) {
        best.epsilon = 0;
    } else if (delta == 0) { /* pure events, added up */
        TACIT_CHECK(tacit_charges_compose(&best, &charges, unit, &sum, delta, error));
    } else if (counting->count == TACIT_COUNT_SUM ||
               (!least && holding->settled && tacit_holding_is_summed(holding, delta))) {
        if (tacit_amount_within(sum.delta, delta)) best.epsilon = sum.epsilon;
    } else {
        if (least || single) TACIT_CHECK(tacit_charges_compose(&best, &charges, unit, &sum, delta, error));
        if (all_of_prices(&charges) && sum.delta == 0) take(&best, sum.epsilon, TACIT_COMPOSITION_BASIC);
        if (!least && isfinite(sum.epsilon))
            TACIT_CHECK(by_filters(&best, holding, &charges, unit, sum.epsilon, delta, counting, error));
    }
    *out = best;
cleanup:
    tacit_charges_clear(&charges);
    return status;
}

/* ---- for information ---- */

const char *tacit_alternative_name(tacit_alternative way) {
    static const char *const names[TACIT_ALTERNATIVES] = { "basic", "rdp", "gdp", "pld" };
    return (unsigned)way < TACIT_ALTERNATIVES ? names[way] : "unknown";
}

static tacit_status by_accountant(double *out, const tacit_accountant *accountant, tacit_composition by,
                                  double delta, tacit_error *error) {
    tacit_error quiet = TACIT_ERROR_INIT;
    tacit_status status = tacit_accountant_epsilon_by(out, accountant, by, delta, &quiet);
    if (status == TACIT_OK) return TACIT_OK;
    *out = NAN;
    return status == TACIT_USAGE ? TACIT_OK : tacit_fail(error, status, "%s", quiet.text);
}

tacit_status tacit_holding_alternatives(double out[TACIT_ALTERNATIVES], const tacit_holding *holding,
                                        tacit_unit unit, double delta, tacit_error *error) {
    tacit_charges charges = TACIT_CHARGES_INIT;
    tacit_accountant *accountant = NULL;
    const tacit_price sum = summed(holding, unit);
    double found[TACIT_ALTERNATIVES] = { INFINITY, NAN, NAN, NAN };
    bool whole = false;
    tacit_status status;
    if (tacit_amount_within(sum.delta, delta)) found[TACIT_ALTERNATIVE_BASIC] = sum.epsilon;
    TACIT_CHECK(flatten(&charges, holding, unit, false, error));
    TACIT_CHECK(tacit_accountant_create(&accountant, TACIT_REPLACE, error));
    TACIT_CHECK(tacit_charges_gather(&whole, accountant, &charges, unit, error));
    if (whole && accountant->count > 0 && isfinite(sum.epsilon)) {
        TACIT_CHECK(
            by_accountant(&found[TACIT_ALTERNATIVE_RDP], accountant, TACIT_COMPOSITION_RDP, delta, error));
        TACIT_CHECK(by_gdp(&found[TACIT_ALTERNATIVE_GDP], holding, delta, 0, error));
        TACIT_CHECK(
            by_accountant(&found[TACIT_ALTERNATIVE_PLD], accountant, TACIT_COMPOSITION_PLD, delta, error));
    }
    memcpy(out, found, sizeof found);
cleanup:
    tacit_accountant_free(accountant);
    tacit_charges_clear(&charges);
    return status;
}
