/* The party's half of method meta: a regression on its own rows, and what of it goes into sums (meta.c says
 * what they are for). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/exact/meta.h"
#include "method/methods.h"
#include "session/run.h"

static const double MOST_ROWS = 4294967296.0; /* of one site */

/* A statistical office's rule of dominance: nobody may make up more than this of a total. */
static const double MOST_SHARE = 0.9;

const int meta_shift[META_MOMENTS] = { META_WEIGHT, META_WEIGHT / 2, 0, 0 };

/* ---- what both halves know ---- */

tacit_status meta_site_plan(tacit_plan *out, const tacit_plan *plan, tacit_error *error) {
    const meta_settings *settings = meta_settings_of(plan);
    char word[TACIT_SETTING_SIZE];
    *out = *plan;
    out->method = &tacit_method_estimate;
    out->settings.table = NULL;
    out->parties = out->minimum_parties = 1;
    out->most_rounds = 0;
    out->enough = 0;
    TACIT_TRY(tacit_plan_set(out, "family",
                             tacit_setting_word(TACIT_ESTIMATE_FAMILIES, settings->family, word), error));
    TACIT_TRY(
        tacit_plan_set(out, "bias", tacit_setting_word(TACIT_ESTIMATE_BIASES, settings->bias, word), error));
    return tacit_plan_set(out, "errors", tacit_setting_word(TACIT_ESTIMATE_ERRORS, settings->errors, word),
                          error);
}

int meta_exponent(double mean) { return 2 * (int)floor(mean / 2); }

tacit_sum_spec meta_scale_sum(const tacit_plan *plan, size_t width) {
    enum { FRACTION_BITS = 12 }; /* beside those of the rows of many sites */
    return (tacit_sum_spec){ META_HEAD + width + missing_sum_behind(plan), MOST_ROWS, FRACTION_BITS };
}

tacit_sum_spec meta_sum(const tacit_plan *plan, size_t length) {
    int party_bits;
    frexp((double)plan->parties, &party_bits);
    return (tacit_sum_spec){ META_HEAD + length, ldexp(1, 2 * META_WEIGHT),
                             62 - 2 * META_WEIGHT - party_bits };
}

size_t meta_step_numbers(const tacit_plan *plan) { return meta_settings_of(plan)->tau == META_PM ? 3 : 2; }

double meta_opened(const tacit_plan *plan, uint64_t round) {
    if (round == 0) return META_FIRST;
    return META_FIRST + META_MOMENTS + (double)(round - 1) * (double)meta_step_numbers(plan);
}

double meta_allowed(const tacit_plan *plan, bool real) {
    /* A simulation declares no minimum: all take part. */
    size_t sites = real || plan->minimum_parties > 1 ? plan->minimum_parties : plan->parties;
    return 2 * ((double)sites - (double)tacit_plan_colluders(plan)) - 1;
}

/* ---- the site's own regression ---- */

static tacit_status ask_alone(void *context, const tacit_question *question, uint64_t *total, size_t *parties,
                              tacit_error *error) {
    tacit_party *party = context;
    tacit_reply reply = { .message = TACIT_MESSAGE_INIT };
    const tacit_handler_entry *handler;
    tacit_status status;
    TACIT_CHECK(tacit_party_handler(party, question, &handler, error));
    TACIT_CHECK(handler->answer(party, question, &reply, error));
    TACIT_CHECK(tacit_sum_quantise(&question->sum, reply.contribution, (int64_t *)total, error));
    *parties = 1;
cleanup:
    tacit_reply_clear(&reply);
    return status;
}

/* Method estimate with nobody but this party, inside it: nothing passes a gate, because nothing leaves. */
static tacit_status fit_alone(const tacit_party *party, const tacit_plan *plan, tacit_outcome *out,
                              tacit_error *error) {
    tacit_party alone = *party;
    alone.plan = plan;
    alone.gate = NULL;
    alone.keep = NULL;
    alone.memo = NULL;
    alone.common = NULL;
    const tacit_transport itself = { .ask_sum = ask_alone, .context = &alone };
    tacit_session session = tacit_run_session(plan, &itself, NULL, party->pool, NULL);
    return tacit_run_coordinate(&session, out, error);
}

static bool is_real(const tacit_party *party) {
    return party->gate != NULL && party->gate->mode == TACIT_GATE_REAL;
}

