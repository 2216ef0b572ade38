/*
 * Which combinations of sums are about few.
 *
 * Let M have a row for each set, 0 or 1 for each party. A form about the parties of T alone is a row v of the
 * span of M with v = 0 outside T. These are dim(T) = rank(M) - rank(M without the columns T) dimensions. A
 * new set gives something new about T iff dim(T) grows with it. Parties that are in the same sets have equal
 * columns, and v is the same for all of them: T is a union of groups of equal columns, so that few sets make
 * few candidates, however many parties there are.
 *
 * Ranks are found modulo the prime 2^61 - 1. They are those over the rationals, since no minor of a 0-1
 * matrix of up to 32 rows reaches the prime: Hadamard's bound is 33^16.5/2^32 < 2^52.
 */
#include "privacy/differences.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const uint64_t PRIME = ((uint64_t)1 << 61) - 1;
enum { CANDIDATES_MOST = 200000 };

/* ---- ranks ---- */

__extension__ typedef unsigned __int128 wide;

static uint64_t multiply(uint64_t a, uint64_t b) { return (uint64_t)((wide)a * b % PRIME); }

static uint64_t inverse(uint64_t a) {
    uint64_t result = 1;
    for (uint64_t power = PRIME - 2; power > 0; power >>= 1, a = multiply(a, a))
        if (power & 1) result = multiply(result, a);
    return result;
}

/* Of rows x columns numbers, which are destroyed. */
static size_t rank_of(uint64_t *matrix, size_t rows, size_t columns) {
    size_t rank = 0;
    for (size_t j = 0; j < columns && rank < rows; j++) {
        size_t pivot = rank;
        while (pivot < rows && matrix[pivot * columns + j] == 0) pivot++;
        if (pivot == rows) continue;
        for (size_t k = 0; k < columns; k++) {
            uint64_t other = matrix[pivot * columns + k];
            matrix[pivot * columns + k] = matrix[rank * columns + k];
            matrix[rank * columns + k] = other;
        }
        const uint64_t scale = inverse(matrix[rank * columns + j]);
        for (size_t i = rank + 1; i < rows; i++) {
            const uint64_t factor = multiply(matrix[i * columns + j], scale);
            for (size_t k = j; factor != 0 && k < columns; k++)
                matrix[i * columns + k] =
                    (matrix[i * columns + k] + PRIME - multiply(factor, matrix[rank * columns + k])) % PRIME;
        }
        rank++;
    }
    return rank;
}

/* ---- groups of parties that are in the same sets ---- */

typedef struct grouped {
    size_t rows, groups; /* the last row is of the new set */
    uint32_t *pattern;   /* a bit for each set that the group is in; groups that are in none are left out */
    size_t *size;
    bool *left_out; /* of the matrix whose rank is asked */
    uint64_t *room; /* rows x groups */
} grouped;

static void clear_groups(grouped *self) {
    free(self->pattern);
    free(self->size);
    free(self->left_out);
    free(self->room);
}

static uint32_t pattern_of(const uint8_t *const *sets, size_t rows, size_t thing) {
    uint32_t pattern = 0;
    for (size_t i = 0; i < rows && i <= TACIT_SETS_MOST; i++) pattern |= (uint32_t)(sets[i][thing] != 0) << i;
    return pattern;
}

static tacit_status group(grouped *self, const uint8_t *const *sets, size_t rows, size_t width,
                          tacit_error *error) {
    *self = (grouped){ .rows = rows };
    self->pattern = TACIT_NEW(uint32_t, width);
    self->size = TACIT_NEW(size_t, width);
    self->left_out = TACIT_NEW(bool, width);
    if (self->pattern == NULL || self->size == NULL || self->left_out == NULL)
        return tacit_fail_memory(error);
    for (size_t j = 0; j < width; j++) {
        const uint32_t pattern = pattern_of(sets, rows, j);
        size_t g = 0;
        while (g < self->groups && self->pattern[g] != pattern) g++;
        if (pattern == 0) continue;
        if (g == self->groups) self->pattern[self->groups++] = pattern;
        self->size[g]++;
    }
    self->room = TACIT_NEW(uint64_t, rows * self->groups);
    return self->room != NULL ? TACIT_OK : tacit_fail_memory(error);
}

