/*
 * Upload in little: of many noisy numbers the largest, as signs. Whatever is done to numbers that have their noise already is
 * post-processing and costs no privacy.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* How many of `count` a share keeps: at least one. */
size_t ternary_kept(size_t count, double share);

/* Put zeros in place of all but the `keep` largest in size, the earlier first among equals; with `signs` each of these becomes
 * its sign times their mean size. */
tacit_status ternary_compress(double *values, size_t count, size_t keep, bool signs, tacit_error *error);

/* 32 numbers in a word, two bits each: 0 for zero, 1 above, 2 below. */
size_t ternary_words(size_t count);
void ternary_pack(const double *values, size_t count, int64_t *words);

/* The signs, times `size`. TACIT_PROTOCOL for bits that stand for nothing. */
tacit_status ternary_unpack(const int64_t *words, size_t count, double size, double *out, tacit_error *error);
