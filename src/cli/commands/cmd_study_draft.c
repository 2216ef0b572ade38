/* tacit study draft: a definition from a few words. */
#include "api/document/json_text.h"
#include "api/study/draft.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/console.h"

static tacit_status run(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *to = tacit_arguments_operand(arguments, "FILE");
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_draft_print(&text, arguments, error));
    if (to != NULL) {
        TACIT_CHECK(tacit_file_write(to, text.bytes, text.length, 0644, error));
        tacit_console_note(console, "wrote %s; read it, then: tacit study new DIR %s", to, to);
    } else {
        tacit_console_print(console, "%s", tacit_buffer_text(&text));
    }
    TACIT_CHECK(
        tacit_console_document(console,
                               json_pack("{s:s,s:s}", "study", tacit_arguments_text(arguments, "name"),
                                         "definition", tacit_buffer_text(&text)),
                               error));
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

const tacit_command tacit_command_study_draft = {
    .name = "study draft",
    .section = "Studies",
    .summary = "write a study's definition from a few words",
    .description =
        "YAML with the schema inside, checked as `tacit study new` checks it: read it, complete it, "
        "and add it. Python's study() and R's tacit_study() begin with the same draft.",
    .operands =
        (const tacit_operand[]){
            { "FILE", 0, 1, "where to write it; standard output by default" },
            { .name = NULL },
        },
    .options = tacit_study_draft_options,
    .examples =
        (const tacit_example[]){
            { "A regression in three clinics.",
              "tacit study draft tumours.study.yaml --name tumours --method estimate --parties 3 --schema "
              "tumours.schema.yaml --formula 'relapse ~ histology * stage + age'" },
            { .text = NULL },
        },
    .run = run,
};
