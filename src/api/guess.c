#include "api/guess.h"

#include <stdint.h>
#include <string.h>

enum { LONGEST_COMPARED = 63 };

size_t tacit_edit_distance(const char *a, size_t a_length, const char *b, size_t b_length) {
    if (a_length > LONGEST_COMPARED || b_length > LONGEST_COMPARED) return SIZE_MAX;
    size_t cost[LONGEST_COMPARED + 1][LONGEST_COMPARED + 1];
    for (size_t i = 0; i <= a_length; i++) cost[i][0] = i;
    for (size_t j = 0; j <= b_length; j++) cost[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (cost[i - 1][j] + 1 < best) best = cost[i - 1][j] + 1;
            if (cost[i][j - 1] + 1 < best) best = cost[i][j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && cost[i - 2][j - 2] + 1 < best) best = cost[i - 2][j - 2] + 1;
            cost[i][j] = best;
        }
    }
    return cost[a_length][b_length];
}

tacit_guess tacit_guess_for(const char *given) {
    return (tacit_guess){ .given = given, .distance = SIZE_MAX };
}

void tacit_guess_consider(tacit_guess *guess, const char *candidate, size_t length) {
    size_t given = strlen(guess->given);
    size_t distance = tacit_edit_distance(guess->given, given, candidate, length);
    if (distance < guess->distance) {
        guess->distance = distance;
        guess->word = candidate;
        guess->length = length;
    }
    if (given == 0 || given > length || memcmp(candidate, guess->given, given) != 0) return;
    bool again = guess->longer != NULL && guess->longer_length == length &&
                 memcmp(guess->longer, candidate, length) == 0;
    guess->longer = candidate;
    guess->longer_length = length;
    guess->longer_count += !again;
}

bool tacit_guess_found(tacit_guess *guess) {
    size_t length = strlen(guess->given);
    /* One edit in three characters still looks like a slip; more looks like another word. */
    if (guess->distance != SIZE_MAX && guess->distance <= (length < 3 ? length / 2 : length / 3)) return true;
    if (guess->longer_count != 1) return false;
    guess->word = guess->longer;
    guess->length = guess->longer_length;
    return true;
}
