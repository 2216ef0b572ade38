#include "cli/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/row_reading.h"

/* As R spells the families; the Huberised hinge it does not have. */
static const char *family_name(const tacit_estimates *estimates) {
    const tacit_family *family = tacit_family_find(estimates->family);
    return family != NULL && family->r_family != NULL ? family->r_family : estimates->family;
}

/* R's stars, and its "." below one in ten. */
static const char *stars(double p) {
    return p < 0.001 ? "***" : p < 0.01 ? "**" : p < 0.05 ? "*" : p < 0.1 ? "." : "";
}

static const char *p_text(double p, char out[32]) {
    if (p < 2e-16)
        snprintf(out, 32, "<2e-16");
    else
        snprintf(out, 32, p < 1e-4 ? "%.2e" : "%.5f", p);
    return out;
}

static size_t name_width(const tacit_estimates *estimates) {
    size_t width = 11;
    for (size_t k = 0; k < estimates->count; k++) {
        size_t length = strlen(estimates->coefficient[k].name);
        if (length > width) width = length;
    }
    return width;
}

static void print_call(tacit_console *console, const tacit_estimates *estimates) {
    tacit_console_print(console, "\nCall: %s ~", estimates->response);
    for (size_t k = 0; k < estimates->count; k++) {
        const char *name = estimates->coefficient[k].name;
        if (name[0] != '(') tacit_console_print(console, "%s %s", k > 1 ? " +" : "", name);
    }
    tacit_console_print(console, ", family = %s\n\n", family_name(estimates));
}

/* Where noise is too large for an estimate: what would be enough, by the rule that there is one. */
static void print_needs(tacit_console *console, const tacit_estimates *estimates) {
    char epsilon[64] = "";
    if (isfinite(estimates->needs_epsilon))
        snprintf(epsilon, sizeof epsilon, " or epsilon %.2g", estimates->needs_epsilon);
    tacit_console_print(console, "Coefficients:\n");
    for (size_t k = 0; k < estimates->count; k++)
        tacit_console_print(console, "%-*s  not estimable at this price: needs about %.3g rows%s\n",
                            (int)name_width(estimates), estimates->coefficient[k].name, estimates->needs_rows,
                            epsilon);
    tacit_console_print(console,
                        "\nThe least is known of %s. With fewer columns, or without that one, the others may "
                        "be estimable. The model still predicts.\n\n",
                        estimates->coefficient[estimates->weakest].name);
}

static void print_coefficients(tacit_console *console, const tacit_estimates *estimates) {
    char statistic[8], tail[16], low[16], high[16], p[32], noise[16];
    int width = (int)name_width(estimates);
    double half = 50 * (1 - estimates->level);
    snprintf(statistic, sizeof statistic, "%s value", estimates->student ? "t" : "z");
    snprintf(tail, sizeof tail, "Pr(>|%s|)", estimates->student ? "t" : "z");
    snprintf(low, sizeof low, "%.4g %%", half);
    snprintf(high, sizeof high, "%.4g %%", 100 - half);
    tacit_console_print(console, "Coefficients:\n%-*s %12s %12s %8s %9s     %12s %12s%s\n", width, "",
                        "Estimate", "Std. Error", statistic, tail, low, high,
                        estimates->noisy ? "  Noise" : "");
    for (size_t k = 0; k < estimates->count; k++) {
        const tacit_coefficient *one = &estimates->coefficient[k];
        snprintf(noise, sizeof noise, "  %4.0f%%", 100 * one->noise);
        tacit_console_print(console, "%-*s %12.6g %12.6g %8.3f %9s %-3s %12.6g %12.6g%s\n", width, one->name,
                            one->estimate, one->error, one->statistic, p_text(one->p, p), stars(one->p),
                            one->low, one->high, estimates->noisy ? noise : "");
    }
    tacit_console_print(console, "---\nSignif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1\n\n");
}

static void print_noise(tacit_console *console, const tacit_estimates *estimates) {
    tacit_console_print(
        console, "Standard errors and intervals include the noise; Noise is its share of a variance.\n");
    if (estimates->sandwich)
        tacit_console_print(console, "(They are the sandwich's: right also where the model is not.)\n\n");
    else
        tacit_console_print(console, "(Dispersion parameter for %s family estimated as %.4g)\n\n",
                            family_name(estimates), estimates->dispersion);
}

static void print_fit(tacit_console *console, const tacit_estimates *estimates) {
    if (estimates->sandwich) {
        tacit_console_print(console, "(Standard errors from the sandwich: the loss is no likelihood)\n\n");
    } else {
        tacit_console_print(console, "(Dispersion parameter for %s family taken to be %.7g)\n\n",
                            family_name(estimates), estimates->dispersion);
        tacit_console_print(console, "    Null deviance: %.5g  on %.0f  degrees of freedom\n",
                            estimates->null_deviance, tacit_estimates_null_degrees(estimates));
        tacit_console_print(console, "Residual deviance: %.5g  on %.0f  degrees of freedom\nAIC: %.5g\n\n",
                            estimates->deviance, tacit_estimates_degrees(estimates), estimates->aic);
    }
    tacit_console_print(console, "Number of %s iterations: %zu\n\n",
                        strcmp(estimates->optimiser, "lbfgs") == 0 ? "L-BFGS and Newton" : "Newton",
                        estimates->iterations);
}

void tacit_summary_print(tacit_console *console, const tacit_model *model) {
    const tacit_estimates *estimates = model->estimates;
    const tacit_guarantee *guarantee = &model->guarantee;
    print_call(console, estimates);
    if (estimates->needs_rows > 0)
        print_needs(console, estimates);
    else
        print_coefficients(console, estimates);
    if (!estimates->noisy)
        print_fit(console, estimates);
    else if (!(estimates->needs_rows > 0))
        print_noise(console, estimates);
    tacit_console_print(console, "%s%.0f rows", estimates->noisy ? "about " : "", estimates->rows);
    if (guarantee->parties > 0)
        tacit_console_print(console, " of %zu %s", guarantee->parties,
                            tacit_plural(guarantee->parties, "party", "parties"));
    tacit_console_print(console, ", %zu %s", estimates->rounds,
                        tacit_plural(estimates->rounds, "round", "rounds"));
    if (guarantee->study[0] != 0) tacit_console_print(console, ", study %s", guarantee->study);
    if (guarantee->lambda > 0 && !estimates->noisy)
        tacit_console_print(console, ", lambda %g (standard errors leave its bias out)", guarantee->lambda);
    char text[TACIT_PRICE_TEXT_SIZE];
    if (guarantee->is_private)
        tacit_console_print(console, "\nPromised: %s\n", tacit_price_text(text, &guarantee->charged));
    else
        tacit_console_print(console,
                            "\nPromised: exact sums and no rows left the parties; no differential privacy\n");
}
