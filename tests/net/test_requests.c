/* Requests and answers: sizes, arguments, and clients that take their time. */
#include "service.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/clock.h"
#include "tls.h"

/* Short enough to wait for, long enough for a handshake on a busy machine. */
enum { SHORT_MS = 3000 }; /* long enough for an honest request on a busy machine */

typedef struct stage {
    world here;
    service all;
    party alice;
    tacit_client *client;
} stage;

static void stage_open(stage *on, const tacit_server_settings *settings) {
    world_open(&on->here);
    party_join_now(&on->alice, &on->here, "alice");
    service_start(&on->all, &on->here, settings);
    on->client = client_for(&on->here, &on->alice, service_port(&on->all));
}

static void stage_close(stage *on) {
    tacit_client_free(on->client);
    service_stop(&on->all);
    world_close(&on->here);
}

static void expect(stage *on, const char *method, const char *path, const char *body, unsigned wanted_status,
                   const char *wanted) {
    unsigned status = 0;
    tacit_buffer response = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(ask(on->client, method, path, body, &status, &response, &error), error);
    assert_int_equal(status, wanted_status);
    if (wanted != NULL) assert_string_equal(tacit_buffer_text(&response), wanted);
    tacit_buffer_clear(&response);
}

static void requests_and_answers_arrive_whole(void **state) {
    (void)state;
    stage on;
    stage_open(&on, NULL);
    expect(&on, "GET", "/argument?x=a%20b%26c", NULL, 200, "a b&c");
    expect(&on, "GET", "/argument?y=1", NULL, 200, "(none)");
    expect(&on, "GET", "/missing", NULL, 404, "no such page");
    expect(&on, "GET", "/nothing", NULL, 500, "no answer");
    expect(&on, "POST", "/echo", "", 200, "");
    expect(&on, "PUT", "/echo", "short", 200, "short");
    expect(&on, "DELETE", "/hello", NULL, 200, "alice");
    expect(&on, "HEAD", "/hello", NULL, 200, "");
    for (size_t length = 1; length < 1 << 20; length = length * 5 + 3) {
        char *body = malloc(length + 1);
        for (size_t i = 0; i < length; i++) body[i] = (char)('a' + i % 26);
        body[length] = 0;
        expect(&on, "POST", "/echo", body, 200, body);
        free(body);
    }
    stage_close(&on);
}

static void an_oversized_body_gets_413_unread(void **state) {
    (void)state;
    stage on;
    tacit_server_settings settings = tacit_server_defaults();
    settings.body_limit = 1000;
    stage_open(&on, &settings);
    const size_t lengths[] = { 1000, 1001, 70000, 3000000 };
    for (size_t i = 0; i < 4; i++) {
        char *body = malloc(lengths[i] + 1);
        memset(body, 'x', lengths[i]);
        body[lengths[i]] = 0;
        expect(&on, "POST", "/echo", body, lengths[i] <= 1000 ? 200 : 413, NULL);
        free(body);
    }
    assert_int_equal(service_read(&on.all, &on.all.handled), 1);
    assert_true(on.all.largest_body <= 1000);
    stage_close(&on);
}

