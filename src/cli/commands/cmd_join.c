/* tacit join and tacit party: a site's side of a study. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/document/json_text.h"
#include "api/document/tables.h"
#include "api/option/arguments.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/invitation_file.h"
#include "cli/ledger_use.h"
#include "cli/process/hardening.h"
#include "cli/process/listen.h"
#include "cli/row_reading.h"
#include "cli/terms.h"
#include "model/one_sided.h"
#include "net/invitation.h"
#include "site/daemon.h"
#include "site/site.h"
#include "site/site_access.h"
#include "study/home.h"
#include "web/prometheus.h"

static void print_news(void *context, const char *line) { tacit_console_note(context, "%s", line); }

static bool cancelled(void *context) { return tacit_progress_cancelled(tacit_console_progress(context)); }

/* From the weights alone. A model that this program cannot read is kept all the same. */
static void warn_of_model(tacit_console *console, const tacit_buffer *text) {
    tacit_model *model = NULL;
    char remark[TACIT_REMARK_SIZE];
    if (tacit_model_parse(&model, text->bytes, text->length, "model", NULL) == TACIT_OK &&
        tacit_model_doubtful(model, remark))
        tacit_console_warn(console, "%s", remark);
    tacit_model_free(model);
}

/* Serve, then keep the model. */
static tacit_status take_part(const tacit_arguments *arguments, tacit_console *console, tacit_site *site,
                              tacit_error *error) {
    const char *out = tacit_arguments_text(arguments, "out"), *name = tacit_site_study(site)->name;
    char path[PATH_MAX];
    tacit_site_result result;
    tacit_status status;
    TACIT_TRY(tacit_site_serve(site, &result, error));
    if (strcmp(result.state, "done") != 0) {
        TACIT_CHECK(tacit_site_keep_end(site, result.state, error));
        TACIT_CHECK(tacit_fail(error, TACIT_IO, "study '%s' ended without a model: %s: %s", name,
                               result.state, result.reason));
    }
    if (out == NULL)
        TACIT_CHECK(tacit_path_join(path, sizeof path, tacit_site_folder(site), "model.json", error));
    else
        snprintf(path, sizeof path, "%s", out);
    TACIT_CHECK(tacit_file_write(path, result.model.bytes, result.model.length, 0644, error));
    TACIT_CHECK(tacit_site_keep_end(site, result.state, error));
    tacit_console_print(console, "Study '%s' is done. The model is in %s\n", name, path);
    warn_of_model(console, &result.model);
    TACIT_CHECK(tacit_console_document(
        console,
        json_pack("{s:s,s:s,s:o}", "study", name, "state", result.state, "model", tacit_json_text(path)),
        error));
cleanup:
    tacit_buffer_clear(&result.model);
    return status;
}

static unsigned retry_of(const tacit_arguments *arguments) {
    return (unsigned)(1000 * tacit_arguments_number(arguments, "retry"));
}

static void harden_joining(const tacit_arguments *arguments, tacit_console *console,
                           const tacit_site_settings *joining, const char *home) {
    tacit_harden_settings hardening = { .count = 0 };
    tacit_site_access_joining(&hardening, joining);
    tacit_harden_allow_around(&hardening, tacit_arguments_text(arguments, "out"), true);
    tacit_harden_program(console, &hardening, home);
}

static tacit_status join(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *data = tacit_arguments_text(arguments, "data"),
               *given = tacit_arguments_text(arguments, "source");
    char home[PATH_MAX], source[PATH_MAX];
    tacit_buffer invitation = TACIT_BUFFER_LIMITED(TACIT_INVITATION_TEXT_MAX);
    tacit_site *site = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_invitation_read(tacit_arguments_operand(arguments, "INVITE"), &invitation, error));
    TACIT_CHECK(tacit_home_path(home, sizeof home, "", error));
    TACIT_CHECK(tacit_source_id(source, sizeof source, given != NULL ? given : data, error));
    tacit_site_settings settings = tacit_joining_settings(arguments, home, data, source);
    settings.listen = tacit_arguments_text(arguments, "listen");
    settings.proxy = tacit_arguments_text(arguments, "proxy");
    TACIT_CHECK(tacit_folder_make(home, error));         /* it must be there to be confined to */
    harden_joining(arguments, console, &settings, home); /* before a byte comes from the coordinator */
    tacit_site_callbacks callbacks = { .cancelled = cancelled,
                                       .news = print_news,
                                       .context = console,
                                       .retry_ms = retry_of(arguments),
                                       .ranks = console->ranks };
    TACIT_CHECK(tacit_site_look(&site, tacit_buffer_text(&invitation), invitation.length, &settings,
                                &callbacks, error));
    TACIT_CHECK(tacit_terms_show(console, site, error));
    tacit_terms_compare(console, site);
    TACIT_CHECK(tacit_site_check(site, error));
    TACIT_CHECK(tacit_terms_ask(arguments, error));
    TACIT_CHECK(tacit_site_join(site, error));
    if (tacit_arguments_flag(arguments, "no-wait")) {
        tacit_console_print(console, "Joined study '%s'. Answer its questions with: tacit party\n",
                            tacit_site_study(site)->name);
        status = tacit_console_document(
            console, json_pack("{s:s,s:s}", "study", tacit_site_study(site)->name, "state", "joined"), error);
        goto cleanup;
    }
    tacit_console_note(console, "joined; waiting for questions (after a restart: tacit party %s)",
                       tacit_site_study(site)->name);
    console->serves = true;
    TACIT_CHECK(take_part(arguments, console, site, error));
cleanup:
    tacit_site_free(site);
    tacit_buffer_clear(&invitation);
    return status;
}

