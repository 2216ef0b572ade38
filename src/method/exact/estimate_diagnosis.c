/*
 * Why method estimate has no estimate, in a sentence that names columns and levels, and what to do. All of it
 * from sums that the study opens anyway. At the start all rows have one mean m, so that with the intercept's
 * feature c the first sums give, for each column x,
 *
 *   sum x   = gram(x, intercept)/c,      sum y x = m sum x - gradient(x),
 *
 * that is for the indicator of a level its number of rows and their outcomes. A level whose outcomes are all
 * of one kind has no finite coefficient; other separations show by weights that diverge. Columns that follow
 * from others: with L L^T = X^T X and j a column without a pivot, the combination of the columns before it is
 * c with L^T c = row j of L.
 */
#include "method/exact/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/encode.h"
#include "data/formula/formula_build.h"
#include "privacy/policy.h"

enum { MOST_NAMED = 5 };

typedef struct diagnosis {
    const tacit_estimate_facts *facts;
    tacit_feature *feature; /* NULL: the features are no columns of a schema */
    tacit_buffer text;
    size_t named;
} diagnosis;

/* How many rows have a level, or a 1, and the sum of their responses. */
typedef struct cell {
    double rows, responses;
} cell;

/* ---- counts ---- */

static double gram_at(const tacit_estimate_facts *facts, size_t i, size_t j) {
    return facts->gram[(i > j ? i : j) * facts->design->width + (i > j ? j : i)];
}

static double column_sum(const tacit_estimate_facts *facts, size_t j) {
    return gram_at(facts, facts->design->intercept, j) / facts->design->intercept_value;
}

static bool whole(double count) { return fabs(count - round(count)) < 0.01; }

/* A level, or a number within [0, 1] whose squares add up to what it adds up to, and that is 0 or 1. */
static bool is_indicator(const diagnosis *self, size_t j, const tacit_feature *as, double sum) {
    const tacit_estimate_facts *facts = self->facts;
    if (as->level != SIZE_MAX) return true;
    if (as->column == SIZE_MAX) return false;
    const tacit_schema_column *column = &facts->design->schema->columns[as->column];
    double squares =
        gram_at(facts, j, j) - 2 * as->shift * column_sum(facts, j) + as->shift * as->shift * facts->rows;
    return column->low >= 0 && column->high <= 1 &&
           fabs(squares / (as->scale * as->scale) - sum) <= 1e-9 * facts->rows;
}

/* Of an indicator; false for other columns. Without a mean only rows are counted. */
static bool count_cell(const diagnosis *self, size_t j, double mean, cell *out) {
    const tacit_estimate_facts *facts = self->facts;
    if (j == facts->design->intercept) return false;
    const tacit_feature *as = &self->feature[facts->design->kept[j]];
    double sum = column_sum(facts, j), product = mean * sum - facts->gradient[j];
    out->rows = (sum - as->shift * facts->rows) / as->scale;
    out->responses = (product - as->shift * facts->responses) / as->scale;
    if (isnan(mean)) out->responses = 0;
    if (!is_indicator(self, j, as, out->rows) || !whole(out->rows) || !whole(out->responses)) return false;
    out->rows = round(out->rows);
    out->responses = round(out->responses);
    return true;
}

/* What the levels of a column leave for its first. False without such, or where counts are no counts. */
static bool count_first(const diagnosis *self, size_t column, double mean, cell *out) {
    const tacit_design *design = self->facts->design;
    bool found = false;
    *out = (cell){ self->facts->rows, self->facts->responses };
    for (size_t j = 0; j < design->width; j++) {
        const tacit_feature *as = &self->feature[design->kept[j]];
        cell one;
        if (as->column != column || as->level == SIZE_MAX) continue;
        if (as->level == 0) return false; /* the terms have all levels */
        if (!count_cell(self, j, mean, &one)) return false;
        found = true;
        out->rows -= one.rows;
        out->responses -= one.responses;
    }
    return found && out->rows >= 0;
}

