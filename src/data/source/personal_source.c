/*
 * Rows of a person's own store: store:/path/personal.store?mood, or several of its sources, the rows of the
 * first each with what was last known of the others on its day: store:/path/personal.store?mood,steps.
 *
 * They are brought together here, on the person's own machine, and nothing says whose they are. The first
 * column is the day. The store opens by the passphrase in the file that the environment names
 * (person/personal.h).
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/growing.h"
#include "data/schema/date.h"
#include "data/source/source_parts.h"
#include "person/personal.h"

enum { SOURCES_MOST = 16, ROWS_MOST = 10000000 };

/* A row as kept in memory: its texts lie one after the other, each with its NUL. */
typedef struct kept_row {
    int32_t day;
    int64_t time_ms, id;
    size_t start; /* of its texts */
} kept_row;

typedef struct kept_collection {
    tacit_collection about;
    kept_row *rows; /* by day, time and number */
    size_t count, capacity;
    tacit_buffer texts;
    size_t at; /* the rows before it are known on the day at hand */
} kept_collection;

typedef struct personal_source {
    tacit_source base;
    kept_collection *held;
    size_t held_count, next;
    filling block;
} personal_source;

static void personal_free(tacit_source *source) {
    personal_source *self = (personal_source *)source;
    for (size_t k = 0; k < self->held_count; k++) {
        tacit_collection_clear(&self->held[k].about);
        free(self->held[k].rows);
        tacit_buffer_clear(&self->held[k].texts);
    }
    free(self->held);
    filling_clear(&self->block);
}

/* ---- reading the store ---- */

static tacit_status keep_row(void *context, const tacit_collection_row *row, tacit_error *error) {
    kept_collection *self = context;
    if (self->count >= ROWS_MOST)
        return tacit_fail(error, TACIT_LIMIT, "'%s' has more than %d rows", self->about.name, ROWS_MOST);
    kept_row *rows = tacit_grow_by_one(self->rows, self->count, &self->capacity, 64, sizeof *rows);
    if (rows == NULL) return tacit_fail_memory(error);
    self->rows = rows;
    rows[self->count++] = (kept_row){ row->day, row->time_ms, row->id, self->texts.length };
    for (size_t j = 0; j < self->about.count; j++) {
        const char *cell = row->cells[j] != NULL ? row->cells[j] : "";
        TACIT_TRY(tacit_buffer_append(&self->texts, cell, strlen(cell) + 1, error));
    }
    return TACIT_OK;
}

static int compare_rows(const void *one, const void *other) {
    const kept_row *a = one, *b = other;
    if (a->day != b->day) return a->day < b->day ? -1 : 1;
    if (a->time_ms != b->time_ms) return a->time_ms < b->time_ms ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static tacit_status keep_collection(personal_source *self, tacit_vault *vault, const char *name,
                                    tacit_error *error) {
    kept_collection *one = &self->held[self->held_count];
    TACIT_TRY(tacit_collection_find(&one->about, vault, name, error));
    self->held_count++;
    TACIT_TRY(tacit_rows_each(vault, &one->about, keep_row, one, error));
    if (one->count > 0) qsort(one->rows, one->count, sizeof *one->rows, compare_rows);
    for (size_t j = 0; j < one->about.count; j++)
        TACIT_TRY(source_add_column(&self->base, one->about.columns[j].name,
                                    one->about.columns[j].is_number ? TACIT_HINT_NUMBER : TACIT_HINT_CATEGORY,
                                    error));
    return TACIT_OK;
}

/* All rows are of one moment: they are read here, and never again. */
static tacit_status read_store(personal_source *self, const char *path, char *names, tacit_error *error) {
    tacit_vault *vault = NULL;
    char *rest = names;
    tacit_status status;
    self->held = TACIT_NEW(kept_collection, SOURCES_MOST);
    if (self->held == NULL) return tacit_fail_memory(error);
    TACIT_CHECK(tacit_personal_open_unattended(&vault, path, error));
    TACIT_CHECK(source_add_column(&self->base, "day", TACIT_HINT_CATEGORY, error));
    while (rest != NULL) {
        const char *name = strsep(&rest, ",");
        if (self->held_count == SOURCES_MOST)
            TACIT_CHECK(
                tacit_fail(error, TACIT_USAGE, "at most %d sources of a store go together", SOURCES_MOST));
        TACIT_CHECK(keep_collection(self, vault, name, error));
    }
cleanup:
    tacit_vault_close(vault);
    return status;
}

static tacit_status personal_open(tacit_source **out, const tacit_place *place,
                                  const tacit_source_options *options, tacit_error *error) {
    personal_source *self = NULL;
    char *path = NULL, *names = NULL;
    tacit_status status;
    (void)options;
    TACIT_CHECK(source_split_query(&path, &names, place->rest, "store:/home/ana/personal.store?mood", error));
    if (path[0] != '/')
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "name the store by its full path, e.g. store:/home/ana/personal.store?mood; "
                               "tacit store show prints it"));
    TACIT_CHECK(source_create(&self, sizeof *self, &tacit_source_personal, path, error));
    TACIT_CHECK(read_store(self, path, names, error));
    *out = &self->base;
    self = NULL;
