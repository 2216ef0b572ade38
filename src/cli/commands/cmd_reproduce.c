/* tacit reproduce: a figure of a paper, run again and set beside the printed numbers. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/document/json_text.h"
#include "api/option/arguments.h"
#include "api/option/run_options.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/help/text_width.h"
#include "cli/print/reproduction.h"
#include "cli/process/program_identity.h"
#include "cli/row_reading.h"
#include "data/schema/text.h"
#include "lab/reproduce/verdict.h"

enum { FIGURE_MODE = 0644 }; /* made to be shared */

/* ---- list ---- */

static json_t *experiment_document(const tacit_experiment *experiment) {
    json_t *methods = json_array(), *files = json_array(), *setups = json_array(), *curves = json_array();
    json_t *printed = json_array(), *claims = json_array();
    for (const tacit_variant *curve = experiment->curves; curve->method != NULL; curve++) {
        methods = tacit_json_append(methods, json_string(curve->method));
        curves = tacit_json_append(curves, json_string(curve->label != NULL ? curve->label : curve->method));
    }
    for (const tacit_data_file *file = experiment->files; file != NULL && file->name != NULL; file++)
        files = tacit_json_append(files, json_pack("{s:s,s:s}", "name", file->name, "shape", file->shape));
    for (size_t i = 0; i < experiment->setup_count; i++)
        setups = tacit_json_append(setups, json_string(tacit_setup_name(&experiment->setups[i])));
    for (size_t i = 0; i < experiment->printed_count; i++) {
        const tacit_printed *one = &experiment->printed[i];
        printed =
            tacit_json_append(printed, json_pack("{s:s,s:s,s:o,s:o}", "setup",
                                                 tacit_setup_name(&experiment->setups[one->setup]), "curve",
                                                 one->curve, "epsilon", tacit_json_number(one->epsilon),
                                                 "value", tacit_json_number(one->value)));
    }
    for (size_t i = 0; i < experiment->claim_count; i++)
        claims = tacit_json_append(claims, json_string(experiment->claims[i].says));
    return json_pack("{s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "id", experiment->id, "paper",
                     experiment->paper, "figure", experiment->figure, "title", experiment->title, "methods",
                     methods, "files", files, "setups", setups, "curves", curves, "printed", printed,
                     "claims", claims);
}

static void print_needs(const tacit_console *console, const tacit_experiment *experiment) {
    tacit_wrap wrap = { .out = console->out, .width = console->width, .indent = 4 };
    fputc('\n', console->out);
    tacit_wrap_token(&wrap, "%s:", experiment->id);
    tacit_wrap_text(&wrap, experiment->source);
    for (const tacit_data_file *file = experiment->files; file != NULL && file->name != NULL; file++) {
        tacit_wrap_break(&wrap, 1);
        tacit_wrap_token(&wrap, "%s", file->name);
        tacit_wrap_token(&wrap, "(%s)", file->shape);
    }
    fputc('\n', console->out);
}

static tacit_status list_experiments(tacit_console *console, tacit_error *error) {
    static const tacit_grid_column columns[] = { { "id", TACIT_LEFT },
                                                 { "paper", TACIT_LEFT },
                                                 { "figure", TACIT_LEFT },
                                                 { "what it shows", TACIT_LEFT } };
    tacit_grid *grid = NULL;
    json_t *list = json_array();
    TACIT_TRY(tacit_grid_create(&grid, columns, sizeof columns / sizeof *columns, error));
    for (size_t i = 0; tacit_experiments[i] != NULL; i++) {
        tacit_grid_cell(grid, "%s", tacit_experiments[i]->id);
        tacit_grid_cell(grid, "%s", tacit_experiments[i]->paper);
        tacit_grid_cell(grid, "%s", tacit_experiments[i]->figure);
        tacit_grid_cell(grid, "%s", tacit_experiments[i]->title);
        list = tacit_json_append(list, experiment_document(tacit_experiments[i]));
    }
    tacit_status status = tacit_console_grid(console, grid, error);
    tacit_grid_free(grid);
    if (status != TACIT_OK) {
        json_decref(list);
        return status;
    }
    tacit_console_print(console,
                        "\nFiles are looked for in the folder that TACIT_DATA names, plain, .xz or .gz.\n");
    for (size_t i = 0; !console->json && tacit_experiments[i] != NULL; i++)
        print_needs(console, tacit_experiments[i]);
    return tacit_console_document(console, list, error);
}

