#include "privacy/mechanism/response.h"

#include <math.h>
#include <stdlib.h>

#include "privacy/mechanism/selection_parts.h"

static tacit_status check(const tacit_response *response, const size_t *answers, size_t count,
                          tacit_error *error) {
    TACIT_TRY(tacit_price_check(&response->price, error));
    if (response->answers < 2)
        return tacit_fail(error, TACIT_USAGE, "a question has at least 2 answers, not %zu",
                          response->answers);
    if (count == 0) return tacit_fail(error, TACIT_USAGE, "nobody answers");
    for (size_t i = 0; i < count; i++)
        if (answers[i] >= response->answers)
            return tacit_fail(error, TACIT_INPUT, "answer %zu is not one of the %zu possible", i + 1,
                              response->answers);
    return TACIT_OK;
}

static tacit_status answer(size_t *out, const tacit_noise_source *source, const tacit_response *response,
                           size_t truth, tacit_error *error) {
    for (;;) {
        size_t drawn;
        bool kept = false;
        TACIT_TRY(tacit_coin_below(&drawn, source, response->answers, error));
        TACIT_TRY(tacit_coin_exp(&kept, source, response->price.epsilon, 1, error)); /* even for the truth */
        if (!kept && drawn != truth) continue;
        *out = drawn;
        return TACIT_OK;
    }
}

tacit_status tacit_response_release(tacit_selected **out, const tacit_noise_source *source,
                                    const tacit_response *response, const size_t *truths, size_t count,
                                    tacit_error *error) {
    TACIT_TRY(tacit_selection_price_check(source, &response->price, error));
    TACIT_TRY(check(response, truths, count, error));
    tacit_selected *selected = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_selected_create(&selected, count, error));
    for (size_t i = 0; i < count; i++)
        TACIT_CHECK(answer(&selected->indices[i], source, response, truths[i], error));
    selected->grade = tacit_selection_grade(source, &response->price);
    *out = selected;
    selected = NULL;
cleanup:
    tacit_selected_free(selected);
    return status;
}

/* With w = e^-epsilon and D = 1 + (k - 1) w, the truth has probability p = 1/D and each other answer q = w/D.
 * Of N answers n_j p + (N - n_j) q are expected to be j, so n_j = (c_j D - N w)/(1 - w); the variance of c_j
 * is n_j p (1 - p) + (N - n_j) q (1 - q). */
tacit_status tacit_response_estimate(double *counts, double *errors, const tacit_response *response,
                                     const size_t *given, size_t count, tacit_error *error) {
    TACIT_TRY(check(response, given, count, error));
    const double w = exp(-response->price.epsilon), kept = -expm1(-response->price.epsilon);
    const double d = 1 + (double)(response->answers - 1) * w, total = (double)count, p = 1 / d, q = w / d;
    for (size_t j = 0; j < response->answers; j++) counts[j] = 0;
    for (size_t i = 0; i < count; i++) counts[given[i]]++;
    for (size_t j = 0; j < response->answers; j++) {
        counts[j] = (counts[j] * d - total * w) / kept;
        double held = fmax(0, fmin(total, counts[j]));
        if (errors != NULL) errors[j] = sqrt(held * p * (1 - p) + (total - held) * q * (1 - q)) * d / kept;
    }
    return TACIT_OK;
}
