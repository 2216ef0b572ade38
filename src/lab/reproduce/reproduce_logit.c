/* Wang 2018, section 5.4: Table 5.1 and figures 5.2 to 5.5, secure logistic regression of five nodes and two
 * servers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "lab/reproduce/logit_run.h"
#include "lab/reproduce/logit_sets.h"
#include "lab/reproduce/reproduce.h"

enum {
    NODES = 5,
    YAO_COLUMNS = 60 /* more take minutes in garbled circuits: with --full */,
    MOST_ITERATIONS = 1000
};
static const double LAMBDA = 1, LIKELIHOOD_CHANGE = 1e-6;

#define N "newton"
#define H "privlogit-hessian"
#define L "privlogit-local"

static const tacit_setup sets[TACIT_LOGIT_SETS] = {
    { "data set", "Wine", NODES, "even" },      { "data set", "Loans", NODES, "even" },
    { "data set", "Insurance", NODES, "even" }, { "data set", "News", NODES, "even" },
    { "data set", "SimuX10", NODES, "even" },   { "data set", "SimuX12", NODES, "even" },
    { "data set", "SimuX50", NODES, "even" },   { "data set", "SimuX100", NODES, "even" },
    { "data set", "SimuX150", NODES, "even" },  { "data set", "SimuX200", NODES, "even" },
    { "data set", "SimuX400", NODES, "even" },
};
static const double epsilons[] = { INFINITY };
#define ONE_RUN_EACH                                                                                         \
    .by_setup = true, .own_rows = true, .is_in_ball = true, .quick = { 1, 1, 0 }, .full = { 1, 1, 0 }

/* ---- one data set ---- */

typedef struct world {
    const tacit_simulation *simulation;
    const tacit_logit_set *set;
    tacit_dataset *data;
    double scale;
    tacit_logit_reference newton, privlogit; /* in the clear */
} world;

static tacit_status refer(const world *self, bool newton, double start, double step, size_t most,
                          tacit_logit_reference *out, tacit_error *error) {
    tacit_view rows = tacit_dataset_view(self->data);
    tacit_logit_reference_settings settings = { .newton = newton,
                                                .scale = self->scale,
                                                .lambda = LAMBDA,
                                                .start = start,
                                                .likelihood_change = step > 0 ? 0 : LIKELIHOOD_CHANGE,
                                                .step = step,
                                                .most_iterations = most,
                                                .pool = self->simulation->pool };
    return tacit_logit_reference_run(out, &rows, &settings, error);
}

static void world_end(world *self) {
    tacit_dataset_free(self->data);
    tacit_logit_reference_clear(&self->newton);
    tacit_logit_reference_clear(&self->privlogit);
}

static tacit_status world_make(world *out, const tacit_simulation *simulation, const char *set,
                               tacit_error *error) {
    tacit_stream stream = tacit_stream_from_seed(simulation->seed);
    *out = (world){ .simulation = simulation, .set = tacit_logit_set_find(set) };
    if (tacit_progress_cancelled(simulation->progress))
        return tacit_fail(error, TACIT_CANCELLED, "interrupted");
    tacit_progress_report(simulation->progress, "reading", 0, 1);
    return tacit_logit_set_read(&out->data, &out->scale, out->set, simulation->full, simulation->folder,
                                &stream, error);
}

static tacit_status world_refer(world *self, tacit_error *error) {
    tacit_progress_report(self->simulation->progress, "in the clear", 0, 1);
    TACIT_TRY(refer(self, true, 0, 0, MOST_ITERATIONS, &self->newton, error));
    return refer(self, false, 0, 0, MOST_ITERATIONS, &self->privlogit, error);
}

static tacit_status world_fit(const world *self, const char *method, const char *engine, const char *stop,
                              tacit_logit_fit *out, tacit_error *error) {
    tacit_logit_run_options options = { method, engine, stop, self->scale, LAMBDA, NODES };
    char stage[64];
    if (tacit_progress_cancelled(self->simulation->progress))
        return tacit_fail(error, TACIT_CANCELLED, "interrupted");
    snprintf(stage, sizeof stage, "%s, %s", method, engine);
    tacit_progress_report(self->simulation->progress, stage, 0, 1);
    return tacit_logit_fit_run(out, self->data, &options, self->simulation->seed, self->simulation->pool,
                               error);
}

