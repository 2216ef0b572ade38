#include <math.h>
#include <string.h>

#include "api/document/document.h"
#include "api/option/arguments.h"
#include "data/schema/text.h"
#include "privacy/account/accountant.h"

static const tacit_option compose_options[] = {
    { .name = "event",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "KIND NAME=VALUE...",
      .rules = TACIT_RULE_REQUIRED | TACIT_RULE_REPEATED,
      .help = "a kind of release: gaussian sigma=, laplace scale=, pure epsilon=, approximate epsilon= "
              "delta=, zcdp rho=" },
    { .name = "adjacency",
      .kind = TACIT_OPTION_CHOICE,
      .placeholder = "replace|add-or-remove",
      .fallback = "replace",
      .help = "what neighbours are" },
    { .name = "delta",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "D",
      .rules = TACIT_RULE_RANGE | TACIT_RULE_BELOW,
      .least = 0,
      .most = 1,
      .help = "at which the least epsilon is found" },
    { .name = "epsilon",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "E",
      .rules = TACIT_RULE_RANGE,
      .least = 0,
      .most = 1e6,
      .help = "at which the least delta is found" },
    { .name = NULL },
};

static const struct kind {
    const char *name, *parameter;
    tacit_event_kind kind;
} kinds[] = { { "gaussian", "sigma", TACIT_EVENT_GAUSSIAN },
              { "laplace", "scale", TACIT_EVENT_LAPLACE },
              { "pure", "epsilon", TACIT_EVENT_PURE },
              { "approximate", "epsilon", TACIT_EVENT_APPROXIMATE },
              { "zcdp", "rho", TACIT_EVENT_CONCENTRATED } };

enum { KINDS = sizeof kinds / sizeof *kinds, BLANK = ' ' };

static bool is_word(const char *text, size_t length, const char *word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static const struct kind *kind_named(const char *text, size_t length) {
    for (size_t k = 0; k < KINDS; k++)
        if (is_word(text, length, kinds[k].name)) return &kinds[k];
    return NULL;
}

/* One NAME=VALUE of an event. */
static tacit_status read_part(tacit_event *out, const struct kind *kind, const char *text, size_t length,
                              tacit_error *error) {
    const char *equals = memchr(text, '=', length);
    if (equals == NULL)
        return tacit_fail(error, TACIT_USAGE, "the option 'event': '%.*s' must be NAME=VALUE",
                          (int)(length < 60 ? length : 60), text);
    const size_t name = (size_t)(equals - text), rest = length - name - 1;
    double number = 0;
    if (is_word(text, name, "replaced")) {
        out->replaced = is_word(equals + 1, rest, "yes");
        if (out->replaced || is_word(equals + 1, rest, "no")) return TACIT_OK;
        return tacit_fail(error, TACIT_USAGE, "the option 'event': replaced must be yes or no");
    }
    if (!tacit_text_to_number(equals + 1, rest, &number))
        return tacit_fail(error, TACIT_USAGE, "the option 'event': '%.*s' is no number",
                          (int)(rest < 60 ? rest : 60), equals + 1);
    if (is_word(text, name, kind->parameter))
        out->parameter = number;
    else if (is_word(text, name, "sampling"))
        out->sampling = number;
    else if (is_word(text, name, "delta") && kind->kind == TACIT_EVENT_APPROXIMATE)
        out->delta = number;
    else if (is_word(text, name, "count") && number >= 1 && number <= (double)TACIT_EVENT_COUNT_MOST &&
             number == floor(number))
        out->count = (uint64_t)number;
    else if (is_word(text, name, "count"))
        return tacit_fail(error, TACIT_USAGE,
                          "the option 'event': count must be a whole number from 1 to 1e9");
    else
        return tacit_fail(error, TACIT_USAGE, "the option 'event': %s has no '%.*s'", kind->name,
                          (int)(name < 60 ? name : 60), text);
    return TACIT_OK;
}

static tacit_status read_event(tacit_event *out, const char *text, tacit_error *error) {
    size_t length = strcspn(text, " ");
    const struct kind *kind = kind_named(text, length);
    if (kind == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "the option 'event': '%.*s' is none of gaussian, laplace, pure, approximate, zcdp",
                          (int)(length < 60 ? length : 60), text);
    *out = (tacit_event){ .kind = kind->kind, .sampling = 1, .count = 1 };
    for (const char *at = text + length; *at != 0; at += length) {
        at += *at == BLANK;
        length = strcspn(at, " ");
        if (length > 0) TACIT_TRY(read_part(out, kind, at, length, error));
    }
    return tacit_event_check(out, error);
}

static tacit_status gather(tacit_accountant **out, const tacit_arguments *arguments, tacit_error *error) {
    const bool replace = strcmp(tacit_arguments_text(arguments, "adjacency"), "replace") == 0;
    size_t count = 0;
    const char *const *texts = tacit_arguments_words(arguments, "event", &count);
    tacit_accountant *accountant = NULL;
    TACIT_TRY(tacit_accountant_create(&accountant, replace ? TACIT_REPLACE : TACIT_ADD_OR_REMOVE, error));
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < count && status == TACIT_OK; i++) {
        tacit_event event;
        status = read_event(&event, texts[i], error);
        if (status == TACIT_OK) status = tacit_accountant_add(accountant, &event, error);
    }
    if (status != TACIT_OK) {
        tacit_accountant_free(accountant);
        return status;
    }
    *out = accountant;
    return TACIT_OK;
}

