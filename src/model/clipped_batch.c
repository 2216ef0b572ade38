/*
 * Sums over a batch. Proof note for tacit_batch_sum, whose claim is in batch.h:
 *
 *  - a: what a layer takes in, multiples of 2^-18 (rows and units are rounded to TACIT_LAYER_STEP; a number
 *    too large for that grid in single precision is a multiple of a coarser power of two).
 *  - d: the derivatives, any single-precision numbers. The norm, computed in double precision from these a
 *    and d, errs by a relative 1e-10 at most: it has fewer than 2^20 terms in chains of fewer than 2^17, each
 *    rounded a few times at 2^-53.
 *  - factor = min(1/C, (1 - 1e-9)/norm), and d' = factor d towards zero to multiples of 2^-24. So |d'_k| <=
 *    factor |d_k|, and the contribution, whose entries are a_j d'_k and d'_k, has norm at most 1.
 *  - Its entries are multiples of 2^-42 of size at most 1, so that sums over up to EXACT_ROWS = 2^11 rows, in
 *    any order and with any fusing of multiplications and additions, are exact in double precision. A batch
 *    of no more rows is added up so over all workers. Of a larger one they are moved to 64-bit integers,
 *    exact for 2^20 rows. The last step, to a double, rounds by 2^-33 at most (2^20 times half 2^-53).
 */
#include "model/clipped_batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/clipped_batch_parts.h"

enum { BLOCK_ROWS = 192, BLOCK_NUMBERS = 1 << 20, EXACT_ROWS = 1 << 11 };

typedef struct batch_worker {
    batch_space space;
    batch_written written; /* in its place where layers are not all dense */
    double *sum;           /* exact, of `pending` rows; or plain */
    int64_t *total;        /* of all others: zeros unless `moved` */
    size_t pending;
    bool moved;
} batch_worker;

struct tacit_batch {
    batch_shape shape;
    tacit_pool *pool;
    size_t workers;
    batch_worker *worker;
};

tacit_batch *tacit_batch_free(tacit_batch *batch) {
    if (batch == NULL) return NULL;
    for (size_t l = 0; l < TACIT_NETWORK_LAYERS; l++) {
        free(batch->shape.forward[l]);
        free(batch->shape.backward[l]);
        free(batch->shape.biases[l]);
    }
    for (size_t w = 0; w < batch->workers && batch->worker != NULL; w++) {
        batch_space_clear(&batch->worker[w].space);
        batch_written_clear(&batch->worker[w].written);
        free(batch->worker[w].sum);
        free(batch->worker[w].total);
    }
    free(batch->worker);
    free(batch->shape.class_weight);
    free(batch->shape.parameters);
    free(batch);
    return NULL;
}

static void set_shape(batch_shape *shape, const tacit_network *network) {
    size_t most = 0;
    shape->kernels = tacit_layer_kernels_choose();
    shape->network = *network;
    shape->scale = 1;
    shape->size = tacit_network_size(network);
    for (size_t l = 0; l <= network->layers; l++) {
        shape->stride[l] = batch_padded(network->width[l]);
        if (shape->stride[l] > most) most = shape->stride[l];
    }
    size_t rows = BLOCK_NUMBERS / most / TACIT_LAYER_ROWS * TACIT_LAYER_ROWS;
    shape->block = rows < TACIT_LAYER_ROWS ? TACIT_LAYER_ROWS : rows > BLOCK_ROWS ? BLOCK_ROWS : rows;
}

static tacit_status set_weights(batch_shape *shape, const double *class_weight, tacit_error *error) {
    const tacit_network *network = &shape->network;
    size_t classes = network->width[network->layers] == 1 ? 2 : network->width[network->layers];
    if (class_weight != NULL) {
        shape->class_weight = TACIT_NEW(double, classes);
        if (shape->class_weight == NULL) return tacit_fail_memory(error);
        memcpy(shape->class_weight, class_weight, classes * sizeof *class_weight);
    }
    if (!tacit_network_is_dense(network)) {
        shape->parameters = TACIT_NEW(double, shape->size);
        return shape->parameters != NULL ? TACIT_OK : tacit_fail_memory(error);
    }
    for (size_t l = 0; l < network->layers; l++) {
        shape->forward[l] = TACIT_NEW(float, network->width[l] * shape->stride[l + 1]);
        shape->biases[l] = TACIT_NEW(float, shape->stride[l + 1]);
        if (l > 0) shape->backward[l] = TACIT_NEW(float, network->width[l + 1] * shape->stride[l]);
        if (shape->forward[l] == NULL || shape->biases[l] == NULL || (l > 0 && shape->backward[l] == NULL))
            return tacit_fail_memory(error);
    }
    return TACIT_OK;
}

