/* Whom the client trusts, and how it fails. */
#include "service.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "net/clock.h"
#include "tls.h"

static void expect_failure(tacit_client *client, const char *path, tacit_status wanted,
                           tacit_client_failure failure, const char *words) {
    unsigned status = 77;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer response = TACIT_BUFFER_INIT;
    assert_int_equal(tacit_buffer_append(&response, "before", 6, NULL), TACIT_OK);
    assert_int_equal(ask(client, "GET", path, NULL, &status, &response, &error), wanted);
    if (tacit_client_last_failure(client) != failure) fail_msg("another failure: %s", error.text);
    if (strstr(error.text, words) == NULL) fail_msg("\"%s\" does not say \"%s\"", error.text, words);
    assert_int_equal(status, 77);
    assert_string_equal(tacit_buffer_text(&response), "before");
    tacit_buffer_clear(&response);
}

/* A server identity of `issuer` for `host` in a folder of its own. */
static void identity_of(tacit_server_identity *out, const world *here, const tacit_authority *issuer,
                        const char *host, tacit_validity validity) {
    char folder[PATH_MAX], path[PATH_MAX];
    tacit_error error = TACIT_ERROR_INIT;
    world_path(folder, here, "other-server");
    CHECK_OK(tacit_authority_issue_server(issuer, folder, &host, 1, validity, &error), error);
    CHECK_OK(tacit_path_join(path, sizeof path, folder, "ca.crt", &error), error);
    const char *pem = tacit_authority_pem(issuer);
    CHECK_OK(tacit_file_write(path, pem, strlen(pem), 0644, &error), error);
    CHECK_OK(tacit_server_identity_load(out, folder, &error), error);
}

static void expect_untrusted(const tacit_authority *issuer, world *here, const char *host,
                             tacit_validity validity, const char *words) {
    world there = *here;
    service all;
    identity_of(&there.identity, here, issuer, host, validity);
    service_start(&all, &there, NULL);
    tacit_client *client = client_for(here, NULL, service_port(&all));
    expect_failure(client, "/join", TACIT_NETWORK, TACIT_CLIENT_SERVER_UNTRUSTED, words);
    tacit_client_free(client);
    assert_int_equal(service_read(&all, &all.handled), 0);
    service_stop(&all);
    tacit_server_identity_clear(&there.identity);
}

static void only_the_coordinators_server_is_trusted(void **state) {
    (void)state;
    world here;
    world_open(&here);
    tacit_authority *foreign = world_foreign_authority(&here);
    expect_untrusted(foreign, &here, "127.0.0.1", validity_now(), "not from this coordinator's authority");
    expect_untrusted(here.authority, &here, "127.0.0.1", validity_past(), "expired");
    expect_untrusted(here.authority, &here, "coordinator.example", validity_now(), "another host name");
    expect_untrusted(here.authority, &here, "127.0.0.2", validity_now(), "another host name");
    tacit_authority_free(foreign);
    world_close(&here);
}

/* The name of a party is not that of a host, even when they are spelled alike. */
static void expect_no_server(world *here, const char *name) {
    world there = *here;
    party mallory;
    service all;
    char url[64], authority[PATH_MAX];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer key = TACIT_BUFFER_INIT, certificate = TACIT_BUFFER_INIT;
    party_join_now(&mallory, here, name);
    CHECK_OK(tacit_file_read(mallory.key_file, &key, &error), error);
    CHECK_OK(tacit_file_read(mallory.certificate_file, &certificate, &error), error);
    there.identity.key = (char *)key.bytes;
    there.identity.certificate = (char *)certificate.bytes;
    service_start(&all, &there, NULL);
    snprintf(url, sizeof url, "https://%s:%u", name, service_port(&all));
    tacit_client_settings settings = { .url = url, .authority_file = world_path(authority, here, "ca.crt") };
    tacit_client *client = NULL;
    CHECK_OK(tacit_client_create(&client, &settings, &error), error);
    expect_failure(client, "/join", TACIT_NETWORK, TACIT_CLIENT_SERVER_UNTRUSTED, "the server certificate");
    assert_int_equal(service_read(&all, &all.handled), 0);
    tacit_client_free(client);
    service_stop(&all);
    tacit_buffer_clear(&key);
    tacit_buffer_clear(&certificate);
}

