#include "method/time/time_cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/encode.h"
#include "num/special.h"

/* ---- the design ---- */

static tacit_status find_strata(time_design *out, const tacit_plan *plan, const char *name,
                                const tacit_feature *feature, tacit_error *error) {
    const tacit_schema *schema = plan->schema;
    const tacit_schema_column *column = NULL;
    if (strcmp(name, "none") == 0) return TACIT_OK;
    for (size_t c = 0; c < schema->cols && column == NULL; c++)
        if (strcmp(schema->columns[c].name, name) == 0) column = &schema->columns[c];
    if (column == NULL || column->kind != TACIT_SCHEMA_CATEGORY)
        return tacit_fail(error, TACIT_USAGE, "the schema has no category called '%s'", name);
    while (feature[out->first_level].column == SIZE_MAX ||
           &schema->columns[feature[out->first_level].column] != column)
        out->first_level++;
    out->column = column;
    out->strata = column->levels.count + 1; /* the last: of rows without a level */
    return TACIT_OK;
}

/* Strata of a formula have features of their own, which have no coefficients already. */
static tacit_status find_strata_of_terms(time_design *out, const tacit_plan *plan, const char *name,
                                         tacit_error *error) {
    size_t count;
    if (strcmp(name, "none") != 0)
        return tacit_fail(error, TACIT_USAGE,
                          "with terms, strata are part of these: write + strata(%s) there, and strata=none",
                          name);
    size_t first = tacit_formula_strata(plan->schema->formula, &count);
    if (first == SIZE_MAX) return TACIT_OK;
    out->first_level = first;
    out->strata = count + 1;
    return TACIT_OK;
}

/* Keep neither the intercept nor the strata: the baseline has both. */
static void leave_out(tacit_design *columns, const tacit_schema *schema, const tacit_feature *feature,
                      const tacit_schema_column *strata) {
    size_t width = 0;
    for (size_t j = 0; j < columns->width; j++) {
        bool of_strata = strata != NULL && &schema->columns[feature[columns->kept[j]].column] == strata;
        if (j == columns->intercept || of_strata) continue;
        columns->kept[width++] = columns->kept[j];
    }
    columns->width = width;
    columns->intercept = SIZE_MAX;
}

static tacit_status choose_columns(time_design *out, const tacit_plan *plan, const char *strata,
                                   tacit_error *error) {
    const tacit_schema *schema = plan->schema;
    if (schema->formula != NULL) {
        leave_out(&out->columns, schema, NULL, NULL);
        return find_strata_of_terms(out, plan, strata, error);
    }
    tacit_feature *feature = TACIT_NEW(tacit_feature, plan->features);
    tacit_status status = feature != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK) status = tacit_schema_linear(schema, feature, error);
    if (status == TACIT_OK) status = find_strata(out, plan, strata, feature, error);
    if (status == TACIT_OK) leave_out(&out->columns, schema, feature, out->column);
    free(feature);
    return status;
}

static tacit_status lay_grid(time_design *out, const tacit_plan *plan, const time_settings *settings,
                             tacit_error *error) {
    const tacit_schema *schema = plan->schema;
    static const double days[] = { 1, 1, 7, 30.4375, 365.25 };
    double range = schema->high - schema->low, width = settings->width;
    if (settings->unit != TIME_UNIT_LABEL && width == 0) width = 1;
    out->low = schema->low;
    out->width = width > 0 ? width * days[settings->unit] : range / 100;
    double cells = fmax(1, ceil(range / out->width * (1 - 1e-12)));
    if (!(cells * (double)out->strata <= TIME_MOST_CELLS))
        return tacit_fail(error, TACIT_USAGE,
                          "method %s lays a grid over time: cells of width %g make %.0f of them, and there "
                          "may be %d in all strata; choose a larger width",
                          plan->method->name, out->width, cells * (double)out->strata, TIME_MOST_CELLS);
    out->cells = (size_t)cells;
    return TACIT_OK;
}

