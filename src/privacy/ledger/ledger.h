/*
 * A party's ledger: what was charged against which data source, what may still be, and a log that shows it.
 *
 * One interface, two implementations. The durable one is a SQLite file that the owner keeps; a file may
 * hold several data sources, a handle is about one of them. The one in memory serves simulated parties:
 * less than two hundred bytes unless they are asked several kinds of questions, and no log.
 *
 * Units. A charge per party hides the replacement of *all* rows of the party. Replacing one row is a special
 * case of that, so the same numbers hold per record, and the record total counts every charge: composed, it
 * is a guarantee for one row over everything released. A charge per record promises nothing
 * useful about n rows replaced at once (n epsilon, and delta worse), so it does not enter the party total:
 * that total is a guarantee for the releases priced per party only. An owner who wants it to hold for
 * everything sets a party limit and no record limit; releases priced per record are then refused.
 *
 * Composition. An account keeps the sum of the prices and the events behind them. What is spent of a limit in
 * total is counted by a filter (counting.h) that is fixed when the limit is set and holds however the next
 * study is chosen. Of one study, whose kinds and numbers are fixed by its definition, it is the least epsilon
 * that any accountant proves at the limit's delta (accountant.h), or the sum of the prices where that is
 * less. It never falls when a charge is added. At delta 0 it is the sum, and only what costs no delta may
 * leave.
 *
 * What a study may take is held for it from consent to its end (tacit_ledger_reserve): a study that was
 * accepted fits to its last round, whatever others ask meanwhile.
 *
 * Limits. A release must fit every limit it counts towards, and at least one *total* limit must bound it:
 * a record charge needs the record limit, a party charge the record or the party limit (either bounds it).
 * So with no limit set, nothing real leaves.
 *
 * A handle is used by one thread at a time; any number of processes may use the file at once.
 */
#pragma once

#include "base/buffer.h"
#include "privacy/account/counting.h"
#include "privacy/account/release.h"

typedef struct tacit_ledger tacit_ledger;

typedef enum tacit_ledger_mode {
    TACIT_LEDGER_CREATE,   /* for setting a first limit or consent: a missing file is made */
    TACIT_LEDGER_EXISTING, /* TACIT_NOT_FOUND when the file is missing */
    TACIT_LEDGER_READING   /* show and verify; whatever would write fails */
} tacit_ledger_mode;

/* Open the durable ledger in file `path` for the data source `source` (a stable text id). */
tacit_status tacit_ledger_open(tacit_ledger **out, const char *path, const char *source,
                               tacit_ledger_mode mode, tacit_error *error);

/* A ledger in memory. */
tacit_status tacit_ledger_create(tacit_ledger **out, tacit_error *error);

tacit_ledger *tacit_ledger_free(tacit_ledger *ledger);

bool tacit_ledger_is_durable(const tacit_ledger *ledger);

/* The data source that a durable ledger was opened for; borrowed. */
const char *tacit_ledger_source(const tacit_ledger *ledger);

/* What has been charged and what is allowed, in one unit. */
typedef struct tacit_account {
    double sum_epsilon, sum_delta; /* of the prices; rounded up */
    double spent_epsilon,
        spent_delta;      /* composed: the least epsilon at the limit's delta or, without one, at sum_delta;
                                          infinite when nothing is proved at that delta */
    tacit_composition by; /* the accountant that gave it; basic: it is the sum */
    bool limited;
    double limit_epsilon, limit_delta; /* when limited */
    tacit_counting counting;           /* how; by accountants' least without a limit */
} tacit_account;

/* The account of the data source in total (study NULL) or within one study. A ledger in memory keeps only
 * the total. */
tacit_status tacit_ledger_account(tacit_account *out, tacit_ledger *ledger, const char *study,
                                  tacit_unit unit, tacit_error *error);

/* For information: what counts towards the total, counted in other ways at the limit's delta or, without a
 * limit, at that of the prices added up. *known is false, and nothing is said, where that is 0, nothing was
 * charged, or exact answers were. Durable ledgers only. */
tacit_status tacit_ledger_alternatives(bool *known, double out[TACIT_ALTERNATIVES], tacit_ledger *ledger,
                                       tacit_unit unit, tacit_error *error);

/* Set the limit of a unit: of the data source in total (study NULL), or of what one study may take of it.
 * limit->epsilon >= 0 finite, 0 <= limit->delta < 1. A limit below what is spent stops further releases.
 * Logged. A ledger in memory takes totals only. */
