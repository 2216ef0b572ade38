#include "study/json_value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/plan/wording.h"
#include "study/home.h"
#include "study/study_settings.h"

json_t *tacit_json_number(double value) {
    if (isnan(value)) return json_null();
    if (isinf(value)) return json_string(value > 0 ? "inf" : "-inf");
    return json_real(value);
}

json_t *tacit_json_escaped(const char *text) {
    char shown[TACIT_SOURCE_SHOWN_SIZE];
    if (tacit_source_check(text, NULL) != TACIT_OK) text = tacit_source_shown(shown, text);
    json_t *valid = json_string(text);
    if (valid != NULL) return valid;
    char *escaped = TACIT_NEW(char, 4 * strlen(text) + 1), *to = escaped;
    if (escaped == NULL) return NULL;
    for (const unsigned char *at = (const unsigned char *)text; *at != 0; at++) {
        if (*at < 0x80)
            *to++ = (char)*at;
        else
            to += sprintf(to, "\\x%02x", *at);
    }
    *to = 0;
    valid = json_string(escaped);
    free(escaped);
    return valid;
}

json_t *tacit_json_append(json_t *list, json_t *item) {
    if (json_array_append_new(list, item) == 0) return list;
    json_decref(list);
    return NULL;
}

json_t *tacit_json_price(const tacit_price *price) {
    return json_pack("{s:s,s:o,s:o}", "unit", tacit_unit_name(price->unit), "epsilon",
                     tacit_json_number(price->epsilon), "delta", tacit_json_number(price->delta));
}

static json_t *noise_document(const tacit_method *method, const tacit_noise_law *noise) {
    if (method->noise == NULL) return json_null();
    return json_pack("{s:s,s:s,s:I,s:o,s:o,s:o}", "law", noise->law, "added_to", noise->added_to, "dimension",
                     (json_int_t)noise->dimension, "sensitivity", tacit_json_number(noise->sensitivity),
                     "scale", tacit_json_number(noise->scale), "mean_norm",
                     tacit_json_number(noise->mean_norm));
}

tacit_status tacit_json_explanation(json_t **out, const tacit_plan *plan, tacit_error *error) {
    const tacit_method *method = plan->method;
    tacit_prices prices = { .event = { .count = 0 } };
    tacit_noise_law noise = { .law = "" };
    tacit_wording words = TACIT_WORDING_INIT;
    char sums[TACIT_WORDING_SUMS_SIZE];
    TACIT_TRY(tacit_plan_declare(plan, &prices, &noise, error));
    TACIT_TRY(tacit_wording_make(&words, plan, error));
    *out = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o}", "method",
                     method->name, "title", method->title, "reference", method->reference, "leaves",
                     words.leaves, "release", tacit_release_kind_name(method->release_kind(plan)), "how",
                     tacit_wording_release(plan, &prices.charged), "noise_added",
                     tacit_wording_noise(plan, &prices.charged), "seen_by", words.seen_by, "guarantee",
                     words.guarantee, "assumption", words.assumption, "theorem", words.theorem, "claim",
                     method->claim, "caveats", words.caveats, "charged", tacit_json_price(&prices.charged),
                     "claimed", tacit_json_price(&prices.claimed), "noise", noise_document(method, &noise),
                     "undeployable",
                     method->undeployable != NULL ? json_string(method->undeployable) : json_null(),
                     "secure_sums", tacit_wording_sums(sums, plan) ? json_string(sums) : json_null());
    tacit_wording_clear(&words);
    if (*out != NULL && json_object_set_new(*out, "lambda", tacit_json_number(plan->lambda)) != 0) {
        json_decref(*out);
        *out = NULL;
    }
    return *out != NULL ? TACIT_OK : tacit_fail_memory(error);
}

/* NULL where it does not apply, or is no single value. */
static json_t *setting_value(const tacit_study *study, const tacit_study_setting *one) {
    char text[TACIT_STUDY_VALUE_SIZE];
    const void *value = (const char *)study + one->offset;
    if (tacit_study_setting_text(study, one, text)[0] == 0) return NULL;
    switch (one->kind) {
    case TACIT_STUDY_KIND_NUMBER: return json_real(*(const double *)value);
    case TACIT_STUDY_KIND_COUNT: return json_integer((json_int_t) * (const size_t *)value);
    case TACIT_STUDY_KIND_SWITCH: return json_boolean(*(const bool *)value);
    default: return json_string(text);
    }
}

json_t *tacit_json_study_settings(const tacit_study *study) {
    json_t *all = json_object();
    for (const tacit_study_setting *one = tacit_study_settings; one->name != NULL; one++) {
        json_t *value = setting_value(study, one);
        if (value != NULL) json_object_set_new(all, one->name, value);
    }
    return all;
}

/* ---- a study ---- */

static json_t *text_or_null(const char *text) { return text[0] != 0 ? json_string(text) : json_null(); }

static json_t *moment(int64_t seconds) {
    char text[TACIT_TIME_TEXT];
    return seconds != 0 ? json_string(tacit_study_time_text(text, seconds)) : json_null();
}

/* What was written for people, and when the study may run. */
static void add_about(json_t *document, const tacit_study *study) {
    char version[2 * TACIT_HASH_BYTES + 1] = "";
    if (study->document.length > 0)
        sodium_bin2hex(version, sizeof version, study->document_hash, sizeof study->document_hash);
    json_object_set_new(document, "description",
                        study->description.length > 0
                            ? json_stringn((const char *)study->description.bytes, study->description.length)
                            : json_null());
    json_object_set_new(document, "approval", text_or_null(study->approval));
    json_object_set_new(document, "consent_document", text_or_null(version));
    json_object_set_new(document, "schedule",
                        json_pack("{s:o,s:o}", "from", moment(study->from), "until", moment(study->until)));
}

json_t *tacit_json_study(const tacit_study_record *record, const tacit_study *study) {
    const tacit_plan *plan = &study->plan;
    json_t *parties =
        json_pack("{s:I,s:I,s:I,s:I,s:I}", "expected", (json_int_t)plan->parties, "minimum",
                  (json_int_t)plan->minimum_parties, "joined", (json_int_t)record->joined, "invited",
                  (json_int_t)record->invited, "outdated", (json_int_t)record->outdated);
    json_t *document = json_pack(
        "{s:s,s:s,s:s,s:s,s:s,s:I,s:I,s:s,s:o,s:o,s:o,s:o}", "name", record->name, "title", study->title,
        "method", plan->method->name, "state", tacit_study_state_name(record->state), "reason",
        record->reason, "version", (json_int_t)record->version, "rounds", (json_int_t)record->rounds, "step",
        record->step, "epsilon", tacit_json_number(plan->epsilon), "delta", tacit_json_number(plan->delta),
        "lambda", tacit_json_number(plan->lambda), "parties", parties);
    if (document == NULL) return NULL;
    add_about(document, study);
    json_object_set_new(document, "settings", tacit_json_study_settings(study));
    return document;
}
