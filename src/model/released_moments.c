#include "model/released_moments.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>

#include "base/memory.h"

static const double MOST = 0x1p53; /* steps that a double holds exactly */

static size_t length_of(size_t width) { return width * (width + 1) / 2; }

tacit_status tacit_released_moments_create(tacit_released_moments **out, size_t width, tacit_error *error) {
    if (width < 1 || width > TACIT_RELEASED_COLUMNS)
        return tacit_fail(error, TACIT_USAGE, "moments of %zu columns are not kept: at most %d are", width,
                          TACIT_RELEASED_COLUMNS);
    tacit_released_moments *moments = TACIT_NEW(tacit_released_moments, 1);
    if (moments == NULL) return tacit_fail_memory(error);
    moments->values = TACIT_NEW(double, length_of(width));
    if (moments->values == NULL) {
        free(moments);
        return tacit_fail_memory(error);
    }
    moments->width = width;
    moments->step = 1;
    *out = moments;
    return TACIT_OK;
}

tacit_released_moments *tacit_released_moments_free(tacit_released_moments *moments) {
    if (moments != NULL) free(moments->values);
    free(moments);
    return NULL;
}

void tacit_released_moments_round(tacit_released_moments *moments, const double *values, double deviation) {
    int power;
    (void)frexp(deviation / 32, &power);
    moments->deviation = deviation;
    moments->step = ldexp(1, power - 1);
    for (size_t i = 0; i < length_of(moments->width); i++)
        moments->values[i] = fmin(fmax(rint(values[i] / moments->step), -MOST), MOST) * moments->step;
}

json_t *tacit_released_moments_to_json(const tacit_released_moments *moments) {
    json_t *numbers = json_array();
    size_t length = length_of(moments->width);
    for (size_t i = 0; i < length; i++)
        json_array_append_new(numbers, json_integer((json_int_t)(moments->values[i] / moments->step)));
    if (json_array_size(numbers) != length) {
        json_decref(numbers);
        return NULL;
    }
    return json_pack("{s:I,s:I,s:f,s:f,s:f,s:f,s:o}", "columns", (json_int_t)moments->width, "parties",
                     (json_int_t)moments->parties, "rows", moments->rows, "noise", moments->deviation,
                     "radius", moments->radius, "step", moments->step, "numbers", numbers);
}

static bool is_positive(double number) { return number > 0 && isfinite(number); }

static bool read_numbers(tacit_released_moments *out, const json_t *numbers) {
    for (size_t i = 0; i < length_of(out->width); i++) {
        const json_t *one = json_array_get(numbers, i);
        double steps = (double)json_integer_value(one);
        if (!json_is_integer(one) || fabs(steps) > MOST) return false;
        out->values[i] = steps * out->step;
        if (!isfinite(out->values[i]) || out->values[i] / out->step != steps) return false;
    }
    return true;
}

tacit_status tacit_released_moments_from_json(tacit_released_moments **out, const json_t *object,
                                              size_t features, tacit_error *error) {
    json_int_t columns = 0, parties = 0;
    double rows = 0, noise = 0, radius = 0, step = 0;
    json_t *numbers = NULL;
    tacit_released_moments *moments = NULL;
    if (json_unpack((json_t *)object, "{s:I,s:I,s:F,s:F,s:F,s:F,s:o}", "columns", &columns, "parties",
                    &parties, "rows", &rows, "noise", &noise, "radius", &radius, "step", &step, "numbers",
                    &numbers) != 0 ||
        columns < 1 || columns > TACIT_RELEASED_COLUMNS || (size_t)columns != features || parties < 1 ||
        parties > 1000000 || !is_positive(rows) || !is_positive(noise) || !is_positive(step) ||
        !(radius >= 0 && isfinite(radius)) || json_array_size(numbers) != length_of((size_t)columns))
        return tacit_fail(error, TACIT_INPUT, "the moments are damaged");
    TACIT_TRY(tacit_released_moments_create(&moments, (size_t)columns, error));
    moments->parties = (size_t)parties;
    moments->rows = rows;
    moments->deviation = noise;
    moments->radius = radius;
    moments->step = step;
    if (!read_numbers(moments, numbers)) {
        tacit_released_moments_free(moments);
        return tacit_fail(error, TACIT_INPUT, "the moments are damaged");
    }
    *out = moments;
    return TACIT_OK;
}

static void add_number(crypto_generichash_state *hash, double number) {
    uint8_t bytes[sizeof(uint64_t)];
    union {
        double number;
        uint64_t bits;
    } as = { .number = number + 0.0 }; /* no -0 */
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(as.bits >> (8 * i));
    crypto_generichash_update(hash, bytes, sizeof bytes);
}

void tacit_released_moments_hash(const tacit_released_moments *moments, uint8_t out[TACIT_HASH_BYTES]) {
    crypto_generichash_state hash;
    crypto_generichash_init(&hash, NULL, 0, TACIT_HASH_BYTES);
    add_number(&hash, (double)moments->width);
    add_number(&hash, (double)moments->parties);
    add_number(&hash, moments->rows);
    add_number(&hash, moments->deviation);
    add_number(&hash, moments->radius);
    add_number(&hash, moments->step);
    for (size_t i = 0; i < length_of(moments->width); i++) add_number(&hash, moments->values[i]);
    crypto_generichash_final(&hash, out, TACIT_HASH_BYTES);
}
