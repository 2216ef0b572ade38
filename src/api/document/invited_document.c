#include "api/document/invited_document.h"

#include "api/document/json_text.h"
#include "data/schema/needed_columns.h"
#include "session/plan/wording.h"
#include "site/site_access.h"

static tacit_status list_column(void *context, const tacit_needed_column *needed, tacit_error *error) {
    json_t **columns = context;
    (void)error;
    *columns = tacit_json_append(
        *columns, json_pack("{s:o,s:s,s:o,s:s}", "name", tacit_json_text(needed->name), "role", needed->role,
                            "values", tacit_json_text(needed->values), "missing", needed->missing));
    return TACIT_OK;
}

tacit_status tacit_invited_document(json_t **out, const tacit_site *site, tacit_error *error) {
    const tacit_study *study = tacit_site_study(site);
    const tacit_plan *plan = &study->plan;
    tacit_prices prices = { .event = { .count = 0 } };
    tacit_wording words = TACIT_WORDING_INIT;
    char price[TACIT_PRICE_TEXT_SIZE];
    json_t *columns = json_array();
    tacit_status status;
    if (study->schema->sparse == 0)
        TACIT_CHECK(tacit_schema_needed(study->schema, list_column, &columns, error));
    TACIT_CHECK(tacit_plan_price(plan, &prices, error));
    TACIT_CHECK(tacit_wording_make(&words, plan, error));
    *out = json_pack(
        "{s:s,s:o,s:o,s:o,s:s,s:o,s:o,s:o,s:s,s:I,s:I,s:O}", "study", study->name, "title",
        tacit_json_text(study->title), "coordinator", tacit_json_text(tacit_site_coordinator(site)), "called",
        tacit_json_text(tacit_site_called(site)), "method", plan->method->name, "leaves",
        tacit_json_text(words.leaves), "seen_by", tacit_json_text(words.seen_by), "guarantee",
        tacit_json_text(words.guarantee), "price", tacit_price_text(price, &prices.charged), "parties",
        (json_int_t)plan->parties, "minimum_rows", (json_int_t)plan->minimum_rows, "columns", columns);
cleanup:
    json_decref(columns);
    tacit_wording_clear(&words);
    return status;
}
