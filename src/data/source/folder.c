/*
 * A folder of CSV files as one table: *.csv, *.csv.gz and *.csv.xz in the order of their names, all with the
 * header of the first. A file that is still being written has another name.
 */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/source/part.h"
#include "data/source/source_parts.h"

/* Lines of the n-th file are those of the table from n times this. */
static const uint64_t lines_a_file = UINT64_C(1) << 40;

typedef struct folder_source {
    tacit_source base;
    tacit_levels paths; /* of the files, in order */
    struct stat *found; /* what they were when they were listed */
    size_t at;          /* which of them is open */
    tacit_source *file;
    bool no_header;
    char separator;
} folder_source;

/* How much of a name is left without .gz or .xz. */
static size_t stem_of(const char *name) {
    size_t length = strlen(name);
    bool packed =
        length > 3 && (strcmp(name + length - 3, ".gz") == 0 || strcmp(name + length - 3, ".xz") == 0);
    return packed ? length - 3 : length;
}

static int is_table(const struct dirent *entry) {
    size_t length = stem_of(entry->d_name);
    return entry->d_name[0] != '.' && length > 4 && strncmp(entry->d_name + length - 4, ".csv", 4) == 0;
}

/* By bytes, as in every locale. */
static int compare_names(const void *a, const void *b) {
    const struct dirent *const *left = a, *const *right = b;
    return strcmp((*left)->d_name, (*right)->d_name);
}

static bool folder_takes(const tacit_place *place) {
    struct dirent *entry = NULL;
    bool found = false;
    DIR *folder = place->is_folder ? opendir(place->name) : NULL;
    if (folder == NULL) return false;
    while (!found && (entry = readdir(folder)) != NULL) found = is_table(entry) != 0;
    closedir(folder);
    return found;
}

static void folder_free(tacit_source *source) {
    folder_source *self = (folder_source *)source;
    tacit_source_free(self->file);
    tacit_levels_clear(&self->paths);
    free(self->found);
}

/* A table that is there plain and packed would be read twice. */
static tacit_status add_file(folder_source *self, tacit_levels *stems, const char *name, tacit_error *error) {
    char path[PATH_MAX];
    int32_t code = 0;
    size_t before = stems->count;
    TACIT_TRY(tacit_path_join(path, sizeof path, self->base.name, name, error));
    TACIT_TRY(tacit_levels_add(stems, name, stem_of(name), &code, error));
    if ((size_t)code != before)
        return tacit_fail(error, TACIT_INPUT, "%s is there twice, plain and compressed: keep one of them",
                          path);
    return tacit_levels_add(&self->paths, path, strlen(path), NULL, error);
}

static tacit_status list_files(folder_source *self, tacit_error *error) {
    struct dirent **entries = NULL;
    tacit_levels stems = TACIT_LEVELS_INIT;
    tacit_status status = TACIT_OK;
    int count = scandir(self->base.name, &entries, is_table, NULL);
    if (count < 0) return tacit_fail_errno(error, "reading", self->base.name);
    if (count > 0) qsort(entries, (size_t)count, sizeof *entries, compare_names);
    for (int i = 0; i < count; i++) {
        if (status == TACIT_OK) status = add_file(self, &stems, entries[i]->d_name, error);
        free(entries[i]);
    }
    free(entries);
    tacit_levels_clear(&stems);
    return status;
}

static tacit_status look_at_files(folder_source *self, tacit_error *error) {
    self->found = TACIT_NEW(struct stat, self->paths.count);
    if (self->found == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < self->paths.count; i++)
        if (stat(self->paths.text[i], &self->found[i]) != 0)
            return tacit_fail_errno(error, "reading", self->paths.text[i]);
    return TACIT_OK;
}

/* A file is opened once a reading: whether it is still the same, input.c cannot know. */
static tacit_status check_unchanged(const folder_source *self, size_t at, tacit_error *error) {
    const struct stat *then = &self->found[at];
    struct stat now;
    if (stat(self->paths.text[at], &now) != 0)
        return tacit_fail_errno(error, "reading", self->paths.text[at]);
    if (now.st_ino == then->st_ino && now.st_size == then->st_size &&
        now.st_mtim.tv_sec == then->st_mtim.tv_sec && now.st_mtim.tv_nsec == then->st_mtim.tv_nsec)
        return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT,
                      "%s has changed while the folder was read: try again when it is whole",
                      self->paths.text[at]);
}

