/*
 * The party's sums. Counts are whole numbers and exact; they are multiplied by their weight once. Moments are
 * added up in blocks of 2^12 rows and then over blocks: for at most 2^24 rows a sum of terms in [-1, 1] errs
 * by less than 2^24 (2^12 + 2^12) 2^-53 = 2^-16, and all of them together, weighed, by less than 2^-12 in L2
 * norm.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "method/private/gradient.h"
#include "method/tables/describe.h"

enum { BLOCK = 1 << 12 };

typedef struct summing {
    const describe_design *design;
    double *row, *cell;  /* an encoded row, and its columns */
    double *value;       /* of each variable */
    double *sums, *part; /* over all rows, and moments over a block: `length` each */
} summing;

/* The values of one row: a number, the place of a level, or NaN. */
static void read_row(summing *self, const tacit_view *block, size_t i) {
    const describe_design *design = self->design;
    size_t stored = tacit_rows_stored(&block->rows, i);
    tacit_rows_copy(&block->rows, i, self->row);
    tacit_cells_read(&design->cells, self->row,
                     block->absent != NULL ? block->absent + stored * block->absent_bytes : NULL, self->cell);
    for (size_t k = 0; k < design->variables; k++) {
        const describe_variable *one = &design->variable[k];
        switch (one->source) {
        case DESCRIBE_CELL: self->value[k] = self->cell[one->cell]; break;
        case DESCRIBE_CLASS: self->value[k] = tacit_view_label(block, i); break;
        case DESCRIBE_RESPONSE: self->value[k] = tacit_view_response(block, i); break;
        case DESCRIBE_EVENT: self->value[k] = tacit_view_responses(block, i)[1]; break;
        }
    }
}

static size_t level_of(const describe_variable *variable, double value) {
    return value >= 0 && value < (double)variable->levels ? (size_t)value : variable->levels;
}

static void add_number(const describe_design *design, const describe_variable *one, double value,
                       size_t group, double *sums, double *part) {
    double *counts = sums + one->counts + group * tacit_count_tree_size(design->tree);
    double *moments = part + one->moments + group * DESCRIBE_MOMENTS, place = NAN;
    if (!isnan(value)) {
        place = fmin(fmax((value - one->low) / (one->high - one->low), 0), 1);
        double u = 2 * place - 1;
        moments[0] += u;
        moments[1] += u * u - 0.5;
    }
    tacit_count_tree_add(design->tree, counts, place, 1);
}

static void add_row(summing *self) {
    const describe_design *design = self->design;
    size_t group =
        design->by != SIZE_MAX ? level_of(&design->variable[design->by], self->value[design->by]) : 0;
    self->sums[0]++;
    for (size_t k = 0; k < design->variables; k++) {
        const describe_variable *one = &design->variable[k];
        size_t within = one->groups > 1 ? group : 0;
        if (one->number)
            add_number(design, one, self->value[k], within, self->sums, self->part);
        else
            self->sums[one->counts + within * one->cells + level_of(one, self->value[k])]++;
    }
    for (size_t k = 0; k < design->pairs; k++) {
        const describe_pair *pair = &design->pair[k];
        const describe_variable *a = &design->variable[pair->first], *b = &design->variable[pair->second];
        self->sums[pair->counts + level_of(a, self->value[pair->first]) * b->cells +
                   level_of(b, self->value[pair->second])]++;
    }
}

static tacit_status add_block(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    summing *self = context;
    const describe_design *design = self->design;
    (void)first;
    (void)error;
    memset(self->part, 0, design->length * sizeof *self->part);
    for (size_t i = 0; i < block->rows.count; i++) {
        read_row(self, block, i);
        add_row(self);
    }
    for (size_t j = 0; j < design->length; j++) self->sums[j] += self->part[j];
    return TACIT_OK;
}

static void weigh(const describe_design *design, double *sums) {
    sums[0] *= design->rows_weight;
    for (size_t k = 0; k < design->variables; k++) {
        const describe_variable *one = &design->variable[k];
        for (size_t j = 0; one->number && j < one->groups * DESCRIBE_MOMENTS; j++)
            sums[one->moments + j] *=
                design->moment_weight * (j % DESCRIBE_MOMENTS == 1 ? design->square : 1);
        double weight = one->number ? design->tree_weight : design->level_weight;
        for (size_t j = 0; j < one->groups * describe_counts(design, one); j++)
            sums[one->counts + j] *= weight;
    }
    size_t tables = design->pairs > 0 ? design->pair[0].counts : design->missing;
    for (size_t j = tables; j < design->missing; j++) sums[j] *= design->level_weight;
    for (size_t j = design->missing; j < design->length; j++) sums[j] *= design->missing_weight;
}

/* A label that is described is in every row. */
static tacit_status check_label(const describe_design *design, const tacit_view *rows, tacit_error *error) {
    for (size_t k = 0; k < design->variables; k++) {
        describe_source source = design->variable[k].source;
        bool there = source == DESCRIBE_CELL    ? true
                     : source == DESCRIBE_CLASS ? rows->label != NULL
                     : source == DESCRIBE_EVENT ? rows->response != NULL && tacit_view_columns(rows) > 1
                                                : rows->response != NULL;
        if (!there) return tacit_fail(error, TACIT_INPUT, "the rows have no %s", design->variable[k].name);
    }
    return TACIT_OK;
}

tacit_status describe_sums(tacit_party *party, const describe_design *design, double *out,
                           tacit_error *error) {
    TACIT_TRY(check_label(design, &party->rows, error));
    TACIT_TRY(gradient_check_rows(party, error));
    TACIT_TRY(tacit_cells_check_rows(party->plan->schema, &party->rows, error));
    summing self = { .design = design,
                     .row = TACIT_NEW(double, party->plan->features),
                     .cell = TACIT_NEW(double, design->cells.count),
                     .value = TACIT_NEW(double, design->variables),
                     .sums = out,
                     .part = TACIT_NEW(double, design->length) };
    tacit_status status = self.row != NULL && self.cell != NULL && self.value != NULL && self.part != NULL
                              ? TACIT_OK
                              : tacit_fail_memory(error);
    if (status == TACIT_OK) status = tacit_dataset_map(&party->rows, BLOCK, add_block, &self, error);
    if (status == TACIT_OK && design->missing_counts > 0)
        status = describe_count_missing(party, out + design->missing, error);
    if (status == TACIT_OK && party->reducer != NULL)
        status = party->reducer->sum(party->reducer->context, out, design->length, error);
    if (status == TACIT_OK) weigh(design, out);
    free(self.row);
    free(self.cell);
    free(self.value);
    free(self.part);
    return status;
}
