/*
 * Noise of `dp` (logit.h): what each center server adds to every sum before anything is computed from it.
 *
 * Theorem. With dp=E, to everybody who sees what is opened, and to each of the two servers with all that it
 * sees, a run of K iterations is (E, dp-delta)-private: one row replaced, number of rows public. Against
 * computing bounded as the protocol's security is (SIM-CDP), for a server that follows the protocol.
 *
 * Proof. Statistics, over n, of rows z = S x, |x| <= 1:
 *   gradient   g(z) = (p - y) z. |p - y| <= sigma(|z.beta|) <= sigma(S |beta|), so |g(z)| <= G = S sigma(S
 *              |beta|), where beta is public: at beta = 0 half of what it is far out. One row replaced: 2
 *              G/n. Of a number p is the score and y within [-1, 1], so that G = S (1 + S |beta|).
 *   matrix     A = a z z^T with 0 <= a <= c = 1/4 (the bound: a = c; of a number a = c = 1), of which the
 *              triangle is released, each entry once. With <A, B> the inner product of triangles, 2 <A, B> =
 *              trace(A B) + sum_i A_ii B_ii >= 0 for positive semidefinite A, B, and |A|^2 <= |A|_F^2 = a^2
 *              |z|^4. So |A - B|^2 <= |A|^2 + |B|^2 <= 2 (c S^2)^2: one row replaced moves the triangle by
 *              sqrt(2) c S^2/n, which z = S e_1, z' = S e_2 attain.
 * A node computes these in double precision. A sum of m <= n terms in any order is off by at most c times the
 * sum of their norms, c = (n + 64) 2^-53/(1 - (n + 64) 2^-53) (Higham 2002, (3.5) and (4.4); the 64 are the
 * products before and after), before and after the row was replaced: that, twice, times G or the norm of A.
 * |x| may exceed 1, and p its value, by rounding: times 1 + 1e-9. What is beyond R is moved to it, which
 * brings no two numbers further apart. Rounding to the grid is half a unit in each coordinate, before and
 * after: + sqrt(count) units. Nodes whose rows are the same answer the same.
 * Of a number the first step is the last, K = 1: the matrix is the same at every beta, and a second step
 * would need another gradient, with noise, for nothing. It is taken from beta = 0, where G = S.
 *
 * On the grid these are whole numbers. A server's draw is a discrete Gaussian of scale sensitivity sqrt(T/(2
 * rho)), T the number of releases: rho/T-zCDP (privacy/mechanism/integer.h). K gradients and one matrix
 * (PrivLogit: T = K + 1) or K (newton: T = 2 K) compose to rho, also where beta, and with it the
 * scale of the next draw, depends on releases before (adaptive composition: Bun and Steinke 2016, Lemma 1.7).
 * rho is that of (E, dp-delta - t), by tacit_zcdp_for. Draws are cut at 2^60, which one of scale 2^50 or less
 * exceeds with probability below exp(-2^18).
 *
 * A server knows its own draw and takes it off; the other's is whole, and alone gives the above. Whoever sees
 * only what is opened has both on top: post-processing. Everything opened - beta_k, the bit of the check of
 * the solution, that a run ends with an error - is computed from noisy sums and from the servers' own
 * randomness. Beside it B sees sums without noise under masks of m bits, 2^m >= 2^41 R 2^f. Let B(D) be its
 * view. With the masked numbers of the neighbour D' in their place, iteration by iteration, the view is
 * within
 *     t = sum of |x_j - x'_j|/2^m <= sum over releases of sqrt(count) sensitivity/(2^41 R 2^f)
 * of it in statistical distance, and then differs from B(D') in noisy releases alone: Pr[B(D) in V] <= t +
 * e^E Pr[B(D') in V] + (dp-delta - t). Nodes send neither their log-likelihood nor their positive rows in
 * such a run, so that there is no other number under masks.
 * What is computed on shares shows uniform numbers, garbled circuits and transfers what a simulator makes of
 * their outputs.
 *
 * privlogit-local sends no gradients but steps, and opens its matrix: what is different is in
 * logit_noisy_step.c.
 *
 * Not covered: a server that departs from the protocol (A could tell B of more rows than there are, and B's
 * noise would be too small), both servers together, two runs (each is charged).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/secure/logit.h"
#include "privacy/mechanism/integer.h"

static const double ROUNDING = 1 + 1e-9;

static size_t iterations_of(const tacit_plan *plan) {
    return tacit_logit_family(plan)->quadratic ? 1 : tacit_logit_settings_of(plan)->dp_iterations;
}

static size_t matrices_of(const tacit_plan *plan) {
    return tacit_logit_settings_of(plan)->newton ? iterations_of(plan) : 1;
}

size_t tacit_logit_releases(const tacit_plan *plan) { return iterations_of(plan) + matrices_of(plan); }

bool tacit_logit_spent(const tacit_logit *self) {
    return tacit_logit_private(self->plan) > 0 && self->iteration >= iterations_of(self->plan);
}

/* The grid of what is released. Nodes of privlogit-local round their gradients to their own. */
static unsigned bits_of(const tacit_plan *plan, size_t width, double n, bool matrix) {
    return tacit_logit_settings_of(plan)->local && !matrix ? tacit_logit_gradient_bits(plan, width, n)
                                                           : tacit_logit_fraction(plan);
}

