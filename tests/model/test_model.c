/* Models: bit for bit through a file, damage refused, figures as counted by hand. */
#include "check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "model/model.h"

static const char schema_text[] = "label: {name: outcome, classes: [no, 'yes, \"perhaps\"']}\n"
                                  "columns:\n"
                                  "  - {name: age, kind: number, low: 0, high: 120}\n"
                                  "  - {name: 'se\xc3\xb1or', kind: category, levels: [f, m]}\n";

static tacit_schema *sample_schema(void) {
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_schema_parse(&schema, schema_text, strlen(schema_text), "test", &error), error);
    return schema;
}

/* Two coefficients, one of them without an error, and no likelihood. */
static tacit_estimates *sample_estimates(void) {
    tacit_estimates *all = calloc(1, sizeof *all);
    assert_non_null(all);
    *all = (tacit_estimates){ .family = "huber",
                              .optimiser = "lbfgs",
                              .response = strdup("outcome"),
                              .count = 2,
                              .coefficient = calloc(2, sizeof *all->coefficient),
                              .sandwich = true,
                              .level = 0.95,
                              .dispersion = 1,
                              .deviance = NAN,
                              .null_deviance = NAN,
                              .aic = NAN,
                              .rows = 100,
                              .iterations = 7,
                              .rounds = 12 };
    assert_non_null(all->coefficient);
    all->coefficient[0] = (tacit_coefficient){
        strdup("(Intercept)"), 1.0 / 3, 0.25, 4.0 / 3, 0.18, -0.1, 0.8, 0, true, 0, 0, 0, 0
    };
    all->coefficient[1] =
        (tacit_coefficient){ strdup("age"), 0.5, NAN, NAN, NAN, NAN, NAN, 0, false, 0, 0, 0, 0 };
    return all;
}

/* Awkward weights: the smallest, the largest, one that needs 17 digits, minus zero. */
static tacit_model *sample_model(void) {
    static const double weights[] = { DBL_TRUE_MIN, -DBL_MAX, 0.1 + 0.2, -0.0 };
    tacit_model *model = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = sample_schema();
    CHECK_OK(tacit_model_create(&model, &tacit_family_logistic, 4, 2, &error), error);
    memcpy(model->weights, weights, sizeof weights);
    model->estimates = sample_estimates();
    CHECK_OK(tacit_model_describe(model, &schema->classes, schema, &error), error);
    model->guarantee = (tacit_guarantee){ .method = "avg",
                                          .study = "heart",
                                          .is_private = true,
                                          .charged = { TACIT_UNIT_PARTY, 1.0 / 3, 1e-7 },
                                          .claimed = { TACIT_UNIT_RECORD, 2.0 / 3, 0 },
                                          .noise = TACIT_NOISE_EXACT,
                                          .parties = 5,
                                          .lambda = 0.05 };
    tacit_schema_free(schema);
    return model;
}

static tacit_buffer text_of(const tacit_model *model) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_model_print(model, &text, &error), error);
    return text;
}

