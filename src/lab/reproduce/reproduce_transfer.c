/* Wang 2018, chapter 4: transfer from private sources to a target that mixes them, on 20 Newsgroups and
 * Amazon reviews. */
#include <math.h>
#include <string.h>

#include "lab/reproduce/reproduce_transfer.h"
#include "method/transfer/transfer.h"
#include "session/local/local.h"

const tacit_mixture_sizes tacit_transfer_news = { 5, 1000, 700, 300, 1000, 320 };
const tacit_mixture_sizes tacit_transfer_amazon = { 4, 500, 500, 150, 750, 350 };

/* A simulation over the draw, in either width. */
static tacit_simulation simulate_draw(const tacit_mixture *self, const tacit_simulation *base, bool narrow,
                                      const tacit_split *split) {
    const tacit_dataset *data = narrow ? self->narrow : self->wide;
    tacit_simulation made = *base;
    made.dataset = data;
    made.schema = narrow ? NULL : self->schema;
    made.split = split;
    made.auxiliary =
        tacit_dataset_subset(data, self->index + self->public_at, self->target_at - self->public_at);
    made.target = tacit_dataset_subset(data, self->index + self->target_at, self->test_at - self->target_at);
    made.test = tacit_dataset_subset(data, self->index + self->test_at, self->end - self->test_at);
    return made;
}

static tacit_split split_of(tacit_mixture *self, size_t sources) {
    return (tacit_split){ sources, self->start, self->index, 0 };
}

/* Curves whose label ends so are run on projected rows. */
#define NARROW TACIT_TRANSFER_NARROW
static bool is_narrow(const tacit_variant *variant) {
    size_t length = strlen(variant->label), tail = strlen(NARROW);
    return length > tail && strcmp(variant->label + length - tail, NARROW) == 0;
}

/* ---- tables: accuracy ---- */

tacit_status tacit_transfer_run(const tacit_simulation *base, const tacit_mixture_sizes *how, size_t sources,
                                const double *mixture, tacit_run *runs, tacit_error *error) {
    tacit_mixture self = TACIT_MIXTURE_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_mixture_make(&self, base->dataset, how, mixture, base->seed, error));
    tacit_split split = split_of(&self, sources);
    for (size_t m = 0; m < base->method_count; m++) {
        tacit_simulation one = simulate_draw(&self, base, is_narrow(&base->variants[m]), &split);
        one.methods = base->methods + m;
        one.method_count = 1;
        one.variants = base->variants + m;
        one.progress = NULL;
        TACIT_CHECK(tacit_simulate(&one, runs + m * base->epsilon_count, NULL, error));
        tacit_progress_report(base->progress, base->variants[m].label, m + 1, base->method_count);
        if (tacit_progress_cancelled(base->progress))
            TACIT_CHECK(tacit_fail(error, TACIT_CANCELLED, "interrupted"));
    }
cleanup:
    tacit_mixture_clear(&self);
    return status;
}

/* ---- figures: the error of the hypotheses' weights ---- */

static const double DELTA = 1e-5; /* of Gaussian noise */

static tacit_status weights_error(const tacit_simulation *one, const tacit_points *points,
                                  const tacit_variant *variant, double epsilon, uint64_t seed,
                                  const double *mixture, double *out, tacit_error *error) {
    tacit_local *local = NULL;
    tacit_stream stream = tacit_stream_from_seed(seed);
    tacit_session session;
    double weights[TACIT_MIXTURE_SOURCES];
    size_t sources;
    tacit_plan plan = { .method = tacit_method_find("dphtl"),
                        .study = "simulation",
                        .epsilon = epsilon,
                        .lambda = variant->lambda,
                        .features = one->dataset->features,
                        .classes = 2,
                        .parties = one->split->parts,
                        .minimum_parties = 1,
                        .minimum_rows = tacit_split_count(one->split, 0),
                        .points = points,
                        .schema = one->schema };
    tacit_status status;
    for (size_t s = 0; s < TACIT_VARIANT_SETTINGS && variant->settings[s].name != NULL; s++)
        TACIT_CHECK(tacit_plan_set(&plan, variant->settings[s].name, variant->settings[s].value, error));
    if (transfer_settings_of(&plan)->law == TACIT_LAW_BELL) plan.delta = DELTA;
    TACIT_CHECK(tacit_local_create(&local, one->dataset, one->split, one->pool, error));
    TACIT_CHECK(tacit_local_begin(local, &plan, &stream, NULL, &session, error));
    session.own = &one->target;
    TACIT_CHECK(dphtl_weights(&session, weights, &sources, error));
    *out = 0;
    for (size_t k = 0; k < sources; k++)
        *out += (weights[k] - mixture[k]) * (weights[k] - mixture[k]) / (double)sources;
cleanup:
    tacit_local_free(local);
    return status;
}

