/* The tables of commands that the library offers too: see option.h. */
#pragma once

#include "api/option.h"

extern const tacit_option tacit_fit_options[];
extern const tacit_option tacit_simulate_options[];
extern const tacit_option tacit_audit_options[];
extern const tacit_operand tacit_audit_operands[];
extern const tacit_option tacit_explain_options[];
extern const tacit_operand tacit_explain_operands[];
extern const tacit_option tacit_join_options[];

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
