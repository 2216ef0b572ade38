/*
 * Makes a personal store as `tacit store new` does, whose passphrase costs as little to try as libsodium lets
 * it: for tests with hundreds of people, whose programs open stores thousands of times.
 *
 *     light_store HOME FILE    the passphrase is the first line of FILE
 */
#include <sodium.h>
#include <stdio.h>

#include "base/file.h"
#include "person/personal.h"

int main(int count, char **words) {
    const tacit_vault_cost least = { crypto_pwhash_OPSLIMIT_MIN, crypto_pwhash_MEMLIMIT_MIN };
    char path[4096], passphrase[TACIT_PASSPHRASE_MOST + 1];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status;
    if (count != 3 || sodium_init() < 0) return 2;
    TACIT_CHECK(tacit_folder_make(words[1], &error));
    TACIT_CHECK(tacit_path_join(path, sizeof path, words[1], TACIT_PERSONAL_FILE, &error));
    TACIT_CHECK(tacit_passphrase_read(words[2], passphrase, &error));
    TACIT_CHECK(tacit_vault_create(path, passphrase, &least, &error));
cleanup:
    sodium_memzero(passphrase, sizeof passphrase);
    if (status != TACIT_OK) fprintf(stderr, "%s\n", error.text);
    return status == TACIT_OK ? 0 : 1;
}