static void check_same(const tacit_model *a, const tacit_model *b) {
    assert_ptr_equal(a->family, b->family);
    assert_int_equal(a->features, b->features);
    assert_int_equal(a->classes, b->classes);
    assert_memory_equal(a->weights, b->weights, tacit_model_size(a) * sizeof *a->weights);
    assert_int_equal(a->class_names.count, b->class_names.count);
    for (size_t k = 0; k < a->class_names.count; k++)
        assert_string_equal(a->class_names.text[k], b->class_names.text[k]);
    assert_string_equal(a->guarantee.method, b->guarantee.method);
    assert_string_equal(a->guarantee.study, b->guarantee.study);
    assert_int_equal(a->guarantee.is_private, b->guarantee.is_private);
    assert_int_equal(a->guarantee.noise, b->guarantee.noise);
    assert_int_equal(a->guarantee.parties, b->guarantee.parties);
    assert_memory_equal(&a->guarantee.lambda, &b->guarantee.lambda, sizeof a->guarantee.lambda);
    assert_int_equal(a->guarantee.charged.unit, b->guarantee.charged.unit);
    assert_memory_equal(&a->guarantee.charged.epsilon, &b->guarantee.charged.epsilon, sizeof(double));
    assert_memory_equal(&a->guarantee.charged.delta, &b->guarantee.charged.delta, sizeof(double));
    assert_int_equal(a->guarantee.claimed.unit, b->guarantee.claimed.unit);
    assert_memory_equal(&a->guarantee.claimed.epsilon, &b->guarantee.claimed.epsilon, sizeof(double));
    assert_int_equal(a->estimates != NULL, b->estimates != NULL);
    if (a->estimates == NULL) return;
    assert_int_equal(a->estimates->count, b->estimates->count);
    for (size_t k = 0; k < a->estimates->count; k++) {
        const tacit_coefficient *one = &a->estimates->coefficient[k], *other = &b->estimates->coefficient[k];
        assert_string_equal(one->name, other->name);
        assert_memory_equal(&one->estimate, &other->estimate, sizeof one->estimate);
        assert_int_equal(isnan(one->error), isnan(other->error));
    }
    assert_int_equal(a->estimates->sandwich, b->estimates->sandwich);
    assert_true(isnan(b->estimates->aic) && b->estimates->rows == 100 && b->estimates->rounds == 12);
}

static void check_same_schema(const tacit_schema *a, const tacit_schema *b) {
    tacit_buffer first = TACIT_BUFFER_INIT, second = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_schema_canonical(a, &first, &error), error);
    CHECK_OK(tacit_schema_canonical(b, &second, &error), error);
    assert_string_equal(tacit_buffer_text(&first), tacit_buffer_text(&second));
    tacit_buffer_clear(&first);
    tacit_buffer_clear(&second);
}

static void a_model_comes_back_from_its_file_bit_for_bit(void **state) {
    (void)state;
    folder place = folder_make();
    tacit_error error = TACIT_ERROR_INIT;
    tacit_model *model = sample_model(), *again = NULL;
    CHECK_OK(tacit_model_save(model, place.file, &error), error);
    CHECK_OK(tacit_model_load(&again, place.file, &error), error);
    check_same(model, again);
    check_same_schema(model->schema, again->schema);
    tacit_buffer first = text_of(model), second = text_of(again);
    assert_string_equal(tacit_buffer_text(&first), tacit_buffer_text(&second));
    tacit_buffer_clear(&first);
    tacit_buffer_clear(&second);
    tacit_model_free(model);
    tacit_model_free(again);
    folder_remove(&place);
}

static void a_softmax_model_without_names_or_schema_comes_back(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_model *model = NULL, *again = NULL;
    CHECK_OK(tacit_model_create(&model, &tacit_family_softmax, 3, 4, &error), error);
    for (size_t i = 0; i < 12; i++) model->weights[i] = sqrt((double)i) - 1;
    tacit_buffer text = text_of(model);
    CHECK_OK(tacit_model_parse(&again, text.bytes, text.length, "test", &error), error);
    check_same(model, again);
    assert_null(again->schema);
    tacit_buffer_clear(&text);
    tacit_model_free(model);
    tacit_model_free(again);
}

/* Must be refused, with a sentence that names the file. */
/* Fit with a linear term: at the minimum the gradient of the objective, which is written down here,
 * vanishes. */
static void a_model_of_every_family_comes_back_from_its_file(void **state) {
    (void)state;
    for (size_t f = 0; tacit_family_at(f) != NULL; f++) {
        const tacit_family *family = tacit_family_at(f);
        size_t classes = family->loss.of_classes ? 2 : 0;
        tacit_error error = TACIT_ERROR_INIT;
        tacit_model *model = NULL, *read = NULL;
        tacit_buffer text = TACIT_BUFFER_INIT;
        CHECK_OK(tacit_model_create(&model, family, 3, classes, &error), error);
        CHECK_OK(tacit_model_print(model, &text, &error), error);
        CHECK_OK(tacit_model_parse(&read, text.bytes, text.length, "m.json", &error), error);
        assert_ptr_equal(read->family, family);
        CHECK_NEAR(read->shape, family->loss.shape_default, 0);
        tacit_buffer_clear(&text);
        tacit_model_free(model);
        tacit_model_free(read);
    }
}

