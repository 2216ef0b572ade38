#include "net/rotation.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "net/x509.h"

#define NEXT_FOLDER "next"
#define LOCK_FILE "rotation.lock"

static tacit_status join(char out[PATH_MAX], const char *folder, const char *name, tacit_error *error) {
    return tacit_path_join(out, PATH_MAX, folder, name, error);
}

static tacit_status next_path(char out[PATH_MAX], const char *folder, const char *name, tacit_error *error) {
    char next[PATH_MAX];
    TACIT_TRY(join(next, folder, NEXT_FOLDER, error));
    return join(out, next, name, error);
}

/* The key of authority `number`, once it is not the present one. */
static tacit_status old_key_path(char out[PATH_MAX], const char *folder, size_t number, tacit_error *error) {
    char name[32];
    snprintf(name, sizeof name, TACIT_OLD_KEY_FILE, number);
    return join(out, folder, name, error);
}

void tacit_handover_until(const tacit_handover *handover, char out[32]) {
    struct tm parts;
    time_t time = (time_t)handover->until;
    gmtime_r(&time, &parts);
    strftime(out, 32, "%Y-%m-%d %H:%M UTC", &parts);
}

tacit_status tacit_handovers_load(tacit_handovers *out, const char *folder, tacit_error *error) {
    char path[PATH_MAX];
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_HANDOVERS_BYTES_MAX);
    TACIT_TRY(join(path, folder, TACIT_HANDOVER_FILE, error));
    tacit_status status = TACIT_OK;
    if (access(path, F_OK) == 0) status = tacit_file_read(path, &text, error);
    if (status == TACIT_OK)
        status = tacit_fail_in(error, tacit_handovers_read(out, text.bytes, text.length, error), "%s", path);
    tacit_buffer_clear(&text);
    return status;
}

/* ---- moving ---- */

static bool has_fingerprint(const char *path, const char *fingerprint) {
    tacit_buffer pem = TACIT_BUFFER_LIMITED(TACIT_CERTIFICATE_BYTES_MAX);
    tacit_certificate_info info;
    bool same = tacit_file_read(path, &pem, NULL) == TACIT_OK &&
                tacit_certificate_inspect(&info, pem.bytes, pem.length, NULL) == TACIT_OK &&
                strcmp(info.fingerprint, fingerprint) == 0;
    tacit_buffer_clear(&pem);
    return same;
}

/* Where the kernel lets a confined thread rename no file into another folder (Landlock's first version). */
static tacit_status copy_over(const char *from, const char *to, tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(TACIT_CERTIFICATE_BYTES_MAX);
    tacit_status status = tacit_file_read(from, &bytes, error);
    if (status == TACIT_OK) status = tacit_file_write(to, bytes.bytes, bytes.length, 0600, error);
    if (status == TACIT_OK) unlink(from);
    tacit_x509_wipe(&bytes);
    return status;
}

/* Another process may have been faster. */
static tacit_status move(const char *folder, const char *name, tacit_error *error) {
    char from[PATH_MAX], to[PATH_MAX];
    TACIT_TRY(next_path(from, folder, name, error));
    TACIT_TRY(join(to, folder, name, error));
    if (rename(from, to) == 0 || errno == ENOENT) return tacit_folder_sync_of(to, error);
    return errno == EXDEV ? copy_over(from, to, error) : tacit_fail_errno(error, "renaming", from);
}

/* The certificate goes last: as long as it is there, the rest is to be done. */
tacit_status tacit_authority_settle(const char *folder, tacit_error *error) {
    char certificate[PATH_MAX];
    tacit_handovers chain = { .count = 0 };
    TACIT_TRY(next_path(certificate, folder, TACIT_AUTHORITY_CERTIFICATE_FILE, error));
    if (access(certificate, F_OK) != 0) return TACIT_OK;
    tacit_status status = tacit_handovers_load(&chain, folder, error);
    bool counts = status == TACIT_OK && chain.count > 0 &&
                  has_fingerprint(certificate, chain.entries[chain.count - 1].new.fingerprint);
    if (counts) status = move(folder, TACIT_AUTHORITY_KEY_FILE, error);
    if (counts && status == TACIT_OK) status = move(folder, TACIT_AUTHORITY_CERTIFICATE_FILE, error);
    tacit_handovers_clear(&chain);
    return status;
}

/* ---- loading ---- */

