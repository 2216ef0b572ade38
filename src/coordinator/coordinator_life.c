/* A study's life at the coordinator beside its rounds: pauses, amendments, schedules, the catalogue, and who
 * takes part. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "coordinator/coordinator_parts.h"
#include "net/clock.h"
#include "tacit.pb-c.h"

/* ---- pausing, amending, schedules ---- */

/* As when the program stops: what the journal holds is where a later host goes on. */
void coordinator_retire(coordinator *self, hosted *host) {
    coordinator_cancel(host);
    if (host->started) pthread_join(host->thread, NULL);
    host->started = false;
    pthread_mutex_lock(&self->mutex);
    hosted **link = &self->studies;
    while (*link != host) link = &(*link)->next;
    *link = host->next;
    host->next = self->retired;
    self->retired = host;
    pthread_mutex_unlock(&self->mutex);
    coordinator_wake(self, host->study->name);
}

tacit_status coordinator_keep_schedule(coordinator *self, const hosted *host, bool *due, tacit_error *error) {
    const tacit_study *study = host->study;
    int64_t now = tacit_clock_wall_seconds();
    char moment[TACIT_TIME_TEXT], reason[64];
    *due = now >= study->from;
    if (study->until == 0 || now < study->until) return TACIT_OK;
    *due = false;
    snprintf(reason, sizeof reason, "its schedule ended at %s", tacit_study_time_text(moment, study->until));
    TACIT_TRY(tacit_registry_set_state(self->registry, study->name, TACIT_STUDY_CLOSED, reason, NULL, error));
    coordinator_news(self, "study %s is closed: %s", study->name, reason);
    return TACIT_OK;
}

/* ---- the end ---- */

tacit_status tacit_coordinator_model_path(const char *folder, const char *study, char *out, size_t size,
                                          tacit_error *error) {
    char name[TACIT_ID_SIZE + 16];
    snprintf(name, sizeof name, "%s.model.json", study);
    return tacit_path_join(out, size, folder, name, error);
}

/* ---- end notices ---- */

/* The key under which the registry remembers that all parties have been told how a study ended. */
enum { TOLD_KEY_SIZE = TACIT_ID_SIZE + 8 };

static const char *told_key(char out[TOLD_KEY_SIZE], const char *study) {
    snprintf(out, TOLD_KEY_SIZE, "told %s", study);
    return out;
}

/* A study that ended in an earlier process, which may have died before the parties knew: they ask again, and
 * are given the time to. */
tacit_status coordinator_owe_end_notice(coordinator *self, const tacit_study_record *record,
                                        tacit_error *error) {
    char key[TOLD_KEY_SIZE], told[8];
    if (self->owes_end_notice || record->joined == 0 || !self->settings.until_done) return TACIT_OK;
    TACIT_TRY(tacit_registry_get(self->registry, told_key(key, record->name), told, sizeof told, error));
    self->owes_end_notice = told[0] == 0;
    return TACIT_OK;
}

/* Have all parties of the studies that ended been told, and how many have? */
bool coordinator_all_told(coordinator *self, size_t *told) {
    pthread_mutex_lock(&self->mutex);
    bool all = !self->owes_end_notice;
    *told = 0;
    for (hosted *host = self->studies; host != NULL; host = host->next) {
        all = all && host->told.count >= tacit_board_admitted(host->board);
        *told += host->told.count;
    }
    pthread_mutex_unlock(&self->mutex);
    return all;
}

/* Whether a party that asked a short while ago does not know yet that its study has ended. */
bool coordinator_is_awaited(coordinator *self) {
    enum { PRESENT_MS = 30000 }; /* longer than a poll */
    const int64_t now = tacit_clock_monotonic_ms();
    bool awaited = false;
    pthread_mutex_lock(&self->mutex);
    for (hosted *host = self->studies; host != NULL; host = host->next)
        for (size_t i = 0; atomic_load(&host->ended) && i < host->seen.count; i++) {
            const char *party = host->seen.text[i];
            awaited = awaited || (now - host->seen_at[i] < PRESENT_MS &&
                                  tacit_levels_find(&host->told, party, strlen(party)) < 0);
        }
    pthread_mutex_unlock(&self->mutex);
    return awaited;
}

void coordinator_told_end(coordinator *self, const char *study, const char *party) {
    hosted *host = coordinator_find(self, study);
    if (host == NULL) return;
    pthread_mutex_lock(&self->mutex);
    tacit_levels_add(&host->told, party, strlen(party), NULL, NULL);
    pthread_mutex_unlock(&self->mutex);
    coordinator_wake_loop(self);
}

/* Nobody waits for them any more, told or not. */
tacit_status coordinator_remember_end_notices(coordinator *self, tacit_error *error) {
    tacit_study_record *records = NULL;
    size_t count = 0;
    char key[TOLD_KEY_SIZE];
    tacit_status status = tacit_registry_studies(self->registry, &records, &count, error);
    for (size_t i = 0; i < count && status == TACIT_OK; i++)
        if (records[i].state >= TACIT_STUDY_DONE)
            status = tacit_registry_set(self->registry, told_key(key, records[i].name), "all", error);
    free(records);
    return status;
}

