/* Whose row each of a party's rows is: persons numbered from 0 in the order in which they come, for errors that are
 * clustered by person. */
#pragma once

#include "session/party.h"

typedef struct person_places {
    int32_t *place; /* of each group number of the data set: which of the persons it is, from 1 */
    size_t groups, count;
} person_places;

/* TACIT_INPUT where rows are nobody's, TACIT_USAGE where several hold the party's rows. */
tacit_status person_places_make(person_places *out, const tacit_party *party, tacit_error *error);
void person_places_clear(person_places *places);

size_t person_place(const person_places *places, const tacit_view *block, size_t i);
