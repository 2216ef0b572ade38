/* Inside secure linear algebra: for src/crypto/secure*.c and their tests only. */
#pragma once

#include "crypto/linear/secure.h"
#include "crypto/share/triples.h"

/* What an engine does. Sizes have been checked. */
typedef struct tacit_secure_kind {
    tacit_status (*multiply)(tacit_secure *self, tacit_share *out, const tacit_share *a, const tacit_share *b,
                             size_t rows, size_t inner, size_t columns, tacit_error *error);
    tacit_status (*scale_rows)(tacit_secure *self, tacit_share *out, const tacit_share *factors,
                               const tacit_share *b, size_t rows, size_t columns, tacit_error *error);
    tacit_status (*factor)(tacit_secure *self, tacit_factored *factor, const tacit_share *triangle,
                           tacit_error *error);
    tacit_status (*solve)(tacit_secure *self, tacit_share *out, tacit_factored *factor, const tacit_share *b,
                          tacit_error *error);
    tacit_status (*inverse)(tacit_secure *self, tacit_share *out, tacit_factored *factor, tacit_error *error);
} tacit_secure_kind;

extern const tacit_secure_kind tacit_secure_yao, tacit_secure_shares;

/* ---- what shares need ahead of time (secure_material.c) ---- */

/* Numbers that are multiplied: their masks, and what was opened of them. */
typedef struct tacit_masked {
    tacit_share *mask, *open;
} tacit_masked;

/* For one matrix of order d. Matrices are whole squares by columns, entry (i, j) at tacit_square; zero above
 * the diagonal. */
typedef struct tacit_material {
    struct tacit_material *next;
    size_t order;

    tacit_share *memory; /* of what follows */
    size_t size;
    tacit_masked factor, product, pivot; /* L, c = L D and r = 1 / D: masks U, V, s */
    tacit_share *t, *s;                  /* sum_{k<j} U_ik V_jk; V_ij s_j */
    tacit_share *value;                  /* the shares of L, and r on the diagonal */

    bool has_substitution, substituted; /* made; used up */
    tacit_masked forward, back;         /* y = L^-1 b and x: masks p, q */
    tacit_share *forward_product;       /* sum_{k<i} U_ik p_k */
    tacit_share *pivot_product;         /* s_i p_i */
    tacit_share *back_product;          /* sum_{k>i} U_ki q_k */

    tacit_share *inverse_memory; /* of what follows; NULL until it is made */
    size_t inverse_size;
    bool inverted, is_open;
    tacit_masked inverse_factor, scaled, inverse; /* M = L^-1, N = D^-1 M and A^-1: masks Q, P, W */
    tacit_share *x, *y, *z;                       /* sum_{j<k<i} U_ik Q_kj; s_k Q_kj; sum_{k>i} Q_ki P_kj */
    tacit_share *result;                          /* the shares of A^-1 */

    tacit_share *vectors; /* masks of right-hand sides, then W times them */
    size_t vector_count, vectors_used;
} tacit_material;

static inline size_t tacit_square(size_t order, size_t row, size_t column) { return column * order + row; }

/* For a factorisation and `solves` solutions: the first by substitution, the others with the inverse. */
tacit_status tacit_material_create(tacit_material **out, tacit_secure *self, size_t order, size_t solves,
                                   tacit_error *error);
tacit_material *tacit_material_free(tacit_material *material); /* and those linked to it */
void tacit_material_keep(tacit_material **list, tacit_material *material);
/* The first of this order, taken out of the list; NULL when there is none. */
tacit_material *tacit_material_take(tacit_material **list, size_t order);

/* What is missing is made now. */
tacit_status tacit_material_need_substitution(tacit_secure *self, tacit_material *material,
                                              tacit_error *error);
tacit_status tacit_material_need_inverse(tacit_secure *self, tacit_material *material, tacit_error *error);
tacit_status tacit_material_need_vector(tacit_secure *self, tacit_material *material, tacit_error *error);

/* Masks of a (rows x inner) and b (inner x columns), by rows, and their product. */
tacit_status tacit_material_product(tacit_secure *self, tacit_share *a_mask, tacit_share *b_mask,
                                    tacit_share *product, size_t rows, size_t inner, size_t columns,
                                    tacit_error *error);

/* Masks of `rows` factors and of b (rows x columns), and of each row their product. */
tacit_status tacit_material_rows(tacit_secure *self, tacit_share *factor_mask, tacit_share *b_mask,
                                 tacit_share *product, size_t rows, size_t columns, tacit_error *error);

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
    size_t factor_width, solution_width; /* at most the format's */
    tacit_converter converter;           /* role, channel, stream, entropy, pool */
    tacit_stream own;
    tacit_builder *builder;
    tacit_triples *triples;   /* shares only */
    tacit_material *prepared; /* what tacit_secure_prepare made and nobody has used */
    tacit_secure_costs costs;
    double ahead; /* of the call of the moment, seconds in making material */
};

double tacit_secure_now(void);

/* Book the seconds since `begin`. */
tacit_status tacit_secure_book(tacit_secure *self, double begin, tacit_status status);

/* 1 / a[k], by a circuit of `count` lanes. */
tacit_status tacit_reciprocal_wires(tacit_secure *self, tacit_share *out, const tacit_share *a, size_t count);

/* A status of the builder, with its error. */
tacit_status tacit_secure_built(const tacit_secure *self, tacit_status status, tacit_error *error);
