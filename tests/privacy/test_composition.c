/* What many charges cost together, by the least of the accountants: the account of one study, and of limits
 * of earlier formats. How a limit in total is counted is in test_counting.c. */
#include "party.h"

#include <sqlite3.h>

#include "privacy/account/gaussian.h"
#include "privacy/mechanism/mechanism.h"
#include "rand/stream.h"

enum { SEED = 20240611 };

static tacit_account account_of(party *self, const char *study, tacit_unit unit) {
    tacit_account account;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_ledger_account(&account, self->ledger, study, unit, &error), error);
    return account;
}

static void limit_to(party *self, const char *study, tacit_unit unit, double epsilon, double delta) {
    const tacit_price limit = { unit, epsilon, delta };
    CHECK_OK(tacit_ledger_set_limit_counted(self->ledger, study, &limit,
                                            delta > 0 ? TACIT_COUNT_LEAST : TACIT_COUNT_SUM, &self->error),
             self->error);
}

/* A release of Gaussian noise with its event, as the mechanism gives it. */
static tacit_release gaussian_release(int number, double epsilon, double delta) {
    tacit_release release = sample_release(number);
    release.price = (tacit_price){ TACIT_UNIT_RECORD, epsilon, delta };
    const tacit_mechanism mechanism = { TACIT_LAW_GAUSSIAN, 3, release.price };
    assert_int_equal(tacit_mechanism_event(&release.event, &mechanism, NULL), TACIT_OK);
    return release;
}

static void gaussians_cost_what_their_noise_costs(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    limit_to(&self, NULL, TACIT_UNIT_RECORD, 3, 1e-5);
    enum { TIMES = 30 };
    for (int i = 0; i < TIMES; i++) {
        tacit_release release = gaussian_release(i, 0.4, 1e-6);
        CHECK_OK(party_release(&self, &release), self.error);
    }
    tacit_account account = account_of(&self, NULL, TACIT_UNIT_RECORD);
    double sigma, exact;
    assert_int_equal(tacit_gaussian_sigma(&sigma, 0.4, 1e-6, 1, NULL), TACIT_OK);
    assert_int_equal(tacit_gaussian_epsilon(&exact, sigma / sqrt(TIMES), 1e-5, NULL), TACIT_OK);
    CHECK_NEAR(account.spent_epsilon, exact, 1e-9);
    CHECK_NEAR(account.sum_epsilon, 0.4 * TIMES, 1e-12);
    assert_int_equal(account.by, TACIT_COMPOSITION_GAUSSIAN);
    assert_true(account.spent_epsilon < 3);
    party_verifies(&self, 3 + TIMES);
    party_end(&self);
}

/* The limit is met exactly: the noise of T rounds calibrated to the limit fits T times, not T + 1 times. */
static void rounds_calibrated_to_the_limit_fit_it(void **state) {
    (void)state;
    static const int rounds[] = { 1, 2, 7, 100 };
    for (size_t k = 0; k < 4; k++) {
        party self;
        double sigma;
        int times = rounds[k];
        party_ready(&self);
        limit_to(&self, NULL, TACIT_UNIT_RECORD, 1, 1e-5);
        assert_int_equal(tacit_gaussian_sigma(&sigma, 1, 1e-5, 1, NULL), TACIT_OK);
        for (int i = 0; i <= times; i++) {
            tacit_release release = sample_release(i);
            release.event = tacit_event_replaced(tacit_event_gaussian(sigma * sqrt(times), 1));
            release.price = (tacit_price){ TACIT_UNIT_RECORD, 1, 1e-5 };
            if (i < times)
                CHECK_OK(party_release(&self, &release), self.error);
            else
                party_refuses(&self, &release, TACIT_REFUSED, "by Gaussian composition");
        }
        party_end(&self);
    }
}

static void a_limit_without_delta_takes_pure_events_only(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    limit_to(&self, NULL, TACIT_UNIT_RECORD, 2, 0);
    tacit_release pure = sample_release(1), gaussian = gaussian_release(2, 0.5, 1e-6),
                  loose = sample_release(3);
    CHECK_OK(party_release(&self, &pure), self.error);
    party_refuses(&self, &gaussian, TACIT_REFUSED, "nothing that is proved");
    loose.price.delta = 1e-6; /* priced with a delta that its noise does not need */
    loose.event = tacit_event_replaced(tacit_event_laplace(4, 1));
    CHECK_OK(party_release(&self, &loose), self.error);
    CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), 0.5, 1e-12);
    party_end(&self);
}

