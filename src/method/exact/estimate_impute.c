/*
 * Missing values in method estimate.
 *
 * Columns with `missing: impute` are completed `impute` times inside each party, from its own rows alone
 * (data/impute/impute.h), the response among the predictors. The study is fitted to each set in turn, from
 * the optimum of the one before, and the fits are pooled by Rubin's rules (model/report/estimates_pool.c).
 * The seed of the draws is the party's own: drawn once and kept, so that all rounds and restarts see the same
 * sets.
 *
 * What the sets give away. The sums of two sets differ in the incomplete rows only, so that these are a set
 * of rows of its own: a real party with some, but fewer than its owner's minimum, refuses.
 *
 * Numbers of missing values, where the schema says what becomes of them, leave as one contribution to a sum
 * of integers at the end; a number above 0 and below the owner's minimum is withheld, and that it is withheld
 * is said instead.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "method/exact/estimate_impute.h"
#include "method/missing_sum.h"

size_t tacit_estimate_sets(const tacit_plan *plan) {
    if (plan->schema == NULL || !tacit_schema_imputes(plan->schema)) return 0;
    return (size_t)tacit_estimate_settings_of(plan)->impute;
}

/* ---- one party's sets ---- */

typedef estimate_gap gap;
typedef estimate_gaps gaps;

static void gaps_clear(gaps *self) {
    for (size_t g = 0; g < self->count; g++) free(self->gap[g].row);
    free(self->gap);
    free(self->of_column);
    free(self->at);
    tacit_design_clear(&self->design);
}

/* Where a column is: of a category, one place for each level but the first. */
static void place_gap(gap *out, const tacit_design *design, const tacit_feature *feature, size_t column) {
    const tacit_schema_column *declared = &design->schema->columns[column];
    tacit_impute_variable *of = &out->variable;
    of->name = declared->name;
    of->category = declared->kind == TACIT_SCHEMA_CATEGORY;
    for (size_t j = 0; j < design->features; j++) {
        if (feature[j].column != column || feature[j].missing) continue;
        if (of->category ? feature[j].level == 0 : true) out->feature = j;
        if (of->category) of->unit = feature[j].scale;
        of->low = feature[j].scale * declared->low + feature[j].shift;
        of->high = feature[j].scale * declared->high + feature[j].shift;
    }
    for (size_t j = 0; j < design->width; j++)
        if (feature[design->kept[j]].column == column && of->count++ == 0) of->first = j;
}

/* Counts, or with room for the rows writes, the cells of all gaps. */
static void visit_cells(gaps *self, bool write) {
    const tacit_missing_cells *cells = self->rows->missing;
    for (size_t g = 0; g < self->count; g++) self->gap[g].variable.cells = 0;
    self->cells = self->incomplete = 0;
    for (size_t i = 0; cells != NULL && i < self->rows->rows.count; i++) {
        size_t row = tacit_rows_stored(&self->rows->rows, i), before = self->cells;
        for (size_t k = tacit_missing_cells_of(cells, row); k < cells->count && cells->row[k] == row; k++) {
            size_t g = self->of_column[cells->column[k]];
            if (g == SIZE_MAX) continue;
            gap *one = &self->gap[g];
            if (write) one->row[one->variable.cells] = (uint32_t)i;
            one->variable.cells++;
            self->cells++;
        }
        self->incomplete += self->cells > before;
    }
}

/* The columns that are imputed, where they are among the predictors. */
static tacit_status place_gaps(gaps *self, const tacit_schema *schema, tacit_error *error) {
    tacit_feature *feature = TACIT_NEW(tacit_feature, self->design.features);
    tacit_status status = feature != NULL ? TACIT_OK : tacit_fail_memory(error);
    const bool terms = schema->formula != NULL;
    if (status == TACIT_OK)
        status =
            terms ? estimate_terms_lay_out(self, schema, error) : tacit_schema_linear(schema, feature, error);
    if (!terms) self->width = self->design.width;
    for (size_t i = 0; status == TACIT_OK && i < schema->cols; i++) {
        self->of_column[i] = SIZE_MAX;
        if (tacit_schema_missing(schema, &schema->columns[i]) != TACIT_MISSING_IMPUTE) continue;
        if (terms)
            estimate_terms_place(&self->gap[self->count], self, schema, i);
        else
            place_gap(&self->gap[self->count], &self->design, feature, i);
        if (self->gap[self->count].variable.count == 0) continue; /* a category of one level */
        self->of_column[i] = self->count++;
    }
    free(feature);
    return status;
}

