/* Inside secure linear algebra: for src/crypto/secure*.c and their tests only. */
#pragma once

#include "crypto/secure.h"
#include "crypto/triples.h"

/* What an engine does. Sizes have been checked. */
typedef struct tacit_secure_kind {
    tacit_status (*multiply)(tacit_secure *self, tacit_share *out, const tacit_share *a, const tacit_share *b,
                             size_t rows, size_t inner, size_t columns, tacit_error *error);
    tacit_status (*factor)(tacit_secure *self, tacit_factored *factor, const tacit_share *triangle,
                           tacit_error *error);
    tacit_status (*solve)(tacit_secure *self, tacit_share *out, tacit_factored *factor, const tacit_share *b,
                          tacit_error *error);
    tacit_status (*inverse)(tacit_secure *self, tacit_share *out, tacit_factored *factor, tacit_error *error);
} tacit_secure_kind;

extern const tacit_secure_kind tacit_secure_yao, tacit_secure_shares;

/* Masks, and products of masks, for one matrix of this order, and for `solves` solutions with it. Ahead of time. */
typedef struct tacit_material tacit_material;
tacit_status tacit_material_create(tacit_material **out, tacit_secure *self, size_t order, size_t solves,
                                   tacit_error *error);
tacit_material *tacit_material_free(tacit_material *material); /* and those linked to it */
void tacit_material_keep(tacit_material **list, tacit_material *material);

struct tacit_factored {
    const tacit_secure_kind *kind;
    size_t order;
    tacit_wire *wires; /* Yao: the factor */
    size_t wire_count;
    tacit_material *material; /* shares: masks, and what has been opened under them */
};

struct tacit_secure {
    const tacit_secure_kind *kind;
    tacit_secure_engine engine;
    tacit_fixed format;
    tacit_converter converter; /* role, channel, stream, entropy, pool */
    tacit_stream own;
    tacit_builder *builder;
    tacit_triples *triples;   /* shares only */
    tacit_material *prepared; /* what tacit_secure_prepare made and nobody has used */
    tacit_secure_costs costs;
    double ahead; /* of the call of the moment, seconds in making material */
};

double tacit_secure_now(void);

/* A status of the builder, with its error. */
tacit_status tacit_secure_built(const tacit_secure *self, tacit_status status, tacit_error *error);
