/* Definitions at the desk: checked, added, amended. */
#include <sodium.h>
#include <string.h>

#include "api/document/json_text.h"
#include "api/study/desk.h"
#include "api/study/outcome.h"
#include "base/memory.h"
#include "coordinator/coordinator.h"
#include "data/schema/needed_columns.h"
#include "method/methods.h"
#include "study/json_value.h"
#include "study/round_log.h"
#include "study/study_settings.h"

tacit_status tacit_desk_store(json_t **out, const char *folder, tacit_study *study, bool draft,
                              tacit_error *error) {
    tacit_registry *registry = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_registry_open(&registry, folder, false, error));
    TACIT_CHECK(tacit_coordinator_settle_keys(folder, study, error));
    TACIT_CHECK((draft ? tacit_registry_add_draft : tacit_registry_add_study)(
        registry, study->name, tacit_buffer_text(&study->canonical), &study->point_bytes, error));
    *out = json_pack("{s:s,s:s,s:s}", "study", study->name, "method", study->plan.method->name, "state",
                     draft ? "draft" : "recruiting");
    if (*out == NULL) status = tacit_fail_memory(error);
cleanup:
    tacit_registry_close(registry);
    return status;
}

tacit_status tacit_desk_replace(json_t **out, const char *folder, tacit_study *study, tacit_error *error) {
    tacit_registry *registry = NULL;
    tacit_study_record record;
    tacit_status status;
    TACIT_CHECK(tacit_registry_open(&registry, folder, false, error));
    TACIT_CHECK(tacit_coordinator_settle_keys(folder, study, error));
    TACIT_CHECK(tacit_registry_amend(registry, study->name, tacit_buffer_text(&study->canonical),
                                     &study->point_bytes, error));
    tacit_rounds_forget(folder, study->name);
    TACIT_CHECK(tacit_registry_study(registry, study->name, &record, NULL, error));
    *out = json_pack("{s:s,s:s,s:I,s:I}", "study", study->name, "state", tacit_study_state_name(record.state),
                     "version", (json_int_t)record.version, "outdated", (json_int_t)record.outdated);
    if (*out == NULL) status = tacit_fail_memory(error);
cleanup:
    tacit_registry_close(registry);
    return status;
}

/* ---- from a request ---- */

/* The points of a definition that has some, in Base64. */
static tacit_status take_points(tacit_study *study, const json_t *said, tacit_error *error) {
    const char *text = json_string_value(json_object_get(said, "points"));
    if (study->point_count == 0) return TACIT_OK;
    if (text == NULL)
        return tacit_fail(error, TACIT_INPUT,
                          "the definition has public points, and the request has none: send their bytes as "
                          "'points', in Base64");
    size_t length = strlen(text), size = 0;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    uint8_t *raw = TACIT_NEW(uint8_t, length + 1);
    tacit_status status = raw != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK &&
        sodium_base642bin(raw, length, text, length, NULL, &size, NULL, sodium_base64_VARIANT_ORIGINAL) != 0)
        status = tacit_fail(error, TACIT_INPUT, "'points' is not in Base64");
    if (status == TACIT_OK) status = tacit_buffer_append(&bytes, raw, size, error);
    if (status == TACIT_OK) status = tacit_study_take_points(study, &bytes, NULL, error);
    free(raw);
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status read_definition(tacit_study **out, const json_t *said, tacit_error *error) {
    const char *text = json_string_value(json_object_get(said, "definition"));
    tacit_study *study = NULL;
    if (text == NULL)
        return tacit_fail(error, TACIT_INPUT,
                          "a request needs the study's definition as 'definition', YAML that names no file");
    TACIT_TRY((json_is_true(json_object_get(said, "canonical")) ? tacit_study_parse : tacit_study_compose)(
        &study, text, strlen(text), "the definition", error));
    tacit_status status = take_points(study, said, error);
    if (status == TACIT_OK)
        *out = study;
    else
        tacit_study_free(study);
    return status;
}

static void remark(void *context, tacit_saying kind, const char *line) {
    static const char *const names[] = { "expected", "note", "warning" };
    json_t **list = context;
    *list =
        tacit_json_append(*list, json_pack("{s:s,s:o}", "kind", names[kind], "line", tacit_json_text(line)));
}

