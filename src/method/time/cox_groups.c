/* Method cox: which cells of time are put together. Both halves compute it alike. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/time/cox.h"

void cox_partition_clear(cox_partition *partition) {
    free(partition->end);
    free(partition->of_cell);
    free(partition->last);
    free(partition->leaving);
    *partition = (cox_partition){ .groups = 0 };
}

static tacit_status begin_partition(cox_partition *out, const time_design *design, size_t groups,
                                    tacit_error *error) {
    size_t cells = design->strata * design->cells;
    *out = (cox_partition){ .groups = 0 };
    out->end = TACIT_NEW(size_t, design->strata);
    out->of_cell = TACIT_NEW(size_t, cells);
    out->last = TACIT_NEW(int64_t, groups);
    out->leaving = TACIT_NEW(double, 3 * groups);
    if (out->end == NULL || out->of_cell == NULL || out->last == NULL || out->leaving == NULL) {
        cox_partition_clear(out);
        return tacit_fail_memory(error);
    }
    out->events = out->leaving + groups;
    out->entering = out->events + groups;
    return TACIT_OK;
}

bool cox_too_small(const cox_partition *partition, size_t group, bool first, double least, bool efron) {
    double events = partition->events[group], entering = partition->entering[group];
    return partition->leaving[group] < least || (efron && events > 1 && events < least) ||
           (!first && entering > 0 && entering < least);
}

/* The last group of a stratum may have come out too small: it joins the one before. */
static void join_last(cox_partition *self, size_t first_cell, size_t cells) {
    size_t from = --self->groups, to = from - 1;
    self->leaving[to] += self->leaving[from];
    self->events[to] += self->events[from];
    self->entering[to] += self->entering[from];
    self->last[to] = self->last[from];
    for (size_t c = first_cell; c < first_cell + cells; c++)
        if (self->of_cell[c] == from) self->of_cell[c] = to;
}

/* Whether a cell can begin a group: who comes at risk after an event was not at risk at it. */
static bool is_boundary(const cox_partition *self, size_t before, const double *count, double entering) {
    return count[1] > 0 || (entering > 0 && self->events[before] > 0);
}

tacit_status cox_partition_make(cox_partition *out, const time_design *design, const double *counts,
                                const double *entering, double least, bool efron, tacit_error *error) {
    TACIT_TRY(begin_partition(out, design, design->strata * design->cells, error));
    for (size_t s = 0; s < design->strata; s++) {
        size_t begin = out->groups, first = s * design->cells;
        for (size_t c = first; c < first + design->cells; c++) {
            size_t current = out->groups;
            double enter = entering != NULL ? entering[c] : 0;
            if (current == begin || (is_boundary(out, current - 1, counts + 2 * c, enter) &&
                                     !cox_too_small(out, current - 1, current - 1 == begin, least, efron))) {
                out->groups++;
                out->leaving[current] = out->events[current] = out->entering[current] = 0;
            } else
                current--;
            out->leaving[current] += counts[2 * c];
            out->events[current] += counts[2 * c + 1];
            out->entering[current] += enter;
            out->last[current] = (int64_t)(c - first);
            out->of_cell[c] = current;
        }
        while (out->groups > begin + 1 && cox_too_small(out, out->groups - 1, false, least, efron))
            join_last(out, first, design->cells);
        out->end[s] = out->groups;
    }
    return TACIT_OK;
}

tacit_status cox_partition_cells(cox_partition *out, const time_design *design, tacit_error *error) {
    const size_t cells = design->strata * design->cells;
    TACIT_TRY(begin_partition(out, design, cells, error));
    out->groups = cells;
    for (size_t c = 0; c < cells; c++) {
        out->of_cell[c] = c;
        out->last[c] = (int64_t)(c % design->cells);
        out->end[c / design->cells] = c + 1;
    }
    return TACIT_OK;
}

tacit_status cox_partition_write(const cox_partition *partition, const time_design *design,
                                 tacit_message *message, tacit_error *error) {
    int64_t groups = (int64_t)partition->groups;
    TACIT_TRY(tacit_message_add_integers(message, "groups", &groups, 1, error));
    TACIT_TRY(tacit_message_add_integers(message, "last", partition->last, partition->groups, error));
    TACIT_TRY(tacit_message_add_numbers(message, "leaving", partition->leaving, partition->groups, error));
    TACIT_TRY(tacit_message_add_numbers(message, "events", partition->events, partition->groups, error));
    if (!design->entries) return TACIT_OK;
    return tacit_message_add_numbers(message, "entering", partition->entering, partition->groups, error);
}

tacit_status cox_partition_read(cox_partition *out, const time_design *design, const tacit_message *message,
                                tacit_error *error) {
    const int64_t *last, *count;
    const double *leaving, *events, *entering = NULL;
    size_t cell = 0, stratum = 0, total = design->strata * design->cells;
    TACIT_TRY(tacit_message_integers(message, "groups", 1, &count, error));
    if (*count < 1 || (uint64_t)*count > total)
        return tacit_fail(error, TACIT_PROTOCOL, "the coordinator speaks of groups that cannot be");
    const size_t groups = (size_t)*count;
    TACIT_TRY(tacit_message_integers(message, "last", groups, &last, error));
    TACIT_TRY(tacit_message_numbers(message, "leaving", groups, &leaving, error));
    TACIT_TRY(tacit_message_numbers(message, "events", groups, &events, error));
    if (design->entries) TACIT_TRY(tacit_message_numbers(message, "entering", groups, &entering, error));
    TACIT_TRY(begin_partition(out, design, groups, error));
    out->groups = groups;
    tacit_status status = TACIT_OK;
    for (size_t g = 0; g < groups && status == TACIT_OK; g++) {
        out->last[g] = last[g];
        out->leaving[g] = leaving[g];
        out->events[g] = events[g];
        out->entering[g] = entering != NULL ? entering[g] : 0;
        if (stratum == design->strata || last[g] < 0 || (uint64_t)last[g] >= design->cells ||
            stratum * design->cells + (size_t)last[g] < cell ||
            !(events[g] >= 0 && events[g] <= leaving[g]) || !(out->entering[g] >= 0)) {
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

size_t cox_length_of_groups(const tacit_plan *plan, const time_design *design,
                            const cox_partition *partition) {
    size_t kinds = 1 + (cox_settings_of(plan)->ties == COX_EFRON) + design->entries;
    return partition->groups * kinds * tacit_risk_length(design->columns.width);
}
