/* tacit methods: what there is to choose from. */
#include <string.h>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/text.h"
#include "data/text.h"
#include "method/methods.h"

static tacit_status print_table(tacit_console *console, tacit_error *error) {
    static const tacit_grid_column columns[] = { { "method", TACIT_LEFT },
                                                 { "what it computes", TACIT_LEFT },
                                                 { "unit", TACIT_LEFT },
                                                 { "runs in", TACIT_LEFT } };
    tacit_grid *grid = NULL;
    TACIT_TRY(tacit_grid_create(&grid, columns, sizeof columns / sizeof *columns, error));
    for (size_t i = 0; tacit_methods[i] != NULL; i++) {
        const tacit_method *method = tacit_methods[i];
        tacit_grid_cell(grid, "%s", method->name);
        tacit_grid_cell(grid, "%s", method->title);
        tacit_grid_cell(grid, "%s", method->noise_free ? "none" : method->units);
        tacit_grid_cell(grid, "%s", method->undeployable != NULL ? "simulations" : "simulations, studies");
    }
    tacit_status status = tacit_console_grid(console, grid, error);
    tacit_grid_free(grid);
    return status;
}

static void print_parameter(const tacit_console *console, const tacit_parameter *parameter) {
    tacit_wrap wrap = { .out = console->out, .width = console->width, .indent = 6 };
    fputs("    ", console->out);
    wrap.column = 4;
    if (parameter->choices != NULL)
        tacit_wrap_token(&wrap, "--set %s=%s:", parameter->name,
                         parameter->choices[0] != 0 ? parameter->choices : "TEXT");
    else
        tacit_wrap_token(&wrap, "--set %s=N, %g to %g:", parameter->name, parameter->least, parameter->most);
    tacit_wrap_text(&wrap, parameter->help);
    tacit_wrap_token(&wrap, "(default: %s)", parameter->fallback);
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
            print_parameter(console, one);
    }
}

static json_t *choices_document(const char *choices) {
    json_t *list = json_array();
    while (*choices != 0) {
        size_t length = strcspn(choices, "|");
        list = tacit_json_append(list, json_stringn(choices, length));
        choices += length + (choices[length] == '|');
    }
    return list;
}

/* A parameter is one of its choices, a number in its range, or any text. */
static json_t *parameter_document(const tacit_parameter *parameter) {
    double number;
    if (parameter->choices != NULL && parameter->choices[0] == 0)
        return json_pack("{s:s,s:s,s:s}", "name", parameter->name, "default", parameter->fallback, "help",
                         parameter->help);
    if (parameter->choices != NULL)
        return json_pack("{s:s,s:s,s:o,s:s}", "name", parameter->name, "default", parameter->fallback,
                         "choices", choices_document(parameter->choices), "help", parameter->help);
    bool is_number = tacit_text_to_number(parameter->fallback, strlen(parameter->fallback), &number);
    return json_pack("{s:s,s:o,s:[o,o],s:s}", "name", parameter->name, "default",
                     is_number ? json_real(number) : json_string(parameter->fallback), "range",
                     tacit_json_number(parameter->least), tacit_json_number(parameter->most), "help",
                     parameter->help);
}

static json_t *method_document(const tacit_method *method) {
    json_t *parameters = json_array(), *roles = json_array();
    for (const tacit_parameter *one = method->parameters; one != NULL && one->name != NULL; one++)
        parameters = tacit_json_append(parameters, parameter_document(one));
    roles = tacit_json_append(roles, json_string("coordinator"));
    if (method->handlers != NULL) roles = tacit_json_append(roles, json_string("party"));
    return json_pack("{s:s,s:s,s:s,s:s,s:o,s:o}", "name", method->name, "title", method->title, "reference",
                     method->reference, "unit", method->units, "roles", roles, "parameters", parameters);
}

static tacit_status run_methods(const tacit_arguments *arguments, tacit_console *console,
                                tacit_error *error) {
    (void)arguments;
    json_t *list = json_array();
    for (size_t i = 0; tacit_methods[i] != NULL; i++)
        list = tacit_json_append(list, method_document(tacit_methods[i]));
    TACIT_TRY(tacit_console_document(console, list, error));
    TACIT_TRY(print_table(console, error));
    if (!console->json) print_details(console);
    return TACIT_OK;
}

const tacit_command tacit_command_methods = {
    .name = "methods",
    .section = "Learning",
    .summary = "the methods there are, their papers and settings",
    .description = "The unit says whose replacement a method hides: one record, or all records of a party. "
                   "Methods that run only in simulations are yardsticks without privacy.",
    .examples =
        (const tacit_example[]){
            { "See what there is.", "tacit methods" },
            { .text = NULL },
        },
    .run = run_methods,
};