tacit_status time_design_create(time_design *out, const tacit_plan *plan, tacit_error *error) {
    return time_design_create_as(out, plan, TACIT_SETTINGS(time_settings, plan), error);
}

tacit_status time_design_create_as(time_design *out, const tacit_plan *plan, const time_settings *settings,
                                   tacit_error *error) {
    *out = (time_design){ .strata = 1, .causes = 1 };
    if (plan->schema == NULL || plan->schema->response != TACIT_RESPONSE_TIME)
        return tacit_fail(error, TACIT_USAGE,
                          "method %s needs a label of kind time, that is of two columns: write {name: [days, "
                          "died], kind: time, low: 0, high: 3650} in the schema",
                          plan->method->name);
    if (plan->schema->sparse > 0)
        return tacit_fail(error, TACIT_USAGE, "method %s needs columns, and the schema says sparse",
                          plan->method->name);
    out->entries = plan->schema->entry != NULL;
    if (out->entries && plan->method->reports != NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "method %s takes rows that are observed from the beginning on: leave '%s' out of the "
            "schema's label, or choose method cox",
            plan->method->name, plan->schema->entry);
    out->causes = tacit_schema_causes(plan->schema);
    if (out->causes > 1 && plan->method->reports == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "method %s is about one kind of event, and the schema has %zu causes: leave them "
                          "out, with 1 for the event that you ask about and 0 for the others",
                          plan->method->name, out->causes);
    TACIT_TRY(tacit_design_create(&out->columns, tacit_family_of(TACIT_RESPONSE_TIME, 0), plan->schema,
                                  plan->features, error));
    tacit_status status = choose_columns(out, plan, settings->strata, error);
    if (plan->method->reports != NULL) out->columns.width = 0; /* a report has no coefficients */
    if (status == TACIT_OK) status = lay_grid(out, plan, settings, error);
    if (status != TACIT_OK) time_design_clear(out);
    return status;
}

void time_design_clear(time_design *design) { tacit_design_clear(&design->columns); }

tacit_status time_prepare(const tacit_plan *plan, void *out, tacit_error *error) {
    time_design *design = out;
    *design = (time_design){ .strata = 1, .causes = 1 };
    return plan->schema != NULL ? time_design_create(design, plan, error) : TACIT_OK;
}

void time_clear_prepared(void *prepared) { time_design_clear(prepared); }

/* How many cells are over at a time: 0 at the beginning, 1 from the end of the first cell on. */
static double cells_before(const time_design *design, double time) {
    return ceil((time - design->low) / design->width * (1 - 1e-12));
}

static size_t cell_of(const time_design *design, double cell) {
    return (size_t)fmin(fmax(cell, 0), (double)design->cells - 1);
}

static size_t stratum_of(const time_design *design, const double *features) {
    size_t stratum = 0;
    /* the feature of a row's own level is above 0, those of the others are 0 */
    while (stratum + 1 < design->strata && !(features[design->first_level + stratum] > 0)) stratum++;
    return stratum;
}

/* ---- names and tables ---- */

const char *time_stratum_name(const time_design *design, size_t stratum) {
    if (design->column == NULL) return "all";
    return stratum < design->column->levels.count ? design->column->levels.text[stratum] : "(none)";
}

static tacit_status add_incidence_rows(tacit_report_table *table, const tacit_life_incidence *curves,
                                       size_t causes, size_t stride, const double *time, size_t count,
                                       tacit_error *error) {
    char label[40];
    double *values = TACIT_NEW(double, 4 * causes);
    tacit_status status = values != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t k = 0; k < count && status == TACIT_OK; k++) {
        for (size_t j = 0; j < causes; j++) {
            const tacit_life_incidence *one = &curves[j * stride + k];
            memcpy(values + 4 * j, (double[]){ one->share, one->error, one->low, one->high },
                   4 * sizeof *values);
        }
        tacit_format(label, sizeof label, "%.10g", time[k]);
        status = tacit_report_add_row(table, label, values, NULL, error);
    }
    free(values);
    return status;
}

