/*
 * The coordinator's HTTP interface for parties: look at an invitation, join with it, get the study's auxiliary points,
 * poll for questions, answer. Bodies are protobuf (proto/tacit.proto), except for the points, which are as
 * data/points_bytes.h says; failures are one sentence of plain text.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "coordinator/coordinator_parts.h"
#include "net/clock.h"
#include "tacit.pb-c.h"

enum { SMALL_BODY = 16 * 1024, SMALL_ANSWER = 64 * 1024 };

bool coordinator_is_open(void *context, const char *method, const char *path) {
    (void)context;
    if (strcmp(method, "GET") == 0) return strcmp(path, "/v1/authority") == 0;
    return strcmp(method, "POST") == 0 && (strcmp(path, "/v1/look") == 0 || strcmp(path, "/v1/join") == 0 ||
                                           strcmp(path, "/v1/catalogue") == 0);
}

/* An answer is as long as the open question makes it; with none open, a refusal that is late is still read. */
size_t coordinator_body_limit(void *context, const char *method, const char *path, const tacit_peer *peer) {
    coordinator *self = context;
    char study[TACIT_ID_SIZE];
    (void)method;
    if (!peer->verified || strcmp(path, "/v1/answer") != 0) return SMALL_BODY;
    if (tacit_registry_party_study(self->registry, peer->name, study, NULL) != TACIT_OK) return SMALL_BODY;
    hosted *host = coordinator_find(self, study);
    size_t most = host != NULL ? tacit_board_answer_most(host->board, peer->name) : 0;
    return most > SMALL_ANSWER ? most : SMALL_ANSWER;
}

/* Too long for the open question may be the honest answer to the one before: the party is told that its round has closed. */
unsigned coordinator_too_large(void *context, const char *path, size_t length) {
    (void)context;
    return strcmp(path, "/v1/answer") == 0 && length <= (size_t)TACIT_PAYLOAD_MOST + SMALL_ANSWER ? 409 : 413;
}

static unsigned http_status(tacit_status status) {
    switch (status) {
    case TACIT_OK: return 200;
    case TACIT_REFUSED: return 403;
    case TACIT_NOT_FOUND: return 409;
    case TACIT_PROTOCOL:
    case TACIT_INPUT:
    case TACIT_USAGE: return 400;
    case TACIT_LIMIT: return 413;
    default: return 500;
    }
}

static tacit_http_answer bytes_answer(const tacit_buffer *body) {
    return (tacit_http_answer){ .status = 200, .bytes = body->bytes, .length = body->length };
}

/* What went wrong on our side is for our log, not for whoever is at the other end. */
static void answer_failure(coordinator *self, tacit_exchange *exchange, tacit_status status,
                           const tacit_error *error) {
    const tacit_peer *peer = tacit_exchange_peer(exchange);
    unsigned http = http_status(status);
    coordinator_count_failure(self, http);
    const char *who = peer->verified ? peer->name : peer->address;
    coordinator_log_at(self, http == 500 ? TACIT_LOG_ERROR : TACIT_LOG_WARN, who, "%.80s %s from %s: %u: %s",
                       tacit_exchange_path(exchange), tacit_status_name(status), who, http, error->text);
    tacit_exchange_answer_text(exchange, http,
                               http == 500 ? "the coordinator failed; its log says why" : error->text);
}

tacit_status coordinator_token(ProtobufCBinaryData token, uint32_t protocol,
                               uint8_t hash[TACIT_TOKEN_HASH_BYTES], tacit_error *error) {
    if (protocol != TACIT_PROTOCOL_VERSION)
        return tacit_fail(
            error, TACIT_PROTOCOL,
            "the party speaks protocol version %u, the coordinator version %d: update the older of the two",
            protocol, TACIT_PROTOCOL_VERSION);
    if (token.len != TACIT_TOKEN_BYTES)
        return tacit_fail(error, TACIT_PROTOCOL, "the token has the wrong length");
    tacit_token_hash(hash, token.data);
    return TACIT_OK;
}

/* ---- look ---- */

