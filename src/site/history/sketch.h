/*
 * Whether two data sources of one owner hold the same people. A ledger knows a source by its name: a copy, a
 * renamed file, a part of it or a second query of one table is another source to it, with a limit of its own.
 * So a small sketch of each source's rows is kept in the owner's home (sketches.db, mode 0600), and each new
 * source is compared with those of before.
 *
 * A sketch has up to 8,192 hashes, the least of all, of several views of the rows: of whole rows, with and
 * without the names of their columns; without each column, where there are at most eight; without the columns
 * of one group of four, by their names, so that a column more or fewer leaves one view as it was; and of each
 * column that looks like a key, or was declared as one. Hashes are of 63 bits under a key drawn for the file,
 * which never leaves the home. They do not depend on the order of rows or columns, nor on how a number is
 * written.
 *
 * When a view tells. Let c values be common to both sketches, and d be those that come more than once within
 * either one. Let the rows of the sources be independent draws, of any two laws. A value that n p rows of one
 * and m q of the other are expected to have is common with a chance of at most n p m q, and repeated within
 * one of them with a chance of about ((n p)^2 + (m q)^2)/2, which is no less. So each of the c + d is common
 * with a chance of at most a half, and a warning, which takes c heads in c + d tosses to have a chance of at
 * most 1e-9, is a false alarm with no more than that for each view. It takes 30 common values where nothing
 * repeats. Columns that merely count rows or days are left out first: they are not drawn.
 */
#pragma once

#include <jansson.h>

#include "base/buffer.h"
#include "data/dataset.h"

#define TACIT_SKETCHES_NAME "sketches.db"

/* A source to be looked at. */
typedef struct tacit_sketch_source {
    const char *home;
    const char *source; /* as the ledger calls it */
    const char *data;   /* where its rows are (data/source/source.h) */
    const char *link;   /* the column that says whom a row is about; may be NULL */
    const tacit_load_options *options;
} tacit_sketch_source;

/* Read its rows and keep their sketch in place of the last one. Where a file is as it was then, nothing is
 * read. Sketches belong to the home's ledger: where that is gone, all of before are removed first. */
tacit_status tacit_sketch_take(const tacit_sketch_source *about, tacit_error *error);

typedef enum tacit_overlap_kind {
    TACIT_OVERLAP_SAME, /* the same rows, in any order */
    TACIT_OVERLAP_ROWS, /* rows in common */
    TACIT_OVERLAP_PART, /* rows in common, except for some columns */
    TACIT_OVERLAP_KEY,  /* values of a key in common */
} tacit_overlap_kind;

typedef struct tacit_overlap {
    const char *source, *other;
    tacit_overlap_kind kind;
    const char *column; /* of a key; else "" */
    double part;        /* about how many of the smaller source's rows or keys are in the other one */
    bool smaller;       /* `source` is the smaller one */
} tacit_overlap;

typedef tacit_status tacit_overlap_visit(void *context, const tacit_overlap *overlap, tacit_error *error);

/* Visit what the source has in common with each other source of the home that does not share its limit
 * (tacit_ledger_link). With source NULL, each pair once. Nothing happens where there are no sketches. */
tacit_status tacit_sketch_overlaps(const char *home, const char *source, tacit_overlap_visit *visit,
                                   void *context, tacit_error *error);

/* What is found and what it means, as one sentence without its full stop; and the command that mends it. */
tacit_status tacit_overlap_text(tacit_buffer *out, const tacit_overlap *overlap, tacit_error *error);
tacit_status tacit_overlap_remedy(tacit_buffer *out, const tacit_overlap *overlap, tacit_error *error);

/* The same for pages and programs: {"source", "sentence", "remedy"} for each other source, and one with a
 * sentence alone where sources could not be compared. `tacit_overlap_append` is a tacit_overlap_visit whose
 * context is a json_t **list. */
tacit_status tacit_overlap_append(void *context, const tacit_overlap *overlap, tacit_error *error);
json_t *tacit_overlaps_failed(json_t *list, const tacit_error *why);