/* Of the first `rows` sets, without the groups that are left out. */
static size_t rank_without(grouped *self, size_t rows) {
    size_t columns = 0;
    for (size_t g = 0; g < self->groups; g++) columns += !self->left_out[g];
    for (size_t g = 0, j = 0; g < self->groups; g++) {
        if (self->left_out[g]) continue;
        for (size_t i = 0; i < rows; i++) self->room[i * columns + j] = self->pattern[g] >> i & 1;
        j++;
    }
    return rank_of(self->room, rows, columns);
}

/* ---- groups of rows that are in the same sets ---- */

enum { ROW_GROUPS_MOST = 20000 };

static int compare_patterns(const void *a, const void *b) {
    uint32_t first, second;
    memcpy(&first, a, sizeof first);
    memcpy(&second, b, sizeof second);
    return (first > second) - (first < second);
}

typedef struct merging {
    const tacit_row_list *list;
    size_t at[TACIT_SETS_MOST + 1];
    size_t lists;
} merging;

/* The next row in the order of hashes: which sets it is in; 0 after the last. A hash that is there k times
 * stands for k rows: the j-th of them is in the sets that have it at least j times. */
static uint32_t next_pattern(merging *self) {
    uint64_t least = UINT64_MAX;
    bool found = false;
    uint32_t pattern = 0;
    for (size_t i = 0; i < self->lists; i++) {
        if (self->at[i] == self->list[i].count) continue;
        const uint64_t hash = self->list[i].hashes[self->at[i]];
        if (!found || hash < least) least = hash;
        found = true;
    }
    for (size_t i = 0; found && i < self->lists; i++) {
        if (self->at[i] == self->list[i].count || self->list[i].hashes[self->at[i]] != least) continue;
        pattern |= (uint32_t)1 << i;
        self->at[i]++;
    }
    return pattern;
}

/* The number of rows of each pattern. *whole is false where there are too many patterns. */
static tacit_status group_rows(grouped *self, const tacit_row_list *lists, size_t count, bool *whole,
                               tacit_error *error) {
    merging all = { .list = lists, .lists = count };
    size_t rows = 0;
    *self = (grouped){ .rows = count };
    for (size_t i = 0; i < count; i++) rows += lists[i].count;
    uint32_t *patterns = TACIT_NEW(uint32_t, rows + 1);
    if (patterns == NULL) return tacit_fail_memory(error);
    rows = 0;
    for (uint32_t pattern; (pattern = next_pattern(&all)) != 0;) patterns[rows++] = pattern;
    if (rows > 0) qsort(patterns, rows, sizeof *patterns, compare_patterns);
    size_t groups = 0;
    for (size_t i = 0; i < rows; i++) groups += i == 0 || patterns[i] != patterns[i - 1];
    *whole = groups <= ROW_GROUPS_MOST;
    self->pattern = TACIT_NEW(uint32_t, groups + 1);
    self->size = TACIT_NEW(size_t, groups + 1);
    self->left_out = TACIT_NEW(bool, groups + 1);
    self->room = TACIT_NEW(uint64_t, count * groups + 1);
    const bool made =
        self->pattern != NULL && self->size != NULL && self->left_out != NULL && self->room != NULL;
    for (size_t i = 0; made && i < rows; i++) {
        if (i == 0 || patterns[i] != patterns[i - 1]) self->pattern[self->groups++] = patterns[i];
        self->size[self->groups - 1]++;
    }
    free(patterns);
    return made ? TACIT_OK : tacit_fail_memory(error);
}

typedef struct searching {
    grouped *sets;
    size_t past_rank, rank;
    size_t tried, most; /* candidates */
} searching;

