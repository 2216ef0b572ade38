/* The public catalogue as a page: no script, nothing from elsewhere, read well on a phone and aloud. */
#include <string.h>

#include "coordinator/coordinator_parts.h"

static const char *entity(char c) {
    switch (c) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    default: return NULL;
    }
}

static tacit_status put_text(tacit_buffer *out, const char *text, tacit_error *error) {
    for (const char *at = text; *at != 0; at++) {
        const char *said = entity(*at);
        TACIT_TRY(said != NULL ? tacit_buffer_append(out, said, strlen(said), error)
                               : tacit_buffer_append(out, at, 1, error));
    }
    return TACIT_OK;
}

static tacit_status put(tacit_buffer *out, const char *before, const char *text, const char *after,
                        tacit_error *error) {
    TACIT_TRY(tacit_buffer_append(out, before, strlen(before), error));
    TACIT_TRY(put_text(out, text, error));
    return tacit_buffer_append(out, after, strlen(after), error);
}

static const char *word(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

/* One line of a list of facts; none where there is nothing to say. */
static tacit_status put_fact(tacit_buffer *out, const char *name, const char *value, tacit_error *error) {
    if (value[0] == 0) return TACIT_OK;
    TACIT_TRY(put(out, "<dt>", name, "</dt>", error));
    return put(out, "<dd>", value, "</dd>\n", error);
}

static tacit_status put_price(tacit_buffer *out, const json_t *price, tacit_error *error) {
    const json_t *epsilon = json_object_get(price, "epsilon");
    const double delta = json_number_value(json_object_get(price, "delta"));
    if (!json_is_number(epsilon))
        return put_fact(out, "Price", "exact sums: no differential privacy bounds what results tell", error);
    TACIT_TRY(tacit_buffer_print(out, error, "<dt>Price</dt><dd>epsilon %g", json_number_value(epsilon)));
    if (delta > 0) TACIT_TRY(tacit_buffer_print(out, error, ", delta %g", delta));
    return put(out, " of the privacy budget of each ", word(price, "unit"), "</dd>\n", error);
}

static const char *who(const json_t *study) {
    const char *enrolment = word(study, "enrolment");
    return strcmp(enrolment, "open") == 0 ? "anybody who asks"
                                          : "whoever asks and is accepted by the researchers";
}

static tacit_status put_study(tacit_buffer *out, const json_t *study, const char *address,
                              tacit_error *error) {
    const json_t *explanation = json_object_get(study, "explanation"),
                 *settings = json_object_get(study, "settings");
    TACIT_TRY(put(out, "<article>\n<h3>", word(study, "title"), "</h3>\n", error));
    if (word(study, "description")[0] != 0)
        TACIT_TRY(put(out, "<p class=\"said\">", word(study, "description"), "</p>\n", error));
    TACIT_TRY(put(out, "<dl>\n", "", "", error));
    TACIT_TRY(put_fact(out, "Who may join", who(study), error));
    TACIT_TRY(put_fact(out, "Only if, as your own device finds out", word(settings, "eligible"), error));
    TACIT_TRY(put_fact(out, "Approved by", word(study, "approval"), error));
    TACIT_TRY(put_fact(out, "Compensation", word(settings, "compensation"), error));
    TACIT_TRY(put_fact(out, "Method", word(explanation, "title"), error));
    TACIT_TRY(put_fact(out, "What leaves your device", word(explanation, "leaves"), error));
    TACIT_TRY(put_fact(out, "Who sees it", word(explanation, "seen_by"), error));
    TACIT_TRY(put_price(out, json_object_get(explanation, "charged"), error));
    TACIT_TRY(put(out, "</dl>\n", "", "", error));
    if (word(study, "consent_document")[0] != 0)
        TACIT_TRY(put(
            out,
            "<details><summary>The document that you are asked to consent to</summary>\n<p class=\"said\">",
            word(study, "consent_document"), "</p></details>\n", error));
    TACIT_TRY(put(out, "<p>To join, on your own machine:</p>\n<pre tabindex=\"0\">tacit enrol '", address,
                  "' ", error));
    return put(out, "", word(study, "name"), "</pre>\n</article>\n", error);
}

static tacit_status put_archived(tacit_buffer *out, const json_t *one, tacit_error *error) {
    TACIT_TRY(put(out, "<li><a href=\"/archive/", word(one, "id"), ".json\">", error));
    TACIT_TRY(put(out, "", word(one, "title"), "</a><br><code>", error));
    return put(out, "", word(one, "id"), "</code></li>\n", error);
}

static tacit_status put_head(tacit_buffer *out, const char *whose, tacit_error *error) {
    TACIT_TRY(put(out,
                  "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n<title>Studies of ",
                  whose, "</title>\n<link rel=\"stylesheet\" href=\"/app.css\">\n</head>\n<body>\n", error));
    return put(
        out, "<a class=\"skip\" href=\"#main\">Skip to the studies</a>\n<header><h1>Studies of ", whose,
        "</h1></header>\n<main id=\"main\" tabindex=\"-1\">\n"
        "<p>Your rows stay on your own device. A study asks it questions, and what it answers is counted "
        "against a budget that you set. The same as <a href=\"/catalogue.json\">JSON</a>.</p>\n",
        error);
}

tacit_status public_page(tacit_buffer *out, const json_t *catalogue, tacit_error *error) {
    const json_t *studies = json_object_get(catalogue, "studies"),
                 *archive = json_object_get(catalogue, "archive"), *each;
    size_t i;
    TACIT_TRY(put_head(out, word(catalogue, "coordinator"), error));
    TACIT_TRY(put(out, "<section>\n<h2>", "Studies that take you if you ask", "</h2>\n", error));
    json_array_foreach(studies, i, each) TACIT_TRY(put_study(out, each, word(catalogue, "catalogue"), error));
    if (json_array_size(studies) == 0)
        TACIT_TRY(put(out, "<p>", "There is none at the moment.", "</p>\n", error));
    TACIT_TRY(put(out, "</section>\n<section>\n<h2>", "Archive of studies that have ended", "</h2>\n<ul>\n",
                  error));
    json_array_foreach(archive, i, each) TACIT_TRY(put_archived(out, each, error));
    TACIT_TRY(
        put(out, "</ul>\n", json_array_size(archive) == 0 ? "It is empty." : "", "</section>\n", error));
    return put(out, "</main>\n</body>\n</html>\n", "", "", error);
}
