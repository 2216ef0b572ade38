/*
 * Text as numbers. A document becomes words: runs of letters, digits and underscores, ASCII letters in lower
 * case, of 2 to 40 bytes; every code point from U+00C0 that is no punctuation counts as a letter, and bytes
 * that are not UTF-8 part words as spaces do. With `grams` 2 each pair of neighbouring words is a term too
 * ("new york"). A vocabulary gives every term a feature, either from a list or by hashing; terms outside the
 * list have none.
 *
 * A list of terms made from private documents tells what stands in them, and so do its document frequencies:
 * in a study both come from public documents, or the terms are hashed, which needs none. tacit_terms makes a
 * list; whose documents it was fed is its caller's business.
 */
#pragma once

#include <stdbool.h>

#include "data/schema/levels.h"

enum { TACIT_WORD_LEAST = 2, TACIT_WORD_MOST = 40 };

typedef enum tacit_strip {
    TACIT_STRIP_NOTHING,
    TACIT_STRIP_FRAME, /* of a news article: header and signature */
    TACIT_STRIP_NEWS,  /* these and quoted lines */
} tacit_strip;

/* "nothing", "frame" or "news"; the second is false for any other name. */
const char *tacit_strip_name(tacit_strip strip);
bool tacit_strip_named(tacit_strip *out, const char *name);

typedef struct tacit_vocabulary {
    unsigned grams; /* 1: words; 2: pairs of words too */
    tacit_strip strip;
    size_t buckets;     /* > 0: terms are hashed into that many features, and there is no list */
    tacit_levels terms; /* else: feature k is term k */
    double *idf;        /* what the counts of each term are multiplied with; NULL: 1 */
} tacit_vocabulary;

#define TACIT_VOCABULARY_INIT                                                                                \
    { 1, TACIT_STRIP_NOTHING, 0, TACIT_LEVELS_INIT, NULL }

size_t tacit_vocabulary_size(const tacit_vocabulary *vocabulary);

/* The most different features that a document of 1 MiB, the longest that is read, can have. */
size_t tacit_vocabulary_most(const tacit_vocabulary *vocabulary);

tacit_status tacit_vocabulary_copy(tacit_vocabulary *out, const tacit_vocabulary *from, tacit_error *error);
void tacit_vocabulary_clear(tacit_vocabulary *vocabulary);

/* Called for each term in order; `term` is borrowed for the call and not terminated. */
typedef tacit_status tacit_term_function(void *context, const char *term, size_t length, tacit_error *error);

/* All terms of a text, whatever its bytes. */
tacit_status tacit_text_terms(const char *text, size_t length, unsigned grams, tacit_strip strip,
                              tacit_term_function *function, void *context, tacit_error *error);

/* A document as features, ascending, without zeros: counts times idf, divided by their norm. All values are
 * positive and the norm is 1, or there are none. */
typedef struct tacit_bag {
    size_t count, capacity;
    uint32_t *feature;
    double *value;
} tacit_bag;

#define TACIT_BAG_INIT                                                                                       \
    { 0, 0, NULL, NULL }

tacit_status tacit_vocabulary_encode(const tacit_vocabulary *vocabulary, const char *text, size_t length,
                                     tacit_bag *out, tacit_error *error);
void tacit_bag_clear(tacit_bag *bag);

/* In how many documents each term occurs. */
typedef struct tacit_terms tacit_terms;

tacit_status tacit_terms_create(tacit_terms **out, unsigned grams, tacit_strip strip, tacit_error *error);

/* One more document. */
tacit_status tacit_terms_add(tacit_terms *terms, const char *text, size_t length, tacit_error *error);

typedef struct tacit_term_limits {
    double lowest, highest; /* share of documents that a term occurs in, both inclusive */
    size_t most;            /* keep only this many, the most frequent ones; 0: all */
} tacit_term_limits;

/* The terms within the limits, in strcmp order, with idf = ln((1 + documents)/(1 + frequency)) + 1.
 * TACIT_INPUT when none is left. */
tacit_status tacit_terms_choose(const tacit_terms *terms, const tacit_term_limits *limits,
                                tacit_vocabulary *out, tacit_error *error);

/* Set the idf of a vocabulary's terms by these documents. */
tacit_status tacit_terms_weigh(const tacit_terms *terms, tacit_vocabulary *vocabulary, tacit_error *error);

tacit_terms *tacit_terms_free(tacit_terms *terms);
