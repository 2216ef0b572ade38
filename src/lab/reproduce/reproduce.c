#include "lab/reproduce/reproduce.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"

#define TACIT_EXPERIMENT_ENTRY(name) &tacit_experiment_##name,
const tacit_experiment *const tacit_experiments[] = { TACIT_EXPERIMENTS(TACIT_EXPERIMENT_ENTRY) NULL };
#undef TACIT_EXPERIMENT_ENTRY

tacit_status tacit_experiment_require(const tacit_experiment **out, const char *id, tacit_error *error) {
    char known[600] = "";
    for (size_t i = 0; tacit_experiments[i] != NULL; i++) {
        if (strcmp(tacit_experiments[i]->id, id) == 0) {
            *out = tacit_experiments[i];
            return TACIT_OK;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", tacit_experiments[i]->id);
    }
    return tacit_fail(error, TACIT_USAGE, "there is no experiment '%s'; there are: %s", id, known);
}

tacit_reproduce_options tacit_reproduce_defaults(const tacit_experiment *experiment, bool full) {
    return (tacit_reproduce_options){ .effort = full ? experiment->full : experiment->quick,
                                      .fraction = 1,
                                      .full = full,
                                      .scale = experiment->scale,
                                      .strip = TACIT_STRIP_NEWS };
}

tacit_reproduction *tacit_reproduction_free(tacit_reproduction *reproduction) {
    if (reproduction == NULL) return NULL;
    free(reproduction->findings);
    tacit_trace_clear(&reproduction->trace);
    free(reproduction);
    return NULL;
}

/* ---- one reproduction under way ---- */

typedef struct lab_work {
    const tacit_experiment *experiment;
    const tacit_reproduce_options *options;
    tacit_stream root;
    const tacit_method **methods;
    size_t method_count, run_count; /* runs in one setup */
    tacit_run *runs;
    tacit_reproduction *out;
    tacit_material raw, ready;
    uint32_t *order;        /* training rows: those of parties, then auxiliary ones, then held-out ones */
    uint32_t *chosen_tests; /* rows of ready.test, when not all are used */
    size_t party_rows, dealt_rows; /* that parties may have, and that those of the largest setup do have */
    size_t auxiliary_rows, held_out_rows;
    tacit_view test, auxiliary; /* of the rows that are ready */
    tacit_progress progress;    /* parts of the whole, for simulations */
    double done, share;         /* of the whole: before this part, and what this part is worth */
    char part[48];
} lab_work;

static size_t fraction_of(const lab_work *work, size_t count, size_t least) {
    size_t some = (size_t)floor((double)count * work->options->fraction + 0.5);
    return some < least ? (least < count ? least : count) : some;
}

static size_t parties_of(const lab_work *work, const tacit_setup *setup) {
    bool may_shrink = work->experiment->rows_each > 0; /* else the parties share all rows and are few */
    return may_shrink ? fraction_of(work, setup->parties, 2) : setup->parties;
}

static tacit_adjustment adjustment_of(const lab_work *work, const tacit_setup *setup) {
    const tacit_experiment *experiment = work->experiment;
    static const tacit_adjustment none = { { NULL, NULL }, 0 };
    return experiment->adjustments != NULL ? experiment->adjustments[setup - experiment->setups] : none;
}

/* Rows that the parties of a setup must have at least; all of them, if the experiment says how many. */
static size_t rows_of(const lab_work *work, const tacit_setup *setup) {
    size_t each = work->experiment->rows_each;
    size_t all = adjustment_of(work, setup).rows;
    if (all > 0) return fraction_of(work, all, setup->parties);
    return parties_of(work, setup) * (each > 0 ? each : 1);
}

static bool says_rows(const lab_work *work, const tacit_setup *setup) {
    return work->experiment->rows_each > 0 || adjustment_of(work, setup).rows > 0;
}

static double seconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- progress ---- */

enum { WHOLE = 1000000 };

static void report_part(void *context, const char *stage, uint64_t done, uint64_t total) {
    const lab_work *work = context;
    char name[96];
    double at = work->done + (total > 0 ? work->share * (double)done / (double)total : 0);
    snprintf(name, sizeof name, "%s%s", work->part, stage);
    tacit_progress_report(work->options->progress, name, (uint64_t)(at * WHOLE), WHOLE);
}

static bool is_cancelled(void *context) {
    return tacit_progress_cancelled(((const lab_work *)context)->options->progress);
}

const char *tacit_setup_name(const tacit_setup *setup) {
    return setup->name != NULL ? setup->name : setup->panel;
}

static bool is_chosen(const lab_work *work, size_t setup) {
    const char *only = work->options->only;
    return only == NULL || strcmp(tacit_setup_name(&work->experiment->setups[setup]), only) == 0;
}

/* Setups are weighed by their parties. */
static double share_of(const lab_work *work, size_t setup) {
    double all = 0;
    for (size_t s = 0; s < work->experiment->setup_count; s++)
        if (is_chosen(work, s)) all += (double)work->experiment->setups[s].parties;
    return (double)work->experiment->setups[setup].parties / all / (double)work->options->effort.repeats;
}

/* ---- what can be said before the work ---- */

tacit_status tacit_experiment_check(const tacit_experiment *experiment, const char *folder,
                                    tacit_error *error) {
    for (size_t m = 0; experiment->curves[m].method != NULL; m++) {
        const tacit_method *method;
        tacit_status status = tacit_method_require(&method, experiment->curves[m].method, error);
        if (status != TACIT_OK) return tacit_fail_in(error, status, "experiment %s", experiment->id);
    }
    for (const tacit_data_file *file = experiment->files; file != NULL && file->name != NULL; file++) {
        char path[PATH_MAX];
        TACIT_TRY(tacit_data_find(path, sizeof path, folder, file, error));
    }
    return TACIT_OK;
}

static tacit_status find_methods(lab_work *work, tacit_error *error) {
    const tacit_experiment *experiment = work->experiment;
    while (experiment->curves[work->method_count].method != NULL) work->method_count++;
    work->methods = TACIT_NEW(const tacit_method *, work->method_count);
    if (work->methods == NULL) return tacit_fail_memory(error);
    for (size_t m = 0; m < work->method_count; m++) {
        work->methods[m] = tacit_method_find(experiment->curves[m].method);
        bool once = tacit_variant_epsilon(work->methods[m], &experiment->curves[m]) > 0;
        work->run_count += once ? 1 : experiment->epsilon_count;
    }
    return TACIT_OK;
}

static const char *label_of(const tacit_variant *curve) {
    return curve->label != NULL ? curve->label : curve->method;
}

static double printed_value(const tacit_experiment *experiment, size_t setup, const char *curve,
                            double epsilon) {
    for (size_t p = 0; p < experiment->printed_count; p++) {
        const tacit_printed *one = &experiment->printed[p];
        if (one->setup == setup && one->epsilon == epsilon && strcmp(one->curve, curve) == 0)
            return one->value;
    }
    return NAN;
}

static bool is_run(const lab_work *work, const tacit_printed *printed) {
    for (size_t m = 0; m < work->method_count; m++) {
        if (strcmp(label_of(&work->experiment->curves[m]), printed->curve) != 0) continue;
        double only = tacit_variant_epsilon(work->methods[m], &work->experiment->curves[m]);
        if (only > 0) return printed->epsilon == only;
        for (size_t e = 0; e < work->experiment->epsilon_count; e++)
            if (work->experiment->epsilons[e] == printed->epsilon) return true;
    }
    return false;
}

/* The table to fill: of each setup the runs in order, then what is printed of methods that do not run. */
static tacit_status lay_out(lab_work *work, tacit_error *error) {
    const tacit_experiment *experiment = work->experiment;
    tacit_reproduction *out = work->out;
    out->findings =
        TACIT_NEW(tacit_finding, experiment->setup_count * work->run_count + experiment->printed_count);
    work->runs = TACIT_NEW(tacit_run, work->run_count);
    if (out->findings == NULL || work->runs == NULL) return tacit_fail_memory(error);
    for (size_t s = 0; s < experiment->setup_count; s++)
        for (size_t m = 0; m < work->method_count; m++) {
            const tacit_method *method = work->methods[m];
            double only = tacit_variant_epsilon(method, &experiment->curves[m]);
            for (size_t e = 0; e < (only > 0 ? 1 : experiment->epsilon_count); e++) {
                double epsilon = only > 0 ? only : experiment->epsilons[e];
                const char *label = label_of(&experiment->curves[m]);
                double printed = printed_value(experiment, s, label, epsilon);
                out->findings[out->count++] =
                    (tacit_finding){ .setup = s,
                                     .parties = parties_of(work, &experiment->setups[s]),
                                     .curve = label,
                                     .epsilon = epsilon,
                                     .lambda = NAN,
                                     .printed = printed,
                                     .noise_free = method->noise_free,
                                     .is_alone = only > 0 };
            }
        }
    for (size_t p = 0; p < experiment->printed_count; p++) {
        const tacit_printed *one = &experiment->printed[p];
        if (is_run(work, one)) continue;
        out->findings[out->count++] =
            (tacit_finding){ .setup = one->setup,
                             .parties = parties_of(work, &experiment->setups[one->setup]),
                             .curve = one->curve,
                             .epsilon = one->epsilon,
                             .lambda = NAN,
                             .mean = NAN,
                             .sd = NAN,
                             .printed = one->value };
    }
    return TACIT_OK;
}

/* Is there what options->only names? */
static tacit_status check_choice(const lab_work *work, tacit_error *error) {
    const tacit_experiment *experiment = work->experiment;
    char known[400] = "";
    for (size_t s = 0; s < experiment->setup_count; s++) {
        size_t used = strlen(known);
        if (is_chosen(work, s)) return TACIT_OK;
        snprintf(known + used, sizeof known - used, "%s%s", s > 0 ? "; " : "",
                 tacit_setup_name(&experiment->setups[s]));
    }
    return tacit_fail(error, TACIT_USAGE, "experiment %s has no setup '%s'; there are: %s", experiment->id,
                      work->options->only, known);
}

/* Findings of setups that were left out are not shown. */
static void drop_others(lab_work *work) {
    tacit_reproduction *out = work->out;
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++)
        if (is_chosen(work, out->findings[i].setup)) out->findings[kept++] = out->findings[i];
    out->count = kept;
}