/* ---- the figure ---- */

/* The path of the figure, and whether it can be written: said before the work. */
static tacit_status prepare_figure(char path[PATH_MAX], const char *folder,
                                   const tacit_experiment *experiment, tacit_error *error) {
    char name[64];
    snprintf(name, sizeof name, "%s.svg", experiment->id);
    TACIT_TRY(tacit_folder_make(folder, error));
    TACIT_TRY(tacit_path_join(path, PATH_MAX, folder, name, error));
    return tacit_file_check_writable(path, error);
}

static bool has_printed(const tacit_reproduction *result) {
    for (size_t i = 0; i < result->count; i++)
        if (!isnan(result->findings[i].printed)) return true;
    return false;
}

static tacit_status write_figure(tacit_console *console, const tacit_reproduction *result,
                                 const tacit_reproduce_options *options, const char *path,
                                 tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    char note[512];
    if (result->experiment->by_round)
        snprintf(note, sizeof note, "Run with Tacit: rounds of all parties, without noise; seed %llu.%s",
                 (unsigned long long)options->seed,
                 options->fraction < 1 ? " Only a fraction of parties and rows." : "");
    else
        snprintf(
            note, sizeof note,
            "Run again with Tacit: %zu %s of the rows, %zu of noise in each; bars: one sd; seed %llu.%s%s%s",
            options->effort.repeats, tacit_plural(options->effort.repeats, "draw", "draws"),
            options->effort.trials, (unsigned long long)options->seed,
            options->fraction < 1 ? " Only a fraction of parties and rows." : "",
            has_printed(result) ? " Circles: numbers in the paper's text." : "",
            result->used_private_statistics ? " Scaling used all training rows: not private."
            : result->stand_in != NULL      ? " Generated rows: the file is not there."
                                            : "");
    TACIT_CHECK(tacit_reproduction_plot(result, note, &text, error));
    TACIT_CHECK(tacit_file_write(path, text.bytes, text.length, FIGURE_MODE, error));
    tacit_console_note(console, "wrote %s", path);
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

/* ---- the command ---- */

/* Experiments whose setups are runs of their own may take hours: each figure is told as it comes. */
static void report_finding(void *context, const tacit_experiment *experiment, const tacit_finding *finding) {
    if (!experiment->own_rows) return;
    tacit_console_note(context, "%s, %s: %.4g", tacit_setup_name(&experiment->setups[finding->setup]),
                       finding->curve, finding->mean);
}

static void read_options(tacit_reproduce_options *out, const tacit_experiment *experiment,
                         const tacit_arguments *arguments, tacit_console *console) {
    *out = tacit_reproduce_defaults(experiment, tacit_arguments_flag(arguments, "full"));
    out->folder = getenv("TACIT_DATA");
    out->seed = tacit_run_options_seed(arguments);
    if (tacit_arguments_given(arguments, "trials"))
        out->effort.trials = (size_t)tacit_arguments_integer(arguments, "trials");
    if (tacit_arguments_given(arguments, "rows"))
        out->scale = strcmp(tacit_arguments_text(arguments, "rows"), "normalise") == 0
                         ? TACIT_ROWS_NORMALISED
                         : TACIT_ROWS_BY_LARGEST;
    if (tacit_arguments_given(arguments, "draws"))
        out->effort.repeats = (size_t)tacit_arguments_integer(arguments, "draws");
    if (strcmp(tacit_arguments_text(arguments, "text"), "plain") == 0) out->strip = TACIT_STRIP_FRAME;
    out->statistics_of_all = strcmp(tacit_arguments_text(arguments, "statistics"), "all") == 0;
    out->fraction = tacit_arguments_number(arguments, "fraction");
    out->only = tacit_arguments_text(arguments, "only");
    out->progress = tacit_console_progress(console);
    out->found = report_finding;
    out->found_context = console;
}

/* One experiment: run, and its figure drawn where a folder is named. */
static tacit_status run_experiment(tacit_reproduction **out, tacit_reproduce_options *options,
                                   const tacit_experiment *experiment, const tacit_arguments *arguments,
                                   tacit_console *console, tacit_error *error) {
    const char *folder = tacit_arguments_text(arguments, "out");
    tacit_reproduction *result = NULL;
    tacit_pool *pool = NULL;
    char path[PATH_MAX];
    tacit_status status;
    read_options(options, experiment, arguments, console);
    TACIT_CHECK(tacit_experiment_check(experiment, options->folder, error));
    if (folder != NULL) TACIT_CHECK(prepare_figure(path, folder, experiment, error));
    TACIT_CHECK(tacit_pool_create(&pool, tacit_run_options_threads(arguments), error));
    options->pool = pool;
    TACIT_CHECK(tacit_reproduce(&result, experiment, options, error));
    if (folder != NULL) TACIT_CHECK(write_figure(console, result, options, path, error));
    *out = result;
    result = NULL;
cleanup:
    options->pool = NULL;
    tacit_reproduction_free(result);
    tacit_pool_free(pool);
    return status;
}

static tacit_status run_one(const char *id, const tacit_arguments *arguments, tacit_console *console,
                            tacit_error *error) {
    const tacit_experiment *experiment = NULL;
    tacit_reproduction *result = NULL;
    tacit_reproduce_options chosen;
    tacit_status status;
    TACIT_CHECK(tacit_experiment_require(&experiment, id, error));
    if (tacit_arguments_given(arguments, "text") && !experiment->reads_texts)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "experiment %s reads no articles: leave --text out (it is for the newsgroups)",
                               id));
    TACIT_CHECK(run_experiment(&result, &chosen, experiment, arguments, console, error));
    TACIT_CHECK(tacit_reproduction_print(console, result, &chosen, error));
    TACIT_CHECK(tacit_console_document(console, tacit_reproduction_document(result, &chosen), error));
