#include "source_forms.h"

#include <ftw.h>
#include <libpq-fe.h>
#ifdef TACIT_READSTAT
#include <readstat.h>
#endif
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reference rows ---- */

enum { LONG = 300000 };
const char *const reference_columns[COLUMNS] = { "who", "age", "note", "sick" };

/* The cells of row i: a name, a number that needs all its digits or nothing, a text that must be quoted, and
 * a class. */
static void row_of(size_t i, char who[32], char age[32], char note[64], const char **sick) {
    snprintf(who, 32, "p%zu", i);
    age[0] = 0;
    if (i % 5 != 4) snprintf(age, 32, "%.17g", 1.0 / (3 + (double)i));
    snprintf(note, 64, i % 3 == 0 ? "plain" : "a, \"b\"\nline %zu; 'c'", i);
    *sick = i % 2 == 0 ? "no" : "yes";
}

static char long_text[LONG + 1];

/* ---- a place on the disk ---- */

static char base[64];

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *where) {
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

int forms_begin(void **state) {
    (void)state;
    strcpy(base, "/tmp/tacit-sources-XXXXXX");
    memset(long_text, 'x', LONG);
    return mkdtemp(base) == NULL ? -1 : 0;
}

int forms_end(void **state) {
    (void)state;
    return nftw(base, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

void put(const char *path, const tacit_buffer *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(tacit_buffer_text(text), 1, text->length, file), text->length);
    assert_int_equal(fclose(file), 0);
}

/* ---- forms ---- */

static void print_csv(tacit_buffer *text, size_t from, size_t to, size_t long_row) {
    char who[32], age[32], note[64];
    const char *sick;
    assert_int_equal(tacit_buffer_print(text, NULL, "who,age,note,sick\n"), TACIT_OK);
    for (size_t i = from; i < to; i++) {
        row_of(i, who, age, note, &sick);
        tacit_buffer_print(text, NULL, "%s,%s,\"", who, age);
        const char *at = i == long_row ? long_text : note;
        for (; *at != 0; at++) tacit_buffer_append(text, *at == '"' ? "\"\"" : at, *at == '"' ? 2 : 1, NULL);
        tacit_buffer_print(text, NULL, "\",%s\n", sick);
    }
}

static void expect_row(tacit_buffer *out, size_t i, bool is_long) {
    char who[32], age[32], note[64];
    const char *sick;
    row_of(i, who, age, note, &sick);
    tacit_buffer_print(out, NULL, "%s|%s|%s|%s\n", who, age, is_long ? long_text : note, sick);
}

char csv_path[128], sqlite_path[128];
static char folder_path[128], documents_path[128], libsvm_path[128];

static void make_csv(char name[512], size_t rows, bool with_long) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    snprintf(csv_path, sizeof csv_path, "%s/t.csv", base);
    print_csv(&text, 0, rows, with_long ? rows - 1 : SIZE_MAX);
    put(csv_path, &text);
    tacit_buffer_clear(&text);
    strcpy(name, csv_path);
}

static void spoil_csv(char name[512]) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_buffer_print(&text, NULL, "who,age,note,sick\na,1,x,no\nb,old,x,no\n");
    make_csv(name, 1, false);
    put(csv_path, &text);
    tacit_buffer_clear(&text);
}

void append_to(const char *path) {
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    fputs("z,1,z,no\n", file);
    assert_int_equal(fclose(file), 0);
}

static void change_csv(size_t rows) {
    (void)rows;
    append_to(csv_path);
}

static void vanish_csv(void) { assert_int_equal(unlink(csv_path), 0); }

/* A folder: a third of the rows in each of three files. */
static void make_folder(char name[512], size_t rows, bool with_long) {
    char path[192];
    snprintf(folder_path, sizeof folder_path, "%s/tables", base);
    mkdir(folder_path, 0700);
    for (size_t k = 0; k < 3; k++) {
        tacit_buffer text = TACIT_BUFFER_INIT;
        print_csv(&text, rows * k / 3, rows * (k + 1) / 3, with_long ? rows - 1 : SIZE_MAX);
        snprintf(path, sizeof path, "%s/%zu.csv", folder_path, k);
        put(path, &text);
        tacit_buffer_clear(&text);
    }
    snprintf(path, sizeof path, "%s/9.csv.part", folder_path); /* still being written */
    put(path, &(tacit_buffer)TACIT_BUFFER_INIT);
    strcpy(name, folder_path);
}