static tacit_status look(coordinator *self, const tacit_buffer *body, tacit_buffer *out, tacit_error *error) {
    Tacit__Wire__LookRequest *request = NULL;
    Tacit__Wire__LookReply reply = TACIT__WIRE__LOOK_REPLY__INIT;
    tacit_buffer definition = TACIT_BUFFER_INIT, signature = TACIT_BUFFER_INIT;
    uint8_t hash[TACIT_TOKEN_HASH_BYTES];
    char study[TACIT_ID_SIZE];
    tacit_study_record record;
    tacit_status status;
    TACIT_CHECK(tacit_wire_parse((void **)&request, &tacit__wire__look_request__descriptor, body->bytes,
                                 body->length, error));
    TACIT_CHECK(coordinator_token(request->token, request->protocol, hash, error));
    TACIT_CHECK(tacit_registry_look(self->registry, hash, tacit_clock_wall_seconds(), study, error));
    TACIT_CHECK(tacit_registry_study(self->registry, study, &record, &definition, error));
    reply.protocol = TACIT_PROTOCOL_VERSION;
    reply.study = study;
    reply.coordinator = self->name;
    reply.definition = (char *)definition.bytes;
    TACIT_CHECK(coordinator_sign(self, &definition, &signature, error));
    reply.signature = (ProtobufCBinaryData){ signature.length, signature.bytes };
    TACIT_CHECK(tacit_wire_pack(out, &reply, error));
cleanup:
    tacit_buffer_clear(&signature);
    tacit_buffer_clear(&definition);
    tacit_wire_free(request);
    return status;
}

/* ---- join ---- */

/* What a study lets those who join have. */
typedef struct study_terms {
    size_t seats; /* how many parties it takes */
    bool listens; /* neighbours may have direct links */
} study_terms;

/* Was consent given to this study as it is? */
static tacit_status check_consent(coordinator *self, const char *study, ProtobufCBinaryData consented,
                                  study_terms *out, tacit_error *error) {
    tacit_study *read = NULL;
    tacit_study_record record;
    tacit_buffer definition = TACIT_BUFFER_INIT;
    uint8_t hash[TACIT_HASH_BYTES];
    tacit_status status = tacit_registry_study(self->registry, study, &record, &definition, error);
    if (status == TACIT_OK) {
        crypto_generichash(hash, sizeof hash, definition.bytes, definition.length, NULL, 0);
        if (consented.len != sizeof hash || sodium_memcmp(hash, consented.data, sizeof hash) != 0)
            status = tacit_fail(error, TACIT_REFUSED, "consent was given to another definition of study '%s'",
                                study);
    }
    if (status == TACIT_OK)
        status = tacit_study_parse(&read, tacit_buffer_text(&definition), definition.length, study, error);
    if (status == TACIT_OK) *out = (study_terms){ read->plan.parties, read->plan.method->schedule != NULL };
    tacit_study_free(read);
    tacit_buffer_clear(&definition);
    return status;
}

/* Issue and store the certificate of a redeemed invitation. */
static tacit_status issue(coordinator *self, const uint8_t *token_hash, const char *request,
                          const char *party, bool listens, tacit_error *error) {
    int64_t now = tacit_clock_wall_seconds();
    tacit_buffer certificate = TACIT_BUFFER_INIT;
    tacit_certificate_info info;
    tacit_status status;
    TACIT_CHECK((listens ? tacit_authority_issue_listener : tacit_authority_issue_client)(
        &certificate, coordinator_issuer(self), request, strlen(request), party,
        coordinator_validity(self, now), error));
    TACIT_CHECK(tacit_certificate_inspect(&info, certificate.bytes, certificate.length, error));
    TACIT_CHECK(tacit_registry_admit(self->registry, token_hash, tacit_buffer_text(&certificate),
                                     info.fingerprint, now, error));
cleanup:
    tacit_buffer_clear(&certificate);
    return status;
}

