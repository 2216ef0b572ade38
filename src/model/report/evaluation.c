/* Counting. The report is made in evaluation_report.c. */
#include "model/report/evaluation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/encode.h"

size_t tacit_tally_each(const tacit_tally *tally) {
    if (tally->classes == 0) return TACIT_TALLY_SUMS;
    size_t grids = tally->classes > 2 ? tally->classes : 1;
    return grids * 2 * tally->cells + (grids > 1 ? grids * grids : 0);
}

size_t tacit_tally_length(const tacit_tally *tally) { return tally->groups * tacit_tally_each(tally); }

static void set_levels(tacit_tally *out, const tacit_schema_column *column, size_t first) {
    out->first = first;
    out->by = column->name;
    out->levels = &column->levels;
    out->groups = out->levels->count + 1;
}

/* Terms do not tell of a row which level it has: that stands beside them. */
static tacit_status find_subgroups(tacit_tally *out, const tacit_schema *schema, size_t column,
                                   tacit_error *error) {
    size_t found = SIZE_MAX, count, first = tacit_formula_subgroups(schema->formula, &found, &count);
    if (first == SIZE_MAX || found != column)
        return tacit_fail(
            error, TACIT_USAGE,
            "the terms of the schema do not tell the subgroups of '%.60s' apart: leave terms out "
            "of the study, which then has those of the model",
            schema->columns[column].name);
    set_levels(out, &schema->columns[column], first);
    out->wider = schema;
    return TACIT_OK;
}

