/* The calls of include/tacit/study.h, for a folder or over HTTP. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "api/document/document.h"
#include "api/study/client_parts.h"
#include "api/study/draft.h"
#include "base/memory.h"

/* ---- one call ---- */

static tacit_status call_here(tacit_buffer *out, const char *folder, const tacit_desk_entry *entry,
                              const char *study, const json_t *said, tacit_error *error) {
    const tacit_desk_request request = { .folder = folder, .study = study, .said = said };
    tacit_desk_reply reply = { .document = NULL };
    tacit_status status = entry->call(&reply, &request, error);
    if (status == TACIT_OK && reply.type != NULL)
        status = tacit_buffer_append(out, reply.bytes.bytes, reply.bytes.length, error);
    if (status == TACIT_OK && reply.type == NULL) {
        char *text = NULL;
        status = tacit_document_text(&text, json_incref(reply.document), error);
        if (status == TACIT_OK) status = tacit_buffer_append(out, text, strlen(text), error);
        free(text);
    }
    tacit_desk_reply_clear(&reply);
    return status;
}

tacit_status client_call(tacit_buffer *out, tacit_coordinator *coordinator, const char *name,
                         const char *study, const json_t *said, tacit_error *error) {
    const tacit_desk_entry *entry = tacit_desk_find(name);
    if (entry == NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "a study has no '%s': fetch list, status, definition, parties, rounds, model, table, "
            "evaluation, card, card.html or audit",
            name);
    if (study == NULL && strchr(entry->path, '{') != NULL)
        return tacit_fail(error, TACIT_USAGE, "which study?");
    if (study != NULL && strchr(study, '/') != NULL) /* no part of a path either */
        return tacit_fail(error, TACIT_NOT_FOUND, "no study is called '%s'", study);
    if (coordinator->folder != NULL) return call_here(out, coordinator->folder, entry, study, said, error);
    pthread_mutex_lock(&coordinator->turn);
    tacit_status status =
        client_ask(out, coordinator->client, entry->method, entry->path, study, said, NULL, error);
    pthread_mutex_unlock(&coordinator->turn);
    return status;
}

/* The same for a call that answers a document; `json` may be NULL. `said` is taken over; NULL: no memory. */
static tacit_status ask(char **json, tacit_coordinator *coordinator, const char *name, const char *study,
                        json_t *said, tacit_error *error) {
    tacit_buffer answer = TACIT_BUFFER_INIT;
    tacit_status status =
        said != NULL ? client_call(&answer, coordinator, name, study, said, error) : tacit_fail_memory(error);
    if (status == TACIT_OK && json != NULL)
        status = tacit_bytes_copy(json, answer.bytes, answer.length, error);
    tacit_buffer_clear(&answer);
    json_decref(said);
    return status;
}

/* ---- definitions ---- */

tacit_status tacit_study_draft(char **yaml, const tacit_options *options, tacit_error *error) {
    static const tacit_form form = { .name = "drafting a study", .options = tacit_study_draft_options };
    tacit_arguments *arguments = NULL;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_TRY(tacit_require(yaml, "where to put the definition", error));
    TACIT_CHECK(tacit_form_take(&arguments, &form, options, error));
    TACIT_CHECK(tacit_draft_print(&text, arguments, error));
    TACIT_CHECK(tacit_bytes_copy(yaml, text.bytes, text.length, error));
cleanup:
    tacit_buffer_clear(&text);
    tacit_arguments_free(arguments);
    return status;
}

static const tacit_option definition_options[] = {
    { .name = "file",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FILE",
      .help = "the definition, with the files that it names beside it" },
    { .name = "draft", .kind = TACIT_OPTION_FLAG, .help = "do not open it to parties yet" },
    { .name = "force",
      .kind = TACIT_OPTION_FLAG,
      .help = "add it also if it is expected to be worth nothing" },
    { .name = "signal",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "AUC",
      .help = "the AUC that a model of unlimited rows would have" },
    { .name = NULL },
};

