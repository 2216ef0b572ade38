/*
 * What private methods count of missing values beside their model.
 *
 *   for each column j that the features are made of, and for the label:  rows in which it is missing, kept or
 *                                                                        left out
 *   where the schema may leave rows out:                                 rows left out
 *
 * Columns whose missing values are errors are not counted: a file with one is refused. So the schema alone,
 * which is public, decides which numbers there are.
 *
 * Proof note. Adjacency: replace one row of a party's file by another. Whether the row is used, or left out
 * because
 *   something of it is missing, may change with it. A row adds 0 or 1 to each of D numbers, whatever the row
 *   is, also where it is left out and so adds to several columns and to the number of rows left out. So two
 *   rows' vectors are in {0, 1}^D and at most sqrt(D) apart in L2 norm: a row in which nothing is missing,
 *   replaced by one in which everything is, attains it. No other row's part changes: what becomes of a
 *   missing value follows from its own row and the schema (data/schema/missing.h).
 *   Where persons are protected: replace all rows of one person by those of another, however many either has.
 *   A person adds min(m, its rows that are used and lack j) to each number, m public: two vectors in [0,
 *   m]^D, at most m sqrt(D) apart. Rows left out say no longer whose they are, and columns that leave rows
 *   out are not counted then.
 *   A number is at most `largest`, which is public: min(., largest) brings no two nearer numbers further
 *   apart. Sums of at most 2^24 ones are exact in doubles and on the grid. Noise, share of the budget and
 *   composition are the method's. Leaving small counts out looks at the noisy ones alone: post-processing,
 *   like the table.
 */
#include "method/missing_counts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "method/missing_sum.h"
#include "method/persons.h"

enum { NOT_COUNTED = -1 };

static bool is_counted(const tacit_schema *schema, size_t j, bool persons) {
    const tacit_missing rule = missing_rule_at(schema, j);
    if (rule == TACIT_MISSING_ERROR || (persons && rule == TACIT_MISSING_COMPLETE_CASE)) return false;
    return j == schema->cols ||
           (schema->columns[j].kind != TACIT_SCHEMA_SKIP && tacit_schema_uses(schema, j));
}

static bool counts_left_out(const tacit_schema *schema, bool persons) {
    return !persons && tacit_schema_leaves_out(schema);
}

missing_counts missing_counts_of(const tacit_plan *plan, uint64_t person_most) {
    const tacit_schema *schema = plan->schema;
    missing_counts out = { .most = (double)person_most };
    if (schema == NULL || !tacit_schema_counts_missing(schema)) return out;
    for (size_t j = 0; j <= schema->cols; j++) out.length += is_counted(schema, j, person_most > 0);
    out.length += counts_left_out(schema, person_most > 0);
    out.sensitivity = (person_most > 0 ? out.most : 1) * sqrt((double)out.length) * (1 + 1e-14);
    return out;
}

/* ---- the party's half ---- */

/* Where each column of the schema, and the label, has its number. */
static int32_t *places_of(const tacit_schema *schema, bool persons) {
    int32_t *place = TACIT_NEW(int32_t, schema->cols + 1), next = 0;
    for (size_t j = 0; place != NULL && j <= schema->cols; j++)
        place[j] = is_counted(schema, j, persons) ? next++ : NOT_COUNTED;
    return place;
}

/* One row of the view: each column at most once. */
static void add_row(const tacit_view *rows, size_t i, const int32_t *place, size_t columns, double *out) {
    const tacit_missing_cells *cells = rows->missing;
    const size_t row = tacit_rows_stored(&rows->rows, i), first = tacit_missing_cells_of(cells, row);
    for (size_t k = first; k < cells->count && cells->row[k] == row; k++) {
        const uint32_t column = cells->column[k];
        const bool again = k > first && cells->column[k - 1] == column;
        if (column < columns && place[column] != NOT_COUNTED && !again) out[place[column]]++;
    }
}

static void add_rows(const tacit_party *party, const missing_counts *counts, const int32_t *place,
                     double *out) {
    const tacit_schema *schema = party->plan->schema;
    const tacit_missing_cells *cells = party->rows.missing;
    if (cells == NULL) return;
    for (size_t i = 0; i < party->rows.rows.count && cells->count > 0; i++)
        add_row(&party->rows, i, place, schema->cols + 1, out);
    if (!party->rows.all_left_out) return;
    for (size_t j = 0; j <= schema->cols && j < cells->columns; j++)
        if (place[j] != NOT_COUNTED) out[place[j]] += (double)cells->left_out_cells[j];
    if (counts_left_out(schema, false)) out[counts->length - 1] += (double)cells->left_out;
}

