/* Sources to datasets: which schema, block by block. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/dataset.h"
#include "data/reading/gather.h"
#include "data/reading/load.h"

static const tacit_load_options default_options = TACIT_LOAD_DEFAULTS;

/* Rows of a table that is kept whole are read in steps of this many, to report progress. */
enum { STEP_ROWS = 65536 };

/* One past the last code of the classes is never reached: texts that are no class went to `others`, or were
 * refused as they were read. */
static tacit_status classify(int32_t *out, const tacit_schema *schema, const tacit_column *column,
                             size_t rows, tacit_error *error) {
    size_t classes = schema->classes.count;
    size_t levels = column->levels.count > classes ? column->levels.count : classes;
    int32_t *class_of = TACIT_NEW(int32_t, levels);
    double *number = TACIT_NEW(double, classes);
    tacit_status status = TACIT_OK;
    if (class_of == NULL || number == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t i = 0; i < column->levels.count; i++) {
        const char *text = column->levels.text[i];
        class_of[i] = tacit_levels_find(&schema->classes, text, strlen(text));
        if (class_of[i] < 0) class_of[i] = schema->others;
    }
    tacit_schema_class_numbers(schema, number);
    for (size_t i = 0; i < rows; i++) {
        bool absent = column->kind == TACIT_COLUMN_NUMBER ? isnan(column->number[i])
                                                          : column->code[i] == TACIT_CODE_MISSING;
        if (absent && tacit_schema_keeps_unlabelled(schema)) {
            out[i] = TACIT_UNLABELLED;
            continue;
        }
        if (column->kind == TACIT_COLUMN_NUMBER)
            out[i] = tacit_schema_class_of(schema, number, column->number[i]);
        else
            out[i] = column->code[i] >= 0 ? class_of[column->code[i]] : schema->others;
        if (out[i] < 0) TACIT_CHECK(tacit_fail(error, TACIT_INTERNAL, "a label outside the classes"));
    }
cleanup:
    free(class_of);
    free(number);
    return status;
}

void tacit_schema_class_numbers(const tacit_schema *schema, double *out) {
    for (size_t k = 0; k < schema->classes.count; k++) {
        const char *text = schema->classes.text[k];
        if (!tacit_text_to_number(text, strlen(text), &out[k])) out[k] = NAN;
    }
}

int32_t tacit_schema_class_of(const tacit_schema *schema, const double *numbers, double label) {
    for (size_t k = 0; k < schema->classes.count; k++)
        if (numbers[k] == label) return (int32_t)k;
    return schema->others;
}

static bool wants_sparse(const tacit_schema *schema, tacit_storage storage) {
    if (storage == TACIT_STORAGE_AUTO) return tacit_schema_density(schema) < 0.25;
    return storage == TACIT_STORAGE_SPARSE;
}

tacit_status tacit_dataset_describe(tacit_dataset *dataset, const tacit_schema *schema, tacit_error *error) {
    dataset->features = tacit_schema_features(schema);
    dataset->has_intercept = schema->intercept;
    dataset->bounds_from_data = tacit_schema_is_from_rows(schema);
    TACIT_TRY(tacit_levels_copy(&dataset->classes, &schema->classes, error));
    return tacit_schema_feature_names(&dataset->feature_names, schema, error);
}

/* What a table turns into as it is read: the state of one load. */
typedef struct loading {
    const tacit_schema *schema;
    const tacit_load_options *options;
    tacit_source *source; /* borrowed */
    tacit_table *table;
    size_t label, group; /* columns of the table; SIZE_MAX when absent */
    tacit_encoder *encoder;
    tacit_gather gather;
    int32_t *classes; /* of the rows in the table */
    size_t class_capacity;
    tacit_vocabulary vocabulary; /* of the text column, where one is drafted */
    uint64_t moved;              /* responses that were outside their bounds */
} loading;

static void loading_clear(loading *load) {
    tacit_encoder_free(load->encoder);
    tacit_table_free(load->table);
    tacit_gather_clear(&load->gather);
    tacit_vocabulary_clear(&load->vocabulary);
    free(load->classes);
}

static tacit_status check_progress(const loading *load, tacit_error *error) {
    uint64_t rows = load->table->rows + load->table->dropped + load->table->left_out +
                    load->table->incomplete + load->table->outside;
    tacit_progress_report(load->options->progress, "reading", rows, 0);
    if (tacit_progress_cancelled(load->options->progress))
        return tacit_fail(error, TACIT_CANCELLED, "reading %s was cancelled", load->table->name);
    return TACIT_OK;
}

