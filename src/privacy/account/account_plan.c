/* Choosing tilt, window and grid for the PLD accountant. Nothing here needs to be exact: any plan gives upper
 * bounds. */
#include <math.h>

#include "base/memory.h"
#include "privacy/account/account_pld_parts.h"

/* A step's loss as a few hundred points, good enough for its moments. */
typedef struct sketch {
    double *loss, *mass, *log_mass;
    size_t count;
    double runs;
} sketch;

typedef struct picture {
    sketch *sketches;
    size_t count;
    double runs;
} picture;

enum { NODES_MOST = 4000 };

static double normal_density(double z) { return exp(-z * z / 2) * 0.3989422804014327; }

static void sketch_point(sketch *s, double loss, double mass) {
    if (!(isfinite(loss) && mass > 0)) return;
    s->loss[s->count] = loss;
    s->log_mass[s->count] = log(mass);
    s->mass[s->count++] = mass;
}

/* Nodes at equal distances of the unsampled loss, each with density times distance. */
static void sketch_direction(sketch *s, const tacit_step *step, tacit_direction direction, double tail,
                             int side) {
    double low, high, q = step->sampling;
    tacit_atom atoms[TACIT_ATOMS_MOST];
    size_t count = tacit_step_atoms(atoms, step, direction);
    for (size_t i = 0; i < count; i++)
        if (side == 0 || (side > 0) == (atoms[i].loss > 0)) sketch_point(s, atoms[i].loss, atoms[i].mass);
    tacit_step_reach(&low, &high, step, direction, tail);
    if (!(low < high)) return;
    double x = step->parameter, m = 1 / x, nodes = fmin(NODES_MOST, ceil((high - low) / (m / 32)) + 4);
    double width = (high - low) / nodes;
    for (double k = 0; k < nodes; k++) {
        double t = low + (k + 0.5) * width, p, r;
        if (step->kind == TACIT_EVENT_GAUSSIAN) {
            p = normal_density(t / m - m / 2) / m * width;
            r = normal_density(t / m + m / 2) / m * width;
        } else {
            p = 0.25 * exp((t - m) / 2) * width;
            r = 0.25 * exp((-t - m) / 2) * width;
        }
        double mass = direction == TACIT_ADDED ? p : (1 - q) * r + q * p;
        double loss = tacit_sampled_loss(q, direction, t);
        if (side == 0 || (side > 0) == (loss > 0)) sketch_point(s, loss, mass);
    }
}

/* The pair EITHER of a Gaussian, at equal distances of z. */
static void sketch_opposed(sketch *s, const tacit_step *step, double tail) {
    double low, high, m = 1 / step->parameter, q = step->sampling;
    tacit_opposed_reach(&low, &high, step, tail);
    double nodes = fmin(NODES_MOST, ceil((high - low) * 32) + 4), width = (high - low) / nodes;
    for (double k = 0; k < nodes; k++) {
        double z = low + (k + 0.5) * width;
        double mass = ((1 - q) * normal_density(z) + q * normal_density(z - m)) * width;
        sketch_point(s, tacit_opposed_loss(step, z), mass);
    }
}

static void picture_free(picture *p) {
    for (size_t i = 0; p->sketches != NULL && i < p->count; i++) {
        free(p->sketches[i].loss);
        free(p->sketches[i].mass);
        free(p->sketches[i].log_mass);
    }
    free(p->sketches);
}

