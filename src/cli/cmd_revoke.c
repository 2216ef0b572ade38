/* tacit revoke: a party's certificates count no more. */
#include <string.h>

#include "api/arguments.h"
#include "center/center.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "study/registry.h"

static tacit_status run(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *folder = tacit_arguments_operand(arguments, "DIR"),
               *party = tacit_arguments_operand(arguments, "PARTY");
    bool center = strcmp(party, TACIT_CENTER_A) == 0;
    tacit_registry *registry = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_registry_open(&registry, folder, false, error));
    TACIT_CHECK(center ? tacit_center_forget_identity(folder, registry, error)
                       : tacit_registry_revoke(registry, party, error));
    if (center)
        tacit_console_print(console,
                            "The identity towards center server B is revoked; the next call is made with a "
                            "new one, and B is told.\n");
    else
        tacit_console_print(console,
                            "%s is revoked: its certificates are refused from the next request on, no round "
                            "waits for it, and neighbours that listen are told with their next question. "
                            "While the study recruits, its seat is free: invite it again with tacit study "
                            "invite.\n",
                            party);
    TACIT_CHECK(
        tacit_console_document(console, json_pack("{s:s,s:b}", "party", party, "revoked", true), error));
cleanup:
    tacit_registry_close(registry);
    return status;
}

const tacit_command tacit_command_revoke = {
    .name = "revoke",
    .section = "Operation",
    .summary = "refuse a party whose key was lost or stolen",
    .description =
        "All certificates of the party count no more, also on connections that are open, and after a "
        "restart. Names of parties are in coordinator.log. A study that runs goes on without the party, as "
        "it does without one that has left; one that recruits can invite it again, as a new party with a new "
        "key. PARTY may be center-a, the coordinator's own identity towards center server B.",
    .operands =
        (const tacit_operand[]){
            { "DIR", 1, 1, "the coordinator's folder" },
            { "PARTY", 1, 1, "the party's name, as the log shows it" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "A hospital's laptop was stolen.", "tacit revoke consortium party-5f0c1d2e3a4b" },
            { .text = NULL },
        },
    .run = run,
};
