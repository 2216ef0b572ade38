#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/encode.h"
#include "data/formula/formula_build.h"
#include "data/schema/text.h"
#include "model/export/export_parts.h"

const char *export_class_name(const tacit_model *model, size_t k, char scratch[EXPORT_CLASS_NAME]) {
    if (k < model->class_names.count) return model->class_names.text[k];
    snprintf(scratch, EXPORT_CLASS_NAME, "%zu", k);
    return scratch;
}

void export_plan_clear(export_plan *plan) {
    size_t features = plan->model != NULL ? plan->model->features : 0;
    tacit_feature_names_free(plan->feature, features);
    free(plan->input);
    for (size_t i = 0; i < plan->facts; i++) free(plan->fact[i].value);
    tacit_buffer_clear(&plan->words);
    *plan = (export_plan)EXPORT_PLAN_INIT;
}

/* ---- where features come from ---- */

static export_input input_of_column(const tacit_schema_column *column, size_t first) {
    export_input input = {
        .name = column->name, .column = column, .first = first, .width = tacit_schema_column_features(column)
    };
    input.kind = column->kind == TACIT_SCHEMA_NUMBER     ? EXPORT_NUMBER
                 : column->kind == TACIT_SCHEMA_CATEGORY ? EXPORT_CATEGORY
                                                         : EXPORT_COUNTS;
    bool standardised = column->sd > 0;
    input.middle = standardised ? column->mean : column->low + (column->high - column->low) / 2;
    input.half_width = standardised ? column->sd : (column->high - column->low) / 2;
    input.indicator = column->missing == TACIT_MISSING_INDICATOR;
    input.fill = column->kind == TACIT_SCHEMA_NUMBER ? tacit_scale_of(column).fill : 0;
    return input;
}

static void plan_columns(export_plan *plan, const tacit_schema *schema) {
    double reach = 0;
    for (size_t i = 0; i < schema->cols; i++) {
        const tacit_schema_column *column = &schema->columns[i];
        reach += tacit_schema_column_reach(column);
        if (column->kind == TACIT_SCHEMA_SKIP) continue;
        tacit_missing missing = tacit_schema_missing(schema, column);
        plan->input[plan->inputs] = input_of_column(column, plan->raw);
        plan->input[plan->inputs].refuses_missing = missing == TACIT_MISSING_ERROR ||
                                                    missing == TACIT_MISSING_COMPLETE_CASE ||
                                                    missing == TACIT_MISSING_IMPUTE;
        plan->raw += plan->input[plan->inputs++].width;
    }
    double inside = tacit_schema_intercept_value(schema);
    plan->factor = schema->rows == TACIT_ROWS_BOUND && reach > 0 ? inside / sqrt(reach) : inside;
}

/* Of a formula: the columns it looks at, of which features are made later. */
static void plan_terms(export_plan *plan, const tacit_schema *schema) {
    const double reach = tacit_formula_reach(schema->formula), inside = tacit_schema_intercept_value(schema);
    for (size_t i = 0; i < schema->cols; i++) {
        const tacit_schema_column *column = &schema->columns[i];
        if (!tacit_formula_predicts_by(schema->formula, i)) continue;
        tacit_missing missing = tacit_schema_missing(schema, column);
        export_input *input = &plan->input[plan->inputs++];
        *input = input_of_column(column, 0);
        input->indicator = false;
        input->fill = column->kind == TACIT_SCHEMA_NUMBER ? tacit_formula_fill(column) : 0;
        input->refuses_missing = missing == TACIT_MISSING_ERROR || missing == TACIT_MISSING_COMPLETE_CASE ||
                                 missing == TACIT_MISSING_IMPUTE;
    }
    plan->raw = tacit_formula_features(schema->formula);
    plan->factor = schema->rows == TACIT_ROWS_BOUND && reach > 0 ? inside / sqrt(reach) : inside;
    plan->formula = schema->formula;
}

/* Rows as in LIBSVM, or rows that somebody else encodes. */
static void plan_values(export_plan *plan, const tacit_schema *schema) {
    size_t width = schema != NULL ? schema->sparse : plan->model->features;
    plan->input[plan->inputs++] = (export_input){ .kind = EXPORT_VALUES, .name = "features", .width = width };
    plan->raw = width;
    if (schema == NULL) return;
    tacit_encode_counts ignored = { 0 };
    plan->factor = schema->rows == TACIT_ROWS_CLIP
                       ? tacit_schema_row_factor(schema, 0, &ignored) * schema->clip
                       : tacit_schema_row_factor(schema, 1, &ignored);
}

