/* Ranks as threads: what they agree on, and that none waits for one that has failed. */
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/ranks.h"

enum { RANKS = 3, MOST = 8 };

/* A link over memory: everybody puts something down, waits, looks, waits. */
typedef struct table {
    pthread_barrier_t barrier;
    const void *given[RANKS];
} table;

typedef struct member {
    table *shared;
    tacit_ranks ranks;
    tacit_status status[2];
    tacit_error error;
    double sum[2];
    uint64_t count;
    tacit_buffer said[RANKS], heard;
} member;

static void put(member *self, const void *what) {
    self->shared->given[self->ranks.link.rank] = what;
    pthread_barrier_wait(&self->shared->barrier);
}

static void leave(member *self) { pthread_barrier_wait(&self->shared->barrier); }

static tacit_status most(void *context, uint64_t *values, size_t count, tacit_error *error) {
    member *self = context;
    uint64_t own[MOST];
    (void)error;
    memcpy(own, values, count * sizeof *own);
    put(self, own);
    for (size_t r = 0; r < RANKS; r++)
        for (size_t j = 0; j < count; j++) {
            uint64_t theirs = ((const uint64_t *)self->shared->given[r])[j];
            if (theirs > values[j]) values[j] = theirs;
        }
    leave(self);
    return TACIT_OK;
}

static tacit_status sum(void *context, double *values, size_t count, tacit_error *error) {
    member *self = context;
    double own[MOST];
    (void)error;
    memcpy(own, values, count * sizeof *own);
    memset(values, 0, count * sizeof *values);
    put(self, own);
    for (size_t r = 0; r < RANKS; r++)
        for (size_t j = 0; j < count; j++) values[j] += ((const double *)self->shared->given[r])[j];
    leave(self);
    return TACIT_OK;
}

static tacit_status sum_integers(void *context, uint64_t *values, size_t count, tacit_error *error) {
    member *self = context;
    uint64_t own[MOST];
    (void)error;
    memcpy(own, values, count * sizeof *own);
    put(self, own);
    for (size_t r = 0; r < RANKS && self->ranks.link.rank == 0; r++)
        for (size_t j = 0; j < count; j++)
            values[j] = (r > 0 ? values[j] : 0) + ((const uint64_t *)self->shared->given[r])[j];
    leave(self);
    return TACIT_OK;
}

static tacit_status spread(void *context, void *bytes, size_t length, size_t from, tacit_error *error) {
    member *self = context;
    (void)error;
    put(self, bytes);
    if (self->ranks.link.rank != from) memcpy(bytes, self->shared->given[from], length);
    leave(self);
    return TACIT_OK;
}

/* Rank 0 takes from one after the other; the rest keep their bytes down until it has. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static const void *handed[RANKS];

static tacit_status hand_in(void *context, const void *bytes, size_t length, tacit_error *error) {
    size_t rank = ((member *)context)->ranks.link.rank;
    (void)length;
    (void)error;
    pthread_mutex_lock(&mutex);
    handed[rank] = bytes;
    pthread_cond_broadcast(&moved);
    while (handed[rank] != NULL) pthread_cond_wait(&moved, &mutex);
    pthread_mutex_unlock(&mutex);
    return TACIT_OK;
}

static tacit_status take(void *context, size_t from, void *bytes, size_t length, tacit_error *error) {
    (void)context;
    (void)error;
    pthread_mutex_lock(&mutex);
    while (handed[from] == NULL) pthread_cond_wait(&moved, &mutex);
    memcpy(bytes, handed[from], length);
    handed[from] = NULL;
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&mutex);
    return TACIT_OK;
}

static void together(member members[RANKS], void *(*work)(void *)) {
    table shared;
    pthread_t threads[RANKS];
    pthread_barrier_init(&shared.barrier, NULL, RANKS);
    for (size_t r = 0; r < RANKS; r++) {
        members[r] = (member){ .shared = &shared, .error = TACIT_ERROR_INIT };
        members[r].ranks.link =
            (tacit_link){ r, RANKS, RANKS, &members[r], most, sum, sum_integers, spread, hand_in, take };
        assert_int_equal(pthread_create(&threads[r], NULL, work, &members[r]), 0);
    }
    for (size_t r = 0; r < RANKS; r++) pthread_join(threads[r], NULL);
    pthread_barrier_destroy(&shared.barrier);
}

static void *add_and_gather(void *context) {
    member *self = context;
    tacit_ranks *ranks = &self->ranks;
    size_t rank = tacit_ranks_own(ranks);
    tacit_buffer own = TACIT_BUFFER_INIT;
    self->sum[0] = (double)rank + 0.5;
    self->count = UINT64_MAX - rank; /* modulo 2^64 */
    tacit_ranks_sum(ranks, self->sum, 1, NULL);
    tacit_ranks_sum_integers(ranks, &self->count, 1, NULL);
    for (size_t i = 0; i < rank; i++) tacit_buffer_append(&own, "abc", 3, NULL); /* none of rank 0 */
    tacit_ranks_gather(ranks, &own, self->said, NULL);
    if (rank == 0) tacit_buffer_append(&self->heard, "to all", 7, NULL);
    tacit_ranks_spread(ranks, &self->heard, NULL);
    tacit_buffer_clear(&own);
    return NULL;
}

