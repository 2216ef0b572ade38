/* Noise that a party draws once in a study. */
#include <math.h>
#include <string.h>

#include "rand/exact.h"
#include "rand/fast.h"
#include "session/party.h"

#define NAME "lasting-noise"

enum { MOST_BYTES = 1 << 28 };

/* What is kept: the three numbers it was drawn for, then the steps. */
static tacit_status pack(tacit_buffer *out, double scale, int grid_bits, const int64_t *steps, size_t count,
                         tacit_error *error) {
    uint64_t bits;
    memcpy(&bits, &scale, sizeof bits);
    TACIT_TRY(tacit_buffer_append_u64(out, bits, error));
    TACIT_TRY(tacit_buffer_append_u64(out, (uint64_t)(int64_t)grid_bits, error));
    TACIT_TRY(tacit_buffer_append_u64(out, count, error));
    for (size_t j = 0; j < count; j++) TACIT_TRY(tacit_buffer_append_u64(out, (uint64_t)steps[j], error));
    return TACIT_OK;
}

static tacit_status unpack(const tacit_buffer *kept, double scale, int grid_bits, double *out, size_t count,
                           tacit_error *error) {
    tacit_cursor cursor = tacit_cursor_over(kept->bytes, kept->length);
    uint64_t expected[3] = { 0, (uint64_t)(int64_t)grid_bits, count }, found, step;
    memcpy(&expected[0], &scale, sizeof scale);
    for (size_t i = 0; i < 3; i++)
        if (!tacit_cursor_read_u64(&cursor, &found) || found != expected[i])
            return tacit_fail(error, TACIT_REFUSED,
                              "the noise that this party drew once for the study was drawn for other numbers "
                              "than the coordinator now names");
    if (cursor.left != 8 * count)
        return tacit_fail(error, TACIT_CORRUPT, "the kept noise of this study is damaged: leave the study");
    for (size_t j = 0; j < count; j++) {
        tacit_cursor_read_u64(&cursor, &step);
        out[j] = ldexp((double)(int64_t)step, -grid_bits);
    }
    return TACIT_OK;
}

static tacit_status draw_and_keep(tacit_party *party, double scale, size_t count, int grid_bits, double *out,
                                  tacit_error *error) {
    tacit_exact_vector *vector = NULL;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status;
    memset(out, 0, count * sizeof *out);
    TACIT_CHECK(tacit_exact_vector_create(&vector, error));
    TACIT_CHECK(tacit_exact_add(vector, party->noise.entropy, TACIT_LAW_GAUSSIAN, out, count, scale,
                                grid_bits, error));
    TACIT_CHECK(pack(&bytes, scale, grid_bits, tacit_exact_vector_steps(vector), count, error));
    TACIT_CHECK(party->keep->write(party->keep->context, NAME, bytes.bytes, bytes.length, error));
    TACIT_CHECK(unpack(&bytes, scale, grid_bits, out, count, error));
cleanup:
    tacit_buffer_clear(&bytes);
    tacit_exact_vector_free(vector);
    return status;
}

tacit_status tacit_party_persistent_noise(tacit_party *party, double scale, size_t count, int grid_bits,
                                          double *out, tacit_error *error) {
    TACIT_TRY(tacit_noise_source_check(&party->noise, error));
    if (party->follows) { /* the one who answers adds it */
        memset(out, 0, count * sizeof *out);
        return TACIT_OK;
    }
    if (party->noise.stream != NULL && party->run != NULL) {
        tacit_stream stream = tacit_stream_fork(party->run, NAME, party->number, 0);
        tacit_fast_normals(&stream, out, count);
        for (size_t j = 0; j < count; j++) out[j] *= scale;
        return TACIT_OK;
    }
    if (party->noise.entropy == NULL || party->keep == NULL)
        return tacit_fail(error, TACIT_INTERNAL, "this party has nowhere to keep noise for a whole study");
    tacit_buffer kept = TACIT_BUFFER_LIMITED(MOST_BYTES);
    bool found = false;
    tacit_status status = party->keep->read(party->keep->context, NAME, &found, &kept, error);
    if (status == TACIT_OK)
        status = found ? unpack(&kept, scale, grid_bits, out, count, error)
                       : draw_and_keep(party, scale, count, grid_bits, out, error);
    tacit_buffer_clear(&kept);
    return status;
}
