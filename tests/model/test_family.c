/* What every family of the table promises. Random cases follow from a seed that a failure prints;
 * TACIT_FAMILY_SEED sets another. */
#include "check.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "model/family/family.h"

enum { COLUMNS_MOST = 4, BLOCK = 40, CLASSES = 5 };

static uint64_t seed = 20240516;

static double uniform(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* What a failure is about. */
#define PROMISE(family, condition)                                                                           \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            fail_msg("%s: %s (seed %llu)", (family)->name, #condition, (unsigned long long)seed);            \
    } while (0)

static void response_of(const tacit_family *family, uint64_t *state, double *y) {
    double u = uniform(state);
    switch (family->response) {
    case TACIT_RESPONSE_CLASS: y[0] = u < 0.5; break;
    case TACIT_RESPONSE_NUMBER: y[0] = 2 * u - 1; break;
    case TACIT_RESPONSE_COUNT: y[0] = floor(20 * u); break;
    case TACIT_RESPONSE_TIME:
        y[0] = 0.01 + 4 * u;
        y[1] = uniform(state) < 0.7;
        break;
    case TACIT_RESPONSES: break;
    }
}

typedef struct row {
    double loss, slope, curvature;
} row;

static row at(const tacit_loss *loss, double shape, const double *y, double t) {
    row out;
    loss->rows(tacit_kernels_choose(), tacit_loss_shape(loss, shape), 1, y, &t, &out.loss, &out.slope,
               &out.curvature);
    return out;
}

/* The shapes to try: the usual one and, where there are others, small and large ones. */
static size_t shapes_of(const tacit_loss *loss, double out[4]) {
    out[0] = loss->shape_default;
    if (loss->shape_name == NULL) return 1;
    out[1] = loss->shape_most;
    out[2] = 0.01 * loss->shape_most;
    out[3] = 0.37 * loss->shape_most;
    return 4;
}

static const double EXTREMES[] = { 0,    DBL_MIN, 1e-300, 1e-9, 0.5, 1,     1.5,    2,
                                   36.1, 100,     709,    750,  1e6, 1e100, DBL_MAX };
enum { EXTREME = sizeof EXTREMES / sizeof *EXTREMES };

static void every_name_is_one_familys(void **state) {
    (void)state;
    for (size_t i = 0; tacit_family_at(i) != NULL; i++) {
        const tacit_family *family = tacit_family_at(i);
        assert_ptr_equal(tacit_family_find(family->name), family);
        if (family->r_family != NULL) assert_ptr_equal(tacit_family_find(family->r_family), family);
        assert_non_null(family->title);
        assert_non_null(family->pmml);
        assert_non_null(family->unbounded);
        assert_true((family->loss.rows != NULL) != tacit_family_has_scores(family));
        assert_true(family->loss.columns >= 1 && family->loss.columns <= COLUMNS_MOST);
        assert_int_equal(family->loss.of_classes, family->response == TACIT_RESPONSE_CLASS);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(tacit_family_at(k)->name, family->name);
    }
    assert_null(tacit_family_find("cauchy"));
}

static void each_response_has_its_likelihood(void **state) {
    (void)state;
    assert_string_equal(tacit_family_for(2)->name, "logistic");
    assert_string_equal(tacit_family_for(3)->name, "softmax");
    assert_string_equal(tacit_family_of(TACIT_RESPONSE_NUMBER, 0)->name, "linear");
    assert_string_equal(tacit_family_of(TACIT_RESPONSE_COUNT, 0)->name, "poisson");
    for (size_t i = 0; tacit_family_at(i) != NULL; i++) {
        const tacit_family *family = tacit_family_at(i);
        bool classes = family->loss.of_classes;
        assert_int_equal(tacit_family_takes(family, 0), !classes);
        assert_false(tacit_family_takes(family, 1));
        assert_int_equal(tacit_family_takes(family, 2), classes);
        assert_int_equal(tacit_family_takes(family, 3), tacit_family_has_scores(family));
    }
}

/* ---- derivatives ---- */

