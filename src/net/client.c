#include "net/client.h"

#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/file.h"
#include "base/memory.h"
#include "net/certificate.h"

enum {
    POLL_MS = 100,          /* how often to ask whether the request is cancelled, at first */
    POLL_MOST_MS = 2000,    /* and while nothing comes: a party waits for hours, and a signal ends a pause */
    CONNECT_MS_MAX = 15000, /* no reason to wait longer for a host that does not answer */
    EXPECT_BYTES = 65536,   /* above this ask first whether the server wants the body */
    RESPONSE_BYTES_DEFAULT = 16 << 20
};

struct tacit_client {
    CURLM *multi;
    CURL *easy;
    struct curl_slist *elsewhere; /* NULL: where the url says */
    char *url;                    /* without a '/' at the end */
    char *proxy;                  /* as it may be told: without a name and password; NULL: not known */
    char *authorization;          /* a header; NULL: none */
    bool (*cancelled)(void *context);
    void *cancelled_context;
    tacit_client_failure failure;
    char message[CURL_ERROR_SIZE];
    /* of the request under way */
    tacit_buffer *sink;
    size_t sink_start, sink_limit;
    bool too_large, no_memory, certificate_refused;
    int64_t date; /* of the last answer */
};

/* ---- the library below, once a process ---- */

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
static CURLcode curl_started = CURLE_FAILED_INIT;

static void start_curl(void) { curl_started = curl_global_init(CURL_GLOBAL_DEFAULT); }

/* ---- receiving ---- */

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
    tacit_client *client = context;
    size_t length = size * count, have = client->sink->length - client->sink_start;
    if (length > client->sink_limit - have) {
        client->too_large = true;
        return 0;
    }
    if (tacit_buffer_append(client->sink, bytes, length, NULL) != TACIT_OK) {
        client->no_memory = true;
        return 0;
    }
    return length;
}

/* Our server marks a refusal that is due to the certificate. */
static size_t receive_header(char *bytes, size_t size, size_t count, void *context) {
    static const char mark[] = "tacit-refused:";
    tacit_client *client = context;
    if (size * count >= sizeof mark - 1 && strncasecmp(bytes, mark, sizeof mark - 1) == 0)
        client->certificate_refused = true;
    char line[64];
    size_t length = size * count;
    if (length < sizeof line && strncasecmp(bytes, "date:", 5) == 0) {
        memcpy(line, bytes + 5, length - 5);
        line[length - 5] = 0;
        client->date = (int64_t)curl_getdate(line, NULL);
    }
    return size * count;
}

int64_t tacit_client_last_date(const tacit_client *client) { return client->date; }

/* ---- creating ---- */

static bool is_loopback(const char *host) {
    return strcasecmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 || strcmp(host, "[::1]") == 0;
}

/* Refuse anything but https://host[:port][/path], or http: where `plain`, and tell whether the host is this
 * machine. */
static tacit_status check_url(bool *loopback, const char *url, bool plain, tacit_error *error) {
    const char *wanted = plain ? "http" : "https";
    CURLU *parts = curl_url();
    char *scheme = NULL, *host = NULL, *unwanted = NULL;
    if (parts == NULL) return tacit_fail_memory(error);
    bool fit = curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
               curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
               curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK && strcmp(scheme, wanted) == 0;
    const CURLUPart forbidden[] = { CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY, CURLUPART_FRAGMENT };
    for (size_t i = 0; fit && i < sizeof forbidden / sizeof forbidden[0]; i++)
        fit = curl_url_get(parts, forbidden[i], &unwanted, 0) != CURLUE_OK;
    tacit_status status = TACIT_OK;
    if (fit) *loopback = is_loopback(host);
    if (!fit)
        status = tacit_fail(error, TACIT_USAGE, "\"%.200s\" is not an address of the form %s://host:port",
                            url, wanted);
    else if (plain && strncmp(host, "127.", 4) != 0)
        status =
            tacit_fail(error, TACIT_USAGE,
                       "\"%.200s\" is not on this machine: a token is sent to 127.0.0.1 only. Reach another "
                       "machine's interface through a tunnel, such as ssh -L PORT:127.0.0.1:PORT",
                       url);
    curl_free(unwanted);
    curl_free(host);
    curl_free(scheme);
    curl_url_cleanup(parts);
    return status;
}

/* Refuse anything but http://[NAME:PASSWORD@]HOST:PORT; *told is the same without name and password. The
 * tunnel is for TLS, whatever the proxy; one that itself wants TLS would need to be trusted, by an authority
 * of its own. */