static tacit_status run_figure(const tacit_simulation *base, const tacit_mixture_sizes *how,
                               const double *mixture, tacit_run *runs, tacit_error *error) {
    tacit_mixture self = TACIT_MIXTURE_INIT;
    tacit_points points = TACIT_POINTS_INIT;
    size_t done = 0;
    tacit_status status;
    TACIT_CHECK(tacit_mixture_make(&self, base->dataset, how, mixture, base->seed, error));
    tacit_split split = split_of(&self, how->sources);
    for (size_t m = 0; m < base->method_count; m++) {
        tacit_simulation one = simulate_draw(&self, base, is_narrow(&base->variants[m]), &split);
        tacit_points_clear(&points);
        TACIT_CHECK(tacit_points_of(&points, &one.auxiliary.rows, one.pool, error));
        for (size_t e = 0; e < base->epsilon_count; e++) {
            double value = 0;
            TACIT_CHECK(weights_error(&one, &points, &base->variants[m], base->epsilons[e], base->seed + e,
                                      mixture, &value, error));
            runs[done++] = (tacit_run){ .method = base->methods[m],
                                        .epsilon = base->epsilons[e],
                                        .trials = 1,
                                        .accuracy = { value, 0 },
                                        .lambda = base->variants[m].lambda };
        }
        tacit_progress_report(base->progress, base->variants[m].label, m + 1, base->method_count);
        if (tacit_progress_cancelled(base->progress))
            TACIT_CHECK(tacit_fail(error, TACIT_CANCELLED, "interrupted"));
    }
cleanup:
    tacit_points_clear(&points);
    tacit_mixture_clear(&self);
    return status;
}

/* ---- the experiments ---- */

#define CURVE(name, kind, lambda_lr, iw, part, tail, ...)                                                    \
    {                                                                                                        \
        .method = "dphtl", .label = name tail,                                                               \
        .settings = { { "model", kind }, { "lambda_iw", iw }, { "labelled", part }, __VA_ARGS__ },           \
        .lambda = lambda_lr                                                                                  \
    }
/* WEAK and TARGET, which have no noise to bear, have a lambda of their own. */
#define CURVES(lambda_lr, own, iw, part, tail, ...)                                                          \
    CURVE("WEAK", "weak", own, iw, part, tail, __VA_ARGS__),                                                 \
        { .method = "dphtl",                                                                                 \
          .label = "SOURCE" tail,                                                                            \
          .settings = { { "model", "sources" }, { "lambda_iw", iw }, { "labelled", part }, __VA_ARGS__ },    \
          .lambda = lambda_lr,                                                                               \
          .best = true },                                                                                    \
        CURVE("SOURCE by labels", "source", lambda_lr, iw, part, tail, __VA_ARGS__),                         \
        CURVE("AVERAGE", "average", lambda_lr, iw, part, tail, __VA_ARGS__),                                 \
        CURVE("SOFT", "soft", lambda_lr, iw, part, tail, __VA_ARGS__),                                       \
        CURVE("DPHTL", "dphtl", lambda_lr, iw, part, tail, __VA_ARGS__),                                     \
        CURVE("TARGET", "target", own, iw, part, tail, __VA_ARGS__)

/* As printed in full width, with noise of the printed constants; ours along 50 public directions. */
#define PRINTED                                                                                              \
    { "calibration", "paper" }, { "prior", "paper" }
#define OURS                                                                                                 \
    { "prior", "aware" }

