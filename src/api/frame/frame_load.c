/* Files as frames, and what is publicly known about the columns of a table. */
#include <string.h>

#include "api/frame/frame.h"
#include "api/option/arguments.h"
#include "api/option/row_options.h"
#include "base/memory.h"

static const tacit_option options_of_load[] = {
    { .name = "schema",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FILE",
      .help = "what is publicly known about the columns; without it bounds are read off the rows" },
    { .name = "group",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "COLUMN",
      .help = "the column whose values are the parties" },
    TACIT_OPTION_RESPONSE,
    TACIT_OPTION_TERMS,
    TACIT_OPTION_SUBSET,
    TACIT_OPTIONS_READING,
    { .name = NULL },
};
static const tacit_option options_of_tables[] = {
    { .name = "schema-text", .kind = TACIT_OPTION_TEXT, .placeholder = "YAML", .help = "the schema itself" },
    { .name = NULL },
};
static const char *const of_files[] = { "no-header", NULL };

static const tacit_form load_form = { .name = "loading a frame", .options = options_of_load };
static const tacit_form describe_form = {
    .name = "describing a table", .options = options_of_load, .more = options_of_tables, .without = of_files
};

static tacit_status keep_text(char **out, const char *text, tacit_error *error) {
    if (text == NULL) return TACIT_OK;
    *out = tacit_copy_text(text);
    return *out != NULL ? TACIT_OK : tacit_fail_memory(error);
}

tacit_status frame_read(tacit_dataset **out, tacit_schema **drafted, const tacit_frame *frame,
                        const tacit_schema *schema, const tacit_load_options *options, tacit_error *error) {
    tacit_source *source = NULL;
    if (frame->kind == FRAME_FILE)
        return tacit_dataset_load(out, drafted, frame->path, schema, options, error);
    TACIT_TRY(tacit_source_open_batches(&source, frame->path, &frame->table->names, frame->table->batches,
                                        frame->table->count, error));
    tacit_status status = tacit_dataset_read_source(out, drafted, source, schema, options, error);
    tacit_source_free(source);
    return status;
}

/* The schema that the options name, or NULL. */
static tacit_status given_schema(tacit_schema **out, const tacit_arguments *arguments, const char *text,
                                 tacit_error *error) {
    const char *path = tacit_arguments_text(arguments, "schema"),
               *terms = tacit_arguments_text(arguments, "terms"),
               *subset = tacit_arguments_text(arguments, "subset");
    tacit_schema *schema = NULL;
    if (path != NULL && text != NULL)
        return tacit_fail(error, TACIT_USAGE, "give the option 'schema' or 'schema-text', not both");
    if (path != NULL) return tacit_schema_load_terms(out, path, terms, subset, error);
    if (text == NULL) return TACIT_OK;
    TACIT_TRY(tacit_schema_parse(&schema, text, strlen(text), "the schema", error));
    return tacit_schema_take_terms(out, schema, terms, subset, error);
}

/* What a frame becomes once its columns are described. Nothing of it changes on failure. */
static tacit_status load(tacit_frame *frame, const tacit_arguments *arguments, const char *text,
                         const tacit_progress *progress, tacit_error *error) {
    tacit_load_options reading = tacit_reading_options(arguments, progress);
    tacit_schema *schema = NULL;
    tacit_dataset *data = NULL;
    char *group = NULL;
    tacit_status status;
    reading.response = tacit_reading_response(arguments);
    reading.terms = tacit_arguments_text(arguments, "terms");
    reading.subset = tacit_arguments_text(arguments, "subset");
    reading.unlabelled = true; /* methods that need labels refuse such rows later, with what to do */
    reading.identified = true; /* the frame may be lent to studies, which compare rows */
    reading.group = tacit_arguments_text(arguments, "group");
    TACIT_CHECK(keep_text(&group, reading.group, error));
    TACIT_CHECK(given_schema(&schema, arguments, text, error));
    TACIT_CHECK(frame_read(&data, schema != NULL ? NULL : &schema, frame, schema, &reading, error));
    tacit_schema_free(frame->schema);
    tacit_dataset_free(frame->data);
    free(frame->group);
    frame->schema = schema;
    frame->data = data;
    frame->group = group;
    frame->parties = data->groups.count;
    return TACIT_OK;
cleanup:
    tacit_schema_free(schema);
    free(group);
    return status;
}

tacit_status tacit_frame_load(tacit_frame **out, const char *path, const tacit_options *options,
                              const tacit_progress *progress, tacit_error *error) {
    TACIT_TRY(tacit_require(out, "where to put the result", error));
    tacit_arguments *arguments = NULL;
    tacit_frame *frame = NULL;
    tacit_status status;
    if (path == NULL || path[0] == 0) return tacit_fail(error, TACIT_USAGE, "which file is to be loaded?");
    TACIT_CHECK(tacit_form_take(&arguments, &load_form, options, error));
    frame = TACIT_NEW(tacit_frame, 1);
    if (frame == NULL) TACIT_CHECK(tacit_fail_memory(error));
    frame->kind = FRAME_FILE;
    TACIT_CHECK(keep_text(&frame->path, path, error));
    frame->no_header = tacit_reading_options(arguments, NULL).no_header;
    TACIT_CHECK(load(frame, arguments, NULL, progress, error));
    frame->rows = frame->data->rows;
    frame->columns = frame_schema_columns(frame->schema);
    *out = frame;
    frame = NULL;
cleanup:
    tacit_frame_free(frame);
    tacit_arguments_free(arguments);
    return status;
}

tacit_status tacit_frame_describe(tacit_frame *frame, const tacit_options *options,
                                  const tacit_progress *progress, tacit_error *error) {
    TACIT_TRY(tacit_require(frame, "the frame", error));
    tacit_arguments *arguments = NULL;
    if (frame->kind != FRAME_TABLE)
        return tacit_fail(error, TACIT_USAGE,
                          "a schema describes a table: say bounds, classes and names of other frames by "
                          "their own calls");
    TACIT_TRY(tacit_form_take(&arguments, &describe_form, options, error));
    tacit_status status =
        load(frame, arguments, tacit_arguments_text(arguments, "schema-text"), progress, error);
    tacit_arguments_free(arguments);
    return status;
}
