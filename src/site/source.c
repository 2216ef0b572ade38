#include "site/source_parts.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/csv.h"

enum { LINE_MOST = 1 << 26 };

#define SQLITE_PREFIX "sqlite:"
#define POSTGRES_PREFIX "postgres:"

/* ---- rows as they come in ---- */

static void gathering_clear(gathering *self) {
    for (size_t j = 0; j < self->columns; j++) free(self->names[j]);
    free(self->names);
    free(self->rows);
    tacit_buffer_clear(&self->text);
    tacit_levels_clear(&self->seen);
}

static tacit_status remember_names(gathering *self, const char *const *names, size_t count,
                                   tacit_error *error) {
    self->names = TACIT_NEW(char *, count);
    if (self->names == NULL) return tacit_fail_memory(error);
    for (; self->columns < count; self->columns++) {
        self->names[self->columns] = tacit_copy_text(names[self->columns]);
        if (self->names[self->columns] == NULL) return tacit_fail_memory(error);
    }
    self->linked = count;
    for (size_t j = 0; self->link != NULL && j < count; j++)
        if (strcmp(names[j], self->link) == 0) self->linked = j;
    return TACIT_OK;
}

tacit_status gathering_begin(gathering *self, const char *const *names, size_t count, const char *where,
                             tacit_error *error) {
    if (self->names == NULL) TACIT_TRY(remember_names(self, names, count, error));
    if (self->link != NULL && self->linked == self->columns)
        return tacit_fail(error, TACIT_USAGE, "%s has no column '%s' to link rows by", where, self->link);
    bool same = count == self->columns;
    for (size_t j = 0; same && j < count; j++) same = strcmp(names[j], self->names[j]) == 0;
    if (!same)
        return tacit_fail(
            error, TACIT_INPUT,
            "%s has other columns than the files before it: a folder's files must have the same header",
            where);
    return TACIT_OK;
}

/* Where the row goes: behind the others, or in the place of an earlier one about the same individual. */
static tacit_status place_of(gathering *self, const char *const *cells, const char *where, size_t *out,
                             tacit_error *error) {
    int32_t code = 0;
    *out = self->count;
    if (self->link == NULL) return TACIT_OK;
    const char *value = cells[self->linked];
    if (value == NULL || value[0] == 0)
        return tacit_fail(error, TACIT_INPUT,
                          "%s: a row has nothing in column '%s', which says whom it is about", where,
                          self->link);
    TACIT_TRY(tacit_levels_add(&self->seen, value, strlen(value), &code, error));
    *out = (size_t)code;
    return TACIT_OK;
}

tacit_status gathering_row(gathering *self, const char *const *cells, const char *where, tacit_error *error) {
    size_t place = 0, start = self->text.length;
    bool first = true;
    if (self->visit != NULL)
        return self->visit(self->context, (const char *const *)self->names, cells, self->columns, error);
    TACIT_TRY(place_of(self, cells, where, &place, error));
    bool chosen = tacit_row_chosen(self->choice, place);
    for (size_t j = 0; chosen && j < self->columns; j++) {
        if (j == self->linked) continue;
        const char *cell = cells[j] != NULL ? cells[j] : "";
        if (!first) TACIT_TRY(tacit_buffer_append(&self->text, ",", 1, error));
        TACIT_TRY(tacit_csv_write_field(&self->text, cell, strlen(cell), ',', error));
        first = false;
    }
    if (chosen) TACIT_TRY(tacit_buffer_append(&self->text, "\n", 1, error));
    if (place == self->capacity) {
        size_t capacity = self->capacity > 0 ? 2 * self->capacity : 1024;
        row_span *grown = tacit_grow(self->rows, capacity, sizeof *grown);
        if (grown == NULL) return tacit_fail_memory(error);
        self->rows = grown;
        self->capacity = capacity;
    }
    self->rows[place] = (row_span){ start, self->text.length - start };
    if (place == self->count) self->count++;
    return TACIT_OK;
}

/* ---- files ---- */

static tacit_status gather_records(gathering *self, tacit_csv *csv, const char *path, tacit_error *error) {
    size_t columns = tacit_csv_column_count(csv);
    const char **cells = TACIT_NEW(const char *, columns);
    tacit_record record;
    tacit_status status;
    if (cells == NULL) return tacit_fail_memory(error);
    for (size_t j = 0; j < columns; j++) cells[j] = tacit_csv_column_name(csv, j);
    TACIT_CHECK(gathering_begin(self, cells, columns, path, error));
    for (;;) {
        TACIT_CHECK(tacit_csv_next(csv, &record, error));
        if (record.count == 0) break;
        for (size_t j = 0; j < columns; j++) cells[j] = record.cells[j].text;
        TACIT_CHECK(gathering_row(self, cells, path, error));
    }
cleanup:
    free(cells);
    return status;
}