tacit_status time_add_incidence(tacit_report *report, const time_design *design, const tacit_plan *plan,
                                size_t stratum, const tacit_life_incidence *curves, size_t stride,
                                const double *time, size_t count, tacit_error *error) {
    static const char *const parts[] = { "", " error", " low", " high" };
    enum { NAME = 160, PARTS = 4 };
    size_t causes = design->causes;
    char(*names)[NAME] = tacit_allocate(PARTS * causes, sizeof *names), name[200], title[240];
    const char **columns = TACIT_NEW(const char *, PARTS *causes + 1);
    tacit_report_table *table;
    tacit_status status;
    if (names == NULL || columns == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t j = 0; j < PARTS * causes; j++) {
        snprintf(names[j], NAME, "%.140s%s", plan->schema->causes.text[j / PARTS], parts[j % PARTS]);
        columns[j] = names[j];
    }
    snprintf(name, sizeof name, "incidence %.150s", time_stratum_name(design, stratum));
    snprintf(title, sizeof title, "Cumulative incidence of %.150s", time_stratum_name(design, stratum));
    TACIT_CHECK(tacit_report_add_table(report, &table, name, title, columns, error));
    status = add_incidence_rows(table, curves, causes, stride, time, count, error);
cleanup:
    free(names);
    free(columns);
    return status;
}

tacit_status time_add_ratios(tacit_report *report, const time_design *design, size_t first,
                             const double *log_ratio, const double *errors, double level,
                             tacit_error *error) {
    static const char *const columns[] = { "log ratio", "error", "ratio", "low", "high", NULL };
    double quantile = tacit_normal_tail_quantile(log((1 - level) / 2));
    tacit_report_table *table;
    char title[240];
    snprintf(title, sizeof title, "Hazard ratios, against %.150s", time_stratum_name(design, first));
    TACIT_TRY(tacit_report_add_table(report, &table, "ratios", title, columns, error));
    for (size_t g = 0; g < design->strata; g++) {
        double reach = quantile * errors[g],
               values[] = { log_ratio[g], errors[g], exp(log_ratio[g]), exp(log_ratio[g] - reach),
                            exp(log_ratio[g] + reach) };
        if (g == first || isnan(log_ratio[g])) continue;
        TACIT_TRY(tacit_report_add_row(table, time_stratum_name(design, g), values, NULL, error));
    }
    return TACIT_OK;
}

/* ---- the sums ---- */

tacit_sum_spec time_sum_of_rows(void) {
    static const double MOST_ROWS = 4294967296.0; /* of one party */
    return (tacit_sum_spec){ 1, MOST_ROWS, 0 };
}

tacit_sum_spec time_first_sum(const tacit_plan *plan) {
    tacit_sum_spec out = time_sum_of_rows();
    out.length += missing_sum_behind(plan);
    return out;
}

tacit_sum_spec time_sum(const tacit_plan *plan, double n, int room, size_t length) {
    double bound = ldexp(fmax(1, n), room);
    int bound_bits, party_bits;
    frexp(bound, &bound_bits);
    frexp((double)plan->parties, &party_bits);
    return (tacit_sum_spec){ TIME_HEAD + length, bound, 62 - bound_bits - party_bits };
}

double time_offset(const time_design *design, const double *features) {
    const tacit_design *columns = &design->columns;
    return columns->offset != SIZE_MAX ? columns->offset_weight * features[columns->offset] : 0;
}

tacit_status time_score_of_zeros(const time_design *design, const tacit_plan *plan, const double *w,
                                 double *out, tacit_error *error) {
    const tacit_design *columns = &design->columns;
    const bool terms = plan->schema->formula != NULL;
    tacit_formula_part part[TACIT_FORMULA_PARTS];
    tacit_feature *feature = TACIT_NEW(tacit_feature, plan->features);
    tacit_status status = feature != NULL ? TACIT_OK : tacit_fail_memory(error);
    *out = 0;
    if (status == TACIT_OK && !terms) status = tacit_schema_linear(plan->schema, feature, error);
    for (size_t j = 0; j < columns->width && status == TACIT_OK; j++) {
        size_t parts = terms ? tacit_schema_term_parts(plan->schema, columns->kept[j], part) : 0;
        if (!terms) *out += feature[columns->kept[j]].shift * w[j];
        for (size_t i = 0; i < parts; i++)
            if (part[i].column == SIZE_MAX) *out += part[i].coefficient * w[j];
    }
    free(feature);
    return status;
}