cleanup:
    tacit_reproduction_free(result);
    return status;
}

/* ---- all of them ---- */

/* What makes two runs of an experiment the same: a saved one with another is not taken up again. */
static json_t *run_key(const tacit_experiment *experiment, const tacit_reproduce_options *chosen) {
    return json_pack("{s:s,s:I,s:I,s:I,s:I,s:f,s:b,s:b,s:i,s:i}", "id", experiment->id, "seed",
                     (json_int_t)chosen->seed, "repeats", (json_int_t)chosen->effort.repeats, "trials",
                     (json_int_t)chosen->effort.trials, "test_rows", (json_int_t)chosen->effort.test_rows,
                     "fraction", chosen->fraction, "full", chosen->full, "statistics_of_all",
                     chosen->statistics_of_all, "scale", (int)chosen->scale, "strip", (int)chosen->strip);
}

static tacit_status saved_path(char path[PATH_MAX], const char *folder, const tacit_experiment *experiment,
                               tacit_error *error) {
    char name[64];
    snprintf(name, sizeof name, "%s.json", experiment->id);
    return tacit_path_join(path, PATH_MAX, folder, name, error);
}

/* Are a saved document's claims those of the experiment? Their reasons are brought up to date. */
static bool has_claims(json_t *figure, const tacit_experiment *experiment) {
    json_t *claims = json_object_get(figure, "claims");
    if (json_array_size(claims) != experiment->claim_count) return false;
    for (size_t c = 0; c < experiment->claim_count; c++) {
        json_t *one = json_array_get(claims, c);
        const char *says = json_string_value(json_object_get(one, "says")),
                   *verdict = json_string_value(json_object_get(one, "verdict"));
        if (says == NULL || verdict == NULL || strcmp(says, experiment->claims[c].says) != 0) return false;
        bool against = strcmp(verdict, tacit_paper_verdict_text(TACIT_PAPER_OTHERWISE)) == 0 ||
                       strcmp(verdict, tacit_paper_verdict_text(TACIT_PAPER_FAILS)) == 0;
        json_object_set_new(one, "why", against ? json_pack("s?", experiment->claims[c].why) : json_null());
    }
    return true;
}

/* The experiment's saved document, if there is one of the same run by this build; else NULL: it is run
 * again. A change of the program may change any figure, and its version says nothing of that. */