/* An event that costs more than the price would let the sum undercut the truth. */
static void an_event_must_buy_its_price(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    limit_to(&self, NULL, TACIT_UNIT_RECORD, 5, 1e-3);
    tacit_release release = gaussian_release(1, 0.5, 1e-6);
    release.price.epsilon *= 1 - 1e-6;
    party_refuses(&self, &release, TACIT_INPUT, "does not buy its price");
    release = sample_release(2);
    release.event = tacit_event_laplace(4, 1); /* twice that when a row is replaced */
    party_refuses(&self, &release, TACIT_INPUT, "does not buy its price");
    release.event = tacit_event_replaced(tacit_event_laplace(4, 2));
    party_refuses(&self, &release, TACIT_INPUT, "does not buy its price");
    release.event = tacit_event_replaced(tacit_event_pure(0.25, 1));
    CHECK_OK(party_release(&self, &release), self.error);
    release = sample_release(3);
    release.event = tacit_event_gaussian(NAN, 1);
    party_refuses(&self, &release, TACIT_INPUT, "makes no sense");
    release.event = tacit_event_sampled(tacit_event_gaussian(4, 1000), 0.01); /* rows come and go */
    release.price = (tacit_price){ TACIT_UNIT_RECORD, 0.1, 1e-6 };
    party_refuses(&self, &release, TACIT_INPUT, "does not buy its price");
    tacit_accountant *accountant = NULL;
    tacit_spending spent;
    assert_int_equal(tacit_accountant_create(&accountant, TACIT_REPLACE, NULL), TACIT_OK);
    assert_int_equal(tacit_accountant_add(accountant, &release.event, NULL), TACIT_OK);
    assert_int_equal(tacit_accountant_epsilon(&spent, accountant, 1e-6, NULL), TACIT_OK);
    tacit_accountant_free(accountant);
    release.price.epsilon = spent.epsilon;
    CHECK_OK(party_release(&self, &release), self.error);
    release.price = (tacit_price){ TACIT_UNIT_RECORD, 0, 0 };
    release.kind = TACIT_RELEASE_SEALED, release.assumption = "nobody colludes";
    party_refuses(&self, &release, TACIT_INPUT, "has an event but");
    party_end(&self);
}

static tacit_event random_event(tacit_stream *stream, tacit_price *price) {
    double size = exp(log(0.02) + tacit_stream_unit(stream) * log(40));
    *price = (tacit_price){ tacit_stream_unit(stream) < 0.3 ? TACIT_UNIT_PARTY : TACIT_UNIT_RECORD, size, 0 };
    tacit_event event = { .count = 0 };
    switch ((int)(tacit_stream_unit(stream) * 4)) {
    case 0: return tacit_event_replaced(tacit_event_pure(size, 1));
    case 1: return tacit_event_replaced(tacit_event_laplace(nextafter(1 / size, INFINITY), 1));
    case 2: price->delta = 1e-7; return event; /* generic */
    default: {
        price->delta = 1e-6;
        const tacit_mechanism mechanism = { TACIT_LAW_GAUSSIAN, 1, *price };
        assert_int_equal(tacit_mechanism_event(&event, &mechanism, NULL), TACIT_OK);
        return event;
    }
    }
}

/* What is spent, of each limit, over random histories: never falls, never passes the sum of the prices (where
 * their deltas fit), never undercuts what is left when all but the Gaussians, or all but the pure events, are
 * forgotten. */