static void a_clients_certificate_does_not_make_a_server(void **state) {
    (void)state;
    world here;
    world_open(&here);
    expect_no_server(&here, "127.0.0.1");
    expect_no_server(&here, "localhost");
    world_close(&here);
}

/* A party that listens is reached at an address and known by its name; it is no host, not even of that
 * address. */
static void a_listening_party_answers_to_its_name_only(void **state) {
    (void)state;
    world here;
    party bob;
    service all;
    char url[96], address[64], authority[PATH_MAX];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer request = TACIT_BUFFER_INIT, certificate = TACIT_BUFFER_INIT;
    world_open(&here);
    party_join_now(&bob, &here, "party-b");
    CHECK_OK(tacit_key_request(&request, bob.key_file, "whatever", &error), error);
    CHECK_OK(tacit_authority_issue_listener(&certificate, here.authority, request.bytes, request.length,
                                            "party-b", validity_now(), &error),
             error);
    CHECK_OK(tacit_file_write(bob.certificate_file, certificate.bytes, certificate.length, 0644, &error),
             error);
    CHECK_OK(tacit_certificate_inspect(&bob.info, certificate.bytes, certificate.length, &error), error);
    assert_true(bob.info.client_use && bob.info.server_use && !bob.info.authority);
    world there = here;
    CHECK_OK(tacit_server_identity_read(&there.identity, bob.key_file, bob.certificate_file,
                                        world_path(authority, &here, "ca.crt"), &error),
             error);
    service_start(&all, &there, NULL);
    snprintf(address, sizeof address, "127.0.0.1:%u", service_port(&all));
    tacit_client_settings settings = { .url = "https://party-b.party.invalid",
                                       .address = address,
                                       .authority_file = authority,
                                       .certificate_file = bob.certificate_file,
                                       .key_file = bob.key_file,
                                       .proxy = "" };
    tacit_client *client = NULL;
    unsigned status = 0;
    CHECK_OK(tacit_client_create(&client, &settings, &error), error);
    CHECK_OK(ask(client, "GET", "/join", NULL, &status, NULL, &error), error);
    tacit_client_free(client);
    settings.url = "https://party-c.party.invalid";
    CHECK_OK(tacit_client_create(&client, &settings, &error), error);
    expect_failure(client, "/join", TACIT_NETWORK, TACIT_CLIENT_SERVER_UNTRUSTED, "the server certificate");
    tacit_client_free(client);
    snprintf(url, sizeof url, "https://%s", address);
    settings.url = url;
    settings.address = NULL;
    CHECK_OK(tacit_client_create(&client, &settings, &error), error);
    expect_failure(client, "/join", TACIT_NETWORK, TACIT_CLIENT_SERVER_UNTRUSTED, "the server certificate");
    tacit_client_free(client);
    service_stop(&all);
    tacit_server_identity_clear(&there.identity);
    tacit_buffer_clear(&request);
    tacit_buffer_clear(&certificate);
    world_close(&here);
}

/* ---- the system's authorities ---- */

enum { CHILD_REFUSED = 10, CHILD_ACCEPTED, CHILD_CANNOT, CHILD_CONTROL_FAILED };

static bool write_line(const char *path, const char *line) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return false;
    bool written = write(file, line, strlen(line)) == (ssize_t)strlen(line);
    close(file);
    return written;
}

