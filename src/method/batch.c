/*
 * batch: the model that pooling all rows would give. A yardstick without privacy, for simulations only. Where
 * no lambda is given it takes the best one by cross-validation inside the rows: pooling would.
 */
#include "model/cross_validate.h"
#include "session/session.h"

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    const tacit_view *rows =
        session->transport.pooled != NULL ? session->transport.pooled(session->transport.context) : NULL;
    if (rows == NULL)
        return tacit_fail(error, TACIT_REFUSED,
                          "method batch needs all rows in one place: simulate it instead");
    tacit_linear_fit fit = { .lambda = session->plan->lambda,
                             .total_rows = session->transport.pooled_rows,
                             .reducer = session->transport.reducer,
                             .pool = session->pool,
                             .progress = session->progress };
    tacit_model *model = NULL;
    if (fit.lambda == 0) {
        TACIT_TRY(tacit_model_validate_lambda(&fit.lambda, rows, &fit, error));
        out->lambda = fit.lambda;
    }
    TACIT_TRY(tacit_model_fit_linear(&model, rows, &fit, error));
    out->parties = session->plan->parties;
    return tacit_outcome_add(out, model, error);
}

const tacit_method tacit_method_batch = {
    .name = "batch",
    .title = "all rows pooled, no privacy (yardstick)",
    .reference = "Hamm 2016, section 6",
    .version = 1,
    .units = "record",
    .noise_free = true,
    .tunes_lambda = true,
    .undeployable = "it needs every party's rows in one place",
    .leaves = "every row",
    .seen_by = "whoever pools the rows",
    .guarantee = "none: a yardstick for simulations",
    .assumption = "the rows belong to nobody, as in a simulation",
    .theorem = "none",
    .claim = "none: the papers use it as a yardstick too",
    .caveats = "never publish its model when the rows are private",
    .price = tacit_nonprivate_price,
    .release_kind = tacit_nonprivate_kind,
    .coordinate = TACIT_CENTER_HALF(coordinate),
};
