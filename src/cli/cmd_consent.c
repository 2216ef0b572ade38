/* tacit consent and tacit withdraw: the owner's word on a study that was joined. */
#include <limits.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "service/home.h"
#include "service/site.h"

static tacit_status set(const tacit_arguments *arguments, tacit_console *console, bool given,
                        tacit_error *error) {
    char home[PATH_MAX], id[TACIT_SITE_ID_SIZE];
    TACIT_TRY(tacit_home_path(home, sizeof home, "", error));
    TACIT_TRY(tacit_site_set_consent(home, tacit_arguments_operand(arguments, "STUDY"), given, id, error));
    if (given)
        tacit_console_print(console,
                            "Consent to %s is given, for the definition that was shown when joining.\n", id);
    else
        tacit_console_print(
            console,
            "Withdrawn from %s: nothing leaves from now on. What has left stays where it is, and a "
            "model that it went into keeps its influence, within the price that was charged.\n",
            id);
    return tacit_console_document(console, json_pack("{s:s,s:b}", "study", id, "consent", given), error);
}

static tacit_status run_consent(const tacit_arguments *arguments, tacit_console *console,
                                tacit_error *error) {
    return set(arguments, console, true, error);
}

static tacit_status run_withdraw(const tacit_arguments *arguments, tacit_console *console,
                                 tacit_error *error) {
    return set(arguments, console, false, error);
}

static const tacit_operand operands[] = {
    { "STUDY", 1, 1, "its name, as `tacit join` showed it" },
    { .name = NULL },
};

const tacit_command tacit_command_consent = {
    .name = "consent",
    .section = "Taking part",
    .summary = "consent again to a study after withdrawing",
    .description =
        "To the definition that was shown when joining; a changed one needs a new invitation. `tacit party` "
        "then goes on.",
    .operands = operands,
    .examples =
        (const tacit_example[]){
            { "Take part again.", "tacit consent breast-cancer" },
            { .text = NULL },
        },
    .run = run_consent,
};

const tacit_command tacit_command_withdraw = {
    .name = "withdraw",
    .section = "Taking part",
    .summary = "let nothing more leave for a study",
    .description =
        "Effective from the next answer on, also for a party that is running now, and for answers already "
        "stored. It is written to the ledger's log.",
    .operands = operands,
    .examples =
        (const tacit_example[]){
            { "Stop taking part.", "tacit withdraw breast-cancer" },
            { .text = NULL },
        },
    .run = run_withdraw,
};
