/*
 * An audit of dptree: all its answers, about the root alone and both columns. One party, one row that stands
 * at one end of both columns in the first class, or at the other end in the second: so every count that it
 * has a part in moves, as far as a row can move them. Every number is divided by its noise.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "lab/audit/audit_methods.h"
#include "lab/audit/audit_parts.h"
#include "lab/audit/turned_rows.h"
#include "method/methods.h"
#include "method/private/dptree.h"

enum { FEATURES = 2, ROWS = 50, DEPTH = 2, QUESTIONS = DEPTH + 1 };

static const char schema_text[] = "label: {name: y, classes: [no, yes]}\n"
                                  "columns:\n"
                                  "  - {name: a, kind: number, low: -1, high: 1}\n"
                                  "  - {name: b, kind: number, low: -1, high: 1}\n"
                                  "intercept: no\n";

typedef struct tree_case {
    tacit_turned_rows rows;
    tacit_schema *schema;
    tacit_plan plan, exact;
    dptree_design design, silent;
    double charged; /* mu that the price buys */
} tree_case;

static void close_case(tacit_audit_case *subject) {
    tree_case *self = subject->state;
    if (self == NULL) return;
    tacit_turned_rows_clear(&self->rows);
    dptree_clear(&self->design);
    dptree_clear(&self->silent);
    tacit_schema_free(self->schema);
    free(self);
    subject->state = NULL;
}

static tacit_status ask(const tree_case *self, tacit_session *session, const dptree_design *design, size_t t,
                        double *out, tacit_error *error) {
    const size_t columns = t == DEPTH ? 0 : FEATURES;
    dptree_question question = { .tree = NULL };
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(dptree_question_create(&question, 1, columns, 1, error));
    for (size_t c = 0; c < columns; c++) question.column[c] = c;
    TACIT_CHECK(dptree_question_write(&question, &message, error));
    TACIT_CHECK(
        tacit_ask_sum(session, t == DEPTH ? "leaves" : "splits", &message, &design->sum[t], &sum, error));
    for (size_t j = 0; j < design->sum[t].length; j++)
        out[j] = sum.values[j] / self->design.release[t].deviation;
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    dptree_question_clear(&question);
    return status;
}

static tacit_status draw_answers(tacit_audit_case *subject, int side, const tacit_stream *stream, double *out,
                                 tacit_error *error) {
    tree_case *self = subject->state;
    const dptree_design *design = stream != NULL ? &self->design : &self->silent;
    tacit_session session;
    TACIT_TRY(tacit_turned_rows_begin(&self->rows, side, &self->plan, &self->exact, stream,
                                      subject->entropy != NULL, &session, error));
    for (size_t t = 0; t < QUESTIONS; out += design->sum[t++].length)
        TACIT_TRY(ask(self, &session, design, t, out, error));
    return TACIT_OK;
}

static tacit_status set_plan(tree_case *self, const tacit_audit_setup *setup, bool thin,
                             tacit_audit_case *out, tacit_error *error) {
    tacit_plan *plan = &self->plan;
    TACIT_TRY(tacit_audit_plan(plan, &tacit_method_dptree, setup, error));
    TACIT_TRY(tacit_plan_set(plan, "depth", "2", error));
    TACIT_TRY(tacit_plan_set(plan, "columns", "2", error));
    TACIT_TRY(tacit_turned_rows_plan(plan, FEATURES, ROWS, error));
    plan->classes = 2;
    plan->lambda = 0;
    plan->schema = self->schema;
    TACIT_TRY(audit_charge_questions(out, plan, &self->exact, QUESTIONS, thin, &self->charged, error));
    TACIT_TRY(dptree_describe(plan, &self->design, error));
    TACIT_TRY(dptree_describe(&self->exact, &self->silent, error));
    for (size_t t = 0; t < QUESTIONS; t++) out->length += self->design.sum[t].length;
    return TACIT_OK;
}

static tacit_status open_case(tacit_audit_case *out, const tacit_audit_setup *setup, bool thin,
                              tacit_error *error) {
    tree_case *self = TACIT_NEW(tree_case, 1);
    if (self == NULL) return tacit_fail_memory(error);
    out->state = self;
    TACIT_TRY(tacit_schema_parse(&self->schema, schema_text, sizeof schema_text - 1, "audit", error));
    TACIT_TRY(tacit_turned_rows_make(&self->rows, ROWS, 0, error));
    for (int side = 0; side < 2; side++) {
        double *row = self->rows.data[side]->dense.values;
        row[0] = row[1] = side == 0 ? -M_SQRT1_2 : M_SQRT1_2;
        self->rows.data[side]->label[0] = side;
    }
    TACIT_TRY(tacit_turned_rows_start(&self->rows, error));
    TACIT_TRY(set_plan(self, setup, thin, out, error));
    snprintf(out->pair, sizeof out->pair,
             "one row at either end of both columns, of either class, through all %d questions", QUESTIONS);
    return audit_measure_reach(out, draw_answers, self->charged, error);
}

static tacit_status open_sound(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, setup, false, error);
}

static tacit_status open_thin(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, setup, true, error);
}

const tacit_auditable tacit_audit_dptree = {
    .name = "dptree",
    .title = "counts by leaf, column, cell and class, all questions seen",
    .open = open_sound,
    .draw = draw_answers,
    .close = close_case,
};

const tacit_auditable tacit_audit_dptree_thin = {
    .name = "dptree-thin",
    .title = "the same with noise as if one question were all: a control that an audit must find broken",
    .open = open_thin,
    .draw = draw_answers,
    .close = close_case,
};