/* ---- rows ---- */

/* Who gets which rows in this repeat. */
static tacit_status divide_rows(lab_work *work, size_t repeat, tacit_error *error) {
    const tacit_experiment *experiment = work->experiment;
    size_t rows = work->raw.train->rows, most = 0;
    size_t *order = TACIT_NEW(size_t, rows);
    if (order == NULL) return tacit_fail_memory(error);
    tacit_stream stream = tacit_stream_fork(&work->root, "rows", experiment->folds > 0 ? 0 : repeat, 0);
    tacit_stream_permutation(&stream, order, rows);
    /* A fold becomes the end of the order. */
    size_t end = rows;
    if (experiment->folds > 0) {
        size_t fold = repeat % experiment->folds;
        end = rows * (fold + 1) / experiment->folds;
        work->held_out_rows = end - rows * fold / experiment->folds;
    } else {
        work->held_out_rows = fraction_of(work, experiment->held_out_rows, 1);
    }
    for (size_t i = 0; i < rows; i++) work->order[i] = (uint32_t)order[(end + i) % rows];
    free(order);
    work->auxiliary_rows = fraction_of(work, experiment->auxiliary_rows, 1);
    for (size_t s = 0; s < experiment->setup_count; s++) {
        size_t needed = rows_of(work, &experiment->setups[s]);
        if (needed > most) most = needed;
    }
    size_t others = work->auxiliary_rows + work->held_out_rows;
    if (rows < others || rows - others < most)
        return tacit_fail(
            error, TACIT_INPUT,
            "experiment %s needs %zu training rows (%zu for the parties, %zu auxiliary, %zu held out) and "
            "the files have %zu: are they whole? the option 'fraction' runs it smaller",
            experiment->id, most + others, most, work->auxiliary_rows, work->held_out_rows, rows);
    work->party_rows = rows - others;
    work->dealt_rows = says_rows(work, experiment->setups) ? most : work->party_rows;
    return TACIT_OK;
}

