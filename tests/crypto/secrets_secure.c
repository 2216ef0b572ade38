/*
 * Run under valgrind, as secrets.c: two servers in two threads, whose shares and random numbers are declared
 * secret, factor, solve, invert, multiply, divide, take logarithms, compare, and turn shares into ciphertexts, on each engine. A
 * branch, or an address, that depends on a share, a label or a mask is an error. (valgrind does not follow
 * what goes through a channel: the labels of the evaluator are watched in secrets.c.)
 */
#include "keys.h"

#include <pthread.h>
#include <stdio.h>
#include <valgrind/memcheck.h>

#include "crypto/linear/secure.h"
#include "net/clock.h"

enum { ORDER = 2, TRIANGLE = 3, WIDTH = 12 };

typedef struct server {
    tacit_role role;
    tacit_secure_engine engine;
    tacit_channel *channel;
    tacit_status status;
    tacit_error error;
} server;

/* What was computed of secrets must be one, or nothing was looked at. */
static bool is_secret(const tacit_share *share) {
    uint8_t unknown[sizeof *share];
    bool any = false;
    if (VALGRIND_GET_VBITS(share, unknown, sizeof unknown) != 1) return false;
    for (size_t k = 0; k < sizeof unknown; k++) any |= unknown[k] != 0;
    return any;
}

static const tacit_paillier_secret *key; /* B's */

/* A masks, packs and subtracts under encryption what it must not look at. (The way back does the same and
 * then writes the ciphertext, which is public, and valgrind cannot know.) */
static tacit_status convert(tacit_secure *secure, const tacit_share *shares, tacit_error *error) {
    const tacit_paillier_public *public = tacit_paillier_public_of(key);
    tacit_masked_slots layout;
    tacit_ciphertexts *ciphertexts = NULL;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_masked_slots_plan(&layout, public, 100, 5, 0, 1, error));
    if (tacit_secure_role(secure) == TACIT_GARBLER)
        TACIT_CHECK(tacit_ciphertexts_create(&ciphertexts, public, 1, error));
    TACIT_CHECK(tacit_secure_to_ciphertexts(secure, ciphertexts, public, &layout, shares, ORDER, error));
    /* A plaintext that is added moves the upper half of a ciphertext. */
    const mp_limb_t *half =
        ciphertexts != NULL ? ciphertexts->limbs + tacit_pair_limbs(&public->n) / 2 : NULL;
    if (half != NULL && !is_secret((const tacit_share *)(const void *)half))
        TACIT_CHECK(tacit_fail(error, TACIT_INTERNAL, "valgrind lost sight of the masks"));
cleanup:
    tacit_ciphertexts_free(ciphertexts);
    return status;
}

static tacit_status work(tacit_secure *secure, tacit_factored **factor, tacit_error *error) {
    tacit_share matrix[TRIANGLE] = { 16, 3, 16 }, vector[ORDER] = { 7, -(tacit_share)9 }, square[4];
    bool less;
    VALGRIND_MAKE_MEM_UNDEFINED(matrix, sizeof matrix);
    VALGRIND_MAKE_MEM_UNDEFINED(vector, sizeof vector);
    TACIT_TRY(tacit_secure_factor(secure, factor, matrix, ORDER, error));
    TACIT_TRY(tacit_secure_solve(secure, vector, *factor, vector, error));
    TACIT_TRY(tacit_secure_inverse(secure, matrix, *factor, error));
    for (int k = 0; k < 4; k++) square[k] = matrix[k / 2];
    TACIT_TRY(tacit_secure_multiply(secure, vector, square, vector, ORDER, ORDER, 1, error));
    TACIT_TRY(tacit_secure_reciprocals(secure, square, vector, ORDER, error));
    TACIT_TRY(tacit_secure_logarithms(secure, square + ORDER, vector, ORDER, error));
    TACIT_TRY(tacit_secure_scale_rows(secure, vector, square, square + ORDER, ORDER, 1, error));
    TACIT_TRY(tacit_secure_all_less(secure, &less, vector, vector + 1, 1, error));
    TACIT_TRY(
        tacit_secure_all_within(secure, &less, &(tacit_secure_range){ vector, ORDER, 8, WIDTH }, 1, error));
    TACIT_TRY(convert(secure, vector, error));
    if (tacit_secure_role(secure) == TACIT_GARBLER && !is_secret(vector))
        return tacit_fail(error, TACIT_INTERNAL, "valgrind lost sight of what is secret");
    return TACIT_OK;
}

static void *play(void *argument) {
    server *self = argument;
    tacit_secure *secure = NULL;
    tacit_factored *factor = NULL;
    tacit_stream stream = tacit_stream_from_entropy();
    tacit_secure_settings settings = tacit_secure_defaults();
    settings.engine = self->engine;
    settings.format = (tacit_fixed){ WIDTH, 5 };
    settings.garble.stream = &stream;
    self->status = tacit_secure_create(&secure, self->role, self->channel, &settings, &self->error);
    VALGRIND_MAKE_MEM_UNDEFINED(stream.key, sizeof stream.key);
    VALGRIND_MAKE_MEM_UNDEFINED(stream.cache, sizeof stream.cache);
    if (self->status == TACIT_OK) self->status = work(secure, &factor, &self->error);
    tacit_factored_free(factor);
    tacit_secure_free(secure);
    self->channel = tacit_channel_free(self->channel);
    return NULL;
}

static int run(tacit_secure_engine engine) {
    server a = { .role = TACIT_GARBLER, .engine = engine, .error = TACIT_ERROR_INIT };
    server b = { .role = TACIT_EVALUATOR, .engine = engine, .error = TACIT_ERROR_INIT };
    pthread_t thread;
    if (tacit_channel_memory_pair(&a.channel, &b.channel, &a.error) != TACIT_OK) return 1;
    tacit_channel_set_deadline(a.channel, tacit_clock_monotonic_ms() + 280000);
    tacit_channel_set_deadline(b.channel, tacit_clock_monotonic_ms() + 280000);
    if (pthread_create(&thread, NULL, play, &b) != 0) return 1;
    play(&a);
    pthread_join(thread, NULL);
    if (a.status != TACIT_OK || b.status != TACIT_OK) printf("# %s, %s\n", a.error.text, b.error.text);
    return a.status != TACIT_OK || b.status != TACIT_OK;
}

int main(void) {
    tacit_paillier_secret *secret = stored_key(SHORT_KEY);
    key = secret;
    for (tacit_secure_engine engine = TACIT_SECURE_YAO; engine <= TACIT_SECURE_SHARES; engine++)
        if (run(engine) != 0) return 1;
    tacit_paillier_secret_free(secret);
    puts("1..1\nok 1 - no branch and no address depends on a share");
    return 0;
}
