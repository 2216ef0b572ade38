/* The partial likelihood from sums over groups is that of the definition, row by row; its derivatives are derivatives. Cases follow from a fixed seed. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "data/measure/concordance.h"
#include "num/partial_likelihood.h"

enum { ROWS = 60, WIDTH = 3, GROUPS = 8, STRATA = 2, LENGTH = 1 + WIDTH + WIDTH * (WIDTH + 1) / 2 };

static double uniform(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

typedef struct rows {
    double x[ROWS][WIDTH];
    size_t group[ROWS]; /* of all strata: one stratum after the other */
    bool event[ROWS];
} rows;

static void draw(rows *out, uint64_t seed) {
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < WIDTH; j++) out->x[i][j] = 2 * uniform(&seed) - 1;
        out->group[i] = (size_t)(uniform(&seed) * GROUPS * STRATA);
        out->event[i] = uniform(&seed) < 0.5;
    }
}

static double score_of(const rows *all, size_t i, const double *w) {
    double sum = 0;
    for (size_t j = 0; j < WIDTH; j++) sum += w[j] * all->x[i][j];
    return sum;
}

/* By the definition: every event against everybody who is at risk, its own ties averaged out (Efron) or not. */
static double by_rows(const rows *all, const double *w, bool efron) {
    double likelihood = 0;
    for (size_t g = 0; g < GROUPS * STRATA; g++) {
        double at_risk = 0, died = 0, events = 0;
        for (size_t i = 0; i < ROWS; i++) {
            double risk = exp(score_of(all, i, w));
            if (all->group[i] / GROUPS == g / GROUPS && all->group[i] >= g) at_risk += risk;
            if (all->group[i] != g || !all->event[i]) continue;
            died += risk;
            events++;
            likelihood += score_of(all, i, w);
        }
        for (double k = 0; k < events; k++) likelihood -= log(at_risk - (efron ? k / events * died : 0));
    }
    return likelihood;
}

typedef struct sums {
    double leaving[GROUPS * STRATA * LENGTH], died[GROUPS * STRATA * LENGTH], events[GROUPS * STRATA],
        event_x[WIDTH];
    size_t end[STRATA];
    double score[WIDTH], information[WIDTH * WIDTH], hazard[GROUPS * STRATA];
    tacit_cox_point at;
} sums;

static double by_groups(sums *out, const rows *all, const double *w, bool efron, double shift) {
    tacit_error error = TACIT_ERROR_INIT;
    memset(out, 0, sizeof *out);
    for (size_t s = 0; s < STRATA; s++) out->end[s] = (s + 1) * GROUPS;
    for (size_t i = 0; i < ROWS; i++) {
        double risk = exp(score_of(all, i, w) - shift);
        tacit_risk_add(out->leaving + all->group[i] * LENGTH, WIDTH, risk, all->x[i]);
        if (!all->event[i]) continue;
        tacit_risk_add(out->died + all->group[i] * LENGTH, WIDTH, risk, all->x[i]);
        out->events[all->group[i]]++;
        for (size_t j = 0; j < WIDTH; j++) out->event_x[j] += all->x[i][j];
    }
    tacit_cox_groups groups = { .width = WIDTH,
                                .strata = STRATA,
                                .end = out->end,
                                .events = out->events,
                                .leaving = out->leaving,
                                .died = efron ? out->died : NULL,
                                .event_x = out->event_x,
                                .shift = shift };
    out->at =
        (tacit_cox_point){ .score = out->score, .information = out->information, .hazard = out->hazard };
    CHECK_OK(tacit_cox_evaluate(&out->at, &groups, w, &error), error);
    return out->at.log_likelihood;
}

static void sums_over_groups_give_the_likelihood_of_the_definition(void **state) {
    (void)state;
    static sums at;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        rows all;
        uint64_t random = 1000 + seed;
        double w[WIDTH];
        draw(&all, seed);
        for (size_t j = 0; j < WIDTH; j++) w[j] = 4 * uniform(&random) - 2;
        for (int efron = 0; efron < 2; efron++)
            CHECK_NEAR(by_groups(&at, &all, w, efron, 3 * uniform(&random)), by_rows(&all, w, efron), 1e-10);
    }
}

