/* Whose row each of a party's rows is: persons numbered from 0 in the order in which they come, for errors
 * that are clustered by person; and all rows of each, for methods that protect persons. */
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

/* The party's rows in the order of their persons: person k has rows start[k] to start[k + 1] of `view`,
 * however many these are. For methods that protect persons: what one adds to a sum is made of all of them
 * together. */
typedef struct person_rows {
    tacit_view view;
    uint32_t *order;
    size_t *start, count;
} person_rows;

/* TACIT_INPUT where rows do not say whose they are, or several hold them; TACIT_REFUSED where the study wants
 * more persons. Persons without rows here are left out; rows
 * of nobody count as one person's. */
tacit_status person_rows_make(person_rows *out, const tacit_party *party, tacit_error *error);
void person_rows_clear(person_rows *rows);
