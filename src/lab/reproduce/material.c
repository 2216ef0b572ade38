#include "lab/reproduce/material.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/growing.h"
#include "base/memory.h"
#include "data/schema/text.h"

void tacit_material_clear(tacit_material *material) {
    if (material == NULL) return;
    material->train = tacit_dataset_free(material->train);
    material->test = tacit_dataset_free(material->test);
}

/* ---- files ---- */

tacit_status tacit_data_find(char *out, size_t size, const char *folder, const tacit_data_file *file,
                             tacit_error *error) {
    static const char *const endings[] = { ".xz", "", ".gz" };
    if (folder == NULL || folder[0] == 0)
        return tacit_fail(error, TACIT_NOT_FOUND,
                          "the environment variable TACIT_DATA is not set: let it name the folder that holds "
                          "%s (%s), plain or .xz or .gz; see docs/reproduce.md for where to get it",
                          file->name, file->shape);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char name[256];
        snprintf(name, sizeof name, "%s%s", file->name, endings[i]);
        TACIT_TRY(tacit_path_join(out, size, folder, name, error));
        if (access(out, R_OK) == 0) return TACIT_OK;
        if (errno != ENOENT && errno != ENOTDIR) return tacit_fail_errno(error, "opening", out);
    }
    return tacit_fail(error, TACIT_NOT_FOUND,
                      "%s (%s) is not in the folder %s that TACIT_DATA names: put it there, plain or .xz or "
                      ".gz; see docs/reproduce.md for where to get it",
                      file->name, file->shape, folder);
}

tacit_status tacit_data_open(tacit_input **out, const char *folder, const tacit_data_file *file,
                             tacit_error *error) {
    char path[PATH_MAX];
    TACIT_TRY(tacit_data_find(path, sizeof path, folder, file, error));
    return tacit_input_open(out, path, error);
}

/* ---- numbers separated by spaces or commas ---- */

typedef struct numbers {
    const char *name;
    size_t columns, skip;
    double *values;
    size_t count, capacity;
    size_t line, in_line; /* physical line, from 1; numbers seen in it */
    char word[64];        /* a number may be cut by the end of a chunk */
    size_t length;
} numbers;

static tacit_status end_word(numbers *all, tacit_error *error) {
    if (all->length == 0) return TACIT_OK;
    double value;
    all->word[all->length] = 0;
    if (!tacit_text_to_number(all->word, all->length, &value)) {
        char shown[TACIT_CELL_TEXT];
        return tacit_fail(error, TACIT_INPUT, "%s:%zu: '%s' is not a number", all->name, all->line,
                          tacit_text_shown(all->word, all->length, shown));
    }
    double *values = tacit_grow_by_one(all->values, all->count, &all->capacity, 4096, sizeof *values);
    if (values == NULL) return tacit_fail_memory(error);
    all->values = values;
    all->values[all->count++] = value;
    all->in_line++;
    all->length = 0;
    return TACIT_OK;
}

static tacit_status end_line(numbers *all, tacit_error *error) {
    TACIT_TRY(end_word(all, error));
    if (all->in_line != 0 && all->in_line != all->columns)
        return tacit_fail(error, TACIT_INPUT, "%s:%zu: %zu numbers where every line has %zu", all->name,
                          all->line, all->in_line, all->columns);
    all->in_line = 0;
    all->line++;
    return TACIT_OK;
}

static tacit_status take(numbers *all, const uint8_t *bytes, size_t length, tacit_error *error) {
    for (size_t i = 0; i < length; i++) {
        char c = (char)bytes[i];
        if (c == '\n') {
            TACIT_TRY(end_line(all, error));
        } else if (all->line <= all->skip) {
            continue;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == ',') {
            TACIT_TRY(end_word(all, error));
        } else {
            if (all->length + 1 >= sizeof all->word)
                return tacit_fail(error, TACIT_INPUT,
                                  "%s:%zu: a word of more than %zu characters is not a number", all->name,
                                  all->line, sizeof all->word - 1);
            all->word[all->length++] = c;
        }
    }
    return TACIT_OK;
}