static void spoil_folder(char name[512]) {
    char path[192];
    tacit_buffer text = TACIT_BUFFER_INIT;
    make_folder(name, 3, false);
    tacit_buffer_print(&text, NULL, "who,age,note,sick\nb,old,x,no\n");
    snprintf(path, sizeof path, "%s/1.csv", folder_path);
    put(path, &text);
    tacit_buffer_clear(&text);
}

static void change_folder(size_t rows) {
    char path[192];
    (void)rows;
    snprintf(path, sizeof path, "%s/0.csv", folder_path);
    append_to(path);
}

static void vanish_folder(void) { nftw(folder_path, remove_entry, 8, FTW_DEPTH | FTW_PHYS); }

static void document_path(char out[256], size_t i) {
    snprintf(out, 256, "%s/%s/%06zu", documents_path, i % 2 == 0 ? "no" : "yes", i);
}

/* In the order of their paths: those of folder "no" come first. */
static void make_documents(char name[512], size_t rows, bool with_long) {
    char path[256];
    snprintf(documents_path, sizeof documents_path, "%s/letters", base);
    nftw(documents_path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    mkdir(documents_path, 0700);
    for (size_t k = 0; k < 2; k++) {
        document_path(path, k);
        *strrchr(path, '/') = 0;
        mkdir(path, 0700);
    }
    for (size_t i = 0; i < rows; i++) {
        tacit_buffer text = TACIT_BUFFER_INIT;
        size_t half = (rows + 1) / 2; /* the i-th that is read */
        tacit_buffer_print(&text, NULL, "%s", with_long && i + 1 == rows ? long_text : "dear, \"all\"\n");
        document_path(path, i < half ? 2 * i : 2 * (i - half) + 1);
        put(path, &text);
        tacit_buffer_clear(&text);
    }
    strcpy(name, documents_path);
}

static size_t documents_made;

static void expect_document(tacit_buffer *out, size_t i, bool is_long) {
    size_t half = (documents_made + 1) / 2, number = i < half ? 2 * i : 2 * (i - half) + 1;
    const char *folder = number % 2 == 0 ? "no" : "yes";
    tacit_buffer_print(out, NULL, "%s/%06zu|%s|%s\n", folder, number, is_long ? long_text : "dear, \"all\"\n",
                       folder);
}

static void spoil_documents(char name[512]) {
    char path[256];
    tacit_buffer number = TACIT_BUFFER_INIT;
    make_documents(name, 3, false);
    document_path(path, 0);
    tacit_buffer_print(&number, NULL, "1");
    put(path, &number);
    tacit_buffer_clear(&number);
}

static void vanish_documents(void) { nftw(documents_path, remove_entry, 8, FTW_DEPTH | FTW_PHYS); }

static void make_libsvm(char name[512], size_t rows, bool with_long) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    snprintf(libsvm_path, sizeof libsvm_path, "%s/t.svm", base);
    tacit_buffer_print(&text, NULL, "# a comment\n");
    for (size_t i = 0; i < rows; i++) {
        tacit_buffer_print(&text, NULL, "%d", i % 2 == 0 ? -1 : 1);
        for (size_t j = 0; j < (with_long && i + 1 == rows ? LONG / 4 : 2 + i % 3); j++)
            tacit_buffer_print(&text, NULL, " %zu:%.17g", j + 1, 1.0 / (3 + (double)i));
        tacit_buffer_print(&text, NULL, "\n");
    }
    put(libsvm_path, &text);
    tacit_buffer_clear(&text);
    strcpy(name, libsvm_path);
}

