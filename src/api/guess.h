/*
 * Which known word was meant by an unknown one? Show each candidate, then ask.
 *
 *     tacit_guess guess = tacit_guess_for("epsilom");
 *     tacit_guess_consider(&guess, "epsilon", 7);
 *     if (tacit_guess_found(&guess)) printf("%.*s", (int)guess.length, guess.word);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct tacit_guess {
    const char *given;
    const char *word; /* the answer, borrowed from the candidates, once tacit_guess_found says so */
    size_t length;
    size_t distance;
    const char *longer; /* a candidate that begins with what was given */
    size_t longer_length, longer_count;
} tacit_guess;

tacit_guess tacit_guess_for(const char *given);
void tacit_guess_consider(tacit_guess *guess, const char *candidate, size_t length);

/* True when a candidate is a small edit away for its length, or the only one that begins with it. */
bool tacit_guess_found(tacit_guess *guess);

/* Number of edits of one character (insert, delete, replace, swap of neighbours) between two texts;
 * SIZE_MAX when one is longer than 63 bytes. */
size_t tacit_edit_distance(const char *a, size_t a_length, const char *b, size_t b_length);