/* The file with number `at`; of the first one the table has its columns. */
static tacit_status open_file(folder_source *self, size_t at, tacit_error *error) {
    const tacit_source_options reading = { .no_header = self->no_header, .separator = self->separator };
    tacit_levels *columns = &self->base.columns;
    self->file = tacit_source_free(self->file);
    self->at = at;
    TACIT_TRY(tacit_source_open(&self->file, self->paths.text[at], &reading, error));
    TACIT_TRY(check_unchanged(self, at, error));
    self->file->filter = self->base.filter;
    self->file->row = self->base.row;
    self->file->line_base = at * lines_a_file;
    if (columns->count == 0) return tacit_levels_copy(columns, &self->file->columns, error);
    bool same = self->file->columns.count == columns->count;
    for (size_t i = 0; same && i < columns->count; i++)
        same = strcmp(columns->text[i], self->file->columns.text[i]) == 0;
    if (same) return TACIT_OK;
    return tacit_fail(
        error, TACIT_INPUT,
        "%s has other columns than the files before it: a folder's files must have the same header",
        self->paths.text[at]);
}

static tacit_status folder_open(tacit_source **out, const tacit_place *place,
                                const tacit_source_options *options, tacit_error *error) {
    folder_source *self = NULL;
    TACIT_TRY(source_create(&self, sizeof *self, &tacit_source_folder, place->name, error));
    self->no_header = options->no_header;
    self->separator = options->separator;
    tacit_status status = list_files(self, error);
    if (status == TACIT_OK && self->paths.count == 0)
        status = tacit_fail(error, TACIT_INPUT, "%s holds no *.csv file", place->name);
    if (status == TACIT_OK) status = look_at_files(self, error);
    if (status == TACIT_OK) status = open_file(self, 0, error);
    if (status == TACIT_OK)
        *out = &self->base;
    else
        tacit_source_free(&self->base);
    return status;
}

enum { LARGE = 1 << 20 /* bytes; a smaller part might have headers and no rows */ };

tacit_status folder_keep_part(tacit_source *source, size_t own, size_t count, bool *done,
                              tacit_error *error) {
    folder_source *self = (folder_source *)source;
    const size_t files = self->paths.count;
    if (files < count) return TACIT_OK;
    tacit_levels kept = TACIT_LEVELS_INIT;
    uint64_t *size = TACIT_NEW(uint64_t, files);
    size_t *part_of = TACIT_NEW(size_t, files);
    tacit_status status = size != NULL && part_of != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t i = 0; status == TACIT_OK && i < files; i++) size[i] = (uint64_t)self->found[i].st_size;
    if (status == TACIT_OK) status = tacit_deal_files(part_of, size, files, count, error);
    const bool worth = status == TACIT_OK && tacit_deal_fills(part_of, size, files, count, LARGE);
    for (size_t i = 0; worth && status == TACIT_OK && i < files; i++)
        if (part_of[i] == own) {
            self->found[kept.count] = self->found[i];
            status = tacit_levels_add(&kept, self->paths.text[i], strlen(self->paths.text[i]), NULL, error);
        }
    if (worth && status == TACIT_OK) {
        tacit_levels_clear(&self->paths);
        self->paths = kept;
        kept = (tacit_levels)TACIT_LEVELS_INIT;
        status = open_file(self, 0, error);
        *done = status == TACIT_OK;
    }
    tacit_levels_clear(&kept);
    free(size);
    free(part_of);
    return status;
}

static tacit_status folder_next(tacit_source *source, size_t most, tacit_row_block *out, tacit_error *error) {
    folder_source *self = (folder_source *)source;
    uint64_t left_out = 0;
    for (;;) {
        self->file->filter = source->filter;
        TACIT_TRY(tacit_source_next(self->file, most - left_out, out, error));
        source->row = self->file->row;
        left_out += out->left_out;
        out->left_out = left_out;
        if (!out->ended) return TACIT_OK;
        if (self->at + 1 == self->paths.count) return TACIT_OK;
        out->ended = false;
        if (out->rows > 0 || left_out == most) return TACIT_OK; /* the rows are the file's: close it later */
        TACIT_TRY(open_file(self, self->at + 1, error));
    }
}

static tacit_status folder_rewind(tacit_source *source, tacit_error *error) {
    return open_file((folder_source *)source, 0, error);
}

static const char *folder_file(const tacit_source *source, uint64_t *line) {
    const folder_source *self = (const folder_source *)source;
    size_t file = (size_t)(*line / lines_a_file);
    *line %= lines_a_file;
    return file < self->paths.count ? self->paths.text[file] : source->name;
}

const tacit_source_kind tacit_source_folder = { .name = "csv",
                                                .takes = folder_takes,
                                                .open = folder_open,
                                                .next = folder_next,
                                                .rewind = folder_rewind,
                                                .free = folder_free,
                                                .file = folder_file };