static void a_huber_model_is_fitted_and_comes_back(void **state) {
    (void)state;
    enum { ROWS = 12 };
    static const char *const names[] = { "no", "yes" };
    static const double h = 0.25, lambda = 0.3, linear = -0.2;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_dataset *rows = NULL;
    tacit_model *model = NULL, *read = NULL;
    CHECK_OK(tacit_dataset_create(&rows, ROWS, 1, names, 2, &error), error);
    for (size_t i = 0; i < ROWS; i++) {
        rows->dense.values[i] = ((double)i - 4) / ROWS;
        rows->label[i] = i % 5 > 1;
    }
    tacit_view view = tacit_dataset_view(rows);
    tacit_linear_fit fit = { .lambda = lambda,
                             .family = &tacit_family_huber,
                             .shape = h,
                             .linear = &linear,
                             .gradient_tolerance = 1e-12 };
    CHECK_OK(tacit_model_fit_linear(&model, &view, &fit, &error), error);
    double gradient = lambda * model->weights[0] + linear;
    for (size_t i = 0; i < ROWS; i++) {
        double x = rows->dense.values[i], y = rows->label[i] == 1 ? 1 : -1;
        double slope = (1 + h - y * x * model->weights[0]) / (2 * h);
        gradient -= y * x * fmax(0, fmin(1, slope)) / ROWS;
    }
    CHECK_NEAR(gradient, 0, 2e-12);
    tacit_buffer text = text_of(model);
    CHECK_OK(tacit_model_parse(&read, text.bytes, text.length, "some.json", &error), error);
    check_same(read, model);
    assert_ptr_equal(read->family, &tacit_family_huber);
    CHECK_NEAR(read->shape, h, 0);
    tacit_metrics metrics;
    CHECK_OK(tacit_model_evaluate(read, &view, NULL, &metrics, &error), error);
    assert_true(isfinite(metrics.auc) && isnan(metrics.log_loss)); /* a hinge gives no probabilities */
    char *width = strstr((char *)text.bytes, "0.25");
    assert_non_null(width);
    memcpy(width, "9.25", 4);
    tacit_model_free(read);
    read = NULL;
    assert_int_equal(tacit_model_parse(&read, text.bytes, text.length, "some.json", &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "width"));
    tacit_buffer_clear(&text);
    tacit_model_free(model);
    tacit_dataset_free(rows);
}

static void check_refused(const char *text, size_t length, const char *says) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_model *model = NULL;
    tacit_status status = tacit_model_parse(&model, text, length, "some.json", &error);
    if (status == TACIT_OK) fail_msg("taken although damaged: %.200s", text);
    assert_null(model);
    assert_true(strncmp(error.text, "some.json", 9) == 0);
    if (strstr(error.text, says) == NULL) fail_msg("'%s' does not say '%s'", error.text, says);
}

/* The sample's text with the first `from` replaced by `to`. */
static void check_edit_refused(const char *from, const char *to, const char *says) {
    tacit_model *model = sample_model();
    tacit_buffer text = text_of(model), edited = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    const char *whole = tacit_buffer_text(&text), *at = strstr(whole, from);
    if (at == NULL) fail_msg("the file has no '%s': %s", from, whole);
    CHECK_OK(tacit_buffer_print(&edited, &error, "%.*s%s%s", (int)(at - whole), whole, to, at + strlen(from)),
             error);
    check_refused(tacit_buffer_text(&edited), edited.length, says);
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&edited);
    tacit_model_free(model);
}