/* Rank 0 is the party, and others hold rows for it. */
static tacit_status run_join(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    if (tacit_ranks_own(console->ranks) > 0) return tacit_site_hold(console->ranks, error);
    TACIT_TRY(join(arguments, console, error));
    return tacit_site_dismiss(console->ranks, error);
}

const tacit_command tacit_command_join = {
    .name = "join",
    .section = "Taking part",
    .summary = "take part in a study with one's own rows",
    .description =
        "Shows what the study asks, who sees it and what it costs, asks for consent, joins, and "
        "answers questions "
        "until the study ends. The rows stay in this process; every answer passes the gate, which "
        "charges the ledger "
        "and refuses beyond its limit. Set a limit first: tacit ledger limit.\n\n"
        "Where rows exceed one machine, mpirun (Open MPI) starts several processes: each rank reads "
        "its part of the files (Parquet, folders of CSV) or keeps every n-th row, rank 0 is the party, and "
        "the "
        "others add up with it. Methods that need all "
        "rows in one place say so.\n\n"
        "The schema is the owner's own statement of what is public about the columns; it must say "
        "the same as the "
        "study's.",
    .operands =
        (const tacit_operand[]){
            { "INVITE", 1, 1, "a file that holds the invitation, or - for standard input" },
            { .name = NULL },
        },
    .options = tacit_join_options,
    .examples =
        (const tacit_example[]){
            { "Join with the clinic's table.",
              "tacit join invitation.txt --data patients.csv --schema patients.schema.yaml" },
            { "The same on four ranks that share the rows; after a restart: mpirun -n 4 tacit party STUDY.",
              "mpirun -n 4 tacit join invitation.txt --data patients.csv --schema patients.schema.yaml "
              "--yes" },
            { .text = NULL },
        },
    .takes_ranks = true,
    .run = run_join,
};

static tacit_status serve_one(const tacit_arguments *arguments, tacit_console *console, const char *home,
                              const char *study, tacit_error *error) {
    tacit_site *site = NULL;
    tacit_site_callbacks callbacks = { .cancelled = cancelled,
                                       .news = print_news,
                                       .context = console,
                                       .retry_ms = retry_of(arguments),
                                       .ranks = console->ranks };
    tacit_status status;
    TACIT_CHECK(tacit_site_open(&site, home, study, &callbacks, error));
    TACIT_CHECK(take_part(arguments, console, site, error));
cleanup:
    tacit_site_free(site);
    return status;
}

static tacit_status serve(const tacit_arguments *arguments, tacit_console *console, const char *home,
                          tacit_error *error) {
    const char *study = tacit_arguments_operand(arguments, "STUDY");
    if (study != NULL) return serve_one(arguments, console, home, study, error);
    if (tacit_arguments_text(arguments, "out") != NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "--out is for one study: name it, or find the models in the studies' folders");
    tacit_daemon_settings settings = { .home = home,
                                       .until_done = tacit_arguments_flag(arguments, "until-done"),
                                       .callbacks = { .cancelled = cancelled,
                                                      .news = print_news,
                                                      .context = console,
                                                      .retry_ms = retry_of(arguments) } };
    return tacit_daemon_run(&settings, error);
}

static tacit_status be_party(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    struct tacit_metrics_server *metrics = NULL;
    char home[PATH_MAX];
    tacit_use_log(arguments, "party", console);
    TACIT_TRY(tacit_home_path(home, sizeof home, "", error));
    TACIT_TRY(tacit_folder_make(home, error)); /* it must be there to be confined to */
    tacit_harden_settings hardening = { .count = 0 };
    tacit_site_access_home(&hardening, home, tacit_arguments_operand(arguments, "STUDY"));
    tacit_harden_allow_around(&hardening, tacit_arguments_text(arguments, "out"), true);
    tacit_harden_program(console, &hardening, home);
    TACIT_TRY(tacit_serve_metrics(&metrics, arguments, home, console, error));
    tacit_notify_ready(NULL); /* a party dials out, and goes on trying */
    tacit_status status = serve(arguments, console, home, error);
    tacit_metrics_stop(metrics);
    return status;
}

static tacit_status run_party(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    if (tacit_ranks_count(console->ranks) > 1 && tacit_arguments_operand(arguments, "STUDY") == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "ranks share the rows of one study: name it, or start tacit party without mpirun");
    if (tacit_ranks_own(console->ranks) > 0) return tacit_site_hold(console->ranks, error);
    TACIT_TRY(be_party(arguments, console, error));
    return tacit_arguments_operand(arguments, "STUDY") != NULL ? tacit_site_dismiss(console->ranks, error)
                                                               : TACIT_OK;
}

const tacit_command tacit_command_party = {
    .name = "party",
    .section = "Taking part",
    .summary = "answer for the studies that were joined before",
    .description =
        "Without STUDY, serves every joined study of this home at once, until interrupted, and takes up "
        "those that are joined meanwhile; all charge the one ledger of the home. A study that was refused "
        "rests until its owner consents, sets a rule or a limit. With STUDY, serves that one until it "
        "ends.\n\n"
        "After a restart or an interruption an answer already given is sent again as it was, without a "
        "second charge. Rows are read again when a study begins, and then stay as they are.",
    .operands =
        (const tacit_operand[]){
            { "STUDY", 0, 1, "one study, by its name as `tacit join` showed it; all of them by default" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            TACIT_OPTION_RETRY,
            TACIT_OPTION_MODEL,
            TACIT_OPTIONS_LOG,
            TACIT_OPTION_METRICS,
            { .name = "until-done",
              .kind = TACIT_OPTION_FLAG,
              .help = "end when every joined study has ended" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "The machine was restarted.", "tacit party breast-cancer" },
            { "Serve all studies of this home.", "tacit party" },
            { .text = NULL },
        },
    .takes_ranks = true,
    .run = run_party,
};