static tacit_label_need label_need(const tacit_load_options *options) {
    if (options->label_ignored) return TACIT_LABEL_IGNORED;
    if (options->label_optional) return TACIT_LABEL_OPTIONAL;
    return options->of_model ? TACIT_LABEL_OF_MODEL : TACIT_LABEL_REQUIRED;
}

static tacit_status start_gathering(loading *load, tacit_error *error) {
    TACIT_TRY(tacit_encoder_create(&load->encoder, load->schema, load->table, error));
    load->gather.features = tacit_schema_features(load->schema);
    load->gather.absent_bytes = tacit_absent_bytes(load->schema);
    load->gather.may_spill = tacit_spill_folder() != NULL;
    TACIT_TRY(tacit_spill_limit(&load->gather.most, error));
    load->gather.is_sparse = wants_sparse(load->schema, load->options->storage);
    bool numeric = load->schema->response != TACIT_RESPONSE_CLASS;
    load->gather.has_label = load->label != SIZE_MAX && !numeric;
    load->gather.has_response = load->label != SIZE_MAX && numeric;
    load->gather.response_columns = tacit_schema_response_columns(load->schema);
    load->gather.has_group = load->group != SIZE_MAX;
    load->gather.has_identity = load->options->identified;
    load->gather.bare = load->options->no_features || load->options->only_count;
    const bool completes = load->schema->formula != NULL && tacit_schema_imputes(load->schema) &&
                           label_need(load->options) == TACIT_LABEL_REQUIRED;
    if (completes && !load->gather.bare) load->gather.raw_columns = load->schema->cols;
    return TACIT_OK;
}

static tacit_status bound_responses(loading *load, tacit_error *error) {
    const tacit_column *column = &load->table->columns[load->label];
    size_t columns = load->gather.response_columns;
    for (size_t i = 0; i < load->table->rows; i++) {
        double value[TACIT_RESPONSE_COLUMNS];
        for (size_t k = 0; k < columns; k++) value[k] = column[k].number[i];
        tacit_status status = tacit_schema_response(load->schema, value, &load->moved, error);
        for (size_t k = 0; k < columns; k++) column[k].number[i] = value[k];
        if (status != TACIT_OK)
            return tacit_fail_in(error, status, "%s: row %llu", load->table->name,
                                 (unsigned long long)(load->table->dropped + i + 1));
    }
    return TACIT_OK;
}

static tacit_status gather_rows(loading *load, tacit_error *error) {
    const tacit_table *table = load->table;
    bool classes = load->gather.has_label, responses = load->gather.has_response;
    if (responses) TACIT_TRY(bound_responses(load, error));
    if (classes) {
        if (load->class_capacity < table->rows) {
            int32_t *grown = tacit_grow(load->classes, table->rows, sizeof *grown);
            if (grown == NULL) return tacit_fail_memory(error);
            load->classes = grown;
            load->class_capacity = table->rows;
        }
        TACIT_TRY(classify(load->classes, load->schema, &table->columns[load->label], table->rows, error));
    }
    const int32_t *group = NULL;
    if (load->group != SIZE_MAX) {
        const tacit_column *column = &table->columns[load->group];
        if (column->overflow)
            return tacit_fail(error, TACIT_INPUT,
                              "%s: column '%s' has more than %d values, too many for groups", table->name,
                              column->name, TACIT_GROUP_LIMIT);
        group = column->code;
    }
    const double *response[TACIT_RESPONSE_COLUMNS] = { NULL };
    for (size_t k = 0; responses && k < load->gather.response_columns; k++)
        response[k] = table->columns[load->label + k].number;
    return tacit_gather_table(&load->gather, load->encoder, table, classes ? load->classes : NULL,
                              responses ? response : NULL, group, error);
}

/* How many cells are missing in the rows that were left out, by column of the schema; the label's are
 * last. */
