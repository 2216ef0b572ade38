/* The tables of commands that the library offers too: see option.h. */
#pragma once

/* Of `plan` and `study new`. */
#define TACIT_OPTION_DESCRIBED                                                                               \
    {                                                                                                        \
        .name = "described", .kind = TACIT_OPTION_FILE, .placeholder = "REPORT",                             \
        .help = "a report of 'tacit describe': rows and share of positives are expected as it says, rare "   \
                "levels and wide bounds are named, and knots for splines; post-processing, which costs "     \
                "nothing more"                                                                               \
    }

#include "api/option/option.h"

extern const tacit_option tacit_fit_options[];
extern const tacit_option tacit_simulate_options[];
extern const tacit_option tacit_audit_options[];
extern const tacit_operand tacit_audit_operands[];
extern const tacit_option tacit_explain_options[];
extern const tacit_operand tacit_explain_operands[];
extern const tacit_option tacit_join_options[];
extern const tacit_option tacit_plan_options[];
extern const tacit_operand tacit_plan_operands[];

/* For whoever answers in a study. */
#define TACIT_OPTION_RETRY                                                                                   \
    {                                                                                                        \
        .name = "retry", .kind = TACIT_OPTION_NUMBER, .placeholder = "SECONDS", .fallback = "0.2",           \
        .help = "the first pause, on average, before dialling a coordinator again that is not there; each "  \
                "later one is twice as long, up to 10",                                                      \
        .rules = TACIT_RULE_RANGE, .least = 0.001, .most = 10                                                \
    }

#define TACIT_OPTION_MODEL                                                                                   \
    {                                                                                                        \
        .name = "out", .kind = TACIT_OPTION_FILE, .placeholder = "MODEL",                                    \
        .help = "where to write the model; into the study's folder by default"                               \
    }
