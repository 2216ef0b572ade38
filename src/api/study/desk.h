/*
 * What a statistician asks of a coordinator's folder: add, amend, invite, open, pause, resume, close a study,
 * and fetch what it has found. One table for the coordinator's HTTP interface (desk_routes.c), for the calls
 * of include/tacit/study.h, and for the commands `tacit study ...`: same checks, same sentences.
 *
 * All of it works on the folder, whether a coordinator serves it at the moment or not; one that does looks at
 * the registry ten times a second.
 */
#pragma once

#include <jansson.h>

#include "api/study/vetting.h"
#include "base/buffer.h"
#include "study/registry.h"
#include "web/web.h"

/* The largest body that a call takes: a definition with its public points. */
enum { TACIT_DESK_BODY_MOST = 16 << 20, TACIT_DESK_INVITATIONS = 10000, TACIT_DESK_DAYS = 365 };

typedef struct tacit_desk_request {
    const char *folder;
    const char *study;  /* by name; NULL where the call is about none */
    const json_t *said; /* an object with what else is asked; NULL: nothing */
    const tacit_progress *progress;
} tacit_desk_request;

/* A document, or bytes with their type. */
typedef struct tacit_desk_reply {
    json_t *document;
    tacit_buffer bytes;
    const char *type, *ending; /* of a file with the bytes; NULL: a document */
} tacit_desk_reply;

typedef tacit_status tacit_desk_call(tacit_desk_reply *out, const tacit_desk_request *request,
                                     tacit_error *error);

typedef struct tacit_desk_entry {
    const char *name, *method, *path; /* "/v1/studies/{study}/invite" */
    tacit_desk_call *call;
    size_t body_most; /* 0: a few words */
} tacit_desk_entry;

/* X(ID, name, method, path, call, largest body, what docs/openapi.yaml says) */
#define TACIT_DESK_TABLE(X)                                                                                  \
    X(CHECK, "check", "POST", "/v1/definitions", tacit_desk_check_definition, TACIT_DESK_BODY_MOST,          \
      "Check a definition without adding it")                                                                \
    X(SCHEMA, "schema", "POST", "/v1/schemas", tacit_desk_check_schema, 1 << 20,                             \
      "Check a schema, and list its columns and the methods that a study of them may have")                  \
    X(ADD, "add", "POST", "/v1/studies", tacit_desk_add, TACIT_DESK_BODY_MOST,                               \
      "Add a study, as `tacit study new`")                                                                   \
    X(AMEND, "amend", "POST", "/v1/studies/{study}/amend", tacit_desk_amend, TACIT_DESK_BODY_MOST,           \
      "Replace a study's definition and ask for consent again, as `tacit study amend`")                      \
    X(INVITE, "invite", "POST", "/v1/studies/{study}/invite", tacit_desk_call_invite, 0,                     \
      "Make single-use invitations, as `tacit study invite`")                                                \
    X(OPEN, "open", "POST", "/v1/studies/{study}/open", tacit_desk_open, 0,                                  \
      "Open a draft to parties, as `tacit study open`")                                                      \
    X(PAUSE, "pause", "POST", "/v1/studies/{study}/pause", tacit_desk_pause, 0,                              \
      "Ask nothing until the study is resumed")                                                              \
    X(RESUME, "resume", "POST", "/v1/studies/{study}/resume", tacit_desk_resume, 0,                          \
      "Go on with a paused study")                                                                           \
    X(CLOSE, "close", "POST", "/v1/studies/{study}/close", tacit_desk_close, 0,                              \
      "End a study without a model, as `tacit study close`")                                                 \
    X(DEFINITION, "definition", "GET", "/v1/studies/{study}/definition", tacit_desk_definition, 0,           \
      "The definition that parties consent to, as YAML")                                                     \
    X(TABLE, "table", "GET", "/v1/studies/{study}/table", tacit_desk_table, 0,                               \
      "The coefficients or tables of a finished study, as `tacit summary --json`")                           \
    X(EVALUATION, "evaluation", "GET", "/v1/studies/{study}/evaluation", tacit_desk_evaluation, 0,           \
      "What a finished study that evaluates a model has found")                                              \
    X(CARD, "card", "GET", "/v1/studies/{study}/card", tacit_desk_card, 0,                                   \
      "The card of a finished study's model in Markdown, as `tacit card`")                                   \
    X(CARD_PAGE, "card.html", "GET", "/v1/studies/{study}/card.html", tacit_desk_card_page, 0,               \
      "The card of a finished study's model as a page, as `tacit card`")                                     \
    X(APPLICANTS, "applicants", "GET", "/v1/studies/{study}/applicants", tacit_desk_applicants, 0,           \
      "Who asked to join, and what was decided, as `tacit study applicants`")                                \
    X(ACCEPT, "accept", "POST", "/v1/studies/{study}/accept", tacit_desk_accept, 0,                          \
      "Let an applicant join, as `tacit study accept`")                                                      \
    X(DECLINE, "decline", "POST", "/v1/studies/{study}/decline", tacit_desk_decline, 0,                      \
      "Decline an applicant, as `tacit study decline`")                                                      \
    X(ARCHIVE, "archive", "POST", "/v1/studies/{study}/archive", tacit_desk_call_archive, 1 << 20,           \
      "Publish an ended study under a permanent id, as `tacit study archive`")                               \
    X(AUDIT, "audit", "GET", "/v1/studies/{study}/audit", tacit_desk_audit, 0,                               \
      "The signed archive of what happened, as `tacit export-audit`")