static json_t *find_saved(const char *path, const json_t *key, const char *build,
                          const tacit_experiment *experiment, tacit_console *console) {
    json_t *file = json_load_file(path, JSON_REJECT_DUPLICATES, NULL),
           *found = json_object_get(file, "figure"), *run = json_object_get(file, "run");
    const char *by = json_string_value(json_object_get(file, "build"));
    const bool ours = by != NULL && strcmp(by, build) == 0;
    json_object_del(run, "version"); /* earlier builds had it in place of "build" */
    bool same = json_equal(run, key);
    if (same && !ours)
        tacit_console_note(console, "%s: what is saved was recorded by another build of tacit: run again",
                           experiment->id);
    found = same && ours && has_claims(found, experiment) ? json_incref(found) : NULL;
    json_decref(file);
    return found;
}

static tacit_status save(const char *path, json_t *key, const char *build, json_t *document,
                         tacit_error *error) {
    json_t *file = json_pack("{s:O,s:s,s:O}", "run", key, "build", build, "figure", document);
    char *text = file != NULL ? json_dumps(file, JSON_INDENT(1)) : NULL;
    json_decref(file);
    if (text == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_file_write(path, text, strlen(text), FIGURE_MODE, error);
    free(text);
    return status;
}

/* Of an experiment that cannot be run: what is printed, and why. */
static json_t *not_run_document(const tacit_experiment *experiment, const char *why) {
    json_t *findings = json_array(), *claims = json_array();
    for (size_t i = 0; i < experiment->printed_count; i++) {
        const tacit_printed *one = &experiment->printed[i];
        findings = tacit_json_append(
            findings,
            json_pack("{s:s,s:s,s:o,s:o,s:s}", "setup", tacit_setup_name(&experiment->setups[one->setup]),
                      "curve", one->curve, "epsilon", tacit_json_number(one->epsilon), "printed",
                      tacit_json_number(one->value), "verdict", "not run"));
    }
    for (size_t i = 0; i < experiment->claim_count; i++)
        claims = tacit_json_append(
            claims, json_pack("{s:s,s:s}", "says", experiment->claims[i].says, "verdict", "not run"));
    return json_pack("{s:s,s:s,s:s,s:o,s:o,s:s}", "id", experiment->id, "paper", experiment->paper, "figure",
                     experiment->figure, "findings", findings, "claims", claims, "not_run", why);
}

/* Its document. An experiment that cannot be run, most often because its data are missing, says so in its
 * place: the others go on. */
static tacit_status run_of_all(json_t **out, const tacit_experiment *experiment,
                               const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *folder = tacit_arguments_text(arguments, "resume");
    tacit_reproduction *result = NULL;
    tacit_reproduce_options chosen;
    json_t *document = NULL, *key = NULL;
    char path[PATH_MAX], build[TACIT_BUILD_SIZE];
    tacit_error why = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    read_options(&chosen, experiment, arguments, console);
    key = run_key(experiment, &chosen);
    if (folder != NULL) {
        TACIT_CHECK(saved_path(path, folder, experiment, error));
        TACIT_CHECK(tacit_program_identity(build, error));
        document = find_saved(path, key, build, experiment, console);
    }
    if (document == NULL) {
        status = run_experiment(&result, &chosen, experiment, arguments, console, &why);
        if (status == TACIT_CANCELLED || status == TACIT_NO_MEMORY)
            TACIT_CHECK(tacit_fail(error, status, "%s: %s", experiment->id, why.text));
        bool ran = status == TACIT_OK;
        document =
            ran ? tacit_reproduction_document(result, &chosen) : not_run_document(experiment, why.text);
        status = document != NULL ? TACIT_OK : tacit_fail_memory(error);
        TACIT_CHECK(status);
        if (ran) json_object_set_new(document, "seconds", json_real(result->seconds));
        if (ran && folder != NULL) TACIT_CHECK(save(path, key, build, document, error));
    }
    *out = json_incref(document);
cleanup:
    tacit_reproduction_free(result);
    json_decref(document);
    json_decref(key);
    return status;
}

static size_t count_verdicts(const json_t *list, const char *verdict) {
    size_t count = 0, i;
    json_t *one;
    json_array_foreach(list, i, one) {
        const char *text = json_string_value(json_object_get(one, "verdict"));
        count += text != NULL && strcmp(text, verdict) == 0;
    }
    return count;
}

/* A line of the table: how many printed numbers and claims have each verdict. */
static void add_summary(tacit_grid *grid, const json_t *document) {
    static const char *const verdicts[] = { "as printed", "better", "not reproducible", "not run" };
    const json_t *findings = json_object_get(document, "findings"),
                 *claims = json_object_get(document, "claims");
    const char *missing = json_string_value(json_object_get(document, "not_run"));
    size_t held = count_verdicts(claims, "as printed") + count_verdicts(claims, "holds");
    size_t against = count_verdicts(claims, "not reproducible") + count_verdicts(claims, "does not hold");
    tacit_grid_cell(grid, "%s", json_string_value(json_object_get(document, "id")));
    for (size_t v = 0; v < sizeof verdicts / sizeof *verdicts; v++)
        tacit_grid_cell(grid, "%zu", count_verdicts(findings, verdicts[v]));
    if (missing != NULL)
        tacit_grid_cell(grid, "cannot be run");
    else
        tacit_grid_cell(grid, "%zu of %zu", held, held + against);
    tacit_grid_cell(grid, "%.0f", json_number_value(json_object_get(document, "seconds")));
}

static tacit_status print_summary(tacit_console *console, const json_t *figures, tacit_error *error) {
    static const tacit_grid_column columns[] = {
        { "experiment", TACIT_LEFT }, { "as printed", TACIT_RIGHT },
        { "better", TACIT_RIGHT },    { "not reproducible", TACIT_RIGHT },
        { "not run", TACIT_RIGHT },   { "claims that hold", TACIT_RIGHT },
        { "seconds", TACIT_RIGHT }
    };
    tacit_grid *grid = NULL;
    size_t i;
    json_t *one;
    TACIT_TRY(tacit_grid_create(&grid, columns, sizeof columns / sizeof *columns, error));
    json_array_foreach(figures, i, one) add_summary(grid, one);
    tacit_status status = tacit_console_grid(console, grid, error);
    tacit_grid_free(grid);
    json_array_foreach(figures, i, one) {
        const char *missing = json_string_value(json_object_get(one, "not_run"));
        if (missing != NULL)
            tacit_console_print(console, "%s: %s\n", json_string_value(json_object_get(one, "id")), missing);
    }
    return status;
}

/* Those that are named, or all of them where `ids` is NULL: one document. */
static tacit_status run_several(const char *const *ids, size_t count, const tacit_arguments *arguments,
                                tacit_console *console, tacit_error *error) {
    const char *folder = tacit_arguments_text(arguments, "resume");
    json_t *figures = json_array();
    tacit_status status = TACIT_OK;
    if (tacit_arguments_given(arguments, "only"))
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "--only names a setup of one experiment: leave it out"));
    for (size_t i = 0; i < count; i++) { /* said before the work */
        const tacit_experiment *known = NULL;
        TACIT_CHECK(tacit_experiment_require(&known, ids[i], error));
    }
    if (folder != NULL) TACIT_CHECK(tacit_folder_make(folder, error));
    for (size_t i = 0; ids != NULL ? i < count : tacit_experiments[i] != NULL; i++) {
        const tacit_experiment *experiment = ids == NULL ? tacit_experiments[i] : NULL;
        json_t *document = NULL;
        if (experiment == NULL) TACIT_CHECK(tacit_experiment_require(&experiment, ids[i], error));
        tacit_console_note(console, "%s", experiment->id);
        TACIT_CHECK(run_of_all(&document, experiment, arguments, console, error));
        figures = tacit_json_append(figures, document);
    }
    TACIT_CHECK(print_summary(console, figures, error));
    TACIT_CHECK(tacit_console_document(
        console, json_pack("{s:s,s:O}", "version", tacit_version(), "figures", figures), error));