static bool runs_yao(const world *self) {
    return self->simulation->full || self->set->columns <= YAO_COLUMNS;
}

/* The largest sets take long: they are run with --full, or (on shares, with fewer rows) when --only names
 * one. */
static bool is_run(const tacit_simulation *simulation, const tacit_setup *setup) {
    return simulation->full || simulation->named || !tacit_logit_set_find(setup->name)->only_full;
}

static void blank(const tacit_variant *curves, tacit_run *runs) {
    for (size_t c = 0; curves[c].method != NULL; c++)
        runs[c] = (tacit_run){ .label = curves[c].label, .lambda = LAMBDA, .trials = 0 };
}

static void fill(tacit_run *run, double value) {
    run->accuracy.mean = value;
    run->trials = 1;
}

/* ---- Table 5.1 ---- */

enum { ITERATIONS, YAO, YAO_SERVERS, SHARES, SHARES_SERVERS, DIFFERENCE, MEASURES };
#define ROWS_OF(of)                                                                                          \
    { .method = of, .label = of ", iterations" }, { .method = of, .label = of ", s" },                       \
        { .method = of, .label = of ", s between servers" }, { .method = of, .label = of ", shares, s" },    \
        { .method = of, .label = of ", shares, s between servers" }, {                                       \
        .method = of, .label = of ", furthest from the clear"                                                \
    }
static const tacit_variant table_curves[] = { ROWS_OF(N), ROWS_OF(H), ROWS_OF(L), { .method = NULL } };

#define PRINTED_IN_TABLE(at, newton, privlogit, n, h, l)                                                     \
    { at, N ", iterations", INFINITY, newton }, { at, H ", iterations", INFINITY, privlogit },               \
        { at, L ", iterations", INFINITY, privlogit }, { at, N ", s", INFINITY, n },                         \
        { at, H ", s", INFINITY, h }, {                                                                      \
        at, L ", s", INFINITY, l                                                                             \
    }
static const tacit_printed table_printed[] = {
    PRINTED_IN_TABLE(0, 5, 13, 32, 24, 17),         PRINTED_IN_TABLE(1, 6, 17, 492, 260, 104),
    PRINTED_IN_TABLE(2, 7, 28, 843, 520, 144),      PRINTED_IN_TABLE(3, 5, 13, 1442, 621, 313),
    PRINTED_IN_TABLE(4, 6, 20, 26, 24, 13),         PRINTED_IN_TABLE(5, 6, 22, 38, 37, 17),
    PRINTED_IN_TABLE(6, 6, 32, 1550, 1052, 383),    PRINTED_IN_TABLE(7, 7, 59, 13138, 7817, 1807),
    PRINTED_IN_TABLE(8, 7, 83, 42951, 25030, 6055), PRINTED_IN_TABLE(9, 8, 105, 114522, 56917, 14105),
    { 10, N ", iterations", INFINITY, 8 },          { 10, H ", iterations", INFINITY, 206 },
    { 10, L ", iterations", INFINITY, 206 },        { 10, L ", s", INFINITY, 110598 },
};

static tacit_status table_method(const world *self, const char *method, tacit_run *runs, tacit_error *error) {
    const tacit_logit_reference *plain = strcmp(method, N) == 0 ? &self->newton : &self->privlogit;
    double furthest = 0;
    for (int shares = 0; shares < 2; shares++) {
        tacit_logit_fit fit;
        if (shares == 0 && !runs_yao(self)) continue;
        TACIT_TRY(world_fit(self, method, shares ? "shares" : "yao", "likelihood", &fit, error));
        furthest = fmax(furthest, tacit_logit_fit_difference(&fit, plain));
        fill(&runs[ITERATIONS], (double)fit.iterations);
        fill(&runs[shares ? SHARES : YAO], fit.seconds);
        fill(&runs[shares ? SHARES_SERVERS : YAO_SERVERS], fit.report.center_seconds);
        tacit_logit_fit_clear(&fit);
    }
    fill(&runs[DIFFERENCE], furthest);
    return TACIT_OK;
}

