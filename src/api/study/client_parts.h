/* What the files behind include/tacit/study.h share. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "api/study/desk.h"
#include "net/client.h"
#include "tacit/study.h"
#include "tacit/tacit.h"

enum { CLIENT_ADDRESS_SIZE = 200, CLIENT_ANSWER_MOST = 1 << 30 };

/* One that this process runs. */
typedef struct client_server {
    pthread_t thread;
    pthread_mutex_t mutex; /* guards what follows; so does `changed` */
    pthread_cond_t changed;
    bool ready, ended;
    tacit_status status; /* how it ended */
    tacit_error failure;
    atomic_bool stop;
    tacit_coordinator_listener listener;
    bool started;
    int port_shown; /* of the dashboard; -1: none */
    char listen[64];
    uint16_t port;
    char *url, *test;
} client_server;

/* A site that takes part from within this process. */
typedef struct client_site client_site;

struct tacit_coordinator {
    char *folder; /* NULL: by its address */
    char *token;  /* for the address */
    char address[CLIENT_ADDRESS_SIZE];
    tacit_client *client;  /* NULL for a folder */
    pthread_mutex_t turn;  /* one request at a time; guards `sites` */
    client_site *sites;    /* a list */
    client_server *server; /* NULL: it runs elsewhere, if at all */
};

/* ---- study_http.c ---- */

tacit_status client_connect(tacit_client **out, const tacit_coordinator *coordinator,
                            bool (*cancelled)(void *context), void *context, tacit_error *error);

/* One request: the path's {study} is filled in; `said` may be NULL. What is answered is appended; what is not
 * 200 becomes the error that the server's sentence tells. */
tacit_status client_ask(tacit_buffer *out, tacit_client *client, const char *method, const char *path,
                        const char *study, const json_t *said, const char *header, tacit_error *error);

/* ---- study_client.c ---- */

/* One call of the desk, wherever that is; the document or the bytes are appended. */
tacit_status client_call(tacit_buffer *out, tacit_coordinator *coordinator, const char *name,
                         const char *study, const json_t *said, tacit_error *error);

/* ---- study_site.c ---- */

/* What a site of this study that has ended failed with. */
tacit_status client_sites_check(tacit_coordinator *coordinator, const char *study, tacit_error *error);

/* Stop them all, and free them with their rows. */
void client_sites_free(client_site *sites);
