/*
 * A coordinator that lies about who answered, over several sums of one study, against parties as they are. It
 * follows secure summation to the letter in every sum; what it wants is two sums whose difference is one
 * party.
 */
#include "secure_bench.h"

#include <math.h>

#include "data/generate.h"
#include "method/exact/estimate.h"
#include "method/methods.h"

enum { FIVE = 5, VICTIM = 2, FEATURES = 3, ROWS = 60, NOBODY = -1 };

/* ---- five parties in a study without noise ---- */

static void give_rows(bench *self) {
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t k = 0; k < self->parties; k++) {
        tacit_dataset *data = NULL;
        tacit_stream stream = tacit_stream_from_seed(100 + k);
        CHECK_OK(tacit_generate_ball(&data, ROWS + k, FEATURES, NULL, &stream, &error), error);
        self->sites[k].data = data;
        self->sites[k].party.rows = tacit_dataset_view(data);
        self->sites[k].party.total_rows = data->rows;
        self->sites[k].policy.allow_exact = true;
    }
}

static bench *study_of(const tacit_method *which) {
    bench *self = bench_of(TACIT_SUMS_MASKED, FIVE, 3);
    self->plan.method = which;
    self->plan.epsilon = INFINITY;
    self->plan.features = FEATURES;
    self->plan.classes = 2;
    give_rows(self);
    return self;
}

/* ---- the lying coordinator ---- */

typedef struct lying {
    bench *study;
    uint64_t round;
    const char *name;
    const tacit_message *message;
    tacit_sum_spec spec;
    int starved;         /* never sees the step that this party is starved of */
    unsigned from;       /* the step from which on it is not asked */
    tacit_status status; /* of whoever refused first */
    char why[TACIT_ERROR_TEXT_SIZE];
    int64_t sum[64];
    size_t survivors;
} lying;

static tacit_question question_of(const lying *self) {
    tacit_question question = { .method_version = self->study->plan.method->version,
                                .round = self->round,
                                .message = self->message,
                                .wants_sum = true,
                                .sum = self->spec };
    snprintf(question.study, sizeof question.study, "%s", self->study->plan.study);
    snprintf(question.method, sizeof question.method, "%s", self->study->plan.method->name);
    snprintf(question.name, sizeof question.name, "%s", self->name);
    return question;
}

static void append_roster(bench *self, tacit_buffer *out) {
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t k = 0; k < self->parties; k++)
        CHECK_OK(tacit_buffer_append(out, self->sites[k].public_key, TACIT_SIGNING_KEY_BYTES, &error), error);
}

/* Ask one party for its step, and hand what it answers to the server. */
static void ask_party(lying *self, tacit_securesum_server *server, const uint8_t id[TACIT_MASKED_ID_BYTES],
                      uint32_t place) {
    site *party = &self->study->sites[place];
    tacit_question question = question_of(self);
    tacit_masked_step step = TACIT_MASKED_STEP_INIT;
    tacit_buffer bytes = TACIT_BUFFER_INIT, reply = TACIT_BUFFER_INIT;
    tacit_answer read = TACIT_ANSWER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    step.step = tacit_securesum_server_step(server);
    memcpy(step.sum_id, id, sizeof step.sum_id);
    CHECK_OK(tacit_securesum_server_question(server, place, &step.body, &error), error);
    if (step.step == TACIT_SUM_ADVERTISE) append_roster(self->study, &step.roster);
    if (step.step != TACIT_SUM_MASK) question.message = NULL;
    question.kind = TACIT_ROUND_SECURE;
    question.masked = &step;
    crypto_generichash(question.answer_id, sizeof question.answer_id, (const uint8_t *)&self->round,
                       sizeof self->round, (const uint8_t *)&place, sizeof place);
    CHECK_OK(tacit_question_encode(&question, &bytes, &error), error);
    tacit_status status = answer(party, &bytes, &reply);
    if (status == TACIT_OK) {
        CHECK_OK(tacit_answer_decode(&read, reply.bytes, reply.length, &error), error);
        CHECK_OK(tacit_securesum_server_receive(server, place, read.message.fields[0].value.bytes,
                                                read.message.fields[0].count, &error),
                 error);
    } else if (self->status == TACIT_OK) {
        self->status = status;
        snprintf(self->why, sizeof self->why, "%s", party->error.text);
    }
    tacit_answer_clear(&read);
    tacit_buffer_clear(&bytes);
    tacit_buffer_clear(&reply);
    tacit_masked_step_clear(&step);
}

