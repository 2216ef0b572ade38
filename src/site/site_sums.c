/* What a party keeps in a study's folder for masked sums: its signing key, the roster, and the state of the
 * last sum. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "site/site_parts.h"

/* One key for all studies of a coordinator: parties that are in several of them can tell whether the others
 * are the same ones. */
static tacit_status home_seed(const tacit_site *site, uint8_t seed[crypto_sign_SEEDBYTES],
                              tacit_error *error) {
    const char *authority = strchr(site->id, '@');
    char name[TACIT_SITE_ID_SIZE + 16], path[PATH_MAX];
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(crypto_sign_SEEDBYTES);
    tacit_status status;
    authority = authority != NULL ? authority + 1 : site->id;
    snprintf(name, sizeof name, "sums-%.*s.key", (int)strcspn(authority, "+"), authority);
    TACIT_CHECK(tacit_path_join(path, sizeof path, site->home, name, error));
    if (access(path, F_OK) != 0) {
        randombytes_buf(seed, crypto_sign_SEEDBYTES);
        TACIT_CHECK(tacit_file_write(path, seed, crypto_sign_SEEDBYTES, 0600, error));
    }
    TACIT_CHECK(tacit_file_read(path, &bytes, error));
    if (bytes.length != crypto_sign_SEEDBYTES)
        TACIT_CHECK(tacit_fail(error, TACIT_CORRUPT, "%s is damaged: remove it, and join again", path));
    memcpy(seed, bytes.bytes, crypto_sign_SEEDBYTES);
cleanup:
    if (bytes.bytes != NULL) sodium_memzero(bytes.bytes, bytes.length);
    tacit_buffer_clear(&bytes);
    return status;
}

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
        TACIT_CHECK(home_seed(site, seed, error));
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
    const tacit_masks_past past = site_sets(site);
    if (status == TACIT_OK) status = tacit_masks_create(out, &site->study->plan, secret_key, &store, error);
    if (status == TACIT_OK) tacit_masks_set_past(*out, &past);
    sodium_memzero(secret_key, sizeof secret_key);
    return status;
}
