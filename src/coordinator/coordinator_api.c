/*
 * What a coordinator does for parties, whoever carries their requests: look at an invitation, join with it,
 * get the study's auxiliary points, poll for questions, answer. Bodies are protobuf (proto/tacit.proto),
 * except for the points, which are as data/points_bytes.h says, and the authorities' statements; failures are
 * one sentence of plain text.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "coordinator/coordinator_parts.h"
#include "net/clock.h"
#include "tacit.pb-c.h"

tacit_status coordinator_token(ProtobufCBinaryData token, uint8_t hash[TACIT_TOKEN_HASH_BYTES],
                               tacit_error *error) {
    if (token.len != TACIT_TOKEN_BYTES)
        return tacit_fail(error, TACIT_PROTOCOL, "the token has the wrong length");
    tacit_token_hash(hash, token.data);
    return TACIT_OK;
}

/* ---- look ---- */

/* The study that an invitation's token is for, and the token's hash. */
static tacit_status study_invited_to(coordinator *self, ProtobufCBinaryData token,
                                     uint8_t hash[TACIT_TOKEN_HASH_BYTES], char study[TACIT_ID_SIZE],
                                     tacit_error *error) {
    TACIT_TRY(coordinator_token(token, hash, error));
    return tacit_registry_look(self->registry, hash, tacit_clock_wall_seconds(), study, error);
}

tacit_status coordinator_look(coordinator *self, const char *party, const tacit_buffer *body,
                              coordinator_reply *out, tacit_error *error) {
    Tacit__Wire__LookRequest *request = NULL;
    Tacit__Wire__LookReply reply = TACIT__WIRE__LOOK_REPLY__INIT;
    tacit_buffer definition = TACIT_BUFFER_INIT, signature = TACIT_BUFFER_INIT;
    uint8_t hash[TACIT_TOKEN_HASH_BYTES];
    char study[TACIT_ID_SIZE];
    tacit_study_record record;
    unsigned version;
    tacit_status status;
    (void)party;
    TACIT_CHECK(
        tacit_wire_hear((void **)&request, &tacit__wire__look_request__descriptor, body, &version, error));
    TACIT_CHECK(study_invited_to(self, request->token, hash, study, error));
    TACIT_CHECK(tacit_registry_brief(self->registry, study, &record, &definition, error));
    reply.study = study;
    reply.coordinator = self->name;
    reply.definition = (char *)definition.bytes;
    TACIT_CHECK(coordinator_sign(self, &definition, &signature, error));
    reply.signature = (ProtobufCBinaryData){ signature.length, signature.bytes };
    TACIT_CHECK(tacit_wire_say(&out->bytes, &reply, version, error));
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
    bool asks;    /* whether derived studies may be offered to them */
} study_terms;

/* Was consent given to this study as it is? */
static tacit_status check_consent(coordinator *self, const char *study,
                                  const Tacit__Wire__JoinRequest *joining, study_terms *out,
                                  tacit_error *error) {
    const ProtobufCBinaryData consented = joining->definition_hash;
    tacit_study *read = NULL;
    tacit_study_record record;
    tacit_buffer definition = TACIT_BUFFER_INIT;
    uint8_t hash[TACIT_HASH_BYTES];
    tacit_status status = tacit_registry_brief(self->registry, study, &record, &definition, error);
    if (status == TACIT_OK) {
        crypto_generichash(hash, sizeof hash, definition.bytes, definition.length, NULL, 0);
        if (consented.len != sizeof hash || sodium_memcmp(hash, consented.data, sizeof hash) != 0)
            status = tacit_fail(error, TACIT_REFUSED, "consent was given to another definition of study '%s'",
                                study);
    }
    if (status == TACIT_OK)
        status = tacit_study_parse(&read, tacit_buffer_text(&definition), definition.length, study, error);
    if (status == TACIT_OK) status = coordinator_check_eligible(read, joining->eligible, error);
    if (status == TACIT_OK)
        *out = (study_terms){ read->plan.parties, read->plan.method->schedule != NULL, read->ask_again };
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
        char shown[COORDINATOR_SHOWN_SIZE];
        coordinator_news(self, "%s joined study %s", coordinator_shown(self, party, shown), study);
    }
    if (terms->asks && joining->ask_again)
        TACIT_TRY(tacit_registry_set_ask_again(self->registry, party, error));
    hosted *host = coordinator_find(self, study);
    if (host != NULL) TACIT_TRY(tacit_board_admit(host->board, party, error));
    coordinator_wake_loop(self);
    return TACIT_OK;
}

