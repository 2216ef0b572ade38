/* Files that may be reached, and Landlock, which sees to it that others are not. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/harden_parts.h"

#ifdef TACIT_SECCOMP
static const bool built_with_filter = true;
#else
static const bool built_with_filter = false;
#endif

/* ---- what may be reached ---- */

static void allow(tacit_harden_settings *settings, char *path, bool write) {
    struct stat found;
    if (path == NULL || settings->count == TACIT_HARDEN_PATHS || stat(path, &found) != 0) {
        free(path);
        return;
    }
    settings->paths[settings->count] = path;
    settings->writes[settings->count++] = write;
}

void tacit_harden_allow(tacit_harden_settings *settings, const char *path, bool write) {
    if (path != NULL) allow(settings, strdup(path), write);
}

void tacit_harden_allow_around(tacit_harden_settings *settings, const char *path, bool write) {
    if (path == NULL) return;
    const char *slash = strrchr(path, '/');
    allow(settings, slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path)),
          write);
}

void tacit_harden_clear(tacit_harden_settings *settings) {
    for (size_t i = 0; i < settings->count; i++) free(settings->paths[i]);
    settings->count = 0;
}

/* ---- Landlock ---- */

/* Of linux/landlock.h, which older systems lack. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, RULE_PATH_BENEATH = 1, ASK_VERSION = 1 };
#define TO_EXECUTE (UINT64_C(1) << 0)
#define TO_READ (UINT64_C(1) << 2 | UINT64_C(1) << 3) /* files, folders */
#define TO_WRITE (UINT64_C(1) << 1)
#define TO_CHANGE_FOLDER UINT64_C(0x1ff0) /* remove, make */
#define TO_REFER (UINT64_C(1) << 13)      /* from version 2 on */
#define TO_TRUNCATE (UINT64_C(1) << 14)   /* from version 3 on */

typedef struct __attribute__((packed)) path_beneath {
    uint64_t allowed;
    int32_t folder;
} path_beneath;

int tacit_harden_landlock(void) {
    long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    return version > 0 ? (int)version : 0;
}

static uint64_t rights_to_write(int version) {
    return TO_WRITE | TO_CHANGE_FOLDER | (version >= 2 ? TO_REFER : 0) | (version >= 3 ? TO_TRUNCATE : 0);
}

/* A path that is not there is no path to allow. */
static bool open_to(int rules, const char *path, bool write, int version) {
    struct stat found;
    int file = open(path, O_PATH | O_CLOEXEC);
    if (file < 0) return true;
    uint64_t allowed = TO_READ | (write ? rights_to_write(version) : 0);
    if (fstat(file, &found) == 0 && !S_ISDIR(found.st_mode)) /* what only a folder has is not accepted */
        allowed &= UINT64_C(1) << 2 | TO_WRITE | TO_TRUNCATE;
    path_beneath rule = { allowed, file };
    bool done = syscall(ADD_RULE, rules, RULE_PATH_BENEATH, &rule, 0) == 0;
    close(file);
    return done;
}

/* What libraries read: themselves, names and addresses, clocks, certificates, numbers of processors. */
static const char *const shared[] = { "/etc",
                                      "/usr",
                                      "/lib",
                                      "/lib64",
                                      "/proc",
                                      "/sys/devices/system",
                                      "/dev/urandom",
                                      "/dev/random",
                                      "/run/systemd/resolve",
                                      "/run/resolvconf",
                                      "/run/NetworkManager",
                                      "/run/nscd" };

int tacit_harden_files(const tacit_harden_settings *settings) {
    const int version = tacit_harden_landlock();
    uint64_t handled = TO_EXECUTE | TO_READ | rights_to_write(version);
    if (version == 0) return 0;
    int rules = (int)syscall(CREATE_RULESET, &handled, sizeof handled, 0);
    if (rules < 0) return 0;
    bool done = open_to(rules, "/dev/null", true, version) && open_to(rules, "/dev/tty", true, version);
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
        done = done && open_to(rules, shared[i], false, version);
    if (settings->reads_all) done = done && open_to(rules, "/", false, version);
    for (size_t i = 0; i < settings->count; i++)
        done = done && open_to(rules, settings->paths[i], settings->writes[i], version);
    done = done && syscall(RESTRICT_SELF, rules, 0) == 0;
    close(rules);
    return done ? version : 0;
}

/* Counted after the confinement, when every thread that this one starts is confined as it is. */
unsigned tacit_harden_other_threads(void) {
    unsigned found = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL) return 0;
    for (const struct dirent *one; (one = readdir(tasks)) != NULL;) found += one->d_name[0] != '.';
    closedir(tasks);
    return found > 0 ? found - 1 : 0;
}

/* ---- what there is ---- */

bool tacit_harden_is_off(void) {
    const char *said = getenv("TACIT_HARDENING");
    return said != NULL && strcmp(said, "off") == 0;
}

tacit_hardening tacit_harden_possible(void) {
    if (tacit_harden_is_off()) return (tacit_hardening){ .no_dumps = false };
    return (tacit_hardening){ .no_dumps = true,
                              .no_privileges = true,
                              .filtered = built_with_filter && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0,
                              .confined = tacit_harden_landlock() };
}

const char *tacit_hardening_text(char out[TACIT_HARDEN_TEXT], const tacit_hardening *hardening) {
    char files[80], before[80] = "";
    snprintf(files, sizeof files,
             hardening->confined > 0 ? "files confined (Landlock %d)" : "files not confined",
             hardening->confined);
    if (hardening->before > 0)
        snprintf(before, sizeof before, " but in %u threads that were there before", hardening->before);
    snprintf(out, TACIT_HARDEN_TEXT, "%s, %s, %s, %s%s",
             hardening->no_dumps ? "no core dumps" : "core dumps as the system has them",
             hardening->no_privileges ? "no new privileges" : "new privileges possible",
             hardening->filtered ? "system calls filtered" : "system calls not filtered", files, before);
    return out;
}
