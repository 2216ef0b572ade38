/* What estimates say of missing values, in a model's document: keys of their own, which others lack. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/report/estimates_parts.h"

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *sets_to_json(const tacit_estimates *estimates) {
    json_t *list = json_array();
    for (size_t k = 0; k < estimates->count; k++) {
        const tacit_coefficient *one = &estimates->coefficient[k];
        json_array_append_new(list,
                              json_pack("{s:s,s:o,s:o,s:o,s:o}", "name", one->name, "within",
                                        number(one->within), "between", number(one->between), "degrees",
                                        number(one->degrees), "missing_information", number(one->lost)));
    }
    return json_pack("{s:I,s:o}", "sets", (json_int_t)estimates->sets, "coefficients", list);
}

static json_t *counts_to_json(const tacit_estimates *estimates) {
    json_t *list = json_array();
    for (size_t k = 0; k < estimates->missing_columns; k++) {
        const tacit_missing_count *one = &estimates->missing[k];
        json_array_append_new(list,
                              json_pack("{s:s,s:s,s:o,s:o}", "name", one->column, "rule", one->rule, "cells",
                                        number(one->cells), "withheld", number(one->withheld)));
    }
    return json_pack("{s:o,s:o,s:o}", "left_out", number(estimates->left_out), "withheld",
                     number(estimates->left_out_withheld), "columns", list);
}

json_t *estimates_add_missing(json_t *object, const tacit_estimates *estimates) {
    if (object == NULL) return NULL;
    if (estimates->sets > 0) json_object_set_new(object, "imputed", sets_to_json(estimates));
    if (estimates->missing_columns > 0) json_object_set_new(object, "missing", counts_to_json(estimates));
    return object;
}

static bool read_at_least_0(const json_t *object, const char *key, double *out) {
    const json_t *value = json_object_get(object, key);
    *out = json_number_value(value);
    return json_is_number(value) && isfinite(*out) && *out >= 0;
}

static bool read_sets(tacit_estimates *out, const json_t *object) {
    const json_t *list = json_object_get(object, "coefficients"), *sets = json_object_get(object, "sets");
    if (object == NULL) return true;
    if (!json_is_integer(sets) || json_integer_value(sets) < 2 || json_integer_value(sets) > 1000000 ||
        !json_is_array(list) || json_array_size(list) != out->count)
        return false;
    out->sets = (size_t)json_integer_value(sets);
    for (size_t k = 0; k < out->count; k++) {
        tacit_coefficient *one = &out->coefficient[k];
        const json_t *from = json_array_get(list, k);
        if (!read_at_least_0(from, "within", &one->within) ||
            !read_at_least_0(from, "between", &one->between) ||
            !read_at_least_0(from, "degrees", &one->degrees) ||
            !read_at_least_0(from, "missing_information", &one->lost))
            return false;
    }
    return true;
}

static bool read_count(tacit_missing_count *out, const json_t *object) {
    const char *name = json_string_value(json_object_get(object, "name")),
               *rule = json_string_value(json_object_get(object, "rule"));
    if (name == NULL || rule == NULL || strlen(rule) >= sizeof out->rule) return false;
    memcpy(out->rule, rule, strlen(rule) + 1);
    return read_at_least_0(object, "cells", &out->cells) &&
           read_at_least_0(object, "withheld", &out->withheld) &&
           (out->column = tacit_copy_text(name)) != NULL;
}

static bool read_counts(tacit_estimates *out, const json_t *object) {
    const json_t *list = json_object_get(object, "columns");
    if (object == NULL) return true;
    if (!json_is_array(list) || json_array_size(list) == 0 ||
        !read_at_least_0(object, "left_out", &out->left_out) ||
        !read_at_least_0(object, "withheld", &out->left_out_withheld))
        return false;
    out->missing = TACIT_NEW(tacit_missing_count, json_array_size(list));
    for (; out->missing != NULL && out->missing_columns < json_array_size(list); out->missing_columns++)
        if (!read_count(&out->missing[out->missing_columns], json_array_get(list, out->missing_columns)))
            return false;
    return out->missing != NULL;
}

bool estimates_read_missing(tacit_estimates *out, const json_t *object) {
    return read_sets(out, json_object_get(object, "imputed")) &&
           read_counts(out, json_object_get(object, "missing"));
}
