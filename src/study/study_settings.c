/* The settings that are made of their line in the table alone: read, printed, shown. */
#include "study/study_settings.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "data/schema/text.h"
#include "study/study_parts.h"

/* ---- the table ---- */

static bool study_sums_are_secure(const tacit_study *study) { return study->plan.sums != TACIT_SUMS_CLEAR; }
static bool study_sums_are_masked(const tacit_study *study) { return study->plan.sums == TACIT_SUMS_MASKED; }

/* The formula is part of the schema. */
static const char *terms_text(const tacit_study *study) {
    return study->schema->formula != NULL ? tacit_formula_text(study->schema->formula) : "";
}

static const char *subset_text(const tacit_study *study) {
    return study->schema->subset != NULL ? tacit_condition_text(study->schema->subset) : "";
}

static const char *transport_text(const tacit_study *study) { return study->by_files ? "files" : ""; }
static const char *exchange_text(const tacit_study *study) {
    return study->plan.exchanges == 2 ? "two" : study->plan.exchanges == 1 ? "one" : "";
}

/* From strangers, or from those whom it is offered to. */
static bool study_takes_applications(const tacit_study *study) {
    return study->enrolment != TACIT_ENROL_INVITED || study->offer_earlier;
}
static bool study_is_derived(const tacit_study *study) { return study->derived_from[0] != 0; }
static const char *enrolment_text(const tacit_study *study) {
    return study->enrolment != TACIT_ENROL_INVITED ? tacit_enrolment_name(study->enrolment) : "";
}
static const char *eligible_text(const tacit_study *study) {
    return study->eligible != NULL ? tacit_condition_text(study->eligible) : "";
}
static const char *derived_text(const tacit_study *study) { return study->derived_from; }

static const char *arms_text(const tacit_study *study) {
    return study->arms.count > 0
               ? "your arm is drawn on your own device, where nobody else learns it; everybody can "
                 "check afterwards what you show (tacit arm)"
               : "";
}

static const char *instruments_text(const tacit_study *study) {
    return study->instrument_count > 1    ? "the questionnaires are part"
           : study->instrument_count == 1 ? "the questionnaire is part"
                                          : "";
}

static const char *contact_text(const tacit_study *study) {
    return study->has_contact ? "your contact details leave only if you send them yourself, sealed for the "
                                "researchers (tacit contact send)"
                              : "";
}

