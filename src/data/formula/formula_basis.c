/*
 * Several columns of one number: polynomials and splines.
 *
 * poly(x, d): the Legendre polynomials P_1 .. P_d of u = 2 (x - low)/(high - low) - 1, orthogonal over the
 * range of x rather than over the rows as R's are, and within [-1, 1]. They span the same polynomials: fitted
 * values, deviances and tests of the highest degree are R's. poly(x, d, raw = TRUE): x, x^2, ... as in R.
 *
 * spline(x, ...), ns(x, ...): natural cubic splines as R's splines::ns has them for the same knots and
 * Boundary.knots: B-splines without the first, projected by Householder reflections (LINPACK's) onto those
 * whose second derivative is 0 at both boundary knots; linear outside. By default df - 1 knots lie evenly
 * between the bounds. bs(x, ...): cubic B-splines without the first.
 */
#include <math.h>
#include <string.h>

#include "data/formula/formula_parts.h"

enum { DEGREE = FORMULA_ORDER - 1 };

/* ---- B-splines ---- */

/* Those of a degree at x, of which there are splines + DEGREE - degree. */
static void splines_of_degree(const formula_basis *basis, double x, size_t degree, double *out) {
    const double *t = basis->knots;
    size_t last = basis->splines + DEGREE; /* intervals of the knots */
    size_t inside = basis->splines - 1;    /* the last interval that is not empty */
    for (size_t i = 0; i < last; i++) out[i] = 0;
    size_t at = DEGREE;
    while (at < inside && x >= t[at + 1]) at++;
    out[at] = 1;
    for (size_t p = 1; p <= degree; p++)
        for (size_t i = 0; i + p < last; i++) {
            double left = t[i + p] - t[i], right = t[i + p + 1] - t[i + 1];
            out[i] = (left > 0 ? (x - t[i]) / left * out[i] : 0) +
                     (right > 0 ? (t[i + p + 1] - x) / right * out[i + 1] : 0);
        }
}

/* The cubic ones, or a derivative of them. */
static void cubic_splines(const formula_basis *basis, double x, size_t derivative, double *out) {
    double work[FORMULA_SPLINES + FORMULA_ORDER];
    const double *t = basis->knots;
    splines_of_degree(basis, x, DEGREE - derivative, work);
    for (size_t p = DEGREE - derivative + 1; p <= DEGREE; p++)
        for (size_t i = 0; i + p < basis->splines + DEGREE; i++) {
            double left = t[i + p] - t[i], right = t[i + p + 1] - t[i + 1];
            work[i] = (double)p * ((left > 0 ? work[i] / left : 0) - (right > 0 ? work[i + 1] / right : 0));
        }
    memcpy(out, work, basis->splines * sizeof *out);
}

/* Straight on beyond the boundary knots. */
static void extended_splines(const formula_basis *basis, double x, double *out) {
    double pivot = fmin(fmax(x, basis->low), basis->high), slope[FORMULA_SPLINES];
    cubic_splines(basis, pivot, 0, out);
    if (pivot == x) return;
    cubic_splines(basis, pivot, 1, slope);
    for (size_t i = 0; i < basis->splines; i++) out[i] += (x - pivot) * slope[i];
}

/* x <- (I - v v^T/v_k) x, from row k on. */
static void reflect(const double *v, size_t k, size_t n, double *x) {
    double sum = 0;
    for (size_t i = k; i < n; i++) sum += v[i] * x[i];
    for (size_t i = k; i < n; i++) x[i] -= sum / v[k] * v[i];
}

/* The reflection that brings x to a multiple of unit vector k. */
static void reflection(double *x, size_t k, size_t n) {
    double norm = 0;
    for (size_t i = k; i < n; i++) norm += x[i] * x[i];
    norm = sqrt(norm);
    if (x[k] < 0) norm = -norm;
    for (size_t i = k; i < n; i++) x[i] /= norm;
    x[k] += 1;
}

/* columns = the last rows of Q^T for the QR decomposition of the second derivatives at both ends. */
static void natural_map(formula_basis *basis) {
    size_t n = basis->splines - 1;
    double first[FORMULA_SPLINES], second[FORMULA_SPLINES], *a = first + 1, *b = second + 1;
    cubic_splines(basis, basis->low, 2, first);
    cubic_splines(basis, basis->high, 2, second);
    reflection(a, 0, n);
    reflect(a, 0, n, b);
    reflection(b, 1, n);
    for (size_t i = 0; i < n; i++) {
        double unit[FORMULA_SPLINES] = { 0 };
        unit[i] = 1;
        reflect(a, 0, n, unit);
        reflect(b, 1, n, unit);
        for (size_t j = 0; j < basis->columns; j++) basis->map[j][i + 1] = unit[j + 2];
    }
}

