/* Who takes part in a study, for its statistician: the name that people gave a party, how it stands, when it
 * was last heard of. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "coordinator/coordinator_parts.h"
#include "coordinator/dashboard_parts.h"
#include "net/clock.h"
#include "study/json_value.h"

enum { LISTED_MOST = 1000 };

/* Read first and described afterwards: a board may use the registry while it is locked. */
typedef struct listing {
    coordinator *owner;
    hosted *host; /* NULL: not served by this process, or ended */
    bool open;    /* a question is */
    size_t count, more;
    tacit_person *person; /* room for LISTED_MOST */
} listing;

/* Seconds since a party asked or answered something; null when it has not since this program began. */
static json_t *last_seen(const listing *self, const char *party) {
    int64_t at = -1;
    if (self->host == NULL) return json_null();
    pthread_mutex_lock(&self->owner->mutex);
    int32_t code = tacit_levels_find(&self->host->seen, party, strlen(party));
    if (code >= 0 && (size_t)code < self->host->seen_room) at = self->host->seen_at[code];
    pthread_mutex_unlock(&self->owner->mutex);
    return at < 0 ? json_null() : json_integer((json_int_t)((tacit_clock_monotonic_ms() - at) / 1000));
}

/* Whether the open question waits for it; null while none is open, and for who is not asked. */
static json_t *awaited(const listing *self, const tacit_person *person) {
    if (self->host == NULL || !self->open || person->standing != TACIT_PARTY_JOINED) return json_null();
    return json_boolean(tacit_board_awaits(self->host->board, person->name));
}

static tacit_status keep(void *context, const tacit_person *person, tacit_error *error) {
    listing *self = context;
    (void)error;
    if (self->count == LISTED_MOST)
        self->more++;
    else
        self->person[self->count++] = *person;
    return TACIT_OK;
}

static json_t *person_document(const listing *self, const tacit_person *person) {
    const bool joined = person->name[0] != 0;
    char when[TACIT_TIME_TEXT];
    return json_pack("{s:o,s:o,s:s,s:s,s:o,s:o}", "called",
                     person->called[0] != 0 ? json_string(person->called) : json_null(), "party",
                     joined ? json_string(person->name) : json_null(), "state",
                     tacit_party_standing_name(person->standing), joined ? "joined" : "expires",
                     tacit_study_time_text(when, person->time), "seen_seconds",
                     joined ? last_seen(self, person->name) : json_null(), "awaited", awaited(self, person));
}

tacit_status dashboard_parties(coordinator *self, const char *study, json_t **out, tacit_error *error) {
    tacit_study_record record;
    tacit_board_state board = { .open = false };
    listing all = { .owner = self, .person = TACIT_NEW(tacit_person, LISTED_MOST) };
    tacit_status status = all.person != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    TACIT_CHECK(tacit_registry_study(self->registry, study, &record, NULL, error));
    TACIT_CHECK(tacit_registry_people(self->registry, record.name, SIZE_MAX, keep, &all, error));
    if (record.state < TACIT_STUDY_DONE) all.host = coordinator_find(self, record.name);
    if (all.host != NULL) tacit_board_look(all.host->board, &board);
    all.open = board.open;
    json_t *list = json_array();
    for (size_t i = 0; i < all.count; i++)
        list = tacit_json_append(list, person_document(&all, &all.person[i]));
    *out = json_pack("{s:o,s:I}", "parties", list, "more", (json_int_t)all.more);
    if (*out == NULL) status = tacit_fail_memory(error);
cleanup:
    free(all.person);
    return status;
}

/* ---- progress ---- */

static void record_progress(void *context, const char *stage, uint64_t done, uint64_t total) {
    hosted *host = context;
    if (total == 0 || done > total) return; /* no total is known, or it is no part of one */
    pthread_mutex_lock(&host->owner->mutex);
    snprintf(host->progress.stage, sizeof host->progress.stage, "%s", stage);
    host->progress.done = done;
    host->progress.total = total;
    pthread_mutex_unlock(&host->owner->mutex);
}

tacit_progress coordinator_progress(hosted *host) {
    return (tacit_progress){ .report = record_progress, .context = host };
}

json_t *dashboard_progress(coordinator *self, hosted *host) {
    if (host == NULL) return json_null();
    pthread_mutex_lock(&self->mutex);
    hosted_progress now = host->progress;
    pthread_mutex_unlock(&self->mutex);
    if (now.total == 0) return json_null();
    return json_pack("{s:s,s:I,s:I}", "stage", now.stage, "done", (json_int_t)now.done, "total",
                     (json_int_t)now.total);
}
