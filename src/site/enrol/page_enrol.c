#include "site/enrol/page_enrol.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "site/enrol/enrol.h"

/* As long as a body is: what is too long is refused, not left out. */
enum { ADDRESS_SIZE = 8192, WORDS_SIZE = 8192 };

void page_enrol_catalogue(const char *home, web_call *call) {
    const tacit_site_callbacks silent = { .context = NULL };
    char address[ADDRESS_SIZE];
    json_t *catalogue = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status =
        web_body_text(tacit_exchange_body(call->exchange), "address", address, sizeof address)
            ? tacit_enrol_catalogue(&catalogue, address, home, &silent, &error)
            : tacit_fail(&error, TACIT_USAGE, "say {\"address\": ...} of the catalogue");
    if (status == TACIT_OK)
        web_answer(call, 200, catalogue);
    else
        web_answer_failure(call, status, &error);
}

static tacit_status keep(void *context, const tacit_buffer *invitation, tacit_error *error) {
    return tacit_file_write(context, invitation->bytes, invitation->length, 0600, error);
}

static tacit_status ask(const tacit_enrol_request *request, char path[PATH_MAX],
                        char state[TACIT_ENROL_STATE_SIZE], tacit_error *error) {
    const tacit_site_callbacks silent = { .context = NULL };
    tacit_buffer invitation = TACIT_BUFFER_LIMITED(TACIT_INVITATION_TEXT_MAX);
    char folder[PATH_MAX], name[TACIT_ID_SIZE + 16];
    tacit_status status;
    TACIT_CHECK(tacit_name_check("the study's name", request->study, TACIT_ID_SIZE - 1, error));
    /* It becomes a file, and part of a command that the page shows, whatever a catalogue calls its
     * studies. */
    if (strspn(request->study, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(request->study))
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "'%s' is not a study's name", request->study));
    snprintf(name, sizeof name, "%s.txt", request->study);
    TACIT_CHECK(tacit_path_join(folder, sizeof folder, request->home, "invitations", error));
    TACIT_CHECK(tacit_folder_make(folder, error));
    TACIT_CHECK(tacit_path_join(path, PATH_MAX, folder, name, error));
    if (access(path, F_OK) == 0) TACIT_CHECK(tacit_file_read(path, &invitation, error));
    TACIT_CHECK(tacit_enrol_ask(request, &silent, keep, path, &invitation, state, error));
cleanup:
    tacit_buffer_clear(&invitation);
    return status;
}

void page_enrol_ask(const char *home, web_call *call) {
    const tacit_buffer *body = tacit_exchange_body(call->exchange);
    char address[ADDRESS_SIZE] = "", study[TACIT_ID_SIZE], words[WORDS_SIZE] = "", path[PATH_MAX],
         state[TACIT_ENROL_STATE_SIZE];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status;
    (void)web_body_text(body, "message", words, sizeof words);
    const bool public = web_body_text(body, "address", address, sizeof address) && address[0] != 0;
    const tacit_enrol_request request = { public ? address : NULL, study, words[0] != 0 ? words : NULL,
                                          home };
    status = web_body_text(body, "study", study, sizeof study)
                 ? ask(&request, path, state, &error)
                 : tacit_fail(&error, TACIT_USAGE,
                              "say {\"study\": NAME, \"address\": of the catalogue, \"message\": TEXT}");
    if (status == TACIT_OK)
        web_answer(call, 200, json_pack("{s:s,s:s,s:s}", "study", study, "state", state, "invitation", path));
    else
        web_answer_failure(call, status, &error);
}
