#include "data/dataset.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/source/csv.h"

static void close_spilled(tacit_dataset *dataset) {
    const tacit_spill *spilled = dataset->spilled;
    if (spilled[TACIT_SPILLED_VALUES].address != NULL) dataset->dense.values = dataset->sparse.value = NULL;
    if (spilled[TACIT_SPILLED_COLUMNS].address != NULL) dataset->sparse.column = NULL;
    if (spilled[TACIT_SPILLED_STARTS].address != NULL) dataset->sparse.start = NULL;
    if (spilled[TACIT_SPILLED_LABELS].address != NULL) dataset->label = NULL;
    if (spilled[TACIT_SPILLED_RESPONSES].address != NULL) dataset->response = NULL;
    if (spilled[TACIT_SPILLED_GROUPS].address != NULL) dataset->group = NULL;
    if (spilled[TACIT_SPILLED_IDENTITIES].address != NULL) dataset->identity = NULL;
    for (size_t k = 0; k < TACIT_SPILLED_COUNT; k++) tacit_spill_close(&dataset->spilled[k]);
}

tacit_dataset *tacit_dataset_free(tacit_dataset *dataset) {
    if (dataset == NULL) return NULL;
    if (dataset->lent & TACIT_LENT_ALL) {
        free(dataset);
        return NULL;
    }
    if (dataset->lent & TACIT_LENT_VALUES) dataset->dense.values = dataset->sparse.value = NULL;
    if (dataset->lent & TACIT_LENT_COLUMNS) dataset->sparse.column = NULL;
    if (dataset->lent & TACIT_LENT_STARTS) dataset->sparse.start = NULL;
    if (dataset->lent & TACIT_LENT_LABELS) dataset->label = dataset->group = NULL;
    close_spilled(dataset);
    tacit_matrix_clear(&dataset->dense);
    tacit_csr_clear(&dataset->sparse);
    tacit_levels_clear(&dataset->classes);
    tacit_feature_names_free(dataset->feature_names, dataset->features);
    tacit_levels_clear(&dataset->groups);
    free(dataset->label);
    free(dataset->response);
    free(dataset->group);
    free(dataset->absent);
    free(dataset->identity);
    free(dataset->raw);
    tacit_missing_cells_clear(&dataset->missing);
    free(dataset);
    return NULL;
}

