#include "cli/runs.h"

#include <math.h>

#include "data/text.h"

static const char *number_text(double value, char out[TACIT_NUMBER_TEXT]) {
    if (isinf(value)) return value > 0 ? "inf" : "-inf";
    return tacit_number_to_text(value, out);
}

/* One trial has no spread to show; a metric that does not apply is a dash. */
static void add_spread(tacit_grid *grid, const tacit_spread *spread, size_t trials) {
    if (isnan(spread->mean))
        tacit_grid_cell(grid, "-");
    else if (trials == 1)
        tacit_grid_cell(grid, "%.4f", spread->mean);
    else
        tacit_grid_cell(grid, "%.4f ± %.4f", spread->mean, spread->sd);
}

/* Six digits, as the ledger shows amounts: what many rounds cost together comes out of an accountant. */
static void add_charge(tacit_grid *grid, const tacit_run *run) {
    const tacit_price *price = &run->charged;
    if (isinf(price->epsilon))
        tacit_grid_cell(grid, "not private");
    else if (price->delta > 0)
        tacit_grid_cell(grid, "%.6g, delta %.6g per %s", price->epsilon, price->delta,
                        tacit_unit_name(price->unit));
    else
        tacit_grid_cell(grid, "%.6g per %s", price->epsilon, tacit_unit_name(price->unit));
}

tacit_status tacit_runs_print(tacit_console *console, const tacit_run *runs, size_t count, bool lambdas,
                              tacit_error *error) {
    static const tacit_grid_column columns[] = { { "method", TACIT_LEFT },    { "epsilon", TACIT_RIGHT },
                                                 { "accuracy", TACIT_RIGHT }, { "AUC", TACIT_RIGHT },
                                                 { "log-loss", TACIT_RIGHT }, { "charged", TACIT_LEFT },
                                                 { "time", TACIT_RIGHT },     { "lambda", TACIT_RIGHT } };
    static const tacit_grid_column of_numbers[] = { { "method", TACIT_LEFT },  { "epsilon", TACIT_RIGHT },
                                                    { "RMSE", TACIT_RIGHT },   { "deviance", TACIT_RIGHT },
                                                    { "charged", TACIT_LEFT }, { "time", TACIT_RIGHT },
                                                    { "lambda", TACIT_RIGHT } };
    bool numbers = count > 0 && tacit_run_is_numeric(&runs[0]);
    size_t shown = (numbers ? sizeof of_numbers : sizeof columns) / sizeof *columns - !lambdas;
    tacit_grid *grid = NULL;
    TACIT_TRY(tacit_grid_create(&grid, numbers ? of_numbers : columns, shown, error));
    for (size_t i = 0; i < count; i++) {
        const tacit_run *run = &runs[i];
        char epsilon[TACIT_NUMBER_TEXT];
        tacit_grid_cell(grid, "%s", run->method->name);
        tacit_grid_cell(grid, "%s", number_text(run->epsilon, epsilon));
        if (!numbers) add_spread(grid, &run->accuracy, run->trials);
        if (!numbers) add_spread(grid, &run->auc, run->trials);
        add_spread(grid, numbers ? &run->rmse : &run->log_loss, run->trials);
        if (numbers) add_spread(grid, &run->deviance, run->trials);
        add_charge(grid, run);
        tacit_grid_cell(grid, "%.2f s", run->seconds);
        if (lambdas && isnan(run->lambda))
            tacit_grid_cell(grid, "various");
        else if (lambdas)
            tacit_grid_cell(grid, "%.3g", run->lambda);
    }
    tacit_status status = tacit_console_grid(console, grid, error);
    tacit_grid_free(grid);
    return status;
}
