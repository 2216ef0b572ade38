#include "api/study/vetting.h"

#include <stdarg.h>

#include "api/described.h"
#include "api/document/outlook.h"
#include "base/number.h"
#include "privacy/policy.h"

enum { LINE_SIZE = TACIT_ERROR_TEXT_SIZE };

static void say(const tacit_vetting *how, tacit_saying kind, const char *format, ...) TACIT_PRINTF(3, 4);

static void say(const tacit_vetting *how, tacit_saying kind, const char *format, ...) {
    char line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    tacit_format_list(line, sizeof line, format, arguments);
    va_end(arguments);
    how->say(how->context, kind, line);
}

static bool has_noisy_model(const tacit_study *study) {
    return !study->plan.method->noise_free && study->plan.method->reports == NULL;
}

bool tacit_study_is_foreseen(const tacit_study *study) {
    return study->expected_rows > 0 && has_noisy_model(study);
}

/* By public numbers, before anybody is asked to consent. */
static tacit_status check_hope(const tacit_study *study, const tacit_vetting *how, tacit_error *error) {
    char why[TACIT_HOPELESS_SIZE];
    TACIT_TRY(tacit_plan_hopeless(&study->plan, why, error));
    if (why[0] == 0) return TACIT_OK;
    if (!how->forced)
        return tacit_fail(error, TACIT_REFUSED, "method %s: %s (the option 'force' adds the study anyway)",
                          study->plan.method->name, why);
    say(how, TACIT_SAY_WARNING, "method %s: %s", study->plan.method->name, why);
    return TACIT_OK;
}

static void say_expected(const tacit_vetting *how, const tacit_outlook *outlook) {
    const tacit_outlook_method *one = &outlook->methods[0];
    const tacit_outlook_figure *together = tacit_outlook_main(&one->expected),
                               *alone = tacit_outlook_main(&outlook->alone);
    say(how, TACIT_SAY_EXPECTED,
        "%s %.3f (%.3f to %.3f) with %llu rounds; a site alone %.3f, all rows pooled "
        "%.3f, on rows drawn to the schema with a signal of %.2f: %s",
        tacit_outlook_main_name(outlook), together->mean, together->low, together->high,
        (unsigned long long)one->rounds, alone->mean, tacit_outlook_main(&outlook->pooled)->mean,
        outlook->signal, tacit_outlook_verdict_text(one->verdict));
}

/* Of the fewest rows that the study takes: there may be more. */
static void warn_of_few(const tacit_vetting *how, const tacit_outlook *outlook) {
    const tacit_outlook_method *one = &outlook->methods[0];
    const bool hopeless = tacit_outlook_hopeless(outlook, one);
    char doubt[TACIT_REMARK_SIZE];
    if (tacit_outlook_inestimable(one) && tacit_outlook_doubtful(outlook, one, doubt)) {
        say(how, TACIT_SAY_WARNING, "with no more than %zu rows, %s", outlook->rows, doubt);
        return;
    }
    if (!hopeless && one->verdict != TACIT_OUTLOOK_DOES_NOT) return;
    say(how, TACIT_SAY_WARNING,
        "with no more than %zu rows %s (%s %.3f, a site alone %.3f): say expected_rows if there will be "
        "more, or see what would do with tacit plan",
        outlook->rows,
        hopeless ? "the study is hopeless" : "a site alone is expected to do better than the study",
        tacit_outlook_main_name(outlook), tacit_outlook_main(&one->expected)->mean,
        tacit_outlook_main(&outlook->alone)->mean);
}

/* With purpose=inference: the budget would be spent, and the table be empty. */
static tacit_status refuse_inestimable(const tacit_vetting *how, const tacit_outlook *outlook,
                                       const tacit_study *study, tacit_error *error) {
    const tacit_outlook_method *one = &outlook->methods[0];
    if (how->forced) return TACIT_OK; /* what to expect is said as a warning */
    return tacit_fail(error, TACIT_REFUSED,
                      "study '%s' is hopeless: with %zu rows and epsilon %g coefficients are expected not to "
                      "be estimable, which needs about %.0f rows, or epsilon %.2g. Ask for fewer columns, "
                      "leave 'purpose: inference' out, or add it all the same with the option 'force'",
                      study->name, outlook->rows, study->plan.epsilon, tacit_two_digits(one->needs_rows),
                      one->needs_epsilon);
}

static tacit_status refuse_hopeless(const tacit_vetting *how, const tacit_outlook *outlook,
                                    const tacit_study *study, tacit_error *error) {
    const tacit_outlook_method *one = &outlook->methods[0];
    double together = tacit_outlook_main(&one->expected)->mean,
           alone = tacit_outlook_main(&outlook->alone)->mean;
    if (tacit_outlook_inestimable(one)) return refuse_inestimable(how, outlook, study, error);
    if (!how->forced)
        return tacit_fail(error, TACIT_REFUSED,
                          "study '%s' is hopeless: method %s at epsilon %g with %zu rows is expected to have "
                          "an %s of %.3f, and a site alone %.3f. See what would do with tacit plan, or add "
                          "it all the same with the option 'force'",
                          study->name, study->plan.method->name, study->plan.epsilon, outlook->rows,
                          tacit_outlook_main_name(outlook), together, alone);
    say(how, TACIT_SAY_WARNING,
        "the study is hopeless (expected %s %.3f, a site alone %.3f) and is added by force",
        tacit_outlook_main_name(outlook), together, alone);
    return TACIT_OK;
}

