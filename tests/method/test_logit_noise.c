/*
 * dp in newton, privlogit-hessian and privlogit-local: a replaced row moves no sum by more than what is declared, in the
 * node's own arithmetic and on its grid; and what the two servers add between them is two whole draws of the
 * declared discrete Gaussian. Seeds are printed or fixed; a law that holds is refused with probability below
 * 1e-9 in each comparison.
 */
#include "logit_world.h"

#include <pthread.h>

#include "lab/logit_decrypt.h"
#include "privacy/mechanism/integer.h"

enum { TRIANGLE = WIDTH * (WIDTH + 1) / 2, LENGTH = TACIT_LOGIT_HEAD + WIDTH + TRIANGLE };

static tacit_paillier_secret *secret; /* of simulations */

static int read_key(void **state) {
    tacit_error error = TACIT_ERROR_INIT;
    (void)state;
    return tacit_center_simulated_key(&secret, &error) != TACIT_OK;
}

static int forget_key(void **state) {
    (void)state;
    tacit_paillier_secret_free(secret);
    return 0;
}

/* ---- sensitivity ---- */

static double moved(const int64_t *a, const int64_t *b, size_t count) {
    double square = 0;
    for (size_t j = 0; j < count; j++) square += pow((double)(a[j] - b[j]), 2);
    return sqrt(square);
}

/* Rows of length 1 that differ in one: along an axis, or near beta's direction and wrong by far. */
static void random_row(double *x, tacit_stream *stream, const double *beta, int kind) {
    double square = 0;
    for (size_t j = 0; j < WIDTH; j++) x[j] = tacit_stream_unit(stream) - 0.5;
    if (kind == 1) {
        memset(x, 0, WIDTH * sizeof *x);
        x[tacit_stream_below(stream, WIDTH)] = tacit_stream_below(stream, 2) == 0 ? 1 : -1;
    }
    if (kind == 2)
        for (size_t j = 0; j < WIDTH; j++) x[j] += 0.3 * beta[j];
    for (size_t j = 0; j < WIDTH; j++) square += x[j] * x[j];
    for (size_t j = 0; j < WIDTH; j++) x[j] /= sqrt(square) * (1 + 1e-12);
}

/* How far of the declared sensitivity the gradient and the triangle move. */
static void replay(logit_world *world, tacit_stream *stream, int kind, const double *beta, bool *opposite,
                   double most[2]) {
    tacit_error error = TACIT_ERROR_INIT;
    bool newton = world->parties.plan.method == &tacit_method_newton;
    double *x = world->parties.data->dense.values;
    int64_t sums[2][LENGTH];
    size_t row = tacit_stream_below(stream, world->parties.data->rows);
    for (int side = 0; side < 2; side++) {
        random_row(x + row * WIDTH, stream, beta, kind);
        if (side == 1 && *opposite)
            for (size_t j = 0; j < WIDTH; j++) x[row * WIDTH + j] *= -1;
        world->parties.data->label[row] = (int32_t)tacit_stream_below(stream, 2);
        CHECK_OK(tacit_logit_decrypt_sum(sums[side], world->parties.local, &world->parties.plan, secret, ROWS,
                                         beta, WIDTH, newton ? TACIT_WEIGH_CURVATURE : TACIT_WEIGH_ONE,
                                         &error),
                 error);
        for (size_t j = 0; j < TACIT_LOGIT_HEAD; j++) assert_int_equal(sums[side][j], 0);
        if (world->parties.plan.method == &tacit_method_privlogit_local)
            CHECK_OK(tacit_logit_decrypt_gradient(sums[side] + TACIT_LOGIT_HEAD, world->parties.local,
                                                  &world->parties.plan, secret, ROWS, beta, WIDTH, &error),
                     error);
    }
    for (int k = 0; k < 2; k++) {
        tacit_logit_release release;
        size_t first = k == 0 ? TACIT_LOGIT_HEAD : TACIT_LOGIT_HEAD + WIDTH;
        CHECK_OK(tacit_logit_release_of(&release, &world->parties.plan, WIDTH, ROWS, beta, k == 1, &error),
                 error);
        double ratio = moved(sums[0] + first, sums[1] + first, release.count) / release.sensitivity;
        assert_true(ratio <= 1);
        most[k] = fmax(most[k], ratio);
    }
}