static tacit_status find_gaps(gaps *self, const tacit_party *party, tacit_error *error) {
    const tacit_plan *plan = party->plan;
    const tacit_schema *schema = plan->schema;
    tacit_status status;
    const tacit_family *family = tacit_estimate_family(plan);
    *self = (gaps){ .rows = &party->rows };
    if (family->loss.several != NULL) family = &tacit_family_logistic; /* columns once, not for each score */
    TACIT_CHECK(tacit_design_create(&self->design, family, schema, plan->features, error));
    self->gap = TACIT_NEW(gap, schema->cols);
    self->of_column = TACIT_NEW(size_t, schema->cols + 1);
    if (self->gap == NULL || self->of_column == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(place_gaps(self, schema, error));
    visit_cells(self, false);
    for (size_t g = 0, first = 0; g < self->count; g++) {
        gap *one = &self->gap[g];
        one->first = first;
        first += one->variable.cells;
        one->row = TACIT_NEW(uint32_t, one->variable.cells);
        if (one->row == NULL) TACIT_CHECK(tacit_fail_memory(error));
        one->variable.row = one->row;
    }
    visit_cells(self, true);
cleanup:
    return status;
}

/* How many columns the response adds to the predictors. */
static size_t response_columns(const tacit_view *rows) {
    if (rows->label != NULL) return rows->classes - 1;
    return rows->response != NULL ? tacit_view_columns(rows) : 0;
}

/* The design and the response, side by side. */
static void fill_table(double *out, const gaps *self, size_t width, double *row) {
    const tacit_view *rows = self->rows;
    const tacit_design *design = &self->design;
    for (size_t i = 0; i < rows->rows.count; i++, out += width) {
        if (self->at != NULL) {
            estimate_terms_predictors(out, self, i);
        } else {
            tacit_rows_copy(&rows->rows, i, row);
            for (size_t j = 0; j < design->width; j++) out[j] = row[design->kept[j]];
        }
        double *y = out + self->width;
        for (size_t k = 0; k < width - self->width; k++)
            y[k] = rows->label != NULL ? (size_t)tacit_view_label(rows, i) == k + 1
                                       : tacit_view_responses(rows, i)[k];
    }
}

static void keep_set(const gaps *self, const tacit_impute_problem *problem, double *out) {
    for (size_t g = 0; g < self->count; g++) {
        const gap *one = &self->gap[g];
        for (size_t c = 0; c < one->variable.cells; c++) {
            const double *row = problem->values + one->row[c] * problem->width;
            double value = row[one->variable.first];
            for (size_t k = 0; one->variable.category && k < one->variable.count; k++)
                if (k == 0 || row[one->variable.first + k] > one->variable.unit / 2)
                    value = row[one->variable.first + k] > one->variable.unit / 2 ? (double)(k + 1) : 0;
            out[one->first + c] = value;
        }
    }
}

/* The party's own seed, the same in all rounds. */
static tacit_status draw_seed(tacit_party *party, tacit_stream *out, tacit_error *error) {
    enum { NUMBERS = 4 };
    double numbers[NUMBERS];
    uint8_t key[TACIT_STREAM_KEY_BYTES];
    _Static_assert(sizeof numbers == sizeof key, "a key");
    TACIT_TRY(tacit_party_persistent_noise(party, 4294967296.0, NUMBERS, 0, numbers, error));
    memcpy(key, numbers, sizeof key);
    *out = tacit_stream_from_key(key);
    return TACIT_OK;
}

/* All sets, one after the other: a number for each cell, or its level. */
static tacit_status draw_sets(const gaps *self, tacit_party *party, size_t sets, double *out,
                              tacit_error *error) {
    size_t n = self->rows->rows.count, width = self->width + response_columns(self->rows);
    tacit_stream seed;
    TACIT_TRY(draw_seed(party, &seed, error));
    double *row = TACIT_NEW(double, self->design.features), *table = NULL;
    tacit_impute_variable *variable = TACIT_NEW(tacit_impute_variable, self->count);
    tacit_status status = TACIT_OK;
    if (n > 0 && width <= SIZE_MAX / sizeof(double) / n) table = TACIT_NEW(double, n *width);
    if (row == NULL || table == NULL || variable == NULL) TACIT_CHECK(tacit_fail_memory(error));
    tacit_impute_problem problem = { .rows = n, .width = width, .values = table, .variable = variable };
    for (size_t g = 0; g < self->count; g++)
        if (self->gap[g].variable.cells > 0) variable[problem.variables++] = self->gap[g].variable;
    for (size_t k = 0; k < sets; k++) {
        tacit_stream stream = tacit_stream_fork(&seed, "imputation", k, 0);
        fill_table(table, self, width, row);
        TACIT_CHECK(tacit_impute(&problem, &stream, error));
        keep_set(self, &problem, out + k * self->cells);
    }
cleanup:
    free(row);
    free(table);
    free(variable);
    tacit_stream_wipe(&seed);
    return status;
}

/* ---- rows that are complete ---- */

static tacit_status copy_rows(tacit_estimate_completed *out, const tacit_view *from, tacit_error *error) {
    size_t n = from->rows.count, columns = tacit_view_columns(from);
    TACIT_TRY(tacit_matrix_create(&out->values, n, from->rows.cols, error));
    out->label = TACIT_NEW(int32_t, 2 * n);
    out->response = TACIT_NEW(double, from->response != NULL ? n * columns : 1);
    if (out->label == NULL || out->response == NULL) return tacit_fail_memory(error);
    int32_t *group = out->label + n;
    for (size_t i = 0; i < n; i++) {
        tacit_rows_copy(&from->rows, i, out->values.values + i * from->rows.cols);
        if (from->label != NULL) out->label[i] = tacit_view_label(from, i);
        if (from->group != NULL) group[i] = from->group[tacit_rows_stored(&from->rows, i)];
        if (from->response != NULL)
            memcpy(out->response + i * columns, tacit_view_responses(from, i), columns * sizeof(double));
    }
    tacit_view *rows = &out->party.rows;
    rows->rows = tacit_rows_of_matrix(&out->values);
    rows->spilled = false; /* these are in memory alone: what is let go of would be zeros */
    rows->label = from->label != NULL ? out->label : NULL;
    rows->group = from->group != NULL ? group : NULL;
    rows->response = from->response != NULL ? out->response : NULL;
    rows->missing = NULL;
    rows->raw = NULL;
    rows->identity = NULL;
    return TACIT_OK;
}

static void put_set(tacit_estimate_completed *out, const gaps *self, const double *set) {
    size_t width = out->values.cols;
    for (size_t g = 0; g < self->count; g++) {
        const gap *one = &self->gap[g];
        for (size_t c = 0; c < one->variable.cells; c++) {
            double *row = out->values.values + one->row[c] * width, value = set[one->first + c];
            row[one->feature] = one->variable.category ? 0 : value;
            if (one->variable.category) row[one->feature + (size_t)value] = one->variable.unit;
        }
    }
}

static tacit_status check_party(const tacit_party *party, const gaps *self, tacit_error *error) {
    uint64_t minimum =
        party->gate != NULL && party->gate->mode == TACIT_GATE_REAL ? party->gate->policy->minimum_rows : 0;
    if (self->incomplete == 0 || self->incomplete >= minimum) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "%zu of this party's rows lack a value that is to be imputed, fewer than the owner's "
                      "minimum of %llu: the sums of two completed sets would differ in these rows alone and "
                      "reveal them. Ask for missing: complete-case, indicator or level instead, or lower the "
                      "minimum (tacit rules set --minimum-rows)",
                      self->incomplete, (unsigned long long)minimum);
}

