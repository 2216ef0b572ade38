/* Rows of R, used where they lie. */
#include <stdint.h>

#include "glue.h"

/* What a frame's pointer keeps. */
enum { KEPT_ROWS, KEPT_LABELS, KEPT_PARTIES, KEPT_COUNT };

static void free_frame(SEXP pointer) {
    tacit_frame_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

static SEXP frame_pointer(SEXP rows) {
    SEXP kept = PROTECT(Rf_allocVector(VECSXP, KEPT_COUNT));
    SET_VECTOR_ELT(kept, KEPT_ROWS, rows);
    SEXP pointer = glue_pointer("frame", kept, free_frame);
    UNPROTECT(1);
    return pointer;
}

static void keep(SEXP frame, int place, SEXP what) {
    SET_VECTOR_ELT(R_ExternalPtrProtected(frame), place, what);
}

static SEXP done(tacit_status status, const tacit_error *error) {
    return status == TACIT_OK ? R_NilValue : glue_failure(error);
}

/* A matrix of doubles, columns first, without its first `skipped` columns. */
SEXP glue_frame_dense(SEXP values, SEXP skipped) {
    tacit_error error = TACIT_ERROR_INIT;
    size_t rows = (size_t)Rf_nrows(values), skip = (size_t)Rf_asInteger(skipped);
    size_t columns = (size_t)Rf_ncols(values) - skip;
    SEXP pointer = PROTECT(frame_pointer(values));
    tacit_frame *frame = NULL;
    tacit_status status =
        tacit_frame_dense(&frame, REAL(values) + rows * skip, TACIT_NUMBER_DOUBLE, rows, columns,
                          (ptrdiff_t)sizeof(double), (ptrdiff_t)(rows * sizeof(double)), &error);
    if (status == TACIT_OK) R_SetExternalPtrAddr(pointer, frame);
    UNPROTECT(1);
    return status == TACIT_OK ? pointer : glue_failure(&error);
}

SEXP glue_frame_sparse(SEXP value, SEXP column, SEXP start, SEXP columns) {
    tacit_error error = TACIT_ERROR_INIT;
    SEXP rows = PROTECT(Rf_allocVector(VECSXP, 3));
    SET_VECTOR_ELT(rows, 0, value);
    SET_VECTOR_ELT(rows, 1, column);
    SET_VECTOR_ELT(rows, 2, start);
    SEXP pointer = PROTECT(frame_pointer(rows));
    tacit_frame *frame = NULL;
    tacit_status status =
        tacit_frame_sparse(&frame, REAL(value), INTEGER(column), INTEGER(start), TACIT_INDEX_INT32,
                           (size_t)XLENGTH(start) - 1, (size_t)Rf_asInteger(columns), &error);
    if (status == TACIT_OK) R_SetExternalPtrAddr(pointer, frame);
    UNPROTECT(2);
    return status == TACIT_OK ? pointer : glue_failure(&error);
}

/* The rows of a file, as the options say. */
SEXP glue_frame_load(SEXP path, SEXP names, SEXP values) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    SEXP pointer = PROTECT(frame_pointer(R_NilValue));
    SEXP options = PROTECT(glue_options(names, values, &status, &error));
    tacit_frame *frame = NULL;
    if (status == TACIT_OK)
        status = tacit_frame_load(&frame, R_ExpandFileName(Rf_translateChar(STRING_ELT(path, 0))),
                                  R_ExternalPtrAddr(options), NULL, &error);
    if (status == TACIT_OK) R_SetExternalPtrAddr(pointer, frame);
    UNPROTECT(2);
    return status == TACIT_OK ? pointer : glue_failure(&error);
}

/* Compressed columns (Matrix's dgCMatrix) as compressed rows: value, column, start. Counting sort, so that columns of a row
 * come in order. */
SEXP glue_sparse_by_rows(SEXP value, SEXP row, SEXP start, SEXP rows) {
    R_xlen_t entries = XLENGTH(value), columns = XLENGTH(start) - 1;
    int count = Rf_asInteger(rows);
    const int *from_row = INTEGER(row), *from_start = INTEGER(start);
    const double *from_value = REAL(value);
    SEXP result = PROTECT(Rf_allocVector(VECSXP, 3));
    SET_VECTOR_ELT(result, 0, Rf_allocVector(REALSXP, entries));
    SET_VECTOR_ELT(result, 1, Rf_allocVector(INTSXP, entries));
    SET_VECTOR_ELT(result, 2, Rf_allocVector(INTSXP, (R_xlen_t)count + 1));
    double *to_value = REAL(VECTOR_ELT(result, 0));
    int *to_column = INTEGER(VECTOR_ELT(result, 1)), *to_start = INTEGER(VECTOR_ELT(result, 2));
    int *next = (int *)R_alloc((size_t)count + 1, sizeof *next);
    for (int i = 0; i <= count; i++) next[i] = 0;
    for (R_xlen_t k = 0; k < entries; k++) {
        if (from_row[k] < 0 || from_row[k] >= count)
            Rf_error("an index of the sparse matrix is no row of it");
        next[from_row[k] + 1]++;
    }
    for (int i = 0; i < count; i++) next[i + 1] += next[i];
    for (int i = 0; i <= count; i++) to_start[i] = next[i];
    for (R_xlen_t j = 0; j < columns; j++)
        for (int k = from_start[j]; k < from_start[j + 1]; k++) {
            int place = next[from_row[k]]++;
            to_value[place] = from_value[k];
            to_column[place] = (int)j;
        }
    UNPROTECT(1);
    return result;
}

