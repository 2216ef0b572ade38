/*
 * meta: a regression at every site, and its coefficients pooled over sites that may differ, from sums over
 * sites alone (DerSimonian & Laird 1986; Paule & Mandel 1982).
 *
 *   site k:       fits its own regression (method estimate with nobody else): of each coefficient an
 *                 estimate y_k with its error s_k; w_k = 1/s_k^2
 *   round 0:      the sum of log2 w_k: in which units the rest is asked for
 *   round 1:      the sums of w, w y, w y^2 and w^2: fixed effect, Q, and tau^2 by DerSimonian and Laird
 *   round 2:      coordinator sends tau^2; with w* = 1/(s_k^2 + tau^2) the sums of w* and w* y: random effect
 *   PM:           rounds 2, 3, ... with the sum of w* y^2 too, until Q(tau^2) = k - 1 (num/meta_analysis.h)
 *
 * Equal to R's metafor. No noise: nothing here is differentially private (price: an infinite epsilon).
 *
 * Sums hide a site only while they are fewer than what they are made of: K sites have 2 K numbers a
 * coefficient, and as many sums would be solved for them (at K = 3 the six of DL). The numbers opened are
 * counted, by the parties too, and stay below 2 (K - colluders). With forest=yes nothing is hidden: sites
 * send their estimates, and everything is computed from these.
 */
#include "method/exact/meta.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "method/methods.h"
#include "model/report/report.h"
#include "session/session.h"

static const meta_settings defaults = { .level = 0.95 };

static const tacit_parameter parameters[] = {
    TACIT_CHOICE(meta_settings, family, "family", TACIT_ESTIMATE_FAMILIES,
                 "of each site's regression, as in method estimate"),
    TACIT_CHOICE(meta_settings, tau, "tau", "DL|PM",
                 "the variance between sites: DerSimonian and Laird's, or Paule and Mandel's, which takes "
                 "more sums and so more sites"),
    TACIT_NUMBER(meta_settings, level, "level", 0.5, 0.999999, "of the confidence intervals"),
    TACIT_CHOICE(meta_settings, bias, "bias", TACIT_ESTIMATE_BIASES,
                 "firth: Firth's penalty in each site's regression"),
    TACIT_CHOICE(meta_settings, errors, "errors", TACIT_ESTIMATE_ERRORS,
                 "of each site's regression, as in method estimate"),
    TACIT_CHOICE(meta_settings, forest, "forest", "no|yes",
                 "yes: every site's own estimates are shown, with the weight that each has"),
    MISSING_SUM_SETTING(meta_settings, missing),
    TACIT_SETTINGS_END,
};

static bool shows_sites(const tacit_plan *plan) { return meta_settings_of(plan)->forest == META_FOREST_YES; }

/* Where sites show their own numbers there is no first sum that these could be part of. */
static tacit_counted counts_missing(const tacit_plan *plan) {
    return shows_sites(plan) ? TACIT_COUNTED_NOT : missing_sum_counted(plan, meta_settings_of(plan)->missing);
}

/* A search takes at least two looks, and a third to see that it has ended. */
enum { FEWEST_LOOKS = 3 };

static tacit_status check_count(const tacit_plan *plan, tacit_error *error) {
    bool pm = meta_settings_of(plan)->tau == META_PM;
    double needs = meta_opened(plan, pm ? 1 + FEWEST_LOOKS : 2), allowed = meta_allowed(plan, false);
    if (shows_sites(plan) || needs <= allowed) return TACIT_OK;
    double sites = floor(needs / 2) + 1 + (double)tacit_plan_colluders(plan);
    return tacit_fail(error, TACIT_USAGE,
                      "method meta opens %.0f sums of each coefficient, and %.0f would determine every "
                      "site's own estimates: have at least %.0f parties%s, or let sites show theirs (forest: "
                      "yes)",
                      needs, allowed + 1, fmax(sites, 2), pm ? ", ask for tau: DL" : "");
}

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    tacit_plan site;
    TACIT_TRY(meta_site_plan(&site, plan, error));
    TACIT_TRY(tacit_estimate_check(&site, error));
    if (tacit_estimate_sets(&site) > 0)
        return tacit_fail(error, TACIT_USAGE, "method meta does not impute: write missing: complete-case");
    return check_count(plan, error);
}