static const tacit_variant news_curves[] = { CURVES(0.003, 0.003, "0.001", "0.4118", "", PRINTED),
                                             CURVES(0.01, 0.003, "0.05", "0.4118", NARROW, OURS),
                                             { .method = NULL } };
static const tacit_variant amazon_curves[] = { CURVES(0.005, 0.005, "0.001", "0.5", "", PRINTED),
                                               CURVES(0.01, 0.003, "0.05", "0.5", NARROW, OURS),
                                               { .method = NULL } };

#define WEIGHTS(iw, part, tail, ...) CURVE("DPIW", "dphtl", 0.01, iw, part, tail, __VA_ARGS__)
/* The printed constant beside the tight one in full width, with noise of either law, and along public
 * directions. */
#define EACH_WEIGHTS(part)                                                                                   \
    WEIGHTS("0.001", part, "", { "calibration", "paper" }),                                                  \
        WEIGHTS("0.001", part, ", tight", { "calibration", "tight" }),                                       \
        WEIGHTS("0.05", part, ", Gaussian", { "calibration", "paper" }, { "law", "gaussian" }),              \
        WEIGHTS("0.05", part, ", Gaussian, tight", { "calibration", "tight" }, { "law", "gaussian" }),       \
        WEIGHTS("0.05", part, NARROW, { "calibration", "tight" }), {                                         \
        .method = NULL                                                                                       \
    }
static const tacit_variant news_weights[] = { EACH_WEIGHTS("0.4118") };
static const tacit_variant amazon_weights[] = { EACH_WEIGHTS("0.5") };

static const double epsilons[] = { 0.1, 0.5, 1, 3, 5, INFINITY };

#define MIXTURE(text)                                                                                        \
    { "target mixture " text, NULL, 5, "even" }
static const tacit_setup table43_setups[] = { MIXTURE("[0, .6, .2, 0, .2]"), MIXTURE("[.5, 0, 0, .5, 0]"),
                                              MIXTURE("[.2, 0, .3, .3, .2]") };
static const double table43_mixtures[][TACIT_MIXTURE_SOURCES] = { { 0, 0.6, 0.2, 0, 0.2 },
                                                                  { 0.5, 0, 0, 0.5, 0 },
                                                                  { 0.2, 0, 0.3, 0.3, 0.2 } };
static const tacit_setup table42_setups[] = { { "target mixture [.25, 0, .75, 0]", NULL, 4, "even" },
                                              { "target mixture [0, .5, 0, .5]", NULL, 4, "even" } };
static const double table42_mixtures[][TACIT_MIXTURE_SOURCES] = { { 0.25, 0, 0.75, 0 }, { 0, 0.5, 0, 0.5 } };
static const tacit_setup fig42_setups[] = { MIXTURE("[.2, 0, .4, 0, .4]"), MIXTURE("[.2, .2, .2, .2, .2]"),
                                            MIXTURE("[.2, 0, 0, .8, 0]"), MIXTURE("[0, 0, .6, 0, .4]"),
                                            MIXTURE("[.5, 0, 0, .5, 0]") };
static const double fig42_mixtures[][TACIT_MIXTURE_SOURCES] = { { 0.2, 0, 0.4, 0, 0.4 },
                                                                { 0.2, 0.2, 0.2, 0.2, 0.2 },
                                                                { 0.2, 0, 0, 0.8, 0 },
                                                                { 0, 0, 0.6, 0, 0.4 },
                                                                { 0.5, 0, 0, 0.5, 0 } };
static const tacit_setup fig43_setups[] = { { "target mixture [.75, 0, .25, 0]", NULL, 4, "even" },
                                            { "target mixture [.1, .2, .4, .3]", NULL, 4, "even" },
                                            { "target mixture [0, .5, .5, 0]", NULL, 4, "even" },
                                            { "target mixture [0, .2, .4, .4]", NULL, 4, "even" } };
static const double fig43_mixtures[][TACIT_MIXTURE_SOURCES] = {
    { 0.75, 0, 0.25, 0 }, { 0.1, 0.2, 0.4, 0.3 }, { 0, 0.5, 0.5, 0 }, { 0, 0.2, 0.4, 0.4 }
};

