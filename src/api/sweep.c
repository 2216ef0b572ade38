#include "api/sweep.h"

#include "api/document/document.h"
#include "api/document/results.h"
#include "api/document/tables.h"
#include "api/fitting.h"
#include "api/frame/frame.h"
#include "api/option/run_options.h"
#include "base/memory.h"

static tacit_status read_methods(tacit_sweep *all, const tacit_arguments *arguments, tacit_error *error) {
    TACIT_TRY(tacit_methods_named(&all->methods, &all->plan.method_count, arguments, "method", error));
    all->plan.methods = all->methods;
    return TACIT_OK;
}

static tacit_status read_settings(tacit_sweep *all, const tacit_arguments *arguments, tacit_error *error) {
    TACIT_TRY(tacit_training_choices(&all->settings, &all->plan.setting_count, arguments, error));
    all->plan.settings = all->settings;
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
                              "the option 'stop'",
                              plan->methods[m]->name);
    if (all->stop.participants > 0)
        return tacit_fail(
            error, TACIT_USAGE,
            "the option 'stop': the option 'parties' says how many take part: leave 'participants' out");
    if (all->stop.target != TACIT_TARGET_NONE && tacit_simulation_runs(plan) != 1)
        return tacit_fail(error, TACIT_USAGE,
                          "the option 'stop' with a target is for one method at one epsilon");
    return TACIT_OK;
}

/* Zero in the plan lets each method choose; zero that was given means none, which few methods can do with. */
static tacit_status read_lambda(tacit_simulation *plan, const tacit_arguments *arguments,
                                tacit_error *error) {
    if (!tacit_arguments_given(arguments, "lambda")) return TACIT_OK;
    plan->lambda = tacit_arguments_number(arguments, "lambda");
    plan->without_lambda = plan->lambda == 0;
    for (size_t m = 0; plan->lambda == 0 && m < plan->method_count; m++)
        if (!plan->methods[m]->lambda_may_vanish)
            return tacit_fail(error, TACIT_USAGE,
                              "method %s needs a regulariser: the option 'lambda' must be above 0, or left "
                              "out for one that is chosen",
                              plan->methods[m]->name);
    return TACIT_OK;
}

tacit_status tacit_sweep_plan(tacit_sweep *all, const tacit_arguments *arguments, tacit_error *error) {
    tacit_simulation *plan = &all->plan;
    plan->goes_on = true;
    TACIT_TRY(read_methods(all, arguments, error));
    TACIT_TRY(read_settings(all, arguments, error));
    plan->epsilons = tacit_arguments_numbers(arguments, "epsilon", &plan->epsilon_count);
    plan->delta = tacit_arguments_number(arguments, "delta");
    TACIT_TRY(read_lambda(plan, arguments, error));
    plan->trials = (size_t)tacit_arguments_integer(arguments, "trials");
    if (tacit_arguments_given(arguments, "minimum-rows"))
        plan->minimum_rows = (size_t)tacit_arguments_integer(arguments, "minimum-rows");
    if (tacit_arguments_given(arguments, "expected-rows"))
        plan->expected_rows = (size_t)tacit_arguments_integer(arguments, "expected-rows");
    plan->dropouts = tacit_arguments_number(arguments, "dropouts");
    plan->colluders = tacit_arguments_number(arguments, "colluders");
    plan->seed = tacit_run_options_seed(arguments);
    for (size_t m = 0; m < plan->method_count; m++)
        if (!plan->methods[m]->noise_free && plan->epsilon_count == 0)
            return tacit_fail(
                error, TACIT_USAGE,
                "method %s needs the option 'epsilon', one or more comma-separated numbers (inf: no noise)",
                plan->methods[m]->name);
    if (tacit_arguments_given(arguments, "model"))
        TACIT_TRY(tacit_model_load(&all->given, tacit_arguments_text(arguments, "model"), error));
    plan->model = all->given;
    return read_stop(all, arguments, error);
}

tacit_status tacit_sweep_take_model(const tacit_sweep *all, tacit_schema *schema, tacit_error *error) {
    const tacit_simulation *plan = &all->plan;
    if (all->given == NULL || all->given->schema == NULL) return TACIT_OK;
    for (size_t m = 0; m < plan->method_count; m++) {
        tacit_plan about = { .method = plan->methods[m] };
        if (!about.method->needs_model) continue;
        for (size_t s = 0; s < plan->setting_count; s++)
            if (tacit_method_takes(about.method, plan->settings[s].name))
                TACIT_TRY(tacit_plan_set(&about, plan->settings[s].name, plan->settings[s].value, error));
        const char *by = about.method->subgroups != NULL ? about.method->subgroups(&about) : NULL;
        TACIT_TRY(tacit_schema_take_model(schema, all->given->schema, by, error));
    }
    return TACIT_OK;
}

tacit_status tacit_sweep_check_parties(const tacit_arguments *arguments, const tacit_split_plan *split,
                                       tacit_error *error) {
    bool told = split->kind == TACIT_SPLIT_FRACTIONS || split->kind == TACIT_SPLIT_GROUPS;
    if (told || tacit_arguments_given(arguments, "parties")) return TACIT_OK;
    return tacit_fail(
        error, TACIT_USAGE,
        "how many parties? give the option 'parties', or a split that says it (fractions, or by:COLUMN)");
}