/* An invitation must not be used up by a request that no certificate can be issued for. */
static tacit_status check_request(coordinator *self, const char *request, tacit_error *error) {
    tacit_buffer unused = TACIT_BUFFER_INIT;
    tacit_status status =
        tacit_authority_issue_client(&unused, coordinator_issuer(self), request, strlen(request), "unused",
                                     coordinator_validity(self, tacit_clock_wall_seconds()), error);
    tacit_buffer_clear(&unused);
    return status;
}

/* One token is for one key of either kind. */
static void hash_request(uint8_t out[TACIT_HASH_BYTES], const char *request, ProtobufCBinaryData sum_key) {
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, TACIT_HASH_BYTES);
    crypto_generichash_update(&state, (const uint8_t *)request, strlen(request) + 1);
    crypto_generichash_update(&state, sum_key.data, sum_key.len);
    crypto_generichash_final(&state, out, TACIT_HASH_BYTES);
}

/* Use the invitation and seat the party; `certificate` receives the one that is stored. */
static tacit_status admit(coordinator *self, const uint8_t *token_hash,
                          const Tacit__Wire__JoinRequest *joining, const char *study,
                          const study_terms *terms, char party[TACIT_ID_SIZE], tacit_buffer *certificate,
                          tacit_error *error) {
    int64_t now = tacit_clock_wall_seconds();
    const char *request = joining->signing_request;
    const ProtobufCBinaryData sum_key = joining->sum_key;
    const size_t seats = terms->seats;
    uint8_t request_hash[TACIT_HASH_BYTES];
    TACIT_TRY(check_request(self, request, error));
    TACIT_TRY(
        coordinator_check_sum_key(joining->definition_hash, request, sum_key, joining->sum_proof, error));
    hash_request(request_hash, request, sum_key);
    TACIT_TRY(tacit_registry_redeem(self->registry, token_hash, request_hash, now, seats, party, certificate,
                                    error));
    if (certificate->length == 0) {
        TACIT_TRY(tacit_registry_set_signer(self->registry, party, sum_key.data, error));
        TACIT_TRY(issue(self, token_hash, request, party, joining->listens && terms->listens, error));
        TACIT_TRY(tacit_registry_redeem(self->registry, token_hash, request_hash, now, seats, party,
                                        certificate, error));
        coordinator_news(self, "%s joined study %s", party, study);
    }
    hosted *host = coordinator_find(self, study);
    if (host != NULL) TACIT_TRY(tacit_board_admit(host->board, party, error));
    coordinator_wake_loop(self);
    return TACIT_OK;
}

static tacit_status join(coordinator *self, const tacit_buffer *body, tacit_buffer *out, tacit_error *error) {
    Tacit__Wire__JoinRequest *request = NULL;
    Tacit__Wire__JoinReply reply = TACIT__WIRE__JOIN_REPLY__INIT;
    tacit_buffer certificate = TACIT_BUFFER_INIT;
    uint8_t token_hash[TACIT_TOKEN_HASH_BYTES];
    char study[TACIT_ID_SIZE], party[TACIT_ID_SIZE];
    study_terms terms = { 0, false };
    tacit_status status;
    TACIT_CHECK(tacit_wire_parse((void **)&request, &tacit__wire__join_request__descriptor, body->bytes,
                                 body->length, error));
    TACIT_CHECK(coordinator_token(request->token, request->protocol, token_hash, error));
    TACIT_CHECK(tacit_registry_look(self->registry, token_hash, tacit_clock_wall_seconds(), study, error));
    TACIT_CHECK(check_consent(self, study, request->definition_hash, &terms, error));
    TACIT_CHECK(admit(self, token_hash, request, study, &terms, party, &certificate, error));
    reply.protocol = TACIT_PROTOCOL_VERSION;
    reply.party = party;
    reply.certificate = (char *)certificate.bytes;
    TACIT_CHECK(tacit_wire_pack(out, &reply, error));
cleanup:
    tacit_buffer_clear(&certificate);
    tacit_wire_free(request);
    return status;
}

/* ---- poll ---- */

/* What there is to say to a party now. */
typedef enum poll_event { POLL_EVENT_NONE, POLL_EVENT_QUESTION, POLL_EVENT_END } poll_event;

