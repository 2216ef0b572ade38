/* tacit study open|pause|resume|amend|close: a study's life beside its rounds. */
#include "api/document/json_text.h"
#include "api/option/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "study/registry.h"
#include "study/round_log.h"
#include "study/study.h"

static const tacit_operand folder_and_study[] = {
    { "DIR", 1, 1, "the coordinator's folder" },
    { "STUDY", 1, 1, "the study's name" },
    { .name = NULL },
};

/* Do one thing to one study, then say which state it is in and what that means. */
static tacit_status change(const tacit_arguments *arguments, tacit_console *console,
                           tacit_status (*act)(tacit_registry *registry, const char *name,
                                               tacit_error *error),
                           const char *meaning, tacit_error *error) {
    const char *name = tacit_arguments_operand(arguments, "STUDY");
    tacit_registry *registry = NULL;
    tacit_study_record record;
    tacit_status status;
    TACIT_CHECK(tacit_registry_open(&registry, tacit_arguments_operand(arguments, "DIR"), false, error));
    TACIT_CHECK(act(registry, name, error));
    TACIT_CHECK(tacit_registry_study(registry, name, &record, NULL, error));
    tacit_console_print(console, "Study '%s' is %s; %s.\n", name, tacit_study_state_name(record.state),
                        meaning);
    TACIT_CHECK(tacit_console_document(
        console, json_pack("{s:s,s:s}", "study", name, "state", tacit_study_state_name(record.state)),
        error));
cleanup:
    tacit_registry_close(registry);
    return status;
}

static tacit_status run_open(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    return change(arguments, console, tacit_registry_open_draft, "parties can be invited", error);
}

static tacit_status run_pause(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    return change(arguments, console, tacit_registry_pause, "nothing is asked until it is resumed", error);
}

static tacit_status run_resume(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    return change(arguments, console, tacit_registry_resume, "it goes on where it was", error);
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
    tacit_study *study = NULL;
    tacit_registry *registry = NULL;
    tacit_study_record record;
    tacit_status status;
    TACIT_CHECK(tacit_study_load(&study, tacit_arguments_operand(arguments, "FILE"), error));
    TACIT_CHECK(tacit_registry_open(&registry, tacit_arguments_operand(arguments, "DIR"), false, error));
    TACIT_CHECK(tacit_registry_amend(registry, study->name, tacit_buffer_text(&study->canonical),
                                     &study->point_bytes, error));
    tacit_rounds_forget(tacit_arguments_operand(arguments, "DIR"), study->name);
    TACIT_CHECK(tacit_registry_study(registry, study->name, &record, NULL, error));
    tacit_console_print(console,
                        "Study '%s' is now version %u and %s; %zu parties are asked for consent again.\n",
                        study->name, record.version, tacit_study_state_name(record.state), record.outdated);
    TACIT_CHECK(tacit_console_document(
        console,
        json_pack("{s:s,s:s,s:I,s:I}", "study", study->name, "state", tacit_study_state_name(record.state),
                  "version", (json_int_t)record.version, "outdated", (json_int_t)record.outdated),
        error));
cleanup:
    tacit_registry_close(registry);
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
    const char *name = tacit_arguments_operand(arguments, "STUDY");
    tacit_registry *registry = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_registry_open(&registry, tacit_arguments_operand(arguments, "DIR"), false, error));
    TACIT_CHECK(tacit_registry_set_state(registry, name, TACIT_STUDY_CLOSED, "closed by the coordinator",
                                         NULL, error));
    tacit_console_print(console, "Study '%s' is closed; its parties hear of it at their next poll.\n", name);
    TACIT_CHECK(
        tacit_console_document(console, json_pack("{s:s,s:s}", "study", name, "state", "closed"), error));
cleanup:
    tacit_registry_close(registry);
    return status;
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
