#include "data/source/documents.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/growing.h"
#include "base/memory.h"
#include "data/source/source_parts.h"

enum { TAR_BLOCK = 512, TAR_NAME = 100, TAR_PREFIX = 155, FOLDER_DEPTH = 16 };

struct tacit_documents {
    char *name;
    char *folder_name;      /* of the document at hand */
    tacit_buffer text;      /* of the document at hand */
    char **paths;           /* a folder: paths of its files, relative to it, in order */
    size_t count, capacity; /* of paths */
    size_t next;
    tacit_input *archive; /* else */
    const uint8_t *chunk;
    size_t left; /* bytes of the chunk */
    tacit_buffer path;
    char *long_name; /* given by an extended header for the next member */
};

bool tacit_documents_at(const char *path) {
    static const char *const endings[] = { ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz" };
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return true;
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t size = strlen(endings[i]);
        if (length > size && strcasecmp(path + length - size, endings[i]) == 0) return true;
    }
    return false;
}

tacit_documents *tacit_documents_free(tacit_documents *documents) {
    if (documents == NULL) return NULL;
    for (size_t i = 0; i < documents->count; i++) free(documents->paths[i]);
    free(documents->paths);
    free(documents->name);
    free(documents->folder_name);
    free(documents->long_name);
    tacit_input_free(documents->archive);
    tacit_buffer_clear(&documents->text);
    tacit_buffer_clear(&documents->path);
    free(documents);
    return NULL;
}

static tacit_status create(tacit_documents **out, const char *name, tacit_error *error) {
    tacit_documents *documents = TACIT_NEW(tacit_documents, 1);
    if (documents == NULL) return tacit_fail_memory(error);
    documents->text = documents->path = (tacit_buffer)TACIT_BUFFER_LIMITED(TACIT_DOCUMENT_LIMIT + 1);
    documents->name = tacit_copy_text(name);
    if (documents->name == NULL) {
        tacit_documents_free(documents);
        return tacit_fail_memory(error);
    }
    *out = documents;
    return TACIT_OK;
}

static tacit_status add_path(tacit_documents *documents, const char *path, tacit_error *error) {
    if (documents->count == TACIT_DOCUMENTS_MOST)
        return tacit_fail(error, TACIT_LIMIT, "%s holds more than 10,000,000 documents", documents->name);
    char **paths =
        tacit_grow_by_one(documents->paths, documents->count, &documents->capacity, 64, sizeof *paths);
    if (paths == NULL) return tacit_fail_memory(error);
    documents->paths = paths;
    char *copy = tacit_copy_text(path);
    if (copy == NULL) return tacit_fail_memory(error);
    documents->paths[documents->count++] = copy;
    return TACIT_OK;
}

static tacit_status list_folder(tacit_documents *documents, const char *relative, int depth,
                                tacit_error *error);

/* A file is listed, a folder entered; hidden ones and links are neither. */
static tacit_status list_entry(tacit_documents *documents, const char *relative, const char *entry, int depth,
                               tacit_error *error) {
    tacit_buffer inner = TACIT_BUFFER_INIT, whole = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    struct stat info;
    if (entry[0] == '.') return TACIT_OK;
    TACIT_CHECK(tacit_buffer_print(&inner, error, "%s%s%s", relative, relative[0] != 0 ? "/" : "", entry));
    TACIT_CHECK(
        tacit_buffer_print(&whole, error, "%s/%s", documents->name, (const char *)tacit_buffer_text(&inner)));
    if (lstat(tacit_buffer_text(&whole), &info) != 0)
        TACIT_CHECK(tacit_fail_errno(error, "reading", tacit_buffer_text(&whole)));
    if (S_ISREG(info.st_mode)) TACIT_CHECK(add_path(documents, tacit_buffer_text(&inner), error));
    if (S_ISDIR(info.st_mode))
        TACIT_CHECK(list_folder(documents, tacit_buffer_text(&inner), depth + 1, error));
cleanup:
    tacit_buffer_clear(&inner);
    tacit_buffer_clear(&whole);
    return status;
}