/* Whether the new set tells something new about the groups that are left out. */
static bool grows(searching *self) {
    grouped *sets = self->sets;
    const size_t before = self->past_rank - rank_without(sets, sets->rows - 1);
    return self->rank - rank_without(sets, sets->rows) > before;
}

/* Add groups from `first` on to those left out, as long as they are of at most `room` parties together. */
static bool finds(searching *self, size_t first, size_t room) {
    grouped *sets = self->sets;
    for (size_t g = first; g < sets->groups; g++) {
        if (sets->size[g] > room) continue;
        if (++self->tried > self->most) return true;
        sets->left_out[g] = true;
        if (grows(self) || finds(self, g + 1, room - sets->size[g])) return true;
        sets->left_out[g] = false;
    }
    return false;
}

/* What tells nothing new about all small groups together tells nothing new about some of them, since a form
 * about some is one about all. */
static bool search(grouped *sets, size_t most) {
    enum { WORK_MOST = 400000000 };
    searching self = { .sets = sets, .most = CANDIDATES_MOST };
    const size_t work = sets->rows * sets->rows * (sets->groups + 1);
    if (self.most > WORK_MOST / work) self.most = WORK_MOST / work;
    self.past_rank = rank_without(sets, sets->rows - 1);
    self.rank = rank_without(sets, sets->rows);
    if (self.rank == self.past_rank) return false;
    for (size_t g = 0; g < sets->groups; g++) sets->left_out[g] = sets->size[g] <= most;
    const bool possible = grows(&self);
    for (size_t g = 0; g < sets->groups; g++) sets->left_out[g] = false;
    return possible && finds(&self, 0, most);
}

/* The different ones of the past sets, and the new one last. */
static size_t collect(const uint8_t *sets[TACIT_SETS_MOST + 1], const uint8_t *const *past, size_t count,
                      const uint8_t *now, size_t width) {
    size_t different = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < different && memcmp(sets[k], past[i], width) != 0) k++;
        if (k < different) continue;
        if (different == TACIT_SETS_MOST) return 0;
        sets[different++] = past[i];
    }
    sets[different] = now;
    return different + 1;
}

tacit_status tacit_sets_isolate(bool *out, const uint8_t *const *past, size_t count, const uint8_t *now,
                                size_t width, size_t most, tacit_error *error) {
    const uint8_t *sets[TACIT_SETS_MOST + 1];
    grouped groups = { .rows = 0 };
    const size_t rows = collect(sets, past, count, now, width);
    *out = rows == 0;
    if (rows <= 1) return TACIT_OK;
    tacit_status status;
    TACIT_CHECK(group(&groups, sets, rows, width, error));
    *out = search(&groups, most);
cleanup:
    clear_groups(&groups);
    return status;
}

tacit_status tacit_rows_isolate(bool *out, const tacit_row_list *past, size_t count, tacit_row_list now,
                                size_t most, tacit_error *error) {
    tacit_row_list lists[TACIT_SETS_MOST + 1];
    grouped groups = { .rows = 0 };
    bool whole = true;
    *out = count > TACIT_SETS_MOST;
    if (count == 0 || *out) return TACIT_OK;
    for (size_t i = 0; i < count; i++) lists[i] = past[i];
    lists[count] = now;
    tacit_status status = group_rows(&groups, lists, count + 1, &whole, error);
    if (status == TACIT_OK) *out = !whole || search(&groups, most);
    clear_groups(&groups);
    return status;
}

size_t tacit_rows_difference(const uint64_t *first, size_t first_count, const uint64_t *second,
                             size_t second_count) {
    size_t i = 0, k = 0, different = 0;
    while (i < first_count && k < second_count) {
        if (first[i] == second[k]) {
            i++;
            k++;
            continue;
        }
        if (first[i] < second[k])
            i++;
        else
            k++;
        different++;
    }
    return different + (first_count - i) + (second_count - k);
}
