/*
 * `dp` in privlogit-local, where nodes multiply the inverse with their own gradients.
 *
 * Why not noise on the result alone. Output perturbation of the strongly convex objective would need one draw
 * of sensitivity 2/(n lambda), if nothing but the result were opened. But a node can compute p_i = sigma(z_i
 * . beta_k) only of a beta_k that it knows, so every beta_k is opened, and exact ones would give away
 * gradients, K of them, before the noise of the last. So each step has its noise, the number of iterations is
 * public, no stopping bit is opened, and the log-likelihood is not sent.
 *
 * The mechanism. N is the triangle of X^T X/4 over n with both servers' draws and a public multiple of the
 * noise on its diagonal (logit_noise.c): one release, opened to both servers. What follows from it is
 * post-processing: eigenvalues are raised to 1/largest where noise has pushed them below, and X~ is the
 * inverse in whole units of the layout. A encrypts X~, and nodes answer Enc(X~ G_i), G_i their gradient at
 * beta_k rounded to whole units of 2^-g. With G = sum G_i, draws a and b of the servers, each a whole draw of
 * release k of logit_noise.c on that grid, and the public r = ridge beta_k in the same units, what is opened
 * is
 *     s_k = X~ (G + a + b + r),  without its last digits,
 * and beta_(k+1) = beta_k - s_k.
 *
 * Proof. s_k is computed from G + a + b exactly: the sums under encryption are sums of integers, each server
 * adds X~ times its own draw to its share, X~ being known to it, modulo 2^128 and far from overflow (|X~|
 * below 2^62, draws below 2^60, 400 columns), and digits are dropped from the whole only then, by a
 * rounding that depends on the sum and on uniform shares. So everybody who sees s_k sees a function of the
 * release G + a + b, and server A, who takes off X~ a, one of G + b: one whole draw. G moves by what
 * logit_noise.c says, with g in place of f: a node's own rounding to 2^-g is half a unit before and after,
 * and where it is moved to the bound of a factor, that brings no two numbers further apart. T = K + 1
 * releases compose to the price.
 * Beside it B sees X~ G under masks. With |X~_jk| <= X, |d|_2 <= D the move of G, d columns and slots of V >=
 * X 2^g S d: sum_j |(X~ d)_j| <= d X sqrt(d) D, over masks of 2^41 V or more: sqrt(d) D/(2^41 2^g S) an
 * iteration, which is in the t of logit_noise.c.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "method/secure/logit.h"
#include "num/noisy/noisy_moments.h"

static bool is_a(const tacit_logit *self) { return self->center->role == TACIT_GARBLER; }

/* X~ at A, from the opened triangle: sum over eigenvectors of v v^T/max(e, 1/largest). */
static tacit_status invert(const tacit_logit *self, const tacit_logit_inverse *layout, const int64_t *opened,
                           int64_t *out, tacit_error *error) {
    const size_t d = self->width;
    double *matrix = TACIT_NEW(double, 2 * d * d + d), *vectors = matrix + d * d, *values = vectors + d * d;
    const double most = (double)layout->slots.slots.most;
    tacit_status status = matrix != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++)
            matrix[i * d + j] = matrix[j * d + i] =
                ldexp((double)opened[tacit_triangle(i, j)], -(int)self->fraction);
    TACIT_CHECK(tacit_moments_eigen(values, vectors, matrix, d, error));
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double entry = 0;
            for (size_t k = 0; k < d; k++)
                entry += vectors[k * d + i] * vectors[k * d + j] / fmax(values[k], 1 / layout->largest);
            entry = ldexp(entry, (int)layout->slots.slots.fraction_bits);
            out[i * d + j] = llrint(fmax(-most, fmin(most, entry)));
        }
cleanup:
    free(matrix);
    return status;
}

