/*
 * dpnewton's sums over rows. Rows come encoded, z = (f, e) with e the intercept; x = (a f, b e), and every
 * row counts with v = min(1, 1/|x|): v x has norm at most 1, whatever the row. Scores are taken of x, not of
 * v x, so that the model is linear in x.
 *
 * Dense rows are packed for the time of a study (data/packed_rows.h): x in single precision with its v, for
 * all passes. x is then the rounded row, of which v is taken, and all that is added up is in double
 * precision: what is said of a row's bound holds for it as it does for x.
 *
 * Rounding. Rows are added up in runs of RUN, runs in spans of GRADIENT_SLICE, spans in order: chains shorter
 * than those that gradient.h counts, of terms of norm at most 1, so that its GRADIENT_ROUNDING holds.
 */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/persons.h"
#include "method/private/dpnewton.h"
#include "num/blas.h"
#include "num/kernel/tiles.h"
#include "num/noisy/noisy_moments.h"

/* A block of packed rows stays in the nearest cache between its scores and its sum. */
enum { RUN = 8192, BLOCK = DPNEWTON_BLOCK, PACKED_BLOCK = 64 };

/* Runs of one span, each into its own numbers. */
typedef struct span {
    const tacit_view *rows;
    const tacit_packed_rows *packed; /* NULL: rows as they lie */
    const dpnewton_design *design;
    const dpnewton_scaling *scaling;
    const double *weights; /* of encoded rows, or of packed ones, scores x width; NULL: moments */
    size_t begin, count, width, length;
    double *sums, *room; /* length numbers, and those of a block, for each run */
    size_t room_length;
} span;

/* A dense row where it lies; NULL for sparse ones. */
static const double *dense_row(const tacit_rows *rows, size_t i) {
    return rows->dense != NULL ? rows->dense + tacit_rows_stored(rows, i) * rows->stride : NULL;
}

static double square_of(const tacit_rows *rows, size_t i) {
    const double *row = dense_row(rows, i);
    if (row != NULL) return cblas_ddot((int)rows->cols, row, 1, row, 1);
    double norm = tacit_rows_norm(rows, i);
    return norm * norm;
}

/* The last number of a row. */
static double last_of(const tacit_rows *rows, size_t i) {
    size_t stored = tacit_rows_stored(rows, i);
    if (rows->dense != NULL) return dense_row(rows, i)[rows->cols - 1];
    size_t end = rows->sparse->start[stored + 1];
    bool there = end > rows->sparse->start[stored] && rows->sparse->column[end - 1] == rows->cols - 1;
    return there ? rows->sparse->value[end - 1] : 0;
}

/* v of a row of the view, from the row as it is: that its last number is the intercept's is not relied
 * upon. */
static double row_factor(const span *self, size_t i) {
    const dpnewton_scaling *by = self->scaling;
    const tacit_rows *rows = &self->rows->rows;
    double last = by->encoded > 0 ? last_of(rows, i) : 0, other = square_of(rows, i) - last * last;
    double square = by->feature * by->feature * fmax(other, 0) + by->intercept * by->intercept * last * last;
    return square > 1 ? 1 / sqrt(square) : 1;
}

/* Ask the memory for dense rows that will be needed soon: rows of a view lie anywhere, and each would be
 * waited for. */
static void fetch(const double *const *at, size_t count, size_t cols) {
    enum { LINE = 64 / sizeof(double) };
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < cols; j += LINE) __builtin_prefetch(at[i] + j);
}

/* One score of each row, a few rows at a time while the next ones are on their way. */
static void score_dense(const span *self, const double *const *at, size_t count, const double *weights,
                        double *out) {
    enum { FEW = 8 };
    for (size_t i = 0; i < count; i += FEW) {
        size_t here = count - i < FEW ? count - i : FEW, left = count - i - here;
        fetch(at + i + here, left < FEW ? left : FEW, self->width);
        self->design->kernels->dot_rows(at + i, here, self->width, weights, out + i);
    }
}

/* out = the scores of rows from `first`, all of a row's side by side. */
static void score_block(const span *self, size_t first, size_t count, double *column, double *out) {
    const tacit_rows *rows = &self->rows->rows;
    const double *at[BLOCK];
    size_t scores = self->design->scores;
    for (size_t i = 0; rows->dense != NULL && i < count; i++) at[i] = dense_row(rows, first + i);
    for (size_t k = 0; k < scores; k++) {
        const double *weights = self->weights + k * self->width;
        double *into = scores == 1 ? out : column;
        if (rows->dense != NULL)
            score_dense(self, at, count, weights, into);
        else
            for (size_t i = 0; i < count; i++) into[i] = tacit_rows_dot(rows, first + i, weights);
        for (size_t i = 0; scores > 1 && i < count; i++) out[i * scores + k] = column[i];
    }
}