static void damaged_files_are_refused_with_a_sentence(void **state) {
    (void)state;
    check_refused("", 0, " is empty, not a Tacit model");
    check_refused("{}", 2, "not a Tacit model");
    check_refused("[]", 2, "not a Tacit model");
    check_refused("hello", 5, "not a Tacit model");
    check_edit_refused("tacit-model", "other-model", "not a Tacit model");
    check_edit_refused("\"version\": 1", "\"version\": 2", "update the older");
    check_edit_refused("\"features\": 4", "\"features\": 5", "4 weights where 5 belong");
    check_edit_refused("\"features\": 4", "\"features\": -4", "out of range");
    check_edit_refused("\"features\": 4", "\"features\": 9223372036854775807", "out of range");
    check_edit_refused("\"classes\": 2", "\"classes\": 1", "out of range");
    check_edit_refused("\"classes\": 2", "\"classes\": 3", "has two classes, not 3");
    check_edit_refused("\"logistic\"", "\"cubic\"", "unknown loss");
    check_edit_refused("\"loss\"", "\"lost\"", "missing");
    check_edit_refused("0.30000000000000004", "\"0.3\"", "weight 3 is not a finite number");
    check_edit_refused("0.30000000000000004", "null", "weight 3 is not a finite number");
    check_edit_refused("0.30000000000000004", "1e999", "not a Tacit model");
    check_edit_refused("\"no\",", "\"yes, \\\"perhaps\\\"\",", "appears twice");
    check_edit_refused("\"no\",", "", "1 class names for 2 classes");
    check_edit_refused("\"no\",", "7,", "not a text");
    check_edit_refused("high: 120", "high: -1", "some.json");
    check_edit_refused("[\\\"f\\\", \\\"m\\\"]", "[\\\"f\\\", \\\"m\\\", \\\"x\\\"]", "5 features");
    check_edit_refused("\"unit\": \"party\"", "\"unit\": \"planet\"", "guarantee is damaged");
    check_edit_refused("0.33333333333333331", "-1.0", "guarantee is damaged");
    check_edit_refused("\"study\": \"heart\"", "\"study\": 5", "guarantee is damaged");
    check_edit_refused("\"logistic\"", "\"poisson\"", "has no classes, not 2");
    check_edit_refused("\"level\": 0.9", "\"level\": 1.9", "table of estimates is damaged");
    check_edit_refused("\"name\": \"age\"", "\"name\": 3", "table of estimates is damaged");
    check_edit_refused("\"estimate\": 0.5", "\"estimate\": \"0.5\"", "table of estimates is damaged");
    check_edit_refused("\"coefficients\"", "\"coefficient\"", "table of estimates is damaged");
}

/* Scores 0, 1 and 2 log 2 against responses 1, 1 and 5. */
/* Layers, activation and parameters come back; what no network could be does not. */
static void a_network_comes_back(void **state) {
    (void)state;
    static const char *const wrong[][2] = { { "\"relu\"", "\"step\"" },
                                            { "\n   3\n", "\n   0\n" },
                                            { "\n   3\n", "\n   4\n" },
                                            { "\"softmax\"", "\"huber\"" } };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_network network;
    tacit_model *model = NULL, *back = NULL;
    CHECK_OK(tacit_network_parse(&network, "3", "", TACIT_ACTIVATION_RELU, 2, 3, &error), error);
    CHECK_OK(tacit_model_create_network(&model, &network, &error), error);
    for (size_t j = 0; j < tacit_model_size(model); j++) model->weights[j] = sin((double)j);
    tacit_buffer text = text_of(model);
    CHECK_OK(tacit_model_parse(&back, text.bytes, text.length, "m", &error), error);
    check_same(model, back);
    assert_memory_equal(&back->network.width, &network.width, sizeof network.width);
    assert_int_equal(back->network.activation, TACIT_ACTIVATION_RELU);
    tacit_matrix rows = TACIT_MATRIX_INIT;
    double scores[2][3 * 200];
    CHECK_OK(tacit_matrix_create(&rows, 200, 2, &error), error);
    for (size_t i = 0; i < 400; i++) rows.values[i] = cos((double)i);
    tacit_rows view = tacit_rows_of_matrix(&rows);
    CHECK_OK(tacit_model_scores(model, &view, NULL, scores[0], &error), error);
    CHECK_OK(tacit_model_scores(back, &view, NULL, scores[1], &error), error);
    assert_memory_equal(scores[0], scores[1], sizeof scores[0]);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char edited[4096];
        const char *whole = tacit_buffer_text(&text), *at = strstr(whole, wrong[i][0]);
        tacit_model *none = NULL;
        assert_non_null(at);
        snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - whole), whole, wrong[i][1],
                 at + strlen(wrong[i][0]));
        assert_int_equal(tacit_model_parse(&none, edited, strlen(edited), "m", &error), TACIT_INPUT);
    }
    tacit_matrix_clear(&rows);
    tacit_buffer_clear(&text);
    tacit_model_free(model);
    tacit_model_free(back);
}