static void spending_is_monotone_and_between_its_bounds(void **state) {
    (void)state;
    print_message("# seed %d\n", SEED);
    tacit_stream stream = tacit_stream_from_seed(SEED);
    for (int history = 0; history < 4; history++) {
        party self;
        party_ready(&self);
        limit_to(&self, NULL, TACIT_UNIT_RECORD, 1e6, 1e-5);
        limit_to(&self, NULL, TACIT_UNIT_PARTY, 1e6, 1e-4);
        limit_to(&self, STUDY, TACIT_UNIT_RECORD, 1e6, 1e-5);
        double before[TACIT_UNITS] = { 0 }, precision = 0;
        for (int i = 0; i < 12; i++) {
            tacit_release release = sample_release(i);
            release.event = random_event(&stream, &release.price);
            CHECK_OK(party_release(&self, &release), self.error);
            if (release.event.count > 0 && release.event.kind == TACIT_EVENT_GAUSSIAN)
                precision += 1 / (release.event.parameter * release.event.parameter);
            for (int unit = 0; unit < TACIT_UNITS; unit++) {
                tacit_account account = account_of(&self, NULL, unit);
                assert_true(account.spent_epsilon >= before[unit]);
                if (account.sum_delta <= account.limit_delta)
                    assert_true(account.spent_epsilon <= account.sum_epsilon);
                before[unit] = account.spent_epsilon;
            }
            double part = 0; /* the Gaussians alone, exactly: no bound on everything may be below */
            if (precision > 0)
                assert_int_equal(tacit_gaussian_epsilon(&part, 1 / sqrt(precision), 1e-5, NULL), TACIT_OK);
            assert_true(before[TACIT_UNIT_RECORD] >= part * (1 - 1e-9));
            CHECK_NEAR(party_spent(&self, STUDY, TACIT_UNIT_RECORD), before[TACIT_UNIT_RECORD], 0);
        }
        party_verifies(&self, 0);
        party_end(&self);
    }
}

/* delta of a Gaussian at any epsilon; below 0 by H_a(P || Q) = 1 - a + a H_(1/a)(Q || P). */
static double gaussian_delta(double sigma, double epsilon) {
    double delta = 0;
    if (epsilon < 0) return -expm1(epsilon) + exp(epsilon) * gaussian_delta(sigma, -epsilon);
    assert_int_equal(tacit_gaussian_delta(&delta, sigma, epsilon, NULL), TACIT_OK);
    return delta;
}

/* The true delta of randomised responses of the given epsilons and one Gaussian (sigma 0: none), by going
 * through all answers of the former: the worst mechanisms that the charges could have been. */
static double true_delta(const double *epsilons, int count, double sigma, double epsilon) {
    double sum = 0;
    for (unsigned answers = 0; answers < 1u << count; answers++) {
        double chance = 1, loss = 0;
        for (int i = 0; i < count; i++) {
            bool yes = answers >> i & 1;
            chance /= 1 + exp(yes ? -epsilons[i] : epsilons[i]);
            loss += yes ? epsilons[i] : -epsilons[i];
        }
        sum += chance * (sigma > 0 ? gaussian_delta(sigma, epsilon - loss) : fmax(0, -expm1(epsilon - loss)));
    }
    return sum;
}

/* Against the truth, where it can be computed: never below it, and close above. */
static void what_is_spent_is_never_below_the_truth(void **state) {
    (void)state;
    print_message("# seed %d\n", SEED + 2);
    tacit_stream stream = tacit_stream_from_seed(SEED + 2);
    enum { COUNT = 9 };
    for (int history = 0; history < 6; history++) {
        party self;
        party_ready(&self);
        double delta = pow(10, -2 - history), epsilons[COUNT], precision = 0;
        int pure = 0;
        limit_to(&self, NULL, TACIT_UNIT_RECORD, 1e6, delta);
        for (int i = 0; i < COUNT; i++) {
            tacit_release release = sample_release(i);
            release.price.epsilon = 0.1 + 0.4 * tacit_stream_unit(&stream);
            if (history % 2 == 0 || i % 3 != 0) {
                epsilons[pure++] = release.price.epsilon;
            } else {
                release = gaussian_release(i, release.price.epsilon, 1e-6);
                precision += 1 / (release.event.parameter * release.event.parameter);
            }
            CHECK_OK(party_release(&self, &release), self.error);
            double sigma = precision > 0 ? 1 / sqrt(precision) : 0;
            double spent = party_spent(&self, NULL, TACIT_UNIT_RECORD);
            double there = true_delta(epsilons, pure, sigma, spent);
            if (!(there <= delta * (1 + 1e-9)))
                fail_msg("delta %.9g at what is spent, limit %g", there, delta);
            if (spent > 0.05) /* less would be too little */
                assert_true(true_delta(epsilons, pure, sigma, spent * 0.99) > delta);
        }
        party_end(&self);
    }
}

