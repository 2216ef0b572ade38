/* Documents of several domains as one sparse dataset of normalised tf-idf, for the experiments on texts. */
#pragma once

#include "data/schema/vocabulary.h"
#include "lab/reproduce/material.h"

/* How terms are chosen: those that some domain has in [lowest, highest] of its documents, at most `most` of
 * each domain, by how often they occur there (0: all). */
typedef struct tacit_corpus_rule {
    double lowest, highest;
    size_t most;
} tacit_corpus_rule;

/* Terms and counts of documents, piling up. */
typedef struct tacit_corpus {
    tacit_levels terms;
    tacit_row_builder counts; /* label: 2 * domain + class */
    tacit_bag bag;            /* terms of the document at hand */
} tacit_corpus;

#define TACIT_CORPUS_INIT                                                                                    \
    { TACIT_LEVELS_INIT, TACIT_ROW_BUILDER_INIT, TACIT_BAG_INIT }

/* One term of the document at hand, `count` times. */
tacit_status tacit_corpus_term(tacit_corpus *corpus, const char *term, size_t length, double count,
                               tacit_error *error);
tacit_status tacit_corpus_end_document(tacit_corpus *corpus, size_t domain, int positive, tacit_error *error);

/* Rows of norm 1 without negative features; class 2 * domain + positive. The corpus is empty then. */
tacit_status tacit_corpus_finish(tacit_dataset **out, tacit_corpus *corpus, size_t domains,
                                 const tacit_corpus_rule *rule, tacit_error *error);
void tacit_corpus_clear(tacit_corpus *corpus);
