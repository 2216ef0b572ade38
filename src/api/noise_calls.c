#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/option/arguments.h"
#include "api/option/run_options.h"
#include "base/memory.h"
#include "privacy/gate.h"
#include "privacy/mechanism/integer.h"
#include "privacy/mechanism/selection.h"
#include "tacit/tacit.h"

#define STUDY "noise" /* as the ledger calls it; a study's name there has an @ */
#define ASKER "the owner"

enum { SCALE_BITS = 20, REACH_BITS = 40 };

#define OPTIONS_PRICE                                                                                        \
    { .name = "sensitivity",                                                                                 \
      .kind = TACIT_OPTION_NUMBER,                                                                           \
      .placeholder = "S",                                                                                    \
      .rules = TACIT_RULE_REQUIRED | TACIT_RULE_RANGE | TACIT_RULE_ABOVE,                                    \
      .least = 0,                                                                                            \
      .most = 1e300,                                                                                         \
      .help = "the largest change when one record or party is replaced" },                                   \
        { .name = "epsilon",                                                                                 \
          .kind = TACIT_OPTION_NUMBER,                                                                       \
          .placeholder = "E",                                                                                \
          .rules = TACIT_RULE_REQUIRED | TACIT_RULE_RANGE | TACIT_RULE_ABOVE,                                \
          .least = 0,                                                                                        \
          .most = 1e6,                                                                                       \
          .help = "the price" },                                                                             \
        { .name = "delta",                                                                                   \
          .kind = TACIT_OPTION_NUMBER,                                                                       \
          .placeholder = "D",                                                                                \
          .fallback = "0",                                                                                   \
          .rules = TACIT_RULE_RANGE | TACIT_RULE_BELOW,                                                      \
          .least = 0,                                                                                        \
          .most = 1,                                                                                         \
          .help = "above 0 for Gaussian laws" },                                                             \
        { .name = "unit",                                                                                    \
          .kind = TACIT_OPTION_CHOICE,                                                                       \
          .placeholder = "record|party",                                                                     \
          .fallback = "record",                                                                              \
          .help = "whose replacement is hidden" },                                                           \
        TACIT_OPTION_SEED

static const tacit_option add_options[] = {
    { .name = "law",
      .kind = TACIT_OPTION_CHOICE,
      .placeholder = "laplace|gamma-norm|gaussian|discrete-laplace|discrete-gaussian",
      .rules = TACIT_RULE_REQUIRED,
      .help = "of the noise" },
    OPTIONS_PRICE,
    { .name = NULL },
};

static const tacit_option choose_options[] = {
    { .name = "rule",
      .kind = TACIT_OPTION_CHOICE,
      .placeholder = "permute-and-flip|exponential|noisy-max",
      .fallback = "permute-and-flip",
      .help = "of the choice" },
    { .name = "monotone",
      .kind = TACIT_OPTION_FLAG,
      .help = "replacing a record moves all scores up, or all down" },
    OPTIONS_PRICE,
    { .name = NULL },
};

/* One call: what is asked, where the noise comes from, who is charged. */
typedef struct noising {
    const tacit_arguments *arguments;
    const char *method; /* law or rule */
    tacit_price price;
    double sensitivity;
    tacit_ledger *ledger; /* NULL: nobody */
    const double *values;
    size_t count;
    bool monotone; /* of a choice */
    tacit_noise_source source;
    tacit_stream stream;
    tacit_entropy *entropy;
    uint8_t request[TACIT_HASH_BYTES]; /* drawn: no two calls are the same release */
} noising;

typedef tacit_status draw_function(noising *self, double *out, tacit_event *event, tacit_error *error);

static tacit_status begin(noising *self, const char *method, tacit_error *error) {
    const tacit_arguments *arguments = self->arguments;
    const bool party = strcmp(tacit_arguments_text(arguments, "unit"), "party") == 0;
    self->method = tacit_arguments_text(arguments, method);
    self->sensitivity = tacit_arguments_number(arguments, "sensitivity");
    self->price = (tacit_price){ party ? TACIT_UNIT_PARTY : TACIT_UNIT_RECORD,
                                 tacit_arguments_number(arguments, "epsilon"),
                                 tacit_arguments_number(arguments, "delta") };
    const bool simulated = tacit_arguments_given(arguments, "seed");
    if (simulated && self->ledger != NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "a seed makes a simulation, which protects nobody: leave out the seed, or the ledger");
    if (self->count == 0) return tacit_fail(error, TACIT_USAGE, "there are no numbers");
    for (size_t i = 0; i < self->count; i++)
        if (!isfinite(self->values[i]))
            return tacit_fail(error, TACIT_INPUT, "number %zu is not finite", i + 1);
    if (simulated) {
        self->stream = tacit_stream_from_seed(tacit_run_options_seed(arguments));
        self->source.stream = &self->stream;
        return TACIT_OK;
    }
    TACIT_TRY(tacit_entropy_create(&self->entropy, error));
    self->source.entropy = self->entropy;
    return TACIT_OK;
}

