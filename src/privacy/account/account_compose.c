/* Composition of discretised losses by Fourier transform, with every error bounded. */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "num/special.h"
#include "privacy/account/account_pld_parts.h"

/*
 * Proof note. Run i has masses p_i(l) on the grid (dominating the true loss) and infinite mass z_i. For a
 * tilt theta > 0
 * and any constants c_i put  t_i(l) = p_i(l) e^(theta l - c_i).  Then the composition is
 *     p(l) = e^(C - theta l) t(l),  t = convolution of all t_i,  C = sum c_i,
 * and c_i is chosen to make t_i a probability. Why tilt: t is large where delta is decided, so an error of
 * 1e-12 in t is one of 1e-12 of *delta*, however small delta is.
 *
 * The ring. Computed on n points, t is summed over losses that differ by multiples of W = n h: at least t(l)
 * for each l, so to sum over the ring overestimates (what wraps round only adds). For l in (epsilon, epsilon
 * + U), U <= W:
 *     delta(epsilon) <= z + sum over those l of (1 - e^(epsilon-l)) e^(C - theta l) ring(l) + P(loss >=
 *     epsilon + U),
 * z = 1 - prod (1 - z_i), and the last term by Chernoff, min over s of e^(sum log E e^(s loss) - s (epsilon +
 * U)).
 *
 * Transform errors. Every frequency of t_i errs by e = f sum_l t_i(l) (num/fft.h). A power T of a number of
 * modulus at most M errs by T M^(T-1) (e + 3u M) to first order, computed by repeated squaring; products
 * follow. With E the Euclidean norm of the errors over all frequencies and Z that of the computed product,
 * the ring errs by at most (E + f Z)/sqrt(n) in Euclidean norm, and by Cauchy-Schwarz the weighted sum by
 * that times the norm of the weights.
 *
 * Rounding of t_i: each within a factor 1 + rho_i, the product within (1 + rho_i)^T_i; of C - theta l:
 * absolute, in the exponent. Both are put on as `inflation`.
 */

enum { CHERNOFFS = 10 };

struct tacit_composed {
    size_t length, used; /* points of the ring, and how many are summed */
    double grid, tilt;
    double *ring;
    double log_scale; /* C */
    double inflation; /* relative */
    double error;     /* Euclidean norm of the ring's error */
    double infinite;  /* rounded up */
    double largest;   /* no finite loss is above this */
    double slope[CHERNOFFS], log_moment[CHERNOFFS];
};

typedef struct workspace {
    tacit_fft *fft;
    tacit_complex *run, *product;
    double *error; /* of the product, per frequency up to length/2 */
} workspace;

/* log sum mass e^(theta l), rounded up by the caller's margin; weights by recurrence within blocks, and what
 * underflows added back as DBL_MIN a point. */
static double log_moment(const tacit_losses *losses, double theta) {
    enum { BLOCK = 64 };
    double h = losses->step, ratio = exp(theta * h), sum = (double)losses->count * DBL_MIN;
    double top = theta * ((double)(losses->first + (long)losses->count - 1) * h);
    for (size_t i = 0; i < losses->count; i += BLOCK) {
        double weight = exp(theta * ((double)(losses->first + (long)i) * h) - top);
        size_t end = i + BLOCK < losses->count ? i + BLOCK : losses->count;
        for (size_t k = i; k < end; k++, weight *= ratio) sum += losses->mass[k] * weight;
    }
    return top + log(sum);
}

/* Put the tilted masses on the ring; returns their sum. */
static double load_ring(tacit_complex *ring, size_t length, const tacit_losses *losses, double theta,
                        double shift) {
    double sum = 0;
    for (size_t k = 0; k < length; k++) ring[k] = (tacit_complex){ 0, 0 };
    for (size_t i = 0; i < losses->count; i++) {
        if (!(losses->mass[i] > 0)) continue;
        long index = losses->first + (long)i, place = index % (long)length;
        double tilted = losses->mass[i] * exp(theta * ((double)index * losses->step) - shift);
        ring[place < 0 ? place + (long)length : place].re += tilted;
        sum += tilted;
    }
    return sum;
}