static tacit_status choose_tests(lab_work *work, size_t repeat, tacit_error *error) {
    const tacit_dataset *data = work->ready.test != NULL ? work->ready.test : work->ready.train;
    const uint32_t *held_out = work->order + work->party_rows + work->auxiliary_rows;
    size_t rows = work->ready.test != NULL ? data->rows : work->held_out_rows;
    size_t count = work->ready.test != NULL ? fraction_of(work, rows, 1) : rows;
    if (work->options->effort.test_rows > 0 && count > work->options->effort.test_rows)
        count = work->options->effort.test_rows;
    free(work->chosen_tests);
    work->chosen_tests = TACIT_NEW(uint32_t, rows);
    if (work->chosen_tests == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < rows; i++)
        work->chosen_tests[i] = work->ready.test != NULL ? (uint32_t)i : held_out[i];
    tacit_stream stream = tacit_stream_fork(&work->root, "test rows", repeat, 0);
    for (size_t i = 0; count < rows && i < count; i++) { /* the beginning of a random order */
        size_t j = i + (size_t)tacit_stream_below(&stream, rows - i);
        uint32_t kept = work->chosen_tests[i];
        work->chosen_tests[i] = work->chosen_tests[j];
        work->chosen_tests[j] = kept;
    }
    work->test = tacit_dataset_subset(data, work->chosen_tests, count);
    return TACIT_OK;
}

