/* Long polls: answered later, too late, never; clients and servers that leave in between. */
#include "service.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/clock.h"
#include "tls.h"

typedef struct stage {
    world here;
    service all;
    party alice;
} stage;

static void stage_open(stage *on, unsigned suspend_ms) {
    tacit_server_settings settings = tacit_server_defaults();
    settings.suspend_ms = suspend_ms;
    world_open(&on->here);
    party_join_now(&on->alice, &on->here, "alice");
    service_start(&on->all, &on->here, &settings);
}

static void stage_close(stage *on) {
    service_stop(&on->all);
    world_close(&on->here);
}

/* One client on a thread of its own. */
typedef struct poller {
    pthread_t thread;
    tacit_client *client;
    const char *path;
    tacit_status result;
    unsigned status;
    tacit_buffer response;
    tacit_error error;
} poller;

static void *poll_once(void *context) {
    poller *one = context;
    one->result = ask(one->client, "GET", one->path, NULL, &one->status, &one->response, &one->error);
    return NULL;
}

static void poller_start(poller *one, stage *on, const char *path) {
    *one = (poller){ .path = path, .client = client_for(&on->here, &on->alice, service_port(&on->all)) };
    assert_int_equal(pthread_create(&one->thread, NULL, poll_once, one), 0);
}

static void poller_join(poller *one) { assert_int_equal(pthread_join(one->thread, NULL), 0); }

static void poller_free(poller *one) {
    tacit_client_free(one->client);
    tacit_buffer_clear(&one->response);
}

static void a_poll_is_answered_from_another_thread(void **state) {
    (void)state;
    stage on;
    stage_open(&on, 25000);
    poller one;
    poller_start(&one, &on, "/wait");
    tacit_exchange *exchange = service_take(&on.all);
    assert_string_equal(tacit_exchange_peer(exchange)->name, "alice");
    assert_string_equal(tacit_exchange_path(exchange), "/wait");
    assert_null(tacit_exchange_argument(exchange, "ms")); /* the connection is not ours to touch */
    assert_true(complete_text(exchange, "news"));
    poller_join(&one);
    CHECK_OK(one.result, one.error);
    assert_int_equal(one.status, 200);
    assert_string_equal(tacit_buffer_text(&one.response), "news");
    assert_int_equal(service_read(&on.all, &on.all.abandoned), 0);
    poller_free(&one);
    stage_close(&on);
}

static void a_poll_that_no_one_answers_ends_with_204(void **state) {
    (void)state;
    stage on;
    stage_open(&on, 25000);
    for (int i = 0; i < 2; i++) {
        poller one;
        int64_t start = tacit_clock_monotonic_ms();
        poller_start(&one, &on, "/wait?ms=60");
        service_await(&on.all, &on.all.abandoned, 1u + (unsigned)i);
        poller_join(&one);
        CHECK_OK(one.result, one.error);
        assert_int_equal(one.status, 204);
        assert_int_equal(one.response.length, 0);
        assert_true(tacit_clock_monotonic_ms() - start >= 60);
        poller_free(&one);
    }
    assert_int_equal(on.all.abandoned, 2);
    assert_int_equal(on.all.waiting, 0);
    stage_close(&on);
}

static void the_longest_suspension_is_the_servers(void **state) {
    (void)state;
    stage on;
    stage_open(&on, 50);
    poller one;
    poller_start(&one, &on, "/wait?ms=99999999");
    poller_join(&one);
    CHECK_OK(one.result, one.error);
    assert_int_equal(one.status, 204);
    service_await(&on.all, &on.all.abandoned, 1);
    poller_free(&one);
    stage_close(&on);
}

static void completing_too_late_does_nothing_but_release(void **state) {
    (void)state;
    stage on;
    stage_open(&on, 25000);
    poller one;
    poller_start(&one, &on, "/wait?ms=30");
    tacit_exchange *exchange = service_take(&on.all);
    service_await(&on.all, &on.all.abandoned, 1);
    assert_false(complete_text(exchange, "too late"));
    poller_join(&one);
    assert_int_equal(one.status, 204);
    poller_free(&one);
    stage_close(&on);
}