/* ---- signed definitions ---- */

tacit_status coordinator_sign(coordinator *self, const tacit_buffer *definition, tacit_buffer *out,
                              tacit_error *error) {
    return tacit_authority_sign(out, coordinator_signer(self), TACIT_STUDY_PURPOSE, definition->bytes,
                                definition->length, error);
}

tacit_status coordinator_pack_amended(coordinator *self, const char *study, unsigned version,
                                      tacit_buffer *out, tacit_error *error) {
    Tacit__Wire__PollReply reply = TACIT__WIRE__POLL_REPLY__INIT;
    Tacit__Wire__Amended amended = TACIT__WIRE__AMENDED__INIT;
    tacit_buffer definition = TACIT_BUFFER_INIT, signature = TACIT_BUFFER_INIT;
    tacit_study_record record;
    tacit_status status;
    TACIT_CHECK(tacit_registry_brief(self->registry, study, &record, &definition, error));
    TACIT_CHECK(coordinator_sign(self, &definition, &signature, error));
    amended.definition = (char *)definition.bytes;
    amended.signature = (ProtobufCBinaryData){ signature.length, signature.bytes };
    reply.event_case = TACIT__WIRE__POLL_REPLY__EVENT_AMENDED;
    reply.amended = &amended;
    TACIT_CHECK(tacit_wire_say(out, &reply, version, error));
cleanup:
    tacit_buffer_clear(&definition);
    tacit_buffer_clear(&signature);
    return status;
}

/* ---- who takes part ---- */

typedef struct seating {
    tacit_board *board;
    size_t next;
} seating;

/* Who is away has a seat too, an empty one: the others' places stay the same whenever they are counted. They
 * are those of the registry, not of the order in which owners consented to an amendment: a coordinator that
 * is started again knows only that. */
static tacit_status seat(void *context, const char *party, bool away, tacit_error *error) {
    seating *all = context;
    TACIT_TRY(tacit_board_admit(all->board, party, error));
    tacit_board_place(all->board, party, all->next++);
    if (away) tacit_board_dismiss(all->board, party);
    return TACIT_OK;
}

tacit_status coordinator_seat_parties(coordinator *self, hosted *host, tacit_error *error) {
    seating all = { .board = host->board };
    return tacit_registry_parties(self->registry, host->study->name, seat, &all, error);
}

/* Of the present definition, from the host where there is one. */
static tacit_status present_hash(coordinator *self, const char *study, const hosted *host,
                                 uint8_t out[TACIT_HASH_BYTES], tacit_error *error) {
    tacit_buffer definition = TACIT_BUFFER_INIT;
    tacit_study_record record;
    if (host != NULL) {
        memcpy(out, host->study->hash, TACIT_HASH_BYTES);
        return TACIT_OK;
    }
    tacit_status status = tacit_registry_brief(self->registry, study, &record, &definition, error);
    if (status == TACIT_OK)
        crypto_generichash(out, TACIT_HASH_BYTES, definition.bytes, definition.length, NULL, 0);
    tacit_buffer_clear(&definition);
    return status;
}

static tacit_status leave(coordinator *self, const char *party, const char *study, hosted *host,
                          const tacit_presence *before, tacit_error *error) {
    char shown[COORDINATOR_SHOWN_SIZE];
    if (!before->away) {
        TACIT_TRY(tacit_registry_leave(self->registry, party, error));
        coordinator_mention(self, party, "%s takes no part in study %s from now on",
                            coordinator_shown(self, party, shown), study);
    }
    if (host != NULL) tacit_board_dismiss(host->board, party);
    return TACIT_OK;
}

/* *amended: a host is left behind for a moment when its study has a new version, and consent was to the old
 * one. */
static tacit_status enter(coordinator *self, const char *party, const char *study, hosted *host,
                          const tacit_presence *before, bool *amended, tacit_error *error) {
    if (before->consented && !before->away) return TACIT_OK;
    if (host == NULL) return TACIT_OK; /* paused: asked again when it goes on */
    TACIT_TRY(tacit_registry_enter(self->registry, party, host->version, host->study->plan.parties, amended,
                                   error));
    if (*amended) return TACIT_OK;
    char shown[COORDINATOR_SHOWN_SIZE];
    coordinator_mention(self, party, "%s takes part in study %s %s", coordinator_shown(self, party, shown),
                        study, before->consented ? "again" : "as amended");
    TACIT_TRY(tacit_board_admit(host->board, party, error));
    coordinator_wake_loop(self);
    return TACIT_OK;
}

static bool is_hash(const ProtobufCBinaryData *said, const uint8_t hash[TACIT_HASH_BYTES]) {
    return said->len == TACIT_HASH_BYTES && sodium_memcmp(hash, said->data, TACIT_HASH_BYTES) == 0;
}