static tacit_complex multiply(tacit_complex a, tacit_complex b) {
    return (tacit_complex){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

static tacit_complex power(tacit_complex base, uint64_t exponent) {
    tacit_complex result = base;
    for (exponent--; exponent > 0; exponent >>= 1) {
        if (exponent & 1) result = multiply(result, base);
        if (exponent > 1) base = multiply(base, base);
    }
    return result;
}

static double modulus(tacit_complex z) { return sqrt(z.re * z.re + z.im * z.im); }

/* product <- product x run^count for the frequencies up to length/2, with error bounds; 1e-150 is for moduli
 * whose squares underflow. */
static void multiply_in(workspace *w, size_t length, uint64_t count, double norm) {
    double e = tacit_fft_error(w->fft) * norm * (1 + 1e-9), runs = (double)count;
    for (size_t k = 0; k <= length / 2; k++) {
        double size = modulus(w->run[k]) + 2 * e;
        double bound = 1.01 * runs * exp((runs - 1) * log(size)) * (e + 3 * TACIT_ROUND * size);
        tacit_complex raised = power(w->run[k], count);
        double a = modulus(w->product[k]), b = modulus(raised);
        w->error[k] =
            1.001 * (a * bound + b * w->error[k] + w->error[k] * bound + 3 * TACIT_ROUND * a * b) + 1e-150;
        w->product[k] = multiply(w->product[k], raised);
    }
}

static tacit_status compose_step(tacit_composed *composed, workspace *w, const tacit_step *step,
                                 tacit_direction direction, const tacit_pld_plan *plan, tacit_error *error) {
    tacit_losses losses;
    bool either = direction == TACIT_EITHER && step->either;
    tacit_direction way = direction == TACIT_EITHER && !either ? TACIT_REMOVED : direction;
    TACIT_TRY(tacit_losses_make(&losses, step, way, composed->grid, plan->tail, error));
    double runs = (double)step->count, theta = composed->tilt, h = composed->grid;
    double shift = log_moment(&losses, theta),
           reach = fmax(fabs((double)losses.first), (double)losses.count) * h * 2;
    double sum = load_ring(w->run, composed->length, &losses, theta, shift);
    tacit_fft_forward(w->fft, w->run);
    multiply_in(w, composed->length, step->count, sum * (1 + (double)losses.count * DBL_EPSILON));
    composed->largest += runs * ((double)(losses.first + (long)losses.count - 1) * h);
    composed->log_scale += runs * shift;
    composed->inflation += runs * 8 * TACIT_ROUND * (4 + theta * reach + fabs(shift));
    composed->infinite += runs * log1p(-losses.infinite); /* the logarithm, until all are in */
    for (int j = 0; j < CHERNOFFS; j++) {
        double moment = log_moment(&losses, composed->slope[j]);
        composed->log_moment[j] += runs * (moment + (double)losses.count * DBL_EPSILON +
                                           1e-13 * (1 + fabs(moment) + composed->slope[j] * reach / 64));
    }
    free(losses.mass);
    return TACIT_OK;
}

static tacit_status workspace_make(workspace *w, size_t length, tacit_error *error) {
    TACIT_TRY(tacit_fft_create(&w->fft, length, error));
    w->run = TACIT_NEW(tacit_complex, length);
    w->product = TACIT_NEW(tacit_complex, length);
    w->error = TACIT_NEW(double, length / 2 + 1);
    if (w->run == NULL || w->product == NULL || w->error == NULL) return tacit_fail_memory(error);
    for (size_t k = 0; k < length; k++) w->product[k] = (tacit_complex){ 1, 0 };
    return TACIT_OK;
}

/* Back from the frequencies: the upper half of the spectrum of a real ring is the mirrored lower half. */
static void finish(tacit_composed *composed, workspace *w) {
    size_t n = composed->length;
    double errors = 0, sizes = 0;
    for (size_t k = 0; k <= n / 2; k++) {
        double times = k == 0 || k == n / 2 ? 1 : 2, size = modulus(w->product[k]);
        errors += times * w->error[k] * w->error[k];
        sizes += times * size * size;
        if (times > 1) w->product[n - k] = (tacit_complex){ w->product[k].re, -w->product[k].im };
    }
    tacit_fft_inverse(w->fft, w->product);
    for (size_t k = 0; k < n; k++) composed->ring[k] = w->product[k].re;
    composed->error = (sqrt(errors) + tacit_fft_error(w->fft) * sqrt(sizes)) / sqrt((double)n) * (1 + 1e-9);
    composed->infinite = -expm1(composed->infinite) * (1 + 1e-12);
    composed->inflation += 16 * TACIT_ROUND * fabs(composed->log_scale);
}

tacit_status tacit_compose(tacit_composed **out, const tacit_steps *steps, tacit_direction direction,
                           const tacit_pld_plan *plan, tacit_error *error) {
    tacit_status status = TACIT_OK;
    workspace w = { NULL, NULL, NULL, NULL };
    tacit_composed *composed = TACIT_NEW(tacit_composed, 1);
    if (composed == NULL) return tacit_fail_memory(error);
    composed->length = plan->length;
    composed->grid = plan->grid;
    composed->tilt = plan->tilt;
    composed->used = (size_t)fmin((double)plan->length, ceil(plan->used / plan->grid));
    for (int j = 0; j < CHERNOFFS; j++)
        composed->slope[j] = plan->tilt + (j == 0 ? 0 : pow(1.6, j - 1)) / plan->spread;
    composed->ring = TACIT_NEW(double, plan->length);
    if (composed->ring == NULL) {
        status = tacit_fail_memory(error);
        goto cleanup;
    }
    TACIT_CHECK(workspace_make(&w, plan->length, error));
    for (size_t i = 0; i < steps->count; i++)
        TACIT_CHECK(compose_step(composed, &w, &steps->items[i], direction, plan, error));
    finish(composed, &w);
    *out = composed;
    composed = NULL;
cleanup:
    tacit_fft_free(w.fft);
    free(w.run);
    free(w.product);
    free(w.error);
    tacit_composed_free(composed);
    return status;
}

tacit_composed *tacit_composed_free(tacit_composed *composed) {
    if (composed != NULL) free(composed->ring);
    free(composed);
    return NULL;
}

double tacit_composed_infinite(const tacit_composed *composed) { return composed->infinite; }

/* The sums over the ring that delta needs: weights (1 - e^-x) e^(-theta x), x = l - epsilon. */
typedef struct ring_sums {
    double value, squares, absolute;
} ring_sums;

static ring_sums sum_ring(const tacit_composed *composed, double epsilon, long start) {
    enum { BLOCK = 64 };
    ring_sums sums = { 0, 0, 0 };
    double h = composed->grid, theta = composed->tilt, fade = exp(-theta * h), fall = exp(-h);
    size_t place = (size_t)(start % (long)composed->length);
    for (size_t i = 0; i < composed->used; i += BLOCK) {
        double x = (double)(start + (long)i) * h - epsilon, tilted = exp(-theta * x), plain = exp(-x);
        size_t end = i + BLOCK < composed->used ? i + BLOCK : composed->used;
        for (size_t k = i; k < end; k++) {
            double mass = composed->ring[place], weight = tilted * (1 - plain);
            sums.value += weight * mass;
            sums.squares += weight * weight;
            sums.absolute += tilted * fabs(mass);
            tilted *= fade;
            plain *= fall;
            if (++place == composed->length) place = 0;
        }
        if (theta * x > 745) break; /* the weights have vanished */
    }
    return sums;
}

double tacit_composed_delta(const tacit_composed *composed, double epsilon) {
    double h = composed->grid, theta = composed->tilt;
    long start = (long)floor(epsilon / h) + 1;
    ring_sums sums = sum_ring(composed, epsilon, start);
    /* Recurrences of 64 factors, sums of `used` terms pairwise no better than this, and the exponents. */
    double rounding = (300 + (double)composed->used + theta * epsilon) * TACIT_ROUND * sums.absolute;
    double inside = sums.value + rounding + sqrt(sums.squares) * composed->error * (1 + 1e-6);
    double exponent = composed->log_scale - theta * epsilon;
    double inflation = composed->inflation + 16 * TACIT_ROUND * (1 + theta * epsilon);
    double delta = exp(exponent + inflation) * fmax(inside, 0) * (1 + 1e-13);
    double end = (double)(start + (long)composed->used) * h, beyond = 0;
    for (int j = 0; j < CHERNOFFS; j++) {
        double margin = 1e-12 * (1 + composed->slope[j] * end);
        beyond = fmin(beyond, composed->log_moment[j] - composed->slope[j] * end + margin);
    }
    if (end > composed->largest * (1 + 1e-12) + h) beyond = -INFINITY;
    delta += exp(beyond) + composed->infinite + 1e-299;
    return delta < 1 ? delta : 1; /* also when it is not a number */
}
