/* Files that hold rows in a form that is not read: one sentence says what the file is, and what to do. */
#include <stdio.h>
#include <string.h>

#include "data/source/source_parts.h"

typedef struct foreign {
    size_t offset, length;
    const char *bytes, *what, *remedy;
} foreign;

#define MAGIC(bytes) sizeof(bytes) - 1, bytes

/* What the library for parties alone is without (source_parts.h), and how such rows reach it. */
#ifdef TACIT_PARTY_ONLY
static const char query_it[] = "write its rows as CSV, or hand them over in memory";
static const char *const absent[] = { "sqlite:", "postgres:", "odbc:", "duckdb:", NULL };
#else
static const char query_it[] = "name the rows by a query: sqlite:FILE?SELECT ...";
static const char *const absent[] = { NULL };
#endif

tacit_status source_refuse_absent(const char *name, tacit_error *error) {
    for (const char *const *prefix = absent; *prefix != NULL; prefix++)
        if (strncmp(name, *prefix, strlen(*prefix)) == 0)
            return tacit_fail(error, TACIT_USAGE,
                              "'%s...' names rows of a database, which a library for parties alone "
                              "(-Dparty_only=true) does not read: give a CSV file or a personal store "
                              "(store:FILE), or hand the rows over in memory",
                              *prefix);
    return TACIT_OK;
}

static const char save_as[] = "save it as CSV (UTF-8) in the program that it comes from";

#ifndef TACIT_READSTAT
static const char with_readstat[] = "a Tacit that was built with ReadStat (libreadstat-dev) reads it; or "
                                    "write it as CSV: PROC EXPORT in SAS, "
                                    "'export delimited' in Stata, SAVE TRANSLATE in SPSS";
#endif

static const foreign kinds[] = {
    { 0, MAGIC("ARROW1"), "an Arrow (Feather) file", "write it as Parquet or CSV" },
    { 0, MAGIC("PK\x03\x04"), "an Excel or OpenDocument workbook (or another zip archive)", save_as },
    { 0, MAGIC("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), "an Excel workbook of an old kind (.xls)", save_as },
#ifndef TACIT_READSTAT
    { 12, MAGIC("\xC2\xEA\x81\x60\xB3\x14\x11\xCF\xBD\x92\x08\x00"), "a SAS file (.sas7bdat)",
      with_readstat },
    { 0, MAGIC("HEADER RECORD*******LIB"), "a SAS transport file (.xpt)", with_readstat },
    { 0, MAGIC("<stata_dta>"), "a Stata file (.dta)", with_readstat },
    { 0, MAGIC("$FL2"), "an SPSS file (.sav)", with_readstat },
    { 0, MAGIC("$FL3"), "an SPSS file (.zsav)", with_readstat },
#endif
    { 0, MAGIC("RDX3\nX\n"), "an R workspace (.rda)", "write its rows with write.csv in R" },
    { 0, MAGIC("RDX2\nX\n"), "an R workspace (.rda)", "write its rows with write.csv in R" },
    { 0, MAGIC("X\n\x00\x00\x00"), "an R object (.rds)", "write it with write.csv in R" },
    { 0, MAGIC("SQLite format 3"), "a SQLite database", query_it },
    { 0, MAGIC("%PDF-"), "a PDF document", "find the file that it was made from" },
    { 0, MAGIC("<!DOCTYPE html"), "a web page (HTML)", save_as }, /* some programs call it .xls */
    { 0, MAGIC("<!doctype html"), "a web page (HTML)", save_as },
    { 0, MAGIC("<html"), "a web page (HTML)", save_as },
    { 0, MAGIC("<table"), "a web page (HTML)", save_as },
    { 0, MAGIC("<?xml"), "an XML document", save_as },
};

tacit_status source_refuse_foreign(const tacit_place *place, tacit_error *error) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const foreign *kind = &kinds[i];
        if (place->length < kind->offset + kind->length ||
            memcmp(place->bytes + kind->offset, kind->bytes, kind->length) != 0)
            continue;
        return tacit_fail(error, TACIT_INPUT, "%s is %s, which is not read; %s", place->name, kind->what,
                          kind->remedy);
    }
    return TACIT_OK;
}

tacit_status source_check_parquet(const tacit_place *place, tacit_error *error) {
    char bytes[4];
    FILE *file = place->bytes != NULL ? fopen(place->name, "rb") : NULL;
    bool plain = place->bytes == NULL ||
                 (file != NULL && fread(bytes, 1, 4, file) == 4 && memcmp(bytes, "PAR1", 4) == 0);
    if (file != NULL) fclose(file);
    if (plain) return TACIT_OK;
    return tacit_fail(
        error, TACIT_INPUT,
        "%s holds a Parquet file, which is read by its path and not compressed: unpack it first",
        place->name);
}