/* L2, in units of 2^-bits. `steepest` bounds |l'|. */
static double sensitivity_of(const tacit_plan *plan, double n, size_t count, bool matrix, double steepest,
                             unsigned bits) {
    double scale = tacit_logit_scale(plan), terms = ldexp(n + 64, -53), sum = terms / (1 - terms);
    double row = matrix ? tacit_logit_curvature(plan) * scale * scale : scale * steepest;
    double replaced = row * ((matrix ? M_SQRT2 : 2) / n + 2 * sum) * ROUNDING;
    return ldexp(replaced, (int)bits) + sqrt((double)count);
}

/* t of the proof, of a whole run wherever beta goes. A gradient comes also with the matrix that PrivLogit
 * gathers first; those of privlogit-local come as steps (logit_noisy_step.c). */
static double seen_through_masks(const tacit_plan *plan, size_t width, double n) {
    const bool local = tacit_logit_settings_of(plan)->local;
    const unsigned fraction = tacit_logit_fraction(plan), steps = bits_of(plan, width, n, false);
    double range = ldexp(tacit_logit_range(plan), (int)fraction + TACIT_MASK_BITS + 1);
    double sum = 0, iterations = (double)iterations_of(plan);
    for (int matrix = 0; matrix < 2; matrix++) {
        size_t count = matrix ? width * (width + 1) / 2 : width;
        double times = matrix ? (double)matrices_of(plan) : 1 + (local ? 0 : iterations);
        sum += times * sqrt((double)count) * sensitivity_of(plan, n, count, matrix, 1, fraction) / range;
    }
    if (local)
        sum += iterations * sqrt((double)width) * sensitivity_of(plan, n, width, false, 1, steps) /
               ldexp(tacit_logit_scale(plan), (int)steps + TACIT_MASK_BITS + 1);
    return sum * ROUNDING;
}

tacit_status tacit_logit_release_of(tacit_logit_release *out, const tacit_plan *plan, size_t width, double n,
                                    const double *beta, bool matrix, tacit_error *error) {
    double square = 0, delta = tacit_logit_settings_of(plan)->dp_delta,
           seen = seen_through_masks(plan, width, n);
    if (!(seen < delta / 2))
        return tacit_fail(error, TACIT_USAGE,
                          "masks of %d bits give away %.2g of dp-delta %g in %zu releases: raise dp-delta, "
                          "or lower dp-iterations",
                          TACIT_MASK_BITS, seen, delta, tacit_logit_releases(plan));
    for (size_t j = 0; j < width && !matrix; j++) square += beta[j] * beta[j];
    double furthest = tacit_logit_scale(plan) * sqrt(square) * ROUNDING;
    *out = (tacit_logit_release){ .count = matrix ? width * (width + 1) / 2 : width };
    out->sensitivity =
        sensitivity_of(plan, n, out->count, matrix, matrix ? 0 : tacit_logit_steepest(plan, furthest),
                       bits_of(plan, width, n, matrix));
    /* rho/T for each of T releases of this sensitivity is rho for one of sqrt(T) times it. */
    out->mechanism = (tacit_mechanism){
        .law = TACIT_LAW_DISCRETE_GAUSSIAN,
        .price = { TACIT_UNIT_RECORD, tacit_logit_private(plan), delta - seen },
        .sensitivity = out->sensitivity * sqrt((double)tacit_logit_releases(plan)) * (1 + 1e-12),
    };
    return TACIT_OK;
}

