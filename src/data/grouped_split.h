/*
 * Rows that belong together, such as the transactions of one account: whole groups are dealt out to parties
 * and held back for testing, so that no account is on both sides. And undersampling, where one class is far
 * more frequent than it is useful.
 */
#pragma once

#include "data/split.h"

/* As tacit_split_make and tacit_split_holdout, of the view's groups instead of its rows: sizes and fractions
 * are those of groups. The view has group numbers below `groups`. TACIT_USAGE for a plan that makes a party
 * of each group. */
tacit_status tacit_grouped_split_make(tacit_split **out, const tacit_split_plan *plan, const tacit_view *view,
                                      size_t groups, size_t parties, tacit_stream *stream,
                                      tacit_error *error);
tacit_status tacit_grouped_split_holdout(tacit_split **out, const tacit_view *view, size_t groups,
                                         double test_fraction, double aux_fraction, tacit_stream *stream,
                                         tacit_error *error);

/* Keep each row of a class with chance `share`, in (0, 1], and all others: one part, in the view's order.
 * With `groups` above 0 the chance is drawn once for each group all of whose rows are of that class, and the
 * other groups are kept whole. Whether a row (or group) is kept depends on it alone, so that neighbouring
 * data sets stay neighbours. TACIT_INPUT when nothing is left. */
tacit_status tacit_undersample(tacit_split **out, const tacit_view *view, size_t groups, int32_t label,
                               double share, tacit_stream *stream, tacit_error *error);