/* ---- names ---- */

/* Whether one more is to be named; otherwise they are counted. */
static tacit_status separate(diagnosis *self, bool *goes_on, tacit_error *error) {
    *goes_on = self->named++ < MOST_NAMED;
    if (*goes_on && self->named > 1) return tacit_buffer_print(&self->text, error, "; ");
    return TACIT_OK;
}

static tacit_status print_rest(diagnosis *self, tacit_error *error) {
    if (self->named <= MOST_NAMED) return TACIT_OK;
    return tacit_buffer_print(&self->text, error, "; and %zu more", self->named - MOST_NAMED);
}

static tacit_status print_first(diagnosis *self, size_t column, tacit_error *error) {
    const tacit_schema_column *of = &self->facts->design->schema->columns[column];
    return tacit_buffer_print(&self->text, error, "%s=%s", of->name, of->levels.text[0]);
}

/* A kept feature, and whether it is its 1 or its 0. */
static tacit_status print_name(diagnosis *self, size_t j, int value, tacit_error *error) {
    const tacit_design *design = self->facts->design;
    TACIT_TRY(tacit_design_name(design, j, &self->text, error));
    if (self->feature == NULL || self->feature[design->kept[j]].level != SIZE_MAX) return TACIT_OK;
    return tacit_buffer_print(&self->text, error, "=%d", value);
}

/* ---- levels whose outcomes are all of one kind ---- */

/* "has no positive outcome", or NULL where it has both. */
static const char *one_kind(const tacit_family *family, const cell *of) {
    if (of->rows < 1) return NULL;
    if (of->responses == 0)
        return family->response == TACIT_RESPONSE_COUNT ? "has counts of 0 only" : "has no positive outcome";
    if (family->response == TACIT_RESPONSE_CLASS && of->responses == of->rows)
        return "has positive outcomes only";
    return NULL;
}

static tacit_status print_cell(diagnosis *self, const char *what, const cell *of, tacit_error *error) {
    const tacit_schema *schema = self->facts->design->schema;
    const double least = (double)tacit_policy_default().minimum_rows;
    TACIT_TRY(tacit_buffer_print(&self->text, error, " %s", what));
    if (self->facts->family->response == TACIT_RESPONSE_CLASS && schema->classes.count == 2)
        TACIT_TRY(tacit_buffer_print(&self->text, error, " (%s)", schema->classes.text[1]));
    if (self->facts->real && of->rows < least)
        return tacit_buffer_print(&self->text, error, " at any party: fewer than %g rows in all", least);
    return tacit_buffer_print(&self->text, error, " at any party: %g row%s in all", of->rows,
                              of->rows == 1 ? "" : "s");
}

static tacit_status name_indicator(diagnosis *self, size_t j, double mean, tacit_error *error) {
    const tacit_estimate_facts *facts = self->facts;
    cell of[2]; /* without it, and with it */
    bool goes_on;
    if (!count_cell(self, j, mean, &of[1])) return TACIT_OK;
    of[0] = (cell){ facts->rows - of[1].rows, facts->responses - of[1].responses };
    bool level = self->feature[facts->design->kept[j]].level != SIZE_MAX;
    for (int value = level; value < 2; value++) {
        const char *what = one_kind(facts->family, &of[value]);
        if (what == NULL) continue;
        TACIT_TRY(separate(self, &goes_on, error));
        if (!goes_on) continue;
        TACIT_TRY(print_name(self, j, value, error));
        TACIT_TRY(print_cell(self, what, &of[value], error));
    }
    return TACIT_OK;
}

static tacit_status name_first(diagnosis *self, size_t column, double mean, tacit_error *error) {
    cell of;
    bool goes_on;
    const char *what = count_first(self, column, mean, &of) ? one_kind(self->facts->family, &of) : NULL;
    if (what == NULL) return TACIT_OK;
    TACIT_TRY(separate(self, &goes_on, error));
    if (!goes_on) return TACIT_OK;
    TACIT_TRY(print_first(self, column, error));
    return print_cell(self, what, &of, error);
}

