/* Whatever comes in at a port: a server on loopback gets the bytes as one connection's, in two pieces, and
 * must then still answer an honest one. The handler looks at all that handlers look at. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/server.h"
#include "outside.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* Who says half a request is not waited for. */
enum { A_LITTLE_MS = 5, LONG_MS = 20000 };

static tacit_server *server;

static size_t length_of(const char *text) { return text != NULL ? strlen(text) : 0; }

static void handle(void *context, tacit_exchange *exchange) {
    static const char *const headers[] = { "Host", "Cookie", "Origin", "X-Tacit-CSRF", "Last-Event-ID" };
    const tacit_buffer *body = tacit_exchange_body(exchange);
    size_t seen = length_of(tacit_exchange_method(exchange)) + length_of(tacit_exchange_path(exchange)) +
                  length_of(tacit_exchange_argument(exchange, "study"));
    (void)context;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        seen += length_of(tacit_exchange_header(exchange, headers[i]));
    if (length_of(tacit_buffer_text(body)) > body->length || tacit_exchange_peer(exchange)->verified) abort();
    tacit_exchange_answer_text(exchange, seen > 0 ? 200 : 404, "seen");
}

static bool is_open(void *context, const char *method, const char *path) {
    (void)context, (void)method;
    return strcmp(path, "/closed") != 0;
}

static size_t body_limit(void *context, const char *method, const char *path, const tacit_peer *peer) {
    (void)context, (void)method, (void)peer;
    return strlen(path);
}

static void begin(void) {
    tacit_server_settings settings = tacit_server_defaults();
    const tacit_server_callbacks callbacks = { .handle = handle, .open = is_open, .body_limit = body_limit };
    settings.request_ms = 100; /* a request that never ends is given up soon */
    outside_must(tacit_server_start(&server, NULL, &settings, &callbacks, NULL));
}

static int dial(long patience_ms) {
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(tacit_server_port(server)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const struct timeval patience = { patience_ms / 1000, patience_ms % 1000 * 1000 };
    const struct linger now = { 1, 0 }; /* closed at once: thousands of ports would wait otherwise */
    const int yes = 1;
    int line = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (line < 0 || connect(line, (struct sockaddr *)&to, sizeof to) != 0) abort();
    setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(line, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return line;
}

/* Say this and nothing more, and hear until the other end hangs up. */
static size_t talk(const uint8_t *bytes, size_t length, size_t first, long patience_ms) {
    char answer[4096];
    int line = dial(patience_ms);
    size_t heard = 0;
    ssize_t got;
    if (first > 0) (void)!send(line, bytes, first, MSG_NOSIGNAL);
    if (first < length) (void)!send(line, bytes + first, length - first, MSG_NOSIGNAL);
    shutdown(line, SHUT_WR);
    while ((got = recv(line, answer, sizeof answer, 0)) > 0) heard += (size_t)got;
    close(line);
    return heard;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static const char honest[] = "GET /here?study=a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    static unsigned turn;
    if (server == NULL) begin();
    if (length == 0) return 0;
    size_t first = bytes[0] * (length - 1) / 255;
    talk(bytes + 1, length - 1, first, A_LITTLE_MS);
    if (turn++ % 16 == 0 && talk((const uint8_t *)honest, sizeof honest - 1, sizeof honest - 1, LONG_MS) == 0)
        abort();
    return 0;
}
