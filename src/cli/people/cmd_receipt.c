/* tacit receipt get and redeem: compensation for taking part, without a link to answers. */
#include <limits.h>
#include <string.h>

#include "api/document/json_text.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "coordinator/coordinator.h"
#include "site/site.h"
#include "study/home.h"
#include "study/people/receipt.h"

static void print_news(void *context, const char *line) { tacit_console_note(context, "%s", line); }

static tacit_status run_get(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *study = tacit_arguments_operand(arguments, "STUDY");
    const tacit_site_callbacks callbacks = { .news = print_news, .context = console };
    char home[PATH_MAX], text[TACIT_SITE_RECEIPT_TEXT], path[4096];
    TACIT_TRY(tacit_home_path(home, sizeof home, "", error));
    TACIT_TRY(tacit_site_receipt(home, study, &callbacks, text, path, error));
    tacit_console_print(console, "%s\n", text);
    tacit_console_note(
        console,
        "this receipt is good once, for whoever shows it first: it is in %s. Nobody can tell from it who you "
        "are in the study; show it another day, and not together with anything that says so",
        path);
    return tacit_console_document(
        console, json_pack("{s:s,s:s,s:o}", "study", study, "receipt", text, "file", tacit_json_text(path)),
        error);
}

const tacit_command tacit_command_receipt_get = {
    .name = "receipt get",
    .section = "Taking part",
    .summary = "the receipt for a study that you have completed",
    .description = "Asks the coordinator of a study that has ended for a receipt, which it gives once to "
                   "everybody who answered all that was asked. The receipt is made blindly (RFC 9497): the "
                   "coordinator can check it later, and cannot tell whose it is. Show it at the study's desk "
                   "to get what the definition promises as compensation.",
    .operands =
        (const tacit_operand[]){ { "STUDY", 1, 1, "its name, as `tacit join` showed it" }, { .name = NULL } },
    .examples = (const tacit_example[]){ { "Get it, or see it again.", "tacit receipt get sleep-trial" },
                                         { .text = NULL } },
    .run = run_get,
};

/* ---- the desk ---- */

static tacit_status read_receipt(tacit_buffer *out, const char *from, tacit_error *error) {
    return strcmp(from, "-") == 0 ? tacit_input_read(out, error) : tacit_file_read(from, out, error);
}

static tacit_status run_redeem(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *folder = tacit_arguments_operand(arguments, "DIR");
    tacit_buffer text = TACIT_BUFFER_LIMITED(4096);
    tacit_registry *registry = NULL;
    char study[TACIT_ID_SIZE] = "";
    size_t given = 0, redeemed = 0;
    tacit_status status;
    TACIT_CHECK(read_receipt(&text, tacit_arguments_operand(arguments, "FILE"), error));
    TACIT_CHECK(tacit_coordinator_redeem(folder, tacit_buffer_text(&text), study, error));
    TACIT_CHECK(tacit_registry_open(&registry, folder, false, error));
    TACIT_CHECK(tacit_registry_count_receipts(registry, study, &given, &redeemed, error));
    tacit_console_print(console, "Redeemed: a receipt of study '%s'. Of %zu given, %zu are redeemed now.\n",
                        study, given, redeemed);
    TACIT_CHECK(
        tacit_console_document(console,
                               json_pack("{s:s,s:b,s:I,s:I}", "study", study, "redeemed", true, "given",
                                         (json_int_t)given, "redeemed_so_far", (json_int_t)redeemed),
                               error));
cleanup:
    tacit_registry_close(registry);
    tacit_buffer_clear(&text);
    return status;
}

const tacit_command tacit_command_receipt_redeem = {
    .name = "receipt redeem",
    .section = "Studies",
    .summary = "check a receipt at the desk, and redeem it once",
    .description =
        "Checks that this coordinator made the receipt, and writes down that it was redeemed before it says "
        "so: a second time, also after a crash, it is refused (exit 3) with the day of the first.",
    .operands = (const tacit_operand[]){ { "DIR", 1, 1, "the coordinator's folder" },
                                         { "FILE", 1, 1, "a file with the receipt, or - for standard input" },
                                         { .name = NULL } },
    .examples = (const tacit_example[]){ { "Somebody shows one.", "tacit receipt redeem lab receipt.txt" },
                                         { .text = NULL } },
    .run = run_redeem,
};
