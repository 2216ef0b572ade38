/* The rows a simulation works on: read, some kept for testing, some made public, the rest dealt out to parties. */
#pragma once

#include "cli/arguments.h"
#include "cli/console.h"
#include "data/split.h"
#include "session/local.h"

typedef struct tacit_deal {
    tacit_dataset *data;
    tacit_dataset *test_data;   /* NULL when test rows were held out of `data` */
    tacit_dataset *aux_data;    /* NULL when auxiliary rows were, or there are none */
    tacit_dataset *target_data; /* of --target; NULL without */
    tacit_schema *schema;       /* the one given, or drafted from the rows: see data->bounds_from_data */
    tacit_split *kept;          /* rows left by --undersample; NULL: all */
    tacit_split *holdout;
    tacit_split *parties;
    tacit_view test;
    tacit_view auxiliary; /* no rows when there are none */
    tacit_party_range
        range; /* on several ranks: the parties of this one. Rows of others are not here, and those to test on at rank 0 only */
    size_t empty_groups; /* values of --split by:COLUMN that only test rows have; they are no parties */
} tacit_deal;

#define TACIT_DEAL_INIT                                                                                      \
    { .data = NULL }

/* As --train, --schema, --test, --test-fraction, --aux, --aux-fraction, --parties, --split, --together and --undersample say. All chance comes from `seed`. On each
 * rank of the console's. */
tacit_status tacit_deal_make(tacit_deal *out, const tacit_arguments *arguments, tacit_console *console,
                             uint64_t seed, tacit_error *error);
void tacit_deal_clear(tacit_deal *deal);

/* Rows of the smallest and the largest party. */
void tacit_deal_range(const tacit_deal *deal, size_t *least, size_t *most);
