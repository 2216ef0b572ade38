/* tacit simulate: methods x epsilons x trials over parties made from one file, or with a file each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/document/tables.h"
#include "api/sweep.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/help/option_spelling.h"
#include "cli/output_file.h"
#include "cli/print/missing_report.h"
#include "cli/print/runs.h"
#include "cli/row_reading.h"
#include "data/reading/concatenate.h"
#include "lab/plot/charts.h"
#include "method/methods.h"

/* A model, or a chart, is made to be shared. */
enum { MODEL_MODE = 0644 };

/* The rows of the files, and what is made of them. */
typedef struct work {
    tacit_sweep sweep;
    tacit_dataset *data, *test, *aux, *target;
    int32_t *site;        /* of each row, where parties have files of their own */
    tacit_schema *schema; /* the one given, or drafted from the rows: see data->bounds_from_data */
    tacit_trace trace;
} work;

static tacit_status read_trace(work *all, const tacit_arguments *arguments, tacit_error *error) {
    for (size_t m = 0; m < all->sweep.plan.method_count; m++)
        if (tacit_trace_applies(all->sweep.methods[m])) all->sweep.plan.trace = &all->trace;
    char without[TACIT_METHODS_TEXT];
    if (all->sweep.plan.trace == NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "--trace follows the rounds of methods without a center (%s), and none of these is to run",
            tacit_methods_with("no-center", NULL, without));
    return tacit_file_check_writable(tacit_arguments_text(arguments, "trace"), error);
}

/* Can model and chart be written? Said now, not after an hour's work. */
static tacit_status check_files(const tacit_arguments *arguments, tacit_error *error) {
    static const char *const others[] = { ".png", ".pdf", ".jpg", ".jpeg", ".gif", ".eps", ".ps", ".webp" };
    const char *out = tacit_arguments_text(arguments, "out"), *plot = tacit_arguments_text(arguments, "plot");
    const char *ending = plot != NULL ? strrchr(plot, '.') : NULL;
    for (size_t i = 0; ending != NULL && i < sizeof others / sizeof others[0]; i++)
        if (strcasecmp(ending, others[i]) == 0)
            return tacit_fail(error, TACIT_USAGE, "--plot %s: charts are written as SVG: name it %.*s.svg",
                              plot, (int)(ending - plot), plot);
    if (plot != NULL) TACIT_TRY(tacit_file_check_writable(plot, error));
    return out != NULL ? tacit_file_check_writable(out, error) : TACIT_OK;
}

/* Parties with files of their own: nothing is left to divide. */
static tacit_status check_party_files(const tacit_arguments *arguments, tacit_error *error) {
    static const char *const others[] = { "train", "parties", "split", "together" };
    if (!tacit_arguments_given(arguments, "party")) {
        if (tacit_arguments_given(arguments, "train")) return TACIT_OK;
        return tacit_fail(error, TACIT_USAGE,
                          "whose rows? give --train, a file that is divided among parties, or --party with "
                          "the file of each");
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (tacit_arguments_given(arguments, others[i]))
            return tacit_fail(error, TACIT_USAGE, "--party gives each party its rows: leave --%s out",
                              others[i]);
    if (tacit_arguments_given(arguments, "schema")) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "--party needs --schema: files of several parties have only that in common");
}

