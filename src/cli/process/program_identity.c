#include "cli/process/program_identity.h"

#include <stdio.h>

tacit_status tacit_program_identity(char out[TACIT_BUILD_SIZE], tacit_error *error) {
    static const char program[] = "/proc/self/exe";
    uint8_t block[1 << 16], hash[TACIT_DIGEST_BYTES];
    tacit_digest digest;
    size_t length;
    FILE *file = fopen(program, "rbe");
    if (file == NULL) return tacit_fail_errno(error, "telling this build of tacit by", program);
    tacit_digest_begin(&digest, "tacit build", NULL);
    while ((length = fread(block, 1, sizeof block, file)) > 0) tacit_digest_bytes(&digest, block, length);
    tacit_digest_end(&digest, hash);
    tacit_status status =
        ferror(file) == 0 ? TACIT_OK : tacit_fail_errno(error, "telling this build of tacit by", program);
    fclose(file);
    if (status != TACIT_OK) return status;
    sodium_bin2hex(out, TACIT_BUILD_SIZE, hash, sizeof hash);
    return TACIT_OK;
}