tacit_status tacit_sweep_partition(tacit_sweep *all, const tacit_arguments *arguments,
                                   const tacit_split_plan *split, tacit_error *error) {
    return tacit_partition_make(&all->partition, arguments, split, all->plan.seed, error);
}

tacit_status tacit_sweep_run(tacit_sweep *all, const tacit_arguments *arguments,
                             const tacit_progress *progress, const tacit_notifier *notifier,
                             tacit_error *error) {
    unsigned threads = tacit_run_options_threads(arguments);
    if (threads == 0) threads = tacit_ranks_threads(all->ranks);
    TACIT_TRY(tacit_pool_create(&all->pool, threads, error));
    threads = tacit_pool_threads(all->pool);
    unsigned leading = tacit_ranks_leader_threads(all->ranks, threads);
    if (leading > threads) TACIT_TRY(tacit_pool_create(&all->leader, leading, error));
    all->run_count = tacit_simulation_runs(&all->plan);
    all->runs = TACIT_NEW(tacit_run, all->run_count);
    if (all->runs == NULL) return tacit_fail_memory(error);
    all->plan.dataset = all->partition.data;
    all->plan.schema = all->partition.schema;
    all->plan.split = all->partition.parties;
    all->plan.test = all->partition.test;
    all->plan.auxiliary = all->partition.auxiliary;
    if (all->partition.target_data != NULL) all->plan.target = tacit_dataset_view(all->partition.target_data);
    all->plan.range = all->partition.range;
    all->plan.pool = all->pool;
    all->plan.leader = all->leader;
    all->plan.progress = progress;
    if (all->stop.target == TACIT_TARGET_NONE)
        return tacit_simulate(&all->plan, all->runs, &all->model, error);
    return tacit_interim_looks_run(&all->looks, &all->stop, &all->plan, all->partition.parties, all->runs,
                                   &all->model, notifier, error);
}

json_t *tacit_sweep_document(const tacit_sweep *all) {
    json_t *document = tacit_runs_document(all->runs, all->run_count, all->plan.seed);
    if (document == NULL) return NULL;
    if (all->run_count == 1 && all->model != NULL && all->model->estimates != NULL)
        json_object_set_new(document, "summary", tacit_summary_document(all->model));
    if (all->run_count == 1 && all->model != NULL && tacit_model_shown_report(all->model) != NULL)
        json_object_set_new(document, "report", tacit_report_document(all->model));
    if (all->looks != NULL) json_object_set(document, "looks", all->looks);
    return document;
}

void tacit_sweep_clear(tacit_sweep *all) {
    json_decref(all->looks);
    tacit_model_free(all->model);
    tacit_model_free(all->given);
    free(all->runs);
    tacit_pool_free(all->pool);
    tacit_pool_free(all->leader);
    tacit_partition_clear(&all->partition);
    free(all->settings);
    free(all->methods);
    *all = (tacit_sweep)TACIT_SWEEP_INIT;
}

/* ---- for programs ---- */

static const char *const files[] = { "train",     "party",  "schema",   "bounds-from-data",
                                     "response",  "text",   "grams",    "min-df",
                                     "max-df",    "hash",   "strip",    "test",
                                     "aux",       "target", "together", "out",
                                     "plot",      "trace",  "label",    "positive",
                                     "no-header", NULL };
static const tacit_form simulate_form = { .name = "simulate",
                                          .options = tacit_simulate_options,
                                          .without = files };

/* Frames as rows, all encoded as the first one is. */
typedef struct framed {
    tacit_sweep sweep;
    tacit_schema *drafted;
    tacit_dataset *train, *test, *auxiliary, *target;
    tacit_split_plan *split;
} framed;

static void framed_clear(framed *all) {
    tacit_sweep_clear(&all->sweep);
    tacit_split_plan_free(all->split);
    tacit_dataset_free(all->train);
    tacit_dataset_free(all->test);
    tacit_dataset_free(all->auxiliary);
    tacit_dataset_free(all->target);
    tacit_schema_free(all->drafted);
}

/* Whether rows without a label are among those of a frame. */
static bool has_unlabelled(const tacit_frame *frame) {
    if (frame == NULL) return false;
    return frame_has_source(frame) ? frame->schema != NULL && tacit_schema_keeps_unlabelled(frame->schema)
                                   : frame->unlabelled;
}

/* The schema of the training rows; it keeps rows without a label where the target has them. */
static tacit_status settle_schema(framed *all, const tacit_frame *const frames[4],
                                  const tacit_arguments *arguments, tacit_pool *pool, tacit_error *error) {
    TACIT_TRY(frame_schema_with(&all->drafted, frames[0], tacit_arguments_text(arguments, "terms"),
                                tacit_arguments_text(arguments, "subset"), pool, error));
    if (has_unlabelled(frames[3]) && all->drafted == NULL)
        TACIT_TRY(frame_copy_schema(&all->drafted, frames[0]->schema, error));
    if (has_unlabelled(frames[3]) && all->drafted->response == TACIT_RESPONSE_CLASS)
        all->drafted->label_missing = TACIT_MISSING_UNLABELLED;
    all->sweep.partition.schema = all->drafted != NULL ? all->drafted : frames[0]->schema;
    return TACIT_OK;
}