static void no_replaced_row_moves_a_sum_beyond_what_is_declared(void **state) {
    (void)state;
    enum { PAIRS = 60 };
    tacit_stream stream = printed_stream();
    static const tacit_method *const private[] = { &tacit_method_newton, &tacit_method_privlogit_hessian,
                                                   &tacit_method_privlogit_local };
    for (size_t m = 0; m < 3; m++) {
        logit_world world;
        double most[2] = { 0, 0 };
        world_make(&world, private[m]);
        world_set(&world, "dp", "1");
        for (int pair = 0; pair < PAIRS; pair++) {
            double beta[WIDTH] = { 0 };
            bool opposite = pair % 3 == 0;
            for (size_t j = 0; j < WIDTH && pair % 4 != 0; j++)
                beta[j] = 6 * (tacit_stream_unit(&stream) - 0.5);
            replay(&world, &stream, pair % 3, beta, &opposite, most);
        }
        print_message("# %s: gradients %.3f, matrices %.3f of what is declared\n", private[m] -> name,
                      most[0], most[1]);
        assert_true(most[0] > 0.5 && most[1] > 0.5);
        world_end(&world);
    }
}

/* The two bounds are attained: opposite rows of one label at beta = 0; two axes. */
static void declared_sensitivities_are_attained(void **state) {
    (void)state;
    logit_world world;
    tacit_error error = TACIT_ERROR_INIT;
    double beta[WIDTH] = { 0 };
    int64_t sums[3][LENGTH];
    tacit_logit_release gradient, matrix;
    world_make(&world, &tacit_method_privlogit_hessian);
    world_set(&world, "dp", "1");
    double *x = world.parties.data->dense.values;
    for (int side = 0; side < 3; side++) {
        memset(x, 0, WIDTH * sizeof *x);
        x[side == 2 ? 1 : 0] = side == 1 ? -1 : 1;
        world.parties.data->label[0] = 1;
        CHECK_OK(tacit_logit_decrypt_sum(sums[side], world.parties.local, &world.parties.plan, secret, ROWS,
                                         beta, WIDTH, TACIT_WEIGH_ONE, &error),
                 error);
    }
    CHECK_OK(tacit_logit_release_of(&gradient, &world.parties.plan, WIDTH, ROWS, beta, false, &error), error);
    CHECK_OK(tacit_logit_release_of(&matrix, &world.parties.plan, WIDTH, ROWS, beta, true, &error), error);
    double g = moved(sums[0] + TACIT_LOGIT_HEAD, sums[1] + TACIT_LOGIT_HEAD, WIDTH) / gradient.sensitivity;
    double h = moved(sums[0] + TACIT_LOGIT_HEAD + WIDTH, sums[2] + TACIT_LOGIT_HEAD + WIDTH, TRIANGLE) /
               matrix.sensitivity;
    assert_true(g <= 1 && g > 1 - 1e-6);
    assert_true(h <= 1 && h > 1 - 1e-6);
    world_end(&world);
}

