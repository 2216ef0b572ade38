/*
 * Shares of discrete Laplace noise. A geometric number T, P(T = k) = (1 - q) q^k with q = exp(-1/s), is
 * negative binomial of shape 1, and so the sum of `parts` independent negative binomial numbers of shape
 * 1/parts; the difference of two geometric numbers is discrete Laplace. So `parts` differences of negative
 * binomials of shape 1/parts add up to it, exactly.
 *
 * A negative binomial of shape 1/parts is drawn from a geometric one with whole numbers only. The generating
 * function of T is (1 - q)/(1 - q x) = exp(sum over j >= 1 of q^j (x^j - 1)/j): T is the total of clusters,
 * those of size j in a Poisson number of mean q^j/j. Keep each cluster with probability 1/parts: what is kept
 * has Poisson means q^j/(j parts), and so the generating function ((1 - q)/(1 - q x))^(1/parts), which is the
 * negative binomial of shape 1/parts. Given T, the chance of n_j clusters of size j is proportional to the
 * product of 1/(j^n_j n_j!), the q having gone into q^T: that of the cycles of a uniformly random permutation
 * of T things (Cauchy's formula). And cycles are easily drawn: the one that holds the first of T things has a
 * size uniform on 1 .. T, and the rest is a uniformly random permutation of the others. This takes about ln T
 * draws of uniform integers, whatever the scale.
 */
#include "rand/exact_parts.h"

static tacit_status negative_binomial(int64_t *out, tacit_space *space, double scale, uint64_t parts,
                                      tacit_bits *bits, tacit_error *error) {
    int64_t left = 0, kept = 0;
    TACIT_TRY(tacit_exact_geometric(&left, space, scale, bits, error));
    while (left > 0) {
        int64_t cycle = (int64_t)tacit_bits_below(bits, (uint64_t)left) + 1;
        if (tacit_bits_below(bits, parts) == 0) kept += cycle;
        left -= cycle;
    }
    *out = kept;
    return TACIT_OK;
}

tacit_status tacit_exact_polya(int64_t *out, tacit_space *space, double scale, uint64_t parts,
                               tacit_bits *bits, tacit_error *error) {
    int64_t up = 0, down = 0;
    TACIT_TRY(negative_binomial(&up, space, scale, parts, bits, error));
    TACIT_TRY(negative_binomial(&down, space, scale, parts, bits, error));
    *out = up - down;
    return TACIT_OK;
}
