/*
 * The chunks of rows of a pass, fetched by a thread of their own, so that DuckDB reads and decodes the next
 * ones while those at hand are used.
 */
#pragma once

#include "data/source/duckdb_library.h"

typedef struct duckdb_rows duckdb_rows;

/* Run the statement. The library is borrowed. Where it fails *said is DuckDB's sentence, which the caller
 * frees; NULL when memory is short. */
bool duckdb_rows_begin(duckdb_rows **out, const duckdb_library *library, duckdb_pointer statement,
                       char **said);

/* The next chunk, which stays until the call after it; NULL after the last. *said is NULL, or why there is no
 * more; it is borrowed. */
duckdb_pointer duckdb_rows_next(duckdb_rows *rows, const char **said);

duckdb_rows *duckdb_rows_end(duckdb_rows *rows);
