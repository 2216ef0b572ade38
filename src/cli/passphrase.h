/* The passphrase of a person's store: from a file, or typed at a terminal without an echo. */
#pragma once

#include "cli/console.h"
#include "person/personal.h"

/* For commands that open the store. */
#define TACIT_OPTION_PASSPHRASE                                                                              \
    {                                                                                                        \
        .name = "passphrase-file", .kind = TACIT_OPTION_FILE, .placeholder = "FILE",                         \
        .help = "whose first line is the passphrase, of mode 600; by default the file that "                 \
                "TACIT_STORE_PASSPHRASE_FILE names, else it is asked for at the terminal"                    \
    }

/* Read it. `prompt` is what a terminal shows; `twice`: it is new, and is typed again. */
tacit_status tacit_passphrase_take(const tacit_arguments *arguments, const char *option, const char *prompt,
                                   bool twice, char out[TACIT_PASSPHRASE_MOST + 1], tacit_error *error);

/* Open the store of this home. */
tacit_status tacit_store_take(const tacit_arguments *arguments, tacit_vault **out, tacit_error *error);
