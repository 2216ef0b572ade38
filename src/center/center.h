/*
 * The two center servers of a deployed study (session/center/center_servers.h). Server A is the coordinator's
 * process. Server B is run by somebody else, on another machine, and is made known to the consortium by its
 * card:
 *
 *   address: study.example.org:9443     # where A reaches it
 *   key: 64 hexadecimal digits          # fingerprint of its Paillier key
 *   certificate: base64                 # its own certificate authority
 *
 * When the coordinator's authority is replaced, A shows B the statements, and B follows as parties do
 * (net/handover.h).
 *
 * The study's definition carries the card, so parties consent to this very key, and encrypt with no other. B
 * trusts one coordinator, whose authority's certificate it is given, and of the holders of its certificates
 * only the one called "center-a" (parties have others). A dials B over mutual TLS, shows the definition, and
 * gets B's public key; then both run the method's computation. B keeps nothing of a study: after a crash of
 * either, A dials again and goes on from its journal.
 */
#pragma once

#include "crypto/paillier/paillier.h"
#include "net/channel.h"
#include "net/revocations.h"
#include "study/registry.h"
#include "study/study.h"

#define TACIT_CENTER_A "center-a"

typedef struct tacit_center_settings {
    const char *folder;  /* B's: key, identity, card; made when missing */
    const char *address; /* to listen on */
    uint16_t port;       /* 0: that of last time, or any */
    const char *host;    /* by which A reaches it; NULL: the address */
    /* file with the certificate of the coordinator's authority; NULL: given before */
    const char *coordinator;
    unsigned bits; /* of a new key */
    bool metrics;  /* also serve figures for Prometheus on loopback */
    uint16_t metrics_port;
    void (*ready)(void *context); /* called once, when A can come; NULL: not told */
    bool (*cancelled)(void *context);
    void (*news)(void *context, const char *line);
    void *context;
} tacit_center_settings;

/* Serve as B until cancelled. */
tacit_status tacit_center_run(const tacit_center_settings *settings, tacit_error *error);

/* A's side: dial the study's server B. Out: a channel and B's key, both owned by the caller. `folder` is the
 * coordinator's, which has an identity for this. TACIT_NETWORK when it cannot be reached, TACIT_REFUSED when
 * it refuses the study or is another than the study names. It is shown the authority's `signature` of the
 * definition, and told of `revocations`, a signed list or nothing, and of the `chain` of hand-over
 * statements. *socket receives the channel's socket, which shutdown() makes fail. */
tacit_status tacit_center_dial(tacit_channel **channel, tacit_paillier_public **key, int *socket,
                               const tacit_study *study, const char *folder, const tacit_buffer *signature,
                               const tacit_buffer *revocations, const tacit_buffer *chain,
                               tacit_error *error);

/* Make A's identity towards B in a coordinator's folder, signed by the oldest authority that is trusted,
 * unless it is there and good for a while. */
tacit_status tacit_center_identity(const char *folder, tacit_error *error);

/* Remove it; the next call is made with another. */
void tacit_center_drop_identity(const char *folder);

/* Revoke that identity and remove it: the next call is made with another. TACIT_NOT_FOUND when there is
 * none. */
tacit_status tacit_center_forget_identity(const char *folder, tacit_registry *registry, tacit_error *error);
