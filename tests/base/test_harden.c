/* What is forbidden to a hardened process, tried by a child that has hardened itself. */
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/harden.h"
#include "base/secret.h"
#include "check.h"

/* Leave the child with the line that was not as expected. */
#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) _exit(__LINE__ % 200 + 10);                                                        \
    } while (0)

static char inside[] = "/tmp/tacit-inside-XXXXXX", outside[] = "/tmp/tacit-outside-XXXXXX";

static void check_child(pid_t child) {
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("the child left with %d (line %d modulo 200), signal %d", WEXITSTATUS(status),
                 WEXITSTATUS(status) - 10, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static int try_to_write(const char *folder, const char *name) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return errno;
    close(file);
    return 0;
}

static int try_to_read(const char *folder, const char *name) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno;
    close(file);
    return 0;
}

static tacit_hardening harden(bool programs, bool reads_all) {
    tacit_harden_settings settings = { .runs_programs = programs, .reads_all = reads_all };
    tacit_harden_allow(&settings, inside, true);
    tacit_harden_allow(&settings, "/nowhere/at/all", true);
    tacit_hardening now = tacit_harden(&settings);
    tacit_harden_clear(&settings);
    return now;
}

static void *work(void *argument) { return argument; }

static bool fails_with(long result, int expected) { return result == -1 && errno == expected; }

static void what_it_has_no_use_for_is_forbidden(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        char true_path[] = "/bin/true", *words[] = { true_path, NULL }, *none[] = { NULL };
        char byte = 0;
        struct iovec here = { &byte, 1 };
        struct rlimit core;
        tacit_hardening now = harden(false, false);
        EXPECT(now.no_dumps && now.no_privileges);
        EXPECT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
        EXPECT(getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_cur == 0 && core.rlim_max == 0);
        EXPECT(now.filtered == tacit_harden_possible().filtered);
        if (!now.filtered) _exit(0); /* built without libseccomp */
        EXPECT(prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2);
        EXPECT(fails_with(execve(words[0], words, none), EPERM)); /* the filter, before the files */
        EXPECT(fails_with(syscall(SYS_process_vm_readv, getpid(), &here, 1, &here, 1, 0), EPERM));
        EXPECT(fails_with(syscall(SYS_bpf, 0, NULL, 0), EPERM));
        EXPECT(fails_with(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0), EPERM));
        EXPECT(fails_with(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0), EPERM));
        EXPECT(fails_with(syscall(SYS_userfaultfd, 0), EPERM));
        EXPECT(fails_with(mount("none", inside, "tmpfs", 0, ""), EPERM));
        EXPECT(fails_with(unshare(CLONE_NEWUSER), EPERM));
        EXPECT(fails_with(syscall(SYS_clone, (unsigned long)CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL),
                          EPERM));
        EXPECT(fails_with(syscall(SYS_init_module, NULL, 0, ""), EPERM));
        EXPECT(fails_with(chroot("/"), EPERM));
        EXPECT(fails_with(setuid(getuid()), EPERM));
        EXPECT(fails_with(socket(AF_PACKET, SOCK_RAW, 0), EAFNOSUPPORT));
#ifndef __SANITIZE_ADDRESS__
        EXPECT(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
        EXPECT(fails_with(ptrace(PTRACE_TRACEME, 0, NULL, NULL), EPERM));
#endif
        _exit(0);
    }
    check_child(child);
}

static void files_that_were_not_named_are_not_there(void **state) {
    (void)state;
    assert_int_equal(try_to_write(outside, "rows.csv"), 0);
    assert_int_equal(try_to_write(inside, "there"), 0);
    pid_t child = fork();
    if (child == 0) {
        char from[200], to[200];
        tacit_hardening now = harden(false, false);
        EXPECT(now.confined == tacit_harden_possible().confined);
        if (now.confined == 0) _exit(0); /* the kernel has no Landlock */
        EXPECT(try_to_read(outside, "rows.csv") == EACCES);
        EXPECT(try_to_write(outside, "new") == EACCES);
        EXPECT(try_to_write("/tmp", "tacit-not-here") == EACCES);
        EXPECT(try_to_write("/etc", "tacit-not-here") != 0);
        EXPECT(try_to_read("/etc", "passwd") == 0); /* names of users: what the C library looks up */
        EXPECT(try_to_read(inside, "there") == 0);
        EXPECT(try_to_write(inside, "new") == 0);
        snprintf(from, sizeof from, "%s/new", inside);
        snprintf(to, sizeof to, "%s/renamed", inside);
        EXPECT(rename(from, to) == 0 && unlink(to) == 0);
        _exit(0);
    }
    check_child(child);
    child = fork();
    if (child == 0) {
        tacit_hardening now = harden(false, true);
        EXPECT(try_to_read(outside, "rows.csv") == 0);
        EXPECT(now.confined == 0 || try_to_write(outside, "new") == EACCES);
        _exit(0);
    }
    check_child(child);
}

static void what_serving_needs_still_works(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
        harden(false, false);
        EXPECT(pthread_create(&thread, NULL, work, NULL) == 0 && pthread_join(thread, NULL) == 0);
        EXPECT(getaddrinfo("localhost", "443", &hints, &found) == 0);
        freeaddrinfo(found);
        int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        EXPECT(listener >= 0 && listen(listener, 1) == 0);
        EXPECT(try_to_read("/dev", "urandom") == 0 && try_to_write("/dev", "null") == 0);
        _exit(0);
    }
    check_child(child);
}

