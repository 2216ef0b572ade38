/* Who may come in, and what the others are told. */
#include "service.h"

#include <string.h>
#include <time.h>

#include "base/file.h"
#include "tls.h"

/* The wall clock of this program runs ahead by this many seconds; GnuTLS has its own view. */
static _Atomic int64_t ahead;

int __real_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

int __wrap_clock_gettime(clockid_t clock, struct timespec *out) {
    int status = __real_clock_gettime(clock, out);
    if (status == 0 && clock == CLOCK_REALTIME) out->tv_sec += ahead;
    return status;
}

static void expect_refused(service *all, tacit_client *client, tacit_standing standing, const char *words) {
    unsigned status = 0, before = service_read(all, &all->refused),
             handled = service_read(all, &all->handled);
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(ask(client, "GET", "/hello", NULL, &status, NULL, &error), TACIT_NETWORK);
    if (tacit_client_last_failure(client) != TACIT_CLIENT_REFUSED) fail_msg("%s", error.text);
    if (strstr(error.text, words) == NULL) fail_msg("\"%s\" does not say \"%s\"", error.text, words);
    assert_non_null(strstr(error.text, "refused our certificate"));
    assert_int_equal(service_read(all, &all->refused), before + 1);
    assert_int_equal(service_read(all, &all->handled), handled);
    assert_int_equal(all->last_standing, standing);
}

static void a_good_client_is_let_in_by_name(void **state) {
    (void)state;
    world here;
    service all;
    party alice;
    world_open(&here);
    party_join_now(&alice, &here, "alice");
    service_start(&all, &here, NULL);
    tacit_client *client = client_for(&here, &alice, service_port(&all));
    tacit_error error = TACIT_ERROR_INIT;
    for (int i = 0; i < 3; i++) {
        unsigned status = 0;
        tacit_buffer response = TACIT_BUFFER_INIT;
        CHECK_OK(ask(client, "GET", "/hello", NULL, &status, &response, &error), error);
        assert_int_equal(status, 200);
        assert_string_equal(tacit_buffer_text(&response), "alice");
        tacit_buffer_clear(&response);
    }
    assert_int_equal(service_read(&all, &all.refused), 0);
    tacit_client_free(client);
    service_stop(&all);
    world_close(&here);
}

static void no_certificate_is_refused_except_on_open_paths(void **state) {
    (void)state;
    world here;
    service all;
    world_open(&here);
    service_start(&all, &here, NULL);
    tacit_client *client = client_for(&here, NULL, service_port(&all));
    expect_refused(&all, client, TACIT_STANDING_NO_CERTIFICATE, "join first");
    assert_string_equal(all.last_fingerprint, "");
    unsigned status = 0;
    tacit_buffer response = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(ask(client, "GET", "/join", NULL, &status, &response, &error), error);
    assert_int_equal(status, 200);
    assert_string_equal(tacit_buffer_text(&response), ""); /* no name without a certificate */
    tacit_buffer_clear(&response);
    tacit_client_free(client);
    service_stop(&all);
    world_close(&here);
}

static void a_foreign_certificate_is_refused_and_names_no_one(void **state) {
    (void)state;
    world here;
    service all;
    party mallory;
    world_open(&here);
    tacit_authority *foreign = world_foreign_authority(&here);
    party_join(&mallory, &here, foreign, "alice", validity_now());
    service_start(&all, &here, NULL);
    tacit_client *client = client_for(&here, &mallory, service_port(&all));
    expect_refused(&all, client, TACIT_STANDING_FOREIGN, "not issued by this coordinator");
    assert_string_equal(all.last_fingerprint, mallory.info.fingerprint);
    assert_string_equal(all.last_name, "");
    unsigned status = 0;
    tacit_buffer response = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(ask(client, "GET", "/join", NULL, &status, &response, &error), error);
    assert_string_equal(tacit_buffer_text(&response), "");
    tacit_buffer_clear(&response);
    tacit_client_free(client);
    tacit_authority_free(foreign);
    service_stop(&all);
    world_close(&here);
}

static void an_expired_or_future_certificate_is_refused(void **state) {
    (void)state;
    world here;
    service all;
    party late, early;
    world_open(&here);
    tacit_validity future = { validity_now().until, validity_now().until + 86400 };
    party_join(&late, &here, here.authority, "late", validity_past());
    party_join(&early, &here, here.authority, "early", future);
    service_start(&all, &here, NULL);
    const party *both[] = { &late, &early };
    for (int i = 0; i < 2; i++) {
        tacit_client *client = client_for(&here, both[i], service_port(&all));
        expect_refused(&all, client, TACIT_STANDING_EXPIRED, "expired or is not valid yet");
        assert_string_equal(all.last_name, both[i]->info.name);
        tacit_client_free(client);
    }
    service_stop(&all);
    world_close(&here);
}

