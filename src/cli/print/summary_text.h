/* What 'tacit summary' and 'tacit anova' print beside the table of coefficients. */
#pragma once

#include "cli/console.h"
#include "model/report/estimates.h"

/* As R prints a p-value, and its stars. */
const char *tacit_p_text(double p, char out[32]);
const char *tacit_p_stars(double p);

/* Odds or rate ratios with their intervals. */
void tacit_summary_print_ratios(tacit_console *console, const tacit_estimates *estimates, int width);

/* Columns tested as a whole, likelihood, and kinds of R squared. */
void tacit_summary_print_terms(tacit_console *console, const tacit_estimates *estimates, int width);
void tacit_summary_print_anova(tacit_console *console, const tacit_estimates *estimates, int width);
void tacit_summary_print_measures(tacit_console *console, const tacit_estimates *estimates);

/* Which standard errors those are, where others than the model's were asked for; and residuals and
 * influence. */
void tacit_summary_print_errors(tacit_console *console, const tacit_estimates *estimates);
void tacit_summary_print_influence(tacit_console *console, const tacit_estimates *estimates);
