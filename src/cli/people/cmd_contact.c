/* tacit contact key, send and list: contact details, by an act of their own, sealed for the researchers. */
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/document/json_text.h"
#include "base/clean.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/key_file.h"
#include "net/identity.h"
#include "site/site.h"
#include "study/home.h"
#include "study/registry.h"
#include "study/study.h"

enum { DETAILS_MOST = 4096 };

/* ---- key ---- */

static tacit_status load_key(const char *path, uint8_t secret[crypto_box_SECRETKEYBYTES],
                             uint8_t shown[crypto_box_PUBLICKEYBYTES], tacit_error *error) {
    TACIT_TRY(tacit_key_file_read(path, "key for contact details (tacit contact key)", secret, error));
    crypto_scalarmult_base(shown, secret);
    return TACIT_OK;
}

static tacit_status run_key(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *path = tacit_arguments_operand(arguments, "FILE");
    uint8_t secret[crypto_box_SECRETKEYBYTES], shown[crypto_box_PUBLICKEYBYTES];
    char hex[2 * sizeof shown + 1];
    if (access(path, F_OK) != 0) {
        randombytes_buf(secret, sizeof secret);
        TACIT_TRY(tacit_file_write(path, secret, sizeof secret, 0600, error));
        tacit_console_note(console, "made a key in %s: keep it, and let nobody read it", path);
    }
    tacit_status status = load_key(path, secret, shown, error);
    sodium_memzero(secret, sizeof secret);
    if (status != TACIT_OK) return status;
    tacit_console_print(console, "contact: \"%s\"\n", sodium_bin2hex(hex, sizeof hex, shown, sizeof shown));
    return tacit_console_document(console, json_pack("{s:s}", "contact", hex), error);
}

const tacit_command tacit_command_contact_key = {
    .name = "contact key",
    .section = "Studies",
    .summary = "make a key that contact details are sealed with",
    .description =
        "Makes the key if the file is not there yet, and prints the line for the study's definition. The "
        "file stays with the researchers: a coordinator without it keeps details that it cannot read.",
    .operands = (const tacit_operand[]){ { "FILE", 1, 1, "where the secret key is" }, { .name = NULL } },
    .examples = (const tacit_example[]){ { "A key, and the line for the definition.",
                                           "tacit contact key contact.key" },
                                         { .text = NULL } },
    .run = run_key,
};

/* ---- send ---- */

static void print_news(void *context, const char *line) { tacit_console_note(context, "%s", line); }

static tacit_status ask(const tacit_arguments *arguments, tacit_error *error) {
    char line[16] = "";
    if (tacit_arguments_flag(arguments, "yes")) return TACIT_OK;
    if (!isatty(STDIN_FILENO))
        return tacit_fail(error, TACIT_REFUSED,
                          "nobody is there to say yes: read the above, then repeat with --yes");
    fprintf(stderr, "Send this? [y/N] ");
    if (fgets(line, sizeof line, stdin) == NULL || (line[0] != 'y' && line[0] != 'Y'))
        return tacit_fail(error, TACIT_REFUSED, "nothing was sent");
    return TACIT_OK;
}

static tacit_status run_send(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *study = tacit_arguments_operand(arguments, "STUDY");
    const tacit_site_callbacks callbacks = { .news = print_news, .context = console };
    tacit_buffer details = TACIT_BUFFER_LIMITED(DETAILS_MOST);
    char home[PATH_MAX];
    tacit_status status;
    TACIT_CHECK(tacit_home_path(home, sizeof home, "", error));
    TACIT_CHECK(tacit_file_read(tacit_arguments_operand(arguments, "FILE"), &details, error));
    if (details.length == 0 || memchr(details.bytes, 0, details.length) != NULL)
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "%s holds no text to send",
                               tacit_arguments_operand(arguments, "FILE")));
    tacit_console_note(console,
                       "to the researchers of study '%s', sealed so that only they can read it:", study);
    tacit_console_note(console, "%s", tacit_buffer_text(&details));
    TACIT_CHECK(ask(arguments, error));
    TACIT_CHECK(tacit_site_contact(home, study, tacit_buffer_text(&details), &callbacks, error));
    tacit_console_print(console, "Sent. The log of your ledger says so (tacit ledger show).\n");
    TACIT_CHECK(tacit_console_document(console, json_pack("{s:s,s:b}", "study", study, "sent", true), error));
cleanup:
    tacit_buffer_clear(&details);
    return status;
}

