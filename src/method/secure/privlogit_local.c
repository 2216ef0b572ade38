/*
 * privlogit-local: as privlogit-hessian, but the inverse of the bound is encrypted once and sent to the
 * nodes, who multiply it with their own gradients (Wang 2018, Algorithm 8). Between nodes i and two center
 * servers:
 *
 *   SetupOnce  nodes    H~_i = -X_i^T X_i/4, encrypted, to server A
 *              servers  -H~ = L D L^T;  H~^-1 in the circuit;  Enc(H~^-1) to all nodes      lines 1
 *   while not converged
 *     nodes    g_i(beta_k), l_i(beta_k)                                                     lines 4-5
 *              Enc(H~^-1 g_i) = Enc(H~^-1) (x) g_i, a power product; Enc(l_i); to server A  lines 6-7
 *     servers  Enc(H~^-1 g) = (+)_i Enc(H~^-1 g_i) (-) Enc(lambda H~^-1 beta_k)             line 9
 *              converged?  one bit is opened                                                lines 11-12
 *              beta_(k+1) = beta_k - H~^-1 g, opened                                        line 10
 *
 * Line 9 is printed without its lambda. Here each node takes its part of that term, n_i/n, into its gradient.
 * Signs: the code minimises -l, so that its matrix is -H~.
 *
 * With dp each server adds noise to H~ and to every step, H~ with its noise is opened to the servers and
 * inverted in the clear, and the number of iterations is public (logit_noisy_step.c has the proof, and why
 * noise on the result alone would not do).
 *
 * Of a number (linear regression) -X^T X - lambda I is the Hessian itself. Of a count there is no such H~:
 * exp has no bound.
 *
 * Deviations from the box: numbers beside classes; lambda in line 9; H~^-1 has fewer digits under
 * encryption than the rest; shares as an engine beside garbled circuits for the inverse; the test of
 * convergence opens one bit; dp, which the thesis leaves out.
 */
#include "method/secure/logit.h"

#include <stdlib.h>

#include "base/memory.h"

static const tacit_logit_settings defaults = { TACIT_LOGIT_DEFAULTS, .local = true };

static const tacit_parameter parameters[] = {
    TACIT_LOGIT_PARAMETERS,
    TACIT_LOGIT_LATER_PARAMETERS,
    TACIT_LOGIT_LATER_DP_PARAMETERS,
    TACIT_SETTINGS_END,
};

/* Algorithm 7, and then the inverse under encryption, as it goes to the nodes. */
static tacit_status setup_once(tacit_logit *self, tacit_buffer *sealed, tacit_error *error) {
    tacit_factored *factor = NULL;
    tacit_share *inverse = TACIT_NEW(tacit_share, self->triangle);
    tacit_status status = inverse != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    bool known = false;
    TACIT_CHECK(tacit_logit_gather(self, TACIT_WEIGH_ONE, error));
    if (tacit_logit_private(self->plan) > 0) {
        TACIT_CHECK(tacit_logit_noisy_inverse(self, sealed, error));
        goto cleanup;
    }
    TACIT_CHECK(tacit_logit_inverse_known(self, &known, sealed, error));
    if (known) goto cleanup;
    TACIT_CHECK(tacit_logit_factor(self, &factor, error));
    TACIT_CHECK(tacit_logit_invert(self, factor, inverse, error));
    TACIT_CHECK(tacit_logit_encrypt_inverse(self, inverse, sealed, error));
cleanup:
    tacit_factored_free(factor);
    free(inverse);
    return status;
}

/* Algorithm 8, run by both center servers at the same time. */
static tacit_status compute(tacit_center_server *center, tacit_outcome *out, tacit_error *error) {
    tacit_logit self;
    tacit_buffer sealed = TACIT_BUFFER_INIT;
    bool stop = false, known = false;
    tacit_status status;
    TACIT_CHECK(tacit_logit_begin(&self, center, error));
    TACIT_CHECK(setup_once(&self, &sealed, error));
    while (!tacit_logit_spent(&self)) {
        TACIT_CHECK(tacit_logit_gather_step(&self, &sealed, self.step, error));
        TACIT_CHECK(tacit_logit_stops(&self, &stop, error));
        if (stop) break;
        TACIT_CHECK(tacit_logit_known(&self, &known, error));
        if (!known) TACIT_CHECK(tacit_logit_open(&self, self.step, error));
    }
    TACIT_CHECK(tacit_logit_finish(&self, out, error));
cleanup:
    tacit_buffer_clear(&sealed);
    tacit_logit_end(&self);
    return status;
}