static tacit_status check_proxy(char **told, const char *proxy, tacit_error *error) {
    CURLU *parts = curl_url();
    char *scheme = NULL, *host = NULL, *port = NULL, *path = NULL;
    if (parts == NULL) return tacit_fail_memory(error);
    bool fit = curl_url_set(parts, CURLUPART_URL, proxy, 0) == CURLUE_OK &&
               curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
               curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
               curl_url_get(parts, CURLUPART_PORT, &port, 0) == CURLUE_OK &&
               curl_url_get(parts, CURLUPART_PATH, &path, 0) == CURLUE_OK && strcmp(scheme, "http") == 0 &&
               strcmp(path, "/") == 0;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = fit ? tacit_buffer_print(&text, error, "http://%s:%s", host, port)
                              : tacit_fail(error, TACIT_USAGE,
                                           "the proxy must be given as http://HOST:PORT, or with a name as "
                                           "http://NAME:PASSWORD@HOST:PORT");
    if (status == TACIT_OK && (*told = tacit_copy_text(tacit_buffer_text(&text))) == NULL)
        status = tacit_fail_memory(error);
    tacit_buffer_clear(&text);
    curl_free(path);
    curl_free(port);
    curl_free(host);
    curl_free(scheme);
    curl_url_cleanup(parts);
    return status;
}

static tacit_status check_files(const tacit_client_settings *settings, tacit_error *error) {
    if ((settings->unverified || settings->token != NULL) && settings->authority_file == NULL &&
        settings->certificate_file == NULL && settings->key_file == NULL)
        return TACIT_OK;
    if (settings->authority_file == NULL || settings->unverified)
        return tacit_fail(error, TACIT_USAGE, "a client needs the coordinator's certificate");
    if ((settings->certificate_file == NULL) != (settings->key_file == NULL))
        return tacit_fail(error, TACIT_USAGE, "a client needs a certificate and its key, or neither");
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(TACIT_CERTIFICATE_BYTES_MAX);
    tacit_certificate_info info;
    tacit_status status = tacit_file_read(settings->authority_file, &bytes, error);
    if (status == TACIT_OK) status = tacit_certificate_inspect(&info, bytes.bytes, bytes.length, error);
    if (status != TACIT_OK)
        tacit_fail_in(error, status, "the coordinator's certificate %s", settings->authority_file);
    tacit_buffer_clear(&bytes);
    if (status != TACIT_OK || settings->certificate_file == NULL) return status;
    status = tacit_file_read(settings->certificate_file, &bytes, error);
    if (status == TACIT_OK)
        status = tacit_certificate_check_key(bytes.bytes, bytes.length, settings->key_file, error);
    tacit_buffer_clear(&bytes);
    return status;
}

static bool set_trust(CURL *easy, const tacit_client_settings *settings) {
    bool known = !settings->unverified && settings->token == NULL;
    /* The folder must be cleared: it would let any public authority speak for the coordinator. */
    bool set = curl_easy_setopt(easy, CURLOPT_CAINFO, settings->authority_file) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_CAPATH, NULL) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, known ? 1L : 0L) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, known ? 2L : 0L) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_3) == CURLE_OK;
    if (set && settings->certificate_file != NULL)
        set = curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, "PEM") == CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_SSLKEYTYPE, "PEM") == CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_SSLCERT, settings->certificate_file) == CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_SSLKEY, settings->key_file) == CURLE_OK;
    return set;
}

static bool set_transport(CURL *easy, tacit_client *client, const char *proxy, bool plain) {
    /* An empty proxy turns off the one of the environment. */
    bool set = proxy == NULL || curl_easy_setopt(easy, CURLOPT_PROXY, proxy) == CURLE_OK;
    /* One that was asked for is used for every host; the environment's may have exceptions. */
    if (set && proxy != NULL && proxy[0] != 0) set = curl_easy_setopt(easy, CURLOPT_NOPROXY, "") == CURLE_OK;
#if LIBCURL_VERSION_NUM >= 0x075500
    set = set && curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, plain ? "http" : "https") == CURLE_OK;
#else
    (void)plain;
#endif
    return set && curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, client->message) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEDATA, client) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, receive_header) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HEADERDATA, client) == CURLE_OK;
}

