#include "api/document/explain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/document/document.h"
#include "api/document/tables.h"
#include "api/fitting.h"
#include "base/memory.h"
#include "method/methods.h"
#include "session/masked/masked.h"
#include "session/plan/wording.h"

static tacit_sum_way way_of(const char *name) {
    tacit_sum_way way = TACIT_SUMS_MASKED;
    while (strcmp(tacit_sum_way_name(way), name) != 0) way++;
    return way;
}

/* A method that needs a delta, as it is set here, is explained at a usual one where none is given; and at the
 * lambda that it would choose. */
static tacit_status settle(tacit_plan *plan, const tacit_arguments *arguments, tacit_error *error) {
    static const double USUAL = 1e-5;
    const bool given = tacit_arguments_given(arguments, "lambda");
    plan->lambda = given ? tacit_arguments_number(arguments, "lambda") : 1; /* any, until all else is there */
    if (!tacit_arguments_given(arguments, "delta") && tacit_plan_check(plan, NULL) == TACIT_USAGE)
        plan->delta = USUAL;
    if (!given) plan->lambda = 0;
    if (!given) TACIT_TRY(tacit_plan_choose_lambda(plan, error));
    return tacit_plan_check(plan, error);
}

static tacit_status make_plan(const tacit_arguments *arguments, tacit_plan *out, tacit_error *error) {
    const tacit_method *method = NULL;
    TACIT_TRY(tacit_method_require(&method, tacit_arguments_operand(arguments, "METHOD"), error));
    *out = (tacit_plan){
        .method = method,
        .study = "explain",
        .epsilon = method->noise_free ? INFINITY : tacit_arguments_number(arguments, "epsilon"),
        .delta = tacit_arguments_number(arguments, "delta"),
        .features = (size_t)tacit_arguments_integer(arguments, "features"),
        .classes = (size_t)tacit_arguments_integer(arguments, "classes"),
        .parties = (size_t)tacit_arguments_integer(arguments, "parties"),
        .minimum_parties = 1,
        .sums = way_of(tacit_arguments_text(arguments, "sum")),
        .dropouts = tacit_arguments_number(arguments, "dropouts"),
        .colluders = tacit_arguments_number(arguments, "colluders"),
        .minimum_rows = (size_t)tacit_arguments_integer(arguments, "rows"),
    };
    if (method->most_columns > 0 && !tacit_arguments_given(arguments, "features"))
        out->features = method->most_columns;
    TACIT_TRY(tacit_training_plan(out, arguments, error));
    return settle(out, arguments, error);
}

/* How a deployed study adds up, and what that rests on. */
static tacit_status sums_text(char *out, size_t size, const tacit_plan *plan, tacit_error *error) {
    static const char *const rests_on[] = {
        [TACIT_SUMS_MASKED] =
            "the coordinator sees sums, under masks that cancel, and no single contribution",
        [TACIT_SUMS_CLEAR] = "the coordinator sees every contribution",
        [TACIT_SUMS_PAILLIER] =
            "the party that joined first holds the key, multiplies the ciphertexts that the parties signed "
            "and sealed for it, and decrypts the sum, under masks that only the coordinator can take off. "
            "The two together can read every single contribution",
    };
    size_t minimum = 0;
    if (tacit_plan_hearing(plan) == TACIT_HEARS_CIPHERTEXTS) {
        snprintf(out, size, "encrypted: server A adds up ciphertexts, and only server B has their key");
        return TACIT_OK;
    }
    if (tacit_plan_hearing(plan) == TACIT_HEARS_SINGLE) {
        snprintf(out, size, "none: the coordinator sees each party's answer%s",
                 isinf(plan->epsilon) ? "" : ", with the noise already in it");
        return TACIT_OK;
    }
    int used = snprintf(out, size, "%s: %s", tacit_sum_way_name(plan->sums), rests_on[plan->sums]);
    if (plan->sums == TACIT_SUMS_CLEAR) return TACIT_OK;
    if (plan->parties < TACIT_SUM_LEAST) return TACIT_OK; /* nothing to hide in: such a study is refused */
    TACIT_TRY(tacit_secure_minimum(&minimum, plan, error));
    used += snprintf(
        out + used, size - (size_t)used,
        ". Opened from at least %zu of %zu parties; withstands %zu of them colluding with the coordinator",
        minimum, plan->parties, tacit_plan_colluders(plan));
    if (tacit_plan_shares_noise(plan))
        snprintf(out + used, size - (size_t)used,
                 ". Each party adds one share of the noise; %zu shares are worth the price",
                 tacit_plan_noise_shares(plan));
    return TACIT_OK;
}

