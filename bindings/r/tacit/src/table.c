/* The columns of a data frame, used where they lie. */
#include <stdint.h>
#include <string.h>

#include "glue.h"

static void free_frame(SEXP pointer) {
    tacit_frame_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

/* A byte for each whole number: whether it is NA. The vector lives in `kept`. */
static const uint8_t *missing_of(SEXP column, SEXP kept, R_xlen_t place) {
    SEXP bytes = Rf_allocVector(RAWSXP, XLENGTH(column));
    SET_VECTOR_ELT(kept, place, bytes);
    for (R_xlen_t i = 0; i < XLENGTH(column); i++) RAW(bytes)[i] = INTEGER(column)[i] == NA_INTEGER;
    return RAW(bytes);
}

/* Where each text is, NULL for NA; they are UTF-8 already. The array lives in `kept`. */
static const char *const *texts_of(SEXP column, SEXP kept, R_xlen_t place) {
    SEXP pointers = Rf_allocVector(RAWSXP, XLENGTH(column) * (R_xlen_t)sizeof(char *));
    SET_VECTOR_ELT(kept, place, pointers);
    const char **result = (const char **)(void *)RAW(pointers);
    for (R_xlen_t i = 0; i < XLENGTH(column); i++)
        result[i] = STRING_ELT(column, i) == NA_STRING ? NULL : CHAR(STRING_ELT(column, i));
    return result;
}

static tacit_status add_column(tacit_frame *frame, const char *name, char kind, SEXP column, SEXP levels,
                               SEXP kept, R_xlen_t place, tacit_error *error) {
    switch (kind) {
    case 'd': /* a date, whole days */
        return tacit_frame_add_dates(frame, name, INTEGER(column), missing_of(column, kept, place), error);
    case 'c': /* a factor; levels from 1 */
        return tacit_frame_add_categories(frame, name, INTEGER(column), TACIT_VALUE_INT32, 0, 1,
                                          texts_of(levels, kept, place), (size_t)XLENGTH(levels), error);
    case 't': return tacit_frame_add_texts(frame, name, texts_of(column, kept, place), error);
    case 'i': /* whole numbers and truth values */
        return tacit_frame_add_numbers(frame, name, INTEGER(column), TACIT_VALUE_INT32, 0,
                                       missing_of(column, kept, place), error);
    default: return tacit_frame_add_numbers(frame, name, REAL(column), TACIT_VALUE_DOUBLE, 0, NULL, error);
    }
}

/* A table of `columns`, a list; a letter of `kinds` for each, and the levels of those that have such. */
SEXP glue_frame_table(SEXP columns, SEXP names, SEXP kinds, SEXP levels, SEXP rows) {
    tacit_error error = TACIT_ERROR_INIT;
    const R_xlen_t count = XLENGTH(columns);
    SEXP kept = PROTECT(Rf_allocVector(VECSXP, 3)); /* the third for parties: frame.c */
    SEXP made = PROTECT(Rf_allocVector(VECSXP, count));
    SET_VECTOR_ELT(kept, 0, columns);
    SET_VECTOR_ELT(kept, 1, made);
    SEXP pointer = PROTECT(glue_pointer("frame", kept, free_frame));
    const char *letters = CHAR(STRING_ELT(kinds, 0));
    tacit_frame *frame = NULL;
    tacit_status status = tacit_frame_table(&frame, (size_t)Rf_asReal(rows), &error);
    if (status == TACIT_OK) R_SetExternalPtrAddr(pointer, frame); /* freed with the pointer from now on */
    for (R_xlen_t j = 0; j < count && status == TACIT_OK; j++)
        status = add_column(frame, Rf_translateCharUTF8(STRING_ELT(names, j)), letters[j],
                            VECTOR_ELT(columns, j), VECTOR_ELT(levels, j), made, j, &error);
    UNPROTECT(3);
    return status == TACIT_OK ? pointer : glue_failure(&error);
}

/* What is public about the columns. */
SEXP glue_frame_describe(SEXP frame, SEXP names, SEXP values) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    SEXP options = PROTECT(glue_options(names, values, &status, &error));
    if (status == TACIT_OK)
        status = tacit_frame_describe(glue_address(frame, "frame"), R_ExternalPtrAddr(options), NULL, &error);
    UNPROTECT(1);
    return status == TACIT_OK ? R_NilValue : glue_failure(&error);
}
