/*
 * indiv: each party alone, with the model of its own rows. The figures reported are means over parties. A
 * yardstick without privacy, for simulations only: deployed, it would reveal every local model. Where no
 * lambda is given each party takes the best one by cross-validation inside its own rows.
 */
#include <math.h>
#include <string.h>

#include "model/cross_validate.h"
#include "session/party.h"
#include "session/session.h"

/* The party's half: its local weights. */
static tacit_status answer_weights(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                   tacit_error *error) {
    (void)question;
    const tacit_model *model = NULL;
    tacit_model *owned = NULL;
    tacit_linear_fit fit = { .lambda = party->plan->lambda,
                             .gradient_tolerance = 1e-8,
                             .best_effort = true,
                             .total_rows = party->total_rows,
                             .reducer = party->reducer,
                             .pool = party->pool };
    if (fit.lambda == 0) TACIT_TRY(tacit_model_validate_lambda(&fit.lambda, &party->rows, &fit, error));
    TACIT_TRY(tacit_party_linear_model(party, &fit, &model, &owned, error));
    reply->kind = TACIT_RELEASE_CHARGED;
    reply->noise = TACIT_NOISE_NONE;
    reply->price = (tacit_price){ TACIT_UNIT_RECORD, INFINITY, 0 };
    tacit_status status =
        tacit_message_add_numbers(&reply->message, "weights", model->weights, tacit_model_size(model), error);
    if (status == TACIT_OK && party->plan->lambda == 0)
        status = tacit_message_add_numbers(&reply->message, "lambda", &fit.lambda, 1, error);
    tacit_model_free(owned);
    return status;
}

/* The lambda of all parties, or NaN where they chose differently. */
static tacit_status note_lambda(const tacit_message *answer, bool first, double *lambda, tacit_error *error) {
    const double *chosen = NULL;
    TACIT_TRY(tacit_message_numbers(answer, "lambda", 1, &chosen, error));
    *lambda = first || *lambda == *chosen ? *chosen : NAN;
    return TACIT_OK;
}

/* The coordinator's half: one model a party. */
static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_answers answers = TACIT_ANSWERS_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_ask(session, "weights", NULL, &answers, error));
    for (size_t k = 0; k < answers.count; k++) {
        tacit_model *model = NULL;
        const double *weights = NULL;
        TACIT_CHECK(tacit_model_create(&model, tacit_family_for(plan->classes), plan->features, plan->classes,
                                       error));
        TACIT_CHECK(tacit_outcome_add(out, model, error));
        TACIT_CHECK(tacit_message_numbers(&answers.answer[k].message, "weights", tacit_model_size(model),
                                          &weights, error));
        memcpy(model->weights, weights, tacit_model_size(model) * sizeof *weights);
        if (plan->lambda == 0)
            TACIT_CHECK(note_lambda(&answers.answer[k].message, k == 0, &out->lambda, error));
    }
    out->parties = answers.count;
cleanup:
    tacit_answers_clear(&answers);
    return status;
}

static const tacit_handler_entry handlers[] = { { .question = "weights", .answer = answer_weights },
                                                { .question = NULL } };

const tacit_method tacit_method_indiv = {
    .name = "indiv",
    .title = "each party alone, mean over parties, no privacy (yardstick)",
    .reference = "Hamm 2016, section 6",
    .version = 1,
    .units = "record",
    .noise_free = true,
    .tunes_lambda = true,
    .each_alone = true,
    .undeployable = "it would reveal every party's own model",
    .leaves = "each party's own model",
    .seen_by = "the coordinator",
    .guarantee = "none: a yardstick for simulations",
    .assumption = "the rows belong to nobody, as in a simulation",
    .theorem = "none",
    .claim = "none: the papers use it as a yardstick too",
    .caveats = "never publish its model when the rows are private",
    .price = tacit_nonprivate_price,
    .release_kind = tacit_nonprivate_kind,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
