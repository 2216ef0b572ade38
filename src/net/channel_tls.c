/*
 * TLS 1.3 with certificates on both sides. GnuTLS reads and writes records of 16 KiB through two buffers
 * here, so that many of them share one system call.
 */
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "net/channel_parts.h"
#include "net/identity.h"
#include "net/x509.h"

enum { WIRE_BYTES = 128 * 1024 };

/* AES with 128-bit keys first: garbled tables are many, and labels have 128 bits themselves. */
static const char priority[] =
    "NONE:+VERS-TLS1.3:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:+AEAD:+SIGN-ALL:"
    "+GROUP-X25519:+GROUP-SECP256R1:+CTYPE-X509";

typedef struct tls_channel {
    tacit_channel base;
    gnutls_session_t session;
    gnutls_certificate_credentials_t credentials;
    uint8_t *incoming, *outgoing; /* WIRE_BYTES each, as on the wire */
    size_t in_at, in_end, out_used;
    tacit_error failure; /* why a transfer below GnuTLS failed */
} tls_channel;

static tacit_status push_out(tls_channel *self, tacit_error *error) {
    size_t length = self->out_used;
    self->out_used = 0;
    return tacit_channel_socket_write(self->base.socket, self->outgoing, length, self->base.deadline, error);
}

/* What GnuTLS calls to send; it gathers. */
static ssize_t on_push(gnutls_transport_ptr_t pointer, const void *bytes, size_t length) {
    tls_channel *self = pointer;
    const uint8_t *from = bytes;
    for (size_t left = length; left > 0;) {
        size_t part = WIRE_BYTES - self->out_used;
        if (part > left) part = left;
        memcpy(self->outgoing + self->out_used, from, part);
        self->out_used += part;
        from += part;
        left -= part;
        if (self->out_used == WIRE_BYTES && push_out(self, &self->failure) != TACIT_OK) {
            gnutls_transport_set_errno(self->session, EIO);
            return -1;
        }
    }
    return (ssize_t)length;
}

/* What GnuTLS calls to receive: what is there, else it sends what is gathered and waits. */
static ssize_t on_pull(gnutls_transport_ptr_t pointer, void *out, size_t most) {
    tls_channel *self = pointer;
    if (self->in_at == self->in_end) {
        size_t got = 0;
        tacit_status status = push_out(self, &self->failure);
        if (status == TACIT_OK)
            status = tacit_channel_socket_read(&got, self->base.socket, self->incoming, WIRE_BYTES,
                                               self->base.deadline, &self->failure);
        if (status != TACIT_OK) {
            gnutls_transport_set_errno(self->session, EIO);
            return -1;
        }
        self->in_at = 0;
        self->in_end = got;
    }
    size_t part = self->in_end - self->in_at;
    if (part > most) part = most;
    memcpy(out, self->incoming + self->in_at, part);
    self->in_at += part;
    return (ssize_t)part;
}

/* Waiting is on_pull's. */
static int on_pull_timeout(gnutls_transport_ptr_t pointer, unsigned milliseconds) {
    (void)pointer, (void)milliseconds;
    return 1;
}

/* The cause below GnuTLS, or its own. */
static tacit_status tls_failed(tls_channel *self, const char *doing, int code, tacit_error *error) {
    if (self->failure.status != TACIT_OK)
        return tacit_fail(error, self->failure.status, "%s", self->failure.text);
    if (code == GNUTLS_E_MEMORY_ERROR) return tacit_fail_memory(error);
    if (code == GNUTLS_E_FATAL_ALERT_RECEIVED)
        return tacit_fail(error, TACIT_NETWORK, "%s: the peer refused: %s", doing,
                          gnutls_alert_get_name(gnutls_alert_get(self->session)));
    return tacit_fail(error, TACIT_NETWORK, "%s: %s", doing, gnutls_strerror(code));
}

static tacit_status tls_write(tacit_channel *channel, const uint8_t *bytes, size_t length,
                              tacit_error *error) {
    tls_channel *self = (tls_channel *)channel;
    while (length > 0) {
        ssize_t done = gnutls_record_send(self->session, bytes, length);
        if (done < 0 && gnutls_error_is_fatal((int)done) == 0) continue;
        if (done < 0) return tls_failed(self, "sending over TLS", (int)done, error);
        bytes += done;
        length -= (size_t)done;
    }
    return push_out(self, error);
}

static tacit_status tls_read(size_t *got, tacit_channel *channel, uint8_t *out, size_t most,
                             tacit_error *error) {
    tls_channel *self = (tls_channel *)channel;
    ssize_t done;
    do done = gnutls_record_recv(self->session, out, most);
    while (done < 0 && gnutls_error_is_fatal((int)done) == 0);
    if (done == 0) return tacit_channel_peer_gone(error);
    if (done < 0) return tls_failed(self, "receiving over TLS", (int)done, error);
    *got = (size_t)done;
    return TACIT_OK;
}

static void tls_close(tacit_channel *channel, bool goodbye) {
    tls_channel *self = (tls_channel *)channel;
    if (goodbye && self->session != NULL && gnutls_bye(self->session, GNUTLS_SHUT_WR) == 0)
        push_out(self, NULL);
    if (self->session != NULL) gnutls_deinit(self->session);
    if (self->credentials != NULL) gnutls_certificate_free_credentials(self->credentials);
    free(self->incoming);
    free(self->outgoing);
}

static const tacit_channel_kind tls_kind = { tls_write, tls_read, tls_close };

/* ---- the beginning ---- */

