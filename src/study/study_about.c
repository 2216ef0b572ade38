/* What people read of a study before they consent: its description, who approved it, the consent document,
 * its schedule. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "study/study_parts.h"

enum { DESCRIPTION_MOST = 8192, DOCUMENT_MOST = 256 << 10 };

/* The same text for the same words, however the file ends its lines: line feeds, no tabs, no blanks at the
 * end of a line, no empty lines at the end of the text, one line feed there. */
static tacit_status tidy(const char *text, size_t length, tacit_buffer *out, tacit_error *error) {
    size_t kept = out->length; /* up to here the text is known to end in something visible */
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '\r') continue;
        if (c == '\n') out->length = kept; /* blanks before it */
        if (c == '\t') c = ' ';
        TACIT_TRY(tacit_buffer_append(out, &c, 1, error));
        if (c != ' ') kept = out->length;
    }
    out->length = kept;
    while (out->length > 0 && out->bytes[out->length - 1] == '\n') out->length--;
    return out->length > 0 ? tacit_buffer_append(out, "\n", 1, error) : TACIT_OK;
}

/* Several lines of plain text: nothing in them steers a terminal, and YAML reads back what was written. */
static bool is_plain_text(const tacit_buffer *text, size_t most, tacit_error *error) {
    static const char *const special[] = { "\xc2\x85", "\u2028",       "\u2029",
                                           "\ufeff",   "\xef\xbf\xbe", "\xef\xbf\xbf" };
    tacit_buffer line = TACIT_BUFFER_INIT;
    bool plain = tacit_buffer_append(&line, text->bytes, text->length, error) == TACIT_OK;
    if (plain && memchr(line.bytes, 0, line.length) != NULL) plain = false;
    for (size_t i = 0; plain && i < line.length; i++)
        if (line.bytes[i] == '\n') line.bytes[i] = ' ';
    const char *copy = plain ? tacit_buffer_text(&line) : "";
    for (size_t i = 0; plain && i < sizeof special / sizeof special[0]; i++)
        plain = strstr(copy, special[i]) == NULL;
    plain = plain && tacit_name_check("text", copy, most, NULL) == TACIT_OK;
    tacit_buffer_clear(&line);
    return plain;
}

tacit_status study_take_text(reading *r, const yaml_node_t *node, const char *what, const char *text,
                             size_t length, size_t most, tacit_buffer *out) {
    TACIT_TRY(tidy(text, length, out, r->error));
    if (out->length == 0 || !is_plain_text(out, most, r->error))
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "%s must be plain text (UTF-8, no control characters) of at most %zu bytes",
                               what, most);
    return TACIT_OK;
}

tacit_status study_read_description(reading *r, const yaml_node_t *node) {
    const char *text;
    size_t length;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "description", &text, &length, r->error));
    return study_take_text(r, node, "description", text, length, DESCRIPTION_MOST, &r->study->description);
}

/* A text of several lines is the document itself; one line names its file. */
tacit_status study_text_or_file(reading *r, const yaml_node_t *node, const char *key, tacit_buffer *file,
                                const char **text, size_t *length) {
    char path[PATH_MAX];
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, key, text, length, r->error));
    if (strchr(*text, '\n') != NULL) return TACIT_OK;
    TACIT_TRY(study_find_file(r, node, *text, path));
    TACIT_TRY(tacit_file_read(path, file, r->error));
    *text = tacit_buffer_text(file);
    *length = file->length;
    return TACIT_OK;
}

tacit_status study_read_consent(reading *r, const yaml_node_t *node) {
    tacit_study *study = r->study;
    tacit_buffer file = TACIT_BUFFER_LIMITED(DOCUMENT_MOST);
    const char *text;
    size_t length;
    tacit_status status;
    if (node == NULL) return TACIT_OK;
    TACIT_CHECK(study_text_or_file(r, node, "consent", &file, &text, &length));
    TACIT_CHECK(
        study_take_text(r, node, "the consent document", text, length, DOCUMENT_MOST, &study->document));
    crypto_generichash(study->document_hash, sizeof study->document_hash, study->document.bytes,
                       study->document.length, NULL, 0);
cleanup:
    tacit_buffer_clear(&file);
    return status;
}

/* ---- the schedule ---- */

char *tacit_study_time_text(char out[TACIT_TIME_TEXT], int64_t seconds) {
    time_t time = (time_t)seconds;
    struct tm utc = { 0 };
    gmtime_r(&time, &utc);
    strftime(out, TACIT_TIME_TEXT, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return out;
}

/* YYYY-MM-DD, then the day's first second, or YYYY-MM-DDTHH:MM:SSZ; both UTC. */
static bool read_time(const char *text, int64_t *out) {
    char full[TACIT_TIME_TEXT], again[TACIT_TIME_TEXT];
    if (strlen(text) == 10)
        snprintf(full, sizeof full, "%sT00:00:00Z", text);
    else if (strlen(text) == 20)
        memcpy(full, text, 21);
    else
        return false;
    struct tm utc = { 0 };
    const char *end = strptime(full, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (end == NULL || *end != 0) return false;
    *out = (int64_t)timegm(&utc);
    /* The 30th of February reads as the 2nd of March. */
    return *out > 0 && strcmp(tacit_study_time_text(again, *out), full) == 0;
}

static tacit_status read_moment(reading *r, const yaml_node_t *node, const char *what, int64_t *out) {
    const char *text;
    size_t length;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, what, &text, &length, r->error));
    if (!read_time(text, out))
        return tacit_yaml_fail(
            &r->yaml, node, r->error,
            "%s must be a day or a moment in UTC, e.g. 2027-03-31 or 2027-03-31T18:00:00Z, not '%.40s'", what,
            text);
    return TACIT_OK;
}