/* Charges of almost no size: whatever the accountants' grids do, nothing is handed back. */
static void small_charges_hand_nothing_back(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    limit_to(&self, NULL, TACIT_UNIT_RECORD, 100, 1e-5);
    double before = 0;
    for (int i = 0; i < 12; i++) {
        tacit_release release = sample_release(i);
        release.price.epsilon = i % 3 == 0 ? 0.3 : 1e-9 * (i + 1);
        CHECK_OK(party_release(&self, &release), self.error);
        double after = party_spent(&self, NULL, TACIT_UNIT_RECORD);
        assert_true(after >= before);
        before = after;
    }
    party_end(&self);
}

/* The ledger in memory and the one on the disk, over the same history. */
static void both_ledgers_agree(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    limit_to(&self, NULL, TACIT_UNIT_RECORD, 2, 1e-5);
    tacit_ledger *memory = NULL;
    tacit_gate gate;
    tacit_policy policy = tacit_policy_none();
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_stream stream = tacit_stream_from_seed(SEED + 1);
    const tacit_price limit = { TACIT_UNIT_RECORD, 2, 1e-5 };
    assert_int_equal(tacit_ledger_create(&memory, NULL), TACIT_OK);
    assert_int_equal(tacit_ledger_set_limit(memory, NULL, &limit, NULL), TACIT_OK);
    assert_int_equal(tacit_gate_init(&gate, memory, &policy, TACIT_GATE_SIMULATED, NULL), TACIT_OK);
    int refused = 0;
    for (int i = 0; i < 30; i++) {
        tacit_release release = sample_release(i);
        release.event = random_event(&stream, &release.price);
        tacit_account account;
        tacit_status real = party_release(&self, &release);
        assert_int_equal(tacit_gate_release(&gate, &release, &out, NULL), real);
        refused += real == TACIT_REFUSED;
        assert_int_equal(tacit_ledger_account(&account, memory, NULL, TACIT_UNIT_RECORD, NULL), TACIT_OK);
        CHECK_NEAR(account.spent_epsilon, party_spent(&self, NULL, TACIT_UNIT_RECORD), 1e-5);
    }
    assert_in_range(refused, 5, 29);
    tacit_ledger_free(memory);
    tacit_buffer_clear(&out);
    party_end(&self);
}

static void an_epsilon_beyond_accountants_is_summed(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    limit_to(&self, NULL, TACIT_UNIT_RECORD, 3000, 1e-5);
    for (int i = 0; i < 2; i++) {
        tacit_release release = sample_release(i);
        release.price.epsilon = 1000;
        CHECK_OK(party_release(&self, &release), self.error);
    }
    CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), 2000, 0);
    party_verifies(&self, 5);
    party_end(&self);
}

static void a_new_delta_counts_anew(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    limit_to(&self, NULL, TACIT_UNIT_RECORD, 5, 1e-5);
    for (int i = 0; i < 5; i++) {
        tacit_release release = gaussian_release(i, 0.4, 1e-6);
        CHECK_OK(party_release(&self, &release), self.error);
    }
    double at[3];
    static const double deltas[] = { 1e-5, 1e-3, 1e-9 };
    for (int i = 0; i < 3; i++) {
        limit_to(&self, NULL, TACIT_UNIT_RECORD, 5, deltas[i]);
        at[i] = party_spent(&self, NULL, TACIT_UNIT_RECORD);
    }
    assert_true(at[1] < at[0] && at[0] < at[2]);
    limit_to(&self, NULL, TACIT_UNIT_RECORD, 5, 0);
    assert_true(isinf(party_spent(&self, NULL, TACIT_UNIT_RECORD)));
    tacit_release pure = sample_release(9);
    assert_int_equal(party_release(&self, &pure), TACIT_REFUSED);
    assert_non_null(strstr(self.error.text, "nothing that is proved"));
    self.error = (tacit_error)TACIT_ERROR_INIT;
    limit_to(&self, NULL, TACIT_UNIT_RECORD, 5, 1e-5);
    CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), at[0], 0);
    party_verifies(&self, 0);
    party_end(&self);
}

