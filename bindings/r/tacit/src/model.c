/* Models: fitted, simulated, read, written, used. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "glue.h"

/* A library that was built without these still serves for all else. */
#pragma weak tacit_model_to_onnx
#pragma weak tacit_model_to_pmml

static tacit_status lacking(tacit_error *error, const char *what) {
    error->status = TACIT_USAGE;
    snprintf(error->text, sizeof error->text, "this libtacit cannot write %s; install a newer one", what);
    return TACIT_USAGE;
}

static void free_model(SEXP pointer) {
    tacit_model_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

SEXP glue_model_pointer(void) { return glue_pointer("model", R_NilValue, free_model); }

SEXP glue_frame_fit(SEXP frame, SEXP names, SEXP values, SEXP ledger) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    glue_interrupt interrupt;
    SEXP options = PROTECT(glue_options(names, values, &status, &error));
    SEXP pointer = PROTECT(glue_model_pointer());
    tacit_model *model = NULL;
    if (status == TACIT_OK)
        status =
            tacit_frame_fit(&model, glue_address(frame, "frame"), R_ExternalPtrAddr(options),
                            glue_address_or_null(ledger, "ledger"), glue_interrupt_begin(&interrupt), &error);
    if (status == TACIT_OK) R_SetExternalPtrAddr(pointer, model);
    UNPROTECT(2);
    return status == TACIT_OK ? pointer : glue_failure(&error);
}

/* `frames`: train, test, auxiliary, target, all but the first may be NULL. Returns the document and the model, or NULL. */
SEXP glue_frame_simulate(SEXP frames, SEXP names, SEXP values) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    glue_interrupt interrupt;
    SEXP options = PROTECT(glue_options(names, values, &status, &error));
    SEXP holder = PROTECT(glue_string_holder()), pointer = PROTECT(glue_model_pointer());
    SEXP result = PROTECT(Rf_allocVector(VECSXP, 2));
    char *json = NULL;
    tacit_model *model = NULL;
    if (status == TACIT_OK)
        status = tacit_frame_simulate(&json, &model, glue_address(VECTOR_ELT(frames, 0), "frame"),
                                      glue_address_or_null(VECTOR_ELT(frames, 1), "frame"),
                                      glue_address_or_null(VECTOR_ELT(frames, 2), "frame"),
                                      glue_address_or_null(VECTOR_ELT(frames, 3), "frame"),
                                      R_ExternalPtrAddr(options), glue_interrupt_begin(&interrupt), &error);
    if (status == TACIT_OK) {
        R_SetExternalPtrAddr(holder, json);
        R_SetExternalPtrAddr(pointer, model);
        SET_VECTOR_ELT(result, 0, glue_text(holder));
        if (model != NULL) SET_VECTOR_ELT(result, 1, pointer);
    }
    UNPROTECT(4);
    return status == TACIT_OK ? result : glue_failure(&error);
}

/* Scores, outputs x rows (the library's order, a row's scores next to each other), and where asked classes from 0. */
SEXP glue_model_predict(SEXP model, SEXP frame, SEXP threads, SEXP classes) {
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_model *self = glue_address(model, "model");
    const tacit_frame *rows = glue_address(frame, "frame");
    int outputs = (int)tacit_model_outputs(self), count = (int)tacit_frame_rows(rows);
    SEXP result = PROTECT(Rf_allocVector(VECSXP, 2));
    SET_VECTOR_ELT(result, 0, Rf_allocMatrix(REALSXP, outputs, count));
    int32_t *labels = NULL;
    if (Rf_asLogical(classes) == TRUE) {
        SET_VECTOR_ELT(result, 1, Rf_allocVector(INTSXP, count));
        labels = INTEGER(VECTOR_ELT(result, 1));
    }
    tacit_status status = tacit_model_predict(
        REAL(VECTOR_ELT(result, 0)), (size_t)XLENGTH(VECTOR_ELT(result, 0)), labels,
        labels != NULL ? (size_t)count : 0, self, rows, (unsigned)Rf_asInteger(threads), &error);
    UNPROTECT(1);
    return status == TACIT_OK ? result : glue_failure(&error);
}

