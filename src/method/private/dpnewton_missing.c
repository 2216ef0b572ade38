/*
 * The very last question of dpnewton, in both purposes, of dpcox and of dpgd: how many values are missing in
 * each column, and how many rows were left out for it (missing_counts), where the schema says what becomes of
 * them.
 *
 * Proof note. The vector of counts has the L2 sensitivity of missing_counts.c, sqrt(D) for a row and m
 * sqrt(D) for a
 *   person. Its question has a share a of mu^2 like the others, which have the rest: Gaussian noise of S
 *   sigma/sqrt(a), or shares of it, and the composition of dpnewton.c as it stands, since the shares still
 *   add up to 1. D, m and a are public; no true count decides the noise, or whether the question is asked.
 *   The answers change nothing in the model:
 *   n stays the number that was declared.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "method/private/dpnewton.h"

static const double UNITS = 1000; /* of the budget */

static missing_counts counts_of(const tacit_plan *plan) {
    return missing_counts_of(plan,
                             tacit_plan_counts_persons(plan) ? dpnewton_settings_of(plan)->person_rows : 0);
}

tacit_counted dpnewton_counts_missing(const tacit_plan *plan) {
    if (!(dpnewton_settings_of(plan)->missing_counts > 0)) return TACIT_COUNTED_NOT;
    if (plan->schema == NULL) return TACIT_COUNTED_PERHAPS;
    return counts_of(plan).length > 0 ? TACIT_COUNTED : TACIT_COUNTED_NOT;
}

double dpnewton_missing_units(const tacit_plan *plan) {
    if (dpnewton_counts_missing(plan) != TACIT_COUNTED) return 0;
    return fmax(1, round(UNITS * dpnewton_settings_of(plan)->missing_counts));
}

tacit_status dpnewton_set_missing(const tacit_plan *plan, dpnewton_counting *out, uint64_t round,
                                  tacit_error *error) {
    const double units = dpnewton_missing_units(plan);
    *out = (dpnewton_counting){ .round = round };
    if (!(units > 0)) return TACIT_OK;
    out->counts = counts_of(plan);
    out->release.share = units / UNITS;
    return dpnewton_set_counting(plan, out, error);
}

tacit_status dpnewton_set_counting(const tacit_plan *plan, dpnewton_counting *out, tacit_error *error) {
    return dpnewton_set_release(plan, &out->release, &out->spec, out->counts.length, GRADIENT_MOST_ROWS,
                                out->counts.sensitivity, error);
}

tacit_status dpnewton_give_missing(tacit_party *party, const tacit_question *question,
                                   const dpnewton_counting *how, tacit_reply *reply, tacit_error *error) {
    double *values = NULL;
    tacit_status status;
    if (how->counts.length == 0)
        return tacit_fail(error, TACIT_REFUSED, "the study counts no missing values");
    if (question->round != how->round && how->round != DPNEWTON_ANY_ROUND)
        return tacit_fail(error, TACIT_REFUSED, "round %llu of this study is not one for %s",
                          (unsigned long long)question->round, question->name);
    TACIT_TRY(gradient_check_sum(question, &how->spec, error));
    values = TACIT_NEW(double, how->spec.length);
    if (values == NULL) return tacit_fail_memory(error);
    TACIT_CHECK(gradient_check_rows(party, error));
    TACIT_CHECK(missing_counts_add_up(party, &how->counts, GRADIENT_MOST_ROWS, values, error));
    TACIT_CHECK(dpnewton_give(party, &how->release, &how->spec, &values, reply, error));
cleanup:
    free(values);
    return status;
}

tacit_status dpnewton_ask_missing(tacit_session *session, const dpnewton_counting *how, double rows,
                                  tacit_model *model, tacit_error *error) {
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    if (how->counts.length == 0) return TACIT_OK;
    tacit_status status;
    TACIT_CHECK(dpnewton_ask(session, "missing", &message, &how->spec, &how->release, how->counts.length,
                             &sum, error));
    TACIT_CHECK(missing_counts_report(&model->missing_counts, session->plan, &how->counts, sum.values,
                                      how->release.deviation, how->release.share, rows, error));
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}
