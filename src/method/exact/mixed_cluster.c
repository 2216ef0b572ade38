/* Families without a closed form: mixed_cluster.h. */
#include "method/exact/mixed_cluster.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "num/kernel/kernel.h"

static const double PI = 3.14159265358979323846;

/* ---- nodes ---- */

/* Roots of the Hermite polynomial by Newton's method on its orthonormal form, from the largest down
 * (Abramowitz and Stegun 25.4.46). */
void mixed_quadrature_make(mixed_quadrature *out, size_t nodes) {
    double n = (double)nodes, root = 0;
    out->nodes = nodes;
    for (size_t i = 0; i < (nodes + 1) / 2; i++) {
        double slope = 1;
        if (i == 0)
            root = sqrt(2 * n + 1) - 1.85575 * pow(2 * n + 1, -1.0 / 6);
        else if (i == 1)
            root -= 1.14 * pow(n, 0.426) / root;
        else if (i == 2)
            root = 1.86 * root - 0.86 * out->node[0];
        else if (i == 3)
            root = 1.91 * root - 0.91 * out->node[1];
        else
            root = 2 * root - out->node[i - 2];
        for (int k = 0; k < 100; k++) {
            double now = pow(PI, -0.25), before = 0;
            for (size_t j = 0; j < nodes; j++) {
                double next =
                    root * sqrt(2 / ((double)j + 1)) * now - sqrt((double)j / ((double)j + 1)) * before;
                before = now;
                now = next;
            }
            slope = sqrt(2 * n) * before;
            double step = now / slope;
            root -= step;
            if (fabs(step) <= 4 * DBL_EPSILON * (1 + fabs(root))) break;
        }
        out->node[i] = root;
        out->node[nodes - 1 - i] = -root;
        out->log_weight[i] = out->log_weight[nodes - 1 - i] = log(2) - 2 * log(fabs(slope));
    }
}

/* ---- a cluster at work ---- */

typedef struct cluster {
    const mixed_rows *rows;
    const tacit_kernels *kernels;
    const double *beta;
    double factor[4];
    double u[MIXED_TERMS]; /* the mode */
    double hessian[4], inverse[4];
    double *base, *score, *loss, *slope, *curvature; /* of rows; base: without random effects */
    double *gradient, *cross;                        /* parameters; parameters x terms */
    double height;                                   /* h at the mode */
} cluster;

size_t mixed_room(size_t count, size_t width, size_t terms) {
    size_t parameters = width + mixed_theta_count(terms);
    return 5 * count + (3 + MIXED_TERMS) * parameters + parameters * parameters;
}

size_t mixed_length(size_t width, size_t terms) {
    size_t parameters = width + mixed_theta_count(terms);
    return 1 + parameters + parameters * (parameters + 1) / 2;
}

static double second_of(const mixed_rows *rows, size_t i) { return rows->z != NULL ? rows->z[i] : 0; }

static void begin(cluster *self, const mixed_rows *rows, const double *beta, const double *theta) {
    *self = (cluster){ .rows = rows, .kernels = tacit_kernels_choose(), .beta = beta };
    double *room = rows->room;
    size_t parameters = rows->width + mixed_theta_count(rows->terms);
    double **const places[] = { &self->base, &self->score, &self->loss, &self->slope, &self->curvature };
    for (size_t k = 0; k < 5; k++, room += rows->count) *places[k] = room;
    self->gradient = room;
    self->cross = room + parameters;
    mixed_factor(rows->terms, theta, self->factor);
    for (size_t i = 0; i < rows->count; i++) {
        const double *x = rows->x + i * rows->width;
        double sum = 0;
        for (size_t j = 0; j < rows->width; j++) sum += x[j] * beta[j];
        self->base[i] = sum;
    }
}