/* Of a real party the reason stays here: it may say how few rows a level has. */
static tacit_status no_estimate(const tacit_party *party, const tacit_error *said, tacit_error *error) {
    return tacit_fail(error, TACIT_REFUSED,
                      "a site has no finite estimate of every coefficient from its own rows alone%s%s: leave "
                      "columns out, put levels together, ask for bias: firth, or leave the site out",
                      is_real(party) ? "" : ", since ", is_real(party) ? "" : said->text);
}

static tacit_status take_estimates(const tacit_party *party, const tacit_estimates *all, double *out,
                                   tacit_error *error) {
    tacit_error said = TACIT_ERROR_INIT;
    for (size_t j = 0; j < all->count; j++) {
        out[j] = all->coefficient[j].estimate;
        out[all->count + j] = all->coefficient[j].error;
        if (isfinite(out[j]) && isfinite(out[all->count + j]) && out[all->count + j] > 0) continue;
        tacit_fail(&said, TACIT_INPUT, "the residuals are all 0");
        return no_estimate(party, &said, error);
    }
    double left = all->rows - (double)all->count, least = 0;
    if (is_real(party)) least = (double)party->gate->policy->minimum_rows;
    if (left >= least) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "%zu coefficients leave %.0f degrees of freedom of a site's rows, fewer than its "
                      "owner's minimum of %.0f: leave columns out, or lower the minimum (tacit rules)",
                      all->count, left, least);
}

/* All estimates, then all errors: made once and kept in the memo. */
static tacit_status estimate_site(tacit_party *party, size_t width, bool again, double **out, double **owned,
                                  tacit_error *error) {
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_error said = TACIT_ERROR_INIT;
    tacit_plan plan;
    double *values = NULL;
    *owned = NULL;
    if (party->memo != NULL) {
        if (again) tacit_party_forget(party);
        TACIT_TRY(tacit_party_state(party, 2 * width, &values, error));
        *out = values;
        if (values[width] > 0) return TACIT_OK;
    } else {
        *out = values = *owned = TACIT_NEW(double, 2 * width);
        if (values == NULL) return tacit_fail_memory(error);
    }
    TACIT_TRY(meta_site_plan(&plan, party->plan, error));
    tacit_status status = fit_alone(party, &plan, &outcome, &said);
    if (status == TACIT_NO_MEMORY) {
        status = tacit_fail_memory(error);
    } else if (status != TACIT_OK) {
        status = no_estimate(party, &said, error);
    } else if (outcome.models[0]->estimates->count != width) {
        status = tacit_fail(error, TACIT_INTERNAL, "a site's regression has other coefficients");
    } else {
        status = take_estimates(party, outcome.models[0]->estimates, values, error);
    }
    if (status != TACIT_OK && party->memo != NULL) tacit_party_forget(party);
    tacit_outcome_clear(&outcome);
    return status;
}

/* ---- answers ---- */

typedef struct site {
    size_t width;
    double *estimate, *error, *owned;
} site;

static tacit_status begin_site(site *out, tacit_party *party, bool again, tacit_error *error) {
    tacit_plan plan;
    tacit_design design;
    *out = (site){ .width = 0 };
    TACIT_TRY(tacit_design_check_rows(party->plan->schema, &party->rows, error));
    TACIT_TRY(meta_site_plan(&plan, party->plan, error));
    TACIT_TRY(tacit_design_create(&design, tacit_estimate_family(&plan), plan.schema, plan.features, error));
    out->width = design.width;
    tacit_design_clear(&design);
    TACIT_TRY(estimate_site(party, out->width, again, &out->estimate, &out->owned, error));
    out->error = out->estimate + out->width;
    return TACIT_OK;
}

static void end_site(site *self) { free(self->owned); }

/* Whether the question is the one of this round, and opens no more than may be. */
static tacit_status check_turn(const tacit_party *party, const tacit_question *question, bool turn,
                               tacit_error *error) {
    double allowed = meta_allowed(party->plan, is_real(party));
    if (meta_settings_of(party->plan)->forest == META_FOREST_YES || !turn)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks '%s' in round %llu, which is not its turn", question->name,
                          (unsigned long long)question->round);
    if (meta_opened(party->plan, question->round) <= allowed) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "round %llu would open %.0f numbers of each coefficient, and %.0f determine every "
                      "site's own estimate: that takes more sites",
                      (unsigned long long)question->round, meta_opened(party->plan, question->round),
                      allowed + 1);
}