static tacit_status picture_make(picture *out, const tacit_steps *steps, tacit_direction direction,
                                 double tail, tacit_error *error) {
    *out = (picture){ TACIT_NEW(sketch, steps->count), steps->count, 0 };
    if (out->sketches == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < steps->count; i++) {
        sketch *s = &out->sketches[i];
        const tacit_step *step = &steps->items[i];
        s->loss = TACIT_NEW(double, 2 * NODES_MOST + 16);
        s->mass = TACIT_NEW(double, 2 * NODES_MOST + 16);
        s->log_mass = TACIT_NEW(double, 2 * NODES_MOST + 16);
        if (s->loss == NULL || s->mass == NULL || s->log_mass == NULL) {
            picture_free(out);
            return tacit_fail_memory(error);
        }
        s->runs = (double)step->count;
        out->runs += s->runs;
        bool either = direction == TACIT_EITHER && step->either;
        bool opposed = either && step->kind == TACIT_EVENT_GAUSSIAN;
        if (opposed) sketch_opposed(s, step, tail);
        if (either && !opposed) sketch_direction(s, step, TACIT_ADDED, tail, -1);
        if (!opposed)
            sketch_direction(s, step, direction == TACIT_ADDED ? TACIT_ADDED : TACIT_REMOVED, tail,
                             either ? 1 : 0);
        double sum = 0;
        for (size_t k = 0; k < s->count; k++) sum += s->mass[k];
        if (either) sketch_point(s, 1e-300, 1 - sum);
        sketch_point(s, 0, 1e-300); /* never empty */
    }
    return TACIT_OK;
}

/* The widest range of any one run's losses. */
static double picture_reach(const picture *p) {
    double widest = 0;
    for (size_t i = 0; i < p->count; i++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t k = 0; k < p->sketches[i].count; k++) {
            low = fmin(low, p->sketches[i].loss[k]);
            high = fmax(high, p->sketches[i].loss[k]);
        }
        widest = fmax(widest, high - low);
    }
    return widest;
}

/* log E e^(theta loss) of the composition, with its first two derivatives. */
typedef struct cumulants {
    double log_moment, mean, variance;
} cumulants;

static cumulants cumulants_at(const picture *p, double theta) {
    cumulants total = { 0, 0, 0 };
    for (size_t i = 0; i < p->count; i++) {
        const sketch *s = &p->sketches[i];
        double top = -INFINITY, sum = 0, first = 0, second = 0;
        for (size_t k = 0; k < s->count; k++) top = fmax(top, theta * s->loss[k] + s->log_mass[k]);
        for (size_t k = 0; k < s->count; k++) {
            double weight = s->mass[k] * exp(theta * s->loss[k] - top);
            sum += weight;
            first += weight * s->loss[k];
            second += weight * s->loss[k] * s->loss[k];
        }
        double mean = first / sum;
        total.log_moment += s->runs * (top + log(sum));
        total.mean += s->runs * mean;
        total.variance += s->runs * fmax(0, second / sum - mean * mean);
    }
    return total;
}

/* The tilt where Chernoff's bound at delta is least, theta K' - K = log(1/delta), or, without delta, where
 * the tilted mean is epsilon. Both sides grow with theta. A bounded loss may leave no root: theta stops at
 * `most` log(1/delta)/epsilon. */
static double choose_tilt(bool *stopped, const picture *p, double delta, double epsilon, double most) {
    double low = log(1e-3), high = log(1e9);
    *stopped = false;
    for (int i = 0; i < 40; i++) {
        double theta = exp((low + high) / 2);
        cumulants c = cumulants_at(p, theta);
        bool beyond = delta > 0 ? theta * c.mean - c.log_moment > -log(delta) : c.mean > epsilon;
        double scale = fmax(delta > 0 ? (c.log_moment - log(delta)) / theta : epsilon, 1e-9);
        double asked = delta > 0 ? -log(delta) : fmin(650, fmax(10, theta * epsilon - c.log_moment));
        bool stop = theta > fmax(10, most * asked / scale);
        if (beyond || stop) {
            high = (low + high) / 2;
            *stopped = !beyond;
        } else {
            low = (low + high) / 2;
        }
    }
    return exp(high);
}

/* Where the tilted loss has at most e^-depth above it (side 1) or the untilted one below it (side -1), by
 * Chernoff. */
static double tail_limit(const picture *p, double theta, double spread, double depth, int side) {
    double base = cumulants_at(p, theta).log_moment, best = INFINITY;
    for (double s = 0.05; s < 40; s *= 1.3) {
        double slope = s / spread, moment = cumulants_at(p, theta + side * slope).log_moment;
        best = fmin(best, (moment - base + depth) / slope);
    }
    return side * best;
}

static const double DEPTH = 23; /* parts lost on the way are e^-23 = 1e-10 of delta */

enum { LENGTH_LEAST = 1 << 12, LENGTH_MOST = 1 << 20 };

