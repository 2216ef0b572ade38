/* A study's life at the desk: changes, invitations, where it stands; and the table of calls. */
#include "api/study/desk.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/coordinator.h"
#include "net/clock.h"
#include "study/json_value.h"
#include "study/round_log.h"

enum { PEOPLE_MOST = 10000 };

void tacit_desk_reply_clear(tacit_desk_reply *reply) {
    json_decref(reply->document);
    tacit_buffer_clear(&reply->bytes);
    *reply = (tacit_desk_reply){ .document = NULL };
}

/* ---- open, pause, resume, close ---- */

static tacit_status close_study(tacit_registry *registry, const char *name, tacit_error *error) {
    return tacit_registry_set_state(registry, name, TACIT_STUDY_CLOSED, "closed by the coordinator", NULL,
                                    error);
}

tacit_status tacit_desk_change(json_t **out, const char *folder, const char *study, const char *verb,
                               tacit_error *error) {
    static const struct {
        const char *verb;
        tacit_status (*act)(tacit_registry *registry, const char *name, tacit_error *error);
    } verbs[] = { { "open", tacit_registry_open_draft },
                  { "pause", tacit_registry_pause },
                  { "resume", tacit_registry_resume },
                  { "close", close_study } };
    tacit_registry *registry = NULL;
    tacit_study_record record;
    tacit_status status;
    size_t i = 0;
    while (strcmp(verbs[i].verb, verb) != 0) i++;
    TACIT_CHECK(tacit_registry_open(&registry, folder, false, error));
    TACIT_CHECK(verbs[i].act(registry, study, error));
    TACIT_CHECK(tacit_registry_study(registry, study, &record, NULL, error));
    *out = json_pack("{s:s,s:s}", "study", record.name, "state", tacit_study_state_name(record.state));
    if (*out == NULL) status = tacit_fail_memory(error);
cleanup:
    tacit_registry_close(registry);
    return status;
}

#define VERB(verb)                                                                                           \
    tacit_status tacit_desk_##verb(tacit_desk_reply *out, const tacit_desk_request *request,                 \
                                   tacit_error *error) {                                                     \
        return tacit_desk_change(&out->document, request->folder, request->study, #verb, error);             \
    }
VERB(open)
VERB(pause)
VERB(resume)
VERB(close)

/* ---- invitations ---- */

static tacit_status check_wanted(const tacit_desk_invitations *wanted, tacit_error *error) {
    if (wanted->called != NULL && wanted->count != 1)
        return tacit_fail(
            error, TACIT_USAGE,
            "a name is one party's, and the option 'count' asks for %lld invitations: leave the option "
            "'count' out, and give a name for each",
            (long long)wanted->count);
    if (wanted->count < 1 || wanted->count > TACIT_DESK_INVITATIONS)
        return tacit_fail(error, TACIT_USAGE, "the option 'count' must be from 1 to %d",
                          TACIT_DESK_INVITATIONS);
    if (!(wanted->days >= 0 && wanted->days <= TACIT_DESK_DAYS))
        return tacit_fail(error, TACIT_USAGE, "the option 'days' must be from 0 to %d", TACIT_DESK_DAYS);
    return TACIT_OK;
}

tacit_status tacit_desk_invite(json_t **out, const char *folder, const char *study,
                               const tacit_desk_invitations *wanted, tacit_error *error) {
    int64_t expires = tacit_clock_wall_seconds() + (int64_t)(wanted->days * 86400);
    TACIT_TRY(check_wanted(wanted, error));
    json_t *list = json_array();
    tacit_status status = TACIT_OK;
    for (int64_t i = 0; i < wanted->count && status == TACIT_OK; i++) {
        tacit_buffer line = TACIT_BUFFER_INIT;
        status = tacit_coordinator_invite(folder, study, wanted->url, expires, wanted->called, &line, error);
        if (status == TACIT_OK) list = tacit_json_append(list, json_string(tacit_buffer_text(&line)));
        tacit_buffer_clear(&line);
    }
    if (status != TACIT_OK) {
        json_decref(list);
        return status;
    }
    *out = json_pack("{s:s,s:I,s:o,s:o}", "study", study, "expires", (json_int_t)expires, "invitations", list,
                     "called", wanted->called != NULL ? json_string(wanted->called) : json_null());
    return *out != NULL ? TACIT_OK : tacit_fail_memory(error);
}

tacit_status tacit_desk_call_invite(tacit_desk_reply *out, const tacit_desk_request *request,
                                    tacit_error *error) {
    const json_t *count = json_object_get(request->said, "count"),
                 *days = json_object_get(request->said, "days");
    const tacit_desk_invitations wanted = {
        .called = json_string_value(json_object_get(request->said, "for")),
        .url = json_string_value(json_object_get(request->said, "url")),
        .count = count != NULL ? (int64_t)json_integer_value(count) : 1,
        .days = days != NULL ? json_number_value(days) : 7,
    };
    return tacit_desk_invite(&out->document, request->folder, request->study, &wanted, error);
}

/* ---- where studies stand ---- */

static tacit_status read_study(json_t **out, tacit_registry *registry, const char *name, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_study_record record;
    tacit_study *study = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_registry_study(registry, name, &record, &text, error));
    TACIT_CHECK(tacit_study_parse(&study, tacit_buffer_text(&text), text.length, name, error));
    *out = tacit_json_study(&record, study);
    if (*out == NULL) status = tacit_fail_memory(error);
cleanup:
    tacit_study_free(study);
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status show_status(tacit_desk_reply *out, const tacit_desk_request *request,
                                tacit_error *error) {
    tacit_registry *registry = NULL;
    TACIT_TRY(tacit_registry_open(&registry, request->folder, false, error));
    tacit_status status = read_study(&out->document, registry, request->study, error);
    tacit_registry_close(registry);
    return status;
}

static tacit_status show_list(tacit_desk_reply *out, const tacit_desk_request *request, tacit_error *error) {
    tacit_registry *registry = NULL;
    tacit_study_record *records = NULL;
    size_t count = 0;
    char name[TACIT_ID_SIZE];
    json_t *list = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_registry_open(&registry, request->folder, false, error));
    TACIT_CHECK(tacit_registry_get(registry, "name", name, sizeof name, error));
    TACIT_CHECK(tacit_registry_studies(registry, &records, &count, error));
    list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *one = NULL;
        TACIT_CHECK(read_study(&one, registry, records[i].name, error));
        list = tacit_json_append(list, one);
    }
    out->document = json_pack("{s:s,s:O}", "coordinator", name, "studies", list);
    if (out->document == NULL) status = tacit_fail_memory(error);
