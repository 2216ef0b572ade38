/*
 * The owner's rules about what may leave, whatever it costs. Consent is kept with the ledger (ledger.h),
 * because it must be checked in the same transaction as the budget.
 */
#pragma once

#include <stdbool.h>

#include "privacy/account/release.h"

typedef struct tacit_policy {
    uint64_t minimum_rows;    /* an answer is computed from at least this many rows */
    uint64_t minimum_parties; /* nothing is opened from fewer parties' answers */
    /* Numbers in an answer / rows it was computed from; 0: no rule. Labels of N auxiliary points are N (K -
     * 1) numbers: a rule fit for weights refuses most studies that ask for labels, and rightly so where they
     * go out in clear, for enough labels tell the classifier. */
    double most_parameters_per_row;
    /* Most epsilon that one study may take, as limited in the ledger; 0: no rule. Checked by a real party's
     * gate. */
    double most_study_epsilon;
    bool allow_exact;      /* may exact sums, which no differential privacy protects, leave? */
    bool allow_entrusted;  /* may values in clear go to a coordinator trusted to add noise? */
    bool allow_neighbours; /* may methods without a center let neighbours see exact values, at any price? */
    bool allow_site;       /* may figures of this party alone be published, beside those of all? */
    const char *const *methods; /* the allowed ones; borrowed */
    size_t method_count;        /* 0: all */
} tacit_policy;

/* For a real party: 10 rows, 2 parties, no entrusting, nothing to neighbours, all methods, no rule on
 * parameters. */
tacit_policy tacit_policy_default(void);

/* For simulated parties, whose rows are not anybody's: everything is allowed. */
tacit_policy tacit_policy_none(void);

/* TACIT_REFUSED, with one sentence that names rule, value and remedy, when the rules forbid `release`. */
tacit_status tacit_policy_check(const tacit_policy *policy, const tacit_release *release, tacit_error *error);