/* out_k += sum_i residual_ik v_i z_i */
static void add_block(const span *self, size_t first, size_t count, const double *residuals, double *column,
                      double *out) {
    const tacit_rows *rows = &self->rows->rows;
    const double *at[BLOCK];
    double factor[BLOCK];
    size_t scores = self->design->scores;
    for (size_t i = 0; i < count; i++) {
        at[i] = dense_row(rows, first + i);
        factor[i] = row_factor(self, first + i);
    }
    for (size_t k = 0; k < scores; k++) {
        for (size_t i = 0; i < count; i++) column[i] = residuals[i * scores + k] * factor[i];
        if (rows->dense != NULL)
            self->design->kernels->add_rows(at, count, rows->cols, column, out + k * self->width);
        else
            for (size_t i = 0; i < count; i++)
                tacit_rows_add(rows, first + i, column[i], out + k * self->width);
    }
}

static void add_gradients(const span *self, size_t begin, size_t end, double *room, double *out) {
    double *column = room, *scores = room + BLOCK;
    for (size_t first = begin; first < end; first += BLOCK) {
        size_t count = end - first < BLOCK ? end - first : BLOCK;
        score_block(self, first, count, column, scores);
        self->design->family->residuals(self->design, self->rows, first, count, scores);
        add_block(self, first, count, scores, column, out);
    }
}

static void scale_row(const span *self, double *row, double factor) {
    size_t last = self->width - 1;
    for (size_t j = 0; j < last; j++) row[j] *= factor * self->scaling->feature;
    row[last] *= factor * (self->scaling->encoded > 0 ? self->scaling->intercept : self->scaling->feature);
}

/* The upper triangle of a full matrix. */
static void add_moments(const span *self, size_t begin, size_t end, double *block, double *out) {
    size_t d = self->width;
    for (size_t first = begin; first < end; first += BLOCK) {
        size_t count = end - first < BLOCK ? end - first : BLOCK;
        for (size_t i = 0; i < count; i++) {
            tacit_rows_copy(&self->rows->rows, first + i, block + i * d);
            scale_row(self, block + i * d, row_factor(self, first + i));
        }
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)d, (int)count, 1, block, (int)d, 1, out,
                    (int)d);
    }
}

/* ---- packed rows ---- */

static size_t packed_room(const dpnewton_design *design, size_t stride, bool moments) {
    if (moments) return tacit_tiles_room(stride) + tacit_tiles_length(stride);
    return PACKED_BLOCK * (1 + design->scores) + 2 * design->scores * stride;
}

static void score_packed(const span *self, size_t first, size_t count, const double *weights, double *column,
                         double *out) {
    size_t scores = self->design->scores, stride = self->packed->stride;
    const float *x = self->packed->x + first * stride;
    for (size_t k = 0; k < scores; k++) {
        self->design->kernels->dot_floats(x, count, stride, weights + k * stride, scores == 1 ? out : column);
        for (size_t i = 0; scores > 1 && i < count; i++) out[i * scores + k] = column[i];
    }
}

static void add_packed(const span *self, size_t first, size_t count, const double *residuals, double *column,
                       double *sums) {
    size_t scores = self->design->scores, stride = self->packed->stride;
    const double *factor = self->packed->factor + first;
    for (size_t k = 0; k < scores; k++) {
        for (size_t i = 0; i < count; i++) column[i] = residuals[i * scores + k] * factor[i];
        self->design->kernels->add_floats(self->packed->x + first * stride, count, stride, column,
                                          sums + k * stride);
    }
}

static void add_packed_gradients(const span *self, size_t begin, size_t end, double *room, double *out) {
    size_t scores = self->design->scores, stride = self->packed->stride, d = self->width;
    double *column = room, *residuals = column + PACKED_BLOCK, *weights = residuals + PACKED_BLOCK * scores,
           *sums = weights + scores * stride;
    memset(weights, 0, 2 * scores * stride * sizeof *weights);
    for (size_t k = 0; k < scores; k++)
        memcpy(weights + k * stride, self->weights + k * d, d * sizeof *weights);
    for (size_t first = begin; first < end; first += PACKED_BLOCK) {
        size_t count = end - first < PACKED_BLOCK ? end - first : PACKED_BLOCK;
        score_packed(self, first, count, weights, column, residuals);
        self->design->family->residuals(self->design, &self->packed->view, first, count, residuals);
        add_packed(self, first, count, residuals, column, sums);
    }
    for (size_t k = 0; k < scores; k++) memcpy(out + k * d, sums + k * stride, d * sizeof *out);
}

