/*
 * Thousands of parties in this process: each a view of one data set, a ledger in memory, and a gate. Local
 * models are kept between sessions, so that a sweep trains them once and draws noise many times.
 *
 * Or some of them in each of several ranks (base/ranks.h). Then rank 0 runs the coordinator's half, and every
 * question goes to all ranks, whose parties answer it where their rows are: answers come back in the order of
 * the parties, and sums are exact modulo 2^64, so that nothing depends on the number of ranks.
 */
#pragma once

#include "base/ranks.h"
#include "data/split.h"
#include "session/party.h"
#include "session/session.h"

typedef struct tacit_local tacit_local;

/* Data set, split and pool are borrowed. */
tacit_status tacit_local_create(tacit_local **out, const tacit_dataset *dataset, const tacit_split *split,
                                tacit_pool *pool, tacit_error *error);

/* The parties of this rank: from `first` up to `end`. */
typedef struct tacit_party_range {
    tacit_ranks *ranks; /* NULL: all parties are here */
    size_t first, end;
} tacit_party_range;

/* Which parties a rank has: contiguous, and about as much work as each other's, rows and parties counting the
 * same. */
tacit_party_range tacit_party_range_of(const tacit_split *split, tacit_ranks *ranks);

/* The same for a rank, whose data set and split need to have the rows of its own parties only. */
tacit_status tacit_local_create_part(tacit_local **out, const tacit_dataset *dataset,
                                     const tacit_split *split, const tacit_party_range *range,
                                     tacit_pool *pool, tacit_error *error);
tacit_local *tacit_local_free(tacit_local *local);

/* While rank 0 runs the coordinator's half, the ranks beside it on its machine wait: threads in their stead,
 * borrowed. */
void tacit_local_lead_with(tacit_local *local, tacit_pool *leader);

size_t tacit_local_parties(const tacit_local *local);
size_t tacit_local_smallest_party(const tacit_local *local); /* in rows */
size_t tacit_local_rows(const tacit_local *local);           /* of all parties together */

/* The same in persons, of rows that say whose they are. */
tacit_status tacit_local_fewest_persons(const tacit_local *local, const tacit_dataset *data, size_t *out,
                                        tacit_error *error);

/* A new run of a plan: fresh ledgers, all randomness from `seed`. The session borrows local and plan, and
 * ends when another starts. */
tacit_status tacit_local_begin(tacit_local *local, const tacit_plan *plan, const tacit_stream *seed,
                               const tacit_progress *progress, tacit_session *out, tacit_error *error);

/* From the next run on: noise from the operating system, which no seed repeats, and the gate of a real party,
 * which takes no other; its ledger is in memory, fresh in each run. Or, with false, as before. For audits, in
 * which one thread asks. */
tacit_status tacit_local_draw_exactly(tacit_local *local, bool exactly, tacit_error *error);

/* Whether this rank is one that has only to serve: rank 0 runs the plan's coordinator. A method that asks
 * nobody is run by all ranks together, on rows that stay where they are. */
bool tacit_local_serves(const tacit_local *local);

/* For a rank that serves: answer until rank 0 calls tacit_local_settle. */
tacit_status tacit_local_serve(tacit_local *local, tacit_error *error);

/* A run is over, and rank 0 hears who refused. Every rank calls it; nothing is done without ranks. */
tacit_status tacit_local_settle(tacit_local *local, tacit_error *error);

/* The last word of a party to its neighbours in this run; NULL: none. For traces. */
const tacit_message *tacit_local_word(const tacit_local *local, size_t party);

/* The largest charge that any party's ledger holds after a run; parties that refused, and why the first did.
 * Every rank calls them, and rank 0 has the answer. */
tacit_status tacit_local_charged(const tacit_local *local, tacit_unit unit, tacit_account *out,
                                 tacit_error *error);
/* The same composed at `delta` where the prices' own add up to less: what many pure answers cost together, if
 * a little delta may be spent on it. */
tacit_status tacit_local_charged_at(const tacit_local *local, tacit_unit unit, double delta,
                                    tacit_account *out, tacit_error *error);
size_t tacit_local_refusals(const tacit_local *local, const char **first);
