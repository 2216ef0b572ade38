#include "study/backup.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "net/clock.h"
#include "net/rotation.h"
#include "study/json_value.h"
#include "study/registry_parts.h"

#define HEADER "tacit backup 1\n"
#define PURPOSE "tacit backup"
#define SIGNATURE "signature "
#define REGISTRY_FILE "coordinator.db"

enum { FILES_MOST = 4096, NAME_MOST = 160 };

/* ---- a consistent copy of the registry ---- */

static tacit_status sqlite_failed(sqlite3 *database, const char *path, tacit_error *error) {
    return tacit_fail(error, TACIT_IO, "copying the registry to %s: %s", path,
                      database != NULL ? sqlite3_errmsg(database) : "out of memory");
}

/* SQLite's online backup: all pages of one moment, while others read and write. */
static tacit_status copy_pages(tacit_registry *registry, sqlite3 *copy, const char *path,
                               tacit_error *error) {
    tacit_registry_lock(registry);
    sqlite3_backup *work = sqlite3_backup_init(copy, "main", tacit_store_connection(registry->store), "main");
    int code = work != NULL ? sqlite3_backup_step(work, -1) : SQLITE_ERROR;
    if (work != NULL) sqlite3_backup_finish(work);
    tacit_registry_unlock(registry);
    return code == SQLITE_DONE ? TACIT_OK : sqlite_failed(copy, path, error);
}

/* Remove every row of other studies, from whatever table has a column of that name, and overwrite their
 * pages. */
static tacit_status keep_one_study(sqlite3 *copy, const char *study, const char *path, tacit_error *error) {
    static const char tables[] =
        "SELECT 'DELETE FROM \"' || m.name || '\" WHERE study IS NOT NULL AND study <> ?1'"
        " FROM sqlite_master m JOIN pragma_table_info(m.name) c"
        " WHERE m.type = 'table' AND c.name = 'study' UNION ALL"
        " SELECT 'DELETE FROM study WHERE name <> ?1' UNION ALL"
        " SELECT 'DELETE FROM signer WHERE party NOT IN (SELECT name FROM party)' UNION ALL"
        " SELECT 'DELETE FROM renewal WHERE party NOT IN (SELECT name FROM party)'";
    sqlite3_stmt *list = NULL, *drop = NULL;
    int code = sqlite3_exec(copy, "PRAGMA secure_delete = ON; PRAGMA foreign_keys = OFF", NULL, NULL, NULL);
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(copy, tables, -1, &list, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(list)) == SQLITE_ROW) {
        code = sqlite3_prepare_v2(copy, (const char *)sqlite3_column_text(list, 0), -1, &drop, NULL);
        if (code == SQLITE_OK && sqlite3_bind_parameter_count(drop) > 0)
            code = sqlite3_bind_text(drop, 1, study, -1, SQLITE_STATIC);
        if (code == SQLITE_OK && sqlite3_step(drop) != SQLITE_DONE) code = SQLITE_ERROR;
        sqlite3_finalize(drop);
        drop = NULL;
    }
    sqlite3_finalize(list);
    if (code == SQLITE_DONE) code = sqlite3_exec(copy, "VACUUM", NULL, NULL, NULL);
    return code == SQLITE_OK ? TACIT_OK : sqlite_failed(copy, path, error);
}

