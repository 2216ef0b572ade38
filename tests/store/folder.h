/* A folder for one test, and children that report through a pipe. */
#pragma once

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct folder {
    char path[64];
    char file[96]; /* a file name in it, not made */
} folder;

static inline folder folder_make(void) {
    /* In memory where possible: the tests sync thousands of times, and that it happens is checked apart. */
    folder made = { .path = "/dev/shm/tacit-test-XXXXXX" };
    if (mkdtemp(made.path) == NULL) {
        strcpy(made.path, "/tmp/tacit-test-XXXXXX");
        if (mkdtemp(made.path) == NULL) abort();
    }
    snprintf(made.file, sizeof made.file, "%s/test.db", made.path);
    return made;
}

static inline int folder_remove_one(const char *path, const struct stat *about, int type, struct FTW *where) {
    (void)about, (void)type, (void)where;
    return remove(path);
}

static inline void folder_remove(const folder *used) {
    nftw(used->path, folder_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Whether a child ended by itself with exit code 0. A child must leave through _exit, so that it does not run
 * the test program's own ending. */
static inline bool child_succeeded(pid_t child) {
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
