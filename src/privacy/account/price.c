#include "privacy/account/price.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/number.h"

const char *tacit_unit_name(tacit_unit unit) {
    switch (unit) {
    case TACIT_UNIT_RECORD: return "record";
    case TACIT_UNIT_PARTY: return "party";
    }
    return "unknown unit";
}

tacit_status tacit_price_check(const tacit_price *price, tacit_error *error) {
    if (price->unit != TACIT_UNIT_RECORD && price->unit != TACIT_UNIT_PARTY)
        return tacit_fail(error, TACIT_INPUT, "a price is per record or per party, not per unit %d",
                          (int)price->unit);
    /* Written so that NaN fails both. */
    if (!(price->epsilon > 0))
        return tacit_fail(error, TACIT_INPUT, "epsilon is %g: give a number above 0", price->epsilon);
    if (!(price->delta >= 0 && price->delta < 1))
        return tacit_fail(error, TACIT_INPUT, "delta is %g: give a number from 0 to below 1", price->delta);
    return TACIT_OK;
}

/* The rounding error of a sum of doubles is itself a double, and is found exactly by Knuth's TwoSum; where
 * the sum was rounded down, the next double is the smallest one not below the exact sum. */
double tacit_add_up(double first, double second) {
    double sum = first + second;
    if (!isfinite(sum)) return sum;
    double second_part = sum - first;
    double lost = (first - (sum - second_part)) + (second - second_part);
    return lost > 0 ? nextafter(sum, INFINITY) : sum;
}

bool tacit_amount_within(double amount, double limit) { return amount <= limit * (1 + 0x1p-40); }

const char *tacit_price_text(char out[TACIT_PRICE_TEXT_SIZE], const tacit_price *price) {
    tacit_format(out, TACIT_PRICE_TEXT_SIZE, "epsilon %.12g, delta %.12g, per %s", price->epsilon,
                 price->delta, tacit_unit_name(price->unit));
    return out;
}
