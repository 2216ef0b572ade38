/*
 * A small network: one hidden layer of tanh units, trained on all rows at once by L-BFGS.
 *
 * It minimises (1/n) sum loss + (lambda/2) |weights|^2, biases free, over rows that are centered and divided
 * by one number so that their mean squared length is 1: encoded rows share most of their length and differ
 * little, which leaves an optimiser little to hold on to. The rows themselves are not touched: with z = (x -
 * m)/s, W z + b = (W/s) x + (b - W m/s), so the parameters are mapped forth and their gradient back.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/classifier/classifier_kinds.h"
#include "model/network.h"
#include "num/kernel/kernel.h"

enum {
    FALLBACK = 16,    /* hidden units */
    ITERATIONS = 200, /* at most */
    SEARCH_STEPS = 30,
    MOST_PAIRS = 10,
    MOST_CHUNKS = 16,
    CHUNK_ROWS = 256,         /* at least, where there are several chunks */
    NUMBERS = 8 * 1024 * 1024 /* memory that pairs and chunks may take, unless fewer do not work */
};

typedef struct mlp {
    tacit_classifier base;
    tacit_network network;
    double *parameters;
} mlp;

static void clear_mlp(tacit_classifier *base) { free(((mlp *)base)->parameters); }

/* ---- the objective ---- */

typedef struct objective {
    const tacit_network *network;
    const tacit_view *rows;
    tacit_pool *pool;
    double lambda;
    size_t size;         /* of the parameters */
    double *mean, scale; /* m and 1/s */
    double *mapped;      /* parameters for rows as they are */
    size_t chunks;       /* of rows, whatever the number of threads; each adds up on its own */
    double *partial;     /* gradient of each */
    double loss[MOST_CHUNKS];
    size_t spaces;
    tacit_network_space **space; /* one a thread */
} objective;

static void objective_clear(objective *o) {
    for (size_t i = 0; i < o->spaces && o->space != NULL; i++) tacit_network_space_free(o->space[i]);
    free(o->space);
    free(o->mean);
    free(o->mapped);
    free(o->partial);
}

/* m, and s from the mean squared length |x - m|^2 = |x|^2 - |m|^2. */
static void find_scale(objective *o) {
    const tacit_rows *rows = &o->rows->rows;
    double n = (double)rows->count, squares = 0;
    for (size_t i = 0; i < rows->count; i++) {
        double norm = tacit_rows_norm(rows, i);
        squares += norm * norm / n;
        tacit_rows_add(rows, i, 1 / n, o->mean);
    }
    double total = squares;
    for (size_t j = 0; j < rows->cols; j++) squares -= o->mean[j] * o->mean[j];
    o->scale = squares > 1e-9 * total ? 1 / sqrt(squares) : 1; /* rows all alike: nothing to scale */
}

static tacit_status objective_prepare(objective *o, tacit_error *error) {
    size_t chunks = o->rows->rows.count / CHUNK_ROWS + 1;
    o->size = tacit_network_size(o->network);
    if (chunks > MOST_CHUNKS) chunks = MOST_CHUNKS;
    while (chunks > 1 && chunks * o->size > NUMBERS) chunks--;
    o->chunks = chunks;
    o->spaces = tacit_pool_threads(o->pool);
    o->mean = TACIT_NEW(double, o->rows->rows.cols);
    o->mapped = TACIT_NEW(double, o->size);
    o->partial = TACIT_NEW(double, chunks * o->size);
    o->space = TACIT_NEW(tacit_network_space *, o->spaces);
    if (o->mean == NULL || o->mapped == NULL || o->partial == NULL || o->space == NULL)
        return tacit_fail_memory(error);
    for (size_t i = 0; i < o->spaces; i++)
        TACIT_TRY(tacit_network_space_create(&o->space[i], o->network, error));
    find_scale(o);
    return TACIT_OK;
}

/* To parameters for the rows as they are. */
static void map_forth(const objective *o, const double *parameters, double *out) {
    size_t inputs = o->network->width[0], units = o->network->width[1];
    double *biases = out + tacit_network_biases_at(o->network, 0);
    memcpy(out, parameters, o->size * sizeof *out);
    for (size_t u = 0; u < units; u++)
        for (size_t j = 0; j < inputs; j++) {
            out[u * inputs + j] *= o->scale;
            biases[u] -= out[u * inputs + j] * o->mean[j];
        }
}

/* The gradient by the parameters, from that by the mapped ones. */
static void map_back(const objective *o, double *gradient) {
    size_t inputs = o->network->width[0], units = o->network->width[1];
    const double *biases = gradient + tacit_network_biases_at(o->network, 0);
    for (size_t u = 0; u < units; u++)
        for (size_t j = 0; j < inputs; j++)
            gradient[u * inputs + j] = o->scale * (gradient[u * inputs + j] - biases[u] * o->mean[j]);
}

