/* A method that is one question for a stack: its lambda given, or chosen on the way and paid for. */
#include <math.h>

#include "method/private/private_tuning.h"

/* With a choice the sum has room for every candidate's stack, and one number more: which it was. */
tacit_status stacking_plan_prepare(const tacit_plan *plan, stacking_maker *make, tacit_sum_spec *out,
                                   tacit_error *error) {
    size_t count = choosing_count(plan), length = 0;
    double bound = 0;
    for (size_t i = 0; i < (count > 0 ? count : 1); i++) {
        tacit_plan one = count > 0 ? choosing_plan(plan, i) : *plan;
        stacking how = STACKING_INIT;
        TACIT_TRY(make(&how, &one, error));
        tacit_status status = stacking_sum(&one, &how, out, error);
        stacking_clear(&how);
        TACIT_TRY(status);
        bound = fmax(bound, out->bound);
        length = out->length;
    }
    if (count == 0) return TACIT_OK;
    return tacit_sum_spec_for(out, length + 1, fmax(bound, CHOOSING_MOST), plan->parties, error);
}

tacit_status stacking_plan_check(const tacit_plan *plan, stacking_maker *make, tacit_error *error) {
    size_t count = choosing_count(plan);
    TACIT_TRY(choosing_check(plan, error));
    for (size_t i = 0; i < (count > 0 ? count : 1); i++) {
        tacit_plan one = count > 0 ? choosing_plan(plan, i) : *plan;
        stacking how = STACKING_INIT;
        TACIT_TRY(make(&how, &one, error));
        tacit_status status = stacking_check(&one, &how, error);
        stacking_clear(&how);
        TACIT_TRY(status);
    }
    return TACIT_OK;
}

tacit_status stacking_plan_law(const tacit_plan *plan, stacking_maker *make, tacit_noise_law *out,
                               tacit_error *error) {
    tacit_plan one = choosing_count(plan) > 0 ? choosing_plan(plan, 0) : *plan;
    stacking how = STACKING_INIT;
    TACIT_TRY(make(&how, &one, error));
    tacit_status status = stacking_law(&one, &how, out, error);
    stacking_clear(&how);
    return status;
}

/* The party's stack under a plan whose lambda is settled. */
static tacit_status answer_settled(tacit_party *party, const tacit_plan *plan, stacking_maker *make,
                                   const tacit_sum_spec *spec, tacit_noised **out, tacit_error *error) {
    tacit_party settled = *party;
    stacking how = STACKING_INIT;
    settled.plan = plan;
    TACIT_TRY(make(&how, plan, error));
    tacit_status status = stacking_answer(&settled, &how, spec, out, error);
    stacking_clear(&how);
    return status;
}

static tacit_status answer_chosen(tacit_party *party, stacking_maker *make, const tacit_sum_spec *spec,
                                  tacit_noised **out, tacit_error *error) {
    tacit_selected *selected = NULL;
    tacit_noised *parts[2] = { NULL, NULL };
    tacit_status status;
    TACIT_CHECK(choosing_select(&selected, party, make, error));
    tacit_plan plan = choosing_plan(party->plan, tacit_selected_indices(selected)[0]);
    TACIT_CHECK(answer_settled(party, &plan, make, spec, &parts[0], error));
    TACIT_CHECK(tacit_selected_noised(&parts[1], selected, spec->grid_bits, error));
    TACIT_CHECK(tacit_noised_join(out, (const tacit_noised *const *)parts, 2, error));
cleanup:
    tacit_noised_free(parts[0]);
    tacit_noised_free(parts[1]);
    tacit_selected_free(selected);
    return status;
}

tacit_status stacking_plan_answer(tacit_party *party, const tacit_question *question, stacking_maker *make,
                                  tacit_reply *reply, tacit_error *error) {
    tacit_sum_spec spec;
    TACIT_TRY(tacit_party_prepared(party, &spec, error));
    TACIT_TRY(perturb_check_sum(question, &spec, error));
    reply->kind = TACIT_RELEASE_CHARGED;
    reply->price = choosing_price(party->plan);
    if (choosing_count(party->plan) > 0) return answer_chosen(party, make, &spec, &reply->noised, error);
    return answer_settled(party, party->plan, make, &spec, &reply->noised, error);
}

tacit_status stacking_plan_coordinate(tacit_session *session, stacking_maker *make, tacit_outcome *out,
                                      tacit_error *error) {
    const tacit_plan *plan = session->plan;
    size_t count = choosing_count(plan), chosen = 0;
    stacking how = STACKING_INIT;
    tacit_sum_spec spec;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_session_prepared(session, &spec, error));
    TACIT_CHECK(tacit_ask_sum(session, "stack", NULL, &spec, &sum, error));
    tacit_sum weights = { sum.values, sum.length - (count > 0), sum.parties };
    if (count > 0) {
        double told = sum.values[weights.length];
        if (!(told >= 0 && told < (double)count))
            TACIT_CHECK(
                tacit_fail(error, TACIT_PROTOCOL, "the party chose candidate %g of %zu", told, count));
        chosen = (size_t)told;
    }
    tacit_plan settled = count > 0 ? choosing_plan(plan, chosen) : *plan;
    TACIT_CHECK(make(&how, &settled, error));
    TACIT_CHECK(stacking_finish(&settled, &how, &weights, out, error));
    if (count > 0) out->lambda = settled.lambda;
cleanup:
    tacit_sum_clear(&sum);
    stacking_clear(&how);
    return status;
}