static tacit_status run_table(const tacit_simulation *simulation, const tacit_setup *setup, tacit_run *runs,
                              tacit_error *error) {
    static const char *const methods[] = { N, H, L };
    world self = { .data = NULL };
    tacit_status status = TACIT_OK;
    blank(table_curves, runs);
    if (!is_run(simulation, setup)) return TACIT_OK;
    TACIT_CHECK(world_make(&self, simulation, setup->name, error));
    TACIT_CHECK(world_refer(&self, error));
    for (size_t m = 0; m < 3; m++) TACIT_CHECK(table_method(&self, methods[m], runs + m * MEASURES, error));
cleanup:
    world_end(&self);
    return status;
}

#define SETS_DIFFER                                                                                          \
    "Wine: quality of 6 or more, colour as a feature. Loans: 119,987 rows of a public copy, 26 "             \
    "columns. Insurance: the first 38 columns, the 9,822 rows of training and evaluation. News: "            \
    "24,279 of 39,644 rows, 52 columns that do not follow from each other. Real sets have a constant "       \
    "column more. Simulated sets: the thesis names no distributions; here z ~ N(0, I) and beta ~ N(0,"       \
    " 0.35^2 I), with 100,000 rows from SimuX12 on, in a full run as printed up to SimuX100, "               \
    "1,000,000 for SimuX150 and SimuX200, 200,000 for SimuX400: what the servers do does not depend "        \
    "on the rows. lambda is 1 (the thesis names none)."

#define SETS_WHY                                                                                             \
    "other rows and columns than the thesis's: it names neither preparation nor distributions of its sets"
#define SHARES_WHY                                                                                           \
    "on shares a factorisation costs little; Local's many encrypted products cost more than they save"
#define FASTER(text, slower, faster, because)                                                                \
    {                                                                                                        \
        .says = text, .above = { slower, 0, NULL, 0 }, .below = { faster, 0, NULL, 0 }, .why = because,      \
        .mostly = true                                                                                       \
    }
static const tacit_claim table_claims[] = {
    FASTER("PrivLogit-Hessian needs less time than Newton's method (garbled circuits, on most sets)", N ", s",
           H ", s", NULL),
    FASTER("PrivLogit-Local needs less time than Newton's method (garbled circuits, on most sets)", N ", s",
           L ", s", NULL),
    FASTER("the same on additive shares: PrivLogit-Local is faster than Newton's method on most sets",
           N ", shares, s", L ", shares, s", SHARES_WHY),
};

const tacit_experiment tacit_experiment_wang_table51 = {
    .id = "wang-table51",
    .paper = "Wang 2018",
    .figure = "table 5.1",
    .title = "Secure logistic regression: iterations and seconds of five nodes and two servers",
    .differs =
        SETS_DIFFER " Times are of all nodes and servers on this one machine, in memory, without inference; "
                    "the thesis had two PCs and an Ethernet. In a run that is not full, sets of more than 60 "
                    "columns run on shares only, and those of 150 and more only when they are named.",
    .says = "PrivLogit needs more iterations and less time than Newton's method; the nodes' part is cheap "
            "beside that of the servers.",
    .source =
        "UCI (wine quality, CoIL 2000, online news popularity), Lending Club; simulated sets from the seed",
    .files = tacit_logit_files,
    .measures =
        "iterations, seconds, and the largest |beta_k - the same in the clear|, engine yao unless stated",
    .curves = table_curves,
    .setups = sets,
    .setup_count = TACIT_LOGIT_SETS,
    .epsilons = epsilons,
    .epsilon_count = 1,
    ONE_RUN_EACH,
    .printed = table_printed,
    .printed_count = sizeof table_printed / sizeof *table_printed,
    .claims = table_claims,
    .claim_count = sizeof table_claims / sizeof *table_claims,
    .less_is_better = true,
    .why = SETS_WHY,
    .read = tacit_logit_read_nothing,
    .run = run_table,
};

/* ---- figure 5.2 ---- */

static const tacit_variant estimate_curves[] = {
    { .method = H, .label = H ", correlation" },
    { .method = H, .label = H ", largest difference" },
    { .method = L, .label = L ", correlation" },
    { .method = L, .label = L ", largest difference" },
    { .method = H, .label = H ", largest difference, converged" },
    { .method = NULL },
};

