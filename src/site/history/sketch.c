/* The sketches of a home's data sources, kept and compared. */
#include "site/history/sketch.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "privacy/ledger/ledger.h"
#include "site/history/sketch_parts.h"
#include "store/statement.h"
#include "study/home.h"
#include "study/json_value.h"

static const char *const scripts[] = {
    "CREATE TABLE secret (key BLOB NOT NULL);"
    "CREATE TABLE seen (source TEXT PRIMARY KEY, stamp TEXT NOT NULL, rows INTEGER NOT NULL,"
    " distinct_rows INTEGER NOT NULL, digest INTEGER NOT NULL, ordered INTEGER NOT NULL) STRICT;"
    "CREATE TABLE view (source TEXT NOT NULL REFERENCES seen, name TEXT NOT NULL, declared INTEGER NOT NULL,"
    " below INTEGER NOT NULL, hashes BLOB NOT NULL, PRIMARY KEY (source, name)) STRICT;",
};

static const tacit_store_schema schema = {
    .what = "sketches of data sources", .application_id = 0x5453636b, .scripts = scripts, .script_count = 1
};

enum { STAMP_SIZE = 160, VIEW_NAME_MOST = 1 << 20 };

static tacit_status finish(tacit_store *store, tacit_status status, tacit_error *error) {
    if (status == TACIT_OK) return tacit_store_commit(store, error);
    tacit_store_rollback(store);
    return status;
}

/* The key is drawn once, by whoever is first. */
static tacit_status read_secret(uint8_t key[crypto_shorthash_KEYBYTES], tacit_store *store,
                                tacit_error *error) {
    tacit_statement *get = NULL;
    bool found = false;
    tacit_status status;
    TACIT_TRY(tacit_store_begin(store, error));
    TACIT_CHECK(tacit_statement_prepare(&get, store, "SELECT key FROM secret", error));
    TACIT_CHECK(tacit_statement_step(&found, get, error));
    if (found) {
        TACIT_CHECK(tacit_column_bytes(key, crypto_shorthash_KEYBYTES, get, 0, error));
    } else {
        randombytes_buf(key, crypto_shorthash_KEYBYTES);
        TACIT_CHECK(tacit_store_put(store, "INSERT INTO secret VALUES (?1)",
                                    TACIT_VALUES(tacit_sql_blob(key, crypto_shorthash_KEYBYTES)), error));
    }
cleanup:
    tacit_statement_free(get);
    return finish(store, status, error);
}

/* Whether the home has a ledger; sketches without one are of no use to anybody, and are removed. */
static tacit_status has_ledger(bool *out, const char *home, const char *sketches, tacit_error *error) {
    static const char *const beside[] = { "", "-wal", "-shm" };
    char path[PATH_MAX];
    TACIT_TRY(tacit_path_join(path, sizeof path, home, TACIT_LEDGER_NAME, error));
    *out = access(path, F_OK) == 0;
    for (size_t i = 0; !*out && i < sizeof beside / sizeof *beside; i++)
        if (snprintf(path, sizeof path, "%s%s", sketches, beside[i]) < (int)sizeof path &&
            unlink(path) != 0 && errno != ENOENT)
            return tacit_fail_errno(error, "removing", path);
    return TACIT_OK;
}

/* ---- keeping ---- */

/* What tells that a file is as it was; empty where nothing does. */
static void make_stamp(char out[STAMP_SIZE], const tacit_sketch_source *about) {
    struct stat file;
    out[0] = 0;
    if (stat(about->data, &file) != 0 || !S_ISREG(file.st_mode) || strlen(about->data) > PATH_MAX) return;
    const char *link = about->link != NULL ? about->link : "";
    snprintf(out, STAMP_SIZE, "%llu %lld.%09ld %llu %llu %d%c %.64s", (unsigned long long)file.st_size,
             (long long)file.st_mtim.tv_sec, file.st_mtim.tv_nsec, (unsigned long long)file.st_ino,
             (unsigned long long)file.st_dev, about->options->no_header,
             about->options->separator != 0 ? about->options->separator : '-', link);
}

static tacit_status is_known(bool *out, tacit_store *store, const char *source, const char *stamp,
                             tacit_error *error) {
    tacit_status status;
    *out = false;
    if (stamp[0] == 0) return TACIT_OK;
    TACIT_CHECK(tacit_store_has(out, store, "SELECT 1 FROM seen WHERE source = ?1 AND stamp = ?2",
                                TACIT_VALUES(tacit_sql_text(source), tacit_sql_text(stamp)), error));
cleanup:
    return status;
}