static void releasing_without_an_answer_ends_with_204(void **state) {
    (void)state;
    stage on;
    stage_open(&on, 25000);
    poller one;
    poller_start(&one, &on, "/wait");
    assert_null(tacit_exchange_release(service_take(&on.all)));
    assert_null(tacit_exchange_release(NULL));
    poller_join(&one);
    CHECK_OK(one.result, one.error);
    assert_int_equal(one.status, 204);
    assert_int_equal(service_read(&on.all, &on.all.abandoned), 0);
    poller_free(&one);
    stage_close(&on);
}

enum { MANY = 200 };

/* One answer shared by all, of which some are sent more, freed once the last is through with it. */
typedef struct shared_answer {
    atomic_uint done;
    char bytes[10000], rest[100000];
} shared_answer;

static void count_done(void *context) { atomic_fetch_add(&((shared_answer *)context)->done, 1); }

static void many_polls_wait_on_few_threads(void **state) {
    (void)state;
    stage on;
    stage_open(&on, 25000);
    static shared_answer shared;
    atomic_init(&shared.done, 0);
    memset(shared.bytes, 's', sizeof shared.bytes);
    for (size_t i = 0; i < sizeof shared.rest; i++) shared.rest[i] = (char)(i * 7 >> 3);
    poller *all = calloc(MANY, sizeof *all);
    for (size_t i = 0; i < MANY; i++) poller_start(&all[i], &on, "/wait");
    service_await(&on.all, &on.all.suspended, MANY); /* all at once */
    tacit_http_answer answer = { .status = 200,
                                 .bytes = shared.bytes,
                                 .length = sizeof shared.bytes,
                                 .done = count_done,
                                 .done_context = &shared };
    size_t longer = 0;
    for (size_t i = 0; i < MANY; i++) {
        answer.rest = i % 2 > 0 ? shared.rest : NULL;
        answer.rest_length = i % 2 > 0 ? sizeof shared.rest : 0;
        assert_true(tacit_exchange_complete(service_take(&on.all), &answer));
    }
    for (size_t i = 0; i < MANY; i++) {
        poller_join(&all[i]);
        CHECK_OK(all[i].result, all[i].error);
        assert_int_equal(all[i].status, 200);
        const tacit_buffer *got = &all[i].response;
        const bool is_longer = got->length > sizeof shared.bytes;
        assert_int_equal(got->length, sizeof shared.bytes + (is_longer ? sizeof shared.rest : 0));
        assert_memory_equal(got->bytes, shared.bytes, sizeof shared.bytes);
        if (is_longer) assert_memory_equal(got->bytes + sizeof shared.bytes, shared.rest, sizeof shared.rest);
        longer += is_longer;
        poller_free(&all[i]);
    }
    assert_int_equal(longer, MANY / 2);
    free(all);
    stage_close(&on);
    assert_int_equal(atomic_load(&shared.done), MANY);
}