/* A member of another type than the line says does not compile. */
#define ROW(label, is, member, as, ...)                                                                      \
    { .name = #label, .kind = is, TACIT_MEMBER_(tacit_study, member, as), __VA_ARGS__ },
#define TACIT_STUDY_NUMBER(name, ...) ROW(name, TACIT_STUDY_KIND_NUMBER, name, double *, __VA_ARGS__)
#define TACIT_STUDY_COUNT(name, ...) ROW(name, TACIT_STUDY_KIND_COUNT, name, size_t *, __VA_ARGS__)
#define TACIT_STUDY_SWITCH(name, ...) ROW(name, TACIT_STUDY_KIND_SWITCH, name, bool *, __VA_ARGS__)
#define TACIT_STUDY_LINE(name, ...)                                                                          \
    ROW(name, TACIT_STUDY_KIND_LINE, name, char(*)[TACIT_TITLE_SIZE], __VA_ARGS__)
#define TACIT_PLAN_NUMBER(name, ...) ROW(name, TACIT_STUDY_KIND_NUMBER, plan.name, double *, __VA_ARGS__)
#define TACIT_PLAN_COUNT(name, ...) ROW(name, TACIT_STUDY_KIND_COUNT, plan.name, size_t *, __VA_ARGS__)
#define TACIT_PLAN_SWITCH(name, ...) ROW(name, TACIT_STUDY_KIND_SWITCH, plan.name, bool *, __VA_ARGS__)
#define TACIT_STUDY_MADE(label, ...)                                                                         \
    { .name = #label, .read = study_read_##label, .print = study_print_##label, __VA_ARGS__ },

const tacit_study_setting tacit_study_settings[] = {
#include "study/study_table.h"
    { .name = NULL }
};
_Static_assert(sizeof tacit_study_settings / sizeof tacit_study_settings[0] == STUDY_SETTINGS + 1,
               "see STUDY_SETTINGS");

static void *member(tacit_study *study, const tacit_study_setting *one) {
    return (char *)study + one->offset;
}
static const void *value_of(const tacit_study *study, const tacit_study_setting *one) {
    return (const char *)study + one->offset;
}

const yaml_node_t *study_node(const reading *r, const char *name) {
    size_t k = 0;
    while (k < STUDY_SETTINGS && strcmp(tacit_study_settings[k].name, name) != 0) k++;
    return k < STUDY_SETTINGS ? r->values[k] : NULL;
}

/* ---- reading ---- */

tacit_status study_read_range(reading *r, const yaml_node_t *node, const char *what, double least,
                              double most, double *out) {
    double value = 0;
    TACIT_TRY(tacit_yaml_number(&r->yaml, node, what, &value, r->error));
    if (!(value >= least && value <= most))
        return tacit_yaml_fail(&r->yaml, node, r->error, "%s must be from %g to %g, not %g", what, least,
                               most, value);
    *out = value;
    return TACIT_OK;
}

tacit_status study_read_whole(reading *r, const yaml_node_t *node, const char *what, double least,
                              double most, size_t *out) {
    double value = 0;
    TACIT_TRY(study_read_range(r, node, what, least, most, &value));
    if (value != floor(value))
        return tacit_yaml_fail(&r->yaml, node, r->error, "%s must be a whole number, not %g", what, value);
    *out = (size_t)value;
    return TACIT_OK;
}

static tacit_status read_line(reading *r, const yaml_node_t *node, const char *what, char *out) {
    const char *text;
    size_t length;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, what, &text, &length, r->error));
    if (!study_is_plain_line(text, TACIT_TITLE_SIZE))
        return tacit_yaml_fail(
            &r->yaml, node, r->error,
            "%s must be one line of fewer than %d bytes without quotes, backslashes and control characters",
            what, TACIT_TITLE_SIZE);
    memcpy(out, text, length + 1);
    return TACIT_OK;
}

static tacit_status read_switch(reading *r, const yaml_node_t *node, const char *what, bool *out) {
    const char *text;
    size_t length;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, what, &text, &length, r->error));
    *out = strcmp(text, "yes") == 0;
    if (*out || strcmp(text, "no") == 0) return TACIT_OK;
    return tacit_yaml_fail(&r->yaml, node, r->error, "%s must be yes or no, not '%.40s'", what, text);
}

static tacit_status read_number(reading *r, const yaml_node_t *node, const tacit_study_setting *one,
                                double *out) {
    TACIT_TRY(study_read_range(r, node, one->name, one->least, one->most, out));
    if (one->parts > 0) *out = round(*out * one->parts) / one->parts;
    return TACIT_OK;
}

static void set_default(tacit_study *study, const tacit_study_setting *one) {
    if (one->kind == TACIT_STUDY_KIND_NUMBER) *(double *)member(study, one) = one->fallback;
    if (one->kind == TACIT_STUDY_KIND_COUNT) *(size_t *)member(study, one) = (size_t)one->fallback;
    if (one->kind == TACIT_STUDY_KIND_SWITCH) *(bool *)member(study, one) = one->fallback != 0;
}