/* Give this process a view of the system in which `folder` is the folder of public authorities. */
static bool replace_system_authorities(const char *folder) {
    char map[64];
    uid_t user = getuid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    snprintf(map, sizeof map, "0 %u 1", (unsigned)user);
    return write_line("/proc/self/uid_map", map) && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount(folder, "/etc/ssl/certs", NULL, MS_BIND, NULL) == 0;
}

static size_t discard(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes, (void)context;
    return size * count;
}

/* The control: libcurl as it comes, with the same authority file, takes the system's, too. */
static bool plain_curl_accepts(const world *here, uint16_t port) {
    char url[64], authority[PATH_MAX];
    snprintf(url, sizeof url, "https://127.0.0.1:%u/join", port);
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_CAINFO, world_path(authority, here, "ca.crt"));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
    CURLcode code = curl_easy_perform(easy);
    curl_easy_cleanup(easy);
    return code == CURLE_OK;
}

static int try_with_system_authority(const world *here, const world *there, const char *folder) {
    service all;
    if (!replace_system_authorities(folder)) return CHILD_CANNOT;
    service_start(&all, there, NULL);
    tacit_client *client = client_for(here, NULL, service_port(&all));
    unsigned status;
    tacit_status asked = ask(client, "GET", "/join", NULL, &status, NULL, NULL);
    int result = asked == TACIT_OK ? CHILD_ACCEPTED : CHILD_REFUSED;
    if (strncmp(curl_version_info(CURLVERSION_NOW)->ssl_version, "GnuTLS", 6) == 0 &&
        !plain_curl_accepts(here, service_port(&all)))
        result = CHILD_CONTROL_FAILED;
    tacit_client_free(client);
    service_stop(&all);
    return result;
}

static void the_systems_authorities_are_not_trusted(void **state) {
    (void)state;
    world here;
    char folder[PATH_MAX], path[PATH_MAX];
    tacit_error error = TACIT_ERROR_INIT;
    world_open(&here);
    tacit_authority *foreign = world_foreign_authority(&here);
    world there = here;
    identity_of(&there.identity, &here, foreign, "127.0.0.1", validity_now());
    CHECK_OK(tacit_folder_make(world_path(folder, &here, "public"), &error), error);
    CHECK_OK(tacit_path_join(path, sizeof path, folder, "public.pem", &error), error);
    const char *pem = tacit_authority_pem(foreign);
    CHECK_OK(tacit_file_write(path, pem, strlen(pem), 0644, &error), error);
    setenv("SSL_CERT_DIR", folder, 1);
    setenv("SSL_CERT_FILE", path, 1);
    setenv("CURL_CA_BUNDLE", path, 1);
    pid_t child = fork();
    if (child == 0) _exit(try_with_system_authority(&here, &there, folder));
    int ended = 0;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    if (WEXITSTATUS(ended) == CHILD_CANNOT)
        print_message("# no user namespaces here: only the environment variables are tried\n");
    else
        assert_int_equal(WEXITSTATUS(ended), CHILD_REFUSED);
    expect_untrusted(foreign, &here, "127.0.0.1", validity_now(), "not from this coordinator's authority");
    unsetenv("SSL_CERT_DIR");
    unsetenv("SSL_CERT_FILE");
    unsetenv("CURL_CA_BUNDLE");
    tacit_server_identity_clear(&there.identity);
    tacit_authority_free(foreign);
    world_close(&here);
}

/* ---- failures ---- */

/* A port that nobody listens on, kept by a bound socket. */
static uint16_t dead_port(int *holder) {
    struct sockaddr_in address = { .sin_family = AF_INET };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    *holder = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(*holder, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(*holder, (struct sockaddr *)&address, &length), 0);
    return ntohs(address.sin_port);
}

static void an_absent_server_is_named(void **state) {
    (void)state;
    world here;
    int holder;
    world_open(&here);
    tacit_client *client = client_for(&here, NULL, dead_port(&holder));
    expect_failure(client, "/join", TACIT_NETWORK, TACIT_CLIENT_UNREACHABLE,
                   "cannot reach https://127.0.0.1:");
    tacit_client_free(client);
    close(holder);
    world_close(&here);
}

