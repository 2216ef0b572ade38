#include "data/schema/vocabulary.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

size_t tacit_vocabulary_size(const tacit_vocabulary *vocabulary) {
    return vocabulary->buckets > 0 ? vocabulary->buckets : vocabulary->terms.count;
}

size_t tacit_vocabulary_most(const tacit_vocabulary *vocabulary) {
    size_t terms = vocabulary->grams * ((size_t)1 << 20) / TACIT_WORD_LEAST;
    return terms < tacit_vocabulary_size(vocabulary) ? terms : tacit_vocabulary_size(vocabulary);
}

void tacit_vocabulary_clear(tacit_vocabulary *vocabulary) {
    if (vocabulary == NULL) return;
    tacit_levels_clear(&vocabulary->terms);
    free(vocabulary->idf);
    *vocabulary = (tacit_vocabulary)TACIT_VOCABULARY_INIT;
}

tacit_status tacit_vocabulary_copy(tacit_vocabulary *out, const tacit_vocabulary *from, tacit_error *error) {
    tacit_vocabulary copy = { from->grams, from->strip, from->buckets, TACIT_LEVELS_INIT, NULL };
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_levels_copy(&copy.terms, &from->terms, error));
    if (from->idf != NULL) {
        copy.idf = TACIT_NEW(double, from->terms.count);
        if (copy.idf == NULL) TACIT_CHECK(tacit_fail_memory(error));
        memcpy(copy.idf, from->idf, from->terms.count * sizeof *copy.idf);
    }
    *out = copy;
    return TACIT_OK;
cleanup:
    tacit_vocabulary_clear(&copy);
    return status;
}

void tacit_bag_clear(tacit_bag *bag) {
    if (bag == NULL) return;
    free(bag->feature);
    free(bag->value);
    *bag = (tacit_bag)TACIT_BAG_INIT;
}

/* The features of a document's terms, with repetitions. */
typedef struct counting {
    const tacit_vocabulary *vocabulary;
    tacit_bag *bag;
} counting;

static tacit_status grow_bag(tacit_bag *bag, tacit_error *error) {
    size_t capacity = bag->capacity > 0 ? 2 * bag->capacity : 256;
    uint32_t *feature = tacit_grow(bag->feature, capacity, sizeof *feature);
    if (feature == NULL) return tacit_fail_memory(error);
    bag->feature = feature;
    double *value = tacit_grow(bag->value, capacity, sizeof *value);
    if (value == NULL) return tacit_fail_memory(error);
    bag->value = value;
    bag->capacity = capacity;
    return TACIT_OK;
}

/* FNV-1a, finished by a multiplication (Stafford's mix 13) so that the low bits depend on all of it. Part of
 * what a schema means, so it never changes. */
static uint64_t hash_term(const char *term, size_t length) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++) hash = (hash ^ (uint8_t)term[i]) * UINT64_C(1099511628211);
    hash = (hash ^ hash >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94D049BB133111EB);
    return hash ^ hash >> 31;
}

static tacit_status count_term(void *context, const char *term, size_t length, tacit_error *error) {
    counting *work = context;
    int64_t feature = work->vocabulary->buckets > 0
                          ? (int64_t)(hash_term(term, length) % work->vocabulary->buckets)
                          : tacit_levels_find(&work->vocabulary->terms, term, length);
    if (feature < 0) return TACIT_OK;
    if (work->bag->count == work->bag->capacity) TACIT_TRY(grow_bag(work->bag, error));
    work->bag->feature[work->bag->count++] = (uint32_t)feature;
    return TACIT_OK;
}

