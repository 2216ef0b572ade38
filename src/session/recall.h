/*
 * Results that follow from their inputs, kept under the hash of those: a sweep computes once what its trials share.
 * For simulations, on the coordinator's thread.
 */
#pragma once

#include <stdbool.h>

#include "privacy/account/release.h"

typedef struct tacit_recall tacit_recall;

tacit_status tacit_recall_create(tacit_recall **out, tacit_error *error);
tacit_recall *tacit_recall_free(tacit_recall *recall);

/* A hash of inputs: begin with a purpose, add parts. */
typedef struct tacit_recall_key {
    uint8_t hash[TACIT_HASH_BYTES];
} tacit_recall_key;
tacit_recall_key tacit_recall_begin(const char *purpose);
void tacit_recall_add(tacit_recall_key *key, const void *bytes, size_t length);

/* Copy what is kept under a key into `out`. False when nothing of that length is; a NULL recall keeps nothing. */
bool tacit_recall_find(const tacit_recall *recall, const tacit_recall_key *key, void *out, size_t length);

/* Keep a copy; running out of memory only means that it is computed again. */
void tacit_recall_keep(tacit_recall *recall, const tacit_recall_key *key, const void *bytes, size_t length);
