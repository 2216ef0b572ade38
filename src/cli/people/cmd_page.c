/* tacit page: a party's own page in the browser. */
#include <limits.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/document/tables.h"
#include "api/option/arguments.h"
#include "base/file.h"
#include "base/secret.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/hardening.h"
#include "cli/process/listen.h"
#include "cli/terms.h"
#include "person/personal.h"
#include "site/page.h"
#include "site/site_access.h"
#include "study/home.h"
#include "web/prometheus.h"

/* While the store is open, its passphrase is in a file that is in the memory of this process only, and that
 * the environment names: rows of the store are read by the same code as for `tacit party`. Not where the
 * owner has named a file. */
enum { SECRET_BYTES = TACIT_PASSPHRASE_MOST + 2 };

typedef struct page_program {
    tacit_console *console;
    char *secret; /* NULL: the owner has named a file */
} page_program;

static tacit_status make_secret(page_program *self, tacit_error *error) {
    const char *named = getenv(TACIT_PASSPHRASE_VARIABLE);
    char path[64];
    if (named != NULL && named[0] != 0) return TACIT_OK;
    int file = memfd_create("passphrase", MFD_CLOEXEC);
    if (file < 0 || fchmod(file, 0600) != 0 || ftruncate(file, SECRET_BYTES) != 0)
        return tacit_fail_errno(error, "making", "a file in memory");
    void *mapped = mmap(NULL, SECRET_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) return tacit_fail_errno(error, "mapping", "a file in memory");
    tacit_secret_lock(mapped, SECRET_BYTES);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file); /* open as long as the program runs */
    if (setenv(TACIT_PASSPHRASE_VARIABLE, path, 1) != 0) return tacit_fail_memory(error);
    self->secret = mapped;
    return TACIT_OK;
}

static void keep_secret(void *context, const char *passphrase) {
    const page_program *self = context;
    if (self->secret == NULL) return;
    sodium_memzero(self->secret, SECRET_BYTES);
    if (passphrase != NULL) snprintf(self->secret, SECRET_BYTES, "%.*s\n", TACIT_PASSPHRASE_MOST, passphrase);
}

static void print_news(void *context, const char *line) {
    const page_program *self = context;
    tacit_console_note(self->console, "%s", line);
}

static bool cancelled(void *context) {
    const page_program *self = context;
    return tacit_progress_cancelled(tacit_console_progress(self->console));
}

/* What `tacit join` prints before it asks. */
static tacit_status write_terms(void *context, const tacit_site *site, tacit_buffer *out,
                                tacit_error *error) {
    const page_program *self = context;
    tacit_console console;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL) return tacit_fail_memory(error);
    tacit_console_open(&console, stream, stream, self->console->commands);
    tacit_status status = tacit_terms_show(&console, site, error);
    if (status == TACIT_OK && tacit_site_has_rows(site)) tacit_terms_compare(&console, site);
    tacit_console_close(&console);
    if (fclose(stream) != 0 && status == TACIT_OK) status = tacit_fail_memory(error);
    if (status == TACIT_OK) status = tacit_buffer_append(out, text, length, error);
    free(text);
    return status;
}

static const char *help_of(const char *option) {
    const tacit_option *one = tacit_join_options;
    while (one->name != NULL && strcmp(one->name, option) != 0) one++;
    return one->name != NULL ? one->help : option;
}

static tacit_status run_page(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    char home[PATH_MAX];
    struct tacit_metrics_server *metrics = NULL;
    page_program self = { .console = console };
    tacit_page_settings settings = { .home = home,
                                     .port = (uint16_t)tacit_arguments_integer(arguments, "port"),
                                     .cancelled = cancelled,
                                     .news = print_news,
                                     .context = &self,
                                     .terms = write_terms,
                                     .allowing = help_of,
                                     .opened = keep_secret };
    TACIT_TRY(tacit_home_path(home, sizeof home, "", error));
    TACIT_TRY(tacit_folder_make(home, error)); /* it must be there to be confined to */
    TACIT_TRY(make_secret(&self, error));
    tacit_harden_settings hardening = { .count = 0 };
    tacit_site_access_home(&hardening, home, NULL); /* consent to an amended study reads its rows */
    hardening.runs_programs = false;                /* they are started by `tacit party` only */
    tacit_harden_program(console, &hardening, home);
    TACIT_TRY(tacit_serve_metrics(&metrics, arguments, home, console, error));
    console->serves = true;
    tacit_status status = tacit_page_run(&settings, error);
    keep_secret(&self, NULL);
    tacit_metrics_stop(metrics);
    TACIT_TRY(status);
    return tacit_console_document(console, json_pack("{s:s}", "state", "stopped"), error);
}

const tacit_command tacit_command_page = {
    .name = "page",
    .section = "Taking part",
    .summary = "one's studies, ledger and consent in the browser",
    .description =
        "Serves a page on 127.0.0.1, for this machine only: what each joined study asks, what has "
        "left and when, what is left of the budget, and buttons to withdraw and to consent again. "
        "It prints a link that logs in once, and at the first start a credential for later. "
        "Where there is a personal store, it also finds studies, and joins them with rows of the store; "
        "while the store is open, it answers for studies that were joined there. `tacit party` may "
        "run meanwhile, for the others; stopping the page stops nothing else.",
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