/* The end of a study on its way to a party. It counts as told when the bytes are gone, not when they are
 * ready: else the program might stop before it has sent them, and leave the party waiting for a coordinator
 * that is not there. */
typedef struct end_notice {
    coordinator *owner;
    char study[TACIT_ID_SIZE], party[TACIT_NAME_SIZE];
    tacit_buffer body;
} end_notice;

static void end_notice_sent(void *context) {
    end_notice *told = context;
    coordinator *self = told->owner;
    hosted *host = coordinator_find(self, told->study);
    if (host != NULL) {
        pthread_mutex_lock(&self->mutex);
        tacit_levels_add(&host->told, told->party, strlen(told->party), NULL, NULL);
        pthread_mutex_unlock(&self->mutex);
        coordinator_wake_loop(self);
    }
    tacit_buffer_clear(&told->body);
    free(told);
}

/* The answer to a poll. The end notice takes the body over. */
static tacit_http_answer news_answer(coordinator *self, const char *party, const char *study, poll_event what,
                                     tacit_buffer *body) {
    tacit_http_answer answer =
        what == POLL_EVENT_NONE ? (tacit_http_answer){ .status = 204 } : bytes_answer(body);
    coordinator_count_sent(self, answer.length);
    end_notice *told = what == POLL_EVENT_END ? TACIT_NEW(end_notice, 1) : NULL;
    if (told == NULL) return answer; /* without memory to remember it, the party is told all the same */
    told->owner = self;
    memcpy(told->party, party, strlen(party) + 1);
    memcpy(told->study, study, strlen(study) + 1);
    told->body = *body;
    *body = (tacit_buffer)TACIT_BUFFER_INIT;
    answer.done = end_notice_sent;
    answer.done_context = told;
    return answer;
}

static tacit_status pack_finished(coordinator *self, const tacit_study_record *record, tacit_buffer *out,
                                  tacit_error *error) {
    Tacit__Wire__PollReply reply = TACIT__WIRE__POLL_REPLY__INIT;
    Tacit__Wire__Finished finished = TACIT__WIRE__FINISHED__INIT;
    tacit_study_record copy = *record;
    tacit_buffer model = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    if (record->state == TACIT_STUDY_DONE)
        TACIT_CHECK(tacit_registry_model(self->registry, record->name, &model, error));
    finished.state = (char *)tacit_study_state_name(record->state);
    finished.reason = copy.reason;
    finished.model = (ProtobufCBinaryData){ model.length, model.bytes };
    reply.protocol = TACIT_PROTOCOL_VERSION;
    reply.event_case = TACIT__WIRE__POLL_REPLY__EVENT_FINISHED;
    reply.finished = &finished;
    TACIT_CHECK(tacit_wire_pack(out, &reply, error));
cleanup:
    tacit_buffer_clear(&model);
    return status;
}

/* The question travels inside the reply; it is encoded already, so its bytes are framed by hand: field 2,
 * length. */
static tacit_status pack_question(coordinator *self, const tacit_buffer *question, tacit_buffer *revocations,
                                  tacit_buffer *out, tacit_error *error) {
    Tacit__Wire__PollReply reply = TACIT__WIRE__POLL_REPLY__INIT;
    reply.protocol = TACIT_PROTOCOL_VERSION;
    reply.authority = (uint32_t)atomic_load(&self->keys)->chain.count;
    reply.revocations = (ProtobufCBinaryData){ revocations->length, revocations->bytes };
    TACIT_TRY(tacit_wire_pack(out, &reply, error));
    uint8_t head[11] = { 2 << 3 | 2 };
    size_t used = 1, length = question->length;
    do {
        head[used++] = (uint8_t)((length & 0x7f) | (length > 0x7f ? 0x80 : 0));
        length >>= 7;
    } while (length > 0);
    TACIT_TRY(tacit_buffer_append(out, head, used, error));
    return tacit_buffer_append(out, question->bytes, question->length, error);
}