static void add_packed_moments(const span *self, size_t begin, size_t end, double *room, double *out) {
    size_t stride = self->packed->stride, length = tacit_tiles_length(stride), d = self->width;
    double *tiles = room + tacit_tiles_room(stride);
    memset(tiles, 0, length * sizeof *tiles);
    tacit_tiles_add_floats(self->design->kernels, self->packed->x + begin * stride, stride,
                           self->packed->factor + begin, end - begin, room, tiles);
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++) out[i * d + j] = tacit_tiles_at(tiles, stride, i, j);
}

/* What a run is added up by. */
typedef void adder(const span *self, size_t begin, size_t end, double *room, double *out);

static adder *adder_of(const span *self) {
    if (self->packed != NULL) return self->weights != NULL ? add_packed_gradients : add_packed_moments;
    return self->weights != NULL ? add_gradients : add_moments;
}

static tacit_status add_runs(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    const span *self = context;
    (void)worker;
    (void)error;
    for (size_t run = begin; run < end; run++) {
        size_t first = run * RUN, last = first + RUN < self->count ? first + RUN : self->count;
        double *out = self->sums + run * self->length, *room = self->room + run * self->room_length;
        memset(out, 0, self->length * sizeof *out);
        adder_of(self)(self, self->begin + first, self->begin + last, room, out);
    }
    return TACIT_OK;
}

/* ---- persons ---- */

/* |A| of a symmetric matrix by its upper triangle, or that of a gradient in the coordinates of x. */
static double norm_of(const span *self, const double *sum) {
    const dpnewton_scaling *by = self->scaling;
    size_t d = self->width;
    double square = 0;
    for (size_t i = 0; self->weights == NULL && i < d; i++)
        for (size_t j = i; j < d; j++) square += (i == j ? 1 : 2) * sum[i * d + j] * sum[i * d + j];
    for (size_t j = 0; self->weights != NULL && j < self->length; j++) {
        double factor = by->encoded > 0 && j % d == d - 1 ? by->intercept : by->feature;
        square += factor * factor * sum[j] * sum[j];
    }
    return sqrt(square);
}

/* Each person's sum over its rows, divided by what is set and shortened to what one row's can be. */
static tacit_status add_persons(tacit_party *party, const dpnewton_design *design, span *self, double *out,
                                tacit_error *error) {
    const double most = self->weights != NULL ? 0.5 : 1;
    double *sum = TACIT_NEW(double, self->length), *room = TACIT_NEW(double, self->room_length);
    person_rows all = { .count = 0 };
    tacit_status status;
    TACIT_CHECK(person_rows_make(&all, party, error));
    if (sum == NULL || room == NULL) TACIT_CHECK(tacit_fail_memory(error));
    self->rows = &all.view;
    for (size_t k = 0; k < all.count; k++) {
        memset(sum, 0, self->length * sizeof *sum);
        adder_of(self)(self, all.start[k], all.start[k + 1], room, sum);
        double factor = fmin(1 / design->unit, most / fmax(norm_of(self, sum), 1e-300));
        for (size_t j = 0; j < self->length; j++) out[j] += factor * sum[j];
    }
cleanup:
    person_rows_clear(&all);
    free(room);
    free(sum);
    return status;
}

/* How many there are: of persons, or of rows. */
static tacit_status count_units(const tacit_party *party, const dpnewton_design *design, double *out,
                                tacit_error *error) {
    person_rows all = { .count = 0 };
    *out = (double)party->total_rows;
    if (!(design->unit > 0)) return TACIT_OK;
    tacit_status status = person_rows_make(&all, party, error);
    *out = (double)all.count;
    person_rows_clear(&all);
    return status;
}

/* The party's rows packed, for all questions of a study; NULL: they are taken as they lie, as where there is
 * no memory for it. */
static const tacit_packed_rows *packed_rows(tacit_party *party, const dpnewton_design *design) {
    const dpnewton_scaling *by = &design->scaling;
    tacit_packing how = { by->feature, by->encoded > 0 ? by->intercept : by->feature };
    tacit_error ignored = TACIT_ERROR_INIT;
    tacit_memo *memo = party->memo;
    if (design->unit > 0 || memo == NULL || !tacit_rows_can_be_packed(&party->rows)) return NULL;
    if (memo->packed != NULL && tacit_packed_rows_are(memo->packed, &party->rows, &how)) return memo->packed;
    memo->packed = tacit_packed_rows_free(memo->packed);
    (void)tacit_packed_rows_create(&memo->packed, &party->rows, &how, party->pool, &ignored);
    return memo->packed;
}

