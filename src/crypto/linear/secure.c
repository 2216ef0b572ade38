#include "crypto/linear/secure.h"

#include <sodium.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "crypto/garble/circuits_parts.h"
#include "crypto/garble/circuits_word.h"
#include "crypto/linear/secure_parts.h"

static const char *const engine_names[] = { "yao", "shares" };

const char *tacit_secure_engine_name(tacit_secure_engine engine) { return engine_names[engine]; }

tacit_secure_settings tacit_secure_defaults(void) {
    return (tacit_secure_settings){ .engine = TACIT_SECURE_YAO,
                                    .format = tacit_fixed_center,
                                    .garble = tacit_garble_defaults(),
                                    .pool = NULL };
}

/* ---- making ---- */

typedef struct greeting {
    uint8_t name[8]; /* "tacit-s" */
    uint8_t version, role, engine, width, fraction, factor_width, solution_width, zero;
} greeting;

/* Both must mean the same, and be two. */
static tacit_status greet(const tacit_secure *self, tacit_error *error) {
    greeting theirs, mine = { .name = "tacit-s",
                              .version = 2,
                              .role = (uint8_t)self->converter.role,
                              .engine = (uint8_t)self->engine,
                              .width = (uint8_t)self->format.width,
                              .fraction = (uint8_t)self->format.fraction,
                              .factor_width = (uint8_t)(self->format.width - self->factor_width),
                              .solution_width = (uint8_t)(self->format.width - self->solution_width) };
    TACIT_TRY(
        tacit_exchange(&theirs, &mine, sizeof mine, self->converter.role, self->converter.channel, error));
    mine.role = TACIT_BOTH - mine.role;
    if (memcmp(&theirs, &mine, sizeof mine) == 0) return TACIT_OK;
    return tacit_fail(
        error, TACIT_PROTOCOL,
        "the other server runs another version, role, engine or number format; give both the same study");
}

static tacit_status check_settings(tacit_role role, const tacit_secure_settings *settings,
                                   tacit_error *error) {
    tacit_fixed format = settings->format;
    if (role != TACIT_GARBLER && role != TACIT_EVALUATOR)
        return tacit_fail(error, TACIT_USAGE, "a server is the garbler or the evaluator");
    if (format.width < 2 || format.width > 64 || format.fraction >= format.width)
        return tacit_fail(error, TACIT_USAGE,
                          "numbers have 2 to 64 bits, fewer of them behind the point; not %zu and %zu",
                          format.width, format.fraction);
    if (settings->factor_width > format.width || settings->solution_width > format.width ||
        (settings->factor_width > 0 && settings->factor_width <= format.fraction) ||
        (settings->solution_width > 0 && settings->solution_width <= format.fraction))
        return tacit_fail(error, TACIT_USAGE,
                          "narrow numbers have more bits than those behind the point, %zu, and at most %zu",
                          format.fraction, format.width);
    return TACIT_OK;
}

tacit_status tacit_secure_create(tacit_secure **out, tacit_role role, tacit_channel *channel,
                                 const tacit_secure_settings *settings, tacit_error *error) {
    TACIT_TRY(check_settings(role, settings, error));
    tacit_secure *self = TACIT_NEW(tacit_secure, 1);
    if (self == NULL) return tacit_fail_memory(error);
    tacit_status status = TACIT_OK;
    tacit_garble_settings garble = settings->garble;
    double begin = tacit_secure_now();
    self->engine = settings->engine;
    self->kind = settings->engine == TACIT_SECURE_YAO ? &tacit_secure_yao : &tacit_secure_shares;
    self->format = settings->format;
    self->factor_width = settings->factor_width > 0 ? settings->factor_width : settings->format.width;
    self->solution_width = settings->solution_width > 0 ? settings->solution_width : settings->format.width;
    if (garble.stream == NULL) {
        self->own = tacit_stream_from_entropy();
        garble.stream = &self->own;
    }
    self->converter = (tacit_converter){ role, channel, garble.stream, NULL, settings->pool };
    TACIT_CHECK(tacit_entropy_create(&self->converter.entropy, error));
    TACIT_CHECK(greet(self, error));
    TACIT_CHECK((role == TACIT_GARBLER ? tacit_garbler_create
                                       : tacit_evaluator_create)(&self->builder, channel, &garble, error));
    if (self->engine == TACIT_SECURE_SHARES)
        TACIT_CHECK(tacit_triples_create(&self->triples, role, channel, garble.stream, garble.engine, error));
    self->costs.prepared = tacit_secure_now() - begin;
    *out = self;
    self = NULL;
cleanup:
    tacit_secure_free(self);
    return status;
}

