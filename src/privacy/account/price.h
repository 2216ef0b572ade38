/*
 * What a release costs: (epsilon, delta) differential privacy, for one record or for one party.
 *
 * Sums use basic composition (Dwork and Roth 2014, Theorem 3.16): epsilons add, deltas add. Every sum is
 * rounded upwards, so that a stored total is never below the true one.
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* Whose replacement the released bytes hide: one row, or all rows of one party. */
typedef enum tacit_unit { TACIT_UNIT_RECORD, TACIT_UNIT_PARTY } tacit_unit;

enum { TACIT_UNITS = 2 };

typedef struct tacit_price {
    tacit_unit unit;
    double epsilon, delta;
} tacit_price;

/* "record" or "party". */
const char *tacit_unit_name(tacit_unit unit);

/* TACIT_INPUT unless epsilon > 0 (infinity allowed: a noise-free simulation), 0 <= delta < 1 and the unit is
 * one of the two. NaN is refused. */
tacit_status tacit_price_check(const tacit_price *price, tacit_error *error);

/* The smallest double that is not below the exact sum of two amounts; both >= 0, infinity allowed. */
double tacit_add_up(double first, double second);

/* Whether an amount keeps within a limit. The limit is read with a relative slack of 2^-40, because ten
 * charges of the double nearest 0.1 come to a little more than 1 and still are what an owner means by 1. */
bool tacit_amount_within(double amount, double limit);

enum { TACIT_PRICE_TEXT_SIZE = 96 };

/* "epsilon 1.5, delta 0, per record"; returns `out`. */
const char *tacit_price_text(char out[TACIT_PRICE_TEXT_SIZE], const tacit_price *price);