/* What can be said before any row is read. */
static tacit_status read_plan(work *all, const tacit_arguments *arguments, tacit_error *error) {
    const tacit_simulation *plan = &all->sweep.plan;
    TACIT_TRY(tacit_sweep_plan(&all->sweep, arguments, error));
    TACIT_TRY(check_party_files(arguments, error));
    if (tacit_arguments_given(arguments, "schema") && tacit_arguments_flag(arguments, "bounds-from-data"))
        return tacit_fail(error, TACIT_USAGE,
                          "--schema declares the bounds and --bounds-from-data reads them off the rows: give "
                          "one of the two");
    if (tacit_arguments_given(arguments, "text") && tacit_arguments_given(arguments, "schema"))
        return tacit_fail(error, TACIT_USAGE,
                          "--text: the schema says which columns are texts; leave --text out");
    if (tacit_arguments_given(arguments, "text") && !tacit_arguments_flag(arguments, "bounds-from-data"))
        return tacit_fail(error, TACIT_USAGE,
                          "--text reads bounds and a vocabulary off the rows, which is not private: confirm "
                          "this with --bounds-from-data, or declare a text column in a schema");
    if (tacit_arguments_given(arguments, "test") && tacit_arguments_given(arguments, "test-fraction"))
        return tacit_fail(error, TACIT_USAGE, "give either --test or --test-fraction");
    if (tacit_arguments_given(arguments, "aux") && tacit_arguments_given(arguments, "aux-fraction"))
        return tacit_fail(error, TACIT_USAGE, "give either --aux or --aux-fraction");
    if (tacit_arguments_given(arguments, "out") && tacit_simulation_runs(plan) != 1)
        return tacit_fail(error, TACIT_USAGE,
                          "--out writes the model of one method at one epsilon, and this sweep has %zu",
                          tacit_simulation_runs(plan));
    TACIT_TRY(check_files(arguments, error));
    return tacit_arguments_given(arguments, "trace") ? read_trace(all, arguments, error) : TACIT_OK;
}

/* What several ranks need beside one: the same seed, and nothing that looks at all rows or models at once. */
static tacit_status settle_ranks(work *all, const tacit_arguments *arguments, tacit_ranks *ranks,
                                 tacit_error *error) {
    tacit_buffer seed = TACIT_BUFFER_INIT;
    if (tacit_ranks_count(ranks) > 1 && tacit_arguments_given(arguments, "party"))
        return tacit_fail(error, TACIT_USAGE, "--party works in one process: start it without mpirun");
    if (tacit_ranks_count(ranks) > 1 &&
        (all->sweep.plan.trace != NULL || all->sweep.stop.target != TACIT_TARGET_NONE))
        return tacit_fail(error, TACIT_USAGE,
                          "--trace, and --stop with a target, work in one process: start it without mpirun");
    tacit_status status =
        tacit_buffer_append(&seed, &all->sweep.plan.seed, sizeof all->sweep.plan.seed, error);
    if (status == TACIT_OK) status = tacit_ranks_spread(ranks, &seed, error);
    if (status == TACIT_OK) memcpy(&all->sweep.plan.seed, seed.bytes, sizeof all->sweep.plan.seed);
    tacit_buffer_clear(&seed);
    return status;
}

/* One file a party. */
static tacit_status read_parties(work *all, const tacit_arguments *arguments,
                                 const tacit_load_options *options, tacit_error *error) {
    size_t count = 0, read = 0;
    const char *const *files = tacit_arguments_words(arguments, "party", &count);
    tacit_dataset **parts = TACIT_NEW(tacit_dataset *, count);
    tacit_status status = parts != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (; status == TACIT_OK && read < count; read++) {
        status = tacit_dataset_load(&parts[read], NULL, files[read], all->schema, options, error);
        if (status != TACIT_OK) break;
    }
    if (status == TACIT_OK)
        status = tacit_dataset_concatenate(&all->data, &all->site, parts, count, all->schema, error);
    for (size_t i = 0; i < read; i++) tacit_dataset_free(parts[i]);
    free(parts);
    return status;
}

