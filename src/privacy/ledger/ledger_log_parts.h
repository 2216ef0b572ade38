/*
 * The log of a durable ledger. For the files of this folder only.
 *
 * The log is what happened; the other tables (spending, event, balance, limits, consent) are only its running
 * state, kept so that a charge need not read the whole log. tacit_log_apply is the one place that turns an
 * entry into state: the ledger applies an entry when it appends it, and verification applies all of them to
 * empty tables and compares. A seal, the hash of all rows of the state, tells a damaged state before anything
 * is charged to it.
 *
 * An entry's body is a canonical byte string (a version, then the members in a fixed order, texts with their
 * length); its hash is BLAKE2b-256 over the previous entry's hash (zeros before the first) and the body.
 */
#pragma once

#include "base/buffer.h"
#include "privacy/account/charges_parts.h"
#include "privacy/account/counting.h"
#include "privacy/ledger/ledger.h"
#include "store/statement.h"

enum { TACIT_ENTRY_BODY_MOST = 8192, TACIT_REASON_MOST = TACIT_ERROR_TEXT_SIZE };

/* An entry of this kind, now, about `source`; `about` is copied but its texts are borrowed, NULL becoming
 * "". `reason` may be NULL. */
tacit_entry tacit_entry_make(tacit_entry_kind kind, const char *source, const tacit_release *about,
                             const char *reason);

tacit_status tacit_entry_encode(tacit_buffer *out, const tacit_entry *entry, tacit_error *error);

/* Texts in *out point into `body`. TACIT_CORRUPT when the bytes are not an entry. number and hash are not
 * part of a body and are left 0. */
tacit_status tacit_entry_decode(tacit_entry *out, const uint8_t *body, size_t length, tacit_error *error);

void tacit_entry_hash(uint8_t out[TACIT_HASH_BYTES], const uint8_t previous[TACIT_HASH_BYTES],
                      const uint8_t *body, size_t length);

/* Append an entry and apply it, within the caller's transaction; fills in its number and hash. TACIT_CORRUPT
 * when the log does not end where it should. */
tacit_status tacit_log_append(tacit_store *store, tacit_entry *entry, tacit_error *error);

/* Bring the state up to date with one entry. */
tacit_status tacit_log_apply(tacit_store *store, const tacit_entry *entry, tacit_error *error);

/* Count a charge's event in: the part of tacit_log_apply that a file of format 1 has missed. */
tacit_status tacit_log_apply_event(tacit_store *store, const tacit_entry *entry, tacit_error *error);

/* The sums and what is allowed; study "" is the total. What is spent is the balance at the limit's delta, and
 * -1 where there is none: then it has to be composed. */
tacit_status tacit_log_account(tacit_account *out, tacit_store *store, const char *source, const char *study,
                               tacit_unit unit, tacit_error *error);

/* The events that count for the unit, those of all studies together for study "", appended to `out`. */
tacit_status tacit_log_charges(tacit_charges *out, tacit_store *store, const char *source, const char *study,
                               tacit_unit unit, tacit_error *error);

/* An event in a row: the columns kind, parameter, delta, sampling, replaced and runs, from `first` on.
 * TACIT_CORRUPT for one that could not have been charged. */
tacit_status tacit_log_read_event(tacit_event *out, tacit_store *store, tacit_statement *row, int first,
                                  tacit_error *error);
void tacit_log_bind_event(tacit_statement *statement, int first, const tacit_event *event);

/* All rows of a query: events, appended to `out`; and amounts, epsilon and delta, added up. */
tacit_status tacit_log_read_events(tacit_charges *out, tacit_store *store, tacit_statement *query,
                                   tacit_unit unit, tacit_error *error);
tacit_status tacit_log_add_amounts(double *epsilon, double *delta, tacit_statement *query,
                                   tacit_error *error);

/* ledger_block.c: a study's block; what a release, if it is all of a study, would make of one; and the parts
 * of tacit_log_apply about blocks, loose charges and links. */
tacit_status tacit_log_block(bool *found, tacit_block *out, tacit_store *store, const char *source,
                             const char *study, const uint8_t *study_hash, tacit_error *error);
tacit_block tacit_block_for(const tacit_release *release);
tacit_status tacit_log_apply_holding(tacit_store *store, const tacit_entry *entry, tacit_error *error);
tacit_status tacit_log_apply_use(tacit_store *store, const tacit_entry *entry, tacit_error *error);
tacit_status tacit_log_apply_link(tacit_store *store, const tacit_entry *entry, tacit_error *error);
tacit_status tacit_log_loose_sum(tacit_price *out, tacit_store *store, const char *source, tacit_unit unit,
                                 tacit_error *error);

/* The data source whose limit in total holds for `source`: itself, unless it was said to hold the same people
 * as another. */
tacit_status tacit_log_people(char out[TACIT_NAME_MOST + 1], tacit_store *store, const char *source,
                              tacit_error *error);

/* ledger_holding.c: all that counts for the unit, of all data sources that share its limit; `but`, if not
 * NULL, is a study whose block is left out, and whose earlier versions count as ended. */
tacit_status tacit_log_holding(tacit_holding *out, tacit_store *store, const char *source, tacit_unit unit,
                               const tacit_release *but, tacit_error *error);

/* Before anything is decided by the state: TACIT_CORRUPT when it is not what was sealed, or the log does not
 * end where it should. */
tacit_status tacit_log_check(tacit_store *store, tacit_error *error);

/* ledger_seal.c: set the seal to the state as it is; TACIT_CORRUPT when the state is not what was sealed. */
tacit_status tacit_log_seal(tacit_store *store, tacit_error *error);
tacit_status tacit_log_check_seal(tacit_store *store, tacit_error *error);

/* The seal of formats 2 and 3, which had fewer tables. */
tacit_status tacit_log_check_old_seal(tacit_store *store, tacit_error *error);