/* The strings of R as the library takes them; NULL for none. The array lasts until .Call returns. */
static const char *const *texts(SEXP strings) {
    if (strings == R_NilValue) return NULL;
    const char **result = (const char **)R_alloc((size_t)XLENGTH(strings) + 1, sizeof *result);
    for (R_xlen_t i = 0; i < XLENGTH(strings); i++) result[i] = Rf_translateCharUTF8(STRING_ELT(strings, i));
    return result;
}

SEXP glue_frame_classes(SEXP frame, SEXP label, SEXP names) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *self = glue_address(frame, "frame");
    if ((size_t)XLENGTH(label) != tacit_frame_rows(self)) Rf_error("there are not as many labels as rows");
    keep(frame, KEPT_LABELS, label);
    return done(tacit_frame_set_classes(self, INTEGER(label), (size_t)XLENGTH(names), texts(names), &error),
                &error);
}

SEXP glue_frame_response(SEXP frame, SEXP response, SEXP bounds, SEXP counts) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *self = glue_address(frame, "frame");
    if ((size_t)XLENGTH(response) != tacit_frame_rows(self))
        Rf_error("there are not as many responses as rows");
    keep(frame, KEPT_LABELS, response);
    return done(tacit_frame_set_response(self, REAL(response), REAL(bounds)[0], REAL(bounds)[1],
                                         Rf_asLogical(counts) == TRUE, &error),
                &error);
}

/* Times until an event; `entry` may be NULL. */
SEXP glue_frame_times(SEXP frame, SEXP time, SEXP event, SEXP entry, SEXP bounds) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *self = glue_address(frame, "frame");
    const size_t rows = tacit_frame_rows(self);
    if ((size_t)XLENGTH(time) != rows || (size_t)XLENGTH(event) != rows ||
        (entry != R_NilValue && (size_t)XLENGTH(entry) != rows))
        Rf_error("there are not as many times as rows");
    SEXP kept = PROTECT(Rf_allocVector(VECSXP, 3));
    SET_VECTOR_ELT(kept, 0, time);
    SET_VECTOR_ELT(kept, 1, event);
    SET_VECTOR_ELT(kept, 2, entry);
    keep(frame, KEPT_LABELS, kept);
    UNPROTECT(1);
    return done(tacit_frame_set_times(self, REAL(time), INTEGER(event),
                                      entry != R_NilValue ? REAL(entry) : NULL, REAL(bounds)[0],
                                      REAL(bounds)[1], &error),
                &error);
}

SEXP glue_frame_parties(SEXP frame, SEXP party, SEXP parties) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *self = glue_address(frame, "frame");
    if ((size_t)XLENGTH(party) != tacit_frame_rows(self)) Rf_error("there is not a party for each row");
    keep(frame, KEPT_PARTIES, party);
    return done(tacit_frame_set_parties(self, INTEGER(party), (size_t)Rf_asInteger(parties), &error), &error);
}

SEXP glue_frame_names(SEXP frame, SEXP names) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *self = glue_address(frame, "frame");
    if ((size_t)XLENGTH(names) != tacit_frame_columns(self)) Rf_error("there is not a name for each column");
    return done(tacit_frame_set_names(self, texts(names), &error), &error);
}

SEXP glue_frame_bounds(SEXP frame, SEXP low, SEXP high, SEXP intercept) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *self = glue_address(frame, "frame");
    size_t columns = tacit_frame_columns(self);
    if ((size_t)XLENGTH(low) != columns || (size_t)XLENGTH(high) != columns)
        Rf_error("there are not bounds for each column");
    return done(tacit_frame_set_bounds(self, REAL(low), REAL(high), Rf_asLogical(intercept) == TRUE, &error),
                &error);
}

SEXP glue_frame_norm(SEXP frame, SEXP norm, SEXP intercept) {
    tacit_error error = TACIT_ERROR_INIT;
    return done(tacit_frame_set_norm(glue_address(frame, "frame"), Rf_asReal(norm),
                                     Rf_asLogical(intercept) == TRUE, &error),
                &error);
}

SEXP glue_frame_mark(SEXP frame, SEXP label, SEXP columns) {
    tacit_error error = TACIT_ERROR_INIT;
    return done(tacit_frame_mark_from_data(glue_address(frame, "frame"), Rf_asLogical(label) == TRUE,
                                           Rf_asLogical(columns) == TRUE, &error),
                &error);
}

SEXP glue_frame_bounds_from_data(SEXP frame, SEXP intercept) {
    tacit_error error = TACIT_ERROR_INIT;
    return done(tacit_frame_set_bounds_from_data(glue_address(frame, "frame"),
                                                 Rf_asLogical(intercept) == TRUE, &error),
                &error);
}
