#include "method/ternary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { IN_WORD = 32 };

size_t ternary_kept(size_t count, double share) {
    double kept = ceil(share * (double)count);
    return kept < 1 ? 1 : kept > (double)count ? count : (size_t)kept;
}

static int larger_first(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

tacit_status ternary_compress(double *values, size_t count, size_t keep, bool signs, tacit_error *error) {
    double *size = TACIT_NEW(double, count), sum = 0;
    if (size == NULL) return tacit_fail_memory(error);
    for (size_t j = 0; j < count; j++) size[j] = fabs(values[j]);
    qsort(size, count, sizeof *size, larger_first);
    double least = size[keep - 1];
    size_t equal = 0; /* of those equal to the last one kept, how many are */
    for (size_t j = 0; j < keep; j++) {
        equal += size[j] == least;
        sum += size[j];
    }
    for (size_t j = 0; j < count; j++) {
        double here = fabs(values[j]);
        bool kept = here > least || (here == least && equal > 0 && equal--);
        if (!kept)
            values[j] = 0;
        else if (signs)
            values[j] = copysign(sum / (double)keep, values[j]);
    }
    free(size);
    return TACIT_OK;
}

size_t ternary_words(size_t count) { return (count + IN_WORD - 1) / IN_WORD; }

void ternary_pack(const double *values, size_t count, int64_t *words) {
    for (size_t w = 0; w < ternary_words(count); w++) {
        uint64_t word = 0;
        for (size_t k = 0; k < IN_WORD && w * IN_WORD + k < count; k++) {
            double value = values[w * IN_WORD + k];
            word |= (uint64_t)(value > 0 ? 1 : value < 0 ? 2 : 0) << (2 * k);
        }
        memcpy(&words[w], &word, sizeof word);
    }
}

tacit_status ternary_unpack(const int64_t *words, size_t count, double size, double *out,
                            tacit_error *error) {
    for (size_t j = 0; j < count; j++) {
        unsigned bits = (unsigned)((uint64_t)words[j / IN_WORD] >> (2 * (j % IN_WORD))) & 3;
        if (bits == 3) return tacit_fail(error, TACIT_PROTOCOL, "number %zu of an upload has no sign", j + 1);
        out[j] = bits == 0 ? 0 : bits == 1 ? size : -size;
    }
    return TACIT_OK;
}