static tacit_status check_levels(diagnosis *self, double mean, tacit_error *error) {
    const tacit_design *design = self->facts->design;
    for (size_t j = 0; j < design->width; j++) TACIT_TRY(name_indicator(self, j, mean, error));
    for (size_t k = 0; k < design->schema->cols; k++) TACIT_TRY(name_first(self, k, mean, error));
    if (self->named == 0) return TACIT_OK;
    TACIT_TRY(print_rest(self, error));
    return tacit_fail(error, TACIT_NOT_CONVERGED,
                      "there is no finite estimate: %s. Set bias: firth, give a lambda above 0, or merge the "
                      "level with another: take it out of the column's levels in the schema and write "
                      "others: LEVEL there",
                      tacit_buffer_text(&self->text));
}

/* ---- columns that follow from others ---- */

/* c with L^T c = row j of L, of the columns before j that have a pivot; 1 for j itself is left out. */
static void combination(const tacit_estimate_facts *facts, size_t j, double *c) {
    const size_t d = facts->design->width;
    for (size_t k = j; k-- > 0;) {
        c[k] = 0;
        if (facts->deficient[k]) continue;
        double left = facts->factor[j * d + k];
        for (size_t i = k + 1; i < j; i++)
            if (!facts->deficient[i]) left -= facts->factor[i * d + k] * c[i];
        c[k] = left / facts->factor[k * d + k];
    }
}

/* Levels without rows are named first; what else is missing follows from these combinations. */
static tacit_status name_empty(diagnosis *self, tacit_error *error) {
    const tacit_design *design = self->facts->design;
    cell of;
    bool goes_on;
    for (size_t j = 0; self->feature != NULL && j < design->width; j++) {
        if (self->feature[design->kept[j]].level == SIZE_MAX || !count_cell(self, j, NAN, &of) || of.rows > 0)
            continue;
        TACIT_TRY(separate(self, &goes_on, error));
        if (goes_on) TACIT_TRY(print_name(self, j, 1, error));
        if (goes_on) TACIT_TRY(tacit_buffer_print(&self->text, error, " has no rows at any party"));
    }
    for (size_t k = 0; self->feature != NULL && k < design->schema->cols; k++) {
        if (!count_first(self, k, NAN, &of) || of.rows > 0) continue;
        TACIT_TRY(separate(self, &goes_on, error));
        if (goes_on) TACIT_TRY(print_first(self, k, error));
        if (goes_on)
            TACIT_TRY(tacit_buffer_print(&self->text, error,
                                         ", with which the column's levels are compared, has no rows at any "
                                         "party"));
    }
    return TACIT_OK;
}

static tacit_status print_combination(diagnosis *self, size_t j, const double *c, tacit_error *error) {
    static const double ABSENT = 1e-5; /* in units of the columns' norms: nothing but rounding */
    const tacit_design *design = self->facts->design;
    size_t others = 0, last = j, said = 0;
    for (size_t k = 0; k < j; k++)
        if (fabs(c[k]) > ABSENT) others++, last = k;
    if (others <= 1 && (others == 0 || j == design->intercept || last == design->intercept)) {
        TACIT_TRY(tacit_design_name(design, j == design->intercept ? last : j, &self->text, error));
        return tacit_buffer_print(&self->text, error, " never varies");
    }
    bool constant = j == design->intercept;
    if (constant) TACIT_TRY(tacit_buffer_print(&self->text, error, "a combination of "));
    if (!constant) TACIT_TRY(tacit_design_name(design, j, &self->text, error));
    if (!constant) TACIT_TRY(tacit_buffer_print(&self->text, error, " follows from "));
    for (size_t k = 0; k < j; k++) {
        if (fabs(c[k]) <= ABSENT) continue;
        if (said++ > 0) TACIT_TRY(tacit_buffer_print(&self->text, error, said == others ? " and " : ", "));
        if (said > MOST_NAMED) break;
        TACIT_TRY(tacit_design_name(design, k, &self->text, error));
    }
    return tacit_buffer_print(&self->text, error, "%s%s", said > MOST_NAMED ? "others" : "",
                              constant ? " never varies" : "");
}

