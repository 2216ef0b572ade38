/*
 * The check of a solution (method/secure/logit_solve.c): its bit is 1 exactly where s is within its range and H s =
 * b within the tolerance, to a unit, on both engines; also where numbers are equal modulo 2^64 only.
 */
#include "logit_world.h"

#include <pthread.h>

enum { ORDER = 3, TRIANGLE = ORDER * (ORDER + 1) / 2, TOLERANCE = 16, FRACTION = 36, CASES = 60 };

typedef struct equation {
    tacit_signed_share matrix[TRIANGLE], s[ORDER], b[ORDER]; /* units; the matrix and b fit 64 bits */
    bool passes;
} equation;

typedef struct side {
    const tacit_plan *plan;
    tacit_role role;
    tacit_channel *channel;
    tacit_secure_engine engine;
    const equation *cases;
    size_t count;
    bool unproved; /* of counts: trace and b are looked at, too */
    bool passed[CASES];
    tacit_status status;
    tacit_error error;
} side;

/* Both servers draw the same masks; A has the number less the mask. */
static void share(tacit_share *out, const tacit_signed_share *values, size_t count, tacit_role role,
                  tacit_stream *masks) {
    for (size_t k = 0; k < count; k++) {
        tacit_share mask = (tacit_share)tacit_stream_u64(masks) << 64 | tacit_stream_u64(masks);
        out[k] = role == TACIT_GARBLER ? (tacit_share)values[k] - mask : mask;
    }
}

static void describe(tacit_logit *logit) {
    logit->width = ORDER;
    logit->triangle = TRIANGLE;
    logit->fraction = FRACTION;
    logit->bits = 64;
    logit->trace = 64; /* rows of H up to 111: c = 61 - 7 */
}

static tacit_status check_all(side *self, tacit_logit *logit) {
    tacit_stream masks = tacit_stream_from_seed(8);
    for (size_t k = 0; k < self->count; k++) {
        tacit_share s[ORDER], b[ORDER];
        tacit_error error = TACIT_ERROR_INIT;
        share(logit->matrix, self->cases[k].matrix, TRIANGLE, self->role, &masks);
        share(s, self->cases[k].s, ORDER, self->role, &masks);
        share(b, self->cases[k].b, ORDER, self->role, &masks);
        tacit_status status = tacit_logit_check_solution(logit, s, b, TOLERANCE, &error);
        if (status != TACIT_OK && status != TACIT_LIMIT)
            return tacit_fail(&self->error, status, "%s", error.text);
        self->passed[k] = status == TACIT_OK;
    }
    return TACIT_OK;
}

static void *side_main(void *argument) {
    side *self = argument;
    tacit_share matrix[TRIANGLE], whole[ORDER * ORDER];
    tacit_center_server center = { .role = self->role, .plan = self->plan, .channel = self->channel };
    tacit_logit logit = { .center = &center, .plan = self->plan, .matrix = matrix, .whole = whole };
    tacit_secure_settings settings = tacit_secure_defaults();
    settings.engine = self->engine;
    settings.format = (tacit_fixed){ 64, FRACTION };
    describe(&logit);
    logit.unproved = self->unproved;
    logit.family = &tacit_family_poisson;
    self->status = tacit_secure_create(&logit.secure, self->role, self->channel, &settings, &self->error);
    if (self->status == TACIT_OK) self->status = check_all(self, &logit);
    tacit_secure_free(logit.secure);
    self->channel = tacit_channel_free(self->channel);
    return NULL;
}

static void check_cases_of(const equation *cases, size_t count, bool unproved) {
    tacit_plan plan = { .method = &tacit_method_newton };
    for (tacit_secure_engine engine = TACIT_SECURE_YAO; engine <= TACIT_SECURE_SHARES; engine++) {
        tacit_error error = TACIT_ERROR_INIT;
        side sides[2];
        pthread_t thread;
        for (int i = 0; i < 2; i++)
            sides[i] = (side){ .plan = &plan,
                               .role = i == 0 ? TACIT_GARBLER : TACIT_EVALUATOR,
                               .engine = engine,
                               .cases = cases,
                               .count = count,
                               .unproved = unproved };
        CHECK_OK(tacit_channel_memory_pair(&sides[0].channel, &sides[1].channel, &error), error);
        assert_int_equal(pthread_create(&thread, NULL, side_main, &sides[1]), 0);
        side_main(&sides[0]);
        pthread_join(thread, NULL);
        for (int i = 0; i < 2; i++) {
            CHECK_OK(sides[i].status, sides[i].error);
            for (size_t k = 0; k < count; k++)
                if (sides[i].passed[k] != cases[k].passes)
                    fail_msg("engine %s, case %zu: %s", tacit_secure_engine_name(engine), k,
                             cases[k].passes ? "refused" : "passed");
        }
    }
}

static void check_cases(const equation *cases, size_t count) { check_cases_of(cases, count, false); }

static tacit_signed_share unit(unsigned bits) { return (tacit_signed_share)1 << bits; }

static size_t at(size_t i, size_t j) { return i >= j ? tacit_triangle(i, j) : tacit_triangle(j, i); }

