/*
 * Thousands of parties in this process: each a view of one data set, a ledger in memory, and a gate. Local
 * models are kept between sessions, so that a sweep trains them once and draws noise many times.
 */
#pragma once

#include "data/split.h"
#include "session/party.h"
#include "session/session.h"

typedef struct tacit_local tacit_local;

/* Data set, split and pool are borrowed. */
tacit_status tacit_local_create(tacit_local **out, const tacit_dataset *dataset, const tacit_split *split,
                                tacit_pool *pool, tacit_error *error);
tacit_local *tacit_local_free(tacit_local *local);

size_t tacit_local_parties(const tacit_local *local);
size_t tacit_local_smallest_party(const tacit_local *local); /* in rows */

/* A new run of a plan: fresh ledgers, all randomness from `seed`. The session borrows local and plan, and
 * ends when another starts. */
tacit_status tacit_local_begin(tacit_local *local, const tacit_plan *plan, const tacit_stream *seed,
                               const tacit_progress *progress, tacit_session *out, tacit_error *error);

/* The last word of a party to its neighbours in this run; NULL: none. For traces. */
const tacit_message *tacit_local_word(const tacit_local *local, size_t party);

/* The largest charge that any party's ledger holds after a run; parties that refused, and why the first did.
 */
tacit_status tacit_local_charged(const tacit_local *local, tacit_unit unit, tacit_account *out,
                                 tacit_error *error);
/* The same composed at `delta` where the prices' own add up to less: what many pure answers cost together, if a little delta
 * may be spent on it. */
tacit_status tacit_local_charged_at(const tacit_local *local, tacit_unit unit, double delta,
                                    tacit_account *out, tacit_error *error);
size_t tacit_local_refusals(const tacit_local *local, const char **first);
