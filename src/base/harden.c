/* What is given up. Apart from the other files, so that only programs that call it need libseccomp. */
#include <errno.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/harden_parts.h"

#ifdef TACIT_SECCOMP
#include <seccomp.h>
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EXAMINED true
#endif
#endif
#if !defined(EXAMINED) && defined(__SANITIZE_ADDRESS__)
#define EXAMINED true
#endif
#ifndef EXAMINED
#define EXAMINED false /* by a sanitizer, whose search for leaks traces the process */
#endif

/* ---- system calls ---- */

#ifdef TACIT_SECCOMP
static const int forbidden[] = {
    /* other processes */
    SCMP_SYS(ptrace),
    SCMP_SYS(kcmp),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(process_madvise),
    /* the file system's shape, and ways around its paths */
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig),
    SCMP_SYS(fsmount),
    SCMP_SYS(fspick),
    SCMP_SYS(move_mount),
    SCMP_SYS(open_tree),
    SCMP_SYS(mount_setattr),
    SCMP_SYS(name_to_handle_at),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(mknod),
    SCMP_SYS(mknodat),
    SCMP_SYS(quotactl),
    SCMP_SYS(swapon),
    SCMP_SYS(swapoff),
    SCMP_SYS(fanotify_init),
    /* the kernel */
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register),
    SCMP_SYS(syslog),
    SCMP_SYS(reboot),
    SCMP_SYS(acct),
    SCMP_SYS(iopl),
    SCMP_SYS(ioperm),
    SCMP_SYS(lookup_dcookie),
    SCMP_SYS(vhangup),
    SCMP_SYS(uselib),
    SCMP_SYS(modify_ldt),
    SCMP_SYS(personality),
    /* keys of the kernel, clocks, names, users, namespaces */
    SCMP_SYS(keyctl),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),
    SCMP_SYS(adjtimex),
    SCMP_SYS(clock_adjtime),
    SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),
    SCMP_SYS(setuid),
    SCMP_SYS(setgid),
    SCMP_SYS(setreuid),
    SCMP_SYS(setregid),
    SCMP_SYS(setresuid),
    SCMP_SYS(setresgid),
    SCMP_SYS(setfsuid),
    SCMP_SYS(setfsgid),
    SCMP_SYS(setgroups),
    SCMP_SYS(capset),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
};
static const int starting[] = { SCMP_SYS(execve), SCMP_SYS(execveat) };
static const int reading_memory[] = { SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev) };

/* A call that this processor's table does not have is no error. */
static bool forbid(scmp_filter_ctx filter, const int *calls, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (EXAMINED && calls[i] == SCMP_SYS(ptrace)) continue;
        int code = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 0);
        if (code != 0 && code != -EDOM && code != -EINVAL) return false;
    }
    return true;
}

/* By their arguments: namespaces, sockets that are not of the network or this machine, and typing into a
 * terminal. The flags of clone3 cannot be seen; without it the C library uses clone. */
static bool forbid_some(scmp_filter_ctx filter) {
    static const unsigned long spaces[] = { CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWPID,   CLONE_NEWNET,
                                            CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP };
    bool done = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        done = done && seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                        SCMP_A0(SCMP_CMP_MASKED_EQ, spaces[i], spaces[i])) == 0;
    for (unsigned family = 0; family < 64; family++) {
        if (family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK) continue;
        done = done && seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
                                        SCMP_A0(SCMP_CMP_EQ, family, 0)) == 0;
    }
    done = done && seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
                                    SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffu, TIOCSTI)) == 0;
    return done;
}

static bool filter_calls(const tacit_harden_settings *settings) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (filter == NULL) return false;
    bool done = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0 && /* threads that are there, too */
                forbid(filter, forbidden, sizeof forbidden / sizeof forbidden[0]) &&
                forbid(filter, reading_memory, sizeof reading_memory / sizeof reading_memory[0]) &&
                (settings->runs_programs || forbid(filter, starting, sizeof starting / sizeof starting[0])) &&
                forbid_some(filter) && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return done;
}
#else
static bool filter_calls(const tacit_harden_settings *settings) {
    (void)settings;
    return false;
}
#endif

/* ---- all of it ---- */

static bool forbid_dumps(void) {
    const struct rlimit none = { 0, 0 };
    bool limited = setrlimit(RLIMIT_CORE, &none) == 0;
    return limited && (EXAMINED || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0);
}

tacit_hardening tacit_harden(const tacit_harden_settings *settings) {
    tacit_hardening now = { .no_dumps = false };
    if (tacit_harden_is_off()) return now;
    now.no_dumps = forbid_dumps();
    now.no_privileges = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    if (!now.no_privileges || settings->shares_memory) return now;
    if (!settings->runs_programs) now.confined = tacit_harden_files(settings);
    if (now.confined > 0) now.before = tacit_harden_other_threads();
    now.filtered = filter_calls(settings);
    return now;
}