static void scores_and_information_are_derivatives(void **state) {
    (void)state;
    static const double STEP = 1e-5;
    static sums at, up, down;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rows all;
        double w[WIDTH] = { 0.3, -1, 0.7 };
        draw(&all, seed);
        for (int efron = 0; efron < 2; efron++)
            for (size_t j = 0; j < WIDTH; j++) {
                double high[WIDTH], low[WIDTH];
                memcpy(high, w, sizeof w);
                memcpy(low, w, sizeof w);
                high[j] += STEP;
                low[j] -= STEP;
                by_groups(&at, &all, w, efron, 0);
                double rise = by_groups(&up, &all, high, efron, 0) - by_groups(&down, &all, low, efron, 0);
                CHECK_NEAR(at.score[j], rise / (2 * STEP), 1e-6);
                for (size_t i = j; i < WIDTH; i++)
                    CHECK_NEAR(at.information[i * WIDTH + j], -(up.score[i] - down.score[i]) / (2 * STEP),
                               1e-6);
            }
    }
}

/* The expected number of events, the hazard's steps times who is at risk, is the number of events (Breslow). */
static void a_baseline_expects_as_many_events_as_there_are(void **state) {
    (void)state;
    static sums at;
    rows all;
    double w[WIDTH] = { 0.5, 0.5, -0.5 }, expected = 0, events = 0;
    draw(&all, 7);
    by_groups(&at, &all, w, false, 1.5);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t g = all.group[i] / GROUPS * GROUPS; g <= all.group[i]; g++)
            expected += at.hazard[g] * exp(score_of(&all, i, w));
        events += all.event[i];
    }
    CHECK_NEAR(expected, events, 1e-10);
}

static void hazards_too_far_apart_are_an_error(void **state) {
    (void)state;
    size_t end = 1;
    double events = 2, leaving[] = { INFINITY, 0, 0 }, x = 0, w = 0, score, information;
    tacit_cox_groups groups = { .width = 1,
                                .strata = 1,
                                .end = &end,
                                .events = &events,
                                .leaving = leaving,
                                .died = leaving,
                                .event_x = &x };
    tacit_cox_point at = { .score = &score, .information = &information };
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_cox_evaluate(&at, &groups, &w, &error), TACIT_NOT_CONVERGED);
}

/* ---- concordance ---- */

static double by_pairs(const double *y, const double *score, size_t count) {
    double pairs = 0, won = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            bool first =
                y[2 * i + 1] > 0 && (y[2 * i] < y[2 * k] || (y[2 * i] == y[2 * k] && y[2 * k + 1] == 0));
            if (i == k || !first) continue;
            pairs++;
            won += score[i] > score[k] ? 1 : score[i] == score[k] ? 0.5 : 0;
        }
    return won / pairs;
}

static void concordance_counts_pairs(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        double y[2 * ROWS], score[ROWS], ours;
        uint64_t random = seed;
        tacit_error error = TACIT_ERROR_INIT;
        for (size_t i = 0; i < ROWS; i++) { /* with many ties */
            y[2 * i] = floor(12 * uniform(&random));
            y[2 * i + 1] = uniform(&random) < 0.6;
            score[i] = floor(10 * uniform(&random)) - y[2 * i] / 4;
        }
        CHECK_OK(tacit_concordance(&ours, y, 2, score, ROWS, &error), error);
        CHECK_NEAR(ours, by_pairs(y, score, ROWS), 1e-14);
    }
}

static void concordance_without_pairs_is_no_number(void **state) {
    (void)state;
    double y[] = { 1, 0, 2, 1 }, score[] = { 1, 2 }, out = 0;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_concordance(&out, y, 2, score, 2, &error), error);
    assert_true(isnan(out));
    CHECK_OK(tacit_concordance(&out, y, 2, score, 0, &error), error);
    assert_true(isnan(out));
    score[0] = NAN;
    assert_int_equal(tacit_concordance(&out, y, 2, score, 2, &error), TACIT_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_over_groups_give_the_likelihood_of_the_definition),
        cmocka_unit_test(scores_and_information_are_derivatives),
        cmocka_unit_test(a_baseline_expects_as_many_events_as_there_are),
        cmocka_unit_test(hazards_too_far_apart_are_an_error),
        cmocka_unit_test(concordance_counts_pairs),
        cmocka_unit_test(concordance_without_pairs_is_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
