/* Linear algebra between two servers, on either engine: what is opened is what it should be. */
#include "relay.h"

#include <string.h>

#include "crypto/linear/secure.h"
#include "keys.h"

enum { MOST = 12, TRIANGLE = MOST * (MOST + 1) / 2 };

typedef struct server {
    tacit_role role;
    tacit_secure_engine engine;
    tacit_fixed format;
    size_t order, prepare;
    int64_t matrix[TRIANGLE], vector[MOST]; /* A has the matrix, B the vector */
    int64_t solution[2][MOST], inverse[TRIANGLE], product[MOST * 2];
    bool less[3];
    tacit_secure_costs costs;
} server;

static const int64_t *only(const server *self, tacit_role owner, const int64_t *values) {
    return self->role == owner ? values : NULL;
}

/* Whether 1 < 2 and -3 < -2; whether 1 < 2 and -2 < -2; whether nothing. */
static tacit_status comparisons(server *self, tacit_secure *secure, tacit_error *error) {
    static const int64_t small[2][2] = { { 1, -3 }, { 1, -2 } }, large[2] = { 2, -2 };
    tacit_share a[2], b[2];
    TACIT_TRY(tacit_secure_input(secure, b, TACIT_EVALUATOR, only(self, TACIT_EVALUATOR, large), 2, error));
    for (int k = 0; k < 2; k++) {
        TACIT_TRY(
            tacit_secure_input(secure, a, TACIT_GARBLER, only(self, TACIT_GARBLER, small[k]), 2, error));
        TACIT_TRY(tacit_secure_all_less(secure, &self->less[k], a, b, 2, error));
    }
    return tacit_secure_all_less(secure, &self->less[2], a, b, 0, error);
}

static tacit_status compute(server *self, tacit_secure *secure, tacit_factored **factor, tacit_error *error) {
    tacit_share matrix[TRIANGLE], vector[MOST], solution[MOST], inverse[TRIANGLE], square[MOST * MOST],
        twice[MOST * 2], product[MOST * 2];
    size_t d = self->order, count = tacit_triangle(d, 0);
    if (self->prepare > 0) TACIT_TRY(tacit_secure_prepare(secure, d, self->prepare, error));
    TACIT_TRY(tacit_secure_input(secure, matrix, TACIT_GARBLER, only(self, TACIT_GARBLER, self->matrix),
                                 count, error));
    TACIT_TRY(tacit_secure_input(secure, vector, TACIT_EVALUATOR, only(self, TACIT_EVALUATOR, self->vector),
                                 d, error));
    TACIT_TRY(tacit_secure_factor(secure, factor, matrix, d, error));
    for (int k = 0; k < 2; k++) { /* of b, then of 2 b */
        TACIT_TRY(tacit_secure_solve(secure, solution, *factor, vector, error));
        TACIT_TRY(tacit_secure_open(secure, self->solution[k], solution, d, error));
        tacit_shares_scale(vector, vector, 2, d);
    }
    TACIT_TRY(tacit_secure_inverse(secure, inverse, *factor, error));
    TACIT_TRY(tacit_secure_open(secure, self->inverse, inverse, count, error));
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++)
            square[i * d + j] = matrix[i > j ? tacit_triangle(i, j) : tacit_triangle(j, i)];
        twice[2 * i] = twice[2 * i + 1] = vector[i];
    }
    TACIT_TRY(tacit_secure_multiply(secure, product, square, twice, d, d, 2, error));
    TACIT_TRY(tacit_secure_open(secure, self->product, product, 2 * d, error));
    return comparisons(self, secure, error);
}

static tacit_status play(tacit_channel *channel, tacit_stream *stream, void *context, tacit_error *error) {
    server *self = context;
    tacit_secure *secure = NULL;
    tacit_factored *factor = NULL;
    tacit_secure_settings settings = tacit_secure_defaults();
    settings.engine = self->engine;
    settings.format = self->format;
    settings.garble.stream = stream;
    TACIT_TRY(tacit_secure_create(&secure, self->role, channel, &settings, error));
    tacit_status status = compute(self, secure, &factor, error);
    self->costs = tacit_secure_cost(secure);
    tacit_factored_free(factor);
    tacit_secure_free(secure);
    return status;
}

