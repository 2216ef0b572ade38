/* What vote, soft, soft-stat and pate share: votes are what the parties' classifiers say, computed once or
 * often, together or alone; statistics, contrasts and fits are what their definitions say. */
#include "check.h"

#include <stdatomic.h>

#include "votes.h"

static const tacit_method *const ensemble[] = { &tacit_method_vote, &tacit_method_soft,
                                                &tacit_method_soft_stat, &tacit_method_pate };
enum { METHODS = sizeof ensemble / sizeof *ensemble };

static const char MIXED[] = "logistic,tree,bayes,knn:3,svm,bernoulli,mlp:4";

/* ---- votes ---- */

/* Train and ask every party's classifier by hand. */
static tacit_votes expected_votes(const voters *self, const char *kinds) {
    tacit_error error = TACIT_ERROR_INIT;
    size_t count = self->points.rows.count, classes = self->all.plan.classes, number = self->all.plan.parties;
    tacit_votes votes = { TACIT_NEW(double, count *classes), count, classes, number };
    int32_t *label = TACIT_NEW(int32_t, count);
    for (size_t k = 0; k < number; k++) {
        char kind[64];
        tacit_classifier *classifier = NULL;
        tacit_view rows = tacit_split_view(self->all.split, self->all.data, k);
        tacit_stream root = tacit_stream_from_seed(0);
        tacit_training training = { .lambda = 1e-4,
                                    .stream = tacit_stream_fork(&root, "local training", k, 0) };
        CHECK_OK(tacit_classifier_of_party(kinds, k, kind, sizeof kind, &error), error);
        CHECK_OK(tacit_classifier_train(&classifier, kind, &rows, &training, &error), error);
        CHECK_OK(tacit_classifier_predict(classifier, &self->points.rows, label, &error), error);
        for (size_t i = 0; i < count; i++) votes.count[i * classes + (size_t)label[i]]++;
        tacit_classifier_free(classifier);
    }
    free(label);
    return votes;
}

static void votes_are_what_the_parties_classifiers_say(void **state) {
    (void)state;
    static const char *const kinds[] = { "logistic", "tree", "svm", MIXED };
    for (size_t classes = 2; classes <= 4; classes++)
        for (int sparse = 0; sparse < 2; sparse++)
            for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
                voters self;
                print_message("# %zu classes, %s rows, %s\n", classes, sparse == 1 ? "sparse" : "dense",
                              kinds[k]);
                voters_make(&self, &tacit_method_soft, 40, classes, sparse == 1, NULL);
                voters_set(&self, "local", kinds[k]);
                tacit_votes votes = voters_ask(&self), expected = expected_votes(&self, kinds[k]);
                check_same_votes(&votes, &expected);
                tacit_votes_clear(&votes);
                tacit_votes_clear(&expected);
                voters_end(&self);
            }
}

/* A method whose parties answer one by one and repeat nothing. */
static tacit_handler_entry plain_handlers[2];

static tacit_method plain(const tacit_method *method) {
    tacit_method copy = *method;
    plain_handlers[0] = tacit_ensemble_handlers[0];
    plain_handlers[0].add_up = NULL;
    plain_handlers[0].repeatable = false;
    copy.handlers = plain_handlers;
    return copy;
}

static void adding_up_together_changes_no_vote(void **state) {
    (void)state;
    tacit_method alone = plain(&tacit_method_soft);
    for (size_t classes = 2; classes <= 3; classes++)
        for (int mixed = 0; mixed < 2; mixed++) {
            voters one, other;
            voters_make(&one, &tacit_method_soft, 70, classes, false, NULL);
            voters_make(&other, &alone, 70, classes, false, NULL);
            if (mixed == 1) voters_set(&one, "local", MIXED);
            if (mixed == 1) voters_set(&other, "local", MIXED);
            tacit_votes together = voters_ask(&one), apart = voters_ask(&other);
            check_same_votes(&together, &apart);
            tacit_votes_clear(&together);
            tacit_votes_clear(&apart);
            voters_end(&one);
            voters_end(&other);
        }
}

