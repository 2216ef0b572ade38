/* A loss on a block of rows: values, first and second derivatives by the margins, weighted. */
#include <math.h>
#include <string.h>

#include "num/glm/glm_parts.h"

/* Responses of rows [begin, begin + count), one after the other. */
static void find_responses(const glm_work *work, size_t begin, size_t count, double *y) {
    const tacit_glm_problem *problem = work->problem;
    size_t columns = problem->loss->columns;
    if (problem->loss->of_classes) {
        for (size_t i = 0; i < count; i++)
            y[i] = (double)problem->label[tacit_rows_stored(&work->x, begin + i)];
        return;
    }
    for (size_t i = 0; i < count; i++)
        memcpy(y + i * columns, problem->response + tacit_rows_stored(&work->x, begin + i) * columns,
               columns * sizeof *y);
}

static double one_score_block(const glm_work *work, size_t begin, size_t count, const double *t,
                              double *residual, double *curvature, double *room) {
    double *value = room, *y = room + count, sum = 0;
    find_responses(work, begin, count, y);
    work->problem->loss->rows(work->kernels, work->shape, count, y, t, value, residual, curvature);
    for (size_t i = 0; i < count; i++) {
        double weight = glm_row_weight(work, tacit_rows_stored(&work->x, begin + i));
        sum += weight * value[i];
        residual[i] *= weight;
        curvature[i] *= weight;
    }
    return sum;
}

static double many_class_block(const glm_work *work, size_t begin, size_t count, const double *t,
                               double *residual, double *probability, double *room) {
    size_t classes = work->outputs;
    double sum = 0;
    work->problem->loss->classes(work->kernels, classes, count, t, probability, room);
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
    if (work->problem->loss->classes != NULL)
        return many_class_block(work, begin, count, t, residual, curvature, room);
    return one_score_block(work, begin, count, t, residual, curvature, room);
}

static void one_score_along(const glm_work *work, size_t begin, size_t count, const double *t,
                            const double *dt, double s, double *room, glm_line *sum) {
    double *moved = room, *value = room + count, *slope = room + 2 * count, *curvature = room + 3 * count;
    double *y = room + 4 * count;
    for (size_t i = 0; i < count; i++) moved[i] = t[i] + s * dt[i];
    find_responses(work, begin, count, y);
    work->problem->loss->rows(work->kernels, work->shape, count, y, moved, value, slope, curvature);
    for (size_t i = 0; i < count; i++) {
        double weight = glm_row_weight(work, tacit_rows_stored(&work->x, begin + i));
        sum->value += weight * value[i];
        sum->slope += weight * slope[i] * dt[i];
        sum->curvature += weight * curvature[i] * dt[i] * dt[i];
    }
}

static void many_class_along(const glm_work *work, size_t begin, size_t count, const double *t,
                             const double *dt, double s, double *room, glm_line *sum) {
    size_t classes = work->outputs;
    double *moved = room, *p = room + count * classes, *log_partition = room + 2 * count * classes;
    for (size_t i = 0; i < count * classes; i++) moved[i] = t[i] + s * dt[i];
    work->problem->loss->classes(work->kernels, classes, count, moved, p, log_partition);
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
    if (work->problem->loss->classes != NULL)
        many_class_along(work, begin, count, t, dt, s, room, sum);
    else
        one_score_along(work, begin, count, t, dt, s, room, sum);
}

void glm_loss_second(const glm_work *work, size_t begin, size_t count, const double *curvature, double *q) {
    if (work->problem->loss->classes == NULL) {
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