static tacit_status load_credentials(tls_channel *self, const tacit_channel_tls_settings *settings,
                                     tacit_error *error) {
    TACIT_TRY(tacit_key_check_private(settings->key_file, error));
    int code = gnutls_certificate_allocate_credentials(&self->credentials);
    if (code < 0) return tacit_fail_memory(error);
    code = gnutls_certificate_set_x509_trust_file(self->credentials, settings->authority_file,
                                                  GNUTLS_X509_FMT_PEM);
    if (code <= 0)
        return tacit_fail(error, TACIT_INPUT, "%s holds no certificate of an authority",
                          settings->authority_file);
    code = gnutls_certificate_set_x509_key_file(self->credentials, settings->certificate_file,
                                                settings->key_file, GNUTLS_X509_FMT_PEM);
    if (code < 0)
        return tacit_fail(error, TACIT_INPUT, "%s and %s are no certificate and its key: %s",
                          settings->certificate_file, settings->key_file, gnutls_strerror(code));
    return TACIT_OK;
}

static tacit_status start_session(tls_channel *self, const tacit_channel_tls_settings *settings,
                                  tacit_error *error) {
    bool dials = settings->host != NULL;
    self->incoming = tacit_allocate_aligned(WIRE_BYTES, 1);
    self->outgoing = tacit_allocate_aligned(WIRE_BYTES, 1);
    if (self->incoming == NULL || self->outgoing == NULL) return tacit_fail_memory(error);
    unsigned flags = GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS |
                     (dials ? GNUTLS_CLIENT | GNUTLS_FORCE_CLIENT_CERT : GNUTLS_SERVER);
    int code = gnutls_init(&self->session, flags);
    if (code < 0) {
        self->session = NULL;
        return tacit_fail_memory(error);
    }
    code = gnutls_priority_set_direct(self->session, priority, NULL);
    if (code >= 0) code = gnutls_credentials_set(self->session, GNUTLS_CRD_CERTIFICATE, self->credentials);
    if (code < 0) return tacit_x509_fail(error, "preparing TLS", code);
    if (!dials) gnutls_certificate_server_set_request(self->session, GNUTLS_CERT_REQUIRE);
    gnutls_transport_set_ptr(self->session, self);
    gnutls_transport_set_push_function(self->session, on_push);
    gnutls_transport_set_pull_function(self->session, on_pull);
    gnutls_transport_set_pull_timeout_function(self->session, on_pull_timeout);
    gnutls_handshake_set_timeout(self->session, GNUTLS_INDEFINITE_TIMEOUT); /* the deadline rules */
    return TACIT_OK;
}

/* Issued by the authority, valid now, for the right use and name, and the one that was expected. */
static tacit_status check_peer(tacit_certificate_info *info, tls_channel *self,
                               const tacit_channel_tls_settings *settings, tacit_error *error) {
    unsigned count = 0, problems = 0;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(self->session, &count);
    if (chain == NULL || count == 0)
        return tacit_fail(error, TACIT_NETWORK, "the peer showed no certificate");
    TACIT_TRY(tacit_certificate_inspect(info, chain[0].data, chain[0].size, error));
    int code = gnutls_certificate_verify_peers3(self->session, settings->host, &problems);
    if (code < 0 || problems != 0)
        return tacit_fail(error, TACIT_NETWORK,
                          "the peer's certificate is not from this authority, not valid now%s",
                          settings->host != NULL ? ", or for another host" : "");
    if (!(settings->host != NULL ? info->server_use : info->client_use))
        return tacit_fail(error, TACIT_NETWORK, "the peer's certificate was made for another use");
    if (settings->fingerprint != NULL && strcmp(settings->fingerprint, info->fingerprint) != 0)
        return tacit_fail(error, TACIT_NETWORK, "the peer %s is not the one that was expected", info->name);
    return TACIT_OK;
}

/* In TLS 1.3 the dialling end is done before its certificate was judged; so each says yes, in one byte. */
static tacit_status agree(tacit_certificate_info *info, tls_channel *self,
                          const tacit_channel_tls_settings *settings, tacit_error *error) {
    int code;
    uint8_t yes = 1;
    size_t got = 0;
    do code = gnutls_handshake(self->session);
    while (code < 0 && gnutls_error_is_fatal(code) == 0);
    if (code < 0) {
        gnutls_alert_send_appropriate(self->session, code);
        push_out(self, NULL);
        return tls_failed(self, "TLS handshake", code, error);
    }
    tacit_status status = check_peer(info, self, settings, error);
    if (status != TACIT_OK) {
        gnutls_alert_send(self->session, GNUTLS_AL_FATAL, GNUTLS_A_BAD_CERTIFICATE);
        push_out(self, NULL);
        return status;
    }
    TACIT_TRY(tls_write(&self->base, &yes, 1, error));
    TACIT_TRY(tls_read(&got, &self->base, &yes, 1, error));
    return TACIT_OK;
}

tacit_status tacit_channel_tls(tacit_channel **out, tacit_certificate_info *peer, int socket,
                               const tacit_channel_tls_settings *settings, int64_t deadline,
                               tacit_error *error) {
    tls_channel *self = TACIT_NEW(tls_channel, 1);
    if (self == NULL) {
        close(socket);
        return tacit_fail_memory(error);
    }
    tacit_certificate_info info;
    tacit_status status = TACIT_OK;
    int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    TACIT_CHECK(tacit_channel_start(&self->base, &tls_kind, socket, error));
    self->base.deadline = deadline;
    TACIT_CHECK(load_credentials(self, settings, error));
    TACIT_CHECK(start_session(self, settings, error));
    TACIT_CHECK(agree(&info, self, settings, error));
    self->base.deadline = 0;
    if (peer != NULL) *peer = info;
    *out = &self->base;
    return TACIT_OK;
cleanup:
    self->base.failed = status;
    tacit_channel_free(&self->base);
    return status;
}