tacit_status tacit_estimate_complete(tacit_estimate_completed *out, tacit_party *party, size_t set,
                                     tacit_error *error) {
    size_t sets = tacit_estimate_sets(party->plan);
    double *state = NULL;
    gaps self;
    tacit_status status;
    *out = (tacit_estimate_completed){ .party = *party };
    if (party->reducer != NULL)
        return tacit_fail(
            error, TACIT_REFUSED,
            "missing values are imputed from all rows of a party, and this one's are spread over "
            "several processes: run it in one");
    TACIT_CHECK(find_gaps(&self, party, error));
    if (set >= sets)
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "the coordinator asks for an unknown set"));
    TACIT_CHECK(check_party(party, &self, error));
    TACIT_CHECK(copy_rows(out, &party->rows, error));
    if (self.cells == 0) goto cleanup;
    TACIT_CHECK(tacit_party_state(party, 1 + sets * self.cells, &state, error));
    if (state[0] == 0) TACIT_CHECK(draw_sets(&self, party, sets, state + 1, error));
    state[0] = 1;
    if (self.at != NULL)
        TACIT_CHECK(estimate_terms_put(out, &self, party->plan->schema, state + 1 + set * self.cells, error));
    else
        put_set(out, &self, state + 1 + set * self.cells);
cleanup:
    gaps_clear(&self);
    if (status != TACIT_OK) tacit_estimate_completed_clear(out);
    return status;
}