static tacit_status read_rows(lab_work *work, size_t repeat, tacit_error *error) {
    if (repeat > 0 && !work->experiment->is_generated) return TACIT_OK;
    tacit_reading_context context = { work->options->folder, repeat,
                                      tacit_stream_fork(&work->root, "generated rows", repeat, 0),
                                      work->options->strip, work->options->progress };
    tacit_material_clear(&work->raw);
    TACIT_TRY(work->experiment->read(&work->raw, &context, error));
    free(work->order);
    work->order = TACIT_NEW(uint32_t, work->raw.train->rows);
    return work->order != NULL ? TACIT_OK : tacit_fail_memory(error);
}

/* Read, divide, and bring into the ball. What is learnt for that comes from the auxiliary rows; without any,
 * or when asked for, from all training rows, and then the reproduction says so. */
static tacit_status ready_rows(lab_work *work, size_t repeat, tacit_error *error) {
    const tacit_experiment *experiment = work->experiment;
    TACIT_TRY(read_rows(work, repeat, error));
    TACIT_TRY(divide_rows(work, repeat, error));
    bool learns = experiment->dimensions > 0 ||
                  (!experiment->is_in_ball && work->options->scale == TACIT_ROWS_BY_LARGEST);
    bool from_all = work->options->statistics_of_all || work->auxiliary_rows == 0;
    tacit_preparation how = {
        .dimensions = experiment->dimensions,
        .scale = work->options->scale,
        .is_in_ball = experiment->is_in_ball,
        .public_rows = from_all ? work->order : work->order + work->party_rows,
        .public_count = from_all ? work->party_rows + work->auxiliary_rows : work->auxiliary_rows,
    };
    tacit_material_clear(&work->ready);
    work->share = 0; /* preparing counts as no part of the whole, so that the time left goes on */
    work->part[0] = 0;
    TACIT_TRY(tacit_material_prepare(&work->ready, &work->raw, &how, &work->progress, error));
    TACIT_TRY(choose_tests(work, repeat, error));
    work->auxiliary =
        tacit_dataset_subset(work->ready.train, work->order + work->party_rows, work->auxiliary_rows);
    work->auxiliary.label = NULL; /* nobody reads the labels of public points */
    work->out->used_private_statistics = learns && from_all;
    work->out->stand_in = work->raw.stand_in;
    work->out->features = work->ready.train->features;
    work->out->train_rows = work->dealt_rows;
    work->out->auxiliary_rows = work->auxiliary_rows;
    work->out->test_rows = work->test.rows.count;
    return TACIT_OK;
}

/* ---- running ---- */

/* Merge a run's trials into what earlier repeats gave (Chan, Golub and LeVeque's update of mean and
 * variance). */
static void merge(tacit_finding *into, const tacit_run *run, const tacit_experiment *experiment) {
    double n = (double)into->trials, k = (double)run->trials;
    if (run->trials == 0) return; /* left out this time */
    tacit_spread shown = experiment->shows_auc ? run->auc : run->accuracy;
    double mean = experiment->shows_errors ? 1 - shown.mean : shown.mean;
    double shift = mean - into->mean, square = shown.sd * shown.sd * (k - 1);
    if (into->trials > 0) square += into->sd * into->sd * (n - 1) + shift * shift * n * k / (n + k);
    into->mean = into->trials > 0 ? into->mean + shift * k / (n + k) : mean;
    into->lambda = run->lambda;
    into->trials += run->trials;
    into->sd = into->trials > 1 ? sqrt(square / (n + k - 1)) : 0;
}

/* The experiment's curves with the setup's setting. */
static tacit_status set_curves(tacit_variant **out, const lab_work *work, const tacit_setup *setup,
                               tacit_error *error) {
    tacit_setting_value setting = adjustment_of(work, setup).setting;
    tacit_variant *curves = TACIT_NEW(tacit_variant, work->method_count);
    if (curves == NULL) return tacit_fail_memory(error);
    for (size_t m = 0; m < work->method_count; m++) {
        size_t s = 0;
        curves[m] = work->experiment->curves[m];
        if (setting.name == NULL || !tacit_method_takes(work->methods[m], setting.name)) continue;
        while (s < TACIT_VARIANT_SETTINGS && curves[m].settings[s].name != NULL &&
               strcmp(curves[m].settings[s].name, setting.name) != 0)
            s++;
        if (s < TACIT_VARIANT_SETTINGS && curves[m].settings[s].name == NULL) curves[m].settings[s] = setting;
    }
    *out = curves;
    return TACIT_OK;
}