/* ---- charging ---- */

static tacit_release release_of(const noising *self) {
    tacit_release release = { .kind = TACIT_RELEASE_CHARGED,
                              .noise = TACIT_NOISE_EXACT,
                              .price = self->price,
                              .coordinator = ASKER,
                              .study = STUDY,
                              .method = self->method,
                              .question = STUDY,
                              .parties_declared = 1,
                              .parties_minimum = 1,
                              .parameters = self->count };
    /* study_hash stays 0: every call is of one study, so that processes at one ledger do not end each
     * other's. */
    memcpy(release.question_hash, self->request, sizeof release.question_hash);
    memcpy(release.answer_id, self->request, sizeof release.answer_id);
    return release;
}

/* The first call is the owner's consent to be charged for all; one that was withdrawn stays so. */
static tacit_status check_owner(const noising *self, const tacit_release *release, tacit_error *error) {
    tacit_account record, party;
    tacit_consent consent = TACIT_CONSENT_NONE;
    TACIT_TRY(tacit_ledger_account(&record, self->ledger, NULL, TACIT_UNIT_RECORD, error));
    TACIT_TRY(tacit_ledger_account(&party, self->ledger, NULL, TACIT_UNIT_PARTY, error));
    if (!record.limited && !(self->price.unit == TACIT_UNIT_PARTY && party.limited))
        return tacit_fail(error, TACIT_REFUSED,
                          "the ledger of %s has no limit, and without one nothing is released: set a limit",
                          tacit_ledger_source(self->ledger));
    TACIT_TRY(tacit_ledger_consent_state(&consent, self->ledger, STUDY, error));
    if (consent != TACIT_CONSENT_NONE) return TACIT_OK;
    return tacit_ledger_consent(self->ledger, STUDY, release->study_hash, error);
}

/* Draw; the charge and the answer are on the disk before `out` is written. Every call is a release of its
 * own: an answer that came again because two numbers are equal would tell that they are. */
static tacit_status charge(noising *self, draw_function *draw, double *out, size_t length,
                           tacit_error *error) {
    tacit_policy policy = tacit_policy_default();
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_gate gate;
    double *drawn = NULL;
    tacit_status status;
    policy.minimum_rows = 0; /* what was computed of how many rows only the program knows */
    policy.minimum_parties = 1;
    TACIT_CHECK(tacit_entropy_bytes(self->request, sizeof self->request, self->entropy, error));
    tacit_release release = release_of(self);
    TACIT_CHECK(tacit_gate_init(&gate, self->ledger, &policy, TACIT_GATE_REAL, error));
    TACIT_CHECK(check_owner(self, &release, error));
    drawn = TACIT_NEW(double, length);
    if (drawn == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(draw(self, drawn, &release.event, error));
    release.payload = (const uint8_t *)drawn;
    release.payload_length = length * sizeof *drawn;
    TACIT_CHECK(tacit_gate_release(&gate, &release, &bytes, error));
    memcpy(out, bytes.bytes, bytes.length);
cleanup:
    tacit_buffer_clear(&bytes);
    free(drawn);
    return status;
}

static tacit_status run(noising *self, const char *method, draw_function *draw, double *out, size_t length,
                        tacit_error *error) {
    tacit_event event;
    tacit_status status = begin(self, method, error);
    if (status == TACIT_OK && self->ledger == NULL) {
        status = draw(self, out, &event, error);
    } else if (status == TACIT_OK) {
        status = charge(self, draw, out, length, error);
    }
    tacit_entropy_free(self->entropy);
    tacit_stream_wipe(&self->stream);
    return status;
}

/* ---- noise on numbers ---- */

static tacit_law law_named(const char *name) {
    static const struct {
        const char *name;
        tacit_law law;
    } laws[] = { { "laplace", TACIT_LAW_LAPLACE },
                 { "gamma-norm", TACIT_LAW_GAMMA_NORM },
                 { "gaussian", TACIT_LAW_GAUSSIAN },
                 { "discrete-laplace", TACIT_LAW_DISCRETE_LAPLACE },
                 { "discrete-gaussian", TACIT_LAW_DISCRETE_GAUSSIAN } };
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++)
        if (strcmp(name, laws[k].name) == 0) return laws[k].law;
    return TACIT_LAW_NONE;
}

static void take(double *out, tacit_event *event, const tacit_noised *noised, const tacit_price *price) {
    const int64_t *steps = tacit_noised_steps(noised);
    for (size_t i = 0; i < tacit_noised_count(noised); i++)
        out[i] = ldexp((double)steps[i], -tacit_noised_grid_bits(noised));
    *event = tacit_noised_event(noised, price);
}

