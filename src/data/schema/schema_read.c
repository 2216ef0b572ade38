/* Schemas from YAML. Every error names the line; what is not understood is refused. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/encode.h"
#include "data/schema/schema_read_parts.h"
#include "data/schema/text.h"

/* Bounds beyond these would overflow or vanish in high - low. */
static const double largest_bound = 1e100, smallest_width = 1e-100;

tacit_status schema_read_choice(const schema_reading *r, const yaml_node_t *node, const char *what,
                                const char *yes, const char *no, bool *out) {
    const char *text = "";
    size_t length = 0;
    TACIT_TRY(tacit_yaml_text(r->yaml, node, what, &text, &length, r->error));
    if (strcasecmp(text, yes) != 0 && strcasecmp(text, no) != 0)
        return tacit_yaml_fail(r->yaml, node, r->error, "%s must be %s or %s", what, yes, no);
    *out = strcasecmp(text, yes) == 0;
    return TACIT_OK;
}

tacit_status schema_read_mark(const schema_reading *r, const yaml_node_t *node, bool *out) {
    const char *text = "";
    size_t length = 0;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_text(r->yaml, node, "from", &text, &length, r->error));
    if (strcmp(text, "rows") != 0)
        return tacit_yaml_fail(
            r->yaml, node, r->error,
            "from must be rows, for what was read off rows; leave it out for what is public");
    *out = true;
    return TACIT_OK;
}

tacit_status schema_read_list(const schema_reading *r, const yaml_node_t *node, const char *what,
                              size_t limit, tacit_levels *out) {
    if (node->type != YAML_SEQUENCE_NODE)
        return tacit_yaml_fail(r->yaml, node, r->error, "%s must be a list", what);
    for (yaml_node_item_t *item = node->data.sequence.items.start; item < node->data.sequence.items.top;
         item++) {
        const yaml_node_t *entry = yaml_document_get_node(&r->yaml->document, *item);
        const char *text = "";
        size_t length = 0, before = out->count;
        char shown[TACIT_CELL_TEXT];
        TACIT_TRY(tacit_yaml_text(r->yaml, entry, what, &text, &length, r->error));
        if (before == limit)
            return tacit_yaml_fail(r->yaml, entry, r->error, "%s: more than %zu", what, limit);
        TACIT_TRY(tacit_levels_add(out, text, length, NULL, r->error));
        if (out->count == before)
            return tacit_yaml_fail(r->yaml, entry, r->error, "%s: '%s' appears twice", what,
                                   tacit_text_shown(text, length, shown));
    }
    return TACIT_OK;
}

tacit_status schema_read_bounds(const schema_reading *r, const yaml_node_t *node, const yaml_node_t *low,
                                const yaml_node_t *high, const char *name, double *from, double *to) {
    if (low == NULL || high == NULL)
        return tacit_yaml_fail(r->yaml, node, r->error,
                               "number '%s' needs low and high: what everybody may know of its range", name);
    TACIT_TRY(tacit_yaml_number(r->yaml, low, "low", from, r->error));
    TACIT_TRY(tacit_yaml_number(r->yaml, high, "high", to, r->error));
    if (fabs(*from) > largest_bound)
        return tacit_yaml_fail(r->yaml, low, r->error, "low must be within 1e100 of zero");
    if (fabs(*to) > largest_bound)
        return tacit_yaml_fail(r->yaml, high, r->error, "high must be within 1e100 of zero");
    if (!(*from < *to)) return tacit_yaml_fail(r->yaml, low, r->error, "low must be smaller than high");
    if (*to - *from < smallest_width)
        return tacit_yaml_fail(r->yaml, low, r->error, "low and high must be at least 1e-100 apart");
    return TACIT_OK;
}

