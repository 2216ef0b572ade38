#include "session/wire/question.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

tacit_status tacit_sum_spec_for(tacit_sum_spec *out, size_t length, double bound, size_t parties,
                                tacit_error *error) {
    if (!(bound > 0) || !isfinite(bound))
        return tacit_fail(error, TACIT_USAGE,
                          "the bound on a summed value must be positive and finite, not %g", bound);
    if (parties == 0) return tacit_fail(error, TACIT_USAGE, "a sum needs at least one party");
    /* bound * parties * 2^grid <= 2^53, exponents rounded up: every sum is then a double, exactly, and noise
     * can be added to it without another rounding to account for. */
    int bound_bits, party_bits;
    frexp(bound, &bound_bits);
    frexp((double)parties, &party_bits);
    *out = (tacit_sum_spec){ length, bound, 53 - bound_bits - party_bits };
    return TACIT_OK;
}

bool tacit_sum_spec_equal(const tacit_sum_spec *first, const tacit_sum_spec *second) {
    return first->length == second->length && first->bound == second->bound &&
           first->grid_bits == second->grid_bits;
}

double tacit_sum_rounding(const tacit_sum_spec *spec) {
    return sqrt((double)spec->length) * ldexp(0.5, -spec->grid_bits) * (1 + 0x1p-50);
}

tacit_status tacit_sum_quantise(const tacit_sum_spec *spec, const double *values, int64_t *out,
                                tacit_error *error) {
    /* A power of two only shifts the exponent and llrint rounds to nearest: at most half a grid step of
     * error. Of the tiniest bounds the power itself is no double. */
    const double scale = ldexp(1, spec->grid_bits);
    const bool is_normal = isnormal(scale);
    for (size_t j = 0; j < spec->length; j++) {
        if (!(fabs(values[j]) <= spec->bound))
            return tacit_fail(error, TACIT_INTERNAL, "contribution %zu is %g, beyond its bound %g", j,
                              values[j], spec->bound);
        out[j] = llrint(is_normal ? values[j] * scale : ldexp(values[j], spec->grid_bits));
    }
    return TACIT_OK;
}

tacit_status tacit_sum_check(const tacit_sum_spec *spec, const int64_t *steps, tacit_error *error) {
    int64_t most = llrint(ldexp(spec->bound, spec->grid_bits));
    for (size_t j = 0; j < spec->length; j++)
        if (steps[j] > most || steps[j] < -most)
            return tacit_fail(error, TACIT_PROTOCOL, "value %zu is beyond the bound of the sum", j + 1);
    return TACIT_OK;
}

double tacit_sum_value(const tacit_sum_spec *spec, int64_t total) {
    return ldexp((double)total, -spec->grid_bits);
}

void tacit_masked_step_clear(tacit_masked_step *step) {
    if (step == NULL) return;
    tacit_buffer_clear(&step->body);
    tacit_buffer_clear(&step->roster);
}

tacit_status tacit_letters_add(tacit_letters *letters, uint32_t party, uint64_t round, const uint8_t *bytes,
                               size_t length, tacit_error *error) {
    tacit_letter *grown = tacit_grow(letters->letter, letters->count + 1, sizeof *grown);
    if (grown == NULL) return tacit_fail_memory(error);
    letters->letter = grown;
    tacit_letter added = { party, round, TACIT_BUFFER_INIT };
    TACIT_TRY(tacit_buffer_append(&added.body, bytes, length, error));
    grown[letters->count++] = added;
    return TACIT_OK;
}

const tacit_letter *tacit_letters_find(const tacit_letters *letters, uint32_t party) {
    for (size_t i = 0; i < letters->count; i++)
        if (letters->letter[i].party == party) return &letters->letter[i];
    return NULL;
}

void tacit_letters_clear(tacit_letters *letters) {
    if (letters == NULL) return;
    for (size_t i = 0; i < letters->count; i++) tacit_buffer_clear(&letters->letter[i].body);
    free(letters->letter);
    *letters = (tacit_letters)TACIT_LETTERS_INIT;
}

void tacit_mail_step_clear(tacit_mail_step *step) {
    if (step == NULL) return;
    tacit_buffer_clear(&step->roster);
    tacit_letters_clear(&step->cards);
    tacit_letters_clear(&step->words);
}