static tacit_status forget(tacit_store *store, const char *source, tacit_error *error) {
    static const char *const changes[] = { "DELETE FROM view WHERE source = ?1",
                                           "DELETE FROM seen WHERE source = ?1" };
    tacit_status status = TACIT_OK;
    for (int i = 0; i < 2 && status == TACIT_OK; i++) {
        tacit_statement *change = NULL;
        TACIT_TRY(tacit_statement_prepare(&change, store, changes[i], error));
        tacit_bind_text(change, 1, source);
        status = tacit_statement_run(change, error);
        tacit_statement_free(change);
    }
    return status;
}

static tacit_status keep(tacit_store *store, const char *source, const char *stamp, const sketch_table *table,
                         tacit_error *error) {
    tacit_statement *put = NULL;
    tacit_status status;
    TACIT_CHECK(forget(store, source, error));
    TACIT_CHECK(tacit_store_put(
        store, "INSERT INTO seen VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        TACIT_VALUES(tacit_sql_text(source), tacit_sql_text(stamp), tacit_sql_integer((int64_t)table->rows),
                     tacit_sql_integer((int64_t)table->distinct), tacit_sql_integer((int64_t)table->digest),
                     tacit_sql_integer((int64_t)table->ordered)),
        error));
    TACIT_CHECK(tacit_statement_prepare(&put, store, "INSERT INTO view VALUES (?1, ?2, ?3, ?4, ?5)", error));
    for (size_t i = 0; i < table->count; i++) {
        const sketch_view *view = &table->views[i];
        tacit_bind_text(put, 1, source);
        tacit_bind_text(put, 2, view->name);
        tacit_bind_integer(put, 3, view->declared);
        tacit_bind_integer(put, 4, (int64_t)view->least.below);
        tacit_bind_blob(put, 5, view->least.items != NULL ? (const void *)view->least.items : "",
                        view->least.count * sizeof *view->least.items);
        TACIT_CHECK(tacit_statement_run(put, error));
    }
cleanup:
    tacit_statement_free(put);
    return status;
}

tacit_status tacit_sketch_take(const tacit_sketch_source *about, tacit_error *error) {
    char path[PATH_MAX], stamp[STAMP_SIZE];
    uint8_t key[crypto_shorthash_KEYBYTES];
    tacit_store *store = NULL;
    sketch_table table = { .rows = 0 };
    bool known = false, ledger = false;
    tacit_status status;
    TACIT_TRY(tacit_path_join(path, sizeof path, about->home, TACIT_SKETCHES_NAME, error));
    TACIT_TRY(has_ledger(&ledger, about->home, path, error));
    TACIT_CHECK(tacit_store_open(&store, path, &schema, TACIT_STORE_CREATE, error));
    TACIT_CHECK(read_secret(key, store, error));
    make_stamp(stamp, about);
    TACIT_CHECK(is_known(&known, store, about->source, stamp, error));
    if (known) goto cleanup;
    TACIT_CHECK(sketch_make(&table, about, key, error));
    TACIT_CHECK(tacit_store_begin(store, error));
    status = finish(store, keep(store, about->source, stamp, &table, error), error);
cleanup:
    sodium_memzero(key, sizeof key);
    sketch_clear(&table);
    tacit_store_close(store);
    return status;
}

/* ---- comparing ---- */

typedef struct sketched {
    char *source;
    char people[TACIT_NAME_MOST + 1]; /* whose limit holds for it */
    sketch_table table;
} sketched;

typedef struct collection {
    sketched *items;
    size_t count;
} collection;

static void collection_clear(collection *self) {
    for (size_t i = 0; i < self->count; i++) {
        free(self->items[i].source);
        sketch_clear(&self->items[i].table);
    }
    free(self->items);
}

static tacit_status read_views(sketched *out, tacit_store *store, tacit_error *error) {
    tacit_statement *query = NULL;
    bool row = false;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(
        &query, store, "SELECT name, declared, below, hashes FROM view WHERE source = ?1 ORDER BY name",
        TACIT_VALUES(tacit_sql_text(out->source)), error));
    for (; out->table.count < SKETCH_VIEWS;) {
        sketch_view *view = &out->table.views[out->table.count];
        const uint8_t *bytes = NULL;
        const char *name = NULL;
        size_t length = 0;
        TACIT_CHECK(tacit_statement_step(&row, query, error));
        if (!row) break;
        TACIT_CHECK(tacit_column_text(&name, query, 0, VIEW_NAME_MOST, error));
        TACIT_CHECK(
            tacit_column_blob(&bytes, &length, query, 3, SKETCH_MOST * sizeof *view->least.items, error));
        *view = (sketch_view){ .name = tacit_copy_text(name),
                               .declared = tacit_column_integer(query, 1) != 0,
                               .least = { .most = SKETCH_MOST,
                                          .count = length / sizeof *view->least.items,
                                          .below = (uint64_t)tacit_column_integer(query, 2),
                                          .items = TACIT_NEW(uint64_t, length / 8 + 1) } };
        out->table.count++;
        if (view->name == NULL || view->least.items == NULL) TACIT_CHECK(tacit_fail_memory(error));
        if (length > 0) memcpy(view->least.items, bytes, view->least.count * sizeof *view->least.items);
    }
