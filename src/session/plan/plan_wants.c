/* What a schema wants of a method, and which methods have it: by members of their entries, none by its
 * name. */
#include "base/number.h"
#include "session/plan/wording.h"

static bool wants_offset(const tacit_schema *schema) {
    double weight, low, high;
    return schema->formula != NULL && tacit_schema_offset(schema, &weight, &low, &high) != SIZE_MAX;
}

static bool wants_weights(const tacit_schema *schema) {
    double weight, low, high;
    return schema->formula != NULL && tacit_schema_weights(schema, &weight, &low, &high) != SIZE_MAX;
}

static bool wants_strata(const tacit_schema *schema) {
    size_t count;
    return schema->formula != NULL && tacit_formula_strata(schema->formula, &count) != SIZE_MAX;
}

static bool wants_subgroups(const tacit_schema *schema) {
    size_t column, count;
    return schema->formula != NULL && tacit_formula_subgroups(schema->formula, &column, &count) != SIZE_MAX;
}

static bool wants_clusters(const tacit_schema *schema) {
    return schema->formula != NULL && tacit_formula_clusters(schema->formula);
}

static bool wants_random(const tacit_schema *schema) {
    bool party;
    const char *slope;
    return schema->formula != NULL && tacit_formula_random(schema->formula, &party, &slope);
}

static bool takes_all(const tacit_method *method) { return method->terms == TACIT_TERMS_ALL; }
static bool takes_strata(const tacit_method *method) { return method->takes_strata; }
static bool takes_subgroups(const tacit_method *method) { return method->subgroups != NULL; }
static bool takes_random(const tacit_method *method) { return method->takes_random; }
static bool takes_unlabelled(const tacit_method *method) { return method->takes_unlabelled; }
static bool imputes(const tacit_method *method) { return method->imputes; }

/* One that is about a model has the errors of that model. */
static bool takes_clusters(const tacit_method *method) {
    return method->needs_model || tacit_method_offers(method, "errors", "cluster");
}

static const struct want {
    bool (*wanted)(const tacit_schema *schema);
    bool (*taken)(const tacit_method *method);
    const char *lacking, *remedy;
} wants[] = {
    { tacit_schema_keeps_unlabelled, takes_unlabelled,
      "needs a label in every row, and the schema keeps rows without one (missing: unlabelled)",
      "write missing: complete-case, which leaves them out" },
    { tacit_schema_imputes, imputes, "does not take missing: impute",
      "write complete-case, indicator, level or a value to fill in" },
    { wants_offset, takes_all, "takes no offset", "leave offset() out of the terms" },
    { wants_weights, takes_all, "takes no weights of rows", "leave 'weights' out" },
    { wants_strata, takes_strata, "has one baseline at most and takes no strata()",
      "leave it out of the terms" },
    { wants_subgroups, takes_subgroups, "has no subgroups", "leave subgroups() out of the terms" },
    { wants_clusters, takes_clusters, "has no clustered errors", "leave cluster() out of the terms" },
    { wants_random, takes_random, "takes no random effects", "leave '(... | ...)' out of the terms" },
};

/* A method that takes no terms at all says so instead (tacit_plan_check). */
static const struct want *find_unmet(const tacit_plan *plan) {
    const tacit_schema *schema = plan->schema;
    if (schema == NULL || (schema->formula != NULL && plan->method->terms == TACIT_TERMS_NONE)) return NULL;
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
        if (wants[i].wanted(schema) && !wants[i].taken(plan->method)) return &wants[i];
    return NULL;
}

bool tacit_plan_would_suit(const tacit_plan *plan, const tacit_method *other) {
    const struct want *want = find_unmet(plan);
    return want != NULL && want->taken(other) && !other->needs_model &&
           tacit_method_takes_label(other, plan->schema->response);
}

tacit_status tacit_plan_check_wants(const tacit_plan *plan, const char *others, tacit_error *error) {
    static const char why[] =
        ". A value that is drawn from all rows of a site lets one row change others, and "
        "no bound on what one row can change would hold";
    const struct want *want = find_unmet(plan);
    if (want == NULL) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE, "method %s %s%s: %s, or choose %s", plan->method->name,
                      want->lacking, want->taken == imputes && !plan->method->noise_free ? why : "",
                      want->remedy, others);
}

/* ---- as people read it ---- */

bool tacit_method_takes_weights(const tacit_method *method) {
    return method->terms == TACIT_TERMS_ALL && !method->needs_model && !method->takes_times;
}

/* "offset(), strata() or random effects": the parts of a formula that the method takes, or those that it does
 * not. */
static size_t list_parts(const tacit_method *method, bool taken, const char *last,
                         char out[TACIT_TERMS_TEXT]) {
    const struct {
        const char *name;
        bool taken;
    } parts[] = { { "offset()", takes_all(method) },
                  { "weights", tacit_method_takes_weights(method) },
                  { "strata()", takes_strata(method) },
                  { "cluster()", takes_clusters(method) },
                  { "random effects", takes_random(method) } };
    size_t all = sizeof parts / sizeof *parts, count = 0, listed = 0, used = 0;
    for (size_t i = 0; i < all; i++) count += parts[i].taken == taken;
    out[0] = 0;
    for (size_t i = 0; i < all; i++) {
        if (parts[i].taken != taken) continue;
        const char *between = listed == 0 ? "" : listed + 1 < count ? ", " : last;
        used += (size_t)tacit_format(out + used, TACIT_TERMS_TEXT - used, "%s%s", between, parts[i].name);
        listed++;
    }
    return count;
}

const char *tacit_method_terms_text(const tacit_method *method, char out[TACIT_TERMS_TEXT]) {
    char taken[TACIT_TERMS_TEXT], refused[TACIT_TERMS_TEXT];
    if (method->terms == TACIT_TERMS_NONE) return "none: the method works on the columns themselves";
    if (method->needs_model) return "those of the model";
    size_t more = list_parts(method, true, " and ", taken), less = list_parts(method, false, " or ", refused);
    tacit_format(out, TACIT_TERMS_TEXT, "any interactions, splines and functions of columns%s%s%s%s%s",
                 method->terms == TACIT_TERMS_CONSTANT ? ", with an intercept" : "",
                 more > 0 ? "; also " : "", taken, less > 0 ? "; no " : "", refused);
    return out;
}