/* Public statements like the bounds, from which no row may be further away than 1e6 standard deviations. */
static tacit_status read_scale(const schema_reading *r, const yaml_node_t *node, const yaml_node_t *mean,
                               const yaml_node_t *sd, tacit_schema_column *column) {
    if (mean == NULL && sd == NULL) return TACIT_OK;
    if (mean == NULL || sd == NULL)
        return tacit_yaml_fail(r->yaml, node, r->error, "number '%s' needs both mean and sd, or neither",
                               column->name);
    TACIT_TRY(tacit_yaml_number(r->yaml, mean, "mean", &column->mean, r->error));
    TACIT_TRY(tacit_yaml_number(r->yaml, sd, "sd", &column->sd, r->error));
    if (!(column->sd > 0)) return tacit_yaml_fail(r->yaml, sd, r->error, "sd must be positive");
    if (!(column->low <= column->mean && column->mean <= column->high))
        return tacit_yaml_fail(r->yaml, mean, r->error, "mean must lie between low and high");
    if (!(column->high - column->low <= 1e6 * column->sd))
        return tacit_yaml_fail(r->yaml, sd, r->error,
                               "low and high must be within 1e6 times sd of each other");
    return TACIT_OK;
}

static tacit_status read_date(const schema_reading *r, const yaml_node_t *node, tacit_schema_column *column) {
    const char *text = "";
    size_t length = 0;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_text(r->yaml, node, "date", &text, &length, r->error));
    if (tacit_date_parse(&column->date, text)) return TACIT_OK;
    const char *at = tacit_date_parse_column(&column->date, text);
    if (at != NULL && strcmp(at, column->name) != 0 && strspn(at, "0123456789-./ ") < strlen(at)) {
        column->date_at = tacit_copy_text(at);
        return column->date_at != NULL ? TACIT_OK : tacit_fail_memory(r->error);
    }
    return tacit_yaml_fail(r->yaml, node, r->error,
                           "date must be 'days since 2000-01-01' (or another day), 'year', 'age at "
                           "2020-01-01' or 'age at COLUMN', a date in the same row");
}

/* The list's entry that stands for all texts outside it. */
tacit_status schema_read_others(const schema_reading *r, const yaml_node_t *node, const tacit_levels *list,
                                const char *list_name, int32_t *out) {
    const char *text = "";
    size_t length = 0;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_text(r->yaml, node, "others", &text, &length, r->error));
    *out = tacit_levels_find(list, text, length);
    if (*out >= 0) return TACIT_OK;
    return tacit_yaml_fail(r->yaml, node, r->error, "others must be one of the %s", list_name);
}

static tacit_status read_recoded(const schema_reading *r, const yaml_node_pair_t *pair,
                                 const tacit_levels *list, const char *list_name, tacit_recode *out) {
    const yaml_node_t *key = yaml_document_get_node(&r->yaml->document, pair->key);
    const yaml_node_t *value = yaml_document_get_node(&r->yaml->document, pair->value);
    const char *from = "", *to = "";
    size_t from_length = 0, to_length = 0;
    TACIT_TRY(tacit_yaml_text(r->yaml, key, "a text of recode", &from, &from_length, r->error));
    TACIT_TRY(tacit_yaml_text(r->yaml, value, "a level of recode", &to, &to_length, r->error));
    const int32_t level = tacit_levels_find(list, to, to_length);
    if (level < 0)
        return tacit_yaml_fail(r->yaml, value, r->error, "recode: '%.60s' is none of the %s", to, list_name);
    if (tacit_levels_find(list, from, from_length) >= 0)
        return tacit_yaml_fail(r->yaml, key, r->error,
                               "recode: '%.60s' is one of the %s itself, and stays what it is", from,
                               list_name);
    if (tacit_text_is_missing(from, from_length))
        return tacit_yaml_fail(r->yaml, key, r->error,
                               "recode: '%.60s' says that a value is missing: write missing: {fill: LEVEL}",
                               from);
    if (tacit_levels_find(&out->from, from, from_length) >= 0)
        return tacit_yaml_fail(r->yaml, key, r->error, "recode: '%.60s' stands here twice", from);
    return tacit_recode_add(out, from, from_length, level, r->error);
}

tacit_status schema_read_recode(const schema_reading *r, const yaml_node_t *node, const tacit_levels *list,
                                const char *list_name, tacit_recode *out) {
    if (node == NULL) return TACIT_OK;
    if (node->type != YAML_MAPPING_NODE)
        return tacit_yaml_fail(r->yaml, node, r->error, "recode must be a mapping: {TEXT: LEVEL, ...}");
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top;
         pair++)
        TACIT_TRY(read_recoded(r, pair, list, list_name, out));
    return TACIT_OK;
}

