/* Files as frames. */
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

static const tacit_form load_form = { .name = "loading a frame", .options = options_of_load };

static tacit_status keep_text(char **out, const char *text, tacit_error *error) {
    if (text == NULL) return TACIT_OK;
    *out = tacit_copy_text(text);
    return *out != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status load(tacit_frame *frame, const tacit_arguments *arguments, const tacit_progress *progress,
                         tacit_error *error) {
    const char *schema = tacit_arguments_text(arguments, "schema");
    tacit_load_options reading = tacit_reading_options(arguments, progress);
    reading.response = tacit_reading_response(arguments);
    reading.terms = tacit_arguments_text(arguments, "terms");
    reading.subset = tacit_arguments_text(arguments, "subset");
    reading.identified = true; /* the frame may be lent to studies, which compare rows */
    reading.group = tacit_arguments_text(arguments, "group");
    if (schema != NULL)
        TACIT_TRY(tacit_schema_load_terms(&frame->schema, schema, reading.terms, reading.subset, error));
    TACIT_TRY(tacit_dataset_load(&frame->data, schema != NULL ? NULL : &frame->schema, frame->path,
                                 frame->schema, &reading, error));
    frame->no_header = reading.no_header;
    frame->rows = frame->data->rows;
    frame->columns = frame_schema_columns(frame->schema);
    frame->parties = frame->data->groups.count;
    return TACIT_OK;
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
    TACIT_CHECK(load(frame, arguments, progress, error));
    *out = frame;
    frame = NULL;
cleanup:
    tacit_frame_free(frame);
    tacit_arguments_free(arguments);
    return status;
}