static void slopes_and_curvatures_are_derivatives(void **state) {
    (void)state;
    static const double STEP = 1e-5;
    for (size_t f = 0; tacit_family_at(f) != NULL; f++) {
        const tacit_family *family = tacit_family_at(f);
        const tacit_loss *loss = &family->loss;
        uint64_t random = seed + f;
        double shapes[4];
        for (size_t s = 0; loss->rows != NULL && s < shapes_of(loss, shapes); s++)
            for (int i = 0; i < 1000; i++) {
                double y[COLUMNS_MOST], t = 6 * uniform(&random) - 3;
                response_of(family, &random, y);
                row here = at(loss, shapes[s], y, t), up = at(loss, shapes[s], y, t + STEP);
                row down = at(loss, shapes[s], y, t - STEP);
                if (loss->kinked && up.curvature != down.curvature) continue; /* across a kink */
                double size = 1e-6 * (1 + fabs(here.loss) + fabs(here.slope) + fabs(here.curvature));
                PROMISE(family, fabs((up.loss - down.loss) / (2 * STEP) - here.slope) <= size);
                PROMISE(family, fabs((up.slope - down.slope) / (2 * STEP) - here.curvature) <= size);
            }
    }
}

/* Where Newton's method begins: the minimum lies at the link of the response, except for what keeps it finite,
 * and the weight is the variance there. */
static void beginnings_are_near_the_responses(void **state) {
    (void)state;
    static const double STEP = 1e-5;
    size_t tried = 0;
    for (size_t f = 0; tacit_family_at(f) != NULL; f++) {
        const tacit_family *family = tacit_family_at(f), *begins = family->begins;
        for (double y = 0; begins != NULL && y < 50; y++) {
            double best = family->link(y + 0.1);
            row here = at(&begins->loss, 0, &y, best), up = at(&begins->loss, 0, &y, best + STEP);
            assert_true(fabs(here.slope) < 1e-12 * (1 + y) && here.loss < 1e-12 * (1 + y));
            CHECK_NEAR(here.curvature, family->variance(y + 0.1), 1e-12 * (1 + y));
            CHECK_NEAR(up.slope, STEP * here.curvature, 1e-9 * (1 + y));
            CHECK_NEAR(up.loss, STEP * STEP * here.curvature / 2, 1e-12 * (1 + y));
            tried++;
        }
    }
    assert_int_equal(tried, 50);
}

static void a_block_of_rows_is_its_rows(void **state) {
    (void)state;
    for (size_t f = 0; tacit_family_at(f) != NULL; f++) {
        const tacit_family *family = tacit_family_at(f);
        const tacit_loss *loss = &family->loss;
        size_t columns = loss->columns;
        uint64_t random = seed + f;
        for (size_t count = 1; loss->rows != NULL && count <= BLOCK; count++) {
            double y[BLOCK * COLUMNS_MOST], t[BLOCK], value[BLOCK], slope[BLOCK], curvature[BLOCK];
            for (size_t i = 0; i < count; i++) {
                response_of(family, &random, y + i * columns);
                t[i] = 20 * uniform(&random) - 10;
            }
            loss->rows(tacit_kernels_choose(), loss->shape_default, count, y, t, value, slope, curvature);
            for (size_t i = 0; i < count; i++) {
                row one = at(loss, 0, y + i * columns, t[i]);
                PROMISE(family, memcmp(&one.loss, &value[i], sizeof *value) == 0);
                PROMISE(family, memcmp(&one.slope, &slope[i], sizeof *slope) == 0);
                PROMISE(family, memcmp(&one.curvature, &curvature[i], sizeof *curvature) == 0);
            }
        }
    }
}

