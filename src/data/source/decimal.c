/* Whole numbers of up to 128 bits, and decimals made of them, as doubles: correctly rounded, as if they had
 * been written in a file. */
#include <math.h>

#include "data/source/arrays.h"

tacit_uint128 tacit_array_magnitude(const tacit_array *array, size_t row, bool *negative) {
    tacit_uint128 value = 0;
    bool large;
    if (array->kind == TACIT_ARRAY_INT128 || array->kind == TACIT_ARRAY_UINT128 ||
        array->kind == TACIT_ARRAY_UINT64) {
        tacit_array_fetch(array, row, &value); /* the lowest byte first, as the processors have it */
        *negative = array->kind == TACIT_ARRAY_INT128 && value >> 127 != 0;
        return *negative ? -value : value;
    }
    const int64_t whole = tacit_array_whole(array, row, &large);
    *negative = whole < 0;
    return *negative ? (tacit_uint128) - (tacit_int128)whole : (tacit_uint128)whole;
}

/* By long division, a bit at a time: 54 bits of the quotient, and whether anything is left. `by` is below
 * 2^127, so that a remainder can be doubled. */
static double divide(tacit_uint128 number, tacit_uint128 by) {
    int exponent = 0;
    uint64_t bits = 0;
    if (number == 0) return 0;
    for (; number >= by && number - by >= by; exponent++) by <<= 1;
    for (; number < by; exponent--) number <<= 1;
    for (int k = 0; k < 54; k++) {
        const bool fits = number >= by;
        if (fits) number -= by;
        bits = bits << 1 | fits;
        number <<= 1;
    }
    const bool half = bits & 1;
    bits >>= 1;
    bits += half && (number != 0 || (bits & 1) != 0);
    return ldexp((double)bits, exponent - 52);
}

double tacit_decimal_number(tacit_uint128 magnitude, bool negative, uint8_t decimals) {
    static const double exact[] = { 1,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    double value = 0;
    tacit_uint128 power = 1;
    if (magnitude >> 53 == 0 && decimals < sizeof exact / sizeof *exact) {
        value = (double)magnitude / exact[decimals]; /* of two doubles: rounded once */
    } else {
        for (uint8_t k = 0; k < decimals; k++) power *= 10;
        value = divide(magnitude, power);
    }
    return negative ? -value : value;
}
