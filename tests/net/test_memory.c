/* Every allocation of this folder (and of base) fails once: nothing crashes, nothing leaks, and the outcome
 * is an error or an answer, never something in between. The linker sends our allocations, not those of the
 * libraries below, through the wrappers here. */
#include "service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing.h"
#include "net/invitation.h"
#include "net/rotation.h"

/* Run `step` with the first, second, ... allocation failing, until it gets by without reaching the failure.
 */
static void fail_each(tacit_status (*step)(world *here), world *here) {
    for (long at = 1; at < 10000; at++) {
        fail_allocation(at);
        tacit_status status = step(here);
        if (!allocation_failed()) {
            assert_int_equal(status, TACIT_OK);
            assert_true(at > 1);
            return;
        }
    }
    fail_msg("never done");
}

static tacit_status issue(world *here) {
    char path[PATH_MAX];
    tacit_authority *authority = NULL;
    tacit_buffer request = TACIT_BUFFER_INIT, certificate = TACIT_BUFFER_INIT;
    tacit_certificate_info info;
    tacit_status status = TACIT_OK;
    const char *name = "localhost";
    TACIT_CHECK(tacit_authority_load(&authority, here->folder, NULL));
    TACIT_CHECK(tacit_authority_issue_server(authority, here->folder, &name, 1, validity_now(), NULL));
    TACIT_CHECK(tacit_key_request(&request, world_path(path, here, "server.key"), "x", NULL));
    TACIT_CHECK(tacit_authority_issue_client(&certificate, authority, request.bytes, request.length, "x",
                                             validity_now(), NULL));
    TACIT_CHECK(tacit_certificate_inspect(&info, certificate.bytes, certificate.length, NULL));
cleanup:
    assert_true(authority != NULL || status != TACIT_OK);
    tacit_authority_free(authority);
    tacit_buffer_clear(&request);
    tacit_buffer_clear(&certificate);
    return status;
}

static void identities_survive(void **state) {
    (void)state;
    world here;
    world_open(&here);
    fail_each(issue, &here);
    world_close(&here);
}

/* Read what was handed over, and follow it from the first authority. */
static tacit_status follow(world *here) {
    tacit_authority_keys *keys = NULL;
    tacit_handovers known = { .count = 0 };
    tacit_following result = TACIT_FOLLOWING_NOTHING;
    tacit_buffer first = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_authority_keys_load(&keys, here->folder, 1000, NULL));
    TACIT_CHECK(tacit_certificate_to_pem(&first, keys->chain.entries[0].old_der,
                                         keys->chain.entries[0].old_length, NULL));
    TACIT_CHECK(tacit_handovers_follow(&known, &first, &keys->chain, 1000, NULL, &result, NULL));
cleanup:
    assert_int_equal(known.count, status == TACIT_OK ? 1 : 0);
    tacit_buffer_clear(&first);
    tacit_handovers_clear(&known);
    tacit_authority_keys_free(keys);
    return status;
}

static void hand_overs_survive(void **state) {
    (void)state;
    world here;
    tacit_handovers chain = { .count = 0 };
    tacit_error error = TACIT_ERROR_INIT;
    world_open(&here);
    CHECK_OK(tacit_authority_rotate(here.folder, 1000, 1000, false, &chain, &error), error);
    tacit_handovers_clear(&chain);
    fail_each(follow, &here);
    world_close(&here);
}

static tacit_status invite(world *here) {
    (void)here;
    tacit_invitation made = { .url = "https://x", .study = "s", .authority = { 1 }, .authority_length = 1 },
                     parsed;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = tacit_invitation_encode(&text, &made, NULL);
    if (status == TACIT_OK)
        status = tacit_invitation_parse(&parsed, tacit_buffer_text(&text), text.length, NULL);
    tacit_buffer_clear(&text);
    return status;
}

static void invitations_survive(void **state) {
    (void)state;
    fail_each(invite, NULL);
}

static void answer(void *context, tacit_exchange *exchange) {
    (void)context;
    tacit_header header = { "X-Test", "1" };
    tacit_http_answer echo = { .status = 200,
                               .bytes = tacit_exchange_body(exchange)->bytes,
                               .length = tacit_exchange_body(exchange)->length,
                               .headers = &header,
                               .header_count = 1 };
    if (tacit_exchange_suspend(exchange, 0, NULL, NULL)) tacit_exchange_complete(exchange, &echo);
}

static bool all_open(void *context, const char *method, const char *path) {
    (void)context, (void)method, (void)path;
    return true;
}

static tacit_status converse(world *here) {
    char url[64], authority[PATH_MAX];
    tacit_server *server = NULL;
    tacit_client *client = NULL;
    tacit_buffer response = TACIT_BUFFER_INIT;
    tacit_server_settings settings = tacit_server_defaults();
    tacit_server_callbacks callbacks = { .handle = answer, .open = all_open };
    tacit_status status = TACIT_OK;
    unsigned http_status = 0;
    TACIT_CHECK(tacit_server_start(&server, &here->identity, &settings, &callbacks, NULL));
    snprintf(url, sizeof url, "https://127.0.0.1:%u", tacit_server_port(server));
    tacit_client_settings with = { .url = url, .authority_file = world_path(authority, here, "ca.crt") };
    TACIT_CHECK(tacit_client_create(&client, &with, NULL));
    tacit_client_request request = {
        .method = "POST", .path = "/", .body = "hello", .body_length = 5, .timeout_ms = 120000
    };
    TACIT_CHECK(tacit_client_send(&http_status, &response, client, &request, NULL));
    assert_true(http_status == 200 || http_status == 500);
    if (http_status == 200) assert_string_equal(tacit_buffer_text(&response), "hello");
cleanup:
    tacit_client_free(client);
    tacit_server_free(server);
    tacit_buffer_clear(&response);
    return status;
}

static void server_and_client_survive(void **state) {
    (void)state;
    world here;
    world_open(&here);
    fail_each(converse, &here);
    world_close(&here);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identities_survive),
        cmocka_unit_test(hand_overs_survive),
        cmocka_unit_test(invitations_survive),
        cmocka_unit_test(server_and_client_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
