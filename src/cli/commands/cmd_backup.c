/* tacit backup and tacit restore: a coordinator's folder as one file. */
#include "api/option/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "study/backup.h"
#include "study/study.h"

static tacit_status show(tacit_console *console, const char *what, const char *path,
                         const tacit_backup_about *about, tacit_error *error) {
    char taken[TACIT_TIME_TEXT];
    tacit_study_time_text(taken, about->taken);
    tacit_console_print(
        console, "%s %s: coordinator %s, %zu %s, %llu rounds under way, taken %s, authority %.16s...\n", what,
        path, about->coordinator, about->studies, about->studies == 1 ? "study" : "studies",
        (unsigned long long)about->rounds, taken, about->authority);
    return tacit_console_document(console,
                                  json_pack("{s:o,s:o,s:s,s:I,s:I,s:s,s:s}", "file", tacit_json_text(path),
                                            "coordinator", tacit_json_text(about->coordinator), "study",
                                            about->study, "studies", (json_int_t)about->studies, "rounds",
                                            (json_int_t)about->rounds, "taken", taken, "authority",
                                            about->authority),
                                  error);
}

static tacit_status run_backup(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    tacit_backup_about about;
    const char *out = tacit_arguments_text(arguments, "out");
    TACIT_TRY(tacit_backup_write(tacit_arguments_operand(arguments, "DIR"),
                                 tacit_arguments_operand(arguments, "STUDY"), out, &about, error));
    tacit_console_note(console, "keep it as secret as the folder, and remove it when its studies have ended");
    return show(console, "Backed up to", out, &about, error);
}

static tacit_status run_restore(const tacit_arguments *arguments, tacit_console *console,
                                tacit_error *error) {
    tacit_backup_about about;
    const char *file = tacit_arguments_operand(arguments, "FILE"),
               *folder = tacit_arguments_operand(arguments, "DIR");
    TACIT_TRY(
        tacit_backup_restore(file, folder, tacit_arguments_text(arguments, "authority"), &about, error));
    if (folder != NULL)
        tacit_console_note(console,
                           "make sure that the coordinator it was taken of is stopped for good, then: tacit "
                           "coordinator %s, with the --listen and --url of before",
                           folder);
    return show(console, folder != NULL ? "Restored" : "Whole:", file, &about, error);
}

const tacit_command tacit_command_backup = {
    .name = "backup",
    .section = "Operation",
    .summary = "write a coordinator's folder, or one study of it, to a file",
    .description = "Also while the coordinator serves: the file holds one consistent moment. It has the "
                   "authority with its key, definitions, invitations, parties, journals and secrets; so it "
                   "is as secret as the folder, and while it exists the end of a study does not erase the "
                   "study's secret. It is signed by the authority.",
    .operands =
        (const tacit_operand[]){
            { "DIR", 1, 1, "the coordinator's folder" },
            { "STUDY", 0, 1, "one study; all of them by default" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "out",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .rules = TACIT_RULE_REQUIRED,
              .help = "where to write it" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Every night.", "tacit backup consortium --out /mnt/safe/consortium.backup" },
            { .text = NULL },
        },
    .run = run_backup,
};

const tacit_command tacit_command_restore = {
    .name = "restore",
    .section = "Operation",
    .summary = "make a coordinator's folder of a backup, or check one",
    .description = "Checks signature and every byte first, and overwrites nothing. Studies go on from the "
                   "last round that the backup has: parties that have answered later rounds send the stored "
                   "answers again, without a second charge, and refuse a question that is not the one they "
                   "answered. Without DIR the backup is only checked.",
    .operands =
        (const tacit_operand[]){
            { "FILE", 1, 1, "the backup" },
            { "DIR", 0, 1, "the folder to make" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "authority",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "certificate of the coordinator (ca.crt) whose backup it must be" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "On a new machine.", "tacit restore consortium.backup consortium" },
            { "Is last night's backup good?", "tacit restore consortium.backup" },
            { .text = NULL },
        },
    .run = run_restore,
};
