/*
 * A Newton step for softmax in the span of the rows: conjugate gradients on
 *   J (G B) + lambda B = -rho
 * in the inner product <B, G B'>, in which the operator is symmetric; J is the losses' second derivative. G p
 * is updated along with p, so an iteration costs one product with G.
 */
#include <math.h>
#include <string.h>

#include "num/glm/glm_span_parts.h"

bool glm_span_step_softmax(glm_span *span, double tolerance) {
    size_t n = span->rows * span->outputs, most = 2 * n + 20 < 600 ? 2 * n + 20 : 600;
    double *b = span->delta, *gram_b = span->gram_delta;
    double *r = span->extra[0], *p = span->extra[1], *gram_p = span->extra[2], *z = span->rho;
    /* rho and gram_rho are not needed again: rho becomes room for G r, gram_rho for H p */
    double *hp = span->gram_rho;
    for (size_t i = 0; i < n; i++) {
        p[i] = r[i] = -span->rho[i];
        gram_p[i] = -span->gram_rho[i];
        b[i] = gram_b[i] = 0;
    }
    double first = glm_dot(r, gram_p, n), rz = first;
    if (!(first > 0)) return false;
    for (size_t step = 0; step < most; step++) {
        memcpy(hp, gram_p, n * sizeof *hp);
        glm_loss_second(&span->work, 0, span->rows, span->curvature, hp);
        for (size_t i = 0; i < n; i++) hp[i] += span->lambda * p[i];
        double curvature = glm_dot(gram_p, hp, n);
        if (!(curvature > 0)) break;
        double alpha = rz / curvature;
        for (size_t i = 0; i < n; i++) {
            b[i] += alpha * p[i];
            gram_b[i] += alpha * gram_p[i];
            r[i] -= alpha * hp[i];
        }
        glm_span_gram_times(span, r, z);
        double next = glm_dot(r, z, n);
        if (!(next > tolerance * tolerance * first)) break;
        double beta = next / rz;
        rz = next;
        for (size_t i = 0; i < n; i++) {
            p[i] = r[i] + beta * p[i];
            gram_p[i] = z[i] + beta * gram_p[i];
        }
    }
    return true;
}