/* Only rank 0 looks at rows to test on, and at those of a target. */
static tacit_status read_rows(work *all, const tacit_arguments *arguments, const tacit_load_options *options,
                              bool first_rank, tacit_error *error) {
    const char *schema = tacit_arguments_text(arguments, "schema"),
               *test = tacit_arguments_text(arguments, "test"), *aux = tacit_arguments_text(arguments, "aux"),
               *target = tacit_arguments_text(arguments, "target");
    if (schema != NULL)
        TACIT_TRY(tacit_schema_load_terms(&all->schema, schema, options->terms, options->subset, error));
    if (schema != NULL) TACIT_TRY(tacit_sweep_take_model(&all->sweep, all->schema, error));
    if (tacit_arguments_given(arguments, "party"))
        TACIT_TRY(read_parties(all, arguments, options, error));
    else
        TACIT_TRY(tacit_dataset_load(&all->data, schema != NULL ? NULL : &all->schema,
                                     tacit_arguments_text(arguments, "train"), all->schema, options, error));
    /* The schema has taken label and positive class in; groups only say which party has a row. */
    tacit_load_options others = *options;
    others.label = others.positive = others.group = NULL;
    others.no_features = others.only_count = false;
    others.of_model = true;
    if (test != NULL && first_rank)
        TACIT_TRY(tacit_dataset_load(&all->test, NULL, test, all->schema, &others, error));
    others.of_model = !tacit_schema_keeps_unlabelled(all->schema); /* else a target's rows may have none */
    if (target != NULL && first_rank)
        TACIT_TRY(tacit_dataset_load(&all->target, NULL, target, all->schema, &others, error));
    others.label_ignored = others.of_model = true;
    if (aux != NULL) TACIT_TRY(tacit_dataset_load(&all->aux, NULL, aux, all->schema, &others, error));
    return TACIT_OK;
}

/* Folds of cross-validation are dealt by what is in a row's cells, as at a site. */
static bool deals_folds(const tacit_arguments *arguments) {
    size_t count = 0;
    const tacit_setting *settings = tacit_arguments_settings(arguments, "set", &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(settings[i].key, "folds") == 0) return true;
    return false;
}

/* Whether rows without a label are of use: a draft keeps them then. */
static bool all_take_unlabelled(const tacit_simulation *plan) {
    size_t takers = 0;
    for (size_t m = 0; m < plan->method_count; m++) takers += plan->methods[m]->takes_unlabelled;
    return takers == plan->method_count;
}

static void note(void *context, const char *line) { tacit_console_note(context, "%s", line); }

static tacit_status run_split(work *all, const tacit_arguments *arguments, const tacit_split_plan *split,
                              tacit_console *console, tacit_error *error) {
    const char *together = tacit_arguments_text(arguments, "together");
    const tacit_progress *progress = tacit_console_progress(console);
    const tacit_notifier notifier = { note, console };
    tacit_load_options options = tacit_reading_draft(arguments, progress);
    TACIT_TRY(tacit_sweep_check_parties(arguments, split, error));
    if (together != NULL && split->column != NULL)
        return tacit_fail(error, TACIT_USAGE, "give either --together or --split by:COLUMN");
    options.terms = tacit_arguments_text(arguments, "terms");
    options.subset = tacit_arguments_text(arguments, "subset");
    options.unlabelled = all_take_unlabelled(&all->sweep.plan);
    options.group = together != NULL                            ? together
                    : tacit_arguments_given(arguments, "party") ? NULL
                                                                : split->column;
    bool spread = tacit_ranks_count(console->ranks) > 1;
    options.no_features = spread;
    options.identified = !spread && deals_folds(arguments);
    options.only_count = spread && options.group == NULL && split->kind != TACIT_SPLIT_LABELS &&
                         !tacit_arguments_given(arguments, "undersample");
    TACIT_TRY(read_rows(all, arguments, &options, tacit_ranks_own(console->ranks) == 0, error));
    tacit_partition *partition = &all->sweep.partition;
    partition->data = all->data;
    partition->test_data = all->test;
    partition->aux_data = all->aux;
    partition->target_data = all->target;
    partition->schema = all->schema;
    partition->site = all->site;
    partition->groups = all->data->groups.count;
    if (all->site != NULL) (void)tacit_arguments_words(arguments, "party", &partition->groups);
    partition->grouped = together != NULL;
    TACIT_TRY(tacit_sweep_partition(&all->sweep, arguments, split, error));
    options.identified = deals_folds(arguments);
    if (spread)
        TACIT_TRY(tacit_partition_load_own(partition, &all->data, tacit_arguments_text(arguments, "train"),
                                           &options, console->ranks, error));
    return tacit_sweep_run(&all->sweep, arguments, progress, &notifier, error);
}

