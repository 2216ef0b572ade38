/* Shared by the files that read a party's rows. */
#pragma once

#include "base/buffer.h"
#include "data/levels.h"
#include "site/source.h"

typedef struct row_span {
    size_t start, length;
} row_span;

/* Rows as they come in, as CSV without their header; of each linked value the last. */
typedef struct gathering {
    const char *link;
    const tacit_row_choice *choice; /* rows that others keep are counted only; NULL: all are kept */
    char **names;                   /* columns, as the first file or the query has them */
    size_t columns, linked;         /* `linked` is the link's position, or `columns` */
    tacit_buffer text;
    row_span *rows;
    size_t count, capacity;
    tacit_levels seen;
    tacit_cells_visit *visit; /* not NULL: rows are handed over as they come, and not kept */
    void *context;
} gathering;

/* The next table's columns: remembered from the first one, and the same in the others. `where` names it in errors. */
tacit_status gathering_begin(gathering *self, const char *const *names, size_t count, const char *where,
                             tacit_error *error);

/* One row of it; NULL is a missing value. */
tacit_status gathering_row(gathering *self, const char *const *cells, const char *where, tacit_error *error);

/* What comes after "sqlite:" and "postgres:", split at its first question mark. */
tacit_status gathering_sqlite(gathering *self, const char *path, const char *query, tacit_error *error);
tacit_status gathering_postgres(gathering *self, const char *connection, const char *query,
                                tacit_error *error);
