#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/report/estimates_parts.h"

/* JSON has no NaN: what does not apply is null. */
static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static const char INTERCEPT[] = "(Intercept)"; /* one so called needs no key */

static json_t *coefficient_to_json(const tacit_coefficient *one) {
    json_t *object =
        json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "name", one->name, "estimate", number(one->estimate),
                  "error", number(one->error), "statistic", number(one->statistic), "p", number(one->p),
                  "low", number(one->low), "high", number(one->high));
    if (object != NULL && one->intercept && strcmp(one->name, INTERCEPT) != 0)
        json_object_set_new(object, "intercept", json_true());
    return object;
}

static json_t *terms_to_json(const tacit_term *terms, size_t count) {
    json_t *list = json_array();
    for (size_t k = 0; k < count; k++) {
        const tacit_term *term = &terms[k];
        json_array_append_new(list, json_pack("{s:s,s:I,s:o,s:o,s:o}", "name", term->name, "degrees",
                                              (json_int_t)term->count, "statistic", number(term->statistic),
                                              "p", number(term->p), "inflation", number(term->inflation)));
    }
    return list;
}

static json_t *ratios_to_json(const tacit_estimates *estimates) {
    json_t *list = json_array();
    for (size_t k = 0; k < estimates->ratios; k++) {
        const tacit_term_ratio *one = &estimates->ratio[k];
        json_array_append_new(list, json_pack("{s:s,s:f,s:o,s:o,s:o}", "name", one->name, "degrees",
                                              one->degrees, "deviance", number(one->deviance), "statistic",
                                              number(one->statistic), "p", number(one->p)));
    }
    return json_pack("{s:s,s:o}", "kind", estimates->anova, "terms", list);
}

static json_t *covariance_to_json(const tacit_estimates *estimates) {
    json_t *rows = json_array();
    for (size_t i = 0; i < estimates->count; i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < estimates->count; j++)
            json_array_append_new(row, json_real(estimates->covariance[i * estimates->count + j]));
        json_array_append_new(rows, row);
    }
    return rows;
}

/* What only estimates with noise have: keys of their own, so that other files stay as they are. */
static json_t *add_noise(json_t *object, const tacit_estimates *estimates) {
    json_t *noise = json_array();
    if (object == NULL) return NULL;
    for (size_t k = 0; k < estimates->count; k++)
        json_array_append_new(noise, number(estimates->coefficient[k].noise));
    json_object_set_new(object, "noise_share", noise);
    if (estimates->covariance != NULL)
        json_object_set_new(object, "covariance", covariance_to_json(estimates));
    if (estimates->needs_rows > 0)
        json_object_set_new(object, "not_estimable",
                            json_pack("{s:f,s:o,s:s}", "rows", estimates->needs_rows, "epsilon",
                                      number(estimates->needs_epsilon), "weakest",
                                      estimates->coefficient[estimates->weakest].name));
    return object;
}

static json_t *influence_to_json(const tacit_influence *at, double degrees) {
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "pearson", number(at->pearson), "dispersion",
                     number(at->pearson / degrees), "leverage", number(at->leverage), "leverage_squares",
                     number(at->leverage_squares), "tjur", number(at->tjur), "cook_rows",
                     number(at->cook_rows), "cook_held", number(at->cook_held));
}

/* Keys that are there only where a study asked for what they tell. */
static json_t *add_asked(json_t *object, const tacit_estimates *estimates) {
    if (object == NULL) return NULL;
    if (estimates->terms > 0)
        json_object_set_new(object, "terms", terms_to_json(estimates->term, estimates->terms));
    if (estimates->anova[0] != 0) json_object_set_new(object, "anova", ratios_to_json(estimates));
    if (estimates->concordance > 0)
        json_object_set_new(object, "concordance",
                            json_pack("{s:f,s:f}", "estimate", estimates->concordance, "bound",
                                      estimates->concordance_bound));
    if (estimates->trends > 0)
        json_object_set_new(object, "proportional",
                            json_pack("{s:s,s:o}", "time", estimates->trend_of, "tests",
                                      terms_to_json(estimates->trend, estimates->trends)));
    if (estimates->errors[0] != 0) json_object_set_new(object, "errors", json_string(estimates->errors));
    if (estimates->clusters > 0) json_object_set_new(object, "clusters", json_real(estimates->clusters));
    if (estimates->party_intercepts > 0)
        json_object_set_new(object, "sites",
                            json_pack("{s:f,s:f,s:o,s:o}", "intercepts", estimates->party_intercepts,
                                      "degrees", estimates->party_intercepts - 1, "statistic",
                                      number(estimates->site_statistic), "p", number(estimates->site_p)));
    if (estimates->influence.known)
        json_object_set_new(object, "influence",
                            influence_to_json(&estimates->influence, tacit_estimates_degrees(estimates)));
    return object;
}

