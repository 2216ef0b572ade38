/* Local classifiers of every kind: they learn, on few rows too, the same for dense and sparse rows and any
 * number of threads; and each does what its definition says. */
#include "classes.h"

static const char *const kinds[] = { "logistic",  "softmax", "svm",   "tree",  "bayes",
                                     "bernoulli", "knn",     "knn:3", "mlp:4", "mlp" };
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void every_kind_learns_classes_apart(void **state) {
    (void)state;
    for (size_t classes = 2; classes <= 5; classes += 3)
        for (size_t k = 0; k < KINDS; k++) {
            classes_set rows = classes_clouds(200, 31, classes, 0.3, 1),
                        test = classes_clouds(400, 31, classes, 0.3, 2);
            tacit_training training = classes_training();
            for (int sparse = 0; sparse < 2; sparse++) {
                tacit_view view = classes_view(&rows, sparse), truth = classes_view(&test, sparse);
                int32_t *labels = classes_predict(kinds[k], &view, &truth.rows, &training);
                double accuracy = classes_accuracy(labels, &truth), least = k == 3 ? 0.75 : 0.95;
                if (!(accuracy > least)) fail_msg("%s of %zu classes: %g", kinds[k], classes, accuracy);
                free(labels);
            }
            classes_clear(&rows);
            classes_clear(&test);
        }
}

/* Where no score is a tie, the last digits of a sum do not change a label. */
static void dense_and_sparse_rows_give_the_same_labels(void **state) {
    (void)state;
    classes_set rows = classes_clouds(60, 12, 3, 0.6, 3), test = classes_clouds(300, 12, 3, 0.6, 4);
    tacit_training training = classes_training();
    for (size_t k = 0; k < KINDS; k++) {
        tacit_view dense = classes_view(&rows, false), sparse = classes_view(&rows, true);
        tacit_rows dense_points = tacit_rows_of_matrix(&test.dense),
                   sparse_points = tacit_rows_of_csr(&test.sparse);
        int32_t *first = classes_predict(kinds[k], &dense, &dense_points, &training);
        int32_t *second = classes_predict(kinds[k], &sparse, &sparse_points, &training);
        int32_t *mixed = classes_predict(kinds[k], &dense, &sparse_points, &training);
        assert_memory_equal(first, second, 300 * sizeof *first);
        assert_memory_equal(first, mixed, 300 * sizeof *first);
        free(first);
        free(second);
        free(mixed);
    }
    classes_clear(&rows);
    classes_clear(&test);
}

static void labels_do_not_depend_on_the_number_of_threads(void **state) {
    (void)state;
    classes_set rows = classes_clouds(900, 9, 4, 0.9, 6), test = classes_clouds(500, 9, 4, 0.9, 7);
    tacit_view view = classes_view(&rows, false), truth = classes_view(&test, false);
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t k = 0; k < KINDS; k++) {
        int32_t *alone = NULL;
        for (unsigned threads = 1; threads <= 3; threads++) {
            tacit_training training = classes_training();
            CHECK_OK(tacit_pool_create(&training.pool, threads, &error), error);
            int32_t *labels = classes_predict(kinds[k], &view, &truth.rows, &training);
            if (alone == NULL)
                alone = labels;
            else {
                assert_memory_equal(labels, alone, 500 * sizeof *labels);
                free(labels);
            }
            tacit_pool_free(training.pool);
        }
        free(alone);
    }
    classes_clear(&rows);
    classes_clear(&test);
}

/* A party's rows are a selection of a larger set. */
static void chosen_rows_train_like_a_set_of_their_own(void **state) {
    (void)state;
    classes_set whole = classes_clouds(100, 8, 3, 0.5, 8), own = classes_make(30, 8, 3);
    uint32_t index[30];
    for (size_t i = 0; i < 30; i++) {
        index[i] = (uint32_t)((i * 37 + 11) % 100);
        own.label[i] = whole.label[index[i]];
        memcpy(own.dense.values + i * 8, whole.dense.values + index[i] * 8, 8 * sizeof(double));
    }
    classes_finish(&own);
    tacit_training training = classes_training();
    for (size_t k = 0; k < KINDS; k++)
        for (int sparse = 0; sparse < 2; sparse++) {
            tacit_view all = classes_view(&whole, sparse), chosen = all, alone = classes_view(&own, sparse);
            chosen.rows = tacit_rows_select(&all.rows, index, 30);
            int32_t *first = classes_predict(kinds[k], &chosen, &all.rows, &training);
            int32_t *second = classes_predict(kinds[k], &alone, &all.rows, &training);
            assert_memory_equal(first, second, 100 * sizeof *first);
            free(first);
            free(second);
        }
    classes_clear(&whole);
    classes_clear(&own);
}

