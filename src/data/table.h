/*
 * A table as read: typed columns before any encoding, the raw material of a schema draft. Numbers are
 * doubles with NaN for missing; texts are codes into a list of levels.
 *
 * A table takes its columns from a source in one of two ways. With declared columns (from a schema) kinds
 * and levels are fixed beforehand. Otherwise the kinds are found: the first rows are kept back, and a
 * column in which all of them are numbers, or all are dates, is a number from then on. A later cell that is
 * none is an error that names its place.
 */
#pragma once

#include <stdbool.h>

#include "data/formula/condition.h"
#include "data/reading/row_filter.h"
#include "data/schema/date.h"
#include "data/schema/vocabulary.h"
#include "data/source/source.h"

typedef enum tacit_column_kind {
    TACIT_COLUMN_NUMBER,
    TACIT_COLUMN_CATEGORY,
    TACIT_COLUMN_TEXT,   /* declared only: terms of a vocabulary */
    TACIT_COLUMN_DETECT, /* only in a declaration: number or category, as the first rows say */
} tacit_column_kind;

enum {
    TACIT_CODE_MISSING = -1,
    TACIT_CODE_UNKNOWN = -2,  /* a text outside a closed list of levels */
    TACIT_LEVEL_LIMIT = 1000, /* of a category whose levels are found in the data */
    TACIT_GROUP_LIMIT = 1000000
};

typedef struct tacit_column {
    char *name;
    tacit_column_kind kind;
    bool detected;        /* the kind was found in the rows, not declared */
    size_t source;        /* field of the file it is read from; two columns may share one */
    bool extra;           /* a second reading of a field (groups): no part of the file's own columns */
    bool closed;          /* levels are declared: other texts get TACIT_CODE_UNKNOWN */
    bool compare_numbers; /* closed, and a text that is no level may equal one as a number (1.0 and 1) */
    bool required;        /* a missing cell is an error */
    bool leaves_out;      /* a row in which its cell is missing is left out */
    bool strict;          /* closed, and a text that is no level is an error */
    bool has_others;      /* closed, and a text that is no level counts as level `others` */
    int32_t others;
    tacit_date date;  /* number: the cells are dates, and this is made of them */
    bool has_date_at; /* number: with the date in field `date_at` of the row */
    size_t date_at;
    const tacit_recode *recode; /* closed: texts that stand for a level; NULL: none; borrowed */
    bool idle;                  /* its cells are passed over */
    bool overflow;              /* more levels than level_limit: levels and codes were given up */
    size_t level_limit;
    tacit_levels levels;
    size_t stray_limit;                 /* closed: of texts that are no level, this many are kept; 0: none */
    tacit_levels strays;                /* those, fit to be shown */
    double *number;                     /* kind number */
    double *own;                        /* where numbers go that are not lent by the source */
    bool is_lent;                       /* `number` is the source's until rows are dropped */
    int32_t *code;                      /* kind category, unless overflow */
    const tacit_vocabulary *vocabulary; /* kind text; borrowed */
    size_t *start;                      /* kind text: rows + 1 offsets into entries */
    tacit_bag entries;                  /* of all rows */
    size_t missing, missing_left_out;   /* all missing cells, and those of rows that were left out */
    size_t texts, numbers, dates;       /* among the first rows, where the kind is found; a date is a text */
    size_t padded;                      /* numbers among them that begin with 0 as codes do: 00150 */
    uint64_t stray_line;                /* of the first of those texts: for tacit_source_place */
    char stray_text[TACIT_CELL_TEXT];   /* the text, fit to be shown */
} tacit_column;

typedef struct tacit_table {
    size_t rows, capacity;
    uint64_t dropped;    /* rows read and dropped before these */
    uint64_t left_out;   /* rows that were not chosen. None while kinds are being detected */
    uint64_t incomplete; /* rows that were left out because a cell is missing that decides this */
    size_t cols, column_capacity;
    tacit_column *columns;
    char *name; /* of the file, for messages */
    /* rows for which it does not hold are passed over; NULL: none; borrowed */
    const tacit_condition *condition;
    struct tacit_table *probe; /* the columns that it looks at, for one row at a time */
    uint64_t outside;          /* rows that were passed over */
    /* numbers stay where the source has them, if they can: then a block of them is all that is read at a
     * time, and rows are dropped before the next is read or the source is freed */
    bool borrows;
    bool has_lent;      /* a column has such numbers */
    bool identified;    /* each row gets an identity */
    uint64_t *identity; /* of each row: a hash of all its cells, whichever of them are columns here */
} tacit_table;

/* What becomes of the cells of a column that turns out to hold dates: days since 2000-01-01. */
extern const tacit_date tacit_detected_date;

/* A table with a column for every column of the source, of kind `detect` where the source does not know. */
tacit_status tacit_table_create(tacit_table **out, const tacit_source *source, tacit_error *error);

/* An empty table that will read from `name`; columns follow with tacit_table_declare. */
tacit_status tacit_table_create_empty(tacit_table **out, const char *name, tacit_error *error);

/* Add a column that reads field `source`; the new column is returned through `column`, borrowed until the
 * next one is added. */
tacit_status tacit_table_declare(tacit_table *table, tacit_column **column, const char *name,
                                 tacit_column_kind kind, size_t source, tacit_error *error);

/* Add an extra column of group codes, read from the field called `name`, which may serve as a feature too.
 * A row without a group is an error. TACIT_USAGE when there is no such field. */
tacit_status tacit_table_declare_group(tacit_table *table, const tacit_source *source, const char *name,
                                       size_t *at, tacit_error *error);

/* From now on only rows for which the condition holds are added. `probe` is a table with the condition's
 * columns in their order; the table owns it from now on. */
void tacit_table_choose(tacit_table *table, const tacit_condition *condition, tacit_table *probe);

/* Append up to `most` rows (0: all) of the source, and say whether it ended. Where kinds are still to be
 * detected the first call may read more than `most`. A file without any rows is TACIT_INPUT. */
tacit_status tacit_table_read(tacit_table *table, tacit_source *source, size_t most, bool *ended,
                              tacit_error *error);

/* Forget the rows, keep the columns and their levels: for reading a long file block by block. */
void tacit_table_drop_rows(tacit_table *table);

/* The position of a column, or TACIT_USAGE with a sentence that lists close or available names; `flag` is
 * what the user gave the name with, e.g. "the option 'label'". */
tacit_status tacit_table_find(const tacit_table *table, const char *name, const char *flag, size_t *out,
                              tacit_error *error);

tacit_table *tacit_table_free(tacit_table *table);
