#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tacit_status read_all(int file, const char *path, tacit_buffer *out, tacit_error *error) {
    tacit_status status = TACIT_OK;
    for (;;) {
        uint8_t chunk[16384];
        ssize_t got = read(file, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) status = tacit_fail_errno(error, "reading", path);
        if (got <= 0) break;
        status = tacit_buffer_append(out, chunk, (size_t)got, error);
        if (status != TACIT_OK) {
            status = tacit_fail_in(error, status, "reading %s", path);
            break;
        }
    }
    return status;
}

tacit_status tacit_file_read(const char *path, tacit_buffer *out, tacit_error *error) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return tacit_fail_errno(error, "opening", path);
    tacit_status status = read_all(file, path, out, error);
    close(file);
    return status;
}

tacit_status tacit_input_read(tacit_buffer *out, tacit_error *error) {
    return read_all(STDIN_FILENO, "standard input", out, error);
}

static tacit_status write_all(int file, const uint8_t *bytes, size_t length, const char *path,
                              tacit_error *error) {
    while (length > 0) {
        ssize_t put = write(file, bytes, length);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return tacit_fail_errno(error, "writing", path);
        bytes += put;
        length -= (size_t)put;
    }
    return TACIT_OK;
}

tacit_status tacit_folder_sync_of(const char *path, tacit_error *error) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    if (length >= sizeof folder) return tacit_fail(error, TACIT_LIMIT, "path too long: %s", path);
    memcpy(folder, slash == NULL ? "." : path, length);
    folder[length] = 0;
    int handle = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0) return tacit_fail_errno(error, "opening folder", folder);
    /* Some file systems cannot sync a folder and say EINVAL: nothing more can be done there. */
    tacit_status status =
        fsync(handle) == 0 || errno == EINVAL ? TACIT_OK : tacit_fail_errno(error, "syncing", folder);
    close(handle);
    return status;
}

/* A device or a pipe cannot be replaced by a file; it is written as it is. */
static bool is_special(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

static tacit_status write_special(const char *path, const void *bytes, size_t length, tacit_error *error) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return tacit_fail_errno(error, "opening", path);
    tacit_status status = write_all(file, bytes, length, path, error);
    close(file);
    return status;
}

tacit_status tacit_file_write(const char *path, const void *bytes, size_t length, mode_t mode,
                              tacit_error *error) {
    char temporary[PATH_MAX];
    if (is_special(path)) return write_special(path, bytes, length, error);
    int needed = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    if (needed < 0 || (size_t)needed >= sizeof temporary)
        return tacit_fail(error, TACIT_LIMIT, "path too long: %s", path);
    int file = mkostemp(temporary, O_CLOEXEC);
    if (file < 0) return tacit_fail_errno(error, "creating a file beside", path);
    tacit_status status = write_all(file, bytes, length, path, error);
    if (status == TACIT_OK && fsync(file) != 0) status = tacit_fail_errno(error, "syncing", path);
    if (status == TACIT_OK && fchmod(file, mode) != 0)
        status = tacit_fail_errno(error, "setting the mode of", path);
    if (close(file) != 0 && status == TACIT_OK) status = tacit_fail_errno(error, "closing", path);
    if (status == TACIT_OK && rename(temporary, path) != 0)
        status = tacit_fail_errno(error, "replacing", path);
    if (status != TACIT_OK) {
        unlink(temporary);
        return status;
    }
    return tacit_folder_sync_of(path, error);
}

tacit_status tacit_file_check_writable(const char *path, tacit_error *error) {
    struct stat about;
    char temporary[PATH_MAX];
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return tacit_fail(error, TACIT_IO, "%s is a folder, not a file", path);
    if (is_special(path))
        return access(path, W_OK) == 0 ? TACIT_OK : tacit_fail_errno(error, "opening", path);
    int needed = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    if (needed < 0 || (size_t)needed >= sizeof temporary)
        return tacit_fail(error, TACIT_LIMIT, "path too long: %s", path);
    int file = mkostemp(temporary, O_CLOEXEC);
    if (file < 0) return tacit_fail_errno(error, "creating a file beside", path);
    close(file);
    unlink(temporary);
    return TACIT_OK;
}

tacit_status tacit_folder_make(const char *path, tacit_error *error) {
    char partial[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0) return tacit_fail(error, TACIT_USAGE, "a folder needs a name");
    if (length >= sizeof partial) return tacit_fail(error, TACIT_LIMIT, "path too long: %s", path);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != 0) continue;
        memcpy(partial, path, i);
        partial[i] = 0;
        if (mkdir(partial, 0700) != 0 && errno != EEXIST)
            return tacit_fail_errno(error, "making folder", partial);
    }
    struct stat about;
    if (stat(path, &about) != 0) return tacit_fail_errno(error, "looking at", path);
    if (!S_ISDIR(about.st_mode)) return tacit_fail(error, TACIT_IO, "%s is not a folder", path);
    return TACIT_OK;
}

tacit_status tacit_path_join(char *out, size_t size, const char *folder, const char *name,
                             tacit_error *error) {
    int needed = snprintf(out, size, "%s/%s", folder, name);
    if (needed < 0 || (size_t)needed >= size)
        return tacit_fail(error, TACIT_LIMIT, "path too long: %s/%s", folder, name);
    return TACIT_OK;
}