static int compare_features(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

tacit_status tacit_vocabulary_encode(const tacit_vocabulary *vocabulary, const char *text, size_t length,
                                     tacit_bag *out, tacit_error *error) {
    counting work = { vocabulary, out };
    out->count = 0;
    TACIT_TRY(tacit_text_terms(text, length, vocabulary->grams, vocabulary->strip, count_term, &work, error));
    if (out->count == 0) return TACIT_OK;
    qsort(out->feature, out->count, sizeof *out->feature, compare_features);
    size_t kept = 0;
    double square = 0;
    for (size_t i = 0; i < out->count;) {
        size_t first = i;
        uint32_t feature = out->feature[first];
        while (i < out->count && out->feature[i] == feature) i++;
        double weight = (double)(i - first) * (vocabulary->idf != NULL ? vocabulary->idf[feature] : 1);
        out->feature[kept] = feature;
        out->value[kept++] = weight;
        square += weight * weight;
    }
    for (size_t k = 0; k < kept; k++) out->value[k] /= sqrt(square);
    out->count = kept;
    return TACIT_OK;
}

struct tacit_terms {
    unsigned grams;
    tacit_strip strip;
    size_t documents;
    tacit_levels levels;
    size_t capacity;
    uint32_t *frequency; /* documents that hold the term */
    size_t *last;        /* the document that counted it last, from 1 */
};

tacit_status tacit_terms_create(tacit_terms **out, unsigned grams, tacit_strip strip, tacit_error *error) {
    tacit_terms *terms = TACIT_NEW(tacit_terms, 1);
    if (terms == NULL) return tacit_fail_memory(error);
    terms->grams = grams;
    terms->strip = strip;
    *out = terms;
    return TACIT_OK;
}

tacit_terms *tacit_terms_free(tacit_terms *terms) {
    if (terms == NULL) return NULL;
    tacit_levels_clear(&terms->levels);
    free(terms->frequency);
    free(terms->last);
    free(terms);
    return NULL;
}

static tacit_status note_term(void *context, const char *term, size_t length, tacit_error *error) {
    tacit_terms *terms = context;
    int32_t code = 0;
    size_t before = terms->levels.count;
    TACIT_TRY(tacit_levels_add(&terms->levels, term, length, &code, error));
    if (terms->levels.count > terms->capacity) {
        size_t capacity = 2 * terms->capacity + 1024;
        uint32_t *frequency = tacit_grow(terms->frequency, capacity, sizeof *frequency);
        if (frequency == NULL) return tacit_fail_memory(error);
        terms->frequency = frequency;
        size_t *last = tacit_grow(terms->last, capacity, sizeof *last);
        if (last == NULL) return tacit_fail_memory(error);
        terms->last = last;
        terms->capacity = capacity;
    }
    if (terms->levels.count > before) terms->frequency[code] = 0;
    if (terms->levels.count > before || terms->last[code] != terms->documents) terms->frequency[code]++;
    terms->last[code] = terms->documents;
    return TACIT_OK;
}

tacit_status tacit_terms_add(tacit_terms *terms, const char *text, size_t length, tacit_error *error) {
    terms->documents++;
    return tacit_text_terms(text, length, terms->grams, terms->strip, note_term, terms, error);
}

typedef struct ranked {
    const char *text;
    uint32_t frequency;
} ranked;

static int by_frequency(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->frequency != y->frequency) return x->frequency < y->frequency ? 1 : -1;
    return strcmp(x->text, y->text);
}

static int by_text(const void *a, const void *b) {
    return strcmp(((const ranked *)a)->text, ((const ranked *)b)->text);
}

static double inverse_frequency(const tacit_terms *terms, uint32_t frequency) {
    return log((1 + (double)terms->documents) / (1 + (double)frequency)) + 1;
}

tacit_status tacit_terms_weigh(const tacit_terms *terms, tacit_vocabulary *vocabulary, tacit_error *error) {
    double *idf = TACIT_NEW(double, vocabulary->terms.count);
    if (idf == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < vocabulary->terms.count; i++) {
        const char *text = vocabulary->terms.text[i];
        int32_t code = tacit_levels_find(&terms->levels, text, strlen(text));
        idf[i] = inverse_frequency(terms, code >= 0 ? terms->frequency[code] : 0);
    }
    free(vocabulary->idf);
    vocabulary->idf = idf;
    return TACIT_OK;
}

tacit_status tacit_terms_choose(const tacit_terms *terms, const tacit_term_limits *limits,
                                tacit_vocabulary *out, tacit_error *error) {
    tacit_vocabulary chosen = { terms->grams, terms->strip, 0, TACIT_LEVELS_INIT, NULL };
    ranked *kept = TACIT_NEW(ranked, terms->levels.count + 1);
    tacit_status status = TACIT_OK;
    size_t count = 0;
    if (kept == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t i = 0; i < terms->levels.count; i++) {
        double share = (double)terms->frequency[i] / (double)terms->documents;
        if (share >= limits->lowest && share <= limits->highest)
            kept[count++] = (ranked){ terms->levels.text[i], terms->frequency[i] };
    }
    if (count == 0)
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT,
                               "no term occurs in %g%% to %g%% of the %zu documents; widen the limits",
                               100 * limits->lowest, 100 * limits->highest, terms->documents));
    if (limits->most > 0 && count > limits->most) {
        qsort(kept, count, sizeof *kept, by_frequency);
        count = limits->most;
    }
    qsort(kept, count, sizeof *kept, by_text);
    for (size_t i = 0; i < count; i++)
        TACIT_CHECK(tacit_levels_add(&chosen.terms, kept[i].text, strlen(kept[i].text), NULL, error));
    TACIT_CHECK(tacit_terms_weigh(terms, &chosen, error));
    *out = chosen;
    chosen = (tacit_vocabulary)TACIT_VOCABULARY_INIT;
cleanup:
    tacit_vocabulary_clear(&chosen);
    free(kept);
    return status;
}
