/* A formula against a schema: what is accepted must read back the same from its own text, and keep every row inside the
 * ball. The bytes after a NUL, if there is one, are the raw values of a row. A formula that begins with surv is read against a
 * label of times. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/encode.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { COLUMNS = 4 };

#define COLUMNS_OF_SCHEMA                                                                                    \
    "columns:\n"                                                                                             \
    "  - {name: x, kind: number, low: -3, high: 8}\n"                                                        \
    "  - {name: t, kind: number, low: 1, high: 5, mean: 2, sd: 1}\n"                                         \
    "  - {name: g, kind: category, levels: [p, q, r]}\n"                                                     \
    "  - {name: h, kind: category, levels: [u, v]}\n"

static const char SCHEMA[] = "label: {name: y, classes: [a, b]}\n" COLUMNS_OF_SCHEMA;
static const char TIMES[] =
    "label: {name: [s, d, e], kind: time, low: 0, high: 9}\n" COLUMNS_OF_SCHEMA "person: id\n";

static void check_row(const tacit_schema *schema, const uint8_t *bytes, size_t length) {
    double number[COLUMNS] = { 0 }, square = 0;
    int32_t level[COLUMNS] = { 0 };
    size_t features = tacit_formula_features(schema->formula);
    double *row = calloc(features + 1, sizeof *row);
    if (row == NULL) return;
    memcpy(number, bytes, length < sizeof number ? length : sizeof number);
    for (size_t i = 0; i < COLUMNS; i++) level[i] = length > i ? (int32_t)(bytes[i] % 4) - 1 : 0;
    level[3] = level[3] > 1 ? 1 : level[3];
    tacit_formula_dense_row(schema->formula, number, NULL, level, row);
    for (size_t j = 0; j < features; j++) square += row[j] * row[j];
    if (!(square <= tacit_schema_reach(schema) * (1 + 1e-9))) abort();
    free(row);
}

/* The same bytes as a condition on rows. */
static void check_subset(tacit_schema *schema, tacit_schema *again, const char *text) {
    tacit_error error = TACIT_ERROR_INIT;
    const size_t *columns;
    double value[COLUMNS] = { 2, NAN, 1, -1 };
    if (tacit_schema_set_subset(schema, text, &error) != TACIT_OK) {
        if (error.text[0] == 0) abort();
        return;
    }
    if (tacit_schema_set_subset(again, tacit_condition_text(schema->subset), NULL) != TACIT_OK) abort();
    if (strcmp(tacit_condition_text(schema->subset), tacit_condition_text(again->subset)) != 0) abort();
    if (tacit_condition_columns(schema->subset, &columns) > COLUMNS) abort();
    if (tacit_condition_holds(schema->subset, value) != tacit_condition_holds(again->subset, value)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_schema *schema = NULL, *again = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    char *text = malloc(length + 1);
    if (text == NULL) return 0;
    memcpy(text, bytes, length);
    text[length] = 0;
    size_t used = strlen(text);
    const char *against = strncmp(text, "surv", 4) == 0 || strncmp(text, "Surv", 4) == 0 ? TIMES : SCHEMA;
    if (tacit_schema_parse(&schema, against, strlen(against), "schema", NULL) != TACIT_OK) abort();
    if (tacit_schema_parse(&again, against, strlen(against), "schema", NULL) != TACIT_OK) abort();
    check_subset(schema, again, text);
    if (tacit_schema_set_terms(schema, text, &error) != TACIT_OK) {
        if (error.text[0] == 0) abort();
    } else {
        if (tacit_schema_set_terms(again, tacit_formula_text(schema->formula), NULL) != TACIT_OK) abort();
        if (strcmp(tacit_formula_text(schema->formula), tacit_formula_text(again->formula)) != 0) abort();
        if (tacit_schema_features(schema) != tacit_schema_features(again)) abort();
        if (used < length) check_row(schema, bytes + used + 1, length - used - 1);
    }
    free(text);
    tacit_schema_free(schema);
    tacit_schema_free(again);
    return 0;
}
