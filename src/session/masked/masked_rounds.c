/*
 * Which round a party's next sum may be of. The next one, or the last again, which it answers by what it has
 * kept: whoever may choose any later round may make parties skip what they consented to, and pick the round
 * that suits.
 *
 * A party that was away has missed rounds. Where sums are exact it is out of them (masked_sets.c), and is
 * asked no more. Where they carry noise it comes back: it accepts a later round, up to as many as the price
 * pays for. That is sound. Every sum is private by itself, so that what a party did not take part in costs it
 * nothing and gives nothing away; the rounds that it skipped are over for it; and the graph is one for all
 * rounds (masked.c), so that there is nothing to choose a round for.
 */
#include "session/masked/masked_parts.h"

/* The first round that has a sum. Parties without a center talk first, and the sum is after their last
 * meeting. */
static uint64_t first_sum(const tacit_plan *plan) {
    if (plan->method->schedule == NULL) return 0;
    return plan->method->first_scheduled_round + plan->method->scheduled_rounds(plan) + 1;
}

/* The last round for which there can be a sum with noise in it: there may be one more than the price pays
 * for, of something that costs nothing. */
static tacit_status last_sum(uint64_t *out, const tacit_plan *plan, tacit_error *error) {
    tacit_prices prices = { .event = { .count = 0 } };
    TACIT_TRY(tacit_plan_price(plan, &prices, error));
    *out = prices.event.count;
    return TACIT_OK;
}

tacit_status masked_check_next(const stepping *self, const uint64_t *last, tacit_error *error) {
    const tacit_plan *plan = self->masks->plan;
    const uint64_t next = last != NULL ? *last + 1 : first_sum(plan), asked = self->question->round;
    const unsigned long long shown = (unsigned long long)asked + 1, due = (unsigned long long)next + 1;
    uint64_t most = 0;
    if (asked == next) return TACIT_OK;
    if (asked < next || tacit_plan_holds_set(plan) || plan->method->schedule != NULL)
        return tacit_fail(
            error, TACIT_REFUSED,
            "the coordinator starts a sum in round %llu, and the next one of this party is in round %llu",
            shown, due);
    TACIT_TRY(last_sum(&most, plan, error));
    if (asked <= most) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "the coordinator starts a sum in round %llu, and the study has at most %llu", shown,
                      (unsigned long long)most + 1);
}
