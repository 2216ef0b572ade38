/*
 * Which known word was intended by an unknown one? Show each candidate, then ask.
 *
 *     tacit_suggestion guess = tacit_suggestion_for("epsilom");
 *     tacit_suggestion_consider(&guess, "epsilon", 7);
 *     if (tacit_suggestion_found(&guess)) printf("%.*s", (int)guess.length, guess.word);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct tacit_suggestion {
    const char *given;
    const char *word; /* the answer, borrowed from the candidates, once tacit_suggestion_found says so */
    size_t length;
    size_t distance;
    const char *longer; /* a candidate that begins with what was given */
    size_t longer_length, longer_count;
} tacit_suggestion;

tacit_suggestion tacit_suggestion_for(const char *given);
void tacit_suggestion_consider(tacit_suggestion *suggestion, const char *candidate, size_t length);

/* True when a candidate is a small edit away for its length, or the only one that begins with it. */
bool tacit_suggestion_found(tacit_suggestion *suggestion);

/* Number of edits of one character (insert, delete, replace, swap of neighbours) between two texts;
 * SIZE_MAX when one is longer than 63 bytes. */
size_t tacit_edit_distance(const char *a, size_t a_length, const char *b, size_t b_length);
