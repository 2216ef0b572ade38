/* tacit methods: what there is to choose from. */
#include "api/document/methods_list.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/help/text_width.h"
#include "method/methods.h"

/* How often each party is asked, where it is said before. */
static void print_rounds(tacit_grid *grid, const tacit_method *method) {
    const uint64_t rounds = tacit_method_rounds(method), fewest = tacit_method_fewest(method);
    if (rounds > 0)
        tacit_grid_cell(grid, "%llu", (unsigned long long)rounds);
    else if (fewest > 0)
        tacit_grid_cell(grid, "%llu or more", (unsigned long long)fewest);
    else
        tacit_grid_cell(grid, "%s", method->undeployable != NULL ? "" : "many");
}

static tacit_status print_table(tacit_console *console, tacit_error *error) {
    static const tacit_grid_column columns[] = { { "method", TACIT_LEFT },
                                                 { "what it computes", TACIT_LEFT },
                                                 { "unit", TACIT_LEFT },
                                                 { "rounds", TACIT_LEFT },
                                                 { "runs in", TACIT_LEFT } };
    tacit_grid *grid = NULL;
    TACIT_TRY(tacit_grid_create(&grid, columns, sizeof columns / sizeof *columns, error));
    for (size_t i = 0; tacit_methods[i] != NULL; i++) {
        const tacit_method *method = tacit_methods[i];
        tacit_grid_cell(grid, "%s", method->name);
        tacit_grid_cell(grid, "%s", method->title);
        tacit_grid_cell(grid, "%s", method->noise_free ? "none" : method->units);
        print_rounds(grid, method);
        tacit_grid_cell(grid, "%s", method->undeployable != NULL ? "simulations" : "simulations, studies");
    }
    tacit_status status = tacit_console_grid(console, grid, error);
    tacit_grid_free(grid);
    return status;
}

static void print_parameter(const tacit_console *console, const tacit_method *method,
                            const tacit_parameter *parameter) {
    char usual[TACIT_SETTING_SIZE];
    tacit_wrap wrap = { .out = console->out, .width = console->width, .indent = 6 };
    fputs("    ", console->out);
    wrap.column = 4;
    if (parameter->type == TACIT_SETTING_CHOICE || parameter->type == TACIT_SETTING_TEXT)
        tacit_wrap_token(&wrap, "--set %s=%s:", parameter->name,
                         parameter->choices != NULL ? parameter->choices : "TEXT");
    else
        tacit_wrap_token(&wrap, "--set %s=N, %g to %g:", parameter->name, parameter->least, parameter->most);
    tacit_wrap_text(&wrap, parameter->help);
    tacit_wrap_token(&wrap, "(default: %s)", tacit_setting_print(method->defaults, parameter, usual));
    fputc('\n', console->out);
}

static void print_details(const tacit_console *console) {
    for (size_t i = 0; tacit_methods[i] != NULL; i++) {
        const tacit_method *method = tacit_methods[i];
        tacit_wrap wrap = { .out = console->out, .width = console->width, .indent = 4 };
        fputc('\n', console->out);
        tacit_wrap_token(&wrap, "%s:", method->name);
        tacit_wrap_text(&wrap, method->reference);
        fputc('\n', console->out);
        for (const tacit_parameter *one = method->parameters; one != NULL && one->name != NULL; one++)
            print_parameter(console, method, one);
    }
}

static tacit_status run_methods(const tacit_arguments *arguments, tacit_console *console,
                                tacit_error *error) {
    (void)arguments;
    TACIT_TRY(tacit_console_document(console, tacit_methods_list(), error));
    TACIT_TRY(print_table(console, error));
    if (!console->json) print_details(console);
    return TACIT_OK;
}

const tacit_command tacit_command_methods = {
    .name = "methods",
    .section = "Learning",
    .summary = "the methods there are, their papers and settings",
    .description =
        "The unit says whose replacement a method hides: one record, or all records of a party. "
        "Methods that run only in simulations are baselines without privacy. Rounds are how often each "
        "party is asked, whatever the settings, or at least: with one or two, people can carry a "
        "study by files (tacit envelope open).",
    .examples =
        (const tacit_example[]){
            { "See what there is.", "tacit methods" },
            { .text = NULL },
        },
    .run = run_methods,
};