cleanup:
    tacit_statement_free(query);
    return status;
}

static tacit_status read_people(sketched *out, const char *ledger_path, tacit_error *error) {
    tacit_ledger *ledger = NULL;
    TACIT_TRY(tacit_ledger_open(&ledger, ledger_path, out->source, TACIT_LEDGER_READING, error));
    tacit_status status = tacit_ledger_people(out->people, ledger, error);
    tacit_ledger_free(ledger);
    return status;
}

static tacit_status read_all(collection *out, tacit_store *store, const char *ledger, tacit_error *error) {
    tacit_statement *query = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(
        &query, store, "SELECT source, rows, distinct_rows, digest, ordered FROM seen ORDER BY source",
        error));
    while (tacit_statement_next(query, &status, error)) {
        const char *source = NULL;
        TACIT_CHECK(tacit_column_text(&source, query, 0, TACIT_NAME_MOST, error));
        sketched *grown = tacit_grow(out->items, out->count + 1, sizeof *grown), *one;
        if (grown == NULL) TACIT_CHECK(tacit_fail_memory(error));
        out->items = grown;
        one = &grown[out->count];
        *one = (sketched){ .source = tacit_copy_text(source),
                           .table = { .rows = (size_t)tacit_column_integer(query, 1),
                                      .distinct = (size_t)tacit_column_integer(query, 2),
                                      .digest = (uint64_t)tacit_column_integer(query, 3),
                                      .ordered = (uint64_t)tacit_column_integer(query, 4) } };
        out->count++;
        if (one->source == NULL) TACIT_CHECK(tacit_fail_memory(error));
        TACIT_CHECK(read_people(one, ledger, error));
        TACIT_CHECK(read_views(one, store, error));
    }
cleanup:
    tacit_statement_free(query);
    return status;
}

/* Few different rows may be the same by chance, unless they also come in the same order. */
static bool same_rows(const sketch_table *one, const sketch_table *other) {
    if (one->rows != other->rows || one->digest != other->digest) return false;
    return one->distinct >= 8 || (one->ordered == other->ordered && one->distinct >= 2 && one->rows >= 24);
}

static bool is_key(const sketch_view *view) { return strncmp(view->name, "key ", 4) == 0; }

static bool is_part(const sketch_view *view) { return strncmp(view->name, "rows ", 5) == 0; }

static bool is_named(const sketch_view *view) { return strncmp(view->name, "rows", 4) == 0; }

/* Rows without some columns may be whole rows of the other source. */
static bool are_alike(const sketch_view *one, const sketch_view *other) {
    return strcmp(one->name, other->name) == 0 || (one->declared && other->declared) ||
           (is_named(one) && is_named(other));
}

static tacit_overlap_kind kind_of(const sketch_view *one, const sketch_view *other) {
    if (is_key(one)) return TACIT_OVERLAP_KEY;
    return is_part(one) || is_part(other) ? TACIT_OVERLAP_PART : TACIT_OVERLAP_ROWS;
}

/* The strongest that there is: kinds are in that order. */
static bool compare(tacit_overlap *out, const sketched *one, const sketched *other) {
    bool found = same_rows(&one->table, &other->table);
    *out = (tacit_overlap){ .source = one->source,
                            .other = other->source,
                            .kind = TACIT_OVERLAP_SAME,
                            .column = "",
                            .part = 1,
                            .smaller = one->table.rows <= other->table.rows };
    if (found) return true;
    for (size_t i = 0; i < one->table.count; i++)
        for (size_t j = 0; j < other->table.count; j++) {
            const sketch_view *mine = &one->table.views[i], *theirs = &other->table.views[j];
            tacit_overlap_kind kind = kind_of(mine, theirs);
            double part = 0;
            if (!are_alike(mine, theirs) || !sketch_is_common(&mine->least, &theirs->least, &part)) continue;
            if (found && (kind > out->kind || (kind == out->kind && part <= out->part))) continue;
            found = true;
            out->kind = kind;
            out->part = part;
            out->column = kind == TACIT_OVERLAP_KEY ? mine->name + 4 : "";
        }
    return found;
}

static tacit_status visit_pairs(const collection *all, const char *source, tacit_overlap_visit *visit,
                                void *context, tacit_error *error) {
    for (size_t i = 0; i < all->count; i++) {
        if (source != NULL && strcmp(all->items[i].source, source) != 0) continue;
        for (size_t j = 0; j < all->count; j++) {
            tacit_overlap overlap;
            if (j == i || (source == NULL && j > i)) continue;
            if (strcmp(all->items[i].people, all->items[j].people) == 0) continue;
            if (compare(&overlap, &all->items[i], &all->items[j])) TACIT_TRY(visit(context, &overlap, error));
        }
    }
    return TACIT_OK;
}

