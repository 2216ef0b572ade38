/*
 * libpq, loaded when the first query is asked. In libtacit.so these functions stand for libpq's own, so
 * that a program which never reads from PostgreSQL neither needs nor loads it; the program tacit is linked
 * with libpq itself.
 */
#include <dlfcn.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <string.h>

#define FUNCTIONS(X)                                                                                         \
    X(PQclear)                                                                                               \
    X(PQconnectdb)                                                                                           \
    X(PQerrorMessage)                                                                                        \
    X(PQexec)                                                                                                \
    X(PQfinish)                                                                                              \
    X(PQfname)                                                                                               \
    X(PQftype)                                                                                               \
    X(PQgetResult)                                                                                           \
    X(PQgetlength)                                                                                           \
    X(PQgetvalue)                                                                                            \
    X(PQnfields)                                                                                             \
    X(PQntuples)                                                                                             \
    X(PQresultStatus)                                                                                        \
    X(PQsendQueryParams)                                                                                     \
    X(PQsetClientEncoding)                                                                                   \
    X(PQsetSingleRowMode)                                                                                    \
    X(PQstatus)

static struct {
    pthread_once_t once;
    int loaded;
#define MEMBER(name) __typeof__(&(name)) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} library = { .once = PTHREAD_ONCE_INIT };

static void load(void) {
    void *handle = dlopen(TACIT_LIBPQ, RTLD_NOW | RTLD_LOCAL),
         *found = NULL; /* never closed: others may use it */
    library.loaded = handle != NULL;
    if (handle == NULL) return;
#define FIND(name)                                                                                           \
    found = dlsym(handle, #name);                                                                            \
    if (found == NULL) library.loaded = 0;                                                                   \
    memcpy(&library.name, &found, sizeof found);
    FUNCTIONS(FIND)
#undef FIND
}

/* Without the library there is no connection, and so nothing else to ask. */
static int is_loaded(void) {
    pthread_once(&library.once, load);
    return library.loaded;
}

PGconn *PQconnectdb(const char *conninfo) { return is_loaded() ? library.PQconnectdb(conninfo) : NULL; }

ConnStatusType PQstatus(const PGconn *conn) { return is_loaded() ? library.PQstatus(conn) : CONNECTION_BAD; }

char *PQerrorMessage(const PGconn *conn) {
    static char missing[] =
        TACIT_LIBPQ " is not there, or too old: install PostgreSQL's client library (libpq5)";
    return is_loaded() ? library.PQerrorMessage(conn) : missing;
}

void PQclear(PGresult *res) {
    if (is_loaded()) library.PQclear(res);
}

void PQfinish(PGconn *conn) {
    if (is_loaded()) library.PQfinish(conn);
}

PGresult *PQexec(PGconn *conn, const char *query) { return library.PQexec(conn, query); }
char *PQfname(const PGresult *res, int field) { return library.PQfname(res, field); }
Oid PQftype(const PGresult *res, int field) { return library.PQftype(res, field); }
PGresult *PQgetResult(PGconn *conn) { return library.PQgetResult(conn); }
int PQgetlength(const PGresult *res, int row, int field) { return library.PQgetlength(res, row, field); }
char *PQgetvalue(const PGresult *res, int row, int field) { return library.PQgetvalue(res, row, field); }
int PQnfields(const PGresult *res) { return library.PQnfields(res); }
int PQntuples(const PGresult *res) { return library.PQntuples(res); }
ExecStatusType PQresultStatus(const PGresult *res) { return library.PQresultStatus(res); }
int PQsetClientEncoding(PGconn *conn, const char *encoding) {
    return library.PQsetClientEncoding(conn, encoding);
}
int PQsetSingleRowMode(PGconn *conn) { return library.PQsetSingleRowMode(conn); }
int PQsendQueryParams(PGconn *conn, const char *command, int count, const Oid *types,
                      const char *const *values, const int *lengths, const int *formats, int result_format) {
    return library.PQsendQueryParams(conn, command, count, types, values, lengths, formats, result_format);
}