static double correlation(const double *a, const double *b, size_t count) {
    double sa = 0, sb = 0, aa = 0, bb = 0, ab = 0, n = (double)count;
    for (size_t j = 0; j < count; j++) {
        sa += a[j];
        sb += b[j];
        aa += a[j] * a[j];
        bb += b[j] * b[j];
        ab += a[j] * b[j];
    }
    return (ab - sa * sb / n) / sqrt((aa - sa * sa / n) * (bb - sb * sb / n));
}

static double largest_difference(const double *a, const double *b, size_t count) {
    double most = 0;
    for (size_t j = 0; j < count; j++) most = fmax(most, fabs(a[j] - b[j]));
    return most;
}

static tacit_status run_estimates(const tacit_simulation *simulation, const tacit_setup *setup,
                                  tacit_run *runs, tacit_error *error) {
    static const char *const methods[] = { H, L, H };
    world self = { .data = NULL };
    tacit_logit_reference optimum = { .path = NULL };
    tacit_status status = TACIT_OK;
    blank(estimate_curves, runs);
    if (!is_run(simulation, setup)) return TACIT_OK;
    TACIT_CHECK(world_make(&self, simulation, setup->name, error));
    TACIT_CHECK(refer(&self, true, 0, 1e-9, MOST_ITERATIONS, &optimum, error));
    const double *best = tacit_logit_reference_last(&optimum);
    for (size_t m = 0; m < 3; m++) {
        tacit_logit_fit fit;
        TACIT_CHECK(world_fit(&self, methods[m], "shares", m == 2 ? "converged" : "likelihood", &fit, error));
        const double *beta = fit.path + (fit.iterations - 1) * fit.width;
        if (m < 2) fill(&runs[2 * m], correlation(beta, best, fit.width));
        fill(&runs[m < 2 ? 2 * m + 1 : 4], largest_difference(beta, best, fit.width));
        tacit_logit_fit_clear(&fit);
    }
cleanup:
    tacit_logit_reference_clear(&optimum);
    world_end(&self);
    return status;
}

#define ALIGNED(text, curve)                                                                                 \
    {                                                                                                        \
        .says = text " is in perfect alignment with Newton's method (correlation above .999)",               \
        .above = { curve ", correlation", 0, NULL, 0 }, .below = {                                           \
            NULL,                                                                                            \
            0,                                                                                               \
            NULL,                                                                                            \
            0.999                                                                                            \
        }                                                                                                    \
    }
static const tacit_claim estimate_claims[] = { ALIGNED("PrivLogit-Hessian", H),
                                               ALIGNED("PrivLogit-Local", L) };

const tacit_experiment tacit_experiment_wang_fig52 = {
    .id = "wang-fig52",
    .paper = "Wang 2018",
    .figure = "figure 5.2",
    .title =
        "Coefficients of PrivLogit, computed under encryption, beside those of Newton's method in the clear",
    .differs = SETS_DIFFER " The figure is a scatter plot for each set; here its correlation, and the "
                           "largest difference, with the engine shares. Newton's method is run to the end.",
    .says = "The estimates are in perfect alignment with those of Newton's method in all studies.",
    .source = "as wang-table51",
    .files = tacit_logit_files,
    .measures = "correlation with, and largest difference to, the maximum of the likelihood",
    .curves = estimate_curves,
    .setups = sets,
    .setup_count = TACIT_LOGIT_SETS,
    .epsilons = epsilons,
    .epsilon_count = 1,
    ONE_RUN_EACH,
    .claims = estimate_claims,
    .claim_count = sizeof estimate_claims / sizeof *estimate_claims,
    .read = tacit_logit_read_nothing,
    .run = run_estimates,
};

/* ---- figure 5.3 ---- */