/* Add up chunks [begin, end). */
static tacit_status add_chunks(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    (void)error;
    objective *o = context;
    size_t rows = o->rows->rows.count;
    for (size_t c = begin; c < end; c++) {
        double *gradient = o->partial + c * o->size;
        memset(gradient, 0, o->size * sizeof *gradient);
        o->loss[c] = 0;
        for (size_t i = rows * c / o->chunks, last = rows * (c + 1) / o->chunks; i < last;) {
            size_t count = last - i < TACIT_NETWORK_BLOCK ? last - i : TACIT_NETWORK_BLOCK;
            tacit_view block = tacit_view_slice(o->rows, i, count);
            o->loss[c] += tacit_network_backward(o->network, o->mapped, &block, o->space[worker], gradient);
            i += count;
        }
    }
    return TACIT_OK;
}

static tacit_status evaluate(objective *o, const double *parameters, double *value, double *gradient,
                             tacit_error *error) {
    double n = (double)o->rows->rows.count, loss = 0, squares = 0;
    map_forth(o, parameters, o->mapped);
    TACIT_TRY(tacit_pool_for(o->pool, o->chunks, 1, add_chunks, o, error));
    memset(gradient, 0, o->size * sizeof *gradient);
    for (size_t c = 0; c < o->chunks; c++) {
        loss += o->loss[c];
        for (size_t i = 0; i < o->size; i++) gradient[i] += o->partial[c * o->size + i] / n;
    }
    map_back(o, gradient);
    for (size_t l = 0; l < o->network->layers; l++) {
        size_t end = tacit_network_biases_at(o->network, l);
        for (size_t i = tacit_network_weights_at(o->network, l); i < end; i++) {
            squares += parameters[i] * parameters[i];
            gradient[i] += o->lambda * parameters[i];
        }
    }
    *value = loss / n + o->lambda / 2 * squares;
    return TACIT_OK;
}

/* ---- L-BFGS (Nocedal and Wright 2006, algorithm 7.4) ---- */

typedef struct descent {
    objective *objective;
    size_t size, most_pairs, pairs, newest;
    double *at, *gradient, *tried, *tried_gradient, *direction; /* in one block of memory */
    double *step, *change;                                      /* most_pairs of each */
    double inverse[MOST_PAIRS];                                 /* 1/(step . change) */
    double value;
} descent;

static double dot(const double *a, const double *b, size_t count) {
    double sum;
    tacit_kernels_choose()->dot_rows(&a, 1, count, b, &sum);
    return sum;
}

static void add_scaled(double *to, double scale, const double *from, size_t count) {
    tacit_kernels_choose()->add_rows(&from, 1, count, &scale, to);
}

/* The pair `age` steps old; 0 is the newest. */
static size_t pair_of(const descent *d, size_t age) {
    return (d->newest + d->most_pairs - age) % d->most_pairs;
}

static void find_direction(descent *d) {
    double alpha[MOST_PAIRS];
    size_t n = d->size;
    for (size_t i = 0; i < n; i++) d->direction[i] = -d->gradient[i];
    for (size_t age = 0; age < d->pairs; age++) {
        size_t p = pair_of(d, age);
        alpha[p] = d->inverse[p] * dot(d->step + p * n, d->direction, n);
        add_scaled(d->direction, -alpha[p], d->change + p * n, n);
    }
    if (d->pairs > 0) {
        const double *change = d->change + d->newest * n;
        double scale = 1 / (d->inverse[d->newest] * dot(change, change, n));
        for (size_t i = 0; i < n; i++) d->direction[i] *= scale;
    }
    for (size_t age = d->pairs; age-- > 0;) {
        size_t p = pair_of(d, age);
        add_scaled(d->direction, alpha[p] - d->inverse[p] * dot(d->change + p * n, d->direction, n),
                   d->step + p * n, n);
    }
}

/* A step that decreases the value enough and flattens the slope (the weak Wolfe conditions), by bisection;
 * *found is false when no step decreases it. */
static tacit_status search_line(descent *d, bool *found, double *value, tacit_error *error) {
    double slope = dot(d->gradient, d->direction, d->size), low = 0, high = INFINITY;
    double step = d->pairs > 0 ? 1 : 1 / fmax(1, sqrt(dot(d->gradient, d->gradient, d->size)));
    *found = false;
    if (!(slope < 0)) return TACIT_OK;
    for (int i = 0; i < SEARCH_STEPS; i++) {
        memcpy(d->tried, d->at, d->size * sizeof *d->tried);
        add_scaled(d->tried, step, d->direction, d->size);
        TACIT_TRY(evaluate(d->objective, d->tried, value, d->tried_gradient, error));
        *found = *value <= d->value + 1e-4 * step * slope;
        if (!*found)
            high = step;
        else if (dot(d->tried_gradient, d->direction, d->size) < 0.9 * slope)
            low = step;
        else
            return TACIT_OK;
        step = isfinite(high) ? (low + high) / 2 : 2 * step;
    }
    return TACIT_OK;
}