static tacit_status choose_lambda(const tacit_plan *plan, double *out, tacit_error *error) {
    (void)plan;
    (void)error;
    *out = 0; /* maximum likelihood */
    return TACIT_OK;
}

/* ---- the coordinator's half ---- */

/* A coefficient in its units of 2^(e/2). */
typedef struct coefficient {
    int exponent;
    tacit_meta_sums sums;
    tacit_meta_search search; /* PM */
    double tau2, w, wy;       /* of the random effect */
} coefficient;

typedef struct analysis {
    tacit_session *session;
    tacit_design design;
    size_t parties;
    double rows;
    coefficient *of; /* design.width */
    double *means;   /* of log2 w */
    double *tau2;
    double *missing; /* how many values are; NULL: not counted */
} analysis;

static tacit_status begin(analysis *self, tacit_session *session, tacit_error *error) {
    tacit_plan site;
    *self = (analysis){ .session = session };
    TACIT_TRY(meta_site_plan(&site, session->plan, error));
    TACIT_TRY(
        tacit_design_create(&self->design, tacit_estimate_family(&site), site.schema, site.features, error));
    self->of = TACIT_NEW(coefficient, self->design.width);
    self->means = TACIT_NEW(double, self->design.width);
    self->tau2 = TACIT_NEW(double, self->design.width);
    return self->of != NULL && self->means != NULL && self->tau2 != NULL ? TACIT_OK
                                                                         : tacit_fail_memory(error);
}

static void end(analysis *self) {
    free(self->of);
    free(self->means);
    free(self->tau2);
    free(self->missing);
    tacit_design_clear(&self->design);
}

static tacit_status ask(analysis *self, const char *question, const tacit_message *message,
                        const tacit_sum_spec *spec, tacit_sum *sum, tacit_error *error) {
    TACIT_TRY(tacit_ask_sum(self->session, question, message, spec, sum, error));
    double rows = ldexp(sum->values[0], spec->grid_bits);
    if (self->session->round == 1) { /* the first one */
        self->parties = sum->parties;
        self->rows = rows;
    }
    if (sum->parties == self->parties && rows == self->rows) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "other parties answered '%s' than the rounds before: an analysis needs the same ones "
                      "in every round; run the study again",
                      question);
}

/* A site that refuses leaves fewer for the sums to hide. */
static tacit_status check_present(const analysis *self, tacit_error *error) {
    const tacit_plan *plan = self->session->plan;
    double allowed = 2 * ((double)self->parties - (double)tacit_plan_colluders(plan)) - 1;
    if (meta_opened(plan, 2) <= allowed) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "%zu sites have answered, and %.0f sums of each coefficient would determine their "
                      "estimates: method meta needs more of them",
                      self->parties, meta_opened(plan, 2));
}

static tacit_status ask_scale(analysis *self, tacit_error *error) {
    tacit_sum_spec spec = meta_scale_sum(self->session->plan, self->design.width);
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(ask(self, "scale", NULL, &spec, &sum, error));
    TACIT_CHECK(check_present(self, error));
    TACIT_CHECK(
        missing_sum_keep(&self->missing, self->session->plan, &sum, META_HEAD + self->design.width, error));
    for (size_t j = 0; j < self->design.width; j++) {
        self->means[j] = sum.values[META_HEAD + j] / (double)self->parties;
        self->of[j].exponent = meta_exponent(self->means[j]);
    }
cleanup:
    tacit_sum_clear(&sum);
    return status;
}

/* The sums of `numbers` of each coefficient, unpacked: at the tau^2 of each, or without. */
static tacit_status ask_numbers(analysis *self, const char *question, size_t numbers, bool tau2,
                                tacit_sum *sum, tacit_error *error) {
    size_t width = self->design.width;
    tacit_sum_spec spec = meta_sum(self->session->plan, numbers * width);
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "means", self->means, width, error));
    if (tau2) TACIT_CHECK(tacit_message_add_numbers(&message, "tau2", self->tau2, width, error));
    TACIT_CHECK(ask(self, question, &message, &spec, sum, error));
    for (size_t i = 0; i < numbers * width; i++)
        sum->values[META_HEAD + i] = ldexp(sum->values[META_HEAD + i], -meta_shift[i % numbers]);
