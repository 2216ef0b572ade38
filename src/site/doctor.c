#include "site/doctor.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <netdb.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/harden.h"
#include "base/memory.h"
#include "base/number.h"
#include "net/clock.h"
#include "net/rotation.h"
#include "net/socket.h"
#include "session/wire/wire.h"
#include "site/doctor_parts.h"
#include "study/home.h"
#include "study/registry.h"
#include "study/study.h"
#include "tacit.pb-c.h"

enum {
    DIAL_MS = 5000,
    ASK_MS = 15000,
    FILES_WANTED = 1024,
    SKEW_WARN_S = 60,
    SKEW_FAIL_S = 3600, /* certificates are valid from an hour before they are issued */
};
static const uint64_t SPACE_FAIL = 64ull << 20, SPACE_WARN = 1ull << 30;

const char *tacit_finding_level_name(tacit_finding_level level) {
    static const char *const names[] = { "ok", "warn", "fail" };
    return names[level];
}

void doctor_find(const examination *self, tacit_finding_level level, const char *check, const char *remedy,
                 const char *format, ...) {
    char text[TACIT_ERROR_TEXT_SIZE + 200];
    va_list arguments;
    va_start(arguments, format);
    tacit_format_list(text, sizeof text, format, arguments);
    va_end(arguments);
    self->visit(self->context, &(tacit_finding){ level, check, text, remedy });
}

void doctor_judge(const examination *self, const char *check, tacit_status status, const tacit_error *error,
                  const char *remedy, const char *well) {
    if (status == TACIT_OK)
        doctor_find(self, TACIT_FINDING_OK, check, "", "%s", well);
    else
        doctor_find(self, TACIT_FINDING_FAIL, check, remedy, "%s", error->text);
}

/* ---- what every folder has ---- */

static void check_versions(const examination *self) {
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    const tacit_versions spoken = tacit_versions_spoken();
    char upward[24] = "";
    if (spoken.lowest < spoken.highest) snprintf(upward, sizeof upward, " to %u", spoken.highest);
    doctor_find(self, TACIT_FINDING_OK, "versions", "",
                "protocol %u%s, SQLite %s, GnuTLS %s, libsodium %s, curl %s", spoken.lowest, upward,
                sqlite3_libversion(), gnutls_check_version(NULL), sodium_version_string(), curl->version);
}

/* What a process that serves gives up (base/harden.h). */
static void check_hardening(const examination *self) {
    char text[TACIT_HARDEN_TEXT];
    tacit_hardening possible = tacit_harden_possible();
    bool whole = possible.no_dumps && possible.filtered && possible.confined > 0;
    doctor_find(self, whole ? TACIT_FINDING_OK : TACIT_FINDING_WARN, "hardening",
                whole ? ""
                : !possible.no_dumps
                    ? "unset TACIT_HARDENING except for a debugger"
                    : "build with libseccomp, and run a kernel with Landlock (5.13 or later)",
                "%s, when it serves", tacit_hardening_text(text, &possible));
}

static void check_folder(const examination *self) {
    struct stat about;
    char remedy[PATH_MAX + 32];
    snprintf(remedy, sizeof remedy, "chmod 700 %s", self->folder);
    if (stat(self->folder, &about) != 0)
        doctor_find(self, TACIT_FINDING_FAIL, "folder", "", "%s: %s", self->folder, strerror(errno));
    else if ((about.st_mode & 077) != 0)
        doctor_find(self, TACIT_FINDING_WARN, "folder", remedy, "others may enter %s (mode %03o)",
                    self->folder, (unsigned)about.st_mode & 0777u);
    else if (access(self->folder, R_OK | W_OK | X_OK) != 0)
        doctor_find(self, TACIT_FINDING_FAIL, "folder", "run as its owner", "%s: %s", self->folder,
                    strerror(errno));
    else
        doctor_find(self, TACIT_FINDING_OK, "folder", "", "%s is its owner's alone", self->folder);
}

static void check_space(const examination *self) {
    struct statvfs about;
    if (statvfs(self->folder, &about) != 0) {
        doctor_find(self, TACIT_FINDING_FAIL, "disk space", "", "%s: %s", self->folder, strerror(errno));
        return;
    }
    uint64_t left = (uint64_t)about.f_bavail * about.f_frsize;
    bool no_files = about.f_files > 0 && about.f_favail < 100;
    doctor_find(
        self,
        left < SPACE_FAIL || no_files ? TACIT_FINDING_FAIL
        : left < SPACE_WARN           ? TACIT_FINDING_WARN
                                      : TACIT_FINDING_OK,
        "disk space",
        left < SPACE_WARN || no_files ? "make room: a round that cannot be written down is not closed" : "",
        "%llu MiB left%s", (unsigned long long)(left >> 20), no_files ? ", and hardly any inode" : "");
}

