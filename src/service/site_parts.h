/* Shared by the site's files, and by fit.c. */
#pragma once

#include <limits.h>

#include "net/client.h"
#include "privacy/policy.h"
#include "service/site.h"
#include "session/mail.h"
#include "session/masked.h"

struct ProtobufCMessageDescriptor;

struct tacit_site {
    tacit_site_callbacks callbacks;
    char *home, *data, *schema_path, *source, *label, *positive, *local, *listen, *role;
    bool no_header, allow_entrusted, allow_exact, allow_neighbours;
    tacit_study *study;
    tacit_schema *schema;
    tacit_dataset *rows;
    char coordinator[TACIT_ID_SIZE];
    char url[TACIT_INVITATION_URL_MAX + 1];
    char id[TACIT_SITE_ID_SIZE]; /* study@authority: the study as ledger and home folder call it */
    char folder[PATH_MAX];       /* this study's, in the home */
    uint8_t token[TACIT_TOKEN_BYTES];
    tacit_buffer authority; /* the coordinator's certificate, PEM, from the invitation */
};

/* Names of the files in a study's folder. */
#define SITE_AUTHORITY_FILE "ca.crt"
#define SITE_KEY_FILE "party.key"
#define SITE_REQUEST_FILE "party.csr"
#define SITE_CERTIFICATE_FILE "party.crt"
#define SITE_DEFINITION_FILE "study.yaml"
#define SITE_SETTINGS_FILE "settings.json"
#define SITE_POINTS_FILE "points.bin"
#define SITE_SUM_KEY_FILE "sum.key"

tacit_status site_path(const tacit_site *site, const char *name, char out[PATH_MAX], tacit_error *error);

/* A client for this study's coordinator; with our certificate when `joined`. `authority` NULL: the folder's.
 */
tacit_status site_client(const tacit_site *site, bool joined, const char *authority, tacit_client **out,
                         tacit_error *error);

/* Post a protobuf message; *http receives the status, and the body is appended to `response`. */
tacit_status site_post(tacit_client *client, const char *path, const void *message, unsigned timeout_ms,
                       unsigned *http, tacit_buffer *response, tacit_error *error);

/* The owner's rules about what may leave. */
tacit_policy site_policy(const tacit_site *site);

/* Would the ledger in `home` take the price of a study now? TACIT_REFUSED with the remedy: no limit set, or too little left. */
tacit_status site_check_budget(const char *home, const char *source, const char *study,
                               const tacit_prices *prices, tacit_error *error);

/* The rows, encoded as the owner's schema says. */
tacit_status site_load_rows(tacit_site *site, tacit_error *error);

/* Write the study's folder, or only what the owner said. */
tacit_status site_save(const tacit_site *site, tacit_error *error);
tacit_status site_save_settings(const tacit_site *site, tacit_error *error);

/* The study was joined before: TACIT_USAGE when that was with another data source. */
tacit_status site_check_source(const tacit_site *site, tacit_error *error);

/* The key that signs this party's part in masked sums, made when it is first asked for. */
tacit_status site_sum_key(const tacit_site *site, uint8_t public_key[TACIT_SIGNING_KEY_BYTES],
                          uint8_t secret_key[crypto_sign_SECRETKEYBYTES], tacit_error *error);

/* This party's part in the study's masked sums; *out stays NULL for a study without. It keeps its state in the folder. */
tacit_status site_masks(tacit_site *site, tacit_masks **out, tacit_error *error);

/* Direct links to neighbours (site_links.c); an owner who listens to nobody may still bring words to those who do. */
typedef struct site_links site_links;
tacit_status site_links_open(tacit_site *site, site_links **out, tacit_error *error);
site_links *site_links_free(site_links *links);
const char *site_links_address(const site_links *links); /* where it listens; NULL: nowhere */
tacit_mail_inbox site_links_inbox(site_links *links);
void site_links_meet(site_links *links, const tacit_mail *mail); /* cards have been shown */

/* Bring the words of an encoded answer to those who listen; what is left for the coordinator takes its place. */
tacit_status site_links_send(site_links *links, tacit_buffer *answer, tacit_error *error);
void site_links_heard(site_links *links, const tacit_letters *words); /* of an answered question */
void site_links_finish(site_links *links);                            /* the study is over */

/* This party's talk with its neighbours; both stay NULL for a study with a centre. */
tacit_status site_mail(tacit_site *site, tacit_masks *masks, site_links **links, tacit_mail **out,
                       tacit_error *error);

/* The study is over: without the key nobody can open what was sent, whoever has kept it. */
void site_mail_finish(const tacit_site *site, site_links *links);

/* Files of the study's folder, for whoever keeps something there; durable when written. */
tacit_status site_read_kept(void *context, const char *name, bool *found, tacit_buffer *out,
                            tacit_error *error);
tacit_status site_write_kept(void *context, const char *name, const uint8_t *bytes, size_t length,
                             tacit_error *error);

bool site_file_exists(const tacit_site *site, const char *name);

/* Take in the auxiliary points that were fetched before; none is fine, and so is a damaged copy. */
tacit_status site_stored_points(tacit_site *site, tacit_pool *pool, tacit_error *error);

/* Ask the coordinator for them; *http receives the status, and they are here when it is 200. TACIT_REFUSED when they are
 * not those that were consented to. */
tacit_status site_fetch_points(tacit_site *site, tacit_client *client, tacit_pool *pool, unsigned *http,
                               tacit_error *error);
