/* One run's privacy loss on a grid, never more favourable than the truth. */
#include <math.h>

#include "base/memory.h"
#include "privacy/account/account_pld_parts.h"

/*
 * Proof note ("connect the dots", Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022). Write r = Q/P =
 * e^-loss. For any independent rest of the composition, delta is E_P f(r) with f(r) = (1 - c r)_+ convex and
 * decreasing. So delta only grows when
 *   (a) the mass P of a cell of losses [i h, (i+1) h] is put on its two ends with P and Q = E_P r kept: a
 *       mean-preserving spread of r. The upper end gets (P - e^(ih) Q)/(1 - e^-h), the lower one the rest;
 *   (b) mass is moved to a larger loss; (c) mass is added.
 * Rounding is turned into (b) and (c): the cell's P is raised by its error bound, the share of the upper end
 * by the error of P, of Q and of the cell's limits. Limits: a computed limit is right for a loss within
 * `slack` of the one asked for, so the limit for i h is computed at i h - slack, and losses of the cell lie
 * in [i h - 2 slack, (i+1) h]. Those below i h are counted as i h, which takes at most P (e^(2 slack) - 1)
 * e^-(ih) off Q, hence 2.1 slack P more on the upper end. Beyond the grid: above its end losses are infinite,
 * below its start they are raised to it.
 */

enum { POINTS_MOST = 1 << 21 };

/* Rounding of tacit_unsampled_loss seen from the sampled loss, and that of the standardised Gaussian bound.
 * Where the mixture thins out to 1 - q (losses below 0 in REMOVED, above 0 in ADDED) e^loss - 1 is what
 * carries the digits. */
static double limit_slack(const tacit_step *step, tacit_direction direction, double loss, double t) {
    double m = step->kind == TACIT_EVENT_GAUSSIAN ? 1 / step->parameter : 0;
    double thin = direction == TACIT_ADDED ? loss : -loss;
    double steep = step->sampling < 1 && thin > 0 ? expm1(thin) : 0;
    return 8 * TACIT_ROUND * (1 + fabs(loss) + steep + (isfinite(t) ? fabs(t) : 0) + m * m);
}

static double cell_limit(double *slack, const tacit_step *step, tacit_direction direction, double loss) {
    if (direction == TACIT_EITHER) {
        double unused;
        tacit_opposed_place(slack, step, loss);
        return tacit_opposed_place(&unused, step, loss - *slack);
    }
    double t = tacit_unsampled_loss(step->sampling, direction, loss);
    *slack = limit_slack(step, direction, loss, t);
    return tacit_unsampled_loss(step->sampling, direction, loss - *slack);
}

/* P and Q of an interval of unsampled losses, or in EITHER of z, seen from the direction. */
static tacit_slice directed(const tacit_step *step, tacit_direction direction, double low, double high) {
    if (direction == TACIT_EITHER) return tacit_opposed_slice(step, low, high);
    tacit_slice base = tacit_step_slice(step, low, high);
    double s = step->sampling, other = 1 - s;
    if (s == 1) return base;
    double mixed = other * base.q + s * base.p;
    double mixed_error = other * base.q_error + s * base.p_error + 4 * TACIT_ROUND * mixed;
    if (direction == TACIT_REMOVED) return (tacit_slice){ mixed, base.q, mixed_error, base.q_error };
    mixed = other * base.p + s * base.q;
    mixed_error = other * base.p_error + s * base.q_error + 4 * TACIT_ROUND * mixed;
    return (tacit_slice){ base.p, mixed, base.p_error, mixed_error };
}

static void add_at(tacit_losses *losses, long index, double mass) {
    if (index < losses->first) index = losses->first;
    if (index >= losses->first + (long)losses->count)
        losses->infinite += mass;
    else
        losses->mass[index - losses->first] += mass;
}

static void add_cell(tacit_losses *losses, long index, tacit_slice slice, double slack) {
    double loss = (double)index * losses->step, mass = slice.p + slice.p_error, growth = exp(loss);
    double numerator = slice.p - growth * slice.q,
           error = slice.p_error + growth * slice.q_error +
                   4 * TACIT_ROUND * (slice.p + growth * slice.q) * (1 + fabs(loss)) + 2.1 * slack * slice.p;
    double upper = (numerator + error) / -expm1(-losses->step) * (1 + 8 * TACIT_ROUND) + slice.p_error;
    upper = isfinite(upper) ? fmin(fmax(upper, 0), mass) : mass;
    add_at(losses, index + 1, upper);
    add_at(losses, index, (mass - upper) * (1 + 4 * TACIT_ROUND));
}

/* A point mass is a cell by itself: P on its loss, Q = P e^-loss. */
static void add_atom(tacit_losses *losses, tacit_atom atom) {
    if (isinf(atom.loss)) {
        losses->infinite += atom.mass;
        return;
    }
    double place = floor(atom.loss / losses->step), h = losses->step;
    if (place * h > atom.loss) place -= 1;
    if (place < (double)losses->first) {
        losses->mass[0] += atom.mass;
        return;
    }
    double share = expm1(place * h - atom.loss) / expm1(-h) * (1 + 8 * TACIT_ROUND) +
                   4 * TACIT_ROUND * (1 + fabs(atom.loss)) / h;
    share = fmin(1, share);
    add_at(losses, (long)place + 1, atom.mass * share);
    add_at(losses, (long)place, atom.mass * (1 - share) * (1 + 4 * TACIT_ROUND));
}