/* One that does not apply stays 0, as if the study had no such thing. */
static tacit_status read_one(reading *r, const tacit_study_setting *one, const yaml_node_t *node) {
    tacit_study *study = r->study;
    if (node != NULL && (one->rules & TACIT_STUDY_COUNTED) && r->written)
        return tacit_yaml_fail(&r->yaml, node, r->error, "the coordinator writes '%s': leave it out",
                               one->name);
    if (one->applies != NULL && !one->applies(study)) {
        if (node == NULL) return TACIT_OK;
        return tacit_yaml_fail(&r->yaml, node, r->error, "%s belongs to %s: leave it out", one->name,
                               one->belongs);
    }
    if (one->kind == TACIT_STUDY_KIND_MADE) return one->read(r, node);
    if (node == NULL) {
        set_default(study, one);
        return TACIT_OK;
    }
    switch (one->kind) {
    case TACIT_STUDY_KIND_NUMBER: return read_number(r, node, one, member(study, one));
    case TACIT_STUDY_KIND_COUNT:
        return study_read_whole(r, node, one->name, one->least, one->most, member(study, one));
    case TACIT_STUDY_KIND_SWITCH: return read_switch(r, node, one->name, member(study, one));
    default: return read_line(r, node, one->name, member(study, one));
    }
}

tacit_status study_read_stage(reading *r, tacit_study_stage stage) {
    for (size_t k = 0; k < STUDY_SETTINGS; k++)
        if (tacit_study_settings[k].stage == stage)
            TACIT_TRY(read_one(r, &tacit_study_settings[k], r->values[k]));
    return TACIT_OK;
}

tacit_status study_find_values(reading *r, const yaml_node_t *root) {
    const char *names[STUDY_SETTINGS];
    for (size_t k = 0; k < STUDY_SETTINGS; k++) names[k] = tacit_study_settings[k].name;
    TACIT_TRY(tacit_yaml_mapping(&r->yaml, root, "a study", names, STUDY_SETTINGS, r->values, r->error));
    unsigned needed = TACIT_STUDY_REQUIRED | (r->written ? 0 : TACIT_STUDY_TRAVELS);
    for (size_t k = 0; k < STUDY_SETTINGS; k++)
        if (r->values[k] == NULL && (tacit_study_settings[k].rules & needed) != 0)
            return tacit_fail(r->error, TACIT_INPUT, "%s: the study has no '%s'", r->yaml.name, names[k]);
    return TACIT_OK;
}

/* ---- printing ---- */

static const char *print_number(double value, char out[TACIT_STUDY_VALUE_SIZE]) {
    char text[TACIT_NUMBER_TEXT];
    tacit_format(out, TACIT_STUDY_VALUE_SIZE, "%s", tacit_number_to_text(value, text));
    return out;
}

static const char *print_count(size_t value, char out[TACIT_STUDY_VALUE_SIZE]) {
    tacit_format(out, TACIT_STUDY_VALUE_SIZE, "%zu", value);
    return out;
}

static const char *print_switch(bool value, char out[TACIT_STUDY_VALUE_SIZE]) {
    tacit_format(out, TACIT_STUDY_VALUE_SIZE, "%s", value ? "yes" : "no");
    return out;
}

const char *tacit_study_setting_text(const tacit_study *study, const tacit_study_setting *one,
                                     char out[TACIT_STUDY_VALUE_SIZE]) {
    const void *value = value_of(study, one);
    out[0] = 0;
    if (one->applies != NULL && !one->applies(study)) return out;
    switch (one->kind) {
    case TACIT_STUDY_KIND_NUMBER: return print_number(*(const double *)value, out);
    case TACIT_STUDY_KIND_COUNT: return print_count(*(const size_t *)value, out);
    case TACIT_STUDY_KIND_SWITCH: return print_switch(*(const bool *)value, out);
    case TACIT_STUDY_KIND_LINE: memcpy(out, value, TACIT_TITLE_SIZE); return out;
    default:
        if (one->text != NULL &&
            tacit_format(out, TACIT_STUDY_VALUE_SIZE, "%s", one->text(study)) >= TACIT_STUDY_VALUE_SIZE)
            memcpy(out + TACIT_STUDY_VALUE_SIZE - 4, "...", 4);
        return out;
    }
}

