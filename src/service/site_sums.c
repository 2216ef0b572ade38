/* What a party keeps in a study's folder for masked sums: its signing key, the roster, and the state of the last sum. */
#include <sodium.h>
#include <string.h>

#include "base/file.h"
#include "service/site_parts.h"

tacit_status site_sum_key(const tacit_site *site, uint8_t public_key[TACIT_SIGNING_KEY_BYTES],
                          uint8_t secret_key[crypto_sign_SECRETKEYBYTES], tacit_error *error) {
    char path[PATH_MAX];
    uint8_t seed[crypto_sign_SEEDBYTES];
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(sizeof seed);
    tacit_status status;
    TACIT_CHECK(site_path(site, SITE_SUM_KEY_FILE, path, error));
    if (site_file_exists(site, SITE_SUM_KEY_FILE)) {
        TACIT_CHECK(tacit_file_read(path, &bytes, error));
        if (bytes.length != sizeof seed)
            TACIT_CHECK(
                tacit_fail(error, TACIT_CORRUPT, "%s is damaged: join again with a new invitation", path));
        memcpy(seed, bytes.bytes, sizeof seed);
    } else {
        randombytes_buf(seed, sizeof seed);
        TACIT_CHECK(tacit_file_write(path, seed, sizeof seed, 0600, error));
    }
    crypto_sign_seed_keypair(public_key, secret_key, seed);
cleanup:
    sodium_memzero(seed, sizeof seed);
    if (bytes.bytes != NULL) sodium_memzero(bytes.bytes, bytes.length);
    tacit_buffer_clear(&bytes);
    return status;
}

tacit_status site_read_kept(void *context, const char *name, bool *found, tacit_buffer *out,
                            tacit_error *error) {
    const tacit_site *site = context;
    char path[PATH_MAX];
    *found = site_file_exists(site, name);
    if (!*found) return TACIT_OK;
    TACIT_TRY(site_path(site, name, path, error));
    return tacit_file_read(path, out, error);
}

tacit_status site_write_kept(void *context, const char *name, const uint8_t *bytes, size_t length,
                             tacit_error *error) {
    char path[PATH_MAX];
    TACIT_TRY(site_path(context, name, path, error));
    return tacit_file_write(path, bytes, length, 0600, error);
}

tacit_status site_masks(tacit_site *site, tacit_masks **out, tacit_error *error) {
    tacit_masks_store store = { site_read_kept, site_write_kept, site };
    uint8_t public_key[TACIT_SIGNING_KEY_BYTES], secret_key[crypto_sign_SECRETKEYBYTES];
    if (site->study->plan.sums == TACIT_SUMS_CLEAR) return TACIT_OK;
    tacit_status status = site_sum_key(site, public_key, secret_key, error);
    if (status == TACIT_OK) status = tacit_masks_create(out, &site->study->plan, secret_key, &store, error);
    sodium_memzero(secret_key, sizeof secret_key);
    return status;
}
