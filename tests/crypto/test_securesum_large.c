/* A thousand parties, vectors of 100,000, a tenth of the parties vanishing, some at every step. */
#include "world.h"

enum { PARTIES = 1000, LENGTH = 100000, GROUP = 50 };

/* Parties first .. first + GROUP - 1 answer together; so that only their vectors are held at a time. */
typedef struct group {
    world *here;
    tacit_securesum_step step;
    uint32_t first;
} group;

/* Made from the party's number when they are needed: all at once would take 800 MB. */
static void values_of(int64_t *out, uint32_t party) {
    tacit_stream root = tacit_stream_from_seed(99), stream = tacit_stream_fork(&root, "values", party, 0);
    tacit_stream_bytes(&stream, out, LENGTH * sizeof *out);
}

static tacit_status answer_one(world *here, tacit_securesum_step step, uint32_t i, tacit_error *error) {
    tacit_buffer question = TACIT_BUFFER_INIT;
    int64_t *values = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_securesum_server_question(here->server, i, &question, error));
    if (step == TACIT_SUM_MASK) {
        values = TACIT_NEW(int64_t, LENGTH);
        if (values == NULL) TACIT_CHECK(tacit_fail_memory(error));
        values_of(values, i);
        TACIT_CHECK(tacit_securesum_party_mask(here->party[i], question.bytes, question.length, values,
                                               &here->answers[i], error));
    } else {
        TACIT_CHECK(world_answer(here, i, step, &question, &here->answers[i], error));
    }
cleanup:
    free(values);
    tacit_buffer_clear(&question);
    return status;
}

static tacit_status answer_some(void *context, size_t begin, size_t end, unsigned worker,
                                tacit_error *error) {
    const group *self = context;
    (void)worker;
    for (size_t i = self->first + begin; i < self->first + end; i++)
        if (world_due(self->here, (uint32_t)i))
            TACIT_TRY(answer_one(self->here, self->step, (uint32_t)i, error));
    return TACIT_OK;
}

static void take_step(world *here, tacit_pool *pool) {
    group self = { .here = here, .step = tacit_securesum_server_step(here->server) };
    tacit_error error = TACIT_ERROR_INIT;
    for (self.first = 0; self.first < PARTIES; self.first += GROUP) {
        CHECK_OK(tacit_pool_for(pool, GROUP, 1, answer_some, &self, &error), error);
        for (uint32_t i = self.first; i < self.first + GROUP; i++) {
            tacit_buffer *answer = &here->answers[i];
            if (!world_due(here, i)) continue;
            CHECK_OK(tacit_securesum_server_receive(here->server, i, answer->bytes, answer->length, &error),
                     error);
            tacit_buffer_clear(answer);
        }
    }
    CHECK_OK(tacit_securesum_server_close(here->server, &error), error);
}

/* A tenth of the parties, spread over the steps. */
static void choose_who_vanishes(world *here) {
    size_t order[PARTIES];
    tacit_stream_permutation(&here->stream, order, PARTIES);
    for (size_t i = 0; i < PARTIES / 10; i++) here->vanishes[order[i]] = (int)(i % TACIT_SUM_OPENED);
}

static void a_thousand_parties_with_a_tenth_vanishing_sum_right(void **state) {
    (void)state;
    tacit_graph_assumption given = tacit_graph_assumption_default(PARTIES);
    tacit_graph_shape shape;
    tacit_pool *pool = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    world here;
    CHECK_OK(tacit_graph_plan(&shape, &given, &error), error);
    CHECK_OK(tacit_pool_create(&pool, 0, &error), error);
    world_begin_with(&here, shape, LENGTH, 20260, pool, false);
    choose_who_vanishes(&here);
    while (tacit_securesum_server_step(here.server) < TACIT_SUM_OPENED) take_step(&here, pool);
    uint64_t *expected = calloc(LENGTH, sizeof *expected);
    int64_t *values = calloc(LENGTH, sizeof *values);
    uint32_t survivors = 0;
    for (uint32_t i = 0; i < PARTIES; i++) {
        bool survived = tacit_securesum_server_survived(here.server, i);
        assert_int_equal(survived, here.vanishes[i] > TACIT_SUM_MASK);
        survivors += survived;
        if (!survived) continue;
        values_of(values, i);
        for (size_t j = 0; j < LENGTH; j++) expected[j] += (uint64_t)values[j];
    }
    assert_int_equal(survivors, PARTIES - 60);
    assert_memory_equal(tacit_securesum_server_sum(here.server), expected, LENGTH * sizeof *expected);
    free(expected);
    free(values);
    world_end(&here);
    tacit_pool_free(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        a_thousand_parties_with_a_tenth_vanishing_sum_right) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
