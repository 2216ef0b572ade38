/* How a limit in total is counted: filters that hold whoever chooses the next study, budgets held for studies
 * from consent to their end, and data sources that share one limit. */
#include "party.h"

#include <math.h>

#include "privacy/account/account_parts.h"
#include "privacy/account/gaussian.h"
#include "rand/stream.h"

enum { ROUNDS = 20, STEPS = 240 };

typedef struct study {
    const char *name;
    uint8_t hash[TACIT_HASH_BYTES];
    tacit_event event; /* of one round */
    tacit_price each, all;
    int rounds;
} study;

static study make_study(const char *name, tacit_event event, tacit_price each, tacit_price all, int rounds) {
    study self = { .name = name, .event = event, .each = each, .all = all, .rounds = rounds };
    memset(self.hash, name[0], sizeof self.hash);
    self.hash[sizeof self.hash - 1] ^= 0x5a; /* its first byte does not tell the rest */
    return self;
}

static double cost_of(const tacit_event *events, size_t count, double delta) {
    tacit_accountant *accountant = NULL;
    tacit_spending spent;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_accountant_create(&accountant, TACIT_REPLACE, &error), error);
    for (size_t i = 0; i < count; i++) CHECK_OK(tacit_accountant_add(accountant, &events[i], &error), error);
    CHECK_OK(tacit_accountant_epsilon(&spent, accountant, delta, &error), error);
    tacit_accountant_free(accountant);
    return spent.epsilon;
}

static tacit_event times(tacit_event event, uint64_t count) {
    event.count = count;
    return event;
}

/* A gradient descent of (1, 1e-5): Gaussian noise in each round. */
static study descent(const char *name) {
    double sigma;
    assert_int_equal(tacit_gaussian_sigma(&sigma, 1, 1e-5, 1, NULL), TACIT_OK);
    tacit_event event = tacit_event_replaced(tacit_event_gaussian(sigma * sqrt(ROUNDS) * (1 + 1e-9), 1));
    tacit_price each = { TACIT_UNIT_RECORD, cost_of(&event, 1, 1e-5 / ROUNDS) * (1 + 1e-9), 1e-5 / ROUNDS };
    return make_study(name, event, each, (tacit_price){ TACIT_UNIT_RECORD, 1, 1e-5 }, ROUNDS);
}

/* A stochastic one, on samples. */
static study sampled(const char *name) {
    tacit_event event = tacit_event_sampled(tacit_event_gaussian(1, STEPS), 0.025);
    assert_int_equal(tacit_noise_for(&event.parameter, &event, TACIT_REPLACE, 1, 1e-5, NULL), TACIT_OK);
    event.count = 1;
    tacit_price each = { TACIT_UNIT_RECORD, fmax(cost_of(&event, 1, 1e-5 / STEPS), 1e-9) * (1 + 1e-9),
                         1e-5 / STEPS };
    return make_study(name, event, each, (tacit_price){ TACIT_UNIT_RECORD, 1, 1e-5 }, STEPS);
}

/* One of a price without a delta, in parts. */
static study pure(const char *name, double epsilon) {
    tacit_price each = { TACIT_UNIT_RECORD, epsilon / 4, 0 }, all = { TACIT_UNIT_RECORD, epsilon, 0 };
    return make_study(name, (tacit_event){ .count = 0 }, each, all, 4);
}

static tacit_event whole(const study *one) {
    tacit_release release = { .price = one->all, .event = times(one->event, (uint64_t)one->rounds) };
    if (one->event.count == 0) release.event.count = 0;
    return tacit_release_event(&release);
}

static void limit_to(party *self, double epsilon, double delta, tacit_count count) {
    const tacit_price limit = { TACIT_UNIT_RECORD, epsilon, delta };
    CHECK_OK(tacit_ledger_set_limit_counted(self->ledger, NULL, &limit, count, &self->error), self->error);
}

static tacit_status reserve(party *self, const study *one) {
    self->error = (tacit_error)TACIT_ERROR_INIT;
    tacit_event event = whole(one);
    return tacit_ledger_reserve(self->ledger, one->name, one->hash, &one->all, &event, &self->error);
}

static tacit_status ask(party *self, const study *one, int round) {
    tacit_release release = sample_release(1000 * one->name[0] + round);
    release.study = one->name;
    release.price = one->each;
    release.event = one->event;
    memcpy(release.study_hash, one->hash, sizeof release.study_hash);
    return party_release(self, &release);
}