static void votes_are_the_same_on_any_number_of_threads(void **state) {
    (void)state;
    voters one;
    voters_make(&one, &tacit_method_soft, 100, 3, false, NULL);
    voters_set(&one, "local", MIXED);
    tacit_votes alone = voters_ask(&one);
    for (unsigned threads = 2; threads <= 3; threads++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_pool *pool = NULL;
        voters other;
        CHECK_OK(tacit_pool_create(&pool, threads, &error), error);
        voters_make(&other, &tacit_method_soft, 100, 3, false, pool);
        voters_set(&other, "local", MIXED);
        tacit_votes shared = voters_ask(&other);
        check_same_votes(&alone, &shared);
        tacit_votes_clear(&shared);
        voters_end(&other);
        tacit_pool_free(pool);
    }
    tacit_votes_clear(&alone);
    voters_end(&one);
}

static void a_party_of_one_row_or_one_class_votes_too(void **state) {
    (void)state;
    static const char *const kinds[] = { "logistic", "svm", "tree", "bayes", "bernoulli", "knn", "mlp" };
    for (size_t classes = 2; classes <= 3; classes++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            voters self;
            voters_make(&self, &tacit_method_soft, 3, classes, false, NULL);
            self.all.split->start[1] = 1; /* the first party has one row, the second nine */
            self.all.plan.minimum_rows = 1;
            for (size_t i = 1; i < 10; i++) self.all.data->label[i] = 1; /* of one class */
            voters_set(&self, "local", kinds[k]);
            tacit_votes votes = voters_ask(&self);
            assert_int_equal(votes.parties, 3);
            /* Linear models have no intercept here and may still say another class. */
            bool constant = k >= 2 && k <= 5;
            for (size_t i = 0; i < votes.points && constant; i++) {
                assert_true(votes.count[i * classes + 1] >= 1);
                assert_true(votes.count[i * classes + (size_t)self.all.data->label[0]] >= 1);
            }
            tacit_votes_clear(&votes);
            voters_end(&self);
        }
}

/* ---- repeated sums ---- */

static atomic_size_t computed;

static tacit_status count_answers(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    computed++;
    return tacit_ensemble_handlers[0].answer(party, question, reply, error);
}

static tacit_method counting(const tacit_method *method, tacit_handler_entry handlers[2]) {
    tacit_method copy = *method;
    handlers[0] = tacit_ensemble_handlers[0];
    handlers[0].answer = count_answers;
    handlers[0].add_up = NULL;
    handlers[1] = (tacit_handler_entry){ .question = NULL };
    copy.handlers = handlers;
    computed = 0;
    return copy;
}

static double charge_of(const voters *self) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_account account;
    CHECK_OK(tacit_local_charged(self->all.local, TACIT_UNIT_PARTY, &account, &error), error);
    return account.spent_epsilon;
}

static void a_known_sum_is_not_computed_again_but_paid_for_again(void **state) {
    (void)state;
    tacit_handler_entry handlers[2];
    tacit_method soft = counting(&tacit_method_soft, handlers), stat = tacit_method_soft_stat;
    stat.handlers = handlers;
    voters self;
    voters_make(&self, &soft, 12, 2, false, NULL);
    self.all.plan.epsilon = 0.5;
    tacit_votes first = voters_ask(&self);
    assert_int_equal(computed, 12);
    CHECK_NEAR(charge_of(&self), 0.5, 0);
    self.all.plan.epsilon = 0.25; /* other prices, another method: the same answers */
    for (int i = 0; i < 2; i++) {
        tacit_votes again = voters_ask(&self);
        assert_int_equal(computed, 12);
        CHECK_NEAR(charge_of(&self), 0.25, 0);
        check_same_votes(&first, &again);
        tacit_votes_clear(&again);
        self.all.plan.method = &stat;
    }
    voters_set(&self, "local_lambda", "0.5"); /* another question */
    tacit_votes other = voters_ask(&self);
    assert_int_equal(computed, 24);
    tacit_votes_clear(&other);
    tacit_points points = self.points; /* and other points */
    self.all.plan.points = &points;
    other = voters_ask(&self);
    assert_int_equal(computed, 36);
    tacit_votes_clear(&other);
    tacit_votes_clear(&first);
    voters_end(&self);
}

