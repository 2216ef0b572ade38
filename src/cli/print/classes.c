#include "cli/print/classes.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema/names.h"

const char *tacit_class_text(const tacit_class *class_) {
    return class_->level != NULL ? class_->level : class_->digits;
}

void tacit_class_list_clear(tacit_class_list *list) {
    free(list->classes);
    *list = (tacit_class_list)TACIT_CLASS_LIST_INIT;
}

/* Where a number is among the ascending classes, or where it would go. */
static size_t find_number(const tacit_class_list *list, double number) {
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->classes[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void count_numbers(tacit_class_list *list, const tacit_column *label, size_t rows) {
    for (size_t i = 0; i < rows; i++) {
        double number = label->number[i];
        if (isnan(number)) continue;
        size_t at = find_number(list, number);
        tacit_class *found = &list->classes[at];
        if (at == list->count || found->number != number) {
            list->too_many = list->count == TACIT_LEVEL_LIMIT;
            if (list->too_many) return;
            memmove(found + 1, found, (list->count - at) * sizeof *found);
            *found = (tacit_class){ .number = number };
            tacit_number_to_text(number, found->digits);
            list->count++;
        }
        found->rows++;
    }
}

static int compare_levels(const void *a, const void *b) {
    return strcmp(((const tacit_class *)a)->level, ((const tacit_class *)b)->level);
}

static void count_levels(tacit_class_list *list, const tacit_column *label, size_t rows) {
    list->count = label->levels.count;
    for (size_t code = 0; code < list->count; code++)
        list->classes[code] = (tacit_class){ .level = label->levels.text[code], .code = (int32_t)code };
    for (size_t i = 0; i < rows; i++)
        if (label->code[i] >= 0) list->classes[label->code[i]].rows++;
    qsort(list->classes, list->count, sizeof *list->classes, compare_levels);
}

static bool is_value(const tacit_class *class_, const char *text) {
    double number;
    if (strcmp(tacit_class_text(class_), text) == 0) return true;
    return class_->level == NULL && tacit_text_to_number(text, strlen(text), &number) &&
           number == class_->number;
}

/* No class is called `positive`: say so, with what there is. */
static tacit_status fail_positive(const tacit_class_list *list, const char *positive, const char *file,
                                  tacit_error *error) {
    tacit_levels values = TACIT_LEVELS_INIT;
    tacit_status status = TACIT_OK;
    size_t ignored;
    for (size_t i = 0; i < list->count; i++) {
        const char *text = tacit_class_text(&list->classes[i]);
        TACIT_CHECK(tacit_levels_add(&values, text, strlen(text), NULL, error));
    }
    status = tacit_names_find(&values, positive, "label value", "--positive", file, &ignored, error);
cleanup:
    tacit_levels_clear(&values);
    return status;
}

static tacit_status find_positive(tacit_class_list *list, const char *positive, const char *file,
                                  tacit_error *error) {
    if (positive == NULL) {
        if (list->count == 2) list->positive = 1;
        return TACIT_OK;
    }
    for (size_t i = 0; i < list->count; i++)
        if (is_value(&list->classes[i], positive)) list->positive = i;
    if (list->positive == SIZE_MAX && !list->too_many) return fail_positive(list, positive, file, error);
    return TACIT_OK;
}

tacit_status tacit_class_list_count(tacit_class_list *out, const tacit_column *label, size_t rows,
                                    const char *positive, const char *file, tacit_error *error) {
    bool is_number = label->kind == TACIT_COLUMN_NUMBER;
    tacit_class_list list = TACIT_CLASS_LIST_INIT;
    list.classes = TACIT_NEW(tacit_class, (is_number ? TACIT_LEVEL_LIMIT : label->levels.count) + 1);
    if (list.classes == NULL) return tacit_fail_memory(error);
    list.too_many = !is_number && label->overflow;
    if (is_number)
        count_numbers(&list, label, rows);
    else if (!list.too_many)
        count_levels(&list, label, rows);
    if (list.too_many) list.count = 0;
    tacit_status status = find_positive(&list, positive, file, error);
    if (status == TACIT_OK)
        *out = list;
    else
        tacit_class_list_clear(&list);
    return status;
}

size_t tacit_class_list_find(const tacit_class_list *list, const tacit_column *label, size_t row) {
    if (label->kind == TACIT_COLUMN_NUMBER) {
        double number = label->number[row];
        size_t at = isnan(number) ? list->count : find_number(list, number);
        return at < list->count && list->classes[at].number == number ? at : SIZE_MAX;
    }
    for (size_t i = 0; i < list->count; i++)
        if (list->classes[i].code == label->code[row]) return i;
    return SIZE_MAX;
}

json_t *tacit_class_list_document(const tacit_class_list *list, const char *label) {
    json_t *classes = list->too_many ? json_null() : json_array();
    for (size_t i = 0; i < list->count; i++)
        classes = tacit_json_append(classes, json_pack("{s:o,s:I}", "value",
                                                       tacit_json_text(tacit_class_text(&list->classes[i])),
                                                       "rows", (json_int_t)list->classes[i].rows));
    json_t *positive = list->positive == SIZE_MAX
                           ? json_null()
                           : tacit_json_text(tacit_class_text(&list->classes[list->positive]));
    return json_pack("{s:o,s:o,s:o}", "name", tacit_json_text(label), "classes", classes, "positive",
                     positive);
}
