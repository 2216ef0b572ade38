/* tacit export: a model for other programs. */
#include <string.h>
#include <unistd.h>

#include "api/option/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/output_file.h"
#include "model/export/export.h"

static tacit_status write_model(const tacit_model *model, const char *format, tacit_buffer *out,
                                tacit_error *error) {
    if (strcmp(format, "onnx") == 0) return tacit_model_export_onnx(model, out, error);
    if (strcmp(format, "pmml") == 0) return tacit_model_export_pmml(model, out, error);
    return tacit_model_print(model, out, error);
}

static tacit_status write_file(const tacit_buffer *bytes, const char *path, tacit_console *console,
                               tacit_error *error) {
    enum { MODE = 0644 };
    tacit_output output;
    TACIT_TRY(tacit_output_open(&output, path, console->out, MODE, error));
    fwrite(bytes->bytes, 1, bytes->length, output.stream); /* errors are noticed at the end */
    return tacit_output_close(&output, TACIT_OK, error);
}

static tacit_status run_export(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *path = tacit_arguments_operand(arguments, "MODEL");
    const char *format = tacit_arguments_text(arguments, "format"),
               *to = tacit_arguments_text(arguments, "out");
    tacit_model *model = NULL;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status;
    if (console->json && to == NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "--json prints one JSON document and nothing else: name the file of the model with --out");
    if (to == NULL && strcmp(format, "onnx") == 0 && isatty(fileno(console->out)))
        return tacit_fail(error, TACIT_USAGE,
                          "an ONNX file is not for a terminal to show: name a file with --out");
    TACIT_CHECK(tacit_model_load(&model, path, error));
    status = write_model(model, format, &bytes, error);
    if (status != TACIT_OK) status = tacit_fail_in(error, status, "%s", path);
    if (status == TACIT_OK) status = write_file(&bytes, to, console, error);
    if (status != TACIT_OK || to == NULL) goto cleanup;
    tacit_console_note(console, "wrote %s", to);
    TACIT_CHECK(tacit_console_document(console,
                                       json_pack("{s:o,s:s,s:I}", "out", tacit_json_text(to), "format",
                                                 format, "bytes", (json_int_t)bytes.length),
                                       error));
cleanup:
    tacit_buffer_clear(&bytes);
    tacit_model_free(model);
    return status;
}

const tacit_command tacit_command_export = {
    .name = "export",
    .section = "Learning",
    .summary = "a model as ONNX or PMML, for programs that know nothing of Tacit",
    .description =
        "ONNX (opset 13, double precision) and PMML 4.4 files take raw columns: bounds, scaling, levels, "
        "missing "
        "cells and the length of rows are dealt with inside, as 'tacit predict' does. They give the label, "
        "and "
        "probabilities or scores. What is guaranteed, and for how much, travels as metadata.\n\n"
        "In ONNX each column is an input of its own, rows x 1: numbers as doubles, NaN where one is missing, "
        "categories as texts, \"\" where one is missing. A row that the schema refuses gets NaN and the "
        "label \"\". "
        "In PMML a value that is missing is not given.\n\n"
        "A text column enters as the counts of its terms, one for each in the order of the schema, because "
        "neither "
        "format can part texts into words as Tacit does. The rows of a LIBSVM file enter as one input, "
        "features, in "
        "ONNX, and as fields x1, x2, ... in PMML.\n\n"
        "The format json is the model as 'tacit predict' reads it.",
    .operands =
        (const tacit_operand[]){
            { "MODEL", 1, 1, "a model as 'tacit fit', 'tacit simulate --out' or a study wrote it" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "format",
              .kind = TACIT_OPTION_CHOICE,
              .placeholder = "json|onnx|pmml",
              .help = "what to write",
              .rules = TACIT_RULE_REQUIRED },
            { .name = "out",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "write there; to standard output by default" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "For onnxruntime.", "tacit export model.json --format onnx --out model.onnx" },
            { "For a scoring engine that reads PMML.",
              "tacit export model.json --format pmml --out model.pmml" },
            { .text = NULL },
        },
    .run = run_export,
};
