/* The draft of a study that is derived from an archived one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "study/archive/archive.h"

/* Which settings of a canonical text do not come along. */
typedef struct leaving {
    const char *const *keys;
    size_t count;
} leaving;

static bool is_left_out(const char *line, const leaving *out) {
    const size_t length = strcspn(line, ":\n");
    for (size_t i = 0; i < out->count; i++)
        if (strlen(out->keys[i]) == length && strncmp(line, out->keys[i], length) == 0) return true;
    return false;
}

/* Settings that are the new study's own, or that the coordinator writes; contact details are for the new
 * researchers' key. Points, last, are public rows that a file must bring again. */
static const char *const own_keys[] = { "name",      "look",     "derived_from", "offer_earlier",
                                        "validates", "receipts", "contact",      "enrolments_per_minute",
                                        "auxiliary" };
static const leaving own = { own_keys, sizeof own_keys / sizeof own_keys[0] };
static const leaving own_but_points = { own_keys, sizeof own_keys / sizeof own_keys[0] - 1 };

/* How much of a line comes along: the coordinator's key, at the end of that of the arms, does not. */
static size_t kept_length(const char *line, size_t length) {
    static const char key[] = "], key: ";
    if (strncmp(line, "arms:", 5) != 0) return length;
    const char *mark = memmem(line, length, key, sizeof key - 1);
    return mark != NULL ? (size_t)(mark - line) + 1 : length;
}

/* A canonical text has a setting a line; what belongs to one of several lines is indented. */
static tacit_status copy_settings(tacit_buffer *out, const char *text, const leaving *without,
                                  tacit_error *error) {
    bool copies = true; /* what is indented belongs to the line before */
    for (const char *at = text; *at != 0;) {
        size_t length = strcspn(at, "\n");
        length += at[length] == '\n';
        if (at[0] != ' ' && at[0] != '\n') copies = !is_left_out(at, without);
        const size_t kept = kept_length(at, length);
        if (copies) TACIT_TRY(tacit_buffer_append(out, at, kept, error));
        if (copies && kept < length) TACIT_TRY(tacit_buffer_append(out, "}\n", 2, error));
        at += length;
    }
    return TACIT_OK;
}

static tacit_status print_draft(tacit_buffer *out, const char *definition, const char *id,
                                const tacit_derivation *how, const leaving *without, tacit_error *error) {
    TACIT_TRY(tacit_buffer_print(out, error, "name: %s\nderived_from: \"%s\"\n", how->name, id));
    if (how->offer_earlier) TACIT_TRY(tacit_buffer_print(out, error, "offer_earlier: yes\n"));
    return copy_settings(out, definition, without, error);
}

/* Whatever an archived definition says: it is one, and names no file, which `tacit study new` would read and
 * publish. Of points it has the hash. */
static tacit_status check_draft(const char *definition, const char *id, const tacit_derivation *how,
                                tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_study *study = NULL;
    tacit_status status = print_draft(&text, definition, id, how, &own_but_points, error);
    if (status == TACIT_OK)
        status = tacit_study_compose(&study, tacit_buffer_text(&text), text.length, how->name, error);
    tacit_study_free(study);
    tacit_buffer_clear(&text);
    return status;
}

tacit_status tacit_archive_derive(tacit_buffer *out, const json_t *archived, const char *id,
                                  const tacit_derivation *how, tacit_error *error) {
    const char *definition = json_string_value(json_object_get(archived, "definition"));
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(check_draft(definition, id, how, error));
    TACIT_CHECK(print_draft(&text, definition, id, how, &own, error));
    TACIT_CHECK(tacit_buffer_print(out, error,
                                   "# Derived from the archived study %s.\n# Read it, change what is to be "
                                   "changed, and have it approved: then "
                                   "tacit study new DIR FILE.\n%s",
                                   id,
                                   strstr(definition, "\nauxiliary:") != NULL
                                       ? "# Name the file of public points again (auxiliary: FILE).\n"
                                       : ""));
    TACIT_CHECK(tacit_buffer_append(out, text.bytes, text.length, error));
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

/* ---- validation ---- */

/* Settings of the method that found the model, and of when that had found enough. */
static const char *const finding_keys[] = { "name",      "title",   "method",   "set",       "epsilon",
                                            "delta",     "lambda",  "stop",     "look",      "expected_rows",
                                            "auxiliary", "model",   "center",   "transport", "exchange",
                                            "validates", "weights", "receipts", "archive",   "instruments" };
static const leaving finding = { finding_keys, sizeof finding_keys / sizeof finding_keys[0] };

#define ENDING "-validation"

bool tacit_validating_name(char out[TACIT_ID_SIZE], const char *study) {
    return snprintf(out, TACIT_ID_SIZE, "%s" ENDING, study) <= 40;
}

/* A model is JSON, which indentation does not change. */
static tacit_status print_model(tacit_buffer *out, const tacit_buffer *model, tacit_error *error) {
    const char *at = (const char *)model->bytes, *end = at + model->length;
    TACIT_TRY(tacit_buffer_print(out, error, "model: |2\n"));
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((stop != NULL ? stop : end) - at);
        TACIT_TRY(tacit_buffer_print(out, error, "  %.*s\n", (int)length, at));
        at += length + 1;
    }
    return TACIT_OK;
}

/* The method that judges a given model, with noise or without. */
static const tacit_method *judging(bool exact) {
    size_t i = 0;
    while (tacit_methods[i] != NULL &&
           (!tacit_methods[i]->needs_model || tacit_methods[i]->noise_free != exact))
        i++;
    return tacit_methods[i];
}

/* Noise is added where the study's own was: by a coordinator that is entrusted with sums, or in shares by the
 * parties. */
static tacit_status print_method(tacit_buffer *out, const tacit_plan *plan, tacit_error *error) {
    char epsilon[TACIT_NUMBER_TEXT], delta[TACIT_NUMBER_TEXT];
    const bool exact = isinf(plan->epsilon);
    TACIT_TRY(tacit_buffer_print(out, error, "method: %s\n", judging(exact)->name));
    if (exact) return TACIT_OK;
    if (plan->method->release_kind(plan) != TACIT_RELEASE_ENTRUSTED)
        TACIT_TRY(tacit_buffer_print(out, error, "set: {noise: shares}\n"));
    return tacit_buffer_print(out, error, "epsilon: %s\ndelta: %s\n",
                              tacit_number_to_text(plan->epsilon, epsilon),
                              tacit_number_to_text(plan->delta, delta));
}

/* How much of a title leaves room for more: whole characters. */
static int beginning(const char *title) {
    size_t length = strnlen(title, 150);
    while (length > 0 && ((unsigned char)title[length] & 0xc0) == 0x80) length--;
    return (int)length;
}

tacit_status tacit_validating_print(tacit_buffer *out, const tacit_study *study, const tacit_buffer *model,
                                    tacit_error *error) {
    char name[TACIT_ID_SIZE];
    if (!tacit_validating_name(name, study->name))
        return tacit_fail(error, TACIT_USAGE,
                          "the name of study '%s' is too long for that of its validation, %s" ENDING,
                          study->name, study->name);
    TACIT_TRY(tacit_buffer_print(out, error, "name: %s\ntitle: \"%.*s: validation\"\nvalidates: \"%s\"\n",
                                 name, beginning(study->title), study->title, study->name));
    TACIT_TRY(print_method(out, &study->plan, error));
    TACIT_TRY(copy_settings(out, tacit_buffer_text(&study->canonical), &finding, error));
    return print_model(out, model, error);
}
