#include "api/document/outlook.h"

#include <math.h>

#include "api/document/document.h"
#include "api/fitting.h"
#include <string.h>

#include "api/described.h"
#include "api/document/tables.h"
#include "api/option/row_options.h"
#include "api/option/run_options.h"
#include "base/memory.h"
#include "base/number.h"
#include "method/methods.h"

/* ---- what is asked ---- */

static void take_study(tacit_outlook_request *request, const tacit_study *study) {
    const tacit_plan *plan = &study->plan;
    request->belief.schema = study->schema;
    request->parties = plan->parties;
    request->rows = (size_t)tacit_plan_expected_rows(plan);
    request->minimum_parties = plan->minimum_parties;
    request->minimum_rows = plan->minimum_rows;
    request->epsilon = plan->epsilon;
    request->delta = plan->delta;
    request->dropouts = plan->dropouts;
    request->exchanges = (unsigned)plan->exchanges;
    request->colluders = plan->colluders;
    request->study = plan;
    request->lambda_open = study->lambda_chosen;
}

/* Without noise a model is what pooled rows would give: what can be planned is how often parties are
 * asked. */
static tacit_status check_noise(const tacit_study *study, tacit_error *error) {
    const tacit_method *method = study->plan.method;
    char asks[TACIT_EXCHANGES_TEXT], carried[TACIT_EXCHANGES_TEXT];
    if (!method->noise_free || method->reports == NULL) return TACIT_OK;
    const char *said = tacit_exchanges_text(&study->plan, asks),
               *files = tacit_handovers_text(&study->plan, carried);
    return tacit_fail(
        error, TACIT_USAGE,
        "method %s adds no noise and ends with tables, so there is nothing to plan. It takes %s%s%s",
        method->name, said != NULL ? said : "as many meetings as its graph says",
        files != NULL ? "; by files, " : "", files != NULL ? files : "");
}

tacit_status tacit_study_outlook(tacit_outlook *out, const tacit_study *study, const tacit_dataset *own,
                                 double signal, double positives, tacit_pool *pool,
                                 const tacit_progress *progress, tacit_error *error) {
    tacit_outlook_request request = { .belief = { .rows = own, .signal = signal, .positives = positives },
                                      .methods = &study->plan.method,
                                      .method_count = 1,
                                      .brief = true,
                                      .seed = 1,
                                      .pool = pool,
                                      .progress = progress };
    TACIT_TRY(check_noise(study, error));
    take_study(&request, study);
    return tacit_outlook_make(out, &request, error);
}

static tacit_status read_study(tacit_planning *self, const tacit_arguments *arguments, const char *path,
                               tacit_error *error) {
    static const char *const numbers[] = { "schema",   "parties",   "rows",  "epsilon", "delta",
                                           "dropouts", "colluders", "terms", "subset" };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (tacit_arguments_given(arguments, numbers[i]))
            return tacit_fail(error, TACIT_USAGE,
                              "%s says the option '%s': give either the study or the numbers", path,
                              numbers[i]);
    TACIT_TRY(tacit_study_load(&self->study, path, error));
    TACIT_TRY(check_noise(self->study, error));
    take_study(&self->request, self->study);
    self->rows_guessed = self->study->expected_rows == 0;
    if (self->described == NULL || !self->rows_guessed || tacit_described_rows(self->described) == 0)
        return TACIT_OK;
    self->rows_guessed = false;
    self->request.rows = tacit_described_rows(self->described);
    return TACIT_OK;
}

static tacit_status read_numbers(tacit_planning *self, const tacit_arguments *arguments, tacit_error *error) {
    static const char *const needed[] = { "schema", "parties", "rows", "epsilon" };
    tacit_outlook_request *request = &self->request;
    size_t described = self->described != NULL ? tacit_described_rows(self->described) : 0;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!tacit_arguments_given(arguments, needed[i]) &&
            !(described > 0 && strcmp(needed[i], "rows") == 0))
            return tacit_fail(
                error, TACIT_USAGE,
                "a plan needs a study's definition (STUDY), or the options 'schema', 'parties', 'rows' and "
                "'epsilon': the option '%s' is missing",
                needed[i]);
    TACIT_TRY(tacit_schema_load_terms(&self->schema, tacit_arguments_text(arguments, "schema"),
                                      tacit_arguments_text(arguments, "terms"),
                                      tacit_arguments_text(arguments, "subset"), error));
    request->belief.schema = self->schema;
    request->parties = (size_t)tacit_arguments_integer(arguments, "parties");
    request->rows = tacit_arguments_given(arguments, "rows")
                        ? (size_t)tacit_arguments_integer(arguments, "rows")
                        : described;
    request->epsilon = tacit_arguments_number(arguments, "epsilon");
    request->delta = tacit_arguments_number(arguments, "delta");
    request->dropouts = tacit_arguments_number(arguments, "dropouts");
    request->colluders = tacit_arguments_number(arguments, "colluders");
    return TACIT_OK;
}

