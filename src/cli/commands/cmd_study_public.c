/* tacit study applicants|accept|decline|archive|derive: a study and the public. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "api/document/json_text.h"
#include "api/option/arguments.h"
#include "api/study/desk.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "site/enrol/enrol.h"
#include "study/archive/archive.h"
#include "study/home.h"

static const tacit_operand folder_and_study[] = {
    { "DIR", 1, 1, "the coordinator's folder" },
    { "STUDY", 1, 1, "the study's name" },
    { .name = NULL },
};

static const tacit_operand folder_study_and_applicant[] = {
    { "DIR", 1, 1, "the coordinator's folder" },
    { "STUDY", 1, 1, "the study's name" },
    { "APPLICANT", 1, 1, "as `tacit study applicants` has it" },
    { .name = NULL },
};

/* ---- applicants ---- */

static tacit_status run_applicants(const tacit_arguments *arguments, tacit_console *console,
                                   tacit_error *error) {
    const tacit_desk_request request = { .folder = tacit_arguments_operand(arguments, "DIR"),
                                         .study = tacit_arguments_operand(arguments, "STUDY") };
    tacit_desk_reply reply = { .document = NULL };
    const json_t *each;
    size_t i;
    TACIT_TRY(tacit_desk_applicants(&reply, &request, error));
    json_array_foreach(json_object_get(reply.document, "applicants"), i, each) {
        const char *id = "", *asked = "", *state = "";
        const char *message = json_string_value(json_object_get(each, "message"));
        json_unpack((json_t *)(uintptr_t)each, "{s:s,s:s,s:s}", "applicant", &id, "asked", &asked, "state",
                    &state);
        tacit_console_print(console, "%s  %s  %-8s  %s\n", id, asked, state, message != NULL ? message : "");
    }
    tacit_status status = tacit_console_document(console, json_incref(reply.document), error);
    tacit_desk_reply_clear(&reply);
    return status;
}

static tacit_status decide(const tacit_arguments *arguments, tacit_console *console, bool accept,
                           tacit_error *error) {
    const char *who = tacit_arguments_operand(arguments, "APPLICANT");
    json_t *document = NULL;
    TACIT_TRY(tacit_desk_decide(&document, tacit_arguments_operand(arguments, "DIR"),
                                tacit_arguments_operand(arguments, "STUDY"), who, accept, error));
    tacit_console_print(console, accept ? "%s may join within seven days.\n" : "%s was declined.\n", who);
    return tacit_console_document(console, document, error);
}

static tacit_status run_accept(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    return decide(arguments, console, true, error);
}

static tacit_status run_decline(const tacit_arguments *arguments, tacit_console *console,
                                tacit_error *error) {
    return decide(arguments, console, false, error);
}

const tacit_command tacit_command_study_applicants = {
    .name = "study applicants",
    .section = "Studies",
    .summary = "who asked to join a study",
    .description = "Of a study with enrolment: apply or open: a number for each, when they asked, what they "
                   "said, and what was decided. Nothing else is known about them.",
    .operands = folder_and_study,
    .examples =
        (const tacit_example[]){
            { "Who waits?", "tacit study applicants consortium sleep" },
            { .text = NULL },
        },
    .run = run_applicants,
};

const tacit_command tacit_command_study_accept = {
    .name = "study accept",
    .section = "Studies",
    .summary = "let somebody join who asked",
    .operands = folder_study_and_applicant,
    .examples =
        (const tacit_example[]){
            { "Take one of them.", "tacit study accept consortium sleep 0f3a5c6e9d1b2a47" },
            { .text = NULL },
        },
    .run = run_accept,
};

const tacit_command tacit_command_study_decline = {
    .name = "study decline",
    .section = "Studies",
    .summary = "decline somebody who asked to join",
    .operands = folder_study_and_applicant,
    .examples =
        (const tacit_example[]){
            { "Not this one.", "tacit study decline consortium sleep 0f3a5c6e9d1b2a47" },
            { .text = NULL },
        },
    .run = run_decline,
};

/* ---- the archive ---- */

static tacit_status add_instrument(json_t *list, const char *path, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_LIMITED(256 << 10);
    tacit_status status = tacit_file_read(path, &text, error);
    if (status == TACIT_OK)
        status =
            tacit_fail_in(error, tacit_desk_check_instrument(tacit_buffer_text(&text), error), "%s", path);
    if (status == TACIT_OK && json_array_append_new(list, json_string(tacit_buffer_text(&text))) != 0)
        status = tacit_fail_memory(error);
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status run_archive(const tacit_arguments *arguments, tacit_console *console,
                                tacit_error *error) {
    const char *out = tacit_arguments_text(arguments, "out");
    size_t count = 0;
    const char *const *files = tacit_arguments_words(arguments, "instrument", &count);
    json_t *document = NULL, *instruments = json_array();
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    const char *id = "";
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < count; i++) TACIT_CHECK(add_instrument(instruments, files[i], error));
    TACIT_CHECK(tacit_desk_archive(
        &document, tacit_arguments_operand(arguments, "DIR"), tacit_arguments_operand(arguments, "STUDY"),
        tacit_arguments_text(arguments, "evaluation"), instruments, &bytes, error));
    json_unpack(document, "{s:s}", "id", &id);
    if (out != NULL) TACIT_CHECK(tacit_console_write_file(console, out, &bytes, error));
    tacit_console_print(console, "Archived for good under the id %s\n", id);
    TACIT_CHECK(tacit_console_document(console, json_incref(document), error));
cleanup:
    json_decref(document);
    json_decref(instruments);
    tacit_buffer_clear(&bytes);
    return status;
}