static void run(party *self, const study *one, int from, int to) {
    for (int i = from; i < to; i++) CHECK_OK(ask(self, one, i), self->error);
}

static double spent(party *self) { return party_spent(self, NULL, TACIT_UNIT_RECORD); }

static void begin(party *self, double epsilon, double delta, tacit_count count) {
    party_ready(self);
    limit_to(self, epsilon, delta, count);
}

/* The gate proves the price of each sampled answer, which takes a while: of many rounds a few are asked. All
 * of them count. */
static int few(const study *one) { return one->rounds < 30 ? one->rounds : 3; }

/* One after the other. */
static double both_in_order(const study *first, const study *second, tacit_count count, double limit,
                            double delta) {
    party self;
    begin(&self, limit, delta, count);
    const study *studies[] = { first, second };
    for (int i = 0; i < 2; i++) {
        CHECK_OK(reserve(&self, studies[i]), self.error);
        run(&self, studies[i], 0, few(studies[i]));
    }
    double cost = spent(&self);
    party_verifies(&self, 0);
    party_end(&self);
    return cost;
}

static void two_studies_cost_in_any_order_nearly_what_one_account_of_both_costs(void **state) {
    (void)state;
    const study one = descent("descent"), other = sampled("sampled");
    static const double deltas[] = { 1e-4, 1e-5 };
    for (int i = 0; i < 2; i++) {
        const tacit_event all[] = { whole(&one), whole(&other) };
        double together = cost_of(all, 2, deltas[i]), limit = 1.1 * together;
        double there = both_in_order(&one, &other, TACIT_COUNT_BOTH, limit, deltas[i]);
        double back = both_in_order(&other, &one, TACIT_COUNT_BOTH, limit, deltas[i]);
        print_message("# delta %g: %.4f and %.4f, under one account %.4f\n", deltas[i], there, back,
                      together);
        assert_true(there >= together * (1 - 1e-3) && there <= 1.1 * together);
        assert_true(back >= together * (1 - 1e-3) && back <= 1.1 * together);
    }
}

static void two_gaussian_studies_cost_exactly_what_their_noise_costs(void **state) {
    (void)state;
    const study one = descent("descent"), other = descent("other");
    double cost = both_in_order(&one, &other, TACIT_COUNT_GDP, 1.47, 1e-5);
    print_message("# two of (1, 1e-5): %.4f\n", cost);
    CHECK_NEAR(cost, 1.465, 1e-3);
}

/* Sampled noise known by its zCDP as well: no mixture has to be added up. */
static void every_mixture_has_a_price_below_the_sum(void **state) {
    (void)state;
    study rho = descent("rho");
    rho.event = tacit_event_replaced(
        tacit_event_concentrated(1 / (2 * rho.event.parameter * rho.event.parameter), 1));
    rho.each.epsilon = 1;
    const study other = sampled("sampled");
    static const tacit_count counts[] = { TACIT_COUNT_RDP, TACIT_COUNT_BOTH, TACIT_COUNT_LEAST };
    for (int i = 0; i < 3; i++) {
        double cost = both_in_order(&rho, &other, counts[i], 3, 1e-4);
        print_message("# zCDP beside samples, %s: %.4f\n", tacit_count_name(counts[i]), cost);
        assert_true(cost > 1.2 && cost < 1.75);
    }
}

/* Whatever fits a limit alone fits one of exactly its price, whoever proves that price. */
static void a_study_alone_costs_its_price(void **state) {
    (void)state;
    const study kinds[] = { descent("descent"), sampled("sampled"), pure("pure", 1) };
    static const tacit_count counts[] = { TACIT_COUNT_SUM, TACIT_COUNT_RDP, TACIT_COUNT_GDP,
                                          TACIT_COUNT_BOTH };
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 4; c++) {
            party self;
            begin(&self, 1, 1e-5, counts[c]);
            CHECK_OK(reserve(&self, &kinds[k]), self.error);
            assert_true(spent(&self) <= 1 + 1e-9 && spent(&self) > 0.9);
            run(&self, &kinds[k], 0, few(&kinds[k]));
            study next = pure("next", 0.01); /* nothing is left, for anybody */
            if (counts[c] != TACIT_COUNT_GDP || k != 2)
                assert_int_equal(reserve(&self, &next), TACIT_REFUSED);
            party_verifies(&self, 0);
            party_end(&self);
        }
}

