#include "service/fit.h"

#include <limits.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "data/text.h"
#include "privacy/gate.h"
#include "service/choose.h"
#include "service/home.h"
#include "service/site_parts.h"
#include "session/party.h"
#include "session/session.h"

#define STUDY "fit" /* as the ledger calls it; a study's name there has an @ */
#define ASKER "the owner"

typedef struct fitting {
    const tacit_fit_settings *settings;
    tacit_plan plan;
    tacit_prices prices;
    tacit_schema *schema;
    tacit_dataset *rows;
    uint8_t request[TACIT_HASH_BYTES]; /* what is asked of which rows */
    tacit_ledger *ledger;
    tacit_policy policy;
    tacit_gate gate;
    tacit_pool *pool;
    tacit_entropy *entropy;
    tacit_memo memo;
} fitting;

void tacit_fit_result_clear(tacit_fit_result *result) {
    tacit_model_free(result->model);
    *result = (tacit_fit_result)TACIT_FIT_RESULT_INIT;
}

static void clear(fitting *self) {
    tacit_model_free(self->memo.model);
    tacit_entropy_free(self->entropy);
    tacit_pool_free(self->pool);
    tacit_ledger_free(self->ledger);
    tacit_dataset_free(self->rows);
    tacit_schema_free(self->schema);
}

/* ---- what is asked ---- */

static tacit_status load_rows(tacit_dataset **out, const fitting *self, const char *path,
                              tacit_error *error) {
    const tacit_fit_settings *settings = self->settings;
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.label = settings->label;
    options.positive = settings->positive;
    options.no_header = settings->no_header;
    options.progress = settings->progress;
    return tacit_dataset_load(out, NULL, path, self->schema, &options, error);
}

static tacit_status load(fitting *self, tacit_error *error) {
    TACIT_TRY(tacit_schema_load(&self->schema, self->settings->schema, error));
    return load_rows(&self->rows, self, self->settings->data, error);
}

/* Settle lambda before anything is asked of the private rows: on public ones, or by the method, which charges for it. */
static tacit_status choose_lambda(fitting *self, tacit_error *error) {
    const tacit_fit_settings *settings = self->settings;
    tacit_candidates candidates;
    tacit_dataset *rows = NULL;
    tacit_status status;
    if (settings->candidates == NULL) return TACIT_OK;
    TACIT_TRY(tacit_candidates_parse(&candidates, settings->candidates, error));
    if (settings->public_rows == NULL) {
        if (!tacit_method_takes(self->plan.method, "candidates"))
            return tacit_fail(
                error, TACIT_USAGE,
                "method %s cannot choose lambda on private rows: give public ones with labels, or use plr, "
                "pst-s or pst-f",
                self->plan.method->name);
        self->plan.lambda = candidates.lambda[0]; /* one that passes the checks: the party chooses */
        return tacit_plan_set(&self->plan, "candidates", settings->candidates, error);
    }
    TACIT_CHECK(load_rows(&rows, self, settings->public_rows, error));
    TACIT_CHECK(tacit_choose_lambda(&self->plan.lambda, &candidates, &self->plan, rows, self->rows->rows,
                                    NULL, error));
cleanup:
    tacit_dataset_free(rows);
    return status;
}

static tacit_status make_plan(fitting *self, tacit_error *error) {
    tacit_plan *plan = &self->plan;
    const tacit_method *method = plan->method;
    if (method->noise_free)
        return tacit_fail(error, TACIT_USAGE,
                          "method %s is not private; to release a model use output, plr or gop",
                          method->name);
    if (method->release_kind(plan) != TACIT_RELEASE_CHARGED || method->undeployable != NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "method %s as set here needs others to take part; alone use output, plr or gop",
                          method->name);
    snprintf(plan->study, sizeof plan->study, STUDY);
    plan->features = self->rows->features;
    plan->classes = self->rows->classes.count;
    plan->schema = self->schema;
    plan->parties = plan->minimum_parties = 1;
    plan->sums = TACIT_SUMS_CLEAR;         /* nobody is there to hide a sum from, or in */
    plan->minimum_rows = self->rows->rows; /* replacing a row leaves their number as it is */
    if (isinf(plan->epsilon))
        return tacit_fail(error, TACIT_USAGE,
                          "an infinite epsilon is for simulations: a release needs noise");
    TACIT_TRY(choose_lambda(self, error));
    TACIT_TRY(tacit_plan_check(plan, error));
    return method->price(plan, &self->prices, error);
}

static tacit_status print_request(const fitting *self, tacit_buffer *out, tacit_error *error) {
    const tacit_plan *plan = &self->plan;
    TACIT_TRY(tacit_buffer_print(out, error, "fit %s %u\nepsilon %.17g\ndelta %.17g\nlambda %.17g\n",
                                 plan->method->name, plan->method->version, plan->epsilon, plan->delta,
                                 plan->lambda));
    for (const tacit_parameter *one = plan->method->parameters; one != NULL && one->name != NULL; one++)
        TACIT_TRY(tacit_buffer_print(out, error, "%s %s\n", one->name, tacit_plan_text(plan, one->name)));
    TACIT_TRY(tacit_buffer_print(out, error, "rows %zu %zu\n", self->rows->rows, self->rows->features));
    return tacit_schema_canonical(self->schema, out, error);
}

