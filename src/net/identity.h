/*
 * Who is who: the coordinator's certificate authority, its server identity, and the parties' keys. All keys
 * are ECDSA on P-256.
 *
 *  - A private key is written once, readable by its owner only, and never leaves its machine. A key file that
 *    others can read is refused, with the remedy in the sentence.
 *  - A party makes a key and a certificate request; the coordinator's authority issues a certificate for the
 *    request's public key and for a name that the coordinator chose. Everything else in the request is
 *    ignored.
 *  - The authority signs end certificates only (path length 0).
 *
 * Objects may be read from several threads at once.
 */
#pragma once

#include "net/certificate.h"

enum { TACIT_REQUEST_BYTES_MAX = 8192 /* a larger certificate request is refused unread */ };

/* Names of the files in a coordinator's folder. */
#define TACIT_AUTHORITY_KEY_FILE "ca.key"
#define TACIT_AUTHORITY_CERTIFICATE_FILE "ca.crt"
#define TACIT_SERVER_KEY_FILE "server.key"
#define TACIT_SERVER_CERTIFICATE_FILE "server.crt"

/* From when until when a certificate is valid, in seconds since 1970. */
typedef struct tacit_validity {
    int64_t from, until;
} tacit_validity;

/* From an hour before `now`, because clocks differ, for `days` days, or this many seconds. */
tacit_validity tacit_validity_days(int64_t now, unsigned days);
tacit_validity tacit_validity_seconds(int64_t now, int64_t seconds);

/* ---- the coordinator's authority ---- */

typedef struct tacit_authority tacit_authority;

/* Make a key (mode 0600) and a self-signed certificate of 10 years in `folder`, which is made if missing.
 * An authority that is already there is never overwritten: TACIT_USAGE. */
tacit_status tacit_authority_create(tacit_authority **out, const char *folder, const char *name,
                                    tacit_error *error);

/* Load what create wrote. TACIT_NOT_FOUND when the folder holds none. */
tacit_status tacit_authority_load(tacit_authority **out, const char *folder, tacit_error *error);

/* One whose key and certificate (PEM or DER) are elsewhere. */
tacit_status tacit_authority_read(tacit_authority **out, const char *key_path, const void *certificate,
                                  size_t length, tacit_error *error);
tacit_authority *tacit_authority_free(tacit_authority *authority);

/* The authority's own certificate. Borrowed; valid as long as the authority. */
const char *tacit_authority_pem(const tacit_authority *authority);
const tacit_certificate_info *tacit_authority_info(const tacit_authority *authority);

/* Write a new key and a serverAuth certificate for `names` (numeric addresses and DNS names, at least one)
 * to `folder`, replacing earlier ones. */
tacit_status tacit_authority_issue_server(const tacit_authority *authority, const char *folder,
                                          const char *const *names, size_t name_count,
                                          tacit_validity validity, tacit_error *error);

/* Issue a clientAuth certificate for the public key of a request (PEM or DER) under the common name `name`
 * (1 to 64 printable ASCII characters) and append it to `certificate` as PEM. The request's own signature is
 * verified, which proves that the asker holds the key; its subject and extensions are ignored. Only P-256
 * keys are accepted. `request` comes from strangers: TACIT_LIMIT, TACIT_INPUT. */
tacit_status tacit_authority_issue_client(tacit_buffer *certificate, const tacit_authority *authority,
                                          const void *request, size_t request_length, const char *name,
                                          tacit_validity validity, tacit_error *error);

/* The same for a party that listens: a certificate for clientAuth and serverAuth. As a server it is known by
 * the name below and by no host name or address, so that it cannot stand in for the coordinator. */
tacit_status tacit_authority_issue_listener(tacit_buffer *certificate, const tacit_authority *authority,
                                            const void *request, size_t request_length, const char *name,
                                            tacit_validity validity, tacit_error *error);

/* The host name of a listening party, from its common name; .invalid is never looked up. */
#define TACIT_LISTENER_HOST "%s.party.invalid"

/* Append the authority's signature of a document (ECDSA with SHA-256 over `purpose`, a line feed, and the
 * bytes). tacit_authority_check tells whether a signature is by the holder of `authority`, PEM or DER, or of
 * one of several in PEM: TACIT_REFUSED when not. */
enum { TACIT_SIGNATURE_BYTES_MAX = 256 };
tacit_status tacit_authority_sign(tacit_buffer *out, const tacit_authority *authority, const char *purpose,
                                  const void *bytes, size_t length, tacit_error *error);
tacit_status tacit_authority_check(const void *authority, size_t authority_length, const char *purpose,
                                   const void *bytes, size_t length, const void *signature,
                                   size_t signature_length, tacit_error *error);

/* ---- keys ---- */

/* TACIT_OK when `path` is a file that only its owner can read or write; else TACIT_REFUSED and the chmod. */
tacit_status tacit_key_check_private(const char *path, tacit_error *error);

/* Make a private key file (mode 0600). An existing file is never overwritten: TACIT_USAGE. */
tacit_status tacit_key_create(const char *path, tacit_error *error);

/* Append a certificate request (PEM) for the key in `key_path` to `out`. */
tacit_status tacit_key_request(tacit_buffer *out, const char *key_path, const char *name, tacit_error *error);

/* ---- what a server presents ---- */

/* PEM texts, NUL-terminated. */
typedef struct tacit_server_identity {
    char *key;
    char *certificate;
    char *authority; /* who signs the clients that may come in */
} tacit_server_identity;

/* Load server.key, server.crt and ca.crt of `folder`. */
tacit_status tacit_server_identity_load(tacit_server_identity *out, const char *folder, tacit_error *error);

/* The same from files of any name. */
tacit_status tacit_server_identity_read(tacit_server_identity *out, const char *key_file,
                                        const char *certificate_file, const char *authority_file,
                                        tacit_error *error);

/* Overwrite the key, free the texts, and make all NULL. */
void tacit_server_identity_clear(tacit_server_identity *identity);
