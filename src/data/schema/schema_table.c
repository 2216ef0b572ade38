/* The table that the rows of a schema are read into: which columns, and what is refused there. */
#include "data/encode.h"
#include <math.h>
#include <string.h>

/* Rows to train on, or to evaluate a model on, that lack something are left out; to others nothing can be
 * said of them. What is imputed where a model is made is left out where one is evaluated. */
static void declare_missing(tacit_column *column, tacit_missing what, tacit_label_need need) {
    bool labelled = need == TACIT_LABEL_REQUIRED || need == TACIT_LABEL_OF_MODEL;
    bool whole =
        what == TACIT_MISSING_COMPLETE_CASE || (what == TACIT_MISSING_IMPUTE && need != TACIT_LABEL_REQUIRED);
    column->required = what == TACIT_MISSING_ERROR || (whole && !labelled);
    column->leaves_out = whole && labelled;
}

static tacit_status declare_feature(tacit_table *table, const tacit_schema *schema, size_t at,
                                    const tacit_source *source, tacit_missing missing, tacit_label_need need,
                                    tacit_error *error) {
    const tacit_schema_column *declared = &schema->columns[at];
    size_t field;
    tacit_column *column;
    bool number = declared->kind == TACIT_SCHEMA_NUMBER, text = declared->kind == TACIT_SCHEMA_TEXT;
    TACIT_TRY(tacit_source_require(source, declared->name, "schema", &field, error));
    TACIT_TRY(tacit_table_declare(table, &column, declared->name,
                                  number ? TACIT_COLUMN_NUMBER
                                  : text ? TACIT_COLUMN_TEXT
                                         : TACIT_COLUMN_CATEGORY,
                                  field, error));
    if (text) column->vocabulary = &declared->text;
    declare_missing(column, missing, need);
    column->closed = true;
    column->strict = schema->strict;
    column->date = declared->date;
    column->recode = declared->recode.from.count > 0 ? &declared->recode : NULL;
    column->has_date_at = declared->date_at != NULL;
    if (column->has_date_at)
        TACIT_TRY(
            tacit_source_require(source, declared->date_at, "the schema's date", &column->date_at, error));
    column->has_others = declared->others >= 0;
    column->others = declared->others;
    return number || text ? TACIT_OK : tacit_levels_copy(&column->levels, &declared->levels, error);
}

static tacit_status declare_features(tacit_table *table, const tacit_schema *schema,
                                     const tacit_source *source, tacit_label_need need, tacit_error *error) {
    for (size_t i = 0; i < schema->cols; i++) {
        if (!tacit_schema_uses(schema, i)) continue;
        if (tacit_schema_is_weights(schema, i) && need != TACIT_LABEL_REQUIRED &&
            tacit_source_find_column(source, schema->columns[i].name) < 0)
            continue;
        TACIT_TRY(declare_feature(table, schema, i, source, tacit_schema_missing(schema, &schema->columns[i]),
                                  need, error));
    }
    return TACIT_OK;
}

/* Rows to learn from, or to judge a model by; whoever asks for a prediction asks for that row. */
static tacit_status declare_subset(tacit_table *table, const tacit_schema *schema, const tacit_source *source,
                                   tacit_label_need need, tacit_error *error) {
    const size_t *columns;
    tacit_table *probe = NULL;
    if (schema->subset == NULL || (need != TACIT_LABEL_REQUIRED && need != TACIT_LABEL_OF_MODEL))
        return TACIT_OK;
    const size_t count = tacit_condition_columns(schema->subset, &columns);
    TACIT_TRY(tacit_table_create_empty(&probe, source->name, error));
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < count && status == TACIT_OK; k++)
        status = declare_feature(probe, schema, columns[k], source, TACIT_MISSING_FILL, need, error);
    if (status == TACIT_OK)
        tacit_table_choose(table, schema->subset, probe);
    else
        tacit_table_free(probe);
    return status;
}

/* What has no label can be learnt from by some methods, but no model can be judged by it. */
static tacit_missing label_missing(const tacit_schema *schema, tacit_label_need need) {
    if (tacit_schema_leaves_out_unlabelled(schema)) return TACIT_MISSING_COMPLETE_CASE;
    if (!tacit_schema_keeps_unlabelled(schema)) return TACIT_MISSING_ERROR;
    return need == TACIT_LABEL_OF_MODEL ? TACIT_MISSING_COMPLETE_CASE : TACIT_MISSING_FILL;
}

