/* tacit revoke: a party's certificates count no more. */
#include <string.h>

#include "api/option/arguments.h"
#include "center/center.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "study/registry.h"

static tacit_status revoke_center(const char *folder, tacit_registry *registry, tacit_console *console,
                                  tacit_error *error) {
    TACIT_TRY(tacit_center_forget_identity(folder, registry, error));
    tacit_console_print(console,
                        "The identity towards center server B is revoked; the next call is made with "
                        "a new one, and B is told.\n");
    return tacit_console_document(console, json_pack("{s:s,s:b}", "party", TACIT_CENTER_A, "revoked", true),
                                  error);
}

/* One that has joined; of one that has not, the invitation. */
static tacit_status revoke_party(tacit_registry *registry, const char *who, const char *study,
                                 tacit_console *console, tacit_error *error) {
    tacit_person person;
    TACIT_TRY(tacit_registry_find(registry, who, study, &person, error));
    const bool joined = person.name[0] != 0, named = person.called[0] != 0;
    TACIT_TRY(joined ? tacit_registry_revoke(registry, person.name, error)
                     : tacit_registry_take_back(registry, person.study, person.called, error));
    if (joined)
        tacit_console_print(
            console,
            "%s%s%s%s is revoked: its certificates are refused from the next request on, no "
            "round waits for it, and neighbours that listen are told with their next question. "
            "While the study recruits, its seat is free: invite it again with tacit study "
            "invite.\n",
            person.called, named ? " (" : "", person.name, named ? ")" : "");
    else
        tacit_console_print(
            console,
            "The invitation of %s to study %s is taken back: nobody can join with it. The name "
            "is free for another one.\n",
            person.called, person.study);
    return tacit_console_document(
        console,
        json_pack("{s:o,s:o,s:s,s:b}", "party", joined ? json_string(person.name) : json_null(), "called",
                  named ? json_string(person.called) : json_null(), "study", person.study, "revoked", true),
        error);
}

static tacit_status run(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *folder = tacit_arguments_operand(arguments, "DIR"),
               *who = tacit_arguments_operand(arguments, "PARTY");
    tacit_registry *registry = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_registry_open(&registry, folder, false, error));
    if (strcmp(who, TACIT_CENTER_A) == 0)
        TACIT_CHECK(revoke_center(folder, registry, console, error));
    else
        TACIT_CHECK(revoke_party(registry, who, tacit_arguments_text(arguments, "study"), console, error));
cleanup:
    tacit_registry_close(registry);
    return status;
}

const tacit_command tacit_command_revoke = {
    .name = "revoke",
    .section = "Operation",
    .summary = "refuse a party whose key was lost or stolen",
    .description = "All certificates of the party are refused, also on connections that are open, and after "
                   "a restart. PARTY is the name that it was invited under (tacit study invite --for) or its "
                   "random one; tacit study status lists both. If it has not joined yet, its invitation is "
                   "taken back. A study that runs goes on without the party, as it does without one that has "
                   "left; one that recruits can invite it again, as a new party with a new key. PARTY may be "
                   "center-a, the coordinator's own identity towards center server B.",
    .operands =
        (const tacit_operand[]){
            { "DIR", 1, 1, "the coordinator's folder" },
            { "PARTY", 1, 1, "the party's name, or its random one" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "study",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "STUDY",
              .help = "the study, if parties of several have this name" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "A hospital's laptop was stolen.", "tacit revoke consortium 'St. Anna, Vienna'" },
            { "The same, by the random name.", "tacit revoke consortium party-5f0c1d2e3a4b" },
            { .text = NULL },
        },
    .run = run,
};