static tacit_status read_coding(const schema_reading *r, const yaml_node_t *node,
                                tacit_schema_column *column) {
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(schema_read_choice(r, node, "coding", "effect", "indicator", &column->effect));
    if (column->effect && tacit_schema_column_levels(column) < 2)
        return tacit_yaml_fail(r->yaml, node, r->error, "effect coding needs at least two levels");
    return TACIT_OK;
}

/* {fill: VALUE}: a number within the bounds, or a level. */
static tacit_status read_fill(const schema_reading *r, const yaml_node_t *node, tacit_schema_column *column) {
    static const char *const keys[] = { "fill" };
    const yaml_node_t *values[1];
    const char *text = "";
    size_t length = 0;
    TACIT_TRY(tacit_yaml_mapping(r->yaml, node, "missing", keys, 1, values, r->error));
    if (values[0] == NULL) return tacit_yaml_fail(r->yaml, node, r->error, "missing needs fill: VALUE");
    column->missing = TACIT_MISSING_VALUE;
    if (column->kind == TACIT_SCHEMA_NUMBER) {
        TACIT_TRY(tacit_yaml_number(r->yaml, values[0], "fill", &column->fill, r->error));
        if (column->low <= column->fill && column->fill <= column->high) return TACIT_OK;
        return tacit_yaml_fail(r->yaml, values[0], r->error, "fill must lie between low and high");
    }
    if (column->kind != TACIT_SCHEMA_CATEGORY)
        return tacit_yaml_fail(r->yaml, node, r->error, "fill: VALUE belongs to numbers and categories");
    TACIT_TRY(tacit_yaml_text(r->yaml, values[0], "fill", &text, &length, r->error));
    column->fill_level = tacit_levels_find(&column->levels, text, length);
    if (column->fill_level >= 0) return TACIT_OK;
    return tacit_yaml_fail(r->yaml, values[0], r->error, "fill must be one of the levels");
}

/* What a column does about missing values. Its bounds and levels are known already. */
static tacit_status read_missing(const schema_reading *r, const yaml_node_t *node,
                                 tacit_schema_column *column) {
    const char *text = "";
    size_t length = 0;
    if (node == NULL) return TACIT_OK;
    if (column->kind == TACIT_SCHEMA_SKIP)
        return tacit_yaml_fail(r->yaml, node, r->error, "a column that is skipped has no missing values");
    if (node->type == YAML_MAPPING_NODE) return read_fill(r, node, column);
    TACIT_TRY(tacit_yaml_text(r->yaml, node, "missing", &text, &length, r->error));
    if (!tacit_missing_find(text, &column->missing))
        return tacit_yaml_fail(
            r->yaml, node, r->error,
            "missing must be error, complete-case, indicator, level, impute, fill or {fill: VALUE}");
    if (column->missing == TACIT_MISSING_INDICATOR && column->kind != TACIT_SCHEMA_NUMBER)
        return tacit_yaml_fail(r->yaml, node, r->error,
                               "missing: indicator belongs to numbers; write level for a category");
    if (column->missing == TACIT_MISSING_IMPUTE && column->kind == TACIT_SCHEMA_TEXT)
        return tacit_yaml_fail(r->yaml, node, r->error, "missing: impute belongs to numbers and categories");
    if (column->missing == TACIT_MISSING_LEVEL && column->kind != TACIT_SCHEMA_CATEGORY)
        return tacit_yaml_fail(r->yaml, node, r->error,
                               "missing: level belongs to categories; write indicator for a number");
    return TACIT_OK;
}

/* What columns do that do not say it themselves. */
static tacit_status read_default_missing(const schema_reading *r, const yaml_node_t *node) {
    const char *text = "";
    size_t length = 0;
    tacit_missing found = TACIT_MISSING_DEFAULT;
    TACIT_TRY(tacit_yaml_text(r->yaml, node, "missing", &text, &length, r->error));
    tacit_missing_find(text, &found);
    r->schema->missing_is_error = found == TACIT_MISSING_ERROR;
    r->schema->complete_case = found == TACIT_MISSING_COMPLETE_CASE;
    r->schema->imputes = found == TACIT_MISSING_IMPUTE;
    if (r->schema->missing_is_error || r->schema->complete_case || r->schema->imputes ||
        found == TACIT_MISSING_FILL)
        return TACIT_OK;
    return tacit_yaml_fail(
        r->yaml, node, r->error,
        "missing must be error, complete-case, impute or fill; a column can say more itself");
}

