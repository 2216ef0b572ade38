/* Opening the store, collections and origins. */
#include "person/personal.h"

#include <ctype.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "person/personal_parts.h"

/* ---- the passphrase ---- */

tacit_status tacit_passphrase_read(const char *path, char out[TACIT_PASSPHRASE_MOST + 1],
                                   tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_LIMITED(2 * TACIT_PASSPHRASE_MOST);
    struct stat about;
    tacit_status status;
    if (stat(path, &about) != 0) return tacit_fail_errno(error, "reading", path);
    if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return tacit_fail(error, TACIT_REFUSED, "others can read %s, which has a passphrase: chmod 600 %s",
                          path, path);
    TACIT_CHECK(tacit_file_read(path, &text, error));
    size_t length = strcspn(tacit_buffer_text(&text), "\r\n");
    if (length == 0 || length > TACIT_PASSPHRASE_MOST)
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "%s: the first line must be the passphrase", path));
    memcpy(out, text.bytes, length);
    out[length] = 0;
cleanup:
    personal_wipe(&text);
    return status;
}

tacit_status tacit_personal_open_unattended(tacit_vault **out, const char *path, tacit_error *error) {
    const char *file = getenv(TACIT_PASSPHRASE_VARIABLE);
    char passphrase[TACIT_PASSPHRASE_MOST + 1];
    if (file == NULL || file[0] == 0)
        return tacit_fail(
            error, TACIT_REFUSED,
            "the personal store %s opens by its passphrase only: write it into a file of mode 600 "
            "and name that in the environment, " TACIT_PASSPHRASE_VARIABLE,
            path);
    tacit_status status = tacit_passphrase_read(file, passphrase, error);
    if (status == TACIT_OK) status = tacit_vault_open(out, path, passphrase, error);
    sodium_memzero(passphrase, sizeof passphrase);
    return status;
}

/* ---- packing ---- */

tacit_status personal_put_text(tacit_buffer *to, const char *text, size_t length, tacit_error *error) {
    TACIT_TRY(tacit_buffer_append_u32(to, (uint32_t)length, error));
    return tacit_buffer_append(to, text, length, error);
}

bool personal_get_text(tacit_cursor *from, const char **text, size_t *length, size_t most) {
    uint32_t size;
    const uint8_t *at = NULL;
    if (!tacit_cursor_read_u32(from, &size) || size > most || !tacit_cursor_skip(from, &at, size) ||
        (size > 0 && memchr(at, 0, size) != NULL))
        return false;
    *text = (const char *)at;
    *length = size;
    return true;
}

bool personal_copy_text(tacit_cursor *from, char *out, size_t size) {
    const char *text;
    size_t length;
    if (!personal_get_text(from, &text, &length, size - 1)) return false;
    if (length > 0) memcpy(out, text, length);
    out[length] = 0;
    return true;
}

tacit_status personal_corrupt(const char *what, tacit_error *error) {
    return tacit_fail(
        error, TACIT_CORRUPT,
        "%s in the personal store is none that this program wrote: restore a backup, or use the "
        "program that wrote it",
        what);
}

void personal_wipe(tacit_buffer *bytes) {
    if (bytes->bytes != NULL) sodium_memzero(bytes->bytes, bytes->capacity);
    tacit_buffer_clear(bytes);
}

/* ---- collections ---- */

static const tacit_vault_place collections_place = { RECORD_COLLECTION, 0 };

bool tacit_collection_name_fits(const char *name) {
    size_t length = strlen(name);
    if (length == 0 || length >= TACIT_COLLECTION_NAME || !isalpha((unsigned char)name[0])) return false;
    for (const char *at = name; *at != 0; at++)
        if (!isalnum((unsigned char)*at) && *at != '_' && *at != '-') return false;
    return true;
}

void tacit_collection_clear(tacit_collection *collection) {
    free(collection->columns);
    *collection = (tacit_collection){ .id = 0 };
}

static tacit_status pack_collection(tacit_buffer *out, const tacit_collection *collection,
                                    tacit_error *error) {
    TACIT_TRY(tacit_buffer_append_u32(out, collection->kind, error));
    TACIT_TRY(personal_put_text(out, collection->name, strlen(collection->name), error));
    TACIT_TRY(tacit_buffer_append_u32(out, (uint32_t)collection->count, error));
    for (size_t j = 0; j < collection->count; j++) {
        const tacit_collection_column *column = &collection->columns[j];
        TACIT_TRY(personal_put_text(out, column->name, strlen(column->name), error));
        TACIT_TRY(personal_put_text(out, column->unit, strlen(column->unit), error));
        TACIT_TRY(tacit_buffer_append_u32(out, column->is_number, error));
    }
    return TACIT_OK;
}