static void keep_sum(lying *self, const tacit_securesum_server *server) {
    memcpy(self->sum, tacit_securesum_server_sum(server), self->spec.length * sizeof self->sum[0]);
    for (uint32_t k = 0; k < self->study->parties; k++)
        self->survivors += tacit_securesum_server_survived(server, k);
}

/* One sum, from its first step to the last; false when it did not open. */
static bool open_sum(lying *self) {
    bench *study = self->study;
    tacit_graph_shape shape;
    tacit_securesum *sum = NULL;
    tacit_securesum_server *server = NULL;
    uint8_t keys[MANY][TACIT_SIGNING_KEY_BYTES], digest[TACIT_DIGEST_BYTES], id[TACIT_MASKED_ID_BYTES];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_question question = question_of(self);
    for (size_t k = 0; k < study->parties; k++) memcpy(keys[k], study->sites[k].public_key, sizeof keys[k]);
    tacit_signing_roster roster = { (uint32_t)study->parties,
                                    (const uint8_t(*)[TACIT_SIGNING_KEY_BYTES])keys };
    tacit_securesum_roster_digest(digest, &roster);
    tacit_securesum_roster verifier = tacit_securesum_ed25519_roster(&roster);
    CHECK_OK(tacit_masked_shape(&shape, &study->plan, &error), error);
    CHECK_OK(tacit_masked_id(id, &question, &error), error);
    tacit_securesum_terms terms = tacit_masked_terms(&shape, &question, id, digest, NULL);
    CHECK_OK(tacit_securesum_create(&sum, &terms, &verifier, &error), error);
    CHECK_OK(tacit_securesum_server_create(&server, sum, NULL, &error), error);
    bool going = true;
    while (going && tacit_securesum_server_step(server) != TACIT_SUM_OPENED) {
        const unsigned step = tacit_securesum_server_step(server);
        for (uint32_t k = 0; k < study->parties; k++)
            if (tacit_securesum_server_expects(server, k) && !((int)k == self->starved && step >= self->from))
                ask_party(self, server, id, k);
        going = tacit_securesum_server_close(server, &error) == TACIT_OK;
    }
    if (going) keep_sum(self, server);
    tacit_securesum_server_free(server);
    tacit_securesum_free(sum);
    return going;
}

/* ---- what it asks ---- */

static lying asking(bench *study, uint64_t round, const char *name, int starved) {
    return (
        lying){ .study = study, .round = round, .name = name, .starved = starved, .from = TACIT_SUM_MASK };
}

static lying asking_rows(bench *study, uint64_t round, int starved) {
    lying self = asking(study, round, "rows", starved);
    self.spec = (tacit_sum_spec){ 1, 4294967296.0, 0 };
    return self;
}

static double all_rows(const bench *self) {
    double n = 0;
    for (size_t k = 0; k < self->parties; k++) n += (double)self->sites[k].party.total_rows;
    return n;
}

/* Sum(5) - sum(4) of the same question. The number of rows stands for all that such a study sums: each is a
 * coordinate of one vector. */
