/* tacit export-audit: an archive of a study or a ledger, and its check. */
#include <limits.h>
#include <unistd.h>

#include "api/option/arguments.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "study/archive/audit_export.h"
#include "study/home.h"

static tacit_status verify(const char *file, const char *authority, tacit_console *console,
                           tacit_error *error) {
    tacit_audit_verdict verdict;
    bool study;
    TACIT_TRY(tacit_audit_verify(file, authority, &verdict, error));
    study = verdict.authority[0] != 0;
    tacit_console_print(console, "%s: %zu lines, all sound, %s%s; %s %s\n", file, verdict.lines,
                        study ? "of study " : "of a ledger", verdict.name,
                        study ? "signed by authority" : "head", study ? verdict.authority : verdict.head);
    return tacit_console_document(console,
                                  json_pack("{s:o,s:s,s:s,s:I,s:s,s:s}", "file", tacit_json_text(file),
                                            "kind", verdict.kind, "study", verdict.name, "lines",
                                            (json_int_t)verdict.lines, "authority", verdict.authority, "head",
                                            verdict.head),
                                  error);
}

static tacit_status write_archive(const char *folder, const char *study, const char *out,
                                  tacit_console *console, tacit_error *error) {
    char path[PATH_MAX];
    tacit_buffer archive = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_path_join(path, sizeof path, folder, "coordinator.db", error));
    bool coordinator = access(path, F_OK) == 0;
    if (coordinator && study == NULL)
        TACIT_CHECK(
            tacit_fail(error, TACIT_USAGE, "%s is a coordinator's folder: name the study too", folder));
    if (!coordinator && study != NULL)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "%s is no coordinator's folder; a party's archive is of its whole ledger",
                               folder));
    TACIT_CHECK(coordinator ? tacit_audit_study(folder, study, &archive, error)
                            : tacit_audit_home(folder, &archive, error));
    TACIT_CHECK(tacit_file_write(out, archive.bytes, archive.length, 0600, error));
    TACIT_CHECK(verify(out, NULL, console, error));
cleanup:
    tacit_buffer_clear(&archive);
    return status;
}

static tacit_status run(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *folder = tacit_arguments_operand(arguments, "DIR"),
               *study = tacit_arguments_operand(arguments, "STUDY"),
               *out = tacit_arguments_text(arguments, "out"),
               *file = tacit_arguments_text(arguments, "verify");
    char home[PATH_MAX];
    if ((file != NULL) == (out != NULL))
        return tacit_fail(error, TACIT_USAGE,
                          "give either --out FILE, to write an archive, or --verify FILE");
    if (file != NULL && folder != NULL)
        return tacit_fail(error, TACIT_USAGE, "--verify needs nothing but the archive: leave '%s' out",
                          folder);
    if (file != NULL) return verify(file, tacit_arguments_text(arguments, "authority"), console, error);
    if (folder == NULL) {
        TACIT_TRY(tacit_home_path(home, sizeof home, "", error));
        folder = home;
    }
    return write_archive(folder, study, out, console, error);
}

const tacit_command tacit_command_export_audit = {
    .name = "export-audit",
    .section = "Operation",
    .summary = "write an archive of what happened, or check one",
    .usage = (const char *const[]){ "[DIR [STUDY]] --out FILE", "--verify FILE [--authority FILE]", NULL },
    .description =
        "Of a study, from its coordinator's folder: every version of its definition with signature and "
        "price, who consented to which, rounds and who answered, models, revocations; parties by their "
        "random names; signed by the coordinator's authority. Of a party, from its home: its ledger, with "
        "the ledger's own chain of hashes. JSON lines, each chained to the one before: --verify needs "
        "nothing but the file, and finds any byte that was changed and any line that was removed.",
    .operands =
        (const tacit_operand[]){
            { "DIR", 0, 1, "a coordinator's folder, or a party's; this user's home (TACIT_HOME) by default" },
            { "STUDY", 0, 1, "the study, for a coordinator's folder" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "out", .kind = TACIT_OPTION_FILE, .placeholder = "FILE", .help = "where to write it" },
            { .name = "verify",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "check this archive instead" },
            { .name = "authority",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "certificate of the coordinator (ca.crt) that must have signed it" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "For the ethics board, when the study has ended.",
              "tacit export-audit consortium breast-cancer --out breast-cancer.audit" },
            { "For the hospital's own files.", "tacit export-audit --out ledger.audit" },
            { "Is it what was written then?", "tacit export-audit --verify breast-cancer.audit" },
            { .text = NULL },
        },
    .run = run,
};
