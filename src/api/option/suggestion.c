#include "api/option/suggestion.h"

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

tacit_suggestion tacit_suggestion_for(const char *given) {
    return (tacit_suggestion){ .given = given, .distance = SIZE_MAX };
}

void tacit_suggestion_consider(tacit_suggestion *suggestion, const char *candidate, size_t length) {
    size_t given = strlen(suggestion->given);
    size_t distance = tacit_edit_distance(suggestion->given, given, candidate, length);
    if (distance < suggestion->distance) {
        suggestion->distance = distance;
        suggestion->word = candidate;
        suggestion->length = length;
    }
    if (given == 0 || given > length || memcmp(candidate, suggestion->given, given) != 0) return;
    bool again = suggestion->longer != NULL && suggestion->longer_length == length &&
                 memcmp(suggestion->longer, candidate, length) == 0;
    suggestion->longer = candidate;
    suggestion->longer_length = length;
    suggestion->longer_count += !again;
}

bool tacit_suggestion_found(tacit_suggestion *suggestion) {
    size_t length = strlen(suggestion->given);
    /* One edit in three characters still looks like a slip; more looks like another word. */
    if (suggestion->distance != SIZE_MAX && suggestion->distance <= (length < 3 ? length / 2 : length / 3))
        return true;
    if (suggestion->longer_count != 1) return false;
    suggestion->word = suggestion->longer;
    suggestion->length = suggestion->longer_length;
    return true;
}
