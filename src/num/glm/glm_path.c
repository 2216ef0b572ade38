/*
 * The last resort. Where lambda is tiny and rows are few, most losses are straight lines around the current
 * weights, Newton's directions run along flat valleys, and each step ends at the next bend: millions of steps
 * from the minimiser. The minimiser for a larger lambda is found in a few steps, and tells which losses bend
 * where; so solve for a lambda at which everything is well conditioned, and follow the minimiser as lambda
 * falls.
 *
 * From lambda to lambda' the pull lambda (w - prior) of the minimiser changes little, being minus the losses'
 * slopes and the linear term: the next start is where the pull is the same.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/glm/glm_parts.h"

static const double FALL = 4;           /* of lambda, from one stage to the next */
static const double STAGE_EXACT = 1e-6; /* gradient of a stage, relative to the rows, */
static const double STAGE_PULL = 1e-2;  /* but no more than this of the regulariser's at weights of norm 1 */

typedef struct path {
    const tacit_glm_problem *problem;
    size_t size;
    double *lambda, *weights; /* of the stage */
    int iterations;
    bool arrived; /* at the problem's own lambda */
} path;

static double lambda_of(const tacit_glm_problem *problem, size_t j) {
    return problem->lambda_each != NULL ? problem->lambda_each[j] : problem->lambda;
}

/* Lower every lambda to at least `least`, and move to the weights of the same pull. True when all are the
 * problem's own. */
static bool lower(path *self, double least) {
    bool own = true;
    for (size_t j = 0; j < self->size; j++) {
        double prior = self->problem->prior != NULL ? self->problem->prior[j] : 0;
        double lambda = fmax(lambda_of(self->problem, j), least), before = self->lambda[j];
        if (before > 0) self->weights[j] = prior + before / lambda * (self->weights[j] - prior);
        if (!isfinite(self->weights[j])) self->weights[j] = prior;
        self->lambda[j] = lambda;
        own = own && lambda == lambda_of(self->problem, j);
    }
    return own;
}

static tacit_status follow(path *self, const tacit_glm_settings *settings, double squares, glm_found *found,
                           tacit_error *error) {
    double least = squares > 0 ? squares : 1;
    for (bool own = false; !own; least /= FALL) {
        own = lower(self, least);
        tacit_glm_problem stage = *self->problem;
        tacit_glm_settings how = *settings;
        tacit_error unread = TACIT_ERROR_INIT;
        if (!own) stage.lambda_each = self->lambda;
        double enough = fmin(STAGE_EXACT * sqrt(squares), STAGE_PULL * least);
        if (!own) how.gradient_tolerance = fmax(settings->gradient_tolerance, enough);
        how.max_iterations = settings->max_iterations - self->iterations;
        if (how.max_iterations <= 0) break;
        tacit_status status = glm_solve_once(&stage, &how, self->weights, found, &unread);
        self->iterations += found->fit.iterations;
        found->fit.iterations = self->iterations;
        self->arrived = own;
        if (own && status == TACIT_OK) return TACIT_OK;
        if (status != TACIT_OK && status != TACIT_NOT_CONVERGED)
            return tacit_fail(error, status, "%s", unread.text);
    }
    return TACIT_NOT_CONVERGED;
}

tacit_status glm_solve_path(const tacit_glm_problem *problem, const tacit_glm_settings *settings,
                            double *weights, glm_found *found, tacit_error *error) {
    size_t size = tacit_glm_size(problem);
    path self = { problem, size, TACIT_NEW(double, size), TACIT_NEW(double, size), found->fit.iterations,
                  false };
    glm_found reached = *found;
    tacit_status status;
    if (self.lambda == NULL || self.weights == NULL) {
        status = tacit_fail_memory(error);
        goto cleanup;
    }
    status = follow(&self, settings, found->squares, &reached, error);
    bool better = self.arrived && reached.fit.gradient_bound < found->fit.gradient_bound;
    if (status == TACIT_OK || (status == TACIT_NOT_CONVERGED && better)) {
        memcpy(weights, self.weights, size * sizeof *weights);
        *found = reached;
    }
cleanup:
    free(self.lambda);
    free(self.weights);
    return status;
}
