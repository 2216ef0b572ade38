/* LIBSVM files to datasets: values as they are, rows brought inside the ball. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/reading/load.h"
#include "data/source/libsvm.h"

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The distinct labels as texts, one more than the limit at most. */
static tacit_status distinct_labels(tacit_levels *out, const tacit_libsvm *file, tacit_error *error) {
    size_t rows = file->rows.rows;
    double *sorted = TACIT_NEW(double, rows);
    if (sorted == NULL) return tacit_fail_memory(error);
    memcpy(sorted, file->label, rows * sizeof *sorted);
    qsort(sorted, rows, sizeof *sorted, compare_doubles);
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < rows && status == TACIT_OK && out->count <= TACIT_LEVEL_LIMIT; i++) {
        char text[TACIT_NUMBER_TEXT];
        if (i > 0 && sorted[i] == sorted[i - 1]) continue;
        tacit_number_to_text(sorted[i], text);
        status = tacit_levels_add(out, text, strlen(text), NULL, error);
    }
    free(sorted);
    return status;
}

static double row_norm(const tacit_csr *rows, size_t row) {
    double square = 0;
    for (size_t k = rows->start[row]; k < rows->start[row + 1]; k++)
        square += rows->value[k] * rows->value[k];
    return sqrt(square);
}

static tacit_status draft_classes(tacit_schema *schema, const tacit_libsvm *file, const char *positive,
                                  const char *name, tacit_error *error) {
    tacit_levels values = TACIT_LEVELS_INIT;
    tacit_status status = distinct_labels(&values, file, error);
    if (status == TACIT_OK && values.count > TACIT_LEVEL_LIMIT)
        status = tacit_fail(error, TACIT_INPUT, "%s has more than %d different labels, too many for classes",
                            name, TACIT_LEVEL_LIMIT);
    if (status == TACIT_OK) status = tacit_schema_set_classes(schema, &values, positive, name, error);
    tacit_levels_clear(&values);
    return status;
}

static tacit_status draft(tacit_schema **out, const tacit_libsvm *file, const tacit_load_options *options,
                          const char *name, tacit_error *error) {
    tacit_schema *schema = NULL;
    TACIT_TRY(tacit_schema_create(&schema, error));
    tacit_status status = TACIT_OK;
    schema->label = tacit_copy_text("label");
    if (schema->label == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(draft_classes(schema, file, options->positive, name, error));
    schema->sparse = file->rows.cols;
    schema->rows = TACIT_ROWS_CLIP;
    schema->sparse_from_rows = options->dimension == 0;
    schema->clip_from_rows = true;
    double largest = 0;
    for (size_t i = 0; i < file->rows.rows; i++) largest = fmax(largest, row_norm(&file->rows, i));
    /* Rows that were normalised beforehand have norms of 1 except for rounding, and should keep C = 1. */
    schema->clip = largest > 0 ? fmax(tacit_round_up(largest * (1 - 1e-12)), 1e-100) : 1;
    *out = schema;
    schema = NULL;
cleanup:
    tacit_schema_free(schema);
    return status;
}

static tacit_status set_labels(tacit_dataset *dataset, const tacit_libsvm *file, const tacit_schema *schema,
                               const char *name, tacit_error *error) {
    double *numbers = TACIT_NEW(double, schema->classes.count);
    dataset->label = TACIT_NEW(int32_t, file->rows.rows);
    tacit_status status = numbers != NULL && dataset->label != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK) tacit_schema_class_numbers(schema, numbers);
    for (size_t i = 0; i < file->rows.rows && status == TACIT_OK; i++) {
        dataset->label[i] = tacit_schema_class_of(schema, numbers, file->label[i]);
        if (dataset->label[i] < 0)
            status =
                tacit_fail(error, TACIT_INPUT, "%s: row %zu: label %g is not one of the schema's classes",
                           name, i + 1, file->label[i]);
    }
    free(numbers);
    return status;
}

static tacit_status set_responses(tacit_dataset *dataset, const tacit_libsvm *file,
                                  const tacit_schema *schema, const char *name, tacit_error *error) {
    if (tacit_response_columns(schema->response) > 1)
        return tacit_fail(error, TACIT_INPUT,
                          "%s is a LIBSVM file, which has one label, and the schema's has the columns %s and "
                          "%s: give a table",
                          name, schema->label, schema->event);
    dataset->response = TACIT_NEW(double, file->rows.rows);
    if (dataset->response == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < file->rows.rows; i++) {
        dataset->response[i] = file->label[i];
        tacit_status status =
            tacit_schema_response(schema, &dataset->response[i], &dataset->counts.outside_bounds, error);
        if (status != TACIT_OK) return tacit_fail_in(error, status, "%s: row %zu", name, i + 1);
    }
    return TACIT_OK;
}

