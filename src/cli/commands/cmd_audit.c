/* tacit audit: an empirical lower bound on epsilon, and whether the promise survives it. */
#include <math.h>

#include "api/auditing.h"
#include "api/document/tables.h"
#include "cli/commands.h"
#include "cli/console.h"

static tacit_status print_table(tacit_console *console, const tacit_audit *audit,
                                const tacit_audit_result *result, tacit_error *error) {
    static const tacit_grid_column columns[] = { { "method", TACIT_LEFT },    { "charged", TACIT_LEFT },
                                                 { "at least", TACIT_RIGHT }, { "confidence", TACIT_RIGHT },
                                                 { "runs", TACIT_RIGHT },     { "verdict", TACIT_LEFT } };
    char price[TACIT_PRICE_TEXT_SIZE];
    tacit_grid *grid = NULL;
    TACIT_TRY(tacit_grid_create(&grid, columns, sizeof columns / sizeof *columns, error));
    tacit_grid_cell(grid, "%s", audit->subject->name);
    tacit_grid_cell(grid, "%s", tacit_price_text(price, &result->charged));
    tacit_grid_cell(grid, "%.4f", result->epsilon_lower);
    tacit_grid_cell(grid, "%g%%", 100 * audit->confidence);
    tacit_grid_cell(grid, "2 x %zu", audit->runs);
    tacit_grid_cell(grid, "%s", tacit_auditing_verdict(result));
    tacit_status status = tacit_console_grid(console, grid, error);
    tacit_grid_free(grid);
    return status;
}

static tacit_status print_text(tacit_console *console, const tacit_audit *audit,
                               const tacit_audit_result *result, tacit_error *error) {
    tacit_console_print(console, "%s; seed %llu\n", audit->subject->title, (unsigned long long)audit->seed);
    tacit_console_print(console, "pair: %s\n", result->pair);
    if (isfinite(result->reach))
        tacit_console_print(console, "      it moves the output by %.1f%% of the declared sensitivity\n",
                            100 * result->reach);
    tacit_console_print(console, "\n");
    TACIT_TRY(print_table(console, audit, result, error));
    tacit_console_print(console,
                        "\nOne event was seen in %llu of %zu runs on one data set and in %llu on its\n"
                        "neighbour: probabilities of at least %.4g and at most %.4g.\n",
                        (unsigned long long)result->hits, result->counted,
                        (unsigned long long)result->other_hits, result->at_least, result->at_most);
    if (result->aborted[0] + result->aborted[1] > 0)
        tacit_console_print(
            console, "Without an answer ended %llu runs on the first data set and %llu on its neighbour.\n",
            (unsigned long long)result->aborted[0], (unsigned long long)result->aborted[1]);
    return TACIT_OK;
}

static tacit_status run_audit(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    tacit_auditing all = TACIT_AUDITING_INIT;
    const tacit_audit *audit = &all.audit;
    const tacit_audit_result *result = &all.result;
    tacit_status status;
    TACIT_CHECK(tacit_auditing_run(&all, arguments, tacit_console_progress(console), error));
    TACIT_CHECK(print_text(console, audit, result, error));
    TACIT_CHECK(tacit_console_document(console, tacit_auditing_document(&all), error));
    if (result->broken)
        status = tacit_fail(
            error, TACIT_INTERNAL,
            "%s is charged epsilon %g and loses at least %.4f (confidence %g%%): its promise is broken",
            audit->subject->name, result->charged.epsilon, result->epsilon_lower, 100 * audit->confidence);
cleanup:
    tacit_auditing_clear(&all);
    return status;
}

const tacit_command tacit_command_audit = {
    .name = "audit",
    .section = "Learning",
    .summary = "try to break a promise of privacy by experiment",
    .description =
        "Runs a method many times on two neighbouring data sets, the worst pair that is known for it, and "
        "derives "
        "from how differently the outputs fall a lower bound on the epsilon that was really spent. A bound "
        "above "
        "the charged epsilon proves the promise wrong (verdict broken, exit 1). A bound below it proves "
        "nothing, "
        "but shows how much of epsilon this pair uses.\n\n"
        "Half of the runs, at most 500,000, choose what to look for and the others count; bounds are "
        "Clopper-Pearson's, and the confidence covers all of them together. A run that ends in a refusal or "
        "an error is an "
        "output like any other.\n\n"
        "--exact audits what is really released: the noise of the operating system, through the gate of a "
        "real party. "
        "--search P looks for a worse pair first, from the known one on; what it finds is audited on runs of "
        "its own.",
    .operands = tacit_audit_operands,
    .options = tacit_audit_options,
    .examples =
        (const tacit_example[]){
            { "Is the noise of avg enough for one record?", "tacit audit avg --epsilon 1" },
            { "And for all rows of a party that adds its own noise?",
              "tacit audit avg --epsilon 1 --set unit=party --set noise=party" },
            { "As it is really released, on the worst of forty pairs.",
              "tacit audit vote --epsilon 1 --exact --search 40" },
            { "See the audit catch noise that is too small.", "tacit audit laplace-halved --epsilon 1" },
            { .text = NULL },
        },
    .run = run_audit,
};