static tacit_status gather_file(gathering *self, const char *path, const tacit_load_options *options,
                                tacit_error *error) {
    tacit_input *input = NULL;
    tacit_csv *csv = NULL;
    tacit_csv_options reading = tacit_csv_defaults();
    tacit_status status;
    reading.no_header = options->no_header;
    reading.separator = options->separator;
    TACIT_CHECK(tacit_input_open(&input, path, error));
    TACIT_CHECK(tacit_csv_open(&csv, input, &reading, error));
    TACIT_CHECK(gather_records(self, csv, path, error));
cleanup:
    tacit_csv_free(csv);
    tacit_input_free(input);
    return status;
}

/* One line of a LIBSVM file, which is cut at its blanks. */
static tacit_status visit_tokens(gathering *self, char *line, const char ***cells, size_t *capacity,
                                 tacit_error *error) {
    size_t count = 0;
    char *rest = NULL;
    line[strcspn(line, "#\r")] = 0;
    for (char *token = strtok_r(line, " \t", &rest); token != NULL; token = strtok_r(NULL, " \t", &rest)) {
        if (count == *capacity) {
            const char **grown = tacit_grow(*cells, 2 * count + 64, sizeof *grown);
            if (grown == NULL) return tacit_fail_memory(error);
            *cells = grown;
            *capacity = 2 * count + 64;
        }
        (*cells)[count++] = token;
    }
    return count > 0 ? self->visit(self->context, NULL, *cells, count, error) : TACIT_OK;
}

static tacit_status visit_lines(gathering *self, tacit_input *input, tacit_error *error) {
    tacit_buffer line = TACIT_BUFFER_LIMITED(LINE_MOST);
    const char **cells = NULL;
    const uint8_t *bytes;
    size_t length, capacity = 0;
    tacit_status status;
    for (;;) {
        TACIT_CHECK(tacit_input_next(input, &bytes, &length, error));
        for (size_t from = 0; from < length;) {
            const uint8_t *end = memchr(bytes + from, '\n', length - from);
            size_t to = end != NULL ? (size_t)(end - bytes) : length;
            TACIT_CHECK(tacit_buffer_append(&line, bytes + from, to - from, error));
            from = to + (end != NULL);
            if (end == NULL) break;
            TACIT_CHECK(tacit_buffer_append(&line, "", 1, error));
            TACIT_CHECK(visit_tokens(self, (char *)line.bytes, &cells, &capacity, error));
            line.length = 0;
        }
        if (length == 0) break;
    }
    TACIT_CHECK(tacit_buffer_append(&line, "", 1, error)); /* the last one may have no end */
    TACIT_CHECK(visit_tokens(self, (char *)line.bytes, &cells, &capacity, error));
cleanup:
    free(cells);
    tacit_buffer_clear(&line);
    return status;
}

static tacit_status visit_file(gathering *self, const char *path, const tacit_load_options *options,
                               tacit_error *error) {
    tacit_input *input = NULL;
    bool libsvm = false;
    tacit_status status;
    TACIT_CHECK(tacit_input_open(&input, path, error));
    TACIT_CHECK(tacit_dataset_is_libsvm(&libsvm, input, error));
    if (libsvm) TACIT_CHECK(visit_lines(self, input, error));
cleanup:
    tacit_input_free(input);
    return status != TACIT_OK || libsvm ? status : gather_file(self, path, options, error);
}

/* A file that is still being written has another name. */
static int is_table(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 4 && strcmp(entry->d_name + length - 4, ".csv") == 0;
}