static void say_nothing(void *context, tacit_saying kind, const char *line) {
    (void)context, (void)kind, (void)line;
}

/* A definition in a file, as the text that travels, and its points. A lambda that is left to choose is chosen
 * here. */
static tacit_status put_file(json_t *said, const char *path, double signal, bool chosen, tacit_error *error) {
    tacit_study *study = NULL;
    char *points = NULL;
    tacit_status status;
    const tacit_vetting how = { .signal = signal, .forced = true, .say = say_nothing };
    TACIT_CHECK(tacit_study_load(&study, path, error));
    if (chosen) TACIT_CHECK(tacit_study_vet(study, &how, error));
    json_object_set_new(said, "definition", json_string(tacit_buffer_text(&study->canonical)));
    json_object_set_new(said, "canonical", json_true());
    if (study->point_count == 0) goto cleanup;
    size_t size = sodium_base64_encoded_len(study->point_bytes.length, sodium_base64_VARIANT_ORIGINAL);
    points = TACIT_NEW(char, size);
    if (points == NULL) TACIT_CHECK(tacit_fail_memory(error));
    sodium_bin2base64(points, size, study->point_bytes.bytes, study->point_bytes.length,
                      sodium_base64_VARIANT_ORIGINAL);
    json_object_set_new(said, "points", json_string(points));
cleanup:
    free(points);
    tacit_study_free(study);
    return status;
}

static tacit_status say_definition(json_t **out, const char *definition, const tacit_options *options,
                                   bool chosen, tacit_error *error) {
    static const tacit_form form = { .name = "a study's definition", .options = definition_options };
    tacit_arguments *arguments = NULL;
    tacit_status status;
    json_t *said = json_object();
    TACIT_CHECK(tacit_form_take(&arguments, &form, options, error));
    const char *path = tacit_arguments_text(arguments, "file");
    double signal =
        tacit_arguments_given(arguments, "signal") ? tacit_arguments_number(arguments, "signal") : 0;
    if ((definition == NULL) == (path == NULL))
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "give either the definition itself, or the option 'file' that names it"));
    if (path != NULL) TACIT_CHECK(put_file(said, path, signal, chosen, error));
    if (definition != NULL) {
        json_t *text = json_string(definition);
        if (text == NULL) TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "the definition is not text in UTF-8"));
        json_object_set_new(said, "definition", text);
    }
    json_object_set_new(said, "draft", json_boolean(tacit_arguments_flag(arguments, "draft")));
    json_object_set_new(said, "force", json_boolean(tacit_arguments_flag(arguments, "force")));
    if (signal != 0) json_object_set_new(said, "signal", json_real(signal));
    *out = said;
    said = NULL;
cleanup:
    json_decref(said);
    tacit_arguments_free(arguments);
    return status;
}

static tacit_status define(char **json, tacit_coordinator *coordinator, const char *name, const char *study,
                           const char *definition, const tacit_options *options, tacit_error *error) {
    json_t *said = NULL;
    TACIT_TRY(tacit_require(coordinator, "the coordinator", error));
    TACIT_TRY(say_definition(&said, definition, options, study == NULL, error));
    return ask(json, coordinator, name, study, said, error);
}

tacit_status tacit_study_check(char **json, tacit_coordinator *coordinator, const char *definition,
                               const tacit_options *options, tacit_error *error) {
    return define(json, coordinator, "check", NULL, definition, options, error);
}

tacit_status tacit_study_add(char **json, tacit_coordinator *coordinator, const char *definition,
                             const tacit_options *options, tacit_error *error) {
    return define(json, coordinator, "add", NULL, definition, options, error);
}

tacit_status tacit_study_amend(char **json, tacit_coordinator *coordinator, const char *study,
                               const char *definition, const tacit_options *options, tacit_error *error) {
    TACIT_TRY(tacit_require(study, "the study's name", error));
    return define(json, coordinator, "amend", study, definition, options, error);
}