static void finish_splines(formula_basis *basis, const double *inner, size_t count) {
    basis->splines = count + FORMULA_ORDER;
    for (size_t i = 0; i < FORMULA_ORDER; i++) {
        basis->knots[i] = basis->low;
        basis->knots[FORMULA_ORDER + count + i] = basis->high;
    }
    memcpy(basis->knots + FORMULA_ORDER, inner, count * sizeof *inner);
    if (basis->kind == FORMULA_NATURAL) {
        basis->columns = count + 1;
        natural_map(basis);
    } else {
        basis->columns = count + DEGREE;
        for (size_t j = 0; j < basis->columns; j++) basis->map[j][j + 1] = 1;
    }
}

/* ---- values ---- */

static void legendre(double u, size_t degree, double *out) {
    double before = 1, here = u;
    for (size_t k = 1; k <= degree; k++) {
        out[k - 1] = here;
        double next = ((double)(2 * k + 1) * u * here - (double)k * before) / (double)(k + 1);
        before = here;
        here = next;
    }
}

void formula_basis_values(const formula_basis *basis, double x, double *out) {
    double spline[FORMULA_SPLINES], power = 1;
    switch (basis->kind) {
    case FORMULA_POLY:
        legendre(2 * (x - basis->low) / (basis->high - basis->low) - 1, basis->columns, out);
        return;
    case FORMULA_RAW_POLY:
        for (size_t j = 0; j < basis->columns; j++) out[j] = power *= x;
        return;
    case FORMULA_NATURAL:
    case FORMULA_BSPLINE: break;
    }
    extended_splines(basis, x, spline);
    for (size_t j = 0; j < basis->columns; j++) {
        out[j] = 0;
        for (size_t i = 1; i < basis->splines; i++) out[j] += basis->map[j][i] * spline[i];
    }
}

/* ---- ranges ---- */