/* The study, vetted; `remarks` receives what was said about it. */
static tacit_status prepare(tacit_study **out, json_t **remarks, const tacit_desk_request *request,
                            tacit_error *error) {
    tacit_study *study = NULL;
    json_t *list = json_array();
    const tacit_vetting how = {
        .signal = json_number_value(json_object_get(request->said, "signal")),
        .forced = json_is_true(json_object_get(request->said, "force")),
        .progress = request->progress,
        .say = remark,
        .context = &list,
    };
    tacit_status status;
    if (how.signal != 0 && !(how.signal > 0.5 && how.signal <= 0.999))
        TACIT_CHECK(
            tacit_fail(error, TACIT_USAGE, "the option 'signal' must be above 0.5, and 0.999 at most"));
    TACIT_CHECK(read_definition(&study, request->said, error));
    TACIT_CHECK(tacit_study_vet(study, &how, error));
    *out = study;
    *remarks = list;
    return TACIT_OK;
cleanup:
    json_decref(list);
    tacit_study_free(study);
    return status;
}

/* ---- for a form that makes a definition ---- */

typedef struct column_list {
    const tacit_schema *schema;
    json_t *list;
} column_list;

static tacit_status list_column(void *context, const tacit_needed_column *needed, tacit_error *error) {
    column_list *self = context;
    self->list = tacit_json_append(
        self->list, json_pack("{s:o,s:s,s:o,s:o,s:b}", "name", tacit_json_text(needed->name), "role",
                              needed->role, "values", tacit_json_text(needed->values), "outcome",
                              tacit_outcome_kinds(self->schema, needed->name), "event",
                              (int)tacit_outcome_is_event(self->schema, needed->name)));
    return self->list != NULL ? TACIT_OK : tacit_fail_memory(error);
}

/* Those that can be deployed, and need no file beside the schema. */
static json_t *methods_document(void) {
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && tacit_methods[i] != NULL; i++) {
        const tacit_method *each = tacit_methods[i];
        if (each->undeployable != NULL || each->needs_points || each->needs_model || each->needs_target ||
            each->compute != NULL || each->schedule != NULL)
            continue;
        list = tacit_json_append(list, json_pack("{s:s,s:s,s:b}", "name", each->name, "title", each->title,
                                                 "exact", each->noise_free));
    }
    return list;
}

static json_t *settings_document(void) {
    json_t *list = json_array();
    for (const tacit_study_setting *one = tacit_study_settings; list != NULL && one->name != NULL; one++)
        list = tacit_json_append(list, json_string(one->name));
    return list;
}

/* Another column as the outcome, where the request names one; then `text` receives the schema with it. */
static tacit_status take_outcome(tacit_schema **schema, const json_t *said, tacit_buffer *text,
                                 tacit_error *error) {
    const json_t *outcome = json_object_get(said, "outcome");
    const tacit_outcome_wish wanted = { json_string_value(json_object_get(outcome, "column")),
                                        json_string_value(json_object_get(outcome, "kind")),
                                        json_string_value(json_object_get(outcome, "event")) };
    if (outcome == NULL) return TACIT_OK;
    if (wanted.column == NULL || wanted.kind == NULL)
        return tacit_fail(error, TACIT_INPUT,
                          "an outcome is {\"column\": NAME, \"kind\": class, number, count or time, "
                          "\"event\": NAME of a time}");
    TACIT_TRY(tacit_schema_exchange_outcome(schema, &wanted, error));
    return tacit_schema_print(*schema, NULL, text, error);
}

tacit_status tacit_desk_check_schema(tacit_desk_reply *out, const tacit_desk_request *request,
                                     tacit_error *error) {
    const char *text = json_string_value(json_object_get(request->said, "schema"));
    tacit_buffer exchanged = TACIT_BUFFER_INIT;
    tacit_schema *schema = NULL;
    column_list columns = { NULL, json_array() };
    tacit_status status;
    if (text == NULL)
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "a request needs the text of a schema as 'schema'"));
    TACIT_CHECK(tacit_schema_parse(&schema, text, strlen(text), "the schema", error));
    TACIT_CHECK(tacit_schema_check_public(schema, error));
    TACIT_CHECK(take_outcome(&schema, request->said, &exchanged, error));
    columns.schema = schema;
    TACIT_CHECK(tacit_schema_needed(schema, list_column, &columns, error));
    out->document = json_pack("{s:O,s:s,s:s,s:o,s:o}", "columns", columns.list, "kind",
                              tacit_response_name(schema->response), "schema",
                              exchanged.length > 0 ? tacit_buffer_text(&exchanged) : text, "methods",
                              methods_document(), "settings", settings_document());
    if (out->document == NULL) status = tacit_fail_memory(error);
