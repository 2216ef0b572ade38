/*
 * A source of which one of several processes reads its part, and no byte of the others'. Every row is in
 * exactly one part.
 */
#pragma once

#include "data/source/source.h"

/* Open part `own` of `count`. *is_part says whether the source gives that part alone: files of a folder or a
 * pattern are dealt out whole by their sizes, Parquet files that are fewer than the parts by ranges of rows.
 * What cannot be read in parts (a single CSV file, parts of less than a megabyte of CSV, a query, rows that
 * are linked) is opened whole, and whoever reads it keeps its own. */
tacit_status tacit_source_open_part(tacit_source **out, bool *is_part, const char *name,
                                    const tacit_source_options *options, size_t own, size_t count,
                                    tacit_error *error);

/* Which of `files` are whose, by their sizes: the largest first, each to the part that has least so far. The
 * same on every process that finds the same sizes. */
tacit_status tacit_deal_files(size_t *part_of, const uint64_t *size, size_t files, size_t parts,
                              tacit_error *error);

/* Has every part at least so much? */
bool tacit_deal_fills(const size_t *part_of, const uint64_t *size, size_t files, size_t parts,
                      uint64_t least);