static tacit_status say_deficient(diagnosis *self, tacit_error *error) {
    const size_t width = self->facts->design->width;
    double *c = TACIT_NEW(double, width);
    tacit_status status = c != NULL ? TACIT_OK : tacit_fail_memory(error);
    bool goes_on;
    if (status == TACIT_OK) status = name_empty(self, error);
    bool empty = self->named > 0;
    for (size_t j = 0; status == TACIT_OK && !empty && j < width; j++) {
        if (!self->facts->deficient[j]) continue;
        status = separate(self, &goes_on, error);
        if (status != TACIT_OK || !goes_on) continue;
        combination(self->facts, j, c);
        status = print_combination(self, j, c, error);
    }
    free(c);
    TACIT_TRY(status);
    TACIT_TRY(print_rest(self, error));
    if (empty)
        return tacit_fail(
            error, TACIT_INPUT,
            "levels without rows have no coefficient: %s; take them out of the column's levels in "
            "the schema, or give a lambda above 0",
            tacit_buffer_text(&self->text));
    return tacit_fail(error, TACIT_INPUT,
                      "columns that never vary or follow from others have no coefficient: %s; skip one "
                      "of them in the schema, or give a lambda above 0",
                      tacit_buffer_text(&self->text));
}

/* ---- both, at the start ---- */

/* Of a formula: those of its features that are columns or levels by themselves. */
static void terms_as_columns(const tacit_schema *schema, size_t features, tacit_feature *out) {
    tacit_formula_part part[TACIT_FORMULA_PARTS];
    for (size_t j = 0; j < features; j++) {
        tacit_feature one = { SIZE_MAX, SIZE_MAX, 1, 0, false };
        if (tacit_formula_plain(schema->formula, j, &one.column, &one.level)) {
            const size_t parts = tacit_schema_term_parts(schema, j, part);
            for (size_t k = 0; k < parts; k++) {
                if (part[k].column == SIZE_MAX)
                    one.shift = part[k].coefficient;
                else
                    one.scale = part[k].coefficient;
            }
        }
        out[j] = one;
    }
}

static tacit_status begin(diagnosis *self, const tacit_estimate_facts *facts, tacit_error *error) {
    const tacit_design *design = facts->design;
    *self = (diagnosis){ .facts = facts, .text = TACIT_BUFFER_INIT };
    if (design->schema == NULL || design->schema->cols == 0 || design->shape.scores > 0 ||
        design->intercept == SIZE_MAX || tacit_design_has_beside(design))
        return TACIT_OK;
    self->feature = TACIT_NEW(tacit_feature, design->features);
    if (self->feature == NULL) return tacit_fail_memory(error);
    if (design->schema->formula == NULL) return tacit_schema_linear(design->schema, self->feature, error);
    terms_as_columns(design->schema, design->features, self->feature);
    return TACIT_OK;
}

static void end(diagnosis *self) {
    free(self->feature);
    tacit_buffer_clear(&self->text);
}

static double start_mean(const tacit_estimate_facts *facts) {
    const tacit_design *design = facts->design;
    if (facts->family->mean == NULL || design->shape.scores > 0) return NAN;
    return facts->family->mean(
        design->intercept != SIZE_MAX ? facts->w[design->intercept] * design->intercept_value : 0);
}