static tacit_status count_left_out(const loading *load, tacit_dataset *dataset, tacit_error *error) {
    const tacit_table *table = load->table;
    tacit_missing_cells *missing = &dataset->missing;
    size_t next = 0;
    dataset->counts.left_out = missing->left_out = table->incomplete;
    missing->left_out_cells = TACIT_NEW(uint64_t, load->schema->cols + 1);
    if (missing->left_out_cells == NULL) return tacit_fail_memory(error);
    missing->columns = load->schema->cols + 1;
    if (table->incomplete == 0) return TACIT_OK;
    for (size_t i = 0; i < load->schema->cols; i++) /* the table has those that are used, in their order */
        if (tacit_schema_uses(load->schema, i) && next < table->cols &&
            strcmp(table->columns[next].name, load->schema->columns[i].name) == 0)
            missing->left_out_cells[i] = table->columns[next++].missing_left_out;
    if (load->label != SIZE_MAX)
        missing->left_out_cells[load->schema->cols] = table->columns[load->label].missing_left_out;
    return TACIT_OK;
}

static tacit_status finish(loading *load, tacit_dataset **out, tacit_error *error) {
    tacit_dataset *dataset = TACIT_NEW(tacit_dataset, 1);
    if (dataset == NULL) return tacit_fail_memory(error);
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_dataset_describe(dataset, load->schema, error));
    TACIT_CHECK(tacit_gather_finish(&load->gather, dataset, error));
    if (load->group != SIZE_MAX) {
        dataset->groups = load->table->columns[load->group].levels;
        load->table->columns[load->group].levels = (tacit_levels)TACIT_LEVELS_INIT;
        dataset->persons = load->schema->person != NULL &&
                           strcmp(load->table->columns[load->group].name, load->schema->person) == 0;
    }
    dataset->counts = *tacit_encoder_counts(load->encoder);
    dataset->counts.outside_bounds += load->moved;
    dataset->counts.outside = load->table->outside;
    TACIT_CHECK(count_left_out(load, dataset, error));
    *out = dataset;
    dataset = NULL;
cleanup:
    tacit_dataset_free(dataset);
    return status;
}

tacit_status tacit_schema_check_options(const tacit_schema *schema, const tacit_load_options *options,
                                        tacit_error *error) {
    if (options->label != NULL && strcmp(options->label, schema->label) != 0)
        return tacit_fail(error, TACIT_USAGE,
                          "the option 'label=%s': the schema's label is '%s'; leave the option 'label' out",
                          options->label, schema->label);
    if (options->positive != NULL && schema->response != TACIT_RESPONSE_CLASS)
        return tacit_fail(error, TACIT_USAGE,
                          "the option 'positive=%s': the schema's label '%s' is a %s and has no classes",
                          options->positive, schema->label, tacit_response_name(schema->response));
    if (schema->response != TACIT_RESPONSE_CLASS) return TACIT_OK;
    const char *last = schema->classes.text[schema->classes.count - 1];
    if (options->positive != NULL && (schema->classes.count != 2 || strcmp(options->positive, last) != 0))
        return tacit_fail(
            error, TACIT_USAGE,
            "the option 'positive=%s': the schema's classes decide (the last is '%s'); leave it out",
            options->positive, last);
    return TACIT_OK;
}

static tacit_status load_with_schema(loading *load, tacit_dataset **out, tacit_error *error) {
    const tacit_schema *schema = load->schema;
    tacit_source *source = load->source;
    if (schema->sparse > 0)
        return tacit_fail(error, TACIT_INPUT,
                          "%s is not a LIBSVM file, but the schema is for one (sparse: %zu)", source->name,
                          schema->sparse);
    TACIT_TRY(tacit_schema_check_options(schema, load->options, error));
    /* Rows without a label are to be predicted, and it does not matter whose they are. */
    bool training = label_need(load->options) <= TACIT_LABEL_OF_MODEL;
    const char *group = load->options->group != NULL ? load->options->group
                        : training                   ? schema->person
                                                     : NULL;
    TACIT_TRY(tacit_schema_table(&load->table, &load->label, &load->group, schema, source,
                                 label_need(load->options), group, error));
    load->table->identified = load->options->identified;
    load->table->borrows = true;
    if ((tacit_schema_leaves_out(schema) || schema->subset != NULL) &&
        (load->options->no_features || load->options->only_count))
        return tacit_fail(error, TACIT_USAGE,
                          "%s, so that rows cannot be dealt out to several processes before they are read: "
                          "run in one process, or remove %s rows from %s first",
                          schema->subset != NULL
                              ? "rows that are not of the subset are passed over"
                              : "rows that are incomplete are left out (missing: complete-case)",
                          schema->subset != NULL ? "those" : "incomplete", source->name);
    TACIT_TRY(start_gathering(load, error));
    static const tacit_row_filter none = { tacit_row_filter_none, NULL };
    source->filter = load->options->only_count ? &none : load->options->rows;
    for (size_t i = 0; load->options->no_features && i < load->table->cols; i++)
        load->table->columns[i].idle = i != load->label && i != load->group;
    for (bool ended = false; !ended;) {
        TACIT_TRY(tacit_table_read(load->table, source, TACIT_GATHER_BLOCK, &ended, error));
        TACIT_TRY(check_progress(load, error));
        TACIT_TRY(gather_rows(load, error));
        tacit_table_drop_rows(load->table);
    }
    TACIT_TRY(finish(load, out, error));
    if (load->options->only_count) (*out)->rows = (*out)->dense.rows = (size_t)load->table->left_out;
    return TACIT_OK;
}