tacit_secure *tacit_secure_free(tacit_secure *secure) {
    if (secure == NULL) return NULL;
    tacit_material_free(secure->prepared);
    tacit_triples_free(secure->triples);
    tacit_builder_free(secure->builder);
    tacit_entropy_free(secure->converter.entropy);
    tacit_stream_wipe(&secure->own);
    free(secure);
    return NULL;
}

tacit_role tacit_secure_role(const tacit_secure *secure) { return secure->converter.role; }

double tacit_secure_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

tacit_secure_costs tacit_secure_cost(const tacit_secure *secure) {
    tacit_secure_costs costs = secure->costs;
    costs.gates = secure->builder->and_count;
    costs.channel = tacit_channel_count(secure->converter.channel);
    return costs;
}

tacit_status tacit_secure_built(const tacit_secure *self, tacit_status status, tacit_error *error) {
    if (status != TACIT_OK && error != NULL && error->status == TACIT_OK) *error = self->builder->error;
    return status;
}

tacit_status tacit_secure_book(tacit_secure *self, double begin, tacit_status status) {
    self->costs.prepared += self->ahead;
    self->costs.online += tacit_secure_now() - begin - self->ahead;
    self->ahead = 0;
    return status;
}

/* ---- in and out ---- */

tacit_status tacit_secure_input(tacit_secure *secure, tacit_share *out, tacit_role owner,
                                const int64_t *values, size_t count, tacit_error *error) {
    double begin = tacit_secure_now();
    size_t length = count * sizeof *out;
    tacit_channel *channel = secure->converter.channel;
    if (secure->converter.role != owner)
        return tacit_secure_book(secure, begin, tacit_channel_receive(channel, out, length, error));
    if (values == NULL && count > 0)
        return tacit_fail(error, TACIT_USAGE, "an input belongs to one server, which gives the numbers");
    tacit_stream_bytes(secure->converter.stream, out, length); /* the other's share */
    tacit_status status = tacit_channel_send(channel, out, length, error);
    if (status == TACIT_OK) status = tacit_channel_flush(channel, error);
    for (size_t k = 0; k < count; k++) out[k] = tacit_share_of(values[k]) - out[k];
    return tacit_secure_book(secure, begin, status);
}

tacit_status tacit_secure_from_ciphertexts(tacit_secure *secure, tacit_share *out, size_t count,
                                           const tacit_masked_slots *layout,
                                           const tacit_ciphertexts *ciphertexts,
                                           const tacit_paillier_secret *secret, unsigned drop,
                                           tacit_error *error) {
    double begin = tacit_secure_now();
    return tacit_secure_book(secure, begin,
                             tacit_shares_from_ciphertexts(out, count, &secure->converter, layout,
                                                           ciphertexts, secret, drop, error));
}

tacit_status tacit_secure_to_ciphertexts(tacit_secure *secure, tacit_ciphertexts *out,
                                         const tacit_paillier_public *key, const tacit_masked_slots *layout,
                                         const tacit_share *shares, size_t count, tacit_error *error) {
    double begin = tacit_secure_now();
    return tacit_secure_book(secure, begin,
                             tacit_shares_to_ciphertexts(out, &secure->converter, secure->builder, key,
                                                         layout, shares, count, error));
}