cleanup:
    json_decref(figures);
    return status;
}

static tacit_status run_reproduce(const tacit_arguments *arguments, tacit_console *console,
                                  tacit_error *error) {
    size_t count = 0;
    const char *const *ids = tacit_arguments_operands(arguments, "ID", &count);
    if (count > 1) return run_several(ids, count, arguments, console, error);
    if (strcmp(ids[0], "list") == 0) return list_experiments(console, error);
    if (strcmp(ids[0], "all") == 0) return run_several(NULL, 0, arguments, console, error);
    if (tacit_arguments_given(arguments, "resume")) return run_several(ids, count, arguments, console, error);
    return run_one(ids[0], arguments, console, error);
}

static const tacit_option options[] = {
    { .name = "full",
      .kind = TACIT_OPTION_FLAG,
      .help = "as many draws of rows and noise as in the paper; without it a shorter run" },
    TACIT_OPTION_SEED,
    { .name = "trials",
      .kind = TACIT_OPTION_INTEGER,
      .placeholder = "T",
      .rules = TACIT_RULE_RANGE,
      .least = 1,
      .most = 1000000,
      .help = "how often noise is drawn for each draw of the rows; the experiment's number by default" },
    { .name = "only",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "SETUP",
      .help = "of all setups only that of this name, as the table has it: SimuX100 of wang-table51" },
    { .name = "out",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FOLDER",
      .help = "write the figure there, as ID.svg" },
    { .name = "statistics",
      .kind = TACIT_OPTION_CHOICE,
      .placeholder = "auxiliary|all",
      .fallback = "auxiliary",
      .help = "rows from which principal components and largest norms are computed: the public auxiliary "
              "ones, or all training rows, which is not private" },
    { .name = "draws",
      .kind = TACIT_OPTION_INTEGER,
      .placeholder = "N",
      .rules = TACIT_RULE_RANGE,
      .least = 1,
      .most = 100000,
      .help = "how often the rows are drawn and divided; the experiment's number by default" },
    { .name = "text",
      .kind = TACIT_OPTION_CHOICE,
      .placeholder = "stripped|plain",
      .fallback = "stripped",
      .help = "articles of newsgroups without header, signature and quoted lines, or with the quoted lines" },
    { .name = "rows",
      .kind = TACIT_OPTION_CHOICE,
      .placeholder = "normalise|scale",
      .help = "bring rows into the unit ball one by one, or all by the largest norm; the experiment's way by "
              "default" },
    { .name = "fraction",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "F",
      .fallback = "1",
      .rules = TACIT_RULE_RANGE | TACIT_RULE_ABOVE,
      .least = 0,
      .most = 1,
      .help = "of the parties, auxiliary rows and test rows; a look at the experiment rather than a "
              "reproduction" },
    TACIT_OPTION_THREADS,
    { .name = "resume",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FOLDER",
      .help = "save each experiment there as it ends, as ID.json, and do not run again those that this build "
              "of tacit has saved there already" },
    { .name = NULL },
};

