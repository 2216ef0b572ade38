/*
 * What may be said of a paper once its experiment has been run again: of each printed number, and of each
 * claim in words that can be put as "this curve lies above that one".
 */
#pragma once

#include "lab/reproduce/reproduce.h"

typedef enum tacit_paper_verdict {
    TACIT_PAPER_NONE,      /* the paper prints no number here */
    TACIT_PAPER_NOT_RUN,   /* nothing of ours to compare: a longer run has it, or no method of ours */
    TACIT_PAPER_PRINTED,   /* as printed */
    TACIT_PAPER_BETTER,    /* further off than that, on the good side */
    TACIT_PAPER_OTHERWISE, /* not reproducible; the experiment or the claim says why */
    TACIT_PAPER_HOLDS,     /* a claim of ours, which no paper prints */
    TACIT_PAPER_FAILS,     /* it does not hold; the claim says why */
    TACIT_PAPER_VERDICTS
} tacit_paper_verdict;

/* "as printed", "better", "not reproducible", "not run"; of claims of ours "holds", "does not hold"; "" where
 * nothing is printed. */
const char *tacit_paper_verdict_text(tacit_paper_verdict verdict);

/* Whether a reason is due. */
static inline bool tacit_verdict_is_against(tacit_paper_verdict verdict) {
    return verdict == TACIT_PAPER_OTHERWISE || verdict == TACIT_PAPER_FAILS;
}

/* As printed: no further from the printed number than .02 where the figure shows shares (accuracy, error,
 * AUC), or than two standard deviations of our trials, though never than .05, which two draws far apart would
 * allow; other numbers must agree in the digits that are printed, or within two standard deviations. */
tacit_paper_verdict tacit_finding_verdict(const tacit_experiment *experiment, const tacit_finding *finding);

typedef struct tacit_claim_outcome {
    tacit_paper_verdict verdict;
    size_t held, cases;
    double above, below; /* of the first case that does not hold, or of the first, as they were measured */
} tacit_claim_outcome;

/* Compares means, setup by setup and epsilon by epsilon, among those that have been run. */
tacit_claim_outcome tacit_claim_check(const tacit_reproduction *result, const tacit_claim *claim);
