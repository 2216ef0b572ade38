#include "tls.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

int tls_open(tls *out, uint16_t port, const party *who, const char *priority) {
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    out->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval patience = { .tv_sec = 120 };
    setsockopt(out->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(out->socket, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(gnutls_certificate_allocate_credentials(&out->credentials), 0);
    if (who != NULL)
        assert_int_equal(gnutls_certificate_set_x509_key_file(out->credentials, who->certificate_file,
                                                              who->key_file, GNUTLS_X509_FMT_PEM),
                         0);
    assert_int_equal(gnutls_init(&out->session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL | GNUTLS_FORCE_CLIENT_CERT),
                     0);
    assert_int_equal(gnutls_priority_set_direct(out->session, priority != NULL ? priority : "NORMAL", NULL),
                     0);
    assert_int_equal(gnutls_credentials_set(out->session, GNUTLS_CRD_CERTIFICATE, out->credentials), 0);
    gnutls_transport_set_int(out->session, out->socket);
    int code;
    do code = gnutls_handshake(out->session);
    while (code < 0 && gnutls_error_is_fatal(code) == 0);
    return code;
}

void tls_send(tls *connection, const char *text) {
    assert_int_equal(gnutls_record_send(connection->session, text, strlen(text)), strlen(text));
}

size_t tls_read_all(tls *connection, char *out, size_t size) {
    size_t used = 0;
    while (used < size - 1) {
        ssize_t got = gnutls_record_recv(connection->session, out + used, size - 1 - used);
        if (got == GNUTLS_E_INTERRUPTED) continue;
        if (got <= 0) break;
        used += (size_t)got;
    }
    out[used] = 0;
    return used;
}

void tls_vanish(tls *connection) {
    close(connection->socket);
    gnutls_deinit(connection->session);
    gnutls_certificate_free_credentials(connection->credentials);
}