/* The keys of a text, in this order. */
enum { TERMS, IDF, GRAMS, HASH, STRIP, TEXT_KEYS };

static tacit_status read_whole(const schema_reading *r, const yaml_node_t *node, const char *what,
                               double most, size_t *out) {
    double value;
    TACIT_TRY(tacit_yaml_number(r->yaml, node, what, &value, r->error));
    if (!(value >= 1) || value > most || value != floor(value))
        return tacit_yaml_fail(r->yaml, node, r->error, "%s must be a whole number from 1 to %.0f", what,
                               most);
    *out = (size_t)value;
    return TACIT_OK;
}

static tacit_status read_weights(const schema_reading *r, const yaml_node_t *node, tacit_vocabulary *text) {
    size_t count = 0;
    if (node->type != YAML_SEQUENCE_NODE)
        return tacit_yaml_fail(r->yaml, node, r->error, "idf must be a list of numbers");
    if ((size_t)(node->data.sequence.items.top - node->data.sequence.items.start) != text->terms.count)
        return tacit_yaml_fail(r->yaml, node, r->error, "idf must have one number for each of the %zu terms",
                               text->terms.count);
    text->idf = TACIT_NEW(double, text->terms.count);
    if (text->idf == NULL) return tacit_fail_memory(r->error);
    for (yaml_node_item_t *item = node->data.sequence.items.start; item < node->data.sequence.items.top;
         item++) {
        const yaml_node_t *entry = yaml_document_get_node(&r->yaml->document, *item);
        TACIT_TRY(tacit_yaml_number(r->yaml, entry, "idf", &text->idf[count], r->error));
        if (!(text->idf[count] >= 1e-6 && text->idf[count] <= 1e6))
            return tacit_yaml_fail(r->yaml, entry, r->error, "idf must be between 1e-6 and 1e6");
        count++;
    }
    return TACIT_OK;
}

static tacit_status read_strip(const schema_reading *r, const yaml_node_t *node, tacit_strip *out) {
    const char *name = "";
    size_t length = 0;
    TACIT_TRY(tacit_yaml_text(r->yaml, node, "strip", &name, &length, r->error));
    if (tacit_strip_named(out, name)) return TACIT_OK;
    return tacit_yaml_fail(r->yaml, node, r->error, "strip must be nothing, frame or news");
}

static tacit_status read_vocabulary(const schema_reading *r, const yaml_node_t *node,
                                    const yaml_node_t **values, const char *name, tacit_vocabulary *text) {
    size_t grams = 1;
    if ((values[TERMS] == NULL) == (values[HASH] == NULL))
        return tacit_yaml_fail(r->yaml, node, r->error,
                               "text '%s' needs either terms: [a, b, ...], a public vocabulary, or hash: N",
                               name);
    if (values[GRAMS] != NULL) TACIT_TRY(read_whole(r, values[GRAMS], "grams", 2, &grams));
    if (values[STRIP] != NULL) TACIT_TRY(read_strip(r, values[STRIP], &text->strip));
    text->grams = (unsigned)grams;
    if (values[HASH] != NULL) {
        if (values[IDF] != NULL)
            return tacit_yaml_fail(r->yaml, values[IDF], r->error, "idf belongs to terms, not to hash");
        return read_whole(r, values[HASH], "hash", TACIT_FEATURE_LIMIT - 1, &text->buckets);
    }
    TACIT_TRY(schema_read_list(r, values[TERMS], "terms", TACIT_FEATURE_LIMIT, &text->terms));
    if (text->terms.count == 0)
        return tacit_yaml_fail(r->yaml, values[TERMS], r->error, "text '%s' has no terms", name);
    return values[IDF] != NULL ? read_weights(r, values[IDF], text) : TACIT_OK;
}