tacit_status tacit_batch_create(tacit_batch **out, const tacit_network *network, const double *class_weight,
                                tacit_pool *pool, tacit_error *error) {
    tacit_batch *batch = TACIT_NEW(tacit_batch, 1);
    tacit_status status = batch != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    batch->pool = pool;
    batch->workers = tacit_pool_threads(pool);
    set_shape(&batch->shape, network);
    TACIT_CHECK(set_weights(&batch->shape, class_weight, error));
    batch->worker = TACIT_NEW(batch_worker, batch->workers);
    if (batch->worker == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t w = 0; w < batch->workers; w++) {
        if (batch->shape.parameters != NULL)
            TACIT_CHECK(batch_written_create(&batch->worker[w].written, &batch->shape, error));
        else
            TACIT_CHECK(batch_space_create(&batch->worker[w].space, &batch->shape, error));
        batch->worker[w].sum = TACIT_NEW(double, batch->shape.size);
        batch->worker[w].total = TACIT_NEW(int64_t, batch->shape.size);
        if (batch->worker[w].sum == NULL || batch->worker[w].total == NULL)
            TACIT_CHECK(tacit_fail_memory(error));
    }
    *out = batch;
cleanup:
    if (status != TACIT_OK) tacit_batch_free(batch);
    return status;
}

void tacit_batch_scale_rows(tacit_batch *batch, double scale) { batch->shape.scale = scale; }

/* Weights, one row a unit, to panels of units (for the way forward) and of inputs (for the way back). */
static void load_layer(batch_shape *shape, size_t layer, const double *weights, const double *biases) {
    enum { P = TACIT_LAYER_PANEL };
    size_t inputs = shape->network.width[layer], units = shape->network.width[layer + 1];
    float *forward = shape->forward[layer], *backward = shape->backward[layer];
    for (size_t u = 0; u < units; u++) {
        float *to = forward + u / P * inputs * P + u % P;
        for (size_t j = 0; j < inputs; j++) to[j * P] = (float)weights[u * inputs + j];
        for (size_t j = 0; j < inputs && backward != NULL; j++)
            backward[(j / P * units + u) * P + j % P] = (float)weights[u * inputs + j];
        shape->biases[layer][u] = (float)biases[u];
    }
}

void tacit_batch_load(tacit_batch *batch, const double *parameters) {
    const tacit_network *network = &batch->shape.network;
    if (batch->shape.parameters != NULL)
        memcpy(batch->shape.parameters, parameters, batch->shape.size * sizeof *parameters);
    for (size_t l = 0; l < network->layers && batch->shape.parameters == NULL; l++)
        load_layer(&batch->shape, l, parameters + tacit_network_weights_at(network, l),
                   parameters + tacit_network_biases_at(network, l));
}

/* ---- passing over the rows ---- */

typedef struct batch_pass {
    tacit_batch *batch;
    const tacit_view *rows;
    size_t block;
    double bound;
    double *out;
    void (*add)(const struct batch_pass *pass, batch_worker *worker, size_t rows, size_t first);
    void (*add_written)(const struct batch_pass *pass, batch_worker *worker, double norm, size_t row);
} batch_pass;

static tacit_status pass_blocks(void *context, size_t begin, size_t end, unsigned number,
                                tacit_error *error) {
    (void)error;
    const batch_pass *pass = context;
    batch_worker *worker = &pass->batch->worker[number];
    for (size_t b = begin; b < end; b++) {
        size_t first = b * pass->block, left = pass->rows->rows.count - first;
        tacit_view block = tacit_view_slice(pass->rows, first, left < pass->block ? left : pass->block);
        if (pass->batch->shape.parameters == NULL) {
            batch_backward(&pass->batch->shape, &worker->space, &block);
            pass->add(pass, worker, block.rows.count, first);
            continue;
        }
        for (size_t i = 0; i < block.rows.count; i++) {
            tacit_view row = tacit_view_slice(&block, i, 1);
            double norm = batch_write_row(&pass->batch->shape, &worker->written, &row);
            pass->add_written(pass, worker, norm, first + i);
        }
    }
    return TACIT_OK;
}

/* Blocks such that all workers have the same number of them, if that is possible. */
static size_t block_rows(const tacit_batch *batch, size_t rows) {
    size_t each = (rows + batch->workers - 1) / batch->workers;
    each = (each + TACIT_LAYER_ROWS - 1) / TACIT_LAYER_ROWS * TACIT_LAYER_ROWS;
    return each > batch->shape.block ? batch->shape.block : each;
}

