#include "privacy/erm.h"

#include <math.h>

#include "num/special.h"
#include "privacy/gaussian.h"

static const double SLACK = 0.01;     /* epsilon_slack/epsilon */
static const double TOLERANCE = 1e-9; /* g, before rounding errors of large weights are added */
static const double UP = 1 + 1e-12;   /* covers the roundings of a handful of operations */
static const double ROUNDOFF = 0x1p-53;
enum { REACH_BITS = 50, BOUND_BITS = 61 }; /* steps of b's grid: within its reach, and at most */

static tacit_status check(const tacit_erm *erm, tacit_law law, tacit_error *error) {
    const double numbers[] = { erm->lambda, erm->curvature, erm->radius, erm->epsilon };
    static const char *const names[] = { "lambda", "the curvature of the loss", "the radius of the rows",
                                         "epsilon" };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!(numbers[i] > 0) || !isfinite(numbers[i]))
            return tacit_fail(error, TACIT_USAGE,
                              "%s must be positive and finite to perturb an objective, not %g", names[i],
                              numbers[i]);
    if (erm->rows == 0 || erm->dimension == 0)
        return tacit_fail(error, TACIT_USAGE, "an objective needs at least one row and one feature");
    if (law != TACIT_LAW_GAMMA_NORM && law != TACIT_LAW_GAUSSIAN)
        return tacit_fail(error, TACIT_USAGE, "an objective is perturbed by gamma-norm or Gaussian noise");
    if (law == TACIT_LAW_GAUSSIAN && !(erm->delta > 0 && erm->delta < 1))
        return tacit_fail(
            error, TACIT_USAGE,
            "Gaussian noise needs a delta above 0 and below 1, not %g; at delta 0 use gamma-norm noise",
            erm->delta);
    return TACIT_OK;
}

/* Part epsilon between the noise and the Jacobian factor: step 4 of the header. */
static double noise_epsilon(const tacit_erm *erm, double epsilon, double *lambda) {
    bool paper = erm->calibration == TACIT_CALIBRATION_PAPER;
    double curvature = erm->curvature * erm->radius * erm->radius / (double)erm->rows * UP;
    double factors = paper ? 2 : 1;
    double left = epsilon - factors * log1p(curvature / erm->lambda) * UP;
    *lambda = erm->lambda;
    if (paper ? left > 0 : left >= epsilon / 2) return left * (1 - 1e-12);
    *lambda = fmax(erm->lambda, curvature / expm1(epsilon / (2 * factors)) * UP);
    return epsilon / 2 * (1 - 1e-12);
}

/* s by the chi-square rule: step 5. */
static double chi_square_scale(const tacit_erm *erm, double epsilon) {
    double q = tacit_chi_square_quantile((double)erm->dimension, erm->delta) * (1 + 1e-10);
    return erm->radius * (sqrt(q) + sqrt(q + 2 * epsilon)) / epsilon * (1 + 1e-10);
}

static bool by_chi_square(const tacit_erm *erm, tacit_law law) {
    return law == TACIT_LAW_GAUSSIAN && erm->calibration == TACIT_CALIBRATION_PAPER;
}

/* The law of b, and its scale. */
static tacit_status objective_law(tacit_objective_noise *out, const tacit_erm *erm, tacit_law law,
                                  double epsilon, tacit_error *error) {
    double delta = law == TACIT_LAW_GAUSSIAN ? erm->delta : 0;
    out->law = (tacit_mechanism){ law, 2 * erm->radius * UP, { TACIT_UNIT_RECORD, epsilon, delta } };
    if (!by_chi_square(erm, law)) return tacit_mechanism_scale(&out->scale, &out->law, error);
    out->scale = chi_square_scale(erm, epsilon);
    return TACIT_OK;
}

/* b's grid is fine enough that what it rounds away is far below g, and its bound is 2^10 times b's reach: noise beyond it,
 * which would be moved there, has a probability below e^-40000. |b^ - b| in a coordinate: half a step for the grid, 2^8 steps
 * where steps become a double, and 2^8 where it is divided by n. Returns its norm. */