static bool unpack_columns(tacit_collection *out, tacit_cursor *from) {
    for (size_t j = 0; j < out->count; j++) {
        tacit_collection_column *column = &out->columns[j];
        uint32_t is_number;
        if (!personal_copy_text(from, column->name, sizeof column->name) ||
            !personal_copy_text(from, column->unit, sizeof column->unit) ||
            !tacit_cursor_read_u32(from, &is_number) || is_number > 1 ||
            !tacit_collection_name_fits(column->name))
            return false;
        column->is_number = is_number != 0;
    }
    return from->left == 0;
}

static tacit_status unpack_collection(tacit_collection *out, int64_t id, const uint8_t *bytes, size_t length,
                                      tacit_error *error) {
    tacit_cursor from = tacit_cursor_over(bytes, length);
    tacit_collection read = { .id = id };
    uint32_t kind, count;
    if (!tacit_cursor_read_u32(&from, &kind) || kind < 1 || kind > TACIT_COLLECTION_MEASURED ||
        !personal_copy_text(&from, read.name, sizeof read.name) || !tacit_collection_name_fits(read.name) ||
        !tacit_cursor_read_u32(&from, &count) || count > TACIT_COLLECTION_COLUMNS)
        return personal_corrupt("a source", error);
    read.kind = (tacit_collection_kind)kind;
    read.count = count;
    read.columns = TACIT_NEW(tacit_collection_column, count + 1);
    if (read.columns == NULL) return tacit_fail_memory(error);
    if (!unpack_columns(&read, &from)) {
        tacit_collection_clear(&read);
        return personal_corrupt("a source", error);
    }
    *out = read;
    return TACIT_OK;
}

typedef struct collection_visitor {
    tacit_collection_visit *visit;
    void *context;
} collection_visitor;

static tacit_status visit_collection(void *context, int64_t id, const uint8_t *bytes, size_t length,
                                     tacit_error *error) {
    const collection_visitor *visitor = context;
    tacit_collection collection = { .id = 0 };
    TACIT_TRY(unpack_collection(&collection, id, bytes, length, error));
    tacit_status status = visitor->visit(visitor->context, &collection, error);
    tacit_collection_clear(&collection);
    return status;
}

tacit_status tacit_collections_each(tacit_vault *vault, tacit_collection_visit *visit, void *context,
                                    tacit_error *error) {
    collection_visitor visitor = { visit, context };
    return tacit_vault_each(vault, &collections_place, visit_collection, &visitor, error);
}

static tacit_status copy_collection(tacit_collection *out, const tacit_collection *from, size_t more,
                                    tacit_error *error) {
    tacit_collection_column *columns = TACIT_NEW(tacit_collection_column, from->count + more + 1);
    if (columns == NULL) return tacit_fail_memory(error);
    if (from->count > 0) memcpy(columns, from->columns, from->count * sizeof *columns);
    *out = *from;
    out->columns = columns;
    return TACIT_OK;
}

typedef struct search {
    const char *name;
    tacit_collection *found; /* its columns are the caller's */
    char known[300];
} search;

static tacit_status look_at(void *context, const tacit_collection *collection, tacit_error *error) {
    search *self = context;
    size_t used = strlen(self->known);
    snprintf(self->known + used, sizeof self->known - used, "%s%s", used > 0 ? ", " : "", collection->name);
    if (strcmp(collection->name, self->name) != 0 || self->found->id != 0) return TACIT_OK;
    return copy_collection(self->found, collection, 0, error);
}

tacit_status tacit_collection_find(tacit_collection *out, tacit_vault *vault, const char *name,
                                   tacit_error *error) {
    tacit_collection found = { .id = 0 };
    search self = { .name = name, .found = &found };
    tacit_status status = tacit_collections_each(vault, look_at, &self, error);
    if (status == TACIT_OK && found.id == 0)
        status = tacit_fail(error, TACIT_NOT_FOUND, "the personal store has no '%.60s'; there is %s", name,
                            self.known[0] != 0 ? self.known : "nothing in it yet");
    if (status == TACIT_OK)
        *out = found;
    else
        tacit_collection_clear(&found);
    return status;
}

/* Add a column, or find that it is there. */
static tacit_status add_column(tacit_collection *to, const tacit_collection_column *column, bool *changed,
                               tacit_error *error) {
    for (size_t j = 0; j < to->count; j++) {
        if (strcmp(to->columns[j].name, column->name) != 0) continue;
        if (to->columns[j].is_number == column->is_number) return TACIT_OK;
        return tacit_fail(error, TACIT_USAGE,
                          "column '%s' of '%s' holds %s in the store: give the new one another name",
                          column->name, to->name, to->columns[j].is_number ? "numbers" : "texts");
    }
    if (to->count >= TACIT_COLLECTION_COLUMNS)
        return tacit_fail(error, TACIT_LIMIT, "'%s' would have more than %d columns", to->name,
                          TACIT_COLLECTION_COLUMNS);
    to->columns[to->count++] = *column;
    *changed = true;
    return TACIT_OK;
}