/* Models and charges of a whole run, with reuse and without. */
static void reuse_changes_no_result(void **state) {
    (void)state;
    for (size_t m = 0; m < METHODS; m++) {
        tacit_method alone = plain(ensemble[m]);
        voters one, other;
        voters_make(&one, ensemble[m], 9, 3, false, NULL);
        voters_make(&other, &alone, 9, 3, false, NULL);
        one.all.plan.epsilon = other.all.plan.epsilon = 2;
        for (uint64_t trial = 0; trial < 3; trial++) {
            size_t answered[2];
            tacit_model *a = parties_run(&one.all, trial, &answered[0]);
            tacit_model *b = parties_run(&other.all, trial, &answered[1]);
            assert_int_equal(answered[0], answered[1]);
            assert_memory_equal(a->weights, b->weights, tacit_model_size(a) * sizeof(double));
            CHECK_NEAR(charge_of(&one), charge_of(&other), 0);
            tacit_model_free(a);
            tacit_model_free(b);
        }
        voters_end(&one);
        voters_end(&other);
    }
}

/* A sum that lacks a party is not kept, and one that has all is not used where a party refuses. */
static void sums_with_refusals_are_never_confused(void **state) {
    (void)state;
    for (int order = 0; order < 2; order++) {
        tacit_handler_entry handlers[2];
        tacit_method soft = counting(&tacit_method_soft, handlers);
        voters self;
        const char *why;
        voters_make(&self, &soft, 10, 2, false, NULL);
        self.all.split->start[1] = 2; /* the first party has two rows, the second eight */
        for (int i = 0; i < 4; i++) {
            bool strict = i % 2 == order;
            self.all.plan.minimum_rows = strict ? 5 : 1;
            tacit_votes votes = voters_ask(&self);
            assert_int_equal(votes.parties, strict ? 9 : 10);
            assert_int_equal(tacit_local_refusals(self.all.local, &why), strict ? 1 : 0);
            for (size_t p = 0; p < votes.points; p++)
                CHECK_NEAR(votes.count[2 * p] + votes.count[2 * p + 1], strict ? 9 : 10, 0);
            tacit_votes_clear(&votes);
        }
        assert_int_equal(computed, 2 * 9 + 10); /* twice with a refusal, once without */
        voters_end(&self);
    }
}

/* ---- refusals ---- */

static void a_party_answers_only_what_the_study_defines(void **state) {
    (void)state;
    static const char *const settings[][2] = { { "local", "tree" }, { "local_lambda", "0.5" } };
    for (size_t i = 0; i < 2; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        voters self;
        voters_make(&self, &tacit_method_soft, 4, 2, false, NULL);
        tacit_session session = parties_begin(&self.all, 1);
        tacit_plan other = self.all.plan;
        tacit_votes votes = TACIT_VOTES_INIT;
        CHECK_OK(tacit_plan_set(&other, settings[i][0], settings[i][1], &error), error);
        session.plan = &other;
        assert_int_equal(tacit_ask_votes(&session, &votes, &error), TACIT_REFUSED);
        assert_non_null(strstr(error.text, "another classifier"));
        voters_end(&self);
    }
}

static void a_method_without_its_points_says_so(void **state) {
    (void)state;
    for (size_t m = 0; m < METHODS; m++) {
        tacit_error error = TACIT_ERROR_INIT;
        voters self;
        tacit_outcome outcome = TACIT_OUTCOME_INIT;
        voters_make(&self, ensemble[m], 4, 2, false, NULL);
        self.all.plan.points = NULL;
        tacit_session session = parties_begin(&self.all, 1);
        assert_int_equal(ensemble[m]->coordinate(&session, &outcome, &error), TACIT_USAGE);
        assert_non_null(strstr(error.text, "auxiliary points"));
        voters_end(&self);
    }
}