tacit_status tacit_dataset_create(tacit_dataset **out, size_t rows, size_t features,
                                  const char *const *class_names, size_t classes, tacit_error *error) {
    if (rows > UINT32_MAX) return tacit_fail(error, TACIT_LIMIT, "more than 2^32 - 1 rows");
    tacit_dataset *dataset = TACIT_NEW(tacit_dataset, 1);
    if (dataset == NULL) return tacit_fail_memory(error);
    tacit_status status = TACIT_OK;
    dataset->rows = rows;
    dataset->features = features;
    dataset->label = TACIT_NEW(int32_t, rows);
    if (dataset->label == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(tacit_matrix_create(&dataset->dense, rows, features, error));
    for (size_t k = 0; k < classes; k++)
        TACIT_CHECK(tacit_levels_add(&dataset->classes, class_names[k], strlen(class_names[k]), NULL, error));
    dataset->feature_names = TACIT_NEW(char *, features);
    if (dataset->feature_names == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t j = 0; j < features; j++) {
        char name[TACIT_NUMBER_TEXT];
        snprintf(name, sizeof name, "x%zu", j + 1);
        dataset->feature_names[j] = tacit_copy_text(name);
        if (dataset->feature_names[j] == NULL) TACIT_CHECK(tacit_fail_memory(error));
    }
    *out = dataset;
    dataset = NULL;
cleanup:
    tacit_dataset_free(dataset);
    return status;
}

tacit_rows tacit_dataset_rows(const tacit_dataset *dataset) {
    return dataset->is_sparse ? tacit_rows_of_csr(&dataset->sparse) : tacit_rows_of_matrix(&dataset->dense);
}

const char *tacit_dataset_feature_name(const tacit_dataset *dataset, size_t feature, char scratch[32]) {
    if (dataset->feature_names != NULL) return dataset->feature_names[feature];
    if (dataset->has_intercept && feature == dataset->features - 1) return "(intercept)";
    snprintf(scratch, 32, "%zu", feature + 1);
    return scratch;
}

tacit_view tacit_dataset_view(const tacit_dataset *dataset) {
    return (tacit_view){ .rows = tacit_dataset_rows(dataset),
                         .label = dataset->label,
                         .group = dataset->group,
                         .persons = dataset->persons,
                         .classes = dataset->classes.count,
                         .response = dataset->response,
                         .response_columns = dataset->response_columns,
                         .shortened = (size_t)dataset->counts.shortened_rows,
                         .absent = dataset->absent,
                         .absent_bytes = dataset->absent_bytes,
                         .absent_cells = dataset->counts.missing,

                         .missing = &dataset->missing,
                         .identity = dataset->identity,
                         .raw = dataset->raw,
                         .raw_columns = dataset->raw_columns,
                         .spilled = dataset->spilled[0].address != NULL,
                         .all_left_out = true };
}

tacit_view tacit_dataset_subset(const tacit_dataset *dataset, const uint32_t *index, size_t count) {
    tacit_view view = tacit_dataset_view(dataset);
    view.rows = tacit_rows_select(&view.rows, index, count);
    view.all_left_out = false;
    return view;
}

uint64_t tacit_view_missing(const tacit_view *view, size_t columns, uint64_t *out) {
    const tacit_missing_cells *cells = view->missing;
    memset(out, 0, columns * sizeof *out);
    if (cells == NULL) return 0;
    for (size_t i = 0; i < view->rows.count && cells->count > 0; i++) {
        size_t row = tacit_rows_stored(&view->rows, i);
        for (size_t k = tacit_missing_cells_of(cells, row); k < cells->count && cells->row[k] == row; k++)
            if (cells->column[k] < columns) out[cells->column[k]]++;
    }
    if (!view->all_left_out) return 0;
    for (size_t j = 0; j < columns && j < cells->columns; j++) out[j] += cells->left_out_cells[j];
    return cells->left_out;
}

size_t tacit_view_labelled(const tacit_view *view) {
    size_t count = 0;
    for (size_t i = 0; view->label != NULL && i < view->rows.count; i++)
        count += tacit_view_label(view, i) != TACIT_UNLABELLED;
    return count;
}

tacit_view tacit_view_slice(const tacit_view *view, size_t begin, size_t count) {
    tacit_view slice = *view;
    slice.rows = tacit_rows_slice(&view->rows, begin, count);
    return slice;
}

/* Let go of the rows before `end` that lie in a file one after the other, in pieces that are worth a call. */
static void pass_by(const tacit_view *view, size_t end, size_t *passed) {
    enum { PIECE = 1 << 26 /* bytes */ };
    const tacit_rows *rows = &view->rows;
    if (!view->spilled || rows->dense == NULL || rows->index != NULL) return;
    const size_t bytes = (end - *passed) * rows->stride * sizeof *rows->dense;
    if (bytes < PIECE && end < rows->count) return;
    tacit_spill_pass_by(rows->dense + (rows->first + *passed) * rows->stride, bytes);
    *passed = end;
}

tacit_status tacit_dataset_map(const tacit_view *view, size_t block_rows, tacit_block_function *function,
                               void *context, tacit_error *error) {
    size_t passed = 0;
    if (block_rows == 0) block_rows = 4096;
    for (size_t first = 0; first < view->rows.count; first += block_rows) {
        size_t left = view->rows.count - first;
        tacit_view block = tacit_view_slice(view, first, left < block_rows ? left : block_rows);
        TACIT_TRY(function(context, &block, first, error));
        pass_by(view, first + block.rows.count, &passed);
    }
    return TACIT_OK;
}

static tacit_status write_header(const tacit_dataset *dataset, size_t features, tacit_buffer *out,
                                 tacit_error *error) {
    char scratch[32];
    for (size_t j = 0; j < features; j++) {
        const char *name = tacit_dataset_feature_name(dataset, j, scratch);
        TACIT_TRY(tacit_csv_write_field(out, name, strlen(name), ',', error));
        TACIT_TRY(tacit_buffer_append(out, ",", 1, error));
    }
    return tacit_buffer_print(out, error,
                              dataset->response_columns > 2   ? "label,event,entry\n"
                              : dataset->response_columns > 1 ? "label,event\n"
                                                              : "label\n");
}

/* Write the buffer out and empty it, keeping its memory. */
static tacit_status flush(tacit_buffer *buffer, FILE *file, const char *path, tacit_error *error) {
    size_t length = buffer->length;
    buffer->length = 0;
    if (fwrite(buffer->bytes, 1, length, file) != length) return tacit_fail_errno(error, "writing", path);
    return TACIT_OK;
}

static tacit_status write_rows(const tacit_dataset *dataset, FILE *file, const char *path,
                               tacit_error *error) {
    tacit_status status = TACIT_OK;
    tacit_buffer line = TACIT_BUFFER_INIT;
    tacit_rows rows = tacit_dataset_rows(dataset);
    size_t features = dataset->features - dataset->has_intercept;
    double *values = TACIT_NEW(double, dataset->features);
    if (values == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(write_header(dataset, features, &line, error));
    for (size_t i = 0; i < dataset->rows; i++) {
        char text[TACIT_NUMBER_TEXT];
        tacit_rows_copy(&rows, i, values);
        for (size_t j = 0; j < features; j++) {
            tacit_number_to_text(values[j], text);
            TACIT_CHECK(tacit_buffer_append(&line, text, strlen(text), error));
            TACIT_CHECK(tacit_buffer_append(&line, ",", 1, error));
        }
        size_t columns = dataset->response_columns > 1 ? dataset->response_columns : 1;
        for (size_t k = 0; k < columns; k++) {
            const char *name = dataset->label != NULL
                                   ? (dataset->label[i] >= 0 ? dataset->classes.text[dataset->label[i]] : "")
                               : dataset->response != NULL
                                   ? tacit_number_to_text(dataset->response[i * columns + k], text)
                                   : "";
            if (k > 0) TACIT_CHECK(tacit_buffer_append(&line, ",", 1, error));
            TACIT_CHECK(tacit_csv_write_field(&line, name, strlen(name), ',', error));
        }
        TACIT_CHECK(tacit_buffer_append(&line, "\n", 1, error));
        if (line.length > 1 << 16) TACIT_CHECK(flush(&line, file, path, error));
    }
    TACIT_CHECK(flush(&line, file, path, error));
cleanup:
    free(values);
    tacit_buffer_clear(&line);
    return status;
}

static tacit_status write_to(const tacit_dataset *dataset, const char *path, tacit_error *error) {
    FILE *file = fopen(path, "wbe");
    if (file == NULL) return tacit_fail_errno(error, "creating", path);
    tacit_status status = write_rows(dataset, file, path, error);
    if (fclose(file) != 0 && status == TACIT_OK) status = tacit_fail_errno(error, "writing", path);
    return status;
}

tacit_status tacit_dataset_write_csv(const tacit_dataset *dataset, const char *path, tacit_error *error) {
    struct stat about;
    /* a pipe */
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) return write_to(dataset, path, error);
    /* renamed when complete, so that nothing is left half-written */
    tacit_buffer partial = TACIT_BUFFER_INIT;
    TACIT_TRY(tacit_buffer_print(&partial, error, "%s.partial", path));
    const char *name = tacit_buffer_text(&partial);
    tacit_status status = write_to(dataset, name, error);
    if (status == TACIT_OK && rename(name, path) != 0) status = tacit_fail_errno(error, "renaming", name);
    if (status != TACIT_OK) unlink(name);
    tacit_buffer_clear(&partial);
    return status;
}

tacit_status tacit_view_groups(const tacit_view *view, size_t *out, tacit_error *error) {
    size_t codes = 1;
    *out = 0;
    for (size_t i = 0; i < view->rows.count; i++) {
        int32_t code = view->group[tacit_rows_stored(&view->rows, i)];
        if (code >= 0 && (size_t)code + 2 > codes) codes = (size_t)code + 2;
    }
    bool *seen = TACIT_NEW(bool, codes);
    if (seen == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < view->rows.count; i++) {
        bool *at = &seen[view->group[tacit_rows_stored(&view->rows, i)] + 1];
        *out += !*at;
        *at = true;
    }
    free(seen);
    return TACIT_OK;
}
