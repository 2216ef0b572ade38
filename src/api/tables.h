/* The tables of commands that the library offers too: see option.h. */
#pragma once

#include "api/option.h"

extern const tacit_option tacit_fit_options[];
extern const tacit_option tacit_simulate_options[];
extern const tacit_option tacit_audit_options[];
extern const tacit_operand tacit_audit_operands[];
extern const tacit_option tacit_explain_options[];
extern const tacit_operand tacit_explain_operands[];
