/* What a study has found, for people: definition, table, evaluation, card, archive. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "api/document/model_card.h"
#include "api/document/results.h"
#include "api/study/attendance.h"
#include "api/study/desk.h"
#include "method/methods.h"
#include "net/clock.h"
#include "person/instrument/instrument.h"
#include "study/archive/archive.h"
#include "study/archive/audit_export.h"

/* A study of the folder and, where it has ended with one, its model. */
typedef struct found {
    tacit_registry *registry;
    tacit_study_record record;
    tacit_buffer definition, bytes;
    tacit_model *model;
    tacit_model *validation; /* what later parties found about it; NULL: nothing yet */
    tacit_study *study;
    tacit_attendance people;
} found;

static void clear(found *all) {
    tacit_attendance_clear(&all->people);
    tacit_study_free(all->study);
    tacit_model_free(all->validation);
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

/* The report of the study that validates this one, where it has ended with one. Another study may have its
 * name. */
static tacit_status find_validation(found *all, tacit_error *error) {
    char name[TACIT_ID_SIZE];
    tacit_buffer bytes = TACIT_BUFFER_INIT, definition = TACIT_BUFFER_INIT;
    tacit_study_record record;
    tacit_study *study = NULL;
    tacit_study_state state = TACIT_STUDY_DRAFT;
    tacit_status status = TACIT_OK;
    if (!all->study->stop.validates || !tacit_validating_name(name, all->record.name) ||
        tacit_registry_state(all->registry, name, &state, NULL) != TACIT_OK || state != TACIT_STUDY_DONE)
        return TACIT_OK;
    TACIT_CHECK(tacit_registry_study(all->registry, name, &record, &definition, error));
    TACIT_CHECK(tacit_study_parse(&study, tacit_buffer_text(&definition), definition.length, name, error));
    if (strcmp(study->validates, all->record.name) != 0) goto cleanup;
    TACIT_CHECK(tacit_registry_model(all->registry, name, &bytes, error));
    TACIT_CHECK(tacit_model_parse(&all->validation, bytes.bytes, bytes.length, name, error));
cleanup:
    tacit_study_free(study);
    tacit_buffer_clear(&definition);
    tacit_buffer_clear(&bytes);
    return status;
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
    TACIT_CHECK(find_validation(&all, error));
    crypto_generichash(hash, sizeof hash, all.bytes.bytes, all.bytes.length, NULL, 0);
    sodium_bin2hex(digits, sizeof digits, hash, sizeof hash);
    snprintf(file, sizeof file, "%s.model.json", all.record.name);
    const tacit_card_evaluation validation = { all.validation, TACIT_CARD_ROWS_OTHERS };
    const tacit_model_card card = { .model = all.model,
                                    .file = file,
                                    .hash = digits,
                                    .evaluation = &validation,
                                    .evaluations = all.validation != NULL,
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

/* ---- the archive ---- */

/* The table of a model that has one; NULL where it has none. */
static json_t *table_of(const tacit_model *model) {
    return tacit_model_shown_report(model) != NULL ? tacit_report_document(model)
           : model->estimates != NULL              ? tacit_summary_document(model)
                                                   : NULL;
}

static tacit_status card_without_names(const found *all, tacit_buffer *out, tacit_error *error) {
    uint8_t hash[TACIT_HASH_BYTES];
    char digits[2 * TACIT_HASH_BYTES + 1], file[TACIT_ID_SIZE + 32];
    crypto_generichash(hash, sizeof hash, all->bytes.bytes, all->bytes.length, NULL, 0);
    sodium_bin2hex(digits, sizeof digits, hash, sizeof hash);
    snprintf(file, sizeof file, "%s.model.json", all->record.name);
    const tacit_card_evaluation validation = { all->validation, TACIT_CARD_ROWS_OTHERS };
    const tacit_model_card card = { .model = all->model,
                                    .file = file,
                                    .hash = digits,
                                    .evaluation = &validation,
                                    .evaluations = all->validation != NULL,
                                    .study = all->study };
    return tacit_model_card_print(&card, false, out, error);
}

/* Is a study about the model of another one? */
static tacit_status check_about(const found *all, const char *name, tacit_error *error) {
    tacit_buffer definition = TACIT_BUFFER_INIT, own = TACIT_BUFFER_INIT, evaluated = TACIT_BUFFER_INIT;
    tacit_study_record record;
    tacit_study *study = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_registry_study(all->registry, name, &record, &definition, error));
    TACIT_CHECK(tacit_study_parse(&study, tacit_buffer_text(&definition), definition.length, name, error));
    if (all->model != NULL) TACIT_CHECK(tacit_model_print(all->model, &own, error));
    if (study->model != NULL) TACIT_CHECK(tacit_model_print(study->model, &evaluated, error));
    if (own.length == 0 || own.length != evaluated.length ||
        memcmp(own.bytes, evaluated.bytes, own.length) != 0)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "study '%.60s' has not evaluated the model of study '%s'",
                               name, all->record.name));
cleanup:
    tacit_study_free(study);
    tacit_buffer_clear(&definition);
    tacit_buffer_clear(&own);
    tacit_buffer_clear(&evaluated);
    return status;
}

/* What another study of the folder found about this one's model; of other studies nothing is told. */
static tacit_status read_evaluation(json_t **out, const found *all, const char *folder, const char *name,
                                    tacit_error *error) {
    const tacit_desk_request request = { .folder = folder, .study = name };
    tacit_desk_reply reply = { .document = NULL };
    if (name == NULL) return TACIT_OK;
    TACIT_TRY(check_about(all, name, error));
    tacit_status status = tacit_desk_evaluation(&reply, &request, error);
    *out = json_incref(reply.document);
    tacit_desk_reply_clear(&reply);
    return status;
}