/* h(u) = sum of losses + |u|^2/2, with slopes and curvatures of the rows. */
static double look_at(cluster *self, const double *u) {
    const mixed_rows *rows = self->rows;
    const tacit_loss *loss = &rows->family->loss;
    const double *l = self->factor;
    double first = l[0] * u[0] + l[1] * u[1], second = l[2] * u[0] + l[3] * u[1], sum = 0;
    for (size_t i = 0; i < rows->count; i++)
        self->score[i] = self->base[i] + first + second_of(rows, i) * second;
    loss->rows(self->kernels, loss->shape_default, rows->count, rows->y, self->score, self->loss, self->slope,
               self->curvature);
    for (size_t i = 0; i < rows->count; i++) sum += self->loss[i];
    return sum + (u[0] * u[0] + u[1] * u[1]) / 2;
}

/* L^T z of a row. */
static void loading(const cluster *self, size_t i, double v[2]) {
    double z = second_of(self->rows, i);
    v[0] = self->factor[0] + self->factor[2] * z;
    v[1] = self->factor[1] + self->factor[3] * z;
}

static void derive(cluster *self, const double *u, double pull[2]) {
    double h[3] = { 1, 0, 1 };
    pull[0] = u[0];
    pull[1] = u[1];
    for (size_t i = 0; i < self->rows->count; i++) {
        double v[2];
        loading(self, i, v);
        for (int k = 0; k < 2; k++) pull[k] += self->slope[i] * v[k];
        h[0] += self->curvature[i] * v[0] * v[0];
        h[1] += self->curvature[i] * v[0] * v[1];
        h[2] += self->curvature[i] * v[1] * v[1];
    }
    double determinant = h[0] * h[2] - h[1] * h[1];
    memcpy(self->hessian, (double[4]){ h[0], h[1], h[1], h[2] }, sizeof self->hessian);
    memcpy(self->inverse,
           (double[4]){ h[2] / determinant, -h[1] / determinant, -h[1] / determinant, h[0] / determinant },
           sizeof self->inverse);
}

/* Newton from 0: h is strictly convex. Slopes and curvatures are those of the mode at the end. */
static bool find_mode(cluster *self) {
    enum { STEPS = 100, HALVINGS = 40 };
    double pull[2];
    self->height = look_at(self, self->u);
    for (int k = 0; k < STEPS; k++) {
        derive(self, self->u, pull);
        double step[2] = { -(self->inverse[0] * pull[0] + self->inverse[1] * pull[1]),
                           -(self->inverse[2] * pull[0] + self->inverse[3] * pull[1]) };
        double left = -(pull[0] * step[0] + pull[1] * step[1]), size = 1;
        if (!isfinite(left) || !isfinite(self->height)) return false;
        if (left <= 1e-28 * (1 + fabs(self->height))) return true;
        for (int j = 0; j < HALVINGS; j++, size /= 2) {
            double next[2] = { self->u[0] + size * step[0], self->u[1] + size * step[1] },
                   height = look_at(self, next);
            if (!(height <= self->height + 1e-14 * (1 + fabs(self->height)))) continue;
            memcpy(self->u, next, sizeof next);
            self->height = height;
            break;
        }
        if (left <= 1e-20 * (1 + fabs(self->height))) { /* one more step is all that rounding lets through */
            derive(self, self->u, pull);
            return true;
        }
    }
    return false;
}

/* ---- Gauss-Hermite, one term: moments under the weights of the nodes (Louis 1982) ---- */

typedef struct moments {
    double weight[MIXED_NODES];
    double value; /* the log-likelihood */
} moments;

static void weigh_nodes(cluster *self, const mixed_quadrature *quadrature, moments *out) {
    double spread = sqrt(2 / self->hessian[0]), most = -INFINITY, sum = 0;
    for (size_t k = 0; k < quadrature->nodes; k++) {
        double x = quadrature->node[k], u[2] = { self->u[0] + spread * x, 0 };
        out->weight[k] = quadrature->log_weight[k] + x * x - look_at(self, u);
        most = fmax(most, out->weight[k]);
    }
    for (size_t k = 0; k < quadrature->nodes; k++) sum += out->weight[k] = exp(out->weight[k] - most);
    for (size_t k = 0; k < quadrature->nodes; k++) out->weight[k] /= sum;
    out->value = most + log(sum) - 0.5 * log(PI * self->hessian[0]);
}