/* Connect elsewhere than the url says; what the server must be called stays. */
static bool set_address(tacit_client *client, const char *address) {
    char rule[256];
    if (address == NULL) return true;
    if (snprintf(rule, sizeof rule, "::%s", address) >= (int)sizeof rule) return false;
    client->elsewhere = curl_slist_append(NULL, rule);
    return client->elsewhere != NULL &&
           curl_easy_setopt(client->easy, CURLOPT_CONNECT_TO, client->elsewhere) == CURLE_OK;
}

tacit_status tacit_client_create(tacit_client **out, const tacit_client_settings *settings,
                                 tacit_error *error) {
    pthread_once(&curl_once, start_curl);
    if (curl_started != CURLE_OK) return tacit_fail(error, TACIT_INTERNAL, "libcurl does not start");
    bool loopback = false;
    TACIT_TRY(check_url(&loopback, settings->url, settings->token != NULL, error));
    TACIT_TRY(check_files(settings, error));
    char *told = NULL;
    if (settings->proxy != NULL && settings->proxy[0] != 0)
        TACIT_TRY(check_proxy(&told, settings->proxy, error));
    tacit_client *client = TACIT_NEW(tacit_client, 1);
    if (client == NULL) {
        free(told);
        return tacit_fail_memory(error);
    }
    client->proxy = told;
    client->cancelled = settings->cancelled;
    client->cancelled_context = settings->cancelled_context;
    client->url = tacit_copy_text(settings->url);
    client->multi = curl_multi_init();
    client->easy = curl_easy_init();
    const char *proxy = settings->proxy == NULL && loopback ? "" : settings->proxy;
    bool plain = settings->token != NULL;
    if (plain && asprintf(&client->authorization, "Authorization: Bearer %s", settings->token) < 0)
        client->authorization = NULL;
    if (client->url == NULL || client->multi == NULL || client->easy == NULL ||
        (plain && client->authorization == NULL) || !set_trust(client->easy, settings) ||
        !set_transport(client->easy, client, proxy, plain) || !set_address(client, settings->address)) {
        tacit_client_free(client);
        return tacit_fail(error, TACIT_INTERNAL, "libcurl lacks memory or an option that the client needs");
    }
    for (size_t length = strlen(client->url); length > 0 && client->url[length - 1] == '/';)
        client->url[--length] = 0;
    *out = client;
    return TACIT_OK;
}

tacit_client *tacit_client_free(tacit_client *client) {
    if (client == NULL) return NULL;
    if (client->easy != NULL) curl_easy_cleanup(client->easy);
    if (client->multi != NULL) curl_multi_cleanup(client->multi);
    curl_slist_free_all(client->elsewhere);
    free(client->url);
    free(client->proxy);
    if (client->authorization != NULL) sodium_memzero(client->authorization, strlen(client->authorization));
    free(client->authorization);
    free(client);
    return NULL;
}

tacit_client_failure tacit_client_last_failure(const tacit_client *client) { return client->failure; }

/* ---- failures, in one sentence ---- */

/* "before URL after: detail" */
static tacit_status fail_as(tacit_client *client, tacit_client_failure failure, tacit_error *error,
                            const char *before, const char *after, const char *detail) {
    bool shown =
        client->proxy != NULL && failure != TACIT_CLIENT_SERVER_UNTRUSTED && failure != TACIT_CLIENT_REFUSED;
    client->failure = failure;
    return tacit_fail(error, TACIT_NETWORK, "%s%s%s%s%s%s%s", before, client->url,
                      shown ? " through the proxy " : "", shown ? client->proxy : "", after,
                      detail[0] != 0 ? ": " : "", detail);
}

/* Without our certificate, or with one it does not like, another TLS server sends an alert. */
static bool is_certificate_alert(const char *message) {
    return strcasestr(message, "alert") != NULL && strcasestr(message, "certificate") != NULL;
}

static tacit_status fail_unverified(tacit_client *client, const char *detail, tacit_error *error) {
    /* Both TLS flavours of libcurl say this of a good certificate that names another host. */
    if (strstr(detail, "target host name") != NULL)
        return fail_as(client, TACIT_CLIENT_SERVER_UNTRUSTED, error, "the server certificate of ",
                       " is for another host name", detail);
    return fail_as(client, TACIT_CLIENT_SERVER_UNTRUSTED, error, "the server certificate of ",
                   " is not from this coordinator's authority, or has expired", "");
}

