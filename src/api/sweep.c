#include "api/sweep.h"

#include "api/chance.h"
#include "api/document.h"
#include "api/frame.h"
#include "api/results.h"
#include "api/tables.h"
#include "base/memory.h"

static tacit_status read_methods(tacit_sweep *all, const tacit_arguments *arguments, tacit_error *error) {
    size_t count = 0;
    const char *const *names = tacit_arguments_words(arguments, "method", &count);
    all->methods = TACIT_NEW(const tacit_method *, count);
    if (all->methods == NULL) return tacit_fail_memory(error);
    for (size_t m = 0; m < count; m++) TACIT_TRY(tacit_method_require(&all->methods[m], names[m], error));
    all->plan.methods = all->methods;
    all->plan.method_count = count;
    return TACIT_OK;
}

static tacit_status read_settings(tacit_sweep *all, const tacit_arguments *arguments, tacit_error *error) {
    size_t count = 0;
    const tacit_setting *given = tacit_arguments_settings(arguments, "set", &count);
    all->settings = TACIT_NEW(tacit_choice, count);
    if (all->settings == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < count; i++) all->settings[i] = (tacit_choice){ given[i].key, given[i].value };
    all->plan.settings = all->settings;
    all->plan.setting_count = count;
    return TACIT_OK;
}

static tacit_status read_stop(tacit_sweep *all, const tacit_arguments *arguments, tacit_error *error) {
    tacit_simulation *plan = &all->plan;
    all->stop = (tacit_stop)TACIT_STOP_INIT;
    if (!tacit_arguments_given(arguments, "stop")) return TACIT_OK;
    TACIT_TRY(tacit_stop_parse(&all->stop, tacit_arguments_text(arguments, "stop"), error));
    plan->most_rounds = all->stop.rounds;
    plan->enough = all->stop.converged;
    for (size_t m = 0; m < plan->method_count; m++)
        if ((plan->most_rounds > 0 || plan->enough > 0) && !plan->methods[m]->stops_early)
            return tacit_fail(error, TACIT_USAGE,
                              "method %s has no rounds to stop early: leave 'rounds' and 'converged' out of "
                              "--stop",
                              plan->methods[m]->name);
    if (all->stop.participants > 0)
        return tacit_fail(error, TACIT_USAGE,
                          "--stop: --parties says how many take part: leave "
                          "'participants' out");
    if (all->stop.target != TACIT_TARGET_NONE && tacit_simulation_runs(plan) != 1)
        return tacit_fail(error, TACIT_USAGE, "--stop with a target is for one method at one epsilon");
    return TACIT_OK;
}

tacit_status tacit_sweep_plan(tacit_sweep *all, const tacit_arguments *arguments, tacit_error *error) {
    tacit_simulation *plan = &all->plan;
    TACIT_TRY(read_methods(all, arguments, error));
    TACIT_TRY(read_settings(all, arguments, error));
    plan->epsilons = tacit_arguments_numbers(arguments, "epsilon", &plan->epsilon_count);
    plan->delta = tacit_arguments_number(arguments, "delta");
    if (tacit_arguments_given(arguments, "lambda"))
        plan->lambda = tacit_arguments_number(arguments, "lambda");
    plan->trials = (size_t)tacit_arguments_integer(arguments, "trials");
    if (tacit_arguments_given(arguments, "minimum-rows"))
        plan->minimum_rows = (size_t)tacit_arguments_integer(arguments, "minimum-rows");
    plan->dropouts = tacit_arguments_number(arguments, "dropouts");
    plan->colluders = tacit_arguments_number(arguments, "colluders");
    plan->seed = tacit_chance_seed(arguments);
    for (size_t m = 0; m < plan->method_count; m++)
        if (!plan->methods[m]->noise_free && plan->epsilon_count == 0)
            return tacit_fail(
                error, TACIT_USAGE,
                "method %s needs --epsilon, one or more numbers parted by commas (inf: no noise)",
                plan->methods[m]->name);
    return read_stop(all, arguments, error);
}

tacit_status tacit_sweep_check_parties(const tacit_arguments *arguments, const tacit_split_plan *split,
                                       tacit_error *error) {
    bool told = split->kind != TACIT_SPLIT_EVEN && split->kind != TACIT_SPLIT_DIRICHLET;
    if (told || tacit_arguments_given(arguments, "parties")) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "how many parties? give --parties M, or a --split that says it (fractions, or "
                      "by:COLUMN)");
}

tacit_status tacit_sweep_run(tacit_sweep *all, const tacit_arguments *arguments,
                             const tacit_split_plan *split, const tacit_progress *progress,
                             const tacit_teller *teller, tacit_error *error) {
    TACIT_TRY(tacit_deal_make(&all->deal, arguments, split, all->plan.seed, error));
    TACIT_TRY(tacit_pool_create(&all->pool, tacit_chance_threads(arguments), error));
    all->run_count = tacit_simulation_runs(&all->plan);
    all->runs = TACIT_NEW(tacit_run, all->run_count);
    if (all->runs == NULL) return tacit_fail_memory(error);
    all->plan.dataset = all->deal.data;
    all->plan.schema = all->deal.schema;
    all->plan.split = all->deal.parties;
    all->plan.test = all->deal.test;
    all->plan.auxiliary = all->deal.auxiliary;
    if (all->deal.target_data != NULL) all->plan.target = tacit_dataset_view(all->deal.target_data);
    all->plan.pool = all->pool;
    all->plan.progress = progress;
    if (all->stop.target == TACIT_TARGET_NONE)
        return tacit_simulate(&all->plan, all->runs, &all->model, error);
    return tacit_looks_run(&all->looks, &all->stop, &all->plan, all->deal.parties, all->runs, &all->model,
                           teller, error);
}

json_t *tacit_sweep_document(const tacit_sweep *all) {
    json_t *document = tacit_runs_document(all->runs, all->run_count, all->plan.seed);
    if (document == NULL) return NULL;
    if (all->run_count == 1 && all->model != NULL && all->model->estimates != NULL)
        json_object_set_new(document, "summary", tacit_summary_document(all->model));
    if (all->looks != NULL) json_object_set(document, "looks", all->looks);
    return document;
}

void tacit_sweep_clear(tacit_sweep *all) {
    json_decref(all->looks);
    tacit_model_free(all->model);
    free(all->runs);
    tacit_pool_free(all->pool);
    tacit_deal_clear(&all->deal);
    free(all->settings);
    free(all->methods);
    *all = (tacit_sweep)TACIT_SWEEP_INIT;
}