static tacit_status read_methods(tacit_planning *self, const tacit_arguments *arguments, tacit_error *error) {
    TACIT_TRY(tacit_methods_named(&self->methods, &self->request.method_count, arguments, "methods", error));
    self->request.methods = self->methods;
    return TACIT_OK;
}

/* Rows like the study's, public ones or one's own. */
static tacit_status read_rows(tacit_planning *self, const tacit_arguments *arguments,
                              const tacit_progress *progress, tacit_error *error) {
    const char *like = tacit_arguments_text(arguments, "like"), *own = tacit_arguments_text(arguments, "own");
    tacit_load_options options = tacit_reading_options(arguments, progress);
    tacit_belief *belief = &self->request.belief;
    if (like != NULL && own != NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "give either the option 'like' or the option 'own': one sort of rows is believed in");
    if (like != NULL) TACIT_TRY(tacit_dataset_load(&self->like, NULL, like, belief->schema, &options, error));
    if (own != NULL) TACIT_TRY(tacit_dataset_load(&self->own, NULL, own, belief->schema, &options, error));
    belief->rows = like != NULL ? self->like : self->own;
    if (tacit_arguments_given(arguments, "signal"))
        belief->signal = tacit_arguments_number(arguments, "signal");
    if (self->described != NULL && belief->rows == NULL)
        belief->positives = tacit_described_positives(self->described, belief->schema);
    if (tacit_arguments_given(arguments, "positives"))
        belief->positives = tacit_arguments_number(arguments, "positives");
    return TACIT_OK;
}

tacit_status tacit_planning_make(tacit_planning *self, const tacit_arguments *arguments,
                                 const tacit_progress *progress, tacit_error *error) {
    const char *path = tacit_arguments_operand(arguments, "STUDY");
    const char *described = tacit_arguments_text(arguments, "described");
    if (described != NULL) TACIT_TRY(tacit_described_load(&self->described, described, error));
    TACIT_TRY(path != NULL ? read_study(self, arguments, path, error) : read_numbers(self, arguments, error));
    TACIT_TRY(read_methods(self, arguments, error));
    TACIT_TRY(read_rows(self, arguments, progress, error));
    TACIT_TRY(tacit_pool_create(&self->pool, tacit_run_options_threads(arguments), error));
    self->request.seed = (uint64_t)tacit_arguments_integer(arguments, "seed");
    self->request.brief = tacit_arguments_flag(arguments, "brief");
    if (self->study != NULL && self->study->plan.method->noise_free) {
        self->request.methods = &self->study->plan.method; /* others are no alternative, */
        self->request.method_count = 1;
        self->request.brief = true; /* and there is no price to look for */
    }
    self->request.pool = self->pool;
    self->request.progress = progress;
    return tacit_outlook_make(&self->outlook, &self->request, error);
}

void tacit_planning_clear(tacit_planning *self) {
    tacit_outlook_clear(&self->outlook);
    tacit_pool_free(self->pool);
    free(self->methods);
    tacit_dataset_free(self->like);
    tacit_dataset_free(self->own);
    tacit_model_free(self->described);
    tacit_schema_free(self->schema);
    tacit_study_free(self->study);
    *self = (tacit_planning)TACIT_PLANNING_INIT;
}

/* ---- the document ---- */

static json_t *number_or_null(double value) { return isnan(value) ? json_null() : tacit_json_number(value); }

static json_t *figure_document(const tacit_outlook_figure *figure) {
    if (isnan(figure->mean)) return json_null();
    return json_pack("{s:o,s:o,s:o}", "mean", tacit_json_number(figure->mean), "low",
                     tacit_json_number(figure->low), "high", tacit_json_number(figure->high));
}

static json_t *metrics_document(const tacit_outlook_metrics *metrics) {
    static const char *const names[TACIT_BELIEF_FIGURES] = { "accuracy", "auc", "logloss", "explained",
                                                             "deviance" };
    json_t *document = json_object();
    for (int k = 0; k < TACIT_BELIEF_FIGURES; k++)
        json_object_set_new(document, names[k], figure_document(&metrics->figure[k]));
    return document;
}