static void figures_of_numbers_are_those_counted_by_hand(void **state) {
    (void)state;
    double x[] = { 0, 1, 2 * M_LN2 }, response[] = { 1, 1, 5 }, mean[] = { 1, M_E, 4 }, square = 0,
           deviance = 0;
    tacit_matrix matrix = { 3, 1, x };
    tacit_view rows = { .rows = tacit_rows_of_matrix(&matrix), .response = response };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_metrics metrics;
    tacit_model *model = NULL;
    CHECK_OK(tacit_model_create(&model, &tacit_family_poisson, 1, 0, &error), error);
    model->weights[0] = 1;
    for (size_t i = 0; i < 3; i++) {
        square += (response[i] - mean[i]) * (response[i] - mean[i]) / 3;
        deviance += 2 * (response[i] * log(response[i] / mean[i]) - response[i] + mean[i]) / 3;
    }
    CHECK_OK(tacit_model_evaluate(model, &rows, NULL, &metrics, &error), error);
    CHECK_NEAR(metrics.rmse, sqrt(square), 1e-15);
    CHECK_NEAR(metrics.deviance, deviance, 1e-15);
    assert_true(isnan(metrics.accuracy));
    model->family = &tacit_family_linear;
    CHECK_OK(tacit_model_evaluate(model, &rows, NULL, &metrics, &error), error);
    square = (1 + pow(5 - 2 * M_LN2, 2)) / 3;
    CHECK_NEAR(metrics.rmse, sqrt(square), 1e-15);
    CHECK_NEAR(metrics.deviance, square, 1e-14);
    rows.response = NULL;
    assert_int_equal(tacit_model_evaluate(model, &rows, NULL, &metrics, NULL), TACIT_INPUT);
    tacit_model_free(model);
    assert_int_equal(tacit_model_create(&model, &tacit_family_linear, 1, 2, NULL), TACIT_USAGE);
}