tacit_status coordinator_take_standing(coordinator *self, const char *party, const tacit_buffer *body,
                                       coordinator_reply *out, bool *leaving, bool *amended,
                                       tacit_error *error) {
    Tacit__Wire__PollRequest *request = NULL;
    const char *study = out->study;
    hosted *host = coordinator_find(self, study);
    uint8_t hash[TACIT_HASH_BYTES];
    tacit_presence before;
    tacit_status status;
    *leaving = *amended = false;
    TACIT_CHECK(tacit_wire_hear((void **)&request, &tacit__wire__poll_request__descriptor, body,
                                &out->version, error));
    out->wait_ms = request->wait_ms;
    TACIT_CHECK(tacit_registry_presence(self->registry, party, &before, error));
    if (request->leaving) {
        *leaving = true;
        TACIT_CHECK(leave(self, party, study, host, &before, error));
        goto cleanup;
    }
    TACIT_CHECK(present_hash(self, study, host, hash, error));
    /* A poll that says nothing of it is by a party that knows of no amendments. */
    *amended = request->consented.len == 0 ? !before.consented : !is_hash(&request->consented, hash);
    if (*amended && host != NULL && request->consented.len > 0) {
        /* A host is left behind for a moment. Whoever has consented to the new version waits until it is
         * served. */
        host = NULL;
        TACIT_CHECK(present_hash(self, study, host, hash, error));
        *amended = !is_hash(&request->consented, hash);
    }
    if (!*amended && request->consented.len > 0)
        TACIT_CHECK(enter(self, party, study, host, &before, amended, error));
cleanup:
    tacit_wire_free(request);
    return status;
}

/* ---- the catalogue ---- */

/* One study, as far as parties may know it. */
typedef struct offering {
    Tacit__Wire__Offer wire;
    tacit_buffer definition, signature;
} offering;

static tacit_status offer(coordinator *self, const tacit_study_record *record, const char *party,
                          offering *out, tacit_error *error) {
    tacit_study_record again;
    const hosted *host = coordinator_find(self, record->name);
    bool offered = false;
    if (host != NULL) TACIT_TRY(coordinator_offers(self, host->study, party, &offered, error));
    out->wire.offered = offered;
    TACIT_TRY(tacit_registry_brief(self->registry, record->name, &again, &out->definition, error));
    TACIT_TRY(coordinator_sign(self, &out->definition, &out->signature, error));
    out->wire.state = (char *)tacit_study_state_name(again.state);
    out->wire.definition = (char *)out->definition.bytes;
    out->wire.signature = (ProtobufCBinaryData){ out->signature.length, out->signature.bytes };
    return TACIT_OK;
}

static tacit_status check_asker(coordinator *self, const tacit_buffer *body, const char *party,
                                unsigned *version, tacit_error *error) {
    Tacit__Wire__CatalogueRequest *request = NULL;
    uint8_t hash[TACIT_TOKEN_HASH_BYTES];
    char study[TACIT_ID_SIZE];
    tacit_status status;
    TACIT_CHECK(tacit_wire_hear((void **)&request, &tacit__wire__catalogue_request__descriptor, body, version,
                                error));
    if (party != NULL) goto cleanup;
    TACIT_CHECK(coordinator_token(request->token, hash, error));
    TACIT_CHECK(tacit_registry_look(self->registry, hash, tacit_clock_wall_seconds(), study, error));
cleanup:
    tacit_wire_free(request);
    return status;
}

tacit_status coordinator_catalogue(coordinator *self, const char *party, const tacit_buffer *body,
                                   coordinator_reply *out, tacit_error *error) {
    Tacit__Wire__CatalogueReply reply = TACIT__WIRE__CATALOGUE_REPLY__INIT;
    tacit_study_record *records = NULL;
    offering *offers = NULL;
    Tacit__Wire__Offer **list = NULL;
    size_t count = 0, shown = 0;
    unsigned version;
    tacit_status status;
    TACIT_CHECK(check_asker(self, body, party, &version, error));
    TACIT_CHECK(tacit_registry_studies(self->registry, &records, &count, error));
    offers = TACIT_NEW(offering, count > 0 ? count : 1);
    list = TACIT_NEW(Tacit__Wire__Offer *, count > 0 ? count : 1);
    if (offers == NULL || list == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t i = 0; i < count; i++) {
        if (records[i].state == TACIT_STUDY_DRAFT) continue;
        offering *each = &offers[shown];
        tacit__wire__offer__init(&each->wire);
        list[shown++] = &each->wire;
        TACIT_CHECK(offer(self, &records[i], party, each, error));
    }
    reply.coordinator = self->name;
    reply.n_offers = shown;
    reply.offers = list;
    TACIT_CHECK(tacit_wire_say(&out->bytes, &reply, version, error));
cleanup:
    for (size_t i = 0; i < shown; i++) {
        tacit_buffer_clear(&offers[i].definition);
        tacit_buffer_clear(&offers[i].signature);
    }
    free(list);
    free(offers);
    free(records);
    return status;
}