static void test_two_sums_of_one_study_do_not_differ_by_a_party(void **state) {
    (void)state;
    bench *self = study_of(&tacit_method_estimate);
    lying whole = asking_rows(self, 0, NOBODY), without = asking_rows(self, 1, VICTIM);
    assert_true(open_sum(&whole));
    assert_int_equal(whole.sum[0], (int64_t)all_rows(self));
    if (open_sum(&without))
        fail_msg("the victim's count is known: %lld", (long long)(whole.sum[0] - without.sum[0]));
    assert_int_equal(without.status, TACIT_REFUSED);
    assert_non_null(strstr(without.why, "differ"));
    bench_close(self);
}

/* It makes no difference when the party was started again in between. */
static void test_the_set_is_held_over_a_restart(void **state) {
    (void)state;
    bench *self = study_of(&tacit_method_estimate);
    lying whole = asking_rows(self, 0, NOBODY), without = asking_rows(self, 1, VICTIM);
    assert_true(open_sum(&whole));
    for (size_t k = 0; k < FIVE; k++) start_masks(self, &self->sites[k]);
    assert_false(open_sum(&without));
    assert_int_equal(without.status, TACIT_REFUSED);
    bench_close(self);
}

/* Nor may a party come in that the first sum lacked; the same set again is fine. */
static void test_a_set_does_not_grow(void **state) {
    (void)state;
    bench *self = study_of(&tacit_method_estimate);
    lying without = asking_rows(self, 0, VICTIM), same = asking_rows(self, 1, VICTIM),
          whole = asking_rows(self, 2, NOBODY);
    assert_true(open_sum(&without));
    assert_true(open_sum(&same));
    assert_int_equal(same.sum[0], without.sum[0]);
    assert_false(open_sum(&whole));
    assert_non_null(strstr(whole.why, "with 1 that were not"));
    bench_close(self);
}

/* ---- weights of the coordinator's choice ---- */

/* Ask for loss, gradient and Hessian at w; with bias=firth with an inverse, packed by rows. */
static bool sums_with(bench *study, uint64_t round, const double w[FEATURES], const double *inverse,
                      lying *out) {
    const double n = all_rows(study), terms[TACIT_ESTIMATE_TERMS] = { n / 2, 0, 0 };
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    *out = asking(study, round, "sums", NOBODY);
    out->message = &message;
    out->spec =
        tacit_estimate_sum(&study->plan, n, terms, tacit_sums_length(TACIT_WEIGH_CURVATURE, FEATURES));
    CHECK_OK(tacit_message_add_numbers(&message, "rows", &n, 1, &error), error);
    CHECK_OK(tacit_message_add_integers(&message, "matrix", &(int64_t){ TACIT_WEIGH_CURVATURE }, 1, &error),
             error);
    CHECK_OK(tacit_message_add_numbers(&message, "weights", w, FEATURES, &error), error);
    CHECK_OK(tacit_message_add_numbers(&message, "response", terms, TACIT_ESTIMATE_TERMS, &error), error);
    if (inverse != NULL)
        CHECK_OK(
            tacit_message_add_numbers(&message, "inverse", inverse, tacit_firth_triangle(FEATURES), &error),
            error);
    bool opened = open_sum(out);
    tacit_message_clear(&message);
    return opened;
}

static bool sums_at(bench *study, uint64_t round, const double w[FEATURES], lying *out) {
    return sums_with(study, round, w, NULL, out);
}

/* Weights of a length at right angles to the victim's first row: p is 1/2 there, and near 0 or 1 almost
 * everywhere else. */
static void single_out(const bench *study, double length, double w[FEATURES]) {
    const double *x = study->sites[VICTIM].data->dense.values;
    const double norm = sqrt(x[0] * x[0] + x[1] * x[1]);
    w[0] = length * x[1] / norm;
    w[1] = -length * x[0] / norm;
    w[2] = 0;
}