typedef struct world {
    server servers[2];
    pair_thread both[2];
    double matrix[MOST][MOST], vector[MOST];
} world;

/* X^T X / (4 n) + 0.001 of 50 random rows. */
static void begin(world *self, tacit_secure_engine engine, tacit_fixed format, size_t d,
                  tacit_stream *stream) {
    enum { ROWS = 50 };
    double x[ROWS][MOST];
    server *a = &self->servers[0], *b = &self->servers[1];
    *a = (server){ .role = TACIT_GARBLER, .engine = engine, .format = format, .order = d };
    *b = (server){ .role = TACIT_EVALUATOR, .engine = engine, .format = format, .order = d };
    for (size_t r = 0; r < ROWS; r++)
        for (size_t j = 0; j < d; j++)
            x[r][j] = 2 * tacit_stream_unit(stream) - 1 + (j > 0 ? x[r][j - 1] : 0) * 0.5;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = i == j ? 0.001 : 0;
            for (size_t r = 0; r < ROWS; r++) sum += x[r][i] * x[r][j] / (4 * ROWS);
            a->matrix[tacit_triangle(i, j)] = llrint(ldexp(sum, (int)format.fraction));
            self->matrix[i][j] = self->matrix[j][i] = sum;
        }
        self->vector[i] = tacit_stream_unit(stream) - 0.5;
        b->vector[i] = llrint(ldexp(self->vector[i], (int)format.fraction));
    }
    for (int i = 0; i < 2; i++)
        self->both[i] = (pair_thread){ .part = play,
                                       .context = &self->servers[i],
                                       .stream = tacit_stream_fork(stream, "server", (uint64_t)i, 0) };
}

static double real(const world *self, int64_t units) {
    return ldexp((double)units, -(int)self->servers[0].format.fraction);
}

static void check(const world *self, double tolerance) {
    const server *seen = &self->servers[0];
    size_t d = seen->order;
    for (size_t i = 0; i < d; i++) {
        double once = 0, twice = 0, unit = 0, product = 0;
        for (size_t j = 0; j < d; j++) {
            size_t at = i > j ? tacit_triangle(i, j) : tacit_triangle(j, i);
            once += self->matrix[i][j] * real(self, seen->solution[0][j]);
            twice += self->matrix[i][j] * real(self, seen->solution[1][j]);
            unit += self->matrix[i][j] * real(self, seen->inverse[at]);
            product += self->matrix[i][j] * 4 * self->vector[j];
        }
        CHECK_NEAR(once, self->vector[i], tolerance);
        CHECK_NEAR(twice, 2 * self->vector[i], tolerance);
        CHECK_NEAR(unit, 1, 10 * tolerance);
        CHECK_NEAR(real(self, seen->product[2 * i]), product, tolerance);
        CHECK_NEAR(real(self, seen->product[2 * i + 1]), product, tolerance);
    }
    assert_true(seen->less[0] && !seen->less[1] && seen->less[2]);
    assert_memory_equal(seen->solution, self->servers[1].solution, sizeof seen->solution);
    assert_memory_equal(seen->inverse, self->servers[1].inverse, sizeof seen->inverse);
    assert_memory_equal(seen->less, self->servers[1].less, sizeof seen->less);
}

static void both_engines_solve_invert_and_multiply(void **state) {
    (void)state;
    tacit_stream stream = printed_stream();
    static const size_t orders[] = { 1, 3, MOST };
    for (tacit_secure_engine engine = TACIT_SECURE_YAO; engine <= TACIT_SECURE_SHARES; engine++)
        for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
            world self;
            begin(&self, engine, tacit_fixed_center, orders[k], &stream);
            pair_must(self.both);
            check(&self, 1e-6);
            assert_true(self.servers[0].costs.gates == self.servers[1].costs.gates);
            assert_true((self.servers[0].costs.products > 0) == (engine == TACIT_SECURE_SHARES));
        }
}