static void losses_are_convex(void **state) {
    (void)state;
    for (size_t f = 0; tacit_family_at(f) != NULL; f++) {
        const tacit_family *family = tacit_family_at(f);
        const tacit_loss *loss = &family->loss;
        uint64_t random = seed + f;
        double shapes[4];
        for (size_t s = 0; loss->rows != NULL && s < shapes_of(loss, shapes); s++)
            for (int i = 0; i < 2000; i++) {
                double y[COLUMNS_MOST], reach = i % 3 == 0 ? 600 : 4;
                response_of(family, &random, y);
                double a = reach * (2 * uniform(&random) - 1), b = reach * (2 * uniform(&random) - 1);
                row low = at(loss, shapes[s], y, fmin(a, b)), high = at(loss, shapes[s], y, fmax(a, b));
                row middle = at(loss, shapes[s], y, 0.5 * (a + b));
                double size = 1e-12 * (1 + fabs(low.loss) + fabs(high.loss));
                PROMISE(family, middle.loss <= 0.5 * (low.loss + high.loss) + size);
                PROMISE(family, low.slope <= high.slope + 1e-12 * (1 + fabs(low.slope)));
                PROMISE(family, low.curvature >= 0 && middle.curvature >= 0);
            }
    }
}

/* ---- bounds ---- */

/* The largest |l'|, l'' and t |l'| on the right side that are found: over a fine grid, at random, and far
 * out. */
typedef struct found {
    double slope, curvature, pull;
} found;

static void look(const tacit_loss *loss, double shape, const double *y, double t, found *most) {
    row one = at(loss, shape, y, t);
    most->slope = fmax(most->slope, fabs(one.slope));
    most->curvature = fmax(most->curvature, one.curvature);
    /* far beyond any score the kernel's exponential stays at exp(-708) instead of 0 */
    if (t * one.slope < 0 && fabs(t) <= 1e100) most->pull = fmax(most->pull, -t * one.slope);
}

static found search(const tacit_family *family, double shape, uint64_t *random) {
    found most = { 0, 0, 0 };
    double y[COLUMNS_MOST];
    for (int i = 0; i <= 20000; i++) {
        response_of(family, random, y);
        look(&family->loss, shape, y, (i - 10000) * 1e-3, &most);
        look(&family->loss, shape, y, 1e3 * (2 * uniform(random) - 1), &most);
    }
    for (size_t i = 0; i < 2 * EXTREME * 20; i++) {
        response_of(family, random, y);
        look(&family->loss, shape, y, EXTREMES[i % EXTREME] * (i / EXTREME % 2 ? 1 : -1), &most);
    }
    return most;
}

/* Whether L, c and m of a family hold and are no larger than they must be. */
static bool bounds_hold(const tacit_family *family, uint64_t random) {
    double shapes[4];
    const tacit_loss *loss = &family->loss;
    for (size_t s = 0; s < shapes_of(loss, shapes); s++) {
        found most = search(family, shapes[s], &random);
        double c = loss->curvature(shapes[s]), up = 1 + 1e-12;
        if (most.slope > loss->slope * up || most.curvature > c * up) return false;
        if (isfinite(loss->slope) && most.slope < loss->slope * 0.999) return false;
        if (isfinite(c) && most.curvature < c * 0.999) return false;
        if (family->pull == NULL) continue;
        double pull = family->pull(shapes[s], 2);
        if (most.pull > pull * up || most.pull < pull * 0.99) return false;
    }
    return true;
}

static void the_bounds_hold_and_are_attained(void **state) {
    (void)state;
    for (size_t f = 0; tacit_family_at(f) != NULL; f++)
        if (tacit_family_at(f)->loss.rows != NULL)
            PROMISE(tacit_family_at(f), bounds_hold(tacit_family_at(f), seed + f));
}

static double third(double shape) {
    (void)shape;
    return 1.0 / 3;
}

static double too_small(double shape) {
    (void)shape;
    return 0.24;
}

static double half_pull(double shape, size_t classes) {
    return 0.5 * tacit_family_logistic.pull(shape, classes);
}

