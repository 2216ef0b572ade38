/* tacit coordinator: serve the studies of a folder. */
#include <malloc.h>

#include "api/option/arguments.h"
#include "api/option/listen_address.h"
#include "api/study/desk.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/hardening.h"
#include "cli/process/listen.h"
#include "coordinator/coordinator.h"
#include "net/server.h"

enum { WANTED_FILES = 20000, OTHER_FILES = 200, MAPPED = 256 << 10, ARENAS = 2 };

/* Buffers of megabytes come and go between thousands of small ones that stay. By default glibc stops mapping
 * the large ones once the first is freed, and each thread has a heap of its own: the holes stay. */
static void keep_memory_whole(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, MAPPED);
    mallopt(M_ARENA_MAX, ARENAS);
#endif
}

static void print_news(void *context, tacit_log_level level, const char *line) {
    tacit_console_log(context, level, line);
}

static bool cancelled(void *context) { return tacit_progress_cancelled(tacit_console_progress(context)); }

tacit_status tacit_serve_coordinator(const tacit_arguments *arguments, const char *target, const char *test,
                                     const char *catalogue, tacit_console *console, tacit_error *error) {
    char address[64], public[64] = "127.0.0.1";
    tacit_coordinator_settings settings = {
        .folder = tacit_arguments_operand(arguments, "DIR"),
        .address = address,
        .url = tacit_arguments_text(arguments, "url"),
        .target = target,
        .test = test,
        .dashboard = tacit_arguments_given(arguments, "dashboard"),
        .routes = tacit_desk_routes,
        .route_count = TACIT_DESK_ROUTES,
        .archive = tacit_desk_archive_ended,
        .until_done = tacit_arguments_flag(arguments, "until-done"),
        .ready = tacit_notify_ready,
        .cancelled = cancelled,
        .news = print_news,
        .context = console,
    };
    tacit_use_log(arguments, "coordinator", console);
    settings.log_format = console->logs != NULL ? TACIT_LOG_JSON : TACIT_LOG_TEXT;
    settings.log_level = console->log_level;
    settings.metrics = tacit_arguments_given(arguments, "metrics");
    if (settings.metrics) settings.metrics_port = (uint16_t)tacit_arguments_integer(arguments, "metrics");
    settings.certificate_life = (int64_t)(tacit_arguments_number(arguments, "certificate-days") * 86400);
    if (settings.dashboard)
        settings.dashboard_port = (uint16_t)tacit_arguments_integer(arguments, "dashboard");
    TACIT_TRY(tacit_parse_listen(tacit_arguments_text(arguments, "listen"), address, sizeof address,
                                 &settings.port, error));
    settings.catalogue = catalogue != NULL;
    settings.catalogue_address = public;
    if (catalogue != NULL)
        TACIT_TRY(tacit_parse_listen(catalogue, public, sizeof public, &settings.catalogue_port, error));
    keep_memory_whole();
    /* Every waiting party holds a connection, and those that want to join need one more. */
    unsigned long files = tacit_file_limit_raise(WANTED_FILES);
    if (files > 2 * OTHER_FILES)
        settings.connections = (unsigned)(files > WANTED_FILES ? WANTED_FILES : files) - OTHER_FILES;
    tacit_harden_settings hardening = { .count = 0 };
    tacit_harden_allow(&hardening, settings.folder, true);
    tacit_source_allow(&hardening, target);
    tacit_source_allow(&hardening, test);
    tacit_harden_program(console, &hardening, settings.folder);
    TACIT_TRY(tacit_coordinator_run(&settings, error));
    return tacit_console_document(console, json_pack("{s:s}", "state", "stopped"), error);
}

static tacit_status run(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    return tacit_serve_coordinator(arguments, tacit_arguments_text(arguments, "target"),
                                   tacit_arguments_text(arguments, "test"),
                                   tacit_arguments_text(arguments, "catalogue"), console, error);
}

const tacit_command tacit_command_coordinator = {
    .name = "coordinator",
    .section = "Studies",
    .summary = "serve the studies of a folder to their parties",
    .description = "Listens for parties over mutual TLS, asks the questions of each study's method, and "
                   "writes the models to the folder. Stop it and start it again at any time: studies go on "
                   "where they were. Only loopback is served unless --listen says otherwise.",
    .operands =
        (const tacit_operand[]){
            { "DIR", 1, 1, "the coordinator's folder, made by `tacit study new`" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "listen",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "ADDRESS[:PORT]",
              .fallback = "127.0.0.1",
              .help =
                  "where to listen; without a port, that of the last run, and the first time any free one" },
            { .name = "url",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "URL",
              .help = "how parties reach this server, e.g. https://study.example.org:8443; its host goes "
                      "into the server's certificate" },
            { .name = "target",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "rows of the coordinator's own, for studies that transfer from sources to a target; "
                      "they stay here" },
            { .name = "catalogue",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "ADDRESS[:PORT]",
              .help =
                  "also serve the public catalogue there, which anybody may read: studies that take whoever "
                  "asks, and the archive; its address, with the fingerprint that people need, is printed" },
            { .name = "dashboard",
              .kind = TACIT_OPTION_INTEGER,
              .placeholder = "PORT",
              .help = "also serve a page for people on 127.0.0.1 at this port (0: any free one), and print a "
                      "link that logs in once",
              .rules = TACIT_RULE_RANGE,
              .least = 0,
              .most = 65535 },
            TACIT_OPTION_CERTIFICATE_DAYS,
            { .name = "test",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "labelled rows, public or the coordinator's own, on which the dashboard draws the ROC "
                      "curve of finished models; they stay here" },
            TACIT_OPTIONS_LOG,
            TACIT_OPTION_METRICS,
            { .name = "until-done",
              .kind = TACIT_OPTION_FLAG,
              .help = "end when no study recruits or runs any more" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Serve on the hospital network.",
              "tacit coordinator consortium --listen 0.0.0.0:8443 --url https://study.example.org:8443" },
            { "Watch the studies in a browser on this machine.",
              "tacit coordinator consortium --dashboard 8090" },
            { .text = NULL },
        },
    .run = run,
};