static tacit_status run_sweep(work *all, const tacit_arguments *arguments, tacit_console *console,
                              tacit_error *error) {
    tacit_split_plan *split = NULL;
    all->sweep.ranks = console->ranks;
    TACIT_TRY(settle_ranks(all, arguments, console->ranks, error));
    TACIT_TRY(tacit_split_plan_parse(
        &split,
        tacit_arguments_given(arguments, "party") ? "by:party" : tacit_arguments_text(arguments, "split"),
        error));
    tacit_status status = run_split(all, arguments, split, console, error);
    tacit_split_plan_free(split);
    return status;
}

/* Methods differ in whom they trust, and their figures with it. */
static void tell_noise(const tacit_sweep *all, tacit_console *console) {
    for (size_t i = 0; i < all->run_count; i++) {
        const tacit_run *run = &all->runs[i];
        bool told = run->noise == NULL;
        for (size_t j = 0; j < i && !told; j++) told = all->runs[j].method == run->method;
        if (told) continue;
        if (strcmp(run->noise, "shares") == 0)
            tacit_console_note(console,
                               "noise of %s: every party adds a share, nobody is trusted, and %zu of them "
                               "may collude",
                               run->method->name, run->colluders);
        else
            tacit_console_note(console, "noise of %s: %s", run->method->name,
                               strcmp(run->noise, "party") == 0 ? "each party adds all of its own"
                                                                : "added by a trusted coordinator");
    }
}

static void print_remarks(const tacit_sweep *all, const tacit_arguments *arguments, tacit_console *console) {
    const char *schema = tacit_arguments_text(arguments, "schema");
    if (all->partition.data->bounds_from_data && schema != NULL)
        tacit_console_warn(
            console,
            "%s has values that were read off rows (from: rows): fine for a simulation, but not private",
            schema);
    else if (all->partition.data->bounds_from_data && !tacit_arguments_flag(arguments, "bounds-from-data"))
        tacit_console_warn(
            console, "no schema was given, so bounds, levels and classes were read off the rows: fine for a "
                     "simulation, but not private (--schema FILE, or --bounds-from-data to confirm this)");
    if (all->partition.empty_groups > 0)
        tacit_console_note(console, "%zu %s no training rows and %s no part", all->partition.empty_groups,
                           tacit_plural(all->partition.empty_groups, "group has", "groups have"),
                           tacit_plural(all->partition.empty_groups, "takes", "take"));
    bool noisy = false;
    for (size_t i = 0; i < all->run_count; i++) {
        const tacit_run *run = &all->runs[i];
        noisy = noisy || isfinite(run->epsilon);
        if (run->remark[0] != 0 && isfinite(run->epsilon))
            tacit_console_warn(console, "%s at epsilon %g: %s", run->method->name, run->epsilon, run->remark);
        else if (run->remark[0] != 0)
            tacit_console_warn(console, "%s: %s", run->method->name, run->remark);
        if (run->refusals > 0)
            tacit_console_note(console, "%s: %zu of %zu parties refused, the first because %s",
                               run->method->name, run->refusals, all->partition.parties->parts, run->refusal);
    }
    tell_noise(all, console);
    if (noisy && all->plan.trials == 1)
        tacit_console_note(console,
                           "one trial: the noise was drawn once, so no spread is known (--trials T)");
}

