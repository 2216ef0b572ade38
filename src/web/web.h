/*
 * A small web server for the people of this machine: the coordinator's dashboard and a party's own page.
 * Plain HTTP on 127.0.0.1 only. What it is built against:
 *  - another local user, another program that listens on this machine, or a page in the same browser:
 *    everything but the files of the page itself, which hold nothing private, and the log-in needs a
 *    session's token. A session is opened by the one-time link that the program prints, or by the credential,
 *    of which only the argon2id hash is kept;
 *  - a listener on another port: cookies ignore ports, so a browser hands those of one port to all others of
 *    the host. No cookie is set and none is read. The token is told once, in the answer to the log-in; the
 *    page keeps it in sessionStorage, which belongs to one origin, port included, and one tab, and sends it
 *    in the Authorization header of each request;
 *  - a foreign site that makes the browser send requests: a browser adds no Authorization header by itself,
 *    and sends none (nor a log-in, which must be application/json) to another origin without asking first,
 *    which is never granted. Where the browser says where a request comes from, it must be the page's own
 *    origin;
 *  - a foreign name that is made to point to 127.0.0.1 (DNS rebinding): requests with another Host are
 *    refused. So is localhost, which may mean [::1], where somebody else may listen on the same port;
 *  - guessing and flooding: failed log-ins and requests have a budget that refills slowly; bodies are of 4
 *    KiB at most, where a route does not say otherwise; slow requests are dropped (net/server.h).
 * A program may send a token of its own in place of a session's, where the settings can tell what it is good
 * for (admit): to read or to change, in all studies or in one. It is no session, and opens none.
 * Handlers run on the server's threads, several at a time.
 */
#pragma once

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#include "net/server.h"
#include "web/web_files.h"

enum {
    WEB_SECRET_BYTES = 32,
    WEB_SECRET_SIZE = 2 * WEB_SECRET_BYTES + 1, /* in hexadecimal */
    WEB_ITEM_SIZE = 128,
    WEB_LINK_SIZE = 160,
    WEB_SESSIONS = 16,
};

typedef struct web web;

typedef struct web_route web_route;
typedef struct web_further web_further;

/* What a program's token is good for. */
typedef struct web_pass {
    bool manages;              /* else it only reads */
    char study[WEB_ITEM_SIZE]; /* the one that it is for; "": all */
    char id[32];               /* how people call it */
} web_pass;

/* One request, for the handler of its route. */
typedef struct web_call {
    web *page;
    tacit_exchange *exchange;
    const web_further *further; /* its route is one of these; else NULL */
    web_pass pass;              /* of a session: all of it */
    char item[WEB_ITEM_SIZE];   /* what stands for {...} in the route's path */
    int session;                /* place of its session; -1: none */
} web_call;

typedef void web_handler(void *context, web_call *call);

struct web_route {
    const char *method, *path; /* "/v1/studies/{study}" */
    bool open;                 /* without logging in */
    web_handler *handle;
    const char *summary; /* as in docs/openapi.yaml */
};

/* A route of whoever runs the program that has the page. */
struct web_further {
    web_route route;
    size_t body_most; /* 0: 4 KiB */
    const void *data; /* for the handler */
};

typedef struct web_settings {
    const char *folder;  /* keeps the credential's hash */
    const char *service; /* "coordinator" or "party" */
    const char *index;   /* the file at "/" */
    uint16_t port;       /* 0: any free one */
    const web_route *routes;
    size_t route_count;
    void *context;           /* of the routes */
    const web_further *more; /* further routes, with a context of their own; NULL: none */
    size_t more_count;
    void *more_context;
    /* What is the token of a program good for? TACIT_REFUSED with a sentence. NULL: there are none. */
    tacit_status (*admit)(void *context, const char *token, web_pass *out, tacit_error *error);
    /* A program is about to change something, by its token. */
    void (*noted)(void *context, const web_call *call, const web_route *route);
    /* The part of a published document that is about one study, as a new reference. Goes with `admit`. */
    json_t *(*narrow)(const json_t *document, const char *study);
} web_settings;

/* ---- web.c ---- */

tacit_status web_start(web **out, const web_settings *settings, tacit_error *error);
web *web_free(web *page);

/* "http://127.0.0.1:PORT/" and the link that logs in once, within ten minutes of the start. */
void web_address(const web *page, char out[WEB_LINK_SIZE]);
void web_link(const web *page, char out[WEB_LINK_SIZE]);

/* The credential, when this start has made it, else "": it is handed out once and forgotten. */
void web_take_credential(web *page, char out[WEB_SECRET_SIZE]);

/* The document is taken over; NULL: out of memory. */
void web_answer(web_call *call, unsigned status, json_t *document);
void web_answer_failure(web_call *call, tacit_status status, const tacit_error *error);

/* Bytes as a file to keep. */
void web_answer_file(web_call *call, const tacit_buffer *bytes, const char *type, const char *name);

/* What everybody who listens to /v1/events is to know now; the document is taken over. It goes out when it
 * differs from what they know. To be called a few times a second, also to keep listeners waiting. */
void web_publish(web *page, json_t *document);

/* Does anybody listen? */
bool web_is_watched(web *page);

/* ---- web_login.c ---- */

/* The text of one member of a body that is a JSON object. False: it is none, or has no such text, or it does
 * not fit. */
bool web_body_text(const tacit_buffer *body, const char *key, char *out, size_t size);
/* Whether it says true there. */
bool web_body_flag(const tacit_buffer *body, const char *key);

typedef struct web_session {
    char token[WEB_SECRET_SIZE];
    int64_t until; /* monotonic milliseconds; 0: free */
} web_session;

/* A budget that refills with time. */
typedef struct web_budget {
    double left, most, per_second;
    int64_t at;
} web_budget;

bool web_budget_take(web_budget *budget, int64_t now);

typedef struct web_login {
    pthread_mutex_t mutex;       /* guards all that follows */
    pthread_mutex_t hashing;     /* one guess is checked at a time */
    char hash[128];              /* of the credential: argon2id, as libsodium writes it */
    char link[WEB_SECRET_SIZE];  /* "" once used */
    char fresh[WEB_SECRET_SIZE]; /* a credential just made, until it is told */
    int64_t link_until;
    web_session sessions[WEB_SESSIONS];
    web_budget guesses;
} web_login;

/* Read the credential's hash from the folder, or make a credential. */
tacit_status web_login_open(web_login *login, const char *folder, tacit_error *error);
void web_login_close(web_login *login);

/* What follows "Bearer " in an Authorization header; NULL: nothing does. The header may be NULL. */
const char *web_bearer(const char *authorization);

/* The session whose token an Authorization header bears, "Bearer TOKEN"; -1: none. The header may be NULL. */
int web_login_find(web_login *login, const char *authorization);

/* Try what a body says, {"link": ...} or {"credential": ...}: 200 with the place of a new session, 400, 401
 * or 429. */
unsigned web_login_try(web_login *login, const tacit_buffer *body, int *session);
void web_login_end(web_login *login, int session);

/* Copy a session's token and say for how many seconds it still opens the page; 0 when it has ended
 * meanwhile. */
int64_t web_login_token(web_login *login, int session, char out[WEB_SECRET_SIZE]);
