#include "num/glm/lbfgs.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

tacit_status tacit_lbfgs_create(tacit_lbfgs *out, size_t width, tacit_error *error) {
    *out = (tacit_lbfgs){ .width = width };
    out->step = TACIT_NEW(double, TACIT_LBFGS_PAIRS *width);
    out->change = TACIT_NEW(double, TACIT_LBFGS_PAIRS *width);
    if (out->step != NULL && out->change != NULL) return TACIT_OK;
    tacit_lbfgs_clear(out);
    return tacit_fail_memory(error);
}

void tacit_lbfgs_clear(tacit_lbfgs *memory) {
    free(memory->step);
    free(memory->change);
    memory->step = memory->change = NULL;
}

static double dot(const double *a, const double *b, size_t count) {
    return cblas_ddot((int)count, a, 1, b, 1);
}

void tacit_lbfgs_keep(tacit_lbfgs *memory, const double *step, const double *change) {
    size_t d = memory->width, bytes = d * sizeof(double);
    double curvature = dot(step, change, d);
    if (!(curvature > 1e-14 * sqrt(dot(step, step, d) * dot(change, change, d)))) return;
    if (memory->pairs == TACIT_LBFGS_PAIRS) {
        memmove(memory->step, memory->step + d, (TACIT_LBFGS_PAIRS - 1) * bytes);
        memmove(memory->change, memory->change + d, (TACIT_LBFGS_PAIRS - 1) * bytes);
        memory->pairs--;
    }
    memcpy(memory->step + memory->pairs * d, step, bytes);
    memcpy(memory->change + memory->pairs * d, change, bytes);
    memory->pairs++;
}

void tacit_lbfgs_direction(const tacit_lbfgs *memory, const double *gradient, double *out) {
    size_t d = memory->width;
    double share[TACIT_LBFGS_PAIRS];
    for (size_t j = 0; j < d; j++) out[j] = -gradient[j];
    for (size_t k = memory->pairs; k-- > 0;) {
        const double *s = memory->step + k * d, *y = memory->change + k * d;
        share[k] = dot(s, out, d) / dot(s, y, d);
        cblas_daxpy((int)d, -share[k], y, 1, out, 1);
    }
    if (memory->pairs > 0) {
        const double *s = memory->step + (memory->pairs - 1) * d,
                     *y = memory->change + (memory->pairs - 1) * d;
        cblas_dscal((int)d, dot(s, y, d) / dot(y, y, d), out, 1);
    }
    for (size_t k = 0; k < memory->pairs; k++) {
        const double *s = memory->step + k * d, *y = memory->change + k * d;
        cblas_daxpy((int)d, share[k] - dot(y, out, d) / dot(s, y, d), s, 1, out, 1);
    }
}
