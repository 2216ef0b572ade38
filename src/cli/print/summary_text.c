#include "cli/print/summary_text.h"

#include <math.h>
#include <string.h>

const char *tacit_p_stars(double p) {
    return p < 0.001 ? "***" : p < 0.01 ? "**" : p < 0.05 ? "*" : p < 0.1 ? "." : "";
}

const char *tacit_p_text(double p, char out[32]) {
    if (p < 2e-16)
        snprintf(out, 32, "<2e-16");
    else
        snprintf(out, 32, p < 1e-4 ? "%.2e" : "%.5f", p);
    return out;
}

void tacit_summary_print_ratios(tacit_console *console, const tacit_estimates *estimates, int width) {
    const char *what = tacit_estimates_ratio(estimates);
    char low[16], high[16];
    double half = 50 * (1 - estimates->level);
    if (what == NULL || tacit_estimates_intercepts(estimates) == estimates->count) return;
    snprintf(low, sizeof low, "%.4g %%", half);
    snprintf(high, sizeof high, "%.4g %%", 100 - half);
    tacit_console_print(console, "%c%ss:\n%-*s %12s %12s %12s\n", what[0] - 'a' + 'A', what + 1, width, "",
                        "exp(coef)", low, high);
    for (size_t k = 0; k < estimates->count; k++) {
        const tacit_coefficient *one = &estimates->coefficient[k];
        if (one->intercept) continue;
        tacit_console_print(console, "%-*s %12.6g %12.6g %12.6g\n", width, one->name, exp(one->estimate),
                            exp(one->low), exp(one->high));
    }
    tacit_console_print(console, "\n");
}

void tacit_summary_print_terms(tacit_console *console, const tacit_estimates *estimates, int width) {
    char p[32], inflation[32];
    if (estimates->terms == 0) return;
    const bool pooled = estimates->sets > 0; /* there is no GVIF then */
    tacit_console_print(console, "%s (Wald's test of all their coefficients; %s):\n",
                        estimates->formula != NULL ? "Terms" : "Columns",
                        pooled ? "D1 of the imputed sets" : "GVIF of model errors");
    tacit_console_print(console, "%-*s %4s %12s %9s     %12s %16s\n", width, "", "Df",
                        estimates->student ? "F" : "Chisq", estimates->student ? "Pr(>F)" : "Pr(>Chi)",
                        pooled ? "" : "GVIF", pooled ? "" : "GVIF^(1/(2 Df))");
    for (size_t k = 0; k < estimates->terms; k++) {
        const tacit_term *term = &estimates->term[k];
        snprintf(inflation, sizeof inflation, "%.6g", pow(term->inflation, 0.5 / (double)term->count));
        tacit_console_print(console, "%-*s %4zu %12.6g %9s %-3s", width, term->name, term->count,
                            term->statistic, tacit_p_text(term->p, p), tacit_p_stars(term->p));
        if (isfinite(term->inflation))
            tacit_console_print(console, " %12.6g %16s", term->inflation, inflation);
        tacit_console_print(console, "\n");
    }
    tacit_console_print(console, "\n");
}

void tacit_summary_print_anova(tacit_console *console, const tacit_estimates *estimates, int width) {
    char p[32];
    const bool fisher = estimates->student, dropped = strcmp(estimates->anova, "drop1") == 0;
    if (estimates->anova[0] == 0) return;
    tacit_console_print(console, dropped ? "Single terms left out (likelihood ratio):\n"
                                         : "Terms added one after the other (likelihood ratio):\n");
    tacit_console_print(console, "%-*s %4s %12s %12s %9s\n", width, "", "Df",
                        dropped ? "Deviance" : "Resid. Dev",
                        fisher    ? "F"
                        : dropped ? "LRT"
                                  : "Deviance",
                        fisher ? "Pr(>F)" : "Pr(>Chi)");
    tacit_console_print(console, "%-*s %4s %12.6g\n", width, dropped ? "<none>" : "NULL", "",
                        dropped ? estimates->deviance : estimates->null_deviance);
    for (size_t k = 0; k < estimates->ratios; k++) {
        const tacit_term_ratio *one = &estimates->ratio[k];
        tacit_console_print(console, "%-*s %4.0f %12.6g %12.6g %9s %s\n", width, one->name, one->degrees,
                            one->deviance, one->statistic, tacit_p_text(one->p, p), tacit_p_stars(one->p));
    }
    tacit_console_print(console, "\n");
}