/* Six rows of six classes, one row, one class, all rows alike, nothing but zeros: labels in range whatever
 * happens. */
static void few_and_odd_rows_are_survived(void **state) {
    (void)state;
    static const struct {
        size_t rows, classes;
        double value, spread;
        int32_t only; /* the only class present, or -1 */
    } odd[] = {
        { 6, 6, 0, 0.5, -1 },  { 1, 2, 0, 0.5, 1 }, { 1, 5, 0, 0.5, 3 }, { 8, 3, 0, 0.5, 2 },
        { 7, 3, 0.25, 0, -1 }, { 5, 2, 0, 0, -1 },  { 4, 2, 0, 0, 0 },
    };
    tacit_training training = classes_training();
    for (size_t o = 0; o < sizeof odd / sizeof odd[0]; o++) {
        classes_set rows = classes_make(odd[o].rows, 4, odd[o].classes),
                    test = classes_clouds(40, 4, 2, 1, 9);
        tacit_stream stream = tacit_stream_from_seed(10);
        for (size_t i = 0; i < odd[o].rows; i++) {
            rows.label[i] = odd[o].only >= 0 ? odd[o].only : (int32_t)(i % odd[o].classes);
            for (size_t j = 0; j < 4; j++)
                rows.dense.values[i * 4 + j] =
                    odd[o].value + odd[o].spread * (tacit_stream_unit(&stream) - 0.3);
        }
        classes_finish(&rows);
        for (size_t k = 0; k < KINDS; k++)
            for (int sparse = 0; sparse < 2; sparse++) {
                tacit_view view = classes_view(&rows, sparse);
                tacit_rows points = tacit_rows_of_matrix(&test.dense);
                int32_t *labels = classes_predict(kinds[k], &view, &points, &training);
                bool linear = k < 3;
                for (size_t i = 0; i < 40; i++) {
                    assert_in_range(labels[i], 0, odd[o].classes - 1);
                    if (odd[o].only >= 0 && !linear) assert_int_equal(labels[i], odd[o].only);
                }
                free(labels);
            }
        classes_clear(&rows);
        classes_clear(&test);
    }
}

static void linear_kinds_show_weights_that_give_their_labels(void **state) {
    (void)state;
    for (size_t classes = 2; classes <= 3; classes++) {
        classes_set rows = classes_clouds(90, 10, classes, 0.8, 11),
                    test = classes_clouds(200, 10, classes, 0.8, 12);
        tacit_view view = classes_view(&rows, true);
        tacit_rows points = tacit_rows_of_csr(&test.sparse);
        tacit_training training = classes_training();
        for (size_t k = 0; k < KINDS; k++) {
            tacit_classifier *classifier = NULL;
            tacit_error error = TACIT_ERROR_INIT;
            int32_t labels[200];
            double scores[200 * 3];
            CHECK_OK(tacit_classifier_train(&classifier, kinds[k], &view, &training, &error), error);
            const tacit_model *model = tacit_classifier_linear(classifier);
            assert_true((k < 3) == (model != NULL));
            if (model != NULL) {
                size_t each = tacit_model_scores_per_row(model);
                CHECK_OK(tacit_classifier_predict(classifier, &points, labels, &error), error);
                CHECK_OK(tacit_model_scores(model, &points, NULL, scores, &error), error);
                for (size_t i = 0; i < 200; i++)
                    assert_int_equal(labels[i], tacit_model_class(model, scores + i * each));
            }
            tacit_classifier_free(classifier);
        }
        classes_clear(&rows);
        classes_clear(&test);
    }
    assert_null(tacit_classifier_free(NULL));
}

/* ---- each kind for itself ---- */

