/* The three losses: values, first and second derivatives by the margins, a block of rows at a time. */
#include <math.h>
#include <string.h>

#include "num/glm_internal.h"

static double sign_of(const glm_work *work, size_t stored) {
    return work->problem->label[stored] == 1 ? 1.0 : -1.0;
}

/* Huberised hinge of width h at z = y t (Chaudhuri, Monteleoni and Sarwate 2011, eq. 8): 0 beyond 1 + h, the
 * hinge 1 - z below 1 - h, the parabola (1 + h - z)^2 / (4 h) between. Slope is minus the derivative. */
static void huber_block(size_t count, double h, const double *z, double *value, double *slope,
                        double *curvature) {
    for (size_t i = 0; i < count; i++) {
        double gap = 1 + h - z[i];
        double s = gap / (2 * h);
        bool flat = gap <= 0, straight = s >= 1;
        slope[i] = flat ? 0 : straight ? 1 : s;
        value[i] = flat ? 0 : straight ? 1 - z[i] : gap * gap / (4 * h);
        curvature[i] = flat || straight ? 0 : 1 / (2 * h);
        if (isnan(z[i])) slope[i] = value[i] = z[i];
    }
}

static void margin_loss(const glm_work *work, size_t count, const double *z, double *value, double *slope,
                        double *curvature) {
    if (work->problem->loss == TACIT_LOSS_HUBER)
        huber_block(count, work->huber_width, z, value, slope, curvature);
    else
        work->kernels->logistic(count, z, value, slope, curvature);
}

static double two_class_block(const glm_work *work, size_t begin, size_t count, const double *t,
                              double *residual, double *curvature, double *room) {
    double *z = room, *value = room + count, *slope = room + 2 * count, sum = 0;
    for (size_t i = 0; i < count; i++) z[i] = sign_of(work, tacit_rows_stored(&work->x, begin + i)) * t[i];
    margin_loss(work, count, z, value, slope, curvature);
    for (size_t i = 0; i < count; i++) {
        size_t stored = tacit_rows_stored(&work->x, begin + i);
        double weight = glm_row_weight(work, stored);
        sum += weight * value[i];
        residual[i] = -sign_of(work, stored) * (weight * slope[i]);
        curvature[i] *= weight;
    }
    return sum;
}

/* Class probabilities of one row from its margins; returns log sum exp(t). */
static void softmax_block(const glm_work *work, size_t count, const double *t, double *p,
                          double *log_partition) {
    size_t classes = work->outputs;
    for (size_t i = 0; i < count; i++) {
        const double *margin = t + i * classes;
        double most = margin[0];
        for (size_t k = 1; k < classes; k++) most = margin[k] > most ? margin[k] : most;
        for (size_t k = 0; k < classes; k++) p[i * classes + k] = margin[k] - most;
        log_partition[i] = most;
    }
    work->kernels->exponential(count * classes, p);
    for (size_t i = 0; i < count; i++) {
        double *row = p + i * classes, sum = 0;
        for (size_t k = 0; k < classes; k++) sum += row[k];
        for (size_t k = 0; k < classes; k++) row[k] /= sum;
        log_partition[i] += log(sum);
    }
}

static double many_class_block(const glm_work *work, size_t begin, size_t count, const double *t,
                               double *residual, double *probability, double *room) {
    size_t classes = work->outputs;
    double sum = 0;
    softmax_block(work, count, t, probability, room);
    for (size_t i = 0; i < count; i++) {
        size_t stored = tacit_rows_stored(&work->x, begin + i);
        size_t label = (size_t)work->problem->label[stored];
        double weight = glm_row_weight(work, stored);
        sum += weight * (room[i] - t[i * classes + label]);
        for (size_t k = 0; k < classes; k++)
            residual[i * classes + k] = weight * (probability[i * classes + k] - (k == label ? 1.0 : 0.0));
    }
    return sum;
}

double glm_loss_block(const glm_work *work, size_t begin, size_t count, const double *t, double *residual,
                      double *curvature, double *room) {
    if (work->problem->loss == TACIT_LOSS_SOFTMAX)
        return many_class_block(work, begin, count, t, residual, curvature, room);
    return two_class_block(work, begin, count, t, residual, curvature, room);
}

static void two_class_along(const glm_work *work, size_t begin, size_t count, const double *t,
                            const double *dt, double s, double *room, glm_line *sum) {
    double *z = room, *value = room + count, *slope = room + 2 * count, *curvature = room + 3 * count;
    for (size_t i = 0; i < count; i++)
        z[i] = sign_of(work, tacit_rows_stored(&work->x, begin + i)) * (t[i] + s * dt[i]);
    margin_loss(work, count, z, value, slope, curvature);
    for (size_t i = 0; i < count; i++) {
        size_t stored = tacit_rows_stored(&work->x, begin + i);
        double weight = glm_row_weight(work, stored);
        sum->value += weight * value[i];
        sum->slope -= weight * slope[i] * sign_of(work, stored) * dt[i];
        sum->curvature += weight * curvature[i] * dt[i] * dt[i];
    }
}

static void many_class_along(const glm_work *work, size_t begin, size_t count, const double *t,
                             const double *dt, double s, double *room, glm_line *sum) {
    size_t classes = work->outputs;
    double *moved = room, *p = room + count * classes, *log_partition = room + 2 * count * classes;
    for (size_t i = 0; i < count * classes; i++) moved[i] = t[i] + s * dt[i];
    softmax_block(work, count, moved, p, log_partition);
    for (size_t i = 0; i < count; i++) {
        size_t stored = tacit_rows_stored(&work->x, begin + i);
        size_t label = (size_t)work->problem->label[stored];
        double weight = glm_row_weight(work, stored), mean = 0, spread = 0;
        const double *change = dt + i * classes, *chance = p + i * classes;
        for (size_t k = 0; k < classes; k++) mean += chance[k] * change[k];
        for (size_t k = 0; k < classes; k++) spread += chance[k] * (change[k] - mean) * (change[k] - mean);
        sum->value += weight * (log_partition[i] - moved[i * classes + label]);
        sum->slope += weight * (mean - change[label]);
        sum->curvature += weight * spread;
    }
}

void glm_loss_along(const glm_work *work, size_t begin, size_t count, const double *t, const double *dt,
                    double s, double *room, glm_line *sum) {
    if (work->problem->loss == TACIT_LOSS_SOFTMAX)
        many_class_along(work, begin, count, t, dt, s, room, sum);
    else
        two_class_along(work, begin, count, t, dt, s, room, sum);
}

void glm_loss_second(const glm_work *work, size_t begin, size_t count, const double *curvature, double *q) {
    if (work->problem->loss != TACIT_LOSS_SOFTMAX) {
        for (size_t i = 0; i < count; i++) q[i] *= curvature[i];
        return;
    }
    size_t classes = work->outputs;
    for (size_t i = 0; i < count; i++) { /* (diag(p) - p p^T) q */
        const double *p = curvature + i * classes;
        double *row = q + i * classes, mean = 0;
        double weight = glm_row_weight(work, tacit_rows_stored(&work->x, begin + i));
        for (size_t k = 0; k < classes; k++) mean += p[k] * row[k];
        for (size_t k = 0; k < classes; k++) row[k] = weight * p[k] * (row[k] - mean);
    }
}