tacit_status study_read_schedule(reading *r, const yaml_node_t *node) {
    enum { FROM, UNTIL, COUNT };
    static const char *const names[COUNT] = { "from", "until" };
    const yaml_node_t *values[COUNT];
    tacit_study *study = r->study;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_mapping(&r->yaml, node, "schedule", names, COUNT, values, r->error));
    if (values[FROM] == NULL && values[UNTIL] == NULL)
        return tacit_yaml_fail(&r->yaml, node, r->error, "schedule needs 'from', 'until' or both");
    TACIT_TRY(read_moment(r, values[FROM], "from", &study->from));
    TACIT_TRY(read_moment(r, values[UNTIL], "until", &study->until));
    if (values[UNTIL] != NULL && study->until <= study->from)
        return tacit_yaml_fail(&r->yaml, values[UNTIL], r->error, "'until' must be later than 'from'");
    return TACIT_OK;
}

tacit_status tacit_study_check_time(const tacit_study *study, int64_t now, tacit_error *error) {
    char moment[TACIT_TIME_TEXT];
    if (now < study->from)
        return tacit_fail(error, TACIT_REFUSED, "study '%s' asks nothing before %s", study->name,
                          tacit_study_time_text(moment, study->from));
    if (study->until != 0 && now >= study->until)
        return tacit_fail(error, TACIT_REFUSED, "study '%s' asks nothing after %s: its schedule has ended",
                          study->name, tacit_study_time_text(moment, study->until));
    return TACIT_OK;
}

/* ---- the canonical text ---- */

tacit_status study_print_block(tacit_buffer *out, const char *text, tacit_error *error) {
    while (*text != 0) {
        size_t length = strcspn(text, "\n");
        TACIT_TRY(tacit_buffer_print(out, error, "  %.*s\n", (int)length, text));
        text += length + (text[length] == '\n');
    }
    return TACIT_OK;
}

/* The indentation is said, for a first line may begin with blanks. */
static tacit_status print_text(tacit_buffer *out, const char *key, const tacit_buffer *text,
                               tacit_error *error) {
    if (text->length == 0) return TACIT_OK;
    tacit_buffer copy = TACIT_BUFFER_INIT; /* with a NUL at its end */
    tacit_status status;
    TACIT_CHECK(tacit_buffer_append(&copy, text->bytes, text->length, error));
    TACIT_CHECK(tacit_buffer_print(out, error, "%s: |2\n", key));
    TACIT_CHECK(study_print_block(out, tacit_buffer_text(&copy), error));
cleanup:
    tacit_buffer_clear(&copy);
    return status;
}

tacit_status study_print_description(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    return print_text(out, "description", &study->description, error);
}

tacit_status study_print_consent(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    return print_text(out, "consent", &study->document, error);
}

tacit_status study_print_schedule(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    char from[TACIT_TIME_TEXT], until[TACIT_TIME_TEXT];
    if (study->from == 0 && study->until == 0) return TACIT_OK;
    return tacit_buffer_print(out, error, "schedule: {%s%s%s%s%s}\n", study->from != 0 ? "from: " : "",
                              study->from != 0 ? tacit_study_time_text(from, study->from) : "",
                              study->from != 0 && study->until != 0 ? ", " : "",
                              study->until != 0 ? "until: " : "",
                              study->until != 0 ? tacit_study_time_text(until, study->until) : "");
}

tacit_status tacit_study_write_schema(const tacit_study *study, const char *path, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT, comment = TACIT_BUFFER_INIT;
    tacit_schema *own = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_buffer_print(&comment, error,
                                   "The schema of study '%s'. Names, bounds and levels are what all its "
                                   "parties agree on:\nthey must be public knowledge about your rows, too.",
                                   study->name));
    TACIT_CHECK(tacit_schema_print(study->schema, NULL, &text, error));
    TACIT_CHECK(tacit_schema_parse(&own, tacit_buffer_text(&text), text.length, "the study's schema", error));
    TACIT_CHECK(tacit_schema_set_terms(own, NULL, error));
    TACIT_CHECK(tacit_schema_set_subset(own, NULL, error));
    TACIT_CHECK(tacit_schema_save(own, tacit_buffer_text(&comment), path, error));
cleanup:
    tacit_schema_free(own);
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&comment);
    return status;
}