static tacit_status run_setup(lab_work *work, size_t repeat, size_t at, tacit_error *error) {
    const tacit_experiment *experiment = work->experiment;
    const tacit_setup *setup = &experiment->setups[at];
    tacit_split_plan *plan = NULL;
    tacit_split *split = NULL;
    tacit_variant *variants = NULL;
    tacit_status status;
    size_t parties = parties_of(work, setup);
    size_t rows = says_rows(work, setup) ? rows_of(work, setup) : work->party_rows;
    tacit_stream dealing = tacit_stream_fork(&work->root, "party rows", repeat, at);
    tacit_stream noise = tacit_stream_fork(&work->root, "noise", repeat, at);
    tacit_view view = tacit_dataset_subset(work->ready.train, work->order, rows);
    TACIT_CHECK(set_curves(&variants, work, setup, error));
    TACIT_CHECK(tacit_split_plan_parse(&plan, setup->split, error));
    TACIT_CHECK(tacit_split_make(&split, plan, &view, 0, parties, &dealing, error));
    const tacit_setting_value *also = experiment->also != NULL ? experiment->also[at] : NULL;
    size_t also_count = 0;
    while (also != NULL && also_count < 2 && also[also_count].name != NULL) also_count++;
    tacit_simulation simulation = {
        .dataset = work->ready.train,
        .settings = also,
        .setting_count = also_count,
        .split = split,
        .test = work->test,
        .methods = work->methods,
        .method_count = work->method_count,
        .variants = variants,
        .auxiliary = work->auxiliary,
        .epsilons = experiment->epsilons,
        .epsilon_count = experiment->epsilon_count,
        .trials = work->options->effort.trials,
        .seed = tacit_stream_u64(&noise),
        .trace = experiment->by_round && repeat == 0 ? &work->out->trace : NULL,
        .folder = work->options->folder,
        .full = work->options->full,
        .named = work->options->only != NULL,
        .pool = work->options->pool,
        .progress = &work->progress,
    };
    TACIT_CHECK(experiment->run != NULL ? experiment->run(&simulation, setup, work->runs, error)
                                        : tacit_simulate(&simulation, work->runs, NULL, error));
    for (size_t r = 0; r < work->run_count; r++)
        merge(&work->out->findings[at * work->run_count + r], &work->runs[r], experiment);
cleanup:
    tacit_split_free(split);
    tacit_split_plan_free(plan);
    free(variants);
    return status;
}

static void report_findings(const lab_work *work, size_t setup) {
    const tacit_finding *findings = work->out->findings + setup * work->run_count;
    for (size_t r = 0; r < work->run_count && work->options->found != NULL; r++)
        if (findings[r].trials > 0)
            work->options->found(work->options->found_context, work->experiment, &findings[r]);
}

static tacit_status run_all(lab_work *work, tacit_error *error) {
    TACIT_TRY(tacit_experiment_check(work->experiment, work->options->folder, error));
    TACIT_TRY(find_methods(work, error));
    TACIT_TRY(check_choice(work, error));
    TACIT_TRY(lay_out(work, error));
    size_t repeats = work->options->effort.repeats;
    for (size_t repeat = 0; repeat < repeats; repeat++) {
        TACIT_TRY(ready_rows(work, repeat, error));
        for (size_t s = 0; s < work->experiment->setup_count; s++) {
            if (!is_chosen(work, s)) continue;
            work->share = share_of(work, s);
            snprintf(work->part, sizeof work->part, "%s: ", tacit_setup_name(&work->experiment->setups[s]));
            TACIT_TRY(run_setup(work, repeat, s, error));
            work->done += work->share;
            if (repeat + 1 == repeats) report_findings(work, s);
        }
    }
    drop_others(work);
    return TACIT_OK;
}

tacit_status tacit_reproduce(tacit_reproduction **out, const tacit_experiment *experiment,
                             const tacit_reproduce_options *options, tacit_error *error) {
    lab_work work = { .experiment = experiment,
                      .options = options,
                      .root = tacit_stream_from_seed(options->seed),
                      .progress = { report_part, is_cancelled, &work } };
    double start = seconds_now();
    work.out = TACIT_NEW(tacit_reproduction, 1);
    tacit_status status = work.out != NULL ? run_all(&work, error) : tacit_fail_memory(error);
    if (status == TACIT_OK) {
        work.out->experiment = experiment;
        work.out->seconds = seconds_now() - start;
        *out = work.out;
    } else {
        tacit_reproduction_free(work.out);
    }
    free(work.methods);
    free(work.runs);
    free(work.order);
    free(work.chosen_tests);
    tacit_material_clear(&work.raw);
    tacit_material_clear(&work.ready);
    return status;
}