/* Where the levels of a category stand among the features. */
static tacit_status find_levels(tacit_tally *out, const tacit_schema *schema, const char *by,
                                tacit_error *error) {
    size_t features = tacit_schema_features(schema), at = 0;
    const bool terms = schema->formula != NULL;
    while (at < schema->cols && strcmp(schema->columns[at].name, by) != 0) at++;
    if (at == schema->cols || schema->columns[at].kind != TACIT_SCHEMA_CATEGORY ||
        (schema->columns[at].effect && !terms))
        return tacit_fail(error, TACIT_USAGE,
                          "subgroups are the levels of a category of the model's schema, coded by "
                          "indicators, and '%.60s' is none",
                          by);
    if (terms) return find_subgroups(out, schema, at, error);
    tacit_feature *feature = TACIT_NEW(tacit_feature, features);
    if (feature == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_schema_linear(schema, feature, error);
    for (size_t j = 0; j < features && status == TACIT_OK; j++) {
        if (feature[j].column == at && feature[j].level == 0) set_levels(out, &schema->columns[at], j);
    }
    free(feature);
    return status;
}

tacit_status tacit_tally_create(tacit_tally *out, const tacit_schema *schema, size_t classes, size_t cells,
                                const char *by, tacit_error *error) {
    static const double MOST = 1 << 20;
    tacit_tally made = { .classes = classes, .cells = cells, .groups = 1 };
    if (classes == 0 && schema == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "a numeric response needs its bounds: declare low and high in the schema");
    if (classes == 0) {
        made.low = schema->low;
        made.high = schema->high;
    }
    if (cells < 2 || cells > TACIT_SCORE_CELLS_MOST)
        return tacit_fail(error, TACIT_USAGE, "a grid of scores has 2 to %d cells, not %zu",
                          TACIT_SCORE_CELLS_MOST, cells);
    if (by != NULL && by[0] != 0) {
        if (schema == NULL) return tacit_fail(error, TACIT_USAGE, "subgroups need a schema");
        TACIT_TRY(find_levels(&made, schema, by, error));
    }
    double length = (double)made.groups * (double)tacit_tally_each(&made);
    if (length > MOST)
        return tacit_fail(error, TACIT_USAGE,
                          "%zu subgroups of %zu classes on %zu cells are more than %.0f counts: have fewer "
                          "cells or no subgroups",
                          made.groups, classes, cells, MOST);
    *out = made;
    return TACIT_OK;
}

/* ---- counting ---- */

typedef struct counting {
    const tacit_tally *tally;
    const tacit_model *model;
    tacit_pool *pool;
    double *scores, *row; /* of a block; of one row */
    tacit_matrix narrow;  /* rows of a block as the model has them, where they are wider */
    double *out;
} counting;

enum { BLOCK = 1024, MOST_NUMBERS = 1 << 22 }; /* of a block: rows, and numbers in them */

static size_t group_of(const counting *self, const tacit_view *block, size_t i) {
    const tacit_tally *tally = self->tally;
    if (tally->groups == 1) return 0;
    tacit_rows_copy(&block->rows, i, self->row);
    for (size_t k = 0; k + 1 < tally->groups; k++)
        if (self->row[tally->first + k] > 0) return k;
    return tally->groups - 1;
}

static void count_classes(const counting *self, const double *scores, size_t label, double *out) {
    const tacit_tally *tally = self->tally;
    size_t cells = tally->cells, classes = tally->classes, each = tacit_model_scores_per_row(self->model);
    if (each == 1) {
        out[(label == 1 ? 0 : cells) + tacit_score_cell(1 / (1 + exp(-scores[0])), cells)]++;
        return;
    }
    double largest = scores[0], sum = 0;
    for (size_t k = 1; k < classes; k++) largest = fmax(largest, scores[k]);
    for (size_t k = 0; k < classes; k++) sum += exp(scores[k] - largest);
    if (classes == 2) { /* a model of two classes with a score each */
        out[(label == 1 ? 0 : cells) + tacit_score_cell(exp(scores[1] - largest) / sum, cells)]++;
        return;
    }
    for (size_t k = 0; k < classes; k++)
        out[k * 2 * cells + (label == k ? 0 : cells) +
            tacit_score_cell(exp(scores[k] - largest) / sum, cells)]++;
    out[classes * 2 * cells + label * classes + (size_t)tacit_model_class(self->model, scores)]++;
}

static void count_number(const counting *self, double score, double response, double *out) {
    const tacit_tally *tally = self->tally;
    double middle = (tally->low + tally->high) / 2, half = (tally->high - tally->low) / 2;
    double t = fmin(1, fmax(-1, (response - middle) / half));
    double m = fmin(1, fmax(-1, (tacit_model_mean(self->model, score) - middle) / half));
    double e = (t - m) / 2;
    const double terms[TACIT_TALLY_SUMS] = { 1, t, t * t, e * e, fabs(e), m, m * m, t * m };
    for (size_t k = 0; k < TACIT_TALLY_SUMS; k++) out[k] += terms[k];
}

/* The scores of a block. */
static tacit_status score(const counting *self, const tacit_view *block, tacit_error *error) {
    const tacit_schema *wider = self->tally->wider;
    if (wider == NULL) return tacit_model_scores(self->model, &block->rows, self->pool, self->scores, error);
    for (size_t i = 0; i < block->rows.count; i++) {
        tacit_rows_copy(&block->rows, i, self->row);
        tacit_schema_model_row(self->model->schema, wider, self->row,
                               self->narrow.values + i * self->narrow.cols);
    }
    const tacit_matrix used = { block->rows.count, self->narrow.cols, self->narrow.values };
    const tacit_rows rows = tacit_rows_of_matrix(&used);
    return tacit_model_scores(self->model, &rows, self->pool, self->scores, error);
}

static tacit_status count_block(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    const counting *self = context;
    size_t each = tacit_model_scores_per_row(self->model), length = tacit_tally_each(self->tally);
    TACIT_TRY(score(self, block, error));
    for (size_t i = 0; i < block->rows.count; i++) {
        double *out = self->out + group_of(self, block, i) * length;
        const double *scores = self->scores + i * each;
        for (size_t k = 0; k < each; k++)
            if (isnan(scores[k]))
                return tacit_fail(error, TACIT_INPUT, "the score of row %zu is not a number", first + i + 1);
        if (self->tally->classes > 0)
            count_classes(self, scores, (size_t)tacit_view_label(block, i), out);
        else
            count_number(self, scores[0], tacit_view_response(block, i), out);
    }
    return TACIT_OK;
}

static tacit_status check_rows(const tacit_tally *tally, const tacit_model *model, const tacit_view *rows,
                               tacit_error *error) {
    if (model->classes != tally->classes)
        return tacit_fail(error, TACIT_INPUT, "the model has %zu classes and the rows %zu", model->classes,
                          tally->classes);
    if (tally->wider != NULL && (model->schema == NULL || model->schema->formula == NULL))
        return tacit_fail(error, TACIT_INPUT, "the rows have terms and the model has none");
    if (tally->classes == 0 && (rows->response == NULL || tacit_view_columns(rows) != 1))
        return tacit_fail(error, TACIT_INPUT, "the model predicts a number and the rows have none");
    if (tally->classes > 0 && rows->label == NULL)
        return tacit_fail(error, TACIT_INPUT, "the model tells classes apart and the rows have none");
    return TACIT_OK;
}

tacit_status tacit_tally_add(const tacit_tally *tally, const tacit_model *model, const tacit_view *rows,
                             tacit_pool *pool, double *out, tacit_error *error) {
    TACIT_TRY(check_rows(tally, model, rows, error));
    counting self = { .tally = tally, .model = model, .pool = pool, .out = out };
    self.scores = TACIT_NEW(double, BLOCK *tacit_model_scores_per_row(model));
    self.row = TACIT_NEW(double, rows->rows.cols);
    tacit_status status = self.scores != NULL && self.row != NULL ? TACIT_OK : tacit_fail_memory(error);
    size_t block = BLOCK;
    if (tally->wider != NULL && status == TACIT_OK) {
        if (model->features > MOST_NUMBERS / BLOCK) block = MOST_NUMBERS / model->features + 1;
        status = tacit_matrix_create(&self.narrow, block, model->features, error);
    }
    if (status == TACIT_OK) status = tacit_dataset_map(rows, block, count_block, &self, error);
    tacit_matrix_clear(&self.narrow);
    free(self.scores);
    free(self.row);
    return status;
}

tacit_status tacit_thresholds_parse(const char *text, double out[TACIT_THRESHOLDS_MOST], size_t *count,
                                    tacit_error *error) {
    char word[32];
    size_t used = 0;
    for (const char *at = text; *at != 0;) {
        size_t length = strcspn(at, ", ");
        if (length > 0) {
            char *end;
            if (length >= sizeof word || used == TACIT_THRESHOLDS_MOST)
                return tacit_fail(error, TACIT_USAGE, "at most %d thresholds, such as 0.1,0.2: %.60s",
                                  TACIT_THRESHOLDS_MOST, text);
            memcpy(word, at, length);
            word[length] = 0;
            double value = tacit_read_double(word, &end);
            if (*end != 0 || !(value > 0 && value < 1))
                return tacit_fail(error, TACIT_USAGE,
                                  "'%s' is no threshold: give numbers between 0 and 1, comma-separated",
                                  word);
            out[used++] = value;
        }
        at += length;
        while (*at == ',' || *at == ' ') at++;
    }
    *count = used;
    return TACIT_OK;
}