/* The PEM of authority `number`. */
static tacit_status pem_of(const tacit_handovers *chain, size_t number, tacit_buffer *out,
                           tacit_error *error) {
    const tacit_handover *one = &chain->entries[number > 0 ? number - 1 : 0];
    return number > 0 ? tacit_certificate_to_pem(out, one->new_der, one->new_length, error)
                      : tacit_certificate_to_pem(out, one->old_der, one->old_length, error);
}

/* The oldest whose key is here; NULL when that is the present one. */
static tacit_status load_shown(tacit_authority **out, const char *folder, const tacit_handovers *chain,
                               size_t oldest, tacit_error *error) {
    char path[PATH_MAX];
    for (size_t number = oldest; number < chain->count; number++) {
        TACIT_TRY(old_key_path(path, folder, number, error));
        if (access(path, F_OK) != 0) continue;
        tacit_buffer pem = TACIT_BUFFER_INIT;
        tacit_status status = pem_of(chain, number, &pem, error);
        if (status == TACIT_OK) status = tacit_authority_read(out, path, pem.bytes, pem.length, error);
        tacit_buffer_clear(&pem);
        return status;
    }
    return TACIT_OK;
}

static tacit_status remove_keys(const char *folder, size_t count, tacit_error *error) {
    char path[PATH_MAX];
    for (size_t number = 0; number < count; number++) {
        TACIT_TRY(old_key_path(path, folder, number, error));
        if (unlink(path) != 0 && errno != ENOENT) return tacit_fail_errno(error, "removing", path);
    }
    return TACIT_OK;
}

tacit_status tacit_authority_keys_load(tacit_authority_keys **out, const char *folder, int64_t now,
                                       tacit_error *error) {
    tacit_authority_keys *keys = TACIT_NEW(tacit_authority_keys, 1);
    tacit_buffer pem = TACIT_BUFFER_INIT;
    tacit_status status;
    if (keys == NULL) return tacit_fail_memory(error);
    TACIT_CHECK(tacit_authority_load(&keys->present, folder, error));
    TACIT_CHECK(tacit_handovers_load(&keys->chain, folder, error));
    const size_t count = keys->chain.count;
    const char *present = tacit_authority_info(keys->present)->fingerprint;
    if (count > 0 && strcmp(keys->chain.entries[count - 1].new.fingerprint, present) != 0)
        TACIT_CHECK(
            tacit_fail(error, TACIT_CORRUPT,
                       "%s/ca.crt is not the authority that %s ends with: restore the folder from a backup",
                       folder, TACIT_HANDOVER_FILE));
    keys->oldest = tacit_handovers_oldest(&keys->chain, now);
    if (keys->oldest < count) keys->changes = keys->chain.entries[keys->oldest].until + 1;
    TACIT_CHECK(remove_keys(folder, keys->oldest, error));
    TACIT_CHECK(load_shown(&keys->shown, folder, &keys->chain, keys->oldest, error));
    TACIT_CHECK(tacit_buffer_append(&pem, tacit_authority_pem(keys->present),
                                    strlen(tacit_authority_pem(keys->present)), error));
    TACIT_CHECK(tacit_handovers_all(&keys->chain, &pem, &keys->all, error));
    if (keys->shown == NULL) keys->shown = keys->present;
    *out = keys;
    keys = NULL;
cleanup:
    tacit_buffer_clear(&pem);
    tacit_authority_keys_free(keys);
    return status;
}

tacit_authority_keys *tacit_authority_keys_free(tacit_authority_keys *keys) {
    if (keys == NULL) return NULL;
    if (keys->shown != keys->present) tacit_authority_free(keys->shown);
    tacit_authority_free(keys->present);
    tacit_handovers_clear(&keys->chain);
    tacit_buffer_clear(&keys->all);
    free(keys);
    return NULL;
}

bool tacit_authority_keys_retired(const tacit_authority_keys *keys, const char *key_id) {
    for (size_t i = keys->oldest; i < keys->chain.count; i++)
        if (strcmp(keys->chain.entries[i].old.key_id, key_id) == 0) return false;
    return strcmp(tacit_authority_info(keys->present)->key_id, key_id) != 0;
}

/* ---- rotating ---- */