cleanup:
    tacit_message_clear(&message);
    return status;
}

static tacit_status ask_moments(analysis *self, tacit_error *error) {
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status = ask_numbers(self, "moments", META_MOMENTS, false, &sum, error);
    for (size_t j = 0; j < self->design.width && status == TACIT_OK; j++) {
        const double *value = sum.values + META_HEAD + META_MOMENTS * j;
        self->of[j].sums = (tacit_meta_sums){ (double)self->parties, value[0], value[1], value[2], value[3] };
    }
    tacit_sum_clear(&sum);
    return status;
}

/* ---- the random effect ---- */

/* Whether there is something to ask for: where tau^2 is 0 its sums are known. */
static bool has_spread(const analysis *self) {
    for (size_t j = 0; j < self->design.width; j++)
        if (self->tau2[j] > 0) return true;
    return false;
}

static tacit_status pool_dl(analysis *self, tacit_error *error) {
    tacit_sum sum = TACIT_SUM_INIT;
    for (size_t j = 0; j < self->design.width; j++) {
        coefficient *one = &self->of[j];
        self->tau2[j] = one->tau2 = tacit_meta_dl(&one->sums);
        one->w = one->sums.w;
        one->wy = one->sums.wy;
    }
    if (!has_spread(self)) return TACIT_OK;
    tacit_status status = ask_numbers(self, "weights", 2, true, &sum, error);
    for (size_t j = 0; j < self->design.width && status == TACIT_OK; j++) {
        self->of[j].w = sum.values[META_HEAD + 2 * j];
        self->of[j].wy = sum.values[META_HEAD + 2 * j + 1];
    }
    tacit_sum_clear(&sum);
    return status;
}

static bool search_is_over(const analysis *self) {
    for (size_t j = 0; j < self->design.width; j++)
        if (!self->of[j].search.done) return false;
    return true;
}

static tacit_status out_of_sums(const analysis *self, tacit_error *error) {
    return tacit_fail(error, TACIT_NOT_CONVERGED,
                      "tau^2 by Paule and Mandel's way needs more sums than may be opened of %zu sites, or "
                      "than %d: ask for tau: DL, have more parties, or let sites show their estimates "
                      "(forest: yes)",
                      self->parties, TACIT_META_POINTS);
}

static tacit_status look_once(analysis *self, tacit_error *error) {
    tacit_sum sum = TACIT_SUM_INIT;
    for (size_t j = 0; j < self->design.width; j++) self->tau2[j] = self->of[j].search.next;
    tacit_status status = ask_numbers(self, "weights", 3, true, &sum, error);
    for (size_t j = 0; j < self->design.width && status == TACIT_OK; j++) {
        const double *value = sum.values + META_HEAD + 3 * j;
        tacit_meta_add(&self->of[j].search, value[0], value[1], value[2]);
    }
    tacit_sum_clear(&sum);
    return status;
}

static tacit_status pool_pm(analysis *self, tacit_error *error) {
    const tacit_plan *plan = self->session->plan;
    for (size_t j = 0; j < self->design.width; j++) tacit_meta_begin(&self->of[j].search, &self->of[j].sums);
    while (!search_is_over(self)) {
        if (meta_opened(plan, self->session->round) > meta_allowed(plan, false) ||
            self->session->round > TACIT_META_POINTS)
            return out_of_sums(self, error);
        TACIT_TRY(look_once(self, error));
    }
    for (size_t j = 0; j < self->design.width; j++) {
        coefficient *one = &self->of[j];
        one->tau2 = one->search.next;
        tacit_meta_end(&one->search, &one->w, &one->wy);
    }
    return TACIT_OK;
}

/* ---- from the sites' own estimates ---- */

typedef struct shown {
    size_t count;
    const double **estimate, **error; /* of each site */
} shown;