/* Copy the rows, scaled, each followed by its intercept. */
static tacit_status set_rows(tacit_dataset *dataset, const tacit_csr *from, const tacit_schema *schema,
                             const char *name, tacit_error *error) {
    size_t entries = from->start[from->rows] + (schema->intercept ? from->rows : 0);
    TACIT_TRY(tacit_csr_create(&dataset->sparse, from->rows, tacit_schema_features(schema), entries, error));
    tacit_csr *to = &dataset->sparse;
    size_t at = 0;
    for (size_t i = 0; i < from->rows; i++) {
        double norm = row_norm(from, i);
        if (!(norm <= 1e100))
            return tacit_fail(error, TACIT_INPUT, "%s: row %zu: the values are larger than 1e100", name,
                              i + 1);
        double factor = tacit_schema_row_factor(schema, norm, &dataset->counts);
        to->start[i] = at;
        for (size_t k = from->start[i]; k < from->start[i + 1]; k++) {
            to->column[at] = from->column[k];
            to->value[at++] = from->value[k] * factor;
        }
        if (!schema->intercept) continue;
        to->column[at] = (uint32_t)schema->sparse;
        to->value[at++] = tacit_schema_intercept_value(schema);
    }
    to->start[from->rows] = at;
    dataset->counts.rows = from->rows;
    return TACIT_OK;
}

static tacit_status encode(tacit_dataset **out, const tacit_libsvm *file, const tacit_schema *schema,
                           bool labelled, bool with_features, const char *name, tacit_error *error) {
    tacit_dataset *dataset = TACIT_NEW(tacit_dataset, 1);
    if (dataset == NULL) return tacit_fail_memory(error);
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_dataset_describe(dataset, schema, error));
    if (labelled && schema->response == TACIT_RESPONSE_CLASS)
        TACIT_CHECK(set_labels(dataset, file, schema, name, error));
    else if (labelled)
        TACIT_CHECK(set_responses(dataset, file, schema, name, error));
    dataset->rows = file->rows.rows;
    if (with_features) {
        TACIT_CHECK(set_rows(dataset, &file->rows, schema, name, error));
        dataset->is_sparse = true;
    } else {
        dataset->dense = (tacit_matrix){ dataset->rows, dataset->features, NULL };
    }
    *out = dataset;
    dataset = NULL;
cleanup:
    tacit_dataset_free(dataset);
    return status;
}

static tacit_status check_options(const tacit_schema *schema, const tacit_load_options *options,
                                  const char *name, tacit_error *error) {
    if (options->group != NULL)
        return tacit_fail(error, TACIT_USAGE, "%s is a LIBSVM file: it has no column '%s' to split by", name,
                          options->group);
    if (options->storage == TACIT_STORAGE_DENSE)
        return tacit_fail(error, TACIT_USAGE, "%s is a LIBSVM file, which is kept sparse", name);
    if (schema == NULL && options->text != NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "%s is a LIBSVM file: it has no column '%s' (the option 'text')", name,
                          options->text);
    if (schema == NULL && options->label != NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "%s is a LIBSVM file: its label comes first and has no name; leave the option 'label' out", name);
    if (schema == NULL && options->response != TACIT_RESPONSE_CLASS)
        return tacit_fail(error, TACIT_USAGE,
                          "%s is a LIBSVM file: say in a schema what its label counts or measures", name);
    if (schema == NULL) return TACIT_OK;
    if (schema->sparse == 0)
        return tacit_fail(
            error, TACIT_INPUT,
            "%s is a LIBSVM file, but the schema describes columns; write sparse: D instead of columns",
            name);
    return tacit_schema_check_options(schema, options, error);
}

tacit_status tacit_dataset_read_libsvm(tacit_dataset **out, tacit_schema **drafted, tacit_source *source,
                                       const tacit_schema *schema, const tacit_load_options *options,
                                       tacit_error *error) {
    static const tacit_row_filter none = { tacit_row_filter_none, NULL };
    const char *name = source->name;
    tacit_libsvm file = TACIT_LIBSVM_INIT;
    tacit_schema *own = NULL;
    tacit_dataset *dataset = NULL;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(check_options(schema, options, name, error));
    bool counts = options->only_count && schema != NULL;
    source->filter = counts ? &none : options->rows;
    source->bare = options->no_features && schema != NULL;
    TACIT_CHECK(tacit_libsvm_gather(&file, source, error));
    if (schema == NULL) TACIT_CHECK(draft(&own, &file, options, name, error));
    TACIT_CHECK(encode(&dataset, &file, own != NULL ? own : schema, own != NULL || !options->label_ignored,
                       !options->no_features && !options->only_count, name, error));
    if (counts) dataset->rows = dataset->dense.rows = (size_t)file.seen;
    *out = dataset;
    if (own != NULL && drafted != NULL) {
        *drafted = own;
        own = NULL;
    }
cleanup:
    tacit_libsvm_clear(&file);
    tacit_schema_free(own);
    return status;
}
