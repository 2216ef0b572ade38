#include "cli/output_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static mode_t current_umask(void) {
    mode_t mask = umask(0);
    umask(mask);
    return mask;
}

/* A temporary file beside `path`: only within one file system is a rename a single step. */
static int create_beside(tacit_output *output, const char *path, mode_t mode, tacit_error *error) {
    int file = -1;
    if (asprintf(&output->temporary, "%s.XXXXXX", path) < 0) {
        output->temporary = NULL;
        tacit_fail_memory(error);
        return -1;
    }
    file = mkostemp(output->temporary, O_CLOEXEC);
    if (file >= 0 && fchmod(file, mode) == 0) return file;
    tacit_fail_errno(error, "creating a file beside", path);
    if (file >= 0) {
        close(file);
        unlink(output->temporary);
    }
    free(output->temporary);
    output->temporary = NULL;
    return -1;
}

tacit_status tacit_output_open(tacit_output *output, const char *path, FILE *otherwise, mode_t mode,
                               tacit_error *error) {
    *output = (tacit_output){ .stream = otherwise, .path = path };
    if (path == NULL) return TACIT_OK;
    struct stat about;
    bool exists = stat(path, &about) == 0;
    int file;
    if (exists && S_ISDIR(about.st_mode))
        return tacit_fail(error, TACIT_IO, "%s is a folder, not a file", path);
    tacit_error inner = TACIT_ERROR_INIT;
    if (exists && !S_ISREG(about.st_mode)) {
        file = open(path, O_WRONLY | O_CLOEXEC);
        if (file < 0) tacit_fail_errno(&inner, "opening", path);
    } else {
        file = create_beside(output, path, exists ? about.st_mode & 07777 : mode & ~current_umask(), &inner);
    }
    if (file < 0) return tacit_fail(error, inner.status, "%s", inner.text);
    output->stream = fdopen(file, "w");
    if (output->stream != NULL) return TACIT_OK;
    close(file);
    return tacit_output_close(output, tacit_fail_memory(error), error);
}

tacit_status tacit_output_close(tacit_output *output, tacit_status status, tacit_error *error) {
    if (output->path == NULL) return status;
    if (output->stream != NULL) {
        bool lost = fflush(output->stream) != 0 || ferror(output->stream) ||
                    (output->temporary != NULL && fsync(fileno(output->stream)) != 0);
        if (lost && status == TACIT_OK) status = tacit_fail_errno(error, "writing", output->path);
        if (fclose(output->stream) != 0 && status == TACIT_OK)
            status = tacit_fail_errno(error, "closing", output->path);
    }
    if (output->temporary != NULL) {
        if (status == TACIT_OK && rename(output->temporary, output->path) != 0)
            status = tacit_fail_errno(error, "replacing", output->path);
        if (status != TACIT_OK) unlink(output->temporary);
    }
    free(output->temporary);
    *output = (tacit_output){ 0 };
    return status;
}