static void a_study_that_was_accepted_is_not_refused_half_way(void **state) {
    (void)state;
    const study one = descent("descent"), other = descent("other"), third = pure("third", 0.5);
    party self;
    begin(&self, 1.47, 1e-5, TACIT_COUNT_GDP);
    CHECK_OK(reserve(&self, &one), self.error);
    run(&self, &one, 0, 3);
    CHECK_OK(reserve(&self, &other), self.error); /* both fit, just */
    double held = spent(&self);
    assert_int_equal(reserve(&self, &third), TACIT_REFUSED);
    assert_non_null(strstr(self.error.text, "limit of ward-7"));
    for (int i = 0; i < ROUNDS; i++) { /* one round of each in turn, to the end of both */
        if (i >= 3) CHECK_OK(ask(&self, &one, i), self.error);
        CHECK_OK(ask(&self, &other, i), self.error);
        CHECK_NEAR(spent(&self), held, 0);
    }
    assert_int_equal(ask(&self, &one, ROUNDS), TACIT_REFUSED); /* one more was never accepted */
    party_verifies(&self, 0);
    party_end(&self);
}

static void what_a_study_did_not_use_is_free_again(void **state) {
    (void)state;
    const study one = descent("descent"), other = descent("other");
    party self;
    begin(&self, 1.2, 1e-5, TACIT_COUNT_GDP);
    CHECK_OK(reserve(&self, &one), self.error);
    run(&self, &one, 0, 2);
    assert_int_equal(reserve(&self, &other), TACIT_REFUSED);
    CHECK_OK(tacit_ledger_end(self.ledger, one.name, &self.error), self.error);
    CHECK_OK(tacit_ledger_end(self.ledger, one.name, &self.error),
             self.error); /* nothing is held: nothing to log */
    assert_int_equal(party_log(&self).kinds[TACIT_ENTRY_END], 1);
    CHECK_OK(reserve(&self, &other), self.error);
    CHECK_OK(tacit_ledger_withdraw(self.ledger, other.name, &self.error), self.error);
    CHECK_OK(reserve(&self, &one), self.error); /* it takes up what it had left */
    run(&self, &one, 2, ROUNDS);
    double sigma, exact;
    assert_int_equal(tacit_gaussian_sigma(&sigma, 1, 1e-5, 1, NULL), TACIT_OK);
    assert_int_equal(tacit_gaussian_epsilon(&exact, sigma, 1e-5, NULL), TACIT_OK);
    CHECK_NEAR(spent(&self), exact, 1e-6);
    party_verifies(&self, 0);
    party_end(&self);
}

/* A changed definition holds its own budget; what the old one used stays counted. */
static void an_amended_study_holds_its_new_price(void **state) {
    (void)state;
    study one = pure("pure", 1);
    party self;
    begin(&self, 1.25, 0, TACIT_COUNT_SUM);
    CHECK_OK(reserve(&self, &one), self.error);
    run(&self, &one, 0, 1);
    memset(one.hash, 1, sizeof one.hash);
    CHECK_OK(reserve(&self, &one), self.error);
    CHECK_NEAR(spent(&self), 1.25, 1e-12);
    run(&self, &one, 10, 14);
    memset(one.hash, 2, sizeof one.hash);
    assert_int_equal(reserve(&self, &one), TACIT_REFUSED);
    party_verifies(&self, 0);
    party_end(&self);
}

static void the_way_of_counting_stays_as_it_was_set(void **state) {
    (void)state;
    party self;
    tacit_account account;
    const tacit_price limit = { TACIT_UNIT_RECORD, 3, 1e-5 }, more = { TACIT_UNIT_RECORD, 6, 1e-5 };
    party_ready(&self);
    CHECK_OK(tacit_ledger_account(&account, self.ledger, NULL, TACIT_UNIT_RECORD, &self.error), self.error);
    assert_int_equal(account.counting.count, TACIT_COUNT_SUM); /* without a delta */
    CHECK_OK(tacit_ledger_set_limit(self.ledger, NULL, &limit, &self.error), self.error);
    CHECK_OK(tacit_ledger_account(&account, self.ledger, NULL, TACIT_UNIT_RECORD, &self.error), self.error);
    assert_int_equal(account.counting.count, TACIT_COUNT_BOTH);
    double order = account.counting.order;
    assert_true(order > 2 && order < 50);
    CHECK_OK(tacit_ledger_set_limit(self.ledger, NULL, &more, &self.error), self.error);
    CHECK_OK(tacit_ledger_account(&account, self.ledger, NULL, TACIT_UNIT_RECORD, &self.error), self.error);
    CHECK_NEAR(account.counting.order, order, 0); /* another one would be a choice in view of answers */
    limit_to(&self, 6, 1e-5, TACIT_COUNT_GDP);
    CHECK_OK(tacit_ledger_set_limit(self.ledger, NULL, &limit, &self.error), self.error);
    CHECK_OK(tacit_ledger_account(&account, self.ledger, NULL, TACIT_UNIT_RECORD, &self.error), self.error);
    assert_int_equal(account.counting.count, TACIT_COUNT_GDP);
    const tacit_price none = { TACIT_UNIT_RECORD, 3, 0 };
    assert_int_equal(tacit_ledger_set_limit_counted(self.ledger, NULL, &none, TACIT_COUNT_RDP, NULL),
                     TACIT_INPUT);
    party_verifies(&self, 0);
    party_end(&self);
}