tacit_status tacit_data_numbers(double **out, size_t *rows, const char *folder, const tacit_data_file *file,
                                size_t skip, size_t columns, const tacit_progress *progress,
                                tacit_error *error) {
    tacit_input *input = NULL;
    numbers all = { .columns = columns, .skip = skip, .line = 1 };
    const uint8_t *bytes = NULL;
    size_t length = 0;
    tacit_status status;
    TACIT_CHECK(tacit_data_open(&input, folder, file, error));
    all.name = tacit_input_name(input);
    do {
        TACIT_CHECK(tacit_input_next(input, &bytes, &length, error));
        TACIT_CHECK(take(&all, bytes, length, error));
        tacit_progress_report(progress, "reading", all.count / columns, 0);
        if (tacit_progress_cancelled(progress))
            TACIT_CHECK(tacit_fail(error, TACIT_CANCELLED, "reading %s was cancelled", all.name));
    } while (length > 0);
    TACIT_CHECK(end_line(&all, error));
    if (all.count == 0) TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "%s has no numbers", all.name));
    *rows = all.count / columns;
    *out = all.values;
    all.values = NULL;
cleanup:
    free(all.values);
    tacit_input_free(input);
    return status;
}

/* ---- sparse rows ---- */

tacit_status tacit_row_builder_entry(tacit_row_builder *builder, uint32_t column, double value,
                                     tacit_error *error) {
    if (value == 0) return TACIT_OK;
    if (builder->entries == builder->entry_capacity) {
        size_t capacity = builder->entry_capacity > 0 ? 2 * builder->entry_capacity : 1 << 16;
        uint32_t *columns = tacit_grow(builder->column, capacity, sizeof *columns);
        if (columns == NULL) return tacit_fail_memory(error);
        builder->column = columns;
        double *values = tacit_grow(builder->value, capacity, sizeof *values);
        if (values == NULL) return tacit_fail_memory(error);
        builder->value = values;
        builder->entry_capacity = capacity;
    }
    builder->column[builder->entries] = column;
    builder->value[builder->entries++] = value;
    return TACIT_OK;
}

tacit_status tacit_row_builder_end_row(tacit_row_builder *builder, int32_t label, tacit_error *error) {
    if (builder->rows == builder->row_capacity) {
        size_t capacity = builder->row_capacity > 0 ? 2 * builder->row_capacity : 1 << 12;
        size_t *start = tacit_grow(builder->start, capacity + 1, sizeof *start);
        if (start == NULL) return tacit_fail_memory(error);
        builder->start = start;
        int32_t *labels = tacit_grow(builder->label, capacity, sizeof *labels);
        if (labels == NULL) return tacit_fail_memory(error);
        builder->label = labels;
        builder->row_capacity = capacity;
    }
    builder->start[0] = 0;
    builder->label[builder->rows++] = label;
    builder->start[builder->rows] = builder->entries;
    return TACIT_OK;
}

tacit_status tacit_row_builder_finish(tacit_dataset **out, tacit_row_builder *builder, size_t features,
                                      const char *const *class_names, size_t classes, tacit_error *error) {
    if (builder->rows == 0 || builder->rows > UINT32_MAX)
        return tacit_fail(error, TACIT_INPUT, "%zu rows cannot be used", builder->rows);
    tacit_dataset *dataset = TACIT_NEW(tacit_dataset, 1);
    if (dataset == NULL) return tacit_fail_memory(error);
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < classes; k++)
        TACIT_CHECK(tacit_levels_add(&dataset->classes, class_names[k], strlen(class_names[k]), NULL, error));
    dataset->rows = builder->rows;
    dataset->features = features;
    dataset->is_sparse = true;
    dataset->label = builder->label;
    dataset->sparse = (tacit_csr){ builder->rows, features, builder->start, builder->column, builder->value };
    *builder = (tacit_row_builder)TACIT_ROW_BUILDER_INIT;
    *out = dataset;
    dataset = NULL;
cleanup:
    tacit_dataset_free(dataset);
    return status;
}

void tacit_row_builder_clear(tacit_row_builder *builder) {
    if (builder == NULL) return;
    free(builder->start);
    free(builder->column);
    free(builder->value);
    free(builder->label);
    *builder = (tacit_row_builder)TACIT_ROW_BUILDER_INIT;
}