json_t *tacit_estimates_to_json(const tacit_estimates *estimates) {
    json_t *list = json_array();
    for (size_t k = 0; k < estimates->count; k++)
        json_array_append_new(list, coefficient_to_json(&estimates->coefficient[k]));
    if (json_array_size(list) != estimates->count) {
        json_decref(list);
        return NULL;
    }
    json_t *object =
        json_pack("{s:s,s:s,s:s,s:o,s:s,s:b,s:f,s:f,s:o,s:o,s:o,s:o,s:o,s:f,s:I,s:I}", "family",
                  estimates->family, "optimiser", estimates->optimiser, "response", estimates->response,
                  "coefficients", list, "statistic", estimates->student ? "t" : "z", "sandwich",
                  estimates->sandwich, "level", estimates->level, "dispersion", estimates->dispersion,
                  "deviance", number(estimates->deviance), "null_deviance", number(estimates->null_deviance),
                  "aic", number(estimates->aic), "degrees", number(tacit_estimates_degrees(estimates)),
                  "null_degrees", number(tacit_estimates_null_degrees(estimates)), "rows", estimates->rows,
                  "iterations", (json_int_t)estimates->iterations, "rounds", (json_int_t)estimates->rounds);
    if (object != NULL && estimates->formula != NULL &&
        json_object_set_new(object, "formula", json_string(estimates->formula)) != 0) {
        json_decref(object);
        return NULL;
    }
    if (estimates->baseline != NULL && object != NULL)
        json_object_set_new(object, "baseline", tacit_baseline_to_json(estimates->baseline));
    if (object != NULL && estimates->firth) {
        json_object_set_new(object, "bias", json_string("firth"));
        json_object_set_new(object, "penalised_log_likelihood", number(estimates->penalised));
    }
    object = add_asked(object, estimates);
    return estimates_add_missing(estimates->noisy ? add_noise(object, estimates) : object, estimates);
}

static bool read_number(const json_t *object, const char *key, double *out) {
    const json_t *value = json_object_get(object, key);
    if (json_is_null(value)) {
        *out = NAN;
        return true;
    }
    *out = json_number_value(value);
    return json_is_number(value) && isfinite(*out);
}

static bool read_coefficient(tacit_coefficient *out, const json_t *object) {
    const char *name = json_string_value(json_object_get(object, "name"));
    if (name == NULL) return false;
    out->name = tacit_copy_text(name);
    out->intercept = strcmp(name, INTERCEPT) == 0 || json_is_true(json_object_get(object, "intercept"));
    return out->name != NULL && read_number(object, "estimate", &out->estimate) &&
           read_number(object, "error", &out->error) && read_number(object, "statistic", &out->statistic) &&
           read_number(object, "p", &out->p) && read_number(object, "low", &out->low) &&
           read_number(object, "high", &out->high);
}

static bool read_covariance(tacit_estimates *out, const json_t *rows) {
    size_t count = out->count;
    if (rows == NULL) return true;
    if (!json_is_array(rows) || json_array_size(rows) != count) return false;
    out->covariance = TACIT_NEW(double, count *count);
    for (size_t i = 0; out->covariance != NULL && i < count; i++) {
        const json_t *row = json_array_get(rows, i);
        if (!json_is_array(row) || json_array_size(row) != count) return false;
        for (size_t j = 0; j < count; j++) {
            const json_t *value = json_array_get(row, j);
            out->covariance[i * count + j] = json_number_value(value);
            if (!json_is_number(value) || !isfinite(json_number_value(value))) return false;
        }
    }
    return out->covariance != NULL;
}

static bool read_needs(tacit_estimates *out, const json_t *needs) {
    if (needs == NULL) return true;
    const char *weakest = json_string_value(json_object_get(needs, "weakest"));
    if (weakest == NULL || !read_number(needs, "rows", &out->needs_rows) || !(out->needs_rows > 0) ||
        !read_number(needs, "epsilon", &out->needs_epsilon))
        return false;
    for (size_t k = 0; k < out->count; k++)
        if (strcmp(out->coefficient[k].name, weakest) == 0) out->weakest = k;
    return true;
}

