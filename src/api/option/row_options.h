/* What calls that read a table of rows share. */
#pragma once

#include "api/option/arguments.h"
#include "data/dataset.h"
#include "site/site.h"

/* What may be named where rows are read; docs/data.md says it in full. */
#define TACIT_SOURCES_HELP                                                                                   \
    "CSV or LIBSVM, also compressed; a file of SAS, Stata or SPSS; Parquet or JSON; a folder of CSV files, " \
    "of Parquet files or of documents; sqlite:PATH?QUERY; duckdb:QUERY; odbc:DSN=NAME?QUERY; "               \
    "postgres:CONNINFO?QUERY; or a linking file, NAME.link.yaml"

/* What TACIT_OPTIONS_READING was given. Borrows from both. */
tacit_load_options tacit_reading_options(const tacit_arguments *arguments, const tacit_progress *progress);

/* The same with what TACIT_OPTIONS_TEXT was given. */
tacit_load_options tacit_reading_draft(const tacit_arguments *arguments, const tacit_progress *progress);

/* What TACIT_OPTION_RESPONSE was given. */
tacit_response tacit_reading_response(const tacit_arguments *arguments);

/* What an owner says when joining a study, from tacit_join_options; `data` is NULL where a program lends
 * rows. All borrowed. */
tacit_site_settings tacit_joining_settings(const tacit_arguments *arguments, const char *home,
                                           const char *data, const char *source);