tacit_status tacit_ledger_set_limit(tacit_ledger *ledger, const char *study, const tacit_price *limit,
                                    tacit_error *error);

/* The same, counted from now on in this way. tacit_ledger_set_limit leaves the way as it is; that of a first
 * limit in total is BOTH, SUM where delta is 0, and that of a study LEAST. Moving to another way, or another
 * delta, after answers have left is a choice in view of them: what then holds has the deltas of all ways so
 * far added up. Durable ledgers only. */
tacit_status tacit_ledger_set_limit_counted(tacit_ledger *ledger, const char *study, const tacit_price *limit,
                                            tacit_count count, tacit_error *error);

/* Whether one more charge would keep within every limit it counts towards: TACIT_OK, or TACIT_REFUSED with
 * the sentence that the asker would get. Nothing is charged. `event` may be NULL: not known. Durable ledgers
 * only. */
tacit_status tacit_ledger_fits(tacit_ledger *ledger, const char *study, const tacit_price *price,
                               const tacit_event *event, tacit_error *error);

/* Consent to a study as defined by the document of this hash; a changed definition needs consent again.
 * Withdrawing stops everything, also the re-sending of stored answers. Logged. Durable ledgers only. */
tacit_status tacit_ledger_consent(tacit_ledger *ledger, const char *study,
                                  const uint8_t study_hash[TACIT_HASH_BYTES], tacit_error *error);
tacit_status tacit_ledger_withdraw(tacit_ledger *ledger, const char *study, tacit_error *error);

/* Consent, and hold for the study what all its answers cost: TACIT_REFUSED unless that fits every limit
 * beside what others hold. Answers within it are then never refused for lack of budget, unless the owner
 * lowers a limit. Consenting to the same definition again takes up what was held. `event` may be NULL: not
 * known. A price without bound (exact values) holds nothing. */
tacit_status tacit_ledger_reserve(tacit_ledger *ledger, const char *study,
                                  const uint8_t study_hash[TACIT_HASH_BYTES], const tacit_price *price,
                                  const tacit_event *event, tacit_error *error);

/* The study asks no more: what it has not used is given back. Logged, where something was held. Consent
 * stays. */
tacit_status tacit_ledger_end(tacit_ledger *ledger, const char *study, tacit_error *error);

/* Contact details of the owner are about to leave for a study, sealed: `hash` is of the sealed bytes. Nothing
 * is charged. Logged. Durable ledgers only. */
tacit_status tacit_ledger_note_contact(tacit_ledger *ledger, const char *study,
                                       const uint8_t hash[TACIT_HASH_BYTES], tacit_error *error);

/* Say that this data source holds the same people as `other`: from now on both share the limits in total of
 * `other`, and what was charged to either counts towards them. Not to be undone. Logged. TACIT_REFUSED when
 * only this one has a limit. */
tacit_status tacit_ledger_link(tacit_ledger *ledger, const char *other, tacit_error *error);

/* The data source whose limits in total hold for this one: itself, unless it was linked. */
tacit_status tacit_ledger_people(char out[TACIT_NAME_MOST + 1], tacit_ledger *ledger, tacit_error *error);

typedef enum tacit_consent { TACIT_CONSENT_NONE, TACIT_CONSENT_GIVEN, TACIT_CONSENT_WITHDRAWN } tacit_consent;

/* For the gate: log that a statement leaves (study, study_hash, coordinator and question of `about`).
 * TACIT_USAGE of a ledger in memory. */
tacit_status tacit_ledger_note_statement(tacit_ledger *ledger, const tacit_release *about,
                                         tacit_error *error);

tacit_status tacit_ledger_consent_state(tacit_consent *out, tacit_ledger *ledger, const char *study,
                                        tacit_error *error);
/* And to which definition. */
tacit_status tacit_ledger_consent_hash(tacit_consent *out, uint8_t study_hash[TACIT_HASH_BYTES],
                                       tacit_ledger *ledger, const char *study, tacit_error *error);

/* One line of the log. Texts are borrowed for the time of the visit; "" where they do not apply. */
typedef enum tacit_entry_kind {
    TACIT_ENTRY_CHARGE,
    TACIT_ENTRY_REFUSAL,
    TACIT_ENTRY_LIMIT,
    TACIT_ENTRY_CONSENT,
    TACIT_ENTRY_WITHDRAWAL,
    TACIT_ENTRY_END,
    TACIT_ENTRY_LINK,
    /* something that the owner consented to saying, without noise and without a charge */
    TACIT_ENTRY_STATEMENT,
    TACIT_ENTRY_CONTACT
} tacit_entry_kind;

