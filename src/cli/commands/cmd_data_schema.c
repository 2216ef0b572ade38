/* tacit data draft-schema: a first schema, read off the rows. */
#include "cli/commands.h"
#include "cli/output_file.h"
#include "cli/row_reading.h"

/* Schemas are for sharing; what they say must be public before they are. */
enum { SCHEMA_MODE = 0644 };

static tacit_status write_schema(tacit_console *console, const char *path, const tacit_buffer *text,
                                 tacit_error *error) {
    if (path == NULL && console->json)
        return tacit_console_document(
            console, json_pack("{s:o}", "schema", tacit_json_text(tacit_buffer_text(text))), error);
    tacit_output output;
    TACIT_TRY(tacit_output_open(&output, path, console->out, SCHEMA_MODE, error));
    fwrite(text->bytes, 1, text->length, output.stream);
    TACIT_TRY(tacit_output_close(&output, TACIT_OK, error));
    if (path == NULL) return TACIT_OK;
    tacit_console_note(console, "wrote %s", path);
    return tacit_console_document(console, json_pack("{s:o}", "out", tacit_json_text(path)), error);
}

static void note_positive(tacit_console *console, const tacit_schema *schema, const char *given) {
    if (given != NULL || schema->classes.count != 2 || schema->sparse > 0) return;
    tacit_console_note(console,
                       "'%s' is the positive class, the rarer of the two; say --positive for another",
                       schema->classes.text[1]);
}

static tacit_status run_draft(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    tacit_dataset *dataset = NULL;
    tacit_schema *schema = NULL;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    tacit_load_options options = tacit_reading_draft(arguments, tacit_console_progress(console));
    const char *path = tacit_arguments_operand(arguments, "FILE");
    options.tidy = true;
    TACIT_CHECK(tacit_dataset_load(&dataset, &schema, path, NULL, &options, error));
    TACIT_CHECK(tacit_schema_print(schema, tacit_schema_draft_comment, &text, error));
    TACIT_CHECK(write_schema(console, tacit_arguments_text(arguments, "out"), &text, error));
    tacit_console_warn(console,
                       "bounds, levels, terms and classes were read off the rows of %s, so this schema is "
                       "not private and is marked so: replace each value marked 'from: rows' by what is "
                       "publicly known, then remove the mark",
                       path);
    note_positive(console, schema, options.positive);
cleanup:
    tacit_buffer_clear(&text);
    tacit_schema_free(schema);
    tacit_dataset_free(dataset);
    return status;
}

const tacit_command tacit_command_data_draft_schema = {
    .name = "data draft-schema",
    .section = "Data",
    .summary = "a first schema for a file, to be edited by its owner",
    .description = "A schema says what is publicly known about each column: bounds, levels, classes. The "
                   "draft reads them off the rows instead, so it is NOT private, and marks each such value "
                   "'from: rows'. With a mark left it serves simulations only: fit, join, studies and "
                   "ledgers refuse it. Replace every marked value by one that is known without looking at "
                   "the rows, remove the mark, then check the schema with 'tacit data check'. Identifiers "
                   "and columns with a text of its own in nearly every row are left out, dates become "
                   "numbers, and rare levels are joined; a comment beside each says so.",
    .operands =
        (const tacit_operand[]){
            { "FILE", 1, 1, TACIT_SOURCES_HELP },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            TACIT_OPTIONS_READING,
            TACIT_OPTION_RESPONSE,
            TACIT_OPTIONS_TEXT,
            { .name = "out",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "write the schema there; to standard output if omitted" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Draft a schema, then edit it.",
              "tacit data draft-schema patients.csv --label outcome --out patients.yaml" },
            { .text = NULL },
        },
    .run = run_draft,
};
