/*
 * A pass over the rows of a Parquet file: bench_sources FILE SCHEMA duckdb|pass [REPEATS]. "duckdb" is DuckDB's own SELECT sum(...) of all
 * columns with two threads; "pass" reads, encodes by the schema and adds X^T X up, in the thread that encodes and the one
 * that fetches. Prints a JSON line: the seconds of every repeat, and those of the processor.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/memory.h"
#include "data/dataset.h"
#include "data/reading/gather.h"
#include "data/source/duckdb_library.h"
#include "num/blas.h"
#include "num/kernel/tiles.h"

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double processor(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static tacit_status ask_duckdb(const char *path, const tacit_schema *schema, tacit_error *error) {
    duckdb_library library;
    duckdb_pointer config = NULL, database = NULL, connection = NULL;
    duckdb_result result = { .inside = NULL };
    tacit_buffer query = TACIT_BUFFER_INIT;
    TACIT_TRY(duckdb_library_load(&library, path, error));
    tacit_status status = tacit_buffer_print(&query, error, "SELECT ");
    for (size_t j = 0; j < schema->cols && status == TACIT_OK; j++)
        status = tacit_buffer_print(&query, error, "sum(%s), ", schema->columns[j].name);
    if (status == TACIT_OK)
        status = tacit_buffer_print(&query, error, "sum(%s) FROM '%s'", schema->label, path);
    library.create_config(&config);
    library.set_config(config, "threads", "2");
    if (status == TACIT_OK && (library.open_ext(NULL, &database, config, NULL) != 0 ||
                               library.connect(database, &connection) != 0 ||
                               library.query(connection, tacit_buffer_text(&query), &result) != 0))
        status = tacit_fail(error, TACIT_INPUT, "DuckDB fails");
    library.destroy_result(&result);
    library.disconnect(&connection);
    library.close(&database);
    library.destroy_config(&config);
    tacit_buffer_clear(&query);
    return status;
}

enum { PIECE = 256 /* rows */ };

/* X^T X as methods add it up. */
typedef struct gram {
    const tacit_kernels *kernels;
    double *tiles, *packing;
} gram;

/* The rows of the table, encoded, into the sum; so many at a time that they are still in the cache when they are multiplied. */
static void add_block(tacit_encoder *encoder, const tacit_table *table, size_t features, double *block,
                      gram *sum) {
    const double *row[PIECE];
    double weight[PIECE];
    for (size_t first = 0; first < table->rows; first += PIECE) {
        const size_t rows = table->rows - first < PIECE ? table->rows - first : PIECE;
        tacit_encode_block(encoder, first, rows, block);
        for (size_t i = 0; i < rows; i++) row[i] = block + i * features, weight[i] = 1;
        tacit_tiles_add(sum->kernels, row, weight, rows, features, sum->packing, sum->tiles);
    }
}

static tacit_status pass(const char *path, const tacit_schema *schema, uint64_t *rows, double *trace,
                         tacit_error *error) {
    const size_t features = tacit_schema_features(schema);
    tacit_source *source = NULL;
    tacit_table *table = NULL;
    tacit_encoder *encoder = NULL;
    size_t label, group;
    gram sum = { tacit_kernels_choose(), tacit_allocate_aligned(tacit_tiles_length(features), sizeof(double)),
                 tacit_allocate_aligned(tacit_tiles_room(features), sizeof(double)) };
    double *block = TACIT_NEW(double, TACIT_GATHER_BLOCK *features);
    tacit_status status =
        sum.tiles == NULL || sum.packing == NULL || block == NULL ? tacit_fail_memory(error) : TACIT_OK;
    if (status == TACIT_OK) memset(sum.tiles, 0, tacit_tiles_length(features) * sizeof(double));
    if (status == TACIT_OK) status = tacit_source_open(&source, path, NULL, error);
    if (status == TACIT_OK)
        status =
            tacit_schema_table(&table, &label, &group, schema, source, TACIT_LABEL_REQUIRED, NULL, error);
    if (status == TACIT_OK) table->borrows = true;
    if (status == TACIT_OK) status = tacit_encoder_create(&encoder, schema, table, error);
    for (bool ended = false; status == TACIT_OK && !ended;) {
        status = tacit_table_read(table, source, TACIT_GATHER_BLOCK, &ended, error);
        if (status == TACIT_OK) add_block(encoder, table, features, block, &sum);
        *rows += table->rows;
        tacit_table_drop_rows(table);
    }
    *trace = 0;
    for (size_t j = 0; status == TACIT_OK && j < features; j++)
        *trace += tacit_tiles_at(sum.tiles, features, j, j);
    tacit_encoder_free(encoder);
    tacit_table_free(table);
    tacit_source_free(source);
    free(block);
    free(sum.tiles);
    free(sum.packing);
    return status;
}

int main(int count, char **words) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = NULL;
    if (count < 4) return 2;
    const bool by_duckdb = strcmp(words[3], "duckdb") == 0;
    const int repeats = count > 4 ? atoi(words[4]) : 1;
    tacit_status status = tacit_schema_load(&schema, words[2], &error);
    tacit_blas_one_thread();
    printf("{\"way\": \"%s\"", words[3]);
    for (int k = 0; k < repeats && status == TACIT_OK; k++) {
        uint64_t rows = 0;
        double trace = 0, wall = seconds(), used = processor();
        status =
            by_duckdb ? ask_duckdb(words[1], schema, &error) : pass(words[1], schema, &rows, &trace, &error);
        printf("%s[%.4f, %.4f]", k == 0 ? ", \"seconds\": [" : ", ", seconds() - wall, processor() - used);
        if (k + 1 == repeats) printf("], \"rows\": %" PRIu64 ", \"trace\": %.17g}\n", rows, trace);
    }
    tacit_schema_free(schema);
    if (status != TACIT_OK) fprintf(stderr, "%s\n", error.text);
    return status == TACIT_OK ? 0 : 1;
}
