#include "data/schema/schema.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/growing.h"
#include "base/memory.h"
#include "data/schema/text.h"

tacit_status tacit_schema_create(tacit_schema **out, tacit_error *error) {
    tacit_schema *schema = TACIT_NEW(tacit_schema, 1);
    if (schema == NULL) return tacit_fail_memory(error);
    schema->others = -1;
    schema->intercept = true;
    *out = schema;
    return TACIT_OK;
}

tacit_schema *tacit_schema_free(tacit_schema *schema) {
    if (schema == NULL) return NULL;
    for (size_t i = 0; i < schema->cols; i++) {
        free(schema->columns[i].name);
        free(schema->columns[i].note);
        tacit_levels_clear(&schema->columns[i].levels);
        tacit_recode_clear(&schema->columns[i].recode);
        free(schema->columns[i].date_at);
        tacit_vocabulary_clear(&schema->columns[i].text);
    }
    free(schema->columns);
    free(schema->label);
    free(schema->event);
    free(schema->entry);
    tacit_levels_clear(&schema->causes);
    free(schema->person);
    tacit_formula_free(schema->formula);
    tacit_condition_free(schema->subset);
    tacit_levels_clear(&schema->classes);
    tacit_recode_clear(&schema->recode);
    free(schema);
    return NULL;
}

tacit_status tacit_schema_add_column(tacit_schema *schema, tacit_schema_column **out, const char *name,
                                     tacit_schema_kind kind, tacit_error *error) {
    tacit_schema_column *columns =
        tacit_grow_by_one(schema->columns, schema->cols, &schema->column_capacity, 16, sizeof *columns);
    if (columns == NULL) return tacit_fail_memory(error);
    schema->columns = columns;
    char *copy = tacit_copy_text(name);
    if (copy == NULL) return tacit_fail_memory(error);
    tacit_schema_column *column = &schema->columns[schema->cols++];
    *column =
        (tacit_schema_column){ .name = copy, .kind = kind, .others = -1, .text = TACIT_VOCABULARY_INIT };
    *out = column;
    return TACIT_OK;
}

const char *tacit_response_name(tacit_response response) {
    switch (response) {
    case TACIT_RESPONSE_CLASS: return "class";
    case TACIT_RESPONSE_NUMBER: return "number";
    case TACIT_RESPONSE_COUNT: return "count";
    case TACIT_RESPONSE_TIME: return "time";
    case TACIT_RESPONSES: break;
    }
    return "unknown";
}

size_t tacit_schema_column_levels(const tacit_schema_column *column) {
    return column->levels.count + (column->missing == TACIT_MISSING_LEVEL);
}

size_t tacit_schema_column_features(const tacit_schema_column *column) {
    switch (column->kind) {
    case TACIT_SCHEMA_NUMBER: return 1 + (column->missing == TACIT_MISSING_INDICATOR);
    case TACIT_SCHEMA_CATEGORY: return tacit_schema_column_levels(column) - column->effect;
    case TACIT_SCHEMA_SKIP: return 0;
    case TACIT_SCHEMA_TEXT: return tacit_vocabulary_size(&column->text);
    }
    return 0;
}

/* A number with an indicator is (x, 0) or (0, 1): the larger of two squares. A value to fill in lies within
 * the bounds, and a level is one of the levels, so neither reaches further than a value that is there. */
double tacit_schema_column_reach(const tacit_schema_column *column) {
    if (column->kind == TACIT_SCHEMA_NUMBER && column->sd > 0) {
        double reach =
            pow(fmax(fabs(column->low - column->mean), fabs(column->high - column->mean)) / column->sd, 2) *
            (1 + 8 * DBL_EPSILON);
        return column->missing == TACIT_MISSING_INDICATOR ? fmax(reach, 1) : reach;
    }
    if (column->kind == TACIT_SCHEMA_CATEGORY && column->effect)
        return (double)(tacit_schema_column_levels(column) - 1);
    return column->kind != TACIT_SCHEMA_SKIP;
}

