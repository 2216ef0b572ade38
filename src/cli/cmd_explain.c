/* tacit explain: what leaves a party, who sees it, what is guaranteed, and what it really costs. */
#include <math.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/json.h"
#include "cli/text.h"
#include "method/methods.h"

static tacit_status make_plan(const tacit_arguments *arguments, tacit_plan *out, tacit_error *error) {
    const tacit_method *method = NULL;
    size_t count = 0;
    TACIT_TRY(tacit_method_require(&method, tacit_arguments_operand(arguments, "METHOD"), error));
    *out = (tacit_plan){
        .method = method,
        .study = "explain",
        .epsilon = method->noise_free ? INFINITY : tacit_arguments_number(arguments, "epsilon"),
        .delta = tacit_arguments_number(arguments, "delta"),
        .lambda = tacit_arguments_number(arguments, "lambda"),
        .features = (size_t)tacit_arguments_integer(arguments, "features"),
        .classes = (size_t)tacit_arguments_integer(arguments, "classes"),
        .parties = (size_t)tacit_arguments_integer(arguments, "parties"),
        .minimum_parties = 1,
        .minimum_rows = (size_t)tacit_arguments_integer(arguments, "rows"),
    };
    if (method->most_columns > 0 && !tacit_arguments_given(arguments, "features"))
        out->features = method->most_columns;
    const tacit_setting *settings = tacit_arguments_settings(arguments, "set", &count);
    for (size_t i = 0; i < count; i++)
        TACIT_TRY(tacit_plan_set(out, settings[i].key, settings[i].value, error));
    return tacit_plan_check(out, error);
}

static void print_item(const tacit_console *console, const char *title, const char *text) {
    tacit_wrap wrap = { .out = console->out, .width = console->width, .indent = 12 };
    fprintf(console->out, "%-12s", title);
    wrap.column = 12;
    tacit_wrap_text(&wrap, text);
    fputc('\n', console->out);
}

static void print_settings(const tacit_console *console, const tacit_plan *plan) {
    char text[512];
    int used =
        snprintf(text, sizeof text, "%zu parties of at least %zu rows, %zu features, %zu classes, lambda %g",
                 plan->parties, plan->minimum_rows, plan->features, plan->classes, plan->lambda);
    for (const tacit_parameter *one = plan->method->parameters; one != NULL && one->name != NULL; one++)
        if (used > 0 && (size_t)used < sizeof text)
            used += snprintf(text + used, sizeof text - (size_t)used, ", %s=%s", one->name,
                             tacit_plan_text(plan, one->name));
    print_item(console, "here", text);
}

static void print_text(tacit_console *console, const tacit_plan *plan, const tacit_prices *prices,
                       const tacit_noise_law *noise) {
    const tacit_method *method = plan->method;
    char text[512], price[TACIT_PRICE_TEXT_SIZE];
    snprintf(text, sizeof text, "%s (%s)", method->title, method->reference);
    print_item(console, method->name, text);
    print_settings(console, plan);
    print_item(console, "leaves", method->leaves);
    print_item(console, "how", tacit_release_kind_name(method->release_kind(plan)));
    print_item(console, "seen by", method->seen_by);
    print_item(console, "guarantee", method->guarantee);
    print_item(console, "assuming", method->assumption);
    print_item(console, "theorem", method->theorem);
    print_item(console, "charged",
               method->noise_free ? "nothing is private" : tacit_price_text(price, &prices->charged));
    if (!method->noise_free) {
        snprintf(text, sizeof text, "%s; %s", tacit_price_text(price, &prices->claimed), method->claim);
        print_item(console, "paper", text);
        snprintf(
            text, sizeof text,
            "%s in %zu dimensions, s = %.4g, added to %s, of L2 sensitivity %.4g; in %s its norm is %s %.4g",
            noise->law, noise->dimension, noise->scale, noise->added_to, noise->sensitivity,
            noise->norm_in != NULL ? noise->norm_in : "the published model",
            noise->in_objective ? "at most about" : "about", noise->mean_norm);
        print_item(console, "noise", text);
    }
    if (method->undeployable != NULL) {
        snprintf(text, sizeof text, "refused: %s", method->undeployable);
        print_item(console, "deployed", text);
    } else if (method->meetings != NULL) {
        print_item(console, "deployed",
                   "if the owner says --allow-neighbours; words go through the coordinator, sealed for each "
                   "neighbour");
    }
    print_item(console, "caveats", method->caveats);
}

static tacit_status run_explain(const tacit_arguments *arguments, tacit_console *console,
                                tacit_error *error) {
    tacit_plan plan;
    tacit_prices prices = { .event = { .count = 0 } };
    tacit_noise_law noise = { .law = "" };
    TACIT_TRY(make_plan(arguments, &plan, error));
    TACIT_TRY(plan.method->price(&plan, &prices, error));
    if (plan.method->noise != NULL) TACIT_TRY(plan.method->noise(&plan, &noise, error));
    if (!console->json) print_text(console, &plan, &prices, &noise);
    json_t *document = NULL;
    TACIT_TRY(tacit_json_explanation(&document, &plan, error));
    return tacit_console_document(console, document, error);
}

/* A whole number from 1 upwards. */
#define OPTION_COUNT(option, letter, value, text)                                                            \
    {                                                                                                        \
        .name = option, .kind = TACIT_OPTION_INTEGER, .placeholder = letter, .fallback = value,              \
        .help = text, .rules = TACIT_RULE_RANGE, .least = 1, .most = 1e9                                     \
    }

const tacit_command tacit_command_explain = {
    .name = "explain",
    .section = "Learning",
    .summary = "what leaves a party, who sees it, what it costs",
    .description = "Says for one method what is guaranteed, to whom, per record or per party, under which "
                   "assumption and by "
                   "which theorem; the paper's own claim beside what the ledger is charged; and how much "
                   "noise that means "
                   "for the numbers given.",
    .operands =
        (const tacit_operand[]){
            { "METHOD", 1, 1, "as `tacit methods` lists them" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "epsilon",
              .kind = TACIT_OPTION_NUMBER,
              .placeholder = "E",
              .fallback = "1",
              .help = "the price to explain",
              .rules = TACIT_RULE_RANGE | TACIT_RULE_ABOVE,
              .least = 0,
              .most = 1e6 },
            { .name = "delta",
              .kind = TACIT_OPTION_NUMBER,
              .placeholder = "D",
              .fallback = "0",
              .help = "where the method uses one",
              .rules = TACIT_RULE_RANGE | TACIT_RULE_BELOW,
              .least = 0,
              .most = 1 },
            { .name = "lambda",
              .kind = TACIT_OPTION_NUMBER,
              .placeholder = "L",
              .fallback = "0.01",
              .help = "weight of the regulariser",
              .rules = TACIT_RULE_RANGE | TACIT_RULE_ABOVE,
              .least = 0,
              .most = 1e6 },
            OPTION_COUNT("parties", "M", "10", "how many take part"),
            OPTION_COUNT("rows", "N", "100", "the fewest rows a party may have"),
            OPTION_COUNT("features", "D", "10", "of an encoded row, the intercept included"),
            OPTION_COUNT("classes", "K", "2", "of the label"),
            { .name = "set",
              .kind = TACIT_OPTION_SETTING,
              .placeholder = "KEY=VALUE",
              .help = "a setting of the method" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "What would five hospitals pay, and how loud is the noise?",
              "tacit explain avg --epsilon 2 --parties 5 --rows 80 --features 31 --lambda 0.05" },
            { .text = NULL },
        },
    .run = run_explain,
};