/* An adversary that looks at each answer's loss and picks the next kind of noise by it, of the pairs that are
 * worst. Its failures are counted over many runs; a filter that forgot to pay for its choice, or a tenth of
 * the noise, is caught by the same count. False alarm below 1e-6: the mean of TRIALS numbers in [0, 1], by
 * Hoeffding. */
enum { TRIALS = 3000 };

typedef struct adversary {
    double epsilon, delta;
    tacit_counting counting;
    double stronger; /* 1, or the loss that is simulated over that which is counted */
} adversary;

static double play(const adversary *self, tacit_stream *stream, const tacit_event kinds[2], double hope) {
    tacit_holding holding = TACIT_HOLDING_INIT;
    tacit_spending now;
    double loss = 0;
    for (int i = 0; i < 64; i++) {
        tacit_event next = kinds[loss > hope]; /* behind: large steps; ahead: small ones, not to fall back */
        assert_int_equal(tacit_charges_add(&holding.loose, &next, TACIT_UNIT_RECORD, NULL), TACIT_OK);
        holding.loose_sum.epsilon += 1, holding.loose_sum.delta += 1e-3;
        assert_int_equal(
            tacit_holding_spent(&now, &holding, TACIT_UNIT_RECORD, self->delta, &self->counting, NULL),
            TACIT_OK);
        if (!(now.epsilon <= self->epsilon)) break;
        double mu = self->stronger / next.parameter;
        double normal =
            sqrt(-2 * log(1 - tacit_stream_unit(stream))) * cos(2 * M_PI * tacit_stream_unit(stream));
        loss += mu * mu / 2 + mu * normal;
        if (loss > self->epsilon + 2) break;
    }
    tacit_holding_clear(&holding);
    return fmax(0, -expm1(self->epsilon - loss));
}

static double failures(const adversary *self, uint64_t seed) {
    tacit_stream stream = tacit_stream_from_seed(seed);
    const tacit_event kinds[2] = { tacit_event_replaced(tacit_event_gaussian(3, 1)),
                                   tacit_event_replaced(tacit_event_gaussian(6, 1)) };
    double sum = 0;
    for (int i = 0; i < TRIALS; i++) sum += play(self, &stream, kinds, self->epsilon / 2);
    return sum / TRIALS;
}

static void whoever_chooses_the_next_noise_by_the_answers_gains_nothing(void **state) {
    (void)state;
    const double delta = 0.05, epsilon = 1, slack = sqrt(log(1e6) / (2.0 * TRIALS));
    static const tacit_count counts[] = { TACIT_COUNT_RDP, TACIT_COUNT_GDP, TACIT_COUNT_BOTH };
    for (int c = 0; c < 3; c++) {
        adversary honest = { epsilon, delta, tacit_counting_for(counts[c], epsilon, delta), 1 },
                  strong = honest;
        strong.stronger = 2.5;
        double found = failures(&honest, 7), caught = failures(&strong, 7);
        print_message("# %s: %.4f of delta %g (with noise forgotten %.4f)\n", tacit_count_name(counts[c]),
                      found, delta, caught);
        assert_true(found <= delta + slack);
        assert_true(caught > delta + slack);
    }
}

/* Quadrature against a finer one, and against the moments of the pair by themselves: never below, close
 * above. */