void tacit_estimate_completed_clear(tacit_estimate_completed *self) {
    tacit_matrix_clear(&self->values);
    free(self->label);
    free(self->response);
    self->label = NULL;
    self->response = NULL;
}

/* ---- the coordinator's half ---- */

tacit_status tacit_estimate_pool_sets(const tacit_plan *plan,
                                      tacit_status (*fit)(void *context, size_t set, tacit_estimates **out,
                                                          tacit_error *error),
                                      void *context, size_t width, double *const *w,
                                      tacit_estimates **estimates, tacit_error *error) {
    size_t sets = tacit_estimate_sets(plan);
    if (sets == 0) return TACIT_OK;
    tacit_estimates **each = TACIT_NEW(tacit_estimates *, sets);
    double *mean = TACIT_NEW(double, width);
    tacit_status status = each != NULL && mean != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    each[0] = *estimates;
    *estimates = NULL;
    for (size_t k = 0; k < sets; k++) {
        if (k > 0) TACIT_CHECK(fit(context, k, &each[k], error));
        for (size_t j = 0; j < width; j++) mean[j] += (*w)[j] / (double)sets;
    }
    TACIT_CHECK(tacit_estimates_pool(estimates, each, sets, error));
    memcpy(*w, mean, width * sizeof *mean);
cleanup:
    for (size_t k = 0; each != NULL && k < sets; k++) tacit_estimates_free(each[k]);
    free(each);
    free(mean);
    return status;
}

/* ---- how many there were ---- */

/* Cells of each column and of the label, rows left out; then, for each, whether a party withholds it. */
tacit_sum_spec tacit_estimate_missing_sum(const tacit_plan *plan) {
    return (tacit_sum_spec){ missing_sum_length(plan->schema), 4294967296.0 * 1e5, 0 };
}

tacit_status tacit_estimate_answer_missing(tacit_party *party, const tacit_question *question,
                                           tacit_reply *reply, tacit_error *error) {
    const tacit_schema *schema = party->plan->schema;
    if (schema == NULL || !tacit_schema_counts_missing(schema))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for missing values, and the schema says nothing of them");
    const tacit_sum_spec spec = tacit_estimate_missing_sum(party->plan);
    if (!question->wants_sum || !tacit_sum_spec_equal(&question->sum, &spec))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for another sum than the study defines");
    TACIT_TRY(tacit_estimate_begin_reply(party, spec.length, reply, error));
    return missing_sum_add_up(party, spec.bound, reply->contribution, error);
}

tacit_status tacit_estimate_count_missing(tacit_session *session, size_t parties, tacit_estimates *estimates,
                                          tacit_error *error) {
    const tacit_schema *schema = session->plan->schema;
    if (schema == NULL || !tacit_schema_counts_missing(schema)) return TACIT_OK;
    tacit_sum_spec spec = tacit_estimate_missing_sum(session->plan);
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status = tacit_ask_sum(session, "missing", NULL, &spec, &sum, error);
    if (status == TACIT_OK && sum.parties != parties)
        status = tacit_fail(error, TACIT_REFUSED,
                            "other parties count their missing values than took part; run the study again");
    if (status == TACIT_OK) status = missing_sum_put(estimates, schema, sum.values, error);
    tacit_sum_clear(&sum);
    return status;
}
