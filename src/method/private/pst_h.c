/*
 * pst-h: private stacking across organisations (Yao et al. 2019, Algorithm 4). Sources with many rows lend
 * what they know to targets with few.
 *
 *   public:        feature groups F_1, ..., F_K, importances q_k, lambda_k
 *   source:        w_src,1, ..., w_src,K = the members of pst-f on all its rows, at epsilon_src
 *                  answers them, once
 *   coordinator:   u_k = the mean of the sources' w_src,k
 *   target:        pst-f at epsilon with the regularisers (lambda_k/2)|w - u_k|^2, or, with eta,
 *                  (lambda_k/2)|w|^2 + (eta/2)|w - u_k|^2                                 equation (5)
 *                  answers w_1, ..., w_K, h
 *   coordinator:   the mean of the targets' answers
 *
 * Proof note. Adjacency: one row of one party is replaced. A party is a source or a target and answers of its
 * rows once. A source's members together cost epsilon_src (privacy/mechanism/erm.h, groups). A target's
 * answer costs epsilon (stacking.h): u_k came from others' rows and is public by then.
 *
 * Equation (5). (lambda/2)|w|^2 + (eta/2)|w - u|^2 is ((lambda + eta)/2)|w - c u|^2 with c = eta/(lambda +
 * eta), and a number that does not depend on w: the same mechanism about another public center.
 *
 * PPHTL, with which Yao's table 2 compares (Wang et al. 2018; dphtl is the whole of it), is this with one
 * group, groups=1: the source lends its plr model, and the target fits plr towards it, so that the rows of
 * both are protected, which those of dphtl's target are not. With one source there is no prior to weigh.
 *
 * As printed a source runs plr at epsilon_src for each group, on the same rows: K epsilon_src in truth, not
 * the epsilon_src of Corollary 6 (`tacit audit pst-h-printed` shows it). Its groups are also scaled to
 * |x_(k)| <= 1 and the target's to q_k, so that the same weights would mean different things. pst-f's low
 * level costs epsilon_src for all groups and has the target's scale.
 *
 * Deviations from the box: sources run the low level of pst-f, where the box runs plr for each group;
 * several sources are averaged.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/private/stacking.h"

static const tacit_parameter parameters[] = {
    TACIT_COUNT(stacking_settings, sources, "sources", 1, 1e6,
                "how many parties lend; in a simulation they are the first ones"),
    TACIT_OPEN_NUMBER(stacking_settings, source_epsilon, "source-epsilon", 1e6, "what a source pays",
                      "epsilon, as a target"),
    TACIT_OPEN_NUMBER(stacking_settings, source_lambda, "source-lambda", 1e6,
                      "the regulariser of a source's models", "that of the target's"),
    STACKING_GROUP_PARAMETERS,
    STACKING_PARAMETERS,
    TACIT_LATER_OPEN_NUMBER(stacking_settings, eta, "eta", 1e6, "0",
                            "how strongly a target's models are drawn to the sources', beside lambda, which "
                            "then draws them to zero",
                            "lambda draws them to the sources'"),
    TACIT_SETTINGS_END,
};

static double source_epsilon(const tacit_plan *plan) {
    double told = stacking_settings_of(plan)->source_epsilon;
    return told > 0 && isfinite(plan->epsilon) ? told : plan->epsilon;
}

/* A real party's owner said it; simulated sources are the first parties. */
static bool is_source(const tacit_party *party) {
    if (party->role != NULL) return strcmp(party->role, "source") == 0;
    return party->number < stacking_settings_of(party->plan)->sources;
}

/* ---- the plan ---- */

static tacit_status source_stacking(stacking *out, const tacit_plan *plan, tacit_error *error) {
    TACIT_TRY(stacking_of_groups(out, plan, error));
    stacking_low_only(out);
    out->epsilon = source_epsilon(plan);
    double lambda = stacking_settings_of(plan)->source_lambda;
    for (size_t k = 0; lambda > 0 && k < out->stack->members; k++) out->lambda[k] = lambda;
    return TACIT_OK;
}