/* Is there something to tell this party now? */
static tacit_status news_for(coordinator *self, const char *party, const char *study, poll_event *what,
                             tacit_buffer *out, tacit_error *error) {
    tacit_study_state state;
    bool asked = false;
    *what = POLL_EVENT_NONE;
    if (tacit_registry_party_revoked(self->registry, party)) /* while its poll waited */
        return tacit_fail(error, TACIT_REFUSED, "%s", tacit_standing_text(TACIT_STANDING_REVOKED));
    TACIT_TRY(tacit_registry_state(self->registry, study, &state, error));
    if (state >= TACIT_STUDY_DONE) {
        tacit_study_record record;
        TACIT_TRY(tacit_registry_study(self->registry, study, &record, NULL, error));
        TACIT_TRY(pack_finished(self, &record, out, error));
        *what = POLL_EVENT_END;
        return TACIT_OK;
    }
    tacit_presence presence;
    TACIT_TRY(tacit_registry_presence(self->registry, party, &presence, error));
    hosted *host = coordinator_find(self, study);
    if (!presence.consented || presence.away) return TACIT_OK;
    if (host == NULL) return TACIT_OK; /* paused, or added a moment ago: the main loop will host it */
    tacit_buffer question = TACIT_BUFFER_INIT, revocations = TACIT_BUFFER_INIT;
    TACIT_TRY(tacit_board_admit(host->board, party, error));
    tacit_status status = tacit_board_read(host->board, party, &asked, &question, error);
    if (status == TACIT_OK && asked) status = coordinator_revocations(self, study, &revocations, error);
    if (status == TACIT_OK && asked) status = pack_question(self, &question, &revocations, out, error);
    if (status == TACIT_OK && asked) *what = POLL_EVENT_QUESTION;
    tacit_buffer_clear(&revocations);
    tacit_buffer_clear(&question);
    return status;
}

/* The list of a waiter: thousands wait, and each is looked for when its time is over. Exchanges are allocated, so that
 * the last bits of their addresses are the same. */
static waiter **waiters_near(coordinator *self, const tacit_exchange *exchange) {
    return &self->waiters[((uintptr_t)exchange >> 6) % WAITER_LISTS];
}

/* Take a waiter out of its list; NULL when another thread has it already. */
static waiter *take_waiter(coordinator *self, const tacit_exchange *exchange) {
    pthread_mutex_lock(&self->mutex);
    waiter **link = waiters_near(self, exchange);
    while (*link != NULL && (*link)->exchange != exchange) link = &(*link)->next;
    waiter *found = *link;
    if (found != NULL) *link = found->next;
    pthread_mutex_unlock(&self->mutex);
    return found;
}

static void poll_abandoned(void *context, tacit_exchange *exchange) {
    waiter *found = take_waiter(context, exchange);
    if (found == NULL) return; /* the thread that took it completes it */
    tacit_exchange_release(found->exchange);
    free(found);
}

/* Answer a waiter with what there is, or with "nothing yet, ask again". */
static void complete_waiter(coordinator *self, waiter *found) {
    tacit_buffer body = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    poll_event what = POLL_EVENT_NONE;
    tacit_status status = news_for(self, found->party, found->study, &what, &body, &error);
    if (status != TACIT_OK) coordinator_warn(self, found->party, "poll of %s: %s", found->party, error.text);
    tacit_http_answer answer = status == TACIT_OK ? news_answer(self, found->party, found->study, what, &body)
                               : status == TACIT_REFUSED
                                   ? (tacit_http_answer){ .status = 403,
                                                          .content_type = "text/plain; charset=utf-8",
                                                          .bytes = error.text,
                                                          .length = strlen(error.text) }
                                   : (tacit_http_answer){ .status = 500 };
    tacit_exchange_complete(found->exchange, &answer);
    tacit_buffer_clear(&body);
    free(found);
}

/* Move the waiters of a study from one list to another. */
static void move_waiters(waiter **link, const char *study, waiter **out) {
    while (*link != NULL) {
        waiter *each = *link;
        if (strcmp(each->study, study) != 0) {
            link = &each->next;
            continue;
        }
        *link = each->next;
        each->next = *out;
        *out = each;
    }
}