/* Columns then the constant, a column of the result for each output. Two classes have one, whatever the outputs are: the rest
 * stays NA. */
SEXP glue_model_coefficients(SEXP model) {
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_model *self = glue_address(model, "model");
    int outputs = (int)tacit_model_outputs(self), length = (int)tacit_model_columns(self) + 1;
    SEXP result = PROTECT(Rf_allocMatrix(REALSXP, length, outputs));
    for (R_xlen_t i = 0; i < XLENGTH(result); i++) REAL(result)[i] = NA_REAL;
    tacit_status status = tacit_model_coefficients(REAL(result), (size_t)XLENGTH(result), self, &error);
    UNPROTECT(1);
    return status == TACIT_OK ? result : glue_failure(&error);
}

typedef tacit_status model_text(char **out, const tacit_model *model, tacit_error *error);

static SEXP text_of(SEXP model, model_text *make) {
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_model *self = glue_address(model, "model");
    SEXP holder = PROTECT(glue_string_holder());
    char *text = NULL;
    tacit_status status = make(&text, self, &error);
    if (status == TACIT_OK) R_SetExternalPtrAddr(holder, text);
    SEXP result = status == TACIT_OK ? glue_text(holder) : glue_failure(&error);
    UNPROTECT(1);
    return result;
}

SEXP glue_model_document(SEXP model) { return text_of(model, tacit_model_document); }

SEXP glue_model_to_json(SEXP model) { return text_of(model, tacit_model_to_json); }

static tacit_status make_pmml(char **out, const tacit_model *model, tacit_error *error) {
    return tacit_model_to_pmml != NULL ? tacit_model_to_pmml(out, model, error) : lacking(error, "PMML");
}

SEXP glue_model_to_pmml(SEXP model) { return text_of(model, make_pmml); }

SEXP glue_model_to_onnx(SEXP model) {
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_model *self = glue_address(model, "model");
    SEXP holder = PROTECT(glue_bytes_holder());
    void *bytes = NULL;
    size_t length = 0;
    tacit_status status = tacit_model_to_onnx != NULL ? tacit_model_to_onnx(&bytes, &length, self, &error)
                                                      : lacking(&error, "ONNX");
    if (status == TACIT_OK) R_SetExternalPtrAddr(holder, bytes);
    SEXP result;
    if (status == TACIT_OK) {
        result = Rf_allocVector(RAWSXP, (R_xlen_t)length);
        memcpy(RAW(result), bytes, length);
    } else {
        result = glue_failure(&error);
    }
    UNPROTECT(1);
    return result;
}

SEXP glue_model_from_json(SEXP text) {
    tacit_error error = TACIT_ERROR_INIT;
    const char *json = Rf_translateCharUTF8(STRING_ELT(text, 0));
    SEXP pointer = PROTECT(glue_model_pointer());
    tacit_model *model = NULL;
    tacit_status status = tacit_model_from_json(&model, json, strlen(json), &error);
    if (status == TACIT_OK) R_SetExternalPtrAddr(pointer, model);
    UNPROTECT(1);
    return status == TACIT_OK ? pointer : glue_failure(&error);
}

SEXP glue_model_load(SEXP path) {
    tacit_error error = TACIT_ERROR_INIT;
    SEXP pointer = PROTECT(glue_model_pointer());
    tacit_model *model = NULL;
    tacit_status status = tacit_model_load(&model, Rf_translateChar(STRING_ELT(path, 0)), &error);
    if (status == TACIT_OK) R_SetExternalPtrAddr(pointer, model);
    UNPROTECT(1);
    return status == TACIT_OK ? pointer : glue_failure(&error);
}

SEXP glue_model_save(SEXP model, SEXP path) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status =
        tacit_model_save(glue_address(model, "model"), Rf_translateChar(STRING_ELT(path, 0)), &error);
    return status == TACIT_OK ? R_NilValue : glue_failure(&error);
}
