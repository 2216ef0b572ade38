/* Shorthands for tests that use the library through its public header. */
#pragma once

#include <stdlib.h>
#include <string.h>

#define TACIT_NO_ATTRIBUTES /* NULL is passed on purpose */

#include "check.h"
#include "tacit/tacit.h"

/* Options from names and values in turn, up to a NULL. */
static inline tacit_options *options_of(const char *const *words) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_options *options = NULL;
    CHECK_OK(tacit_options_create(&options, &error), error);
    for (; words[0] != NULL; words += 2)
        CHECK_OK(tacit_options_set(options, words[0], words[1], &error), error);
    return options;
}
#define OPTIONS(...) options_of((const char *const[]){ __VA_ARGS__, NULL })

/* How many numbers an array holds. */
#define ROOM(array) (sizeof(array) / sizeof(double))

/* Rows with a relation to learn: `columns` numbers between -1 and 3, and a class. */
enum { ROWS = 300, COLUMNS = 4 };

typedef struct sample {
    double value[ROWS][COLUMNS];
    int32_t label[ROWS];
    double response[ROWS];
    double low[COLUMNS], high[COLUMNS];
} sample;

static inline void sample_make(sample *out) {
    uint64_t state = 12345;
    for (size_t j = 0; j < COLUMNS; j++) {
        out->low[j] = -1;
        out->high[j] = 3;
    }
    for (size_t i = 0; i < ROWS; i++) {
        double score = 0;
        for (size_t j = 0; j < COLUMNS; j++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            out->value[i][j] = (double)(float)((double)(state >> 40) / (1 << 24) * 4 - 1); /* a float, too */
            score += j % 2 == 0 ? out->value[i][j] : -out->value[i][j];
        }
        out->label[i] = score > 0;
        out->response[i] = score;
    }
}

/* The sample as a frame with its classes. */
static inline tacit_frame *sample_frame(const sample *from) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = NULL;
    CHECK_OK(tacit_frame_dense(&frame, from->value, TACIT_NUMBER_DOUBLE, ROWS, COLUMNS, sizeof from->value[0],
                               sizeof(double), &error),
             error);
    CHECK_OK(tacit_frame_set_classes(frame, from->label, 2, NULL, &error), error);
    return frame;
}

static inline tacit_frame *bounded_frame(const sample *from) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = sample_frame(from);
    CHECK_OK(tacit_frame_set_bounds(frame, from->low, from->high, true, &error), error);
    return frame;
}

/* A model fitted from a seed: the same rows give the same model, however they lie. Frees the options. */
static inline tacit_model *fit_with(const tacit_frame *frame, tacit_options *options) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_model *model = NULL;
    CHECK_OK(tacit_frame_fit(&model, frame, options, NULL, NULL, &error), error);
    tacit_options_free(options);
    return model;
}
static inline tacit_model *fit_seeded(const tacit_frame *frame) {
    return fit_with(frame, OPTIONS("method", "output", "epsilon", "5", "lambda", "0.01", "seed", "7"));
}

static inline char *model_text(const tacit_model *model) {
    tacit_error error = TACIT_ERROR_INIT;
    char *text = NULL;
    CHECK_OK(tacit_model_to_json(&text, model, &error), error);
    return text;
}

/* The frame must give, byte for byte, the model `expected`. Frees the frame. */
static inline void check_same_model(tacit_frame *frame, const char *expected) {
    tacit_model *model = fit_seeded(frame);
    char *text = model_text(model);
    assert_string_equal(text, expected);
    tacit_string_free(text);
    tacit_model_free(model);
    tacit_frame_free(frame);
}

#define CHECK_FAILS(call, expected, words)                                                                   \
    do {                                                                                                     \
        tacit_error error_ = TACIT_ERROR_INIT, *failed = &error_;                                            \
        assert_int_equal((call), (expected));                                                                \
        if (strstr(error_.text, (words)) == NULL) fail_msg("'%s' does not say '%s'", error_.text, (words));  \
    } while (0)
