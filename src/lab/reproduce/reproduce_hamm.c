#include "lab/reproduce/reproduce_hamm.h"

#define PRINTED_LAMBDA 1e-4

const tacit_variant tacit_hamm_curves[] = {
    { .method = "batch", .lambda = PRINTED_LAMBDA },
    { .method = "indiv", .lambda = PRINTED_LAMBDA },
    { .method = "vote",
      .label = "vote, printed",
      .settings = { { "calibration", "paper" } },
      .lambda = PRINTED_LAMBDA },
    { .method = "soft",
      .label = "soft, printed",
      .settings = { { "calibration", "paper" } },
      .lambda = PRINTED_LAMBDA },
    { .method = "avg",
      .label = "avg, printed",
      .settings = { { "unit", "party" }, { "calibration", "paper" } },
      .lambda = PRINTED_LAMBDA },
    { .method = "avg", .settings = { { "unit", "party" } }, .lambda = PRINTED_LAMBDA },
    { .method = "soft" },
    { .method = "soft-stat" },
    { .method = "soft-stat", .label = "soft-stat, δ = 1e-5", .delta = 1e-5 },
    { .method = "pate", .label = "pate, δ = 1e-5", .delta = 1e-5 },
    { .method = NULL },
};
