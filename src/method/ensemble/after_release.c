#include "method/ensemble/after_release.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/blas.h"

enum { STEPS = 11, MOST_POINTS = 2000 };
static const double MOST_OPTIMISM = 0.72; /* of log K, the loss of equal chances */

static double lambda_of(int step) { return pow(10, -0.5 * step); }

bool tacit_after_release_suits(const tacit_plan *plan) {
    return tacit_ensemble_size(plan) <= TACIT_AFTER_MOST;
}

/* Probabilities of the classes that have weights, class 1 alone of two, and log Z. */
static double chances(const tacit_rows *points, size_t i, size_t vectors, const double *weights,
                      double *out) {
    double most = 0, sum = vectors == 1 ? 1 : 0;
    for (size_t k = 0; k < vectors; k++) {
        out[k] = tacit_rows_dot(points, i, weights + k * points->cols);
        most = k == 0 && vectors > 1 ? out[k] : fmax(most, out[k]);
    }
    if (vectors == 1) sum = exp(-most);
    for (size_t k = 0; k < vectors; k++) sum += out[k] = exp(out[k] - most);
    for (size_t k = 0; k < vectors; k++) out[k] /= sum;
    return most + log(sum);
}

/* A(w) - <s~, w>. */
static double loss_of(const tacit_plan *plan, const double *statistic, const double *weights, double *room) {
    const tacit_rows *points = &plan->points->rows;
    const size_t size = tacit_ensemble_size(plan), vectors = size / plan->features;
    double loss = 0;
    for (size_t i = 0; i < points->count; i++)
        loss += chances(points, i, vectors, weights, room) / (double)points->count;
    for (size_t j = 0; j < size; j++) loss -= statistic[j] * weights[j];
    return loss;
}

/* grad^2 A(w) + lambda over the weights of all classes, from points spread evenly: block (k, l) is the mean
 * of p_k (1{k = l} - p_l) x x^T. */
static tacit_status curvature(const tacit_plan *plan, double lambda, const double *weights, double *out,
                              tacit_error *error) {
    uint32_t index[MOST_POINTS];
    const size_t d = plan->features, size = tacit_ensemble_size(plan), vectors = size / d;
    const size_t all = plan->points->rows.count, n = all < MOST_POINTS ? all : MOST_POINTS;
    const tacit_points some = tacit_points_some(plan->points, n, index);
    double *x = TACIT_NEW(double, n *d), *scaled = TACIT_NEW(double, n *d),
           *p = TACIT_NEW(double, n *vectors);
    tacit_status status = x != NULL && scaled != NULL && p != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t i = 0; i < n && status == TACIT_OK; i++) {
        tacit_rows_copy(&some.rows, i, x + i * d);
        chances(&some.rows, i, vectors, weights, p + i * vectors);
    }
    for (size_t k = 0; k < vectors && status == TACIT_OK; k++)
        for (size_t l = 0; l <= k; l++) {
            for (size_t i = 0; i < n; i++) {
                const double c = p[i * vectors + k] * ((k == l) - p[i * vectors + l]) / (double)n;
                for (size_t j = 0; j < d; j++) scaled[i * d + j] = c * x[i * d + j];
            }
            cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)d, (int)d, (int)n, 1, scaled, (int)d, x,
                        (int)d, 0, out + k * d * size + l * d, (int)size);
        }
    for (size_t j = 0; j < size && status == TACIT_OK; j++) out[j * size + j] += lambda;
    free(x);
    free(scaled);
    free(p);
    return status;
}

/* v tr(B^T (H + lambda)^-1 B), and v |(H + lambda)^-1 B|^2 for `square`, over B = 1 (x) L without what is
 * common to all classes: there H is 0, and the noise too. `factor` is the lower Cholesky factor. */
static void noise_terms(const tacit_plan *plan, double lambda, const double *factor, double *column,
                        double *trace, double *square) {
    const size_t d = plan->features, size = tacit_ensemble_size(plan);
    const double *shape = plan->points->shape;
    const int n = (int)size;
    double spread = 0;
    *trace = *square = 0;
    for (size_t c = 0; c < size; c++) {
        const size_t block = c / d * d, j = c - block;
        memset(column, 0, size * sizeof *column);
        for (size_t i = j; shape != NULL && i < d; i++) column[block + i] = shape[i * d + j];
        if (shape == NULL) column[c] = 1;
        if (block == 0) spread += cblas_ddot(n, column, 1, column, 1);
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, factor, n, column, 1);
        *trace += cblas_ddot(n, column, 1, column, 1);
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, n, factor, n, column, 1);
        *square += cblas_ddot(n, column, 1, column, 1);
    }
    if (size == d) return;
    *trace -= spread / lambda;
    *square -= spread / (lambda * lambda);
}