/* One feature, classes by its sign: 0 for negative and positive, 1 for zero; then exclusive or of two. */
static void a_tree_fits_what_no_line_can(void **state) {
    (void)state;
    classes_set signs = classes_make(9, 1, 2), either = classes_make(16, 2, 2);
    for (size_t i = 0; i < 9; i++) {
        signs.dense.values[i] = ((double)(i % 3) - 1) * (1 + (double)i / 8) / 4;
        signs.label[i] = i % 3 == 1;
    }
    for (size_t i = 0; i < 16; i++) {
        either.dense.values[2 * i] = i & 1 ? 0.3 : -0.2;
        either.dense.values[2 * i + 1] = i & 2 ? 0.4 : 0;
        either.label[i] = (i & 1) ^ (i >> 1 & 1);
    }
    classes_set *const sets[] = { &signs, &either };
    tacit_training training = classes_training();
    for (size_t s = 0; s < 2; s++) {
        classes_finish(sets[s]);
        for (int sparse = 0; sparse < 2; sparse++) {
            tacit_view view = classes_view(sets[s], sparse);
            int32_t *labels = classes_predict("tree", &view, &view.rows, &training);
            CHECK_NEAR(classes_accuracy(labels, &view), 1, 0);
            free(labels);
        }
        classes_clear(sets[s]);
    }
}

/* The threshold is half-way between the values it parts. */
static void a_tree_splits_in_the_middle(void **state) {
    (void)state;
    classes_set rows = classes_make(4, 1, 2), test = classes_make(4, 1, 2);
    static const double x[] = { -0.5, 0.1, 0.3, 0.9 }, t[] = { -9, 0.1999, 0.2001, 9 };
    static const int32_t y[] = { 0, 0, 1, 1 };
    memcpy(rows.dense.values, x, sizeof x);
    memcpy(test.dense.values, t, sizeof t);
    memcpy(rows.label, y, sizeof y);
    tacit_view view = classes_view(&rows, false);
    tacit_rows points = tacit_rows_of_matrix(&test.dense);
    tacit_training training = classes_training();
    int32_t *labels = classes_predict("tree", &view, &points, &training);
    assert_memory_equal(labels, y, sizeof y);
    free(labels);
    classes_clear(&rows);
    classes_clear(&test);
}

/* Which of many splits that part the rows perfectly is chosen follows from the seed, and differs between
 * seeds. */
static void equally_good_splits_are_drawn_from_the_seed(void **state) {
    (void)state;
    enum { FEATURES = 40 };
    classes_set rows = classes_make(6, FEATURES, 2), test = classes_make(FEATURES, FEATURES, 2);
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < FEATURES; j++)
            rows.dense.values[i * FEATURES + j] = (rows.label[i] = i % 2) ? 0.1 : 0;
    for (size_t j = 0; j < FEATURES; j++)
        test.dense.values[j * FEATURES + j] = 0.1; /* labels tell the feature */
    tacit_view view = classes_view(&rows, false);
    tacit_rows points = tacit_rows_of_matrix(&test.dense);
    bool differ = false;
    int32_t *first = NULL;
    for (uint64_t seed = 0; seed < 8; seed++) {
        tacit_training training = { .stream = tacit_stream_from_seed(seed) };
        int32_t *labels = classes_predict("tree", &view, &points, &training),
                *again = classes_predict("tree", &view, &points, &training);
        assert_memory_equal(labels, again, FEATURES * sizeof *labels);
        free(again);
        if (first == NULL) {
            first = labels;
            continue;
        }
        differ = differ || memcmp(first, labels, FEATURES * sizeof *labels) != 0;
        free(labels);
    }
    assert_true(differ);
    free(first);
    classes_clear(&rows);
    classes_clear(&test);
}

