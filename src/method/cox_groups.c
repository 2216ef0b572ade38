/* Method cox: cells of time, and which are put together. Both halves compute them alike. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/encode.h"
#include "method/cox.h"

/* ---- the design ---- */

static tacit_status find_strata(cox_design *out, const tacit_plan *plan, const tacit_feature *feature,
                                const tacit_schema_column **column, tacit_error *error) {
    const char *name = cox_settings_of(plan)->strata;
    const tacit_schema *schema = plan->schema;
    *column = NULL;
    out->strata = 1;
    if (strcmp(name, "none") == 0) return TACIT_OK;
    for (size_t c = 0; c < schema->cols && *column == NULL; c++)
        if (strcmp(schema->columns[c].name, name) == 0) *column = &schema->columns[c];
    if (*column == NULL || (*column)->kind != TACIT_SCHEMA_CATEGORY)
        return tacit_fail(error, TACIT_USAGE, "strata: the schema has no category called '%s'", name);
    while (feature[out->first_level].column == SIZE_MAX ||
           &schema->columns[feature[out->first_level].column] != *column)
        out->first_level++;
    out->strata = (*column)->levels.count + 1; /* the last: of rows without a level */
    return TACIT_OK;
}

/* Keep neither the intercept nor the strata: the baseline has both. */
static void leave_out(tacit_design *columns, const tacit_schema *schema, const tacit_feature *feature,
                      const tacit_schema_column *strata) {
    size_t width = 0;
    for (size_t j = 0; j < columns->width; j++) {
        size_t column = feature[columns->kept[j]].column;
        if (j == columns->intercept || (strata != NULL && &schema->columns[column] == strata)) continue;
        columns->kept[width++] = columns->kept[j];
    }
    columns->width = width;
    columns->intercept = SIZE_MAX;
}

static tacit_status lay_grid(cox_design *out, const tacit_plan *plan, tacit_error *error) {
    const tacit_schema *schema = plan->schema;
    double range = schema->high - schema->low, width = cox_settings_of(plan)->width;
    out->low = schema->low;
    out->width = width > 0 ? width : range / 100;
    double cells = fmax(1, ceil(range / out->width * (1 - 1e-12)));
    if (!(cells * (double)out->strata <= COX_MOST_CELLS))
        return tacit_fail(error, TACIT_USAGE,
                          "method cox lays a grid over time: cells of width %g make %.0f of them, and there "
                          "may be %d in all strata; choose a larger width",
                          out->width, cells * (double)out->strata, COX_MOST_CELLS);
    out->cells = (size_t)cells;
    return TACIT_OK;
}

tacit_status cox_design_create(cox_design *out, const tacit_plan *plan, tacit_error *error) {
    const tacit_schema_column *strata = NULL;
    *out = (cox_design){ .strata = 1 };
    if (plan->schema == NULL || plan->schema->response != TACIT_RESPONSE_TIME)
        return tacit_fail(
            error, TACIT_USAGE,
            "method cox needs a label of kind time, that is of two columns: write {name: [days, "
            "died], kind: time, low: 0, high: 3650} in the schema");
    if (plan->schema->sparse > 0)
        return tacit_fail(error, TACIT_USAGE, "method cox needs columns, and the schema says sparse");
    TACIT_TRY(tacit_design_create(&out->columns, tacit_family_of(TACIT_RESPONSE_TIME, 0), plan->schema,
                                  plan->features, error));
    tacit_feature *feature = TACIT_NEW(tacit_feature, plan->features);
    tacit_status status = feature != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK) status = tacit_schema_linear(plan->schema, feature, error);
    if (status == TACIT_OK) status = find_strata(out, plan, feature, &strata, error);
    if (status == TACIT_OK) leave_out(&out->columns, plan->schema, feature, strata);
    if (status == TACIT_OK) status = lay_grid(out, plan, error);
    if (status == TACIT_OK && (out->columns.width == 0 || out->columns.width > COX_MOST_COLUMNS))
        status = tacit_fail(error, TACIT_USAGE,
                            "method cox inverts a matrix of %zu columns: have at least 1 and at most %d",
                            out->columns.width, COX_MOST_COLUMNS);
    free(feature);
    if (status != TACIT_OK) cox_design_clear(out);
    return status;
}

void cox_design_clear(cox_design *design) { tacit_design_clear(&design->columns); }

size_t cox_place(const cox_design *design, double time, const double *features) {
    double cell = ceil((time - design->low) / design->width * (1 - 1e-12)) - 1;
    size_t stratum = 0;
    /* the feature of a row's own level is above 0, those of the others are 0 */
    while (stratum + 1 < design->strata && !(features[design->first_level + stratum] > 0)) stratum++;
    return stratum * design->cells + (size_t)fmin(fmax(cell, 0), (double)design->cells - 1);
}

/* ---- cells put together ---- */

void cox_partition_clear(cox_partition *partition) {
    free(partition->end);
    free(partition->of_cell);
    free(partition->last);
    free(partition->leaving);
    *partition = (cox_partition){ .groups = 0 };
}

static tacit_status begin_partition(cox_partition *out, const cox_design *design, size_t groups,
                                    tacit_error *error) {
    size_t cells = design->strata * design->cells;
    *out = (cox_partition){ .groups = 0 };
    out->end = TACIT_NEW(size_t, design->strata);
    out->of_cell = TACIT_NEW(size_t, cells);
    out->last = TACIT_NEW(int64_t, groups);
    out->leaving = TACIT_NEW(double, 2 * groups);
    if (out->end == NULL || out->of_cell == NULL || out->last == NULL || out->leaving == NULL) {
        cox_partition_clear(out);
        return tacit_fail_memory(error);
    }
    out->events = out->leaving + groups;
    return TACIT_OK;
}

