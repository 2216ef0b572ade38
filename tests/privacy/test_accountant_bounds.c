/*
 * Bounds must be bounds: PLD against RDP on a random grid, monotone, and above what simulation proves.
 *
 * Simulation: the composed loss L is drawn n times under the first distribution of the pair; the mean of
 * (1 - e^(epsilon - L))_+, numbers in [0, 1], estimates delta(epsilon). By the empirical Bernstein inequality
 * (Maurer and Pontil 2009, Theorem 4) delta is above mean - sqrt(2 V log(2/b)/n) - 7 log(2/b)/(3(n - 1))
 * except with probability b; b = 1e-9 is the false-alarm rate of each comparison. Seeds are fixed and
 * printed.
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "num/fft.h"
#include "privacy/account/account_pld_parts.h"
#include "rand/fast.h"

static const uint64_t SEED = 20240607;

static double epsilon_by(tacit_adjacency adjacency, tacit_event event, tacit_composition by, double delta) {
    tacit_accountant *accountant = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    double epsilon = NAN;
    CHECK_OK(tacit_accountant_create(&accountant, adjacency, &error), error);
    CHECK_OK(tacit_accountant_add(accountant, &event, &error), error);
    CHECK_OK(tacit_accountant_epsilon_by(&epsilon, accountant, by, delta, &error), error);
    tacit_accountant_free(accountant);
    return epsilon;
}

static double delta_by(tacit_adjacency adjacency, tacit_event event, double epsilon) {
    tacit_accountant *accountant = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    double delta = NAN;
    CHECK_OK(tacit_accountant_create(&accountant, adjacency, &error), error);
    CHECK_OK(tacit_accountant_add(accountant, &event, &error), error);
    CHECK_OK(tacit_accountant_delta_by(&delta, accountant, TACIT_COMPOSITION_PLD, epsilon, &error), error);
    tacit_accountant_free(accountant);
    return delta;
}

static double log_uniform(tacit_stream *stream, double low, double high) {
    return low * pow(high / low, tacit_stream_unit(stream));
}

/* Grids differ between neighbouring arguments and may each cost one part in 1e5. */
static const double WIGGLE = 1 + 2e-5;

static void pld_is_never_above_rdp_and_monotone(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(SEED);
    print_message("# seed %llu\n", (unsigned long long)SEED);
    for (int i = 0; i < 12; i++) {
        double q = log_uniform(&stream, 1e-3, 1), sigma = log_uniform(&stream, 0.6, 20);
        double runs = floor(log_uniform(&stream, 1, 5000)), delta = log_uniform(&stream, 1e-14, 1e-3);
        tacit_event event = tacit_event_sampled(tacit_event_gaussian(sigma, (uint64_t)runs), q),
                    other = event;
        double rdp = epsilon_by(TACIT_ADD_OR_REMOVE, event, TACIT_COMPOSITION_RDP, delta);
        double pld = epsilon_by(TACIT_ADD_OR_REMOVE, event, TACIT_COMPOSITION_PLD, delta);
        if (!(pld <= rdp))
            fail_msg("PLD %.9g above RDP %.9g at q %g, sigma %g, T %g, delta %g", pld, rdp, q, sigma, runs,
                     delta);
        assert_true(pld > 0.3 * rdp || rdp < 0.3); /* and not absurdly below */
        other.count = event.count + 1 + event.count / 10;
        assert_true(epsilon_by(TACIT_ADD_OR_REMOVE, other, TACIT_COMPOSITION_PLD, delta) * WIGGLE >= pld);
        other = event;
        other.parameter *= 1.05;
        assert_true(epsilon_by(TACIT_ADD_OR_REMOVE, other, TACIT_COMPOSITION_PLD, delta) <= pld * WIGGLE);
        other = event;
        other.sampling *= 0.95;
        assert_true(epsilon_by(TACIT_ADD_OR_REMOVE, other, TACIT_COMPOSITION_PLD, delta) <= pld * WIGGLE);
    }
}

