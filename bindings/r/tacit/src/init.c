/* The table of what R may call. */
#include <R_ext/Rdynload.h>

#include "glue.h"

#define ROUTINE(name, arguments)                                                                             \
    { "glue_" #name, (DL_FUNC)&glue_##name, arguments }

static const R_CallMethodDef routines[] = {
    ROUTINE(version, 0),
    ROUTINE(is_null, 1),
    ROUTINE(frame_dense, 2),
    ROUTINE(frame_sparse, 4),
    ROUTINE(sparse_by_rows, 4),
    ROUTINE(frame_classes, 3),
    ROUTINE(frame_response, 4),
    ROUTINE(frame_parties, 3),
    ROUTINE(frame_names, 2),
    ROUTINE(frame_bounds, 4),
    ROUTINE(frame_norm, 3),
    ROUTINE(frame_bounds_from_data, 2),
    ROUTINE(frame_mark, 3),
    ROUTINE(frame_fit, 4),
    ROUTINE(frame_simulate, 3),
    ROUTINE(model_predict, 4),
    ROUTINE(model_coefficients, 1),
    ROUTINE(model_document, 1),
    ROUTINE(model_to_json, 1),
    ROUTINE(model_from_json, 1),
    ROUTINE(model_load, 1),
    ROUTINE(model_save, 2),
    ROUTINE(model_to_onnx, 1),
    ROUTINE(model_to_pmml, 1),
    ROUTINE(methods, 0),
    ROUTINE(explain, 2),
    ROUTINE(audit, 2),
    ROUTINE(ledger_at, 2),
    ROUTINE(ledger_limit, 4),
    ROUTINE(ledger_document, 1),
    ROUTINE(ledger_verdict, 1),
    { NULL, NULL, 0 },
};

void R_init_tacit(DllInfo *info) {
    R_registerRoutines(info, NULL, routines, NULL, NULL);
    R_useDynamicSymbols(info, FALSE);
    R_forceSymbols(info, TRUE);
}