static void check_files(const examination *self) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    bool few = limit.rlim_max != RLIM_INFINITY && limit.rlim_max < FILES_WANTED;
    doctor_find(self, few ? TACIT_FINDING_WARN : TACIT_FINDING_OK, "open files",
                few ? "raise it: ulimit -n, or LimitNOFILE= of the service" : "",
                "at most %llu (the program raises its own limit that far)",
                (unsigned long long)limit.rlim_max);
}

void doctor_check_key(const examination *self, const char *path, const char *name) {
    tacit_error error = TACIT_ERROR_INIT;
    char check[PATH_MAX];
    if (access(path, F_OK) != 0) return;
    snprintf(check, sizeof check, "key %s", name);
    tacit_status status = tacit_key_check_private(path, &error);
    doctor_judge(self, check, status, &error, "", "its owner's alone");
}

void doctor_check_certificate(const examination *self, const char *path, const char *name,
                              const char *remedy) {
    tacit_buffer pem = TACIT_BUFFER_LIMITED(TACIT_CERTIFICATE_BYTES_MAX);
    tacit_certificate_info info;
    tacit_error error = TACIT_ERROR_INIT;
    char check[PATH_MAX], end[TACIT_TIME_TEXT];
    snprintf(check, sizeof check, "certificate %s", name);
    tacit_status status = tacit_file_read(path, &pem, &error);
    if (status == TACIT_OK) status = tacit_certificate_inspect(&info, pem.bytes, pem.length, &error);
    tacit_buffer_clear(&pem);
    if (status != TACIT_OK) {
        doctor_find(self, TACIT_FINDING_FAIL, check, remedy, "%s", error.text);
        return;
    }
    int64_t now = tacit_clock_wall_seconds();
    bool ended = now >= info.valid_until, early = now < info.valid_from,
         late = now >= tacit_certificate_renewal(&info);
    tacit_study_time_text(end, info.valid_until);
    doctor_find(self,
                ended || early ? TACIT_FINDING_FAIL
                : late         ? TACIT_FINDING_WARN
                               : TACIT_FINDING_OK,
                check,
                ended || late ? remedy
                : early       ? "set this machine's clock"
                              : "",
                early ? "is not valid yet" : "%s %s%s", ended ? "ended at" : "is good until", end,
                late && !ended ? ", less than a third of its time" : "");
}

/* ---- a coordinator, seen from outside ---- */