tacit_status tacit_schema_set_terms(tacit_schema *schema, const char *terms, tacit_error *error) {
    tacit_formula *formula = NULL;
    if (terms != NULL && schema->sparse > 0)
        return tacit_fail(error, TACIT_USAGE, "terms: rows of a LIBSVM file have no named columns");
    if (terms != NULL && schema->rows == TACIT_ROWS_UNIT)
        return tacit_fail(error, TACIT_USAGE,
                          "terms: the schema has rows: unit, under which features are no function of single "
                          "terms: write rows: bound");
    if (terms != NULL) TACIT_TRY(tacit_formula_create(&formula, terms, schema, error));
    tacit_formula_free(schema->formula);
    schema->formula = formula;
    if (formula != NULL) schema->intercept = tacit_formula_intercept(formula);
    return TACIT_OK;
}

tacit_status tacit_schema_set_subset(tacit_schema *schema, const char *subset, tacit_error *error) {
    tacit_condition *condition = NULL;
    if (subset != NULL && schema->sparse > 0)
        return tacit_fail(error, TACIT_USAGE, "subset: rows of a LIBSVM file have no named columns");
    if (subset != NULL) TACIT_TRY(tacit_condition_create(&condition, subset, schema, "subset", error));
    tacit_condition_free(schema->subset);
    schema->subset = condition;
    return TACIT_OK;
}

