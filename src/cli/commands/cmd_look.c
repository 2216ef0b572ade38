/* tacit look: what an invitation asks, before there are any rows. */
#include <limits.h>
#include <string.h>

#include "api/document/invited_document.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/invitation_file.h"
#include "cli/process/hardening.h"
#include "cli/terms.h"
#include "data/schema/needed_columns.h"
#include "site/site.h"
#include "site/site_access.h"
#include "study/home.h"

static void print_news(void *context, const char *line) { tacit_console_note(context, "%s", line); }

static bool cancelled(void *context) { return tacit_progress_cancelled(tacit_console_progress(context)); }

static tacit_status list_column(void *context, const tacit_needed_column *needed, tacit_error *error) {
    tacit_grid *grid = context;
    (void)error;
    tacit_grid_cell(grid, "%s", needed->name);
    tacit_grid_cell(grid, "%s", needed->role);
    tacit_grid_cell(grid, "%s", needed->values);
    tacit_grid_cell(grid, "%s", needed->missing);
    return TACIT_OK;
}

/* What a file must have. */
static tacit_status show_columns(tacit_console *console, const tacit_schema *schema, tacit_error *error) {
    static const tacit_grid_column titles[] = {
        { "column", TACIT_LEFT }, { "role", TACIT_LEFT }, { "values", TACIT_LEFT }, { "missing", TACIT_LEFT }
    };
    tacit_grid *grid = NULL;
    tacit_status status;
    if (schema->sparse > 0) {
        tacit_console_print(console, "Rows are LIBSVM text of %zu features.\n", schema->sparse);
        return TACIT_OK;
    }
    TACIT_CHECK(tacit_grid_create(&grid, titles, 4, error));
    TACIT_CHECK(tacit_schema_needed(schema, list_column, grid, error));
    TACIT_CHECK(tacit_console_grid(console, grid, error));
cleanup:
    tacit_grid_free(grid);
    return status;
}

static tacit_status write_schema(tacit_console *console, const tacit_study *study, const char *path,
                                 tacit_error *error) {
    TACIT_TRY(tacit_study_write_schema(study, path, error));
    tacit_console_note(console, "wrote %s", path);
    return TACIT_OK;
}

static tacit_status write_template(tacit_console *console, const tacit_schema *schema, const char *path,
                                   tacit_error *error) {
    tacit_buffer line = TACIT_BUFFER_INIT;
    tacit_status status = tacit_schema_header(schema, &line, error);
    return tacit_console_finish_file(console, path, &line, status, error);
}

static tacit_status show(const tacit_arguments *arguments, tacit_console *console, const tacit_site *site,
                         tacit_error *error) {
    const tacit_study *study = tacit_site_study(site);
    const char *schema = tacit_arguments_text(arguments, "write-schema"),
               *template = tacit_arguments_text(arguments, "write-template");
    json_t *document = NULL;
    TACIT_TRY(tacit_terms_show(console, site, error));
    TACIT_TRY(show_columns(console, study->schema, error));
    if (schema != NULL) TACIT_TRY(write_schema(console, study, schema, error));
    if (template != NULL) TACIT_TRY(write_template(console, study->schema, template, error));
    TACIT_TRY(tacit_invited_document(&document, site, error));
    return tacit_console_document(console, document, error);
}

static void harden(const tacit_arguments *arguments, tacit_console *console, const char *home) {
    tacit_harden_settings hardening = { .count = 0 };
    tacit_harden_allow(&hardening, home, true);
    tacit_harden_allow_around(&hardening, tacit_arguments_text(arguments, "write-schema"), true);
    tacit_harden_allow_around(&hardening, tacit_arguments_text(arguments, "write-template"), true);
    tacit_harden_program(console, &hardening, home);
}

static tacit_status run_look(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    tacit_buffer invitation = TACIT_BUFFER_LIMITED(TACIT_INVITATION_TEXT_MAX);
    tacit_site *site = NULL;
    char home[PATH_MAX];
    tacit_status status;
    TACIT_CHECK(tacit_invitation_read(tacit_arguments_operand(arguments, "INVITE"), &invitation, error));
    TACIT_CHECK(tacit_home_path(home, sizeof home, "", error));
    TACIT_CHECK(tacit_folder_make(home, error)); /* it must be there to be confined to */
    harden(arguments, console, home);            /* before a byte comes from the coordinator */
    const tacit_site_settings settings = { .home = home, .proxy = tacit_arguments_text(arguments, "proxy") };
    const tacit_site_callbacks callbacks = { .cancelled = cancelled, .news = print_news, .context = console };
    TACIT_CHECK(tacit_site_look(&site, tacit_buffer_text(&invitation), invitation.length, &settings,
                                &callbacks, error));
    TACIT_CHECK(show(arguments, console, site, error));
cleanup:
    tacit_site_free(site);
    tacit_buffer_clear(&invitation);
    return status;
}

const tacit_command tacit_command_look = {
    .name = "look",
    .section = "Taking part",
    .summary = "what an invitation asks, before there are any rows",
    .description =
        "Asks the coordinator what the study is, without using the invitation up and without naming rows: "
        "what would leave, who would see it, what it costs, and which columns your rows need. The schema "
        "and the first line of a CSV file can be written, so that a site knows what to collect.",
    .operands =
        (const tacit_operand[]){
            { "INVITE", 1, 1, "a file that holds the invitation, or - for standard input" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "write-schema",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "write the study's schema here, YAML, for `tacit data check` and `tacit join`" },
            { .name = "write-template",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "write a CSV file here that has the names of the columns and no rows" },
            { .name = "proxy",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "URL",
              .help = "reach the coordinator through this HTTP proxy" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "What would our hospital need?",
              "tacit look invitation.txt --write-schema tumours.schema.yaml --write-template tumours.csv" },
            { .text = NULL },
        },
    .run = run_look,
};
