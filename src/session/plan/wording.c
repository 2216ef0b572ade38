#include "session/plan/wording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema/text.h"
#include "session/masked/masked.h"

/* A piece of a text, not terminated. */
typedef struct piece {
    const char *at;
    size_t length;
} piece;

static bool piece_is(piece one, const char *text) {
    return strlen(text) == one.length && memcmp(one.at, text, one.length) == 0;
}

static const char *seen(const tacit_plan *plan) {
    switch (tacit_plan_hearing(plan)) {
    case TACIT_HEARS_CIPHERTEXTS: return "ciphertexts";
    case TACIT_HEARS_SINGLE: return "each";
    case TACIT_HEARS_SUMS: break;
    }
    return plan->sums == TACIT_SUMS_CLEAR ? "each" : "sum";
}

/* What the key stands at, in `text`; false: there is no such key. */
static bool standing(const tacit_plan *plan, piece key, char text[TACIT_SETTING_SIZE],
                     const tacit_parameter **setting) {
    const tacit_parameter *one = plan->method->parameters;
    while (one != NULL && one->name != NULL && !piece_is(key, one->name)) one++;
    *setting = one != NULL && one->name != NULL ? one : NULL;
    if (piece_is(key, "sees")) {
        static const tacit_parameter hearing = { .type = TACIT_SETTING_CHOICE,
                                                 .choices = "sum|each|ciphertexts" };
        *setting = &hearing;
        snprintf(text, TACIT_SETTING_SIZE, "%s", seen(plan));
        return true;
    }
    if (piece_is(key, "protects")) {
        static const tacit_parameter whom = { .type = TACIT_SETTING_CHOICE, .choices = "record|person" };
        *setting = &whom;
        snprintf(text, TACIT_SETTING_SIZE, "%s", tacit_plan_counts_persons(plan) ? "person" : "record");
        return true;
    }
    if (piece_is(key, "counts")) {
        static const tacit_parameter what = { .type = TACIT_SETTING_CHOICE,
                                              .choices = "nothing|missing|perhaps" };
        *setting = &what;
        tacit_setting_word(what.choices, tacit_plan_counts_missing(plan), text);
        return true;
    }
    if (piece_is(key, "label")) {
        static const tacit_parameter kinds = { .type = TACIT_SETTING_CHOICE,
                                               .choices = "any|class|number|count|time" };
        *setting = &kinds;
        snprintf(text, TACIT_SETTING_SIZE, "%s",
                 plan->schema != NULL ? tacit_response_name(plan->schema->response) : "any");
        return true;
    }
    if (*setting == NULL) return false;
    tacit_plan_print(plan, *setting, text);
    if (piece_is(key, "law") && strcmp(text, "auto") == 0)
        snprintf(text, TACIT_SETTING_SIZE, "%s",
                 tacit_plan_gaussian(plan, TACIT_LAW_AUTO) ? "gaussian" : "pure");
    return true;
}

/* Take what comes before one of the ends off the front. */
static piece take(piece *rest, const char *ends) {
    size_t length = 0;
    while (length < rest->length && strchr(ends, rest->at[length]) == NULL) length++;
    piece taken = { rest->at, length };
    size_t gone = length < rest->length ? length + 1 : length;
    *rest = (piece){ rest->at + gone, rest->length - gone };
    return taken;
}

/* Numbers are equal as numbers: 1 and 1.0. A choice must be one that there is. */
static bool stands_at(const char *text, piece value, const tacit_parameter *setting, bool *known) {
    char given[TACIT_SETTING_SIZE];
    double first, second;
    if (value.length >= sizeof given) return false;
    memcpy(given, value.at, value.length);
    given[value.length] = 0;
    if (setting->type == TACIT_SETTING_CHOICE)
        *known = *known && tacit_setting_place(setting->choices, given) >= 0;
    if (setting->type == TACIT_SETTING_CHOICE || setting->type == TACIT_SETTING_TEXT)
        return strcmp(text, given) == 0;
    return tacit_text_to_number(text, strlen(text), &first) &&
           tacit_text_to_number(given, value.length, &second) && first == second;
}