static void shorter_numbers_do_too(void **state) {
    (void)state;
    tacit_stream stream = printed_stream();
    for (tacit_secure_engine engine = TACIT_SECURE_YAO; engine <= TACIT_SECURE_SHARES; engine++) {
        world self;
        begin(&self, engine, (tacit_fixed){ 40, 26 }, 5, &stream);
        pair_must(self.both);
        check(&self, 1e-4);
    }
}

static void what_was_prepared_is_used(void **state) {
    (void)state;
    tacit_stream stream = printed_stream();
    uint64_t products[2];
    for (size_t prepare = 1; prepare <= 2; prepare++) {
        world self;
        begin(&self, TACIT_SECURE_SHARES, tacit_fixed_center, 6, &stream);
        self.servers[0].prepare = self.servers[1].prepare = prepare; /* of the two right-hand sides */
        pair_must(self.both);
        check(&self, 1e-6);
        products[prepare - 1] = self.servers[0].costs.products;
        assert_true(self.servers[0].costs.prepared > 0);
    }
    assert_int_equal(products[0], products[1]);
}

/* ---- functions of single numbers ---- */

enum { NUMBERS = 600, COLUMNS = 3 }; /* more than the lanes of a circuit */

typedef struct functions {
    tacit_role role;
    tacit_secure_engine engine;
    size_t count;
    const int64_t *values, *table;
    int64_t *reciprocal, *logarithm, *scaled;
} functions;

static tacit_status play_functions(tacit_channel *channel, tacit_stream *stream, void *context,
                                   tacit_error *error) {
    functions *self = context;
    tacit_secure *secure = NULL;
    tacit_secure_settings settings = tacit_secure_defaults();
    const bool a = self->role == TACIT_GARBLER;
    static _Thread_local tacit_share x[NUMBERS], y[NUMBERS], table[NUMBERS * COLUMNS];
    settings.engine = self->engine;
    settings.format.fraction = 36;
    settings.garble.stream = stream;
    TACIT_TRY(tacit_secure_create(&secure, self->role, channel, &settings, error));
    tacit_status status;
    TACIT_CHECK(tacit_secure_input(secure, x, TACIT_GARBLER, a ? self->values : NULL, self->count, error));
    TACIT_CHECK(tacit_secure_input(secure, table, TACIT_EVALUATOR, a ? NULL : self->table,
                                   self->count * COLUMNS, error));
    TACIT_CHECK(tacit_secure_scale_rows(secure, table, x, table, self->count, COLUMNS, error));
    TACIT_CHECK(tacit_secure_open(secure, self->scaled, table, self->count * COLUMNS, error));
    TACIT_CHECK(tacit_secure_reciprocals(secure, y, x, self->count, error));
    TACIT_CHECK(tacit_secure_open(secure, self->reciprocal, y, self->count, error));
    TACIT_CHECK(tacit_secure_logarithms(secure, x, x, self->count, error)); /* in place */
    TACIT_CHECK(tacit_secure_open(secure, self->logarithm, x, self->count, error));
cleanup:
    tacit_secure_free(secure);
    return status;
}

/* Rows times factors to a unit, reciprocals to one, logarithms to 32, from 2^-26 to 2^26; and of 0 everything is a number,
 * and 0 times it 0. */
