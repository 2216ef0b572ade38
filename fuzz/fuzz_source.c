/*
 * Rows from a database. The first byte says what the rest is: 'd' a SQLite file; 'l' and others, cells of a
 * table, of which 0xff ends one and 0xfe a row; with 'l' rows are linked by the first column, with 'm' and
 * 'i' a linking file brings them together with themselves, by time or in intervals. Cells go the whole way
 * that a query's go, to encoded rows. 'k': a linking file, read but not followed. 'T', 'V', 'A': a file of Stata, SPSS or SAS, with value
 * labels and codes for what is missing; its columns are looked at, and then encoded by a draft. 'C': the catalogue of labels beside a file of
 * SAS that uses them.
 */
#ifdef TACIT_READSTAT
#include <readstat.h>
#endif
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/dataset.h"
#include "data/source/linking.h"
#include "outside.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { COLUMNS = 3 };

static tacit_schema *schema;

static void begin(void) {
    static const char text[] = "label: {name: y, classes: [n, p]}\ncolumns:\n"
                               "  - {name: a, kind: number, low: 0, high: 1}\n"
                               "  - {name: b, kind: category, levels: [x, z]}\n";
    outside_must(tacit_schema_parse(&schema, text, strlen(text), "schema", NULL));
}

/* A file with one table of the cells; names and values are the input's. */
static void make_table(const uint8_t *bytes, size_t length) {
    sqlite3 *file = NULL;
    sqlite3_stmt *insert = NULL;
    const char *path = outside_path("cells.db");
    outside_remove(path);
    if (sqlite3_open(path, &file) != SQLITE_OK) abort();
    sqlite3_exec(file, "CREATE TABLE t (y, a, b); BEGIN", NULL, NULL, NULL);
    if (sqlite3_prepare_v2(file, "INSERT INTO t VALUES (?1, ?2, ?3)", -1, &insert, NULL) != SQLITE_OK)
        abort();
    const uint8_t *at = bytes, *end = bytes + length;
    for (int column = 1; at <= end;) {
        const uint8_t *stop = at;
        while (stop < end && *stop < 0xfe) stop++;
        if (stop > at)
            sqlite3_bind_text(insert, column, (const char *)at, (int)(stop - at), SQLITE_TRANSIENT);
        if (column == COLUMNS || stop == end || *stop == 0xfe) {
            sqlite3_step(insert);
            sqlite3_reset(insert);
            sqlite3_clear_bindings(insert);
            column = 1;
        } else {
            column++;
        }
        at = stop + 1;
    }
    sqlite3_finalize(insert);
    sqlite3_exec(file, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(file);
}

static void read_linking(const uint8_t *bytes, size_t length) {
    linking about;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = linking_parse(&about, (const char *)bytes, length, "fuzz.link.yaml", &error);
    outside_explained(status, &error);
    if (status == TACIT_OK) linking_clear(&about);
}

/* The table with itself: key y, time a. */
static void write_linking(bool intervals) {
    char text[3 * 4096];
    const char *path = outside_path("cells.db");
    int length =
        snprintf(text, sizeof text,
                 "key: y\nsources:\n  - {rows: 'sqlite:%s?SELECT * FROM t'%s}\n"
                 "  - {rows: 'sqlite:%s?SELECT y, a AS t, b AS c FROM t', time: t, carry: 1, since: "
                 "s, columns: [c]}\n%s",
                 path, intervals ? "" : ", time: a", path,
                 intervals ? "intervals: {until: a, event: b, stop: a, cut: [0.5], episode: e}\n" : "");
    outside_file("cells.link.yaml", text, (size_t)length);
}

#ifdef TACIT_READSTAT
static ssize_t write_bytes(const void *bytes, size_t length, void *out) {
    outside_must(tacit_buffer_append(out, bytes, length, NULL));
    return (ssize_t)length;
}

/* Codes 1 and 2 of the format SEXES, made once. */
static const tacit_buffer *labelled_file(void) {
    static tacit_buffer file;
    if (file.length > 0) return &file;
    readstat_writer_t *writer = readstat_writer_init();
    readstat_set_data_writer(writer, write_bytes);
    readstat_variable_t *sex = readstat_add_variable(writer, "sex", READSTAT_TYPE_DOUBLE, 8);
    readstat_variable_set_format(sex, "SEXES");
    if (readstat_begin_writing_sas7bdat(writer, &file, 4) != READSTAT_OK) abort();
    for (int i = 0; i < 4; i++) {
        readstat_begin_row(writer);
        readstat_insert_double_value(writer, sex, i % 2 + 1);
        readstat_end_row(writer);
    }
    if (readstat_end_writing(writer) != READSTAT_OK) abort();
    readstat_writer_free(writer);
    return &file;
}

/* By a draft, for its columns are its own. */
static void read_statistical(char letter, const uint8_t *bytes, size_t length) {
    tacit_dataset *rows = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    outside_remove(outside_path("cells.sas7bcat"));
    if (letter == 'C') {
        outside_file("cells.sas7bcat", bytes, length);
        bytes = labelled_file()->bytes;
        length = labelled_file()->length;
    }
    const char *path = outside_file(letter == 'T'   ? "cells.dta"
                                    : letter == 'V' ? "cells.sav"
                                                    : "cells.sas7bdat",
                                    bytes, length);
    tacit_status status = tacit_dataset_load(&rows, NULL, path, NULL, NULL, &error);
    outside_explained(status, &error);
    if ((rows != NULL) != (status == TACIT_OK)) abort();
    tacit_dataset_free(rows);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    tacit_dataset *rows = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    char data[4096 + 64];
    if (schema == NULL) begin();
    if (length == 0) return 0;
    if (bytes[0] == 'k') {
        read_linking(bytes + 1, length - 1);
        return 0;
    }
#ifdef TACIT_READSTAT
    if (bytes[0] == 'T' || bytes[0] == 'V' || bytes[0] == 'A' || bytes[0] == 'C') {
        read_statistical((char)bytes[0], bytes + 1, length - 1);
        return 0;
    }
#endif
    if (bytes[0] == 'd')
        outside_file("cells.db", bytes + 1, length - 1);
    else
        make_table(bytes + 1, length - 1);
    if (bytes[0] == 'm' || bytes[0] == 'i') {
        write_linking(bytes[0] == 'i');
        snprintf(data, sizeof data, "%s", outside_path("cells.link.yaml"));
    } else {
        snprintf(data, sizeof data, "sqlite:%s?SELECT * FROM t", outside_path("cells.db"));
    }
    options.link = bytes[0] == 'l' ? "y" : NULL;
    tacit_status status = tacit_dataset_load(&rows, NULL, data, schema, &options, &error);
    outside_explained(status, &error);
    if ((rows != NULL) != (status == TACIT_OK)) abort();
    tacit_dataset_free(rows);
    return 0;
}
