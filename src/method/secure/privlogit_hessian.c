/*
 * privlogit-hessian: maximum likelihood with the constant bound H~ = -X^T X/4 - lambda I of the Hessian (Wang
 * 2018, equations 5.3 to 5.6). Algorithms 6 and 7, between nodes i and two center servers:
 *
 *   SetupOnce  nodes    H~_i = -X_i^T X_i/4, encrypted, to server A                    Alg. 7, lines 1-4
 *              servers  H~ = sum H~_i - lambda I;  -H~ = L D L^T                       lines 5-6
 *   while not converged
 *     nodes    g_i(beta_k), l_i(beta_k), encrypted, to server A                        Alg. 6, lines 3-7
 *     servers  g = sum g_i - lambda beta_k                                             line 8
 *              l = sum l_i - lambda |beta_k|^2/2;  converged?  one bit is opened       lines 11-12
 *              back-substitution: H~^-1 g                                              line 9
 *              beta_(k+1) = beta_k - H~^-1 g, opened                                   line 10
 *
 * The factor is made once and stays between the servers as shares or wires. Signs: the code minimises -l, so
 * that its matrix is -H~.
 *
 * Of a number (linear regression) -X^T X - lambda I is the Hessian itself. Of a count there is no such H~:
 * exp has no bound.
 *
 * Deviations from the boxes: numbers beside classes; a factor L D L^T instead of the inverse; shares as an
 * engine beside garbled circuits; the test of convergence opens one bit; stop=converged goes on until the
 * maximum is within 1e-4; standard errors afterwards, which the boxes leave out.
 */
#include "method/secure/logit.h"

static const tacit_logit_settings defaults = { TACIT_LOGIT_DEFAULTS };

static const tacit_parameter parameters[] = {
    TACIT_LOGIT_PARAMETERS,
    TACIT_LOGIT_DP_PARAMETERS,
    TACIT_LOGIT_LATER_PARAMETERS,
    TACIT_SETTINGS_END,
};

/* Algorithm 7: the factor of the bound, made once. */
static tacit_status setup_once(tacit_logit *self, tacit_factored **factor, tacit_error *error) {
    TACIT_TRY(tacit_logit_gather(self, TACIT_WEIGH_ONE, error));
    TACIT_TRY(tacit_logit_add_noise(self, TACIT_WEIGH_ONE, error));
    return tacit_logit_factor(self, factor, error);
}

/* Algorithm 6, run by both center servers at the same time. */
static tacit_status compute(tacit_center_server *center, tacit_outcome *out, tacit_error *error) {
    tacit_logit self;
    tacit_factored *factor = NULL;
    /* with this factor: shares substitute first and then invert, so two are checked; without a ridge all */
    size_t solved = 0;
    bool stop = false, known = false;
    tacit_status status;
    TACIT_CHECK(tacit_logit_begin(&self, center, error));
    TACIT_CHECK(setup_once(&self, &factor, error));
    while (!tacit_logit_spent(&self)) {
        TACIT_CHECK(tacit_logit_gather(&self, TACIT_WEIGH_NONE, error));
        TACIT_CHECK(tacit_logit_stops(&self, &stop, error));
        if (stop) break;
        TACIT_CHECK(tacit_logit_known(&self, &known, error));
        if (known) continue;
        TACIT_CHECK(tacit_logit_add_noise(&self, TACIT_WEIGH_NONE, error));
        TACIT_CHECK(tacit_logit_solve(&self, factor, solved++ < 2 || self.ridge == 0, self.step, error));
        TACIT_CHECK(tacit_logit_open(&self, self.step, error));
    }
    TACIT_CHECK(tacit_logit_finish(&self, out, error));
cleanup:
    tacit_factored_free(factor);
    tacit_logit_end(&self);
    return status;
}

static const tacit_handler_entry handlers[] = {
    TACIT_LOGIT_HANDLERS,
    { .question = NULL },
};

const tacit_method tacit_method_privlogit_hessian = {
    .name = "privlogit-hessian",
    .title = "logistic or linear regression with a fixed bound of the Hessian between two center servers",
    .reference = "Wang 2018, Algorithms 6 and 7; Boehning & Lindsay 1988",
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
        "its number of rows; in each iteration the sums of log-likelihood[label=number:  (squared "
        "residuals)] and gradient over its rows[label=any|number: , and what deviances need of its labels], "
        "encrypted under center server B's key and sent to server A; once [label=class|any: X^T X/4]"
        "[label=any:  (of a number X^T X)][label=number: X^T X] of its rows[inference=yes: "
        ", and their Hessian][inference=no,stop=converged: , and their Hessian], in the same way",
    .seen_by = TACIT_LOGIT_SEEN_BY(""),
    .guarantee = TACIT_LOGIT_GUARANTEE,
    .assumption = TACIT_LOGIT_ASSUMPTION,
    .theorem =
        "H~ <= H(beta) everywhere, so each step raises the likelihood and the sequence converges linearly "
        "from any start (Boehning and Lindsay 1988; Wang 2018, Proposition 1). Masked values: statistical "
        "distance 2^-40 (crypto/linear/convert.h); Yao's protocol: semi-honest simulation "
        "(crypto/garble/garble.h); dp: discrete Gaussians compose under zCDP (method/secure/logit_noise.c)",
    .claim = "the same estimate; Table 5.1 prints 13 to 206 iterations. The thesis has classes only; of a "
             "number, ours, X^T X is the Hessian itself, and one step and one that confirms it are enough",
    .caveats =
        "[dp=0: the coefficients of each iteration "
        "are exact and public: with few rows, or two runs "
        "over rows that differ in one, they can reveal a row (use dp, or a private method). "
        "][stop=likelihood: The stopping rule leaves 1e-3 to 1e-2 to the maximum: stop=converged goes "
        "on to 1e-4. ]A server that departs from the protocol can spoil the result or learn more. The "
        "same parties must answer in every round.[label=any:  Counts are refused: " TACIT_LOGIT_NO_COUNTS
        " (newton takes them).][dp=0,inference=yes:  With lambda above 0, standard "
        "errors are those of the penalised likelihood]",
    .check = tacit_logit_check,
    .infers = tacit_logit_infers,
    .price = tacit_logit_price,
    .release_kind = tacit_logit_kind,
    .coordinate = TACIT_CENTER_HALF(tacit_center_coordinate),
    .compute = TACIT_CENTER_HALF(compute),
    .handlers = handlers,
};