/* T releases of S sqrt(T/(2 rho)) are rho together, and rho is that of the price. */
static void releases_together_cost_what_dp_says(void **state) {
    (void)state;
    static const double beta[WIDTH] = { 0.5, 0, 0, 0 };
    logit_world world;
    tacit_error error = TACIT_ERROR_INIT;
    world_make(&world, &tacit_method_newton);
    static const tacit_method *const private[] = { &tacit_method_newton, &tacit_method_privlogit_local,
                                                   &tacit_method_privlogit_hessian };
    for (size_t m = 0; m < 3; m++) {
        world_use(&world, private[m]);
        world_set(&world, "dp", "2");
        world_set(&world, "dp-delta", "1e-5");
        world_set(&world, "dp-iterations", "6");
        size_t releases = tacit_logit_releases(&world.parties.plan), matrices = m == 0 ? 6 : 1;
        assert_int_equal(releases, 6 + matrices);
        double rho = 0, allowed, scale;
        for (int k = 0; k < 2; k++) {
            tacit_logit_release release;
            CHECK_OK(tacit_logit_release_of(&release, &world.parties.plan, WIDTH, ROWS, beta, k == 1, &error),
                     error);
            CHECK_OK(tacit_integer_scale(&scale, &release.mechanism, &error), error);
            rho += (double)(k == 0 ? 6 : matrices) * pow(release.sensitivity / scale, 2) / 2;
        }
        CHECK_OK(tacit_zcdp_for(&allowed, 2, 1e-5, &error), error);
        assert_true(rho <= allowed && rho > 0.999999 * allowed);
    }
    /* What masks give away is taken from dp-delta, or the run is refused. */
    tacit_logit_release release;
    world_set(&world, "dp-delta", "1e-12");
    world_set(&world, "dp-iterations", "1000");
    assert_int_equal(tacit_logit_release_of(&release, &world.parties.plan, WIDTH, 2, beta, false, &error),
                     TACIT_USAGE);
    assert_non_null(strstr(error.text, "raise dp-delta"));
    world_end(&world);
}

/* ---- the law ---- */

enum { COLUMNS = 300, ENTRIES = COLUMNS * (COLUMNS + 1) / 2, ALL = COLUMNS + ENTRIES };

typedef struct side {
    const tacit_plan *plan;
    tacit_role role;
    tacit_channel *channel;
    uint64_t seed;
    bool steps;      /* of privlogit-local, one after the other, with the identity for an inverse */
    int64_t *opened; /* gradient, then triangle; or the steps */
    tacit_status status;
    tacit_error error;
} side;

enum { STEPS = 150 };

/* H = I: a step is the noise of a gradient, in units of 2^-f. */
static tacit_status open_steps(side *self, tacit_logit *logit) {
    tacit_logit_inverse layout;
    tacit_status status;
    logit->inverse = calloc((size_t)COLUMNS * COLUMNS, sizeof *logit->inverse);
    if (logit->inverse == NULL) TACIT_CHECK(tacit_fail(&self->error, TACIT_NO_MEMORY, "no memory"));
    TACIT_CHECK(tacit_logit_inverse_plan(&layout, self->plan, tacit_paillier_public_of(secret), COLUMNS, ROWS,
                                         &self->error));
    for (size_t j = 0; j < COLUMNS; j++)
        logit->inverse[j * COLUMNS + j] = (int64_t)1 << layout.slots.slots.fraction_bits;
    for (size_t k = 0; k < STEPS; k++) {
        for (size_t j = 0; j < COLUMNS; j++) /* shares of 0, uniform as those of a study */
            logit->gradient[j] = (tacit_share)(k * COLUMNS + j + 1) * (tacit_share)0x9e3779b97f4a7c15u << 60;
        for (size_t j = 0; j < COLUMNS && self->role == TACIT_EVALUATOR; j++)
            logit->gradient[j] = -logit->gradient[j];
        TACIT_CHECK(tacit_logit_noisy_step(logit, &layout, logit->gradient, &self->error));
        TACIT_CHECK(tacit_secure_open(logit->secure, self->opened + k * COLUMNS, logit->gradient, COLUMNS,
                                      &self->error));
    }
cleanup:
    free(logit->inverse);
    return status;
}