static int turn[2]; /* a byte to read: go on */

typedef struct tried {
    int reading, filtered;
} tried;

static void *read_what_is_outside(void *argument) {
    char byte;
    tried *result = argument;
    result->reading = read(turn[0], &byte, 1) == 1 ? try_to_read(outside, "rows.csv") : -1;
    result->filtered = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2;
    return argument;
}

static void threads_that_start_afterwards_are_confined_and_others_are_filtered_and_counted(void **state) {
    (void)state;
    assert_int_equal(try_to_write(outside, "rows.csv"), 0);
    assert_int_equal(pipe(turn), 0);
    pid_t child = fork();
    if (child == 0) {
        pthread_t early, late;
        tried of_early = { -1, -1 }, of_late = { -1, -1 };
        EXPECT(pthread_create(&early, NULL, read_what_is_outside, &of_early) == 0);
        tacit_hardening now = harden(false, false);
        EXPECT(pthread_create(&late, NULL, read_what_is_outside, &of_late) == 0);
        EXPECT(write(turn[1], "..", 2) == 2);
        EXPECT(pthread_join(early, NULL) == 0 && pthread_join(late, NULL) == 0);
        EXPECT(of_early.filtered == now.filtered && of_late.filtered == now.filtered);
        if (now.confined == 0) _exit(0); /* the kernel has no Landlock */
        EXPECT(now.before == 1 && of_early.reading == 0);
        EXPECT(of_late.reading == EACCES);
        _exit(0);
    }
    check_child(child);
    child = fork();
    if (child == 0) {
        EXPECT(harden(false, false).before == 0);
        _exit(0);
    }
    check_child(child);
    close(turn[0]);
    close(turn[1]);
}

static void a_program_that_the_owner_set_is_started(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        char true_path[] = "/bin/true", *words[] = { true_path, NULL }, *none[] = { NULL };
        tacit_hardening now = harden(true, false);
        EXPECT(now.confined == 0);
        execve(words[0], words, none);
        _exit(1);
    }
    check_child(child);
}

static void ranks_that_share_memory_gain_no_privileges_either(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        const tacit_harden_settings settings = { .shares_memory = true };
        tacit_hardening now = tacit_harden(&settings);
        EXPECT(now.no_dumps && now.no_privileges && !now.filtered && now.confined == 0);
        EXPECT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
        EXPECT(prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0);
        _exit(0);
    }
    check_child(child);
}

static void it_leaves_no_core(void **state) {
    (void)state;
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit most = { RLIM_INFINITY, RLIM_INFINITY };
        setrlimit(RLIMIT_CORE, &most);
        harden(false, false);
        signal(SIGABRT, SIG_DFL);
        EXPECT(chdir(inside) == 0);
        abort();
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_false(WCOREDUMP(status));
}

static void it_can_be_switched_off_for_a_debugger_and_says_what_holds(void **state) {
    (void)state;
    char text[TACIT_HARDEN_TEXT];
    tacit_hardening full = { true, true, true, 4, 0 }, part = { true, true, true, 4, 3 },
                    none = { .no_dumps = false };
    assert_string_equal(
        tacit_hardening_text(text, &full),
        "no core dumps, no new privileges, system calls filtered, files confined (Landlock 4)");
    assert_non_null(strstr(tacit_hardening_text(text, &none), "files not confined"));
    assert_non_null(strstr(tacit_hardening_text(text, &part),
                           "files confined (Landlock 4) but in 3 threads that were there before"));
    pid_t child = fork();
    if (child == 0) {
        setenv("TACIT_HARDENING", "off", 1);
        tacit_hardening now = harden(false, false);
        EXPECT(!now.no_dumps && !now.no_privileges && !now.filtered && now.confined == 0);
        EXPECT(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0);
        EXPECT(!tacit_harden_possible().filtered);
        _exit(0);
    }
    check_child(child);
}

static void a_secret_is_locked_where_the_limit_allows_it(void **state) {
    (void)state;
    char *secret = malloc(100);
    assert_non_null(secret);
    tacit_secret_lock(secret, 100); /* and does not fail */
    tacit_secret_lock(secret, 0);
    memset(secret, 7, 100);
    free(secret);
}

static int make_folders(void **state) {
    (void)state;
    return mkdtemp(inside) != NULL && mkdtemp(outside) != NULL ? 0 : -1;
}

static int remove_folders(void **state) {
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s/rows.csv", outside);
    unlink(path);
    snprintf(path, sizeof path, "%s/there", inside);
    unlink(path);
    return rmdir(inside) == 0 && rmdir(outside) == 0 ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_has_no_use_for_is_forbidden),
        cmocka_unit_test(files_that_were_not_named_are_not_there),
        cmocka_unit_test(what_serving_needs_still_works),
        cmocka_unit_test(threads_that_start_afterwards_are_confined_and_others_are_filtered_and_counted),
        cmocka_unit_test(a_program_that_the_owner_set_is_started),
        cmocka_unit_test(ranks_that_share_memory_gain_no_privileges_either),
        cmocka_unit_test(it_leaves_no_core),
        cmocka_unit_test(it_can_be_switched_off_for_a_debugger_and_says_what_holds),
        cmocka_unit_test(a_secret_is_locked_where_the_limit_allows_it),
    };
    return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
