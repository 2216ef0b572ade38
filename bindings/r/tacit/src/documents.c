/* Ledgers, and what methods promise. */
#include "glue.h"

static void free_ledger(SEXP pointer) {
    tacit_ledger_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

SEXP glue_ledger_at(SEXP path, SEXP source) {
    tacit_error error = TACIT_ERROR_INIT;
    SEXP pointer = PROTECT(glue_pointer("ledger", R_NilValue, free_ledger));
    tacit_ledger *ledger = NULL;
    tacit_status status = tacit_ledger_at(&ledger, Rf_translateChar(STRING_ELT(path, 0)),
                                          Rf_translateCharUTF8(STRING_ELT(source, 0)), &error);
    if (status == TACIT_OK) R_SetExternalPtrAddr(pointer, ledger);
    UNPROTECT(1);
    return status == TACIT_OK ? pointer : glue_failure(&error);
}

SEXP glue_ledger_limit(SEXP ledger, SEXP whole_party, SEXP epsilon, SEXP delta) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status =
        tacit_ledger_limit(glue_address(ledger, "ledger"), Rf_asLogical(whole_party) == TRUE,
                           Rf_asReal(epsilon), Rf_asReal(delta), &error);
    return status == TACIT_OK ? R_NilValue : glue_failure(&error);
}

/* The text that a call left, or how it failed. */
static SEXP answer(SEXP holder, char *text, tacit_status status, const tacit_error *error) {
    if (status != TACIT_OK) return glue_failure(error);
    R_SetExternalPtrAddr(holder, text);
    return glue_text(holder);
}

SEXP glue_ledger_document(SEXP ledger) {
    tacit_error error = TACIT_ERROR_INIT;
    SEXP holder = PROTECT(glue_string_holder());
    char *text = NULL;
    tacit_status status = tacit_ledger_document(&text, glue_address(ledger, "ledger"), &error);
    SEXP result = answer(holder, text, status, &error);
    UNPROTECT(1);
    return result;
}

SEXP glue_ledger_verdict(SEXP ledger) {
    tacit_error error = TACIT_ERROR_INIT;
    SEXP holder = PROTECT(glue_string_holder());
    char *text = NULL;
    tacit_status status = tacit_ledger_verdict(&text, glue_address(ledger, "ledger"), &error);
    SEXP result = answer(holder, text, status, &error);
    UNPROTECT(1);
    return result;
}

SEXP glue_methods(void) {
    tacit_error error = TACIT_ERROR_INIT;
    SEXP holder = PROTECT(glue_string_holder());
    char *text = NULL;
    tacit_status status = tacit_methods_document(&text, &error);
    SEXP result = answer(holder, text, status, &error);
    UNPROTECT(1);
    return result;
}

SEXP glue_explain(SEXP names, SEXP values) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    SEXP options = PROTECT(glue_options(names, values, &status, &error));
    SEXP holder = PROTECT(glue_string_holder());
    char *text = NULL;
    if (status == TACIT_OK) status = tacit_explain_document(&text, R_ExternalPtrAddr(options), &error);
    SEXP result = answer(holder, text, status, &error);
    UNPROTECT(2);
    return result;
}

/* A document that takes a while, and can be interrupted. */
typedef tacit_status (*long_document)(char **json, const tacit_options *options,
                                      const tacit_progress *progress, tacit_error *error);

static SEXP take_long(long_document make, SEXP names, SEXP values) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    glue_interrupt interrupt;
    SEXP options = PROTECT(glue_options(names, values, &status, &error));
    SEXP holder = PROTECT(glue_string_holder());
    char *text = NULL;
    if (status == TACIT_OK)
        status = make(&text, R_ExternalPtrAddr(options), glue_interrupt_begin(&interrupt), &error);
    SEXP result = answer(holder, text, status, &error);
    UNPROTECT(2);
    return result;
}

SEXP glue_audit(SEXP names, SEXP values) { return take_long(tacit_audit_document, names, values); }

SEXP glue_plan(SEXP names, SEXP values) { return take_long(tacit_plan_document, names, values); }
