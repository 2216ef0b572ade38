#include "method/private/ternary_upload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

size_t ternary_kept(size_t count, double share) {
    double kept = ceil(share * (double)count);
    return kept < 1 ? 1 : kept > (double)count ? count : (size_t)kept;
}

static int larger_first(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

tacit_status ternary_choose(const double *values, size_t count, size_t keep, int8_t *signs, double *mean,
                            tacit_error *error) {
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
        signs[j] = (int8_t)(!kept ? 0 : values[j] < 0 ? -1 : 1);
    }
    *mean = sum / (double)keep;
    free(size);
    return TACIT_OK;
}

tacit_status ternary_compress(double *values, size_t count, size_t keep, bool signs, tacit_error *error) {
    double mean = 0;
    int8_t *sign = TACIT_NEW(int8_t, count);
    if (sign == NULL) return tacit_fail_memory(error);
    tacit_status status = ternary_choose(values, count, keep, sign, &mean, error);
    for (size_t j = 0; j < count && status == TACIT_OK; j++)
        values[j] = sign[j] == 0 ? 0 : signs ? sign[j] * mean : values[j];
    free(sign);
    return status;
}

/* ---- on the wire ---- */

static unsigned index_bits(size_t size) {
    unsigned bits = 0;
    while (bits < 8 * sizeof size && (size - 1) >> bits > 0) bits++;
    return bits;
}

static bool by_marks(size_t size, size_t kept) { return size <= kept * index_bits(size); }

static size_t all_bits(size_t size, size_t kept) {
    return by_marks(size, kept) ? size + kept : kept * (index_bits(size) + 1);
}

size_t ternary_bytes(size_t size, size_t kept) { return (all_bits(size, kept) + 7) / 8; }

static void put(uint8_t *bytes, size_t *at, unsigned bits, size_t value) {
    for (unsigned b = 0; b < bits; b++, ++*at)
        bytes[*at / 8] = (uint8_t)(bytes[*at / 8] | (value >> b & 1) << *at % 8);
}

static size_t get(const uint8_t *bytes, size_t *at, unsigned bits) {
    size_t value = 0;
    for (unsigned b = 0; b < bits; b++, ++*at) value |= (size_t)(bytes[*at / 8] >> *at % 8 & 1) << b;
    return value;
}

void ternary_pack(const int8_t *signs, size_t size, size_t kept, uint8_t *out) {
    size_t at = 0;
    bool marks = by_marks(size, kept);
    unsigned bits = index_bits(size);
    memset(out, 0, ternary_bytes(size, kept));
    for (size_t j = 0; marks && j < size; j++) put(out, &at, 1, signs[j] != 0);
    for (size_t j = 0; j < size; j++) {
        if (signs[j] == 0) continue;
        if (!marks) put(out, &at, bits, j);
        put(out, &at, 1, signs[j] > 0);
    }
}

/* Mark the places with 1; false unless they are `kept`, within `size` and ascending. */
static bool read_places(int8_t *out, size_t size, size_t kept, const uint8_t *bytes) {
    size_t at = 0, found = 0, next = 0;
    unsigned bits = index_bits(size);
    memset(out, 0, size);
    if (by_marks(size, kept)) {
        for (size_t j = 0; j < size; j++) found += (size_t)(out[j] = (int8_t)get(bytes, &at, 1));
        return found == kept;
    }
    for (; found < kept; found++) {
        size_t j = get(bytes, &at, bits);
        at++; /* the sign */
        if (j < next || j >= size) return false;
        out[j] = 1;
        next = j + 1;
    }
    return true;
}

tacit_status ternary_unpack(int8_t *out, size_t size, size_t kept, const uint8_t *bytes, size_t length,
                            tacit_error *error) {
    size_t all = all_bits(size, kept), at = by_marks(size, kept) ? size : 0;
    unsigned skip = by_marks(size, kept) ? 0 : index_bits(size);
    if (length != (all + 7) / 8)
        return tacit_fail(error, TACIT_PROTOCOL, "%zu bytes were sent where %zu signs of %zu take %zu",
                          length, kept, size, (all + 7) / 8);
    bool good = read_places(out, size, kept, bytes);
    for (size_t j = 0; good && j < size; j++) {
        if (out[j] == 0) continue;
        at += skip;
        if (get(bytes, &at, 1) == 0) out[j] = -1;
    }
    for (size_t rest = all; good && rest < 8 * length;) good = get(bytes, &rest, 1) == 0;
    if (!good)
        return tacit_fail(error, TACIT_PROTOCOL, "the bytes are not %zu signs among %zu numbers", kept, size);
    return TACIT_OK;
}