/* Moments without `weights`; else gradients. Of packed rows, else in the encoded rows' coordinates. */
static tacit_status add_all(tacit_party *party, const dpnewton_design *design,
                            const tacit_packed_rows *packed, const double *weights, size_t length,
                            double *out, tacit_error *error) {
    size_t rows = party->rows.rows.count, most = rows < GRADIENT_SLICE ? rows : GRADIENT_SLICE;
    size_t runs = (most + RUN - 1) / RUN;
    span self = { .rows = &party->rows,
                  .packed = packed,
                  .design = design,
                  .scaling = &design->scaling,
                  .weights = weights,
                  .width = design->width,
                  .length = length,
                  .room_length = packed != NULL
                                     ? packed_room(design, packed->stride, weights == NULL)
                                     : BLOCK * (weights != NULL ? 1 + design->scores : design->width) };
    tacit_status status = TACIT_OK;
    memset(out, 0, length * sizeof *out);
    tacit_blas_one_thread();
    if (design->unit > 0) return add_persons(party, design, &self, out, error);
    if (rows == 0) return TACIT_OK;
    self.sums = TACIT_NEW(double, runs *length);
    self.room = TACIT_NEW(double, runs *self.room_length);
    if (self.sums == NULL || self.room == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t begin = 0; begin < rows; begin += GRADIENT_SLICE) {
        self.begin = begin;
        self.count = rows - begin < GRADIENT_SLICE ? rows - begin : GRADIENT_SLICE;
        runs = (self.count + RUN - 1) / RUN;
        TACIT_CHECK(tacit_pool_for(party->pool, runs, 1, add_runs, &self, error));
        for (size_t run = 1; run < runs; run++)
            for (size_t j = 0; j < length; j++) self.sums[j] += self.sums[run * length + j];
        for (size_t j = 0; j < length; j++) out[j] += self.sums[j];
    }
cleanup:
    free(self.room);
    free(self.sums);
    return status;
}

static tacit_status reduce(tacit_party *party, double *values, size_t count, tacit_error *error) {
    if (party->reducer == NULL) return TACIT_OK;
    return party->reducer->sum(party->reducer->context, values, count, error);
}

tacit_status dpnewton_sum_moments(tacit_party *party, const dpnewton_design *design, double *out,
                                  tacit_error *error) {
    size_t d = design->width;
    TACIT_TRY(gradient_check_rows(party, error));
    double *matrix = TACIT_NEW(double, d *d);
    if (matrix == NULL) return tacit_fail_memory(error);
    tacit_status status = add_all(party, design, packed_rows(party, design), NULL, d * d, matrix, error);
    tacit_moments_pack(out, matrix, d);
    if (status == TACIT_OK) status = reduce(party, out, tacit_moments_length(d), error);
    if (status == TACIT_OK) status = count_units(party, design, &out[tacit_moments_length(d)], error);
    free(matrix);
    return status;
}

tacit_status dpnewton_check_response(const tacit_party *party, const dpnewton_design *design,
                                     tacit_error *error) {
    const tacit_view *rows = &party->rows;
    if (design->classes > 0) {
        if (rows->label != NULL && rows->classes == design->classes) return TACIT_OK;
        return tacit_fail(error, TACIT_INPUT, "the rows have no label of %zu classes", design->classes);
    }
    if (rows->response != NULL && tacit_view_columns(rows) == 1) return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT, "the rows have no numeric response of one column");
}

tacit_status dpnewton_sum_gradient(tacit_party *party, const dpnewton_design *design, const double *weights,
                                   double *out, tacit_error *error) {
    const dpnewton_scaling *by = &design->scaling;
    size_t d = design->width, size = d * design->scores;
    TACIT_TRY(gradient_check_rows(party, error));
    TACIT_TRY(dpnewton_check_response(party, design, error));
    const tacit_packed_rows *packed = packed_rows(party, design);
    double *factor = TACIT_NEW(double, size), *encoded = TACIT_NEW(double, size);
    tacit_status status = TACIT_OK;
    if (factor == NULL || encoded == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t j = 0; j < size; j++) {
        factor[j] = packed != NULL ? 1 : by->encoded > 0 && j % d == d - 1 ? by->intercept : by->feature;
        encoded[j] = weights[j] * factor[j];
    }
    TACIT_CHECK(add_all(party, design, packed, encoded, size, out, error));
    for (size_t j = 0; j < size; j++) out[j] *= factor[j];
    TACIT_CHECK(reduce(party, out, size, error));
cleanup:
    free(encoded);
    free(factor);
    return status;
}