static bool is_suspended(void *context) {
    service *all = context;
    return service_read(all, &all->suspended) > 0;
}

static void a_request_times_out_or_is_cancelled_promptly(void **state) {
    (void)state;
    world here;
    service all;
    party alice;
    char url[64], authority[PATH_MAX];
    world_open(&here);
    party_join_now(&alice, &here, "alice");
    service_start(&all, &here, NULL);
    tacit_client *client = client_for(&here, &alice, service_port(&all));
    tacit_client_request request = { .method = "GET", .path = "/wait", .timeout_ms = 1000 };
    unsigned status = 0;
    tacit_buffer response = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    /* The handshake is no part of the time below. */
    CHECK_OK(ask(client, "GET", "/hello", NULL, &status, NULL, &error), error);
    assert_int_equal(tacit_client_send(&status, &response, client, &request, &error), TACIT_NETWORK);
    assert_non_null(strstr(error.text, "timed out"));
    assert_int_equal(tacit_client_last_failure(client), TACIT_CLIENT_TIMED_OUT);
    tacit_exchange_release(service_take(&all));
    /* The same client works again. */
    error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(ask(client, "GET", "/hello", NULL, &status, NULL, &error), error);
    tacit_client_free(client);
    snprintf(url, sizeof url, "https://127.0.0.1:%u/", service_port(&all)); /* the '/' is dropped */
    tacit_client_settings settings = { .url = url,
                                       .authority_file = world_path(authority, &here, "ca.crt"),
                                       .certificate_file = alice.certificate_file,
                                       .key_file = alice.key_file,
                                       .cancelled = is_suspended,
                                       .cancelled_context = &all };
    CHECK_OK(tacit_client_create(&client, &settings, &error), error);
    pthread_mutex_lock(&all.mutex);
    all.suspended = 0;
    pthread_mutex_unlock(&all.mutex);
    int64_t start = tacit_clock_monotonic_ms();
    expect_failure(client, "/wait", TACIT_CANCELLED, TACIT_CLIENT_CANCELLED, "was cancelled");
    assert_true(tacit_clock_monotonic_ms() - start < 60000); /* half of what it may take */
    expect_failure(client, "/hello", TACIT_CANCELLED, TACIT_CLIENT_CANCELLED, "was cancelled");
    tacit_exchange_release(service_take(&all));
    tacit_client_free(client);
    service_stop(&all);
    world_close(&here);
}

static void an_answer_larger_than_allowed_is_cut_off(void **state) {
    (void)state;
    world here;
    service all;
    party alice;
    world_open(&here);
    party_join_now(&alice, &here, "alice");
    service_start(&all, &here, NULL);
    tacit_client *client = client_for(&here, &alice, service_port(&all));
    tacit_buffer response = TACIT_BUFFER_LIMITED(299999);
    tacit_error error = TACIT_ERROR_INIT;
    unsigned status = 0;
    assert_int_equal(ask(client, "GET", "/large", NULL, &status, &response, &error), TACIT_LIMIT);
    assert_int_equal(tacit_client_last_failure(client), TACIT_CLIENT_RESPONSE_TOO_LARGE);
    assert_int_equal(response.length, 0);
    response.limit = 300000;
    error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(ask(client, "GET", "/large", NULL, &status, &response, &error), error);
    assert_int_equal(response.length, 300000);
    tacit_buffer_clear(&response);
    tacit_client_free(client);
    service_stop(&all);
    world_close(&here);
}

/* A server that announces no length and never stops. */
typedef struct endless {
    int listener;
    const world *here;
    size_t sent;
} endless;