/* Of one node: its gradient into self->gradient, and what it adds to gradient and Hessian. */
static void add_node(cluster *self, double weight, double u, double *mean, double *square) {
    const mixed_rows *rows = self->rows;
    const size_t width = rows->width, all = width + 1;
    memset(self->gradient, 0, all * sizeof *self->gradient);
    for (size_t i = 0; i < rows->count; i++) {
        const double *x = rows->x + i * width;
        for (size_t j = 0; j < width; j++) self->gradient[j] -= self->slope[i] * x[j];
        self->gradient[width] -= self->slope[i] * u;
    }
    for (size_t a = 0; a < all; a++) {
        mean[a] += weight * self->gradient[a];
        for (size_t b = 0; b <= a; b++) square[a * all + b] += weight * self->gradient[a] * self->gradient[b];
    }
    for (size_t i = 0; i < rows->count; i++) {
        const double *x = rows->x + i * width;
        double curved = weight * self->curvature[i];
        for (size_t a = 0; a < width; a++)
            for (size_t b = 0; b <= a; b++) square[a * all + b] -= curved * x[a] * x[b];
        for (size_t b = 0; b < width; b++) square[width * all + b] -= curved * u * x[b];
        square[width * all + width] -= curved * u * u;
    }
}

static void add_quadrature(cluster *self, const mixed_quadrature *quadrature, double *out) {
    const size_t all = self->rows->width + 1;
    double *mean = self->cross + MIXED_TERMS * all, *square = mean + all, spread = sqrt(2 / self->hessian[0]);
    moments at;
    weigh_nodes(self, quadrature, &at);
    memset(mean, 0, (all + all * all) * sizeof *mean);
    for (size_t k = 0; k < quadrature->nodes; k++) {
        double u[2] = { self->u[0] + spread * quadrature->node[k], 0 };
        look_at(self, u);
        add_node(self, at.weight[k], u[0], mean, square);
    }
    *out++ += at.value;
    for (size_t a = 0; a < all; a++) *out++ += mean[a];
    for (size_t a = 0; a < all; a++)
        for (size_t b = 0; b <= a; b++) *out++ += square[a * all + b] - mean[a] * mean[b];
}

/* ---- Laplace ---- */

static void entry_of(size_t terms, size_t k, double e[4]) {
    double unit[MIXED_THETA] = { 0 };
    unit[k] = 1;
    mixed_factor(terms, unit, e);
}

/* The derivative of the linear predictor of a row by parameter `a`, at a fixed mode; and that of L^T z. */
static double direct(const cluster *self, size_t i, size_t a, double turned[2]) {
    const mixed_rows *rows = self->rows;
    double e[4], z = second_of(rows, i);
    turned[0] = turned[1] = 0;
    if (a < rows->width) return rows->x[i * rows->width + a];
    entry_of(rows->terms, a - rows->width, e);
    turned[0] = e[0] + e[2] * z;
    turned[1] = e[1] + e[3] * z;
    return turned[0] * self->u[0] + turned[1] * self->u[1];
}

/*
 * l = -h(u) - log|H|/2 at the mode u, H = h_uu. By parameter psi, with r = d score/d psi of a row:
 * dl = -sum l' r - (sum l''' s (r + v.du) + 2 sum l'' v.H^-1 dv)/2,
 * v = L^T z, s = v.H^-1 v, du = -H^-1 h_u,psi.
 */
