#include "cli/passphrase.h"

#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "study/home.h"

/* A line from the terminal itself, whatever standard input is. */
static tacit_status type_line(int terminal, const char *prompt, char out[TACIT_PASSPHRASE_MOST + 1],
                              tacit_error *error) {
    struct termios before, quiet;
    size_t length = 0;
    char letter = 0;
    if (tcgetattr(terminal, &before) != 0) return tacit_fail_errno(error, "asking", "the terminal");
    quiet = before;
    quiet.c_lflag &= ~(tcflag_t)ECHO;
    tcsetattr(terminal, TCSAFLUSH, &quiet);
    bool asked = write(terminal, prompt, strlen(prompt)) > 0;
    while (asked && read(terminal, &letter, 1) == 1 && letter != '\n')
        if (length <= TACIT_PASSPHRASE_MOST) out[length++] = letter;
    tcsetattr(terminal, TCSAFLUSH, &before);
    if (write(terminal, "\n", 1) != 1 || length > TACIT_PASSPHRASE_MOST)
        return tacit_fail(error, TACIT_USAGE, "a passphrase has at most %d bytes", TACIT_PASSPHRASE_MOST);
    out[length] = 0;
    return TACIT_OK;
}

static tacit_status type_passphrase(const char *prompt, bool twice, char out[TACIT_PASSPHRASE_MOST + 1],
                                    tacit_error *error) {
    char again[TACIT_PASSPHRASE_MOST + 1];
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0)
        return tacit_fail(
            error, TACIT_USAGE,
            "there is no terminal to ask for the passphrase: name a file with --passphrase-file, or "
            "in " TACIT_PASSPHRASE_VARIABLE);
    tacit_status status = type_line(terminal, prompt, out, error);
    if (status == TACIT_OK && twice) status = type_line(terminal, "Once more: ", again, error);
    if (status == TACIT_OK && twice && strcmp(out, again) != 0)
        status = tacit_fail(error, TACIT_USAGE, "these were two different passphrases: try again");
    sodium_memzero(again, sizeof again);
    close(terminal);
    return status;
}

tacit_status tacit_passphrase_take(const tacit_arguments *arguments, const char *option, const char *prompt,
                                   bool twice, char out[TACIT_PASSPHRASE_MOST + 1], tacit_error *error) {
    const char *file = tacit_arguments_text(arguments, option);
    if (file == NULL && strcmp(option, "passphrase-file") == 0) file = getenv(TACIT_PASSPHRASE_VARIABLE);
    if (file != NULL && file[0] != 0) return tacit_passphrase_read(file, out, error);
    return type_passphrase(prompt, twice, out, error);
}

tacit_status tacit_store_take(const tacit_arguments *arguments, tacit_vault **out, tacit_error *error) {
    char path[PATH_MAX], passphrase[TACIT_PASSPHRASE_MOST + 1];
    TACIT_TRY(tacit_home_path(path, sizeof path, TACIT_PERSONAL_FILE, error));
    if (access(path, F_OK) != 0)
        return tacit_fail(error, TACIT_NOT_FOUND,
                          "there is no personal store at %s: make one with tacit store new", path);
    TACIT_TRY(tacit_passphrase_take(arguments, "passphrase-file", "Passphrase: ", false, passphrase, error));
    tacit_status status = tacit_vault_open(out, path, passphrase, error);
    sodium_memzero(passphrase, sizeof passphrase);
    return status;
}