/* What the proxy said to "CONNECT host:port", other than yes. */
static tacit_status fail_at_proxy(tacit_client *client, long said, tacit_error *error) {
    const char *proxy = client->proxy != NULL ? client->proxy : "of the environment";
    bool passing = said == 429 || said >= 500; /* worth another try */
    client->failure = passing ? TACIT_CLIENT_UNREACHABLE : TACIT_CLIENT_PROXY_REFUSED;
    if (said == 407)
        return tacit_fail(
            error, TACIT_NETWORK,
            "the proxy %s wants a name and password (407): give it as http://NAME:PASSWORD@HOST:PORT", proxy);
    if (passing)
        return tacit_fail(error, TACIT_NETWORK, "the proxy %s cannot reach %s (%ld)", proxy, client->url,
                          said);
    return tacit_fail(error, TACIT_NETWORK,
                      "the proxy %s does not let us through to %s (%ld): whoever runs it must allow CONNECT "
                      "to that host and port",
                      proxy, client->url, said);
}

static tacit_status fail_with(tacit_client *client, CURLcode code, tacit_error *error) {
    const char *detail = client->message[0] != 0 ? client->message : curl_easy_strerror(code);
    if (client->no_memory || code == CURLE_OUT_OF_MEMORY) return tacit_fail_memory(error);
    if (client->too_large || code == CURLE_FILESIZE_EXCEEDED) {
        client->failure = TACIT_CLIENT_RESPONSE_TOO_LARGE;
        return tacit_fail(error, TACIT_LIMIT, "the answer of %s is larger than the allowed %zu bytes",
                          client->url, client->sink_limit);
    }
    long said = 0;
    if (curl_easy_getinfo(client->easy, CURLINFO_HTTP_CONNECTCODE, &said) == CURLE_OK && said != 0 &&
        said / 100 != 2)
        return fail_at_proxy(client, said, error);
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        return fail_as(client, TACIT_CLIENT_TIMED_OUT, error, "waiting for ", " timed out", "");
    case CURLE_PEER_FAILED_VERIFICATION: return fail_unverified(client, detail, error);
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_GOT_NOTHING:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
        if (is_certificate_alert(detail))
            return fail_as(client, TACIT_CLIENT_REFUSED, error, "", " refused our certificate", detail);
        return fail_as(client, TACIT_CLIENT_UNREACHABLE, error, "cannot reach ", "", detail);
    default: return fail_as(client, TACIT_CLIENT_OTHER, error, "cannot ask ", "", detail);
    }
}

/* The server's own words, as far as they fit on a line. */
static tacit_status fail_refused(tacit_client *client, tacit_error *error) {
    char reason[200];
    size_t length = client->sink->length - client->sink_start;
    if (length > sizeof reason - 1) length = sizeof reason - 1;
    for (size_t i = 0; i < length; i++) {
        uint8_t byte = client->sink->bytes[client->sink_start + i];
        reason[i] = byte >= 0x20 && byte < 0x7f ? (char)byte : ' ';
    }
    reason[length] = 0;
    return fail_as(client, TACIT_CLIENT_REFUSED, error, "", " refused our certificate", reason);
}

/* ---- sending ---- */

static tacit_status prepare(struct curl_slist **headers, tacit_client *client,
                            const tacit_client_request *request, tacit_error *error) {
    tacit_buffer url = TACIT_BUFFER_INIT, type = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    CURL *easy = client->easy;
    bool body = request->body_length > 0 || strcmp(request->method, "POST") == 0 ||
                strcmp(request->method, "PUT") == 0;
    TACIT_CHECK(tacit_buffer_print(&url, error, "%s%s", client->url, request->path));
    TACIT_CHECK(tacit_buffer_print(&type, error, "Content-Type: %s",
                                   request->content_type != NULL ? request->content_type
                                                                 : "application/octet-stream"));
    const char *lines[] = { body ? tacit_buffer_text(&type) : "Content-Type:",
                            request->body_length > EXPECT_BYTES ? "Expect: 100-continue" : "Expect:",
                            client->authorization, request->header };
    bool set = true;
    for (size_t i = 0; set && i < sizeof lines / sizeof lines[0]; i++) {
        if (lines[i] == NULL) continue;
        struct curl_slist *longer = curl_slist_append(*headers, lines[i]);
        set = longer != NULL;
        if (set) *headers = longer;
    }
    long connect_ms = request->timeout_ms < CONNECT_MS_MAX ? (long)request->timeout_ms : CONNECT_MS_MAX;
    set = set && curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L) == CURLE_OK &&
          curl_easy_setopt(easy, CURLOPT_NOBODY, strcmp(request->method, "HEAD") == 0 ? 1L : 0L) == CURLE_OK;
    if (set && body)
        set = curl_easy_setopt(easy, CURLOPT_POST, 1L) == CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_length) ==
                  CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body_length > 0 ? request->body : "") ==
                  CURLE_OK;
    set = set && curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method) == CURLE_OK &&
          curl_easy_setopt(easy, CURLOPT_URL, tacit_buffer_text(&url)) == CURLE_OK &&
          curl_easy_setopt(easy, CURLOPT_HTTPHEADER, *headers) == CURLE_OK &&
          curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms) == CURLE_OK &&
          curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_ms) == CURLE_OK &&
          curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)client->sink_limit) == CURLE_OK;
    if (!set) status = tacit_fail_memory(error);