static void hash_rows(crypto_generichash_state *state, const tacit_dataset *rows) {
    crypto_generichash_update(state, (const uint8_t *)rows->label, rows->rows * sizeof *rows->label);
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
        crypto_generichash_init(&state, NULL, 0, sizeof self->request);
        crypto_generichash_update(&state, text.bytes, text.length);
        hash_rows(&state, self->rows);
        crypto_generichash_final(&state, self->request, sizeof self->request);
    }
    tacit_buffer_clear(&text);
    return status;
}

/* ---- asking the only party ---- */

static void question_hash(const fitting *self, uint64_t round, uint8_t out[TACIT_HASH_BYTES]) {
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, TACIT_HASH_BYTES);
    crypto_generichash_update(&state, self->request, sizeof self->request);
    crypto_generichash_update(&state, (const uint8_t *)&round, sizeof round);
    crypto_generichash_final(&state, out, TACIT_HASH_BYTES);
}

static tacit_status answer(fitting *self, const tacit_question *question, tacit_answer *out,
                           tacit_error *error) {
    tacit_party party = {
        .plan = &self->plan,
        .coordinator = ASKER,
        .study = STUDY,
        .rows = tacit_dataset_view(self->rows),
        .total_rows = self->rows->rows,
        .pool = self->pool,
        .noise = { .entropy = self->entropy },
        .memo = &self->memo,
        .gate = &self->gate,
    };
    tacit_question asked = *question;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    uint8_t hash[TACIT_HASH_BYTES];
    memcpy(party.study_hash, self->request, sizeof party.study_hash);
    question_hash(self, question->round, hash);
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
    return tacit_fail(error, TACIT_USAGE, "method %s needs others to take part; alone use output, plr or gop",
                      question->method);
}

/* ---- charging ---- */

/* Was this very request answered before? Then it is free; else the budget is asked before anything is computed. */
static tacit_status open_gate(fitting *self, bool *again, tacit_error *error) {
    const tacit_fit_settings *settings = self->settings;
    char path[PATH_MAX];
    uint8_t hash[TACIT_HASH_BYTES];
    self->policy = tacit_policy_default();
    self->policy.minimum_parties = 1; /* it is the owner who releases, with the noise inside */
    TACIT_TRY(tacit_path_join(path, sizeof path, settings->home, TACIT_LEDGER_NAME, error));
    tacit_error quiet = TACIT_ERROR_INIT;
    tacit_status status =
        tacit_ledger_open(&self->ledger, path, settings->source, TACIT_LEDGER_EXISTING, &quiet);
    if (status == TACIT_NOT_FOUND)
        return site_check_budget(settings->home, settings->source, STUDY, &self->prices, error);
    if (status != TACIT_OK) return tacit_fail(error, status, "%s", quiet.text);
    TACIT_TRY(tacit_gate_init(&self->gate, self->ledger, &self->policy, TACIT_GATE_REAL, error));
    question_hash(self, 0, hash);
    TACIT_TRY(tacit_gate_has_answer(again, &self->gate, hash, hash, error));
    if (!*again) TACIT_TRY(site_check_budget(settings->home, settings->source, STUDY, &self->prices, error));
    return tacit_ledger_consent(self->ledger, STUDY, self->request, error);
}

static void remember_guarantee(const fitting *self, tacit_model *model) {
    tacit_guarantee *guarantee = &model->guarantee;
    *guarantee = (tacit_guarantee){ .is_private = true,
                                    .charged = self->prices.charged,
                                    .claimed = self->prices.claimed,
                                    .noise = TACIT_NOISE_EXACT,
                                    .parties = 1,
                                    .lambda = self->plan.lambda };
    snprintf(guarantee->method, sizeof guarantee->method, "%s", self->plan.method->name);
}

static tacit_status run(fitting *self, tacit_fit_result *out, tacit_error *error) {
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_session session = { .plan = &self->plan,
                              .transport = { .ask = ask, .ask_sum = ask_sum, .context = self },
                              .secret = tacit_stream_from_entropy(),
                              .entropy = self->entropy,
                              .pool = self->pool,
                              .progress = self->settings->progress };
    tacit_status status;
    TACIT_CHECK(self->plan.method->coordinate(&session, &outcome, error));
    tacit_model *model = outcome.models[0];
    TACIT_CHECK(tacit_model_describe(model, &self->rows->classes, self->schema, error));
    remember_guarantee(self, model);
    if (outcome.lambda > 0) model->guarantee.lambda = outcome.lambda;
    TACIT_CHECK(tacit_ledger_account(&out->account, self->ledger, NULL, self->prices.charged.unit, error));
    out->model = model;
    outcome.models[0] = NULL;
cleanup:
    tacit_stream_wipe(&session.secret);
    tacit_outcome_clear(&outcome);
    return status;
}

tacit_status tacit_fit(tacit_fit_result *out, const tacit_fit_settings *settings, tacit_error *error) {
    fitting self = { .settings = settings, .plan = *settings->plan };
    tacit_fit_result result = TACIT_FIT_RESULT_INIT;
    tacit_status status;
    TACIT_CHECK(load(&self, error));
    TACIT_CHECK(make_plan(&self, error));
    TACIT_CHECK(hash_request(&self, error));
    TACIT_CHECK(open_gate(&self, &result.again, error));
    TACIT_CHECK(tacit_pool_create(&self.pool, 0, error));
    TACIT_CHECK(tacit_entropy_create(&self.entropy, error));
    TACIT_CHECK(run(&self, &result, error));
    result.rows = self.rows->rows;
    *out = result;
cleanup:
    clear(&self);
    return status;
}
