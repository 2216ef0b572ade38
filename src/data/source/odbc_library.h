/*
 * The driver manager of ODBC (unixODBC), loaded at run time: Tacit is built without it, and reads with it
 * where a user has it. The types and the numbers below are those of ODBC 3 (sql.h, sqlext.h, sqlucode.h).
 * Texts are UTF-16, as every driver knows them.
 */
#pragma once

#include <stdint.h>

#include "base/buffer.h"

enum {
    ODBC_ENVIRONMENT = 1, /* kinds of handles */
    ODBC_CONNECTION = 2,
    ODBC_STATEMENT = 3,
    ODBC_SUCCESS = 0, /* answers; those below zero are errors */
    ODBC_SUCCESS_WITH_INFO = 1,
    ODBC_NO_DATA = 100,
    ODBC_NULL_DATA = -1, /* lengths */
    ODBC_NO_TOTAL = -4,
    ODBC_NUL_TERMINATED = -3,
    ODBC_SET_VERSION = 200, /* settings and their values */
    ODBC_VERSION_3 = 3,
    ODBC_SET_ACCESS = 101,
    ODBC_READ_ONLY = 1,
    ODBC_SET_AUTOCOMMIT = 102,
    ODBC_SET_ISOLATION = 108,
    ODBC_REPEATABLE_READ = 4,
    ODBC_SERIALIZABLE = 8,
    ODBC_NO_PROMPT = 0,
    ODBC_ROLLBACK = 1,
    ODBC_CLOSE = 0,
    ODBC_TEXT = -8, /* as what a value is asked for */
    ODBC_REAL_NUMBER = 8,
    ODBC_WHOLE_NUMBER = -25,
};

typedef enum odbc_type { /* of columns */
                         ODBC_NUMERIC = 2,
                         ODBC_DECIMAL = 3,
                         ODBC_INTEGER = 4,
                         ODBC_SMALLINT = 5,
                         ODBC_FLOAT = 6,
                         ODBC_REAL = 7,
                         ODBC_DOUBLE = 8,
                         ODBC_DATE = 91,
                         ODBC_TIME = 92,
                         ODBC_TIMESTAMP = 93,
                         ODBC_BINARY = -2,
                         ODBC_VARBINARY = -3,
                         ODBC_LONG_VARBINARY = -4,
                         ODBC_BIGINT = -5,
                         ODBC_TINYINT = -6,
} odbc_type;

typedef void *odbc_handle;

/* X(name, parameters): every function that is called. */
#define ODBC_FUNCTIONS(X)                                                                                    \
    X(SQLAllocHandle, (short, odbc_handle, odbc_handle *))                                                   \
    X(SQLFreeHandle, (short, odbc_handle))                                                                   \
    X(SQLSetEnvAttr, (odbc_handle, int, void *, int))                                                        \
    X(SQLSetConnectAttr, (odbc_handle, int, void *, int))                                                    \
    X(SQLDriverConnectW,                                                                                     \
      (odbc_handle, void *, uint16_t *, short, uint16_t *, short, short *, unsigned short))                  \
    X(SQLDisconnect, (odbc_handle))                                                                          \
    X(SQLExecDirectW, (odbc_handle, uint16_t *, int))                                                        \
    X(SQLNumResultCols, (odbc_handle, short *))                                                              \
    X(SQLDescribeColW,                                                                                       \
      (odbc_handle, unsigned short, uint16_t *, short, short *, short *, unsigned long *, short *, short *)) \
    X(SQLFetch, (odbc_handle))                                                                               \
    X(SQLGetData, (odbc_handle, unsigned short, short, void *, long, long *))                                \
    X(SQLFreeStmt, (odbc_handle, unsigned short))                                                            \
    X(SQLEndTran, (short, odbc_handle, short))                                                               \
    X(SQLGetDiagRecW, (short, odbc_handle, short, uint16_t *, int *, uint16_t *, short, short *))

typedef struct odbc_library {
    void *handle;
#define ODBC_MEMBER(name, parameters) short(*name) parameters;
    ODBC_FUNCTIONS(ODBC_MEMBER)
#undef ODBC_MEMBER
} odbc_library;

/* TACIT_USAGE, with how to install it, where there is none. It stays loaded. */
tacit_status odbc_library_load(odbc_library *out, tacit_error *error);

/* UTF-16 with a final 0, which the caller frees; the text is UTF-8. */
tacit_status odbc_text_make(uint16_t **out, const char *text, tacit_error *error);
/* Append as UTF-8; half a pair becomes U+FFFD. */
tacit_status odbc_text_read(tacit_buffer *out, const uint16_t *text, size_t length, tacit_error *error);
