/*
 * A server whose answers a test can steer. Paths:
 *   /hello  200 and the peer's name        /echo  200 and the body         /nothing  a handler that forgets
 *   /join   open to all                    /large 200 and ?bytes=300000    /argument 200 and argument "x"
 *   /wait   suspends for ?ms=...; the test takes the exchange from the line with service_take and completes
 * it Everything the server reports is counted under one lock; tests wait for a count with a deadline.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "world.h"

enum { SERVICE_LINE = 512, SERVICE_DEADLINE_MS = 120000 };

typedef struct service {
    tacit_server *server;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    tacit_exchange *line[SERVICE_LINE]; /* suspended, waiting to be taken */
    size_t waiting;
    unsigned handled, suspended, abandoned, refused, dropped;
    bool release_on_abandon;         /* take abandoned exchanges out of the line, as an owner does */
    tacit_standing last_standing;    /* of the last refusal */
    char last_name[TACIT_NAME_SIZE]; /* what it was told */
    char last_fingerprint[TACIT_FINGERPRINT_SIZE];
    char revoked[TACIT_FINGERPRINT_SIZE]; /* under the lock */
    char retired[TACIT_KEY_ID_SIZE]; /* the same: an authority whose certificates serve for /renew only */
    size_t largest_body;
} service;

void service_start(service *all, const world *where, const tacit_server_settings *settings);
void service_stop(service *all);
uint16_t service_port(const service *all);

/* Wait until *count reaches `least`; fails the test after SERVICE_DEADLINE_MS. */
void service_await(service *all, const unsigned *count, unsigned least);
unsigned service_read(service *all, const unsigned *count);

/* The exchange that waits longest; waits for one. */
tacit_exchange *service_take(service *all);

/* Complete with 200 and `text`. */
bool complete_text(tacit_exchange *exchange, const char *text);
