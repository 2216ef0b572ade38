/*
 * An audit of pst-s whose members are trees: all counts with noise that a tree is made of, about the root
 * alone and both columns, though only the tree leaves. One row of the block stands at one end of both
 * columns in the first class, or at the other end in the second: so every count that it has a part in moves,
 * as far as a row can move them. Every number is divided by its noise. Other blocks, and the rows of the
 * high model, do not see the row.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "lab/audit/audit_methods.h"
#include "lab/audit/audit_parts.h"
#include "lab/audit/turned_rows.h"
#include "method/methods.h"
#include "method/private/stacking.h"
#include "privacy/account/gaussian.h"

enum { FEATURES = 2, ROWS = 50, DEPTH = 2, STEPS = DEPTH + 1 };

static const char schema_text[] = "label: {name: y, classes: [no, yes]}\n"
                                  "columns:\n"
                                  "  - {name: a, kind: number, low: -1, high: 1}\n"
                                  "  - {name: b, kind: number, low: -1, high: 1}\n"
                                  "intercept: no\n";

typedef struct forest_case {
    tacit_turned_rows rows;
    tacit_schema *schema;
    tacit_plan plan, exact;
    stacking how, silent;
    double charged; /* mu that the price buys */
} forest_case;

static void close_case(tacit_audit_case *subject) {
    forest_case *self = subject->state;
    if (self == NULL) return;
    tacit_turned_rows_clear(&self->rows);
    stacking_clear(&self->how);
    stacking_clear(&self->silent);
    tacit_schema_free(self->schema);
    free(self);
    subject->state = NULL;
}

/* The answer to step t about the root. */
static tacit_status draw_step(const forest_case *self, stacking_block *block, const dptree_design *design,
                              size_t t, double *out, tacit_error *error) {
    const size_t columns = t == DEPTH ? 0 : FEATURES;
    dptree_growth growth = { .design = design };
    double *counts = NULL;
    tacit_status status;
    TACIT_TRY(dptree_question_create(&growth.next, 1, columns, 1, error));
    for (size_t c = 0; c < columns; c++) growth.next.column[c] = c;
    TACIT_CHECK(stacking_count(block, &growth, t, &counts, error));
    for (size_t j = 0; j < design->sum[t].length; j++)
        out[j] = counts[j] / self->how.design.release[t].deviation;
cleanup:
    free(counts);
    dptree_question_clear(&growth.next);
    return status;
}

static tacit_status draw_counts(tacit_audit_case *subject, int side, const tacit_stream *stream, double *out,
                                tacit_error *error) {
    forest_case *self = subject->state;
    const dptree_design *design = stream != NULL ? &self->how.design : &self->silent.design;
    tacit_stream own = stream != NULL ? *stream : tacit_stream_from_seed(0);
    const tacit_party party = { .plan = stream != NULL ? &self->plan : &self->exact,
                                .rows = tacit_dataset_view(self->rows.data[side]),
                                .total_rows = ROWS,
                                .noise = stream != NULL ? tacit_audit_source(subject, &own)
                                                        : (tacit_noise_source){ .stream = &own } };
    stacking_block block;
    stacking_block_begin(&block, &party, &party.rows.rows);
    for (size_t t = 0; t < STEPS; out += design->sum[t++].length)
        TACIT_TRY(draw_step(self, &block, design, t, out, error));
    return TACIT_OK;
}

/* `thin`: each step has the noise of a price at which it alone costs what is charged for all. */
static tacit_status set_plan(forest_case *self, const tacit_audit_setup *setup, bool thin,
                             tacit_audit_case *out, tacit_error *error) {
    static const char *const settings[][2] = { { "members", "tree" }, { "depth", "2" }, { "columns", "2" } };
    tacit_plan *plan = &self->plan;
    tacit_prices prices = { .event = { .count = 0 } };
    double sigma = 0;
    TACIT_TRY(tacit_audit_plan(plan, &tacit_method_pst_s, setup, error));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        TACIT_TRY(tacit_plan_set(plan, settings[i][0], settings[i][1], error));
    plan->features = FEATURES;
    plan->classes = 2;
    plan->parties = plan->minimum_parties = 1;
    plan->minimum_rows = 4 * ROWS;
    plan->lambda = 1;
    plan->schema = self->schema;
    TACIT_TRY(tacit_plan_check(plan, error));
    TACIT_TRY(tacit_plan_price(plan, &prices, error));
    out->charged = prices.charged;
    TACIT_TRY(tacit_gaussian_sigma(&sigma, plan->epsilon, plan->delta, 1, error));
    self->charged = 1 / sigma;
    self->exact = *plan;
    self->exact.epsilon = INFINITY;
    if (thin)
        TACIT_TRY(tacit_gaussian_epsilon(&plan->epsilon, sigma / sqrt((double)STEPS), plan->delta, error));
    TACIT_TRY(stacking_of_blocks(&self->how, plan, error));
    TACIT_TRY(stacking_of_blocks(&self->silent, &self->exact, error));
    for (size_t t = 0; t < STEPS; t++) out->length += self->how.design.sum[t].length;
    return TACIT_OK;
}

static tacit_status open_case(tacit_audit_case *out, const tacit_audit_setup *setup, bool thin,
                              tacit_error *error) {
    forest_case *self = TACIT_NEW(forest_case, 1);
    if (self == NULL) return tacit_fail_memory(error);
    out->state = self;
    TACIT_TRY(tacit_schema_parse(&self->schema, schema_text, sizeof schema_text - 1, "audit", error));
    TACIT_TRY(tacit_turned_rows_make(&self->rows, ROWS, 0, error));
    for (int side = 0; side < 2; side++) {
        double *row = self->rows.data[side]->dense.values;
        row[0] = row[1] = side == 0 ? -M_SQRT1_2 : M_SQRT1_2;
        self->rows.data[side]->label[0] = side;
    }
    TACIT_TRY(set_plan(self, setup, thin, out, error));
    snprintf(out->pair, sizeof out->pair,
             "one row of a block at either end of both columns, of either class, through all %d steps",
             STEPS);
    return audit_measure_reach(out, draw_counts, self->charged, error);
}

static tacit_status open_sound(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, setup, false, error);
}

static tacit_status open_thin(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, setup, true, error);
}

const tacit_auditable tacit_audit_pst_s_trees = {
    .name = "pst-s-trees",
    .title = "stacking over blocks of rows, with trees for members: all counts of a block's tree seen",
    .open = open_sound,
    .draw = draw_counts,
    .close = close_case,
};

const tacit_auditable tacit_audit_pst_s_trees_thin = {
    .name = "pst-s-trees-thin",
    .title = "the same with noise as if one step were all: a control that an audit must find broken",
    .open = open_thin,
    .draw = draw_counts,
    .close = close_case,
};