enum {
    COLUMN_NAME,
    COLUMN_KIND,
    COLUMN_LOW,
    COLUMN_HIGH,
    COLUMN_LEVELS,
    COLUMN_MEAN,
    COLUMN_SD,
    COLUMN_CODING,
    COLUMN_FROM,
    COLUMN_DATE,
    COLUMN_OTHERS,
    COLUMN_MISSING,
    COLUMN_RECODE,
    COLUMN_TEXT,
    COLUMN_KEYS = COLUMN_TEXT + TEXT_KEYS
};

static const char *const column_keys[] = { "name",   "kind",   "low",  "high",  "levels", "mean",
                                           "sd",     "coding", "from", "date",  "others", "missing",
                                           "recode", "terms",  "idf",  "grams", "hash",   "strip" };

static tacit_status read_kind(const schema_reading *r, const yaml_node_t *node, tacit_schema_kind *out) {
    static const char *const kinds[] = { "number", "category", "skip", "text" };
    const char *text = "";
    size_t length = 0, kind = 0;
    TACIT_TRY(tacit_yaml_text(r->yaml, node, "kind", &text, &length, r->error));
    while (kind < 4 && strcmp(text, kinds[kind]) != 0) kind++;
    if (kind == 4)
        return tacit_yaml_fail(r->yaml, node, r->error, "kind must be number, category, text or skip");
    *out = (tacit_schema_kind)kind;
    return TACIT_OK;
}

/* Keys that belong to columns of another kind are refused. */
static tacit_status check_keys(const schema_reading *r, const yaml_node_t *node, const yaml_node_t **values,
                               tacit_schema_kind kind, const char *shown) {
    if (kind != TACIT_SCHEMA_NUMBER && (values[COLUMN_LOW] != NULL || values[COLUMN_HIGH] != NULL))
        return tacit_yaml_fail(r->yaml, node, r->error, "column '%s': low and high belong to numbers only",
                               shown);
    if (kind != TACIT_SCHEMA_NUMBER &&
        (values[COLUMN_MEAN] != NULL || values[COLUMN_SD] != NULL || values[COLUMN_DATE] != NULL))
        return tacit_yaml_fail(r->yaml, node, r->error,
                               "column '%s': mean, sd and date belong to numbers only", shown);
    if (kind != TACIT_SCHEMA_CATEGORY && (values[COLUMN_LEVELS] != NULL || values[COLUMN_CODING] != NULL ||
                                          values[COLUMN_OTHERS] != NULL || values[COLUMN_RECODE] != NULL))
        return tacit_yaml_fail(r->yaml, node, r->error,
                               "column '%s': levels, others, recode and coding belong to categories only",
                               shown);
    for (size_t i = COLUMN_TEXT; i < COLUMN_KEYS; i++)
        if (kind != TACIT_SCHEMA_TEXT && values[i] != NULL)
            return tacit_yaml_fail(r->yaml, node, r->error, "column '%s': %s belongs to texts only", shown,
                                   column_keys[i]);
    return TACIT_OK;
}

static tacit_status read_number(const schema_reading *r, const yaml_node_t *node, const yaml_node_t **values,
                                tacit_schema_column *column) {
    TACIT_TRY(schema_read_bounds(r, node, values[COLUMN_LOW], values[COLUMN_HIGH], column->name, &column->low,
                                 &column->high));
    TACIT_TRY(read_date(r, values[COLUMN_DATE], column));
    TACIT_TRY(read_missing(r, values[COLUMN_MISSING], column));
    return read_scale(r, node, values[COLUMN_MEAN], values[COLUMN_SD], column);
}

static tacit_status read_category(const schema_reading *r, const yaml_node_t *node,
                                  const yaml_node_t **values, const char *shown,
                                  tacit_schema_column *column) {
    if (values[COLUMN_LEVELS] == NULL)
        return tacit_yaml_fail(r->yaml, node, r->error, "category '%s' needs levels: [a, b, ...]", shown);
    TACIT_TRY(schema_read_list(r, values[COLUMN_LEVELS], "levels", TACIT_FEATURE_LIMIT, &column->levels));
    if (column->levels.count == 0)
        return tacit_yaml_fail(r->yaml, values[COLUMN_LEVELS], r->error, "category '%s' has no levels",
                               shown);
    TACIT_TRY(schema_read_others(r, values[COLUMN_OTHERS], &column->levels, "levels", &column->others));
    TACIT_TRY(schema_read_recode(r, values[COLUMN_RECODE], &column->levels, "levels", &column->recode));
    TACIT_TRY(read_missing(r, values[COLUMN_MISSING], column));
    return read_coding(r, values[COLUMN_CODING], column);
}