static tacit_status report(const tacit_sweep *all, const tacit_arguments *arguments, tacit_console *console,
                           tacit_error *error) {
    size_t least, most, parties = all->partition.parties->parts, tests = all->partition.test.rows.count;
    char rows[64], points[64] = "", lambda[64] = "lambda chosen for each run";
    tacit_partition_range(&all->partition, &least, &most);
    if (all->partition.auxiliary.rows.count > 0)
        snprintf(points, sizeof points, "; %zu public points", all->partition.auxiliary.rows.count);
    bool told = tacit_arguments_given(arguments, "lambda");
    if (all->model != NULL)
        TACIT_TRY(
            tacit_model_describe(all->model, &all->partition.data->classes, all->partition.schema, error));
    if (told) snprintf(lambda, sizeof lambda, "lambda %g", all->plan.lambda);
    snprintf(rows, sizeof rows, least == most ? "%zu" : "%zu to %zu", least, most);
    print_remarks(all, arguments, console);
    tacit_console_print(console, "%zu %s of %s rows, %zu features%s; %zu test rows; %s; seed %llu\n\n",
                        parties, tacit_plural(parties, "party", "parties"), rows,
                        all->partition.data->features, points, tests, lambda,
                        (unsigned long long)all->plan.seed);
    TACIT_TRY(tacit_runs_print(console, all->runs, all->run_count, !told, error));
    if (all->run_count == 1 && all->model != NULL && all->model->estimates != NULL)
        TACIT_TRY(tacit_summary_print(console, all->model, error));
    else if (all->run_count == 1 && all->model != NULL && all->model->report == NULL)
        TACIT_TRY(tacit_missing_counts_print(console, all->model, error));
    if (all->run_count == 1 && all->model != NULL && all->model->report != NULL)
        TACIT_TRY(tacit_report_show(console, all->model, NULL, error));
    return tacit_console_document(console, tacit_sweep_document(all), error);
}

/* Why some methods have no figures; the others' have been printed. */
static tacit_status tell_refusals(const tacit_sweep *all, tacit_console *console, tacit_error *error) {
    const tacit_error *first = NULL;
    for (size_t i = 0; i < all->run_count; i++) {
        tacit_error why = all->runs[i].failed;
        if (why.status == TACIT_OK) continue;
        /* which the program ends with */
        if (first == NULL)
            first = &all->runs[i].failed;
        else if (strcmp(why.text, first->text) != 0)
            tacit_console_warn(console, "%s", tacit_spell_options(why.text));
    }
    return first == NULL ? TACIT_OK : tacit_fail(error, first->status, "%s", first->text);
}