static bool has_default(const tacit_study *study, const tacit_study_setting *one) {
    char value[TACIT_STUDY_VALUE_SIZE], standard[TACIT_STUDY_VALUE_SIZE];
    return strcmp(tacit_study_setting_text(study, one, value), tacit_study_setting_default(one, standard)) ==
           0;
}

tacit_status study_print_settings(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    char text[TACIT_STUDY_VALUE_SIZE];
    for (const tacit_study_setting *one = tacit_study_settings; one->name != NULL; one++) {
        if (one->kind == TACIT_STUDY_KIND_MADE) {
            TACIT_TRY(one->print(study, out, error));
            continue;
        }
        tacit_study_setting_text(study, one, text);
        if (text[0] == 0 || ((one->rules & TACIT_STUDY_QUIET) && has_default(study, one))) continue;
        const char *quote = one->kind == TACIT_STUDY_KIND_LINE ? "\"" : "";
        TACIT_TRY(tacit_buffer_print(out, error, "%s: %s%s%s\n", one->name, quote, text, quote));
    }
    return TACIT_OK;
}

/* ---- for people ---- */

const char *tacit_study_setting_form(const tacit_study_setting *one, char out[TACIT_STUDY_VALUE_SIZE]) {
    out[0] = 0;
    if (one->form != NULL)
        tacit_format(out, TACIT_STUDY_VALUE_SIZE, "%s", one->form);
    else if (one->kind == TACIT_STUDY_KIND_NUMBER)
        tacit_format(out, TACIT_STUDY_VALUE_SIZE, "%g to %g", one->least, one->most);
    else if (one->kind == TACIT_STUDY_KIND_COUNT)
        tacit_format(out, TACIT_STUDY_VALUE_SIZE, "a whole number from %g to %g", one->least, one->most);
    else if (one->kind == TACIT_STUDY_KIND_SWITCH)
        memcpy(out, "yes | no", sizeof "yes | no");
    else if (one->kind == TACIT_STUDY_KIND_LINE)
        tacit_format(out, TACIT_STUDY_VALUE_SIZE, "one line of fewer than %d bytes", TACIT_TITLE_SIZE);
    return out;
}

const char *tacit_study_setting_default(const tacit_study_setting *one, char out[TACIT_STUDY_VALUE_SIZE]) {
    out[0] = 0;
    if (one->standard != NULL)
        tacit_format(out, TACIT_STUDY_VALUE_SIZE, "%s", one->standard);
    else if (one->rules & TACIT_STUDY_REQUIRED)
        return out;
    else if (one->kind == TACIT_STUDY_KIND_SWITCH)
        print_switch(one->fallback != 0, out);
    else if (one->kind == TACIT_STUDY_KIND_NUMBER)
        print_number(one->fallback, out);
    else if (one->kind == TACIT_STUDY_KIND_COUNT)
        print_count((size_t)one->fallback, out);
    return out;
}

const char *tacit_study_setting_terms(const tacit_study *study, const tacit_study_setting *one,
                                      char out[TACIT_STUDY_VALUE_SIZE]) {
    char value[TACIT_STUDY_VALUE_SIZE];
    out[0] = 0;
    if (one->terms == NULL || tacit_study_setting_text(study, one, value)[0] == 0) return out;
    if ((one->rules & TACIT_STUDY_QUIET) && has_default(study, one)) return out;
    size_t before = strcspn(one->terms, "{");
    if (one->terms[before] == 0) /* a switch: the sentence says it all */
        tacit_format(out, TACIT_STUDY_VALUE_SIZE, "%s", one->terms);
    else
        tacit_format(out, TACIT_STUDY_VALUE_SIZE, "%.*s%.*s%s", (int)before, one->terms, TACIT_TITLE_SIZE,
                     value, one->terms + before + 2);
    return out;
}