static void a_body_that_only_announces_itself_is_refused_at_once(void **state) {
    (void)state;
    stage on;
    stage_open(&on, NULL);
    tls raw;
    char answer[600];
    assert_int_equal(tls_open(&raw, service_port(&on.all), &on.alice, NULL), 0);
    tls_send(&raw, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 123456789012345\r\n\r\n");
    tls_read_all(&raw, answer, sizeof answer);
    assert_non_null(strstr(answer, "413"));
    tls_vanish(&raw);
    /* Without a length there is no early decision. */
    assert_int_equal(tls_open(&raw, service_port(&on.all), &on.alice, NULL), 0);
    tls_send(&raw, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n");
    tls_read_all(&raw, answer, sizeof answer);
    assert_non_null(strstr(answer, "411"));
    tls_vanish(&raw);
    assert_int_equal(service_read(&on.all, &on.all.handled), 0);
    stage_close(&on);
}

static void garbage_does_no_harm(void **state) {
    (void)state;
    stage on;
    stage_open(&on, NULL);
    const char *lines[] = {
        "\r\n\r\n\r\n\r\n",
        "nonsense\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "GET /%00%ff%zz?%=&&=x HTTP/1.1\r\nHost: x\r\n\r\n"
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        tls raw;
        assert_int_equal(tls_open(&raw, service_port(&on.all), &on.alice, NULL), 0);
        tls_send(&raw, lines[i]);
        tls_vanish(&raw);
    }
    expect(&on, "GET", "/hello", NULL, 200, "alice");
    stage_close(&on);
}

/* A client that never finishes, a byte at a time, so that it is never idle for long. */
static void a_slow_request_is_dropped(void **state) {
    (void)state;
    stage on;
    tacit_server_settings settings = tacit_server_defaults();
    settings.request_ms = SHORT_MS;
    stage_open(&on, &settings);
    tls raw;
    assert_int_equal(tls_open(&raw, service_port(&on.all), &on.alice, NULL), 0);
    tls_send(&raw, "GET /hello HTTP/1.1\r\nX: ");
    int64_t start = tacit_clock_monotonic_ms();
    gnutls_record_set_timeout(raw.session, 50);
    ssize_t code = 1;
    while (code > 0 && tacit_clock_monotonic_ms() - start < SERVICE_DEADLINE_MS) {
        char byte;
        code = gnutls_record_send(raw.session, "x", 1);
        if (code <= 0) break;
        code = gnutls_record_recv(raw.session, &byte, 1); /* 50 ms, or the end */
        if (code == GNUTLS_E_TIMEDOUT || code == GNUTLS_E_AGAIN) code = 1;
    }
    assert_true(code <= 0);
    service_await(&on.all, &on.all.dropped, 1);
    tls_vanish(&raw);
    assert_int_equal(service_read(&on.all, &on.all.handled), 0);
    /* The others are served. */
    expect(&on, "GET", "/hello", NULL, 200, "alice");
    stage_close(&on);
}

static void a_slow_body_and_a_silent_handshake_are_dropped(void **state) {
    (void)state;
    stage on;
    tacit_server_settings settings = tacit_server_defaults();
    settings.request_ms = SHORT_MS;
    settings.pace = 100000;
    stage_open(&on, &settings);
    tls raw;
    char answer[100];
    assert_int_equal(tls_open(&raw, service_port(&on.all), &on.alice, NULL), 0);
    tls_send(&raw, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nonly this");
    assert_int_equal(tls_read_all(&raw, answer, sizeof answer), 0);
    service_await(&on.all, &on.all.dropped, 1);
    tls_vanish(&raw);
    /* Not even a TLS handshake. */
    int silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(service_port(&on.all)) };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(silent, (struct sockaddr *)&address, sizeof address), 0);
    assert_true(recv(silent, answer, sizeof answer, 0) <= 0);
    close(silent);
    service_await(&on.all, &on.all.dropped, 2);
    stage_close(&on);
}

static void a_client_that_does_not_take_its_answer_is_dropped(void **state) {
    (void)state;
    stage on;
    tacit_server_settings settings = tacit_server_defaults();
    settings.request_ms = SHORT_MS;
    settings.pace = 1 << 30;
    stage_open(&on, &settings);
    tls raw;
    assert_int_equal(tls_open(&raw, service_port(&on.all), &on.alice, NULL), 0);
    tls_send(&raw, "GET /large?bytes=50000000 HTTP/1.1\r\nHost: x\r\n\r\n"); /* more than sockets buffer */
    service_await(&on.all, &on.all.dropped, 1);
    tls_vanish(&raw);
    expect(&on, "GET", "/hello", NULL, 200, "alice");
    stage_close(&on);
}

static void an_idle_connection_is_closed_and_the_client_does_not_notice(void **state) {
    (void)state;
    stage on;
    tacit_server_settings settings = tacit_server_defaults();
    settings.request_ms = SHORT_MS;
    stage_open(&on, &settings);
    tls idle;
    char end[10];
    expect(&on, "GET", "/hello", NULL, 200, "alice");
    /* Opened later, so when this one is closed the client's was, too. */
    assert_int_equal(tls_open(&idle, service_port(&on.all), &on.alice, NULL), 0);
    tls_send(&idle, "HEAD /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    while (tls_read_all(&idle, end, sizeof end) > 0) {
    }
    expect(&on, "GET", "/hello", NULL, 200, "alice");
    tls_vanish(&idle);
    stage_close(&on);
}

static void a_client_finds_a_server_that_was_restarted(void **state) {
    (void)state;
    stage on;
    stage_open(&on, NULL);
    expect(&on, "GET", "/hello", NULL, 200, "alice");
    tacit_server_settings settings = tacit_server_defaults();
    settings.port = service_port(&on.all); /* ephemeral, and free again a moment ago */
    service_stop(&on.all);
    service_start(&on.all, &on.here, &settings);
    expect(&on, "GET", "/hello", NULL, 200, "alice");
    stage_close(&on);
}

static void one_address_may_hold_only_so_many_connections(void **state) {
    (void)state;
    stage on;
    tacit_server_settings settings = tacit_server_defaults();
    settings.address_limit = 2;
    stage_open(&on, &settings);
    tls held[2], further;
    for (int i = 0; i < 2; i++)
        assert_int_equal(tls_open(&held[i], service_port(&on.all), &on.alice, NULL), 0);
    assert_true(tls_open(&further, service_port(&on.all), &on.alice, NULL) < 0);
    tls_vanish(&further);
    for (int i = 0; i < 2; i++) tls_vanish(&held[i]);
    stage_close(&on);
}

static void unusable_settings_and_addresses_are_refused(void **state) {
    (void)state;
    stage on;
    stage_open(&on, NULL);
    tacit_server *server = NULL;
    tacit_server_callbacks callbacks = { .handle = NULL };
    tacit_server_settings settings = tacit_server_defaults();
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_server_start(&server, &on.here.identity, &settings, &callbacks, &error),
                     TACIT_USAGE);
    callbacks.handle = (void (*)(void *, tacit_exchange *))abort; /* never called */
    settings.address = "example.org";
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_server_start(&server, &on.here.identity, &settings, &callbacks, &error),
                     TACIT_USAGE);
    settings.address = "127.0.0.1";
    settings.port = service_port(&on.all);
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_server_start(&server, &on.here.identity, &settings, &callbacks, &error),
                     TACIT_NETWORK);
    assert_non_null(strstr(error.text, "in use"));
    assert_null(server);
    assert_null(tacit_server_free(NULL));
    settings.port = 0;
    settings.address = "::1";
    settings.threads = 1;
    if (tacit_server_start(&server, &on.here.identity, &settings, &callbacks, NULL) ==
        TACIT_OK) /* has IPv6 */
        assert_int_not_equal(tacit_server_port(server), 0);
    tacit_server_free(server);
    stage_close(&on);
}

