/* What operators' tools write and read: lines of logs, figures, and files from elsewhere that must not be
 * believed. */
#include <jansson.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../store/folder.h"
#include "base/file.h"
#include "base/log_file.h"
#include "check.h"
#include "net/identity.h"
#include "privacy/ledger/ledger.h"
#include "study/archive/audit_archive_parts.h"
#include "study/backup.h"
#include "study/home.h"
#include "study/json_value.h"
#include "web/prometheus.h"

/* ---- logs ---- */

static json_t *line_of(const char *message) {
    char line[TACIT_LOG_LINE_SIZE];
    tacit_log_json(line, TACIT_LOG_WARN, "test", message);
    json_t *read = json_loads(line, 0, NULL);
    assert_non_null(read);
    assert_string_equal(json_string_value(json_object_get(read, "level")), "warn");
    assert_string_equal(json_string_value(json_object_get(read, "program")), "test");
    return read;
}

static void any_message_makes_one_json_line(void **state) {
    (void)state;
    const char *const same[] = { "", "plain", "quote \" backslash \\ feed \n", "gr\xc3\xbc\xc3\x9f" };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        json_t *read = line_of(same[i]);
        assert_string_equal(json_string_value(json_object_get(read, "message")), same[i]);
        json_decref(read);
    }
    json_t *read = line_of("not \xff UTF-8 \xc3");
    assert_string_equal(json_string_value(json_object_get(read, "message")), "not ? UTF-8 ?");
    json_decref(read);
    char large[2 * TACIT_LOG_LINE_SIZE];
    for (int byte = 1; byte < 256; byte += 7) { /* escapes of any length */
        memset(large, byte, sizeof large - 1);
        large[sizeof large - 1] = 0;
        json_decref(line_of(large));
    }
}

static unsigned admitted(tacit_log_limiter *limiter, const char *kind, const char *who, unsigned tries,
                         int64_t now_ms) {
    unsigned count = 0;
    for (unsigned i = 0; i < tries; i++)
        count += tacit_log_admit(limiter, kind, who, "line of a peer", now_ms);
    return count;
}

static void lines_of_peers_are_held_back_and_counted(void **state) {
    (void)state;
    static tacit_log_limiter limiter;
    static const char refused[] = "refused", failed[] = "failed";
    char line[200];
    assert_false(tacit_log_held(&limiter, line, sizeof line, 1000));
    assert_int_equal(admitted(&limiter, refused, "10.0.0.1", 1000, 1000), 20);
    assert_int_equal(admitted(&limiter, refused, "10.0.0.2", 1, 1000), 1); /* the others are heard */
    assert_int_equal(admitted(&limiter, failed, "10.0.0.1", 1, 1000), 1);
    assert_true(tacit_log_held(&limiter, line, sizeof line, 1000));
    assert_string_equal(line, "980 more like this were not written: line of a peer");
    assert_false(tacit_log_held(&limiter, line, sizeof line, 1000));
    /* However many peers there are, a kind is written at its own rate. */
    unsigned written = 0;
    for (int i = 0; i < 10000; i++) {
        snprintf(line, sizeof line, "10.0.%d.%d", i / 256, i % 256);
        written += admitted(&limiter, refused, line, 1, 1000 + i);
    }
    assert_in_range(written, 60, 120);
    for (int i = 0; i < 1000; i++)
        admitted(&limiter, line + i % 10, "x", 1, 20000); /* more kinds than slots */
    assert_int_equal(admitted(&limiter, refused, "10.0.0.1", 5, 1000000), 5);
}

static void a_log_is_put_aside_when_it_has_grown(void **state) {
    (void)state;
    tacit_log_file log;
    char path[4096], name[4200];
    struct stat found;
    folder used = folder_make();
    snprintf(path, sizeof path, "%s/a.log", used.path);
    assert_true(tacit_log_open(&log, path, 1000));
    for (int i = 0; i < 1000; i++) tacit_log_write(&log, "a line of a log, and what it says is short");
    tacit_log_close(&log);
    tacit_log_write(&log, "closed"); /* does nothing */
    for (int k = 0; k <= TACIT_LOG_FILES_KEPT + 1; k++) {
        snprintf(name, sizeof name, k > 0 ? "%s.%d" : "%s", path, k);
        bool there = stat(name, &found) == 0;
        assert_int_equal(there, k <= TACIT_LOG_FILES_KEPT);
        if (there) assert_true(found.st_size < 1100);
        if (there) assert_int_equal(found.st_mode & 0777, 0600);
    }
    assert_true(tacit_log_open(&log, path, 1000)); /* goes on where it was */
    assert_true(log.bytes < 1000);
    tacit_log_close(&log);
    assert_false(tacit_log_open(&log, "/nowhere/at/all", 1000));
    folder_remove(&used);
}

/* ---- data sources with passwords, which an earlier version let into a ledger ---- */

