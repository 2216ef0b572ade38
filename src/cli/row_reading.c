#include "cli/row_reading.h"

tacit_status tacit_reading_open(tacit_source **out, const char *name, const tacit_load_options *options,
                                tacit_error *error) {
    const tacit_source_options opening = { .no_header = options->no_header, .separator = options->separator };
    return tacit_source_open(out, name, &opening, error);
}

tacit_status tacit_reading_label(size_t *out, const tacit_table *table, const tacit_load_options *options,
                                 tacit_error *error) {
    if (options->label != NULL) return tacit_table_find(table, options->label, "--label", out, error);
    *out = table->cols - 1;
    return TACIT_OK;
}

const char *tacit_plural(uint64_t count, const char *one, const char *many) {
    return count == 1 ? one : many;
}

void tacit_model_use_clear(tacit_model_use *use) {
    tacit_dataset_free(use->rows);
    tacit_model_free(use->model);
    *use = (tacit_model_use)TACIT_MODEL_USE_INIT;
}

/* Labels are looked up by class, so a file whose parts disagree must not get any further. */
static tacit_status check_model(const tacit_model *model, const char *path, tacit_error *error) {
    tacit_status status = tacit_model_check_predicts(model, error);
    if (status != TACIT_OK) return tacit_fail_in(error, status, "%s", path);
    if (model->schema == NULL)
        return tacit_fail(error, TACIT_INPUT,
                          "%s does not say how rows are encoded: it was saved without a schema and can only "
                          "be used by a program that encodes rows itself",
                          path);
    if (model->schema->classes.count != model->classes)
        return tacit_fail(error, TACIT_INPUT, "%s: the schema has %zu classes and the model %zu", path,
                          model->schema->classes.count, model->classes);
    return TACIT_OK;
}

tacit_status tacit_model_use_load(tacit_model_use *out, const tacit_arguments *arguments,
                                  tacit_console *console, bool label_optional, tacit_error *error) {
    const char *path = tacit_arguments_operand(arguments, "MODEL");
    const char *file = tacit_arguments_operand(arguments, "FILE");
    tacit_model_use use = TACIT_MODEL_USE_INIT;
    tacit_load_options options = tacit_reading_options(arguments, tacit_console_progress(console));
    options.label_optional = label_optional;
    options.of_model = true;
    tacit_status status;
    TACIT_CHECK(tacit_model_load(&use.model, path, error));
    TACIT_CHECK(check_model(use.model, path, error));
    TACIT_CHECK(tacit_dataset_load(&use.rows, NULL, file, use.model->schema, &options, error));
    *out = use;
cleanup:
    if (status != TACIT_OK) tacit_model_use_clear(&use);
    return status;
}