static void a_wrong_bound_is_noticed(void **state) {
    (void)state;
    tacit_family wrong = tacit_family_logistic;
    assert_true(bounds_hold(&wrong, seed));
    wrong.loss.slope = 0.99;
    assert_false(bounds_hold(&wrong, seed));
    wrong = tacit_family_logistic;
    wrong.loss.curvature = too_small;
    assert_false(bounds_hold(&wrong, seed));
    wrong.loss.curvature = third; /* holds, but is not attained */
    assert_false(bounds_hold(&wrong, seed));
    wrong = tacit_family_logistic;
    wrong.pull = half_pull;
    assert_false(bounds_hold(&wrong, seed));
    wrong = tacit_family_poisson;
    wrong.loss.slope = 1e9;
    assert_false(bounds_hold(&wrong, seed));
}

/* The tolerance that is granted to private fits (num/glm/glm_tolerance.c) knows a loss by c and its classes
 * alone. */
static void what_the_solver_certifies_is_within_its_tolerance(void **state) {
    (void)state;
    for (size_t f = 0; tacit_family_at(f) != NULL; f++) {
        const tacit_family *family = tacit_family_at(f);
        const tacit_loss *loss = &family->loss;
        double shapes[4];
        if (loss->rounding == NULL) {
            PROMISE(family, isinf(loss->slope) || isinf(loss->curvature(loss->shape_default)));
            continue;
        }
        for (size_t s = 0; s < shapes_of(loss, shapes); s++) {
            double c = loss->curvature(shapes[s]);
            PROMISE(family, isfinite(c) && loss->slope <= (loss->classes != NULL ? sqrt(2) : 1));
            double most = loss->classes != NULL ? CLASSES + 10 : fmax(TACIT_SIGMOID_ULPS, 2 * c + 3);
            PROMISE(family, loss->rounding(shapes[s], CLASSES) <= most);
        }
    }
}

/* q.(diag(p) - p p^T) q/|q|^2 */
static double quotient(const double *p, const double *q, size_t classes) {
    double mean = 0, second = 0, square = 0;
    for (size_t k = 0; k < classes; k++) {
        mean += p[k] * q[k];
        second += p[k] * q[k] * q[k];
        square += q[k] * q[k];
    }
    return (second - mean * mean) / square;
}

static void scores_of_classes_keep_their_bounds_too(void **state) {
    (void)state;
    for (size_t f = 0; tacit_family_at(f) != NULL; f++) {
        const tacit_family *family = tacit_family_at(f);
        const tacit_loss *loss = &family->loss;
        uint64_t random = seed + f;
        double steepest = 0, longest = 0, most_pull = 0;
        for (int i = 0; loss->classes != NULL && i < 40000; i++) {
            double t[CLASSES], p[CLASSES], log_partition, sum = 0, square = 0, pull = 0, q[CLASSES];
            double reach = i % 4 == 0 ? 800 : 3;
            for (size_t k = 0; k < CLASSES; k++) t[k] = reach * (2 * uniform(&random) - 1);
            if (i % 5 == 0) t[1] = t[0] += 40; /* two that share all */
            for (size_t k = 0; k < CLASSES; k++)
                q[k] = k < 2 && i % 2 == 0 ? 1 - 2.0 * (double)k : uniform(&random);
            if (i % 2 == 0) q[2] = q[3] = q[4] = 0;
            if (i % 3 == 0) { /* the worst: all others alike, a little below */
                double gap = -6 * uniform(&random);
                for (size_t k = 0; k < CLASSES; k++)
                    t[k] = k == 0 ? -gap * (CLASSES - 1) / CLASSES : gap / CLASSES;
            }
            loss->classes(tacit_kernels_choose(), CLASSES, 1, t, p, &log_partition);
            size_t y = (size_t)(uniform(&random) * CLASSES);
            for (size_t k = 0; k < CLASSES; k++) {
                double slope = p[k] - (k == y);
                sum += p[k];
                square += slope * slope;
                pull -= t[k] * slope;
            }
            PROMISE(family, fabs(sum - 1) <= 1e-14 && log_partition >= t[y] - 1e-12 * (1 + fabs(t[y])));
            PROMISE(family, sqrt(square) <= loss->slope * (1 + 1e-12));
            PROMISE(family, quotient(p, q, CLASSES) <= loss->curvature(0) * (1 + 1e-12));
            PROMISE(family, pull <= family->pull(0, CLASSES) * (1 + 1e-12));
            steepest = fmax(steepest, quotient(p, q, CLASSES));
            longest = fmax(longest, sqrt(square));
            most_pull = fmax(most_pull, pull);
        }
        if (loss->classes == NULL) continue;
        PROMISE(family, steepest >= 0.999 * loss->curvature(0) && longest >= 0.999 * loss->slope);
        PROMISE(family, most_pull >= 0.99 * family->pull(0, CLASSES));
    }
}

