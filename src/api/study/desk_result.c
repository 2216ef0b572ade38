/* What a study has found, for people: definition, table, evaluation, card, archive. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "api/document/model_card.h"
#include "api/document/results.h"
#include "api/study/attendance.h"
#include "api/study/desk.h"
#include "method/methods.h"
#include "study/audit_export.h"

/* A study of the folder and, where it has ended with one, its model. */
typedef struct found {
    tacit_registry *registry;
    tacit_study_record record;
    tacit_buffer definition, bytes;
    tacit_model *model;
    tacit_study *study;
    tacit_attendance people;
} found;

static void clear(found *all) {
    tacit_attendance_clear(&all->people);
    tacit_study_free(all->study);
    tacit_model_free(all->model);
    tacit_buffer_clear(&all->bytes);
    tacit_buffer_clear(&all->definition);
    tacit_registry_close(all->registry);
}

static tacit_status find_study(found *out, const tacit_desk_request *request, tacit_error *error) {
    TACIT_TRY(tacit_registry_open(&out->registry, request->folder, false, error));
    return tacit_registry_study(out->registry, request->study, &out->record, &out->definition, error);
}

static tacit_status find_model(found *out, const tacit_desk_request *request, tacit_error *error) {
    TACIT_TRY(find_study(out, request, error));
    TACIT_TRY(tacit_registry_model(out->registry, request->study, &out->bytes, error));
    return tacit_model_parse(&out->model, out->bytes.bytes, out->bytes.length, request->study, error);
}

static void give(tacit_desk_reply *out, tacit_buffer *bytes, const char *type, const char *ending) {
    out->bytes = *bytes;
    *bytes = (tacit_buffer)TACIT_BUFFER_INIT;
    out->type = type;
    out->ending = ending;
}

static tacit_status give_found(tacit_desk_reply *out, const tacit_desk_request *request, bool model,
                               tacit_error *error) {
    found all = { .registry = NULL };
    tacit_status status = (model ? find_model : find_study)(&all, request, error);
    if (status == TACIT_OK)
        give(out, model ? &all.bytes : &all.definition, model ? "application/json" : "application/yaml",
             model ? "model.json" : "study.yaml");
    clear(&all);
    return status;
}

tacit_status tacit_desk_definition(tacit_desk_reply *out, const tacit_desk_request *request,
                                   tacit_error *error) {
    return give_found(out, request, false, error);
}

tacit_status tacit_desk_model(tacit_desk_reply *out, const tacit_desk_request *request, tacit_error *error) {
    return give_found(out, request, true, error);
}

tacit_status tacit_desk_table(tacit_desk_reply *out, const tacit_desk_request *request, tacit_error *error) {
    found all = { .registry = NULL };
    char others[TACIT_METHODS_TEXT];
    tacit_status status;
    TACIT_CHECK(find_model(&all, request, error));
    if (tacit_model_shown_report(all.model) == NULL && all.model->estimates == NULL)
        TACIT_CHECK(tacit_fail(
            error, TACIT_USAGE, "study '%s' has method %s, without standard errors; methods %s can have them",
            request->study, all.model->guarantee.method, tacit_methods_with("infers", "and", others)));
    out->document = tacit_model_shown_report(all.model) != NULL ? tacit_report_document(all.model)
                                                                : tacit_summary_document(all.model);
    if (out->document == NULL) status = tacit_fail_memory(error);
cleanup:
    clear(&all);
    return status;
}

tacit_status tacit_desk_evaluation(tacit_desk_reply *out, const tacit_desk_request *request,
                                   tacit_error *error) {
    found all = { .registry = NULL };
    char names[TACIT_METHODS_TEXT];
    tacit_status status;
    TACIT_CHECK(find_model(&all, request, error));
    if (all.model->report == NULL || strcmp(all.model->report->kind, "evaluate") != 0)
        TACIT_CHECK(tacit_fail(
            error, TACIT_USAGE, "study '%s' has method %s and evaluates nothing: a study of method %s does",
            request->study, all.model->guarantee.method, tacit_methods_with("about-model", "or", names)));
    out->document = tacit_report_document(all.model);
    if (out->document == NULL) status = tacit_fail_memory(error);
cleanup:
    clear(&all);
    return status;
}

static tacit_status make_card(tacit_desk_reply *out, const tacit_desk_request *request, bool page,
                              tacit_error *error) {
    found all = { .registry = NULL };
    uint8_t hash[TACIT_HASH_BYTES];
    char digits[2 * TACIT_HASH_BYTES + 1], file[TACIT_ID_SIZE + 32];
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(find_model(&all, request, error));
    TACIT_CHECK(tacit_study_parse(&all.study, tacit_buffer_text(&all.definition), all.definition.length,
                                  request->study, error));
    TACIT_CHECK(tacit_attendance_read(&all.people, all.registry, request->study, error));
    crypto_generichash(hash, sizeof hash, all.bytes.bytes, all.bytes.length, NULL, 0);
    sodium_bin2hex(digits, sizeof digits, hash, sizeof hash);
    snprintf(file, sizeof file, "%s.model.json", all.record.name);
    const tacit_model_card card = { .model = all.model,
                                    .file = file,
                                    .hash = digits,
                                    .study = all.study,
                                    .party = (const char *const *)all.people.name,
                                    .parties = all.people.count };
    TACIT_CHECK(tacit_model_card_check(&card, error));
    TACIT_CHECK(tacit_model_card_print(&card, page, &text, error));
    give(out, &text, page ? "text/html; charset=utf-8" : "text/markdown; charset=utf-8",
         page ? "card.html" : "card.md");
cleanup:
    tacit_buffer_clear(&text);
    clear(&all);
    return status;
}

tacit_status tacit_desk_card(tacit_desk_reply *out, const tacit_desk_request *request, tacit_error *error) {
    return make_card(out, request, false, error);
}

tacit_status tacit_desk_card_page(tacit_desk_reply *out, const tacit_desk_request *request,
                                  tacit_error *error) {
    return make_card(out, request, true, error);
}

tacit_status tacit_desk_audit(tacit_desk_reply *out, const tacit_desk_request *request, tacit_error *error) {
    tacit_buffer archive = TACIT_BUFFER_INIT;
    tacit_status status = tacit_audit_study(request->folder, request->study, &archive, error);
    if (status == TACIT_OK) give(out, &archive, "application/jsonl", "audit");
    tacit_buffer_clear(&archive);
    return status;
}