void coordinator_wake(coordinator *self, const char *study) {
    waiter *ours = NULL;
    pthread_mutex_lock(&self->mutex);
    for (size_t k = 0; k < WAITER_LISTS; k++) move_waiters(&self->waiters[k], study, &ours);
    pthread_mutex_unlock(&self->mutex);
    while (ours != NULL) {
        waiter *each = ours;
        ours = each->next;
        complete_waiter(self, each);
    }
}

/* Suspend a poll. The waiter is listed before the board is looked at again, so that a question pinned in
 * between is seen either here or by coordinator_wake. */
static void wait_for_news(coordinator *self, tacit_exchange *exchange, const char *party, const char *study) {
    waiter *each = TACIT_NEW(waiter, 1);
    if (each == NULL) {
        tacit_exchange_answer_text(exchange, 500, "out of memory");
        return;
    }
    memcpy(each->party, party, strlen(party) + 1);
    memcpy(each->study, study, strlen(study) + 1);
    each->exchange = exchange;
    pthread_mutex_lock(&self->mutex); /* held over both, so that `abandoned` finds what was suspended */
    bool suspended = tacit_exchange_suspend(exchange, 0, poll_abandoned, self);
    if (suspended) {
        waiter **list = waiters_near(self, exchange);
        each->next = *list;
        *list = each;
    }
    pthread_mutex_unlock(&self->mutex);
    if (!suspended) {
        free(each);
        return;
    }
    tacit_buffer probe = TACIT_BUFFER_INIT;
    poll_event what = POLL_EVENT_NONE;
    tacit_status status = news_for(self, party, study, &what, &probe, NULL);
    tacit_buffer_clear(&probe);
    if (status == TACIT_OK && what == POLL_EVENT_NONE) return;
    waiter *again = take_waiter(self, exchange);
    if (again != NULL) complete_waiter(self, again);
}

static void poll_news(coordinator *self, tacit_exchange *exchange, const tacit_peer *peer) {
    bool leaving = false, amended = false;
    tacit_buffer body = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    char study[TACIT_ID_SIZE], party[sizeof peer->name];
    poll_event what = POLL_EVENT_NONE;
    memcpy(party, peer->name, sizeof party);
    tacit_status status = tacit_registry_party_study(self->registry, party, study, &error);
    if (status == TACIT_OK)
        status = coordinator_take_standing(self, party, study, tacit_exchange_body(exchange), &leaving,
                                           &amended, &error);
    if (status == TACIT_OK && !leaving) coordinator_record_contact(self, study, party);
    if (status == TACIT_OK && !leaving) status = news_for(self, party, study, &what, &body, &error);
    if (status == TACIT_OK && amended && what != POLL_EVENT_END) {
        tacit_buffer_clear(&body);
        status = coordinator_pack_amended(self, study, &body, &error);
        what = POLL_EVENT_QUESTION;
    }
    if (status != TACIT_OK) {
        answer_failure(self, exchange, status, &error);
    } else if (leaving) {
        tacit_exchange_answer(exchange, &(tacit_http_answer){ .status = 204 });
    } else if (what == POLL_EVENT_NONE) {
        wait_for_news(self, exchange, party, study);
    } else {
        tacit_http_answer answer = news_answer(self, party, study, what, &body);
        tacit_exchange_answer(exchange, &answer);
    }
    tacit_buffer_clear(&body);
}

/* ---- auxiliary points ---- */

/* The bytes stay where they are as long as the server runs (hosted studies are never removed). */
static void points_taken(void *context) { (void)context; }

