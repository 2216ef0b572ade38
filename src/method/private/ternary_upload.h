/*
 * Upload in little: of many noisy numbers the largest, as signs. Whatever is done to numbers that have their
 * noise already is post-processing and costs no privacy.
 *
 * On the wire, d numbers of which n are +1 or -1 and the others 0; d and n are public, and so is the form:
 *
 *   marks     a bit for each of the d, whether it is one of the n, then a bit for the sign of each of the n:
 *             d + n bits, never more than two a number
 *   indices   the n places in ascending order, each in the bits that d - 1 takes, with a bit for the sign
 *
 * whichever is shorter (marks where both are equal). Bits fill bytes from the lowest up; the rest of the last
 * byte is 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* How many of `count` a share keeps: at least one. */
size_t ternary_kept(size_t count, double share);

/* The signs of the `keep` largest in size, the earlier first among equals, a zero counting as above; 0 for
 * all others. `mean` becomes the mean size of those kept. */
tacit_status ternary_choose(const double *values, size_t count, size_t keep, int8_t *signs, double *mean,
                            tacit_error *error);

/* Put zeros in place of all but these; with `signs` each of them becomes its sign times their mean size. */
tacit_status ternary_compress(double *values, size_t count, size_t keep, bool signs, tacit_error *error);

/* Bytes that `kept` signs among `size` numbers take; 1 <= kept <= size. */
size_t ternary_bytes(size_t size, size_t kept);

/* Pack `size` numbers of -1, 0 and 1, of which `kept` are not 0, into ternary_bytes of them. */
void ternary_pack(const int8_t *signs, size_t size, size_t kept, uint8_t *out);

/* TACIT_PROTOCOL unless the bytes are what ternary_pack makes of some numbers. */
tacit_status ternary_unpack(int8_t *out, size_t size, size_t kept, const uint8_t *bytes, size_t length,
                            tacit_error *error);