tacit_status tacit_after_estimate_of(const tacit_plan *plan, const tacit_released_statistic *released,
                                     double lambda, const double *weights, tacit_after_estimate *out,
                                     tacit_error *error) {
    const size_t size = tacit_ensemble_size(plan);
    double *matrix = TACIT_NEW(double, size *size), *room = TACIT_NEW(double, size), trace, square, length;
    tacit_status status = matrix != NULL && room != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    tacit_blas_one_thread();
    *out = (tacit_after_estimate){ .loss = loss_of(plan, released->values, weights, room) };
    if (released->variance == 0) goto cleanup;
    TACIT_CHECK(curvature(plan, lambda, weights, matrix, error));
    if (LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', (lapack_int)size, matrix, (lapack_int)size) != 0) {
        out->optimism = INFINITY; /* weights that are no numbers */
        out->noise_share = 1;
        goto cleanup;
    }
    noise_terms(plan, lambda, matrix, room, &trace, &square);
    length = cblas_ddot((int)size, weights, 1, weights, 1);
    out->optimism = released->variance * fmax(0, trace);
    out->noise_share = length > 0 ? fmin(1, released->variance * fmax(0, square) / length) : 1;
cleanup:
    free(matrix);
    free(room);
    return status;
}

/* The loss of a model of the classes' shares alone, as the statistic has them in a constant column of the
 * points; without one, of equal shares. */
static double blind_loss(const tacit_plan *plan, const double *statistic) {
    const tacit_rows *points = &plan->points->rows;
    const size_t d = plan->features, first = plan->classes > 2 ? 0 : 1;
    double *row = TACIT_NEW(double, 2 * d), sum = 0, loss = 0, usual = log((double)plan->classes);
    size_t column = d;
    if (row == NULL) return usual;
    tacit_rows_copy(points, 0, row);
    for (size_t i = 1; i < points->count; i++) {
        tacit_rows_copy(points, i, row + d);
        for (size_t j = 0; j < d; j++)
            if (row[j] != row[d + j]) row[j] = 0;
    }
    for (size_t j = 0; j < d; j++)
        if (row[j] != 0) column = j;
    const double constant = column < d ? row[column] : 0;
    free(row);
    if (constant == 0) return usual;
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < plan->classes; k++) {
            double share = k >= first ? statistic[(k - first) * d + column] / constant
                                      : 1 - statistic[column] / constant;
            share = fmin(1, fmax(1e-9, share));
            if (pass == 0) sum += share;
            if (pass == 1) loss -= share / sum * log(share / sum);
        }
    return loss;
}

/* What tacit_after_flat_share works with: d x d, and of a few vectors. */
typedef struct flat_room {
    double *factor, *moved, *mean, *along;
} flat_room;

/* The lower Cholesky factor of M = h L L^T + lambda, and the mean of the points. */
static tacit_status flat_begin(const tacit_plan *plan, flat_room *room, tacit_error *error) {
    const size_t d = plan->features, n = plan->points->rows.count;
    const double h = plan->classes > 2 ? 1 / (double)plan->classes : 0.25;
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)d, (int)d, h, plan->points->shape, (int)d, 0,
                room->factor, (int)d);
    for (size_t j = 0; j < d; j++) room->factor[j * d + j] += plan->lambda;
    for (size_t i = 0; i < n; i++) tacit_rows_add(&plan->points->rows, i, 1 / (double)n, room->mean);
    if (LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', (lapack_int)d, room->factor, (lapack_int)d) == 0)
        return TACIT_OK;
    return tacit_fail(error, TACIT_INTERNAL, "the points' second moments have no factor");
}

/* Of `count` vectors, one after the other in room->moved: the sum of w^T (L L^T - m m^T) w, w = M^-1 times
 * the vector, m the mean of the points. That is the mean square of their scores about the mean. */