static void test_weights_under_which_few_rows_count_are_refused(void **state) {
    (void)state;
    bench *self = study_of(&tacit_method_estimate);
    const double start[FEATURES] = { 0, 0, 0 };
    double w[FEATURES];
    lying asked;
    if (!sums_at(self, 0, start, &asked)) fail_msg("%s", asked.why);
    single_out(self, 1, w); /* nothing out of the ordinary */
    if (!sums_at(self, 1, w, &asked)) fail_msg("%s", asked.why);
    single_out(self, 1000, w);
    assert_false(sums_at(self, 2, w, &asked));
    assert_int_equal(asked.status, TACIT_REFUSED);
    assert_non_null(strstr(asked.why, "scores beyond 100"));
    bench_close(self);
}

/* All rows on one line, except for one of the victim's. */
static void rows_on_a_line(bench *self) {
    for (size_t k = 0; k < FIVE; k++) {
        tacit_dataset *data = self->sites[k].data;
        for (size_t i = 0; i < data->rows; i++) {
            double *x = data->dense.values + i * FEATURES;
            x[0] = i % 2 == 0 ? 0.9 : -0.9;
            x[1] = x[2] = 0;
            data->label[i] = i % 4 < 2;
        }
    }
    double *row = self->sites[VICTIM].data->dense.values;
    row[0] = 0;
    row[1] = 0.9;
}

/* Scores stay within the bound, and one row leads all the same. */
static void test_one_row_that_leads_the_second_moments_is_refused(void **state) {
    (void)state;
    bench *self = study_of(&tacit_method_estimate);
    lying asked;
    double w[FEATURES];
    rows_on_a_line(self);
    w[0] = 30;
    w[1] = w[2] = 0;
    assert_true(sums_at(self, 0, w, &asked)); /* of the others, whose rows are all alike */
    assert_int_equal(asked.survivors, FIVE - 1);
    assert_non_null(strstr(asked.why, "rows make up almost all of this party's second moments"));
    bench_close(self);
}

/* With bias=firth the question carries an inverse of the information matrix, from which leverages follow. All
 * rows are on one line except for one of the victim's: an inverse that is 0 along the line adds that row's
 * features alone to the gradient. */
static void test_an_inverse_that_singles_a_row_out_is_refused(void **state) {
    (void)state;
    const double w[FEATURES] = { 0.5, 0.5, 0 }, honest[] = { 0.05, 0, 0.05, 0, 0, 0.05 };
    const double along_one[] = { 0, 0, 40, 0, 0, 0 }, nothing[] = { NAN, 0, 0, 0, 0, 0 };
    bench *self = study_of(&tacit_method_estimate);
    tacit_error error = TACIT_ERROR_INIT;
    lying asked;
    CHECK_OK(tacit_plan_set(&self->plan, "bias", "firth", &error), error);
    rows_on_a_line(self);
    if (!sums_with(self, 0, w, honest, &asked)) fail_msg("%s", asked.why);
    assert_int_equal(asked.survivors, FIVE);
    assert_false(sums_with(self, 1, w, along_one, &asked));
    assert_non_null(strstr(asked.why, "rows make up almost all of this party's adjustments of the gradient"));
    bench_close(self);
    self = study_of(&tacit_method_estimate);
    CHECK_OK(tacit_plan_set(&self->plan, "bias", "firth", &error), error);
    assert_false(sums_with(self, 0, w, nothing, &asked));
    bench_close(self);
}

static void test_rounds_without_end_are_refused(void **state) {
    (void)state;
    bench *self = study_of(&tacit_method_estimate);
    const double start[FEATURES] = { 0, 0, 0 };
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_row_sums how = { .family = tacit_estimate_family(&self->plan),
                                 .weight = TACIT_WEIGH_CURVATURE,
                                 .width = FEATURES,
                                 .w = start,
                                 .response = tacit_row_class };
    const tacit_party *party = &self->sites[0].party;
    tacit_question question = { .round = 20 };
    CHECK_OK(tacit_estimate_bounds(party, &question, &how, &error), error);
    question.round = 100000;
    assert_int_equal(tacit_estimate_bounds(party, &question, &how, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "an honest fit takes fewer"));
    bench_close(self);
}

/* ---- sums with noise in them ---- */

