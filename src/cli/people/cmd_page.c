/* tacit page: a party's own page in the browser. */
#include <limits.h>

#include "api/option/arguments.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/hardening.h"
#include "cli/process/listen.h"
#include "site/page.h"
#include "site/site_access.h"
#include "study/home.h"
#include "web/prometheus.h"

static void print_news(void *context, const char *line) { tacit_console_note(context, "%s", line); }

static bool cancelled(void *context) { return tacit_progress_cancelled(tacit_console_progress(context)); }

static tacit_status run_page(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    char home[PATH_MAX];
    struct tacit_metrics_server *metrics = NULL;
    tacit_page_settings settings = { .home = home,
                                     .port = (uint16_t)tacit_arguments_integer(arguments, "port"),
                                     .cancelled = cancelled,
                                     .news = print_news,
                                     .context = console };
    TACIT_TRY(tacit_home_path(home, sizeof home, "", error));
    TACIT_TRY(tacit_folder_make(home, error)); /* it must be there to be confined to */
    tacit_harden_settings hardening = { .count = 0 };
    tacit_site_access_home(&hardening, home, NULL); /* consent to an amended study reads its rows */
    hardening.runs_programs = false;                /* they are started by `tacit party` only */
    tacit_harden_program(console, &hardening, home);
    TACIT_TRY(tacit_serve_metrics(&metrics, arguments, home, console, error));
    console->serves = true;
    tacit_status status = tacit_page_run(&settings, error);
    tacit_metrics_stop(metrics);
    TACIT_TRY(status);
    return tacit_console_document(console, json_pack("{s:s}", "state", "stopped"), error);
}

const tacit_command tacit_command_page = {
    .name = "page",
    .section = "Taking part",
    .summary = "one's studies, ledger and consent in the browser",
    .description = "Serves a page on 127.0.0.1, for this machine only: what each joined study asks, what has "
                   "left and when, what is left of the budget, and buttons to withdraw and to consent again. "
                   "It prints a link that logs in once, and at the first start a credential for later. "
                   "`tacit party` may run meanwhile; stopping the page stops nothing else.",
    .options =
        (const tacit_option[]){
            { .name = "port",
              .kind = TACIT_OPTION_INTEGER,
              .placeholder = "PORT",
              .fallback = "0",
              .help = "where on 127.0.0.1; 0: any free one",
              .rules = TACIT_RULE_RANGE,
              .least = 0,
              .most = 65535 },
            TACIT_OPTION_METRICS,
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Look at what has left.", "tacit page --port 8091" },
            { .text = NULL },
        },
    .run = run_page,
};