static tacit_status lock_folder(int *out, const char *folder, tacit_error *error) {
    char path[PATH_MAX];
    TACIT_TRY(join(path, folder, LOCK_FILE, error));
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0) return tacit_fail_errno(error, "opening", path);
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
        *out = lock;
        return TACIT_OK;
    }
    int why = errno;
    close(lock);
    errno = why;
    return why == EWOULDBLOCK
               ? tacit_fail(error, TACIT_USAGE, "another process replaces the authority of %s now", folder)
               : tacit_fail_errno(error, "locking", path);
}

/* What an attempt left that did not come to count. */
static tacit_status make_next(tacit_authority **out, const char *folder, const char *name,
                              tacit_error *error) {
    char path[PATH_MAX];
    TACIT_TRY(next_path(path, folder, TACIT_AUTHORITY_CERTIFICATE_FILE, error));
    unlink(path);
    TACIT_TRY(next_path(path, folder, TACIT_AUTHORITY_KEY_FILE, error));
    unlink(path);
    TACIT_TRY(join(path, folder, NEXT_FOLDER, error));
    return tacit_authority_create(out, path, name, error);
}

static tacit_status keep_key(const char *folder, size_t number, tacit_error *error) {
    char from[PATH_MAX], to[PATH_MAX];
    tacit_buffer pem = TACIT_BUFFER_INIT;
    TACIT_TRY(join(from, folder, TACIT_AUTHORITY_KEY_FILE, error));
    TACIT_TRY(old_key_path(to, folder, number, error));
    tacit_status status = tacit_x509_read_private(&pem, from, error);
    if (status == TACIT_OK) status = tacit_file_write(to, pem.bytes, pem.length, 0600, error);
    tacit_x509_wipe(&pem);
    return status;
}

static tacit_status check_room(const tacit_authority_keys *keys, int64_t until, bool stolen,
                               tacit_error *error) {
    const tacit_handovers *chain = &keys->chain;
    if (chain->count == TACIT_HANDOVERS_MOST)
        return tacit_fail(error, TACIT_USAGE,
                          "the authority was replaced %d times, which is the most: begin a new folder",
                          TACIT_HANDOVERS_MOST);
    if (stolen || chain->count == 0) return TACIT_OK;
    if (chain->count - keys->oldest + 2 > TACIT_TRUSTED_MOST)
        return tacit_fail(error, TACIT_USAGE,
                          "%d authorities are trusted now: wait until the oldest one's time is over",
                          TACIT_TRUSTED_MOST - 1);
    if (until < chain->entries[chain->count - 1].until)
        return tacit_fail(
            error, TACIT_USAGE,
            "the overlap would end before that of the last rotation: raise the option 'overlap-days'");
    return TACIT_OK;
}

static tacit_status rotate(const char *folder, int64_t now, int64_t overlap, bool stolen,
                           tacit_authority_keys *keys, tacit_error *error) {
    char path[PATH_MAX];
    tacit_authority *next = NULL;
    tacit_handovers *chain = &keys->chain;
    const size_t number = chain->count;
    const int64_t until = stolen ? now : now + overlap;
    tacit_status status;
    TACIT_CHECK(check_room(keys, until, stolen, error));
    TACIT_CHECK(make_next(&next, folder, tacit_authority_info(keys->present)->name, error));
    TACIT_CHECK(tacit_handovers_add(chain, keys->present, next, now, until, stolen, error));
    if (!stolen) TACIT_CHECK(keep_key(folder, number, error));
    TACIT_CHECK(join(path, folder, TACIT_HANDOVER_FILE, error));
    TACIT_CHECK(tacit_file_write(path, chain->text.bytes, chain->text.length, 0644, error));
    TACIT_CHECK(tacit_authority_settle(folder, error));
    if (stolen) TACIT_CHECK(remove_keys(folder, number + 1, error));
cleanup:
    tacit_authority_free(next);
    return status;
}

tacit_status tacit_authority_rotate(const char *folder, int64_t now, int64_t overlap, bool stolen,
                                    tacit_handovers *chain, tacit_error *error) {
    tacit_authority_keys *keys = NULL;
    int lock = -1;
    tacit_status status;
    TACIT_CHECK(lock_folder(&lock, folder, error));
    TACIT_CHECK(tacit_authority_keys_load(&keys, folder, now, error));
    TACIT_CHECK(rotate(folder, now, overlap, stolen, keys, error));
    *chain = keys->chain;
    keys->chain = (tacit_handovers){ .count = 0 };
cleanup:
    tacit_authority_keys_free(keys);
    if (lock >= 0) close(lock);
    return status;
}
