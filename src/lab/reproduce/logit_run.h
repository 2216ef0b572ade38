/* One fit of newton, privlogit-hessian or privlogit-local by simulated nodes and servers, with its path and
 * times; and the same optimiser in the clear beside it. */
#pragma once

#include "method/methods.h"
#include "method/secure/logit_reference.h"
#include "session/center/center_servers.h"

typedef struct tacit_logit_fit {
    size_t width, iterations;
    double *path;   /* beta_1, beta_2, ...: iterations vectors */
    double seconds; /* of all */
    tacit_center_report report;
} tacit_logit_fit;

typedef struct tacit_logit_run_options {
    const char *method, *engine, *stop;
    double scale, lambda;
    size_t nodes;
} tacit_logit_run_options;

/* Rows are dealt out evenly. Inference is left out. */
tacit_status tacit_logit_fit_run(tacit_logit_fit *out, const tacit_dataset *data,
                                 const tacit_logit_run_options *options, uint64_t seed, tacit_pool *pool,
                                 tacit_error *error);
void tacit_logit_fit_clear(tacit_logit_fit *fit);

/* The largest |beta_k - plain_k| of any coordinate and iteration that both have. */
double tacit_logit_fit_difference(const tacit_logit_fit *fit, const tacit_logit_reference *plain);
