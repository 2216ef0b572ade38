/* Clopper-Pearson bounds against values computed with 40 digits, and against the sums that define them. */
#include "check.h"

#include "lab/audit/binomial.h"

static void bounds_agree_with_known_values(void **state) {
    (void)state;
    static const struct {
        uint64_t k, n;
        double alpha, low, high;
    } known[] = {
        { 5, 10, 0.025, 0.18708602844739853, 0.81291397155260147 },
        { 1, 10, 0.025, 0.0025285785444617845, 0.44501611702819542 },
        { 10, 10, 0.025, 0.69150289218123918, 1 },
        { 0, 10, 0.025, 0, 0.30849710781876082 },
        { 37, 1000, 0.00025, 0.019596062728791187, 0.062397758858946851 },
        { 999, 1000, 0.00025, 0.98929369890023023, 0.99999974996877605 },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double low = tacit_binomial_lower(known[i].k, known[i].n, known[i].alpha);
        double high = tacit_binomial_upper(known[i].k, known[i].n, known[i].alpha);
        CHECK_NEAR(low, known[i].low, 1e-10 * known[i].low);
        CHECK_NEAR(high, known[i].high, 1e-10 * known[i].high);
        assert_true(low <= known[i].low && high >= known[i].high); /* rounded outwards */
    }
}

static long double term(uint64_t k, uint64_t n, long double p) {
    long double hits = (long double)k, runs = (long double)n;
    return expl(lgammal(runs + 1) - lgammal(hits + 1) - lgammal(runs - hits + 1) + hits * logl(p) +
                (runs - hits) * log1pl(-p));
}

/* P(X >= k) and P(X <= k), term by term until nothing is added. */
static long double sum_from(uint64_t k, uint64_t n, long double p, int step) {
    long double sum = 0;
    for (uint64_t i = k; i <= n; i += (uint64_t)step) {
        long double next = sum + term(i, n, p);
        if (next == sum) break;
        sum = next;
        if (i == 0 && step < 0) break;
    }
    return sum;
}

static void bounds_of_many_runs_leave_the_tail_they_should(void **state) {
    (void)state;
    static const struct {
        uint64_t k, n;
        double alpha;
    } cases[] = { { 50814, 100000, 2.5e-4 },
                  { 3, 500000, 2.5e-4 },
                  { 499990, 500000, 1e-10 },
                  { 888, 100000, 1e-10 },
                  { 12345678, 100000000, 1e-6 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t k = cases[i].k, n = cases[i].n;
        double low = tacit_binomial_lower(k, n, cases[i].alpha),
               high = tacit_binomial_upper(k, n, cases[i].alpha);
        double from = (double)sum_from(k, n, low, 1), to = (double)sum_from(k, n, high, -1);
        CHECK_NEAR(from / cases[i].alpha, 1, 1e-5);
        CHECK_NEAR(to / cases[i].alpha, 1, 1e-5);
    }
}

/* Over all outcomes of 60 runs: the bound fails with probability at most alpha, whatever p. */
static void a_bound_fails_as_rarely_as_it_says(void **state) {
    (void)state;
    enum { RUNS = 60 };
    for (int i = 1; i < 100; i++) {
        double p = i / 100.0;
        long double above = 0, below = 0;
        for (uint64_t k = 0; k <= RUNS; k++) {
            if (tacit_binomial_lower(k, RUNS, 0.01) > p) above += term(k, RUNS, p);
            if (tacit_binomial_upper(k, RUNS, 0.01) < p) below += term(k, RUNS, p);
        }
        assert_true(above <= 0.01L && below <= 0.01L);
    }
}

static void the_beta_function_knows_its_edges_and_its_symmetry(void **state) {
    (void)state;
    CHECK_NEAR(tacit_beta_tail(2, 3, 0, 1), 0, 0);
    CHECK_NEAR(tacit_beta_tail(2, 3, 1, 0), 1, 0);
    CHECK_NEAR(tacit_beta_tail(1, 1, 0.3, 0.7), 0.3, 1e-15);
    CHECK_NEAR(tacit_beta_tail(1, 7, 0.2, 0.8), 1 - pow(0.8, 7), 1e-14);
    for (double a = 0.5; a < 1e6; a *= 3)
        for (double x = 0.05; x < 1; x += 0.1)
            CHECK_NEAR(tacit_beta_tail(a, 2.5, x, 1 - x) + tacit_beta_tail(2.5, a, 1 - x, x), 1, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_agree_with_known_values),
        cmocka_unit_test(bounds_of_many_runs_leave_the_tail_they_should),
        cmocka_unit_test(a_bound_fails_as_rarely_as_it_says),
        cmocka_unit_test(the_beta_function_knows_its_edges_and_its_symmetry),
    };
    return cmocka_run_group_tests_name("binomial", tests, NULL, NULL);
}