/* Equation (5), in the form of the header: c u in place of u, lambda + eta in place of lambda. */
static void add_pull(stacking *how, double eta) {
    const tacit_stack *stack = how->stack;
    for (size_t k = 0; eta > 0 && k < stack->members; k++) {
        const double part = eta / (how->lambda[k] + eta);
        for (size_t j = stack->start[k]; j < stack->start[k + 1]; j++) how->prior[j] *= part;
        how->lambda[k] += eta;
    }
}

/* `prior` holds the u_k, one after the other. */
static tacit_status target_stacking(stacking *out, const tacit_plan *plan, const double *prior,
                                    tacit_error *error) {
    stacking how = STACKING_INIT;
    TACIT_TRY(stacking_of_groups(&how, plan, error));
    size_t size = tacit_stack_low_size(how.stack);
    how.prior = TACIT_NEW(double, size);
    if (how.prior == NULL) {
        stacking_clear(&how);
        return tacit_fail_memory(error);
    }
    if (prior != NULL) memcpy(how.prior, prior, size * sizeof *prior);
    add_pull(&how, stacking_settings_of(plan)->eta);
    *out = how;
    return TACIT_OK;
}

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    stacking source = STACKING_INIT, target = STACKING_INIT;
    tacit_status status;
    if (plan->parties < 2)
        return tacit_fail(error, TACIT_USAGE, "method pst-h needs a source and a target; alone use pst-f");
    const size_t sources = stacking_settings_of(plan)->sources;
    if (sources >= plan->parties)
        return tacit_fail(
            error, TACIT_USAGE,
            "sources=%zu of method pst-h is no number of sources that leaves a target among %zu parties",
            sources, plan->parties);
    TACIT_CHECK(source_stacking(&source, plan, error));
    TACIT_CHECK(target_stacking(&target, plan, NULL, error));
    TACIT_CHECK(stacking_check(plan, &source, error));
    TACIT_CHECK(stacking_check(plan, &target, error));
cleanup:
    stacking_clear(&source);
    stacking_clear(&target);
    return status;
}

/* Of whoever pays more. */
static tacit_status price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                          tacit_error *error) {
    (void)prepared;
    (void)error;
    out->charged = out->claimed =
        (tacit_price){ TACIT_UNIT_RECORD, fmax(plan->epsilon, source_epsilon(plan)), 0 };
    return TACIT_OK;
}

static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    (void)prepared;
    stacking how = STACKING_INIT;
    TACIT_TRY(target_stacking(&how, plan, NULL, error));
    tacit_status status = stacking_law(plan, &how, out, error);
    stacking_clear(&how);
    return status;
}

/* ---- the party's half ---- */

static tacit_status answer_nothing(tacit_reply *reply) {
    reply->kind = TACIT_RELEASE_SEALED;
    reply->price = (tacit_price){ TACIT_UNIT_RECORD, 0, 0 };
    reply->assumption = "nothing of the rows is in it: the question is for others";
    return TACIT_OK;
}

/* Answer with the party's private stack as `how` says. */
static tacit_status answer_with(tacit_party *party, const stacking *how, tacit_reply *reply,
                                tacit_error *error) {
    tacit_sum_spec spec;
    tacit_noised *noised = NULL;
    double *values = NULL;
    tacit_status status;
    TACIT_CHECK(stacking_sum(party->plan, how, &spec, error));
    TACIT_CHECK(stacking_answer(party, how, &spec, &noised, error));
    values = TACIT_NEW(double, spec.length);
    if (values == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t j = 0; j < spec.length; j++)
        values[j] = ldexp((double)tacit_noised_steps(noised)[j], -spec.grid_bits);
    reply->kind = TACIT_RELEASE_CHARGED;
    reply->price = (tacit_price){ TACIT_UNIT_RECORD, how->epsilon, 0 };
    reply->noise = tacit_noised_grade(noised);
    TACIT_CHECK(tacit_message_add_numbers(&reply->message, "weights", values, spec.length, error));
cleanup:
    free(values);
    tacit_noised_free(noised);
    return status;
}

