/*
 * Rates of garbling and oblivious transfer between two threads over a channel.
 *
 *   bench_garbling gates    CHANNEL ENGINE HASH MILLIONS REPEATS   independent AND gates, 1024 a call
 *   bench_garbling multiply CHANNEL ENGINE HASH MILLIONS REPEATS   64-bit fixed-point products, 64 lanes
 *   bench_garbling factor   CHANNEL ENGINE HASH MILLIONS REPEATS   Cholesky factorisations of order 50
 *   bench_garbling ot       CHANNEL ENGINE HASH MILLIONS REPEATS   correlated oblivious transfers
 *
 * CHANNEL: memory, shared, stream (TCP in the clear), tls; ENGINE: portable, aesni, vaes, best; HASH:
 * rekeyed, fixed. Prints one JSON line: of the best repeat the rate a second, and the least processor seconds
 * a million of each end.
 */
#include <sodium.h>

#include "crypto/garble/circuits_linear.h"
#include "crypto/garble/garble.h"
#include "crypto/ot/ot.h"
#include "ends.h"

enum { LANES = 64, BATCH = 1024, TRANSFERS = 1 << 16, ORDER = 50 };

typedef struct work {
    const char *what, *channel_kind;
    tacit_garble_settings settings;
    uint64_t wanted;
    char folder[64];
} work;

/* ---- workloads ---- */