tacit_status tacit_schema_set_model(tacit_schema *schema, const char *terms, const char *weights,
                                    tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    if (weights == NULL) return terms != NULL ? tacit_schema_set_terms(schema, terms, error) : TACIT_OK;
    if (terms == NULL && schema->formula != NULL) terms = tacit_formula_text(schema->formula);
    TACIT_CHECK(tacit_formula_add_weights(&text, terms, weights, error));
    TACIT_CHECK(tacit_schema_set_terms(schema, tacit_buffer_text(&text), error));
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

bool tacit_schema_uses(const tacit_schema *schema, size_t column) {
    if (schema->formula != NULL) return tacit_formula_uses(schema->formula, column);
    return schema->columns[column].kind != TACIT_SCHEMA_SKIP;
}

size_t tacit_schema_features(const tacit_schema *schema) {
    size_t features = schema->sparse + schema->intercept;
    if (schema->formula != NULL) return tacit_formula_features(schema->formula) + schema->intercept;
    for (size_t i = 0; i < schema->cols; i++) features += tacit_schema_column_features(&schema->columns[i]);
    return features;
}

double tacit_schema_density(const tacit_schema *schema) {
    if (schema->sparse > 0) return 0;
    size_t filled = schema->intercept;
    if (schema->formula != NULL)
        return (double)(filled + tacit_formula_entries(schema->formula)) /
               (double)tacit_schema_features(schema);
    for (size_t i = 0; i < schema->cols; i++) {
        size_t features = tacit_schema_column_features(&schema->columns[i]);
        size_t most = schema->columns[i].kind == TACIT_SCHEMA_TEXT ? 100 : 1;
        filled += features < most ? features : most;
    }
    return (double)filled / (double)tacit_schema_features(schema);
}

bool tacit_schema_nonnegative(const tacit_schema *schema) {
    if (schema->sparse > 0 || schema->formula != NULL) return false;
    for (size_t i = 0; i < schema->cols; i++)
        if (schema->columns[i].kind == TACIT_SCHEMA_NUMBER || schema->columns[i].effect) return false;
    return true;
}

char **tacit_feature_names_free(char **names, size_t count) {
    for (size_t i = 0; names != NULL && i < count; i++) free(names[i]);
    free(names);
    return NULL;
}

/* "column (missing)", allocated. */
static char *missing_name(const char *column) {
    static const char tail[] = " (missing)";
    size_t head = strlen(column);
    char *name = malloc(head + sizeof tail);
    if (name == NULL) return NULL;
    memcpy(name, column, head);
    memcpy(name + head, tail, sizeof tail);
    return name;
}

/* "column" or "column=level", allocated. */
static char *join_name(const char *column, const char *level) {
    size_t head = strlen(column), tail = level != NULL ? strlen(level) + 1 : 0;
    char *name = malloc(head + tail + 1);
    if (name == NULL) return NULL;
    memcpy(name, column, head + 1);
    if (level == NULL) return name;
    name[head] = '=';
    memcpy(name + head + 1, level, tail);
    return name;
}

/* The name of feature k of a column, allocated. */
static char *feature_name(const tacit_schema_column *column, size_t k) {
    if (column->kind == TACIT_SCHEMA_NUMBER)
        return k > 0 ? missing_name(column->name) : join_name(column->name, NULL);
    if (column->kind == TACIT_SCHEMA_CATEGORY)
        return k < column->levels.count ? join_name(column->name, column->levels.text[k])
                                        : missing_name(column->name);
    if (column->text.buckets == 0) return join_name(column->name, column->text.terms.text[k]);
    char number[24];
    snprintf(number, sizeof number, "#%zu", k + 1);
    return join_name(column->name, number);
}

/* The name of feature k of a formula, allocated; NULL without memory. */
static char *term_name(const tacit_formula *formula, size_t k) {
    tacit_buffer name = TACIT_BUFFER_INIT;
    char *copy = NULL;
    if (tacit_formula_name(formula, k, &name, NULL) == TACIT_OK)
        copy = tacit_copy_text(tacit_buffer_text(&name));
    tacit_buffer_clear(&name);
    return copy;
}

tacit_status tacit_schema_feature_names(char ***out, const tacit_schema *schema, tacit_error *error) {
    size_t features = tacit_schema_features(schema), used = 0;
    if (schema->sparse > 0) {
        *out = NULL;
        return TACIT_OK;
    }
    char **names = TACIT_NEW(char *, features);
    bool complete = names != NULL;
    for (; schema->formula != NULL && complete && used + schema->intercept < features; used++)
        complete = (names[used] = term_name(schema->formula, used)) != NULL;
    for (size_t i = 0; schema->formula == NULL && i < schema->cols && complete; i++) {
        const tacit_schema_column *column = &schema->columns[i];
        for (size_t k = 0; k < tacit_schema_column_features(column) && complete; k++) {
            names[used] = feature_name(column, k);
            complete = names[used++] != NULL;
        }
    }
    if (complete && schema->intercept) complete = (names[used] = join_name("(intercept)", NULL)) != NULL;
    if (!complete) {
        tacit_feature_names_free(names, features);
        return tacit_fail_memory(error);
    }
    *out = names;
    return TACIT_OK;
}

/* Text in double quotes with YAML's escapes. Code points that YAML does not allow in a file, or takes for a
 * line break, are written as numbers. `text` is UTF-8. */
static tacit_status print_quoted(tacit_buffer *out, const char *text, tacit_error *error) {
    TACIT_TRY(tacit_buffer_append(out, "\"", 1, error));
    for (const uint8_t *at = (const uint8_t *)text; *at != 0;) {
        size_t length = *at < 0x80 ? 1 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : 4;
        uint32_t point = length == 1 ? *at : (uint32_t)*at & (0x7Fu >> length);
        for (size_t i = 1; i < length; i++) point = point << 6 | (at[i] & 0x3Fu);
        bool special = point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x2028 ||
                       point == 0x2029 || point == 0xFEFF || point == 0xFFFE || point == 0xFFFF;
        if (special)
            TACIT_TRY(tacit_buffer_print(out, error, "\\u%04X", (unsigned)point));
        else if (point == '"' || point == '\\')
            TACIT_TRY(tacit_buffer_print(out, error, "\\%c", (char)point));
        else
            TACIT_TRY(tacit_buffer_append(out, at, length, error));
        at += length;
    }
    return tacit_buffer_append(out, "\"", 1, error);
}

/* Words that some YAML reader takes for something else than text. */
static bool is_reserved(const char *text) {
    static const char *const words[] = { "yes",  "no", "true", "false", "on", "off",
                                         "null", "y",  "n",    "nan",   "inf" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i]) == 0) return true;
    return false;
}