static tacit_status read_column(const schema_reading *r, const yaml_node_t *node, tacit_levels *names) {
    const yaml_node_t *values[COLUMN_KEYS];
    const char *name = "";
    size_t length = 0, before = names->count;
    tacit_schema_kind kind = TACIT_SCHEMA_NUMBER;
    tacit_schema_column *column;
    char shown[TACIT_CELL_TEXT];
    TACIT_TRY(tacit_yaml_mapping(r->yaml, node, "a column", column_keys, COLUMN_KEYS, values, r->error));
    if (values[COLUMN_NAME] == NULL) return tacit_yaml_fail(r->yaml, node, r->error, "a column has no name");
    TACIT_TRY(tacit_yaml_text(r->yaml, values[COLUMN_NAME], "a column's name", &name, &length, r->error));
    tacit_text_shown(name, length, shown);
    TACIT_TRY(tacit_levels_add(names, name, length, NULL, r->error));
    if (names->count == before)
        return tacit_yaml_fail(r->yaml, values[COLUMN_NAME], r->error, "column '%s' appears twice", shown);
    if (values[COLUMN_KIND] == NULL)
        return tacit_yaml_fail(r->yaml, node, r->error,
                               "column '%s' has no kind: number, category, text or skip", shown);
    TACIT_TRY(read_kind(r, values[COLUMN_KIND], &kind));
    TACIT_TRY(check_keys(r, node, values, kind, shown));
    TACIT_TRY(tacit_schema_add_column(r->schema, &column, name, kind, r->error));
    TACIT_TRY(schema_read_mark(r, values[COLUMN_FROM], &column->from_rows));
    if (kind == TACIT_SCHEMA_NUMBER) return read_number(r, node, values, column);
    if (kind == TACIT_SCHEMA_CATEGORY) return read_category(r, node, values, shown, column);
    TACIT_TRY(read_missing(r, values[COLUMN_MISSING], column));
    return kind == TACIT_SCHEMA_SKIP ? TACIT_OK
                                     : read_vocabulary(r, node, values + COLUMN_TEXT, shown, &column->text);
}

static tacit_status read_columns(const schema_reading *r, const yaml_node_t *node) {
    tacit_levels names = TACIT_LEVELS_INIT;
    tacit_status status = TACIT_OK;
    if (node->type != YAML_SEQUENCE_NODE)
        TACIT_CHECK(tacit_yaml_fail(r->yaml, node, r->error, "columns must be a list"));
    for (yaml_node_item_t *item = node->data.sequence.items.start; item < node->data.sequence.items.top;
         item++)
        TACIT_CHECK(read_column(r, yaml_document_get_node(&r->yaml->document, *item), &names));
    if (tacit_levels_find(&names, r->schema->label, strlen(r->schema->label)) >= 0)
        TACIT_CHECK(tacit_yaml_fail(r->yaml, node, r->error, "the label '%s' must not be among the columns",
                                    r->schema->label));
cleanup:
    tacit_levels_clear(&names);
    return status;
}

static tacit_status read_sparse(const schema_reading *r, const yaml_node_t *node) {
    static const char *const keys[] = { "features", "from" };
    double features;
    if (node->type == YAML_MAPPING_NODE) {
        const yaml_node_t *values[2];
        TACIT_TRY(tacit_yaml_mapping(r->yaml, node, "sparse", keys, 2, values, r->error));
        if (values[0] == NULL)
            return tacit_yaml_fail(r->yaml, node, r->error, "sparse needs features: D, their number");
        TACIT_TRY(schema_read_mark(r, values[1], &r->schema->sparse_from_rows));
        node = values[0];
    }
    TACIT_TRY(tacit_yaml_number(r->yaml, node, "sparse", &features, r->error));
    if (!(features >= 1) || features >= TACIT_FEATURE_LIMIT || features != floor(features))
        return tacit_yaml_fail(r->yaml, node, r->error,
                               "sparse must be the number of features, from 1 to 50,000,000");
    r->schema->sparse = (size_t)features;
    return TACIT_OK;
}

