/*
 * What may be said of a paper once its experiment has been run again: of each printed number, and of each claim
 * in words that can be put as "this curve lies above that one".
 */
#pragma once

#include "lab/reproduce/reproduce.h"

typedef enum tacit_paper_verdict {
    TACIT_PAPER_NONE,     /* the paper prints no number here */
    TACIT_PAPER_NOT_RUN,  /* nothing of ours to compare: a longer run has it, or no method of ours */
    TACIT_PAPER_PRINTED,  /* as printed */
    TACIT_PAPER_BETTER,   /* further off than that, on the good side */
    TACIT_PAPER_OTHERWISE /* not reproducible; the experiment or the claim says why */
} tacit_paper_verdict;

/* "as printed", "better", "not reproducible", "not run"; "" where nothing is printed. */
const char *tacit_paper_verdict_text(tacit_paper_verdict verdict);

/* As printed: no further from the printed number than two standard deviations of our trials, or than .02 where
 * the figure shows shares (accuracy, error, AUC); other numbers must agree in the digits that are printed. */
tacit_paper_verdict tacit_finding_verdict(const tacit_experiment *experiment, const tacit_finding *finding);

typedef struct tacit_claim_outcome {
    tacit_paper_verdict verdict;
    size_t held, cases;
    double above, below; /* of the first case that does not hold, or of the first; with what the claim adds */
} tacit_claim_outcome;

/* Compares means, setup by setup and epsilon by epsilon, among those that have been run. */
tacit_claim_outcome tacit_claim_check(const tacit_reproduction *result, const tacit_claim *claim);