double time_of_cell(const time_design *design, const tacit_plan *plan, size_t cell) {
    return fmin(design->low + design->width * (double)(cell + 1), plan->schema->high);
}

size_t time_length_of_cells(const time_design *design) {
    const size_t places = design->strata * design->cells;
    return (1 + design->causes + design->entries) * places + design->columns.width +
           (design->columns.offset != SIZE_MAX);
}

tacit_release_kind time_kind(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_ENTRUSTED;
}

/* ---- replies ---- */

tacit_status time_begin_reply(const tacit_party *party, const tacit_question *question,
                              const tacit_sum_spec *spec, tacit_reply *reply, tacit_error *error) {
    tacit_prices prices;
    if (!question->wants_sum || !tacit_sum_spec_equal(&question->sum, spec))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for another sum than the study defines");
    TACIT_TRY(tacit_design_check_rows(party->plan->schema, &party->rows, error));
    TACIT_TRY(tacit_party_price(party, &prices, error));
    reply->kind = time_kind(party->plan);
    reply->noise = TACIT_NOISE_NONE;
    reply->price = prices.charged;
    reply->contribution = TACIT_NEW(double, spec->length);
    return reply->contribution != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status add_over_holders(const tacit_party *party, double *values, size_t count,
                                     tacit_error *error) {
    if (party->reducer == NULL) return TACIT_OK;
    return party->reducer->sum(party->reducer->context, values, count, error);
}

/* The head, the sum over all who hold this party's rows, and the bound. */
tacit_status time_finish_reply(const tacit_party *party, const tacit_sum_spec *spec, tacit_reply *reply,
                               tacit_error *error) {
    double *values = reply->contribution;
    TACIT_TRY(add_over_holders(party, values + TIME_HEAD, spec->length - TIME_HEAD, error));
    values[0] = (double)party->total_rows;
    for (size_t j = 0; j < spec->length; j++) values[j] = fmax(-spec->bound, fmin(spec->bound, values[j]));
    return TACIT_OK;
}

tacit_status time_answer_rows(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                              tacit_error *error) {
    const tacit_sum_spec spec = time_first_sum(party->plan);
    TACIT_TRY(time_begin_reply(party, question, &spec, reply, error));
    reply->contribution[0] = (double)party->total_rows;
    if (spec.length == time_sum_of_rows().length) return TACIT_OK;
    return missing_sum_add_up(party, spec.bound, reply->contribution + 1, error);
}

/* n of the question, believed only within what it can be. */
tacit_status time_read_total(const tacit_party *party, const tacit_question *question, double *n,
                             tacit_error *error) {
    return tacit_party_read_total(party, question, time_sum_of_rows().bound, n, error);
}

/* ---- who leaves when ---- */

typedef struct counting {
    const time_design *design;
    double *row, *x, *counts, *event_x, *entering;
    bool never; /* some rows leave in the cell of their entry */
} counting;

tacit_status time_check_one_row_each(const tacit_party *party, tacit_error *error) {
    size_t persons;
    const tacit_schema *schema = party->plan->schema;
    const bool named = schema != NULL && schema->person != NULL;
    if (named && party->reducer != NULL) /* the same in all of them */
        return tacit_fail(error, TACIT_USAGE,
                          "method %s sees that no person has several rows where all rows of a party are in "
                          "one place, and here several hold them",
                          party->plan->method->name);
    if (!party->rows.persons || party->rows.group == NULL) {
        if (!named || party->gate == NULL || party->gate->mode != TACIT_GATE_REAL) return TACIT_OK;
        return tacit_fail(error, TACIT_INPUT,
                          "these rows do not say whose they are, and the schema does (person: %s): read them "
                          "with that column, without groups of another",
                          schema->person);
    }
    TACIT_TRY(tacit_view_groups(&party->rows, &persons, error));
    if (persons == party->rows.rows.count) return TACIT_OK;
    return tacit_fail(
        error, TACIT_INPUT,
        "%zu rows are of %zu persons, and method %s promises something of a row that is a "
        "person with all of its time: give one row for each person, its last with the time of its stop",
        party->rows.rows.count, persons, party->plan->method->name);
}

tacit_status time_check_rows(const tacit_party *party, tacit_error *error) {
    if (party->rows.response != NULL && tacit_view_columns(&party->rows) >= 2) return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT, "the rows have no time and event");
}