bool cox_too_small(double leaving, double events, double least, bool efron) {
    return leaving < least || (efron && events > 1 && events < least);
}

static bool too_small(const cox_partition *self, size_t group, double least, bool efron) {
    return cox_too_small(self->leaving[group], self->events[group], least, efron);
}

/* The last group of a stratum may have come out too small: it joins the one before. */
static void join_last(cox_partition *self, size_t first_cell, size_t cells) {
    size_t from = --self->groups, to = from - 1;
    self->leaving[to] += self->leaving[from];
    self->events[to] += self->events[from];
    self->last[to] = self->last[from];
    for (size_t c = first_cell; c < first_cell + cells; c++)
        if (self->of_cell[c] == from) self->of_cell[c] = to;
}

tacit_status cox_partition_make(cox_partition *out, const cox_design *design, const double *counts,
                                double least, bool efron, tacit_error *error) {
    TACIT_TRY(begin_partition(out, design, design->strata * design->cells, error));
    for (size_t s = 0; s < design->strata; s++) {
        size_t begin = out->groups, first = s * design->cells;
        for (size_t c = first; c < first + design->cells; c++) {
            double leaving = counts[2 * c], events = counts[2 * c + 1];
            size_t current = out->groups;
            if (current == begin || (events > 0 && !too_small(out, current - 1, least, efron))) {
                out->groups++;
                out->leaving[current] = out->events[current] = 0;
            } else
                current--;
            out->leaving[current] += leaving;
            out->events[current] += events;
            out->last[current] = (int64_t)(c - first);
            out->of_cell[c] = current;
        }
        while (out->groups > begin + 1 && too_small(out, out->groups - 1, least, efron))
            join_last(out, first, design->cells);
        out->end[s] = out->groups;
    }
    return TACIT_OK;
}

tacit_status cox_partition_write(const cox_partition *partition, tacit_message *message, tacit_error *error) {
    int64_t groups = (int64_t)partition->groups;
    TACIT_TRY(tacit_message_add_integers(message, "groups", &groups, 1, error));
    TACIT_TRY(tacit_message_add_integers(message, "last", partition->last, partition->groups, error));
    TACIT_TRY(tacit_message_add_numbers(message, "leaving", partition->leaving, partition->groups, error));
    return tacit_message_add_numbers(message, "events", partition->events, partition->groups, error);
}

tacit_status cox_partition_read(cox_partition *out, const cox_design *design, const tacit_message *message,
                                tacit_error *error) {
    const int64_t *last, *count;
    const double *leaving, *events;
    size_t cell = 0, stratum = 0, total = design->strata * design->cells;
    TACIT_TRY(tacit_message_integers(message, "groups", 1, &count, error));
    if (*count < 1 || (uint64_t)*count > total)
        return tacit_fail(error, TACIT_PROTOCOL, "the coordinator speaks of groups that cannot be");
    const size_t groups = (size_t)*count;
    TACIT_TRY(tacit_message_integers(message, "last", groups, &last, error));
    TACIT_TRY(tacit_message_numbers(message, "leaving", groups, &leaving, error));
    TACIT_TRY(tacit_message_numbers(message, "events", groups, &events, error));
    TACIT_TRY(begin_partition(out, design, groups, error));
    out->groups = groups;
    tacit_status status = TACIT_OK;
    for (size_t g = 0; g < groups && status == TACIT_OK; g++) {
        out->last[g] = last[g];
        out->leaving[g] = leaving[g];
        out->events[g] = events[g];
        if (stratum == design->strata || last[g] < 0 || (uint64_t)last[g] >= design->cells ||
            stratum * design->cells + (size_t)last[g] < cell ||
            !(events[g] >= 0 && events[g] <= leaving[g])) {
            status = tacit_fail(error, TACIT_PROTOCOL, "the coordinator's groups of cells are not in order");
            break;
        }
        for (; cell <= stratum * design->cells + (size_t)last[g]; cell++) out->of_cell[cell] = g;
        if (cell == (stratum + 1) * design->cells) out->end[stratum++] = g + 1;
    }
    if (status == TACIT_OK && cell != total)
        status = tacit_fail(error, TACIT_PROTOCOL, "the coordinator's groups leave out cells of time");
    if (status != TACIT_OK) cox_partition_clear(out);
    return status;
}

/* ---- the sums ---- */

tacit_sum_spec cox_sum_of_rows(void) {
    static const double MOST_ROWS = 4294967296.0; /* of one party */
    return (tacit_sum_spec){ 1, MOST_ROWS, 0 };
}

tacit_sum_spec cox_sum(const tacit_plan *plan, double n, int room, size_t length) {
    double bound = ldexp(fmax(1, n), room);
    int bound_bits, party_bits;
    frexp(bound, &bound_bits);
    frexp((double)plan->parties, &party_bits);
    return (tacit_sum_spec){ COX_HEAD + length, bound, 62 - bound_bits - party_bits };
}

/* Rows that leave and events of each cell, and the sum of x over all events. */
size_t cox_length_of_cells(const cox_design *design) {
    return 2 * design->strata * design->cells + design->columns.width;
}

size_t cox_length_of_groups(const tacit_plan *plan, const cox_design *design,
                            const cox_partition *partition) {
    size_t kinds = cox_settings_of(plan)->ties == COX_EFRON ? 2 : 1;
    return partition->groups * kinds * tacit_risk_length(design->columns.width);
}

tacit_release_kind cox_kind(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_ENTRUSTED;
}
