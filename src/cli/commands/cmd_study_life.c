/* tacit study open|pause|resume|amend|close: a study's life beside its rounds. */
#include "api/document/json_text.h"
#include "api/option/arguments.h"
#include "api/study/desk.h"
#include "cli/commands.h"
#include "cli/console.h"

static const tacit_operand folder_and_study[] = {
    { "DIR", 1, 1, "the coordinator's folder" },
    { "STUDY", 1, 1, "the study's name" },
    { .name = NULL },
};

/* Do one thing to one study, then say which state it is in and what that means. */
static tacit_status change(const tacit_arguments *arguments, tacit_console *console, const char *verb,
                           const char *meaning, tacit_error *error) {
    const char *name = tacit_arguments_operand(arguments, "STUDY");
    json_t *document = NULL;
    TACIT_TRY(tacit_desk_change(&document, tacit_arguments_operand(arguments, "DIR"), name, verb, error));
    tacit_console_print(console, "Study '%s' is %s; %s.\n", name,
                        json_string_value(json_object_get(document, "state")), meaning);
    return tacit_console_document(console, document, error);
}

static tacit_status run_open(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    return change(arguments, console, "open", "parties can be invited", error);
}

static tacit_status run_pause(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    return change(arguments, console, "pause", "nothing is asked until it is resumed", error);
}

static tacit_status run_resume(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    return change(arguments, console, "resume", "it goes on where it was", error);
}

const tacit_command tacit_command_study_open = {
    .name = "study open",
    .section = "Studies",
    .summary = "open a draft to parties",
    .operands = folder_and_study,
    .examples =
        (const tacit_example[]){
            { "The ethics board has approved it.", "tacit study open consortium breast-cancer" },
            { .text = NULL },
        },
    .run = run_open,
};

const tacit_command tacit_command_study_pause = {
    .name = "study pause",
    .section = "Studies",
    .summary = "ask nothing until a study is resumed",
    .description = "Rounds that are finished stay; the open one is asked again when the study goes on, and "
                   "answers already given to it are sent again without a second charge.",
    .operands = folder_and_study,
    .examples =
        (const tacit_example[]){
            { "Wait for a site's repairs.", "tacit study pause consortium breast-cancer" },
            { .text = NULL },
        },
    .run = run_pause,
};

const tacit_command tacit_command_study_resume = {
    .name = "study resume",
    .section = "Studies",
    .summary = "go on with a paused study",
    .operands = folder_and_study,
    .examples =
        (const tacit_example[]){
            { "Go on.", "tacit study resume consortium breast-cancer" },
            { .text = NULL },
        },
    .run = run_resume,
};

/* ---- amend ---- */

static tacit_status run_amend(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *state = NULL;
    json_int_t version = 0, outdated = 0;
    tacit_study *study = NULL;
    json_t *document = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_study_load(&study, tacit_arguments_operand(arguments, "FILE"), error));
    TACIT_CHECK(tacit_study_settle(study, error));
    TACIT_CHECK(tacit_desk_replace(&document, tacit_arguments_operand(arguments, "DIR"), study, error));
    json_unpack(document, "{s:s,s:I,s:I}", "state", &state, "version", &version, "outdated", &outdated);
    tacit_console_print(console,
                        "Study '%s' is now version %lld and %s; %lld parties are asked for consent again.\n",
                        study->name, (long long)version, state, (long long)outdated);
    TACIT_CHECK(tacit_console_document(console, json_incref(document), error));
cleanup:
    json_decref(document);
    tacit_study_free(study);
    return status;
}

const tacit_command tacit_command_study_amend = {
    .name = "study amend",
    .section = "Studies",
    .summary = "replace a study's definition and ask for consent again",
    .description = "For a draft, a study that recruits, a paused one, or one that failed, which then "
                   "recruits again: pause a running study first. The new definition has a new hash; parties "
                   "are shown it and answer nothing until their owners consent. Rounds begin again, and what "
                   "was charged for the earlier version stays charged.",
    .operands =
        (const tacit_operand[]){
            { "DIR", 1, 1, "the coordinator's folder" },
            { "FILE", 1, 1, "the new definition, YAML, under the same name" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "The consent document was changed.", "tacit study amend consortium breast_cancer.study.yaml" },
            { .text = NULL },
        },
    .run = run_amend,
};

/* ---- close ---- */

static tacit_status run_close(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    return change(arguments, console, "close", "its parties hear of it at their next poll", error);
}

const tacit_command tacit_command_study_close = {
    .name = "study close",
    .section = "Studies",
    .summary = "end a study without a model",
    .operands = folder_and_study,
    .examples =
        (const tacit_example[]){
            { "Give up a study that found too few parties.", "tacit study close consortium breast-cancer" },
            { .text = NULL },
        },
    .run = run_close,
};