static const tacit_variant rate_curves[] = {
    { .method = N },
    { .method = H, .label = "privlogit" },
    { .method = N, .label = "newton, last relative change / 1e-6" },
    { .method = H, .label = "privlogit, last relative change / 1e-6" },
    { .method = NULL },
};
static const tacit_printed rate_printed[] = {
    { 0, N, INFINITY, 5 },  { 0, "privlogit", INFINITY, 13 },
    { 1, N, INFINITY, 6 },  { 1, "privlogit", INFINITY, 17 },
    { 2, N, INFINITY, 7 },  { 2, "privlogit", INFINITY, 28 },
    { 3, N, INFINITY, 5 },  { 3, "privlogit", INFINITY, 13 },
    { 4, N, INFINITY, 6 },  { 4, "privlogit", INFINITY, 20 },
    { 5, N, INFINITY, 6 },  { 5, "privlogit", INFINITY, 22 },
    { 6, N, INFINITY, 6 },  { 6, "privlogit", INFINITY, 32 },
    { 7, N, INFINITY, 7 },  { 7, "privlogit", INFINITY, 59 },
    { 8, N, INFINITY, 7 },  { 8, "privlogit", INFINITY, 83 },
    { 9, N, INFINITY, 8 },  { 9, "privlogit", INFINITY, 105 },
    { 10, N, INFINITY, 8 }, { 10, "privlogit", INFINITY, 206 },
};

static double last_change(const tacit_logit_reference *at) {
    size_t k = at->iterations;
    return k > 0 ? fabs(at->objective[k] - at->objective[k - 1]) / at->objective[k - 1] : NAN;
}

static tacit_status run_rates(const tacit_simulation *simulation, const tacit_setup *setup, tacit_run *runs,
                              tacit_error *error) {
    world self = { .data = NULL };
    tacit_status status = TACIT_OK;
    blank(rate_curves, runs);
    runs[0].label = N;
    if (tacit_logit_set_find(setup->name)->columns > 200 && !simulation->full) return TACIT_OK;
    TACIT_CHECK(world_make(&self, simulation, setup->name, error));
    TACIT_CHECK(world_refer(&self, error));
    fill(&runs[0], (double)self.newton.iterations);
    fill(&runs[1], (double)self.privlogit.iterations);
    fill(&runs[2], last_change(&self.newton) / LIKELIHOOD_CHANGE);
    fill(&runs[3], last_change(&self.privlogit) / LIKELIHOOD_CHANGE);
cleanup:
    world_end(&self);
    return status;
}

static const tacit_claim rate_claims[] = {
    { .says = "PrivLogit needs more iterations than Newton's method",
      .above = { "privlogit", 0, NULL, 0 },
      .below = { N, 0, NULL, 0 } },
    { .says = "both converge within a reasonable number of iterations (300)",
      .above = { NULL, 0, NULL, 300 },
      .below = { "privlogit", 0, NULL, 0 } },
};

const tacit_experiment tacit_experiment_wang_fig53 = {
    .id = "wang-fig53",
    .paper = "Wang 2018",
    .figure = "figure 5.3",
    .title = "Iterations until the likelihood changes by less than 1e-6, of PrivLogit and of Newton's method",
    .differs =
        SETS_DIFFER " The figure draws the change in each iteration; here how many there are, and the last "
                    "one. In the clear: wang-table51 shows that the protocols take the same iterations.",
    .says = "Both converge within a reasonable number of iterations, Newton's method quadratically, "
            "PrivLogit linearly.",
    .source = "as wang-table51",
    .files = tacit_logit_files,
    .measures = "iterations",
    .curves = rate_curves,
    .setups = sets,
    .setup_count = TACIT_LOGIT_SETS,
    .epsilons = epsilons,
    .epsilon_count = 1,
    ONE_RUN_EACH,
    .printed = rate_printed,
    .printed_count = sizeof rate_printed / sizeof *rate_printed,
    .claims = rate_claims,
    .claim_count = sizeof rate_claims / sizeof *rate_claims,
    .less_is_better = true,
    .why = SETS_WHY,
    .read = tacit_logit_read_nothing,
    .run = run_rates,
};

/* ---- figure 5.4 ---- */

