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

/* What R may call: a line makes the declaration and the entry in R's table (init.c). */
/* clang-format off */
#define GLUE_ROUTINES(X)                                                          \
    X(version, 0, (void))                                                         \
    X(is_null, 1, (SEXP pointer))                                                 \
    X(text_options, 1, (SEXP text))                                               \
    X(frame_dense, 2, (SEXP values, SEXP skipped))                                \
    X(frame_sparse, 4, (SEXP value, SEXP column, SEXP start, SEXP columns))       \
    X(frame_load, 3, (SEXP path, SEXP names, SEXP values))                        \
    X(sparse_by_rows, 4, (SEXP value, SEXP row, SEXP start, SEXP rows))           \
    X(frame_classes, 3, (SEXP frame, SEXP label, SEXP names))                     \
    X(frame_response, 4, (SEXP frame, SEXP response, SEXP bounds, SEXP counts))   \
    X(frame_times, 5, (SEXP frame, SEXP time, SEXP event, SEXP entry, SEXP bounds)) \
    X(frame_table, 5, (SEXP columns, SEXP names, SEXP kinds, SEXP levels, SEXP rows)) \
    X(frame_describe, 3, (SEXP frame, SEXP names, SEXP values))                   \
    X(frame_parties, 3, (SEXP frame, SEXP party, SEXP parties))                   \
    X(frame_names, 2, (SEXP frame, SEXP names))                                   \
    X(frame_bounds, 4, (SEXP frame, SEXP low, SEXP high, SEXP intercept))         \
    X(frame_norm, 3, (SEXP frame, SEXP norm, SEXP intercept))                     \
    X(frame_bounds_from_data, 2, (SEXP frame, SEXP intercept))                    \
    X(frame_mark, 3, (SEXP frame, SEXP label, SEXP columns))                      \
    X(frame_fit, 4, (SEXP frame, SEXP names, SEXP values, SEXP ledger))           \
    X(frame_simulate, 3, (SEXP frames, SEXP names, SEXP values))                  \
    X(model_predict, 4, (SEXP model, SEXP frame, SEXP threads, SEXP classes))     \
    X(model_coefficients, 1, (SEXP model))                                        \
    X(model_document, 1, (SEXP model))                                            \
    X(model_to_json, 1, (SEXP model))                                             \
    X(model_from_json, 1, (SEXP text))                                            \
    X(model_load, 1, (SEXP path))                                                 \
    X(model_save, 2, (SEXP model, SEXP path))                                     \
    X(model_to_onnx, 1, (SEXP model))                                             \
    X(model_to_pmml, 1, (SEXP model))                                             \
    X(coordinator_start, 3, (SEXP folder, SEXP names, SEXP values))               \
    X(coordinator_connect, 2, (SEXP where, SEXP token))                           \
    X(coordinator_stop, 1, (SEXP pointer))                                        \
    X(coordinator_address, 1, (SEXP pointer))                                     \
    X(study_ask, 6, (SEXP what, SEXP coordinator, SEXP study, SEXP definition, SEXP names, SEXP values)) \
    X(study_change, 3, (SEXP coordinator, SEXP study, SEXP verb))                 \
    X(study_fetch, 3, (SEXP coordinator, SEXP study, SEXP what))                  \
    X(study_watch, 3, (SEXP coordinator, SEXP study, SEXP known))                 \
    X(study_create, 6, (SEXP coordinator, SEXP study, SEXP formula, SEXP parties, SEXP names, SEXP values)) \
    X(study_site, 6, (SEXP coordinator, SEXP study, SEXP name, SEXP frame, SEXP names, SEXP values)) \
    X(site_preview, 3, (SEXP invitation, SEXP names, SEXP values))                \
    X(site_look, 5, (SEXP invitation, SEXP study, SEXP frame, SEXP names, SEXP values)) \
    X(site_document, 1, (SEXP site))                                              \
    X(site_accept, 1, (SEXP site))                                                \
    X(site_answer, 1, (SEXP site))                                                \
    X(site_leave, 1, (SEXP site))                                                 \
    X(site_close, 1, (SEXP site))                                                 \
    X(methods, 0, (void))                                                         \
    X(explain, 2, (SEXP names, SEXP values))                                      \
    X(audit, 2, (SEXP names, SEXP values))                                        \
    X(plan, 2, (SEXP names, SEXP values))                                         \
    X(ledger_at, 2, (SEXP path, SEXP source))                                     \
    X(ledger_limit, 4, (SEXP ledger, SEXP whole_party, SEXP epsilon, SEXP delta)) \
    X(ledger_document, 1, (SEXP ledger))                                          \
    X(ledger_verdict, 1, (SEXP ledger))
/* clang-format on */

#define GLUE_DECLARE(name, count, arguments) SEXP glue_##name arguments;
GLUE_ROUTINES(GLUE_DECLARE)
#undef GLUE_DECLARE

#endif