static void widen(double value, double *low, double *high) {
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

/* The extremes of the cubic through four values, evenly spaced on [0, 1]. */
static void extremes(const double f[4], double *low, double *high) {
    double a = (-11 * f[0] + 18 * f[1] - 9 * f[2] + 2 * f[3]) / 2;
    double b = 9 * (2 * f[0] - 5 * f[1] + 4 * f[2] - f[3]) / 2;
    double c = 9 * (-f[0] + 3 * f[1] - 3 * f[2] + f[3]) / 2;
    widen(f[0], low, high);
    widen(f[3], low, high);
    double square = b * b - 3 * a * c; /* a + 2 b s + 3 c s^2 = 0 */
    if (!(square >= 0)) return;
    double q = -(b + copysign(sqrt(square), b)), roots[] = { q / (3 * c), a / q };
    for (int k = 0; k < 2; k++)
        if (roots[k] > 0 && roots[k] < 1)
            widen(f[0] + roots[k] * (a + roots[k] * (b + roots[k] * c)), low, high);
}

static void range_between(const formula_basis *basis, double from, double to, double *low, double *high) {
    double value[4][TACIT_FORMULA_BASIS];
    for (int k = 0; k < 4; k++)
        formula_basis_values(basis, k < 3 ? from + (to - from) * k / 3 : to, value[k]);
    for (size_t j = 0; j < basis->columns; j++) {
        double f[4] = { value[0][j], value[1][j], value[2][j], value[3][j] };
        extremes(f, &low[j], &high[j]);
    }
}

void formula_basis_ranges(const formula_basis *basis, double from, double to, double *low, double *high) {
    for (size_t j = 0; j < basis->columns; j++) {
        low[j] = basis->kind == FORMULA_POLY ? -1 : INFINITY;
        high[j] = basis->kind == FORMULA_POLY ? 1 : -INFINITY;
        if (basis->kind != FORMULA_RAW_POLY) continue;
        widen(pow(from, (double)j + 1), &low[j], &high[j]);
        widen(pow(to, (double)j + 1), &low[j], &high[j]);
        if (j % 2 == 1 && from < 0 && to > 0) widen(0, &low[j], &high[j]);
    }
    if (basis->kind == FORMULA_POLY || basis->kind == FORMULA_RAW_POLY) return;
    double at = from;
    for (size_t k = DEGREE; k <= basis->splines; k++) {
        double knot = basis->knots[k];
        if (!(knot > at && knot < to)) continue;
        range_between(basis, at, knot, low, high);
        at = knot;
    }
    range_between(basis, at, to, low, high);
    static const double ROUNDING = 1e-12;
    for (size_t j = 0; j < basis->columns; j++) {
        double more = ROUNDING * fmax(fabs(low[j]), fabs(high[j]));
        low[j] -= more;
        high[j] += more;
    }
}

/* ---- arguments ---- */

static tacit_status read_poly(formula_basis *out, formula_tree *tree, uint32_t node, double from, double to,
                              tacit_error *error) {
    static const char *const names[] = { "x", "degree", "raw", NULL };
    TACIT_TRY(formula_check_arguments(tree, node, names, 2, error));
    uint32_t degree = formula_argument(tree, node, "degree", 1), raw = formula_argument(tree, node, "raw", 2);
    out->kind = FORMULA_POLY;
    out->columns = 1;
    out->low = from;
    out->high = to;
    if (degree != FORMULA_NONE)
        TACIT_TRY(formula_whole(tree, degree, 1, TACIT_FORMULA_BASIS, &out->columns, error));
    if (raw == FORMULA_NONE) return TACIT_OK;
    if (formula_is(tree, raw, "TRUE") || formula_is(tree, raw, "T"))
        out->kind = FORMULA_RAW_POLY;
    else if (!formula_is(tree, raw, "FALSE") && !formula_is(tree, raw, "F"))
        return formula_fail(tree, node, error, "raw must be TRUE or FALSE");
    return TACIT_OK;
}

static tacit_status read_boundary(formula_basis *out, const formula_tree *tree, uint32_t node, double from,
                                  double to, tacit_error *error) {
    uint32_t given = formula_argument(tree, node, "Boundary.knots", SIZE_MAX);
    double ends[2] = { from, to };
    size_t count = 2;
    if (given != FORMULA_NONE) TACIT_TRY(formula_list(tree, given, ends, 2, &count, error));
    if (count != 2 || !(ends[0] < ends[1]))
        return formula_fail(tree, node, error, "Boundary.knots must be c(LOW, HIGH)");
    if (out->kind == FORMULA_BSPLINE && (ends[0] > from || ends[1] < to))
        return formula_fail(
            tree, node, error,
            "the Boundary.knots of bs must include all values, which are from %g to %g by the "
            "schema's bounds; ns and spline go on straight beyond theirs",
            from, to);
    out->low = ends[0];
    out->high = ends[1];
    return TACIT_OK;
}

static tacit_status check_knots(const formula_basis *out, const formula_tree *tree, uint32_t node,
                                const double *inner, size_t count, tacit_error *error) {
    double before = out->low;
    for (size_t i = 0; i <= count; i++) {
        double here = i < count ? inner[i] : out->high;
        if (!(here > before))
            return formula_fail(tree, node, error, "knots must ascend, between the Boundary.knots %g and %g",
                                out->low, out->high);
        before = here;
    }
    return TACIT_OK;
}

static tacit_status read_spline(formula_basis *out, formula_tree *tree, uint32_t node, double from, double to,
                                tacit_error *error) {
    static const char *const names[] = { "x", "df", "knots", "Boundary.knots", NULL };
    TACIT_TRY(formula_check_arguments(tree, node, names, 2, error));
    out->kind = formula_is(tree, node, "bs") ? FORMULA_BSPLINE : FORMULA_NATURAL;
    size_t least = out->kind == FORMULA_BSPLINE ? DEGREE : 1, df = least, count = 0;
    uint32_t freedom = formula_argument(tree, node, "df", 1),
             knots = formula_argument(tree, node, "knots", SIZE_MAX);
    double inner[TACIT_FORMULA_BASIS];
    TACIT_TRY(read_boundary(out, tree, node, from, to, error));
    if ((freedom == FORMULA_NONE) == (knots == FORMULA_NONE))
        return formula_fail(
            tree, node, error,
            "give either df = N, for knots evenly between the schema's bounds, or knots = c(...)");
    if (freedom != FORMULA_NONE) {
        TACIT_TRY(formula_whole(tree, freedom, least, TACIT_FORMULA_BASIS, &df, error));
        count = df - least;
        for (size_t i = 0; i < count; i++)
            inner[i] = out->low + (out->high - out->low) * (double)(i + 1) / (double)(count + 1);
    } else {
        TACIT_TRY(formula_list(tree, knots, inner, TACIT_FORMULA_BASIS - least, &count, error));
    }
    TACIT_TRY(check_knots(out, tree, node, inner, count, error));
    finish_splines(out, inner, count);
    return TACIT_OK;
}

tacit_status formula_basis_read(formula_basis *out, formula_tree *tree, uint32_t node,
                                const tacit_schema *schema, double *from, double *to, tacit_error *error) {
    *out = (formula_basis){ .argument = formula_argument(tree, node, "x", 0) };
    if (out->argument == FORMULA_NONE)
        return formula_fail(tree, node, error, "it needs a number between the brackets");
    TACIT_TRY(formula_check_number(tree, out->argument, schema, from, to, error));
    if (!(*to > *from)) return formula_fail(tree, node, error, "its argument is a constant");
    if (formula_is(tree, node, "poly")) return read_poly(out, tree, node, *from, *to, error);
    return read_spline(out, tree, node, *from, *to, error);
}
