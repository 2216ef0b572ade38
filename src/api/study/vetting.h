/*
 * What is looked at before a study is added, wherever it comes from: is it hopeless by public numbers, and
 * what is it expected to be worth? Nothing here asks a party anything.
 */
#pragma once

#include "model/model.h"
#include "study/study.h"
#include "tacit/tacit.h"

typedef enum tacit_saying {
    TACIT_SAY_EXPECTED, /* what comes out of it */
    TACIT_SAY_NOTE,
    TACIT_SAY_WARNING,
} tacit_saying;

typedef struct tacit_vetting {
    const tacit_model *described; /* a report of the rows; NULL: none */
    double signal;                /* the AUC of a model of unlimited rows; 0: the usual one */
    bool forced;                  /* add it also if it is expected to be worth nothing */
    const tacit_progress *progress;
    /* Told one line at a time. */
    void (*say)(void *context, tacit_saying kind, const char *line);
    void *context;
} tacit_vetting;

/* Whether there is a model whose worth can be foreseen, and rows that it is foreseen for. */
bool tacit_study_is_foreseen(const tacit_study *study);

/* Takes over a lambda that does better, where the definition has none, and the rounds and rates that it
 * leaves to the method. A study without expected_rows is foreseen for its parties times minimum_rows, which
 * is said. TACIT_REFUSED for a study that is hopeless, unless forced; one that would be hopeless with the
 * fewest rows that it takes is only warned of, and where forced not even
 * played. */
tacit_status tacit_study_vet(tacit_study *study, const tacit_vetting *how, tacit_error *error);
