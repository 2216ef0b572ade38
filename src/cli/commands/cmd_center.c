/* tacit center: one of the two center servers of a study whose sums nobody sees. */
#include <string.h>

#include "api/option/arguments.h"
#include "api/option/listen_address.h"
#include "base/file.h"
#include "center/center.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/hardening.h"
#include "cli/process/listen.h"

static void print_news(void *context, const char *line) { tacit_console_note(context, "%s", line); }

static bool cancelled(void *context) { return tacit_progress_cancelled(tacit_console_progress(context)); }

static tacit_status run_b(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    char address[64];
    tacit_center_settings settings = {
        .folder = tacit_arguments_operand(arguments, "DIR"),
        .address = address,
        .host = tacit_arguments_text(arguments, "host"),
        .coordinator = tacit_arguments_text(arguments, "coordinator"),
        .metrics = tacit_arguments_given(arguments, "metrics"),
        .bits = strcmp(tacit_arguments_text(arguments, "bits"), "3072") == 0 ? 3072 : 2048,
        .ready = tacit_notify_ready,
        .cancelled = cancelled,
        .news = print_news,
        .context = console,
    };
    const char *bits = tacit_arguments_text(arguments, "bits");
    tacit_use_log(arguments, "center", console);
    if (strcmp(bits, "2048") != 0 && strcmp(bits, "3072") != 0)
        return tacit_fail(error, TACIT_USAGE, "--bits takes 2048 or 3072, not '%s'", bits);
    if (settings.metrics) settings.metrics_port = (uint16_t)tacit_arguments_integer(arguments, "metrics");
    TACIT_TRY(tacit_parse_listen(tacit_arguments_text(arguments, "listen"), address, sizeof address,
                                 &settings.port, error));
    TACIT_TRY(tacit_folder_make(settings.folder, error)); /* it must be there to be confined to */
    tacit_harden_settings hardening = { .count = 0 };
    tacit_harden_allow(&hardening, settings.folder, true);
    tacit_harden_allow_around(&hardening, settings.coordinator, false);
    tacit_harden_program(console, &hardening, NULL);
    TACIT_TRY(tacit_center_run(&settings, error));
    return tacit_console_document(console, json_pack("{s:s}", "state", "stopped"), error);
}

static tacit_status run_center(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *role = tacit_arguments_text(arguments, "role");
    if (role != NULL && strcmp(role, "b") == 0) return run_b(arguments, console, error);
    if (role == NULL || strcmp(role, "a") != 0)
        return tacit_fail(error, TACIT_USAGE, "--role takes a or b%s%s", role != NULL ? ", not " : "",
                          role != NULL ? role : "");
    if (tacit_arguments_text(arguments, "coordinator") != NULL)
        return tacit_fail(error, TACIT_USAGE, "--coordinator is for --role b: server A is the coordinator");
    return tacit_serve_coordinator(arguments, NULL, NULL, NULL, console, error);
}

const tacit_command tacit_command_center = {
    .name = "center",
    .section = "Studies",
    .summary = "be one of the two center servers of a study",
    .description =
        "For methods {two-servers and}. Server A is the coordinator: `--role a` serves its folder as `tacit "
        "coordinator` does. Server B, run by somebody else on another machine, holds the key under which "
        "nodes encrypt. On its first start it makes the key, its own certificate authority and center.card, "
        "which the study's definition names (center: FILE). B serves the one coordinator whose authority it "
        "was given. Neither server alone can read what a node sends; they must not share what they see.",
    .operands =
        (const tacit_operand[]){
            { "DIR", 1, 1, "the server's folder" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "role", .kind = TACIT_OPTION_TEXT, .placeholder = "a|b", .help = "which of the two" },
            { .name = "listen",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "ADDRESS[:PORT]",
              .fallback = "127.0.0.1",
              .help =
                  "where to listen; without a port, that of the last run, and the first time any free one" },
            { .name = "host",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "NAME",
              .help = "b: the name or address by which server A reaches this one" },
            { .name = "coordinator",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "FILE",
              .help = "b: certificate of the coordinator's authority (ca.crt of its folder); needed once" },
            { .name = "bits",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "BITS",
              .fallback = "2048",
              .help = "b: of a new key; 2048 gives about 112 bits of security, 3072 gives 128" },
            { .name = "url",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "URL",
              .help = "a: how parties reach this server" },
            { .name = "dashboard",
              .kind = TACIT_OPTION_INTEGER,
              .placeholder = "PORT",
              .help = "a: also serve a page for people on 127.0.0.1 at this port (0: any free one)",
              .rules = TACIT_RULE_RANGE,
              .least = 0,
              .most = 65535 },
            TACIT_OPTION_CERTIFICATE_DAYS,
            TACIT_OPTIONS_LOG,
            TACIT_OPTION_METRICS,
            { .name = "until-done",
              .kind = TACIT_OPTION_FLAG,
              .help = "a: end when no study recruits or runs any more" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Be server B for the consortium.", "tacit center --role b server-b --coordinator ca.crt "
                                                 "--listen 0.0.0.0:9443 --host b.example.org" },
            { .text = NULL },
        },
    .run = run_center,
};