/* Take the step that was tried, and remember what it says about curvature. */
static void accept(descent *d, double value) {
    size_t n = d->size, p = d->pairs > 0 ? (d->newest + 1) % d->most_pairs : 0;
    double *step = d->step + p * n, *change = d->change + p * n;
    for (size_t i = 0; i < n; i++) {
        step[i] = d->tried[i] - d->at[i];
        change[i] = d->tried_gradient[i] - d->gradient[i];
    }
    double curvature = dot(step, change, n);
    if (curvature > 1e-12 * dot(change, change, n)) {
        d->inverse[p] = 1 / curvature;
        d->newest = p;
        if (d->pairs < d->most_pairs) d->pairs++;
    }
    memcpy(d->at, d->tried, n * sizeof *d->at);
    memcpy(d->gradient, d->tried_gradient, n * sizeof *d->gradient);
    d->value = value;
}

/* Until the slope or the gain is small: labels do not follow from later digits. */
static tacit_status descend(descent *d, const tacit_training *training, tacit_error *error) {
    TACIT_TRY(evaluate(d->objective, d->at, &d->value, d->gradient, error));
    for (int i = 0; i < ITERATIONS; i++) {
        bool found;
        double value, before = d->value;
        TACIT_TRY(classifier_stopped(training, error));
        if (dot(d->gradient, d->gradient, d->size) < 1e-10) return TACIT_OK;
        find_direction(d);
        TACIT_TRY(search_line(d, &found, &value, error));
        if (!found) return TACIT_OK;
        accept(d, value);
        if (before - value < 1e-4 * (before + 0.1)) return TACIT_OK;
    }
    return TACIT_OK;
}

/* ---- training and using ---- */

static tacit_status fit_network(mlp *self, const tacit_view *rows, const tacit_training *training,
                                tacit_error *error) {
    objective o = {
        .network = &self->network, .rows = rows, .pool = training->pool, .lambda = training->lambda
    };
    descent d = { .objective = &o };
    tacit_stream stream = training->stream;
    double gain[2] = { 1, (double)self->network.width[1] }, *memory = NULL;
    tacit_status status;
    TACIT_CHECK(objective_prepare(&o, error));
    d.size = o.size;
    d.most_pairs = NUMBERS / d.size < 3 ? 3 : NUMBERS / d.size > MOST_PAIRS ? MOST_PAIRS : NUMBERS / d.size;
    memory = TACIT_NEW(double, (5 + 2 * d.most_pairs) * d.size);
    if (memory == NULL) {
        status = tacit_fail_memory(error);
        goto cleanup;
    }
    d.at = memory;
    d.gradient = d.at + d.size;
    d.tried = d.gradient + d.size;
    d.tried_gradient = d.tried + d.size;
    d.direction = d.tried_gradient + d.size;
    d.step = d.direction + d.size;
    d.change = d.step + d.most_pairs * d.size;
    tacit_network_start(&self->network, gain, &stream, d.at);
    TACIT_CHECK(descend(&d, training, error));
    map_forth(&o, d.at, self->parameters);
cleanup:
    free(memory);
    objective_clear(&o);
    return status;
}

static tacit_status train_mlp(tacit_classifier **out, const char *argument, const tacit_view *rows,
                              const tacit_training *training, tacit_error *error) {
    mlp *self = TACIT_NEW(mlp, 1);
    if (self == NULL) return tacit_fail_memory(error);
    self->network = (tacit_network){ .layers = 2,
                                     .width = { rows->rows.cols, classifier_number(argument, FALLBACK),
                                                tacit_network_outputs(rows->classes) } };
    self->parameters = TACIT_NEW(double, tacit_network_size(&self->network));
    tacit_status status =
        self->parameters != NULL ? fit_network(self, rows, training, error) : tacit_fail_memory(error);
    if (status == TACIT_OK) {
        *out = &self->base;
        return TACIT_OK;
    }
    free(self->parameters);
    free(self);
    return status;
}

static tacit_status predict_mlp(const tacit_classifier *base, const tacit_rows *points, int32_t *labels,
                                tacit_error *error) {
    const mlp *self = (const mlp *)base;
    const tacit_network *network = &self->network;
    tacit_network_space *space = NULL;
    TACIT_TRY(tacit_network_space_create(&space, network, error));
    for (size_t begin = 0; begin < points->count; begin += TACIT_NETWORK_BLOCK) {
        size_t left = points->count - begin, count = left < TACIT_NETWORK_BLOCK ? left : TACIT_NETWORK_BLOCK;
        tacit_rows block = tacit_rows_slice(points, begin, count);
        const double *scores = tacit_network_forward(network, self->parameters, &block, space);
        for (size_t i = 0; i < count; i++)
            labels[begin + i] = tacit_network_class(network, scores + i * network->width[network->layers]);
    }
    tacit_network_space_free(space);
    return TACIT_OK;
}

const classifier_kind classifier_mlp = {
    .name = "mlp",
    .shown = "mlp[:H]",
    .most = 4096,
    .train = train_mlp,
    .predict = predict_mlp,
    .clear = clear_mlp,
};