static tacit_status read_rows(const schema_reading *r, const yaml_node_t *node) {
    tacit_schema *schema = r->schema;
    if (node->type == YAML_MAPPING_NODE) {
        static const char *const keys[] = { "clip", "from" };
        const yaml_node_t *values[2];
        TACIT_TRY(tacit_yaml_mapping(r->yaml, node, "rows", keys, 2, values, r->error));
        const yaml_node_t *clip = values[0];
        TACIT_TRY(schema_read_mark(r, values[1], &schema->clip_from_rows));
        if (clip == NULL)
            return tacit_yaml_fail(r->yaml, node, r->error, "rows must be bound, scaled, unit or {clip: C}");
        TACIT_TRY(tacit_yaml_number(r->yaml, clip, "clip", &schema->clip, r->error));
        if (!(schema->clip >= smallest_width && schema->clip <= largest_bound))
            return tacit_yaml_fail(r->yaml, clip, r->error, "clip must be positive");
        schema->rows = TACIT_ROWS_CLIP;
        return TACIT_OK;
    }
    const char *word = "";
    size_t length;
    (void)tacit_yaml_text(r->yaml, node, "rows", &word, &length, NULL);
    bool scaled = strcmp(word, "scaled") == 0 && schema->sparse == 0, unit = strcmp(word, "unit") == 0;
    if (!scaled && !unit && strcmp(word, "bound") != 0)
        return tacit_yaml_fail(r->yaml, node, r->error, "rows must be bound, scaled, unit or {clip: C}");
    schema->rows = scaled ? TACIT_ROWS_CLIP : unit ? TACIT_ROWS_UNIT : TACIT_ROWS_BOUND;
    if (scaled) schema->clip = sqrt(fmax(tacit_schema_reach(schema), 1) / 8);
    return TACIT_OK;
}

/* Whose row it is: neither the label nor anything a feature is made of, which would give persons away. */
static tacit_status read_person(const schema_reading *r, const yaml_node_t *node) {
    tacit_schema *schema = r->schema;
    const char *text;
    size_t length;
    TACIT_TRY(tacit_yaml_text(r->yaml, node, "person", &text, &length, r->error));
    bool used = length == 0 || strcmp(text, schema->label) == 0 ||
                (schema->event != NULL && strcmp(text, schema->event) == 0) ||
                (schema->entry != NULL && strcmp(text, schema->entry) == 0);
    for (size_t i = 0; i < schema->cols; i++)
        used = used ||
               (schema->columns[i].kind != TACIT_SCHEMA_SKIP && strcmp(text, schema->columns[i].name) == 0);
    if (used || schema->sparse > 0)
        return tacit_yaml_fail(r->yaml, node, r->error,
                               "person must name a column that is neither the label nor a feature");
    schema->person = tacit_copy_text(text);
    return schema->person != NULL ? TACIT_OK : tacit_fail_memory(r->error);
}

static tacit_status read_terms(const schema_reading *r, const yaml_node_t *node, const char *key,
                               tacit_status set(tacit_schema *, const char *, tacit_error *)) {
    const char *text;
    size_t length;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_text(r->yaml, node, key, &text, &length, r->error));
    tacit_status status = set(r->schema, text, r->error);
    return tacit_fail_in(r->error, status == TACIT_USAGE ? TACIT_INPUT : status, "%s", r->yaml->name);
}