static void replacement_keeps_the_same_order(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(SEED + 1);
    for (int i = 0; i < 5; i++) {
        tacit_event event = tacit_event_sampled(
            (tacit_event){ i % 2 ? TACIT_EVENT_LAPLACE : TACIT_EVENT_GAUSSIAN, log_uniform(&stream, 1, 8), 0,
                           1, (uint64_t)log_uniform(&stream, 5, 500), false },
            log_uniform(&stream, 1e-2, 0.3));
        double delta = log_uniform(&stream, 1e-9, 1e-4);
        double rdp = epsilon_by(TACIT_REPLACE, event, TACIT_COMPOSITION_RDP, delta);
        double pld = epsilon_by(TACIT_REPLACE, event, TACIT_COMPOSITION_PLD, delta);
        assert_true(pld <= rdp);
        assert_true(pld >= epsilon_by(TACIT_ADD_OR_REMOVE, event, TACIT_COMPOSITION_PLD, delta));
    }
}

/* ---- simulation ---- */

typedef enum pair { PAIR_REMOVED, PAIR_ADDED, PAIR_REPLACED } pair;

/* One run's loss of the sampled Gaussian, drawn under the first distribution of the pair. */
static double draw_loss(tacit_stream *stream, pair which, double q, double sigma) {
    double x = sigma * tacit_fast_normal(stream), precision = 1 / (2 * sigma * sigma);
    if (which != PAIR_ADDED && tacit_stream_unit(stream) < q) x += 1;
    double up = log1p(q * expm1((2 * x - 1) * precision)); /* mixture with N(1) over N(0) */
    if (which == PAIR_REMOVED) return up;
    if (which == PAIR_ADDED) return -up;
    return up - log1p(q * expm1((-2 * x - 1) * precision)); /* one row pulls to 1, the other to -1 */
}

/* A number that delta(epsilon) exceeds, except with probability 1e-9. */
static double proved_delta(pair which, double q, double sigma, int runs, double epsilon, int draws) {
    tacit_stream root = tacit_stream_from_seed(SEED), stream = tacit_stream_fork(&root, "losses", which, 0);
    double sum = 0, squares = 0, n = draws, doubt = log(2e9);
    for (int i = 0; i < draws; i++) {
        double loss = 0;
        for (int t = 0; t < runs; t++) loss += draw_loss(&stream, which, q, sigma);
        double value = loss > epsilon ? -expm1(epsilon - loss) : 0;
        sum += value;
        squares += value * value;
    }
    double mean = sum / n, variance = (squares - n * mean * mean) / (n - 1);
    return mean - sqrt(2 * variance * doubt / n) - 7 * doubt / (3 * (n - 1));
}

enum { RUNS = 32, DRAWS = 120000 };

static const double Q = 0.25, SIGMA = 1.5, EPSILON = 2;

/* The same draws serve several tests. */
static double proved_removed(void) {
    static double proved = -1;
    if (proved < 0) proved = proved_delta(PAIR_REMOVED, Q, SIGMA, RUNS, EPSILON, DRAWS);
    return proved;
}

static void no_direction_is_below_what_simulation_proves(void **state) {
    (void)state;
    tacit_event event = tacit_event_sampled(tacit_event_gaussian(SIGMA, RUNS), Q);
    double removed = proved_removed();
    double added = proved_delta(PAIR_ADDED, Q, SIGMA, RUNS, EPSILON, DRAWS);
    double replaced = proved_delta(PAIR_REPLACED, Q, SIGMA, RUNS, 2 * EPSILON, DRAWS);
    double either = delta_by(TACIT_ADD_OR_REMOVE, event, EPSILON);
    double replacing = delta_by(TACIT_REPLACE, event, 2 * EPSILON);
    print_message("# delta at %g: removed > %.4f, added > %.4f, PLD %.4f; replaced at %g: > %.4f, PLD %.4f\n",
                  EPSILON, removed, added, either, 2 * EPSILON, replaced, replacing);
    assert_true(removed > 0.01 && added > 0.005 && replaced > 0.01); /* the simulation has something to say */
    assert_true(either >= removed && either >= added && replacing >= replaced);
    assert_true(either < 1.25 * fmax(removed, added)); /* and PLD is near the truth */
    assert_true(replacing < 1.25 * replaced);
}

