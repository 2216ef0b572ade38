/* How rows come into a table, for table.c (cells, row by row) and table_columns.c (columns). */
#pragma once

#include "data/table.h"

/* Room for `rows` more. */
tacit_status table_make_room(tacit_table *table, size_t rows, tacit_error *error);

/* One cell into row `row` of a column of numbers; of categories or texts. */
tacit_status table_add_number(const tacit_source *source, tacit_column *column, const tacit_cell *cell,
                              size_t row, tacit_error *error);
tacit_status table_add_words(const tacit_source *source, tacit_column *column, const tacit_cell *cell,
                             size_t row, tacit_error *error);

/* A missing cell: counted, and refused where there must be a value. */
tacit_status table_add_missing(const tacit_source *source, tacit_column *column, const tacit_cell *cell,
                               tacit_error *error);
bool table_is_infinite(const tacit_cell *cell);
bool table_lacks_date(const tacit_cell *cell);

/* The age at another date of the row. */
tacit_status table_add_age(const tacit_source *source, tacit_column *column, const tacit_cell *cells,
                           size_t row, tacit_error *error);

/* Is the row to be left out? Then nothing of it is kept or looked at but which cells are missing. */
bool table_leaves_out(tacit_table *table, const tacit_cell *cells);

/* Can the rows of the source come as columns? Not where something is decided row by row from several
 * cells. */
bool table_takes_columns(const tacit_table *table, const tacit_source *source);

/* Append up to `most` rows of the source; *count grows by those read, chosen or not. */
tacit_status table_read_columns(tacit_table *table, tacit_source *source, size_t most, size_t *count,
                                bool *ended, tacit_error *error);