static void the_moments_of_sampled_noise_are_bounds(void **state) {
    (void)state;
    static const double cases[][3] = { { 0.01, 1, 4 }, { 0.1, 2, 12 }, { 0.5, 5, 30 }, { 0.02, 0.8, 2.5 } };
    for (size_t i = 0; i < 4; i++) {
        double q = cases[i][0], s = cases[i][1], a = cases[i][2], sum = 0, width = 1e-3;
        for (double z = -14; z < 14 + a / s; z += width) { /* trapezoids of an analytic function: exact */
            double still = exp(-z * z / 2), up = exp(-(z - 1 / s) * (z - 1 / s) / 2),
                   down = exp(-(z + 1 / s) * (z + 1 / s) / 2);
            double p = (1 - q) * still + q * up, r = (1 - q) * still + q * down;
            if (r > 0 && p > 0) sum += exp(a * log(p) + (1 - a) * log(r)) * width / sqrt(2 * M_PI);
        }
        tacit_step step = { TACIT_EVENT_GAUSSIAN, s, 0, q, 1, true };
        double here = tacit_opposed_moment(&step, a), truth = log(sum);
        print_message("# q %g, noise %g, order %g: %.9g, truth %.9g\n", q, s, a, here, truth);
        assert_true(here >= truth - 1e-11 && here <= truth * 1.01 + 1e-9);
    }
}

/* ---- the formulas of the proof notes, computed again ---- */

static void hold(tacit_holding *holding, tacit_event event, tacit_price price) {
    const tacit_block block = { .event = tacit_event_replaced(event), .price = price, .open = true };
    CHECK_OK(tacit_holding_add(holding, &block, NULL), (tacit_error)TACIT_ERROR_INIT);
}

static double counted_by(const tacit_holding *holding, tacit_count count, double order, double delta) {
    const tacit_counting counting = { count, order };
    tacit_spending out = { .epsilon = -1 };
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_holding_spent(&out, holding, TACIT_UNIT_RECORD, delta, &counting, &error), error);
    return out.epsilon;
}

/* Of Gaussian noise worth rho: the least over seven orders, each at its weight of delta. */
static double renyi_formula(double rho, double middle, double delta) {
    static const double weight[7] = { 1, 2, 4, 16, 4, 2, 1 }; /* thirtieths */
    double least = INFINITY;
    for (int j = 0; j < 7; j++) {
        const double a = 1 + (middle - 1) * pow(2, j - 3);
        least = fmin(least, a * rho + log1p(-1 / a) - (log(a) + log(weight[j] / 30 * delta)) / (a - 1));
    }
    return least;
}

static void close_to(double found, double wanted) {
    if (!(fabs(found - wanted) <= 1e-6 * wanted)) fail_msg("%.9g is not %.9g", found, wanted);
}

/* A quarter of delta is the pool's; who looks at both filters pays for each at half of the rest. */
static void each_filter_has_its_own_part_of_delta_and_each_order_its_weight(void **state) {
    (void)state;
    const double delta = 1e-5, order = 9, rho = 10 / (2 * 16.0) + 5 / (2 * 36.0);
    const tacit_price price = { TACIT_UNIT_RECORD, 20, 1e-6 };
    tacit_holding holding = TACIT_HOLDING_INIT;
    double whole, half;
    hold(&holding, tacit_event_gaussian(4, 10), price);
    hold(&holding, tacit_event_gaussian(6, 5), price);
    CHECK_OK(tacit_gaussian_epsilon(&whole, 1 / sqrt(2 * rho), delta, NULL), (tacit_error)TACIT_ERROR_INIT);
    CHECK_OK(tacit_gaussian_epsilon(&half, 1 / sqrt(2 * rho), 0.375 * delta, NULL),
             (tacit_error)TACIT_ERROR_INIT);
    close_to(counted_by(&holding, TACIT_COUNT_RDP, order, delta), renyi_formula(rho, order, 0.75 * delta));
    close_to(counted_by(&holding, TACIT_COUNT_GDP, 0, delta), whole);
    close_to(counted_by(&holding, TACIT_COUNT_BOTH, order, delta),
             fmin(half, renyi_formula(rho, order, 0.375 * delta)));
    tacit_holding_clear(&holding);
}

/* What approximate events give away adds up, and has a quarter of delta. */
static void what_gives_all_away_is_within_the_pool(void **state) {
    (void)state;
    const double delta = 1e-5;
    tacit_holding holding = TACIT_HOLDING_INIT;
    hold(&holding, tacit_event_gaussian(50, 1), (tacit_price){ TACIT_UNIT_RECORD, 1, 1e-7 });
    for (int i = 1; i <= 3; i++) {
        hold(&holding, tacit_event_approximate(0.1, 0.1 * delta, 1),
             (tacit_price){ TACIT_UNIT_RECORD, 0.1, 0.1 * delta });
        assert_int_equal(isfinite(counted_by(&holding, TACIT_COUNT_RDP, 9, delta)), i <= 2);
        assert_int_equal(isfinite(counted_by(&holding, TACIT_COUNT_BOTH, 9, delta)), i <= 2);
    }
    tacit_holding_clear(&holding);
}