/* The continuous part between grid indices, and beyond them when they are the grid's ends. */
static void add_continuous(tacit_losses *losses, const tacit_step *step, tacit_direction direction, long from,
                           long to) {
    double slack, next_slack, low = cell_limit(&slack, step, direction, (double)from * losses->step);
    if (from == losses->first) {
        tacit_slice below = directed(step, direction, -INFINITY, low);
        add_at(losses, from, below.p + below.p_error);
    }
    for (long index = from; index < to; index++) {
        double high = cell_limit(&next_slack, step, direction, (double)(index + 1) * losses->step);
        if (low < high)
            add_cell(losses, index, directed(step, direction, low, high), fmax(slack, next_slack));
        low = high;
        slack = next_slack;
    }
    if (to == losses->first + (long)losses->count - 1) {
        tacit_slice above = directed(step, direction, low, INFINITY);
        losses->infinite += above.p + above.p_error;
    }
}

static void add_direction(tacit_losses *losses, const tacit_step *step, tacit_direction direction, long from,
                          long to, bool above, bool below) {
    tacit_atom atoms[TACIT_ATOMS_MOST];
    size_t count = tacit_step_atoms(atoms, step, direction); /* a Gaussian has none */
    for (size_t i = 0; i < count; i++)
        if (atoms[i].loss > 0 ? above : below) add_atom(losses, atoms[i]);
    if (step->kind == TACIT_EVENT_GAUSSIAN || step->kind == TACIT_EVENT_LAPLACE)
        add_continuous(losses, step, direction, from, to);
}

/* EITHER of another event than a Gaussian: the mass at loss 0 is what REMOVED has not above it and ADDED not
 * below the limit its last cell ends at. */
static double mass_at_zero(const tacit_step *step) {
    tacit_atom atoms[TACIT_ATOMS_MOST];
    double slack, limit = cell_limit(&slack, step, TACIT_ADDED, 0);
    tacit_slice above = directed(step, TACIT_REMOVED, 0, INFINITY);
    tacit_slice below = directed(step, TACIT_ADDED, -INFINITY, limit);
    double rest = 1 - above.p + above.p_error - below.p + below.p_error;
    size_t count = tacit_step_atoms(atoms, step, TACIT_REMOVED);
    for (size_t i = 0; i < count; i++)
        if (atoms[i].loss > 0) rest -= atoms[i].mass * (1 - 64 * TACIT_ROUND * (1 + step->parameter));
    count = tacit_step_atoms(atoms, step, TACIT_ADDED);
    for (size_t i = 0; i < count; i++)
        if (!(atoms[i].loss > 0)) rest -= atoms[i].mass * (1 - 64 * TACIT_ROUND * (1 + step->parameter));
    return fmax(0, rest + 8 * TACIT_ROUND);
}

/* The losses that the grid must hold: the reach of the continuous part and the finite atoms. */
static void grid_reach(double *low, double *high, const tacit_step *step, tacit_direction direction,
                       double tail) {
    tacit_atom atoms[TACIT_ATOMS_MOST];
    double from, to;
    if (direction == TACIT_EITHER) {
        tacit_opposed_reach(&from, &to, step, tail);
        *low = tacit_opposed_loss(step, from);
        *high = tacit_opposed_loss(step, to);
        return;
    }
    tacit_step_reach(&from, &to, step, direction, tail);
    *low = INFINITY, *high = -INFINITY;
    if (from < to) {
        *low = tacit_sampled_loss(step->sampling, direction, from);
        *high = tacit_sampled_loss(step->sampling, direction, to);
    }
    size_t count = tacit_step_atoms(atoms, step, direction);
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(atoms[i].loss)) continue;
        *low = fmin(*low, atoms[i].loss);
        *high = fmax(*high, atoms[i].loss);
    }
    if (!(*low <= *high)) *low = *high = 0; /* all mass is infinite */
}

tacit_status tacit_losses_make(tacit_losses *out, const tacit_step *step, tacit_direction direction,
                               double grid, double tail, tacit_error *error) {
    bool either = direction == TACIT_EITHER && step->kind != TACIT_EVENT_GAUSSIAN;
    double low, high, other_low, other_high;
    grid_reach(&low, &high, step, either ? TACIT_REMOVED : direction, tail);
    if (either) {
        grid_reach(&other_low, &other_high, step, TACIT_ADDED, tail);
        low = fmin(other_low, 0);
        high = fmax(high, 0);
    }
    double first = floor(low / grid) - 1, last = ceil(high / grid) + 1;
    if (!(fabs(last) < 1e9))
        return tacit_fail(error, TACIT_LIMIT, "a loss of %g is too large for the grid", high);
    if (last - first > POINTS_MOST) first = last - POINTS_MOST;
    tacit_losses losses = { grid, (long)first, (size_t)(last - first) + 1, NULL, 0 };
    losses.mass = TACIT_NEW(double, losses.count);
    if (losses.mass == NULL) return tacit_fail_memory(error);
    long end = (long)last;
    if (either) {
        long middle = losses.first > 0 ? losses.first : 0;
        add_direction(&losses, step, TACIT_REMOVED, middle, end, true, false);
        add_direction(&losses, step, TACIT_ADDED, losses.first < middle ? losses.first : middle, middle,
                      false, true);
        add_at(&losses, 0, mass_at_zero(step));
    } else {
        add_direction(&losses, step, direction, losses.first, end, true, true);
    }
    losses.infinite = fmin(1, losses.infinite * (1 + 1e-12));
    *out = losses;
    return TACIT_OK;
}
