/* tacit simulate: methods x epsilons x trials over parties made from one file. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/chance.h"
#include "cli/commands.h"
#include "cli/deal.h"
#include "cli/looks.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "cli/runs.h"
#include "cli/summary.h"
#include "lab/sweep_plot.h"

/* A model, or a chart, is made to be shared. */
enum { MODEL_MODE = 0644 };

/* Everything that is taken down at the end. */
typedef struct work {
    const tacit_method **methods;
    tacit_choice *settings;
    tacit_deal deal;
    tacit_pool *pool;
    tacit_run *runs;
    size_t run_count;
    tacit_model *model;
    tacit_trace trace;
    tacit_simulation plan;
    tacit_stop stop;
    json_t *looks; /* what each found; NULL: there is no target */
} work;

static tacit_status read_methods(work *all, const tacit_arguments *arguments, tacit_error *error) {
    size_t count = 0;
    const char *const *names = tacit_arguments_words(arguments, "method", &count);
    all->methods = TACIT_NEW(const tacit_method *, count);
    if (all->methods == NULL) return tacit_fail_memory(error);
    for (size_t m = 0; m < count; m++) TACIT_TRY(tacit_method_require(&all->methods[m], names[m], error));
    all->plan.methods = all->methods;
    all->plan.method_count = count;
    return TACIT_OK;
}

static tacit_status read_settings(work *all, const tacit_arguments *arguments, tacit_error *error) {
    size_t count = 0;
    const tacit_setting *given = tacit_arguments_settings(arguments, "set", &count);
    all->settings = TACIT_NEW(tacit_choice, count);
    if (all->settings == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < count; i++) all->settings[i] = (tacit_choice){ given[i].key, given[i].value };
    all->plan.settings = all->settings;
    all->plan.setting_count = count;
    return TACIT_OK;
}

static tacit_status read_trace(work *all, const tacit_arguments *arguments, tacit_error *error) {
    for (size_t m = 0; m < all->plan.method_count; m++)
        if (tacit_trace_applies(all->methods[m])) all->plan.trace = &all->trace;
    if (all->plan.trace == NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "--trace follows the rounds of methods without a centre (consensus, gossip, extra), "
            "and none of these is to run");
    return tacit_file_check_writable(tacit_arguments_text(arguments, "trace"), error);
}