static void a_client_may_vanish_while_it_is_suspended(void **state) {
    (void)state;
    stage on;
    stage_open(&on, 25000);
    tls raw;
    /* Completed after it has gone, and timed out after it has gone. */
    assert_int_equal(tls_open(&raw, service_port(&on.all), &on.alice, NULL), 0);
    tls_send(&raw, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    tacit_exchange *exchange = service_take(&on.all);
    tls_vanish(&raw);
    assert_true(complete_text(exchange, "to no one"));
    assert_int_equal(tls_open(&raw, service_port(&on.all), &on.alice, NULL), 0);
    tls_send(&raw, "GET /wait?ms=30 HTTP/1.1\r\nHost: x\r\n\r\n");
    service_await(&on.all, &on.all.suspended, 2);
    tls_vanish(&raw);
    service_await(&on.all, &on.all.abandoned, 1);
    poller one;
    poller_start(&one, &on, "/hello");
    poller_join(&one);
    CHECK_OK(one.result, one.error);
    assert_int_equal(one.status, 200);
    poller_free(&one);
    stage_close(&on);
}

static void stopping_ends_what_is_suspended(void **state) {
    (void)state;
    stage on;
    stage_open(&on, 100000);
    enum { FEW = 8 };
    poller all[FEW];
    for (size_t i = 0; i < FEW; i++) poller_start(&all[i], &on, "/wait");
    service_await(&on.all, &on.all.suspended, FEW);
    tacit_exchange *taken = service_take(&on.all); /* its owner is slow, and outlives the server */
    int64_t start = tacit_clock_monotonic_ms();
    tacit_server_free(on.all.server);
    on.all.server = NULL;
    assert_true(tacit_clock_monotonic_ms() - start < 50000);
    assert_int_equal(service_read(&on.all, &on.all.abandoned), FEW);
    assert_int_equal(on.all.waiting, 0);
    assert_string_equal(tacit_exchange_peer(taken)->name, "alice");
    assert_false(complete_text(taken, "after the end"));
    for (size_t i = 0; i < FEW; i++) {
        poller_join(&all[i]);
        CHECK_OK(all[i].result, all[i].error);
        assert_int_equal(all[i].status, 503);
        poller_free(&all[i]);
    }
    stage_close(&on);
}

/* Owner, timer and shutdown all reach for the same exchanges: exactly one wins each. */
typedef struct race {
    stage on;
    atomic_bool stop;
    atomic_uint won;
} race;

static void *complete_what_comes(void *context) {
    race *all = context;
    service *from = &all->on.all;
    while (!atomic_load(&all->stop)) {
        pthread_mutex_lock(&from->mutex);
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += 1;
        while (from->waiting == 0 && !atomic_load(&all->stop))
            if (pthread_cond_timedwait(&from->changed, &from->mutex, &until) != 0) break;
        tacit_exchange *taken = from->waiting != 0 ? from->line[--from->waiting] : NULL;
        pthread_mutex_unlock(&from->mutex);
        if (taken != NULL && complete_text(taken, "raced")) atomic_fetch_add(&all->won, 1);
    }
    return NULL;
}

static void *poll_until_stopped(void *context) {
    race *all = context;
    tacit_client *client = client_for(&all->on.here, &all->on.alice, service_port(&all->on.all));
    for (unsigned i = 0; !atomic_load(&all->stop); i++) {
        unsigned status;
        if (ask(client, "GET", i % 2 == 0 ? "/wait?ms=1" : "/wait?ms=20", NULL, &status, NULL, NULL) !=
            TACIT_OK)
            break;
    }
    tacit_client_free(client);
    return NULL;
}

static void owner_timer_and_shutdown_never_answer_twice(void **state) {
    (void)state;
    enum { POLLERS = 6, OWNERS = 2, ENOUGH = 300 };
    static race all;
    all = (race){ .stop = false };
    stage_open(&all.on, 25000);
    pthread_t threads[POLLERS + OWNERS];
    for (size_t i = 0; i < POLLERS + OWNERS; i++)
        pthread_create(&threads[i], NULL, i < POLLERS ? poll_until_stopped : complete_what_comes, &all);
    service_await(&all.on.all, &all.on.all.suspended, ENOUGH);
    tacit_server_free(all.on.all.server); /* in the middle of it */
    all.on.all.server = NULL;
    pthread_mutex_lock(&all.on.all.mutex);
    atomic_store(&all.stop, true);
    pthread_cond_broadcast(&all.on.all.changed);
    pthread_mutex_unlock(&all.on.all.mutex);
    for (size_t i = 0; i < POLLERS + OWNERS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(all.on.all.waiting, 0);
    assert_int_equal(all.on.all.suspended, atomic_load(&all.won) + all.on.all.abandoned);
    stage_close(&all.on);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_poll_is_answered_from_another_thread),
        cmocka_unit_test(a_poll_that_no_one_answers_ends_with_204),
        cmocka_unit_test(the_longest_suspension_is_the_servers),
        cmocka_unit_test(completing_too_late_does_nothing_but_release),
        cmocka_unit_test(releasing_without_an_answer_ends_with_204),
        cmocka_unit_test(many_polls_wait_on_few_threads),
        cmocka_unit_test(a_client_may_vanish_while_it_is_suspended),
        cmocka_unit_test(stopping_ends_what_is_suspended),
        cmocka_unit_test(owner_timer_and_shutdown_never_answer_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
