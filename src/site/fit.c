#include "site/fit.h"

#include <limits.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "data/schema/text.h"
#include "method/methods.h"
#include "privacy/gate.h"
#include "session/run.h"
#include "site/site_parts.h"
#include "study/home.h"
#include "study/public_tuning.h"

#define STUDY "fit" /* as a plan calls it; a study's name in the ledger has an @ */
#define ASKER "the owner"

/* Each request is a study of its own to the ledger, so that processes that fit on one ledger at once neither
 * withdraw each other's consent nor end what the other holds. The same request has the same name, and goes
 * on. */
enum { NAME_BYTES = 8, NAME_SIZE = sizeof STUDY + 1 + 2 * NAME_BYTES };

typedef struct fitting {
    const tacit_fit_job *job;
    tacit_plan plan;
    tacit_prices prices;
    uint8_t request[TACIT_HASH_BYTES]; /* what is asked of which rows */
    char study[NAME_SIZE];             /* as the ledger calls it */
    tacit_stream start; /* of what is random in the coordinator's half: public, the same in each run */
    bool fresh;         /* something was asked that no stored answer answers */
    tacit_ledger *own;  /* in memory, where the job has none */
    tacit_policy policy;
    tacit_gate gate;
    tacit_entropy *entropy; /* of a real release */
    tacit_stream stream;    /* of a simulated one */
    tacit_memo memo;
} fitting;

void tacit_fit_result_clear(tacit_fit_result *result) {
    tacit_model_free(result->model);
    *result = (tacit_fit_result)TACIT_FIT_RESULT_INIT;
}

static void clear(fitting *self) {
    tacit_memo_clear(&self->memo);
    tacit_stream_wipe(&self->stream);
    tacit_stream_wipe(&self->start);
    tacit_entropy_free(self->entropy);
    tacit_ledger_free(self->own);
}

/* ---- what is asked ---- */

/* The method chooses, and charges for it: lambda is one that passes the checks meanwhile. */
static tacit_status let_method_choose(tacit_plan *plan, const char *text, tacit_error *error) {
    tacit_candidates candidates;
    TACIT_TRY(tacit_candidates_parse(&candidates, text, error));
    char others[TACIT_METHODS_TEXT];
    if (!plan->method->chooses_lambda)
        return tacit_fail(
            error, TACIT_USAGE,
            "method %s cannot choose lambda on private rows: give public ones with labels, or use %s",
            plan->method->name, tacit_methods_with("chooses-lambda", "or", others));
    plan->lambda = candidates.lambda[0];
    return tacit_plan_set(plan, "candidates", text, error);
}

/* "method NAME WHY; alone use ..." */
static tacit_status use_others(const char *name, const char *why, tacit_error *error) {
    char always[TACIT_METHODS_TEXT], by_party[TACIT_METHODS_TEXT];
    return tacit_fail(error, TACIT_USAGE, "method %s %s use %s (or %s with noise=party)", name, why,
                      tacit_methods_with("alone", "or", always),
                      tacit_methods_with("alone-by-party", "or", by_party));
}

static tacit_status check_method(const tacit_plan *plan, tacit_error *error) {
    const tacit_method *method = plan->method;
    if (method->noise_free) return use_others(method->name, "is not private; to release a model", error);
    const bool charged = method->release_kind(plan) == TACIT_RELEASE_CHARGED;
    if (method->fits_alone || (method->fits_alone_by_party && charged)) return TACIT_OK;
    return use_others(method->name, "as set here needs others to take part; alone", error);
}

