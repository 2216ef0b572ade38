/* The values of a label and how many rows have each, in the order in which classes are numbered. */
#pragma once

#include "api/document/json_text.h"
#include "data/schema/text.h"
#include "data/table.h"

typedef struct tacit_class {
    const char *level; /* of a category, borrowed from the column; NULL for a number */
    double number;
    char digits[TACIT_NUMBER_TEXT]; /* the number as text */
    int32_t code;                   /* of the category */
    size_t rows;
} tacit_class;

typedef struct tacit_class_list {
    size_t count;
    bool too_many;   /* more than TACIT_LEVEL_LIMIT values: no classes then, count is 0 */
    size_t positive; /* which one; SIZE_MAX when there are not two and none was named */
    tacit_class *classes;
} tacit_class_list;

#define TACIT_CLASS_LIST_INIT                                                                                \
    { 0, false, SIZE_MAX, NULL }

/* Count the values of a label column. Numbers are in ascending order, texts in that of strcmp; the positive
 * class is `positive`, else the last of two. TACIT_USAGE when no row has the value `positive`. */
tacit_status tacit_class_list_count(tacit_class_list *out, const tacit_column *label, size_t rows,
                                    const char *positive, const char *file, tacit_error *error);
void tacit_class_list_clear(tacit_class_list *list);

const char *tacit_class_text(const tacit_class *class_);

/* The class of a row; SIZE_MAX when the row has none. */
size_t tacit_class_list_find(const tacit_class_list *list, const tacit_column *label, size_t row);

/* {"name", "classes": [{"value", "rows"}] or null, "positive"}; new reference. */
json_t *tacit_class_list_document(const tacit_class_list *list, const char *label);
