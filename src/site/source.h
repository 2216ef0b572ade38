/*
 * Where a party's rows come from. Beside a file (data/dataset.h):
 *
 *   a folder                        every *.csv in it, in the order of their names, with the same columns; files may be added.
 *                                   Without any, the documents in it, as data/input.h reads them
 *   sqlite:/path/clinic.db?QUERY    the rows that a query of a SQLite file gives; opened for reading only
 *   postgres:CONNINFO?QUERY         the same of a PostgreSQL server, e.g. postgres:service=clinic?SELECT ..., in a read-only session
 *
 * With a `link`, a column that says whom a row is about, rows of the same value are one: the last one read counts, so that nobody is
 * in the data twice. That column is dropped as rows are read; nothing past this file sees it.
 */
#pragma once

#include "data/dataset.h"

/* Does `data` need this, or is it a file to be read as ever? */
bool tacit_source_is_gathered(const char *data, const char *link);

/* Read the rows of any kind of source. `link` may be NULL. */
tacit_status tacit_source_load(tacit_dataset **out, const char *data, const char *link,
                               const tacit_schema *schema, const tacit_load_options *options,
                               tacit_error *error);

/* Hand over the cells of each row of any kind of source, as they are written; a missing one is NULL or empty. `names` are the columns',
 * NULL for a LIBSVM file, whose cells are the tokens of a line. Of `options` the header and the separator count. */
typedef tacit_status tacit_cells_visit(void *context, const char *const *names, const char *const *cells,
                                       size_t count, tacit_error *error);
tacit_status tacit_source_visit(const char *data, const tacit_load_options *options, tacit_cells_visit *visit,
                                void *context, tacit_error *error);