time_row time_take_row(const time_design *design, const tacit_view *block, size_t i, double *row, double *x) {
    const double *y = tacit_view_responses(block, i);
    tacit_rows_copy(&block->rows, i, row);
    for (size_t j = 0; j < design->columns.width; j++) x[j] = row[design->columns.kept[j]];
    size_t first = stratum_of(design, row) * design->cells;
    time_row out = { .place = first + cell_of(design, cells_before(design, y[0]) - 1),
                     .entry = first,
                     .event = y[1] > 0 ? (size_t)fmin(y[1], (double)design->causes) : 0 };
    if (design->entries)
        out.entry += (size_t)fmin(fmax(cells_before(design, y[2]), 0), (double)design->cells);
    return out;
}

static tacit_status count_block(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    counting *self = context;
    (void)first, (void)error;
    for (size_t i = 0; i < block->rows.count; i++) {
        time_row one = time_take_row(self->design, block, i, self->row, self->x);
        if (one.entry > one.place) {
            self->never = true;
            continue;
        }
        double *counts = self->counts + (1 + self->design->causes) * one.place;
        counts[0]++;
        if (self->design->entries) self->entering[one.entry]++;
        if (one.event == 0) continue;
        counts[one.event]++;
        for (size_t j = 0; j < self->design->columns.width; j++) self->event_x[j] += self->x[j];
        if (self->event_x != NULL && self->design->columns.offset != SIZE_MAX)
            self->event_x[self->design->columns.width] += time_offset(self->design, self->row);
    }
    return TACIT_OK;
}

tacit_status time_count(const tacit_party *party, const time_design *design, double *counts, double *event_x,
                        double *entering, tacit_error *error) {
    counting self = { .design = design, .counts = counts, .event_x = event_x, .entering = entering };
    TACIT_TRY(time_check_rows(party, error));
    self.row = TACIT_NEW(double, 2 * party->plan->features);
    if (self.row == NULL) return tacit_fail_memory(error);
    self.x = self.row + party->plan->features;
    tacit_status status = tacit_dataset_map(&party->rows, 0, count_block, &self, error);
    free(self.row);
    if (status != TACIT_OK || !self.never) return status;
    return tacit_fail(
        error, TACIT_INPUT,
        "some rows leave in the cell of time in which they enter, and are never at risk: choose "
        "a smaller width, or leave these rows out");
}

tacit_status time_answer_cells(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                               tacit_error *error) {
    time_design design;
    double n;
    TACIT_TRY(time_check_rows(party, error));
    TACIT_TRY(time_read_total(party, question, &n, error));
    TACIT_TRY(tacit_party_prepared(party, &design, error));
    tacit_sum_spec spec = time_sum(party->plan, n, 0, time_length_of_cells(&design));
    TACIT_TRY(time_begin_reply(party, question, &spec, reply, error));
    const size_t places = design.strata * design.cells;
    double *counts = reply->contribution + TIME_HEAD, *event_x = counts + (1 + design.causes) * places,
           *entering = event_x + design.columns.width + (design.columns.offset != SIZE_MAX);
    TACIT_TRY(time_count(party, &design, counts, event_x, entering, error));
    return time_finish_reply(party, &spec, reply, error);
}
