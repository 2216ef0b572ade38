/*
 * A folder of documents, or a tar archive of them (plain, gzip or xz), one at a time: every file is a
 * document, and the folder it lies in names its class. Files of a folder come in strcmp order of their paths,
 * those of an archive as they are stored. Links and other special files are passed over.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { TACIT_DOCUMENT_LIMIT = 16 << 20, TACIT_DOCUMENTS_MOST = 10000000 };

typedef struct tacit_document {
    const char *path;   /* within the folder or the archive */
    const char *folder; /* the last folder of the path; "" when there is none */
    const char *text;   /* NUL-terminated at `length`, and without NULs before */
    size_t length;
} tacit_document;

typedef struct tacit_documents tacit_documents;

/* Is the path a folder, or named like an archive (.tar, .tar.gz, .tgz, .tar.xz, .txz)? */
bool tacit_documents_at(const char *path);

tacit_status tacit_documents_open(tacit_documents **out, const char *path, tacit_error *error);

/* The same over an archive in memory, which is borrowed. */
tacit_status tacit_documents_open_memory(tacit_documents **out, const void *bytes, size_t length,
                                         const char *name, tacit_error *error);

/* The next document, borrowed until the next call; path NULL at the end. NULs in it are replaced by spaces,
 * and all but ASCII in a document that is not UTF-8. A document
 * of more than 16 MiB is TACIT_LIMIT, a damaged archive TACIT_INPUT. */
tacit_status tacit_documents_next(tacit_documents *documents, tacit_document *out, tacit_error *error);

tacit_documents *tacit_documents_free(tacit_documents *documents);