/* Loss, gradient and Hessian by K - 1 scores of a row: derivatives of each other, and the Hessian of something convex. */
static void several_scores_have_derivatives_and_a_convex_loss(void **state) {
    (void)state;
    enum { M = CLASSES - 1 };
    static const double STEP = 1e-5;
    for (size_t f = 0; tacit_family_at(f) != NULL; f++) {
        const tacit_family *family = tacit_family_at(f);
        uint64_t random = seed + f;
        for (int i = 0; family->loss.several != NULL && i < 2000; i++) {
            double t[M], slope[M], curvature[M * M], q[M], loss, form = 0,
                                                                 y = floor(CLASSES * uniform(&random));
            for (size_t k = 0; k < M; k++) {
                t[k] = family->loss.ordered ? (k > 0 ? t[k - 1] : -3) + 0.1 + 2 * uniform(&random)
                                            : 8 * uniform(&random) - 4;
                q[k] = 2 * uniform(&random) - 1;
            }
            family->loss.several(M, y, t, &loss, slope, curvature);
            for (size_t k = 0; k < M; k++) {
                double up[M], down[M], high, low, size = 1e-5 * (1 + fabs(slope[k]));
                double kept = t[k], other[M * M];
                t[k] = kept + STEP;
                family->loss.several(M, y, t, &high, up, other);
                t[k] = kept - STEP;
                family->loss.several(M, y, t, &low, down, other);
                t[k] = kept;
                PROMISE(family, fabs((high - low) / (2 * STEP) - slope[k]) <= size);
                for (size_t l = 0; l < M; l++) {
                    double bend = curvature[l * M + k];
                    PROMISE(family, fabs((up[l] - down[l]) / (2 * STEP) - bend) <= 1e-4 * (1 + bend * bend));
                    PROMISE(family, k == l ? bend >= 0 : bend <= 0); /* which the sums rely on */
                    form += q[k] * q[l] * bend;
                }
            }
            PROMISE(family, loss >= 0 && form >= -1e-12);
        }
    }
}

/* Probabilities of all classes add up to 1, and the loss is the negative logarithm of one's own. */
static void several_scores_predict_what_they_lose(void **state) {
    (void)state;
    enum { M = CLASSES - 1 };
    const tacit_family *family = &tacit_family_ordinal;
    uint64_t random = seed;
    for (int i = 0; i < 500; i++) {
        double t[CLASSES] = { 0 }, log_p[CLASSES], slope[M], curvature[M * M], loss, sum = 0;
        for (size_t k = 0; k < M; k++)
            t[k] = (k > 0 ? t[k - 1] : 20 * uniform(&random) - 12) + 0.01 + 3 * uniform(&random);
        memcpy(log_p, t, sizeof t);
        family->predict(CLASSES, log_p);
        for (size_t k = 0; k < CLASSES; k++) {
            sum += exp(log_p[k]);
            family->loss.several(M, (double)k, t, &loss, slope, curvature);
            PROMISE(family, fabs(loss + log_p[k]) <= 1e-12 * (1 + loss));
        }
        PROMISE(family, fabs(sum - 1) <= 1e-13);
    }
    double crossed[] = { 1, 0 }, loss, slope[2], curvature[4];
    family->loss.several(2, 1, crossed, &loss, slope, curvature);
    assert_true(loss >= 1e300); /* beyond any bound: such a step is not taken */
}

/* ---- means, deviances, likelihoods ---- */