/* Broken accountants must be caught by the same comparison. */
static void forgotten_noise_sampling_or_runs_are_caught(void **state) {
    (void)state;
    double proved = proved_removed();
    tacit_event right = tacit_event_sampled(tacit_event_gaussian(SIGMA, RUNS), Q), broken = right;
    assert_true(delta_by(TACIT_ADD_OR_REMOVE, right, EPSILON) >= proved);
    broken.sampling = Q * 0.9;
    assert_true(delta_by(TACIT_ADD_OR_REMOVE, broken, EPSILON) < proved);
    broken = right;
    broken.parameter = SIGMA * 1.1;
    assert_true(delta_by(TACIT_ADD_OR_REMOVE, broken, EPSILON) < proved);
    broken = right;
    broken.count = RUNS - 6;
    assert_true(delta_by(TACIT_ADD_OR_REMOVE, broken, EPSILON) < proved);
}

/* delta of RUNS = 2^5 runs on a coarse grid, every loss moved by `shift` cells: -1 rounds down instead of
 * up. */
static double coarse_delta(double grid, long shift) {
    tacit_step step = { TACIT_EVENT_GAUSSIAN, SIGMA, 0, Q, 1, false };
    tacit_losses losses;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_losses_make(&losses, &step, TACIT_REMOVED, grid, 1e-12, &error), error);
    double *mass = losses.mass, delta = RUNS * losses.infinite;
    size_t count = losses.count;
    long first = losses.first + shift;
    for (int i = 0; i < 5; i++) {
        double *twice = calloc(2 * count - 1, sizeof *twice);
        for (size_t a = 0; a < count; a++)
            for (size_t b = 0; b < count; b++) twice[a + b] += mass[a] * mass[b];
        free(mass);
        mass = twice;
        count = 2 * count - 1;
        first *= 2;
    }
    for (size_t i = 0; i < count; i++) {
        double loss = (double)(first + (long)i) * grid;
        if (loss > EPSILON) delta += mass[i] * -expm1(EPSILON - loss);
    }
    free(mass);
    return delta;
}

static void rounding_losses_down_is_caught(void **state) {
    (void)state;
    double proved = proved_removed();
    double pessimistic = coarse_delta(0.01, 0), optimistic = coarse_delta(0.01, -1);
    print_message("# proved %.5f, rounded up %.5f, rounded down %.5f\n", proved, pessimistic, optimistic);
    assert_true(pessimistic >= proved);
    assert_true(optimistic < proved);
}

static double curve(const tacit_losses *losses, double epsilon) {
    double sum = losses->infinite;
    for (size_t k = 0; k < losses->count; k++) {
        double loss = (double)(losses->first + (long)k) * losses->step;
        if (loss > epsilon) sum += losses->mass[k] * -expm1(epsilon - loss);
    }
    return sum;
}

/* The discretised curve lies above the exact one everywhere, whatever the grid: one sampled run of each
 * kind. */
