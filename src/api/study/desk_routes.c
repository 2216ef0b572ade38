/* The desk over HTTP, beside the pages of the dashboard (web/web.h). */
#include <stdio.h>
#include <string.h>

#include "api/study/desk.h"
#include "web/web.h"

enum { NAME_SIZE = WEB_ITEM_SIZE + 32 };

/* The body as an object; false: it is none. An empty body says nothing. */
static bool read_body(json_t **out, const web_call *call) {
    const tacit_buffer *body = tacit_exchange_body(call->exchange);
    *out = body->length > 0 ? json_loadb(tacit_buffer_text(body), body->length, JSON_REJECT_DUPLICATES, NULL)
                            : json_object();
    return json_is_object(*out);
}

static void answer(web_call *call, tacit_desk_reply *reply) {
    char name[NAME_SIZE];
    if (reply->type == NULL) {
        web_answer(call, 200, json_incref(reply->document));
        return;
    }
    snprintf(name, sizeof name, "%s.%s", call->item, reply->ending);
    web_answer_file(call, &reply->bytes, reply->type, name);
}

static void handle(void *context, web_call *call) {
    const tacit_desk_entry *entry = call->further->data;
    tacit_desk_reply reply = { .document = NULL };
    tacit_error error = TACIT_ERROR_INIT;
    json_t *said = NULL;
    tacit_desk_request request = { .folder = context, .study = call->item };
    tacit_status status = TACIT_OK;
    if (!read_body(&said, call)) status = tacit_fail(&error, TACIT_INPUT, "the body is not a JSON object");
    request.said = said;
    if (status == TACIT_OK) status = entry->call(&reply, &request, &error);
    if (status == TACIT_OK)
        answer(call, &reply);
    else
        web_answer_failure(call, status, &error);
    json_decref(said);
    tacit_desk_reply_clear(&reply);
}

#define ROUTE(id, name, method, path, call, body, summary)                                                   \
    { { method, path, false, handle, summary }, body, &tacit_desk_entries[TACIT_DESK_##id] },
const web_further tacit_desk_routes[] = { TACIT_DESK_TABLE(ROUTE) };
