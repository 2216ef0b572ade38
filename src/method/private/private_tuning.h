/*
 * Paying for the choice of lambda (Chaudhuri, Monteleoni and Sarwate 2011, section 6, Algorithm 4): a
 * validation on private rows is a release like any other. For candidates lambda_1, ..., lambda_L and a price
 * E of the choice, a party
 *
 *   splits its rows by position into blocks B_1, ..., B_L and V
 *   fits the method at (E, lambda_i) to B_i, and counts its errors e_i on V
 *   draws i with probability proportional to exp(-E e_i/2)                              the exponential
 *                                                                                       mechanism
 *   answers i, and the method at (epsilon, lambda_i) on all its rows
 *
 * Proof note. Adjacency: one row of the party is replaced. A row of B_i moves the i-th model only, which is
 * E-private, and the choice is a post-processing of it. Given the models, a row of V moves every e_i by at
 * most 1, so the choice is E-private (privacy/mechanism/selection.h, not monotone). The parts are disjoint:
 * the choice costs E (parallel composition), and with the final model epsilon + E (basic composition). The
 * models of the blocks never leave. A block has few rows, so that lambda is chosen for more noise than the
 * final model has, and tends to be large: tame rather than lucky. Where there are public rows with labels,
 * choose on them (study/public_tuning.h) and pay nothing.
 */
#pragma once

#include "method/private/stacking.h"
#include "privacy/mechanism/selection.h"

/* Two settings of a method that can choose. */
#define CHOOSING_PARAMETERS                                                                                  \
    TACIT_TEXT(perturb_settings, candidates, "candidates",                                                   \
               "lambdas to choose from, l1,l2,...: by select=private:E, with one party"),                    \
        TACIT_TEXT(perturb_settings, select, "select", "what the choice among candidates costs: private:E")

enum { CHOOSING_MOST = 32 };

/* Whether the plan has candidates, how many, and what choosing costs; 0 without. */
size_t choosing_count(const tacit_plan *plan);
double choosing_epsilon(const tacit_plan *plan);

/* TACIT_USAGE for candidates without a price, more than one party, or too few rows. */
tacit_status choosing_check(const tacit_plan *plan, tacit_error *error);

/* The plan with candidate i as its lambda, and nothing left to choose. */
tacit_plan choosing_plan(const tacit_plan *plan, size_t i);

/* What is charged: epsilon, and the choice. The second is a method's `price`. */
tacit_price choosing_price(const tacit_plan *plan);
tacit_status choosing_prices(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                             tacit_error *error);

/* Choose for the party. */
tacit_status choosing_select(tacit_selected **out, tacit_party *party, stacking_maker *make,
                             tacit_error *error);

/* Both halves of a method that stacks as `make` says: check, prepare, noise_law, coordinate and handlers. */
#define STACKING_HALVES(make)                                                                                \
    static tacit_status check(const tacit_plan *plan, tacit_error *error) {                                  \
        return stacking_plan_check(plan, make, error);                                                       \
    }                                                                                                        \
    static tacit_status prepare(const tacit_plan *plan, void *spec, tacit_error *error) {                    \
        return stacking_plan_prepare(plan, make, spec, error);                                               \
    }                                                                                                        \
    static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,   \
                                  tacit_error *error) {                                                      \
        (void)prepared;                                                                                      \
        return stacking_plan_law(plan, make, out, error);                                                    \
    }                                                                                                        \
    static tacit_status answer_stack(tacit_party *party, const tacit_question *question, tacit_reply *reply, \
                                     tacit_error *error) {                                                   \
        return stacking_plan_answer(party, question, make, reply, error);                                    \
    }                                                                                                        \
    static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {         \
        return stacking_plan_coordinate(session, make, out, error);                                          \
    }                                                                                                        \
    static const tacit_handler_entry handlers[] = { { .question = "stack", .answer = answer_stack },         \
                                                    { .question = NULL } }