static void passwords_of_sources_are_not_shown(void **state) {
    (void)state;
    static const char *const shown_as[][2] = {
        { "postgres:host=db password=secret user=u?SELECT 1",
          "postgres:host=db password=*** user=u?SELECT 1" },
        { "postgres:PassWord = 'se\\'cret' host=db?SELECT 1", "postgres:PassWord = *** host=db?SELECT 1" },
        { "postgres:postgresql://u:secret@db/x?SELECT 1", "postgres:postgresql://u:***@db/x?SELECT 1" },
        { "postgres:service=x?SELECT password = 'secret'", "postgres:service=x?SELECT password = 'secret'" },
        { "postgres:password=", "postgres:password=" },
        { "/data/password=secret.csv", "/data/password=secret.csv" },
    };
    char shown[TACIT_SOURCE_SHOWN_SIZE], huge[5000];
    for (size_t i = 0; i < sizeof shown_as / sizeof shown_as[0]; i++) {
        assert_string_equal(tacit_source_shown(shown, shown_as[i][0]), shown_as[i][1]);
        assert_int_equal(tacit_source_check(shown_as[i][0], NULL), i < 3 ? TACIT_USAGE : TACIT_OK);
    }
    memset(huge, 'x', sizeof huge - 1);
    memcpy(huge, "postgres:password=", 18);
    huge[sizeof huge - 1] = 0;
    assert_string_equal(tacit_source_shown(shown, huge), "postgres:password=***");
}

static void a_ledger_of_a_source_with_a_password_opens_and_is_shown_without(void **state) {
    (void)state;
    folder used = folder_make();
    char path[200];
    tacit_ledger *ledger = NULL;
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_price limit = { TACIT_UNIT_RECORD, 1, 0 };
    snprintf(path, sizeof path, "%s/ledger.db", used.path);
    CHECK_OK(tacit_ledger_open(&ledger, path, "postgres:host=db password=secret?SELECT 1",
                               TACIT_LEDGER_CREATE, &error),
             error);
    CHECK_OK(tacit_ledger_set_limit(ledger, NULL, &limit, &error), error);
    tacit_ledger_free(ledger);
    CHECK_OK(tacit_metrics_home(used.path, &out, &error), error);
    assert_non_null(strstr(tacit_buffer_text(&out), "password=***?SELECT 1"));
    assert_null(strstr(tacit_buffer_text(&out), "secret"));
    json_t *escaped = tacit_json_escaped("postgres:host=db password=secret?SELECT 1");
    assert_string_equal(json_string_value(escaped), "postgres:host=db password=***?SELECT 1");
    json_decref(escaped);
    tacit_buffer_clear(&out);
    folder_remove(&used);
}

/* ---- figures ---- */

static void labels_and_numbers_are_as_the_format_wants(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer out = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_metrics_begin(&out, "a_total", "counter", "Help.", &error), error);
    CHECK_OK(tacit_metrics_sample(&out, "a_total", NULL, NULL, NULL, NULL, 3, &error), error);
    CHECK_OK(tacit_metrics_sample(&out, "a_total", "k", "q\"b\\f\n", NULL, NULL, INFINITY, &error), error);
    CHECK_OK(tacit_metrics_sample(&out, "a_total", "k", "", "l", "x", -INFINITY, &error), error);
    CHECK_OK(tacit_metrics_sample(&out, "a_total", "k", "n", NULL, NULL, NAN, &error), error);
    assert_string_equal(tacit_buffer_text(&out), "# HELP a_total Help.\n# TYPE a_total counter\n"
                                                 "a_total 3\n"
                                                 "a_total{k=\"q\\\"b\\\\f\\n\"} +Inf\n"
                                                 "a_total{k=\"\",l=\"x\"} -Inf\n"
                                                 "a_total{k=\"n\"} NaN\n");
    tacit_buffer_clear(&out);
}

/* ---- files from elsewhere ---- */

typedef struct world {
    folder place;
    tacit_authority *authority;
    char path[256], target[256];
    tacit_error error;
} world;

static world begin(void) {
    world w = { .place = folder_make(), .error = TACIT_ERROR_INIT };
    CHECK_OK(tacit_authority_create(&w.authority, w.place.path, "test", &w.error), w.error);
    snprintf(w.path, sizeof w.path, "%s/file", w.place.path);
    snprintf(w.target, sizeof w.target, "%s/target", w.place.path);
    return w;
}

static void end(world *w) {
    tacit_authority_free(w->authority);
    folder_remove(&w->place);
}

