/* The rows a simulation works on: read, some kept for testing, some made public, the rest dealt out to
 * parties. */
#pragma once

#include "api/option/arguments.h"
#include "data/split.h"
#include "session/local/local.h"

typedef struct tacit_partition {
    const tacit_dataset *data;        /* all rows are borrowed */
    const tacit_dataset *test_data;   /* NULL when test rows are to be held out of `data` */
    const tacit_dataset *aux_data;    /* NULL when auxiliary rows are, or there are none */
    const tacit_dataset *target_data; /* of a coordinator with rows of its own; NULL without */
    const tacit_schema *schema;       /* of the rows */
    const int32_t *site; /* of each row of `data`, where parties bring files of their own; else NULL */
    size_t groups;       /* of `data`, or sites; 0: none */
    bool grouped;        /* rows of a group stay together, and parties have several groups */
    tacit_split *kept;   /* rows left by --undersample; NULL: all */
    tacit_split *holdout;
    tacit_split *parties;
    tacit_view test;
    uint32_t *labelled;   /* the stored rows of `test`, where others have no label; NULL: all have one */
    tacit_view auxiliary; /* no rows when there are none */
    /* on several ranks: the parties of this one. Rows of others are not here, and those to test on at rank 0
     * only */
    tacit_party_range range;
    size_t empty_groups; /* values of --split by:COLUMN that only test rows have; they are no parties */
} tacit_partition;

#define TACIT_PARTITION_INIT                                                                                 \
    { .data = NULL }

/* Hold rows out and deal the others to parties, as --test-fraction, --aux-fraction, --parties and
 * --undersample say, by `plan`; rows, schema and groups are there. All chance comes from `seed`. */
tacit_status tacit_partition_make(tacit_partition *partition, const tacit_arguments *arguments,
                                  const tacit_split_plan *plan, uint64_t seed, tacit_error *error);
void tacit_partition_clear(tacit_partition *partition);

/* After the deal was made from a data set without features, `*data`: read `path` again as `options` say, into
 * `*data`, and keep what this rank needs. */
tacit_status tacit_partition_load_own(tacit_partition *partition, tacit_dataset **data, const char *path,
                                      const tacit_load_options *options, tacit_ranks *ranks,
                                      tacit_error *error);

/* Rows of the smallest and the largest party. */
void tacit_partition_range(const tacit_partition *partition, size_t *least, size_t *most);
