/*
 * Preloaded into a tacit process by test_kills.py: ends it as kill -9 does at its N-th durable step, just
 * before or just after it. A durable step is what a crash can separate from the next: a sync of a file, a new
 * name for one, a name gone.
 *
 *     TACIT_DIES="before 7"   or   "after 7"
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int fsync(int file);
int fdatasync(int file);
int rename(const char *from, const char *to);
int link(const char *from, const char *to);
int unlink(const char *path);

static atomic_long steps;

/* When the process is to die; read in each step, since the environment stays as it was at the start. */
static bool is_due(long step, const char *when) {
    const char *text = getenv("TACIT_DIES");
    char word[8];
    long at;
    return text != NULL && sscanf(text, "%7s %ld", word, &at) == 2 && at == step && strcmp(word, when) == 0;
}

static void die_if(bool due) {
    if (due) kill(getpid(), SIGKILL);
}

/* The real one, behind ours. ISO C has no conversion from what dlsym returns to a function. */
#define REAL(name)                                                                                           \
    __typeof__(&name) real;                                                                                  \
    *(void **)&real = dlsym(RTLD_NEXT, #name)

#define STEP(name, ...)                                                                                      \
    do {                                                                                                     \
        REAL(name);                                                                                          \
        long step = atomic_fetch_add(&steps, 1) + 1;                                                         \
        die_if(is_due(step, "before"));                                                                      \
        int result = real(__VA_ARGS__);                                                                      \
        die_if(is_due(step, "after"));                                                                       \
        return result;                                                                                       \
    } while (0)

int fsync(int file) { STEP(fsync, file); }
int fdatasync(int file) { STEP(fdatasync, file); }
int rename(const char *from, const char *to) { STEP(rename, from, to); }
int link(const char *from, const char *to) { STEP(link, from, to); }
int unlink(const char *path) { STEP(unlink, path); }
