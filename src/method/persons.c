#include "method/persons.h"

#include <stdlib.h>

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
