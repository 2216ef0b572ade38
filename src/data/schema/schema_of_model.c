/* Rows that a model is judged by: the schema of a study beside the one that the model was made with. */
#include <stdlib.h>
#include <string.h>

#include "data/schema/schema.h"

/* The model's terms, with subgroups that need a column of their own. Empty: it has no terms. */
static tacit_status print_wanted(tacit_buffer *out, const tacit_schema *model, const char *by,
                                 tacit_error *error) {
    const char *terms = model->formula != NULL ? tacit_formula_text(model->formula) : NULL;
    if (terms == NULL) return TACIT_OK;
    if (by != NULL) return tacit_formula_add_subgroups(out, terms, by, error);
    return tacit_buffer_append(out, terms, strlen(terms), error);
}

/* Levels of the column are the subgroups of a model with terms. */
static tacit_status check_subgroups(const tacit_schema *schema, const char *by, tacit_error *error) {
    for (size_t i = 0; by != NULL && i < schema->cols; i++)
        if (strcmp(schema->columns[i].name, by) == 0 && schema->columns[i].kind == TACIT_SCHEMA_CATEGORY)
            return TACIT_OK;
    if (by == NULL) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "subgroups are the levels of a category of the model's schema, and '%.60s' is none",
                      by);
}

tacit_status tacit_schema_take_model(tacit_schema *schema, const tacit_schema *model, const char *by,
                                     tacit_error *error) {
    tacit_buffer wanted = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    const char *own = schema->formula != NULL ? tacit_formula_text(schema->formula) : NULL;
    if (model->formula != NULL && (own == NULL || strcmp(own, tacit_formula_text(model->formula)) == 0)) {
        TACIT_CHECK(check_subgroups(schema, by, error));
        TACIT_CHECK(print_wanted(&wanted, model, by, error));
        status = tacit_schema_set_terms(schema, tacit_buffer_text(&wanted), error);
        TACIT_CHECK(tacit_fail_in(error, status, "the model's terms do not fit the schema"));
    }
    if (model->subset != NULL && schema->subset == NULL) {
        status = tacit_schema_set_subset(schema, tacit_condition_text(model->subset), error);
        TACIT_CHECK(tacit_fail_in(error, status, "the model's subset does not fit the schema"));
    }
cleanup:
    tacit_buffer_clear(&wanted);
    return status;
}

tacit_status tacit_schema_for_model(tacit_schema **out, const tacit_schema *model, const char *by,
                                    tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_schema *copy = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_schema_print(model, NULL, &text, error));
    TACIT_CHECK(
        tacit_schema_parse(&copy, tacit_buffer_text(&text), text.length, "the model's schema", error));
    TACIT_CHECK(tacit_schema_take_model(copy, model, by, error));
    *out = copy;
    copy = NULL;
cleanup:
    tacit_schema_free(copy);
    tacit_buffer_clear(&text);
    return status;
}

/* The first line in which two texts differ. */
static tacit_status tell_difference(const char *ours, const char *its, tacit_error *error) {
    enum { MOST = 110 };
    size_t a = 0, b = 0;
    for (;; ours += a + (ours[a] != 0), its += b + (its[b] != 0)) {
        a = strcspn(ours, "\n"), b = strcspn(its, "\n");
        if (a != b || memcmp(ours, its, a) != 0 || (*ours == 0 && *its == 0)) break;
    }
    return tacit_fail(
        error, TACIT_USAGE,
        "the model was made with another schema: give that one. This one has the line [%.*s%s], and the "
        "model's [%.*s%s]",
        (int)(a < MOST ? a : MOST), ours, a > MOST ? " ..." : "", (int)(b < MOST ? b : MOST), its,
        b > MOST ? " ..." : "");
}

tacit_status tacit_schema_check_model(const tacit_schema *schema, const tacit_schema *model, const char *by,
                                      tacit_error *error) {
    tacit_buffer ours = TACIT_BUFFER_INIT, its = TACIT_BUFFER_INIT;
    tacit_schema *wanted = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_schema_for_model(&wanted, model, by, error));
    TACIT_CHECK(tacit_schema_set_subset(
        wanted, schema->subset != NULL ? tacit_condition_text(schema->subset) : NULL, error));
    TACIT_CHECK(tacit_schema_canonical(schema, &ours, error));
    TACIT_CHECK(tacit_schema_canonical(wanted, &its, error));
    if (strcmp(tacit_buffer_text(&ours), tacit_buffer_text(&its)) != 0)
        status = tell_difference(tacit_buffer_text(&ours), tacit_buffer_text(&its), error);
cleanup:
    tacit_schema_free(wanted);
    tacit_buffer_clear(&ours);
    tacit_buffer_clear(&its);
    return status;
}