static double flat_energy(const tacit_plan *plan, flat_room *room, size_t count) {
    const int d = (int)plan->features;
    double energy = 0;
    for (size_t k = 0; k < count; k++) {
        double *w = room->moved + k * plan->features;
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, d, room->factor, d, w, 1);
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, d, room->factor, d, w, 1);
        const double middle = cblas_ddot(d, room->mean, 1, w, 1);
        cblas_dgemv(CblasRowMajor, CblasTrans, d, d, 1, plan->points->shape, d, w, 1, 0, room->along, 1);
        energy += fmax(0, cblas_ddot(d, room->along, 1, room->along, 1) - middle * middle);
    }
    return energy;
}

tacit_status tacit_after_flat_share(const tacit_plan *plan, const tacit_released_statistic *released,
                                    double *out, tacit_error *error) {
    const size_t d = plan->features, contrasts = plan->classes - 1, most = d > contrasts ? d : contrasts;
    *out = 0;
    if (released->variance == 0 || plan->points->shape == NULL || most > TACIT_AFTER_MOST) return TACIT_OK;
    flat_room room = { TACIT_NEW(double, d *d), TACIT_NEW(double, d *most), TACIT_NEW(double, d),
                       TACIT_NEW(double, d) };
    tacit_status status = TACIT_OK;
    if (room.factor == NULL || room.moved == NULL || room.mean == NULL || room.along == NULL)
        TACIT_CHECK(tacit_fail_memory(error));
    tacit_blas_one_thread();
    TACIT_CHECK(flat_begin(plan, &room, error));
    for (size_t c = 0; c < d; c++)
        for (size_t i = c; i < d; i++) room.moved[c * d + i] = plan->points->shape[i * d + c];
    const double noise = released->variance * (double)contrasts * flat_energy(plan, &room, d);
    tacit_to_contrasts(plan, released->values, room.moved);
    for (size_t j = 0; plan->classes == 2 && j < d; j++) room.moved[j] -= room.mean[j] / 2;
    const double all = flat_energy(plan, &room, contrasts);
    *out = all > 0 ? fmin(1, noise / all) : 1;
cleanup:
    free(room.factor);
    free(room.moved);
    free(room.mean);
    free(room.along);
    return status;
}

tacit_status tacit_after_doubt(const tacit_plan *plan, const tacit_released_statistic *released,
                               tacit_model *model, tacit_error *error) {
    tacit_after_estimate found;
    if (released->variance == 0) return TACIT_OK;
    if (!tacit_after_release_suits(plan))
        return tacit_after_flat_share(plan, released, &model->noise_share, error);
    TACIT_TRY(tacit_after_estimate_of(plan, released, plan->lambda, model->weights, &found, error));
    model->noise_share = found.noise_share;
    return TACIT_OK;
}

tacit_status tacit_after_release(tacit_session *session, const tacit_released_statistic *released,
                                 double tolerance, double *lambda, tacit_model **out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_after_estimate here;
    tacit_model *model = NULL, *best = NULL;
    double least = INFINITY, chosen = 1;
    tacit_status status = TACIT_OK;
    for (int step = released->variance > 0 ? 0 : STEPS - 1; step < STEPS; step++) {
        TACIT_CHECK(tacit_ensemble_fit(session, released->values, lambda_of(step), tolerance,
                                       released->variance == 0, &model, error));
        TACIT_CHECK(tacit_after_estimate_of(plan, released, lambda_of(step), model->weights, &here, error));
        if (best != NULL && !(here.optimism <= MOST_OPTIMISM * log((double)plan->classes))) break;
        if (best == NULL || here.loss + here.optimism < least) {
            least = here.loss + here.optimism;
            chosen = lambda_of(step);
            tacit_model_free(best);
            best = model;
            best->noise_share = here.noise_share;
            model = NULL;
        }
        model = tacit_model_free(model);
    }
    if (released->variance > 0 && least >= blind_loss(plan, released->values)) best->noise_share = 1;
    *lambda = chosen;
    *out = best;
    best = NULL;
cleanup:
    tacit_model_free(model);
    tacit_model_free(best);
    return status;
}

tacit_status tacit_after_coordinate(tacit_session *session, tacit_after_learner *learn, tacit_outcome *out,
                                    tacit_error *error) {
    tacit_votes votes = TACIT_VOTES_INIT;
    tacit_model *model = NULL;
    double lambda = session->plan->lambda;
    TACIT_TRY(tacit_ask_votes(session, &votes, error));
    out->parties = votes.parties;
    tacit_status status = learn(session, &votes, true, &lambda, &model, error);
    tacit_votes_clear(&votes);
    if (status != TACIT_OK) return status;
    if (lambda != session->plan->lambda) out->lambda = lambda;
    return tacit_outcome_add(out, model, error);
}