static tacit_status run_table42(const tacit_simulation *base, const tacit_setup *setup, tacit_run *runs,
                                tacit_error *error) {
    return tacit_transfer_run(base, &tacit_transfer_amazon, tacit_transfer_amazon.sources,
                              table42_mixtures[setup - table42_setups], runs, error);
}

static tacit_status run_table43(const tacit_simulation *base, const tacit_setup *setup, tacit_run *runs,
                                tacit_error *error) {
    return tacit_transfer_run(base, &tacit_transfer_news, tacit_transfer_news.sources,
                              table43_mixtures[setup - table43_setups], runs, error);
}

static tacit_status run_fig42(const tacit_simulation *base, const tacit_setup *setup, tacit_run *runs,
                              tacit_error *error) {
    return run_figure(base, &tacit_transfer_news, fig42_mixtures[setup - fig42_setups], runs, error);
}

static tacit_status run_fig43(const tacit_simulation *base, const tacit_setup *setup, tacit_run *runs,
                              tacit_error *error) {
    return run_figure(base, &tacit_transfer_amazon, fig43_mixtures[setup - fig43_setups], runs, error);
}

/* One mixture of a printed table: rows epsilon, columns WEAK SOURCE AVERAGE SOFT DPHTL TARGET. */
#define ROW(at, eps, weak, source, average, soft, dphtl, target)                                             \
    { at, "WEAK", eps, weak }, { at, "SOURCE", eps, source }, { at, "AVERAGE", eps, average },               \
        { at, "SOFT", eps, soft }, { at, "DPHTL", eps, dphtl }, {                                            \
        at, "TARGET", eps, target                                                                            \
    }
static const tacit_printed table42_printed[] = {
    ROW(0, 0.1, .650, .523, .563, .554, .555, .780), ROW(0, 0.5, .650, .574, .623, .625, .614, .780),
    ROW(0, 1, .650, .629, .681, .676, .670, .780),   ROW(0, 3, .650, .723, .751, .744, .755, .780),
    ROW(0, 5, .650, .753, .767, .754, .773, .780),   ROW(0, INFINITY, .650, .770, .776, .764, .788, .780),
    ROW(1, 0.1, .718, .521, .586, .549, .575, .834), ROW(1, 0.5, .718, .598, .662, .646, .657, .834),
    ROW(1, 1, .718, .672, .729, .726, .734, .834),   ROW(1, 3, .718, .786, .801, .786, .814, .834),
    ROW(1, 5, .718, .808, .815, .792, .829, .834),   ROW(1, INFINITY, .718, .823, .818, .794, .838, .834),
};
static const tacit_printed table43_printed[] = {
    ROW(0, 0.1, .735, .537, .639, .533, .636, .848), ROW(0, 0.5, .735, .651, .740, .659, .732, .848),
    ROW(0, 1, .735, .740, .777, .768, .779, .848),   ROW(0, 3, .735, .821, .813, .784, .832, .848),
    ROW(0, 5, .735, .832, .819, .777, .840, .848),   ROW(0, INFINITY, .735, .840, .824, .771, .853, .848),
    ROW(1, 0.1, .704, .540, .588, .533, .585, .792), ROW(1, 0.5, .704, .602, .671, .628, .664, .792),
    ROW(1, 1, .704, .654, .714, .725, .716, .792),   ROW(1, 3, .704, .745, .747, .734, .765, .792),
    ROW(1, 5, .704, .771, .751, .730, .778, .792),   ROW(1, INFINITY, .704, .781, .764, .728, .788, .792),
    ROW(2, 0.1, .703, .544, .609, .547, .608, .790), ROW(2, 0.5, .703, .625, .703, .657, .694, .790),
    ROW(2, 1, .703, .688, .741, .752, .742, .790),   ROW(2, 3, .703, .753, .773, .748, .779, .790),
    ROW(2, 5, .703, .765, .775, .742, .784, .790),   ROW(2, INFINITY, .703, .779, .782, .738, .791, .790),
};