static tacit_status answer_noised(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    const tacit_mechanism mechanism = { TACIT_LAW_LAPLACE, 1, { TACIT_UNIT_RECORD, PRICE, 0 } };
    double values[LENGTH];
    for (size_t j = 0; j < LENGTH; j++) values[j] = value_of(party->number, j);
    reply->kind = TACIT_RELEASE_CHARGED;
    reply->price = mechanism.price;
    return tacit_mechanism_release(&reply->noised, &party->noise, &mechanism, values, LENGTH,
                                   question->sum.grid_bits, question->sum.bound, error);
}

static tacit_release_kind kind_charged(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_CHARGED;
}

static const tacit_handler_entry noisy_handlers[] = { { .question = "values", .answer = answer_noised },
                                                      { .question = NULL } };
static const tacit_method noisy = { .name = "avg",
                                    .version = 1,
                                    .handlers = noisy_handlers,
                                    .price = price_values,
                                    .release_kind = kind_charged };

/* Each is private by itself, and composition covers their difference. */
static void test_sums_with_noise_may_shrink(void **state) {
    (void)state;
    bench *self = bench_of(TACIT_SUMS_MASKED, FIVE, 3);
    self->plan.method = &noisy;
    self->plan.epsilon = PRICE;
    lying whole = asking(self, 0, "values", NOBODY), without = asking(self, 1, "values", VICTIM);
    whole.spec = without.spec = self->spec;
    assert_true(open_sum(&whole));
    if (!open_sum(&without)) fail_msg("%s", without.why);
    assert_int_equal(without.survivors, FIVE - 1);
    bench_close(self);
}

/* ---- the coordinator as it should be ---- */

static void take_sum(bench *self) {
    for (size_t step = 0; step < STEPS; step++) {
        assert_true(wait_for_question(self, step + 1));
        all_take_turns(self);
    }
}

/* The coordinator is started again, for the next sum. */
static void go_on(bench *self, unsigned patience_ms) {
    const uint64_t round = self->session.round;
    tacit_board_free(self->board);
    tacit_sum_clear(&self->sum);
    self->patience_ms = patience_ms;
    open_board(self);
    self->session.round = round;
}

/* A study whose first sum was opened over all, and whose second is asked with this patience. */
static bench *exact_study(unsigned patience_ms) {
    bench *self = bench_of(TACIT_SUMS_MASKED, FIVE, 3);
    begin(self);
    take_sum(self);
    assert_int_equal(end(self), TACIT_OK);
    go_on(self, patience_ms);
    begin(self);
    assert_true(wait_for_question(self, 1));
    return self;
}

static void test_a_study_fails_when_one_of_its_parties_does_not_come_back(void **state) {
    (void)state;
    bench *self = exact_study(1);
    tacit_board_dismiss(self->board, self->sites[VICTIM].name);
    assert_int_equal(end(self), TACIT_REFUSED);
    assert_non_null(strstr(self->error.text, "party-2 has left the study"));
    assert_non_null(strstr(self->error.text, "same parties"));
    bench_close(self);
}

static void test_a_study_fails_when_one_of_its_parties_refuses(void **state) {
    (void)state;
    bench *self = exact_study(PATIENT);
    self->sites[VICTIM].gone = true;
    take_turn(self, &self->sites[VICTIM]);
    assert_int_equal(end(self), TACIT_REFUSED);
    assert_non_null(strstr(self->error.text, "party-2 refused: no"));
    bench_close(self);
}

