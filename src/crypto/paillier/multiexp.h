/*
 * Sums of ciphertexts with integer weights: row i of the result encrypts sum_j factor[j] a[i][j], that is
 * prod_j c[i][j]^factor[j]. With Enc(H^-1) and a vector g this is Enc(H^-1 g) (Wang 2018, Algorithm 8). With
 * the columns of H^-1 packed into slots (crypto/paillier/slots.h, factor_bits) one row gives a dozen
 * coordinates at once.
 *
 * The weights are the same for each row, so their digits are found once. Negative weights: with B bits in
 * all, u = factor + 2^(B-1) is not negative, and
 *
 *     prod_j c_j^factor_j = prod_j c_j^u_j  D^(2^(B-1)),    D = 1 / prod_j c_j,
 *
 * where D joins at the top digit, and all rows share one inversion (Montgomery's trick).
 *
 *  - TACIT_FACTORS_SECRET: Straus's method (1964), squarings shared by a row, every table read as a whole:
 *    time and addresses depend on the sizes alone. For weights computed from a party's rows.
 *  - TACIT_FACTORS_PUBLIC: Pippenger's (1976), buckets chosen by the digits, where it needs fewer products.
 *
 * The result keeps the randomness of its input: re-randomise it before it leaves.
 */
#pragma once

#include "crypto/paillier/paillier.h"

typedef enum tacit_factors {
    TACIT_FACTORS_SECRET,
    TACIT_FACTORS_PUBLIC,
} tacit_factors;

/* `matrix` holds out's count of rows, each of `columns` ciphertexts. |factor[j]| < 2^(factor_bits - 1),
 * factor_bits from 2 to 64; TACIT_LIMIT otherwise. */
tacit_status tacit_paillier_multiply_matrix(tacit_ciphertexts *out, const tacit_ciphertexts *matrix,
                                            const int64_t *factor, size_t columns, unsigned factor_bits,
                                            tacit_factors kind, tacit_pool *pool, tacit_error *error);