#define NEWS_DIFFERS                                                                                         \
    "Sources have 1,000 unlabelled and 700 labelled documents (the paper: 800), because topics have fewer "  \
    "than 1,000 documents. As in the paper the vocabulary is read off the documents of all domains. No "     \
    "stop words are removed but by frequency, and documents of which no term is left are dropped. "
#define AMAZON_DIFFERS                                                                                       \
    "The unlabelled reviews are not to be had: of 2,000 labelled reviews of a product each source has 500 "  \
    "taken as unlabelled and 500 labelled (the paper: 1,000 each), 150 are public (500), the target has "    \
    "750 (1,500) and the test 350 (600). As in the paper the terms are chosen from the documents of all "    \
    "domains. "
#define REGIMES                                                                                              \
    "Two regimes: the printed one, full width with noise of the printed constants, drawn with the proper "   \
    "law; and ours (p = 50), rows along the public documents' first 50 singular vectors, lambda = .01 "      \
    "(WEAK "                                                                                                 \
    "and TARGET .003), lambda_iw = .05, the tight constants and the prior that knows the noise. Gamma-norm " \
    "noise, delta = 0. "                                                                                     \
    "SOURCE is the best of the hypotheses on the test documents, as in the paper. In full width every "      \
    "private method is at chance up to epsilon = 5: the printed numbers cannot come from the noise that "    \
    "the proof needs."
#define TABLE_SAYS                                                                                           \
    "DPHTL and AVERAGE emerge as better performers at an intermediate privacy level; without a concern for " \
    "privacy DPHTL performs as well as TARGET."
#define FIGURE_SAYS                                                                                          \
    "As epsilon increases the error approaches zero: the weights of the hypotheses estimate the proportion " \
    "of the sources in the target."
#define GAUSSIAN " Curves named Gaussian have delta = 1e-5 and lambda_iw = .05."

/* Rows are dealt out by the runs themselves, so the framework's own dealing is of one row each. */
#define news_dealt                                                                                           \
    "five sources of 1,000 unlabelled and 700 labelled documents, 1,500 public ones, a target of 1,000 "     \
    "with "                                                                                                  \
    "50 labels, 320 test documents"
#define amazon_dealt                                                                                         \
    "four sources of 500 unlabelled and 500 labelled reviews, 600 public ones, a target of up to 750 with "  \
    "5 % "                                                                                                   \
    "of the labels, up to 350 test reviews"
#define COMMON(corpus, setups_)                                                                              \
    .paper = "Wang 2018", .source = "TACIT_DATA: see docs/reproduce.md",                                     \
    .files = tacit_mixture_##corpus##_files, .setups = setups_,                                              \
    .setup_count = sizeof setups_ / sizeof *setups_, .epsilons = epsilons,                                   \
    .epsilon_count = sizeof epsilons / sizeof *epsilons, .rows_each = 1, .held_out_rows = 1,                 \
    .dealt = corpus##_dealt, .is_in_ball = true, .read = tacit_mixture_read_##corpus, .quick = { 2, 1, 0 },  \
    .full = { 20, 1, 0 }
#define MEASURES "mean squared error of the hypotheses' weights"

#define NOT_BELOW(text, better, epsilon_, slack, worse, because)                                             \
    .says = text, .above = { better, epsilon_, NULL, slack }, .below = { worse, epsilon_, NULL, 0 },         \
    .why = because
#define NEEDS_PROJECTION                                                                                     \
    "in full width the noise that the proof needs is thousands of times the weights: every private method "  \
    "is at chance up to epsilon = 5. Along 50 public directions it is met except in a mixture or two"
