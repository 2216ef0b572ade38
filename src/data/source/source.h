/*
 * Where rows come from, whatever holds them. One word names a source, and every command takes every kind:
 *
 *   patients.csv                    a file: CSV or LIBSVM, plain, .gz or .xz
 *   clinic.dta, .sav, .sas7bdat     a file of Stata, SPSS or SAS, where ReadStat was there to build with
 *   /data/patients                  a folder with *.csv, *.csv.gz or *.csv.xz in it: all of them, in the
 *                                   order of their names, with the same header
 *   /data/letters, letters.tar.gz   a folder without any, or a tar archive: documents, with the columns file,
 *                                   text, folder
 *   sqlite:/path/clinic.db?QUERY    the rows of a query of a SQLite file; opened for reading only
 *   postgres:CONNINFO?QUERY         the same of a PostgreSQL server, in a read-only transaction
 *   odbc:DSN=clinic?QUERY           the same of any database that has an ODBC driver
 *   rows.parquet, visits.ndjson     a file, files by a pattern or a folder of Parquet or JSON, where DuckDB
 *                                   is installed
 *   duckdb:QUERY                    the rows of a query that DuckDB answers; duckdb:/path/clinic.duckdb?QUERY
 *                                   of a database
 *   store:/path/personal.store?mood rows of a person's own store, by its passphrase (person/personal.h)
 *   clinic.link.yaml                a linking file: rows of several sources together, person by person
 *
 * Rows come in blocks of bounded size, and after a rewind they come again, the same. A new kind is one file
 * with a tacit_source_kind in it and a line in the table of source_parts.h; see README.md.
 */
#pragma once

#include "base/buffer.h"
#include "base/harden.h"
#include "data/reading/input.h"
#include "data/reading/row_filter.h"
#include "data/schema/levels.h"
#include "data/schema/text.h"

typedef enum tacit_cell_kind {
    TACIT_CELL_PLAIN,  /* a text, which may be that of a number; one that is empty is a missing value */
    TACIT_CELL_NUMBER, /* a finite number */
    TACIT_CELL_OTHER,  /* neither; the text says what. Refused where it is used */
} tacit_cell_kind;

typedef struct tacit_cell {
    union {
        const char *text; /* NUL-terminated, without its quotes */
        double number;
        size_t offset; /* of the text, while a block is being filled */
    };
    uint32_t length; /* of the text */
    tacit_cell_kind kind;
    uint64_t line; /* where it is: for tacit_source_fail */
} tacit_cell;

/* Rows of a block, borrowed until the next call. A source of columns gives cells, a sparse one entries. */
typedef struct tacit_row_block {
    size_t rows;
    uint64_t left_out;       /* rows that were passed over because nobody chose them */
    bool ended;              /* nothing follows */
    const tacit_cell *cells; /* rows times columns, row by row */
    const double *label;     /* sparse: of each row */
    const size_t *start;     /* sparse: rows + 1 offsets into column and value */
    const uint32_t *column;
    const double *value;
    const struct tacit_array *columns; /* instead, as tacit_source_next_columns gives them: one a column, */
    size_t first;                      /* and of each the rows from here on */
} tacit_row_block;

/* What a source knows of a column without looking at rows. */
typedef enum tacit_column_hint { TACIT_HINT_NONE, TACIT_HINT_NUMBER, TACIT_HINT_CATEGORY } tacit_column_hint;

typedef struct tacit_source tacit_source;

typedef struct tacit_source_options {
    bool no_header;   /* of CSV */
    char separator;   /* of CSV; 0: detect */
    size_t dimension; /* of LIBSVM; 0: infer */
    /* a column that says whom a row is about: of each value the last row counts, and the column itself is
     * dropped as rows are read; NULL: none */
    const char *link;
    const char *fill,
        *fill_value; /* a column that the rows do not have, and what it holds in each; NULL: none */
} tacit_source_options;

/* What is being opened. */
typedef struct tacit_place {
    const char *name; /* as it was given */
    const char *rest; /* of it, after the prefix */
    bool is_folder;
    tacit_input *input; /* an open file; NULL where there is none */
    const uint8_t *bytes;
    size_t length; /* its first bytes */
} tacit_place;

typedef struct tacit_source_kind {
    const char *name;   /* "csv" */
    const char *prefix; /* "sqlite:"; NULL: such a source is only named by its path */
    const char *row;    /* what a row is called in errors; NULL: rows are lines of a file */
    bool sparse;
    bool lends; /* its columns may be written to until the next are asked for */
    /* Is the place of this kind? Asked in the order of the table where no prefix fits; NULL: a path never
     * is. */
    bool (*takes)(const tacit_place *place);
    tacit_status (*open)(tacit_source **out, const tacit_place *place, const tacit_source_options *options,
                         tacit_error *error);
    /* Up to `most` rows, chosen or not, and no more than fit a block; at least one unless it ended. NULL
     * where there are columns. */
    tacit_status (*next)(tacit_source *source, size_t most, tacit_row_block *out, tacit_error *error);
    /* Up to `most` rows as columns, as they lie there, chosen or not; none when it ended. Leaves the number
     * of the next row alone. NULL: such a source has cells. */
    tacit_status (*next_columns)(tacit_source *source, size_t most, tacit_row_block *out, tacit_error *error);
    tacit_status (*rewind)(tacit_source *source, tacit_error *error);
    void (*free)(tacit_source *source); /* what is the kind's own */
    /* The file that a line is in, where a source has several; takes the file's part off the line. NULL: the
     * source's name. */
    const char *(*file)(const tacit_source *source, uint64_t *line);
    /* Where a column is in its file, counted from 0, if that is not its place in the table; or NULL. */
    size_t (*position)(const tacit_source *source, size_t column);
    /* Let a hardened process reach what it reads. NULL: the path, or the folder around it. */
    void (*allow)(tacit_harden_settings *settings, const tacit_place *place);
} tacit_source_kind;

