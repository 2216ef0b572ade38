/*
 * Moments that a study released travel with its model and come back the same; their hash tells any change; what
 * is damaged is refused.
 */
#include "check.h"

#include <jansson.h>
#include <string.h>

#include "model/model.h"

enum { WIDTH = 3, LENGTH = 6 };

static tacit_released_moments *some(void) {
    static const double values[LENGTH] = { 10.3, -2.71, 0, 8.125, 1e-9, 1234.56 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_released_moments *moments = NULL;
    CHECK_OK(tacit_released_moments_create(&moments, WIDTH, &error), error);
    moments->parties = 5;
    moments->rows = 400;
    moments->radius = 0.7;
    tacit_released_moments_round(moments, values, 1.5);
    for (size_t i = 0; i < LENGTH; i++) assert_true(fabs(moments->values[i] - values[i]) <= 1.5 / 32);
    assert_true(moments->step <= 1.5 / 32 && moments->step > 1.5 / 128);
    return moments;
}

static tacit_model *with_moments(void) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_model *model = NULL;
    CHECK_OK(tacit_model_create(&model, &tacit_family_logistic, WIDTH, 2, &error), error);
    model->moments = some();
    return model;
}

static void check_same_hash(const tacit_released_moments *a, const tacit_released_moments *b, bool same) {
    uint8_t first[TACIT_HASH_BYTES], second[TACIT_HASH_BYTES];
    tacit_released_moments_hash(a, first);
    tacit_released_moments_hash(b, second);
    assert_true((memcmp(first, second, sizeof first) == 0) == same);
}

static void they_come_back_the_same_from_a_file(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_model *model = with_moments(), *again = NULL;
    tacit_buffer text = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_model_print(model, &text, &error), error);
    CHECK_OK(tacit_model_parse(&again, text.bytes, text.length, "again", &error), error);
    assert_non_null(again->moments);
    assert_memory_equal(again->moments->values, model->moments->values, LENGTH * sizeof(double));
    check_same_hash(again->moments, model->moments, true);
    tacit_buffer_clear(&text);
    tacit_model_free(model);
    tacit_model_free(again);
}

static void any_change_has_another_hash(void **state) {
    (void)state;
    for (int change = 0; change < 6; change++) {
        tacit_released_moments *one = some(), *other = some();
        check_same_hash(one, other, true);
        if (change == 0) other->values[4] += other->step;
        if (change == 1) other->rows += 1;
        if (change == 2) other->parties++;
        if (change == 3) other->deviation *= 1.0000001;
        if (change == 4) other->radius = 0;
        if (change == 5) other->step /= 2;
        check_same_hash(one, other, false);
        tacit_released_moments_free(one);
        tacit_released_moments_free(other);
    }
}

static void what_is_damaged_is_refused(void **state) {
    (void)state;
    static const char *const damage[] = {
        "{\"step\": 0.1}",
        "{\"step\": 0}",
        "{\"noise\": 0}",
        "{\"rows\": -4}",
        "{\"columns\": 4}",
        "{\"parties\": 0}",
        "{\"radius\": -1}",
        "{\"step\": 1e308}",
        "{\"numbers\": []}",
        "{\"numbers\": 3}",
        "{\"numbers\": null}",
        "{\"columns\": 0}",
        "{\"numbers\": [1, 2, 3, 4, 5, 0.5]}",
    };
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_released_moments *whole = some(), *read = NULL;
        whole->values[5] = 3 * whole->step; /* 3 times .1 is not .3 */
        json_t *object = tacit_released_moments_to_json(whole), *change = json_loads(damage[i], 0, NULL);
        CHECK_OK(tacit_released_moments_from_json(&read, object, WIDTH, &error), error);
        read = tacit_released_moments_free(read);
        json_object_update(object, change);
        if (tacit_released_moments_from_json(&read, object, WIDTH, &error) != TACIT_INPUT)
            fail_msg("%s was read", damage[i]);
        assert_null(read);
        json_decref(object);
        json_decref(change);
        tacit_released_moments_free(whole);
    }
}

static void too_many_columns_are_not_kept(void **state) {
    (void)state;
    tacit_released_moments *moments = NULL;
    assert_int_equal(tacit_released_moments_create(&moments, TACIT_RELEASED_COLUMNS + 1, NULL), TACIT_USAGE);
    assert_int_equal(tacit_released_moments_create(&moments, 0, NULL), TACIT_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_come_back_the_same_from_a_file),
        cmocka_unit_test(any_change_has_another_hash),
        cmocka_unit_test(what_is_damaged_is_refused),
        cmocka_unit_test(too_many_columns_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
