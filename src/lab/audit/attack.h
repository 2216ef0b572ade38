/*
 * What somebody learns who sees the answers of many rounds of psgd or dpgd: the attacks of Rajkumar and
 * Agarwal 2012, sections 3.2 and 3.3, as a game.
 *
 * All rows are known but one, which is one of two: (s, c) or (s, -c), of the class that the weights asked
 * about take for wrong, so that its gradient is almost (s, c) or (s, -c). The attacker puts T questions to
 * the parties, who answer by the very code of a study, and says which row it was.
 *
 *   averaging (3.2):   T answers at one w; noise drawn again in each averages out.
 *   differences (3.3): answers at w and -w by turns; noise drawn once cancels in their difference, what is
 *   drawn again averages out.
 *
 * Both reduce the answers to one vector, and the guess is the nearer of the two that the rows would give
 * without noise. If all T answers together are (epsilon, delta)-private, no attacker is wrong less often than
 * (1 - delta)/(1 + e^epsilon).
 */
#pragma once

#include "data/split.h"
#include "method/methods.h"
#include "rand/stream.h"

enum { TACIT_ATTACK_DIMENSION = 2 };

typedef struct tacit_attack tacit_attack;

/* Over rows of two features; the first row of the first party is the one in question. The split is
 * borrowed. */
tacit_status tacit_attack_create(tacit_attack **out, const tacit_dataset *dataset, const tacit_split *split,
                                 tacit_error *error);
tacit_attack *tacit_attack_free(tacit_attack *attack);

/* Attack `rounds` answers of psgd or dpgd under a plan that says method, price, lambda and settings; what
 * else there is in a plan is filled in. */
tacit_status tacit_attack_aim(tacit_attack *attack, const tacit_plan *plan, size_t rounds,
                              tacit_error *error);
const tacit_plan *tacit_attack_plan(const tacit_attack *attack);

/* Let noise be that of a real release from here on, or a simulation's again. */
void tacit_attack_draw_exactly(tacit_attack *attack, bool exactly);

/* What the answers come to in world 0 or 1; without noise when `seed` is NULL. */
tacit_status tacit_attack_look(tacit_attack *attack, int world, const tacit_stream *seed, double *out,
                               tacit_error *error);

/* The world that it comes from, by the attacker's guess. */
int tacit_attack_guess(const tacit_attack *attack, const double *seen);