static const tacit_variant speed_curves[] = {
    { .method = H },
    { .method = L },
    { .method = H, .label = H ", shares" },
    { .method = L, .label = L ", shares" },
    { .method = NULL },
};
/* Quotients of Table 5.1. */
static const tacit_printed speed_printed[] = {
    { 0, H, INFINITY, 32. / 24 },        { 0, L, INFINITY, 32. / 17 },
    { 1, H, INFINITY, 492. / 260 },      { 1, L, INFINITY, 492. / 104 },
    { 2, H, INFINITY, 843. / 520 },      { 2, L, INFINITY, 843. / 144 },
    { 3, H, INFINITY, 1442. / 621 },     { 3, L, INFINITY, 1442. / 313 },
    { 4, H, INFINITY, 26. / 24 },        { 4, L, INFINITY, 26. / 13 },
    { 5, H, INFINITY, 38. / 37 },        { 5, L, INFINITY, 38. / 17 },
    { 6, H, INFINITY, 1550. / 1052 },    { 6, L, INFINITY, 1550. / 383 },
    { 7, H, INFINITY, 13138. / 7817 },   { 7, L, INFINITY, 13138. / 1807 },
    { 8, H, INFINITY, 42951. / 25030 },  { 8, L, INFINITY, 42951. / 6055 },
    { 9, H, INFINITY, 114522. / 56917 }, { 9, L, INFINITY, 114522. / 14105 },
};

static tacit_status run_speeds(const tacit_simulation *simulation, const tacit_setup *setup, tacit_run *runs,
                               tacit_error *error) {
    static const char *const methods[] = { N, H, L };
    world self = { .data = NULL };
    tacit_status status = TACIT_OK;
    blank(speed_curves, runs);
    runs[0].label = H;
    runs[1].label = L;
    if (!is_run(simulation, setup)) return TACIT_OK;
    TACIT_CHECK(world_make(&self, simulation, setup->name, error));
    for (int shares = 0; shares < 2; shares++) {
        double newton = 0;
        if (shares == 0 && !runs_yao(&self)) continue;
        for (size_t m = 0; m < 3; m++) {
            tacit_logit_fit fit;
            TACIT_CHECK(world_fit(&self, methods[m], shares ? "shares" : "yao", "likelihood", &fit, error));
            if (m == 0)
                newton = fit.seconds;
            else
                fill(&runs[(shares ? 2 : 0) + m - 1], newton / fit.seconds);
            tacit_logit_fit_clear(&fit);
        }
    }
cleanup:
    world_end(&self);
    return status;
}

static const tacit_claim speed_claims[] = {
    { .says = "PrivLogit-Hessian is at least as fast as Newton's method (garbled circuits, on most sets)",
      .above = { H, 0, NULL, 0 },
      .below = { NULL, 0, NULL, 1 },
      .mostly = true },
    { .says = "PrivLogit-Local is at least twice as fast (garbled circuits, on most sets)",
      .above = { L, 0, NULL, 0 },
      .below = { NULL, 0, NULL, 2 },
      .why = "a garbled factorisation is cheap today, so that there is less to save",
      .mostly = true },
    { .says = "the same on additive shares: PrivLogit-Local is faster than Newton's method on most sets",
      .above = { L ", shares", 0, NULL, 0 },
      .below = { NULL, 0, NULL, 1 },
      .why = SHARES_WHY,
      .mostly = true },
};

const tacit_experiment tacit_experiment_wang_fig54 = {
    .id = "wang-fig54",
    .paper = "Wang 2018",
    .figure = "figure 5.4",
    .title = "How many times faster than Newton's method PrivLogit is, under encryption",
    .differs = SETS_DIFFER " Printed figures are quotients of Table 5.1.",
    .says = "PrivLogit-Hessian is about 1.2 to 2.2 times as fast on the various studies, PrivLogit-Local up "
            "to 10 times.",
    .source = "as wang-table51",
    .files = tacit_logit_files,
    .measures = "seconds of newton over seconds, engine yao unless stated",
    .curves = speed_curves,
    .setups = sets,
    .setup_count = TACIT_LOGIT_SETS,
    .epsilons = epsilons,
    .epsilon_count = 1,
    ONE_RUN_EACH,
    .printed = speed_printed,
    .printed_count = sizeof speed_printed / sizeof *speed_printed,
    .claims = speed_claims,
    .claim_count = sizeof speed_claims / sizeof *speed_claims,
    .why = "a factorisation costs far less in today's engines than in the thesis's, so that PrivLogit saves "
           "less of it",
    .read = tacit_logit_read_nothing,
    .run = run_speeds,
};

