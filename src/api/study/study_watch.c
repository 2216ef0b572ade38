/* Watching a study: a folder is looked at, an address tells when something has changed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/study/client_parts.h"
#include "base/memory.h"

enum { LOOK_MS = 50 };

typedef struct watch {
    tacit_coordinator *coordinator;
    const char *study;
    const tacit_study_watcher *watcher;
    tacit_client *client; /* NULL for a folder */
    char *known;          /* told last */
    char event[64];       /* header with the number of the last event */
    bool over;
} watch;

static bool has_ended(const char *json, size_t length) {
    json_t *document = json_loadb(json, length, 0, NULL);
    const char *state = json_string_value(json_object_get(document, "state"));
    bool ended = state != NULL &&
                 (strcmp(state, "done") == 0 || strcmp(state, "failed") == 0 || strcmp(state, "closed") == 0);
    json_decref(document);
    return ended;
}

/* Look once, and tell what has changed. */
static tacit_status look(watch *self, tacit_error *error) {
    const tacit_desk_entry *entry = tacit_desk_find("status");
    tacit_buffer status_text = TACIT_BUFFER_INIT;
    tacit_status status =
        self->client == NULL
            ? client_call(&status_text, self->coordinator, "status", self->study, NULL, error)
            : client_ask(&status_text, self->client, "GET", entry->path, self->study, NULL, NULL, error);
    const char *text = status == TACIT_OK ? tacit_buffer_text(&status_text) : NULL;
    if (text != NULL && (self->known == NULL || strcmp(self->known, text) != 0)) {
        free(self->known);
        self->known = tacit_copy_text(text);
        if (self->known == NULL) status = tacit_fail_memory(error);
        bool enough = self->watcher->changed != NULL && !self->watcher->changed(self->watcher->context, text);
        self->over = enough || has_ended(text, status_text.length);
    }
    tacit_buffer_clear(&status_text);
    return status;
}

static bool cancelled(void *context) {
    const watch *self = context;
    return self->watcher->cancelled != NULL && self->watcher->cancelled(self->watcher->context);
}

/* The coordinator of this process may have ended. */
static tacit_status check_server(client_server *server, tacit_error *error) {
    if (server == NULL) return TACIT_OK;
    pthread_mutex_lock(&server->mutex);
    bool ended = server->ended;
    pthread_mutex_unlock(&server->mutex);
    if (!ended) return TACIT_OK;
    if (server->status != TACIT_OK) return tacit_fail(error, server->status, "%s", server->failure.text);
    return tacit_fail(error, TACIT_CANCELLED, "the coordinator has ended");
}

static tacit_status wait_for_folder(watch *self, tacit_error *error) {
    struct timespec pause = { 0, LOOK_MS * 1000000L };
    TACIT_TRY(check_server(self->coordinator->server, error));
    nanosleep(&pause, NULL);
    return TACIT_OK;
}

/* Until something has happened to any study, or for a while. */
static tacit_status wait_for_event(watch *self, tacit_error *error) {
    tacit_buffer event = TACIT_BUFFER_INIT;
    tacit_status status = client_ask(&event, self->client, "GET", "/v1/events", NULL, NULL,
                                     self->event[0] != 0 ? self->event : NULL, error);
    const char *id = status == TACIT_OK ? strstr(tacit_buffer_text(&event), "\nid: ") : NULL;
    if (id != NULL)
        snprintf(self->event, sizeof self->event, "Last-Event-ID: %llu", strtoull(id + 5, NULL, 10));
    tacit_buffer_clear(&event);
    return status;
}

tacit_status tacit_study_watch(tacit_coordinator *coordinator, const char *study,
                               const tacit_study_watcher *watcher, tacit_error *error) {
    static const tacit_study_watcher nobody = { NULL, NULL, NULL };
    watch self = { .coordinator = coordinator,
                   .study = study,
                   .watcher = watcher != NULL ? watcher : &nobody };
    tacit_error failure = TACIT_ERROR_INIT;
    tacit_status status;
    TACIT_TRY(tacit_require(coordinator, "the coordinator", error));
    TACIT_TRY(tacit_require(study, "the study's name", error));
    if (coordinator->folder == NULL)
        TACIT_CHECK(client_connect(&self.client, coordinator, cancelled, &self, error));
    for (;;) {
        /* Before the look: a site also ends because its study has, which the look then sees. */
        tacit_status site = client_sites_check(coordinator, study, &failure);
        TACIT_CHECK(look(&self, error));
        if (self.over) break;
        if (site != TACIT_OK) TACIT_CHECK(tacit_fail(error, site, "%s", failure.text));
        if (cancelled(&self)) TACIT_CHECK(tacit_fail(error, TACIT_CANCELLED, "no longer watched"));
        TACIT_CHECK((self.client == NULL ? wait_for_folder : wait_for_event)(&self, error));
    }
    status = TACIT_OK;
cleanup:
    free(self.known);
    tacit_client_free(self.client);
    return status;
}