static void a_connection_does_not_outlive_its_certificate(void **state) {
    (void)state;
    world here;
    service all;
    party bob;
    world_open(&here);
    party_join_now(&bob, &here, "bob");
    service_start(&all, &here, NULL);
    tacit_client *client = client_for(&here, &bob, service_port(&all));
    unsigned status = 0;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(ask(client, "GET", "/hello", NULL, &status, NULL, &error), error);
    ahead = bob.info.valid_until - bob.info.valid_from + 86400;
    expect_refused(&all, client, TACIT_STANDING_EXPIRED, "expired or is not valid yet");
    ahead = 0;
    tacit_client_free(client);
    service_stop(&all);
    world_close(&here);
}

static void revoking_works_on_an_open_connection(void **state) {
    (void)state;
    world here;
    service all;
    party bob;
    world_open(&here);
    party_join_now(&bob, &here, "bob");
    service_start(&all, &here, NULL);
    tacit_client *client = client_for(&here, &bob, service_port(&all));
    unsigned status = 0;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(ask(client, "GET", "/hello", NULL, &status, NULL, &error), error);
    pthread_mutex_lock(&all.mutex);
    strcpy(all.revoked, bob.info.fingerprint);
    pthread_mutex_unlock(&all.mutex);
    expect_refused(&all, client, TACIT_STANDING_REVOKED, "revoked");
    assert_string_equal(all.last_name, "bob");
    tacit_client_free(client);
    service_stop(&all);
    world_close(&here);
}

static void a_retired_authority_opens_only_what_it_is_left(void **state) {
    (void)state;
    world here;
    service all;
    party bob;
    world_open(&here);
    party_join_now(&bob, &here, "bob");
    service_start(&all, &here, NULL);
    tacit_client *client = client_for(&here, &bob, service_port(&all));
    unsigned status = 0;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(ask(client, "GET", "/hello", NULL, &status, NULL, &error), error);
    assert_true(bob.info.issuer_id[0] != 0);
    pthread_mutex_lock(&all.mutex);
    strcpy(all.retired, bob.info.issuer_id);
    pthread_mutex_unlock(&all.mutex);
    expect_refused(&all, client, TACIT_STANDING_RETIRED, "has been replaced");
    CHECK_OK(ask(client, "GET", "/renew", NULL, &status, NULL, &error), error);
    assert_int_not_equal(status, 403);
    tacit_client_free(client);
    service_stop(&all);
    world_close(&here);
}

static void a_certificate_made_for_servers_is_refused(void **state) {
    (void)state;
    world here;
    service all;
    party server;
    world_open(&here);
    world_path(server.key_file, &here, "server.key");
    world_path(server.certificate_file, &here, "server.crt");
    service_start(&all, &here, NULL);
    tacit_client *client = client_for(&here, &server, service_port(&all));
    expect_refused(&all, client, TACIT_STANDING_WRONG_USE, "not made for a client");
    tacit_client_free(client);
    service_stop(&all);
    world_close(&here);
}

static void a_refused_request_with_a_body_hears_why(void **state) {
    (void)state;
    world here;
    service all;
    world_open(&here);
    service_start(&all, &here, NULL);
    static char body[200001];
    const size_t lengths[] = { 1, 20000, 65536, 200000 };
    for (size_t i = 0; i < 4; i++) {
        memset(body, 'b', lengths[i]);
        body[lengths[i]] = 0;
        tacit_client *client = client_for(&here, NULL, service_port(&all));
        unsigned status;
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(ask(client, "POST", "/echo", body, &status, NULL, &error), TACIT_NETWORK);
        if (tacit_client_last_failure(client) != TACIT_CLIENT_REFUSED)
            fail_msg("%zu: %s", lengths[i], error.text);
        tacit_client_free(client);
    }
    assert_int_equal(service_read(&all, &all.refused), 4);
    service_stop(&all);
    world_close(&here);
}

static void only_tls_1_3_is_spoken(void **state) {
    (void)state;
    world here;
    service all;
    party alice;
    world_open(&here);
    party_join_now(&alice, &here, "alice");
    service_start(&all, &here, NULL);
    tls old, current;
    assert_true(tls_open(&old, service_port(&all), &alice, "NORMAL:-VERS-ALL:+VERS-TLS1.2") < 0);
    assert_int_equal(tls_open(&current, service_port(&all), &alice, NULL), 0);
    assert_int_equal(gnutls_protocol_get_version(current.session), GNUTLS_TLS1_3);
    tls_vanish(&old);
    tls_vanish(&current);
    service_stop(&all);
    world_close(&here);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_client_is_let_in_by_name),
        cmocka_unit_test(no_certificate_is_refused_except_on_open_paths),
        cmocka_unit_test(a_foreign_certificate_is_refused_and_names_no_one),
        cmocka_unit_test(an_expired_or_future_certificate_is_refused),
        cmocka_unit_test(a_connection_does_not_outlive_its_certificate),
        cmocka_unit_test(revoking_works_on_an_open_connection),
        cmocka_unit_test(a_retired_authority_opens_only_what_it_is_left),
        cmocka_unit_test(a_certificate_made_for_servers_is_refused),
        cmocka_unit_test(a_refused_request_with_a_body_hears_why),
        cmocka_unit_test(only_tls_1_3_is_spoken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