static void no_cut_or_flipped_bit_crashes_the_reader(void **state) {
    (void)state;
    tacit_model *model = sample_model();
    tacit_buffer text = text_of(model);
    for (size_t length = 0; length + 2 < text.length; length++)
        check_refused((const char *)text.bytes, length, "some.json");
    for (size_t bit = 0; bit < 8 * text.length; bit++) {
        tacit_model *read = NULL;
        text.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (tacit_model_parse(&read, text.bytes, text.length, "some.json", NULL) == TACIT_OK)
            tacit_model_free(read); /* a changed digit or letter is another model */
        text.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    tacit_buffer_clear(&text);
    tacit_model_free(model);
}

static void a_missing_file_is_named(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_model *model = NULL;
    assert_int_not_equal(tacit_model_load(&model, "/nowhere/model.json", &error), TACIT_OK);
    assert_non_null(strstr(error.text, "/nowhere/model.json"));
}

/* Six rows with one feature and weight 2, so that margins are twice the feature. */
static void two_class_figures_are_those_counted_by_hand(void **state) {
    (void)state;
    static const double x[] = { -2, -1, 0.5, 0.5, 1, 3 };
    static const int32_t label[] = { 0, 0, 0, 1, 1, 1 };
    static const char *const names[] = { "no", "yes" };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_dataset *rows = NULL;
    tacit_model *model = NULL;
    tacit_metrics metrics;
    CHECK_OK(tacit_dataset_create(&rows, 6, 1, names, 2, &error), error);
    CHECK_OK(tacit_model_create(&model, &tacit_family_logistic, 1, 2, &error), error);
    model->weights[0] = 2;
    double loss = 0;
    for (size_t i = 0; i < 6; i++) {
        rows->dense.values[i] = x[i];
        rows->label[i] = label[i];
        loss += log(1 + exp((label[i] == 1 ? -1 : 1) * 2 * x[i])) / 6;
    }
    tacit_view view = tacit_dataset_view(rows);
    CHECK_OK(tacit_model_evaluate(model, &view, NULL, &metrics, &error), error);
    CHECK_NEAR(metrics.accuracy, 5.0 / 6, 1e-15);
    CHECK_NEAR(metrics.auc, 8.5 / 9, 1e-15); /* nine pairs, one of them tied */
    CHECK_NEAR(metrics.log_loss, loss, 1e-14);
    uint32_t ones[] = { 3, 4 };
    tacit_view one_class = tacit_dataset_subset(rows, ones, 2);
    CHECK_OK(tacit_model_evaluate(model, &one_class, NULL, &metrics, &error), error);
    assert_true(isnan(metrics.auc));
    CHECK_NEAR(metrics.accuracy, 1, 0);
    tacit_model_free(model);
    tacit_dataset_free(rows);
}

/* Three classes on the plane; scores are the weights' products. */
static void many_class_figures_are_those_counted_by_hand(void **state) {
    (void)state;
    static const double weights[] = { 1, 0, 0, 1, -1, -1 };
    static const double x[] = { 1, 0, 0, 1, -1, -1, 0.5, 1 };
    static const int32_t label[] = { 0, 1, 2, 0 };
    static const char *const names[] = { "a", "b", "c" };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_dataset *rows = NULL;
    tacit_model *model = NULL;
    tacit_metrics metrics;
    CHECK_OK(tacit_dataset_create(&rows, 4, 2, names, 3, &error), error);
    CHECK_OK(tacit_model_create(&model, &tacit_family_softmax, 2, 3, &error), error);
    memcpy(model->weights, weights, sizeof weights);
    memcpy(rows->dense.values, x, sizeof x);
    memcpy(rows->label, label, sizeof label);
    double loss = (-1 + log(exp(1) + 1 + exp(-1))) * 2 / 4 + (-2 + log(exp(2) + 2 * exp(-1))) / 4 +
                  (-0.5 + log(exp(0.5) + exp(1) + exp(-1.5))) / 4;
    tacit_view view = tacit_dataset_view(rows);
    CHECK_OK(tacit_model_evaluate(model, &view, NULL, &metrics, &error), error);
    CHECK_NEAR(metrics.accuracy, 0.75, 0);
    assert_true(isnan(metrics.auc));
    CHECK_NEAR(metrics.log_loss, loss, 1e-14);
    tacit_model_free(model);
    tacit_dataset_free(rows);
}

static void rows_of_another_width_are_refused(void **state) {
    (void)state;
    static const char *const names[] = { "no", "yes" };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_dataset *rows = NULL;
    tacit_model *model = NULL;
    tacit_metrics metrics;
    CHECK_OK(tacit_dataset_create(&rows, 2, 3, names, 2, &error), error);
    CHECK_OK(tacit_model_create(&model, &tacit_family_logistic, 2, 2, &error), error);
    tacit_view view = tacit_dataset_view(rows);
    assert_int_equal(tacit_model_evaluate(model, &view, NULL, &metrics, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "3 features and the model 2"));
    tacit_model_free(model);
    tacit_dataset_free(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_comes_back_from_its_file_bit_for_bit),
        cmocka_unit_test(a_softmax_model_without_names_or_schema_comes_back),
        cmocka_unit_test(a_model_of_every_family_comes_back_from_its_file),
        cmocka_unit_test(a_huber_model_is_fitted_and_comes_back),
        cmocka_unit_test(damaged_files_are_refused_with_a_sentence),
        cmocka_unit_test(a_network_comes_back),
        cmocka_unit_test(figures_of_numbers_are_those_counted_by_hand),
        cmocka_unit_test(no_cut_or_flipped_bit_crashes_the_reader),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(two_class_figures_are_those_counted_by_hand),
        cmocka_unit_test(many_class_figures_are_those_counted_by_hand),
        cmocka_unit_test(rows_of_another_width_are_refused),
    };
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