static void sums_and_bytes_come_together(void **state) {
    member members[RANKS];
    (void)state;
    together(members, add_and_gather);
    assert_true(members[0].count == UINT64_MAX - 5); /* -1 - 2 - 3 */
    for (size_t r = 0; r < RANKS; r++) {
        assert_true(members[r].sum[0] == 4.5);
        assert_string_equal(tacit_buffer_text(&members[r].heard), "to all");
        assert_int_equal(members[0].said[r].length, 3 * r);
    }
    assert_memory_equal(members[0].said[2].bytes, "abcabc", 6);
    for (size_t r = 0; r < RANKS; r++) {
        tacit_buffer_clear(&members[r].heard);
        tacit_buffer_clear(&members[0].said[r]);
    }
}

/* Ranks 1 and 2 fail between two calls, while rank 0 is in the next one; then they go on. */
static void *fail_and_go_on(void *context) {
    member *self = context;
    tacit_ranks *ranks = &self->ranks;
    if (tacit_ranks_own(ranks) > 0) {
        tacit_status status = tacit_fail(&self->error, TACIT_INPUT, "no rows here");
        self->status[0] = tacit_ranks_agree(ranks, status, &self->error);
    } else {
        self->status[0] = tacit_ranks_sum(ranks, self->sum, 1, &self->error);
        self->status[0] = tacit_ranks_agree(ranks, self->status[0], &self->error); /* does not wait */
    }
    tacit_ranks_go_on(ranks);
    self->sum[0] = 1;
    self->status[1] = tacit_ranks_sum(ranks, self->sum, 1, NULL);
    return NULL;
}

static void a_failure_of_one_is_that_of_all(void **state) {
    member members[RANKS];
    (void)state;
    together(members, fail_and_go_on);
    for (size_t r = 0; r < RANKS; r++) {
        assert_int_equal(members[r].status[0], TACIT_INPUT);
        assert_string_equal(members[r].error.text, "rank 1: no rows here");
        assert_int_equal(members[r].status[1], TACIT_OK);
        assert_true(members[r].sum[0] == RANKS);
    }
}

static void *lose_each_other(void *context) {
    member *self = context;
    self->status[0] = tacit_ranks_sum(&self->ranks, self->sum, self->ranks.link.rank == 1 ? 2 : 1, NULL);
    return NULL;
}

static void ranks_that_do_different_things_are_told(void **state) {
    member members[RANKS];
    (void)state;
    together(members, lose_each_other);
    for (size_t r = 0; r < RANKS; r++) assert_int_equal(members[r].status[0], TACIT_INTERNAL);
}

static void alone_every_call_returns_at_once(void **state) {
    double value = 2;
    tacit_buffer own = TACIT_BUFFER_INIT, out[1] = { TACIT_BUFFER_INIT };
    (void)state;
    assert_int_equal(tacit_ranks_count(NULL), 1);
    assert_int_equal(tacit_ranks_sum(NULL, &value, 1, NULL), TACIT_OK);
    assert_true(value == 2);
    assert_int_equal(tacit_ranks_agree(NULL, TACIT_REFUSED, NULL), TACIT_REFUSED);
    assert_int_equal(tacit_buffer_append(&own, "x", 1, NULL), TACIT_OK);
    assert_int_equal(tacit_ranks_gather(NULL, &own, out, NULL), TACIT_OK);
    assert_int_equal(out[0].length, 1);
    assert_int_equal(tacit_ranks_spread(NULL, &own, NULL), TACIT_OK);
    tacit_buffer_clear(&own);
    tacit_buffer_clear(out);
}

/* Never fewer than each rank has; rank 0 those of its machine, as far as there are processors. */
static void only_rank_0_leads_with_more_threads(void **state) {
    (void)state;
    tacit_ranks first = { .link = { .rank = 0, .count = 4, .beside = 4 } }, other = first;
    cpu_set_t bound;
    assert_int_equal(sched_getaffinity(0, sizeof bound, &bound), 0);
    unsigned processors = (unsigned)CPU_COUNT(&bound);
    other.link.rank = 3;
    for (unsigned threads = 1; threads <= processors + 1; threads++) {
        unsigned leading = tacit_ranks_leader_threads(&first, threads);
        unsigned wanted = 4 * threads < processors ? 4 * threads : processors;
        assert_int_equal(leading, wanted > threads ? wanted : threads);
        assert_int_equal(tacit_ranks_leader_threads(&other, threads), threads);
        assert_int_equal(tacit_ranks_leader_threads(NULL, threads), threads);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_rank_0_leads_with_more_threads),
        cmocka_unit_test(sums_and_bytes_come_together),
        cmocka_unit_test(a_failure_of_one_is_that_of_all),
        cmocka_unit_test(ranks_that_do_different_things_are_told),
        cmocka_unit_test(alone_every_call_returns_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
