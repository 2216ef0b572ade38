/* What bodies may take of memory and time, all together and each. */
#include "service.h"

#include <stdio.h>
#include <string.h>

#include "net/clock.h"
#include "tls.h"

enum { SHORT_MS = 3000 }; /* long enough for an honest request on a busy machine */

typedef struct stage {
    world here;
    service all;
    party alice;
} stage;

static void stage_open(stage *on, const tacit_server_settings *settings) {
    world_open(&on->here);
    party_join_now(&on->alice, &on->here, "alice");
    service_start(&on->all, &on->here, settings);
}

static void stage_close(stage *on) {
    service_stop(&on->all);
    world_close(&on->here);
}

/* Announce a body and wait until the server has decided: it says so before it reads any. */
static void announce(stage *on, tls *raw, const party *who, const char *path, size_t length,
                     const char *decision) {
    char request[200], answer[13];
    snprintf(request, sizeof request,
             "POST %s HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %zu\r\n\r\n", path,
             length);
    assert_int_equal(tls_open(raw, service_port(&on->all), who, NULL), 0);
    tls_send(raw, request);
    tls_read_all(raw, answer, sizeof answer);
    assert_string_equal(answer + sizeof "HTTP/1.1 " - 1, decision);
}

static void bodies_together_stay_within_the_budget(void **state) {
    (void)state;
    stage on;
    tacit_server_settings settings = tacit_server_defaults();
    settings.body_budget = 200000;
    stage_open(&on, &settings);
    tls first, second, third;
    announce(&on, &first, &on.alice, "/echo", 120000, "100");
    announce(&on, &second, &on.alice, "/echo", 90000, "503");
    announce(&on, &third, &on.alice, "/echo", 80000, "100");
    tls_vanish(&first);
    tls_vanish(&second);
    tls_vanish(&third);
    /* Once they are gone there is room again, even for one that is longer than the budget. */
    int64_t start = tacit_clock_monotonic_ms();
    char answer[13] = "";
    while (strstr(answer, "100") == NULL && tacit_clock_monotonic_ms() - start < SERVICE_DEADLINE_MS) {
        tls last;
        assert_int_equal(tls_open(&last, service_port(&on.all), &on.alice, NULL), 0);
        tls_send(&last,
                 "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 300000\r\n\r\n");
        tls_read_all(&last, answer, sizeof answer);
        tls_vanish(&last);
    }
    assert_non_null(strstr(answer, "100"));
    stage_close(&on);
}

static void strangers_take_no_room_from_parties(void **state) {
    (void)state;
    stage on;
    tacit_server_settings settings = tacit_server_defaults();
    settings.body_budget = 800000;
    stage_open(&on, &settings);
    tls first, second, third;
    announce(&on, &first, NULL, "/join", 90000, "100");
    announce(&on, &second, NULL, "/join", 90000, "503");
    announce(&on, &third, &on.alice, "/echo", 790000, "100");
    tls_vanish(&first);
    tls_vanish(&second);
    tls_vanish(&third);
    stage_close(&on);
}

static void a_second_request_of_a_peer_ends_the_first(void **state) {
    (void)state;
    stage on;
    tacit_server_settings settings = tacit_server_defaults();
    settings.one_at_a_time = true;
    stage_open(&on, &settings);
    tls first, second, waiting, again;
    char answer[13];
    announce(&on, &first, &on.alice, "/echo", 90000, "100");
    announce(&on, &second, &on.alice, "/echo", 90000, "100");
    while (tls_read_all(&first, answer, sizeof answer) > 0) {
    } /* the rest of "100 Continue", and the end */
    tls_vanish(&first);
    tls_vanish(&second);
    assert_int_equal(tls_open(&waiting, service_port(&on.all), &on.alice, NULL), 0);
    tls_send(&waiting, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    service_await(&on.all, &on.all.suspended, 1);
    assert_int_equal(tls_open(&again, service_port(&on.all), &on.alice, NULL), 0);
    tls_send(&again, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    tls_read_all(&waiting, answer, sizeof answer);
    assert_non_null(strstr(answer, "204"));
    service_await(&on.all, &on.all.abandoned, 1); /* out of the line by then */
    service_await(&on.all, &on.all.suspended, 2);
    assert_true(complete_text(service_take(&on.all), "news"));
    tls_read_all(&again, answer, sizeof answer);
    assert_non_null(strstr(answer, "200"));
    tls_vanish(&waiting);
    tls_vanish(&again);
    stage_close(&on);
}

/* At the pace it would have 500 seconds in all, but each second must bring its bytes. */
static void a_body_that_stalls_is_dropped_long_before_its_end(void **state) {
    (void)state;
    stage on;
    tacit_server_settings settings = tacit_server_defaults();
    settings.request_ms = SHORT_MS;
    settings.pace = 100000;
    settings.body_ms = 600000;
    settings.body_limit = 50000000;
    stage_open(&on, &settings);
    tls raw;
    announce(&on, &raw, &on.alice, "/echo", 50000000, "100");
    tls_send(&raw, "only this");
    service_await(&on.all, &on.all.dropped, 1);
    tls_vanish(&raw);
    stage_close(&on);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_together_stay_within_the_budget),
        cmocka_unit_test(strangers_take_no_room_from_parties),
        cmocka_unit_test(a_second_request_of_a_peer_ends_the_first),
        cmocka_unit_test(a_body_that_stalls_is_dropped_long_before_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