/* What each accountant proves; one that does not apply says so by TACIT_USAGE, and is null here. */
static tacit_status by_each(json_t *all, const tacit_accountant *accountant, bool find_epsilon, double at,
                            tacit_error *error) {
    for (int k = 0; k < TACIT_COMPOSITIONS; k++) {
        double found = 0;
        tacit_error why = TACIT_ERROR_INIT;
        tacit_status status = find_epsilon ? tacit_accountant_epsilon_by(&found, accountant, k, at, &why)
                                           : tacit_accountant_delta_by(&found, accountant, k, at, &why);
        if (status != TACIT_OK && status != TACIT_USAGE) return tacit_fail(error, status, "%s", why.text);
        json_t *value = status == TACIT_OK ? tacit_json_number(found) : json_null();
        if (json_object_set_new(all, tacit_composition_name(k), value) != 0) return tacit_fail_memory(error);
    }
    return TACIT_OK;
}

static tacit_status compose(char **json, const tacit_arguments *arguments, tacit_error *error) {
    const bool find_epsilon = tacit_arguments_given(arguments, "delta");
    if (find_epsilon == tacit_arguments_given(arguments, "epsilon"))
        return tacit_fail(error, TACIT_USAGE,
                          "give the option 'delta' or the option 'epsilon': the other is found");
    const double at = tacit_arguments_number(arguments, find_epsilon ? "delta" : "epsilon");
    tacit_accountant *accountant = NULL;
    tacit_spending spent = { 0 };
    json_t *each = json_object();
    tacit_status status;
    if (each == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(gather(&accountant, arguments, error));
    TACIT_CHECK(find_epsilon ? tacit_accountant_epsilon(&spent, accountant, at, error)
                             : tacit_accountant_delta(&spent, accountant, at, error));
    TACIT_CHECK(by_each(each, accountant, find_epsilon, at, error));
    TACIT_CHECK(tacit_document_text(
        json,
        json_pack("{s:o,s:o,s:s,s:s,s:O}", "epsilon", tacit_json_number(spent.epsilon), "delta",
                  tacit_json_number(spent.delta), "by", tacit_composition_name(spent.by), "adjacency",
                  tacit_arguments_text(arguments, "adjacency"), "accountants", each),
        error));
cleanup:
    json_decref(each);
    tacit_accountant_free(accountant);
    return status;
}

tacit_status tacit_compose_document(char **json, const tacit_options *options, tacit_error *error) {
    static const tacit_form form = { .name = "compose", .options = compose_options };
    tacit_arguments *arguments = NULL;
    TACIT_TRY(tacit_require(json, "where to put the document", error));
    TACIT_TRY(tacit_form_take(&arguments, &form, options, error));
    tacit_status status = compose(json, arguments, error);
    tacit_arguments_free(arguments);
    return status;
}
