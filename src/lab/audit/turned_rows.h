/*
 * Two neighbouring data sets of one party: rows of the ball, the first of which is turned about in the
 * second. What a method gives of each is drawn from the two local parties.
 */
#pragma once

#include "data/split.h"
#include "session/local/local.h"

typedef struct tacit_turned_rows {
    tacit_dataset *data[2];
    tacit_local *local[2];
    tacit_split *split;
} tacit_turned_rows;

/* Rows of two columns whose label is the first class; the first is (sine, +-cosine). Labels may be changed
 * before the parties start. */
tacit_status tacit_turned_rows_make(tacit_turned_rows *out, size_t rows, double sine, tacit_error *error);
tacit_status tacit_turned_rows_start(tacit_turned_rows *self, tacit_error *error);

/* One party alone, with the only share of the noise or all of it. */
tacit_status tacit_turned_rows_plan(tacit_plan *plan, size_t features, size_t rows, tacit_error *error);

/* The party of a side starts again: under `plan` with the noise of `stream`, exact noise where that is
 * wanted; or under `silent`, which has none, where `stream` is NULL. */
tacit_status tacit_turned_rows_begin(tacit_turned_rows *self, int side, const tacit_plan *plan,
                                     const tacit_plan *silent, const tacit_stream *stream, bool exactly,
                                     tacit_session *session, tacit_error *error);

void tacit_turned_rows_clear(tacit_turned_rows *self);