/* The sums at a tau^2. */
static tacit_meta_sums add_up(const shown *sites, size_t j, double tau2) {
    tacit_meta_sums out = { .sites = (double)sites->count };
    for (size_t k = 0; k < sites->count; k++) {
        double y = sites->estimate[k][j], w = 1 / (sites->error[k][j] * sites->error[k][j] + tau2);
        out.w += w;
        out.wy += w * y;
        out.wyy += w * y * y;
        out.ww += w * w;
    }
    return out;
}

static tacit_status pool_shown(analysis *self, const shown *sites, tacit_error *error) {
    bool pm = meta_settings_of(self->session->plan)->tau == META_PM;
    for (size_t j = 0; j < self->design.width; j++) {
        coefficient *one = &self->of[j];
        one->sums = add_up(sites, j, 0);
        one->tau2 = tacit_meta_dl(&one->sums);
        if (pm && sites->count > 1) {
            tacit_meta_begin(&one->search, &one->sums);
            for (size_t k = 0; !one->search.done; k++) {
                if (k == TACIT_META_POINTS) return out_of_sums(self, error);
                tacit_meta_sums at = add_up(sites, j, one->search.next);
                tacit_meta_add(&one->search, at.w, at.wy, at.wyy);
            }
            one->tau2 = one->search.next;
        }
        tacit_meta_sums at = add_up(sites, j, one->tau2);
        one->w = at.w;
        one->wy = at.wy;
    }
    return TACIT_OK;
}

/* ---- the report ---- */

static tacit_status name_of(const analysis *self, size_t place, tacit_buffer *name, tacit_error *error) {
    tacit_buffer_clear(name);
    return tacit_design_name(&self->design, tacit_design_at(&self->design, place), name, error);
}

static tacit_status add_pooled(const analysis *self, tacit_report *report, bool random, tacit_error *error) {
    static const char *const columns[] = { "estimate", "error", "z", "p", "low", "high", NULL };
    tacit_report_table *table;
    tacit_buffer name = TACIT_BUFFER_INIT;
    double level = meta_settings_of(self->session->plan)->level;
    tacit_status status;
    TACIT_CHECK(tacit_report_add_table(report, &table, random ? "random" : "fixed",
                                       random ? "Random effects" : "Fixed effect", columns, error));
    for (size_t j = 0; j < self->design.width; j++) {
        const coefficient *one = &self->of[j];
        double unit = ldexp(1, -one->exponent / 2);
        tacit_meta_pooled at =
            tacit_meta_pool(random ? one->w : one->sums.w, random ? one->wy : one->sums.wy, level);
        double values[] = { at.estimate * unit, at.error * unit, at.statistic, at.p,
                            at.low * unit,      at.high * unit };
        TACIT_CHECK(name_of(self, j, &name, error));
        TACIT_CHECK(tacit_report_add_row(table, tacit_buffer_text(&name), values, NULL, error));
    }
cleanup:
    tacit_buffer_clear(&name);
    return status;
}

static tacit_status add_spread(const analysis *self, tacit_report *report, tacit_error *error) {
    static const char *const columns[] = { "Q", "df", "p", "tau^2", "I^2 %", "H^2", NULL };
    tacit_report_table *table;
    tacit_buffer name = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(
        tacit_report_add_table(report, &table, "heterogeneity", "Whether sites differ", columns, error));
    for (size_t j = 0; j < self->design.width; j++) {
        const coefficient *one = &self->of[j];
        tacit_meta_spread at = tacit_meta_describe(&one->sums, one->tau2);
        double values[] = { at.q, at.degrees, at.p, ldexp(at.tau2, -one->exponent), 100 * at.i2, at.h2 };
        TACIT_CHECK(name_of(self, j, &name, error));
        TACIT_CHECK(tacit_report_add_row(table, tacit_buffer_text(&name), values, NULL, error));
    }
cleanup:
    tacit_buffer_clear(&name);
    return status;
}

