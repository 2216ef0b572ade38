#include "method/uncounted.h"

#include <string.h>

#include "base/number.h"
#include "method/methods.h"

static bool has_counts(const tacit_model *model) {
    if (model->missing_counts != NULL) return true;
    if (model->estimates != NULL && model->estimates->missing_columns > 0) return true;
    for (size_t t = 0; model->report != NULL && t < model->report->tables; t++)
        if (strcmp(model->report->table[t].name, "missing") == 0) return true;
    return false;
}

/* A private result is counted for a price, another one for nothing. */
bool tacit_missing_uncounted(const tacit_model *model, char out[TACIT_UNCOUNTED_SIZE]) {
    const tacit_method *method = tacit_method_find(model->guarantee.method);
    const bool exact = !model->guarantee.is_private && (method == NULL || method->noise_free);
    char names[TACIT_METHODS_TEXT];
    out[0] = 0;
    if (model->schema == NULL || !tacit_schema_counts_missing(model->schema) || has_counts(model))
        return false;
    tacit_format(out, TACIT_UNCOUNTED_SIZE,
                 "How many values were missing, and how many rows were left out for it, was not counted; "
                 "method %s with missing=counted counts both%s.",
                 tacit_methods_with(exact ? "counts-missing-exactly" : "counts-missing", "or", names),
                 exact ? ", exactly" : ", for a tenth of its budget");
    return true;
}
