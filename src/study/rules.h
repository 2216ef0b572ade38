/*
 * The owner's rules for all studies of a home, in rules.json there. The total budget is the ledger's limit;
 * these come beside it. They are read again before every answer, so that a change counts from the next one
 * on, and a file that cannot be read lets nothing leave.
 */
#pragma once

#include "privacy/policy.h"

enum { TACIT_RULE_METHODS = 64, TACIT_RULE_METHOD_SIZE = 32 };

typedef struct tacit_rules {
    double study_epsilon;     /* most that one study may take; 0: no rule */
    uint64_t minimum_rows;    /* as in tacit_policy */
    uint64_t minimum_parties; /* results are opened from at least this many parties, this one among them */
    char methods[TACIT_RULE_METHODS][TACIT_RULE_METHOD_SIZE];
    size_t method_count; /* 0: all */
} tacit_rules;

/* Those of `home`, or tacit_policy_default()'s when none were ever set. TACIT_REFUSED for a damaged file. */
tacit_status tacit_rules_load(tacit_rules *out, const char *home, tacit_error *error);

/* TACIT_USAGE for rules that cannot be: a method nobody knows, fewer than one row or party, a NaN. */
tacit_status tacit_rules_save(const tacit_rules *rules, const char *home, tacit_error *error);

/* Put the rules into a policy; `names` receives pointers into `rules` and must live as long as the policy. */
void tacit_rules_apply(const tacit_rules *rules, const char *names[TACIT_RULE_METHODS], tacit_policy *policy);
