/*
 * Preloaded into a tacit process by test_threads.py. A signal makes the thread that gets it try what its
 * process must not do, and tell what came of it; so a test can ask every thread that there is, one by one,
 * also those of libraries.
 *
 *     TACIT_PROBE=FOLDER          a folder with `forbidden`, which the process has no use for; answers go to FOLDER/answers, opened before
 *                                 the process confines itself, a line each: thread, and errno of reading and
 *                                 of writing (0: it could)
 *     TACIT_PROBE_LANDLOCK=none   the kernel is one without Landlock
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static char forbidden[4096], written[4096];
static int answers = -1;

static int try_to_open(const char *path, int flags) {
    int file = open(path, flags | O_CLOEXEC, 0600);
    if (file < 0) return errno;
    close(file);
    return 0;
}

/* snprintf of whole numbers takes no lock and no memory in the C library that this is for. */
static void answer(int number) {
    char line[80];
    int kept = errno;
    (void)number;
    int length = snprintf(line, sizeof line, "%ld %d %d\n", (long)syscall(SYS_gettid),
                          try_to_open(forbidden, O_RDONLY), try_to_open(written, O_WRONLY | O_CREAT));
    if (write(answers, line, (size_t)length) != length) _exit(99);
    errno = kept;
}

/* ENOSYS for landlock_create_ruleset and the two after it. */
static void take_landlock_away(void) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 444, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 446, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { sizeof program / sizeof program[0], program };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0)
        _exit(98);
}

__attribute__((constructor)) static void start(void) {
    const char *folder = getenv("TACIT_PROBE"), *landlock = getenv("TACIT_PROBE_LANDLOCK");
    struct sigaction asked = { .sa_handler = answer, .sa_flags = SA_RESTART };
    char path[4096];
    if (landlock != NULL && strcmp(landlock, "none") == 0) take_landlock_away();
    if (folder == NULL) return;
    snprintf(forbidden, sizeof forbidden, "%s/forbidden", folder);
    snprintf(written, sizeof written, "%s/written", folder);
    snprintf(path, sizeof path, "%s/answers", folder);
    answers = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    sigfillset(&asked.sa_mask);
    if (answers < 0 || sigaction(SIGRTMIN + 7, &asked, NULL) != 0) _exit(97);
}