static void expect_sparse(tacit_buffer *out, size_t i, bool is_long) {
    tacit_buffer_print(out, NULL, "%d", i % 2 == 0 ? -1 : 1);
    for (size_t j = 0; j < (is_long ? LONG / 4 : 2 + i % 3); j++)
        tacit_buffer_print(out, NULL, " %zu:%.17g", j + 1, 1.0 / (3 + (double)i));
    tacit_buffer_print(out, NULL, "\n");
}

static void spoil_libsvm(char name[512]) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_buffer_print(&text, NULL, "1 1:2\n1 one:3\n");
    make_libsvm(name, 1, false);
    put(libsvm_path, &text);
    tacit_buffer_clear(&text);
}

static void change_libsvm(size_t rows) {
    (void)rows;
    FILE *file = fopen(libsvm_path, "ab");
    assert_non_null(file);
    fputs("1 1:1\n", file);
    assert_int_equal(fclose(file), 0);
}

static void vanish_libsvm(void) { assert_int_equal(unlink(libsvm_path), 0); }

static sqlite3 *sqlite_connect(void) {
    sqlite3 *file = NULL;
    assert_int_equal(sqlite3_open(sqlite_path, &file), SQLITE_OK);
    return file;
}

void sqlite_do(const char *text) {
    sqlite3 *file = sqlite_connect();
    char *said = NULL;
    if (sqlite3_exec(file, text, NULL, NULL, &said) != SQLITE_OK) fail_msg("%s: %s", text, said);
    sqlite3_close(file);
}

