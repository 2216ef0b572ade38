#include "privacy/mechanism/erm.h"

#include <math.h>

#include "num/glm/glm.h"
#include "num/special.h"
#include "privacy/account/gaussian.h"

static const double SLACK = 0.01;          /* epsilon_slack/epsilon */
static const double TOLERANCE = 1e-9;      /* g, before rounding errors of large weights are added */
static const double UP = 1 + 1e-12;        /* covers the roundings of a handful of operations */
enum { REACH_BITS = 50, BOUND_BITS = 61 }; /* steps of b's grid: within its reach, and at most */
enum { PROVIDED_ROWS = 1 << 26 }; /* for which a tolerance is reachable, whatever the rows of a party */

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

/* c q_k^2 R^2/n, rounded up. */
static double group_curvature(const tacit_erm *erm, const tacit_erm_group *group) {
    double radius = erm->radius * group->scale;
    return erm->curvature * radius * radius / (double)erm->rows * UP;
}

/* Part epsilon between the noise and the Jacobian factors: step 4 of the header, over groups. Sets lambda +
 * Delta of each. */
static double noise_epsilon(const tacit_erm *erm, const tacit_erm_group *groups, size_t count, double epsilon,
                            tacit_objective_noise *out) {
    bool paper = erm->calibration == TACIT_CALIBRATION_PAPER;
    double factors = paper ? 2 : 1, left = epsilon;
    for (size_t k = 0; k < count; k++) {
        left -= factors * log1p(group_curvature(erm, &groups[k]) / groups[k].lambda) * UP;
        out[k].lambda = groups[k].lambda;
    }
    if (paper ? left > 0 : left >= epsilon / 2) return left * (1 - 1e-12);
    for (size_t k = 0; k < count; k++)
        out[k].lambda = fmax(groups[k].lambda, group_curvature(erm, &groups[k]) /
                                                   expm1(epsilon * groups[k].scale / (2 * factors)) * UP);
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

/* b's grid is fine enough that what it rounds away is far below g, and its bound is 2^10 times b's reach:
 * noise beyond it, which would be moved there, has a probability below e^-40000. |b^ - b| in a coordinate:
 * half a step for the grid, 2^8 steps where steps become a double, and 2^8 where it is divided by n. Returns
 * its norm. */
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

/* |b| passes this with probability below e^-90 < 2^-129 (Laurent and Massart 2000): beyond it the solver may
 * miss its tolerance, and then the best weights it found are released. */
static double far_reach(tacit_law law, size_t dimension, double scale) {
    double d = (double)dimension;
    return law == TACIT_LAW_GAUSSIAN ? scale * sqrt(d + 2 * sqrt(90 * d) + 180)
                                     : scale * (d + sqrt(180 * d) + 90);
}

static size_t provided(size_t rows) { return rows > PROVIDED_ROWS ? rows : PROVIDED_ROWS; }

/* g: at the minimum (lambda + Delta)|w - u| <= R + |b|/n, which limits the weights and so the rounding of the
 * certificate. */
static double objective_tolerance(const tacit_objective_noise *noise, const tacit_erm *erm, tacit_law law,
                                  double prior) {
    double far = far_reach(law, erm->dimension, noise->scale) / (double)erm->rows;
    tacit_glm_limits limits = { .rows = provided(erm->rows),
                                .cols = erm->dimension,
                                .classes = 2,
                                .slope = erm->curvature,
                                .weight = 1,
                                .radius = erm->radius * (1 + 1e-9),
                                .largest = prior + (erm->radius + far) / erm->lambda,
                                .linear = far,
                                .prior_pull = noise->lambda * prior };
    return tacit_glm_tolerance(&limits, TOLERANCE * fmax(erm->radius, 1)) * UP;
}

double tacit_fit_tolerance(size_t features, size_t classes, double slope, double weight, double linear,
                           double largest) {
    tacit_glm_limits limits = { .rows = PROVIDED_ROWS,
                                .cols = features,
                                .classes = classes,
                                .slope = slope,
                                .weight = weight,
                                .radius = 1 + 1e-6,
                                .largest = largest,
                                .linear = linear };
    return tacit_glm_tolerance(&limits, TOLERANCE) * UP;
}

/* Everything that follows from the scale of b; `prior` is |u|. */
static tacit_status complete(tacit_objective_noise *noise, const tacit_erm *erm, tacit_law law, double slack,
                             double prior, tacit_error *error) {
    double n = (double)erm->rows, radius = erm->radius;
    double reach = tacit_noise_reach(law, erm->dimension, noise->scale);
    double rounding = set_grid(noise, reach, erm->dimension);
    double weights = prior + (radius + reach / n) / erm->lambda;
    noise->tolerance = objective_tolerance(noise, erm, law, prior);
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

static tacit_erm_group whole(const tacit_erm *erm) {
    return (tacit_erm_group){ erm->dimension, erm->lambda, 1, 0 };
}

tacit_status tacit_objective_noise_for(tacit_objective_noise *out, const tacit_erm *erm, tacit_law law,
                                       tacit_error *error) {
    tacit_objective_noise noise = { 0 };
    double rest;
    TACIT_TRY(check(erm, law, error));
    tacit_erm_group all = whole(erm);
    double slack = take_slack(erm->epsilon, &rest), epsilon = noise_epsilon(erm, &all, 1, rest, &noise);
    TACIT_TRY(objective_law(&noise, erm, law, epsilon, error));
    TACIT_TRY(complete(&noise, erm, law, slack, 0, error));
    *out = noise;
    return TACIT_OK;
}

tacit_status tacit_objective_largest(double *out, const tacit_erm *erm, tacit_law law, tacit_error *error) {
    tacit_objective_noise noise = { 0 };
    double rest;
    TACIT_TRY(check(erm, law, error));
    tacit_erm_group all = whole(erm);
    double slack = take_slack(erm->epsilon, &rest), epsilon = noise_epsilon(erm, &all, 1, rest, &noise);
    if (law == TACIT_LAW_GAMMA_NORM)
        noise.scale = 2 * erm->radius / epsilon * UP;
    else if (by_chi_square(erm, law))
        noise.scale = chi_square_scale(erm, epsilon);
    else
        noise.scale = 2 * erm->radius * tacit_gaussian_sigma_enough(epsilon, erm->delta) * UP;
    TACIT_TRY(complete(&noise, erm, law, slack, 0, error));
    *out = noise.largest;
    return TACIT_OK;
}

/* ---- groups ---- */

/* The k-th model as one of its own: its dimension, lambda and radius. */
static tacit_erm erm_of_group(const tacit_erm *erm, const tacit_erm_group *group) {
    tacit_erm one = *erm;
    one.dimension = group->dimension;
    one.lambda = group->lambda;
    one.radius = erm->radius * group->scale;
    return one;
}

static tacit_status check_groups(const tacit_erm *erm, const tacit_erm_group *groups, size_t count,
                                 tacit_error *error) {
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        tacit_erm one = erm_of_group(erm, &groups[k]);
        TACIT_TRY(check(&one, TACIT_LAW_GAMMA_NORM, error));
        if (!(groups[k].prior >= 0) || !isfinite(groups[k].prior))
            return tacit_fail(error, TACIT_USAGE, "a prior mean must be finite");
        sum = tacit_add_up(sum, groups[k].scale);
    }
    if (count == 0 || sum > 1)
        return tacit_fail(error, TACIT_USAGE,
                          "%zu groups have scales that add up to %.17g, and not to at most 1", count, sum);
    return TACIT_OK;
}

tacit_status tacit_group_noise_for(tacit_objective_noise *out, const tacit_erm *erm,
                                   const tacit_erm_group *groups, size_t count, tacit_error *error) {
    double rest;
    TACIT_TRY(check_groups(erm, groups, count, error));
    for (size_t k = 0; k < count; k++) out[k] = (tacit_objective_noise){ 0 };
    double slack = take_slack(erm->epsilon, &rest);
    double epsilon = noise_epsilon(erm, groups, count, rest, out);
    if (count > 1) slack = slack / (double)count * (1 - 1e-12);
    for (size_t k = 0; k < count; k++) {
        tacit_erm one = erm_of_group(erm, &groups[k]);
        TACIT_TRY(objective_law(&out[k], &one, TACIT_LAW_GAMMA_NORM, epsilon * groups[k].scale, error));
        TACIT_TRY(complete(&out[k], &one, TACIT_LAW_GAMMA_NORM, slack, groups[k].prior, error));
    }
    return TACIT_OK;
}

double tacit_output_sensitivity(size_t rows, double lambda, double gradient, double largest_weights,
                                double tolerance, tacit_calibration calibration) {
    double shift = 2 * gradient / ((double)rows * lambda);
    if (calibration == TACIT_CALIBRATION_TIGHT) shift = fmin(shift, 2 * largest_weights);
    return (shift + 2 * tolerance / lambda) * UP;
}