/* X(name, path, call): over HTTP the dashboard serves these itself, and knows more. */
#define TACIT_DESK_SHOWN(X)                                                                                  \
    X("list", "/v1/studies", show_list)                                                                      \
    X("status", "/v1/studies/{study}", show_status)                                                          \
    X("rounds", "/v1/studies/{study}/rounds", show_rounds)                                                   \
    X("parties", "/v1/studies/{study}/parties", show_parties)                                                \
    X("model", "/v1/studies/{study}/model", tacit_desk_model)

#define TACIT_DESK_ID(id, ...) TACIT_DESK_##id,
enum { TACIT_DESK_TABLE(TACIT_DESK_ID) TACIT_DESK_ROUTES };

extern const tacit_desk_entry tacit_desk_entries[];

/* NULL: none is called so. */
const tacit_desk_entry *tacit_desk_find(const char *name);
void tacit_desk_reply_clear(tacit_desk_reply *reply);

/* The table as routes of the dashboard, TACIT_DESK_ROUTES of them; their context is the folder. */
extern const struct web_further tacit_desk_routes[TACIT_DESK_ROUTES];

/* ---- for commands, which read a definition from a file ---- */

/* {"study", "method", "state"}. This and the next write the coordinator's keys into a definition that needs
 * them. */
tacit_status tacit_desk_store(json_t **out, const char *folder, tacit_study *study, bool draft,
                              tacit_error *error);
/* {"study", "state", "version", "outdated"} */
tacit_status tacit_desk_replace(json_t **out, const char *folder, tacit_study *study, tacit_error *error);

/* One of "open", "pause", "resume", "close"; {"study", "state"}. */
tacit_status tacit_desk_change(json_t **out, const char *folder, const char *study, const char *verb,
                               tacit_error *error);

typedef struct tacit_desk_invitations {
    const char *called; /* NULL: without a name */
    const char *url;    /* NULL: that of the coordinator */
    int64_t count;
    double days;
} tacit_desk_invitations;

/* {"study", "expires", "invitations", "called"} */
tacit_status tacit_desk_invite(json_t **out, const char *folder, const char *study,
                               const tacit_desk_invitations *wanted, tacit_error *error);

/* {"study", "applicant", "state"} */
tacit_status tacit_desk_decide(json_t **out, const char *folder, const char *study, const char *applicant,
                               bool accept, tacit_error *error);

/* TACIT_INPUT, with its line, unless the text is a questionnaire. */
tacit_status tacit_desk_check_instrument(const char *text, tacit_error *error);

/* Publish an ended study: {"study", "id", "bytes"}, and the document appended to `bytes`, which may be NULL.
 * `evaluation` names a study of the folder that evaluated its model, `instruments` is an array of
 * questionnaires as they are, beside those of the definition; both may be NULL. */
tacit_status tacit_desk_archive(json_t **out, const char *folder, const char *study, const char *evaluation,
                                const json_t *instruments, tacit_buffer *bytes, tacit_error *error);

/* What a coordinator does once a study has ended whose definition says `archive: yes`. */
tacit_status tacit_desk_archive_ended(const char *folder, const char *study, char *id, size_t size,
                                      tacit_error *error);

/* ---- the calls of the table ---- */

tacit_desk_call tacit_desk_check_schema, tacit_desk_check_definition, tacit_desk_add,
    tacit_desk_amend; /* desk_definition.c */
tacit_desk_call tacit_desk_open, tacit_desk_pause, tacit_desk_resume, tacit_desk_close,
    tacit_desk_call_invite;
tacit_desk_call tacit_desk_definition, tacit_desk_table, tacit_desk_evaluation, tacit_desk_card,
    tacit_desk_card_page, tacit_desk_audit, tacit_desk_model;                 /* desk_result.c */
tacit_desk_call tacit_desk_call_archive;                                      /* the same file */
tacit_desk_call tacit_desk_applicants, tacit_desk_accept, tacit_desk_decline; /* desk_applicants.c */
