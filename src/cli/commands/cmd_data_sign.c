/* tacit data sign: a file of measurements that a laboratory hands to a participant. */
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/document/json_text.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/key_file.h"
#include "person/sensor/signed_file.h"

static tacit_status run_sign(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *path = tacit_arguments_operand(arguments, "FILE");
    uint8_t seed[TACIT_SIGNED_KEY];
    tacit_buffer line = TACIT_BUFFER_INIT;
    tacit_signed_file made;
    char beside[PATH_MAX], key[2 * TACIT_SIGNED_KEY + 1];
    tacit_status status;
    TACIT_CHECK(tacit_key_file_seed(tacit_arguments_text(arguments, "key"), "signing key of 32 bytes", seed,
                                    console, error));
    TACIT_CHECK(tacit_signed_file_sign(&line, path, seed, tacit_arguments_text(arguments, "name"), error));
    if (snprintf(beside, sizeof beside, "%s.sig", path) >= (int)sizeof beside)
        TACIT_CHECK(tacit_fail(error, TACIT_LIMIT, "path too long: %s", path));
    TACIT_CHECK(tacit_file_write(beside, line.bytes, line.length, 0644, error));
    TACIT_CHECK(tacit_signed_file_check(&made, path, error));
    sodium_bin2hex(key, sizeof key, made.key, sizeof made.key);
    tacit_console_print(console, "Signed: hand %s and %s to the participant.\nkey        %s\n", path, beside,
                        key);
    TACIT_CHECK(tacit_console_document(
        console,
        json_pack("{s:o,s:s,s:s}", "signature", tacit_json_text(beside), "key", key, "name", made.name),
        error));
cleanup:
    sodium_memzero(seed, sizeof seed);
    tacit_buffer_clear(&line);
    return status;
}

const tacit_command tacit_command_data_sign = {
    .name = "data sign",
    .section = "Data",
    .summary = "sign a file of measurements for the person it is about",
    .description = "Writes FILE.sig beside the file. The participant imports both into the personal store "
                   "(tacit store import), which checks the signature and remembers who vouches for the rows. "
                   "The key is made where there is none.",
    .operands = (const tacit_operand[]){ { "FILE", 1, 1, "the measurements" }, { .name = NULL } },
    .options = (const tacit_option[]){ { .name = "key",
                                         .kind = TACIT_OPTION_FILE,
                                         .placeholder = "FILE",
                                         .help = "the laboratory's signing key",
                                         .rules = TACIT_RULE_REQUIRED },
                                       { .name = "name",
                                         .kind = TACIT_OPTION_TEXT,
                                         .placeholder = "NAME",
                                         .help = "what the laboratory calls itself",
                                         .rules = TACIT_RULE_REQUIRED },
                                       { .name = NULL } },
    .examples =
        (const tacit_example[]){ { "Hand a night's measurements back.",
                                   "tacit data sign ana.csv --key lab.key --name 'Sleep Lab, Vienna'" },
                                 { .text = NULL } },
    .run = run_sign,
};
