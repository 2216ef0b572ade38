/* Help that is no command's: what the tables of other folders list, for people and with --json for
 * programs. */
#include <string.h>

#include "api/document/methods_list.h"
#include "cli/console.h"
#include "cli/help/help.h"
#include "cli/help/option_spelling.h"
#include "session/carrier/carrier_https.h"
#include "study/json_value.h"
#include "study/study_settings.h"

typedef struct topic {
    const char *name, *intro;
    json_t *(*list)(void); /* [{"name", ..., "help"}]; NULL when out of memory */
} topic;

/* ---- study-settings ---- */

static json_t *text_or_null(const char *text) { return text[0] != 0 ? json_string(text) : json_null(); }

static json_t *list_study_settings(void) {
    static const char *const kinds[] = { "made", "number", "count", "switch", "line" };
    char form[TACIT_STUDY_VALUE_SIZE], standard[TACIT_STUDY_VALUE_SIZE], help[TACIT_HELP_TEXT];
    json_t *list = json_array();
    for (const tacit_study_setting *one = tacit_study_settings; one->name != NULL; one++)
        list = tacit_json_append(list, json_pack("{s:s,s:s,s:b,s:b,s:s,s:o,s:s}", "name", one->name, "kind",
                                                 kinds[one->kind], "required",
                                                 (one->rules & TACIT_STUDY_REQUIRED) != 0, "by_coordinator",
                                                 (one->rules & TACIT_STUDY_COUNTED) != 0, "form",
                                                 tacit_study_setting_form(one, form), "default",
                                                 text_or_null(tacit_study_setting_default(one, standard)),
                                                 "help", tacit_help_text(one->help, help)));
    return list;
}

/* ---- endpoints ---- */

static json_t *list_endpoints(void) {
    json_t *list = json_array();
    for (size_t i = 0; i < TACIT_ENDPOINTS; i++) {
        const tacit_https_endpoint *one = &tacit_https_endpoints[i];
        const bool open = (tacit_endpoint_rules((tacit_endpoint)i) & TACIT_ENDPOINT_IS_OPEN) != 0;
        char form[64];
        snprintf(form, sizeof form, "%s, %s", one->method,
                 open ? "open to whoever asks" : "with a certificate");
        list = tacit_json_append(list, json_pack("{s:s,s:s,s:b,s:s,s:s}", "name", one->path, "method",
                                                 one->method, "open", open, "form", form, "help", one->help));
    }
    return list;
}

/* ---- all of them ---- */

static const topic topics[] = {
    { "study-settings", "What the definition of a study may say (tacit study new):", list_study_settings },
    { "endpoints",
      "What parties ask of a coordinator over TLS, in protobuf (proto/tacit.proto):", list_endpoints },
};

static const topic *find_topic(const char *name) {
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++)
        if (strcmp(topics[i].name, name) == 0) return &topics[i];
    return NULL;
}

bool tacit_help_is_topic(const char *name) { return find_topic(name) != NULL; }

/* "the help; form; by default X" */
static void print_item(tacit_page page, const json_t *item) {
    char text[TACIT_HELP_TEXT];
    const char *form = json_string_value(json_object_get(item, "form"));
    const char *standard = json_string_value(json_object_get(item, "default"));
    const bool required = json_is_true(json_object_get(item, "required"));
    snprintf(text, sizeof text, "%s%s%s%s%s%s", json_string_value(json_object_get(item, "help")),
             form != NULL ? "; " : "", form != NULL ? form : "", required ? "; required" : "",
             standard != NULL ? "; by default " : "", standard != NULL ? standard : "");
    tacit_help_entry(page, json_string_value(json_object_get(item, "name")), 20, text);
}

tacit_status tacit_help_topic(tacit_console *console, const char *name, tacit_error *error) {
    const topic *about = find_topic(name);
    tacit_page page = { console->out, console->width, console->bold };
    json_t *list = about->list();
    size_t at;
    json_t *item;
    if (list == NULL) return tacit_fail_memory(error);
    if (console->json) return tacit_console_document(console, json_pack("{s:o}", about->name, list), error);
    tacit_console_print(console, "%s\n\n", about->intro);
    json_array_foreach(list, at, item) print_item(page, item);
    json_decref(list);
    return TACIT_OK;
}