/* As a study says them: the settings under their names, lambda, and the rows that are expected. */
static json_t *settings_document(const tacit_plan *plan) {
    json_t *all = json_object();
    for (const tacit_parameter *one = plan->method->parameters; one != NULL && one->name != NULL; one++) {
        char text[TACIT_SETTING_SIZE];
        json_object_set_new(all, one->name, tacit_json_text(tacit_plan_print(plan, one, text)));
    }
    return json_pack("{s:o,s:o,s:I}", "set", all, "lambda", tacit_json_number(plan->lambda), "expected_rows",
                     (json_int_t)plan->expected_rows);
}

/* Of purpose=inference: how often there will be no table, and what would bring one. */
static json_t *needs_document(const tacit_outlook_method *one) {
    if (!(one->not_estimable > 0)) return json_null();
    return json_pack("{s:f,s:f,s:o}", "share", one->not_estimable, "rows", tacit_two_digits(one->needs_rows),
                     "epsilon", number_or_null(tacit_two_digits(one->needs_epsilon)));
}

static json_t *method_document(const tacit_outlook *outlook, const tacit_outlook_method *one) {
    char doubt[TACIT_REMARK_SIZE];
    const bool doubtful = tacit_outlook_doubtful(outlook, one, doubt);
    return json_pack(
        "{s:s,s:o,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:s,s:o,s:o}", "method", one->plan.method->name, "settings",
        settings_document(&one->plan), "rounds", (json_int_t)one->rounds, "handovers",
        (json_int_t)one->handovers, "bytes_per_party", (json_int_t)one->bytes_per_party, "charged",
        tacit_json_price(&one->charged), "pays_from_epsilon", number_or_null(one->pays_from), "expected",
        metrics_document(&one->expected), "alone", metrics_document(&outlook->alone), "pooled",
        metrics_document(&outlook->pooled), "verdict", tacit_outlook_verdict_text(one->verdict),
        "not_estimable", needs_document(one), "warning", doubtful ? json_string(doubt) : json_null());
}

static json_t *other_document(const tacit_outlook_other *other) {
    if (other->rows == 0) return json_null();
    return json_pack("{s:I,s:I,s:o,s:o}", "parties", (json_int_t)other->parties, "rows",
                     (json_int_t)other->rows, "expected", metrics_document(&other->expected), "alone",
                     metrics_document(&other->alone));
}

json_t *tacit_outlook_document(const tacit_outlook *outlook) {
    json_t *methods = json_array(), *refused = json_array();
    for (size_t m = 0; m < outlook->count; m++)
        methods = tacit_json_append(methods, method_document(outlook, &outlook->methods[m]));
    for (size_t m = 0; m < outlook->refusals; m++)
        refused =
            tacit_json_append(refused, json_pack("{s:s,s:o}", "method", outlook->refused[m].method->name,
                                                 "why", tacit_json_text(outlook->refused[m].why)));
    bool any = outlook->recommended < outlook->count;
    return json_pack(
        "{s:I,s:I,s:I,s:s,s:o,s:o,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "rows",
        (json_int_t)outlook->rows, "parties", (json_int_t)outlook->parties, "features",
        (json_int_t)outlook->features, "response", tacit_response_name(outlook->response), "epsilon",
        tacit_json_number(outlook->epsilon), "delta", tacit_json_number(outlook->delta), "rows_simulated",
        (json_int_t)outlook->simulated, "signal", tacit_json_number(outlook->signal), "positives",
        number_or_null(outlook->response == TACIT_RESPONSE_CLASS ? outlook->positives : NAN), "alone",
        metrics_document(&outlook->alone), "pooled", metrics_document(&outlook->pooled), "methods", methods,
        "unsuitable", refused, "more_parties", other_document(&outlook->more_parties), "more_rows",
        other_document(&outlook->more_rows), "recommended",
        any ? json_string(outlook->methods[outlook->recommended].plan.method->name) : json_null());
}

tacit_status tacit_plan_document(char **json, const tacit_options *options, const tacit_progress *progress,
                                 tacit_error *error) {
    TACIT_TRY(tacit_require(json, "where to put the document", error));
    static const tacit_form form = { .name = "plan",
                                     .operands = tacit_plan_operands,
                                     .options = tacit_plan_options };
    tacit_planning all = TACIT_PLANNING_INIT;
    tacit_arguments *arguments = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_form_take(&arguments, &form, options, error));
    TACIT_CHECK(tacit_planning_make(&all, arguments, progress, error));
    TACIT_CHECK(tacit_document_text(json, tacit_outlook_document(&all.outlook), error));
cleanup:
    tacit_planning_clear(&all);
    tacit_arguments_free(arguments);
    return status;
}
