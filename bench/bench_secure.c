/*
 * Linear algebra between two servers, by engine and order.
 *
 *   bench_secure ENGINE CHANNEL ORDER SOLVES
 *
 * ENGINE: yao, shares; CHANNEL: memory, shared, stream (TCP in the clear), tls. Factors a positive definite
 * matrix of that order, solves once (a step of Newton's method) and, when SOLVES is more than 1, inverts and
 * solves as often. Prints one JSON line: seconds ahead of time and online, by the clock of the slower server,
 * and the processor seconds of each; gates, products, megabytes.
 */
#include <math.h>
#include <sodium.h>

#include "crypto/linear/secure.h"
#include "ends.h"

typedef struct server {
    tacit_secure_engine engine;
    size_t order, solves;
    double ahead, factor, solve, inverse, processor; /* seconds */
    double worst;                                    /* entry of A A^-1 - I */
    tacit_secure_costs costs;
} server;

/* 0.6^|i - j| / 4, in units: what a study's columns look like. */
static int64_t entry(size_t i, size_t j) {
    return llrint(ldexp(0.25 * pow(0.6, (double)(i > j ? i - j : j - i)), 32));
}

static void find_worst(server *self, const int64_t *inverse) {
    size_t d = self->order;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double sum = i == j ? -1 : 0;
            for (size_t k = 0; k < d; k++)
                sum += ldexp((double)entry(i, k), -32) *
                       ldexp((double)inverse[k > j ? tacit_triangle(k, j) : tacit_triangle(j, k)], -32);
            if (fabs(sum) > self->worst) self->worst = fabs(sum);
        }
}

static tacit_status work(end *at, tacit_secure *secure, int64_t *values, tacit_share *matrix,
                         tacit_share *vector) {
    server *self = at->context;
    tacit_error *error = &at->error;
    size_t d = self->order, count = tacit_triangle(d, 0);
    tacit_factored *factor = NULL;
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) values[tacit_triangle(i, j)] = entry(i, j);
    TACIT_CHECK(tacit_secure_input(secure, matrix, TACIT_GARBLER, at->first ? values : NULL, count, error));
    TACIT_CHECK(tacit_secure_input(secure, vector, TACIT_GARBLER, at->first ? values : NULL, d, error));
    double processor = clock_of(CLOCK_THREAD_CPUTIME_ID), begin = clock_of(CLOCK_MONOTONIC);
    TACIT_CHECK(tacit_secure_prepare(secure, d, self->solves, error));
    double ahead = clock_of(CLOCK_MONOTONIC);
    TACIT_CHECK(tacit_secure_factor(secure, &factor, matrix, d, error));
    double factored = clock_of(CLOCK_MONOTONIC);
    TACIT_CHECK(tacit_secure_solve(secure, vector, factor, vector, error));
    double once = clock_of(CLOCK_MONOTONIC);
    if (self->solves > 1) TACIT_CHECK(tacit_secure_inverse(secure, matrix, factor, error));
    double inverted = clock_of(CLOCK_MONOTONIC);
    for (size_t k = 1; k < self->solves; k++)
        TACIT_CHECK(tacit_secure_solve(secure, vector, factor, vector, error));
    double solved = clock_of(CLOCK_MONOTONIC);
    self->processor = clock_of(CLOCK_THREAD_CPUTIME_ID) - processor;
    self->ahead = ahead - begin;
    self->factor = factored - ahead;
    self->inverse = inverted - once;
    self->solve = once - factored + solved - inverted;
    if (self->solves == 1) goto cleanup;
    TACIT_CHECK(tacit_secure_open(secure, values, matrix, count, error));
    find_worst(self, values);
cleanup:
    tacit_factored_free(factor);
    return status;
}

static tacit_status run(end *at) {
    server *self = at->context;
    tacit_secure *secure = NULL;
    tacit_secure_settings settings = tacit_secure_defaults();
    settings.engine = self->engine;
    size_t count = tacit_triangle(self->order, 0);
    int64_t *values = TACIT_NEW(int64_t, count);
    tacit_share *matrix = TACIT_NEW(tacit_share, count), *vector = TACIT_NEW(tacit_share, self->order);
    tacit_status status =
        values == NULL || matrix == NULL || vector == NULL ? tacit_fail_memory(&at->error) : TACIT_OK;
    if (status == TACIT_OK)
        status = tacit_secure_create(&secure, at->first ? TACIT_GARBLER : TACIT_EVALUATOR, at->channel,
                                     &settings, &at->error);
    pthread_barrier_wait(at->ready);
    if (status == TACIT_OK) status = work(at, secure, values, matrix, vector);
    if (status == TACIT_OK) self->costs = tacit_secure_cost(secure);
    tacit_secure_free(secure);
    free(values);
    free(matrix);
    free(vector);
    return status;
}

static void print(const server servers[2]) {
    const server *b = &servers[0], *a = &servers[1];
    printf(
        "{\"ahead\": %.4g, \"factor\": %.4g, \"inverse\": %.4g, \"solve\": %.4g, \"cpu_a\": %.4g, \"cpu_b\": "
        "%.4g, \"gates\": %lu, \"products\": %lu, \"megabytes\": %.4g, \"rounds\": %lu, \"worst\": %.3g}\n",
        fmax(a->ahead, b->ahead), fmax(a->factor, b->factor), fmax(a->inverse, b->inverse),
        fmax(a->solve, b->solve), a->processor, b->processor, (unsigned long)a->costs.gates,
        (unsigned long)a->costs.products, (double)(a->costs.channel.sent + a->costs.channel.received) / 1e6,
        (unsigned long)a->costs.channel.rounds, a->worst);
}

int main(int count, char **argument) {
    static const char *const kinds[] = { "memory", "shared", "stream", "tls" };
    static const char *const engines[] = { "yao", "shares" };
    if (sodium_init() < 0) return 1;
    if (count != 5 || !known(argument[1], engines, 2) || !known(argument[2], kinds, 4)) {
        fprintf(stderr, "usage: bench_secure yao|shares memory|shared|stream|tls ORDER SOLVES\n");
        return 2;
    }
    char folder[64];
    tacit_error error = TACIT_ERROR_INIT;
    server servers[2] = { { .engine =
                                strcmp(argument[1], "yao") == 0 ? TACIT_SECURE_YAO : TACIT_SECURE_SHARES,
                            .order = (size_t)atol(argument[3]),
                            .solves = (size_t)atol(argument[4]) } };
    servers[1] = servers[0];
    void *const contexts[2] = { &servers[0], &servers[1] };
    end ends[2];
    tacit_status status = make_folder(folder, argument[2], &error);
    if (status == TACIT_OK) status = run_ends(ends, argument[2], folder, run, contexts, &error);
    if (status == TACIT_OK)
        print(servers);
    else
        fprintf(stderr, "bench_secure: %s\n", error.text);
    remove_files(folder);
    return status == TACIT_OK ? 0 : 1;
}
