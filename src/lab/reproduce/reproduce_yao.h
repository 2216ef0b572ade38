/* What the experiments of Yao et al. 2019 have in common: curves, and the setups of the figures. */
#pragma once

#include "lab/reproduce/reproduce.h"

/* A curve at a lambda. Meta-features are those of the paper, and rows are brought to q_k within each
 * group. */
#define YAO_PLR(text, l)                                                                                     \
    { .method = "plr", .label = text, .lambda = l }
#define YAO_STACK(name, text, l, ...)                                                                        \
    { .method = name, .label = text, .settings = { { "meta", "probability" }, __VA_ARGS__ }, .lambda = l }
#define YAO_SCALED                                                                                           \
    { "rows", "normalise" }
#define YAO_WEIGHTED                                                                                         \
    { "importance", "points" }
#define YAO_UNIFORM                                                                                          \
    { "importance", "uniform" }
#define YAO_HIGH                                                                                             \
    { "combiner", "high" }

enum { TACIT_YAO_STEPS = 9, TACIT_YAO_EPSILONS = 6 };

extern const tacit_variant tacit_yao_by_epsilon[], tacit_yao_by_groups[], tacit_yao_by_power[];
extern const double tacit_yao_epsilons[TACIT_YAO_EPSILONS];
extern const tacit_setup tacit_yao_groups[TACIT_YAO_STEPS], tacit_yao_powers[TACIT_YAO_STEPS];
extern const tacit_adjustment tacit_yao_with_groups[TACIT_YAO_STEPS], tacit_yao_with_powers[TACIT_YAO_STEPS];

/* Simulate, with random groups drawn again with the rows. */
tacit_status tacit_yao_run(const tacit_simulation *simulation, const tacit_setup *setup, tacit_run *runs,
                           tacit_error *error);

/* What the text says of figures 1 to 3, of either data set. */
extern const tacit_claim tacit_yao_epsilon_claims[4], tacit_yao_group_claims[2], tacit_yao_power_claims[2];
#define TACIT_YAO_CLAIMS(list) .claims = list, .claim_count = sizeof list / sizeof *list