tacit_status coordinator_join(coordinator *self, const char *stranger, const tacit_buffer *body,
                              coordinator_reply *out, tacit_error *error) {
    Tacit__Wire__JoinRequest *request = NULL;
    Tacit__Wire__JoinReply reply = TACIT__WIRE__JOIN_REPLY__INIT;
    tacit_buffer certificate = TACIT_BUFFER_INIT;
    uint8_t token_hash[TACIT_TOKEN_HASH_BYTES];
    char study[TACIT_ID_SIZE], party[TACIT_ID_SIZE];
    study_terms terms = { 0 };
    unsigned version;
    tacit_status status;
    (void)stranger;
    TACIT_CHECK(
        tacit_wire_hear((void **)&request, &tacit__wire__join_request__descriptor, body, &version, error));
    TACIT_CHECK(study_invited_to(self, request->token, token_hash, study, error));
    TACIT_CHECK(check_consent(self, study, request, &terms, error));
    TACIT_CHECK(admit(self, token_hash, request, study, &terms, party, &certificate, error));
    reply.party = party;
    reply.certificate = (char *)certificate.bytes;
    TACIT_CHECK(tacit_wire_say(&out->bytes, &reply, version, error));
cleanup:
    tacit_buffer_clear(&certificate);
    tacit_wire_free(request);
    return status;
}

/* ---- poll ---- */

static tacit_status pack_finished(coordinator *self, const tacit_study_record *record, unsigned version,
                                  tacit_buffer *out, tacit_error *error) {
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
    reply.event_case = TACIT__WIRE__POLL_REPLY__EVENT_FINISHED;
    reply.finished = &finished;
    TACIT_CHECK(tacit_wire_say(out, &reply, version, error));
cleanup:
    tacit_buffer_clear(&model);
    return status;
}

/* The question is the last field, so that the rest of it can follow from where it is. */
static tacit_status pack_question(coordinator *self, const tacit_buffer *question,
                                  const tacit_buffer *revocations, coordinator_reply *out,
                                  tacit_error *error) {
    enum { QUESTION_TAG = 2 << 3 | 2, MORE = 0x80 }; /* field 2, of a length that follows in sevens of bits */
    Tacit__Wire__PollReply reply = TACIT__WIRE__POLL_REPLY__INIT;
    const size_t shared = tacit_shared_bytes_length(out->rest);
    uint8_t head[1 + 10] = { QUESTION_TAG };
    size_t used = 1, length = question->length + shared;
    reply.authority = (uint32_t)atomic_load(&self->keys)->chain.count;
    reply.revocations = (ProtobufCBinaryData){ revocations->length, revocations->bytes };
    TACIT_TRY(tacit_wire_say(&out->bytes, &reply, out->version, error));
    for (; length >= MORE; length >>= 7) head[used++] = (uint8_t)(length | MORE);
    head[used++] = (uint8_t)length;
    TACIT_TRY(tacit_buffer_append(&out->bytes, head, used, error));
    TACIT_TRY(tacit_buffer_append(&out->bytes, question->bytes, question->length, error));
    if (out->in_parts) return TACIT_OK;
    TACIT_TRY(tacit_buffer_append(&out->bytes, tacit_shared_bytes_at(out->rest), shared, error));
    out->rest = tacit_shared_bytes_free(out->rest);
    return TACIT_OK;
}

