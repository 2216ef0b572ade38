/*
 * DuckDB's C interface, loaded at run time: Tacit is built without it, and reads with it where a user has it.
 * The types and the numbers below are those of DuckDB's stable interface (duckdb.h, since 1.0).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct duckdb_handle *duckdb_pointer; /* what DuckDB keeps to itself */

typedef struct duckdb_result {
    uint64_t unused[3];
    void *unused_columns;
    char *unused_error;
    void *inside;
} duckdb_result;

enum { DUCKDB_STATEMENT_SELECT = 1 };

typedef enum duckdb_kind {
    DUCKDB_BOOLEAN = 1,
    DUCKDB_INT8,
    DUCKDB_INT16,
    DUCKDB_INT32,
    DUCKDB_INT64,
    DUCKDB_UINT8,
    DUCKDB_UINT16,
    DUCKDB_UINT32,
    DUCKDB_UINT64,
    DUCKDB_FLOAT,
    DUCKDB_DOUBLE,
    DUCKDB_TIMESTAMP,
    DUCKDB_DATE,
    DUCKDB_TIME,
    DUCKDB_INTERVAL,
    DUCKDB_HUGEINT,
    DUCKDB_VARCHAR,
    DUCKDB_BLOB,
    DUCKDB_DECIMAL,
    DUCKDB_TIMESTAMP_S,
    DUCKDB_TIMESTAMP_MS,
    DUCKDB_TIMESTAMP_NS,
    DUCKDB_ENUM,
    DUCKDB_UUID = 27,
    DUCKDB_BIT = 29,
    DUCKDB_TIME_ZONE = 30,
    DUCKDB_TIMESTAMP_ZONE = 31,
    DUCKDB_UHUGEINT = 32,
} duckdb_kind;

/* X(result, name, parameters): every function that is called. A code of 0 is success. */
#define DUCKDB_FUNCTIONS(X)                                                                                  \
    X(const char *, library_version, (void))                                                                 \
    X(int, create_config, (duckdb_pointer *))                                                                \
    X(int, set_config, (duckdb_pointer, const char *, const char *))                                         \
    X(void, destroy_config, (duckdb_pointer *))                                                              \
    X(int, open_ext, (const char *, duckdb_pointer *, duckdb_pointer, char **))                              \
    X(void, close, (duckdb_pointer *))                                                                       \
    X(int, connect, (duckdb_pointer, duckdb_pointer *))                                                      \
    X(void, disconnect, (duckdb_pointer *))                                                                  \
    X(void, free, (void *))                                                                                  \
    X(int, query, (duckdb_pointer, const char *, duckdb_result *))                                           \
    X(uint64_t, extract_statements, (duckdb_pointer, const char *, duckdb_pointer *))                        \
    X(const char *, extract_statements_error, (duckdb_pointer))                                              \
    X(int, prepare_extracted_statement, (duckdb_pointer, duckdb_pointer, uint64_t, duckdb_pointer *))        \
    X(void, destroy_extracted, (duckdb_pointer *))                                                           \
    X(int, prepared_statement_type, (duckdb_pointer))                                                        \
    X(const char *, prepare_error, (duckdb_pointer))                                                         \
    X(void, destroy_prepare, (duckdb_pointer *))                                                             \
    X(uint64_t, prepared_statement_column_count, (duckdb_pointer))                                           \
    X(const char *, prepared_statement_column_name, (duckdb_pointer, uint64_t))                              \
    X(int, prepared_statement_column_type, (duckdb_pointer, uint64_t))                                       \
    X(duckdb_pointer, prepared_statement_column_logical_type, (duckdb_pointer, uint64_t))                    \
    X(uint8_t, decimal_width, (duckdb_pointer))                                                              \
    X(uint8_t, decimal_scale, (duckdb_pointer))                                                              \
    X(int, decimal_internal_type, (duckdb_pointer))                                                          \
    X(int, enum_internal_type, (duckdb_pointer))                                                             \
    X(uint32_t, enum_dictionary_size, (duckdb_pointer))                                                      \
    X(char *, enum_dictionary_value, (duckdb_pointer, uint64_t))                                             \
    X(void, destroy_logical_type, (duckdb_pointer *))                                                        \
    X(int, pending_prepared_streaming, (duckdb_pointer, duckdb_pointer *))                                   \
    X(const char *, pending_error, (duckdb_pointer))                                                         \
    X(int, execute_pending, (duckdb_pointer, duckdb_result *))                                               \
    X(void, destroy_pending, (duckdb_pointer *))                                                             \
    X(const char *, result_error, (duckdb_result *))                                                         \
    X(void, destroy_result, (duckdb_result *))                                                               \
    X(duckdb_pointer, fetch_chunk, (duckdb_result))                                                          \
    X(uint64_t, data_chunk_get_size, (duckdb_pointer))                                                       \
    X(duckdb_pointer, data_chunk_get_vector, (duckdb_pointer, uint64_t))                                     \
    X(void, destroy_data_chunk, (duckdb_pointer *))                                                          \
    X(void *, vector_get_data, (duckdb_pointer))                                                             \
    X(uint64_t *, vector_get_validity, (duckdb_pointer))

typedef struct duckdb_library {
    void *handle;
#define DUCKDB_MEMBER(result, name, parameters) result(*name) parameters;
    DUCKDB_FUNCTIONS(DUCKDB_MEMBER)
#undef DUCKDB_MEMBER
} duckdb_library;

/* Where script/setup puts the library for one user; false: nobody knows that user's home. */
enum { DUCKDB_PATH_SIZE = 4096 };
bool duckdb_library_path(char out[DUCKDB_PATH_SIZE]);

/* TACIT_USAGE, with how to install it, where there is none. It stays loaded. `what` needs it. */
tacit_status duckdb_library_load(duckdb_library *out, const char *what, tacit_error *error);