static void both_engines_scale_rows_and_find_reciprocals_and_logarithms(void **state) {
    (void)state;
    static int64_t values[NUMBERS], table[NUMBERS * COLUMNS], found[2][NUMBERS * (2 + COLUMNS)];
    tacit_stream stream = printed_stream();
    for (tacit_secure_engine engine = TACIT_SECURE_YAO; engine <= TACIT_SECURE_SHARES; engine++) {
        size_t count = engine == TACIT_SECURE_YAO ? 20 : NUMBERS;
        for (size_t k = 0; k < count; k++) {
            double x = k == 0 ? 0 : k == 1 ? 1 : exp2(52 * tacit_stream_unit(&stream) - 26);
            values[k] = llrint(ldexp(x, 36));
            for (size_t j = 0; j < COLUMNS; j++)
                table[k * COLUMNS + j] = llrint(ldexp((tacit_stream_unit(&stream) - 0.5) / fmax(1, x), 36));
        }
        functions servers[2];
        pair_thread both[2];
        for (int i = 0; i < 2; i++) {
            servers[i] = (functions){ .role = i == 0 ? TACIT_GARBLER : TACIT_EVALUATOR,
                                      .engine = engine,
                                      .count = count,
                                      .values = values,
                                      .table = table,
                                      .reciprocal = found[i],
                                      .logarithm = found[i] + NUMBERS,
                                      .scaled = found[i] + 2 * NUMBERS };
            both[i] = (pair_thread){ .part = play_functions,
                                     .context = &servers[i],
                                     .stream = tacit_stream_fork(&stream, "server", (uint64_t)i, 0) };
        }
        pair_must(both);
        for (size_t k = 0; k < count; k++) {
            double x = ldexp((double)values[k], -36), unit = 0x1p-36;
            for (size_t j = 0; j < COLUMNS; j++)
                CHECK_NEAR(ldexp((double)servers[0].scaled[k * COLUMNS + j], -36),
                           x * ldexp((double)table[k * COLUMNS + j], -36), 1.01 * unit);
            if (k == 0) continue;
            CHECK_NEAR(ldexp((double)servers[0].reciprocal[k], -36), 1 / x, 1.01 * unit + 4e-16 / x);
            CHECK_NEAR(ldexp((double)servers[0].logarithm[k], -36), log(x), 32 * unit);
        }
        for (size_t j = 0; j < COLUMNS; j++) assert_int_equal(servers[0].scaled[j], 0);
        assert_memory_equal(found[0], found[1], sizeof found[0]);
    }
}

/* ---- what goes over the wire ---- */

/* The same seeds say the same bytes, today and tomorrow. */
static void the_trace_under_fixed_seeds_is_fixed(void **state) {
    (void)state;
    static const char *const right[2][2] = {
        { "9c10a8050fc9dfaa22c7ae4fe65ad766", "3ea6eed57f4287e4da36941f1c9e6ca6" },
        { "f8b702dd1c039a7d58564e0c6c6d1c8e", "c84cd258ceddf0d47e6cfe3c45b780e0" }
    };
    for (tacit_secure_engine engine = TACIT_SECURE_YAO; engine <= TACIT_SECURE_SHARES; engine++) {
        tacit_stream stream = tacit_stream_from_seed(6);
        char said[2][RELAY_TEXT];
        world self;
        begin(&self, engine, tacit_fixed_center, 3, &stream);
        relay_run(self.both, said);
        for (int i = 0; i < 2; i++) assert_string_equal(said[i], right[engine][i]);
    }
}

/* Bytes and rounds are those of the sizes, whatever the numbers are. */
static void how_much_is_said_does_not_depend_on_the_numbers(void **state) {
    (void)state;
    for (tacit_secure_engine engine = TACIT_SECURE_YAO; engine <= TACIT_SECURE_SHARES; engine++) {
        tacit_channel_counts first = { 0 };
        for (uint64_t seed = 7; seed < 9; seed++) {
            tacit_stream stream = tacit_stream_from_seed(seed);
            world self;
            begin(&self, engine, tacit_fixed_center, 3, &stream);
            pair_must(self.both);
            tacit_channel_counts counts = self.servers[0].costs.channel;
            if (seed == 7) first = counts;
            assert_int_equal(counts.sent, first.sent);
            assert_int_equal(counts.received, first.received);
        }
    }
}

/* ---- peers that do not play by the rules ---- */

