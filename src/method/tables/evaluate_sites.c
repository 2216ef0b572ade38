/*
 * Figures of each site beside those of all (sites=apart): every party answers by itself, under the name that
 * people gave it, and only if its owner allows that (tacit_policy.allow_site, checked by the gate). Whoever
 * does not, takes no part, so that nobody's figures are what is left when others' are taken from the total.
 *
 * Each party adds all of the noise (one share that is enough by itself), and its answer is charged: the proof
 * is that of evaluate.c for a sum of one party. evaluate-exact: the coordinator sees each party's exact
 * counts; what is published leaves out figures that single out fewer than `least` rows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/tables/evaluate.h"

/* The party's own counts, with all of the noise if there is any, under its name. */
tacit_status evaluate_answer_site(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    const tacit_plan *plan = party->plan;
    tacit_reply own = { .message = TACIT_MESSAGE_INIT };
    evaluate_setup how;
    tacit_status status;
    (void)question;
    TACIT_TRY(evaluate_need_model(plan, error));
    TACIT_TRY(tacit_party_prepared(party, &how, error));
    if (!evaluate_apart(plan))
        return tacit_fail(error, TACIT_REFUSED, "the study has no figures of single sites");
    TACIT_CHECK(evaluate_count_rows(party, &how, &own, error));
    reply->kind = own.kind;
    reply->noise = own.noise;
    reply->price = own.price;
    if (!evaluate_is_noisy(plan)) {
        TACIT_CHECK(
            tacit_message_add_numbers(&reply->message, "counts", own.contribution, how.spec.length, error));
    } else {
        double *values = own.contribution;
        own.contribution = TACIT_NEW(double, how.spec.length);
        if (own.contribution != NULL) memcpy(own.contribution, values, how.spec.length * sizeof *values);
        status = own.contribution != NULL ? evaluate_add_share(party, &how, &own, error)
                                          : tacit_fail_memory(error);
        for (size_t j = 0; status == TACIT_OK && j < how.spec.length; j++)
            values[j] = ldexp((double)tacit_noised_steps(own.noised)[j], -how.spec.grid_bits);
        if (status == TACIT_OK)
            status = tacit_message_add_numbers(&reply->message, "counts", values, how.spec.length, error);
        free(values);
        TACIT_CHECK(status);
        reply->noise = tacit_noised_grade(own.noised);
        reply->event = tacit_noised_event(own.noised, &own.price);
    }
    TACIT_CHECK(
        tacit_message_add_text(&reply->message, "site", party->called != NULL ? party->called : "", error));
cleanup:
    tacit_reply_clear(&own);
    return status;
}

tacit_status evaluate_usable_site(const tacit_plan *plan, const tacit_message *answer, tacit_error *error) {
    evaluate_setup how;
    const double *counts;
    const char *name;
    TACIT_TRY(evaluate_make_setup(&how, plan, error));
    TACIT_TRY(tacit_message_numbers(answer, "counts", how.spec.length, &counts, error));
    TACIT_TRY(tacit_message_text(answer, "site", &name, error));
    for (size_t j = 0; j < how.spec.length; j++)
        if (!(fabs(counts[j]) <= 0x1p60) || strlen(name) >= EVALUATE_SITE_NAME)
            return tacit_fail(error, TACIT_PROTOCOL, "a site's figures are no numbers of rows, or unnamed");
    return TACIT_OK;
}

size_t evaluate_site_numbers(const tacit_plan *plan) {
    evaluate_setup how;
    return evaluate_make_setup(&how, plan, NULL) == TACIT_OK ? how.spec.length + EVALUATE_SITE_NAME : 0;
}

/* The counts of all sites beside each other, as those of subgroups. */
static tacit_status tell_sites(tacit_session *session, const evaluate_setup *how,
                               const tacit_answers *answers, tacit_report **out, tacit_error *error) {
    size_t each = how->spec.length, sites = answers->count;
    evaluate_setup all = *how;
    double *counts = TACIT_NEW(double, sites *each), noise, scale;
    char(*name)[EVALUATE_SITE_NAME] = tacit_allocate(sites, sizeof *name), **text = TACIT_NEW(char *, sites);
    tacit_levels levels = { .text = text, .count = sites };
    tacit_status status =
        counts != NULL && name != NULL && text != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t g = 0; status == TACIT_OK && g < sites; g++) {
        const tacit_message *answer = &answers->answer[g].message;
        const double *from;
        const char *called;
        TACIT_CHECK(tacit_message_numbers(answer, "counts", each, &from, error));
        TACIT_CHECK(tacit_message_text(answer, "site", &called, error));
        if (called[0] != 0)
            snprintf(name[g], sizeof name[g], "%s", called);
        else
            snprintf(name[g], sizeof name[g], "%zu", g + 1);
        text[g] = name[g];
        memcpy(counts + g * each, from, each * sizeof *from);
    }
    TACIT_CHECK(status);
    all.tally.groups = sites;
    all.tally.by = "site";
    all.tally.levels = &levels;
    tacit_session_notify(session, counts, sites * each);
    TACIT_CHECK(evaluate_deviation(session->plan, how, 1, &noise, &scale, error));
    TACIT_CHECK(evaluate_make_report(out, session->plan, &all, counts, noise, error));
cleanup:
    free(counts);
    free(name);
    free(text);
    return status;
}

tacit_status evaluate_coordinate_sites(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_answers answers = TACIT_ANSWERS_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_report *report = NULL;
    tacit_model *model = NULL;
    evaluate_setup how;
    tacit_status status;
    TACIT_CHECK(evaluate_need_model(plan, error));
    TACIT_CHECK(tacit_session_prepared(session, &how, error));
    /* An exact sum first: parties hold its set against those of other exact sums, whose differences would
     * tell. */
    if (!evaluate_is_noisy(plan)) TACIT_CHECK(tacit_ask_sum(session, "counts", NULL, &how.spec, &sum, error));
    TACIT_CHECK(tacit_ask(session, "site", NULL, &answers, error));
    TACIT_CHECK(tell_sites(session, &how, &answers, &report, error));
    TACIT_CHECK(tacit_model_create_report(&model, report, plan->features, plan->classes, error));
    out->parties = answers.count;
    status = tacit_outcome_add(out, model, error);
cleanup:
    tacit_sum_clear(&sum);
    tacit_answers_clear(&answers);
    return status;
}