tacit_status tacit_sketch_overlaps(const char *home, const char *source, tacit_overlap_visit *visit,
                                   void *context, tacit_error *error) {
    char path[PATH_MAX], ledger[PATH_MAX];
    tacit_store *store = NULL;
    collection all = { NULL, 0 };
    tacit_status status;
    TACIT_TRY(tacit_path_join(path, sizeof path, home, TACIT_SKETCHES_NAME, error));
    TACIT_TRY(tacit_path_join(ledger, sizeof ledger, home, TACIT_LEDGER_NAME, error));
    if (access(path, F_OK) != 0 || access(ledger, F_OK) != 0) return TACIT_OK;
    TACIT_CHECK(tacit_store_open(&store, path, &schema, TACIT_STORE_EXISTING, error));
    TACIT_CHECK(read_all(&all, store, ledger, error));
    TACIT_CHECK(visit_pairs(&all, source, visit, context, error));
cleanup:
    collection_clear(&all);
    tacit_store_close(store);
    return status;
}

/* ---- saying so ---- */

/* The command is there to be copied. */
static const char *quote_of(const char *source) {
    return strpbrk(source, " \t()&;|<>*?$#\"") != NULL ? "'" : "";
}

tacit_status tacit_overlap_text(tacit_buffer *out, const tacit_overlap *overlap, tacit_error *error) {
    char first[TACIT_SOURCE_SHOWN_SIZE], second[TACIT_SOURCE_SHOWN_SIZE];
    const char *one = tacit_source_shown(first, overlap->source),
               *other = tacit_source_shown(second, overlap->other);
    const char *smaller = overlap->smaller ? one : other, *larger = overlap->smaller ? other : one;
    const double percent = fmax(1, round(100 * overlap->part));
    switch (overlap->kind) {
    case TACIT_OVERLAP_SAME:
        TACIT_TRY(tacit_buffer_print(out, error, "%s holds the same rows as %s", one, other));
        break;
    case TACIT_OVERLAP_ROWS:
    case TACIT_OVERLAP_PART:
        TACIT_TRY(tacit_buffer_print(out, error, "about %.0f%% of the rows of %s are also in %s%s", percent,
                                     smaller, larger,
                                     overlap->kind == TACIT_OVERLAP_PART ? ", apart from some columns" : ""));
        break;
    case TACIT_OVERLAP_KEY:
        TACIT_TRY(tacit_buffer_print(out, error,
                                     "about %.0f%% of the values of column '%s' of %s are also in %s",
                                     percent, overlap->column, smaller, larger));
        break;
    }
    return tacit_buffer_print(out, error, ": whoever is in both is protected by neither limit alone");
}

tacit_status tacit_overlap_remedy(tacit_buffer *out, const tacit_overlap *overlap, tacit_error *error) {
    char first[TACIT_SOURCE_SHOWN_SIZE], second[TACIT_SOURCE_SHOWN_SIZE];
    const char *one = tacit_source_shown(first, overlap->source),
               *other = tacit_source_shown(second, overlap->other);
    return tacit_buffer_print(out, error, "tacit ledger link --source %s%s%s --same-people-as %s%s%s",
                              quote_of(one), one, quote_of(one), quote_of(other), other, quote_of(other));
}

tacit_status tacit_overlap_append(void *context, const tacit_overlap *overlap, tacit_error *error) {
    json_t **list = context;
    char shown[TACIT_SOURCE_SHOWN_SIZE];
    tacit_buffer text = TACIT_BUFFER_INIT, remedy = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_overlap_text(&text, overlap, error));
    TACIT_CHECK(tacit_overlap_remedy(&remedy, overlap, error));
    *list = tacit_json_append(*list, json_pack("{s:o,s:o,s:o}", "source",
                                               tacit_json_escaped(tacit_source_shown(shown, overlap->other)),
                                               "sentence", tacit_json_escaped(tacit_buffer_text(&text)),
                                               "remedy", tacit_json_escaped(tacit_buffer_text(&remedy))));
    if (*list == NULL) TACIT_CHECK(tacit_fail_memory(error));
cleanup:
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&remedy);
    return status;
}

json_t *tacit_overlaps_failed(json_t *list, const tacit_error *why) {
    char sentence[sizeof why->text + 64];
    snprintf(sentence, sizeof sentence, "other data sources could not be compared: %s", why->text);
    return tacit_json_append(
        list, json_pack("{s:n,s:o,s:n}", "source", "sentence", tacit_json_escaped(sentence), "remedy"));
}