static tacit_status begin_reply(const tacit_party *party, const tacit_question *question,
                                const tacit_sum_spec *spec, tacit_reply *reply, tacit_error *error) {
    tacit_prices prices;
    if (!question->wants_sum || !tacit_sum_spec_equal(&question->sum, spec))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for another sum than the study defines");
    if ((double)party->total_rows > MOST_ROWS)
        return tacit_fail(error, TACIT_REFUSED, "method meta takes at most %.0f rows of a site", MOST_ROWS);
    TACIT_TRY(tacit_party_price(party, &prices, error));
    reply->kind = tacit_estimate_kind(party->plan);
    reply->noise = TACIT_NOISE_NONE;
    reply->price = prices.charged;
    reply->contribution = TACIT_NEW(double, spec->length);
    if (reply->contribution == NULL) return tacit_fail_memory(error);
    reply->contribution[0] = ldexp((double)party->total_rows, -spec->grid_bits);
    return TACIT_OK;
}

static tacit_status answer_scale(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                 tacit_error *error) {
    site self;
    TACIT_TRY(check_turn(party, question, question->round == 0, error));
    TACIT_TRY(begin_site(&self, party, true, error));
    tacit_sum_spec spec = meta_scale_sum(party->plan, self.width);
    tacit_status status = begin_reply(party, question, &spec, reply, error);
    for (size_t j = 0; j < self.width && status == TACIT_OK; j++) {
        reply->contribution[META_HEAD + j] =
            fmax(-META_MOST_EXPONENT, fmin(META_MOST_EXPONENT, -2 * log2(self.error[j])));
    }
    if (status == TACIT_OK && spec.length > META_HEAD + self.width)
        status = missing_sum_add_up(party, MOST_ROWS, reply->contribution + META_HEAD + self.width, error);
    end_site(&self);
    return status;
}

/* The share of all weights that this site can have at most, its own being `above` over the geometric
 * mean: the others have a geometric mean of above^(-1/(K - 1)), and their sum is at least K - 1 times
 * that. */
static double largest_share(const tacit_plan *plan, double above) {
    double others = (double)plan->parties - 1;
    if (others < 1) return 1;
    return above / (above + others * pow(above, -1 / others));
}

static tacit_status check_weight(const tacit_party *party, double u, double z, double above,
                                 tacit_error *error) {
    double most = ldexp(1, META_WEIGHT);
    if (!(u <= most && fabs(z) <= most))
        return tacit_fail(error, TACIT_REFUSED,
                          "a site's estimate is %s by a factor beyond %.0f: sites are too unlike for one sum",
                          u <= most ? "larger than its error" : "more precise than the others'", most);
    if (!is_real(party) || largest_share(party->plan, above) <= MOST_SHARE) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "a site has more than %g of the weight of all sites, so that the pooled estimate is "
                      "nearly its own: leave the site out, or ask for forest: yes",
                      MOST_SHARE);
}

/* Round 1 without tau2, and later ones with it. */
static tacit_status fill_sums(const site *self, const tacit_party *party, const double *means,
                              const double *tau2, double *out, tacit_error *error) {
    size_t numbers = tau2 == NULL ? META_MOMENTS : meta_step_numbers(party->plan);
    for (size_t j = 0; j < self->width; j++) {
        int exponent = meta_exponent(means[j]);
        double s = ldexp(self->error[j], exponent / 2), y = ldexp(self->estimate[j], exponent / 2);
        double u = 1 / (s * s);
        TACIT_TRY(check_weight(party, u, y / s, u * exp2(exponent - means[j]), error));
        if (tau2 != NULL) u = 1 / (s * s + tau2[j]);
        const double values[META_MOMENTS] = { u, u * y, u * y * y, u * u };
        for (size_t k = 0; k < numbers; k++) *out++ = ldexp(values[k], meta_shift[k]);
    }
    return TACIT_OK;
}

/* The units of all rounds are the same, and such as could come of a sum. */
static tacit_status read_units(const tacit_party *party, const tacit_question *question, size_t width,
                               const double **out, tacit_error *error) {
    TACIT_TRY(tacit_message_numbers(question->message, "means", width, out, error));
    for (size_t j = 0; j < width; j++)
        if (!(fabs((*out)[j]) <= META_MOST_EXPONENT))
            return tacit_fail(error, TACIT_PROTOCOL, "the coordinator's units cannot be");
    return tacit_party_asked_once(party, "meta units", (const double *const[]){ *out, NULL },
                                  (const size_t[]){ width, 0 }, error);
}