static tacit_status add_and_open(side *self) {
    tacit_stream noise = tacit_stream_from_seed(self->seed);
    tacit_center_server center = {
        .role = self->role, .plan = self->plan, .channel = self->channel, .noise = { .stream = &noise }
    };
    tacit_secure_settings settings = tacit_secure_defaults();
    tacit_logit logit = { .center = &center,
                          .plan = self->plan,
                          .width = COLUMNS,
                          .triangle = ENTRIES,
                          .fraction = tacit_logit_fraction(self->plan),
                          .scale = tacit_logit_scale(self->plan),
                          .n = ROWS };
    tacit_status status = TACIT_OK;
    logit.gradient = calloc(ALL, sizeof *logit.gradient);
    logit.beta = calloc(COLUMNS, sizeof *logit.beta);
    if (logit.gradient == NULL || logit.beta == NULL)
        TACIT_CHECK(tacit_fail(&self->error, TACIT_NO_MEMORY, "no memory"));
    logit.matrix = logit.gradient + COLUMNS;
    TACIT_CHECK(tacit_secure_create(&logit.secure, self->role, self->channel, &settings, &self->error));
    if (self->steps) {
        TACIT_CHECK(open_steps(self, &logit));
        goto cleanup;
    }
    TACIT_CHECK(tacit_logit_add_noise(&logit, TACIT_WEIGH_CURVATURE, &self->error));
    TACIT_CHECK(tacit_secure_open(logit.secure, self->opened, logit.gradient, ALL, &self->error));
cleanup:
    tacit_secure_free(logit.secure);
    free(logit.gradient);
    free(logit.beta);
    return status;
}

static void *side_main(void *argument) {
    side *self = argument;
    self->status = add_and_open(self);
    self->channel = tacit_channel_free(self->channel);
    return NULL;
}