static tacit_status gates(end *self, tacit_builder *builder) {
    const work *all = self->context;
    tacit_wire *a = tacit_scratch(builder, BATCH), *b = tacit_scratch(builder, BATCH);
    uint8_t bits[BATCH] = { 1, 0, 1 };
    if (a == NULL || b == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(tacit_input_wires(builder, TACIT_GARBLER, a, self->first ? bits : NULL, BATCH));
    TACIT_TRY(tacit_input_wires(builder, TACIT_EVALUATOR, b, self->first ? NULL : bits, BATCH));
    while (builder->and_count < all->wanted) TACIT_TRY(tacit_and(builder, a, a, b, BATCH));
    return TACIT_OK;
}

static tacit_status products(end *self, tacit_builder *builder) {
    const work *all = self->context;
    size_t wires = tacit_fixed_center.width * LANES;
    tacit_wire *a = tacit_scratch(builder, wires), *b = tacit_scratch(builder, wires);
    uint8_t bits[64 * LANES] = { 1, 0, 1 };
    if (a == NULL || b == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(tacit_input_wires(builder, TACIT_GARBLER, a, self->first ? bits : NULL, wires));
    TACIT_TRY(tacit_input_wires(builder, TACIT_EVALUATOR, b, self->first ? NULL : bits, wires));
    while (builder->and_count < all->wanted)
        TACIT_TRY(tacit_fixed_multiply(builder, a, a, b, tacit_fixed_center, LANES));
    return TACIT_OK;
}

/* The identity: its gates are those of any matrix. */
static tacit_status factors(end *self, tacit_builder *builder) {
    const work *all = self->context;
    size_t count = tacit_triangle(ORDER, 0), wires = tacit_fixed_center.width * count;
    tacit_wire *a = tacit_scratch(builder, wires), *factor = tacit_scratch(builder, wires);
    if (a == NULL || factor == NULL) return TACIT_NO_MEMORY;
    for (size_t k = 0; k < wires; k++) a[k] = tacit_constant(builder, 0);
    for (size_t i = 0; i < ORDER; i++)
        a[tacit_fixed_center.fraction * count + tacit_triangle(i, i)] = tacit_constant(builder, 1);
    while (builder->and_count < all->wanted)
        TACIT_TRY(
            tacit_fixed_factor(builder, factor, a, tacit_fixed_center, tacit_fixed_center.width, ORDER));
    return TACIT_OK;
}

static tacit_status garble_part(end *self) {
    const work *all = self->context;
    tacit_builder *builder = NULL;
    tacit_status status = (self->first ? tacit_garbler_create : tacit_evaluator_create)(
        &builder, self->channel, &all->settings, &self->error);
    pthread_barrier_wait(self->ready);
    if (status != TACIT_OK) return status;
    double wall = clock_of(CLOCK_MONOTONIC), processor = clock_of(CLOCK_THREAD_CPUTIME_ID);
    status = (strcmp(all->what, "gates") == 0    ? gates
              : strcmp(all->what, "factor") == 0 ? factors
                                                 : products)(self, builder);
    if (status == TACIT_OK) status = tacit_finish(builder);
    self->seconds = clock_of(CLOCK_MONOTONIC) - wall;
    self->processor = clock_of(CLOCK_THREAD_CPUTIME_ID) - processor;
    self->done = builder->and_count;
    if (status != TACIT_OK) self->error = builder->error;
    tacit_builder_free(builder);
    return status;
}

static tacit_status transfer_part(end *self) {
    const work *all = self->context;
    tacit_stream stream = tacit_stream_from_entropy();
    tacit_ot_sender *sender = NULL;
    tacit_ot_receiver *receiver = NULL;
    tacit_wire *wires = tacit_allocate_aligned(TRANSFERS, sizeof *wires);
    uint8_t *choices = TACIT_NEW(uint8_t, TRANSFERS);
    tacit_status status = wires == NULL || choices == NULL ? tacit_fail_memory(&self->error) : TACIT_OK;
    if (status == TACIT_OK && self->first)
        status = tacit_ot_sender_create(&sender, self->channel, &stream, all->settings.engine, &self->error);
    else if (status == TACIT_OK)
        status =
            tacit_ot_receiver_create(&receiver, self->channel, &stream, all->settings.engine, &self->error);
    pthread_barrier_wait(self->ready);
    double wall = clock_of(CLOCK_MONOTONIC), processor = clock_of(CLOCK_THREAD_CPUTIME_ID);
    for (; status == TACIT_OK && self->done < all->wanted; self->done += TRANSFERS)
        status = self->first ? tacit_ot_send_correlated(wires, TRANSFERS, sender, &self->error)
                             : tacit_ot_receive_correlated(wires, choices, TRANSFERS, receiver, &self->error);
    self->seconds = clock_of(CLOCK_MONOTONIC) - wall;
    self->processor = clock_of(CLOCK_THREAD_CPUTIME_ID) - processor;
    tacit_ot_sender_free(sender);
    tacit_ot_receiver_free(receiver);
    free(wires);
    free(choices);
    return status;
}

static tacit_status run_part(end *self) {
    const work *all = self->context;
    return strcmp(all->what, "ot") == 0 ? transfer_part(self) : garble_part(self);
}

static tacit_status measure(work *all, int repeats, tacit_error *error) {
    double best = 0, processor[2] = { 1e9, 1e9 };
    for (int r = 0; r < repeats; r++) {
        end ends[2];
        void *const contexts[2] = { all, all };
        TACIT_TRY(run_ends(ends, all->channel_kind, all->folder, run_part, contexts, error));
        double seconds = ends[0].seconds > ends[1].seconds ? ends[0].seconds : ends[1].seconds;
        if ((double)ends[0].done / seconds > best) best = (double)ends[0].done / seconds;
        for (int i = 0; i < 2; i++) {
            double each = ends[i].processor / ((double)ends[i].done / 1e6);
            if (each < processor[i]) processor[i] = each;
        }
    }
    printf("{\"rate\": %.6g, \"sender_seconds\": %.4g, \"receiver_seconds\": %.4g, \"engine\": \"%s\"}\n",
           best, processor[1], processor[0], tacit_engine_name(all->settings.engine));
    return TACIT_OK;
}

int main(int count, char **argument) {
    static const char *const kinds[] = { "memory", "shared", "stream", "tls" };
    static const char *const whats[] = { "gates", "multiply", "factor", "ot" };
    if (sodium_init() < 0) return 1;
    if (count != 7 || !known(argument[1], whats, 4) || !known(argument[2], kinds, 4)) {
        fprintf(
            stderr,
            "usage: bench_garbling gates|multiply|factor|ot memory|shared|stream|tls ENGINE rekeyed|fixed "
            "MILLIONS REPEATS\n");
        return 2;
    }
    work all = { .what = argument[1], .channel_kind = argument[2], .settings = tacit_garble_defaults() };
    for (tacit_engine engine = 0; engine < TACIT_ENGINES; engine++)
        if (strcmp(argument[3], tacit_engine_name(engine)) == 0) all.settings.engine = engine;
    all.settings.fixed_key = strcmp(argument[4], "fixed") == 0;
    all.wanted = (uint64_t)(atof(argument[5]) * 1e6);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = make_folder(all.folder, all.channel_kind, &error);
    if (status == TACIT_OK) status = measure(&all, atoi(argument[6]), &error);
    remove_files(all.folder);
    if (status != TACIT_OK) fprintf(stderr, "bench_garbling: %s\n", error.text);
    return status == TACIT_OK ? 0 : 1;
}