const tacit_command tacit_command_study_archive = {
    .name = "study archive",
    .section = "Studies",
    .summary = "publish an ended study under a permanent id",
    .description = "One document with the definition, questionnaires, approval, table or model, card, "
                   "evaluation and the version of the program; no names of parties. Its id is its hash, so "
                   "that nobody can change it without notice. A coordinator with --catalogue shows it to "
                   "everybody, and it cannot be taken back from those who have it.",
    .operands = folder_and_study,
    .options =
        (const tacit_option[]){
            { .name = "evaluation",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "STUDY",
              .help = "a study of the same folder that has evaluated its model" },
            { .name = "instrument",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .rules = TACIT_RULE_REPEATED,
              .help = "a questionnaire that participants answered; may be given several times" },
            { .name = "out",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "also write it to this file" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Publish what was found, with the questionnaire.",
              "tacit study archive consortium sleep --instrument wellbeing.instrument.yaml --out "
              "sleep.archive.json" },
            { .text = NULL },
        },
    .run = run_archive,
};

/* ---- deriving ---- */

static bool cancelled(void *context) { return tacit_progress_cancelled(tacit_console_progress(context)); }

/* From a file, or by its id from a folder or a catalogue. */
static tacit_status get_archived(tacit_buffer *out, const tacit_arguments *arguments, tacit_console *console,
                                 tacit_error *error) {
    const char *what = tacit_arguments_operand(arguments, "ARCHIVED"),
               *from = tacit_arguments_text(arguments, "from");
    const tacit_site_callbacks callbacks = { .cancelled = cancelled, .context = console };
    tacit_registry *registry = NULL;
    char home[PATH_MAX];
    struct stat is;
    if (from == NULL) return tacit_file_read(what, out, error);
    TACIT_TRY(tacit_archive_check_id(what, error));
    if (stat(from, &is) == 0 && S_ISDIR(is.st_mode)) {
        TACIT_TRY(tacit_registry_open(&registry, from, false, error));
        tacit_status status = tacit_registry_archive_bytes(registry, what, out, error);
        tacit_registry_close(registry);
        return status;
    }
    TACIT_TRY(tacit_home_path(home, sizeof home, "", error));
    TACIT_TRY(tacit_folder_make(home, error));
    return tacit_enrol_archived(out, from, what, home, &callbacks, error);
}

static tacit_status run_derive(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *out = tacit_arguments_text(arguments, "out");
    const tacit_derivation how = { tacit_arguments_text(arguments, "name"),
                                   tacit_arguments_flag(arguments, "offer-earlier") };
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(TACIT_ARCHIVE_MOST), draft = TACIT_BUFFER_INIT;
    json_t *archived = NULL;
    char id[TACIT_ARCHIVE_ID_SIZE];
    tacit_status status;
    TACIT_CHECK(get_archived(&bytes, arguments, console, error));
    TACIT_CHECK(tacit_archive_read(&archived, id, bytes.bytes, bytes.length,
                                   tacit_arguments_operand(arguments, "ARCHIVED"), error));
    TACIT_CHECK(tacit_archive_derive(&draft, archived, id, &how, error));
    if (out != NULL)
        TACIT_CHECK(tacit_console_write_file(console, out, &draft, error));
    else
        tacit_console_print(console, "%s", tacit_buffer_text(&draft));
    TACIT_CHECK(tacit_console_document(console,
                                       json_pack("{s:s,s:s,s:s}", "study", how.name, "derived_from", id,
                                                 "definition", tacit_buffer_text(&draft)),
                                       error));
cleanup:
    json_decref(archived);
    tacit_buffer_clear(&bytes);
    tacit_buffer_clear(&draft);
    return status;
}

const tacit_command tacit_command_study_derive = {
    .name = "study derive",
    .section = "Studies",
    .summary = "draft the next study from an archived one",
    .description =
        "Writes a definition with all settings of the archived study, under another name, that cites it by "
        "its id. With --offer-earlier the coordinator of both offers the new study to those who took part in "
        "the first and said that they may be asked (tacit join --may-ask-again), and to nobody else.",
    .operands =
        (const tacit_operand[]){
            { "ARCHIVED", 1, 1, "a file of `tacit study archive`, or an id with --from" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "name",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "NAME",
              .rules = TACIT_RULE_REQUIRED,
              .help = "what the new study is called" },
            { .name = "from",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "DIR|ADDRESS",
              .help =
                  "where the id is looked up: a coordinator's folder, or the address of a public catalogue" },
            { .name = "offer-earlier",
              .kind = TACIT_OPTION_FLAG,
              .help = "offer it to earlier participants who said that they may be asked" },
            { .name = "out", .kind = TACIT_OPTION_FILE, .placeholder = "FILE", .help = "where to write it" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "The next study of the same kind.", "tacit study derive sleep.archive.json --name sleep-two "
                                                  "--offer-earlier --out sleep-two.study.yaml" },
            { .text = NULL },
        },
    .run = run_derive,
};
