#include "cli/model_use.h"

#include "cli/row_reading.h"

void tacit_model_use_clear(tacit_model_use *use) {
    tacit_dataset_free(use->rows);
    tacit_model_free(use->model);
    *use = (tacit_model_use)TACIT_MODEL_USE_INIT;
}

/* Labels are looked up by class, so a file whose parts disagree must not get any further. */
static tacit_status check_model(const tacit_model *model, const char *path, tacit_error *error) {
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
    tacit_status status;
    TACIT_CHECK(tacit_model_load(&use.model, path, error));
    TACIT_CHECK(check_model(use.model, path, error));
    TACIT_CHECK(tacit_dataset_load(&use.rows, NULL, file, use.model->schema, &options, error));
    *out = use;
cleanup:
    if (status != TACIT_OK) tacit_model_use_clear(&use);
    return status;
}