static void unknown_classifiers_are_a_usage_error(void **state) {
    (void)state;
    for (size_t m = 0; m < METHODS; m++) {
        tacit_error error = TACIT_ERROR_INIT;
        voters self;
        voters_make(&self, ensemble[m], 4, 2, false, NULL);
        voters_set(&self, "local", "oracle");
        assert_int_equal(tacit_plan_check(&self.all.plan, &error), TACIT_USAGE);
        assert_non_null(strstr(error.text, "oracle"));
        voters_end(&self);
    }
}

/* ---- shares, labels, statistics ---- */

static void shares_and_labels_of_counts(void **state) {
    (void)state;
    double counts[] = { 2, 1, 1, 0, 2, 2, 1, 1, 2 };
    static const double shares[] = { .5, .25, .25, 0, .5, .5, .25, .25, .5 };
    static const double labels[] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    tacit_votes votes = { counts, 3, 3, 4 };
    tacit_votes_to_shares(&votes);
    for (size_t i = 0; i < 9; i++) CHECK_NEAR(counts[i], shares[i], 0);
    tacit_votes_to_labels(&votes); /* the first of equals */
    for (size_t i = 0; i < 9; i++) CHECK_NEAR(counts[i], labels[i], 0);
}

static void contrasts_keep_distances_and_come_back(void **state) {
    (void)state;
    enum { FEATURES = 3, MOST = 6 };
    tacit_stream stream = tacit_stream_from_seed(4);
    for (size_t classes = 2; classes <= MOST; classes++) {
        tacit_plan plan = { .features = FEATURES, .classes = classes };
        size_t size = classes > 2 ? classes * FEATURES : FEATURES, moving = (classes - 1) * FEATURES;
        double values[MOST * FEATURES], contrasts[MOST * FEATURES], back[MOST * FEATURES],
            mean[FEATURES] = { 0 };
        assert_int_equal(tacit_ensemble_size(&plan), size);
        assert_int_equal(tacit_contrast_size(&plan), moving);
        for (size_t j = 0; j < size; j++) values[j] = tacit_fast_normal(&stream);
        for (size_t j = 0; j < size && classes > 2; j++) mean[j % FEATURES] += values[j] / (double)classes;
        tacit_to_contrasts(&plan, values, contrasts);
        double inside = 0, common = 0, whole = 0;
        for (size_t j = 0; j < moving; j++) inside += contrasts[j] * contrasts[j];
        for (size_t j = 0; j < FEATURES; j++) common += (double)classes * mean[j] * mean[j];
        for (size_t j = 0; j < size; j++) whole += values[j] * values[j];
        CHECK_NEAR(inside + common, whole, 1e-12);
        tacit_from_contrasts(&plan, contrasts, mean, back);
        for (size_t j = 0; j < size; j++) CHECK_NEAR(back[j], values[j], 1e-14);
        tacit_from_contrasts(&plan, contrasts, NULL, back); /* sums to zero over the classes */
        double sum = 0;
        for (size_t k = 0; k < size / FEATURES; k++) sum += back[k * FEATURES];
        if (classes > 2) CHECK_NEAR(sum, 0, 1e-14);
        tacit_to_contrasts(&plan, back, values);
        for (size_t j = 0; j < moving; j++) CHECK_NEAR(values[j], contrasts[j], 1e-14);
    }
}

/* ---- without noise every method is the fit it says it is ---- */

static tacit_model *fit_to(const voters *self, tacit_votes *shares) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_model *model = NULL;
    double *statistic = TACIT_NEW(double, tacit_ensemble_size(&self->all.plan));
    tacit_linear_fit fit = { .lambda = self->all.plan.lambda, .gradient_tolerance = 1e-9 };
    tacit_ensemble_statistic(&self->all.plan, shares, statistic);
    CHECK_OK(tacit_model_fit_statistic(&model, &self->points.rows, self->all.plan.classes, statistic, &fit,
                                       &error),
             error);
    free(statistic);
    return model;
}