static tacit_status declare_label(tacit_table *table, const tacit_schema *schema, const tacit_source *source,
                                  tacit_label_need need, size_t *label, tacit_error *error) {
    if (need == TACIT_LABEL_IGNORED) return TACIT_OK;
    bool found = tacit_source_find_column(source, schema->label) >= 0 ||
                 (schema->event != NULL && tacit_source_find_column(source, schema->event) >= 0);
    if (need == TACIT_LABEL_OPTIONAL && !found) return TACIT_OK;
    size_t field;
    tacit_column *column;
    tacit_missing missing = label_missing(schema, need);
    TACIT_TRY(tacit_source_require(source, schema->label, "the schema's label", &field, error));
    *label = table->cols;
    if (schema->response != TACIT_RESPONSE_CLASS) {
        TACIT_TRY(tacit_table_declare(table, &column, schema->label, TACIT_COLUMN_NUMBER, field, error));
        declare_missing(column, missing, need);
        if (schema->event == NULL) return TACIT_OK;
        TACIT_TRY(tacit_source_require(source, schema->event, "the schema's label", &field, error));
        TACIT_TRY(tacit_table_declare(table, &column, schema->event, TACIT_COLUMN_NUMBER, field, error));
        declare_missing(column, missing, need);
        if (schema->entry == NULL) return TACIT_OK;
        TACIT_TRY(tacit_source_require(source, schema->entry, "the schema's label", &field, error));
        TACIT_TRY(tacit_table_declare(table, &column, schema->entry, TACIT_COLUMN_NUMBER, field, error));
        declare_missing(column, missing, need);
        return TACIT_OK;
    }
    TACIT_TRY(tacit_table_declare(table, &column, schema->label, TACIT_COLUMN_CATEGORY, field, error));
    declare_missing(column, missing, need);
    column->closed = column->compare_numbers = true;
    column->strict = schema->others < 0;
    column->recode = schema->recode.from.count > 0 ? &schema->recode : NULL;
    return tacit_levels_copy(&column->levels, &schema->classes, error);
}

/* Rows are observed from some time on, and for some time. */
static tacit_status bound_entry(const tacit_schema *schema, double *value, tacit_error *error) {
    if (!(value[2] >= 0 && value[2] < value[0]))
        return tacit_fail(error, TACIT_INPUT,
                          "%s is %g and %s is %g, where the schema says that a row is observed from the "
                          "first, which is not negative, to the second, which is later",
                          schema->entry, value[2], schema->label, value[0]);
    value[2] = fmin(fmax(value[2], schema->low), schema->high);
    return TACIT_OK;
}

tacit_status tacit_schema_response(const tacit_schema *schema, double *value, uint64_t *moved,
                                   tacit_error *error) {
    if (schema->response == TACIT_RESPONSE_COUNT && (!(*value >= 0) || *value != floor(*value)))
        return tacit_fail(error, TACIT_INPUT,
                          "%s is %g, and the schema says that it counts something: whole numbers from 0",
                          schema->label, *value);
    if (schema->response == TACIT_RESPONSE_TIME) {
        double causes = fmax(1, (double)schema->causes.count);
        if (causes > 1 &&
            (!(value[0] >= 0) || !(value[1] >= 0 && value[1] <= causes) || value[1] != floor(value[1])))
            return tacit_fail(
                error, TACIT_INPUT,
                "%s is %g and %s is %g, where the schema says a time, not negative, and an event of "
                "one of %.0f causes: 0 where none was seen, 1 for the first cause, and so on",
                schema->label, value[0], schema->event, value[1], causes);
        if (causes == 1 && (!(value[0] >= 0) || (value[1] != 0 && value[1] != 1)))
            return tacit_fail(error, TACIT_INPUT,
                              "%s is %g and %s is %g, where the schema says a time, not negative, and an "
                              "event, 1 where it was seen and 0 where not",
                              schema->label, value[0], schema->event, value[1]);
        if (value[0] > schema->high) value[1] = 0; /* at the bound it was not seen yet */
        if (schema->entry != NULL) TACIT_TRY(bound_entry(schema, value, error));
    }
    *moved += *value < schema->low || *value > schema->high;
    *value = fmin(fmax(*value, schema->low), schema->high);
    return TACIT_OK;
}

tacit_status tacit_schema_table(tacit_table **out, size_t *label, size_t *group_at,
                                const tacit_schema *schema, const tacit_source *source, tacit_label_need need,
                                const char *group, tacit_error *error) {
    tacit_table *table = NULL;
    TACIT_TRY(tacit_table_create_empty(&table, source->name, error));
    tacit_status status = TACIT_OK;
    size_t label_found = SIZE_MAX, group_found = SIZE_MAX;
    TACIT_CHECK(declare_features(table, schema, source, need, error));
    TACIT_CHECK(declare_subset(table, schema, source, need, error));
    TACIT_CHECK(declare_label(table, schema, source, need, &label_found, error));
    if (group != NULL) TACIT_CHECK(tacit_table_declare_group(table, source, group, &group_found, error));
    *out = table;
    *label = label_found;
    *group_at = group_found;
    table = NULL;
cleanup:
    tacit_table_free(table);
    return status;
}