/* The registry as the bytes of a database file of its own. */
static tacit_status copy_registry(tacit_registry *registry, const char *study, const char *beside,
                                  tacit_buffer *out, tacit_error *error) {
    char path[PATH_MAX];
    sqlite3 *copy = NULL;
    tacit_status status = TACIT_OK;
    if (snprintf(path, sizeof path, "%s.%ld.db", beside, (long)getpid()) >= (int)sizeof path)
        return tacit_fail(error, TACIT_LIMIT, "path too long: %s", beside);
    int made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (made < 0) return tacit_fail_errno(error, "making", path);
    close(made);
    if (sqlite3_open_v2(path, &copy, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        TACIT_CHECK(sqlite_failed(copy, path, error));
    TACIT_CHECK(copy_pages(registry, copy, path, error));
    /* The copy says that it has a write-ahead log; it must be one file. */
    if (sqlite3_exec(copy, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) != SQLITE_OK)
        TACIT_CHECK(sqlite_failed(copy, path, error));
    if (study != NULL) TACIT_CHECK(keep_one_study(copy, study, path, error));
    if (sqlite3_close(copy) != SQLITE_OK) TACIT_CHECK(sqlite_failed(copy, path, error));
    copy = NULL;
    TACIT_CHECK(tacit_file_read(path, out, error));
cleanup:
    sqlite3_close(copy);
    unlink(path);
    return status;
}

/* ---- writing ---- */

typedef struct packing {
    const char *folder;
    json_t *files;
    tacit_buffer bytes;
} packing;

static tacit_status pack(packing *self, const char *name, const tacit_buffer *bytes, tacit_error *error) {
    uint8_t hash[crypto_generichash_BYTES];
    char hex[2 * sizeof hash + 1];
    crypto_generichash(hash, sizeof hash, bytes->bytes, bytes->length, NULL, 0);
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    TACIT_TRY(tacit_buffer_append(&self->bytes, bytes->bytes, bytes->length, error));
    self->files = tacit_json_append(self->files, json_pack("{s:s,s:I,s:s}", "name", name, "length",
                                                           (json_int_t)bytes->length, "hash", hex));
    return self->files != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status pack_file(packing *self, const char *name, tacit_error *error) {
    char path[PATH_MAX];
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    TACIT_TRY(tacit_path_join(path, sizeof path, self->folder, name, error));
    if (access(path, F_OK) != 0) return TACIT_OK;
    tacit_status status = tacit_file_read(path, &bytes, error);
    if (status == TACIT_OK) status = pack(self, name, &bytes, error);
    if (bytes.bytes != NULL) sodium_memzero(bytes.bytes, bytes.capacity);
    tacit_buffer_clear(&bytes);
    return status;
}

/* The chain, and the keys of those whose time is not over. */
static tacit_status pack_handovers(packing *self, const tacit_authority *authority, tacit_error *error) {
    tacit_handovers chain = { .count = 0 };
    char name[32];
    tacit_status status;
    TACIT_CHECK(tacit_handovers_load(&chain, self->folder, error));
    if (chain.count > 0 && strcmp(chain.entries[chain.count - 1].new.fingerprint,
                                  tacit_authority_info(authority)->fingerprint) != 0)
        TACIT_CHECK(
            tacit_fail(error, TACIT_USAGE, "the authority is being replaced at this moment: try again"));
    TACIT_CHECK(pack_file(self, TACIT_HANDOVER_FILE, error));
    for (size_t number = 0; number < chain.count; number++) {
        snprintf(name, sizeof name, TACIT_OLD_KEY_FILE, number);
        TACIT_CHECK(pack_file(self, name, error));
    }
cleanup:
    tacit_handovers_clear(&chain);
    return status;
}

static tacit_status pack_study(packing *self, const tacit_study_record *record, tacit_backup_about *about,
                               tacit_error *error) {
    char name[TACIT_ID_SIZE + 16];
    about->studies++;
    if (record->state < TACIT_STUDY_DONE) about->rounds += record->rounds;
    snprintf(name, sizeof name, "%s.rounds.jsonl", record->name);
    TACIT_TRY(pack_file(self, name, error));
    snprintf(name, sizeof name, "%s.answers.jsonl", record->name);
    TACIT_TRY(pack_file(self, name, error));
    snprintf(name, sizeof name, "%s.model.json", record->name);
    return pack_file(self, name, error);
}

static tacit_status pack_studies(packing *self, tacit_registry *registry, const char *study,
                                 tacit_backup_about *about, tacit_error *error) {
    tacit_study_record *records = NULL, one;
    size_t count = 0;
    if (study != NULL) {
        TACIT_TRY(tacit_registry_study(registry, study, &one, NULL, error));
        return pack_study(self, &one, about, error);
    }
    tacit_status status = tacit_registry_studies(registry, &records, &count, error);
    for (size_t i = 0; status == TACIT_OK && i < count; i++)
        status = pack_study(self, &records[i], about, error);
    free(records);
    return status;
}

static tacit_status write_whole(const packing *self, const tacit_authority *authority,
                                const tacit_backup_about *about, const char *path, tacit_error *error) {
    tacit_buffer whole = TACIT_BUFFER_INIT, signature = TACIT_BUFFER_LIMITED(TACIT_SIGNATURE_BYTES_MAX);
    char hex[2 * TACIT_SIGNATURE_BYTES_MAX + 1];
    tacit_status status;
    json_t *manifest =
        json_pack("{s:s,s:s,s:I,s:I,s:I,s:s,s:O}", "coordinator", about->coordinator, "study", about->study,
                  "taken", (json_int_t)about->taken, "rounds", (json_int_t)about->rounds, "studies",
                  (json_int_t)about->studies, "authority", about->authority, "files", self->files);
    char *line = manifest != NULL ? json_dumps(manifest, JSON_COMPACT) : NULL;
    json_decref(manifest);
    if (line == NULL) return tacit_fail_memory(error);
    TACIT_CHECK(tacit_authority_sign(&signature, authority, PURPOSE, line, strlen(line), error));
    sodium_bin2hex(hex, sizeof hex, signature.bytes, signature.length);
    TACIT_CHECK(tacit_buffer_append(&whole, HEADER, strlen(HEADER), error));
    TACIT_CHECK(tacit_buffer_append(&whole, line, strlen(line), error));
    TACIT_CHECK(tacit_buffer_print(&whole, error, "\n" SIGNATURE "%s\n", hex));
    TACIT_CHECK(tacit_buffer_append(&whole, self->bytes.bytes, self->bytes.length, error));
    TACIT_CHECK(tacit_file_write(path, whole.bytes, whole.length, 0600, error));
cleanup:
    free(line);
    if (whole.bytes != NULL) sodium_memzero(whole.bytes, whole.capacity);
    tacit_buffer_clear(&whole);
    tacit_buffer_clear(&signature);
    return status;
}

tacit_status tacit_backup_write(const char *folder, const char *study, const char *path,
                                tacit_backup_about *about, tacit_error *error) {
    tacit_registry *registry = NULL;
    tacit_authority *authority = NULL;
    tacit_buffer database = TACIT_BUFFER_INIT;
    packing self = { .folder = folder, .files = json_array(), .bytes = TACIT_BUFFER_INIT };
    tacit_status status;
    *about = (tacit_backup_about){ .taken = tacit_clock_wall_seconds() };
    TACIT_CHECK(tacit_registry_open(&registry, folder, false, error));
    TACIT_CHECK(tacit_authority_load(&authority, folder, error));
    TACIT_CHECK(tacit_registry_get(registry, "name", about->coordinator, sizeof about->coordinator, error));
    snprintf(about->study, sizeof about->study, "%s", study != NULL ? study : "");
    snprintf(about->authority, sizeof about->authority, "%s", tacit_authority_info(authority)->fingerprint);
    TACIT_CHECK(pack_file(&self, TACIT_AUTHORITY_CERTIFICATE_FILE, error));
    TACIT_CHECK(pack_file(&self, TACIT_AUTHORITY_KEY_FILE, error));
    TACIT_CHECK(pack_handovers(&self, authority, error));
    TACIT_CHECK(pack_file(&self, "center.crt", error));
    TACIT_CHECK(pack_file(&self, "center.key", error));
    TACIT_CHECK(pack_file(&self, "envelope.key", error));
    TACIT_CHECK(pack_file(&self, TACIT_PEOPLE_KEY_FILE, error));
    TACIT_CHECK(pack_studies(&self, registry, study, about, error));
    TACIT_CHECK(copy_registry(registry, study, path, &database, error));
    TACIT_CHECK(pack(&self, REGISTRY_FILE, &database, error));
    TACIT_CHECK(write_whole(&self, authority, about, path, error));
cleanup:
    json_decref(self.files);
    if (self.bytes.bytes != NULL) sodium_memzero(self.bytes.bytes, self.bytes.capacity);
    if (database.bytes != NULL) sodium_memzero(database.bytes, database.capacity);
    tacit_buffer_clear(&self.bytes);
    tacit_buffer_clear(&database);
    tacit_authority_free(authority);
    tacit_registry_close(registry);
    return status;
}

/* ---- reading ---- */

/* A backup in memory; views into `bytes`. */
typedef struct unpacking {
    tacit_buffer bytes;
    const char *path;
    json_t *manifest;
    const char *line; /* the manifest as signed */
    size_t line_length;
    const uint8_t *signature_line;
    const uint8_t *files;
    size_t files_length;
} unpacking;

static tacit_status damaged(const unpacking *self, const char *what, tacit_error *error) {
    return tacit_fail(error, TACIT_CORRUPT, "%s is no whole backup (%s): use another", self->path, what);
}

static tacit_status split(unpacking *self, tacit_error *error) {
    if (self->bytes.length < strlen(HEADER) || memcmp(self->bytes.bytes, HEADER, strlen(HEADER)) != 0)
        return damaged(self, "its first line is another", error);
    const uint8_t *at = self->bytes.bytes + strlen(HEADER), *end = self->bytes.bytes + self->bytes.length;
    const uint8_t *feed = memchr(at, '\n', (size_t)(end - at));
    if (feed == NULL) return damaged(self, "it is cut off", error);
    self->line = (const char *)at;
    self->line_length = (size_t)(feed - at);
    self->signature_line = feed + 1;
    feed = memchr(feed + 1, '\n', (size_t)(end - feed - 1));
    if (feed == NULL || (size_t)(feed - self->signature_line) < strlen(SIGNATURE) ||
        memcmp(self->signature_line, SIGNATURE, strlen(SIGNATURE)) != 0)
        return damaged(self, "it has no signature", error);
    self->files = feed + 1;
    self->files_length = (size_t)(end - feed - 1);
    json_error_t problem;
    self->manifest = json_loadb(self->line, self->line_length, 0, &problem);
    if (self->manifest == NULL && json_error_code(&problem) == json_error_out_of_memory)
        return tacit_fail_memory(error);
    return json_is_object(self->manifest) ? TACIT_OK : damaged(self, "its list of files", error);
}

typedef tacit_status file_visit(void *context, const char *name, const uint8_t *bytes, size_t length,
                                tacit_error *error);

/* Every file, once its hash has been checked. Names are plain: a backup writes nowhere but into its
 * folder. */
static tacit_status visit_files(const unpacking *self, file_visit *visit, void *context, tacit_error *error) {
    const json_t *list = json_object_get(self->manifest, "files"), *each;
    const uint8_t *at = self->files;
    size_t left = self->files_length, i;
    if (!json_is_array(list) || json_array_size(list) > FILES_MOST)
        return damaged(self, "its list of files", error);
    json_array_foreach(list, i, each) {
        const char *name = json_string_value(json_object_get(each, "name")),
                   *hash = json_string_value(json_object_get(each, "hash"));
        json_int_t length = json_integer_value(json_object_get(each, "length"));
        uint8_t found[crypto_generichash_BYTES];
        char hex[2 * sizeof found + 1];
        if (name == NULL || hash == NULL || name[0] == 0 || name[0] == '.' || strlen(name) > NAME_MOST ||
            strchr(name, '/') != NULL || length < 0 || (uint64_t)length > left)
            return damaged(self, "its list of files", error);
        crypto_generichash(found, sizeof found, at, (size_t)length, NULL, 0);
        sodium_bin2hex(hex, sizeof hex, found, sizeof found);
        if (strcmp(hex, hash) != 0) return damaged(self, name, error);
        TACIT_TRY(visit(context, name, at, (size_t)length, error));
        at += length;
        left -= (size_t)length;
    }
    return left == 0 ? TACIT_OK : damaged(self, "bytes after its end", error);
}

static tacit_status find_authority(void *context, const char *name, const uint8_t *bytes, size_t length,
                                   tacit_error *error) {
    if (strcmp(name, TACIT_AUTHORITY_CERTIFICATE_FILE) != 0) return TACIT_OK;
    return tacit_buffer_append(context, bytes, length, error);
}

static tacit_status find_handovers(void *context, const char *name, const uint8_t *bytes, size_t length,
                                   tacit_error *error) {
    if (strcmp(name, TACIT_HANDOVER_FILE) != 0) return TACIT_OK;
    tacit_handovers_clear(context);
    return tacit_handovers_read(context, bytes, length, error);
}

/* Is it of the coordinator whose certificate is given, one of an earlier authority perhaps? */
static tacit_status check_origin(const unpacking *self, const char *authority_file, const char *present,
                                 tacit_error *error) {
    tacit_buffer given = TACIT_BUFFER_LIMITED(TACIT_CERTIFICATE_BYTES_MAX);
    tacit_handovers chain = { .count = 0 };
    tacit_certificate_info info;
    tacit_status status;
    TACIT_CHECK(tacit_file_read(authority_file, &given, error));
    TACIT_CHECK(tacit_certificate_inspect(&info, given.bytes, given.length, error));
    TACIT_CHECK(visit_files(self, find_handovers, &chain, error));
    if (strcmp(info.fingerprint, present) != 0 && !tacit_handovers_lead(&chain, info.fingerprint, present))
        status = tacit_fail(error, TACIT_REFUSED, "%s is a backup of another coordinator than %s's",
                            self->path, authority_file);
cleanup:
    tacit_handovers_clear(&chain);
    tacit_buffer_clear(&given);
    return status;
}

static tacit_status check_signature(const unpacking *self, const char *authority_file,
                                    tacit_certificate_info *info, tacit_error *error) {
    tacit_buffer inside = TACIT_BUFFER_LIMITED(TACIT_CERTIFICATE_BYTES_MAX);
    uint8_t signature[TACIT_SIGNATURE_BYTES_MAX];
    size_t length = 0;
    const char *hex = (const char *)self->signature_line + strlen(SIGNATURE), *end = NULL;
    tacit_status status;
    TACIT_CHECK(visit_files(self, find_authority, &inside, error));
    if (sodium_hex2bin(signature, sizeof signature, hex, (size_t)((const char *)self->files - 1 - hex), NULL,
                       &length, &end) != 0 ||
        end != (const char *)self->files - 1 || length == 0)
        TACIT_CHECK(damaged(self, "its signature", error));
    status = tacit_authority_check(inside.bytes, inside.length, PURPOSE, self->line, self->line_length,
                                   signature, length, NULL);
    if (status == TACIT_NO_MEMORY) TACIT_CHECK(tacit_fail_memory(error));
    if (status != TACIT_OK) TACIT_CHECK(damaged(self, "its signature", error));
    TACIT_CHECK(tacit_certificate_inspect(info, inside.bytes, inside.length, error));
    if (authority_file != NULL) TACIT_CHECK(check_origin(self, authority_file, info->fingerprint, error));
cleanup:
    tacit_buffer_clear(&inside);
    return status;
}

static tacit_status unpack_file(void *context, const char *name, const uint8_t *bytes, size_t length,
                                tacit_error *error) {
    char path[PATH_MAX];
    if (strcmp(name, REGISTRY_FILE) == 0) return TACIT_OK;
    TACIT_TRY(tacit_path_join(path, sizeof path, context, name, error));
    return tacit_file_write(path, bytes, length, 0600, error);
}

/* The registry makes a folder a coordinator's, and comes last: a restore that was cut off is begun again. */
static tacit_status unpack_registry(void *context, const char *name, const uint8_t *bytes, size_t length,
                                    tacit_error *error) {
    char path[PATH_MAX];
    if (strcmp(name, REGISTRY_FILE) != 0) return TACIT_OK;
    TACIT_TRY(tacit_path_join(path, sizeof path, context, name, error));
    return tacit_file_write(path, bytes, length, 0600, error);
}

static tacit_status unpack(const unpacking *self, const char *folder, tacit_error *error) {
    char path[PATH_MAX];
    tacit_registry *registry = NULL;
    TACIT_TRY(tacit_folder_make(folder, error));
    TACIT_TRY(tacit_path_join(path, sizeof path, folder, REGISTRY_FILE, error));
    if (access(path, F_OK) == 0)
        return tacit_fail(error, TACIT_USAGE,
                          "%s holds a coordinator already, and a restore overwrites nothing: name a new "
                          "folder, or move this one away",
                          folder);
    TACIT_TRY(visit_files(self, unpack_file, (void *)(uintptr_t)folder, error));
    TACIT_TRY(visit_files(self, unpack_registry, (void *)(uintptr_t)folder, error));
    TACIT_TRY(tacit_registry_open(&registry, folder, false, error));
    tacit_status status = tacit_registry_check(registry, error);
    tacit_registry_close(registry);
    return status;
}

tacit_status tacit_backup_restore(const char *path, const char *folder, const char *authority,
                                  tacit_backup_about *about, tacit_error *error) {
    unpacking self = { .path = path };
    tacit_certificate_info info;
    const char *coordinator = NULL, *study = NULL;
    json_int_t taken = 0, rounds = 0, studies = 0;
    tacit_status status;
    TACIT_CHECK(tacit_file_read(path, &self.bytes, error));
    TACIT_CHECK(split(&self, error));
    TACIT_CHECK(check_signature(&self, authority, &info, error));
    if (json_unpack(self.manifest, "{s:s,s:s,s:I,s:I,s:I}", "coordinator", &coordinator, "study", &study,
                    "taken", &taken, "rounds", &rounds, "studies", &studies) != 0)
        TACIT_CHECK(damaged(&self, "its list of files", error));
    *about = (tacit_backup_about){ .taken = taken, .rounds = (uint64_t)rounds, .studies = (size_t)studies };
    snprintf(about->coordinator, sizeof about->coordinator, "%s", coordinator);
    snprintf(about->study, sizeof about->study, "%s", study);
    memcpy(about->authority, info.fingerprint, sizeof about->authority);
    if (folder != NULL) TACIT_CHECK(unpack(&self, folder, error));
cleanup:
    json_decref(self.manifest);
    if (self.bytes.bytes != NULL) sodium_memzero(self.bytes.bytes, self.bytes.capacity);
    tacit_buffer_clear(&self.bytes);
    return status;
}
