/*
 * Figures of each site beside those of all (sites=apart). Every party answers by itself, under the name that
 * people gave it, and only if its owner allows that (tacit_policy.allow_site, checked by the gate): whoever
 * does not, takes no part, so that nobody's figures are what is left when others' are taken from the total.
 *
 * describe: each party adds all of the noise (noise=party), and its answer is charged by itself: the proof is
 * that of
 *   one party's release. describe-exact: each party's counts are held to its owner's minimum
 *   (describe_open.c), on cells that all have in common.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/tables/describe.h"

/* ---- the party's half ---- */

/* The party's own figures, by its name. */
static tacit_status say_site(const tacit_party *party, const double *values, size_t count, tacit_reply *reply,
                             tacit_error *error) {
    const char *name = party->called != NULL ? party->called : "";
    reply->packed = 0;
    TACIT_TRY(tacit_message_add_numbers(&reply->message, "sums", values, count, error));
    return tacit_message_add_text(&reply->message, "site", name, error);
}

static tacit_status check_apart(const tacit_plan *plan, tacit_error *error) {
    if (describe_apart(plan)) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED, "the study has no figures of single sites");
}

tacit_status describe_answer_site(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    describe_design design;
    tacit_noised *noised = NULL;
    double *values = NULL;
    tacit_status status;
    (void)question;
    TACIT_TRY(check_apart(party->plan, error));
    TACIT_TRY(tacit_party_prepared(party, &design, error));
    const tacit_sum_spec *spec = &design.release.spec;
    values = TACIT_NEW(double, design.length);
    if (values == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(describe_sums(party, &design, values, error));
    TACIT_CHECK(tacit_mechanism_release(&noised, &party->noise, &design.release.mechanism, values,
                                        spec->length, spec->grid_bits, spec->bound, error));
    for (size_t j = 0; j < design.length; j++)
        values[j] = ldexp((double)tacit_noised_steps(noised)[j], -spec->grid_bits);
    reply->kind = TACIT_RELEASE_CHARGED;
    reply->noise = tacit_noised_grade(noised);
    reply->price = design.release.mechanism.price;
    reply->event = design.release.event;
    TACIT_CHECK(say_site(party, values, design.length, reply, error));
cleanup:
    free(values);
    tacit_noised_free(noised);
    return status;
}

tacit_status describe_answer_exact_site(tacit_party *party, const tacit_question *question,
                                        tacit_reply *reply, tacit_error *error) {
    tacit_reply sums = { .message = TACIT_MESSAGE_INIT };
    tacit_question as_sum = *question;
    describe_design design;
    TACIT_TRY(check_apart(party->plan, error));
    TACIT_TRY(tacit_party_prepared(party, &design, error));
    as_sum.wants_sum = true;
    as_sum.sum = design.release.spec;
    tacit_status status = describe_answer_counts(party, &as_sum, &sums, error);
    if (status == TACIT_OK) status = say_site(party, sums.contribution, design.length, reply, error);
    reply->kind = sums.kind;
    reply->noise = sums.noise;
    reply->price = sums.price;
    tacit_reply_clear(&sums);
    return status;
}

tacit_status describe_usable_site(const tacit_plan *plan, const tacit_message *answer, tacit_error *error) {
    describe_design design;
    const double *values;
    const char *name;
    TACIT_TRY(describe_make(&design, plan, error));
    tacit_status status = tacit_message_numbers(answer, "sums", design.length, &values, error);
    for (size_t j = 0; status == TACIT_OK && j < design.length; j++)
        if (!(fabs(values[j]) <= design.release.spec.bound))
            status = tacit_fail(error, TACIT_PROTOCOL, "a site's figures are no numbers of rows");
    if (status == TACIT_OK) status = tacit_message_text(answer, "site", &name, error);
    if (status == TACIT_OK && strlen(name) >= DESCRIBE_SITE_NAME)
        status = tacit_fail(error, TACIT_PROTOCOL, "a site's name is too long");
    describe_clear(&design);
    return status;
}

size_t describe_site_numbers(const tacit_plan *plan) {
    describe_design design;
    if (describe_make(&design, plan, NULL) != TACIT_OK) return 0;
    size_t length = design.length + DESCRIBE_SITE_NAME;
    describe_clear(&design);
    return length;
}

/* ---- the coordinator's half ---- */

/* The numbers of one site to their places in the layout of all. */
static void place_site(const describe_design *one, const describe_design *all, size_t g, const double *from,
                       double *out) {
    out[0] += from[0];
    for (size_t k = 0; k < one->variables; k++) {
        const describe_variable *here = &one->variable[k], *there = &all->variable[k];
        size_t counts = describe_counts(one, here);
        for (size_t j = 0; here->number && j < DESCRIBE_MOMENTS; j++)
            out[there->moments + g * DESCRIBE_MOMENTS + j] = from[here->moments + j];
        for (size_t j = 0; j < counts; j++) out[there->counts + g * counts + j] = from[here->counts + j];
    }
    size_t tables = one->pairs > 0 ? one->length - one->pair[0].counts : 0;
    for (size_t j = 0; j < tables; j++) out[all->pair[0].counts + j] += from[one->pair[0].counts + j];
}

static tacit_status read_site(const describe_design *design, const tacit_answer *answer, size_t place,
                              describe_site *out, const double **values, tacit_error *error) {
    const char *name;
    TACIT_TRY(tacit_message_numbers(&answer->message, "sums", design->length, values, error));
    TACIT_TRY(tacit_message_text(&answer->message, "site", &name, error));
    if (name[0] != 0)
        snprintf(out->name, sizeof out->name, "%s", name);
    else
        snprintf(out->name, sizeof out->name, "%zu", place + 1);
    out->rows = round((*values)[0] / design->rows_weight);
    return TACIT_OK;
}

static tacit_status tell_sites(tacit_session *session, const describe_design *design,
                               const tacit_answers *answers, const bool *told, tacit_outcome *out,
                               tacit_error *error) {
    describe_design all = { .variables = 0 };
    tacit_sum sum = { .parties = answers->count };
    tacit_status status;
    describe_site *sites = TACIT_NEW(describe_site, answers->count);
    const double **values = TACIT_NEW(const double *, answers->count);
    TACIT_CHECK(sites != NULL && values != NULL ? TACIT_OK : tacit_fail_memory(error));
    for (size_t g = 0; g < answers->count; g++)
        TACIT_CHECK(read_site(design, &answers->answer[g], g, &sites[g], &values[g], error));
    TACIT_CHECK(describe_make_sites(&all, session->plan, sites, answers->count, error));
    sum.length = all.length;
    sum.values = TACIT_NEW(double, all.length);
    if (sum.values == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t g = 0; g < answers->count; g++) place_site(design, &all, g, values[g], sum.values);
    tacit_session_notify(session, sum.values, all.length);
    TACIT_CHECK(describe_finish(session, &all, &sum, told, out, error));
cleanup:
    free(sites);
    free(values);
    tacit_sum_clear(&sum);
    describe_clear(&all);
    return status;
}

tacit_status describe_coordinate_sites(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    describe_design design;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_answers answers = TACIT_ANSWERS_INIT;
    bool *told = NULL;
    tacit_status status;
    TACIT_TRY(tacit_session_prepared(session, &design, error));
    if (design.exact) TACIT_CHECK(describe_ask_told(session, &design, &message, &told, error));
    TACIT_CHECK(tacit_ask(session, "site", design.exact ? &message : NULL, &answers, error));
    TACIT_CHECK(tell_sites(session, &design, &answers, told, out, error));
cleanup:
    free(told);
    tacit_answers_clear(&answers);
    tacit_message_clear(&message);
    return status;
}