/* Count the terms of the text column of a source that will be read again. */
static tacit_status count_terms(tacit_source *source, tacit_terms *terms, size_t field, tacit_error *error) {
    size_t columns = source->columns.count;
    tacit_row_block block = { .ended = false };
    while (!block.ended) {
        TACIT_TRY(tacit_source_next(source, STEP_ROWS, &block, error));
        for (size_t i = 0; i < block.rows; i++) {
            char scratch[TACIT_NUMBER_TEXT];
            tacit_cell cell = tacit_cell_as_text(&block.cells[i * columns + field], scratch);
            TACIT_TRY(tacit_terms_add(terms, cell.text, cell.length, error));
        }
    }
    return tacit_source_rewind(source, error);
}

/* The vocabulary of the text column: hashed, or that of the rows themselves, which are read twice then. */
static tacit_status draft_vocabulary(loading *load, tacit_error *error) {
    const tacit_text_draft *draft = &load->options->text_draft;
    load->vocabulary.grams = draft->grams;
    load->vocabulary.strip = draft->strip;
    load->vocabulary.buckets = draft->buckets;
    if (draft->buckets > 0) return TACIT_OK;
    tacit_terms *terms = NULL;
    size_t field = 0;
    TACIT_TRY(tacit_source_require(load->source, load->options->text, "the option 'text'", &field, error));
    TACIT_TRY(tacit_terms_create(&terms, draft->grams, draft->strip, error));
    tacit_status status = count_terms(load->source, terms, field, error);
    if (status == TACIT_OK) status = tacit_terms_choose(terms, &draft->limits, &load->vocabulary, error);
    tacit_terms_free(terms);
    return status;
}

static tacit_status declare_text(loading *load, tacit_error *error) {
    size_t at = 0;
    TACIT_TRY(tacit_table_find(load->table, load->options->text, "the option 'text'", &at, error));
    if (at == load->label)
        return tacit_fail(error, TACIT_USAGE, "the option 'text=%s': this column is the label",
                          load->options->text);
    load->table->columns[at].kind = TACIT_COLUMN_TEXT;
    load->table->columns[at].detected = false;
    load->table->columns[at].vocabulary = &load->vocabulary;
    return TACIT_OK;
}

static tacit_status read_whole_table(loading *load, bool label_required, tacit_error *error) {
    TACIT_TRY(tacit_table_create(&load->table, load->source, error));
    load->table->identified = load->options->identified;
    load->label = load->table->cols - 1;
    if (load->options->label != NULL)
        TACIT_TRY(tacit_source_require(load->source, load->options->label, "the option 'label'", &load->label,
                                       error));
    load->table->columns[load->label].required = label_required;
    if (load->options->text != NULL) TACIT_TRY(declare_text(load, error));
    if (load->options->group != NULL)
        TACIT_TRY(
            tacit_table_declare_group(load->table, load->source, load->options->group, &load->group, error));
    for (bool ended = false; !ended;) {
        TACIT_TRY(tacit_table_read(load->table, load->source, STEP_ROWS, &ended, error));
        TACIT_TRY(check_progress(load, error));
    }
    return TACIT_OK;
}

/* By the schema that was made of all rows, those of its subset. */
static tacit_status read_again(loading *load, const tacit_schema *schema, tacit_dataset **out,
                               tacit_error *error) {
    const tacit_load_options *whole = load->options;
    tacit_load_options options = *whole;
    options.label = options.positive = NULL; /* the schema has them */
    load->table = tacit_table_free(load->table);
    load->schema = schema;
    load->options = &options;
    load->label = load->group = SIZE_MAX;
    tacit_status status = tacit_source_rewind(load->source, error);
    if (status == TACIT_OK) status = load_with_schema(load, out, error);
    load->options = whole;
    return status;
}