/* Against the definition: the variance of a class with one more row's worth of the overall variance. */
static void gaussian_bayes_is_as_defined(void **state) {
    (void)state;
    enum { ROWS = 40, D = 5, K = 3, POINTS = 200 };
    classes_set rows = classes_clouds(ROWS, D, K, 0.7, 13), test = classes_clouds(POINTS, D, K, 0.7, 14);
    tacit_view view = classes_view(&rows, true);
    tacit_rows points = tacit_rows_of_csr(&test.sparse);
    tacit_training training = classes_training();
    int32_t *labels = classes_predict("bayes", &view, &points, &training);
    double mean[D] = { 0 }, variance[D] = { 0 }, of[K][D] = { { 0 } }, spread[K][D] = { { 0 } },
           count[K] = { 0 };
    double largest = 0;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < D; j++) {
            double x = rows.dense.values[i * D + j];
            mean[j] += x / ROWS;
            of[rows.label[i]][j] += x;
            count[rows.label[i]] += j == 0;
        }
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < D; j++) {
            int32_t k = rows.label[i];
            double x = rows.dense.values[i * D + j];
            variance[j] += (x - mean[j]) * (x - mean[j]) / ROWS;
            spread[k][j] += (x - of[k][j] / count[k]) * (x - of[k][j] / count[k]);
        }
    for (size_t j = 0; j < D; j++) largest = fmax(largest, variance[j]);
    for (size_t i = 0; i < POINTS; i++) {
        double best = -INFINITY, score[K];
        for (size_t k = 0; k < K; k++) {
            score[k] = log(count[k]);
            for (size_t j = 0; j + 1 < D; j++) { /* the intercept says nothing */
                double v = fmax((spread[k][j] + variance[j]) / (count[k] + 1), 1e-9 * largest);
                double away = test.dense.values[i * D + j] - of[k][j] / count[k];
                score[k] -= away * away / (2 * v) + log(v) / 2;
            }
            best = fmax(best, score[k]);
        }
        CHECK_NEAR(score[labels[i]], best, 1e-6);
    }
    free(labels);
    classes_clear(&rows);
    classes_clear(&test);
}

static void bernoulli_bayes_is_as_defined(void **state) {
    (void)state;
    enum { ROWS = 30, D = 6, K = 3, POINTS = 200 };
    classes_set rows = classes_clouds(ROWS, D, K, 0.7, 15), test = classes_clouds(POINTS, D, K, 0.7, 16);
    tacit_training training = classes_training();
    tacit_view view = classes_view(&rows, true);
    tacit_rows points = tacit_rows_of_csr(&test.sparse);
    int32_t *labels = classes_predict("bernoulli", &view, &points, &training);
    double mean[D] = { 0 }, on[K][D] = { { 0 } }, count[K] = { 0 };
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < D; j++) mean[j] += rows.dense.values[i * D + j];
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < D; j++) {
            on[rows.label[i]][j] += rows.dense.values[i * D + j] > mean[j] / ROWS;
            count[rows.label[i]] += j == 0;
        }
    for (size_t i = 0; i < POINTS; i++) {
        double best = -INFINITY, score[K];
        for (size_t k = 0; k < K; k++) {
            score[k] = log(count[k]);
            for (size_t j = 0; j + 1 < D; j++) {
                double p = (on[k][j] + 1) / (count[k] + 2);
                score[k] += log(test.dense.values[i * D + j] > mean[j] / ROWS ? p : 1 - p);
            }
            best = fmax(best, score[k]);
        }
        CHECK_NEAR(score[labels[i]], best, 1e-9);
    }
    free(labels);
    classes_clear(&rows);
    classes_clear(&test);
}

/* On a coarse grid distances are exact and ties many: the earlier row is nearer, the class of the nearest
 * wins. */
