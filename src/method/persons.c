#include "method/persons.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static tacit_status count_groups(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    person_places *self = context;
    for (size_t i = 0; i < block->rows.count; i++) {
        int32_t group = block->group[tacit_rows_stored(&block->rows, i)];
        if (group < 0) return tacit_fail(error, TACIT_INPUT, "row %zu is nobody's", first + i + 1);
        if ((size_t)group >= self->groups) self->groups = (size_t)group + 1;
    }
    return TACIT_OK;
}

static tacit_status place_groups(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    person_places *self = context;
    (void)first;
    (void)error;
    for (size_t i = 0; i < block->rows.count; i++) {
        int32_t *place = &self->place[block->group[tacit_rows_stored(&block->rows, i)]];
        if (*place == 0) *place = (int32_t)++self->count;
    }
    return TACIT_OK;
}

tacit_status person_places_make(person_places *out, const tacit_party *party, tacit_error *error) {
    *out = (person_places){ .count = 0 };
    if (party->rows.group == NULL || !party->rows.persons)
        return tacit_fail(error, TACIT_INPUT,
                          "clustered errors need to know whose row each is, and the rows have no "
                          "column that the schema names as 'person'");
    if (party->reducer != NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "clustered errors need all rows of a party in one place, and here several "
                          "hold them");
    TACIT_TRY(tacit_dataset_map(&party->rows, 0, count_groups, out, error));
    out->place = TACIT_NEW(int32_t, out->groups + 1);
    if (out->place == NULL) return tacit_fail_memory(error);
    return tacit_dataset_map(&party->rows, 0, place_groups, out, error);
}

void person_places_clear(person_places *places) { free(places->place); }

size_t person_place(const person_places *places, const tacit_view *block, size_t i) {
    return (size_t)places->place[block->group[tacit_rows_stored(&block->rows, i)]] - 1;
}

/* ---- all rows of each ---- */

void person_rows_clear(person_rows *rows) {
    free(rows->order);
    free(rows->start);
}

static tacit_status check_persons(const tacit_party *party, tacit_error *error) {
    const char *method = party->plan->method->name;
    if (party->reducer != NULL)
        return tacit_fail(error, TACIT_INPUT,
                          "method %s needs all rows of a person in one place: they are spread over ranks",
                          method);
    if (party->rows.persons && party->rows.group != NULL) return TACIT_OK;
    return tacit_fail(
        error, TACIT_INPUT,
        "the rows do not say whose they are: method %s needs the column that the schema names as "
        "'person', without groups of another",
        method);
}

/* How many rows each has, and where those of each begin. */
tacit_status person_rows_make(person_rows *out, const tacit_party *party, tacit_error *error) {
    const tacit_view *rows = &party->rows;
    size_t codes = 0, at = 0;
    *out = (person_rows){ .view = *rows };
    TACIT_TRY(check_persons(party, error));
    for (size_t i = 0; i < rows->rows.count; i++) {
        int32_t code = rows->group[tacit_rows_stored(&rows->rows, i)];
        if (code >= 0 && (size_t)code >= codes) codes = (size_t)code + 1;
    }
    out->order = TACIT_NEW(uint32_t, rows->rows.count + 1);
    out->start = TACIT_NEW(size_t, codes + 2);
    if (out->order == NULL || out->start == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < rows->rows.count; i++)
        out->start[(size_t)(rows->group[tacit_rows_stored(&rows->rows, i)] + 1)]++;
    for (size_t k = 0; k <= codes; k++) {
        size_t length = out->start[k];
        out->start[k] = at;
        at += length;
    }
    for (size_t i = 0; i < rows->rows.count; i++) {
        size_t stored = tacit_rows_stored(&rows->rows, i);
        out->order[out->start[rows->group[stored] + 1]++] = (uint32_t)stored;
    }
    /* start[k] has become the end of k. */
    for (size_t k = 0, before = 0; k <= codes; before = out->start[k++])
        if (out->start[k] > before) out->start[out->count++] = out->start[k];
    memmove(out->start + 1, out->start, out->count * sizeof *out->start);
    out->start[0] = 0;
    out->view.rows.index = out->order;
    if (out->count >= party->plan->minimum_rows) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED, "the study wants at least %zu persons of each party",
                      party->plan->minimum_rows);
}