static tacit_status encode_frames(framed *all, const tacit_frame *const frames[4],
                                  const tacit_arguments *arguments, tacit_pool *pool, tacit_error *error) {
    static const char *const called[] = { "train", "test", "auxiliary", "target" };
    tacit_dataset **rows[] = { &all->train, &all->test, &all->auxiliary, &all->target };
    TACIT_TRY(settle_schema(all, frames, arguments, pool, error));
    for (size_t k = 0; k < 4; k++) {
        if (frames[k] == NULL) continue;
        tacit_status status = frame_encode(rows[k], frames[k], all->sweep.partition.schema,
                                           k == 2 ? NEED_ROWS : NEED_LABELS, pool, error);
        if (status != TACIT_OK) return tacit_fail_in(error, status, "%s", called[k]);
    }
    all->sweep.partition.data = all->train;
    all->sweep.partition.test_data = all->test;
    all->sweep.partition.aux_data = all->auxiliary;
    all->sweep.partition.target_data = all->target;
    all->sweep.partition.groups = frames[0]->parties;
    /* The groups of a table are its persons: whose rows they are at which party stands beside them. */
    const bool table = frames[0]->data != NULL;
    if (table) all->sweep.partition.site = frames[0]->party;
    all->sweep.partition.grouped = table && all->train->persons && frames[0]->party == NULL &&
                                   tacit_arguments_given(arguments, "parties");
    return TACIT_OK;
}

/* The frame's parties by default. */
static tacit_status read_split(framed *all, const tacit_frame *train, const tacit_arguments *arguments,
                               tacit_error *error) {
    bool told = tacit_arguments_given(arguments, "split") || tacit_arguments_given(arguments, "parties");
    const char *text = train->parties > 0 && !told ? "by:party" : tacit_arguments_text(arguments, "split");
    TACIT_TRY(tacit_split_plan_parse(&all->split, text, error));
    if (all->split->kind == TACIT_SPLIT_GROUPS && train->parties == 0)
        return tacit_fail(error, TACIT_USAGE,
                          "a split by a column needs rows that say whose they are: set the frame's parties");
    return tacit_sweep_check_parties(arguments, all->split, error);
}

static tacit_status simulate(framed *all, const tacit_frame *const frames[4],
                             const tacit_arguments *arguments, const tacit_progress *progress,
                             tacit_error *error) {
    tacit_pool *pool = NULL;
    tacit_status status;
    if (frames[0] == NULL) return tacit_fail(error, TACIT_USAGE, "a simulation needs rows to train on");
    if (frames[1] != NULL && tacit_arguments_given(arguments, "test-fraction"))
        return tacit_fail(error, TACIT_USAGE, "give either test rows or the option 'test-fraction'");
    if (frames[2] != NULL && tacit_arguments_given(arguments, "aux-fraction"))
        return tacit_fail(error, TACIT_USAGE, "give either auxiliary rows or the option 'aux-fraction'");
    TACIT_TRY(tacit_sweep_plan(&all->sweep, arguments, error));
    TACIT_TRY(read_split(all, frames[0], arguments, error));
    TACIT_TRY(tacit_pool_create(&pool, tacit_run_options_threads(arguments), error));
    TACIT_CHECK(encode_frames(all, frames, arguments, pool, error));
    TACIT_CHECK(tacit_sweep_partition(&all->sweep, arguments, all->split, error));
    TACIT_CHECK(tacit_sweep_run(&all->sweep, arguments, progress, NULL, error));
    if (all->sweep.model != NULL) {
        tacit_guarantee_settle(&all->sweep.model->guarantee, all->sweep.partition.schema);
        TACIT_CHECK(
            tacit_model_describe(all->sweep.model, &all->train->classes, all->sweep.partition.schema, error));
    }
cleanup:
    tacit_pool_free(pool);
    return status;
}

tacit_status tacit_frame_simulate(char **json, tacit_model **model, const tacit_frame *train,
                                  const tacit_frame *test, const tacit_frame *auxiliary,
                                  const tacit_frame *target, const tacit_options *options,
                                  const tacit_progress *progress, tacit_error *error) {
    TACIT_TRY(tacit_require(json, "where to put the document", error));
    const tacit_frame *const frames[] = { train, test, auxiliary, target };
    framed all = { .sweep = TACIT_SWEEP_INIT };
    tacit_arguments *arguments = NULL;
    char *text = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_form_take(&arguments, &simulate_form, options, error));
    TACIT_CHECK(simulate(&all, frames, arguments, progress, error));
    TACIT_CHECK(tacit_document_text(&text, tacit_sweep_document(&all.sweep), error));
    *json = text;
    if (model != NULL) {
        *model = all.sweep.model;
        all.sweep.model = NULL;
    }
cleanup:
    framed_clear(&all);
    tacit_arguments_free(arguments);
    return status;
}