static void a_link_undoes_its_mean(void **state) {
    (void)state;
    for (size_t f = 0; tacit_family_at(f) != NULL; f++) {
        const tacit_family *family = tacit_family_at(f);
        uint64_t random = seed + f;
        double before = -INFINITY;
        for (int i = 0; family->link != NULL && i <= 400; i++) {
            double t = (i - 200) * 0.05, mean = family->mean(t);
            PROMISE(family, fabs(family->link(mean) - t) <= 1e-9 * (1 + fabs(t)));
            PROMISE(family, mean > before && family->variance(mean) > 0);
            before = mean;
            t = 20 * uniform(&random) - 10;
            PROMISE(family, fabs(family->link(family->mean(t)) - t) <= 1e-9 * (1 + fabs(t)));
        }
        PROMISE(family, family->link == NULL || family->all_alike != NULL);
    }
}

/* Up to what does not depend on t, the loss is half the deviance and minus the log-likelihood at dispersion
 * 1. */
static void deviance_and_likelihood_are_those_of_the_loss(void **state) {
    (void)state;
    for (size_t f = 0; tacit_family_at(f) != NULL; f++) {
        const tacit_family *family = tacit_family_at(f);
        uint64_t random = seed + f;
        for (int i = 0; family->link != NULL && i < 2000; i++) {
            double y[COLUMNS_MOST], a = 8 * uniform(&random) - 4, b = 8 * uniform(&random) - 4;
            response_of(family, &random, y);
            double ma = family->mean(a), mb = family->mean(b);
            double loss = at(&family->loss, 0, y, a).loss - at(&family->loss, 0, y, b).loss;
            double size =
                1e-10 * (1 + fabs(at(&family->loss, 0, y, a).loss) + fabs(at(&family->loss, 0, y, b).loss));
            PROMISE(family, family->deviance(y, ma) >= 0);
            PROMISE(family, fabs(0.5 * (family->deviance(y, ma) - family->deviance(y, mb)) - loss) <= size);
            double likelihood = family->log_likelihood(y, ma, 1) - family->log_likelihood(y, mb, 1);
            PROMISE(family, fabs(likelihood + loss) <= size);
            double residual = tacit_family_residual(family, TACIT_RESIDUAL_DEVIANCE, y, ma);
            PROMISE(family, fabs(residual * residual - family->deviance(y, ma)) <= size);
            PROMISE(family, residual * tacit_family_residual(family, TACIT_RESIDUAL_RESPONSE, y, ma) >= 0);
        }
    }
}

/* R's glm(y ~ g, family = ...), g a factor of groups: the fitted means are those of the groups. */
typedef struct glm {
    const char *family; /* as R calls it */
    size_t rows, groups;
    double y[9];
    size_t group[9];
    double deviance, null_deviance, aic, dispersion;
    double residual[3]; /* R's deviance residuals of the first rows */
    double pearson;     /* and the Pearson residual of the first */
} glm;