static void without_noise_a_method_is_the_fit_to_its_labels_or_shares(void **state) {
    (void)state;
    for (size_t m = 0; m < METHODS; m++)
        for (size_t classes = 2; classes <= 4; classes++)
            for (int sparse = 0; sparse < 2; sparse++) {
                voters self;
                bool labels = m == 0 || m == 3;
                voters_make(&self, ensemble[m], 7, classes, sparse == 1, NULL);
                tacit_votes votes = voters_ask(&self);
                if (labels)
                    tacit_votes_to_labels(&votes);
                else
                    tacit_votes_to_shares(&votes);
                tacit_model *expected = fit_to(&self, &votes), *model = parties_run(&self.all, 3, NULL);
                assert_int_equal(tacit_model_size(model), tacit_model_size(expected));
                /* tolerances of 1e-9 and 1e-7, over lambda = 0.1 */
                for (size_t j = 0; j < tacit_model_size(model); j++)
                    CHECK_NEAR(model->weights[j], expected->weights[j], 2e-6);
                tacit_model_free(expected);
                tacit_model_free(model);
                tacit_votes_clear(&votes);
                voters_end(&self);
            }
}

static void a_student_of_fewer_queries_sees_only_those(void **state) {
    (void)state;
    voters self;
    voters_make(&self, &tacit_method_pate, 7, 3, false, NULL);
    tacit_model *all = parties_run(&self.all, 3, NULL);
    voters_set(&self, "queries", "60");
    tacit_model *same = parties_run(&self.all, 3, NULL);
    voters_set(&self, "queries", "10");
    tacit_model *few = parties_run(&self.all, 3, NULL);
    tacit_votes votes = voters_ask(&self);
    uint32_t index[10];
    tacit_points asked = tacit_points_some(&self.points, 10, index);
    for (size_t i = 0; i < 10; i++)
        memmove(votes.count + 3 * i, votes.count + 3 * 6 * i, 3 * sizeof *votes.count);
    votes.points = 10;
    tacit_votes_to_labels(&votes);
    self.all.plan.points = &asked;
    tacit_points whole = self.points;
    self.points = asked;
    tacit_model *expected = fit_to(&self, &votes);
    self.points = whole;
    assert_memory_equal(all->weights, same->weights, tacit_model_size(all) * sizeof(double));
    for (size_t j = 0; j < tacit_model_size(few); j++)
        CHECK_NEAR(few->weights[j], expected->weights[j], 2e-6);
    tacit_model_free(all);
    tacit_model_free(same);
    tacit_model_free(few);
    tacit_model_free(expected);
    tacit_votes_clear(&votes);
    voters_end(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(votes_are_what_the_parties_classifiers_say),
        cmocka_unit_test(adding_up_together_changes_no_vote),
        cmocka_unit_test(votes_are_the_same_on_any_number_of_threads),
        cmocka_unit_test(a_party_of_one_row_or_one_class_votes_too),
        cmocka_unit_test(a_known_sum_is_not_computed_again_but_paid_for_again),
        cmocka_unit_test(reuse_changes_no_result),
        cmocka_unit_test(sums_with_refusals_are_never_confused),
        cmocka_unit_test(a_party_answers_only_what_the_study_defines),
        cmocka_unit_test(a_method_without_its_points_says_so),
        cmocka_unit_test(unknown_classifiers_are_a_usage_error),
        cmocka_unit_test(shares_and_labels_of_counts),
        cmocka_unit_test(contrasts_keep_distances_and_come_back),
        cmocka_unit_test(without_noise_a_method_is_the_fit_to_its_labels_or_shares),
        cmocka_unit_test(a_student_of_fewer_queries_sees_only_those),
    };
    return cmocka_run_group_tests_name("ensemble", tests, NULL, NULL);
}