static void neighbours_are_those_found_by_looking_at_all(void **state) {
    (void)state;
    enum { ROWS = 150, D = 4, K = 3, POINTS = 300, NEAR = 4 };
    classes_set rows = classes_make(ROWS, D, K), test = classes_make(POINTS, D, K);
    tacit_stream stream = tacit_stream_from_seed(17);
    for (size_t i = 0; i < ROWS * D; i++)
        rows.dense.values[i] = ((double)tacit_stream_below(&stream, 5) - 2) / 4;
    for (size_t i = 0; i < POINTS * D; i++)
        test.dense.values[i] = ((double)tacit_stream_below(&stream, 5) - 2) / 4;
    for (size_t i = 0; i < ROWS; i++) rows.label[i] = (int32_t)tacit_stream_below(&stream, K);
    classes_finish(&rows);
    classes_finish(&test);
    tacit_training training = classes_training();
    for (int sparse = 0; sparse < 2; sparse++) {
        tacit_view view = classes_view(&rows, sparse), truth = classes_view(&test, sparse);
        int32_t *labels = classes_predict("knn:4", &view, &truth.rows, &training);
        for (size_t i = 0; i < POINTS; i++) {
            bool taken[ROWS] = { false };
            int votes[K] = { 0 };
            int32_t order[NEAR], best;
            for (size_t n = 0; n < NEAR; n++) {
                double least = INFINITY;
                size_t which = 0;
                for (size_t r = 0; r < ROWS; r++) {
                    double far = 0;
                    for (size_t j = 0; j < D; j++) {
                        double away = rows.dense.values[r * D + j] - test.dense.values[i * D + j];
                        far += away * away;
                    }
                    if (taken[r] || far >= least) continue;
                    least = far;
                    which = r;
                }
                taken[which] = true;
                order[n] = rows.label[which];
                votes[order[n]]++;
            }
            best = order[0];
            for (size_t n = 1; n < NEAR; n++)
                if (votes[order[n]] > votes[best]) best = order[n];
            assert_int_equal(labels[i], best);
        }
        free(labels);
    }
    classes_clear(&rows);
    classes_clear(&test);
}

/* A ring around a disc. */
static void a_network_learns_what_no_line_can(void **state) {
    (void)state;
    enum { ROWS = 300 };
    classes_set rows = classes_make(ROWS, 2, 2);
    tacit_stream stream = tacit_stream_from_seed(18);
    for (size_t i = 0; i < ROWS; i++) {
        double radius = (rows.label[i] = i % 2) ? 0.9 : 0.3 * tacit_stream_unit(&stream),
               angle = 6.283185307 * tacit_stream_unit(&stream);
        rows.dense.values[2 * i] = radius * cos(angle);
        rows.dense.values[2 * i + 1] = radius * sin(angle);
    }
    tacit_view view = classes_view(&rows, false);
    tacit_training training = classes_training();
    training.lambda = 1e-4;
    int32_t *network = classes_predict("mlp", &view, &view.rows, &training),
            *line = classes_predict("logistic", &view, &view.rows, &training);
    assert_true(classes_accuracy(network, &view) > 0.98);
    assert_true(classes_accuracy(line, &view) < 0.8);
    free(network);
    free(line);
    classes_clear(&rows);
}

/* ---- what is refused ---- */

static bool stop(void *context) {
    (void)context;
    return true;
}

static void a_caller_may_stop_training(void **state) {
    (void)state;
    classes_set rows = classes_clouds(50, 5, 3, 0.5, 19);
    tacit_view view = classes_view(&rows, false);
    tacit_progress progress = { .cancelled = stop };
    tacit_training training = classes_training();
    training.progress = &progress;
    for (size_t k = 0; k < KINDS; k++) {
        tacit_classifier *classifier = NULL;
        assert_int_equal(tacit_classifier_train(&classifier, kinds[k], &view, &training, NULL),
                         TACIT_CANCELLED);
        assert_null(classifier);
    }
    classes_clear(&rows);
}

static void fails(const char *kind, const tacit_view *rows, tacit_status expected, const char *says) {
    tacit_training training = classes_training();
    tacit_classifier *classifier = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_classifier_train(&classifier, kind, rows, &training, &error), expected);
    assert_null(classifier);
    if (strstr(error.text, says) == NULL) fail_msg("'%s' does not say '%s'", error.text, says);
}

static void unusable_rows_and_kinds_are_refused(void **state) {
    (void)state;
    classes_set rows = classes_clouds(10, 3, 2, 0.5, 20);
    tacit_view view = classes_view(&rows, false), none = tacit_view_slice(&view, 0, 0);
    fails("tree", &none, TACIT_INPUT, "0 rows");
    rows.label[4] = 2;
    fails("tree", &view, TACIT_INPUT, "row 5 has class 2");
    rows.label[4] = 0;
    fails("forest", &view, TACIT_USAGE,
          "no local classifier is called 'forest'; there are: logistic, softmax");
    fails("knn:0", &view, TACIT_USAGE, "from 1 to");
    tacit_training training = classes_training();
    tacit_classifier *classifier = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_rows wide = view.rows;
    int32_t label = -7;
    CHECK_OK(tacit_classifier_train(&classifier, "tree", &view, &training, &error), error);
    wide.cols = 2;
    assert_int_equal(tacit_classifier_predict(classifier, &wide, &label, &error), TACIT_INPUT);
    assert_int_equal(label, -7);
    tacit_classifier_free(classifier);
    classes_clear(&rows);
}