static tacit_status answer_source(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    stacking how = STACKING_INIT;
    (void)question;
    if (!is_source(party)) return answer_nothing(reply);
    TACIT_TRY(source_stacking(&how, party->plan, error));
    tacit_status status = answer_with(party, &how, reply, error);
    stacking_clear(&how);
    return status;
}

static tacit_status answer_target(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    stacking how = STACKING_INIT;
    const double *prior = NULL;
    tacit_status status;
    if (is_source(party)) return answer_nothing(reply);
    TACIT_CHECK(target_stacking(&how, party->plan, NULL, error));
    TACIT_CHECK(
        tacit_message_numbers(question->message, "prior", tacit_stack_low_size(how.stack), &prior, error));
    stacking_clear(&how);
    TACIT_CHECK(target_stacking(&how, party->plan, prior, error));
    TACIT_CHECK(answer_with(party, &how, reply, error));
cleanup:
    stacking_clear(&how);
    return status;
}

/* ---- the coordinator's half ---- */

/* The sum of the answers that say something: TACIT_REFUSED when none does. */
static tacit_status add_up(tacit_sum *out, const tacit_answers *answers, size_t length, const char *who,
                           tacit_error *error) {
    tacit_sum sum = { TACIT_NEW(double, length), length, 0 };
    tacit_status status = sum.values != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t i = 0; status == TACIT_OK && i < answers->count; i++) {
        const double *weights = NULL;
        if (answers->answer[i].message.count == 0) continue;
        status = tacit_message_numbers(&answers->answer[i].message, "weights", length, &weights, error);
        for (size_t j = 0; status == TACIT_OK && j < length; j++) sum.values[j] += weights[j];
        sum.parties++;
    }
    if (status == TACIT_OK && sum.parties == 0)
        status = tacit_fail(error, TACIT_REFUSED,
                            "no %s answered: at least one party must join with that role", who);
    if (status != TACIT_OK) {
        tacit_sum_clear(&sum);
        return status;
    }
    *out = sum;
    return TACIT_OK;
}

/* u_k: the mean of the sources' models. */
static tacit_status ask_sources(tacit_session *session, tacit_sum *out, tacit_error *error) {
    stacking how = STACKING_INIT;
    tacit_answers answers = TACIT_ANSWERS_INIT;
    tacit_status status;
    TACIT_CHECK(source_stacking(&how, session->plan, error));
    TACIT_CHECK(tacit_ask(session, "source", NULL, &answers, error));
    TACIT_CHECK(add_up(out, &answers, tacit_stack_size(how.stack), "source", error));
    for (size_t j = 0; j < out->length; j++) out->values[j] /= (double)out->parties;
cleanup:
    tacit_answers_clear(&answers);
    stacking_clear(&how);
    return status;
}

/* An answer with nothing in it is of a party with the other role. */
static tacit_status usable(const stacking *how, const tacit_message *answer, tacit_error *error) {
    const double *weights;
    if (answer->count == 0) return TACIT_OK;
    return tacit_message_numbers(answer, "weights", tacit_stack_size(how->stack), &weights, error);
}

static tacit_status usable_source(const tacit_plan *plan, const tacit_message *answer, tacit_error *error) {
    stacking how = STACKING_INIT;
    TACIT_TRY(source_stacking(&how, plan, error));
    tacit_status status = usable(&how, answer, error);
    stacking_clear(&how);
    return status;
}

static tacit_status usable_target(const tacit_plan *plan, const tacit_message *answer, tacit_error *error) {
    stacking how = STACKING_INIT;
    TACIT_TRY(target_stacking(&how, plan, NULL, error));
    tacit_status status = usable(&how, answer, error);
    stacking_clear(&how);
    return status;
}

