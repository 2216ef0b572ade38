/*
 * Auxiliary points as bytes: how they travel, are stored, and are hashed, so that a study can name them by
 * their hash. The same numbers always give the same bytes, and nothing else is accepted when reading.
 * Little-endian:
 *
 *   "tacitpts"  version u32 = 1  form u32  rows u64  columns u64  numbers u64
 *   form 0, dense:   rows x columns doubles
 *   form 1, sparse:  rows u32 (entries of each row), numbers u32 (their columns), numbers doubles
 *
 * `numbers` counts those that are not 0. The form is the shorter one, dense when both are as long; a sparse
 * row holds no 0, its columns ascend, and there is no negative 0.
 */
#pragma once

#include "base/buffer.h"
#include "data/dataset.h"

enum { TACIT_POINTS_BYTES_LIMIT = 256 << 20 };

/* The most that this many points can take. */
size_t tacit_points_bytes_most(size_t rows, size_t cols);

/* Append the bytes. TACIT_LIMIT beyond the above, TACIT_INPUT for no points or one outside the unit ball. */
tacit_status tacit_points_encode(const tacit_rows *rows, tacit_buffer *out, tacit_error *error);

/* Read bytes from anywhere. TACIT_INPUT unless they are what encoding would have written. The dataset has no
 * labels and no names. */
tacit_status tacit_points_decode(tacit_dataset **out, const uint8_t *bytes, size_t length,
                                 tacit_error *error);