static void summaries_are_those_of_r(void **state) {
    (void)state;
    static const glm made_by_r[] = {
        { "poisson",
          9,
          3,
          { 18, 17, 15, 20, 10, 20, 25, 13, 12 },
          { 0, 1, 2, 0, 1, 2, 0, 1, 2 },
          5.129141077,
          10.5814458638,
          52.761318402,
          1,
          { -0.671249228095, 0.962723604894, -0.169646618419 },
          -0.654653670708 },
        { "binomial",
          8,
          2,
          { 1, 0, 1, 0, 0, 1, 1, 1 },
          { 0, 0, 0, 1, 1, 1, 1, 1 },
          10.5492016799,
          10.5850118105,
          14.5492016799,
          1,
          { 0.900516638501, -1.48230380737, 0.900516638501 },
          0.707106781187 },
        { "gaussian",
          8,
          2,
          { 4.17, 5.58, 5.18, 6.11, 4.81, 4.17, 4.41, 3.59 },
          { 0, 0, 0, 0, 1, 1, 1, 1 },
          2.8005,
          4.86095,
          20.3058679792,
          0.46675,
          { -1.09, 0.32, -0.08 },
          -1.09 },
    };
    for (size_t g = 0; g < sizeof made_by_r / sizeof *made_by_r; g++) {
        const glm *r = &made_by_r[g];
        const tacit_family *family = tacit_family_find(r->family);
        double mean[3] = { 0 }, count[3] = { 0 }, likelihood = 0;
        tacit_family_sums sums = {
            .rows = (double)r->rows, .coefficients = (double)r->groups, .scale = 1, .intercept = true
        };
        tacit_family_fit fit;
        for (size_t i = 0; i < r->rows; i++) {
            mean[r->group[i]] += r->y[i];
            count[r->group[i]]++;
        }
        for (size_t k = 0; k < r->groups; k++) mean[k] /= count[k];
        for (size_t i = 0; i < r->rows; i++) {
            double terms[TACIT_FAMILY_TERMS], mu = mean[r->group[i]];
            tacit_family_terms(family, &r->y[i], terms);
            for (size_t k = 0; k < TACIT_FAMILY_TERMS; k++) sums.terms[k] += terms[k];
            sums.objective += at(&family->loss, 0, &r->y[i], family->link(mu)).loss;
            if (i < 3)
                CHECK_NEAR(tacit_family_residual(family, TACIT_RESIDUAL_DEVIANCE, &r->y[i], mu),
                           r->residual[i], 1e-6);
        }
        family->measure(&sums, &fit);
        tacit_family_sums fewer = sums; /* without the terms that it says it does not read */
        tacit_family_fit same;
        for (size_t k = family->measured; k < TACIT_FAMILY_TERMS; k++) fewer.terms[k] = NAN;
        family->measure(&fewer, &same);
        assert_memory_equal(&same, &fit, sizeof fit);
        CHECK_NEAR(fit.deviance, r->deviance, 1e-6);
        CHECK_NEAR(fit.null_deviance, r->null_deviance, 1e-6);
        CHECK_NEAR(fit.aic, r->aic, 1e-6);
        CHECK_NEAR(fit.dispersion, r->dispersion, 1e-6);
        CHECK_NEAR(tacit_family_residual(family, TACIT_RESIDUAL_PEARSON, &r->y[0], mean[r->group[0]]),
                   r->pearson, 1e-6);
        double phi = family->dispersed ? fit.deviance / sums.rows : 1; /* as R's AIC has it */
        for (size_t i = 0; i < r->rows; i++)
            likelihood += family->log_likelihood(&r->y[i], mean[r->group[i]], phi);
        CHECK_NEAR(-2 * likelihood + 2 * (sums.coefficients + family->dispersed), fit.aic,
                   1e-9 * (1 + fabs(fit.aic)));
        if (!family->dispersed)
            CHECK_NEAR(sums.objective + (family->constant > 0 ? sums.terms[family->constant] : 0),
                       -likelihood, 1e-9 * (1 + fabs(likelihood)));
    }
}

int main(void) {
    const char *other = getenv("TACIT_FAMILY_SEED");
    if (other != NULL) seed = strtoull(other, NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_is_one_familys),
        cmocka_unit_test(each_response_has_its_likelihood),
        cmocka_unit_test(slopes_and_curvatures_are_derivatives),
        cmocka_unit_test(beginnings_are_near_the_responses),
        cmocka_unit_test(a_block_of_rows_is_its_rows),
        cmocka_unit_test(losses_are_convex),
        cmocka_unit_test(the_bounds_hold_and_are_attained),
        cmocka_unit_test(a_wrong_bound_is_noticed),
        cmocka_unit_test(what_the_solver_certifies_is_within_its_tolerance),
        cmocka_unit_test(scores_of_classes_keep_their_bounds_too),
        cmocka_unit_test(a_link_undoes_its_mean),
        cmocka_unit_test(deviance_and_likelihood_are_those_of_the_loss),
        cmocka_unit_test(summaries_are_those_of_r),
        cmocka_unit_test(several_scores_have_derivatives_and_a_convex_loss),
        cmocka_unit_test(several_scores_predict_what_they_lose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
