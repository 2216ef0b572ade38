/*
 * Ternary numbers on the wire. Of d numbers, n are +1 or -1 and the others 0; d and n are public, and so is the form:
 *
 *   marks     a bit for each of the d, whether it is one of the n, then a bit for the sign of each of the n: d + n bits,
 *             never more than two a number
 *   indices   the n places in ascending order, each in the bits that d - 1 takes, with a bit for the sign
 *
 * whichever is shorter (marks where both are equal). Bits fill bytes from the lowest up; the rest of the last byte is 0.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Bytes that they take; 1 <= kept <= size. */
size_t signs_bytes(size_t size, size_t kept);

/* Pack `size` numbers of -1, 0 and 1, of which `kept` are not 0, into signs_bytes of them. */
void signs_pack(const int8_t *signs, size_t size, size_t kept, uint8_t *out);

/* TACIT_PROTOCOL unless the bytes are what signs_pack makes of some numbers. */
tacit_status signs_unpack(int8_t *out, size_t size, size_t kept, const uint8_t *bytes, size_t length,
                          tacit_error *error);