/* A backup of one's own making: signed by its own authority, with a file of any name. */
static void write_backup(world *w, const char *name, size_t length, const char *content) {
    const char *pem = tacit_authority_pem(w->authority);
    const char *const names[2] = { "ca.crt", name }, *const contents[2] = { pem, content };
    const size_t lengths[2] = { strlen(pem), length };
    json_t *files = json_array();
    tacit_buffer whole = TACIT_BUFFER_INIT, signature = TACIT_BUFFER_INIT;
    char hex[2 * TACIT_SIGNATURE_BYTES_MAX + 1], hash[2 * 32 + 1];
    for (size_t i = 0; i < 2; i++) {
        uint8_t bytes[32];
        crypto_generichash(bytes, sizeof bytes, (const uint8_t *)contents[i], strlen(contents[i]), NULL, 0);
        sodium_bin2hex(hash, sizeof hash, bytes, sizeof bytes);
        json_array_append_new(files, json_pack("{s:s,s:I,s:s}", "name", names[i], "length",
                                               (json_int_t)lengths[i], "hash", hash));
    }
    json_t *manifest = json_pack("{s:s,s:s,s:i,s:i,s:i,s:o}", "coordinator", "c", "study", "", "taken", 1,
                                 "rounds", 0, "studies", 0, "files", files);
    char *line = json_dumps(manifest, JSON_COMPACT);
    CHECK_OK(tacit_authority_sign(&signature, w->authority, "tacit backup", line, strlen(line), &w->error),
             w->error);
    sodium_bin2hex(hex, sizeof hex, signature.bytes, signature.length);
    CHECK_OK(tacit_buffer_print(&whole, &w->error, "tacit backup 1\n%s\nsignature %s\n%s%s", line, hex, pem,
                                content),
             w->error);
    CHECK_OK(tacit_file_write(w->path, whole.bytes, whole.length, 0600, &w->error), w->error);
    free(line);
    json_decref(manifest);
    tacit_buffer_clear(&whole);
    tacit_buffer_clear(&signature);
}

static void a_backup_writes_nowhere_but_into_its_folder(void **state) {
    (void)state;
    world w = begin();
    tacit_backup_about about;
    struct stat found;
    static const char *const names[] = { "../evil", "/etc/evil", ".hidden", "", "a/b", ".." };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        write_backup(&w, names[i], 4, "evil");
        assert_int_equal(tacit_backup_restore(w.path, w.target, NULL, &about, &w.error), TACIT_CORRUPT);
        assert_int_not_equal(stat(w.target, &found), 0);
    }
    write_backup(&w, "fine", 5, "evil"); /* says more bytes than there are */
    assert_int_equal(tacit_backup_restore(w.path, w.target, NULL, &about, &w.error), TACIT_CORRUPT);
    write_backup(&w, "fine", 4, "good"); /* the control: names and lengths as they should be */
    CHECK_OK(tacit_backup_restore(w.path, NULL, NULL, &about, &w.error), w.error);
    assert_string_equal(about.coordinator, "c");
    end(&w);
}

static void an_archive_of_nothing_known_is_refused(void **state) {
    (void)state;
    world w = begin();
    tacit_audit_verdict verdict;
    static const char *const texts[] = { "", "\n", "{}\n", "{\"hash\":\"\",\"record\":{}}\n", "x" };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        CHECK_OK(tacit_file_write(w.path, texts[i], strlen(texts[i]), 0600, &w.error), w.error);
        assert_int_equal(tacit_audit_verify(w.path, NULL, &verdict, &w.error), TACIT_CORRUPT);
    }
    end(&w);
}

static void texts_that_are_not_utf_8_are_told_with_their_bytes_escaped(void **state) {
    (void)state;
    const tacit_entry entry = {
        .kind = TACIT_ENTRY_LIMIT,
        .source = "/data/caf\xe9.csv",
        .reason = "caf\xc3\xa9",
        .about = { .study = "study", .coordinator = "\xffx", .method = "", .question = "", .assumption = "" }
    };
    const uint8_t hash[TACIT_HASH_BYTES] = { 0 };
    json_t *words = audit_entry(&entry, hash, sizeof hash, hash);
    assert_non_null(words);
    assert_string_equal(json_string_value(json_object_get(words, "source")), "/data/caf\\xe9.csv");
    assert_string_equal(json_string_value(json_object_get(words, "coordinator")), "\\xffx");
    assert_string_equal(json_string_value(json_object_get(words, "reason")), "caf\xc3\xa9"); /* as it is */
    json_decref(words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_message_makes_one_json_line),
        cmocka_unit_test(lines_of_peers_are_held_back_and_counted),
        cmocka_unit_test(passwords_of_sources_are_not_shown),
        cmocka_unit_test(a_ledger_of_a_source_with_a_password_opens_and_is_shown_without),
        cmocka_unit_test(a_log_is_put_aside_when_it_has_grown),
        cmocka_unit_test(labels_and_numbers_are_as_the_format_wants),
        cmocka_unit_test(a_backup_writes_nowhere_but_into_its_folder),
        cmocka_unit_test(an_archive_of_nothing_known_is_refused),
        cmocka_unit_test(texts_that_are_not_utf_8_are_told_with_their_bytes_escaped),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
