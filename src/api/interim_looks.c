#include "api/interim_looks.h"

#include "api/document/json_text.h"

/* The columns and the method are known once the rows are read. */
static tacit_status check(const tacit_stop *stop, const tacit_simulation *plan, const tacit_split *split,
                          tacit_error *error) {
    tacit_plan about = { .method = plan->methods[0],
                         .features = plan->dataset->features,
                         .schema = plan->schema,
                         .sums = TACIT_SUMS_CLEAR };
    for (size_t s = 0; s < plan->setting_count; s++)
        TACIT_TRY(tacit_plan_set(&about, plan->settings[s].name, plan->settings[s].value, error));
    TACIT_TRY(tacit_stop_check(stop, &about, error));
    if ((stop->looks - 1) * stop->more < split->parts) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "%zu looks with %zu parties more each take more than the %zu of the last one: raise "
                      "the option 'parties'",
                      stop->looks, stop->more, split->parts);
}

static void notify(const tacit_notifier *notifier, const tacit_stop *stop, size_t parties,
                   const char *found) {
    char line[TACIT_STOP_TEXT_SIZE + 128];
    if (notifier == NULL) return;
    snprintf(line, sizeof line, "look %zu of at most %zu, %zu parties: %s", stop->look, stop->looks, parties,
             found);
    notifier->note(notifier->context, line);
}

tacit_status tacit_interim_looks_run(json_t **out, tacit_stop *stop, tacit_simulation *plan,
                                     tacit_split *split, tacit_run *runs, tacit_model **model,
                                     const tacit_notifier *notifier, tacit_error *error) {
    char text[TACIT_STOP_TEXT_SIZE];
    const size_t all = split->parts;
    tacit_stop_verdict verdict = { .met = false };
    json_t *list = json_array();
    tacit_status status;
    TACIT_CHECK(check(stop, plan, split, error));
    for (stop->look = 1; !verdict.met && stop->look <= stop->looks; stop->look++) {
        split->parts = all - (stop->looks - stop->look) * stop->more;
        runs[0] = (tacit_run){ .method = NULL };
        *model = tacit_model_free(*model); /* of the look before */
        TACIT_CHECK(tacit_simulate(plan, runs, model, error));
        TACIT_CHECK(tacit_stop_judge(&verdict, stop, *model != NULL ? (*model)->estimates : NULL, error));
        notify(notifier, stop, split->parts, tacit_stop_text(text, stop, &verdict));
        list = tacit_json_append(list, json_pack("{s:I,s:I,s:o,s:b}", "look", (json_int_t)stop->look,
                                                 "parties", (json_int_t)split->parts, "value",
                                                 tacit_json_number(verdict.value), "met", (int)verdict.met));
    }
    *out = list;
    list = NULL;
cleanup:
    json_decref(list);
    return status;
}
