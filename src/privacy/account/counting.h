/*
 * How what is spent of a limit is counted, when each study is chosen in view of the answers to those before
 * it.
 *
 * A block is a study: kinds and numbers of its answers are known when its owner consents, and are held for it
 * from then on. What no study holds is loose: answers charged one by one. docs/accounting.md has the
 * theorems; the proof notes are in counting.c.
 */
#pragma once

#include "privacy/account/charges_parts.h"

typedef enum tacit_count {
    /* the least of all accountants: for kinds and numbers fixed in advance, as those of one study are */
    TACIT_COUNT_LEAST,
    TACIT_COUNT_SUM, /* prices add */
    TACIT_COUNT_RDP, /* a filter of Renyi divergences */
    TACIT_COUNT_GDP, /* a filter of Gaussian differential privacy: nothing is lost on Gaussians */
    TACIT_COUNT_BOTH /* the better of the last two, each at its part of delta */
} tacit_count;

enum { TACIT_COUNTS = 5 };

/* "least", "sum", "rdp", "gdp", "both". */
const char *tacit_count_name(tacit_count count);

/* Fixed when a limit is set. */
typedef struct tacit_counting {
    tacit_count count;
    double order; /* RDP, BOTH: the middle one of the orders that are looked at */
} tacit_counting;

/* For a limit of (epsilon, delta): the order that lets the most Gaussian noise fit. */
tacit_counting tacit_counting_for(tacit_count count, double epsilon, double delta);

/* What a study holds and has used of it. */
typedef struct tacit_block {
    tacit_event event; /* all its answers */
    tacit_price price; /* of all together */
    uint64_t used;     /* answers charged, of an event that tells them apart */
    tacit_price charged;
    bool open; /* it may still ask; what it has not used is held for it */
} tacit_block;

/* Whether the block has room for one more charge: an answer of its kind, with no less noise; or, where a
 * price is all that is known of it, one whose price is left of it. */
bool tacit_block_covers(const tacit_block *block, const tacit_event *event, const tacit_price *price);

/* All that counts for a unit of one data source. */
typedef struct tacit_holding {
    tacit_charges loose;
    tacit_price loose_sum;
    tacit_block *blocks;
    size_t count, capacity;
    /* all of it was let pass: only what was asked first can be too large for the filters' part of delta */
    bool settled;
} tacit_holding;

#define TACIT_HOLDING_INIT                                                                                   \
    { .loose = TACIT_CHARGES_INIT, .blocks = NULL }

tacit_status tacit_holding_add(tacit_holding *holding, const tacit_block *block, tacit_error *error);
void tacit_holding_clear(tacit_holding *holding);

/* Whether prices add up from the first on: because that was of a delta that the filters have no room for.
 * What is asked next must not decide it. */
bool tacit_holding_is_summed(const tacit_holding *holding, double delta);

/* The least epsilon of a limit at `delta`, counted so, that would have let all this pass: infinite when none
 * would. */
tacit_status tacit_holding_spent(tacit_spending *out, const tacit_holding *holding, tacit_unit unit,
                                 double delta, const tacit_counting *counting, tacit_error *error);

/* Other ways to count the same, for information: none of them decides. RDP and PLD are those of accountant.h,
 * about kinds and numbers that were fixed in advance. */
typedef enum tacit_alternative {
    TACIT_ALTERNATIVE_BASIC, /* the sum of the prices */
    TACIT_ALTERNATIVE_RDP,
    TACIT_ALTERNATIVE_GDP,
    TACIT_ALTERNATIVE_PLD
} tacit_alternative;

enum { TACIT_ALTERNATIVES = 4 };

/* "basic", "rdp", "gdp", "pld". */
const char *tacit_alternative_name(tacit_alternative way);

/* Epsilon at delta > 0 in each way: infinite where nothing is proved, NaN where the way does not apply to
 * these events. */
tacit_status tacit_holding_alternatives(double out[TACIT_ALTERNATIVES], const tacit_holding *holding,
                                        tacit_unit unit, double delta, tacit_error *error);