static bool read_noise(tacit_estimates *out, const json_t *object) {
    const json_t *noise = json_object_get(object, "noise_share");
    if (noise == NULL) return true;
    if (!json_is_array(noise) || json_array_size(noise) != out->count) return false;
    out->noisy = true;
    for (size_t k = 0; k < out->count; k++) {
        const json_t *value = json_array_get(noise, k);
        double share = json_is_null(value) ? NAN : json_number_value(value);
        if (!json_is_null(value) && !(json_is_number(value) && share >= 0 && share <= 1)) return false;
        out->coefficient[k].noise = share;
    }
    return read_covariance(out, json_object_get(object, "covariance")) &&
           read_needs(out, json_object_get(object, "not_estimable"));
}

/* How bias was taken away: only Firth's way is known, and files without the key have none. */
static bool read_bias(tacit_estimates *out, const json_t *object) {
    const json_t *bias = json_object_get(object, "bias");
    out->firth = bias != NULL;
    if (bias == NULL) return true;
    return json_is_string(bias) && strcmp(json_string_value(bias), "firth") == 0 &&
           read_number(object, "penalised_log_likelihood", &out->penalised);
}

static bool read_terms(tacit_term **terms, size_t *made, const json_t *list, size_t most,
                       size_t degrees_most) {
    size_t count = json_array_size(list);
    if (list == NULL) return true;
    if (!json_is_array(list) || count > most) return false;
    *terms = TACIT_NEW(tacit_term, count);
    for (; *terms != NULL && *made < count; ++*made) {
        const json_t *object = json_array_get(list, *made);
        const char *name = json_string_value(json_object_get(object, "name"));
        json_int_t degrees = json_integer_value(json_object_get(object, "degrees"));
        tacit_term *term = &(*terms)[*made];
        if (name == NULL || degrees < 1 || (uint64_t)degrees > degrees_most ||
            !read_number(object, "statistic", &term->statistic) || !read_number(object, "p", &term->p) ||
            !read_number(object, "inflation", &term->inflation))
            return false;
        term->count = (size_t)degrees;
        if ((term->name = tacit_copy_text(name)) == NULL) return false;
    }
    return *terms != NULL;
}

static bool read_proportional(tacit_estimates *out, const json_t *object) {
    const char *time = json_string_value(json_object_get(object, "time"));
    const json_t *tests = json_object_get(object, "tests");
    if (object == NULL) return true;
    if (time == NULL || strlen(time) >= sizeof out->trend_of || json_array_size(tests) == 0) return false;
    memcpy(out->trend_of, time, strlen(time) + 1);
    return read_terms(&out->trend, &out->trends, tests, out->count + 1, out->count);
}

static bool read_concordance(tacit_estimates *out, const json_t *object) {
    if (object == NULL) return true;
    return read_number(object, "estimate", &out->concordance) &&
           read_number(object, "bound", &out->concordance_bound) && out->concordance >= 0 &&
           out->concordance <= 1 && out->concordance_bound >= 0 && out->concordance_bound <= 1;
}

static bool read_ratios(tacit_estimates *out, const json_t *object) {
    const char *kind = json_string_value(json_object_get(object, "kind"));
    const json_t *list = json_object_get(object, "terms");
    size_t count = json_array_size(list);
    if (object == NULL) return true;
    if (kind == NULL || strlen(kind) >= sizeof out->anova || !json_is_array(list) || count > out->count)
        return false;
    memcpy(out->anova, kind, strlen(kind) + 1);
    out->ratio = TACIT_NEW(tacit_term_ratio, count + 1);
    for (; out->ratio != NULL && out->ratios < count; out->ratios++) {
        const json_t *item = json_array_get(list, out->ratios);
        const char *name = json_string_value(json_object_get(item, "name"));
        tacit_term_ratio *one = &out->ratio[out->ratios];
        if (name == NULL || !read_number(item, "degrees", &one->degrees) ||
            !read_number(item, "deviance", &one->deviance) ||
            !read_number(item, "statistic", &one->statistic) || !read_number(item, "p", &one->p))
            return false;
        if ((one->name = tacit_copy_text(name)) == NULL) return false;
    }
    return out->ratio != NULL;
}

static bool read_sites(tacit_estimates *out, const json_t *sites) {
    if (sites == NULL) return true;
    return read_number(sites, "intercepts", &out->party_intercepts) && out->party_intercepts >= 2 &&
           read_number(sites, "statistic", &out->site_statistic) && read_number(sites, "p", &out->site_p);
}

