#include "method/methods.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "model/family/family.h"
#include "session/plan/wording.h"

const tacit_method *const tacit_methods[] = {
#define TACIT_METHOD_ENTRY(name) &tacit_method_##name,
    TACIT_METHODS(TACIT_METHOD_ENTRY)
#undef TACIT_METHOD_ENTRY
        NULL,
};

const tacit_method *tacit_method_find(const char *name) {
    for (size_t i = 0; tacit_methods[i] != NULL; i++)
        if (strcmp(tacit_methods[i]->name, name) == 0) return tacit_methods[i];
    return NULL;
}

/* A method of Tacit, by its name, whether or not it was built into this library. */
static bool is_known(const char *name) {
#define TACIT_METHOD_NAME(name) #name,
    static const char *const known[] = { TACIT_ALL_METHODS(TACIT_METHOD_NAME) };
#undef TACIT_METHOD_NAME
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t at = 0;
        while (known[i][at] != 0 && (known[i][at] == '_' ? '-' : known[i][at]) == name[at]) at++;
        if (known[i][at] == 0 && name[at] == 0) return true;
    }
    return false;
}

tacit_status tacit_method_require(const tacit_method **out, const char *name, tacit_error *error) {
    const tacit_method *method = tacit_method_find(name);
    if (method != NULL) {
        *out = method;
        return TACIT_OK;
    }
    char known[TACIT_METHODS_TEXT];
    tacit_methods_with("all", NULL, known);
    if (is_known(name))
        return tacit_fail(
            error, TACIT_USAGE,
            "method %s is not in this library, which was built for these: %s; build it with %s in the "
            "list of -Dparty_methods",
            name, known, name);
    return tacit_fail(error, TACIT_USAGE, "no method is called '%.60s'; there are: %s", name, known);
}

static bool is_taker(const tacit_method *method, tacit_response kind) {
    if (kind == TACIT_RESPONSE_COUNT && method->no_counts != NULL) kind = TACIT_RESPONSE_NUMBER;
    return tacit_method_takes_label(method, kind) && (method->reports == NULL || method->takes_times);
}

/* Numbers and counts go with the same methods, except where one refuses counts: its name says so. */
static const char *taker_name(const tacit_method *method, char out[TACIT_METHODS_TEXT]) {
    snprintf(out, TACIT_METHODS_TEXT, "%s%s", method->name, method->no_counts != NULL ? " (no counts)" : "");
    return out;
}

/* "a, b and c": methods for labels of a kind. */
static void list_takers(tacit_response kind, char out[TACIT_METHODS_TEXT]) {
    char name[TACIT_METHODS_TEXT];
    size_t count = 0, listed = 0;
    out[0] = 0;
    for (size_t i = 0; tacit_methods[i] != NULL; i++) count += is_taker(tacit_methods[i], kind);
    for (size_t i = 0; tacit_methods[i] != NULL; i++)
        if (is_taker(tacit_methods[i], kind))
            tacit_methods_append(out, listed++, count, "and", taker_name(tacit_methods[i], name));
}

/* Whether some method takes a kind that is no class; `names`: which do. */
static bool has_takers(tacit_response kind, char names[TACIT_METHODS_TEXT]) {
    if (kind == TACIT_RESPONSE_CLASS || tacit_family_of(kind, 0) == NULL) return false;
    list_takers(kind, names);
    return true;
}

/* "kind number or count goes with estimate (family linear or poisson)" for each kind that is no class and
 * that some method takes; kinds that the same methods take together, up to the kind `last`. */
static tacit_status print_takers(tacit_buffer *out, tacit_response last, tacit_error *error) {
    bool told[TACIT_RESPONSES] = { false };
    for (int kind = 0; kind <= (int)last; kind++) {
        char names[TACIT_METHODS_TEXT], others[TACIT_METHODS_TEXT], families[TACIT_METHODS_TEXT] = "";
        const char *between = "; kind ";
        size_t used = 0;
        if (told[kind] || !has_takers((tacit_response)kind, names)) continue;
        for (int alike = kind; alike < TACIT_RESPONSES; alike++) {
            if (!has_takers((tacit_response)alike, others) || strcmp(names, others) != 0) continue;
            told[alike] = true;
            TACIT_TRY(
                tacit_buffer_print(out, error, "%s%s", between, tacit_response_name((tacit_response)alike)));
            between = " or ";
            for (size_t i = 0; tacit_family_at(i) != NULL; i++) {
                if (tacit_family_at(i)->response != (tacit_response)alike) continue;
                used += (size_t)snprintf(families + used, sizeof families - used, "%s%s",
                                         used > 0 ? " or " : "", tacit_family_at(i)->name);
            }
        }
        TACIT_TRY(tacit_buffer_print(out, error, " goes with %s (family %s)", names, families));
    }
    return TACIT_OK;
}

