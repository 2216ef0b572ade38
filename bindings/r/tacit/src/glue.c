/* Pointers, failures and texts. */
#include "glue.h"

#include <string.h>

static void free_string(SEXP pointer) {
    tacit_string_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

static void free_bytes(SEXP pointer) {
    tacit_bytes_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

static void free_options(SEXP pointer) {
    tacit_options_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

SEXP glue_pointer(const char *what, SEXP kept, R_CFinalizer_t finalizer) {
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, Rf_install(what), kept));
    R_RegisterCFinalizerEx(pointer, finalizer, TRUE);
    UNPROTECT(1);
    return pointer;
}

void *glue_address(SEXP pointer, const char *what) {
    if (TYPEOF(pointer) != EXTPTRSXP || R_ExternalPtrTag(pointer) != Rf_install(what))
        Rf_error("this is no Tacit %s", what);
    void *address = R_ExternalPtrAddr(pointer);
    if (address == NULL) Rf_error("this Tacit %s is of another session of R; make it again", what);
    return address;
}

void *glue_address_or_null(SEXP pointer, const char *what) {
    return pointer == R_NilValue ? NULL : glue_address(pointer, what);
}

SEXP glue_is_null(SEXP pointer) {
    return Rf_ScalarLogical(TYPEOF(pointer) != EXTPTRSXP || R_ExternalPtrAddr(pointer) == NULL);
}

SEXP glue_string_holder(void) { return glue_pointer("text", R_NilValue, free_string); }

SEXP glue_bytes_holder(void) { return glue_pointer("bytes", R_NilValue, free_bytes); }

SEXP glue_options(SEXP names, SEXP values, tacit_status *status, tacit_error *error) {
    SEXP pointer = PROTECT(glue_pointer("options", R_NilValue, free_options));
    tacit_options *options = NULL;
    *status = tacit_options_create(&options, error);
    if (*status == TACIT_OK) R_SetExternalPtrAddr(pointer, options);
    for (R_xlen_t i = 0; *status == TACIT_OK && i < XLENGTH(names); i++)
        *status = tacit_options_set(options, Rf_translateCharUTF8(STRING_ELT(names, i)),
                                    Rf_translateCharUTF8(STRING_ELT(values, i)), error);
    UNPROTECT(1);
    return pointer;
}

static SEXP part_of(const char *begin, size_t length) {
    return begin != NULL ? Rf_mkCharLenCE(begin, (int)length, CE_UTF8) : NA_STRING;
}

/* The options that a sentence names, in order: what stands before each, its name, its value or NA; and the rest. */
SEXP glue_text_options(SEXP text) {
    static const char *const members[] = { "before", "name", "value", "rest" };
    const char *begin = Rf_translateCharUTF8(STRING_ELT(text, 0)), *rest = begin;
    tacit_named_option one;
    R_xlen_t count = 0;
    for (; tacit_text_option(rest, &one); rest = one.end) count++;
    SEXP result = PROTECT(Rf_allocVector(VECSXP, 4)), names = PROTECT(Rf_allocVector(STRSXP, 4));
    for (int i = 0; i < 4; i++) {
        SET_STRING_ELT(names, i, Rf_mkChar(members[i]));
        SET_VECTOR_ELT(result, i, Rf_allocVector(STRSXP, i < 3 ? count : 1));
    }
    SET_STRING_ELT(VECTOR_ELT(result, 3), 0, part_of(rest, strlen(rest)));
    rest = begin;
    for (R_xlen_t i = 0; tacit_text_option(rest, &one); i++, rest = one.end) {
        SET_STRING_ELT(VECTOR_ELT(result, 0), i, part_of(rest, (size_t)(one.begin - rest)));
        SET_STRING_ELT(VECTOR_ELT(result, 1), i, part_of(one.name, one.name_length));
        SET_STRING_ELT(VECTOR_ELT(result, 2), i, part_of(one.value, one.value_length));
    }
    Rf_setAttrib(result, R_NamesSymbol, names);
    UNPROTECT(2);
    return result;
}

SEXP glue_failure(const tacit_error *error) {
    SEXP failure = PROTECT(Rf_allocVector(VECSXP, 2));
    SET_VECTOR_ELT(failure, 0, Rf_mkString(tacit_status_name(error->status)));
    SET_VECTOR_ELT(failure, 1, Rf_ScalarString(Rf_mkCharCE(error->text, CE_UTF8)));
    SEXP names = PROTECT(Rf_allocVector(STRSXP, 2));
    SET_STRING_ELT(names, 0, Rf_mkChar("status"));
    SET_STRING_ELT(names, 1, Rf_mkChar("text"));
    Rf_setAttrib(failure, R_NamesSymbol, names);
    Rf_setAttrib(failure, R_ClassSymbol, Rf_mkString("tacit_failure"));
    UNPROTECT(2);
    return failure;
}

SEXP glue_text(SEXP holder) {
    const char *text = R_ExternalPtrAddr(holder);
    SEXP result = PROTECT(Rf_ScalarString(Rf_mkCharCE(text, CE_UTF8)));
    free_string(holder);
    UNPROTECT(1);
    return result;
}

SEXP glue_version(void) { return Rf_mkString(tacit_version()); }