/* What is opened when each server adds the draws of a seed to sums of zero. */
static void open_noise(const tacit_plan *plan, bool steps, uint64_t a_seed, uint64_t b_seed,
                       int64_t *opened) {
    int64_t *other = calloc(ALL, sizeof *other);
    assert_non_null(other);
    tacit_error error = TACIT_ERROR_INIT;
    side a = { .plan = plan, .role = TACIT_GARBLER, .seed = a_seed, .steps = steps, .opened = opened },
         b = { .plan = plan, .role = TACIT_EVALUATOR, .seed = b_seed, .steps = steps, .opened = other };
    pthread_t thread;
    CHECK_OK(tacit_channel_memory_pair(&a.channel, &b.channel, &error), error);
    assert_int_equal(pthread_create(&thread, NULL, side_main, &b), 0);
    side_main(&a);
    pthread_join(thread, NULL);
    CHECK_OK(a.status, a.error);
    CHECK_OK(b.status, b.error);
    assert_memory_equal(opened, other, ALL * sizeof *opened);
    free(other);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov's distance of numbers from a centered normal law of this deviation. A sum of discrete Gaussians
 * of scales far above 1 is one, except for a part in millions. */
static double distance(double *values, size_t count, double deviation) {
    double most = 0;
    qsort(values, count, sizeof *values, ascending);
    for (size_t i = 0; i < count; i++) {
        double below = 0.5 * erfc(-values[i] / deviation / M_SQRT2);
        most = fmax(most, fmax(below - (double)i / (double)count, (double)(i + 1) / (double)count - below));
    }
    return most;
}

/* Massart: the distance of `count` draws exceeds this with probability 1e-9. */
static double allowed(size_t count) { return sqrt(log(2e9) / (2.0 * (double)count)); }

static void check_law(double *values, size_t count, double deviation) {
    assert_true(distance(values, count, deviation) <= allowed(count));
    if (count < 10000) return; /* too few to tell a tenth */
    assert_true(distance(values, count, 1.1 * deviation) > allowed(count));
    assert_true(distance(values, count, 0.9 * deviation) > allowed(count));
}

static void each_server_adds_a_whole_draw_to_every_sum(void **state) {
    (void)state;
    logit_world world;
    tacit_error error = TACIT_ERROR_INIT;
    double scale[2], zero[COLUMNS] = { 0 };
    int64_t *opened[3];
    double *values = calloc(ALL, sizeof *values);
    assert_non_null(values);
    world_make(&world, &tacit_method_newton);
    world_set(&world, "dp", "3");
    for (int k = 0; k < 2; k++) {
        tacit_logit_release release;
        CHECK_OK(tacit_logit_release_of(&release, &world.parties.plan, COLUMNS, ROWS, zero, k == 1, &error),
                 error);
        CHECK_OK(tacit_integer_scale(&scale[k], &release.mechanism, &error), error);
        assert_true(scale[k] > 1e4);
    }
    for (int run = 0; run < 3; run++) { /* the second with other draws of B, the third of A */
        opened[run] = calloc(ALL, sizeof *opened[run]);
        assert_non_null(opened[run]);
        open_noise(&world.parties.plan, false, run == 2 ? 3 : 1, run == 1 ? 4 : 2, opened[run]);
    }
    int64_t lift = llrint(2 * M_SQRT2 * scale[1] * sqrt(COLUMNS));
    for (int run = 0; run < 3; run++) { /* both draws; then what B's, and A's, two draws differ by */
        for (size_t j = 0; j < ALL; j++) values[j] = (double)(opened[run][j] - (run > 0 ? opened[0][j] : 0));
        for (size_t j = 0; j < COLUMNS && run == 0; j++)
            values[COLUMNS + tacit_triangle(j, j)] -= (double)lift;
        check_law(values, COLUMNS, M_SQRT2 * scale[0]);
        check_law(values + COLUMNS, ENTRIES, M_SQRT2 * scale[1]);
    }
    for (int run = 0; run < 3; run++) free(opened[run]);
    free(values);
    world_end(&world);
}

/* Two draws in each step, and one whole draw left to a server that takes its own off. */
static void each_server_adds_a_whole_draw_to_every_step_of_the_nodes(void **state) {
    (void)state;
    logit_world world;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_logit_release release;
    double scale, zero[COLUMNS] = { 0 }, *values = calloc(ALL, sizeof *values);
    int64_t *opened[3];
    assert_non_null(values);
    world_make(&world, &tacit_method_privlogit_local);
    world_set(&world, "dp", "3");
    CHECK_OK(tacit_logit_release_of(&release, &world.parties.plan, COLUMNS, ROWS, zero, false, &error),
             error);
    CHECK_OK(tacit_integer_scale(&scale, &release.mechanism, &error), error);
    unsigned bits = tacit_logit_gradient_bits(&world.parties.plan, COLUMNS, ROWS);
    assert_true(bits < 36 && scale > 1e3);
    scale = ldexp(scale, 36 - (int)bits);
    for (int run = 0; run < 3; run++) { /* the second with other draws of B, the third of A */
        opened[run] = calloc(ALL, sizeof *opened[run]);
        assert_non_null(opened[run]);
        open_noise(&world.parties.plan, true, run == 2 ? 3 : 1, run == 1 ? 4 : 2, opened[run]);
        for (size_t j = 0; j < STEPS * COLUMNS; j++)
            values[j] = (double)(opened[run][j] - (run > 0 ? opened[0][j] : 0));
        check_law(values, STEPS * COLUMNS, M_SQRT2 * scale);
    }
    for (int run = 0; run < 3; run++) free(opened[run]);
    free(values);
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_replaced_row_moves_a_sum_beyond_what_is_declared),
        cmocka_unit_test(declared_sensitivities_are_attained),
        cmocka_unit_test(releases_together_cost_what_dp_says),
        cmocka_unit_test(each_server_adds_a_whole_draw_to_every_sum),
        cmocka_unit_test(each_server_adds_a_whole_draw_to_every_step_of_the_nodes),
    };
    return cmocka_run_group_tests(tests, read_key, forget_key);
}