/* To a party of the study only: the server has checked its certificate. */
static void send_points(coordinator *self, tacit_exchange *exchange, const tacit_peer *peer) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_study_record record;
    char study[TACIT_ID_SIZE];
    tacit_status status = tacit_registry_party_study(self->registry, peer->name, study, &error);
    if (status == TACIT_OK) status = tacit_registry_study(self->registry, study, &record, NULL, &error);
    hosted *host = status == TACIT_OK ? coordinator_find(self, study) : NULL;
    if (status == TACIT_OK && record.state >= TACIT_STUDY_DONE)
        status = tacit_fail(&error, TACIT_NOT_FOUND, "study '%s' has ended", study);
    else if (status == TACIT_OK && host != NULL && host->study->point_count == 0)
        status = tacit_fail(&error, TACIT_NOT_FOUND, "study '%s' has no auxiliary points", study);
    if (status != TACIT_OK) {
        answer_failure(self, exchange, status, &error);
    } else if (host == NULL) { /* added a moment ago: the main loop will host it */
        tacit_exchange_answer_text(exchange, 503, "the study is not served yet");
    } else {
        const tacit_buffer *bytes = &host->study->point_bytes;
        uint64_t sent = atomic_fetch_add(&host->points_sent, bytes->length) + bytes->length;
        coordinator_mention(self, peer->name,
                            "study %s: %zu auxiliary points to %s (%zu bytes, %llu to all so far)", study,
                            host->study->point_count, peer->name, bytes->length, (unsigned long long)sent);
        tacit_http_answer answer = bytes_answer(bytes);
        coordinator_count_sent(self, bytes->length);
        answer.done = points_taken;
        answer.done_context = host;
        tacit_exchange_answer(exchange, &answer);
    }
}

/* ---- answer ---- */

static tacit_status take_answer(coordinator *self, const tacit_buffer *body, const tacit_peer *peer,
                                tacit_error *error) {
    char study[TACIT_ID_SIZE];
    TACIT_TRY(tacit_registry_party_study(self->registry, peer->name, study, error));
    coordinator_record_contact(self, study, peer->name);
    hosted *host = coordinator_find(self, study);
    if (host == NULL) return tacit_fail(error, TACIT_NOT_FOUND, "study '%s' asks nothing now", study);
    tacit_board_state board = { .open = false };
    tacit_board_look(host->board, &board);                      /* the last answer closes the round */
    bool awaited = tacit_board_awaits(host->board, peer->name); /* else it is noted already */
    TACIT_TRY(tacit_board_answer(host->board, peer->name, body->bytes, body->length, error));
    if (board.open && awaited) coordinator_note_answer(self, host, peer->name, board.round);
    return TACIT_OK;
}

void coordinator_handle(void *context, tacit_exchange *exchange) {
    coordinator *self = context;
    const char *path = tacit_exchange_path(exchange);
    const tacit_buffer *body = tacit_exchange_body(exchange);
    const tacit_peer *peer = tacit_exchange_peer(exchange);
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status;
    if (strcmp(tacit_exchange_method(exchange), "GET") == 0 && strcmp(path, "/v1/points") == 0) {
        send_points(self, exchange, peer);
        return;
    }
    if (strcmp(tacit_exchange_method(exchange), "GET") == 0 && strcmp(path, "/v1/authority") == 0) {
        coordinator_send_chain(self, exchange);
        return;
    }
    if (strcmp(tacit_exchange_method(exchange), "POST") != 0) {
        tacit_exchange_answer_text(exchange, 405, "only POST is understood here");
        return;
    }
    if (strcmp(path, "/v1/poll") == 0) {
        poll_news(self, exchange, peer);
        return;
    }
    if (strcmp(path, "/v1/look") == 0)
        status = look(self, body, &out, &error);
    else if (strcmp(path, "/v1/join") == 0)
        status = join(self, body, &out, &error);
    else if (strcmp(path, "/v1/catalogue") == 0)
        status = coordinator_catalogue(self, body, peer, &out, &error);
    else if (strcmp(path, "/v1/renew") == 0)
        status = coordinator_renew(self, body, peer, &out, &error);
    else if (strcmp(path, "/v1/answer") == 0)
        status = take_answer(self, body, peer, &error);
    else {
        tacit_exchange_answer_text(exchange, 404, "nothing is here");
        return;
    }
    if (status == TACIT_OK) {
        tacit_http_answer answer = bytes_answer(&out);
        coordinator_count_sent(self, out.length);
        tacit_exchange_answer(exchange, &answer);
    } else {
        answer_failure(self, exchange, status, &error);
    }
    tacit_buffer_clear(&out);
}