/* What the board asks a party. */
static tacit_status ask(coordinator *self, tacit_board *board, const char *party, coordinator_reply *out,
                        tacit_error *error) {
    tacit_buffer question = TACIT_BUFFER_INIT, revocations = TACIT_BUFFER_INIT;
    bool asked = false;
    tacit_status status;
    TACIT_CHECK(tacit_board_admit(board, party, error));
    if (out->only_look) {
        out->result = tacit_board_awaits(board, party) ? TACIT_RESULT_DONE : TACIT_RESULT_NOTHING;
        goto cleanup;
    }
    TACIT_CHECK(tacit_board_read_parts(board, party, &asked, &question, &out->rest, error));
    if (!asked) goto cleanup;
    TACIT_CHECK(coordinator_revocations(self, out->study, &revocations, error));
    TACIT_CHECK(pack_question(self, &question, &revocations, out, error));
    out->result = TACIT_RESULT_DONE;
cleanup:
    if (status != TACIT_OK) out->rest = tacit_shared_bytes_free(out->rest);
    tacit_buffer_clear(&revocations);
    tacit_buffer_clear(&question);
    return status;
}

tacit_status coordinator_news_for(coordinator *self, const char *party, coordinator_reply *out,
                                  tacit_error *error) {
    tacit_study_state state;
    out->result = TACIT_RESULT_NOTHING;
    if (tacit_registry_party_revoked(self->registry, party)) /* while its poll waited */
        return coordinator_say_revoked(error);
    TACIT_TRY(tacit_registry_state(self->registry, out->study, &state, error));
    if (state >= TACIT_STUDY_DONE) {
        tacit_study_record record;
        out->result = TACIT_RESULT_DONE;
        out->is_end = true;
        if (out->only_look) return TACIT_OK;
        TACIT_TRY(tacit_registry_brief(self->registry, out->study, &record, NULL, error));
        return pack_finished(self, &record, out->version, &out->bytes, error);
    }
    tacit_presence presence;
    TACIT_TRY(tacit_registry_presence(self->registry, party, &presence, error));
    hosted *host = coordinator_find(self, out->study);
    if (!presence.consented || presence.away) return TACIT_OK;
    if (host == NULL) return TACIT_OK; /* paused, or added a moment ago: the main loop will host it */
    if (coordinator_arm_is_due(self, host, party)) { /* a reply without an event: it asks about its arm */
        Tacit__Wire__PollReply woken = TACIT__WIRE__POLL_REPLY__INIT;
        out->result = TACIT_RESULT_DONE;
        return out->only_look ? TACIT_OK : tacit_wire_say(&out->bytes, &woken, out->version, error);
    }
    return ask(self, host->board, party, out, error);
}

tacit_status coordinator_poll(coordinator *self, const char *party, const tacit_buffer *body,
                              coordinator_reply *out, tacit_error *error) {
    bool leaving = false, amended = false;
    out->result = TACIT_RESULT_NOTHING;
    TACIT_TRY(tacit_registry_party_study(self->registry, party, out->study, error));
    TACIT_TRY(coordinator_take_standing(self, party, body, out, &leaving, &amended, error));
    if (leaving) return TACIT_OK;
    coordinator_record_contact(self, out->study, party);
    TACIT_TRY(coordinator_news_for(self, party, out, error));
    if (amended && !out->is_end) {
        tacit_buffer_clear(&out->bytes);
        out->rest = tacit_shared_bytes_free(out->rest);
        TACIT_TRY(coordinator_pack_amended(self, out->study, out->version, &out->bytes, error));
        out->result = TACIT_RESULT_DONE;
    }
    out->waits = out->result == TACIT_RESULT_NOTHING;
    return TACIT_OK;
}

/* ---- auxiliary points ---- */

/* To a party of the study only. The bytes stay where they are as long as the server runs (hosted studies are
 * never removed). */