static tacit_status make_plan(fitting *self, tacit_error *error) {
    tacit_plan *plan = &self->plan;
    TACIT_TRY(check_method(plan, error));
    snprintf(plan->study, sizeof plan->study, STUDY);
    plan->features = self->job->rows->features;
    plan->classes = self->job->rows->classes.count;
    plan->schema = self->job->schema;
    plan->parties = plan->minimum_parties = 1;
    plan->sums = TACIT_SUMS_CLEAR;              /* nobody is there to hide a sum from, or in */
    plan->minimum_rows = self->job->rows->rows; /* replacing a row leaves their number as it is */
    if (tacit_plan_counts_persons(plan) && self->job->rows->persons) {
        tacit_view rows = tacit_dataset_view(self->job->rows);
        TACIT_TRY(tacit_view_groups(&rows, &plan->minimum_rows, error));
    }
    if (isinf(plan->epsilon))
        return tacit_fail(error, TACIT_USAGE,
                          "an infinite epsilon is for simulations: a release needs noise");
    TACIT_TRY(tacit_methods_check(plan, error));
    if (self->job->candidates != NULL) TACIT_TRY(let_method_choose(plan, self->job->candidates, error));
    TACIT_TRY(tacit_plan_choose_lambda(plan, error));
    TACIT_TRY(tacit_plan_check(plan, error));
    return tacit_plan_price(plan, &self->prices, error);
}

static tacit_status print_request(const fitting *self, tacit_buffer *out, tacit_error *error) {
    const tacit_plan *plan = &self->plan;
    TACIT_TRY(tacit_buffer_print(out, error, "fit %s %u\nepsilon %.17g\ndelta %.17g\nlambda %.17g\n",
                                 plan->method->name, plan->method->version, plan->epsilon, plan->delta,
                                 plan->lambda));
    char text[TACIT_SETTING_SIZE];
    for (const tacit_parameter *one = plan->method->parameters; one != NULL && one->name != NULL; one++)
        TACIT_TRY(tacit_buffer_print(out, error, "%s %s\n", one->name, tacit_plan_print(plan, one, text)));
    TACIT_TRY(
        tacit_buffer_print(out, error, "rows %zu %zu\n", self->job->rows->rows, self->job->rows->features));
    return tacit_schema_canonical(self->job->schema, out, error);
}

/* `absent`: a missing number is another one than the value that it is encoded as. */
static void hash_rows(crypto_generichash_state *state, const tacit_dataset *rows, bool absent) {
    if (rows->label != NULL)
        crypto_generichash_update(state, (const uint8_t *)rows->label, rows->rows * sizeof *rows->label);
    if (rows->response != NULL)
        crypto_generichash_update(state, (const uint8_t *)rows->response,
                                  rows->rows * (rows->response_columns > 1 ? rows->response_columns : 1) *
                                      sizeof *rows->response);
    if (absent && rows->absent != NULL)
        crypto_generichash_update(state, rows->absent, rows->rows * rows->absent_bytes);
    if (rows->persons)
        crypto_generichash_update(state, (const uint8_t *)rows->group, rows->rows * sizeof *rows->group);
    if (!rows->is_sparse) {
        crypto_generichash_update(state, (const uint8_t *)rows->dense.values,
                                  rows->rows * rows->features * sizeof *rows->dense.values);
        return;
    }
    const tacit_csr *sparse = &rows->sparse;
    size_t entries = sparse->start[sparse->rows];
    crypto_generichash_update(state, (const uint8_t *)sparse->start,
                              (sparse->rows + 1) * sizeof *sparse->start);
    crypto_generichash_update(state, (const uint8_t *)sparse->column, entries * sizeof *sparse->column);
    crypto_generichash_update(state, (const uint8_t *)sparse->value, entries * sizeof *sparse->value);
}

static tacit_status hash_request(fitting *self, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    crypto_generichash_state state;
    tacit_status status = print_request(self, &text, error);
    if (status == TACIT_OK) {
        /* Not of the rows: where a start depends on them, so does the model, and nobody has paid for that. */
        crypto_generichash(self->request, sizeof self->request, text.bytes, text.length, NULL, 0);
        self->start = tacit_stream_from_key(self->request);
        crypto_generichash_init(&state, NULL, 0, sizeof self->request);
        crypto_generichash_update(&state, text.bytes, text.length);
        if (self->job->ledger != NULL) hash_rows(&state, self->job->rows, self->plan.method->reports != NULL);
        crypto_generichash_final(&state, self->request, sizeof self->request);
    }
    tacit_buffer_clear(&text);
    return status;
}

/* An owner who has limited all fits together (`tacit ledger limit --study fit`) has them under one name, one
 * at a time. */
