/* tacit study token: tokens for programs that use the coordinator's HTTP interface. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "api/document/json_text.h"
#include "api/option/arguments.h"
#include "api/study/issue.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/print/grid.h"
#include "study/passes.h"
#include "study/study.h"

static tacit_status make(tacit_registry *registry, const tacit_arguments *arguments, tacit_console *console,
                         tacit_error *error) {
    json_t *document = NULL;
    TACIT_TRY(tacit_pass_issue(&document, registry, tacit_arguments_operand(arguments, "STUDY"),
                               tacit_arguments_text(arguments, "scope"),
                               tacit_arguments_number(arguments, "expires"),
                               tacit_arguments_text(arguments, "for"), error));
    tacit_console_print(console, "%s\n", json_string_value(json_object_get(document, "token")));
    tacit_console_note(console, "shown this once; until %s it may %s. Revoke it with --revoke %s",
                       json_string_value(json_object_get(document, "expires")),
                       strcmp(json_string_value(json_object_get(document, "scope")), "manage") == 0
                           ? "read and change studies"
                           : "read",
                       json_string_value(json_object_get(document, "id")));
    return tacit_console_document(console, document, error);
}

/* ---- the list ---- */

typedef struct listing {
    json_t *list;
    tacit_grid *grid;
} listing;

static tacit_status add_pass(void *context, const tacit_pass *pass, tacit_error *error) {
    listing *self = context;
    char when[TACIT_TIME_TEXT];
    json_t *one = tacit_pass_document(pass);
    tacit_grid_cell(self->grid, "%s", pass->id);
    tacit_grid_cell(self->grid, "%s", tacit_scope_name(pass->scope));
    tacit_grid_cell(self->grid, "%s", pass->study[0] != 0 ? pass->study : "all");
    tacit_grid_cell(self->grid, "%s", tacit_study_time_text(when, pass->expires));
    tacit_grid_cell(self->grid, "%s", json_string_value(json_object_get(one, "state")));
    tacit_grid_cell(self->grid, "%s", pass->called);
    self->list = tacit_json_append(self->list, one);
    return self->list != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status list(tacit_registry *registry, tacit_console *console, tacit_error *error) {
    static const tacit_grid_column columns[] = { { "token", TACIT_LEFT }, { "scope", TACIT_LEFT },
                                                 { "study", TACIT_LEFT }, { "expires", TACIT_LEFT },
                                                 { "state", TACIT_LEFT }, { "for", TACIT_LEFT } };
    listing self = { json_array(), NULL };
    tacit_status status;
    TACIT_CHECK(tacit_grid_create(&self.grid, columns, sizeof columns / sizeof columns[0], error));
    TACIT_CHECK(tacit_registry_passes(registry, add_pass, &self, error));
    TACIT_CHECK(tacit_console_grid(console, self.grid, error));
    TACIT_CHECK(tacit_console_document(console, json_pack("{s:O}", "tokens", self.list), error));
cleanup:
    json_decref(self.list);
    tacit_grid_free(self.grid);
    return status;
}

static tacit_status revoke(tacit_registry *registry, const char *id, tacit_console *console,
                           tacit_error *error) {
    TACIT_TRY(tacit_registry_revoke_pass(registry, id, error));
    tacit_console_print(console, "Token %s is revoked.\n", id);
    return tacit_console_document(console, json_pack("{s:s,s:s}", "id", id, "state", "revoked"), error);
}

static tacit_status run(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *id = tacit_arguments_text(arguments, "revoke");
    const bool listed = tacit_arguments_flag(arguments, "list");
    tacit_registry *registry = NULL;
    tacit_status status;
    if (listed && id != NULL)
        return tacit_fail(error, TACIT_USAGE, "give either --list or --revoke, not both");
    TACIT_CHECK(tacit_registry_open(&registry, tacit_arguments_operand(arguments, "DIR"), false, error));
    TACIT_CHECK(id != NULL ? revoke(registry, id, console, error)
                : listed   ? list(registry, console, error)
                           : make(registry, arguments, console, error));
cleanup:
    tacit_registry_close(registry);
    return status;
}

const tacit_command tacit_command_study_token = {
    .name = "study token",
    .section = "Studies",
    .summary = "make, list or revoke tokens for programs",
    .usage = (const char *const[]){ "DIR [STUDY] [--scope read|manage] [--expires DAYS] [--for NAME]",
                                    "DIR --list", "DIR --revoke ID", NULL },
    .description = "With a token a program on this machine uses the interface that `tacit coordinator "
                   "--dashboard` serves (docs/openapi.yaml), as R, Python and C do it: 'Authorization: "
                   "Bearer TOKEN'. A token of scope read sees what the dashboard shows; one of scope manage "
                   "also adds, amends, invites, pauses and closes. With STUDY it is for that one and for no "
                   "other. The folder keeps its hash only; the token is printed once.",
    .operands =
        (const tacit_operand[]){
            { "DIR", 1, 1, "the coordinator's folder" },
            { "STUDY", 0, 1, "one study; all of them by default" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "scope",
              .kind = TACIT_OPTION_CHOICE,
              .placeholder = "read|manage",
              .fallback = "read",
              .help = "what it may do" },
            { .name = "expires",
              .kind = TACIT_OPTION_NUMBER,
              .placeholder = "DAYS",
              .fallback = "30",
              .help = "for how many days it is good",
              .rules = TACIT_RULE_RANGE,
              .least = 0,
              .most = TACIT_PASS_DAYS },
            { .name = "for",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "NAME",
              .help = "who gets it, for the list" },
            { .name = "list", .kind = TACIT_OPTION_FLAG, .help = "show all tokens, without their secrets" },
            { .name = "revoke",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "ID",
              .help = "refuse this token from now on" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "For a notebook that runs studies, for a week.",
              "tacit study token consortium --scope manage --expires 7 --for 'Ana, notebook'" },
            { "For a screen in the corridor.", "tacit study token consortium breast-cancer" },
            { .text = NULL },
        },
    .run = run,
};