/* Of the kind that was agreed, as often as was agreed, and with no less noise. */
static void a_held_budget_covers_what_was_agreed_and_no_more(void **state) {
    (void)state;
    const tacit_price each = { TACIT_UNIT_RECORD, 1, 1e-6 }, of_party = { TACIT_UNIT_PARTY, 1, 1e-6 };
    tacit_block block = { .event = tacit_event_gaussian(4, 10), .price = each, .used = 7, .open = true };
    const tacit_event same = tacit_event_gaussian(4, 3), less = tacit_event_gaussian(3.999, 1),
                      more = tacit_event_gaussian(5, 1), laplace = tacit_event_laplace(9, 1);
    assert_true(tacit_block_covers(&block, &same, &each) && tacit_block_covers(&block, &more, &each));
    assert_false(tacit_block_covers(&block, &less, &each) || tacit_block_covers(&block, &laplace, &each));
    assert_false(tacit_block_covers(&block, &same, &of_party));
    block.used = 8;
    assert_false(tacit_block_covers(&block, &same, &each));
    block.open = false;
    assert_false(tacit_block_covers(&block, &more, &each));
}

static void linked_sources_share_one_limit(void **state) {
    (void)state;
    const study one = pure("pure", 1), other = pure("other", 1);
    party self;
    tacit_ledger *copy = NULL;
    char people[TACIT_NAME_MOST + 1];
    begin(&self, 2, 0, TACIT_COUNT_SUM);
    CHECK_OK(reserve(&self, &one), self.error);
    run(&self, &one, 0, 4);
    CHECK_OK(tacit_ledger_open(&copy, self.place.file, "copy", TACIT_LEDGER_EXISTING, &self.error),
             self.error);
    const tacit_price limit = { TACIT_UNIT_RECORD, 5, 0 };
    CHECK_OK(tacit_ledger_set_limit(copy, NULL, &limit, &self.error), self.error);
    tacit_event event = whole(&other);
    CHECK_OK(tacit_ledger_reserve(copy, other.name, other.hash, &other.all, &event, &self.error), self.error);
    CHECK_OK(tacit_ledger_link(copy, SOURCE, &self.error), self.error);
    CHECK_OK(tacit_ledger_link(copy, SOURCE, &self.error), self.error); /* once is enough */
    assert_int_equal(tacit_ledger_link(self.ledger, "elsewhere", NULL), TACIT_REFUSED);
    CHECK_OK(tacit_ledger_people(people, copy, &self.error), self.error);
    assert_string_equal(people, SOURCE);
    CHECK_NEAR(spent(&self), 2, 1e-12);
    tacit_account account;
    CHECK_OK(tacit_ledger_account(&account, copy, NULL, TACIT_UNIT_RECORD, &self.error), self.error);
    CHECK_NEAR(account.spent_epsilon, 2, 1e-12);
    CHECK_NEAR(account.limit_epsilon, 2, 0);
    const study third = pure("third", 0.01);
    assert_int_equal(reserve(&self, &third), TACIT_REFUSED);
    party_verifies(&self, 0);
    tacit_ledger_free(copy);
    party_end(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_studies_cost_in_any_order_nearly_what_one_account_of_both_costs),
        cmocka_unit_test(two_gaussian_studies_cost_exactly_what_their_noise_costs),
        cmocka_unit_test(every_mixture_has_a_price_below_the_sum),
        cmocka_unit_test(a_study_alone_costs_its_price),
        cmocka_unit_test(a_study_that_was_accepted_is_not_refused_half_way),
        cmocka_unit_test(what_a_study_did_not_use_is_free_again),
        cmocka_unit_test(an_amended_study_holds_its_new_price),
        cmocka_unit_test(the_way_of_counting_stays_as_it_was_set),
        cmocka_unit_test(whoever_chooses_the_next_noise_by_the_answers_gains_nothing),
        cmocka_unit_test(the_moments_of_sampled_noise_are_bounds),
        cmocka_unit_test(each_filter_has_its_own_part_of_delta_and_each_order_its_weight),
        cmocka_unit_test(what_gives_all_away_is_within_the_pool),
        cmocka_unit_test(a_held_budget_covers_what_was_agreed_and_no_more),
        cmocka_unit_test(linked_sources_share_one_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