static bool read_asked(tacit_estimates *out, const json_t *object) {
    const json_t *errors = json_object_get(object, "errors"),
                 *influence = json_object_get(object, "influence");
    const json_t *clusters = json_object_get(object, "clusters");
    tacit_influence *at = &out->influence;
    if (errors != NULL) {
        if (!json_is_string(errors) || json_string_length(errors) >= sizeof out->errors) return false;
        memcpy(out->errors, json_string_value(errors), json_string_length(errors) + 1);
    }
    if (clusters != NULL && !read_number(object, "clusters", &out->clusters)) return false;
    if (!read_terms(&out->term, &out->terms, json_object_get(object, "terms"), out->count, out->count))
        return false;
    if (!read_ratios(out, json_object_get(object, "anova"))) return false;
    if (!read_concordance(out, json_object_get(object, "concordance"))) return false;
    if (!read_proportional(out, json_object_get(object, "proportional"))) return false;
    if (!read_sites(out, json_object_get(object, "sites"))) return false;
    if (influence == NULL) return true;
    at->known = true;
    return read_number(influence, "pearson", &at->pearson) &&
           read_number(influence, "leverage", &at->leverage) &&
           read_number(influence, "leverage_squares", &at->leverage_squares) &&
           read_number(influence, "tjur", &at->tjur) && read_number(influence, "cook_rows", &at->cook_rows) &&
           read_number(influence, "cook_held", &at->cook_held);
}

static bool read_all(tacit_estimates *out, const json_t *object) {
    const char *family = NULL, *optimiser = NULL, *response = NULL, *statistic = NULL;
    const json_t *list = NULL;
    int sandwich = 0;
    json_int_t iterations = 0, rounds = 0;
    if (json_unpack((json_t *)object, "{s:s,s:s,s:s,s:o,s:s,s:b,s:F,s:F,s:F,s:I,s:I}", "family", &family,
                    "optimiser", &optimiser, "response", &response, "coefficients", &list, "statistic",
                    &statistic, "sandwich", &sandwich, "level", &out->level, "dispersion", &out->dispersion,
                    "rows", &out->rows, "iterations", &iterations, "rounds", &rounds) != 0 ||
        strlen(family) >= sizeof out->family || strlen(optimiser) >= sizeof out->optimiser ||
        !json_is_array(list) || json_array_size(list) == 0 || iterations < 0 || rounds < 0 ||
        !(out->level > 0 && out->level < 1) || !isfinite(out->rows) || !isfinite(out->dispersion))
        return false;
    memcpy(out->family, family, strlen(family) + 1);
    memcpy(out->optimiser, optimiser, strlen(optimiser) + 1);
    out->response = tacit_copy_text(response);
    const char *formula = json_string_value(json_object_get(object, "formula"));
    if (formula != NULL && (out->formula = tacit_copy_text(formula)) == NULL) return false;
    out->student = strcmp(statistic, "t") == 0;
    out->sandwich = sandwich != 0;
    out->iterations = (size_t)iterations;
    out->rounds = (size_t)rounds;
    out->coefficient = TACIT_NEW(tacit_coefficient, json_array_size(list));
    if (out->response == NULL || out->coefficient == NULL) return false;
    for (; out->count < json_array_size(list); out->count++)
        if (!read_coefficient(&out->coefficient[out->count], json_array_get(list, out->count))) {
            free(out->coefficient[out->count].name);
            return false;
        }
    const json_t *baseline = json_object_get(object, "baseline");
    if (baseline != NULL && !tacit_baseline_from_json(&out->baseline, baseline)) return false;
    return read_number(object, "deviance", &out->deviance) &&
           read_number(object, "null_deviance", &out->null_deviance) &&
           read_number(object, "aic", &out->aic) && read_bias(out, object) && read_asked(out, object) &&
           read_noise(out, object) && estimates_read_missing(out, object);
}

tacit_status tacit_estimates_from_json(tacit_estimates **out, const json_t *object, tacit_error *error) {
    tacit_estimates *all = TACIT_NEW(tacit_estimates, 1);
    if (all == NULL) return tacit_fail_memory(error);
    if (!read_all(all, object)) {
        tacit_estimates_free(all);
        return tacit_fail(error, TACIT_INPUT, "the table of estimates is damaged");
    }
    *out = all;
    return TACIT_OK;
}
