#include "check.h"

#include <float.h>
#include <string.h>

#include "privacy/policy.h"

static void prices_that_mean_nothing_are_refused(void **state) {
    (void)state;
    static const struct {
        double epsilon, delta;
        bool right;
    } cases[] = { { 1, 0, true },        { INFINITY, 0, true },   { 1e-9, 1 - 1e-9, true },
                  { DBL_MAX, 0, true },  { 0, 0, false },         { -1, 0, false },
                  { NAN, 0, false },     { -INFINITY, 0, false }, { 1, -1e-9, false },
                  { 1, 1, false },       { 1, NAN, false },       { 1, INFINITY, false },
                  { -0.0, 1e-6, false }, { NAN, NAN, false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_price price = { TACIT_UNIT_PARTY, cases[i].epsilon, cases[i].delta };
        assert_int_equal(tacit_price_check(&price, NULL), cases[i].right ? TACIT_OK : TACIT_INPUT);
    }
    tacit_price price = { (tacit_unit)7, 1, 0 };
    assert_int_equal(tacit_price_check(&price, NULL), TACIT_INPUT);
}

static void sums_are_never_below_the_exact_sum(void **state) {
    (void)state;
    CHECK_NEAR(tacit_add_up(0.5, 0.25), 0.75, 0); /* exact sums stay exact */
    CHECK_NEAR(tacit_add_up(0, 0.1), 0.1, 0);
    assert_true(tacit_add_up(1, 1e-30) > 1);
    assert_true(tacit_add_up(1e-30, 1) > 1);
    assert_true(isinf(tacit_add_up(INFINITY, 1)));
    assert_true(isinf(tacit_add_up(DBL_MAX, DBL_MAX)));
    /* Against sums in extended precision, in which these are exact: amounts in [1/2, 1), totals below 2^9. */
    double total = 0;
    uint64_t state_of_mixer = 1;
    for (int i = 0; i < 500; i++) {
        state_of_mixer = state_of_mixer * 6364136223846793005u + 1442695040888963407u;
        double amount = 0.5 + (double)(state_of_mixer >> 12) * 0x1p-53;
        long double exact = (long double)total + (long double)amount;
        total = tacit_add_up(total, amount);
        assert_true((long double)total >= exact);
        assert_true((long double)nextafter(total, 0) < exact); /* and no larger than it must be */
    }
}

static void ten_tenths_fit_a_limit_of_one_but_nothing_more(void **state) {
    (void)state;
    double total = 0;
    for (int i = 0; i < 10; i++) total = tacit_add_up(total, 0.1);
    assert_true(total > 1);
    assert_true(tacit_amount_within(total, 1));
    assert_false(tacit_amount_within(1 + 1e-9, 1));
    assert_false(tacit_amount_within(5e-324, 0));
    assert_true(tacit_amount_within(0, 0));
    assert_false(tacit_amount_within(NAN, 1));
}

static void a_price_reads_as_text(void **state) {
    (void)state;
    char text[TACIT_PRICE_TEXT_SIZE];
    tacit_price price = { TACIT_UNIT_RECORD, 1.5, 0 };
    assert_string_equal(tacit_price_text(text, &price), "epsilon 1.5, delta 0, per record");
    price = (tacit_price){ TACIT_UNIT_PARTY, INFINITY, 2e-6 };
    assert_string_equal(tacit_price_text(text, &price), "epsilon inf, delta 2e-06, per party");
    price.epsilon = -DBL_MAX, price.delta = -DBL_MIN;
    assert_true(strlen(tacit_price_text(text, &price)) < sizeof text - 1);
}

static tacit_release good_release(void) {
    return (tacit_release){ .kind = TACIT_RELEASE_CHARGED,
                            .noise = TACIT_NOISE_EXACT,
                            .price = { TACIT_UNIT_RECORD, 1, 0 },
                            .coordinator = "c",
                            .study = "s",
                            .method = "m",
                            .question = "q",
                            .rows = 20,
                            .parties_declared = 4,
                            .parties_minimum = 3,
                            .parameters = 10,
                            .payload = (const uint8_t *)"x",
                            .payload_length = 1 };
}

static void wrong(tacit_release release, const char *sentence) {
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_release_check(&release, &error), TACIT_INPUT);
    if (strstr(error.text, sentence) == NULL) fail_msg("'%s' does not say '%s'", error.text, sentence);
}

#define WRONG(member, value, sentence)                                                                       \
    do {                                                                                                     \
        tacit_release wrong_release_ = good_release();                                                       \
        wrong_release_.member = (value);                                                                     \
        wrong(wrong_release_, (sentence));                                                                   \
    } while (0)