static tacit_status pass_over(batch_pass *pass, tacit_error *error) {
    size_t rows = pass->rows->rows.count;
    const batch_shape *shape = &pass->batch->shape;
    if (rows > TACIT_BATCH_MOST)
        return tacit_fail(error, TACIT_USAGE,
                          "a batch of %zu rows, and at most %zu are added up: sample less", rows,
                          TACIT_BATCH_MOST);
    const bool numeric = shape->network.response != TACIT_RESPONSE_CLASS;
    if (pass->rows->rows.cols != shape->network.width[0] ||
        (numeric ? pass->rows->response == NULL : pass->rows->label == NULL))
        return tacit_fail(error, TACIT_USAGE,
                          "the rows have %zu features, and the network takes %zu and a label of kind %s",
                          pass->rows->rows.cols, shape->network.width[0],
                          tacit_response_name(shape->network.response));
    for (size_t w = 0; w < pass->batch->workers; w++) {
        batch_worker *worker = &pass->batch->worker[w];
        memset(worker->sum, 0, shape->size * sizeof(double));
        if (worker->moved) memset(worker->total, 0, shape->size * sizeof(int64_t));
        worker->pending = 0;
        worker->moved = false;
    }
    if (rows == 0) return TACIT_OK;
    pass->block = block_rows(pass->batch, rows);
    return tacit_pool_for(pass->batch->pool, (rows + pass->block - 1) / pass->block, 1, pass_blocks, pass,
                          error);
}

/* ---- clipped to a norm ---- */

static void flush(const batch_shape *shape, batch_worker *worker) {
    for (size_t j = 0; j < shape->size && worker->pending > 0; j++) {
        worker->total[j] += (int64_t)(worker->sum[j] / TACIT_BATCH_STEP);
        worker->sum[j] = 0;
    }
    worker->moved = worker->moved || worker->pending > 0;
    worker->pending = 0;
}

static void add_layer(const batch_shape *shape, batch_worker *worker, size_t rows, size_t layer) {
    batch_space *space = &worker->space;
    size_t inputs = shape->network.width[layer], units = shape->network.width[layer + 1];
    size_t stride = shape->stride[layer + 1];
    double *weights = worker->sum + tacit_network_weights_at(&shape->network, layer);
    double *biases = worker->sum + tacit_network_biases_at(&shape->network, layer);
    for (size_t i = 0; i < rows; i++) {
        shape->kernels->scale(stride, space->norm[i], space->slope[layer] + i * stride,
                              space->scaled + i * stride);
        for (size_t u = 0; u < units; u++) biases[u] += space->scaled[i * stride + u];
    }
    shape->kernels->add_exact(rows, units, inputs, space->scaled, stride, space->unit[layer],
                              shape->stride[layer], weights);
}

static double factor_of(const batch_pass *pass, double norm) {
    return norm > pass->bound * (1 - 1e-9) ? (1 - 1e-9) / norm : 1 / pass->bound;
}

static void add_clipped(const batch_pass *pass, batch_worker *worker, size_t rows, size_t first) {
    (void)first;
    const batch_shape *shape = &pass->batch->shape;
    if (worker->pending + rows > EXACT_ROWS) flush(shape, worker);
    for (size_t i = 0; i < rows; i++) /* the norm gives way to the factor */
        worker->space.norm[i] = factor_of(pass, worker->space.norm[i]);
    for (size_t l = 0; l < shape->network.layers; l++) add_layer(shape, worker, rows, l);
    worker->pending += rows;
}

static void add_clipped_row(const batch_pass *pass, batch_worker *worker, double norm, size_t row) {
    (void)row;
    worker->moved = true;
    batch_add_written(pass->batch->shape.size, worker->written.gradient, factor_of(pass, norm),
                      TACIT_BATCH_STEP, worker->total);
}

static tacit_status check_bound(double bound, tacit_error *error) {
    if (bound >= 1e-30 && bound <= 1e30) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE, "gradients are clipped at %g: give a number from 1e-30 to 1e30",
                      bound);
}

static void collect(const tacit_batch *batch, double step, double *out) {
    for (size_t j = 0; j < batch->shape.size; j++) {
        int64_t total = 0;
        for (size_t w = 0; w < batch->workers; w++) total += batch->worker[w].total[j];
        out[j] = (double)total * step;
    }
}

static void add_up(const tacit_batch *batch, double *out) {
    memcpy(out, batch->worker[0].sum, batch->shape.size * sizeof *out);
    for (size_t w = 1; w < batch->workers; w++)
        for (size_t j = 0; j < batch->shape.size; j++) out[j] += batch->worker[w].sum[j];
}

tacit_status tacit_batch_sum(tacit_batch *batch, const tacit_view *rows, double norm_bound, double *out,
                             tacit_error *error) {
    batch_pass pass = {
        .batch = batch, .rows = rows, .bound = norm_bound, .add = add_clipped, .add_written = add_clipped_row
    };
    TACIT_TRY(check_bound(norm_bound, error));
    TACIT_TRY(pass_over(&pass, error));
    if (rows->rows.count <= EXACT_ROWS && batch->shape.parameters == NULL) {
        add_up(batch, out);
        return TACIT_OK;
    }
    for (size_t w = 0; w < batch->workers; w++) flush(&batch->shape, &batch->worker[w]);
    collect(batch, TACIT_BATCH_STEP, out);
    return TACIT_OK;
}

