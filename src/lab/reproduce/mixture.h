/*
 * Documents of several domains, dealt out to sources, a public set, a target that mixes the domains, and a
 * test set (Wang 2018, section 4.4).
 */
#pragma once

#include "lab/reproduce/reproduce.h"

enum { TACIT_MIXTURE_SOURCES = 5, TACIT_MIXTURE_DIMENSIONS = 50 };

/* How many documents go where, before the target's mixture. */
typedef struct tacit_mixture_sizes {
    size_t sources;
    size_t unlabelled, labelled; /* of each source */
    size_t public_each;          /* of each domain */
    size_t target, test;
} tacit_mixture_sizes;

/* 20 Newsgroups in the five domains of table 4.1, and the reviews of four kinds of products; class 2 * domain
 * + positive. */
extern const tacit_data_file tacit_mixture_news_files[], tacit_mixture_amazon_files[];
tacit_status tacit_mixture_read_news(tacit_material *out, const tacit_reading_context *context,
                                     tacit_error *error);
tacit_status tacit_mixture_read_amazon(tacit_material *out, const tacit_reading_context *context,
                                       tacit_error *error);

/* One draw: who has which documents, full width and projected on the public ones. */
typedef struct tacit_mixture {
    tacit_dataset *wide, *narrow; /* all documents, with classes 0 and 1 */
    tacit_schema *schema;         /* says that no feature of `wide` is negative */
    uint32_t *index;              /* sources one after the other, then public, target and test documents */
    size_t start[TACIT_MIXTURE_SOURCES + 1];
    size_t public_at, target_at, test_at, end;
} tacit_mixture;

#define TACIT_MIXTURE_INIT                                                                                   \
    { .wide = NULL }

/* Deal out `all`, as one of the readers made it, to a target that mixes the domains so. Clear it also after a
 * failure. */
tacit_status tacit_mixture_make(tacit_mixture *self, const tacit_dataset *all, const tacit_mixture_sizes *how,
                                const double *mixture, uint64_t seed, tacit_error *error);
void tacit_mixture_clear(tacit_mixture *self);