/* KEY=VALUE|VALUE or KEY!=VALUE. */
static tacit_status holds(bool *out, piece condition, const tacit_plan *plan, tacit_error *error) {
    piece all = condition, key = take(&condition, "!=");
    bool negated = condition.at[-1] == '!';
    if (negated) take(&condition, "=");
    char text[TACIT_SETTING_SIZE];
    const tacit_parameter *setting;
    bool known = standing(plan, key, text, &setting), found = false;
    while (known && condition.length > 0)
        found = stands_at(text, take(&condition, "|"), setting, &known) || found;
    if (!known)
        return tacit_fail(error, TACIT_INTERNAL, "method %s has no setting as in '%.*s'", plan->method->name,
                          (int)all.length, all.at);
    *out = found != negated;
    return TACIT_OK;
}

static tacit_status all_hold(bool *out, piece conditions, const tacit_plan *plan, tacit_error *error) {
    bool all = true;
    while (conditions.length > 0) {
        bool one = false;
        TACIT_TRY(holds(&one, take(&conditions, ","), plan, error));
        all = all && one;
    }
    *out = all;
    return TACIT_OK;
}

/* "[key=" or "[key!=": a clause opens here. */
static bool opens(const char *at) {
    size_t name = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_-");
    const char *after = at + 1 + name;
    return *at == '[' && name > 0 && (after[0] == '=' || (after[0] == '!' && after[1] == '='));
}

/* The words of a clause, {KEY%} as what that share stands at. */
static tacit_status append_words(tacit_buffer *out, piece words, const tacit_plan *plan, tacit_error *error) {
    while (words.length > 0) {
        const piece before = take(&words, "{");
        TACIT_TRY(tacit_buffer_append(out, before.at, before.length, error));
        if (words.length == 0) break;
        const piece key = take(&words, "%");
        const tacit_parameter *setting;
        char text[TACIT_SETTING_SIZE];
        double share;
        take(&words, "}");
        if (!standing(plan, key, text, &setting) || !tacit_text_to_number(text, strlen(text), &share))
            return tacit_fail(error, TACIT_INTERNAL, "method %s has no share as in '%.*s'",
                              plan->method->name, (int)key.length, key.at);
        TACIT_TRY(tacit_buffer_print(out, error, "%g%%", round(1000 * share) / 10));
    }
    return TACIT_OK;
}

tacit_status tacit_wording_text(tacit_buffer *out, const char *text, const tacit_plan *plan,
                                tacit_error *error) {
    while (*text != 0) {
        const char *colon = strstr(text, ": "), *close = strchr(text, ']');
        if (!opens(text)) {
            size_t length = 1 + strcspn(text + 1, "[");
            TACIT_TRY(tacit_buffer_append(out, text, length, error));
            text += length;
            continue;
        }
        if (colon == NULL || close == NULL || colon > close)
            return tacit_fail(error, TACIT_INTERNAL, "a clause of method %s has no end: %s",
                              plan->method->name, text);
        bool kept = false;
        TACIT_TRY(all_hold(&kept, (piece){ text + 1, (size_t)(colon - text - 1) }, plan, error));
        if (kept)
            TACIT_TRY(append_words(out, (piece){ colon + 2, (size_t)(close - colon - 2) }, plan, error));
        text = close + 1;
    }
    return TACIT_OK;
}

static tacit_status word(char **out, const char *text, const tacit_plan *plan, tacit_error *error) {
    tacit_buffer words = TACIT_BUFFER_INIT;
    tacit_status status = tacit_wording_text(&words, text, plan, error);
    if (status == TACIT_OK) {
        *out = tacit_copy_text(tacit_buffer_text(&words));
        if (*out == NULL) status = tacit_fail_memory(error);
    }
    tacit_buffer_clear(&words);
    return status;
}