static void every_grid_is_pessimistic(void **state) {
    (void)state;
    static const double grids[] = { 0x1p-12, 0x1.8p-6, 0x1p-3, 0x1p0 };
    for (int i = 0; i < 4; i++) {
        tacit_step step = { TACIT_EVENT_GAUSSIAN, 1, 0, 0.3, 1, false };
        tacit_losses losses;
        assert_int_equal(tacit_losses_make(&losses, &step, TACIT_REMOVED, grids[i], 1e-18, NULL), TACIT_OK);
        for (double base = 0.05; base < 6;
             base += 0.37) { /* exact: 0.3 delta_0(base) at log(1 + 0.3(e^base - 1)) */
            double epsilon = log1p(0.3 * expm1(base)), sum = curve(&losses, epsilon);
            double exact = 0.15 * (erfc((base - 0.5) / sqrt(2)) - exp(base) * erfc((base + 0.5) / sqrt(2)));
            assert_true(sum >= exact * (1 - 1e-12));
            if (i == 0) CHECK_NEAR(sum / exact, 1, 1e-5);
        }
        free(losses.mass);
    }
}

/* Replacement under sampling: at epsilon > 0 the curve is q delta_0, with delta_0 that of twice the
 * sensitivity, for Laplace noise 1 - e^((base - r)/2); and it is symmetric: delta(-epsilon) = 1 - e^-epsilon
 * + e^-epsilon delta(epsilon). */
static void the_pair_for_replacement_is_symmetric(void **state) {
    (void)state;
    tacit_step step = { TACIT_EVENT_LAPLACE, 0.75, 0, 0.2, 1, true };
    tacit_losses losses;
    assert_int_equal(tacit_losses_make(&losses, &step, TACIT_EITHER, 0x1p-12, 1e-18, NULL), TACIT_OK);
    for (double base = 0.05; base < 1.3; base += 0.11) {
        double epsilon = log1p(0.2 * expm1(base)), exact = -0.2 * expm1((base - 1 / 0.75) / 2);
        double mirrored = 1 - exp(-epsilon) + exp(-epsilon) * exact;
        assert_true(curve(&losses, epsilon) >= exact * (1 - 1e-12));
        assert_true(curve(&losses, -epsilon) >= mirrored * (1 - 1e-12));
        CHECK_NEAR(curve(&losses, epsilon) / exact, 1, 1e-4);
        CHECK_NEAR(curve(&losses, -epsilon) / mirrored, 1, 1e-4);
    }
    free(losses.mass);
}

/* H_a, a = e^epsilon, of (1-q) N(0) + q N(u) against (1-q) N(0) + q N(v) in the plane, over a square by the
 * midpoint rule. */
static double plane_delta(double q, double sigma, const double u[2], const double v[2], double epsilon) {
    const double width = 0.04, far = 8;
    double sum = 0, uu = (u[0] * u[0] + u[1] * u[1]) / 2, vv = (v[0] * v[0] + v[1] * v[1]) / 2;
    for (double x = -far + width / 2; x < far; x += width)
        for (double y = -far + width / 2; y < far; y += width) {
            double p = 1 - q + q * exp((sigma * (u[0] * x + u[1] * y) - uu) / (sigma * sigma));
            double r = 1 - q + q * exp((sigma * (v[0] * x + v[1] * y) - vv) / (sigma * sigma));
            sum += fmax(0, p - exp(epsilon) * r) * exp(-(x * x + y * y) / 2);
        }
    return sum * width * width / (2 * M_PI);
}

/* Sampled Gaussians under replacement: the curve used is that of two rows that pull to opposite sides, which
 * is also found by quadrature in the plane; rows that pull less, or not to opposite sides, stay below it. */
