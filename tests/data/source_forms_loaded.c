/* Sources that are read by libraries that are loaded at run time: DuckDB and ODBC. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/source/duckdb_library.h"
#include "data/source/odbc_library.h"
#include "source_forms.h"

char parquet_path[128];

/* tests/duckdb_library.py says where it is. */
bool has_duckdb(void) {
    const char *path = getenv("TACIT_DUCKDB");
    return path != NULL && path[0] != 0;
}

void duckdb_do(const char *path, const char *text) {
    duckdb_library library;
    duckdb_pointer database = NULL, connection = NULL;
    duckdb_result result = { .inside = NULL };
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(duckdb_library_load(&library, "a test", &error), error);
    assert_int_equal(library.open_ext(path, &database, NULL, NULL), 0);
    assert_int_equal(library.connect(database, &connection), 0);
    if (library.query(connection, text, &result) != 0)
        fail_msg("%s: %s", text, library.result_error(&result));
    library.destroy_result(&result);
    library.disconnect(&connection);
    library.close(&database);
}

/* A Parquet file that DuckDB writes from the CSV file. */
static void write_parquet(const char *age) {
    char text[768];
    snprintf(parquet_path, sizeof parquet_path, "%.*s/t.parquet", (int)(strrchr(csv_path, '/') - csv_path),
             csv_path);
    snprintf(
        text, sizeof text,
        "COPY (SELECT * FROM read_csv('%s', header = true, columns = {'who': 'VARCHAR', 'age': '%s', 'note': "
        "'VARCHAR', 'sick': 'VARCHAR'})) TO '%s' (FORMAT parquet, ROW_GROUP_SIZE 2048)",
        csv_path, age, parquet_path);
    duckdb_do(NULL, text);
}

void make_parquet(char name[512], size_t rows, bool with_long) {
    make(&forms[FORM_CSV], name, rows, with_long);
    write_parquet("DOUBLE");
    strcpy(name, parquet_path);
}

void spoil_parquet(char name[512]) {
    forms[FORM_CSV].spoil(name);
    write_parquet("VARCHAR");
    strcpy(name, parquet_path);
}

/* The file at the path becomes another one. */
void change_parquet(size_t rows) {
    char name[512];
    assert_int_equal(unlink(parquet_path), 0);
    make_parquet(name, rows + 1, false);
}

void vanish_parquet(void) { assert_int_equal(unlink(parquet_path), 0); }

/* Of a database, where it and the driver manager are installed. SQLite's gives 15 digits of a number, so its rows are not the same. */
const char *odbc_driver(const char *file) {
    static const char *const places[] = { "/usr/lib/x86_64-linux-gnu/odbc",
                                          "/usr/lib/aarch64-linux-gnu/odbc" };
    static char path[128];
    odbc_library library;
    tacit_error error = TACIT_ERROR_INIT;
    if (odbc_library_load(&library, &error) != TACIT_OK) return NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s/%s", places[i], file);
        if (access(path, R_OK) == 0) return path;
    }
    return NULL;
}

/* The server of the PostgreSQL form, by its socket. */
static void name_odbc(char name[512]) {
    const char *host = strchr(server_name(), '=') + 1;
    snprintf(name, 512,
             "odbc:Driver=%s;Server=%.*s;UID=tacit;Database=postgres;UseDeclareFetch=1;Fetch=100?SELECT who, "
             "age, note, sick FROM t "
             "ORDER BY n",
             odbc_driver("psqlodbcw.so"), (int)strcspn(host, " "), host);
}

void make_odbc(char name[512], size_t rows, bool with_long) {
    make(&forms[FORM_POSTGRES], name, rows, with_long);
    name_odbc(name);
}

void spoil_odbc(char name[512]) {
    forms[FORM_POSTGRES].spoil(name);
    name_odbc(name);
}
