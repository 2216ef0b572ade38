/* tacit doctor: examine a folder. */
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "api/option/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "site/doctor.h"
#include "study/home.h"

typedef struct report {
    tacit_console *console;
    json_t *findings;
    size_t counts[3];
} report;

static void show(void *context, const tacit_finding *finding) {
    report *self = context;
    char level[8];
    const char *name = tacit_finding_level_name(finding->level);
    size_t i = 0;
    for (; name[i] != 0 && i + 1 < sizeof level; i++) level[i] = (char)toupper((unsigned char)name[i]);
    level[i] = 0;
    tacit_console_print(self->console, "%-4s  %s: %s%s%s\n", level, finding->check, finding->text,
                        finding->remedy[0] != 0 ? "; remedy: " : "", finding->remedy);
    self->counts[finding->level]++;
    self->findings = tacit_json_append(self->findings, json_pack("{s:s,s:o,s:o,s:o}", "level", name, "check",
                                                                 tacit_json_text(finding->check), "text",
                                                                 tacit_json_text(finding->text), "remedy",
                                                                 tacit_json_text(finding->remedy)));
}

/* A user who has done nothing yet is a party without a ledger. */
static void show_new_home(report *all, const char **kind) {
    *kind = "party";
    show(all, &(tacit_finding){ TACIT_FINDING_WARN, "ledger", "there is none yet, so that nothing may leave",
                                "tacit ledger limit begins one" });
}

static tacit_status run(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *folder = tacit_arguments_operand(arguments, "DIR"), *kind = NULL;
    char home[PATH_MAX];
    report all = { .console = console, .findings = json_array() };
    if (folder == NULL) {
        TACIT_TRY(tacit_home_path(home, sizeof home, "", error));
        folder = home;
    }
    tacit_error why = TACIT_ERROR_INIT;
    tacit_status status = tacit_doctor(folder, &kind, show, &all, &why);
    if (status == TACIT_NOT_FOUND && folder == home) {
        show_new_home(&all, &kind);
    } else if (status != TACIT_OK) {
        json_decref(all.findings);
        return tacit_fail(error, status, "%s", why.text);
    }
    tacit_console_print(console, "%zu well, %zu to look at, %zu failed\n", all.counts[TACIT_FINDING_OK],
                        all.counts[TACIT_FINDING_WARN], all.counts[TACIT_FINDING_FAIL]);
    TACIT_TRY(tacit_console_document(console,
                                     json_pack("{s:o,s:s,s:I,s:I,s:I,s:o}", "folder", tacit_json_text(folder),
                                               "kind", kind, "ok", (json_int_t)all.counts[TACIT_FINDING_OK],
                                               "warn", (json_int_t)all.counts[TACIT_FINDING_WARN], "fail",
                                               (json_int_t)all.counts[TACIT_FINDING_FAIL], "findings",
                                               all.findings),
                                     error));
    if (all.counts[TACIT_FINDING_FAIL] == 0) return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT, "%zu checks of %s failed; each line above tells its remedy",
                      all.counts[TACIT_FINDING_FAIL], folder);
}

const tacit_command tacit_command_doctor = {
    .name = "doctor",
    .section = "Operation",
    .summary = "examine a coordinator's, party's or center server's folder",
    .description =
        "Checks who can read the keys, when certificates end, whether the ledger or registry is whole, "
        "whether rows and schema can be read, disk space and open files, and, for a party, whether each "
        "study's coordinator is reached: its name, its port, its certificate, its clock. Each line says OK, "
        "WARN or FAIL, and the remedy. Changes nothing. Ends with 1 when a check failed.",
    .operands =
        (const tacit_operand[]){
            { "DIR", 0, 1, "the folder; this user's home (TACIT_HOME) by default" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Why does the hospital not answer?", "tacit doctor" },
            { "Look after a coordinator, from cron.", "tacit doctor consortium --json" },
            { .text = NULL },
        },
    .run = run,
};