static const tacit_claim table_claims[] = {
    { NOT_BELOW("DPHTL is better than the target's few labels alone at epsilon = 3 (full width)", "DPHTL", 3,
                0, "WEAK", NEEDS_PROJECTION) },
    { NOT_BELOW("the same of ours, along 50 public directions (within .01)", "DPHTL, p = 50", 3, 0.01,
                "WEAK, p = 50", "in one mixture of three, by less than two draws can tell"),
      .ours = true },
    { NOT_BELOW("DPHTL is better than SOURCE at epsilon = 1 (along 50 directions)", "DPHTL, p = 50", 1, 0,
                "SOURCE, p = 50", NULL) },
    { NOT_BELOW("AVERAGE is better than SOURCE at epsilon = 1 (along 50 directions)", "AVERAGE, p = 50", 1, 0,
                "SOURCE, p = 50", NULL) },
    { NOT_BELOW("DPHTL is better than SOFT at epsilon = 1 (along 50 directions)", "DPHTL, p = 50", 1, 0,
                "SOFT, p = 50", NULL) },
    { NOT_BELOW("without noise DPHTL performs as well as TARGET (within .03)", "DPHTL", INFINITY, 0.03,
                "TARGET", "TARGET has every label of the target, and is better than printed") },
};
#define WEIGHTS_IMPROVE(text, curve_, because)                                                               \
    .says = text, .above = { curve_, 0.1, NULL, -0.02 }, .below = { curve_, 5, NULL, 0 }, .why = because
static const tacit_claim weight_claims[] = {
    { WEIGHTS_IMPROVE(
        "as epsilon increases to 5 the error of the weights approaches zero (full width, by .02)", "DPIW",
        NEEDS_PROJECTION) },
    { .says = "the same of ours, along 50 public directions (error below .02 at epsilon = 5)",
      .above = { NULL, 0, NULL, 0.02 },
      .below = { "DPIW, p = 50", 5, NULL, 0 },
      .ours = true },
    { .says = "without noise the weights are the proportions (error below .02)",
      .above = { NULL, 0, NULL, 0.02 },
      .below = { "DPIW", INFINITY, NULL, 0 } },
};
#define CLAIMS(list) .claims = list, .claim_count = sizeof list / sizeof *list

const tacit_experiment tacit_experiment_wang_table42 = {
    .id = "wang-table42",
    .figure = "table 4.2",
    .title = "Transfer to a mixture of product reviews",
    .differs = AMAZON_DIFFERS REGIMES,
    .says = TABLE_SAYS,
    .curves = amazon_curves,
    .printed = table42_printed,
    .printed_count = sizeof table42_printed / sizeof *table42_printed,
    .run = run_table42,
    .why =
        "the printed numbers cannot come from the noise that the proof needs; without noise the texts differ",
    CLAIMS(table_claims),
    COMMON(amazon, table42_setups),
};

const tacit_experiment tacit_experiment_wang_table43 = {
    .id = "wang-table43",
    .figure = "table 4.3",
    .title = "Transfer to a mixture of newsgroups",
    .differs = NEWS_DIFFERS REGIMES,
    .says = TABLE_SAYS,
    .curves = news_curves,
    .printed = table43_printed,
    .printed_count = sizeof table43_printed / sizeof *table43_printed,
    .run = run_table43,
    .why =
        "the printed numbers cannot come from the noise that the proof needs; without noise the texts differ",
    CLAIMS(table_claims),
    .reads_texts = true,
    COMMON(news, table43_setups),
};

const tacit_experiment tacit_experiment_wang_fig42 = {
    .id = "wang-fig42",
    .figure = "figure 4.2",
    .title = "Which sources a mixture of newsgroups is made of",
    .differs = NEWS_DIFFERS
    "The figure's numbers are not printed; the last mixture is one of table 4.3. " REGIMES GAUSSIAN,
    .says = FIGURE_SAYS,
    .curves = news_weights,
    .measures = MEASURES,
    .run = run_fig42,
    .less_is_better = true,
    CLAIMS(weight_claims),
    .reads_texts = true,
    COMMON(news, fig42_setups),
};

const tacit_experiment tacit_experiment_wang_fig43 = {
    .id = "wang-fig43",
    .figure = "figure 4.3",
    .title = "Which sources a mixture of product reviews is made of",
    .differs = AMAZON_DIFFERS "The figure's numbers are not printed. " REGIMES GAUSSIAN,
    .says = FIGURE_SAYS,
    .curves = amazon_weights,
    .measures = MEASURES,
    .run = run_fig43,
    .less_is_better = true,
    CLAIMS(weight_claims),
    COMMON(amazon, fig43_setups),
};