tacit_status tacit_wording_make(tacit_wording *out, const tacit_plan *plan, tacit_error *error) {
    const tacit_method *method = plan->method;
    tacit_wording made = TACIT_WORDING_INIT;
    tacit_status status;
    TACIT_CHECK(word(&made.leaves, method->leaves, plan, error));
    TACIT_CHECK(word(&made.seen_by, method->seen_by, plan, error));
    TACIT_CHECK(word(&made.guarantee, method->guarantee, plan, error));
    TACIT_CHECK(word(&made.assumption, method->assumption, plan, error));
    TACIT_CHECK(word(&made.theorem, method->theorem, plan, error));
    TACIT_CHECK(word(&made.caveats, method->caveats, plan, error));
    *out = made;
    made = (tacit_wording)TACIT_WORDING_INIT;
cleanup:
    tacit_wording_clear(&made);
    return status;
}

void tacit_wording_clear(tacit_wording *wording) {
    free(wording->leaves);
    free(wording->seen_by);
    free(wording->guarantee);
    free(wording->assumption);
    free(wording->theorem);
    free(wording->caveats);
    *wording = (tacit_wording)TACIT_WORDING_INIT;
}

bool tacit_wording_sums(char out[TACIT_WORDING_SUMS_SIZE], const tacit_plan *plan) {
    size_t least, colluders = tacit_plan_colluders(plan);
    if (strcmp(seen(plan), "sum") != 0 || tacit_secure_minimum(&least, plan, NULL) != TACIT_OK) return false;
    int used = snprintf(out, TACIT_WORDING_SUMS_SIZE,
                        "%s: opened from at least %zu of %zu parties' contributions; withstands ",
                        tacit_sum_way_name(plan->sums), least, plan->parties);
    if (colluders > 0)
        snprintf(out + used, TACIT_WORDING_SUMS_SIZE - (size_t)used,
                 "%zu of the parties telling the coordinator all they know, and no more", colluders);
    else
        snprintf(out + used, TACIT_WORDING_SUMS_SIZE - (size_t)used,
                 "no party that tells the coordinator all it knows");
    return true;
}

const char *tacit_wording_noise(const tacit_plan *plan, const tacit_price *charged) {
    if (isinf(charged->epsilon)) return "none: the values are exact";
    if (tacit_plan_hearing(plan) == TACIT_HEARS_CIPHERTEXTS)
        return "by both center servers, before anything is opened";
    switch (plan->method->release_kind(plan)) {
    case TACIT_RELEASE_CHARGED: return "by each party on its own, before anything leaves it";
    case TACIT_RELEASE_SEALED: return "by all parties together, a share each, before anything leaves them";
    case TACIT_RELEASE_ENTRUSTED: break;
    }
    return "by the coordinator, once it has the exact values";
}

const char *tacit_wording_release(const tacit_plan *plan, const tacit_price *charged) {
    bool exact = isinf(charged->epsilon);
    if (plan->method->schedule != NULL)
        return "entrusted: exact values go to neighbours, who are trusted with them";
    if (tacit_plan_hearing(plan) == TACIT_HEARS_CIPHERTEXTS)
        return exact ? "sealed: encrypted, and exact results are computed from it"
                     : "sealed: encrypted, and only results with noise are computed from it";
    switch (plan->method->release_kind(plan)) {
    case TACIT_RELEASE_CHARGED: return "charged: the party's noise is in it before it leaves";
    case TACIT_RELEASE_SEALED:
        return "sealed: masked, and each party's share of the noise is in it before it leaves";
    case TACIT_RELEASE_ENTRUSTED: break;
    }
    if (strcmp(seen(plan), "sum") == 0)
        return exact
                   ? "entrusted: masked, and the coordinator is trusted with the exact sum"
                   : "entrusted: masked, and the coordinator is trusted with the exact sum and to add noise";
    return exact ? "entrusted: exact, and the coordinator is trusted with it"
                 : "entrusted: exact, and the coordinator is trusted with it and to add noise";
}
