/* Two classes, the Huberised hinge of width h (Chaudhuri, Monteleoni and Sarwate 2011, eq. 8): a loss, but no
 * likelihood. */
#include <math.h>

#include "model/family/family.h"

/* At z = (2y - 1) t: 0 beyond 1 + h, the hinge 1 - z below 1 - h, the parabola (1 + h - z)^2/(4h) between. */
static void rows(const tacit_kernels *kernels, double h, size_t count, const double *y, const double *t,
                 double *loss, double *slope, double *curvature) {
    (void)kernels;
    for (size_t i = 0; i < count; i++) {
        double sign = 2 * y[i] - 1, z = sign * t[i], gap = 1 + h - z, s = gap / (2 * h);
        bool flat = gap <= 0, straight = s >= 1;
        slope[i] = flat ? 0 : straight ? -sign : -sign * s;
        loss[i] = flat ? 0 : straight ? 1 - z : gap * gap / (4 * h);
        curvature[i] = flat || straight ? 0 : 1 / (2 * h);
        if (isnan(z)) slope[i] = loss[i] = z;
    }
}

/* |l'| is 0, 1 or (1 + h - z)/(2h) in between, l'' 0 or that of the parabola. */
static double steepest(double h) { return 1 / (2 * h); }

/* 1 + h and its difference to z round by 1 + h and by |1 + h - z| <= 2h where the parabola counts; divided by
 * 2h and rounded: (1 + h)/(2h) + 3 <= 1/h + 3. Beyond its ends the value is clipped to [0, 1], which does not
 * increase the distance to the exact value in [0, 1]. */
static double rounding(double h, size_t classes) {
    (void)classes;
    return 1 / h + 3;
}

/* z |l'|: 1 - h at the end of the straight part, or (1 + h)^2/(8h) where (1 + h)/2 lies on the parabola. */
static double pull(double h, size_t classes) {
    (void)classes;
    return (1 + h) / 2 > 1 - h ? (1 + h) * (1 + h) / (8 * h) : 1 - h;
}

/* For h = 1/2: the loss of w = 0 is 1 and none is below 0; |l'| <= 1, l'' <= 1, and |x| <= 1. */
static double bound(double n, double high, const double *terms) {
    (void)high, (void)terms;
    return 2 * n;
}

const tacit_family tacit_family_huber = {
    .name = "huber",
    .title = "linear classifier with the Huberised hinge loss",
    .response = TACIT_RESPONSE_CLASS,
    .loss = { .of_classes = true,
              .kinked = true,
              .columns = 1,
              .rows = rows,
              .slope = 1,
              .curvature = steepest,
              .rounding = rounding,
              .shape_name = "huber_width",
              .shape_most = 1,
              .shape_default = 0.5 },
    .pull = pull,
    .bound = bound,
    .unbounded = "the least loss is reached by more than one set of weights",
    .pmml = "none",
};