static tacit_status list_folder(tacit_documents *documents, const char *relative, int depth,
                                tacit_error *error) {
    tacit_buffer whole = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    DIR *folder = NULL;
    TACIT_CHECK(tacit_buffer_print(&whole, error, "%s/%s", documents->name, relative));
    if (depth > FOLDER_DEPTH)
        TACIT_CHECK(tacit_fail(error, TACIT_LIMIT, "%s: folders lie more than %d deep", documents->name,
                               FOLDER_DEPTH));
    folder = opendir(tacit_buffer_text(&whole));
    if (folder == NULL) TACIT_CHECK(tacit_fail_errno(error, "opening", tacit_buffer_text(&whole)));
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (entry == NULL && errno != 0)
            TACIT_CHECK(tacit_fail_errno(error, "reading", tacit_buffer_text(&whole)));
        if (entry == NULL) break;
        TACIT_CHECK(list_entry(documents, relative, entry->d_name, depth, error));
    }
cleanup:
    if (folder != NULL) closedir(folder);
    tacit_buffer_clear(&whole);
    return status;
}

static int compare_paths(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

tacit_status tacit_documents_open(tacit_documents **out, const char *path, tacit_error *error) {
    tacit_documents *documents = NULL;
    tacit_status status = TACIT_OK;
    struct stat info;
    if (stat(path, &info) != 0) return tacit_fail_errno(error, "opening", path);
    TACIT_TRY(create(&documents, path, error));
    if (!S_ISDIR(info.st_mode)) {
        TACIT_CHECK(tacit_input_open(&documents->archive, path, error));
    } else {
        TACIT_CHECK(list_folder(documents, "", 0, error));
        if (documents->count > 0)
            qsort(documents->paths, documents->count, sizeof *documents->paths, compare_paths);
    }
    *out = documents;
    documents = NULL;
cleanup:
    tacit_documents_free(documents);
    return status;
}

tacit_status tacit_documents_open_memory(tacit_documents **out, const void *bytes, size_t length,
                                         const char *name, tacit_error *error) {
    tacit_documents *documents = NULL;
    TACIT_TRY(create(&documents, name, error));
    tacit_status status = tacit_input_open_memory(&documents->archive, bytes, length, name, error);
    if (status != TACIT_OK) {
        tacit_documents_free(documents);
        return status;
    }
    *out = documents;
    return TACIT_OK;
}

/* Take `size` bytes of the archive into `to`; NULL: pass over them. `got` is less only at the end. */
static tacit_status take(tacit_documents *documents, uint64_t size, tacit_buffer *to, uint64_t *got,
                         tacit_error *error) {
    uint64_t taken = 0;
    while (taken < size) {
        if (documents->left == 0)
            TACIT_TRY(tacit_input_next(documents->archive, &documents->chunk, &documents->left, error));
        if (documents->left == 0) break;
        size_t part = documents->left < size - taken ? documents->left : (size_t)(size - taken);
        if (to != NULL) TACIT_TRY(tacit_buffer_append(to, documents->chunk, part, error));
        documents->chunk += part;
        documents->left -= part;
        taken += part;
    }
    *got = taken;
    return TACIT_OK;
}

static tacit_status damaged(const tacit_documents *documents, tacit_error *error) {
    return tacit_fail(error, TACIT_INPUT, "%s is no tar archive, or a damaged one; fetch it again",
                      documents->name);
}

static bool read_octal(const char *field, size_t length, uint64_t *out) {
    uint64_t value = 0;
    size_t i = 0;
    while (i < length && field[i] == ' ') i++;
    for (; i < length && field[i] >= '0' && field[i] <= '7'; i++)
        value = value << 3 | (uint64_t)(field[i] - '0');
    *out = value;
    return i == length || field[i] == 0 || field[i] == ' ';
}

/* POSIX: the sum of the header's bytes, its own field taken as spaces. */
static bool is_header(const uint8_t *block) {
    uint64_t sum = 0, stored;
    for (size_t i = 0; i < TAR_BLOCK; i++) sum += i >= 148 && i < 156 ? ' ' : block[i];
    return read_octal((const char *)block + 148, 8, &stored) && stored == sum;
}

/* One member's content, with the padding after it; NULL: passed over. */
static tacit_status take_content(tacit_documents *documents, uint64_t size, tacit_buffer *to,
                                 tacit_error *error) {
    uint64_t got, padding = (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;
    TACIT_TRY(take(documents, size, to, &got, error));
    if (got != size) return damaged(documents, error);
    TACIT_TRY(take(documents, padding, NULL, &got, error));
    return got == padding ? TACIT_OK : damaged(documents, error);
}

/* The member's path: an extended one given before, or prefix/name of the header. */
static tacit_status read_path(tacit_documents *documents, const char *block, tacit_error *error) {
    tacit_buffer *path = &documents->path;
    path->length = 0;
    if (documents->long_name != NULL)
        TACIT_TRY(tacit_buffer_print(path, error, "%s", documents->long_name));
    else if (memcmp(block + 257, "ustar", 6) == 0 && block[345] != 0)
        TACIT_TRY(tacit_buffer_print(path, error, "%.*s/%.*s", TAR_PREFIX, block + 345, TAR_NAME, block));
    else
        TACIT_TRY(tacit_buffer_print(path, error, "%.*s", TAR_NAME, block));
    free(documents->long_name);
    documents->long_name = NULL;
    return TACIT_OK;
}

/* GNU's long name: the content of a member of type L. */
static tacit_status read_long_name(tacit_documents *documents, uint64_t size, tacit_error *error) {
    documents->text.length = 0;
    if (size > 65536) return damaged(documents, error);
    TACIT_TRY(take_content(documents, size, &documents->text, error));
    if (size > 0) documents->text.bytes[size] = 0;
    free(documents->long_name);
    documents->long_name = tacit_copy_text(size > 0 ? tacit_buffer_text(&documents->text) : "");
    return documents->long_name != NULL ? TACIT_OK : tacit_fail_memory(error);
}

/* The next regular file of the archive into path and text; `found` says whether there was one. */
static tacit_status next_member(tacit_documents *documents, bool *found, tacit_error *error) {
    for (;;) {
        uint64_t got, size;
        tacit_buffer *block = &documents->text;
        block->length = 0;
        TACIT_TRY(take(documents, TAR_BLOCK, block, &got, error));
        *found = got == TAR_BLOCK && block->bytes[0] != 0;
        if (got == 0 || (got == TAR_BLOCK && block->bytes[0] == 0)) return TACIT_OK;
        if (!*found || !is_header(block->bytes)) return damaged(documents, error);
        const char *header = (const char *)block->bytes;
        char type = header[156];
        if (!read_octal(header + 124, 12, &size)) return damaged(documents, error);
        if (type == 'L') {
            TACIT_TRY(read_long_name(documents, size, error));
            continue;
        }
        TACIT_TRY(read_path(documents, header, error));
        if (type == '0' || type == 0) {
            if (size > TACIT_DOCUMENT_LIMIT)
                return tacit_fail(error, TACIT_LIMIT, "%s: %s is longer than 16 MiB", documents->name,
                                  (const char *)tacit_buffer_text(&documents->path));
            documents->text.length = 0;
            return take_content(documents, size, &documents->text, error);
        }
        TACIT_TRY(take_content(documents, size, NULL, error));
    }
}

static tacit_status next_file(tacit_documents *documents, bool *found, tacit_error *error) {
    tacit_buffer whole = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    *found = documents->next < documents->count;
    if (!*found) return TACIT_OK;
    const char *path = documents->paths[documents->next++];
    documents->text.length = documents->path.length = 0;
    TACIT_CHECK(tacit_buffer_print(&documents->path, error, "%s", path));
    TACIT_CHECK(tacit_buffer_print(&whole, error, "%s/%s", documents->name, path));
    status = tacit_file_read(tacit_buffer_text(&whole), &documents->text, error);
    if (status == TACIT_LIMIT)
        status = tacit_fail(error, TACIT_LIMIT, "%s/%s is longer than 16 MiB", documents->name, path);
cleanup:
    tacit_buffer_clear(&whole);
    return status;
}

/* The last folder of a path. */
static char *folder_of(const char *path) {
    const char *end = strrchr(path, '/'), *begin = end;
    if (end == NULL) return tacit_copy_text("");
    while (begin > path && begin[-1] != '/') begin--;
    char *folder = tacit_copy_text(begin);
    if (folder != NULL) folder[end - begin] = 0;
    return folder;
}

tacit_status tacit_documents_next(tacit_documents *documents, tacit_document *out, tacit_error *error) {
    bool found;
    *out = (tacit_document){ NULL, NULL, NULL, 0 };
    TACIT_TRY(documents->archive != NULL ? next_member(documents, &found, error)
                                         : next_file(documents, &found, error));
    if (!found) return TACIT_OK;
    bool utf8 = tacit_text_is_utf8((const char *)documents->text.bytes, documents->text.length);
    for (size_t i = 0; i < documents->text.length; i++) {
        uint8_t *byte = &documents->text.bytes[i];
        if (*byte == 0 || (!utf8 && *byte >= 0x80)) *byte = ' ';
    }
    if (documents->text.bytes != NULL) documents->text.bytes[documents->text.length] = 0;
    const char *path = tacit_buffer_text(&documents->path), *text = tacit_buffer_text(&documents->text);
    free(documents->folder_name);
    documents->folder_name = folder_of(path);
    if (documents->folder_name == NULL) return tacit_fail_memory(error);
    *out = (tacit_document){ path, documents->folder_name, text, documents->text.length };
    return TACIT_OK;
}

/* ---- behind source.h: a row a document ---- */

typedef struct documents_source {
    tacit_source base;
    tacit_documents *documents;
    filling block;
} documents_source;

static bool documents_takes(const tacit_place *place) {
    return place->input == NULL && tacit_documents_at(place->name);
}

static void documents_free(tacit_source *source) {
    documents_source *self = (documents_source *)source;
    tacit_documents_free(self->documents);
    filling_clear(&self->block);
}

static tacit_status documents_open(tacit_source **out, const tacit_place *place,
                                   const tacit_source_options *options, tacit_error *error) {
    static const char *const columns[] = { "file", "text", "folder" };
    documents_source *self = NULL;
    (void)options;
    TACIT_TRY(source_create(&self, sizeof *self, &tacit_source_documents, place->name, error));
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < 3 && status == TACIT_OK; i++)
        status = source_add_column(&self->base, columns[i], TACIT_HINT_NONE, error);
    if (status == TACIT_OK) status = tacit_documents_open(&self->documents, place->name, error);
    if (status == TACIT_OK)
        *out = &self->base;
    else
        tacit_source_free(&self->base);
    return status;
}

static tacit_status documents_next(tacit_source *source, size_t most, tacit_row_block *out,
                                   tacit_error *error) {
    documents_source *self = (documents_source *)source;
    filling *block = &self->block;
    filling_empty(block);
    while (out->rows + out->left_out < most && !filling_is_full(block)) {
        tacit_document one;
        TACIT_TRY(tacit_documents_next(self->documents, &one, error));
        out->ended = one.path == NULL;
        if (out->ended) break;
        bool chosen = tacit_row_filter_keeps(source->filter, source->row++);
        out->left_out += !chosen;
        if (!chosen) continue;
        const char *texts[] = { one.path, one.text, one.folder };
        size_t lengths[] = { strlen(one.path), one.length, strlen(one.folder) };
        for (size_t i = 0; i < 3; i++)
            TACIT_TRY(filling_add_text(block, TACIT_CELL_PLAIN, texts[i], lengths[i], source->row, error));
        out->rows++;
    }
    filling_finish(block);
    out->cells = block->cells;
    return TACIT_OK;
}

static tacit_status documents_rewind(tacit_source *source, tacit_error *error) {
    documents_source *self = (documents_source *)source;
    tacit_documents *again = NULL;
    TACIT_TRY(tacit_documents_open(&again, source->name, error));
    tacit_documents_free(self->documents);
    self->documents = again;
    return TACIT_OK;
}

const tacit_source_kind tacit_source_documents = { .name = "documents",
                                                   .row = "document",
                                                   .takes = documents_takes,
                                                   .open = documents_open,
                                                   .next = documents_next,
                                                   .rewind = documents_rewind,
                                                   .free = documents_free };
