/* Sources of every kind with the same rows, for the suite that every kind must pass (test_sources.c) and for
 * what is special to one (test_source_kinds.c). */
#pragma once

#include "check.h"
#include "data/dataset.h"
#include "data/source/source_parts.h"

enum { COLUMNS = 4 };
extern const char *const reference_columns[COLUMNS];

typedef struct form {
    const char *kind, *about; /* of the table; what is special */
    size_t columns;           /* 0: sparse */
    /* Make a source of `rows` rows, the last with a long cell where asked, and write its name. */
    void (*make)(char name[512], size_t rows, bool with_long);
    void (*expect)(tacit_buffer *out, size_t row, bool is_long); /* row as `show` prints it */
    void (*spoil)(char name[512]); /* make one whose second row no schema fits */
    const char *spoiled_place;     /* how the error names it */
    void (*change)(size_t rows);   /* another writes to what is being read; NULL: nobody can */
    void (*vanish)(void);          /* it is taken away */
    tacit_status vanished;         /* besides the same rows, what may come of it */
} form;

enum {
    FORM_CSV,
    FORM_FOLDER,
    FORM_LIBSVM,
    FORM_DOCUMENTS,
    FORM_SQLITE,
    FORM_POSTGRES,
    FORM_ODBC,
    FORM_DUCKDB,
    FORM_LINKING,
    FORM_PERSONAL,
    FORM_STATISTICAL
};
#ifdef TACIT_READSTAT
enum { FORMS = FORM_STATISTICAL + 1 };
#else
enum { FORMS = FORM_STATISTICAL };
#endif
extern const form forms[FORMS];

bool can_be_made(const form *one);
#define EACH_FORM(one)                                                                                       \
    for (const form *one = forms; one < forms + FORMS; one++)                                                \
        if (can_be_made(one))

void make(const form *one, char name[512], size_t rows, bool with_long);
/* A linking file that brings the columns of one source together again. */
void link_with_itself(const char *rows, char name[512]);
tacit_schema *schema_of(const form *one);

/* A folder for the files; both are for cmocka. */
int forms_begin(void **state);
int forms_end(void **state);
void put(const char *path, const tacit_buffer *text);
void append_to(const char *path);
extern char csv_path[128], sqlite_path[128], statistical_path[128];
void sqlite_do(const char *text);
const char *server_name(void);             /* of PostgreSQL; NULL: there is none */
const char *odbc_driver(const char *file); /* its path; NULL: it is not installed */
void make_odbc(char name[512], size_t rows, bool with_long);
void spoil_odbc(char name[512]);
bool has_duckdb(void);
void make_parquet(char name[512], size_t rows, bool with_long);
void spoil_parquet(char name[512]);
void change_parquet(size_t rows);
void vanish_parquet(void);
void duckdb_do(const char *path, const char *text); /* in a database; NULL: one in memory */
extern char parquet_path[128];
void make_personal(char name[512], size_t rows, bool with_long);
void expect_personal(tacit_buffer *out, size_t row, bool is_long);
void spoil_personal(char name[512]);
void change_personal(size_t rows);
void vanish_personal(void);

typedef struct reading {
    tacit_buffer rows;              /* as text */
    tacit_buffer blocks;            /* "3 3 1 ": their sizes */
    size_t count, left_out, widest; /* rows in all; left out; of the largest block */
} reading;

void reading_clear(reading *self);
tacit_status read_block(tacit_source *source, size_t most, reading *out, bool *ended, tacit_error *error);
tacit_status read_rest(tacit_source *source, size_t most, reading *out, tacit_error *error);
tacit_source *open_rows(const form *one, const char *name);
/* Every `step`-th of the reference rows, and nothing else. */
void expect_rows(const form *one, const reading *got, size_t rows, bool with_long, size_t step);
