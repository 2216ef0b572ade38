/*
 * A linking file (NAME.link.yaml) says how rows of several sources come together, person by person:
 *
 *   key: id                                  # who a row is about, in every source that names no other column
 *   sources:
 *     - {rows: people.csv}                   # the first has the rows, to which the others bring columns
 *     - {rows: visits.csv, time: day}        # the last value of each column at that time, or
 *     - {rows: scans.csv, key: patient, time: day, carry: 365}   # nothing where it is older than that
 *     - {rows: transplants.csv, time: day, since: transplanted}  # 1 from then on, 0 before
 *     - rows: wide.csv                       # a row with columns for several times becomes a row for each
 *       time: age
 *       long: {times: [8, 10], distance: [at8, at10]}
 *   intervals: {from: entry, until: day, event: died}   # follow-up in pieces (start, stop]
 *
 * A row that comes of it depends on the rows of one person alone.
 */
#pragma once

#include <stdbool.h>

#include "data/schema/levels.h"
#include "data/source/source.h"

enum { LINKING_SOURCES_MOST = 64, LINKING_BYTES_MOST = 1 << 20 };

/* One of its sources. Texts are owned. */
typedef struct linking_source {
    char *rows;   /* its name, as it is opened */
    char *key;    /* the column that says whom a row is about */
    char *time;   /* and when; NULL: rows have no time. Of a wide source, what the new column is called */
    double carry; /* for how long a value counts; INFINITY: until the next one */
    char *since;  /* a new column that is 1 from a row's time on; NULL: none */
    bool chosen;  /* only some columns are taken */
    tacit_levels columns;   /* those */
    tacit_levels old_names; /* of columns that get another name */
    tacit_levels new_names;
    double *times; /* wide: when the columns were measured, ascending */
    size_t time_count;
    tacit_levels measures; /* wide: what they are called then */
    tacit_levels wide;     /* and now: for each measure one for each time */
} linking_source;

typedef struct linking {
    linking_source *sources;
    size_t count;
    bool has_intervals;
    char *origin, *from, *until, *event; /* columns of the first source; origin and from may be NULL */
    char *start, *stop, *episode;        /* new columns; episode may be NULL */
    double *cuts;                        /* further times, ascending */
    double grid;                         /* changes are put off to the next multiple of it; 0: they are not */
    size_t cut_count;
} linking;

/* From YAML; sources that are named by a relative path are looked for in the folder of `name`. */
tacit_status linking_parse(linking *out, const char *text, size_t length, const char *name,
                           tacit_error *error);
tacit_status linking_load(linking *out, const char *path, tacit_error *error);
void linking_clear(linking *self);

/* Does a linking file have this name? */
bool linking_is_named(const char *name);

/* ---- rows of a source, by person ---- */

/* A column that a source brings. Its cell in a row stands at `first` + `step` times the place of the row's
 * time. */
typedef struct held_column {
    const char *name; /* borrowed of the declaration, or of the source */
    size_t first, step;
} held_column;

typedef struct held_row {
    size_t at;     /* in `packed` */
    uint32_t part; /* wide: which of the times */
    int32_t person;
    double time;
    uint64_t line;
} held_row;

typedef struct held_rows {
    const linking_source *about;
    tacit_source *inner;
    size_t key, time; /* columns of it; SIZE_MAX: none */
    size_t *taken;    /* columns of it that are held */
    size_t taken_count;
    held_column *columns; /* what it brings, without key and time unless it is the first */
    size_t column_count;
    tacit_buffer packed;
    held_row *rows; /* after held_settle by person and time */
    size_t count, capacity;
    size_t *first;     /* of each person's rows, and of none after the last */
    tacit_cell *cells; /* of the person at hand: `taken_count` a row */
    size_t cell_capacity, begin, end;
} held_rows;

/* What times of all sources are: numbers, or days. */
typedef enum held_clock { HELD_CLOCK_UNKNOWN, HELD_CLOCK_NUMBER, HELD_CLOCK_DATE } held_clock;

/* Open the source. `is_first`: its rows are those of the table, with key and times among the columns. */
tacit_status held_open(held_rows *self, const linking_source *about, const linking *all, bool is_first,
                       tacit_error *error);

/* Read it to its end. Persons are numbered by `persons`: of the first source all, of others those that are
 * known. */
tacit_status held_drain(held_rows *self, tacit_levels *persons, bool is_first, held_clock *clock,
                        tacit_error *error);

/* Sort by person and time. TACIT_INPUT where a person has two rows that cannot be told apart: of the same
 * time or, without times, in any source but the first. */
tacit_status held_settle(held_rows *self, size_t persons, bool is_first, tacit_error *error);

/* Have the rows of a person at hand. */
tacit_status held_visit(held_rows *self, size_t person, tacit_error *error);

/* The cell of a column in the i-th of these rows. */
const tacit_cell *held_cell(const held_rows *self, size_t i, size_t column);
bool held_is_missing(const tacit_cell *cell);

/* What a column is at a time, or just after it: the last value that is not missing and not too old; NULL:
 * none. */
const tacit_cell *held_at(const held_rows *self, size_t column, double time, bool after);

/* A time from a cell; `column` of `line` is where it stands. TACIT_INPUT for what is none. */
tacit_status held_time(const held_rows *self, const tacit_cell *cell, size_t column, held_clock *clock,
                       double *out, tacit_error *error);

void held_clear(held_rows *self);

/* ---- the follow-up of a person, in pieces ---- */

typedef struct piece {
    size_t row;         /* of the first source's rows at hand */
    double start, stop; /* without intervals: the time of the row, twice */
    double origin;
    bool last; /* of its row: the event is here */
} piece;

typedef struct pieces {
    piece *items;
    size_t count, capacity;
    double *times; /* scratch */
    size_t time_count, time_capacity;
} pieces;

/* Columns of the first source; SIZE_MAX: none. */
typedef struct follow_up {
    size_t origin, from, until, event;
} follow_up;

/* The pieces of the person at hand. */
tacit_status pieces_make(pieces *out, const linking *about, const held_rows *held, const follow_up *columns,
                         held_clock *clock, tacit_error *error);
void pieces_clear(pieces *self);