static void *serve_endlessly(void *context) {
    endless *all = context;
    char key[PATH_MAX], certificate[PATH_MAX], bytes[4096];
    gnutls_certificate_credentials_t credentials;
    gnutls_session_t session;
    int socket = accept(all->listener, NULL, NULL);
    gnutls_certificate_allocate_credentials(&credentials);
    gnutls_certificate_set_x509_key_file(credentials, world_path(certificate, all->here, "server.crt"),
                                         world_path(key, all->here, "server.key"), GNUTLS_X509_FMT_PEM);
    gnutls_init(&session, GNUTLS_SERVER | GNUTLS_NO_SIGNAL);
    gnutls_set_default_priority(session);
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials);
    gnutls_transport_set_int(session, socket);
    int code;
    do code = gnutls_handshake(session);
    while (code < 0 && gnutls_error_is_fatal(code) == 0);
    gnutls_record_recv(session, bytes, sizeof bytes);
    static const char head[] = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
    gnutls_record_send(session, head, sizeof head - 1);
    memset(bytes, 'e', sizeof bytes);
    while (all->sent < (size_t)1 << 30 && gnutls_record_send(session, bytes, sizeof bytes) > 0)
        all->sent += sizeof bytes;
    close(socket);
    gnutls_deinit(session);
    gnutls_certificate_free_credentials(credentials);
    return NULL;
}

static void an_endless_answer_is_cut_off(void **state) {
    (void)state;
    world here;
    world_open(&here);
    endless all = { .here = &here };
    uint16_t port = dead_port(&all.listener);
    assert_int_equal(listen(all.listener, 1), 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, serve_endlessly, &all), 0);
    tacit_client *client = client_for(&here, NULL, port);
    tacit_buffer response = TACIT_BUFFER_LIMITED(100000);
    tacit_error error = TACIT_ERROR_INIT;
    unsigned status = 0;
    assert_int_equal(ask(client, "GET", "/", NULL, &status, &response, &error), TACIT_LIMIT);
    assert_int_equal(tacit_client_last_failure(client), TACIT_CLIENT_RESPONSE_TOO_LARGE);
    assert_true(response.capacity <= 100000);
    tacit_client_free(client);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(all.sent < (size_t)1 << 27);
    tacit_buffer_clear(&response);
    close(all.listener);
    world_close(&here);
}

static void a_proxy_of_the_environment_is_not_used_for_this_machine(void **state) {
    (void)state;
    world here;
    service all;
    char url[64], proxy[64], authority[PATH_MAX];
    int holder;
    world_open(&here);
    service_start(&all, &here, NULL);
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u", dead_port(&holder));
    setenv("https_proxy", proxy, 1);
    setenv("all_proxy", proxy, 1);
    tacit_client *client = client_for(&here, NULL, service_port(&all));
    unsigned status = 0;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(ask(client, "GET", "/join", NULL, &status, NULL, &error), error);
    tacit_client_free(client);
    unsetenv("https_proxy");
    unsetenv("all_proxy");
    /* One that is set on purpose is. */
    snprintf(url, sizeof url, "https://127.0.0.1:%u", service_port(&all));
    tacit_client_settings settings = { .url = url,
                                       .authority_file = world_path(authority, &here, "ca.crt"),
                                       .proxy = proxy };
    CHECK_OK(tacit_client_create(&client, &settings, &error), error);
    expect_failure(client, "/join", TACIT_NETWORK, TACIT_CLIENT_UNREACHABLE, "cannot reach");
    tacit_client_free(client);
    close(holder);
    service_stop(&all);
    world_close(&here);
}

