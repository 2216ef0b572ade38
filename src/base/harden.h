/*
 * Hardening of a process that serves: what it has no use for is given up before the first byte from outside
 * is read, so that somebody who takes it over finds little to do with it. Changes the whole process: programs
 * call it once at their start, libraries never.
 *
 *  - No core dumps, and no other process of the same user may read its memory (PR_SET_DUMPABLE, RLIMIT_CORE).
 *  - No new privileges (PR_SET_NO_NEW_PRIVS).
 *  - System calls that no part of it uses fail with EPERM: starting programs, tracing, mounts, modules, other
 *    users, namespaces, ... The list is one of what is forbidden and not of what is allowed, because the
 *    libraries below (the C library, OpenBLAS, GnuTLS, libcurl, libpq) call others on each kernel and in each
 *    version, and a party that dies of a new one helps nobody. The services of systemd/ have a list of what
 *    is allowed beside it. Needs libseccomp when built.
 *  - Files that were not named are not there for it (Landlock), where the kernel has that. The kernel
 *    confines the calling thread and those it starts later, so a program calls this before it starts any, and
 *    ends those of its libraries (num/blas.h). Threads that are there nevertheless are counted and told.
 *
 * What a kernel or a build does not have is left out and told. A process that is examined by a sanitizer
 * keeps what that needs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { TACIT_HARDEN_PATHS = 48, TACIT_HARDEN_TEXT = 300 };

typedef struct tacit_harden_settings {
    bool runs_programs; /* the owner has set one: it may be started, and files are not confined */
    bool shares_memory; /* ranks read one another's: neither filter nor confinement */
    bool reads_all;     /* files may be read anywhere, but written only where a path allows it */
    size_t count;
    char *paths[TACIT_HARDEN_PATHS];
    bool writes[TACIT_HARDEN_PATHS];
} tacit_harden_settings;

/* Let a file, or a folder with all in it, be read, and with `write` be changed. One that is not there is
 * ignored, as is one too many. Paths are copied. */
void tacit_harden_allow(tacit_harden_settings *settings, const char *path, bool write);
/* The same of the folder that a file is in, or will be. */
void tacit_harden_allow_around(tacit_harden_settings *settings, const char *path, bool write);
void tacit_harden_clear(tacit_harden_settings *settings);

/* What holds for a process, or could hold for one here. */
typedef struct tacit_hardening {
    bool no_dumps, no_privileges, filtered;
    int confined;    /* by this version of Landlock; 0: not */
    unsigned before; /* other threads that were there when files were confined, and are not */
} tacit_hardening;

/* Harden this process; what is then in force. With TACIT_HARDENING=off in the environment, for a debugger,
 * nothing is. */
tacit_hardening tacit_harden(const tacit_harden_settings *settings);
/* What this build could do on this kernel. */
tacit_hardening tacit_harden_possible(void);
/* "no core dumps, no new privileges, system calls filtered, files confined (Landlock 4)"; where threads were
 * there before, how many. Returns out. */
const char *tacit_hardening_text(char out[TACIT_HARDEN_TEXT], const tacit_hardening *hardening);