static void a_release_that_contradicts_itself_is_refused(void **state) {
    (void)state;
    tacit_release release = good_release();
    assert_int_equal(tacit_release_check(&release, NULL), TACIT_OK);
    WRONG(kind, (tacit_release_kind)3, "not a kind of release");
    WRONG(noise, (tacit_noise)-1, "not a kind of noise");
    WRONG(study, NULL, "study's name is missing");
    WRONG(method, "", "method's name is missing");
    WRONG(question, "a\nb", "control character");
    WRONG(coordinator, "\x1b[2J", "control character");
    WRONG(study, "\xc3", "UTF-8");
    WRONG(study, "\xc0\xaf", "UTF-8");
    WRONG(study, "\xed\xa0\x80", "UTF-8");
    WRONG(study, "\xc2\x85", "control character");
    WRONG(kind, TACIT_RELEASE_SEALED, "assumption");
    WRONG(noise, TACIT_NOISE_NONE, "has no noise");
    WRONG(price.epsilon, 0, "epsilon is 0");
    WRONG(price.delta, NAN, "delta is");
    WRONG(parties_minimum, 5, "at least 5 parties");
    WRONG(payload_length, TACIT_PAYLOAD_MOST + 1, "longer");
    WRONG(payload, NULL, "no bytes");
    char name[TACIT_NAME_MOST + 2];
    memset(name, 'n', sizeof name);
    name[TACIT_NAME_MOST + 1] = 0;
    WRONG(study, name, "longer than 200 bytes");
    name[TACIT_NAME_MOST] = 0;
    release.study = name;
    assert_int_equal(tacit_release_check(&release, NULL), TACIT_OK);
    release = good_release();
    release.study = "\xe4\xbd\xa0 caf\xc3\xa9 \xf0\x9f\x98\x80";
    assert_int_equal(tacit_release_check(&release, NULL), TACIT_OK);
}

static void only_what_is_sealed_may_cost_nothing(void **state) {
    (void)state;
    tacit_release release = good_release();
    release.kind = TACIT_RELEASE_SEALED;
    release.noise = TACIT_NOISE_NONE;
    release.assumption = "discrete logarithms are hard";
    release.price = (tacit_price){ TACIT_UNIT_PARTY, 0, 0 };
    assert_int_equal(tacit_release_check(&release, NULL), TACIT_OK);
    release.price.delta = 1e-6;
    wrong(release, "epsilon is 0");
    release.price = (tacit_price){ TACIT_UNIT_PARTY, 1, 0 };
    wrong(release, "has no noise");
    release.price = (tacit_price){ (tacit_unit)9, 0, 0 };
    wrong(release, "per record or per party");
    release.price = (tacit_price){ TACIT_UNIT_PARTY, INFINITY, 0 };
    assert_int_equal(tacit_release_check(&release, NULL), TACIT_OK);
}

static void breaks(tacit_policy policy, tacit_release release, const char *value, const char *remedy) {
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_policy_check(&policy, &release, &error), TACIT_REFUSED);
    if (strstr(error.text, value) == NULL || strstr(error.text, remedy) == NULL)
        fail_msg("'%s' does not say '%s' and '%s'", error.text, value, remedy);
}

static void each_rule_refuses_with_value_and_remedy(void **state) {
    (void)state;
    static const char *const methods[] = { "avg", "soft-stat" };
    tacit_policy policy = tacit_policy_default();
    tacit_release release = good_release();
    assert_int_equal(tacit_policy_check(&policy, &release, NULL), TACIT_OK);
    release.rows = 9;
    breaks(policy, release, "9 rows, fewer than the owner's minimum of 10", "add rows");
    release = good_release();
    release.parties_minimum = 1;
    breaks(policy, release, "from 1 parties, fewer than the owner's minimum of 2",
           "raise the study's minimum");
    release = good_release();
    release.kind = TACIT_RELEASE_ENTRUSTED;
    breaks(policy, release, "coordinator c", "choose a sealed method");
    policy.allow_entrusted = true;
    assert_int_equal(tacit_policy_check(&policy, &release, NULL), TACIT_OK);
    policy.methods = methods, policy.method_count = 2;
    breaks(policy, release, "method m", "the owner can add it");
    release.method = "soft-stat";
    assert_int_equal(tacit_policy_check(&policy, &release, NULL), TACIT_OK);
    policy.most_parameters_per_row = 0.5;
    assert_int_equal(tacit_policy_check(&policy, &release, NULL), TACIT_OK);
    release.parameters = 11;
    breaks(policy, release, "11 numbers from 20 rows, more than the owner's 0.5", "smaller model");
    release.rows = 0, policy.minimum_rows = 0;
    breaks(policy, release, "11 numbers from 0 rows", "add rows");
    policy.most_parameters_per_row = NAN;
    breaks(policy, good_release(), "method m", "rules");
    policy = tacit_policy_none();
    release = good_release();
    release.kind = TACIT_RELEASE_ENTRUSTED;
    release.rows = release.parties_minimum = 0;
    assert_int_equal(tacit_policy_check(&policy, &release, NULL), TACIT_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prices_that_mean_nothing_are_refused),
        cmocka_unit_test(sums_are_never_below_the_exact_sum),
        cmocka_unit_test(ten_tenths_fit_a_limit_of_one_but_nothing_more),
        cmocka_unit_test(a_price_reads_as_text),
        cmocka_unit_test(a_release_that_contradicts_itself_is_refused),
        cmocka_unit_test(only_what_is_sealed_may_cost_nothing),
        cmocka_unit_test(each_rule_refuses_with_value_and_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