/* b = H s + off in the first coordinate, with H = h I. */
static equation diagonal(double h, tacit_signed_share s, tacit_signed_share off, bool passes) {
    equation out = { .s = { s }, .passes = passes };
    for (size_t i = 0; i < ORDER; i++) out.matrix[at(i, i)] = llrint(ldexp(h, FRACTION));
    out.b[0] = (s * out.matrix[0] >> FRACTION) + off;
    return out;
}

static void residuals_are_told_apart_at_the_limit(void **state) {
    (void)state;
    tacit_signed_share limit = unit(TOLERANCE), some = unit(FRACTION) * 3 / 7;
    const equation cases[] = {
        diagonal(0.2, some, 0, true),           diagonal(0.2, some, limit - 2, true),
        diagonal(0.2, some, 2 - limit, true),   diagonal(0.2, some, limit + 2, false),
        diagonal(0.2, some, -limit - 2, false), diagonal(0.2, -some, limit - 2, true),
        diagonal(0.2, -some, limit + 2, false),
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void solutions_beyond_their_range_are_refused(void **state) {
    (void)state;
    tacit_logit logit = { .width = 0 };
    describe(&logit);
    unsigned range = tacit_logit_step_bits(&logit);
    assert_int_equal(range, 54);
    const equation cases[] = {
        diagonal(0.5, unit(range) - 1, 0, true),
        diagonal(0.5, -unit(range), 0, true),
        diagonal(0.5, unit(range), 0, false),
        diagonal(0.5, -unit(range) - 1, 0, false),
        /* H s is 0 modulo 2^64, and b is 0: s of 59 bits, then of 65 */
        { .matrix = { unit(FRACTION + 6) }, .s = { unit(58) }, .passes = false },
        { .matrix = { unit(FRACTION) }, .s = { unit(64) }, .passes = false },
        { .matrix = { unit(FRACTION) }, .s = { -unit(64) }, .passes = false },
        { .matrix = { unit(FRACTION) }, .s = { unit(100) }, .passes = false },
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

/* What nothing but the check bounds of counts: a trace of 64, and sums that are equal modulo 2^64 only. */
static void of_counts_the_trace_and_the_sums_are_looked_at(void **state) {
    (void)state;
    tacit_signed_share some = unit(FRACTION) * 3 / 7, third = unit(FRACTION + 6) / 3;
    equation cases[] = {
        diagonal(21.3, some, 0, true),
        diagonal(0, some, 0, true),
        diagonal(0, some, 0, false),
        diagonal(0.2, some, 0, false),
        { .matrix = { unit(FRACTION + 6) }, .passes = false },
        { .matrix = { unit(FRACTION + 6) - 1 }, .passes = true },
    };
    for (size_t i = 0; i < ORDER; i++) { /* a third each: 64 less a unit, and 64 */
        cases[1].matrix[at(i, i)] = third;
        cases[2].matrix[at(i, i)] = third + (i == 0);
    }
    for (int k = 1; k < 3; k++) cases[k].b[0] = some * cases[k].matrix[0] >> FRACTION;
    cases[3].b[0] += unit(64);
    check_cases_of(cases, sizeof cases / sizeof *cases, true);
    for (int k = 2; k < 5; k++) cases[k].passes = true; /* which classes and numbers do not need */
    check_cases(cases, sizeof cases / sizeof *cases);
}

/* Anything random, beside the same decision in whole numbers; nothing within two units of a limit. */
static void the_bit_is_that_of_whole_numbers(void **state) {
    (void)state;
    tacit_stream stream = printed_stream();
    equation *cases = calloc(CASES, sizeof *cases);
    size_t passing = 0;
    assert_non_null(cases);
    for (size_t k = 0; k < CASES; k++) {
        equation *one = &cases[k];
        one->passes = true;
        for (size_t i = 0; i < TRIANGLE; i++)
            one->matrix[i] = (int64_t)(tacit_stream_u64(&stream) >> 24) - unit(39);
        for (size_t i = 0; i < ORDER; i++)
            one->s[i] = (int64_t)tacit_stream_u64(&stream) >> (10 + tacit_stream_below(&stream, 30));
        for (size_t i = 0; i < ORDER; i++) {
            tacit_signed_share sum = 0, off = 0;
            for (size_t j = 0; j < ORDER; j++) sum += one->matrix[at(i, j)] * one->s[j];
            if (k % 2 == 0)
                off = (int64_t)tacit_stream_u64(&stream) >> (40 + tacit_stream_below(&stream, 20));
            if (off > 0 ? off > unit(TOLERANCE) - 3 && off < unit(TOLERANCE) + 3
                        : -off > unit(TOLERANCE) - 3 && -off < unit(TOLERANCE) + 3)
                off = 0;
            one->b[i] = (sum >> FRACTION) + off;
            one->passes = one->passes && off < unit(TOLERANCE) && -off < unit(TOLERANCE);
        }
        passing += one->passes;
    }
    assert_true(passing > CASES / 4 && passing < CASES);
    check_cases(cases, CASES);
    free(cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residuals_are_told_apart_at_the_limit),
        cmocka_unit_test(solutions_beyond_their_range_are_refused),
        cmocka_unit_test(of_counts_the_trace_and_the_sums_are_looked_at),
        cmocka_unit_test(the_bit_is_that_of_whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