/* Whom the sentence names: the proxy, without the password, and the server behind it. */
static void an_absent_proxy_is_named(void **state) {
    (void)state;
    world here;
    char authority[PATH_MAX];
    world_open(&here);
    tacit_client_settings settings = { .url = "https://192.0.2.1:1",
                                       .authority_file = world_path(authority, &here, "ca.crt"),
                                       .proxy = "http://name:secret@127.0.0.1:1" };
    tacit_client *client = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer response = TACIT_BUFFER_INIT;
    unsigned http = 0;
    assert_int_equal(tacit_client_create(&client, &settings, NULL), TACIT_OK);
    tacit_client_request request = { .method = "GET", .path = "/", .timeout_ms = 10000 };
    assert_int_equal(tacit_client_send(&http, &response, client, &request, &error), TACIT_NETWORK);
    assert_int_equal(tacit_client_last_failure(client), TACIT_CLIENT_UNREACHABLE);
    assert_non_null(strstr(error.text, "https://192.0.2.1:1 through the proxy http://127.0.0.1:1"));
    assert_null(strstr(error.text, "secret"));
    tacit_buffer_clear(&response);
    tacit_client_free(client);
    world_close(&here);
}

static void unusable_settings_are_refused_without_a_connection(void **state) {
    (void)state;
    world here;
    party alice, bob;
    char authority[PATH_MAX];
    world_open(&here);
    party_join_now(&alice, &here, "alice");
    party_join_now(&bob, &here, "bob");
    tacit_client *client = NULL;
    tacit_client_settings settings = { .authority_file = world_path(authority, &here, "ca.crt") };
    const char *bad[] = { "",
                          "http://127.0.0.1:1",
                          "https://",
                          "https://user:secret@127.0.0.1:1",
                          "https://127.0.0.1:1/?x=1",
                          "file:///etc/passwd",
                          "https://127.0.0.1:1/#x" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        settings.url = bad[i];
        assert_int_equal(tacit_client_create(&client, &settings, NULL), TACIT_USAGE);
    }
    settings.url = "https://127.0.0.1:1";
    const char *no_proxy[] = { "proxy.example.org",
                               "127.0.0.1:3128",
                               "https://127.0.0.1:3128",
                               "socks5://127.0.0.1:1",
                               "http://127.0.0.1",
                               "http://127.0.0.1:1/path",
                               "http://",
                               "http://name:secret@" };
    for (size_t i = 0; i < sizeof no_proxy / sizeof no_proxy[0]; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        settings.proxy = no_proxy[i];
        assert_int_equal(tacit_client_create(&client, &settings, &error), TACIT_USAGE);
        assert_null(strstr(error.text, "secret"));
    }
    settings.proxy = NULL;
    settings.key_file = alice.key_file;
    assert_int_equal(tacit_client_create(&client, &settings, NULL), TACIT_USAGE);
    settings.certificate_file = bob.certificate_file;
    assert_int_equal(tacit_client_create(&client, &settings, NULL), TACIT_INPUT);
    settings.certificate_file = alice.certificate_file;
    assert_int_equal(chmod(alice.key_file, 0644), 0);
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_client_create(&client, &settings, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "chmod 600"));
    assert_int_equal(chmod(alice.key_file, 0600), 0);
    settings.authority_file = alice.key_file;
    assert_int_equal(tacit_client_create(&client, &settings, NULL), TACIT_INPUT);
    settings.authority_file = "/nonexistent";
    assert_int_equal(tacit_client_create(&client, &settings, NULL), TACIT_IO);
    assert_null(client);
    assert_null(tacit_client_free(NULL));
    world_close(&here);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_systems_authorities_are_not_trusted),
        cmocka_unit_test(only_the_coordinators_server_is_trusted),
        cmocka_unit_test(a_clients_certificate_does_not_make_a_server),
        cmocka_unit_test(a_listening_party_answers_to_its_name_only),
        cmocka_unit_test(an_absent_server_is_named),
        cmocka_unit_test(a_request_times_out_or_is_cancelled_promptly),
        cmocka_unit_test(an_answer_larger_than_allowed_is_cut_off),
        cmocka_unit_test(an_endless_answer_is_cut_off),
        cmocka_unit_test(a_proxy_of_the_environment_is_not_used_for_this_machine),
        cmocka_unit_test(an_absent_proxy_is_named),
        cmocka_unit_test(unusable_settings_are_refused_without_a_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
