/* tacit anova: two nested models against each other. */
#include "api/document/results.h"
#include "api/option/arguments.h"
#include "cli/commands.h"
#include "cli/print/summary_text.h"

static void print_side(tacit_console *console, const char *path, const tacit_estimates *table) {
    tacit_console_print(console, "%-24s %12.0f %14.6g %14.6g", path, tacit_estimates_degrees(table),
                        table->deviance, table->aic);
}

static void print_comparison(tacit_console *console, const tacit_comparison *made, const char *const path[2],
                             const tacit_model *const model[2]) {
    char p[32];
    bool fisher = made->below > 0;
    tacit_console_print(console, "%-24s %12s %14s %14s %6s %14s %12s %9s\n", "", "Resid. Df", "Resid. Dev",
                        "AIC", "Df", "Deviance", fisher ? "F" : "Chisq", fisher ? "Pr(>F)" : "Pr(>Chi)");
    print_side(console, path[made->swapped], model[made->swapped]->estimates);
    tacit_console_print(console, "\n");
    print_side(console, path[!made->swapped], model[!made->swapped]->estimates);
    tacit_console_print(console, " %6.0f %14.6g %12.6g %9s %s\n", made->degrees, made->deviance,
                        made->statistic, tacit_p_text(made->p, p), tacit_p_stars(made->p));
}

static tacit_status run_anova(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *path[2] = { tacit_arguments_operand(arguments, "MODEL"),
                            tacit_arguments_operand(arguments, "OTHER") };
    tacit_model *model[2] = { NULL, NULL };
    tacit_comparison made;
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < 2; k++) {
        TACIT_CHECK(tacit_model_load(&model[k], path[k], error));
        if (model[k]->estimates == NULL)
            TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                                   "%s has no table of estimates, and tests between models need two",
                                   path[k]));
        if (model[k]->guarantee.lambda > 0)
            TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                                   "%s was made with lambda %g: its likelihood is no maximum, and likelihood "
                                   "ratios need maxima",
                                   path[k], model[k]->guarantee.lambda));
    }
    TACIT_CHECK(tacit_estimates_compare(&made, model[0]->estimates, model[1]->estimates, error));
    print_comparison(console, &made, path, (const tacit_model *const *)model);
    TACIT_CHECK(tacit_console_document(
        console, tacit_comparison_document(&made, model[0]->estimates, model[1]->estimates), error));
cleanup:
    tacit_model_free(model[0]);
    tacit_model_free(model[1]);
    return status;
}

const tacit_command tacit_command_anova = {
    .name = "anova",
    .section = "Learning",
    .summary = "test two nested models against each other, as R's anova does",
    .description =
        "For two models with a table of estimates over the same rows, one with some of the columns of the "
        "other: deviance, degrees of freedom and p of the likelihood-ratio test, or of the F test for a "
        "linear response. The order does not matter. Nothing is asked of any party. Models of other rows, "
        "responses or families are refused, and so are those with a lambda above 0.",
    .operands =
        (const tacit_operand[]){
            { "MODEL", 1, 1, "a model with a table of estimates" },
            { "OTHER", 1, 1, "one with more or fewer columns" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Does the stage matter beside histology and age?", "tacit anova without.json with.json" },
            { .text = NULL },
        },
    .run = run_anova,
};