static tacit_status draw_counts(noising *self, const tacit_mechanism *mechanism, double *out,
                                tacit_event *event, tacit_error *error) {
    tacit_noised *noised = NULL;
    int64_t *counts = TACIT_NEW(int64_t, self->count);
    tacit_status status = counts != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t i = 0; i < self->count && status == TACIT_OK; i++) {
        if (self->values[i] != rint(self->values[i]) || fabs(self->values[i]) > 0x1p53)
            status = tacit_fail(error, TACIT_INPUT, "%s is for whole numbers below 2^53: number %zu is none",
                                self->method, i + 1);
        else
            counts[i] = (int64_t)self->values[i];
    }
    if (status == TACIT_OK)
        status = tacit_integer_release(&noised, &self->source, mechanism, counts, self->count,
                                       (int64_t)1 << 53, error);
    if (status == TACIT_OK) take(out, event, noised, &self->price);
    tacit_noised_free(noised);
    free(counts);
    return status;
}

/* The grid follows from the scale, which is public. Numbers are moved within half its reach first: no two of
 * them come further apart by that, in either norm. */
static tacit_status draw_numbers(noising *self, const tacit_mechanism *mechanism, double *out,
                                 tacit_event *event, tacit_error *error) {
    double scale = 0;
    TACIT_TRY(tacit_mechanism_scale(&scale, mechanism, error));
    const int bits = SCALE_BITS - ilogb(scale);
    const double reach = ldexp(1, REACH_BITS + SCALE_BITS - bits);
    tacit_noised *noised = NULL;
    double *values = TACIT_NEW(double, self->count);
    tacit_status status = values != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK) {
        for (size_t i = 0; i < self->count; i++)
            values[i] = fmax(-reach / 2, fmin(reach / 2, self->values[i]));
        status = tacit_mechanism_release_at(&noised, &self->source, mechanism, scale, values, self->count,
                                            bits, reach, error);
    }
    if (status == TACIT_OK) take(out, event, noised, &self->price);
    tacit_noised_free(noised);
    free(values);
    return status;
}

static tacit_status draw_noise(noising *self, double *out, tacit_event *event, tacit_error *error) {
    const tacit_mechanism mechanism = { law_named(self->method), self->sensitivity, self->price };
    if (mechanism.law == TACIT_LAW_DISCRETE_LAPLACE || mechanism.law == TACIT_LAW_DISCRETE_GAUSSIAN)
        return draw_counts(self, &mechanism, out, event, error);
    return draw_numbers(self, &mechanism, out, event, error);
}

tacit_status tacit_noise_add(double *out, const double *values, size_t count, const tacit_options *options,
                             tacit_ledger *ledger, tacit_error *error) {
    static const tacit_form form = { .name = "noise", .options = add_options };
    tacit_arguments *arguments = NULL;
    TACIT_TRY(tacit_require(out, "where to put the numbers", error));
    TACIT_TRY(tacit_require(values, "the numbers", error));
    TACIT_TRY(tacit_form_take(&arguments, &form, options, error));
    noising self = { .arguments = arguments, .ledger = ledger, .values = values, .count = count };
    tacit_status status = run(&self, "law", draw_noise, out, count, error);
    tacit_arguments_free(arguments);
    return status;
}

/* ---- choices ---- */

static tacit_status draw_choice(noising *self, double *out, tacit_event *event, tacit_error *error) {
    const tacit_selection selection = { .rule = strcmp(self->method, "exponential") == 0
                                                    ? TACIT_SELECT_EXPONENTIAL
                                                : strcmp(self->method, "noisy-max") == 0
                                                    ? TACIT_SELECT_NOISY_MAX
                                                    : TACIT_SELECT_PERMUTE_AND_FLIP,
                                        .choices = 1,
                                        .sensitivity = self->sensitivity,
                                        .monotone = self->monotone,
                                        .price = self->price };
    tacit_selected *selected = NULL;
    TACIT_TRY(
        tacit_selection_release(&selected, &self->source, &selection, self->values, self->count, error));
    out[0] = (double)tacit_selected_indices(selected)[0];
    *event = (tacit_event){ .count = 0 }; /* the price says it */
    tacit_selected_free(selected);
    return TACIT_OK;
}

tacit_status tacit_noise_choose(size_t *chosen, const double *scores, size_t count,
                                const tacit_options *options, tacit_ledger *ledger, tacit_error *error) {
    static const tacit_form form = { .name = "choose", .options = choose_options };
    tacit_arguments *arguments = NULL;
    double index = 0;
    TACIT_TRY(tacit_require(chosen, "where to put the choice", error));
    TACIT_TRY(tacit_require(scores, "the scores", error));
    TACIT_TRY(tacit_form_take(&arguments, &form, options, error));
    noising self = { .arguments = arguments,
                     .ledger = ledger,
                     .values = scores,
                     .count = count,
                     .monotone = tacit_arguments_flag(arguments, "monotone") };
    tacit_status status = run(&self, "rule", draw_choice, &index, 1, error);
    if (status == TACIT_OK) *chosen = (size_t)index;
    tacit_arguments_free(arguments);
    return status;
}