/* Enc(X~), column after column in slots, as tacit_logit_encrypt_inverse has it. */
static tacit_status encrypt(const tacit_logit *self, const tacit_logit_inverse *layout, tacit_buffer *out,
                            tacit_error *error) {
    const size_t d = self->width, slots = layout->slots.slots.slots, count = layout->blocks * d * slots;
    const tacit_paillier_public *key = self->center->key;
    int64_t *values = TACIT_NEW(int64_t, count);
    tacit_plaintexts *plain = NULL;
    tacit_ciphertexts *sealed = NULL;
    tacit_status status = values != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    for (size_t block = 0; block < layout->blocks; block++)
        for (size_t column = 0; column < d; column++)
            for (size_t i = block * slots; i < d && i < (block + 1) * slots; i++)
                values[(block * d + column) * slots + i % slots] = self->inverse[i * d + column];
    TACIT_CHECK(tacit_plaintexts_create(&plain, key, layout->blocks * d, error));
    TACIT_CHECK(tacit_slots_pack(plain, &layout->slots.slots, values, count, error));
    TACIT_CHECK(tacit_ciphertexts_create(&sealed, key, layout->blocks * d, error));
    TACIT_CHECK(tacit_paillier_encrypt(sealed, plain, TACIT_PAILLIER_SHORT, self->center->entropy,
                                       self->center->pool, error));
    TACIT_CHECK(tacit_ciphertexts_write(sealed, out, error));
cleanup:
    free(values);
    tacit_plaintexts_free(plain);
    tacit_ciphertexts_free(sealed);
    return status;
}

/* Both servers know N; A's inverse is the one that counts, for computers may round differently. */
tacit_status tacit_logit_noisy_inverse(tacit_logit *self, tacit_buffer *out, tacit_error *error) {
    const size_t d = self->width;
    tacit_logit_inverse layout;
    int64_t *opened = TACIT_NEW(int64_t, self->triangle);
    self->inverse = TACIT_NEW(int64_t, d * d);
    tacit_status status = opened != NULL && self->inverse != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(tacit_logit_inverse_plan(&layout, self->plan, self->center->key, d, self->n, error));
    TACIT_CHECK(tacit_logit_add_noise(self, TACIT_WEIGH_ONE, error));
    TACIT_CHECK(tacit_secure_open(self->secure, opened, self->matrix, self->triangle, error));
    if (is_a(self)) TACIT_CHECK(invert(self, &layout, opened, self->inverse, error));
    TACIT_CHECK(tacit_center_share_public(self->center, self->inverse, d * d, error));
    for (size_t k = 0; k < d * d; k++)
        if (llabs(self->inverse[k]) > layout.slots.slots.most)
            TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "the inverse of server A is beyond its range"));
    if (is_a(self)) TACIT_CHECK(encrypt(self, &layout, out, error));
cleanup:
    free(opened);
    return status;
}

/* a or b, and at A the ridge, times X~ onto this server's share; then the digits go. */
tacit_status tacit_logit_noisy_step(tacit_logit *self, const tacit_logit_inverse *layout, tacit_share *step,
                                    tacit_error *error) {
    const size_t d = self->width;
    const int bits = (int)layout->gradient_bits;
    tacit_logit_release release;
    double *beta = TACIT_NEW(double, d);
    int64_t *mine = TACIT_NEW(int64_t, d);
    tacit_status status = beta != NULL && mine != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    for (size_t j = 0; j < d; j++) beta[j] = ldexp((double)self->beta[j], -(int)self->fraction);
    TACIT_CHECK(tacit_logit_release_of(&release, self->plan, d, self->n, beta, false, error));
    TACIT_CHECK(tacit_logit_draw(mine, &release, &self->center->noise, error));
    for (size_t j = 0; j < d && is_a(self); j++) mine[j] += llrint(ldexp(self->ridge * beta[j], bits));
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            step[i] += tacit_share_of(self->inverse[i * d + j]) * tacit_share_of(mine[j]);
    tacit_shares_drop(step, layout->slots.slots.fraction_bits + layout->gradient_bits - self->fraction, d,
                      self->center->role);
cleanup:
    free(beta);
    free(mine);
    return status;
}