static tacit_status read_tau(const tacit_question *question, size_t width, const double **out,
                             tacit_error *error) {
    TACIT_TRY(tacit_message_numbers(question->message, "tau2", width, out, error));
    for (size_t j = 0; j < width; j++)
        if (!((*out)[j] >= 0 && isfinite((*out)[j])))
            return tacit_fail(error, TACIT_PROTOCOL, "the coordinator names a variance below 0");
    return TACIT_OK;
}

static tacit_status answer_sums(tacit_party *party, const tacit_question *question, bool weights,
                                tacit_reply *reply, tacit_error *error) {
    site self;
    const double *means, *tau2 = NULL;
    TACIT_TRY(check_turn(party, question, weights ? question->round >= 2 : question->round == 1, error));
    tacit_status status = begin_site(&self, party, false, error);
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(read_units(party, question, self.width, &means, error));
    if (weights) TACIT_CHECK(read_tau(question, self.width, &tau2, error));
    size_t numbers = weights ? meta_step_numbers(party->plan) : META_MOMENTS;
    tacit_sum_spec spec = meta_sum(party->plan, numbers * self.width);
    TACIT_CHECK(begin_reply(party, question, &spec, reply, error));
    TACIT_CHECK(fill_sums(&self, party, means, tau2, reply->contribution + META_HEAD, error));
cleanup:
    end_site(&self);
    return status;
}

static tacit_status answer_moments(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                   tacit_error *error) {
    return answer_sums(party, question, false, reply, error);
}

static tacit_status answer_weights(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                   tacit_error *error) {
    return answer_sums(party, question, true, reply, error);
}

/* With the owner's leave: the site's own estimates and errors, in clear. */
static tacit_status answer_site(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                tacit_error *error) {
    site self;
    tacit_prices prices;
    if (meta_settings_of(party->plan)->forest != META_FOREST_YES || question->round != 0)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for a site's own estimates, which the study does not define");
    tacit_status status = begin_site(&self, party, true, error);
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(tacit_party_price(party, &prices, error));
    reply->kind = tacit_estimate_kind(party->plan);
    reply->noise = TACIT_NOISE_NONE;
    reply->price = prices.charged;
    double rows = (double)party->total_rows;
    TACIT_CHECK(tacit_message_add_numbers(&reply->message, "rows", &rows, 1, error));
    TACIT_CHECK(tacit_message_add_numbers(&reply->message, "estimates", self.estimate, self.width, error));
    TACIT_CHECK(tacit_message_add_numbers(&reply->message, "errors", self.error, self.width, error));
cleanup:
    end_site(&self);
    return status;
}

static tacit_status usable_site(const tacit_plan *plan, const tacit_message *answer, tacit_error *error) {
    tacit_plan site_plan;
    tacit_design design;
    const double *rows, *estimates, *errors;
    TACIT_TRY(meta_site_plan(&site_plan, plan, error));
    TACIT_TRY(
        tacit_design_create(&design, tacit_estimate_family(&site_plan), plan->schema, plan->features, error));
    size_t width = design.width;
    tacit_design_clear(&design);
    TACIT_TRY(tacit_message_numbers(answer, "rows", 1, &rows, error));
    TACIT_TRY(tacit_message_numbers(answer, "estimates", width, &estimates, error));
    TACIT_TRY(tacit_message_numbers(answer, "errors", width, &errors, error));
    bool sound = *rows >= 1 && *rows <= MOST_ROWS;
    for (size_t j = 0; j < width; j++)
        sound = sound && fabs(estimates[j]) <= 1e100 && errors[j] >= 1e-100 && errors[j] <= 1e100;
    return sound ? TACIT_OK : tacit_fail(error, TACIT_PROTOCOL, "a site sent no estimates with their errors");
}

const tacit_handler_entry meta_handlers[] = {
    { .question = "scale", .answer = answer_scale },
    { .question = "moments", .answer = answer_moments },
    { .question = "weights", .answer = answer_weights },
    { .question = "site", .answer = answer_site, .usable = usable_site },
    { .question = NULL },
};