void tacit_summary_print_measures(tacit_console *console, const tacit_estimates *estimates) {
    tacit_fit_measures at = tacit_estimates_measure(estimates);
    char p[32];
    if (isnan(at.log_likelihood)) return;
    tacit_console_print(console, "BIC: %.5g, log-likelihood %.5g with %.0f parameters\n", at.bic,
                        at.log_likelihood, at.parameters);
    if (isnan(at.statistic)) return;
    if (at.below > 0)
        tacit_console_print(
            console,
            "R squared %.4g, adjusted %.4g; F of all columns %.5g on %.0f and %.0f degrees of "
            "freedom, p %s\n",
            at.r_squared, at.adjusted, at.statistic, at.above, at.below, tacit_p_text(at.p, p));
    else
        tacit_console_print(console,
                            "R squared: %.4g (McFadden), %.4g (Cox and Snell), %.4g (Nagelkerke)\nLikelihood "
                            "ratio of all columns %.5g on %.0f degrees of freedom, p %s\n",
                            at.mcfadden, at.cox_snell, at.nagelkerke, at.statistic, at.above,
                            tacit_p_text(at.p, p));
}

/* Of parties with intercepts of their own: how many, and whether they differ. */
static void print_sites(tacit_console *console, const tacit_estimates *estimates) {
    char p[32];
    if (!(estimates->party_intercepts > 0)) return;
    tacit_console_print(console, "(Each of %.0f parties has an intercept of its own; whether they differ: ",
                        estimates->party_intercepts);
    if (estimates->student)
        tacit_console_print(console, "F %.5g on %.0f and %.0f degrees of freedom", estimates->site_statistic,
                            estimates->party_intercepts - 1, tacit_estimates_degrees(estimates));
    else
        tacit_console_print(console, "chi-square %.5g on %.0f degrees of freedom", estimates->site_statistic,
                            estimates->party_intercepts - 1);
    tacit_console_print(console, ", p %s)\n", tacit_p_text(estimates->site_p, p));
}

void tacit_summary_print_errors(tacit_console *console, const tacit_estimates *estimates) {
    print_sites(console, estimates);
    if (strcmp(estimates->errors, "cluster") == 0 || strcmp(estimates->errors, "gee") == 0)
        tacit_console_print(console, "(Standard errors clustered by person: %.0f persons)\n",
                            estimates->clusters);
    else if (strcmp(estimates->errors, "robust") == 0)
        tacit_console_print(console, "(Standard errors from the sandwich of Lin and Wei)\n");
    else if (estimates->errors[0] != 0)
        tacit_console_print(console, "(Standard errors robust: %s)\n", estimates->errors);
}

void tacit_summary_print_influence(tacit_console *console, const tacit_estimates *estimates) {
    const tacit_influence *at = &estimates->influence;
    double degrees = tacit_estimates_degrees(estimates);
    if (!at->known) return;
    if (isnan(at->pearson))
        tacit_console_print(console,
                            "Residuals and leverages were held back: few rows of a party make up its "
                            "sums\n");
    else
        tacit_console_print(
            console,
            "Pearson chi-square %.5g on %.0f degrees of freedom, dispersion %.4g\nSum of leverages "
            "%.5g; the largest is between %.3g and %.3g\n",
            at->pearson, degrees, at->pearson / degrees, at->leverage, at->leverage_squares / at->leverage,
            fmin(1, sqrt(at->leverage_squares)));
    if (isfinite(at->tjur)) tacit_console_print(console, "R squared: %.4g (Tjur)\n", at->tjur);
    tacit_console_print(console, "%.0f rows with a Cook's distance above 4/n", at->cook_rows);
    if (at->cook_held > 0)
        tacit_console_print(console, ", and some of %.0f parties that have fewer than they show",
                            at->cook_held);
    tacit_console_print(console, "\n\n");
}