/* ---- clipped coordinate by coordinate ---- */

/* Row by row, each product is clamped on its own: a unit's derivatives against all that the layer takes
 * in. */
static void clamp_layer(const batch_pass *pass, batch_worker *worker, size_t rows, size_t layer) {
    const batch_shape *shape = &pass->batch->shape;
    batch_space *space = &worker->space;
    size_t inputs = shape->network.width[layer], units = shape->network.width[layer + 1];
    int64_t *weights = worker->total + tacit_network_weights_at(&shape->network, layer);
    int64_t *biases = worker->total + tacit_network_biases_at(&shape->network, layer);
    for (size_t u = 0; u < units; u++) {
        for (size_t i = 0; i < rows; i++)
            space->column[i] = (float)(space->slope[layer][i * shape->stride[layer + 1] + u] / pass->bound);
        shape->kernels->add_clamped(rows, inputs, space->unit[layer], shape->stride[layer], space->column,
                                    weights + u * inputs);
        for (size_t i = 0; i < rows; i++)
            biases[u] += (int64_t)(fmax(-1, fmin(1, space->column[i])) / TACIT_BATCH_CLAMPED);
    }
}

static void add_clamped(const batch_pass *pass, batch_worker *worker, size_t rows, size_t first) {
    (void)first;
    worker->moved = true;
    for (size_t l = 0; l < pass->batch->shape.network.layers; l++) clamp_layer(pass, worker, rows, l);
}

static void add_clamped_row(const batch_pass *pass, batch_worker *worker, double norm, size_t row) {
    (void)norm, (void)row;
    worker->moved = true;
    batch_add_written(pass->batch->shape.size, worker->written.gradient, 1 / pass->bound, TACIT_BATCH_CLAMPED,
                      worker->total);
}

tacit_status tacit_batch_sum_clamped(tacit_batch *batch, const tacit_view *rows, double bound, double *out,
                                     tacit_error *error) {
    batch_pass pass = {
        .batch = batch, .rows = rows, .bound = bound, .add = add_clamped, .add_written = add_clamped_row
    };
    TACIT_TRY(check_bound(bound, error));
    TACIT_TRY(pass_over(&pass, error));
    collect(batch, TACIT_BATCH_CLAMPED, out);
    return TACIT_OK;
}

/* ---- not clipped ---- */

/* Single precision within a block, double precision from block to block. */
static void add_plain(const batch_pass *pass, batch_worker *worker, size_t rows, size_t first) {
    (void)first;
    const batch_shape *shape = &pass->batch->shape;
    const batch_space *space = &worker->space;
    for (size_t l = 0; l < shape->network.layers; l++) {
        size_t inputs = shape->network.width[l], units = shape->network.width[l + 1],
               stride = shape->stride[l + 1];
        double *weights = worker->sum + tacit_network_weights_at(&shape->network, l);
        double *biases = worker->sum + tacit_network_biases_at(&shape->network, l);
        shape->kernels->add_plain(rows, units, inputs, space->slope[l], stride, space->unit[l],
                                  shape->stride[l], weights);
        for (size_t i = 0; i < rows; i++)
            for (size_t u = 0; u < units; u++) biases[u] += space->slope[l][i * stride + u];
    }
}

static void add_plain_row(const batch_pass *pass, batch_worker *worker, double norm, size_t row) {
    (void)norm, (void)row;
    for (size_t j = 0; j < pass->batch->shape.size; j++) worker->sum[j] += worker->written.gradient[j];
}

tacit_status tacit_batch_sum_plain(tacit_batch *batch, const tacit_view *rows, double *out,
                                   tacit_error *error) {
    batch_pass pass = { .batch = batch, .rows = rows, .add = add_plain, .add_written = add_plain_row };
    TACIT_TRY(pass_over(&pass, error));
    add_up(batch, out);
    return TACIT_OK;
}

/* ---- norms and scores ---- */

static void copy_norms(const batch_pass *pass, batch_worker *worker, size_t rows, size_t first) {
    memcpy(pass->out + first, worker->space.norm, rows * sizeof *pass->out);
}

static void keep_norm(const batch_pass *pass, batch_worker *worker, double norm, size_t row) {
    (void)worker;
    pass->out[row] = norm;
}

tacit_status tacit_batch_norms(tacit_batch *batch, const tacit_view *rows, double *out, tacit_error *error) {
    batch_pass pass = {
        .batch = batch, .rows = rows, .out = out, .add = copy_norms, .add_written = keep_norm
    };
    return pass_over(&pass, error);
}