static tacit_status read_schema(const schema_reading *r, const yaml_node_t *root) {
    enum { LABEL, COLUMNS, SPARSE, PERSON, MISSING, STRICT, INTERCEPT, ROWS, TERMS_TEXT, SUBSET, KEYS };
    static const char *const keys[] = { "label",  "columns",   "sparse", "person", "missing",
                                        "strict", "intercept", "rows",   "terms",  "subset" };
    const yaml_node_t *values[KEYS];
    TACIT_TRY(tacit_yaml_mapping(r->yaml, root, "the schema", keys, KEYS, values, r->error));
    if (values[LABEL] == NULL) return tacit_yaml_fail(r->yaml, root, r->error, "the schema has no label");
    if ((values[COLUMNS] == NULL) == (values[SPARSE] == NULL))
        return tacit_yaml_fail(r->yaml, root, r->error, "the schema must have either columns or sparse");
    TACIT_TRY(schema_read_label(r, values[LABEL]));
    if (values[COLUMNS] != NULL) TACIT_TRY(read_columns(r, values[COLUMNS]));
    if (values[SPARSE] != NULL) TACIT_TRY(read_sparse(r, values[SPARSE]));
    if (values[PERSON] != NULL) TACIT_TRY(read_person(r, values[PERSON]));
    if (values[MISSING] != NULL) TACIT_TRY(read_default_missing(r, values[MISSING]));
    if (values[STRICT] != NULL)
        TACIT_TRY(schema_read_choice(r, values[STRICT], "strict", "yes", "no", &r->schema->strict));
    if (values[INTERCEPT] != NULL)
        TACIT_TRY(schema_read_choice(r, values[INTERCEPT], "intercept", "yes", "no", &r->schema->intercept));
    if (values[ROWS] != NULL) TACIT_TRY(read_rows(r, values[ROWS]));
    if (r->schema->sparse > 0 && r->schema->rows == TACIT_ROWS_BOUND)
        return tacit_yaml_fail(r->yaml, values[ROWS] != NULL ? values[ROWS] : root, r->error,
                               "sparse rows have no bounds: rows must be unit or {clip: C}");
    TACIT_TRY(read_terms(r, values[SUBSET], "subset", tacit_schema_set_subset));
    if (values[TERMS_TEXT] != NULL) return read_terms(r, values[TERMS_TEXT], "terms", tacit_schema_set_terms);
    size_t features = tacit_schema_features(r->schema);
    if (features == r->schema->intercept)
        return tacit_yaml_fail(r->yaml, values[COLUMNS], r->error, "every column is skipped");
    if (features > TACIT_FEATURE_LIMIT)
        return tacit_yaml_fail(r->yaml, root, r->error, "more than 50,000,000 features");
    return TACIT_OK;
}

tacit_status tacit_schema_parse(tacit_schema **out, const char *text, size_t length, const char *name,
                                tacit_error *error) {
    tacit_yaml yaml;
    tacit_schema *schema = NULL;
    tacit_status status;
    TACIT_TRY(tacit_yaml_open(&yaml, text, length, name, error));
    const yaml_node_t *root = tacit_yaml_root(&yaml);
    if (root == NULL) TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "%s: the schema is empty", name));
    TACIT_CHECK(tacit_schema_create(&schema, error));
    schema_reading r = { &yaml, error, schema };
    TACIT_CHECK(read_schema(&r, root));
    *out = schema;
    schema = NULL;
cleanup:
    tacit_schema_free(schema);
    tacit_yaml_close(&yaml);
    return status;
}

tacit_status tacit_schema_load_terms(tacit_schema **out, const char *path, const char *terms,
                                     const char *subset, tacit_error *error) {
    tacit_schema *schema = NULL;
    TACIT_TRY(tacit_schema_load(&schema, path, error));
    return tacit_schema_take_terms(out, schema, terms, subset, error);
}

tacit_status tacit_schema_take_terms(tacit_schema **out, tacit_schema *schema, const char *terms,
                                     const char *subset, tacit_error *error) {
    tacit_status status = terms != NULL ? tacit_schema_set_terms(schema, terms, error) : TACIT_OK;
    if (status == TACIT_OK && subset != NULL) status = tacit_schema_set_subset(schema, subset, error);
    if (status == TACIT_OK)
        *out = schema;
    else
        tacit_schema_free(schema);
    return status;
}

tacit_status tacit_schema_load(tacit_schema **out, const char *path, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_SCHEMA_BYTES_LIMIT);
    tacit_status status = tacit_file_read(path, &text, error);
    if (status == TACIT_LIMIT) status = tacit_fail_in(error, status, "schema %s", path);
    if (status == TACIT_OK)
        status = tacit_schema_parse(out, tacit_buffer_text(&text), text.length, path, error);
    tacit_buffer_clear(&text);
    return status;
}