static tacit_status judge(const tacit_vetting *how, const tacit_outlook *outlook, const tacit_study *study,
                          tacit_error *error) {
    const tacit_outlook_method *one = &outlook->methods[0];
    char doubt[TACIT_REMARK_SIZE];
    if (study->expected_rows == 0) {
        warn_of_few(how, outlook);
        return TACIT_OK;
    }
    if (tacit_outlook_hopeless(outlook, one))
        TACIT_TRY(refuse_hopeless(how, outlook, study, error));
    else if (one->verdict == TACIT_OUTLOOK_DOES_NOT)
        say(how, TACIT_SAY_WARNING,
            "a site alone is expected to do better (%s %.3f) than the study (%.3f): more "
            "rows, a larger epsilon or another method may change that: tacit plan",
            tacit_outlook_main_name(outlook), tacit_outlook_main(&outlook->alone)->mean,
            tacit_outlook_main(&one->expected)->mean);
    if (tacit_outlook_doubtful(outlook, one, doubt)) say(how, TACIT_SAY_WARNING, "%s", doubt);
    return TACIT_OK;
}

/* Where no rows are expected, the definition keeps the lambda of the method's rule. */
static tacit_status take_lambda(tacit_study *study, const tacit_outlook *outlook, tacit_error *error) {
    double lambda = outlook->methods[0].plan.lambda;
    if (!study->lambda_chosen || lambda == study->plan.lambda || study->expected_rows == 0) return TACIT_OK;
    return tacit_study_set_lambda(study, lambda, error);
}

static tacit_status foresee(tacit_study *study, const tacit_vetting *how, tacit_error *error) {
    if (study->expected_rows == 0)
        say(how, TACIT_SAY_NOTE,
            "the study says no expected_rows: rounds, lambda and what to expect are for the fewest rows that "
            "it takes, %zu parties times minimum_rows, %.0f rows",
            study->plan.parties, tacit_plan_expected_rows(&study->plan));
    if (study->expected_rows == 0 && how->forced) return TACIT_OK; /* whoever forces it asks no question */
    double positives =
        how->described != NULL ? tacit_described_positives(how->described, study->plan.schema) : 0;
    tacit_outlook outlook = TACIT_OUTLOOK_INIT;
    tacit_error why = TACIT_ERROR_INIT;
    tacit_status status =
        tacit_study_outlook(&outlook, study, NULL, how->signal, positives, NULL, how->progress, &why);
    if (status == TACIT_CANCELLED || status == TACIT_NO_MEMORY) {
        if (error != NULL) *error = why;
        return status;
    }
    if (status != TACIT_OK || outlook.count == 0) {
        say(how, TACIT_SAY_NOTE, "what the study will be worth cannot be foreseen: %s",
            status != TACIT_OK ? why.text : outlook.refused[0].why);
        tacit_outlook_clear(&outlook);
        return TACIT_OK;
    }
    TACIT_CHECK(take_lambda(study, &outlook, error));
    TACIT_CHECK(judge(how, &outlook, study, error));
    say_expected(how, &outlook);
cleanup:
    tacit_outlook_clear(&outlook);
    return status;
}

/* A sum in one exchange opens with all parties or not at all, whoever adds the noise: without a party's
 * answer the masks of the others with it would have to be revealed, and whoever holds all files could then
 * open the sum with it and without. */
static tacit_status check_minimum(const tacit_study *study, tacit_error *error) {
    const tacit_plan *plan = &study->plan;
    if (plan->exchanges != 1 || plan->minimum_parties >= plan->parties ||
        tacit_plan_hearing(plan) != TACIT_HEARS_SUMS)
        return TACIT_OK;
    return tacit_fail(
        error, TACIT_USAGE,
        "study '%s': a sum in one exchange opens with the answers of all %zu parties or not at all, so "
        "that 'minimum: %zu' cannot be kept. Leave 'minimum' out, or let a sum lose parties with "
        "'exchange: two' and 'dropouts'",
        study->name, plan->parties, plan->minimum_parties);
}

static void say_exchange(const tacit_vetting *how, const tacit_study *study) {
    const tacit_plan *plan = &study->plan;
    if (!study->exchange_chosen) return;
    say(how, TACIT_SAY_NOTE,
        "a sum in one exchange opens with all parties or not at all: for shares of noise and 'minimum: %zu', "
        "exchange: two and dropouts: %g (%zu of %zu parties) become part of the definition",
        plan->minimum_parties, plan->dropouts, tacit_plan_dropouts(plan), plan->parties);
}

/* What parties refuse by the rules that they have by default, and whoever made the study can know. */
static void warn_of_folds(const tacit_vetting *how, const tacit_plan *plan) {
    const size_t least = (size_t)tacit_policy_default().minimum_rows;
    const size_t folds = plan->method->folds != NULL ? plan->method->folds(plan).count : 0;
    if (folds == 0 || plan->minimum_rows / folds >= least) return;
    say(how, TACIT_SAY_WARNING,
        "a party of %zu rows, the fewest that minimum_rows takes, has %zu in a fold of %zu, and parties "
        "refuse "
        "folds of fewer than their owner's minimum, %zu by default: set minimum_rows: %zu, or folds: %zu",
        plan->minimum_rows, plan->minimum_rows / folds, folds, least, folds * least,
        plan->minimum_rows / least > 1 ? plan->minimum_rows / least : 0);
}

tacit_status tacit_study_vet(tacit_study *study, const tacit_vetting *how, tacit_error *error) {
    TACIT_TRY(check_minimum(study, error));
    say_exchange(how, study);
    TACIT_TRY(check_hope(study, how, error));
    warn_of_folds(how, &study->plan);
    if (has_noisy_model(study)) TACIT_TRY(foresee(study, how, error));
    return tacit_study_settle(study, error);
}
