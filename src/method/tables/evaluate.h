/* What the files of evaluate and evaluate-exact share: evaluate.c, and evaluate_sites.c for sites=apart. */
#pragma once

#include <math.h>

#include "method/missing_counts.h"
#include "method/missing_sum.h"
#include "model/report/evaluation.h"
#include "session/party.h"
#include "session/session.h"

enum { EVALUATE_SITE_NAME = 128 };

typedef struct evaluate_settings {
    uint64_t cells, groups, least;
    double level;
    char by[TACIT_SETTING_SIZE], thresholds[TACIT_SETTING_SIZE];
    enum { EVALUATE_BY_SHARES, EVALUATE_BY_COORDINATOR, EVALUATE_BY_PARTY } noise;
    tacit_law_setting law;
    enum { EVALUATE_TOGETHER, EVALUATE_APART } sites;
    double missing_counts;       /* of the budget */
    missing_sum_setting missing; /* of evaluate-exact */
} evaluate_settings;

static inline const evaluate_settings *evaluate_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(evaluate_settings, plan);
}

static inline bool evaluate_apart(const tacit_plan *plan) {
    return evaluate_settings_of(plan)->sites == EVALUATE_APART;
}

static inline bool evaluate_is_noisy(const tacit_plan *plan) { return isfinite(plan->epsilon); }

/* The public numbers. */
typedef struct evaluate_setup {
    tacit_tally tally;
    tacit_sum_spec spec;
    bool gaussian;
    double sensitivity; /* of the sum in steps of its grid, in the norm of the law */
    /* Missing values (evaluate_missing.c) are behind what is tallied; length 0: they are not counted. */
    missing_counts counts;
    double steps; /* of the grid, for each of them */
    double share; /* of the budget */
    size_t exact; /* numbers about missing values without noise, instead; 0: they are not counted */
} evaluate_setup;

tacit_status evaluate_make_setup(evaluate_setup *out, const tacit_plan *plan, tacit_error *error);
tacit_status evaluate_need_model(const tacit_plan *plan, tacit_error *error);
/* The standard deviation of the noise in each number of a sum over this many parties, in the sum's units, and
 * the scale of the law. */
tacit_status evaluate_deviation(const tacit_plan *plan, const evaluate_setup *how, size_t parties,
                                double *out, double *scale, tacit_error *error);

/* The party's counts into reply->contribution; its noise into them, and into reply->noised. */
tacit_status evaluate_count_rows(tacit_party *party, const evaluate_setup *how, tacit_reply *reply,
                                 tacit_error *error);
tacit_status evaluate_add_share(tacit_party *party, const evaluate_setup *how, tacit_reply *reply,
                                tacit_error *error);
tacit_status evaluate_make_report(tacit_report **out, const tacit_plan *plan, const evaluate_setup *how,
                                  const double *counts, double noise, tacit_error *error);

/* ---- missing values (evaluate_missing.c, which holds the proof) ---- */

tacit_counted evaluate_counts_missing(const tacit_plan *plan);
tacit_counted evaluate_exact_counts_missing(const tacit_plan *plan);
/* Into a setup that has all else. */
void evaluate_set_missing(evaluate_setup *out, const tacit_plan *plan);
/* The party's; and the coordinator's table, where `noise` is that of a number of the sum. */
tacit_status evaluate_count_missing(tacit_party *party, const evaluate_setup *how, double *out,
                                    tacit_error *error);
tacit_status evaluate_report_missing(tacit_report *report, const tacit_plan *plan, const evaluate_setup *how,
                                     const double *sum, double noise, tacit_error *error);

tacit_handler evaluate_answer_site;
tacit_status evaluate_usable_site(const tacit_plan *plan, const tacit_message *answer, tacit_error *error);
size_t evaluate_site_numbers(const tacit_plan *plan);
tacit_status evaluate_coordinate_sites(tacit_session *session, tacit_outcome *out, tacit_error *error);