static void plan_rows(export_plan *plan, const tacit_schema *schema) {
    plan->rows = EXPORT_ROWS_AS_ARE;
    if (schema == NULL) return;
    plan->rows = schema->rows == TACIT_ROWS_UNIT   ? EXPORT_ROWS_UNIT
                 : schema->rows == TACIT_ROWS_CLIP ? EXPORT_ROWS_CLIP
                                                   : EXPORT_ROWS_TIMES;
    plan->clip = schema->clip;
    plan->intercept = schema->intercept;
    plan->intercept_value = tacit_schema_intercept_value(schema);
    plan->refuses_missing = schema->missing_is_error;
    plan->refuses_unknown = schema->strict;
}

/* ---- names ---- */

static bool taken(const export_plan *plan, const char *prefix) {
    size_t length = strlen(prefix);
    const tacit_schema *schema = plan->model->schema;
    for (size_t i = 0; i < plan->inputs; i++)
        if (strncmp(plan->input[i].name, prefix, length) == 0) return true;
    return schema != NULL && strncmp(schema->label, prefix, length) == 0;
}

static tacit_status choose_prefix(export_plan *plan, tacit_error *error) {
    strcpy(plan->prefix, "tacit.");
    while (taken(plan, plan->prefix)) {
        if (strlen(plan->prefix) + 1 == sizeof plan->prefix)
            return tacit_fail(error, TACIT_INPUT, "a column is called '%s...': give it another name",
                              plan->prefix);
        strcat(plan->prefix, ".");
    }
    return TACIT_OK;
}

static tacit_status check_text(const char *text, const char *what, tacit_error *error) {
    char shown[TACIT_CELL_TEXT];
    if (tacit_text_is_utf8(text, strlen(text))) return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT, "%s '%s' is not UTF-8: write the schema in UTF-8 and fit again",
                      what, tacit_text_shown(text, strlen(text), shown));
}

static tacit_status check_names(const export_plan *plan, tacit_error *error) {
    const tacit_levels *classes = &plan->model->class_names;
    for (size_t k = 0; k < classes->count; k++) TACIT_TRY(check_text(classes->text[k], "class", error));
    for (size_t i = 0; i < plan->inputs; i++) {
        const export_input *input = &plan->input[i];
        TACIT_TRY(check_text(input->name, "column", error));
        if (input->kind == EXPORT_CATEGORY)
            for (size_t k = 0; k < input->column->levels.count; k++)
                TACIT_TRY(check_text(input->column->levels.text[k], "level", error));
    }
    return TACIT_OK;
}

tacit_status export_plan_make(export_plan *out, const tacit_model *model, tacit_error *error) {
    const tacit_schema *schema = model->schema;
    *out = (export_plan)EXPORT_PLAN_INIT;
    if (model->family->predict != NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "a model of family %s cannot be exported: the formats have no such scores",
                          model->family->name);
    out->model = model;
    TACIT_TRY(tacit_model_check_predicts(model, error));
    out->input = TACIT_NEW(export_input, schema != NULL ? schema->cols + 1 : 1);
    if (out->input == NULL) return tacit_fail_memory(error);
    if (schema != NULL && schema->formula != NULL)
        plan_terms(out, schema);
    else if (schema != NULL && schema->sparse == 0)
        plan_columns(out, schema);
    else
        plan_values(out, schema);
    plan_rows(out, schema);
    if (out->raw + out->intercept != model->features)
        return tacit_fail(error, TACIT_INPUT, "the schema makes %zu features and the model has %zu",
                          out->raw + out->intercept, model->features);
    if (out->raw == 0 || out->inputs == 0)
        return tacit_fail(error, TACIT_INPUT, "the model uses no column: there is nothing to give it");
    TACIT_TRY(check_names(out, error));
    TACIT_TRY(choose_prefix(out, error));
    if (schema != NULL) TACIT_TRY(tacit_schema_feature_names(&out->feature, schema, error));
    return export_plan_describe(out, error);
}