enum { TACIT_ENTRY_KINDS = 9 };

/* What is spent of one limit, composed at its delta. */
typedef struct tacit_balance {
    bool known; /* there was such a limit, and the entry is not of a ledger before format 2 */
    double epsilon, delta;
    tacit_composition by;
} tacit_balance;

typedef struct tacit_entry {
    uint64_t number; /* from 1 without gaps, over all data sources of the file */
    int64_t time;    /* milliseconds since 1970, UTC */
    const char *source;
    tacit_entry_kind kind;
    const char *reason; /* refusal: the sentence the asker got */
    /* charge, refusal: all but the payload bytes; limit: price, study ("": total); consent: study, study_hash
     * and what is held: price, event; end: study; link: the other data source, as `question`; contact: study,
     * and as study_hash that of what was sent */
    tacit_release about;
    /* charge: what is then spent, [0] in total and [1] of the study; limit: of the account it is for */
    tacit_balance after[2][TACIT_UNITS];
    bool counted;                           /* limit: `counting` is said; not in a ledger before format 4 */
    tacit_counting counting;                /* limit: how it is counted */
    uint8_t payload_hash[TACIT_HASH_BYTES]; /* charge: of the released bytes */
    uint8_t hash[TACIT_HASH_BYTES];         /* of this entry and the chain before it */
} tacit_entry;

/* "charge", "refusal", "limit", "consent", "withdrawal", "end", "link", "statement", "contact". */
const char *tacit_entry_kind_name(tacit_entry_kind kind);

typedef tacit_status tacit_entry_visit(void *context, const tacit_entry *entry, tacit_error *error);

/* Visit this data source's entries numbered above `after`, in order; stops at the visitor's failure and
 * returns it. The visitor must not use the ledger. Durable ledgers only. */
tacit_status tacit_ledger_list(tacit_ledger *ledger, uint64_t after, tacit_entry_visit *visit, void *context,
                               tacit_error *error);

/* Entries as they are chained, for whoever keeps or checks a copy of the log: visit all of the file, of every
 * data source, with the bytes that were hashed. */
typedef tacit_status tacit_body_visit(void *context, const tacit_entry *entry, const uint8_t *body,
                                      size_t length, tacit_error *error);
tacit_status tacit_ledger_bodies(tacit_ledger *ledger, tacit_body_visit *visit, void *context,
                                 tacit_error *error);

/* What such bytes say: texts of *out point into them. TACIT_CORRUPT when they are no entry. Then the chain's
 * next hash, from the one before in `hash` (zeros before the first). */
tacit_status tacit_ledger_read_body(tacit_entry *out, const uint8_t *body, size_t length, tacit_error *error);
void tacit_ledger_chain(uint8_t hash[TACIT_HASH_BYTES], const uint8_t *body, size_t length);

typedef tacit_status tacit_name_visit(void *context, const char *name, tacit_error *error);

/* Visit the data sources of the file that have been charged or limited; the studies that this source has
 * charges, limits or consents for. */
tacit_status tacit_ledger_sources(tacit_ledger *ledger, tacit_name_visit *visit, void *context,
                                  tacit_error *error);
tacit_status tacit_ledger_studies(tacit_ledger *ledger, tacit_name_visit *visit, void *context,
                                  tacit_error *error);

typedef struct tacit_verdict {
    uint64_t entries; /* entries found sound, from the first */
    uint64_t broken;  /* number of the first broken entry; 0 when the damage is beside the log */
    uint8_t head[TACIT_HASH_BYTES]; /* hash of the last sound entry: note it elsewhere to notice a rewrite */
} tacit_verdict;

/* Examine the whole file: pages, the chain of hashes, and that totals, limits, consents and stored answers
 * are exactly what the log says. TACIT_CORRUPT names the first broken entry; the verdict is then filled in
 * too (the exception to the rule that a failure leaves outputs alone). Durable ledgers only.
 *
 * What a chain shows: any change, loss or reordering of entries by somebody who does not rebuild the rest.
 * Whoever may write the file can rebuild it all; then only a head noted elsewhere tells. */
tacit_status tacit_ledger_verify(tacit_verdict *out, tacit_ledger *ledger, tacit_error *error);