static tacit_status name_study(fitting *self, tacit_error *error) {
    char digits[2 * NAME_BYTES + 1];
    bool together = false;
    for (int unit = 0; self->job->ledger != NULL && unit < TACIT_UNITS; unit++) {
        tacit_account account;
        TACIT_TRY(tacit_ledger_account(&account, self->job->ledger, STUDY, (tacit_unit)unit, error));
        together = together || account.limited;
    }
    sodium_bin2hex(digits, sizeof digits, self->request, NAME_BYTES);
    snprintf(self->study, sizeof self->study, together ? "%s" : "%s-%s", STUDY, digits);
    return TACIT_OK;
}

/* ---- asking the only party ---- */

/* Of the request, the round and all that the question says: an answer at some weights is none at others. A
 * question that says nothing is known by its round, as in ledgers of earlier versions. */
static tacit_status question_hash(const fitting *self, const tacit_question *question,
                                  uint8_t out[TACIT_HASH_BYTES], tacit_error *error) {
    crypto_generichash_state state;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    bool says = question->message != NULL && question->message->count > 0;
    tacit_status status = says ? tacit_question_encode(question, &bytes, error) : TACIT_OK;
    crypto_generichash_init(&state, NULL, 0, TACIT_HASH_BYTES);
    crypto_generichash_update(&state, self->request, sizeof self->request);
    crypto_generichash_update(&state, (const uint8_t *)&question->round, sizeof question->round);
    if (says) crypto_generichash_update(&state, bytes.bytes, bytes.length);
    crypto_generichash_final(&state, out, TACIT_HASH_BYTES);
    tacit_buffer_clear(&bytes);
    return status;
}

/* Consent to the whole request, and hold its price until it ends; another process with the same request takes
 * up what is held. What is stored is free, whatever is left. */
static tacit_status hold_budget(fitting *self, bool known, tacit_error *error) {
    tacit_ledger *ledger = self->job->ledger;
    tacit_error refused = TACIT_ERROR_INIT;
    tacit_status status = tacit_ledger_reserve(ledger, self->study, self->request, &self->prices.charged,
                                               &self->prices.event, &refused);
    if (status == TACIT_OK) return TACIT_OK;
    if (status == TACIT_REFUSED && known)
        return tacit_ledger_consent(ledger, self->study, self->request, error);
    if (status == TACIT_REFUSED) TACIT_TRY(site_check_ledger(ledger, self->study, &self->prices, error));
    return tacit_fail(error, status, "%s", refused.text);
}

/* Was this very question answered before? Then it is free. Else it is charged, and before the first that is,
 * the budget is asked for the whole. What follows stored answers goes on with a release that was begun and,
 * then, found affordable. */
static tacit_status look_up(fitting *self, const tacit_question *question, const uint8_t *hash,
                            tacit_error *error) {
    bool known = false;
    if (self->job->ledger == NULL) return TACIT_OK;
    TACIT_TRY(tacit_gate_has_answer(&known, &self->gate, hash, hash, error));
    if (question->round == 0) TACIT_TRY(hold_budget(self, known, error));
    self->fresh = self->fresh || !known;
    return TACIT_OK;
}