/* With a log beside it, so that somebody can write while it is read. */
static void make_sqlite(char name[512], size_t rows, bool with_long) {
    char who[32], age[32], note[64];
    const char *sick;
    sqlite3_stmt *insert = NULL;
    snprintf(sqlite_path, sizeof sqlite_path, "%s/clinic.db", base);
    sqlite_do("PRAGMA journal_mode = WAL; DROP TABLE IF EXISTS t; CREATE TABLE t (who TEXT, age REAL, note "
              "TEXT, sick "
              "VARCHAR(3))");
    sqlite3 *file = sqlite_connect();
    sqlite3_exec(file, "BEGIN", NULL, NULL, NULL);
    assert_int_equal(sqlite3_prepare_v2(file, "INSERT INTO t VALUES (?, ?, ?, ?)", -1, &insert, NULL), 0);
    for (size_t i = 0; i < rows; i++) {
        row_of(i, who, age, note, &sick);
        sqlite3_bind_text(insert, 1, who, -1, SQLITE_STATIC);
        if (age[0] == 0)
            sqlite3_bind_null(insert, 2);
        else
            sqlite3_bind_double(insert, 2, 1.0 / (3 + (double)i));
        sqlite3_bind_text(insert, 3, with_long && i + 1 == rows ? long_text : note, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 4, sick, -1, SQLITE_STATIC);
        assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    sqlite3_exec(file, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(file);
    snprintf(name, 512, "sqlite:%s?SELECT * FROM t ORDER BY rowid", sqlite_path);
}

static void spoil_sqlite(char name[512]) {
    make_sqlite(name, 2, false);
    sqlite_do("UPDATE t SET age = 'old' WHERE who = 'p1'");
}

static void change_sqlite(size_t rows) {
    (void)rows;
    sqlite_do("UPDATE t SET note = 'changed'; INSERT INTO t VALUES ('z', 1, 'z', 'no')");
}

static void vanish_sqlite(void) { sqlite_do("DELETE FROM t"); }

const char *server_name(void) { return getenv("TACIT_TEST_POSTGRES"); }

static void postgres_do(const char *text) {
    PGconn *server = PQconnectdb(server_name());
    PQclear(PQexec(
        server,
        "SET lock_timeout = '20s'; SET client_min_messages = warning")); /* of a test that failed before */
    PGresult *result = PQexec(server, text);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%.200s: %s", text, PQerrorMessage(server));
    PQclear(result);
    PQfinish(server);
}

static void make_postgres(char name[512], size_t rows, bool with_long) {
    char who[32], age[32], note[64];
    const char *sick;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_buffer_print(
        &text, NULL,
        "DROP TABLE IF EXISTS t; CREATE TABLE t (n serial, who text, age float8, note text, sick "
        "varchar(3));");
    for (size_t i = 0; i < rows; i++) {
        row_of(i, who, age, note, &sick);
        char *quote = strchr(note, '\'');
        if (quote != NULL) strcpy(quote, "''c''");
        tacit_buffer_print(&text, NULL, "%s('%s', %s, '%s', '%s')%s",
                           i % 1000 == 0 ? "INSERT INTO t (who, age, note, sick) VALUES " : "", who,
                           age[0] != 0 ? age : "NULL", with_long && i + 1 == rows ? long_text : note, sick,
                           i % 1000 == 999 || i + 1 == rows ? ";" : ",");
    }
    postgres_do(tacit_buffer_text(&text));
    tacit_buffer_clear(&text);
    snprintf(name, 512, "postgres:%s?SELECT who, age, note, sick FROM t ORDER BY n", server_name());
}

static void spoil_postgres(char name[512]) {
    make_postgres(name, 2, false);
    postgres_do("ALTER TABLE t ALTER age TYPE text; UPDATE t SET age = 'old' WHERE who = 'p1'");
}

static void change_postgres(size_t rows) {
    (void)rows;
    postgres_do("UPDATE t SET note = 'changed'; INSERT INTO t (who) VALUES ('z')");
}

/* The server ends every session but the one that asks. */
static void vanish_postgres(void) {
    postgres_do("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
                "backend_type = "
                "'client backend'");
}

void link_with_itself(const char *rows, char name[512]) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    snprintf(name, 512, "%s/t.link.yaml", base);
    tacit_buffer_print(&text, NULL,
                       "key: who\nsources:\n  - {rows: '%s', columns: [age, note]}\n"
                       "  - {rows: '%s', columns: [sick]}\n",
                       rows, rows);
    put(name, &text);
    tacit_buffer_clear(&text);
}

static void make_linking(char name[512], size_t rows, bool with_long) {
    make_csv(name, rows, with_long);
    link_with_itself("t.csv", name);
}

static void spoil_linking(char name[512]) {
    spoil_csv(name);
    link_with_itself("t.csv", name);
}

#ifdef TACIT_READSTAT
char statistical_path[128];

static ssize_t write_bytes(const void *bytes, size_t length, void *file) {
    return (ssize_t)fwrite(bytes, 1, length, file);
}

/* A Stata file; a text beyond 2,045 bytes is held apart from its row there. */
static void write_stata(size_t rows, bool with_long, bool texts) {
    readstat_writer_t *writer = readstat_writer_init();
    FILE *file = fopen(statistical_path, "wb");
    assert_non_null(file);
    readstat_set_data_writer(writer, write_bytes);
    readstat_writer_set_file_format_version(writer, 118);
    readstat_variable_t *variable[COLUMNS];
    for (size_t j = 0; j < COLUMNS; j++)
        variable[j] = readstat_add_variable(writer, reference_columns[j],
                                            j == 1 && !texts      ? READSTAT_TYPE_DOUBLE
                                            : j == 2 && with_long ? READSTAT_TYPE_STRING_REF
                                                                  : READSTAT_TYPE_STRING,
                                            64);
    readstat_string_ref_t *long_note = with_long ? readstat_add_string_ref(writer, long_text) : NULL;
    char who[32], age[32], note[64];
    const char *sick;
    readstat_string_ref_t **notes = calloc(rows + 1, sizeof *notes);
    assert_non_null(notes);
    for (size_t i = 0; with_long && i + 1 < rows; i++) {
        row_of(i, who, age, note, &sick);
        notes[i] = readstat_add_string_ref(writer, note);
    }
    if (with_long) notes[rows - 1] = long_note;
    assert_int_equal(readstat_begin_writing_dta(writer, file, (long)rows), READSTAT_OK);
    for (size_t i = 0; i < rows; i++) {
        row_of(i, who, age, note, &sick);
        readstat_begin_row(writer);
        readstat_insert_string_value(writer, variable[0], who);
        if (texts)
            readstat_insert_string_value(writer, variable[1], i == 1 ? "old" : age);
        else if (age[0] == 0)
            readstat_insert_missing_value(writer, variable[1]);
        else
            readstat_insert_double_value(writer, variable[1], 1.0 / (3 + (double)i));
        if (with_long)
            readstat_insert_string_ref(writer, variable[2], notes[i]);
        else
            readstat_insert_string_value(writer, variable[2], note);
        readstat_insert_string_value(writer, variable[3], sick);
        assert_int_equal(readstat_end_row(writer), READSTAT_OK);
    }
    assert_int_equal(readstat_end_writing(writer), READSTAT_OK);
    readstat_writer_free(writer);
    free(notes);
    assert_int_equal(fclose(file), 0);
}

static void make_statistical(char name[512], size_t rows, bool with_long) {
    snprintf(statistical_path, sizeof statistical_path, "%s/t.dta", base);
    write_stata(rows, with_long, false);
    strcpy(name, statistical_path);
}

static void spoil_statistical(char name[512]) {
    make_statistical(name, 1, false);
    write_stata(2, false, true);
}

static void change_statistical(size_t rows) {
    (void)rows;
    append_to(statistical_path);
}

static void vanish_statistical(void) { assert_int_equal(unlink(statistical_path), 0); }
#endif

const form forms[FORMS] = {
    { "csv", "a file", COLUMNS, make_csv, expect_row, spoil_csv, "t.csv:3:2 (age)", change_csv, vanish_csv,
      TACIT_OK },
    { "csv", "a folder", COLUMNS, make_folder, expect_row, spoil_folder, "tables/1.csv:2:2 (age)",
      change_folder, vanish_folder, TACIT_IO },
    { "libsvm", "a file", 0, make_libsvm, expect_sparse, spoil_libsvm, "t.svm:2:2", change_libsvm,
      vanish_libsvm, TACIT_OK },
    { "documents", "a folder", 3, make_documents, expect_document, spoil_documents,
      "letters: document 2, column 2 (text)", NULL, vanish_documents, TACIT_IO },
    { "sqlite", "a query", COLUMNS, make_sqlite, expect_row, spoil_sqlite, "clinic.db: row 2, column 2 (age)",
      change_sqlite, vanish_sqlite, TACIT_OK },
    { "postgres", "a query", COLUMNS, make_postgres, expect_row, spoil_postgres,
      "PostgreSQL: row 2, column 2 (age)", change_postgres, vanish_postgres, TACIT_INPUT },
    { "odbc", "a query", COLUMNS, make_odbc, expect_row, spoil_odbc, "ODBC: row 2, column 2 (age)",
      change_postgres, vanish_postgres, TACIT_INPUT },
    { "duckdb", "a Parquet file", COLUMNS, make_parquet, expect_row, spoil_parquet,
      "t.parquet: row 2, column 2 (age)", change_parquet, vanish_parquet, TACIT_INPUT },
    { "linking", "a file", COLUMNS, make_linking, expect_row, spoil_linking, "t.csv:3:2 (age)", change_csv,
      vanish_csv, TACIT_OK },
    { "personal", "a store", COLUMNS + 1, make_personal, expect_personal, spoil_personal,
      "personal.store: row 2, column 3 (age)", change_personal, vanish_personal, TACIT_OK },
#ifdef TACIT_READSTAT
    { "statistical", "a Stata file", COLUMNS, make_statistical, expect_row, spoil_statistical,
      "t.dta: row 2, column 2 (age)", change_statistical, vanish_statistical, TACIT_INPUT },
#endif
};

bool can_be_made(const form *one) {
    if (strcmp(one->kind, "postgres") == 0) return server_name() != NULL;
    if (strcmp(one->kind, "odbc") == 0) return server_name() != NULL && odbc_driver("psqlodbcw.so") != NULL;
    return strcmp(one->kind, "duckdb") != 0 || has_duckdb();
}

void make(const form *one, char name[512], size_t rows, bool with_long) {
    documents_made = rows;
    one->make(name, rows, with_long);
}

/* ---- reading ---- */

void reading_clear(reading *self) {
    tacit_buffer_clear(&self->rows);
    tacit_buffer_clear(&self->blocks);
    *self = (reading){ .count = 0 };
}

/* A number by all its digits, so that a lost bit shows; whole ones by their own. */
static tacit_status show_cell(const tacit_cell *cell, bool last, tacit_buffer *out, tacit_error *error) {
    char scratch[TACIT_NUMBER_TEXT];
    tacit_cell text = tacit_cell_as_text(cell, scratch);
    double number = 0;
    if (tacit_text_to_number(text.text, text.length, &number) && number != floor(number)) {
        text.length = (uint32_t)snprintf(scratch, sizeof scratch, "%.17g", number);
        text.text = scratch;
    }
    TACIT_TRY(tacit_buffer_append(out, text.text, text.length, error));
    return tacit_buffer_append(out, last ? "\n" : "|", 1, error);
}

static tacit_status show_sparse(const tacit_row_block *block, tacit_buffer *out, tacit_error *error) {
    for (size_t i = 0; i < block->rows; i++) {
        TACIT_TRY(tacit_buffer_print(out, error, "%g", block->label[i]));
        for (size_t k = block->start[i]; k < block->start[i + 1]; k++)
            TACIT_TRY(tacit_buffer_print(out, error, " %u:%.17g", block->column[k] + 1, block->value[k]));
        TACIT_TRY(tacit_buffer_print(out, error, "\n"));
    }
    return TACIT_OK;
}

tacit_status read_block(tacit_source *source, size_t most, reading *out, bool *ended, tacit_error *error) {
    tacit_row_block block;
    size_t width = source->columns.count;
    TACIT_TRY(tacit_source_next(source, most, &block, error));
    *ended = block.ended;
    out->count += block.rows;
    out->left_out += (size_t)block.left_out;
    if (block.rows > out->widest) out->widest = block.rows;
    TACIT_TRY(tacit_buffer_print(&out->blocks, error, "%zu ", block.rows));
    if (source->kind->sparse) return show_sparse(&block, &out->rows, error);
    for (size_t i = 0; i < block.rows * width; i++)
        TACIT_TRY(show_cell(&block.cells[i], i % width == width - 1, &out->rows, error));
    return TACIT_OK;
}

tacit_status read_rest(tacit_source *source, size_t most, reading *out, tacit_error *error) {
    for (bool ended = false; !ended;) TACIT_TRY(read_block(source, most, out, &ended, error));
    return TACIT_OK;
}

tacit_source *open_rows(const form *one, const char *name) {
    tacit_source *source = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    if (tacit_source_open(&source, name, NULL, &error) != TACIT_OK) fail_msg("%s: %s", one->kind, error.text);
    assert_string_equal(source->kind->name, one->kind);
    return source;
}

void expect_rows(const form *one, const reading *got, size_t rows, bool with_long, size_t step) {
    tacit_buffer expected = TACIT_BUFFER_INIT;
    for (size_t i = 0; i < rows; i += step) one->expect(&expected, i, with_long && i + 1 == rows);
    if (strcmp(tacit_buffer_text(&expected), tacit_buffer_text(&got->rows)) != 0)
        fail_msg("%s, %s: expected %.500s\ngot %.500s", one->kind, one->about, tacit_buffer_text(&expected),
                 tacit_buffer_text(&got->rows));
    tacit_buffer_clear(&expected);
}

/* ---- a schema ---- */

tacit_schema *schema_of(const form *one) {
    const char *text = one->columns == 0
                           ? "label: {name: label, classes: [\"-1\", \"1\"]}\nsparse: 9\nrows: unit\n"
                       : one->columns == 3 ? "label: {name: folder, classes: [\"no\", \"yes\"]}\ncolumns:\n"
                                             "  - {name: text, kind: number, low: 0, high: 1}\n"
                                           : "label: {name: sick, classes: [\"no\", \"yes\"]}\ncolumns:\n"
                                             "  - {name: age, kind: number, low: 0, high: 1}\n"
                                             "  - {name: note, kind: category, levels: [plain, other]}\n";
    tacit_schema *made = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_schema_parse(&made, text, strlen(text), "schema", &error), error);
    return made;
}