tacit_status tacit_estimate_check_columns(const tacit_estimate_facts *facts, tacit_firth *firth,
                                          tacit_error *error) {
    /* of a column's square that the columns before it leave unexplained */
    static const double COLLINEAR = 1e-12;
    const size_t width = facts->design->width;
    const double mean = start_mean(facts);
    diagnosis self;
    memcpy(facts->factor, facts->gram, width * width * sizeof *facts->factor);
    const size_t missing =
        tacit_cholesky_factor(facts->factor, width, COLLINEAR, facts->scale, facts->deficient);
    if (facts->plan->lambda > 0) return TACIT_OK;
    tacit_status status = begin(&self, facts, error);
    const bool bounded = facts->family->mean == NULL || facts->family->quadratic;
    if (status == TACIT_OK && missing > 0)
        status = say_deficient(&self, error);
    else if (status == TACIT_OK && firth->inverse != NULL &&
             !tacit_firth_invert(firth, facts->gram, facts->family->variance(mean)))
        status = tacit_estimate_say_separated(facts, NULL, error);
    else if (status == TACIT_OK && firth->inverse == NULL && !bounded && self.feature != NULL &&
             fabs(mean * facts->rows - facts->responses) <= 1e-6 * facts->rows) /* one mean for all rows */
        status = check_levels(&self, mean, error);
    end(&self);
    return status;
}

/* ---- separation by several columns together ---- */

/* A total loss below log 2 leaves each row less than log 2: all are on their side, and twice these weights
 * lose less. */
bool tacit_estimate_separates(const tacit_estimate_facts *facts, double loss) {
    return facts->family->response == TACIT_RESPONSE_CLASS && facts->family->likelihood &&
           facts->plan->lambda == 0 && !tacit_firth_wanted(facts->plan) && loss < 0.69;
}

/* How far a column's part of the scores spreads, a weight being what it is. */
static double reach(const tacit_estimate_facts *facts, size_t j, double weight) {
    double mean = facts->design->intercept != SIZE_MAX ? column_sum(facts, j) / facts->rows : 0;
    return fabs(weight) * sqrt(fmax(0, gram_at(facts, j, j) / facts->rows - mean * mean));
}

/* The columns that lead, largest first, as long as they are a tenth of the first. */
static tacit_status print_leaders(diagnosis *self, const double *along, tacit_error *error) {
    const tacit_design *design = self->facts->design;
    double above = INFINITY, most = 0;
    for (;;) {
        size_t next = SIZE_MAX;
        double here = 0;
        for (size_t j = 0; j < design->width; j++) {
            double far = j == design->intercept ? 0 : reach(self->facts, j, along[j]);
            if (far < above && far > here) here = far, next = j;
        }
        if (self->named == 0) most = here;
        if (next == SIZE_MAX || here < most / 10 || self->named == MOST_NAMED) return TACIT_OK;
        above = here;
        TACIT_TRY(tacit_buffer_print(&self->text, error, self->named++ > 0 ? ", " : ", led by "));
        TACIT_TRY(tacit_design_name(design, next, &self->text, error));
        TACIT_TRY(tacit_buffer_print(&self->text, error, along[next] > 0 ? " (upwards)" : " (downwards)"));
    }
}

tacit_status tacit_estimate_say_separated(const tacit_estimate_facts *facts, const double *direction,
                                          tacit_error *error) {
    diagnosis self = { .facts = facts, .text = TACIT_BUFFER_INIT };
    const bool firth = facts->family->skewness != NULL && !tacit_firth_wanted(facts->plan);
    tacit_status status = TACIT_OK;
    if (facts->design->shape.scores == 0)
        status = print_leaders(&self, direction != NULL ? direction : facts->w, error);
    if (status == TACIT_OK)
        status = tacit_fail(
            error, TACIT_NOT_CONVERGED,
            "there is no finite estimate: %s%s; %sgive a lambda above 0, or leave columns out",
            facts->family->unbounded, tacit_buffer_text(&self.text), firth ? "set bias: firth, " : "");
    end(&self);
    return status;
}