static void check_list(const char *list, bool allowed, tacit_status expected, const char *says) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_classifier_check(list, allowed, &error);
    if (status != expected || strstr(error.text, says) == NULL)
        fail_msg("'%s' is %s: %s", list, tacit_status_name(status), error.text);
}

static void lists_name_known_kinds_only_and_programs_when_allowed(void **state) {
    (void)state;
    check_list("tree", false, TACIT_OK, "");
    check_list("tree,logistic,softmax,svm,bayes,bernoulli,knn,knn:7,mlp,mlp:3", false, TACIT_OK, "");
    check_list("", false, TACIT_USAGE, "no local classifier is called ''");
    check_list("tree,", false, TACIT_USAGE, "called ''");
    check_list("tree, logistic", false, TACIT_USAGE, "called ' logistic'");
    check_list("tree,oak", false, TACIT_USAGE, "'oak'; there are: logistic");
    check_list("Tree", false, TACIT_USAGE, "'Tree'");
    check_list("tree:3", false, TACIT_USAGE, "'tree:3'");
    check_list("knn:", false, TACIT_USAGE, "whole number from 1 to 1000000");
    check_list("knn:-1", false, TACIT_USAGE, "whole number");
    check_list("knn:99999999999999999999", false, TACIT_USAGE, "whole number");
    check_list("mlp:4097", false, TACIT_USAGE, "from 1 to 4096");
    check_list("tree,exec:./m.py", true, TACIT_OK, "");
    check_list("tree,exec:./m.py", false, TACIT_REFUSED, "only a party's owner may name a program");
    check_list("exec", true, TACIT_USAGE, "is empty");
    check_list("exec:  ", true, TACIT_USAGE, "is empty");
    check_list("exec:a 'b", true, TACIT_USAGE, "quote is left open");
}

static void a_list_is_dealt_round_robin(void **state) {
    (void)state;
    static const char *const expected[] = { "tree", "knn:3", "exec:./m.py --fast", "tree", "knn:3" };
    char kind[64];
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t party = 0; party < 5; party++) {
        CHECK_OK(tacit_classifier_of_party("tree,knn:3,exec:./m.py --fast", party, kind, sizeof kind, &error),
                 error);
        assert_string_equal(kind, expected[party]);
    }
    CHECK_OK(tacit_classifier_of_party("svm", 12345678901, kind, sizeof kind, &error), error);
    assert_string_equal(kind, "svm");
    assert_int_equal(tacit_classifier_of_party("logistic", 0, kind, 8, &error), TACIT_LIMIT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_learns_classes_apart),
        cmocka_unit_test(dense_and_sparse_rows_give_the_same_labels),
        cmocka_unit_test(labels_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(chosen_rows_train_like_a_set_of_their_own),
        cmocka_unit_test(few_and_odd_rows_are_survived),
        cmocka_unit_test(linear_kinds_show_weights_that_give_their_labels),
        cmocka_unit_test(a_tree_fits_what_no_line_can),
        cmocka_unit_test(a_tree_splits_in_the_middle),
        cmocka_unit_test(equally_good_splits_are_drawn_from_the_seed),
        cmocka_unit_test(gaussian_bayes_is_as_defined),
        cmocka_unit_test(bernoulli_bayes_is_as_defined),
        cmocka_unit_test(neighbours_are_those_found_by_looking_at_all),
        cmocka_unit_test(a_network_learns_what_no_line_can),
        cmocka_unit_test(a_caller_may_stop_training),
        cmocka_unit_test(unusable_rows_and_kinds_are_refused),
        cmocka_unit_test(lists_name_known_kinds_only_and_programs_when_allowed),
        cmocka_unit_test(a_list_is_dealt_round_robin),
    };
    return cmocka_run_group_tests_name("classifier", tests, NULL, NULL);
}