/* ---- figure 5.5 ---- */

enum { LOOK_AT = 30 };
static const tacit_variant start_curves[] = {
    { .method = N, .label = "newton, distance after 1" },
    { .method = N, .label = "newton, distance at the end" },
    { .method = H, .label = "privlogit, distance after 1" },
    { .method = H, .label = "privlogit, distance after 30" },
    { .method = H, .label = "privlogit, distance at the end" },
    { .method = NULL },
};
static const tacit_setup starts[] = {
    { "all coefficients begin at", "0.8", NODES, "even" },
    { "all coefficients begin at", "1", NODES, "even" },
    { "all coefficients begin at", "1.5", NODES, "even" },
    { "all coefficients begin at", "2", NODES, "even" },
};

static double distance_at(const tacit_logit_reference *run, size_t k, const double *from) {
    const double *beta = run->path + (k < run->iterations ? k : run->iterations) * run->width;
    double square = 0;
    for (size_t j = 0; j < run->width; j++) square += pow(beta[j] - from[j], 2);
    return sqrt(square);
}

static tacit_status run_starts(const tacit_simulation *simulation, const tacit_setup *setup, tacit_run *runs,
                               tacit_error *error) {
    world self = { .data = NULL };
    tacit_logit_reference optimum = { .path = NULL };
    double start = tacit_read_double(setup->name, NULL);
    tacit_simulation same = *simulation;
    tacit_status status;
    same.seed = 0; /* the same rows for every start */
    blank(start_curves, runs);
    TACIT_CHECK(world_make(&self, &same, "SimuX50", error));
    TACIT_CHECK(refer(&self, true, 0, 1e-9, MOST_ITERATIONS, &optimum, error));
    TACIT_CHECK(refer(&self, true, start, 0, LOOK_AT, &self.newton, error));
    TACIT_CHECK(refer(&self, false, start, 0, MOST_ITERATIONS, &self.privlogit, error));
    const double *best = tacit_logit_reference_last(&optimum);
    fill(&runs[0], distance_at(&self.newton, 1, best));
    fill(&runs[1], distance_at(&self.newton, self.newton.iterations, best));
    fill(&runs[2], distance_at(&self.privlogit, 1, best));
    fill(&runs[3], distance_at(&self.privlogit, LOOK_AT, best));
    fill(&runs[4], distance_at(&self.privlogit, self.privlogit.iterations, best));
cleanup:
    tacit_logit_reference_clear(&optimum);
    world_end(&self);
    return status;
}

static const tacit_claim start_claims[] = {
    { .says = "Newton's method diverges: it ends further off than PrivLogit",
      .above = { "newton, distance at the end", 0, NULL, 0 },
      .below = { "privlogit, distance at the end", 0, NULL, 1 } },
    { .says = "PrivLogit always converges (within .05)",
      .above = { NULL, 0, NULL, 0.05 },
      .below = { "privlogit, distance at the end", 0, NULL, 0 } },
};

const tacit_experiment tacit_experiment_wang_fig55 = {
    .id = "wang-fig55",
    .paper = "Wang 2018",
    .figure = "figure 5.5",
    .title = "Other beginnings on SimuX50: distance to the maximum of the likelihood",
    .differs =
        SETS_DIFFER " In the clear. A run ends at a likelihood that changes by less than 1e-6, Newton's "
                    "method also after 30 iterations, or when a coefficient passes a million or the Hessian "
                    "cannot be factored any more: its last distance is then that of a run that diverged.",
    .says = "PrivLogit always converges; Newton's method diverges from the first few iterations and gets "
            "worse and worse.",
    .source = "generated here",
    .measures = "Euclidean distance",
    .curves = start_curves,
    .setups = starts,
    .setup_count = sizeof starts / sizeof *starts,
    .epsilons = epsilons,
    .epsilon_count = 1,
    ONE_RUN_EACH,
    .claims = start_claims,
    .claim_count = sizeof start_claims / sizeof *start_claims,
    .read = tacit_logit_read_nothing,
    .run = run_starts,
};