const tacit_command tacit_command_reproduce = {
    .name = "reproduce",
    .section = "Learning",
    .summary = "run a paper's figure again, beside its printed numbers",
    .description =
        "Runs an experiment of a paper on the data it used, or on a stand-in where those cannot "
        "be had, and prints "
        "our figures beside the numbers that the paper's text gives; a dash means that it gives "
        "none. It also says "
        "where our experiment differs from the paper's.\n\n"
        "The data are not part of Tacit. The environment variable TACIT_DATA names the folder "
        "that holds them; 'tacit "
        "reproduce list' says which files each experiment wants and where they can be had. "
        "Simulated data need no "
        "files.\n\n"
        "A printed number is called as printed where ours is no further off than .02, or than two standard "
        "deviations up to .05, better where it is beyond that on the good side, and else not reproducible, "
        "with the reason. "
        "What the paper says in words is checked on the means where it can be put as one curve above "
        "another. 'tacit reproduce all' runs every experiment; one whose data are missing says so, and the "
        "others go on.",
    .operands =
        (const tacit_operand[]){
            { "ID", 1, UINT_MAX,
              "an experiment, such as hamm-fig2, or several; or the word list; or all, for every experiment "
              "in turn" },
            { .name = NULL },
        },
    .options = options,
    .examples =
        (const tacit_example[]){
            { "See what there is.", "tacit reproduce list" },
            { "Simulated data: no files needed.", "tacit reproduce rajkumar-fig1 --seed 1" },
            { "With a figure.", "TACIT_DATA=data tacit reproduce hamm-fig2 --seed 1 --out figures" },
            { "All draws of the paper.", "TACIT_DATA=data tacit reproduce hamm-fig3 --full" },
            { "One data set of a table.",
              "TACIT_DATA=data tacit reproduce wang-table51 --full --only SimuX100" },
            { "Everything, for hours; the same command goes on after an interruption.",
              "TACIT_DATA=data tacit reproduce all --full --seed 1 --resume saved --json" },
            { .text = NULL },
        },
    .run = run_reproduce,
};