/* The minimum is there and patience is over: still nothing is opened without it. */
static void test_a_study_waits_for_a_party_that_is_silent(void **state) {
    (void)state;
    bench *self = exact_study(1);
    liar heard;
    for (size_t step = 0; step <= TACIT_SUM_MASK; step++) {
        assert_true(wait_for_question(self, step + 1));
        for (size_t k = 0; k < FIVE; k++)
            if (k != VICTIM) take_turn(self, &self->sites[k]);
        take_turn(self, &self->sites[VICTIM]);
    }
    assert_true(wait_for_question(self, TACIT_SUM_CONSENT + 1));
    liar_hears(&heard, self, &self->sites[0]);
    assert_int_equal(heard.masked.body.bytes[heard.masked.body.length - 1],
                     (1 << FIVE) - 1); /* the survivors */
    liar_clear(&heard);
    tacit_board_cancel(self->board);
    assert_int_equal(end(self), TACIT_CANCELLED);
    bench_close(self);
}

/* A party that was too late for the first sum is asked no more. After a restart the coordinator still
 * knows. */
static void test_who_missed_the_first_sum_is_in_no_later_one(void **state) {
    (void)state;
    bench *self = bench_of(TACIT_SUMS_MASKED, FIVE, 3);
    self->sites[VICTIM].gone = true;
    begin(self);
    take_sum(self);
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, VICTIM);
    go_on(self, PATIENT);
    self->sites[VICTIM].gone = false;
    begin(self);
    tacit_buffer asked = TACIT_BUFFER_INIT;
    for (size_t step = 0; step < STEPS; step++) {
        assert_true(wait_for_question(self, step + 1));
        assert_false(read_question(self, &self->sites[VICTIM], &asked));
        all_take_turns(self);
    }
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, VICTIM);
    bench_close(self);
}

/* ---- encrypted sums ---- */

static void take_encrypted_sum(bench *self) {
    for (size_t step = 0; step < TACIT_PAILLIER_SUM_OPENED; step++) {
        assert_true(wait_for_question(self, step + 1));
        take_encrypted_turns(self, step);
    }
    assert_int_equal(end(self), TACIT_OK);
}

/* A coordinator that forgets who was in the first sum, and leaves one out of the second. */
static void test_the_key_holder_decrypts_over_one_set_only(void **state) {
    (void)state;
    bench *self = bench_of(TACIT_SUMS_PAILLIER, FIVE, 3);
    liar asked;
    begin(self);
    take_encrypted_sum(self);
    check_sum(self, FIVE);
    self->recorded[STEPS] = false;
    go_on(self, PATIENT);
    self->sites[VICTIM].gone = true;
    begin(self);
    for (size_t step = 0; step < TACIT_PAILLIER_SUM_DECRYPT; step++) {
        assert_true(wait_for_question(self, step + 1));
        take_encrypted_turns(self, step);
    }
    assert_true(wait_for_question(self, TACIT_PAILLIER_SUM_DECRYPT + 1));
    liar_hears(&asked, self, &self->sites[TACIT_KEY_HOLDER]);
    check_refused(&asked, &self->sites[TACIT_KEY_HOLDER], "without 1 parties");
    liar_clear(&asked);
    tacit_board_cancel(self->board);
    assert_int_equal(end(self), TACIT_CANCELLED);
    bench_close(self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_sums_of_one_study_do_not_differ_by_a_party),
        cmocka_unit_test(test_the_set_is_held_over_a_restart),
        cmocka_unit_test(test_a_set_does_not_grow),
        cmocka_unit_test(test_weights_under_which_few_rows_count_are_refused),
        cmocka_unit_test(test_one_row_that_leads_the_second_moments_is_refused),
        cmocka_unit_test(test_an_inverse_that_singles_a_row_out_is_refused),
        cmocka_unit_test(test_rounds_without_end_are_refused),
        cmocka_unit_test(test_sums_with_noise_may_shrink),
        cmocka_unit_test(test_a_study_fails_when_one_of_its_parties_does_not_come_back),
        cmocka_unit_test(test_a_study_fails_when_one_of_its_parties_refuses),
        cmocka_unit_test(test_a_study_waits_for_a_party_that_is_silent),
        cmocka_unit_test(test_who_missed_the_first_sum_is_in_no_later_one),
        cmocka_unit_test(test_the_key_holder_decrypts_over_one_set_only),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
