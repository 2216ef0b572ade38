/*
 * What exact sums of an owner's data sources were made of: a file in the owner's home (past.db), which nobody
 * else sees. With it a party refuses a sum whose difference from earlier ones would be about few parties or
 * few rows (privacy/differences.h), in all versions of a study and in all studies of a source.
 *
 * Rows are kept as 64-bit hashes under a key that was drawn for this file, 8 bytes a row, once for each
 * different set of rows. Parties are kept as the keys by which they sign sums: a home has one for each
 * coordinator, the same in all of its studies.
 */
#pragma once

#include "data/dataset.h"

#define TACIT_SUM_HISTORY_NAME "past.db"

typedef struct tacit_sum_history tacit_sum_history;

tacit_status tacit_sum_history_open(tacit_sum_history **out, const char *path, tacit_error *error);
tacit_sum_history *tacit_sum_history_free(tacit_sum_history *history);

/* The rows that a version of a study works on. */
typedef struct tacit_sum_history_rows {
    const char *source, *study; /* as the ledger calls them: another version is another study */
    const tacit_dataset *rows;
    const uint32_t *index; /* those of them that count, `count`; NULL: all */
    size_t count;
    size_t total;               /* over all who hold rows; `rows` may be some of them */
    const tacit_schema *schema; /* how they were encoded: rows of another schema can only be counted */
    bool begun;                 /* something has left for this study: its rows stay what they were */
    bool exact;                 /* its sums carry no noise of their own */
    bool allowed;               /* the owner has consented to differences in words */
    bool foreseen;              /* only asked beforehand: nothing is recorded */
    uint64_t minimum;           /* the owner's, of rows */
} tacit_sum_history_rows;

/* Hold the study to its rows, and compare them with those of earlier exact sums. TACIT_REFUSED when they have
 * changed since it began; or when it is exact, not allowed to differ, and either in another exact study's
 * rows except for fewer than the minimum, or such that its sums and those of several earlier studies, added
 * and subtracted in any way, would be about fewer rows than that. */
tacit_status tacit_sum_history_hold_rows(tacit_sum_history *history, const tacit_sum_history_rows *about,
                                         tacit_error *error);

/* The parties whose exact sum this party is to open. */
typedef struct tacit_sum_history_set {
    const char *source, *study;
    const char *coordinator; /* whose studies these keys are of: the fingerprint of its authority */
    const uint8_t (*keys)[32];
    size_t count;
    size_t few; /* a form in this many parties, or fewer, gives one of them away */
    bool allowed;
} tacit_sum_history_set;

/* TACIT_REFUSED when together with earlier sums of the source it would reveal few parties, and that is not
 * allowed. */
tacit_status tacit_sum_history_hold_set(tacit_sum_history *history, const tacit_sum_history_set *about,
                                        tacit_error *error);

/* How many studies have had exact sums of the source, this one apart, and over how many parties the latest
 * one of an earlier version of this study was (0: there is none). `study` without what follows a +. */
tacit_status tacit_sum_history_count(tacit_sum_history *history, const char *source, const char *study,
                                     size_t *others, size_t *parties, tacit_error *error);