static tacit_status load_and_draft(loading *load, tacit_dataset **out, tacit_schema **drafted,
                                   tacit_error *error) {
    tacit_schema *schema = NULL;
    tacit_status status = TACIT_OK;
    if (load->options->text != NULL) TACIT_CHECK(draft_vocabulary(load, error));
    TACIT_CHECK(read_whole_table(load, !load->options->unlabelled, error));
    const tacit_draft_options draft = { load->options->label, load->options->positive,
                                        load->options->response, load->options->tidy,
                                        load->options->unlabelled };
    TACIT_CHECK(tacit_schema_draft(&schema, load->table, &draft, error));
    if (load->options->terms != NULL)
        TACIT_CHECK(tacit_schema_set_terms(schema, load->options->terms, error));
    if (load->options->subset != NULL) {
        TACIT_CHECK(tacit_schema_set_subset(schema, load->options->subset, error));
        TACIT_CHECK(read_again(load, schema, out, error));
        goto done;
    }
    load->schema = schema;
    TACIT_CHECK(start_gathering(load, error));
    TACIT_CHECK(tacit_gather_expect(&load->gather, load->table->rows, error));
    TACIT_CHECK(gather_rows(load, error));
    TACIT_CHECK(finish(load, out, error));
done:
    if (drafted != NULL) {
        *drafted = schema;
        schema = NULL;
    }
cleanup:
    load->encoder = tacit_encoder_free(load->encoder); /* it borrows the schema */
    tacit_schema_free(schema);
    return status;
}

static tacit_source_options source_options(const tacit_load_options *options, const tacit_schema *schema) {
    return (tacit_source_options){ .no_header = options->no_header,
                                   .separator = options->separator,
                                   .dimension = schema != NULL ? schema->sparse : options->dimension,
                                   .link = options->link,
                                   .fill = options->fill,
                                   .fill_value = options->fill_value };
}

tacit_status tacit_dataset_read_source(tacit_dataset **out, tacit_schema **drafted, tacit_source *source,
                                       const tacit_schema *schema, const tacit_load_options *options,
                                       tacit_error *error) {
#ifndef TACIT_PARTY_ONLY /* which has no such source */
    if (source->kind->sparse) return tacit_dataset_read_libsvm(out, drafted, source, schema, options, error);
#endif
    loading load = { .schema = schema,
                     .options = options,
                     .source = source,
                     .label = SIZE_MAX,
                     .group = SIZE_MAX,
                     .vocabulary = TACIT_VOCABULARY_INIT };
    tacit_status status =
        schema != NULL ? load_with_schema(&load, out, error) : load_and_draft(&load, out, drafted, error);
    loading_clear(&load);
    return status;
}

/* From an input, or where that is NULL by name. */
static tacit_status open_and_read(tacit_dataset **out, tacit_schema **drafted, tacit_input *input,
                                  const char *name, const tacit_schema *schema,
                                  const tacit_load_options *options, tacit_error *error) {
    tacit_source *source = NULL;
    if (options == NULL) options = &default_options;
    const tacit_source_options opening = source_options(options, schema);
    TACIT_TRY(input != NULL ? tacit_source_open_input(&source, input, &opening, error)
                            : tacit_source_open(&source, name, &opening, error));
    tacit_status status = tacit_dataset_read_source(out, drafted, source, schema, options, error);
    tacit_source_free(source);
    return status;
}

tacit_status tacit_dataset_read(tacit_dataset **out, tacit_schema **drafted, tacit_input *input,
                                const tacit_schema *schema, const tacit_load_options *options,
                                tacit_error *error) {
    return open_and_read(out, drafted, input, NULL, schema, options, error);
}

tacit_status tacit_dataset_load(tacit_dataset **out, tacit_schema **drafted, const char *name,
                                const tacit_schema *schema, const tacit_load_options *options,
                                tacit_error *error) {
    return open_and_read(out, drafted, NULL, name, schema, options, error);
}

tacit_status tacit_table_load(tacit_table **out, tacit_source *source, const tacit_load_options *options,
                              tacit_error *error) {
    loading load = { .options = options != NULL ? options : &default_options,
                     .source = source,
                     .label = SIZE_MAX,
                     .group = SIZE_MAX };
    tacit_status status = read_whole_table(&load, false, error);
    if (status == TACIT_OK) {
        *out = load.table;
        load.table = NULL;
    }
    loading_clear(&load);
    return status;
}