static size_t source_numbers(const tacit_plan *plan) {
    stacking how = STACKING_INIT;
    size_t numbers = source_stacking(&how, plan, NULL) == TACIT_OK ? tacit_stack_size(how.stack) : 0;
    stacking_clear(&how);
    return numbers;
}

static size_t target_numbers(const tacit_plan *plan) {
    stacking how = STACKING_INIT;
    size_t numbers = target_stacking(&how, plan, NULL, NULL) == TACIT_OK ? tacit_stack_size(how.stack) : 0;
    stacking_clear(&how);
    return numbers;
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    stacking how = STACKING_INIT;
    tacit_sum prior = TACIT_SUM_INIT, sum = TACIT_SUM_INIT;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_answers answers = TACIT_ANSWERS_INIT;
    tacit_status status;
    TACIT_CHECK(ask_sources(session, &prior, error));
    TACIT_CHECK(target_stacking(&how, session->plan, prior.values, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "prior", prior.values, prior.length, error));
    TACIT_CHECK(tacit_ask(session, "target", &message, &answers, error));
    TACIT_CHECK(add_up(&sum, &answers, tacit_stack_size(how.stack), "target", error));
    TACIT_CHECK(stacking_finish(session->plan, &how, &sum, out, error));
    out->parties = prior.parties + sum.parties;
cleanup:
    tacit_answers_clear(&answers);
    tacit_message_clear(&message);
    tacit_sum_clear(&prior);
    tacit_sum_clear(&sum);
    stacking_clear(&how);
    return status;
}

static const tacit_handler_entry handlers[] = { { .question = "source",
                                                  .answer = answer_source,
                                                  .usable = usable_source,
                                                  .answer_numbers = source_numbers },
                                                { .question = "target",
                                                  .answer = answer_target,
                                                  .usable = usable_target,
                                                  .answer_numbers = target_numbers },
                                                { .question = NULL } };

const tacit_method tacit_method_pst_h = {
    .name = "pst-h",
    .title = "stacking across organisations: sources lend their private models to targets",
    .reference = "Yao et al. 2019, Algorithm 4",
    .version = 1,
    .units = "record",
    .takes_points = true,
    .roles = "source|target",
    TACIT_SETTINGS_OF(parameters, stacking_defaults),
    .makes_stacks = true,
    .leaves = "of a source, the weights of K models of its rows, one for each group of features, each with a "
              "random linear term; of a target, those of K models drawn towards the sources', and of a model "
              "of their predictions",
    .seen_by = "the coordinator sees each party's models, and targets see the mean of the sources'. "
               "Everybody sees the mean of the targets' models. Every model carries its party's own noise, "
               "so at the price charged it may be shown to anybody",
    .guarantee = "epsilon-differential privacy (delta = 0) for replacing one row of a party, towards "
                 "everybody: source-epsilon for a source's rows, epsilon for a target's",
    .assumption =
        "every row lies in the unit ball (the schema's encoding ensures it); two classes; the number of a "
        "party's rows is no secret; groups and importances are public knowledge, not taken from the rows",
    .theorem = "source and target are those of pst-f, about other prior means: b_k ~ G(d_k, 2/epsilon') "
               "loses q_k epsilon' and the Jacobian log(1 + c q_k^2/(n (lambda_k + Delta_k))), together "
               "epsilon over all groups; a party answers of its rows once",
    .claim = "epsilon for each source (Corollary 6), from plr at epsilon for each group on the same rows: "
             "that spends K epsilon. It is not run here; the sound step is",
    .caveats = "a source unlike the target misleads it, the more so the larger lambda is; two classes only",
    .check = check,
    .price = price,
    .noise = noise_law,
    .single = tacit_plan_always_single,
    .release_kind = perturb_release_kind,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