tacit_status tacit_methods_check_label(const tacit_plan *plan, tacit_error *error) {
    const tacit_schema *schema = plan->schema;
    tacit_buffer takers = TACIT_BUFFER_INIT;
    if (schema == NULL) return TACIT_OK;
    bool known = schema->response == TACIT_RESPONSE_CLASS || tacit_family_of(schema->response, 0) != NULL ||
                 plan->method->reports != NULL;
    if (known && tacit_method_takes_label(plan->method, schema->response)) return TACIT_OK;
    const char *why = schema->response == TACIT_RESPONSE_COUNT ? plan->method->no_counts : NULL;
    /* an error has room for a reason or for times, to which a count is no nearer */
    tacit_status status = print_takers(&takers, why != NULL ? schema->response : TACIT_RESPONSES - 1, error);
    if (status == TACIT_OK)
        status =
            tacit_fail(error, TACIT_USAGE,
                       "the label '%s' is of kind %s, which method %s does not take%s%s: most methods take "
                       "classes%s; choose such a method, or declare the label as another kind in the schema",
                       schema->label, tacit_response_name(schema->response), plan->method->name,
                       why != NULL ? ", since " : "", why != NULL ? why : "", tacit_buffer_text(&takers));
    tacit_buffer_clear(&takers);
    return status;
}

static tacit_status check_wants(const tacit_plan *plan, tacit_error *error) {
    char names[TACIT_METHODS_TEXT] = "", others[sizeof names + 16];
    size_t count = 0, listed = 0;
    for (size_t i = 0; tacit_methods[i] != NULL; i++) count += tacit_plan_would_suit(plan, tacit_methods[i]);
    if (count == 0) return tacit_plan_check_wants(plan, "a method that does", error);
    for (size_t i = 0; tacit_methods[i] != NULL; i++)
        if (tacit_plan_would_suit(plan, tacit_methods[i]))
            tacit_methods_append(names, listed++, count, "or", tacit_methods[i]->name);
    snprintf(others, sizeof others, "method %s", names);
    return tacit_plan_check_wants(plan, others, error);
}

tacit_status tacit_methods_check(const tacit_plan *plan, tacit_error *error) {
    TACIT_TRY(tacit_methods_check_label(plan, error));
    return check_wants(plan, error);
}

/* ---- lists ---- */

/* 1 or 0; -1: there is no such trait. */
static int has_trait(const tacit_method *method, const char *trait) {
    const bool model = method->reports == NULL; /* these lists are for whoever wants one */
    const bool alone = model && (method->fits_alone || method->fits_alone_by_party);
    const bool describes = method->reports != NULL && strcmp(method->reports, "describe") == 0 &&
                           tacit_method_offers(method, "missing", "counted");
    const struct {
        const char *name;
        bool holds;
    } traits[] = {
        { "all", true },
        { "alone", model && method->fits_alone },
        { "alone-by-party", model && method->fits_alone_by_party },
        { "alone-with-delta", alone && method->needs_delta },
        { "about-model", method->needs_model },
        { "builds-on", method->builds_on != NULL },
        { "starts-at", method->starts_at != NULL },
        { "chooses-lambda", method->chooses_lambda },
        { "counts-missing", describes && !method->noise_free },
        { "counts-missing-exactly", describes && method->noise_free },
        { "one-exchange", method->exchanges == tacit_one_exchange },
        { "infers", method->infers != NULL },
        { "no-center", method->schedule != NULL },
        { "no-lambda", method->lambda_may_vanish },
        { "no-lambda-yet-rule", method->lambda_may_vanish && method->choose_lambda != NULL &&
                                    method->choose_lambda != tacit_plan_no_lambda },
        { "tunes-lambda", method->tunes_lambda },
        { "points", method->needs_points },
        { "roles", method->roles != NULL },
        { "two-servers", method->compute != NULL },
        { "weights", tacit_method_takes_weights(method) },
    };
    for (size_t t = 0; t < sizeof traits / sizeof *traits; t++)
        if (strcmp(traits[t].name, trait) == 0) return traits[t].holds;
    return -1;
}

void tacit_methods_append(char out[TACIT_METHODS_TEXT], size_t i, size_t count, const char *last,
                          const char *name) {
    size_t used = strlen(out);
    bool ends = last != NULL && i + 1 == count;
    snprintf(out + used, TACIT_METHODS_TEXT - used, "%s%s%s%s",
             i == 0 ? ""
             : ends ? " "
                    : ", ",
             i > 0 && ends ? last : "", i > 0 && ends ? " " : "", name);
}

const char *tacit_methods_with(const char *trait, const char *last, char out[TACIT_METHODS_TEXT]) {
    size_t count = 0, listed = 0;
    if (has_trait(tacit_methods[0], trait) < 0) return NULL;
    for (size_t i = 0; tacit_methods[i] != NULL; i++) count += has_trait(tacit_methods[i], trait) == 1;
    out[0] = 0;
    for (size_t i = 0; tacit_methods[i] != NULL; i++)
        if (has_trait(tacit_methods[i], trait) == 1)
            tacit_methods_append(out, listed++, count, last, tacit_methods[i]->name);
    return out;
}