static void opposite_rows_are_the_worst_for_a_sampled_gaussian(void **state) {
    (void)state;
    const double q = 0.3, sigma = 0.9, one[2] = { 1, 0 }, opposite[2] = { -1, 0 };
    tacit_stream stream = tacit_stream_from_seed(SEED + 2);
    tacit_step step = { TACIT_EVENT_GAUSSIAN, sigma, 0, q, 1, true };
    tacit_losses losses;
    print_message("# seed %llu\n", (unsigned long long)SEED + 2);
    assert_int_equal(tacit_losses_make(&losses, &step, TACIT_EITHER, 0x1p-12, 1e-18, NULL), TACIT_OK);
    for (double epsilon = -1.5; epsilon < 1.8; epsilon += 0.5) {
        double used = curve(&losses, epsilon), slack, z = tacit_opposed_place(&slack, &step, epsilon);
        double tail = erfc(z / sqrt(2)) / 2, up = erfc((z - 1 / sigma) / sqrt(2)) / 2,
               down = erfc((z + 1 / sigma) / sqrt(2)) / 2;
        double exact = (1 - q) * tail + q * up - exp(epsilon) * ((1 - q) * tail + q * down);
        CHECK_NEAR(tacit_opposed_loss(&step, z), epsilon, 1e-12);
        assert_true(used >= exact * (1 - 1e-12));
        CHECK_NEAR(used / exact, 1, 1e-5);
        CHECK_NEAR(plane_delta(q, sigma, one, opposite, epsilon) / exact, 1, 1e-3);
        for (int i = 0; i < 2; i++) {
            double angle = M_PI * tacit_stream_unit(&stream), length = tacit_stream_unit(&stream),
                   other = sqrt(tacit_stream_unit(&stream));
            double u[2] = { other, 0 }, v[2] = { length * cos(angle), length * sin(angle) };
            assert_true(plane_delta(q, sigma, u, v, epsilon) <= exact * 1.001);
        }
    }
    free(losses.mass);
}

/* What the conversion by twice the sensitivity and group privacy gave before: the direct pair is never
 * dearer. */
static void little_noise_on_small_samples_is_cheap(void **state) {
    (void)state;
    tacit_event event = tacit_event_sampled(tacit_event_gaussian(1.277, 240), 0.025);
    double direct = epsilon_by(TACIT_REPLACE, event, TACIT_COMPOSITION_PLD, 1e-5);
    tacit_event doubled = event;
    doubled.parameter /= 2;
    assert_true(direct < 0.9 * 3); /* group privacy: 3 */
    assert_true(direct < epsilon_by(TACIT_ADD_OR_REMOVE, doubled, TACIT_COMPOSITION_PLD, 1e-5));
    assert_true(direct > 1.5 * epsilon_by(TACIT_ADD_OR_REMOVE, event, TACIT_COMPOSITION_PLD, 1e-5));
}

/* Rare and heavy: a sampled step with little noise, whose moments are decided by its tail. */
static void heavy_tails_stay_below_rdp(void **state) {
    (void)state;
    static const double cases[][4] = { { 4.1e-4, 1.12, 52, 9e-5 },
                                       { 2.4e-4, 1.54, 11, 7e-9 },
                                       { 1.7e-4, 1.02, 2000, 1e-4 },
                                       { 1e-3, 0.7, 300, 1e-20 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_event event =
            tacit_event_sampled(tacit_event_gaussian(cases[i][1], (uint64_t)cases[i][2]), cases[i][0]);
        double pld = epsilon_by(TACIT_ADD_OR_REMOVE, event, TACIT_COMPOSITION_PLD, cases[i][3]);
        assert_true(pld <= epsilon_by(TACIT_ADD_OR_REMOVE, event, TACIT_COMPOSITION_RDP, cases[i][3]));
        assert_true(pld <= epsilon_by(TACIT_ADD_OR_REMOVE, event, TACIT_COMPOSITION_BASIC, cases[i][3]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pld_is_never_above_rdp_and_monotone),
        cmocka_unit_test(replacement_keeps_the_same_order),
        cmocka_unit_test(no_direction_is_below_what_simulation_proves),
        cmocka_unit_test(forgotten_noise_sampling_or_runs_are_caught),
        cmocka_unit_test(rounding_losses_down_is_caught),
        cmocka_unit_test(every_grid_is_pessimistic),
        cmocka_unit_test(the_pair_for_replacement_is_symmetric),
        cmocka_unit_test(opposite_rows_are_the_worst_for_a_sampled_gaussian),
        cmocka_unit_test(little_noise_on_small_samples_is_cheap),
        cmocka_unit_test(heavy_tails_stay_below_rdp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