static tacit_status gather_folder(gathering *self, const char *folder, const tacit_load_options *options,
                                  tacit_error *error) {
    struct dirent **entries = NULL;
    char path[PATH_MAX];
    tacit_status status = TACIT_OK;
    int count = scandir(folder, &entries, is_table, alphasort);
    if (count < 0) return tacit_fail_errno(error, "reading", folder);
    if (count == 0) status = tacit_fail(error, TACIT_INPUT, "%s holds no *.csv file", folder);
    for (int i = 0; i < count; i++) {
        if (status == TACIT_OK)
            status = tacit_path_join(path, sizeof path, folder, entries[i]->d_name, error);
        if (status == TACIT_OK) status = gather_file(self, path, options, error);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* ---- any source ---- */

/* A folder without a table is one of documents, which tacit_input_open reads. */
static bool holds_tables(const char *data) {
    struct dirent **entries = NULL;
    int count = scandir(data, &entries, is_table, NULL); /* -1: no folder */
    for (int i = 0; i < count; i++) free(entries[i]);
    free(entries);
    return count > 0;
}

static bool is_database(const char *data) {
    return strncmp(data, SQLITE_PREFIX, strlen(SQLITE_PREFIX)) == 0 ||
           strncmp(data, POSTGRES_PREFIX, strlen(POSTGRES_PREFIX)) == 0;
}

bool tacit_source_is_gathered(const char *data, const char *link) {
    return link != NULL || is_database(data) || holds_tables(data);
}

static tacit_status gather_database(gathering *self, const char *data, tacit_error *error) {
    bool sqlite = strncmp(data, SQLITE_PREFIX, strlen(SQLITE_PREFIX)) == 0;
    char *copy = tacit_copy_text(data + strlen(sqlite ? SQLITE_PREFIX : POSTGRES_PREFIX));
    tacit_status status;
    if (copy == NULL) return tacit_fail_memory(error);
    char *query = strchr(copy, '?');
    if (query == NULL) {
        status = tacit_fail(
            error, TACIT_USAGE,
            "a database needs a query after a question mark, e.g. sqlite:/data/clinic.db?SELECT * FROM "
            "visits");
    } else {
        *query++ = 0;
        status = (sqlite ? gathering_sqlite : gathering_postgres)(self, copy, query, error);
    }
    free(copy);
    return status;
}

/* The header, without the link, and the rows that count. */
static tacit_status print_rows(const gathering *self, tacit_buffer *out, tacit_error *error) {
    bool first = true;
    for (size_t j = 0; j < self->columns; j++) {
        if (j == self->linked) continue;
        if (!first) TACIT_TRY(tacit_buffer_append(out, ",", 1, error));
        TACIT_TRY(tacit_csv_write_field(out, self->names[j], strlen(self->names[j]), ',', error));
        first = false;
    }
    TACIT_TRY(tacit_buffer_append(out, "\n", 1, error));
    for (size_t i = 0; i < self->count; i++)
        TACIT_TRY(
            tacit_buffer_append(out, self->text.bytes + self->rows[i].start, self->rows[i].length, error));
    return TACIT_OK;
}

static tacit_status read_gathered(tacit_dataset **out, const tacit_buffer *text, const tacit_schema *schema,
                                  const tacit_load_options *options, tacit_error *error) {
    tacit_load_options reading = *options;
    tacit_input *input = NULL;
    reading.no_header = false;
    reading.separator = ',';
    reading.rows = NULL; /* those that are not kept are not in the text */
    TACIT_TRY(tacit_input_open_memory(&input, text->bytes, text->length, "rows.csv", error));
    tacit_status status = tacit_dataset_read(out, NULL, input, schema, &reading, error);
    tacit_input_free(input);
    return status;
}

tacit_status tacit_source_load(tacit_dataset **out, const char *data, const char *link,
                               const tacit_schema *schema, const tacit_load_options *options,
                               tacit_error *error) {
    if (!tacit_source_is_gathered(data, link))
        return tacit_dataset_load(out, NULL, data, schema, options, error);
    gathering self = {
        .link = link, .choice = options->rows, .text = TACIT_BUFFER_INIT, .seen = TACIT_LEVELS_INIT
    };
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(is_database(data)    ? gather_database(&self, data, error)
                : holds_tables(data) ? gather_folder(&self, data, options, error)
                                     : gather_file(&self, data, options, error));
    TACIT_CHECK(print_rows(&self, &text, error));
    TACIT_CHECK(read_gathered(out, &text, schema, options, error));
cleanup:
    tacit_buffer_clear(&text);
    gathering_clear(&self);
    return status;
}

tacit_status tacit_source_visit(const char *data, const tacit_load_options *options, tacit_cells_visit *visit,
                                void *context, tacit_error *error) {
    gathering self = {
        .text = TACIT_BUFFER_INIT, .seen = TACIT_LEVELS_INIT, .visit = visit, .context = context
    };
    tacit_status status = is_database(data)    ? gather_database(&self, data, error)
                          : holds_tables(data) ? gather_folder(&self, data, options, error)
                                               : visit_file(&self, data, options, error);
    gathering_clear(&self);
    return status;
}