static tacit_status publish(json_t **out, const found *all, const tacit_archive_parts *parts,
                            tacit_buffer *bytes, tacit_error *error) {
    char id[TACIT_ARCHIVE_ID_SIZE];
    tacit_buffer made = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_archive_make(&made, id, parts, error));
    const tacit_archived about = { id, all->record.name, all->study->title, tacit_clock_wall_seconds() };
    TACIT_CHECK(tacit_registry_archive(all->registry, &about, &made, error));
    if (bytes != NULL) TACIT_CHECK(tacit_buffer_append(bytes, made.bytes, made.length, error));
    *out = json_pack("{s:s,s:s,s:I}", "study", all->record.name, "id", id, "bytes", (json_int_t)made.length);
    if (*out == NULL) status = tacit_fail_memory(error);
cleanup:
    tacit_buffer_clear(&made);
    return status;
}

tacit_status tacit_desk_check_instrument(const char *text, tacit_error *error) {
    tacit_instrument *read = NULL;
    if (text == NULL) return tacit_fail(error, TACIT_USAGE, "instruments are texts of questionnaires");
    tacit_status status = tacit_instrument_parse(&read, text, strlen(text), "a questionnaire", error);
    tacit_instrument_free(read);
    return status;
}

/* Those of the definition, and others that it does not have. */
static json_t *all_instruments(const tacit_study *study, const json_t *others) {
    json_t *out = json_array(), *each;
    size_t i;
    for (i = 0; out != NULL && i < study->instrument_count; i++)
        json_array_append_new(
            out, json_stringn((const char *)study->instruments[i].bytes, study->instruments[i].length));
    json_array_foreach((json_t *)others, i, each) {
        bool there = false;
        for (size_t k = 0; k < json_array_size(out); k++)
            there = there || json_equal(json_array_get(out, k), each);
        if (!there) json_array_append(out, each);
    }
    return out;
}

tacit_status tacit_desk_archive(json_t **out, const char *folder, const char *study, const char *evaluation,
                                const json_t *instruments, tacit_buffer *bytes, tacit_error *error) {
    const tacit_desk_request request = { .folder = folder, .study = study };
    found all = { .registry = NULL };
    json_t *table = NULL, *evaluated = NULL, *questions = NULL;
    tacit_buffer card = TACIT_BUFFER_INIT;
    char name[TACIT_ID_SIZE];
    tacit_status status;
    TACIT_CHECK(find_study(&all, &request, error));
    if (all.record.state < TACIT_STUDY_DONE)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "study '%s' is %s: one that has ended is archived", study,
                               tacit_study_state_name(all.record.state)));
    TACIT_CHECK(tacit_study_parse(&all.study, tacit_buffer_text(&all.definition), all.definition.length,
                                  study, error));
    TACIT_CHECK(tacit_registry_get(all.registry, "name", name, sizeof name, error));
    if (all.record.state == TACIT_STUDY_DONE) {
        TACIT_CHECK(tacit_registry_model(all.registry, study, &all.bytes, error));
        TACIT_CHECK(tacit_model_parse(&all.model, all.bytes.bytes, all.bytes.length, study, error));
        TACIT_CHECK(find_validation(&all, error));
        if (all.model->report == NULL) /* a report is shown as its table */
            TACIT_CHECK(card_without_names(&all, &card, error));
        table = table_of(all.model);
    }
    TACIT_CHECK(read_evaluation(&evaluated, &all, folder, evaluation, error));
    if (evaluated == NULL && all.validation != NULL) evaluated = tacit_report_document(all.validation);
    questions = all_instruments(all.study, instruments);
    if (questions == NULL) TACIT_CHECK(tacit_fail_memory(error));
    /* Why a study failed is told in words of parties, names included. */
    const char *reason = all.record.state == TACIT_STUDY_DONE ? all.record.reason : "";
    const tacit_archive_parts parts = { name,
                                        all.study,
                                        tacit_study_state_name(all.record.state),
                                        reason,
                                        all.record.version,
                                        all.record.joined,
                                        &all.bytes,
                                        &card,
                                        table,
                                        evaluated,
                                        json_array_size(questions) > 0 ? questions : NULL };
    TACIT_CHECK(publish(out, &all, &parts, bytes, error));
cleanup:
    json_decref(questions);
    json_decref(table);
    json_decref(evaluated);
    tacit_buffer_clear(&card);
    clear(&all);
    return status;
}

tacit_status tacit_desk_archive_ended(const char *folder, const char *study, char *id, size_t size,
                                      tacit_error *error) {
    json_t *made = NULL;
    tacit_status status = tacit_desk_archive(&made, folder, study, NULL, NULL, NULL, error);
    if (status == TACIT_OK) snprintf(id, size, "%s", json_string_value(json_object_get(made, "id")));
    json_decref(made);
    return status;
}

tacit_status tacit_desk_call_archive(tacit_desk_reply *out, const tacit_desk_request *request,
                                     tacit_error *error) {
    const json_t *each, *instruments = json_object_get(request->said, "instruments");
    size_t i;
    if (instruments != NULL && !json_is_array(instruments))
        return tacit_fail(error, TACIT_USAGE, "instruments are a list of texts of questionnaires");
    json_array_foreach(instruments, i, each)
        TACIT_TRY(tacit_desk_check_instrument(json_string_value(each), error));
    return tacit_desk_archive(&out->document, request->folder, request->study,
                              json_string_value(json_object_get(request->said, "evaluation")), instruments,
                              NULL, error);
}
