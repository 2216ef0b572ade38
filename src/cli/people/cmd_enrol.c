/* tacit enrol: ask to join a study that takes strangers, or that is offered to an earlier participant. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/document/json_text.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/hardening.h"
#include "site/enrol/enrol.h"
#include "study/home.h"

static bool cancelled(void *context) { return tacit_progress_cancelled(tacit_console_progress(context)); }

static void print_news(void *context, const char *line) { tacit_console_note(context, "%s", line); }

static tacit_status keep(void *context, const tacit_buffer *invitation, tacit_error *error) {
    return tacit_file_write(context, invitation->bytes, invitation->length, 0600, error);
}

static const char *meaning(const char *state) {
    return strcmp(state, "accepted") == 0 ? "read what it asks with tacit look, and join with tacit join"
           : strcmp(state, "waiting") == 0
               ? "its researchers decide; give the same command again to see whether they have"
               : "its researchers do not take you";
}

static void harden(tacit_console *console, const char *home, const char *path) {
    tacit_harden_settings hardening = { .count = 0 };
    tacit_harden_allow(&hardening, home, true);
    tacit_harden_allow_around(&hardening, path, true);
    tacit_harden_program(console, &hardening, home);
}

static tacit_status run_enrol(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *first = tacit_arguments_operand(arguments, "ADDRESS"),
               *second = tacit_arguments_operand(arguments, "STUDY"),
               *out = tacit_arguments_text(arguments, "out");
    const char *study = second != NULL ? second : first;
    char home[PATH_MAX], path[PATH_MAX], state[TACIT_ENROL_STATE_SIZE];
    tacit_buffer invitation = TACIT_BUFFER_LIMITED(TACIT_INVITATION_TEXT_MAX);
    const tacit_site_callbacks callbacks = { .cancelled = cancelled, .news = print_news, .context = console };
    tacit_status status;
    if (strchr(study, '/') != NULL)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "name the study after the catalogue's address"));
    TACIT_CHECK(tacit_home_path(home, sizeof home, "", error));
    TACIT_CHECK(tacit_folder_make(home, error));
    if (snprintf(path, sizeof path, "%s%s", out != NULL ? out : study, out != NULL ? "" : ".invitation") >=
        PATH_MAX)
        TACIT_CHECK(tacit_fail(error, TACIT_LIMIT, "path too long: %s", out));
    harden(console, home, path); /* before a byte comes from anybody */
    if (access(path, F_OK) == 0) TACIT_CHECK(tacit_file_read(path, &invitation, error));
    const tacit_enrol_request request = { second != NULL ? first : NULL, study,
                                          tacit_arguments_text(arguments, "message"), home };
    TACIT_CHECK(tacit_enrol_ask(&request, &callbacks, keep, path, &invitation, state, error));
    tacit_console_print(console, "Study '%s': %s; %s.\nThe invitation is in %s: keep it to yourself.\n",
                        study, state, meaning(state), path);
    TACIT_CHECK(tacit_console_document(
        console,
        json_pack("{s:s,s:s,s:o}", "study", study, "state", state, "invitation", tacit_json_text(path)),
        error));
cleanup:
    tacit_buffer_clear(&invitation);
    return status;
}

const tacit_command tacit_command_enrol = {
    .name = "enrol",
    .section = "Taking part",
    .summary = "ask to join a study that takes whoever asks",
    .description = "Reads the public catalogue at ADDRESS, which names its coordinator by fingerprint, and "
                   "asks to join the study. An invitation is made on this machine and kept in a file; the "
                   "coordinator is told its hash and nothing about you or your rows. A study with enrolment: "
                   "open accepts at once, one with enrolment: apply when its researchers do: give the same "
                   "command again to see. With a study's name alone, of one that is offered to you because "
                   "you took part in the study that it is derived from and said that you may be asked.",
    .operands =
        (const tacit_operand[]){
            { "ADDRESS", 1, 1, "of the catalogue, in quotes; or the name of a study that is offered to you" },
            { "STUDY", 0, 1, "the study's name in that catalogue" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "message",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "TEXT",
              .help = "a line to the researchers who decide; it is the only thing that they hear from you" },
            { .name = "out",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "where the invitation is kept; STUDY.invitation by default" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Ask, and join.",
              "tacit enrol 'https://study.example.org:8444/#3f...c1' sleep && tacit join sleep.invitation "
              "--data store:$HOME/.tacit/personal.store?mood --schema sleep.schema.yaml" },
            { .text = NULL },
        },
    .run = run_enrol,
};
