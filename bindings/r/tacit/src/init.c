/* The table of what R may call. */
#include <R_ext/Rdynload.h>

#include "glue.h"

#define ROUTINE(name, count, arguments) { "glue_" #name, (DL_FUNC)&glue_##name, count },

static const R_CallMethodDef routines[] = { GLUE_ROUTINES(ROUTINE){ NULL, NULL, 0 } };

void R_init_tacit(DllInfo *info) {
    R_registerRoutines(info, NULL, routines, NULL, NULL);
    R_useDynamicSymbols(info, FALSE);
    R_forceSymbols(info, TRUE);
}