/* The grid: spreading over cells of h raises a run's log moment by about theta (theta + 1) h^2/12, hence
 * epsilon by runs (theta + 1) h^2/12; one part in 1e5 of it (or of a tenth of the spread) is allowed. Where
 * events have point masses at +-e, h divides e, so that they need no spreading. */
static void choose_grid(tacit_pld_plan *plan, const tacit_steps *steps, double runs, double least) {
    double allowed = sqrt(12e-5 * fmax(plan->epsilon, 0.1 * plan->spread) / (runs * (plan->tilt + 1)));
    size_t length = LENGTH_LEAST;
    while (length < LENGTH_MOST && plan->window / (double)length > allowed) length *= 2;
    /* a short ring is no reason for a fine grid */
    plan->grid = fmax(plan->window / (double)length, allowed / 8);
    plan->grid = fmax(plan->grid, least);
    plan->length = length;
    for (size_t i = 0; i < steps->count; i++) {
        const tacit_step *step = &steps->items[i];
        if (step->kind == TACIT_EVENT_GAUSSIAN || step->sampling < 1) continue;
        double e = step->kind == TACIT_EVENT_LAPLACE ? 1 / step->parameter : step->parameter;
        double cells = floor(e / plan->grid);
        if (cells >= 1) plan->grid = e / cells;
        break;
    }
}

/* Window and grid, given tilt, spread and the logarithm of delta. */
static void choose_window(tacit_pld_plan *plan, const picture *p, double answer, double log_delta) {
    /* From the answer up to where the tilted loss ends. */
    plan->used = fmax(tail_limit(p, plan->tilt, plan->spread, DEPTH, 1) - answer, 2 * plan->spread);
    /* What is below wraps round to the top, damped by e^(-tilt window): either that is enough, or there is
     * room. */
    double damped = (DEPTH - log_delta) / plan->tilt;
    double lowest = tail_limit(p, 0, plan->spread, DEPTH - log_delta, -1);
    double roomy = plan->used + fmax(0, plan->epsilon - lowest);
    plan->window = fmax(plan->used, fmin(damped, roomy));
    if (damped <= plan->window) plan->used = plan->window;
}

/* The picture must end where the losses will be cut off, for a heavy tail decides the moments: so delta is
 * needed first. When it is asked for, it is guessed from the uncut picture, and again until it settles. */
tacit_status tacit_pld_plan_make(tacit_pld_plan *out, const tacit_steps *steps, tacit_direction direction,
                                 double delta, double epsilon, bool far, tacit_error *error) {
    tacit_pld_plan plan = { .epsilon = epsilon, .tail = 1e-300 };
    double log_delta = log(delta), runs = 0, before = 0;
    for (size_t i = 0; i < steps->count; i++) runs += (double)steps->items[i].count;
    for (int pass = 0; pass < 12; pass++) {
        picture p;
        if (delta > 0 || pass > 0) plan.tail = fmax(exp(log_delta - DEPTH) / runs, 1e-300);
        TACIT_TRY(picture_make(&p, steps, direction, plan.tail, error));
        plan.tilt = choose_tilt(&plan.stopped, &p, delta, epsilon, far ? 800 : 8);
        cumulants c = cumulants_at(&p, plan.tilt);
        plan.spread = fmax(sqrt(c.variance), 1e-9);
        before = log_delta;
        if (delta > 0)
            plan.epsilon = (c.log_moment - log_delta) / plan.tilt;
        else
            log_delta = fmin(-1, fmax(-665, c.log_moment - plan.tilt * epsilon));
        bool last = delta > 0 || pass == 11 || (pass > 0 && fabs(log_delta - before) < 1);
        /* The answer lies a little below Chernoff's epsilon. */
        double answer = delta > 0 ? fmax(0, plan.epsilon - 12 / plan.tilt) : epsilon;
        if (last) {
            choose_window(&plan, &p, answer, log_delta);
            choose_grid(&plan, steps, runs, far ? picture_reach(&p) * 0x1p-17 : 0);
        }
        picture_free(&p);
        if (last) break;
    }
    *out = plan;
    return TACIT_OK;
}