/* A table for each coefficient, a line for each site. */
static tacit_status add_forest(const analysis *self, tacit_report *report, const shown *sites, size_t j,
                               const char *name, tacit_error *error) {
    static const char *const columns[] = { "estimate",     "error",         "low", "high",
                                           "fixed weight", "random weight", NULL };
    double level = meta_settings_of(self->session->plan)->level;
    const coefficient *all = &self->of[j];
    char text[220], title[240];
    tacit_report_table *table;
    snprintf(text, sizeof text, "forest %.200s", name);
    snprintf(title, sizeof title, "Sites: %.200s", name);
    TACIT_TRY(tacit_report_add_table(report, &table, text, title, columns, error));
    for (size_t k = 0; k < sites->count; k++) {
        double y = sites->estimate[k][j], variance = sites->error[k][j] * sites->error[k][j];
        tacit_meta_pooled at = tacit_meta_pool(1 / variance, y / variance, level);
        double values[] = { at.estimate,
                            at.error,
                            at.low,
                            at.high,
                            1 / variance / all->sums.w,
                            1 / (variance + all->tau2) / all->w };
        snprintf(text, sizeof text, "site %zu", k + 1);
        TACIT_TRY(tacit_report_add_row(table, text, values, NULL, error));
    }
    return TACIT_OK;
}

static tacit_status make_report(const analysis *self, const shown *sites, tacit_report **out,
                                tacit_error *error) {
    const tacit_plan *plan = self->session->plan;
    tacit_report *report = NULL;
    tacit_buffer name = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_report_create(&report, "meta", false, self->rows, error));
    TACIT_CHECK(tacit_report_add_fact(report, "sites", (double)self->parties, NULL, error));
    TACIT_CHECK(tacit_report_add_fact(report, "level", meta_settings_of(plan)->level, NULL, error));
    TACIT_CHECK(tacit_report_add_fact(report, "tau", NAN,
                                      meta_settings_of(plan)->tau == META_PM ? "PM" : "DL", error));
    if (sites == NULL)
        TACIT_CHECK(tacit_report_add_fact(report, "sums opened of a coefficient",
                                          meta_opened(plan, self->session->round - 1), NULL, error));
    TACIT_CHECK(add_pooled(self, report, false, error));
    TACIT_CHECK(add_pooled(self, report, true, error));
    TACIT_CHECK(add_spread(self, report, error));
    for (size_t j = 0; sites != NULL && j < self->design.width; j++) {
        TACIT_CHECK(name_of(self, j, &name, error));
        TACIT_CHECK(add_forest(self, report, sites, j, tacit_buffer_text(&name), error));
    }
    TACIT_CHECK(missing_sum_add_table(report, plan->schema, self->missing, 0, error));
    *out = report;
    report = NULL;
cleanup:
    tacit_buffer_clear(&name);
    tacit_report_free(report);
    return status;
}

static tacit_status finish(const analysis *self, const shown *sites, tacit_outcome *out, tacit_error *error) {
    const tacit_plan *plan = self->session->plan;
    tacit_report *report = NULL;
    tacit_model *model = NULL;
    TACIT_TRY(make_report(self, sites, &report, error));
    TACIT_TRY(tacit_model_create_report(&model, report, plan->features, plan->classes, error));
    out->parties = self->parties;
    return tacit_outcome_add(out, model, error);
}