/* What all kinds have; the first member of each kind's own structure. */
struct tacit_source {
    const tacit_source_kind *kind;
    char *name;                     /* for messages */
    const char *row_name;           /* as the kind says */
    size_t dropped;                 /* which column, counted from 1, is not among the columns; 0: none */
    tacit_levels columns;           /* their names; none of a sparse source */
    uint8_t *hints;                 /* a tacit_column_hint each; NULL: nothing is known */
    size_t dimension;               /* sparse: as given, or the largest index so far */
    const tacit_row_filter *filter; /* NULL: all rows; borrowed. Set it before the first block */
    bool bare;                      /* sparse: labels alone. Set it before the first block */
    uint64_t row;                   /* the number of the next row, chosen or not */
    uint64_t line_base;             /* added to the lines of its cells */
    struct source_cells *cells;     /* that are made of columns; NULL: none yet */
    tacit_input *input;             /* of a file */
    bool owns_input;
};

/* Open any source. TACIT_USAGE when it holds a password (tacit_source_check), or is named wrongly. */
tacit_status tacit_source_open(tacit_source **out, const char *name, const tacit_source_options *options,
                               tacit_error *error);

/* The same of a file that is open already, which is borrowed. */
tacit_status tacit_source_open_input(tacit_source **out, tacit_input *input,
                                     const tacit_source_options *options, tacit_error *error);

tacit_status tacit_source_next(tacit_source *source, size_t most, tacit_row_block *out, tacit_error *error);

/* Does the source have columns? Then it can be read by them, and `next` gives cells that are made of them. */
bool tacit_source_has_columns(const tacit_source *source);

/* Up to `most` rows as columns (data/source/arrays.h), borrowed until the next call. All of them: the filter
 * is the caller's to ask, for row source->row - rows and those after it. None when it ended. */
tacit_status tacit_source_next_columns(tacit_source *source, size_t most, tacit_row_block *out,
                                       tacit_error *error);

/* Start again with the first row. TACIT_INPUT when the source has changed since, or is a pipe. */
tacit_status tacit_source_rewind(tacit_source *source, tacit_error *error);

tacit_source *tacit_source_free(tacit_source *source);

/* The 0-based position of a column, or -1. */
int64_t tacit_source_find_column(const tacit_source *source, const char *name);

/* The same, or TACIT_USAGE with a sentence that says what columns there are; `flag` is how the name was
 * given, e.g. "the option 'label'". */
tacit_status tacit_source_require(const tacit_source *source, const char *name, const char *flag, size_t *out,
                                  tacit_error *error);

tacit_column_hint tacit_source_hint(const tacit_source *source, size_t column);

/* Where a line is: "file:12", or "clinic.db: row 12". Returns out. */
enum { TACIT_PLACE_SIZE = 512 };
const char *tacit_source_place(const tacit_source *source, uint64_t line, char out[TACIT_PLACE_SIZE]);

/* Record a failure at a column (0-based) of a line: "file:12:2 (age): ...". */
tacit_status tacit_source_fail(const tacit_source *source, uint64_t line, size_t column, tacit_error *error,
                               tacit_status status, const char *format, ...) TACIT_PRINTF(6, 7);

/* A cell as text: a number as the shortest one that reads back the same, a whole one as its digits. `scratch`
 * holds it. */
tacit_cell tacit_cell_as_text(const tacit_cell *cell, char scratch[TACIT_NUMBER_TEXT]);

/* Rows kept aside, packed one after the other. */
tacit_status tacit_row_keep(tacit_buffer *to, const tacit_cell *cells, size_t count, tacit_error *error);

/* The row that begins at `at`, whose texts stay there; returns where it ends. */
const uint8_t *tacit_row_restore(const uint8_t *at, tacit_cell *cells, size_t count);

/* Is the name that of a query, with the prefix of a kind, and not a path? */
bool tacit_source_is_query(const char *name);

/* Let a hardened process read the source. */
void tacit_source_allow(tacit_harden_settings *settings, const char *name);

/* TACIT_USAGE when a data source holds a password: it would be in ledger, figures and backups. */
tacit_status tacit_source_check(const char *source, tacit_error *error);

/* A data source as it may be shown: passwords, which an earlier version let in, become ***. Returns out. */
enum { TACIT_SOURCE_SHOWN_SIZE = 1024 };
const char *tacit_source_shown(char out[TACIT_SOURCE_SHOWN_SIZE], const char *source);
