/*
 * What a method says about itself, as it holds for one plan. The texts of a method (session/method.h) have
 * clauses that are kept only where a setting is as they say, so that a person who is asked to consent reads
 * what will happen and nothing that will not:
 *
 *     "[noise=coordinator: the coordinator adds the noise][noise=party,sees=each: the coordinator sees each
 *     party's noisy weights]"
 *
 * Conditions with commas between must all hold; each is KEY=VALUE, or KEY=VALUE|VALUE, or with != for none of
 * them. KEY is a setting of the method, or one of
 *
 *     sees      what the coordinator sees of the parties' answers: sum, each, or ciphertexts
 *     protects  record or person: whether rows of one person count as one (tacit_plan_counts_persons)
 *     counts    nothing, missing or perhaps: whether missing values are counted beside the model
 *               (tacit_plan_counts_missing)
 *     label     class, number, count or time; any where there is no schema yet
 *     law       of a method with that setting: auto is written as what it comes to, pure or gaussian
 *
 * In a clause {KEY%} stands for a setting that is a share: 2%. Clauses do not nest. A bracket that is not
 * followed by a condition is a bracket.
 */
#pragma once

#include "session/method.h"

typedef struct tacit_wording {
    char *leaves, *seen_by, *guarantee, *assumption, *theorem, *caveats;
} tacit_wording;

#define TACIT_WORDING_INIT                                                                                   \
    { .leaves = NULL }

/* TACIT_INTERNAL when a text of the method names a setting or a value that the method does not have. */
tacit_status tacit_wording_make(tacit_wording *out, const tacit_plan *plan, tacit_error *error);
void tacit_wording_clear(tacit_wording *wording);

/* One text. */
tacit_status tacit_wording_text(tacit_buffer *out, const char *text, const tacit_plan *plan,
                                tacit_error *error);

enum { TACIT_WORDING_SUMS_SIZE = 256 };

/* From how many parties a secure sum is opened, and how many it withstands that collude with the coordinator.
 * False: the plan has no secure sums, or too few parties for any. */
bool tacit_wording_sums(char out[TACIT_WORDING_SUMS_SIZE], const tacit_plan *plan);

/* Who adds the noise, and when: "by the party, before anything leaves". `charged` is what the plan's method
 * asks for: without a finite epsilon there is none. */
const char *tacit_wording_noise(const tacit_plan *plan, const tacit_price *charged);

/* How values leave under the plan, for people: what TACIT_RELEASE_CHARGED, SEALED and ENTRUSTED mean here. */
const char *tacit_wording_release(const tacit_plan *plan, const tacit_price *charged);

/* Which formulas a method takes, for people: made from the members of its entry (plan_wants.c). */
enum { TACIT_TERMS_TEXT = 256 };
const char *tacit_method_terms_text(const tacit_method *method, char out[TACIT_TERMS_TEXT]);
bool tacit_method_takes_weights(const tacit_method *method); /* of rows */
