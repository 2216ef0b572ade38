/*
 * What is said of a model by what was released with it: that it is mostly noise, or says the same of nearly everybody; the
 * share of noise travels in its file.
 */
#include "check.h"

#include <string.h>

#include "model/one_sided.h"

static tacit_model *some(double noise_share) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_model *model = NULL;
    CHECK_OK(tacit_model_create(&model, &tacit_family_logistic, 3, 2, &error), error);
    model->weights[0] = 1;
    model->noise_share = noise_share;
    return model;
}

static void models_of_more_noise_than_anything_else_are_doubtful(void **state) {
    (void)state;
    static const double shares[] = { 0, 0.49, 0.51, 1 };
    for (size_t i = 0; i < 4; i++) {
        char remark[TACIT_REMARK_SIZE];
        tacit_model *model = some(shares[i]);
        assert_true(tacit_model_doubtful(model, remark) == (shares[i] > 0.5));
        assert_true((strstr(remark, "noise makes about") != NULL) == (shares[i] > 0.5));
        tacit_model_free(model);
    }
}

/* A remark is told on as JSON, which takes whole characters only. */
static void long_names_are_cut_between_characters(void **state) {
    (void)state;
    static const char schema[] = "label: {name: y, classes: [no, "
                                 "\"xöööööööööööööööööööööööööööööööööööööööö\"]}\n"
                                 "columns:\n  - {name: a, kind: number, low: 0, high: 1}\nintercept: yes\n";
    tacit_error error = TACIT_ERROR_INIT;
    tacit_model *model = NULL;
    char remark[TACIT_REMARK_SIZE];
    CHECK_OK(tacit_model_create(&model, &tacit_family_logistic, 2, 2, &error), error);
    tacit_schema *own = NULL;
    CHECK_OK(tacit_schema_parse(&own, schema, strlen(schema), "schema", &error), error);
    CHECK_OK(tacit_model_describe(model, &own->classes, own, &error), error);
    model->weights[1] = 5;
    assert_true(tacit_model_doubtful(model, remark));
    assert_non_null(strstr(remark, "'xööööööööööööööööööööööööööööö'"));
    tacit_schema_free(own);
    tacit_model_free(model);
}

static double read_back(const char *text) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_model *model = NULL;
    CHECK_OK(tacit_model_parse(&model, text, strlen(text), "model", &error), error);
    double share = model->noise_share;
    tacit_model_free(model);
    return share;
}

static void the_share_of_noise_is_in_the_file(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_model *model = some(0.625);
    CHECK_OK(tacit_model_print(model, &text, &error), error);
    CHECK_NEAR(read_back(tacit_buffer_text(&text)), 0.625, 1e-12);
    char *at = strstr((char *)text.bytes, "0.625");
    assert_non_null(at);
    memcpy(at, "6.250", 5); /* no share: nothing is said, and the model is read */
    CHECK_NEAR(read_back(tacit_buffer_text(&text)), 0, 0);
    tacit_buffer_clear(&text);
    model->noise_share = 0;
    CHECK_OK(tacit_model_print(model, &text, &error), error);
    assert_null(strstr(tacit_buffer_text(&text), "noise_share"));
    tacit_buffer_clear(&text);
    tacit_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_of_more_noise_than_anything_else_are_doubtful),
        cmocka_unit_test(long_names_are_cut_between_characters),
        cmocka_unit_test(the_share_of_noise_is_in_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