/* ---- its life ---- */

static const tacit_option invite_options[] = {
    { .name = "for", .kind = TACIT_OPTION_TEXT, .placeholder = "NAME", .help = "the party's name" },
    { .name = "count",
      .kind = TACIT_OPTION_INTEGER,
      .placeholder = "N",
      .help = "how many",
      .fallback = "1" },
    { .name = "days", .kind = TACIT_OPTION_NUMBER, .placeholder = "D", .help = "good for", .fallback = "7" },
    { .name = "url", .kind = TACIT_OPTION_TEXT, .placeholder = "URL", .help = "of the coordinator" },
    { .name = NULL },
};

tacit_status tacit_study_invite(char **json, tacit_coordinator *coordinator, const char *study,
                                const tacit_options *options, tacit_error *error) {
    static const tacit_form form = { .name = "an invitation", .options = invite_options };
    tacit_arguments *arguments = NULL;
    TACIT_TRY(tacit_require(json, "where to put the invitations", error));
    TACIT_TRY(tacit_require(coordinator, "the coordinator", error));
    TACIT_TRY(tacit_form_take(&arguments, &form, options, error));
    const char *called = tacit_arguments_text(arguments, "for"),
               *url = tacit_arguments_text(arguments, "url");
    json_t *said = json_pack("{s:I,s:f}", "count", (json_int_t)tacit_arguments_integer(arguments, "count"),
                             "days", tacit_arguments_number(arguments, "days"));
    if (called != NULL) json_object_set_new(said, "for", tacit_json_text(called));
    if (url != NULL) json_object_set_new(said, "url", tacit_json_text(url));
    tacit_arguments_free(arguments);
    return ask(json, coordinator, "invite", study, said, error);
}

static tacit_status change(tacit_coordinator *coordinator, const char *verb, const char *study,
                           tacit_error *error) {
    TACIT_TRY(tacit_require(coordinator, "the coordinator", error));
    return ask(NULL, coordinator, verb, study, json_object(), error);
}

tacit_status tacit_study_open(tacit_coordinator *coordinator, const char *study, tacit_error *error) {
    return change(coordinator, "open", study, error);
}

tacit_status tacit_study_pause(tacit_coordinator *coordinator, const char *study, tacit_error *error) {
    return change(coordinator, "pause", study, error);
}

tacit_status tacit_study_resume(tacit_coordinator *coordinator, const char *study, tacit_error *error) {
    return change(coordinator, "resume", study, error);
}

tacit_status tacit_study_close(tacit_coordinator *coordinator, const char *study, tacit_error *error) {
    return change(coordinator, "close", study, error);
}

/* ---- what it has found ---- */

tacit_status tacit_study_fetch(void **bytes, size_t *length, tacit_coordinator *coordinator,
                               const char *study, const char *what, tacit_error *error) {
    static const char *const changing[] = { "check", "add",    "amend", "invite", "open",
                                            "pause", "resume", "close", NULL };
    tacit_buffer answer = TACIT_BUFFER_INIT;
    char *copy = NULL;
    TACIT_TRY(tacit_require(bytes, "where to put it", error));
    TACIT_TRY(tacit_require(coordinator, "the coordinator", error));
    TACIT_TRY(tacit_require(what, "what to fetch", error));
    for (const char *const *one = changing; *one != NULL; one++)
        if (strcmp(*one, what) == 0) what = "";
    tacit_status status = client_call(&answer, coordinator, what, study, NULL, error);
    if (status == TACIT_OK) status = tacit_bytes_copy(&copy, answer.bytes, answer.length, error);
    if (status == TACIT_OK) {
        *bytes = copy;
        if (length != NULL) *length = answer.length;
    }
    tacit_buffer_clear(&answer);
    return status;
}