static bool by_proxy(void) {
    const char *const names[] = { "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]) != NULL && getenv(names[i])[0] != 0) return true;
    return false;
}

/* Name and port, step by step, so that the sentence says which of them fails. */
static bool check_route(const examination *self, const char *check, const char *url) {
    CURLU *parts = curl_url();
    char *host = NULL, *port = NULL;
    struct addrinfo *found = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    int socket = -1;
    bool reached = false;
    if (parts == NULL || curl_url_set(parts, CURLUPART_URL, url, 0) != CURLUE_OK ||
        curl_url_get(parts, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
        curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) != CURLUE_OK) {
        doctor_find(self, TACIT_FINDING_FAIL, check, "join again with a new invitation", "%s is no address",
                    url);
        goto cleanup;
    }
    size_t length = strlen(host);
    if (host[0] == '[' && host[length - 1] == ']') memmove(host, host + 1, length - 2), host[length - 2] = 0;
    int code = getaddrinfo(host, port, NULL, &found);
    if (code != 0) {
        doctor_find(self, TACIT_FINDING_FAIL, check, "ask who runs the network, or the coordinator",
                    "the name %s is not found: %s", host, gai_strerror(code));
        goto cleanup;
    }
    if (tacit_socket_connect(&socket, host, (uint16_t)atoi(port), tacit_clock_monotonic_ms() + DIAL_MS,
                             &error) != TACIT_OK) {
        doctor_find(self, TACIT_FINDING_FAIL, check, "is it running, and does the firewall let us out?", "%s",
                    error.text);
        goto cleanup;
    }
    close(socket);
    reached = true;
cleanup:
    if (found != NULL) freeaddrinfo(found);
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(parts);
    return reached;
}

static void check_clock(const examination *self, const char *check, int64_t theirs) {
    int64_t skew = theirs - tacit_clock_wall_seconds(), size = skew < 0 ? -skew : skew;
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s, clock", check);
    if (theirs <= 0) return;
    doctor_find(self,
                size > SKEW_FAIL_S   ? TACIT_FINDING_FAIL
                : size > SKEW_WARN_S ? TACIT_FINDING_WARN
                                     : TACIT_FINDING_OK,
                name, size > SKEW_WARN_S ? "set the clock of whichever machine is wrong (NTP)" : "",
                "this machine's clock is %llds %s the coordinator's", (long long)size,
                skew > 0 ? "behind" : "ahead of");
}

void doctor_check_coordinator(const examination *self, const char *check, const char *url,
                              tacit_carrier *carrier, bool joined) {
    Tacit__Wire__CatalogueRequest request = TACIT__WIRE__CATALOGUE_REQUEST__INIT;
    tacit_buffer body = TACIT_BUFFER_INIT;
    tacit_carried carried = { .reply = TACIT_BUFFER_LIMITED(TACIT_WIRE_LIMIT) };
    tacit_error error = TACIT_ERROR_INIT;
    if (!by_proxy() && !check_route(self, check, url)) return;
    /* Anybody may ask for the catalogue. A request to renew without a word in it changes nothing, and tells
     * who is let in. */
    tacit_status status = tacit_wire_say(&body, &request, 0, &error);
    if (status == TACIT_OK)
        status = tacit_carrier_send(carrier, joined ? TACIT_ENDPOINT_RENEW : TACIT_ENDPOINT_CATALOGUE,
                                    joined ? NULL : &body, ASK_MS, &carried, &error);
    if (status != TACIT_OK)
        doctor_find(self, TACIT_FINDING_FAIL, check,
                    tacit_carrier_last_failure(carrier) == TACIT_FAILURE_REFUSED
                        ? "ask the coordinator for a new invitation"
                        : "",
                    "%s", error.text);
    else if (carried.result == TACIT_RESULT_LATER)
        doctor_find(self, TACIT_FINDING_FAIL, check, "its log says why", "%s answers %u", url, carried.code);
    else
        doctor_find(self, TACIT_FINDING_OK, check, "", "%s answers, with a certificate of its authority",
                    url);
    check_clock(self, check, tacit_carrier_clock(carrier));
    tacit_buffer_clear(&body);
    tacit_buffer_clear(&carried.reply);
}

/* ---- a coordinator's folder ---- */

static bool holds(const char *folder, const char *name) {
    char path[PATH_MAX];
    return tacit_path_join(path, sizeof path, folder, name, NULL) == TACIT_OK && access(path, F_OK) == 0;
}

static void check_authority(const examination *self) {
    tacit_authority *authority = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_authority_load(&authority, self->folder, &error);
    char well[TACIT_FINGERPRINT_SIZE + 64] = "";
    if (status == TACIT_OK)
        snprintf(well, sizeof well, "ca.key and ca.crt belong together; fingerprint %s",
                 tacit_authority_info(authority)->fingerprint);
    doctor_judge(self, "authority", status, &error, "restore the folder from a backup", well);
    tacit_authority_free(authority);
}

static void check_studies(const examination *self, tacit_registry *registry) {
    tacit_study_record *records = NULL;
    size_t count = 0;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_registry_studies(registry, &records, &count, &error);
    if (status != TACIT_OK) doctor_find(self, TACIT_FINDING_FAIL, "studies", "", "%s", error.text);
    for (size_t i = 0; status == TACIT_OK && i < count; i++) {
        tacit_buffer text = TACIT_BUFFER_INIT;
        tacit_study *study = NULL;
        char check[TACIT_ID_SIZE + 16];
        snprintf(check, sizeof check, "study %s", records[i].name);
        tacit_status read = tacit_registry_study(registry, records[i].name, &records[i], &text, &error);
        if (read == TACIT_OK)
            read = tacit_study_parse(&study, tacit_buffer_text(&text), text.length, records[i].name, &error);
        if (read != TACIT_OK)
            doctor_find(self, TACIT_FINDING_FAIL, check, "", "%s", error.text);
        else
            doctor_find(self, records[i].state == TACIT_STUDY_FAILED ? TACIT_FINDING_WARN : TACIT_FINDING_OK,
                        check, records[i].state == TACIT_STUDY_FAILED ? "tacit study status tells why" : "",
                        "%s, %zu of %zu parties, %llu rounds", tacit_study_state_name(records[i].state),
                        records[i].joined, study->plan.parties, (unsigned long long)records[i].rounds);
        tacit_study_free(study);
        tacit_buffer_clear(&text);
    }
    free(records);
}

/* Does a coordinator serve this folder now? */
static bool is_served(const examination *self) {
    char path[PATH_MAX];
    if (tacit_path_join(path, sizeof path, self->folder, "coordinator.lock", NULL) != TACIT_OK) return false;
    int lock = open(path, O_RDWR | O_CLOEXEC);
    bool served = lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (lock >= 0) close(lock);
    return served;
}

static void check_serving(const examination *self, tacit_registry *registry) {
    char url[512], authority[PATH_MAX];
    tacit_carrier *carrier = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    if (!is_served(self)) {
        doctor_find(self, TACIT_FINDING_WARN, "server", "start tacit coordinator",
                    "no coordinator serves this folder now");
        return;
    }
    tacit_status status = tacit_registry_get(registry, "url", url, sizeof url, &error);
    if (status == TACIT_OK)
        status = tacit_path_join(authority, sizeof authority, self->folder,
                                 holds(self->folder, TACIT_TRUST_FILE) ? TACIT_TRUST_FILE
                                                                       : TACIT_AUTHORITY_CERTIFICATE_FILE,
                                 &error);
    if (status == TACIT_OK)
        status = tacit_carrier_open(
            &carrier, &(tacit_carrier_settings){ .address = url, .authority_file = authority }, &error);
    if (status == TACIT_OK)
        doctor_check_coordinator(self, "server", url, carrier, false);
    else
        doctor_find(self, TACIT_FINDING_FAIL, "server", "", "%s", error.text);
    tacit_carrier_free(carrier);
}

static void check_keys(const examination *self, const char *const *names) {
    char path[PATH_MAX];
    for (; *names != NULL; names++)
        if (tacit_path_join(path, sizeof path, self->folder, *names, NULL) == TACIT_OK)
            doctor_check_key(self, path, *names);
}

static void check_certificates(const examination *self, const char *const (*names)[2]) {
    char path[PATH_MAX];
    for (; (*names)[0] != NULL; names++)
        if (tacit_path_join(path, sizeof path, self->folder, (*names)[0], NULL) == TACIT_OK &&
            access(path, F_OK) == 0)
            doctor_check_certificate(self, path, (*names)[0], (*names)[1]);
}

static void examine_coordinator(const examination *self) {
    static const char *const certificates[][2] = {
        { TACIT_AUTHORITY_CERTIFICATE_FILE, "replace it while it is good (tacit rotate --help)" },
        { TACIT_SERVER_CERTIFICATE_FILE, "start tacit coordinator, which renews it" },
        { "center.crt", "start tacit coordinator, which renews it" },
        { NULL, NULL }
    };
    tacit_registry *registry = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    check_keys(self, (const char *const[]){ TACIT_AUTHORITY_KEY_FILE, TACIT_SERVER_KEY_FILE, "center.key",
                                            "coordinator.db", NULL });
    check_authority(self);
    check_certificates(self, certificates);
    tacit_status status = tacit_registry_open(&registry, self->folder, false, &error);
    if (status == TACIT_OK) status = tacit_registry_check(registry, &error);
    doctor_judge(self, "registry", status, &error, "restore it from a backup (tacit restore --help)",
                 "coordinator.db is whole");
    if (status == TACIT_OK) {
        check_studies(self, registry);
        doctor_check_rotation(self, registry);
        check_serving(self, registry);
    }
    tacit_registry_close(registry);
}

static void examine_center(const examination *self) {
    static const char *const certificates[][2] = {
        { TACIT_AUTHORITY_CERTIFICATE_FILE, "begin a new folder: an authority cannot be renewed" },
        { TACIT_SERVER_CERTIFICATE_FILE, "start tacit center, which renews it" },
        { "coordinator.crt", "get the coordinator's new ca.crt" },
        { NULL, NULL }
    };
    check_keys(
        self, (const char *const[]){ TACIT_AUTHORITY_KEY_FILE, TACIT_SERVER_KEY_FILE, "paillier.key", NULL });
    check_authority(self);
    check_certificates(self, certificates);
}

/* ---- which kind ---- */

tacit_status tacit_doctor(const char *folder, const char **kind, tacit_finding_visit *visit, void *context,
                          tacit_error *error) {
    examination self = { folder, visit, context };
    void (*examine)(const examination *self) = NULL;
    if (holds(folder, "coordinator.db"))
        *kind = "coordinator", examine = examine_coordinator;
    else if (holds(folder, "paillier.key"))
        *kind = "center", examine = examine_center;
    else if (holds(folder, TACIT_LEDGER_NAME) || holds(folder, "studies"))
        *kind = "party", examine = doctor_examine_party;
    else
        return tacit_fail(error, TACIT_NOT_FOUND,
                          "%s is no folder of a coordinator (coordinator.db), a party (ledger.db) or a "
                          "center server (paillier.key); 'tacit ledger limit' begins a party's, 'tacit study "
                          "new %s FILE' a coordinator's",
                          folder, folder);
    check_versions(&self);
    check_hardening(&self);
    check_folder(&self);
    check_space(&self);
    check_files(&self);
    examine(&self);
    return TACIT_OK;
}