tacit_status tacit_secure_open(tacit_secure *secure, int64_t *out, const tacit_share *shares, size_t count,
                               tacit_error *error) {
    double begin = tacit_secure_now();
    tacit_share *theirs = TACIT_NEW(tacit_share, count);
    bool fits = true;
    if (theirs == NULL && count > 0) return tacit_fail_memory(error);
    tacit_status status = tacit_exchange(theirs, shares, count * sizeof *shares, secure->converter.role,
                                         secure->converter.channel, error);
    for (size_t k = 0; k < count && status == TACIT_OK; k++) {
        tacit_share sum = shares[k] + theirs[k];
        fits &= sum == tacit_share_of((int64_t)sum);
        out[k] = (int64_t)sum;
    }
    free(theirs);
    if (status == TACIT_OK && !fits)
        status = tacit_fail(error, TACIT_LIMIT,
                            "a result does not fit 64 bits; scale the columns, or use more regularisation");
    return tacit_secure_book(secure, begin, status);
}

static tacit_status compare(tacit_secure *self, bool *out, const tacit_share *a, const tacit_share *b,
                            size_t count) {
    tacit_builder *builder = self->builder;
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    size_t width = self->format.width;
    tacit_wire *x = tacit_scratch(builder, width * count), *y = tacit_scratch(builder, width * count);
    tacit_wire *all = tacit_scratch(builder, count + 1);
    uint8_t bit = 0;
    if (x == NULL || y == NULL || all == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(tacit_shares_to_wires(x, builder, self->converter.role, a, count, width));
    TACIT_TRY(tacit_shares_to_wires(y, builder, self->converter.role, b, count, width));
    TACIT_TRY(tacit_word_less(builder, all + 1, x, y, width, count));
    all[0] = tacit_constant(builder, 1);
    for (size_t k = 1; k <= count; k++) TACIT_TRY(tacit_and(builder, all, all, all + k, 1));
    TACIT_TRY(tacit_reveal(builder, TACIT_BOTH, &bit, all, 1));
    tacit_scratch_release(builder, mark);
    *out = bit != 0;
    return TACIT_OK;
}

tacit_status tacit_secure_all_less(tacit_secure *secure, bool *out, const tacit_share *a,
                                   const tacit_share *b, size_t count, tacit_error *error) {
    double begin = tacit_secure_now();
    return tacit_secure_book(secure, begin,
                             tacit_secure_built(secure, compare(secure, out, a, b, count), error));
}

/* x lies within where x + 2^bits has no bit above the lowest bits + 1. `all` is ANDed with that. */
static tacit_status within(tacit_secure *self, tacit_wire *all, const tacit_secure_range *range) {
    tacit_builder *builder = self->builder;
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    size_t count = range->count;
    tacit_share *moved = TACIT_NEW(tacit_share, count);
    tacit_wire *x = tacit_scratch(builder, range->width * count), *good = tacit_scratch(builder, count);
    tacit_status status = TACIT_OK;
    if (moved == NULL && count > 0) status = tacit_fail_memory(&builder->error);
    if (x == NULL || good == NULL) status = TACIT_NO_MEMORY;
    if (status != TACIT_OK) goto cleanup;
    for (size_t k = 0; k < count; k++)
        moved[k] = range->values[k] +
                   (self->converter.role == TACIT_GARBLER ? (tacit_share)1 << range->bits : (tacit_share)0);
    TACIT_CHECK(tacit_shares_to_wires(x, builder, self->converter.role, moved, count, range->width));
    for (size_t k = 0; k < count; k++) good[k] = tacit_constant(builder, 1);
    for (size_t i = range->bits + 1; i < range->width; i++) {
        tacit_not(builder, x + i * count, x + i * count, count);
        TACIT_CHECK(tacit_and(builder, good, good, x + i * count, count));
    }
    for (size_t k = 0; k < count; k++) TACIT_CHECK(tacit_and(builder, all, all, good + k, 1));
    tacit_scratch_release(builder, mark);
cleanup:
    if (moved != NULL) sodium_memzero(moved, count * sizeof *moved);
    free(moved);
    return status;
}

static tacit_status all_within(tacit_secure *self, bool *out, const tacit_secure_range *ranges,
                               size_t count) {
    tacit_wire all = tacit_constant(self->builder, 1);
    uint8_t bit = 0;
    for (size_t r = 0; r < count; r++)
        if (ranges[r].count > 0) TACIT_TRY(within(self, &all, &ranges[r]));
    TACIT_TRY(tacit_reveal(self->builder, TACIT_BOTH, &bit, &all, 1));
    *out = bit != 0;
    return TACIT_OK;
}

tacit_status tacit_secure_all_within(tacit_secure *secure, bool *out, const tacit_secure_range *ranges,
                                     size_t count, tacit_error *error) {
    double begin = tacit_secure_now();
    for (size_t r = 0; r < count; r++)
        if (ranges[r].width > 128 || ranges[r].bits + 1 >= ranges[r].width)
            return tacit_fail(error, TACIT_USAGE, "no range of 2^%u fits numbers of %u bits", ranges[r].bits,
                              ranges[r].width);
    return tacit_secure_book(secure, begin,
                             tacit_secure_built(secure, all_within(secure, out, ranges, count), error));
}

/* ---- linear algebra ---- */

tacit_status tacit_secure_multiply(tacit_secure *secure, tacit_share *out, const tacit_share *a,
                                   const tacit_share *b, size_t rows, size_t inner, size_t columns,
                                   tacit_error *error) {
    double begin = tacit_secure_now();
    if (rows == 0 || inner == 0 || columns == 0)
        return tacit_fail(error, TACIT_USAGE, "a product needs matrices that are not empty");
    return tacit_secure_book(secure, begin,
                             secure->kind->multiply(secure, out, a, b, rows, inner, columns, error));
}

tacit_status tacit_secure_factor(tacit_secure *secure, tacit_factored **out, const tacit_share *triangle,
                                 size_t order, tacit_error *error) {
    double begin = tacit_secure_now();
    if (order == 0) return tacit_fail(error, TACIT_USAGE, "a matrix without columns has no factor");
    tacit_factored *factor = TACIT_NEW(tacit_factored, 1);
    if (factor == NULL) return tacit_fail_memory(error);
    factor->kind = secure->kind;
    factor->order = order;
    tacit_status status = secure->kind->factor(secure, factor, triangle, error);
    if (status == TACIT_OK)
        *out = factor;
    else
        tacit_factored_free(factor);
    return tacit_secure_book(secure, begin, status);
}

tacit_factored *tacit_factored_free(tacit_factored *factor) {
    if (factor == NULL) return NULL;
    if (factor->wires != NULL) sodium_memzero(factor->wires, factor->wire_count * sizeof *factor->wires);
    free(factor->wires);
    tacit_material_free(factor->material);
    free(factor);
    return NULL;
}

tacit_status tacit_secure_solve(tacit_secure *secure, tacit_share *out, tacit_factored *factor,
                                const tacit_share *b, tacit_error *error) {
    double begin = tacit_secure_now();
    return tacit_secure_book(secure, begin, factor->kind->solve(secure, out, factor, b, error));
}

tacit_status tacit_secure_inverse(tacit_secure *secure, tacit_share *out, tacit_factored *factor,
                                  tacit_error *error) {
    double begin = tacit_secure_now();
    return tacit_secure_book(secure, begin, factor->kind->inverse(secure, out, factor, error));
}

tacit_status tacit_secure_prepare(tacit_secure *secure, size_t order, size_t solves, tacit_error *error) {
    tacit_material *material = NULL;
    if (secure->engine != TACIT_SECURE_SHARES || order == 0) return TACIT_OK;
    double begin = tacit_secure_now();
    tacit_status status = tacit_material_create(&material, secure, order, solves, error);
    if (status == TACIT_OK) tacit_material_keep(&secure->prepared, material);
    return tacit_secure_book(secure, begin, status);
}