/* Last, so that a full disk takes only the model and not the figures. */
static tacit_status write_model(const tacit_sweep *all, const char *path, tacit_console *console,
                                tacit_error *error) {
    if (all->model == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "--out: method %s ends with a model for each party, not with one",
                          all->methods[0]->name);
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_output output;
    tacit_status status;
    tacit_guarantee_settle(&all->model->guarantee, all->partition.schema);
    TACIT_CHECK(tacit_model_print(all->model, &text, error));
    TACIT_CHECK(tacit_output_open(&output, path, NULL, MODEL_MODE, error));
    fwrite(text.bytes, 1, text.length, output.stream);
    TACIT_CHECK(tacit_output_close(&output, TACIT_OK, error));
    tacit_console_note(console, "wrote %s", path);
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status write_plot(const tacit_sweep *all, const char *path, tacit_console *console,
                               tacit_error *error) {
    size_t parties = all->partition.parties->parts;
    char note[256], lambda[32] = "chosen for each run";
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    if (all->plan.lambda > 0) snprintf(lambda, sizeof lambda, "%g", all->plan.lambda);
    snprintf(note, sizeof note,
             "%zu %s, %zu features, %zu test rows, lambda %s; %zu %s of noise, bars: one sd; seed %llu",
             parties, tacit_plural(parties, "party", "parties"), all->partition.data->features,
             all->partition.test.rows.count, lambda, all->plan.trials,
             tacit_plural(all->plan.trials, "draw", "draws"), (unsigned long long)all->plan.seed);
    TACIT_CHECK(tacit_sweep_plot(all->runs, all->run_count, note, &text, error));
    TACIT_CHECK(tacit_console_write_file(console, path, &text, error));
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status write_trace(const work *all, const char *path, tacit_console *console,
                                tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_trace_csv(&all->trace, &text, error));
    TACIT_CHECK(tacit_console_write_file(console, path, &text, error));
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status run_simulate(const tacit_arguments *arguments, tacit_console *console,
                                 tacit_error *error) {
    work all = { .sweep = TACIT_SWEEP_INIT, .trace = TACIT_TRACE_INIT };
    const char *out = tacit_arguments_text(arguments, "out");
    const char *plot = tacit_arguments_text(arguments, "plot");
    const char *trace = tacit_arguments_text(arguments, "trace");
    tacit_status status;
    TACIT_CHECK(read_plan(&all, arguments, error));
    TACIT_CHECK(run_sweep(&all, arguments, console, error));
    if (tacit_ranks_own(console->ranks) > 0) goto cleanup; /* rank 0 has the figures */
    TACIT_CHECK(report(&all.sweep, arguments, console, error));
    if (plot != NULL) TACIT_CHECK(write_plot(&all.sweep, plot, console, error));
    if (trace != NULL) TACIT_CHECK(write_trace(&all, trace, console, error));
    if (out != NULL) TACIT_CHECK(write_model(&all.sweep, out, console, error));
    TACIT_CHECK(tell_refusals(&all.sweep, console, error));
cleanup:
    tacit_trace_clear(&all.trace);
    tacit_sweep_clear(&all.sweep);
    tacit_schema_free(all.schema);
    tacit_dataset_free(all.test);
    tacit_dataset_free(all.aux);
    tacit_dataset_free(all.target);
    tacit_dataset_free(all.data);
    free(all.site);
    return status;
}

const tacit_command tacit_command_simulate = {
    .name = "simulate",
    .section = "Learning",
    .summary = "compare methods over simulated parties",
    .description =
        "Divides the rows of one file among many parties in this process, or gives each its own file "
        "(--party), runs each method at each epsilon as it would run between organisations, and prints how "
        "good the model is and what each party was "
        "charged. Training rows are divided once, and noise is drawn again in each trial. The time of a "
        "method's first epsilon includes the training of the parties' own models, which later ones reuse. A "
        "method that refuses keeps the others from nothing: the table is printed, then why, and the command "
        "fails.\n\n"
        "The noise is drawn fast and from a seed: good for comparing, not for publishing a model of private "
        "rows.\n\n"
        "Where parties and rows exceed one process or machine, mpirun (Open MPI) starts several: each rank "
        "reads the file, keeps the rows of its own parties and the public ones, and asks its parties; rank 0 "
        "runs the methods and prints. The same seed gives the same figures on any number of ranks. Declare a "
        "schema: without one each rank has to hold all rows once, to read bounds off them.",
    .options = tacit_simulate_options,
    .examples =
        (const tacit_example[]){
            { "Five clinics, three prices, beside pooling all rows and staying alone.",
              "tacit simulate --method batch,indiv,avg --train examples/breast_cancer.csv --schema "
              "examples/breast_cancer.schema.yaml --parties 5 --epsilon 1,2,5 --lambda 0.05 --trials 20" },
            { "Thirty parties label public points, each with a classifier of its own kind.",
              "tacit simulate --method vote,soft,soft-stat --train examples/breast_cancer.csv --schema "
              "examples/breast_cancer.schema.yaml --parties 30 --aux-fraction 0.2 --epsilon 1,3,10 --set "
              "local=logistic,tree,bayes" },
            { "The same as a figure.",
              "tacit simulate --method batch,indiv,avg --train examples/breast_cancer.csv --schema "
              "examples/breast_cancer.schema.yaml --parties 5 --epsilon 0.1,0.3,1,3,10,inf --trials 20 "
              "--plot sweep.svg" },
            { "Logistic regression of all rows with standard errors, from sums alone.",
              "tacit simulate --method estimate --train examples/breast_cancer.csv --schema "
              "examples/breast_cancer.schema.yaml --parties 5 --lambda 1e-4" },
            { "Four clinics with a file each, as they are.",
              "tacit simulate --method batch,indiv,dpnewton --party vienna.csv --party graz.csv --party "
              "linz.csv --party wels.csv --schema patients.yaml --epsilon 1 --delta 1e-5" },
            { "Keep a model.", "tacit simulate --method avg --train patients.csv --schema patients.yaml "
                               "--parties 10 --epsilon 1 --out model.json" },
            { "Four processes, on this machine or several, that share the parties and the rows.",
              "mpirun -n 4 tacit simulate --method vote --train kdd.csv --schema kdd.yaml --parties 20000 "
              "--aux-fraction 0.1 --epsilon 1 --threads 1" },
            { .text = NULL },
        },
    .takes_ranks = true,
    .run = run_simulate,
};