static void asking_in_advance_tells_what_a_charge_would(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    limit_to(&self, NULL, TACIT_UNIT_RECORD, 1, 1e-5);
    tacit_release release = gaussian_release(0, 0.6, 1e-6), second = gaussian_release(1, 0.6, 1e-6);
    CHECK_OK(party_release(&self, &release), self.error);
    CHECK_OK(tacit_ledger_fits(self.ledger, STUDY, &second.price, &second.event, &self.error), self.error);
    assert_int_equal(tacit_ledger_fits(self.ledger, STUDY, &second.price, NULL, NULL), TACIT_REFUSED);
    CHECK_NEAR(account_of(&self, NULL, TACIT_UNIT_RECORD).sum_epsilon, 0.6, 0); /* nothing was charged */
    CHECK_OK(party_release(&self, &second), self.error);
    party_end(&self);
}

/* Whoever opens it first, also only to read. */
static void a_ledger_of_the_first_format_keeps_its_charges(void **state) {
    (void)state;
    static const tacit_ledger_mode modes[] = { TACIT_LEDGER_CREATE, TACIT_LEDGER_EXISTING,
                                               TACIT_LEDGER_READING };
    for (size_t i = 0; i < 3; i++) {
        party self = party_new();
        make_old_ledger(self.place.file);
        party_open(&self, modes[i]);
        party_verifies(&self, 10);
        tacit_account account = account_of(&self, NULL, TACIT_UNIT_RECORD);
        CHECK_NEAR(account.sum_epsilon, 2, 0);
        CHECK_NEAR(account.sum_delta, 1e-6, 0);
        assert_true(account.spent_epsilon < 2 && account.spent_epsilon > 1.9); /* 9e-6 of delta to gain by */
        account = account_of(&self, "heart", TACIT_UNIT_RECORD);
        assert_true(account.spent_epsilon < 1 && account.spent_epsilon > 0.9);
        if (modes[i] == TACIT_LEDGER_READING) {
            tacit_ledger_free(self.ledger);
            party_open(&self, TACIT_LEDGER_EXISTING);
        }
        tacit_release release = sample_release(3); /* an answer that was stored then */
        CHECK_OK(party_release(&self, &release), self.error);
        assert_int_equal(self.out.length, 25);
        release = gaussian_release(20, 0.25, 1e-6);
        CHECK_OK(party_release(&self, &release), self.error);
        limit_to(&self, NULL, TACIT_UNIT_RECORD, 10, 1e-5);
        release = sample_release(21);
        release.price.epsilon = 1.5; /* beyond the limit of the study, old charges counted */
        party_refuses(&self, &release, TACIT_REFUSED, "for study heart");
        party_verifies(&self, 13);
        party_end(&self);
    }
}

static void a_broken_ledger_of_the_first_format_is_not_updated(void **state) {
    (void)state;
    party self = party_new();
    sqlite3 *connection = NULL;
    make_old_ledger(self.place.file);
    assert_int_equal(sqlite3_open(self.place.file, &connection), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(connection, "UPDATE log SET body = x'00' WHERE entry = 6", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(connection);
    assert_int_equal(
        tacit_ledger_open(&self.ledger, self.place.file, SOURCE, TACIT_LEDGER_EXISTING, &self.error),
        TACIT_CORRUPT);
    assert_non_null(strstr(self.error.text, "entry 6 of"));
    party_end(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaussians_cost_what_their_noise_costs),
        cmocka_unit_test(rounds_calibrated_to_the_limit_fit_it),
        cmocka_unit_test(a_limit_without_delta_takes_pure_events_only),
        cmocka_unit_test(an_event_must_buy_its_price),
        cmocka_unit_test(spending_is_monotone_and_between_its_bounds),
        cmocka_unit_test(what_is_spent_is_never_below_the_truth),
        cmocka_unit_test(small_charges_hand_nothing_back),
        cmocka_unit_test(both_ledgers_agree),
        cmocka_unit_test(an_epsilon_beyond_accountants_is_summed),
        cmocka_unit_test(a_new_delta_counts_anew),
        cmocka_unit_test(asking_in_advance_tells_what_a_charge_would),
        cmocka_unit_test(a_ledger_of_the_first_format_keeps_its_charges),
        cmocka_unit_test(a_broken_ledger_of_the_first_format_is_not_updated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
