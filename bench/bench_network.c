/*
 * Steps of training, timed: bench_network LAYERS BATCH THREADS SECONDS, layers such as 264-50-20-1. Prints
 * JSON: the most examples a second over many short spells, of dpsgd (clipped sums, Gaussian noise, a step of
 * SGD with momentum) and without privacy. Spells of a millisecond or so: on a busy machine none that is
 * longer than a slice of the scheduler is undisturbed.
 */
#define _POSIX_C_SOURCE 200809L
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/clipped_batch.h"
#include "model/optimiser.h"
#include "rand/fast.h"

enum { ROWS = 8192, SPELL_STEPS = 2 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(tacit_status status, const tacit_error *error) {
    if (status == TACIT_OK) return;
    fprintf(stderr, "bench_network: %s\n", error->text);
    exit(1);
}

typedef struct training {
    tacit_network network;
    size_t size, rows;
    tacit_batch *batch;
    tacit_dataset *data;
    double *parameters, *gradient, *noise, *memory;
    tacit_stream stream;
    tacit_optimiser optimiser;
} training;

static void step(training *t, uint64_t number, bool secret, tacit_error *error) {
    tacit_view all = tacit_dataset_view(t->data);
    tacit_view rows = tacit_view_slice(&all, number * t->rows % (ROWS - t->rows), t->rows);
    tacit_batch_load(t->batch, t->parameters);
    must(secret ? tacit_batch_sum(t->batch, &rows, 1, t->gradient, error)
                : tacit_batch_sum_plain(t->batch, &rows, t->gradient, error),
         error);
    if (secret) tacit_fast_normals(&t->stream, t->noise, t->size);
    for (size_t j = 0; j < t->size; j++)
        t->gradient[j] = (t->gradient[j] + (secret ? t->noise[j] : 0)) / (double)t->rows;
    tacit_optimiser_step(&t->optimiser, number, t->gradient, t->memory, t->parameters, t->size);
}

static double spell(training *t, uint64_t *number, bool secret, tacit_error *error) {
    double start = now();
    for (int i = 0; i < SPELL_STEPS; i++) step(t, (*number)++, secret, error);
    return (double)(SPELL_STEPS * t->rows) / (now() - start);
}

/* Both kinds in turn, so that whatever else the machine does meets both. */
static void run(training *t, double seconds, double best[2], tacit_error *error) {
    uint64_t number = 0;
    for (double start = now(); now() - start < seconds;)
        for (int secret = 0; secret < 2; secret++) {
            double rate = spell(t, &number, secret, error);
            if (rate > best[secret]) best[secret] = rate;
        }
}

static void read_layers(training *t, const char *text, tacit_error *error) {
    char hidden[256] = "";
    const char *first = strchr(text, '-'), *last = strrchr(text, '-');
    size_t features = strtoul(text, NULL, 10), outputs = last != NULL ? strtoul(last + 1, NULL, 10) : 0;
    if (first == NULL || outputs == 0) {
        fprintf(stderr, "bench_network: '%s' lists no layers, as 264-50-20-1 does\n", text);
        exit(2);
    }
    if (last > first) snprintf(hidden, sizeof hidden, "%.*s", (int)(last - first - 1), first + 1);
    for (char *c = hidden; *c != 0; c++)
        if (*c == '-') *c = ',';
    must(tacit_network_parse(&t->network, hidden, "", TACIT_ACTIVATION_SIGMOID, features,
                             outputs == 1 ? 2 : outputs, error),
         error);
}

static void make_rows(training *t, tacit_error *error) {
    static const char *const names[] = { "0", "1", "2", "3", "4", "5", "6", "7", "8", "9" };
    size_t features = t->network.width[0], outputs = t->network.width[t->network.layers],
           classes = outputs == 1 ? 2 : outputs;
    must(tacit_dataset_create(&t->data, ROWS, features, names, classes, error), error);
    tacit_fast_normals(&t->stream, t->data->dense.values, ROWS * features);
    for (size_t i = 0; i < ROWS; i++) t->data->label[i] = (int32_t)(i % classes);
}

int main(int count, char **arguments) {
    tacit_error error = TACIT_ERROR_INIT;
    if (sodium_init() < 0) return 1;
    if (count != 5) {
        fprintf(stderr, "usage: bench_network LAYERS BATCH THREADS SECONDS\n");
        return 2;
    }
    training t = { .rows = strtoul(arguments[2], NULL, 10),
                   .stream = tacit_stream_from_seed(1),
                   .optimiser = { TACIT_RULE_SGD, TACIT_SCHEDULE_CONSTANT, 0.01, 0.9, 0 } };
    tacit_pool *pool = NULL;
    double gain[TACIT_NETWORK_LAYERS], best[2] = { 0, 0 };
    read_layers(&t, arguments[1], &error);
    make_rows(&t, &error);
    t.size = tacit_network_size(&t.network);
    t.parameters = calloc(4 * t.size, sizeof(double));
    if (t.parameters == NULL) return 1;
    t.gradient = t.parameters + t.size;
    t.noise = t.gradient + t.size;
    t.memory = t.noise + t.size;
    for (size_t l = 0; l < t.network.layers; l++) gain[l] = (double)t.network.width[l];
    tacit_network_start(&t.network, gain, &t.stream, t.parameters);
    must(tacit_pool_create(&pool, (unsigned)strtoul(arguments[3], NULL, 10), &error), &error);
    must(tacit_batch_create(&t.batch, &t.network, NULL, pool, &error), &error);
    run(&t, strtod(arguments[4], NULL), best, &error);
    printf("{\"plain\": %.0f, \"dpsgd\": %.0f}\n", best[0], best[1]);
    tacit_batch_free(t.batch);
    tacit_pool_free(pool);
    tacit_dataset_free(t.data);
    free(t.parameters);
    return 0;
}
