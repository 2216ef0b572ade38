#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>

#include "net/clock.h"
#include "net/server_parts.h"

const char *tacit_standing_text(tacit_standing standing) {
    switch (standing) {
    case TACIT_STANDING_VERIFIED: return "the certificate is accepted";
    case TACIT_STANDING_NO_CERTIFICATE: return "a certificate from this coordinator is needed; join first";
    case TACIT_STANDING_FOREIGN: return "this certificate was not issued by this coordinator";
    case TACIT_STANDING_EXPIRED: return "this certificate has expired or is not valid yet";
    case TACIT_STANDING_REVOKED: return "this certificate has been revoked";
    case TACIT_STANDING_WRONG_USE: return "this certificate was not made for a client";
    case TACIT_STANDING_RETIRED:
        return "this certificate is of an authority that has been replaced; renew it with tacit party";
    }
    return "the certificate is not accepted";
}

/* What verification says of the certificate shown, apart from revocation. Only the connection's own thread
 * may ask, since the session is not protected. */
static tacit_standing examine(gnutls_session_t session, tacit_certificate_info *info) {
    unsigned count = 0;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &count);
    if (chain == NULL || count == 0) return TACIT_STANDING_NO_CERTIFICATE;
    if (tacit_certificate_inspect(info, chain[0].data, chain[0].size, NULL) != TACIT_OK)
        return TACIT_STANDING_FOREIGN;
    unsigned problems = 0;
    if (gnutls_certificate_verify_peers2(session, &problems) < 0) return TACIT_STANDING_FOREIGN;
    const unsigned of_time = GNUTLS_CERT_EXPIRED | GNUTLS_CERT_NOT_ACTIVATED;
    if ((problems & ~(of_time | GNUTLS_CERT_INVALID)) != 0) return TACIT_STANDING_FOREIGN;
    if ((problems & of_time) != 0) return TACIT_STANDING_EXPIRED;
    if (problems != 0) return TACIT_STANDING_FOREIGN;
    return info->client_use ? TACIT_STANDING_VERIFIED : TACIT_STANDING_WRONG_USE;
}

static void look_at_certificate(tacit_connection *connection) {
    tacit_presented *presented = &connection->presented;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection->link, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    presented->standing = TACIT_STANDING_NO_CERTIFICATE;
    if (info != NULL && info->tls_session != NULL)
        presented->standing = examine((gnutls_session_t)info->tls_session, &presented->info);
    presented->known = true;
}

void tacit_peer_identify(tacit_exchange *exchange) {
    tacit_connection *connection = exchange->connection;
    const tacit_server_callbacks *callbacks = &exchange->server->callbacks;
    if (!connection->presented.known) look_at_certificate(connection);
    const tacit_certificate_info *info = &connection->presented.info;
    tacit_standing standing = connection->presented.standing;
    /* A connection may outlive its certificate, or see it revoked. */
    int64_t now = tacit_clock_wall_seconds();
    if (standing == TACIT_STANDING_VERIFIED && (now > info->valid_until || now < info->valid_from))
        standing = TACIT_STANDING_EXPIRED;
    if (standing == TACIT_STANDING_VERIFIED && callbacks->revoked != NULL &&
        callbacks->revoked(callbacks->context, info->fingerprint))
        standing = TACIT_STANDING_REVOKED;
    if (standing == TACIT_STANDING_VERIFIED && callbacks->retired != NULL &&
        callbacks->retired(callbacks->context, info->issuer_id, exchange->path))
        standing = TACIT_STANDING_RETIRED;
    tacit_peer *peer = &exchange->peer;
    peer->standing = standing;
    peer->verified = standing == TACIT_STANDING_VERIFIED;
    snprintf(peer->address, sizeof peer->address, "%s", connection->address);
    if (!peer->verified) return;
    memcpy(peer->name, info->name, sizeof peer->name);
    memcpy(peer->fingerprint, info->fingerprint, sizeof peer->fingerprint);
}