static tacit_status check_names(const tacit_collection *wanted, tacit_error *error) {
    const char *bad = tacit_collection_name_fits(wanted->name) ? NULL : wanted->name;
    for (size_t j = 0; bad == NULL && j < wanted->count; j++)
        if (!tacit_collection_name_fits(wanted->columns[j].name)) bad = wanted->columns[j].name;
    if (bad == NULL) return TACIT_OK;
    return tacit_fail(
        error, TACIT_USAGE,
        "'%.60s' is no name for a source or a column: letters, digits, _ and -, beginning with a "
        "letter, at most %d of them",
        bad, TACIT_COLLECTION_NAME - 1);
}

tacit_status tacit_collection_prepare(tacit_collection *out, tacit_vault *vault,
                                      const tacit_collection *wanted, tacit_error *error) {
    tacit_collection before = { .id = 0 }, now = { .id = 0 };
    tacit_buffer record = TACIT_BUFFER_INIT;
    bool changed = false;
    TACIT_TRY(check_names(wanted, error));
    tacit_error why = TACIT_ERROR_INIT;
    tacit_status status = tacit_collection_find(&before, vault, wanted->name, &why);
    if (status == TACIT_NOT_FOUND) {
        before = (tacit_collection){ .kind = wanted->kind };
        memcpy(before.name, wanted->name, sizeof before.name);
        status = TACIT_OK;
    }
    if (status != TACIT_OK) TACIT_CHECK(tacit_fail(error, status, "%s", why.text));
    if (before.kind != wanted->kind)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "'%s' in the store is %s: choose another name",
                               before.name,
                               before.kind == TACIT_COLLECTION_ANSWERS ? "a questionnaire's" : "a device's"));
    TACIT_CHECK(copy_collection(&now, &before, wanted->count, error));
    for (size_t j = 0; j < wanted->count; j++)
        TACIT_CHECK(add_column(&now, &wanted->columns[j], &changed, error));
    TACIT_CHECK(pack_collection(&record, &now, error));
    if (now.id == 0)
        TACIT_CHECK(tacit_vault_add(vault, &collections_place, &record, &now.id, error));
    else if (changed)
        TACIT_CHECK(tacit_vault_replace(vault, &collections_place, now.id, &record, error));
    *out = now;
    now.columns = NULL;
cleanup:
    tacit_buffer_clear(&record);
    tacit_collection_clear(&before);
    tacit_collection_clear(&now);
    return status;
}

/* ---- origins ---- */

void tacit_origin_clear(tacit_origin *origin) { tacit_buffer_clear(&origin->text); }

tacit_status tacit_origin_add(tacit_vault *vault, const tacit_collection *collection,
                              const tacit_origin *origin, int64_t *id, tacit_error *error) {
    const tacit_vault_place place = { RECORD_ORIGIN, collection->id };
    tacit_buffer record = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_buffer_append_u64(&record, (uint64_t)origin->time_ms, error));
    TACIT_CHECK(personal_put_text(&record, origin->label, strlen(origin->label), error));
    TACIT_CHECK(tacit_buffer_append(&record, origin->hash, sizeof origin->hash, error));
    TACIT_CHECK(personal_put_text(&record, (const char *)origin->text.bytes, origin->text.length, error));
    TACIT_CHECK(tacit_vault_add(vault, &place, &record, id, error));
cleanup:
    tacit_buffer_clear(&record);
    return status;
}

typedef struct origin_visitor {
    tacit_origin_visit *visit;
    void *context;
} origin_visitor;

static tacit_status visit_origin(void *context, int64_t id, const uint8_t *bytes, size_t length,
                                 tacit_error *error) {
    const origin_visitor *visitor = context;
    tacit_cursor from = tacit_cursor_over(bytes, length);
    tacit_origin origin = { .id = id };
    const char *text;
    size_t size;
    uint64_t time_ms;
    if (!tacit_cursor_read_u64(&from, &time_ms) ||
        !personal_copy_text(&from, origin.label, sizeof origin.label) ||
        !tacit_cursor_read(&from, origin.hash, sizeof origin.hash) ||
        !personal_get_text(&from, &text, &size, TACIT_ORIGIN_TEXT_MOST) || from.left != 0)
        return personal_corrupt("an origin", error);
    origin.time_ms = (int64_t)time_ms;
    tacit_status status = tacit_buffer_append(&origin.text, text, size, error);
    if (status == TACIT_OK) status = visitor->visit(visitor->context, &origin, error);
    tacit_origin_clear(&origin);
    return status;
}

tacit_status tacit_origins_each(tacit_vault *vault, const tacit_collection *collection,
                                tacit_origin_visit *visit, void *context, tacit_error *error) {
    const tacit_vault_place place = { RECORD_ORIGIN, collection->id };
    origin_visitor visitor = { visit, context };
    return tacit_vault_each(vault, &place, visit_origin, &visitor, error);
}
