#include "api/study/issue.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "api/document/json_text.h"
#include "net/clock.h"
#include "study/study.h"

json_t *tacit_pass_document(const tacit_pass *pass) {
    char created[TACIT_TIME_TEXT], expires[TACIT_TIME_TEXT];
    return json_pack("{s:s,s:s,s:o,s:o,s:s,s:s,s:s}", "id", pass->id, "scope", tacit_scope_name(pass->scope),
                     "study", pass->study[0] != 0 ? json_string(pass->study) : json_null(), "for",
                     pass->called[0] != 0 ? json_string(pass->called) : json_null(), "created",
                     tacit_study_time_text(created, pass->created), "expires",
                     tacit_study_time_text(expires, pass->expires), "state",
                     pass->revoked                                 ? "revoked"
                     : pass->expires <= tacit_clock_wall_seconds() ? "expired"
                                                                   : "good");
}

static tacit_status put_text(char *out, size_t size, const char *what, const char *text, tacit_error *error) {
    if (text == NULL) text = "";
    if (strlen(text) >= size)
        return tacit_fail(error, TACIT_USAGE, "%s has at most %zu bytes", what, size - 1);
    memcpy(out, text, strlen(text) + 1);
    return TACIT_OK;
}

tacit_status tacit_pass_issue(json_t **out, tacit_registry *registry, const char *study, const char *scope,
                              double days, const char *called, tacit_error *error) {
    tacit_pass pass = { .scope = strcmp(scope, "manage") == 0 ? TACIT_SCOPE_MANAGE : TACIT_SCOPE_READ,
                        .expires = tacit_clock_wall_seconds() + (int64_t)(days * 86400) };
    char token[TACIT_PASS_SIZE];
    TACIT_TRY(put_text(pass.study, sizeof pass.study, "the name of a study", study, error));
    TACIT_TRY(put_text(pass.called, sizeof pass.called, "the name of who gets a token", called, error));
    TACIT_TRY(tacit_registry_issue_pass(registry, &pass, token, error));
    json_t *document = tacit_pass_document(&pass);
    bool set = document != NULL && json_object_set_new(document, "token", json_string(token)) == 0;
    sodium_memzero(token, sizeof token);
    if (!set) {
        json_decref(document);
        return tacit_fail_memory(error);
    }
    *out = document;
    return TACIT_OK;
}
