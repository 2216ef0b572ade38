#include "lab/audit/attack.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/replay.h"
#include "method/private/dpgd.h"

enum { DIMENSION = TACIT_ATTACK_DIMENSION };

struct tacit_attack {
    tacit_dataset *data[2];
    tacit_local *local[2];
    const tacit_split *split;
    tacit_plan plan, exact;
    tacit_sum_spec spec, exact_spec;
    size_t rounds;
    double rows;
    bool by_differences, exactly;
    double expected[2][DIMENSION]; /* what the attacker looks at, without noise */
};

/* Confidently wrong at w = (FAR, 0), confidently right at -w. */
static const double SINE = 0.2, FAR = 100;

tacit_status tacit_attack_create(tacit_attack **out, const tacit_dataset *dataset, const tacit_split *split,
                                 tacit_error *error) {
    size_t target = split->index[0];
    double cosine = sqrt(1 - SINE * SINE) * (1 - 1e-12);
    tacit_attack *self = TACIT_NEW(tacit_attack, 1);
    tacit_status status = TACIT_OK;
    if (self == NULL) return tacit_fail_memory(error);
    self->split = split;
    self->rows = (double)split->start[split->parts];
    for (int world = 0; world < 2; world++) {
        TACIT_CHECK(tacit_pair_copy(&self->data[world], dataset, error));
        self->data[world]->dense.values[target * DIMENSION] = SINE;
        self->data[world]->dense.values[target * DIMENSION + 1] = world == 0 ? cosine : -cosine;
        self->data[world]->label[target] = 0;
        TACIT_CHECK(tacit_local_create(&self->local[world], self->data[world], split, NULL, error));
    }
    *out = self;
    self = NULL;
cleanup:
    tacit_attack_free(self);
    return status;
}

tacit_attack *tacit_attack_free(tacit_attack *attack) {
    if (attack == NULL) return NULL;
    for (int world = 0; world < 2; world++) {
        tacit_local_free(attack->local[world]);
        tacit_dataset_free(attack->data[world]);
    }
    free(attack);
    return NULL;
}

void tacit_attack_draw_exactly(tacit_attack *attack, bool exactly) { attack->exactly = exactly; }

const tacit_plan *tacit_attack_plan(const tacit_attack *attack) { return &attack->plan; }

static tacit_status sum_of(const tacit_plan *plan, tacit_sum_spec *out, tacit_error *error) {
    return plan->method == &tacit_method_psgd ? psgd_sum(plan, out, error) : dpgd_sum(plan, out, error);
}

tacit_status tacit_attack_aim(tacit_attack *self, const tacit_plan *plan, size_t rounds, tacit_error *error) {
    char number[32];
    snprintf(number, sizeof number, "%zu", rounds);
    self->plan = *plan;
    self->plan.features = DIMENSION;
    self->plan.classes = 2;
    self->plan.parties = self->plan.minimum_parties = self->split->parts;
    self->plan.minimum_rows = tacit_local_smallest_party(self->local[0]);
    self->rounds = rounds;
    TACIT_TRY(tacit_plan_set(&self->plan, "rounds", number, error));
    TACIT_TRY(tacit_plan_check(&self->plan, error));
    self->exact = self->plan;
    self->exact.epsilon = INFINITY;
    self->by_differences =
        plan->method == &tacit_method_psgd && TACIT_SETTINGS(psgd_settings, &self->plan)->noise != PSGD_FRESH;
    TACIT_TRY(sum_of(&self->plan, &self->spec, error));
    TACIT_TRY(sum_of(&self->exact, &self->exact_spec, error));
    for (int world = 0; world < 2; world++)
        TACIT_TRY(tacit_attack_look(self, world, NULL, self->expected[world], error));
    return TACIT_OK;
}

/* Ask at (sign FAR, 0) and add `weight` times the answer. */
static tacit_status ask(const tacit_attack *self, tacit_session *session, double sign, double weight,
                        double *into, tacit_error *error) {
    const double at[DIMENSION] = { sign * FAR, 0 };
    const tacit_sum_spec *spec = session->plan == &self->plan ? &self->spec : &self->exact_spec;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    const int64_t units = DPGD_UNITS / (int64_t)self->rounds; /* for dpgd whose budget adapts, all of it */
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", at, DIMENSION, error));
    TACIT_CHECK(tacit_message_add_integers(&message, "units", &units, 1, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &self->rows, 1, error));
    TACIT_CHECK(tacit_ask_sum(session, "gradient", &message, spec, &sum, error));
    for (size_t j = 0; j < DIMENSION; j++) into[j] += weight * sum.values[j];
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

/* Without noise many answers tell no more than one, or two. */
tacit_status tacit_attack_look(tacit_attack *self, int world, const tacit_stream *seed, double *out,
                               tacit_error *error) {
    tacit_stream fixed = tacit_stream_from_seed(0);
    const tacit_plan *plan = seed != NULL ? &self->plan : &self->exact;
    bool differ = self->by_differences && self->rounds > 1;
    size_t times = seed == NULL ? 1 : differ ? self->rounds / 2 : self->rounds;
    tacit_session session;
    TACIT_TRY(tacit_local_draw_exactly(self->local[world], seed != NULL && self->exactly, error));
    TACIT_TRY(
        tacit_local_begin(self->local[world], plan, seed != NULL ? seed : &fixed, NULL, &session, error));
    memset(out, 0, DIMENSION * sizeof *out);
    for (size_t t = 0; t < times; t++) {
        TACIT_TRY(ask(self, &session, 1, 1 / (double)times, out, error));
        if (differ) TACIT_TRY(ask(self, &session, -1, -1 / (double)times, out, error));
    }
    return TACIT_OK;
}

int tacit_attack_guess(const tacit_attack *self, const double *seen) {
    double distance[2] = { 0, 0 };
    for (int world = 0; world < 2; world++)
        for (size_t j = 0; j < DIMENSION; j++) distance[world] += pow(seen[j] - self->expected[world][j], 2);
    return distance[1] < distance[0];
}
