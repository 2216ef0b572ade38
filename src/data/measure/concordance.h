/* How well scores order times until an event (Harrell 1982). */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* The part of all pairs of rows, of which it is known who had the event first, in which that row has the
 * higher score; equal scores count half. `response` has of each row the time and 1 where the event was seen
 * then, 0 where not: a row without it at the time of another's event had it later. As R's concordance(), in
 * O(n log n). NaN where there is no such pair; TACIT_INPUT for a score that is no number. With three
 * `columns` the third is since when a row is observed: pairs are those observed at the time of the event. */
tacit_status tacit_concordance(double *out, const double *response, size_t columns, const double *score,
                               size_t count, tacit_error *error);