cleanup:
    json_decref(list);
    free(records);
    tacit_registry_close(registry);
    return status;
}

static tacit_status show_rounds(tacit_desk_reply *out, const tacit_desk_request *request,
                                tacit_error *error) {
    tacit_registry *registry = NULL;
    tacit_study_record record;
    tacit_status status;
    TACIT_CHECK(tacit_registry_open(&registry, request->folder, false, error));
    TACIT_CHECK(tacit_registry_study(registry, request->study, &record, NULL, error));
    TACIT_CHECK(tacit_rounds_read(&out->document, request->folder, record.name, error));
cleanup:
    tacit_registry_close(registry);
    return status;
}

static tacit_status add_person(void *context, const tacit_person *person, tacit_error *error) {
    json_t **list = context;
    *list = tacit_json_append(
        *list, json_pack("{s:o,s:o,s:s}", "called",
                         person->called[0] != 0 ? json_string(person->called) : json_null(), "party",
                         person->name[0] != 0 ? json_string(person->name) : json_null(), "state",
                         tacit_party_standing_name(person->standing)));
    return *list != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status show_parties(tacit_desk_reply *out, const tacit_desk_request *request,
                                 tacit_error *error) {
    tacit_registry *registry = NULL;
    json_t *list = json_array();
    tacit_study_state unused;
    tacit_status status;
    TACIT_CHECK(tacit_registry_open(&registry, request->folder, false, error));
    TACIT_CHECK(tacit_registry_state(registry, request->study, &unused, error));
    TACIT_CHECK(tacit_registry_people(registry, request->study, PEOPLE_MOST, add_person, &list, error));
    out->document = json_pack("{s:O}", "parties", list);
    if (out->document == NULL) status = tacit_fail_memory(error);
cleanup:
    json_decref(list);
    tacit_registry_close(registry);
    return status;
}

/* ---- the table ---- */

#define ENTRY(id, name, method, path, call, body, summary) { name, method, path, call, body },
#define SHOWN(name, path, call) { name, "GET", path, call, 0 },
const tacit_desk_entry tacit_desk_entries[] = { TACIT_DESK_TABLE(ENTRY) TACIT_DESK_SHOWN(SHOWN) };

const tacit_desk_entry *tacit_desk_find(const char *name) {
    for (size_t i = 0; i < sizeof tacit_desk_entries / sizeof tacit_desk_entries[0]; i++)
        if (strcmp(tacit_desk_entries[i].name, name) == 0) return &tacit_desk_entries[i];
    return NULL;
}