cleanup:
    if (self != NULL) tacit_source_free(&self->base);
    free(path);
    return status;
}

/* ---- rows ---- */

/* The texts of a row, or as many empty ones. */
static tacit_status add_cells(personal_source *self, const kept_collection *from, const kept_row *row,
                              tacit_error *error) {
    const char *text = row != NULL ? (const char *)from->texts.bytes + row->start : "";
    for (size_t j = 0; j < from->about.count; j++) {
        size_t length = strlen(text);
        TACIT_TRY(source_add_text(&self->base, &self->block, text, length, error));
        if (row != NULL) text += length + 1;
    }
    return TACIT_OK;
}

static tacit_status add_row(personal_source *self, bool chosen, tacit_error *error) {
    const kept_row *row = &self->held[0].rows[self->next];
    char day[TACIT_DAY_TEXT];
    if (chosen) {
        tacit_day_text(row->day, day);
        TACIT_TRY(source_add_text(&self->base, &self->block, day, strlen(day), error));
        TACIT_TRY(add_cells(self, &self->held[0], row, error));
    }
    for (size_t k = 1; k < self->held_count; k++) {
        kept_collection *other = &self->held[k];
        while (other->at < other->count && other->rows[other->at].day <= row->day) other->at++;
        if (chosen)
            TACIT_TRY(add_cells(self, other, other->at > 0 ? &other->rows[other->at - 1] : NULL, error));
    }
    return TACIT_OK;
}

static tacit_status personal_next(tacit_source *source, size_t most, tacit_row_block *out,
                                  tacit_error *error) {
    personal_source *self = (personal_source *)source;
    filling_empty(&self->block);
    while (out->rows + out->left_out < most && !filling_is_full(&self->block)) {
        out->ended = self->next == self->held[0].count;
        if (out->ended) break;
        bool chosen = tacit_row_filter_keeps(source->filter, source->row);
        TACIT_TRY(add_row(self, chosen, error));
        out->rows += chosen;
        out->left_out += !chosen;
        self->next++;
        source->row++;
    }
    filling_finish(&self->block);
    out->cells = self->block.cells;
    return TACIT_OK;
}

static tacit_status personal_rewind(tacit_source *source, tacit_error *error) {
    personal_source *self = (personal_source *)source;
    (void)error;
    self->next = 0;
    for (size_t k = 0; k < self->held_count; k++) self->held[k].at = 0;
    return TACIT_OK;
}

/* The store, the log beside it, and the file with the passphrase. */
static void personal_allow(tacit_harden_settings *settings, const tacit_place *place) {
    char path[PATH_MAX];
    const char *passphrase = getenv(TACIT_PASSPHRASE_VARIABLE);
    if (snprintf(path, sizeof path, "%.*s", (int)strcspn(place->rest, "?"), place->rest) < (int)sizeof path)
        tacit_harden_allow_around(settings, path, true);
    if (passphrase != NULL && passphrase[0] != 0) tacit_harden_allow(settings, passphrase, false);
}

const tacit_source_kind tacit_source_personal = { .name = "personal",
                                                  .prefix = "store:",
                                                  .row = "row",
                                                  .open = personal_open,
                                                  .next = personal_next,
                                                  .rewind = personal_rewind,
                                                  .free = personal_free,
                                                  .allow = personal_allow };