static void unused_handler(void *context, tacit_exchange *exchange) {
    (void)context;
    tacit_exchange_answer_text(exchange, 200, "here");
}

static void without_tls_only_loopback_is_served(void **state) {
    (void)state;
    static const char *const others[] = { "0.0.0.0", "::", "128.0.0.1", "10.0.0.1" };
    tacit_server *server = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_server_settings settings = tacit_server_defaults();
    tacit_server_callbacks callbacks = { .handle = unused_handler };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        settings.address = others[i];
        assert_int_equal(tacit_server_start(&server, NULL, &settings, &callbacks, &error), TACIT_USAGE);
        assert_non_null(strstr(error.text, "loopback"));
        assert_null(server);
    }
    settings.address = "127.0.0.1";
    CHECK_OK(tacit_server_start(&server, NULL, &settings, &callbacks, &error), error);
    assert_int_not_equal(tacit_server_port(server), 0);
    tacit_server_free(server);
}

static void the_file_limit_is_raised_only_when_asked(void **state) {
    (void)state;
    unsigned long now = tacit_file_limit_raise(0);
    assert_true(now > 0);
    assert_true(tacit_file_limit_raise(now + 1) >= now);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_and_answers_arrive_whole),
        cmocka_unit_test(an_oversized_body_gets_413_unread),
        cmocka_unit_test(a_body_that_only_announces_itself_is_refused_at_once),
        cmocka_unit_test(garbage_does_no_harm),
        cmocka_unit_test(a_slow_request_is_dropped),
        cmocka_unit_test(a_slow_body_and_a_silent_handshake_are_dropped),
        cmocka_unit_test(a_client_that_does_not_take_its_answer_is_dropped),
        cmocka_unit_test(an_idle_connection_is_closed_and_the_client_does_not_notice),
        cmocka_unit_test(a_client_finds_a_server_that_was_restarted),
        cmocka_unit_test(one_address_may_hold_only_so_many_connections),
        cmocka_unit_test(unusable_settings_and_addresses_are_refused),
        cmocka_unit_test(without_tls_only_loopback_is_served),
        cmocka_unit_test(the_file_limit_is_raised_only_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