static tacit_status coordinate_shown(analysis *self, tacit_outcome *out, tacit_error *error) {
    size_t width = self->design.width;
    tacit_answers answers = TACIT_ANSWERS_INIT;
    shown sites = { .count = 0 };
    const double *rows;
    tacit_status status;
    TACIT_CHECK(tacit_ask(self->session, "site", NULL, &answers, error));
    sites.count = self->parties = answers.count;
    sites.estimate = TACIT_NEW(const double *, 2 * answers.count);
    if (sites.estimate == NULL) TACIT_CHECK(tacit_fail_memory(error));
    sites.error = sites.estimate + answers.count;
    for (size_t k = 0; k < answers.count; k++) {
        const tacit_message *one = &answers.answer[k].message;
        TACIT_CHECK(tacit_message_numbers(one, "rows", 1, &rows, error));
        TACIT_CHECK(tacit_message_numbers(one, "estimates", width, &sites.estimate[k], error));
        TACIT_CHECK(tacit_message_numbers(one, "errors", width, &sites.error[k], error));
        self->rows += *rows;
    }
    TACIT_CHECK(pool_shown(self, &sites, error));
    TACIT_CHECK(finish(self, &sites, out, error));
cleanup:
    free(sites.estimate);
    tacit_answers_clear(&answers);
    return status;
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    analysis self;
    tacit_status status;
    TACIT_CHECK(begin(&self, session, error));
    if (shows_sites(session->plan)) {
        TACIT_CHECK(coordinate_shown(&self, out, error));
        goto cleanup;
    }
    TACIT_CHECK(ask_scale(&self, error));
    TACIT_CHECK(ask_moments(&self, error));
    TACIT_CHECK(meta_settings_of(session->plan)->tau == META_PM ? pool_pm(&self, error)
                                                                : pool_dl(&self, error));
    TACIT_CHECK(finish(&self, NULL, out, error));
cleanup:
    end(&self);
    return status;
}

/* Scales, moments, and sums with the variance between sites. */
static uint64_t exchanges(const tacit_plan *plan) {
    if (shows_sites(plan)) return 1;
    return meta_settings_of(plan)->tau == META_PM ? 0 : 3;
}

const tacit_method tacit_method_meta = {
    .name = "meta",
    .title = "a regression at every site, pooled over sites that differ (meta-analysis), no noise",
    .reference = "DerSimonian & Laird 1986; Paule & Mandel 1982",
    .version = 1,
    .units = "record",
    .noise_free = true,
    .terms = TACIT_TERMS_ALL,
    .takes_numbers = true,
    .lambda_may_vanish = true,
    .reports = "meta",
    TACIT_SETTINGS_OF(parameters, defaults),
    .leaves = "[forest=no: of each coefficient of the site's own regression, as contributions to sums: its "
              "weight 1/error^2, the weight's square and logarithm, and the weight times the estimate and "
              "its square; then the same with the variance between sites in the weight][forest=no,tau=DL: , "
              "once][forest=no,tau=PM: , several times][forest=yes: the coefficients of the site's own "
              "regression with their errors, in clear]; its number of rows" MISSING_SUM_LEAVE,
    .seen_by = "[forest=no,sees=sum: the coordinator sees the exact totals over all sites, and no single "
               "site's][forest=no,sees=each: the coordinator sees each site's numbers, and so its "
               "estimates][forest=yes: everybody sees each site's own estimates and errors]. Everybody "
               "sees the pooled estimates and how much sites differ" MISSING_SUM_SEEN,
    .guarantee = "no differential privacy: the sums are exact, and no noise is added. No row leaves as it "
                 "is[forest=no: , and no site's own estimate as long as fewer than 2 (K - colluders) numbers "
                 "of each coefficient are opened of K sites, which the parties count]",
    .assumption = "the coordinator keeps the [sees=sum: totals][sees=each: numbers] to itself; every site "
                  "has many more rows than there are columns",
    .theorem = "no privacy theorem applies. K sites have 2 K unknowns a coefficient, an estimate and an "
               "error: fewer sums than that have more than one solution",
    .claim = "the same",
    .caveats =
        "there being several solutions does not say how far apart they are: of five sites, seven sums "
        "narrow each one down. A site whose error is far smaller than the others' makes up the sums: sites "
        "refuse from nine tenths of the weight on, by what the coordinator says of the units. Two studies of "
        "the same sites and terms open sums of the same unknowns, and nobody counts them together. A site "
        "without a finite estimate of every coefficient refuses, which says so much of its rows. The same "
        "parties must answer in every round",
    .check = check,
    .price = tacit_nonprivate_price,
    .choose_lambda = choose_lambda,
    .single = shows_sites,
    .counts_missing = counts_missing,
    .release_kind = tacit_estimate_kind,
    .exchanges = exchanges,
    .fewest = 1,
    .asks = "as many questions to each site, one after the other, as the search for the variance between "
            "sites takes, some five to ten (tau=DL takes three)",
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = meta_handlers,
};
