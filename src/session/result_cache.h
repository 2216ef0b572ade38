/*
 * Results that follow from their inputs, kept under the hash of those: a sweep computes once what its trials
 * share. For simulations, on the coordinator's thread.
 */
#pragma once

#include <stdbool.h>

#include "privacy/account/release.h"

typedef struct tacit_result_cache tacit_result_cache;

tacit_status tacit_result_cache_create(tacit_result_cache **out, tacit_error *error);
tacit_result_cache *tacit_result_cache_free(tacit_result_cache *cache);

/* A hash of inputs: begin with a purpose, add parts. */
typedef struct tacit_cache_key {
    uint8_t hash[TACIT_HASH_BYTES];
} tacit_cache_key;
tacit_cache_key tacit_cache_key_begin(const char *purpose);
void tacit_cache_key_add(tacit_cache_key *key, const void *bytes, size_t length);

/* Copy what is kept under a key into `out`. False when nothing of that length is; a NULL cache keeps
 * nothing. */
bool tacit_result_cache_find(const tacit_result_cache *cache, const tacit_cache_key *key, void *out,
                             size_t length);

/* Keep a copy; running out of memory only means that it is computed again. */
void tacit_result_cache_keep(tacit_result_cache *cache, const tacit_cache_key *key, const void *bytes,
                             size_t length);