static void garbage_is_an_error(void **state) {
    (void)state;
    static size_t lengths[] = { 48, 20000 };
    tacit_stream stream = tacit_stream_from_seed(3);
    for (tacit_secure_engine engine = TACIT_SECURE_YAO; engine <= TACIT_SECURE_SHARES; engine++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            for (int victim = 0; victim < 2; victim++) {
                world self;
                begin(&self, engine, tacit_fixed_center, 3, &stream);
                self.both[1 - victim].part = pair_garbage;
                self.both[1 - victim].context = &lengths[k];
                pair_run(self.both);
                assert_true(self.both[victim].status == TACIT_NETWORK ||
                            self.both[victim].status == TACIT_PROTOCOL);
                assert_true(strlen(self.both[victim].error.text) > 0);
            }
}

/* Leaves when all is set up, or when the matrix is in. */
typedef struct death {
    server *self;
    bool has_begun;
} death;

static tacit_status die(tacit_channel *channel, tacit_stream *stream, void *context, tacit_error *error) {
    const death *when = context;
    server *self = when->self;
    tacit_secure *secure = NULL;
    tacit_share shares[TRIANGLE];
    tacit_secure_settings settings = tacit_secure_defaults();
    settings.engine = self->engine;
    settings.garble.stream = stream;
    TACIT_TRY(tacit_secure_create(&secure, self->role, channel, &settings, error));
    tacit_status status = TACIT_OK;
    if (when->has_begun)
        status = tacit_secure_input(secure, shares, TACIT_GARBLER, only(self, TACIT_GARBLER, self->matrix),
                                    tacit_triangle(self->order, 0), error);
    tacit_secure_free(secure);
    return status;
}

static void a_server_that_dies_is_an_error_to_the_other(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(4);
    for (tacit_secure_engine engine = TACIT_SECURE_YAO; engine <= TACIT_SECURE_SHARES; engine++)
        for (int begun = 0; begun < 2; begun++)
            for (int victim = 0; victim < 2; victim++) {
                world self;
                begin(&self, engine, tacit_fixed_center, 3, &stream);
                death when = { &self.servers[1 - victim], begun != 0 };
                self.both[1 - victim].part = die;
                self.both[1 - victim].context = &when;
                pair_run(self.both);
                assert_int_equal(self.both[victim].status, TACIT_NETWORK);
                assert_true(self.servers[victim].solution[0][0] == 0); /* nothing was opened */
            }
}

static void servers_that_do_not_fit_are_refused(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(5);
    for (int what = 0; what < 3; what++) {
        world self;
        begin(&self, TACIT_SECURE_YAO, tacit_fixed_center, 3, &stream);
        if (what == 0) self.servers[1].engine = TACIT_SECURE_SHARES;
        if (what == 1) self.servers[1].role = TACIT_GARBLER;
        if (what == 2) self.servers[1].format.fraction = 20;
        pair_run(self.both);
        assert_int_equal(self.both[0].status, TACIT_PROTOCOL);
        assert_int_equal(self.both[1].status, TACIT_PROTOCOL);
    }
}

static void wrong_settings_are_refused(void **state) {
    (void)state;
    tacit_secure *secure = NULL;
    static const tacit_fixed wrong[] = { { 65, 32 }, { 1, 0 }, { 32, 32 } };
    for (int k = 0; k < 3; k++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_secure_settings settings = tacit_secure_defaults();
        settings.format = wrong[k];
        assert_int_equal(tacit_secure_create(&secure, TACIT_GARBLER, NULL, &settings, &error), TACIT_USAGE);
        settings = tacit_secure_defaults();
        assert_int_equal(tacit_secure_create(&secure, TACIT_BOTH, NULL, &settings, &error), TACIT_USAGE);
        error = (tacit_error)TACIT_ERROR_INIT;
        size_t *narrow = k == 0 ? &settings.factor_width : &settings.solution_width;
        *narrow = k == 1 ? settings.format.fraction : settings.format.width + 1;
        assert_int_equal(tacit_secure_create(&secure, TACIT_GARBLER, NULL, &settings, &error), TACIT_USAGE);
        assert_non_null(strstr(error.text, "narrow"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_engines_solve_invert_and_multiply),
        cmocka_unit_test(shorter_numbers_do_too),
        cmocka_unit_test(what_was_prepared_is_used),
        cmocka_unit_test(both_engines_scale_rows_and_find_reciprocals_and_logarithms),
        cmocka_unit_test(the_trace_under_fixed_seeds_is_fixed),
        cmocka_unit_test(how_much_is_said_does_not_depend_on_the_numbers),
        cmocka_unit_test(garbage_is_an_error),
        cmocka_unit_test(a_server_that_dies_is_an_error_to_the_other),
        cmocka_unit_test(servers_that_do_not_fit_are_refused),
        cmocka_unit_test(wrong_settings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
