/* Who asked to join a study, and the researcher's word on them. */
#include <string.h>

#include "api/study/desk.h"
#include "net/clock.h"
#include "study/json_value.h"
#include "study/study.h"

static tacit_status add_applicant(void *context, const tacit_applicant *each, tacit_error *error) {
    json_t **list = context;
    char asked[TACIT_TIME_TEXT];
    *list = tacit_json_append(*list, json_pack("{s:s,s:s,s:s,s:o}", "applicant", each->id, "asked",
                                               tacit_study_time_text(asked, each->asked), "state",
                                               tacit_applicant_state_name(each->state), "message",
                                               each->words[0] != 0 ? json_string(each->words) : json_null()));
    return *list != NULL ? TACIT_OK : tacit_fail_memory(error);
}

tacit_status tacit_desk_applicants(tacit_desk_reply *out, const tacit_desk_request *request,
                                   tacit_error *error) {
    tacit_registry *registry = NULL;
    json_t *list = json_array();
    tacit_study_state unused;
    tacit_status status;
    TACIT_CHECK(tacit_registry_open(&registry, request->folder, false, error));
    TACIT_CHECK(tacit_registry_state(registry, request->study, &unused, error));
    TACIT_CHECK(tacit_registry_applicants(registry, request->study, add_applicant, &list, error));
    out->document = json_pack("{s:O}", "applicants", list);
    if (out->document == NULL) status = tacit_fail_memory(error);
cleanup:
    json_decref(list);
    tacit_registry_close(registry);
    return status;
}

tacit_status tacit_desk_decide(json_t **out, const char *folder, const char *study, const char *applicant,
                               bool accept, tacit_error *error) {
    tacit_registry *registry = NULL;
    tacit_status status;
    if (applicant == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "say who: {\"applicant\": NUMBER} as the list of applicants has it");
    TACIT_CHECK(tacit_registry_open(&registry, folder, false, error));
    TACIT_CHECK(tacit_registry_decide(registry, study, applicant, accept, tacit_clock_wall_seconds(), error));
    *out =
        json_pack("{s:s,s:s,s:s}", "study", study, "applicant", applicant, "state",
                  tacit_applicant_state_name(accept ? TACIT_APPLICANT_ACCEPTED : TACIT_APPLICANT_DECLINED));
    if (*out == NULL) status = tacit_fail_memory(error);
cleanup:
    tacit_registry_close(registry);
    return status;
}

static const char *named(const tacit_desk_request *request) {
    return json_string_value(json_object_get(request->said, "applicant"));
}

tacit_status tacit_desk_accept(tacit_desk_reply *out, const tacit_desk_request *request, tacit_error *error) {
    return tacit_desk_decide(&out->document, request->folder, request->study, named(request), true, error);
}

tacit_status tacit_desk_decline(tacit_desk_reply *out, const tacit_desk_request *request,
                                tacit_error *error) {
    return tacit_desk_decide(&out->document, request->folder, request->study, named(request), false, error);
}
