#include "lab/reproduce/corpus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void tacit_corpus_clear(tacit_corpus *corpus) {
    tacit_levels_clear(&corpus->terms);
    tacit_row_builder_clear(&corpus->counts);
    tacit_bag_clear(&corpus->bag);
}

tacit_status tacit_corpus_term(tacit_corpus *corpus, const char *term, size_t length, double count,
                               tacit_error *error) {
    tacit_bag *bag = &corpus->bag;
    int32_t code = 0;
    TACIT_TRY(tacit_levels_add(&corpus->terms, term, length, &code, error));
    if (bag->count == bag->capacity) {
        size_t capacity = 2 * bag->capacity + 256;
        uint32_t *feature = tacit_grow(bag->feature, capacity, sizeof *feature);
        if (feature == NULL) return tacit_fail_memory(error);
        bag->feature = feature;
        double *value = tacit_grow(bag->value, capacity, sizeof *value);
        if (value == NULL) return tacit_fail_memory(error);
        bag->value = value;
        bag->capacity = capacity;
    }
    bag->feature[bag->count] = (uint32_t)code;
    bag->value[bag->count++] = count;
    return TACIT_OK;
}

typedef struct entry {
    uint32_t feature;
    double value;
} entry;

static int by_feature(const void *a, const void *b) {
    uint32_t x = ((const entry *)a)->feature, y = ((const entry *)b)->feature;
    return (x > y) - (x < y);
}

tacit_status tacit_corpus_end_document(tacit_corpus *corpus, size_t domain, int positive,
                                       tacit_error *error) {
    tacit_bag *bag = &corpus->bag;
    entry *entries = TACIT_NEW(entry, bag->count + 1);
    tacit_status status = TACIT_OK;
    if (entries == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t i = 0; i < bag->count; i++) entries[i] = (entry){ bag->feature[i], bag->value[i] };
    qsort(entries, bag->count, sizeof *entries, by_feature);
    for (size_t i = 0; i < bag->count;) {
        double count = 0;
        uint32_t feature = entries[i].feature;
        for (; i < bag->count && entries[i].feature == feature; i++) count += entries[i].value;
        TACIT_CHECK(tacit_row_builder_entry(&corpus->counts, feature, count, error));
    }
    bag->count = 0;
    TACIT_CHECK(tacit_row_builder_end_row(&corpus->counts, (int32_t)(2 * domain) + (positive != 0), error));
cleanup:
    free(entries);
    return status;
}

/* What is known of a term in one domain. */
typedef struct usage {
    uint32_t term;
    double documents, occurrences;
} usage;

static int by_occurrences(const void *a, const void *b) {
    const usage *x = a, *y = b;
    if (x->occurrences != y->occurrences) return x->occurrences < y->occurrences ? 1 : -1;
    return (x->term > y->term) - (x->term < y->term);
}

/* Mark the terms that a domain brings in. */
static tacit_status choose_terms(const tacit_corpus *corpus, size_t domain, const tacit_corpus_rule *rule,
                                 bool *chosen, tacit_error *error) {
    const tacit_row_builder *builder = &corpus->counts;
    usage *all = TACIT_NEW(usage, corpus->terms.count + 1);
    size_t documents = 0, kept = 0;
    if (all == NULL) return tacit_fail_memory(error);
    for (size_t j = 0; j < corpus->terms.count; j++) all[j].term = (uint32_t)j;
    for (size_t i = 0; i < builder->rows; i++) {
        if ((size_t)builder->label[i] / 2 != domain) continue;
        documents++;
        for (size_t e = builder->start[i]; e < builder->start[i + 1]; e++) {
            all[builder->column[e]].documents++;
            all[builder->column[e]].occurrences += builder->value[e];
        }
    }
    for (size_t j = 0; j < corpus->terms.count; j++) {
        double share = all[j].documents / fmax(1, (double)documents);
        if (all[j].documents > 0 && share >= rule->lowest && share <= rule->highest) all[kept++] = all[j];
    }
    if (rule->most > 0 && kept > rule->most) {
        qsort(all, kept, sizeof *all, by_occurrences);
        kept = rule->most;
    }
    for (size_t j = 0; j < kept; j++) chosen[all[j].term] = true;
    free(all);
    return TACIT_OK;
}

/* ln((1 + documents)/(1 + frequency)) + 1 of each term, over all domains. */
static tacit_status weigh(const tacit_row_builder *builder, size_t terms, double **out, tacit_error *error) {
    double *idf = TACIT_NEW(double, terms + 1);
    if (idf == NULL) return tacit_fail_memory(error);
    for (size_t e = 0; e < builder->entries; e++) idf[builder->column[e]]++;
    for (size_t j = 0; j < terms; j++) idf[j] = log((1 + (double)builder->rows) / (1 + idf[j])) + 1;
    *out = idf;
    return TACIT_OK;
}

static tacit_status add_row(tacit_row_builder *to, const tacit_row_builder *from, size_t row,
                            const bool *chosen, const uint32_t *place, const double *idf,
                            tacit_error *error) {
    static const double INSIDE = 1 - 1e-12;
    size_t end = from->start[row + 1];
    double square = 0;
    for (size_t e = from->start[row]; e < end; e++) {
        double value = from->value[e] * idf[from->column[e]];
        if (chosen[from->column[e]]) square += value * value;
    }
    for (size_t e = from->start[row]; e < end; e++)
        if (chosen[from->column[e]])
            TACIT_TRY(tacit_row_builder_entry(to, place[from->column[e]],
                                              INSIDE * from->value[e] * idf[from->column[e]] / sqrt(square),
                                              error));
    return tacit_row_builder_end_row(to, from->label[row], error);
}

tacit_status tacit_corpus_finish(tacit_dataset **out, tacit_corpus *corpus, size_t domains,
                                 const tacit_corpus_rule *rule, tacit_error *error) {
    enum { MOST_DOMAINS = 8 };
    size_t terms = corpus->terms.count, features = 0;
    bool *chosen = TACIT_NEW(bool, terms + 1);
    uint32_t *place = TACIT_NEW(uint32_t, terms + 1);
    double *idf = NULL;
    tacit_row_builder rows = TACIT_ROW_BUILDER_INIT;
    char names[2 * MOST_DOMAINS][24];
    const char *classes[2 * MOST_DOMAINS];
    tacit_status status = TACIT_OK;
    if (chosen == NULL || place == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t k = 0; k < domains; k++) TACIT_CHECK(choose_terms(corpus, k, rule, chosen, error));
    for (size_t j = 0; j < terms; j++) {
        place[j] = (uint32_t)features;
        features += chosen[j];
    }
    TACIT_CHECK(weigh(&corpus->counts, terms, &idf, error));
    for (size_t i = 0; i < corpus->counts.rows; i++)
        TACIT_CHECK(add_row(&rows, &corpus->counts, i, chosen, place, idf, error));
    for (size_t k = 0; k < 2 * domains; k++) {
        snprintf(names[k], sizeof names[k], "%zu%c", k / 2 + 1, k % 2 == 1 ? '+' : '-');
        classes[k] = names[k];
    }
    TACIT_CHECK(tacit_row_builder_finish(out, &rows, features, classes, 2 * domains, error));
cleanup:
    tacit_row_builder_clear(&rows);
    free(chosen);
    free(place);
    free(idf);
    return status;
}