cleanup:
    tacit_buffer_clear(&url);
    tacit_buffer_clear(&type);
    return status;
}

/* Run the prepared request to its end; false when cancelled. */
static bool run(tacit_client *client, CURLcode *result) {
    int running = 1, left, pause = POLL_MS, moved = 0;
    bool cancelled = false;
    *result = CURLE_FAILED_INIT;
    if (curl_multi_add_handle(client->multi, client->easy) != CURLM_OK) return true;
    while (running != 0) {
        cancelled = client->cancelled != NULL && client->cancelled(client->cancelled_context);
        if (cancelled || curl_multi_perform(client->multi, &running) != CURLM_OK) break;
        if (running != 0 && curl_multi_poll(client->multi, NULL, 0, pause, &moved) != CURLM_OK) break;
        pause = moved > 0 ? POLL_MS : 2 * pause < POLL_MOST_MS ? 2 * pause : POLL_MOST_MS;
    }
    for (CURLMsg *message; (message = curl_multi_info_read(client->multi, &left)) != NULL;)
        if (message->msg == CURLMSG_DONE) *result = message->data.result;
    curl_multi_remove_handle(client->multi, client->easy);
    return !cancelled;
}

/* Some TLS libraries write to a closed socket with SIGPIPE enabled. A library must not change the process's
 * handler, so the signal is held back from this thread and thrown away. */
static bool run_without_sigpipe(tacit_client *client, CURLcode *result) {
    sigset_t pipe_only, pending, before;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    bool finished = run(client, result);
    if (!was_pending) {
        const struct timespec at_once = { 0, 0 };
        sigtimedwait(&pipe_only, NULL, &at_once);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return finished;
}

static tacit_status perform(unsigned *http_status, tacit_client *client, const tacit_client_request *request,
                            tacit_error *error) {
    struct curl_slist *headers = NULL;
    tacit_status status = TACIT_OK;
    CURLcode code = CURLE_OK;
    long answered = 0;
    TACIT_CHECK(prepare(&headers, client, request, error));
    if (!run_without_sigpipe(client, &code)) {
        client->failure = TACIT_CLIENT_CANCELLED;
        status = tacit_fail(error, TACIT_CANCELLED, "the request to %s was cancelled", client->url);
    } else if (code != CURLE_OK ||
               curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &answered) != CURLE_OK) {
        status = fail_with(client, code, error);
    } else if (answered == 403 && client->certificate_refused) {
        status = fail_refused(client, error);
    } else {
        *http_status = (unsigned)answered;
    }
cleanup:
    curl_easy_setopt(client->easy, CURLOPT_HTTPHEADER, NULL);
    curl_easy_setopt(client->easy, CURLOPT_POSTFIELDS, NULL);
    curl_slist_free_all(headers);
    return status;
}

tacit_status tacit_client_send(unsigned *http_status, tacit_buffer *response, tacit_client *client,
                               const tacit_client_request *request, tacit_error *error) {
    if (request->path == NULL || request->path[0] != '/' || request->method == NULL ||
        request->timeout_ms == 0)
        return tacit_fail(error, TACIT_USAGE,
                          "a request needs a method, a path that begins with '/', and a timeout");
    size_t limit = response->limit != 0 ? response->limit : response->length + RESPONSE_BYTES_DEFAULT;
    client->sink = response;
    client->sink_start = response->length;
    client->sink_limit = limit > response->length ? limit - response->length : 0;
    client->too_large = client->no_memory = client->certificate_refused = false;
    client->message[0] = 0;
    client->failure = TACIT_CLIENT_OTHER;
    tacit_status status = perform(http_status, client, request, error);
    client->sink = NULL;
    if (status == TACIT_OK) {
        client->failure = TACIT_CLIENT_NO_FAILURE;
    } else if (response->bytes != NULL) {
        response->length = client->sink_start;
        response->bytes[response->length] = 0;
    }
    return status;
}