static double set_grid(tacit_objective_noise *out, double reach, size_t dimension) {
    int exponent;
    frexp(reach, &exponent);
    out->grid_bits = REACH_BITS - exponent;
    out->bound = ldexp(1, BOUND_BITS - out->grid_bits);
    return sqrt((double)dimension) * ldexp(0x1p10, -out->grid_bits) * UP;
}

/* epsilon_slack, and what is left for the exact minimiser. */
static double take_slack(double epsilon, double *rest) {
    double slack = SLACK * epsilon;
    *rest = epsilon - slack;
    while (tacit_add_up(*rest, slack) > epsilon) *rest = nextafter(*rest, 0);
    return slack;
}

/* Everything that follows from the scale of b. */
static tacit_status complete(tacit_objective_noise *noise, const tacit_erm *erm, tacit_law law, double slack,
                             tacit_error *error) {
    double n = (double)erm->rows, d = (double)erm->dimension, radius = erm->radius;
    double reach = tacit_noise_reach(law, erm->dimension, noise->scale);
    double rounding = set_grid(noise, reach, erm->dimension);
    /* At the minimum (lambda + Delta)|w| <= R + |b|/n; the certificate then rounds by a few ulps of the terms it adds and,
     * through the margins, by about d ulps of c R^2 |w| (num/glm_certify.c). */
    double pull = radius + reach / n, weights = pull / erm->lambda;
    noise->tolerance = TOLERANCE * radius +
                       16 * ROUNDOFF * ((d + 16) * erm->curvature * radius * radius * weights + 16 * pull);
    double distance = (noise->tolerance + rounding / n) * UP;
    noise->last = (tacit_mechanism){ TACIT_LAW_GAMMA_NORM,
                                     2 * distance / noise->lambda * UP,
                                     { TACIT_UNIT_RECORD, slack, 0 } };
    noise->largest =
        weights + distance / erm->lambda +
        tacit_noise_reach(TACIT_LAW_GAMMA_NORM, erm->dimension, 2 * distance / erm->lambda / slack);
    if (!isfinite(noise->largest) || !isfinite(noise->bound))
        return tacit_fail(error, TACIT_USAGE,
                          "epsilon %g asks for impossible noise at lambda %g and %zu rows", erm->epsilon,
                          erm->lambda, erm->rows);
    return TACIT_OK;
}

tacit_status tacit_objective_noise_for(tacit_objective_noise *out, const tacit_erm *erm, tacit_law law,
                                       tacit_error *error) {
    tacit_objective_noise noise = { 0 };
    double rest;
    TACIT_TRY(check(erm, law, error));
    double slack = take_slack(erm->epsilon, &rest), epsilon = noise_epsilon(erm, rest, &noise.lambda);
    TACIT_TRY(objective_law(&noise, erm, law, epsilon, error));
    TACIT_TRY(complete(&noise, erm, law, slack, error));
    *out = noise;
    return TACIT_OK;
}

tacit_status tacit_objective_largest(double *out, const tacit_erm *erm, tacit_law law, tacit_error *error) {
    tacit_objective_noise noise = { 0 };
    double rest;
    TACIT_TRY(check(erm, law, error));
    double slack = take_slack(erm->epsilon, &rest), epsilon = noise_epsilon(erm, rest, &noise.lambda);
    if (law == TACIT_LAW_GAMMA_NORM)
        noise.scale = 2 * erm->radius / epsilon * UP;
    else if (by_chi_square(erm, law))
        noise.scale = chi_square_scale(erm, epsilon);
    else
        noise.scale = 2 * erm->radius * tacit_gaussian_sigma_enough(epsilon, erm->delta) * UP;
    TACIT_TRY(complete(&noise, erm, law, slack, error));
    *out = noise.largest;
    return TACIT_OK;
}

double tacit_output_sensitivity(size_t rows, double lambda, double gradient, double largest_weights,
                                double tolerance, tacit_calibration calibration) {
    double shift = 2 * gradient / ((double)rows * lambda);
    if (calibration == TACIT_CALIBRATION_TIGHT) shift = fmin(shift, 2 * largest_weights);
    return (shift + 2 * tolerance / lambda) * UP;
}