static const tacit_handler_entry handlers[] = {
    TACIT_LOGIT_HANDLERS,
    { .question = "step", .answer = tacit_logit_answer_step, .answer_numbers = tacit_logit_answer_numbers },
    { .question = NULL },
};

const tacit_method tacit_method_privlogit_local = {
    .name = "privlogit-local",
    .title = "as privlogit-hessian, with the encrypted inverse multiplied at the nodes",
    .reference = "Wang 2018, Algorithm 8; Boehning & Lindsay 1988",
    .version = 1,
    .units = "record",
    .spreads = true,
    .noise_free = true,
    .lambda_may_vanish = true,
    .takes_numbers = true,
    .no_counts = TACIT_LOGIT_NO_COUNTS,
    .terms = TACIT_TERMS_CONSTANT,
    TACIT_SETTINGS_OF(parameters, defaults),
    .leaves =
        "its number of rows; in each iteration [dp=0: its log-likelihood]"
        "[dp=0,label=number:  (squared residuals)][dp=0,label=any|number: , what deviances need of its "
        "labels,][dp=0:  and ]the encrypted inverse times "
        "its gradient, encrypted under center server B's key and sent to server A; once "
        "[label=class|any: X^T X/4][label=any:  (of a number X^T X)][label=number: X^T X] of its "
        "rows[dp=0,inference=yes: , and their gradient and Hessian][dp=0,inference=no,stop=converged: , and "
        "their gradient and Hessian], in the same way",
    .seen_by =
        "neither server sees a party's sums or their total: A has ciphertexts and shares, B masked values "
        "and shares. Both servers and all parties see the [dp=0: exact][dp!=0: noisy] coefficients beta_k of "
        "every iteration, each party's number of rows, the numbers of columns and of iterations[dp!=0: ; the "
        "servers also see ][dp!=0,label=class|any: X^T X/4][dp!=0,label=number: X^T X][dp!=0:  of all rows, "
        "with noise]" TACIT_LOGIT_OPENED(
            "") "[dp=0: ; and one bit "
                "each time the servers ask whether the equations have a solution, or whether to stop]",
    .guarantee = TACIT_LOGIT_GUARANTEE,
    .assumption = TACIT_LOGIT_ASSUMPTION,
    .theorem = "as privlogit-hessian: each step raises the likelihood, and the sequence converges linearly "
               "from any start. A node re-randomises its product, so that it says nothing of the gradient to "
               "whoever knows Enc(H~^-1). dp: discrete Gaussians compose under zCDP, one on X^T X/4 and one "
               "on the gradient inside each step (method/secure/logit_noisy_step.c)",
    .claim = "the same estimate; line 9 of Algorithm 8 lacks a lambda (the term is lambda H~^-1 beta), which "
             "is put right here",
    .caveats =
        "[dp=0: the coefficients of each iteration are exact and "
        "public: with few rows, or two runs "
        "over rows that differ in one, they can reveal a row (use dp, or a private method). ]A server "
        "that departs from the protocol can spoil the result or learn more. The same parties must "
        "answer in every round.[label=any:  Counts are refused: " TACIT_LOGIT_NO_COUNTS
        " (newton takes them).] Each party gets Enc(H~^-1), d^2/16 ciphertexts of 512 bytes, with "
        "every question. With many rows and a small lambda few digits are left for the encrypted "
        "inverse, and the run is refused before it starts[dp!=0: , when rows were counted and the price "
        "was charged]",
    .check = tacit_logit_check,
    .infers = tacit_logit_infers,
    .price = tacit_logit_price,
    .release_kind = tacit_logit_kind,
    .coordinate = TACIT_CENTER_HALF(tacit_center_coordinate),
    .compute = TACIT_CENTER_HALF(compute),
    .handlers = handlers,
};