static double laplace(cluster *self, double *gradient) {
    const mixed_rows *rows = self->rows;
    const size_t all = rows->width + mixed_theta_count(rows->terms);
    double *cross = self->cross, pulled[2] = { 0, 0 };
    memset(gradient, 0, all * sizeof *gradient);
    memset(cross, 0, MIXED_TERMS * all * sizeof *cross);
    for (size_t i = 0; i < rows->count; i++) {
        double v[2], w[2], turned[2];
        loading(self, i, v);
        w[0] = self->inverse[0] * v[0] + self->inverse[1] * v[1];
        w[1] = self->inverse[2] * v[0] + self->inverse[3] * v[1];
        double third = self->curvature[i] * rows->family->skewness(rows->family->mean(self->score[i]));
        double curved = third * (v[0] * w[0] + v[1] * w[1]) / 2;
        for (int k = 0; k < 2; k++) pulled[k] += curved * v[k];
        for (size_t a = 0; a < all; a++) {
            double r = direct(self, i, a, turned);
            gradient[a] -=
                (self->slope[i] + curved) * r + self->curvature[i] * (w[0] * turned[0] + w[1] * turned[1]);
            for (int k = 0; k < 2; k++)
                cross[2 * a + (size_t)k] += self->curvature[i] * v[k] * r + self->slope[i] * turned[k];
        }
    }
    for (size_t a = 0; a < all; a++) {
        const double *c = cross + 2 * a;
        gradient[a] += pulled[0] * (self->inverse[0] * c[0] + self->inverse[1] * c[1]) +
                       pulled[1] * (self->inverse[2] * c[0] + self->inverse[3] * c[1]);
    }
    return -self->height -
           0.5 * log(self->hessian[0] * self->hessian[3] - self->hessian[1] * self->hessian[2]);
}

/* The gradient at parameters moved by `size` in `a`. */
static bool gradient_near(const mixed_rows *rows, const double *beta, const double *theta, size_t a,
                          double size, double *moved, double *gradient) {
    cluster self;
    size_t theta_count = mixed_theta_count(rows->terms);
    double near[MIXED_THETA];
    memcpy(moved, beta, rows->width * sizeof *moved);
    memcpy(near, theta, theta_count * sizeof *near);
    *(a < rows->width ? &moved[a] : &near[a - rows->width]) += size;
    begin(&self, rows, moved, near);
    if (!find_mode(&self)) return false;
    laplace(&self, gradient);
    return true;
}

/* The Hessian by differences of the gradient, of the fourth order. */
static bool add_laplace(const mixed_rows *rows, const double *beta, const double *theta, double *out) {
    static const double STEP = 1e-3;
    const size_t all = rows->width + mixed_theta_count(rows->terms);
    cluster self;
    begin(&self, rows, beta, theta);
    if (!find_mode(&self)) return false;
    double *gradient = self.cross + MIXED_TERMS * all, *moved = gradient + all, *hessian = moved + all;
    *out++ += laplace(&self, gradient);
    for (size_t a = 0; a < all; a++) *out++ += gradient[a];
    memset(hessian, 0, all * all * sizeof *hessian);
    for (size_t a = 0; a < all; a++)
        for (int k = -2; k <= 2; k++) {
            static const double weights[] = { 1.0 / 12, -2.0 / 3, 0, 2.0 / 3, -1.0 / 12 };
            if (k == 0) continue;
            if (!gradient_near(rows, beta, theta, a, k * STEP, moved, gradient)) return false;
            for (size_t b = 0; b < all; b++) hessian[a * all + b] += weights[k + 2] * gradient[b] / STEP;
        }
    for (size_t a = 0; a < all; a++)
        for (size_t b = 0; b <= a; b++) *out++ += (hessian[a * all + b] + hessian[b * all + a]) / 2;
    return true;
}

bool mixed_add(const mixed_rows *rows, const mixed_quadrature *quadrature, const double *beta,
               const double *theta, double *out) {
    if (rows->terms > 1 || quadrature->nodes == 1) return add_laplace(rows, beta, theta, out);
    cluster self;
    begin(&self, rows, beta, theta);
    if (!find_mode(&self)) return false;
    add_quadrature(&self, quadrature, out);
    return true;
}
