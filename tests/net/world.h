/* A folder of its own with a coordinator's authority, a server identity and parties, for each test. */
#pragma once

#include "check.h"

#include <limits.h>

#include "net/client.h"
#include "net/identity.h"
#include "net/server.h"

typedef struct world {
    char folder[64];
    tacit_authority *authority;
    tacit_server_identity identity; /* for 127.0.0.1, ::1 and localhost */
} world;

void world_open(world *all);
void world_close(world *all);

/* "FOLDER/name", and a second authority in its own folder below. */
const char *world_path(char out[PATH_MAX], const world *all, const char *name);
tacit_authority *world_foreign_authority(const world *all);

typedef struct party {
    char key_file[PATH_MAX], certificate_file[PATH_MAX];
    tacit_certificate_info info;
} party;

/* A party whose certificate is signed by `issuer`. */
void party_join(party *out, const world *all, const tacit_authority *issuer, const char *name,
                tacit_validity validity);

/* A valid one of the world's authority. */
void party_join_now(party *out, const world *all, const char *name);

tacit_validity validity_now(void);
tacit_validity validity_past(void);

/* A client of 127.0.0.1:port that trusts the world's authority; `who` may be NULL. */
tacit_client *client_for(const world *all, const party *who, uint16_t port);

/* One request with a 20 s timeout; the body as text is appended to `response` when not NULL. */
tacit_status ask(tacit_client *client, const char *method, const char *path, const char *body,
                 unsigned *status, tacit_buffer *response, tacit_error *error);
