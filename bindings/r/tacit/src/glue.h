/*
 * Between R and libtacit. Rules of this folder:
 *
 *  - A call that fails returns a list of class tacit_failure (status, text), which `checked` in conditions.R raises. So no
 *    error jumps over memory that the library handed out.
 *  - R jumps where it runs out of memory. Whatever the library hands out is therefore put into an external pointer that was
 *    made, with its finalizer, before the call.
 *  - What a frame borrows is kept by the frame's pointer for as long as it lives.
 */
#ifndef TACIT_R_GLUE_H
#define TACIT_R_GLUE_H

#include <stdbool.h>

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

#include "tacit/tacit.h"

/* Pointers; `what` names the type for people ("frame") and in its tag. */
SEXP glue_string_holder(void);
SEXP glue_bytes_holder(void);
SEXP glue_options(SEXP names, SEXP values, tacit_status *status, tacit_error *error);
SEXP glue_pointer(const char *what, SEXP kept, R_CFinalizer_t finalizer);
void *glue_address(SEXP pointer, const char *what);
void *glue_address_or_null(SEXP pointer, const char *what);

SEXP glue_failure(const tacit_error *error);

/* The text in `holder` as an R string; the library's copy is freed. */
SEXP glue_text(SEXP holder);

/* Ctrl-C in R ends the call with TACIT_CANCELLED. The library may ask on any thread; only R's own thread may look. */
typedef struct glue_interrupt {
    tacit_progress progress;
    void *state[4]; /* of interrupt.c */
} glue_interrupt;

const tacit_progress *glue_interrupt_begin(glue_interrupt *interrupt);

/* A model in a pointer that has no model yet. */
SEXP glue_model_pointer(void);

/* What R calls; init.c lists them. */
SEXP glue_version(void);
SEXP glue_frame_dense(SEXP values, SEXP skipped);
SEXP glue_frame_sparse(SEXP value, SEXP column, SEXP start, SEXP columns);
SEXP glue_sparse_by_rows(SEXP value, SEXP row, SEXP start, SEXP rows);
SEXP glue_frame_classes(SEXP frame, SEXP label, SEXP names);
SEXP glue_frame_response(SEXP frame, SEXP response, SEXP bounds, SEXP counts);
SEXP glue_frame_parties(SEXP frame, SEXP party, SEXP parties);
SEXP glue_frame_names(SEXP frame, SEXP names);
SEXP glue_frame_bounds(SEXP frame, SEXP low, SEXP high, SEXP intercept);
SEXP glue_frame_norm(SEXP frame, SEXP norm, SEXP intercept);
SEXP glue_frame_bounds_from_data(SEXP frame, SEXP intercept);
SEXP glue_frame_mark(SEXP frame, SEXP label, SEXP columns);
SEXP glue_frame_fit(SEXP frame, SEXP names, SEXP values, SEXP ledger);
SEXP glue_frame_simulate(SEXP frames, SEXP names, SEXP values);
SEXP glue_model_predict(SEXP model, SEXP frame, SEXP threads, SEXP classes);
SEXP glue_model_coefficients(SEXP model);
SEXP glue_model_document(SEXP model);
SEXP glue_model_to_json(SEXP model);
SEXP glue_model_from_json(SEXP text);
SEXP glue_model_load(SEXP path);
SEXP glue_model_save(SEXP model, SEXP path);
SEXP glue_model_to_onnx(SEXP model);
SEXP glue_model_to_pmml(SEXP model);
SEXP glue_is_null(SEXP pointer);
SEXP glue_methods(void);
SEXP glue_explain(SEXP names, SEXP values);
SEXP glue_audit(SEXP names, SEXP values);
SEXP glue_ledger_at(SEXP path, SEXP source);
SEXP glue_ledger_limit(SEXP ledger, SEXP whole_party, SEXP epsilon, SEXP delta);
SEXP glue_ledger_document(SEXP ledger);
SEXP glue_ledger_verdict(SEXP ledger);

#endif
