/*
 * A private model of one owner's rows, released for good: no coordinator, no study. The same method code,
 * gate and ledger as in a study, with the owner as the only party, exact noise from the operating system, and
 * a durable charge before anything is handed out.
 */
#pragma once

#include "model/model.h"
#include "privacy/ledger/ledger.h"
#include "session/method.h"

/* All borrowed. */
typedef struct tacit_fit_settings {
    const char *home;             /* the owner's folder, with the ledger */
    const char *data;             /* file with the rows */
    const char *schema;           /* what is public about the columns */
    const char *terms;            /* a formula over them; NULL: as the schema says */
    const char *subset;           /* which rows; NULL: as the schema says */
    const char *source;           /* the data source as the ledger calls it */
    const char *label, *positive; /* as for reading any file; NULL: as the schema says */
    bool no_header;
    const char *candidates; /* lambdas to choose from, "l1,l2,..."; NULL: the plan's */
    /* file with public rows and labels to choose on; NULL: the choice is private and paid for */
    const char *public_rows;
    const tacit_plan *plan; /* method, its settings, epsilon, delta, lambda; the rest follows from the rows */
    const tacit_progress *progress;
} tacit_fit_settings;

typedef struct tacit_fit_result {
    tacit_model *model; /* with encoding and guarantee */
    size_t rows;
    size_t persons;            /* where they are protected, with all of their rows; 0: rows are */
    uint64_t left_out, filled; /* rows that are incomplete, missing cells of the others: for their owner */
    bool again; /* the same request on the same rows was answered before: the same bytes, no new charge */
    tacit_account account; /* of the data source, afterwards, in the unit that was charged */
} tacit_fit_result;

/* The same of rows that are in memory. All borrowed. */
typedef struct tacit_fit_job {
    const tacit_dataset *rows;
    const tacit_schema *schema; /* by which they were encoded */
    const char *candidates;     /* as above; the choice is private and paid for */
    const tacit_plan *plan;
    tacit_ledger *ledger; /* NULL: nobody keeps count but the caller, and nothing is remembered */
    bool simulated;       /* noise from `seed`, without a ledger: protects nobody */
    uint64_t seed;
    tacit_pool *pool;
    const tacit_progress *progress;
} tacit_fit_job;

#define TACIT_FIT_RESULT_INIT                                                                                \
    { .model = NULL }

/* Fit, charge, and only then hand the model out. The answer's id is a hash of the encoded rows and of
 * everything that was asked for, so that whoever loses the model asks again and gets it without a second
 * charge.
 *
 * TACIT_USAGE: a plan that the method does not accept, or a method that needs others. TACIT_REFUSED, with the
 * remedy: no limit set, not enough left, too few rows. */
tacit_status tacit_fit(tacit_fit_result *out, const tacit_fit_settings *settings, tacit_error *error);

/* With a ledger, as above. Without, the noise is exact all the same, and the guarantee inside the model says
 * what it costs; account and `again` stay empty. Where something of the schema was read off rows, or the
 * noise is simulated, the model says that nothing is promised, and why; with a ledger, which would tell
 * otherwise, TACIT_REFUSED for the former and TACIT_USAGE for the latter. */
tacit_status tacit_fit_rows(tacit_fit_result *out, const tacit_fit_job *job, tacit_error *error);

void tacit_fit_result_clear(tacit_fit_result *result);
