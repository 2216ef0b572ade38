#include "cli/key_file.h"

#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "net/identity.h"

tacit_status tacit_key_file_read(const char *path, const char *what, uint8_t out[TACIT_KEY_FILE_BYTES],
                                 tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(TACIT_KEY_FILE_BYTES);
    tacit_status status;
    TACIT_CHECK(tacit_key_check_private(path, error));
    TACIT_CHECK(tacit_file_read(path, &bytes, error));
    if (bytes.length != TACIT_KEY_FILE_BYTES)
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "%s is no %s", path, what));
    memcpy(out, bytes.bytes, bytes.length);
cleanup:
    if (bytes.bytes != NULL) sodium_memzero(bytes.bytes, bytes.capacity);
    tacit_buffer_clear(&bytes);
    return status;
}

tacit_status tacit_key_file_seed(const char *path, const char *what, uint8_t seed[TACIT_KEY_FILE_BYTES],
                                 tacit_console *console, tacit_error *error) {
    if (access(path, F_OK) == 0) return tacit_key_file_read(path, what, seed, error);
    randombytes_buf(seed, TACIT_KEY_FILE_BYTES);
    tacit_console_note(console, "made a signing key in %s: keep it, and let nobody read it", path);
    return tacit_file_write(path, seed, TACIT_KEY_FILE_BYTES, 0600, error);
}