static tacit_status answer(fitting *self, const tacit_question *question, tacit_answer *out,
                           tacit_error *error) {
    tacit_noise_source noise = { .entropy = self->entropy,
                                 .stream = self->job->simulated ? &self->stream : NULL };
    tacit_party party = tacit_run_party(&self->plan, ASKER, self->study, tacit_dataset_view(self->job->rows),
                                        self->job->rows->rows, noise, &self->memo, &self->gate);
    tacit_question asked = *question;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    uint8_t hash[TACIT_HASH_BYTES];
    party.pool = self->job->pool;
    memcpy(party.study_hash, self->request, sizeof party.study_hash);
    TACIT_TRY(question_hash(self, question, hash, error));
    TACIT_TRY(look_up(self, question, hash, error));
    memcpy(asked.answer_id, hash, sizeof asked.answer_id);
    tacit_status status = tacit_party_answer(&party, &asked, hash, &bytes, error);
    if (status == TACIT_OK) status = tacit_answer_decode(out, bytes.bytes, bytes.length, error);
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status ask_sum(void *context, const tacit_question *question, uint64_t *total, size_t *parties,
                            tacit_error *error) {
    tacit_answer one = TACIT_ANSWER_INIT;
    tacit_status status = answer(context, question, &one, error);
    if (status == TACIT_OK && one.length != question->sum.length)
        status = tacit_fail(error, TACIT_CORRUPT, "the stored answer has %zu numbers where %zu belong",
                            one.length, question->sum.length);
    for (size_t j = 0; status == TACIT_OK && j < one.length; j++) total[j] += (uint64_t)one.contribution[j];
    if (status == TACIT_OK) *parties = 1;
    tacit_answer_clear(&one);
    return status;
}

/* The methods that need nobody else ask for one sum; the others are told so. */
static tacit_status ask(void *context, const tacit_question *question, tacit_answers *out,
                        tacit_error *error) {
    (void)context;
    (void)out;
    return use_others(question->method, "needs others to take part; alone", error);
}

/* ---- charging ---- */

static tacit_status open_gate(fitting *self, tacit_error *error) {
    self->policy = self->job->simulated ? tacit_policy_none() : tacit_policy_default();
    self->policy.minimum_parties = 1; /* it is the owner who releases, with the noise inside */
    TACIT_TRY(hash_request(self, error));
    TACIT_TRY(name_study(self, error));
    if (self->job->ledger != NULL)
        return tacit_gate_init(&self->gate, self->job->ledger, &self->policy, TACIT_GATE_REAL, error);
    TACIT_TRY(tacit_ledger_create(&self->own, error));
    return tacit_gate_init(&self->gate, self->own, &self->policy, TACIT_GATE_SIMULATED, error);
}

static tacit_status run(fitting *self, tacit_fit_result *out, tacit_error *error) {
    const tacit_fit_job *job = self->job;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_transport alone = { .ask = ask, .ask_sum = ask_sum, .context = self };
    tacit_session session = tacit_run_session(
        &self->plan, &alone, job->simulated ? &self->stream : &self->start, job->pool, job->progress);
    tacit_status status;
    session.entropy = self->entropy;
    TACIT_CHECK(tacit_run_coordinate(&session, &outcome, error));
    tacit_model *model = outcome.models[0];
    TACIT_CHECK(tacit_model_describe(model, &job->rows->classes, job->schema, error));
    model->guarantee = tacit_run_guarantee(&self->plan, &self->prices.charged, &self->prices.claimed,
                                           &outcome, job->simulated);
    if (job->simulated)
        tacit_guarantee_withdraw(&model->guarantee, "a simulation: the noise was drawn from a seed");
    tacit_guarantee_settle(&model->guarantee, job->schema);
    if (job->ledger != NULL) TACIT_CHECK(tacit_ledger_end(job->ledger, self->study, error));
    if (job->ledger != NULL)
        TACIT_CHECK(tacit_ledger_account(&out->account, job->ledger, NULL, self->prices.charged.unit, error));
    out->model = model;
    outcome.models[0] = NULL;
cleanup:
    if (status != TACIT_OK && job->ledger != NULL) (void)tacit_ledger_end(job->ledger, self->study, NULL);
    tacit_stream_wipe(&session.secret);
    tacit_outcome_clear(&outcome);
    return status;
}

static tacit_status check_promise(const tacit_fit_job *job, tacit_error *error) {
    if (job->ledger == NULL) return TACIT_OK;
    if (job->simulated)
        return tacit_fail(
            error, TACIT_USAGE,
            "a seed makes a simulation, which protects nobody: leave out the seed, or the ledger");
    return tacit_schema_check_public(job->schema, error);
}

tacit_status tacit_fit_rows(tacit_fit_result *out, const tacit_fit_job *job, tacit_error *error) {
    fitting self = { .job = job, .plan = *job->plan };
    tacit_fit_result result = TACIT_FIT_RESULT_INIT;
    tacit_status status;
    TACIT_CHECK(check_promise(job, error));
    TACIT_CHECK(make_plan(&self, error));
    TACIT_CHECK(open_gate(&self, error));
    if (tacit_progress_cancelled(job->progress))
        TACIT_CHECK(tacit_fail(error, TACIT_CANCELLED, "interrupted"));
    if (job->simulated)
        self.stream = tacit_stream_from_seed(job->seed);
    else
        TACIT_CHECK(tacit_entropy_create(&self.entropy, error));
    TACIT_CHECK(run(&self, &result, error));
    result.rows = job->rows->rows;
    if (tacit_plan_counts_persons(&self.plan) && job->rows->persons) result.persons = self.plan.minimum_rows;
    result.left_out = job->rows->counts.left_out;
    result.filled = job->rows->counts.missing;
    result.again = job->ledger != NULL && !self.fresh;
    *out = result;
cleanup:
    clear(&self);
    return status;
}

/* ---- of a file ---- */

static tacit_status load_rows(tacit_dataset **out, const tacit_fit_settings *settings,
                              const tacit_schema *schema, const char *path, tacit_error *error) {
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.label = settings->label;
    options.positive = settings->positive;
    options.no_header = settings->no_header;
    options.progress = settings->progress;
    return tacit_dataset_load(out, NULL, path, schema, &options, error);
}

/* Settle lambda on public rows, before anything is asked of the private ones. */
static tacit_status choose_lambda(tacit_plan *plan, const tacit_fit_settings *settings,
                                  const tacit_fit_job *job, tacit_error *error) {
    tacit_candidates candidates;
    tacit_dataset *rows = NULL;
    tacit_status status;
    TACIT_TRY(tacit_candidates_parse(&candidates, settings->candidates, error));
    TACIT_CHECK(load_rows(&rows, settings, job->schema, settings->public_rows, error));
    TACIT_CHECK(tacit_choose_lambda(&plan->lambda, &candidates, plan, rows, job->rows->rows, NULL, error));
    plan->lambda_from = TACIT_LAMBDA_PUBLIC;
cleanup:
    tacit_dataset_free(rows);
    return status;
}

/* The ledger that the owner began by setting a limit. Where there is none, what to do is said with the
 * price. */
static tacit_status open_existing(tacit_fit_job *job, const tacit_fit_settings *settings,
                                  tacit_error *error) {
    char path[PATH_MAX];
    tacit_error quiet = TACIT_ERROR_INIT;
    TACIT_TRY(tacit_path_join(path, sizeof path, settings->home, TACIT_LEDGER_NAME, error));
    tacit_status status =
        tacit_ledger_open(&job->ledger, path, settings->source, TACIT_LEDGER_EXISTING, &quiet);
    if (status == TACIT_OK) return TACIT_OK;
    if (status != TACIT_NOT_FOUND) return tacit_fail(error, status, "%s", quiet.text);
    fitting priced = { .job = job, .plan = *job->plan };
    TACIT_TRY(make_plan(&priced, error));
    return site_check_budget(settings->home, settings->source, STUDY, &priced.prices, error);
}

tacit_status tacit_fit(tacit_fit_result *out, const tacit_fit_settings *settings, tacit_error *error) {
    tacit_plan plan = *settings->plan;
    tacit_fit_job job = { .plan = &plan, .candidates = settings->candidates, .progress = settings->progress };
    tacit_schema *schema = NULL;
    tacit_dataset *rows = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_schema_load_terms(&schema, settings->schema, settings->terms, settings->subset, error));
    TACIT_CHECK(tacit_fail_in(error, tacit_schema_check_public(schema, error), "%s", settings->schema));
    if (plan.method->reports != NULL) schema->rows = TACIT_ROWS_BOUND; /* columns are read back from rows */
    TACIT_CHECK(load_rows(&rows, settings, schema, settings->data, error));
    job.schema = schema;
    job.rows = rows;
    TACIT_CHECK(check_method(&plan, error));
    if (settings->candidates != NULL && settings->public_rows != NULL) {
        TACIT_CHECK(choose_lambda(&plan, settings, &job, error));
        job.candidates = NULL;
    }
    TACIT_CHECK(open_existing(&job, settings, error));
    TACIT_CHECK(tacit_pool_create(&job.pool, 0, error));
    TACIT_CHECK(tacit_fit_rows(out, &job, error));
cleanup:
    tacit_pool_free(job.pool);
    tacit_ledger_free(job.ledger);
    tacit_dataset_free(rows);
    tacit_schema_free(schema);
    return status;
}
