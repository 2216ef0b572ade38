/* Schemas from YAML. Every error names the line; what is not understood is refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/schema.h"
#include "data/text.h"

/* Bounds beyond these would overflow or vanish in high - low. */
static const double largest_bound = 1e100, smallest_width = 1e-100;

typedef struct reading {
    yaml_document_t *document;
    const char *name;
    tacit_error *error;
    tacit_schema *schema;
} reading;

static tacit_status fail_at(const reading *r, const yaml_node_t *node, const char *format, ...)
    TACIT_PRINTF(3, 4);

static tacit_status fail_at(const reading *r, const yaml_node_t *node, const char *format, ...) {
    char said[TACIT_ERROR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
    return tacit_fail(r->error, TACIT_INPUT, "%s:%zu: %s", r->name, node->start_mark.line + 1, said);
}

static tacit_status read_text(const reading *r, const yaml_node_t *node, const char *what, const char **text,
                              size_t *length) {
    if (node->type != YAML_SCALAR_NODE) return fail_at(r, node, "%s must be a single text", what);
    *text = (const char *)node->data.scalar.value;
    *length = node->data.scalar.length;
    if (*length == 0) return fail_at(r, node, "%s must not be empty", what);
    if (memchr(*text, 0, *length) != NULL) return fail_at(r, node, "%s holds a NUL character", what);
    if (!tacit_text_is_utf8(*text, *length)) return fail_at(r, node, "%s is not UTF-8", what);
    return TACIT_OK;
}

static tacit_status read_number(const reading *r, const yaml_node_t *node, const char *what, double *out) {
    const char *text = "";
    size_t length = 0;
    char shown[TACIT_CELL_TEXT];
    TACIT_TRY(read_text(r, node, what, &text, &length));
    if (!tacit_text_to_number(text, length, out))
        return fail_at(r, node, "%s must be a finite number, not '%s'", what,
                       tacit_text_shown(text, length, shown));
    if (*out == 0) *out = 0; /* -0 */
    return TACIT_OK;
}

/* One of two words; the first means true. */
static tacit_status read_choice(const reading *r, const yaml_node_t *node, const char *what, const char *yes,
                                const char *no, bool *out) {
    const char *text = "";
    size_t length = 0;
    TACIT_TRY(read_text(r, node, what, &text, &length));
    if (strcasecmp(text, yes) != 0 && strcasecmp(text, no) != 0)
        return fail_at(r, node, "%s must be %s or %s", what, yes, no);
    *out = strcasecmp(text, yes) == 0;
    return TACIT_OK;
}

/* Spread a mapping over `values`, one for each of `keys`, NULL where absent. */
static tacit_status read_mapping(const reading *r, const yaml_node_t *node, const char *what,
                                 const char *const *keys, size_t count, const yaml_node_t **values) {
    for (size_t k = 0; k < count; k++) values[k] = NULL;
    if (node->type != YAML_MAPPING_NODE) return fail_at(r, node, "%s must be a mapping (key: value)", what);
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top;
         pair++) {
        const yaml_node_t *key = yaml_document_get_node(r->document, pair->key);
        const char *text = "";
        size_t length = 0, k = 0;
        char shown[TACIT_CELL_TEXT];
        TACIT_TRY(read_text(r, key, "a key", &text, &length));
        while (k < count && strcmp(text, keys[k]) != 0) k++;
        if (k == count) {
            char known[160] = "";
            for (size_t i = 0, used = 0; i < count && used < sizeof known; i++)
                used +=
                    (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", keys[i]);
            return fail_at(r, key, "unknown key '%s' in %s; the keys are %s",
                           tacit_text_shown(text, length, shown), what, known);
        }
        if (values[k] != NULL) return fail_at(r, key, "key '%s' appears twice in %s", text, what);
        values[k] = yaml_document_get_node(r->document, pair->value);
    }
    return TACIT_OK;
}

static tacit_status read_list(const reading *r, const yaml_node_t *node, const char *what, size_t limit,
                              tacit_levels *out) {
    if (node->type != YAML_SEQUENCE_NODE) return fail_at(r, node, "%s must be a list", what);
    for (yaml_node_item_t *item = node->data.sequence.items.start; item < node->data.sequence.items.top;
         item++) {
        const yaml_node_t *entry = yaml_document_get_node(r->document, *item);
        const char *text = "";
        size_t length = 0, before = out->count;
        char shown[TACIT_CELL_TEXT];
        TACIT_TRY(read_text(r, entry, what, &text, &length));
        if (before == limit) return fail_at(r, entry, "%s: more than %zu", what, limit);
        TACIT_TRY(tacit_levels_add(out, text, length, NULL, r->error));
        if (out->count == before)
            return fail_at(r, entry, "%s: '%s' appears twice", what, tacit_text_shown(text, length, shown));
    }
    return TACIT_OK;
}

static tacit_status read_label(const reading *r, const yaml_node_t *node) {
    enum { NAME, CLASSES, OTHERS, KEYS };
    static const char *const keys[] = { "name", "classes", "others" };
    const yaml_node_t *values[KEYS];
    const char *text = "";
    size_t length = 0;
    TACIT_TRY(read_mapping(r, node, "label", keys, KEYS, values));
    if (values[NAME] == NULL) return fail_at(r, node, "label has no name");
    if (values[CLASSES] == NULL) return fail_at(r, node, "label has no classes");
    TACIT_TRY(read_text(r, values[NAME], "the label's name", &text, &length));
    r->schema->label = tacit_copy_text(text);
    if (r->schema->label == NULL) return tacit_fail_memory(r->error);
    TACIT_TRY(read_list(r, values[CLASSES], "classes", TACIT_LEVEL_LIMIT, &r->schema->classes));
    if (r->schema->classes.count < 2)
        return fail_at(r, values[CLASSES], "there must be at least two classes");
    if (values[OTHERS] == NULL) return TACIT_OK;
    TACIT_TRY(read_text(r, values[OTHERS], "others", &text, &length));
    r->schema->others = tacit_levels_find(&r->schema->classes, text, length);
    if (r->schema->others < 0) return fail_at(r, values[OTHERS], "others must be one of the classes");
    return TACIT_OK;
}

static tacit_status read_bounds(const reading *r, const yaml_node_t *node, const yaml_node_t *low,
                                const yaml_node_t *high, tacit_schema_column *column) {
    if (low == NULL || high == NULL)
        return fail_at(r, node, "number '%s' needs low and high: what everybody may know of its range",
                       column->name);
    TACIT_TRY(read_number(r, low, "low", &column->low));
    TACIT_TRY(read_number(r, high, "high", &column->high));
    if (fabs(column->low) > largest_bound) return fail_at(r, low, "low must be within 1e100 of zero");
    if (fabs(column->high) > largest_bound) return fail_at(r, high, "high must be within 1e100 of zero");
    if (!(column->low < column->high)) return fail_at(r, low, "low must be smaller than high");
    if (column->high - column->low < smallest_width)
        return fail_at(r, low, "low and high must be at least 1e-100 apart");
    return TACIT_OK;
}

static tacit_status read_column(const reading *r, const yaml_node_t *node, tacit_levels *names) {
    enum { NAME, KIND, LOW, HIGH, LEVELS, KEYS };
    static const char *const keys[] = { "name", "kind", "low", "high", "levels" };
    static const char *const kinds[] = { "number", "category", "skip" };
    const yaml_node_t *values[KEYS];
    const char *name = "", *kind_text = "";
    size_t name_length = 0, length = 0, kind = 0, before = names->count;
    TACIT_TRY(read_mapping(r, node, "a column", keys, KEYS, values));
    if (values[NAME] == NULL) return fail_at(r, node, "a column has no name");
    TACIT_TRY(read_text(r, values[NAME], "a column's name", &name, &name_length));
    char shown[TACIT_CELL_TEXT];
    tacit_text_shown(name, name_length, shown);
    TACIT_TRY(tacit_levels_add(names, name, name_length, NULL, r->error));
    if (names->count == before) return fail_at(r, values[NAME], "column '%s' appears twice", shown);
    if (values[KIND] == NULL)
        return fail_at(r, node, "column '%s' has no kind: number, category or skip", shown);
    TACIT_TRY(read_text(r, values[KIND], "kind", &kind_text, &length));
    while (kind < 3 && strcmp(kind_text, kinds[kind]) != 0) kind++;
    if (kind == 3) return fail_at(r, values[KIND], "kind must be number, category or skip");
    bool bounds = values[LOW] != NULL || values[HIGH] != NULL;
    if (kind != TACIT_SCHEMA_NUMBER && bounds)
        return fail_at(r, node, "column '%s': low and high belong to numbers only", shown);
    if (kind != TACIT_SCHEMA_CATEGORY && values[LEVELS] != NULL)
        return fail_at(r, node, "column '%s': levels belong to categories only", shown);
    tacit_schema_column *column;
    TACIT_TRY(tacit_schema_add_column(r->schema, &column, name, (tacit_schema_kind)kind, r->error));
    if (kind == TACIT_SCHEMA_NUMBER) return read_bounds(r, node, values[LOW], values[HIGH], column);
    if (kind == TACIT_SCHEMA_SKIP) return TACIT_OK;
    if (values[LEVELS] == NULL) return fail_at(r, node, "category '%s' needs levels: [a, b, ...]", shown);
    TACIT_TRY(read_list(r, values[LEVELS], "levels", TACIT_FEATURE_LIMIT, &column->levels));
    if (column->levels.count == 0) return fail_at(r, values[LEVELS], "category '%s' has no levels", shown);
    return TACIT_OK;
}

static tacit_status read_columns(const reading *r, const yaml_node_t *node) {
    tacit_levels names = TACIT_LEVELS_INIT;
    tacit_status status = TACIT_OK;
    if (node->type != YAML_SEQUENCE_NODE) TACIT_CHECK(fail_at(r, node, "columns must be a list"));
    for (yaml_node_item_t *item = node->data.sequence.items.start; item < node->data.sequence.items.top;
         item++)
        TACIT_CHECK(read_column(r, yaml_document_get_node(r->document, *item), &names));
    if (tacit_levels_find(&names, r->schema->label, strlen(r->schema->label)) >= 0)
        TACIT_CHECK(fail_at(r, node, "the label '%s' must not be among the columns", r->schema->label));
cleanup:
    tacit_levels_clear(&names);
    return status;
}

static tacit_status read_sparse(const reading *r, const yaml_node_t *node) {
    double features;
    TACIT_TRY(read_number(r, node, "sparse", &features));
    if (!(features >= 1) || features >= TACIT_FEATURE_LIMIT || features != floor(features))
        return fail_at(r, node, "sparse must be the number of features, from 1 to 50,000,000");
    r->schema->sparse = (size_t)features;
    return TACIT_OK;
}

static tacit_status read_rows(const reading *r, const yaml_node_t *node) {
    tacit_schema *schema = r->schema;
    if (node->type == YAML_MAPPING_NODE) {
        static const char *const keys[] = { "clip" };
        const yaml_node_t *clip;
        TACIT_TRY(read_mapping(r, node, "rows", keys, 1, &clip));
        if (clip == NULL) return fail_at(r, node, "rows must be bound, unit or {clip: C}");
        TACIT_TRY(read_number(r, clip, "clip", &schema->clip));
        if (!(schema->clip >= smallest_width && schema->clip <= largest_bound))
            return fail_at(r, clip, "clip must be positive");
        schema->rows = TACIT_ROWS_CLIP;
        return TACIT_OK;
    }
    bool bound;
    tacit_error unclear = TACIT_ERROR_INIT;
    reading quiet = *r;
    quiet.error = &unclear;
    if (read_choice(&quiet, node, "rows", "bound", "unit", &bound) != TACIT_OK)
        return fail_at(r, node, "rows must be bound, unit or {clip: C}");
    schema->rows = bound ? TACIT_ROWS_BOUND : TACIT_ROWS_UNIT;
    return TACIT_OK;
}

static tacit_status read_schema(const reading *r, const yaml_node_t *root) {
    enum { LABEL, COLUMNS, SPARSE, MISSING, STRICT, INTERCEPT, ROWS, KEYS };
    static const char *const keys[] = {
        "label", "columns", "sparse", "missing", "strict", "intercept", "rows"
    };
    const yaml_node_t *values[KEYS];
    TACIT_TRY(read_mapping(r, root, "the schema", keys, KEYS, values));
    if (values[LABEL] == NULL) return fail_at(r, root, "the schema has no label");
    if ((values[COLUMNS] == NULL) == (values[SPARSE] == NULL))
        return fail_at(r, root, "the schema must have either columns or sparse");
    TACIT_TRY(read_label(r, values[LABEL]));
    if (values[COLUMNS] != NULL) TACIT_TRY(read_columns(r, values[COLUMNS]));
    if (values[SPARSE] != NULL) TACIT_TRY(read_sparse(r, values[SPARSE]));
    if (values[MISSING] != NULL)
        TACIT_TRY(read_choice(r, values[MISSING], "missing", "error", "fill", &r->schema->missing_is_error));
    if (values[STRICT] != NULL)
        TACIT_TRY(read_choice(r, values[STRICT], "strict", "yes", "no", &r->schema->strict));
    if (values[INTERCEPT] != NULL)
        TACIT_TRY(read_choice(r, values[INTERCEPT], "intercept", "yes", "no", &r->schema->intercept));
    if (values[ROWS] != NULL) TACIT_TRY(read_rows(r, values[ROWS]));
    if (r->schema->sparse > 0 && r->schema->rows == TACIT_ROWS_BOUND)
        return fail_at(r, values[ROWS] != NULL ? values[ROWS] : root,
                       "sparse rows have no bounds: rows must be unit or {clip: C}");
    size_t features = tacit_schema_features(r->schema);
    if (features == r->schema->intercept) return fail_at(r, values[COLUMNS], "every column is skipped");
    if (features > TACIT_FEATURE_LIMIT) return fail_at(r, root, "more than 50,000,000 features");
    return TACIT_OK;
}

static tacit_status yaml_problem(const yaml_parser_t *parser, const char *name, tacit_error *error) {
    if (parser->error == YAML_MEMORY_ERROR) return tacit_fail_memory(error);
    const char *problem = parser->problem != NULL ? parser->problem : "not readable";
    size_t line = parser->problem_mark.line + 1;
    if (parser->error == YAML_READER_ERROR)
        return tacit_fail(error, TACIT_INPUT, "%s: not a text file (%s at byte %zu)", name, problem,
                          parser->problem_offset);
    return tacit_fail(error, TACIT_INPUT, "%s:%zu: not valid YAML: %s", name, line, problem);
}

/* A schema file holds one document. */
static tacit_status check_end(yaml_parser_t *parser, const char *name, tacit_error *error) {
    yaml_document_t next;
    if (!yaml_parser_load(parser, &next)) return yaml_problem(parser, name, error);
    bool more = yaml_document_get_root_node(&next) != NULL;
    yaml_document_delete(&next);
    if (more) return tacit_fail(error, TACIT_INPUT, "%s: a schema is one YAML document, not several", name);
    return TACIT_OK;
}

tacit_status tacit_schema_parse(tacit_schema **out, const char *text, size_t length, const char *name,
                                tacit_error *error) {
    tacit_status status = TACIT_OK;
    tacit_schema *schema = NULL;
    bool loaded = false;
    yaml_parser_t parser;
    yaml_document_t document;
    if (!yaml_parser_initialize(&parser)) return tacit_fail_memory(error);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    loaded = yaml_parser_load(&parser, &document) != 0;
    if (!loaded) TACIT_CHECK(yaml_problem(&parser, name, error));
    yaml_node_t *root = yaml_document_get_root_node(&document);
    if (root == NULL) TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "%s: the schema is empty", name));
    TACIT_CHECK(tacit_schema_create(&schema, error));
    reading r = { &document, name, error, schema };
    TACIT_CHECK(read_schema(&r, root));
    TACIT_CHECK(check_end(&parser, name, error));
    *out = schema;
    schema = NULL;
cleanup:
    tacit_schema_free(schema);
    if (loaded) yaml_document_delete(&document);
    yaml_parser_delete(&parser);
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