cleanup:
    json_decref(columns.list);
    tacit_buffer_clear(&exchanged);
    tacit_schema_free(schema);
    return status;
}

/* What a participant will read: the lines of consent that settings have, and who learns what. */
static tacit_status consent_document(json_t **out, const tacit_study *study, tacit_error *error) {
    char line[TACIT_STUDY_VALUE_SIZE];
    json_t *explanation = NULL, *lines = json_array();
    tacit_status status = tacit_json_explanation(&explanation, &study->plan, error);
    for (const tacit_study_setting *one = tacit_study_settings; one->name != NULL && status == TACIT_OK;
         one++)
        if (tacit_study_setting_terms(study, one, line)[0] != 0)
            lines = tacit_json_append(
                lines, json_pack("{s:s,s:o}", "setting", one->name, "line", tacit_json_text(line)));
    if (status != TACIT_OK) {
        json_decref(lines);
        return status;
    }
    *out = json_pack("{s:s,s:o,s:o,s:o,s:o}", "title", study->title, "description",
                     study->description.length > 0
                         ? json_stringn((const char *)study->description.bytes, study->description.length)
                         : json_null(),
                     "document",
                     study->document.length > 0
                         ? json_stringn((const char *)study->document.bytes, study->document.length)
                         : json_null(),
                     "lines", lines, "explanation", explanation);
    return *out != NULL ? TACIT_OK : tacit_fail_memory(error);
}

tacit_status tacit_desk_check_definition(tacit_desk_reply *out, const tacit_desk_request *request,
                                         tacit_error *error) {
    char hash[2 * TACIT_HASH_BYTES + 1];
    tacit_study *study = NULL;
    json_t *remarks = NULL;
    tacit_prices prices = { .event = { .count = 0 } };
    TACIT_TRY(prepare(&study, &remarks, request, error));
    sodium_bin2hex(hash, sizeof hash, study->hash, sizeof study->hash);
    bool priced = tacit_plan_price(&study->plan, &prices, NULL) == TACIT_OK;
    out->document =
        json_pack("{s:s,s:s,s:s,s:s,s:I,s:I,s:o,s:o,s:o}", "study", study->name, "method",
                  study->plan.method->name, "hash", hash, "definition", tacit_buffer_text(&study->canonical),
                  "parties", (json_int_t)study->plan.parties, "features", (json_int_t)study->plan.features,
                  "lambda", tacit_json_number(study->plan.lambda), "price",
                  priced ? tacit_json_price(&prices.charged) : json_null(), "remarks", remarks);
    json_t *consent = NULL;
    tacit_status status = consent_document(&consent, study, error);
    tacit_study_free(study);
    if (status != TACIT_OK) return status; /* the reply is cleared by whoever asked */
    return json_object_set_new(out->document, "consent", consent) == 0 ? TACIT_OK : tacit_fail_memory(error);
}

tacit_status tacit_desk_add(tacit_desk_reply *out, const tacit_desk_request *request, tacit_error *error) {
    tacit_study *study = NULL;
    json_t *remarks = NULL;
    TACIT_TRY(prepare(&study, &remarks, request, error));
    tacit_status status = tacit_desk_store(&out->document, request->folder, study,
                                           json_is_true(json_object_get(request->said, "draft")), error);
    if (status == TACIT_OK && json_object_set(out->document, "remarks", remarks) != 0)
        status = tacit_fail_memory(error);
    json_decref(remarks);
    tacit_study_free(study);
    return status;
}

tacit_status tacit_desk_amend(tacit_desk_reply *out, const tacit_desk_request *request, tacit_error *error) {
    tacit_study *study = NULL;
    TACIT_TRY(read_definition(&study, request->said, error));
    tacit_status status =
        strcmp(study->name, request->study) == 0
            ? tacit_desk_replace(&out->document, request->folder, study, error)
            : tacit_fail(error, TACIT_USAGE,
                         "the definition is of study '%s', and was sent to '%s': an amended study keeps its "
                         "name",
                         study->name, request->study);
    tacit_study_free(study);
    return status;
}
