/* What a study will be worth, as `tacit plan` says it (lab/planning.h). */
#pragma once

#include "api/document/json_text.h"
#include "api/option/arguments.h"
#include "lab/planning.h"
#include "study/study.h"

/* Rows and schema of a plan, and what came of it. */
typedef struct tacit_planning {
    tacit_study *study; /* NULL: the numbers were given one by one */
    tacit_schema *schema;
    tacit_dataset *like, *own;
    tacit_model *described; /* a report of the rows; NULL: none */
    const tacit_method **methods;
    tacit_pool *pool;
    bool rows_guessed; /* the study expects no number of rows: its parties times their least */
    tacit_outlook_request request;
    tacit_outlook outlook;
} tacit_planning;

#define TACIT_PLANNING_INIT                                                                                  \
    { .study = NULL, .outlook = TACIT_OUTLOOK_INIT }

/* Do what `arguments`, of tacit_plan_options, say. */
tacit_status tacit_planning_make(tacit_planning *out, const tacit_arguments *arguments,
                                 const tacit_progress *progress, tacit_error *error);
void tacit_planning_clear(tacit_planning *planning);

/* What a study that is defined will be worth by its own method, briefly. `own`: rows of one of its owners,
 * who alone sees the outcome; NULL: only public numbers count. `signal` and share of `positives` 0: the usual
 * ones. TACIT_USAGE for a method without noise, and where the study expects no number of rows. */
tacit_status tacit_study_outlook(tacit_outlook *out, const tacit_study *study, const tacit_dataset *own,
                                 double signal, double positives, tacit_pool *pool,
                                 const tacit_progress *progress, tacit_error *error);

/* The document of `tacit plan --json`; NULL: out of memory. */
json_t *tacit_outlook_document(const tacit_outlook *outlook);