size_t tacit_explanation_cells(char **text, char *cells[TACIT_EXPLANATION_CELLS]) {
    size_t count = 0;
    char *end = strchr(*text, '\n');
    if (end == NULL) return 0;
    *end = 0;
    for (char *at = *text; at != NULL && count < TACIT_EXPLANATION_CELLS; count++) {
        cells[count] = at;
        at = strchr(at, '\t');
        if (at != NULL) *at++ = 0;
    }
    *text = end + 1;
    return count;
}

/* A list of objects, all values as the text that would be printed. */
static json_t *comparison_document(char *text) {
    char *titles[TACIT_EXPLANATION_CELLS], *cells[TACIT_EXPLANATION_CELLS];
    size_t columns = tacit_explanation_cells(&text, titles), count;
    json_t *rows = json_array();
    while ((count = tacit_explanation_cells(&text, cells)) > 0) {
        json_t *row = json_object();
        for (size_t c = 0; c < count && c < columns; c++)
            json_object_set_new(row, titles[c], json_string(cells[c]));
        rows = tacit_json_append(rows, row);
    }
    return rows;
}

tacit_status tacit_explanation_make(tacit_explanation *out, const tacit_arguments *arguments,
                                    tacit_error *error) {
    tacit_plan *plan = &out->plan;
    tacit_buffer table = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_TRY(make_plan(arguments, plan, error));
    TACIT_TRY(sums_text(out->sums, sizeof out->sums, plan, error));
    TACIT_TRY(tacit_plan_declare(plan, &out->prices, &out->noise, error));
    if (plan->method->comparison == NULL) return TACIT_OK;
    TACIT_CHECK(plan->method->comparison(&table, error));
    out->comparison = tacit_copy_text(tacit_buffer_text(&table));
    if (out->comparison == NULL) status = tacit_fail_memory(error);
cleanup:
    tacit_buffer_clear(&table);
    return status;
}

void tacit_explanation_clear(tacit_explanation *explanation) {
    free(explanation->comparison);
    *explanation = (tacit_explanation)TACIT_EXPLANATION_INIT;
}

tacit_status tacit_explanation_document(json_t **out, tacit_explanation *explanation, tacit_error *error) {
    json_t *all = NULL;
    TACIT_TRY(tacit_json_explanation(&all, &explanation->plan, error));
    /* A yardstick that no study may run adds nothing up, and releases nothing. */
    bool yardstick = explanation->plan.method->undeployable != NULL;
    const uint64_t exchanges = tacit_plan_exchanges(&explanation->plan);
    json_object_set_new(all, "exchanges", exchanges > 0 ? json_integer((json_int_t)exchanges) : json_null());
    char terms[TACIT_TERMS_TEXT];
    json_object_set_new(all, "terms", json_string(tacit_method_terms_text(explanation->plan.method, terms)));
    const bool carried = exchanges > 0 && !yardstick && explanation->plan.method->compute == NULL &&
                         explanation->plan.method->schedule == NULL;
    json_object_set_new(
        all, "handovers",
        carried ? json_pack("{s:I,s:I}", "one",
                            (json_int_t)tacit_plan_handovers(&explanation->plan, 1, exchanges), "two",
                            (json_int_t)tacit_plan_handovers(&explanation->plan, 2, exchanges))
                : json_null());
    json_object_set_new(all, "lambda_from",
                        json_string(tacit_lambda_from_name(explanation->plan.lambda_from)));
    bool whole =
        json_object_set_new(all, "sums", yardstick ? json_null() : json_string(explanation->sums)) == 0;
    if (yardstick) whole = json_object_set_new(all, "release", json_null()) == 0 && whole;
    if (explanation->comparison != NULL)
        whole = json_object_set_new(all, "comparison", comparison_document(explanation->comparison)) == 0 &&
                whole;
    if (!whole) {
        json_decref(all);
        return tacit_fail_memory(error);
    }
    *out = all;
    return TACIT_OK;
}

tacit_status tacit_explain_document(char **json, const tacit_options *options, tacit_error *error) {
    TACIT_TRY(tacit_require(json, "where to put the document", error));
    static const tacit_form form = { .name = "explain",
                                     .operands = tacit_explain_operands,
                                     .options = tacit_explain_options };
    tacit_arguments *arguments = NULL;
    tacit_explanation about = TACIT_EXPLANATION_INIT;
    json_t *document = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_form_take(&arguments, &form, options, error));
    TACIT_CHECK(tacit_explanation_make(&about, arguments, error));
    TACIT_CHECK(tacit_explanation_document(&document, &about, error));
    TACIT_CHECK(tacit_document_text(json, document, error));
cleanup:
    tacit_explanation_clear(&about);
    tacit_arguments_free(arguments);
    return status;
}