static tacit_status add_persons(const tacit_party *party, const missing_counts *counts, const int32_t *place,
                                double *out, tacit_error *error) {
    person_rows persons = { .count = 0 };
    double *one = TACIT_NEW(double, counts->length);
    tacit_status status = one != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK) status = person_rows_make(&persons, party, error);
    const bool any = party->rows.missing != NULL && party->rows.missing->count > 0;
    for (size_t k = 0; status == TACIT_OK && any && k < persons.count; k++) {
        memset(one, 0, counts->length * sizeof *one);
        for (size_t i = persons.start[k]; i < persons.start[k + 1]; i++)
            add_row(&persons.view, i, place, party->plan->schema->cols + 1, one);
        for (size_t j = 0; j < counts->length; j++) out[j] += fmin(one[j], counts->most);
    }
    person_rows_clear(&persons);
    free(one);
    return status;
}

tacit_status missing_counts_add_up(tacit_party *party, const missing_counts *counts, double largest,
                                   double *out, tacit_error *error) {
    const bool persons = counts->most > 0;
    tacit_status status = TACIT_OK;
    int32_t *place = places_of(party->plan->schema, persons);
    if (place == NULL) return tacit_fail_memory(error);
    memset(out, 0, counts->length * sizeof *out);
    if (persons)
        status = add_persons(party, counts, place, out, error);
    else
        add_rows(party, counts, place, out);
    free(place);
    if (status == TACIT_OK && party->reducer != NULL)
        status = party->reducer->sum(party->reducer->context, out, counts->length, error);
    for (size_t j = 0; j < counts->length; j++) out[j] = fmin(out[j], largest);
    return status;
}

/* ---- the coordinator's half ---- */

/* Texts begin with the number, which pages then do not say twice. */
static tacit_status add_facts(tacit_report *report, const missing_counts *counts, double share, bool noisy,
                              tacit_error *error) {
    char text[240];
    if (noisy) {
        tacit_format(text, sizeof text, "%g of the study's budget", share);
        TACIT_TRY(tacit_report_add_fact(report, "share", share, text, error));
        tacit_format(text, sizeof text, "%d; counts below it, with the noise in them, are not shown",
                     MISSING_COUNTS_THRESHOLD);
        TACIT_TRY(tacit_report_add_fact(report, "threshold", MISSING_COUNTS_THRESHOLD, text, error));
    }
    if (!(counts->most > 0)) return TACIT_OK;
    tacit_format(text, sizeof text,
                 "%.0f; no more rows of a person count in a number; rows left out, and columns that leave "
                 "rows out, are not counted",
                 counts->most);
    return tacit_report_add_fact(report, "person-rows", counts->most, text, error);
}

static tacit_status add_row_of(tacit_report_table *table, const char *label, double count, double deviation,
                               tacit_error *error) {
    const bool noisy = deviation > 0;
    const double value = noisy && count < MISSING_COUNTS_THRESHOLD ? NAN : count;
    return tacit_report_add_row(table, label, &value, noisy ? &deviation : NULL, error);
}

tacit_status missing_counts_add_table(tacit_report *report, const tacit_plan *plan,
                                      const missing_counts *counts, const double *values, double deviation,
                                      tacit_error *error) {
    static const char *const names[] = { "count", NULL };
    const tacit_schema *schema = plan->schema;
    const bool persons = counts->most > 0;
    tacit_report_table *table;
    size_t next = 0;
    TACIT_TRY(tacit_report_add_table(report, &table, "missing", "Missing values by what becomes of them",
                                     names, error));
    for (size_t j = 0; j <= schema->cols; j++) {
        char label[200];
        if (!is_counted(schema, j, persons)) continue;
        tacit_format(label, sizeof label, "%.150s: %s",
                     j < schema->cols ? schema->columns[j].name : schema->label,
                     tacit_missing_name(missing_rule_at(schema, j)));
        TACIT_TRY(add_row_of(table, label, values[next++], deviation, error));
    }
    if (!counts_left_out(schema, persons)) return TACIT_OK;
    return add_row_of(table, "rows left out", values[next], deviation, error);
}

tacit_status missing_counts_report(tacit_report **out, const tacit_plan *plan, const missing_counts *counts,
                                   const double *values, double deviation, double share, double rows,
                                   tacit_error *error) {
    tacit_report *report = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_report_create(&report, "missing", deviation > 0, rows, error));
    TACIT_CHECK(add_facts(report, counts, share, deviation > 0, error));
    TACIT_CHECK(missing_counts_add_table(report, plan, counts, values, deviation, error));
    *out = report;
    report = NULL;
cleanup:
    tacit_report_free(report);
    return status;
}
