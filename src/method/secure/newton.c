/*
 * newton: maximum likelihood by Newton's method, the baseline of Wang 2018, chapter 5. Between nodes i and
 * two center servers:
 *
 *   while not converged
 *     nodes    l_i(beta_k), g_i(beta_k), H_i(beta_k), encrypted, to server A
 *     servers  g = sum g_i - lambda beta_k,  H = sum H_i - lambda I        under encryption, then as shares
 *              |l_k - l_(k-1)| < 1e-6 |l_(k-1)|?                           one bit is opened
 *              H = -L D L^T, s = H^-1 g                                    on shares or in a garbled circuit
 *              beta_(k+1) = beta_k - s                                     opened
 *
 * A Hessian is gathered, factored and thrown away in each iteration; of a number (linear regression) it is
 * the same everywhere, and is gathered and factored once. Of a count (Poisson) the first step goes to where
 * R's glm begins. Signs: the code minimises -l, so that its matrix is -H.
 *
 * Deviations from the baseline: numbers and counts beside classes; the thesis gives no box for it; sums are
 * of fixed-point integers, the linear system is solved on shares or in a garbled circuit (engine), and lambda
 * may be that of averages (penalty).
 */
#include "method/secure/logit.h"

static const tacit_logit_settings defaults = { TACIT_LOGIT_DEFAULTS, .newton = true };

static const tacit_parameter parameters[] = {
    TACIT_LOGIT_PARAMETERS,
    TACIT_LOGIT_DP_PARAMETERS,
    TACIT_LOGIT_LATER_PARAMETERS,
    TACIT_SETTINGS_END,
};

/* The next beta from the sums of this one; a factor that there is, is of their matrix. */
static tacit_status step(tacit_logit *self, tacit_factored **factor, tacit_error *error) {
    bool known = false;
    TACIT_TRY(tacit_logit_known(self, &known, error));
    if (known) return TACIT_OK;
    if (*factor == NULL) {
        TACIT_TRY(tacit_logit_add_noise(self, TACIT_WEIGH_CURVATURE, error));
        TACIT_TRY(tacit_logit_factor(self, factor, error));
    }
    TACIT_TRY(tacit_logit_solve(self, *factor, true, self->step, error));
    return tacit_logit_open(self, self->step, error);
}

/* Run by both center servers at the same time. */
static tacit_status compute(tacit_center_server *center, tacit_outcome *out, tacit_error *error) {
    tacit_logit self;
    tacit_factored *factor = NULL;
    bool stop = false;
    tacit_status status;
    TACIT_CHECK(tacit_logit_begin(&self, center, error));
    const bool constant = self.family->quadratic; /* the Hessian: then private runs end after one step */
    if (self.family->begins != NULL) {
        TACIT_CHECK(tacit_logit_gather_beginning(&self, error));
        TACIT_CHECK(step(&self, &factor, error));
        factor = tacit_factored_free(factor);
    }
    while (!tacit_logit_spent(&self)) {
        const bool again = constant && self.iteration > 0;
        TACIT_CHECK(tacit_logit_gather(&self, again ? TACIT_WEIGH_NONE : TACIT_WEIGH_CURVATURE, error));
        TACIT_CHECK(tacit_logit_stops(&self, &stop, error));
        if (stop) break;
        TACIT_CHECK(step(&self, &factor, error));
        if (!constant) factor = tacit_factored_free(factor);
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

const tacit_method tacit_method_newton = {
    .name = "newton",
    .title = "logistic, linear or Poisson regression by Newton's method between two center servers, sums "
             "encrypted",
    .reference = "Wang 2018, 5.2.1 and 5.3 (the baseline of chapter 5)",
    .version = 1,
    .units = "record",
    .spreads = true,
    .noise_free = true,
    .lambda_may_vanish = true,
    .takes_numbers = true,
    .terms = TACIT_TERMS_CONSTANT,
    TACIT_SETTINGS_OF(parameters, defaults),
    .leaves = "its number of rows; in each iteration the sums of log-likelihood[label=number:  (squared "
              "residuals)], gradient and Hessian over its rows[label=any|number|count: , and what deviances "
              "need of its labels], encrypted under center server B's key and sent to server A",
    .seen_by = TACIT_LOGIT_SEEN_BY(TACIT_LOGIT_COUNTS),
    .guarantee = TACIT_LOGIT_GUARANTEE,
    .assumption = TACIT_LOGIT_ASSUMPTION,
    .theorem = "Newton's method converges quadratically near the optimum, and may diverge from a poor start. "
               "Masked values: statistical distance 2^-40 (crypto/linear/convert.h); Yao's protocol: "
               "semi-honest simulation (crypto/garble/garble.h); dp: discrete Gaussians compose under zCDP "
               "(method/secure/logit_noise.c)",
    .claim = "the same estimate; Table 5.1 prints 5 to 8 iterations. The thesis has classes only: numbers, "
             "with one step and one that confirms it, and counts are ours",
    .caveats = "[dp=0: the coefficients of each iteration are exact and public: with few rows, or two runs "
               "over rows that differ in one, they can reveal a row (use dp, or a private method). ]A server "
               "that departs from the protocol can spoil the result or learn more. The same parties must "
               "answer in every round.[label=any|count:  With counts a run ends where sums at beta_k are "
               "beyond the range that the schema's bounds give; dp is for classes and "
               "numbers.][dp=0,inference=yes:  With lambda above 0, standard errors are those "
               "of the penalised likelihood]",
    .check = tacit_logit_check,
    .infers = tacit_logit_infers,
    .price = tacit_logit_price,
    .release_kind = tacit_logit_kind,
    .coordinate = TACIT_CENTER_HALF(tacit_center_coordinate),
    .compute = TACIT_CENTER_HALF(compute),
    .handlers = handlers,
};
