#include "data/measure/concordance.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

typedef struct timed {
    double time, score, entry;
    size_t rank; /* of the score among the distinct ones, from 1 */
    int event;
} timed;

static int by_score(const void *a, const void *b) {
    double x = ((const timed *)a)->score, y = ((const timed *)b)->score;
    return (x > y) - (x < y);
}

/* The latest first; at the same time those without the event, who had it later. */
static int by_time(const void *a, const void *b) {
    const timed *x = a, *y = b;
    if (x->time != y->time) return (x->time < y->time) - (x->time > y->time);
    return x->event - y->event;
}

/* The latest entry first. */
static int by_entry(const void *a, const void *b) {
    const timed *const *x = a, *const *y = b;
    return ((*x)->entry < (*y)->entry) - ((*x)->entry > (*y)->entry);
}

/* Counts of ranks that can be added up to any rank (Fenwick 1994); `by` is 1, or -1 modulo 2^64. */
static void count_rank(uint64_t *tree, size_t ranks, size_t rank, uint64_t by) {
    for (; rank <= ranks; rank += rank & -rank) tree[rank] += by;
}

static uint64_t up_to(const uint64_t *tree, size_t rank) {
    uint64_t sum = 0;
    for (; rank > 0; rank -= rank & -rank) sum += tree[rank];
    return sum;
}

static size_t rank_scores(timed *rows, size_t count) {
    size_t ranks = 0;
    qsort(rows, count, sizeof *rows, by_score);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || rows[i].score != rows[i - 1].score) ranks++;
        rows[i].rank = ranks;
    }
    return ranks;
}

tacit_status tacit_concordance(double *out, const double *response, size_t columns, const double *score,
                               size_t count, tacit_error *error) {
    timed *rows = TACIT_NEW(timed, count), **entries = TACIT_NEW(timed *, count);
    uint64_t *tree = TACIT_NEW(uint64_t, count + 1), later = 0;
    size_t left = 0; /* rows that are not observed yet at the time under way */
    long double pairs = 0, twice = 0;
    tacit_status status =
        rows != NULL && entries != NULL && tree != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t i = 0; i < count && status == TACIT_OK; i++) {
        if (isnan(score[i])) status = tacit_fail(error, TACIT_INPUT, "score %zu is not a number", i + 1);
        const double *y = response + columns * i;
        rows[i] = (timed){ y[0], score[i], columns > 2 ? y[2] : -INFINITY, 0, y[1] > 0 };
        entries[i] = &rows[i];
    }
    size_t ranks = status == TACIT_OK ? rank_scores(rows, count) : 0;
    if (status == TACIT_OK) qsort(rows, count, sizeof *rows, by_time);
    if (status == TACIT_OK && columns > 2) qsort(entries, count, sizeof(timed *), by_entry);
    for (size_t i = 0, end; i < count && status == TACIT_OK; i = end) {
        for (; left < count && entries[left]->entry >= rows[i].time; left++, later--)
            count_rank(tree, ranks, entries[left]->rank, UINT64_MAX);
        for (end = i; end < count && rows[end].time == rows[i].time; end++) { /* a time's rows */
            if (rows[end].event) continue;
            count_rank(tree, ranks, rows[end].rank, 1);
            later++;
        }
        for (size_t k = i; k < end; k++) {
            if (!rows[k].event) continue;
            uint64_t below = up_to(tree, rows[k].rank - 1), level = up_to(tree, rows[k].rank) - below;
            twice += 2 * (long double)below + (long double)level;
            pairs += (long double)later;
        }
        for (size_t k = i; k < end; k++) {
            if (!rows[k].event) continue;
            count_rank(tree, ranks, rows[k].rank, 1);
            later++;
        }
    }
    if (status == TACIT_OK) *out = pairs > 0 ? (double)(twice / 2 / pairs) : NAN;
    free(rows);
    free(entries);
    free(tree);
    return status;
}