static tacit_status print_text(tacit_buffer *out, const char *text, bool canonical, tacit_error *error) {
    bool letter = (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z');
    size_t plain = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
    if (canonical || !letter || text[plain] != 0 || is_reserved(text)) return print_quoted(out, text, error);
    return tacit_buffer_print(out, error, "%s", text);
}

static tacit_status print_list(tacit_buffer *out, const tacit_levels *levels, bool canonical,
                               tacit_error *error) {
    for (size_t i = 0; i < levels->count; i++) {
        TACIT_TRY(tacit_buffer_print(out, error, i > 0 ? ", " : "["));
        TACIT_TRY(print_text(out, levels->text[i], canonical, error));
    }
    return tacit_buffer_print(out, error, "]");
}

static tacit_status print_recode(tacit_buffer *out, const tacit_recode *recode, const tacit_levels *levels,
                                 const char *before, bool canonical, tacit_error *error) {
    if (recode->from.count == 0) return TACIT_OK;
    TACIT_TRY(tacit_buffer_print(out, error, "%srecode: ", before));
    for (size_t i = 0; i < recode->from.count; i++) {
        TACIT_TRY(tacit_buffer_print(out, error, i > 0 ? ", " : "{"));
        TACIT_TRY(print_text(out, recode->from.text[i], canonical, error));
        TACIT_TRY(tacit_buffer_print(out, error, ": "));
        TACIT_TRY(print_text(out, levels->text[recode->to[i]], canonical, error));
    }
    return tacit_buffer_print(out, error, "}");
}

static tacit_status print_date(tacit_buffer *out, const tacit_schema_column *column, tacit_error *error) {
    char date[TACIT_DATE_TEXT];
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    if (column->date.use == TACIT_DATE_NONE) return TACIT_OK;
    if (column->date_at == NULL)
        return tacit_buffer_print(out, error, ", date: %s", tacit_date_text(&column->date, date));
    TACIT_CHECK(tacit_buffer_print(&text, error, "age at %s", column->date_at));
    TACIT_CHECK(tacit_buffer_print(out, error, ", date: "));
    status = print_quoted(out, tacit_buffer_text(&text), error);
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status print_vocabulary(tacit_buffer *out, const tacit_vocabulary *text, bool canonical,
                                     tacit_error *error) {
    char number[TACIT_NUMBER_TEXT];
    TACIT_TRY(tacit_buffer_print(out, error, ", kind: text, grams: %u", text->grams));
    if (text->strip != TACIT_STRIP_NOTHING)
        TACIT_TRY(tacit_buffer_print(out, error, ", strip: %s", tacit_strip_name(text->strip)));
    if (text->buckets > 0) return tacit_buffer_print(out, error, ", hash: %zu", text->buckets);
    TACIT_TRY(tacit_buffer_print(out, error, ", terms: "));
    TACIT_TRY(print_list(out, &text->terms, canonical, error));
    for (size_t i = 0; text->idf != NULL && i < text->terms.count; i++)
        TACIT_TRY(tacit_buffer_print(out, error, "%s%s", i > 0 ? ", " : ", idf: [",
                                     tacit_number_to_text(text->idf[i], number)));
    return text->idf != NULL ? tacit_buffer_print(out, error, "]") : TACIT_OK;
}

static tacit_status print_missing(tacit_buffer *out, const tacit_schema_column *column, bool canonical,
                                  tacit_error *error) {
    char number[TACIT_NUMBER_TEXT];
    if (column->missing == TACIT_MISSING_DEFAULT) return TACIT_OK;
    if (column->missing != TACIT_MISSING_VALUE)
        return tacit_buffer_print(out, error, ", missing: %s", tacit_missing_name(column->missing));
    TACIT_TRY(tacit_buffer_print(out, error, ", missing: {fill: "));
    if (column->kind == TACIT_SCHEMA_NUMBER)
        TACIT_TRY(tacit_buffer_print(out, error, "%s", tacit_number_to_text(column->fill, number)));
    else
        TACIT_TRY(print_text(out, column->levels.text[column->fill_level], canonical, error));
    return tacit_buffer_print(out, error, "}");
}

#define FROM_ROWS ", from: rows"

static tacit_status print_column(tacit_buffer *out, const tacit_schema_column *column, bool canonical,
                                 tacit_error *error) {
    char low[TACIT_NUMBER_TEXT], high[TACIT_NUMBER_TEXT];
    TACIT_TRY(tacit_buffer_print(out, error, "  - {name: "));
    TACIT_TRY(print_text(out, column->name, canonical, error));
    if (column->kind == TACIT_SCHEMA_NUMBER) {
        TACIT_TRY(tacit_buffer_print(out, error, ", kind: number"));
        TACIT_TRY(print_date(out, column, error));
        TACIT_TRY(tacit_buffer_print(out, error, ", low: %s, high: %s",
                                     tacit_number_to_text(column->low, low),
                                     tacit_number_to_text(column->high, high)));
        if (column->sd > 0)
            TACIT_TRY(tacit_buffer_print(out, error, ", mean: %s, sd: %s",
                                         tacit_number_to_text(column->mean, low),
                                         tacit_number_to_text(column->sd, high)));
    } else if (column->kind == TACIT_SCHEMA_CATEGORY) {
        TACIT_TRY(tacit_buffer_print(out, error, ", kind: category, levels: "));
        TACIT_TRY(print_list(out, &column->levels, canonical, error));
        if (column->others >= 0) {
            TACIT_TRY(tacit_buffer_print(out, error, ", others: "));
            TACIT_TRY(print_text(out, column->levels.text[column->others], canonical, error));
        }
        TACIT_TRY(print_recode(out, &column->recode, &column->levels, ", ", canonical, error));
        if (column->effect) TACIT_TRY(tacit_buffer_print(out, error, ", coding: effect"));
    } else if (column->kind == TACIT_SCHEMA_TEXT) {
        TACIT_TRY(print_vocabulary(out, &column->text, canonical, error));
    } else {
        TACIT_TRY(tacit_buffer_print(out, error, ", kind: skip"));
    }
    TACIT_TRY(print_missing(out, column, canonical, error));
    TACIT_TRY(tacit_buffer_print(out, error, column->from_rows ? FROM_ROWS "}" : "}"));
    if (!canonical && column->note != NULL) TACIT_TRY(tacit_buffer_print(out, error, " # %s", column->note));
    return tacit_buffer_print(out, error, "\n");
}

static tacit_status print_label(tacit_buffer *out, const tacit_schema *schema, bool canonical,
                                tacit_error *error) {
    char mark[64];
    snprintf(mark, sizeof mark, "%s%s%s%s",
             schema->label_missing != TACIT_MISSING_DEFAULT ? "  missing: " : "",
             schema->label_missing != TACIT_MISSING_DEFAULT ? tacit_missing_name(schema->label_missing) : "",
             schema->label_missing != TACIT_MISSING_DEFAULT ? "\n" : "",
             schema->label_from_rows ? "  from: rows\n" : "");
    TACIT_TRY(
        tacit_buffer_print(out, error, schema->event != NULL ? "label:\n  name: [" : "label:\n  name: "));
    if (schema->entry != NULL) {
        TACIT_TRY(print_text(out, schema->entry, canonical, error));
        TACIT_TRY(tacit_buffer_print(out, error, ", "));
    }
    TACIT_TRY(print_text(out, schema->label, canonical, error));
    if (schema->event != NULL) {
        TACIT_TRY(tacit_buffer_print(out, error, ", "));
        TACIT_TRY(print_text(out, schema->event, canonical, error));
        TACIT_TRY(tacit_buffer_print(out, error, "]"));
    }
    if (schema->response != TACIT_RESPONSE_CLASS) {
        char low[TACIT_NUMBER_TEXT], high[TACIT_NUMBER_TEXT];
        TACIT_TRY(tacit_buffer_print(
            out, error, "\n  kind: %s\n  low: %s\n  high: %s\n%s", tacit_response_name(schema->response),
            tacit_number_to_text(schema->low, low), tacit_number_to_text(schema->high, high), mark));
        if (schema->causes.count == 0) return TACIT_OK;
        TACIT_TRY(tacit_buffer_print(out, error, "  causes: "));
        TACIT_TRY(print_list(out, &schema->causes, canonical, error));
        return tacit_buffer_print(out, error, "\n");
    }
    TACIT_TRY(tacit_buffer_print(out, error, "\n  classes: "));
    TACIT_TRY(print_list(out, &schema->classes, canonical, error));
    if (schema->others >= 0) {
        TACIT_TRY(tacit_buffer_print(out, error, "\n  others: "));
        TACIT_TRY(print_text(out, schema->classes.text[schema->others], canonical, error));
    }
    TACIT_TRY(print_recode(out, &schema->recode, &schema->classes, "\n  ", canonical, error));
    return tacit_buffer_print(out, error, "\n%s", mark);
}

tacit_status tacit_schema_print_line(tacit_buffer *out, const char *key, const char *text,
                                     tacit_error *error) {
    TACIT_TRY(tacit_buffer_print(out, error, "%s: ", key));
    TACIT_TRY(print_quoted(out, text, error));
    return tacit_buffer_print(out, error, "\n");
}

static tacit_status print_schema(const tacit_schema *schema, bool canonical, tacit_buffer *out,
                                 tacit_error *error) {
    char clip[TACIT_NUMBER_TEXT];
    TACIT_TRY(print_label(out, schema, canonical, error));
    if (schema->sparse > 0)
        TACIT_TRY(tacit_buffer_print(
            out, error, schema->sparse_from_rows ? "sparse: {features: %zu" FROM_ROWS "}\n" : "sparse: %zu\n",
            schema->sparse));
    else
        TACIT_TRY(tacit_buffer_print(out, error, "columns:\n"));
    for (size_t i = 0; i < schema->cols; i++)
        TACIT_TRY(print_column(out, &schema->columns[i], canonical, error));
    if (schema->person != NULL) {
        TACIT_TRY(tacit_buffer_print(out, error, "person: "));
        TACIT_TRY(print_text(out, schema->person, canonical, error));
        TACIT_TRY(tacit_buffer_print(out, error, "\n"));
    }
    if (schema->formula != NULL)
        TACIT_TRY(tacit_schema_print_line(out, "terms", tacit_formula_text(schema->formula), error));
    if (schema->subset != NULL)
        TACIT_TRY(tacit_schema_print_line(out, "subset", tacit_condition_text(schema->subset), error));
    TACIT_TRY(tacit_buffer_print(out, error, "missing: %s\nstrict: %s\nintercept: %s\nrows: ",
                                 schema->missing_is_error ? "error"
                                 : schema->complete_case  ? "complete-case"
                                 : schema->imputes        ? "impute"
                                                          : "fill",
                                 schema->strict ? "yes" : "no", schema->intercept ? "yes" : "no"));
    if (schema->rows == TACIT_ROWS_CLIP)
        return tacit_buffer_print(out, error, "{clip: %s%s}\n", tacit_number_to_text(schema->clip, clip),
                                  schema->clip_from_rows ? FROM_ROWS : "");
    return tacit_buffer_print(out, error, schema->rows == TACIT_ROWS_UNIT ? "unit\n" : "bound\n");
}

tacit_status tacit_schema_canonical(const tacit_schema *schema, tacit_buffer *out, tacit_error *error) {
    return print_schema(schema, true, out, error);
}

tacit_status tacit_schema_print(const tacit_schema *schema, const char *comment, tacit_buffer *out,
                                tacit_error *error) {
    while (comment != NULL && *comment != 0) {
        size_t length = strcspn(comment, "\n");
        TACIT_TRY(tacit_buffer_print(out, error, "# %.*s\n", (int)length, comment));
        comment += length + (comment[length] == '\n');
    }
    return print_schema(schema, false, out, error);
}

tacit_status tacit_schema_save(const tacit_schema *schema, const char *comment, const char *path,
                               tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = tacit_schema_print(schema, comment, &text, error);
    if (status == TACIT_OK) status = tacit_file_write(path, text.bytes, text.length, 0644, error);
    tacit_buffer_clear(&text);
    return status;
}