static tacit_status read_stop(work *all, const tacit_arguments *arguments, tacit_error *error) {
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

/* What can be said before any row is read. */
static tacit_status read_plan(work *all, const tacit_arguments *arguments, tacit_error *error) {
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
    if (tacit_arguments_given(arguments, "schema") && tacit_arguments_flag(arguments, "bounds-from-data"))
        return tacit_fail(error, TACIT_USAGE,
                          "--schema declares the bounds and --bounds-from-data reads them off the rows: "
                          "give one of the two");
    if (tacit_arguments_given(arguments, "text") && tacit_arguments_given(arguments, "schema"))
        return tacit_fail(error, TACIT_USAGE,
                          "--text: the schema says which columns are texts; leave --text out");
    if (tacit_arguments_given(arguments, "text") && !tacit_arguments_flag(arguments, "bounds-from-data"))
        return tacit_fail(error, TACIT_USAGE,
                          "--text reads bounds and a vocabulary off the rows, which is not private: say that "
                          "this is meant with "
                          "--bounds-from-data, or declare a text column in a schema");
    if (tacit_arguments_given(arguments, "test") && tacit_arguments_given(arguments, "test-fraction"))
        return tacit_fail(error, TACIT_USAGE, "give either --test or --test-fraction");
    if (tacit_arguments_given(arguments, "aux") && tacit_arguments_given(arguments, "aux-fraction"))
        return tacit_fail(error, TACIT_USAGE, "give either --aux or --aux-fraction");
    if (tacit_arguments_given(arguments, "out") && tacit_simulation_runs(plan) != 1)
        return tacit_fail(error, TACIT_USAGE,
                          "--out writes the model of one method at one epsilon, and this sweep has %zu",
                          tacit_simulation_runs(plan));
    TACIT_TRY(read_stop(all, arguments, error));
    if (tacit_arguments_given(arguments, "plot")) /* said now, not after an hour's work */
        TACIT_TRY(tacit_file_check_writable(tacit_arguments_text(arguments, "plot"), error));
    return tacit_arguments_given(arguments, "trace") ? read_trace(all, arguments, error) : TACIT_OK;
}

/* What several ranks need beside one: the same seed, and nothing that looks at all rows or models at once. */
static tacit_status settle_ranks(work *all, tacit_ranks *ranks, tacit_error *error) {
    tacit_buffer seed = TACIT_BUFFER_INIT;
    if (tacit_ranks_count(ranks) > 1 && (all->plan.trace != NULL || all->stop.target != TACIT_TARGET_NONE))
        return tacit_fail(error, TACIT_USAGE,
                          "--trace, and --stop with a target, work in one process: start it without mpirun");
    tacit_status status = tacit_buffer_append(&seed, &all->plan.seed, sizeof all->plan.seed, error);
    if (status == TACIT_OK) status = tacit_ranks_spread(ranks, &seed, error);
    if (status == TACIT_OK) memcpy(&all->plan.seed, seed.bytes, sizeof all->plan.seed);
    tacit_buffer_clear(&seed);
    return status;
}

static tacit_status run_sweep(work *all, const tacit_arguments *arguments, tacit_console *console,
                              tacit_error *error) {
    unsigned threads = tacit_chance_threads(arguments);
    if (threads == 0) threads = tacit_ranks_threads(console->ranks);
    TACIT_TRY(settle_ranks(all, console->ranks, error));
    TACIT_TRY(tacit_deal_make(&all->deal, arguments, console, all->plan.seed, error));
    TACIT_TRY(tacit_pool_create(&all->pool, threads, error));
    all->run_count = tacit_simulation_runs(&all->plan);
    all->runs = TACIT_NEW(tacit_run, all->run_count);
    if (all->runs == NULL) return tacit_fail_memory(error);
    all->plan.dataset = all->deal.data;
    all->plan.schema = all->deal.schema;
    all->plan.split = all->deal.parties;
    all->plan.test = all->deal.test;
    all->plan.auxiliary = all->deal.auxiliary;
    if (all->deal.target_data != NULL) all->plan.target = tacit_dataset_view(all->deal.target_data);
    all->plan.range = all->deal.range;
    all->plan.pool = all->pool;
    all->plan.progress = tacit_console_progress(console);
    if (all->stop.target == TACIT_TARGET_NONE)
        return tacit_simulate(&all->plan, all->runs, &all->model, error);
    return tacit_looks_run(&all->looks, &all->stop, &all->plan, all->deal.parties, all->runs, &all->model,
                           console, error);
}

static void print_remarks(const work *all, const tacit_arguments *arguments, tacit_console *console) {
    if (all->deal.data->bounds_from_data && !tacit_arguments_flag(arguments, "bounds-from-data"))
        tacit_console_warn(console,
                           "no schema was given, so bounds, levels and classes were read off the rows: fine "
                           "for a simulation, but not private (--schema FILE, or --bounds-from-data to say "
                           "that this is meant)");
    if (all->deal.empty_groups > 0)
        tacit_console_note(console, "%zu %s no training rows and %s no part", all->deal.empty_groups,
                           tacit_plural(all->deal.empty_groups, "group has", "groups have"),
                           tacit_plural(all->deal.empty_groups, "takes", "take"));
    bool noisy = false;
    for (size_t i = 0; i < all->run_count; i++) {
        const tacit_run *run = &all->runs[i];
        noisy = noisy || isfinite(run->epsilon);
        if (run->refusals > 0)
            tacit_console_note(console, "%s: %zu of %zu parties refused, the first because %s",
                               run->method->name, run->refusals, all->deal.parties->parts, run->refusal);
    }
    if (noisy && all->plan.trials == 1)
        tacit_console_note(console,
                           "one trial: the noise was drawn once, so no spread is known (--trials T)");
}

static tacit_status report(const work *all, const tacit_arguments *arguments, tacit_console *console,
                           tacit_error *error) {
    size_t least, most, parties = all->deal.parties->parts, tests = all->deal.test.rows.count;
    char rows[64], points[64] = "", lambda[64] = "lambda chosen for each run";
    tacit_deal_range(&all->deal, &least, &most);
    if (all->deal.auxiliary.rows.count > 0)
        snprintf(points, sizeof points, "; %zu public points", all->deal.auxiliary.rows.count);
    if (all->plan.lambda > 0) snprintf(lambda, sizeof lambda, "lambda %g", all->plan.lambda);
    snprintf(rows, sizeof rows, least == most ? "%zu" : "%zu to %zu", least, most);
    print_remarks(all, arguments, console);
    tacit_console_print(console, "%zu %s of %s rows, %zu features%s; %zu test rows; %s; seed %llu\n\n",
                        parties, tacit_plural(parties, "party", "parties"), rows, all->deal.data->features,
                        points, tests, lambda, (unsigned long long)all->plan.seed);
    TACIT_TRY(tacit_runs_print(console, all->runs, all->run_count, all->plan.lambda == 0, error));
    json_t *document = tacit_runs_document(all->runs, all->run_count, all->plan.seed);
    if (all->run_count == 1 && all->model != NULL && all->model->estimates != NULL) {
        tacit_summary_print(console, all->model);
        if (document != NULL) json_object_set_new(document, "summary", tacit_summary_document(all->model));
    }
    if (document != NULL && all->looks != NULL) json_object_set(document, "looks", all->looks);
    return tacit_console_document(console, document, error);
}

/* Last, so that a full disk takes only the model and not the figures. */
static tacit_status write_model(work *all, const char *path, tacit_console *console, tacit_error *error) {
    if (all->model == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "--out: method %s ends with a model for each party, not with one",
                          all->methods[0]->name);
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_output output;
    tacit_status status;
    TACIT_CHECK(tacit_model_describe(all->model, &all->deal.data->classes, all->deal.schema, error));
    TACIT_CHECK(tacit_model_print(all->model, &text, error));
    TACIT_CHECK(tacit_output_open(&output, path, NULL, MODEL_MODE, error));
    fwrite(text.bytes, 1, text.length, output.stream);
    TACIT_CHECK(tacit_output_close(&output, TACIT_OK, error));
    tacit_console_note(console, "wrote %s", path);
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status write_plot(const work *all, const char *path, tacit_console *console,
                               tacit_error *error) {
    size_t parties = all->deal.parties->parts;
    char note[256];
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    snprintf(note, sizeof note,
             "%zu %s, %zu features, %zu test rows, lambda %g; %zu %s of noise, bars: one sd; seed %llu",
             parties, tacit_plural(parties, "party", "parties"), all->deal.data->features,
             all->deal.test.rows.count, all->plan.lambda, all->plan.trials,
             tacit_plural(all->plan.trials, "draw", "draws"), (unsigned long long)all->plan.seed);
    TACIT_CHECK(tacit_sweep_plot(all->runs, all->run_count, note, &text, error));
    TACIT_CHECK(tacit_file_write(path, text.bytes, text.length, MODEL_MODE, error));
    tacit_console_note(console, "wrote %s", path);
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status write_trace(const work *all, const char *path, tacit_console *console,
                                tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_trace_csv(&all->trace, &text, error));
    TACIT_CHECK(tacit_file_write(path, text.bytes, text.length, MODEL_MODE, error));
    tacit_console_note(console, "wrote %s", path);
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status run_simulate(const tacit_arguments *arguments, tacit_console *console,
                                 tacit_error *error) {
    work all = { .deal = TACIT_DEAL_INIT, .trace = TACIT_TRACE_INIT };
    const char *out = tacit_arguments_text(arguments, "out");
    const char *plot = tacit_arguments_text(arguments, "plot");
    const char *trace = tacit_arguments_text(arguments, "trace");
    tacit_status status;
    TACIT_CHECK(read_plan(&all, arguments, error));
    TACIT_CHECK(run_sweep(&all, arguments, console, error));
    if (tacit_ranks_own(console->ranks) > 0) goto cleanup; /* rank 0 has the figures */
    TACIT_CHECK(report(&all, arguments, console, error));
    if (plot != NULL) TACIT_CHECK(write_plot(&all, plot, console, error));
    if (trace != NULL) TACIT_CHECK(write_trace(&all, trace, console, error));
    if (out != NULL) TACIT_CHECK(write_model(&all, out, console, error));
cleanup:
    json_decref(all.looks);
    tacit_trace_clear(&all.trace);
    tacit_model_free(all.model);
    free(all.runs);
    tacit_pool_free(all.pool);
    tacit_deal_clear(&all.deal);
    free(all.settings);
    free(all.methods);
    return status;
}

static const tacit_option options[] = {
    { .name = "method",
      .kind = TACIT_OPTION_WORDS,
      .placeholder = "NAMES",
      .rules = TACIT_RULE_REQUIRED,
      .help = "one or more of 'tacit methods', parted by commas" },
    { .name = "train",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FILE",
      .rules = TACIT_RULE_REQUIRED,
      .help = "the rows that the parties share out" },
    { .name = "schema",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FILE",
      .help = "what is publicly known about the columns; without it bounds are read off the rows, with a "
              "warning that this is not private" },
    { .name = "bounds-from-data",
      .kind = TACIT_OPTION_FLAG,
      .help = "say that reading bounds off the rows is meant" },
    TACIT_OPTION_RESPONSE,
    TACIT_OPTIONS_TEXT,
    { .name = "test",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FILE",
      .help = "rows to evaluate on; else some of --train are held out" },
    { .name = "test-fraction",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "F",
      .rules = TACIT_RULE_RANGE | TACIT_RULE_ABOVE | TACIT_RULE_BELOW,
      .least = 0,
      .most = 1,
      .help = "how many of --train are held out; 0.2 unless told" },
    { .name = "aux",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FILE",
      .help =
          "public auxiliary points for methods that ask parties to label them; a label column is not read" },
    { .name = "aux-fraction",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "F",
      .rules = TACIT_RULE_RANGE | TACIT_RULE_ABOVE | TACIT_RULE_BELOW,
      .least = 0,
      .most = 1,
      .help = "the same from --train: this part of its rows counts as public" },
    { .name = "target",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FILE",
      .help = "rows of whoever runs the coordinator, for methods that transfer from sources to a target" },
    { .name = "parties",
      .kind = TACIT_OPTION_INTEGER,
      .placeholder = "M",
      .rules = TACIT_RULE_RANGE,
      .least = 1,
      .most = 100000000,
      .help = "how many parties; --split may say it instead" },
    { .name = "split",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "SPLIT",
      .fallback = "even",
      .help = "how rows are dealt out: even; dirichlet:A (sizes from a symmetric Dirichlet); fractions such "
              "as 0.5,0.3,0.2; by:COLUMN (a party for each value)" },
    { .name = "together",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "COLUMN",
      .help =
          "rows with the same value, such as those of one account, stay together: whole accounts are held "
          "out for testing and dealt out to parties" },
    { .name = "undersample",
      .kind = TACIT_OPTION_SETTING,
      .placeholder = "CLASS=SHARE",
      .help = "keep each row of this class with that chance, before anything else is done; with --together, "
              "each account that has rows of no other class" },
    { .name = "epsilon",
      .kind = TACIT_OPTION_NUMBERS,
      .placeholder = "E1,E2,...",
      .rules = TACIT_RULE_RANGE | TACIT_RULE_ABOVE | TACIT_RULE_INFINITE,
      .least = 0,
      .most = INFINITY,
      .help = "privacy losses to try; inf is without noise. Needed unless every method is noise-free" },
    { .name = "delta",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "D",
      .fallback = "0",
      .rules = TACIT_RULE_RANGE | TACIT_RULE_BELOW,
      .least = 0,
      .most = 1,
      .help = "for methods whose guarantee has one" },
    TACIT_OPTION_FRACTIONS,
    { .name = "lambda",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "L",
      .rules = TACIT_RULE_RANGE | TACIT_RULE_ABOVE,
      .least = 0,
      .most = INFINITY,
      .help = "weight of the regulariser (lambda/2)|w|^2; unless told each method chooses one from public "
              "quantities, or takes 0.01" },
    { .name = "minimum-rows",
      .kind = TACIT_OPTION_INTEGER,
      .placeholder = "N",
      .rules = TACIT_RULE_RANGE,
      .least = 1,
      .most = 4294967295,
      .help = "a party with fewer rows refuses, and sensitivities are those of N rows; what the smallest "
              "party has unless told" },
    { .name = "trials",
      .kind = TACIT_OPTION_INTEGER,
      .placeholder = "T",
      .fallback = "1",
      .rules = TACIT_RULE_RANGE,
      .least = 1,
      .most = 1000000,
      .help = "how often noise is drawn; figures are means and standard deviations over trials" },
    TACIT_OPTION_SEED,
    { .name = "set",
      .kind = TACIT_OPTION_SETTING,
      .placeholder = "NAME=VALUE",
      .help = "a setting of a method, see 'tacit methods'" },
    TACIT_OPTION_THREADS,
    { .name = "out",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "MODEL",
      .help = "write the model of the first trial; with one method and one epsilon" },
    { .name = "plot",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FILE.svg",
      .help =
          "draw accuracy against 1/epsilon, with bars of one standard deviation; methods without noise are "
          "dashed lines" },
    { .name = "trace",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FILE.csv",
      .help = "write how far the parties are from each other and from the pooled optimum after every round, "
              "for methods without a centre" },
    { .name = "stop",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "RULES",
      .help = "when there is enough, as 'stop' in a study's definition: {rounds: 20}, {converged: 1e-4}, or "
              "{se: {column: age, at_most: 0.01}, looks: 5, more: 4}; --parties are then those of the last "
              "look" },
    TACIT_OPTIONS_READING,
    { .name = NULL },
};

const tacit_command tacit_command_simulate = {
    .name = "simulate",
    .section = "Learning",
    .summary = "compare methods over simulated parties",
    .description =
        "Deals the rows of one file out to many parties in this process, runs each method at each epsilon "
        "as it would run between organisations, and prints how good the model is and what each party was "
        "charged. Training rows are dealt out once and noise is drawn anew in each trial. The time of a "
        "method's first epsilon includes the training of the parties' own models, which later ones reuse.\n\n"
        "The noise is drawn fast and from a seed: good for comparing, not for publishing a model of private "
        "rows.\n\n"
        "Where parties and rows exceed one process or machine, mpirun (Open MPI) starts several: each rank "
        "reads the file, keeps the rows of its own parties and the public ones, and asks its parties; rank 0 "
        "runs the methods and prints. The same seed gives the same figures on any number of ranks. Declare a "
        "schema: without one each rank has to hold all rows once, to read bounds off them.",
    .options = options,
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
              "--plot "
              "sweep.svg" },
            { "Logistic regression of all rows with standard errors, from sums alone.",
              "tacit simulate --method estimate --train examples/breast_cancer.csv --schema "
              "examples/breast_cancer.schema.yaml --parties 5 --lambda 1e-4" },
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