tacit_status coordinator_points(coordinator *self, const char *party, const tacit_buffer *body,
                                coordinator_reply *out, tacit_error *error) {
    tacit_study_record record;
    const char *study = out->study;
    (void)body;
    TACIT_TRY(tacit_registry_party_study(self->registry, party, out->study, error));
    TACIT_TRY(tacit_registry_brief(self->registry, study, &record, NULL, error));
    hosted *host = coordinator_find(self, study);
    if (record.state >= TACIT_STUDY_DONE)
        return tacit_fail(error, TACIT_NOT_FOUND, "study '%s' has ended", study);
    if (host != NULL && host->study->point_count == 0)
        return tacit_fail(error, TACIT_NOT_FOUND, "study '%s' has no auxiliary points", study);
    if (host == NULL) { /* added a moment ago: the main loop will host it */
        out->result = TACIT_RESULT_LATER;
        return tacit_buffer_print(&out->bytes, error, "the study is not served yet");
    }
    out->lent = &host->study->point_bytes;
    uint64_t sent = atomic_fetch_add(&host->points_sent, out->lent->length) + out->lent->length;
    char shown[COORDINATOR_SHOWN_SIZE];
    coordinator_mention(self, party, "study %s: %zu auxiliary points to %s (%zu bytes, %llu to all so far)",
                        study, host->study->point_count, coordinator_shown(self, party, shown),
                        out->lent->length, (unsigned long long)sent);
    return TACIT_OK;
}

/* ---- answer ---- */

tacit_status coordinator_answer(coordinator *self, const char *party, const tacit_buffer *body,
                                coordinator_reply *out, tacit_error *error) {
    TACIT_TRY(tacit_registry_party_study(self->registry, party, out->study, error));
    coordinator_record_contact(self, out->study, party);
    hosted *host = coordinator_find(self, out->study);
    if (host == NULL) return tacit_fail(error, TACIT_NOT_FOUND, "study '%s' asks nothing now", out->study);
    tacit_board_state board = { .open = false };
    tacit_board_look(host->board, &board);                 /* the last answer closes the round */
    bool awaited = tacit_board_awaits(host->board, party); /* else it is noted already */
    /* Counted for a receipt before the answer, which may end the study; and not if that is refused. */
    bool counted = false;
    if (board.open && awaited)
        TACIT_TRY(coordinator_note_round(self, host, party, board.round, &counted, error));
    tacit_status status = tacit_board_answer(host->board, party, body->bytes, body->length, error);
    if (status != TACIT_OK && counted) coordinator_drop_round(self, host, party, board.round);
    if (status == TACIT_OK && board.open && awaited) coordinator_note_answer(self, host, party, board.round);
    return status;
}

/* An answer is as long as the open question makes it; with none open, a refusal that is late is still
 * read. */
size_t coordinator_body_most(coordinator *self, tacit_endpoint endpoint, const char *party) {
    char study[TACIT_ID_SIZE];
    if (party == NULL || (tacit_endpoint_rules(endpoint) & TACIT_ENDPOINT_IS_LONG) == 0)
        return COORDINATOR_SMALL_BODY;
    if (tacit_registry_party_study(self->registry, party, study, NULL) != TACIT_OK)
        return COORDINATOR_SMALL_BODY;
    hosted *host = coordinator_find(self, study);
    size_t most = host != NULL ? tacit_board_answer_most(host->board, party) : 0;
    return most > COORDINATOR_SMALL_ANSWER ? most : COORDINATOR_SMALL_ANSWER;
}

typedef tacit_status service(coordinator *self, const char *party, const tacit_buffer *body,
                             coordinator_reply *out, tacit_error *error);

#define SERVICE(NAME, name, METHOD, rules, help) [TACIT_ENDPOINT_##NAME] = coordinator_##name,
static service *const services[TACIT_ENDPOINTS] = { TACIT_ENDPOINT_TABLE(SERVICE) };

tacit_status coordinator_serve(coordinator *self, tacit_endpoint endpoint, const char *party,
                               const tacit_buffer *body, coordinator_reply *out, tacit_error *error) {
    return services[endpoint](self, party, body, out, error);
}