tacit_status tacit_logit_draw(int64_t *out, const tacit_logit_release *release,
                              const tacit_noise_source *source, tacit_error *error) {
    tacit_noised *noised = NULL;
    int64_t *zeros = TACIT_NEW(int64_t, release->count);
    tacit_status status = zeros != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    TACIT_CHECK(tacit_integer_release(&noised, source, &release->mechanism, zeros, release->count,
                                      (int64_t)1 << 60, error));
    memcpy(out, tacit_noised_steps(noised), release->count * sizeof *out);
cleanup:
    tacit_noised_free(noised);
    free(zeros);
    return status;
}

/* Both servers' draws onto shared sums. */
static tacit_status add_draws(tacit_logit *self, const tacit_logit_release *release, tacit_share *onto,
                              tacit_error *error) {
    int64_t *mine = TACIT_NEW(int64_t, release->count);
    tacit_share *shares = TACIT_NEW(tacit_share, release->count);
    tacit_status status = mine != NULL && shares != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(tacit_logit_draw(mine, release, &self->center->noise, error));
    for (tacit_role owner = TACIT_GARBLER; owner <= TACIT_EVALUATOR; owner++) {
        bool own = self->center->role == owner;
        TACIT_CHECK(
            tacit_secure_input(self->secure, shares, owner, own ? mine : NULL, release->count, error));
        tacit_shares_add(onto, onto, shares, release->count);
    }
cleanup:
    free(mine);
    free(shares);
    return status;
}

static tacit_status add_to_gradient(tacit_logit *self, tacit_error *error) {
    tacit_logit_release release;
    double *beta = TACIT_NEW(double, self->width);
    tacit_status status = beta != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    for (size_t j = 0; j < self->width; j++) beta[j] = ldexp((double)self->beta[j], -(int)self->fraction);
    TACIT_CHECK(tacit_logit_release_of(&release, self->plan, self->width, self->n, beta, false, error));
    TACIT_CHECK(add_draws(self, &release, self->gradient, error));
cleanup:
    free(beta);
    return status;
}

/* A public multiple of the noise goes onto the diagonal, so that the noisy matrix is still positive definite,
 * except for a chance that spoils the step: the norm of a symmetric matrix of independent noise is about 2
 * scale sqrt(d), here of two servers. */
static tacit_status add_to_matrix(tacit_logit *self, tacit_error *error) {
    tacit_logit_release release;
    double scale;
    TACIT_TRY(tacit_logit_release_of(&release, self->plan, self->width, self->n, NULL, true, error));
    TACIT_TRY(tacit_integer_scale(&scale, &release.mechanism, error));
    TACIT_TRY(add_draws(self, &release, self->matrix, error));
    double lift = 2 * M_SQRT2 * scale * sqrt((double)self->width);
    self->noise = ldexp(lift + 50 * scale * (double)self->width, -(int)self->fraction);
    for (size_t j = 0; j < self->width && self->center->role == TACIT_GARBLER; j++)
        self->matrix[tacit_triangle(j, j)] += tacit_share_of(llrint(lift));
    return TACIT_OK;
}

tacit_status tacit_logit_add_noise(tacit_logit *self, tacit_row_weight weight, tacit_error *error) {
    if (tacit_logit_private(self->plan) == 0) return TACIT_OK;
    if (weight != TACIT_WEIGH_ONE) TACIT_TRY(add_to_gradient(self, error));
    return weight != TACIT_WEIGH_NONE ? add_to_matrix(self, error) : TACIT_OK;
}