const tacit_command tacit_command_contact_send = {
    .name = "contact send",
    .section = "Taking part",
    .summary = "send contact details to the researchers of a study, sealed",
    .description = "Contact details leave in no other way than this. Shows what will be sent, asks, writes "
                   "to the ledger's log that something was sent, and sends it sealed with the key in the "
                   "definition. The researchers then know that this person takes part; what you answer stays "
                   "as the study's method protects it. Sending again replaces what was sent before.",
    .operands =
        (const tacit_operand[]){ { "STUDY", 1, 1, "its name, as `tacit join` showed it" },
                                 { "FILE", 1, 1, "a file with the text to send, e.g. a name and an address" },
                                 { .name = NULL } },
    .options =
        (const tacit_option[]){
            { .name = "yes", .kind = TACIT_OPTION_FLAG, .help = "send without being asked" },
            { .name = NULL } },
    .examples =
        (const tacit_example[]){ { "Let the laboratory call.", "tacit contact send sleep-trial me.txt" },
                                 { .text = NULL } },
    .run = run_send,
};

/* ---- list ---- */

typedef struct opening {
    const uint8_t *secret, *shown;
    tacit_console *console;
    json_t *list;
    size_t closed;
} opening;

/* Whoever sent it may have meant it for a terminal, or to look like two: cleaned, and each line indented. */
static void print_details(tacit_console *console, const char *when, char *text) {
    tacit_console_print(console, "%s\n", when);
    for (char *line = text, *next; line != NULL && *line != 0; line = next) {
        next = strchr(line, '\n');
        if (next != NULL) *next++ = 0;
        tacit_console_print(console, "  %s\n", tacit_text_clean(line, strlen(line) + 1, line));
    }
}

static tacit_status open_one(void *context, const uint8_t *sealed, size_t length, int64_t at,
                             tacit_error *error) {
    opening *self = context;
    char when[TACIT_TIME_TEXT], *text = TACIT_NEW(char, length + 1);
    if (text == NULL) return tacit_fail_memory(error);
    tacit_study_time_text(when, at);
    if (length > crypto_box_SEALBYTES &&
        crypto_box_seal_open((uint8_t *)text, sealed, length, self->shown, self->secret) == 0) {
        self->list = tacit_json_append(
            self->list, json_pack("{s:s,s:o}", "sent", when, "details", tacit_json_text(text)));
        print_details(self->console, when, text);
    } else {
        self->closed++;
    }
    free(text);
    return self->list != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status run_list(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *study = tacit_arguments_operand(arguments, "STUDY");
    uint8_t secret[crypto_box_SECRETKEYBYTES], shown[crypto_box_PUBLICKEYBYTES];
    opening self = { secret, shown, console, json_array(), 0 };
    tacit_registry *registry = NULL;
    tacit_study_record record;
    tacit_status status;
    TACIT_CHECK(load_key(tacit_arguments_text(arguments, "key"), secret, shown, error));
    TACIT_CHECK(tacit_registry_open(&registry, tacit_arguments_operand(arguments, "DIR"), false, error));
    TACIT_CHECK(tacit_registry_study(registry, study, &record, NULL, error));
    TACIT_CHECK(tacit_registry_contacts(registry, study, open_one, &self, error));
    if (self.closed > 0) tacit_console_warn(console, "%zu cannot be opened with this key", self.closed);
    TACIT_CHECK(tacit_console_document(console,
                                       json_pack("{s:s,s:O,s:I}", "study", study, "contacts", self.list,
                                                 "unopened", (json_int_t)self.closed),
                                       error));
cleanup:
    sodium_memzero(secret, sizeof secret);
    json_decref(self.list);
    tacit_registry_close(registry);
    return status;
}

const tacit_command tacit_command_contact_list = {
    .name = "contact list",
    .section = "Studies",
    .summary = "open the contact details that participants have sent",
    .operands = (const tacit_operand[]){ { "DIR", 1, 1, "the coordinator's folder" },
                                         { "STUDY", 1, 1, "the study's name" },
                                         { .name = NULL } },
    .description = "Opens them with the secret key whose public one is in the definition. Nothing here says "
                   "which answers are whose.",
    .options = (const tacit_option[]){ { .name = "key",
                                         .kind = TACIT_OPTION_FILE,
                                         .placeholder = "FILE",
                                         .help = "the secret key (tacit contact key)",
                                         .rules = TACIT_RULE_REQUIRED },
                                       { .name = NULL } },
    .examples = (const tacit_example[]){ { "Whom may we call?",
                                           "tacit contact list lab sleep-trial --key contact.key" },
                                         { .text = NULL } },
    .run = run_list,
};
